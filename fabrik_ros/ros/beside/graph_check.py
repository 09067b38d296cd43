"""Faults of the nodes that are running, as they are seen from outside."""

from collections.abc import Iterator, Mapping, Sequence
import time

from diagnostic_msgs.msg import DiagnosticArray
import rclpy
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node

from ..status.diagnostics import standing_in
from ..status.neighbours import node_of, UNKNOWN

DESCRIPTION, STATUS = 'std_msgs/msg/String', 'diagnostic_msgs/msg/DiagnosticArray'
LISTENING_TIME = 3.0
"""Time for which the doctor listens [s]: discovery takes 1 s, a node speaks ten times a second."""
LONGEST_LISTENING_TIME = 10.0
"""Longest time for which it listens while something is half known: busy machines are slow [s]."""
SPIN_TIME = 0.05
PARTLY = 'partly on'
"""Beginning of `self_collision` where shapes of links are missing."""
FACTS = {'state', 'reason', 'waits_for', 'warnings'}
"""Facts that each status of a node of this package has, and no others."""

Statuses = dict[str, dict[str, Mapping[str, str]]]
"""Newest status of each node, by the topic that it is on and the instance of the node."""
Entry = tuple[str, str, str]
"""'ok', 'note' or 'WRONG'; what it is about; a sentence."""


def look_at_graph() -> list[Entry]:
    """Listen for some seconds, and say what is there and what is wrong with it."""
    rclpy.init(args=[])
    node = rclpy.create_node('fabrik_ros_doctor')
    try:
        statuses = _listen(node)
        return [*_descriptions(node), *_nodes(node, statuses)]
    finally:
        node.destroy_node()
        rclpy.try_shutdown()


def _listen(node: Node) -> Statuses:
    """Collect the newest status of each node; {} on topics of silent ones."""
    executor = SingleThreadedExecutor()
    executor.add_node(node)
    statuses: Statuses = {}
    heard = set[str]()

    def subscribe(topic: str) -> None:
        heard.add(topic)
        statuses[topic] = {}

        def take(message: DiagnosticArray) -> None:
            facts = {pair.key: pair.value for one in message.status for pair in one.values}
            if facts.keys() >= FACTS:
                statuses.setdefault(topic, {})[facts.get('instance', '')] = facts
            elif not statuses.get(topic):
                statuses.pop(topic, None)  # of something else

        node.create_subscription(DiagnosticArray, topic, take, 1)

    begin, passed = time.monotonic(), 0.0
    while passed < LISTENING_TIME or (
        passed < LONGEST_LISTENING_TIME and not _is_settled(node, statuses)
    ):
        topics = dict(node.get_topic_names_and_types())
        for topic in topics:
            if topic not in heard and _is_of_a_node(topic, topics):
                subscribe(topic)
        executor.spin_once(SPIN_TIME)
        passed = time.monotonic() - begin
    executor.shutdown()
    return statuses


def _is_settled(node: Node, statuses: Statuses) -> bool:
    """Whether every node that was found has said a status, and every publisher has a name."""
    names = (name for _, names in _describers(node) for name in names)
    return all(statuses.values()) and not any(UNKNOWN in name for name in names)


def _is_of_a_node(topic: str, topics: Mapping[str, Sequence[str]]) -> bool:
    """Whether a topic is the status of a node of this package, which also publishes markers."""
    name = topic.removesuffix('/status')
    return name != topic and STATUS in topics[topic] and f'{name}/markers' in topics


def _descriptions(node: Node) -> Iterator[Entry]:
    """Name the publishers of each robot description that has more than one."""
    for topic, names in _describers(node):
        if len(names) > 1:
            text = f'{len(names)} publishers: {", ".join(names)}; end all but one'
            yield 'WRONG', topic, text
        elif names:
            yield 'ok', topic, f'from {names[0]}'


def _describers(node: Node) -> Iterator[tuple[str, list[str]]]:
    """Tell of each topic of robot descriptions which nodes publish there."""
    for topic, kinds in node.get_topic_names_and_types():
        if topic.endswith('robot_description') and DESCRIPTION in kinds:
            yield topic, sorted(map(node_of, node.get_publishers_info_by_topic(topic)))


def _nodes(node: Node, statuses: Statuses) -> Iterator[Entry]:
    """Say what each node does, what it waits for and what it warns of."""
    publishing = {t: s for t, s in statuses.items() if s or node.count_publishers(t) > 0}
    if not publishing:
        yield 'note', 'graph', f'no fabrik_node is heard within {LISTENING_TIME:g} s'
    for topic, found in publishing.items():
        for status in found.values() or [{}]:
            yield from _node(topic.removesuffix('/status'), status)


def _node(name: str, status: Mapping[str, str]) -> Iterator[Entry]:
    if not status:
        yield 'WRONG', name, f'no status came within {LONGEST_LISTENING_TIME:g} s'
        return
    yield 'WRONG' if status['waits_for'] else 'ok', name, standing_in(status)
    if odd := status.get('description_warnings'):
        yield 'note', name, f'robot description: {odd}'
    if status['warnings']:
        yield 'WRONG', name, status['warnings']
    if status.get('self_collision', '').startswith(PARTLY):
        yield 'WRONG', name, f'self-collision checking is {status["self_collision"]}'
    if not status['waits_for'] and status.get('obstacles') == '0':
        text = 'no obstacles known: the arm keeps clear of nothing but itself'
        yield 'note', name, f'{text} (scene, ~/obstacles, ~/points)'
