"""Checks that parameter values make sense, alone and together; no ROS in here."""

import math
from typing import Any

import numpy as np

from ...errors import shown
from ...motion.arm_follower import HOME
from ...solver.options import MODES
from .node_parameters import NodeParameters, pair_clearance
from .parameter_spec import HUGE, ParameterError, Spec, TINY
from .parameter_table import CONFIGURATIONS, SPECS
from .tip_names import topic_names

SHORTEST_MARGIN = 0.01
"""A look-ahead is longer than two periods by at least this [s]."""
OUTPUTS = ('joint_state', 'trajectory', 'array')


def check(parameters: NodeParameters) -> None:
    """
    Look whether parameters make sense, alone and together.

    Raises
    ------
    ParameterError
        If they do not; names those at fault.

    """
    for spec in SPECS:
        _check_alone(spec, getattr(parameters, spec.name))
    _check_lengths(parameters)
    _check_tips(parameters)
    _check_world(parameters)
    _check_output(parameters)
    _check_pairs(parameters)
    _check_points(parameters)
    _check_axis(parameters)
    _check_stop(parameters)
    _check_jerk(parameters)
    _check_posture(parameters)
    _check_configurations(parameters)


def _check_alone(spec: Spec, value: bool | float | str | tuple[Any, ...]) -> None:
    if spec.choices and value not in spec.choices:
        raise ParameterError(
            f"{spec.name} must be one of {', '.join(spec.choices)}; got '{value}'"
        )
    if isinstance(value, float) and not spec.low <= value <= spec.high:
        raise ParameterError(
            f'{spec.name} must be in [{spec.low:g}, {spec.high:g}], got {value:g}'
        )
    if not isinstance(value, tuple) or spec.type is not float:
        return
    if not all(map(math.isfinite, value)):
        raise ParameterError(f'{spec.name} must hold finite numbers, got {list(value)}')


def _check_lengths(parameters: NodeParameters) -> None:
    tips = max(1, len(parameters.tip_links))
    # Six zeros, the default, are no tool for any number of tips.
    tool_lengths = (6 * tips,) if np.any(parameters.tool_offset) else (6, 6 * tips)
    _check_length('tool_offset', parameters.tool_offset, *tool_lengths)
    _check_length('axis', parameters.axis, 3)


def _check_length(name: str, numbers: tuple[float, ...], *lengths: int) -> None:
    if len(numbers) not in lengths:
        raise ParameterError(f'{name} must hold {max(lengths)} numbers, got {len(numbers)}')


def _check_tips(parameters: NodeParameters) -> None:
    tips, modes, weights = parameters.tip_links, parameters.tip_modes, parameters.tip_weights
    if tips and parameters.tip_link:
        raise ParameterError(
            f"tip_link '{parameters.tip_link}' and tip_links {', '.join(map(repr, tips))} are "
            'both set; leave one of them out'
        )
    for name, entries in (('tip_modes', modes), ('tip_weights', weights)):
        if len(entries) not in (0, len(tips)):
            raise ParameterError(
                f'{name} must hold one entry for each of the {len(tips)} tip_links, or none; '
                f'got {len(entries)}'
            )
    if tips and parameters.method == 'points':
        raise ParameterError("method 'points' is for a single arm; leave tip_links out")
    for mode in modes:
        if mode not in MODES:
            raise ParameterError(f"tip_modes must hold any of {', '.join(MODES)}; got '{mode}'")
    for weight in weights:
        if not weight > 0.0:
            raise ParameterError(f'tip_weights must be positive, got {weight:g}')
    topic_names(tips)


def _check_world(parameters: NodeParameters) -> None:
    if parameters.base_odometry and not parameters.world_frame:
        raise ParameterError(
            f"base_odometry '{parameters.base_odometry}' needs world_frame: the frame that the "
            'odometry is given in'
        )


def _check_output(parameters: NodeParameters) -> None:
    output, joints = parameters.output, parameters.command_joints
    if not output or not set(output) <= set(OUTPUTS) or len(set(output)) < len(output):
        raise ParameterError(
            f'output must hold one or more of {", ".join(OUTPUTS)}, each once; got {list(output)}'
        )
    rate, look_ahead = parameters.command_rate, parameters.trajectory_look_ahead
    shortest = 2.0 / rate + SHORTEST_MARGIN
    if 0.0 < look_ahead < shortest:
        raise ParameterError(
            f'trajectory_look_ahead must be 0, or at least {shortest:g} s at a command_rate of '
            f'{rate:g} Hz; got {look_ahead:g}'
        )
    twice = sorted({name for name in joints if joints.count(name) > 1})
    if twice:
        raise ParameterError(f'command_joints names {", ".join(map(repr, twice))} more than once')


def _check_pairs(parameters: NodeParameters) -> None:
    for pair in parameters.allowed_collisions:
        if len(list(filter(None, pair.split('/')))) != 2 or pair.count('/') != 1:
            raise ParameterError(
                f"allowed_collisions must hold pairs as 'link_a/link_b', got '{pair}'"
            )
    entries = parameters.pair_clearances
    pairs = [frozenset(pair_clearance(entry)[0]) for entry in entries]
    for entry, links in zip(entries, pairs, strict=True):
        if pairs.count(links) > 1:
            raise ParameterError(f"pair_clearances names the links of '{shown(entry)}' twice")


def _check_points(parameters: NodeParameters) -> None:
    """Points within the padding are the robot's own: nothing there could stop it."""
    padding, clearance = parameters.points_padding, parameters.obstacle_clearance
    is_used = parameters.require_points or padding != NodeParameters.points_padding
    if is_used and not clearance > padding:
        raise ParameterError(
            f'obstacle_clearance must be greater than points_padding {padding:g} m, or points '
            f'would not stop the arm; got {clearance:g}'
        )


def _check_axis(parameters: NodeParameters) -> None:
    length = math.hypot(*parameters.axis)
    if not TINY <= length <= HUGE:
        raise ParameterError(f'axis must not be zero, nor of absurd length; got {length:g}')


def _check_stop(parameters: NodeParameters) -> None:
    if parameters.why_no_stop:
        raise ParameterError(parameters.why_no_stop)


def _check_jerk(parameters: NodeParameters) -> None:
    if parameters.why_no_smoothing:
        raise ParameterError(parameters.why_no_smoothing)


def _check_posture(parameters: NodeParameters) -> None:
    if not parameters.posture:
        return
    if parameters.method != 'articulated':
        raise ParameterError(
            f"posture needs method 'articulated', got '{parameters.method}'; leave one of them out"
        )
    if parameters.tip_links:
        raise ParameterError('posture is for a single arm; leave it or tip_links out')


def _check_configurations(parameters: NodeParameters) -> None:
    for name, values in parameters.configurations.items():
        parameter = f'{CONFIGURATIONS}{shown(name)}'
        if name in ('', HOME):
            cure = 'set home_configuration' if name else 'give the configuration a name'
            raise ParameterError(f'{parameter} cannot be set: {cure} instead')
        if not all(map(math.isfinite, values)):
            raise ParameterError(f'{parameter} must hold finite numbers, got {list(values)}')
