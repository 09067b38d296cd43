"""
Constrained FABRIK for one arm: a target pose in, joint values out.

Not converging is an answer (`Status`); asking wrongly is an exception. Errors in a `Solution`
come from forward kinematics of the joint values it holds.

"""

from dataclasses import dataclass
from enum import Enum
import math
import time
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from .errors import TargetError
from .kernels import limits as limits_of_arm, search as kernels, target as targets
from .kernels._jit import COMPILED
from .kernels.task import AXIS_MODE, LENGTH_PER_REACH, pack_task, POSE_MODE, POSITION_MODE
from .robot import Chain
from .transforms import Array, transform

MODES = {'pose': POSE_MODE, 'axis': AXIS_MODE, 'position': POSITION_MODE}
YIELDING_ATTEMPTS = 8
ATTEMPTS_PER_LOOK_AT_THE_CLOCK = 4 if COMPILED else 1
UNREACHABLE_STARTS = 4
AT_LIMIT = 1e-6
NEARLY_ALL = 0.999
FINISHERS = ('nobody', 'seed', 'fabrik', 'polish')


class Status(Enum):
    """How a solve ended; the value is a sentence for people."""

    CONVERGED = 'the target is reached within the tolerances'
    TOO_FAR = 'the target is farther away than the arm is long'
    TOO_NEAR = 'the target is nearer to the first joint than the arm can fold'
    BLOCKED_BY_LIMITS = 'joint limits keep the arm from the target'
    STALLED = 'the search came to rest short of the target'
    BUDGET_EXHAUSTED = 'the budget ended before the target was reached'


class Solution(NamedTuple):
    """Answer of the solver."""

    q: Array
    """Joint values, shape (n,) [rad or m]; inside the limits whatever the status."""
    status: Status
    position_error: float
    """Distance from the tip to the target [m], from forward kinematics of `q`."""
    orientation_error: float
    """Angle [rad] to the orientation, or the axis, the mode asks for; 0 in mode 'position'."""
    passes: int
    """Reaching passes made, two to a round."""
    polish_steps: int
    """Levenberg-Marquardt steps made."""
    restarts: int
    """Starts made from elsewhere than the seed."""
    finished_by: str
    """
    Who made the last improvement: 'seed' where there was nothing to improve, 'fabrik', 'polish';
    'nobody' where nothing better than the seed was found.
    """
    limited_joints: tuple[str, ...]
    """Joints that stand at a limit."""

    @property
    def converged(self) -> bool:
        """Whether the target is reached within the tolerances of the mode."""
        return self.status is Status.CONVERGED


@dataclass(frozen=True)
class SolverOptions:
    """What the solver is to do, checked when made; ValueError names what is wrong."""

    mode: str = 'auto'
    """
    'pose', 'axis' (position and the direction of one tool axis), 'position', or 'auto': 'pose'
    with six joints or more, else the position exactly and the orientation as well as that allows.
    """
    axis: tuple[float, float, float] = (0.0, 0.0, 1.0)
    """Tool axis for mode 'axis', in the tip frame; any length but zero."""
    position_tolerance: float = 1e-6
    """Accepted position error [m]."""
    orientation_tolerance: float = 1e-6
    """Accepted orientation error [rad]."""
    polish: str = 'auto'
    """'auto' finishes with Levenberg-Marquardt steps, 'never' with FABRIK alone."""
    budget: float = 0.02
    """Time after which no new start is made [s]."""
    max_restarts: int | None = None
    """Starts from elsewhere than the seed; None: as many as the budget allows."""
    max_joint_move: float = math.inf
    """No joint is farther than this from the seed in the answer [rad or m]."""

    def __post_init__(self) -> None:
        _one_of('mode', self.mode, ('auto', *MODES))
        _one_of('polish', self.polish, ('auto', 'never'))
        for name in ('position_tolerance', 'orientation_tolerance', 'budget', 'max_joint_move'):
            value = getattr(self, name)
            if not value > 0.0:
                raise ValueError(f'{name} must be positive, got {value}')
        if self.max_restarts is not None and self.max_restarts < 0:
            raise ValueError(f'max_restarts must not be negative, got {self.max_restarts}')
        axis = np.asarray(self.axis, dtype=np.float64)
        if axis.shape != (3,) or not np.isfinite(axis).all() or not np.any(axis):
            raise ValueError(f'axis must be three finite numbers, not all zero, got {self.axis}')


