"""Other nodes of the same full name: one of them moves the arm, the others wait."""

from collections.abc import Callable
from enum import Enum
import os
import socket
import time
from typing import NamedTuple

from diagnostic_msgs.msg import DiagnosticArray
from rclpy.node import Node
from rclpy.subscription import Subscription
from rclpy.topic_endpoint_info import TopicEndpointInfo

from .neighbours import node_of, UNKNOWN

SETTLING_LOOKS = 20
"""Looks of a new node before it starts by itself: others are discovered within a second."""
SILENCE = 2.0
"""A node that has said nothing for so long counts as silent [s]; it speaks ten times a second."""


class Claim(Enum):
    """Claim of a node to its name; the values are in the status."""

    NONE = 'none'
    """It is not configured, or has ended."""
    READY = 'ready'
    """It is configured, and was not active yet."""
    HOLDS = 'holds'
    """It is active, or was: until it ends nobody else of the name is to start unasked."""


class Instance(NamedTuple):
    """One of the nodes of a name; the one that was started earlier goes first."""

    started: int
    """System time [ns]."""
    process: str
    """Number and host of its process."""

    def __str__(self) -> str:
        return f'{self.started} {self.process}'


class Namesakes:
    """
    Knows the other nodes of the same full name, and which of them goes first.

    The graph tells how many there are, also of those that hang or have crashed: they stay in it
    until the network gives them up, after 20 s. Their statuses tell which they are. This node may
    be active if it has heard every one of them, and it holds the name, or none does and no other
    that is ready was started earlier. Where two hold it all the same, as they were discovered
    late, the one that was started later has to give up.

    Parameters
    ----------
    node : Node
        Whose name it is.
    is_configured : callable
        Returns whether the node is configured.

    Attributes
    ----------
    holds : bool
        Whether this node holds the name.

    """

    def __init__(self, node: Node, is_configured: Callable[[], bool]) -> None:
        self._node, self._is_configured = node, is_configured
        self._name = node.get_fully_qualified_name()
        self._topic = node.resolve_topic_name('~/status')
        self._own = Instance(time.time_ns(), f'process {os.getpid()} on {socket.gethostname()}')
        self._looks = 0
        self._count = 0
        """Number of others in the graph."""
        self._strangers: set[tuple[int, ...]] = set()
        """Publishers of nodes of another name: as they leave, they may lose it first."""
        self._namesakes: set[tuple[int, ...]] = set()
        """Those of nodes of this name."""
        self._heard: dict[Instance, tuple[Claim, float]] = {}
        """Claims of others, and when they said so [s]."""
        self._subscription: Subscription | None = None
        self.holds = False

    def facts(self) -> dict[str, str]:
        """Facts for the status: which of them this node is, and what it claims."""
        ready = Claim.READY if self._is_configured() else Claim.NONE
        claim = Claim.HOLDS if self.holds else ready
        return {'instance': str(self._own), 'name_claim': claim.value}

    def look(self) -> None:
        """Look who is there; call it regularly."""
        self._looks += 1
        self._count = self._count_others()
        deadline = time.monotonic() - SILENCE
        self._heard = {who: said for who, said in self._heard.items() if said[1] > deadline}
        if self._count and self._subscription is None:
            self._subscription = self._node.create_subscription(
                DiagnosticArray, self._topic, self._take, 10
            )
        elif not self._count and self._subscription is not None:
            self._node.destroy_subscription(self._subscription)
            self._subscription = None
            self._heard.clear()

    @property
    def is_settled(self) -> bool:
        """Whether others have had the time to be discovered."""
        return self._looks > SETTLING_LOOKS

    def rival(self) -> str:
        """Say which other node goes first; '' if none does."""
        if not self._count:
            return ''
        for who, (claim, _) in sorted(self._heard.items()):
            if claim is Claim.HOLDS and not (self.holds and self._own < who):
                return f'another node is {self._name} already: {who.process}'
        if len(self._heard) < self._count:
            return (
                f'another node is {self._name} and says nothing: if it has crashed, it is gone '
                'within 20 s'
            )
        for who, (claim, _) in sorted(self._heard.items()):
            if claim is Claim.READY and who < self._own and not self.holds:
                return f'another node is {self._name} and was started earlier: {who.process}'
        return ''

    def winner(self) -> str:
        """Say to whom this node, which holds the name, has to leave it; '' if to nobody."""
        for who, (claim, _) in sorted(self._heard.items()):
            if self._count and claim is Claim.HOLDS and who < self._own:
                return f'another node is {self._name}, too, and was started earlier: {who.process}'
        return ''

    def warnings(self) -> list[str]:
        """Say which nodes have the same name, and the cure."""
        if not self._count:
            return []
        others = [who.process for who in sorted(self._heard)]
        silent = max(0, self._count - len(others))
        others += [f'{silent} that says nothing'] if silent else []
        return [
            f'{1 + self._count} nodes have the name {self._name}: this one, {self._own.process}; '
            f'{"; ".join(others)}; only one moves the arm, and services reach all; end the '
            'others, or give each a namespace'
        ]

    def _count_others(self) -> int:
        if self._node.count_publishers(self._topic) < 2:
            self._strangers, self._namesakes = set(), set()
            return 0
        publishers = self._node.get_publishers_info_by_topic(self._topic)
        strangers = {tuple(one.endpoint_gid) for one in publishers if self._is_strange(one)}
        self._namesakes = {tuple(one.endpoint_gid) for one in publishers} - strangers
        self._strangers = strangers
        return max(0, len(self._namesakes) - 1)

    def _is_strange(self, publisher: TopicEndpointInfo) -> bool:
        """
        Whether a publisher belongs to a node of another name.

        One without a name is about to tell it, or leaves. A node that is settled was there before
        whoever arrives.
        """
        name = node_of(publisher)
        if UNKNOWN in name:
            gid = tuple(publisher.endpoint_gid)
            return gid in self._strangers or (self.is_settled and gid not in self._namesakes)
        return name != self._name

    def _take(self, message: DiagnosticArray) -> None:
        facts = {pair.key: pair.value for one in message.status for pair in one.values}
        started, _, process = facts.get('instance', '').partition(' ')
        try:
            who, claim = Instance(int(started), process), Claim(facts.get('name_claim'))
        except ValueError:
            return
        if who != self._own:
            self._heard[who] = claim, time.monotonic()
