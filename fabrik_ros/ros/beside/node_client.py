"""A client of the node: what its status says, its services, parameters and configurations."""

from collections.abc import Callable, Sequence
from functools import partial
import math
import time
from typing import Any

from diagnostic_msgs.msg import DiagnosticArray
from rcl_interfaces.msg import ParameterEvent
from rcl_interfaces.srv import GetParameters, ListParameters, SetParameters
from rclpy.event_handler import SubscriptionEventCallbacks
from rclpy.node import Node
from rclpy.parameter import Parameter, parameter_value_to_python
from rclpy.task import Future
from std_srvs.srv import Trigger

from ..clocks.qos import NEWEST
from ..parameters.parameter_table import CONFIGURATIONS
from ..status.diagnostics import is_of_waiting_namesake

SILENCE = 1.0
"""A node that said nothing for so long is gone [s]; it speaks ten times a second."""
REQUEST_PERIOD = 1.0
"""Time after which parameters that did not come are asked for again [s]."""
LONGEST_ANSWER = 2.0
"""Time after which a service is said not to answer [s]."""
NO_EVENTS = SubscriptionEventCallbacks(use_default_callbacks=False)
"""Executors of rclpy end with an error where a subscription that has events is destroyed."""
SERVICES = ('stop', 'hold', 'resume', 'home', 'execute')

OnAnswer = Callable[[bool | None, str], None]
"""Gets whether something is done, None where nobody answers, and a sentence."""


