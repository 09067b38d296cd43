"""The measured arm, compared with its commands."""

from collections import deque
import math

import numpy as np

from ..errors import RefusedError
from ..model.joints import JointType
from ..model.mechanism import Mechanism
from ..reasons import Reason, ReasonKind
from ..transforms import Array
from .following_rules import FollowingRules
from .measured_joints import MeasuredJoints

FOLLOWING_TIME = 0.3
"""Longest time by which a measured arm may trail its commands, besides `delay` [s]."""
RESTART_PAUSE = 0.2
"""Time after which the arm has carried out a command, besides `delay` [s]."""
REFERENCE_TIMEOUT = 0.2
"""Greatest age of a controller's reference that counts [s]."""
TURN = 2.0 * math.pi
MOST_TURNS = 1000.0
"""Largest believed measurement of a continuous joint [turns]."""


class ArmObserver:
    """
    Compares the measured joints with the commands.

    Parameters
    ----------
    robot : Chain or Tree
        The joints.
    measured : MeasuredJoints
        What is known of them; kept up to date by the caller.
    rules : FollowingRules
        How far from its commands, and how long unmeasured, the arm may be.

    Attributes
    ----------
    delay : float
        Time from a command until the arm is to be there [s].
    reference : MeasuredJoints or None
        Reference of a trajectory controller; None if it publishes none.
    not_ready : Reason or None
        Why the robot is not ready to move, as it says itself.
    world_fault : Reason or None
        What is unknown of the surroundings, so that the arm may not move.
    paused_by : Reason or None
        Why the robot pauses the motion.

    """

    def __init__(self, robot: Mechanism, measured: MeasuredJoints, rules: FollowingRules) -> None:
        self._robot, self._measured, self.rules = robot, measured, rules
        self.not_ready: Reason | None = None
        self.world_fault: Reason | None = None
        self.paused_by: Reason | None = None
        self.delay = 0.0
        self.reference: MeasuredJoints | None = None
        self._continuous = np.array([t is JointType.CONTINUOUS for t in robot.joint_types])
        self._cycles = np.where(self._continuous, TURN, math.inf).tolist()
        """How far each joint goes until it stands as before [rad]; infinite unless continuous."""
        self._commands: deque[tuple[float, Array]] = deque()
        """Times [s] and joint values of the newest commands."""

    def remember(self, now: float, q: Array) -> None:
        """Take note of a command, shape (n,)."""
        self._commands.append((now, q))
        while not 0.0 <= now - self._commands[0][0] <= FOLLOWING_TIME + self.delay:
            self._commands.popleft()

    @property
    def fault(self) -> Reason | None:
        """Why the arm may not move, whatever its joints do; None where it may."""
        return self.not_ready or self.world_fault

    def missing(self, now: float) -> tuple[str, ...]:
        """Names of the joints whose state is needed, but unknown or too old."""
        if not self.rules.wait_for_state:
            return ()
        return tuple(
            self._measured.missing(self._robot.joint_names, now, self.rules.state_timeout)
        )

    def why_missing(self, now: float, text: str) -> Reason | None:
        """Say which joints have no fresh state, behind a text; None where all have."""
        names = self.missing(now)
        if not names:
            return None
        return Reason(ReasonKind.STATE_MISSING, f'{text}: {", ".join(names)}', names)

    @property
    def q(self) -> Array:
        """The measured joint values, shape (n,), however old."""
        return np.array(self._measured.newest(self._robot.joint_names))

    def near_command(self, q: Array, q_command: Array) -> Array:
        """Joint values with continuous joints turned by whole turns to be near a command."""
        turns = np.round((q_command - q) / TURN)
        return q + np.where(self._continuous, TURN * turns, 0.0)

    def is_near(self, q_command: Array) -> bool:
        """Whether the arm is within `resync_tolerance` of the last command: a quick check."""
        measured = self._measured.newest(self._robot.joint_names)
        joints = zip(measured, q_command.tolist(), self._cycles, strict=True)
        most = self.rules.resync_tolerance
        return all(abs(math.remainder(q - told, cycle)) <= most for q, told, cycle in joints)

    def gap(self, q_command: Array) -> Array:
        """Distance of each joint from the range of its recent commands; a mere delay gives 0."""
        measured = self.near_command(self.q, q_command)
        recent = np.array([q for _, q in self._commands] or [q_command])
        gap: Array = np.maximum(recent.min(axis=0) - measured, measured - recent.max(axis=0))
        return np.maximum(gap, 0.0)

    def does_not_follow(self, q_command: Array) -> Reason | None:
        """Say which joint does not follow its commands; None where all do."""
        if self.is_near(q_command):
            return None
        gap = self.gap(q_command)
        j = int(np.argmax(gap))
        if gap[j] <= self.rules.resync_tolerance:
            return None
        name = self._robot.joint_names[j]
        text = (
            f"the arm does not follow: joint '{name}' is {gap[j]:.3f} away from its commands "
            f'(resync_tolerance {self.rules.resync_tolerance:g})'
        )
        return Reason(ReasonKind.DOES_NOT_FOLLOW, text, (name,))

    def plays_something_else(self, wanted: Array, meant: Array) -> Reason | None:
        """Say which joint of a controller's reference, shape (n,), is off its trajectory."""
        gap = np.abs(wanted - meant)
        j = int(np.argmax(gap))
        if gap[j] <= self.rules.resync_tolerance:
            return None
        name = self._robot.joint_names[j]
        text = (
            f"the controller does not follow its trajectory: the reference of '{name}' is off by "
            f'{gap[j]:.3f} (resync_tolerance {self.rules.resync_tolerance:g})'
        )
        return Reason(ReasonKind.DOES_NOT_FOLLOW, text, (name,))

    @property
    def restart_pause(self) -> float:
        """Time after which the arm has carried out a command, including `delay` [s]."""
        return RESTART_PAUSE + self.delay

    def command_a_moment_ago(self, now: float) -> Array | None:
        """Last command, shape (n,), if it is newer than `restart_pause`: the next continues it."""
        if not self._commands:
            return None
        time, q = self._commands[-1]
        # The stamp of a command may be a little ahead of the time.
        return q if abs(now - time) < self.restart_pause else None

    def start_near(self, q: Array, now: float) -> Array:
        """
        Joint values to begin with where the arm is measured at `q`, shape (n,).

        The controller's reference, if it is known, within the limits and near `q`: then the
        controller does not step. Else `q`.
        """
        robot, reference = self._robot, self.reference
        if reference is None or reference.missing(robot.joint_names, now, REFERENCE_TIMEOUT):
            return q
        wanted = np.array(reference.newest(robot.joint_names))
        inside = np.all((robot.lower <= wanted) & (wanted <= robot.upper))
        is_near = np.max(np.abs(wanted - q)) <= self.rules.resync_tolerance
        return wanted if inside and is_near else q

    def check_limits(self, q: Array, margin: float) -> None:
        """
        Refuse to start where a joint is outside its limits, or measured wrongly.

        Parameters
        ----------
        q : array, shape (n,)
            Joint values to start from.
        margin : float
            By how much a joint may be outside [rad or m].

        Raises
        ------
        RefusedError
            If a joint is farther outside; names it.

        """
        robot = self._robot
        farthest = np.max(np.abs(q[self._continuous]), initial=0.0)
        if farthest > MOST_TURNS * TURN:
            text = f'a continuous joint is said to stand at {farthest:.3g} rad'
            raise RefusedError(Reason(ReasonKind.OUTSIDE_LIMITS, text))
        outside = np.maximum(robot.lower - q, q - robot.upper)
        j = int(np.argmax(outside))
        if outside[j] > margin:
            name = robot.joint_names[j]
            text = (
                f"joint '{name}' stands at {q[j]:.4f}, outside its limits "
                f'[{robot.lower[j]:.4f}, {robot.upper[j]:.4f}] by more than limit_margin '
                f'{margin:g}'
            )
            raise RefusedError(Reason(ReasonKind.OUTSIDE_LIMITS, text, (name,)))
