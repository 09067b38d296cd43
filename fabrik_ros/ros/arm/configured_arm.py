"""The arm, and all that exists once a robot description was accepted."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
import re

import numpy as np
from rclpy.node import Node
from sensor_msgs.msg import JointState

from ...collision import Obstacle, PointCells, Scene
from ...errors import ChainError, FabrikError, MotionError, SceneError
from ...model.chain import Chain
from ...model.robot import Robot
from ...model.tree import Tree
from ...model.urdf import parse_urdf
from ...motion.choosing.motion import Motion
from ...motion.following.follower import Follower
from ...motion.following.measured_joints import MeasuredJoints
from ...motion.following.start_gate import StartGate
from ...motion.limits.jerk_filter import JerkFilter
from ...motion.limits.limits import MotionLimits
from ...reasons import Reason, ReasonKind
from ...transforms import Array
from ..clocks.log_periods import WARNING_PERIOD
from ..clocks.stamps import ahead, FUTURE
from ..inputs.base_pose import BasePose, BasePoseError, OdometryBase, TfBase
from ..inputs.controller_state import ControllerReference
from ..inputs.frame_resolver import FramedTarget, FrameResolver
from ..inputs.joint_history import JointHistory, LENGTH, MOST_LENGTH
from ..inputs.marker_obstacles import Groups
from ..inputs.relative_targets import RelativePrograms, RelativeTargets
from ..inputs.robot_state import RobotState
from ..messages.conversions import seconds
from ..outputs.command_loop import CommandLoop, StreamState
from ..outputs.topics import Surroundings
from ..parameters.node_parameters import NodeParameters
from ..status.neighbours import node_of
from ..world.collision_watch import CollisionWatch, setup_of
from ..world.handled_obstacles import HandledObstacles
from ..world.obstacles import World
from ..world.other_joints import OtherJoints
from ..world.planning import make_planner, NodePlanner, why_none
from ..world.point_watch import PointWatch
from .arm_gripper import ArmGripper

NEARBY = 0.1
"""Distance within which changes matter to a blocked arm, besides its braking distance [m]."""


class ConfiguredArm:
    """
    The arm with everything that moves and watches it.

    Parameters
    ----------
    surroundings : Surroundings
        The node, its clock and its topics.
    parameters : NodeParameters
        How it is to move.
    robot, chain
        The robot, and the arm or arms of it that move.
    motion : Motion
        How they move.
    watch : CollisionWatch
        How near their links come to each other.
    planner : NodePlanner or None
        Finds ways round what is in the way.
    groups : mapping
        Obstacles in markers that came before.
    stream : StreamState, optional
        What remains of the commands of the arm before this one.
    carried : HandledObstacles, optional
        What its hand carried.

    Attributes
    ----------
    measured : MeasuredJoints
        The joints of the robot as measured.
    others : OtherJoints
        Those outside the arm that collisions depend on.
    joints : JointHistory
        Where they were in the last seconds.
    relative_targets : RelativeTargets
        The newest targets in frames that the arm moves.
    relative_programs : RelativePrograms
        The newest program with such frames.
    clock_jump : Reason or None
        How the clock jumped, if no joint state has come since.
    world : World
        What stands around the arm.
    planner : NodePlanner or None
        Finds ways round what is in the way.
    frames : FrameResolver
        Brings targets into the base frame.
    gripper : ArmGripper
        What grasps.
    base : BasePose or None
        Where the base is in the world; None where no target stays in the world.
    loop : CommandLoop
        Sends the commands.

    """

    def __init__(
        self,
        surroundings: Surroundings,
        parameters: NodeParameters,
        robot: Robot,
        chain: Chain | Tree,
        motion: Motion,
        watch: CollisionWatch,
        planner: NodePlanner | None,
        groups: Groups,
        stream: StreamState | None = None,
        carried: HandledObstacles | None = None,
    ) -> None:
        self._node = node = surroundings.node
        self._clock, self._log = surroundings.clock, node.get_logger()
        self._topics = surroundings.topics
        self._parameters = parameters
        self.robot, self.chain, self.motion, self.watch = robot, chain, motion, watch
        self.description_warnings = (*robot.warnings, *parameters.warnings_for(chain))
        self.planner = planner
        self.measured = MeasuredJoints(joint.name for joint in robot.joints)
        self.others = OtherJoints(node.get_logger(), watch)
        self.joints = JointHistory(
            (joint.name for joint in robot.joints),
            turning=(joint.name for joint in robot.joints if joint.type.is_revolute),
        )
        self._set_length_of_history()
        self.frames = FrameResolver(node, robot, chain.base_link, parameters.world_frame)
        self.relative_targets = RelativeTargets(self.frames, chain.joint_names, motion.is_same)
        self.relative_programs = RelativePrograms(self.frames, chain.joint_names)
        self.base = _base_pose(node, parameters, robot, chain.base_link, self.frames)
        self.loop = CommandLoop(
            surroundings,
            parameters,
            motion,
            self.world_in_base,
            self.heed_clock,
            self.take_clock_jump,
            before=stream,
        )
        self.gripper = ArmGripper(robot, chain, parameters, watch)
        handled = HandledObstacles(self.gripper.hand, parameters.graspable)
        if carried is not None:
            handled = handled.carrying_on(carried)
        self.world = World(
            parameters, robot, chain.base_link, self.frames, groups, self._set_scene, handled
        )
        self.clock_jump: Reason | None = None
        self._carried: list[Obstacle] = []
        self._points: PointWatch | None = None
        if watch.guard is not None:
            self._points = PointWatch(
                node,
                self._clock,
                parameters,
                robot,
                chain,
                self.frames,
                self.joints,
                watch,
                lambda: self.motion.command[0],
                self._note_points,
            )
        self._update_world()
        count = watch.obstacle_count
        self._log.info(f'{count or "no"} obstacles known')

    @property
    def follower(self) -> Follower | None:
        """Follower that decides what the arm does; None while the node is inactive."""
        return self.loop.follower

    @property
    def planner_state(self) -> str:
        """State of the planner, in the words of the status."""
        return why_none(self._parameters) if self.planner is None else self.planner.state

    @property
    def tip_links(self) -> tuple[str, ...]:
        """Names of the last links."""
        return self.chain.tip_links

    # -- the life cycle

    def new_follower(self, gate: StartGate) -> Follower:
        """
        Make what decides what the arm does while the node is active.

        Raises
        ------
        FabrikError
            If the parameters do not suit the arm; says which.

        """
        self.motion.reset(self.chain.mid_configuration())
        rules, last = self._parameters.rules, self.loop.last_command
        follower = Follower(self.chain, self.motion, rules, self.measured, last, gate)
        if self._topics.controller is not None:
            follower.observer.reference = self._topics.controller.reference
        return follower

    def start(self, follower: Follower) -> None:
        """Send the commands of a follower from now on."""
        self.loop.start(follower)
        self.take_robot_state()
        self._tell_world_fault()

    def close(self) -> None:
        """Stop listening to frames and to the pose of the base, and end the planner."""
        if self.planner is not None:
            self.planner.close()
        if self._points is not None:
            self._points.close()
        if self.base is not None:
            self.base.close()
        self.frames.close()

    # -- what changes on the way

    def change(self, parameters: NodeParameters) -> None:
        """Move by other parameters from now on."""
        before, self._parameters = self._parameters, parameters
        self._set_length_of_history()
        known = self.description_warnings
        self.description_warnings = (*self.robot.warnings, *parameters.warnings_for(self.chain))
        _warn_of_description(self._node, set(self.description_warnings) - set(known))
        if not parameters.moves_like(before, self.chain):
            limits = scaled_limits(parameters, self.chain, self._topics.robot)
            self.motion.change(limits, parameters.solver, parameters.motion, parameters.tips)
        solves_alike = (parameters.solver, parameters.tips) == (before.solver, before.tips)
        if self.planner is not None and not solves_alike:
            self.planner.change(setup_of(self.robot, self.chain, parameters))
        self.gripper.change(parameters)
        if self.follower is not None:
            self.follower.rules = parameters.rules

    def take_robot_state(self) -> None:
        """Take over what the robot says of itself."""
        robot = self._topics.robot
        if self.follower is not None:
            self.follower.observer.not_ready = robot.not_ready
            self.follower.observer.paused_by = robot.paused_by
        self.motion.scale_speed(self._parameters.speed_scaling * robot.speed_scaling)

    # -- the world

    def set_groups(self, groups: Groups, deleted: re.Pattern[str]) -> None:
        """
        Keep clear of the obstacles in markers, and of no others: see `World.set_groups`.

        Raises
        ------
        FabrikError
            If one makes no sense; nothing changes.

        """
        self.world.set_groups(groups, self._clock.now(), self.values_at, deleted)
        self._tell_world_fault()

    def look_around(self) -> None:
        """Take up what has changed around the arm without a message, and where its joints are."""
        self.heed_clock(*self._clock.read_ns())
        self._name_state_sources()
        now = self._clock.now()
        awaited = self.chain.joint_names if self._parameters.wait_for_state else ()
        values = self.fresh_values(now)
        self.gripper.look(self.measured, now)
        self.others.take({**self.gripper.commanded, **values}, now, awaited)
        try:
            self._update_world()
        except FabrikError as error:
            self._log.error(f'obstacles: {error}', throttle_duration_sec=WARNING_PERIOD)
        self._tell_world_fault()
        self.gripper.look_ahead(self.shown_configuration())
        if self.planner is not None:
            self.planner.attend()

    def look_at_gripper(self) -> None:
        """Take up where the gripper is measured."""
        now = self._clock.now()
        self.gripper.look(self.measured, now)

    def attach(self, name: str) -> None:
        """
        Let the hand carry an obstacle from where it is.

        Raises
        ------
        FabrikError
            If there is no such obstacle, or it is not known where the hand is.

        """
        self.world.attach(name, self._hand_in_root())

    def detach(self, name: str) -> None:
        """Put an obstacle down that the hand carries; FabrikError as for `attach`."""
        self.world.detach(name, self._hand_in_root())

    def _hand_in_root(self) -> Array:
        """Pose of what carries grasped obstacles in the root link, shape (4, 4)."""
        hand, root = self.gripper.hand, self.robot.root_link
        q = self.shown_configuration()
        commanded = {} if q is None else dict(zip(self.chain.joint_names, q, strict=True))
        values = {**commanded, **self.fresh_values()}
        return self.robot.pose(root, root if hand is None else hand.link, values)

    def _name_state_sources(self) -> None:
        """Find out who publishes states of joints, where they do not agree."""
        observer, now = (
            None if self.follower is None else self.follower.observer,
            self._clock.now(),
        )
        if observer is not None and (observer.why_contradicted(now) or observer.doubt(now)):
            topic = self._node.resolve_topic_name('joint_states')
            publishers = map(node_of, self._node.get_publishers_info_by_topic(topic))
            observer.state_sources = tuple(sorted(publishers))

    def _update_world(self) -> None:
        self.world.update(self._clock.now(), self.values_at)

    def _tell_world_fault(self) -> None:
        points, follower = self._points, self.follower
        if follower is not None:
            missing = None if points is None else points.fault(self._clock.now())
            follower.observer.world_fault = self.world.fault or missing

    def add_joint_state(self, message: JointState, now: float) -> None:
        """Take the state of some joints, received at a time [s]."""
        self.clock_jump = None
        stamp = seconds(message.header.stamp)
        self.measured.update(message.name, message.position, now, stamp or None)
        self.joints.add(message.name, message.position, stamp, now)

    def point_facts(self) -> dict[str, object]:
        """Say what is known of points, for the status."""
        return {} if self._points is None else self._points.facts()

    def _note_points(self, before: PointCells | None, cells: PointCells) -> None:
        """Look at what is ahead, among other points."""
        self.gripper.look_ahead(self.shown_configuration())
        follower, q = self.follower, self.motion.command[0]
        if follower is None:
            return
        self._tell_world_fault()
        minds, reach = follower.minds_changes, self._reach_of_stop
        is_near = minds and self.watch.is_near_points(cells.beyond(before), q, reach)
        follower.change_world(self._clock.now(), is_near)

    def _set_scene(self, scene: Scene, changed: frozenset[str]) -> None:
        """Keep clear of other obstacles, and look at what is ahead."""
        follower, q = self.follower, self.motion.command[0]
        was_near = self._is_near(changed, q)
        self.watch.set_scene(scene, q)
        carried = [obstacle for obstacle in scene if obstacle.link]
        if self._points is not None and carried != self._carried:
            self._points.change_shape()
        self._carried = carried
        self.gripper.look_ahead(self.shown_configuration())
        if follower is not None:
            follower.change_world(self._clock.now(), was_near or self._is_near(changed, q))

    def _is_near(self, names: frozenset[str], q: Array) -> bool:
        """Whether one of some obstacles is so near that it matters to the follower."""
        if self.follower is None or not self.follower.minds_changes:
            return False
        return self.watch.distance_of(names, q) <= self._reach_of_stop

    @property
    def _reach_of_stop(self) -> float:
        """Distance within which a change matters [m]."""
        limits = self.motion.limits
        return 0.5 * limits.tip_speed**2 / limits.tip_acceleration + NEARBY

    def take_reference(self, reference: ControllerReference) -> None:
        """Take where a controller has its joints, and look whether it follows its trajectory."""
        follower, names = self.follower, self.chain.joint_names
        q = values_of(names, reference.q)
        velocity = values_of(names, reference.velocity)
        is_sent = self.loop.hear(reference.time, q, velocity, reference.begin)
        if is_sent or follower is None or not follower.is_on_the_way or q is None:
            return
        planned = self.loop.curve_at(reference.time)
        if planned is not None:
            follower.watch_reference(q, planned, self._clock.now())

    # -- the time

    def heed_clock(self, system: int, steady: int | None) -> None:
        """
        Take note if the system's clock was set; back, only what moves minds (CommandLoop).

        Takes the time, and that of a clock that never jumps [ns], as of `NodeClock.read_ns`.
        """
        by = self._clock.set_by(system, steady)
        if by == 0.0:
            return
        self.joints.forget()
        self._forget_times_of_repeats(self._clock.now())
        if by > 0.0:
            self.take_clock_jump(by)
        else:
            self.gripper.hold(_jump(by))

    def take_clock_jump(self, by: float) -> None:
        """
        Drop what was measured by another time, and stop.

        An arm at rest stays there, until its targets have paused.

        Parameters
        ----------
        by : float
            By how much the clock jumped [s]; negative: back, 0: another clock tells the time. A
            step forward within `state_timeout` is none.

        """
        if 0.0 < by <= self._parameters.state_timeout:
            return
        now, follower = self._clock.now(), self.follower
        reason = _jump(by)
        self._log.warning(f'{reason}: joint states have to come anew')
        self.measured.forget()
        self.joints.forget()
        self._forget_times_of_repeats(now)
        if by <= 0.0:
            self._forget_world_times()
        self.clock_jump = reason
        self.gripper.hold(reason)
        if follower is None:
            return
        if follower.is_under_way or follower.is_held_in_world:
            follower.fail(reason, now)
        else:
            follower.gate.block(reason, now)

    def _forget_times_of_repeats(self, now: float) -> None:
        self.relative_targets.clock_jumped(now)
        self.relative_programs.clock_jumped(now)

    def _forget_world_times(self) -> None:
        """Count poses of the base, and points, as older than all that come."""
        if self._points is not None:
            self._points.forget_times()
        if self.base is not None:
            self.base.forget()

    # -- what is measured

    def fresh_values(self, now: float | None = None) -> Mapping[str, float]:
        """Joint values by name that are fresh at a time [s], or now."""
        now = self._clock.now() if now is None else now
        return self.measured.fresh(now, self._parameters.state_timeout)

    def values_at(self, stamp: float, names: tuple[str, ...]) -> Mapping[str, float]:
        """
        Joint values by name at the stamp of a message [s]; those that are fresh now where it is 0.

        Raises
        ------
        SceneError
            If a joint of those named is not known at that time; says why.

        """
        now = self._clock.now()
        if stamp == 0.0 or not names:
            return self.fresh_values(now)
        if stamp > now + FUTURE:
            raise SceneError(f'its stamp is {ahead(stamp, now)}')
        return self.joints.carried_on(stamp, names, self._parameters.state_timeout)

    def _set_length_of_history(self) -> None:
        """Know joints for as long as the stamps of targets may be old."""
        self.joints.length = min(max(LENGTH, self._parameters.max_target_age), MOST_LENGTH)

    def placed(self, target: FramedTarget) -> Array:
        """Pose of a target in the base frame, T_base_target: see `FrameResolver`."""
        return self.frames.target_in_base(target, self.values_at)

    def world_in_base(self, now: float) -> Array:
        """
        Pose T_base_world, shape (4, 4), at a time [s].

        Raises
        ------
        BasePoseError
            If it is not known.

        """
        if self.base is None:
            raise BasePoseError('world_frame is empty')
        return self.base.at(now, self.fresh_values(now))

    def shown_configuration(self) -> Array | None:
        """Joint values commanded last, shape (n,); before that as measured; None if unknown."""
        if self.loop.last_command is not None or not self._parameters.wait_for_state:
            return self.motion.command[0]
        names, timeout = self.chain.joint_names, self._parameters.state_timeout
        if self.measured.missing(names, self._clock.now(), timeout):
            return None
        return np.array(self.measured.newest(names))


def values_of(names: Sequence[str], values: Mapping[str, float]) -> Array | None:
    """Values of some joints, shape (n,); None where one is missing."""
    if not values.keys() >= set(names):
        return None
    return np.array([values[name] for name in names])


def configure_arm(
    surroundings: Surroundings,
    description: str,
    parameters: NodeParameters,
    prepare: Callable[[Motion], None],
    groups: Groups,
    stream: StreamState | None,
    carried: HandledObstacles | None,
) -> ConfiguredArm:
    """
    Make an arm of a robot description.

    Parameters
    ----------
    surroundings : Surroundings
        The node, its clock and its topics.
    description : str
        The URDF.
    parameters : NodeParameters
        Which links, and how they are to move.
    prepare : callable
        Compiles the solvers of the motion.
    groups : mapping
        Obstacles in markers that came before.
    stream : StreamState or None
        What remains of the commands of the arm before this one.
    carried : HandledObstacles or None
        What its hand carried.

    Raises
    ------
    FabrikError
        If the description or the parameters cannot be used; says why.

    """
    node, topics = surroundings.node, surroundings.topics
    robot = parse_urdf(description, use_safety_limits=parameters.use_safety_limits)
    chain = parameters.arms_of(robot)
    parameters.check_configurations(chain)
    topics.outputs.drive(chain, _commanded_joints(node, parameters, chain))
    if parameters.world_frame == chain.base_link:
        raise ChainError(f"world_frame '{chain.base_link}' is the base_link, which moves")
    setup = setup_of(robot, chain, parameters)
    watch = CollisionWatch(node, setup, parameters)
    planner = make_planner(node, setup, parameters, watch)
    motion = Motion(
        chain,
        scaled_limits(parameters, chain, topics.robot),
        parameters.solver,
        parameters.motion,
        parameters.tips,
        watch.guard,
        _jerk_filter(node, parameters, chain),
        planner,
    )
    prepare(motion)
    arm = ConfiguredArm(
        surroundings, parameters, robot, chain, motion, watch, planner, groups, stream, carried
    )
    _warn_of_description(node, arm.description_warnings)
    if planner is not None:
        planner.start()
    return arm


def scaled_limits(
    parameters: NodeParameters, chain: Chain | Tree, robot: RobotState
) -> MotionLimits:
    """Limits of the motion by the parameters and by what the robot says."""
    limits = parameters.limits_for(chain)
    return replace(limits, speed_scaling=limits.speed_scaling * robot.speed_scaling)


def _jump(by: float) -> Reason:
    """Say how the clock jumped by a time [s]."""
    text = f'the clock jumped {"forward" if by > 0.0 else "back"} by {abs(by):.2f} s'
    if by == 0.0:
        text = 'another clock tells the time (use_sim_time)'
    return Reason(ReasonKind.CLOCK_JUMPED, text)


def _commanded_joints(
    node: Node, parameters: NodeParameters, chain: Chain | Tree
) -> tuple[str, ...]:
    names = parameters.commanded_joints(chain)
    rest = [name for name in chain.joint_names if name not in names]
    if rest:
        node.get_logger().warning(
            f'these joints are none of command_joints, so nobody moves them: {", ".join(rest)}'
        )
    return names


def _warn_of_description(node: Node, warnings: Iterable[str]) -> None:
    for warning in warnings:
        node.get_logger().warning(f'robot description: {warning}')


def _jerk_filter(node: Node, parameters: NodeParameters, chain: Chain | Tree) -> JerkFilter | None:
    try:
        return parameters.jerk_filter_for(chain)
    except MotionError as error:
        if parameters.jerk_limiting == 'require':
            raise
        node.get_logger().warning(f'the jerk of the joints is not limited: {error}')
        return None


def _base_pose(
    node: Node, parameters: NodeParameters, robot: Robot, base_link: str, frames: FrameResolver
) -> BasePose | None:
    """Choose the source of the pose of the base; None where no target stays in the world."""
    world, timeout = parameters.world_frame, parameters.base_timeout
    if not world:
        return None
    if not parameters.base_odometry:
        return TfBase(frames.buffer, world, base_link, timeout)
    return OdometryBase(node, parameters.base_odometry, world, robot, base_link, timeout)