def _one_of(name: str, value: str, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise ValueError(f"{name} must be one of {', '.join(allowed)}; got '{value}'")


class FabrikSolver:
    """
    Inverse kinematics of one chain.

    Parameters
    ----------
    chain : Chain
        The arm.
    options : SolverOptions, optional
        What is asked of it.

    Examples
    --------
    >>> from fabrik_ros import load_urdf
    >>> chain = load_urdf('''
    ...     <robot name="two links of one metre">
    ...       <link name="base"/> <link name="upper"/> <link name="lower"/> <link name="tip"/>
    ...       <joint name="shoulder" type="continuous">
    ...         <parent link="base"/> <child link="upper"/> <axis xyz="0 0 1"/>
    ...       </joint>
    ...       <joint name="elbow" type="continuous">
    ...         <parent link="upper"/> <child link="lower"/> <axis xyz="0 0 1"/>
    ...         <origin xyz="1 0 0"/>
    ...       </joint>
    ...       <joint name="tool" type="fixed">
    ...         <parent link="lower"/> <child link="tip"/> <origin xyz="1 0 0"/>
    ...       </joint>
    ...     </robot>''').chain()
    >>> solver = FabrikSolver(chain, SolverOptions(mode='position'))
    >>> solution = solver.solve(chain.forward_kinematics([0.3, 0.9]), seed=[0.2, 0.8])
    >>> solution.status.name, solution.q.round(3)
    ('CONVERGED', array([0.3, 0.9]))

    """

    def __init__(self, chain: Chain, options: SolverOptions | None = None) -> None:
        self.chain = chain
        self.options = options or SolverOptions()
        self._yields = self.options.mode == 'auto' and len(chain) < 6
        self._tasks = self._pack_tasks()
        self._position_tasks = np.repeat(self._tasks[kernels.POSITION_ONLY :], 3, axis=0)
        self._limits = self._pack_limits()
        self._mid = chain.mid_configuration()

    def solve(self, target: npt.ArrayLike, seed: npt.ArrayLike | None = None) -> Solution:
        """
        Find joint values that put the tip on the target.

        Parameters
        ----------
        target : array-like
            T_base_tip, shape (4, 4); or in mode 'position' a point in the base frame, shape
            (3,) [m].
        seed : array-like, shape (n,), optional
            Where the search starts [rad or m], brought inside the limits. From a seed that is
            close the answer is close. Left out, the middle of the limits.

        Returns
        -------
        Solution
            The best configuration found, and what it is worth.

        Raises
        ------
        TargetError
            If the target is not a pose: another shape, not finite, not a rotation.
        JointValueError
            If the seed has another shape or is not finite.

        """
        asked, pulled = np.empty(12), np.empty(12)
        out_of_reach = self._read_target(target, asked, pulled)
        begin = self._inside_limits(seed)
        limits = self._limits_around(begin)
        search = _Search(self.chain.model, limits, pulled, self.options, begin)
        reached = False
        if out_of_reach:
            search.settle(self._tasks, UNREACHABLE_STARTS)
        elif self._yields:
            reached = self._solve_yielding(search)
        else:
            reached = search.run(self._tasks)
            if not reached:
                search.settle(self._tasks)
        return self._solution(search, asked, out_of_reach, reached)

    def _solve_yielding(self, search: '_Search') -> bool:
        """Meet the whole target or, if that cannot be, the position before the orientation."""
        if search.run(self._tasks, kernels.NEAR_ATTEMPTS):
            return True
        if search.settle_near(self._tasks):
            return False
        if search.run(self._tasks, YIELDING_ATTEMPTS):
            return True
        search.settle(self._tasks)
        if not search.is_position_reached():
            search.run(self._position_tasks)
            search.settle(self._tasks)
        return False

    def warm_up(self) -> float:
        """Compile everything that `solve` needs and return how long that took [s]."""
        begin = time.perf_counter()
        q = self.chain.random_configuration(np.random.default_rng(0))
        self.solve(self.chain.forward_kinematics(q), seed=q)
        self.solve(self.chain.forward_kinematics(q))
        far = self.chain.root_point + np.array([0.0, 0.0, 2.0 * self.chain.reach])
        self.solve(transform(np.eye(3), far))
        return time.perf_counter() - begin

    def _pack_tasks(self) -> Array:
        """Rows: the whole task, the orientation yielding, the position alone."""
        options, reach = self.options, max(self.chain.reach, 1e-9)
        mode = MODES.get(options.mode, POSE_MODE)
        axis = np.asarray(options.axis, dtype=np.float64)
        axis = axis / np.linalg.norm(axis)
        tolerances = options.position_tolerance, options.orientation_tolerance
        return np.array(
            [
                pack_task(*tolerances, mode, axis, reach),
                pack_task(*tolerances, mode, axis, reach, kernels.YIELDING_WEIGHTS[-1]),
                pack_task(*tolerances, POSITION_MODE, axis, reach),
            ]
        )

    def _pack_limits(self) -> Array:
        """Rows: lower, upper, range of other starts, units."""
        chain = self.chain
        start_lower, start_upper = chain.finite_limits()
        hinge = np.array([t.is_hinge for t in chain.joint_types])
        mid, half = 0.5 * (start_lower + start_upper), 0.5 * (start_upper - start_lower)
        half = np.where(hinge, np.minimum(half, math.pi), half)
        start_lower = np.maximum(start_lower, mid - half)
        start_upper = np.minimum(start_upper, mid + half)
        units = np.where(hinge, 1.0, LENGTH_PER_REACH * max(chain.reach, 1e-9))
        return np.array([chain.lower, chain.upper, start_lower, start_upper, units])

    def _read_target(self, target: npt.ArrayLike, asked: Array, pulled: Array) -> int:
        """Write the target as frames; raise TargetError, or tell whether it is out of reach."""
        chain = self.chain
        T = np.array(target, dtype=np.float64, order='C')
        if T.shape == (3,) and self.options.mode == 'position':
            T = transform(np.eye(3), T)
        if T.shape != (4, 4):
            raise TargetError(f'target has shape {T.shape}, expected a pose of shape (4, 4)')
        code = targets.read_target(
            T, chain.root_point, chain.hole, chain.reach, self.options.position_tolerance,
            asked, pulled,
        )  # fmt: skip
        if code == targets.NOT_FINITE:
            raise TargetError('target has entries that are not finite')
        if code == targets.NOT_A_POSE:
            raise TargetError(
                'target is not a pose: its upper left 3x3 block must be a rotation and its last '
                f'row 0 0 0 1, got {T.tolist()}'
            )
        return int(code)

    def _inside_limits(self, seed: npt.ArrayLike | None) -> Array:
        if seed is None:
            return self._mid
        begin = np.empty(len(self._mid))
        q = np.array(seed, dtype=np.float64, order='C')
        if q.shape != begin.shape or not limits_of_arm.read_seed(q, self._limits, begin):
            self.chain.checked(seed, 'seed')
        return begin

    def _limits_around(self, seed: Array) -> Array:
        move = self.options.max_joint_move
        return self._limits if move == math.inf else _narrowed(self._limits, seed, move)

    def _solution(
        self, search: '_Search', asked: Array, out_of_reach: int, reached: bool
    ) -> Solution:
        q = search.q
        q.flags.writeable = False
        blocked = not reached and kernels.weigh_up(
            self.chain.model, self._limits, asked, self._tasks[kernels.WHOLE], q, search.report
        )
        report = search.report.tolist()
        position_error = report[kernels.POSITION_ERROR]
        orientation_error = report[kernels.ORIENTATION_ERROR]
        status = self._status(position_error, orientation_error, out_of_reach, blocked, search)
        finisher = int(report[kernels.FINISHED_BY])
        if status is Status.CONVERGED and finisher == kernels.NOBODY:
            finisher = kernels.SEED
        return Solution(
            q,
            status,
            position_error,
            orientation_error,
            int(report[kernels.PASSES]),
            int(report[kernels.POLISH_STEPS]),
            max(0, int(report[kernels.LAST_ATTEMPT]) + 1 - kernels.SEED_ATTEMPTS),
            FINISHERS[finisher],
            self._joints_at_limits(q),
        )

    def _joints_at_limits(self, q: Array) -> tuple[str, ...]:
        if not limits_of_arm.stands_at_limit(q, self._limits, AT_LIMIT):
            return ()
        near = (q - self.chain.lower < AT_LIMIT) | (self.chain.upper - q < AT_LIMIT)
        return tuple(self.chain.joint_names[j] for j in np.flatnonzero(near))

    def _status(
        self,
        position_error: float,
        orientation_error: float,
        out_of_reach: int,
        blocked: bool,
        search: '_Search',
    ) -> Status:
        options = self.options
        turned = self._yields or orientation_error <= options.orientation_tolerance
        if position_error <= options.position_tolerance and turned:
            return Status.CONVERGED
        if out_of_reach:
            return Status.TOO_FAR if out_of_reach == targets.TOO_FAR else Status.TOO_NEAR
        if blocked:
            return Status.BLOCKED_BY_LIMITS
        return Status.BUDGET_EXHAUSTED if search.out_of_time else Status.STALLED


def _narrowed(limits: Array, seed: Array, move: float | Array) -> Array:
    """Limits, and the range of other starts, no farther than `move` from the seed."""
    narrowed: Array = limits.copy()
    for row in (limits_of_arm.LOWER, limits_of_arm.START_LOWER):
        narrowed[row] = np.maximum(limits[limits_of_arm.LOWER], seed - move)
    for row in (limits_of_arm.UPPER, limits_of_arm.START_UPPER):
        narrowed[row] = np.minimum(limits[limits_of_arm.UPPER], seed + move)
    return narrowed


class _Search:
    """The state of one solve: the best configuration and an account of what was done."""

    def __init__(
        self, model: Array, limits: Array, target: Array, options: SolverOptions, seed: Array
    ) -> None:
        self._model = model
        self._limits = limits
        self._target = target
        self._options = options
        self._polish = options.polish == 'auto'
        self._seed = seed
        self._deadline = math.inf
        self.q = seed.copy()
        self.report = np.zeros(kernels.REPORT_SIZE)
        self.report[kernels.MERIT] = math.inf
        self.attempts = 0
        self.out_of_time = False

    def run(self, tasks: Array, most: int | None = None) -> bool:
        """Make attempts until one succeeds, the budget ends, or there were `most`."""
        restarts = self._options.max_restarts
        last = math.inf if restarts is None else kernels.SEED_ATTEMPTS + restarts
        if most is not None:
            last = min(last, self.attempts + most)
        while self.attempts < last:
            count = int(min(ATTEMPTS_PER_LOOK_AT_THE_CLOCK, last - self.attempts))
            reached = kernels.search(
                self._model, self._limits, self._target, tasks, self._polish,
                self._seed, self.attempts, count, self.q, self.report,
            )  # fmt: skip
            self.attempts += count
            if reached:
                return True
            # The clock starts behind the first attempts: they may have had to be compiled.
            self._deadline = min(self._deadline, time.perf_counter() + self._options.budget)
            if time.perf_counter() > self._deadline:
                self.out_of_time = True
                return False
        return False

    def settle_near(self, tasks: Array) -> bool:
        """
        Settle in the neighbourhood of the seed; tell whether the best configuration is there.

        That is so where the position is reached and no joint wants to leave the neighbourhood.
        An arm that follows a target then keeps its configuration, even if the orientation were
        better in another one.
        """
        room = kernels.NEIGHBOURHOOD * self._limits[limits_of_arm.UNITS]
        self._settle_from(tasks, self._seed, _narrowed(self._limits, self._seed, room))
        moves = np.abs(self.q - self._seed)
        return self.is_position_reached() and bool(np.all(moves < NEARLY_ALL * room))

    def settle(self, tasks: Array, starts: int = 0) -> None:
        """Bring the tip as near as it gets from the best configuration, and from others."""
        self._settle_from(tasks, self.q.copy())
        self._settle_from(tasks, self._seed)
        begin = np.empty_like(self.q)
        for number in range(starts):
            kernels.start(kernels.SEED_ATTEMPTS + number, self._seed, self._limits, begin)
            self._settle_from(tasks, begin)

    def _settle_from(self, tasks: Array, begin: Array, limits: Array | None = None) -> None:
        kernels.settle(
            self._model, self._limits if limits is None else limits, self._target, tasks,
            self._polish, self._seed, begin, self.q, self.report,
        )  # fmt: skip

    def is_position_reached(self) -> bool:
        return bool(self.report[kernels.POSITION_ERROR] <= self._options.position_tolerance)
