"""Number of tries that a solve makes, and what came of them."""

from ..kernels import search as kernels
from ..kernels._jit import COMPILED

FIRST_TRIES = kernels.NEAR_TRIES + (20 if COMPILED else 1)
"""Tries of the first kernel call; hardly a solve needs more, and what follows is slower."""
TRIES_PER_CLOCK_CHECK = 4 if COMPILED else 1
"""Tries of each later kernel call, after which the budget is checked."""
FINISHERS = ('nobody', 'seed', 'fabrik', 'polish')
"""Names of the values of `FINISHED_BY` in the statistics of the kernels."""
NEARLY_ALL = 0.999
"""An error above this share of another one is not clearly smaller [1]."""

MOST_CONVINCING = 100
"""
Restarts after which limits are blamed for any arm [1].

Of 20,000 reachable targets of random arms none was left after 50.
"""

Outcome = tuple[int, float, float, int, int, int, int, bool, float]
"""
A code, then errors of position and orientation, passes, polish steps, restarts, who finished,
whether a joint stands at a limit, and the cost; see `kernels/search.py`.
"""


def convinces(tries: int, joints: int) -> bool:
    """Whether so many tries, all in vain, tell that limits keep an arm of so many joints."""
    return tries >= tries_with(min(3**joints, MOST_CONVINCING))


def tries_with(restarts: int) -> int:
    """Count the tries with a number of restarts: near the seed, from the seed, and restarts."""
    return kernels.NEAR_TRIES + 1 + restarts
