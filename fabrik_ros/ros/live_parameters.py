"""Changes of parameters while the node runs: checked together, then put to use."""

from collections.abc import Callable, Mapping
from typing import Any

from rcl_interfaces.msg import SetParametersResult
from rclpy.node import Node
from rclpy.parameter import Parameter

from ..errors import FabrikError
from .arm.node_state import NodeState
from .outputs.topics import Topics
from .parameters.declared_parameters import fixed_changes, read
from .parameters.parameter_spec import ParameterError


class LiveParameters:
    """
    Refuses changes that make no sense, and puts the others to use.

    Parameters
    ----------
    node : Node
        Whose parameters they are.
    state : NodeState
        The parameters in force, and the arm that moves by them.
    topics : Topics
        The topics that depend on them.
    retry : callable
        Is called when a description that could not be used before may be usable now.

    """

    def __init__(
        self, node: Node, state: NodeState, topics: Topics, retry: Callable[[], None]
    ) -> None:
        self._node, self._state, self._topics, self._retry = node, state, topics, retry
        node.add_on_set_parameters_callback(self.check)
        node.add_post_set_parameters_callback(self.apply)

    def check(self, changes: list[Parameter]) -> SetParametersResult:
        """Allow changes, or say why not."""
        values = {change.name: change.value for change in changes}
        try:
            self._check_clock(values)
            self._check_fixed(values)
            parameters = read(self._node, values)
            if self._state.arm is not None:
                parameters.check_configurations(self._state.arm.chain)
        except FabrikError as error:
            return SetParametersResult(successful=False, reason=str(error))
        return SetParametersResult(successful=True)

    def apply(self, changes: list[Parameter]) -> None:
        """Put changes to use that were allowed."""
        state = self._state
        before, state.parameters = state.parameters, read(self._node)
        self._topics.renew(before, state.parameters)
        state.description = state.parameters.robot_description or state.description
        if state.arm is not None:
            state.arm.change(state.parameters)
        elif state.failure_reason and state.description:
            self._retry()

    def _check_clock(self, values: Mapping[str, Any]) -> None:
        """Refuse another clock while the arm may move; rclpy looks at it after this."""
        name = 'use_sim_time'
        changes = name in values and values[name] != self._node.get_parameter(name).value
        if changes and self._state.follower is not None:
            raise ParameterError(
                f'{name} cannot change while the node is active; deactivate first'
            )

    def _check_fixed(self, values: Mapping[str, Any]) -> None:
        fixed = fixed_changes(self._state.parameters, values)
        if fixed and self._state.arm is not None:
            raise ParameterError(
                f'{", ".join(fixed)} cannot change while the node is configured; '
                'deactivate and clean up first'
            )
