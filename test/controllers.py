"""
A stand-in for ros2_control's joint_trajectory_controller, its arm, and the way to it.

Written from the sources of ros2_controllers (joint_trajectory_controller.cpp, trajectory.cpp):
Kilted 5.17.0, Jazzy 4.42.1 (the same), Humble 2.54.0, and master at 94e74de (August 2026, after
6.9.0), here called 'master'. Position commands, splines, topic (no action), all options at their
defaults unless they are parameters here. Shares no code with the package.

What users of trajectories have to know of the real one, and what is done here, too:

* The newest message replaces the older one whole, at the next update after its arrival.
* Stamp 0 means: start at that update. Other stamps count, also those in the past: points that
  are past are skipped, and the trajectory is entered where it would be by now.
* Before the first point, and only there, the segment begins at the "state before": measured
  position and velocity, now; or, with `interpolate_from_desired_state`, the last command. That
  was meant for now, but is stamped with the update before (Humble's `open_loop_control`: now).
* A segment is linear, cubic or quintic by the fields that both its ends have. With accelerations,
  but no velocities, at both ends the real one commands ZERO positions; so does this one.
* Two samples an update: the reference at t, the command at t + period (Humble: one, at t). A
  command is held until the next update.
* After the end the last point is held. Once looking ahead has passed the end, tolerances on the
  way are not checked any more, and (not on master) the reference is the last point from the next
  update on, even if that is before the end, as with speed scaling or late updates.
* Tolerances are checked for messages, too, the first sample always. A violation writes no
  command, and holds at the position that was measured, from the next update on.
* Joint values are not checked: NaN is played.

Master, not released: with `allow_trajectory_replacement` (the default) a message that replaces
one of several points does not count from its stamp if that is past, but begins where the old one
is being played. 6.8 and 6.9 have a parameter of that name which defers messages stamped in the
future and changes nothing for others; it is not here.

Not here either: partial goals, integration of velocities, `decelerate_on_cancel`, efforts,
interpolation 'none', actions, clocks that jump, and, of messages with several faults, the order
in which Humble names them.
"""

from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
import math
from typing import Any, NamedTuple

import numpy as np

SECOND = 1_000_000_000
"""[ns]"""
FLOAT_EPSILON = float(np.finfo(np.float32).eps)
"""What the real controller takes for zero, of the last velocity [rad/s or m/s]: 1.19e-7."""
VERSIONS = ('humble', 'kilted', 'master')
NOISE_BLOCK = 256


class Point(NamedTuple):
    """A point of a trajectory; fields that are None or empty are absent."""

    time_from_start_ns: int
    q: Sequence[float] | np.ndarray
    v: Sequence[float] | np.ndarray | None = None
    a: Sequence[float] | np.ndarray | None = None
    effort: Sequence[float] | np.ndarray | None = None


class Message(NamedTuple):
    """A trajectory_msgs/JointTrajectory, without ROS."""

    joint_names: Sequence[str]
    stamp_ns: int
    points: Sequence[Point]


def from_ros(message: Any) -> Message:
    """Read a trajectory_msgs/JointTrajectory."""
    stamp = message.header.stamp
    points = [
        Point(
            point.time_from_start.sec * SECOND + point.time_from_start.nanosec,
            np.array(point.positions, dtype=np.float64),
            np.array(point.velocities, dtype=np.float64),
            np.array(point.accelerations, dtype=np.float64),
            np.array(point.effort, dtype=np.float64),
        )
        for point in message.points
    ]
    return Message(tuple(message.joint_names), stamp.sec * SECOND + stamp.nanosec, points)


@dataclass(frozen=True)
class Tolerances:
    """`constraints` and `cmd_timeout` of the controller; 0 turns a check off."""

    trajectory: float = 0.0
    """Of each joint on the way [rad or m]."""
    goal: float = 0.0
    """Of each joint after the last point [rad or m]. Nothing comes of it without `goal_time`."""
    goal_time: float = 0.0
    """After the end [s]: from then on an error above `goal` makes the controller hold."""
    cmd_timeout: float = 0.0
    """After the end [s]: the controller then holds at the measured position. Above `goal_time`."""


class _State(NamedTuple):
    q: np.ndarray
    v: np.ndarray | None
    a: np.ndarray | None


class _Sample(NamedTuple):
    state: np.ndarray
    """Rows: positions, velocities, accelerations."""
    segment_ns: int
    """Time of the point where the segment begins; before the first point, of that."""
    is_before_end: bool


