"""Commands that come in jerks, played out evenly a little later."""

from collections import deque
from collections.abc import Mapping, Sequence

import numpy as np

from ..transforms import Array

RECOVERY, HASTE = 0.02, 0.2
"""Share of an unnecessary delay removed with each command; at most of the time between two [1]."""
MOST_NEEDLESS = 0.5
"""A longer unnecessary delay restarts the stream: the sender's clock has jumped [s]."""
ROUNDING = 1e-6
"""Largest rounding error of a stamp; the arm stands this long after the last command [s]."""
LEAST_GAP = 5e-4
"""Shortest time between commands from which a velocity is computed [s]."""


class Playout:
    """
    Set point of a drive between commands.

    A command is reached a fixed delay after its stamp, straight from the one before. So the motion
    is no less uniform when commands come late, early or in pairs, as long as each comes before its
    predecessor is reached. When they cease, the arm stays at the last one. The delay has to be
    longer than the time between two commands.

    Parameters
    ----------
    delay : float
        Time from the first command of a stream until it is reached [s].
    q : array, shape (n,)
        Where the arm stands.

    """

    def __init__(self, delay: float, q: Array) -> None:
        self._delay = delay
        self._offset = 0.0
        self._way: deque[tuple[float, Array]] = deque([(-np.inf, np.array(q))])

    def of(self, places: Sequence[int]) -> 'Playout':
        """Return the same for some of the values alone."""
        some = Playout(self._delay, np.empty(0))
        some._offset = self._offset
        some._way = deque((due, q[list(places)]) for due, q in self._way)
        return some

    def add(self, q: Array, stamp: float, now: float) -> None:
        """
        Take a command.

        Parameters
        ----------
        q : array, shape (n,)
            Joint values; this array is kept.
        stamp : float
            Time of sending, by any steady clock [s].
        now : float
            Time of the simulation [s].

        """
        due = stamp + self._offset
        stands = self._way[-1][0] + ROUNDING < now
        if stands or not self._way[-1][0] < due <= now + self._delay + MOST_NEEDLESS:
            self._begin(now)
            due = now + self._delay
            self._offset = due - stamp
        # It came sooner than the first of the stream, or than the one that was late.
        needless = max(0.0, due - now - self._delay)
        self._offset -= min(RECOVERY * needless, HASTE * (due - self._way[-1][0]))
        self._way.append((due, q))

    def _begin(self, now: float) -> None:
        """Drop the commands that are not reached yet: a new stream starts from here."""
        q, _ = self.at(now)
        self._way = deque([(now, q)])

    def at(self, now: float) -> tuple[Array, Array]:
        """
        Tell where to be, and how fast to move; for times that do not go back.

        Returns
        -------
        array, shape (n,)
            Joint values.
        array, shape (n,)
            Joint velocities.

        """
        while len(self._way) > 2 and self._way[1][0] <= now:
            self._way.popleft()
        if len(self._way) == 2 and self._way[1][0] + ROUNDING <= now:
            self._way.popleft()
        (begin, q), *ahead = self._way
        if not ahead:
            return q, np.zeros_like(q)
        end, q_end = ahead[0]
        velocity = (q_end - q) / max(end - begin, LEAST_GAP)
        return q + velocity * (min(now, end) - begin), velocity


class Playouts:
    """
    Set points of all drives: the joints that a message names are played out on their own.

    So the messages to an arm and those to its gripper do not disturb each other, whenever they
    come. A joint belongs to the newest message that names it.

    Parameters
    ----------
    delay : float
        As of `Playout` [s].
    q : array, shape (n,)
        Where the drives stand.

    """

    def __init__(self, delay: float, q: Array) -> None:
        self._delay, self._q = delay, np.array(q)
        self._streams: dict[tuple[int, ...], Playout] = {}
        """Playouts by the places of their joints; no two have the same joint."""

    def add(self, values: Mapping[int, float], stamp: float, now: float) -> None:
        """Take a command, joint values by their places, as `Playout` does."""
        joints = tuple(values)
        if joints not in self._streams:
            self._begin(joints, now)
        self._streams[joints].add(np.array(list(values.values())), stamp, now)

    def _begin(self, joints: tuple[int, ...], now: float) -> None:
        """Let joints be together from now on, and no more with others."""
        q, _ = self.at(now)
        for others, stream in list(self._streams.items()):
            left = [k for k, joint in enumerate(others) if joint not in joints]
            if len(left) < len(others):
                del self._streams[others]
                if left:
                    self._streams[tuple(others[k] for k in left)] = stream.of(left)
        self._streams[joints] = Playout(self._delay, q[list(joints)])

    def at(self, now: float) -> tuple[Array, Array]:
        """Tell where all joints are to be, and how fast to move, as `Playout` does."""
        q, velocity = self._q.copy(), np.zeros(len(self._q))
        for joints, stream in self._streams.items():
            places = list(joints)
            q[places], velocity[places] = stream.at(now)
        return q, velocity
