"""The node's parameters: declared once, with meaning, unit and range, and validated together."""

from array import array
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
import math
from typing import Any

import numpy as np
from rcl_interfaces.msg import FloatingPointRange, ParameterDescriptor
from rclpy.exceptions import InvalidTopicNameException
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.validate_topic_name import validate_topic_name

from ..errors import did_you_mean, FabrikError, shown
from ..model.chain import Chain
from ..model.robot import Robot
from ..model.tree import Tree
from ..motion.follower import FollowingRules
from ..motion.goal import MotionOptions
from ..motion.jerk_limiter import JerkLimiter
from ..motion.line_reference import MotionLimits
from ..solver.options import METHODS, MODES, SolverOptions
from ..solver.tree_solver import TipOptions
from ..transforms import Array, rotation_from_rpy, transform
from .tip_topics import topic_names

TINY, HUGE = 1e-9, 1e9
LONGEST_STOP = 0.5
SOONEST = 0.01
"""A look-ahead is longer than two periods by at least this [s]."""
LONGEST_SMOOTHING = 0.5
WIDEST_CLEARANCE = 1.0
"""[m]"""
OUTPUTS = ('joint_state', 'trajectory', 'array')
TOPIC_OF = {'trajectory': 'trajectory_topic', 'array': 'array_topic'}
OWN_TOPICS = ('~/status', '~/markers', '/diagnostics', 'joint_states', 'robot_description')
TOPICS_OF_TIPS = ('target_pose', 'jog', 'solution_pose')

IN_WORDS = {
    Parameter.Type.BOOL: 'true or false',
    Parameter.Type.INTEGER: 'an integer',
    Parameter.Type.DOUBLE: 'a number such as 1.0',
    Parameter.Type.STRING: 'text',
    Parameter.Type.BYTE_ARRAY: 'a list of bytes',
    Parameter.Type.BOOL_ARRAY: 'a list of true or false',
    Parameter.Type.INTEGER_ARRAY: 'a list of integers',
    Parameter.Type.DOUBLE_ARRAY: 'a list of numbers such as 1.0',
    Parameter.Type.STRING_ARRAY: 'a list of texts',
}
"""What values of a type are called."""


class ParameterError(FabrikError):
    """Parameter values that make no sense, alone or together."""


@dataclass(frozen=True)
class Spec:
    """Declaration of one parameter."""

    name: str
    default: Any
    description: str
    low: float = -HUGE
    high: float = HUGE
    choices: tuple[str, ...] = ()
    entries: Parameter.Type = Parameter.Type.DOUBLE_ARRAY
    """What a list holds."""
    live: bool = True
    """Whether it can change while the node is configured."""

    @property
    def type_(self) -> Parameter.Type:
        """Type of its value in ROS."""
        is_list = isinstance(self.default, list)
        return self.entries if is_list else Parameter.Type.from_parameter_value(self.default)

    def descriptor(self) -> ParameterDescriptor:
        """Describe the parameter to ROS."""
        descriptor = ParameterDescriptor(name=self.name, description=self.description)
        if self.choices:
            descriptor.additional_constraints = f'one of: {", ".join(self.choices)}'
        if isinstance(self.default, float):
            descriptor.floating_point_range = [
                FloatingPointRange(from_value=self.low, to_value=self.high, step=0.0)
            ]
        return descriptor


