"""
The shipped launch files, run for real but with recording stand-ins for what they start.

This needs `launch_ros`, which comes with a ROS installation and not from PyPI.

"""

from importlib.util import find_spec
from pathlib import Path

import pytest

# A plain `launch` would find the folder of that name in the checkout.
pytest.importorskip('launch_ros.actions', reason='launch_ros comes with a ROS 2 installation')
pytest.importorskip('xacro', reason='the descriptions are expanded by xacro')

from fabrik_ros import parse_urdf
from fabrik_ros.ros.launching.rviz_view import fitted_to
from launch.launch_description_sources import get_launch_description_from_python_launch_file
from two_arms import TIPS, two_arms_xml

yaml = pytest.importorskip('yaml', reason='PyYAML reads what RViz is opened with')

LAUNCH = Path(__file__).parents[2] / 'launch'
LAUNCH_FILES = sorted(path.name for path in LAUNCH.glob('*.launch.py'))
with_mujoco = pytest.mark.skipif(
    find_spec('mujoco') is None, reason='the extra `sim`: pip install mujoco'
)
CONFIG = Path(__file__).parents[2] / 'config'
ENDS = '<axis xyz="0 1 0"/><limit lower="-3" upper="3" velocity="1" effort="1"/>'
TWO_JOINTS = f"""<robot name="two"><link name="plate"/><link name="shoulder"/><link name="upper"/>
<link name="lower"/><link name="tip"/>
<joint name="fix" type="fixed"><parent link="plate"/><child link="shoulder"/></joint>
<joint name="a" type="revolute"><parent link="shoulder"/><child link="upper"/>{ENDS}</joint>
<joint name="b" type="revolute"><parent link="upper"/><child link="lower"/>
<origin xyz="0.3 0 0"/>{ENDS}</joint>
<joint name="tool" type="fixed"><parent link="lower"/><child link="tip"/>
<origin xyz="0.3 0 0"/></joint></robot>"""
"""Two links of 0.3 m that turn about y."""
ACME = 'description:=acme_description/urdf/acme.urdf.xacro'


@pytest.mark.parametrize('launch_file', LAUNCH_FILES)
def test_every_argument_is_described(prefix, launch_file):
    description = get_launch_description_from_python_launch_file(str(LAUNCH / launch_file))
    arguments = description.get_launch_arguments()
    assert arguments
    for argument in arguments:
        assert argument.description not in ('', 'no description given'), argument.name


def names_of_arguments(launch_file):
    description = get_launch_description_from_python_launch_file(str(LAUNCH / launch_file))
    return {argument.name for argument in description.get_launch_arguments()}


def test_demo_and_bringup_take_the_arguments_of_the_node(prefix):
    node, bringup, demo = (
        names_of_arguments(f'{name}.launch.py') for name in ('fabrik', 'bringup', 'demo')
    )
    assert node < bringup <= demo


def test_attach_takes_the_arguments_of_the_node_but_for_its_description(prefix):
    node, attach = (names_of_arguments(f'{name}.launch.py') for name in ('fabrik', 'attach'))
    assert attach == node - {'description', 'xacro_args'} | {'rviz', 'rviz_config', 'drag'}


def test_fabrik_starts_nothing_but_the_node(prefix):
    launched = prefix.launch('fabrik.launch.py')
    assert set(launched.processes) == {'fabrik_node'}
    node = launched.processes['fabrik_node']
    assert node.remappings['__node'] == 'fabrik'
    assert node.parameters['command_rate'] == 100.0
    assert 'robot_description' not in node.parameters


def test_arguments_win_over_preset_and_preset_over_defaults(prefix):
    launched = prefix.launch('fabrik.launch.py', 'arm:=so101', 'tip_link:=my_tool')
    parameters = launched.processes['fabrik_node'].parameters
    assert parameters['tip_link'] == 'my_tool'
    assert parameters['base_link'] == 'base_link'
    assert parameters['command_rate'] == 50.0
    assert parameters['path'] == 'auto'


