"""Distances of pairs of solids, measured only where bounds of them do not suffice."""

from collections.abc import Generator, Mapping, Sequence
from functools import cached_property

import numpy as np
import numpy.typing as npt

from ..kernels.pair_bounds import are_apart, distance_bounds, find_undecided
from ..model.mechanism import Mechanism
from ..transforms import Array
from .pair_kernels import PairKernels
from .solid_frames import SolidFrames
from .solids import DistanceMeter, Solid

MEASURING_ERROR = 1e-5
"""Bound of the error of a measured distance, which is about 1e-6 [m]."""
MANY_PAIRS = 12
"""With more pairs than this it is cheaper to check the balls around the solids first."""
NO_PAIRS = np.empty(0, dtype=np.intp)


def prismatic_limits(mechanism: Mechanism) -> tuple[Array, Array]:
    """Joint values between which motion bounds hold, shape (n,) each: infinite for turns."""
    is_revolute = mechanism.is_revolute
    lower = np.where(is_revolute, -np.inf, mechanism.lower)
    return lower, np.where(is_revolute, np.inf, mechanism.upper)


class PairDistances:
    """
    What is known of the distances of pairs of solids, and where it was measured.

    A distance measured at one configuration bounds it at any other: the joints between the two
    solids can have changed it by no more than their motion bounds times their displacement.

    Parameters
    ----------
    frames : SolidFrames
        Where the solids are.
    solids : sequence of Solid
        The g solids.
    pairs : sequence of (int, int)
        The p pairs, as numbers of solids.
    motion_bounds : array, shape (p, v)
        Largest change of each distance for a unit of each of the v joint values of `frames`.
    lower, upper : array, shape (n,)
        Values of the arm's joints, the first n of those, between which the motion bounds hold.

    Attributes
    ----------
    pairs : list of (int, int)
        The p pairs, as numbers of solids.
    motion_bounds, solids
        As above.
    taken_by_others : array, shape (p,)
        Most that the joints outside the arm can have brought each pair nearer so far [m].

    """

    def __init__(
        self,
        frames: SolidFrames,
        solids: Sequence[Solid],
        pairs: Sequence[tuple[int, int]],
        motion_bounds: Array,
        lower: Array,
        upper: Array,
    ) -> None:
        count = len(lower)
        self._frames = frames
        self.pairs, self.motion_bounds, self.solids = list(pairs), motion_bounds, list(solids)
        self._first, self._second = np.array(pairs, dtype=int).reshape(-1, 2).T
        self._radius_of = np.array([solid.radius for solid in solids])
        self._radii: Array = self._radius_of[self._first] + self._radius_of[self._second]
        self._meter = DistanceMeter(list(solids), frames.poses)
        self._bounds_of_others = motion_bounds[:, count:]
        self._motion_bounds = np.ascontiguousarray(motion_bounds[:, :count])
        self._lower, self._upper = lower, upper
        self._always_hold = bool(np.isinf(lower).all() and np.isinf(upper).all())
        self.taken_by_others = np.zeros(len(self.pairs))
        self._known = np.full(len(self.pairs), -np.inf)
        self._at = np.zeros((len(self.pairs), count))
        self._now, self._holds_now = b'', False
        self._all = np.arange(len(self.pairs))
        self._nowhere = np.zeros(count)

    def __len__(self) -> int:
        return len(self.pairs)

    @cached_property
    def kernels(self) -> PairKernels:
        """Look at pairs in compiled code."""
        return PairKernels(self._frames, self.solids, self.pairs, self._motion_bounds)

    @property
    def known(self) -> tuple[Array, Array]:
        """Distances that the p pairs have at least [m], and joint values where, (p,), (p, n)."""
        return self._known, self._at

    def bounds(
        self, q: Array, around: Array | None = None, pairs: npt.NDArray[np.intp] | None = None
    ) -> Array:
        """
        Distances [m] that pairs have at least, negative by a penetration.

        Parameters
        ----------
        q : array, shape (n,)
            Joint values.
        around : array, shape (n,), optional
            How far the joints may be from `q`; left out, they are there.
        pairs : array of int
            Numbers of pairs; left out, all.

        """
        around = self._nowhere if around is None else around
        pairs = self._all if pairs is None else pairs
        if not self.hold(q, around):
            return np.full(len(pairs), -np.inf)
        bounds = np.empty(len(pairs))
        distance_bounds(self._known, self._at, self._motion_bounds, pairs, q, around, bounds)
        return bounds

    def closing(self, around: Array, pairs: npt.NDArray[np.intp]) -> Array:
        """Most that such pairs come nearer [m], if joints move by `around`, shape (n,)."""
        return np.asarray(self._motion_bounds[pairs] @ around)

    def undecided(
        self,
        q: Array,
        least: Array,
        around: Array | None = None,
        pairs: npt.NDArray[np.intp] | None = None,
    ) -> npt.NDArray[np.intp]:
        """
        Numbers of the pairs that may be as near as `least`, shape (p,), as far as is known.

        Joint values and pairs are those of `bounds`.
        """
        around = self._nowhere if around is None else around
        if pairs is None and self._are_apart(q, least, around):
            return NO_PAIRS
        pairs = self._all if pairs is None else pairs
        found: npt.NDArray[np.intp] = np.empty_like(pairs)
        if not self.hold(q, around):
            found[:] = pairs
            return found
        count = find_undecided(
            self._known, self._at, self._motion_bounds, pairs, least, q, around, found
        )
        return found[:count]

    def due(
        self,
        q: Array,
        least: Array,
        around: Array | None = None,
        pairs: npt.NDArray[np.intp] | None = None,
    ) -> npt.NDArray[np.intp]:
        """Find out the same; where there are many, the balls around the solids are checked."""
        due = self.undecided(q, least, around, pairs)
        if len(due) > MANY_PAIRS:
            self.learn_from_balls(q, least, due)
            due = due[self.bounds(q, around, due) <= least[due]]
        return due

    def _are_apart(self, q: Array, least: Array, around: Array) -> bool:
        """Whether no pair may be as near as `least`, as far as is known: a quick check."""
        return self.hold(q, around) and are_apart(
            self._known, self._at, self._motion_bounds, least, q, around
        )

    def measure(self, p: int, q: Array) -> float:
        """Distance of pair number `p` at joint values `q` [m]; negative by a penetration."""
        self._move(q)
        distance = self._meter.distance(*self.pairs[p])
        self._known[p] = distance - MEASURING_ERROR if self._holds_now else -np.inf
        self._at[p] = q
        return distance

    def points(self, p: int, q: Array) -> Array | None:
        """Nearest points of pair number `p` at `q`, shape (2, 3); None where they are unknown."""
        self._move(q)
        return self._meter.points(*self.pairs[p])

    def places(self, p: int, q: Array) -> Array:
        """Rotation, by rows, and origin [m] of the solids of pair number `p`, shape (2, 12)."""
        self._move(q)
        places: Array = self._frames.frames[list(self.pairs[p])]
        return places

    def centres_at(self, q: Array) -> Array:
        """Where the centres of the balls around the g solids are, shape (g, 3) [m]."""
        self._move(q)
        return self._frames.centres()

    def learn_from_balls(
        self, q: Array, wanted: Array, pairs: npt.NDArray[np.intp] | None = None
    ) -> None:
        """Raise bounds of pairs where balls around solids are as far apart as wanted, (p,)."""
        pairs = self._all if pairs is None else pairs
        self._move(q)
        centres = self._frames.centres()
        between = centres[self._first[pairs]] - centres[self._second[pairs]]
        gaps = np.sqrt((between * between).sum(axis=1)) - self._radii[pairs] - MEASURING_ERROR
        is_better = gaps > np.maximum(wanted[pairs], self.bounds(q, pairs=pairs))
        better = pairs[is_better]
        self._known[better] = gaps[is_better] if self._holds_now else -np.inf
        self._at[better] = q

    def others_moved(self, moved: Array) -> None:
        """Lower the bounds after joints outside the arm have moved by `moved`, shape (v,)."""
        taken = self._bounds_of_others @ moved[self._motion_bounds.shape[1] :]
        self.taken_by_others += taken
        self._known -= taken
        self._now = b''

    def forget(self) -> None:
        """Measure everything again when it is asked for."""
        self._known[:] = -np.inf

    def unknown(self) -> npt.NDArray[np.intp]:
        """Numbers of the pairs of which nothing is known."""
        return np.flatnonzero(self._known == -np.inf)

    def measured_instead(
        self, number: int, solid: Solid, q: Array
    ) -> Generator[None, None, Array]:
        """
        Measure the pairs of a solid, at `q`, shape (n,), as if there were another one instead.

        One pair in each piece; returns their distances [m], which `replace` takes.
        """
        pairs = np.flatnonzero(self._second == number)
        known = np.empty(len(pairs))
        for k, p in enumerate(pairs):
            self._move(q)
            known[k] = self._meter.distance_to(int(self._first[p]), solid)
            known[k] += self.taken_by_others[p]
            yield
        return np.asarray(known - self.taken_by_others[pairs])

    def replace(self, number: int, solid: Solid, known: Array, q: Array) -> None:
        """
        Put other cells in the place of a solid of cells, the second one of its pairs.

        Parameters
        ----------
        number : int
            Number of the solid.
        solid : Solid
            The other one.
        known : array, shape (k,) or ()
            Distances of its k pairs at `q` [m]; -inf where they are not known.
        q : array, shape (n,)
            Joint values.

        """
        self._meter.replace(number, solid)
        self.solids[number] = solid
        if 'kernels' in vars(self):
            self.kernels.replace(number, solid)
        self._frames.balls[number] = solid.centre
        pairs = np.flatnonzero(self._second == number)
        self._radii[pairs] += solid.radius - self._radius_of[number]
        self._radius_of[number] = solid.radius
        self._known[pairs] = known - MEASURING_ERROR if self.hold(q, self._nowhere) else -np.inf
        self._at[pairs] = q

    def take_over(self, known: 'PairDistances', numbers: Mapping[int, int]) -> None:
        """Know what others knew of some pairs: `numbers` says which pair of theirs is which."""
        before, now = list(numbers), list(numbers.values())
        self._known[now], self._at[now] = known._known[before], known._at[before]
        self.taken_by_others[now] = known.taken_by_others[before]

    def hold(self, q: Array, around: Array) -> bool:
        """Whether the motion bounds hold: a prismatic joint beyond its limits breaks them."""
        return self._always_hold or bool(
            np.all(q - around >= self._lower) and np.all(q + around <= self._upper)
        )

    def _move(self, q: Array) -> None:
        now = q.tobytes()  # compared in a tenth of the time that arrays are
        if now != self._now:
            self._frames.move(q)
            self._now = now
            self._holds_now = self.hold(q, self._nowhere)
