"""Markers for RViz: the chains, the targets, the errors, and the reach."""

from dataclasses import dataclass

from builtin_interfaces.msg import Time
from std_msgs.msg import ColorRGBA
from visualization_msgs.msg import Marker, MarkerArray

from ..model.mechanism import Mechanism
from ..model.tree import Tree
from ..solver.tree_solver import is_unconstrained
from ..transforms import Array
from .conversions import matrix_to_pose, to_point

CHAIN = ColorRGBA(r=0.1, g=0.45, b=0.9, a=1.0)
TARGET = ColorRGBA(r=0.1, g=0.75, b=0.3, a=0.9)
RESIDUAL = ColorRGBA(r=0.9, g=0.2, b=0.1, a=1.0)
REACH = ColorRGBA(r=0.6, g=0.6, b=0.6, a=0.08)
NAMESPACE = 'fabrik'


def marker_array(
    robot: Mechanism, q: Array, T_base_goal: Array | None, stamp: Time
) -> MarkerArray:
    """
    Draw the arms at `q`, shape (n,), and their goals, T_base_tip of shape (k, 4, 4).

    Markers are in the namespace `fabrik`, those of several arms in `fabrik/<tip link>`. Tips
    whose goal is NaN have none.
    """
    markers = []
    for i, arm in enumerate(_arms(robot, q, stamp)):
        markers += arm.markers()
        goal = None if T_base_goal is None else T_base_goal[i]
        markers += (
            arm.without_goal()
            if goal is None or is_unconstrained(goal)
            else arm.goal_markers(goal)
        )
    return MarkerArray(markers=markers)


def _arms(robot: Mechanism, q: Array, stamp: Time) -> 'list[_Arm]':
    parts = zip(
        robot.tip_links,
        robot.tip_points(q),
        robot.root_points,
        robot.reaches.tolist(),
        strict=True,
    )
    is_tree = isinstance(robot, Tree)
    return [
        _Arm(f'{NAMESPACE}/{tip}' if is_tree else NAMESPACE, robot.base_link, stamp, *rest)
        for tip, *rest in parts
    ]


@dataclass(frozen=True)
class _Arm:
    """What is drawn of one arm."""

    namespace: str
    base_link: str
    stamp: Time
    points: Array
    root_point: Array
    reach: float

    @property
    def size(self) -> float:
        return 0.02 * self.reach

    def markers(self) -> list[Marker]:
        line = self._marker(0, Marker.LINE_STRIP, CHAIN, self.size)
        joints = self._marker(1, Marker.SPHERE_LIST, CHAIN, 2.0 * self.size)
        line.points = joints.points = [to_point(p) for p in self.points]
        reach = self._marker(2, Marker.SPHERE, REACH, 2.0 * self.reach)
        reach.pose.position = to_point(self.root_point)
        return [line, joints, reach]

    def goal_markers(self, T_base_goal: Array) -> list[Marker]:
        arrow = self._marker(3, Marker.ARROW, TARGET, self.size)
        arrow.scale.x = 8.0 * self.size
        arrow.pose = matrix_to_pose(T_base_goal)
        residual = self._marker(4, Marker.LINE_LIST, RESIDUAL, 0.5 * self.size)
        residual.points = [to_point(self.points[-1]), to_point(T_base_goal[:3, 3])]
        return [arrow, residual]

    def without_goal(self) -> list[Marker]:
        """Take away what an earlier goal may have left in the picture."""
        gone = [self._marker(number, Marker.ARROW, TARGET, 0.0) for number in (3, 4)]
        for marker in gone:
            marker.action = Marker.DELETE
        return gone

    def _marker(self, number: int, kind: int, color: ColorRGBA, size: float) -> Marker:
        marker = Marker(ns=self.namespace, id=number, type=kind, action=Marker.ADD, color=color)
        marker.header.frame_id = self.base_link
        marker.header.stamp = self.stamp
        marker.pose.orientation.w = 1.0
        marker.scale.x = marker.scale.y = marker.scale.z = size
        return marker
