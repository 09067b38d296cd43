"""The measured arm, compared with its commands."""

from collections import deque
from collections.abc import Mapping
import math

import numpy as np

from ...model.joints import JointType
from ...model.mechanism import Mechanism
from ...reasons import Reason, ReasonKind
from ...transforms import Array
from .following_rules import FollowingRules
from .joint_belief import believable_speed
from .measured_joints import MeasuredJoints
from .resting_arm import LEAP_DOUBT, RestingArm

FOLLOWING_TIME = 0.3
"""Longest time by which a measured arm may trail its commands, besides `delay` [s]."""
RESTART_PAUSE = 0.2
"""Time after which the arm has carried out a command, besides `delay` [s]."""
REFERENCE_TIMEOUT = 0.2
"""Greatest age of a controller's reference that counts [s]."""
FRESH = 0.25
"""Greatest age of measurements that commands go back to [s]."""
CONTINUITY = 5.0
"""Time for which joints must have moved as joints do, before commands go back to them [s]."""
MOVES = 'the arm is being moved, or its measurements do not agree'
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
    state_sources : tuple of str
        Who publishes the states of joints, for people; empty where that is not known.
    resting : RestingArm
        Where the arm settled after its last motion.

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
        """Travel after which each joint stands as before [rad]; infinite unless continuous."""
        self._commands: deque[tuple[float, Array]] = deque()
        """Times [s] and joint values of the newest commands."""
        self._commanded: tuple[Array, Array] | None = None
        """Least and greatest joint values that were commanded since the arm rested."""
        self._watched_at = -math.inf
        """Time of receipt of the newest value that was taken note of last [s]."""
        self.state_sources: tuple[str, ...] = ()
        self.resting = RestingArm()
        speeds = map(believable_speed, robot.velocity.tolist())
        measured.expect(robot.joint_names, speeds, self._cycles)

    # -- the commands

    def remember(self, now: float, q: Array, rests: bool = True) -> None:
        """Take note of a command, shape (n,), and of whether the arm rests there."""
        self._commands.append((now, q))
        longest = FOLLOWING_TIME + self.delay + self.rules.state_timeout
        while not 0.0 <= now - self._commands[0][0] <= longest:
            self._commands.popleft()
        if not rests:
            self.resting.forget()
            least, greatest = self._commanded or (q, q)
            self._commanded = np.minimum(least, q), np.maximum(greatest, q)
        elif self.resting.began == math.inf:
            has_moved = self._commanded is not None and self._is_known
            measured = self.near_command(self.q, q) if has_moved else None
            self.resting.begin(now, self.delay, q, measured)
            self._commanded = q, q

    def begin_at(self, now: float, q_command: Array) -> None:
        """Take note that the commands begin anew, where the arm stands that is measured."""
        self.resting.stand(now, q_command, self.near_command(self.q, q_command))
        self._commanded = q_command, q_command

    def forget_commands(self) -> None:
        """Take note that the last commands are no longer in force."""
        self._commands.clear()

    # -- what is wrong

    @property
    def fault(self) -> Reason | None:
        """Reason why the arm may not move, whatever its joints do; None where it may."""
        return self.not_ready or self.world_fault

    def unknown_state(self, now: float, text: str) -> Reason | None:
        """Say which joints have no fresh state, behind a text, or contradicting ones."""
        missing = self.why_missing(now, text)
        if missing is not None and set(missing.joints) <= set(self._in_doubt(now)):
            missing = self._doubt_about(missing.joints)
        return missing or self.why_contradicted(now)

    def why_contradicted(self, now: float) -> Reason | None:
        """Say about which joints two sources contradict each other; None where none do."""
        found = self._measured.contradictions(self._robot.joint_names, now)
        return contradiction(found, self._publishers) if found else None

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

    def doubt(self, now: float) -> Reason | None:
        """Say why it is not certain where a resting arm stands; None where it is."""
        names = self._in_doubt(now)
        if names:
            return self._doubt_about(names)
        if self.resting.is_calm and not (self._sources_take_turns(now) or self._has_leapt(now)):
            return None
        several = self._publishers if len(self.state_sources) > 1 else ''
        return Reason(ReasonKind.STATE_IN_DOUBT, f'{MOVES}{several}')

    def _sources_take_turns(self, now: float) -> bool:
        """Whether there seem to be two sources of states, which may turn out to contradict."""
        return self._measured.take_turns(self._robot.joint_names, now)

    def _has_leapt(self, now: float) -> bool:
        """Whether joints were somewhere else at once, which another source may still deny."""
        return abs(now - self._measured.jumped_at(self._robot.joint_names)) <= LEAP_DOUBT

    @property
    def _publishers(self) -> str:
        """The publishers of states, as part of a sentence."""
        names = self.state_sources
        return f'; publishers: {", ".join(names)}' if names else ''

    def _in_doubt(self, now: float) -> tuple[str, ...]:
        """Names of joints whose newest value is fresh, and waits for another that agrees."""
        since = now - self.rules.state_timeout
        return tuple(self._measured.in_doubt(self._robot.joint_names, since))

    def _doubt_about(self, names: tuple[str, ...]) -> Reason:
        joints = ', '.join(map(repr, names))
        text = f'only one measurement says where {joints} is now: a second one is needed'
        return Reason(ReasonKind.STATE_IN_DOUBT, text, names)

    def is_measured(self, now: float) -> bool:
        """Whether every joint has a fresh state, whether or not the rules ask for one."""
        timeout = self.rules.state_timeout
        return not self._measured.missing(self._robot.joint_names, now, timeout)

    def counts(self, now: float) -> bool:
        """Whether what is measured counts: the rules ask for it, or it is there all the same."""
        return self.rules.wait_for_state or self.is_measured(now)

    # -- where the arm is

    def is_seen(self, now: float) -> bool:
        """Whether a value came in this step, and the others lately."""
        names = self._robot.joint_names
        is_new = self._measured.newest_time(names) >= now
        return is_new and now - self._measured.oldest_time(names) <= FRESH

    def watch(self, now: float, q_command: Array) -> None:
        """Take note of where the arm is while it rests at its last command, shape (n,)."""
        measured, names = self._measured, self._robot.joint_names
        measured_at = measured.newest_time(names)
        if self._is_known and measured_at != self._watched_at:
            self._watched_at = measured_at
            has_jumped = measured.jumped_at(names) > self.resting.began
            self.resting.add(now, self.near_command(self.q, q_command), has_jumped)

    @property
    def _is_known(self) -> bool:
        """Whether every joint was measured, however long ago."""
        return self._measured.oldest_time(self._robot.joint_names) > -math.inf

    def moved(self, q_command: Array) -> Array | None:
        """
        Displacement of the arm by somebody since it settled at its last command, shape (n,).

        Zeros where nobody did; None where it has not settled, or has no last command.
        """
        if not (self._is_known and self.resting.has_settled):
            return None
        return self.resting.moved(self.near_command(self.q, q_command))

    def was_clearly_moved(self, now: float) -> bool:
        """Whether somebody, not noise or sag, moved a resting arm, and nothing denies it."""
        return self._is_known and self.doubt(now) is None and self.resting.was_clearly_moved

    def way_back(self, now: float, q_command: Array) -> Array | None:
        """
        Joint values, shape (n,), at which commands meet an arm that did not follow them.

        They are measured, as far as they were commanded on the way. None where the measurement is
        old, contradicted, or the arm cannot have come there as joints move.
        """
        if not self.may_go_back(now) or self._commanded is None:
            return None
        back: Array = np.clip(self.near_command(self.q, q_command), *self._commanded)
        return back

    def may_go_back(self, now: float) -> bool:
        """Whether the measurement is fresh, from one source, and was reached continuously."""
        names, measured = self._robot.joint_names, self._measured
        return (
            now - measured.oldest_time(names) <= min(FRESH, self.rules.state_timeout)
            and not measured.contradictions(names, now)
            and not self._in_doubt(now)
            and not self._sources_take_turns(now)
            and not now - measured.jumped_at(names) <= CONTINUITY
        )

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
        far = [q for q, told, cycle in joints if not abs(math.remainder(q - told, cycle)) <= most]
        return not far

    def gap(self, q_command: Array) -> Array:
        """Distance of each joint from the range of its recent commands; a mere delay gives 0."""
        measured = self.near_command(self.q, q_command)
        oldest = self._measured.oldest_time(self._robot.joint_names) - FOLLOWING_TIME - self.delay
        recent = np.array([q for time, q in self._commands if time >= oldest] or [q_command])
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

    def reference_near(self, q: Array, now: float) -> Array | None:
        """
        Get the reference of the controller, shape (n,), for an arm measured at `q`.

        Commands that begin there do not make the controller step. None where it is not known,
        outside the limits, or not near `q`.
        """
        robot, reference = self._robot, self.reference
        if reference is None or reference.missing(robot.joint_names, now, REFERENCE_TIMEOUT):
            return None
        wanted = np.array(reference.newest(robot.joint_names))
        inside = np.all((robot.lower <= wanted) & (wanted <= robot.upper))
        is_near = np.max(np.abs(wanted - q)) <= self.rules.resync_tolerance
        return wanted if inside and is_near else None

    def outside_limits(self, q: Array, margin: float) -> Reason | None:
        """
        Say which joint is outside its limits, or measured wrongly; None where none is.

        Parameters
        ----------
        q : array, shape (n,)
            Joint values to start from.
        margin : float
            By how much a joint may be outside [rad or m].

        """
        robot = self._robot
        farthest = np.max(np.abs(q[self._continuous]), initial=0.0)
        if farthest > MOST_TURNS * TURN:
            text = f'a continuous joint is said to stand at {farthest:.3g} rad'
            return Reason(ReasonKind.OUTSIDE_LIMITS, text)
        outside = np.maximum(robot.lower - q, q - robot.upper)
        j = int(np.argmax(outside))
        if outside[j] <= margin:
            return None
        name = robot.joint_names[j]
        text = (
            f"joint '{name}' stands at {q[j]:.4f}, outside its limits "
            f'[{robot.lower[j]:.4f}, {robot.upper[j]:.4f}] by more than limit_margin {margin:g}'
        )
        return Reason(ReasonKind.OUTSIDE_LIMITS, text, (name,))


def contradiction(found: Mapping[str, tuple[float, float]], publishers: str = '') -> Reason:
    """Say about which joints two sources contradict each other: both values by name."""
    joints = ', '.join(f"'{name}' ({a:.3f} and {b:.3f})" for name, (a, b) in found.items())
    text = (
        f'two sources of joint states contradict each other about {joints}{publishers}; '
        'end all but one, or look for a sensor that skips'
    )
    return Reason(ReasonKind.STATE_CONTRADICTED, text, tuple(found))
