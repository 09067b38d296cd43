"""Moves an arm by a device: a joystick, the keyboard, a tracked hand, a leader arm."""

from functools import partial
import json
import math
import time
from typing import Any

from geometry_msgs.msg import PoseStamped, Twist, TwistStamped
import numpy as np
from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from rclpy.qos import QoSProfile, ReliabilityPolicy
from sensor_msgs.msg import JointState, Joy
from std_msgs.msg import Float64, String

from ...errors import FabrikError, ProfileError, shown
from ...reasons import ReasonKind
from ...teleop.clutch import HandGuide
from ...teleop.controls import Values
from ...teleop.guides import StickGuide
from ...teleop.joint_jogger import JointJogger
from ...teleop.keyboard import HELP, Keyboard
from ...teleop.leader import LeaderGuide
from ...teleop.node_view import (
    Call,
    Grip,
    Jog,
    JointApproach,
    JointTarget,
    NodeView,
    Order,
    Say,
    ToolTarget,
)
from ...teleop.pilot import Pilot
from ...teleop.profile import Profile
from ...transforms import Array, rotation_vector, transform
from ..clocks.log_periods import REMINDER_PERIOD
from ..clocks.qos import NEWEST
from ..messages.conversions import pose_to_matrix, seconds, stamped_pose, twist_to_array
from ..parameters.tip_names import topic_name
from .running import run
from .watched_node import Tool, WatchedNode

PERIOD = 0.02
"""Time between two looks at what is due [s]; what comes from the device is answered at once."""
DEVICE = QoSProfile(depth=1000, reliability=ReliabilityPolicy.BEST_EFFORT)
"""
Of what devices say, from reliable publishers or not. All of a burst counts: a button may be
pressed and let go within. As deep as what the fastest devices say in a second.
"""
COMMAND_TIME = 0.3
"""Time for which the tool is where it was commanded to be, wherever it is measured [s]."""
LAST_WORDS = 0.1
"""Time for what was said last to go out before the node leaves [s]."""
SAG, SAG_TURN = 0.02, 0.05
"""How far a tool may hang from its command, and still be there [m], [rad]."""


