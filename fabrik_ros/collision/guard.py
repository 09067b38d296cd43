"""
Keeps an arm that needs time to stop out of collisions.

The invariant: from its position, at its velocity, the arm can come to rest, and no pair comes too
near. A command is allowed only if the invariant holds after it; otherwise the arm brakes along the
path that was found collision-free before.

Braking keeps the direction of the velocity: all joints slow down in proportion, so the path to
rest is straight in joint space, from q on by velocity times half the time that the joint which
needs longest takes to stop. Steps of uneven length can make the path twice as long, so twice this
length is checked. Two kinds of joints may fall behind the others on the path, as they brake
harder: those that would come to a limit, and those above their speed limit. They are taken to be
anywhere between their start and their end.

"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..kernels.pair_bounds import box_around
from ..transforms import Array
from .checked_pairs import CheckedPairs
from .distances import PairDistances
from .straight_paths import Detail, find_blocking, StraightPath, USUAL_DETAIL

ROUNDING = 1e-6
"""Error of a measured distance [m]: a pair that comes nearer by less has not come nearer."""
EASE = 0.001
"""A pair that starts too near may come this much nearer while it moves apart [m]."""
NEAR_LIMIT = 0.1
"""A joint that would be at a limit within this time brakes for the limit already [s]."""
SHARES = tuple(0.5**i for i in reversed(range(7)))
"""
Shares of a path at which a pair that may only move apart is measured [1].

