"""`fabrik_ros info`: what it prints of robots, judged by pinocchio, and its errors."""

from pathlib import Path
import subprocess
import sys

from helpers import example_robot, joint_xml, REAL_ARMS, robot_xml
from process import environment, run, without_ros
import pytest


@pytest.fixture
def write(tmp_path):
    """Write a URDF file."""

    def write(text):
        path = tmp_path / 'robot.urdf'
        path.write_text(text)
        return path

    return write


@pytest.fixture
def without_meshes(write):
    """Write the URDF of a real robot whose meshes are nowhere: dividing them takes seconds."""

    def without_meshes(name):
        return write(example_robot(name).read_text().replace('package://', 'package://nowhere/'))

    return without_meshes


@pytest.mark.parametrize('name', ['ur5', 'panda'])
def test_joints_are_those_pinocchio_reads(without_meshes, name):
    pinocchio = pytest.importorskip('pinocchio', reason='pinocchio is the judge')
    path = without_meshes(name)
    ended = run('info', path)
    assert ended.code == 0, ended.complained
    model = pinocchio.buildModelFromUrdf(str(path))
    lines = ended.printed.split('joints:\n')[1].splitlines()
    rows = {line.split()[0]: line for line in lines if line.startswith('  ')}
    for joint, name in list(zip(model.joints, model.names, strict=True))[1:]:
        row = rows[name]
        unit = 'm ' if joint.shortname().startswith('JointModelP') else 'rad '
        lower = model.lowerPositionLimit[joint.idx_q]
        upper = model.upperPositionLimit[joint.idx_q]
        assert f'{lower:.6g} .. {upper:.6g} {unit}' in row
        assert f'{model.velocityLimit[joint.idx_v]:.6g} ' in row


def test_chain_is_that_of_the_library_and_says_what_was_left_out(without_meshes):
    printed = run('info', without_meshes('panda')).printed
    arm = REAL_ARMS['panda']
    assert f"chain: from '{arm.base_link}' to '{arm.tip_link}'" in printed
    assert 'left out: the gripper: panda_finger_joint1, panda_finger_joint2' in printed
    assert '= 1 * panda_finger_joint1 + 0' in printed


def test_several_arms_are_listed_instead_of_a_chain(without_meshes):
    ended = run('info', without_meshes('baxter'))
    assert ended.code == 0
    assert 'chain: none is taken by itself: several chains start at' in ended.printed
    assert "tip_link: 'left_gripper" in ended.printed
    assert '--tip-link' in ended.printed


def test_named_links_are_taken(without_meshes):
    arm = REAL_ARMS['baxter']
    words = ('--base-link', arm.base_link, '--tip-link', arm.tip_link)
    printed = run('info', without_meshes('baxter'), *words).printed
    assert f"chain: from 'torso' to '{arm.tip_link}'" in printed
    assert (
        '7 joint values: left_s0, left_s1, left_e0, left_e1, left_w0, left_w1, left_w2' in printed
    )


def test_joints_of_every_type_have_their_units(write):
    robot = robot_xml(
        'base a b c d',
        joint_xml('lift', 'base', 'a', 'prismatic'),
        joint_xml('spin', 'a', 'b', 'continuous'),
        joint_xml('glued', 'b', 'c', 'fixed'),
        joint_xml('drift', 'c', 'd', 'floating'),
    )
    printed = run('info', write(robot)).printed
    rows = {line.split()[0]: line.split(maxsplit=5)[5:] for line in printed.splitlines()}
    assert rows['lift'] == ['-1 .. 1 m  2 m/s']
    assert rows['spin'] == ['none       not given']
    assert rows['glued'] == rows['drift'] == []
    assert 'what hangs on planar and floating joints: drift' in printed


def test_limits_of_acceleration_and_jerk_are_shown(write):
    limit = '<limit lower="-1" upper="1" velocity="2" acceleration="5" {}/>'
    robot = robot_xml(
        'base a b c',
        joint_xml('lift', 'base', 'a', 'prismatic', limit.format('deceleration="2.5" jerk="60"')),
        joint_xml('turn', 'a', 'b', body=limit.format('deceleration="5"')),
        joint_xml('wrist', 'b', 'c'),
        attributes='name="r" version="1.2"',
    )
    printed = run('info', write(robot)).printed
    rows = {line.split()[0]: line for line in printed.splitlines()}
    assert rows['lift'].endswith(
        '2 m/s     acceleration 5 m/s², deceleration 2.5 m/s², jerk 60 m/s³'
    )
    assert rows['turn'].endswith('2 rad/s   acceleration 5 rad/s²')
    assert rows['wrist'].endswith('2 rad/s')


def test_bundled_arms_are_known_by_name():
    pytest.importorskip('xacro')
    assert "chain: from 'base_link' to 'tool0'" in run('info', 'six_axis').printed


