"""
The passes of FABRIK taken apart: one move for each joint, with the lines that construct it.

A body is given by its points, shape (n, 2), and the parent of each: the point before it on the way
from the base, -1 for the base itself. Parents come before their children.

"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
import math

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]

CLAMPED = 1e-9
"""A joint is held back if it is farther than this from where it wants to go [link]."""


@dataclass(frozen=True, eq=False)
class Circle:
    """Where a joint may go: round a neighbour that is already in its place."""

    centre: Array
    """The neighbour, shape (2,)."""

    radius: float
    """The length of the link between the two."""

    wanted: Array
    """Where the line from the neighbour to the joint's old place cuts the circle, shape (2,)."""

    allowed: Array
    """The nearest place to that which a limit allows, shape (2,)."""

    arc: tuple[float, float] | None
    """The part of the circle that a limit allows, from one direction to the other [rad]."""

    @property
    def held_back(self) -> bool:
        """Whether a limit keeps the joint from where it wants to go."""
        return math.dist(self.wanted, self.allowed) > CLAMPED * self.radius


@dataclass(frozen=True, eq=False)
class Move:
    """One joint finds its new place."""

    name: str
    """The pass: 'tip_to_base' or 'base_to_tip'."""

    joint: int
    """Index of the point that moves."""

    before: Array
    """All points before the move, shape (n, 2)."""

    after: Array
    """All points after it: only `joint` is in another place."""

    settled: frozenset[int]
    """The points that are already in the places this pass gives them, `joint` among them."""

    circles: tuple[Circle, ...]
    """One for each neighbour followed: none at the start, several where branches part."""

    sentence: str
    """What happens, for the reader."""


@dataclass(frozen=True, eq=False)
class Body:
    """What the moves need to know of a body, whatever its points are."""

    parents: tuple[int, ...]
    """The point before each on the way from the base; -1 for the base."""

    lengths: Array
    """Length of the link to the parent, shape (n,); 0 for the base."""

    limits: Mapping[int, tuple[float, float]]
    """By the point where a link ends, how far it may turn against the link before it [rad]."""

    def children(self, joint: int) -> list[int]:
        """List the points whose parent is a joint."""
        return [child for child, parent in enumerate(self.parents) if parent == joint]


def tip_to_base_moves(
    body: Body, before: Array, after: Array, targets: Mapping[int, npt.ArrayLike]
) -> Iterator[Move]:
    """Take the first pass apart: from the points before it to those after it."""
    points, settled = before.copy(), frozenset[int]()
    for joint in reversed(range(len(before))):
        children = body.children(joint)
        circles = tuple(_circle_above(body, joint, child, before, after) for child in children)
        moved = points.copy()
        moved[joint] = after[joint]
        settled = settled | {joint}
        sentence = _sentence_up(joint, children, circles, joint in targets)
        yield Move('tip_to_base', joint, points, moved, settled, circles, sentence)
        points = moved


def base_to_tip_moves(body: Body, before: Array, after: Array) -> Iterator[Move]:
    """Take the second pass apart: from the points before it to those after it."""
    points, settled = before.copy(), frozenset[int]()
    for joint, parent in enumerate(body.parents):
        circles = (_circle_below(body, joint, before, after),) if parent >= 0 else ()
        moved = points.copy()
        moved[joint] = after[joint]
        settled = settled | {joint}
        sentence = _sentence_down(joint, parent, circles)
        yield Move('base_to_tip', joint, points, moved, settled, circles, sentence)
        points = moved


def _circle_above(body: Body, joint: int, child: int, before: Array, after: Array) -> Circle:
    """Construct the place of a joint from a child that is already in its own."""
    arc = None
    below = body.children(child)
    if len(below) == 1 and below[0] in body.limits:
        least, most = body.limits[below[0]]
        straight_on = _angle(after[child] - after[below[0]])
        arc = (straight_on - most, straight_on - least)
    old_link = before[joint] - before[child]
    return _circle(after[child], before[joint], old_link, body.lengths[child], arc)


def _circle_below(body: Body, joint: int, before: Array, after: Array) -> Circle:
    """Construct the place of a joint from its parent, which is already in its own."""
    arc = None
    parent = body.parents[joint]
    if joint in body.limits and body.parents[parent] >= 0:
        least, most = body.limits[joint]
        straight_on = _angle(after[parent] - after[body.parents[parent]])
        arc = (straight_on + least, straight_on + most)
    old_link = before[joint] - before[parent]
    return _circle(after[parent], before[joint], old_link, body.lengths[joint], arc)


def _circle(
    centre: Array, old: Array, old_link: Array, radius: float, arc: tuple[float, float] | None
) -> Circle:
    """Where the joint lay on its neighbour's new place, its link keeps its direction."""
    line = old - centre
    direction = _angle(line if line.any() else old_link)
    allowed = direction if arc is None else _nearest_in(arc, direction)
    return Circle(
        centre,
        float(radius),
        wanted=centre + radius * _towards(direction),
        allowed=centre + radius * _towards(allowed),
        arc=arc,
    )


def _nearest_in(arc: tuple[float, float], direction: float) -> float:
    """Move a direction into an arc by the shorter way round [rad]."""
    middle, half = 0.5 * (arc[0] + arc[1]), 0.5 * (arc[1] - arc[0])
    off = math.remainder(direction - middle, math.tau)
    return direction if abs(off) <= half else middle + math.copysign(half, off)


def _angle(vector: Array) -> float:
    return math.atan2(vector[1], vector[0])


def _towards(direction: float) -> Array:
    return np.array([math.cos(direction), math.sin(direction)])


def _sentence_up(
    joint: int, children: Sequence[int], circles: Sequence[Circle], has_target: bool
) -> str:
    if has_target:
        return f'p{joint} is a tip: put it on its target'
    if not children:
        return f'p{joint} is a tip without a target: it stays'
    if len(children) > 1:
        names = ', '.join(f'p{child}' for child in children)
        return f'p{joint} joins {names}: into the middle of where they want it'
    return _sentence_on_line(joint, children[0], circles[0])


def _sentence_down(joint: int, parent: int, circles: Sequence[Circle]) -> str:
    if parent < 0:
        return f'p{joint} is the base: put it back in its place'
    return _sentence_on_line(joint, parent, circles[0])


def _sentence_on_line(joint: int, neighbour: int, circle: Circle) -> str:
    if circle.held_back:
        return f'p{joint} wants to the line from p{neighbour}; the limit allows no more than this'
    return f'p{joint} goes to the line from p{neighbour}, one link away from it'
