"""Whether the arm is kept from touching itself, and how near it comes to that."""

from collections.abc import Mapping
from typing import Any

from rclpy.node import Node

from ..chain import Chain
from ..collision import CollisionGuard, SelfCollision
from ..errors import CollisionError
from ..robot import Robot
from ..transforms import Array
from ..tree import Tree
from .parameters import NodeParameters

MOST_NAMED = 5


class CollisionWatch:
    """
    Looks after the distances between the links of a robot, where that can be done.

    Parameters
    ----------
    node : Node
        Says in its log what is not looked after, and why.
    robot : Robot
        The robot, with its collision geometry.
    chain : Chain or Tree
        The arm, or arms, that move.
    parameters : NodeParameters
        Whether to look after it, where meshes are, and which links may touch.

    Attributes
    ----------
    guard : CollisionGuard or None
        What a motion needs to heed; None where nothing is looked after.

    """

    def __init__(
        self, node: Node, robot: Robot, chain: Chain | Tree, parameters: NodeParameters
    ) -> None:
        self._collision: SelfCollision | None = None
        self.guard: CollisionGuard | None = None
        self._state = 'off: the parameter self_collision is false'
        if not parameters.self_collision:
            return
        try:
            self._collision = SelfCollision(
                robot,
                chain,
                folders=parameters.mesh_folders,
                may_touch=parameters.links_that_may_touch,
                clearance=parameters.collision_clearance,
            )
        except CollisionError as error:
            self._state = f'off: {error}'
            node.get_logger().warning(f'self-collision is not looked after: {error}')
            return
        self.guard = CollisionGuard(self._collision)
        self._state = f'on: {len(self._collision.pairs)} pairs of links'
        self._tell_what_is_missing(node, self._collision)

    def stand(self, values: Mapping[str, float]) -> None:
        """Take note of where the joints outside the arm stand [rad or m], by name."""
        if self._collision is not None:
            self._collision.stand(values)

    def facts(self, q: Array | None) -> dict[str, Any]:
        """Tell whether it is on and, at the joint values `q`, which links are nearest."""
        if self._collision is None or q is None or not self._collision.pairs:
            return {'self_collision': self._state}
        nearest = self._collision.distance(q)
        return {
            'self_collision': self._state,
            'nearest_distance': nearest.distance,
            'nearest_links': f'{nearest.link_a}, {nearest.link_b}',
        }

    def _tell_what_is_missing(self, node: Node, collision: SelfCollision) -> None:
        for missing in collision.missing[:MOST_NAMED]:
            node.get_logger().warning(f'self-collision: {missing}')
        more = len(collision.missing) - MOST_NAMED
        if more > 0:
            node.get_logger().warning(f'self-collision: {more} more meshes are missing')
        node.get_logger().info(f'self-collision is {self._state}')
