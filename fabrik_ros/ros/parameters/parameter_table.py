"""
The table of all parameters: name, type, default, range, and what each one means.

The node declares them from this table, and `config/fabrik.yaml` and docs/node.md are written from
it: `python -m fabrik_ros.ros.parameters.parameter_docs`. No ROS in here.

"""

from dataclasses import dataclass

from ...motion.follower_options import CHOICES, FollowerOptions
from ...solver.options import METHODS
from .parameter_spec import HUGE, parameter, Spec, specs_of, TINY

WIDEST_CLEARANCE = 1.0
"""[m]"""


@dataclass(frozen=True)
class ArmParameters:
    """The arm."""

    robot_description: str = parameter('', 'URDF text; empty: from the topic', live=False)
    base_link: str = parameter(
        '',
        'first link of the chain; empty: the root of the model',
        'Where several links are sensible the node refuses, and names them.',
        live=False,
    )
    tip_link: str = parameter(
        '',
        'last link of the chain; empty: the end of the only arm',
        'Grippers at the end are left out.',
        live=False,
    )
    tip_links: tuple[str, ...] = parameter(
        (),
        'last links of arms that share a base, instead of `tip_link`',
        'The arms may share joints. Each tip has topics of its own, ~/<tip>/target_pose, '
        '~/<tip>/jog and ~/<tip>/solution_pose; one ~/joint_command holds the joints of all. In '
        '<tip> any character but letters, digits and _ becomes _, and tip_ comes in front where '
        "the name does not begin with a letter. For example ['left_tool', 'right_tool'].",
        live=False,
    )
    tip_modes: tuple[str, ...] = parameter(
        (),
        'mode of each of `tip_links`; none: `mode` for all',
        "For example ['pose', 'position'].",
    )
    tip_weights: tuple[float, ...] = parameter(
        (),
        'how much the errors of each of `tip_links` count; none: 1 for all',
        'They matter where not all targets can be met. For example [1.0, 0.2].',
    )
    idle_tips: str = parameter(
        FollowerOptions.idle_tips,
        'what a tip without a target does while others move: `keep` its pose, or be `free`',
        'A pose is kept in the base frame. A stop for a reason ends all targets.',
        choices=CHOICES['idle_tips'],
        live=False,
    )
    tool_offset: tuple[float, ...] = parameter(
        (0.0, 0.0, 0.0, 0.0, 0.0, 0.0),
        'tool in the tip frame: x y z [m], roll pitch yaw [rad]; with `tip_links` six numbers for '
        'each',
        'Targets are for the tool. Six zeros mean no tool, for any number of tips.',
        live=False,
    )
    use_safety_limits: bool = parameter(
        True,
        "narrow the joint limits to the soft limits of the URDF's `safety_controller`",
        live=False,
    )


@dataclass(frozen=True)
class SolverParameters:
    """The solver."""

    mode: str = parameter(
        FollowerOptions.mode,
        'part of the target to meet: `pose`, `axis` (position and one tool axis), '
        '`position`, or `auto`: pose with six joints or more, else position exactly, and '
        'orientation too where that can be, else the best there is',
        'With auto, tips of tip_links with fewer joints meet the position alone.',
        choices=('auto', 'pose', 'axis', 'position'),
    )
    axis: tuple[float, ...] = parameter(
        FollowerOptions.axis, 'tool axis for mode `axis`, in the tip frame', 'Any length but 0.'
    )
    method: str = parameter(
        FollowerOptions.method,
        'what FABRIK moves: `articulated`: joints; `points`: joint centres, then '
        'the joints that fit them, exact for arms in a plane, instructive on others; one tip only',
        choices=METHODS,
        live=False,
    )
    polish: str = parameter(
        FollowerOptions.polish,
        '`auto`: a few damped least-squares steps finish a solution; `never`: FABRIK alone',
        choices=('auto', 'never'),
    )
    position_tolerance: float = parameter(
        FollowerOptions.position_tolerance, 'accepted position error [m]', low=TINY
    )
    orientation_tolerance: float = parameter(
        FollowerOptions.orientation_tolerance, 'accepted orientation error [rad]', low=TINY
    )
    solve_budget: float = parameter(
        FollowerOptions.solve_budget, 'longest search from scratch [s]', low=1e-4, high=10.0
    )
    posture: tuple[float, ...] = parameter(
        FollowerOptions.posture,
        'joint values that an arm with joints to spare tends to [rad or m], base to tip; none: it '
        'stays near to where it is',
        'The elbow of a seven-joint arm then depends on the target, not on the path there. Inside '
        'the limits; for one tip and method articulated.',
    )


