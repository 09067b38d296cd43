"""Outputs of the node: messages with commands for whatever drives the joints."""

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt
from rclpy.duration import Duration
from rclpy.node import Node
from rclpy.publisher import Publisher
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from trajectory_msgs.msg import JointTrajectory

from ...model.chain import Chain
from ...model.tree import Tree
from ...motion.controllers.published_trajectory import Knot
from ...motion.following.arm_state import Command
from ..messages.conversions import joint_trajectory, write_command
from ..parameters.node_parameters import NodeParameters

DEPTH = 10


class Outputs:
    """
    Publishes the commands in the messages that the parameters name.

    Parameters
    ----------
    node : Node
        Whose topics they are.
    parameters : NodeParameters
        Which messages, on which topics.

    """

    def __init__(self, node: Node, parameters: NodeParameters) -> None:
        self._node = node
        self._names: tuple[str, ...] = ()
        self._order: npt.NDArray[np.intp] = np.empty(0, dtype=np.intp)
        # One message for all commands: making a new one takes as long as publishing it.
        self._joint_state = JointState()
        kinds = {
            'joint_state': (JointState, '~/joint_command'),
            'trajectory': (JointTrajectory, parameters.trajectory_topic),
            'array': (Float64MultiArray, parameters.array_topic),
        }
        self._publishers = {
            name: node.create_publisher(*kinds[name], DEPTH) for name in parameters.output
        }

    def drive(self, chain: Chain | Tree, names: Sequence[str]) -> None:
        """Send the joints of an arm in the order of `names` from now on."""
        self._names = tuple(names)
        self._order = np.array([chain.joint_names.index(name) for name in names], dtype=np.intp)
        self._joint_state = JointState(name=list(names))

    @property
    def publishers(self) -> Mapping[str, Publisher]:
        """Publisher of each output that is asked for."""
        return self._publishers

    @property
    def takes_trajectories(self) -> bool:
        """Whether trajectories are sent, which include the stop."""
        return 'trajectory' in self._publishers

    def send(self, command: Command, stamp: int) -> None:
        """Send a command with its stamp [ns] as joint state and as array."""
        ordered = Command(command.q[self._order], command.velocity[self._order])
        if 'joint_state' in self._publishers:
            write_command(ordered, stamp, self._joint_state)
            self._publishers['joint_state'].publish(self._joint_state)
        if 'array' in self._publishers:
            self._publishers['array'].publish(Float64MultiArray(data=ordered.q.tolist()))

    @property
    def sends_joint_states(self) -> bool:
        """Whether joints are commanded by their names."""
        return 'joint_state' in self._publishers

    def send_joint(self, name: str, value: float, velocity: float, stamp: int) -> None:
        """Send a command for a joint outside the arm, with its stamp [ns], as joint state."""
        message = JointState(name=[name])
        write_command(Command(np.array([value]), np.array([velocity])), stamp, message)
        self._publishers['joint_state'].publish(message)

    def send_trajectory(self, points: Sequence[Knot]) -> None:
        """Send points that begin in the past and end at rest."""
        knots = [Knot(time, q[self._order], velocity[self._order]) for time, q, velocity in points]
        self._publishers['trajectory'].publish(joint_trajectory(self._names, knots))

    def wait_for_delivery(self, timeout: Duration) -> None:
        """Wait until all subscribers have the last message."""
        for publisher in self._publishers.values():
            publisher.wait_for_all_acked(timeout)

    def close(self) -> None:
        """Remove the topics."""
        for publisher in self._publishers.values():
            self._node.destroy_publisher(publisher)