class _Trajectory:
    """The class `Trajectory` of the real controller: a message that is being played."""

    def __init__(self, message: Message, order: list[int] | None, version: str) -> None:
        self._points = message.points
        self._order = order
        self._forgets_end = version == 'master'
        self._start = message.stamp_ns
        self._offsets = [point.time_from_start_ns for point in message.points]
        self._times: list[int] = []
        self._before: tuple[int, _State] | None = None
        self._coefficients: dict[int, np.ndarray] = {}
        self._from = 0

    @property
    def is_sampled(self) -> bool:
        return bool(self._times)

    @property
    def start(self) -> int:
        return self._start

    def begin(self, now: int, before_ns: int, before: _State, continuous: np.ndarray) -> None:
        """Settle what the first sample needs: when the trajectory begins, and from where."""
        self._start = self._start or now
        self._times = [self._start + offset for offset in self._offsets]
        first = self.state(0)
        still = np.zeros_like(before.q)
        q = before.q
        if continuous.any():
            q = np.where(continuous, first.q - shortest_turn(first.q - q), q)
        v = still if before.v is None and first.v is not None else before.v
        a = still if before.a is None and first.a is not None else before.a
        self._before = before_ns, _State(q, v, a)

    def state(self, i: int) -> _State:
        point = self._points[i]
        return _State(*(self._sorted(field) for field in (point.q, point.v, point.a)))

    def _sorted(self, field: Sequence[float] | np.ndarray | None) -> Any:
        if _is_absent(field):
            return None
        values = np.asarray(field, dtype=np.float64)
        return values if self._order is None else values[self._order]

    def sample(self, time: int, *, ahead: bool = False) -> _Sample:
        """Sample at a time; only samples that do not look ahead go on from the last one."""
        times = self._times
        if time < times[0]:
            before_ns = self._before[0]
            return _Sample(_at(self._segment(-1), (time - before_ns) / SECOND), times[0], True)
        i = bisect_right(times, time) - 1
        last = len(times) - 1
        if i == last or i < self._from:
            if not (ahead and self._forgets_end):
                self._from = last
            q, v, a = self.state(last)
            still = np.zeros_like(q)
            rows = np.array((q, still if v is None else v, still if a is None else a))
            return _Sample(rows, times[last], False)
        if not ahead:
            self._from = i
        state = _at(self._segment(i), (time - times[i]) / SECOND)
        return _Sample(state, times[i], True)

    def _segment(self, i: int) -> np.ndarray:
        """Return the coefficients of the segment to point i + 1, shape (6, n); computed once."""
        found = self._coefficients.get(i)
        if found is None:
            before_ns, before = (self._times[i], self.state(i)) if i >= 0 else self._before
            length = (self._times[i + 1] - before_ns) / SECOND
            found = self._coefficients[i] = spline(before, self.state(i + 1), length)
        return found

    def after(self, start: int, end: int) -> list[Point]:
        """List points between two times, both excluded, their times from the first one."""
        rows = zip(self._times, range(len(self._times)), strict=True)
        return [Point(t - start, *self.state(i)) for t, i in rows if start < t < end]

    @property
    def has_several_points(self) -> bool:
        return len(self._points) > 1


def spline(first: Any, second: Any, length: float) -> np.ndarray:
    """
    Compute the polynomial between two states (q, v or None, a or None) as the controller does.

    Returns
    -------
    numpy.ndarray
        Coefficients of 1, t, ... t^5 for t from 0 to `length` seconds, shape (6, n). All zero
        for two states with accelerations, but no velocities.

    """
    q0, v0, a0 = first
    q1, v1, a1 = second
    has_velocity = v0 is not None and v1 is not None
    has_acceleration = a0 is not None and a1 is not None
    c = np.zeros((6, len(q0)))
    if has_acceleration and not has_velocity:
        return c
    c[0] = q0
    way, t = q1 - q0, length
    if not has_velocity:
        c[1] = way / t
    elif not has_acceleration:
        c[1] = v0
        c[2] = (3.0 * way - (2.0 * v0 + v1) * t) / t**2
        c[3] = ((v0 + v1) * t - 2.0 * way) / t**3
    else:
        c[1] = v0
        c[2] = 0.5 * a0
        c[3] = (20.0 * way - (12.0 * v0 + 8.0 * v1) * t - (3.0 * a0 - a1) * t**2) / (2.0 * t**3)
        c[4] = (-30.0 * way + (16.0 * v0 + 14.0 * v1) * t + (3.0 * a0 - 2.0 * a1) * t**2) / (
            2.0 * t**4
        )
        c[5] = (12.0 * way - 6.0 * (v0 + v1) * t - (a0 - a1) * t**2) / (2.0 * t**5)
    return c


