"""What the arguments of the launch files mean; none of this needs `launch`."""

from pathlib import Path
import re
import shlex
import shutil
import sys

import pytest

pytest.importorskip('ament_index_python', reason='comes with ROS 2; in the extra: ros')

from fabrik_ros.ros.launching.launch_arguments import (
    description_command,
    find_description,
    find_file,
    find_preset,
    LaunchArgumentError,
    output_parameters,
    read_joint_values,
    read_pairs,
    require_packages,
    resolve_private,
)

ACME = 'acme_description/urdf/acme.urdf.xacro'


@pytest.fixture
def with_xacro(monkeypatch):
    monkeypatch.setattr(shutil, 'which', lambda name, path: name)


@pytest.mark.parametrize('description', [ACME, f'package://{ACME}'])
def test_description_is_found_inside_a_package(prefix, description):
    expected = prefix.share('acme_description') / 'urdf' / 'acme.urdf.xacro'
    assert find_description(description) == expected


@pytest.mark.parametrize(
    ('controller', 'output', 'parameters'),
    [
        ('', '', {}),
        ('', 'joint_state', {'output': ['joint_state']}),
        ('', 'trajectory', {'output': ['joint_state', 'trajectory']}),
        (
            'jtc',
            '',
            {'output': ['joint_state', 'trajectory'], 'trajectory_topic': 'jtc/joint_trajectory'},
        ),
        (
            '/a/jtc',
            'trajectory',
            {
                'output': ['joint_state', 'trajectory'],
                'trajectory_topic': '/a/jtc/joint_trajectory',
            },
        ),
        ('fpc', 'array', {'output': ['joint_state', 'array'], 'array_topic': 'fpc/commands'}),
    ],
)
def test_controller_and_output_say_who_takes_the_commands(controller, output, parameters):
    assert output_parameters(controller, output) == parameters


@pytest.mark.parametrize(
    ('controller', 'output', 'said'),
    [
        ('jtc', 'joint_state', 'choose output:=trajectory or output:=array'),
        ('jtc/joint_trajectory', '', 'give controller:=jtc'),
        ('/fpc/commands', 'array', 'give controller:=/fpc'),
        ('my controller', '', "'my controller' is no name of a controller"),
        ('2nd', '', "'2nd' is no name of a controller"),
        ('jtc/', '', "'jtc/' is no name of a controller"),
    ],
)
def test_controller_that_cannot_be_is_refused_with_the_cure(controller, output, said):
    with pytest.raises(LaunchArgumentError, match=re.escape(said)):
        output_parameters(controller, output)


def test_description_may_be_an_absolute_path(prefix, tmp_path):
    model = tmp_path / 'arm.urdf'
    model.touch()
    assert find_description(str(model)) == model


def test_description_may_be_relative_to_the_working_directory(prefix, tmp_path, monkeypatch):
    (tmp_path / 'models').mkdir()
    (tmp_path / 'models' / 'arm.urdf').touch()
    monkeypatch.chdir(tmp_path)
    assert find_description('models/arm.urdf') == tmp_path / 'models' / 'arm.urdf'


def test_home_directory_is_expanded(prefix, tmp_path, monkeypatch):
    monkeypatch.setenv('HOME', str(tmp_path))
    (tmp_path / 'arm.urdf').touch()
    assert find_description('~/arm.urdf') == tmp_path / 'arm.urdf'


def test_package_goes_before_a_folder_of_the_same_name(prefix, tmp_path, monkeypatch):
    model = tmp_path / ACME
    model.parent.mkdir(parents=True)
    model.touch()
    monkeypatch.chdir(tmp_path)
    assert find_description(ACME).is_relative_to(prefix.folder)
    assert find_description(f'./{ACME}') == model


@pytest.mark.parametrize(
    ('description', 'reason'),
    [
        ('/nowhere/arm.urdf', 'there is no such file'),
        ('nowhere/arm.urdf', "nowhere/arm.urdf' is no file and no package 'nowhere' is installed"),
        ('arm.urdf', "no package 'arm.urdf' is installed"),
        ('acme_description/arm.urdf', "package 'acme_description' has urdf/acme.urdf.xacro"),
        ('acme_description/urdf', 'that is a directory; name the .urdf or .xacro file'),
        ('rviz2/arm.urdf', "package 'rviz2' has no .urdf or .urdf.xacro file at all"),
    ],
)
def test_missing_description_says_where_it_was_looked_for(prefix, description, reason):
    with pytest.raises(LaunchArgumentError, match=f"no description '{description}'") as caught:
        find_description(description)
    assert reason in str(caught.value)


def test_without_any_installation_paths_still_work(tmp_path, monkeypatch):
    monkeypatch.delenv('AMENT_PREFIX_PATH', raising=False)
    model = tmp_path / 'arm.urdf'
    model.touch()
    assert find_description(str(model)) == model
    with pytest.raises(LaunchArgumentError, match="no package 'acme_description' is installed"):
        find_description(ACME)


