"""Self-collision checking: whether it is on, and which links are nearest."""

from collections.abc import Iterable, Mapping
from typing import Any

from rclpy.node import Node

from ..collision import CollisionGuard, SelfCollision
from ..errors import CollisionUnavailableError
from ..model.chain import Chain
from ..model.robot import Robot
from ..model.tree import Tree
from ..transforms import Array
from .parameters import NodeParameters

MOST_NAMED = 5
"""Number of missing meshes that the log names [1]."""


class CollisionWatch:
    """
    Watches the distances between the links of a robot, where that is wanted and possible.

    Parameters
    ----------
    node : Node
        Logs what is not watched, and why.
    robot : Robot
        The robot, with its collision geometry.
    chain : Chain or Tree
        The arm, or arms, that move.
    parameters : NodeParameters
        Whether to watch, where meshes are, how near links may come to each other.

    Attributes
    ----------
    guard : CollisionGuard or None
        Keeps a motion out of collisions; None where nothing is watched.

    Raises
    ------
    CollisionUnavailableError
        If it is required and impossible: coal is not installed, or there is no geometry.
    CollisionError
        If the clearance of a pair makes no sense.

    """

    def __init__(
        self, node: Node, robot: Robot, chain: Chain | Tree, parameters: NodeParameters
    ) -> None:
        self._collision: SelfCollision | None = None
        self.guard: CollisionGuard | None = None
        self._state = "off: the parameter self_collision is 'never'"
        if parameters.self_collision == 'never':
            node.get_logger().info(f'self-collision checking is {self._state}')
            return
        try:
            self._collision = SelfCollision(
                robot,
                chain,
                mesh_paths=parameters.mesh_paths,
                allowed_collisions=parameters.allowed_pairs,
                clearance=parameters.collision_clearance,
                pair_clearances=parameters.clearances_of_pairs,
            )
        except CollisionUnavailableError as error:
            self._state = f'off: {error}'
            if parameters.self_collision == 'require':
                raise CollisionUnavailableError(
                    f"self_collision is 'require', but self-collision checking is {self._state}"
                ) from error
            node.get_logger().warning(f'self-collision checking is {self._state}')
            return
        self.guard = CollisionGuard(self._collision)
        self._state = f'on: {len(self._collision.pairs)} pairs of links'
        self._warn_of_missing_geometry(node, self._collision)
        self._warn_of_unused_clearances(node, self._collision, parameters.clearances_of_pairs)

    def set_other_joints(self, values: Mapping[str, float]) -> None:
        """Set the joints outside the arm, by name [rad or m]."""
        if self._collision is not None:
            self._collision.set_other_joints(values)

    def facts(self, q: Array | None) -> dict[str, Any]:
        """Say whether it is on and, at the joint values `q`, which links are nearest."""
        if self._collision is None or q is None or not self._collision.pairs:
            return {'self_collision': self._state}
        nearest = self._collision.distance(q)
        return {
            'self_collision': self._state,
            'nearest_distance': nearest.distance,
            'nearest_links': f'{nearest.link_a}, {nearest.link_b}',
            'nearest_clearance': nearest.clearance,
        }

    def _warn_of_missing_geometry(self, node: Node, collision: SelfCollision) -> None:
        for missing in collision.missing[:MOST_NAMED]:
            node.get_logger().warning(f'self-collision: {missing}')
        more = len(collision.missing) - MOST_NAMED
        if more > 0:
            node.get_logger().warning(f'self-collision: {more} more meshes are missing')
        node.get_logger().info(f'self-collision checking is {self._state}')

    def _warn_of_unused_clearances(
        self, node: Node, collision: SelfCollision, clearances: Iterable[tuple[str, str]]
    ) -> None:
        """Warn about clearances of pairs that are not checked."""
        left_out = {frozenset((left.link_a, left.link_b)): left for left in collision.left_out}
        checked = {frozenset(pair) for pair in collision.pairs}
        for link_a, link_b in clearances:
            pair = frozenset((link_a, link_b))
            why = left_out[pair].reason.value if pair in left_out else 'one has no geometry'
            if pair not in checked:
                node.get_logger().warning(
                    f"pair_clearances: '{link_a}' and '{link_b}' are not checked: {why}"
                )
