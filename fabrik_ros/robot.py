"""
The robot as a tree of links and joints, and one chain through it.

Both are built once, from a URDF (`urdf.py`), and never change: arrays are read-only. Joint
values are `q` [rad] for hinges and [m] for slides.

"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
import math

import numpy as np
import numpy.typing as npt

from .default_chain import choose_tip
from .errors import ChainError, JointValueError, LinkNotFoundError
from .kernels import kinematics
from .kernels.model import COLUMNS, FRAME, pack_row
from .transforms import (
    Array,
    inverse,
    is_pose,
    rotation_from_axis_angle,
    rotation_z_to,
    transform,
)


class JointType(Enum):
    """Joint types of URDF."""

    REVOLUTE = 'revolute'
    CONTINUOUS = 'continuous'
    PRISMATIC = 'prismatic'
    FIXED = 'fixed'
    PLANAR = 'planar'
    FLOATING = 'floating'

    @property
    def moves(self) -> bool:
        """Whether the joint has a value."""
        return self is not JointType.FIXED

    @property
    def is_drivable(self) -> bool:
        """Whether the joint has exactly one value."""
        return self.moves and self not in (JointType.PLANAR, JointType.FLOATING)

    @property
    def is_hinge(self) -> bool:
        """Whether the joint turns about its axis."""
        return self in (JointType.REVOLUTE, JointType.CONTINUOUS)


@dataclass(frozen=True)
class Mimic:
    """A joint that follows another: `q = multiplier * q_source + offset`."""

    source: str
    """Name of the joint that is followed; never itself a follower."""
    multiplier: float = 1.0
    offset: float = 0.0


@dataclass(frozen=True, eq=False)
class Joint:
    """One joint of the tree."""

    name: str
    type: JointType
    parent: str
    """Link the joint hangs on."""
    child: str
    """Link the joint carries."""
    origin: Array
    """T_parent_joint, shape (4, 4): the joint frame at value 0, in the parent link's."""
    axis: Array
    """Unit vector, shape (3,), in the joint frame."""
    lower: float = -math.inf
    """Least value [rad or m]; -inf when continuous."""
    upper: float = math.inf
    """Greatest value [rad or m]; inf when continuous."""
    velocity: float = math.inf
    """Greatest speed [rad/s or m/s]; inf when the model gives none."""
    mimic: Mimic | None = None

    def motion(self, value: float) -> Array:
        """Pose (4, 4) of the child link in the joint frame at joint value `value`."""
        if self.type.is_hinge:
            return transform(rotation_from_axis_angle(self.axis, value), np.zeros(3))
        if self.type is JointType.PRISMATIC:
            return transform(np.eye(3), self.axis * value)
        return np.eye(4)


