"""Whole numbers where others are declared: users write 1 and mean 1.0, ROS tells the two apart."""

from typing import Any

from rclpy.node import Node
from rclpy.parameter import Parameter

WHOLE_LIST = Parameter.Type.INTEGER_ARRAY
LIST = Parameter.Type.DOUBLE_ARRAY


def with_fraction(given: Parameter) -> Parameter:
    """Turn a whole number into the number that is declared; leave others as they are."""
    if given.type_ is not Parameter.Type.INTEGER:
        return given
    return Parameter(given.name, Parameter.Type.DOUBLE, float(given.value))


def with_fractions(given: Parameter) -> Parameter:
    """
    Turn a list with whole numbers into the list of numbers that is declared.

    Lists of whole numbers and others come as texts: `ros2 param set` knows no type for them.
    """
    value = given.value
    if given.type_ is Parameter.Type.STRING and value.strip().startswith('['):
        try:
            numbers = [float(word) for word in value.strip()[1:].removesuffix(']').split(',')]
        except ValueError:
            return given
        return Parameter(given.name, LIST, numbers)
    if given.type_ in (LIST, WHOLE_LIST):
        return Parameter(given.name, LIST, list(map(float, value)))
    return given


def declare_number(node: Node, name: str, default: float) -> float:
    """Declare a number, also where a whole one is given; return its value."""
    return float(_declared(node, name, default))


def declare_numbers(node: Node, name: str, default: list[float]) -> list[float]:
    """Declare a list of numbers, also where whole ones are given; return its values."""
    return list(_declared(node, name, default))


def _declared(node: Node, name: str, default: Any) -> Any:
    given = node._parameter_overrides.get(name)
    if given is not None:
        mend = with_fractions if isinstance(default, list) else with_fraction
        node._parameter_overrides[name] = mend(given)
    return node.declare_parameter(name, default).value
