"""
A resting arm: where it settled after its last motion, and how far it was moved since.

An arm that sags rests below its last command. That offset stays when the arm sets out again: else
it would dip at every start. Whatever comes later is the work of somebody who moved the arm.

"""

from collections import deque
from itertools import islice
import math

import numpy as np

from ...transforms import Array

CALM_TIME = 0.03
"""An arm that stands still for so long has settled [s]."""
FEWEST_VALUES = 3
"""Measurements that show that it stands still [1]."""
CALM = 1e-3
"""Largest differences of measurements of an arm that stands still [rad or m]."""
CREEP, CREEP_TIME = 2e-4, 0.2
"""An arm that creeps on by less than this in this time has come to rest [rad or m], [s]."""
SURE_TO_CREEP = 0.5
"""Time in which an arm may go on to come nearer though it stood still for a moment [s]."""
DRIFT_TIME = 0.2
"""Time over which the speed is taken at which an arm comes to rest [s]."""
SLOWEST = 1.0
"""Time constant of the slowest arm, which creeps on as it comes to rest [s]."""
LONGEST_SETTLING = 1.5
"""An arm that is not calm after this time counts as settled: it trembles, or is noisy [s]."""
NOISE_MARGIN = 1.5
"""Noise is at most so many times what came and went lately [1]."""
MOST_NOISE = 0.02
"""Greatest noise; beyond, the arm is moved, or its measurements do not agree [rad or m]."""
HAND_SPEED, JITTER = 1.0, 0.02
"""
Hands move a joint no faster than this [rad/s or m/s], in a time between measurements that may be
longer than it seems by this [s].
"""
MOST_SINKING = 0.03
"""An arm that comes to rest moves no farther away from its last command by itself [rad or m]."""
LEAP_DOUBT = 0.25
"""Time for which an arm that moved faster may not be there: another source may deny it [s]."""
CLEARLY = 5e-3
"""What is moved by so much more than noise was moved by hand [rad or m]."""
NOISE_TIME = 0.5
"""Time over which the mean of a noisy arm is taken [s]."""


