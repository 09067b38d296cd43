"""Joint values that a program names, for a particular arm."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from ..errors import did_you_mean, listed, ProgramError, shown, TargetError
from ..model.mechanism import Mechanism
from ..planning.plan_request import check_limits
from ..transforms import Array
from .program import Joints, Program, Segment


def with_values(program: Program, configurations: Mapping[str, Array]) -> Program:
    """
    Put joint values, shape (n,), in the place of the names that a program has for them.

    Raises
    ------
    TargetError
        If there is none of a name; names the segment, and lists those there are.

    """
    return Program(
        _with_values(number, segment, configurations)
        for number, segment in enumerate(program.steps, start=1)
    )


def _with_values(number: int, segment: Segment, configurations: Mapping[str, Array]) -> Segment:
    if not (isinstance(segment, Joints) and isinstance(segment.values, str)):
        return segment
    try:
        return replace(segment, values=configuration_named(configurations, segment.values))
    except TargetError as error:
        raise TargetError(f'segment {number} (joints): {error}') from error


def joint_values(robot: Mechanism, segment: Joints, q: Array) -> Array:
    """
    Joint values that a segment goes to, shape (n,), for an arm that comes from `q`.

    Joints that are not named keep theirs; continuous ones go the short way.

    Raises
    ------
    FabrikError
        If a name is unknown, or a value one that its joint cannot have; names it.

    """
    values = segment.values
    if isinstance(values, Mapping):
        unknown = [name for name in values if name not in robot.joint_names]
        if unknown:
            cure = did_you_mean(unknown[0], robot.joint_names)
            raise ProgramError(
                f"no joint '{shown(unknown[0])}'; the arm has: {listed(robot.joint_names)}{cure}"
            )
        values = [values.get(name, at) for name, at in zip(robot.joint_names, q, strict=True)]
    assert not isinstance(values, str)
    wanted = robot.checked(values, 'values')
    check_limits(robot, wanted)
    turns = np.round((wanted - q) / (2.0 * np.pi)) * 2.0 * np.pi
    is_endless = robot.is_revolute & np.isinf(robot.lower) & np.isinf(robot.upper)
    return np.where(is_endless, wanted - turns, np.clip(wanted, robot.lower, robot.upper))


def configuration_named(known: Mapping[str, Array], name: str) -> Array:
    """
    Joint values, shape (n,), of the configuration with a name.

    Raises
    ------
    TargetError
        If there is none of that name; lists those there are.

    """
    if name not in known:
        there = f'there are: {listed(list(known))}' if known else 'there are none'
        cure = did_you_mean(name, known)
        raise TargetError(f"no configuration named '{shown(name)}'; {there}{cure}")
    return known[name]
