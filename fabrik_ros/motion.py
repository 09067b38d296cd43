"""
From goals to a stream of joint commands that an arm can follow.

A reference travels from where the tip is to the goal: in a straight line with the shortest
rotation (`path: line`), or straight in joint space (`path: joint`). Every step solves for the
reference from the last command, so the arm keeps its configuration. Whatever the reference
does, no command leaves the joint limits, and none is faster or accelerates harder than allowed.

"""

from dataclasses import dataclass, replace
from enum import Enum

import numpy as np

from .chain import Chain
from .options import SolverOptions
from .reference import (
    approach,
    braking_speed,
    LANDED,
    largest,
    LineReference,
    MotionLimits,
)
from .solution import Solution
from .solver import FabrikSolver
from .transforms import Array

# A search for a new goal must not keep a moving arm waiting for its next command [s].
MOVING_BUDGET = 0.004
FOLLOWING_MOVE = 0.5
LOOKING_MOVE = 1.5
SKIPPED = (0.1, 0.2, 0.4, 0.8, 1.6)
RETRIES = 20
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
    Moves one arm.

    Parameters
    ----------
    chain : Chain
        The arm.
    limits : MotionLimits
        How fast things may go.
    solver_options : SolverOptions
        Mode, tolerances and budget.
    options : MotionOptions
        How goals are pursued.

    Attributes
    ----------
    q : array, shape (n,)
        The last command [rad or m].
    velocity : array, shape (n,)
        Its velocity [rad/s or m/s].
    phase : Phase
        What the motion is doing.
    hindrance : str
        Why the arm rests short of the goal; '' when nothing hinders it.
    solution : Solution or None
        The newest answer of the solver.
    goal_solution : Solution or None
        The answer for the goal itself, when it was set.

    """

    def __init__(
        self,
        chain: Chain,
        limits: MotionLimits,
        solver_options: SolverOptions,
        options: MotionOptions,
    ) -> None:
        self.chain = chain
        self._line: LineReference | None = None
        self.change(limits, solver_options, options)
        self.reset(chain.mid_configuration())

    def change(
        self, limits: MotionLimits, solver_options: SolverOptions, options: MotionOptions
    ) -> None:
        """Go on with other limits and options."""
        self.limits = limits
        self.options = options
        self._tolerances = solver_options.position_tolerance, solver_options.orientation_tolerance
        on_line = replace(
            solver_options,
            position_tolerance=min(ON_LINE, solver_options.position_tolerance),
            orientation_tolerance=min(ON_LINE, solver_options.orientation_tolerance),
            max_restarts=0,
        )
        self._goal_solver = FabrikSolver(self.chain, solver_options)
        budget = min(MOVING_BUDGET, solver_options.budget)
        self._moving_goal_solver = FabrikSolver(self.chain, replace(solver_options, budget=budget))
        self._line_solver = FabrikSolver(
            self.chain, replace(on_line, max_joint_move=FOLLOWING_MOVE)
        )
        self._ahead_solver = FabrikSolver(
            self.chain, replace(on_line, max_joint_move=LOOKING_MOVE)
        )
        self._skip_solver = FabrikSolver(
            self.chain, replace(solver_options, max_joint_move=LOOKING_MOVE, max_restarts=RETRIES)
        )
        if self._line is not None:
            self._line.change_limits(limits)

    def warm_up(self) -> None:
        """Compile what the solvers need."""
        self._goal_solver.warm_up()
        self._line_solver.warm_up()
        self.chain.points(self.chain.mid_configuration())

    def reset(self, q: Array) -> None:
        """Take the arm to stand still at `q`, shape (n,), and forget the goal."""
        self.q = np.array(q, dtype=np.float64)
        self.velocity = np.zeros_like(self.q)
        self.phase = Phase.RESTING
        self.hindrance = ''
        self.solution: Solution | None = None
        self.goal_solution: Solution | None = None
        self._dt = 0.0
        self._goal_q = self._joint_goal = self.q
        self._continues_to: Array | None = None
        self._skips = 0
        self._line = None

    def aim(self, T_base_goal: Array) -> bool:
        """
        Set a new goal, T_base_tip of shape (4, 4); tell whether the arm will move towards it.

        Where the goal cannot be reached, `hindrance` says why, and the arm goes to the closest
        configuration or stays, by option.
        """
        resting = self.phase is Phase.RESTING
        solver = self._goal_solver if resting else self._moving_goal_solver
        answer = solver.solve(T_base_goal, seed=self.q)
        self.solution = self.goal_solution = answer
        self.hindrance = '' if answer.converged else answer.status.value
        if not answer.converged:
            if not self.options.approach_unreachable:
                self.stop(self.hindrance)
                return False
            T_base_goal = self.chain.forward_kinematics(answer.q)
        self._goal_q = answer.q
        self._continues_to = None
        self._skips = 0
        if self.options.path == 'line':
            self._go_in_a_line(T_base_goal)
        else:
            self._go_in_joint_space()
        return True

    def stop(self, reason: str) -> None:
        """Slow down to rest as fast as the joints may, for a reason."""
        self.hindrance = reason
        self.phase = Phase.STOPPING if np.any(self.velocity) else Phase.RESTING

    def halt(self) -> None:
        """Take the arm to stand still where it was last told to be: commands did not reach it."""
        self.velocity = np.zeros_like(self.q)
        self._dt = 0.0
        if self._line is not None:
            self._line.speed = np.zeros(6)

    def step(self, dt: float) -> None:
        """Move on by `dt` seconds: writes `q`, `velocity` and `phase`."""
        self._least, self._most = self._velocity_bounds(dt)
        if self.phase is Phase.LINE:
            velocity = self._line_velocity(dt)
        elif self.phase is Phase.JOINT:
            velocity = self._joint_velocity(dt)
        else:
            velocity = self._stopping_velocity(dt)
        self.velocity = np.minimum(np.maximum(velocity, self._least), self._most)
        before = self.q
        self.q = self._inside_limits(before + self.velocity * dt, before)
        self._dt = dt
        if self.phase is not Phase.RESTING and self._has_arrived():
            self._come_to_rest()

    def _come_to_rest(self) -> None:
        goal, self._continues_to = self._continues_to, None
        half_way = self.phase is Phase.JOINT and goal is not None
        self.phase = Phase.RESTING
        self.velocity = np.zeros_like(self.q)
        if half_way and goal is not None:
            self._go_in_a_line(goal)

    def _go_in_a_line(self, T_base_goal: Array) -> None:
        if self.phase is not Phase.LINE or self._line is None:
            start = np.minimum(np.maximum(self.q, self.chain.lower), self.chain.upper)
            T = self.chain.forward_kinematics(start)
            T_before = self.chain.forward_kinematics(start - self.velocity * MOMENT)
            self._line = LineReference(T, start, self.limits)
            self._line.take_speed(T_before, MOMENT)
        self._line.goal = T_base_goal
        self._line.ends_early = None
        self.phase = Phase.LINE

    def _go_in_joint_space(self) -> None:
        self._joint_goal = self._goal_q
        self.phase = Phase.JOINT

    def _line_velocity(self, dt: float) -> Array:
        """Joint velocity that keeps the tip on the line, as far along as the joints can follow."""
        line = self._line
        assert line is not None
        lag = line.q - self.q
        catch_up = self._catch_up(lag, dt)
        if line.ends_early is None:
            self._look_ahead(line, dt)
        speed = line.next_speed(dt)
        if line.ends_early is not None and not np.any(speed):
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
        self.solution = answer
        return rate + catch_up

    def _solve_on_line(self, line: LineReference, speed: Array, dt: float) -> Solution:
        return self._line_solver.solve(line.pose_after(speed, dt), seed=line.q)

    def _eased(
        self, line: LineReference, speed: Array, answer: Solution, catch_up: Array, dt: float
    ) -> Solution:
        """
        Return an answer for which every joint comes to its limit gently, if there is one.

        Where a spare joint ran into its limit the others would have to take over at once.
        """
        chain, strength = self.chain, EASING_SHARE * self.limits.joint_acceleration
        up = braking_speed(np.maximum(chain.upper - self.q, 0.0), strength, dt)
        down = braking_speed(np.maximum(self.q - chain.lower, 0.0), strength, dt)
        least = np.minimum(np.maximum(self._least, -down), self._most)
        most = np.maximum(np.minimum(self._most, up), self._least)
        lower, upper = line.q + (least - catch_up) * dt, line.q + (most - catch_up) * dt
        if np.all((lower <= answer.q) & (answer.q <= upper)):
            return answer
        pose = line.pose_after(speed, dt)
        eased = self._line_solver.solve_within(pose, line.q, lower, upper)
        return eased if self._is_on_line(eased) else answer

    def _is_on_line(self, answer: Solution) -> bool:
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
        answer = self._ahead_solver.solve(pose, seed=line.q)
        if not self._is_on_line(answer):
            line.ends_early = answer
            return
        line.heed(answer.q, distance)

    def _leave_line(self, answer: Solution, dt: float) -> Array:
        """Stop where the reference cannot go on, saying why, or take the way in joint space."""
        self.solution = answer
        if self._can_skip_the_beginning():
            return self._joint_velocity(dt)
        blocked = f'the straight line cannot be followed: {answer.status.value}'
        if answer.limited_joints:
            blocked += f' ({", ".join(answer.limited_joints)})'
        blocked += '; another way: path joint, or allow_reconfiguration'
        if self.options.allow_reconfiguration:
            self._go_in_joint_space()
            return self._joint_velocity(dt)
        self.stop(blocked)
        return self._stopping_velocity(dt)

    def _can_skip_the_beginning(self) -> bool:
        """
        Set out for a point farther along the line, where the line cannot be followed at once.

        No straight line leaves a stretched arm, or one with its wrist in line, as arms stand
        when they are switched on. Their configurations meet there, so none is left by this.
        """
        line = self._line
        assert line is not None
        while not line.has_left and self._skips < len(SKIPPED):
            answer = self._skip_solver.solve(line.pose_at(SKIPPED[self._skips]), seed=self.q)
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
        speed = approach(error, self.velocity / limits.joint_velocity, braking, gain, dt, largest)
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
        strength = CATCH_UP_SHARE * self.limits.joint_acceleration
        speed: Array = np.sign(lag) * braking_speed(np.abs(lag), strength, dt)
        return speed

    def _followable_share(self, rate: Array, catch_up: Array) -> float:
        """Share of a step along the line, nearest to all of it, that every joint can follow."""
        moving = np.abs(rate) > TINY
        if not moving.any():
            return 1.0
        rate, room = rate[moving], catch_up[moving]
        ends = (self._least[moving] - room) / rate, (self._most[moving] - room) / rate
        least, most = np.minimum(*ends).max(), np.maximum(*ends).min()
        return float(max(0.0, min(max(1.0, least), most)))

    def _usable(self, dt: float) -> float:
        """Time over which the velocity may change; unequal steps count for the shorter."""
        return min(dt, 0.5 * (dt + self._dt)) if self._dt > 0.0 else dt

    def _velocity_bounds(self, dt: float) -> tuple[Array, Array]:
        """Velocities each joint may have next: by speed, by acceleration, and to stop in time."""
        limits, chain = self.limits, self.chain
        change = limits.joint_acceleration * self._usable(dt)
        strength = BRAKING_SHARE * limits.joint_acceleration
        up = braking_speed(np.maximum(chain.upper - self.q, 0.0), strength, dt)
        down = braking_speed(np.maximum(self.q - chain.lower, 0.0), strength, dt)
        fastest = np.maximum(limits.joint_velocity, np.abs(self.velocity) - change)
        least = np.maximum(np.maximum(-fastest, self.velocity - change), -down)
        most = np.minimum(np.minimum(fastest, self.velocity + change), up)
        return np.minimum(least, most), np.maximum(least, most)

    def _inside_limits(self, q: Array, before: Array) -> Array:
        """Clip to the limits; a joint that was outside may come in but not go out."""
        lower = np.minimum(self.chain.lower, before)
        upper = np.maximum(self.chain.upper, before)
        return np.minimum(np.maximum(q, lower), upper)

    def _has_arrived(self) -> bool:
        if self.phase is Phase.STOPPING:
            return not np.any(np.abs(self.velocity) > AT_REST)
        if self.phase is Phase.JOINT:
            return self._is_close(self._joint_goal)
        assert self._line is not None
        return self._line.is_at_goal() and self._is_close(self._line.q)

    def _is_close(self, q: Array) -> bool:
        return bool(
            np.max(np.abs(self.q - q)) <= AT_REST and np.max(np.abs(self.velocity)) <= STILL
        )
