"""Markers for RViz: the chains, the targets, the errors, the limits, and what is nearest."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
import math

import numpy as np
from std_msgs.msg import ColorRGBA
from visualization_msgs.msg import Marker

from ..collision import NearestPoints
from ..model.mechanism import Mechanism
from ..model.tree import Tree
from ..motion.arm_state import State
from ..reasons import Reason
from ..solver.tree_solver import is_unconstrained
from ..transforms import Array
from .marker_shapes import drawn_reach, Pen
from .status_markers import RED, state_color, state_sentences, text_markers, YELLOW

CHAIN = ColorRGBA(r=1.0, g=0.5, b=0.0, a=1.0)
GHOST = ColorRGBA(r=1.0, g=0.5, b=0.0, a=0.4)
ERROR = ColorRGBA(r=0.9, g=0.2, b=0.1, a=1.0)
REACH = ColorRGBA(r=0.6, g=0.6, b=0.6, a=0.8)
LINE_SHARE = 0.02
"""Width of the chain as a share of the reach [1]."""
RING = 2.0 * math.pi / 48.0 * np.arange(49)
"""Angles of the points of the ring at the reach [rad]."""
AT_LIMIT = 0.01, 0.001
"""How near to its limit a joint is marked: revolute [rad], prismatic [m]."""
SAME = 1e-3
"""Goals whose joint values differ less from those of the arm are not drawn [rad or m]."""
NEAREST = {'obstacle': 'nearest', 'self': 'self'}
"""Namespaces of the lines to what is nearest."""
CLOSE = 5.0
"""So many clearances apart, and nearer, links are drawn as near to each other [1]."""
ARROW_FROM_POSE = np.array([[0, 0, -1, 0], [0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 1.0]])
"""T_tool_arrow, shape (4, 4): arrows are drawn along their x axis, tools point along their z."""


@dataclass(frozen=True, eq=False)
class Picture:
    """What there is to draw."""

    robot: Mechanism
    state: State
    reason: Reason | None
    refusal: str = ''
    """Why the last request was refused; '' where it was not."""
    q: Array | None = None
    """Joint values, shape (n,) [rad or m]; None where they are unknown."""
    T_base_goal: Array | None = None
    """Poses of the goal, shape (k, 4, 4); NaN for tips without."""
    q_goal: Array | None = None
    """Joint values at the end of the path, shape (n,) [rad or m]."""

    @property
    def sentences(self) -> list[str]:
        """What the arm does, and why."""
        joints = () if self.q is None else joints_at_limits(self.robot, self.q)
        names = (self.robot.joint_names[j] for j in joints)
        return state_sentences(self.state, self.reason, self.refusal, names)

    @property
    def key(self) -> object:
        """What is the same as long as the picture is."""
        arrays = (self.q, self.T_base_goal, self.q_goal)
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
    prefixes = [f'{tip}/' for tip in robot.tip_links] if isinstance(robot, Tree) else ['']
    for prefix, points, goal in zip(prefixes, robot.tip_points(q), goals, strict=True):
        yield pen.line(f'{prefix}chain', points, CHAIN, width)
        yield pen.balls(f'{prefix}chain', points, CHAIN, 2.0 * width, number=1)
        if goal is not None and not is_unconstrained(goal):
            yield pen.arrow(f'{prefix}target', goal @ ARROW_FROM_POSE, color, 8.0 * width)
            yield pen.line(f'{prefix}error', (points[-1], goal[:3, 3]), ERROR, 0.5 * width)
    yield from _limits(pen, robot, q, 3.0 * width)
    yield from _ghost(pen, robot, q, picture.q_goal, 0.5 * width)
    yield from _rings(pen, robot, 0.2 * width)


def joints_at_limits(robot: Mechanism, q: Array) -> list[int]:
    """Numbers of the joints that are at their limits at `q`, shape (n,) [rad or m]."""
    margin = np.where(robot.is_revolute, *AT_LIMIT)
    near = (q - robot.lower < margin) | (robot.upper - q < margin)
    return np.flatnonzero(near).tolist()


def _limits(pen: Pen, robot: Mechanism, q: Array, size: float) -> Iterator[Marker]:
    """Mark the joints that are at their limits."""
    at_limits = joints_at_limits(robot, q)
    if at_limits:
        yield pen.balls('limits', robot.joint_points(q)[at_limits], RED, size)


def _ghost(
    pen: Pen, robot: Mechanism, q: Array, q_goal: Array | None, width: float
) -> Iterator[Marker]:
    """Draw where the joints will be, if that is elsewhere."""
    if q_goal is None or np.abs(q_goal - q).max() < SAME:
        return
    for number, points in enumerate(robot.tip_points(q_goal)):
        yield pen.line('ghost', points, GHOST, width, number)


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
