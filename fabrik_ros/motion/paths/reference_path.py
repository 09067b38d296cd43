"""Paths of the tips: along a line, at rest in a world that moves, and in a jog."""

from collections.abc import Iterator
from dataclasses import replace
import math
from typing import Generic, TypeVar

import numpy as np

from ...reasons import joined, Reason, ReasonKind, shown_place
from ...solver.solution import Solution
from ...solver.tree_solver import is_unconstrained
from ...transforms import Array
from ..limits.joint_limiter import JointLimiter
from ..limits.joint_motion import largest
from ..limits.limits import MotionLimits
from ..lines.goal_frame import GoalFrame
from ..lines.jog_reference import JogReference
from ..lines.line_reference import LineReference
from ..lines.line_tracker import LineTracker, OFF_LINE
from ..lines.pinned_joints import PinnedJoints
from ..lines.sliding import Sliding
from ..lines.solver_reasons import blocked
from ..lines.tip_reference import TipReference
from .path import Path
from .preview import Ahead

PREVIEW_STEP = 0.02
"""Largest distance between the poses of a preview [s at full speed]."""
STANDS_FOR = 0.1
"""Time after which an arm that slides and stands has come to rest [s]."""
FREE_FOR = 0.1
"""Time after which an arm that nothing holds tries to slide no more, and how long for [s]."""
MOST_TRIES = 3
"""So often is the former doubled where that was in vain, while a part is missing [1]."""
CRAWL, CRAWLS_FOR = 0.05, 0.4
"""
Share of the speed below which a line crawls far behind a hand, and how long it may [s]: near a
singular configuration, where it would have to be much slower than the tool can be beside it.
"""
FAR = 0.1
"""Rest of such a line [s at full speed]."""
AS_FAR = 'jogged as far as it goes'
BEHIND = 1e-2
"""Largest distance behind its reference of an arm that counts as at its goal [rad or m]."""

ReferenceT = TypeVar('ReferenceT', bound=TipReference)


