"""
Commands whose jerk is limited: a motion is smoothed, and every command is one to stop from.

An average over the last 2 a / j seconds of a motion whose acceleration is at most a has a jerk of
at most j, and where the motion comes to rest the average does, without overshoot. It is the state
to be in at each step. Ruckig (Berscheid and Kröger 2021, https://github.com/pantor/ruckig) plans
the way there: in just the time of the step if the limits of velocity, acceleration and jerk allow
that, else as soon as they do. So the limits hold however uneven the steps are.

Ruckig also plans the way to rest, as soon as the limits allow. A step is taken only if that way
stays within the limits of the joints; else, and when told to, the arm goes the one found before.

"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
import math
from typing import Any, NamedTuple

import numpy as np

from ..errors import MotionError
from ..transforms import Array
from .line_reference import MotionLimits
from .stop_trajectory import Ramp, TICK

ROOM = 0.01
"""Share of the limits that a motion leaves, so that a command that lags can catch up."""
SAME = 1e-3
"""States are the same that differ by this share of what the jerk can do in a step."""
ROUNDING = 1e-12
LONG_AGO = 1e6
PARTS_OF_A_STOP = 4


JointState = tuple[float, float, float]
"""Value, velocity and acceleration of one joint [rad or m, and seconds]."""
Phases = list[tuple[float, float]]
"""Lengths of the parts of a way, one after the other, and the jerk in each [rad or m, seconds]."""


class Passage(NamedTuple):
    """How the joints get through a step."""

    states: list[JointState]
    """Of each joint, at the beginning."""
    phases: list[Phases]
    """Of each joint, from there on; where they are over there is no jerk."""
    dt: float
    """Length of the step [s]."""

    def end(self) -> tuple[Array, Array, Array]:
        """Joint values, velocities and accelerations at the end, each of shape (n,)."""
        joints = zip(self.states, self.phases, strict=True)
        q, velocity, acceleration = np.array([_after(*joint, self.dt) for joint in joints]).T
        return q, velocity, acceleration

    def points(self) -> Ramp:
        """
        Points in between which the jerk is constant, without beginning and end of the step.

        Times are counted from the end.
        """
        joints = zip(self.states, self.phases, strict=True)
        corners = np.array([_corners(state, phases) for state, phases in joints])
        starts = corners[..., 0]
        times = _ticks_within(starts[:, 1:].ravel(), self.dt)
        phase = np.count_nonzero(times[:, None, None] >= starts, axis=-1) - 1
        found = corners[np.arange(len(corners)), phase]
        start, q, velocity, acceleration, jerk = np.moveaxis(found, -1, 0)
        t = times[:, None] - start
        q = q + t * (velocity + t * (acceleration / 2.0 + t * jerk / 6.0))
        velocity = velocity + t * (acceleration + t * jerk / 2.0)
        return Ramp(times - self.dt, q, velocity)


class Step(NamedTuple):
    """What may be commanded next."""

    q: Array
    """Joint values, shape (n,) [rad or m]."""
    velocity: Array
    """Shape (n,) [rad/s or m/s]."""
    acceleration: Array
    """Shape (n,) [rad/s^2 or m/s^2]."""
    passage: Passage
    """Way there."""
    stop: 'Stop'
    """Way to rest from there."""


class Stop:
    """
    The soonest way to rest, each joint by itself.

    Parameters
    ----------
    trajectory : ruckig.Trajectory
        Planned to rest in the velocity interface, from the position 0: in that interface Ruckig
        takes 0 for the end of the way, and among its extrema.
    start : array, shape (n,)
        Joint values where it begins [rad or m].

    """

    def __init__(self, trajectory: Any, start: Array) -> None:
        self._trajectory, self._start = trajectory, start
        self.duration: float = trajectory.duration
        """How long it takes [s]."""
        self._ends = trajectory.position_extrema

    @property
    def lowest(self) -> Array:
        """Least value of each joint on the way, shape (n,) [rad or m]."""
        lowest: Array = self._start + [end.min for end in self._ends]
        return lowest

    @property
    def highest(self) -> Array:
        """Greatest value of each joint on the way, shape (n,) [rad or m]."""
        highest: Array = self._start + [end.max for end in self._ends]
        return highest

    @property
    def q(self) -> Array:
        """Joint values at rest, shape (n,) [rad or m]."""
        end: Array = self._start + self._trajectory.at_time(self.duration)[0]
        return end

    def state(self, time: float) -> tuple[Array, Array, Array]:
        """Joint values, velocities and accelerations at a time, each of shape (n,)."""
        if time >= self.duration:
            return self.q, np.zeros(len(self._ends)), np.zeros(len(self._ends))
        q, velocity, acceleration = self._trajectory.at_time(time)[:3]
        return self._start + q, np.array(velocity), np.array(acceleration)

    def corners(self) -> Array:
        """Joint values on the way, shape (m, n), between which no joint turns back."""
        turns = [time for end in self._ends for time in (end.t_min, end.t_max)]
        even = np.linspace(0.0, self.duration, PARTS_OF_A_STOP + 1)
        return np.array([self.state(time)[0] for time in np.unique([*turns, *even])])

    def ramp(self, begin: float) -> Ramp:
        """Tell the rest of the way, from a time on; the jerk is constant between its points."""
        ends = np.append(self._turns(), max(begin, self.duration)) - begin
        times = np.append(0.0, _ticks_within(ends, math.inf))
        return self._points(begin, times)

    def between(self, begin: float, end: float) -> Ramp:
        """Tell a part of it in the same way, without its ends; times are counted from `end`."""
        dt = end - begin
        points = self._points(begin, _ticks_within(self._turns() - begin, dt))
        return points._replace(times=points.times - dt)

    def _turns(self) -> Array:
        """When the jerk of a joint changes [s]."""
        profiles = self._trajectory.profiles[0]
        return np.concatenate([np.cumsum([*each.brake.t, *each.t]) for each in profiles])

    def _points(self, begin: float, times: Array) -> Ramp:
        states = [self.state(begin + time)[:2] for time in times]
        rows = np.array(states).reshape(len(times), 2, len(self._ends))
        return Ramp(times, rows[:, 0], rows[:, 1])


class LimiterState(NamedTuple):
    """State of a limiter between two steps; see there."""

    q: Array
    velocity: Array
    acceleration: Array
    ages: Array
    past: Array
    stop: Stop | None
    braked: float
    is_braking: bool


class JointPlanner:
    """
    Plans the steps of one joint.

    Parameters
    ----------
    ruckig : module
        Finds the soonest ways.
    jerk : float
        The limit [rad/s^3 or m/s^3].

    """

    def __init__(self, ruckig: Any, jerk: float) -> None:
        self._errors = ruckig.RuckigError, ValueError
        """The second is a result without a name."""
        self._successes = ruckig.Result.Working, ruckig.Result.Finished
        self._planner, self._trajectory = ruckig.Ruckig(1), ruckig.Trajectory(1)
        self._wanted = ruckig.InputParameter(1)
        self._wanted.max_jerk = [jerk]
        self._wanted.target_position = self._wanted.target_velocity = [0.0]

    def heed(self, fastest: float, hardest: float) -> None:
        """Keep to this velocity and acceleration from now on."""
        self._fastest = fastest
        self._wanted.max_acceleration = [hardest]

    def phases(self, dt: float, state: JointState, target: JointState) -> Phases | None:
        """
        Find the jerks in a step towards a target; None where there is no way.

        Where the target cannot be met in the step it goes on at its velocity, so the way is
        planned as seen from there.
        """
        q, velocity, acceleration = state
        q_target, velocity_target, acceleration_target = target
        wanted, carried = self._wanted, velocity_target * dt
        wanted.current_position = [q - (q_target - carried)]
        wanted.current_velocity = [velocity - velocity_target]
        wanted.current_acceleration = [acceleration]
        wanted.max_velocity = [self._fastest - velocity_target]
        wanted.min_velocity = [-self._fastest - velocity_target]
        wanted.minimum_duration = dt
        for acceleration_at_the_end in (acceleration_target, 0.0):
            wanted.target_acceleration = [acceleration_at_the_end]
            if self._succeeds():
                profile = self._trajectory.profiles[0][0]
                lengths, jerks = (*profile.brake.t, *profile.t), (*profile.brake.j, *profile.j)
                return list(zip(lengths, jerks, strict=True))
        return None

    def _succeeds(self) -> bool:
        try:
            return self._planner.calculate(self._wanted, self._trajectory) in self._successes
        except self._errors:
            return False


class JerkLimiter:
    """
    Makes commands of a motion whose jerk is limited.

    Parameters
    ----------
    jerk : float
        The limit for every joint [rad/s^3 or m/s^3].
    period : float
        Usual length of a step [s]; the motion is known to that only, so the average is over two.
    lower, upper : array, shape (n,)
        Limits of the joints [rad or m]; a joint that is outside may come in but not go out.

    Attributes
    ----------
    q, velocity, acceleration : array, shape (n,)
        State of the last command.
    is_braking : bool
        Whether it is on the way to rest, whatever the motion does.

    Raises
    ------
    MotionError
        If Ruckig is not installed.

    """

    def __init__(self, jerk: float, period: float, lower: Array, upper: Array) -> None:
        self._ruckig = _ruckig()
        self.jerk, self._period = jerk, period
        self._lower, self._upper = lower, upper
        n = len(lower)
        self._planners = [JointPlanner(self._ruckig, jerk) for _ in range(n)]
        self._stopper, self._stop_input = self._ruckig.Ruckig(n), self._input_for_stops(n)
        self.reset(0.5 * (np.maximum(lower, -1.0) + np.minimum(upper, 1.0)))

    def _input_for_stops(self, n: int) -> Any:
        wanted = self._ruckig.InputParameter(n)
        wanted.control_interface = self._ruckig.ControlInterface.Velocity
        wanted.synchronization = self._ruckig.Synchronization.No
        wanted.max_jerk = [self.jerk] * n
        wanted.current_position = [0.0] * n
        wanted.target_velocity = wanted.target_acceleration = [0.0] * n
        return wanted

    def heed(self, limits: MotionLimits) -> MotionLimits:
        """Keep to limits from now on; those that the motion has to keep to."""
        self._fastest, self._hardest = limits.joint_velocity, limits.joint_acceleration
        self._window = 2.0 * max(self.lag, self._period)
        self._stop_input.max_velocity = self._fastest
        self._stop_input.max_acceleration = self._hardest
        each = zip(self._planners, self._fastest.tolist(), self._hardest.tolist(), strict=True)
        for planner, fastest, hardest in each:
            planner.heed(fastest, hardest)
        left = 1.0 - ROOM
        return replace(
            limits,
            joint_velocity=left * limits.joint_velocity,
            joint_acceleration=left * limits.joint_acceleration,
        )

    @property
    def lag(self) -> float:
        """Time by which the average lags behind the motion, for the sake of the jerk [s]."""
        return float(np.max(self._hardest)) / self.jerk

    def reset(self, q: Array) -> None:
        """Take the arm, and the motion, to stand still at `q`, shape (n,)."""
        self.q = np.array(q, dtype=np.float64)
        self.velocity = self.acceleration = np.zeros_like(self.q)
        self._begin_to_average(self.q)
        self._stop: Stop | None = None
        self._braked = 0.0
        self.is_braking = False

    def _begin_to_average(self, q: Array) -> None:
        self._ages, self._past = np.array([LONG_AGO, 0.0]), np.array([q, q])

    def checkpoint(self) -> LimiterState:
        """Remember the state, to come back to it by `restore`."""
        return LimiterState(
            self.q, self.velocity, self.acceleration, self._ages, self._past,
            self._stop, self._braked, self.is_braking,
        )  # fmt: skip

    def restore(self, state: LimiterState) -> None:
        """Take back all steps since a checkpoint."""
        self.q, self.velocity, self.acceleration = state.q, state.velocity, state.acceleration
        self._ages, self._past = state.ages, state.past
        self._stop, self._braked, self.is_braking = state.stop, state.braked, state.is_braking

    @property
    def is_at_rest(self) -> bool:
        """Whether the last command does not move."""
        return not (np.any(self.velocity) or np.any(self.acceleration))

    def plan(self, q: Array, dt: float) -> Step | None:
        """
        Find what to command when the motion has come to `q`, shape (n,), in `dt` seconds.

        None where that would not leave room to stop: then the arm has to brake.
        """
        target = self._averaged(q, dt)
        passage = self._passage(dt, target)
        if passage is None:
            return None
        q_next, velocity, acceleration = passage.end()
        if self._almost_rests(target, q_next, velocity, acceleration, dt):
            q_next, velocity, acceleration = target[0], np.zeros_like(q), np.zeros_like(q)
        stop = self._stop_from(q_next, velocity, acceleration)
        step = Step(q_next, velocity, acceleration, passage, stop)
        return step if self._can_stop_after(step) else None

    def take(self, step: Step) -> None:
        """Command what was planned."""
        self.q, self.velocity, self.acceleration, _, self._stop = step
        self._braked = 0.0

    def begin_to_brake(self) -> Array:
        """Leave the motion for the way to rest; joint values there, shape (n,)."""
        if not self.is_braking:
            self.is_braking = not self.is_at_rest
            self._begin_to_average(self._stop.q if self._stop is not None else self.q)
        rest: Array = self._past[-1]
        return rest

    def brake(self, dt: float) -> Callable[[], Ramp]:
        """Go on for `dt` seconds on the way to rest; what tells how, as `Passage.points`."""
        assert self._stop is not None
        passage = partial(self._stop.between, self._braked, self._braked + dt)
        self._braked += dt
        self.q, self.velocity, self.acceleration = self._stop.state(self._braked)
        self.is_braking = not self.is_at_rest
        return passage

    def ramp(self) -> Ramp:
        """Way to rest from the last command on, as soon as the limits allow."""
        if self._stop is None:
            return Ramp(np.zeros(1), self.q[None], self.velocity[None])
        return self._stop.ramp(self._braked)

    def _averaged(self, q: Array, dt: float) -> tuple[Array, Array, Array]:
        """State of the average over the window that ends at `q`; the motion is even in between."""
        ages, past = np.append(self._ages + dt, 0.0), np.vstack([self._past, q])
        if ages[0] < self._window:  # that has grown
            ages, past = np.append(LONG_AGO, ages), np.vstack([past[:1], past])
        first = int(np.count_nonzero(ages >= self._window)) - 1
        self._ages, self._past = ages, past = ages[first:], past[first:]
        rates = np.diff(past, axis=0) / -np.diff(ages)[:, None]
        begin = past[0] + (ages[0] - self._window) * rates[0]
        inside = np.vstack([begin, past[1:]]) - q
        lengths = -np.diff(np.append(self._window, ages[1:]))[:, None]
        left = 1.0 - ROOM
        hardest, fastest = left * self._hardest, left * self._fastest
        return (
            q + 0.5 * np.sum(lengths * (inside[1:] + inside[:-1]), axis=0) / self._window,
            np.clip((q - begin) / self._window, -fastest, fastest),
            np.clip((rates[-1] - rates[0]) / self._window, -hardest, hardest),
        )

    def _passage(self, dt: float, target: tuple[Array, Array, Array]) -> Passage | None:
        """Way of the joints in a step towards a target; None where one of them has none."""
        states = list(_by_joint((self.q, self.velocity, self.acceleration)))
        joints = zip(self._planners, states, _by_joint(target), strict=True)
        found = [planner.phases(dt, state, aim) for planner, state, aim in joints]
        phases = [each for each in found if each is not None]
        return Passage(states, phases, dt) if len(phases) == len(found) else None

    def _almost_rests(
        self,
        target: tuple[Array, Array, Array],
        q: Array,
        velocity: Array,
        acceleration: Array,
        dt: float,
    ) -> bool:
        """Whether the target rests but for rounding, and the state is nearly the same."""
        same = SAME * self.jerk * dt
        return bool(
            np.all(np.abs(target[1:]) <= ROUNDING)
            and np.all(np.abs(acceleration) <= same)
            and np.all(np.abs(velocity) <= same * dt)
            and np.all(np.abs(q - target[0]) <= same * dt * dt)
        )

    def _stop_from(self, q: Array, velocity: Array, acceleration: Array) -> Stop:
        wanted, trajectory = self._stop_input, self._ruckig.Trajectory(len(q))
        wanted.current_velocity = velocity
        wanted.current_acceleration = acceleration
        self._stopper.calculate(wanted, trajectory)
        return Stop(trajectory, q)

    def _can_stop_after(self, step: Step) -> bool:
        """Whether a step and the stop after it stay within limits, or go towards them."""
        lower = np.minimum(self._lower, np.minimum(self.q, step.q)) - ROUNDING
        upper = np.maximum(self._upper, np.maximum(self.q, step.q)) + ROUNDING
        inside = np.minimum(self._lower, self.q) - ROUNDING <= step.q
        inside &= step.q <= np.maximum(self._upper, self.q) + ROUNDING
        inside &= (lower <= step.stop.lowest) & (step.stop.highest <= upper)
        fastest = np.maximum(self._fastest, _peak(self.velocity, self.acceleration, self.jerk))
        peak = _peak(step.velocity, step.acceleration, self.jerk)
        return bool(np.all(inside & (peak <= fastest + ROUNDING)))


def _by_joint(rows: tuple[Array, Array, Array]) -> Iterator[JointState]:
    return zip(*(row.tolist() for row in rows), strict=True)


def _peak(velocity: Array, acceleration: Array, jerk: float) -> Array:
    """Greatest speed while the acceleration vanishes as soon as it can."""
    gained = acceleration * np.abs(acceleration) / (2.0 * jerk)
    return np.maximum(np.abs(velocity), np.abs(velocity + gained))


def _after(state: JointState, phases: Phases, time: float) -> JointState:
    """
    State of a joint after some time.

    Ruckig's own answer may jump by its tolerance at the end, which in a short step is much jerk.
    """
    q, velocity, acceleration = state
    way = 0.0
    for length, jerk in (*phases, (math.inf, 0.0)):
        t = min(length, time)
        way += t * (velocity + t * (acceleration / 2.0 + t * jerk / 6.0))
        velocity += t * (acceleration + t * jerk / 2.0)
        acceleration += t * jerk
        time -= t
    return q + way, velocity, acceleration


def _corners(state: JointState, phases: Phases) -> list[tuple[float, float, float, float, float]]:
    """When each phase begins [s], the state then, and the jerk from there on; 0 after the last."""
    corners, start = [], 0.0
    for length, jerk in (*phases, (0.0, 0.0)):
        corners.append((start, *state, jerk))
        state = _after(state, [(length, jerk)], length)
        start += length
    return corners


def _ticks_within(times: Array, end: float) -> Array:
    """Round times after 0 and before an end [s] to ticks, each once."""
    ticks = TICK * np.unique(np.ceil(times / TICK))
    return ticks[(ticks >= TICK) & (ticks <= end - TICK)]


def _ruckig() -> Any:
    try:
        import ruckig
    except ImportError as error:
        raise MotionError(
            'limiting the jerk needs ruckig, which is not installed: '
            "pip install 'fabrik_ros[motion]', or pip install ruckig; or set max_joint_jerk to 0"
        ) from error
    return ruckig
