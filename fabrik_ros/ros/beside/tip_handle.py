"""The handle of one tip in RViz: where it stands, what it sends, and what its menu asks."""

from collections.abc import Mapping
from functools import partial
import time

from geometry_msgs.msg import Pose, PoseStamped
from interactive_markers.interactive_marker_server import InteractiveMarkerServer
import numpy as np
from rclpy.node import Node
from rclpy.publisher import Publisher
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64, String
from visualization_msgs.msg import InteractiveMarkerFeedback as Feedback

from ...programs.waypoints import Waypoints
from ...transforms import Array
from ..clocks.qos import NEWEST
from ..messages.conversions import matrix_to_pose, pose_to_matrix, seconds
from ..parameters.tip_names import topic_name
from ..status.diagnostics import target_stamp
from .dragging import Handle, Phase, Standing
from .handle_marker import handle_marker, SIZE_SHARE, write_over
from .handle_menu import HandleMenu
from .menu_entries import (
    Ask,
    Blend,
    CHOICES,
    Choose,
    Edit,
    GoTo,
    Grip,
    Known,
    KnownGripper,
    Step,
    Wish,
)
from .resting_joints import RestingJoints
from .single_target import SingleTarget
from .watched_node import Tool, WatchedNode
from .waypoint_handles import WaypointHandles

NEAR = 1e-4
"""Entries of poses that differ by no more are the same [m or 1]."""


