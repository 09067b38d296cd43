"""
Arm inverse kinematics with constrained FABRIK: from a URDF and a target pose to joint values.

Nothing in here needs ROS; the ROS 2 node is in `fabrik_ros.ros`.

"""

from .batch import BatchSolution
from .chain import Chain
from .errors import (
    AmbiguousChainError,
    ChainError,
    FabrikError,
    JointValueError,
    LinkNotFoundError,
    TargetError,
    UrdfError,
)
from .examples import example_arm
from .joints import Joint, JointType, Mimic
from .options import SolverOptions
from .points import PointChain, PointSolution, PointStatus
from .robot import Robot
from .solution import Solution, Status
from .solver import FabrikSolver
from .tree import Tree
from .tree_solver import TipOptions, TipResult, TreeSolution, TreeSolver
from .urdf import load_urdf, parse_urdf

__version__ = '0.1.0'

__all__ = [
    'AmbiguousChainError',
    'BatchSolution',
    'Chain',
    'ChainError',
    'FabrikError',
    'FabrikSolver',
    'Joint',
    'JointType',
    'JointValueError',
    'LinkNotFoundError',
    'Mimic',
    'PointChain',
    'PointSolution',
    'PointStatus',
    'Robot',
    'Solution',
    'SolverOptions',
    'Status',
    'TargetError',
    'TipOptions',
    'TipResult',
    'Tree',
    'TreeSolution',
    'TreeSolver',
    'UrdfError',
    '__version__',
    'example_arm',
    'load_urdf',
    'parse_urdf',
]