def _at(coefficients: np.ndarray, t: float) -> np.ndarray:
    """Evaluate a polynomial and its first two derivatives, shape (3, n)."""
    t2 = t * t
    t3 = t2 * t
    t4 = t3 * t
    rows = (
        (1.0, t, t2, t3, t4, t4 * t),
        (0.0, 1.0, 2.0 * t, 3.0 * t2, 4.0 * t3, 5.0 * t4),
        (0.0, 0.0, 2.0, 6.0 * t, 12.0 * t2, 20.0 * t3),
    )
    return np.array(rows) @ coefficients


def shortest_turn(angle: np.ndarray) -> np.ndarray:
    """Bring differences of angles to (-pi, pi]; half a turn goes the way it was asked."""
    turn = np.remainder(angle + math.pi, 2.0 * math.pi) - math.pi
    return np.where(np.abs(np.abs(turn) - math.pi) < 1e-9, np.copysign(turn, angle), turn)


def _is_absent(field: Sequence[float] | np.ndarray | None) -> bool:
    return field is None or len(field) == 0


class Arm:
    """
    The arm behind a controller: what is measured of it, after the commands it was given.

    A command is held until the next one. Without delay and lag the arm is there when it is
    measured next, one update later, as ros2_control's mock hardware.

    Parameters
    ----------
    offset : float or array_like, shape (n,)
        Measured minus commanded, at rest [rad or m].
    delay : float
        Pure delay of the commands [s].
    lag : float
        Time constant of first order with which the arm follows, behind the delay [s].
    noise, velocity_noise : float
        Standard deviation of what is measured of each joint [rad or m, and per second].
    frozen : bool
        It does not move. May be set at any time; later on the arm goes to its last command.
    seed : int
        Of the noise.

    """

    def __init__(
        self,
        offset: float | Sequence[float] | np.ndarray = 0.0,
        *,
        delay: float = 0.0,
        lag: float = 0.0,
        noise: float = 0.0,
        velocity_noise: float = 0.0,
        frozen: bool = False,
        seed: int = 0,
    ) -> None:
        self.frozen = frozen
        self._offset = np.asarray(offset, dtype=np.float64)
        self._delay = round(delay * SECOND)
        self._lag = lag * SECOND
        self._noise = noise
        self._velocity_noise = velocity_noise
        self._random = np.random.default_rng(seed)
        self._block: list[np.ndarray] = []
        self._coming: deque[tuple[int, np.ndarray]] = deque()
        self._goal = self._q = self._q_before = np.zeros(0)
        self._now = self._before = 0

    def put(self, q: np.ndarray, now: int) -> None:
        """Put the arm at rest where the commanded position is q."""
        self._goal = self._q = self._q_before = q
        self._now = self._before = now

    def write(self, now: int, command: np.ndarray) -> None:
        """Take a command."""
        self._coming.append((now + self._delay, command))

    def read(self, now: int) -> np.ndarray:
        """Move until now, and measure the positions, shape (n,)."""
        self._q_before, self._before = self._q, self._now
        while self._coming and self._coming[0][0] <= now:
            at, command = self._coming.popleft()
            self._follow(at)
            self._goal = command
        self._follow(now)
        if self._noise == 0.0:
            return self._q + self._offset
        return self._q + self._offset + self._gauss(self._noise)

    def velocity(self) -> np.ndarray:
        """Measure the mean velocities between the last two readings, shape (n,)."""
        passed = self._now - self._before
        v = (self._q - self._q_before) * (SECOND / passed) if passed > 0 else 0.0 * self._q
        return v + self._gauss(self._velocity_noise) if self._velocity_noise > 0.0 else v

    def _follow(self, at: int) -> None:
        passed = at - self._now
        self._now = at
        if self.frozen:
            return
        if self._lag == 0.0:
            self._q = self._goal
        else:
            share = math.exp(-passed / self._lag)
            self._q = self._goal + share * (self._q - self._goal)

    def _gauss(self, deviation: float) -> np.ndarray:
        if not self._block:
            self._block = list(self._random.standard_normal((NOISE_BLOCK, self._q.size)))
        return deviation * self._block.pop()


