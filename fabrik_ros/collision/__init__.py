"""Collisions of arms with themselves and with obstacles; needs coal."""

from .checked_pairs import CheckedPairs, Nearest, NearestPoints
from .guard import CollisionGuard
from .meshes import MeshFinder
from .pairs import LeftOut, LeftOutReason
from .point_cells import PointCells
from .point_map import PointMap
from .robot_shape import PlacedShape, RobotShape
from .scene import Obstacle, ObstacleSource, Scene
from .scene_file import link_poses, load_scene
from .self_collision import SelfCollision
from .solids import MissingGeometry
from .world_collision import WorldCollision

__all__ = [
    'CheckedPairs',
    'CollisionGuard',
    'LeftOut',
    'LeftOutReason',
    'MeshFinder',
    'MissingGeometry',
    'Nearest',
    'NearestPoints',
    'Obstacle',
    'ObstacleSource',
    'PlacedShape',
    'PointCells',
    'PointMap',
    'RobotShape',
    'Scene',
    'SelfCollision',
    'WorldCollision',
    'link_poses',
    'load_scene',
]
