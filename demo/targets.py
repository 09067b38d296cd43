"""The targets of the demo: a fixed sequence through every octant round the arm, far and near."""

from collections.abc import Iterator

from fabrik_ros import Chain
import numpy as np

SEED = 2011
LEAST_DISTANCE, MOST_DISTANCE = 0.25, 0.8
NEARBY = 0.25
# Signs of x, y, z: every octant once, each next to the one before it.
OCTANTS = (
    (1, 1, 1), (1, 1, -1), (1, -1, -1), (1, -1, 1), (-1, -1, 1), (-1, -1, -1), (-1, 1, -1),
    (-1, 1, 1),
)  # fmt: skip


def sequence(chain: Chain) -> Iterator[np.ndarray]:
    """
    Poses T_base_tip, shape (4, 4), without end and always the same.

    Far and near by turns: a random configuration with the tip in the next octant, then one with
    every joint within 0.25 rad of it. So all can be reached, and their orientations are anything.
    """
    rng = np.random.default_rng(SEED)
    while True:
        for octant in OCTANTS:
            q = configuration_in(octant, chain, rng)
            yield chain.forward_kinematics(q)
            nearby = q + rng.uniform(-NEARBY, NEARBY, len(chain))
            yield chain.forward_kinematics(np.clip(nearby, chain.lower, chain.upper))


def configuration_in(
    octant: tuple[int, int, int], chain: Chain, rng: np.random.Generator
) -> np.ndarray:
    """Draw configurations until the tip is in the octant, neither folded up nor stretched."""
    while True:
        q = chain.random_configuration(rng)
        p = chain.forward_kinematics(q)[:3, 3] - chain.root_point
        share = np.linalg.norm(p) / chain.reach
        if np.all(p * octant > 0.0) and LEAST_DISTANCE <= share <= MOST_DISTANCE:
            return q
