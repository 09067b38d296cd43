"""
From goals to a stream of joint commands that an arm can follow.

A reference travels from where the tip is to the goal: in a straight line with the shortest
rotation (`path: line`), or straight in joint space (`path: joint`). Every step solves for the
reference from the last command, so the arm keeps its configuration. Whatever the reference
does, no command leaves the joint limits, and none is faster or accelerates harder than allowed.

"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import Enum
import math
from typing import Any

import numpy as np

from .robot import Chain
from .solver import FabrikSolver, Solution, SolverOptions
from .transforms import Array, rotation_from_vector, rotation_vector, transform

FOLLOWING_MOVE = 0.5
LOOKING_MOVE = 1.5
LANDED = 1e-6
AT_REST = 1e-9
MOMENT = 1e-3
ON_LINE = 1e-9
TINY = 1e-12
LOOKAHEAD = 0.75
LOOKAHEAD_STEPS = 2.0
CATCH_UP_SHARE = 0.5
BENDING_SHARE = 0.5
SPEEDING_SHARE = 0.5
BRAKING_SHARE = 0.9


class Phase(Enum):
    """What the motion is doing."""

    RESTING = 'resting'
    LINE = 'line'
    JOINT = 'joint'
    STOPPING = 'stopping'


@dataclass(frozen=True, eq=False)
class MotionLimits:
    """How fast things may go."""

    tip_speed: float
    """[m/s]."""
    tip_rotation: float
    """[rad/s]."""
    tip_acceleration: float
    """[m/s^2]; the tip's rotation gains its full speed in the same time."""
    joint_velocity: Array
    """Shape (n,) [rad/s or m/s]."""
    joint_acceleration: Array
    """Shape (n,) [rad/s^2 or m/s^2]."""


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
        self._line: _Line | None = None
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
        self._line_solver = FabrikSolver(
            self.chain, replace(on_line, max_joint_move=FOLLOWING_MOVE)
        )
        self._ahead_solver = FabrikSolver(
            self.chain, replace(on_line, max_joint_move=LOOKING_MOVE)
        )
        if self._line is not None:
            self._line.change_limits(limits)

    def warm_up(self) -> None:
        """Compile what the solvers need."""
        self._goal_solver.warm_up()
        self._line_solver.warm_up()

    def reset(self, q: Array) -> None:
        """Take the arm to stand still at `q`, shape (n,), and forget the goal."""
        self.q = np.array(q, dtype=np.float64)
        self.velocity = np.zeros_like(self.q)
        self.phase = Phase.RESTING
        self.hindrance = ''
        self.solution: Solution | None = None
        self.goal_solution: Solution | None = None
        self._dt = 0.0
        self._goal_q = self.q
        self._line = None

    def aim(self, T_base_goal: Array) -> bool:
        """
        Set a new goal, T_base_tip of shape (4, 4); tell whether the arm will move towards it.

        Where the goal cannot be reached, `hindrance` says why, and the arm goes to the closest
        configuration or stays, by option.
        """
        answer = self._goal_solver.solve(T_base_goal, seed=self.q)
        self.solution = self.goal_solution = answer
        self.hindrance = '' if answer.converged else answer.status.value
        if not answer.converged:
            if not self.options.approach_unreachable:
                self.stop(self.hindrance)
                return False
            T_base_goal = self.chain.forward_kinematics(answer.q)
        self._goal_q = answer.q
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
            self.phase = Phase.RESTING
            self.velocity = np.zeros_like(self.q)

    def _go_in_a_line(self, T_base_goal: Array) -> None:
        if self.phase is not Phase.LINE or self._line is None:
            start = np.minimum(np.maximum(self.q, self.chain.lower), self.chain.upper)
            T = self.chain.forward_kinematics(start)
            T_before = self.chain.forward_kinematics(start - self.velocity * MOMENT)
            self._line = _Line(T, T_before, start, self.limits)
        self._line.goal = T_base_goal
        self._line.ends_early = None
        self.phase = Phase.LINE

    def _go_in_joint_space(self) -> None:
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

    def _solve_on_line(self, line: '_Line', speed: Array, dt: float) -> Solution:
        return self._line_solver.solve(line.pose_after(speed, dt), seed=line.q)

    def _is_on_line(self, answer: Solution) -> bool:
        position_tolerance, orientation_tolerance = self._tolerances
        return answer.converged or (
            answer.position_error <= position_tolerance
            and answer.orientation_error <= orientation_tolerance
        )

    def _look_ahead(self, line: '_Line', dt: float) -> None:
        """Slow the reference in time where the line ends or turns hard for a joint."""
        pose, distance = line.pose_ahead(dt)
        if distance == 0.0:
            return
        answer = self._ahead_solver.solve(pose, seed=line.q)
        if not self._is_on_line(answer):
            line.ends_early = answer
            return
        rate = (answer.q - line.q) / distance
        bend = np.abs(rate - line.rate) / (0.5 * distance)
        fastest, strength = self.limits.joint_velocity, self.limits.joint_acceleration
        highest = np.maximum(np.maximum(np.abs(rate), np.abs(line.rate)), TINY)
        line.gain = min(line.full_gain, SPEEDING_SHARE * float(np.min(strength / highest)))
        line.brake = min(
            line.full_gain,
            BRAKING_SHARE * float(np.min(strength / np.maximum(np.abs(line.rate), TINY))),
        )
        bend_room = BENDING_SHARE * strength / np.maximum(bend, TINY)
        line.cap = float(min(1.0, np.min(fastest / highest), math.sqrt(np.min(bend_room))))

    def _leave_line(self, answer: Solution, dt: float) -> Array:
        """Stop where the reference cannot go on, saying why, or take the way in joint space."""
        self.solution = answer
        blocked = f'the straight line cannot be followed: {answer.status.value}'
        if answer.limited_joints:
            blocked += f' ({", ".join(answer.limited_joints)})'
        if self.options.allow_reconfiguration:
            self._go_in_joint_space()
            return self._joint_velocity(dt)
        self.stop(blocked)
        return self._stopping_velocity(dt)

    def _joint_velocity(self, dt: float) -> Array:
        """Velocity along the straight way to the goal's joint values, all arriving together."""
        limits = self.limits
        gain = float(np.min(limits.joint_acceleration / limits.joint_velocity))
        error = (self._goal_q - self.q) / limits.joint_velocity
        speed = _approach(error, self.velocity / limits.joint_velocity, gain, gain, dt, _largest)
        if _largest(error) < LANDED:
            return (self._goal_q - self.q) / dt
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
        speed: Array = np.sign(lag) * _braking_speed(np.abs(lag), strength, dt)
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
        up = _braking_speed(np.maximum(chain.upper - self.q, 0.0), strength, dt)
        down = _braking_speed(np.maximum(self.q - chain.lower, 0.0), strength, dt)
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
            return bool(np.array_equal(self.q, self._goal_q) or self._is_close(self._goal_q))
        assert self._line is not None
        return self._line.is_at_goal() and self._is_close(self._line.q)

    def _is_close(self, q: Array) -> bool:
        return bool(np.max(np.abs(self.q - q)) <= AT_REST and np.max(np.abs(self.velocity)) < 1e-3)