@dataclass(frozen=True, eq=False)
class Robot:
    """
    A tree of links, as read from a URDF.

    Made by `load_urdf`, which guarantees one root, no cycles, unique names and usable joints.
    """

    name: str
    links: tuple[str, ...]
    joints: tuple[Joint, ...]
    source: str = field(default='', repr=False)
    """The URDF text the robot was read from."""
    warnings: tuple[str, ...] = ()
    """What was odd in the description but could be understood."""

    @cached_property
    def parent_joint(self) -> Mapping[str, Joint]:
        """The joint above each link; the root link has none."""
        return {joint.child: joint for joint in self.joints}

    @cached_property
    def child_joints(self) -> Mapping[str, tuple[Joint, ...]]:
        """The joints below each link."""
        below: dict[str, list[Joint]] = {link: [] for link in self.links}
        for joint in self.joints:
            below[joint.parent].append(joint)
        return {link: tuple(joints) for link, joints in below.items()}

    @cached_property
    def root_link(self) -> str:
        """The link above all others."""
        return next(link for link in self.links if link not in self.parent_joint)

    def joint(self, name: str) -> Joint:
        """Find a joint by its name; KeyError when there is none."""
        return {joint.name: joint for joint in self.joints}[name]

    def chain(self, base_link: str = '', tip_link: str = '') -> 'Chain':
        """
        Take the chain from a link to one of its descendants.

        Parameters
        ----------
        base_link : str
            First link. Left out, the root of the tree.
        tip_link : str
            Last link. Left out, the end of the only arm below `base_link`, short of its
            gripper.

        Raises
        ------
        LinkNotFoundError
            If the model has no such link.
        AmbiguousChainError
            If a name was left out and several chains are sensible; lists them.
        ChainError
            If the tip is not below the base, nothing moves between them, or a joint between
            them cannot be driven (planar, floating, mimic of a joint elsewhere).

        """
        base_link = base_link or self.root_link
        self._require_link(base_link)
        if not tip_link:
            tip_link = choose_tip(self, base_link)
        self._require_link(tip_link)
        return Chain(base_link, tip_link, tuple(self._path(base_link, tip_link)))

    def pose(self, base_link: str, link: str, values: Mapping[str, float]) -> Array:
        """
        Pose (4, 4) of `link` in the frame of `base_link`, wherever in the tree the two are.

        Parameters
        ----------
        base_link, link : str
            Any two links.
        values : mapping
            Joint values by name [rad or m]; those of joints between the two are needed.

        Raises
        ------
        LinkNotFoundError
            If the model has no such link.
        JointValueError
            If the value of a joint on the way is missing or not finite; names it.

        """
        to_base, to_link = self._ways_to(base_link, link)
        return inverse(_pose_along(to_base, values)) @ _pose_along(to_link, values)

    def joints_between(self, base_link: str, link: str) -> tuple[Joint, ...]:
        """Joints that the pose of one link in the other depends on."""
        to_base, to_link = self._ways_to(base_link, link)
        return *reversed(to_base), *to_link

    def _ways_to(self, base_link: str, link: str) -> tuple[list[Joint], list[Joint]]:
        """Joints down to each of two links from where their ways from the root part."""
        self._require_link(base_link)
        self._require_link(link)
        above_base = list(self._joints_above(base_link))
        above_link = list(self._joints_above(link))
        while above_base and above_link and above_base[-1] is above_link[-1]:
            above_base.pop()
            above_link.pop()
        return above_base[::-1], above_link[::-1]

    def _joints_above(self, link: str) -> Iterator[Joint]:
        while link != self.root_link:
            joint = self.parent_joint[link]
            yield joint
            link = joint.parent

    def _path(self, base_link: str, tip_link: str) -> list[Joint]:
        path: list[Joint] = []
        link = tip_link
        while link != base_link:
            if link == self.root_link:
                ancestors = ', '.join(joint.parent for joint in path) or 'none: it is the root'
                raise ChainError(
                    f"'{tip_link}' is not below '{base_link}'; its ancestors are: {ancestors}"
                )
            joint = self.parent_joint[link]
            path.append(joint)
            link = joint.parent
        return path[::-1]

    def _require_link(self, name: str) -> None:
        if name not in self.child_joints:
            raise LinkNotFoundError(name, self.links)


def _pose_along(way: list[Joint], values: Mapping[str, float]) -> Array:
    T = np.eye(4)
    for joint in way:
        T = T @ joint.origin @ joint.motion(_value(joint, values))
    return T


def _value(joint: Joint, values: Mapping[str, float]) -> float:
    if joint.type is JointType.FIXED:
        return 0.0
    if not joint.type.is_drivable:
        raise JointValueError(
            f"joint '{joint.name}' is {joint.type.value}: joint states do not tell its pose"
        )
    source = joint.mimic.source if joint.mimic else joint.name
    if source not in values:
        raise JointValueError(f"the value of joint '{source}' is not known")
    value = float(values[source])
    if not math.isfinite(value):
        raise JointValueError(f"the value of joint '{source}' is {value}; expected a number")
    return joint.mimic.multiplier * value + joint.mimic.offset if joint.mimic else value


