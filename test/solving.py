"""What the tests of the solver share: solvers that heed no clock, judged arms, a textbook."""

from collections.abc import Sequence
import math

from fabrik_ros import Chain, example_arm, FabrikSolver, load_urdf, Solution, SolverOptions
from fabrik_ros.transforms import Array, rotation_from_axis_angle, rotation_from_rpy, transform
from helpers import example_robot, REAL_ARMS, Segment, serial_xml
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
            axis, value = np.asarray(segment.axis) / np.linalg.norm(segment.axis), next(values)
            slides = segment.kind == 'prismatic'
            R = np.eye(3) if slides else rotation_from_axis_angle(axis, value)
            T = T @ transform(R, value * axis if slides else np.zeros(3))
    return T


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
    hinges = np.array([kind.is_hinge for kind in chain.joint_types])
    whole = TURN * np.round(difference / TURN)
    return np.where(hinges, difference - whole, difference)
