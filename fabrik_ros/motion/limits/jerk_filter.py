"""
Commands with limited jerk: a motion is smoothed, and a stop is known from every command.

An average over the last 2 a / j seconds of a motion whose acceleration is at most a has a jerk of
at most j, and where the motion comes to rest the average does, without overshoot. Each step goes
to the state of the average; `jerk_paths` plans the transition. So the limits hold for uneven steps
too. A step is taken only if a stop after it stays within the joint limits; otherwise, or on
request, the arm follows the stop found before.

"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ...transforms import Array
from .jerk_paths import import_ruckig, JointPlanner, JointState, Passage, Stop
from .joint_motion import AT_REST, Joints
from .limits import MotionLimits
from .stop_trajectory import StopTrajectory

MARGIN = 0.01
"""Share of the limits that the motion leaves to commands that catch up with it [1]."""
SAME = 1e-3
"""Largest difference of equal states, as a share of the change by the jerk in a step [1]."""
ROUNDING = 1e-12
LONG_AGO = 1e6
"""Age of a state before all others [s]."""


class Step(NamedTuple):
    """Step that may be commanded next."""

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


class FilterState(NamedTuple):
    """State of a filter between two steps; see there."""

    q: Array
    velocity: Array
    acceleration: Array
    ages: Array
    past: Array
    stop: Stop | None
    braked: float
    is_braking: bool
    held: npt.NDArray[np.bool_]


class JerkFilter:
    """
    Makes commands of a motion whose jerk is limited.

    Parameters
    ----------
    jerk : float or array, shape (n,)
        The limit for every joint [rad/s^3 or m/s^3]. Of some it may be infinite: these change
        their acceleration as slowly as the average makes them do anyway.
    period : float
        Usual length of a step [s]; the average is over at least two of them, as the motion is
        known at its steps only.
    lower, upper : array, shape (n,)
        Limits of the joints [rad or m]; a joint that is outside may come in but not go out.

    Attributes
    ----------
    q, velocity, acceleration : array, shape (n,)
        State of the last command.
    is_braking : bool
        Whether it is on the way to rest, whatever the motion does.
    held : array of bool, shape (n,)
        Which joints are on the way to rest while the others go on; until the motion is there.
    jerk : array, shape (n,)
        What each joint keeps to [rad/s^3 or m/s^3].

    Raises
    ------
    MotionError
        If Ruckig is not installed.

    """

    def __init__(self, jerk: float | Array, period: float, lower: Array, upper: Array) -> None:
        self._ruckig = import_ruckig()
        n = len(lower)
        self._asked = self.jerk = np.broadcast_to(np.float64(jerk), n)
        self._period, self._lower, self._upper = period, lower, upper
        self._planners = [JointPlanner(self._ruckig) for _ in range(n)]
        self._stopper, self._stop_input = self._ruckig.Ruckig(n), self._input_for_stops(n)
        self.reset(0.5 * (np.maximum(lower, -1.0) + np.minimum(upper, 1.0)))

    def _input_for_stops(self, n: int) -> Any:
        wanted = self._ruckig.InputParameter(n)
        wanted.control_interface = self._ruckig.ControlInterface.Velocity
        wanted.synchronization = self._ruckig.Synchronization.No
        wanted.current_position = [0.0] * n
        wanted.target_velocity = wanted.target_acceleration = [0.0] * n
        return wanted

    def change_limits(self, limits: MotionLimits) -> MotionLimits:
        """Keep to limits from now on; return the slightly lower ones of the motion."""
        self._fastest, self._hardest = limits.joint_velocity, limits.joint_acceleration
        self.delay = float(np.max(self._hardest / self._asked))
        """Time by which the average lags behind the motion, for the sake of the jerk [s]."""
        self._window = 2.0 * max(self.delay, self._period)
        free = np.isinf(self._asked)
        self.jerk = np.where(free, 2.0 * self._hardest / self._window, self._asked)
        self._stop_input.max_velocity = self._fastest
        self._stop_input.max_acceleration = self._hardest
        self._stop_input.max_jerk = self.jerk
        rates = _by_joint((self._fastest, self._hardest, self.jerk))
        for planner, (fastest, hardest, jerk) in zip(self._planners, rates, strict=True):
            planner.change_limits(fastest, hardest, jerk)
        left = 1.0 - MARGIN
        return replace(
            limits,
            joint_velocity=left * limits.joint_velocity,
            joint_acceleration=left * limits.joint_acceleration,
        )

    def reset(self, q: Array) -> None:
        """Take the arm, and the motion, to stand still at `q`, shape (n,)."""
        self.q = np.array(q, dtype=np.float64)
        self.velocity = self.acceleration = np.zeros_like(self.q)
        self._begin_to_average(self.q)
        self._stop: Stop | None = None
        self._braked = 0.0
        self.is_braking = False
        self.held = np.zeros(len(self.q), dtype=bool)

    def _begin_to_average(self, q: Array) -> None:
        self._ages, self._past = np.array([LONG_AGO, 0.0]), np.array([q, q])

    def checkpoint(self) -> FilterState:
        """Remember the state, to come back to it by `restore`."""
        return FilterState(
            self.q, self.velocity, self.acceleration, self._ages, self._past,
            self._stop, self._braked, self.is_braking, self.held,
        )  # fmt: skip

    def restore(self, state: FilterState) -> None:
        """Take back all steps since a checkpoint."""
        self.q, self.velocity, self.acceleration = state.q, state.velocity, state.acceleration
        self._ages, self._past = state.ages, state.past
        self._stop, self._braked, self.is_braking = state.stop, state.braked, state.is_braking
        self.held = state.held

    @property
    def is_at_rest(self) -> bool:
        """Whether the last command does not move."""
        return not (np.any(self.velocity) or np.any(self.acceleration))

    def rests(self, joints: Joints) -> bool:
        """Whether the last command moves none of some joints."""
        return not (np.any(self.velocity[joints]) or np.any(self.acceleration[joints]))

    def hold(self, joints: npt.NDArray[np.bool_]) -> None:
        """Let some joints, given by a mask of shape (n,), come to rest while others go on."""
        moving = (self.velocity != 0.0) | (self.acceleration != 0.0)
        self.held = self.held | (joints & moving)
        self._past = np.where(self.held, self.rest, self._past)

    @property
    def rest(self) -> Array:
        """Joint values once the joints have come to rest, shape (n,) [rad or m]."""
        return self.q if self._stop is None else self._stop.q

    def plan(self, q: Array, dt: float) -> Step | None:
        """
        Find what to command when the motion has come to `q`, shape (n,), in `dt` seconds.

        None where the arm could not stop in time after it: then it has to brake.
        """
        target = self._averaged(np.where(self.held, self.rest, q), dt)
        passage = self._passage(dt, target)
        if passage is None:
            return None
        q_next, velocity, acceleration = passage.end()
        if self._stop is not None and np.any(self.held):
            stopped = self.held & (self._stop.durations <= dt)
            velocity, acceleration = np.where(stopped, 0.0, (velocity, acceleration))
            has_followed = np.abs(q - self.rest) <= AT_REST
            self.held = self.held & ~(stopped & has_followed)
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
            self.held = np.zeros_like(self.held)
            self._begin_to_average(self._stop.q if self._stop is not None else self.q)
        rest: Array = self._past[-1]
        return rest

    def brake(self, dt: float) -> Callable[[], StopTrajectory]:
        """Go on for `dt` seconds on the way to rest; what tells how, as `Passage.points`."""
        assert self._stop is not None
        passage = partial(self._stop.between, self._braked, self._braked + dt)
        self._braked += dt
        self.q, self.velocity, self.acceleration = self._stop.state(self._braked)
        self.is_braking = not self.is_at_rest
        return passage

    def stop_trajectory(self) -> StopTrajectory:
        """Way to rest from the last command on, as soon as the limits allow."""
        if self._stop is None:
            return StopTrajectory(np.zeros(1), self.q[None], self.velocity[None])
        return self._stop.rest_from(self._braked)

    def stop_corners(self) -> Array:
        """Joint values on the way to rest, shape (m, n), between which no joint turns back."""
        return self.q[None] if self._stop is None else self._stop.corners()

    def _averaged(self, q: Array, dt: float) -> tuple[Array, Array, Array]:
        """State of the average over the window that ends at `q`; the motion is even in between."""
        ages, past = np.append(self._ages + dt, 0.0), np.vstack([self._past, q])
        if ages[0] < self._window:  # the window has grown
            ages, past = np.append(LONG_AGO, ages), np.vstack([past[:1], past])
        first = int(np.count_nonzero(ages >= self._window)) - 1
        self._ages, self._past = ages, past = ages[first:], past[first:]
        rates = np.diff(past, axis=0) / -np.diff(ages)[:, None]
        begin = past[0] + (ages[0] - self._window) * rates[0]
        inside = np.vstack([begin, past[1:]]) - q
        lengths = -np.diff(np.append(self._window, ages[1:]))[:, None]
        left = 1.0 - MARGIN
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
        stop, held = self._stop, self.held.tolist()
        found = [
            stop.phases(j) if stop is not None and held[j] else planner.phases(dt, state, aim)
            for j, (planner, state, aim) in enumerate(joints)
        ]
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


def _peak(velocity: Array, acceleration: Array, jerk: Array) -> Array:
    """Greatest speed while the acceleration vanishes as soon as it can."""
    gained = acceleration * np.abs(acceleration) / (2.0 * jerk)
    return np.maximum(np.abs(velocity), np.abs(velocity + gained))
