"""How much of everything is measured."""

from typing import NamedTuple


class Sizes(NamedTuple):
    """Counts of a full run."""

    count: int = 10000
    """Targets of each arm, from seeds in the middle of the limits."""
    close: int = 1000
    """Targets of each arm, from close seeds."""
    ablation: int = 1000
    """Targets of each arm and each kind of seed."""
    random_arms: int = 1000
    poses: int = 1000
    """Of which all solutions are asked."""
    unreachable: int = 60
    """Targets of each arm."""
    starts: int = 200
    """Of scipy's least squares for each unreachable target."""
    snake_turns: int = 60
    """How often the cost of a pass is taken."""
    snake_targets: int = 50


QUICK = Sizes(
    count=40,
    close=40,
    ablation=20,
    random_arms=20,
    poses=20,
    unreachable=4,
    starts=20,
    snake_turns=5,
    snake_targets=5,
)
"""Enough to see that everything runs; the figures say little."""
