"""What can be read off a log: tracking errors, limits used, stops and latencies."""

from dataclasses import dataclass
import math

import numpy as np

from ..transforms import Array
from .motion_log import MotionLog, Samples, SILENCE

LONGEST_LAG, LAG_STEP = 0.5, 0.001
"""Delays that are tried [s]."""
MOST_SAMPLES = 5000
"""So many measured states are compared to find the delay."""
MOVED = 1e-3
"""Commands that span less tell no delay [rad or m]."""
LONGEST_ANSWER = 2.0
"""A command that comes later does not answer a target [s]."""
STOPPED = 'HOLDING'


@dataclass(frozen=True, eq=False)
class Tracking:
    """How the measured arm followed its commands, while there were any."""

    times: Array
    """When it was measured, shape (m,) [s]."""
    error: Array
    """Measured less commanded values then, shape (m, n) [rad or m]."""
    lag: float
    """Delay of the arm by which the error is least [s]; NaN where nothing moved."""

    @property
    def rms(self) -> Array:
        """Root of the mean square of each joint, shape (n,); NaN where it was not measured."""
        return np.array([np.sqrt(np.mean(e**2)) if e.size else np.nan for e in self._known])

    @property
    def worst(self) -> Array:
        """Largest error of each joint, shape (n,); NaN where it was not measured."""
        return np.array([np.max(np.abs(e)) if e.size else np.nan for e in self._known])

    @property
    def _known(self) -> list[Array]:
        return [column[np.isfinite(column)] for column in self.error.T]


@dataclass(frozen=True, eq=False)
class LimitsUsed:
    """Shares of the limits that the commands used, each of shape (n,) [1]; NaN: no such limit."""

    velocity: Array
    acceleration: Array


@dataclass(frozen=True)
class Event:
    """A change of the state of the node, or of its reason."""

    time: float
    """[s]."""
    state: str
    code: str
    reason: str

    @property
    def is_stop(self) -> bool:
        """Whether the arm holds from then on."""
        return self.state == STOPPED


def tracking(log: MotionLog) -> Tracking:
    """Compare measured values with the commands of the same time, by when both came."""
    runs = _runs(log.commands)
    times, error = _errors(runs, log.states, 0.0)
    return Tracking(times, error, _lag(runs, log.states))


def _runs(commands: Samples) -> list[tuple[Array, Array]]:
    """List when the commands of each run came, shape (m,) [s], and their values, shape (n, m)."""
    return [
        (commands.heard[run], np.ascontiguousarray(commands.q[run].T)) for run in commands.runs()
    ]


def _errors(runs: list[tuple[Array, Array]], states: Samples, lag: float) -> tuple[Array, Array]:
    found = [(np.empty(0), np.empty((0, states.q.shape[1])))]
    then = states.heard - lag
    for heard, values in runs:
        during = (heard[0] <= then) & (then <= heard[-1])
        commanded = [np.interp(then[during], heard, value) for value in values]
        found.append((states.heard[during], states.q[during] - np.stack(commanded, axis=-1)))
    times, errors = zip(*found, strict=True)
    return np.concatenate(times), np.concatenate(errors)


def _lag(runs: list[tuple[Array, Array]], states: Samples) -> float:
    step = 1 + len(states.heard) // MOST_SAMPLES
    some = Samples(*(part[::step] for part in (states.heard, states.stamps, states.q)))
    if not any(np.any(np.ptp(values, axis=1) > MOVED) for _, values in runs):
        return math.nan
    lags = np.arange(0.0, LONGEST_LAG + 0.5 * LAG_STEP, LAG_STEP)
    squares = []
    for lag in lags.tolist():
        known = _errors(runs, some, lag)[1]
        known = known[np.isfinite(known)]
        squares.append(float(np.mean(known**2)) if known.size else math.inf)
    least = int(np.argmin(squares))
    return float(lags[least]) if math.isfinite(squares[least]) else math.nan


def limits_used(log: MotionLog) -> LimitsUsed:
    """Tell the shares of the limits that the commands used, by differences over their stamps."""
    n = len(log.joints)
    fastest, hardest = np.zeros(n), np.zeros(n)
    for run in log.commands.runs():
        stamps, first = np.unique(log.commands.stamps[run], return_index=True)
        if len(stamps) < 2:
            continue
        dt = np.diff(stamps)
        velocity = np.diff(log.commands.q[run][first], axis=0) / dt[:, None]
        fastest = np.maximum(fastest, np.abs(velocity).max(axis=0))
        if len(dt) > 1:
            change = np.diff(velocity, axis=0) / (0.5 * (dt[1:] + dt[:-1]))[:, None]
            hardest = np.maximum(hardest, np.abs(change).max(axis=0))
    return LimitsUsed(_shares(fastest, log.velocity), _shares(hardest, log.acceleration))


def _shares(used: Array, limits: Array) -> Array:
    shares = np.full(len(limits), np.nan)
    np.divide(used, limits, out=shares, where=limits > 0.0)
    return shares


def events(log: MotionLog) -> list[Event]:
    """List the changes of the state and of what it is for, from the first status on."""
    found: list[Event] = []
    for status in log.statuses:
        facts = status.facts
        state, code = facts.get('state', ''), facts.get('reason_code', '')
        if not found or (state, code) != (found[-1].state, found[-1].code):
            found.append(Event(status.heard, state, code, facts.get('reason', '')))
    return found


def answer_times(log: MotionLog) -> Array:
    """
    Measure the times from targets to the first command after them [s].

    Only targets count that came in silence: to others the next command is no answer.
    """
    heard, found = log.commands.heard, []
    for target in log.targets:
        later = int(np.searchsorted(heard, target.heard, side='right'))
        was_silent = later == 0 or target.heard - heard[later - 1] > SILENCE
        if was_silent and later < len(heard) and heard[later] - target.heard <= LONGEST_ANSWER:
            found.append(float(heard[later] - target.heard))
    return np.array(found)
