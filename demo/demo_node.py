"""The ROS node of the demo: sends the targets of a scene, and watches what comes of them."""

import json
import os
import time

from diagnostic_msgs.msg import DiagnosticArray
from fabrik_ros import load_urdf
from fabrik_ros.programs import Program
from fabrik_ros.programs.program_file import document_of
from fabrik_ros.ros.messages.conversions import seconds, stamped_pose, to_point
from fabrik_ros.ros.status.diagnostics import target_stamp
from geometry_msgs.msg import PoseStamped, Vector3
from judge import Judge
import numpy as np
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile
from scenes import Scene
from sensor_msgs.msg import JointState
from std_msgs.msg import ColorRGBA, String
from tally import Tally
from visualization_msgs.msg import Marker, MarkerArray

NAMESPACE = f'demo_{os.getpid()}'  # two demos on one machine do not meet
BASE_LINK, TIP_LINK = 'base_link', 'tool0'
COMMAND_RATE = 100.0
"""Default of the node [Hz]."""
MAX_JOINT_VELOCITY, MAX_JOINT_ACCELERATION = 3.1415, 20.0
APART = 1.3
"""Targets that come sooner after each other belong to a stream, by the default of the node [s]."""
GUEST_PAUSE = 3.0
"""Who sends targets from elsewhere, as from the page, has gone after this time without any [s]."""
WOOD = ColorRGBA(r=0.75, g=0.6, b=0.4, a=0.8)
LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)


class Demo(Node):
    """Sends the targets of a scene and watches what comes of them."""

    def __init__(self, urdf: str, scene: Scene) -> None:
        super().__init__('demo', namespace=NAMESPACE)
        boxes, limits = scene.boxes(), (MAX_JOINT_VELOCITY, MAX_JOINT_ACCELERATION)
        self.scene = scene
        self.judge = Judge(urdf, BASE_LINK, TIP_LINK, COMMAND_RATE, *limits, boxes)
        self.tally = Tally()
        self.status: dict[str, str] = {}
        self.sent: list[np.ndarray] = []
        self.times: dict[str, list[float]] = {'solve_time': [], 'step_time': []}
        self._sequence = scene.sequence(load_urdf(urdf).chain(BASE_LINK, TIP_LINK))
        self._sent_at = 0.0
        self._stamp = PoseStamped().header.stamp
        self._guest_at = float('-inf')
        """When a target came from elsewhere [s]."""
        self._is_done, self._answer = False, ''
        self._program = ''
        """Name of the program that was sent; empty where a pose was."""
        self._box_count = len(boxes)
        self._description = self.create_publisher(String, 'robot_description', LATCHED)
        self._description.publish(String(data=urdf))
        self._obstacles = self.create_publisher(MarkerArray, 'fabrik/obstacles', LATCHED)
        self._obstacles.publish(markers(scene))
        self._targets = self.create_publisher(PoseStamped, 'fabrik/target_pose', 1)
        self._programs = self.create_publisher(String, 'fabrik/program', 1)
        self.create_subscription(JointState, 'fabrik/joint_command', self.judge.see_command, 500)
        self.create_subscription(JointState, 'joint_states', self._on_state, 500)
        self.create_subscription(DiagnosticArray, 'fabrik/status', self._on_status, 10)
        self.create_subscription(PoseStamped, 'fabrik/target_pose', self._on_target, 10)
        self.create_subscription(JointState, 'fabrik/target_joints', self._on_guest, 10)

    def is_ready(self) -> bool:
        """Whether the node takes targets, and knows what stands around."""
        knows_all = self.status.get('obstacles') == str(self._box_count)
        return knows_all and self.status.get('state') == 'IDLE'

    def send_next(self) -> None:
        """Send the next target of the sequence, or the next program."""
        target = next(self._sequence)
        self._program = f'program {len(self.sent)}' if isinstance(target, Program) else ''
        T = target.steps[-1].pose if isinstance(target, Program) else target
        self.judge.target = T
        self.sent.append(T)
        self._is_done, self._answer = False, ''
        self._sent_at = time.monotonic()
        self._stamp = self.get_clock().now().to_msg()
        if isinstance(target, Program):
            self._programs.publish(String(data=json.dumps(document_of(target, self._program))))
        else:
            self._targets.publish(stamped_pose(T, BASE_LINK, self._stamp))

    def is_interrupted(self) -> bool:
        """Whether somebody else sent a target since."""
        return self._guest_at > self._sent_at

    def has_guest(self) -> bool:
        """Whether somebody else may still send targets."""
        return time.monotonic() - self._guest_at < GUEST_PAUSE

    def waited_enough(self) -> bool:
        """Whether the target is done and no stream, or has had its time."""
        patience = APART if self._is_done else self.scene.patience
        return time.monotonic() - self._sent_at > patience

    def leave_target(self) -> None:
        """Book the present target."""
        if self.is_interrupted():
            self.tally.interrupted += 1
            return
        errors = self.judge.residuals[-1][1:] if self.judge.residuals else (9.9, 9.9)
        self.tally.leave(self._is_done, errors, self._answer)

    def _on_state(self, message: JointState) -> None:
        is_there = self.judge.see_state(message, time.monotonic())
        is_over = not self._program or self._has_driven()
        self._is_done |= is_there and is_over and not self.scene.reasons

    def _has_driven(self) -> bool:
        """Whether the arm is through the program that was sent."""
        is_mine = self.status.get('program') == self._program
        return is_mine and self.status['state'] == 'REACHED'

    def _on_status(self, message: DiagnosticArray) -> None:
        self.status = {pair.key: pair.value for pair in message.status[0].values}
        for name, seen in self.times.items():
            value = float(self.status.get(name, 0.0))
            if value > 0.0:
                seen.append(value)
        is_answer = self.status['reason_code'] in self.scene.reasons
        is_of_target = self.status.get('target_stamp') == target_stamp(seconds(self._stamp))
        if is_answer and is_of_target and self.status['state'] == 'HOLDING':
            self._is_done, self._answer = True, self.status['reason']

    def _on_target(self, message: PoseStamped) -> None:
        if message.header.stamp != self._stamp:
            self._on_guest(message)

    def _on_guest(self, _message: PoseStamped | JointState) -> None:
        self._guest_at = time.monotonic()


def markers(scene: Scene) -> MarkerArray:
    """Show what stands around, as RViz and the node understand it."""
    message = MarkerArray()
    for name, box in scene.boxes().items():
        marker = Marker(ns=name, type=Marker.CUBE, color=WOOD)
        marker.header.frame_id = BASE_LINK
        marker.pose.position = to_point(box.centre)
        marker.pose.orientation.w = 1.0
        marker.scale = Vector3(**dict(zip('xyz', box.size, strict=True)))
        message.markers.append(marker)
    return message