class TipHandle:
    """
    A handle that one can drag, and that follows the tool while nobody does.

    Parameters
    ----------
    node : Node
        Publishes the targets.
    server : InteractiveMarkerServer
        Shows the handle.
    watched : WatchedNode
        Moves the tip.
    tip : str
        The tip link.
    tool : Tool
        Where it is now.
    waypoints : Waypoints or None
        Those that its menu is about; None where there can be none.

    """

    def __init__(
        self,
        node: Node,
        server: InteractiveMarkerServer,
        watched: WatchedNode,
        tip: str,
        tool: Tool,
        waypoints: Waypoints | None,
    ) -> None:
        self._node, self._server, self._watched, self._tip = node, server, watched, tip
        self._tool = tool
        self._marker = topic_name(tip)
        self._prefix = f'{self._marker}/' if watched.has_several_tips else ''
        """Prefix of the topics and facts that are of the tip."""
        self._targets: Publisher | None = None
        """
        Publisher; there only during a drag, so that the node does not warn of a second sender.
        """
        self._handle: Handle[tuple[str, Pose]] = Handle()
        self._shown: Array | None = tool.T_base_tool
        """Pose that the handle was put in last; None where somebody may have moved it since."""
        self._words = ''
        """Words that belong over the handle."""
        self._written = ''
        size = SIZE_SHARE * tool.reach
        marker = handle_marker(self._marker, watched.base_link, tool.T_base_tool, size)
        server.insert(marker, feedback_callback=self._on_feedback)
        self._waypoints = (
            None
            if waypoints is None
            else WaypointHandles(server, waypoints, watched.base_link, size)
        )
        self._single = SingleTarget(node, partial(self._tell, 'target', False))
        """Sender of what is chosen in the menu."""
        self._resting = RestingJoints()
        self._menu = HandleMenu(server, self._marker, self._grant)
        self._show_menu()

    def close(self) -> None:
        """Take the handle away: whatever was dragged is forgotten."""
        self._server.erase(self._marker)
        if self._waypoints is not None:
            self._waypoints.close()
        self._stop_sending()
        self._single.close()

    def release(self) -> None:
        """Forget what was dragged: nobody is there any more who could let go."""
        self._handle.release()
        if self._waypoints is not None:
            self._waypoints.release()

    def see_status(self) -> None:
        """Take the newest status of the node."""
        facts = self._watched.facts
        standing = Standing(
            facts.get('state', ''),
            facts.get(f'{self._prefix}target_stamp', ''),
            facts.get('waits_for_execute') == 'True',
        )
        timeout = self._watched.parameters.get('stream_timeout', 0.0)
        self._handle.see(standing, time.monotonic(), timeout)

    def step(self, tool: Tool, follows: bool) -> None:
        """
        Send what is due, and let the handle be where the tool is, unless it is dragged.

        Parameters
        ----------
        tool : Tool
            Where it is now.
        follows : bool
            Whether a handle that nobody drags goes there now.

        """
        self._tool = tool
        self._send()
        self._single.step()
        if self._waypoints is not None:
            self._waypoints.show()
        if self._handle.phase is Phase.DRAGGED:
            return  # an update would take the handle out of the hand
        self._show_menu()
        self._write()
        if self._handle.phase is Phase.AT_TOOL:
            self._stop_sending()
            if follows:
                self._place(tool.T_base_tool)

    def _place(self, T: Array) -> None:
        """Put the handle at a pose, unless it is there."""
        is_there = self._shown is not None and np.allclose(T, self._shown, rtol=0.0, atol=NEAR)
        # The server takes no pose while the whole marker waits to be sent.
        if not is_there and self._server.setPose(self._marker, matrix_to_pose(T)):
            self._shown = T

    def _show_menu(self) -> None:
        """Let the menu offer what is of use now."""
        self._resting.see(self._tool.joints, time.monotonic())
        facts, parameters = self._watched.facts, self._watched.parameters
        chosen = {name: parameters[name] for name in CHOICES} | {'mode': self._modes[self._number]}
        known = Known(
            facts.get('state', ''),
            facts.get('held') == 'True',
            facts.get('waits_for_execute') == 'True',
            bool(parameters['home_configuration']),
            self._watched.configurations,
            chosen,
            parameters['speed_scaling'],
            self._resting.joints,
            None if self._waypoints is None else self._waypoints.known,
            _gripper_in(facts),
        )
        self._menu.show(known)

    @property
    def _number(self) -> int:
        return self._watched.tip_links.index(self._tip)

    @property
    def _modes(self) -> list[str]:
        """The mode of each tip."""
        parameters, tips = self._watched.parameters, self._watched.tip_links
        return list(parameters['tip_modes'] or [parameters['mode']] * len(tips))

    # -- what somebody does

    def _on_feedback(self, feedback: Feedback) -> None:
        pose, now = (feedback.header.frame_id, feedback.pose), time.monotonic()
        if feedback.event_type == Feedback.MOUSE_DOWN:
            self._handle.grab(pose)
            self._words = ''
            self._single.close()
            self._begin_sending()
        elif feedback.event_type == Feedback.POSE_UPDATE:
            self._shown = None
            self._handle.move(pose, now)
        elif feedback.event_type == Feedback.MOUSE_UP:
            self._handle.let_go(pose, now)
        self._send()

    def _begin_sending(self) -> None:
        if self._targets is None:
            topic = f'{self._watched.name}/{self._prefix}target_pose'
            self._targets = self._node.create_publisher(PoseStamped, topic, NEWEST)

    def _stop_sending(self) -> None:
        if self._targets is not None:
            self._node.destroy_publisher(self._targets)
            self._targets = None

    def _send(self) -> None:
        """Publish the pose that is due, if somebody listens."""
        if self._targets is None:
            return
        is_heard = self._targets.get_subscription_count() > 0
        was_left = self._handle.phase is Phase.LEFT
        due = self._handle.take(time.monotonic(), is_heard)
        if due is not None:
            message = PoseStamped()
            message.header.frame_id, message.pose = due
            message.header.stamp = self._node.get_clock().now().to_msg()
            self._targets.publish(message)
            self._handle.sent(target_stamp(seconds(message.header.stamp)))
        elif was_left and self._handle.phase is Phase.AT_TOOL:
            self._tell('target', False, f'nobody listens on {self._targets.topic_name}')

    def _grant(self, wish: Wish) -> None:
        """Ask the node for what somebody has chosen in the menu."""
        if isinstance(wish, Choose):
            self._choose(wish.parameter, wish.value)
            return
        if isinstance(wish, Edit | Blend):
            self._take_to_waypoints(wish)
            return
        if isinstance(wish, Grip):
            self._send_once('gripper', Float64(data=wish.width))
            return
        self._handle.release()
        self._single.close()
        if isinstance(wish, Ask):
            self._watched.trigger(wish.service, partial(self._tell, wish.service))
        elif isinstance(wish, GoTo):
            self._send_once('target_configuration', String(data=wish.configuration))
        else:
            self._move(wish)

    def _take_to_waypoints(self, wish: Edit | Blend) -> None:
        """Add a waypoint where the handle is, or do what else is to be done with them."""
        assert self._waypoints is not None
        is_at_tool = self._handle.phase is Phase.AT_TOOL
        pose = self._server.get(self._marker).pose
        T_here = self._tool.T_base_tool if is_at_tool else pose_to_matrix(pose)
        program = self._waypoints.take(wish, T_here)
        if program:
            self._handle.release()
            self._send_once('program', String(data=program))

    def _move(self, step: Step) -> None:
        """Send a joint a step farther than it is measured."""
        values = {joint.name: joint.value for joint in self._tool.joints}
        message = JointState(name=[step.joint], position=[values[step.joint] + step.by])
        message.header.stamp = self._node.get_clock().now().to_msg()
        self._send_once('target_joints', message)

    def _send_once(self, topic: str, message: JointState | String | Float64) -> None:
        self._single.send(f'{self._watched.name}/{topic}', message)

    def _choose(self, parameter: str, value: str | float) -> None:
        """Set a parameter of the node; of several tips each has its own mode."""
        chosen: str | float | list[str] = value
        if parameter == 'mode' and self._watched.has_several_tips:
            modes = self._modes
            modes[self._number] = str(value)
            parameter, chosen = 'tip_modes', modes
        self._watched.set_parameter(parameter, chosen, partial(self._tell, f'{parameter} {value}'))

    def _tell(self, what: str, is_done: bool, text: str) -> None:
        """Log an answer; what is refused is also written over the handle, until it is grabbed."""
        sentence = f'{what}: {text or "done"}'
        if is_done:
            self._node.get_logger().info(sentence)
        else:
            self._node.get_logger().warning(sentence)
        self._words = '' if is_done else sentence

    def _write(self) -> None:
        """Write the words over the handle that belong there now."""
        if self._written == self._words:
            return
        self._written = self._words
        marker = self._server.get(self._marker)
        write_over(marker, self._words)
        self._server.insert(marker)


def _gripper_in(facts: Mapping[str, str]) -> KnownGripper | None:
    """Read what a status says of a gripper; None where there is none."""
    if 'gripper_widest' not in facts:
        return None
    width = facts['gripper_width']
    return KnownGripper(
        float(width) if width else None,
        float(facts['gripper_narrowest']),
        float(facts['gripper_widest']),
    )
