"""
Paths of joints whose jerk is limited, planned by Ruckig.

Ruckig (Berscheid and Kröger 2021, https://github.com/pantor/ruckig) plans the way of each joint
through a step: in just the time of the step if the limits of velocity, acceleration and jerk allow
that, else as soon as they do. It also plans the way to rest, as soon as the limits allow.

"""

import math
from typing import Any, NamedTuple

import numpy as np

from ...errors import MotionError
from ...transforms import Array
from .stop_trajectory import StopTrajectory, TICK

PARTS_OF_A_STOP = 4
"""Fewest parts in which a stop is checked [1]."""

JointState = tuple[float, float, float]
"""Value, velocity and acceleration of one joint [rad or m, and seconds]."""
Phases = list[tuple[float, float]]
"""Lengths of the parts of a way, one after the other, and the jerk in each [rad or m, seconds]."""


class Passage(NamedTuple):
    """Motion of the joints through a step."""

    states: list[JointState]
    """State of each joint at the beginning."""
    phases: list[Phases]
    """Phases of each joint from there on; where they are over there is no jerk."""
    dt: float
    """Length of the step [s]."""

    def end(self) -> tuple[Array, Array, Array]:
        """Joint values, velocities and accelerations at the end, each of shape (n,)."""
        joints = zip(self.states, self.phases, strict=True)
        rows = np.array([_after(*joint, self.dt) for joint in joints])
        # Copied, as kernels are compiled for arrays without gaps.
        q, velocity, acceleration = np.ascontiguousarray(rows.T)
        return q, velocity, acceleration

    def points(self) -> StopTrajectory:
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
        return StopTrajectory(times - self.dt, q, velocity)


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
        """Duration of the stop [s]."""
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

    @property
    def durations(self) -> Array:
        """Duration of the stop of each joint, shape (n,) [s]."""
        profiles = self._trajectory.profiles[0]
        return np.array([sum(each.brake.t) + sum(each.t) for each in profiles])

    def phases(self, joint: int) -> Phases:
        """Tell the jerks of one joint on the way, each with its duration."""
        return _phases(self._trajectory.profiles[0][joint])

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

    def rest_from(self, begin: float) -> StopTrajectory:
        """Tell the rest of the way, from a time on; the jerk is constant between its points."""
        ends = np.append(self._turns(), max(begin, self.duration)) - begin
        times = np.append(0.0, _ticks_within(ends, math.inf))
        return self._points(begin, times)

    def between(self, begin: float, end: float) -> StopTrajectory:
        """Tell a part of it in the same way, without its ends; times are counted from `end`."""
        dt = end - begin
        points = self._points(begin, _ticks_within(self._turns() - begin, dt))
        return points._replace(times=points.times - dt)

    def _turns(self) -> Array:
        """Return the times at which the jerk of a joint changes [s]."""
        profiles = self._trajectory.profiles[0]
        return np.concatenate([np.cumsum([*each.brake.t, *each.t]) for each in profiles])

    def _points(self, begin: float, times: Array) -> StopTrajectory:
        states = [self.state(begin + time)[:2] for time in times]
        rows = np.array(states).reshape(len(times), 2, len(self._ends))
        return StopTrajectory(times, rows[:, 0], rows[:, 1])


class JointPlanner:
    """
    Plans the steps of one joint.

    Parameters
    ----------
    ruckig : module
        Finds the soonest ways.

    """

    def __init__(self, ruckig: Any) -> None:
        self._errors = ruckig.RuckigError, ValueError
        """Errors that ruckig raises; ValueError for a result without a name."""
        self._successes = ruckig.Result.Working, ruckig.Result.Finished
        self._planner, self._trajectory = ruckig.Ruckig(1), ruckig.Trajectory(1)
        self._wanted = ruckig.InputParameter(1)
        self._wanted.target_position = self._wanted.target_velocity = [0.0]

    def change_limits(self, fastest: float, hardest: float, jerk: float) -> None:
        """Keep to this velocity, acceleration and jerk from now on."""
        self._fastest = fastest
        self._wanted.max_acceleration = [hardest]
        self._wanted.max_jerk = [jerk]

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
                return _phases(self._trajectory.profiles[0][0])
        return None

    def _succeeds(self) -> bool:
        try:
            return self._planner.calculate(self._wanted, self._trajectory) in self._successes
        except self._errors:
            return False


def _phases(profile: Any) -> Phases:
    lengths, jerks = (*profile.brake.t, *profile.t), (*profile.brake.j, *profile.j)
    return list(zip(lengths, jerks, strict=True))


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
    """Begin of each phase [s], the state then, and the jerk from there on; 0 after the last."""
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


def has_ruckig() -> bool:
    """Whether Ruckig is installed."""
    try:
        import_ruckig()
    except MotionError:
        return False
    return True


def import_ruckig() -> Any:
    try:
        import ruckig
    except ImportError as error:
        raise MotionError(
            'limiting the jerk needs ruckig, which is not installed: '
            "pip install 'fabrik_ros[motion]', or pip install ruckig; or set max_joint_jerk to 0"
        ) from error
    return ruckig