def test_arguments_not_given_leave_the_params_file_alone(prefix, tmp_path):
    own = tmp_path / 'own.yaml'
    own.write_text('/**:\n  ros__parameters:\n    autostart: false\n    tip_link: flange\n')
    launched = prefix.launch('fabrik.launch.py', f'params_file:={own}')
    parameters = launched.processes['fabrik_node'].parameters
    assert parameters == {'autostart': False, 'tip_link': 'flange'}


def test_link_names_that_look_like_numbers_stay_text(prefix):
    launched = prefix.launch('fabrik.launch.py', 'tip_link:=7', 'use_sim_time:=true')
    parameters = launched.processes['fabrik_node'].parameters
    assert parameters['tip_link'] == '7'
    assert parameters['use_sim_time'] is True


def test_every_topic_can_be_remapped(prefix):
    launched = prefix.launch(
        'fabrik.launch.py',
        'target_pose:=/teleop/goal',
        'joint_command:=commands',
        'diagnostics:=diagnostics',
        'log_level:=debug',
    )
    node = launched.processes['fabrik_node']
    assert node.remappings['~/target_pose'] == '/teleop/goal'
    assert node.remappings['~/joint_command'] == 'commands'
    assert node.remappings['/diagnostics'] == 'diagnostics'
    assert node.remappings['joint_states'] == 'joint_states'
    assert '--log-level' in node.arguments
    assert 'debug' in node.arguments


def test_fabrik_can_read_the_model_from_a_file(prefix):
    launched = prefix.launch('fabrik.launch.py', ACME, 'xacro_args:=size:=3')
    model = launched.processes['fabrik_node'].parameters['robot_description']
    assert 'base_of_size_3' in model


def test_attach_starts_the_node_with_a_preset_and_publishes_no_description(prefix):
    launched = prefix.launch('attach.launch.py', 'arm:=ur5e', 'joint_states:=/ur/joint_states')
    node = launched.processes['fabrik_node']
    assert set(launched.processes) == {'fabrik_node'}
    topic = 'scaled_joint_trajectory_controller/joint_trajectory'
    assert node.parameters['trajectory_topic'] == topic
    assert 'robot_description' not in node.parameters
    assert node.remappings['joint_states'] == '/ur/joint_states'
    assert node.remappings['/tf'] == '/tf', 'that of the driver'


def test_attach_opens_rviz_on_the_description_of_the_driver(prefix):
    prefix.remove_package('robot_state_publisher')
    launched = prefix.launch(
        'attach.launch.py', 'arm:=ur5e', 'rviz:=true', 'robot_description:=/ur/robot_description'
    )
    assert set(launched.processes) == {'fabrik_node', 'rviz2'}
    for name, topic in (('fabrik_node', 'robot_description'), ('rviz2', '/robot_description')):
        assert launched.processes[name].remappings[topic] == '/ur/robot_description'


@pytest.mark.parametrize(
    ('arguments', 'output', 'topic'),
    [
        (['tip_link:=tool0', 'controller:=jtc'], ['joint_state', 'trajectory'], 'jtc/'),
        (['arm:=ur5e', 'controller:=/jtc'], ['joint_state', 'trajectory'], '/jtc/'),
        (['arm:=ur5e', 'output:=joint_state'], ['joint_state'], 'scaled_joint_trajectory_'),
        (
            ['tip_link:=tool0', 'controller:=fpc', 'output:=array'],
            ['joint_state', 'array'],
            'fpc/',
        ),
    ],
)
def test_who_takes_the_commands_can_be_said_without_a_file(prefix, arguments, output, topic):
    parameters = prefix.launch('attach.launch.py', *arguments).processes['fabrik_node'].parameters
    assert parameters['output'] == output
    name = 'array_topic' if 'array' in output else 'trajectory_topic'
    assert parameters[name].startswith(topic)


