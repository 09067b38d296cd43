"""A listener on the command topic who checks every command as it comes; shares no code with it."""

from collections import Counter, deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
import math

import numpy as np

PAUSE, PAUSE_PERIODS = 0.1, 3.0
"""
After a longer pause [s], in periods at slow rates, between two stamps the arm is taken to have
come to rest.
"""
ROUNDING = 1e-9
"""Of joint values that may not pass a limit [rad or m]."""
MOST_KEPT = 20
MEMORY = 20_000
WAYS_KEPT = 50
"""How many states of the arm are looked through for where the commands may begin."""
MOST_SHOWN = 8
TIP_EXCESS = 0.25
"""
Share by which tips and joint centres may exceed their limits: on a line a joint that has to turn
round cannot always brake so soon.
"""

Frames = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]
"""
Tells joint centres and tips, shape (c, 3) [m], and rotations of the tips, shape (k, 3, 3), at
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


class Listener:
    """
    Checks names, numbers, stamps, limits, velocities and accelerations of a stream of commands.

    Velocities and accelerations are divided differences over the stamps, within runs: a pause of
    more than `pause` seconds begins another run, which must begin where the last one ended, where
    the arm was said to be, or on a way to rest that was announced. Position limits may be passed
    by as much as the command before, or by what the arm was said to have passed them when the run
    began, but never outwards.

    Bounds may change on the way. Between the request and the answer, both hold. A lower velocity
    must be reached by braking with half the acceleration. A lower acceleration counts from the
    next rest or run on: it cannot be asked of an arm that set out with more, as that may need it
    to stop in time. So do lower limits of tips: how long it takes to brake into them depends on
    the path.

    Parameters
    ----------
    names : sequence of str
        Names of the joints, as they must come.
    bounds : Bounds
        What they may do.
    period : float
        Time between commands [s].
    frames : callable, optional
        Where tips and joint centres are; else their speeds are not checked.

    """

    def __init__(
        self, names: Sequence[str], bounds: Bounds, period: float, frames: Frames | None = None
    ) -> None:
        self.names = tuple(names)
        self.period = period
        self.pause = max(PAUSE, PAUSE_PERIODS * period)
        self.heard = 0
        self.runs = 0
        self.late = 0
        """Steps that took more than one and a half periods."""
        self.worst = Counter({'velocity': 0.0, 'acceleration': 0.0, 'tip': 0.0})
        """Greatest shares of the limits that were used."""
        self.violations: list[str] = []
        """What was wrong, in words: the first of it."""
        self._bounds = bounds
        self._next: Bounds | None = None
        self._acceleration = bounds.acceleration
        self._fastest = bounds.velocity
        self._frames = frames
        self._tip_limits = np.array([bounds.tip_speed, bounds.tip_rotation])
        self._jumps_back = 0
        self.recent: deque[tuple[int, Sequence[float]]] = deque(maxlen=MOST_SHOWN)
        """Stamps and joint values of the last commands."""
        self._said: deque[np.ndarray] = deque(maxlen=MEMORY)
        self._announced: deque[tuple[np.ndarray, np.ndarray]] = deque(maxlen=WAYS_KEPT)
        """Least and greatest joint values on ways to rest."""
        self._stamp: int | None = None
        self._q = np.zeros(len(self.names))
        self._velocity: np.ndarray | None = None
        self._step = period

    # -- what is known from elsewhere

    def arm_says(self, values: Mapping[str, float]) -> None:
        """Take note of where the arm says that it is: commands may begin there."""
        here = self._said[-1] if self._said else self._q
        said = np.array([values.get(name, q) for name, q in zip(self.names, here, strict=True)])
        said = np.where(np.isfinite(said), said, here)
        if not self._said or np.any(said != here):
            self._said.append(said)

    def is_announced(self, points: Sequence[Sequence[float]]) -> None:
        """Take note of a way to rest that was sent as a trajectory: commands may begin on it."""
        way = np.array(points, dtype=np.float64)
        self._announced.append((way.min(axis=0), way.max(axis=0)))

    def bounds_may_change(self, bounds: Bounds) -> None:
        """From now on these hold, or those before."""
        self._next = bounds if self._next is None else bounds.or_else(self._next)

    def bounds_have_changed(self, bounds: Bounds) -> None:
        """From now on only these hold."""
        self._next = None
        self._acceleration = np.maximum(self._acceleration, bounds.acceleration)
        self._tip_limits = np.maximum(self._tip_limits, [bounds.tip_speed, bounds.tip_rotation])
        self._bounds = bounds

    def clock_may_go_back(self) -> None:
        """Stamps may go back once more."""
        self._jumps_back += 1

    # -- what is heard

    def hear(self, names: Sequence[str], stamp: int, values: Sequence[float]) -> None:
        """Check a command with a stamp in [ns]."""
        self.heard += 1
        self.recent.append((stamp, values))
        q = np.array(values, dtype=np.float64)
        if tuple(names) != self.names or q.shape != self._q.shape:
            self._complain(f'joints {list(names)} with {q.size} values')
        elif not np.isfinite(q).all():
            self._complain(f'not finite: {q}')
        else:
            self._check(stamp, q)

    def _check(self, stamp: int, q: np.ndarray) -> None:
        step = None if self._stamp is None else 1e-9 * (stamp - self._stamp)
        if step is not None and step <= 0.0:
            step = self._step_back(step)
        bounds = self._bounds if self._next is None else self._bounds.or_else(self._next)
        if step is None or step > self.pause:
            self._begin_run(q, bounds)
        else:
            self.late += step > 1.5 * self.period
            self._check_limits(q, self._q, bounds)
            self._check_motion(q, step, bounds)
        self._stamp, self._q = stamp, q

    def _step_back(self, step: float) -> float | None:
        """Tell what a step to an earlier stamp counts for: a period on the way, else a pause."""
        if self._jumps_back == 0:
            self._complain(f'stamps go from {self._stamp} by {step:.9f} s')
        self._jumps_back = max(0, self._jumps_back - 1)
        moves = self._velocity is not None and np.any(self._velocity)
        return self.period if moves else None

    def _begin_run(self, q: np.ndarray, bounds: Bounds) -> None:
        self.runs += 1
        self._velocity, self._step = None, self.period
        self._rest(bounds)
        places = np.array([*self._said, *([] if self._stamp is None else [self._q])])
        if len(places) == 0:
            self._complain(f'a command before any state: {q}')
            return
        places = np.array([*places, *(np.clip(q, *ends) for ends in self._announced)])
        self._check_limits(q, np.clip(q, places.min(axis=0), places.max(axis=0)), bounds)
        # The first step from rest: at most the acceleration for a period, or for the longest
        # that is no pause.
        reach = bounds.acceleration * self.period**2 + ROUNDING
        gaps = np.abs(places - q).min(axis=0)  # each joint on its own: states are merged by name
        if np.any(gaps > reach):
            self._complain(f'a run begins {gaps.max():.6f} from anything the arm said')

    def _check_limits(self, q: np.ndarray, before: np.ndarray, bounds: Bounds) -> None:
        lower = np.minimum(bounds.lower, before) - ROUNDING
        upper = np.maximum(bounds.upper, before) + ROUNDING
        for j in np.flatnonzero((q < lower) | (q > upper)):
            self._complain(
                f'{self.names[j]} goes from {before[j]!r} to {q[j]!r}, '
                f'outside [{bounds.lower[j]}, {bounds.upper[j]}]'
            )

    def _check_motion(self, q: np.ndarray, step: float, bounds: Bounds) -> None:
        velocity = (q - self._q) / step
        rounding = 4.0 * np.spacing(np.abs(q)) / step
        braked = self._fastest - 0.5 * self._acceleration * step
        self._fastest = np.maximum(bounds.velocity, braked)
        self._compare('velocity', velocity, self._fastest * (1.0 + 1e-6) + rounding, step)
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
        if len(self.violations) < MOST_KEPT:
            self.violations.append(f'command {self.heard}: {what}')
