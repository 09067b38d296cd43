"""
Which joint centres of an arm FABRIK may move, in which space, and from where.

Some centres stand whatever the joints do, and some hang rigidly on the tip: these follow from the
base, and from the pose that is wanted of the tip. FABRIK moves those between. Where all revolute
joints turn in one plane it works in that plane, so that it cannot leave it.

"""

import math

import numpy as np
import numpy.typing as npt

from ...kernels.reaching import clamp_turn
from ...model.chain import Chain
from ...transforms import Array
from ..points.point_chain import PointChain
from .marked_arm import frames_of

SAMPLES = 5
SAME = 1e-9
"""Largest difference of equal points, as a share of the reach [1]."""

PARALLEL = 1e-5
"""Largest angle of parallel axes [rad]: descriptions write right angles as 1.5708."""

FINEST = 1e-11
"""Tolerance that rounding still allows FABRIK to meet, as a share of the reach."""

MOST_ITERATIONS = 200
"""Most iterations of FABRIK for one set of points [1]: about 20 ms."""


class PointLayout:
    """
    The joint centres of one arm as FABRIK takes them.

    Parameters
    ----------
    chain : Chain
        The arm; without mimic joints.

    Attributes
    ----------
    standing : int
        The joint centres up to this one, counted from 0, stand still; or it is 0, and that
        joint is prismatic.
    carried : int
        The joint centres from this one on, the tip among them, hang rigidly on the tip.
    planar : bool
        Whether all axes are parallel, but not all joints prismatic.
    turning : bool
        Whether all are but the first, which is square to them: the plane they move in turns.
    prismatic : array of bool, shape (m,)
        Which joints are prismatic.

    """

    def __init__(self, chain: Chain) -> None:
        self.chain = chain
        samples = [frames_of(chain, q).after for q in _spread_configurations(chain)]
        scale = max(chain.size, 1e-9)
        centres = np.array([frames[:, :3, 3] for frames in samples])
        beside = np.array([(f[:, :3, 3] - f[-1, :3, 3]) @ f[-1, :3, :3] for f in samples])
        stands = np.ptp(centres, axis=0).max(axis=1) <= SAME * scale
        hangs = np.ptp(beside, axis=0).max(axis=1) <= SAME * scale
        self.standing = max(0, _count_leading(stands) - 1)
        self.carried = len(hangs) - _count_leading(hangs[::-1])
        self._beside_tip = beside[0]
        axes = np.array([frames[:-1, :3, 2] for frames in samples])
        self.prismatic = prismatic = ~chain.is_revolute
        self.planar = not prismatic.all() and _are_parallel(axes)
        across = np.abs(np.sum(axes[:, :1] * axes[:, 1:], axis=2))
        self.turning = (
            not self.planar
            and not prismatic.any()
            and all(_are_parallel(sample[1:]) for sample in axes)
            and bool((across <= PARALLEL).all())
        )

    @property
    def is_exact(self) -> bool:
        """Whether the arm can be wherever FABRIK moves its joint centres, limits apart."""
        return self.planar or self.turning

    def starts(self, q: Array, target: Array, lower: Array, upper: Array) -> list[Array]:
        """
        Prepare a configuration for FABRIK, the nearest first: joints that take no part in it.

        A planar arm with prismatic joints along its axes goes to the height of the target; one
        whose plane turns looks at the target, forwards or backwards.

        Parameters
        ----------
        q : array, shape (n,)
            Where the arm stands.
        target : array, shape (4, 4)
            T_base_tip.
        lower, upper : array, shape (n,)
            Bounds of the joints.

        """
        if self.planar:
            return [self._raised(q, target[:3, 3], lower, upper)]
        if self.turning:
            return self._turned(q, target[:3, 3], lower, upper)
        return [q]

    def wanted(self, q: Array, target: Array, whole: bool, tolerance: float) -> tuple[Array, int]:
        """
        Let FABRIK move the joint centres.

        Parameters
        ----------
        q : array, shape (n,)
            Where the arm stands.
        target : array, shape (4, 4)
            T_base_tip.
        whole : bool
            Whether the orientation counts, and with it all that hangs on the tip.
        tolerance : float
            Accepted distance of the last point that FABRIK moves from where it shall be [m].

        Returns
        -------
        points : array, shape (m + 1, 3)
            Where FABRIK wants the joint centres and the tip [m]; no arm need be able to.
        iterations : int
            How many it made.

        """
        points = self.chain.points(q)
        first, last = self.standing, len(points) - 1
        if self.turning:
            first = max(first, 1)
        if whole:
            last = self.carried
            points[last:] = self.on_tip(target)
        else:
            points[last] = target[:3, 3]
        if last <= first:
            return points, 0

        before = self.chain.points(q)[first : last + 1]
        plane = self._plane(q)
        solution = PointChain(before @ plane).solve(
            points[last] @ plane,
            position_tolerance=max(tolerance, FINEST * max(self.chain.size, SAME)),
            max_iterations=MOST_ITERATIONS,
        )
        points[first : last + 1] = before + (solution.points - before @ plane) @ plane.T
        return points, solution.iterations

    def on_tip(self, target: Array) -> Array:
        """Place what hangs on the tip, shape (m + 1 - carried, 3) [m], for a pose of the tip."""
        placed: Array = self._beside_tip[self.carried :] @ target[:3, :3].T + target[:3, 3]
        return placed

    def _plane(self, q: Array) -> Array:
        """Coordinates in which FABRIK works, as columns: two in a plane, else three."""
        if not self.is_exact:
            return np.eye(3)
        return frames_of(self.chain, q).before[-1, :3, :2]

    def _raised(self, q: Array, target: Array, lower: Array, upper: Array) -> Array:
        """Let the prismatic joints of a planar arm take up the height between tip and target."""
        q = q.copy()
        frames = frames_of(self.chain, q)
        for j in np.flatnonzero(self.prismatic):
            axis = frames.before[j, :3, 2]
            height = axis @ (target - self.chain.points(q)[-1])
            q[j] = min(max(q[j] + height, lower[j]), upper[j])
        return q

    def _turned(self, q: Array, target: Array, lower: Array, upper: Array) -> list[Array]:
        """Turn the first joint so that the plane of the others holds the target."""
        frames = frames_of(self.chain, q)
        base = frames.before[0]
        normal = frames.before[1, :3, 2] @ base[:3, :3]
        tip = (frames.after[-1, :3, 3] - base[:3, 3]) @ base[:3, :3]
        x, y, z = (target - base[:3, 3]) @ base[:3, :3]
        distance = math.hypot(x, y)
        if distance <= SAME * self.chain.size:
            return [q]
        beside = float(normal @ tip) - normal[2] * z
        aside = math.acos(min(max(beside / distance, -1.0), 1.0))
        middle = q[0] + math.atan2(y, x) - math.atan2(normal[1], normal[0])
        turns = [clamp_turn(v, q[0], lower[0], upper[0]) for v in (middle - aside, middle + aside)]
        return [np.array([v, *q[1:]]) for v in sorted(turns, key=lambda turn: abs(turn - q[0]))]


def _spread_configurations(chain: Chain) -> list[Array]:
    """Spread a few configurations over the limits, the same every time."""
    rng = np.random.default_rng(0)
    return [chain.random_configuration(rng) for _ in range(SAMPLES)]


def _count_leading(conditions: npt.NDArray[np.bool_]) -> int:
    """Count how many are true before the first that is not."""
    return int(np.argmin(np.append(conditions, False)))


def _are_parallel(axes: Array) -> bool:
    """Whether axes, shape (..., 3), all lie along one line, either way."""
    flat = axes.reshape(-1, 3)
    return bool(np.all(np.linalg.norm(np.cross(flat[0], flat), axis=1) <= PARALLEL))
