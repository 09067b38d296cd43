"""The topics `~/gripper`, `~/attach` and `~/detach`: widths, and what the hand carries."""

from collections.abc import Callable
import math
import time

from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from rclpy.timer import Timer
from std_msgs.msg import Float64, String

from ..errors import FabrikError, GripperError, RefusedError
from ..gripper.drive import GripperDrive
from ..motion.following.start_gate import TOLD_TO_HOLD
from ..reasons import Reason, ReasonKind
from .arm.configured_arm import ConfiguredArm
from .arm.node_state import NodeState
from .gripper_action import GripperAction
from .inputs.target_subscription import subscribe_to_targets
from .outputs.topics import Topics

GRIPPER, ATTACH, DETACH = 'gripper', 'attach', 'detach'
"""Topics, and beginnings of the marks by which their senders know what was refused."""
LONGEST_STOP = 0.5
"""Fingers that brake for longer are left where they are [s]."""


class GripperControl:
    """
    Moves the gripper, and lets the hand carry obstacles.

    Parameters
    ----------
    node : Node
        Whose topics they are.
    state : NodeState
        The arm with the gripper.
    topics : Topics
        Where the commands go.
    refuse : callable
        Counts a request that is refused, and says why: gets the error and a mark.

    """

    def __init__(
        self,
        node: Node,
        state: NodeState,
        topics: Topics,
        refuse: Callable[[FabrikError, str], None],
    ) -> None:
        self._node, self._state, self._topics, self._refuse = node, state, topics, refuse
        self._action = GripperAction(node)
        self._timer: Timer | None = None
        subscribe_to_targets(node, Float64, f'~/{GRIPPER}', self._on_width)
        subscribe_to_targets(node, String, f'~/{ATTACH}', self._on_attach)
        subscribe_to_targets(node, String, f'~/{DETACH}', self._on_detach)

    def close(self) -> None:
        """Send no more commands, and ask no controller any more."""
        self.stop()
        self._action.close()

    def stop(self) -> None:
        """Send no more commands."""
        if self._timer is not None:
            self._node.destroy_timer(self._timer)
            self._timer = None

    def come_to_rest(self, reason: Reason) -> None:
        """Brake the fingers in real time, for a reason; a controller is asked to do so."""
        arm = self._state.arm
        drive = None if arm is None else arm.gripper.drive
        if arm is None or drive is None or not drive.is_under_way:
            return
        arm.look_at_gripper()
        drive.hold(reason)
        if self._uses_action:
            self._action.cancel()
        else:
            period, deadline = arm.loop.period, time.monotonic() + LONGEST_STOP
            while drive.is_under_way and time.monotonic() < deadline:
                self._step(drive, period)
                time.sleep(period)
        drive.drop(self._state.clock.now())

    # -- widths

    def _on_width(self, message: Float64, received: int) -> None:
        try:
            self._go_to(message.data)
        except FabrikError as error:
            self._refuse(error, f'{GRIPPER} {message.data!r}')

    def _go_to(self, width: float) -> None:
        if not math.isfinite(width):
            raise GripperError(f'a width of {width} m; expected a number')
        arm, follower = self._state.active_arm()
        self._state.gate.check_hold()
        if follower.observer.not_ready is not None:
            raise RefusedError(follower.observer.not_ready)
        self._check_driven(arm)
        arm.look_at_gripper()
        for warning in arm.gripper.warnings():
            self._node.get_logger().warning(warning)
        drive = arm.gripper.go_to(width, arm.shown_configuration())
        self._state.tally.last_refusal = ''
        if self._uses_action:
            drive.skip()
            self._send(arm, drive)
        if self._timer is None:
            simulated = self._node.get_parameter('use_sim_time').value
            steady = Clock(clock_type=ClockType.STEADY_TIME)
            clock = self._node.get_clock() if simulated else steady
            self._timer = self._node.create_timer(arm.loop.period, self._tick, clock=clock)

    @property
    def _uses_action(self) -> bool:
        return bool(self._state.parameters.gripper_action)

    def _check_driven(self, arm: ConfiguredArm) -> None:
        """Refuse a width that nobody would take; GripperError."""
        if arm.gripper.drive is None:
            raise GripperError(arm.gripper.missing)
        if self._uses_action:
            self._action.check(self._state.parameters.gripper_action)
        elif not self._topics.outputs.sends_joint_states:
            raise GripperError(
                "nobody drives the gripper: `output` has no 'joint_state', and `gripper_action` "
                'names no controller'
            )

    def _tick(self) -> None:
        """Go on for as long as the fingers are under way; say why they were stopped."""
        arm = self._state.arm
        drive = None if arm is None else arm.gripper.drive
        if arm is not None and drive is not None and drive.is_under_way:
            self._go_on(arm, drive)
            return
        self.stop()
        if drive is not None and drive.stopped_by is not None:
            self._node.get_logger().warning(f'the fingers were stopped: {drive.stopped_by}')

    def _go_on(self, arm: ConfiguredArm, drive: GripperDrive) -> None:
        """Send the next command, or see to the goal of a controller."""
        arm.heed_clock(*self._state.clock.read_ns())
        arm.look_at_gripper()
        if (reason := self._why_hold()) is not None:
            drive.hold(reason)
        if not self._uses_action:
            self._step(drive, arm.loop.period, arm.motion.limits.speed_scaling)
        elif drive.stopped_by is None:
            self._action.attend()
        else:
            self._action.cancel()
            drive.drop(self._state.clock.now())

    def _step(self, drive: GripperDrive, dt: float, share: float = 1.0) -> None:
        """Send the command after a time [s], at a share of the greatest speed."""
        now = self._state.clock.now_ns()
        if drive.step(dt, 1e-9 * now, share) and drive.command is not None:
            self._topics.outputs.send_joint(drive.gripper.joint.name, *drive.command, now)

    def _why_hold(self) -> Reason | None:
        """Say why the fingers have to stand still; None where they need not."""
        follower = self._state.follower
        if self._state.gate.is_held:
            return TOLD_TO_HOLD
        return self._state.inactivity() if follower is None else follower.observer.not_ready

    def _send(self, arm: ConfiguredArm, drive: GripperDrive) -> None:
        """Send the goal to the controller."""
        assert drive.command is not None

        def end(why_not: str, told: float | None) -> None:
            arm.look_at_gripper()
            if why_not and not drive.is_there:
                reason = Reason(ReasonKind.ERROR, f'the gripper controller: {why_not}')
                self._refuse(RefusedError(reason), f'{GRIPPER} {drive.target!r}')
                drive.hold(reason)
            if drive.is_under_way:
                drive.end(self._state.clock.now(), told)

        name, effort = drive.gripper.joint.name, self._state.parameters.gripper_effort
        self._action.send(name, drive.command[0], effort, end)

    # -- what the hand carries

    def _on_attach(self, message: String, received: int) -> None:
        self._handle(ATTACH, message.data, ConfiguredArm.attach)

    def _on_detach(self, message: String, received: int) -> None:
        self._handle(DETACH, message.data, ConfiguredArm.detach)

    def _handle(self, topic: str, name: str, handle: Callable[[ConfiguredArm, str], None]) -> None:
        try:
            handle(self._state.configured_arm(), name)
            self._state.tally.last_refusal = ''
        except FabrikError as error:
            self._refuse(error, f'{topic} {name}')