class ReferencePath(Path, Generic[ReferenceT]):
    """
    Follows a reference as exactly as the joints can.

    Parameters
    ----------
    reference : TipReference
        Poses of the tips that move.
    tracker : LineTracker
        Takes the steps of the joints along it.
    limiter : JointLimiter
        Knows what the joints can do.
    reason : Reason, optional
        Why the arm will rest short of what it was asked for.

    """

    follows_tips = True
    _may_fall_short = False
    """Whether it may slide no more where the reach, but no pair and no limit, is in the way."""

    def __init__(
        self,
        reference: ReferenceT,
        tracker: LineTracker,
        limiter: JointLimiter,
        reason: Reason | None = None,
    ) -> None:
        super().__init__(reason)
        self.reference: ReferenceT = reference
        self._tracker, self._limiter = tracker, limiter
        self._blocking: Solution | None = None
        self._stands_for = self._free_for = 0.0
        self._tried_for = math.inf
        """Time for which it has followed its reference since it slid last, or tried to [s]."""
        self._tries = 0
        """How often that was tried in vain, so far."""

    @property
    def _sliding(self) -> Sliding | None:
        """Finds what is possible where the path is blocked; None where the arm stops there."""
        return self._tracker.sliding if self.is_led else None

    @property
    def may_slide(self) -> bool:
        """Whether it goes on with what is possible where it is blocked."""
        return self._sliding is not None

    def slide(self) -> bool:
        """Go on with what is possible from now on, where the path may; tell whether it does."""
        sliding = self._sliding
        if sliding is not None and not self.slides:
            sliding.begin()
            self._stop_dodging()
            self._blocking = None
            if self._tried_for >= FREE_FOR:
                self._stands_for, self._tries = 0.0, 0
        self.slides, self._free_for = sliding is not None, 0.0
        return self.slides

    def _slid(self, dt: float) -> Array | None:
        """Joint velocity that brings the tip as near as can be; None where it may not slide."""
        sliding = self._sliding
        if sliding is None or not (self.slides or self.slide()):
            self.slides = False
            return None
        velocity = sliding.velocity(self.reference, dt)
        self._stands_for = self._stands_for + dt if sliding.is_still else 0.0
        is_free = not sliding.is_held if self._may_fall_short else sliding.is_whole
        self._free_for = self._free_for + dt if is_free else 0.0
        if self._free_for >= FREE_FOR * (1 if sliding.is_whole else 2**self._tries):
            self._try_to_follow(dt)
        return velocity

    def _try_to_follow(self, dt: float) -> None:
        """Slide no more, unless the reference cannot be followed from here."""
        self._tries = min(self._tries + 1, MOST_TRIES)
        self._free_for = self._tried_for = 0.0
        self._tracker.look_ahead(self.reference, dt)
        self.slides = self.reference.ends_at is not None

    @property
    def yields_to(self) -> Reason | None:
        """Say what it slides along, or gets out of the way of; None where it does neither."""
        sliding, dodging = self._sliding, self._tracker.dodging
        if sliding is not None and self.slides:
            return None if self._has_slid else sliding.reason
        return None if dodging is None else dodging.reason

    @property
    def _has_slid(self) -> bool:
        """Whether it slides, and stands where it comes no nearer."""
        return self.slides and self._stands_for >= STANDS_FOR

    def has_arrived(self) -> bool:
        """Whether the joints rest at the end of the path."""
        limiter, reference = self._limiter, self.reference
        at_end = limiter.has_caught_up and reference.has_arrived()
        return at_end and limiter.joints.rests_at(reference.q)

    @property
    def rest_reason(self) -> Reason | None:
        """Reason why its end is short of what the arm was asked for; None where it is not."""
        return joined((self.reason, self.blocked)) if self.slides else self.reason

    def lose_speed(self) -> None:
        """Take note that the joints stand, or brake on their own."""
        self.reference.stop()
        self._stop_dodging()

    def _stop_dodging(self) -> None:
        if self._tracker.dodging is not None:
            self._tracker.dodging.stop()

    def change_limits(self, limits: MotionLimits) -> None:
        """Keep to other limits."""
        self.reference.change_limits(limits)

    def scale_speed(self, share: float) -> None:
        """Go at another share of all speeds, 0 to 1."""
        self.reference.scale_speed(share)

    def _advance(self, speed: Array, correction: Array, dt: float) -> Array | None:
        """Joint velocity along the path, on top of what the joints have to catch up anyway."""
        reference, tracker = self.reference, self._tracker
        is_off = largest(reference.q - self._limiter.joints.q) > OFF_LINE
        reference.self_motion = self._self_motion(dt)
        self._tried_for += dt
        self.solution, velocity = tracker.advance(reference, speed, correction, dt)
        if velocity is None:
            self._block(self.solution)
            return None
        return tracker.slowed(reference, velocity + correction, is_off, dt)

    def _self_motion(self, dt: float) -> Array:
        """Joint velocity of spare joints, shape (n,), that get out of the way of things."""
        dodging, reference = self._tracker.dodging, self.reference
        if dodging is None:
            return np.zeros_like(reference.q)
        return dodging.velocity(reference, self.is_led and not reference.has_arrived(), dt)

    def _block(self, solution: Solution) -> None:
        self.solution = self._blocking = solution


