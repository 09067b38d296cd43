"""The messages that come in: checked, resolved, stamped, and refused where they are wrong."""

from collections.abc import Callable, Hashable, Sequence
import time

from geometry_msgs.msg import PoseStamped, TwistStamped
from nav_msgs.msg import Path
import numpy as np
from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from rclpy.qos import QoSProfile, ReliabilityPolicy
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from visualization_msgs.msg import MarkerArray

from ..errors import did_you_mean, FabrikError, listed, RefusedError, shown
from ..programs.joint_values import with_values
from ..programs.program import Program
from ..reasons import Reason, ReasonKind
from ..transforms import Array
from .arm.configured_arm import ConfiguredArm
from .arm.node_state import ActiveArm, JointTarget, NodeState
from .clocks.log_periods import WARNING_PERIOD
from .clocks.qos import LATCHED
from .clocks.receiving import age_of, hear_waiting, with_receipt
from .clocks.stamps import check_age
from .clocks.turns import Turns
from .inputs.controller_state import ControllerReference
from .inputs.frame_resolver import FramedTarget
from .inputs.marker_obstacles import after, deleted_by
from .inputs.obstacle_topic import ObstacleTopic
from .inputs.program_topics import lines_through, name_in, Placed, program_in, words_of
from .inputs.relative_targets import SaidTarget
from .inputs.tip_topics import TipTopics
from .messages.conversions import joint_values, seconds, twist_to_array
from .outputs.topics import Topics
from .status.diagnostics import target_stamp

STATES = QoSProfile(depth=50, reliability=ReliabilityPolicy.BEST_EFFORT)
LOOK_AROUND_PERIOD = 0.1
"""Time between two looks at the joints outside the arm, and at frames of obstacles [s]."""
TOO_EARLY = Reason(ReasonKind.INACTIVE, 'it was received while the node was not active')


