"""
Arm inverse kinematics with constrained FABRIK: from a URDF and a target pose to joint values.

Nothing in here needs ROS; the ROS 2 node is in `fabrik_ros.ros`.

"""

from .errors import (
    AmbiguousChainError,
    ChainError,
    FabrikError,
    JointValueError,
    LinkNotFoundError,
    TargetError,
    UrdfError,
)
from .methods import make_solver
from .model.chain import Chain
from .model.examples import example_arm
from .model.joints import Joint, JointType, Mimic
from .model.robot import Robot
from .model.tree import Tree
from .model.urdf import load_urdf, parse_urdf
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
from .points_arm.point_arm_solver import PointArmSolver
from .points_arm.point_values import values_from_points
from .solver.batch import BatchSolution
from .solver.chain_solver import FabrikSolver
from .solver.options import SolverOptions
from .solver.solution import Solution, Status, TipResult
from .solver.tree_solver import TipOptions, TreeSolver

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
