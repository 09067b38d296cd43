"""Commands that come in jerks, played out evenly a little later."""

from collections import deque

import numpy as np

from ..transforms import Array

RECOVERY, MOST_NEEDLESS = 0.02, 0.1
"""Share of a needless delay that is taken off with each command; a longer one [s] is not left at
all: then the sender's clock has jumped."""
ROUNDING = 1e-6
"""Stamps are rounded to less than this [s]: no sooner after the last command the arm stands."""
LEAST_GAP = 5e-4
"""Commands that are due sooner after one another [s] are no measure of a velocity."""


class Playout:
    """
    What a drive is told between commands.

    Commands are due a fixed delay after they were sent, as their stamps tell, and the way from
    one to the next is straight. So those that arrive late, early or in pairs move the arm no less
    evenly, as long as each is there when the one before it is met; when they cease, the arm stays
    at the last. The delay has to be longer than the time between two commands.

    Parameters
    ----------
    delay : float
        From the first command of a stream to when it is met [s].
    q : array, shape (n,)
        Where the arm stands.

    """

    def __init__(self, delay: float, q: Array) -> None:
        self._delay = delay
        self._offset = 0.0
        self._way: deque[tuple[float, Array]] = deque([(-np.inf, np.array(q))])

    @property
    def last(self) -> Array:
        """The newest command, shape (n,)."""
        return self._way[-1][1]

    def add(self, q: Array, stamp: float, now: float) -> None:
        """
        Take a command.

        Parameters
        ----------
        q : array, shape (n,)
            Joint values; this array is kept.
        stamp : float
            When it was sent, by any steady clock [s].
        now : float
            Time of the simulation [s].

        """
        if self._way[-1][0] < now:  # it has stood there since
            self._way = deque([(now, self.last)])
        due = stamp + self._offset
        if not self._way[-1][0] < due <= now + self._delay + MOST_NEEDLESS:
            self._begin(now)
            due = now + self._delay
            self._offset = due - stamp
        # It came sooner than the first of the stream, or than the one that was late.
        self._offset -= RECOVERY * max(0.0, due - now - self._delay)
        self._way.append((due, q))

    def _begin(self, now: float) -> None:
        """Forget what is to come: a new stream starts from here."""
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
