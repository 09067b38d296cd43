"""The parameters: each with a meaning and a range, refused alone or together, live or fixed."""

import math
from pathlib import Path
import re

import pytest

pytest.importorskip('rclpy', reason='ROS 2 is not installed')

from fabrik_ros import FabrikError, load_urdf, TipOptions
from fabrik_ros.ros.node import FabrikNode
from fabrik_ros.ros.parameters.declared_parameters import declare, read as read_parameters, type_of
from fabrik_ros.ros.parameters.parameter_spec import ParameterError
from fabrik_ros.ros.parameters.parameter_table import RENAMED, SPECS
from fabrik_ros.ros.parameters.tip_names import topic_name
from helpers import joint_xml, mostly_long, PLANAR, robot_xml
from hypothesis import given, strategies as st
import numpy as np
from rcl_interfaces.srv import GetParameters, ListParameters, SetParameters
import rclpy
from rclpy.exceptions import InvalidParameterValueException
from rclpy.lifecycle import TransitionCallbackReturn
from rclpy.parameter import get_parameter_value, Parameter, parameter_value_to_python
from rclpy.validate_topic_name import validate_topic_name

PAGE = Path(__file__).parents[3] / 'docs' / 'node.md'
CONFIG = Path(__file__).parents[3] / 'config' / 'fabrik.yaml'
NOT_IN_FILE = {'robot_description'}
"""Too long for a file."""
POSITIVE = [
    'position_tolerance',
    'orientation_tolerance',
    'solve_budget',
    'command_rate',
    'gripper_speed',
    'max_tip_speed',
    'max_tip_rotation',
    'max_tip_acceleration',
    'max_joint_velocity_fraction',
    'max_joint_velocity',
    'max_joint_acceleration',
    'state_timeout',
    'resync_tolerance',
    'arrival_tolerance_position',
    'arrival_tolerance_orientation',
    'base_timeout',
    'jog_timeout',
]
NOT_NEGATIVE = [
    'collision_clearance',
    'speed_scaling',
    'limit_margin',
    'max_joint_jerk',
    'blend_radius',
    'tip_speed',
    'gripper_effort',
    'target_timeout',
    'max_target_age',
]
WORDS = [
    'mode',
    'method',
    'polish',
    'path',
    'confirm',
    'on_unreachable',
    'idle_tips',
    'self_collision',
]
FIXED = {
    'scene': 'scene.yaml',
    'obstacle_clearance': 0.05,
    'scene_timeout': 1.0,
    'planning_time': 5.0,
    'point_size': 0.05,
    'points_padding': 0.01,
    'require_points': True,
    'trajectory_look_ahead': 0.1,
    'jerk_limiting': 'auto',
    'ready_topic': 'ready',
    'speed_scaling_topic': 'speed',
    'robot_description': f'{PLANAR}<!-- another -->',
    'base_link': 'l0',
    'tip_link': 'l3',
    'tip_links': ['l2', 'l3'],
    'idle_tips': 'free',
    'method': 'points',
    'tool_offset': [0.0, 0.0, 0.1, 0.0, 0.0, 0.0],
    'world_frame': 'odom',
    'base_timeout': 1.0,
    'use_safety_limits': False,
    'self_collision': 'never',
    'collision_clearance': 0.01,
    'pair_clearances': ['l0/l2=0.01'],
    'allowed_collisions': ['l0/l2'],
    'mesh_paths': ['/tmp'],
    'command_rate': 50.0,
    'max_joint_jerk': 100.0,
    'output': ['array', 'trajectory'],
    'trajectory_topic': '/controller/joint_trajectory',
    'array_topic': '/controller/commands',
    'command_joints': ['j2', 'j1'],
    'wait_for_state': False,
    'start_configuration': [0.0, 0.0],
    'autostart': True,
    'gripper_joint': 'j1',
    'gripper_widths': [0.0, 0.1],
    'gripper_action': 'gripper/gripper_cmd',
    'graspable': ['part*'],
}
NOT_ALONE = {'tip_modes', 'tip_weights', 'base_odometry'}
"""Make no sense without `tip_links` or `world_frame`."""
LIVE = {
    'mode': 'position',
    'axis': [1.0, 0.0, 0.0],
    'polish': 'never',
    'position_tolerance': 1e-4,
    'orientation_tolerance': 1e-3,
    'solve_budget': 0.05,
    'posture': [0.4, -0.4],
    'path': 'joint',
    'max_detour': 1.0,
    'confirm': 'leaving_line',
    'on_blocked': 'replan',
    'path_tolerance_position': 0.001,
    'path_tolerance_orientation': 0.01,
    'dodge_distance': 0.2,
    'dodge_at_rest': True,
    'on_unreachable': 'hold',
    'max_tip_speed': 0.1,
    'max_tip_rotation': 0.5,
    'max_tip_acceleration': 0.5,
    'speed_scaling': 0.5,
    'gripper_speed': 0.05,
    'gripper_effort': 20.0,
    'max_joint_velocity_fraction': 0.5,
    'max_joint_velocity': 1.0,
    'max_joint_acceleration': 4.0,
    'state_timeout': 1.0,
    'resync_tolerance': 0.2,
    'arrival_tolerance_position': 0.02,
    'arrival_tolerance_orientation': 0.1,
    'home_configuration': [0.5, -0.5],
    'limit_margin': 0.0,
    'blend_radius': 0.02,
    'tip_speed': 0.1,
    'target_timeout': 1.0,
    'jog_timeout': 0.5,
    'stream_timeout': 0.5,
    'max_target_age': 1.0,
}


@pytest.fixture
def make_node(context):
    """Make nodes with some parameters set, as from the command line or a launch file."""
    nodes = []

    def make(kind=FabrikNode, **parameters):
        overrides = [Parameter(name, value=value) for name, value in parameters.items()]
        node = kind(context=context, parameter_overrides=overrides)
        nodes.append(node)
        return node

    yield make
    for node in nodes:
        node.destroy_node()


