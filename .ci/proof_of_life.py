"""
Start the installed node as a user would and see it command an arm.

`proof_of_life.py PREFIX` runs PREFIX/lib/fabrik_ros/fabrik_node with a bundled model, plays an
arm that obeys every command at once, sends it one target and waits until it has moved.

"""

from pathlib import Path
import signal
import subprocess
import sys
import time

import fabrik_ros
from fabrik_ros.transforms import quaternion_xyzw_from_rotation
from geometry_msgs.msg import PoseStamped
import numpy as np
import rclpy
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile
from sensor_msgs.msg import JointState
from std_msgs.msg import String

MODEL = 'share/fabrik_ros/urdf/six_axis.urdf.xacro'
START = np.array([0.0, -1.3, 1.6, -1.9, -1.57, 0.0])
"""Elbow bent: no straight line leaves a stretched arm [rad]."""
STEP = 0.3
"""How far the target is from the start, at every joint [rad]."""
MOVED = 0.01
"""A joint that has moved this far was commanded [rad]."""
PATIENCE = 60.0
"""Time the node has from its start to the first motion [s]."""


class ObedientArm(Node):
    """Publishes model, joint states and a target; the joints take every command at once."""

    def __init__(self, robot: fabrik_ros.Robot) -> None:
        super().__init__('obedient_arm')
        self.chain = robot.chain()
        self.start = START
        self.q = self.start
        latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
        self.model = self.create_publisher(String, 'robot_description', latched)
        self.model.publish(String(data=robot.source))
        self.states = self.create_publisher(JointState, 'joint_states', 10)
        self.targets = self.create_publisher(PoseStamped, 'fabrik/target_pose', 1)
        self.create_subscription(JointState, 'fabrik/joint_command', self.obey, 10)
        self.create_timer(0.02, self.report)
        # Again and again, since targets do not count before the node is active.
        self.create_timer(1.0, self.ask)

    @property
    def has_moved(self) -> bool:
        return bool(np.max(np.abs(self.q - self.start)) > MOVED)

    def obey(self, command: JointState) -> None:
        positions = dict(zip(command.name, command.position, strict=True))
        self.q = np.array([positions[name] for name in self.chain.joint_names])

    def report(self) -> None:
        state = JointState(name=list(self.chain.joint_names), position=self.q.tolist())
        state.header.stamp = self.get_clock().now().to_msg()
        self.states.publish(state)

    def ask(self) -> None:
        q = np.clip(self.start + STEP, self.chain.lower, self.chain.upper)
        T_base_tip = self.chain.forward_kinematics(q)
        x, y, z, w = quaternion_xyzw_from_rotation(T_base_tip[:3, :3])
        target = PoseStamped()
        target.header.frame_id = self.chain.base_link
        position, orientation = target.pose.position, target.pose.orientation
        position.x, position.y, position.z = T_base_tip[:3, 3]
        orientation.x, orientation.y, orientation.z, orientation.w = x, y, z, w
        self.targets.publish(target)


def wait_for_motion(arm: ObedientArm, node: subprocess.Popen) -> None:
    end = time.monotonic() + PATIENCE
    while not arm.has_moved:
        if node.poll() is not None:
            sys.exit(f'fabrik_node ended with code {node.returncode}')
        if time.monotonic() > end:
            sys.exit(f'no joint moved within {PATIENCE:.0f} s')
        rclpy.spin_once(arm, timeout_sec=0.1)


def main() -> None:
    prefix = Path(sys.argv[1]).resolve()
    if prefix not in Path(fabrik_ros.__file__).resolve().parents:
        sys.exit(f'fabrik_ros comes from {fabrik_ros.__file__}, not from {prefix}')
    rclpy.init()
    arm = ObedientArm(fabrik_ros.load_urdf(prefix / MODEL))
    node = subprocess.Popen([prefix / 'lib/fabrik_ros/fabrik_node'])
    try:
        wait_for_motion(arm, node)
        node.send_signal(signal.SIGINT)
        if code := node.wait(timeout=PATIENCE):
            sys.exit(f'fabrik_node moved the arm, but ended with code {code} after Ctrl-C')
    finally:
        node.kill()
        rclpy.try_shutdown()
    print('fabrik_node of the install space moved the arm and ended cleanly')


if __name__ == '__main__':
    main()