@pytest.mark.parametrize('given', ['arm:=so101', 'tip_link:=tool0', 'base_link:=base', 'params'])
def test_attach_is_content_with_anything_that_tells_which_arm(prefix, tmp_path, given):
    own = tmp_path / 'own.yaml'
    own.write_text('/**:\n  ros__parameters:\n    tip_link: flange\n')
    argument = f'params_file:={own}' if given == 'params' else given
    assert 'fabrik_node' in prefix.launch('attach.launch.py', argument).processes


def test_attach_says_that_it_does_not_use_a_description(prefix):
    launched = prefix.launch('attach.launch.py', 'arm:=ur5e', ACME)
    assert set(launched.processes) == {'fabrik_node'}
    assert 'robot_description' not in launched.processes['fabrik_node'].parameters
    assert "acme.urdf.xacro' is not used" in launched.output
    assert 'use bringup.launch.py' in launched.output


def test_bringup_gives_the_model_to_robot_state_publisher_only(prefix):
    launched = prefix.launch('bringup.launch.py', ACME, 'xacro_args:=size:=3')
    assert set(launched.processes) == {'fabrik_node', 'robot_state_publisher'}
    processes = launched.processes
    assert 'base_of_size_3' in processes['robot_state_publisher'].parameters['robot_description']
    assert 'robot_description' not in processes['fabrik_node'].parameters


def test_bringup_takes_plain_urdf_from_a_path_with_spaces(prefix, tmp_path):
    model = tmp_path / 'my arm.urdf'
    model.write_text('<robot name="a"><link name="only_link"/></robot>')
    launched = prefix.launch('bringup.launch.py', f'description:={model}')
    parameters = launched.processes['robot_state_publisher'].parameters
    assert 'only_link' in parameters['robot_description']


def test_simulated_arm_follows_the_commands_of_the_node(prefix):
    launched = prefix.launch(
        'bringup.launch.py', ACME, 'simulate:=true', 'initial_joints:=elbow:=1.5'
    )
    parameters = launched.processes['joint_state_publisher'].parameters
    assert parameters['source_list'] == ['fabrik/joint_command']
    assert parameters['rate'] >= 50
    assert parameters['zeros.elbow'] == 1.5


@with_mujoco
def test_arm_with_physics_takes_the_commands_and_starts_where_it_is_told(prefix):
    launched = prefix.launch(
        'bringup.launch.py', ACME, 'simulate:=physics', 'initial_joints:=elbow:=1.5 wrist:=-1'
    )
    assert 'joint_state_publisher' not in launched.processes
    arm = launched.processes['physical_arm']
    assert arm.remappings['joint_command'] == 'fabrik/joint_command'
    assert arm.remappings['fabrik/markers'] == 'fabrik/markers'
    assert arm.remappings['robot_description'] == 'robot_description'
    assert arm.parameters['start_names'] == ['elbow', 'wrist']
    assert arm.parameters['start_values'] == [1.5, -1.0]


@with_mujoco
@pytest.mark.parametrize('simulated', ['true', 'True', 'false'])
def test_arm_with_physics_runs_the_clock_in_simulated_time_and_waits_for_none(prefix, simulated):
    launched = prefix.launch(
        'bringup.launch.py', ACME, 'simulate:=physics', f'use_sim_time:={simulated}'
    )
    others = dict(launched.processes)
    arm = others.pop('physical_arm')
    assert arm.parameters['publish_clock'] is (simulated != 'false')
    assert arm.parameters['use_sim_time'] is False
    assert set(others) == {'fabrik_node', 'robot_state_publisher'}
    for process in others.values():
        assert process.parameters['use_sim_time'] is (simulated != 'false')