def set_one(node, name, value):
    """Set a parameter of a node; the reason where it is refused, else ''."""
    (result,) = node.set_parameters([Parameter(name, value=value)])
    return '' if result.successful else result.reason


def refusals(make_node, **parameters):
    """Reasons for which values are refused, at the start of the node and later."""
    with pytest.raises((ParameterError, InvalidParameterValueException)) as at_start:
        make_node(**parameters)
    node = make_node()
    changes = [Parameter(name, value=value) for name, value in parameters.items()]
    later = node.set_parameters_atomically(changes)
    assert not later.successful
    for name in parameters:
        assert node.get_parameter_or(name).value != parameters[name], 'it must be left as it was'
    return [str(at_start.value), later.reason]


@pytest.mark.parametrize('value', mostly_long([0.0, -1.0, 1e12], 0.0, 1e12))
@pytest.mark.parametrize('name', POSITIVE)
def test_number_out_of_its_range_is_refused_by_name(make_node, name, value):
    for reason in refusals(make_node, **{name: value}):
        assert name in reason


@pytest.mark.parametrize('value', mostly_long([math.nan, math.inf, -math.inf], math.nan))
@pytest.mark.parametrize('name', POSITIVE + NOT_NEGATIVE)
def test_number_that_is_none_is_refused_by_name(make_node, name, value):
    for reason in refusals(make_node, **{name: value}):
        assert name in reason


@pytest.mark.parametrize('name', NOT_NEGATIVE)
def test_negative_number_is_refused_by_name_and_zero_is_not(make_node, name):
    for reason in refusals(make_node, **{name: -1e-6}):
        assert name in reason
    assert make_node(**{name: 0.0}).get_parameter(name).value == 0.0


@pytest.mark.parametrize('name', ['max_joint_velocity_fraction', 'speed_scaling'])
def test_more_than_all_of_the_velocity_is_refused(make_node, name):
    for reason in refusals(make_node, **{name: 1.01}):
        assert name in reason


@pytest.mark.parametrize('name', WORDS)
def test_unknown_word_is_refused_with_the_known_ones(make_node, name):
    (spec,) = (spec for spec in SPECS if spec.name == name)
    for reason in refusals(make_node, **{name: 'sideways'}):
        assert f'{name} must be one of {", ".join(spec.choices)}' in reason
        assert "'sideways'" in reason


@pytest.mark.parametrize('value', [[0.0] * 5, [0.0] * 7, [0.0, 0.0, math.nan, 0.0, 0.0, 0.0]])
def test_tool_that_is_none_is_refused(make_node, value):
    for reason in refusals(make_node, tool_offset=value):
        assert 'tool_offset must hold' in reason


TWO = ['l2', 'l3']


class TestSeveralTips:
    @pytest.mark.parametrize(
        ('parameters', 'reason'),
        [
            ({'tip_link': 'l3', 'tip_links': TWO}, "tip_link 'l3' and tip_links 'l2', 'l3'"),
            ({'tip_links': ['l 1', 'l-1']}, "'l 1' and 'l-1' would have the same topics ~/l_1/"),
            ({'tip_links': ['l3', 'l3']}, "'l3' and 'l3' would have the same topics"),
            ({'tip_links': TWO, 'method': 'points'}, "'points' is for a single arm"),
            ({'tip_modes': ['pose']}, 'each of the 0 tip_links'),
            ({'tip_weights': [1.0]}, 'each of the 0 tip_links'),
            ({'tip_links': TWO, 'tip_modes': ['pose']}, 'each of the 2 tip_links, or none; got 1'),
            ({'tip_links': TWO, 'tip_modes': ['pose', 'grip']}, "tip_modes .*; got 'grip'"),
            ({'tip_links': TWO, 'tip_weights': [1.0, 0.0]}, 'tip_weights must be positive, got 0'),
            ({'tip_links': TWO, 'tip_weights': [1.0, math.nan]}, 'tip_weights must hold finite'),
            ({'tip_links': TWO, 'tool_offset': [0.1] * 6}, 'tool_offset must hold 12 numbers'),
            ({'tip_links': TWO, 'tool_offset': [0.0] * 18}, 'tool_offset must hold 12 numbers'),
            ({'base_odometry': 'odom'}, "base_odometry 'odom' needs world_frame"),
            ({'base_odometry': 'a b', 'world_frame': 'odom'}, 'base_odometry: Invalid topic name'),
            ({'gripper_action': 'a b'}, 'gripper_action: Invalid topic name'),
        ],
    )
    def test_what_makes_no_sense_together_is_refused(self, make_node, parameters, reason):
        with pytest.raises(FabrikError, match=reason):
            make_node(**parameters)
        node = make_node()
        changes = [Parameter(name, value=value) for name, value in parameters.items()]
        assert not node.set_parameters_atomically(changes).successful

    def test_each_tip_has_its_mode_its_weight_and_its_tool(self, make_node):
        offsets = [0.0, 0.0, 0.1, 0.0, 0.0, 0.0, 0.2, 0.0, 0.0, 0.0, 0.0, 0.0]
        node = make_node(
            tip_links=TWO, tip_modes=['position', 'pose'], tip_weights=[1.0, 3.0],
            tool_offset=offsets,
        )  # fmt: skip
        settings = read_parameters(node)
        assert settings.tips == {
            'l2': TipOptions(mode='position', weight=1.0),
            'l3': TipOptions(mode='pose', weight=3.0),
        }
        assert settings.tools[:, :3, 3].tolist() == [[0.0, 0.0, 0.1], [0.2, 0.0, 0.0]]
        robot = load_urdf(PLANAR)
        plain, tree = robot.tree('', TWO), settings.arms_of(robot)
        q = np.array([0.3, 0.4])
        expected = plain.forward_kinematics(q) @ settings.tools
        assert np.allclose(tree.forward_kinematics(q), expected, atol=1e-12)

    @pytest.mark.long
    def test_modes_and_weights_can_change_while_configured(self, make_node):
        node = make_node(robot_description=PLANAR, autostart=False, tip_links=TWO, mode='position')
        assert node.trigger_configure() == TransitionCallbackReturn.SUCCESS
        assert set_one(node, 'tip_modes', ['position', 'position']) == ''
        assert set_one(node, 'tip_weights', [1.0, 0.5]) == ''
        assert 'each of the 2' in set_one(node, 'tip_weights', [1.0])

    def test_topics_follow_the_names_of_the_tips(self, make_node):
        node = make_node()
        assert set_one(node, 'tip_links', ['left hand', '2f/tool']) == ''
        topics = {tip.targets.topic_name for tip in node.topics.tips}
        assert topics == {'/fabrik/left_hand/target_pose', '/fabrik/tip_2f_tool/target_pose'}

    def test_topics_come_back_with_the_name_of_a_tip(self, make_node):
        node = make_node()
        for tips in (['a'], ['b'], ['a']):
            assert set_one(node, 'tip_links', tips) == ''
            (tip,) = node.topics.tips
            assert tip.targets.topic_name == f'/fabrik/{tips[0]}/target_pose'