class NodeClient:
    """
    Listens to the status of a node, and asks its services; call `attend` about twice a second.

    The status is its sign of life: when that stops, nothing is known any more.

    Parameters
    ----------
    node : Node
        Listens and asks on its behalf.
    name : str
        The node; one that is not absolute is in the namespace of `node`.
    wanted : sequence of str
        Names of the parameters that are asked for.
    on_status : callable, optional
        Called at each status.

    Attributes
    ----------
    name : str
        As above.
    facts : dict
        The facts of the newest status, by name; replaced by each, never changed.
    stamp : int
        Its time by the clock of the node [ns].
    heard_at : float
        When it came, by a steady clock [s]; -inf before the first.
    parameters : dict
        Values of the parameters that the node has, by name; empty until they are known. Of lists
        of names the empty ones are left out.
    configurations : tuple of str
        Names of the configurations that it knows, without home; known with the parameters.

    """

    def __init__(
        self,
        node: Node,
        name: str,
        wanted: Sequence[str] = (),
        on_status: Callable[[], None] = lambda: None,
    ) -> None:
        self._node, self._wanted, self._on_new_status = node, tuple(wanted), on_status
        self.name = name
        self.heard_at, self.stamp = -math.inf, 0
        self._asked_at = -math.inf
        self._unanswered: dict[Future[Any], tuple[float, OnAnswer]] = {}
        """Time at which each request was made [s], and who waits for its answer."""
        self.forget()
        listen = partial(node.create_subscription, event_callbacks=NO_EVENTS)
        ask = node.create_client
        self._statuses = listen(DiagnosticArray, f'{name}/status', self._on_status, NEWEST)
        self._triggers = {service: ask(Trigger, f'{name}/{service}') for service in SERVICES}
        self._setter = ask(SetParameters, f'{name}/set_parameters')
        self._lister = ask(ListParameters, f'{name}/list_parameters')
        self._getter = ask(GetParameters, f'{name}/get_parameters')
        self._events = listen(ParameterEvent, '/parameter_events', self._on_parameter_event, 100)

    def forget(self) -> None:
        """Forget what the node said."""
        self.facts: dict[str, str] = {}
        self.parameters: dict[str, Any] = {}
        self.configurations: tuple[str, ...] = ()

    @property
    def status_topic(self) -> str:
        """Name of the topic of its status."""
        return self._statuses.topic_name

    @property
    def is_alive(self) -> bool:
        """Whether a status came of late."""
        return time.monotonic() - self.heard_at < SILENCE

    def close(self) -> None:
        """Listen and ask no more."""
        for subscription in (self._statuses, self._events):
            self._node.destroy_subscription(subscription)
        for client in (*self._triggers.values(), self._setter, self._lister, self._getter):
            self._node.destroy_client(client)

    # -- what it is asked

    def offers(self, service: str) -> bool:
        """Whether somebody offers one of `SERVICES`."""
        return bool(self._triggers[service].service_is_ready())

    def trigger(self, service: str, on_answer: OnAnswer) -> None:
        """Call one of `SERVICES`; `on_answer` gets whether the node does that, and a sentence."""

        def read(response: Trigger.Response) -> tuple[bool, str]:
            return response.success, response.message

        self._ask(self._triggers[service], Trigger.Request(), read, on_answer)

    def set_parameter(
        self, name: str, value: str | float | list[str], on_answer: OnAnswer
    ) -> None:
        """Set a parameter; `on_answer` gets whether it is set, and why not."""
        parameter = Parameter(name, value=value).to_parameter_msg()

        def read(response: SetParameters.Response) -> tuple[bool, str]:
            (result,) = response.results
            return result.successful, result.reason

        self._ask(self._setter, SetParameters.Request(parameters=[parameter]), read, on_answer)

    def _ask(
        self, client: Any, request: Any, read: Callable[[Any], tuple[bool, str]], told: OnAnswer
    ) -> None:
        """Call a service; `told` gets its answer, or that there is none: never nothing."""
        if not client.service_is_ready():
            told(None, f'nobody offers {client.srv_name}')
            return
        future = client.call_async(request)
        self._unanswered[future] = time.monotonic(), told

        def answer(done: Future[Any]) -> None:
            if self._unanswered.pop(done, None) is not None:
                told(*read(done.result()))

        future.add_done_callback(answer)

    def attend(self) -> None:
        """Give old requests up; forget a node that is gone, and learn parameters that miss."""
        now = time.monotonic()
        for future, (asked_at, told) in list(self._unanswered.items()):
            if now - asked_at > LONGEST_ANSWER:
                del self._unanswered[future]
                told(None, f'{self.name} does not answer')
        if not self.is_alive:
            self.forget()
        elif not self.parameters and now - self._asked_at > REQUEST_PERIOD:
            self._learn()

    def _learn(self) -> None:
        self._asked_at = time.monotonic()
        if self._wanted and self._getter.service_is_ready():
            request = GetParameters.Request(names=list(self._wanted))
            self._getter.call_async(request).add_done_callback(self._on_parameters)
        if self._wanted and self._lister.service_is_ready():
            listed = ListParameters.Request(prefixes=[CONFIGURATIONS[:-1]])
            self._lister.call_async(listed).add_done_callback(self._on_configurations)

    # -- what comes

    def _on_status(self, message: DiagnosticArray) -> None:
        if not message.status:
            return
        facts = {pair.key: pair.value for pair in message.status[0].values}
        if self.is_alive and is_of_waiting_namesake(facts, self.facts):
            return
        self.facts = facts
        stamp = message.header.stamp
        self.stamp = stamp.sec * 10**9 + stamp.nanosec
        self.heard_at = time.monotonic()
        self._on_new_status()

    def _on_parameter_event(self, event: ParameterEvent) -> None:
        if event.node == self._node.resolve_topic_name(self.name):
            self._learn()

    def _on_parameters(self, done: Any) -> None:
        values = map(parameter_value_to_python, done.result().values)
        known = zip(self._wanted, values, strict=False)
        self.parameters = {
            name: _without_empty_names(value) for name, value in known if value is not None
        }

    def _on_configurations(self, done: Any) -> None:
        names = done.result().result.names
        self.configurations = tuple(name.removeprefix(CONFIGURATIONS) for name in names)


def _without_empty_names(value: Any) -> Any:
    """Leave empty names out of a list of names: they stand for none."""
    if isinstance(value, list) and all(isinstance(name, str) for name in value):
        return tuple(filter(None, value))
    return value