@dataclass(frozen=True, eq=False)
class Played:
    """What a controller did, at each of its k updates, with n joints."""

    times_ns: np.ndarray
    """Of the updates, shape (k,). A command is held from its update to the next one."""
    reference: np.ndarray
    """Shape (k, n): what `~/controller_state` calls reference."""
    reference_velocity: np.ndarray
    """Shape (k, n)."""
    command: np.ndarray
    """Shape (k, n): written to the arm. Meant for the next update (Humble: for this one)."""
    measured: np.ndarray
    """Shape (k, n): read from the arm before that."""
    rejected: list[tuple[int, str]]
    """Times of arrival [ns] and reasons of the messages that were not taken."""
    holds: list[tuple[int, str]]
    """Times [ns] and reasons of what made the controller hold the measured position."""


class Controller:
    """
    Plays messages on an arm at its own rate; see the text of this module for what it does.

    Parameters
    ----------
    joint_names : sequence of str
        Names of the joints.
    q : array_like, shape (n,)
        Values on the command interfaces when it is activated: it holds these at first. (Humble
        holds the measured positions, if there are measured velocities.)
    update_rate : float
        Updates per second.
    phase_ns, activated_at_ns : int
        Updates come whole periods after `phase_ns`, beginning at `activated_at_ns`.
    jitter_ns : int
        By how much an update may be late, less than a period; random.
    interpolate_from_desired_state : bool
        For version 'humble': `open_loop_control`.
    version : str
        'kilted' (Jazzy is the same), 'humble' or 'master'.
    arm : Arm
        What it commands; by default one that is where it was told to be.
    tolerances : Tolerances
        By default none is checked.
    measures_velocity : bool
        Whether it has velocities among its state interfaces. Without, those are taken to be 0,
        where the first point of a message has some.
    continuous : sequence of str
        Joints that are continuous in the URDF.
    allow_nonzero_velocity_at_trajectory_end, allow_trajectory_replacement : bool
        Parameters of the controller; the second one is master's.
    seed : int
        Of the jitter.

    Attributes
    ----------
    scaling : float
        Of the speed, Kilted and later; may be set at any time. Each message undoes it: its
        first sample is at the time on the clock.

    """

    def __init__(  # noqa: PLR0913 - an argument for each setting of the controller
        self,
        joint_names: Sequence[str],
        q: Sequence[float] | np.ndarray,
        update_rate: float = 500.0,
        *,
        phase_ns: int = 0,
        activated_at_ns: int = 0,
        jitter_ns: int = 0,
        interpolate_from_desired_state: bool = False,
        version: str = 'kilted',
        arm: Arm | None = None,
        tolerances: Tolerances = Tolerances(),
        measures_velocity: bool = True,
        continuous: Sequence[str] = (),
        allow_nonzero_velocity_at_trajectory_end: bool = False,
        allow_trajectory_replacement: bool = True,
        seed: int = 0,
    ) -> None:
        if version not in VERSIONS:
            raise ValueError(f'version {version!r} is none of {VERSIONS}')
        self.joint_names = tuple(joint_names)
        self.arm = Arm() if arm is None else arm
        self.scaling = 1.0
        self._from_command = interpolate_from_desired_state
        self._version = version
        self._tolerances = tolerances
        self._measures_velocity = measures_velocity
        self._may_end_moving = allow_nonzero_velocity_at_trajectory_end
        self._blends = allow_trajectory_replacement and version == 'master'
        self._continuous = np.array([name in continuous for name in self.joint_names])
        self.period_ns = int(SECOND / update_rate)
        self._ahead = 0 if version == 'humble' else self.period_ns
        self._rate, self._phase, self._jitter = update_rate, phase_ns, jitter_ns
        self._random = np.random.default_rng(seed)
        self._k = math.ceil((activated_at_ns - phase_ns) * update_rate / SECOND)
        self._next = self._time_of_update()
        self._now = activated_at_ns
        self._checks = tolerances != Tolerances()

        q = np.array(q, dtype=np.float64)
        self.arm.put(q, activated_at_ns)
        self._measured = self.arm.read(activated_at_ns)
        if version == 'humble' and measures_velocity:
            q = self._measured
        still = np.zeros_like(q)
        self._last_command, self._last_command_ns = _State(q, still, None), 0
        self._command = q
        self._time = activated_at_ns
        self._trajectory: _Trajectory | None = None
        self._newest: Message | None = self._hold_at(q)
        self._is_holding = self._is_active = True
        self._rejected: list[tuple[int, str]] = []
        self._holds: list[tuple[int, str]] = []
        self._rows: list[tuple[int, np.ndarray, np.ndarray, np.ndarray]] = []
        self._begins: list[int] = []

    # -- its life cycle

    def deactivate(self, at_ns: int) -> None:
        """Stop it: no updates and no states, messages are dropped, the last command stays."""
        self.run_until(at_ns)
        self._is_active = False

    def activate(self, at_ns: int) -> None:
        """Start it again: it holds what was commanded last (Humble: what is measured)."""
        self.run_until(at_ns)
        self._is_active = True
        q = self._command
        if self._version == 'humble' and self._measures_velocity:
            q = self.arm.read(at_ns)
        self._last_command, self._last_command_ns = _State(q, np.zeros_like(q), None), 0
        self._newest, self._is_holding = self._hold_at(q), True

    # -- messages

    def receive(self, message: Message, at_ns: int) -> str:
        """
        Let a message arrive; updates before that are made first.

        Returns
        -------
        str
            Why it was rejected, or an empty text.

        Raises
        ------
        ValueError
            If a joint occurs twice: the real one accepts that, and plays what is left in a buffer.

        """
        if at_ns < self._now:
            raise ValueError(f'a message at {at_ns} ns, but it is {self._now} ns already')
        self.run_until(at_ns - 1)
        self._now = at_ns
        if not self._is_active:
            return 'not active'
        reason = self._reason_against(message, at_ns)
        if reason:
            self._rejected.append((at_ns, reason))
        elif len(set(message.joint_names)) < len(message.joint_names):
            raise ValueError(f'joints occur twice: {message.joint_names}')
        else:
            self._newest, self._is_holding = message, False
        return reason

    def _reason_against(self, message: Message, now: int) -> str:
        names, points = message.joint_names, message.points
        if len(names) != len(self.joint_names):
            return f'{len(names)} joints, the controller has {len(self.joint_names)}'
        if not points:
            return 'no points'
        unknown = set(names).difference(self.joint_names)
        if unknown:
            return f'joints {sorted(unknown)} are not of the controller'
        last = points[-1]
        if not self._may_end_moving and not _is_absent(last.v):
            moving = [v for v in last.v if abs(v) > FLOAT_EPSILON]
            if moving:
                return f'velocities {moving} at the last point, above {FLOAT_EPSILON}'
        if message.stamp_ns != 0 and message.stamp_ns + last.time_from_start_ns < now:
            return f'ends {now - message.stamp_ns - last.time_from_start_ns} ns in the past'
        return _reason_against_points(points, len(names))

    # -- updates

    def run_until(self, t_ns: int) -> None:
        """Make all updates up to a time, and in that moment [ns]."""
        while self._next <= t_ns:
            now = self._now = self._next
            if self._is_active:
                self._update(now)
            self._k += 1
            self._next = self._time_of_update()
        self._now = max(self._now, t_ns)

    def _time_of_update(self) -> int:
        late = int(self._random.integers(self._jitter + 1)) if self._jitter else 0
        return self._phase + math.floor(self._k * SECOND / self._rate) + late

    def _update(self, now: int) -> None:
        passed = now - self._rows[-1][0] if self._rows else self.period_ns
        if self._newest is not None:
            self._replace(self._newest, now)
            self._newest = None
        trajectory = self._trajectory
        self._measured = self.arm.read(now)

        is_first = not trajectory.is_sampled
        if is_first:
            trajectory.begin(now, *self._state_before(now), self._continuous)
            self._time = now
        elif self._version == 'humble':
            self._time = now
        else:
            self._time += _scaled(passed, self.scaling)

        reference = command = trajectory.sample(self._time)
        if self._ahead:
            command = trajectory.sample(self._time + self._ahead, ahead=True)
        writes = True
        if self._checks and not self._is_holding:
            writes = self._check(now, reference.state[0], command, is_first)
        if writes:
            self._command = command.state[0]
            self._last_command, self._last_command_ns = _State(*command.state), now
            self.arm.write(now, self._command)
        self._rows.append((now, reference.state, self._command, self._measured))
        self._begins.append(trajectory.start)

    def _replace(self, message: Message, now: int) -> None:
        order = None
        names = list(message.joint_names)
        if tuple(names) != self.joint_names:
            order = [names.index(name) for name in self.joint_names]
        old = self._trajectory
        if self._blends and not self._is_holding and old is not None and old.has_several_points:
            message = self._blended(old, message, order, now)
            order = None
        self._trajectory = _Trajectory(message, order, self._version)

    def _blended(
        self, old: _Trajectory, message: Message, order: list[int] | None, now: int
    ) -> Message:
        """Master: go on along the old trajectory to the new one, which begins in the future."""
        wait = max(0, message.stamp_ns - now)
        here = self._time
        start = here + _scaled(wait, self.scaling)
        new = _Trajectory(message, order, self._version)
        points = [
            Point(start - here + point.time_from_start_ns, *new.state(i))
            for i, point in enumerate(message.points)
        ]
        before = old.after(here, start)
        if start - here < points[0].time_from_start_ns:
            before.append(Point(start - here, *old.sample(start, ahead=True).state))
        return Message(self.joint_names, 0, [*before, *points])

    def _state_before(self, now: int) -> tuple[int, _State]:
        if not self._from_command:
            v = self.arm.velocity() if self._measures_velocity else None
            return now, _State(self._measured, v, None)
        if self._version == 'humble':
            return now, self._last_command
        return self._last_command_ns or now, self._last_command

    # -- tolerances

    def _check(self, now: int, reference: np.ndarray, command: _Sample, is_first: bool) -> bool:
        """Hold where a tolerance is violated, from the next update on; tell whether to command."""
        error = reference - self._measured
        if self._continuous.any():
            error = np.where(self._continuous, shortest_turn(error), error)
        worst = float(np.fmax.reduce(np.abs(error)))
        limits = self._tolerances
        # In doubles since 1970, as the real one: good to 0.2 us.
        since_end = float(self._time) / SECOND - float(command.segment_ns) / SECOND
        at_end = not command.is_before_end
        timeout = limits.cmd_timeout if limits.cmd_timeout > limits.goal_time else 0.0
        if at_end and 0.0 < timeout < since_end:
            self._hold(now, f'no message for {since_end:.3f} s after the end, allowed {timeout} s')
            return True
        if (is_first or not at_end) and 0.0 < limits.trajectory < worst:
            self._hold(now, f'error {worst:.6f} on the way, allowed {limits.trajectory}')
            return False
        is_late = 0.0 < limits.goal_time < since_end
        if at_end and is_late and 0.0 < limits.goal < worst:
            self._hold(now, f'error {worst:.6f} at the end, allowed {limits.goal}')
            return False
        return True

    def _hold(self, now: int, reason: str) -> None:
        self._holds.append((now, reason))
        self._newest, self._is_holding = self._hold_at(self._measured), True

    def _hold_at(self, q: np.ndarray) -> Message:
        return Message(self.joint_names, 0, [Point(0, q)])

    # -- what was done

    def states(self, first: int) -> list[tuple[int, np.ndarray, np.ndarray, int]]:
        """
        List what it said of itself, from the update with this number on.

        That is the time [ns], the reference, and its velocity, each of shape (n,); and the time
        since the beginning of the trajectory [ns], of what is measured.
        """
        rows = zip(self._rows[first:], self._begins[first:], strict=True)
        return [(time, state[0], state[1], time - begin) for (time, state, _, _), begin in rows]

    @property
    def end(self) -> np.ndarray:
        """Where it comes to rest if no message arrives, shape (n,)."""
        trajectory = self._trajectory
        return self._command if trajectory is None else trajectory.state(-1).q

    @property
    def played(self) -> Played:
        """What was done until now."""
        n = len(self.joint_names)
        times, references, commands, measured = zip(*self._rows, strict=True)
        states = np.array(references).reshape(-1, 3, n)
        return Played(
            np.array(times, dtype=np.int64),
            states[:, 0],
            states[:, 1],
            np.array(commands),
            np.array(measured),
            list(self._rejected),
            list(self._holds),
        )


