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
from dataclasses import dataclass, replace
from enum import Enum
import math
import time
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from .chain import Chain
from .collision.goals import Choice, GoalChooser
from .collision.guard import CollisionGuard
from .jerk import JerkLimiter, Step
from .kernels.braking import catching_up, gentle_bounds, take_step, velocity_bounds
from .methods import make_solver
from .moving_base import MovingBase
from .options import SolverOptions
from .ramp import Ramp, ramp_to_rest
from .reference import (
    Answer,
    approach,
    is_free,
    Jog,
    LANDED,
    largest,
    LineReference,
    MotionLimits,
)
from .transforms import Array, inverse
from .tree import Tree
from .tree_solver import TipOptions, TreeSolver

# A search for a new goal must not keep a moving arm waiting for its next command [s].
MOVING_BUDGET = 0.004
FOLLOWING_MOVE = 0.5
LOOKING_MOVE = 1.5
SKIPPED = (0.1, 0.2, 0.4, 0.8, 1.6)
RETRIES = 20
WAYS_ROUND = 3
"""
So often an arm that stopped in front of a collision sets out again for its goal: another way, or
nearer to a goal that touches, as a fast arm stops early.
"""
ANOTHER_WAY = 'another way: path joint, or allow_reconfiguration'
AT_REST = 1e-9
STILL = 1e-6
ON_LINE = 1e-9
TINY = 1e-12
MOMENT = 1e-3
CATCH_UP_SHARE = 0.5
# Half, because a step may be several times as long as the one before, and the velocity may change
# only by what their mean allows: then braking takes up to twice the way.
BRAKING_SHARE = 0.5
EASING_SHARE = 0.1
TRAILING = 1e-2
"""An arm that trails behind its moving base by less [rad or m] is still at its goal."""


class ArmSolver(Protocol):
    """What a motion needs of a solver, for one tip or for several."""

    def solve(self, target: Array, seed: Array, /) -> Answer:
        """Find joint values for poses of shape (..., 4, 4)."""
        ...

    def solve_within(self, target: Array, seed: Array, lower: Array, upper: Array, /) -> Answer:
        """Find joint values, each within bounds of its own."""
        ...

    def warm_up(self) -> float:
        """Compile what is needed."""
        ...


class Phase(Enum):
    """What the motion is doing."""

    RESTING = 'resting'
    LINE = 'line'
    JOINT = 'joint'
    STOPPING = 'stopping'