class RestingArm:
    """
    Watches an arm that rests at its last command.

    Attributes
    ----------
    began : float
        When the arm was sent its last command [s]; inf while it moves.

    """

    def __init__(self) -> None:
        self._values: deque[tuple[float, Array]] = deque()
        self._leapt_at = -math.inf
        """Time at which it was last measured where no hand moves it so fast [s]."""
        self.forget()

    def forget(self) -> None:
        """Take note that the arm moves."""
        self._values.clear()
        self._begin_anew()

    def _begin_anew(self) -> None:
        self.began = self._since = math.inf
        self._command: Array | None = None
        self._first: Array | None = None
        """
        Joint values measured when it was sent its last command, shape (n,); None if not known.
        """
        self._settled: Array | None = None
        self._drift: Array | float = 0.0
        """Farthest drift on as it comes to rest, with its sign [rad or m]."""
        self._crept_at = -math.inf
        """Time at which it last drifted on, or came nearer to its last command [s]."""
        self._threshold: Array | float = 2.0 * CALM

    def begin(self, now: float, delay: float, q_command: Array, q: Array | None) -> None:
        """
        Take note that the arm has got its last command.

        Parameters
        ----------
        now : float
            The time [s].
        delay : float
            Time from a command until the arm is to be there [s].
        q_command : array, shape (n,)
            The command [rad or m].
        q : array, shape (n,), or None
            Where an arm that has moved is measured by now [rad or m]; None where that is not
            known, or it has not moved: then it may sag by any length.

        """
        self.forget()
        self._rest_at(now, delay, q_command)
        self._first = q

    def _rest_at(self, now: float, delay: float, q_command: Array) -> None:
        self.began, self._since, self._command = now, now + delay, q_command

    def stand(self, now: float, q_command: Array, q: Array) -> None:
        """Take note that an arm measured at `q` rests, and will be commanded to start there."""
        self._begin_anew()
        self._rest_at(now, -math.inf, q_command)
        self._settled, self._threshold = q, self._noise

    def add(self, now: float, q: Array, has_jumped: bool) -> None:
        """
        Take a measurement of an arm that does not move.

        Parameters
        ----------
        now : float
            The time [s].
        q : array, shape (n,)
            Measured joint values, continuous ones near the last command [rad or m].
        has_jumped : bool
            Whether a joint has been somewhere else at once since the arm rests.

        """
        leaps = bool(self._values) and self._leaps(now, q, *self._values[-1])
        if leaps:
            self._leapt_at = now
        self._values.append((now, q))
        while not 0.0 <= now - self._values[0][0] <= NOISE_TIME:
            self._values.popleft()
        if self._command is None:
            return
        if now < self.began:  # the clock was set back
            self._rest_at(now, self._since - self.began, self._command)
        if self._settled is not None:
            if now - self._crept_at <= CREEP_TIME or now - self._since <= SURE_TO_CREEP:
                self._creep(now, self._command, self._settled, q)
            else:
                self._look_whether_it_sags(now, self._command, self._settled)
        elif has_jumped or (leaps and self._goes_away(self._command)):
            before = self._values[-2][1] if len(self._values) > 1 else self._command
            self._settle(now, [before])
        elif now >= self._since:
            self._look_whether_settled(now)

    @property
    def has_settled(self) -> bool:
        """Whether the arm stood still since it has got its last command."""
        return self._settled is not None

    @property
    def is_calm(self) -> bool:
        """Whether the newest measurements agree with each other, but for noise, and stay so."""
        if self._values and 0.0 <= self._values[-1][0] - self._leapt_at <= LEAP_DOUBT:
            return False
        if len(self._values) < FEWEST_VALUES or not (self.has_settled or self._is_unknown):
            return True
        newest = [q for _, q in islice(reversed(self._values), FEWEST_VALUES)]
        most = np.maximum(self._noise, self._threshold)
        return bool(np.all(np.ptp(newest, axis=0) <= most))

    @property
    def _is_unknown(self) -> bool:
        """Whether the arm was not sent anywhere yet."""
        return self._command is None

    @property
    def _noise(self) -> Array | float:
        """Distance of measurements from each other by noise, before the newest [rad or m]."""
        before = [q for _, q in self._values][:-FEWEST_VALUES]
        if len(before) < FEWEST_VALUES:
            return 2.0 * CALM
        steps = np.diff(before, axis=0)
        comes_back = steps[1:] * steps[:-1] < 0.0  # what goes on is no trembling
        trembling = np.where(comes_back, np.minimum(*np.abs([steps[1:], steps[:-1]])), 0.0)
        most = NOISE_MARGIN * trembling.max(axis=0)
        noise: Array = np.clip(CALM + most, 2.0 * CALM, MOST_NOISE)
        return noise

    def is_settling(self, now: float) -> bool:
        """Whether a slow arm may still be on its way to the last command `now` [s]."""
        return now - self._since <= LONGEST_SETTLING

    def moved(self, q: Array) -> Array | None:
        """
        Displacement of the arm since it settled, shape (n,) [rad or m].

        Zero for joints that are within noise of where they settled; None where it has not settled.
        """
        if self._settled is None:
            return None
        away = q - self._settled
        moved: Array = np.where(np.abs(away) > self._threshold, away, 0.0)
        return moved

    @property
    def was_clearly_moved(self) -> bool:
        """Whether the mean of the newest measurements is away from where it settled."""
        if self._settled is None or len(self._values) < FEWEST_VALUES:
            return False
        newest = [q for _, q in islice(reversed(self._values), FEWEST_VALUES)]
        away = np.abs(np.mean(newest, axis=0) - self._settled)
        return bool(np.any(away > self._threshold + CLEARLY))

    def _leaps(self, now: float, q: Array, before: float, q_before: Array) -> bool:
        """Whether no hand moves an arm so fast."""
        farthest = CALM + HAND_SPEED * (max(now - before, 0.0) + JITTER)
        return bool(np.max(np.abs(q - q_before)) > farthest)

    def _goes_away(self, q_command: Array) -> bool:
        """Whether the last step was away from the last command, not of an arm that comes there."""
        if len(self._values) < 2:  # what was before is too old to tell
            return False
        (_, before), (_, q) = self._values[-2], self._values[-1]
        return bool(np.max(np.abs(q - q_command)) > np.max(np.abs(before - q_command)))

    def _newest_if_calm(self, now: float) -> list[Array] | None:
        """Newest measurements of an arm that stands still by them; None where it does not."""
        newest: list[Array] = []
        for time, q in reversed(self._values):
            newest.append(q)
            if len(newest) >= FEWEST_VALUES and now - time >= CALM_TIME:
                return newest if np.max(np.ptp(newest, axis=0)) <= CALM else None
        return None

    def _look_whether_settled(self, now: float) -> None:
        newest = self._newest_if_calm(now)
        if newest is not None:
            since = self._values[-len(newest)][0]
            self._settle(now, newest, SLOWEST * self._speed(min(since, now - DRIFT_TIME)))
        if self._settled is None and now - self._since > LONGEST_SETTLING:
            self._settle(now, [q for _, q in self._values])

    def _look_whether_it_sags(self, now: float, q_command: Array, settled: Array) -> None:
        """Take note of joints that stand still at their last command: they sag no longer."""
        newest = self._newest_if_calm(now)
        if newest is not None:
            q = np.mean(newest, axis=0)
            self._settled = np.where(np.abs(q - q_command) <= CALM, q, settled)

    def _speed(self, since: float) -> Array:
        """Speed of the joints, shape (n,), in measurements since a time [s] [rad/s or m/s]."""
        times, values = zip(*((t, q) for t, q in self._values if t >= since), strict=True)
        away = np.array(times) - np.mean(times)
        speed: Array = away @ np.array(values) / (away @ away)
        return speed

    def _settle(self, now: float, values: list[Array], drift: Array | None = None) -> None:
        """Take an arm to have settled at the mean of measurements, and how far it drifts on."""
        self._crept_at = now
        self._drift = np.zeros_like(values[0]) if drift is None else drift
        self._settled = self._as_it_comes_to_rest(np.mean(values, axis=0))
        self._threshold = np.maximum(2.0 * CALM, CALM + np.ptp(values, axis=0))

    def _as_it_comes_to_rest(self, q: Array) -> Array:
        """
        Joint values, shape (n,), as near to a measurement as the arm can have come by itself.

        An arm that comes to rest is little farther from its last command than when it was sent
        that, as it sags. What is beyond is the work of hands, and shows nothing of a sag.
        """
        if self._command is None or self._first is None:
            return q
        away, before = q - self._command, np.abs(self._first - self._command)
        sags = np.abs(away) <= before + np.maximum(self._noise, MOST_SINKING)
        settled: Array = self._command + np.where(sags, away, np.clip(away, -before, before))
        return settled

    def _creep(self, now: float, q_command: Array, settled: Array, q: Array) -> None:
        """Take note that a slow arm drifts on, or comes nearer to its last command."""
        left, left_before, step = q - q_command, settled - q_command, q - settled
        comes_nearer = (left * left_before >= 0.0) & (np.abs(left) < np.abs(left_before) - CREEP)
        drifts = (step * self._drift > 0.0) & (np.abs(step) <= np.abs(self._drift))
        drifts &= np.abs(step) > CREEP
        creeps = comes_nearer | drifts
        if creeps.any():
            self._settled = self._as_it_comes_to_rest(np.where(creeps, q, settled))
            self._crept_at = now
            self._drift = np.where(drifts, self._drift - step, self._drift)
