"""Self-collision of arms, from the collision geometry of the URDF; needs coal."""

from .guard import CollisionGuard
from .meshes import MeshFinder
from .pairs import LeftOut, Reason
from .self_collision import Nearest, SelfCollision
from .solids import MissingGeometry

__all__ = [
    'CollisionGuard',
    'LeftOut',
    'MeshFinder',
    'MissingGeometry',
    'Nearest',
    'Reason',
    'SelfCollision',
]