@given(st.text(min_size=1))
def test_name_of_any_tip_is_one_that_ros_takes_and_shows(link):
    name = topic_name(link)
    assert validate_topic_name(f'~/{name}/target_pose')
    assert not name.startswith('_')
    assert topic_name(name) == name


@pytest.mark.parametrize(
    ('value', 'reason'),
    [
        ([0.0, 0.0], '3 numbers'),
        ([0.0, 0.0, 0.0], 'axis must not be zero'),
        ([0.0, math.inf, 0.0], 'finite'),
        ([1e-200, 0.0, 0.0], 'absurd length'),
        ([0.0, 1e200, 0.0], 'absurd length'),
    ],
)
def test_axis_that_is_none_is_refused(make_node, value, reason):
    for said in refusals(make_node, axis=value):
        assert reason in said


def test_start_that_is_not_finite_is_refused(make_node):
    for reason in refusals(make_node, start_configuration=[0.0, math.nan]):
        assert 'start_configuration' in reason


@pytest.mark.parametrize(
    ('name', 'value'),
    [('command_rate', 'fast'), ('path', 1.0), ('path', 1), ('autostart', 'yes'), ('axis', 'z')],
)
def test_value_of_another_type_is_refused_by_name(make_node, name, value):
    with pytest.raises(ParameterError, match=f'{name} must be .*, got .*: {value}'):
        make_node(**{name: value})
    node = make_node()
    assert set_one(node, name, value)


ARM = {'robot_description': PLANAR, 'autostart': False}
READY = 'configurations.ready'


class TestConfigurations:
    """Lists of joint values: any number of names, and a posture."""

    @pytest.fixture
    def configured(self, make_node):
        node = make_node(**ARM, **{READY: [0.1, 0.2]})
        assert node.trigger_configure() == TransitionCallbackReturn.SUCCESS
        return node

    def test_there_may_be_any_number_and_whole_numbers_are_taken(self, make_node):
        values = {READY: [0.1, 0.2], 'configurations.up': [1, 0], 'configurations.a.b': [0.0, 0.0]}
        settings = read_parameters(make_node(home_configuration=[0.5, 0.5], **values))
        assert settings.named_configurations == {
            'home': (0.5, 0.5), 'ready': (0.1, 0.2), 'up': (1.0, 0.0), 'a.b': (0.0, 0.0),
        }  # fmt: skip

    def test_without_any_there_is_none(self, make_node):
        assert read_parameters(make_node()).named_configurations == {}

    @pytest.mark.parametrize(
        ('values', 'reason'),
        [
            ({READY: 1.0}, 'configurations.ready must be a list of numbers, one for each joint'),
            ({READY: 'up'}, 'must be a list of numbers, one for each joint; got text: up'),
            ({READY: ['up']}, r"got a list of texts: \['up'\]"),
            ({READY: []}, 'configurations.ready must be a list of numbers'),
            ({READY: [0.0, math.nan]}, 'configurations.ready must hold finite numbers'),
            (
                {'configurations.home': [0.0, 0.0]},
                'configurations.home cannot be set: set home_configuration instead',
            ),
        ],
    )
    def test_what_is_none_is_refused_at_the_start(self, make_node, values, reason):
        with pytest.raises(ParameterError, match=reason):
            make_node(**values)

    @pytest.mark.parametrize('name', mostly_long([READY, 'posture', 'home_configuration'], READY))
    @pytest.mark.parametrize(
        ('values', 'reason'),
        [
            ([0.0], r'{} has shape \(1,\), expected \(2,\): one value for each of j'),
            ([0.0, 9.0], r"{} has joint 'j1' at 9.0000, outside its limits \[-3.0000, 3.0000\]"),
        ],
    )
    def test_values_that_do_not_suit_the_arm_are_refused_when_it_is_configured_and_later(
        self, make_node, configured, name, values, reason
    ):
        reason = reason.format(name)
        node = make_node(**ARM, **{name: values})
        assert node.trigger_configure() == TransitionCallbackReturn.FAILURE
        assert re.match(reason, node.node_state.failure_reason)
        before = configured.get_parameter(name).value
        assert re.match(reason, set_one(configured, name, values))
        assert configured.get_parameter(name).value == before

    def test_values_can_change_live_and_whole_numbers_are_taken(self, configured):
        assert set_one(configured, READY, [1, 0]) == ''
        assert configured.node_state.parameters.named_configurations == {'ready': (1.0, 0.0)}
        refused = configured.set_parameters_atomically([Parameter(READY, value='up')])
        assert refused.reason.startswith('configurations.ready must be a list of numbers')
        assert list(configured.get_parameter(READY).value) == [1.0, 0.0]

    def test_posture_is_for_single_articulated_arms(self, make_node):
        for reason in refusals(make_node, posture=[0.0, 0.0], method='points'):
            assert reason.startswith("posture needs method 'articulated', got 'points'")
        for reason in refusals(make_node, posture=[0.0, 0.0], tip_links=TWO):
            assert reason.startswith('posture is for a single arm')

    def test_posture_can_be_taken_back(self, configured):
        assert set_one(configured, 'posture', [0.5, 0.5]) == ''
        assert configured.node_state.parameters.solver.posture == (0.5, 0.5)
        assert set_one(configured, 'posture', []) == ''
        assert configured.node_state.parameters.solver.posture is None

    @pytest.mark.parametrize('topic', ['target_joints', 'target_configuration'])
    def test_their_topics_are_taken(self, make_node, topic):
        wanted = {'output': ['array'], 'array_topic': f'~/{topic}'}
        with pytest.raises(ParameterError, match=f'is the topic of ~/{topic}'):
            make_node(**wanted)


