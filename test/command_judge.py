"""
The one judge of joint commands: stamps, limits, velocities and accelerations.

It needs numpy alone and shares no code with the package. The tests, the demo and the benchmarks
use it; `judging` judges poses.

"""

from collections import Counter, deque
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
import math

import numpy as np

PAUSE, PAUSE_PERIODS = 0.1, 3.0
"""
After a longer pause [s] between two stamps, or [periods] at slow rates, the arm counts as at rest.
"""
ROUNDING = 1e-9
"""Tolerance of joint limits [rad or m]."""
VIOLATIONS_KEPT = 20
"""The first violations are kept in words; all are counted."""
STATES_KEPT, PATHS_KEPT = 300, 50
"""A run may begin at one of the last states of the arm, or on one of the last announced paths."""
STATES_OF_A_REPORT = 60
"""One of so many last states is the one that a report was made of."""
BRAKING, NOTICE = 0.6, 0.2
"""Longest braking, and how long a status may be on its way when the arm moves again [s]."""
SENT_KEPT = 1000
"""So many commands may come between two statuses."""
COMMANDS_KEPT = 8
"""Commands shown with a violation."""
TIP_EXCESS = 0.25
"""
Share by which tips and joint centres may exceed their limits: on a line, a joint that reverses
cannot always brake in time.
"""

Frames = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]
"""
Returns joint centres and tips, shape (c, 3) [m], and rotations of the tips, shape (k, 3, 3), at
joint values of shape (n,).
"""


@dataclass(frozen=True, eq=False)
class Bounds:
    """What the joints may do; arrays of shape (n,)."""

    lower: np.ndarray
    upper: np.ndarray
    velocity: np.ndarray
    acceleration: np.ndarray
    tip_speed: float = math.inf
    """Of tips and joint centres [m/s]."""
    tip_rotation: float = math.inf
    """Of tips [rad/s]."""

    def or_else(self, other: 'Bounds') -> 'Bounds':
        """Allow what either allows."""
        return Bounds(
            np.minimum(self.lower, other.lower),
            np.maximum(self.upper, other.upper),
            np.maximum(self.velocity, other.velocity),
            np.maximum(self.acceleration, other.acceleration),
            max(self.tip_speed, other.tip_speed),
            max(self.tip_rotation, other.tip_rotation),
        )


