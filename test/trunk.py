"""Two arms on a trunk that they share, hands that lead them, and what judges them."""

from dataclasses import dataclass
import functools
import math

from collision_models import body, with_bodies
from fabrik_ros import ArmFollower, FollowerOptions, load_urdf
from fabrik_ros.collision import Obstacle, Scene
from fabrik_ros.model.geometry import Box
from helpers import joint_xml, robot_xml
import numpy as np
from two_arms import AXES, DT, Judges, START, STEPS, TIPS

RADIUS, CLEARANCE = 0.04, 0.02
SILENT = np.full((4, 4), np.nan)
TRUNKS = {
    'none': (),
    'lift': ('prismatic',),
    'turn': ('revolute',),
    'both': ('prismatic', 'revolute'),
}
"""Joints that both arms hang on."""


@dataclass(frozen=True)
class Robot:
    """Two arms that share the joints of a trunk, and the ball in each hand."""

    trunk: str = 'both'
    spread: float = 0.3
    """Half the distance between the arms [m]."""
    scale: float = 1.0
    """Of the links of the arms [1]."""

    def xml(self) -> str:
        names = [f'trunk_{i}' for i in range(len(TRUNKS[self.trunk]))]
        joints = [
            joint_xml(
                f'{name}_joint',
                parent,
                name,
                kind,
                f'<axis xyz="0 0 1"/><limit lower="{0.0 if kind == "prismatic" else -2.0}" '
                f'upper="{0.4 if kind == "prismatic" else 2.0}" velocity="2" effort="1"/>',
            )
            for name, parent, kind in zip(
                names, ['base', *names], TRUNKS[self.trunk], strict=False
            )
        ]
        body_link = names[-1] if names else 'base'
        for side, y in (('left', self.spread), ('right', -self.spread)):
            links = [body_link, *(f'{side}_{i}' for i in range(6)), f'{side}_tool']
            joints.append(
                joint_xml(f'{side}_mount', *links[:2], 'fixed', f'<origin xyz="0 {y} 0"/>')
            )
            for i in range(6):
                x = ' '.join(str(self.scale * float(v)) for v in STEPS[i].split())
                limits = '<limit lower="-2.5" upper="2.5" velocity="2" effort="1"/>'
                shape = f'<origin xyz="{x}"/><axis xyz="{AXES[i]}"/>{limits}'
                joints.append(joint_xml(f'{side}_j{i}', *links[i + 1 : i + 3], body=shape))
        arms = ' '.join(f'{side}_{i}' for side in ('left', 'right') for i in range(6))
        return robot_xml(f'base {" ".join(names)} {arms} {" ".join(TIPS)}', *joints)


class Hands:
    """The arms of a robot, where they start, and what leads them; tip 0 is the left one."""

    def __init__(self, robot: Robot) -> None:
        ball = body(f'<sphere radius="{RADIUS}"/>')
        xml = with_bodies(robot.xml(), dict.fromkeys(TIPS, ball))
        self.robot = load_urdf(xml)
        self.tree = self.robot.tree('base', TIPS)
        self.judges = Judges(xml, 'base', TIPS, self.tree.joint_names)
        own = dict(
            zip([f'{s}_j{i}' for s in ('left', 'right') for i in range(6)], START, strict=True)
        )
        self.start = np.array(
            [own.get(name, 0.2 if 'trunk_0' in name else 0.0) for name in self.tree.joint_names]
        )
        self.is_shared = np.array(['trunk' in name for name in self.tree.joint_names])
        self.poses = self.judges.poses(self.start)

    def outwards(self, tip):
        return np.array([0.0, 1.0 if tip == 0 else -1.0, 0.0])

    def shelf(self, tip, distance):
        """Put a plane outwards of a tip, so far from where its ball begins [m]."""
        T = np.eye(4)
        T[:3, 3] = self.poses[tip, :3, 3] + (distance + RADIUS + 0.01) * self.outwards(tip)
        return Obstacle('shelf', Box((3.0, 0.02, 3.0)), T)

    def gap(self, q, tip, distance):
        """Distance [m] between the ball of a tip and its shelf."""
        way = (self.judges.poses(q)[tip] - self.poses[tip])[:3, 3]
        return distance - float(way @ self.outwards(tip))

    def circling(self, tip, radius=0.08, pace=2.0):
        """Let a hand circle upright, in front of its arm."""

        def pose(t):
            T = self.poses[tip].copy()
            T[:3, 3] += radius * math.sin(pace * t), 0.0, radius * (1.0 - math.cos(pace * t))
            return T

        return pose

    def pushing(self, tip, way, speed=0.2, farthest=0.4):
        """Let a hand push along a way, stay there, and tremble, so that no target is a repeat."""

        def pose(t):
            T = self.poses[tip].copy()
            far = min(speed * t, farthest) + 2e-4 * (round(t / DT) % 2)
            T[:3, 3] += np.array(way) * far * (1.0, self.outwards(tip)[1], 1.0)
            return T

        return pose

    def follow(self, hands, obstacles=(), steps=350, **options):
        """Follow the hands of both tips; returns joint values (m + 1, n), and the follower."""
        arm = ArmFollower(
            self.tree, FollowerOptions(**options), robot=self.robot, scene=Scene(obstacles)
        )
        q = [self.start]
        for i in range(steps):
            targets = np.array([hand(i * DT) for hand in hands])
            q.append(arm.step(targets, DT, measured=q[-1]))
        return np.array(q), arm

    def lags(self, q, tip, hand):
        """How far a tip is behind its hand after each of the steps [m]."""
        return np.array(
            [
                np.linalg.norm((hand(i * DT) - self.judges.poses(values)[tip])[:3, 3])
                for i, values in enumerate(q[1:])
            ]
        )


@functools.cache
def hands_of(**changes) -> Hands:
    return Hands(Robot(**changes))


def silent(t):
    return SILENT