class TestTogether:
    def test_joints_that_could_not_stop_in_time_are_refused_with_the_figures(self, make_node):
        for reason in refusals(make_node, max_joint_velocity=4.0, max_joint_acceleration=6.0):
            assert 'max_joint_velocity 4' in reason
            assert 'max_joint_acceleration 6' in reason
            assert '0.67 s' in reason

    def test_one_change_is_refused_where_two_would_do(self, make_node):
        node = make_node()
        assert 'to stop' in set_one(node, 'max_joint_velocity', 4.0)
        both = [
            Parameter('max_joint_velocity', value=4.0),
            Parameter('max_joint_acceleration', value=10.0),
        ]
        assert node.set_parameters_atomically(both).successful

    def test_order_in_which_they_are_set_does_not_matter_at_the_start(self, make_node):
        node = make_node(max_joint_velocity=4.0, max_joint_acceleration=10.0)
        assert node.get_parameter('max_joint_velocity').value == 4.0


class TestWhileConfigured:
    @pytest.fixture
    def configured(self, make_node):
        node = make_node(robot_description=PLANAR, autostart=False)
        assert node.trigger_configure() == TransitionCallbackReturn.SUCCESS
        return node

    def test_every_parameter_is_either_live_or_fixed(self):
        assert {spec.name for spec in SPECS} == FIXED.keys() | LIVE.keys() | NOT_ALONE
        assert not FIXED.keys() & LIVE.keys()

    def test_page_of_the_node_says_which_can_change_live(self):
        rows = re.findall(r'^\| `(\w+)` \| .* \| (yes|no) \|', PAGE.read_text(), re.MULTILINE)
        assert dict(rows) == {s.name: 'yes' if s.is_live else 'no' for s in SPECS}

    @pytest.mark.parametrize('name', mostly_long(FIXED, 'tip_links', 'output'))
    def test_fixed_parameter_cannot_change(self, configured, name):
        before = configured.get_parameter_or(name).value
        reason = set_one(configured, name, FIXED[name])
        assert name in reason
        assert 'clean up' in reason
        assert configured.get_parameter_or(name).value == before

    @pytest.mark.parametrize('name', mostly_long(FIXED, 'tip_links', 'output'))
    def test_fixed_parameter_may_be_set_to_what_it_is(self, configured, name):
        """Tools that load a whole file of parameters do that."""
        before = configured.get_parameter_or(name)
        if before.value is not None:
            assert set_one(configured, name, before.value) == ''

    @pytest.mark.parametrize('name', mostly_long(FIXED, 'tip_links', 'output'))
    def test_fixed_parameter_can_change_after_clean_up(self, configured, name):
        assert configured.trigger_cleanup() == TransitionCallbackReturn.SUCCESS
        assert set_one(configured, name, FIXED[name]) == ''

    @pytest.mark.parametrize('name', mostly_long(LIVE, 'path', 'state_timeout'))
    def test_live_parameter_can_change(self, configured, name):
        assert set_one(configured, name, LIVE[name]) == ''
        value = configured.get_parameter(name).value
        assert (value if isinstance(value, str | bool | float) else list(value)) == LIVE[name]

    def test_fixed_parameter_among_live_ones_refuses_them_all(self, configured):
        changes = [Parameter('path', value='joint'), Parameter('base_link', value='l1')]
        assert not configured.set_parameters_atomically(changes).successful
        assert configured.get_parameter('path').value == 'auto'

    @pytest.mark.parametrize('name', mostly_long(LIVE, 'path', 'state_timeout'))
    def test_motion_changes_only_with_what_it_depends_on(self, configured, monkeypatch, name):
        """It makes its solvers anew then, and forgets what leads to the stream of targets."""
        changes, value = [], 0.5 if name == 'max_joint_velocity' else LIVE[name]
        monkeypatch.setattr(
            configured.node_state.arm.motion, 'change', lambda *args: changes.append(args)
        )
        assert set_one(configured, name, value) == ''
        rest = {'state_timeout', 'resync_tolerance', 'home_configuration', 'limit_margin'}
        rest |= {'arrival_tolerance_position', 'arrival_tolerance_orientation'}
        rest |= {'target_timeout', 'jog_timeout', 'max_target_age', 'stream_timeout', 'on_blocked'}
        rest |= {'dodge_at_rest', 'blend_radius', 'tip_speed', 'gripper_speed', 'gripper_effort'}
        assert len(changes) == (name not in rest)
        assert set_one(configured, name, value) == ''
        assert len(changes) == (name not in rest)

    def test_weight_of_a_tip_changes_the_motion(self, make_node, monkeypatch):
        node = make_node(robot_description=PLANAR, autostart=False, tip_links=TWO, mode='position')
        assert node.trigger_configure() == TransitionCallbackReturn.SUCCESS
        changes = []
        monkeypatch.setattr(
            node.node_state.arm.motion, 'change', lambda *args: changes.append(args)
        )
        assert set_one(node, 'tip_weights', [1.0, 0.5]) == ''
        assert len(changes) == 1

    def test_clock_cannot_change_while_the_node_is_active(self, configured):
        assert configured.trigger_activate() == TransitionCallbackReturn.SUCCESS
        assert set_one(configured, 'use_sim_time', False) == ''
        reason = set_one(configured, 'use_sim_time', True)
        assert reason == 'use_sim_time cannot change while the node is active; deactivate first'
        assert not configured.get_clock().ros_time_is_active
        assert configured.trigger_deactivate() == TransitionCallbackReturn.SUCCESS
        assert set_one(configured, 'use_sim_time', True) == ''
        assert configured.get_clock().ros_time_is_active

    def test_foreign_parameters_are_none_of_our_business(self, configured):
        assert set_one(configured, 'use_sim_time', True) == ''


