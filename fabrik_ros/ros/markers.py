"""What RViz shows: the chain, the target, what is missing to it, and the reach."""

from builtin_interfaces.msg import Time
from std_msgs.msg import ColorRGBA
from visualization_msgs.msg import Marker, MarkerArray

from ..chain import Chain
from ..transforms import Array
from .conversions import matrix_to_pose, to_point

CHAIN = ColorRGBA(r=0.1, g=0.45, b=0.9, a=1.0)
TARGET = ColorRGBA(r=0.1, g=0.75, b=0.3, a=0.9)
RESIDUAL = ColorRGBA(r=0.9, g=0.2, b=0.1, a=1.0)
REACH = ColorRGBA(r=0.6, g=0.6, b=0.6, a=0.08)


def marker_array(chain: Chain, q: Array, T_base_goal: Array | None, stamp: Time) -> MarkerArray:
    """Draw the arm at `q`, shape (n,), and its goal, T_base_tip of shape (4, 4)."""
    points = chain.points(q)
    size = 0.02 * chain.reach
    line = _marker(0, Marker.LINE_STRIP, CHAIN, chain, stamp, size)
    joints = _marker(1, Marker.SPHERE_LIST, CHAIN, chain, stamp, 2.0 * size)
    line.points = joints.points = [to_point(p) for p in points]
    reach = _marker(2, Marker.SPHERE, REACH, chain, stamp, 2.0 * chain.reach)
    reach.pose.position = to_point(chain.root_point)
    markers = [line, joints, reach]
    if T_base_goal is not None:
        markers += _goal_markers(chain, points[-1], T_base_goal, stamp, size)
    return MarkerArray(markers=markers)


def _goal_markers(
    chain: Chain, tip: Array, T_base_goal: Array, stamp: Time, size: float
) -> list[Marker]:
    arrow = _marker(3, Marker.ARROW, TARGET, chain, stamp, size)
    arrow.scale.x = 8.0 * size
    arrow.pose = matrix_to_pose(T_base_goal)
    residual = _marker(4, Marker.LINE_LIST, RESIDUAL, chain, stamp, 0.5 * size)
    residual.points = [to_point(tip), to_point(T_base_goal[:3, 3])]
    return [arrow, residual]


def _marker(
    number: int, kind: int, color: ColorRGBA, chain: Chain, stamp: Time, size: float
) -> Marker:
    marker = Marker(ns='fabrik', id=number, type=kind, action=Marker.ADD, color=color)
    marker.header.frame_id = chain.base_link
    marker.header.stamp = stamp
    marker.pose.orientation.w = 1.0
    marker.scale.x = marker.scale.y = marker.scale.z = size
    return marker
