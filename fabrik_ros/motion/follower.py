"""
The rules by which an arm follows goals: when it may start, when it must stop, what it says.

No ROS in here: times are seconds of one clock, given by the caller.

"""

from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
import math
from typing import NamedTuple

import numpy as np

from ..errors import JointValueError, RefusedError
from ..model.chain import Chain
from ..model.joints import JointType
from ..model.tree import Tree
from ..transforms import Array
from .motion import Motion, Phase
from .start_gate import StartGate, TOLD_TO_HOLD

REPEAT_TIME = 0.5
TRY_AGAIN_TIME = 0.5
FOLLOWING_TIME = 0.3
RESTART_PAUSE = 0.2
REFERENCE_TIMEOUT = 0.2
"""A reference that is older is not that of the controller any more [s]."""
METRES_FACTOR = 3.0
PAUSED = 'paused: speed_scaling is 0'
JOG_ENDED = 'jogging has ended'
LONGEST_BRAKING = 0.5
"""A tip that takes longer to brake is stopped by the joints when its jog is lost [s]."""
RESUMED, ACTIVATED = 'the arm was told to go on', 'the arm was activated'
TURN = 2.0 * math.pi
MOST_TURNS = 1000.0


class State(Enum):
    """What the arm is doing, in the words of the status topic."""

    WAITING_FOR_MODEL = 'waiting for a robot description'
    WAITING_FOR_STATE = 'waiting for the measured state of every joint'
    IDLE = 'ready for a target'
    MOVING = 'on the way to the target'
    REACHED = 'at the target'
    HOLDING = 'holding still'


class Command(NamedTuple):
    """What the joints are to do now."""

    q: Array
    """Joint values, shape (n,) [rad or m]."""
    velocity: Array
    """Shape (n,) [rad/s or m/s]."""


@dataclass(frozen=True)
class FollowingRules:
    """When to start and when to stop."""

    wait_for_state: bool = True
    """Move only from a measured state."""
    start_configuration: tuple[float, ...] = ()
    """Where the arm is taken to be when nothing is measured; empty: mid limits."""
    state_timeout: float = 0.5
    """A measured value older than this is lost [s]."""
    target_timeout: float = 0.0
    """The arm stops when no target came for this long [s]; 0: never."""
    resync_tolerance: float = 0.1
    """Greatest gap between a command and what is measured [rad or m]."""
    home_configuration: tuple[float, ...] = ()
    """Where the arm goes when it is told to go home; empty: nowhere."""
    limit_margin: float = 0.1
    """A start outside a limit by no more than this may move inwards [rad or m]."""
    jog_timeout: float = 0.25
    """A jog that is not repeated for this long ends [s]."""
    idle_tips: str = 'keep'
    """What a tip without a target does while another moves: 'keep' its pose, or be 'free'."""


class MeasuredJoints:
    """
    The newest value of every joint, whoever published it, with its age.

    Parameters
    ----------
    names : iterable of str, optional
        The joints to take note of: all, unless told otherwise.

    """

    def __init__(self, names: Iterable[str] | None = None) -> None:
        self._names = None if names is None else frozenset(names)
        self._values: dict[str, float] = {}
        self._times: dict[str, float] = {}

    def update(self, names: Iterable[str], values: Iterable[float], now: float) -> None:
        """Merge a message; values that are not finite are left out."""
        for name, value in zip(names, values, strict=False):
            if math.isfinite(value) and (self._names is None or name in self._names):
                self._values[name] = value
                self._times[name] = now

    def fresh(self, now: float, timeout: float) -> Mapping[str, float]:
        """Values no older than `timeout`."""
        return {
            name: value
            for name, value in self._values.items()
            if abs(now - self._times[name]) <= timeout
        }

    def newest(self, names: Iterable[str]) -> list[float]:
        """Values of some joints, none of which is missing, however old."""
        return [self._values[name] for name in names]

    def missing(self, names: Iterable[str], now: float, timeout: float) -> list[str]:
        """Names that have no value, or one that is too old."""
        never = -math.inf
        return [name for name in names if not abs(now - self._times.get(name, never)) <= timeout]

    def forget(self) -> None:
        """Drop everything, as when the clock jumped."""
        self._values.clear()
        self._times.clear()


