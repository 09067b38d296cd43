"""The commands out: one every period while the arm moves, the first as soon as it can be."""

from collections.abc import Callable, Sequence
import time
import traceback
from typing import NamedTuple

from rclpy.clock import Clock, ClockType
from rclpy.duration import Duration
from rclpy.node import Node
from rclpy.time import Time
from rclpy.timer import Timer

from ..errors import FabrikError
from ..following import Command, Follower
from ..motion import Motion
from ..transforms import Array
from .clock import NodeClock
from .outputs import Outputs
from .reports import Tally
from .timing import CommandClock
from .tips import TipTopics

DELIVERY_TIME = 0.2
TRAJECTORY_LAG = 2.5
"""How long after a command a trajectory has it reached, in periods: the next may come a period
late before the controller has begun to brake."""


class LastWords(NamedTuple):
    """What remains of a stream of commands when the model is forgotten."""

    joint_names: tuple[str, ...]
    stamps: CommandClock
    spoken: tuple[float, Command] | None
    """Time and last command [s]."""


class CommandLoop:
    """
    Sends the commands of a follower while the node is active.

    Parameters
    ----------
    node : Node
        Has the timer, and the log.
    clock : NodeClock
        Its time.
    rate : float
        Commands in a second.
    motion : Motion
        What the follower moves.
    outputs : Outputs
        Where the commands go.
    tips : sequence of TipTopics
        Are told where the commands put them.
    base_at : callable
        Tells where the world is in the base frame at a time [s], a pose of shape (4, 4), or raises
        a FabrikError; for targets that stay where they are in the world.
    on_jump_back : callable
        Is called when the clock shows less than before while the arm moves, or a target stays
        where it is in the world; others lose nothing by it.
    tally : Tally
        Counts the commands.
    before : LastWords, optional
        Of the loop before this one: who hears the commands of both takes them for one stream.

    Attributes
    ----------
    follower : Follower or None
        Decides what the arm does; None while the node is inactive.
    spoken : tuple of float and Command, or None
        Time and last command [s].

    """

    def __init__(
        self,
        node: Node,
        clock: NodeClock,
        rate: float,
        motion: Motion,
        outputs: Outputs,
        tips: Sequence[TipTopics],
        base_at: Callable[[float], Array],
        on_jump_back: Callable[[], None],
        tally: Tally,
        before: LastWords | None = None,
    ) -> None:
        self._node, self._clock = node, clock
        self._period = 1.0 / rate
        self._motion = motion
        self._outputs, self._tips = outputs, tips
        self._base_at = base_at
        self._on_jump_back = on_jump_back
        self._tally = tally
        self._stamps = CommandClock(self._period, before.stamps if before is not None else None)
        self._timer: Timer | None = None
        self.follower: Follower | None = None
        self.spoken: tuple[float, Command] | None = None
        if before is not None and before.joint_names == motion.chain.joint_names:
            self.spoken = before.spoken

    @property
    def last_words(self) -> LastWords:
        """What the next loop has to know of this one."""
        return LastWords(self._motion.chain.joint_names, self._stamps, self.spoken)

    def start(self, follower: Follower) -> None:
        """Send the commands of a follower from now on."""
        simulated = self._node.get_parameter('use_sim_time').value
        clock = self._node.get_clock() if simulated else Clock(clock_type=ClockType.STEADY_TIME)
        self.follower = follower
        self._timer = self._node.create_timer(self._period, self._tick, clock=clock)
        self._tick_period = self._timer.timer_period_ns
        """That of the timer [ns]; to ask the timer takes longer."""

    def end(self) -> None:
        """Send no more."""
        self.follower = None
        if self._timer is not None:
            self._node.destroy_timer(self._timer)
            self._timer = None

    def come_to_rest(self, reason: str) -> None:
        """Send the ramp down to rest, in real time; returns when the arm is still."""
        follower, motion, stamps = self.follower, self._motion, self._stamps
        if follower is None or follower.is_at_rest:
            return
        now, steady = self._clock.now_ns(), self._clock.steady_ns()
        # Who waits for commands has come to rest by then; who plays trajectories plays on.
        if stamps.has_paused(now, steady) and not self._outputs.takes_trajectories:
            motion.halt()
        follower.hold(reason)
        if follower.is_at_rest:
            return
        due = time.monotonic()
        if self._outputs.takes_trajectories:
            self._send_ramp(stamps.since_last(now, steady))
        while not follower.is_at_rest:
            due += self._period
            time.sleep(max(0.0, due - time.monotonic()))
            stamp, dt = stamps.follow_on()
            command = self._command(follower, 1e-9 * stamp, dt)
            if command is not None:
                self._send(command, stamp)
        # The process may end now: see the last command off.
        self._outputs.see_off(Duration(seconds=DELIVERY_TIME))

    def begin_at_once(self, is_target: bool = False) -> None:
        """
        Send the first command of a target without waiting for the next tick.

        Only if a period has passed since the last command. From rest the ticks begin anew with
        this command, and where targets come at the pace of the commands they follow these; else
        the tick that was due for it is left out.
        """
        now, stamps = self._clock.now_ns(), self._stamps
        if is_target and not self._outputs.takes_trajectories:  # which need even steps
            stamps.hear(now)
        if self._timer is None or not stamps.is_due(now):
            return
        self._step(now, with_target=True)
        if stamps.was_interrupted or stamps.is_led(now):
            self._set_tick_period(now)
            self._timer.reset()
        self._think_ahead()

    def _tick(self) -> None:
        now = self._clock.now_ns()
        if not self._stamps.is_early(now):
            self._step(now)
        self._set_tick_period(now)
        self._think_ahead()

    def _set_tick_period(self, now: int) -> None:
        """Let the ticks wait for targets that lead the commands, or no longer."""
        timer, period = self._timer, self._stamps.tick_period(now)
        if timer is not None and self._tick_period != period:
            self._tick_period = timer.timer_period_ns = period
            timer.reset()

    def _step(self, now: int, with_target: bool = False) -> None:
        """Take a step at `now` [ns], and send the command it leads to."""
        follower, motion = self.follower, self._motion
        if follower is None:
            return
        if not (follower.has_something_to_say or follower.is_held_in_world):
            return
        stamps, steady = self._stamps, self._clock.steady_ns()
        passed = stamps.since_last(now, steady)
        stamp, dt = stamps.next(now, steady, with_target)
        if stamps.went_back and (motion.is_moving or follower.is_held_in_world):
            self._on_jump_back()
        if self._outputs.takes_trajectories:
            dt = motion.rejoin(passed, TRAJECTORY_LAG * self._period, self._period, dt)
        elif stamps.was_interrupted:
            motion.halt()
        begin = time.perf_counter()
        if follower.is_held_in_world:
            self._carry(follower, 1e-9 * stamp, dt)
        command = self._command(follower, 1e-9 * stamp, dt)
        duration = time.perf_counter() - begin
        if command is not None:
            self._send(command, stamp)
            if self._outputs.takes_trajectories:
                self._send_ramp(1e-9 * (now - stamp))
        if follower.is_on_the_way and motion.solution is not None:
            self._tally.step(duration, motion.solution.finished_by)

    def _command(self, follower: Follower, now: float, dt: float) -> Command | None:
        """Have the next command; one that slows the arm down where there is none."""
        try:
            return follower.tick(now, dt)
        except Exception as error:  # whatever it is, an arm at speed must not be left alone
            self._slow_down(follower, error)
            return follower.tick(now, dt)

    def _think_ahead(self) -> None:
        """Use the time after a command for the next one."""
        follower = self.follower
        if follower is None or follower.is_at_rest:
            return
        try:
            self._motion.prepare()
        except Exception as error:  # as in a step
            self._slow_down(follower, error)

    def _slow_down(self, follower: Follower, error: Exception) -> None:
        log = self._node.get_logger()
        log.error(f'an error in a step: {error}\n{traceback.format_exc()}')
        follower.hold(f'an error in a step: {error}')

    def _carry(self, follower: Follower, now: float, dt: float) -> None:
        """Tell the motion where the base will be; stop where nobody knows."""
        try:
            self._motion.carry(self._base_at(now), dt)
        except FabrikError as error:
            follower.hold(f'the pose of the base is lost: {error}')

    def _send(self, command: Command, stamp: int) -> None:
        self._outputs.send(command, stamp)
        self.spoken = 1e-9 * stamp, command
        self._tally.commands += 1
        if not any(tip.is_heard for tip in self._tips):
            return
        at, chain = Time(nanoseconds=stamp).to_msg(), self._motion.chain
        poses = chain.forward_kinematics(command.q).reshape(-1, 4, 4)
        for tip, T_base_tip in zip(self._tips, poses, strict=True):
            tip.tell(T_base_tip, chain.base_link, at)

    def _send_ramp(self, passed: float) -> None:
        """Send the way to rest, `passed` seconds after the last command, as one trajectory."""
        self._outputs.send_ramp(self._motion.ramp(), TRAJECTORY_LAG * self._period - passed)
