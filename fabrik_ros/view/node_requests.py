"""What a node is asked besides poses: its services, parameters and configurations."""

from collections.abc import Callable, Mapping
import math
import time
from typing import Any

from rcl_interfaces.msg import ParameterEvent
from rcl_interfaces.srv import GetParameters, ListParameters, SetParameters
from rclpy.node import Node
from rclpy.parameter import Parameter, parameter_value_to_python
from rclpy.task import Future
from std_msgs.msg import String
from std_srvs.srv import Trigger

from ..ros.beside.menu_entries import CHOICES
from ..ros.inputs.target_subscription import NEWEST
from ..ros.parameters.parameter_table import CONFIGURATIONS
from .source import Request

PARAMETERS = ('speed_scaling', 'stream_timeout', 'tip_links', *CHOICES)
"""What is asked for."""
REQUEST_PERIOD = 1.0
"""Time after which parameters that did not come are asked for again [s]."""
LONGEST_ANSWER = 2.0
"""Time after which a service is said not to answer [s]."""

Read = Callable[[Any], str]


class NodeRequests:
    """
    Asks the services of a node, and knows what came of the last request.

    Parameters
    ----------
    node : Node
        Asks on its behalf.
    name : str
        The node that is asked, with its namespace.

    Attributes
    ----------
    answer : str
        To the last request; '' before.
    parameters : dict
        Values of `PARAMETERS`, by name; empty until they are known.
    words : mapping
        What there is to choose from, by the parameter.
    configurations : tuple of str
        Names of the configurations of the node, without home.

    """

    words: Mapping[str, tuple[str, ...]] = CHOICES

    def __init__(self, node: Node, name: str) -> None:
        self._name = name
        self.answer = ''
        self.parameters: dict[str, Any] = {}
        self.configurations: tuple[str, ...] = ()
        self._asked_at = -math.inf
        self._waiting: tuple[Future[Any] | None, float] = (None, math.inf)
        """The last request that was made, and when [s]."""
        ask = node.create_client
        self._services = {r: ask(Trigger, f'{name}/{r.value}') for r in Request}
        self._setter = ask(SetParameters, f'{name}/set_parameters')
        self._lister = ask(ListParameters, f'{name}/list_parameters')
        self._getter = ask(GetParameters, f'{name}/get_parameters')
        topic = f'{name}/target_configuration'
        self._places = node.create_publisher(String, topic, NEWEST)
        node.create_subscription(ParameterEvent, '/parameter_events', self._on_event, 100)

    def ask(self, request: Request) -> None:
        """Call a service, also of a node that is silent: it may hear."""

        def read(response: Trigger.Response) -> str:
            is_plain = response.success and request is not Request.RESUME  # the state says it
            said = response.message if response.success else f'refused: {response.message}'
            return '' if is_plain else said

        self._call(self._services[request], Trigger.Request(), read)

    def set_speed(self, share: float) -> None:
        """Set the share of all speeds at which it goes [1]."""
        self._set('speed_scaling', float(share))

    @property
    def present(self) -> Mapping[str, str]:
        """Present words; of several tips each has its own mode, which is none for all."""
        hidden = ('mode',) if any(self.parameters.get('tip_links') or ()) else ()
        return {
            name: self.parameters[name]
            for name in CHOICES
            if name in self.parameters and name not in hidden
        }

    def choose(self, name: str, word: str) -> None:
        """Set a parameter."""
        self._set(name, word)

    def go_to(self, configuration: str) -> None:
        """Publish the name of a configuration as a target."""
        self._places.publish(String(data=configuration))

    def _set(self, name: str, value: str | float) -> None:
        def read(response: SetParameters.Response) -> str:
            (result,) = response.results
            return '' if result.successful else f'refused: {result.reason}'

        parameter = Parameter(name, value=value).to_parameter_msg()
        self._call(self._setter, SetParameters.Request(parameters=[parameter]), read)

    def forget(self) -> None:
        """Forget what a node that is gone said."""
        self.answer, self.parameters, self.configurations = '', {}, ()

    def look_after(self) -> None:
        """Say that there is no answer where there is none, and learn the parameters."""
        now = time.monotonic()
        future, asked_at = self._waiting
        if future is not None and now - asked_at > LONGEST_ANSWER:
            self._waiting = None, math.inf
            self.answer = f'{self._name} does not answer'
        if not self.parameters and now - self._asked_at > REQUEST_PERIOD:
            self._learn()

    def _call(self, client: Any, request: Any, read: Read) -> None:
        if not client.service_is_ready():
            self.answer = f'nobody offers {client.srv_name}'
            return
        self.answer = ''
        future: Any = client.call_async(request)
        self._waiting = future, time.monotonic()

        def take(done: Any) -> None:
            answer = read(done.result())
            if self._waiting[0] is done:
                self._waiting, self.answer = (None, math.inf), answer

        future.add_done_callback(take)

    def _learn(self) -> None:
        self._asked_at = time.monotonic()
        if self._getter.service_is_ready():
            request = GetParameters.Request(names=list(PARAMETERS))
            self._getter.call_async(request).add_done_callback(self._take_parameters)
        if self._lister.service_is_ready():
            listed = ListParameters.Request(prefixes=[CONFIGURATIONS[:-1]])
            self._lister.call_async(listed).add_done_callback(self._take_configurations)

    def _take_parameters(self, done: Any) -> None:
        values = [parameter_value_to_python(value) for value in done.result().values]
        known = zip(PARAMETERS, values, strict=False)
        self.parameters = {name: value for name, value in known if value is not None}

    def _take_configurations(self, done: Any) -> None:
        names = done.result().result.names
        self.configurations = tuple(name.removeprefix(CONFIGURATIONS) for name in names)

    def _on_event(self, event: ParameterEvent) -> None:
        if event.node == self._name:
            self._learn()