class Follower:
    """
    Drives one arm, or arms that share a body, by the rules.

    Parameters
    ----------
    chain : Chain or Tree
        The arm, or arms.
    motion : Motion
        How it moves.
    rules : FollowingRules
        When it starts and stops.
    measured : MeasuredJoints
        What is known of the joints; kept up to date by the caller.
    spoken : tuple of float and Command, optional
        Time and last command of the follower before this one [s]: whoever took that must not see
        the arm jump.
    gate : StartGate, optional
        Decides whether the arm may set out; it outlives followers.

    Attributes
    ----------
    not_ready : str
        Why the robot is not ready to move, as it says itself; '' when it is.
    paused_by : str
        Why the robot pauses the motion; '' when it does not.
    delay : float
        How long after a command the arm is meant to be there [s].
    reference : MeasuredJoints or None
        Where a controller of trajectories has its reference; None where nobody says.

    """

    def __init__(
        self,
        chain: Chain | Tree,
        motion: Motion,
        rules: FollowingRules,
        measured: MeasuredJoints,
        spoken: tuple[float, Command] | None = None,
        gate: StartGate | None = None,
    ) -> None:
        self.gate = StartGate() if gate is None else gate
        self.not_ready = self.paused_by = ''
        self.delay = 0.0
        self.reference: MeasuredJoints | None = None
        self.chain = chain
        self.motion = motion
        self.rules = rules
        self.measured = measured
        self._continuous = np.array([t is JointType.CONTINUOUS for t in chain.joint_types])
        self._cycles = np.where(self._continuous, TURN, math.inf).tolist()
        """How far each joint goes until it stands as before [rad]; infinite unless continuous."""
        self.goal: Array | None = None
        """
        Where each tip is to be, shape (..., 4, 4): the last accepted targets, in the base frame
        or, by `in_world`, in the world; NaN for a tip that is free.
        """
        self.in_world = np.zeros(_shape_of_tips(chain), dtype=bool)
        """Which of the goals stay where they are in the world, shape (...)."""
        self.has_target = np.zeros(_shape_of_tips(chain), dtype=bool)
        """Which of the goals are targets; the others are poses that are kept, or free."""
        self._goal_time = -math.inf
        self._engaged = False
        self._repeat_time = 0.0
        self._try_again_time = 0.0
        self._jog_times: dict[int, float] = {}
        """When each tip that is jogged was told so last."""
        self._recent: deque[tuple[float, Array]] = deque()
        self._hold_reason = ''
        self._has_failed = self._must_go_back = False
        self.is_going_back = False
        """Whether the arm did not follow, and the commands come back to where it is."""
        home_of(chain, rules)
        if spoken is not None:
            motion.reset(spoken[1].q)
            self._remember(spoken[0])
        elif not rules.wait_for_state:
            motion.reset(self._assumed_start())

    def state(self, now: float) -> tuple[State, str]:
        """State, and the reason for it in words."""
        motion = self.motion
        if self.gate.is_held and not self._is_under_way():
            return State.HOLDING, self.not_ready or TOLD_TO_HOLD
        if self._jog_is_blocked:
            return State.HOLDING, motion.hindrance
        if self.is_on_the_way:
            paused = self.paused_by or PAUSED if motion.limits.speed_scaling == 0.0 else ''
            return State.MOVING, paused or motion.hindrance
        reason = self._hold_reason or self.motion.hindrance
        if self._is_stopping or (self._engaged and reason):
            return State.HOLDING, reason
        if self.not_ready:
            return State.HOLDING, self.not_ready
        missing = self._missing(now)
        if missing:
            return State.WAITING_FOR_STATE, f'no fresh state of: {", ".join(missing)}'
        if not self._engaged:
            return State.IDLE, ''
        if self.rules.wait_for_state and np.max(self._gap(now)) > self.rules.resync_tolerance:
            return State.HOLDING, 'the arm was moved away from the target by someone else'
        return (State.HOLDING, JOG_ENDED) if self.goal is None else (State.REACHED, '')

    @property
    def is_on_the_way(self) -> bool:
        """Whether the arm moves to where it is told to be, or as it is jogged."""
        motion = self.motion
        moves = motion.phase in (Phase.LINE, Phase.JOINT) and not motion.is_at_goal
        return moves and not self._jog_is_blocked and not self.is_going_back

    @property
    def _is_stopping(self) -> bool:
        return self.motion.phase is Phase.STOPPING or self.is_going_back

    @property
    def _jog_is_blocked(self) -> bool:
        """Whether the arm has come as far as it goes where it is jogged."""
        return bool(self.motion.hindrance) and self.motion.is_jogging

    def accept(
        self, T_target: Array, now: float, tip: int = 0, T_base_world: Array | None = None
    ) -> None:
        """
        Take a target as the new goal of a tip.

        Parameters
        ----------
        T_target : array, shape (4, 4)
            T_base_tip, or T_world_tip if the target is to stay where it is in the world.
        now : float
            The time [s].
        tip : int
            Number of the tip it is for.
        T_base_world : array, shape (4, 4), optional
            Given for a target in the world: where the world is now.

        Raises
        ------
        RefusedError
            If it is too far away to be meant, or the arm is in no state to start; the message
            says why.

        """
        T_base_target = T_target if T_base_world is None else T_base_world @ T_target
        self._check_distance(T_base_target, tip)
        self._check_gate(now)
        if self._stands_at(T_target, tip, T_base_world is not None, now):
            self._goal_time = now
            return
        self.gate.check_target(tip, T_target, T_base_world is not None)
        begins_anew = not np.count_nonzero(self.has_target) or bool(self._hold_reason)
        if not self._is_under_way() and self.rules.wait_for_state:
            begins_anew |= self._start_where_measured(now)
        if T_base_world is not None and not self.is_held_in_world:
            self.motion.base.begin(T_base_world)
        self._set_goal(T_target, tip, T_base_world is not None, begins_anew)
        self._goal_time = now
        self._set_out()
        self.gate.open()
        assert self.goal is not None
        self.motion.aim(self.goal, self.in_world)

    def go_home(self, now: float) -> None:
        """
        Set out for `home_configuration`, straight in joint space.

        That ends all targets. A home needs no repetition: `target_timeout` does not count.

        Raises
        ------
        RefusedError
            If there is no home, or the arm is in no state to start; the message says why.

        """
        home = home_of(self.chain, self.rules)
        if home is None:
            raise RefusedError('there is no home: home_configuration is empty')
        self.gate.check_hold()
        self._check_start(now)
        if not self._is_under_way() and self.rules.wait_for_state:
            self._start_where_measured(now)
        home = self._in_the_turn_of_the_command(home)
        self._forget_targets(self.chain.forward_kinematics(home))
        self._goal_time = math.inf
        self._set_out()
        self.motion.go_to(home)

    def jog(self, twist: Array, now: float, tip: int = 0, in_tip: bool = False) -> bool:
        """
        Move a tip at a velocity for as long as this is repeated; that ends all targets.

        Zero lets go of a tip that is jogged: it brakes to rest. For others it means nothing, as
        joysticks send zeros for as long as nobody touches them.

        Parameters
        ----------
        twist : array, shape (6,)
            Linear and angular velocity [m/s, rad/s], shortened to what the tip may have.
        now : float
            The time [s].
        tip : int
            Number of the tip.
        in_tip : bool
            Whether the velocity is in the frame of the tip instead of the base.

        Returns
        -------
        bool
            Whether it means anything.

        Raises
        ------
        RefusedError
            If it is not finite, or the arm is in no state to start; the message says why.

        """
        if not np.isfinite(twist).all():
            raise RefusedError(f'a jog must be six finite numbers, got {twist}')
        if not np.any(twist):
            return self._let_go(tip)
        self._check_gate(now)
        if not self._is_under_way() and self.rules.wait_for_state:
            self._start_where_measured(now)
        times = self._jog_times
        self._forget_targets(None)
        self._goal_time = math.inf
        self._set_out()
        self.gate.open()
        self._jog_times = {**times, tip: now}
        frees = self.rules.idle_tips == 'free'
        free = np.array([frees and i not in self._jog_times for i in range(self.in_world.size)])
        self.motion.jog(twist, in_tip, tip, free.reshape(self.in_world.shape))
        return True

    def _let_go(self, tip: int) -> bool:
        """Let a tip brake to rest, if it is jogged; tell whether it was."""
        was_jogged = self._jog_times.pop(tip, None) is not None
        if was_jogged:
            self.motion.end_jog(tip)
        return was_jogged

    def _end_jogs(self, now: float) -> None:
        """Let go of the tips that nobody jogs any longer; stop the arm if they brake slowly."""
        if not self._jog_times:
            return
        motion, timeout = self.motion, self.rules.jog_timeout
        lost = [tip for tip, time in self._jog_times.items() if abs(now - time) > timeout]
        for tip in lost:
            self._let_go(tip)
        limits = motion.limits
        brakes_slowly = limits.tip_speed > LONGEST_BRAKING * limits.tip_acceleration
        if lost and brakes_slowly and motion.is_jogging:
            motion.stop(motion.hindrance or JOG_ENDED)

    def _set_out(self) -> None:
        self._jog_times = {}
        self._engaged = True
        self._hold_reason = ''
        self._has_failed = False
        self._repeat_time = REPEAT_TIME

    def _forget_targets(self, goal: Array | None) -> None:
        """Take poses of the tips for the goal that are nobody's target, or have no goal."""
        shape = self.in_world.shape
        self.goal = goal
        self.in_world = np.zeros(shape, dtype=bool)
        self.has_target = np.zeros(shape, dtype=bool)

    def _set_goal(self, T_target: Array, tip: int, in_world: bool, begins_anew: bool) -> None:
        """Give a tip its goal; the others keep theirs, unless everything begins anew."""
        if begins_anew or self.goal is None:
            self._forget_targets(self.chain.forward_kinematics(self.motion.q))
            if self.rules.idle_tips == 'free':
                self.goal = np.full((*self.in_world.shape, 4, 4), np.nan)
        assert self.goal is not None
        which = tip if self.in_world.shape else ...
        self.goal, self.in_world = self.goal.copy(), self.in_world.copy()
        self.goal[which], self.in_world[which], self.has_target[which] = T_target, in_world, True

    @property
    def is_held_in_world(self) -> bool:
        """Whether a goal in force stays where it is in the world while the base moves."""
        return self._engaged and not self._hold_reason and self.motion.is_held_in_world

    def goal_in_base(self) -> Array | None:
        """Goals as they are now in the base frame, shape (..., 4, 4); None before the first."""
        if self.goal is None:
            return None
        return self.motion.seen_from_base(self.goal, self.in_world)

    def tick(self, now: float, dt: float) -> Command | None:
        """Move on by `dt` seconds; the command to send, or None when there is nothing to say."""
        if self._should_try_again(dt):
            assert self.goal is not None
            self._repeat_time = REPEAT_TIME
            self.motion.aim(self.goal, self.in_world)
        if not self.has_something_to_say:
            return None
        self._watch(now)
        self._end_jogs(now)
        if self.is_at_rest:
            self._repeat_time -= dt
            self.motion.rest(dt)
        else:
            self.motion.step(dt)
            self._repeat_time = 0.0 if self._hold_reason else REPEAT_TIME
            self._go_back_once_at_rest()
        self._remember(now)
        return Command(*self.motion.command)

    def follow_ramp(self, now: float, duration: float, dt: float) -> Command:
        """
        Let the commands follow the stop trajectory, as controllers have done already.

        Parameters
        ----------
        now : float
            The time [s].
        duration : float
            For how long they do, a whole number of steps [s].
        dt : float
            Length of a step [s].

        """
        self.motion.follow_ramp(duration, dt)
        self._go_back_once_at_rest()
        self._remember(now)
        return Command(*self.motion.command)

    def _should_try_again(self, dt: float) -> bool:
        """Whether a goal in the world that could not be reached may be in reach by now."""
        motion = self.motion
        self._try_again_time -= dt
        may = self.is_held_in_world and motion.base.moves and motion.is_at_goal
        if not (may and motion.hindrance and self._try_again_time <= 0.0):
            return False
        self._try_again_time = TRY_AGAIN_TIME
        return True

    @property
    def has_something_to_say(self) -> bool:
        """Whether the arm moves, or reached its goal so lately that the command is repeated."""
        return self._engaged and (not self.is_at_rest or self._repeat_time > 0.0)

    def hold(self, reason: str) -> None:
        """Slow down, stay and say nothing more, for a reason, until the next target."""
        self._repeat_time = 0.0
        self._jog_times = {}
        self._hold_reason = reason
        if not self.is_going_back:
            self.motion.stop(reason)

    def hold_when_told(self) -> None:
        """Hold because somebody wants it, until `resume`."""
        self.hold(TOLD_TO_HOLD)
        self.gate.hold()

    def fail(self, reason: str, now: float, goes_back: bool = False) -> None:
        """
        Hold because something is wrong: the arm must not set out again by itself.

        Parameters
        ----------
        reason : str
            What is wrong.
        now : float
            The time [s].
        goes_back : bool
            Whether the commands are to come back to where the arm is measured.

        """
        if self.is_on_the_way and self.goal is not None:
            self._remember_interrupted(self.goal)
        self.gate.block(reason, now)
        self._has_failed, self._must_go_back = True, goes_back
        self.hold(reason)

    def _remember_interrupted(self, goal: Array) -> None:
        goals, in_world = goal.reshape(-1, 4, 4), self.in_world.reshape(-1)
        for tip in np.flatnonzero(self.has_target).tolist():
            self.gate.interrupt(tip, goals[tip], bool(in_world[tip]))

    def _go_back_once_at_rest(self) -> None:
        """Bring the commands to where the arm is, after the stop of one that did not follow."""
        if self.motion.phase is not Phase.RESTING:
            return
        must_go_back, self._must_go_back = self._must_go_back, False
        self.is_going_back = must_go_back
        if must_go_back:
            measured = self._in_the_turn_of_the_command(self._measured_q())
            self.motion.go_to(np.clip(measured, self.chain.lower, self.chain.upper))

    def resume(self, now: float) -> None:
        """
        Let the arm set out again, after it was told to hold or after something was wrong.

        A stream of targets that is running has to pause first.

        Raises
        ------
        RefusedError
            If what was wrong is still wrong; the message says what.

        """
        self._check_causes(now)
        if self._is_stopping:
            raise RefusedError(f'the arm is still stopping: {self._hold_reason}')
        if self.gate.is_held or self._hold_reason:
            self._engaged = self._has_failed = False
            self._hold_reason = ''
            self._forget_targets(None)
        if not self._is_under_way():
            self.gate.release(RESUMED)

    @property
    def is_at_rest(self) -> bool:
        """Whether the last command does not move."""
        return self.motion.phase is Phase.RESTING

    def _watch(self, now: float) -> None:
        """Look for reasons to stop."""
        if self._has_failed:
            self.gate.block(self._hold_reason, now)
        if self.motion.phase not in (Phase.LINE, Phase.JOINT) or self.is_going_back:
            return
        timeout = self.rules.target_timeout
        if timeout > 0.0 and now - self._goal_time > timeout:
            self.hold(
                f'no target for {now - self._goal_time:.2f} s (target_timeout {timeout:g} s)'
            )
        missing = self._missing(now)
        if missing:
            self.fail(f'the state of these joints is lost: {", ".join(missing)}', now)
        elif self.not_ready:
            self.fail(self.not_ready, now)
        elif self.rules.wait_for_state:
            self._watch_gap(now)

    def _watch_gap(self, now: float) -> None:
        if self._is_near_the_command():
            return
        gap = self._gap(now)
        j = int(np.argmax(gap))
        if gap[j] > self.rules.resync_tolerance:
            self.fail(
                f"the arm does not follow: joint '{self.chain.joint_names[j]}' is {gap[j]:.3f} "
                f'away from its commands (resync_tolerance {self.rules.resync_tolerance:g})',
                now,
                goes_back=True,
            )

    def _is_near_the_command(self) -> bool:
        """Whether there is no gap worth mentioning, as a glance at the last command shows."""
        measured = self.measured.newest(self.chain.joint_names)
        most, commanded = self.rules.resync_tolerance, self.motion.q.tolist()
        joints = zip(measured, commanded, self._cycles, strict=True)
        return all(abs(math.remainder(q - q_told, cycle)) <= most for q, q_told, cycle in joints)

    def _gap(self, now: float) -> Array:
        """How far each joint is from everything it was told lately: lag is no gap."""
        measured = self._in_the_turn_of_the_command(self._measured_q())
        recent = np.array([q for _, q in self._recent] or [self.motion.q])
        gap: Array = np.maximum(recent.min(axis=0) - measured, measured - recent.max(axis=0))
        return np.maximum(gap, 0.0)

    def _remember(self, now: float) -> None:
        self._recent.append((now, self.motion.command[0]))
        while not 0.0 <= now - self._recent[0][0] <= FOLLOWING_TIME + self.delay:
            self._recent.popleft()

    def _missing(self, now: float) -> list[str]:
        if not self.rules.wait_for_state:
            return []
        return self.measured.missing(self.chain.joint_names, now, self.rules.state_timeout)

    def _measured_q(self) -> Array:
        return np.array(self.measured.newest(self.chain.joint_names))

    def _in_the_turn_of_the_command(self, q: Array) -> Array:
        """Continuous joints may be measured whole turns away from where they were commanded."""
        turns = np.round((self.motion.q - q) / TURN)
        return q + np.where(self._continuous, TURN * turns, 0.0)

    def _stands_at(self, T_target: Array, tip: int, in_world: bool, now: float) -> bool:
        """Whether this very goal is reached already: sent again, it changes nothing."""
        if self.goal is None or not self.motion.is_at_goal:
            return False
        which = tip if self.in_world.shape else ...
        if not np.array_equal(T_target, self.goal[which]):
            return False
        is_held_so = bool(self.in_world[which]) == in_world and bool(self.has_target[which])
        return is_held_so and self.state(now)[0] is State.REACHED

    def _is_under_way(self) -> bool:
        return self._engaged and self.motion.phase is not Phase.RESTING

    def _check_distance(self, T_base_target: Array, tip: int) -> None:
        root, reach = _root_and_reach(self.chain, tip)
        distance = math.dist(T_base_target[:3, 3].tolist(), root.tolist())
        farthest = METRES_FACTOR * reach
        if not distance <= farthest:
            raise RefusedError(
                f'the target is {distance:.3g} m from the arm, whose reach is '
                f'{reach:.3g} m; at most {farthest:.3g} m is taken as meant (metres?)'
            )

    def _check_gate(self, now: float) -> None:
        """Refuse what must not set the arm in motion now; take note that it came."""
        try:
            self.gate.check_hold()
            self._check_start(now)
            self.gate.check_pause(now)
        finally:
            self.gate.ask(now)

    def _check_causes(self, now: float) -> None:
        """Refuse while something is wrong; what comes meanwhile is no reason to set out later."""
        missing = self._missing(now)
        reason = f'no fresh joint state of: {", ".join(missing)}' if missing else self.not_ready
        if reason:
            self.gate.block(reason, now)
            raise RefusedError(reason)

    def _check_start(self, now: float) -> None:
        if self._hold_reason and self._is_under_way():
            raise RefusedError(f'the arm is still stopping: {self._hold_reason}')
        self._check_causes(now)
        if self.rules.wait_for_state and not self._is_under_way():
            self._check_limits(self._measured_q())

    def _check_limits(self, q: Array) -> None:
        farthest = np.max(np.abs(q[self._continuous]), initial=0.0)
        if farthest > MOST_TURNS * TURN:
            raise RefusedError(f'a continuous joint is said to stand at {farthest:.3g} rad')
        outside = np.maximum(self.chain.lower - q, q - self.chain.upper)
        j = int(np.argmax(outside))
        if outside[j] > self.rules.limit_margin:
            raise RefusedError(
                f"joint '{self.chain.joint_names[j]}' stands at {q[j]:.4f}, outside its limits "
                f'[{self.chain.lower[j]:.4f}, {self.chain.upper[j]:.4f}] by more than '
                f'limit_margin {self.rules.limit_margin:g}'
            )

    def _start_where_measured(self, now: float) -> bool:
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
        q = self._measured_q()
        gap = np.abs(self._in_the_turn_of_the_command(q) - self.motion.q)
        last, commanded = self._spoken_a_moment_ago(now), self.motion.command[0]
        knows_where = self._engaged if last is None else np.array_equal(last, commanded)
        stands_there = knows_where and np.max(gap) <= self.rules.resync_tolerance
        if stands_there and (last is not None or not self._hold_reason):
            return False
        if last is not None:
            raise RefusedError(
                'the arm does not stand where it was last told to be; it can start from where it '
                f'is {self._restart_pause:g} s after the last command'
            )
        self.motion.reset(self._reference_near(q, now))
        return True

    def _reference_near(self, q: Array, now: float) -> Array:
        """
        Joint values to begin with where the arm is measured at `q`, shape (n,).

        Those that its controller has now, if it says so and they are near: then it does not step.
        """
        names, reference = self.chain.joint_names, self.reference
        if reference is None or reference.missing(names, now, REFERENCE_TIMEOUT):
            return q
        wanted = np.array(reference.newest(names))
        inside = np.all((self.chain.lower <= wanted) & (wanted <= self.chain.upper))
        is_near = np.max(np.abs(wanted - q)) <= self.rules.resync_tolerance
        return wanted if inside and is_near else q

    def watch_reference(self, wanted: Array, meant: Array, now: float) -> None:
        """
        Stop if a controller does not play what it was told.

        Parameters
        ----------
        wanted, meant : array, shape (n,)
            Its reference, and what that should be at the same time [rad or m].
        now : float
            The time [s].

        """
        gap = np.abs(wanted - meant)
        j, most = int(np.argmax(gap)), self.rules.resync_tolerance
        if self.is_on_the_way and gap[j] > most:
            reason = (
                f"the controller does not play what it is told: '{self.chain.joint_names[j]}' is "
                f'{gap[j]:.3f} away in its reference (resync_tolerance {most:g})'
            )
            self.fail(reason, now, goes_back=self.rules.wait_for_state)

    @property
    def _restart_pause(self) -> float:
        """How long after a command the arm has done what it was told [s]."""
        return RESTART_PAUSE + self.delay

    def _spoken_a_moment_ago(self, now: float) -> Array | None:
        """Last command, shape (n,), if it is so new that the next one must go on from there."""
        if not self._recent:
            return None
        time, q = self._recent[-1]
        # The stamp of a command may be a little ahead of the time.
        return q if abs(now - time) < self._restart_pause else None

    def _assumed_start(self) -> Array:
        if not self.rules.start_configuration:
            return self.chain.mid_configuration()
        q = self.chain.checked(self.rules.start_configuration, 'start_configuration')
        self._check_limits(q)
        return q


def home_of(chain: Chain | Tree, rules: FollowingRules) -> Array | None:
    """
    Joint values of the home of an arm, shape (n,); None where it has none.

    Raises
    ------
    JointValueError
        If it is not a configuration of this arm, or is outside the limits; names the joint.

    """
    if not rules.home_configuration:
        return None
    home = chain.checked(rules.home_configuration, 'home_configuration')
    outside = np.maximum(chain.lower - home, home - chain.upper)
    j = int(np.argmax(outside))
    if outside[j] > 0.0:
        raise JointValueError(
            f"home_configuration has joint '{chain.joint_names[j]}' at {home[j]:.4f}, outside its "
            f'limits [{chain.lower[j]:.4f}, {chain.upper[j]:.4f}]'
        )
    return home


def _shape_of_tips(chain: Chain | Tree) -> tuple[int, ...]:
    return () if isinstance(chain, Chain) else (len(chain.tip_links),)


def _root_and_reach(chain: Chain | Tree, tip: int) -> tuple[Array, float]:
    if isinstance(chain, Chain):
        return chain.root_point, chain.reach
    return chain.root_points[tip], float(chain.reaches[tip])