class Inbox:
    """
    Takes targets, jogs, joint states, robot descriptions and what the robot says of itself.

    Parameters
    ----------
    node : Node
        Has the subscriptions, and the log.
    state : NodeState
        The arm that the messages are for.
    on_description : callable
        Takes each robot description that is new.

    Attributes
    ----------
    descriptions : Subscription
        Takes robot descriptions.

    """

    def __init__(
        self, node: Node, state: NodeState, on_description: Callable[[str], None]
    ) -> None:
        self._node, self._state = node, state
        self._on_new_description = on_description
        self._turns = Turns(node)
        self._joint_states = node.create_subscription(
            JointState, 'joint_states', with_receipt(self.on_joint_state), STATES
        )
        self.descriptions = node.create_subscription(
            String, 'robot_description', self.on_description, LATCHED
        )
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        node.create_timer(LOOK_AROUND_PERIOD, self._look_around, clock=steady)
        self._obstacles = ObstacleTopic(node, '~/obstacles', self.on_obstacles)

    # -- targets and jogs

    def on_target(self, tip: TipTopics, message: PoseStamped, received: int) -> None:
        """Take a target for a tip, received at a system time [ns]."""
        self._take(tip, lambda: _mark(message), lambda: self._accept(tip, message, received))

    def on_jog(self, tip: TipTopics, message: TwistStamped, received: int) -> None:
        """Take a jog for a tip, received at a system time [ns]."""

        def take() -> None:
            try:
                self._jog(tip, message, received)
            except FabrikError as error:
                self._state.tally.last_refusal = str(error)
                self._warn(f'jog refused: {error}')

        self._turns.take((tip, 'jog'), take)

    def on_joints(self, message: JointState, received: int) -> None:
        """Take a target for joints, received at a system time [ns]."""
        self._take(
            'joints', lambda: _mark(message), lambda: self._accept_joints(message, received)
        )

    def on_configuration(self, message: String, received: int) -> None:
        """Take the name of a configuration, received at a system time [ns]."""
        name = message.data
        self._take(
            'configuration', lambda: name, lambda: self._accept_configuration(name, received)
        )

    def on_program(self, message: String, received: int) -> None:
        """Take a program, received at a system time [ns]."""
        self._take(
            'program', lambda: name_in(message), lambda: self._accept_program(message, received)
        )

    def on_path(self, message: Path, received: int) -> None:
        """Take poses to pass one after the other, received at a system time [ns]."""
        self._take('path', lambda: _mark(message), lambda: self._accept_path(message, received))

    def go_through(
        self, program_for: Callable[[ConfiguredArm], Program], name: str, received: int
    ) -> ActiveArm:
        """
        Take a program at once; return the arm that sets out.

        Parameters
        ----------
        program_for : callable
            Makes the program for the arm.
        name : str
            What it is called in the status.
        received : int
            System time at which it was received [ns].

        Raises
        ------
        FabrikError
            If it makes no sense, or the arm cannot set out; that is counted and logged, too.

        """
        try:
            arm, follower = self._active_at(received)
            follower.go_through(program_for(arm), self._state.clock.now(), name)
        except FabrikError as error:
            self.refuse(error, name)
            raise
        self._set_out(arm)
        return ActiveArm(arm, follower)

    def refuse_waiting(self, topics: Topics) -> None:
        """Refuse the targets and jogs that came before the node is active."""
        waiting = [tip.drop_waiting() for tip in topics.tips]
        targets = sum(has_target for has_target, _ in waiting)
        targets += topics.joints.drop_waiting() + topics.programs.drop_waiting()
        for _ in range(targets):
            self._state.tally.refuse(RefusedError(TOO_EARLY))
        if targets or any(has_jog for _, has_jog in waiting):
            self._state.tally.last_refusal = str(TOO_EARLY)
            self._state.gate.ask(self._state.clock.now())
            self._node.get_logger().warning(f'target or jog refused: {TOO_EARLY}')

    def _take(
        self, kind: Hashable, mark: Callable[[], str], accept: Callable[[], ConfiguredArm]
    ) -> None:
        """Take a target in its turn, and let its arm set out at once, or say why not."""

        def take() -> None:
            try:
                arm = accept()
            except FabrikError as error:
                self.refuse(error, mark())
            else:
                self._set_out(arm)

        self._turns.take(kind, take)

    def refuse(self, error: FabrikError, mark: str) -> None:
        """Count a target that is refused, and say why; its sender knows it by a mark."""
        self._state.tally.refuse(error, mark)
        self._warn(f'target refused: {error}')

    def _set_out(self, arm: ConfiguredArm) -> None:
        """Count a target, and let its arm set out at once."""
        self._state.tally.last_refusal = ''
        self._state.tally.accepted += 1
        arm.loop.begin_at_once(is_target=True)

    def _accept(self, tip: TipTopics, message: PoseStamped, received: int) -> ConfiguredArm:
        """Take a target, or raise a FabrikError; return the arm that sets out."""
        arm, follower = self._active_at(received)
        now = self._state.clock.now()
        stamp = seconds(message.header.stamp)
        self._check_age('target', stamp, now)
        target = arm.frames.read(message)
        said = arm.relative_targets.find(tip.number, target.frame, target.T)
        if said is not None:
            before, said.heard = said.heard, now
            if follower.repeat(said.T_target, now, before, tip.number, said.in_world):
                tip.target_stamp = stamp
                return arm
        in_world, T_base_world = arm.frames.is_in_world(target.frame), None
        if in_world:
            T_target = arm.frames.target_in_world(target, arm.values_at)
            T_base_world = arm.world_in_base(now)
        else:
            T_target = arm.frames.target_in_base(target, arm.values_at)
        follower.accept(T_target, now, tip.number, T_base_world)
        said = SaidTarget(target.frame, target.T, T_target, in_world, now)
        arm.relative_targets.take(tip.number, said)
        tip.target_stamp = stamp
        return arm

    def _accept_joints(self, message: JointState, received: int) -> ConfiguredArm:
        """Take a target for joints, or raise a FabrikError; return the arm that sets out."""
        arm, follower = self._active_at(received)
        now = self._state.clock.now()
        stamp = seconds(message.header.stamp)
        self._check_age('joint target', stamp, now)
        follower.go_to_joints(joint_values(message), now)
        self._state.joint_target = JointTarget(stamp)
        return arm

    def _accept_configuration(self, name: str, received: int) -> ConfiguredArm:
        """Take the name of a configuration, as a target for all joints."""
        arm, follower = self._active_at(received)
        configurations = self._state.parameters.named_configurations
        if name not in configurations:
            raise RefusedError(_unknown_configuration(name, list(configurations)))
        values = dict(zip(arm.chain.joint_names, configurations[name], strict=True))
        follower.go_to_joints(values, self._state.clock.now())
        self._state.joint_target = JointTarget(name=name)
        return arm

    def _accept_program(self, message: String, received: int) -> ConfiguredArm:
        """Take a program, or raise a FabrikError; return the arm that sets out."""
        known = self._state.parameters.named_configurations
        values = {name: np.array(q) for name, q in known.items()}

        def read(arm: ConfiguredArm, placed: Placed) -> Program:
            return with_values(program_in(message, arm.chain.base_link, placed)[1], values)

        return self._go_through(message.data, read, name_in(message), received)

    def _accept_path(self, message: Path, received: int) -> ConfiguredArm:
        """Take poses to pass, or raise a FabrikError; return the arm that sets out."""
        parameters = self._state.parameters
        stamp = seconds(message.header.stamp)
        self._active_at(received)
        self._check_age('path', stamp, self._state.clock.now())

        def read(arm: ConfiguredArm, placed: Placed) -> Program:
            return lines_through(message, parameters.blend_radius, parameters.tip_speed, placed)

        return self._go_through(words_of(message), read, '', received)

    def _go_through(
        self,
        words: Hashable,
        read: Callable[[ConfiguredArm, Placed], Program],
        name: str,
        received: int,
    ) -> ConfiguredArm:
        """Take a program in words that may mean other poses once the arm has moved."""
        arm, follower = self._active_at(received)
        now, frames = self._state.clock.now(), set[str]()

        def placed(target: FramedTarget) -> Array:
            frames.add(target.frame)
            return arm.placed(target)

        def is_repeat(program: Program, before: float) -> bool:
            return follower.repeats(program, now, before)

        meant = arm.relative_programs.find(words, now, is_repeat)
        program = read(arm, placed) if meant is None else meant
        follower.go_through(program, now, name)
        if meant is None:
            arm.relative_programs.take(words, frames, program, now)
        return arm

    def _jog(self, tip: TipTopics, message: TwistStamped, received: int) -> None:
        """Take a jog, or raise a FabrikError."""
        twist = twist_to_array(message.twist)
        arm, follower = self._active_at(received, asks=bool(np.any(twist)))
        now = self._state.clock.now()
        self._check_age('jog', seconds(message.header.stamp), now)
        in_tip = _is_in_tip(arm, tip.number, message.header.frame_id.removeprefix('/'))
        if follower.jog(twist, now, tip.number, in_tip):
            self._state.tally.last_refusal = ''
            tip.target_stamp = 0.0
            arm.loop.begin_at_once(is_target=True)

    def _active_at(self, received: int, asks: bool = True) -> ActiveArm:
        """
        Get the arm for a message received at a time [ns]; note one that `asks` for motion.

        Where the arm is to start, joint states that came before count, whether or not they have
        had their turn.
        """
        try:
            active = self._state.active_arm()
            if time.monotonic_ns() - age_of(received) < self._state.active_since:
                raise RefusedError(TOO_EARLY)
        except RefusedError:
            if asks:
                self._state.gate.ask(self._state.clock.at(received))
            raise
        if active.follower.is_at_rest:
            self.hear_joint_states()
        return active

    def _check_age(self, what: str, stamp: float, now: float) -> None:
        """Refuse a message whose stamp [s] is negative, too old or ahead of the time."""
        check_age(what, stamp, now, self._state.parameters.max_target_age)

    # -- the robot

    def on_description(self, message: String) -> None:
        """Take a robot description, unless there is one by parameter, or it is the same."""
        if self._state.parameters.robot_description or message.data == self._state.description:
            return
        self._on_new_description(message.data)

    def on_joint_state(self, message: JointState, received: int) -> None:
        """Take the state of some joints, received at a system time [ns]."""
        if message.position and len(message.position) != len(message.name):
            self._warn(
                f'joint state refused: {len(message.position)} values for '
                f'{len(message.name)} joints'
            )
            return
        if self._state.arm is not None:
            now = self._state.clock.at(received)
            self._state.arm.add_joint_state(message, now)

    def hear_joint_states(self) -> None:
        """Take the joint states that came and have not had their turn yet."""
        hear_waiting(self._joint_states)

    def on_robot_state(self) -> None:
        """Take a change of the robot's own state."""
        if self._state.arm is not None:
            self._state.arm.take_robot_state()

    def on_reference(self, reference: ControllerReference) -> None:
        """Take the reference of a controller of trajectories."""
        if self._state.arm is not None:
            self._state.arm.take_reference(reference)

    # -- what stands around

    def on_obstacles(self, message: MarkerArray) -> None:
        """Take obstacles in markers."""
        state = self._state
        try:
            groups = after(state.groups, message, state.clock.now())
            if state.arm is not None:
                state.arm.set_groups(groups, deleted_by(message))
        except FabrikError as error:
            state.tally.last_refusal = f'obstacles refused: {error}'
            self._node.get_logger().error(
                f'obstacles refused, those before stay: {error}',
                throttle_duration_sec=WARNING_PERIOD,
            )
        else:
            state.groups = groups

    def _look_around(self) -> None:
        """Take up what has changed around the arm without a message."""
        self._obstacles.hear_latched()
        if self._state.arm is not None:
            self._state.arm.look_around()

    def _warn(self, text: str) -> None:
        self._node.get_logger().warning(text, throttle_duration_sec=WARNING_PERIOD)


def _mark(message: PoseStamped | JointState | Path) -> str:
    """Mark by which the sender of a target knows it again in the status."""
    return target_stamp(seconds(message.header.stamp))


def _unknown_configuration(name: str, names: Sequence[str]) -> Reason:
    there = f'there are: {listed(names)}' if names else 'there are none'
    cure = did_you_mean(name, names)
    text = f"no configuration named '{shown(name)}'; {there}{cure}"
    return Reason(ReasonKind.BAD_REQUEST, text)


def _is_in_tip(arm: ConfiguredArm, tip: int, frame: str) -> bool:
    """Whether the frame of a jog is that of its tip; otherwise it is the base."""
    base_link, tip_link = arm.chain.base_link, arm.tip_links[tip]
    if frame not in ('', base_link, tip_link):
        text = (
            f"a jog in frame '{frame}': expected '{base_link}' or none for the base, or "
            f"'{tip_link}' for the tool"
        )
        raise RefusedError(Reason(ReasonKind.BAD_REQUEST, text))
    return frame == tip_link
