"""
What becomes of streams that lead where the arm cannot go, or not exactly.

In random streams a hand goes from place to place, turns the tool as it likes, and rests at each:
at the end of the reach and beyond, past singularities and joint limits, inside a table and a wall.
The arm follows its commands exactly. Pinocchio and coal judge: limits, distances, and where the
tool is once the hand has rested for long enough to come there at `max_tip_speed`, and a second
more. There it may be no farther than 10 mm from the best that scipy's SLSQP finds from where the
joints are, as upright, and go to and fro by no more than 1 mm.

    python benchmark/experiments/blocked_streams.py --count 125 --arms six_axis ur5 panda

"""

import argparse
from collections.abc import Sequence
import itertools
import math
from pathlib import Path
import sys
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / 'test'))
import coal
from dodging import arm, packages
from fabrik_ros import ArmFollower, FollowerOptions, Robot
from fabrik_ros.collision import Obstacle, Scene
from fabrik_ros.model.chain import Chain
from fabrik_ros.model.geometry import Box
from judging import Judge
import numpy as np
import pinocchio
from scipy.optimize import minimize

DT = 0.01
PLACES = 3
SLOWEST, FASTEST = 0.05, 0.3
"""Speed of the hand [m/s]."""
TREMBLING = 0.002
"""Standard deviation of every other hand, until it is calm [m]."""
CALM, STILL = 1.5, 0.8
"""How long each hand is calm at a place, and the tool is to be still, at the end [s]."""
LEAVES = 0.5
"""Largest distance of a place from the start along each axis [m]."""
TURNED = 0.8
"""Largest turn of the tool at a place, about each axis [rad]."""
TABLE, WALL = ((3.0, 3.0, 0.04), (0.0, 0.0, -0.06)), ((0.04, 3.0, 3.0), (0.0, 0.0, 0.5))
"""Sizes and middle; the wall stands beyond the start [m]."""
BEYOND = 0.05, 0.3
"""How far [m]."""
WAITS = 1.0
"""Time that the tool has beside its way [s]."""
MOST_BEHIND, MOST_SPAN, MOST_INSIDE = 0.01, 0.001, 2e-4
STANDS = 1e-3
"""Speed of a tool that stands [m/s]."""
LOOKED_AT = 50
"""Steps between two at which it is found whether a tool that stands might do better."""
AT_HAND, PROBES = 0.01, 50
"""Pairs of links that are nearer in each of so many configurations belong together [m]."""
UPRIGHT = 0.01
"""By how much a tool that comes nearer may be turned farther [rad]."""


class Shapes:
    """Distances of the links of an arm to a table and a wall, by their raw meshes."""

    def __init__(
        self, robot: Robot, chain: Chain, boxes: dict[str, tuple], folders: Sequence[str]
    ) -> None:
        options = FollowerOptions()
        self._model = pinocchio.buildModelFromXML(robot.source)
        self._data = self._model.createData()
        self._solids = pinocchio.buildGeomFromUrdfString(
            self._model, robot.source, pinocchio.GeometryType.COLLISION, package_dirs=list(folders)
        )
        links = len(self._solids.geometryObjects)
        joints = [solid.parentJoint for solid in self._solids.geometryObjects]
        self._clearances = []
        for a, b in itertools.combinations(range(links), 2):
            if joints[a] != joints[b] and self._model.parents[joints[b]] != joints[a]:
                self._solids.addCollisionPair(pinocchio.CollisionPair(a, b))
                self._clearances.append(options.collision_clearance)
        for name, (size, centre) in boxes.items():
            place = pinocchio.SE3(np.eye(3), np.array(centre))
            box = pinocchio.GeometryObject(name, 0, place, coal.Box(*size))
            number = self._solids.addGeometryObject(box)
            for solid in range(links):
                if self._solids.geometryObjects[solid].parentJoint > 1:
                    self._solids.addCollisionPair(pinocchio.CollisionPair(solid, number))
                    self._clearances.append(options.obstacle_clearance)
        self._shapes = self._solids.createData()
        self._at = [self._model.joints[self._model.getJointId(name)] for name in chain.joint_names]
        self._leave_out_neighbours(chain)

    def _leave_out_neighbours(self, chain: Chain) -> None:
        """Heed no pair that is always near, as that of a hand and its finger."""
        rng = np.random.default_rng(0)
        lower, upper = np.maximum(chain.lower, -2.5), np.minimum(chain.upper, 2.5)
        nearest = np.max([self.gaps(rng.uniform(lower, upper)) for _ in range(PROBES)], axis=0)
        for pair in np.flatnonzero(nearest < AT_HAND)[::-1].tolist():
            self._solids.removeCollisionPair(self._solids.collisionPairs[pair])
            del self._clearances[pair]
        self._shapes = self._solids.createData()

    def gaps(self, values: np.ndarray) -> np.ndarray:
        """Distance of each pair beyond its clearance at joint values, shape (n,) [m]."""
        q = pinocchio.neutral(self._model)
        for joint, value in zip(self._at, values, strict=True):
            is_turn = joint.nq == 2
            q[joint.idx_q : joint.idx_q + joint.nq] = (
                (math.cos(value), math.sin(value)) if is_turn else value
            )
        pinocchio.computeDistances(self._model, self._data, self._solids, self._shapes, q)
        distances = [result.min_distance for result in self._shapes.distanceResults]
        return np.subtract(distances, self._clearances)


