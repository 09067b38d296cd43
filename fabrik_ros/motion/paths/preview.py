"""
The preview of a path that has an end: its length and duration, and where it is blocked.

A path is checked from one configuration to the next, in pieces.

"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import cast

import numpy as np

from ...collision.guard import CollisionGuard, EASE, LeastDistances
from ...model.mechanism import Mechanism
from ...planning.pieces import Pieces
from ...reasons import Reason, ReasonKind, shown_place
from ...transforms import Array
from ..limits.joint_motion import JointMotion
from .pace import paced

PIECE = 4
"""Configurations checked in one piece of work [1]."""
ProposedMotion = tuple[Array, Array]
"""Times, shape (m,) [s], and joint values then, shape (m, n) [rad or m]."""
NO_MOTION: ProposedMotion = (np.empty(0), np.empty((0, 0)))


@dataclass(frozen=True, eq=False)
class Preview:
    """Preview of a path: all that is known of it."""

    q: Array
    """Joint values at the end of the checked part, shape (n,) [rad or m]."""
    tips: Array
    """Poses of the k tips on the way there, T_base_tip, shape (m, k, 4, 4)."""
    travel: Array
    """Travel of each joint, there and back added, shape (n,) [rad or m]."""
    length: float = 0.0
    """Length of the path of the tip that goes farthest [m]."""
    duration: float = 0.0
    """Duration at the greatest speeds of joints, tips and centres, without accelerating [s]."""
    share: float = 0.0
    """Checked share of the path [1]; 1 for all of it."""
    reason: Reason | None = None
    """Reason why the path cannot be followed any farther, with its place; None while it can."""
    configurations: Array = field(default_factory=lambda: np.empty((0, 0)))
    """Joint values on the way there, shape (m, n) [rad or m]."""
    times: Array = field(default_factory=lambda: np.empty(0))
    """Times at which they are reached, about, from rest to rest; shape (m,), from 0 on [s]."""


@dataclass(frozen=True, eq=False)
class Ahead:
    """Course of a path ahead: what it asks of the joints."""

    name: str
    """Name of the path, for reasons."""
    q: Array
    """Joint values at its beginning, shape (n,) [rad or m]."""
    configurations: Iterator[Array | Reason]
    """Joint values on it, shape (n,), evenly apart, or why there are no more."""
    count: int
    """Number of the configurations, if none is missing."""
    asked: Array = field(default_factory=lambda: np.empty(0))
    """Times that the steps to them are to take at least, shape (count,) [s]; empty: none are."""
    rests: frozenset[int] = frozenset()
    """Numbers of the configurations, from 1 on, at which the arm rests on the way."""

    def followed_by(self, other: 'Ahead') -> 'Ahead':
        """Return what this path, at whose end the arm rests, and another after it ask."""
        return replace(
            other,
            q=self.q,
            configurations=chain(self.configurations, other.configurations),
            count=self.count + other.count,
            asked=np.append(self._all_asked, other._all_asked),
            rests=self.rests | {self.count} | {self.count + number for number in other.rests},
        )

    @property
    def _all_asked(self) -> Array:
        return self.asked if len(self.asked) else np.zeros(self.count)


@dataclass(frozen=True)
class PathChecker:
    """
    Looks along paths.

    Parameters
    ----------
    robot : Chain or Tree
        The joints.
    joints : JointMotion
        How fast they may go.
    guard : CollisionGuard or None
        Knows what collides, where that is checked.

    """

    robot: Mechanism
    joints: JointMotion
    guard: CollisionGuard | None

    def check_from(self, q: Array) -> Callable[[Array, Array], Reason | None]:
        """Make the check of short parts of a path from `q` on: it tells why one is not free."""
        least = None if self.guard is None else self.guard.least_from(q)
        return lambda q, q_next: self._collision(q, q_next, least)

    def look(self, path: Ahead, ease: float = EASE) -> Pieces[Preview]:
        """
        Look along a path, in pieces.

        Parameters
        ----------
        path : Ahead
            What it asks of the joints.
        ease : float
            Pairs at their clearance where it begins may come this much nearer [m].

        """
        least = None if self.guard is None else self.guard.least_from(path.q, ease)
        preview, passed = self._beginning(path.q), []
        for number, q in enumerate(path.configurations, start=1):
            passed.append(preview)
            cause = q if isinstance(q, Reason) else self._collision(preview.q, q, least)
            if cause is not None:
                reason = _ended(path.name, preview.share, preview.tips[-1], cause)
                return replace(self._joined(passed, path), reason=reason)
            share = 1.0 if number == path.count else number / path.count
            preview = self._beyond(preview, cast(Array, q), share)
            if number % PIECE == 0:
                yield
        return self._joined([*passed, preview], path)

    def _beginning(self, q: Array) -> Preview:
        return Preview(q, self.robot.tip_poses(q)[None], np.zeros_like(q))

    def _beyond(self, preview: Preview, q: Array, share: float) -> Preview:
        """Return what is known one configuration farther on; of the tips only the last poses."""
        tips = self.robot.tip_poses(q)
        steps = tips[:, :3, 3] - preview.tips[-1, :, :3, 3]
        return Preview(
            q,
            tips[None],
            preview.travel + np.abs(q - preview.q),
            preview.length + float(np.linalg.norm(steps, axis=1).max()),
            preview.duration + self._duration(preview.q, q),
            share,
        )

    def _collision(self, q: Array, q_next: Array, least: LeastDistances | None) -> Reason | None:
        if self.guard is None or least is None:
            return None
        collision = self.guard.collision_between(q, q_next, least)
        if not collision:
            return None
        return Reason(ReasonKind.COLLISION_AHEAD, f'collision: {collision}')

    def _duration(self, q: Array, q_next: Array) -> float:
        """Least time of joints, tips and joint centres between two configurations [s]."""
        step = q_next - q
        if not np.any(step):
            return 0.0
        by_joints = float(np.max(np.abs(step) / self.joints.limits.joint_velocity))
        by_points = 1.0 / self.joints.tip_speed.largest_share(0.5 * (q + q_next), step)
        return max(by_joints, by_points)

    def _joined(self, passed: Sequence[Preview], path: Ahead) -> Preview:
        """Return the last preview, with all that was passed on the way, and when."""
        tips = np.concatenate([preview.tips for preview in passed])
        lengths = np.linalg.norm(np.diff(tips[:, :, :3, 3], axis=0), axis=2).max(axis=1)
        least = np.diff([preview.duration for preview in passed])
        if len(path.asked):
            least = np.maximum(least, path.asked[: len(least)])
        rests = [number in path.rests for number in range(len(passed))]
        rests[0] = self.joints.is_still
        rests[-1] = True
        return replace(
            passed[-1],
            tips=tips,
            configurations=np.array([preview.q for preview in passed]),
            times=paced(lengths, least, np.array(rests), self.joints.limits.tip_acceleration),
        )


def _ended(what: str, share: float, tips: Array, cause: Reason) -> Reason:
    """Say where a path ends, and why."""
    place = tips[:, :3, 3]
    text = f'{what} ends after {100.0 * share:.0f} %, at {shown_place(place)}: {cause}'
    return Reason(cause.kind, text, cause.joints, place)