def test_description_command_expands_with_arguments(prefix, with_xacro):
    command = shlex.split(description_command(ACME, 'size:=2 "name:=two words"'))
    assert command[0] == 'xacro'
    assert Path(command[1]).name == 'acme.urdf.xacro'
    assert command[2:] == ['size:=2', 'name:=two words']


def test_description_command_keeps_spaces_in_a_path(prefix, with_xacro, tmp_path):
    model = tmp_path / 'my arm.urdf'
    model.touch()
    assert shlex.split(description_command(str(model))) == ['xacro', str(model)]


@pytest.mark.parametrize(
    ('text', 'program'),
    [
        ('<robot><link name="a"/></robot>', 'xacro'),
        ('<robot xmlns:xacro="http://ros.org/wiki/xacro"><xacro:arg name="a"/></robot>', 'xacro'),
        ('<robot><link name="a" drake:b="1"/></robot>', 'cat'),
        ('<robot><!-- a -- b --><link name="a"/></robot>', 'cat'),
        ('<robot><link name="a"></robot>', 'xacro'),
    ],
)
def test_what_only_urdfdom_reads_is_printed_as_it_is(prefix, with_xacro, tmp_path, text, program):
    model = tmp_path / 'arm.urdf'
    model.write_text(text)
    assert shlex.split(description_command(str(model))) == [program, str(model)]


def test_xacro_beside_the_interpreter_is_found(prefix, monkeypatch):
    python = prefix.folder / 'bin' / 'python'
    xacro = python.with_name('xacro')
    xacro.parent.mkdir()
    xacro.touch(mode=0o755)
    monkeypatch.setattr(sys, 'executable', str(python))
    monkeypatch.setenv('PATH', '')
    assert shlex.split(description_command(ACME))[0] == str(xacro)


def test_missing_xacro_is_named(prefix, monkeypatch):
    monkeypatch.setattr(shutil, 'which', lambda name, path: None)
    with pytest.raises(LaunchArgumentError, match='install the package xacro'):
        description_command(ACME)


def test_pairs_are_read():
    assert read_pairs('ur_type:=ur5e name:=ur', 'xacro_args') == {'ur_type': 'ur5e', 'name': 'ur'}
    assert read_pairs('', 'xacro_args') == {}
    assert read_pairs('tf_prefix:=', 'xacro_args') == {'tf_prefix': ''}


@pytest.mark.parametrize('word', ['ur5e', 'ur_type=ur5e', ':=ur5e'])
def test_malformed_pair_is_named(word):
    with pytest.raises(LaunchArgumentError, match=f"xacro_args: '{word}' is not of the form"):
        read_pairs(f'name:=ur {word}', 'xacro_args')


def test_unclosed_quote_is_an_error():
    with pytest.raises(LaunchArgumentError, match='unclosed quote'):
        read_pairs('name:="ur', 'xacro_args')


def test_joint_values_are_numbers():
    assert read_joint_values('elbow:=1.5 lift:=-1', 'initial_joints') == {
        'elbow': 1.5,
        'lift': -1.0,
    }
    with pytest.raises(LaunchArgumentError, match="initial_joints: 'up' for 'elbow' is no number"):
        read_joint_values('elbow:=up', 'initial_joints')


def test_missing_packages_are_named_with_a_cure(prefix, monkeypatch):
    monkeypatch.setenv('ROS_DISTRO', 'jazzy')
    require_packages(['robot_state_publisher', 'rviz2'])
    prefix.remove_package('robot_state_publisher')
    with pytest.raises(
        LaunchArgumentError, match='not installed: robot_state_publisher;'
    ) as caught:
        require_packages(['robot_state_publisher', 'rviz2'])
    assert str(caught.value).endswith('sudo apt install ros-jazzy-robot-state-publisher')


def test_missing_file_names_the_argument(tmp_path):
    with pytest.raises(LaunchArgumentError, match=r"params_file: '.*no\.yaml' is no file"):
        find_file(str(tmp_path / 'no.yaml'), 'params_file')


def test_preset_is_a_bundled_name_or_a_file(prefix, tmp_path):
    assert find_preset('ur5e').name == 'ur5e.yaml'
    own = tmp_path / 'own.yaml'
    own.touch()
    assert find_preset(str(own)) == own
    with pytest.raises(LaunchArgumentError, match='these are: franka_fr3, so101, ur5e'):
        find_preset('ur55')


@pytest.mark.parametrize(
    ('topic', 'seen_by_others'),
    [
        ('~/joint_command', 'fabrik/joint_command'),
        ('joint_command', 'joint_command'),
        ('/left/joint_command', '/left/joint_command'),
    ],
)
def test_private_topics_are_written_out_for_other_nodes(topic, seen_by_others):
    assert resolve_private(topic, 'fabrik') == seen_by_others
