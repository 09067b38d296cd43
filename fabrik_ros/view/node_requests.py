"""What a node is asked besides poses: its services, parameters and configurations."""

from collections.abc import Mapping
import json
from typing import Any

from rclpy.node import Node
from std_msgs.msg import Float64, String

from ..programs.program import Program
from ..programs.program_file import document_of
from ..programs.waypoints import NAME
from ..ros.beside.menu_entries import CHOICES
from ..ros.beside.node_client import NodeClient, OnAnswer
from ..ros.clocks.qos import NEWEST
from .source import Request

PARAMETERS = ('speed_scaling', 'max_tip_speed', 'stream_timeout', 'tip_links', *CHOICES)
"""What is asked for."""


class NodeRequests:
    """
    Asks the services of a node, and knows what came of the last request.

    Parameters
    ----------
    node : Node
        Asks on its behalf.
    client : NodeClient
        The node that is asked.

    Attributes
    ----------
    answer : str
        To the last request; '' before.
    words : mapping
        What there is to choose from, by the parameter.

    """

    words: Mapping[str, tuple[str, ...]] = CHOICES

    def __init__(self, node: Node, client: NodeClient) -> None:
        self._client = client
        self.answer = ''
        self._asked = 0
        """Number of requests so far: only the last one's answer is told."""
        topic = f'{client.name}/target_configuration'
        self._places = node.create_publisher(String, topic, NEWEST)
        self._programs = node.create_publisher(String, f'{client.name}/program', NEWEST)
        self._widths = node.create_publisher(Float64, f'{client.name}/gripper', NEWEST)

    @property
    def parameters(self) -> Mapping[str, Any]:
        """Values of `PARAMETERS`, by name; empty until they are known."""
        return self._client.parameters

    @property
    def configurations(self) -> tuple[str, ...]:
        """Names of the configurations of the node, without home."""
        return self._client.configurations

    def ask(self, request: Request) -> None:
        """Call a service, also of a node that is silent: it may hear."""
        # What is done the state says, but for what comes after `resume`.
        self._client.trigger(request.value, self._teller(says_success=request is Request.RESUME))

    def _teller(self, says_success: bool = False) -> OnAnswer:
        """Make the one who is told the answer to a new request."""
        self._asked += 1
        self.answer, number = '', self._asked

        def tell(is_done: bool | None, text: str) -> None:
            if number == self._asked:
                silent = is_done and not says_success
                self.answer = '' if silent else f'refused: {text}' if is_done is False else text

        return tell

    def set_speed(self, share: float) -> None:
        """Set the share of all speeds at which it goes [1]."""
        self._set('speed_scaling', float(share))

    @property
    def present(self) -> Mapping[str, str]:
        """Present words; of several tips each has its own mode, which is none for all."""
        parameters = self.parameters
        hidden = ('mode',) if parameters.get('tip_links') else ()
        return {
            name: parameters[name] for name in CHOICES if name in parameters and name not in hidden
        }

    def choose(self, name: str, word: str) -> None:
        """Set a parameter."""
        self._set(name, word)

    def go_to(self, configuration: str) -> None:
        """Publish the name of a configuration as a target."""
        self._places.publish(String(data=configuration))

    def send_width(self, width: float) -> None:
        """Publish a width of the gripper [m]."""
        self._widths.publish(Float64(data=width))

    def send_program(self, program: Program) -> None:
        """Publish a program of moves, with the name of those through waypoints."""
        self._programs.publish(String(data=json.dumps(document_of(program, NAME))))

    def _set(self, name: str, value: str | float) -> None:
        self._client.set_parameter(name, value, self._teller())
