"""The nearest two things that may collide, where that can be measured."""

from ..collision import Scene, SelfCollision, WorldCollision
from ..errors import CollisionUnavailableError
from ..model.chain import Chain
from ..model.robot import Robot


def world_of(robot: Robot, chain: Chain, scene: Scene) -> tuple[WorldCollision | None, str]:
    """
    Make what knows distances; None, and the reason, where it cannot be known and no scene asks.

    Raises
    ------
    CollisionError
        If the scene makes no sense, or cannot be kept clear of.

    """
    try:
        return WorldCollision(SelfCollision(robot, chain), scene), ''
    except CollisionUnavailableError as error:
        if len(scene):
            raise
        return None, str(error)
