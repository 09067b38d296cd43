"""A running node seen from another one: what it says, its parameters, where its tools are."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache, partial
import math
import time
from typing import NamedTuple

import numpy as np
from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from rclpy.qos import QoSProfile, ReliabilityPolicy
from sensor_msgs.msg import JointState
from std_msgs.msg import String

from ...errors import FabrikError
from ...model.chain import Chain
from ...model.robot import Robot
from ...model.urdf import parse_urdf
from ...transforms import Array, rotation_from_rpy, transform
from ..clocks.qos import LATCHED
from ..messages.marker_shapes import drawn_reach
from .node_client import NO_EVENTS, NodeClient
from .resting_joints import JointValue

ATTENDING_PERIOD = 0.5
"""Time between two looks whether the node is still there [s]."""
PARAMETERS = (
    'robot_description',
    'use_safety_limits',
    'tip_links',
    'tool_offset',
    'mode',
    'tip_modes',
    'path',
    'confirm',
    'speed_scaling',
    'home_configuration',
    'stream_timeout',
    'wait_for_state',
    'use_sim_time',
)
"""Parameters that the node is asked for."""
STATES = QoSProfile(depth=10, reliability=ReliabilityPolicy.BEST_EFFORT)
"""Joint states of any driver, as the node takes them."""


class Tool(NamedTuple):
    """A tool of an arm."""

    T_base_tool: Array
    """Measured pose in the base, shape (4, 4)."""
    reach: float
    """Reach of its arm [m]."""
    joints: tuple[JointValue, ...]
    """Measured joint values of its arm."""


class WatchedNode(NodeClient):
    """
    A client of the node that knows where its tools are.

    Parameters
    ----------
    node : Node
        Listens on its behalf.
    name : str
        The node; one that is not absolute is in the namespace of `node`.
    on_status : callable, optional
        Called at each status.
    namespace : str
        Where the topics of the robot are; '' for that of `node`.
    more : sequence of str
        Names of further parameters that are asked for.

    """

    def __init__(
        self,
        node: Node,
        name: str,
        on_status: Callable[[], None] = lambda: None,
        namespace: str = '',
        more: Sequence[str] = (),
    ) -> None:
        super().__init__(node, name, (*PARAMETERS, *more), on_status)
        self._values: dict[str, float] = {}
        self._measured_at: dict[str, float] = {}
        """When each joint was measured last, by a steady clock [s]."""
        self._description = ''
        """Description that came on the topic."""
        self._read = '', False
        """The description that was read last, and whether its safety limits count."""
        self._robot: Robot | None = None
        states, description = f'{namespace}joint_states', f'{namespace}robot_description'
        listen = partial(node.create_subscription, event_callbacks=NO_EVENTS)
        self._robot_topics = (
            listen(JointState, states, self._on_joints, STATES),
            listen(String, description, self._on_description, LATCHED),
        )
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        self._timer = node.create_timer(ATTENDING_PERIOD, self.attend, clock=steady)

    def close(self) -> None:
        """Listen and ask no more."""
        super().close()
        self._node.destroy_timer(self._timer)
        for subscription in self._robot_topics:
            self._node.destroy_subscription(subscription)

    def measured_at(self, joints: Iterable[str]) -> float:
        """Time at which the joint that was measured longest ago was measured [s]; -inf: never."""
        return min((self._measured_at.get(name, -math.inf) for name in joints), default=-math.inf)

    @property
    def base_link(self) -> str:
        """The link in whose frame the tools are; '' while the node has no arm."""
        return self.facts.get('base_link', '')

    @property
    def tip_links(self) -> tuple[str, ...]:
        """The links that go to targets; none while the node has no arm."""
        return tuple(filter(None, self.facts.get('tip_link', '').split(', ')))

    @property
    def has_several_tips(self) -> bool:
        """Whether each tip has topics and facts of its own, as it has with `tip_links`."""
        return bool(self.parameters.get('tip_links'))

    @property
    def robot(self) -> Robot | None:
        """The robot as described; None where that is not known, or cannot be used."""
        description = self.parameters.get('robot_description', '') or self._description
        is_safe = bool(description) and self.parameters.get('use_safety_limits', True)
        if (description, is_safe) != self._read:
            self._read, self._robot = (description, is_safe), None
            try:
                self._robot = parse_urdf(description, use_safety_limits=is_safe)
            except FabrikError as error:
                self._node.get_logger().error(f'the robot description cannot be used: {error}')
        return self._robot

    @property
    def missing(self) -> str:
        """Message about what is missing until it is known where the tools are; '' for nothing."""
        resolve = self._node.resolve_topic_name
        if not self.is_alive:
            return f'no status on {self.status_topic}'
        if not self.base_link:
            return self.facts.get('reason', '')
        if not self.parameters:
            return f'no answer of {resolve(self.name)}/get_parameters'
        if self.robot is None:
            return f'no robot description on {self._robot_topics[1].topic_name}'
        if not self.tools():
            return f'no joint values on {self._robot_topics[0].topic_name}'
        return ''

    def tools(self, values: Mapping[str, float] | None = None) -> Mapping[str, Tool]:
        """
        Tell of each tip link where its tool is; nothing while one of them is not known.

        Parameters
        ----------
        values : mapping, optional
            Joint values by name; those that are measured where they are left out.

        """
        values = self._values if values is None else values
        robot, base_link, tips = self.robot, self.base_link, self.tip_links
        if not (self.parameters and robot is not None and base_link):
            return {}
        offsets = np.resize(self.parameters['tool_offset'], (len(tips), 6))
        try:
            return {
                tip: _tool(_chain(robot, base_link, tip), robot, offset, values)
                for tip, offset in zip(tips, offsets, strict=True)
            }
        except FabrikError:  # of joints that are not known, or of a description just replaced
            return {}

    def limits(self) -> Mapping[str, tuple[float, float]]:
        """Tell the limits of each joint of the arms [rad or m]; nothing while they are unknown."""
        robot, limits = self.robot, dict[str, tuple[float, float]]()
        if robot is None:
            return limits
        with suppress(FabrikError):  # of a description that was just replaced
            for tip in self.tip_links:
                chain = _chain(robot, self.base_link, tip)
                ranges = zip(chain.lower.tolist(), chain.upper.tolist(), strict=True)
                limits |= zip(chain.joint_names, ranges, strict=True)
        return limits

    def _on_joints(self, message: JointState) -> None:
        if len(message.position) == len(message.name):
            self._values = self._values | dict(zip(message.name, message.position, strict=True))
            self._measured_at = self._measured_at | dict.fromkeys(message.name, time.monotonic())

    def _on_description(self, message: String) -> None:
        self._description = message.data


def _tool(chain: Chain, robot: Robot, offset: Array, values: Mapping[str, float]) -> Tool:
    T_tip_tool = transform(rotation_from_rpy(*offset[3:]), offset[:3])
    T_base_tip = robot.pose(chain.base_link, chain.tip_link, values)
    joints = zip(chain.joint_names, chain.is_revolute.tolist(), strict=True)
    return Tool(
        T_base_tip @ T_tip_tool,
        drawn_reach(chain),
        tuple(JointValue(name, turns, values[name]) for name, turns in joints),
    )


@lru_cache(maxsize=32)
def _chain(robot: Robot, base_link: str, tip_link: str) -> Chain:
    """Take a chain of a robot; ChainError where the links are of none."""
    return robot.chain(base_link, tip_link)