def _scaled(duration_ns: int, factor: float) -> int:
    """Multiply a duration as rclcpp does: in long double, cut off."""
    return duration_ns if factor == 1.0 else int(np.longdouble(duration_ns) * factor)


def _reason_against_points(points: Sequence[Point], n: int) -> str:
    before = -math.inf
    for i, (time, q, v, a, effort) in enumerate(points):
        if time <= before:
            return f'point {i} at {time} ns is not after {before} ns'
        before = time
        if len(q) != n:
            return f'point {i} has {len(q)} positions for {n} joints'
        if v is not None and len(v) not in (0, n):
            return f'point {i} has {len(v)} velocities for {n} joints'
        if a is not None and len(a) not in (0, n):
            return f'point {i} has {len(a)} accelerations for {n} joints'
        if effort is not None and len(effort) > 0:
            return f'point {i} has efforts'
    return ''


# -- the way from the sender to the controller


def arrivals(sent_ns: Sequence[int], delays_ns: Sequence[int]) -> list[int]:
    """Tell when messages of one publisher arrive [ns]: none overtakes the one before."""
    found: list[int] = []
    for sent, delay in zip(sent_ns, delays_ns, strict=True):
        found.append(max(sent + delay, found[-1] if found else sent))
    return found


def play(
    sent: Iterable[tuple[int, Message]],
    controller: Controller,
    *,
    delays_ns: Sequence[int] | Callable[[int], int] | int = 0,
    lost: Iterable[int] = (),
    until_ns: int | None = None,
) -> Played:
    """
    Send messages of one publisher to a controller, and let it play them to their end.

    Parameters
    ----------
    sent : iterable of (int, Message)
        Messages with the times at which they are sent [ns], in order.
    controller : Controller
        Who plays them.
    delays_ns : int, sequence of int, or callable
        How long each one is on its way: one number for all, one for each, or a function of the
        index. The order is kept, so that a slow one holds up those behind it.
    lost : iterable of int
        Indices of messages that do not arrive.
    until_ns : int, optional
        When to end; by default a few updates after the end of the last message.

    Returns
    -------
    Played
        What the controller did.

    """
    rows = list(sent)
    if isinstance(delays_ns, int):
        delays: Sequence[int] = [delays_ns] * len(rows)
    elif callable(delays_ns):
        delays = [delays_ns(i) for i in range(len(rows))]
    else:
        delays = delays_ns
    missing = set(lost)
    on_the_way = zip(rows, delays, strict=True)
    kept = [(row, delay) for i, (row, delay) in enumerate(on_the_way) if i not in missing]
    at = arrivals([sent_at for (sent_at, _), _ in kept], [delay for _, delay in kept])
    for arrival, ((_, message), _) in zip(at, kept, strict=True):
        controller.receive(message, arrival)
    if until_ns is None:
        if not kept:
            raise ValueError('no message arrives: until_ns must say when to end')
        message = kept[-1][0][1]
        length = message.points[-1].time_from_start_ns if message.points else 0
        until_ns = max(at[-1], message.stamp_ns or at[-1]) + length + 3 * controller.period_ns
    controller.run_until(until_ns)
    return controller.played


