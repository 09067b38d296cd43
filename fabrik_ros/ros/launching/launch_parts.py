"""Parts that the launch files share: scope, arguments, RViz. Only this module imports `launch`."""

from collections.abc import Iterable
from functools import partial
import inspect
from pathlib import Path
from types import FrameType
from typing import Any

from launch import Action, LaunchContext, LaunchDescription, LaunchDescriptionEntity
from launch.actions import (
    DeclareLaunchArgument,
    GroupAction,
    IncludeLaunchDescription,
    LogInfo,
    OpaqueFunction,
    Shutdown,
)
from launch.conditions import IfCondition
from launch.events.process import ProcessExited
from launch.substitutions import LaunchConfiguration, PathJoinSubstitution
from launch_ros.actions import Node
from launch_ros.substitutions import FindPackageShare

from ...model.mechanism import Mechanism
from .launch_arguments import (
    find_file,
    find_preset,
    folders_of_meshes,
    resolve_private,
    TOPICS_OF_CONTROLLERS,
)
from .rviz_view import fitted_to, Links, parameters_in, TIP_TOPICS, tips_of

BOOLEAN = ['true', 'false', 'True', 'False']
OPTIONAL_BOOLEAN = ['', *BOOLEAN]
TOPICS = {
    'target_pose': ('~/target_pose', 'where the tool should go'),
    'jog': ('~/jog', 'how fast the tool should go, for as long as it comes'),
    'joint_states': ('joint_states', 'where the joints are'),
    'robot_description': ('robot_description', 'the model, if no description is given'),
    'joint_command': ('~/joint_command', 'where the joints should go'),
    'solution_pose': ('~/solution_pose', 'where the command puts the tool'),
    'planned_path': ('~/planned_path', 'where the tool will go'),
    'status': ('~/status', 'what the node is doing and why'),
    'markers': ('~/markers', 'chain, target and residual for RViz'),
    'scene_markers': ('~/scene_markers', 'what stands around the arm, for RViz'),
    'diagnostics': ('/diagnostics', 'for the diagnostic aggregator'),
    'tf': ('/tf', 'moving frames that targets may be given in'),
    'tf_static': ('/tf_static', 'fixed frames that targets may be given in'),
}
"""Topics of the node that can be renamed: default name and meaning."""
FRAME_TOPICS = ('tf', 'tf_static')
SHOWN_TOPICS = ('solution_pose', 'planned_path', 'markers', 'scene_markers')
"""Topics of the node that RViz shows, as named in its configuration: only what is sent out."""
HANDLE_NAMES = ('update', 'feedback', 'get_interactive_markers')
"""Topics and the service of `drag_target`, below the name of the node and its own."""


class ScopedLaunchDescription(LaunchDescription):
    """
    A launch description whose includer finds its launch configurations as they were before.

    `launch` sets the arguments of an include in the configurations of the includer, where they
    overwrite values of the same name and reach the next include; the included file runs after
    that, so a group in it comes too late (https://github.com/ros2/launch/issues/801). Just
    before, however, the include asks the description which arguments it declares. The values of
    that moment are kept, and put back at the end. Where another release of `launch` does not ask,
    its own behaviour remains: what this file sets is gone at the end, the arguments stay.

    Parameters
    ----------
    entities : iterable of LaunchDescriptionEntity
        Actions of the launch file, its arguments among them.

    """

    def __init__(self, entities: Iterable[LaunchDescriptionEntity]) -> None:
        super().__init__([GroupAction(entities), OpaqueFunction(function=self._put_back)])
        self._before: dict[str, str] | None = None
        """Configurations of the includer before it set the arguments; None: not included."""

    def get_launch_arguments_with_include_launch_description_actions(
        self, conditional_inclusion: bool = False
    ) -> list[tuple[DeclareLaunchArgument, list[IncludeLaunchDescription]]]:
        """Tell the declared arguments; keep the configurations where an include asks for them."""
        frame = inspect.currentframe()
        context = _context_of_include(frame.f_back if frame is not None else None)
        if context is not None:
            self._before = dict(context.launch_configurations)
        return super().get_launch_arguments_with_include_launch_description_actions(
            conditional_inclusion
        )

    def _put_back(self, context: LaunchContext) -> None:
        if self._before is not None:
            context.launch_configurations.clear()
            context.launch_configurations.update(self._before)
            self._before = None


