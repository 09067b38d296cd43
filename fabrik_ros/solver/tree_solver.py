"""
Constrained FABRIK for arms that share a body: target poses in, the joint values of all out.

Tips that share moving joints are one problem: each of them has its own mode and weight, and all
are solved for together.

"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
import math
import time
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import check_kind, LinkNotFoundError, TargetError
from ..kernels import search as kernels, target as codes, tree_search
from ..kernels._jit import COMPILED
from ..kernels.arm_table import FRAME
from ..kernels.limits import LOWER, START_LOWER, START_UPPER, UPPER
from ..model.arm_checks import check_arm
from ..model.tree import Tree
from ..transforms import Array, why_no_pose
from .chain_solver import UNREACHABLE_STARTS
from .options import MODES, SolverOptions
from .packed_tree import Found, pack_tree, PackedTree
from .solution import Solution, Status, TipResult
from .tries import (
    convinces,
    FINISHERS,
    FIRST_TRIES,
    NEARLY_ALL,
    TRIES_PER_CLOCK_CHECK,
    tries_with,
)

JOINTS_FOR_A_POSE = 6
"""With fewer joints mode 'auto' asks for the position alone."""
OUT_OF_REACH = {codes.TOO_FAR: Status.TOO_FAR, codes.TOO_NEAR: Status.TOO_NEAR}
NEVER_REACHED = 1e-300
"""Position tolerance that no solve meets [m]: all code runs, and is compiled."""
PULL_SHARES = (1e-2, 1e-4, 1e-6)
"""Weights of a tip out of reach beside the others, step by step [1]."""
COUNTS = slice(kernels.PASSES, kernels.POLISH_STEPS + 1)


@dataclass(frozen=True)
class TipOptions:
    """
    The task of one tip of several, checked when made.

    Parameters
    ----------
    mode : str, optional
        As in `SolverOptions`; None: the mode of those.
    axis : tuple of 3 floats, optional
        Tool axis for mode 'axis', in the tip frame; None: the axis of `SolverOptions`.
    weight : float
        Factor of the squared errors of this tip, where not all tips can meet their targets: a
        metre counts alike for all tips, however far each can reach.

    Raises
    ------
    ValueError
        If an option makes no sense; names it, its value and what is allowed.

    """

    mode: str | None = None
    axis: tuple[float, float, float] | None = None
    weight: float = 1.0

    def __post_init__(self) -> None:
        if self.mode is not None and self.mode not in MODES:
            raise ValueError(f"mode must be one of {', '.join(MODES)}; got '{self.mode}'")
        if self.axis is not None:
            SolverOptions(axis=self.axis)
        if not 0.0 < self.weight < math.inf:
            raise ValueError(f'weight must be positive and finite, got {self.weight}')


def is_unconstrained(T: Array) -> Any:
    """Whether tips have no target: NaN for each of the poses, shape (..., 4, 4)."""
    return np.isnan(T[..., 0, 0])


class TreeSolver:
    """
    Inverse kinematics of several arms on one base.

    Parameters
    ----------
    tree : Tree
        The arms.
    options : SolverOptions, optional
        What is asked of all tips. Mode 'auto' is 'pose' for a tip with six joints or more on its
        way, else 'position'. Postures and preferences among solutions are for single arms.
    tips : mapping, optional
        `TipOptions` by tip link, for tips of which something else is asked.

    Raises
    ------
    TypeError
        If the tree is something else, as a robot or a chain; says how to get one.
    LinkNotFoundError
        If options are given for a link that is no tip.
    ValueError
        If the options cannot be used with several tips.

    """

    def __init__(
        self,
        tree: Tree,
        options: SolverOptions | None = None,
        tips: Mapping[str, TipOptions] | None = None,
    ) -> None:
        check_arm(tree, 'tree', Tree)
        self.tree = tree
        self.options = SolverOptions() if options is None else options
        self._tips = dict(tips or {})
        check_kind('options', self.options, SolverOptions)
        _check_options(self.options)
        for link in self._tips:
            if link not in tree.tip_links:
                raise LinkNotFoundError(link, tree.tip_links)
        own = [self._options_of(t) for t in range(len(tree.tip_links))]
        weights = [self._tips.get(tip, TipOptions()).weight for tip in tree.tip_links]
        self._packed = pack_tree(tree, own, weights)
        self._mid = tree.mid_configuration()
        self._confined = self.options.max_joint_move != math.inf
        self._moves = np.full(len(tree), self.options.max_joint_move)
        self._first = FIRST_TRIES
        if self.options.max_restarts is not None:
            self._first = min(self._first, tries_with(self.options.max_restarts))
        if self.options.max_restarts == 0:
            self._first = kernels.SEED_TRIES

    def __repr__(self) -> str:
        tips = f', {self._tips!r}' if self._tips else ''
        return f'TreeSolver({self.tree!r}, {self.options!r}{tips})'

    def solve(
        self,
        targets: Mapping[str, npt.ArrayLike] | npt.ArrayLike,
        seed: npt.ArrayLike | None = None,
    ) -> Solution:
        """
        Find joint values that put the tips on their targets.

        Where a target is farther or nearer than its tip can ever be, the other tips go to theirs
        all the same, and that tip comes as near as they let it. Where targets contradict each
        other for another reason, the weights decide. Joints that move only tips without a target
        stay as they are in the seed.

        Parameters
        ----------
        targets : mapping or array-like
            T_base_tip of shape (4, 4) by tip link; a tip that is left out is unconstrained. Or all
            in one array of shape (k, 4, 4), where NaN leaves a tip unconstrained.
        seed : array-like, shape (n,), optional
            Where the search starts [rad or m], brought inside the limits. Left out, the middle of
            the limits.

        Raises
        ------
        TargetError
            If a target is not a pose; names its tip.
        LinkNotFoundError
            If a target is for a link that is no tip.
        JointValueError
            If the seed has another shape or is not finite.

        """
        begin = self._mid if seed is None else self._values(seed, 'seed')
        packed = self._packed
        if self._confined:
            packed = packed.around(begin, self._moves)
        return self._solve(packed, self._poses(targets), begin)

    def solve_within(
        self,
        targets: Mapping[str, npt.ArrayLike] | npt.ArrayLike,
        seed: npt.ArrayLike,
        lower: npt.ArrayLike,
        upper: npt.ArrayLike,
    ) -> Solution:
        """
        Find joint values as `solve` does, each within bounds of its own.

        Parameters
        ----------
        targets, seed : array-like
            As for `solve`; the seed is brought inside the bounds.
        lower, upper : array-like, shape (n,)
            Bounds [rad or m], which hold beside the limits of the arm. Bounds that lie outside
            of those come to lie on the limit next to them.

        Raises
        ------
        TargetError, LinkNotFoundError
            If `solve` would not take the targets either.
        JointValueError
            If seed or bounds have another shape or are not finite, or the bounds of a joint cross.

        """
        begin = self._values(seed, 'seed')
        least, most = self.tree.checked(lower, 'lower'), self.tree.checked(upper, 'upper')
        self.tree.check_bounds(least, most)
        return self._solve(self._packed.within(least, most), self._poses(targets), begin)

    def warm_up(self) -> float:
        """Compile everything that `solve` needs and return how long that took [s]."""
        begin = time.perf_counter()
        brief = replace(
            self.options, max_restarts=0, budget=math.inf, position_tolerance=NEVER_REACHED
        )
        solver = TreeSolver(self.tree, brief, self._tips)
        targets = self.tree.forward_kinematics(self._mid)
        solver.solve(targets, self.tree.finite_limits()[0])
        far = targets.copy()
        far[0, 2, 3] += 10.0 * self.tree.reach
        solver.solve(far)
        far[1:] = math.nan
        solver.solve(far)
        return time.perf_counter() - begin

    def _options_of(self, t: int) -> SolverOptions:
        """Options with the mode and the axis of tip number `t`."""
        tip = self._tips.get(self.tree.tip_links[t], TipOptions())
        mode = tip.mode or self.options.mode
        axis = self.options.axis if tip.axis is None else tip.axis
        if mode == 'auto':
            mode = 'pose' if self.tree.joints_to(t) >= JOINTS_FOR_A_POSE else 'position'
        return replace(self.options, mode=mode, axis=axis)

    def _solve(self, packed: PackedTree, T: Array, seed: Array) -> Solution:
        if not COMPILED:  # threads then take turns in the middle of a kernel
            packed = packed.with_own_memory()
        code, found = packed.begin(self._first, T, seed)
        if code == kernels.REACHED:
            return self._solution(found, Status.CONVERGED)
        if code < 0:
            self._refuse(code, T, seed)
        packed = packed.with_own_memory()
        if code == kernels.NOT_YET:
            packed.begin(0, T, seed)
            return self._solution(found, self._search_on(packed, seed, found))
        found = self._come_near(packed, T, seed)
        return self._solution(found, OUT_OF_REACH[code])

    def _search_on(self, packed: PackedTree, seed: Array, found: Found) -> Status:
        """Go on where the first tries did not succeed, and say how that ended."""
        reached, out_of_time, tries = self._make_more_tries(packed, found)
        if reached:
            return Status.CONVERGED
        inside = np.minimum(np.maximum(seed, packed.limits[LOWER]), packed.limits[UPPER])
        for start in (found.q.copy(), inside):
            packed.find_nearest(start, found)
        blocked = packed.assess(found)
        if self._is_reached(found.statistics):
            return Status.CONVERGED
        if blocked:
            lower, upper = packed.limits[LOWER], packed.limits[UPPER]
            if self.tree.is_at_narrower_bound(found.q, lower, upper, kernels.AT_LIMIT):
                return Status.BLOCKED_BY_JOINT_MOVE
            most = max(map(self.tree.joints_to, range(len(self.tree.tip_links))))
            if convinces(tries, most):
                return Status.BLOCKED_BY_LIMITS
        return Status.BUDGET_EXHAUSTED if out_of_time else Status.STALLED

    def _make_more_tries(self, packed: PackedTree, found: Found) -> tuple[bool, bool, int]:
        """Make more tries; tell whether one succeeded, if the budget ended, and their number."""
        options, made = self.options, self._first
        last = math.inf if options.max_restarts is None else tries_with(options.max_restarts)
        if options.max_restarts == 0:
            made = max(made, kernels.NEAR_TRIES)
        deadline = time.perf_counter() + options.budget
        while made < last:
            if time.perf_counter() > deadline:
                return False, True, made
            count = int(min(TRIES_PER_CLOCK_CHECK, last - made))
            reached = tree_search.search(
                *packed[:3], *packed.memory, packed.polish, made, count, *found
            )
            if reached:
                return True, False, made
            made += count
        return False, False, made

    def _come_near(self, packed: PackedTree, T: Array, seed: Array) -> Found:
        """Bring tips as near as they get of which one or more are out of reach."""
        beyond = self._out_of_reach(T)
        if np.all(beyond | np.isnan(T[:, 0, 0])):
            found = self._come_near_all(packed, T, seed)
        else:
            found = self._come_near_some(packed, beyond, T, seed)
        packed.begin(0, T, seed)
        packed.assess(found)
        return found

    def _out_of_reach(self, T: Array) -> npt.NDArray[np.bool_]:
        """Whether each target is farther away or nearer than its tip can be, shape (k,)."""
        spheres, frame, tolerance = (
            self._packed.spheres,
            np.empty(FRAME),
            self.options.position_tolerance,
        )
        seen = [
            codes.read_target(T[t], spheres[t], tolerance, frame, frame) for t in range(len(T))
        ]
        return np.array(seen) > 0

    def _come_near_all(self, packed: PackedTree, T: Array, seed: Array) -> Found:
        """
        Bring all tips as near as they get, from the seed and from elsewhere.

        From elsewhere only what brings them clearly nearer counts.
        """
        _, found = packed.begin(0, T, seed)
        packed.find_nearest(found.q.copy(), found)
        lower, upper = packed.limits[START_LOWER : START_UPPER + 1]
        start = np.empty_like(found.q)
        for number in range(UNREACHABLE_STARTS):
            kernels.scatter(number, lower, upper, start)
            _, other = packed.begin(0, T, seed)
            packed.find_nearest(start, other)
            other.statistics[COUNTS] += found.statistics[COUNTS]
            if other.statistics[kernels.COST] < NEARLY_ALL * found.statistics[kernels.COST]:
                found = other
            else:
                found.statistics[COUNTS] = other.statistics[COUNTS]
        return found

    def _come_near_some(
        self, packed: PackedTree, beyond: npt.NDArray[np.bool_], T: Array, seed: Array
    ) -> Found:
        """
        Put tips on the targets within reach, and bring the others near to those beyond reach.

        The latter count less and less, and after each step the tips within reach go back to
        theirs: else a tip out of reach would pull all it shares joints with off their targets.
        """
        others = packed.counting(np.where(beyond, 0.0, 1.0))
        tasks = np.where(beyond[:, None], packed.tasks, packed.tasks[kernels.WHOLE])
        nearby = self._come_near_all(packed.counting(np.where(beyond, 1.0, 0.0)), T, seed)
        shared = [self.tree.moves(t) for t in range(len(T)) if not beyond[t] and T[t, 3, 3] == 1.0]
        first = self._solve(others, T, np.where(np.any(shared, axis=0), seed, nearby.q))
        _, found = packed.begin(0, T, first.q)
        found.statistics[kernels.FINISHED_BY] = FINISHERS.index(first.finished_by)
        nearest, made = math.inf, nearby.statistics[COUNTS] + [first.passes, first.polish_steps]
        for share in PULL_SHARES:
            pulling = packed.counting(np.where(beyond, share, 1.0))._replace(tasks=tasks)
            _, pulled = pulling.begin(0, T, found.q)
            pulling.find_nearest(found.q, pulled)
            code, back = others.begin(kernels.SEED_TRIES, T, pulled.q)
            made += pulled.statistics[COUNTS] + back.statistics[COUNTS]
            packed.begin(0, T, back.q)
            packed.assess(back)
            away = packed.weights[beyond] @ back.apart[beyond, 0]
            if (code == kernels.REACHED and away < nearest) or not first.converged:
                nearest, found = away, back
                found.statistics[kernels.FINISHED_BY] = pulled.statistics[kernels.FINISHED_BY]
        found.statistics[COUNTS], found.statistics[kernels.RESTARTS] = made, first.restarts
        return found

    def _is_reached(self, statistics: Array) -> bool:
        options = self.options
        return bool(
            statistics[kernels.POSITION_ERROR] <= options.position_tolerance
            and statistics[kernels.ORIENTATION_ERROR] <= options.orientation_tolerance
        )

    def _solution(self, found: Found, status: Status) -> Solution:
        q, statistics, apart = found
        place, turn = self.options.position_tolerance, self.options.orientation_tolerance
        tips = tuple(TipResult(p, r, p <= place and r <= turn) for p, r in apart.tolist())
        apart_most, turned_most, passes, steps, restarts, finisher, limited, _ = (
            statistics.tolist()
        )
        names = self.tree.joints_at_limits(q, kernels.AT_LIMIT) if limited else ()
        return Solution(
            q, status, apart_most, turned_most, int(passes), int(steps), int(restarts),
            FINISHERS[int(finisher)], names, tips,
        )  # fmt: skip

    def _poses(self, targets: Mapping[str, npt.ArrayLike] | npt.ArrayLike) -> Array:
        """Return the targets as an array of shape (k, 4, 4) that the kernels take."""
        shape = (len(self.tree.tip_links), 4, 4)
        if not isinstance(targets, Mapping):
            T = np.asarray(targets, np.float64)
            if T.shape != shape:
                raise TargetError(f'targets have shape {T.shape}, expected poses of shape {shape}')
            return T if T.flags.carray else np.array(T, order='C')
        T = np.full(shape, math.nan)
        for link, target in targets.items():
            if link not in self.tree.tip_links:
                raise LinkNotFoundError(link, self.tree.tip_links)
            pose = np.asarray(target, np.float64)
            if pose.shape != shape[1:]:
                raise TargetError(f"the target of '{link}' has shape {pose.shape}, not (4, 4)")
            if np.isnan(pose).all():
                raise TargetError(f"the target of '{link}' has entries that are not finite")
            T[self.tree.tip_links.index(link)] = pose
        return T

    def _values(self, values: npt.ArrayLike, name: str) -> Array:
        """Return joint values as an array of shape (n,) that the kernels take."""
        array = np.asarray(values, np.float64)
        if array.shape == self._mid.shape and array.flags.carray:
            return array
        return self.tree.checked(array, name)

    def _refuse(self, code: int, T: Array, seed: Array) -> None:
        self.tree.checked(seed, 'seed')
        for link, pose in zip(self.tree.tip_links, T, strict=True):
            if not np.isfinite(pose).all() and not np.isnan(pose).all():
                raise TargetError(f"the target of '{link}' has entries that are not finite")
            why = why_no_pose(pose) if np.isfinite(pose).all() else ''
            if code == codes.NOT_A_POSE and why:
                raise TargetError(
                    f"the target of '{link}' is not a pose: {why}; got {pose.tolist()}"
                )


def _check_options(options: SolverOptions) -> None:
    if options.posture is not None:
        raise ValueError('a posture is for single arms; leave it out with several tips')
    if options.prefer != 'first':
        raise ValueError(f"prefer must be 'first' with several tips; got '{options.prefer}'")