@dataclass(frozen=True)
class MotionOptions:
    """How goals are pursued."""

    path: str = 'line'
    """'line' or 'joint'."""
    allow_reconfiguration: bool = False
    """Where the line cannot be followed, go straight in joint space."""
    approach_unreachable: bool = True
    """Go as near as possible to goals that cannot be reached, rather than stay."""


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
    q : array, shape (n,)
        Where the motion has come to: the last command, if the jerk is not limited [rad or m].
    velocity : array, shape (n,)
        Its velocity [rad/s or m/s].
    phase : Phase
        What the motion is doing.
    base : MovingBase
        Where the world is, for goals that are held in it.
    hindrance : str
        Why the arm rests short of the goal; '' when nothing hinders it.
    solution : Solution, TreeSolution or None
        The newest answer of the solver.
    goal_solution : Solution, TreeSolution or None
        The answer for the goal itself, when it was set.

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
        self._limiter = limiter
        self._dt = 0.0
        self._regaining = 1.0
        """Part of the acceleration for a step after a pause, over which it counts in full."""
        self._line: LineReference | None = None
        self.q, self.velocity = chain.mid_configuration(), np.zeros(len(chain))
        self._limits_in_force = limits
        self._packed_limits: MotionLimits | None = None
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
        self._tips = tips
        self._asked_limits = limits
        self.options = options
        self._tolerances = solver_options.position_tolerance, solver_options.orientation_tolerance
        on_line = replace(
            solver_options,
            position_tolerance=min(ON_LINE, solver_options.position_tolerance),
            orientation_tolerance=min(ON_LINE, solver_options.orientation_tolerance),
            max_restarts=0,
        )
        budget = min(MOVING_BUDGET, solver_options.budget)
        self._goal_solver = self._solver(solver_options)
        self._moving_goal_solver = self._solver(solver_options, budget=budget)
        self._line_solver = self._solver(on_line, max_joint_move=FOLLOWING_MOVE)
        self._ahead_solver = self._solver(on_line, max_joint_move=LOOKING_MOVE)
        self._skip_solver = self._solver(
            solver_options, max_joint_move=LOOKING_MOVE, max_restarts=RETRIES
        )
        self._budget = solver_options.budget
        if self.guard is not None:
            brief = self._solver(
                solver_options, budget=budget, max_restarts=0, prefer='first', posture=None
            )
            self._chooser = GoalChooser(self.guard, self.chain, brief.solve, limits.joint_velocity)
        self._take_limits()

    def _take_limits(self) -> None:
        """Keep to the limits that were asked for, as far as that can be done now."""
        limits = self._asked_limits
        if np.any(self.command[1]):
            before = self._limits_in_force.joint_acceleration
            most = np.maximum(limits.joint_acceleration, before)
            limits = replace(limits, joint_acceleration=most)
        self._limits_in_force = limits
        self.limits = limits = limits if self._limiter is None else self._limiter.heed(limits)
        if self._line is not None:
            self._line.change_limits(limits)

    def _solver(self, options: SolverOptions, **changes: Any) -> ArmSolver:
        options = replace(options, **changes)
        if isinstance(self.chain, Tree):
            return TreeSolver(self.chain, options, self._tips)
        return make_solver(self.chain, options)

    def warm_up(self) -> None:
        """Compile what the solvers need."""
        self._goal_solver.warm_up()
        self._line_solver.warm_up()
        self.chain.points(self.chain.mid_configuration())
        self._rehearse()

    def _rehearse(self) -> None:
        """Compile what a step needs."""
        mid = self.chain.mid_configuration()
        line = LineReference(self.chain.forward_kinematics(mid), mid, self.limits)
        line.pose_after(np.ones_like(line.speed), MOMENT)
        line.heed(mid, MOMENT)
        line.next_speed(MOMENT)
        self._bounds = self._velocity_bounds(MOMENT)
        self._catch_up(mid, MOMENT)
        self._next(mid, MOMENT)
        gentle = np.empty_like(self._bounds)
        gentle_bounds(self._joint_limits(), mid, self._bounds, MOMENT, EASING_SHARE, gentle)
        self._line_solver.solve_within(line.T, mid, mid - MOMENT, mid + MOMENT)

    def reset(self, q: Array) -> None:
        """Take the arm to stand still at `q`, shape (n,), and forget the goal."""
        self.q = np.array(q, dtype=np.float64)
        self.velocity = np.zeros_like(self.q)
        if self._limiter is not None:
            self._limiter.reset(self.q)
        self._rejoined: Ramp | None = None
        self.phase = Phase.RESTING
        self.hindrance = ''
        self.solution: Answer | None = None
        self.goal_solution: Answer | None = None
        self._goal_q = self._joint_goal = self.q
        self._continues_to: Array | None = None
        self._skips = 0
        self._line = None
        self._in_world = np.array(False)
        self._stays = False
        self._goal: Array | None = None
        self._via: Array | None = None
        self._falls_short = self._touches = ''
        self._seeks_way = False
        self.base = MovingBase()

    @property
    def command(self) -> tuple[Array, Array]:
        """Last command and its velocity, each of shape (n,)."""
        mover = self if self._limiter is None else self._limiter
        return mover.q, mover.velocity

    def aim(self, T_goal: Array, in_world: npt.ArrayLike = False) -> bool:
        """
        Set a new goal; tell whether the arm will move towards it.

        Where the goal cannot be reached, `hindrance` says why, and the arm goes to the closest
        configuration or stays, by option. So it does where all configurations that are found
        there are in self-collision: it goes as far as it can, or stays.

        Parameters
        ----------
        T_goal : array, shape (..., 4, 4)
            Where the tips are to be, T_base_tip, or T_world_tip for those held in the world. A
            tip whose pose is NaN is free.
        in_world : array-like of bool, shape (...)
            Whether the goal stays where it is in the world while the base moves (`carry`).

        """
        resting, begin = self.phase is Phase.RESTING, time.perf_counter()
        solver = self._goal_solver if resting else self._moving_goal_solver
        before, self._in_world = self._in_world, np.asarray(in_world, dtype=bool)
        answer = solver.solve(self._seen_from_base(T_goal), self.q)
        self.solution = self.goal_solution = answer
        self.hindrance = '' if answer.converged else answer.status.value
        if not answer.converged:
            if not self.options.approach_unreachable:
                self.stop(self.hindrance)
                return False
            T_goal = _masked(self._tips_where_held(answer.q, self.base.T_base_world), T_goal)
        self._goal, self._goal_q, self._via = T_goal, answer.q, None
        self._set_out_at, self._ways_left = self.q, WAYS_ROUND
        self._falls_short = self.hindrance
        if self.guard is not None:
            budget = self._budget if resting else min(MOVING_BUDGET, self._budget)
            self._choose(answer, begin + budget, resting and self.options.path == 'joint')
            if self._touches and not self.options.approach_unreachable:
                self.stop(self.hindrance)
                return False
        self._continues_to = None
        self._skips = 0
        self._stays = False
        if self.options.path == 'line':
            if not np.array_equal(before, self._in_world):
                self._line = None
            self._go_in_a_line(T_goal)
        else:
            self._go_in_joint_space(T_goal)
        return True

    def _choose(self, answer: Answer, end: float, needs_way: bool) -> None:
        """Take a configuration at the goal that is free of collisions, or say that none is."""
        assert self._goal is not None
        choose = self._chooser.way if needs_way else self._chooser.configuration
        self._take(choose(answer, self._seen_from_base(self._goal), self.q, end))

    def _take(self, choice: Choice) -> None:
        self._goal_q, self._via = choice.answer.q, choice.via
        collision = f'the target is in self-collision: {choice.collision}'
        self._touches = collision if choice.collision else ''
        self.hindrance = _joined(self._falls_short, self._touches)
        if choice.answer.converged and not self._falls_short:
            self.solution = self.goal_solution = choice.answer

    def go_to(self, q: Array) -> None:
        """Set out for joint values of shape (n,), straight in joint space."""
        self._begin_without_goal()
        self._goal_q = self._joint_goal = q
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
        jog.let_go(is_free(line.T))
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
        self.hindrance = self._falls_short = self._touches = ''
        self._stays = False
        self._goal = self._via = self._continues_to = None
        if self.is_held_in_world:
            self._in_world, self._line = np.array(False), None

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

    @property
    def is_held_in_world(self) -> bool:
        """Whether a tip has a goal that stays where it is while the base moves."""
        return bool(self._in_world.any())

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
        return self.seen_from_base(T, self._in_world)

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
        self.hindrance = reason
        if self._limiter is not None:
            self._brake(self._limiter)
        self.phase = Phase.STOPPING if np.any(self.command[1]) else Phase.RESTING

    def halt(self) -> None:
        """Take the arm to stand still where it was last told to be: commands did not reach it."""
        if self._limiter is not None:
            self.q = self._limiter.q
            self._limiter.reset(self.q)
        self._stand_still()
        self._dt = 0.0

    def _stand_still(self) -> None:
        self.velocity = np.zeros_like(self.q)
        if self._line is not None:
            self._line.stand_still()

    def ramp(self) -> Ramp:
        """
        Way to rest as fast as the joints may, from the middle of the last step on.

        In between the middles of the steps the velocities change evenly, and never by more than
        the joints may. The middle of the step before comes first. Times are counted from the end
        of the step, the time of the last command. Where the jerk is limited, the way begins at
        that command itself, as if it had been reached half a step before, and in between its
        points the accelerations change evenly.
        """
        half = 0.5 * self._dt
        limits, chain = self.limits, self.chain
        if self._limiter is not None:
            ramp = self._limiter.ramp()
        else:
            q, velocity = self.q - half * self.velocity, self.velocity
            ramp = ramp_to_rest(q, velocity, limits.joint_acceleration, chain.lower, chain.upper)
        before = self._came_from
        return Ramp(
            np.append(before.times, ramp.times) - half,
            np.vstack([before.q, ramp.q]),
            np.vstack([before.velocity, ramp.velocity]),
        )

    def rejoin(self, passed: float, lag: float, dt: float) -> float:
        """
        Go on from where a controller is that plays the ramps, if it has begun to brake.

        Parameters
        ----------
        passed : float
            Time since the last command [s].
        lag : float
            From a command to when the controller is at the time 0 of its ramp [s].
        dt : float
            Length of the next step [s].

        Returns
        -------
        float
            Length of the next step [s]: half the lag, where the controller has begun to brake.

        """
        if passed - lag <= -0.5 * self._dt:
            return dt
        dt = 0.5 * lag
        self._regaining = min(1.0, passed / dt - 1.0)
        if not np.any(self.command[1]):
            self._dt = dt
            return dt
        # There the ramp of the next command begins: at the middle of the step before.
        ramp, begin = self.ramp(), passed - 1.5 * dt
        self._rejoined = ramp.between(passed - lag, begin)
        if self._limiter is not None:
            self._brake(self._limiter)
            self._limiter.brake(passed - dt)
            return dt
        q, self.velocity = ramp.at(begin)
        lower, upper = np.minimum(self.chain.lower, q), np.maximum(self.chain.upper, q)
        self.q = np.clip(q + 0.5 * dt * self.velocity, lower, upper)
        self._dt = dt
        if self._line is not None and not np.any(self.velocity):
            self._line.stand_still()
        return dt

    def rest(self, dt: float) -> None:
        """Let `dt` seconds pass at rest: the first step after them may be no harder for it."""
        self._dt = dt

    def step(self, dt: float) -> None:
        """Move on by `dt` seconds: writes `q`, `velocity` and `phase`."""
        if self._limits_in_force is not self._asked_limits and not np.any(self.command[1]):
            self._take_limits()
        limiter = self._limiter
        self._remember_step(dt)
        if limiter is None or not limiter.is_braking:
            self._go_on(dt)
        if limiter is not None:
            self._limit_jerk(limiter, dt)
        self._dt, self._regaining = dt, 1.0
        if self.phase is not Phase.RESTING and self._has_arrived():
            self._come_to_rest()
        if self._seeks_way and self.phase is Phase.RESTING:
            self._go_round()

    def _remember_step(self, dt: float) -> None:
        """Keep the middle of the step that has ended, and the way from there if it is known."""
        (q, velocity), ago = self.command, dt
        if self._limiter is None:
            before = self._dt or dt
            q, ago = q - 0.5 * before * velocity, 0.5 * (before + dt)
        way, self._rejoined = self._rejoined, None
        self._came_from = Ramp(np.zeros(1), q[None], velocity[None]) if way is None else way
        self._came_from = self._came_from._replace(times=self._came_from.times - ago)

    def _go_on(self, dt: float) -> None:
        self._bounds = self._velocity_bounds(dt)
        self._least, self._most = self._bounds
        if self.phase is Phase.LINE:
            velocity = self._line_velocity(dt)
        elif self.phase is Phase.JOINT:
            velocity = self._joint_velocity(dt)
        else:
            velocity = self._stopping_velocity(dt)
        velocity, q = self._next(velocity, dt)
        guard = self.guard if self._limiter is None else None
        if guard is not None and self._would_collide(guard, velocity, q):
            self._stop_in_front(guard.refusal)
            velocity, q = self._next(self._stopping_velocity(dt), dt)
        self.velocity, self.q = velocity, q

    def _limit_jerk(self, limiter: JerkLimiter, dt: float) -> None:
        """Command a step towards the motion, or on the way to rest that is known to be free."""
        if not limiter.is_braking:
            step = limiter.plan(self.q, dt)
            if step is None:
                self._brake(limiter)
            elif self._would_not_rest(limiter, step):
                assert self.guard is not None
                self._stop_in_front(self.guard.refusal)
            else:
                limiter.take(step)
                return
        if limiter.is_braking:
            limiter.brake(dt)

    def _would_not_rest(self, limiter: JerkLimiter, step: Step) -> bool:
        """Whether a step, or the way to rest from there, is not safe."""
        guard = self.guard
        return guard is not None and not guard.allows_to_rest(
            limiter.q, step.q, step.stop.corners()
        )

    def _brake(self, limiter: JerkLimiter) -> None:
        """Let the motion wait at rest where the commands will have come to rest."""
        self.q = limiter.begin_to_brake()
        self._stand_still()

    def _next(self, velocity: Array, dt: float) -> tuple[Array, Array]:
        """Return the velocity nearest to one wanted that the joints may have, and q then."""
        step = np.empty((2, len(self.q)))
        take_step(self._joint_limits(), self.q, velocity, self._bounds, dt, step)
        return step[0], step[1]

    def _would_collide(self, guard: CollisionGuard, velocity: Array, q: Array) -> bool:
        """Whether a step is not safe; the way to rest was found free before it was entered."""
        limits = self.limits
        return self.phase is not Phase.STOPPING and not guard.allows(
            self.q, q, velocity, limits.joint_acceleration, limits.joint_velocity
        )

    def _stop_in_front(self, refusal: str) -> None:
        """Stop in front of a collision; once at rest, look for another way where one may."""
        reason = _joined(self._falls_short, self._touches, f'self-collision ahead: {refusal}')
        may = self.options.path == 'joint' or self.options.allow_reconfiguration
        if self._goal is not None and not may:
            reason = _joined(reason, ANOTHER_WAY)
        self.stop(reason)
        self._seeks_way = self._goal is not None and may and self._ways_left > 0

    def _go_round(self) -> None:
        """Set out again in joint space on a way that is free, or for a goal that never is."""
        assert self._goal is not None
        self._seeks_way, self._ways_left = False, self._ways_left - 1
        T, end = self._seen_from_base(self._goal), time.perf_counter() + self._budget
        answer = self._goal_solver.solve(T, self.q)
        choice = self._chooser.way(answer, T, self.q, end, self._set_out_at)
        if choice.answer.converged and (choice.has_way or choice.collision):
            self._take(choice)
            self._go_in_joint_space(self._goal)

    def _come_to_rest(self) -> None:
        goal, self._continues_to = self._continues_to, None
        is_there = self.phase is Phase.JOINT
        self._stays = self.phase is Phase.LINE and self.is_held_in_world
        if self._stays and self._line is not None:
            self._line.stand_still()
        self.phase = Phase.RESTING
        self.q, self.velocity = self.command[0], np.zeros_like(self.q)
        if is_there and self._via is not None and self._goal is not None:
            self._via = None
            self._go_in_joint_space(self._goal)
        elif is_there and goal is not None:
            self._go_in_a_line(goal)

    def _go_in_a_line(self, T_goal: Array) -> None:
        self._line_for(T_goal).head_for(T_goal)
        self.phase = Phase.LINE

    def _line_for(self, T_goal: Array) -> LineReference:
        """Take the line that is followed, if its free tips are the same; else begin another."""
        line = self._line
        if (
            self.phase is not Phase.LINE
            or line is None
            or not np.array_equal(is_free(T_goal), is_free(line.T))
        ):
            line = self._line = self._new_line(T_goal)
        return line

    def _new_line(self, T_goal: Array) -> LineReference:
        """Begin a line where the tips are, as fast as they are; free ones stay free."""
        start = np.minimum(np.maximum(self.q, self.chain.lower), self.chain.upper)
        T = _masked(self._tips_where_held(start, self.base.T_base_world), T_goal)
        moment = self._dt if self._follows_base else MOMENT
        before = self.base.T_base_world_before if self._follows_base else self.base.T_base_world
        T_before = self._tips_where_held(start - self.velocity * moment, before)
        line = LineReference(T, start, self.limits)
        line.take_speed(T_before, moment)
        return line

    @property
    def _follows_base(self) -> bool:
        """Whether the base moves, and with it what is held in the world."""
        base = self.base
        return base.moves and not base.has_leapt and self._dt > 0.0 and self.is_held_in_world

    def _go_in_joint_space(self, T_goal: Array) -> None:
        self._joint_goal = self._goal_q if self._via is None else self._via
        self._continues_to = T_goal if self.is_held_in_world else None
        self.phase = Phase.JOINT

    def _line_velocity(self, dt: float) -> Array:
        """Joint velocity that keeps the tip on the line, as far along as the joints can follow."""
        line = self._line
        assert line is not None
        lag = line.q - self.q
        catch_up = self._catch_up(lag, dt)
        if self.is_held_in_world:
            return self._line_velocity_in_world(line, catch_up, dt)
        return self._velocity_along(line, catch_up, dt)

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
        answer = self._line_solver.solve(self._seen_from_base(line.T), line.q)
        if not self._is_on_line(answer):
            return self._leave_line(answer, dt)
        carried = (answer.q - line.q) / dt
        line.q = answer.q
        return self._velocity_along(line, carried + catch_up, dt)

    def _velocity_along(self, line: LineReference, catch_up: Array, dt: float) -> Array:
        """Joint velocity along the line, on top of what the joints have to catch up anyway."""
        if line.jog is not None:
            self._look_where_jogged(line, line.jog, dt)
        elif line.ends_early is None:
            self._look_ahead(line, dt)
        speed = line.next_speed(dt)
        if line.ends_early is not None and line.jog is None and not np.any(speed):
            return self._leave_line(line.ends_early, dt)
        answer = self._solve_on_line(line, speed, dt)
        if self._is_on_line(answer):
            answer = self._eased(line, speed, answer, catch_up, dt)
            share = self._followable_share((answer.q - line.q) / dt, catch_up)
            if share != 1.0:
                speed = line.shortened(speed * share, dt)
                answer = self._solve_on_line(line, speed, dt)
        if not self._is_on_line(answer):
            return self._leave_line(answer, dt)
        rate = (answer.q - line.q) / dt
        line.advance(speed, dt, answer.q)
        if line.jog is not None and np.any(speed[..., 3:]):
            # Where the orientation yields, the reference must not turn away from the tip.
            line.T = _masked(self.chain.forward_kinematics(answer.q), line.T)
        self.solution = answer
        return rate + catch_up

    def _solve_on_line(self, line: LineReference, speed: Array, dt: float) -> Answer:
        return self._line_solver.solve(self._seen_from_base(line.pose_after(speed, dt)), line.q)

    def _eased(
        self, line: LineReference, speed: Array, answer: Answer, catch_up: Array, dt: float
    ) -> Answer:
        """
        Return an answer for which every joint comes to its limit gently, if there is one.

        Where a spare joint ran into its limit the others would have to take over at once.
        """
        gentle = np.empty((2, len(self.q)))
        gentle_bounds(self._joint_limits(), self.q, self._bounds, dt, EASING_SHARE, gentle)
        lower, upper = line.q + (gentle - catch_up) * dt
        if ((lower <= answer.q) & (answer.q <= upper)).all():
            return answer
        pose = self._seen_from_base(line.pose_after(speed, dt))
        eased = self._line_solver.solve_within(pose, line.q, lower, upper)
        return eased if self._is_on_line(eased) else answer

    def _is_on_line(self, answer: Answer) -> bool:
        """Whether an answer meets the tolerances; the solver was asked for much narrower ones."""
        position_tolerance, orientation_tolerance = self._tolerances
        return answer.converged or (
            answer.position_error <= position_tolerance
            and answer.orientation_error <= orientation_tolerance
        )

    def _look_ahead(self, line: LineReference, dt: float) -> None:
        """Slow the reference in time where the line ends or turns hard for a joint."""
        pose, distance = line.pose_ahead(dt)
        if distance == 0.0:
            return
        answer = self._ahead_solver.solve(self._seen_from_base(pose), line.q)
        if not self._is_on_line(answer):
            line.ends_early = answer
            return
        line.heed(answer.q, distance)

    def _look_where_jogged(self, line: LineReference, jog: Jog, dt: float) -> None:
        """Look ahead unless the jog goes on to want what cannot be; say so where it does."""
        if line.ends_early is not None and jog.goes_where_it_is_blocked():
            return
        line.ends_early = None
        self._look_ahead(line, dt)
        self.hindrance = ''
        if line.ends_early is not None and np.any(jog.twists):
            jog.block()
            self.hindrance = _end_of_jog(line.ends_early)

    def _leave_line(self, answer: Answer, dt: float) -> Array:
        """Stop where the reference cannot go on, saying why, or take the way in joint space."""
        self.solution = answer
        if self.is_jogging:
            self.stop(_end_of_jog(answer))
            return self._stopping_velocity(dt)
        if self._can_skip_the_beginning():
            return self._joint_velocity(dt)
        blocked = f'the straight line cannot be followed: {answer.status.value}'
        blocked = _joined(blocked + _limited(answer), ANOTHER_WAY)
        if self.options.allow_reconfiguration and self._find_goal_again():
            assert self._line is not None
            self._go_in_joint_space(self._line.goal)
            return self._joint_velocity(dt)
        self.stop(blocked)
        return self._stopping_velocity(dt)

    def _find_goal_again(self) -> bool:
        """Solve anew for a goal in the world, as the base has moved since that was set."""
        assert self._line is not None
        if not self.is_held_in_world:
            return True
        goal = self._seen_from_base(self._line.goal)
        answer = self._moving_goal_solver.solve(goal, self.q)
        self._goal_q = answer.q
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
            answer = self._skip_solver.solve(pose, self.q)
            self._skips += 1
            if answer.converged:
                self._continues_to, self._joint_goal = line.goal, answer.q
                self.phase = Phase.JOINT
                return True
        return False

    def _joint_velocity(self, dt: float) -> Array:
        """Velocity along the straight way to the goal's joint values, all arriving together."""
        limits = self.limits
        gain = float(np.min(limits.joint_acceleration / limits.joint_velocity))
        error = (self._joint_goal - self.q) / limits.joint_velocity
        # As gently as in front of a limit: else a joint whose goal is near one would slow down
        # ahead of the others, and those would overshoot.
        braking = BRAKING_SHARE * gain
        now, most = self.velocity / limits.joint_velocity, limits.speed_scaling
        speed = approach(error, now, braking, gain, dt, largest, most)
        if largest(error) < LANDED:
            return (self._joint_goal - self.q) / dt
        return speed * limits.joint_velocity

    def _stopping_velocity(self, dt: float) -> Array:
        """Velocity on the way to rest, keeping its direction."""
        effort = float(np.max(np.abs(self.velocity) / self.limits.joint_acceleration))
        if effort == 0.0:
            return self.velocity
        return self.velocity * max(0.0, 1.0 - self._usable(dt) / effort)

    def _catch_up(self, lag: Array, dt: float) -> Array:
        """Velocity that takes up what a joint lags behind its reference, without overshoot."""
        speed = np.empty(len(lag))
        catching_up(self._joint_limits(), lag, dt, CATCH_UP_SHARE, speed)
        return speed

    def _followable_share(self, rate: Array, catch_up: Array) -> float:
        """
        Share of a step along the line, nearest to all of it, that every joint can follow.

        A joint that cannot turn round so soon follows no share: it trails behind and catches up.
        """
        moving = np.abs(rate) > TINY
        if not moving.any():
            return 1.0
        rate, room = rate[moving], catch_up[moving]
        ends = (self._least[moving] - room) / rate, (self._most[moving] - room) / rate
        lowest, highest = np.minimum(*ends), np.maximum(*ends)
        helped = highest >= 0.0
        least, most = lowest[helped].max(initial=0.0), highest[helped].min(initial=math.inf)
        return float(min(max(1.0, least), most))

    def _usable(self, dt: float) -> float:
        """Time over which the velocity may change; unequal steps count for the shorter."""
        usable = min(dt, 0.5 * (dt + self._dt)) if self._dt > 0.0 else dt
        return self._regaining * usable

    def _joint_limits(self) -> Array:
        """Return what limits the joints as the kernels take it, shape (4, n)."""
        limits, chain = self.limits, self.chain
        if limits is not self._packed_limits:
            self._packed_limits = limits
            self._packed = np.array(
                [chain.lower, chain.upper, limits.joint_velocity, limits.joint_acceleration]
            )
        return self._packed

    def _velocity_bounds(self, dt: float) -> Array:
        """Least and greatest velocity each joint may have next, shape (2, n)."""
        bounds = np.empty((2, len(self.q)))
        usable = self._usable(dt)
        velocity_bounds(
            self._joint_limits(), self.q, self.velocity, usable, dt, BRAKING_SHARE, bounds
        )
        return bounds

    def _has_arrived(self) -> bool:
        limiter = self._limiter
        if limiter is not None and not (limiter.is_at_rest and _is_near(limiter.q, self.q)):
            return False
        if self.phase is Phase.STOPPING:
            return not np.any(np.abs(self.velocity) > AT_REST)
        if self.phase is Phase.JOINT:
            return self._is_close(self._joint_goal)
        assert self._line is not None
        base_stands = not (self.is_held_in_world and self.base.moves)
        return base_stands and self._line.is_at_goal() and self._is_close(self._line.q)

    def _is_close(self, q: Array) -> bool:
        return _is_near(self.q, q) and bool(np.max(np.abs(self.velocity)) <= STILL)


def _is_near(q: Array, q_other: Array) -> bool:
    return bool(np.max(np.abs(q - q_other)) <= AT_REST)


def _end_of_jog(answer: Answer) -> str:
    return f'jogged as far as it goes: {answer.status.value}{_limited(answer)}'


def _limited(answer: Answer) -> str:
    return f' ({", ".join(answer.limited_joints)})' if answer.limited_joints else ''


def _joined(*reasons: str) -> str:
    return '; '.join(reason for reason in reasons if reason)


def _masked(T: Array, T_goal: Array) -> Array:
    """Poses `T` (..., 4, 4), NaN for the tips that have no goal."""
    free = is_free(T_goal)
    return np.where(free[..., None, None], T_goal, T) if free.any() else T
