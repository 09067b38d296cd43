"""
How an arm pursues its goal: which path it takes, and which other one where that is blocked.

A goal that follows others in a stream is resolved a moment later: the line heads for it at once.

"""

from collections.abc import Mapping
from functools import partial
import time

import numpy as np
import numpy.typing as npt

from ..collision.guard import CollisionGuard
from ..model.mechanism import Mechanism
from ..reasons import joined, Reason, ReasonKind
from ..solver.options import SolverOptions
from ..solver.solution import Solution
from ..solver.tree_solver import is_unconstrained, TipOptions
from ..transforms import Array
from .goal import Goal, GoalResolver, MotionOptions, PendingGoal, ResolvedGoal
from .goal_frame import GoalFrame
from .jog_reference import JogReference
from .joint_limiter import JointLimiter
from .joint_path import JointPath
from .line_reference import LineReference
from .line_tracker import LineTracker
from .motion_solvers import MotionSolvers
from .path import Path
from .reference_path import JogPath, LinePath, WorldLinePath

SKIPPED = (0.1, 0.2, 0.4, 0.8, 1.6)
"""Where a line cannot be followed at once it is joined so far ahead [s at full speed]."""
OTHER_PATH = 'another way: path joint, or allow_reconfiguration'
RESOLVING_TIME = 0.1
"""Of goals that come one after the other, one is resolved at least every so often [s]."""
PATIENCE = 2
"""Steps that a goal of a stream waits to be resolved: the next one is likely to come before."""


