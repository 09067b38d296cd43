"""
Name of a singular configuration, and the joint that leads out of it.

In a singular configuration there is a direction in which no joint moves the tip: the smallest
singular value of the Jacobian is zero. A motion through it would need infinitely fast joints.

"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ...kernels.arm_table import FRAME, IS_PRISMATIC, MULTIPLIER, POSITION, SOURCE
from ...kernels.tree_kinematics import tree_link_frames
from ...kernels.tree_model import PARENT
from ...model.mechanism import Mechanism
from ...transforms import Array

LENGTH_PER_REACH = 0.3
"""Length that counts as much as one radian, as a share of the reach [1/rad]."""
NEARLY_SINGULAR = 0.05
"""Smallest singular value below which an arm is near a singular configuration [1]."""
PROBE = 0.02
"""Joint move that tells whether a joint leads out [rad or m]."""
WRIST_JOINTS = 3
"""The last joints of an arm that turn its hand."""
POSE_JOINTS = 6
"""With fewer joints no orientation can be asked for: only positions count."""
ALONG = 0.9
"""Cosine between two directions that count as the same [1]."""


Moving = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Singularity:
    """A configuration in which the tip cannot move in some direction."""

    kind: str
    """'wrist singularity', 'stretched arm', 'shoulder singularity' or 'singularity'."""
    joint: str
    """Name of the joint whose motion leads out of it most."""
    near: float
    """The value of that joint at which the arm is singular [rad or m]."""

    def __str__(self) -> str:
        return f'{self.kind}, {self.joint} near {self.near:.2f}'.replace('-0.00', '0.00').replace(
            'near 0.00', 'near 0'
        )


class Jacobian:
    """
    Tells how the joints move one of the tips.

    Parameters
    ----------
    robot : Chain or Tree
        The joints.
    tip : int
        Number of the tip.

    """

    def __init__(self, robot: Mechanism, tip: int = 0) -> None:
        self._model = rows = robot.tree_rows
        self._frames = np.empty((len(rows), FRAME))
        self._tip = len(rows) - len(robot.tip_links) + tip
        above, row = [], int(rows[self._tip, PARENT])
        while row >= 0:
            above.append(row)
            row = int(rows[row, PARENT])
        self._above = above[::-1]
        chosen = rows[self._above]
        self._shares = np.zeros((len(robot), len(chosen)))
        self._shares[chosen[:, SOURCE].astype(int), range(len(chosen))] = chosen[:, MULTIPLIER]
        self._slides = chosen[:, IS_PRISMATIC] != 0.0

    def at(self, q: Array) -> Array:
        """Velocities of the tip, linear then angular, for each joint; shape (6, n)."""
        axes, centres, tip = self._axes(q)
        turns = np.where(self._slides[:, None], 0.0, axes)
        moves = np.where(self._slides[:, None], axes, _cross(axes, tip - centres))
        columns: Array = np.hstack([moves, turns]).T @ self._shares.T
        return columns

    def centres(self, q: Array) -> tuple[Array, Array]:
        """Centres of the joints on the way to the tip, shape (m, 3), and the tip, shape (3,)."""
        return self._axes(q)[1:]

    def row_of(self, joint: int) -> int:
        """Tell which of the centres belongs to a joint value."""
        return int(np.argmax(self._shares[joint] != 0.0))

    def _axes(self, q: Array) -> tuple[Array, Array, Array]:
        tree_link_frames(self._model, q, self._frames)
        frames = self._frames[self._above]
        tip = self._frames[self._tip, POSITION:].copy()
        return frames[:, 2:POSITION:3], frames[:, POSITION:], tip


def name_singularity(robot: Mechanism, q: Array, tip: int = 0) -> Singularity | None:
    """
    Name the singular configuration that an arm is near.

    Parameters
    ----------
    robot : Chain or Tree
        The joints.
    q : array, shape (n,)
        Joint values [rad or m].
    tip : int
        Number of the tip whose motion counts.

    Returns
    -------
    Singularity or None
        None where the arm is far from any.

    """
    jacobian, moves = Jacobian(robot, tip), robot.moves(tip)
    length = LENGTH_PER_REACH * max(float(robot.sizes[tip]), 1e-9)
    smallest = _smallest(jacobian, q, moves, length)
    if smallest > NEARLY_SINGULAR:
        return None
    gains = np.zeros((len(robot), 2))
    for j in np.flatnonzero(moves):
        for side, step in enumerate((-PROBE, PROBE)):
            beside = q.copy()
            beside[j] += step
            gains[j, side] = _smallest(jacobian, beside, moves, length) - smallest
    joint = int(np.argmax(gains.max(axis=1)))
    kind = _kind(robot, jacobian, q, joint, moves, length)
    return Singularity(
        kind, robot.joint_names[joint], _singular_value_at(q, gains, smallest, joint)
    )


def _singular_value_at(q: Array, gains: Array, smallest: float, joint: int) -> float:
    """Value of a joint at which the smallest singular value vanishes, if it goes on as here."""
    side = int(np.argmax(gains[joint]))
    slope = gains[joint, side] / PROBE
    back = min(smallest / slope, np.pi) if slope > 0.0 else 0.0
    return float(q[joint] + (back if side == 0 else -back))


def _counted(jacobian: Jacobian, q: Array, moves: Moving, length: float) -> Array:
    """Rows that count, without units: all six with joints enough for poses, else the position."""
    J = jacobian.at(q)[:, moves]
    J[:3] /= length
    return J if J.shape[1] >= POSE_JOINTS else J[:3]


def _smallest(jacobian: Jacobian, q: Array, moves: Moving, length: float) -> float:
    return float(np.linalg.svd(_counted(jacobian, q, moves, length), compute_uv=False)[-1])


def _kind(
    robot: Mechanism, jacobian: Jacobian, q: Array, joint: int, moves: Moving, length: float
) -> str:
    """Tell by the joint that leads out, and the force that no joint feels, what it is."""
    numbers = np.flatnonzero(moves).tolist()
    place, n = numbers.index(joint), len(numbers)
    centres, tip = jacobian.centres(q)
    if n >= POSE_JOINTS and place >= n - WRIST_JOINTS:
        return 'wrist singularity'
    end = centres[jacobian.row_of(numbers[n - 2])] if n >= POSE_JOINTS else tip
    force = np.linalg.svd(_counted(jacobian, q, moves, length), full_matrices=False)[0][:3, -1]
    arm = end - centres[jacobian.row_of(joint)]
    size = float(np.linalg.norm(force) * np.linalg.norm(arm))
    if size > 0.0 and abs(force @ arm) > ALONG * size:
        return 'stretched arm'
    first = jacobian.at(q)[3:, numbers[0]]
    beside = np.linalg.norm(np.cross(first, end - centres[jacobian.row_of(numbers[0])]))
    near_first_axis = n >= POSE_JOINTS and beside < length
    return 'shoulder singularity' if near_first_axis and place > 0 else 'singularity'


def _cross(a: Array, b: Array) -> Array:
    """Cross products of rows, shape (m, 3); much cheaper than numpy's for few of them."""
    return np.stack(
        [
            a[:, 1] * b[:, 2] - a[:, 2] * b[:, 1],
            a[:, 2] * b[:, 0] - a[:, 0] * b[:, 2],
            a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0],
        ],
        axis=1,
    )