class TestMeaning:
    @pytest.fixture
    def read(self, make_node):
        return lambda **parameters: read_parameters(make_node(**parameters))

    @pytest.fixture
    def chain(self):
        """Four joints: slow, of the usual speed, of an absurd one, and of none."""
        speeds = {'slow': 0.5, 'usual': 2.0, 'absurd': 1e4, 'none': 0.0}
        joints = [
            joint_xml(
                name,
                f'l{i}',
                f'l{i + 1}',
                body=f'<limit lower="-1" upper="1" effort="1" velocity="{speed}"/>'
                '<origin xyz="0.3 0 0"/>',
            )
            for i, (name, speed) in enumerate(speeds.items())
        ]
        return load_urdf(robot_xml('l0 l1 l2 l3 l4', *joints)).chain()

    def test_urdf_velocities_hold_up_to_the_greatest_allowed(self, read, chain):
        limits = read().limits_for(chain)
        assert limits.joint_velocity == pytest.approx([0.5, 1.5, 1.5, 1.5])
        assert limits.joint_acceleration == pytest.approx([5.0] * 4)

    def test_scaling_goes_by_the_urdf_velocity(self, read, chain):
        limits = read(max_joint_velocity_fraction=0.5).limits_for(chain)
        assert limits.joint_velocity == pytest.approx([0.25, 1.0, 1.5, 1.5])

    def test_tool_is_position_then_roll_pitch_yaw(self, read):
        pinocchio = pytest.importorskip('pinocchio')
        T = read(tool_offset=[0.1, 0.2, 0.3, 0.4, 0.5, 0.6]).tools[0]
        assert T[:3, 3] == pytest.approx([0.1, 0.2, 0.3])
        expected = pinocchio.rpy.rpyToMatrix(0.4, 0.5, 0.6)
        assert np.allclose(T[:3, :3], expected, atol=1e-12)

    def test_values_are_there_by_name(self, read):
        settings = read(tip_link='tool0')
        assert settings.tip_link == 'tool0'
        with pytest.raises(AttributeError, match='no_such_thing'):
            _ = settings.no_such_thing

    def test_settings_go_where_they_belong(self, read):
        settings = read(**{name: LIVE[name] for name in LIVE})
        assert settings.solver.mode == 'position'
        assert settings.solver.axis == (1.0, 0.0, 0.0)
        assert settings.solver.polish == 'never'
        assert settings.solver.position_tolerance == 1e-4
        assert settings.solver.orientation_tolerance == 1e-3
        assert settings.solver.budget == 0.05
        assert settings.solver.posture == (0.4, -0.4)
        assert settings.motion.path == 'joint'
        assert settings.motion.max_detour == 1.0
        assert settings.motion.confirm == 'leaving_line'
        assert settings.motion.path_tolerances == (0.001, 0.01)
        assert settings.motion.dodge_distance == 0.2
        assert not settings.motion.approach_unreachable
        chain = load_urdf(PLANAR).chain()
        assert settings.limits_for(chain).speed_scaling == 0.5
        assert settings.rules.dodge_at_rest
        assert settings.rules.state_timeout == 1.0
        assert settings.rules.resync_tolerance == 0.2
        assert settings.rules.home_configuration == (0.5, -0.5)
        assert settings.rules.limit_margin == 0.0
        assert settings.rules.target_timeout == 1.0
        assert settings.rules.jog_timeout == 0.5
        assert settings.rules.stream_timeout == 0.5
        assert settings.max_target_age == 1.0


def test_every_parameter_has_a_description_and_numbers_a_range(make_node):
    node = make_node()
    for spec in SPECS:
        descriptor = node.describe_parameter(spec.name)
        assert descriptor.description
        if isinstance(spec.default, float):
            (bounds,) = descriptor.floating_point_range
            assert bounds.from_value <= spec.default <= bounds.to_value
        if spec.choices:
            assert ', '.join(spec.choices) in descriptor.additional_constraints


def test_defaults_make_sense_together(make_node):
    def plain(**options):
        return rclpy.create_node('plain', **options)

    node = make_node(plain)
    declare(node)
    read_parameters(node)


def test_config_file_lists_every_parameter_with_its_default():
    yaml = pytest.importorskip('yaml')
    values = yaml.safe_load(CONFIG.read_text())['/**']['ros__parameters']
    assert values == {spec.name: spec.default for spec in SPECS if spec.name not in NOT_IN_FILE}


@pytest.mark.parametrize(
    'values',
    [
        {'points_padding': 0.03},
        {'points_padding': 0.01, 'obstacle_clearance': 0.01},
        {'require_points': True, 'obstacle_clearance': 0.015},
    ],
)
def test_a_clearance_that_does_not_exceed_the_padding_of_points_is_refused(make_node, values):
    for reason in refusals(make_node, **values):
        assert 'obstacle_clearance must be greater than points_padding' in reason


