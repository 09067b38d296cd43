"""The commands out: one every period while the arm moves, the first as soon as it can be."""

from collections.abc import Callable
import math
import time
import traceback
from typing import NamedTuple

from rclpy.clock import Clock, ClockType
from rclpy.duration import Duration
from rclpy.time import Time
from rclpy.timer import Timer

from ...errors import FabrikError
from ...motion.choosing.motion import Motion
from ...motion.controllers.published_trajectory import (
    default_look_ahead,
    NANOSECONDS,
    PublishedTrajectory,
)
from ...motion.controllers.trajectory_stepper import TrajectoryStepper
from ...motion.follower_options import LOOKING_SHARE
from ...motion.following.arm_state import Command
from ...motion.following.follower import Follower
from ...reasons import Reason, ReasonKind
from ...transforms import Array
from ..clocks.command_clock import CommandClock
from ..parameters.node_parameters import NodeParameters
from .topics import Surroundings

DELIVERY_TIME = 0.2
"""Longest wait at shutdown for delivery of the last command [s]."""
LONGEST_WAY_BACK = 10.0
"""
A node that is to end waits no longer for commands to come back to an arm that does not follow [s];
a stop it always sends to its end, however long it takes.
"""
FIRST_LOOK = 0.01
"""Time for a first look for a path as soon as a target comes to an arm that rests [s]."""
WARNING_PERIOD = 5.0
"""The same warning is not logged again within this time [s]."""
REMINDED = 10.0
"""Time for which the status warns of commands that came too late [s]."""


class StreamState(NamedTuple):
    """State of a stream of commands that remains when its loop ends."""

    joint_names: tuple[str, ...]
    stamps: CommandClock
    last_command: tuple[float, Command] | None
    """Time [s] of the last command, and the command."""
    curve: PublishedTrajectory | None
    """Trajectory that was sent to controllers."""


