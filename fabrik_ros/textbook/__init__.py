"""
FABRIK as published, on points: to be read beside the papers and `docs/fabrik.md`.

`points` is plain numpy and knows no robot: `point_chain.py` is Algorithm 1 on one screen; then
come `point_tree.py` (branches, with `point_tree_search.py` for the whole solve),
`point_limits.py` (ball joints and hinges) and `two_links.py` (closed forms). `arm` leads from
points to the joint values of a robot arm, `playground` shows them on the screen. Of all this, the
node knows `method: points` alone.

"""

from .arm.point_arm_solver import PointArmSolver
from .arm.point_values import values_from_points
from .points.point_chain import PointChain, PointSolution, PointStatus
from .points.point_limits import BallJoint, Hinge
from .points.point_tree import PointTree, PointTreeSolution
from .points.two_links import nearest_elbow, two_link_angles, TwoLinkSolution

__all__ = [
    'BallJoint',
    'Hinge',
    'PointArmSolver',
    'PointChain',
    'PointSolution',
    'PointStatus',
    'PointTree',
    'PointTreeSolution',
    'TwoLinkSolution',
    'nearest_elbow',
    'two_link_angles',
    'values_from_points',
]