def test_a_small_clearance_from_obstacles_is_allowed_where_no_points_are_used(make_node):
    make_node(obstacle_clearance=0.002)


@pytest.mark.parametrize('pair', mostly_long(['upper', 'upper/', 'a/b/c', ''], 'a/b/c', ''))
def test_pairs_of_links_that_are_none_are_refused(make_node, pair):
    for reason in refusals(make_node, allowed_collisions=['hand/tool', pair]):
        assert 'link_a/link_b' in reason
        assert repr(pair) in reason


@pytest.mark.parametrize(
    'entry',
    mostly_long(
        ['a/b', 'a/b=', 'a/b=x', 'a=0.1', '/b=0.1', 'a/b/c=0.1', '=', ''], 'a/b', 'a/b=x', 'a=0.1'
    ),
)
def test_clearances_of_pairs_that_are_none_are_refused(make_node, entry):
    for reason in refusals(make_node, pair_clearances=['hand/tool=0.01', entry]):
        assert "'link_a/link_b=0.01'" in reason
        assert repr(entry) in reason


@pytest.mark.parametrize('number', mostly_long(['-0.01', 'nan', 'inf', '1.01'], '-0.01', 'nan'))
def test_clearances_of_pairs_out_of_their_range_are_refused(make_node, number):
    for reason in refusals(make_node, pair_clearances=[f'hand/tool={number}']):
        assert 'pair_clearances must be in [0, 1] m' in reason
        assert f"'hand/tool={number}'" in reason


def test_pair_with_two_clearances_is_refused(make_node):
    for reason in refusals(make_node, pair_clearances=['hand/tool=0.01', 'tool/hand=0.02']):
        assert reason == "pair_clearances names the links of 'hand/tool=0.01' twice"


def test_clearances_of_pairs_are_read_with_or_without_spaces(make_node):
    node = make_node(pair_clearances=['hand/tool=0.01', 'base / hand = 1e-2', 'a=b/c=0'])
    assert read_parameters(node).clearances_of_pairs == {
        ('hand', 'tool'): 0.01,
        ('base', 'hand'): 0.01,
        ('a=b', 'c'): 0.0,
    }


# As files, command lines and services give them.

LISTS = {spec.name: type_of(spec) for spec in SPECS if isinstance(spec.default, list)}
EMPTY = [spec.name for spec in SPECS if spec.default == []]


@pytest.fixture
def start_with(bench):
    """Start a node with arguments of ROS, as from a command line."""

    def start(*arguments):
        return bench.add(FabrikNode, {}, cli_args=['--ros-args', *arguments])

    return start


@pytest.fixture
def write_file(tmp_path):
    """Write lines into a file of parameters; return the arguments that read it."""

    def write(*lines):
        path = tmp_path / 'parameters.yaml'
        path.write_text('\n    '.join(['/**:\n  ros__parameters:', *lines]) + '\n')
        return '--params-file', str(path)

    return write


def values_of(bench, names):
    """Read parameters all at once, as `ros2 param dump` does."""
    answer = bench.ask(GetParameters, 'fabrik/get_parameters', GetParameters.Request(names=names))
    return [parameter_value_to_python(value) for value in answer.values]


def dump_of(bench):
    """All parameters by name."""
    answer = bench.ask(ListParameters, 'fabrik/list_parameters', ListParameters.Request())
    names = sorted(answer.result.names)
    return dict(zip(names, values_of(bench, names), strict=True))


def set_by_text(bench, name, text):
    """Set a parameter as `ros2 param set` does; the reason where it is refused, else ''."""
    request = SetParameters.Request()
    value = Parameter(name, value=None).to_parameter_msg()
    value.value = get_parameter_value(text)
    request.parameters.append(value)
    (result,) = bench.ask(SetParameters, 'fabrik/set_parameters', request).results
    return '' if result.successful else result.reason


CHANGED = {
    'robot_description': PLANAR,
    'autostart': False,
    'tip_links': TWO,
    'tip_weights': [1.0, 1e-5],
    'tip_modes': ['position', 'axis'],
    'start_configuration': [0.1, -1.0],
    'position_tolerance': 1e-9,
    'pair_clearances': ['l0/l2=0.01'],
    'self_collision': 'require',
}


class TestDump:
    @pytest.mark.parametrize('changed', [{}, CHANGED], ids=['defaults', 'changed'])
    def test_given_back_as_a_file_it_is_the_same(self, bench, tmp_path, changed):
        yaml = pytest.importorskip('yaml')
        node, dumps = bench.start_node(**changed), []
        for number in range(2):
            dumps.append(dump_of(bench))
            file = tmp_path / f'{number}.yaml'
            document = {'/fabrik': {'ros__parameters': dumps[-1]}}
            file.write_text(yaml.dump(document, default_flow_style=False))
            bench.executor.remove_node(node)
            bench.nodes.remove(node)
            node.destroy_node()
            node = bench.add(FabrikNode, {}, cli_args=['--ros-args', '--params-file', str(file)])
        dumps.append(dump_of(bench))
        assert dumps[0] == dumps[1] == dumps[2]
        assert dumps[0].keys() >= {spec.name for spec in SPECS}
        assert {name: dumps[0][name] for name in changed} == changed

    def test_none_of_the_values_is_missing_in_a_bulk_read(self, bench):
        bench.add(FabrikNode, {})
        names = [spec.name for spec in SPECS]
        assert values_of(bench, names) == [spec.default for spec in SPECS]

    def test_loaded_into_a_configured_node_it_changes_nothing(self, bench):
        """Tools set one value after the other, and take [] for a list of true and false."""
        node = bench.start_node(robot_description=PLANAR, autostart=False)
        assert node.trigger_configure() == TransitionCallbackReturn.SUCCESS
        for name, value in dump_of(bench).items():
            if isinstance(value, list):
                assert set_by_text(bench, name, str(value)) == ''


