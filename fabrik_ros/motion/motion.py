"""
From goals to a stream of joint commands that an arm can follow.

A reference travels from where the tip is to the goal: in a straight line with the shortest
rotation (`path: line`), or straight in joint space (`path: joint`). Every step solves for the
reference from the last command, so the arm keeps its configuration. Whatever the reference
does, no command leaves the joint limits, and none is faster or accelerates harder than allowed.

Arms that share a body have a goal for each tip, and their references travel together. A goal may
stay where it is in the world while the base moves: the reference then travels in the world, and
once it has arrived the arm goes on making up for the motion of its base.

"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
import time

import numpy as np
import numpy.typing as npt

from ..collision.guard import CollisionGuard
from ..model.chain import Chain
from ..model.tree import Tree
from ..solver.options import SolverOptions
from ..solver.solution import Solution
from ..solver.tree_solver import is_unconstrained, TipOptions
from ..transforms import Array, inverse
from .goal import Destination, DestinationFinder, joined, MotionOptions
from .jerk_limiter import JerkLimiter
from .joint_limiter import Checkpoint, CommandGovernor
from .line_reference import approach, Jog, largest, length_of, LineReference, MotionLimits
from .line_tracker import LineTracker, masked, OFF_LINE
from .motion_solvers import MotionSolvers
from .moving_base import MovingBase
from .stop_trajectory import Ramp

SKIPPED = (0.1, 0.2, 0.4, 0.8, 1.6)
ANOTHER_WAY = 'another way: path joint, or allow_reconfiguration'
MOMENT = 1e-3
WEIGHING_TIME = 0.1
"""Of goals that come one after the other, one is weighed at least every so often [s]."""
PATIENCE = 2
"""Steps that a goal of a stream waits to be weighed: the next one is likely to come before."""
TRAILING = 1e-2
"""An arm that trails behind its moving base by less [rad or m] is still at its goal."""


class Phase(Enum):
    """What the motion is doing."""

    RESTING = 'resting'
    LINE = 'line'
    JOINT = 'joint'
    STOPPING = 'stopping'


@dataclass
class UnweighedGoal:
    """A goal that the line heads for, of which is not known yet whether it can be reached."""

    T: Array
    """Shape (..., 4, 4)."""
    age: float
    """For how long goals have not been weighed [s]."""
    steps: int
    """Steps until it is weighed, if no other takes its place."""


class Motion:
    """
    Moves one arm, or arms that share a body.

    Poses have the shape (4, 4) for a chain and (k, 4, 4) for a tree with k tips.

    Parameters
    ----------
    chain : Chain or Tree
        The arm, or arms.
    limits : MotionLimits
        How fast things may go.
    solver_options : SolverOptions
        Mode, tolerances and budget.
    options : MotionOptions
        How goals are pursued.
    tips : mapping, optional
        What is asked of the tips of a tree, `TipOptions` by tip link.
    guard : CollisionGuard, optional
        Knows what the arm can stop from in front of a collision; it does nothing else then.
    limiter : JerkLimiter, optional
        Makes the commands of the motion; else they are the motion itself.

    Attributes
    ----------
    phase : Phase
        What the motion is doing.
    base : MovingBase
        Where the world is, for goals that are held in it.
    is_held_in_world : bool
        Whether a tip has a goal that stays where it is while the base moves.
    hindrance : str
        Why the arm rests short of the goal; '' when nothing hinders it.
    solution : Solution or None
        The newest answer of the solver.
    goal_solution : Solution or None
        The newest answer for a goal itself.
    weighing_time : float
        How long it took to find that, and a way [s].

    """

    def __init__(
        self,
        chain: Chain | Tree,
        limits: MotionLimits,
        solver_options: SolverOptions,
        options: MotionOptions,
        tips: Mapping[str, TipOptions] | None = None,
        guard: CollisionGuard | None = None,
        limiter: JerkLimiter | None = None,
    ) -> None:
        self.chain = chain
        self.guard = guard
        self._governor = CommandGovernor(chain, limits, guard, limiter)
        self._line: LineReference | None = None
        self._unweighed: UnweighedGoal | None = None
        self._looked_along: LineReference | None = None
        """The line of which is known what is ahead for a step like the last."""
        self.change(limits, solver_options, options, tips)
        self.reset(chain.mid_configuration())

    def change(
        self,
        limits: MotionLimits,
        solver_options: SolverOptions,
        options: MotionOptions,
        tips: Mapping[str, TipOptions] | None = None,
    ) -> None:
        """
        Go on with other limits and options.

        A lower acceleration counts from when the arm stands still: it may need the former to stop
        in front of limits and collisions.
        """
        self._weigh_at_last()
        self._looked_along = None
        self.options = options
        self._solvers = MotionSolvers(self.chain, solver_options, tips)
        self._tracker = LineTracker(self.chain, self._solvers, self._governor)
        self._finder = DestinationFinder(
            self.chain, self._solvers, self.guard, limits.joint_velocity, options
        )
        self._governor.change_limits(limits)
        self._pass_limits_on()

    def scale_speed(self, share: float) -> None:
        """Go at another share of all speeds, 0 to 1, within the accelerations."""
        self._governor.scale_speed(share)
        if self._line is not None:
            self._line.scale_speed(share)

    def _pass_limits_on(self) -> None:
        """Let the line keep to the limits, too."""
        if self._line is not None:
            self._line.change_limits(self.limits)

    def warm_up(self) -> None:
        """Compile what goals and steps need."""
        mid = self.chain.mid_configuration()
        self._solvers.warm_up()
        self._governor.warm_up()
        self._tracker.warm_up()
        if self.guard is not None:
            self.guard.warm_up()
        self.chain.points(mid)
        line = LineReference(self.chain.forward_kinematics(mid), mid, self.limits)
        line.pose_after(np.ones_like(line.speed), MOMENT)
        nearby = line.pose_after(np.full_like(line.speed, MOMENT), 1.0)
        for goal in (nearby, line.T, nearby):
            line.head_for(goal)
        line.pose_ahead(MOMENT)
        line.heed(mid, MOMENT)
        line.next_speed(MOMENT, 1.0)
        approach(np.ones(6), np.zeros(6), 1.0, 1.0, MOMENT, length_of, 1.0)

    def reset(self, q: Array) -> None:
        """Take the arm to stand still at `q`, shape (n,), and forget the goal."""
        self._governor.reset(q)
        self.phase = Phase.RESTING
        self.hindrance = ''
        self.solution: Solution | None = None
        self.goal_solution: Solution | None = None
        self.weighing_time = 0.0
        self._joint_goal = self._rests_at = self.q
        self._continues_to: Array | None = None
        self._skips = 0
        self._line = None
        self._hold_in_world(False)
        self._stays = False
        self._destination: Destination | None = None
        self._unweighed = None
        self._looked_along = None
        self._seeks_way = False
        self.base = MovingBase()

    @property
    def q(self) -> Array:
        """Where the motion has come to, shape (n,): the last command, if no jerk is limited."""
        return self._governor.q

    @property
    def velocity(self) -> Array:
        """Its velocity, shape (n,) [rad/s or m/s]."""
        return self._governor.velocity

    @property
    def command(self) -> tuple[Array, Array]:
        """Last command and its velocity, each of shape (n,)."""
        return self._governor.command

    @property
    def is_moving(self) -> bool:
        """Whether the last command moves."""
        return self._governor.is_moving

    @property
    def limits_jerk(self) -> bool:
        """Whether the jerk of the joints is limited."""
        return self._governor.limits_jerk

    @property
    def longest_stop(self) -> float:
        """How long the joints take to stop from the greatest speeds they may have [s]."""
        return self._governor.longest_stop

    @property
    def limits(self) -> MotionLimits:
        """What the motion keeps to now."""
        return self._governor.limits

    def aim(self, T_goal: Array, in_world: npt.ArrayLike = False) -> bool:
        """
        Set a new goal; tell whether the arm will move towards it.

        Where the goal cannot be reached, `hindrance` says why, and the arm goes to the closest
        configuration or stays, by option. So it does where all configurations that are found
        there are in self-collision: it goes as far as it can, or stays. An arm that follows a
        goal in a line goes on at once, and finds that out a moment later.

        Parameters
        ----------
        T_goal : array, shape (..., 4, 4)
            Where the tips are to be, T_base_tip, or T_world_tip for those held in the world. A
            tip whose pose is NaN is free.
        in_world : array-like of bool, shape (...)
            Whether the goal stays where it is in the world while the base moves (`carry`).

        """
        in_world = np.asarray(in_world, dtype=bool)
        if self._line is not None and self._may_go_on(self._line, T_goal, in_world):
            self._go_on(self._line, T_goal)
            return True
        before = self._in_world
        self._hold_in_world(in_world)
        T_reachable = self._weigh(T_goal)
        if T_reachable is None:
            return False
        self._skips = 0
        self._stays = self._seeks_way = False
        if self.options.path == 'line':
            if not np.array_equal(before, self._in_world):
                self._line = None
            self._continues_to = None
            self._go_in_a_line(T_reachable)
        else:
            assert self._destination is not None
            self._go_in_joint_space(self._destination)
        return True

    def _may_go_on(self, line: LineReference, T_goal: Array, in_world: Array) -> bool:
        """Whether a goal is one more of those that the line follows, none of which was bad."""
        return (
            self.phase is Phase.LINE
            and line.jog is None
            and line.ends_early is None
            and not self.hindrance
            and not self.is_held_in_world
            and not np.count_nonzero(in_world)
            and self.options.path == 'line'
            and self.options.approach_unreachable
            and is_unconstrained(T_goal).tolist() == line.free.tolist()
        )

    def _go_on(self, line: LineReference, T_goal: Array) -> None:
        """Follow a goal that is weighed later."""
        was_led = line.is_led
        line.head_for(T_goal)
        if not (was_led and line.is_led):
            self._looked_along = None
        age = 0.0 if self._unweighed is None else self._unweighed.age
        self._unweighed = UnweighedGoal(T_goal, age, PATIENCE if line.is_led else 1)
        self._skips = 0

    def _weigh(self, T_goal: Array) -> Array | None:
        """
        Find out where to go for a goal.

        Returns the poses of the goal, or nearest to it that can be reached; None where the arm
        is to stay, and stops.
        """
        begin, self._unweighed = time.perf_counter(), None
        resting = self.phase is Phase.RESTING
        destination = self._finder.find(
            T_goal, self.q, resting, self._seen_from_base, self._tips_now_held
        )
        self.weighing_time = time.perf_counter() - begin
        self.solution = self.goal_solution = destination.answer
        if destination.hindrance and not self.options.approach_unreachable:
            self.stop(destination.hindrance)
            return None
        self._destination, self.hindrance = destination, destination.hindrance
        return destination.T

    def _weigh_at_last(self) -> bool:
        """Find out about a goal that is followed already, if that was not done; tell if so."""
        goal, line = self._unweighed, self._line
        if goal is None or line is None:
            return False
        T_reachable = self._weigh(goal.T)
        if T_reachable is not None and T_reachable is not goal.T:
            line.head_for(T_reachable)
        return True

    def go_to(self, q: Array) -> None:
        """Set out for joint values of shape (n,), straight in joint space."""
        self._begin_without_goal()
        self._joint_goal = q
        self.phase = Phase.JOINT

    def jog(
        self, twist: Array, in_tip: bool = False, tip: int = 0, free: npt.ArrayLike = False
    ) -> None:
        """
        Move a tip at a velocity from now on, without a goal.

        It goes as near to singular places and limits as it can brake in front of, and rests there,
        with the reason in `hindrance`, until it is let go or jogged another way. Nothing happens
        while the arm is stopping.

        Parameters
        ----------
        twist : array, shape (6,)
            Linear and angular velocity of the tip [m/s, rad/s], shortened to what it may have.
        in_tip : bool
            Whether that is in the frame of the tip, as it turns, instead of the base.
        tip : int
            Number of the tip.
        free : array-like of bool, shape (...)
            Which tips may go anywhere; the others keep their poses where they are not jogged.

        """
        if self.phase is Phase.STOPPING:
            return
        jog = self._line.jog if self._line is not None and self.is_jogging else None
        T = self.chain.forward_kinematics(self.q)
        if jog is None:
            self._begin_without_goal()
            jog = Jog(T.shape[:-2])
        line = self._line_for(np.where(np.asarray(free)[..., None, None], np.nan, T))
        if line.jog is not jog:
            line.follow(jog)
        jog.let_go(line.free)
        jog.steer(twist, in_tip, tip)
        self.phase = Phase.LINE

    def end_jog(self, tip: int) -> None:
        """Let go of a tip that is jogged: it brakes to rest."""
        if self._line is not None and self._line.jog is not None:
            self._line.jog.steer(np.zeros(6), False, tip)

    @property
    def is_jogging(self) -> bool:
        """Whether a jog, not a goal, leads the arm."""
        return self.phase is Phase.LINE and self._line is not None and self._line.jog is not None

    def _begin_without_goal(self) -> None:
        self.solution = self.goal_solution = None
        self.hindrance = ''
        self._stays = False
        self._destination = self._continues_to = self._unweighed = None
        self._seeks_way = False
        if self.is_held_in_world:
            self._hold_in_world(False)
            self._line = None

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
        self.base.follow(T_base_world, dt)
        if self.base.moves and self._stays and self.phase is Phase.RESTING:
            self.phase = Phase.LINE

    def _hold_in_world(self, which: npt.ArrayLike) -> None:
        self._in_world = np.asarray(which, dtype=bool)
        self.is_held_in_world = bool(self._in_world.any())

    @property
    def is_at_goal(self) -> bool:
        """Whether the arm rests, or is at its goal and does no more than follow the base."""
        if self.phase is Phase.LINE and self._line is not None and self.is_held_in_world:
            return self._line.is_at_goal() and largest(self._line.q - self.q) < TRAILING
        return self.phase is Phase.RESTING

    def seen_from_base(self, T: Array, in_world: Array) -> Array:
        """Poses (..., 4, 4) in the base frame; those with `in_world` are given in the world."""
        if not in_world.any():
            return T
        held: Array = np.where(in_world[..., None, None], self.base.T_base_world @ T, T)
        return held

    def _seen_from_base(self, T: Array) -> Array:
        return self.seen_from_base(T, self._in_world) if self.is_held_in_world else T

    def _tips_now_held(self, q: Array) -> Array:
        return self._tips_where_held(q, self.base.T_base_world)

    def _tips_where_held(self, q: Array, T_base_world: Array) -> Array:
        """Poses of the tips, each in the frame its goal is held in: base or world."""
        T = self.chain.forward_kinematics(q)
        if not self.is_held_in_world:
            return T
        held: Array = np.where(self._in_world[..., None, None], inverse(T_base_world) @ T, T)
        return held

    def stop(self, reason: str) -> None:
        """Slow down to rest as fast as the joints may, for a reason."""
        self._stays = self._seeks_way = False
        self._unweighed = None
        self.hindrance = reason
        self._governor.begin_to_brake()
        self.phase = Phase.STOPPING if self._governor.is_moving else Phase.RESTING

    def halt(self) -> None:
        """Take the arm to stand still where it was last told to be: commands did not reach it."""
        self._governor.halt()
        self._stand_still_on_line()

    def _stand_still_on_line(self) -> None:
        self._looked_along = None
        if self._line is not None:
            self._line.stand_still()

    def knot_lead(self, dt: float) -> float:
        """How long before a command its knot lies [s]: `CommandGovernor.knot_lead`."""
        return self._governor.knot_lead(dt)

    def ramp(self) -> Ramp:
        """Knots of the last step, and the stop from there on: `CommandGovernor.ramp`."""
        return self._governor.ramp()

    def follow_ramp(self, duration: float, dt: float) -> None:
        """Follow the stop trajectory, as controllers have done: `CommandGovernor.follow_ramp`."""
        if self.phase is Phase.RESTING and self._governor.is_moving:
            # The steps that came to rest here were taken back: go there again.
            self._joint_goal, self.phase = self._rests_at, Phase.JOINT
        self._governor.follow_ramp(duration, dt)
        if not np.any(self.velocity):
            self._stand_still_on_line()
        if self.phase is Phase.STOPPING and self._has_arrived():
            self._come_to_rest()

    def checkpoint(self) -> Checkpoint:
        """Remember the state of the joints, to come back to it by `restore`."""
        return self._governor.checkpoint()

    def restore(self, checkpoint: Checkpoint) -> None:
        """Take back what the joints did since a checkpoint: nobody was told of it."""
        self._rests_at = self.q
        self._governor.restore(checkpoint)

    def rest(self, dt: float) -> None:
        """Let `dt` seconds pass at rest: the first step after them may be no harder for it."""
        self._governor.rest(dt)

    def step(self, dt: float) -> None:
        """Move on by `dt` seconds: writes `q`, `velocity` and `phase`."""
        governor = self._governor
        if governor.take_up_limits():
            self._pass_limits_on()
        self._weigh_in_time()
        if self._unweighed is not None:
            self._unweighed.age += dt
            self._unweighed.steps -= 1
        governor.begin_step(dt)
        if governor.is_braking or not self._goes_on(dt):
            governor.brake(dt)
        self._looked_along = None
        if self.phase is not Phase.RESTING and self._has_arrived():
            self._weigh_at_last()  # which may lead it elsewhere
            if self._has_arrived():
                self._come_to_rest()
        if self._seeks_way and self.phase is Phase.RESTING:
            self._go_round()

    def prepare(self) -> None:
        """
        Do what can be done for the next step before its time; to be called between steps.

        What a step finds done it need not do, so the next command is there sooner.
        """
        self._weigh_in_time()
        line = self._line
        if self.phase is Phase.LINE and line is not None and not self.is_held_in_world:
            self._look_ahead(line, self._governor.dt)

    def _weigh_in_time(self) -> None:
        """Weigh the goal that is followed, unless another is likely to take its place at once."""
        goal = self._unweighed
        if goal is not None and (goal.steps <= 0 or goal.age > WEIGHING_TIME):
            self._weigh_at_last()

    def _look_ahead(self, line: LineReference, dt: float) -> None:
        """Look where the line leads, if that was not done for the next step."""
        if self._looked_along is line or line.jog is not None or line.ends_early is not None:
            return
        self._looked_along = line
        self._tracker.look_ahead(line, dt, self._seen_from_base)
        # Where the goal turns out to be out of reach, the line leads elsewhere from now on.
        if line.ends_early is not None and self._weigh_at_last() and line.ends_early is None:
            self._tracker.look_ahead(line, dt, self._seen_from_base)

    def _goes_on(self, dt: float) -> bool:
        """Take a step as it is wanted, unless the arm has to brake."""
        governor, velocity = self._governor, self._wanted_velocity(dt)
        if governor.is_braking:  # as the line has just been left
            return False
        # The way to rest was found free before it was entered.
        if governor.go(velocity, dt, known_free=self.phase is Phase.STOPPING):
            return True
        if governor.refusal:
            self._stop_in_front(governor.refusal)
        else:
            self._stand_still_on_line()
        return False

    def _wanted_velocity(self, dt: float) -> Array:
        if self.phase is Phase.LINE:
            return self._line_velocity(dt)
        if self.phase is Phase.JOINT:
            return self._governor.velocity_towards(self._joint_goal, dt)
        return self._governor.stopping_velocity(dt)

    def _stop_in_front(self, refusal: str) -> None:
        """Stop in front of a collision; once at rest, look for another way where one may."""
        self._weigh_at_last()
        destination = self._destination
        may = self.options.path == 'joint' or self.options.allow_reconfiguration
        reason = f'self-collision ahead: {refusal}'
        if destination is not None:
            reason = joined(destination.hindrance, reason, '' if may else ANOTHER_WAY)
        self.stop(reason)
        self._seeks_way = destination is not None and may and destination.ways_left > 0

    def _go_round(self) -> None:
        """Set out again in joint space on a way that is free, or for a goal that never is."""
        destination = self._destination
        assert destination is not None
        self._seeks_way = False
        if self._finder.find_another_way(destination, self.q, self._seen_from_base):
            self.hindrance = destination.hindrance
            self.solution = self.goal_solution = destination.answer
            self._go_in_joint_space(destination)

    def _come_to_rest(self) -> None:
        goal, self._continues_to = self._continues_to, None
        is_there = self.phase is Phase.JOINT
        self._stays = self.phase is Phase.LINE and self.is_held_in_world
        if self._stays and self._line is not None:
            self._line.stand_still()
        self.phase = Phase.RESTING
        self._governor.come_to_rest()
        destination = self._destination
        if is_there and destination is not None and destination.via is not None:
            destination.via = None
            self._go_in_joint_space(destination)
        elif is_there and goal is not None:
            self._go_in_a_line(goal)

    def _go_in_a_line(self, T_goal: Array) -> None:
        self._line_for(T_goal).head_for(T_goal)
        self._looked_along = None
        self.phase = Phase.LINE

    def _line_for(self, T_goal: Array) -> LineReference:
        """Take the line that is followed, if its free tips are the same; else begin another."""
        line = self._line
        if (
            self.phase is not Phase.LINE
            or line is None
            or not np.array_equal(is_unconstrained(T_goal), line.free)
        ):
            line = self._line = self._new_line(T_goal)
        return line

    def _new_line(self, T_goal: Array) -> LineReference:
        """Begin a line where the tips are, as fast as they are; free ones stay free."""
        start = np.minimum(np.maximum(self.q, self.chain.lower), self.chain.upper)
        T = masked(self._tips_now_held(start), T_goal)
        moment = self._governor.dt if self._follows_base else MOMENT
        before = self.base.T_base_world_before if self._follows_base else self.base.T_base_world
        T_before = self._tips_where_held(start - self.velocity * moment, before)
        line = LineReference(T, start, self.limits)
        line.take_speed(T_before, moment)
        return line

    @property
    def _follows_base(self) -> bool:
        """Whether the base moves, and with it what is held in the world."""
        base = self.base
        goes_on = self._governor.dt > 0.0 and not base.has_leapt
        return base.moves and goes_on and self.is_held_in_world

    def _go_in_joint_space(self, destination: Destination) -> None:
        self._joint_goal = destination.next_q
        self._continues_to = destination.T if self.is_held_in_world else None
        self.phase = Phase.JOINT

    def _line_velocity(self, dt: float) -> Array:
        """Joint velocity that keeps the tip on the line, as far along as the joints can follow."""
        line = self._line
        assert line is not None
        if self.is_held_in_world:
            catch_up = self._governor.catch_up(line.q - self.q, dt)
            return self._line_velocity_in_world(line, catch_up, dt)
        return self._velocity_along(line, self._tracker.catch_up(line, dt), dt)

    def _line_velocity_in_world(self, line: LineReference, catch_up: Array, dt: float) -> Array:
        """
        Joint velocity along a line in the world.

        First the tips stay where they are in the world while the base moves, then they go on.
        """
        if self.base.has_leapt:
            goal, line = line.goal, self._new_line(line.goal)
            line.head_for(goal)
            self._line = line
            return self._velocity_along(line, np.zeros_like(self.q), dt)
        answer, carried = self._tracker.stay(line, dt, self._seen_from_base)
        if carried is None:
            return self._leave_line(answer, dt)
        return self._velocity_along(line, carried + catch_up, dt)

    def _velocity_along(self, line: LineReference, catch_up: Array, dt: float) -> Array:
        """Joint velocity along the line, on top of what the joints have to catch up anyway."""
        if line.jog is not None:
            self._look_where_jogged(line, line.jog, dt)
        else:
            self._look_ahead(line, dt)
        # A moving base moves the tips in its own frame, however fast it is.
        is_carried = self.is_held_in_world
        room = 1.0 if is_carried else self._tracker.room_beside(line, catch_up)
        speed = line.next_speed(dt, room)
        if line.ends_early is not None and line.jog is None and not np.any(speed):
            return self._leave_line(line.ends_early, dt)
        is_off = largest(line.q - self.q) > OFF_LINE
        answer, velocity = self._tracker.advance(
            line, speed, catch_up, dt, self._seen_from_base, is_carried
        )
        if velocity is None:
            return self._leave_line(answer, dt)
        self.solution = answer
        velocity = velocity + catch_up
        return velocity if is_carried else self._tracker.slowed(line, velocity, is_off, dt)

    def _look_where_jogged(self, line: LineReference, jog: Jog, dt: float) -> None:
        """Look ahead unless the jog goes on to want what cannot be; say so where it does."""
        if line.ends_early is not None and jog.goes_where_it_is_blocked():
            return
        line.ends_early = None
        self._tracker.look_ahead(line, dt, self._seen_from_base)
        self.hindrance = ''
        if line.ends_early is not None and np.any(jog.twists):
            jog.block()
            self.hindrance = _end_of_jog(line.ends_early)

    def _leave_line(self, answer: Solution, dt: float) -> Array:
        """Stop where the reference cannot go on, saying why, or take the way in joint space."""
        self._weigh_at_last()
        self.solution = answer
        if self.is_jogging:
            self.stop(_end_of_jog(answer))
            return self._governor.stopping_velocity(dt)
        if self._can_skip_the_beginning():
            return self._governor.velocity_towards(self._joint_goal, dt)
        blocked = f'the straight line cannot be followed: {answer.status.value}'
        blocked = joined(blocked + _limited(answer), ANOTHER_WAY)
        destination = self._destination
        assert destination is not None
        if self.options.allow_reconfiguration and self._find_again(destination):
            self._go_in_joint_space(destination)
            return self._governor.velocity_towards(self._joint_goal, dt)
        self.stop(blocked)
        return self._governor.stopping_velocity(dt)

    def _find_again(self, destination: Destination) -> bool:
        """Solve anew for a goal in the world, as the base has moved since that was set."""
        if not self.is_held_in_world:
            return True
        T = self._seen_from_base(destination.T)
        answer = self._solvers.moving_goal.solve(T, self.q)
        destination.q = answer.q
        return answer.converged

    def _can_skip_the_beginning(self) -> bool:
        """
        Set out for a point farther along the line, where the line cannot be followed at once.

        No straight line leaves a stretched arm, or one with its wrist in line, as arms stand
        when they are switched on. Their configurations meet there, so none is left by this.
        """
        line = self._line
        assert line is not None
        while not line.has_left and self._skips < len(SKIPPED):
            pose = self._seen_from_base(line.pose_at(SKIPPED[self._skips]))
            answer = self._solvers.skip.solve(pose, self.q)
            self._skips += 1
            if answer.converged:
                self._continues_to, self._joint_goal = line.goal, answer.q
                self.phase = Phase.JOINT
                return True
        return False

    def _has_arrived(self) -> bool:
        governor = self._governor
        if not governor.has_caught_up:
            return False
        if self.phase is Phase.STOPPING:
            return governor.is_still
        if self.phase is Phase.JOINT:
            return governor.rests_at(self._joint_goal)
        assert self._line is not None
        base_stands = not (self.is_held_in_world and self.base.moves)
        return base_stands and self._line.is_at_goal() and governor.rests_at(self._line.q)


def _end_of_jog(answer: Solution) -> str:
    return f'jogged as far as it goes: {answer.status.value}{_limited(answer)}'


def _limited(answer: Solution) -> str:
    return f' ({", ".join(answer.limited_joints)})' if answer.limited_joints else ''
