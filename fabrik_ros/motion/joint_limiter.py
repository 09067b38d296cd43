"""
The last stage of a motion: it keeps the joints within their limits, whatever is wanted of them.

A motion wants a velocity in every step. The governor takes the nearest one that the joints may
have: none leaves its limits, is faster or accelerates harder than allowed, and the arm can always
stop in front of limits and collisions. It also tells the stop trajectory that begins with the
last command. In control theory such a stage is a command governor (Garone, Di Cairano and
Kolmanovsky 2017, "Reference and command governors for systems with constraints").

"""

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ..collision.guard import CollisionGuard
from ..kernels.braking import catching_up, followable_share, gentle_box, take_step, velocity_bounds
from ..model.chain import Chain
from ..model.tree import Tree
from ..transforms import Array
from .jerk_limiter import JerkLimiter, LimiterState, Step
from .line_reference import LANDED, largest, MotionLimits
from .stop_trajectory import Ramp, ramp_to_rest
from .tip_speed import TipSpeed

AT_REST = 1e-9
TINY = 1e-12
MOMENT = 1e-3
CATCH_UP_SHARE = 0.5
# Half, because a step may be several times as long as the one before, and the velocity may change
# only by what their mean allows: then braking takes up to twice the way.
BRAKING_SHARE = 0.5
EASING_SHARE = 0.1


class Checkpoint(NamedTuple):
    """State of a governor between two steps."""

    q: Array
    velocity: Array
    dt: float
    inner_points: Callable[[], Ramp] | None
    limiter: LimiterState | None