def _context_of_include(frame: FrameType | None) -> LaunchContext | None:
    """Context that an include runs in; None if the frame is not that of an include."""
    names = frame.f_locals if frame is not None else {}
    is_include = isinstance(names.get('self'), IncludeLaunchDescription)
    return names.get('context') if is_include else None


def launch_file(name: str) -> PathJoinSubstitution:
    """Path of a launch file of this package."""
    return PathJoinSubstitution([FindPackageShare('fabrik_ros'), 'launch', name])


def node_arguments() -> list[DeclareLaunchArgument]:
    """Declare what the node is called, and where its parameters come from."""
    return [
        DeclareLaunchArgument(
            'namespace', default_value='', description='Namespace of everything started here.'
        ),
        DeclareLaunchArgument(
            'node_name', default_value='fabrik', description='Name of the node.'
        ),
        DeclareLaunchArgument(
            'params_file',
            default_value=default_params_file(),
            description='Parameters of the node.',
        ),
        DeclareLaunchArgument(
            'arm',
            default_value='',
            description='Parameters of an arm, read after params_file: '
            'the name of a bundled preset (ur5e, franka_fr3, so101) or a file.',
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
        DeclareLaunchArgument(
            'controller',
            default_value='',
            description='Controller that takes the commands, such as joint_trajectory_controller; '
            'it is looked for in the namespace, or from the root with a slash in front. Empty: as '
            'in arm or params_file.',
        ),
        DeclareLaunchArgument(
            'output',
            default_value='',
            choices=['', 'joint_state', *TOPICS_OF_CONTROLLERS],
            description='What takes the commands: a controller of trajectories or of arrays, or a '
            'driver that listens to joint_command. Empty: trajectory with a controller, else as '
            'in arm or params_file.',
        ),
        DeclareLaunchArgument(
            'mesh_paths',
            default_value='',
            description='Folders with meshes, separated by colons. Empty: as in params_file, and '
            'those beside the description.',
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


def default_params_file() -> PathJoinSubstitution:
    """Path of the file that has all parameters with their defaults."""
    return PathJoinSubstitution([FindPackageShare('fabrik_ros'), 'config', 'fabrik.yaml'])


def default_rviz_config() -> PathJoinSubstitution:
    """Path of the configuration of RViz."""
    return PathJoinSubstitution([FindPackageShare('fabrik_ros'), 'config', 'demo.rviz'])


def topic_arguments(own_frames: bool = False) -> list[DeclareLaunchArgument]:
    """Declare the names of the topics; with `own_frames` tf is inside the namespace."""
    return [
        DeclareLaunchArgument(
            name,
            default_value=name if own_frames and name in FRAME_TOPICS else topic,
            description=f'Topic: {meaning}.',
        )
        for name, (topic, meaning) in TOPICS.items()
    ]


def xacro_argument() -> DeclareLaunchArgument:
    """Declare what is handed to a xacro file."""
    return DeclareLaunchArgument(
        'xacro_args',
        default_value='',
        description="Arguments for the xacro file: 'name:=value name:=value'.",
    )


def rviz_arguments(is_open: str = 'false', drag: str = 'true') -> list[DeclareLaunchArgument]:
    """Declare whether RViz opens, with what, and whether the arm can be dragged there."""
    return [
        DeclareLaunchArgument(
            'rviz', default_value=is_open, choices=BOOLEAN, description='Open RViz.'
        ),
        DeclareLaunchArgument(
            'rviz_config',
            default_value=default_rviz_config(),
            description='Configuration of RViz. The default is shown with the fixed frame and the '
            'view that fit the arm; in another one base_link, if given, becomes the fixed frame.',
        ),
        DeclareLaunchArgument(
            'drag',
            default_value=drag,
            choices=BOOLEAN,
            description='With rviz:=true: show a handle at each tool; whoever drags it sends '
            'targets.',
        ),
    ]


def parameter_files(context: LaunchContext) -> list[Path]:
    """Files with the parameters of the node; the last one wins."""
    values = context.launch_configurations
    files = [find_file(values['params_file'], 'params_file')]
    return [*files, find_preset(values['arm'])] if values['arm'] else files


def node_parameters(context: LaunchContext) -> dict[str, Any]:
    """Parameters that the files give the node."""
    return parameters_in(parameter_files(context), context.launch_configurations['node_name'])


def mesh_paths(context: LaunchContext) -> list[str]:
    """List folders with meshes: as given, or those of the files and beside the description."""
    values = context.launch_configurations
    if values['mesh_paths']:
        return values['mesh_paths'].split(':')
    of_files = node_parameters(context).get('mesh_paths', [])
    description = values.get('description')
    beside = folders_of_meshes(description) if description else []
    return [*filter(None, of_files), *beside]


def links(context: LaunchContext) -> Links:
    """Links that the node is told to use."""
    values = context.launch_configurations
    given = {name: values[name] for name in ('base_link', 'tip_link')}
    return Links.of(parameter_files(context), values['node_name'], given)


def rviz(
    context: LaunchContext, robot: Mechanism | None = None, ends_launch: bool = False
) -> Node:
    """
    Open RViz, if wanted, on the topics of the node and the description of the robot.

    Parameters
    ----------
    context : LaunchContext
        Has the arguments.
    robot : Chain or Tree, optional
        The arm, where it is known before the node has it: the view fits it.
    ends_launch : bool
        Whether everything ends when RViz is closed; else a line says that it does not.

    """
    values = context.launch_configurations
    return Node(
        package='rviz2',
        executable='rviz2',
        namespace=LaunchConfiguration('namespace'),
        condition=IfCondition(LaunchConfiguration('rviz')),
        arguments=_rviz_arguments(context, robot),
        parameters=[clock(context)],
        remappings=[
            ('/robot_description', LaunchConfiguration('robot_description')),
            *(
                (f'/fabrik/{topic}', resolve_private(values[topic], values['node_name']))
                for topic in SHOWN_TOPICS
            ),
            *(
                (f'/fabrik/{tip}/{topic}', f'{values["node_name"]}/{tip}/{topic}')
                for tip in tips_of(robot)
                for topic in TIP_TOPICS
            ),
            *(
                (f'/fabrik/drag_target/{name}', f'{values["node_name"]}/drag_target/{name}')
                for name in HANDLE_NAMES
            ),
            *frame_remappings(),
        ],
        on_exit=partial(_on_rviz_closed, ends_launch),
    )


def rviz_packages(context: LaunchContext) -> list[str]:
    """Name the packages that RViz, if wanted, and what is dragged there need."""
    if not is_true(context, 'rviz'):
        return []
    return ['rviz2', *(['interactive_markers'] if is_true(context, 'drag') else [])]


def handles(context: LaunchContext) -> list[Node]:
    """Show handles in RViz, if both are wanted."""
    values = context.launch_configurations
    if not (is_true(context, 'rviz') and is_true(context, 'drag')):
        return []
    name = values['node_name']
    topics = ('target_pose', 'status')
    return [
        Node(
            package='fabrik_ros',
            executable='drag_target',
            namespace=values['namespace'],
            output='screen',
            parameters=[{'node': name}, clock(context)],
            remappings=[
                *((f'{name}/{topic}', resolve_private(values[topic], name)) for topic in topics),
                *((topic, values[topic]) for topic in ('joint_states', 'robot_description')),
            ],
        )
    ]


def _rviz_arguments(context: LaunchContext, robot: Mechanism | None) -> list[str]:
    """Choose configuration and fixed frame; one's own configuration keeps its frame and view."""
    values = context.launch_configurations
    config, frame = find_file(values['rviz_config'], 'rviz_config'), values['base_link']
    if values['rviz_config'] == default_rviz_config().perform(context):
        frame = links(context).base_link if robot is None else robot.base_link
        if robot is not None and is_true(context, 'rviz'):
            config = fitted_to(config, robot)
    return ['-d', str(config), *(['-f', frame] if frame else [])]


def _on_rviz_closed(
    ends_launch: bool, event: ProcessExited, context: LaunchContext
) -> list[Action]:
    if context.is_shutdown:
        return []
    if ends_launch:
        return [Shutdown(reason='RViz was closed')]
    return [LogInfo(msg='RViz was closed; the node goes on, until Ctrl-C here')]


def clock(context: LaunchContext) -> dict[str, bool]:
    """Parameters of whatever runs beside the node: the same clock."""
    return {'use_sim_time': is_true(context, 'use_sim_time')}


def is_true(context: LaunchContext, argument: str) -> bool:
    """Whether an argument is true; an empty one is not."""
    return bool(context.launch_configurations[argument].lower() == 'true')


def frame_remappings() -> list[tuple[str, LaunchConfiguration]]:
    """Remappings of /tf and /tf_static, which nodes name absolutely."""
    return [(f'/{topic}', LaunchConfiguration(topic)) for topic in FRAME_TOPICS]