class GoalPursuit:
    """
    Has the goal, and makes the paths that lead there.

    Parameters
    ----------
    robot : Chain or Tree
        The joints.
    limiter : JointLimiter
        Makes the commands, and knows what the joints can do.
    frame : GoalFrame
        Knows in which frames goals are held.
    guard : CollisionGuard or None
        Knows what collides, where that is checked.
    solver_options : SolverOptions
        Mode, tolerances and budget.
    options : MotionOptions
        How goals are pursued.
    tips : mapping or None
        What is asked of the tips of a tree, `TipOptions` by tip link.

    Attributes
    ----------
    options : MotionOptions
        How goals are pursued.
    resolved : ResolvedGoal or None
        What is known of the goal.
    solution : Solution or None
        The newest answer of the solver.
    goal_solution : Solution or None
        The newest answer for a goal itself.
    resolving_time : float
        How long it took to find that, and a path [s].

    """

    def __init__(
        self,
        robot: Mechanism,
        limiter: JointLimiter,
        frame: GoalFrame,
        guard: CollisionGuard | None,
        solver_options: SolverOptions,
        options: MotionOptions,
        tips: Mapping[str, TipOptions] | None,
    ) -> None:
        self._robot, self._limiter, self._frame, self._guard = robot, limiter, frame, guard
        self._pending: PendingGoal | None = None
        self._line: LinePath | None = None
        """The newest line to a goal."""
        self._solvers = MotionSolvers(robot, solver_options, tips)
        self._tracker = LineTracker(robot, self._solvers, frame, limiter.joints)
        self._set_options(options)
        self.resolving_time = 0.0
        self.forget()

    def change(
        self,
        solver_options: SolverOptions,
        options: MotionOptions,
        tips: Mapping[str, TipOptions] | None,
    ) -> None:
        """Go on with other options."""
        self._solvers = self._tracker.solvers = MotionSolvers(self._robot, solver_options, tips)
        self._set_options(options)

    def _set_options(self, options: MotionOptions) -> None:
        self.options = options
        fastest = self._limiter.joints.limits.joint_velocity
        self._resolver = GoalResolver(
            self._robot, self._solvers, self._frame, self._guard, fastest, options
        )

    def warm_up(self) -> None:
        """Compile what goals and lines need."""
        self._solvers.warm_up()
        self._tracker.warm_up()

    def forget(self) -> None:
        """Have no goal."""
        self.resolved: ResolvedGoal | None = None
        self.solution: Solution | None = None
        self.goal_solution: Solution | None = None
        self._pending = self._line = None
        self._skipped = 0
        """How many points ahead on the line have been tried to join it."""

    # -- to a goal

    def follow_on(self, goal: Goal, path: Path | None) -> bool:
        """Head for one more goal of a stream, if that can be resolved later; tell whether so."""
        options, line = self.options, self._line
        if line is None or line is not path or not line.can_go_on_to(goal.T):
            return False
        in_base = not (self._frame.is_world or goal.in_world.any())
        if not (options.path == 'line' and options.approach_unreachable and in_base):
            return False
        line.head_for(goal.T)
        age = 0.0 if self._pending is None else self._pending.age
        steps = PATIENCE if line.reference.is_filtered else 1
        self._pending = PendingGoal(goal, age, steps)
        self._skipped = 0
        return True

    def set_out(self, goal: Goal, path: Path | None) -> Path | None:
        """
        Find the path to a goal, for an arm that follows another one or rests.

        None where the arm is to stay; `resolved.reason` says why.
        """
        same_frame = np.array_equal(self._frame.in_world, goal.in_world)
        self._frame.hold(goal.in_world)
        resolved = self._resolve(goal.T, resting=path is None)
        if self._stays(resolved):
            return None
        self._skipped = 0
        if self.options.path == 'joint':
            return self._joint_path(resolved)
        return self._line_path(resolved, path if same_frame else None)

    def _resolve(self, T_goal: Array, resting: bool) -> ResolvedGoal:
        begin, self._pending = time.perf_counter(), None
        self.resolved = self._resolver.resolve(T_goal, self._limiter.joints.q, resting)
        self.resolving_time = time.perf_counter() - begin
        self.solution = self.goal_solution = self.resolved.solution
        return self.resolved

    def _stays(self, resolved: ResolvedGoal) -> bool:
        return resolved.reason is not None and not self.options.approach_unreachable

    def pass_time(self, dt: float) -> None:
        """Take note that a step begins."""
        if self._pending is not None:
            self._pending.age += dt
            self._pending.steps -= 1

    @property
    def is_due(self) -> bool:
        """Whether the pending goal is to be resolved now, as no other is likely to come."""
        pending = self._pending
        return pending is not None and (pending.steps <= 0 or pending.age > RESOLVING_TIME)

    def resolve_pending(self) -> bool:
        """Resolve the goal that a line heads for already, if that was not done; tell if so."""
        pending, line = self._pending, self._line
        if pending is None or line is None:
            return False
        resolved = self._resolve(pending.goal.T, resting=False)
        line.reason = resolved.reason
        if resolved.T is not pending.goal.T:
            line.reference.head_for(resolved.T)
        return True

    def resolve_no_more(self) -> None:
        """Leave a goal that is pending as it is."""
        self._pending = None

    # -- paths

    def _line_path(self, resolved: ResolvedGoal, path: Path | None = None) -> Path:
        """Go on to a goal in a line, from where another path is or from where the arm is."""
        reference = None if path is None else path.reference
        unconstrained = is_unconstrained(resolved.T)
        if reference is None or not np.array_equal(unconstrained, reference.unconstrained):
            line = self._tracker.begin_line(resolved.T)
        else:
            line = LineReference.continuing(reference)
        line.head_for(resolved.T)
        tracker, limiter, reason = self._tracker, self._limiter, resolved.reason
        if self._frame.is_world:
            self._line = WorldLinePath(line, tracker, limiter, self._frame, reason)
        else:
            self._line = LinePath(line, tracker, limiter, reason)
        return self._line

    def _joint_path(self, resolved: ResolvedGoal) -> Path:
        """Go to the configuration of a goal, over the one between if there is one."""
        limiter, reason = self._limiter, resolved.reason
        then = partial(self._line_path, resolved) if self._frame.is_world else None
        if resolved.via is None:
            return JointPath(limiter, resolved.q, reason, then)
        on = partial(JointPath, limiter, resolved.q, reason, then)
        return JointPath(limiter, resolved.via, reason, on)

    def jog_path(self, path: Path | None, unconstrained: npt.NDArray[np.bool_]) -> Path:
        """Go on as somebody jogs, from where another path is or from where the arm is."""
        reference = None if path is None else path.reference
        if reference is not None and np.array_equal(unconstrained, reference.unconstrained):
            jogged = JogReference.continuing(reference)
        else:
            T = np.zeros((len(unconstrained), 4, 4))
            T[unconstrained] = np.nan
            jogged = self._tracker.begin_jog(T)
            if path is not None:
                path.hand_over_jog(jogged)
        jogged.jog.let_go(unconstrained)
        reason = None if path is None else path.reason
        return JogPath(jogged, self._tracker, self._limiter, reason)

    # -- where a path is blocked

    def other_path(self, path: Path) -> Path | None:
        """Find another path where the one to the goal is blocked; None where there is none."""
        resolved = self.resolved
        if resolved is None or path is not self._line:
            return None
        joined_later = self._skip_beginning(self._line, resolved)
        if joined_later is not None:
            return joined_later
        may = self.options.allow_reconfiguration
        if may and self._resolver.resolve_again(resolved, self._limiter.joints.q):
            return self._joint_path(resolved)
        return None

    def _skip_beginning(self, line: LinePath, resolved: ResolvedGoal) -> Path | None:
        """
        Set out for a point farther along the line, where the line cannot be followed at once.

        No straight line leaves a stretched arm, or one with its wrist in line, as arms stand
        when they are switched on. Their configurations meet there, so none is left by this.
        """
        reference = line.reference
        while not reference.has_left and self._skipped < len(SKIPPED):
            pose = self._frame.to_base(reference.pose_at(SKIPPED[self._skipped]))
            solution = self._solvers.skip.solve(pose, self._limiter.joints.q)
            self._skipped += 1
            if solution.converged:
                on = partial(self._line_path, resolved)
                return JointPath(self._limiter, solution.q, line.reason, on)
        return None

    @property
    def may_take_detours(self) -> bool:
        """Whether the arm may go to its goal on other paths than the line."""
        return self.options.path == 'joint' or self.options.allow_reconfiguration

    @property
    def seeks_detour(self) -> bool:
        """Whether another path is to be looked for once the arm rests in front of a collision."""
        resolved = self.resolved
        return resolved is not None and self.may_take_detours and resolved.detours_left > 0

    def detour(self) -> Path | None:
        """Find a collision-free path for an arm that rests, or one to a goal that never is."""
        resolved = self.resolved
        if resolved is None or not self._resolver.find_detour(resolved, self._limiter.joints.q):
            return None
        self.solution = self.goal_solution = resolved.solution
        return self._joint_path(resolved)

    @property
    def reason(self) -> Reason | None:
        """Why the arm will rest short of the goal; None where it will not."""
        return None if self.resolved is None else self.resolved.reason

    def blocked(self, path: Path) -> Reason | None:
        """Say why the arm stops where a path is blocked, and what would help."""
        hint = Reason(ReasonKind.PATH_BLOCKED, OTHER_PATH)
        return joined((path.blocked, None if path.is_jog else hint))

    def stopped_in_front(self, ahead: Reason) -> Reason | None:
        """Say why the arm stops in front of a collision, and what would help."""
        if self.resolved is None:
            return ahead
        hint = None if self.may_take_detours else Reason(ReasonKind.PATH_BLOCKED, OTHER_PATH)
        return joined((self.resolved.reason, ahead, hint))