@pytest.mark.parametrize('file', ['bringup.launch.py', 'fabrik.launch.py'])
def test_meshes_are_looked_for_beside_the_description_and_where_the_params_file_says(
    prefix, tmp_path, file
):
    (tmp_path / 'urdf').mkdir()
    description = tmp_path / 'urdf' / 'arm.urdf'
    description.write_text('<robot name="r"><link name="a"/></robot>')
    beside = [str(description.parent), str(tmp_path)]
    named = f'description:={description}'
    node = prefix.launch(file, named).processes['fabrik_node']
    assert node.parameters['mesh_paths'] == beside
    own = tmp_path / 'own.yaml'
    own.write_text('/**:\n  ros__parameters:\n    mesh_paths: [/meshes]\n')
    node = prefix.launch(file, named, f'params_file:={own}').processes['fabrik_node']
    assert node.parameters['mesh_paths'] == ['/meshes', *beside]
    node = prefix.launch(file, named, 'mesh_paths:=/a:/b').processes['fabrik_node']
    assert node.parameters['mesh_paths'] == ['/a', '/b']


@with_mujoco
def test_window_of_the_arm_with_physics_opens_on_request(prefix):
    launched = prefix.launch('bringup.launch.py', ACME, 'simulate:=physics', 'view:=true')
    assert launched.processes['physical_arm'].parameters['view'] is True
    launched = prefix.launch('bringup.launch.py', ACME, 'simulate:=physics')
    assert launched.processes['physical_arm'].parameters['view'] is False


@with_mujoco
def test_parts_are_for_the_arm_with_physics_and_its_node_may_grasp_them(prefix):
    scene, parts = (CONFIG / f'pick_and_place{name}.yaml' for name in ('', '_parts'))
    given = ('bringup.launch.py', ACME, f'scene:={scene}', f'parts:={parts}')
    launched = prefix.launch(*given, 'simulate:=physics', 'node_name:=mover')
    arm, node = launched.processes['physical_arm'], launched.processes['fabrik_node']
    assert arm.parameters['scene'] == node.parameters['scene'] == str(scene)
    assert arm.parameters['parts'] == str(parts)
    assert arm.remappings['parts'] == 'mover/obstacles'
    assert node.parameters['graspable'] == ['part/1', 'part/2', 'part/3']
    shared = f'scene:=fabrik_ros/config/{scene.name}'
    launched = prefix.launch('bringup.launch.py', ACME, shared, 'simulate:=physics')
    found = Path(launched.processes['fabrik_node'].parameters['scene'])
    assert found.is_absolute()
    assert found.read_text() == scene.read_text()
    launched = prefix.launch(*given, 'simulate:=true')
    assert 'parts needs simulate:=physics' in launched.output
    assert 'process started' not in launched.output
    launched = prefix.launch('bringup.launch.py', ACME, 'scene:=/nowhere.yaml')
    assert "scene: '/nowhere.yaml' is no file" in launched.output


def test_physics_without_mujoco_says_how_to_get_it_and_starts_nothing(prefix):
    prefix.hide_module('mujoco')
    launched = prefix.launch('bringup.launch.py', ACME, 'simulate:=physics')
    assert 'simulate:=physics needs MuJoCo' in launched.output
    assert 'pip install mujoco' in launched.output
    assert 'process started' not in launched.output
    assert 'process started' in prefix.launch('bringup.launch.py', ACME).output


def test_names_stay_consistent_when_node_and_topics_are_renamed(prefix):
    launched = prefix.launch(
        'bringup.launch.py',
        ACME,
        'simulate:=true',
        'rviz:=true',
        'node_name:=ik',
        'joint_states:=states',
        'target_pose:=/goal',
    )
    processes = launched.processes
    assert processes['fabrik_node'].remappings['__node'] == 'ik'
    assert processes['joint_state_publisher'].parameters['source_list'] == ['ik/joint_command']
    for name in ('fabrik_node', 'robot_state_publisher', 'joint_state_publisher'):
        assert processes[name].remappings['joint_states'] == 'states'
    assert processes['rviz2'].remappings['/fabrik/markers'] == 'ik/markers'
    assert processes['rviz2'].remappings['/fabrik/planned_path'] == 'ik/planned_path'
    assert not any('target_pose' in topic for topic in processes['rviz2'].remappings)


