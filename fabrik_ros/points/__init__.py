"""
FABRIK as published, on points, in plain numpy: to be read beside the papers.

`chain.py` is Algorithm 1 on one screen; then come `tree.py` (branches, with `tree_search.py` for
the whole solve), `limits.py` (ball joints and hinges) and `two_links.py` (closed forms). The
modules `arm*.py` lead from points to the joint values of a robot arm. See `docs/fabrik.md`.

"""

from .chain import PointChain, PointSolution, PointStatus
from .limits import BallJoint, Hinge
from .tree import PointTree, PointTreeSolution
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