@pytest.mark.parametrize(
    ('name', 'words'),
    [
        ('missing.urdf', "there is no file 'missing.urdf'"),
        ('eight_axis', "no bundled arm 'eight_axis'; there are: planar_two_link"),
        ('/', "'/' is neither URDF text nor a file that can be read: Is a directory"),
    ],
)
def test_what_is_no_file_is_named(name, words):
    assert words in run('info', name).error()


@pytest.mark.parametrize(
    ('text', 'words'),
    [
        ('', 'not well-formed XML: no element found'),
        ('hello', 'not well-formed XML'),
        ('<html/>', 'the outermost element is <html>; a URDF starts with <robot>'),
        ('<robot name="r"/>', 'link'),
    ],
)
def test_file_that_is_no_urdf_is_refused_in_one_line(write, text, words):
    ended = run('info', write(text))
    assert words in ended.error()
    assert len(ended.complained.strip().splitlines()) == 1


def test_unknown_link_is_named(six_axis):
    assert "no link named 'tool1'" in run('info', six_axis, '--tip-link', 'tool1').error()


def test_malformed_xacro_argument_is_named(six_axis):
    error = run('info', six_axis, '--xacro-args', 'ur_type=ur5e').error()
    assert "must be NAME:=VALUE, got 'ur_type=ur5e'" in error


def test_neither_ros_nor_numba_is_needed(six_axis, tmp_path):
    ended = run('info', six_axis, **without_ros(tmp_path))
    assert ended.code == 0, ended.complained


def test_neither_ros_nor_another_subcommand_is_loaded(six_axis):
    code = (
        'import sys\nfrom fabrik_ros.cli.main import main\n'
        f'try: main(["info", {str(six_axis)!r}])\nexcept SystemExit as end: assert end.code == 0\n'
        'print("LOADED", *sys.modules)'
    )
    # The wheels of ROS load rclpy as Python starts, unless told that they have.
    done = subprocess.run(
        [sys.executable, '-c', code],
        env=environment(_ROS_WHEELS_BOOTSTRAP_COMPLETE='1'),
        capture_output=True,
        text=True,
        check=True,
    )
    loaded = set(done.stdout.split('LOADED')[1].split())
    assert 'fabrik_ros.cli.info' in loaded
    assert not loaded & {'rclpy', 'coal', 'mujoco', 'viser', 'matplotlib'}
    assert not loaded & {'fabrik_ros.cli.solve', 'fabrik_ros.cli.target', 'fabrik_ros.cli.doctor'}


BALL = '<collision><geometry><sphere radius="0.1"/></geometry></collision>'
EMPTY = '<collision><geometry><mesh filename="empty.stl"/></geometry></collision>'
LOST = '<collision><geometry><mesh filename="package://nowhere/{}.stl"/></geometry></collision>'


@pytest.mark.parametrize(
    ('shapes', 'said'),
    [
        (('', ''), 'self-collision checking is off: no link has a shape'),
        ((BALL, ''), "self-collision checking is off: no link but 'base' has a shape"),
        ((LOST, LOST), "missing shape: link 'base', package://nowhere/base.stl: no such file"),
        ((LOST, LOST), "missing shape: link 'tip', package://nowhere/tip.stl: no such file"),
        ((EMPTY, BALL), "missing shape: link 'base', empty.stl: "),
        ((BALL, LOST), "self-collision checking is off: no link but 'base' has a shape"),
        ((BALL, BALL), ''),
    ],
)
def test_robot_whose_links_have_no_shapes_is_said_to_be_unchecked(write, shapes, said):
    names = ('base', 'tip')
    links = [
        f'<link name="{name}">{shape.format(name)}</link>'
        for name, shape in zip(names, shapes, strict=True)
    ]
    joint = joint_xml('j', *names, 'continuous', '<axis xyz="0 0 1"/>')
    file = write(robot_xml('', *links, joint))
    (Path(file).parent / 'empty.stl').write_text('solid nothing\nendsolid nothing\n')
    printed = run('info', file).printed
    assert said in printed
    assert ('self-collision' in printed) == bool(said)


def test_package_in_a_folder_of_another_name_is_found_where_it_is_said(write, tmp_path):
    folder = tmp_path / 'other' / 'meshes'
    folder.mkdir(parents=True)
    (folder / 'base.obj').write_text('v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 2 3\nf 1 2 4\n')
    mesh = LOST.format('base').replace('nowhere/base.stl', 'arm/meshes/base.obj')
    file = write(robot_xml('', f'<link name="base">{mesh}</link>'))
    assert 'missing shape' in run('info', file).printed
    named = run('info', file, '--mesh-path', f'arm={folder.parent}').printed
    assert 'missing shape' not in named