def test_namespace_holds_everything_even_the_frames(prefix):
    launched = prefix.launch('demo.launch.py', 'namespace:=left')
    for name, process in launched.processes.items():
        assert process.remappings['__ns'] == '/left', name
    for name in ('fabrik_node', 'robot_state_publisher', 'rviz2'):
        assert launched.processes[name].remappings['/tf'] == 'tf'
        assert launched.processes[name].remappings['/tf_static'] == 'tf_static'
    parameters = launched.processes['joint_state_publisher'].parameters
    assert parameters['source_list'] == ['fabrik/joint_command']


def test_frames_can_be_shared_between_namespaces(prefix):
    launched = prefix.launch('bringup.launch.py', ACME, 'namespace:=left', 'tf:=/tf')
    for process in launched.processes.values():
        assert process.remappings['/tf'] == '/tf'


def test_rviz_is_given_the_frame_of_the_chain(prefix):
    launched = prefix.launch('bringup.launch.py', ACME, 'rviz:=true', 'base_link:=world')
    arguments = launched.processes['rviz2'].arguments
    assert arguments[arguments.index('-f') + 1] == 'world'
    assert Path(arguments[arguments.index('-d') + 1]).name == 'demo.rviz'


def frame_of(launched):
    arguments = launched.processes['rviz2'].arguments
    return arguments[arguments.index('-f') + 1] if '-f' in arguments else None


@pytest.mark.parametrize('more', ['', ' base_link:=shoulder'])
def test_fixed_frame_is_the_root_of_the_chain_that_the_node_will_choose(prefix, tmp_path, more):
    model = tmp_path / 'arm.urdf'
    model.write_text(TWO_JOINTS)
    arguments = f'description:={model} rviz:=true{more}'.split()
    launched = prefix.launch('bringup.launch.py', *arguments)
    assert frame_of(launched) == ('shoulder' if more else 'plate')


def test_fixed_frame_is_that_of_the_preset(prefix):
    launched = prefix.launch('attach.launch.py', 'arm:=franka_fr3', 'rviz:=true')
    assert frame_of(launched) == 'fr3_link0'


def test_fixed_frame_of_an_own_configuration_stays(prefix, tmp_path):
    own = tmp_path / 'own.rviz'
    own.write_text('Visualization Manager: {}')
    arguments = ['arm:=franka_fr3', 'rviz:=true', f'rviz_config:={own}']
    assert frame_of(prefix.launch('attach.launch.py', *arguments)) is None


def test_view_fits_the_arm(prefix):
    robot = parse_urdf(TWO_JOINTS.replace('0.3', '3.0')).chain()
    fitted = yaml.safe_load(fitted_to(CONFIG / 'demo.rviz', robot).read_text())
    view = fitted['Visualization Manager']['Views']['Current']
    assert 1.5 * 6.0 < view['Distance'] < 3.0 * 6.0, 'the arm is 6 m long'
    assert view['Focal Point']['Z'] == pytest.approx(0.45 * 6.0, abs=1e-3)
    assert fitted['Visualization Manager']['Global Options']['Fixed Frame'] == 'plate'
    shipped = yaml.safe_load((CONFIG / 'demo.rviz').read_text())['Visualization Manager']
    assert fitted['Visualization Manager']['Displays'] == shipped['Displays']


def test_each_of_several_tips_is_shown_where_it_goes(prefix, tmp_path):
    model, own = tmp_path / 'arms.urdf', tmp_path / 'own.yaml'
    model.write_text(two_arms_xml())
    own.write_text(f'/**:\n  ros__parameters:\n    tip_links: [{", ".join(TIPS)}]\n')
    arguments = f'description:={model} params_file:={own} rviz:=true node_name:=arms'.split()
    rviz = prefix.launch('bringup.launch.py', *arguments).processes['rviz2']
    for tip in TIPS:
        assert rviz.remappings[f'/fabrik/{tip}/planned_path'] == f'arms/{tip}/planned_path'