They are denser towards the start, where links that end farther apart may first come nearer.
"""
FINE_SHARES = (0.0, *SHARES[:3], *(i / 16 for i in range(1, 17)))
"""Shares of a path that leads apart at which a pair is measured [1]."""
FINE_DETAIL = Detail(resolution=2e-5, shortest=1.0 / 4096.0)
"""How closely edges of planned paths are looked at: they keep their clearances by little."""
PROBE = 1e-3
"""Joint move by which the change of a distance is measured [rad or m]."""
MOST_NEAR = 30
"""Most pairs that are measured to find those that are near: the first by what is known [1]."""
PARTS = 16
"""Number of parts of a long path, checked one by one: on a short part few pairs are near."""


@dataclass(eq=False)
class LeastDistances:
    """Distances that pairs keep on a path."""

    q: Array
    """Joint values where the path begins, shape (n,)."""
    values: Array
    """Shape (p,) [m]."""
    version: int
    """Of the pairs."""
    ease: float
    """Pairs at their clearance may come this much nearer [m]."""


@dataclass(frozen=True, eq=False)
class Nearness:
    """Distance of a pair that is near where an arm would come to rest."""

    links: tuple[str, str]
    """The names of the pair."""
    now: float
    """Distance where the arm is, beyond the clearance [m]."""
    at_rest: float
    """Distance where it would come to rest, beyond the clearance [m]."""
    slope: Array
    """Change of that distance with each joint value, shape (n,) [m/rad or 1]."""


class NearPair(NamedTuple):
    """A pair that is near."""

    number: int
    links: tuple[str, str]
    """The names of the pair."""
    gap: float
    """Distance beyond the clearance [m]."""
    reach: float
    """Distance beyond the clearance at which it is near [m]."""


class CollisionGuard:
    """
    Allows an arm the motion from which it can always stop in front of a collision.

    Links that are too near already, as when the arm was switched on there, may move apart but not
    come nearer.

    Parameters
    ----------
    collision : CheckedPairs
        Knows how far links and obstacles are apart; its clearances are kept.

    Attributes
    ----------
    refusal : str
        Why the last motion was not allowed; '' when it was.
    refused_pair : str
        The names of what would have come too near then; '' when it was allowed.
    refused_joints : array of bool, shape (n,)
        Which joints move that pair; of the last motion that was not allowed.

    """

    def __init__(self, collision: CheckedPairs) -> None:
        self.refusal = self.refused_pair = ''
        self._collision = collision
        self._nothing_strays = np.zeros(len(collision.mechanism), dtype=bool)
        self.refused_joints = self._nothing_strays
        self._kept: dict[int, float] = {}
        """
        Distance that pairs which may only move apart have reached [m].

        Before the joints outside the arm took anything from it: see `taken_by_others`.
        """

    @property
    def _distances(self) -> PairDistances:
        return self._collision.distances

    @property
    def _clearance(self) -> Array:
        return self._collision.clearances

    def reset(self, q: Array) -> None:
        """Let the arm start anew at `q`; obstacles that are too near there may stay as near."""
        self._kept.clear()
        self._collision.keep_distances_at(q)

    def change_world(self, numbers: Mapping[int, int], q: Array) -> None:
        """
        Go on with other pairs.

        Parameters
        ----------
        numbers : mapping
            The new numbers of pairs that stay, by their numbers before.
        q : array, shape (n,)
            Where the arm is [rad or m]: what is new and too near there may stay as near.

        """
        self._kept = {numbers[p]: kept for p, kept in self._kept.items() if p in numbers}
        self._collision.meet_obstacles_at(q)

    def warm_up(self) -> None:
        """Compile what a step needs."""
        mid = self._collision.mechanism.mid_configuration()
        self._near(np.array([mid, mid]))
        self._distances.bounds(mid)
        self._distances.kernels.warm_up()

    def allows(
        self, q: Array, q_next: Array, velocity: Array, acceleration: Array, fastest: Array
    ) -> bool:
        """
        Whether the arm may go on from `q` to `q_next` and be there at a velocity.

        Parameters
        ----------
        q, q_next : array, shape (n,)
            Joint values, now and next [rad or m].
        velocity : array, shape (n,)
            Velocity at `q_next` [rad/s or m/s].
        acceleration : array, shape (n,)
            Decelerations of the joints [rad/s^2 or m/s^2].
        fastest : array, shape (n,)
            Greatest speeds [rad/s or m/s]; faster joints brake to them on their own.

        """
        rest = q_next + velocity * max((np.abs(velocity) / acceleration).tolist())
        passed = np.empty((3, len(q)))
        passed[0], passed[1], passed[2] = q, q_next, rest
        near = self._near(passed)
        if len(near) == 0:
            return self._allow()
        return self._allows(q, near, self._paths(q, q_next, rest, np.abs(velocity), fastest))

    def allows_to_rest(
        self,
        q: Array,
        q_next: Array,
        corners: Array,
        stopping: npt.NDArray[np.bool_] | None = None,
    ) -> bool:
        """
        Whether the arm may go on from `q` to `q_next` and come to rest on a known path.

        Parameters
        ----------
        q, q_next : array, shape (n,)
            Joint values, now and next [rad or m].
        corners : array, shape (m, n)
            Joint values on the path, beginning with the next. Between two of them each joint
            moves in one direction, but not in step with the others.
        stopping : array of bool, shape (n,), optional
            Which joints go on as they did on a path that was allowed before.

        """
        near = self._near(np.vstack([q, corners]))
        if stopping is not None and len(near) > 0:
            near = near[self._moving(near)[:, ~stopping].any(axis=1)]
        if len(near) == 0:
            return self._allow()
        strays = ~self._nothing_strays
        to_rest = (StraightPath(*pair, strays) for pair in pairwise(corners))
        return self._allows(q, near, (StraightPath(q, q_next, self._nothing_strays), *to_rest))

    @property
    def version(self) -> tuple[int, float]:
        """Tell the world from others: by its changes, and by how joints outside the arm moved."""
        return self._collision.version, float(self._distances.taken_by_others.sum())

    def allows_along(self, q: Array, corners: Array) -> bool:
        """
        Whether the arm may go on along straight paths between corners, and rest on any of them.

        Parameters
        ----------
        q : array, shape (n,)
            Joint values now [rad or m].
        corners : array, shape (m, n)
            Joint values on the way; the way to the first was allowed before, or it is `q`.

        """
        near = self._near(np.vstack([q, corners]))
        if len(near) == 0:
            return self._allow()
        edges = (StraightPath(*edge, self._nothing_strays) for edge in pairwise(corners))
        return self._allows(q, near, tuple(edges), FINE_DETAIL)

    def _moving(self, pairs: npt.NDArray[np.intp] | int) -> npt.NDArray[np.bool_]:
        """Which joints move some pairs, shape (m, n), or one, shape (n,)."""
        bounds: Array = self._distances.motion_bounds[pairs]
        return bounds[..., : len(self._nothing_strays)] > 0.0

    def _allow(self) -> bool:
        """Allow a motion on which no pair can come too near."""
        self.refusal = self.refused_pair = ''
        self._kept.clear()
        return True

    def _allows(
        self,
        q: Array,
        near: npt.NDArray[np.intp],
        paths: tuple[StraightPath, ...],
        detail: Detail = USUAL_DETAIL,
    ) -> bool:
        self.refusal = self.refused_pair = ''
        least, kept = self._clearance, dict[int, float]()
        while (p := self._blocking(paths, near, least, detail)) >= 0:
            distance = self._distances.measure(p, q)
            if p in kept or not self._moves_apart(p, distance, paths):
                self.refusal = self._reason(p, distance)
                self.refused_pair = ', '.join(self._collision.links(p))
                self.refused_joints = self._moving(p)
                return False
            taken = self._distances.taken_by_others[p]
            if not kept:
                least = least.copy()
            kept[p] = max(distance + taken, self._kept.get(p, -math.inf))
            least[p] = _eased(distance)
        self._kept = kept
        return True

    def near_at_rest(self, q: Array, q_rest: Array, reach: float) -> list[Nearness]:
        """
        Tell which pairs are near where an arm at `q` would come to rest.

        Parameters
        ----------
        q, q_rest : array, shape (n,)
            Joint values, now and at rest [rad or m].
        reach : float
            Distance beyond their clearances at which pairs are near [m].

        """
        return [
            self._nearness(int(p), q, q_rest)
            for p in self._distances.due(q_rest, self._clearance + reach)
            if self._distances.measure(int(p), q_rest) <= self._clearance[p] + reach
        ]

    def _nearness(self, p: int, q: Array, q_rest: Array) -> Nearness:
        measure, clearance = self._distances.measure, float(self._clearance[p])
        at_rest, slope = measure(p, q_rest), np.zeros(len(q))
        for j in np.flatnonzero(self._moving(p)).tolist():
            beside = q_rest.copy()
            beside[j] += PROBE
            slope[j] = (measure(p, beside) - at_rest) / PROBE
        links = self._collision.links(p)
        return Nearness(links, measure(p, q) - clearance, at_rest - clearance, slope)

    def near_obstacles(self, q: Array, reach: float) -> list[NearPair]:
        """Tell what is within `reach` [m] of an obstacle at `q`, (n,), beyond the clearances."""
        return self._near_among(np.flatnonzero(self._collision.has_obstacle), q, reach)

    def near_links(self, q: Array, reach: float) -> list[NearPair]:
        """Tell which links are within `reach` [m] of each other, as above."""
        return self._near_among(np.flatnonzero(~self._collision.has_obstacle), q, reach)

    def _near_among(self, pairs: npt.NDArray[np.intp], q: Array, reach: float) -> list[NearPair]:
        measure, clearance = self._distances.measure, self._clearance
        due = self._distances.due(q, clearance + reach, pairs=pairs)
        least = self._distances.bounds(q, pairs=due) - clearance[due]
        due = due[np.argsort(least)][:MOST_NEAR]
        near = ((p, measure(p, q) - float(clearance[p])) for p in due.tolist())
        return [
            NearPair(p, self._collision.links(p), gap, reach) for p, gap in near if gap < reach
        ]

    def slopes(self, pair: NearPair, q: Array, directions: Array) -> Array:
        """Change of the distance of a near pair at `q` with moves in directions, (k, n); (k,)."""
        measure, distance = self._distances.measure, pair.gap + float(self._clearance[pair.number])
        ways = [measure(pair.number, q + PROBE * direction) for direction in directions]
        return (np.array(ways) - distance) / PROBE

    def collision_at(self, q: Array) -> str:
        """Say which links are too near at joint values `q`, shape (n,); '' where none are."""
        for p in self._distances.due(q, self._clearance):
            if self._distances.measure(int(p), q) <= self._clearance[p]:
                return self._reason(int(p))
        return ''

    def is_path_free(self, q: Array, goal: Array) -> bool:
        """
        Whether nothing comes too near on the straight path in joint space from `q` to `goal`.

        Links that are too near at `q` already may come no nearer. On long paths the answer no may
        be wrong where the clearance is kept by a millimetre or two.
        """
        return not any(self.collisions_on_path(q, goal))

    def collisions_on_path(self, q: Array, goal: Array) -> Iterator[str]:
        """
        Say for each part of a straight path which links come too near; '' where none do.

        It is the path of `is_path_free`; after the first part that is not free no other is of use.
        """
        least = self.least_from(q)
        ends = (q + share * (goal - q) for share in np.linspace(0.0, 1.0, PARTS + 1))
        for start, end in pairwise(ends):
            yield self.collision_between(start, end, least)

    def leads_apart(self, q: Array, goal: Array) -> bool:
        """
        Whether a straight path brings links that are too near at `q` apart, and nothing nearer.

        At `goal` all links keep their clearance, and no pair loses on the path what it has gained.
        """
        path = StraightPath(q, goal, self._nothing_strays)
        too_near = [
            int(p)
            for p in self._distances.due(q, self._clearance)
            if self._distances.measure(int(p), q) <= self._clearance[p]
        ]
        if not all(self._gains(p, path) for p in too_near) or self.collision_at(goal):
            return False
        return self.is_path_free(q, goal)

    def _gains(self, p: int, path: StraightPath) -> bool:
        """Whether a pair comes no nearer on a path, up to its clearance."""
        level, clearance = -math.inf, float(self._clearance[p])
        for share in FINE_SHARES:
            reached = self._distances.measure(p, path.at(share))
            if reached < level - ROUNDING:
                return False
            level = max(level, min(reached, clearance))
        return level >= clearance

    def least_from(self, q: Array, ease: float = EASE) -> LeastDistances:
        """
        Distances that pairs keep on a path that begins at `q`, shape (n,).

        For pairs at their clearance no motion bound proves the first part free, so this check
        lets them come `ease` nearer [m]; `allows` does not.
        """
        return LeastDistances(q, self._least_from(q, ease), self._collision.version, ease)

    def _least_from(self, q: Array, ease: float) -> Array:
        least: Array = self._clearance.copy()
        for p in self._distances.due(q, self._clearance + ease):
            least[p] = min(least[p], self._distances.measure(int(p), q) - ease)
        return least

    def collision_between(self, q: Array, q_next: Array, least: LeastDistances) -> str:
        """
        Say which links come too near on a short straight path; '' where none do.

        Parameters
        ----------
        q, q_next : array, shape (n,)
            Its ends [rad or m].
        least : LeastDistances
            Distances that pairs keep, of `least_from`.

        """
        if least.version != self._collision.version:  # the world has changed since
            least.values = self._least_from(least.q, least.ease)
            least.version = self._collision.version
        near = self._distances.undecided(
            0.5 * (q + q_next), least.values, 0.5 * np.abs(q_next - q)
        )
        if len(near) == 0:
            return ''
        part = StraightPath(q, q_next, self._nothing_strays)
        meets = least.values[near] < 0.0
        for pairs, detail in ((near[~meets], FINE_DETAIL), (near[meets], USUAL_DETAIL)):
            p = find_blocking(self._distances, part, pairs, least.values, detail)
            if p >= 0:
                return self._reason(p, self._distances.measure(p, least.q))
        return ''

    def _near(self, passed: Array) -> npt.NDArray[np.intp]:
        """Pairs that might come too near, if each joint were anywhere between those passed."""
        middle, around = box = np.empty((2, passed.shape[1]))
        box_around(passed, box)
        return self._distances.undecided(middle, self._clearance, around)

    def _paths(
        self, q: Array, q_next: Array, rest: Array, speed: Array, fastest: Array
    ) -> tuple[StraightPath, StraightPath]:
        """Paths to the next configuration and from there to rest."""
        mechanism = self._collision.mechanism
        near = NEAR_LIMIT * speed
        strays = (rest + near > mechanism.upper) | (rest - near < mechanism.lower)
        strays |= speed > fastest
        lower = np.minimum(mechanism.lower, q_next)
        upper = np.maximum(mechanism.upper, q_next)
        rest = np.where(strays, np.clip(rest, lower, upper), rest)
        to_rest = StraightPath(q_next, rest, strays & (speed > 0.0))
        return StraightPath(q, q_next, self._nothing_strays), to_rest

    def _blocking(
        self,
        paths: tuple[StraightPath, ...],
        pairs: npt.NDArray[np.intp],
        least: Array,
        detail: Detail,
    ) -> int:
        found = (find_blocking(self._distances, path, pairs, least, detail) for path in paths)
        return next((p for p in found if p >= 0), -1)

    def _moves_apart(self, p: int, distance: float, paths: tuple[StraightPath, ...]) -> bool:
        """
        Whether a pair that is too near, or all but, comes no nearer on the paths.

        What it has gained on them, up to its clearance, it may not lose again.
        """
        if distance > self._clearance[p] + EASE:
            return False
        kept = self._kept.get(p, -math.inf) - self._distances.taken_by_others[p]
        level, clearance = max(distance, kept), float(self._clearance[p])
        for q in (path.at(share) for path in paths for share in SHARES):
            reached = self._distances.measure(p, q)
            if reached < level - ROUNDING:
                return False
            level = max(level, min(reached, clearance))
        return True

    def _reason(self, p: int, distance: float = math.inf) -> str:
        """Say what is wrong with a pair, which is `distance` apart before it moves."""
        link_a, link_b = self._collision.links(p)
        within = f'within {1000.0 * self._clearance[p]:.3g} mm of each other'
        if distance > self._clearance[p]:
            return f"'{link_a}' and '{link_b}' would come {within}"
        return (
            f"'{link_a}' and '{link_b}' are {within} already, and "
            'may only move apart; allowed_collisions or pair_clearances allow more'
        )


def _eased(distance: float) -> float:
    """Distance [m] that a pair which is too near keeps on the path; it must not come to touch."""
    return distance - EASE if distance <= 0.0 else max(distance - EASE, 0.0)
