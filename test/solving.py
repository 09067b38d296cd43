"""What the tests of the solver share: solvers that heed no clock, judged arms, a textbook."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
import functools
import math
from typing import Any

from fabrik_ros import (
    Chain,
    example_arm,
    FabrikSolver,
    load_urdf,
    Solution,
    SolverOptions,
    TipOptions,
    Tree,
    TreeSolver,
)
from fabrik_ros.kernels._fallbacks import fallbacks
from fabrik_ros.transforms import Array, rotation_from_axis_angle, rotation_from_rpy, transform
from helpers import example_robot, REAL_ARMS, REAL_TREES, Segment, serial_xml, tree_xml
import numpy as np
import pytest

TURN = 2.0 * math.pi
TOLERANCE = 1e-6
ROUNDING = 1e-9


def solver_for(chain: Chain, **options) -> FabrikSolver:
    """Make a solver that stops after a number of starts, not after a time."""
    return FabrikSolver(
        chain, SolverOptions(**{'budget': math.inf, 'max_restarts': 200, **options})
    )


def compilations(kernel: Callable[..., Any]) -> int:
    """Count the kinds of arguments that a kernel was compiled for; those left to Python count."""
    if hasattr(kernel, 'signatures'):
        return len(kernel.signatures)
    return 1 + sum(line.startswith(f"'{kernel.__name__}'") for line in fallbacks)


@functools.cache
def judged(name: str):
    """Read an arm, a real or a bundled one, and have it read by pinocchio; return both."""
    pytest.importorskip('pinocchio')
    from judging import Judge

    if name in REAL_ARMS:
        arm, urdf = REAL_ARMS[name], example_robot(name).read_text()
        chain = load_urdf(urdf).chain(arm.base_link, arm.tip_link)
    else:
        xacro = pytest.importorskip('xacro')
        urdf = xacro.process_file(str(example_arm(name))).toxml()
        chain = load_urdf(urdf).chain()
    return chain, Judge(urdf, chain.base_link, chain.tip_link)


def tree_solver_for(
    tree: Tree, tips: Mapping[str, TipOptions] | None = None, **options
) -> TreeSolver:
    """Make a solver for several tips that stops after a number of starts, not after a time."""
    numbers = {'budget': math.inf, 'max_restarts': 200, **options}
    return TreeSolver(tree, SolverOptions(**numbers), tips)


@functools.cache
def judged_tree(name: str):
    """Read the arms of a real robot, and have them read by pinocchio; return both."""
    pytest.importorskip('pinocchio')
    from judging import TreeJudge

    robot, urdf = REAL_TREES[name], example_robot(name).read_text()
    tree = load_urdf(urdf).tree(robot.base_link, robot.tip_links)
    return tree, TreeJudge(urdf, tree.base_link, tree.tip_links, tree.joint_names)


def mode_for(chain: Chain) -> str:
    """Poses where there are joints enough for them."""
    return 'pose' if len(chain) >= 6 else 'position'


def chain_of(arm: Sequence[Segment]) -> Chain:
    """Read an arm that is written as segments."""
    return load_urdf(serial_xml(arm)).chain('l0', f'l{len(arm)}')


def pose_by_textbook(arm: Sequence[Segment], q: Array) -> Array:
    """Pose of the tip, shape (4, 4): one joint after the other, none of which is a follower."""
    T, values = np.eye(4), iter(q)
    for segment in arm:
        T = T @ transform(rotation_from_rpy(*segment.rpy), segment.xyz)
        if segment.moves:
            T = T @ motion_by_textbook(segment, next(values))
    return T


@dataclass(frozen=True)
class Branching:
    """A robot with several tips, written as segments; see `tree_xml`."""

    segments: tuple[Segment, ...]
    parents: tuple[int, ...]
    """The link that each segment hangs on."""
    tips: tuple[int, ...]
    """Numbers of the tip links."""

    def tree(self) -> Tree:
        """Read the tree to the tips."""
        robot = load_urdf(tree_xml(self.segments, self.parents))
        return robot.tree('l0', [f'l{tip}' for tip in self.tips])

    def poses(self, values: Mapping[str, float]) -> Array:
        """Poses of the tips, shape (k, 4, 4), at joint values by name; other joints at 0."""
        T = [np.eye(4)]
        for i, (segment, parent) in enumerate(zip(self.segments, self.parents, strict=True)):
            source, factor, offset = segment.mimic or (i, 1.0, 0.0)
            value = factor * values.get(f'j{source}', 0.0) + offset if segment.moves else 0.0
            placed = transform(rotation_from_rpy(*segment.rpy), segment.xyz)
            T.append(T[parent] @ placed @ motion_by_textbook(segment, value))
        return np.array([T[tip] for tip in self.tips])


def motion_by_textbook(segment: Segment, value: float) -> Array:
    """Pose of a link in the frame of its joint."""
    axis = np.asarray(segment.axis) / np.linalg.norm(segment.axis)
    if segment.kind == 'prismatic':
        return transform(np.eye(3), value * axis)
    return transform(rotation_from_axis_angle(axis, value), np.zeros(3))


def is_inside(limits, q: Array) -> bool:
    """Whether the limits that a chain or a judge has are kept."""
    return bool(np.all((limits.lower <= q) & (q <= limits.upper)))


def is_met(judge, T: Array, q: Array, mode: str = 'pose') -> bool:
    """Whether pinocchio finds the tip within the default tolerances of a pose."""
    apart, turned = judge.errors(T, q)
    limit = TOLERANCE + ROUNDING
    return apart <= limit and (mode == 'position' or turned <= limit)


def same_answer(a: Solution, b: Solution) -> bool:
    """Whether two solutions agree bit for bit."""
    return np.array_equal(a.q, b.q) and a[1:] == b[1:]


def without_turns(difference: Array, chain: Chain) -> Array:
    """Differences of joint values, of hinges the shorter way round."""
    hinges = np.array([kind.is_revolute for kind in chain.joint_types])
    whole = TURN * np.round(difference / TURN)
    return np.where(hinges, difference - whole, difference)