class CommandJudge:
    """
    Checks names, numbers, stamps, limits, velocities and accelerations of a stream of commands.

    Velocities and accelerations are divided differences over the stamps, within runs. A pause of
    more than `pause` seconds begins a new run. It must begin at one of the last states of the arm,
    or on an announced stop trajectory. A command may be outside a position limit only as far as
    the command before it, or, at the start of a run, as far as the arm.

    A stop does not travel: from the report that the arm holds to the one that it goes on, commands
    go no farther than braking, but for the way back over values that were commanded in this run.
    At its target is only an arm that says so.

    Where the states of the arm are unknown, no command may pass a position limit, and a new run
    may begin as far from the last command as the velocity limit allows in the pause.

    Bounds may change during a motion. Between request and answer either may be used. A lower
    velocity must be reached by braking with half the acceleration. A lower acceleration counts
    from the next rest or run on: a moving arm may still need the old value to stop in time. So do
    lower limits of tips: the time to brake into them depends on the path.

    Parameters
    ----------
    names : sequence of str
        Names of the joints, in the order that commands must have.
    bounds : Bounds
        Limits of the joints and tips.
    period : float
        Time between commands [s].
    frames : callable, optional
        Forward kinematics. Without it the speeds of tips are not checked.
    knows_states : bool
        Whether `arm_says` is called with every state of the arm.
    nearby : float
        How far from a state of an arm that is pushed a run may begin [rad or m].

    """

    def __init__(
        self,
        names: Sequence[str],
        bounds: Bounds,
        period: float,
        frames: Frames | None = None,
        knows_states: bool = True,
        nearby: float = 0.0,
    ) -> None:
        self.names = tuple(names)
        self.period = period
        self.pause = max(PAUSE, PAUSE_PERIODS * period)
        self.count = 0
        """Commands checked."""
        self.runs = 0
        self.late = 0
        """Steps that took more than one and a half periods."""
        self.worst = Counter({'velocity': 0.0, 'acceleration': 0.0, 'tip': 0.0})
        """Greatest share of each limit in use [1]."""
        self.violation_count = 0
        self.violations: list[str] = []
        """The first violations, in words."""
        self._knows_states, self._nearby = knows_states, nearby
        self._bounds = bounds
        self._next: Bounds | None = None
        self._acceleration = bounds.acceleration
        self._fastest = bounds.velocity
        self._frames = frames
        self._tip_limits = np.array([bounds.tip_speed, bounds.tip_rotation])
        self._jumps_back = 0
        self.recent: deque[tuple[int, Sequence[float]]] = deque(maxlen=COMMANDS_KEPT)
        """Stamps and joint values of the last commands."""
        self._said: deque[np.ndarray] = deque(maxlen=STATES_KEPT)
        self._waits: tuple[Hashable, int] | None = None
        """All that was asked for as a path waits, and since when that is reported [ns]."""
        self._sent: deque[int] = deque(maxlen=SENT_KEPT)
        """When the commands were sent that are later than the last such report [ns]."""
        self._announced: deque[tuple[np.ndarray, np.ndarray]] = deque(maxlen=PATHS_KEPT)
        """Least and greatest joint values on announced stop trajectories."""
        self._run: tuple[np.ndarray, np.ndarray] | None = None
        """Least and greatest joint values commanded in this run."""
        self._stop: tuple[np.ndarray, np.ndarray] | None = None
        """Least and greatest joint values that a stop may command; None while there is none."""
        self._stamp: int | None = None
        self._q = np.zeros(len(self.names))
        self._velocity: np.ndarray | None = None
        self._step = period

    # -- context of the commands

    def arm_says(self, values: Mapping[str, float]) -> None:
        """Note a state of the arm: a run may begin there."""
        here = self._said[-1] if self._said else self._q
        said = np.array([values.get(name, q) for name, q in zip(self.names, here, strict=True)])
        said = np.where(np.isfinite(said), said, here)
        self._said.append(said)

    def is_announced(self, points: Sequence[Sequence[float]]) -> None:
        """Note a stop trajectory that was sent: a run may begin on it."""
        path = np.array(points, dtype=np.float64)
        self._announced.append((path.min(axis=0), path.max(axis=0)))

    def arm_holds(self, may_go_back: bool) -> None:
        """
        Note a report that the arm holds still.

        Parameters
        ----------
        may_go_back : bool
            Whether it is one that does not follow, to which commands may come back.

        """
        if self._stop is not None or self._stamp is None:
            return
        velocity = np.zeros_like(self._q) if self._velocity is None else self._velocity
        reach = BRAKING * np.abs(velocity).max() + 0.5 * self._acceleration * NOTICE**2
        least, greatest = self._q, self._q
        if may_go_back and self._run is not None:
            least, greatest = self._run
        self._stop = np.minimum(least, self._q) - reach, np.maximum(greatest, self._q) + reach

    def arm_goes_on(self) -> None:
        """Note a report that the arm does not hold."""
        self._stop = None

    def arm_is_at_target(self, position: float, orientation: float) -> None:
        """Note a report that the arm is at its target, within tolerances [m, rad]."""
        if self._frames is None or not self._said or self._stamp is None:
            return
        (points, turns) = self._frames(self._q)
        errors = []
        for said in list(self._said)[-STATES_OF_A_REPORT:]:
            places, rotations = self._frames(said)
            distance = float(np.linalg.norm(places[-1] - points[-1]))
            errors.append((distance / position, _angle(rotations[-1], turns[-1]) / orientation))
        if min(map(max, errors)) > 1.0 + 1e-6:
            self._complain(f'at the target, but {min(errors)} tolerances away from the commands')

    def path_waits(self, asked: Hashable, sent: int) -> None:
        """
        Note a report of whether a path waits to be confirmed.

        No command may be sent between two reports that one waits, unless something else was asked
        for meanwhile. What counts is when they were sent: they may come in any other order.

        Parameters
        ----------
        asked : hashable
            All that was asked for so far; None where no path waits.
        sent : int
            System time at which the report was sent [ns].

        """
        if asked is None:
            self._waits = None
        elif self._waits is None or self._waits[0] != asked:
            self._waits = asked, sent
        elif any(self._waits[1] < time < sent for time in self._sent):
            self._complain('came while a path waits to be confirmed')
            self._waits = asked, sent
        self._sent = deque((time for time in self._sent if time > sent), maxlen=SENT_KEPT)

    def bounds_may_change(self, bounds: Bounds) -> None:
        """Allow the old bounds and these, from now on."""
        self._next = bounds if self._next is None else bounds.or_else(self._next)

    def bounds_have_changed(self, bounds: Bounds) -> None:
        """Allow only these bounds, from now on."""
        self._next = None
        self._acceleration = np.maximum(self._acceleration, bounds.acceleration)
        self._tip_limits = np.maximum(self._tip_limits, [bounds.tip_speed, bounds.tip_rotation])
        self._bounds = bounds

    def clock_may_go_back(self) -> None:
        """Allow the stamps to go back once more."""
        self._jumps_back += 1

    # -- commands

    def check(
        self, names: Sequence[str], stamp: int, values: Sequence[float], sent: int = 0
    ) -> None:
        """Check a command with a stamp [ns], sent at a system time [ns]: see `path_waits`."""
        self.count += 1
        self._sent.append(sent)
        self.recent.append((stamp, values))
        q = np.array(values, dtype=np.float64)
        if tuple(names) != self.names or q.shape != self._q.shape:
            self._complain(f'joints {list(names)} with {q.size} values')
        elif not np.isfinite(q).all():
            self._complain(f'not finite: {q}')
        else:
            self._check_step(stamp, q)

    def _check_step(self, stamp: int, q: np.ndarray) -> None:
        step = None if self._stamp is None else 1e-9 * (stamp - self._stamp)
        if step is not None and step <= 0.0:
            step = self._step_back(step)
        bounds = self._bounds if self._next is None else self._bounds.or_else(self._next)
        if step is None or step > self.pause:
            self._begin_run(q, step, bounds)
        else:
            self.late += step > 1.5 * self.period
            self._check_limits(q, self._q, bounds)
            self._check_motion(q, step, bounds)
        self._stamp, self._q = stamp, q
        least, greatest = self._run or (q, q)
        self._run = np.minimum(least, q), np.maximum(greatest, q)
        if self._stop is not None and (np.any(q < self._stop[0]) or np.any(q > self._stop[1])):
            self._complain(f'the stop travels to {q}, beyond {self._stop}')
            self._stop = None

    def _step_back(self, step: float) -> float | None:
        """Length of a step to an earlier stamp: a period during a motion, else a pause."""
        if self._jumps_back == 0:
            self._complain(f'stamps go from {self._stamp} by {step:.9f} s')
        self._jumps_back = max(0, self._jumps_back - 1)
        moves = self._velocity is not None and np.any(self._velocity)
        return self.period if moves else None

    def _begin_run(self, q: np.ndarray, pause: float | None, bounds: Bounds) -> None:
        self.runs += 1
        velocity = np.zeros_like(q) if self._velocity is None else self._velocity
        self._velocity, self._step, self._run, self._stop = None, self.period, None, None
        if not np.any(velocity):  # else it stalled, and may go on under the limits it had
            self._rest(bounds)
        if self._knows_states:
            self._check_start(q, bounds, velocity)
            return
        self._check_limits(q, q, bounds)
        if pause is not None:
            self._check_velocity((q - self._q) / pause, q, pause)

    def _check_start(self, q: np.ndarray, bounds: Bounds, velocity: np.ndarray) -> None:
        if not self._said:
            self._complain(f'a command before any state: {q}')
            return
        if self._stamp is not None and np.abs(q - self._q).max() <= ROUNDING:
            return  # the last command once more, as where a clock leapt: nothing moves
        paths = (np.clip(q, *ends) for ends in self._announced)
        # A motion that stalled goes on from its last command, as fast as it was.
        stalled = [self._q, self._q + velocity * self.period] if np.any(velocity) else []
        places = np.array([*self._said, *paths, *stalled])
        self._check_limits(q, np.clip(q, places.min(axis=0), places.max(axis=0)), bounds)
        # The first step from rest: the acceleration for one period.
        reach = self._nearby + bounds.acceleration * self.period**2 + ROUNDING
        gaps = np.abs(places - q).min(axis=0)  # each joint on its own: states are merged by name
        if np.any(gaps > reach):
            self._complain(f'a run begins {gaps.max():.6f} from anything the arm said')

    def _check_limits(self, q: np.ndarray, before: np.ndarray, bounds: Bounds) -> None:
        if not self._knows_states:
            before = np.clip(before, bounds.lower, bounds.upper)
        lower = np.minimum(bounds.lower, before) - ROUNDING
        upper = np.maximum(bounds.upper, before) + ROUNDING
        for j in np.flatnonzero((q < lower) | (q > upper)):
            self._complain(
                f'{self.names[j]} goes from {before[j]!r} to {q[j]!r}, '
                f'outside [{bounds.lower[j]}, {bounds.upper[j]}]'
            )

    def _check_motion(self, q: np.ndarray, step: float, bounds: Bounds) -> None:
        velocity = (q - self._q) / step
        braked = self._fastest - 0.5 * self._acceleration * step
        self._fastest = np.maximum(bounds.velocity, braked)
        rounding = self._check_velocity(velocity, q, step)
        if self._velocity is not None:
            length = 0.5 * (step + self._step)
            acceleration = (velocity - self._velocity) / length
            most = np.maximum(self._acceleration, bounds.acceleration) * (1.0 + 1e-4)
            self._compare('acceleration', acceleration, most + 3.0 * rounding / length, step)
        if self._frames is not None:
            self._check_tips(self._frames, q, step, bounds)
        self._velocity, self._step = velocity, step
        if not np.any(velocity):
            self._rest(bounds)

    def _check_velocity(self, velocity: np.ndarray, q: np.ndarray, step: float) -> np.ndarray:
        """Compare a velocity with its limit; return its rounding error, shape (n,)."""
        rounding = 4.0 * np.spacing(np.abs(q)) / step
        self._compare('velocity', velocity, self._fastest * (1.0 + 1e-6) + rounding, step)
        return rounding

    def _check_tips(self, frames: Frames, q: np.ndarray, step: float, bounds: Bounds) -> None:
        """Compare chords and angles between two commands with the limits of tips and centres."""
        (points, turns), (points_before, turns_before) = frames(q), frames(self._q)
        speed = np.linalg.norm(points - points_before, axis=-1).max() / step
        chord = np.linalg.norm(turns - turns_before, axis=(-2, -1)).max()
        turning = 2.0 * math.asin(min(1.0, chord / math.sqrt(8.0))) / step
        most = np.maximum(self._tip_limits, [bounds.tip_speed, bounds.tip_rotation])
        rounding = 4.0 * np.spacing(1.0 + np.abs(q).max()) * len(q) / step
        share = np.array([speed, turning]) / (most + rounding)
        self.worst['tip'] = max(self.worst['tip'], float(share.max()))
        if share.max() > 1.0 + TIP_EXCESS:
            self._complain(
                f'a tip or joint centre at {speed:.6f} m/s, a tip that turns at {turning:.6f} '
                f'rad/s, at most {most} in a step of {step:.6f} s'
            )

    def _rest(self, bounds: Bounds) -> None:
        self._acceleration, self._fastest = bounds.acceleration, bounds.velocity
        self._tip_limits = np.array([bounds.tip_speed, bounds.tip_rotation])

    def _compare(self, what: str, values: np.ndarray, most: np.ndarray, step: float) -> None:
        share = np.abs(values) / most
        j = int(np.argmax(share))
        self.worst[what] = max(self.worst[what], float(share[j]))
        if share[j] > 1.0:
            self._complain(
                f'{what} {values[j]:.6f} of {self.names[j]}, at most {most[j]:.6f}, '
                f'in a step of {step:.6f} s'
            )

    def _complain(self, what: str) -> None:
        self.violation_count += 1
        if len(self.violations) < VIOLATIONS_KEPT:
            self.violations.append(f'command {self.count}: {what}')


def _angle(R: np.ndarray, R_other: np.ndarray) -> float:
    chord = float(np.linalg.norm(R - R_other))
    return 2.0 * math.asin(min(1.0, chord / math.sqrt(8.0)))


# -- recorded commands


def velocities(times: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Divided differences of the values, shape (m, n), at times, shape (m,)."""
    return np.diff(values, axis=0) / np.diff(times)[:, None]


def accelerations(times: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Second divided differences of the values, shape (m, n), at times, shape (m,)."""
    steps = np.diff(times)
    return np.diff(velocities(times, values), axis=0) / (0.5 * (steps[1:] + steps[:-1]))[:, None]


def runs(
    times: np.ndarray, values: np.ndarray, longest: float
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Split where more than `longest` seconds lie between two times."""
    ends = np.flatnonzero(np.diff(times) > longest) + 1
    return list(zip(np.split(times, ends), np.split(values, ends), strict=True))
