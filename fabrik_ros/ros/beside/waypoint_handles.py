"""Waypoints in RViz: set by the menu of a handle, shown as markers, and dragged."""

from collections.abc import Callable, Sequence
import json
from typing import Protocol

from geometry_msgs.msg import Pose
import numpy as np
from visualization_msgs.msg import InteractiveMarker, InteractiveMarkerFeedback as Feedback

from ...errors import TargetError
from ...programs.program_file import document_of
from ...programs.waypoints import NAME, Waypoints
from ...transforms import Array
from ..messages.conversions import matrix_to_pose, pose_to_matrix
from .handle_marker import BALL_NAME
from .menu_entries import Blend, Edit, KnownWaypoints
from .waypoint_markers import LINE, line_marker, name_of, number_of, waypoint_marker

NEAR = 1e-6
"""Entries of poses that differ by no more are the same [m or 1]."""
ANYWHERE = np.full((4, 4), np.inf)
"""Where a marker is that somebody may have moved."""


class Server(Protocol):
    """What is needed of an InteractiveMarkerServer."""

    def insert(
        self, marker: InteractiveMarker, *, feedback_callback: Callable[[Feedback], None]
    ) -> None:
        """Show a marker, or another one in its place."""

    def setPose(self, name: str, pose: Pose) -> bool:  # noqa: N802
        """Put a marker elsewhere; False while the whole of it waits to be sent."""

    def erase(self, name: str) -> bool:
        """Take a marker away."""


class WaypointHandles:
    """
    Shows waypoints, and lets people drag them; the one that was clicked at last has arrows.

    Parameters
    ----------
    server : Server
        Has the markers.
    waypoints : Waypoints
        The waypoints, which stay when this ends.
    frame_id : str
        The frame that they are in.
    size : float
        Size of the handle of the tool [m].

    """

    def __init__(self, server: Server, waypoints: Waypoints, frame_id: str, size: float) -> None:
        self._server, self._waypoints = server, waypoints
        self._frame_id, self._size = frame_id, size
        self._blend = 0.0
        self._chosen: int | None = None
        self._held: tuple[int, Array] | None = None
        """Number and pose of the one that somebody drags."""
        self._shown: list[tuple[Array, bool]] = []
        """Pose of each that is shown, and whether it has arrows."""
        self._line: list[Array] = []

    @property
    def known(self) -> KnownWaypoints:
        """What a menu needs to know of them."""
        waypoints = self._waypoints
        return KnownWaypoints(len(waypoints), waypoints.can_undo, self._blend)

    def take(self, wish: Edit | Blend, T_here: Array) -> str:
        """
        Do what somebody chose in the menu.

        Parameters
        ----------
        wish : Edit or Blend
            What that is.
        T_here : array, shape (4, 4)
            Where one is added.

        Returns
        -------
        str
            The program that is to be sent, as the node reads it; '' for none.

        """
        waypoints = self._waypoints
        if isinstance(wish, Blend):
            self._blend = wish.radius
        elif wish.what == 'run' and len(waypoints):
            return json.dumps(document_of(waypoints.program(self._blend), NAME))
        elif wish.what == 'add':
            waypoints.add(T_here)
        elif wish.what == 'undo':
            waypoints.undo()
        elif wish.what == 'clear':
            waypoints.clear()
        return ''

    def release(self) -> None:
        """Forget what is dragged: nobody is there any more who could let go."""
        if self._held is not None:
            number = self._held[0]
            self._shown[number] = ANYWHERE, self._shown[number][1]
            self._held = None

    def show(self) -> None:
        """Show them as they are now; the one that is dragged stays in the hand."""
        poses = self._waypoints.poses
        for number in range(len(poses), len(self._shown)):
            self._server.erase(name_of(number))
        if self._held is not None and self._held[0] >= len(poses):
            self._held = None
        del self._shown[len(poses) :]
        for number, T in enumerate(poses):
            if self._held is None or self._held[0] != number:
                self._show_one(number, T, number == self._chosen)
        self._show_line(poses)

    def close(self) -> None:
        """Take the markers away."""
        for number in range(len(self._shown)):
            self._server.erase(name_of(number))
        if self._line:
            self._server.erase(LINE)
        self._shown, self._line = [], []

    def _show_one(self, number: int, T: Array, is_chosen: bool) -> None:
        is_new = number == len(self._shown)
        before, was_chosen = (T, is_chosen) if is_new else self._shown[number]
        if is_new or was_chosen != is_chosen:
            marker = waypoint_marker(number, T, self._frame_id, self._size, is_chosen)
            self._server.insert(marker, feedback_callback=self._on_feedback)
        elif _is_far(T, before) and not self._server.setPose(name_of(number), matrix_to_pose(T)):
            return
        self._shown[number : number + 1] = [(T, is_chosen)]

    def _show_line(self, poses: Sequence[Array]) -> None:
        line = list(poses) if len(poses) > 1 else []
        if line and self._held is not None:
            number, T = self._held
            line[number] = T
        if len(line) == len(self._line) and np.array_equal(line, self._line):
            return
        if line:
            marker = line_marker(line, self._frame_id, self._size)
            self._server.insert(marker, feedback_callback=self._on_feedback)
        else:
            self._server.erase(LINE)
        self._line = line

    def _on_feedback(self, feedback: Feedback) -> None:
        number = number_of(feedback.marker_name)
        count = min(len(self._shown), len(self._waypoints))
        if not 0 <= number < count or feedback.header.frame_id != self._frame_id:
            return
        try:
            T = pose_to_matrix(feedback.pose)
        except TargetError:  # of a pose with numbers that are none
            self.release()
            return
        event = feedback.event_type
        if event == Feedback.MOUSE_DOWN:
            self._held = number, self._waypoints.poses[number]
        elif self._held is None or self._held[0] != number:
            return
        elif event == Feedback.POSE_UPDATE:
            self._held = number, T
        elif event == Feedback.MOUSE_UP:
            self._let_go(number, T, feedback.control_name == BALL_NAME)

    def _let_go(self, number: int, T: Array, is_ball: bool) -> None:
        """Take the pose where somebody let go; a click at the ball begins or ends a choice."""
        self._held = None
        self._shown[number] = T, self._shown[number][1]
        if _is_far(T, self._waypoints.poses[number]):
            self._waypoints.move(number, T)
            self._chosen = number
        elif is_ball:
            self._chosen = None if self._chosen == number else number


def _is_far(T: Array, T_other: Array) -> bool:
    """Whether a pose, shape (4, 4), is another one."""
    return bool(np.abs(T - T_other).max() > NEAR)