class Chain:
    """
    Serial, immutable description of an arm from a base link to a tip link.

    Fixed joints are folded into their neighbours. Followers (`mimic`) move with their source
    and have no value of their own: `q` has one entry for each joint in `joint_names`.

    Attributes
    ----------
    base_link, tip_link : str
        First and last link.
    joint_names : tuple of str
        Names of the n joints that have a value, in order from base to tip.
    joint_types : tuple of JointType
        Their types.
    lower, upper : array, shape (n,)
        Limits [rad or m]; infinite where continuous. Limits of followers are included.
    velocity : array, shape (n,)
        Greatest speeds [rad/s or m/s]; inf where the model gives none. Followers included.
    root_point : array, shape (3,)
        Where the first joint sits, in the frame of the base link [m].
    reach : float
        The tip is never farther than this from `root_point` [m].
    hole : float
        The tip is never nearer than this to `root_point` [m]; mostly 0.
    model : array
        What the compiled functions read; see `kernels/model.py`.

    """

    def __init__(self, base_link: str, tip_link: str, path: tuple[Joint, ...]) -> None:
        _check_path(base_link, tip_link, path)
        self.base_link = base_link
        self.tip_link = tip_link
        self._path = path
        moving = [joint for joint in path if joint.type.moves]
        sources = [joint for joint in moving if joint.mimic is None]
        self.joint_names = tuple(joint.name for joint in sources)
        self.joint_types = tuple(joint.type for joint in sources)
        self.model = _pack(path, self.joint_names)
        self.lower, self.upper = _limits(moving, self.joint_names)
        self.velocity = _velocities(moving, self.joint_names)
        self.root_point = _read_only(self.model[0, 9:12].copy())
        self.hole, self.reach = _radii(self.model, moving)

    def __repr__(self) -> str:
        return f"Chain('{self.base_link}' to '{self.tip_link}': {', '.join(self.joint_names)})"

    def __len__(self) -> int:
        return len(self.joint_names)

    def with_tool(self, T_tip_tool: npt.ArrayLike) -> 'Chain':
        """
        Append a fixed tool frame, `T_tip_tool` of shape (4, 4), behind the tip link.

        Raises
        ------
        ChainError
            If the tool is not a pose.

        """
        origin = _read_only(np.array(T_tip_tool, dtype=np.float64))
        if not is_pose(origin):
            raise ChainError(
                'the tool is not a pose: expected finite numbers of shape (4, 4), a rotation '
                f'and a position [m] above a last row 0 0 0 1; got {origin.tolist()}'
            )
        tool = Joint('', JointType.FIXED, self.tip_link, '', origin, np.array([1.0, 0.0, 0.0]))
        return Chain(self.base_link, self.tip_link, (*self._path, tool))

    def forward_kinematics(self, q: npt.ArrayLike) -> Array:
        """
        Pose of the tip at joint values `q`, shape (n,) [rad or m].

        Returns
        -------
        array, shape (4, 4)
            T_base_tip.

        Raises
        ------
        JointValueError
            If `q` has another shape or is not finite. Limits are not looked at.

        """
        T = np.empty((4, 4))
        kinematics.tip_pose(self.model, self.checked(q), np.empty(FRAME), T)
        return T

    def points(self, q: npt.ArrayLike) -> Array:
        """Joint centres and the tip in the base frame [m], shape (moving joints + 1, 3)."""
        points = np.empty((len(self.model), 3))
        kinematics.joint_centres(self.model, self.checked(q), np.empty(FRAME), points)
        return points

    def random_configuration(self, rng: np.random.Generator) -> Array:
        """Joint values drawn evenly from inside the limits; from [-pi, pi] where continuous."""
        lower, upper = self.finite_limits()
        return rng.uniform(lower, upper)

    def mid_configuration(self) -> Array:
        """Joint values in the middle of the limits; 0 where continuous."""
        lower, upper = self.finite_limits()
        return 0.5 * (lower + upper)

    def finite_limits(self) -> tuple[Array, Array]:
        """Limits with infinite ones replaced by one turn (hinge) or the reach (slide)."""
        span = np.array([math.pi if t.is_hinge else self.reach for t in self.joint_types])
        lower_open, upper_open = np.isinf(self.lower), np.isinf(self.upper)
        lower = np.where(
            lower_open, np.where(upper_open, -span, self.upper - 2 * span), self.lower
        )
        upper = np.where(upper_open, np.where(lower_open, span, self.lower + 2 * span), self.upper)
        return lower, upper

    def checked(self, q: npt.ArrayLike, name: str = 'q') -> Array:
        """Return `q` as a float array of shape (n,), or raise JointValueError."""
        values = np.array(q, dtype=np.float64, order='C')
        if values.shape != (len(self),):
            raise JointValueError(
                f'{name} has shape {values.shape}, expected ({len(self)},): '
                f'one value for each of {", ".join(self.joint_names)}'
            )
        if not np.isfinite(values).all():
            joint = self.joint_names[int(np.argmin(np.isfinite(values)))]
            raise JointValueError(f"{name} has a value that is not finite for joint '{joint}'")
        return values


