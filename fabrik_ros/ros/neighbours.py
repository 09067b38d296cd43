"""The other nodes: whether they take the commands, and whether they agree on the description."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping

from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from rclpy.publisher import Publisher
from rclpy.subscription import Subscription
from rclpy.topic_endpoint_info import TopicEndpointInfo

CHECK_PERIOD = 1.0
"""Time between two looks at the graph [s]; a warning needs two in a row."""
GRACE = 3
"""Looks after activation before a topic without a subscriber counts: discovery takes time."""
LISTENERS = {
    'joint_state': 'the driver of the arm should, or set output to what it takes; for a controller '
    'give controller:=<its name> to the launch file',
    'trajectory': 'a joint_trajectory_controller should; load it, or correct trajectory_topic',
    'array': 'a forward_command_controller should; load it, or correct array_topic',
}
"""Who should listen to each output, and the cure if nobody does."""
REQUESTED = ('trajectory', 'array')
"""Outputs that are not on by default: a user who names one has a controller for it."""


class Neighbours:
    """
    Warns of what is wrong around the node, in its log and its status.

    It looks for two things. More than one node publishes the description of the robot, so that
    chance decides which one the arm is computed with. Nobody takes the commands: none of
    the outputs has a subscriber, or one of `trajectory` and `array` has none. A `joint_state`
    without subscriber is no fault where another output has one.

    Parameters
    ----------
    node : Node
        The node whose neighbours these are.
    descriptions : Subscription
        Takes the description of the robot.
    outputs : callable
        Returns the publishers of the commands by output, as they are now.
    uses_topic : callable
        Returns whether the description comes from the topic.
    is_active : callable
        Returns whether the node is active.

    """

    def __init__(
        self,
        node: Node,
        descriptions: Subscription,
        outputs: Callable[[], Mapping[str, Publisher]],
        uses_topic: Callable[[], bool],
        is_active: Callable[[], bool],
    ) -> None:
        self._node, self._descriptions = node, descriptions
        self._outputs, self._uses_topic, self._is_active = outputs, uses_topic, is_active
        self._active_looks = 0
        self._seen: list[str] = []
        """Warnings of the last look."""
        self._warnings: list[str] = []
        """Warnings of the last two looks alike, which are in force."""
        node.create_timer(CHECK_PERIOD, self._check, clock=Clock(clock_type=ClockType.STEADY_TIME))

    def facts(self) -> dict[str, str]:
        """Warnings in force, by name; '' if there are none."""
        return {'warnings': '; '.join(self._warnings)}

    def _check(self) -> None:
        self._active_looks = self._active_looks + 1 if self._is_active() else 0
        seen = [*self._several_descriptions(), *self._outputs_without_listener()]
        before = self._warnings
        self._warnings = [warning for warning in seen if warning in self._seen]
        self._seen = seen
        for warning in self._warnings:
            if warning not in before:
                self._node.get_logger().warning(warning)
        for warning in before:
            if warning not in self._warnings:
                self._node.get_logger().info(f'no longer: {warning}')

    def _several_descriptions(self) -> Iterator[str]:
        topic = self._descriptions.topic_name
        if not self._uses_topic() or self._node.count_publishers(topic) < 2:
            return
        publishers = Counter(map(node_of, self._node.get_publishers_info_by_topic(topic)))
        names = [f'{name} ({n} times)' if n > 1 else name for name, n in publishers.items()]
        yield (
            f'{publishers.total()} publishers send robot descriptions on {topic}: '
            f'{", ".join(sorted(names))}; the newest description wins, which may lack the '
            'calibration of the arm; end all but one (beside a driver use attach.launch.py, '
            'which starts no robot_state_publisher)'
        )

    def _outputs_without_listener(self) -> Iterator[str]:
        if self._active_looks <= GRACE:
            return
        publishers = self._outputs()
        without = [name for name, to in publishers.items() if to.get_subscription_count() == 0]
        has_listener = len(without) < len(publishers)
        for name in without:
            if not has_listener or name in REQUESTED:
                yield self._no_listener(publishers[name], LISTENERS[name])

    def _no_listener(self, publisher: Publisher, listener: str) -> str:
        topic, kind = publisher.topic_name, _name_of(publisher.msg_type)
        others = self._node.get_subscriptions_info_by_topic(topic)
        if not others:
            return f'nobody listens to the commands on {topic} ({kind}): {listener}'
        names = ', '.join(sorted(set(map(node_of, others))))
        return (
            f'{names} cannot take the commands on {topic}, which are {kind}, reliable and '
            'volatile: the subscription has to be for this type and volatile'
        )


def node_of(endpoint: TopicEndpointInfo) -> str:
    """Full name of the node that an endpoint belongs to."""
    return f'{endpoint.node_namespace.rstrip("/")}/{endpoint.node_name}'


def _name_of(message_type: type) -> str:
    """Name of a message type as ROS writes it: `sensor_msgs/JointState`."""
    return f'{message_type.__module__.partition(".")[0]}/{message_type.__name__}'
