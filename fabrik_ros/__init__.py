"""
Arm inverse kinematics with constrained FABRIK: from a URDF and a target pose to joint values.

Nothing in here needs ROS; the ROS 2 node is in `fabrik_ros.ros`.

"""

from importlib import import_module
from typing import Any, TYPE_CHECKING

from .errors import (
    AmbiguousChainError,
    ChainError,
    FabrikError,
    JointValueError,
    LinkNotFoundError,
    ProgramError,
    RefusedError,
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
from .reasons import Reason, ReasonKind
from .solver.batch import BatchSolution
from .solver.chain_solver import FabrikSolver
from .solver.options import SolverOptions
from .solver.solution import Solution, Status, TipResult
from .solver.tree_solver import TipOptions, TreeSolver
from .transforms import pose_from_xyz_quaternion, pose_from_xyz_rpy

if TYPE_CHECKING:
    from .motion.arm_follower import ArmFollower
    from .motion.follower_options import FollowerOptions
    from .motion.following.arm_state import State
    from .motion.joint_map import JointMap
    from .plans import plan, plan_program
    from .textbook import (
        BallJoint,
        Hinge,
        nearest_elbow,
        PointArmSolver,
        PointChain,
        PointSolution,
        PointStatus,
        PointTree,
        PointTreeSolution,
        two_link_angles,
        TwoLinkSolution,
        values_from_points,
    )

__version__ = '0.1.0'

__all__ = [
    'AmbiguousChainError',
    'ArmFollower',
    'BallJoint',
    'BatchSolution',
    'Chain',
    'ChainError',
    'FabrikError',
    'FabrikSolver',
    'FollowerOptions',
    'Hinge',
    'Joint',
    'JointMap',
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
    'ProgramError',
    'Reason',
    'ReasonKind',
    'RefusedError',
    'Robot',
    'Solution',
    'SolverOptions',
    'State',
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
    'plan',
    'plan_program',
    'pose_from_xyz_quaternion',
    'pose_from_xyz_rpy',
    'two_link_angles',
    'values_from_points',
]

_LATER = {
    'ArmFollower': '.motion.arm_follower',
    'FollowerOptions': '.motion.follower_options',
    'JointMap': '.motion.joint_map',
    'State': '.motion.following.arm_state',
    'BallJoint': '.textbook',
    'Hinge': '.textbook',
    'PointArmSolver': '.textbook',
    'PointChain': '.textbook',
    'PointSolution': '.textbook',
    'PointStatus': '.textbook',
    'PointTree': '.textbook',
    'PointTreeSolution': '.textbook',
    'TwoLinkSolution': '.textbook',
    'nearest_elbow': '.textbook',
    'plan': '.plans',
    'plan_program': '.plans',
    'two_link_angles': '.textbook',
    'values_from_points': '.textbook',
}
"""Public names that are imported when they are first asked for: who only solves does not wait."""


def __getattr__(name: str) -> Any:
    """Import a public name that moves arms, or is of the textbook."""
    if name not in _LATER:
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    return getattr(import_module(_LATER[name], __name__), name)