@dataclass(frozen=True)
class PathParameters:
    """The path to the target."""

    path: str = parameter(
        FollowerOptions.path,
        '`auto`: the line where that goes through, else a path in joint space; `line`: straight '
        'for the tool; `joint`: straight in joint space',
        'Targets within stream_timeout of each other are followed by the line alone, also with '
        '`auto`. `line` is for teleoperation: the arm never changes its configuration.',
        choices=CHOICES['path'],
    )
    max_detour: float = parameter(
        FollowerOptions.max_detour,
        'a path on which a revolute joint turns this much farther than from the start straight '
        'to the end waits for `~/execute` [rad]',
        low=0.0,
        high=1000.0,
    )
    confirm: str = parameter(
        FollowerOptions.confirm,
        'which paths wait for `~/execute`: `never` any, those `leaving_line`, or `always`',
        'Paths with a detour wait anyway: max_detour. With `always` streams wait, too; jogs do '
        'not.',
        choices=CHOICES['confirm'],
    )
    path_tolerance_position: float = parameter(
        FollowerOptions.path_tolerance_position,
        'how far the tool may leave the line at singularities [m]; -1: 0.005 with path `auto`, '
        'else 0',
        low=-1.0,
        high=1.0,
    )
    path_tolerance_orientation: float = parameter(
        FollowerOptions.path_tolerance_orientation,
        'how far its orientation may leave it there [rad]; -1: 0.0873 (5 degrees) with path '
        '`auto`, else 0',
        low=-1.0,
        high=3.15,
    )
    dodge_distance: float = parameter(
        FollowerOptions.dodge_distance,
        'distance beyond `obstacle_clearance` that links seek from obstacles by the self-motion '
        'of an arm with more than six joints, while a stream or a jog leads the tool [m]; 0: '
        'they keep still',
        low=0.0,
        high=1.0,
    )
    dodge_at_rest: bool = parameter(
        FollowerOptions.dodge_at_rest,
        'whether they get out of the way at a target as well, the tool where it is, a second '
        'after the status has announced it',
    )
    on_unreachable: str = parameter(
        FollowerOptions.on_unreachable,
        '`approach` targets out of reach as near as possible, or `hold`; also for '
        'targets in collision',
        choices=CHOICES['on_unreachable'],
    )


@dataclass(frozen=True)
class OutputParameters:
    """The commands."""

    command_rate: float = parameter(
        FollowerOptions.command_rate,
        'commands per second [Hz]; targets at a rate within 10 % of it lead the commands: '
        'each command leaves with its target',
        low=1.0,
        high=1000.0,
        live=False,
    )
    output: tuple[str, ...] = parameter(
        ('joint_state',),
        'messages that commands are sent in: any of `joint_state`, `trajectory`, `array`',
        'joint_state: sensor_msgs/JointState on ~/joint_command. trajectory: '
        "trajectory_msgs/JointTrajectory for ros2_control's joint_trajectory_controller, a part "
        'of one curve at absolute times, from 50 ms ago to a stop after the newest command. '
        'array: std_msgs/Float64MultiArray of joint values for its forward_command_controller, '
        "which needs command_rate to be the controllers' update_rate: docs/motion.md.",
        live=False,
    )
    trajectory_topic: str = parameter(
        '~/joint_trajectory', 'topic of the output `trajectory`', live=False
    )
    trajectory_look_ahead: float = parameter(
        0.0,
        'how long after its stamp a controller of trajectories reaches a command [s]; 0: '
        'three periods and 0.03 s, up to 0.3 s where messages come too late',
        'The default tolerates messages that are late by 20 ms, and one lost message; where more '
        'is late it grows, and later comes back. Other values stay as they are, and are at least '
        'two periods and 0.01 s. A controller whose messages may be late by 50 ms needs 0.1. '
        'Targets and holds show so much later.',
        low=0.0,
        high=1.0,
        live=False,
    )
    array_topic: str = parameter('~/commands', 'topic of the output `array`', live=False)
    command_joints: tuple[str, ...] = parameter(
        (),
        'joints that are commanded, in this order; none: all, base to tip',
        'Joints of the chain that are left out get no commands. For example '
        "['shoulder_pan', 'shoulder_lift', 'elbow', 'wrist_1', 'wrist_2', 'wrist_3'].",
        live=False,
    )


