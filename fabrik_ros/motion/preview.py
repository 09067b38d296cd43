"""
What is ahead on a path that has an end: how long it is, and where it is blocked.

A path is looked along from one configuration to the next, in pieces: who looks may stop after each
of them and go on later.

"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from ..collision.guard import CollisionGuard
from ..model.mechanism import Mechanism
from ..reasons import Reason, ReasonKind
from ..transforms import Array
from .joint_motion import JointMotion

PIECE = 20
"""So many configurations are looked at before the next piece."""


@dataclass(frozen=True, eq=False)
class Preview:
    """What is known of a path."""

    q: Array
    """Joint values at the end of what was looked at, shape (n,) [rad or m]."""
    points: Array
    """Positions of the k tips on the way there in the base frame, shape (m, k, 3) [m]."""
    length: float = 0.0
    """Of the way of the tip that goes farthest [m]."""
    duration: float = 0.0
    """At the greatest speeds of joints, tips and joint centres, without accelerating [s]."""
    share: float = 0.0
    """How much of the path that is; 1 for all of it."""
    reason: Reason | None = None
    """Why the path cannot be followed any farther, with its place; None while it can."""

    @property
    def is_complete(self) -> bool:
        """Whether there is nothing left to look at."""
        return self.share == 1.0 or self.reason is not None


def look_along(
    configurations: Iterator[Array | Reason],
    count: int,
    robot: Mechanism,
    joints: JointMotion,
    guard: CollisionGuard | None,
) -> Iterator[Preview]:
    """
    Look along a path, piece by piece; the last preview is complete.

    Parameters
    ----------
    configurations : iterator
        Joint values on the path, shape (n,), evenly apart, or why there are no more.
    count : int
        How many there are, if none is missing.
    robot : Chain or Tree
        The joints.
    joints : JointMotion
        Where they are, and how fast they may go.
    guard : CollisionGuard or None
        Knows what collides, where that is checked.

    """
    q = joints.q
    tips = robot.tip_poses(q)[:, :3, 3]
    preview, points = Preview(q, tips[None]), [tips]
    for number, found in enumerate(configurations, start=1):
        reason = found if isinstance(found, Reason) else _collision(guard, q, found)
        if reason is not None or isinstance(found, Reason):
            yield replace(preview, points=np.array(points), reason=_at(reason, tips))
            return
        q_before, tips_before, q = q, tips, found
        tips = robot.tip_poses(q)[:, :3, 3]
        points.append(tips)
        preview = Preview(
            q,
            preview.points,
            preview.length + float(np.linalg.norm(tips - tips_before, axis=1).max()),
            preview.duration + _duration(joints, q_before, q),
            1.0 if number == count else number / count,
        )
        if number % PIECE == 0 or number == count:
            yield replace(preview, points=np.array(points))


def _at(reason: Reason | None, tips: Array) -> Reason | None:
    return None if reason is None else replace(reason, place=tips)


def _collision(guard: CollisionGuard | None, q: Array, q_next: Array) -> Reason | None:
    if guard is None or guard.is_path_free(q, q_next):
        return None
    text = f'self-collision ahead: {guard.collision_at(q_next) or "on the way"}'
    return Reason(ReasonKind.COLLISION_AHEAD, text)


def _duration(joints: JointMotion, q: Array, q_next: Array) -> float:
    """How long joints, tips and joint centres need at least from one configuration to another."""
    step = q_next - q
    if not np.any(step):
        return 0.0
    by_joints = float(np.max(np.abs(step) / joints.limits.joint_velocity))
    by_points = 1.0 / joints.tip_speed.largest_share(0.5 * (q + q_next), step)
    return max(by_joints, by_points)
