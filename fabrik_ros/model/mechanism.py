"""
The common part of chains and trees: joints with values, and a table for the kernels.

Joint values are `q` [rad] for revolute and [m] for prismatic joints. Arrays are read-only.

"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence, Set
import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..errors import ChainError, JointValueError, listed, shown
from ..kernels import tree_kinematics
from ..kernels.arm_table import FRAME, IS_MIMIC, pack_row, POSITION, SOURCE
from ..transforms import Array, as_pose, inverse, rotation_z_to, transform, why_no_pose
from .joints import Joint, JointType, Mimic

FARTHEST_TURN = 200.0 * math.pi
"""A limit beyond this angle counts as none [rad]."""
FARTHEST_SLIDE, SIZES = 100.0, 100.0
"""A limit of a slide farther than so many metres, and sizes of the arm, counts as none."""
OPEN_SLIDE = 10.0
"""Length that counts for a slide without a limit [m]."""


class Mechanism(ABC):
    """
    Joints that have a value, with what limits them.

    Fixed joints are folded into their neighbours. Mimic joints move with their source and
    have no value of their own: `q` has one entry for each joint in `joint_names`.

    Parameters
    ----------
    where : str
        Between which links, for errors.
    joints : sequence of Joint
        All joints, parents before children.

    Raises
    ------
    ChainError
        If a joint cannot be driven, mimics one that is missing, or none moves.

    """

    def __init__(self, where: str, joints: Sequence[Joint]) -> None:
        _check(where, joints)
        moving = [joint for joint in joints if joint.type.moves]
        sources = [joint for joint in moving if joint.mimic is None]
        self.joint_names = tuple(joint.name for joint in sources)
        self.joint_types = tuple(joint.type for joint in sources)
        revolute = [type_.is_revolute for type_ in self.joint_types]
        self.is_revolute: npt.NDArray[np.bool_] = np.array(revolute)
        self.is_revolute.flags.writeable = False
        self.lower, self.upper = _limits(moving, self.joint_names)
        names = self.joint_names
        self.velocity = _greatest(moving, names, [joint.velocity for joint in moving])
        self.acceleration = _greatest(moving, names, [joint.hardest for joint in moving])
        self.jerk = _greatest(moving, names, [joint.jerk for joint in moving])
        self.open_slides = _open_slides(joints)
        self.reach = self.size = 0.0
        self.base_link = ''
        self.tip_links: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.joint_names)

    @abstractmethod
    def tip_poses(self, q: npt.ArrayLike) -> Array:
        """Poses T_base_tip of the k tips at joint values `q`, shape (k, 4, 4)."""

    @abstractmethod
    def tip_points(self, q: npt.ArrayLike) -> tuple[Array, ...]:
        """Joint centres on the way to each tip, and the tip, in the base frame [m], (., 3)."""

    @abstractmethod
    def moves(self, t: int) -> npt.NDArray[np.bool_]:
        """Tell of each joint value, shape (n,), whether it moves tip number `t`."""

    @property
    @abstractmethod
    def root_points(self) -> Array:
        """Place of the first joint on the way to each tip in the base frame, shape (k, 3) [m]."""

    @property
    @abstractmethod
    def reaches(self) -> Array:
        """Bound on the distance of each tip from its root point, shape (k,) [m]."""

    @property
    @abstractmethod
    def sizes(self) -> Array:
        """The same, shape (k,) [m], but with little for joints whose limits stand for none."""

    @property
    @abstractmethod
    def tree_rows(self) -> Array:
        """Rows of `kernels/tree_kinematics.py`: those of each joint, with the row above it."""

    def joint_points(self, q: npt.ArrayLike) -> Array:
        """Places of the joints with a value at `q` in the base frame [m], shape (n, 3)."""
        rows = self.tree_rows
        frames = np.empty((len(rows), FRAME))
        tree_kinematics.tree_link_frames(rows, self.checked(q), frames)
        has_value = (rows[:, SOURCE] >= 0.0) & (rows[:, IS_MIMIC] == 0.0)
        points: Array = frames[has_value, POSITION:]
        return points[np.argsort(rows[has_value, SOURCE])]

    def random_configuration(self, rng: np.random.Generator) -> Array:
        """Joint values drawn evenly from inside the limits; from [-pi, pi] where continuous."""
        lower, upper = self.finite_limits()
        return rng.uniform(lower, upper)

    def mid_configuration(self) -> Array:
        """Joint values in the middle of the limits; 0 where continuous."""
        lower, upper = self.finite_limits()
        return 0.5 * (lower + upper)

    def finite_limits(self) -> tuple[Array, Array]:
        """
        Limits with open ones replaced by one turn (revolute) or `OPEN_SLIDE` (prismatic).

        A limit is open where it is infinite or farther than `FARTHEST_TURN` or `FARTHEST_SLIDE`:
        programs write 1e16 or the greatest number there is for infinity, people 1000 or 1e6.
        """
        span = np.where(self.is_revolute, math.pi, OPEN_SLIDE)
        is_open = np.array([name in self.open_slides for name in self.joint_names])
        slide = np.where(is_open, FARTHEST_SLIDE, math.inf)
        farthest = np.where(self.is_revolute, FARTHEST_TURN, slide)
        lower_open, upper_open = self.lower < -farthest, self.upper > farthest
        lower = np.where(
            lower_open, np.where(upper_open, -span, self.upper - 2 * span), self.lower
        )
        upper = np.where(upper_open, np.where(lower_open, span, self.lower + 2 * span), self.upper)
        return lower, upper

    def joints_at_limits(self, q: Array, margin: float) -> tuple[str, ...]:
        """Names of the joints that stand within `margin` [rad or m] of a limit, or outside."""
        near = (q - self.lower < margin) | (self.upper - q < margin)
        return tuple(self.joint_names[j] for j in np.flatnonzero(near))

    def is_at_narrower_bound(self, q: Array, lower: Array, upper: Array, margin: float) -> bool:
        """Whether a joint stands within `margin` of a bound that is narrower than its limit."""
        at_lower = (q - lower < margin) & (lower > self.lower + margin)
        at_upper = (upper - q < margin) & (upper < self.upper - margin)
        return bool(np.any(at_lower | at_upper))

    def check_bounds(self, lower: Array, upper: Array) -> None:
        """Raise JointValueError where a lower bound, shape (n,), is above its upper bound."""
        if np.any(lower > upper):
            name = self.joint_names[int(np.argmax(lower > upper))]
            raise JointValueError(
                f"the lower bound of joint '{shown(name)}' is above its upper bound"
            )

    def checked(self, q: npt.ArrayLike, name: str = 'q') -> Array:
        """Return `q` as a float array of shape (n,), or raise JointValueError."""
        values = np.array(q, dtype=np.float64, order='C')
        if values.shape != (len(self),):
            raise JointValueError(
                f'{name} has shape {values.shape}, expected ({len(self)},): '
                f'one value for each of {listed(self.joint_names)}'
            )
        if not np.isfinite(values).all():
            joint = self.joint_names[int(np.argmin(np.isfinite(values)))]
            raise JointValueError(
                f"{name} has a value that is not finite for joint '{shown(joint)}'"
            )
        return values


class Packed(NamedTuple):
    """Joints as the kernels read them."""

    rows: Array
    """Rows of `kernels/arm_table.py`: the moving joints in order, then the tips."""
    parents: tuple[int, ...]
    """Row of the moving joint above that of each row; -1 where that is the base."""
    moving: tuple[Joint, ...]
    """The moving joints."""


def pack(joints: Sequence[Joint], base: str, tips: Sequence[str], names: Sequence[str]) -> Packed:
    """
    Write joints, parents before children, and tip links as rows for the kernels.

    Joint frames are turned once, here, so that every axis is the local z. `names` are the joints
    that have a value, in the order of `q`.
    """
    above, T_before = {base: -1}, {base: np.eye(4)}
    numbers = {name: number for number, name in enumerate(names)}
    rows: list[Array] = []
    parents, moving = [], []
    for joint in joints:
        above[joint.child] = above[joint.parent]
        T = T_before[joint.child] = T_before[joint.parent] @ joint.origin
        if not joint.type.moves:
            continue
        Z = transform(rotation_z_to(joint.axis), np.zeros(3))
        mimic = joint.mimic or Mimic(joint.name)
        source, is_mimic = numbers[mimic.source], joint.mimic is not None
        is_prismatic = joint.type.is_prismatic
        parents.append(above[joint.parent])
        above[joint.child], T_before[joint.child] = len(rows), inverse(Z)
        rows.append(
            pack_row(T @ Z, is_prismatic, source, mimic.multiplier, mimic.offset, is_mimic)
        )
        moving.append(joint)
    rows.extend(pack_row(T_before[tip]) for tip in tips)
    parents.extend(above[tip] for tip in tips)
    return Packed(read_only(np.array(rows)), tuple(parents), tuple(moving))


def radii(rows: Array, moving: Sequence[Joint], are_open: Set[str]) -> tuple[float, float, float]:
    """
    Return how near to its first joint the end of a path can come, how far, and its size [m].

    The size is how far it can come, with little for joints whose limits stand for none.

    Parameters
    ----------
    rows : array
        The row of each moving joint on the path, and of what ends it.
    moving : sequence of Joint
        Those joints.
    are_open : set of str
        Names of those whose limits stand for none.

    """
    longest, shortest, counted = [], [], []
    for joint, row in zip(moving, rows[1:], strict=True):
        length = float(np.linalg.norm(row[9:12]))
        longest.append(length + joint.largest_displacement)
        shortest.append(max(0.0, length - joint.largest_displacement))
        is_open = joint.name in are_open
        counted.append(length + (OPEN_SLIDE if is_open else joint.largest_displacement))
    reach = sum(longest)
    inner_reach = max(
        short - (reach - long) for short, long in zip(shortest, longest, strict=True)
    )
    return max(0.0, inner_reach), reach, sum(counted)


def tool_joint(link: str, T_link_tool: npt.ArrayLike) -> Joint:
    """
    Fix a tool, `T_link_tool` of shape (4, 4), behind a link.

    Raises
    ------
    ChainError
        If the tool is not a pose.

    """
    given = np.array(T_link_tool, dtype=np.float64)
    if why := why_no_pose(given):
        raise ChainError(
            'the tool is not a pose: expected finite numbers of shape (4, 4), a rotation and a '
            f'position [m] above a last row 0 0 0 1, and {why}; got {given.tolist()}'
        )
    origin = read_only(as_pose(given))
    along_x = np.array([1.0, 0.0, 0.0])
    return Joint('', JointType.FIXED, link, f'{link}/tool', origin, along_x)


def read_only(array: Array) -> Array:
    """Make an array read-only, and return it."""
    array.flags.writeable = False
    return array


def _check(where: str, joints: Sequence[Joint]) -> None:
    sources = {joint.name for joint in joints if joint.type.moves and joint.mimic is None}
    for joint in joints:
        if joint.type.moves and not joint.type.is_drivable:
            raise ChainError(
                f"joint '{shown(joint.name)}' {where} is {joint.type.value}; "
                'only revolute, continuous, prismatic and fixed joints can be in a chain'
            )
        if joint.mimic and joint.mimic.source not in sources:
            raise ChainError(
                f"joint '{shown(joint.name)}' {where} mimics '{shown(joint.mimic.source)}', "
                'which is not in the chain; choose links so that both are, or neither is'
            )
    if not sources:
        raise ChainError(f'nothing moves {where}: the chain has no movable joint')


def _open_slides(joints: Sequence[Joint]) -> frozenset[str]:
    """Names of prismatic joints whose limits stand for none, as 1e6 m in an arm of a metre."""
    size = float(sum(np.linalg.norm(joint.origin[:3, 3]) for joint in joints))
    slides = (joint for joint in joints if joint.type.is_prismatic)
    found = set()
    for joint in sorted(slides, key=lambda joint: joint.largest_displacement):
        if joint.largest_displacement > max(FARTHEST_SLIDE, SIZES * size):
            found.add(joint.name)
        else:
            size += joint.largest_displacement
    return frozenset(found)


def _limits(moving: list[Joint], names: tuple[str, ...]) -> tuple[Array, Array]:
    lower, upper = np.full(len(names), -math.inf), np.full(len(names), math.inf)
    numbers = {name: number for number, name in enumerate(names)}
    for joint in moving:
        mimic = joint.mimic or Mimic(joint.name)
        if mimic.multiplier == 0.0:
            _check_stands_inside(joint, mimic.offset)
            continue
        ends = [(limit - mimic.offset) / mimic.multiplier for limit in (joint.lower, joint.upper)]
        i = numbers[mimic.source]
        lower[i], upper[i] = max(lower[i], min(ends)), min(upper[i], max(ends))
    for i, name in enumerate(names):
        if lower[i] > upper[i] or lower[i] == math.inf or upper[i] == -math.inf:
            raise ChainError(
                f"the limits of joint '{shown(name)}' and of the joints that mimic it have "
                f'nothing in common: [{lower[i]:.6g}, {upper[i]:.6g}]'
            )
    return read_only(lower), read_only(upper)


def _check_stands_inside(joint: Joint, value: float) -> None:
    if not joint.lower <= value <= joint.upper:
        raise ChainError(
            f"joint '{shown(joint.name)}' always stands at {value:.6g} (its mimic multiplier is "
            f'0), outside its limits [{joint.lower:.6g}, {joint.upper:.6g}]'
        )


def _greatest(moving: list[Joint], names: tuple[str, ...], limits: list[float]) -> Array:
    """Limits of a rate of the joints with a value by those of all joints that move."""
    greatest = np.full(len(names), math.inf)
    numbers = {name: number for number, name in enumerate(names)}
    for joint, limit in zip(moving, limits, strict=True):
        mimic = joint.mimic or Mimic(joint.name)
        if mimic.multiplier != 0.0:
            i = numbers[mimic.source]
            greatest[i] = min(greatest[i], limit / abs(mimic.multiplier))
    return read_only(greatest)