class LinePath(ReferencePath[LineReference]):
    """Straight line to a goal, or the path of goals that come again and again."""

    _may_fall_short = True

    def __init__(
        self,
        reference: LineReference,
        tracker: LineTracker,
        limiter: JointLimiter,
        reason: Reason | None = None,
    ) -> None:
        super().__init__(reference, tracker, limiter, reason)
        self._has_looked = False
        """Whether the look-ahead is still valid, for a step like the last."""
        self._has_tried = False
        """Whether it has left a slide, which keeps farther off, for the last of its line."""
        self._crawls_for = 0.0
        self._leads_beside = reason is not None
        """Whether its end is not its goal, but the place nearest to it that was found."""

    def can_go_on_to(self, T_goal: Array) -> bool:
        """Whether the line can head for other poses (k, 4, 4) before more is known of them."""
        reference = self.reference
        is_alike = is_unconstrained(T_goal).tolist() == reference.unconstrained.tolist()
        goes_on = self.may_slide or (reference.ends_at is None and self.reason is None)
        return is_alike and goes_on

    def head_for(self, T_goal: Array) -> None:
        """Go on to another goal, shape (k, 4, 4)."""
        was_filtered = self.reference.is_filtered
        self.reference.head_for(T_goal)
        self._has_tried = self._leads_beside = False
        self._stands_for = min(self._stands_for, 0.5 * STANDS_FOR)  # it may go on from here
        if not (was_filtered and self.reference.is_filtered):
            self._has_looked = False

    def head_beside(self, T: Array) -> None:
        """Go on to the place nearest to its goal that was found, shape (k, 4, 4)."""
        self.reference.head_for(T)
        self._leads_beside = True

    def look_ahead(self, dt: float) -> bool:
        """Look where the line leads, if that was not done for the next step."""
        reference = self.reference
        if self._has_looked or self.slides or reference.ends_at is not None:
            return False
        self._has_looked = True
        self._tracker.look_ahead(reference, dt)
        return reference.ends_at is not None

    def look_again(self, dt: float) -> None:
        """Look ahead once more, as the line leads elsewhere now."""
        if self.reference.ends_at is None:
            self._tracker.look_ahead(self.reference, dt)

    def end_step(self) -> None:
        """Take note that a step is over: what was looked at is in the past."""
        self._has_looked = False

    def lose_speed(self) -> None:
        """Take note that the joints stand, or brake on their own."""
        self._has_looked = False
        super().lose_speed()

    def change_limits(self, limits: MotionLimits) -> None:
        """Keep to other limits."""
        self._has_looked = False
        super().change_limits(limits)

    def ahead(self) -> Ahead:
        """Tell what the rest of the line asks of the joints, from where it is now."""
        reference = self.reference
        count = max(1, math.ceil(reference.remaining / PREVIEW_STEP))
        on_line = self._configurations(reference.q, reference.poses_ahead(count))
        return Ahead('the line', reference.q, on_line, count)

    def _configurations(self, q: Array, poses: Iterator[Array]) -> Iterator[Array | Reason]:
        """Yield joint values for poses on the line, (k, 4, 4); where they end, why they do."""
        for T in poses:
            solution = self._tracker.solve(T, q)
            if not self._tracker.solvers.is_on_line(solution):
                yield blocked(ReasonKind.PATH_BLOCKED, solution)
                return
            q = solution.q
            yield q

    def velocity(self, dt: float) -> Array | None:
        """Joint velocity that keeps the tips on the line, as far along as joints can follow."""
        if self._has_slid and self._is_beside_goal:
            self.slides, self._has_tried = False, True
        self.look_ahead(dt)
        is_blocked = self.slides or self.reference.ends_at is not None
        velocity = self._slid(dt) if is_blocked or self._crawls(dt) else None
        if velocity is None:
            velocity = self._on_line(dt)
        if velocity is None:
            velocity = self._slid(dt)
        return self._limiter.joints.stopping_velocity(dt) if self._has_slid else velocity

    def _crawls(self, dt: float) -> bool:
        """Tell whether it has crawled for too long, far behind its hand."""
        reference = self.reference
        slow = CRAWL * reference.limits.speed_scaling
        is_slow = reference.is_filtered and reference.remaining > FAR and reference.pace < slow
        self._crawls_for = self._crawls_for + dt if is_slow else 0.0
        return self._crawls_for > CRAWLS_FOR

    def slide(self) -> bool:
        """Go on with what is possible from now on, where the path may; tell whether it does."""
        has_begun, self._crawls_for = not self.slides, 0.0
        if super().slide() and has_begun and self._has_tried:
            # The next step finds what is in the way, and that it stands.
            self._stands_for = math.nextafter(STANDS_FOR, 0.0)
        return self.slides

    @property
    def _is_beside_goal(self) -> bool:
        """Whether the last of the line is to be tried, nearer than a slide comes."""
        sliding = None if self._has_tried else self._sliding
        return sliding is not None and sliding.is_beside_goal(self.reference)

    def _on_line(self, dt: float) -> Array | None:
        reference, tracker = self.reference, self._tracker
        correction = tracker.correction(reference, dt)
        speed = reference.next_speed(dt, tracker.margin_beside(reference, correction))
        if reference.ends_at is not None and not np.any(speed):
            self._block(reference.ends_at)
            return None
        return self._advance(speed, correction, dt)

    def _go_on(self, extra: Array, margin: float, dt: float, is_carried: bool) -> Array | None:
        """
        Go on along the line while the tips are carried.

        Parameters
        ----------
        extra : array, shape (n,)
            What that, and a correction, ask of the joints [rad/s or m/s].
        margin : float
            Share of the full speed that this leaves to the line.
        dt : float
            Length of the step [s].
        is_carried : bool
            Whether they may be as fast as they are carried.

        """
        LinePath.look_ahead(self, dt)
        reference = self.reference
        speed = reference.next_speed(dt, margin)
        if reference.ends_at is not None and not np.any(speed):
            self._block(reference.ends_at)
            return None
        step = self._tracker.advance(reference, speed, extra, dt, is_carried)
        self.solution, velocity = step
        if velocity is None:
            self._block(step.answer)
            return None
        return velocity + extra

    def has_arrived(self) -> bool:
        """Whether the joints rest at the end of the path, or where they come no nearer to it."""
        if self.slides:
            is_at_end = self._has_slid and not self._is_beside_goal
            return is_at_end and self._limiter.joints.is_still
        return super().has_arrived()

    @property
    def rest_reason(self) -> Reason | None:
        """Reason why its end is short of its goal; None where it came to that, found or not."""
        comes_there = self.may_slide and not (self.slides or self._leads_beside)
        return None if comes_there else super().rest_reason

    @property
    def blocked(self) -> Reason | None:
        """Reason why the line cannot be followed any farther; None while it can."""
        if self.slides and self._sliding is not None:
            return self._sliding.end
        if self._blocking is None:
            return None
        place = self._tracker.to_base(self.reference.T)[:, :3, 3]
        what = f'the straight line cannot be followed beyond {shown_place(place)}'
        return replace(blocked(ReasonKind.PATH_BLOCKED, self._blocking, what), place=place)


