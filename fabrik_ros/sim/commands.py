"""Checks of messages that simulated arms take for commands."""

from collections.abc import Iterable, Mapping
import math

from ..errors import JointValueError


def finite_values(values: Mapping[str, float], names: Iterable[str]) -> dict[str, float]:
    """
    Pick the values of the joints that an arm has; commands may be for several arms.

    Raises
    ------
    JointValueError
        If one of them is not finite; names the joint.

    """
    own = {name: values[name] for name in names if name in values}
    for name, value in own.items():
        if not math.isfinite(value):
            raise JointValueError(f"joint '{name}' was given {value}; expected a number")
    return own
