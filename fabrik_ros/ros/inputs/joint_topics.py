"""The topics of targets for joints: their values, or the name of a configuration."""

from collections.abc import Callable

from rclpy.node import Node
from sensor_msgs.msg import JointState
from std_msgs.msg import String

from .target_subscription import subscribe_to_targets, waiting_message


class JointTopics:
    """
    Takes `~/target_joints` and `~/target_configuration`.

    Parameters
    ----------
    node : Node
        Whose topics they are.
    on_joints, on_configuration : callable
        Take each target: the message, and the system time at which it was received [ns].

    Attributes
    ----------
    targets : tuple of Subscription
        Take values, and names.

    """

    def __init__(
        self,
        node: Node,
        on_joints: Callable[[JointState, int], None],
        on_configuration: Callable[[String, int], None],
    ) -> None:
        self.targets = (
            subscribe_to_targets(node, JointState, '~/target_joints', on_joints),
            subscribe_to_targets(node, String, '~/target_configuration', on_configuration),
        )

    def drop_waiting(self) -> int:
        """Drop waiting messages; return how many there were."""
        return sum(waiting_message(subscription) is not None for subscription in self.targets)