# -- judging what was played


def fastest(times_ns: np.ndarray, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """
    Tell the greatest speeds and accelerations, as divided differences, of each joint.

    Parameters
    ----------
    times_ns, q : numpy.ndarray, shapes (k,) and (k, n)
        Times and joint values, k at least 3.

    Returns
    -------
    tuple of numpy.ndarray, shape (n,)
        Speeds [rad/s or m/s] and accelerations [rad/s^2 or m/s^2].

    """
    steps = np.diff(times_ns)[:, None] / SECOND
    v = np.diff(q, axis=0) / steps
    a = np.diff(v, axis=0) / (0.5 * (steps[1:] + steps[:-1]))
    return np.abs(v).max(axis=0), np.abs(a).max(axis=0)


def largest_step_against(q: np.ndarray, motion: np.ndarray) -> np.ndarray:
    """
    Tell the largest step of each joint against a motion: backwards, or any where that stands.

    Parameters
    ----------
    q, motion : numpy.ndarray, shape (k, n)
        What was played and what was meant, at the same times.

    Returns
    -------
    numpy.ndarray, shape (n,)
        The largest step [rad or m], 0 where there is none.

    """
    steps, ways = np.diff(q, axis=0), np.sign(np.diff(motion, axis=0))
    against = np.where(ways == 0.0, np.abs(steps), -ways * steps)
    return np.maximum(against, 0.0).max(axis=0, initial=0.0)
