"""
Whether an arm that was stopped may set out again: a stop stays a stop.

Nothing sets out by itself. A stream of targets goes on while an arm is held, while its emergency
stop is pressed or while its driver restarts: when the cause is gone, the arm must not follow the
stream at once. So the stream has to pause, and the target that was interrupted is refused until
`release`, or until another target is accepted.

"""

from collections.abc import Mapping
import math
from typing import Any

import numpy as np

from ...errors import RefusedError
from ...programs.program import Program
from ...programs.program_file import document_of
from ...reasons import Reason, ReasonKind
from ...transforms import Array, rotation_vector
from .joint_goal import is_part_of

QUIET = 1.0
"""Pause without targets after which the next one is accepted [s]."""
PAUSE_NEEDED = f'targets and jogs are accepted again after {QUIET:g} s without any'
SAME_POSITION, SAME_ANGLE = 1e-4, 1e-3
"""Largest difference of targets that count as the same [m, rad]."""
TOLD_TO_HOLD = Reason(ReasonKind.HELD, 'told to hold, until ~/resume')


class StartGate:
    """
    Refuses targets, jogs and home, with the reason, or lets them through.

    Attributes
    ----------
    is_held : bool
        Whether the arm holds on request: nothing passes until `release`.

    """

    def __init__(self) -> None:
        self.is_held = False
        self._reason: Reason | None = None
        """Reason why a stream has to pause before it is followed; None if it need not."""
        self._asked_at = self._asked_before = self._blocked_at = -math.inf
        """
        Times of the last target or jog, of the one before, and of the last cause of a stop [s].
        """
        self._interrupted: list[tuple[int, Array, bool]] = []
        """Number of a tip, its target and whether that is held in the world."""
        self._interrupted_values: Mapping[str, float] = {}
        """Joint values that the arm was on the way to, by the names of the joints."""
        self._interrupted_program: Mapping[str, Any] = {}
        """What the program was that the arm was on."""

    def hold(self) -> None:
        """Let nothing through until `release`."""
        self.is_held = True

    def release(self, reason: Reason, now: float) -> None:
        """Let targets through from `now` [s] on; a stream that is running has to pause first."""
        self.is_held = False
        self.open()
        if now - self._asked_before <= QUIET:
            self.expect_pause(reason)

    def expect_pause(self, reason: Reason) -> None:
        """Refuse targets and jogs, for a reason, until none came for `QUIET`."""
        self._reason, self._blocked_at = reason, -math.inf

    def block(self, reason: Reason, now: float) -> None:
        """Take note that the cause of a stop is still there `now` [s]."""
        self._reason, self._blocked_at = reason, now

    def interrupt(self, tip: int, T_target: Array, in_world: bool) -> None:
        """Remember a target, shape (4, 4), that the arm was on the way to when it was stopped."""
        self._interrupted.append((tip, T_target, in_world))

    def interrupt_joints(self, values: Mapping[str, float]) -> None:
        """Remember joint values by name that the arm was on the way to when it was stopped."""
        self._interrupted_values = {**self._interrupted_values, **values}

    def interrupt_program(self, program: Program) -> None:
        """Remember a program that the arm was on when it was stopped."""
        self._interrupted_program = document_of(program)

    def ask(self, now: float) -> None:
        """Take note of a target or jog that came `now` [s], accepted or not."""
        self._asked_before, self._asked_at = self._asked_at, max(self._asked_at, now)

    def open(self) -> None:
        """Take note that a target was accepted: what follows belongs to the same stream."""
        self._reason, self._interrupted, self._interrupted_values = None, [], {}
        self._interrupted_program = {}

    def waits_for_pause(self, now: float) -> bool:
        """Whether a target or jog that came `now` [s] would belong to a stream."""
        # A clock that went back must not close the gate for long.
        self._asked_at, self._blocked_at = min(self._asked_at, now), min(self._blocked_at, now)
        self._asked_before = min(self._asked_before, now)
        last = max(self._asked_at, self._blocked_at)
        return self._reason is not None and now - last < QUIET

    def is_blocked(self, now: float) -> bool:
        """Whether the cause of a stop is there `now` [s], or was a moment ago."""
        return now - self._blocked_at < QUIET

    def check_hold(self) -> None:
        """
        Refuse everything while the arm holds on request.

        Raises
        ------
        RefusedError
            If it does.

        """
        if self.is_held:
            raise RefusedError(TOLD_TO_HOLD)

    def check_pause(self, now: float) -> None:
        """
        Refuse a target or jog of a stream that has to pause first.

        Raises
        ------
        RefusedError
            If one came less than a second ago.

        """
        if self.waits_for_pause(now):
            text = f'{self._reason}: {PAUSE_NEEDED}'
            raise RefusedError(Reason(ReasonKind.WAITS_FOR_PAUSE, text))

    def check_target(self, tip: int, T_target: Array, in_world: bool) -> None:
        """
        Refuse a target, shape (4, 4), if the arm was stopped on its way there.

        Raises
        ------
        RefusedError
            If it is the same, but for rounding.

        """
        if self.has_interrupted(tip, T_target, in_world):
            raise RefusedError(self._was_interrupted)

    def has_interrupted(self, tip: int, T_target: Array, in_world: bool) -> bool:
        """Whether the arm was stopped on its way to a target, shape (4, 4), but for rounding."""
        return any(
            (tip, in_world) == (tip_before, in_world_before) and _is_same(T_target, T_before)
            for tip_before, T_before, in_world_before in self._interrupted
        )

    def check_joints(self, values: Mapping[str, float]) -> None:
        """
        Refuse joint values by name if the arm was stopped on its way there.

        Raises
        ------
        RefusedError
            If they are the same, or some of them.

        """
        if is_part_of(values, self._interrupted_values):
            raise RefusedError(self._was_interrupted)

    def check_program(self, program: Program) -> None:
        """
        Refuse a program if the arm was stopped on it.

        Raises
        ------
        RefusedError
            If it is the same.

        """
        if self._interrupted_program and document_of(program) == self._interrupted_program:
            raise RefusedError(self._was_interrupted)

    @property
    def _was_interrupted(self) -> Reason:
        text = f'this target was interrupted ({self._reason}); ~/resume allows it again'
        return Reason(ReasonKind.WAS_INTERRUPTED, text)


def _is_same(T: Array, T_other: Array) -> bool:
    distance = float(np.linalg.norm(T[:3, 3] - T_other[:3, 3]))
    angle = float(np.linalg.norm(rotation_vector(T[:3, :3] @ T_other[:3, :3].T)))
    return distance <= SAME_POSITION and angle <= SAME_ANGLE
