r"""
Start an arm from its description: robot_state_publisher, the node and, if wanted, RViz.

ros2 launch fabrik_ros bringup.launch.py description:=ur_description/urdf/ur.urdf.xacro \
    xacro_args:="ur_type:=ur5e name:=ur" tip_link:=tool0 simulate:=true rviz:=true

Beside the driver of a real arm, which publishes the description itself, use attach.launch.py.
Takes the arguments of fabrik.launch.py too. Two arms run side by side in two namespaces; each
then has its own tf and tf_static unless tf:=/tf tf_static:=/tf_static, for which the links of
the arms need different names.

"""

from fabrik_ros.collision import MeshFinder
from fabrik_ros.model.mechanism import Mechanism
from fabrik_ros.ros.launching.launch_arguments import (
    description_command,
    find_file,
    find_shared_file,
    LaunchArgumentError,
    read_joint_values,
    require_mujoco,
    require_packages,
    resolve_private,
)
from fabrik_ros.ros.launching.launch_parts import (
    BOOLEAN,
    clock,
    frame_remappings,
    handles,
    is_true,
    launch_file,
    links,
    mesh_paths,
    node_arguments,
    node_parameters,
    rviz,
    rviz_arguments,
    rviz_packages,
    ScopedLaunchDescription,
    topic_arguments,
    xacro_argument,
)
from fabrik_ros.ros.launching.start_pose import start_joints
from fabrik_ros.ros.messages.mesh_urls import with_mesh_urls
from launch import LaunchContext, LaunchDescription
from launch.actions import (
    DeclareLaunchArgument,
    IncludeLaunchDescription,
    OpaqueFunction,
    SetLaunchConfiguration,
)
from launch.substitutions import Command, LaunchConfiguration
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue

PHYSICS = 'physics'
SCENES = 'scene', 'parts'
SIMULATION_RATE = 100
"""Joint states a second from the simulated arm [Hz]; the node stops below 2."""


def generate_launch_description() -> LaunchDescription:
    return ScopedLaunchDescription(
        [
            *_arguments(),
            OpaqueFunction(function=_prepare),
            # The node has the model from the topic, as on a robot: its own `description` is none.
            IncludeLaunchDescription(
                launch_file('fabrik.launch.py'), launch_arguments={'description': ''}.items()
            ),
            OpaqueFunction(function=_start_arm),
        ]
    )


def _arguments() -> list[DeclareLaunchArgument]:
    return [
        DeclareLaunchArgument(
            'description',
            description='URDF or xacro file of the robot: package/path/inside/share or a path.',
        ),
        xacro_argument(),
        DeclareLaunchArgument(
            'simulate',
            default_value='false',
            choices=[*BOOLEAN, PHYSICS],
            description='Let joint_state_publisher play an arm that follows every command at '
            'once; physics: let physical_arm play one with weight, friction and drives, in '
            'MuJoCo, which then also runs the clock if use_sim_time is true. Never beside a real '
            'one: both would publish joint_states.',
        ),
        DeclareLaunchArgument(
            'view',
            default_value='false',
            choices=BOOLEAN,
            description='With simulate:=physics: show the arm in a window of MuJoCo.',
        ),
        DeclareLaunchArgument(
            'scene',
            default_value='',
            description='File with what stands around the arm, for the node and '
            'simulate:=physics: package/path/inside/share or a path. Empty: as in params_file.',
        ),
        DeclareLaunchArgument(
            'parts',
            default_value='',
            description='With simulate:=physics: file like a scene, with what the gripper can '
            'grasp and move; the node hears where it is.',
        ),
        DeclareLaunchArgument(
            'initial_joints',
            default_value='',
            description="Where the simulated arm starts: 'joint:=value joint:=value' [rad, m]. "
            'Other joints start at 0, or in the middle if 0 is outside their limits. Empty: bent, '
            'the tool in front, clear of the parameter scene.',
        ),
        *rviz_arguments(),
        *node_arguments(),
        *topic_arguments(own_frames=True),
    ]


