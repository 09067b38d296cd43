"""The pairs of solids that are checked for collisions, and how near they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
import math

import numpy as np
import numpy.typing as npt

from ..errors import shown
from ..model.mechanism import Mechanism
from ..transforms import Array
from .distances import MANY_PAIRS, PairDistances
from .solid_frames import SolidFrames


@dataclass(frozen=True)
class Nearest:
    """
    The two links, or link and obstacle, that are nearest to each other.

    Attributes
    ----------
    distance : float
        Their distance [m]; 0 or less when they touch, inf when there is no pair.
    link_a : str
        One link.
    link_b : str
        The other link, or the name of an obstacle.
    clearance : float
        Distance that they must keep [m].

    """

    distance: float
    link_a: str
    link_b: str
    clearance: float


@dataclass(frozen=True, eq=False)
class NearestPoints:
    """
    Where the two links, or link and obstacle, that are nearest to each other are so near.

    Attributes
    ----------
    points : array, shape (2, 3)
        One of each, in the root link of the robot [m].
    distance : float
        Their distance [m]; 0 or less when they touch.
    clearance : float
        Distance that they must keep [m].

    """

    points: Array
    distance: float
    clearance: float


class CheckedPairs:
    """
    Distances of the pairs of solids that must not come near each other, as an arm moves.

    A pair is measured only where the last measurement, less what the joints can have changed
    since, does not answer the question. The answers are those of measuring all pairs.

    Parameters
    ----------
    mechanism : Mechanism
        The arm, or the arms.
    frames : SolidFrames
        Where the solids are.
    distances : PairDistances
        What is known of the p pairs of solids.
    clearances : array, shape (p,)
        Distance that each must keep [m].
    names : sequence of (str, str)
        What each pair is called: the links, or a link and an obstacle.

    Attributes
    ----------
    mechanism, distances, clearances
        As above.
    version : int
        Counts the changes of the pairs.

    """

    def __init__(
        self,
        mechanism: Mechanism,
        frames: SolidFrames,
        distances: PairDistances,
        clearances: Array,
        names: Sequence[tuple[str, str]],
    ) -> None:
        self.mechanism, self.frames = mechanism, frames
        self.distances, self.clearances = distances, clearances
        self._names = list(names)
        self.version = 0

    @property
    def has_obstacle(self) -> npt.NDArray[np.bool_]:
        """Mask of the pairs that are no two links, shape (p,)."""
        return np.zeros(len(self.clearances), dtype=bool)

    def links(self, p: int) -> tuple[str, str]:
        """Return the names of the links, or of link and obstacle, of pair number `p`."""
        return self._names[p]

    def distance(self, q: npt.ArrayLike) -> Nearest:
        """
        Find the two links that are nearest to each other at joint values `q`, shape (n,).

        All pairs that may penetrate are measured, as depths can be wrong: see `solids`.

        Raises
        ------
        JointValueError
            If `q` has another shape or is not finite.

        """
        distance, p = self._nearest(self.mechanism.checked(q))
        if distance == math.inf:  # there are no pairs, or no cells in their clouds
            return Nearest(math.inf, '', '', 0.0)
        return Nearest(distance, *self._names[p], float(self.clearances[p]))

    def nearest_points(self, q: npt.ArrayLike) -> NearestPoints | None:
        """
        Find where the two links of `distance` are so near to each other at `q`, shape (n,).

        None where there are no pairs, and where one of the two is cells of a sensor.

        Raises
        ------
        JointValueError
            If `q` has another shape or is not finite.

        """
        q = self.mechanism.checked(q)
        distance, p = self._nearest(q)
        return None if distance == math.inf else self.points_of(p, q)

    def tightest(self, q: npt.ArrayLike, pairs: npt.NDArray[np.intp]) -> int | None:
        """
        Find the pair that has the least left of its clearance, and return its number.

        Parameters
        ----------
        q : array_like, shape (n,)
            Joint values [rad or m].
        pairs : array of int
            Numbers of the pairs that are compared; None is returned where they are none.

        Raises
        ------
        JointValueError
            If `q` has another shape or is not finite.

        """
        q = self.mechanism.checked(q)
        spare = self._spare(q, pairs)
        if np.count_nonzero(spare <= 0.0) > MANY_PAIRS:
            self.distances.learn_from_balls(q, np.full(len(self.distances), -math.inf))
            spare = self._spare(q, pairs)
        least, found = math.inf, None
        while spare.min(initial=math.inf) < least:
            k = int(np.argmin(spare))
            p, spare[k] = int(pairs[k]), math.inf
            left = self.distances.measure(p, q) - float(self.clearances[p])
            if left < least:
                least, found = left, p
        return found

    def _spare(self, q: Array, pairs: npt.NDArray[np.intp]) -> Array:
        """Return what some pairs have left of their clearances at least, shape (k,) [m]."""
        return np.asarray(self.distances.bounds(q, pairs=pairs) - self.clearances[pairs])

    def nearest_among(self, q: Array, pairs: npt.NDArray[np.intp]) -> Nearest | None:
        """Measure the tightest of some pairs at `q`, shape (n,); None where they are none."""
        p = self.tightest(q, pairs)
        if p is None:
            return None
        return Nearest(self.distances.measure(p, q), *self._names[p], float(self.clearances[p]))

    def points_of(self, p: int, q: Array) -> NearestPoints | None:
        """Find where pair number `p` is nearest at `q`, shape (n,); None for cells of a sensor."""
        points = self.distances.points(p, q)
        if points is None:
            return None
        return NearestPoints(points, self.distances.measure(p, q), float(self.clearances[p]))

    def _nearest(self, q: Array) -> tuple[float, int]:
        """Distance [m] and number of the nearest pair at `q`, shape (n,)."""
        bounds = self.distances.bounds(q)
        if np.count_nonzero(bounds <= 0.0) > MANY_PAIRS:
            self.distances.learn_from_balls(q, np.full(len(bounds), -math.inf))
            bounds = self.distances.bounds(q)
        nearest = math.inf, -1
        while (least := bounds.min(initial=math.inf)) < math.inf and least <= max(nearest[0], 0.0):
            p = int(np.argmin(bounds))
            nearest = min(nearest, (self.distances.measure(p, q), p))
            bounds[p] = math.inf
        return nearest

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

    def colliding(self, q: npt.ArrayLike) -> frozenset[str]:
        """
        Name the links, and obstacles, that do not keep their clearances at `q`, shape (n,).

        Raises
        ------
        JointValueError
            If `q` has another shape or is not finite.

        """
        close = self.too_near(self.mechanism.checked(q))
        return frozenset(name for p in close for name in self._names[p])

    def too_near(self, q: Array) -> dict[int, float]:
        """Distances of the pairs that do not keep their clearances at `q`, by number [m]."""
        due = map(int, self.distances.due(q, self.clearances))
        measured = {p: self.distances.measure(p, q) for p in due}
        return {p: d for p, d in measured.items() if d <= self.clearances[p]}

    def keep_distances_at(self, q: Array) -> None:
        """Let obstacles that are too near at `q`, shape (n,), be as near; here there are none."""

    def meet_obstacles_at(self, q: Array) -> None:
        """Let new obstacles that are too near at `q`, shape (n,), be as near."""

    def set_other_joints(self, values: Mapping[str, float]) -> None:
        """Set joints outside the arm [rad or m]; names of other joints are ignored."""
        self.distances.others_moved(self.frames.set_other_joints(values))

    @property
    def other_joints(self) -> dict[str, float]:
        """Values of the joints outside the arm that distances depend on, by name [rad or m]."""
        counts = self.distances.motion_bounds[:, len(self.mechanism) :].max(axis=0, initial=0.0)
        values = self.frames.other_joints.items()
        return {
            name: value for (name, value), most in zip(values, counts, strict=True) if most > 0.0
        }

    @property
    def assumed_joints(self) -> dict[str, float]:
        """Those of them that were never set, with the values assumed: see `SolidFrames`."""
        told = self.frames.told
        return {name: value for name, value in self.other_joints.items() if name not in told}

    @property
    def state(self) -> str:
        """Whether anything is kept apart: 'on: ' and what, or 'off: ' and why not."""
        count = len(self.distances)
        return f'on: {count} pairs' if count else 'off: no pair could come near each other'

    @property
    def checking(self) -> str:
        """The same, with the values that are assumed for joints outside the arm."""
        assumed = self.assumed_joints
        untold = f'; not told, so assumed: {values_by_name(assumed)}' if assumed else ''
        return self.state + untold


def values_by_name(values: Mapping[str, float]) -> str:
    """Write joint values for people: 'finger: 0, wrist: 0.5'."""
    return ', '.join(f'{shown(name)}: {value:.4g}' for name, value in values.items())
