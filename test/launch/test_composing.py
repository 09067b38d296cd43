"""
Launch files of another package that include those of this one, run for real.

They include two arms, without a group of their own, and write down their own launch
configurations before and afterwards.

"""

import json
from pathlib import Path

import pytest

# A plain `launch` would find the folder of that name in the checkout.
pytest.importorskip('launch_ros.actions', reason='launch_ros comes with a ROS 2 installation')
pytest.importorskip('xacro', reason='the descriptions are expanded by xacro')

ACME = 'acme_description/urdf/acme.urdf.xacro'
OWN = {
    'description': 'my description',
    'model': 'my model',
    'namespace': 'mine',
    'tip_link': 'my_tip',
    'unrelated': 'my own',
}
INCLUDER = """
import json, pathlib
from launch import LaunchDescription
from launch.actions import (
    GroupAction, IncludeLaunchDescription, OpaqueFunction, SetLaunchConfiguration
)
from launch.substitutions import LaunchConfiguration, PathJoinSubstitution
from launch_ros.actions import PushRosNamespace
from launch_ros.substitutions import FindPackageShare

def write_down(context, name):
    path = pathlib.Path({folder!r}, name + '.json')
    path.write_text(json.dumps(dict(context.launch_configurations)))

def generate_launch_description():
    share = FindPackageShare('fabrik_ros')
    return LaunchDescription([
        *[SetLaunchConfiguration(name, value) for name, value in {own!r}.items()],
        *[PushRosNamespace(name) for name in {pushed!r}],
        OpaqueFunction(function=write_down, args=['before']),
        *[
            IncludeLaunchDescription(
                PathJoinSubstitution([share, 'launch', file]), launch_arguments=given.items()
            )
            for file, given in {includes!r}
        ],
        OpaqueFunction(function=write_down, args=['after']),
    ])
"""


class Includer:
    """A launch file of another package, and what it saw of its own configurations."""

    def __init__(self, prefix, folder: Path):
        self._prefix, self._folder = prefix, folder

    def launch(self, *includes, own=None, pushed=()):
        """Include launch files, each with its arguments, one after the other."""
        path = self._folder / 'includer.launch.py'
        path.write_text(
            INCLUDER.format(
                folder=str(self._folder), own=own or {}, pushed=list(pushed), includes=includes
            )
        )
        return self._prefix.launch(str(path))

    def configurations(self, moment: str) -> dict[str, str]:
        return json.loads((self._folder / f'{moment}.json').read_text())


@pytest.fixture
def includer(prefix, tmp_path):
    return Includer(prefix, tmp_path)


def test_two_arms_that_are_included_one_after_the_other_keep_apart(includer):
    left = {
        'description': ACME,
        'namespace': 'left',
        'xacro_args': 'size:=3',
        'tip_link': 'left_tool',
        'arm': 'so101',
        'simulate': 'true',
        'initial_joints': 'elbow:=1.5',
        'joint_states': 'left_states',
        'node_name': 'ik',
        'use_sim_time': 'true',
        'log_level': 'debug',
    }
    right = {'description': ACME, 'namespace': 'right', 'simulate': 'true', 'rviz': 'true'}
    launched = includer.launch(('bringup.launch.py', left), ('bringup.launch.py', right))
    arms = {'fabrik_node', 'robot_state_publisher', 'joint_state_publisher'}
    check_left_arm(launched.inside('/left'), arms)
    check_right_arm(launched.inside('/right'), arms)
    assert len(launched.started) == 2 * len(arms) + 2


def check_left_arm(processes, arms):
    assert set(processes) == arms
    node, publisher, joints = (processes[name] for name in sorted(arms, key=order))
    assert node.remappings['__node'] == 'ik'
    assert node.parameters['tip_link'] == 'left_tool'
    assert node.parameters['command_rate'] == 50.0, 'as the preset says'
    assert 'debug' in node.arguments
    assert 'base_of_size_3' in publisher.parameters['robot_description']
    assert joints.parameters['source_list'] == ['ik/joint_command']
    assert joints.parameters['zeros.elbow'] == 1.5
    for process in processes.values():
        assert process.remappings['joint_states'] == 'left_states'
        assert process.parameters['use_sim_time'] is True


