"""Rules of when an arm may start, and from where."""

import math

import numpy as np

from ...errors import RefusedError
from ...model.mechanism import Mechanism
from ...reasons import Reason, ReasonKind
from ...transforms import Array
from ..choosing.motion import Motion
from .arm_observer import ArmObserver
from .job import Job
from .start_gate import StartGate

METRES_FACTOR = 3.0
"""Farthest accepted target, in reaches [1]; a farther one was probably sent in millimetres."""

SAME = 1e-6
"""Largest difference of a reference and a command that are the same [rad or m]."""


class StartRules:
    """
    Refuses surprising starts, and chooses where the commands begin.

    Parameters
    ----------
    robot : Chain or Tree
        The joints.
    motion : Motion
        Moves the arm.
    observer : ArmObserver
        What is known of the arm.
    gate : StartGate
        Decides whether the arm may set out.
    job : Job
        Whether it has something to do.

    Attributes
    ----------
    begins_anew : bool
        Whether the next motion begins where the arm is measured, whatever was sent before: the
        first one, and one after a fault.
    is_provisional : bool
        Whether the last start is chosen anew once measurements agree: they did not.

    """

    def __init__(
        self,
        robot: Mechanism,
        motion: Motion,
        observer: ArmObserver,
        gate: StartGate,
        job: Job,
    ) -> None:
        self._robot, self._motion, self._observer = robot, motion, observer
        self._gate, self._job = gate, job
        self.begins_anew, self.is_provisional = True, False
        self._roots: list[list[float]] = robot.root_points.tolist()
        """Place of the first joint of each tip in the base frame [m]."""
        self._reaches: list[float] = robot.reaches.tolist()

    @property
    def is_under_way(self) -> bool:
        """Whether an engaged arm has a path to follow."""
        return self._job.is_engaged and not self._motion.is_at_rest

    def still_stopping(self) -> Reason:
        """Say that the arm is still stopping, and why."""
        text = f'the arm is still stopping: {self._job.stop_reason or ""}'
        return Reason(ReasonKind.STILL_STOPPING, text)

    def check_distance(self, T_base_target: Array, tip: int) -> None:
        """
        Refuse a target of a tip, shape (4, 4), that is more than `METRES_FACTOR` reaches away.

        Raises
        ------
        RefusedError
            If it is.

        """
        root, reach = self._roots[tip], self._reaches[tip]
        distance, farthest = math.dist(T_base_target[:3, 3].tolist(), root), METRES_FACTOR * reach
        if not distance <= farthest:
            text = (
                f'the target is {distance:.3g} m from the arm, whose reach is {reach:.3g} m; '
                f'targets farther than {farthest:.3g} m are refused (millimetres?)'
            )
            raise RefusedError(Reason(ReasonKind.BAD_REQUEST, text))

    def check_gate(self, now: float) -> None:
        """
        Refuse a target or jog that must not start the arm now; remember when it came.

        Raises
        ------
        RefusedError
            If the arm is held or cannot start, or a stream has to pause first.

        """
        try:
            self._gate.check_hold()
            self.check_start(now)
            self._gate.check_pause(now)
        finally:
            self._gate.ask(now)

    def check_causes(self, now: float) -> None:
        """
        Refuse while something is wrong; a stream that runs meanwhile has to pause afterwards.

        Raises
        ------
        RefusedError
            If a joint has no fresh state or contradicting ones, the robot is not ready, or the
            world is not known.

        """
        observer = self._observer
        reason = observer.unknown_state(now, 'no fresh joint state of') or observer.fault
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
        if self._job.stop_reason is not None and self.is_under_way:
            raise RefusedError(self.still_stopping())
        self.check_causes(now)
        outside = None if self.is_under_way else self.outside_limits(now)
        if outside is not None:
            raise RefusedError(outside)

    def outside_limits(self, now: float) -> Reason | None:
        """Say which joint is measured outside its limits, by more than a margin; None if none."""
        observer = self._observer
        if not observer.counts(now):
            return None
        return observer.outside_limits(observer.q, observer.rules.limit_margin)

    def begin(self, now: float) -> bool:
        """
        Begin where the arm stands: at the last command, unless the arm was moved since.

        An arm that settled beside its last command, as it sags, keeps that offset. Returns whether
        the commands begin elsewhere than at the last one: earlier goals are void. Such a start
        breaks the stream, so it is refused until `restart_pause` after the last command; otherwise
        the driver would see a jump.

        Raises
        ------
        RefusedError
            If the last command is newer than `restart_pause`, and the arm does not stand there.

        """
        observer, motion = self._observer, self._motion
        if self.is_under_way or not observer.is_measured(now):
            return False
        last = observer.command_a_moment_ago(now)
        start = self._start(now, last, motion.command[0])
        if start is None:
            self.begins_anew = self.is_provisional = False
            return False
        if last is not None:
            text = (
                'the arm is not at its last command; it can start from the measured position '
                f'{observer.restart_pause:g} s after that command'
            )
            raise RefusedError(Reason(ReasonKind.MOVED_AWAY, text))
        self.is_provisional = observer.doubt(now) is not None
        motion.reset(start)
        observer.begin_at(now, start)
        self.begins_anew = self.is_provisional
        return True

    def _start(self, now: float, last: Array | None, commanded: Array) -> Array | None:
        """
        Choose where to start anew, shape (n,); None where the arm goes on from its last command.

        Parameters
        ----------
        now : float
            The time [s].
        last : array, shape (n,), or None
            Command of a moment ago.
        commanded : array, shape (n,)
            Command that the motion would go on from.

        """
        observer = self._observer
        q = observer.q
        is_known = not self.begins_anew if last is None else np.array_equal(last, commanded)
        near = observer.near_command(q, commanded)
        gap = float(np.max(np.abs(near - commanded)))
        goes_on = is_known and gap <= observer.rules.resync_tolerance
        if goes_on and observer.doubt(now) is not None:
            return None  # where it stands is looked at once more before it sets out
        moved = observer.moved(commanded) if goes_on else None
        reference = observer.reference_near(q, now) if last is None else None
        if reference is not None:
            is_there = goes_on and np.max(np.abs(reference - commanded)) <= SAME
            return None if is_there else reference
        if goes_on and (moved is None or not moved.any()):
            return None
        start = q if moved is None else self._moved_start(commanded, moved, near)
        offset = float(np.max(np.abs(start - near)))
        return start if offset <= observer.rules.resync_tolerance else q

    def _moved_start(self, commanded: Array, moved: Array, q: Array) -> Array:
        """Command that was moved as the arm was, no farther outside the limits than that."""
        robot = self._robot
        lower, upper = np.minimum(robot.lower, q), np.maximum(robot.upper, q)
        start: Array = np.clip(commanded + moved, lower, upper)
        return start

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
        outside = self._observer.outside_limits(q, self._observer.rules.limit_margin)
        if outside is not None:
            raise RefusedError(outside)
        return q
