"""Joint values at which an arm can be looked at, and set out from: bent, in front, clear."""

from collections.abc import Callable, Sequence
from itertools import combinations, pairwise, product
import math

import numpy as np

from ..transforms import Array
from .mechanism import Mechanism

TRIES = 500
"""Configurations that are compared before the best of them are improved [1]."""
IMPROVED = 5
"""Number of configurations that are improved [1]."""
STEP = 0.25 * math.pi
"""Revolute joints stand at multiples of this angle [rad]."""
FARTHEST = 0.5 * math.pi
"""Farthest turn from 0, or from the middle where 0 is outside the limits [rad]."""
MARGIN = 0.1
"""Distance that they keep from their limits [rad]."""
TIP_SHARES = 0.4, 0.75
"""Least and greatest distance of the tips from their first joints, as shares of the reach [1]."""
FRONT = 0.3
"""Least distance of the tips in front of their first joints, as a share of the reach [1]."""
GAP = 0.12
"""Distance of parts that are no neighbours, as a share of the reach [1]."""
ASKEW, LOW_ELBOW, TOOL_UP, TURNED = 0.3, 0.5, 0.1, 0.01
"""
Penalties in `_oddness` and `_merit` [1].

The first two count for each reach: for joints off the middle plane, and for an elbow that is too
low. The others count for a tool that points up, and for each joint that is turned.

"""
ELBOW = 0.1
"""Least height of a high elbow over the tip, as a share of the reach [1]."""
SAMPLES = np.linspace(0.0, 1.0, 5)
"""Places on a bone at which its distance from others is measured [1]."""
SMALL = 1e-4
"""
Smallest turn, step of differences [rad or m], and length of a bone as a share of the reach [1].
"""


def bent_configuration(robot: Mechanism, is_clear: Callable[[Array], bool] | None = None) -> Array:
    """
    Choose joint values at which no arm is stretched out, shape (n,) [rad or m].

    Of many bent configurations it is one far from singular ones that looks like an arm at work:
    tips in front of the first joint (x of the base), not below it, pointing down under a high
    elbow, nothing twisted, and links not near each other, as far as their joint centres tell. The
    choice is the same every time.

    Parameters
    ----------
    robot : Chain or Tree
        What moves.
    is_clear : callable, optional
        Says of joint values, shape (n,), whether nothing is in the way there. The best ones that
        are clear are taken, where some are.

    """
    rng = np.random.default_rng(0)
    choices = [_choices(robot, j) for j in range(len(robot))]
    tried = _Tried(robot)
    for _ in range(TRIES):
        tried.merit(tuple(rng.choice(values) for values in choices))
    for q in tried.best_first()[:IMPROVED]:
        tried.improve(q, choices)
    best_first = [np.array(q) for q in tried.best_first()]
    clear = best_first if is_clear is None else filter(is_clear, best_first)
    return next(iter(clear), best_first[0])


class _Tried:
    """Configurations of a robot that were looked at, with their merits."""

    def __init__(self, robot: Mechanism) -> None:
        self._robot = robot
        self._merits: dict[tuple[float, ...], float] = {}

    def merit(self, q: tuple[float, ...]) -> float:
        if q not in self._merits:
            self._merits[q] = _merit(self._robot, np.array(q))
        return self._merits[q]

    def best_first(self) -> list[tuple[float, ...]]:
        return sorted(self._merits, key=self._merits.__getitem__, reverse=True)

    def improve(self, q: tuple[float, ...], choices: Sequence[Array]) -> None:
        """Change neighbouring joints for the better, until none get any better."""
        before = -math.inf
        while self.merit(q) > before:
            before = self.merit(q)
            for j in range(len(q)):
                pairs = product(*choices[j : j + 2])
                q = max((q, *((*q[:j], *pair, *q[j + 2 :]) for pair in pairs)), key=self.merit)


def _choices(robot: Mechanism, j: int) -> Array:
    """Values that a joint may have, shape (m,) [rad or m]."""
    lower, upper = (float(limits[j]) for limits in robot.finite_limits())
    middle = np.array([0.5 * (lower + upper)])
    if not robot.is_revolute[j]:
        return middle
    centre = 0.0 if lower <= 0.0 <= upper else float(middle[0])
    steps = STEP * np.arange(-8.0, 9.0)
    inside = (steps >= lower + MARGIN) & (steps <= upper - MARGIN)
    steps = steps[inside & (np.abs(steps - centre) <= FARTHEST + SMALL)]
    return steps if len(steps) else middle


def _merit(robot: Mechanism, q: Array) -> float:
    """Merit of a configuration, greater is better: the worst of the tips counts."""
    tips = robot.tip_poses(q)
    turned = np.count_nonzero(np.abs(q) > SMALL)
    return min(
        _distance_from_singular(robot, q, t)
        - 10.0 * _trouble(points, _size(robot, t))
        - _oddness(points, _size(robot, t), tips[t])
        for t, points in enumerate(robot.tip_points(q))
    ) - float(TURNED * turned)


def _size(robot: Mechanism, t: int) -> float:
    """Reach of tip number `t` [m]; of an arm without any, 1."""
    return float(robot.sizes[t]) or 1.0


def _distance_from_singular(robot: Mechanism, q: Array, t: int) -> float:
    """Least singular value of the Jacobian of tip number `t`, with lengths as shares of reach."""
    T = robot.tip_poses(q)[t]
    columns = []
    for j in np.flatnonzero(robot.moves(t)):
        moved = q.copy()
        moved[j] += SMALL
        change = (robot.tip_poses(moved)[t] - T) / SMALL
        turn = change[:3, :3] @ T[:3, :3].T
        shift = change[:3, 3] / _size(robot, t)
        columns.append([*shift, turn[2, 1], turn[0, 2], turn[1, 0]])
    return float(np.linalg.svd(np.array(columns), compute_uv=False)[-1])


def _trouble(points: Array, size: float) -> float:
    """Weigh what is wrong with where joint centres and tip are, shape (m, 3) [1]."""
    shares = (points - points[0]) / size
    tip = shares[-1]
    distance = float(np.linalg.norm(tip))
    nearest, farthest = TIP_SHARES
    return (
        max(0.0, nearest - distance, distance - farthest)
        + max(0.0, FRONT - float(tip[0]))
        + max(0.0, -float(shares[:, 2].min()))
        + max(0.0, GAP - _least_gap(shares))
    )


def _oddness(points: Array, size: float, T_base_tip: Array) -> float:
    """Weigh what looks odd about joint centres and tip, shape (m, 3), and the tip's pose [1]."""
    shares = (points - points[0]) / size
    inner = shares[:-1][np.linalg.norm(shares[:-1], axis=1) > GAP]
    elbow = float(inner[:, 2].min() - shares[-1, 2]) if len(inner) else ELBOW
    return (
        ASKEW * float(np.abs(shares[:, 1]).max())
        + LOW_ELBOW * max(0.0, ELBOW - elbow)
        + TOOL_UP * float(T_base_tip[2, 2])
    )


def _least_gap(points: Array) -> float:
    """Least distance of bones that are no neighbours, between points of shape (m, 3)."""
    lengths = np.linalg.norm(np.diff(points, axis=0), axis=1)
    corners = points[np.concatenate([[True], lengths > SMALL])]
    bones = [a + SAMPLES[:, None] * (b - a) for a, b in pairwise(corners)]
    gaps = (
        float(np.linalg.norm(one[:, None] - other, axis=2).min())
        for (i, one), (k, other) in combinations(enumerate(bones), 2)
        if k > i + 1
    )
    return min(gaps, default=math.inf)
