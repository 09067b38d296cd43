"""Markers for RViz: the chains, the targets, the errors, the limits, and what is nearest."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
import math

import numpy as np
from visualization_msgs.msg import Marker

from ...collision import NearestPoints
from ...model.mechanism import Mechanism
from ...model.tree import Tree
from ...motion.following.arm_state import State
from ...reasons import Reason
from ...solver.tree_solver import is_unconstrained
from ...transforms import Array
from ..messages.marker_shapes import drawn_reach, Pen
from ..messages.palette import CHAIN, ERROR, LIMIT, REACH, RED, YELLOW
from .status_markers import state_color, state_sentences, text_markers

LINE_SHARE = 0.02
"""Width of the chain as a share of the reach [1]."""
RING = 2.0 * math.pi / 48.0 * np.arange(49)
"""Angles of the points of the ring at the reach [rad]."""
AT_LIMIT = 0.01, 0.001
"""Distance from its limit within which a joint is marked: revolute [rad], prismatic [m]."""
BALL_SHARE = 0.14
"""Diameter of the balls round joints at limits as a share of the reach [1]: links are inside."""
NEAREST = {'obstacle': 'nearest', 'self': 'self'}
"""Namespaces of the lines to what is nearest."""
CLOSE = 5.0
"""Largest distance at which links are drawn as near to each other, in clearances [1]."""
ARROW_FROM_POSE = np.array([[0, 0, -1, 0], [0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 1.0]])
"""T_tool_arrow, shape (4, 4): arrows are drawn along their x axis, tools point along their z."""


@dataclass(frozen=True, eq=False)
class Picture:
    """Picture of an arm: all that there is to draw."""

    robot: Mechanism
    state: State
    reason: Reason | None
    refusal: str = ''
    """Reason why the last request was refused; '' where it was not."""
    q: Array | None = None
    """Joint values, shape (n,) [rad or m]; None where they are unknown."""
    T_base_goal: Array | None = None
    """Poses of the goal, shape (k, 4, 4); NaN for tips without."""

    @property
    def sentences(self) -> list[str]:
        """Sentences about what the arm does, and why."""
        joints = () if self.q is None else joints_at_limits(self.robot, self.q)
        names = (self.robot.joint_names[j] for j in joints)
        return state_sentences(self.state, self.reason, self.refusal, names)

    @property
    def key(self) -> object:
        """Key that is the same as long as the picture is."""
        arrays = (self.q, self.T_base_goal)
        shown = (None if array is None else array.tobytes() for array in arrays)
        return self.robot, *self.sentences, *shown


def markers_of(picture: Picture, pen: Pen) -> Iterator[Marker]:
    """Draw the arms; their namespaces are `fabrik/<kind>`, with several tips see the docs."""
    robot, q = picture.robot, picture.q
    color = state_color(picture.state, picture.reason)
    yield from text_markers(pen, robot, picture.sentences, color)
    if q is None:
        return
    width = LINE_SHARE * drawn_reach(robot)
    goals = [None] * len(robot.tip_links) if picture.T_base_goal is None else picture.T_base_goal
    tips = zip(prefixes(robot), robot.tip_points(q), robot.tip_poses(q), goals, strict=True)
    for prefix, points, T_base_tip, goal in tips:
        yield pen.line(f'{prefix}chain', points, CHAIN, width)
        yield pen.balls(f'{prefix}chain', points, CHAIN, 2.0 * width, number=1)
        yield pen.axes(f'{prefix}tool', T_base_tip, 5.0 * width, 0.4 * width)
        if goal is not None and not is_unconstrained(goal):
            yield pen.arrow(f'{prefix}target', goal @ ARROW_FROM_POSE, color, 8.0 * width)
            yield pen.line(f'{prefix}error', (points[-1], goal[:3, 3]), ERROR, 0.5 * width)
    yield from limit_markers(pen, 'limits', robot, q)
    yield from _rings(pen, robot, 0.2 * width)


def prefixes(robot: Mechanism) -> list[str]:
    """Begin the kinds of the markers of each tip; those of the only one need none."""
    return [f'{tip}/' for tip in robot.tip_links] if isinstance(robot, Tree) else ['']


def joints_at_limits(robot: Mechanism, q: Array) -> list[int]:
    """Numbers of the joints that are at their limits at `q`, shape (n,) [rad or m]."""
    margin = np.where(robot.is_revolute, *AT_LIMIT)
    near = (q - robot.lower < margin) | (robot.upper - q < margin)
    return np.flatnonzero(near).tolist()


def limit_markers(
    pen: Pen, kind: str, robot: Mechanism, q: Array, number: int = 0
) -> Iterator[Marker]:
    """Mark the joints that are at their limits at `q`, shape (n,) [rad or m]."""
    at_limits = joints_at_limits(robot, q)
    if at_limits:
        size = BALL_SHARE * drawn_reach(robot)
        yield pen.balls(kind, robot.joint_points(q)[at_limits], LIMIT, size, number)


def _rings(pen: Pen, robot: Mechanism, width: float) -> Iterator[Marker]:
    """Draw how far the tips reach, as thin rings: whatever is solid would catch the mouse."""
    circle = np.column_stack([np.cos(RING), np.sin(RING), np.zeros_like(RING)])
    for number, (at, reach) in enumerate(zip(robot.root_points, robot.reaches, strict=True)):
        if math.isfinite(reach):
            yield pen.line('reach', at + reach * circle, REACH, width, number)


def nearest_markers(
    pen: Pen, robot: Mechanism, nearest: Mapping[str, NearestPoints]
) -> Iterator[Marker]:
    """
    Draw the shortest lines to what is nearest, with their lengths; in the root link.

    Parameters
    ----------
    pen : Pen
        Draws.
    robot : Mechanism
        Its size is that of the picture.
    nearest : mapping
        Nearest points to an `obstacle`, and of the robot to it`self`; the latter are drawn only
        where they are close: some links are never far from each other.

    """
    size = LINE_SHARE * drawn_reach(robot)
    for kind, found in nearest.items():
        if kind == 'self' and found.distance > CLOSE * found.clearance:
            continue
        color = RED if found.distance <= found.clearance else YELLOW
        text = f'{1000.0 * found.distance:.0f} mm'
        name = NEAREST[kind]
        yield pen.line(name, found.points, color, 0.5 * size)
        yield pen.text(name, found.points.mean(axis=0), text, color, 1.5 * size, number=1)
