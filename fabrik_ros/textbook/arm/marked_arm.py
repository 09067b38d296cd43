"""An arm and the marks on it that shall come to lie on given points."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ...errors import TargetError
from ...kernels.arm_table import FRAME, POSITION
from ...kernels.kinematics import joint_and_link_frames
from ...kernels.reaching import clamp_turn
from ...model.chain import Chain
from ...transforms import Array, as_pose, why_no_pose

ON_AXIS = 1e-9
"""A point this near to an axis, as a share of the reach, determines no turn about it [1]."""

ORIENTATION_RADIUS = 0.15
"""The orientation of the tip counts as points this far from it, as a share of the reach."""


class Frames(NamedTuple):
    """Where the parts of an arm are in one configuration, in the base frame."""

    before: Array
    """Joint frames before their motion, shape (m, 4, 4); joints move about or along their z."""
    after: Array
    """Frames of the links the joints carry, and of the tip, shape (m + 1, 4, 4)."""


def frames_of(chain: Chain, q: Array) -> Frames:
    """Forward kinematics, joint by joint."""
    joints, links = np.empty((len(chain.model) - 1, FRAME)), np.empty((len(chain.model), FRAME))
    joint_and_link_frames(chain.model, q, joints, links)
    return Frames(_as_poses(joints), _as_poses(links))


def _as_poses(rows: Array) -> Array:
    poses = np.zeros((len(rows), 4, 4))
    poses[:, :3, :3] = rows[:, :POSITION].reshape(-1, 3, 3)
    poses[:, :3, 3] = rows[:, POSITION:]
    poses[:, 3, 3] = 1.0
    return poses


class MarkedArm:
    """
    An arm, and the marks on it that shall come to lie on given points.

    Marks are the joint centres, the tip, and where an orientation is asked for two points beside
    the tip. Mark k is moved by the joints before k, and by joint k itself if that is
    prismatic.
    """

    def __init__(self, chain: Chain, start: Array, lower: Array, upper: Array) -> None:
        self.chain = chain
        self.start, self.lower, self.upper = start, lower, upper
        self.scale = max(chain.size, 1e-9)
        self.prismatic = ~chain.is_revolute
        self._beside_tip = np.empty((0, 3))

    def take_orientation(self, points: Array, T_base_tip: npt.ArrayLike) -> Array:
        """
        Add marks beside the tip; return the points with those of the marks behind them.

        The first lies along the last joint's axis: it tells of the joints before that one alone.
        """
        given = np.asarray(T_base_tip, dtype=np.float64)
        if why := why_no_pose(given):
            raise TargetError(f'T_base_tip is not a pose of shape (4, 4): {why}')
        T = as_pose(given)
        along = self.chain.model[-1, 6:POSITION]  # z of the last joint in the tip frame
        across = np.cross(along, np.eye(3)[np.argmin(np.abs(along))])
        self._beside_tip = (
            ORIENTATION_RADIUS * self.scale * np.array([along, across / np.linalg.norm(across)])
        )
        return np.vstack([points, carried(T, self._beside_tip)])

    def motion(self, i: int, value: float) -> Array:
        """Pose (4, 4) after the motion of joint i in its frame before it."""
        J = np.eye(4)
        if self.prismatic[i]:
            J[2, 3] = value
        else:
            J[0, 0] = J[1, 1] = math.cos(value)
            J[1, 0] = math.sin(value)
            J[0, 1] = -J[1, 0]
        return J

    def marks(self, frames: Frames) -> Array:
        """Where the marks are in the base frame [m]: joint centres, tip, beside the tip."""
        return np.vstack([frames.after[:, :3, 3], carried(frames.after[-1], self._beside_tip)])

    def joints_that_begin_at(self, k: int) -> list[int]:
        """Joints that move mark k, but none before it; those that are locked do not count."""
        n = len(self.prismatic)
        revolute = [k - 1] if 0 < k <= n and not self.prismatic[k - 1] else []
        prismatic = [k] if k < n and self.prismatic[k] else []
        return [j for j in revolute + prismatic if self.upper[j] > self.lower[j]]

    def is_off_axis(self, x: float, y: float) -> bool:
        """Whether a point, seen from a joint, lies off its axis [m]."""
        return math.hypot(x, y) > ON_AXIS * self.scale

    def clamped(self, j: int, value: float, present: float) -> float:
        """Bring a joint value inside the limits; a turn on the circle, nearest to the present."""
        if self.prismatic[j]:
            return float(min(max(value, self.lower[j]), self.upper[j]))
        return float(clamp_turn(value, present, self.lower[j], self.upper[j]))

    def set(self, q: Array, j: int, value: float) -> Array:
        """Return the joint values with another one for joint j."""
        q = q.copy()
        q[j] = self.clamped(j, value, self.start[j])
        return q


def seen_from(frame: Array, point: Array) -> Array:
    """Coordinates of a point, shape (3,), in a frame."""
    seen: Array = (point - frame[:3, 3]) @ frame[:3, :3]
    return seen


def carried(frame: Array, points: Array) -> Array:
    """Points of shape (..., 3) in a frame, in that frame's own parent."""
    carried: Array = points @ frame[:3, :3].T + frame[:3, 3]
    return carried