class CarriedLinePath(LinePath):
    """
    A line of tips that are carried along: first they stay where they are, then they go on.

    Parameters
    ----------
    reference, tracker, limiter, reason
        As for `LinePath`.
    pinned : PinnedJoints
        What carries them.

    """

    def __init__(
        self,
        reference: LineReference,
        tracker: LineTracker,
        limiter: JointLimiter,
        pinned: PinnedJoints,
        reason: Reason | None = None,
    ) -> None:
        super().__init__(reference, tracker, limiter, reason)
        self._pinned = pinned

    def velocity(self, dt: float) -> Array | None:
        """Joint velocity that keeps the tips on the line, as far along as joints can follow."""
        if not self._pinned.have_left(self.reference.q):
            return super().velocity(dt)
        reference, tracker = self.reference, self._tracker
        correction = tracker.correction(reference, dt)
        solution, carried = tracker.stay(reference, dt)
        if carried is None:
            self._block(solution)
            return None
        extra = carried + correction
        return self._go_on(extra, tracker.margin_beside(reference, extra), dt, False)

    def look_ahead(self, dt: float) -> bool:
        """Look where the line leads, unless the tips are carried: then that comes first."""
        return not self._pinned.have_left(self.reference.q) and super().look_ahead(dt)


class WorldLinePath(LinePath):
    """
    A line in the world, while the base moves.

    First the tips stay where they are in the world while the base moves, then they go on.

    Parameters
    ----------
    reference, tracker, limiter, reason
        As for `LinePath`.
    frame : GoalFrame
        Knows where the world is.

    """

    stays_in_world = True

    def __init__(
        self,
        reference: LineReference,
        tracker: LineTracker,
        limiter: JointLimiter,
        frame: GoalFrame,
        reason: Reason | None = None,
    ) -> None:
        super().__init__(reference, tracker, limiter, reason)
        self._frame = frame

    def velocity(self, dt: float) -> Array | None:
        """Joint velocity that keeps the tips on the line, as far along as joints can follow."""
        tracker, joints = self._tracker, self._limiter.joints
        if self._frame.base.has_leapt:
            goal, self.reference = self.reference.goal, tracker.begin_line(self.reference.goal)
            self.reference.head_for(goal)
            return self._go_on(np.zeros_like(joints.q), 1.0, dt, is_carried=True)
        correction = joints.correction(self.reference.q - joints.q, dt)
        solution, carried = tracker.stay(self.reference, dt)
        if carried is None:
            self._block(solution)
            return None
        # A moving base moves the tips in its own frame, however fast it is.
        return self._go_on(carried + correction, 1.0, dt, is_carried=True)

    def look_ahead(self, dt: float) -> bool:
        """Do not look ahead: the pose of the base in the next step is unknown."""
        return False

    @property
    def is_at_goal(self) -> bool:
        """Whether the arm is at its goal, and does no more than follow the base."""
        reference = self.reference
        behind = largest(reference.q - self._limiter.joints.q)
        return reference.has_arrived() and behind < BEHIND

    def has_arrived(self) -> bool:
        """Whether the joints rest at the end of the path, and the base stands."""
        return not self._frame.moves and super().has_arrived()


