"""The connection to a node: what it says, and the targets that are sent to it."""

import math
import random
import time
from typing import Any

from builtin_interfaces.msg import Time
from rclpy.event_handler import PublisherEventCallbacks
from rclpy.node import Node
from rclpy.publisher import Publisher
from rclpy.qos import DurabilityPolicy

from ..errors import listed
from ..ros.beside.watched_node import WatchedNode
from ..ros.clocks.qos import NEWEST
from ..ros.parameters.tip_names import topic_name
from ..ros.status.diagnostics import awaited_in
from ..ros.status.neighbours import node_of
from .node_time import NodeTime
from .results import NO_NODE, NOT_READY, Status

SILENCE = 2.0
"""A node from which no status came for this long is gone [s]; it sends ten a second."""
UNUSED_TIME = 10.0
"""Publishers end when no target was sent for this long [s]: the node warns of two senders."""
STREAM_TIMEOUT, STREAM_MARGIN = 1.2, 0.1
"""What `stream_timeout` is by default, and what is added to it [s]."""
FLIGHT = 0.05
"""Longest time that a message takes to the node [s]."""
LEAD = 0.09
"""Most by which a stamp is ahead of the newest status [s]: more than 0.1 s is refused."""
SPREAD = 10_000
"""Stamps are behind by up to this, at random [us]: a target is known again by its stamp alone."""


class NodeLink:
    """
    Knows what a node says, and publishes targets for it.

    Parameters
    ----------
    node : Node
        Listens and publishes on its behalf.
    name : str
        Full name of the node that moves the arm.
    tip : str
        The tip link, of a node that moves several; '' otherwise.

    Attributes
    ----------
    watched : WatchedNode
        What the node says.
    time : NodeTime
        Time that passes for it.
    prefix : str
        Prefix of the topics and facts that are of the tip.

    """

    def __init__(self, node: Node, name: str, tip: str) -> None:
        namespace = name[: name.rindex('/') + 1]
        self.node, self.name, self.tip = node, name, tip
        self.prefix = f'{topic_name(tip)}/' if tip else ''
        self.time = NodeTime()
        self.watched = WatchedNode(node, name, namespace=namespace)
        self._facts: dict[str, str] = {}
        self._publishers: dict[str, Publisher] = {}
        self._used_at: dict[str, float] = {}
        """When each of them was needed last [s]."""
        self._sent_at: dict[str, float] = {}
        """When a message was sent last on each topic, by the time of the node [s]."""
        self._coming: dict[str, float] = {}
        """When messages were sent that no later status has dated yet, by the steady clock [s]."""
        self._looked_at = -math.inf
        """When the status came that was looked at last [s]."""
        self._stamp = 0
        """The newest stamp that was made [us]."""

    def look(self) -> None:
        """Take the time of the newest status; to be called often, by one thread."""
        watched = self.watched
        if watched.heard_at == self._looked_at:
            return
        self._looked_at = watched.heard_at
        is_simulated = watched.parameters.get('use_sim_time', self.time.is_simulated)
        self.time.see(watched.stamp, self._looked_at, is_simulated)
        for topic, at in list(self._coming.items()):
            if self._looked_at > at + FLIGHT:
                self._sent_at[topic] = self.time.shown
                del self._coming[topic]

    def close(self) -> None:
        """Leave the node."""
        for topic in list(self._publishers):
            self._drop(topic)
        self.watched.close()

    @property
    def facts(self) -> dict[str, str]:
        """The facts of the newest status, also of a node that fell silent; empty before."""
        self._facts = self.watched.facts or self._facts
        return self._facts

    @property
    def is_silent(self) -> bool:
        """Whether no status came for some time."""
        return time.monotonic() - self.watched.heard_at > SILENCE

    @property
    def status(self) -> Status:
        """What the node says."""
        facts = self.facts
        if self.is_silent or not facts:
            return Status('SILENT', f'no status is heard on {self.name}/status', NO_NODE)
        return Status(facts['state'], facts['reason'], facts['reason_code'], facts)

    @property
    def braking(self) -> Status:
        """What a move waits for while the arm is stopped on the way of the one before."""
        return Status('WAITING', 'the arm has to come to rest first', NOT_READY, self.facts)

    def missing(self, topic: str = '') -> Status | None:
        """Say what is missing until the node takes requests, on a topic; None where nothing is."""
        status, facts = self.status, self.facts
        if status.code == NO_NODE:
            return status
        if awaited := awaited_in(facts):
            return Status('WAITING', awaited, status.code or NOT_READY, facts)
        if topic and not self._is_connected(topic):
            text = f'{self.name} does not listen on {self.name}/{topic}{self._other_tips()}'
            return Status('WAITING', text, NOT_READY, facts)
        return None

    def _other_tips(self) -> str:
        tips = self.facts.get('tip_link', '').split(', ')
        return f'; its tips are: {listed(tips)}: say which' if len(tips) > 1 else ''

    def stream_pause(self, topic: str) -> float:
        """
        Time until a message on a topic is not of one stream with the one before [s].

        It is that of the node, whose clock decides.
        """
        timeout = self.watched.parameters.get('stream_timeout', STREAM_TIMEOUT)
        passed = self.time.shown - self._sent_at.get(topic, -math.inf)
        return float(timeout) + STREAM_MARGIN - passed

    def advertise(self, topic: str, kind: type) -> None:
        """Let the node know that there will be targets on a topic below its name."""
        if topic not in self._publishers:
            events = PublisherEventCallbacks(use_default_callbacks=False)
            self._publishers[topic] = self.node.create_publisher(
                kind, f'{self.name}/{topic}', NEWEST, event_callbacks=events
            )
        self._used_at[topic] = time.monotonic()

    def publish(self, topic: str, message: Any) -> None:
        """Publish a message on a topic that was advertised."""
        self._publishers[topic].publish(message)
        self._sent_at[topic] = self.time.shown
        if self.time.is_simulated:  # a later status says how late it was when it came
            self._sent_at[topic], self._coming[topic] = math.inf, time.monotonic()

    def drop_unused(self) -> None:
        """End the publishers that were not used for some time."""
        for topic in list(self._publishers):
            if time.monotonic() - self._used_at[topic] > UNUSED_TIME:
                self._drop(topic)

    def _drop(self, topic: str) -> None:
        self.node.destroy_publisher(self._publishers.pop(topic))

    def _is_connected(self, topic: str) -> bool:
        """
        Whether the node itself would get what is sent now, not only somebody who looks on.

        How many subscriptions are matched is known, but not which: so all have to be.
        """
        publisher = self._publishers[topic]
        infos = self.node.get_subscriptions_info_by_topic(publisher.topic_name)
        matching = [
            info
            for info in infos
            if info.qos_profile.durability != DurabilityPolicy.TRANSIENT_LOCAL
        ]
        names = set(map(node_of, matching))
        return self.name in names and publisher.get_subscription_count() >= len(matching)

    def new_stamp(self) -> Time:
        """
        Make a stamp by the node's clock, in whole microseconds: the status tells those.

        Of two commanders that heard the same status last, and that long ago, one in ten thousand
        makes the same as the other.
        """
        passed = min(time.monotonic() - self.watched.heard_at, LEAD)
        now = self.watched.stamp // 1000 + round(1e6 * passed) - random.randrange(SPREAD)
        now, before = max(1, now), self._stamp
        is_again = before - round(1e6 * LEAD) <= now <= before
        self._stamp = before + 1 if is_again else now
        return Time(sec=self._stamp // 10**6, nanosec=self._stamp % 10**6 * 1000)