class CommandGovernor:
    """
    Makes commands of the velocities that a motion wants.

    Each step begins with `begin_step` and ends with `go` or `brake`. If the jerk is limited, the
    commands follow the motion at a distance, and may be braking while it waits.

    Parameters
    ----------
    arm : Chain or Tree
        The arm, or arms.
    limits : MotionLimits
        How fast things may go.
    guard : CollisionGuard, optional
        Knows what the arm can stop from in front of a collision; it does nothing else then.
    limiter : JerkLimiter, optional
        Makes the commands of the motion; else they are the motion itself.

    Attributes
    ----------
    q : array, shape (n,)
        Where the motion has come to [rad or m].
    velocity : array, shape (n,)
        Its velocity [rad/s or m/s].
    limits : MotionLimits
        What the motion has to keep to now.
    dt : float
        Length of the last step [s]; 0 where there was none just before.
    tip_speed : TipSpeed
        Knows how fast the joints may go for tips and joint centres.
    refusal : str
        Which links would have collided in the last step that was wanted; '' if none.

    """

    def __init__(
        self,
        arm: Chain | Tree,
        limits: MotionLimits,
        guard: CollisionGuard | None = None,
        limiter: JerkLimiter | None = None,
    ) -> None:
        self._arm, self._guard, self._limiter = arm, guard, limiter
        self.tip_speed = TipSpeed(arm)
        self.dt = 0.0
        self.refusal = ''
        self._limits_in_force = self.limits = limits
        self.reset(arm.mid_configuration())
        self.change_limits(limits)

    def reset(self, q: Array) -> None:
        """Take the arm to stand still at `q`, shape (n,)."""
        self.q = np.array(q, dtype=np.float64)
        self.velocity = np.zeros_like(self.q)
        if self._limiter is not None:
            self._limiter.reset(self.q)
        if self._guard is not None:
            self._guard.reset()
        self._inner_points: Callable[[], Ramp] | None = None
        """Tells the points inside the last step, where there are any."""

    def warm_up(self) -> None:
        """Compile what a step needs."""
        mid = self._arm.mid_configuration()
        self._bounds = self._velocity_bounds(MOMENT)
        self.catch_up(mid, MOMENT)
        self.gentle_box(mid, mid, MOMENT)
        self.followable_share(mid, mid)
        self._next(mid, MOMENT)
        self.velocity_towards(self.q + MOMENT, MOMENT)
        self.tip_speed.largest_share(mid, mid)
        self.share_ahead(mid, 1.0, MOMENT)

    # -- state

    @property
    def command(self) -> tuple[Array, Array]:
        """Last command and its velocity, each of shape (n,)."""
        mover = self if self._limiter is None else self._limiter
        return mover.q, mover.velocity

    @property
    def is_moving(self) -> bool:
        """Whether the last command moves."""
        return bool(np.any(self.command[1]))

    @property
    def is_braking(self) -> bool:
        """Whether the commands are on the way to rest, whatever is wanted."""
        return self._limiter is not None and self._limiter.is_braking

    @property
    def has_caught_up(self) -> bool:
        """Whether the commands have come to where the motion is, and rest if they follow it."""
        limiter = self._limiter
        return limiter is None or (limiter.is_at_rest and _is_near(limiter.q, self.q))

    @property
    def is_still(self) -> bool:
        """Whether the motion has come to rest."""
        return not np.any(np.abs(self.velocity) > AT_REST)

    def rests_at(self, q: Array) -> bool:
        """Whether the motion has come to rest at `q`, shape (n,)."""
        return _is_near(self.q, q) and bool(np.max(np.abs(self.velocity)) <= AT_REST)

    # -- limits

    def change_limits(self, limits: MotionLimits) -> None:
        """Keep to other limits; a lower acceleration counts from when the arm stands still."""
        self._asked_limits = limits
        self._take_limits()

    def scale_speed(self, share: float) -> None:
        """Go at another share of all speeds, 0 to 1."""
        has_taken_up = self._limits_in_force is self._asked_limits
        asked = replace(self._asked_limits, speed_scaling=share)
        in_force = replace(self._limits_in_force, speed_scaling=share)
        self._asked_limits, self._limits_in_force = asked, asked if has_taken_up else in_force
        self.limits = replace(self.limits, speed_scaling=share)

    def take_up_limits(self) -> bool:
        """Keep to what was asked for before the arm stood still; tell whether there was any."""
        if self._limits_in_force is self._asked_limits or self.is_moving:
            return False
        self._take_limits()
        return True

    def _take_limits(self) -> None:
        """Keep to the limits that were asked for, as far as that can be done now."""
        limits = self._asked_limits
        if self.is_moving:
            before = self._limits_in_force
            limits = _no_weaker(limits, before)
            if self._limiter is not None:  # which averages over a time that this determines
                limits = replace(limits, joint_acceleration=before.joint_acceleration)
        self._limits_in_force = limits
        self.limits = limits = limits if self._limiter is None else self._limiter.heed(limits)
        self.tip_speed.change_limits(limits)
        arm = self._arm
        self._joint_limits = np.array(
            [arm.lower, arm.upper, limits.joint_velocity, limits.joint_acceleration]
        )
        """As the kernels take them, shape (4, n)."""

    # -- what the joints can do in a step

    def catch_up(self, lag: Array, dt: float) -> Array:
        """Velocity that takes up what a joint lags behind its reference, without overshoot."""
        speed = np.empty(len(lag))
        catching_up(self._joint_limits, lag, dt, CATCH_UP_SHARE, speed)
        return speed

    def velocity_towards(self, q: Array, dt: float) -> Array:
        """Velocity on the straight way to `q`, shape (n,): all joints arrive there together."""
        limits = self.limits
        path = (q - self.q) / limits.joint_velocity
        if largest(path) < LANDED:
            return (q - self.q) / dt
        gain = float(np.min(limits.joint_acceleration / limits.joint_velocity))
        # As gently as in front of a limit: else a joint whose goal is near one would slow down
        # ahead of the others, and those would overshoot.
        deceleration, change = BRAKING_SHARE * gain, gain * self._usable(dt)
        now, lag = self.velocity / limits.joint_velocity, 0.0
        if self._limiter is not None:
            lag = self._limiter.lag
        speed = self.tip_speed.on_joint_path(
            self._joint_limits, self.q, path, now, limits.speed_scaling, change, deceleration, dt,
            lag,
        )  # fmt: skip
        return speed * limits.joint_velocity

    def nearest(self, velocity: Array, dt: float) -> Array:
        """Velocity nearest to one wanted, shape (n,), that the joints may have in the step."""
        return self._next(velocity, dt)[0]

    def share_ahead(self, velocity: Array, scaling: float, dt: float) -> float:
        """Part of a velocity, shape (n,), from which tips and centres can keep scaled limits."""
        limits = self.limits
        effort = max(float(np.max(np.abs(velocity) / limits.joint_acceleration)), TINY)
        return self.tip_speed.share_along(self.q, velocity, scaling, BRAKING_SHARE / effort, dt)

    def stopping_velocity(self, dt: float) -> Array:
        """Velocity on the way to rest, keeping its direction."""
        effort = float(np.max(np.abs(self.velocity) / self.limits.joint_acceleration))
        if effort == 0.0:
            return self.velocity
        return self.velocity * max(0.0, 1.0 - self._usable(dt) / effort)

    def gentle_box(self, q: Array, catch_up: Array, dt: float) -> Array:
        """
        Joint values, shape (2, n), between which every joint comes to its limit gently.

        Parameters
        ----------
        q : array, shape (n,)
            Where the reference of each joint is [rad or m].
        catch_up : array, shape (n,)
            Velocity that comes on top, whatever the reference does [rad/s or m/s].
        dt : float
            Length of the step [s].

        """
        box = np.empty((2, len(q)))
        gentle_box(self._joint_limits, self.q, self._bounds, dt, EASING_SHARE, q, catch_up, box)
        return box

    def followable_share(self, rate: Array, catch_up: Array) -> float:
        """
        Share of a step, nearest to all of it, that every joint can follow.

        A joint that cannot turn round so soon follows no share: it trails behind and catches up.

        Parameters
        ----------
        rate : array, shape (n,)
            Velocity that all of the step asks for [rad/s or m/s].
        catch_up : array, shape (n,)
            Velocity that comes on top, whatever the share.

        """
        return followable_share(self._bounds, rate, catch_up, TINY)

    def _usable(self, dt: float) -> float:
        """Time over which the velocity may change; unequal steps count for the shorter."""
        return min(dt, 0.5 * (dt + self.dt)) if self.dt > 0.0 else dt

    def _velocity_bounds(self, dt: float) -> Array:
        """Least and greatest velocity each joint may have next, shape (2, n)."""
        bounds, usable = np.empty((2, len(self.q))), self._usable(dt)
        velocity_bounds(
            self._joint_limits, self.q, self.velocity, usable, dt, BRAKING_SHARE, bounds
        )
        return bounds

    def _next(self, velocity: Array, dt: float) -> tuple[Array, Array]:
        """Return the velocity nearest to one wanted that the joints may have, and q then."""
        step = np.empty((2, len(self.q)))
        take_step(self._joint_limits, self.q, velocity, self._bounds, dt, step)
        return step[0], step[1]

    # -- steps

    def begin_step(self, dt: float) -> None:
        """Find what the joints can do in a step of `dt` seconds."""
        self._inner_points = None
        self._bounds = self._velocity_bounds(dt)

    def go(self, velocity: Array, dt: float, known_free: bool = False) -> bool:
        """
        Take the step that is nearest to a velocity, if the arm can stop after it.

        If it cannot, it has to brake; `refusal` tells whether that is because of a collision.

        Parameters
        ----------
        velocity : array, shape (n,)
            What is wanted [rad/s or m/s].
        dt : float
            Length of the step [s].
        known_free : bool
            Whether the step is known to be free of collisions, as those on the way to rest are.

        """
        self.refusal = ''
        velocity, q = self._next(velocity, dt)
        if self._limiter is None and not known_free and self._would_collide(velocity, q):
            return False
        self.velocity, self.q = velocity, q
        if self._limiter is not None and not self._follows(self._limiter, dt):
            return False
        self.dt = dt
        return True

    def brake(self, dt: float) -> None:
        """Take a step on the way to rest, which was found free before it was entered."""
        if self._limiter is None:
            self.velocity, self.q = self._next(self.stopping_velocity(dt), dt)
        elif self._limiter.is_braking:
            self._inner_points = self._limiter.brake(dt)
        self.dt = dt

    def begin_to_brake(self) -> None:
        """Let the motion wait where the commands will have come to rest, if they follow it."""
        if self._limiter is not None:
            self.q = self._limiter.begin_to_brake()
            self.velocity = np.zeros_like(self.q)

    def come_to_rest(self) -> None:
        """Lose what is left of the velocity, which is next to nothing."""
        self.q, self.velocity = self.command[0], np.zeros_like(self.q)

    def rest(self, dt: float) -> None:
        """Let `dt` seconds pass at rest: the first step after them may be no harder for it."""
        self._inner_points = None
        self.dt = dt

    def halt(self) -> None:
        """Take the arm to stand still where it was last told to be: commands did not reach it."""
        if self._limiter is not None:
            self.q = self._limiter.q
            self._limiter.reset(self.q)
        self.velocity = np.zeros_like(self.q)
        self.dt = 0.0
        self._inner_points = None

    def _would_collide(self, velocity: Array, q: Array) -> bool:
        """Whether a step, or the way to rest from there, is not safe."""
        guard, limits = self._guard, self.limits
        if guard is None or guard.allows(
            self.q, q, velocity, limits.joint_acceleration, limits.joint_velocity
        ):
            return False
        self.refusal = guard.refusal
        return True

    def _follows(self, limiter: JerkLimiter, dt: float) -> bool:
        """Command a step towards the motion, if the arm can stop after it; else begin to brake."""
        if limiter.is_braking:
            return False
        step = limiter.plan(self.q, dt)
        if step is not None and not self._would_not_rest(limiter, step):
            limiter.take(step)
            self._inner_points = step.passage.points
            return True
        self.begin_to_brake()
        return False

    def _would_not_rest(self, limiter: JerkLimiter, step: Step) -> bool:
        """Whether a step whose jerk is limited, or the way to rest from there, is not safe."""
        guard = self._guard
        if guard is None or guard.allows_to_rest(limiter.q, step.q, step.stop.corners()):
            return False
        self.refusal = guard.refusal
        return True

    # -- the stop trajectory, for controllers that are told it in advance

    def knot_lead(self, dt: float) -> float:
        """
        How long before its command the last knot of a step of `dt` seconds lies [s].

        In the middle of the step the arm has the velocity of the step: between the middles of
        steps of equal length the accelerations are constant. Where the jerk is limited, the
        command itself is the knot.
        """
        return 0.5 * dt if self._limiter is None else 0.0

    @property
    def limits_jerk(self) -> bool:
        """Whether the jerk of the joints is limited."""
        return self._limiter is not None

    @property
    def longest_stop(self) -> float:
        """How long the joints take to stop from the greatest speeds they may have [s]."""
        limits = self.limits
        braking = float(np.max(limits.joint_velocity / limits.joint_acceleration))
        if self._limiter is None:
            return braking
        return braking + 2.0 * float(np.max(limits.joint_acceleration)) / self._limiter.jerk

    def ramp(self) -> Ramp:
        """
        Tell the knots of the last step, and the stop trajectory that begins with the last one.

        Times are counted from the last command [s]; the stop begins `knot_lead` before it. The
        acceleration of each joint is constant between the points or, where the jerk is limited,
        the jerk is. All joints stop together, as fast as they may, after a whole number of steps
        like the last.
        """
        limits, arm = self.limits, self._arm
        if self._limiter is None:
            half = self.knot_lead(self.dt)
            q, velocity = self.q - half * self.velocity, self.velocity
            ramp = ramp_to_rest(
                q, velocity, limits.joint_acceleration, arm.lower, arm.upper, self.dt
            ).later(-half)
        else:
            ramp = self._limiter.ramp()
        return ramp if self._inner_points is None else self._inner_points().followed_by(ramp)

    def follow_ramp(self, duration: float, dt: float) -> None:
        """
        Let the commands follow the stop trajectory for a while, as controllers have done already.

        Parameters
        ----------
        duration : float
            For how long, a whole number of steps [s].
        dt : float
            Length of a step [s].

        """
        if self._limiter is not None:
            self.begin_to_brake()
            self._inner_points = self._limiter.brake(duration) if self.is_braking else None
            self.dt = dt
            return
        ramp, begin, end = self.ramp(), -self.knot_lead(self.dt), duration - 0.5 * dt
        q, self.velocity = ramp.at(end)
        inner = ramp.between(begin, end).later(-duration)
        self._inner_points = lambda: inner
        lower, upper = np.minimum(self._arm.lower, q), np.maximum(self._arm.upper, q)
        self.q = np.clip(q + 0.5 * dt * self.velocity, lower, upper)
        self.dt = dt

    def checkpoint(self) -> Checkpoint:
        """Remember the state, to come back to it by `restore`."""
        limiter = None if self._limiter is None else self._limiter.checkpoint()
        return Checkpoint(self.q, self.velocity, self.dt, self._inner_points, limiter)

    def restore(self, checkpoint: Checkpoint) -> None:
        """Take back all steps since a checkpoint: nobody was told of them."""
        self.q, self.velocity, self.dt, self._inner_points, limiter = checkpoint
        if self._limiter is not None and limiter is not None:
            self._limiter.restore(limiter)


def _no_weaker(limits: MotionLimits, before: MotionLimits) -> MotionLimits:
    """Limits with which joints, tip and its rotation can brake as hard as they could before."""
    turning = before.tip_acceleration / before.tip_speed * before.tip_rotation
    turning_as_speed = turning / limits.tip_rotation * limits.tip_speed
    return replace(
        limits,
        joint_acceleration=np.maximum(limits.joint_acceleration, before.joint_acceleration),
        tip_acceleration=max(limits.tip_acceleration, before.tip_acceleration, turning_as_speed),
    )


def _is_near(q: Array, q_other: Array) -> bool:
    return bool(np.max(np.abs(q - q_other)) <= AT_REST)
