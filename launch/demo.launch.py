"""
Show the bundled six-axis arm following a moving target in RViz.

ros2 launch fabrik_ros demo.launch.py

Takes the arguments of bringup.launch.py too.

"""

from fabrik_ros.ros.launching.launch_arguments import resolve_private
from fabrik_ros.ros.launching.launch_parts import (
    BOOLEAN,
    clock,
    is_true,
    launch_file,
    node_arguments,
    rviz_arguments,
    ScopedLaunchDescription,
    topic_arguments,
)
from launch import LaunchContext, LaunchDescription
from launch.actions import DeclareLaunchArgument, IncludeLaunchDescription, OpaqueFunction
from launch_ros.actions import Node

ARM = {
    'description': 'fabrik_ros/urdf/six_axis.urdf.xacro',
    'base_link': 'base_link',
    'tip_link': 'tool0',
    'simulate': 'true',
}


def generate_launch_description() -> LaunchDescription:
    return ScopedLaunchDescription(
        [
            *rviz_arguments(is_open='true'),
            *node_arguments(),
            *topic_arguments(own_frames=True),
            DeclareLaunchArgument(
                'targets',
                default_value='true',
                choices=BOOLEAN,
                description='Send targets that wander in front of the arm, while nobody else '
                'moves it.',
            ),
            IncludeLaunchDescription(
                launch_file('bringup.launch.py'), launch_arguments=ARM.items()
            ),
            OpaqueFunction(function=_start_targets),
        ]
    )


def _start_targets(context: LaunchContext) -> list[Node]:
    values = context.launch_configurations
    if not is_true(context, 'targets'):
        return []
    topic = resolve_private(values['target_pose'], values['node_name'])
    status = resolve_private(values['status'], values['node_name'])
    return [
        Node(
            package='fabrik_ros',
            executable='demo_targets',
            namespace=values['namespace'],
            output='screen',
            parameters=[clock(context)],
            remappings=[
                ('fabrik/target_pose', topic),
                ('fabrik/status', status),
                ('fabrik/drag_target/feedback', f'{values["node_name"]}/drag_target/feedback'),
            ],
        )
    ]
