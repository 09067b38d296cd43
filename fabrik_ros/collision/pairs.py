"""
Which pairs of links are checked for collisions.

MoveIt's setup assistant draws configurations (10,000 by default) and leaves out pairs
of links that are neighbours, that touch in at least 95 % of them, that touch at the default
configuration, and those that never touch in any; a person looks over the list and it is kept in
a file (`disable_collisions` of the SRDF). Here neighbours are taken likewise (but where links
without geometry hang between two, only if a single joint moves), and so are pairs that nearly
always touch. But pairs that never touched in the samples stay in: they cost next to nothing, as
their bounds say that they are far apart, and a sample may miss what they do. Pairs that touch at
the zero configuration, or amid the limits, are left out only where they touch in half of the
samples too: zero put inside the limits folds some arms (Panda's hand into its forearm) into a real
collision. To touch means here to be within the clearance; a clearance of its own counts for a pair
only where it is the smaller one, so that a wide one never leaves the pair out.

"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import combinations

import numpy as np

from ..model.mechanism import Mechanism
from ..model.robot import Robot
from ..transforms import Array
from .motion_bounds import MotionBounds
from .solid_frames import SolidFrames
from .solids import Solid

SAMPLES = 400
NEARLY_ALWAYS = 0.95
OFTEN = 0.5


class LeftOutReason(Enum):
    """Why a pair of links is left out."""

    RIGID = 'no joint of the arm moves them against each other'
    NEIGHBOURS = 'they are neighbours'
    ALWAYS = 'they touch in nearly all configurations'
    AT_ZERO = 'they touch at the zero configuration and often elsewhere'
    TOLD = 'they were said to be allowed to'


@dataclass(frozen=True)
class LeftOut:
    """
    A pair of links that may touch.

    Attributes
    ----------
    link_a : str
        One link.
    link_b : str
        The other one.
    reason : LeftOutReason
        Why they may touch.

    """

    link_a: str
    link_b: str
    reason: LeftOutReason

    def __str__(self) -> str:
        return f"'{self.link_a}' and '{self.link_b}': {self.reason.value}"


@dataclass(frozen=True, eq=False)
class LinkPair:
    """Two links with geometry."""

    link_a: str
    link_b: str
    solids: tuple[tuple[int, int], ...]
    """Numbers of solids, one of each link."""
    motion_bounds: Array
    """Largest change of each of their distances for a unit of each joint value, shape (., v)."""

    @property
    def links(self) -> frozenset[str]:
        """Names of the two links."""
        return frozenset((self.link_a, self.link_b))


def link_pairs(frames: SolidFrames, solids: Sequence[Solid]) -> Iterator[LinkPair]:
    """Pair up all links that carry solids."""
    bounds, count = MotionBounds(frames.model, frames.moving, solids), len(frames.names)
    carried: dict[str, list[int]] = {}
    for number, solid in enumerate(solids):
        carried.setdefault(solid.link, []).append(number)
    for (link_a, of_a), (link_b, of_b) in combinations(carried.items(), 2):
        numbers = [(a, b) for a in of_a for b in of_b]
        values = np.array([bounds.between(a, b, count) for a, b in numbers])
        yield LinkPair(link_a, link_b, tuple(numbers), values)


def neighbours(robot: Robot) -> set[frozenset[str]]:
    """Pairs of links that one moving joint connects, with none that has geometry between them."""
    solid = {collision.link for collision in robot.collisions}
    found = set()
    for link in solid - {robot.root_link}:
        joint = robot.parent_joint[link]
        moving = int(joint.type.moves)
        while joint.parent not in solid and joint.parent != robot.root_link:
            joint = robot.parent_joint[joint.parent]
            moving += joint.type.moves
        if moving == 1:
            found.add(frozenset((link, joint.parent)))
    return found


def links_moved_by(robot: Robot, mechanism: Mechanism) -> set[str]:
    """Links that move against the root link as joints of the mechanism do, mimics included."""
    moved: set[str] = set()
    pending = [robot.root_link]
    for link in pending:
        for joint in robot.child_joints[link]:
            source = joint.mimic.source if joint.mimic else joint.name
            if link in moved or (joint.type.moves and source in mechanism.joint_names):
                moved.add(joint.child)
            pending.append(joint.child)
    return moved


def sample(mechanism: Mechanism) -> Iterator[Array]:
    """Draw the configurations that pairs are judged by, the same ones every time."""
    rng = np.random.default_rng(0)
    for _ in range(SAMPLES):
        yield mechanism.random_configuration(rng)


def usual_configurations(mechanism: Mechanism) -> tuple[Array, Array]:
    """Return where robots are shown and switched on: at zero, or next to it, and mid limits."""
    lower, upper = mechanism.finite_limits()
    zero = np.minimum(np.maximum(np.zeros(len(mechanism)), lower), upper)
    return zero, mechanism.mid_configuration()


def often_touching(
    pairs: Sequence[LinkPair],
    mechanism: Mechanism,
    touching: Callable[[Array, Sequence[LinkPair]], Sequence[LinkPair]],
) -> dict[LinkPair, LeftOutReason]:
    """
    Find the pairs that touch so often that they must be meant to.

    Parameters
    ----------
    pairs : sequence of LinkPair
        The pairs in question.
    mechanism : Mechanism
        The arm.
    touching : callable
        Tells which of some pairs touch at a configuration.

    """
    at_zero = {pair for q in usual_configurations(mechanism) for pair in touching(q, pairs)}
    misses = dict.fromkeys(pairs, 0)
    allowed = {
        pair: SAMPLES * (1.0 - (OFTEN if pair in at_zero else NEARLY_ALWAYS)) for pair in pairs
    }
    left = list(pairs)
    for q in sample(mechanism):
        found = set(touching(q, left))
        for pair in left:
            misses[pair] += pair not in found
        left = [pair for pair in left if misses[pair] <= allowed[pair]]
        if not left:
            break
    return {
        pair: LeftOutReason.ALWAYS
        if misses[pair] <= SAMPLES * (1.0 - NEARLY_ALWAYS)
        else LeftOutReason.AT_ZERO
        for pair in left
    }
