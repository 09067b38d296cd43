"""The life cycle of the node: configured by a robot description, moving while it is active."""

from collections.abc import Callable
import gc
import inspect
import time
import traceback
from typing import Any

from rcl_interfaces.msg import SetParametersResult
from rclpy.clock import Clock, ClockType, JumpThreshold, TimeJump
from rclpy.duration import Duration
from rclpy.event_handler import PublisherEventCallbacks, SubscriptionEventCallbacks
from rclpy.lifecycle import LifecycleNode, LifecycleState, TransitionCallbackReturn
from rclpy.parameter import Parameter
from rosgraph_msgs.msg import Clock as ClockTime

from ..errors import (
    ChainError,
    CollisionError,
    FabrikError,
    GripperError,
    JointValueError,
    MotionError,
)
from ..kernels._jit import COMPILED, IS_BUILT, WHY_NOT_BUILT
from ..motion.choosing.motion import Motion
from ..motion.following.arm_state import ACTIVATED
from ..reasons import Reason, ReasonKind
from .arm.configured_arm import configure_arm
from .arm.node_state import NodeState
from .clocks.node_clock import NodeClock, without_negative_times
from .drawing.marker_publisher import MarkerPublisher
from .drawing.scene_publisher import ScenePublisher
from .gripper_control import GripperControl
from .inbox import Inbox
from .live_parameters import LiveParameters
from .motion_action import MotionAction
from .node_status import NodeStatus
from .outputs.command_loop import StreamState
from .outputs.topics import Surroundings, Topics
from .parameters.declared_parameters import declare, misspelt_parameters, read, refusal
from .services import Services
from .status.namesakes import Namesakes
from .status.neighbours import Neighbours
from .status.reporter import Reporter
from .world.handled_obstacles import HandledObstacles

NAME_PERIOD = 0.05
"""Time between two looks at other nodes of the same name [s]."""
WITHOUT_ARGUMENTS = inspect.Signature()
LEAST_STEP = Duration(seconds=0.1)
"""A smaller step of a simulated clock is no jump forward."""


