"""Whether an arm collides with its own robot, and how far it is from that."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
import os
from weakref import WeakKeyDictionary

import numpy as np

from ..errors import (
    CollisionError,
    CollisionUnavailableError,
    did_you_mean,
    listed,
    shown,
)
from ..model.mechanism import Mechanism
from ..model.robot import Robot
from ..transforms import Array
from .checked_pairs import CheckedPairs
from .clearances import Clearances
from .distances import PairDistances, prismatic_limits
from .link_meshes import shapes_in_words
from .meshes import MeshFinder
from .pairs import (
    LeftOut,
    LeftOutReason,
    link_pairs,
    LinkPair,
    links_moved_by,
    neighbours,
    often_touching,
)
from .scene import Obstacle
from .solid_frames import SolidFrames
from .solids import MissingGeometry, Solid, solids_of

CLEARANCE = 0.002
"""Distance that links keep from each other by default [m]."""
MOST_SOLIDS = 400
"""Most solids [1]; with more, choosing among their pairs would take minutes."""
SHOWN_FILES = 3
"""Number of missing files that an error names."""


class SelfCollision(CheckedPairs):
    """
    Distances between the links of a robot, as an arm of it moves.

    All links that carry collision geometry take part, not only those of the arm: what hangs on
    the arm moves with it, all else stands still. Joints outside the arm stand at 0, or at the
    limit next to it, unless set otherwise. Meshes are replaced by their convex hulls, or by convex
    parts where those reach too far beyond them.

    Which pairs of links may touch is found out automatically: those that the arm does not move
    against each other, neighbours, and those that touch in nearly all configurations; `pairs.py`
    says how that compares with MoveIt's setup assistant.

    Parameters
    ----------
    robot : Robot
        The robot, with its collision geometry.
    mechanism : Mechanism
        The arm, or the arms, of that robot.
    other_joints : mapping, optional
        Values of joints outside the arm [rad or m]; see `set_other_joints`.
    mesh_paths : iterable of path
        Where meshes are, besides the packages that the environment of ROS knows; see
        `MeshFinder`.
    allowed_collisions : iterable of (str, str)
        Names of links that may touch, besides those that are found out.
    clearance : float
        Configurations are collision-free where all distances are greater than this [m].
    pair_clearances : mapping of (str, str) to float
        Clearances of pairs of links instead, by the names of the links in any order [m].
    tell : callable
        Is told in a sentence what takes long: a mesh that is divided for the first time.

    Attributes
    ----------
    clearance : float
        Clearance of pairs that have none of their own [m].
    clearances : array, shape (p,)
        Clearance of each of the p pairs of solids of `distances` [m].
    pairs : tuple of (str, str)
        Names of the links that are checked.
    left_out : tuple of LeftOut
        Pairs of links that may touch, with the reason.
    solids : list of Solid
        The geometry of the robot.
    missing : tuple of MissingGeometry
        Geometry that could not be loaded: its links are checked without it.
    shapes : tuple of MeshShape
        What meshes count as.
    missing_on_arm : tuple of MissingGeometry
        That of links which the arm moves: obstacles cannot be kept clear of without it.
    loaded : mapping of Obstacle to Solid
        Obstacles that were loaded for worlds with these pairs.

    Raises
    ------
    CollisionError
        If a clearance cannot be used: see `Clearances`; if a pair that may touch is not one of
        links of the robot.
    CollisionUnavailableError
        If coal is not installed, or there is no geometry at all.

    """

    def __init__(
        self,
        robot: Robot,
        mechanism: Mechanism,
        *,
        other_joints: Mapping[str, float] | None = None,
        mesh_paths: Iterable[str | os.PathLike[str]] = (),
        allowed_collisions: Iterable[tuple[str, str]] = (),
        clearance: float = CLEARANCE,
        pair_clearances: Mapping[tuple[str, str], float] | None = None,
        tell: Callable[[str], None] = lambda _: None,
    ) -> None:
        of_links = Clearances(clearance, pair_clearances or {}, robot.links)
        self.robot, self.mechanism, self.clearance = robot, mechanism, clearance
        finder = MeshFinder(mesh_paths, robot.folder)
        self.solids, self.missing, self.shapes = solids_of(robot.collisions, finder, tell)
        if not self.solids:
            raise CollisionUnavailableError(_no_geometry(robot, self.missing))
        count = len(robot.collisions) - len(self.missing)  # a mesh may be several solids
        if count > MOST_SOLIDS:
            raise CollisionUnavailableError(
                f'the robot has {count} collision geometries; at most {MOST_SOLIDS} are checked'
            )
        moved = links_moved_by(robot, mechanism)
        self.missing_on_arm = tuple(shape for shape in self.missing if shape.link in moved)
        self.frames = SolidFrames(robot, mechanism, self.solids)
        self.frames.set_other_joints(other_joints or {})
        allowed = _pairs_of_links(allowed_collisions, robot.links)
        kept, self.left_out = self._chosen(allowed, of_links)
        self.pairs = tuple((pair.link_a, pair.link_b) for pair in kept)
        self.loaded: WeakKeyDictionary[Obstacle, Solid] = WeakKeyDictionary()
        names = [(pair.link_a, pair.link_b) for pair in kept for _ in pair.solids]
        clearances = _of_solids(kept, of_links.of)
        super().__init__(mechanism, self.frames, self._distances(kept), clearances, names)

    def __repr__(self) -> str:
        return f'SelfCollision({len(self.pairs)} pairs of links, {len(self.missing)} missing)'

    @property
    def state(self) -> str:
        """
        Whether links are kept apart: 'on: 15 pairs of links', or 'off: ' and why not.

        Where shapes of the robot are missing it is 'partly on: ', and names them.
        """
        if self.pairs:
            count = len(self.pairs)
            pairs = f'{count} pair{"s" * (count > 1)} of links'
            shapes = shapes_in_words(self.shapes)
            known = f'{pairs}; {shapes}' if shapes else pairs
            return f'partly on: {known}; {self.gaps}' if self.missing else f'on: {known}'
        return f'off: {self._why_nothing() or "no two links that could meet have a shape"}'

    @property
    def gaps(self) -> str:
        """Name the links of which a shape is missing; '' where none is."""
        names = [f'{geometry.link} ({geometry.name})' for geometry in self.missing]
        return f'no shape of {listed(names)}' if names else ''

    def check_whole(self) -> None:
        """
        Make sure that every shape of the robot is known, and that two links have one.

        Raises
        ------
        CollisionUnavailableError
            If not; says which are missing.

        """
        why = self._why_nothing()
        if not why and self.missing:
            why = f'shapes are missing: {_some(self.missing)}'
        if why:
            raise CollisionUnavailableError(why)

    def check_arm_whole(self) -> None:
        """
        Make sure that every shape of the links which the arm moves is known.

        Raises
        ------
        CollisionUnavailableError
            If not: obstacles cannot be kept clear of then; says which are missing.

        """
        if self.missing_on_arm:
            raise CollisionUnavailableError(
                'obstacles cannot be kept clear of, as shapes of links that the arm moves are '
                f'missing: {_some(self.missing_on_arm)}'
            )

    def _why_nothing(self) -> str:
        """Say that no two links have a shape; '' where they have."""
        first = self.solids[0].link
        if any(solid.link != first for solid in self.solids):
            return ''
        missing = f': {_some(self.missing)}' if self.missing else ''
        return f"no link but '{shown(first)}' has a shape{missing}"

    def _chosen(
        self, allowed: Container[frozenset[str]], clearances: Clearances
    ) -> tuple[list[LinkPair], tuple[LeftOut, ...]]:
        reasons: dict[LinkPair, LeftOutReason] = {}
        pairs, adjacent = list(link_pairs(self.frames, self.solids)), neighbours(self.robot)
        for pair in pairs:
            if not pair.motion_bounds[:, : len(self.mechanism)].any():
                reasons[pair] = LeftOutReason.RIGID
            elif pair.links in adjacent:
                reasons[pair] = LeftOutReason.NEIGHBOURS
            elif pair.links in allowed:
                reasons[pair] = LeftOutReason.TOLD
        asked = [pair for pair in pairs if pair not in reasons]
        distances = self._distances(asked)
        numbers, least = _numbers(asked), _of_solids(asked, clearances.touching)

        def touching(q: Array, some: Sequence[LinkPair]) -> list[LinkPair]:
            distances.forget()
            distances.learn_from_balls(q, least)
            near = distances.bounds(q) <= least
            return [
                pair
                for pair in some
                if any(near[p] and distances.measure(p, q) <= least[p] for p in numbers[pair])
            ]

        reasons |= often_touching(asked, self.mechanism, touching)
        left_out = [LeftOut(p.link_a, p.link_b, reasons[p]) for p in pairs if p in reasons]
        return [pair for pair in pairs if pair not in reasons], tuple(left_out)

    def _distances(self, pairs: Sequence[LinkPair]) -> PairDistances:
        none = np.empty((0, len(self.frames.names)))
        bounds = np.concatenate([none, *(pair.motion_bounds for pair in pairs)])
        numbers = [number for pair in pairs for number in pair.solids]
        return PairDistances(
            self.frames, self.solids, numbers, bounds, *prismatic_limits(self.mechanism)
        )


def _pairs_of_links(pairs: Iterable[tuple[str, str]], links: Sequence[str]) -> set[frozenset[str]]:
    """Return pairs of links in any order, or raise CollisionError where one is no link."""
    found = {frozenset(pair) for pair in pairs}
    for name in sorted(set().union(*found) - set(links)):
        cure = did_you_mean(name, links) or f'; the model has: {listed(links)}'
        raise CollisionError(f"allowed_collisions: no link named '{shown(name)}'{cure}")
    return found


def _numbers(pairs: Sequence[LinkPair]) -> dict[LinkPair, range]:
    """Numbers of the pairs of solids of each pair of links."""
    numbers, first = {}, 0
    for pair in pairs:
        numbers[pair] = range(first, first + len(pair.solids))
        first += len(pair.solids)
    return numbers


def _of_solids(pairs: Sequence[LinkPair], of: Callable[[frozenset[str]], float]) -> Array:
    """Give each pair of solids the value of its pair of links, shape (p,)."""
    return np.array([of(pair.links) for pair in pairs for _ in pair.solids], dtype=np.float64)


def _no_geometry(robot: Robot, missing: Sequence[MissingGeometry]) -> str:
    if not robot.collisions:
        return 'no link has a shape: the robot has no <collision> geometry'
    return f'no link has a shape, as no collision geometry could be loaded: {_some(missing)}'


def _some(missing: Sequence[MissingGeometry]) -> str:
    """Name the first ones."""
    more = '; ...' if len(missing) > SHOWN_FILES else ''
    return '; '.join(map(str, missing[:SHOWN_FILES])) + more