class CommandLoop:
    """
    Sends the commands of a follower while the node is active.

    Parameters
    ----------
    surroundings : Surroundings
        The node with the timer and the log, its clock, and the topics of the commands.
    parameters : NodeParameters
        The rate of the commands, and the look-ahead of trajectories.
    motion : Motion
        What the follower moves.
    world_in_base : callable
        Returns T_base_world (4, 4) at a time [s], or raises a FabrikError; for targets that stay
        where they are in the world.
    heed_clock : callable
        Is called before each step, with the time and that of a steady clock [ns], if that can be
        compared: takes note if the clock was set.
    on_jump_back : callable
        Is called, with the time it was set by [s], when the clock shows less than before while
        the arm moves, or while a target stays where it is in the world; an arm at rest loses
        nothing by the jump.
    before : StreamState, optional
        State of the loop before this one: listeners take the commands of both for one stream.

    Attributes
    ----------
    follower : Follower or None
        Decides what the arm does; None while the node is inactive.
    last_command : tuple of float and Command, or None
        Its time [s], and the command.
    period : float
        Time between commands [s].

    """

    def __init__(
        self,
        surroundings: Surroundings,
        parameters: NodeParameters,
        motion: Motion,
        world_in_base: Callable[[float], Array],
        heed_clock: Callable[[int, int | None], None],
        on_jump_back: Callable[[float], None],
        before: StreamState | None = None,
    ) -> None:
        self._node, self._clock = surroundings.node, surroundings.clock
        self.period = 1.0 / parameters.command_rate
        self._motion = motion
        self._outputs, self._tips = surroundings.topics.outputs, surroundings.topics.tips
        self._world_in_base = world_in_base
        self._heed_clock, self._on_jump_back = heed_clock, on_jump_back
        self._tally, self._spare_time = surroundings.tally, surroundings.spare_time
        takes_trajectories = self._outputs.takes_trajectories
        self._stamps = CommandClock(
            self.period, None if before is None else before.stamps, even=takes_trajectories
        )
        self._timer: Timer | None = None
        self._late_at, self._warning = -math.inf, ''
        self.follower: Follower | None = None
        self.last_command: tuple[float, Command] | None = None
        self._stepper: TrajectoryStepper | None = None
        if takes_trajectories:
            given = parameters.trajectory_look_ahead
            look_ahead = given or default_look_ahead(self.period)
            self._stepper = TrajectoryStepper(
                motion, self._stamps.period, look_ahead, adapts=given == 0.0
            )
        if before is not None and before.joint_names == motion.robot.joint_names:
            self.last_command = before.last_command
            if self._stepper is not None and before.curve is not None:
                self._stepper.go_on_from(before.curve)

    @property
    def stream_state(self) -> StreamState:
        """State of the stream that the next loop takes over."""
        names = self._motion.robot.joint_names
        curve = None if self._stepper is None else self._stepper.curve
        return StreamState(names, self._stamps, self.last_command, curve)

    @property
    def look_ahead(self) -> float:
        """Time from its stamp until a controller of trajectories reaches a command [s]; else 0."""
        return 0.0 if self._stepper is None else self._stepper.look_ahead

    @property
    def warning(self) -> str:
        """Say that commands came too late, for a while; '' where none did."""
        return self._warning if 0.0 <= self._clock.now() - self._late_at <= REMINDED else ''

    def curve_at(self, time: int) -> Array | None:
        """Planned joint values of a controller of trajectories at a time [ns], shape (n,)."""
        return None if self._stepper is None else self._stepper.curve.at(time)

    def hear(self, time: int, q: Array | None, velocity: Array | None, begin: int) -> bool:
        """
        Take the reference of a controller of trajectories.

        Parameters
        ----------
        time : int
            Of the reference [ns].
        q, velocity : array, shape (n,), or None
            The reference [rad or m, and per s], where the controller has all joints.
        begin : int
            Time of the first point of what it plays [ns], if it says so.

        Returns
        -------
        bool
            Whether it belongs to what was sent, as far as can be told.

        """
        stepper, follower = self._stepper, self.follower
        if stepper is None:
            return False
        now = self._clock.now_ns()
        stepper.note_state(now)
        if follower is None or not follower.should_publish or q is None or velocity is None:
            return False
        return stepper.hear(time, q, velocity, now, begin)

    def start(self, follower: Follower) -> None:
        """Send the commands of a follower from now on."""
        simulated = self._node.get_parameter('use_sim_time').value
        clock = self._node.get_clock() if simulated else Clock(clock_type=ClockType.STEADY_TIME)
        self.follower, follower.observer.delay = follower, self.look_ahead
        follower.looks_in_ticks = False
        self._timer = self._node.create_timer(self.period, self._tick, clock=clock)
        self._tick_period = self._timer.timer_period_ns
        """Timer period [ns]. Cached: querying the timer is slower."""

    def end(self) -> None:
        """Send nothing more, and look for no path."""
        self.follower = None
        self._motion.stop(None)
        if self._timer is not None:
            self._node.destroy_timer(self._timer)
            self._timer = None

    def come_to_rest(self, reason: Reason) -> None:
        """Send the stop trajectory, in real time; returns when the arm is at rest."""
        follower = self.follower
        if follower is None or follower.is_at_rest:
            return
        now, steady = self._clock.read_ns()
        has_paused = self._stamps.has_paused(now, steady)
        # The arm waits where its last command was, or its controller has the stop that it had.
        if has_paused if self._stepper is None else self._stepper.must_wait(now):
            self._motion.halt()
        follower.hold(reason)
        if follower.is_at_rest:
            return
        next_time = time.monotonic()
        if self._stepper is not None:
            self._stepper.go_on_unheard()  # nothing is taken from topics meanwhile
            self._outputs.send_trajectory(self._stepper.message(now))  # with the whole stop
        deadline = next_time + LONGEST_WAY_BACK
        may_go_back = True
        while not follower.is_at_rest or follower.should_publish:
            if may_go_back and follower.is_going_back and time.monotonic() > deadline:
                may_go_back = False
                self._motion.stop(reason)
            next_time += self.period
            time.sleep(max(0.0, next_time - time.monotonic()))
            self._send_stop_step(follower, now if has_paused else None, may_go_back)
            has_paused = False
        # The process may end now.
        self._outputs.wait_for_delivery(Duration(seconds=DELIVERY_TIME))

    def _send_stop_step(self, follower: Follower, now: int | None, may_go_back: bool) -> None:
        """Send the next command of the stop or the way back, stamped `now` [ns] if given."""
        stamps, last = self._stamps, self._stamps.last
        if self._stepper is not None and may_go_back and follower.is_going_back:
            # What changes the curve must not be late, however long the last step took.
            now = max(last + stamps.period, self._clock.now_ns())
            _, dt = stamps.next(now)
            command = self._step_evenly(follower, self._stepper, now, last, dt)
        else:
            stamp, dt = stamps.follow_on() if now is None else stamps.next(now)
            if self._stepper is None:
                command = self._command(follower, 1e-9 * stamp, dt)
            else:
                command = self._stepper.follow(follower, stamp - last)
        if command is not None:
            self._send(command)

    def begin_at_once(self, is_target: bool = False) -> None:
        """
        Send the first command of a target without waiting for the next tick.

        Only if a period has passed since the last command. From rest the ticks begin anew with
        this command. Where targets come at the rate of the commands the ticks follow the targets,
        and one that comes too soon after a late command waits for half a period at most; else
        the next tick sends nothing.
        """
        (now, steady), stamps = self._clock.read_ns(), self._stamps
        if is_target:
            stamps.note_target(now)
        if self._timer is None:
            return
        if not stamps.is_due(now):
            if stamps.is_led(now):
                self._set_tick_period(stamps.earliest - now)
            return
        self._step(now, steady, with_target=True)
        if stamps.was_interrupted or stamps.is_led(now):
            self._set_tick_period(stamps.tick_period(now))
            self._timer.reset()
        self._use_spare_time()

    def _tick(self) -> None:
        now, steady = self._clock.read_ns()
        if not self._stamps.is_early(now):
            self._step(now, steady)
        self._set_tick_period(self._stamps.tick_period(now))
        self._use_spare_time()

    def _set_tick_period(self, period: int) -> None:
        """Let the next tick come after a time [ns], and each one that long after the other."""
        timer = self._timer
        if timer is not None and self._tick_period != period:
            self._tick_period = timer.timer_period_ns = period
            timer.reset()

    def _step(self, now: int, steady: int | None, with_target: bool = False) -> None:
        """Take a step at `now` [ns], by a steady clock too, and send its command."""
        follower, motion = self.follower, self._motion
        if follower is None:
            return
        self._heed_clock(now, steady)
        try:
            follower.heed_world(1e-9 * now)
        except Exception as error:  # as in a step
            self._slow_down(follower, error)
        if follower.is_looking and follower.is_at_rest:
            tick = self.period, LOOKING_SHARE * self.period
            try:
                follower.look(1e-9 * now, *((0.0, FIRST_LOOK) if with_target else tick))
            except Exception as error:  # as in a step
                self._slow_down(follower, error)
        if not (follower.should_publish or follower.is_held_in_world):
            return
        begin = time.perf_counter()
        stamps, last = self._stamps, self._stamps.last
        stamp, dt = stamps.next(now, steady, with_target)
        if stamps.went_back and (motion.is_moving or follower.is_held_in_world):
            self._on_jump_back(-1e-9 * stamps.back_by)
        if self._stepper is None:
            if stamps.was_interrupted:
                motion.halt()
            command = self._advance(follower, stamp, dt)
        else:
            command = self._step_evenly(follower, self._stepper, now, last, dt)
        duration = time.perf_counter() - begin
        if command is not None:
            self._send(command)
        if follower.is_on_the_way and motion.solution is not None:
            self._tally.step(duration, motion.solution.finished_by)

    def _advance(self, follower: Follower, stamp: int, dt: float) -> Command | None:
        """Take a step of `dt` seconds to the command with a stamp [ns]."""
        if follower.is_held_in_world:
            self._carry(follower, 1e-9 * stamp, dt)
        return self._command(follower, 1e-9 * stamp, dt)

    def _step_evenly(
        self, follower: Follower, stepper: TrajectoryStepper, now: int, last: int, dt: float
    ) -> Command | None:
        """Take the steps since the command stamped `last` [ns], and send the trajectory."""
        stamps, period = self._stamps, self._stamps.period
        stamp = stamps.last
        if stamps.went_back:
            stepper.shift(stamp - period - last)
            last = stamp - period
        command = stepper.step(
            follower,
            lambda stamp: self._advance(follower, stamp, self.period),
            now, stamp, is_paused=round(dt * NANOSECONDS) != stamp - last,
        )  # fmt: skip
        follower.observer.delay = stepper.look_ahead
        self._look_at_delivery(follower, stepper, now)
        if command is None and not stepper.waits:
            return None
        missed = stepper.missed_by(self._clock.now_ns())
        if missed > 0:
            stepper.take_back()
            stamps.take_back()
            self._warn_of_lateness(missed / NANOSECONDS)
            return None
        self._outputs.send_trajectory(stepper.message(now))
        return command

    def _look_at_delivery(self, follower: Follower, stepper: TrajectoryStepper, now: int) -> None:
        """Count what came too late and warn of it; stop where the controller is lost."""
        for late in stepper.take_latenesses():
            self._warn_of_lateness(late)
        lost = stepper.why_lost(now)
        if lost:
            stepper.go_on_unheard()
            follower.fail(Reason(ReasonKind.DOES_NOT_FOLLOW, lost), 1e-9 * now)

    def _warn_of_lateness(self, late: float) -> None:
        """Count what came too late by a time [s], and warn of it."""
        self._tally.late += 1
        self._tally.lateness = late
        self._late_at = self._clock.now()
        self._warning = (
            f'commands came {late:.3f} s or more too late for the look-ahead of '
            f'{self.look_ahead:.3f} s; the arm slows down meanwhile. If this goes on: a longer '
            'trajectory_look_ahead, a lower command_rate, or a less busy machine or network'
        )
        log = self._node.get_logger()
        log.warning(self._warning, throttle_duration_sec=WARNING_PERIOD)

    def _command(self, follower: Follower, now: float, dt: float) -> Command | None:
        """Take the next command; after an error, one that slows the arm down."""
        try:
            return follower.tick(now, dt)
        except Exception as error:  # whatever it is, a moving arm must be stopped
            self._slow_down(follower, error)
            return follower.tick(now, dt)

    def _use_spare_time(self) -> None:
        """Use the time after a command to prepare the next one, and for what waits for that."""
        self._prepare_next_step()
        self._spare_time.use()

    def _prepare_next_step(self) -> None:
        follower = self.follower
        if follower is None or follower.is_at_rest:
            return
        try:
            self._motion.prepare()
            follower.look(self._clock.now(), 0.0, LOOKING_SHARE * self.period)
        except Exception as error:  # as in a step
            self._slow_down(follower, error)

    def _slow_down(self, follower: Follower, error: Exception) -> None:
        log = self._node.get_logger()
        log.error(f'an error in a step: {error}\n{traceback.format_exc()}')
        reason = Reason(ReasonKind.ERROR, f'an error in a step: {error}')
        follower.fail(reason, self._clock.now())

    def _carry(self, follower: Follower, now: float, dt: float) -> None:
        """Tell the arm the pose of the base; stop where it is unknown."""
        try:
            follower.carry(self._world_in_base(now), now, dt)
        except FabrikError as error:
            text = f'the pose of the base is lost: {error}'
            follower.fail(Reason(ReasonKind.BASE_LOST, text), now)

    def _send(self, command: Command) -> None:
        stamp = self._stamps.last if self._stepper is None else self._stepper.last
        self._outputs.send(command, stamp)
        self.last_command = 1e-9 * stamp, command
        self._tally.commands += 1
        if not any(tip.has_listener for tip in self._tips):
            return
        at, robot = Time(nanoseconds=stamp).to_msg(), self._motion.robot
        for tip, T_base_tip in zip(self._tips, robot.tip_poses(command.q), strict=True):
            tip.publish_solution(T_base_tip, robot.base_link, at)
