"""
The rules by which an arm follows goals: when it may start, when it must stop, what it says.

No ROS in here: times are seconds of one clock, given by the caller.

"""

from collections.abc import Mapping
import math

import numpy as np

from ...errors import RefusedError
from ...model.mechanism import Mechanism
from ...programs.program import Program
from ...reasons import GOES_ON, joined, Reason, ReasonKind
from ...transforms import Array
from ..choosing.goal import Goal
from ..choosing.motion import Motion
from ..choosing.state_table import Phase
from .active_jogs import ActiveJogs
from .arm_observer import ArmObserver
from .arm_state import (
    CANCELLED,
    Command,
    JOG_ENDED,
    MOVED_AWAY,
    PAUSED,
    ready_again,
    RESUMED,
    SEND_AGAIN,
    State,
    STATES,
)
from .arrival import Arrival
from .blockage import Blockage
from .following_rules import FollowingRules, home_of
from .goal_in_force import GoalInForce
from .job import Job
from .joint_goal import check_joint_values, JointGoal
from .looming import Looming
from .measured_joints import MeasuredJoints
from .program_run import ProgramRun, rest_waits
from .start_gate import StartGate, TOLD_TO_HOLD
from .start_rules import StartRules

REPEAT_TIME = 0.5
"""Time for which the last command is repeated after arrival [s]."""
TRY_AGAIN_TIME = 0.5
"""Time between tries for an unreachable goal held in the world [s]."""
SECOND_TARGET_TIME = 0.2
"""Wait for a second target before the arm leaves the line to a first one [s]; two are a stream."""
AT_GOAL = 1e-3, 5e-3
"""Distance and turn from its goal up to which a tip is at it [m, rad]."""
LONGEST_DOUBT = 2.0
"""A target waits no longer for an arm that is moved, or whose measurements do not agree [s]."""
STATE_LOST = 'the state of these joints is lost'
LONGEST_BRAKING = 0.5
"""Longest braking of a tip whose jog is lost [s]; a slower one is stopped by its joints."""