class _Line:
    """
    The reference on its way to the goal.

    Speeds are six numbers, translation and rotation, each as a share of the greatest speed:
    a distance is then the time it takes at full speed [s].
    """

    def __init__(self, T: Array, T_before: Array, q: Array, limits: MotionLimits) -> None:
        self._limits = limits
        self.full_gain = limits.tip_acceleration / limits.tip_speed
        """Change of speed [1/s] that the tip is allowed."""
        self.gain = self.full_gain
        """Change of speed [1/s] that the joints can follow, with a margin."""
        self.brake = self.full_gain
        """Change of speed [1/s] that the joints can follow when they must."""
        self.T = T
        self.goal = T
        self.q = q
        self.rate = np.zeros_like(q)
        """Joint velocity at full speed, as of the last step."""
        self.cap = 1.0
        """Share of the full speed that the joints can follow."""
        self.ends_early: Solution | None = None
        """The answer that showed the line to end before the goal."""
        self.speed = self._way(T_before, T) / MOMENT

    def change_limits(self, limits: MotionLimits) -> None:
        """Go on at the same pace under other limits."""
        self.speed[:3] *= self._limits.tip_speed / limits.tip_speed
        self.speed[3:] *= self._limits.tip_rotation / limits.tip_rotation
        self._limits = limits
        self.gain = self.brake = self.full_gain = limits.tip_acceleration / limits.tip_speed

    def _way(self, T: Array, T_to: Array) -> Array:
        way = np.empty(6)
        way[:3] = (T_to[:3, 3] - T[:3, 3]) / self._limits.tip_speed
        way[3:] = rotation_vector(T_to[:3, :3] @ T[:3, :3].T) / self._limits.tip_rotation
        return way

    def _moved(self, way: Array) -> Array:
        R = rotation_from_vector(way[3:] * self._limits.tip_rotation) @ self.T[:3, :3]
        return transform(R, self.T[:3, 3] + way[:3] * self._limits.tip_speed)

    def pose_after(self, speed: Array, dt: float) -> Array:
        """Pose (4, 4) after `dt` at `speed`; the goal itself where that is as good as reached."""
        way = self._way(self.T, self.goal)
        if _length(way - speed * dt) < LANDED:
            return self.goal
        return self._moved(speed * dt)

    def pose_ahead(self, dt: float) -> tuple[Array, float]:
        """Return a pose that the reference passes even if it brakes, and how far it is."""
        way = self._way(self.T, self.goal)
        length = _length(way)
        speed = min(_length(self.speed) + self.gain * dt, 1.0)
        ahead = min(length, LOOKAHEAD * speed * speed / self.brake + LOOKAHEAD_STEPS * speed * dt)
        if length == 0.0 or ahead == 0.0:
            return self.goal, 0.0
        return self._moved(way * (ahead / length)), ahead

    def next_speed(self, dt: float) -> Array:
        """Speed for the next step towards the goal, or to rest where the line ends early."""
        now, change = _length(self.speed), self.full_gain * dt
        if self.ends_early is not None:
            return self.speed * max(0.0, 1.0 - change / now) if now > 0.0 else self.speed
        way = self._way(self.T, self.goal)
        speed = _approach(way, self.speed, self.gain, self.full_gain, dt, _length)
        size = _length(speed)
        most = max(self.cap, now - change)
        return speed * (most / size) if size > most else speed

    def shortened(self, speed: Array, dt: float) -> Array:
        """Speed that neither exceeds the greatest nor passes the goal within the step."""
        size, way = _length(speed), _length(self._way(self.T, self.goal))
        most = min(1.0, way / dt)
        return speed * (most / size) if size > most else speed

    def advance(self, speed: Array, dt: float, q: Array) -> None:
        """Take a step; `q` are the joint values for the pose it leads to."""
        self.T = self.pose_after(speed, dt)
        size = _length(speed)
        if size > 0.0:
            self.rate = (q - self.q) / (size * dt)
        self.speed = speed
        self.q = q

    def is_at_goal(self) -> bool:
        """Whether the reference has arrived."""
        return self.T is self.goal


