"""The parameter files and the RViz configuration, as text and as ROS reads them."""

import math
import os
from pathlib import Path
import re
import subprocess
import sys

import pytest

yaml = pytest.importorskip('yaml')

CONFIG = Path(__file__).parents[2] / 'config'
PRESETS = sorted(path.name for path in (CONFIG / 'arms').glob('*.yaml'))
PARAMETER_FILES = ['fabrik.yaml', *(f'arms/{name}' for name in PRESETS)]
WORDS = {
    'mode': {'auto', 'pose', 'axis', 'position'},
    'method': {'articulated', 'points'},
    'polish': {'auto', 'never'},
    'path': {'auto', 'line', 'joint'},
    'on_blocked': {'hold', 'replan'},
    'confirm': {'never', 'leaving_line', 'always'},
    'on_unreachable': {'approach', 'hold'},
    'idle_tips': {'keep', 'free'},
    'self_collision': {'auto', 'require', 'never'},
    'jerk_limiting': {'auto', 'require'},
}
TOPICS = {'trajectory_topic', 'array_topic', 'ready_topic', 'speed_scaling_topic'}
GRIPPER = {'gripper_joint', 'gripper_action'}
LINKS = {'base_link', 'tip_link', 'world_frame'}
TEXTS = {'scene', 'base_odometry', *LINKS, *GRIPPER, *TOPICS, *WORDS}
FLAGS = {
    'autostart',
    'require_points',
    'use_safety_limits',
    'dodge_at_rest',
    'wait_for_state',
}
LISTS = {'tool_offset': 6, 'axis': 3}
LISTS_OF_TEXT = {
    'output',
    'tip_links',
    'tip_modes',
    'command_joints',
    'pair_clearances',
    'allowed_collisions',
    'mesh_paths',
    'graspable',
}
LISTS_OF_NUMBERS = {
    'tip_weights',
    'posture',
    'start_configuration',
    'home_configuration',
    'gripper_widths',
}
ZERO_MEANS_OFF = {
    'limit_margin',
    'max_joint_jerk',
    'target_timeout',
    'max_target_age',
    'trajectory_look_ahead',
    'blend_radius',
    'tip_speed',
    'gripper_effort',
    'dodge_distance',
}
MINUS_ONE_MEANS_AS_FITS = {'path_tolerance_position', 'path_tolerance_orientation'}


def read(name):
    content = yaml.safe_load((CONFIG / name).read_text())
    assert list(content) == ['/**'], 'the file must suit any name and namespace'
    assert list(content['/**']) == ['ros__parameters']
    return content['/**']['ros__parameters']


def is_float(value):
    return type(value) is float


@pytest.mark.parametrize('name', PARAMETER_FILES)
def test_every_value_has_the_type_ros_expects(name):
    for key, value in read(name).items():
        if key in TEXTS:
            assert isinstance(value, str), key
        elif key in FLAGS:
            assert isinstance(value, bool), key
        elif key in LISTS:
            assert len(value) == LISTS[key], key
            assert all(map(is_float, value)), key
        elif key in LISTS_OF_TEXT:
            assert all(isinstance(entry, str) for entry in value), key
        elif key in LISTS_OF_NUMBERS:
            assert all(map(is_float, value)), key
        else:
            assert is_float(value), f'{key}: {value!r} is no float'


@pytest.mark.parametrize('name', PARAMETER_FILES)
def test_every_value_is_in_its_range(name):
    for key, value in read(name).items():
        if key in WORDS:
            assert value in WORDS[key]
        elif is_float(value):
            is_off = value == 0.0 and key in ZERO_MEANS_OFF
            as_fits = value == -1.0 and key in MINUS_ONE_MEANS_AS_FITS
            assert value > 0.0 or is_off or as_fits, key
    assert read(name).get('max_joint_velocity_fraction', 1.0) <= 1.0


@pytest.mark.parametrize('name', PRESETS)
def test_presets_set_known_parameters_only(name):
    assert read(f'arms/{name}').keys() <= read('fabrik.yaml').keys()


@pytest.mark.parametrize('name', PRESETS)
def test_presets_name_both_links(name):
    preset = read(f'arms/{name}')
    assert preset['base_link']
    assert preset['tip_link']


@pytest.mark.parametrize('name', PRESETS)
def test_presets_say_who_takes_the_commands(name):
    text = (CONFIG / 'arms' / name).read_text()
    said = re.search(r'# Who takes the commands: .*?\n(/\*\*|#\n)', text, re.DOTALL)[0]
    preset = read(f'arms/{name}')
    kinds = {'trajectory': 'trajectory_topic', 'array': 'array_topic'}
    (topic,) = [preset[topic] for kind, topic in kinds.items() if kind in preset['output']]
    controller, command = topic.split('/')
    assert controller in said
    assert f'/{command}' in said


def test_a_comment_precedes_every_parameter():
    """Above each key, or above the group of keys that it closes."""
    commented = False
    for line in (CONFIG / 'fabrik.yaml').read_text().splitlines():
        text = line.strip()
        if text.startswith('#'):
            commented = True
        elif not text:
            commented = False
        else:
            assert commented, text