@dataclass(frozen=True)
class LimitParameters:
    """The limits of the motion."""

    max_tip_speed: float = parameter(
        FollowerOptions.max_tip_speed,
        'speed of tips and joint centres [m/s]; on every path, `joint` and `~/home` included',
        low=1e-4,
        high=100.0,
    )
    max_tip_rotation: float = parameter(
        FollowerOptions.max_tip_rotation,
        'turning speed of tips [rad/s]; on every path',
        low=1e-4,
        high=100.0,
    )
    max_tip_acceleration: float = parameter(
        FollowerOptions.max_tip_acceleration,
        'acceleration of tips on a line [m/s²]',
        low=1e-3,
        high=1000.0,
    )
    speed_scaling: float = parameter(
        FollowerOptions.speed_scaling,
        'share of all speeds to go at, for changes on the way; 0 pauses until it is raised',
        'The arm gets slower or faster within its accelerations. While paused it is at rest and '
        'stays under command. The motion that makes up for a moving base is not scaled.',
        low=0.0,
        high=1.0,
    )
    max_joint_velocity_fraction: float = parameter(
        FollowerOptions.max_joint_velocity_fraction,
        "share of each joint's velocity in the URDF that may be used",
        low=1e-3,
        high=1.0,
    )
    max_joint_velocity: float = parameter(
        FollowerOptions.max_joint_velocity,
        'velocity of every joint [rad/s or m/s], whatever the URDF says',
        'Velocity over acceleration may be at most 0.5 s, the time in which the arm must be able '
        'to stop.',
        low=1e-3,
        high=100.0,
    )
    max_joint_acceleration: float = parameter(
        FollowerOptions.max_joint_acceleration,
        'acceleration of every joint [rad/s² or m/s²]; a lower one in the URDF counts',
        low=1e-2,
        high=1000.0,
    )
    max_joint_jerk: float = parameter(
        FollowerOptions.max_joint_jerk,
        'jerk of every joint [rad/s³ or m/s³], 0: as the URDF limits it; needs ruckig (`pip '
        'install ruckig`, extra `motion`)',
        'The commands then lag behind by max_joint_acceleration over max_joint_jerk, at most '
        '0.5 s, and come to rest that much later.',
        low=0.0,
        high=1e6,
        live=False,
    )
    jerk_limiting: str = parameter(
        'require',
        'where ruckig is missing: `require`: refuse to configure; `auto`: say so and '
        'leave the jerk unlimited',
        choices=('auto', 'require'),
        live=False,
    )


@dataclass(frozen=True)
class CollisionParameters:
    """Collisions of the arm with itself, and with what stands around it."""

    self_collision: str = parameter(
        FollowerOptions.self_collision,
        'stop in front of collisions of the arm with itself: `auto`: where coal is '
        'installed and the URDF has collision geometry; `require`: do not configure without '
        'them; `never`',
        choices=CHOICES['self_collision'],
        live=False,
    )
    collision_clearance: float = parameter(
        FollowerOptions.collision_clearance,
        'distance that links keep from each other [m]',
        low=0.0,
        high=WIDEST_CLEARANCE,
        live=False,
    )
    pair_clearances: tuple[str, ...] = parameter(
        (),
        'distances that pairs of links keep instead [m], as `link_a/link_b=0.01`',
        "For example ['forearm/tool=0.03', 'base/hand=0.0'].",
        live=False,
    )
    allowed_collisions: tuple[str, ...] = parameter(
        (),
        'pairs of links that may touch, as `link_a/link_b`, besides neighbours and pairs that '
        'always touch',
        "For example ['hand/tool'].",
        live=False,
    )
    scene: str = parameter(
        '',
        'YAML file with what stands around the arm; needs coal',
        'Without one the arm knows of no obstacles.',
        live=False,
    )
    obstacle_clearance: float = parameter(
        FollowerOptions.obstacle_clearance,
        'distance that links keep from obstacles [m]',
        'Links that are nearer when the arm is started keep the distance they have.',
        low=0.0,
        high=WIDEST_CLEARANCE,
        live=False,
    )
    point_size: float = parameter(
        0.02,
        'edge of the cells that points of ~/points are sorted into [m]',
        'At most 20,000 of them may be occupied; a larger cloud is refused with the size that '
        'fits.',
        low=0.002,
        high=1.0,
        live=False,
    )
    points_padding: float = parameter(
        0.015,
        "distance from a link up to which points are the robot's own [m]",
        'It covers the errors of the sensor and of its place; `obstacle_clearance` must be '
        'greater.',
        low=0.0,
        high=WIDEST_CLEARANCE,
        live=False,
    )
    require_points: bool = parameter(
        False,
        'move only after a first cloud on ~/points was accepted; set it with any camera',
        live=False,
    )
    scene_timeout: float = parameter(
        0.5,
        'age at which the frame of an obstacle is lost, and the arm stops [s]; 0: never',
        'Of frames that only tf knows and that move. The obstacle stays where it was.',
        low=0.0,
        live=False,
    )
    planning_time: float = parameter(
        10.0,
        'how long a planner looks for a path round what is in the way [s]; 0: no planner',
        'Needs coal, and works in a thread of its own. Without it only paths over one '
        'configuration between are looked for.',
        low=0.0,
        high=600.0,
        live=False,
    )
    on_blocked: str = parameter(
        FollowerOptions.on_blocked,
        'after an obstacle has stopped the arm: `hold` until `~/resume`, or `replan`',
        'hold: ~/resume, or a target after 1 s without any, goes on. replan: looks for another '
        'path from rest, 1 s after the last change nearby, at most three times.',
        choices=CHOICES['on_blocked'],
    )
    mesh_paths: tuple[str, ...] = parameter(
        FollowerOptions.mesh_paths,
        'folders with meshes, besides packages of ROS; `name=folder` is that of a package',
        "For example ['/home/me/meshes', 'my_arm=/home/me/arm'].",
        live=False,
    )