class Follower:
    """
    Drives one arm, or arms that share a body, by the rules.

    Parameters
    ----------
    robot : Chain or Tree
        The joints.
    motion : Motion
        How it moves.
    rules : FollowingRules
        When it starts and stops.
    measured : MeasuredJoints
        What is known of the joints; kept up to date by the caller.
    last_command : tuple of float and Command, optional
        Time [s] and last command of the previous follower; this one continues from it, without
        a jump.
    gate : StartGate, optional
        Decides whether the arm may set out; it outlives followers.

    Attributes
    ----------
    observer : ArmObserver
        Compares what is measured with the commands.
    looks_in_ticks : bool
        Whether `accept` and `tick` look for paths, for as long as that takes; else the caller
        has to call `look`.

    """

    def __init__(
        self,
        robot: Mechanism,
        motion: Motion,
        rules: FollowingRules,
        measured: MeasuredJoints,
        last_command: tuple[float, Command] | None = None,
        gate: StartGate | None = None,
    ) -> None:
        self.robot, self.motion = robot, motion
        self.gate = StartGate() if gate is None else gate
        self.observer = ArmObserver(robot, measured, rules)
        measured.on_update = self._on_measured
        self._job = Job()
        self._start = StartRules(robot, motion, self.observer, self.gate, self._job)
        self._arrival = Arrival(robot, motion, self.observer)
        self._sent_to = GoalInForce(robot)
        self._program_time = -math.inf
        """Time at which the newest program came last [s]."""
        self._target_times = [-math.inf] * len(robot.tip_links)
        """Time at which each tip had its newest target first [s]."""
        self._joints_time = -math.inf
        """Time at which the newest joint values came first [s]."""
        self.looks_in_ticks = True
        self._repeat_time = 0.0
        self._try_again_time = 0.0
        self._doubted_since = math.inf
        """Since when it is not certain where an arm that is to set out stands [s]; inf: it is."""
        self._jogs = ActiveJogs()
        self._blockage = Blockage()
        self._looming = Looming(motion)
        home_of(robot, rules)
        if last_command is not None:
            motion.reset(last_command[1].q)
            self.observer.remember(last_command[0], motion.command[0])
        elif not rules.wait_for_state:
            motion.reset(self._start.assumed_start())

    @property
    def rules(self) -> FollowingRules:
        """Rules of when the arm starts and stops."""
        return self.observer.rules

    @rules.setter
    def rules(self, rules: FollowingRules) -> None:
        self.observer.rules = rules

    # -- what it says

    def state(self, now: float) -> tuple[State, Reason | None]:
        """State, and the reason for it."""
        motion = self.motion
        missing = self.observer.unknown_state(now, 'no fresh state of')
        if self.gate.is_held and not self._start.is_under_way:
            return State.HOLDING, joined((TOLD_TO_HOLD, self.observer.fault or missing))
        if self._jog_is_blocked:
            return State.HOLDING, motion.reason
        if self.is_looking and self.is_at_rest:
            state = State.PLANNING if motion.is_planning else STATES[Phase.SEARCHING]
            return state, missing or self._doubt(now) or motion.reason
        if self.is_on_the_way:
            paused = (
                (self.observer.paused_by or PAUSED) if motion.limits.speed_scaling == 0.0 else None
            )
            return STATES[motion.phase], paused or motion.reason
        reason = self._job.stop_reason or motion.reason
        if self._is_stopping or (self._job.is_engaged and reason is not None):
            return State.HOLDING, self._reason_to_hold(now, reason, missing)
        if self.observer.fault is not None:
            return State.HOLDING, self.observer.fault
        if missing is not None:
            return State.WAITING_FOR_STATE, missing
        return self._state_at_rest(now)

    def tip_reasons(self, now: float) -> list[Reason | None]:
        """Reason why each tip stands, or will stand, short of its target, as far as it has one."""
        _, reason = self.state(now)
        if reason is self.motion.reason:
            return self.motion.tip_reasons
        return [reason] * len(self.robot.tip_links)

    def _reason_to_hold(
        self, now: float, reason: Reason | None, missing: Reason | None
    ) -> Reason | None:
        """Reason of an arm that stops, or rests short of where it was sent."""
        if self._is_stopping:
            return reason
        if self._job.stop_reason is not None:
            is_ready = reason is not None and self._is_ready_again(now)
            return ready_again(reason) if reason is not None and is_ready else reason
        return joined((self.observer.fault or missing or self._moved_away(now), reason))

    def _state_at_rest(self, now: float) -> tuple[State, Reason | None]:
        if not self._job.is_engaged:
            outside, stopped = self._start.outside_limits(now), self._sent_to.stopped_run
            if outside is not None:
                return State.HOLDING, outside
            return State.IDLE, None if stopped is None else rest_waits(stopped)
        moved_away = self._moved_away(now)
        if moved_away is not None:
            return State.HOLDING, moved_away
        if self.goal is None:
            return State.HOLDING, JOG_ENDED
        state, reason = self._arrival.state(now, self.goal_in_base())
        return state, reason or (state is State.REACHED and self._looming.announcement) or None

    def _moved_away(self, now: float) -> Reason | None:
        """Say that a resting arm is not at its last command; None if it is there."""
        if not self.observer.counts(now):
            return None
        gap = self.observer.gap(self.motion.q)
        return MOVED_AWAY if np.max(gap) > self.rules.resync_tolerance else None

    def _is_ready_again(self, now: float) -> bool:
        """Whether what stopped the arm is gone, so that it waits for a target."""
        job, observer = self._job, self.observer
        is_gone = job.has_failed and observer.unknown_state(now, '') is None
        is_gone &= observer.fault is None and not self._blockage.is_there
        return is_gone and not self.gate.is_blocked(now)

    def measured_errors(self, now: float) -> tuple[Array, Array] | None:
        """
        Distances of the measured tips from the goal, shapes (k,) [m] and (k,) [rad].

        NaN for tips without a goal; None while there is no goal or no fresh state.
        """
        T_goal = self.goal_in_base()
        if T_goal is None or not self.observer.is_measured(now):
            return None
        return self.motion.errors_between(self.robot.tip_poses(self.observer.q), T_goal)

    @property
    def is_on_the_way(self) -> bool:
        """Whether the arm moves to its goal, or is jogged."""
        motion = self.motion
        moves = not (motion.is_at_rest or motion.is_stopping or motion.is_at_goal)
        moves &= not motion.is_held_up
        return moves and not self._jog_is_blocked and not self.is_going_back

    @property
    def is_going_back(self) -> bool:
        """Whether the arm did not follow, and the commands come back to where it is."""
        return self.motion.phase is Phase.RETURNING

    @property
    def was_stopped(self) -> bool:
        """Whether the arm was stopped on the way to its goal."""
        return self._job.stop_reason is not None

    @property
    def goes_on_by_itself(self) -> bool:
        """Whether an arm that holds may set out again unasked: it replans, or its base moves."""
        return self._blockage.will_replan or (self.is_held_in_world and self.motion.base_moves)

    @property
    def is_at_rest(self) -> bool:
        """Whether the last command does not move."""
        return self.motion.is_at_rest

    @property
    def is_looking(self) -> bool:
        """Whether a path to the goal is looked for."""
        return self.motion.is_looking

    @property
    def is_under_way(self) -> bool:
        """Whether the arm goes to its goal, or looks for a path there."""
        return self.is_on_the_way or self.is_looking

    @property
    def is_engaged(self) -> bool:
        """Whether the arm was sent somewhere or jogged, and no `resume` has ended that since."""
        return self._job.is_engaged

    @property
    def should_publish(self) -> bool:
        """Whether the arm moves, or reached its goal so lately that the command is repeated."""
        return self._job.is_engaged and (not self.is_at_rest or self._repeat_time > 0.0)

    @property
    def is_held_in_world(self) -> bool:
        """Whether a goal in force stays where it is in the world while the base moves."""
        job = self._job
        is_in_force = job.is_engaged and job.stop_reason is None
        return is_in_force and self.motion.is_held_in_world

    @property
    def goal(self) -> Goal | None:
        """Where the tips are to be; None before the first target, and while the arm is jogged."""
        return self._sent_to.poses

    def goal_in_base(self) -> Array | None:
        """Poses of the goal as they are now in the base frame, shape (k, 4, 4)."""
        return None if self.goal is None else self.motion.seen_from_base(self.goal)

    @property
    def goal_configuration(self) -> Array | None:
        """Joint values at the goal, or nearest to it, shape (n,); None until they are known."""
        if self.goal is None:
            return None
        if self._sent_to.joints is not None:
            return self._sent_to.joints.q
        motion, resolved = self.motion, self.motion.resolved
        found = None if motion.in_stream else motion.found
        if found is not None and found.preview is not None and found.preview.share == 1.0:
            return found.preview.q
        return None if resolved is None else resolved.solution.q

    @property
    def _is_stopping(self) -> bool:
        return self.motion.is_stopping or self.is_going_back

    @property
    def _jog_is_blocked(self) -> bool:
        """Whether a jogged arm cannot go on in the direction of its jog."""
        reason = self.motion.reason if self.motion.is_jogging else None
        return reason is not None and reason.kind not in GOES_ON

    # -- what it is asked for

    def accept(
        self, T_target: Array, now: float, tip: int = 0, T_base_world: Array | None = None
    ) -> None:
        """
        Take a target as the new goal of a tip.

        Parameters
        ----------
        T_target : array, shape (4, 4)
            T_base_tip, or T_world_tip if the target is to stay where it is in the world.
        now : float
            The time [s].
        tip : int
            Number of the tip it is for.
        T_base_world : array, shape (4, 4), optional
            Pose of the world in the base now; given for a target held in the world.

        Raises
        ------
        RefusedError
            If it is too far away, or the arm cannot start now; the message says why.

        """
        in_world = T_base_world is not None
        T_base_target = T_target if T_base_world is None else T_base_world @ T_target
        self._start.check_distance(T_base_target, tip)
        self._start.check_gate(now)
        self.gate.check_target(tip, T_target, in_world)
        sent_to, repeats_soon = self._sent_to, self._follows_soon(now, self._sent_to.came_at)
        is_alike = sent_to.has_target_like(T_target, tip, in_world, self.motion)
        if is_alike and (repeats_soon or self._is_pursued(now)):
            sent_to.came(now)
            return
        begins_anew = not sent_to.has_target or self._job.stop_reason is not None
        begins_anew |= self._start.begin(now)
        if T_base_world is not None and not self.is_held_in_world:
            self.motion.begin_in_world(T_base_world)
        kept = None if begins_anew else sent_to.poses
        poses = (kept or self._idle_goal()).with_target(tip, T_target, in_world)
        sent_to.poses = poses
        sent_to.came(now)
        self._jogs.clear()
        follows_soon = self._follows_soon(now, self._target_times[tip])
        self._target_times[tip] = now
        in_stream = (self.motion.is_jogging or follows_soon) and self._doubt(now) is None
        self._set_out()
        self.gate.open()
        self.motion.pursue(poses, in_stream, SECOND_TARGET_TIME)
        self._look_at_once(now)

    def repeat(
        self, T_target: Array, now: float, before: float, tip: int = 0, in_world: bool = False
    ) -> bool:
        """
        Take note that a target came again, in words that may mean another place by now.

        Parameters
        ----------
        T_target : array, shape (4, 4)
            What the words meant when they were accepted: T_base_tip or T_world_tip.
        now, before : float
            The time, and when the words came last [s].
        tip : int
            Number of the tip it is for.
        in_world : bool
            Whether it stays where it is in the world.

        Returns
        -------
        bool
            Whether it is a repeat: the tip has that target still, and the words came before within
            `stream_timeout`. It counts for `target_timeout`, and sets nothing in motion.

        Raises
        ------
        RefusedError
            If the arm cannot start now, or was stopped on its way there.

        """
        is_soon = now - before <= self.rules.stream_timeout
        is_alike = self._sent_to.has_target_like(T_target, tip, in_world, self.motion)
        is_repeat = is_soon and is_alike
        if is_repeat or self.gate.has_interrupted(tip, T_target, in_world):
            self._start.check_gate(now)
            self.gate.check_target(tip, T_target, in_world)
            self._sent_to.came(now)
        return is_repeat

    def check(self, T_base_target: Array, tip: int) -> None:
        """
        Refuse a target of one tip for what is wrong with the target itself; change nothing.

        Raises
        ------
        RefusedError
            If it is too far away, or the arm was stopped on the way to it.

        """
        self._start.check_distance(T_base_target, tip)
        self.gate.check_target(tip, T_base_target, in_world=False)

    def _follows_soon(self, now: float, before: float) -> bool:
        """Whether a target `now` [s] belongs to a stream with another one, `before` [s]."""
        return 0.0 <= now - before <= self.rules.stream_timeout

    def _idle_goal(self) -> Goal:
        """Make the goal of tips without a target: to keep their poses, or none."""
        T = self.robot.tip_poses(self.motion.q)
        return Goal.of(np.full_like(T, np.nan) if self.rules.idle_tips == 'free' else T)

    def go_home(self, now: float) -> None:
        """
        Set out for `home_configuration`, straight in joint space.

        That ends all targets. A home needs no repetition: `target_timeout` does not count.

        Raises
        ------
        RefusedError
            If there is no home, or the arm cannot start now; the message says why.

        """
        home = home_of(self.robot, self.rules)
        if home is None:
            text = 'there is no home: home_configuration is empty'
            raise RefusedError(Reason(ReasonKind.NO_HOME, text))
        self.gate.check_hold()
        self._start.check_start(now)
        self._start.begin(now)
        self._set_out_for(dict(zip(self.robot.joint_names, home.tolist(), strict=True)), now)
        self._sent_to.came_at = math.inf

    def go_to_joints(self, values: Mapping[str, float], now: float) -> None:
        """
        Take values of some joints as the new goal, straight in joint space.

        That ends all targets of tips. The other joints go on to an earlier goal in joint values,
        else they keep their values. Values that are the goal already set nothing in motion.

        Parameters
        ----------
        values : mapping
            Wanted joint values by name [rad or m]. A continuous joint goes there the short way,
            any other to the very value.
        now : float
            The time [s].

        Raises
        ------
        RefusedError
            If a value is of no joint of the arm, not finite or outside the limits, or the arm
            cannot start now; the message says why.

        """
        check_joint_values(self.robot, values)
        self._start.check_gate(now)
        if not self._has_goal_of(values, now):
            self.gate.check_joints(values)
            self._start.begin(now)
            follows_soon = self._follows_soon(now, self._joints_time)
            self._joints_time = now
            self._set_out_for(values, now, in_stream=follows_soon)
            self.gate.open()
        self._sent_to.came(now)

    def go_through(self, program: Program, now: float, name: str = '') -> None:
        """
        Take a program of moves; the arm sets out once all of it is known to be free.

        That ends all targets. A program needs no repetition: `target_timeout` does not count.

        Parameters
        ----------
        program : Program
            The program; joint values have no names in it.
        now : float
            The time [s].
        name : str
            What whoever sends it calls it.

        Raises
        ------
        RefusedError
            If a segment makes no sense, or the arm cannot start now; the message says why.

        """
        run = ProgramRun.of(self.robot, program, self._program_start(now), name)
        self._start.check_gate(now)
        before, self._program_time = self._program_time, now
        if self._is_running(run) and (self.is_under_way or self._follows_soon(now, before)):
            return
        self.gate.check_program(program)
        self._start.begin(now)
        self._begin_run(run, now)
        self.gate.open()

    def repeats(self, program: Program, now: float, before: float) -> bool:
        """
        Tell whether a program whose words come again is the one that they meant before.

        Parameters
        ----------
        program : Program
            What they meant when it was taken.
        now, before : float
            The time, and when they came last [s].

        """
        run = self._sent_to.program
        is_newest = run is not None and run.whole is program
        return is_newest and (self.is_under_way or self._follows_soon(now, before))

    def _program_start(self, now: float) -> Array:
        """Joint values, shape (n,), from which a program is to make sense."""
        is_at_rest = not self._start.is_under_way
        measured = is_at_rest and self.observer.is_measured(now)
        return self.observer.q if measured else self.motion.q

    def _is_running(self, run: ProgramRun) -> bool:
        """Whether a program is the one in force already, by name and content."""
        in_force = self._sent_to.program if self._job.stop_reason is None else None
        return in_force is not None and in_force.is_same(run)

    def _begin_run(self, run: ProgramRun, now: float) -> None:
        """Look for the way through a program, or through what is left of one."""
        self._set_out()
        self._sent_to.take_program(run)
        self._sent_to.came(now)
        self._jogs.clear()
        self.motion.pursue_program(run.program)
        self._look_at_once(now)

    @property
    def run(self) -> ProgramRun | None:
        """The program that the arm goes through, has gone through, or was stopped in."""
        return self._sent_to.run

    def _set_out_for(
        self, values: Mapping[str, float], now: float, in_stream: bool = False
    ) -> None:
        """Go to values of some joints; in a stream straight, as far as that is free."""
        under_way = self._sent_to.joints if self.is_under_way else None
        joints = JointGoal.of(self.robot, values, under_way, self.motion.q)
        self._sent_to.take_joints(joints)
        self._jogs.clear()
        self._set_out()
        q = self.observer.near_command(joints.q, self.motion.q)
        asks = self.motion.options.confirm != 'never'
        if in_stream and under_way is not None and not self.is_looking and not asks:
            self.motion.go_to(q)
        else:
            self.motion.pursue_configuration(q)
            self._look_at_once(now)

    def execute(self, now: float) -> None:
        """
        Take the path that was proposed, or look for one where a line ended before the goal.

        Raises
        ------
        RefusedError
            If there is none, or the arm cannot start now; the message says why.

        """
        self.gate.check_hold()
        self._start.check_start(now)
        motion, goal, stopped = self.motion, self.goal, self._sent_to.stopped_run
        if stopped is not None and not self._job.is_engaged:
            self._start.begin(now)
            self._begin_run(self._sent_to.rest(stopped, motion.q), now)
            return
        stands_short = self.is_at_rest and motion.reason is not None and not self.is_looking
        if goal is None or not stands_short or self._job.stop_reason is not None:
            text = f'there is no path to execute: {self.state(now)[1] or self.state(now)[0].value}'
            raise RefusedError(Reason(ReasonKind.NOTHING_PROPOSED, text))
        if self._start.begin(now):
            self._sent_to.poses = None
            self.hold(MOVED_AWAY)
            raise RefusedError(MOVED_AWAY)
        self._set_out()
        self._sent_to.came(now)
        joints = self._sent_to.joints
        if joints is not None and not motion.waits_for_execute:
            motion.pursue_configuration(self.observer.near_command(joints.q, motion.q))
        elif not motion.execute():
            motion.pursue(goal)
        self._look_at_once(now)

    @property
    def goes_to_joints(self) -> bool:
        """Whether the goal in force is joint values."""
        return self._sent_to.joints is not None

    def _has_goal_of(self, values: Mapping[str, float], now: float) -> bool:
        """Whether joint values are the goal already, and the arm goes or stays there."""
        if self._job.stop_reason is not None or not self._sent_to.has_values(values):
            return False
        return not (self.is_at_rest and self.state(now)[1] is MOVED_AWAY)

    def jog(self, twist: Array, now: float, tip: int = 0, in_tip: bool = False) -> bool:
        """
        Move a tip at a velocity for as long as this is repeated; that ends all targets.

        A zero twist ends the jog of a tip: it brakes to rest. Zeros without an active jog are
        ignored: a joystick at rest sends them.

        Parameters
        ----------
        twist : array, shape (6,)
            Linear and angular velocity [m/s, rad/s], shortened to what the tip may have.
        now : float
            The time [s].
        tip : int
            Number of the tip.
        in_tip : bool
            Whether the velocity is in the frame of the tip instead of the base.

        Returns
        -------
        bool
            Whether the jog has an effect; False for zeros without an active jog.

        Raises
        ------
        RefusedError
            If it is not finite, or the arm cannot start now; the message says why.

        """
        if not np.isfinite(twist).all():
            text = f'a jog must be six finite numbers, got {twist}'
            raise RefusedError(Reason(ReasonKind.BAD_REQUEST, text))
        if not np.any(twist):
            return self._end_jog(tip)
        self._start.check_gate(now)
        doubt = self._doubt(now)
        if doubt is not None:
            raise RefusedError(doubt)
        self._start.begin(now)
        self._sent_to.poses, self._sent_to.came_at = None, math.inf
        self._set_out()
        self.gate.open()
        self._jogs.add(tip, now)
        others = self._jogs.others(len(self.robot.tip_links))
        self.motion.jog(twist, in_tip, tip, others & (self.rules.idle_tips == 'free'))
        return True

    def _end_jog(self, tip: int) -> bool:
        """Let a tip brake to rest, if it is jogged; tell whether it was."""
        was_jogged = self._jogs.end(tip)
        if was_jogged:
            self.motion.end_jog(tip)
        return was_jogged

    def _set_out(self) -> None:
        self._sent_to.stopped_run = None
        self._blockage.forget()
        self._looming.begin()
        self._job.begin()
        self._repeat_time = 0.0
        self._doubted_since = math.inf

    def hold(self, reason: Reason) -> None:
        """Slow down to rest and publish no more commands until the next target, for a reason."""
        self._blockage.forget()
        self._stop_for(reason, is_fault=False)

    def _stop_for(self, reason: Reason, is_fault: bool) -> None:
        self._repeat_time = 0.0
        self._jogs.clear()
        has_program = self._sent_to.program is not None
        if has_program and (self.is_under_way or self.motion.waits_for_execute):
            self._sent_to.stopped_run = self._sent_to.program
        self._job.stop(reason, is_fault)
        if not self.is_going_back:
            self.motion.stop(reason)

    def hold_when_told(self) -> None:
        """Hold on request, until `resume`."""
        self.hold(TOLD_TO_HOLD)
        self.gate.hold()

    def cancel(self) -> None:
        """End what the arm does, or would go on with: the next target sets out."""
        motion = self.motion
        goes_on = self.is_under_way or motion.is_jogging or motion.waits_for_execute
        goes_on |= self.is_held_in_world or self._looming.announcement is not None
        if goes_on or self._blockage.is_there or self._blockage.may_come_back:
            self.hold(CANCELLED)

    def fail(self, reason: Reason, now: float, goes_back: bool = False) -> None:
        """
        Hold because something is wrong: the arm must not set out again by itself.

        Parameters
        ----------
        reason : Reason
            What is wrong.
        now : float
            The time [s].
        goes_back : bool
            Whether the commands are to come back to where the arm is measured.

        """
        if self.is_under_way and self.motion.phase is not Phase.DODGING:
            self._sent_to.interrupt(self.gate)
        self.gate.block(reason, now)
        self._start.begins_anew = True
        self._blockage.forget()
        self._stop_for(reason, is_fault=True)
        self._job.must_go_back = goes_back

    # -- a world that changes

    @property
    def minds_changes(self) -> bool:
        """Whether changes near the arm matter, as its path was blocked."""
        return self._blockage.is_there or self._blockage.may_come_back

    def change_world(self, now: float, is_near: bool) -> None:
        """
        Look at what is ahead in a world that has changed.

        Parameters
        ----------
        now : float
            The time [s].
        is_near : bool
            Whether something changed within reach of a stop of the arm, if it `minds_changes`.

        """
        if self.is_going_back:
            return
        motion, blockage = self.motion, self._blockage
        reason = motion.change_world()
        if motion.phase is Phase.DODGING:
            if reason is not None:
                motion.dodge_no_more()
            return
        stands_short = self.is_at_rest and not self.is_looking
        if reason is not None:
            self._block(reason, now)
        elif blockage.is_there and is_near:
            blockage.wait(now)
        elif blockage.may_come_back and stands_short and motion.reason and is_near:
            self._block(motion.reason, now)

    def _block(self, reason: Reason, now: float) -> None:
        """Stop as an obstacle blocks the path, and go on as `on_blocked` says."""
        replans = self.rules.on_blocked == 'replan' and self.goal is not None
        self.gate.block(reason, now)
        self._stop_for(self._blockage.begin(reason, replans, now), is_fault=True)

    def carry(self, T_base_world: Array, now: float, dt: float) -> None:
        """
        Tell where the world is, seen from the base, at the end of the next step.

        An arm that rests at a goal held in the world sets out again when the base moves; one that
        somebody moved meanwhile stays where it is until the next target.

        Parameters
        ----------
        T_base_world : array, shape (4, 4)
            Pose of the world in the base frame.
        now : float
            The time [s].
        dt : float
            Length of that step [s].

        """
        rests = self.is_at_rest
        self.motion.carry(T_base_world, dt)
        if rests and self.motion.base_moves and self.observer.was_clearly_moved(now):
            self.hold(MOVED_AWAY)

    def heed_world(self, now: float) -> None:
        """Heed what is in the way, and what comes near an arm at rest."""
        self.heed_blockage(now)
        if not self.rules.dodge_at_rest:
            self._looming.forget()
        elif self._looming.may_look(now) and self.motion.phase is not Phase.DODGING:
            self._heed_looming(now)

    def _heed_looming(self, now: float) -> None:
        """Announce that spare joints get out of the way of what comes near, and do so then."""
        watch = self._looming
        if not self._may_dodge(now):
            watch.forget()
        elif watch.is_due(now):
            T_goal, way_out = self.goal_in_base(), watch.announcement
            watch.settle()
            try:
                begins_elsewhere = self._start.begin(now)
            except RefusedError:
                return
            if T_goal is not None and way_out is not None and not begins_elsewhere:
                self.motion.dodge(T_goal, way_out)

    def _may_dodge(self, now: float) -> bool:
        """Whether an arm at rest may move as it likes, its tips where they were sent to."""
        T_goal = self.goal_in_base()
        is_sent = self._job.is_engaged and not (self._sent_to.program or self._sent_to.joints)
        if T_goal is None or not is_sent or self.motion.phase is not Phase.RESTING:
            return False
        tips = self.robot.tip_poses(self.motion.command[0])
        off = (float(np.max(error)) for error in self.motion.errors_between(tips, T_goal))
        if any(error > most for error, most in zip(off, AT_GOAL, strict=True)):
            return False
        is_certain = not self.was_moved and self._doubt(now) is None
        return is_certain and self.state(now)[0] is State.REACHED

    def heed_blockage(self, now: float) -> None:
        """Stop where the path is blocked since the world changed; look for another one in time."""
        reason = self.motion.blocked_by_change
        if reason is not None:
            self._block(reason, now)
        if not self.is_at_rest:
            self._blockage.wait(now)
        elif self._blockage.is_due(now):
            try:
                self._go_on(now)
            except RefusedError as error:
                self.hold(error.reason)

    def _go_on(self, now: float) -> None:
        """
        Look for a path to the goal from which the arm was stopped.

        Raises
        ------
        RefusedError
            If the arm cannot start now, was moved, or the goal is held in the world.

        """
        goal = self.goal
        self._start.check_start(now)
        moved_away = self._moved_away(now)
        if goal is None or goal.in_world.any() or moved_away is not None:
            self._sent_to.poses = None
            raise RefusedError(moved_away or SEND_AGAIN)
        self._start.begin(now)
        self._blockage.go_on()
        self._job.begin()
        self._sent_to.came(now)
        self._pursue_goal()
        self._look_at_once(now)

    def resume(self, now: float) -> None:
        """
        Let the arm set out again, after a hold or a fault.

        An arm whose path was blocked goes on to its goal, if there is a path now. The next target
        is accepted at once, but a stream that is running has to pause first.

        Raises
        ------
        RefusedError
            If what was wrong is still wrong; the message says what.

        """
        self._start.check_causes(now)
        if self._is_stopping:
            raise RefusedError(self._start.still_stopping())
        if self._blockage.is_there and not self.gate.is_held and self.goal is not None:
            self.gate.release(RESUMED, now)
            self._go_on(now)
            return
        if self.gate.is_held or self._job.stop_reason is not None:
            self._job.end()
            self._sent_to.poses = None
        if not self._start.is_under_way:
            self.gate.release(RESUMED, now)

    # -- steps

    def tick(self, now: float, dt: float) -> Command | None:
        """Move on by `dt` seconds; the command to send, or None when there is none."""
        self._try_again(dt)
        self.heed_world(now)
        if self.looks_in_ticks:
            self.look(now, dt, math.inf)
        if not self.should_publish:
            return None
        self._watch(now)
        self._end_lost_jogs(now)
        holds = self._job.stop_reason is not None
        if self.is_at_rest:
            is_silent = holds or self.was_moved or self.motion.waits_for_execute
            self._repeat_time = 0.0 if is_silent else self._repeat_time - dt
            self.motion.rest(dt)
            velocity = self.motion.command[1]
        else:
            self._sent_to.note_progress(self.motion)
            velocity = self.motion.step_in_parts(dt)
            self._sent_to.note_progress(self.motion)
            self._repeat_time = 0.0 if holds and not velocity.any() else REPEAT_TIME
            self._go_back_once_at_rest(now)
        return self._command(now, velocity)

    def _look_at_once(self, now: float) -> None:
        if self.looks_in_ticks:
            self.look(now, 0.0, math.inf)

    def look(self, now: float, dt: float, seconds: float) -> None:
        """
        Look for the path to the goal, where it is not known yet, and set out once it is.

        Parameters
        ----------
        now : float
            The time [s].
        dt : float
            Time since the previous call [s].
        seconds : float
            Longest time that this may take [s].

        """
        if not (self.is_looking or self.motion.is_checking):
            return
        if self.is_at_rest and not self._may_set_out(now):
            return
        self.motion.look(dt, seconds)
        if self.motion.blocked_by_change is not None:
            self.heed_blockage(now)

    def _may_set_out(self, now: float) -> bool:
        """Whether an arm at rest stands where a path begins; else stop, wait, or look anew."""
        lost = self.observer.unknown_state(now, STATE_LOST) or self.observer.fault
        if lost is not None:
            self.fail(lost, now)
            return False
        doubt = self._doubt(now)
        if doubt is not None:
            self._doubted_since = min(self._doubted_since, now)
            if now - self._doubted_since > LONGEST_DOUBT:
                self.hold(doubt)
            return False
        self._doubted_since = math.inf
        counts = self.observer.counts(now) and not self._start.is_provisional
        if counts and self.observer.does_not_follow(self.motion.command[0]) is not None:
            self.hold(MOVED_AWAY)
            return False
        stands_there = not (self.was_moved or self._start.is_provisional)
        return stands_there or self._look_from_the_arm(now)

    def _look_from_the_arm(self, now: float) -> bool:
        """
        Begin the search anew where the arm is now, as somebody moved it meanwhile.

        Tells whether that may be now: not right after the last command.
        """
        if self.observer.command_a_moment_ago(now) is not None:
            return False
        self._start.begin(now)
        joints = self._sent_to.joints
        if joints is not None:  # the others keep the values they have now
            q = self.motion.q
            self._sent_to.take_joints(JointGoal.of(self.robot, joints.asked, None, q))
        self._pursue_goal()
        return True

    def _pursue_goal(self) -> None:
        """Look for a path to the goal."""
        motion, sent_to = self.motion, self._sent_to
        joints, run = sent_to.joints, sent_to.take_up_rest(motion.q)
        if run is not None:
            motion.pursue_program(run.program)
        elif joints is not None:
            motion.pursue_configuration(self.observer.near_command(joints.q, motion.q))
        elif self.goal is not None:
            motion.pursue(self.goal)

    def follow_stop(self, now: float, duration: float, dt: float) -> Command:
        """
        Let the commands follow the stop trajectory, as controllers have done already.

        Parameters
        ----------
        now : float
            The time [s].
        duration : float
            Time to follow it for, a whole number of steps [s].
        dt : float
            Length of a step [s].

        """
        self.motion.follow_stop(duration, dt)
        self._repeat_time = 0.0
        self._go_back_once_at_rest(now)
        return self._command(now, self.motion.command[1])

    def _command(self, now: float, velocity: Array) -> Command:
        command = Command(self.motion.command[0], velocity)
        self.observer.remember(now, command.q, self.is_at_rest)
        return command

    def _on_measured(self, now: float) -> None:
        if self.is_at_rest:
            self.observer.watch(now, self.motion.command[0])
        reason = self._job.stop_reason
        if reason is not None and reason.kind is ReasonKind.DOES_NOT_FOLLOW:
            # Values of another source looked like an arm that does not follow.
            self._job.stop_reason = self.observer.why_contradicted(now) or reason

    def _doubt(self, now: float) -> Reason | None:
        """Reason why it is not certain where an arm at rest stands; None where it is."""
        return self.observer.doubt(now) if self.is_at_rest else None

    @property
    def has_provisional_start(self) -> bool:
        """Whether the arm is to set out from a place of which it is not certain yet."""
        return self.is_at_rest and self._start.is_provisional

    @property
    def was_moved(self) -> bool:
        """Whether somebody moved the arm since it settled at its last command."""
        moved = self.observer.moved(self.motion.command[0])
        return moved is not None and bool(moved.any())

    def _try_again(self, dt: float) -> None:
        """Set out again for a goal in the world that may be in reach by now."""
        motion = self.motion
        self._try_again_time -= dt
        may = self.is_held_in_world and motion.base_moves and motion.is_at_goal
        may = may and not (self.is_looking or motion.waits_for_execute)
        if not (may and motion.reason is not None and self._try_again_time <= 0.0):
            return
        self._try_again_time = TRY_AGAIN_TIME
        if self.goal is not None:
            self._repeat_time = REPEAT_TIME
            motion.pursue(self.goal, in_stream=motion.in_stream)

    def _end_lost_jogs(self, now: float) -> None:
        """End the jogs that were not repeated in time; stop the arm if its tips brake slowly."""
        motion, lost = self.motion, self._jogs.lost(now, self.rules.jog_timeout)
        if not lost:
            return
        for tip in lost:
            self._end_jog(tip)
        limits = motion.limits
        brakes_slowly = limits.tip_speed > LONGEST_BRAKING * limits.tip_acceleration
        if brakes_slowly and motion.is_jogging:
            motion.stop(motion.reason or JOG_ENDED)

    def _go_back_once_at_rest(self, now: float) -> None:
        """Bring the commands to where the arm is, after the stop of one that did not follow."""
        if not self.is_at_rest:
            return
        must_go_back, self._job.must_go_back = self._job.must_go_back, False
        back = self.observer.way_back(now, self.motion.q) if must_go_back else None
        if back is not None:
            self.motion.return_to(back)

    def _watch(self, now: float) -> None:
        """Look for reasons to stop."""
        if self.is_going_back and not self.observer.may_go_back(now):
            self.motion.stop(self._job.stop_reason)
        if self._job.has_failed and self._job.stop_reason is not None:
            self.gate.block(self._job.stop_reason, now)
        if self.is_at_rest or self._is_stopping:
            return
        age, timeout = now - self._sent_to.came_at, self.rules.target_timeout
        if 0.0 < timeout < age and self.motion.phase is not Phase.DODGING:
            text = f'no target for {age:.2f} s (target_timeout {timeout:g} s)'
            self.hold(Reason(ReasonKind.TARGET_TIMEOUT, text))
        lost = self.observer.unknown_state(now, STATE_LOST) or self.observer.fault
        if lost is not None:
            self.fail(lost, now)
        elif self.observer.counts(now):
            reason = self.observer.does_not_follow(self.motion.q)
            if reason is not None:
                self.fail(reason, now, goes_back=True)

    def watch_reference(self, wanted: Array, meant: Array, now: float) -> None:
        """
        Stop if a controller does not follow its trajectory.

        Parameters
        ----------
        wanted, meant : array, shape (n,)
            Its reference, and the published trajectory at the same time [rad or m].
        now : float
            The time [s].

        """
        reason = self.observer.plays_something_else(wanted, meant)
        if self.is_on_the_way and reason is not None:
            self.fail(reason, now, goes_back=self.observer.counts(now))

    def _is_pursued(self, now: float) -> bool:
        """Whether the arm is at its goal, on the way, looks for a path, or waits for `execute`."""
        if self.is_looking or self.motion.waits_for_execute:
            return True
        state, reason = self.state(now)
        stays_short = reason is not None and reason.kind is ReasonKind.STAYS_SHORT
        return stays_short or state in (State.MOVING, State.REACHED)
