"""
The messages that were sent to a controller of trajectories, and which of them it plays.

A controller publishes its reference in every update, and how long the trajectory has been playing:
so when that began, which no two messages have in common. Where it does not say, its place and
velocity tell: all messages are the same curve until the newest one changes it, so the reference
lies on the newest curve while messages come in time. Where one does not, the controller goes on
along the stop of an older message.

"""

from collections import deque
from itertools import chain
from typing import NamedTuple

import numpy as np

from ...transforms import Array
from ..limits.joint_limiter import Checkpoint
from .published_trajectory import MILLISECOND, NANOSECONDS, PublishedTrajectory

SAMPLING = 5e-4
"""
Greatest difference between the stamp of a reference and the time it was sampled for [s].

A controller adds up the periods that it measures; those and its clock differ by what the scheduler
does between two readings of the clock.
"""
ROUNDING = 1e-6
"""Difference of equal references, by interpolation in floating point [rad or m, and per s]."""
REMEMBERED = 1000 * MILLISECOND
"""Time for which messages are remembered that may still be played [ns]."""


class Reference(NamedTuple):
    """Reference of a controller: the state that it wants its joints to be in."""

    time: int
    """[ns]."""
    q: Array
    """Shape (n,) [rad or m]."""
    velocity: Array
    """Shape (n,) [rad/s or m/s]."""
    begin: int | None = None
    """Time of the first point of what it plays [ns]; None where that is not said."""

    @property
    def rests(self) -> bool:
        """Whether it does not move."""
        return bool(np.max(np.abs(self.velocity)) <= ROUNDING)


class Sent(NamedTuple):
    """A message."""

    curve: PublishedTrajectory
    """Trajectory as it was sent."""
    fork: int
    """Time from which the curve differs from that of the message before [ns]."""
    checkpoint: Checkpoint
    """State of the motion that made it."""
    stamp: int
    """Stamp of the newest command in it [ns]."""
    at: int
    """Time at which it was sent [ns]."""


class Echo(NamedTuple):
    """A message that may be heard to be played, by when it begins."""

    begin: int
    """Time of its first point [ns]."""
    message: Sent
    at: int
    """Time at which it was sent, for the first time or again [ns]."""


class SentMessages:
    """
    Remembers the messages of the last second.

    Attributes
    ----------
    given_up : deque of Sent
        Those that were to be played, until the motion went on from an older one. They may still
        arrive.

    """

    def __init__(self) -> None:
        self._sent: deque[Sent] = deque()
        self.given_up: deque[Sent] = deque()
        self._echoes: deque[Echo] = deque()

    def __bool__(self) -> bool:
        return bool(self._sent)

    @property
    def newest(self) -> Sent:
        """The last message."""
        return self._sent[-1]

    def add(self, message: Sent) -> None:
        """Take note of a message that is being sent."""
        self._sent.append(message)
        for sent, least in ((self._sent, 1), (self.given_up, 0)):
            while len(sent) > least and sent[least].fork < message.at - REMEMBERED:
                sent.popleft()

    def expect(self, begin: int, now: int) -> None:
        """Take note that the newest message is sent `now`, and begins at a time [ns]."""
        if self._sent:
            self._echoes.append(Echo(begin, self.newest, now))
        while self._echoes and self._echoes[0].at < now - REMEMBERED:
            self._echoes.popleft()

    def echo(self, reference: Reference, acceleration: Array) -> Echo | None:
        """Tell which message a reference belongs to, where the controller says so."""
        if reference.begin is None:
            return None
        off = round(SAMPLING * NANOSECONDS)
        for echo in reversed(self._echoes):
            if echo.begin <= reference.begin + off:
                is_near = echo.begin >= reference.begin - off
                is_it = is_near and is_on(echo.message.curve, reference, acceleration)
                return echo if is_it else None
        return None

    def give_up(self, base: Sent | None) -> None:
        """Give up what was sent after a message, or everything."""
        later = []
        while self._sent and self._sent[-1] is not base:
            later.append(self._sent.pop())
        self.given_up.extend(reversed(later))

    def following(self, message: Sent) -> Sent | None:
        """Tell which message came after one that was not given up; None if it is the newest."""
        after = None
        for sent in reversed(self._sent):
            if sent is message:
                break
            after = sent
        return after

    def motion_after(self, message: Sent) -> int:
        """Tell how much motion was sent after a message [ns]; following a stop is none."""
        motion = 0
        for sent in reversed(self._sent):
            if sent is message:
                break
            motion += sent.curve.fork - sent.fork
        return motion

    def played(self, reference: Reference, acceleration: Array) -> Sent | None:
        """
        Find the newest message that a reference may belong to.

        Parameters
        ----------
        reference : Reference
            Of the controller.
        acceleration : array, shape (n,)
            Greatest acceleration of the joints [rad/s^2 or m/s^2].

        """
        for message in chain(reversed(self._sent), reversed(self.given_up)):
            if is_on(message.curve, reference, acceleration):
                return message
        return None


def is_on(curve: PublishedTrajectory, reference: Reference, acceleration: Array) -> bool:
    """Whether a reference lies on a curve, but for the time at which it was sampled."""
    state = curve.state_at(reference.time)
    if state is None:
        return False
    q, velocity = state
    speed = np.maximum(np.abs(velocity), np.abs(reference.velocity))
    change = SAMPLING * acceleration
    near = np.abs(reference.q - q) <= SAMPLING * (speed + change) + ROUNDING
    alike = np.abs(reference.velocity - velocity) <= change + ROUNDING
    return bool(np.all(near & alike))


def seconds(duration: int) -> float:
    """Convert a duration [ns] to seconds."""
    return duration / NANOSECONDS
