"""The arm as it will be at its goal, by its own shapes; and what is wrong there."""

from collections.abc import Iterator, Mapping, Set

import numpy as np
from visualization_msgs.msg import Marker

from ...collision import MeshFinder
from ...collision.pairs import links_moved_by
from ...model.geometry import Mesh
from ...model.mechanism import Mechanism
from ...model.robot import Robot
from ...model.urdf import parse_visuals
from ...transforms import Array
from ..messages.marker_shapes import Pen
from ..messages.mesh_urls import mesh_url
from ..messages.palette import COLLIDING, GHOST
from ..messages.solid_markers import solid_markers
from .markers import limit_markers

APART, NEAR = 0.02, 0.005
"""A link is drawn once an entry of its pose differs by more than the one, and until by less than
the other [m or 1]: surfaces in one place fight, and what comes and goes is not calm."""
MOST_OF_ONE = 3
"""Most markers of one shape [1]."""


class Ghost:
    """
    Draws the links that an arm moves, where they will be.

    It draws what is to be seen of them; of robots without that, the geometry for collisions.

    Parameters
    ----------
    robot, mechanism
        The robot, and what of it moves.
    finder : MeshFinder
        Finds the meshes that RViz does not find by their names.

    """

    def __init__(self, robot: Robot, mechanism: Mechanism, finder: MeshFinder) -> None:
        self._robot, self._mechanism = robot, mechanism
        links = links_moved_by(robot, mechanism) - _without_known_pose(robot, mechanism)
        parts = parse_visuals(robot.source) or robot.collisions
        self._parts = [part for part in parts if part.link in links]
        self._urls = {
            part.shape.filename: mesh_url(part.shape.filename, finder)
            for part in self._parts
            if isinstance(part.shape, Mesh)
        }
        self._links = tuple(dict.fromkeys(part.link for part in self._parts))
        self._rest = {
            joint.name: min(max(0.0, joint.lower), joint.upper)
            for joint in robot.joints
            if joint.type.is_drivable
        }

    def links_elsewhere(
        self, q: Array, q_goal: Array, others: Mapping[str, float], shown: Set[str] = frozenset()
    ) -> Set[str]:
        """
        Name the links that will be elsewhere.

        Parameters
        ----------
        q, q_goal : array, shape (n,)
            Joint values now, and then [rad or m].
        others : mapping
            Values of joints outside the arm by name, as far as they are known [rad or m].
        shown : set of str
            Names of the links that are drawn already.

        """
        now, then = self._poses(q, others), self._poses(q_goal, others)
        return {
            link
            for link in self._links
            if np.abs(then[link] - now[link]).max() > (NEAR if link in shown else APART)
        }

    def markers(
        self,
        pen: Pen,
        q_goal: Array,
        others: Mapping[str, float],
        links: Set[str],
        colliding: Set[str],
    ) -> Iterator[Marker]:
        """
        Draw some links, and mark the joints that will be at their limits.

        Parameters
        ----------
        pen : Pen
            Draws in the base link of the arm.
        q_goal, others
            Joint values: see `links_elsewhere`.
        links : set of str
            Names of the links that are drawn.
        colliding : set of str
            Names of links that will be too near to something.

        """
        poses = self._poses(q_goal, others)
        for number, part in enumerate(self._parts):
            if part.link not in links:
                continue
            color = COLLIDING if part.link in colliding else GHOST
            T = poses[part.link] @ part.T_link_geometry
            url = self._urls[part.shape.filename] if isinstance(part.shape, Mesh) else ''
            for k, marker in enumerate(solid_markers(part.shape, T, url)):
                yield pen.signed(marker, 'ghost', color, MOST_OF_ONE * number + k)
        if links:
            number = MOST_OF_ONE * len(self._parts)
            yield from limit_markers(pen, 'ghost', self._mechanism, q_goal, number)

    def _poses(self, q: Array, others: Mapping[str, float]) -> dict[str, Array]:
        """Poses of the links in the base link of the arm, shape (4, 4)."""
        values = {**self._rest, **others, **dict(zip(self._mechanism.joint_names, q, strict=True))}
        base = self._mechanism.base_link
        return {link: self._robot.pose(base, link, values) for link in self._links}


def _without_known_pose(robot: Robot, mechanism: Mechanism) -> Set[str]:
    """Name the links below joints whose pose joint states do not tell."""
    return {
        link
        for link in robot.links
        for joint in robot.joints_between(mechanism.base_link, link)
        if joint.type.moves and not joint.type.is_drivable
    }