class TestEmptyLists:
    @pytest.mark.parametrize('written', ['[]', "['']"])
    @pytest.mark.parametrize('name', mostly_long(EMPTY, 'tip_links', 'pair_clearances'))
    def test_in_a_file_they_mean_none(self, start_with, write_file, name, written):
        node = start_with(*write_file(f'{name}: {written}', 'path: joint'))
        parameter = node.get_parameter(name)
        assert (parameter.type_, parameter.value) == (LISTS[name], [])
        assert node.get_parameter('path').value == 'joint'

    @pytest.mark.parametrize('name', mostly_long(EMPTY, 'tip_links', 'pair_clearances'))
    def test_on_the_command_line_they_mean_none(self, start_with, name):
        parameter = start_with('-p', f'{name}:=[]').get_parameter(name)
        assert (parameter.type_, parameter.value) == (LISTS[name], [])

    def test_robot_starts_with_the_configuration_file_that_lists_them_all(self, start_with):
        node = start_with('--params-file', str(CONFIG), '-p', f'robot_description:={PLANAR!r}')
        assert [node.get_parameter(name).value for name in EMPTY] == [[]] * len(EMPTY)
        assert node.trigger_configure() == TransitionCallbackReturn.SUCCESS

    def test_tips_can_be_named_and_taken_back(self, bench):
        node = bench.start_node()
        for text in ('[]', "['']"):
            assert set_by_text(bench, 'tip_links', "['l2', 'l3']") == ''
            assert len(node.topics.tips) == 2
            assert values_of(bench, ['tip_links']) == [TWO]
            assert set_by_text(bench, 'tip_links', text) == ''
            assert [tip.targets.topic_name for tip in node.topics.tips] == ['/fabrik/target_pose']
            assert values_of(bench, ['tip_links']) == [[]]

    @pytest.mark.parametrize(
        ('name', 'reason'),
        [
            ('axis', 'axis must hold 3 numbers, got 0'),
            ('tool_offset', 'tool_offset must hold 6 numbers, got 0'),
            ('output', 'output must hold one or more of'),
            ('max_tip_speed', 'max_tip_speed must be one value, got an empty list'),
            ('mode', 'mode must be one value, got an empty list'),
        ],
    )
    def test_where_something_is_needed_they_are_refused(
        self, start_with, write_file, name, reason
    ):
        with pytest.raises(ParameterError, match=reason):
            start_with(*write_file(f'{name}: []'))


class TestTypes:
    def test_list_of_another_type_is_refused_at_the_start(self, start_with):
        said = 'start_configuration must be a list of numbers, got a list of texts'
        with pytest.raises(ParameterError, match=said):
            start_with('-p', "start_configuration:=['l1']")

    @pytest.mark.parametrize(
        ('name', 'text', 'reason'),
        [
            ('start_configuration', "['a']", 'a list of numbers, got a list of texts'),
            ('tip_weights', '[1, up]', 'a list of numbers, got text: [1, up]'),
            ('tip_links', '[1.0]', 'a list of texts, got a list of numbers'),
            ('tip_links', 'l3', 'a list of texts, got text: l3'),
            ('max_tip_speed', '1 m/s', 'a number, got text: 1 m/s'),
            ('max_tip_speed', '[]', 'a number, got a list'),
            ('self_collision', '1', 'text, got an integer: 1'),
            ('autostart', 'yes please', 'true or false, got text: yes please'),
        ],
    )  # fmt: skip
    def test_value_of_another_type_is_refused_later_in_words(self, bench, name, text, reason):
        bench.start_node()
        (before,) = values_of(bench, [name])
        assert set_by_text(bench, name, text).startswith(f'{name} must be {reason}')
        assert values_of(bench, [name]) == [before]

    def test_range_is_kept_by_the_services_too(self, bench):
        bench.start_node()
        for written in ('1000.0', '1000'):
            assert 'out of range' in set_by_text(bench, 'max_tip_speed', written)


NUMBERS = {spec.name: math.ceil(spec.low) for spec in SPECS if spec.is_number and spec.high >= 1}
LISTS_OF_NUMBERS = [spec.name for spec in SPECS if spec.is_list and spec.type is float]


class TestWholeNumbers:
    """They are taken for the numbers that they are, wherever and however they are given."""

    @pytest.mark.parametrize('is_file', [False, True])
    def test_every_number_and_list_of_numbers_may_be_whole(self, context, write_file, is_file):
        given = NUMBERS | {name: [0, 1, 2] for name in LISTS_OF_NUMBERS} | {READY: [0, 1]}
        overrides = [] if is_file else [Parameter(n, value=value) for n, value in given.items()]
        file = write_file(*(f'{name}: {value}' for name, value in given.items()))
        arguments = ['--ros-args', *file] if is_file else []
        node = rclpy.create_node(
            'whole', context=context, parameter_overrides=overrides, cli_args=arguments
        )
        declare(node)
        for name, value in given.items():
            parameter = node.get_parameter(name)
            assert 'DOUBLE' in parameter.type_.name
            assert np.array_equal(parameter.value, value)
        node.destroy_node()

    def test_out_of_range_they_are_refused_as_others_are(self, make_node):
        for said in refusals(make_node, max_tip_speed=1000):
            assert 'max_tip_speed' in said
            assert 'out of range' in said

    @pytest.mark.parametrize(
        ('name', 'text', 'value'),
        [
            ('max_tip_speed', '1', 1.0),
            ('axis', '[0, 0, 1]', [0.0, 0.0, 1.0]),
            ('axis', '[0, 0.6, 0.8]', [0.0, 0.6, 0.8]),
            ('axis', '[ 1,-2.5 , 3]', [1.0, -2.5, 3.0]),
            ('tool_offset', '[0, 0, 0.1, 0, 0, 0]', [0.0, 0.0, 0.1, 0.0, 0.0, 0.0]),
            (READY, '[0, 1.5]', [0.0, 1.5]),
        ],
    )
    def test_they_are_taken_later(self, bench, name, text, value):
        bench.start_node(**{READY: [1, 2]})
        assert set_by_text(bench, name, text) == ''
        assert values_of(bench, [name]) == [value]

    def test_each_tip_may_have_them(self, bench):
        bench.start_node(tip_links=TWO, tip_weights=[1, 2])
        assert values_of(bench, ['tip_weights']) == [[1.0, 2.0]]
        assert set_by_text(bench, 'tip_weights', '[2, 0.5]') == ''
        assert values_of(bench, ['tip_weights']) == [[2.0, 0.5]]