def test_what_is_saved_when_rviz_is_closed_is_shown_the_next_time(prefix, tmp_path):
    model = tmp_path / 'arm.urdf'
    model.write_text(TWO_JOINTS)
    given = 'bringup.launch.py', f'description:={model}', 'rviz:=true'
    saved = opened_file(prefix.launch(*given))
    assert saved.is_file(), 'it is there after RViz, which may save to it as it closes'
    saved.write_text('Visualization Manager: {}')
    assert opened_file(prefix.launch(*given)) == saved
    assert saved.read_text() == 'Visualization Manager: {}'
    model.write_text(TWO_JOINTS.replace('0.3', '0.4'))
    assert opened_file(prefix.launch(*given)) != saved, 'another arm has its own'


def opened_file(launched):
    arguments = launched.processes['rviz2'].arguments
    return Path(arguments[arguments.index('-d') + 1])


def test_rviz_opens_where_no_file_can_be_written(prefix, tmp_path):
    Path(prefix.environment['ROS_HOME']).write_text('no folder')
    model = tmp_path / 'arm.urdf'
    model.write_text(TWO_JOINTS)
    launched = prefix.launch('bringup.launch.py', f'description:={model}', 'rviz:=true')
    assert opened_file(launched).name == 'demo.rviz'
    assert frame_of(launched) == 'plate'


def test_closing_rviz_ends_a_simulation(prefix):
    launched = prefix.launch('demo.launch.py')
    assert 'was required: shutting down launched system' in launched.output
    assert 'goes on' not in launched.output


def test_closing_rviz_beside_a_real_arm_says_that_the_node_goes_on(prefix):
    launched = prefix.launch('attach.launch.py', 'arm:=ur5e', 'rviz:=true')
    assert 'RViz was closed; the node goes on' in launched.output


def test_simulated_arm_starts_bent_unless_it_is_told_where(prefix, tmp_path):
    model = tmp_path / 'arm.urdf'
    model.write_text(TWO_JOINTS)
    given = f'description:={model}', 'simulate:=true'
    start = prefix.launch('bringup.launch.py', *given)
    parameters = start.processes['joint_state_publisher'].parameters
    assert 0.3 < abs(parameters['zeros.b']) < 2.5
    told = prefix.launch('bringup.launch.py', *given, 'initial_joints:=a:=0.25')
    parameters = told.processes['joint_state_publisher'].parameters
    assert {key: parameters[key] for key in parameters if 'zeros' in key} == {'zeros.a': 0.25}


def zeros(launched):
    """Where the simulated arm starts, by joint."""
    parameters = launched.processes['joint_state_publisher'].parameters
    return {key[6:]: value for key, value in parameters.items() if key.startswith('zeros.')}


def test_demo_starts_where_it_is_told(prefix):
    assert zeros(prefix.launch('demo.launch.py', 'initial_joints:=elbow:=0.5')) == {'elbow': 0.5}
    start = zeros(prefix.launch('demo.launch.py'))
    assert start['elbow'] > 1.0
    assert start['shoulder_lift'] < -1.0


def test_simulated_arm_does_not_start_inside_an_obstacle(prefix, tmp_path):
    """A block stands where the tool of the demo would be; pinocchio says where it is."""
    pytest.importorskip('coal', reason='coal measures distances')
    pinocchio = pytest.importorskip('pinocchio', reason='pinocchio is the judge')
    (tmp_path / 'scene.yaml').write_text(
        'obstacles: {block: {box: [0.3, 0.3, 0.3], xyz: [0.49, 0.13, 0.5]}}'
    )
    own = tmp_path / 'own.yaml'
    own.write_text(f'/**:\n  ros__parameters:\n    scene: {tmp_path / "scene.yaml"}\n')

    def tool(*arguments):
        launched = prefix.launch('demo.launch.py', *arguments)
        text = launched.processes['robot_state_publisher'].parameters['robot_description']
        model = pinocchio.buildModelFromXML(text)
        data, q = model.createData(), pinocchio.neutral(model)
        for joint, value in zeros(launched).items():
            q[model.joints[model.getJointId(joint)].idx_q] = value
        pinocchio.framesForwardKinematics(model, data, q)
        return data.oMf[model.getFrameId('tool0')].translation

    def is_inside(at):
        return abs(at - (0.49, 0.13, 0.5)).max() < 0.15

    assert is_inside(tool())
    assert not is_inside(tool(f'params_file:={own}'))


