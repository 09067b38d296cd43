"""The parameters of the node in ROS: declared, read, renamed, refused where they are wrong."""

from array import array
from collections.abc import Iterable, Mapping
from typing import Any

from rcl_interfaces.msg import FloatingPointRange, ParameterDescriptor
from rclpy.exceptions import InvalidTopicNameException
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.validate_topic_name import validate_topic_name

from ...errors import did_you_mean, shown
from .node_parameters import NodeParameters
from .parameter_checks import check
from .parameter_spec import ParameterError, Spec
from .parameter_table import CONFIGURATION, CONFIGURATIONS, REMOVED, RENAMED, SPEC_BY_NAME, SPECS
from .tip_names import topic_names
from .whole_numbers import with_fraction, with_fractions

TOPIC_OF = {'trajectory': 'trajectory_topic', 'array': 'array_topic'}
"""Parameter with the topic of an output."""
OWN_TOPICS = (
    '~/status',
    '~/markers',
    '~/scene_markers',
    '~/planned_motion',
    '~/target_joints',
    '~/target_configuration',
    '/diagnostics',
    'joint_states',
    'robot_description',
)
TOPICS_OF_TIPS = ('target_pose', 'jog', 'solution_pose', 'planned_path')
TYPES = {
    bool: Parameter.Type.BOOL,
    float: Parameter.Type.DOUBLE,
    str: Parameter.Type.STRING,
}
TYPES_OF_LISTS = {float: Parameter.Type.DOUBLE_ARRAY, str: Parameter.Type.STRING_ARRAY}
NAMES_OF_TYPES = {
    Parameter.Type.BOOL: 'true or false',
    Parameter.Type.INTEGER: 'an integer',
    Parameter.Type.DOUBLE: 'a number',
    Parameter.Type.STRING: 'text',
    Parameter.Type.BYTE_ARRAY: 'a list of bytes',
    Parameter.Type.BOOL_ARRAY: 'a list of true or false',
    Parameter.Type.INTEGER_ARRAY: 'a list of integers',
    Parameter.Type.DOUBLE_ARRAY: 'a list of numbers',
    Parameter.Type.STRING_ARRAY: 'a list of texts',
}


def type_of(spec: Spec) -> Parameter.Type:
    """Type of a parameter in ROS."""
    return TYPES_OF_LISTS[spec.type] if spec.is_list else TYPES[spec.type]


def declare(node: Node) -> None:
    """
    Declare every parameter; warn about old names, and about values for unknown ones.

    Raises
    ------
    ParameterError
        If a value has another type than its parameter, or a configuration is none.
    InvalidParameterValueException
        If a value is out of range.

    """
    _rename(node)
    for spec in SPECS:
        _declare(node, spec)
    for name in sorted(node._parameter_overrides):
        if name.startswith(CONFIGURATIONS):
            _declare_configuration(node, node._parameter_overrides[name])
    node.add_pre_set_parameters_callback(
        lambda changes: [_as_declared(node, change) for change in changes]
    )
    for name in _unknown_names(node):
        cure = did_you_mean(name, SPEC_BY_NAME) or ': it is ignored'
        node.get_logger().warning(f"unknown parameter '{shown(name)}'{cure}")


def read(node: Node, changes: Mapping[str, Any] | None = None) -> NodeParameters:
    """
    Read the parameters of a node, with some of them changed.

    Raises
    ------
    ParameterError
        If a value, or values together, make no sense; names them.

    """
    values = {spec.name: _value(node, spec) for spec in SPECS}
    for name, parameter in node.get_parameters_by_prefix(CONFIGURATIONS[:-1]).items():
        values[CONFIGURATIONS + name] = parameter.value
    values |= dict(changes or {})
    values['world_frame'] = values['world_frame'].removeprefix('/')
    parameters = NodeParameters.from_values(values)
    check(parameters)
    _check_topics(node, parameters)
    return parameters