class TestOldWords:
    @pytest.mark.parametrize(('old', 'new'), [('true', 'auto'), ('false', 'never')])
    def test_they_are_taken_with_a_warning_that_names_the_new_one(
        self, bench, start_with, write_file, capfd, old, new
    ):
        said = (
            f"self_collision: {old} is now called '{new}'; true and false are accepted until 1.0"
        )
        node = start_with(*write_file(f'self_collision: {old}'))
        assert node.get_parameter('self_collision').value == new
        assert capfd.readouterr().err.count(said) == 1
        assert set_by_text(bench, 'self_collision', old) == ''
        assert values_of(bench, ['self_collision']) == [new]
        assert capfd.readouterr().err.count(said) == 1

    def test_new_words_are_not_warned_about(self, start_with, write_file, capfd):
        start_with(*write_file('self_collision: never'))
        assert 'self_collision' not in capfd.readouterr().err


OLD_VALUES = {
    'velocity_scaling': ('0.5', 0.5),
    'may_touch': ("['l0/l2']", ['l0/l2']),
    'mesh_folders': ("['/tmp']", ['/tmp']),
}
"""Values of parameters with old names, as text and as they are then."""


class TestOldNames:
    def test_new_names_are_those_of_parameters_and_old_ones_are_not(self):
        names = {spec.name for spec in SPECS}
        assert set(RENAMED.values()) <= names
        assert not RENAMED.keys() & names
        assert RENAMED.keys() == OLD_VALUES.keys()

    @pytest.mark.parametrize('from_file', [True, False])
    @pytest.mark.parametrize('old', RENAMED)
    def test_old_name_is_taken_with_one_warning_that_names_the_new_one(
        self, start_with, write_file, capfd, old, from_file
    ):
        text, value = OLD_VALUES[old]
        node = start_with(
            *(write_file(f'{old}: {text}') if from_file else ('-p', f'{old}:={text}'))
        )
        assert node.get_parameter(RENAMED[old]).value == value
        assert not node.has_parameter(old)
        warning = f"{old} is now called '{RENAMED[old]}'; the old name is accepted until 1.0"
        output = capfd.readouterr().err
        assert output.count(warning) == 1
        assert output.count(old) == 1

    def test_old_name_is_taken_from_a_launch_file(self, make_node):
        """Launch files and composed nodes give overrides."""
        node = make_node(velocity_scaling=0.5)
        assert node.get_parameter('max_joint_velocity_fraction').value == 0.5

    def test_new_name_wins_over_the_old_one_and_the_warning_says_so(
        self, start_with, write_file, capfd
    ):
        lines = 'velocity_scaling: 0.5', 'max_joint_velocity_fraction: 0.2'
        node = start_with(*write_file(*lines))
        assert node.get_parameter('max_joint_velocity_fraction').value == 0.2
        warning = (
            "velocity_scaling is now called 'max_joint_velocity_fraction', which is given, too: "
            'the value of velocity_scaling is ignored'
        )
        assert capfd.readouterr().err.count(warning) == 1

    def test_value_with_an_old_name_is_checked_by_the_new_one(self, make_node):
        with pytest.raises(InvalidParameterValueException, match='max_joint_velocity_fraction'):
            make_node(velocity_scaling=2.0)

    @pytest.mark.parametrize('old', RENAMED)
    def test_setting_it_later_is_answered_with_the_new_name(self, bench, old):
        bench.start_node()
        reason = set_by_text(bench, old, OLD_VALUES[old][0])
        assert reason == f"{old} is now called '{RENAMED[old]}'"


class TestUnknownNames:
    @pytest.mark.parametrize('from_file', [True, False])
    def test_misspelt_one_is_warned_about_with_the_nearest(
        self, bench, start_with, write_file, capfd, from_file
    ):
        arguments = write_file('max_tip_sped: 0.1') if from_file else ('-p', 'max_tip_sped:=0.1')
        start_with(*arguments)
        said = "unknown parameter 'max_tip_sped'; did you mean 'max_tip_speed'?"
        assert capfd.readouterr().err.count(said) == 1
        bench.wait_for_statuses(2)
        assert said in bench.status['warnings'], 'where doctor looks'

    def test_one_that_is_like_none_is_warned_about(self, start_with, capfd):
        start_with('-p', 'zzz:=1')
        assert "unknown parameter 'zzz': it is ignored" in capfd.readouterr().err

    @pytest.mark.parametrize(
        'argument',
        [
            'use_sim_time:=false',
            'start_type_description_service:=true',
            'qos_overrides./joint_states.subscription.depth:=10',
            'max_tip_speed:=0.1',
            'somebody_else:max_tip_sped:=0.1',
        ],
    )
    def test_those_of_rclpy_and_of_other_nodes_are_not(self, start_with, capfd, argument):
        start_with('-p', argument)
        assert 'unknown parameter' not in capfd.readouterr().err