def _length(speed: Array) -> float:
    """Size of a speed: the larger of its translation and its rotation."""
    linear = math.sqrt(speed[0] ** 2 + speed[1] ** 2 + speed[2] ** 2)
    return max(linear, math.sqrt(speed[3] ** 2 + speed[4] ** 2 + speed[5] ** 2))


def _largest(speed: Array) -> float:
    return float(np.max(np.abs(speed)))


def _approach(
    way: Array,
    speed: Array,
    braking: float,
    gain: float,
    dt: float,
    size: Callable[[Array], float],
) -> Array:
    """
    Next speed on the way to a point `way` ahead, at most 1, changing by at most `gain` [1/s].

    Slow enough to stop there with `braking` [1/s]. From rest the way is straight; from a speed
    that points elsewhere it bends smoothly.
    """
    distance = size(way)
    wanted = np.zeros_like(way)
    if distance > 0.0:
        wanted = way * (min(1.0, float(_braking_speed(distance, braking, dt))) / distance)
    change = wanted - speed
    excess = size(change) / (gain * dt)
    return speed + change / max(1.0, excess)


def _braking_speed(distance: Any, strength: Any, dt: float) -> Any:
    """
    Greatest speed for the next step from which one can still stop within `distance`.

    Solves speed dt + speed^2 / (2 strength) = distance.
    """
    gained = strength * dt
    return np.sqrt(gained * gained + 2.0 * strength * distance) - gained
