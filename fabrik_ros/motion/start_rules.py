"""When an arm may start, and from where."""

from dataclasses import dataclass
import math

import numpy as np

from ..errors import RefusedError
from ..model.mechanism import Mechanism
from ..reasons import Reason, ReasonKind
from ..transforms import Array
from .arm_observer import ArmObserver
from .motion import Motion
from .start_gate import StartGate

METRES_FACTOR = 3.0
"""A target farther away than so many times the reach is not meant: perhaps millimetres."""


@dataclass
class Engagement:
    """Whether an arm has something to do, and why it holds."""

    is_engaged: bool = False
    """Whether it was sent somewhere, jogged or told to hold there since it was let go."""
    hold_reason: Reason | None = None
    """Why it was stopped on the way; None while it goes on."""
    has_failed: bool = False
    """Whether something went wrong: then it does not set out again by itself."""

    def begin(self) -> None:
        """Go where the arm is sent."""
        self.is_engaged, self.hold_reason, self.has_failed = True, None, False

    def end(self) -> None:
        """Have nothing to do."""
        self.is_engaged, self.hold_reason, self.has_failed = False, None, False


class StartRules:
    """
    Refuses to set out where that would surprise, and chooses where the commands begin.

    Parameters
    ----------
    robot : Chain or Tree
        The joints.
    motion : Motion
        What would set out.
    observer : ArmObserver
        What is known of the arm.
    gate : StartGate
        Decides whether the arm may set out.
    engagement : Engagement
        Whether it has something to do.

    """

    def __init__(
        self,
        robot: Mechanism,
        motion: Motion,
        observer: ArmObserver,
        gate: StartGate,
        engagement: Engagement,
    ) -> None:
        self._robot, self._motion, self._observer = robot, motion, observer
        self._gate, self._engagement = gate, engagement

    @property
    def is_under_way(self) -> bool:
        """Whether the arm moves, or has to be told where to go on."""
        return self._engagement.is_engaged and not self._motion.is_at_rest

    def still_stopping(self) -> Reason:
        """Say that the arm is still stopping, and why."""
        text = f'the arm is still stopping: {self._engagement.hold_reason or ""}'
        return Reason(ReasonKind.STILL_STOPPING, text)

    def check_distance(self, T_base_target: Array, tip: int) -> None:
        """
        Refuse a target of a tip, shape (4, 4), that is too far away to be meant.

        Raises
        ------
        RefusedError
            If it is.

        """
        root, reach = self._robot.root_points[tip], float(self._robot.reaches[tip])
        distance, farthest = math.dist(T_base_target[:3, 3], root), METRES_FACTOR * reach
        if not distance <= farthest:
            text = (
                f'the target is {distance:.3g} m from the arm, whose reach is {reach:.3g} m; at '
                f'most {farthest:.3g} m is taken as meant (metres?)'
            )
            raise RefusedError(Reason(ReasonKind.BAD_REQUEST, text))

    def check_gate(self, now: float) -> None:
        """
        Refuse what must not set the arm in motion now; take note that it came.

        Raises
        ------
        RefusedError
            If the arm is held, cannot start, or has to be left alone for a while first.

        """
        try:
            self._gate.check_hold()
            self.check_start(now)
            self._gate.check_pause(now)
        finally:
            self._gate.ask(now)

    def check_causes(self, now: float) -> None:
        """
        Refuse while something is wrong; what comes meanwhile is no reason to set out later.

        Raises
        ------
        RefusedError
            If a joint has no fresh state, the robot is not ready, or the world is not known.

        """
        observer = self._observer
        reason = observer.why_missing(now, 'no fresh joint state of') or observer.fault
        if reason is not None:
            self._gate.block(reason, now)
            raise RefusedError(reason)

    def check_start(self, now: float) -> None:
        """
        Refuse to set out while the arm stops, something is wrong, or it is outside its limits.

        Raises
        ------
        RefusedError
            If so; the message says why.

        """
        if self._engagement.hold_reason is not None and self.is_under_way:
            raise RefusedError(self.still_stopping())
        self.check_causes(now)
        if self._observer.rules.wait_for_state and not self.is_under_way:
            self._observer.check_limits(self._observer.q, self._observer.rules.limit_margin)

    def begin(self, now: float) -> bool:
        """
        Begin at the last command if the arm stands there, else at the measured state.

        Tells whether it was the latter: nothing that was meant before holds any longer. That is
        no continuation of the commands before, so it takes a pause: else whoever follows them
        would see the arm jump.

        Raises
        ------
        RefusedError
            If the last command was a moment ago and the arm does not stand there.

        """
        if self.is_under_way or not self._observer.rules.wait_for_state:
            return False
        observer, motion, engagement = self._observer, self._motion, self._engagement
        q = observer.q
        gap = np.abs(observer.near_command(q, motion.q) - motion.q)
        last, commanded = observer.command_a_moment_ago(now), motion.command[0]
        is_known = engagement.is_engaged if last is None else np.array_equal(last, commanded)
        stands_there = is_known and np.max(gap) <= self._observer.rules.resync_tolerance
        if stands_there and (last is not None or engagement.hold_reason is None):
            return False
        if last is not None:
            text = (
                'the arm does not stand where it was last told to be; it can start from where it '
                f'is {observer.restart_pause:g} s after the last command'
            )
            raise RefusedError(Reason(ReasonKind.MOVED_AWAY, text))
        motion.reset(observer.start_near(q, now))
        return True

    def assumed_start(self) -> Array:
        """
        Choose joint values, shape (n,), to start from where nothing is measured.

        Raises
        ------
        RefusedError
            If the start configuration is outside the limits.
        JointValueError
            If it has not one value for each joint.

        """
        if not self._observer.rules.start_configuration:
            return self._robot.mid_configuration()
        q = self._robot.checked(self._observer.rules.start_configuration, 'start_configuration')
        self._observer.check_limits(q, self._observer.rules.limit_margin)
        return q
