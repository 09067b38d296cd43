"""Two six-axis arms on one base, and what judges them."""

import functools

from fabrik_ros import load_urdf
from fabrik_ros.motion.choosing.goal import MotionOptions
from fabrik_ros.motion.choosing.motion import Motion
from fabrik_ros.motion.limits.limits import MotionLimits
from fabrik_ros.solver.options import SolverOptions
from helpers import joint_xml, robot_xml
from judging import Judge
import numpy as np

TIPS = ('left_tool', 'right_tool')
DT = 0.01
FASTEST, HARDEST = 1.5, 5.0
AXES = ('0 0 1', '0 1 0', '0 1 0', '1 0 0', '0 1 0', '1 0 0')
STEPS = ('0 0 0.4', '0.1 0 0', '0 0 0.5', '0.4 0 0.1', '0.1 0 0', '0.1 0 0')
BENT = np.array([0.2, 0.3, 0.4, 0.1, 0.7, 0.0])
START = np.concatenate([BENT, BENT * [-1.0, 1.0, 1.0, -1.0, 1.0, 1.0]])


def _arm(side: str, y: float) -> list[str]:
    links = ['base', *(f'{side}_{i}' for i in range(6)), f'{side}_tool']
    mount = joint_xml(f'{side}_mount', 'base', f'{side}_0', 'fixed', f'<origin xyz="0 {y} 0"/>')
    joints = [
        joint_xml(
            f'{side}_j{i}',
            links[i + 1],
            links[i + 2],
            body=f'<origin xyz="{STEPS[i]}"/><axis xyz="{AXES[i]}"/>'
            '<limit lower="-2.5" upper="2.5" velocity="2" effort="1"/>',
        )
        for i in range(6)
    ]
    return [mount, *joints]


def two_arms_xml() -> str:
    """Write two arms, 0.6 m apart, that share nothing but their base."""
    links = ' '.join(f'{side}_{i}' for side in ('left', 'right') for i in range(6))
    return robot_xml(f'base {links} {" ".join(TIPS)}', *_arm('left', 0.3), *_arm('right', -0.3))


@functools.cache
def two_arms():
    return load_urdf(two_arms_xml()).tree('base', TIPS)


class Judges:
    """Poses of several tips by pinocchio, from the joint values of all."""

    def __init__(self, urdf: str, base_link: str, tip_links: tuple[str, ...], names) -> None:
        self._names = tuple(names)
        self._judges = [Judge(urdf, base_link, tip) for tip in tip_links]
        bounds = {
            name: values
            for judge in self._judges
            for name, *values in zip(
                judge.joint_names, judge.lower, judge.upper, judge.velocity, strict=True
            )
        }
        self.lower, self.upper, self.velocity = np.array([bounds[n] for n in self._names]).T

    def poses(self, q: np.ndarray) -> np.ndarray:
        """T_base_tip of each tip, shape (k, 4, 4)."""
        values = dict(zip(self._names, q, strict=True))
        return np.array(
            [judge.pose([values[name] for name in judge.joint_names]) for judge in self._judges]
        )


@functools.cache
def judges() -> Judges:
    return Judges(two_arms_xml(), 'base', TIPS, two_arms().joint_names)


def limits_for(chain, **changes) -> MotionLimits:
    limits = {
        'tip_speed': 0.25,
        'tip_rotation': 1.0,
        'tip_acceleration': 1.0,
        'joint_velocity': np.minimum(chain.velocity, FASTEST),
        'joint_acceleration': np.full(len(chain), HARDEST),
    }
    return MotionLimits(**{**limits, **changes})


def motion_of(chain, start, **options) -> Motion:
    solver = SolverOptions(position_tolerance=1e-5, orientation_tolerance=1e-4, max_restarts=20)
    motion = Motion(chain, limits_for(chain), solver, MotionOptions(**options))
    motion.reset(start)
    return motion


def check_joints(q: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> None:
    """Check limits, speeds and accelerations of commands, shape (m, n), `DT` apart."""
    assert np.all((lower <= q) & (q <= upper))
    velocity = np.diff(q, axis=0) / DT
    assert np.abs(velocity).max() <= FASTEST * (1.0 + 1e-6)
    assert np.abs(np.diff(velocity, axis=0)).max() / DT <= HARDEST * (1.0 + 1e-4)
