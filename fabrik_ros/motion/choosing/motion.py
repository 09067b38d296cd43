"""
Motion: a stream of joint commands that an arm can follow, made of goals.

An arm that rests looks for a path to its goal, and sets out once it knows the whole path; a goal
of a stream, or one that comes while it follows a line, it heads for at once. A motion has at most
one active path: a line to the goal, a path in joint space, a jog, or the path to rest. In every
step the path says which joint velocity it wants, and the limiter makes the next command of that:
none leaves the joint limits, or is faster or accelerates harder than allowed. Where a path is
blocked after all, the arm stops, and looks for another one or says why not.

Arms that share a body have a goal for each tip, and their references travel together; in a stream
those of arms that share no joints, or one of which is blocked, travel apart (`arms_apart.py`). A
goal may stay where it is in the world while the base moves: its path then lies in the world, and
once it has arrived the arm goes on making up for the motion of its base.

Poses have the shape (k, 4, 4) for k tips; (4, 4) is understood where there is one.

"""

from __future__ import annotations

from collections.abc import Mapping
import math

import numpy as np
import numpy.typing as npt

from ...collision.guard import CollisionGuard
from ...methods import orientation_yields
from ...model.mechanism import Mechanism
from ...planning.pieces import Pieces
from ...programs.program import Program
from ...programs.route import Route
from ...reasons import joined, Reason, ReasonKind
from ...solver.options import SolverOptions
from ...solver.solution import Solution
from ...solver.tree_solver import TipOptions
from ...transforms import Array, rotation_vector
from ..limits.jerk_filter import JerkFilter
from ..limits.jerk_limiter import JerkLimiter
from ..limits.joint_limiter import Checkpoint, JointLimiter
from ..limits.limits import MotionLimits
from ..limits.stop_trajectory import StopTrajectory
from ..lines.dodging import Approach
from ..lines.goal_frame import GoalFrame
from ..paths.joint_path import JointPath, StopPath
from ..paths.path import Path, Progress
from ..paths.planned_path import PlannedPath
from ..paths.preview import NO_MOTION, ProposedMotion
from ..paths.program_path import program_path
from .arms_apart import ArmsApart
from .goal import Goal, IN_STREAM, MotionOptions, ResolvedGoal
from .goal_pursuit import GoalPursuit
from .path_finder import FoundPath, PathPlanner, ToConfiguration, ToGoal, ToProgram
from .state_machine import Jog, StateMachine
from .state_table import Event, LOOKS, Phase

MOST_PARTS = 10
"""Most parts of a late step [1]."""
LONGEST_STEP = 1.7
"""A step this many times as long as the last step or part is divided [1]."""
LONGEST_PAIR = 3.0
"""Below this ratio two parts are made [1]."""
FIRST_OF_TWO = 0.4
"""
Length of the first of two parts, as a share of the step [1].

After the longer second one an equal next step stays whole.
"""
PART_GROWTH = 1.25
"""More than two parts are about this many times as long as the last step or part [1]."""