def _read_only(array: Array) -> Array:
    array.flags.writeable = False
    return array


def _check_path(base_link: str, tip_link: str, path: tuple[Joint, ...]) -> None:
    where = f"between '{base_link}' and '{tip_link}'"
    sources = {joint.name for joint in path if joint.type.moves and joint.mimic is None}
    for joint in path:
        if joint.type.moves and not joint.type.is_drivable:
            raise ChainError(
                f"joint '{joint.name}' {where} is {joint.type.value}; "
                'only revolute, continuous, prismatic and fixed joints can be in a chain'
            )
        if joint.mimic and joint.mimic.source not in sources:
            raise ChainError(
                f"joint '{joint.name}' {where} mimics '{joint.mimic.source}', "
                'which is not in the chain; choose links so that both are, or neither is'
            )
    if not sources:
        raise ChainError(f'nothing moves {where}: the chain has no movable joint')


def _pack(path: tuple[Joint, ...], joint_names: tuple[str, ...]) -> Array:
    """
    One row for each moving joint and one for the tip.

    Joint frames are turned once, here, so that every axis is the local z.
    """
    rows = []
    T_before = np.eye(4)
    for joint in path:
        T_before = T_before @ joint.origin
        if not joint.type.moves:
            continue
        Z = transform(rotation_z_to(joint.axis), np.zeros(3))
        mimic = joint.mimic or Mimic(joint.name)
        source = joint_names.index(mimic.source)
        T = T_before @ Z
        follows = joint.mimic is not None
        is_slide = not joint.type.is_hinge
        rows.append(pack_row(T, is_slide, source, mimic.multiplier, mimic.offset, follows))
        T_before = inverse(Z)
    rows.append(pack_row(T_before))
    return _read_only(np.array(rows).reshape(-1, COLUMNS))


def _limits(moving: list[Joint], names: tuple[str, ...]) -> tuple[Array, Array]:
    lower, upper = np.full(len(names), -math.inf), np.full(len(names), math.inf)
    for joint in moving:
        mimic = joint.mimic or Mimic(joint.name)
        if mimic.multiplier == 0.0:
            _check_stands_inside(joint, mimic.offset)
            continue
        ends = [(limit - mimic.offset) / mimic.multiplier for limit in (joint.lower, joint.upper)]
        i = names.index(mimic.source)
        lower[i], upper[i] = max(lower[i], min(ends)), min(upper[i], max(ends))
    for i, name in enumerate(names):
        if lower[i] > upper[i]:
            raise ChainError(
                f"the limits of joint '{name}' and of the joints that mimic it have nothing "
                f'in common: [{lower[i]:.6g}, {upper[i]:.6g}]'
            )
    return _read_only(lower), _read_only(upper)


def _check_stands_inside(joint: Joint, value: float) -> None:
    if not joint.lower <= value <= joint.upper:
        raise ChainError(
            f"joint '{joint.name}' always stands at {value:.6g} (its mimic multiplier is 0), "
            f'outside its limits [{joint.lower:.6g}, {joint.upper:.6g}]'
        )


def _velocities(moving: list[Joint], names: tuple[str, ...]) -> Array:
    velocity = np.full(len(names), math.inf)
    for joint in moving:
        mimic = joint.mimic or Mimic(joint.name)
        if mimic.multiplier != 0.0:
            i = names.index(mimic.source)
            velocity[i] = min(velocity[i], joint.velocity / abs(mimic.multiplier))
    return _read_only(velocity)


def _radii(model: Array, moving: list[Joint]) -> tuple[float, float]:
    """Radii of the hole and of the sphere that the tip can reach from the first joint."""
    longest, shortest = [], []
    for joint, row in zip(moving, model[1:], strict=True):
        travel = 0.0 if joint.type.is_hinge else max(abs(joint.lower), abs(joint.upper))
        length = float(np.linalg.norm(row[9:12]))
        longest.append(length + travel)
        shortest.append(max(0.0, length - travel))
    reach = sum(longest)
    hole = max(short - (reach - long) for short, long in zip(shortest, longest, strict=True))
    return max(0.0, hole), reach