class FabrikNode(LifecycleNode):
    """
    Moves an arm, or arms that share a base, to the poses it is sent.

    A lifecycle node: it configures when it has a robot description, and moves only while active.
    With the parameter `autostart` it goes through both steps by itself.

    Attributes
    ----------
    node_state : NodeState
        What its parts share.
    inbox : Inbox
        Takes the messages.
    topics : Topics
        The topics that depend on parameters.

    """

    def __init__(self, **kwargs: Any) -> None:
        super().__init__('fabrik', **kwargs)
        declare(self)
        parameters = read(self)
        clock = NodeClock(self)
        state = NodeState(parameters, clock, parameters.robot_description)
        self.node_state = state
        self._stream: StreamState | None = None
        self._carried: HandledObstacles | None = None
        self._starts_by_itself = False
        self.inbox = Inbox(self, state, self._on_new_description)
        state.description_topic = str(self.inbox.descriptions.topic_name)
        self.topics = Topics(self, clock, parameters, self.inbox)
        self._namesakes = Namesakes(self, lambda: state.arm is not None)
        neighbours = Neighbours(
            self,
            self.inbox.descriptions,
            outputs=lambda: self.topics.outputs.publishers,
            targets=lambda: self.topics.targets,
            uses_topic=lambda: not state.parameters.robot_description,
            is_active=lambda: state.follower is not None,
            namesakes=self._namesakes.warnings,
        )
        status = NodeStatus(
            state, self.topics, neighbours, self._namesakes, misspelt_parameters(self)
        )
        self._reporter = Reporter(
            self, clock, state.spare_time, status.report, self.topics.show_path
        )
        self._markers = MarkerPublisher(self, state)
        self._scene = ScenePublisher(self, state)
        Services(self, state)
        self._motion_action = MotionAction(self, state, self.inbox)
        self._gripper = GripperControl(self, state, self.topics, self.inbox.refuse)
        LiveParameters(self, state, self.topics, self._start)
        self._jump_handle = self.get_clock().create_jump_callback(
            JumpThreshold(min_forward=LEAST_STEP, min_backward=Duration(nanoseconds=-1)),
            post_callback=self._on_clock_jump,
        )
        if not COMPILED:
            self.get_logger().warning(
                'kernels are interpreted: solving takes about two hundred times longer; no numba, '
                f'and no built code, since {WHY_NOT_BUILT}; cure: install a wheel of '
                'fabrik_ros, or numba (pip install numba, or apt install python3-numba)'
            )
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        self.create_timer(NAME_PERIOD, self._act_on_namesakes, clock=steady)
        if state.description:
            self._starter = self.create_timer(0.0, self._start_once, clock=steady)

    # -- life cycle

    def on_configure(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Make an arm of the robot description; fails, saying why, without a usable one."""
        shared = self.node_state
        shared.failure_reason = ''
        if not shared.description:
            self.get_logger().error(f'cannot configure: {shared.missing_description}')
            return TransitionCallbackReturn.FAILURE
        try:
            self._configure()
            shared.stays_down = False
        except Exception as error:  # rclpy would swallow it without a word
            shared.failure_reason = _failure_reason(error)
            self.get_logger().error(shared.failure_reason)
            if not isinstance(error, FabrikError):
                self.get_logger().error(traceback.format_exc())
            return TransitionCallbackReturn.FAILURE
        return super().on_configure(state)

    def on_activate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Start to take targets."""
        shared = self.node_state
        self._look_at_namesakes()
        if shared.rival:
            self.get_logger().error(f'cannot activate: {shared.rival}')
            return TransitionCallbackReturn.FAILURE
        try:
            arm = shared.configured_arm()
            follower = arm.new_follower(shared.gate)
        except FabrikError as error:
            shared.failure_reason = str(error)
            self.get_logger().error(f'cannot activate: {error}')
            return TransitionCallbackReturn.FAILURE
        self.inbox.refuse_waiting(self.topics)
        if self._starts_by_itself:
            shared.gate.expect_pause(ACTIVATED)
        else:
            shared.gate.release(ACTIVATED, shared.clock.now())
        arm.start(follower)
        shared.failure_reason = ''
        shared.description_changed = shared.starts_when_free = False
        self._namesakes.holds = True
        shared.active_since = time.monotonic_ns()
        return super().on_activate(state)

    def on_deactivate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Bring the arm to rest and send nothing more."""
        self.come_to_rest(_stopped('the node is being deactivated'))
        self._stop_commands()
        self._reporter.report()
        self._markers.clear()
        return super().on_deactivate(state)

    def on_cleanup(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Forget the arm."""
        self.node_state.stays_down, self.node_state.starts_when_free = True, False
        self._forget_arm()
        return super().on_cleanup(state)

    def on_shutdown(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Bring the arm to rest for good."""
        self.come_to_rest(_stopped('the node is being shut down'))
        self._stop_commands()
        self._forget_arm()
        self._end(_stopped('the node was shut down for good: start it again'))
        return super().on_shutdown(state)

    def on_error(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Bring the arm to rest after an error in one of the steps, and be unconfigured."""
        self.get_logger().error(f'an error while {state.label}: stopping')
        try:
            self.come_to_rest(Reason(ReasonKind.ERROR, f'an error while {state.label}'))
        except Exception as error:  # it may be the same again
            self.get_logger().error(f'no way to rest: {error}\n{traceback.format_exc()}')
        self._stop_commands()
        self._forget_arm()
        return TransitionCallbackReturn.SUCCESS

    def destroy_node(self) -> None:
        """Let go of the arm, too: ruckig complains at exit about what is still alive."""
        if hasattr(self, 'node_state'):  # a node that could not be made is destroyed, too
            self._stop_commands()
            self._motion_action.close()
            self._gripper.close()
            self.node_state.arm = None
        super().destroy_node()
        # The states of a life cycle hold the participant of the network, and a circle of
        # references holds them: the process would end without a word to the others, for whom the
        # node would stay in the graph until its lease has passed, 20 s.
        self.__dict__.pop('_state_machine', None)

    def come_to_rest(self, reason: Reason) -> None:
        """Send the stop trajectory, in real time; returns when the arm is at rest."""
        if self.node_state.arm is not None:
            self.node_state.arm.loop.come_to_rest(reason)
            self._gripper.come_to_rest(reason)

    def interrupt(self) -> None:
        """Bring the arm to rest as the process is about to end, and say so in the last status."""
        reason = _stopped('the node was interrupted')
        self.come_to_rest(reason)
        self._stop_commands()
        if self.context.ok():
            self._motion_action.end_now(reason)
            self._end(reason)

    # -- steps of the life cycle

    def _start_once(self) -> None:
        self._starter.cancel()
        self._start()

    def _start(self) -> None:
        """Go as far as `autostart` wants: not beyond inactive after another description."""
        shared = self.node_state
        if shared.end or shared.stays_down or not shared.parameters.autostart:
            return
        configured = self.trigger_configure() == TransitionCallbackReturn.SUCCESS
        shared.starts_when_free = configured and not shared.description_changed

    def _look_at_namesakes(self) -> None:
        self._namesakes.look()
        self.node_state.rival = self._namesakes.rival()

    def _act_on_namesakes(self) -> None:
        """Start when no other node has the name, and leave it to one that was there before."""
        self._look_at_namesakes()
        shared = self.node_state
        if shared.follower is not None and (winner := self._namesakes.winner()):
            self.get_logger().error(f'deactivated: {winner}')
            self.trigger_deactivate()
            self._namesakes.holds = False
            shared.starts_when_free = shared.parameters.autostart
        elif shared.starts_when_free and self._namesakes.is_settled and not shared.rival:
            self._activate_by_itself()

    def _activate_by_itself(self) -> None:
        self.node_state.starts_when_free = False
        self._starts_by_itself = True
        try:
            self.trigger_activate()
        finally:
            self._starts_by_itself = False

    def _on_new_description(self, description: str) -> None:
        shared = self.node_state
        shared.description = description
        if shared.arm is None:
            self._start()
            return
        shared.description_changed = True
        self.get_logger().warning(
            'another robot description came: holding, and inactive until activated again'
        )
        if shared.follower is not None:
            self.trigger_deactivate()
        self.trigger_cleanup()
        shared.stays_down = False
        self.trigger_configure()

    def _configure(self) -> None:
        shared = self.node_state
        surroundings = Surroundings(
            self, shared.clock, self.topics, shared.tally, shared.spare_time
        )
        begin = time.perf_counter()
        arm = configure_arm(
            surroundings,
            shared.description,
            shared.parameters,
            self._prepare,
            shared.groups,
            self._stream,
            self._carried,
        )
        arm.measured.hear = self.inbox.hear_joint_states
        shared.arm = arm
        self.get_logger().info(
            f"arm from '{arm.chain.base_link}' to {', '.join(map(repr, arm.tip_links))}: "
            f'{", ".join(arm.chain.joint_names)}; ready after {time.perf_counter() - begin:.1f} s'
        )

    def _prepare(self, motion: Motion) -> None:
        """Compile the solver if no code is built, which takes a minute; Ctrl-C interrupts it."""
        self.node_state.is_preparing = True
        try:
            self._reporter.report()
            if COMPILED and not IS_BUILT:
                self.get_logger().info(
                    'preparing the solver; the first start compiles it, which takes a minute: '
                    f'there is no built code, since {WHY_NOT_BUILT}'
                )
            self._markers.show_preparation(motion.robot)
            motion.warm_up()
        finally:
            self.node_state.is_preparing = False
        # What the compiler left behind is large and lives on. Looked through again while the arm
        # moves, it would hold up the commands for up to 100 ms.
        gc.unfreeze()
        gc.collect()
        gc.freeze()

    def _stop_commands(self) -> None:
        if self.node_state.arm is not None:
            self.node_state.arm.loop.end()

    def _forget_arm(self) -> None:
        self._markers.clear()
        self._scene.clear()
        arm = self.node_state.arm
        if arm is not None:
            arm.close()
            self._stream, self._carried = arm.loop.stream_state, arm.world.handled
        self.node_state.arm = None

    def _end(self, reason: Reason) -> None:
        """Do nothing from now on, and say so."""
        self.node_state.end = reason
        self._namesakes.holds = False
        self._reporter.report_last()
        self._markers.clear()
        self._scene.clear()

    # -- what rclpy calls

    # Neither publishers nor subscriptions have events of their quality of service: where one waits
    # for something that is removed, the EventsExecutor crashes (seen with rclpy 9.1.2, as
    # ros2/rclpy issue 1644 has it). `Neighbours` warns of whom the node does not hear.

    def create_publisher(self, *given: Any, **options: Any) -> Any:
        """Create a publisher without events."""
        events = PublisherEventCallbacks(use_default_callbacks=False)
        return super().create_publisher(*given, **{'event_callbacks': events} | options)

    def create_subscription(
        self, msg_type: Any, topic: str, callback: Callable[[Any], Any], *rest: Any, **options: Any
    ) -> Any:
        """
        Create a subscription without events.

        The one of rclpy to /clock gets no times that would end it.
        """
        take = without_negative_times(self, callback) if msg_type is ClockTime else callback
        events = SubscriptionEventCallbacks(use_default_callbacks=False)
        options = {'event_callbacks': events} | options
        return super().create_subscription(msg_type, topic, take, *rest, **options)

    def create_timer(
        self, timer_period_sec: float, callback: Callable[[], Any], *rest: Any, **options: Any
    ) -> Any:
        """
        Create a timer that calls what takes no argument.

        rclpy looks for arguments at every tick, which takes longer than some of the callbacks.
        """

        def tick() -> None:
            callback()

        vars(tick)['__signature__'] = WITHOUT_ARGUMENTS
        return super().create_timer(timer_period_sec, tick, *rest, **options)

    def set_parameters_atomically(self, parameter_list: list[Parameter]) -> SetParametersResult:
        """Set parameters together; rclpy would give types by number where it refuses one."""
        reason = refusal(parameter_list)
        if reason:
            return SetParametersResult(successful=False, reason=reason)
        return super().set_parameters_atomically(parameter_list)

    def _on_clock_jump(self, jump: TimeJump) -> None:
        by = 1e-9 * jump.delta.nanoseconds
        begins = 0.0 < self.node_state.clock.now() <= by
        if self.node_state.arm is not None and not begins:
            self.node_state.arm.take_clock_jump(by)


def _stopped(text: str) -> Reason:
    return Reason(ReasonKind.STOPPED, text)


def _failure_reason(error: Exception) -> str:
    """Say why the node could not be configured."""
    if isinstance(error, CollisionError | GripperError | JointValueError | MotionError):
        return str(error)
    what = 'the links' if isinstance(error, ChainError) else 'the robot description'
    return f'{what} cannot be used: {error}'
