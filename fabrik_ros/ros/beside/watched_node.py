"""A running node seen from another one: what it says, its parameters, where its tools are."""

from collections.abc import Callable, Mapping
from functools import lru_cache
import math
import time
from typing import Any, NamedTuple

from diagnostic_msgs.msg import DiagnosticArray
import numpy as np
from rcl_interfaces.msg import ParameterEvent
from rcl_interfaces.srv import GetParameters, ListParameters, SetParameters
from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from rclpy.parameter import Parameter, parameter_value_to_python
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from rclpy.task import Future
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from std_srvs.srv import Trigger

from ...errors import FabrikError
from ...model.chain import Chain
from ...model.robot import Robot
from ...model.urdf import parse_urdf
from ...transforms import Array, rotation_from_rpy, transform
from ..messages.marker_shapes import drawn_reach
from ..parameters.parameter_table import CONFIGURATIONS
from ..status.diagnostics import is_of_waiting_namesake
from .resting_joints import JointValue

TIMEOUT = 1.0
"""A node that said nothing for so long is gone [s]; it speaks ten times a second."""
REQUEST_PERIOD = 1.0
"""Time after which parameters that did not come are asked for again [s]."""
LONGEST_ANSWER = 2.0
"""Time after which a service is said not to answer [s]."""
PARAMETERS = (
    'robot_description',
    'tip_links',
    'tool_offset',
    'mode',
    'tip_modes',
    'path',
    'confirm',
    'speed_scaling',
    'home_configuration',
    'stream_timeout',
)
"""What is asked for."""
LISTS = ('tip_links', 'tip_modes')
"""Those that are lists of names; an empty name means none."""
LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
NEWEST = QoSProfile(depth=1)
STATES = QoSProfile(depth=10, reliability=ReliabilityPolicy.BEST_EFFORT)
"""Joint states of any driver, as the node takes them."""

OnAnswer = Callable[[bool, str], None]
"""Gets whether something is done, and a sentence."""


class Tool(NamedTuple):
    """A tool of an arm."""

    T_base_tool: Array
    """Where it is measured to be, shape (4, 4)."""
    reach: float
    """Of its arm [m]."""
    joints: tuple[JointValue, ...]
    """Of its arm, as measured."""


