"""The topics of the node, many by parameters: commands out, robot state and targets in."""

from dataclasses import dataclass
from typing import Protocol

from geometry_msgs.msg import PoseStamped, TwistStamped
from nav_msgs.msg import Path
import numpy as np
from rclpy.node import Node
from rclpy.subscription import Subscription
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from trajectory_msgs.msg import JointTrajectory

from ...motion.choosing.path_finder import FoundPath
from ...motion.following.follower import Follower
from ...motion.paths.preview import NO_MOTION
from ..clocks.node_clock import NodeClock
from ..clocks.qos import LATCHED
from ..clocks.spare_time import SpareTime
from ..inputs.controller_state import ControllerReference, ControllerState
from ..inputs.joint_topics import JointTopics
from ..inputs.program_topics import ProgramTopics
from ..inputs.robot_state import RobotState
from ..inputs.tip_topics import TipTopics
from ..messages.conversions import planned_trajectory
from ..parameters.node_parameters import NodeParameters
from ..parameters.tip_names import topic_names
from ..status.reporter import Tally
from .outputs import Outputs


class Receiver(Protocol):
    """Takes what comes on the topics."""

    def on_target(self, tip: TipTopics, message: PoseStamped, received: int) -> None:
        """Take a target for a tip, received at a system time [ns]."""

    def on_jog(self, tip: TipTopics, message: TwistStamped, received: int) -> None:
        """Take a jog for a tip, received at a system time [ns]."""

    def on_joints(self, message: JointState, received: int) -> None:
        """Take a target for joints, received at a system time [ns]."""

    def on_configuration(self, message: String, received: int) -> None:
        """Take the name of a configuration, received at a system time [ns]."""

    def on_program(self, message: String, received: int) -> None:
        """Take a program, received at a system time [ns]."""

    def on_path(self, message: Path, received: int) -> None:
        """Take poses to pass one after the other, received at a system time [ns]."""

    def on_reference(self, reference: ControllerReference) -> None:
        """Take the reference of a controller of trajectories."""

    def on_robot_state(self) -> None:
        """Take a change of the robot's own state."""


class Topics:
    """
    Has the topics that the parameters name, and makes them anew when those change.

    Parameters
    ----------
    node : Node
        Whose topics they are.
    clock : NodeClock
        Its time.
    parameters : NodeParameters
        Which topics.
    receiver : Receiver
        Takes what comes.

    Attributes
    ----------
    outputs : Outputs
        Where the commands go.
    controller : ControllerState or None
        The state of the controller that plays trajectories; None without the output `trajectory`.
    robot : RobotState
        What the robot says of itself.
    tips : list of TipTopics
        Targets and jogs of each tip; the only tip has the topics of the node itself.
    joints : JointTopics
        Targets for joints.
    programs : ProgramTopics
        Programs of moves.

    """

    def __init__(
        self, node: Node, clock: NodeClock, parameters: NodeParameters, receiver: Receiver
    ) -> None:
        self._node, self._clock, self._receiver = node, clock, receiver
        self.outputs = Outputs(node, parameters)
        self.controller = self._controller_for(parameters)
        self.robot = self._robot_for(parameters)
        self.tips = self._tips_for(parameters)
        self._shown: FoundPath | None = None
        """The path that was published last."""
        self._proposed = NO_MOTION
        """The motion that was published last."""
        self._motions = node.create_publisher(JointTrajectory, '~/planned_motion', LATCHED)
        self.joints = JointTopics(node, receiver.on_joints, receiver.on_configuration)
        self.programs = ProgramTopics(node, receiver.on_program, receiver.on_path)

    def renew(self, before: NodeParameters, parameters: NodeParameters) -> None:
        """Make those topics anew whose parameters have changed."""
        if parameters.differs_in(before, 'tip_links'):
            for tip in self.tips:
                tip.close()
            self.tips = self._tips_for(parameters)
        if parameters.differs_in(before, 'output', 'trajectory_topic', 'array_topic'):
            self.outputs.close()
            self.outputs = Outputs(self._node, parameters)
            if self.controller is not None:
                self.controller.close()
            self.controller = self._controller_for(parameters)
        if parameters.differs_in(before, 'ready_topic', 'speed_scaling_topic'):
            self.robot.close()
            self.robot = self._robot_for(parameters)

    def show_path(self, follower: Follower | None) -> None:
        """Publish the path found last, and the motion that waits; or that there is none."""
        found = None if follower is None else follower.motion.found
        if follower is None:
            return
        self._show_motion(follower)
        if found is self._shown:
            return
        self._shown = found
        preview = None if found is None else found.preview
        stamp = self._node.get_clock().now().to_msg()
        for tip in self.tips:
            poses = np.empty((0, 4, 4)) if preview is None else preview.tips[:, tip.number]
            times = np.empty(0) if preview is None else preview.times
            tip.publish_path(poses, times, follower.robot.base_link, stamp)

    def _show_motion(self, follower: Follower) -> None:
        """Publish the motion that waits to be confirmed, once; or that there is none any more."""
        motion = follower.motion.proposed_motion
        if motion[0] is self._proposed[0]:
            return
        self._proposed = motion
        self._motions.publish(planned_trajectory(follower.robot.joint_names, motion))

    @property
    def targets(self) -> list[Subscription]:
        """Subscriptions to targets of all kinds."""
        return [*(tip.targets for tip in self.tips), *self.joints.targets, *self.programs.targets]

    def _tips_for(self, parameters: NodeParameters) -> list[TipTopics]:
        names = topic_names(parameters.tip_links)
        prefixes = [f'~/{name}' for name in names] or ['~']
        receiver = self._receiver
        return [
            TipTopics(self._node, number, prefix, receiver.on_target, receiver.on_jog)
            for number, prefix in enumerate(prefixes)
        ]

    def _controller_for(self, parameters: NodeParameters) -> ControllerState | None:
        if 'trajectory' not in parameters.output:
            return None
        topic = parameters.trajectory_topic
        return ControllerState(self._node, self._clock, topic, self._receiver.on_reference)

    def _robot_for(self, parameters: NodeParameters) -> RobotState:
        ready, speed = parameters.ready_topic, parameters.speed_scaling_topic
        return RobotState(self._node, ready, speed, self._receiver.on_robot_state)


@dataclass(frozen=True)
class Surroundings:
    """Surroundings that an arm is configured in."""

    node: Node
    clock: NodeClock
    topics: Topics
    tally: Tally
    spare_time: SpareTime
