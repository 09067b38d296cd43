"""
Start the node alone; attach.launch.py is this with a check, to be typed beside a driver.

ros2 launch fabrik_ros fabrik.launch.py arm:=ur5e

"""

from typing import Any

from fabrik_ros.ros.beside.parts import parameters_for_parts
from fabrik_ros.ros.launching.launch_arguments import description_command, output_parameters
from fabrik_ros.ros.launching.launch_parts import (
    mesh_paths,
    node_arguments,
    parameter_files,
    ScopedLaunchDescription,
    topic_arguments,
    TOPICS,
    xacro_argument,
)
from launch import LaunchContext, LaunchDescription
from launch.actions import DeclareLaunchArgument, OpaqueFunction
from launch.substitutions import Command, LaunchConfiguration
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue


def generate_launch_description() -> LaunchDescription:
    return ScopedLaunchDescription(
        [
            *node_arguments(),
            DeclareLaunchArgument(
                'description',
                default_value='',
                description='URDF or xacro file: package/path/inside/share or a path. '
                'Empty: the model comes from the topic robot_description.',
            ),
            xacro_argument(),
            *topic_arguments(),
            OpaqueFunction(function=_start_node),
        ]
    )


def _start_node(context: LaunchContext) -> list[Node]:
    return [
        Node(
            package='fabrik_ros',
            executable='fabrik_node',
            name=LaunchConfiguration('node_name'),
            namespace=LaunchConfiguration('namespace'),
            output='screen',
            parameters=[*map(str, parameter_files(context)), _overrides(context)],
            remappings=[(topic, LaunchConfiguration(name)) for name, (topic, _) in TOPICS.items()],
            ros_arguments=['--log-level', LaunchConfiguration('log_level')],
        )
    ]


def _overrides(context: LaunchContext) -> dict[str, Any]:
    """Parameters given as arguments: they win over the files, so empty ones are left out."""
    values = context.launch_configurations
    types = {'base_link': str, 'tip_link': str, 'use_sim_time': bool, 'autostart': bool}
    overrides: dict[str, Any] = {
        name: ParameterValue(LaunchConfiguration(name), value_type=value_type)
        for name, value_type in types.items()
        if values[name]
    }
    overrides |= output_parameters(values['controller'], values['output'])
    if folders := mesh_paths(context):
        overrides['mesh_paths'] = folders
    # Those of bringup.launch.py alone.
    if scene := values.get('scene'):
        overrides['scene'] = scene
    if parts := values.get('parts'):
        overrides |= parameters_for_parts(parts)
    if values['description']:
        command = description_command(values['description'], values['xacro_args'])
        overrides['robot_description'] = ParameterValue(
            Command(command, on_stderr='warn'), value_type=str
        )
    return overrides
