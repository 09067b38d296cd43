"""
What the playground shows, without a line of drawing: a body of points and its targets.

A scene is a value: whatever happens makes a new one.

"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
import math

import numpy as np
import numpy.typing as npt

from ..points.point_chain import PointStatus
from ..points.point_limits import Hinge
from ..points.point_tree import PointTree
from .moves import Array, base_to_tip_moves, Body, Move, tip_to_base_moves

TOLERANCE = 1e-3
"""Accepted distance between a tip and its target, as a share of the reach."""

AT_ONCE, AT_REST = 120, 3000
"""Points moved in a solve at most, iterations times points: few, so that no picture is late, and
more where that no longer helps, as slow passes are helped only after a while."""
MORE = 5
"""Times as many are tried next."""

SPREAD = 1.2
"""Between the outermost branches at the start [rad]."""

BEND = 1.2
"""Between the first and the last link of a chain at the start [rad]."""

LEAST_GAIN = 1e-6
"""Solving goes on while it brings the tips nearer by this share of the reach."""


@dataclass(frozen=True)
class Layout:
    """
    What kind of body it is.

    With several branches the first half of the links is a trunk, and every branch has links like
    the second half.

    """

    lengths: tuple[float, ...] = (1.0,) * 6
    """Of the links from the base to a tip; positive."""

    limit: float | None = None
    """Each joint between two links bends by at most this to either side [rad]; None: freely."""

    branches: int = 1
    """Number of tips."""

    @property
    def reach(self) -> float:
        """Largest distance from the base at which a tip can be."""
        return math.fsum(self.lengths)

    @property
    def inner_reach(self) -> float:
        """Smallest such distance, if nothing but the lengths is in the way."""
        return max(0.0, 2.0 * max(self.lengths) - self.reach)

    @property
    def trunk(self) -> int:
        """Number of links before the branches part."""
        return len(self.lengths) if self.branches == 1 else len(self.lengths) // 2

    def with_joints(self, count: int) -> Layout:
        """Give it another number of links: cut off, or repeated from the last one."""
        more = (self.lengths[-1],) * (count - len(self.lengths))
        return replace(self, lengths=(self.lengths + more)[:count])


@dataclass(frozen=True, eq=False)
class Scene:
    """A body, where its tips shall be, and how the last solve ended."""

    layout: Layout
    """What kind of body it is."""

    tree: PointTree
    """The points now."""

    targets: Mapping[int, Array]
    """For each tip where it shall be, shape (2,)."""

    status: PointStatus | None = None
    """How the last solve ended; None before the first, and after a target has moved."""

    iterations: int = 0
    """Made since a target last moved."""

    settled: bool = False
    """Whether to solve on would change nothing worth seeing."""

    effort: int = AT_ONCE
    """Points that the next solve may move at most."""

    @staticmethod
    def start(layout: Layout) -> Scene:
        """Let the body stand up in an arc, its targets where its tips are."""
        points, parents = _standing(layout)
        limits = {}
        if layout.limit is not None:
            hinge = Hinge(lower=-layout.limit, upper=layout.limit)
            limits = {bone: hinge for bone, parent in enumerate(parents) if parent > 0}
        tree = PointTree(points, parents, limits=limits)
        return Scene(layout, tree, {tip: tree.points[tip] for tip in tree.tips})

    @property
    def body(self) -> Body:
        """What the moves need to know."""
        limit = self.layout.limit
        limits = {} if limit is None else dict.fromkeys(self.tree.limits, (-limit, limit))
        return Body(self.tree.parents, self.tree.bone_lengths, limits)

    @property
    def residual(self) -> float:
        """The largest distance between a tip and its target."""
        return max(self._distances)

    @property
    def _distances(self) -> list[float]:
        points = self.tree.points
        return [math.dist(points[tip], target) for tip, target in self.targets.items()]

    def nearest_tip(self, point: npt.ArrayLike) -> int:
        """Name the tip whose target is nearest to a point."""
        return min(self.targets, key=lambda tip: math.dist(self.targets[tip], np.asarray(point)))

    def with_target(self, tip: int, point: npt.ArrayLike) -> Scene:
        """Put the target of a tip somewhere else; the body stays."""
        targets = {**self.targets, tip: np.array(point, dtype=np.float64)}
        return Scene(self.layout, self.tree, targets)

    def solved(self) -> Scene:
        """Let the body follow its targets, by a few iterations at most."""
        most = max(1, self.effort // len(self.tree.points))
        solution = self.tree.solve(
            self.targets,
            position_tolerance=TOLERANCE * self.layout.reach,
            max_iterations=most,
        )
        iterations = self.iterations + solution.iterations
        after = replace(self, tree=solution.tree, status=solution.status, iterations=iterations)
        gain = math.fsum(self._distances) - math.fsum(after._distances)
        if solution.converged or solution.iterations == 0:
            return replace(after, settled=True)
        if self.status is None or gain > LEAST_GAIN * self.layout.reach:
            return after
        effort = min(MORE * self.effort, AT_REST)
        return replace(after, effort=effort, settled=self.effort == AT_REST)

    def iterated(self) -> tuple[Scene, tuple[Move, ...]]:
        """Make one iteration, and tell it move by move."""
        before = self.tree
        middle = before.tip_to_base(self.targets)
        after = middle.base_to_tip(before.points[0])
        moves = (
            *tip_to_base_moves(self.body, before.points, middle.points, self.targets),
            *base_to_tip_moves(self.body, middle.points, after.points),
        )
        iterations = self.iterations + 1
        return Scene(self.layout, after, self.targets, iterations=iterations), moves


@dataclass(frozen=True, eq=False)
class Lesson:
    """Iterations taken apart: where the reader is in them."""

    before: Scene
    """The scene before this iteration."""

    after: Scene
    """The scene after it."""

    moves: tuple[Move, ...]
    """What lies between."""

    index: int = 0
    """The move that is shown."""

    @staticmethod
    def begin(scene: Scene) -> Lesson:
        """Start with the first move of the next iteration."""
        after, moves = scene.iterated()
        return Lesson(scene, after, moves)

    @property
    def move(self) -> Move:
        """The move that is shown."""
        return self.moves[self.index]

    def next(self) -> Lesson:
        """Go on by one move, into the next iteration where this one ends."""
        if self.index + 1 < len(self.moves):
            return replace(self, index=self.index + 1)
        return Lesson.begin(self.after)

    def previous(self) -> Lesson:
        """Go back by one move, at most to the beginning of the iteration."""
        return replace(self, index=max(0, self.index - 1))


def _standing(layout: Layout) -> tuple[Array, tuple[int, ...]]:
    """Lay the links in an arc that rises from the base, branches fanned out."""
    count, trunk = len(layout.lengths), layout.trunk
    bend = -BEND / max(count - 1, 1)
    if layout.limit is not None:
        bend = -min(-bend, 0.5 * layout.limit)
    spread = SPREAD if layout.limit is None else min(SPREAD, layout.limit)
    points, parents = [np.zeros(2)], [-1]
    fan = [0.0] if layout.branches == 1 else np.linspace(0.5, -0.5, layout.branches) * spread
    for branch, turn in enumerate(fan):
        first = 0 if branch == 0 else trunk
        here = 0 if branch == 0 else trunk
        for i in range(first, count):
            angle = 0.5 * math.pi + 0.5 * BEND + bend * i + (turn if i >= trunk else 0.0)
            parents.append(here)
            points.append(
                points[here] + layout.lengths[i] * np.array([math.cos(angle), math.sin(angle)])
            )
            here = len(points) - 1
    return np.array(points), tuple(parents)
