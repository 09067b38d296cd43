"""
Start the node alone, beside a robot that is up: a driver with its robot_state_publisher.

ros2 launch fabrik_ros fabrik.launch.py arm:=ur5e

"""

from fabrik_ros.ros.launch_arguments import description_command, find_file, find_preset
from launch import LaunchContext, LaunchDescription
from launch.actions import DeclareLaunchArgument, OpaqueFunction
from launch.substitutions import Command, LaunchConfiguration, PathJoinSubstitution
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue
from launch_ros.substitutions import FindPackageShare

TOPICS = {
    'target_pose': ('~/target_pose', 'where the tool should go'),
    'jog': ('~/jog', 'how fast the tool should go, for as long as it comes'),
    'joint_states': ('joint_states', 'where the joints are'),
    'robot_description': ('robot_description', 'the model, if no description is given'),
    'joint_command': ('~/joint_command', 'where the joints should go'),
    'solution_pose': ('~/solution_pose', 'where the command puts the tool'),
    'status': ('~/status', 'what the node is doing and why'),
    'markers': ('~/markers', 'chain, target and residual for RViz'),
    'diagnostics': ('/diagnostics', 'for the diagnostic aggregator'),
    'tf': ('/tf', 'moving frames that targets may be given in'),
    'tf_static': ('/tf_static', 'fixed frames that targets may be given in'),
}
OPTIONAL_BOOLEAN = ['', 'true', 'false', 'True', 'False']


def generate_launch_description() -> LaunchDescription:
    return LaunchDescription(
        [
            *_node_arguments(),
            *_model_arguments(),
            *(
                DeclareLaunchArgument(name, default_value=topic, description=f'Topic: {meaning}.')
                for name, (topic, meaning) in TOPICS.items()
            ),
            OpaqueFunction(function=_start_node),
        ]
    )


def _node_arguments() -> list[DeclareLaunchArgument]:
    defaults = PathJoinSubstitution([FindPackageShare('fabrik_ros'), 'config', 'fabrik.yaml'])
    return [
        DeclareLaunchArgument(
            'namespace', default_value='', description='Namespace of everything started here.'
        ),
        DeclareLaunchArgument(
            'node_name', default_value='fabrik', description='Name of the node.'
        ),
        DeclareLaunchArgument(
            'params_file', default_value=defaults, description='Parameters of the node.'
        ),
        DeclareLaunchArgument(
            'arm',
            default_value='',
            description='Parameters of an arm, read after params_file: '
            'the name of a bundled preset (ur5e, franka_fr3, so101) or a file.',
        ),
        DeclareLaunchArgument(
            'use_sim_time',
            default_value='',
            choices=OPTIONAL_BOOLEAN,
            description='Take the time from /clock. Empty: as in params_file.',
        ),
        DeclareLaunchArgument(
            'autostart',
            default_value='',
            choices=OPTIONAL_BOOLEAN,
            description='Configure and activate by itself. Empty: as in params_file.',
        ),
        DeclareLaunchArgument(
            'log_level',
            default_value='info',
            choices=['debug', 'info', 'warn', 'error', 'fatal'],
            description='What the node logs.',
        ),
    ]


def _model_arguments() -> list[DeclareLaunchArgument]:
    return [
        DeclareLaunchArgument(
            'description',
            default_value='',
            description='URDF or xacro file: package/path/inside/share or a path. '
            'Empty: the model comes from the topic robot_description.',
        ),
        DeclareLaunchArgument(
            'xacro_args',
            default_value='',
            description="Arguments for the xacro file: 'name:=value name:=value'.",
        ),
        DeclareLaunchArgument(
            'base_link',
            default_value='',
            description='First link of the chain. Empty: as in arm or params_file.',
        ),
        DeclareLaunchArgument(
            'tip_link',
            default_value='',
            description='Last link of the chain. Empty: as in arm or params_file.',
        ),
    ]


def _start_node(context: LaunchContext) -> list[Node]:
    return [
        Node(
            package='fabrik_ros',
            executable='fabrik_node',
            name=LaunchConfiguration('node_name'),
            namespace=LaunchConfiguration('namespace'),
            output='screen',
            parameters=[*_parameter_files(context), _overrides(context)],
            remappings=[(topic, LaunchConfiguration(name)) for name, (topic, _) in TOPICS.items()],
            ros_arguments=['--log-level', LaunchConfiguration('log_level')],
        )
    ]


def _parameter_files(context: LaunchContext) -> list[str]:
    values = context.launch_configurations
    files = [find_file(values['params_file'], 'params_file')]
    if values['arm']:
        files.append(find_preset(values['arm']))
    return [str(file) for file in files]


def _overrides(context: LaunchContext) -> dict[str, ParameterValue]:
    """Parameters given as arguments: they win over the files, so empty ones are left out."""
    values = context.launch_configurations
    types = {'base_link': str, 'tip_link': str, 'use_sim_time': bool, 'autostart': bool}
    overrides = {
        name: ParameterValue(LaunchConfiguration(name), value_type=value_type)
        for name, value_type in types.items()
        if values[name]
    }
    if values['description']:
        command = description_command(values['description'], values['xacro_args'])
        overrides['robot_description'] = ParameterValue(
            Command(command, on_stderr='warn'), value_type=str
        )
    return overrides
