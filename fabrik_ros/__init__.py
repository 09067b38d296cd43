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
from .methods import make_solver
from .options import SolverOptions
from .points import (
    BallJoint,
    Hinge,
    nearest_elbow,
    PointChain,
    PointSolution,
    PointStatus,
    PointTree,
    PointTreeSolution,
    two_link_angles,
    TwoLinkSolution,
)
from .points.arm import PointArmSolver
from .points.arm_values import values_from_points
from .robot import Robot
from .solution import Solution, Status
from .solver import FabrikSolver
from .tree import Tree
from .tree_solver import TipOptions, TipResult, TreeSolution, TreeSolver
from .urdf import load_urdf, parse_urdf

__version__ = '0.1.0'

__all__ = [
    'AmbiguousChainError',
    'BallJoint',
    'BatchSolution',
    'Chain',
    'ChainError',
    'FabrikError',
    'FabrikSolver',
    'Hinge',
    'Joint',
    'JointType',
    'JointValueError',
    'LinkNotFoundError',
    'Mimic',
    'PointArmSolver',
    'PointChain',
    'PointSolution',
    'PointStatus',
    'PointTree',
    'PointTreeSolution',
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
    'TwoLinkSolution',
    'UrdfError',
    '__version__',
    'example_arm',
    'load_urdf',
    'make_solver',
    'nearest_elbow',
    'parse_urdf',
    'two_link_angles',
    'values_from_points',
]
