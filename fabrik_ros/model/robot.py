"""
The robot as a tree of links and joints.

Built once, from a URDF (`urdf.py`), and never changed. Joint values are [rad] for revolute and
[m] for prismatic joints.

"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
import math

import numpy as np

from ..errors import ChainError, JointValueError, LinkNotFoundError, listed, shown
from ..transforms import Array, inverse
from .chain import Chain
from .default_chain import choose_tip
from .geometry import Collision
from .joints import Joint
from .link_tree import LinkTree
from .tree import Tree


@dataclass(frozen=True, eq=False)
class Robot(LinkTree):
    """
    A tree of links, as read from a URDF.

    Made by `load_urdf`, which guarantees one root, no cycles, unique names and usable joints.

    Attributes
    ----------
    name : str
        Name of the robot.
    links : tuple of str
        Names of all links.
    joints : tuple of Joint
        All joints, fixed ones too.
    source : str
        The URDF text the robot was read from.
    warnings : tuple of str
        What was odd in the description but could be understood.
    collisions : tuple of Collision
        The collision geometry that could be understood, in the order of the links.
    folder : str
        The folder that the URDF was read from; '' where it came as text.

    """

    source: str = ''
    warnings: tuple[str, ...] = ()
    collisions: tuple[Collision, ...] = ()
    folder: str = ''

    def __repr__(self) -> str:
        moving = sum(joint.type.moves for joint in self.joints)
        return (
            f"Robot('{shown(self.name)}': {len(self.links)} links, {len(self.joints)} joints, "
            f'{moving} of which move)'
        )

    @cached_property
    def _joints_by_name(self) -> Mapping[str, Joint]:
        return {joint.name: joint for joint in self.joints}

    def joint(self, name: str) -> Joint:
        """Find a joint by its name; KeyError when there is none."""
        return self._joints_by_name[name]

    def chain(self, base_link: str = '', tip_link: str = '') -> Chain:
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

    def tree(self, base_link: str = '', tip_links: Iterable[str] = ()) -> Tree:
        """
        Take the arms from a link to several of its descendants, with what they share.

        Parameters
        ----------
        base_link : str
            First link. Left out, the root of the robot.
        tip_links : iterable of str
            Last links, at least one. A tip may be on the path to another one.

        Raises
        ------
        LinkNotFoundError
            If the model has no such link.
        ChainError
            If there is no tip or one is named twice, a tip is not below the base or does not
            move, or a joint on the path to a tip cannot be driven (planar, floating, mimic of a
            joint elsewhere).

        """
        base_link = base_link or self.root_link
        if isinstance(tip_links, str):
            raise TypeError(f"tip_links must be several names, as ['{tip_links}']; got one name")
        tips = tuple(tip_links)
        for link in (base_link, *tips):
            self._require_link(link)
        return Tree(base_link, tips, tuple(tuple(self._path(base_link, tip)) for tip in tips))

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
            If the value of a joint between them is missing or not finite; names it.

        """
        to_base, to_link = self._paths_to(base_link, link)
        return inverse(_pose_along(to_base, values)) @ _pose_along(to_link, values)

    def joints_between(self, base_link: str, link: str) -> tuple[Joint, ...]:
        """Joints that the pose of one link in the other depends on."""
        to_base, to_link = self._paths_to(base_link, link)
        return *reversed(to_base), *to_link

    def _paths_to(self, base_link: str, link: str) -> tuple[list[Joint], list[Joint]]:
        """List the joints down to each of two links from their nearest common ancestor."""
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
                ancestors = listed([joint.parent for joint in path]) or 'none: it is the root'
                raise ChainError(
                    f"'{shown(tip_link)}' is not below '{shown(base_link)}'; "
                    f'its ancestors are: {ancestors}'
                )
            joint = self.parent_joint[link]
            path.append(joint)
            link = joint.parent
        return path[::-1]

    def _require_link(self, name: str) -> None:
        if name not in self.child_joints:
            raise LinkNotFoundError(name, self.links)


def _pose_along(path: list[Joint], values: Mapping[str, float]) -> Array:
    T = np.eye(4)
    for joint in path:
        T = T @ joint.origin @ joint.motion(_value(joint, values))
    return T


def _value(joint: Joint, values: Mapping[str, float]) -> float:
    if not joint.type.moves:
        return 0.0
    if not joint.type.is_drivable:
        raise JointValueError(
            f"joint '{shown(joint.name)}' is {joint.type.value}: joint states do not tell its pose"
        )
    source = joint.mimic.source if joint.mimic else joint.name
    if source not in values:
        raise JointValueError(f"the value of joint '{shown(source)}' is not known")
    value = float(values[source])
    if not math.isfinite(value):
        raise JointValueError(
            f"the value of joint '{shown(source)}' is {value}; expected a number"
        )
    return joint.mimic.multiplier * value + joint.mimic.offset if joint.mimic else value