@pytest.mark.parametrize('name', PARAMETER_FILES)
def test_ros_reads_the_file(name):
    rclpy = pytest.importorskip('rclpy')
    from fabrik_ros.ros.parameters.declared_parameters import declare

    arguments = ['--ros-args', '--params-file', str(CONFIG / name)]
    with rclpy.init(context=(context := rclpy.Context())):
        node = rclpy.create_node(
            'any_name',
            namespace='any/where',
            context=context,
            cli_args=arguments,
        )
        declare(node)
        for key, value in read(name).items():
            received = node.get_parameter(key).value
            assert (list(received) if isinstance(value, list) else received) == value, key
        node.destroy_node()


def test_fast_dds_has_no_thread_that_takes_types():
    pytest.importorskip('rclpy')
    threads = '/proc/self/task/*/comm'
    listed = f'import glob; print(*(open(path).read().strip() for path in glob.glob({threads!r})))'
    program = f'import rclpy; rclpy.init(); node = rclpy.create_node("any"); {listed}'
    profile = {'FASTDDS_DEFAULT_PROFILES_FILE': str(CONFIG / 'fast_dds.xml')}
    said = subprocess.run(
        [sys.executable, '-c', program], env=os.environ | profile, capture_output=True, text=True
    )
    assert said.returncode == 0, said.stderr
    assert 'dds.' in said.stdout, 'another middleware'
    assert 'dds.tls' not in said.stdout


@pytest.fixture(scope='module')
def rviz():
    return yaml.safe_load((CONFIG / 'demo.rviz').read_text())['Visualization Manager']


def display(rviz, kind):
    return [entry for entry in rviz['Displays'] if entry['Class'].endswith(f'/{kind}')]


def test_rviz_takes_the_model_from_a_latched_topic(rviz):
    (model,) = display(rviz, 'RobotModel')
    topic = model['Description Topic']
    assert model['Description Source'] == 'Topic'
    assert topic['Value'] == '/robot_description'
    assert topic['Durability Policy'] == 'Transient Local'
    assert topic['Reliability Policy'] == 'Reliable'


def test_rviz_shows_the_handles_where_launch_files_remap_them(rviz):
    (handles,) = display(rviz, 'InteractiveMarkers')
    assert handles['Enabled']
    assert handles['Interactive Markers Namespace'] == '/fabrik/drag_target'
    assert any(tool['Class'].endswith('/Interact') for tool in rviz['Tools'])


def test_rviz_shows_what_the_node_publishes(rviz):
    shown = {entry['Topic']['Value'] for entry in rviz['Displays'] if 'Topic' in entry}
    assert shown == {'/fabrik/markers', '/fabrik/scene_markers'}, 'all of them have lifetimes'
    markers, scene = display(rviz, 'MarkerArray')
    assert scene['Topic']['Durability Policy'] == 'Transient Local', 'a scene is sent once'
    assert markers['Namespaces'] == {'fabrik/reach': False}, 'the rest is on'
    assert rviz['Global Options']['Fixed Frame'] == 'base_link'
    assert display(rviz, 'Grid')
    assert not any(entry['Enabled'] for entry in display(rviz, 'TF'))


def linear(color):
    """Parts of an sRGB colour in proportion to light, each in [0, 1]."""
    return [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in color]


def weighted(shares, parts):
    return sum(share * part for share, part in zip(shares, parts, strict=True))


def contrast(color, other):
    """Contrast as WCAG 2 has it, from 1 to 21."""
    shares = 0.2126, 0.7152, 0.0722
    darker, lighter = sorted(0.05 + weighted(shares, linear(c)) for c in (color, other))
    return lighter / darker


def lab(color):
    """Return a colour in CIE L*a*b*, D65."""
    rows = ((0.4124, 0.3576, 0.1805), (0.2126, 0.7152, 0.0722), (0.0193, 0.1192, 0.9505))
    white = (0.9505, 1.0, 1.089)
    x, y, z = (
        (weighted(row, linear(color)) / w) ** (1 / 3) for row, w in zip(rows, white, strict=True)
    )
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def test_words_and_lines_can_be_read_and_told_apart(rviz):
    pytest.importorskip('std_msgs', reason='ROS 2 is not installed')
    from fabrik_ros.ros.messages import palette

    background = rviz['Global Options']['Background Color']
    backgrounds = [tuple(int(c) / 255 for c in background.split(';')), (48 / 255,) * 3]

    def rgb(name):
        color = getattr(palette, name)
        return color.r, color.g, color.b

    for name in ('GREY', 'WHITE', 'VIOLET', 'BLUE', 'GREEN', 'YELLOW', 'RED'):
        for behind in backgrounds:
            assert contrast(rgb(name), behind) >= 3.0, f'{name}: WCAG 2, large text'
    drawn = [lab(rgb(name)) for name in ('CHAIN', 'GHOST', 'ERROR', 'COLLIDING')]
    path = [lab((color.r, color.g, color.b)) for color in palette.SPEEDS]
    for k, one in enumerate(drawn):
        for other in (*drawn[:k], *path):
            assert math.dist(one, other) > 25.0, 'ten just noticeable differences'


def test_robot_is_solid_and_its_ghost_is_not(rviz):
    pytest.importorskip('std_msgs', reason='ROS 2 is not installed')
    from fabrik_ros.ros.messages import palette

    (model,) = display(rviz, 'RobotModel')
    assert model['Alpha'] == 1
    assert 0.5 < palette.GHOST.a < 0.9