def check_right_arm(processes, arms):
    """Everything that was not given is as if there were no other arm."""
    assert set(processes) == {*arms, 'rviz2', 'drag_target'}
    node, publisher, joints = (processes[name] for name in sorted(arms, key=order))
    assert node.remappings['__node'] == 'fabrik'
    assert node.parameters['tip_link'] == ''
    assert node.parameters['command_rate'] == 100.0
    assert 'debug' not in node.arguments
    assert 'base_of_size_1' in publisher.parameters['robot_description']
    assert joints.parameters['source_list'] == ['fabrik/joint_command']
    assert 'zeros.elbow' not in joints.parameters
    assert '-f' not in processes['rviz2'].arguments
    assert processes['drag_target'].parameters['node'] == 'fabrik'
    for process in (node, publisher, joints):
        assert process.remappings['joint_states'] == 'joint_states'
        assert not process.parameters.get('use_sim_time', False)


def order(name):
    return ['fabrik_node', 'robot_state_publisher', 'joint_state_publisher'].index(name)


@pytest.mark.parametrize(
    ('file', 'arguments'),
    [
        ('bringup.launch.py', {'description': ACME}),
        ('demo.launch.py', {'rviz': 'false'}),
        ('fabrik.launch.py', {'description': ACME}),
        ('attach.launch.py', {'arm': 'ur5e'}),
    ],
)
def test_configurations_of_the_includer_are_as_before(includer, file, arguments):
    given = [
        {**arguments, 'namespace': side, 'node_name': f'ik_{side}', 'tip_link': f'{side}_tip'}
        for side in ('left', 'right')
    ]
    launched = includer.launch((file, given[0]), (file, given[1]), own=OWN)
    before, after = (includer.configurations(moment) for moment in ('before', 'after'))
    assert before == after
    assert OWN.items() <= after.items()
    for side in ('left', 'right'):
        node = launched.inside(f'/{side}')['fabrik_node']
        assert node.remappings['__node'] == f'ik_{side}'


def test_files_of_different_kinds_do_not_meet(includer):
    launched = includer.launch(
        ('demo.launch.py', {'namespace': 'shown', 'rviz': 'false'}),
        ('attach.launch.py', {'namespace': 'real', 'arm': 'ur5e', 'rviz': 'true'}),
        ('fabrik.launch.py', {'namespace': 'alone'}),
    )
    assert set(launched.inside('/real')) == {'fabrik_node', 'rviz2'}
    assert set(launched.inside('/alone')) == {'fabrik_node'}
    frames = {side: launched.inside(f'/{side}')['fabrik_node'] for side in ('shown', 'real')}
    assert frames['shown'].remappings['/tf'] == 'tf'
    assert frames['real'].remappings['/tf'] == '/tf'
    alone = launched.inside('/alone')['fabrik_node'].parameters
    assert alone['tip_link'] == ''
    assert 'array_topic' in alone
    assert alone['output'] == ['joint_state']


def test_configurations_that_an_includer_has_reach_the_arm_as_launch_has_it(includer):
    """So `ros2 launch acme acme.launch.py log_level:=debug` reaches everything."""
    launched = includer.launch(
        ('bringup.launch.py', {'description': ACME}), own={'log_level': 'debug'}
    )
    assert 'debug' in launched.processes['fabrik_node'].arguments


def test_namespace_that_the_includer_pushed_comes_in_front(includer):
    launched = includer.launch(
        ('bringup.launch.py', {'description': ACME, 'namespace': 'left'}),
        ('attach.launch.py', {'arm': 'ur5e'}),
        pushed=['cell'],
    )
    assert set(launched.inside('/cell/left')) == {'fabrik_node', 'robot_state_publisher'}
    assert set(launched.inside('/cell')) == {'fabrik_node'}
    assert includer.configurations('before') == includer.configurations('after')
