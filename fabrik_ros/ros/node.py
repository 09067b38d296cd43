"""The node: target poses in, joint commands out."""

from collections.abc import Callable, Mapping
from dataclasses import replace
import gc
import signal
import time
import traceback
from types import FrameType
from typing import Any

from geometry_msgs.msg import PoseStamped, TwistStamped
import numpy as np
from rcl_interfaces.msg import SetParametersResult
import rclpy
from rclpy.clock import Clock, ClockType, JumpThreshold, TimeJump
from rclpy.duration import Duration
from rclpy.executors import Executor, ExternalShutdownException
from rclpy.lifecycle import LifecycleNode, LifecycleState, TransitionCallbackReturn
from rclpy.parameter import Parameter
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from rclpy.signals import SignalHandlerOptions
from rclpy.task import Future
from rosgraph_msgs.msg import Clock as ClockTime
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from std_srvs.srv import Trigger

from ..errors import ChainError, CollisionError, FabrikError, MotionError, RefusedError
from ..kernels._jit import COMPILED
from ..model.chain import Chain
from ..model.robot import Robot
from ..model.tree import Tree
from ..model.urdf import parse_urdf
from ..motion.follower import ACTIVATED, Follower, home_of, MeasuredJoints, RESUMED, State
from ..motion.jerk_limiter import JerkLimiter
from ..motion.line_reference import MotionLimits
from ..motion.motion import Motion
from ..motion.start_gate import StartGate, TOLD_TO_HOLD
from ..transforms import Array
from .base_pose import BasePose, OdometryBase, TfBase
from .collision_watch import CollisionWatch
from .command_loop import CommandLoop, LastWords
from .controller_state import ControllerState
from .conversions import seconds, twist_to_array
from .declared_parameters import declare, fixed_changes, read, refusal
from .executor import make_executor
from .frame_resolver import FrameResolver
from .neighbours import Neighbours
from .node_clock import NodeClock
from .outputs import Outputs
from .parameter_spec import ParameterError
from .receiving import age_of, with_receipt
from .reporter import Report, Reporter, Tally
from .robot_state import RobotState
from .status import goal_facts, tip_links_of
from .tip_names import topic_names
from .tip_topics import TipTopics

LATCHED = QoSProfile(
    depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL, reliability=ReliabilityPolicy.RELIABLE
)
STATES = QoSProfile(depth=50, reliability=ReliabilityPolicy.BEST_EFFORT)
STANDING_PERIOD = 0.1
LOOKING_PERIOD = 0.05
SPIN_TIME = 60.0
WARNING_PERIOD = 1.0
TOO_EARLY = 'it was received while the node was not active'
OF_OUTPUTS = ('output', 'trajectory_topic', 'array_topic')
OF_ROBOT = ('ready_topic', 'speed_scaling_topic')