class Stream(NamedTuple):
    """Places of a hand, and how it goes there."""

    poses: list[np.ndarray]
    speed: float
    trembles: bool


class Judged(NamedTuple):
    """What is wrong with how a stream was followed; each as the worst that was seen."""

    inside: float
    """How far a link was nearer to a box than its clearance [m]."""
    too_fast: float
    """Speed of a joint or of the tool, and acceleration, as a share of their limits [1]."""
    behind: float
    """Distance to the best place [m]."""
    span: float
    """Motion of the tool to and fro while the hand rested [m]."""
    stood: float
    """Share of the time in which the tool stood and might have done better [1]."""


def drawn(rng: np.random.Generator, T: np.ndarray) -> Stream:
    poses = [T]
    for _ in range(PLACES):
        pose = T.copy()
        turn = pinocchio.exp3(rng.uniform(-TURNED, TURNED, 3))
        pose[:3, :3] = T[:3, :3] @ turn
        pose[:3, 3] += rng.uniform(-LEAVES, LEAVES, 3)
        poses.append(pose)
    return Stream(poses, rng.uniform(SLOWEST, FASTEST), bool(rng.integers(2)))


def leg(a: np.ndarray, b: np.ndarray, speed: float) -> list[np.ndarray]:
    """Poses of the hand on its way from one place to another, a step apart."""
    way, turn = b[:3, 3] - a[:3, 3], pinocchio.log3(a[:3, :3].T @ b[:3, :3])
    count = max(1, round(max(np.linalg.norm(way) / speed, np.linalg.norm(turn) / 0.8) / DT))
    poses = []
    for share in np.linspace(0.0, 1.0, count + 1)[1:]:
        pose = a.copy()
        pose[:3, 3] += share * way
        pose[:3, :3] = a[:3, :3] @ pinocchio.exp3(share * turn)
        poses.append(pose)
    return poses


def best(judge: Judge, shapes: Shapes, q: np.ndarray, T: np.ndarray) -> float:
    """By how much the tool might be nearer to a place, and as upright: scipy, from `q` on [m]."""

    def missing(values):
        return float(np.linalg.norm(judge.pose(values)[:3, 3] - T[:3, 3]))

    def turned(values):
        return float(np.linalg.norm(pinocchio.log3(judge.pose(values)[:3, :3].T @ T[:3, :3])))

    box = np.maximum(judge.lower, -10.0), np.minimum(judge.upper, 10.0)
    most_turned = turned(q) + UPRIGHT
    found = minimize(
        lambda values: 100.0 * missing(values) ** 2,
        q,
        method='SLSQP',
        bounds=list(zip(*box, strict=True)),
        constraints=[
            {'type': 'ineq', 'fun': shapes.gaps},
            {'type': 'ineq', 'fun': lambda values: most_turned - turned(values)},
        ],
        options={'maxiter': 60, 'ftol': 1e-9},
    )
    way = q + np.linspace(0.0, 1.0, 15)[:, None] * (found.x - q)
    distances = [missing(values) for values in way]
    is_free = min(shapes.gaps(values).min() for values in way) > -MOST_INSIDE
    is_upright = max(turned(values) for values in way) < most_turned + UPRIGHT
    falls = (np.diff(distances) <= 1e-6).all()
    return distances[0] - distances[-1] if is_free and is_upright and falls else 0.0