def test_rviz_and_node_find_meshes_that_are_named_relative_to_the_description(prefix, tmp_path):
    (tmp_path / 'assets').mkdir()
    mesh = tmp_path / 'assets' / 'part.stl'
    mesh.touch()
    model = tmp_path / 'arm.urdf'
    part = '<visual><geometry><mesh filename="assets/part.stl"/></geometry></visual>'
    link = '<link name="upper"/>'
    assert link in TWO_JOINTS
    model.write_text(TWO_JOINTS.replace(link, f'<link name="upper">{part}</link>'))
    launched = prefix.launch('bringup.launch.py', f'description:={model}', 'rviz:=true')
    text = launched.processes['robot_state_publisher'].parameters['robot_description']
    assert f'filename="file://{mesh}"' in text


def test_sim_time_reaches_every_process(prefix):
    launched = prefix.launch('demo.launch.py', 'use_sim_time:=true')
    assert all(process.parameters['use_sim_time'] for process in launched.processes.values())


def test_demo_starts_the_bundled_arm_with_its_targets(prefix):
    launched = prefix.launch('demo.launch.py')
    assert set(launched.processes) == {
        'demo_targets',
        'drag_target',
        'fabrik_node',
        'joint_state_publisher',
        'robot_state_publisher',
        'rviz2',
    }
    model = launched.processes['robot_state_publisher'].parameters['robot_description']
    assert '<robot name="six_axis">' in model
    assert launched.processes['fabrik_node'].parameters['tip_link'] == 'tool0'
    targets = launched.processes['demo_targets'].remappings
    assert targets['fabrik/target_pose'] == 'fabrik/target_pose'


def test_demo_stands_still_if_its_targets_are_not_wanted(prefix):
    launched = prefix.launch('demo.launch.py', 'targets:=false')
    assert 'demo_targets' not in launched.processes
    assert {'fabrik_node', 'drag_target', 'rviz2'} <= set(launched.processes)


@pytest.mark.parametrize(
    ('arguments', 'is_there'),
    [
        (['demo.launch.py'], True),
        (['demo.launch.py', 'drag:=false'], False),
        (['bringup.launch.py', ACME, 'rviz:=true'], True),
        (['bringup.launch.py', ACME, 'rviz:=True', 'drag:=True'], True),
        (['bringup.launch.py', ACME, 'drag:=true'], False),
        (['attach.launch.py', 'arm:=ur5e', 'rviz:=true'], False),
        (['attach.launch.py', 'arm:=ur5e', 'rviz:=true', 'drag:=true'], True),
    ],
)
def test_handle_is_there_with_rviz_unless_it_is_not_wanted(prefix, arguments, is_there):
    launched = prefix.launch(*arguments)
    assert ('drag_target' in launched.processes) == is_there


def test_handle_rviz_and_demo_meet_under_other_names(prefix):
    launched = prefix.launch(
        'demo.launch.py', 'node_name:=ik', 'target_pose:=/goal', 'joint_states:=states'
    )
    processes = launched.processes
    handle = processes['drag_target']
    assert handle.parameters['node'] == 'ik'
    assert handle.remappings['ik/target_pose'] == '/goal'
    assert handle.remappings['joint_states'] == 'states'
    for name in ('update', 'feedback', 'get_interactive_markers'):
        remapped = processes['rviz2'].remappings[f'/fabrik/drag_target/{name}']
        assert remapped == f'ik/drag_target/{name}'
    told = processes['demo_targets'].remappings['fabrik/drag_target/feedback']
    assert told == 'ik/drag_target/feedback'


