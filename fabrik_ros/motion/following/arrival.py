"""Whether a resting arm is at its goal: said of the arm that is measured, not of its commands."""

import numpy as np

from ...model.mechanism import Mechanism
from ...reasons import Reason, ReasonKind
from ...transforms import Array
from ..choosing.motion import Motion
from .arm_observer import ArmObserver
from .arm_state import MOVED_AWAY, State

SHOWN_GAP = 1e-3
"""Joints that are farther than this from their commands are named [rad or m]."""


class Arrival:
    """
    Compares the measured tips of a resting arm with those of its last command.

    Parameters
    ----------
    robot : Chain or Tree
        The joints.
    motion : Motion
        Has the last command, and knows which parts of a pose count.
    observer : ArmObserver
        What is measured, and how far off the arm may be.

    """

    def __init__(self, robot: Mechanism, motion: Motion, observer: ArmObserver) -> None:
        self._robot, self._motion, self._observer = robot, motion, observer

    def state(self, now: float, T_goal: Array | None) -> tuple[State, Reason | None]:
        """
        State of an arm whose commands are at the goal, and the reason for it.

        Parameters
        ----------
        now : float
            The time [s].
        T_goal : array, shape (k, 4, 4), or None
            The goal in the base frame; None where it is unknown.

        """
        observer = self._observer
        if not observer.is_measured(now):
            return State.REACHED, self._turned_off(T_goal)
        commanded, q = self._motion.command[0], observer.q
        errors = self._motion.errors_between(
            self._robot.tip_poses(q), self._robot.tip_poses(commanded)
        )
        position, turn = (float(np.max(error)) for error in errors)
        rules = observer.rules
        if (
            position <= rules.arrival_tolerance_position
            and turn <= rules.arrival_tolerance_orientation
        ):
            return State.REACHED, self._turned_off(T_goal)
        moved = observer.moved(commanded)
        if moved is not None and moved.any():
            return State.HOLDING, MOVED_AWAY
        where = f'the tool is {position:.4f} m and {turn:.4f} rad from its last command'
        if observer.resting.is_settling(now):
            return State.MOVING, Reason(ReasonKind.SETTLING, f'settling: {where}')
        return State.HOLDING, self._stays_short(where, commanded, q)

    def _turned_off(self, T_goal: Array | None) -> Reason | None:
        """Say how far an arm with too few joints for poses is turned off the goal."""
        motion = self._motion
        if T_goal is None or not motion.orientation_yields:
            return None
        T = self._robot.tip_poses(motion.command[0])
        turn = float(motion.errors_between(T, T_goal)[1][0])
        if not turn > self._observer.rules.arrival_tolerance_orientation:
            return None
        text = (
            f'the position is reached, the orientation is {turn:.3f} rad off: '
            f'{len(self._robot)} joints do not reach every pose'
        )
        return Reason(ReasonKind.TURNED_OFF, text)

    def _stays_short(self, where: str, commanded: Array, q: Array) -> Reason:
        gaps = self._observer.near_command(q, commanded) - commanded
        off = sorted(
            zip(gaps.tolist(), self._robot.joint_names, strict=True), key=lambda gap: -abs(gap[0])
        )
        named = [(name, gap) for gap, name in off if abs(gap) > SHOWN_GAP]
        rules = self._observer.rules
        joints = ', '.join(f"'{name}' by {gap:+.4f}" for name, gap in named)
        cause = f'off are {joints}' if named else f'no joint is off by more than {SHOWN_GAP:g}'
        text = (
            f'the arm stays short of its commands: {where} (arrival_tolerance_position '
            f'{rules.arrival_tolerance_position:g}, arrival_tolerance_orientation '
            f'{rules.arrival_tolerance_orientation:g}); {cause}'
        )
        return Reason(ReasonKind.STAYS_SHORT, text, tuple(name for name, _ in named))
