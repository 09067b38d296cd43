"""
Constrained FABRIK for one arm: a target pose in, joint values out.

Not converging is an answer (`Status`); asking wrongly is an exception. Errors in a `Solution`
come from forward kinematics of the joint values it holds.

"""

from __future__ import annotations

from dataclasses import replace
import math
import time

import numpy as np
import numpy.typing as npt

from ..errors import check_kind, JointValueError, TargetError
from ..kernels import chain_search, search as kernels, target as targets
from ..kernels._jit import COMPILED
from ..model.arm_checks import check_arm
from ..model.chain import Chain
from ..transforms import Array, transform, why_no_pose
from .batch import BatchSolution, solve_batch
from .configurations import Distinct, most_central
from .continued_search import ContinuedSearch
from .options import SolverOptions
from .packed_chain import pack, PackedArm
from .solution import Solution, Status
from .tries import convinces, FINISHERS, FIRST_TRIES, Outcome, tries_with

SPACING, REDUNDANT_SPACING = 1e-3, 0.5
"""Largest difference of equal configurations [rad or m]; the wider one samples redundant arms."""
MOST_USELESS_TRIES = 300
"""Tries without a new configuration after which `solve_all` ends."""
YIELDING_TRIES = kernels.NEAR_TRIES + 6
"""Tries for the whole target before the orientation yields."""
YIELDING_STARTS = 400
"""Starts of the search for the best orientation at a position, if the whole pose is not met."""
UNREACHABLE_STARTS = 24
"""Starts of the search for the nearest pose to a target out of reach."""
POSE_SHAPE = (4, 4)


