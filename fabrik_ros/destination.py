"""The goal that an arm pursues: which configuration it takes there, and on which way."""

from .collision.goals import Choice
from .reference import Answer
from .transforms import Array

WAYS_ROUND = 3
"""
So often an arm that stopped in front of a collision sets out again for its goal: another way, or
nearer to a goal that touches, as a fast arm stops early.
"""


class Destination:
    """
    A goal, and what is known of it.

    Parameters
    ----------
    T : array, shape (..., 4, 4)
        Poses of the tips, each in the frame it is held in; NaN for tips that are free.
    answer : Solution or TreeSolution
        The configuration there, or nearest to it.
    set_out_at : array, shape (n,)
        Where the arm was when the goal was set [rad or m].

    Attributes
    ----------
    T, set_out_at : array
        As above.
    q : array, shape (n,)
        Joint values at the goal [rad or m].
    via : array, shape (n,), or None
        Joint values between, where the straight way is not free.
    falls_short : str
        Why the goal is not reached; '' if it is.
    touches : str
        Why the arm touches itself at the goal; '' if it does not.
    ways_left : int
        How many other ways may still be tried.

    """

    def __init__(self, T: Array, answer: Answer, set_out_at: Array) -> None:
        self.T, self.set_out_at = T, set_out_at
        self.q = answer.q
        self.via: Array | None = None
        self.falls_short = '' if answer.converged else answer.status.value
        self.touches = ''
        self.ways_left = WAYS_ROUND

    def take(self, choice: Choice) -> None:
        """Go to another configuration, or another way."""
        self.q, self.via = choice.answer.q, choice.via
        collision = f'the target is in self-collision: {choice.collision}'
        self.touches = collision if choice.collision else ''

    @property
    def next_q(self) -> Array:
        """Joint values to go to first, shape (n,)."""
        return self.q if self.via is None else self.via

    @property
    def hindrance(self) -> str:
        """What is the matter with the goal, in words; '' where nothing is."""
        return joined(self.falls_short, self.touches)


def joined(*reasons: str) -> str:
    """Write several reasons, without those that are ''."""
    return '; '.join(reason for reason in reasons if reason)