@dataclass(frozen=True)
class StateParameters:
    """The state of the robot."""

    wait_for_state: bool = parameter(
        FollowerOptions.wait_for_state,
        'move only from a measured state',
        'With false the arm is taken to be at start_configuration and joint_states is not needed: '
        'for plots and open-loop servos only.',
        live=False,
    )
    start_configuration: tuple[float, ...] = parameter(
        FollowerOptions.start_configuration,
        'where the arm is when nothing is measured [rad or m]; none: mid limits',
        'Joint values from base to tip, with tip_links in the order of ~/joint_command. For '
        'example [0.0, -1.57, 1.57, -1.57, -1.57, 0.0].',
        live=False,
    )
    home_configuration: tuple[float, ...] = parameter(
        FollowerOptions.home_configuration,
        'where `~/home` takes the arm [rad or m], joints as in `~/joint_command`; none: the '
        'service refuses',
        'Inside the limits; the path is straight in joint space. ~/target_configuration knows it '
        "as 'home'.",
    )
    ready_topic: str = parameter(
        '',
        'std_msgs/Bool that tells whether the robot is ready to move; empty: it always is',
        "Latched or volatile, for example UR's io_and_status_controller/robot_program_running. "
        'false stops the arm, and so does silence before the first message.',
        live=False,
    )
    speed_scaling_topic: str = parameter(
        '',
        'std_msgs/Float64, percentage of speed that the robot allows itself; empty: 100',
        "For example UR's speed_scaling_state_broadcaster/speed_scaling. The motion slows down "
        'with it, and 0 pauses it.',
        live=False,
    )
    state_timeout: float = parameter(
        FollowerOptions.state_timeout,
        'age at which a joint state is lost, and the arm stops [s]',
        low=1e-3,
    )
    resync_tolerance: float = parameter(
        FollowerOptions.resync_tolerance,
        'greatest gap between commands and the measured state [rad or m]',
        'Beyond it the arm holds, and starts anew from the measured state.',
        low=1e-4,
    )
    arrival_tolerance_position: float = parameter(
        FollowerOptions.arrival_tolerance_position,
        'greatest distance of the measured tips from their commands for REACHED [m]',
        'An arm that lags is settling until then; one that stays short holds, and says how far it '
        'is off. 0.002 suits a stiff industrial arm, 0.02 one of hobby servos.',
        low=1e-6,
    )
    arrival_tolerance_orientation: float = parameter(
        FollowerOptions.arrival_tolerance_orientation,
        'the same for their orientation [rad]',
        low=1e-6,
    )
    limit_margin: float = parameter(
        FollowerOptions.limit_margin,
        'a start outside a limit by up to this may move inwards [rad or m]',
        low=0.0,
    )


@dataclass(frozen=True)
class BaseParameters:
    """A base that moves."""

    world_frame: str = parameter(
        '',
        'frame in which targets stay while the base moves; empty: none do',
        'Targets in it, or in any frame that is no link of the robot, stay where they are. The '
        'arm makes up for the motion of the base on the path and after it, until the base is at '
        'rest. Targets in the frames of links stay relative to the base.',
        live=False,
    )
    base_odometry: str = parameter(
        '',
        'topic that tells where the base is in `world_frame`; empty: tf',
        'nav_msgs/Odometry of a link of the robot, in world_frame. Between two messages its twist '
        'tells how the base goes on, for at most 0.1 s. With tf the last three transforms do.',
        live=False,
    )
    base_timeout: float = parameter(
        0.5,
        'age at which the pose of the base is lost, and the arm stops [s]',
        low=1e-3,
        live=False,
    )


