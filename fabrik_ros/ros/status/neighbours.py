"""The other nodes: who takes the commands, who sends the same, and who cannot be heard."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from rclpy.publisher import Publisher
from rclpy.qos import DurabilityPolicy, ReliabilityPolicy
from rclpy.subscription import Subscription
from rclpy.topic_endpoint_info import TopicEndpointInfo

CHECK_PERIOD = 1.0
"""Time between two looks at the graph [s]; a warning needs two in a row."""
GRACE = 3
"""Looks after activation before a topic without a subscriber counts: discovery takes time."""
LISTENERS = {
    'joint_state': 'the driver of the arm should, or set output to what it takes, as '
    'controller:=<its name> does in the launch files',
    'trajectory': 'a joint_trajectory_controller should; load it, or correct trajectory_topic',
    'array': 'a forward_command_controller should; load it, or correct array_topic',
}
"""Listeners that each output should have, and the cure if it has none."""
UNKNOWN = '_UNKNOWN_'
"""Mark in the names of nodes of which only topics were discovered so far."""
REQUESTED = ('trajectory', 'array')
"""Outputs that are not on by default: a user who names one has a controller for it."""


class Neighbours:
    """
    Warns of what is wrong around the node, in its log and its status.

    More than one publisher sends the description of the robot, or targets of one kind, or
    commands where this node sends its own: chance decides whose count. A publisher on any topic
    that the node hears has another type, or a quality of service by which nothing arrives. Nobody
    takes the commands: none of the outputs has a subscriber, or one of `trajectory` and `array`
    has none. A `joint_state` without subscriber is no fault where another output has one.

    Parameters
    ----------
    node : Node
        The node whose neighbours these are.
    descriptions : Subscription
        Takes the description of the robot.
    outputs : callable
        Returns the publishers of the commands by output, as they are now.
    targets : callable
        Returns the subscriptions to targets, as they are now.
    uses_topic : callable
        Returns whether the description comes from the topic.
    is_active : callable
        Returns whether the node is active.
    namesakes : callable
        Returns what there is to say of other nodes of the same name.

    Attributes
    ----------
    warnings : list of str
        What is wrong, by the last two looks.

    """

    def __init__(
        self,
        node: Node,
        descriptions: Subscription,
        outputs: Callable[[], Mapping[str, Publisher]],
        targets: Callable[[], Iterable[Subscription]],
        uses_topic: Callable[[], bool],
        is_active: Callable[[], bool],
        namesakes: Callable[[], Iterable[str]],
    ) -> None:
        self._node, self._descriptions = node, descriptions
        self._outputs, self._targets = outputs, targets
        self._uses_topic, self._is_active = uses_topic, is_active
        self._namesakes = namesakes
        self._active_looks = 0
        self._seen: list[str] = []
        """Warnings of the last look."""
        self.warnings: list[str] = []
        node.create_timer(CHECK_PERIOD, self._check, clock=Clock(clock_type=ClockType.STEADY_TIME))

    def _check(self) -> None:
        self._active_looks = self._active_looks + 1 if self._is_active() else 0
        seen = [
            *self._namesakes(),
            *self._several_descriptions(),
            *self._several_of_targets(),
            *self._several_of_commands(),
            *self._unheard_publishers(),
            *self._outputs_without_listener(),
        ]
        before = self.warnings
        self.warnings = [warning for warning in seen if warning in self._seen]
        self._seen = seen
        for warning in self.warnings:
            if warning not in before:
                self._node.get_logger().warning(warning)
        for warning in before:
            if warning not in self.warnings:
                self._node.get_logger().info(f'no longer: {warning}')

    def _several_descriptions(self) -> Iterator[str]:
        topic = self._descriptions.topic_name
        if not self._uses_topic() or self._node.count_publishers(topic) < 2:
            return
        publishers = self._node.get_publishers_info_by_topic(topic)
        yield (
            f'{len(publishers)} publishers send robot descriptions on {topic}: '
            f'{_names(publishers)}; the newest description wins, which may lack the '
            'calibration of the arm; end all but one (beside a driver use attach.launch.py, '
            'which starts no robot_state_publisher)'
        )

    def _several_of_targets(self) -> Iterator[str]:
        for topic in (str(subscription.topic_name) for subscription in self._targets()):
            if self._node.count_publishers(topic) > 1:
                publishers = self._node.get_publishers_info_by_topic(topic)
                yield (
                    f'{len(publishers)} publishers send targets on {topic}: {_names(publishers)}; '
                    'the newest target wins; end all but one, if that is not meant'
                )

    def _several_of_commands(self) -> Iterator[str]:
        own = self._node.get_fully_qualified_name()
        for topic in (publisher.topic_name for publisher in self._outputs().values()):
            if self._node.count_publishers(topic) < 2:
                continue
            publishers = self._node.get_publishers_info_by_topic(topic)
            others = [publisher for publisher in publishers if node_of(publisher) != own]
            if others:
                yield (
                    f'others send commands on {topic}, too: {_names(others)}; an arm that gets '
                    'them from two senders jumps between them; end the others, or give this '
                    'node another topic'
                )

    def _unheard_publishers(self) -> Iterator[str]:
        """Name publishers from which nothing arrives; asking who is matched costs little."""
        heard: dict[str, list[Subscription]] = {}
        for subscription in self._node.subscriptions:
            heard.setdefault(subscription.topic_name, []).append(subscription)
        if not self._uses_topic():
            heard.pop(self._descriptions.topic_name, None)
        for topic, subscriptions in heard.items():
            matched = max(one.get_publisher_count() for one in subscriptions)
            if self._node.count_publishers(topic) > matched:
                yield from self._unheard_on(topic, subscriptions)

    def _unheard_on(self, topic: str, subscriptions: Sequence[Subscription]) -> Iterator[str]:
        by_reason: dict[str, list[TopicEndpointInfo]] = {}
        for publisher in self._node.get_publishers_info_by_topic(topic):
            reasons = [_why_unheard(publisher, one) for one in subscriptions]
            if all(reasons):
                by_reason.setdefault(reasons[0], []).append(publisher)
        parameter = f'qos_overrides.{topic}.subscription.reliability'
        for reason, publishers in by_reason.items():
            is_settable = self._node.has_parameter(parameter) and 'best effort' in reason
            more = f', or set the parameter {parameter} to best_effort' if is_settable else ''
            yield f'nothing arrives on {topic} from {_names(publishers)}: {reason}{more}'

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


def _names(endpoints: Iterable[TopicEndpointInfo]) -> str:
    """Full names of the nodes that endpoints belong to, with how many each has."""
    counts = Counter(map(node_of, endpoints))
    return ', '.join(
        sorted(f'{name} ({n} times)' if n > 1 else name for name, n in counts.items())
    )


def _why_unheard(publisher: TopicEndpointInfo, subscription: Subscription) -> str:
    """Say why a subscription gets nothing from a publisher, and the cure; '' if it does."""
    kind, offered = publisher.topic_type.replace('/msg/', '/'), publisher.qos_profile
    asked, own_kind = subscription.qos_profile, _name_of(subscription.msg_type)
    if kind != own_kind:
        return f'it publishes {kind}; publish {own_kind}'
    if (offered.reliability, asked.reliability) == (
        ReliabilityPolicy.BEST_EFFORT,
        ReliabilityPolicy.RELIABLE,
    ):
        return (
            'a best effort publisher is not heard by this reliable subscription; make the '
            'publisher reliable'
        )
    if (offered.durability, asked.durability) == (
        DurabilityPolicy.VOLATILE,
        DurabilityPolicy.TRANSIENT_LOCAL,
    ):
        return (
            'a volatile publisher is not heard by this subscription, which asks for what was sent '
            'before; make the publisher transient local'
        )
    return ''


def _name_of(message_type: type) -> str:
    """Name of a message type as ROS writes it: `sensor_msgs/JointState`."""
    return f'{message_type.__module__.partition(".")[0]}/{message_type.__name__}'
