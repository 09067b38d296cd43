"""
Peers that know the structure of an arm and return every solution instead of searching for one.

They ignore seed and limits, or sort by them; EAIK and IK-Geo leave the choice to the caller. So
each of these stands in the table twice: with the choice of the solution inside the limits that is
nearest to the seed, made here in Python, and as the bare call, chosen from afterwards.

"""

import importlib.util
import math
import subprocess
import sys

from arms import Arm
from fabrik_ros.transforms import Array
import numpy as np
from solvers import Answer, Solver

TURN = 2.0 * math.pi
SAME_POINT = 1e-6
"""Axes that pass at this distance meet [m]; URDFs are rounded."""
PARALLEL = 1e-6
SSIK_BUILD_TIME = 60.0
"""Allowed for one arm [s]; takes two where there is a closed form."""


class Branches(Solver):
    """Calls for all solutions and chooses one."""

    def __init__(self, arm: Arm) -> None:
        if arm.mode != 'pose':
            raise ValueError('solves poses only')
        self._limits = arm.chain.lower, arm.chain.upper

    def all(self, target: Array) -> object:
        """Call the peer."""
        raise NotImplementedError

    def exact(self, raw: object) -> Array:
        """Take what the peer says are solutions, shape (m, n)."""
        raise NotImplementedError

    def ask(self, target: Array, seed: Array) -> Array | None:
        return nearest(self.exact(self.all(target)), seed, *self._limits)

    def read(self, raw: Array | None, seed: Array) -> Answer:
        return Answer(raw, raw is not None)


class BareCall(Branches):
    """Leaves the choice to the one who reads the answer, who is not timed."""

    def prepare(self, target: Array, seed: Array) -> tuple:
        return super().prepare(target, seed)[:1]

    def ask(self, target: Array) -> object:
        return self.all(target)

    def read(self, raw: object, seed: Array) -> Answer:
        q = nearest(self.exact(raw), seed, *self._limits)
        return Answer(q, q is not None)


class Eaik(Branches):
    """EAIK; it takes six hinges of a structure it knows."""

    name = 'EAIK + choice'
    module = 'eaik'

    def __init__(self, arm: Arm) -> None:
        super().__init__(arm)
        from eaik.IK_HP import HPRobot

        axes, points, self._R_tip_zero = screws(arm)
        self._robot = HPRobot(axes, np.diff(points, axis=0, prepend=np.zeros((1, 3))))
        if not self._robot.hasKnownDecomposition():
            raise ValueError(f'no decomposition of {self._robot.getKinematicFamily()}')

    def prepare(self, target: Array, seed: Array) -> tuple:
        turned = target.copy()
        turned[:3, :3] = target[:3, :3] @ self._R_tip_zero
        return turned, seed

    def all(self, target: Array) -> object:
        return self._robot.IK(target)

    def exact(self, raw: object) -> Array:
        return raw.Q[~raw.is_LS.astype(bool)]


class EaikBare(BareCall, Eaik):
    name = 'EAIK, bare call'


class IkGeo(Branches):
    """
    IK-Geo; its caller has to name the structure, and to say where axes meet.

    It reads rotation matrices column by column: given as they are, it solves nothing. Its general
    search for six hinges takes 12 ms and found no solution of any arm here, so it is left out.
    """

    name = 'IK-Geo + choice'
    module = 'ik_geo'

    def __init__(self, arm: Arm) -> None:
        super().__init__(arm)
        import ik_geo

        if len(arm.chain) != 6:
            raise ValueError('takes six revolute joints only')
        axes, points, self._R_tip_zero = screws(arm)
        points = shared_points(axes, points)
        make = getattr(ik_geo.Robot, structure(axes, points))
        self._robot = make(axes, np.diff(points, axis=0, prepend=np.zeros((1, 3))))

    def prepare(self, target: Array, seed: Array) -> tuple:
        return ((target[:3, :3] @ self._R_tip_zero).T.tolist(), target[:3, 3].tolist()), seed

    def all(self, target: tuple) -> object:
        return self._robot.get_ik(*target)

    def exact(self, raw: list) -> Array:
        return np.array([q for q, is_approximate in raw if not is_approximate]).reshape(-1, 6)


class IkGeoBare(BareCall, IkGeo):
    name = 'IK-Geo, bare call'