def test_handle_can_be_done_without(prefix):
    prefix.remove_package('interactive_markers')
    launched = prefix.launch('demo.launch.py')
    assert 'not installed: interactive_markers' in launched.output
    assert 'process started' not in launched.output
    launched = prefix.launch('demo.launch.py', 'drag:=false')
    assert 'rviz2' in launched.processes


def test_demo_runs_without_rviz(prefix):
    prefix.remove_package('rviz2')
    prefix.remove_package('interactive_markers')
    launched = prefix.launch('demo.launch.py', 'rviz:=false')
    assert 'rviz2' not in launched.processes
    assert 'drag_target' not in launched.processes
    assert 'fabrik_node' in launched.processes


@pytest.mark.parametrize(
    ('launch_file', 'arguments', 'message'),
    [
        ('bringup.launch.py', [], "missing required argument 'description'"),
        ('bringup.launch.py', ['description:=no/arm.urdf'], "no package 'no' is installed"),
        ('bringup.launch.py', [ACME, 'xacro_args:=size'], "'size' is not of the form name:=value"),
        ('bringup.launch.py', [ACME, 'simulate:=maybe'], '"simulate" provided value "maybe"'),
        ('bringup.launch.py', [ACME, 'initial_joints:=a:=b'], "'b' for 'a' is no number"),
        ('bringup.launch.py', [ACME, 'rviz_config:=no.rviz'], "no.rviz' is no file"),
        ('fabrik.launch.py', ['params_file:=no.yaml'], "no.yaml' is no file"),
        ('fabrik.launch.py', ['arm:=ur55'], 'these are: franka_fr3, so101, ur5e'),
        ('attach.launch.py', [], 'which arm? Give arm:=<preset> (franka_fr3, so101, ur5e)'),
        ('attach.launch.py', ['arm:=ur5e', 'rviz_config:=no.rviz'], "no.rviz' is no file"),
        ('attach.launch.py', ['arm:=ur55'], 'these are: franka_fr3, so101, ur5e'),
        ('fabrik.launch.py', ['autostart:=perhaps'], '"autostart" provided value "perhaps"'),
        ('fabrik.launch.py', ['output:=arrays'], '"output" provided value "arrays"'),
        (
            'attach.launch.py',
            ['tip_link:=t', 'controller:=jtc', 'output:=joint_state'],
            'choose output:=trajectory',
        ),
        ('bringup.launch.py', [ACME, 'controller:=a/joint_trajectory'], 'give controller:=a'),
    ],
)
def test_bad_argument_says_why_and_starts_nothing(prefix, launch_file, arguments, message):
    launched = prefix.launch(launch_file, *arguments)
    assert message in launched.output
    assert 'process started' not in launched.output


def test_attach_without_rviz_installed_says_so_and_starts_nothing(prefix):
    prefix.remove_package('rviz2')
    launched = prefix.launch('attach.launch.py', 'arm:=ur5e', 'rviz:=true')
    assert 'not installed: rviz2' in launched.output
    assert 'process started' not in launched.output
    assert 'process started' in prefix.launch('attach.launch.py', 'arm:=ur5e').output


def test_broken_xacro_shows_what_xacro_says(prefix, tmp_path):
    model = tmp_path / 'broken.urdf.xacro'
    model.write_text('<robot xmlns:xacro="http://www.ros.org/wiki/xacro"><a b="${size}"/></robot>')
    launched = prefix.launch('bringup.launch.py', f'description:={model}')
    assert "name 'size' is not defined" in launched.output
    assert 'process started' not in launched.output


def test_missing_package_is_named_and_nothing_starts(prefix):
    prefix.remove_package('rviz2')
    launched = prefix.launch('demo.launch.py')
    assert 'not installed: rviz2' in launched.output
    assert 'process started' not in launched.output