class FabrikSolver:
    """
    Inverse kinematics of one chain.

    Parameters
    ----------
    chain : Chain
        The arm.
    options : SolverOptions, optional
        What is asked of it, with method 'articulated'.

    Raises
    ------
    TypeError
        If the chain is something else, as a robot or a path; says how to get one.
    ValueError
        If the options are for another method.

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
        check_arm(chain, 'chain', Chain)
        self.chain = chain
        self.options = SolverOptions() if options is None else options
        check_kind('options', self.options, SolverOptions)
        if self.options.method != 'articulated':
            raise ValueError(
                f"FabrikSolver is for method 'articulated', got '{self.options.method}'; "
                'make_solver chooses the solver'
            )
        self._arm = pack(chain, self.options)
        self._mid = chain.mid_configuration()
        self._yields = self.options.mode == 'auto' and len(chain) < 6
        self._first = kernels.SEED_TRIES if self._yields else FIRST_TRIES
        if self.options.max_restarts is not None:
            self._first = min(self._first, tries_with(self.options.max_restarts))
        if self.options.max_restarts == 0:
            self._first = kernels.SEED_TRIES
        self._prefers = self.options.prefer != 'first'
        self._confined = self.options.max_joint_move != math.inf
        self._stays = self._confined or self.options.max_restarts == 0
        self._yielding_starts = min(YIELDING_STARTS, self.options.max_restarts or YIELDING_STARTS)
        self._moves = np.full(len(chain), self.options.max_joint_move)
        self._spacing = REDUNDANT_SPACING if is_redundant(chain, self.options) else SPACING
        self._posture = None
        if self.options.posture is not None:
            self._posture = chain.checked(self.options.posture, 'posture')

    def __repr__(self) -> str:
        return f'FabrikSolver({self.chain!r}, {self.options!r})'

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
            The best configuration found, with its errors.

        Raises
        ------
        TargetError
            If the target is not a pose: another shape, not finite, not a rotation.
        JointValueError
            If the seed has another shape or is not finite.

        """
        T = self._pose(target)
        begin = self._mid if seed is None else self._values(seed)
        if self._prefers:
            found = self._solve_all(T, begin, self._spacing)
            if found:
                return self._preferred(found)
        return self._solve(self._arm_at(begin) if self._confined else self._arm, T, begin)

    def solve_within(
        self,
        target: npt.ArrayLike,
        seed: npt.ArrayLike,
        lower: npt.ArrayLike,
        upper: npt.ArrayLike,
    ) -> Solution:
        """
        Find joint values that put the tip on the target, each within bounds of its own.

        For a moving arm, whose joints can move only so far within the next tick.

        Parameters
        ----------
        target, seed : array-like
            As for `solve`; the seed is brought inside the bounds.
        lower, upper : array-like, shape (n,)
            Bounds [rad or m], which hold beside the limits of the arm. Bounds that lie outside
            of those come to lie on the limit next to them.

        Raises
        ------
        TargetError
            If the target is not a pose.
        JointValueError
            If seed or bounds have another shape or are not finite, or the bounds of a joint cross.

        """
        T, begin = self._pose(target), self._values(seed)
        least, most = self.chain.checked(lower, 'lower'), self.chain.checked(upper, 'upper')
        self.chain.check_bounds(least, most)
        return self._solve(self._arm.within(least, most), T, begin)

    def _solve(self, arm: PackedArm, T: Array, begin: Array) -> Solution:
        if not COMPILED:  # threads then take turns in the middle of a kernel
            arm = arm.with_own_memory()
        q = np.empty(len(begin))
        outcome = chain_search.solve(*arm, self._first, T, begin, q)
        if outcome[0] == kernels.REACHED and self._posture is None:
            return self._solution(q, outcome, Status.CONVERGED)
        search = self._opened(arm, self._first, T, begin, q, outcome)
        status = Status.CONVERGED
        if outcome[0] != kernels.REACHED:
            status = self._search_on(search, outcome[0])
        if status is Status.CONVERGED and self._posture is not None:
            search.ease(self._posture, self.options.posture_weight)
        return self._solution(q, search.outcome(), status)

    def solve_all(
        self,
        target: npt.ArrayLike,
        seed: npt.ArrayLike | None = None,
        spacing: float | None = None,
    ) -> tuple[Solution, ...]:
        """
        Find the distinct configurations that put the tip on the target: elbow, wrist, shoulder.

        The search ends with the budget, with `max_restarts`, or when 300 starts in a row have
        found nothing new.

        Parameters
        ----------
        target, seed : array-like
            As for `solve`.
        spacing : float, optional
            Configurations in which no joint differs by more than this are one [rad or m]; whole
            turns of a joint do not count. Left out, 0.001, or 0.5 for an arm with more joints than
            the task needs: such an arm has infinitely many, of which it gives a sample.

        Returns
        -------
        tuple of Solution
            Those that converged, the one with the smallest largest joint move from the seed
            first; empty if there are none. In mode 'auto' with fewer than six joints those that
            reach the whole pose.

        Raises
        ------
        TargetError
            If the target is not a pose.
        JointValueError
            If the seed has another shape or is not finite.
        ValueError
            If the spacing is not positive.

        """
        if spacing is not None and not spacing > 0.0:
            raise ValueError(f'spacing must be positive, got {spacing}')
        begin = self._mid if seed is None else self._values(seed)
        return self._solve_all(self._pose(target), begin, spacing or self._spacing)

    def solve_batch(
        self, targets: npt.ArrayLike, seeds: npt.ArrayLike | None = None, progress: bool = True
    ) -> BatchSolution:
        """
        Solve for many targets, on all cores.

        Each answer is the one that `solve` gives. With a posture, a preference or
        `max_joint_move` it solves on one core.

        Parameters
        ----------
        targets : array-like, shape (N, 4, 4)
            T_base_tip; or in mode 'position' points of shape (N, 3) [m].
        seeds : array-like, shape (N, n) or (n,), optional
            Where the searches start, each its own or all the same [rad or m]. Left out, the
            middle of the limits.
        progress : bool
            Whether to show a progress bar if it takes longer than a second, tqdm is installed and
            standard error is a terminal.

        Raises
        ------
        TargetError
            If a target is not a pose; tells its number.
        JointValueError
            If the seeds have another shape or one is not finite; tells its number.

        """
        T = self._poses(targets)
        begins = _plain(self._mid if seeds is None else seeds)
        if begins.shape not in (self._mid.shape, (len(T), len(self._mid))):
            raise JointValueError(
                f'seeds have shape {begins.shape}, expected ({len(self._mid)},) or '
                f'({len(T)}, {len(self._mid)})'
            )
        begins = _plain(np.broadcast_to(begins, (len(T), len(self._mid))))

        def solve(i: int) -> Solution:
            try:
                return self.solve(T[i], begins[i])
            except (TargetError, JointValueError) as error:
                raise type(error)(f'target {i}: {error}') from None

        plain = self._posture is None and not self._confined and not self._prefers
        arm = self._arm if plain else None
        return solve_batch(arm, self._first, T, begins, solve, progress)

    def _solve_all(self, T: Array, begin: Array, spacing: float) -> tuple[Solution, ...]:
        arm = (self._arm_at(begin) if self._confined else self._arm).sharpened()
        if not COMPILED:
            arm = arm.with_own_memory()
        q = np.empty(len(begin))
        outcome = chain_search.solve(*arm, 0, T, begin, q)
        search = self._opened(arm, 0, T, begin, q, outcome)
        if outcome[0] in (targets.TOO_FAR, targets.TOO_NEAR):
            return ()
        distinct, found, last_new = Distinct(self.chain, spacing), [], 0
        while search.tries - last_new < MOST_USELESS_TRIES and search.next_solution():
            if self._posture is not None:
                search.ease(self._posture, self.options.posture_weight)
            if distinct.add(search.q):
                last_new = search.tries
                found.append(self._solution(search.q.copy(), search.outcome(), Status.CONVERGED))
        return tuple(sorted(found, key=lambda solution: np.abs(solution.q - search.seed).max()))

    def _opened(
        self,
        arm: PackedArm,
        tries: int,
        T: Array,
        begin: Array,
        q: Array,
        outcome: Outcome,
    ) -> ContinuedSearch:
        """Take over from the kernel `solve`, or raise if it refused the input."""
        if outcome[0] < 0:
            self._refuse(int(outcome[0]), T, begin)
        return ContinuedSearch(arm, self.options, tries, T, begin, q, outcome)

    def _preferred(self, found: tuple[Solution, ...]) -> Solution:
        return most_central(found, self.chain) if self.options.prefer == 'central' else found[0]

    def _arm_at(self, begin: Array) -> PackedArm:
        return self._arm.around(begin, self._moves)

    def _search_on(self, search: ContinuedSearch, code: int) -> Status:
        """Go on where the first tries did not succeed, and say how that ended."""
        if code in (targets.TOO_FAR, targets.TOO_NEAR):
            search.find_nearest(UNREACHABLE_STARTS)
        elif self._solve_yielding(search) if self._yields else self._solve_whole(search):
            return Status.CONVERGED
        blocked = search.assess()
        if self._is_reached(search):
            stays = np.array_equal(search.q, search.seed)
            if stays or search.statistics[kernels.FINISHED_BY] == kernels.NOBODY:
                search.statistics[kernels.FINISHED_BY] = kernels.SEED
            return Status.CONVERGED
        if code == targets.TOO_FAR:
            return Status.TOO_FAR
        if code == targets.TOO_NEAR:
            return Status.TOO_NEAR
        if blocked:
            if self.chain.is_at_narrower_bound(search.q, *search.bounds, kernels.AT_LIMIT):
                return Status.BLOCKED_BY_JOINT_MOVE
            if convinces(search.tries, len(self.chain)):
                return Status.BLOCKED_BY_LIMITS
        return Status.BUDGET_EXHAUSTED if search.out_of_time else Status.STALLED

    def _solve_whole(self, search: ContinuedSearch) -> bool:
        """Meet the target, or come as near as can be."""
        reached = search.run()
        if not reached:
            search.find_nearest()
        return reached

    def _solve_yielding(self, search: ContinuedSearch) -> bool:
        """
        Meet the whole target or, if that cannot be, the position before the orientation.

        On the branch of the seed where the search stays there; else with the best orientation
        of all branches.
        """
        is_near = search.find_nearest_to_seed()
        if is_near and self._stays:
            return False
        if search.run(YIELDING_TRIES):
            return True
        if self._stays:
            search.find_nearest()
        elif search.find_best_turned(self._yielding_starts):
            return True
        if not search.is_position_reached():
            search.run(position_only=True)
            search.find_nearest()
        return False

    def _is_reached(self, search: ContinuedSearch) -> bool:
        """Whether the errors are small enough; an orientation that yields has to be the best."""
        is_best = self._yields and (self._stays or not search.out_of_time)
        return search.is_position_reached() and (is_best or search.is_turned())

    def _solution(self, q: Array, outcome: Outcome, status: Status) -> Solution:
        _, apart, turned, passes, steps, restarts, finisher, limited, _ = outcome
        names = self.chain.joints_at_limits(q, kernels.AT_LIMIT) if limited else ()
        return Solution(
            q, status, apart, turned, passes, steps, restarts, FINISHERS[finisher], names
        )

    def _pose(self, target: npt.ArrayLike) -> Array:
        """Return the target as an array of shape (4, 4) that the kernels take."""
        T: Array = np.asarray(target, np.float64)
        if T.shape == POSE_SHAPE and T.flags.carray:
            return T
        if T.shape == (3,) and self.options.mode == 'position':
            return transform(np.eye(3), T)
        if T.shape != POSE_SHAPE:
            raise TargetError(f'target has shape {T.shape}, expected a pose of shape (4, 4)')
        return np.array(T, order='C')

    def _poses(self, targets: npt.ArrayLike) -> Array:
        """Return targets as an array of shape (N, 4, 4) that the kernels take."""
        T = _plain(targets)
        if T.ndim == 2 and T.shape[1] == 3 and self.options.mode == 'position':
            points, T = T, np.tile(np.eye(4), (len(T), 1, 1))
            T[:, :3, 3] = points
        if T.ndim != 3 or T.shape[1:] != (4, 4):
            raise TargetError(f'targets have shape {T.shape}, expected poses of shape (N, 4, 4)')
        return T

    def _values(self, seed: npt.ArrayLike) -> Array:
        """Return the seed as an array of shape (n,) that the kernels take."""
        values = np.asarray(seed, np.float64)
        if values.shape == self._mid.shape and values.flags.carray:
            return values
        return self.chain.checked(values, 'seed')

    def _refuse(self, code: int, T: Array, seed: Array) -> None:
        if code == targets.NOT_FINITE:
            raise TargetError('target has entries that are not finite')
        if code == targets.NOT_A_POSE:
            raise TargetError(f'target is not a pose: {why_no_pose(T)}; got {T.tolist()}')
        self.chain.checked(seed, 'seed')

    def warm_up(self) -> float:
        """Compile everything that `solve` needs and return how long that took [s]."""
        begin = time.perf_counter()
        brief = replace(self.options, max_restarts=0, budget=math.inf)
        middle = self.chain.forward_kinematics(self._mid)
        far = self.chain.root_point + np.array([0.0, 0.0, 2.0 * self.chain.reach])
        for target in (middle, transform(np.eye(3), far)):
            FabrikSolver(self.chain, brief).solve(target)
        FabrikSolver(self.chain, brief).solve_all(middle)
        self._arm.around(self._mid, self._moves)
        self._arm.scattered(0)
        return time.perf_counter() - begin


def is_redundant(chain: Chain, options: SolverOptions) -> bool:
    """Whether the arm has more joints than the task needs."""
    if options.mode == 'axis':
        return len(chain) > 5
    counted = options.axis_weights[:3] if options.mode == 'position' else options.axis_weights
    return len(chain) > sum(weight != 0.0 for weight in counted)


def _plain(values: npt.ArrayLike) -> Array:
    """Return the values as the one kind of array that the kernels are compiled for."""
    array = np.asarray(values, dtype=np.float64)
    return array if array.flags.carray else np.array(array, order='C')
