"""The nearest two things that may collide, where that can be measured."""

from collections.abc import Sequence

from ..collision import MeshFinder, Scene, SelfCollision, WorldCollision
from ..errors import CollisionUnavailableError
from ..model.chain import Chain
from ..model.robot import Robot


def world_of(
    robot: Robot, chain: Chain, scene: Scene, mesh_paths: Sequence[str] = ()
) -> tuple[WorldCollision | None, str]:
    """
    Make what knows distances; None, and the reason, where it cannot be known and no scene asks.

    Raises
    ------
    CollisionError
        If the scene makes no sense, or cannot be kept clear of.

    """
    try:
        own = SelfCollision(robot, chain, mesh_paths=mesh_paths)
        return WorldCollision(own, scene, finder=MeshFinder(mesh_paths)), ''
    except CollisionUnavailableError as error:
        if len(scene):
            raise
        return None, str(error)
