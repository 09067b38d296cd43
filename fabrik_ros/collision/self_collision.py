"""Whether an arm collides with its own robot, and how far it is from that."""

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
import math
import os

import numpy as np
import numpy.typing as npt

from ..errors import CollisionUnavailableError
from ..model.mechanism import Mechanism
from ..model.robot import Robot
from ..transforms import Array
from .clearances import Clearances
from .distances import MANY_PAIRS, PairDistances
from .meshes import MeshFinder
from .pairs import LeftOut, LeftOutReason, link_pairs, LinkPair, neighbours, often_touching
from .solid_frames import SolidFrames
from .solids import MissingGeometry, Solid, solids_of

CLEARANCE = 0.002
"""Distance that links keep from each other by default [m]."""
MOST_SOLIDS = 400
"""More solids make so many pairs that choosing among them would take minutes."""
SHOWN_FILES = 3
"""Number of missing files that an error names."""


@dataclass(frozen=True)
class Nearest:
    """The two links that are nearest to each other."""

    distance: float
    """[m]; 0 or less when they touch, inf when there is no pair."""
    link_a: str
    link_b: str
    clearance: float
    """Distance that they must keep [m]."""


class SelfCollision:
    """
    Distances between the links of a robot, as an arm of it moves.

    All links that carry collision geometry take part, not only those of the arm: what hangs on
    the arm moves with it, all else stands still. Joints outside the arm stand at 0, or at the
    limit next to it, unless set otherwise. Meshes are replaced by their convex hulls.

    Which pairs of links may touch is found out automatically: those that the arm does not move
    against each other, neighbours, and those that touch in nearly all configurations; `pairs.py`
    says how that compares with MoveIt's setup assistant.

    A pair is measured only where the last measurement, less what the joints can have changed
    since, does not answer the question. The answers are those of measuring all pairs.

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
    missing : tuple of MissingGeometry
        Geometry that could not be loaded: its links are checked without it.

    Raises
    ------
    CollisionError
        If a clearance cannot be used: see `Clearances`.
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
    ) -> None:
        clearances = Clearances(clearance, pair_clearances or {}, robot.links)
        self.mechanism = mechanism
        self.clearance = clearance
        finder = MeshFinder(mesh_paths, robot.folder)
        solids, self.missing = solids_of(robot.collisions, finder)
        if not solids:
            raise CollisionUnavailableError(_no_geometry(robot, self.missing))
        if len(solids) > MOST_SOLIDS:
            raise CollisionUnavailableError(
                f'the robot has {len(solids)} collision geometries; at most {MOST_SOLIDS} are '
                'checked'
            )
        self._frames = SolidFrames(robot, mechanism, solids)
        self._frames.set_other_joints(other_joints or {})
        allowed = {frozenset(names) for names in allowed_collisions}
        kept, self.left_out = self._chosen(robot, solids, allowed, clearances)
        self.pairs = tuple((pair.link_a, pair.link_b) for pair in kept)
        self.distances = self._distances(solids, kept)
        self.clearances = _of_solids(kept, clearances.of)
        self._links = [(pair.link_a, pair.link_b) for pair in kept for _ in pair.solids]

    def __repr__(self) -> str:
        return f'SelfCollision({len(self.pairs)} pairs of links, {len(self.missing)} missing)'

    def distance(self, q: npt.ArrayLike) -> Nearest:
        """
        Find the two links that are nearest to each other at joint values `q`, shape (n,).

        All pairs that may penetrate are measured, as depths can be wrong: see `solids`.

        Raises
        ------
        JointValueError
            If `q` has another shape or is not finite.

        """
        q = self.mechanism.checked(q)
        if not self.pairs:
            return Nearest(math.inf, '', '', self.clearance)
        bounds = self.distances.bounds(q)
        if np.count_nonzero(bounds <= 0.0) > MANY_PAIRS:
            self.distances.learn_from_balls(q, np.full(len(bounds), -math.inf))
            bounds = self.distances.bounds(q)
        nearest, p = (math.inf, len(bounds)), int(np.argmin(bounds))
        while bounds[p] <= max(nearest[0], 0.0):
            nearest = min(nearest, (self.distances.measure(p, q), p))
            bounds[p] = math.inf
            p = int(np.argmin(bounds))
        distance, p = nearest
        return Nearest(distance, *self._links[p], float(self.clearances[p]))

    def is_collision_free(self, q: npt.ArrayLike) -> bool:
        """
        Whether all distances at joint values `q`, shape (n,), are greater than the clearances.

        Raises
        ------
        JointValueError
            If `q` has another shape or is not finite.

        """
        q = self.mechanism.checked(q)
        due = self.distances.due(q, self.clearances)
        return all(self.distances.measure(int(p), q) > self.clearances[p] for p in due)

    def set_other_joints(self, values: Mapping[str, float]) -> None:
        """Set joints outside the arm [rad or m]; names of other joints are ignored."""
        self.distances.others_moved(self._frames.set_other_joints(values))

    def links(self, p: int) -> tuple[str, str]:
        """Return the names of the links of pair number `p` of the distances."""
        return self._links[p]

    def _chosen(
        self,
        robot: Robot,
        solids: Sequence[Solid],
        allowed: Container[frozenset[str]],
        clearances: Clearances,
    ) -> tuple[list[LinkPair], tuple[LeftOut, ...]]:
        reasons: dict[LinkPair, LeftOutReason] = {}
        pairs, adjacent = list(link_pairs(self._frames, solids)), neighbours(robot)
        for pair in pairs:
            if not pair.motion_bounds[:, : len(self.mechanism)].any():
                reasons[pair] = LeftOutReason.RIGID
            elif pair.links in adjacent:
                reasons[pair] = LeftOutReason.NEIGHBOURS
            elif pair.links in allowed:
                reasons[pair] = LeftOutReason.TOLD
        asked = [pair for pair in pairs if pair not in reasons]
        distances = self._distances(solids, asked)
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

    def _distances(self, solids: Sequence[Solid], pairs: Sequence[LinkPair]) -> PairDistances:
        none = np.empty((0, len(self._frames.names)))
        bounds = np.concatenate([none, *(pair.motion_bounds for pair in pairs)])
        numbers = [number for pair in pairs for number in pair.solids]
        is_revolute = self.mechanism.is_revolute
        lower = np.where(is_revolute, -math.inf, self.mechanism.lower)
        upper = np.where(is_revolute, math.inf, self.mechanism.upper)
        return PairDistances(self._frames, solids, numbers, bounds, lower, upper)


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
        return 'the robot has no <collision> geometry, so no collision can be found'
    some = '; '.join(map(str, missing[:SHOWN_FILES])) + (
        '; ...' if len(missing) > SHOWN_FILES else ''
    )
    return f'no collision geometry of the robot could be loaded: {some}'
