"""Collision checking: whether it is on, and what is nearest to what."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from rclpy.node import Node

from ..collision import (
    CheckedPairs,
    CollisionGuard,
    load_scene,
    MeshFinder,
    SelfCollision,
    WorldCollision,
)
from ..errors import CollisionUnavailableError, SceneError, shown
from ..model.chain import Chain
from ..model.robot import Robot
from ..model.tree import Tree
from ..transforms import Array
from .parameters import NodeParameters

MOST_NAMED = 5
"""Number of missing meshes that the log names [1]."""


class CollisionWatch:
    """
    Watches the distances between links, and from obstacles, where that is wanted and possible.

    Parameters
    ----------
    node : Node
        Logs what is not watched, and why.
    robot : Robot
        The robot, with its collision geometry.
    chain : Chain or Tree
        The arm, or arms, that move.
    parameters : NodeParameters
        Whether to watch, where meshes and obstacles are, how near links may come to what.

    Attributes
    ----------
    guard : CollisionGuard or None
        Keeps a motion out of collisions; None where nothing is watched.

    Raises
    ------
    CollisionUnavailableError
        If it is required and impossible: coal is not installed, or there is no geometry.
    CollisionError
        If the clearance of a pair, or the scene, makes no sense.

    """

    def __init__(
        self, node: Node, robot: Robot, chain: Chain | Tree, parameters: NodeParameters
    ) -> None:
        self._pairs: CheckedPairs | None = None
        self.guard: CollisionGuard | None = None
        self._state = "off: the parameter self_collision is 'never'"
        self._log = node.get_logger()
        is_wanted = parameters.self_collision != 'never'
        own = self._own_pairs(robot, chain, parameters) if is_wanted or parameters.scene else None
        if own is not None and is_wanted:
            self._state = f'on: {len(own.pairs)} pairs of links'
            self._pairs = own
            self._warn_of_unused_clearances(own, parameters.clearances_of_pairs)
        if own is not None and parameters.scene:
            self._pairs = _world(own, parameters, robot, chain.base_link)
        if own is not None:
            self._warn_of_missing_geometry(own)
        if self._pairs is not None:
            self.guard = CollisionGuard(self._pairs)
        if own is not None or not is_wanted:
            self._log.info(f'self-collision checking is {self._state}')
        self._obstacles = len(self._pairs.scene) if isinstance(self._pairs, WorldCollision) else 0
        self._log.info(f'{self._obstacles or "no"} obstacles known')

    def _own_pairs(
        self, robot: Robot, chain: Chain | Tree, parameters: NodeParameters
    ) -> SelfCollision | None:
        """Pair up the links; None, with a warning, where that is impossible and not required."""
        try:
            return SelfCollision(
                robot,
                chain,
                mesh_paths=parameters.mesh_paths,
                allowed_collisions=parameters.allowed_pairs,
                clearance=parameters.collision_clearance,
                pair_clearances=parameters.clearances_of_pairs,
            )
        except CollisionUnavailableError as error:
            self._state = f'off: {error}'
            if parameters.scene:
                raise CollisionUnavailableError(
                    f"the scene '{parameters.scene}' cannot be kept clear of: {error}"
                ) from error
            if parameters.self_collision == 'require':
                raise CollisionUnavailableError(
                    f"self_collision is 'require', but self-collision checking is {self._state}"
                ) from error
            self._log.warning(f'self-collision checking is {self._state}')
            return None

    def set_other_joints(self, values: Mapping[str, float]) -> None:
        """Set the joints outside the arm, by name [rad or m]."""
        if self._pairs is not None:
            self._pairs.set_other_joints(values)

    def facts(self, q: Array | None) -> dict[str, Any]:
        """Say what is watched and, at the joint values `q`, what is nearest to what."""
        facts = {'self_collision': self._state, 'obstacles': self._obstacles}
        if self._pairs is None or q is None or len(self._pairs.distances) == 0:
            return facts
        nearest = self._pairs.distance(q)
        return facts | {
            'nearest_distance': nearest.distance,
            'nearest_links': f'{nearest.link_a}, {nearest.link_b}',
            'nearest_clearance': nearest.clearance,
        }

    def _warn_of_missing_geometry(self, collision: SelfCollision) -> None:
        for missing in collision.missing[:MOST_NAMED]:
            self._log.warning(f'self-collision: {missing}')
        more = len(collision.missing) - MOST_NAMED
        if more > 0:
            self._log.warning(f'self-collision: {more} more meshes are missing')

    def _warn_of_unused_clearances(
        self, collision: SelfCollision, clearances: Iterable[tuple[str, str]]
    ) -> None:
        """Warn about clearances of pairs that are not checked."""
        left_out = {frozenset((left.link_a, left.link_b)): left for left in collision.left_out}
        checked = {frozenset(pair) for pair in collision.pairs}
        for link_a, link_b in clearances:
            pair = frozenset((link_a, link_b))
            why = left_out[pair].reason.value if pair in left_out else 'one has no geometry'
            if pair not in checked:
                self._log.warning(
                    f"pair_clearances: '{link_a}' and '{link_b}' are not checked: {why}"
                )


def _world(
    own: SelfCollision, parameters: NodeParameters, robot: Robot, base_link: str
) -> WorldCollision:
    """Load the scene; obstacles without a frame stand in the base frame of the arm."""

    def pose_of(frame: str) -> Array:
        link = frame or base_link
        moving = [
            joint for joint in robot.joints_between(robot.root_link, link) if joint.type.moves
        ]
        if moving:
            raise SceneError(
                f"frame '{shown(link)}' moves with joint '{shown(moving[0].name)}'; give the "
                'obstacle a frame that does not, or attach it to the link with `link`'
            )
        return robot.pose(robot.root_link, link, {})

    file = Path(parameters.scene)
    return WorldCollision(
        own,
        load_scene(file, pose_of),
        clearance=parameters.obstacle_clearance,
        finder=MeshFinder(parameters.mesh_paths, str(file.parent)),
        checks_links=parameters.self_collision != 'never',
    )