@dataclass(frozen=True)
class TargetParameters:
    """Paths through several targets, and the age of targets."""

    blend_radius: float = parameter(
        0.0,
        'distance from a pose of `~/target_path` within which the arm may pass it [m]',
        'With 0.0 the arm stops at each.',
        low=0.0,
    )
    tip_speed: float = parameter(
        0.0,
        'speed of the tip along `~/target_path` [m/s]; 0: the greatest',
        'It is kept but for starts, stops and blends, where the joints can.',
        low=0.0,
    )
    target_timeout: float = parameter(
        FollowerOptions.target_timeout,
        'stop without a target for this long [s]; 0: never',
        "A dead man's switch for teleoperation. With 0.0 the arm finishes its path to the last "
        'target.',
        low=0.0,
    )
    jog_timeout: float = parameter(
        FollowerOptions.jog_timeout,
        'a jog not repeated for this long ends [s]',
        'The tip brakes to rest.',
        low=1e-3,
        high=10.0,
    )
    stream_timeout: float = parameter(
        FollowerOptions.stream_timeout,
        'a different target within this time of the one before belongs to a stream, and is '
        'followed by the line alone [s]',
        low=0.0,
        high=100.0,
    )
    max_target_age: float = parameter(
        0.0,
        'refuse targets and jogs with an older stamp, or one ahead of the clock [s]; 0: never',
        low=0.0,
    )


@dataclass(frozen=True)
class GripperParameters:
    """The gripper."""

    gripper_joint: str = parameter(
        '',
        'joint that opens and closes the gripper; empty: the only one that looks like it',
        'Joints that mimic it follow. `~/gripper` takes widths.',
        live=False,
    )
    gripper_widths: tuple[float, ...] = parameter(
        (),
        'widths between the fingers at the lower and at the upper limit of that joint [m]; none: '
        'by the kinematics, where two fingers slide towards each other',
        'For example [0.085, 0.0] for a joint that closes as its value grows.',
        live=False,
    )
    gripper_speed: float = parameter(
        0.1,
        'speed of the width [m/s]',
        'The joint keeps its velocity in the URDF and the limits of all joints, too.',
        low=1e-4,
        high=10.0,
    )
    gripper_action: str = parameter(
        '',
        'action of a gripper controller, control_msgs/ParallelGripperCommand; empty: the joint is '
        'commanded on `~/joint_command`',
        'The controller then moves the fingers its own way.',
        live=False,
    )
    gripper_effort: float = parameter(
        0.0, 'greatest effort that is asked of that controller [N or N m]; 0: its own', low=0.0
    )
    graspable: tuple[str, ...] = parameter(
        (),
        'names of obstacles that the gripper may touch; * stands for anything',
        "For example ['part*']. Without a gripper the tip link, and what is fixed to it, may.",
        live=False,
    )


@dataclass(frozen=True)
class LifeCycleParameters:
    """Life cycle."""

    autostart: bool = parameter(
        True,
        'configure and activate when there is a model',
        'With false use ros2 lifecycle set.',
        live=False,
    )


SECTIONS = (
    ArmParameters,
    SolverParameters,
    PathParameters,
    OutputParameters,
    LimitParameters,
    CollisionParameters,
    StateParameters,
    BaseParameters,
    TargetParameters,
    GripperParameters,
    LifeCycleParameters,
)
CONFIGURATIONS = 'configurations.'
"""Beginning of the names of parameters that hold named configurations."""
CONFIGURATION = Spec(
    meaning='joint values of a configuration with that name, for `~/target_configuration` [rad or '
    'm], joints as in `~/joint_command`',
    notes="As many as you like, each inside the limits; 'home' is home_configuration.",
    low=-HUGE,
    high=HUGE,
    choices=(),
    is_live=True,
    name=f'{CONFIGURATIONS}<name>',
    type=float,
    default=[],
)
"""Declared once for each configuration that is given."""
SPECS: tuple[Spec, ...] = tuple(spec for section in SECTIONS for spec in specs_of(section))
SPEC_BY_NAME = {spec.name: spec for spec in SPECS}
RENAMED = {
    'velocity_scaling': 'max_joint_velocity_fraction',
    'may_touch': 'allowed_collisions',
    'mesh_folders': 'mesh_paths',
}
"""New names of parameters by their old ones, which are accepted until 1.0."""
REMOVED = {
    'allow_reconfiguration': "path 'auto', the default, changes the configuration where the line "
    "is blocked; path 'line' never does"
}
"""Advice for parameters that are no more, by their names; warned of until 1.0."""
