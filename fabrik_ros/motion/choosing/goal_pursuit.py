"""
Pursuit of a goal by an arm: by which path, and by which other one where that is blocked.

The line heads at once for a goal that follows others in a stream; a solver checks the goal later.

"""

from collections.abc import Mapping
from dataclasses import dataclass
import math
import time

import numpy as np
import numpy.typing as npt

from ...collision.guard import CollisionGuard
from ...model.chain import Chain
from ...model.mechanism import Mechanism
from ...planning.pieces import Pieces
from ...planning.waypoint_finder import WaypointFinder
from ...reasons import joined, Reason, ReasonKind
from ...solver.options import SolverOptions
from ...solver.solution import Solution
from ...solver.tree_solver import TipOptions
from ...transforms import Array
from ..limits.joint_limiter import JointLimiter
from ..lines.dodging import Approach, Dodging
from ..lines.goal_frame import GoalFrame
from ..lines.line_reference import LineReference
from ..lines.line_tracker import LineTracker
from ..lines.motion_solvers import MotionSolvers
from ..lines.pinned_joints import PinnedJoints
from ..lines.singularity import POSE_JOINTS
from ..lines.sliding import Sliding
from ..lines.tolerant_line import TolerantLinePlanner
from ..paths.path import Path
from ..paths.preview import PathChecker
from ..paths.reference_path import LinePath
from .goal import Goal, GoalResolver, MotionOptions, ResolvedGoal
from .path_finder import FoundPath, LINE, PathFinder, PathPlanner, Task, ToGoal, ToProgram
from .path_maker import PathMaker

RESOLVING_TIME = 0.1
"""
Longest time between two resolved goals of a stream, and shortest one between two searches for
goals that cannot be reached or followed [s].
"""
PATIENCE = 2
"""Steps for which a stream's goal stays unresolved; usually the next goal replaces it [1]."""