def refusal(changes: Iterable[Parameter]) -> str:
    """Say which change has an old name, or a value of another type; '' where none has."""
    return next(filter(None, map(_refusal, changes)), '')


def _refusal(change: Parameter) -> str:
    if change.name in REMOVED:
        return _removed(change.name)
    if change.name in RENAMED:
        return f"{change.name} is now called '{RENAMED[change.name]}'"
    if change.name.startswith(CONFIGURATIONS):
        return _why_no_configuration(change)
    spec = SPEC_BY_NAME.get(change.name)
    if spec is None or change.type_ is Parameter.Type.NOT_SET:
        return ''
    change = _with_fractions(spec, change)
    is_none = spec.is_list and _means_none(change.value)
    is_old_word = spec.name == 'self_collision' and isinstance(change.value, bool)
    if change.type_ == type_of(spec) or is_none or is_old_word:
        return ''
    wanted, given = NAMES_OF_TYPES[type_of(spec)], NAMES_OF_TYPES[change.type_]
    return f'{spec.name} must be {wanted}, got {given}: {shown(str(change.value))}'


def fixed_changes(parameters: NodeParameters, values: Mapping[str, Any]) -> list[str]:
    """Name the parameters that would change and cannot while the node is configured."""
    proposed = NodeParameters.from_values(values)
    return [
        spec.name
        for spec in SPECS
        if spec.name in values and not spec.is_live and proposed.differs_in(parameters, spec.name)
    ]


# -- declaring


def _rename(node: Node) -> None:
    """Give values of old names to the new ones, drop those of removed parameters, and warn."""
    given = node._parameter_overrides
    for name in REMOVED.keys() & given.keys():
        del given[name]
        node.get_logger().warning(f'{_removed(name)}; it is ignored')
    for old, new in RENAMED.items():
        if old not in given:
            continue
        before = given.pop(old)
        text = f"{old} is now called '{new}'"
        if new in given:
            text += f', which is given, too: the value of {old} is ignored'
        else:
            given[new] = Parameter(new, before.type_, before.value)
            text += '; the old name is accepted until 1.0'
        node.get_logger().warning(text)


def _removed(name: str) -> str:
    return f'{name} is no more: {REMOVED[name]}'


def _declare(node: Node, spec: Spec) -> None:
    descriptor, type_ = _descriptor(spec), type_of(spec)
    given = node._parameter_overrides.get(spec.name)
    if given is None and spec.default != []:
        node.declare_parameter(spec.name, spec.default, descriptor)
        return
    if given is None or (given.value is None and spec.is_list):
        given = Parameter(spec.name, type_, [])
    elif given.value is None:  # which is what rclpy makes of an empty list in a file
        raise ParameterError(f'{spec.name} must be one value, got an empty list')
    start = _as_declared(node, given)
    if why_not := _refusal(start):
        raise ParameterError(why_not)
    if start.value != []:
        node._parameter_overrides[spec.name] = start
        node.declare_parameter(spec.name, type_, descriptor)
        return
    # First the type, then the value: rclpy would take [] for an array of bytes.
    node.declare_parameter(spec.name, type_, descriptor, ignore_override=True)
    node.set_parameters([start])


def _declare_configuration(node: Node, given: Parameter) -> None:
    why_not = _why_no_configuration(given)
    if why_not:
        raise ParameterError(why_not)
    node.declare_parameter(
        given.name, Parameter.Type.DOUBLE_ARRAY, _descriptor(CONFIGURATION), ignore_override=True
    )
    node.set_parameters([with_fractions(given)])


def _why_no_configuration(given: Parameter) -> str:
    """Say why a value is no list of numbers; '' if it is one."""
    if with_fractions(given).type_ is Parameter.Type.DOUBLE_ARRAY:
        return ''
    what = 'nothing' if given.value is None else f'{NAMES_OF_TYPES[given.type_]}: {given.value}'
    return f'{shown(given.name)} must be a list of numbers, one for each joint; got {shown(what)}'