class FabrikNode(LifecycleNode):
    """
    Moves an arm, or arms that share a base, to the poses it is sent.

    A lifecycle node: it configures when it has a model, and moves only while active. With the
    parameter `autostart` it goes through both steps by itself.
    """

    # Here, as a node that could not be made is destroyed, too.
    _motion: Motion | None = None
    _loop: CommandLoop | None = None

    def __init__(self, **kwargs: Any) -> None:
        super().__init__('fabrik', **kwargs)
        declare(self)
        self._settings = read(self)
        self._measured = MeasuredJoints(names=())
        self._description = self._settings.robot_description
        self._robot: Robot | None = None
        self._chain: Chain | Tree | None = None
        self._frames: FrameResolver | None = None
        self._base: BasePose | None = None
        self._watch: CollisionWatch | None = None
        self._tips: list[TipTopics] = []
        self._last_words: LastWords | None = None
        self._tally = Tally()
        self.is_preparing = False
        self._trouble = ''
        self._model_changed = False
        self._is_over = False
        self._active_since = 0
        self._gate = StartGate()
        self._starts_by_itself = False
        self._node_clock = NodeClock(self)
        self._robot_state = self._listen_to_robot()
        self._outputs = Outputs(self, self._settings)
        self._controller_state = self._listen_to_controller()
        self._reporter = Reporter(self, self._node_clock, self._report, lambda: self._tips)
        self._create_subscriptions()
        self._neighbours = Neighbours(
            self,
            self._description_subscription,
            outputs=lambda: self._outputs.publishers,
            uses_topic=lambda: not self._settings.robot_description,
            is_active=lambda: self._follower is not None,
        )
        self._create_tip_topics()
        self.create_service(Trigger, '~/hold', self._on_hold)
        self.create_service(Trigger, '~/resume', self._on_resume)
        self.create_service(Trigger, '~/home', self._on_home)
        self.add_on_set_parameters_callback(self._check_changes)
        self.add_post_set_parameters_callback(self._apply_changes)
        self._jump_handle = self.get_clock().create_jump_callback(
            JumpThreshold(min_forward=None, min_backward=Duration(nanoseconds=-1)),
            post_callback=self._on_clock_jump,
        )
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        self.create_timer(STANDING_PERIOD, self._note_standing_joints, clock=steady)
        if not COMPILED:
            self.get_logger().warning(
                'numba is not installed: solving takes about a hundred times longer; '
                'cure: pip install numba (or apt install python3-numba)'
            )
        if self._description:
            self._starter = self.create_timer(0.0, self._start_once, clock=steady)

    # -- life cycle

    def on_configure(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Read the model; fails, saying why, without a usable one."""
        if not self._description:
            self._trouble = f'no robot description yet on {self._description_topic()}'
            self.get_logger().error(f'cannot configure: {self._trouble}')
            return TransitionCallbackReturn.FAILURE
        try:
            self._build()
        except Exception as error:  # rclpy would swallow it without a word
            what = 'the links' if isinstance(error, ChainError) else 'the robot description'
            asks = isinstance(error, CollisionError | MotionError)
            self._trouble = str(error) if asks else f'{what} cannot be used: {error}'
            self.get_logger().error(self._trouble)
            if not isinstance(error, FabrikError):
                self.get_logger().error(traceback.format_exc())
            return TransitionCallbackReturn.FAILURE
        self._trouble = ''
        return super().on_configure(state)

    def on_activate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Start to listen to targets."""
        assert self._chain is not None
        assert self._motion is not None
        assert self._loop is not None
        self._motion.reset(self._chain.mid_configuration())
        rules, spoken = self._settings.rules, self._loop.spoken
        try:
            follower = Follower(
                self._chain, self._motion, rules, self._measured, spoken, self._gate
            )
        except FabrikError as error:
            self._trouble = str(error)
            self.get_logger().error(f'cannot activate: {error}')
            return TransitionCallbackReturn.FAILURE
        self._refuse_waiting()
        if self._starts_by_itself:
            self._gate.expect_pause(ACTIVATED)
        else:
            self._gate.release(ACTIVATED)
        if self._controller_state is not None:
            follower.reference = self._controller_state.reference
        self._loop.start(follower)
        self._on_robot_state()
        self._trouble = ''
        self._model_changed = False
        self._active_since = time.monotonic_ns()
        return super().on_activate(state)

    def on_deactivate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Bring the arm to rest and fall silent."""
        self.come_to_rest('the node is being deactivated')
        self._drop_control()
        return super().on_deactivate(state)

    def on_cleanup(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Forget the model."""
        self._forget_model()
        return super().on_cleanup(state)

    def on_shutdown(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Bring the arm to rest for good."""
        self.come_to_rest('the node is being shut down')
        self._drop_control()
        self._forget_model()
        self._is_over = True
        return super().on_shutdown(state)

    def on_error(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Bring the arm to rest after an error in one of the steps, and be unconfigured."""
        self.get_logger().error(f'an error while {state.label}: stopping')
        try:
            self.come_to_rest(f'an error while {state.label}')
        except Exception as error:  # it may be the same again
            self.get_logger().error(f'no way to rest: {error}\n{traceback.format_exc()}')
        self._drop_control()
        self._forget_model()
        return TransitionCallbackReturn.SUCCESS

    def destroy_node(self) -> None:
        """Let go of the motion, too: ruckig complains at the end about what is still alive."""
        self._drop_control()  # whose timer holds on to it, too
        self._motion = self._loop = None
        super().destroy_node()

    def come_to_rest(self, reason: str) -> None:
        """Send the ramp down to rest, in real time; returns when the arm is still."""
        if self._loop is not None:
            self._loop.come_to_rest(reason)

    # -- wiring

    def create_subscription(
        self, msg_type: Any, topic: str, callback: Callable[[Any], Any], *rest: Any, **options: Any
    ) -> Any:
        """Create a subscription; that of rclpy to /clock is kept from times it would die of."""
        take = self._kept_from_bad_times(callback) if msg_type is ClockTime else callback
        return super().create_subscription(msg_type, topic, take, *rest, **options)

    def _kept_from_bad_times(
        self, callback: Callable[[ClockTime], Any]
    ) -> Callable[[ClockTime], None]:
        def take(message: ClockTime) -> None:
            if message.clock.sec >= 0:
                callback(message)
                return
            self.get_logger().warning(
                f'/clock shows {message.clock.sec} s: ignored, as times must not be negative',
                throttle_duration_sec=WARNING_PERIOD,
            )

        return take

    def _create_subscriptions(self) -> None:
        self.create_subscription(
            JointState, 'joint_states', with_receipt(self._on_joint_state), STATES
        )
        self._description_subscription = self.create_subscription(
            String, 'robot_description', self._on_description, LATCHED
        )

    def _create_tip_topics(self) -> None:
        """Give each tip its topics; the only one has those of the node itself."""
        for tip in self._tips:
            tip.close()
        names = topic_names(self._settings.tip_links)
        prefixes = [f'~/{name}' for name in names] or ['~']
        self._tips = [
            TipTopics(self, prefix, self._on_target, self._on_jog) for prefix in prefixes
        ]

    def _listen_to_robot(self) -> RobotState:
        settings = self._settings
        return RobotState(
            self, settings.ready_topic, settings.speed_scaling_topic, self._on_robot_state
        )

    def _listen_to_controller(self) -> ControllerState | None:
        if 'trajectory' not in self._settings.output:
            return None
        topic = self._settings.trajectory_topic
        return ControllerState(self, self._node_clock, topic, self._on_reference)

    def _close_controller(self) -> None:
        if self._controller_state is not None:
            self._controller_state.close()

    def _on_reference(self, time_ns: int, values: Mapping[str, float]) -> None:
        """Look whether a controller plays what it was told."""
        follower, loop = self._follower, self._loop
        if follower is None or loop is None or not follower.is_on_the_way:
            return
        meant, names = loop.curve_at(time_ns), follower.chain.joint_names
        if meant is None or not values.keys() >= set(names):
            return
        wanted = np.array([values[name] for name in names])
        follower.watch_reference(wanted, meant, self._node_clock.now())

    def _description_topic(self) -> str:
        return str(self._description_subscription.topic_name)

    # -- model

    def _start_once(self) -> None:
        self._starter.cancel()
        self._start()

    def _start(self) -> None:
        """Go as far as is wanted: not beyond inactive once the model has changed."""
        if self._is_over or not self._settings.autostart:
            return
        configured = self.trigger_configure() == TransitionCallbackReturn.SUCCESS
        if configured and not self._model_changed:
            self._starts_by_itself = True
            try:
                self.trigger_activate()
            finally:
                self._starts_by_itself = False

    def _on_description(self, message: String) -> None:
        if self._settings.robot_description or message.data == self._description:
            return
        self._description = message.data
        if self._robot is None:
            self._start()
            return
        self._model_changed = True
        self.get_logger().warning(
            'another robot description came: holding, and inactive until activated again'
        )
        if self._follower is not None:
            self.trigger_deactivate()
        self.trigger_cleanup()
        self.trigger_configure()

    def _build(self) -> None:
        parameters = self._settings
        robot = parse_urdf(self._description, use_safety_limits=parameters.use_safety_limits)
        chain = parameters.arms_of(robot)
        self._outputs.drive(chain, self._commanded_joints(chain))
        if parameters.world_frame == chain.base_link:
            raise ChainError(f"world_frame '{chain.base_link}' is the base_link, which moves")
        watch = CollisionWatch(self, robot, chain, parameters)
        motion = Motion(
            chain,
            self._limits(chain),
            parameters.solver,
            parameters.motion,
            parameters.tips,
            watch.guard,
            self._limiter_for(chain),
        )
        begin = time.perf_counter()
        self._prepare(motion)
        # What the compiler left behind is large and lives on. Looked through again while the arm
        # moves, it would hold up the commands for up to 100 ms.
        gc.collect()
        gc.freeze()
        self._robot, self._chain, self._motion = robot, chain, motion
        self._measured = MeasuredJoints(joint.name for joint in robot.joints)
        self._watch = watch
        self._frames = FrameResolver(self, robot, chain.base_link, parameters.world_frame)
        self._base = self._base_pose(robot, chain.base_link, self._frames)
        self._loop = CommandLoop(
            self,
            self._node_clock,
            parameters.command_rate,
            motion,
            self._outputs,
            parameters.trajectory_look_ahead,
            self._tips,
            self._base_at,
            self._on_clock_jump,
            self._tally,
            before=self._last_words,
        )
        for warning in robot.warnings:
            self.get_logger().warning(f'robot description: {warning}')
        self.get_logger().info(
            f"arm from '{chain.base_link}' to {', '.join(map(repr, tip_links_of(chain)))}: "
            f'{", ".join(chain.joint_names)}; solver ready in {time.perf_counter() - begin:.1f} s'
        )

    def _limiter_for(self, chain: Chain | Tree) -> JerkLimiter | None:
        try:
            return self._settings.jerk_limiter_for(chain)
        except MotionError as error:
            if self._settings.jerk_limiting == 'require':
                raise
            self.get_logger().warning(f'the jerk of the joints is not limited: {error}')
            return None

    def _commanded_joints(self, chain: Chain | Tree) -> tuple[str, ...]:
        names = self._settings.commanded_joints(chain)
        rest = [name for name in chain.joint_names if name not in names]
        if rest:
            self.get_logger().warning(
                f'these joints are none of command_joints, so nobody moves them: {", ".join(rest)}'
            )
        return names

    def _base_pose(self, robot: Robot, base_link: str, frames: FrameResolver) -> BasePose | None:
        """Choose what tells where the base is; None where nothing is held in the world."""
        parameters = self._settings
        world, timeout = parameters.world_frame, parameters.base_timeout
        if not world:
            return None
        if not parameters.base_odometry:
            return TfBase(frames.buffer, world, base_link, timeout)
        return OdometryBase(self, parameters.base_odometry, world, robot, base_link, timeout)

    def _prepare(self, motion: Motion) -> None:
        """Compile the solver, which takes some seconds the first time; Ctrl-C interrupts it."""
        self._trouble = 'preparing the solver; the first start compiles it'
        self._reporter.report()
        self.is_preparing = True
        try:
            motion.warm_up()
        finally:
            self.is_preparing = False
            self._trouble = ''

    def _forget_model(self) -> None:
        for listener in (self._base, self._frames):
            if listener is not None:
                listener.close()
        if self._loop is not None:
            self._last_words = self._loop.last_words
        self._robot = self._chain = self._motion = self._frames = self._base = None
        self._watch = self._loop = None

    def _drop_control(self) -> None:
        if self._loop is not None:
            self._loop.end()

    # -- parameters

    def set_parameters_atomically(self, parameter_list: list[Parameter]) -> SetParametersResult:
        """Set parameters together; rclpy would give types by number where it refuses one."""
        reason = refusal(parameter_list)
        if reason:
            return SetParametersResult(successful=False, reason=reason)
        return super().set_parameters_atomically(parameter_list)

    def _check_changes(self, changes: list[Parameter]) -> SetParametersResult:
        values = {change.name: change.value for change in changes}
        fixed = fixed_changes(self._settings, values) if self._robot is not None else []
        try:
            self._check_clock(values)
            if fixed:
                raise ParameterError(
                    f'{", ".join(fixed)} cannot change while the node is configured; '
                    'deactivate and clean up first'
                )
            parameters = read(self, values)
            if self._chain is not None:
                home_of(self._chain, parameters.rules)
        except FabrikError as error:
            return SetParametersResult(successful=False, reason=str(error))
        return SetParametersResult(successful=True)

    def _check_clock(self, values: Mapping[str, Any]) -> None:
        """Refuse another clock while the arm may move; rclpy looks at it after this."""
        name = 'use_sim_time'
        changes = name in values and values[name] != self.get_parameter(name).value
        if changes and self._follower is not None:
            raise ParameterError(
                f'{name} cannot change while the node is active; deactivate first'
            )

    def _apply_changes(self, changes: list[Parameter]) -> None:
        before = self._settings
        self._settings = parameters = read(self)
        if parameters.tip_links != before.tip_links:
            self._create_tip_topics()
        if parameters.differs_in(before, *OF_OUTPUTS):
            self._outputs.close()
            self._outputs = Outputs(self, parameters)
            self._close_controller()
            self._controller_state = self._listen_to_controller()
        if parameters.differs_in(before, *OF_ROBOT):
            self._robot_state.close()
            self._robot_state = self._listen_to_robot()
        self._description = parameters.robot_description or self._description
        if (
            self._chain is not None
            and self._motion is not None
            and not parameters.moves_like(before, self._chain)
        ):
            self._motion.change(
                self._limits(self._chain),
                parameters.solver,
                parameters.motion,
                parameters.tips,
            )
        if self._follower is not None:
            self._follower.rules = parameters.rules
        if self._robot is None and self._trouble and self._description:
            self._start()

    def _limits(self, chain: Chain | Tree) -> MotionLimits:
        """How fast the arm may move, as the robot has it, too."""
        limits = self._settings.limits_for(chain)
        share = limits.speed_scaling * self._robot_state.speed_scaling
        return replace(limits, speed_scaling=share)

    def _on_robot_state(self) -> None:
        """Take over what the robot says of itself."""
        robot_state = self._robot_state
        if self._follower is not None:
            self._follower.not_ready = robot_state.not_ready
            self._follower.paused_by = robot_state.paused_by
        if self._motion is not None:
            share = self._settings.speed_scaling * robot_state.speed_scaling
            self._motion.scale_speed(share)

    # -- messages in

    def _on_joint_state(self, message: JointState, received: int) -> None:
        if message.position and len(message.position) != len(message.name):
            self.get_logger().warning(
                f'joint state refused: {len(message.position)} values for '
                f'{len(message.name)} joints',
                throttle_duration_sec=WARNING_PERIOD,
            )
            return
        self._measured.update(message.name, message.position, self._node_clock.at(received))

    def _on_target(self, tip: TipTopics, message: PoseStamped, received: int) -> None:
        try:
            self._accept(tip, message, received)
        except FabrikError as error:
            self._tally.refuse(str(error))
            self.get_logger().warning(
                f'target refused: {error}', throttle_duration_sec=WARNING_PERIOD
            )
        else:
            assert self._loop is not None
            self._loop.begin_at_once(is_target=True)

    def _on_jog(self, tip: TipTopics, message: TwistStamped, received: int) -> None:
        try:
            self._jog(tip, message, received)
        except FabrikError as error:
            self._tally.last_refusal = str(error)
            self.get_logger().warning(
                f'jog refused: {error}', throttle_duration_sec=WARNING_PERIOD
            )

    def _jog(self, tip: TipTopics, message: TwistStamped, received: int) -> None:
        twist = twist_to_array(message.twist)
        follower = self._follower_at(received, asks=bool(np.any(twist)))
        now, number = self._node_clock.now(), self._tips.index(tip)
        self._check_age(message, now)
        in_tip = self._is_in_tip(message.header.frame_id.removeprefix('/'), number)
        if follower.jog(twist, now, number, in_tip):
            self._tally.last_refusal = ''
            tip.target_stamp = 0.0
            assert self._loop is not None
            self._loop.begin_at_once(is_target=True)

    def _is_in_tip(self, frame: str, tip: int) -> bool:
        """Whether the frame of a jog is that of its tip; otherwise it is the base."""
        assert self._chain is not None
        base_link, tip_link = self._chain.base_link, tip_links_of(self._chain)[tip]
        if frame not in ('', base_link, tip_link):
            raise RefusedError(
                f"a jog in frame '{frame}': expected '{base_link}' or none for the base, or "
                f"'{tip_link}' for the tool"
            )
        return frame == tip_link

    def _accept(self, tip: TipTopics, message: PoseStamped, received: int) -> None:
        follower = self._follower_at(received)
        assert self._frames is not None
        now = self._node_clock.now()
        self._check_age(message, now)
        T_base_world = None
        if self._base is not None and self._frames.is_in_world(message):
            T_target = self._frames.target_in_world(message)
            T_base_world = self._base.at(now, self._fresh_values())
        else:
            T_target = self._frames.target_in_base(message, self._fresh_values)
        follower.accept(T_target, now, self._tips.index(tip), T_base_world)
        self._tally.last_refusal = ''
        tip.target_stamp = seconds(message.header.stamp)
        self._tally.accepted += 1

    def _fresh_values(self, now: float | None = None) -> Mapping[str, float]:
        """Joint values as measured lately, now or at another time [s]."""
        now = self._node_clock.now() if now is None else now
        return self._measured.fresh(now, self._settings.state_timeout)

    def _base_at(self, now: float) -> Array:
        """Pose of the world in the base frame at a time [s]; FabrikError if nobody knows it."""
        assert self._base is not None
        return self._base.at(now, self._fresh_values(now))

    @property
    def _follower(self) -> Follower | None:
        """What decides what the arm does; None while the node is inactive."""
        return None if self._loop is None else self._loop.follower

    def _active_follower(self) -> Follower:
        if self._follower is None:
            raise RefusedError(TOLD_TO_HOLD if self._gate.is_held else self._inactivity())
        return self._follower

    def _refuse_waiting(self) -> None:
        """Refuse the targets and jogs that came before the node is active."""
        for tip in self._tips:
            has_target, has_jog = tip.drop_waiting()
            if has_target:
                self._tally.refuse(TOO_EARLY)
            if has_jog:
                self._tally.last_refusal = TOO_EARLY
            if has_target or has_jog:
                self._gate.ask(self._node_clock.now())
                self.get_logger().warning(f'target or jog refused: {TOO_EARLY}')

    def _follower_at(self, received: int, asks: bool = True) -> Follower:
        """Follower, for a target or jog `received` [ns]; one that `asks` for motion is noted."""
        try:
            follower = self._active_follower()
            if time.monotonic_ns() - age_of(received) < self._active_since:
                raise RefusedError(TOO_EARLY)
        except RefusedError:
            if asks:
                self._gate.ask(self._node_clock.at(received))
            raise
        return follower

    def _on_hold(self, request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        return self._answer(response, self._hold)

    def _on_resume(self, request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        return self._answer(response, self._resume)

    def _on_home(self, request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        return self._answer(response, self._go_home)

    def _answer(self, response: Trigger.Response, act: Callable[[], str]) -> Trigger.Response:
        """Do what was asked for, and say what happens now or why nothing does."""
        try:
            response.message = act()
            response.success = True
        except FabrikError as error:
            response.message = str(error)
            response.success = False
        return response

    def _hold(self) -> str:
        follower = self._follower
        if follower is None:
            self._gate.hold()
            return f'held, although {self._inactivity()}: nothing sets out until ~/resume'
        follower.hold_when_told()
        return 'holding still' if follower.is_at_rest else 'slowing down to hold'

    def _resume(self) -> str:
        follower = self._follower
        if follower is None:
            self._gate.release(RESUMED)
            return f'no longer held, but {self._inactivity()}'
        follower.resume(self._node_clock.now())
        return 'ready for a new target'

    def _inactivity(self) -> str:
        return f'the node is not active: {self._state()[1]}'

    def _go_home(self) -> str:
        self._active_follower().go_home(self._node_clock.now())
        assert self._loop is not None
        self._loop.begin_at_once()
        return 'on the way to home_configuration'

    def _check_age(self, message: PoseStamped | TwistStamped, now: float) -> None:
        stamp, most = seconds(message.header.stamp), self._settings.max_target_age
        what = 'target' if isinstance(message, PoseStamped) else 'jog'
        if stamp < 0.0:
            raise RefusedError(f'the {what} has the stamp {stamp:.9g} s; expected 0 or a time')
        if most > 0.0 and stamp > 0.0 and now - stamp > most:
            raise RefusedError(
                f'the {what} is {now - stamp:.2f} s old (max_target_age {most:g} s)'
            )

    def _on_clock_jump(self, jump: TimeJump | None = None) -> None:
        self._measured.forget()
        if self._base is not None:
            self._base.forget()
        if self._follower is not None:
            self._follower.fail('the clock jumped back', self._node_clock.now())

    # -- reports

    def _state(self) -> tuple[State, str]:
        if self._follower is not None:
            return self._follower.state(self._node_clock.now())
        held = f'{TOLD_TO_HOLD}; ' if self._gate.is_held else ''
        if self._robot is not None:
            changed = 'the robot description has changed' if self._model_changed else ''
            inactive = changed or 'the node is inactive'
            return State.HOLDING, held + (self._trouble or f'{inactive}: activate it')
        if self._is_over:
            return State.HOLDING, 'the node was shut down for good: start it again'
        missing = f'no robot description yet on {self._description_topic()}'
        waits = (
            'there is a robot description: configure the node' if self._description else missing
        )
        return State.WAITING_FOR_MODEL, held + (self._trouble or waits)

    def _report(self) -> Report:
        (state, reason), follower = self._state(), self._follower
        q = None if follower is None else self._q_to_show(follower)
        return Report(state, reason, self._facts(follower, q), follower, q)

    def _q_to_show(self, follower: Follower) -> Array | None:
        """Joint values commanded last, shape (n,); before that as measured; None if unknown."""
        has_spoken = self._loop is not None and self._loop.spoken is not None
        if has_spoken or not follower.rules.wait_for_state:
            return follower.motion.command[0]
        names, timeout = follower.chain.joint_names, follower.rules.state_timeout
        if self._measured.missing(names, self._node_clock.now(), timeout):
            return None
        return np.array(self._measured.newest(names))

    def _facts(self, follower: Follower | None, q: Array | None) -> dict[str, Any]:
        facts = {**self._tally.facts(), **self._neighbours.facts()}
        facts |= {
            'held': self._gate.is_held,
            'waits_for_pause': self._gate.waits_for_pause(self._node_clock.now()),
            **self._robot_state.facts(),
        }
        facts['solve_time'] = 0.0 if self._motion is None else self._motion.weighing_time
        if self._chain is not None:
            tips = ', '.join(tip_links_of(self._chain))
            facts |= {'base_link': self._chain.base_link, 'tip_link': tips}
        if self._motion is not None and self._loop is not None:
            facts |= {
                'look_ahead': self._loop.look_ahead,
                'jerk_limited': self._motion.limits_jerk,
                'longest_stop': self._motion.longest_stop + self._loop.period,
            }
        if self._watch is not None:
            facts |= self._watch.facts(q)
        if follower is not None and follower.goal is not None:
            stamps, now = [tip.target_stamp for tip in self._tips], self._node_clock.now()
            facts |= goal_facts(follower, stamps, now, self._settings.world_frame)
        return facts

    def _note_standing_joints(self) -> None:
        """Look where the joints outside the arm stand, for the distances between its links."""
        if self._watch is not None:
            self._watch.stand(self._fresh_values())


def _on_signals(handler: Callable[[int, FrameType | None], None]) -> None:
    """Handle what asks a process to stop; a hang-up only where nohup does not shield from it."""
    signal.signal(signal.SIGINT, handler)
    signal.signal(signal.SIGTERM, handler)
    hang_up = getattr(signal, 'SIGHUP', None)
    if hang_up is not None and signal.getsignal(hang_up) is not signal.SIG_IGN:
        signal.signal(hang_up, handler)


def _spin(executor: Executor, node: FabrikNode, is_over: Callable[[], bool]) -> None:
    """
    Run the callbacks of a node until it is over, which is looked for every so often.

    To come back after each callback would take as long as some of them. Handlers of signals must
    not end it: they might interrupt whoever holds the lock of the future.
    """
    end: Future[None] = Future()

    def look() -> None:
        if is_over():
            end.set_result(None)

    node.create_timer(LOOKING_PERIOD, look, clock=Clock(clock_type=ClockType.STEADY_TIME))
    executor.add_node(node)
    while not end.done() and rclpy.ok():
        # With no timeout at all, the EventsExecutor of rclpy 9.1.2 never runs a callback.
        executor.spin_until_future_complete(end, SPIN_TIME)


def main(args: list[str] | None = None) -> None:
    """Run the node until it is told to stop; the arm is brought to rest first."""
    asked_to_stop = False
    node: FabrikNode | None = None

    def ask_to_stop(signum: int, frame: FrameType | None) -> None:
        nonlocal asked_to_stop
        asked_to_stop = True
        if node is not None and node.is_preparing:
            raise KeyboardInterrupt

    rclpy.init(args=args, signal_handler_options=SignalHandlerOptions.NO)
    _on_signals(ask_to_stop)
    try:
        node = FabrikNode()
        executor = make_executor()
        # From here on, as the executor has taken the signals for itself.
        _on_signals(ask_to_stop)
        try:
            _spin(executor, node, lambda: asked_to_stop)
        finally:  # an error, too, must not leave the arm at speed
            node.come_to_rest('the node was interrupted')
    except (ExternalShutdownException, KeyboardInterrupt):
        pass
    except (FabrikError, rclpy.exceptions.ParameterException) as error:
        rclpy.logging.get_logger('fabrik').fatal(str(error))
        raise SystemExit(1) from error
    finally:
        if node is not None:
            node.destroy_node()
        rclpy.try_shutdown()


if __name__ == '__main__':
    main()