@dataclass
class PendingGoal:
    """A goal that the line heads for, but no solver has checked yet."""

    goal: Goal
    age: float
    """Time since the first goal of the stream that was not resolved [s]."""
    steps: int
    """Steps until it is resolved, unless another goal replaces it [1]."""


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
    path_planner : PathPlanner, optional
        Finds ways round what is in the way.
    pinned : PinnedJoints, optional
        Joints that others move.

    Attributes
    ----------
    options : MotionOptions
        How goals are pursued.
    finder : PathFinder
        Looks for paths that are checked first.
    resolved : ResolvedGoal or None
        What is known of the goal.
    solution : Solution or None
        The newest answer of the solver.
    resolving_time : float
        Time that it took to resolve the goal [s].

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
        path_planner: PathPlanner | None = None,
        pinned: PinnedJoints | None = None,
    ) -> None:
        self.path_planner, self._pinned = path_planner, pinned
        self._robot, self._limiter, self._frame, self._guard = robot, limiter, frame, guard
        self._pending: PendingGoal | None = None
        self._line: LinePath | None = None
        """The newest line to a goal."""
        self.take_time()
        self._solver_options, self._tips = solver_options, tips
        self._solvers = MotionSolvers(robot, solver_options, tips, pinned)
        self._tracker = LineTracker(robot, self._solvers, frame, limiter.joints)
        self._maker = PathMaker(self._tracker, limiter, frame, pinned)
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
        self._solver_options, self._tips = solver_options, tips
        self._solvers = MotionSolvers(self._robot, solver_options, tips, self._pinned)
        self._tracker.solvers = self._solvers
        self._set_options(options)

    def _set_options(self, options: MotionOptions) -> None:
        self.options = options
        self._resolver = GoalResolver(self._solvers, self._frame)
        self._tracker.sliding, self._tracker.dodging = self._make_sliding(), self._make_dodging()
        robot, limiter, guard = self._robot, self._limiter, self._guard
        fastest = limiter.joints.limits.joint_velocity
        solvers, brief = self._solvers, self._solvers.brief()
        waypoints = WaypointFinder(
            robot,
            lambda T, seed: solvers.settled(T, brief.solve(T, seed)),
            fastest,
            guard,
            solvers.posture,
            solvers.turn_tolerance,
        )
        checker = PathChecker(robot, limiter.joints, guard)
        planner = TolerantLinePlanner(
            robot, self._solver_options, self._tips, *options.path_tolerances
        )
        self.finder = PathFinder(
            robot, limiter, self._maker, planner, waypoints, checker, options, self.path_planner
        )

    def _make_sliding(self) -> Sliding | None:
        """Make what goes on with a part of a motion; None where an arm stops instead."""
        robot, limiter = self._robot, self._limiter
        is_alone = isinstance(robot, Chain) and self._pinned is None
        stops = self.options.path != 'auto' or limiter.limits_jerk or self._solvers.yields
        if stops or not is_alone:
            return None
        return Sliding(robot, limiter.joints, self._guard, self._solver_options)

    def _make_dodging(self) -> Dodging | None:
        """Make what moves spare joints out of the way of things; None where nothing may."""
        robot, dodging = self._robot, self._tracker.dodging
        is_alone = isinstance(robot, Chain) and self._pinned is None
        if not is_alone or len(robot) <= POSE_JOINTS or self._solvers.posture is not None:
            return None
        if dodging is None:
            dodging = Dodging(robot, self._limiter.joints, self._guard)
        dodging.distance = self.options.dodge_distance
        return dodging

    def warm_up(self) -> None:
        """Compile what goals and lines need."""
        self._solvers.warm_up()
        self._tracker.warm_up()
        self.finder.warm_up()

    def forget(self) -> None:
        """Have no goal."""
        self.resolved: ResolvedGoal | None = None
        self.solution: Solution | None = None
        self._pending = self._line = None

    # -- by the line at once

    def follow_on(self, goal: Goal, path: Path | None) -> LinePath | None:
        """
        Head for one more goal of a stream, if that can be resolved later; None where it cannot.

        The line goes on, or a new one begins where the arm rests, or is on the way to rest.
        """
        options, line = self.options, self._line
        in_base = not (self._frame.is_world or any(goal.in_world.tolist()))
        if not (options.path != 'joint' and options.approach_unreachable and in_base):
            return None
        if path is None or path.is_stop:
            line = self._line = self._maker.line_to(goal.T)
        elif line is not path or not line.can_go_on_to(goal.T):
            return None
        else:
            line.head_for(goal.T)
        age = 0.0 if self._pending is None else self._pending.age
        steps = PATIENCE if line.reference.is_filtered else 1
        self._pending = PendingGoal(goal, age, steps)
        return line

    def go_on(self, reference: LineReference) -> LinePath:
        """Go on along a line that others have been on."""
        self._line = self._maker.line_on(reference)
        return self._line

    @property
    def may_head_on(self) -> bool:
        """Whether an arm on a line may head for another goal before it has looked there."""
        return self.options.path != 'joint' and self.options.confirm != 'always'

    def set_out(self, goal: Goal, path: Path | None) -> Path | None:
        """
        Head for a goal at once, for an arm that follows another path or rests.

        None where the arm is to stay; `reason` says why.
        """
        same_frame = np.array_equal(self._frame.in_world, goal.in_world)
        resolved = self.resolve(goal, resting=False)
        if self._stays(resolved):
            return None
        if self.options.path == 'joint':
            return self._maker.joint_path(resolved, (resolved.solution.q,))
        self._line = self._maker.line(resolved, path if same_frame else None)
        return self._line

    def resolve(self, goal: Goal, resting: bool) -> ResolvedGoal:
        """
        Find a configuration at a goal, or nearest to it.

        An arm that moves searches no more often than it has time for: where a search has fallen
        short, goals soon after it are resolved from the configuration that it came to.
        """
        self._frame.hold(goal.in_world)
        begin, self._pending, before = time.perf_counter(), None, self.resolved
        if resting or self.may_search or before is None or before.is_reachable:
            self.resolved = self._resolver.resolve(goal.T, self._limiter.joints.q, resting)
            self._since_search = 0.0
        else:
            self.resolved = self._resolver.resolve_near(goal.T, before.solution.q)
        self.resolving_time = time.perf_counter() - begin
        self.solution = self.resolved.solution
        return self.resolved

    def is_within_reach(self, T_goal: Array) -> bool:
        """Whether poses (k, 4, 4) can be met by joint values near those of now."""
        T_base = self._frame.to_base(T_goal)
        return self._solvers.nearby.solve(T_base, self._limiter.joints.q).converged

    @property
    def may_search(self) -> bool:
        """Whether the last search was so long ago that there is time for another one."""
        return self._since_search >= RESOLVING_TIME

    def take_time(self) -> None:
        """Take note that nothing moved for a while: there is time for any search."""
        self._since_search = self._since_joining = math.inf

    def _stays(self, resolved: ResolvedGoal) -> bool:
        return resolved.reason is not None and not self.options.approach_unreachable

    def pass_time(self, dt: float) -> None:
        """Take note that a step begins."""
        self._since_search += dt
        self._since_joining += dt
        if self._pending is not None:
            self._pending.age += dt
            self._pending.steps -= 1

    @property
    def is_due(self) -> bool:
        """Whether the pending goal is to be resolved now, as no other is likely to come."""
        pending = self._pending
        if pending is None or (self._line is not None and self._line.slides):
            return False
        return pending.steps <= 0 or pending.age > RESOLVING_TIME

    def resolve_in_time(self) -> None:
        """Resolve the goal that a line heads for, unless another is likely to replace it soon."""
        if self.is_due:
            self.resolve_pending()
        elif self._pending is not None and self._line is not None and self._line.slides:
            self._line.reason = None  # of a goal before

    def look_ahead(self, path: Path | None, dt: float) -> None:
        """Look where a path leads; a line that ends early may have a goal out of reach."""
        if path is not None and path.look_ahead(dt) and self.resolve_pending():
            path.look_again(dt)

    def has_arrived(self, path: Path) -> bool:
        """Whether a path is at its end, which is elsewhere where the goal cannot be reached."""
        return path.has_arrived() and not (self.resolve_pending() and not path.has_arrived())

    def resolve_pending(self) -> bool:
        """Resolve the goal that a line heads for already, if that was not done; tell if so."""
        pending, line = self._pending, self._line
        if pending is None or line is None:
            return False
        resolved = self.resolve(pending.goal, resting=False)
        line.reason = resolved.reason
        if resolved.T is not pending.goal.T and not line.may_slide:
            line.head_beside(resolved.T)
        return True

    def resolve_no_more(self) -> None:
        """Leave a goal that is pending as it is."""
        self._pending = None

    def jog_path(self, path: Path | None, unconstrained: npt.NDArray[np.bool_]) -> Path:
        """Begin a jog at the place of another path, or where the arm is."""
        return self._maker.jog(path, unconstrained)

    def approach(self) -> Approach | None:
        """Tell what an arm at rest may get out of the way of; None where it need or may not."""
        dodging = self._tracker.dodging
        may = not (self._frame.is_world or self._limiter.limits_jerk)
        may = may and self.options.confirm != 'always'
        return dodging.approach() if may and dodging is not None else None

    def dodge_path(self, T_goal: Array, way_out: Reason) -> Path:
        """Begin to get out of the way of something, the tips at their goal (k, 4, 4)."""
        return self._maker.dodge(T_goal, way_out)

    # -- by a path that is checked first

    def find(self, task: Task) -> Pieces[FoundPath]:
        """Look for a path, for an arm that rests; see `PathFinder`."""
        if isinstance(task, ToGoal):
            return self._find_to_goal(task)
        if isinstance(task, ToProgram):
            return self.finder.through(task.program)
        return self.finder.to_configuration(task.q)

    def _find_to_goal(self, task: ToGoal) -> Pieces[FoundPath]:
        resolved = self.resolve(task.goal, resting=True)
        yield
        if self._stays(resolved):
            return FoundPath(LINE, None, reason=resolved.reason)
        T_base = self._frame.to_base(resolved.T)
        return (yield from self.finder.to_goal(resolved, T_base, task.attempt))

    def take(self, found: FoundPath) -> None:
        """Take note that a path that was found is followed now."""
        self._line = found.path if isinstance(found.path, LinePath) else None

    # -- where a path is blocked

    def reason_in_front(self, refusal: str) -> Reason | None:
        """Say why the arm comes to rest in front of a collision."""
        if self.may_search:
            self.resolve_pending()
        ahead = Reason(ReasonKind.COLLISION_AHEAD, f'collision ahead: {refusal}')
        return joined((self.reason, ahead))

    def joined_later(self, path: Path) -> Path | None:
        """Find a path to a point farther along a line that cannot be followed at once."""
        self.resolve_pending()
        line, resolved = self._line, self.resolved
        if line is None or line is not path or resolved is None or line.reference.has_left:
            return None
        self._line = None
        if self._since_joining < RESOLVING_TIME:
            return None
        joined = self._maker.lines_joined_later(resolved)
        beginning = next((beginning for beginning, _ in joined), None)
        self._since_joining = 0.0 if beginning is None else math.inf
        return beginning

    @property
    def falls_short(self) -> list[bool]:
        """Flags of the tips that the reason is about, as far as that is known: else of all."""
        resolved = self.resolved
        if resolved is None or resolved.is_reachable or not resolved.solution.tips:
            return [True] * len(self._robot.tip_links)
        return [not tip.converged for tip in resolved.solution.tips]

    @property
    def reason(self) -> Reason | None:
        """Reason why the arm will rest short of the goal; None where it will not."""
        return None if self.resolved is None else self.resolved.reason