class JogPath(ReferencePath[JogReference]):
    """
    The path of a jog.

    Where it is blocked it slides, if it may and enough of the jog is possible; else it rests, with
    a reason, until the jog ends or turns another way.
    """

    is_jog = True
    _end: Reason | None = None
    """Why it stood where it slid to last; None where it went on."""

    @property
    def _is_jogged(self) -> bool:
        return bool(np.any(self.reference.jog.twists))

    def slide(self) -> bool:
        """Go on with what is possible of the jog, while there is one; tell whether it does."""
        if not self._is_jogged:
            return False
        if not self.slides:
            self.reference.jog.block()
        return super().slide()

    @property
    def yields_to(self) -> Reason | None:
        """Say what it slides along; None where the tips go as they are led, or stand."""
        return super().yields_to if self._is_jogged and self.reason is None else None

    def velocity(self, dt: float) -> Array | None:
        """Joint velocity that comes closest to what the jog wants."""
        if not self._is_jogged:
            velocity, self.slides = self._as_jogged(dt), False
            self.reason = self.reason or self._end
            return velocity
        if self.slides and not self.reference.jog.is_blocked():
            self._try_to_follow(dt)
            self.reference.jog.block()
        velocity = None if self.slides else self._as_jogged(dt)
        if velocity is None or self.reference.ends_at is not None:
            slid = self._slid(dt)
            if slid is not None and self._sliding is not None:
                self._end = _end_of_slide(self._sliding) if self._has_slid else None
                self.reason = self._end
                return slid
        return velocity

    def _as_jogged(self, dt: float) -> Array | None:
        reference, tracker = self.reference, self._tracker
        correction = tracker.correction(reference, dt)
        self._look_where_it_leads(dt)
        speed = reference.next_speed(dt, tracker.margin_beside(reference, correction))
        return self._advance(speed, correction, dt)

    def steer(self, twist: Array, in_tip: bool, tip: int) -> None:
        """Jog a tip at another velocity."""
        self.reference.jog.steer(twist, in_tip, tip)

    def hand_over_jog(self, reference: JogReference) -> None:
        """Let another reference be jogged as this path is."""
        reference.jog = self.reference.jog

    def _look_where_it_leads(self, dt: float) -> None:
        """Look ahead unless the jog goes on to want what cannot be; say so where it does."""
        reference, jog = self.reference, self.reference.jog
        if reference.ends_at is not None and jog.is_blocked():
            return
        reference.ends_at = self.reason = None
        self._tracker.look_ahead(reference, dt)
        if reference.ends_at is not None and np.any(jog.twists):
            jog.block()
            self.reason = _end_of_jog(reference.ends_at)

    @property
    def blocked(self) -> Reason | None:
        """Reason why the jog cannot go on at all; None while it can."""
        return None if self._blocking is None else _end_of_jog(self._blocking)


def _end_of_slide(sliding: Sliding) -> Reason:
    end = sliding.end
    return replace(end, kind=ReasonKind.JOG_BLOCKED, text=f'{AS_FAR}: {end}')


def _end_of_jog(solution: Solution) -> Reason:
    return blocked(ReasonKind.JOG_BLOCKED, solution, AS_FAR)