class Teleop(Node):
    """
    Hears a device, and tells a node where the arm is to go.

    Parameters
    ----------
    profile : Profile
        What the parts of the device do.

    """

    def __init__(self, profile: Profile, **kwargs: Any) -> None:
        self._pilot = Pilot(profile)
        self._terminal: Any = None
        super().__init__('teleop', **kwargs)
        self._name = self.declare_parameter('node', 'fabrik').value
        self._tip = self.declare_parameter('tip', '').value
        self._watched = WatchedNode(
            self, self._name, self._on_status, more=('max_tip_acceleration',)
        )
        self._commanded: Array | None = None
        """Where the tool was commanded to be last, shape (4, 4)."""
        self._commanded_at = -math.inf
        self._velocity, self._stamp = np.zeros(3), 0.0
        """With which the tool was commanded last [m/s], and the stamp of that [s]."""
        self._keyboard = Keyboard(profile.timeout)
        self._publish_to()
        self._listen_to(profile)
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        self.create_timer(PERIOD, self._step, clock=steady)
        self.create_timer(REMINDER_PERIOD, self._remind, clock=steady)
        self._remind()
        if not profile.joy:
            self._terminal = _terminal()
            self.get_logger().info(HELP)

    def destroy_node(self) -> None:
        """Let the arm go, leave the terminal as it was, and end."""
        if self._pilot.is_engaged and self.context.ok():
            self._pilot.let_go('the program ends', time.monotonic())
            self._send()
            time.sleep(LAST_WORDS)
        if self._terminal is not None:
            self._terminal.close()
        super().destroy_node()

    # -- topics

    def _publish_to(self) -> None:
        """Publish only what the device asks for: on topics of targets others make way."""
        tip = f'{self._name}/{topic_name(self._tip)}' if self._tip else self._name
        guide, publisher = self._pilot.guide, self.create_publisher
        self._grips = publisher(Float64, f'{self._name}/gripper', NEWEST)
        if isinstance(guide, StickGuide):
            self._jogs = publisher(TwistStamped, f'{tip}/jog', NEWEST)
        elif isinstance(guide, HandGuide):
            self._targets = publisher(PoseStamped, f'{tip}/target_pose', NEWEST)
            self.create_subscription(
                PoseStamped, f'{tip}/solution_pose', self._on_commanded, NEWEST
            )
        else:
            self._joints = publisher(JointState, f'{self._name}/target_joints', NEWEST)
        if isinstance(guide, LeaderGuide):
            self._programs = publisher(String, f'{self._name}/program', NEWEST)

    def _listen_to(self, profile: Profile) -> None:
        listen = partial(self.create_subscription, qos_profile=DEVICE)
        if profile.joy:
            listen(Joy, profile.joy, self._on_joy)
        if profile.sticks is not None and profile.sticks.twist:
            listen(Twist, profile.sticks.twist, self._on_twist)
        if profile.hand is not None:
            listen(PoseStamped, profile.hand.pose, self._on_hand)
        if profile.leader is not None:
            listen(JointState, profile.leader.topic, self._on_leader)
        if profile.joint_jog:
            listen(_joint_jog(), profile.joint_jog, self._on_joint_jog)

    # -- what the device says

    def _on_joy(self, message: Joy) -> None:
        values = Values(message.axes.tolist(), message.buttons.tolist())
        self._pilot.hear(values, time.monotonic())
        self._send()

    def _on_twist(self, message: Twist) -> None:
        guide = self._pilot.guide
        assert isinstance(guide, StickGuide)
        guide.hear_twist(tuple(twist_to_array(message).tolist()), time.monotonic())
        self._answer()

    def _on_hand(self, message: PoseStamped) -> None:
        guide = self._pilot.guide
        assert isinstance(guide, HandGuide)
        try:
            T = pose_to_matrix(message.pose)
        except FabrikError:  # trackers that lost the hand say zeros, or nothing finite
            return
        header = message.header
        guide.hear_pose(T, header.frame_id, time.monotonic(), seconds(header.stamp))
        self._answer()

    def _on_leader(self, message: JointState) -> None:
        guide = self._pilot.guide
        assert isinstance(guide, LeaderGuide)
        guide.hear_joints(
            dict(zip(message.name, message.position, strict=False)), time.monotonic()
        )
        self._answer()

    def _on_joint_jog(self, message: Any) -> None:
        """Take a JointJog: velocities and displacements, or of newer releases deltas."""
        guide = self._pilot.guide
        assert isinstance(guide, JointJogger)
        given = (getattr(message, key, ()) for key in ('velocities', 'displacements', 'deltas'))
        velocities, *ways = (
            dict(zip(message.joint_names, numbers, strict=False)) for numbers in given
        )
        guide.hear_jog(velocities, ways[0] or ways[1], time.monotonic())
        self._answer()

    def _answer(self) -> None:
        self._pilot.heard()
        self._send()

    def _step(self) -> None:
        if self._terminal is not None:
            now = time.monotonic()
            self._keyboard.type(self._terminal.typed(), now)
            self._pilot.hear(self._keyboard.values(now), now)
        self._send()

    # -- what is seen of the node

    def _on_status(self) -> None:
        facts = self._watched.facts
        view = NodeView(
            self._why_not(),
            is_held=facts.get('held') == 'True',
            is_stopped=facts.get('reason_code') == ReasonKind.CANCELLED.value,
            instance=facts.get('instance', ''),
            tool_pose=self._tool_pose,
            rest_pose=self._rest_pose,
            joints=self._measured_joints,
            limits=self._watched.limits,
            accepted=int(facts.get('accepted', 0)),
            refused=int(facts.get('refused', 0)),
            refusal=facts.get('refused_because', ''),
        )
        self._pilot.see(view, time.monotonic())

    def _why_not(self) -> str:
        """Say why the node takes no targets; '' where it takes them."""
        facts, watched = self._watched.facts, self._watched
        if not watched.is_alive:
            return f'no status on {watched.status_topic}'
        if watched.has_several_tips and self._tip not in watched.tip_links:
            return f'the node moves several tips: set `tip` to one of {facts["tip_link"]}'
        is_known = watched.parameters and 'tip_link' in facts
        if self._tip and is_known and not watched.has_several_tips:
            return f"the node moves one tip, {facts['tip_link']}: leave out `tip` ('{self._tip}')"
        if facts.get('held') == 'True':
            return 'the node is held; resume first'
        if facts.get('waits_for_pause') == 'True':
            return 'the node waits for a pause; press again'
        if facts.get('waits_for') or facts.get('state', '').startswith('WAITING'):
            return facts.get('reason', '')
        return ''

    def _tool(self) -> Tool | None:
        """Where the tool is measured, and its joints."""
        tools = self._watched.tools()
        return tools.get(self._tip) if self._tip else next(iter(tools.values()), None)

    def _tool_pose(self) -> Array | None:
        """Where the tool is: as commanded, unless somebody moved it since."""
        tool = self._tool()
        if tool is None or self._commanded is None:
            return None if tool is None else tool.T_base_tool
        is_new = time.monotonic() - self._commanded_at < COMMAND_TIME
        return self._commanded if is_new or _hangs(self._commanded, tool) else tool.T_base_tool

    def _rest_pose(self) -> Array | None:
        """Where the tool can be at rest soonest, if it is one of several; None: not known."""
        parameters, T = self._watched.parameters, self._tool_pose()
        if T is None or not (parameters and self._watched.has_several_tips):
            return None
        is_moving = time.monotonic() - self._commanded_at < COMMAND_TIME
        v = self._velocity if is_moving else np.zeros(3)
        way = 0.5 * v * np.linalg.norm(v) / parameters['max_tip_acceleration']
        return transform(T[:3, :3], T[:3, 3] + way)

    def _measured_joints(self) -> dict[str, float]:
        tool = self._tool()
        return {} if tool is None else {joint.name: joint.value for joint in tool.joints}

    def _on_commanded(self, message: PoseStamped) -> None:
        T, stamp = pose_to_matrix(message.pose), seconds(message.header.stamp)
        passed = stamp - self._stamp
        if self._commanded is not None and 0.0 < passed < COMMAND_TIME:
            self._velocity = (T[:3, 3] - self._commanded[:3, 3]) / passed
        else:
            self._velocity = np.zeros(3)
        self._commanded, self._commanded_at, self._stamp = T, time.monotonic(), stamp

    def _remind(self) -> None:
        """Log why the node cannot be moved."""
        if why := self._why_not():
            self.get_logger().info(f'waiting for the node to take targets: {why}')

    # -- what the node is told

    def _send(self) -> None:
        now = time.monotonic()
        if not self._watched.is_alive:
            self._pilot.see(NodeView(self._why_not()), now)
        for order in self._pilot.orders(now):
            self._carry_out(order)

    def _carry_out(self, order: Order) -> None:
        match order:
            case Say():
                self.get_logger().info(order.text)
            case Call():
                self._watched.trigger(order.service, partial(self._on_answer, order.service))
            case Grip():
                self._grip(order.opens)
            case Jog():
                self._jogs.publish(self._jog(order))
            case ToolTarget():
                stamp, base = self.get_clock().now().to_msg(), self._watched.base_link
                self._targets.publish(stamped_pose(order.T_base_tool, base, stamp))
            case JointTarget():
                message = JointState(name=list(order.values), position=list(order.values.values()))
                message.header.stamp = self.get_clock().now().to_msg()
                self._joints.publish(message)
            case JointApproach():
                self.get_logger().info('takes the arm to the leader first, slowly')
                program = {'segments': [{'joints': order.values, 'share': order.share}]}
                self._programs.publish(String(data=json.dumps(program)))

    def _jog(self, order: Jog) -> TwistStamped:
        message = TwistStamped()
        message.header.stamp = self.get_clock().now().to_msg()
        tips = self._watched.tip_links
        message.header.frame_id = (self._tip or ''.join(tips[:1])) if order.in_tool else ''
        linear, angular = message.twist.linear, message.twist.angular
        linear.x, linear.y, linear.z, angular.x, angular.y, angular.z = order.twist.tolist()
        return message

    def _grip(self, opens: bool) -> None:
        facts = self._watched.facts
        width = facts.get('gripper_widest' if opens else 'gripper_narrowest')
        if width is None:
            self.get_logger().info(f'no gripper: {facts.get("gripper", "not known")}')
            return
        self._grips.publish(Float64(data=float(width)))

    def _on_answer(self, service: str, is_done: bool | None, sentence: str) -> None:
        if not is_done:
            self.get_logger().info(f'~/{service}: {sentence}')


def _hangs(commanded: Array, tool: Tool) -> bool:
    """Whether a tool is where it was commanded to be, but for its weight."""
    T = tool.T_base_tool
    turn = rotation_vector(commanded[:3, :3] @ T[:3, :3].T)
    is_near = math.dist(commanded[:3, 3], T[:3, 3]) < SAG
    return is_near and float(np.linalg.norm(turn)) < SAG_TURN


def _terminal() -> Any:
    from .terminal import Terminal  # which not every system has

    return Terminal()


def _joint_jog() -> Any:
    """Type of the message; an error where control_msgs is not installed."""
    try:
        from control_msgs.msg import JointJog
    except ImportError as error:
        raise ProfileError(f'joint_jog needs control_msgs: {shown(str(error))}') from error
    return JointJog


def main(args: list[str] | None, profile: Profile) -> None:
    """Move the arm by a device until interrupted."""
    run(partial(Teleop, profile), args, has_last_words=True)
