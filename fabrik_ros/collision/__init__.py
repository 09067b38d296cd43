"""Self-collision of arms, from the collision geometry of the URDF; needs coal."""

from .guard import CollisionGuard
from .meshes import MeshFinder
from .pairs import LeftOut, LeftOutReason
from .self_collision import Nearest, SelfCollision
from .solids import MissingGeometry

__all__ = [
    'CollisionGuard',
    'LeftOut',
    'LeftOutReason',
    'MeshFinder',
    'MissingGeometry',
    'Nearest',
    'SelfCollision',
]
