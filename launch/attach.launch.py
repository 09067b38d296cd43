"""
Start the node, and RViz if wanted, beside the running driver of a real arm.

ros2 launch fabrik_ros attach.launch.py arm:=ur5e rviz:=true

The driver publishes the description of the robot, with the kinematics that were calibrated, so
this starts no robot_state_publisher and takes no `description`. Takes the other arguments of
fabrik.launch.py.

"""

from fabrik_ros.ros.launching.launch_arguments import (
    find_file,
    LaunchArgumentError,
    preset_names,
    require_packages,
)
from fabrik_ros.ros.launching.launch_parts import (
    default_params_file,
    handles,
    launch_file,
    node_arguments,
    rviz,
    rviz_arguments,
    rviz_packages,
    ScopedLaunchDescription,
    topic_arguments,
)
from launch import LaunchContext, LaunchDescription, LaunchDescriptionEntity
from launch.actions import IncludeLaunchDescription, OpaqueFunction
from launch.logging import get_logger


def generate_launch_description() -> LaunchDescription:
    return ScopedLaunchDescription(
        [
            *node_arguments(),
            *topic_arguments(),
            *rviz_arguments(drag='false'),
            OpaqueFunction(function=_start),
        ]
    )


def _start(context: LaunchContext) -> list[LaunchDescriptionEntity]:
    _require_an_arm(context)
    _warn_of_a_description(context)
    find_file(context.launch_configurations['rviz_config'], 'rviz_config')
    require_packages(rviz_packages(context))
    node = IncludeLaunchDescription(
        launch_file('fabrik.launch.py'), launch_arguments={'description': ''}.items()
    )
    return [node, rviz(context), *handles(context)]


def _require_an_arm(context: LaunchContext) -> None:
    """Refuse to guess which arm it is, and at which speed and by which topic it is commanded."""
    values = context.launch_configurations
    has_file = values['params_file'] != default_params_file().perform(context)
    if not (has_file or values['arm'] or values['base_link'] or values['tip_link']):
        raise LaunchArgumentError(
            f'which arm? Give arm:=<preset> ({preset_names()}) or arm:=<file>, or '
            'base_link:=<link> tip_link:=<link>, or params_file:=<file>'
        )


def _warn_of_a_description(context: LaunchContext) -> None:
    description = context.launch_configurations.get('description', '')
    if description:
        get_logger('attach.launch.py').warning(
            f"description '{description}' is not used: the description is taken from the topic "
            f"'{context.launch_configurations['robot_description']}', where the driver publishes "
            'it; to start an arm from a description use bringup.launch.py'
        )