def follow(
    name: str, robot: Robot, chain: Chain, judge: Judge, rng: np.random.Generator
) -> Judged:
    options = FollowerOptions()
    while True:
        lower, upper = np.maximum(judge.lower, -2.5), np.minimum(judge.upper, 2.5)
        start = lower + (upper - lower) * rng.uniform(0.2, 0.8, len(lower))
        T = judge.pose(start)
        wall = (T[0, 3] + math.copysign(rng.uniform(*BEYOND), T[0, 3]), 0.0, 0.5)
        boxes = {'table': TABLE, 'wall': (WALL[0], wall)}
        shapes = Shapes(robot, chain, boxes, packages(name))
        if T[2, 3] > 0.1 and shapes.gaps(start).min() > 0.01:
            break
    stream = drawn(rng, T)
    scene = Scene(
        [Obstacle(key, Box(size), placed(centre)) for key, (size, centre) in boxes.items()]
    )
    follower, q = ArmFollower(chain, options, robot=robot, scene=scene), start
    follower.step(None, DT, measured=q)
    commands, rests, hands = [q], [], []
    every = int(rng.choice([1, 2, 3]))
    for a, b in zip(stream.poses, stream.poses[1:], strict=False):
        way = leg(a, b, stream.speed)
        distance = np.linalg.norm(judge.pose(q)[:3, 3] - b[:3, 3])
        waits = round((WAITS + 1.0 + 2.0 * distance / options.max_tip_speed) / DT)
        for i, pose in enumerate(way + [b] * waits):
            hand = pose.copy()
            if stream.trembles and i < len(way) + waits - round(CALM / DT):
                hand[:3, 3] += rng.normal(0.0, TREMBLING, 3)
            q = np.array(follower.step(hand if i % every == 0 else None, DT, measured=q))
            commands.append(q)
            hands.append(pose)
        rests.append((len(commands) - 1, b))
    return judged(np.array(commands), rests, hands, judge, shapes, options)


def placed(centre: Sequence[float]) -> np.ndarray:
    T = np.eye(4)
    T[:3, 3] = centre
    return T


def judged(q, rests, hands, judge, shapes, options) -> Judged:
    tips = np.array([judge.pose(values)[:3, 3] for values in q])
    paces = np.linalg.norm(np.diff(tips, axis=0), axis=1) / DT
    v = np.diff(q, axis=0) / DT
    a = np.diff(v, axis=0) / DT
    fastest = np.minimum(options.max_joint_velocity, judge.velocity)
    too_fast = max(
        (np.abs(v) / fastest).max(),
        np.abs(a).max() / options.max_joint_acceleration,
        paces.max() / options.max_tip_speed,
    )
    inside = -min(shapes.gaps(values).min() for values in q[::5])
    behind, span, better = 0.0, 0.0, 0
    for end, T in rests:
        behind = max(behind, best(judge, shapes, q[end], T))
        last = tips[end - round(STILL / DT) : end]
        to_and_fro = np.abs(np.diff(last, axis=0)).sum(axis=0) - np.abs(last[-1] - last[0])
        span = max(span, np.minimum(0.5 * to_and_fro, np.ptp(last, axis=0)).max())
    looks = range(LOOKED_AT, len(paces), LOOKED_AT)
    for i in looks:
        if paces[i] < STANDS and np.linalg.norm(tips[i] - hands[i - 1][:3, 3]) > MOST_BEHIND:
            better += best(judge, shapes, q[i], hands[i - 1]) > MOST_BEHIND
    return Judged(inside, too_fast, behind, span, better / max(1, len(looks)))


def main() -> int:
    """Print a table, and each stream that went wrong; 1 where one did."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[1])
    parser.add_argument('--arms', nargs='+', default=['six_axis', 'ur5', 'panda', 'seven_axis'])
    parser.add_argument('--count', type=int, default=125, help='streams for each arm')
    parser.add_argument('--seed', type=int, default=1)
    arguments = parser.parse_args()
    failed, far = 0, MOST_BEHIND
    for name in arguments.arms:
        robot, chain, judge = arm(name)
        all_done = []
        for number in range(arguments.count):
            rng = np.random.default_rng((arguments.seed, number))
            done = follow(name, robot, chain, judge, rng)
            all_done.append(done)
            wrong = (
                done.inside > MOST_INSIDE
                or done.too_fast > 1.002
                or done.behind > MOST_BEHIND
                or done.span > MOST_SPAN
            )
            failed += wrong
            if wrong:
                print(name, number, done, flush=True)
        table = np.array(all_done)
        print(
            f'{name}: {len(table)} streams; nearer than the clearance by at most '
            f'{1e3 * table[:, 0].max():.2f} mm; speeds at most {table[:, 1].max():.4f}; behind '
            f'the best at most {1e3 * table[:, 2].max():.1f} mm ({(table[:, 2] > far).sum()} '
            f'farther than 10); span {1e3 * table[:, 3].max():.2f} mm '
            f'({(table[:, 3] > MOST_SPAN).sum()} above 1); stood {100 * table[:, 4].mean():.2f} %'
        )
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