def _prepare(context: LaunchContext) -> list[SetLaunchConfiguration]:
    """Find all that is needed before anything starts: what has started may outlive an error."""
    values = context.launch_configurations
    packages = {
        'robot_state_publisher': 'true',
        'joint_state_publisher': values['simulate'],
    }
    wanted = [name for name, is_wanted in packages.items() if is_wanted.lower() == 'true']
    require_packages([*wanted, *rviz_packages(context)])
    if values['simulate'] == PHYSICS:
        require_mujoco()
    find_file(values['rviz_config'], 'rviz_config')
    read_joint_values(values['initial_joints'], 'initial_joints')
    given = [name for name in SCENES if values[name]]
    files = {name: str(find_shared_file(values[name], name)) for name in given}
    if 'parts' in files and values['simulate'] != PHYSICS:
        raise LaunchArgumentError('parts needs simulate:=physics: without, nothing can be moved')
    command = description_command(values['description'], values['xacro_args'])
    model, folders = Command(command, on_stderr='warn').perform(context), mesh_paths(context)
    return [
        # The node and RViz have the description from the topic, and do not know where it was.
        SetLaunchConfiguration('model', with_mesh_urls(model, MeshFinder(folders))),
        SetLaunchConfiguration('mesh_paths', ':'.join(folders)),
        *(SetLaunchConfiguration(name, file) for name, file in files.items()),
    ]


def _start_arm(context: LaunchContext) -> list[Node]:
    values = context.launch_configurations
    robot = links(context).mechanism(values['model'])
    is_simulated = values['simulate'].lower() != 'false'
    return [
        _robot_state_publisher(context),
        *(_simulated_arm(context, robot) if is_simulated else []),
        rviz(context, robot, ends_launch=is_simulated),
        *handles(context),
    ]


def _robot_state_publisher(context: LaunchContext) -> Node:
    return Node(
        package='robot_state_publisher',
        executable='robot_state_publisher',
        namespace=LaunchConfiguration('namespace'),
        output='screen',
        parameters=[
            {'robot_description': ParameterValue(LaunchConfiguration('model'), value_type=str)},
            clock(context),
        ],
        remappings=_remappings('joint_states', 'robot_description') + frame_remappings(),
    )


def _simulated_arm(context: LaunchContext, robot: Mechanism | None) -> list[Node]:
    values = context.launch_configurations
    joints = read_joint_values(values['initial_joints'], 'initial_joints')
    if not joints and robot is not None:
        scene = _scene(context)
        joints = start_joints(values['model'], robot, scene, mesh_paths(context))
    command = resolve_private(values['joint_command'], values['node_name'])
    if values['simulate'] == PHYSICS:
        return [_physical_arm(joints, command, context)]
    return [_ideal_arm(joints, command, clock(context))]


def _scene(context: LaunchContext) -> str:
    """File with what stands around; '' for none."""
    return context.launch_configurations['scene'] or node_parameters(context).get('scene', '')


def _ideal_arm(joints: dict[str, float], command: str, time: dict[str, bool]) -> Node:
    zeros = {f'zeros.{joint}': value for joint, value in joints.items()}
    return Node(
        package='joint_state_publisher',
        executable='joint_state_publisher',
        namespace=LaunchConfiguration('namespace'),
        output='screen',
        parameters=[{'source_list': [command], 'rate': SIMULATION_RATE, **zeros, **time}],
        remappings=_remappings('joint_states', 'robot_description'),
    )


def _physical_arm(joints: dict[str, float], command: str, context: LaunchContext) -> Node:
    values = context.launch_configurations
    # Its own time is the simulated one: it does not wait for the clock that it publishes.
    time = {'use_sim_time': False, 'publish_clock': is_true(context, 'use_sim_time')}
    view = {'view': is_true(context, 'view')}
    around = {'scene': _scene(context), 'parts': values['parts'], 'base_link': values['base_link']}
    meshes = {'mesh_paths': values['mesh_paths'].split(':')}
    start = {'start_names': list(joints), 'start_values': list(joints.values())} if joints else {}
    return Node(
        package='fabrik_ros',
        executable='physical_arm',
        namespace=LaunchConfiguration('namespace'),
        output='screen',
        parameters=[{**start, **time, **view, **around, **meshes}],
        remappings=[
            ('joint_command', command),
            ('parts', resolve_private('~/obstacles', values['node_name'])),
            ('fabrik/markers', resolve_private(values['markers'], values['node_name'])),
            *_remappings('joint_states', 'robot_description'),
        ],
    )


def _remappings(*topics: str) -> list[tuple[str, LaunchConfiguration]]:
    return [(topic, LaunchConfiguration(topic)) for topic in topics]
