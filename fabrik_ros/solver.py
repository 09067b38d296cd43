"""
Constrained FABRIK for one arm: a target pose in, joint values out.

Not converging is an answer (`Status`); asking wrongly is an exception. Errors in a `Solution`
come from forward kinematics of the joint values it holds.

"""

from dataclasses import replace
import math
import time

import numpy as np
import numpy.typing as npt

from .errors import TargetError
from .kernels import search as kernels, target as targets
from .kernels.model import FRAME
from .options import SolverOptions
from .robot import Chain
from .search import FIRST_ATTEMPTS, pack, Search
from .solution import Solution, Status
from .transforms import Array, transform

YIELDING_ATTEMPTS = kernels.NEAR_ATTEMPTS + 6
UNREACHABLE_STARTS = 4
FINISHERS = ('nobody', 'seed', 'fabrik', 'polish')


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
        self._arm = pack(chain, self.options)
        self._mid = chain.mid_configuration()
        self._yields = self.options.mode == 'auto' and len(chain) < 6
        self._first = kernels.SEED_ATTEMPTS if self._yields else FIRST_ATTEMPTS
        if self.options.max_restarts is not None:
            self._first = min(self._first, kernels.NEAR_ATTEMPTS + 1 + self.options.max_restarts)

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
        T = self._pose(target)
        begin = self._mid if seed is None else self._values(seed)
        arm, n = self._arm, len(begin)
        if self.options.max_joint_move != math.inf:
            arm = arm.around(begin, self.options.max_joint_move)
        q, report, problem = np.empty(n), np.empty(kernels.REPORT_SIZE), np.empty(2 * FRAME + n)
        code = kernels.solve(*arm, self._first, T, begin, q, report, problem)
        if code == kernels.REACHED:
            return self._solution(q, report, Status.CONVERGED)
        if code < 0:
            self._refuse(code, T, begin)
        search = Search(arm, self.options, self._first, q, report, problem)
        return self._solution(q, report, self._search_on(search, code))

    def _search_on(self, search: Search, code: int) -> Status:
        """Go on where the first attempts did not succeed, and say how that ended."""
        if code in (targets.TOO_FAR, targets.TOO_NEAR):
            search.settle(UNREACHABLE_STARTS)
        elif self._solve_yielding(search) if self._yields else self._solve_whole(search):
            return Status.CONVERGED
        blocked = search.weigh_up()
        if self._is_reached(search.report):
            if search.report[kernels.FINISHED_BY] == kernels.NOBODY:
                search.report[kernels.FINISHED_BY] = kernels.SEED
            return Status.CONVERGED
        if code == targets.TOO_FAR:
            return Status.TOO_FAR
        if code == targets.TOO_NEAR:
            return Status.TOO_NEAR
        if blocked:
            return Status.BLOCKED_BY_LIMITS
        return Status.BUDGET_EXHAUSTED if search.out_of_time else Status.STALLED

    def _solve_whole(self, search: Search) -> bool:
        """Meet the target, or come as near as can be."""
        reached = search.run()
        if not reached:
            search.settle()
        return reached

    def _solve_yielding(self, search: Search) -> bool:
        """Meet the whole target or, if that cannot be, the position before the orientation."""
        if search.settle_near():
            return False
        if search.run(YIELDING_ATTEMPTS):
            return True
        search.settle()
        if not search.is_position_reached():
            search.run(position_only=True)
            search.settle()
        return False

    def _is_reached(self, report: Array) -> bool:
        """Whether the errors are small enough; of an orientation only if it may not yield."""
        options = self.options
        turned = report[kernels.ORIENTATION_ERROR] <= options.orientation_tolerance
        return bool(
            report[kernels.POSITION_ERROR] <= options.position_tolerance
            and (self._yields or turned)
        )

    def _solution(self, q: Array, report: Array, status: Status) -> Solution:
        q.setflags(write=False)
        apart, turned, passes, steps, last_attempt, finisher, limited, _ = report.tolist()
        return Solution(
            q,
            status,
            apart,
            turned,
            int(passes),
            int(steps),
            max(0, int(last_attempt) - kernels.NEAR_ATTEMPTS),
            FINISHERS[int(finisher)],
            self._joints_at_limits(q) if limited else (),
        )

    def _joints_at_limits(self, q: Array) -> tuple[str, ...]:
        margin = kernels.AT_LIMIT
        near = (q - self.chain.lower < margin) | (self.chain.upper - q < margin)
        return tuple(self.chain.joint_names[j] for j in np.flatnonzero(near))

    def _pose(self, target: npt.ArrayLike) -> Array:
        """Return the target as an array of shape (4, 4) that the kernels take."""
        T = _plain(target)
        if T.shape == (3,) and self.options.mode == 'position':
            T = transform(np.eye(3), T)
        if T.shape != (4, 4):
            raise TargetError(f'target has shape {T.shape}, expected a pose of shape (4, 4)')
        return T

    def _values(self, seed: npt.ArrayLike) -> Array:
        """Return the seed as an array of shape (n,) that the kernels take."""
        values = _plain(seed)
        return values if values.shape == self._mid.shape else self.chain.checked(seed, 'seed')

    def _refuse(self, code: int, T: Array, seed: Array) -> None:
        if code == targets.NOT_FINITE:
            raise TargetError('target has entries that are not finite')
        if code == targets.NOT_A_POSE:
            raise TargetError(
                'target is not a pose: its upper left 3x3 block must be a rotation and its last '
                f'row 0 0 0 1, got {T.tolist()}'
            )
        self.chain.checked(seed, 'seed')

    def warm_up(self) -> float:
        """Compile everything that `solve` needs and return how long that took [s]."""
        begin = time.perf_counter()
        impossible = replace(
            self.options, position_tolerance=1e-300, max_restarts=1, budget=math.inf
        )
        middle = self.chain.forward_kinematics(self._mid)
        far = self.chain.root_point + np.array([0.0, 0.0, 2.0 * self.chain.reach])
        for target in (middle, transform(np.eye(3), far)):
            FabrikSolver(self.chain, impossible).solve(target, seed=self._mid + 0.1)
        return time.perf_counter() - begin


def _plain(values: npt.ArrayLike) -> Array:
    """Return the values as the one kind of array that the kernels are compiled for."""
    array = np.asarray(values, dtype=np.float64)
    return array if array.flags.carray else np.array(array, order='C')