class Ssik(Solver):
    """
    An `ssik build` artifact, asked for the solution inside the limits nearest to the seed.

    Of seven hinges it samples the redundancy. Arms it has no closed form for are built by
    symbolic elimination, which may take many minutes: those are left out.
    """

    name = 'ssik'
    module = 'ssik'
    most = 300

    def __init__(self, arm: Arm) -> None:
        if arm.mode != 'pose':
            raise ValueError('takes six or seven revolute joints only')
        self._solve = ssik_artifact(arm).solve

    def ask(self, target: Array, seed: Array) -> list:
        return self._solve(target, max_solutions=1, q_seed=seed)

    def read(self, raw: list, seed: Array) -> Answer:
        return Answer(raw[0].q, True) if raw else Answer(None, False)


def nearest(Q: Array, seed: Array, lower: Array, upper: Array) -> Array | None:
    """
    Choose from solutions `Q`, shape (m, n), the one inside the limits nearest to the seed.

    Hinges are turned by whole turns towards the seed, and back inside the limits.
    """
    Q = Q + TURN * np.round((seed - Q) / TURN)
    Q = Q + TURN * ((lower > Q).astype(float) - (upper < Q))
    Q = Q[((lower <= Q) & (upper >= Q)).all(axis=1)]
    return Q[np.abs(Q - seed).sum(axis=1).argmin()] if len(Q) else None


def screws(arm: Arm) -> tuple[Array, Array, Array]:
    """
    Axes of the arm at q = 0 in the base frame, and the rotation that they leave out.

    Returns
    -------
    axes : array, shape (n, 3)
        Unit vectors.
    points : array, shape (n + 1, 3)
        A point on each axis, and the tip [m].
    R_tip_zero : array, shape (3, 3)
        The base frame as seen from the tip at q = 0.

    """
    frames = arm.zero_frames
    axes = np.einsum('jab,jb->ja', frames[:-1, :3, :3], arm.axes)
    return axes, frames[:, :3, 3].copy(), frames[-1, :3, :3].T


def shared_points(axes: Array, points: Array) -> Array:
    """Move points along their axes to where those meet the next: at the wrist first."""
    points = points.copy()
    settled: dict[int, Array] = {}
    for j in (4, 3, 0, 1, 2):
        meeting = intersection(axes[j], points[j], axes[j + 1], points[j + 1])
        before = [settled[k] for k in (j, j + 1) if k in settled]
        if meeting is None or any(math.dist(meeting, point) > SAME_POINT for point in before):
            continue
        settled[j] = settled[j + 1] = before[0] if before else meeting
    for k, point in settled.items():
        points[k] = point
    return points


def intersection(axis: Array, point: Array, other_axis: Array, other: Array) -> Array | None:
    """Where two lines meet; None where they are parallel or miss each other."""
    if is_parallel(axis, other_axis):
        return None
    ways = np.column_stack([axis, -other_axis])
    along, _ = np.linalg.lstsq(ways, other - point, rcond=None)[0]
    gap = other - point - along * axis
    miss = gap - (gap @ other_axis) * other_axis
    return point + along * axis if np.linalg.norm(miss) <= SAME_POINT else None


def is_parallel(axis: Array, other: Array) -> bool:
    return bool(np.linalg.norm(np.cross(axis, other)) <= PARALLEL)


def structure(axes: Array, points: Array) -> str:
    """Name the structure of six hinges as IK-Geo's constructors do."""
    elbow = is_parallel(axes[1], axes[2])
    last_meet = math.dist(points[4], points[5]) == 0.0
    if elbow and last_meet and math.dist(points[3], points[4]) == 0.0:
        return 'spherical_two_parallel'
    if elbow and last_meet and is_parallel(axes[2], axes[3]):
        return 'three_parallel_two_intersecting'
    raise ValueError('no structure that it has a closed form for')


def ssik_artifact(arm: Arm) -> object:
    """Let ssik write the solver of an arm beside its URDF, and import it."""
    path = arm.urdf_path.with_name(f'{arm.name}_ik.py')
    links = '--base', arm.chain.base_link, '--ee', arm.chain.tip_link
    command = [sys.executable, '-m', 'ssik.cli', 'build', str(arm.urdf_path), *links]
    try:
        subprocess.run(
            [*command, '--out', str(path), '--no-validate'],
            check=True, capture_output=True, timeout=SSIK_BUILD_TIME,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        raise ValueError(f'`ssik build` takes more than {SSIK_BUILD_TIME:g} s') from None
    except subprocess.CalledProcessError as error:
        raise ValueError(error.stderr.decode().strip().rsplit('\n')[-1]) from error
    specification = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


CLOSED_FORMS = (Eaik, EaikBare, IkGeo, IkGeoBare, Ssik)
