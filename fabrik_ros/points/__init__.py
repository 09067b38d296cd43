"""
FABRIK as published, on points, in plain numpy: to be read beside the papers.

`point_chain.py` is Algorithm 1 on one screen; then come `point_tree.py` (branches, with
`point_tree_search.py` for the whole solve), `point_limits.py` (ball joints and hinges) and
`two_links.py` (closed forms). See `docs/fabrik.md`; the room `points_arm` leads from points to
the joint values of a robot arm.

"""

from .point_chain import PointChain, PointSolution, PointStatus
from .point_limits import BallJoint, Hinge
from .point_tree import PointTree, PointTreeSolution
from .two_links import nearest_elbow, two_link_angles, TwoLinkSolution

__all__ = [
    'BallJoint',
    'Hinge',
    'PointChain',
    'PointSolution',
    'PointStatus',
    'PointTree',
    'PointTreeSolution',
    'TwoLinkSolution',
    'nearest_elbow',
    'two_link_angles',
]
