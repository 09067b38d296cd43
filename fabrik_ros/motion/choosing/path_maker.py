"""Makes paths to goals, and paths of jogs, from where an arm is."""

from collections.abc import Iterator
from functools import partial

import numpy as np
import numpy.typing as npt

from ...planning.waypoint_finder import Waypoints
from ...reasons import Reason
from ...solver.tree_solver import is_unconstrained
from ...transforms import Array
from ..limits.joint_limiter import JointLimiter
from ..lines.goal_frame import GoalFrame
from ..lines.jog_reference import JogReference
from ..lines.line_reference import LineReference
from ..lines.line_tracker import LineTracker
from ..lines.motion_solvers import MotionSolvers
from ..lines.pinned_joints import PinnedJoints
from ..paths.dodge_path import DodgePath
from ..paths.joint_path import JointPath
from ..paths.path import Path
from ..paths.planned_path import PlannedPath
from ..paths.reference_path import CarriedLinePath, JogPath, LinePath, WorldLinePath
from .goal import ResolvedGoal

SKIPPED = (0.1, 0.2, 0.4, 0.8, 1.6)
"""Places ahead where a line that cannot be followed at once is joined [s at full speed]."""


class PathMaker:
    """
    Makes paths.

    Parameters
    ----------
    tracker : LineTracker
        Keeps the tips on a line.
    limiter : JointLimiter
        Knows where the joints are, and what they can do.
    frame : GoalFrame
        Knows in which frames goals are held.
    pinned : PinnedJoints, optional
        Joints that others move.

    Attributes
    ----------
    solvers : MotionSolvers
        Find joint values.

    """

    def __init__(
        self,
        tracker: LineTracker,
        limiter: JointLimiter,
        frame: GoalFrame,
        pinned: PinnedJoints | None = None,
    ) -> None:
        self._tracker, self._limiter, self._frame = tracker, limiter, frame
        self._pinned = pinned

    @property
    def solvers(self) -> MotionSolvers:
        """Find joint values."""
        return self._tracker.solvers

    def line(self, resolved: ResolvedGoal, path: Path | None = None) -> LinePath:
        """Go on to a goal in a line, from where another path is or from where the arm is."""
        reference = None if path is None else path.reference
        unconstrained = is_unconstrained(resolved.T)
        if reference is None or not np.array_equal(unconstrained, reference.unconstrained):
            line = self._tracker.begin_line(resolved.T)
        else:
            line = LineReference.continuing(reference)
        return self._line_path(line, resolved)

    def line_to(self, T_goal: Array) -> LinePath:
        """Go straight to poses, shape (k, 4, 4), from where the arm is, whatever they are."""
        line = self._tracker.begin_line(T_goal)
        line.head_for(T_goal)
        return self.line_on(line)

    def line_on(self, line: LineReference, reason: Reason | None = None) -> LinePath:
        """Go on along a line that exists already, for all or some of its tips."""
        tracker, limiter = self._tracker, self._limiter
        if self._frame.is_world:
            return WorldLinePath(line, tracker, limiter, self._frame, reason)
        if self._pinned is not None:
            return CarriedLinePath(line, tracker, limiter, self._pinned, reason)
        return LinePath(line, tracker, limiter, reason)

    def _line_path(self, line: LineReference, resolved: ResolvedGoal) -> LinePath:
        line.head_for(resolved.T)
        return self.line_on(line, resolved.reason)

    def lines_joined_later(self, resolved: ResolvedGoal) -> Iterator[tuple[JointPath, LinePath]]:
        """
        Yield paths to points farther along the line, each with the rest of the line from there.

        No straight line leaves a stretched arm, or one with its wrist in line, as arms stand
        when they are switched on. Their configurations meet there, so none is left by this.
        """
        line = self._tracker.begin_line(resolved.T)
        line.head_for(resolved.T)
        for distance in SKIPPED:
            pose = self._frame.to_base(line.pose_at(distance))
            solution = self.solvers.skip.solve(pose, self._limiter.joints.q)
            if solution.converged:
                rest = self._line_path(self._tracker.line_at(solution.q, resolved.T), resolved)
                on = partial(self.line, resolved)
                yield JointPath(self._limiter, solution.q, reason=resolved.reason, then=on), rest

    def joint_path(self, resolved: ResolvedGoal, waypoints: Waypoints) -> JointPath:
        """Go to the configuration of a goal, over those between."""
        then = partial(self.line, resolved) if self._frame.is_world else None
        return JointPath(self._limiter, *waypoints, reason=resolved.reason, then=then)

    def planned(
        self,
        resolved: ResolvedGoal | None,
        knots: Array,
        name: str,
        straight_room: Array | None = None,
    ) -> PlannedPath:
        """Go along joint values, shape (m, n), to a goal, or to the last ones if there is none."""
        if resolved is None:
            return PlannedPath(self._limiter, knots, name, straight_room=straight_room)
        then = partial(self.line, resolved) if self._frame.is_world else None
        return PlannedPath(self._limiter, knots, name, resolved.reason, then, straight_room)

    def dodge(self, T_goal: Array, way_out: Reason) -> DodgePath:
        """Get out of the way of what comes near, the tips at their goal, shape (k, 4, 4)."""
        line = self._tracker.begin_line(T_goal)
        line.head_for(T_goal)
        return DodgePath(line, self._tracker, self._limiter, way_out)

    def jog(self, path: Path | None, unconstrained: npt.NDArray[np.bool_]) -> JogPath:
        """Go on as somebody jogs, from where another path is or from where the arm is."""
        reference = None if path is None else path.reference
        if reference is not None and np.array_equal(unconstrained, reference.unconstrained):
            if isinstance(path, JogPath):
                path.reference.jog.let_go(unconstrained)
                return path
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