SPECS = (
    Spec('robot_description', '', 'URDF text; empty: taken from the topic', live=False),
    Spec('base_link', '', 'first link of the chain; empty: the root of the model', live=False),
    Spec('tip_link', '', 'last link of the chain; empty: the end of the only arm', live=False),
    Spec(
        'tip_links', [], 'last links of arms that share a base, instead of tip_link',
        entries=Parameter.Type.STRING_ARRAY, live=False,
    ),
    Spec(
        'tip_modes', [], 'mode of each of tip_links; empty: mode for all',
        entries=Parameter.Type.STRING_ARRAY,
    ),
    Spec('tip_weights', [], 'how much the errors of each of tip_links count; empty: 1 for all'),
    Spec(
        'idle_tips', 'keep', 'what tips without a target do while others move',
        choices=('keep', 'free'), live=False,
    ),
    Spec(
        'tool_offset', [0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
        'tool in the tip frame: x y z [m], roll pitch yaw [rad]; six for each of tip_links',
        live=False,
    ),
    Spec('use_safety_limits', True, "heed the URDF's safety_controller", live=False),
    Spec(
        'mode', 'auto', 'part of the target to meet',
        choices=('auto', 'pose', 'axis', 'position'),
    ),
    Spec('axis', [0.0, 0.0, 1.0], 'tool axis for mode axis, in the tip frame'),
    Spec(
        'method', 'articulated', 'what FABRIK moves: joints, or points and then joints',
        choices=METHODS, live=False,
    ),
    Spec('polish', 'auto', 'last steps by Levenberg-Marquardt', choices=('auto', 'never')),
    Spec('position_tolerance', 1e-5, 'accepted position error [m]', low=TINY),
    Spec('orientation_tolerance', 1e-4, 'accepted orientation error [rad]', low=TINY),
    Spec('solve_budget', 0.02, 'longest search from scratch [s]', low=1e-4, high=10.0),
    Spec('path', 'line', 'way to the target', choices=('line', 'joint')),
    Spec('allow_reconfiguration', False, 'leave the line where it cannot be followed'),
    Spec(
        'on_unreachable', 'approach', 'what to do with targets out of reach',
        choices=('approach', 'hold'),
    ),
    Spec('command_rate', 100.0, 'commands per second [Hz]', low=1.0, high=1000.0, live=False),
    Spec(
        'output', ['joint_state'],
        'messages that commands are sent in, any of joint_state, trajectory, array',
        entries=Parameter.Type.STRING_ARRAY, live=False,
    ),
    Spec(
        'trajectory_topic', '~/joint_trajectory', 'where output trajectory goes', live=False,
    ),
    Spec(
        'trajectory_look_ahead', 0.0,
        'how long after its stamp a controller of trajectories is at a command [s]; 0: three '
        'periods and 0.03 s', low=0.0, high=1.0, live=False,
    ),
    Spec('array_topic', '~/commands', 'where output array goes', live=False),
    Spec(
        'command_joints', [], 'joints that are commanded, in this order; empty: all of the chain',
        entries=Parameter.Type.STRING_ARRAY, live=False,
    ),
    Spec('max_tip_speed', 0.25, 'of the tool and joint centres [m/s]', low=1e-4, high=100.0),
    Spec('max_tip_rotation', 1.0, 'of the tool [rad/s]', low=1e-4, high=100.0),
    Spec('max_tip_acceleration', 1.5, 'of the tool [m/s^2]', low=1e-3, high=1000.0),
    Spec('speed_scaling', 1.0, 'part of all speeds to go at; 0: pause', low=0.0, high=1.0),
    Spec('velocity_scaling', 1.0, "part of the URDF's velocities to use", low=1e-3, high=1.0),
    Spec('max_joint_velocity', 1.5, 'of any joint [rad/s or m/s]', low=1e-3, high=100.0),
    Spec('max_joint_acceleration', 5.0, 'of any joint [rad/s^2 or m/s^2]', low=1e-2, high=1000.0),
    Spec(
        'max_joint_jerk', 0.0, 'of any joint [rad/s^3 or m/s^3], by ruckig; 0: not limited',
        low=0.0, high=1e6, live=False,
    ),
    Spec(
        'jerk_limiting', 'require',
        'where ruckig is missing: require refuses to configure, auto leaves the jerk unlimited',
        choices=('auto', 'require'), live=False,
    ),
    Spec(
        'world_frame', '', 'frame in which targets stay while the base moves; empty: none do',
        live=False,
    ),
    Spec(
        'base_odometry', '', 'topic that tells where the base is in world_frame; empty: tf',
        live=False,
    ),
    Spec(
        'base_timeout', 0.5, 'age at which the pose of the base is lost [s]', low=1e-3, live=False,
    ),
    Spec(
        'self_collision', 'auto',
        'stop in front of collisions of the arm with itself; auto: where coal is installed',
        choices=('auto', 'require', 'never'), live=False,
    ),
    Spec(
        'collision_clearance', 0.002, 'distance that links keep from each other [m]',
        low=0.0, high=WIDEST_CLEARANCE, live=False,
    ),
    Spec(
        'pair_clearances', [],
        'distances that pairs of links keep instead [m], as link_a/link_b=0.01',
        entries=Parameter.Type.STRING_ARRAY, live=False,
    ),
    Spec(
        'may_touch', [], 'pairs of links that may touch, as link_a/link_b',
        entries=Parameter.Type.STRING_ARRAY, live=False,
    ),
    Spec(
        'mesh_folders', [], 'folders in which meshes are looked for, besides ROS packages',
        entries=Parameter.Type.STRING_ARRAY, live=False,
    ),
    Spec('wait_for_state', True, 'move only from a measured state', live=False),
    Spec(
        'start_configuration', [],
        'where the arm stands when nothing is measured [rad or m]; empty: mid limits', live=False,
    ),
    Spec('home_configuration', [], 'where ~/home goes [rad or m]; empty: it is refused'),
    Spec(
        'ready_topic', '',
        'std_msgs/Bool that tells whether the robot is ready to move; empty: it always is',
        live=False,
    ),
    Spec(
        'speed_scaling_topic', '',
        'std_msgs/Float64, percentage of speed that the robot lets itself have; empty: 100',
        live=False,
    ),
    Spec('state_timeout', 0.5, 'age at which a joint state is lost [s]', low=1e-3),
    Spec('resync_tolerance', 0.1, 'greatest gap to the measured state [rad or m]', low=1e-4),
    Spec('limit_margin', 0.1, 'how far outside a limit a start may be [rad or m]', low=0.0),
    Spec('target_timeout', 0.0, 'stop without a target for this long [s]; 0: never', low=0.0),
    Spec('jog_timeout', 0.25, 'a jog not repeated for this long ends [s]', low=1e-3, high=10.0),
    Spec('max_target_age', 0.0, 'refuse targets older than this [s]; 0: never', low=0.0),
    Spec('autostart', True, 'configure and activate when there is a model', live=False),
)  # fmt: skip
SPEC_BY_NAME = {spec.name: spec for spec in SPECS}


def declare(node: Node) -> None:
    """
    Declare every parameter; warn about values that were given for none of them.

    Raises
    ------
    ParameterError
        If an empty list was given for a parameter that is no list.
    InvalidParameterTypeException, InvalidParameterValueException
        If another value was given that has another type, or is out of range.

    """
    for spec in SPECS:
        _declare(node, spec)
    node.add_pre_set_parameters_callback(
        lambda changes: [_as_declared(node, change) for change in changes]
    )
    _warn_of_unknown_names(node)


def _declare(node: Node, spec: Spec) -> None:
    is_list = isinstance(spec.default, list)
    overridden = given = node._parameter_overrides.get(spec.name)
    if given is None and spec.default != []:
        node.declare_parameter(spec.name, spec.default, spec.descriptor())
        return
    if given is None or (given.value is None and is_list):
        given = Parameter(spec.name, spec.entries, [])
    elif given.value is None:  # which is what rclpy makes of an empty list in a file
        raise ParameterError(f'{spec.name} must be one value, got an empty list')
    start = _as_declared(node, given)
    if start.type_ != spec.type_ or start is overridden:
        node.declare_parameter(spec.name, spec.type_, spec.descriptor())
        return
    # First the type, then the value: rclpy would take [] for an array of bytes.
    node.declare_parameter(spec.name, spec.type_, spec.descriptor(), ignore_override=True)
    node.set_parameters([start])


def _as_declared(node: Node, given: Parameter) -> Parameter:
    """Put a value that a user gave into the type that is declared, where it can only mean one."""
    spec, value = SPEC_BY_NAME.get(given.name), given.value
    if spec is None:
        return given
    if isinstance(spec.default, list) and _means_none(value):
        return Parameter(spec.name, spec.entries, [])
    if isinstance(value, array):  # never equal to a list
        return Parameter(spec.name, given.type_, list(value))
    if spec.name == 'self_collision' and isinstance(value, bool):
        word = 'auto' if value else 'never'
        node.get_logger().warning(
            f"self_collision: {str(value).lower()} is now called '{word}'; "
            'true and false are accepted until 1.0'
        )
        return Parameter(spec.name, value=word)
    return given


def wrong_type(changes: Iterable[Parameter]) -> str:
    """Say which value has another type than its parameter, in words; '' where none has."""
    for change in changes:
        spec = SPEC_BY_NAME.get(change.name)
        if spec is None or change.type_ is Parameter.Type.NOT_SET:
            continue
        is_none = isinstance(spec.default, list) and _means_none(change.value)
        is_old_word = spec.name == 'self_collision' and isinstance(change.value, bool)
        if change.type_ != spec.type_ and not is_none and not is_old_word:
            wanted, given = IN_WORDS[spec.type_], IN_WORDS[change.type_]
            return f'{spec.name} must be {wanted}, got {given}: {shown(str(change.value))}'
    return ''


def _means_none(value: Any) -> bool:
    """Whether a value is an empty list, of whatever type, or [''], which is how some write it."""
    return isinstance(value, list | tuple | array) and list(value) in ([], [''])


def _warn_of_unknown_names(node: Node) -> None:
    """Name what was given on the command line or in files and is no parameter of the node."""
    for name in sorted(node._parameter_overrides):
        if not node.has_parameter(name) and not name.startswith('qos_overrides.'):
            cure = did_you_mean(name, SPEC_BY_NAME) or ': it is ignored'
            node.get_logger().warning(f"unknown parameter '{shown(name)}'{cure}")


@dataclass(frozen=True)
class NodeParameters:
    """All parameter values, validated together."""

    values: Mapping[str, Any]
    solver: SolverOptions
    motion: MotionOptions
    tips: Mapping[str, TipOptions]
    """What is asked of each of `tip_links`."""
    rules: FollowingRules
    tools: Array
    """T_tip_tool of each tip, shape (k, 4, 4)."""

    @staticmethod
    def read(node: Node, changes: Mapping[str, Any] | None = None) -> 'NodeParameters':
        """
        Read the parameters of a node, with some of them changed.

        Raises
        ------
        ParameterError
            If a value, or values together, make no sense; names them.

        """
        values = {spec.name: _value(node, spec) for spec in SPECS}
        values.update({name: v for name, v in (changes or {}).items() if name in SPEC_BY_NAME})
        values['world_frame'] = values['world_frame'].removeprefix('/')
        for name, value in values.items():
            _check(SPEC_BY_NAME[name], value)
        _check_together(values)
        _check_topics(node, values)
        return NodeParameters(
            values,
            _solver(values),
            _motion(values),
            _tips(values),
            _rules(values),
            _tools(values),
        )

    def __getattr__(self, name: str) -> Any:
        """Value of a parameter by its name."""
        try:
            return self.__dict__['values'][name]
        except KeyError:
            raise AttributeError(name) from None

    @property
    def links_that_may_touch(self) -> list[tuple[str, str]]:
        """Pairs of names of links."""
        pairs = [pair.split('/') for pair in self.values['may_touch']]
        return [(a, b) for a, b in pairs]

    @property
    def clearances_of_pairs(self) -> dict[tuple[str, str], float]:
        """Distances that pairs of links keep [m], by their names."""
        return dict(map(_pair_clearance, self.values['pair_clearances']))

    def arms_of(self, robot: Robot) -> Chain | Tree:
        """
        Take what is to be moved from a robot.

        Raises
        ------
        ChainError
            If the links cannot be used.

        """
        values = self.values
        if not values['tip_links']:
            chain = robot.chain(values['base_link'], values['tip_link'])
            return chain.with_tool(self.tools[0]) if self._has_tool(0) else chain
        tree = robot.tree(values['base_link'], values['tip_links'])
        tools = zip(tree.tip_links, self.tools, strict=True)
        return tree.with_tools({tip: T for i, (tip, T) in enumerate(tools) if self._has_tool(i)})

    def _has_tool(self, tip: int) -> bool:
        return bool(np.any(self.tools[tip] != np.eye(4)))

    def commanded_joints(self, chain: Chain | Tree) -> tuple[str, ...]:
        """
        Names of the joints to command, in the order to do it.

        Raises
        ------
        ParameterError
            If `command_joints` names a joint that is none of the chain.

        """
        names = tuple(self.values['command_joints'])
        strange = [name for name in names if name not in chain.joint_names]
        if strange:
            raise ParameterError(
                f'command_joints names {", ".join(map(repr, strange))}, not of the chain; missing '
                f'are {", ".join(repr(name) for name in chain.joint_names if name not in names)}'
            )
        return names or chain.joint_names

    def limiter_for(self, chain: Chain | Tree) -> JerkLimiter | None:
        """
        Make what limits the jerk of an arm; None where that is not asked for.

        Raises
        ------
        MotionError
            If ruckig is needed and not installed.

        """
        jerk, period = self.values['max_joint_jerk'], 1.0 / self.values['command_rate']
        return JerkLimiter(jerk, period, chain.lower, chain.upper) if jerk > 0.0 else None

    def limits_for(self, chain: Chain | Tree) -> MotionLimits:
        """How fast an arm may move."""
        values = self.values
        velocity = np.minimum(
            values['velocity_scaling'] * chain.velocity, values['max_joint_velocity']
        )
        return MotionLimits(
            values['max_tip_speed'],
            values['max_tip_rotation'],
            values['max_tip_acceleration'],
            velocity,
            np.full(len(chain), values['max_joint_acceleration']),
            values['speed_scaling'],
        )

    def moves_like(self, other: 'NodeParameters', chain: Chain | Tree) -> bool:
        """Whether an arm moves the same with these as with others."""
        options = self.solver, self.motion, self.tips
        mine, others = self.limits_for(chain), other.limits_for(chain)
        return options == (other.solver, other.motion, other.tips) and all(
            np.array_equal(getattr(mine, field.name), getattr(others, field.name))
            for field in fields(mine)
        )


def _value(node: Node, spec: Spec) -> Any:
    value = node.get_parameter(spec.name).value
    return list(value) if isinstance(spec.default, list) else value


def fixed_names(names: Iterable[str]) -> list[str]:
    """Those of the names that cannot change while the node is configured."""
    return [name for name in names if name in SPEC_BY_NAME and not SPEC_BY_NAME[name].live]


def _check(spec: Spec, value: Any) -> None:
    if spec.choices and value not in spec.choices:
        raise ParameterError(
            f"{spec.name} must be one of {', '.join(spec.choices)}; got '{value}'"
        )
    if isinstance(spec.default, float) and not spec.low <= value <= spec.high:
        raise ParameterError(
            f'{spec.name} must be in [{spec.low:g}, {spec.high:g}], got {value:g}'
        )
    holds_numbers = isinstance(spec.default, list) and (
        spec.entries is Parameter.Type.DOUBLE_ARRAY
    )
    if holds_numbers and not all(math.isfinite(number) for number in value):
        raise ParameterError(f'{spec.name} must hold finite numbers, got {list(value)}')


def _check_together(values: Mapping[str, Any]) -> None:
    tips = max(1, len(values['tip_links']))
    # Six zeros, the default, are no tool for any number of tips.
    tools = 6 * tips if np.any(values['tool_offset']) else (6, 6 * tips)
    for name, count in (('tool_offset', tools), ('axis', 3)):
        if len(values[name]) not in np.atleast_1d(count):
            most = np.max(count)
            raise ParameterError(f'{name} must hold {most} numbers, got {len(values[name])}')
    _check_tips(values)
    _check_world(values)
    _check_output(values)
    for pair in values['may_touch']:
        if len(list(filter(None, pair.split('/')))) != 2 or pair.count('/') != 1:
            raise ParameterError(f"may_touch must hold pairs as 'link_a/link_b', got '{pair}'")
    pairs = [frozenset(_pair_clearance(entry)[0]) for entry in values['pair_clearances']]
    for pair, entry in zip(pairs, values['pair_clearances'], strict=True):
        if pairs.count(pair) > 1:
            raise ParameterError(f"pair_clearances names the links of '{shown(entry)}' twice")
    length = math.hypot(*values['axis'])
    if not TINY <= length <= HUGE:
        raise ParameterError(f'axis must not be zero, nor of absurd length; got {length:g}')
    longest = values['max_joint_velocity'] / values['max_joint_acceleration']
    if longest > LONGEST_STOP:
        raise ParameterError(
            f'a joint at max_joint_velocity {values["max_joint_velocity"]:g} would need '
            f'{longest:.2f} s to stop with max_joint_acceleration '
            f'{values["max_joint_acceleration"]:g}; at most {LONGEST_STOP:g} s is allowed'
        )
    _check_jerk(values)


def _pair_clearance(entry: str) -> tuple[tuple[str, str], float]:
    """Read the names of two links and their clearance [m]; ParameterError where it has none."""
    names, _, number = entry.rpartition('=')
    links = [name.strip() for name in names.split('/')]
    try:
        clearance = float(number)
    except ValueError:
        clearance = None
    if clearance is None or len(links) != 2 or not all(links):
        raise ParameterError(
            "pair_clearances must hold pairs and their clearances [m] as 'link_a/link_b=0.01', "
            f"got '{shown(entry)}'"
        )
    if not 0.0 <= clearance <= WIDEST_CLEARANCE:
        raise ParameterError(
            f'pair_clearances must be in [0, {WIDEST_CLEARANCE:g}] m, got {clearance:g} in '
            f"'{shown(entry)}'"
        )
    return (links[0], links[1]), clearance


def _check_jerk(values: Mapping[str, Any]) -> None:
    jerk, acceleration = values['max_joint_jerk'], values['max_joint_acceleration']
    if jerk > 0.0 and acceleration > LONGEST_SMOOTHING * jerk:
        raise ParameterError(
            f'a joint would need {acceleration / jerk:.2f} s to get from no acceleration to '
            f'max_joint_acceleration {acceleration:g} with max_joint_jerk {jerk:g}; at most '
            f'{LONGEST_SMOOTHING:g} s is allowed'
        )


def _check_tips(values: Mapping[str, Any]) -> None:
    tips = values['tip_links']
    if tips and values['tip_link']:
        raise ParameterError(
            f"tip_link '{values['tip_link']}' and tip_links {', '.join(map(repr, tips))} are both "
            'set; leave one of them out'
        )
    for name in ('tip_modes', 'tip_weights'):
        if len(values[name]) not in (0, len(tips)):
            raise ParameterError(
                f'{name} must hold one entry for each of the {len(tips)} tip_links, or none; '
                f'got {len(values[name])}'
            )
    if tips and values['method'] == 'points':
        raise ParameterError("method 'points' is for a single arm; leave tip_links out")
    for mode in values['tip_modes']:
        if mode not in MODES:
            raise ParameterError(f"tip_modes must hold any of {', '.join(MODES)}; got '{mode}'")
    for weight in values['tip_weights']:
        if not weight > 0.0:
            raise ParameterError(f'tip_weights must be positive, got {weight:g}')
    topic_names(tips)


def _check_world(values: Mapping[str, Any]) -> None:
    if values['base_odometry'] and not values['world_frame']:
        raise ParameterError(
            f"base_odometry '{values['base_odometry']}' needs world_frame: the frame that the "
            'odometry is given in'
        )


def _check_output(values: Mapping[str, Any]) -> None:
    output, joints = values['output'], values['command_joints']
    if not output or not set(output) <= set(OUTPUTS) or len(set(output)) < len(output):
        raise ParameterError(
            f'output must hold one or more of {", ".join(OUTPUTS)}, each once; got {output}'
        )
    look_ahead, shortest = values['trajectory_look_ahead'], 2.0 / values['command_rate'] + SOONEST
    if 0.0 < look_ahead < shortest:
        raise ParameterError(
            f'trajectory_look_ahead must be 0, or at least {shortest:g} s at a command_rate of '
            f'{values["command_rate"]:g} Hz; got {look_ahead:g}'
        )
    twice = sorted({name for name in joints if joints.count(name) > 1})
    if twice:
        raise ParameterError(f'command_joints names {", ".join(map(repr, twice))} more than once')


def _check_topics(node: Node, values: Mapping[str, Any]) -> None:
    """Look whether the node could have the topics: each message has one of its own."""
    topics = {name: _resolved(node, name, values[name]) for name in TOPIC_OF.values()}
    for name in ('base_odometry', 'ready_topic', 'speed_scaling_topic'):
        _resolved(node, name, values[name] or name)
    tips = [f'~/{name}' for name in topic_names(values['tip_links'])] or ['~']
    own = [*OWN_TOPICS, *(f'{tip}/{topic}' for tip in tips for topic in TOPICS_OF_TIPS)]
    if 'joint_state' in values['output']:
        own.append('~/joint_command')
    taken = {node.resolve_topic_name(topic): topic for topic in own}
    for name in [TOPIC_OF[output] for output in values['output'] if output in TOPIC_OF]:
        if topics[name] in taken:
            raise ParameterError(
                f"{name} '{values[name]}' is the topic of {taken[topics[name]]}; choose another"
            )
        taken[topics[name]] = name


def _resolved(node: Node, name: str, topic: str) -> str:
    """Give the full name of a topic, after remapping."""
    try:
        validate_topic_name(topic)
        return str(node.resolve_topic_name(topic))
    except (InvalidTopicNameException, RuntimeError, ValueError) as error:
        raise ParameterError(f'{name}: {str(error).split(", at ")[0]}') from error


def _tips(values: Mapping[str, Any]) -> dict[str, TipOptions]:
    links = values['tip_links']
    modes = values['tip_modes'] or [None] * len(links)
    weights = values['tip_weights'] or [1.0] * len(links)
    return {
        link: TipOptions(mode=mode, weight=weight)
        for link, mode, weight in zip(links, modes, weights, strict=True)
    }


def _solver(values: Mapping[str, Any]) -> SolverOptions:
    x, y, z = values['axis']
    return SolverOptions(
        mode=values['mode'],
        axis=(x, y, z),
        position_tolerance=values['position_tolerance'],
        orientation_tolerance=values['orientation_tolerance'],
        polish=values['polish'],
        method=values['method'],
        budget=values['solve_budget'],
    )


def _motion(values: Mapping[str, Any]) -> MotionOptions:
    return MotionOptions(
        path=values['path'],
        allow_reconfiguration=values['allow_reconfiguration'],
        approach_unreachable=values['on_unreachable'] == 'approach',
    )


def _rules(values: Mapping[str, Any]) -> FollowingRules:
    return FollowingRules(
        wait_for_state=values['wait_for_state'],
        start_configuration=tuple(values['start_configuration']),
        home_configuration=tuple(values['home_configuration']),
        state_timeout=values['state_timeout'],
        target_timeout=values['target_timeout'],
        jog_timeout=values['jog_timeout'],
        resync_tolerance=values['resync_tolerance'],
        limit_margin=values['limit_margin'],
        idle_tips=values['idle_tips'],
    )


def _tools(values: Mapping[str, Any]) -> Array:
    numbers = values['tool_offset']
    tips = max(1, len(values['tip_links']))
    if not np.any(numbers):
        return np.tile(np.eye(4), (tips, 1, 1))
    offsets = np.reshape(numbers, (tips, 6))
    return np.array([transform(rotation_from_rpy(*o[3:]), o[:3]) for o in offsets])