def _with_fractions(spec: Spec, given: Parameter) -> Parameter:
    """Turn whole numbers into those that are declared."""
    if spec.type is not float:
        return given
    return with_fractions(given) if spec.is_list else with_fraction(given)


def _descriptor(spec: Spec) -> ParameterDescriptor:
    descriptor = ParameterDescriptor(name=spec.name, description=spec.plain_meaning)
    if spec.choices:
        descriptor.additional_constraints = f'one of: {", ".join(spec.choices)}'
    if spec.is_number:
        descriptor.floating_point_range = [
            FloatingPointRange(from_value=spec.low, to_value=spec.high, step=0.0)
        ]
    return descriptor


def _as_declared(node: Node, given: Parameter) -> Parameter:
    """Put a value that a user gave into the type that is declared, where it can only mean one."""
    spec, value = SPEC_BY_NAME.get(given.name), given.value
    if given.name.startswith(CONFIGURATIONS):
        return with_fractions(given)
    if spec is None:
        return given
    if spec.is_list and _means_none(value):
        return Parameter(spec.name, type_of(spec), [])
    if isinstance(value, array) and spec.type is not float:  # never equal to a list
        return Parameter(spec.name, given.type_, list(value))
    if spec.name == 'self_collision' and isinstance(value, bool):
        word = 'auto' if value else 'never'
        node.get_logger().warning(
            f"self_collision: {str(value).lower()} is now called '{word}'; "
            'true and false are accepted until 1.0'
        )
        return Parameter(spec.name, value=word)
    return _with_fractions(spec, given)


def _means_none(value: Any) -> bool:
    """Whether a value is an empty list, of whatever type, or [''], which is how some write it."""
    return isinstance(value, list | tuple | array) and list(value) in ([], [''])


def misspelt_parameters(node: Node) -> list[str]:
    """Name unknown parameters that are like one of the node, and that; not those of others."""
    cures = {name: did_you_mean(name, SPEC_BY_NAME) for name in _unknown_names(node)}
    return [f"unknown parameter '{shown(name)}'{cure}" for name, cure in cures.items() if cure]


def _unknown_names(node: Node) -> list[str]:
    """Names that were given on the command line or in files, and that no parameter has."""
    return [
        name
        for name in sorted(node._parameter_overrides)
        if not (node.has_parameter(name) or name.startswith('qos_overrides.'))
    ]


# -- reading


def _value(node: Node, spec: Spec) -> Any:
    value = node.get_parameter(spec.name).value
    return list(value) if spec.is_list else value


def _check_topics(node: Node, parameters: NodeParameters) -> None:
    """Look whether the node could have the topics: each message has one of its own."""
    topics = {name: _resolved(node, name, getattr(parameters, name)) for name in TOPIC_OF.values()}
    for name in ('base_odometry', 'ready_topic', 'speed_scaling_topic', 'gripper_action'):
        _resolved(node, name, getattr(parameters, name) or name)
    tips = [f'~/{name}' for name in topic_names(parameters.tip_links)] or ['~']
    own = [*OWN_TOPICS, *(f'{tip}/{topic}' for tip in tips for topic in TOPICS_OF_TIPS)]
    if 'joint_state' in parameters.output:
        own.append('~/joint_command')
    owners = {node.resolve_topic_name(topic): topic for topic in own}
    for name in [TOPIC_OF[output] for output in parameters.output if output in TOPIC_OF]:
        topic = topics[name]
        if topic in owners:
            raise ParameterError(
                f"{name} '{getattr(parameters, name)}' is the topic of {owners[topic]}; choose "
                'another'
            )
        owners[topic] = name


def _resolved(node: Node, name: str, topic: str) -> str:
    """Give the full name of a topic, after remapping."""
    try:
        validate_topic_name(topic)
        return str(node.resolve_topic_name(topic))
    except (InvalidTopicNameException, RuntimeError, ValueError) as error:
        raise ParameterError(f'{name}: {str(error).split(", at ")[0]}') from error