class WatchedNode:
    """
    Listens to a node, and asks its services.

    The status is its sign of life: when that stops, nothing is known any more.

    Parameters
    ----------
    node : Node
        Listens on its behalf.
    name : str
        The node; one that is not absolute is in the namespace of `node`.
    on_status : callable
        Called at each status.

    Attributes
    ----------
    name : str
        The node.
    facts : dict
        The facts of the newest status, by name.
    parameters : dict
        Values of `PARAMETERS`, by name; empty until they are known.
    configurations : tuple of str
        Names of the configurations that it knows, without home; known with the parameters.

    """

    def __init__(self, node: Node, name: str, on_status: Callable[[], None]) -> None:
        self._node, self._on_new_status = node, on_status
        self.name = name
        self.facts: dict[str, str] = {}
        self.parameters: dict[str, Any] = {}
        self.configurations: tuple[str, ...] = ()
        self._heard_at = -math.inf
        self._asked_at = -math.inf
        self._values: dict[str, float] = {}
        self._description = ''
        """What came on the topic."""
        self._read = ''
        """The description that was read last."""
        self._robot: Robot | None = None
        listen, ask = node.create_subscription, node.create_client
        self._statuses = listen(DiagnosticArray, f'{name}/status', self._on_status, NEWEST)
        listen(JointState, 'joint_states', self._on_joints, STATES)
        listen(String, 'robot_description', self._on_description, LATCHED)
        listen(ParameterEvent, '/parameter_events', self._on_parameter_event, 100)
        self._lister = ask(ListParameters, f'{name}/list_parameters')
        self._getter = ask(GetParameters, f'{name}/get_parameters')
        self._setter = ask(SetParameters, f'{name}/set_parameters')
        services = ('home', 'hold', 'resume', 'execute')
        self._triggers = {service: ask(Trigger, f'{name}/{service}') for service in services}
        self._unanswered: dict[Future[Any], tuple[float, OnAnswer]] = {}
        """When a request was made [s], and who waits for its answer."""
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        node.create_timer(0.5 * REQUEST_PERIOD, self._ask_again, clock=steady)

    # -- what is known

    @property
    def is_alive(self) -> bool:
        """Whether a status came of late."""
        return time.monotonic() - self._heard_at < TIMEOUT

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
        if description != self._read:
            self._read, self._robot = description, None
            try:
                self._robot = parse_urdf(description)
            except FabrikError as error:
                self._node.get_logger().error(f'the robot description cannot be used: {error}')
        return self._robot

    @property
    def missing(self) -> str:
        """What is still missing, until it is known where the tools are; '' for nothing."""
        resolve = self._node.resolve_topic_name
        if not self.is_alive:
            return f'no status on {self._statuses.topic_name}'
        if not self.base_link:
            return self.facts.get('reason', '')
        if not self.parameters:
            return f'no answer of {resolve(self.name)}/get_parameters'
        if self.robot is None:
            return f'no robot description on {resolve("robot_description")}'
        if not self.tools():
            return f'no joint values on {resolve("joint_states")}'
        return ''

    def tools(self) -> Mapping[str, Tool]:
        """Tell of each tip link where its tool is; nothing while one of them is not known."""
        robot, base_link, tips = self.robot, self.base_link, self.tip_links
        if not (self.parameters and robot is not None and base_link):
            return {}
        offsets = np.resize(self.parameters['tool_offset'], (len(tips), 6))
        try:
            return {
                tip: self._tool(_chain(robot, base_link, tip), robot, offset)
                for tip, offset in zip(tips, offsets, strict=True)
            }
        except FabrikError:  # of joints that are not known, or of a description just replaced
            return {}

    def _tool(self, chain: Chain, robot: Robot, offset: Array) -> Tool:
        T_tip_tool = transform(rotation_from_rpy(*offset[3:]), offset[:3])
        T_base_tip = robot.pose(chain.base_link, chain.tip_link, self._values)
        joints = zip(chain.joint_names, chain.is_revolute.tolist(), strict=True)
        return Tool(
            T_base_tip @ T_tip_tool,
            drawn_reach(chain),
            tuple(JointValue(name, turns, self._values[name]) for name, turns in joints),
        )

    # -- what it is asked

    def trigger(self, service: str, on_answer: OnAnswer) -> None:
        """Call one of its services; `on_answer` gets whether it does that, and a sentence."""

        def read(response: Trigger.Response) -> tuple[bool, str]:
            return response.success, response.message

        self._ask(self._triggers[service], Trigger.Request(), read, on_answer)

    def set_parameter(
        self, name: str, value: str | float | list[str], on_answer: OnAnswer
    ) -> None:
        """Set a parameter; `on_answer` gets whether it is set, and why not."""
        request = SetParameters.Request(
            parameters=[Parameter(name, value=value).to_parameter_msg()]
        )

        def read(response: SetParameters.Response) -> tuple[bool, str]:
            (result,) = response.results
            return result.successful, result.reason

        self._ask(self._setter, request, read, on_answer)

    def _ask(
        self, client: Any, request: Any, read: Callable[[Any], tuple[bool, str]], told: OnAnswer
    ) -> None:
        """Call a service; `told` gets its answer, or that there is none: never nothing."""
        if not client.service_is_ready():
            told(False, f'nobody offers {client.srv_name}')
            return
        future = client.call_async(request)
        self._unanswered[future] = time.monotonic(), told

        def answer(done: Future[Any]) -> None:
            if self._unanswered.pop(done, None) is not None:
                told(*read(done.result()))

        future.add_done_callback(answer)

    def _give_up(self) -> None:
        """Say of old requests that there is no answer."""
        now = time.monotonic()
        for future, (asked_at, told) in list(self._unanswered.items()):
            if now - asked_at > LONGEST_ANSWER:
                del self._unanswered[future]
                told(False, 'no answer')

    def _ask_for_parameters(self) -> None:
        self._asked_at = time.monotonic()
        listed = ListParameters.Request(prefixes=[CONFIGURATIONS[:-1]])
        self._lister.call_async(listed).add_done_callback(self._on_configurations)
        request = GetParameters.Request(names=list(PARAMETERS))
        self._getter.call_async(request).add_done_callback(self._on_parameters)

    def _ask_again(self) -> None:
        """Ask for the parameters of a node that lives, if they did not come; forget a dead one."""
        self._give_up()
        if not self.is_alive:
            self.facts, self.parameters = {}, {}
        elif not self.parameters and time.monotonic() - self._asked_at > REQUEST_PERIOD:
            self._ask_for_parameters()

    # -- what comes

    def _on_status(self, message: DiagnosticArray) -> None:
        if not message.status:
            return
        facts = {pair.key: pair.value for pair in message.status[0].values}
        if is_of_waiting_namesake(facts, self.facts):
            return
        self.facts = facts
        self._heard_at = time.monotonic()
        self._on_new_status()

    def _on_joints(self, message: JointState) -> None:
        if len(message.position) == len(message.name):
            self._values |= dict(zip(message.name, message.position, strict=True))

    def _on_description(self, message: String) -> None:
        self._description = message.data

    def _on_parameter_event(self, event: ParameterEvent) -> None:
        if event.node == self._node.resolve_topic_name(self.name):
            self._ask_for_parameters()

    def _on_configurations(self, done: Any) -> None:
        names = done.result().result.names
        self.configurations = tuple(name.removeprefix(CONFIGURATIONS) for name in names)

    def _on_parameters(self, done: Any) -> None:
        values = [parameter_value_to_python(value) for value in done.result().values]
        if len(values) == len(PARAMETERS):
            known = dict(zip(PARAMETERS, values, strict=True))
            lists = {name: tuple(filter(None, known[name] or ())) for name in LISTS}
            self.parameters = known | lists


@lru_cache(maxsize=32)
def _chain(robot: Robot, base_link: str, tip_link: str) -> Chain:
    """Take a chain of a robot; ChainError where the links are of none."""
    return robot.chain(base_link, tip_link)