class Motion:
    """
    Moves one arm, or arms that share a body.

    Parameters
    ----------
    robot : Chain or Tree
        The joints.
    limits : MotionLimits
        How fast things may go.
    solver_options : SolverOptions
        Mode, tolerances and budget.
    options : MotionOptions
        How goals are pursued.
    tips : mapping, optional
        What is asked of the tips of a tree, `TipOptions` by tip link.
    guard : CollisionGuard, optional
        Allows only motion that can stop in front of collisions.
    jerk_filter : JerkFilter, optional
        Limits the jerk of the commands; else they are the motion itself.
    path_planner : PathPlanner, optional
        Finds ways round what is in the way; else a configuration between is looked for.

    Attributes
    ----------
    path : Path or None
        What the arm follows; None while it rests.
    limiter : JointLimiter
        The last stage: makes the commands, and knows what the joints can do.
    frame : GoalFrame
        Where the world is, for goals that are held in it.
    pursuit : GoalPursuit
        Has the goal and what solvers said of it.
    arms : ArmsApart
        Leads arms that share no joints apart, in a stream.
    is_held_up : bool
        Whether something stopped it on the way to a goal of a stream, and it has not moved since,
        though more goals lead it on.

    """

    def __init__(
        self,
        robot: Mechanism,
        limits: MotionLimits,
        solver_options: SolverOptions,
        options: MotionOptions,
        tips: Mapping[str, TipOptions] | None = None,
        guard: CollisionGuard | None = None,
        jerk_filter: JerkFilter | None = None,
        path_planner: PathPlanner | None = None,
    ) -> None:
        self.robot, self._guard = robot, guard
        self._solver_options, self._tips = solver_options, tips
        if jerk_filter is None:
            self.limiter = JointLimiter(robot, limits, guard)
        else:
            self.limiter = JerkLimiter(robot, limits, jerk_filter, guard)
        self.frame = GoalFrame(robot)
        self.pursuit = GoalPursuit(
            robot, self.limiter, self.frame, guard, solver_options, options, tips, path_planner
        )
        self.arms = ArmsApart(robot, self.limiter, self.frame, solver_options, options, tips)
        self._machine = StateMachine(self, self.pursuit, self.arms)
        self.reset(robot.mid_configuration())

    def reset(self, q: Array) -> None:
        """Take the arm to stand still at `q`, shape (n,), and forget the goal."""
        self.limiter.reset(q)
        self.frame.reset()
        self.pursuit.forget()
        self._take_time()
        self.path: Path | None = None
        self._rest_reason: Reason | None = None
        """Reason why the arm rests short of its goal, while it has no path or is held up."""
        self.is_held_up = False
        self._kept: Path | None = None
        """Path in the world at the end of which the arm rests, until the base moves."""
        self._machine.reset()
        self._rested_at = self.q

    def change(
        self,
        limits: MotionLimits,
        solver_options: SolverOptions,
        options: MotionOptions,
        tips: Mapping[str, TipOptions] | None = None,
    ) -> None:
        """
        Go on with other limits and options.

        A lower acceleration counts once the arm rests: a moving arm may need the old value to stop
        in front of limits and collisions.
        """
        self.pursuit.resolve_pending()
        self.limiter.change_limits(limits)
        self._solver_options, self._tips = solver_options, tips
        self.pursuit.change(solver_options, options, tips)
        self.arms.change(solver_options, options, tips)
        self._change_limits_of_paths()
        self._machine.handle(Event.RULES_CHANGED)

    def _paths(self) -> set[Path]:
        """Paths that are followed now or may be later."""
        found = None if self.found is None else self.found.path
        return {path for path in (self.path, self._kept, found) if path is not None}

    def _change_limits_of_paths(self) -> None:
        for path in self._paths():
            path.change_limits(self.limits)

    def scale_speed(self, share: float) -> None:
        """Go at another share of all speeds, 0 to 1, within the accelerations."""
        self.limiter.scale_speed(share)
        for path in self._paths():
            path.scale_speed(share)

    def warm_up(self) -> None:
        """Compile what goals and steps need."""
        self.limiter.warm_up()
        self.pursuit.warm_up()
        self.arms.warm_up()
        if self._guard is not None:
            self._guard.warm_up()

    # -- what it does

    @property
    def q(self) -> Array:
        """Joint values of the motion now, shape (n,): the last command, if no jerk is limited."""
        return self.limiter.joints.q

    @property
    def velocity(self) -> Array:
        """Velocity of the motion, shape (n,) [rad/s or m/s]."""
        return self.limiter.joints.velocity

    @property
    def command(self) -> tuple[Array, Array]:
        """Last command and its velocity, each of shape (n,)."""
        return self.limiter.command

    @property
    def limits(self) -> MotionLimits:
        """Limits that the motion keeps to now."""
        return self.limiter.joints.limits

    @property
    def solution(self) -> Solution | None:
        """The newest answer of the solver."""
        return self.pursuit.solution

    @property
    def is_at_rest(self) -> bool:
        """Whether the arm has no path to follow."""
        return self.path is None

    @property
    def progress(self) -> Progress | None:
        """How far the arm is with a program; None where it follows none."""
        return None if self.path is None else self.path.progress()

    @property
    def phase(self) -> Phase:
        """Phase of the arm, by the table of states."""
        return self._machine.phase

    @property
    def found(self) -> FoundPath | None:
        """The newest path that was found; None while there is none."""
        return self._machine.found

    @property
    def proposed_motion(self) -> ProposedMotion:
        """The motion that waits to be confirmed; `NO_MOTION` where none does."""
        proposal = self._machine.proposal
        preview = None if proposal is None else proposal.preview
        return NO_MOTION if preview is None else (preview.times, preview.configurations)

    @property
    def waits_for_execute(self) -> bool:
        """Whether a path waits to be confirmed."""
        return self.phase is Phase.PROPOSED

    @property
    def resolved(self) -> ResolvedGoal | None:
        """Goal with its solution; None until it is resolved."""
        return self.pursuit.resolved

    @property
    def options(self) -> MotionOptions:
        """Options of the pursuit of goals."""
        return self.pursuit.options

    @property
    def resolving_time(self) -> float:
        """Time that it took to find the configuration at the goal [s]."""
        return self.pursuit.resolving_time

    @property
    def is_moving(self) -> bool:
        """Whether the joints move, or did in the last step."""
        return self.limiter.is_moving

    @property
    def limits_jerk(self) -> bool:
        """Whether the jerk of the commands is limited."""
        return self.limiter.limits_jerk

    @property
    def delay(self) -> float:
        """Time by which commands lag behind the motion, where their jerk is limited [s]."""
        return self.limiter.joints.delay

    @property
    def longest_stop(self) -> float:
        """Longest time from full speed to rest [s]."""
        return self.limiter.longest_stop

    def stop_trajectory(self) -> StopTrajectory:
        """Positions on the way to rest: see `JointLimiter.stop_trajectory`."""
        return self.limiter.stop_trajectory()

    def knot_lead(self, dt: float) -> float:
        """Time by which commands lead the curve through them [s]: see `JointLimiter.knot_lead`."""
        return self.limiter.knot_lead(dt)

    @property
    def is_held_in_world(self) -> bool:
        """Whether the goal of any tip stays where it is in the world while the base moves."""
        return self.frame.is_world

    @property
    def base_moves(self) -> bool:
        """Whether the base moves."""
        return self.frame.base.moves

    def seen_from_base(self, goal: Goal) -> Array:
        """Poses of a goal as they are now in the base frame, shape (k, 4, 4)."""
        return self.frame.seen_from_base(goal.T, goal.in_world)

    @property
    def in_stream(self) -> bool:
        """Whether the goal belongs to a stream, and is followed by the line alone."""
        return self._machine.in_stream

    @property
    def is_looking(self) -> bool:
        """Whether it is not known yet by which path the arm goes on, if by any."""
        return self._machine.phase in LOOKS

    @property
    def is_checking(self) -> bool:
        """Whether the rest of the path is checked again, as the world has changed."""
        return self._machine.is_checking

    @property
    def blocked_by_change(self) -> Reason | None:
        """Reason why the path that the arm was on is blocked since the world changed."""
        return self._machine.blocked_by_change

    @property
    def is_stopping(self) -> bool:
        """Whether the arm is on the way to rest, and will stay there."""
        return self._machine.phase is Phase.STOPPING

    @property
    def is_jogging(self) -> bool:
        """Whether a jog, not a goal, leads the arm."""
        return self._machine.phase is Phase.JOGGING

    @property
    def is_at_goal(self) -> bool:
        """Whether the arm rests, or is at its goal and does no more than follow the base."""
        return self.path is None or self.path.is_at_goal

    @property
    def reason(self) -> Reason | None:
        """Reason why the arm rests, or will, short of what it was asked for; what it waits for."""
        if self.path is not None and not self.is_held_up:
            return joined((self.path.yields_to, self.path.reason))
        if not self._searches:
            return self._rest_reason
        return self._planning or self._machine.search_reason

    @property
    def tip_reasons(self) -> list[Reason | None]:
        """The reason of each tip, shape (k,): of those that are led together it is the same."""
        reason, count = self.reason, len(self.robot.tip_links)
        apart = self.arms.tip_reasons(reason)
        short = self.pursuit.falls_short if reason is self.pursuit.reason else [True] * count
        return apart or [reason if is_short else None for is_short in short]

    @property
    def is_planning(self) -> bool:
        """Whether a planner looks for the path to the goal."""
        return self._searches and self._planning is not None

    @property
    def _searches(self) -> bool:
        return self.phase in (Phase.SEARCHING, Phase.HEADING)

    @property
    def _planning(self) -> Reason | None:
        """The reason that a planner is looking, with its time so far; None where it is not."""
        planner = self.pursuit.path_planner
        if planner is None or not planner.is_busy:
            return None
        text = f'planning a path: {planner.time_passed:.1f} s of {planner.planning_time:g} s'
        return Reason(ReasonKind.PLANNING, text)

    # -- goals

    def aim(self, T_goal: Array, in_world: npt.ArrayLike = False) -> bool:
        """
        Set a new goal and look for a path there at once; tell whether the arm will move.

        Where there is none, or it has to be confirmed, `reason` says so. Goals that cannot be
        reached are approached, by option: `reason` then says why the arm will fall short.

        Parameters
        ----------
        T_goal : array, shape (k, 4, 4)
            Where the tips are to be, T_base_tip, or T_world_tip for those held in the world. A
            tip whose pose is NaN is unconstrained.
        in_world : array-like of bool, shape (k,)
            Whether the goal stays where it is in the world while the base moves (`carry`).

        """
        self.pursue(Goal.of(T_goal.reshape(-1, 4, 4), in_world))
        self.look(0.0)
        return self.path is not None and not self.is_stopping

    def pursue(self, goal: Goal, in_stream: bool = False, patience: float = 0.0) -> None:
        """
        Set a new goal.

        An arm that rests looks for a path first: see `look`. One that follows a line heads for the
        goal by a line at once, looks along it meanwhile, and stops where it is blocked to look for
        another path. From any other path it comes to rest first.

        Parameters
        ----------
        goal : Goal
            Where the tips are to be.
        in_stream : bool
            Whether more goals are likely to follow: the line is followed at once as far as it
            goes, and no other path is looked for.
        patience : float
            A path that leaves the line is not taken before this time is over [s].

        """
        if in_stream and not self._must_ask:
            self._machine.handle(Event.STREAM_GOAL, goal)
        else:
            self._machine.handle(Event.GOAL, ToGoal(goal, patience=patience))

    @property
    def _must_ask(self) -> bool:
        """Whether even a goal of a stream waits until its path is confirmed."""
        options = self.pursuit.options
        leaves_line = options.path == 'joint' and options.confirm == 'leaving_line'
        return options.confirm == 'always' or leaves_line

    def errors_between(self, T: Array, T_goal: Array) -> tuple[Array, Array]:
        """
        Distances and angles between poses of the tips, in the parts that are asked for.

        Parameters
        ----------
        T, T_goal : array, shape (k, 4, 4)
            The poses; a tip with a NaN pose as its goal has NaN errors.

        Returns
        -------
        tuple of array
            Distances [m] and angles [rad], shape (k,) each.

        """
        distances = np.linalg.norm(T[:, :3, 3] - T_goal[:, :3, 3], axis=1)
        tips = zip(self._asked, T[:, :3, :3], T_goal[:, :3, :3], strict=True)
        angles = [_angle(*asked, R, R_goal) for asked, R, R_goal in tips]
        return distances, np.array(angles)

    @property
    def orientation_yields(self) -> bool:
        """Whether the arm has too few joints for poses, and the mode lets the orientation go."""
        return orientation_yields(self.robot, self._solver_options)

    @property
    def _asked(self) -> list[tuple[str, Array]]:
        """Mode of each tip, and its tool axis, shape (3,)."""
        options, tips = self._solver_options, self._tips or {}
        asked = [tips.get(link, TipOptions()) for link in self.robot.tip_links]
        return [
            (tip.mode or options.mode, np.array(options.axis if tip.axis is None else tip.axis))
            for tip in asked
        ]

    def is_same(self, T: Array, T_other: Array) -> bool:
        """Whether two poses, shape (4, 4), are the same within the tolerances of the solver."""
        options = self._solver_options
        if math.dist(T[:3, 3].tolist(), T_other[:3, 3].tolist()) > options.position_tolerance:
            return False
        angle = float(np.linalg.norm(rotation_vector(T[:3, :3] @ T_other[:3, :3].T)))
        return angle <= options.orientation_tolerance

    def look(self, dt: float, seconds: float = math.inf) -> None:
        """
        Look for the path to the goal, piece by piece, and set out once it is known.

        Parameters
        ----------
        dt : float
            Time since the previous call [s].
        seconds : float
            Longest time that this may take [s].

        """
        self._machine.look(dt, seconds)

    def execute(self) -> bool:
        """Set out on the path that was proposed, if that is free still; tell if there is one."""
        is_proposed = self.waits_for_execute
        self._machine.handle(Event.EXECUTE)
        return is_proposed

    def follow(self, path: Path | None) -> None:
        """Follow a path from now on."""
        self.path, self._kept = path, None

    def follow_straight(self, q: Array) -> None:
        """Go straight to joint values of shape (n,); the reason of the rest before stays."""
        self.path = JointPath(self.limiter, q, reason=self._rest_reason)

    def follow_kept(self) -> None:
        """Follow the path at the end of which the arm rests, as the base moves."""
        self.path, self._kept = self._kept, None

    def stay(self, reason: Reason | None) -> None:
        """Rest, for a reason: there is no path."""
        self._rest_reason, self.is_held_up = reason, False

    def pursue_configuration(self, q: Array) -> None:
        """Look for a path in joint space to joint values, shape (n,): see `look`."""
        self.forget_goal()
        self._machine.handle(Event.JOINTS, ToConfiguration(q))

    def pursue_program(self, program: Program) -> None:
        """Look for a path through a program: see `look`."""
        self.forget_goal()
        self._machine.handle(Event.JOINTS, ToProgram(program))

    def route(self, program: Program) -> Pieces[Route]:
        """Look for the route through a program, from where the arm is, and do not set out."""
        return self.pursuit.finder.route(program)

    def go_along(self, route: Route) -> None:
        """Set out on a route that begins where the arm is, without a look."""
        self.follow(program_path(self.limiter, route))

    def go_through(self, knots: Array, straight_room: Array | None) -> None:
        """Set out on a way through knots, as `PlannedPath` has them, without a look."""
        self.follow(PlannedPath(self.limiter, knots, straight_room=straight_room))

    def go_to(self, q: Array) -> None:
        """Set out for joint values of shape (n,), straight in joint space, without a look."""
        self._machine.handle(Event.STREAM_JOINTS, q)

    def return_to(self, q: Array) -> None:
        """Go back to measured joint values, shape (n,), that the commands came through."""
        self._machine.handle(Event.RETURN, q)

    def jog(
        self,
        twist: Array,
        in_tip: bool = False,
        tip: int = 0,
        unconstrained: npt.ArrayLike = False,
    ) -> None:
        """
        Move a tip at a velocity from now on, without a goal.

        Where that is blocked it slides along, if it may, or rests, with a `reason`, until the jog
        ends or turns another way. The call has no effect while the arm is stopping.

        Parameters
        ----------
        twist : array, shape (6,)
            Linear and angular velocity of the tip [m/s, rad/s], shortened to what it may have.
        in_tip : bool
            Whether the velocity is in the frame of the tip, which turns, instead of the base.
        tip : int
            Number of the tip.
        unconstrained : array-like of bool, shape (k,)
            Which tips may go anywhere; the others keep their poses where they are not jogged.

        """
        free = np.broadcast_to(np.asarray(unconstrained, dtype=bool), len(self.robot.tip_links))
        self._machine.handle(Event.JOG, Jog(twist, in_tip, tip, free))

    def approach(self) -> Approach | None:
        """Tell what spare joints of an arm at rest may get out of the way of, if of anything."""
        return self.pursuit.approach()

    def dodge(self, T_goal: Array, way_out: Reason) -> None:
        """
        Let spare joints of an arm at rest get out of the way of something.

        Parameters
        ----------
        T_goal : array, shape (k, 4, 4)
            Where the tips are, and stay, in the base frame.
        way_out : Reason
            What comes near.

        """
        self._machine.handle(Event.DODGE, self.pursuit.dodge_path(T_goal, way_out))

    def dodge_no_more(self) -> None:
        """Brake, where spare joints get out of the way of something."""
        if self.phase is Phase.DODGING:
            self._machine.handle(Event.DEAD_END)

    def end_jog(self, tip: int) -> None:
        """End the jog of a tip: it brakes to rest."""
        if self.path is not None:
            self.path.steer(np.zeros(6), False, tip)

    def forget_goal(self) -> None:
        """Pursue no goal any longer."""
        self.pursuit.forget()
        self._rest_reason = self._kept = None
        self.is_held_up = False
        if self.path is not None:
            self.path.reason = None
        if self.frame.is_world:
            self.frame.hold(np.zeros_like(self.frame.in_world))
            if self.path is not None:
                self.path = StopPath(self.limiter, None)

    def begin_in_world(self, T_base_world: Array) -> None:
        """Tell where the world is now, shape (4, 4), before the first goal that is held in it."""
        self.frame.base.begin(T_base_world)

    def carry(self, T_base_world: Array, dt: float) -> None:
        """
        Tell where the world is, seen from the base, at the end of the next step.

        An arm that rests at a goal held in the world sets out again when the base moves.

        Parameters
        ----------
        T_base_world : array, shape (4, 4)
            Pose of the world in the base frame.
        dt : float
            Length of that step [s].

        """
        self.frame.base.follow(T_base_world, dt)
        if self.frame.base.moves and self.path is None and self._kept is not None:
            self._machine.handle(Event.BASE_MOVES)

    def change_world(self) -> Reason | None:
        """
        Check the motion in a world that has changed, and tell why the arm has to brake.

        None where its way to rest is free. Then the path ahead is checked, in pieces: see `look`;
        where it is blocked now, the arm stops, and `blocked_by_change` has the reason.
        """
        pair = self.limiter.pair_on_stop() if self.limiter.is_moving else ''
        if pair:
            self.limiter.stop_straight()
            return Reason(ReasonKind.CONTACT_POSSIBLE, f'contact possible: {pair}')
        self._machine.handle(Event.WORLD_CHANGED)
        return None

    # -- to rest

    def stop(self, reason: Reason | None) -> None:
        """Slow down to rest as fast as the joints may, for a reason."""
        self._machine.handle(Event.STOP, reason)

    def brake(self, reason: Reason | None) -> None:
        """Slow down to rest, for a reason; there is no path where the arm rests already."""
        self.pursuit.resolve_no_more()
        self.limiter.begin_to_brake()
        self._rest_reason, self.is_held_up = reason, False
        self.follow(StopPath(self.limiter, reason) if self.limiter.is_moving else None)

    def halt(self) -> None:
        """Count the arm as at rest at its last command: later ones did not reach it."""
        self.limiter.halt()
        self._take_time()
        if self.path is not None:
            self.path.lose_speed()

    def _take_time(self) -> None:
        """Take note that nothing moved for a while: there is time for any search."""
        self.pursuit.take_time()
        self.arms.take_time()

    def rest(self, dt: float) -> None:
        """Let `dt` seconds pass at rest: the first step after them may be no harder for it."""
        self.limiter.rest(dt)

    # -- steps

    def step_in_parts(self, dt: float) -> Array:
        """
        Move on by `dt` seconds, in parts where that is much longer than the step before.

        Where a path bends, the joints could not follow it in one long step. Returns the velocity
        of the whole step, shape (n,).
        """
        q, parts = self.command[0], self._parts(dt)
        for number, part in enumerate(parts):
            if number == 0 or not self.is_at_rest:
                self.step(part)
        return self.command[1] if len(parts) == 1 else (self.command[0] - q) / dt

    def _parts(self, dt: float) -> list[float]:
        """Lengths of the parts of a step; one where a base is followed to its end."""
        before = self.limiter.joints.dt
        if before == 0.0 or self.frame.is_world or dt < LONGEST_STEP * before:
            return [dt]
        if dt < LONGEST_PAIR * before:
            return [FIRST_OF_TWO * dt, (1.0 - FIRST_OF_TWO) * dt]
        count = min(round(dt / (PART_GROWTH * before)), MOST_PARTS)
        return [dt / count] * count

    def step(self, dt: float) -> None:
        """Move on by `dt` seconds."""
        if self.path is None:
            self.look(dt)
        if self.limiter.take_up_limits():
            self._change_limits_of_paths()
        self.pursuit.resolve_in_time()
        self.pursuit.pass_time(dt)
        self.limiter.begin_step(dt)
        if self.limiter.is_braking or not self._goes_on(dt):
            self.limiter.brake(dt)
        self._end_step()

    def prepare(self) -> None:
        """
        Prepare the next step; to be called between steps.

        The step need not repeat this work, so its command is ready sooner.
        """
        self.pursuit.resolve_in_time()
        if not self.frame.is_world:
            self.pursuit.look_ahead(self.path, self.limiter.joints.dt)

    def _goes_on(self, dt: float) -> bool:
        """Take a step as the path wants it, unless the arm has to brake."""
        limiter, path = self.limiter, self.path
        if path is not None:
            path.is_led = (self.in_stream or path.is_jog) and not self.frame.is_world
        if path is not None and path.is_stop:
            return False
        velocity = self._wanted_velocity(dt)
        if limiter.is_braking or (self.path is not None and self.path.is_stop):
            return False  # the path has just been left
        if self._takes_step(velocity, dt):
            return True
        if limiter.refusal:
            if self.path is not None and self.path.slide():
                return False
            if self.path is not None and self.path.may_slow_down and limiter.is_moving:
                self.path.lose_speed()
                limiter.begin_to_brake()
                return False
            if self._goes_on_in_part(velocity, dt, limiter.refusal):
                return True
            self.stop_short(self.pursuit.reason_in_front(limiter.refusal))
        elif self.path is not None:
            self.path.lose_speed()
        return False

    def _goes_on_in_part(self, velocity: Array, dt: float, refusal: str) -> bool:
        """Take a step without what would collide, where the path has other parts."""
        if self.path is None:
            return False
        for step in self.path.held_back(velocity, dt):
            if self._takes_step(step.velocity, dt, braking=step.braking):
                step.hold(refusal)
                return True
            if self.limiter.is_braking:
                break
        return False

    def _takes_step(
        self, velocity: Array, dt: float, braking: npt.NDArray[np.bool_] | None = None
    ) -> bool:
        """Take a step if the arm can stop after it: then it is no longer held up."""
        on_path = None if self.path is None else self.path.to_rest
        if not self.limiter.go(velocity, dt, braking, on_path):
            return False
        self.is_held_up = self.is_held_up and not self.limiter.is_moving
        return True

    def _wanted_velocity(self, dt: float) -> Array:
        """Velocity along the path, or along the one that takes its place where it is blocked."""
        self.pursuit.look_ahead(self.path, dt)
        path, velocity = self.path, None
        while path is not None and velocity is None:
            velocity = path.velocity(dt)
            if path.solution is not None:
                self.pursuit.solution = path.solution
            if velocity is None:
                self._leave(path)
                path = self.path
        return self.limiter.joints.stopping_velocity(dt) if velocity is None else velocity

    def _leave(self, path: Path) -> None:
        """Take another path where one is blocked, or stop and say why."""
        other = self.pursuit.joined_later(path)
        if other is not None:
            self.follow(other)
        else:
            self.stop_short(path.blocked)

    def stop_short(self, reason: Reason | None) -> None:
        """Stop short of the goal, for a reason; in a stream, be held up until the way is free."""
        self._machine.be_blocked(reason)
        self.is_held_up = self.in_stream

    def _end_step(self) -> None:
        path = self.path
        if path is not None:
            path.end_step()
            if self.pursuit.has_arrived(path):
                self._end_path()

    def _end_path(self) -> None:
        """Rest at the end of the path, or go on where it leads to another one."""
        path, self.path = self.path, None
        if path is None:
            return
        path.lose_speed()
        hint = IN_STREAM if self.in_stream and path.slides else None
        self._rest_reason = joined((path.rest_reason, hint))
        self.is_held_up &= path.is_stop
        self.is_held_up |= self.in_stream and path.blocked is not None
        self.limiter.come_to_rest()
        self._kept = path if path.stays_in_world else None
        if path.then is not None:
            self.path = path.then()
        else:
            self._machine.handle(Event.ARRIVED)

    # -- for controllers of trajectories

    def follow_stop(self, duration: float, dt: float) -> None:
        """Follow the stop trajectory, as controllers have done: `JointLimiter.follow_stop`."""
        if self.path is None and self.limiter.is_moving:
            # The steps that came to rest here were taken back: go there again.
            self._machine.handle(Event.SET_BACK, self._rested_at)
        self.limiter.follow_stop(duration, dt)
        path = self.path
        if path is not None:
            if not np.any(self.velocity):
                path.lose_speed()
            if path.is_stop and path.has_arrived():
                self._end_path()

    def go_back(self, checkpoint: Checkpoint) -> None:
        """Go on from an earlier state: the controller has not heard of what came after it."""
        rest = self.q
        self.limiter.restore(checkpoint)
        self._leave_for(rest)

    def stand_at(self, q: Array) -> None:
        """Go on from rest at `q`, shape (n,), where a controller has stopped by itself."""
        rest = self.q
        self.limiter.reset(q)
        self._leave_for(rest)

    def _leave_for(self, rest: Array) -> None:
        """Go on to the goal; to `rest`, shape (n,), where the motion had arrived there already."""
        if self.path is None:
            self._machine.handle(Event.SET_BACK, rest)
        if self.path is not None:
            self.path.come_back()

    def checkpoint(self) -> Checkpoint:
        """Remember the state of the joints, to come back to it by `restore`."""
        return self.limiter.checkpoint()

    def restore(self, checkpoint: Checkpoint) -> None:
        """Take back the steps since a checkpoint; none of them was sent."""
        self._rested_at = self.q
        self.limiter.restore(checkpoint)


def _angle(mode: str, axis: Array, R: Array, R_goal: Array) -> float:
    """Angle between two orientations, shape (3, 3), as far as a mode asks for them [rad]."""
    if mode == 'position':
        return 0.0
    if mode == 'axis':
        here, there = R @ axis, R_goal @ axis
        return math.atan2(float(np.linalg.norm(np.cross(here, there))), float(here @ there))
    return float(np.linalg.norm(rotation_vector(R @ R_goal.T)))
