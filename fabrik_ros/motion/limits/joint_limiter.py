"""
The last stage of a motion: it keeps the joints within their limits, whatever is wanted of them.

A motion wants a velocity in every step. The limiter takes the nearest one that the joints may
have: none leaves its limits, is faster or accelerates harder than allowed, and the arm can always
stop in front of limits and collisions. It also tells the stop trajectory that begins with the
last command. In control theory such a stage is a command governor (Garone, Di Cairano and
Kolmanovsky 2017, "Reference and command governors for systems with constraints").

`JerkLimiter` is the same for joints whose jerk is limited.

"""

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ...collision.guard import CollisionGuard
from ...model.mechanism import Mechanism
from ...transforms import Array
from .joint_motion import AT_REST, JointMotion, Joints, SAME_STEP
from .limits import MotionLimits
from .stop_trajectory import StopTrajectory, trajectory_to_rest, WayToRest

OnPath = Callable[[Array, Array, float], WayToRest | None]
ON_CURVE, LONGEST_ON_CURVE = 4.0 / 3.0, 0.5
"""A stop on a curve takes so many times as long as one straight on [1], and no longer than [s]."""
SHORT_STEP = 1e-3
"""Length of the step that compiles what steps need; any other would do [s]."""


class Checkpoint(NamedTuple):
    """State of a limiter between two steps."""

    q: Array
    velocity: Array
    dt: float
    inner_points: Callable[[], StopTrajectory] | None
    to_rest: WayToRest | None
    commands: object = None
    """State of the commands, where a subclass remembers them."""


class RestOfWay(NamedTuple):
    """What is left of a way to rest."""

    left: StopTrajectory
    whole: WayToRest
    lead: float
    """Time from its beginning to the last command [s]."""

    def trajectory(self) -> StopTrajectory:
        """Tell the way from here on."""
        return self.left

    def is_free(self, guard: CollisionGuard, q: Array) -> bool:
        """Whether an arm at joint values `q`, shape (n,), may go on to its end."""
        return self.whole.is_free(guard, q)


class JointLimiter:
    """
    Makes commands of the velocities that a motion wants: here they are the motion itself.

    Each step begins with `begin_step` and ends with `go` or `brake`.

    Parameters
    ----------
    robot : Chain or Tree
        The joints.
    limits : MotionLimits
        How fast things may go.
    guard : CollisionGuard, optional
        Allows only motion that can stop in front of collisions.

    Attributes
    ----------
    robot : Chain or Tree
        The joints.
    joints : JointMotion
        The motion: where it has come to, and what the joints can do next.
    refusal : str
        Which links would have collided in the last step that was wanted; '' if none.

    """

    limits_jerk = False

    def __init__(
        self, robot: Mechanism, limits: MotionLimits, guard: CollisionGuard | None = None
    ) -> None:
        self.robot, self._guard = robot, guard
        self.refusal = ''
        self._asked = self._in_force = limits
        self.joints = JointMotion(robot, limits)
        self.reset(robot.mid_configuration())
        self.change_limits(limits)

    def reset(self, q: Array) -> None:
        """Take the arm to stand still at `q`, shape (n,)."""
        self.joints.reset(q)
        if self._guard is not None:
            self._guard.reset(q)
        self._inner_points: Callable[[], StopTrajectory] | None = None
        """Tells the points inside the last step, where there are any."""
        self._to_rest: WayToRest | None = None
        """How the arm comes to rest; None: all joints together, straight on."""

    def warm_up(self) -> None:
        """Compile what a step needs."""
        self.joints.warm_up(SHORT_STEP)

    @property
    def refused_joints(self) -> npt.NDArray[np.bool_]:
        """Mask of the joints that move what would have collided in the last refused step."""
        guard = self._guard
        return np.zeros(len(self.robot), bool) if guard is None else guard.refused_joints

    # -- the last command

    @property
    def command(self) -> tuple[Array, Array]:
        """Last command and its velocity, each of shape (n,)."""
        return self.joints.q, self.joints.velocity

    @property
    def is_moving(self) -> bool:
        """Whether the last command moves."""
        return any(self.command[1].tolist())

    def rests(self, joints: Joints) -> bool:
        """Whether the last command moves none of some joints."""
        return not np.any(np.abs(self.joints.velocity[joints]) > AT_REST)

    @property
    def is_braking(self) -> bool:
        """Whether the commands are on the way to rest, whatever is wanted."""
        return False

    @property
    def has_caught_up(self) -> bool:
        """Whether the commands have come to where the motion is, and rest if they follow it."""
        return True

    # -- limits

    def change_limits(self, limits: MotionLimits) -> None:
        """Keep to other limits; a lower acceleration counts from when the arm stands still."""
        self._asked = limits
        self._put_in_force()

    def scale_speed(self, share: float) -> None:
        """Go at another share of all speeds, 0 to 1."""
        is_in_force = self._in_force is self._asked
        self._asked = replace(self._asked, speed_scaling=share)
        scaled = replace(self._in_force, speed_scaling=share)
        self._in_force = self._asked if is_in_force else scaled
        self.joints.limits = replace(self.joints.limits, speed_scaling=share)

    def take_up_limits(self) -> bool:
        """Keep to what was asked for before the arm stood still; tell whether there was any."""
        if self._in_force is self._asked or self.is_moving:
            return False
        self._put_in_force()
        return True

    def _put_in_force(self) -> None:
        """Keep to the limits that were asked for, as far as that can be done now."""
        limits = self._asked
        if self.is_moving:
            limits = self._while_moving(limits, self._in_force)
        self._in_force = limits
        self.joints.change_limits(self._for_motion(limits))

    def _while_moving(self, limits: MotionLimits, before: MotionLimits) -> MotionLimits:
        """Limits to keep to until the arm stands still: it may need the old ones to stop."""
        return no_weaker(limits, before)

    def _for_motion(self, limits: MotionLimits) -> MotionLimits:
        """Limits of the internal motion; subclasses tighten them so commands keep `limits`."""
        return limits

    # -- steps

    def begin_step(self, dt: float) -> None:
        """Find what the joints can do in a step of `dt` seconds."""
        self._inner_points = None
        self.joints.begin_step(dt)

    def go(
        self,
        velocity: Array,
        dt: float,
        braking: npt.NDArray[np.bool_] | None = None,
        on_path: OnPath | None = None,
    ) -> bool:
        """
        Take the step that is nearest to a velocity, if the arm can stop after it.

        If it cannot, it has to brake; `refusal` tells whether that is because of a collision.

        Parameters
        ----------
        velocity : array, shape (n,)
            What is wanted [rad/s or m/s].
        dt : float
            Length of the step [s].
        braking : array of bool, shape (n,), optional
            Which joints come to rest as soon as they may, whatever is wanted.
        on_path : callable, optional
            Tells how the arm comes to rest from joint values and velocities after a step.

        """
        self.refusal = ''
        if braking is not None:
            stopping = self.joints.stopping_velocity(dt, braking)
            velocity = np.where(braking, stopping, velocity)
        velocity, q = self.joints.next_state(velocity, dt)
        to_rest = None if on_path is None else on_path(q, velocity, dt)
        if not self._is_free(velocity, q, to_rest):
            return False
        self._move(q, velocity, dt, to_rest)
        return True

    def _move(
        self, q: Array, velocity: Array, dt: float, to_rest: WayToRest | None = None
    ) -> None:
        joints = self.joints
        joints.q, joints.velocity, joints.dt = q, velocity, dt
        self._to_rest = to_rest

    def _is_free(self, velocity: Array, q: Array, to_rest: WayToRest | None) -> bool:
        """Whether a step, and the way to rest from there, are collision-free."""
        guard, joints = self._guard, self.joints
        if guard is None:
            return True
        if to_rest is not None:
            allows = to_rest.is_free(guard, joints.q)
        else:
            limits = joints.limits
            allows = guard.allows(
                joints.q, q, velocity, limits.joint_acceleration, limits.joint_velocity
            )
        self.refusal = '' if allows else guard.refusal
        return allows

    def pair_on_stop(self) -> str:
        """
        Name what comes too near on the way to rest; '' where nothing does.

        That is the way to rest from the last command, which was free before the world changed.
        """
        guard, joints = self._guard, self.joints
        if guard is None or self._is_free(joints.velocity, joints.q, self._to_rest):
            return ''
        return guard.refused_pair

    def stop_straight(self) -> None:
        """Come to rest as fast as the joints may, wherever that leads."""
        self._to_rest = None

    def brake(self, dt: float) -> None:
        """Take a step on the way to rest, which was found collision-free before."""
        joints = self.joints
        if self._to_rest is None:
            velocity, q = joints.next_state(joints.stopping_velocity(dt), dt)
            self._move(q, velocity, dt)
            return
        if abs(dt - joints.dt) > SAME_STEP:
            self._lead_no_more()
        left, q = self._on_way(dt, self._lead)
        self._move(q, (q - joints.q) / dt, dt, RestOfWay(left, self._to_rest, self._lead))

    def _lead_no_more(self) -> None:
        """
        Let the commands be on the way to rest, whose accelerations steps of any length keep.

        Those that lead it keep them only where all steps are equal: their polygon touches the way
        amid each. Its corners are ahead of a way that slows down, so the rest comes later by that.
        """
        assert self._to_rest is not None
        left, q = self._on_way(self._lead, 0.0)
        moved = self._within_limits(left.q + (self.joints.q - q), left.q)
        self._to_rest = RestOfWay(left._replace(q=moved), self._to_rest, 0.0)

    @property
    def _lead(self) -> float:
        """Time from the beginning of the way to rest to the last command [s]."""
        to_rest = self._to_rest
        return to_rest.lead if isinstance(to_rest, RestOfWay) else self.knot_lead(self.joints.dt)

    def _on_way(self, time: float, lead: float) -> tuple[StopTrajectory, Array]:
        """Tell what is left of the way to rest at a time, and the command that leads it [s]."""
        assert self._to_rest is not None
        left = self._to_rest.trajectory().rest_after(time)
        return left, self._within_limits(left.q[0] + lead * left.velocity[0], left.q[0])

    def _within_limits(self, q: Array, inside: Array) -> Array:
        """Joint values within their limits, or no farther outside than others."""
        robot = self.robot
        lower, upper = np.minimum(robot.lower, inside), np.maximum(robot.upper, inside)
        within: Array = np.clip(q, lower, upper)
        return within

    def begin_to_brake(self) -> None:
        """Prepare to come to rest as soon as the limits allow."""

    def come_to_rest(self) -> None:
        """Lose what is left of the velocity, which is next to nothing."""
        self.joints.q = self.command[0]
        self.joints.velocity = np.zeros_like(self.joints.q)
        self._to_rest = None

    def rest(self, dt: float) -> None:
        """Let `dt` seconds pass at rest: the first step after them may be no harder for it."""
        self._inner_points = None
        self.joints.dt = dt

    def halt(self) -> None:
        """Count the arm as at rest at its last command: later ones did not reach it."""
        self.joints.velocity = np.zeros_like(self.joints.q)
        self.joints.dt = 0.0
        self._inner_points = self._to_rest = None

    # -- for trajectory controllers: each message holds the stop that would follow

    def knot_lead(self, dt: float) -> float:
        """
        Time from the last knot of a step of `dt` seconds to its command [s].

        In the middle of the step the arm has the velocity of the step: between the middles of
        steps of equal length the accelerations are constant.
        """
        return 0.5 * dt

    @property
    def longest_stop(self) -> float:
        """Time of a stop from the greatest speeds that the joints may have [s]."""
        limits = self.joints.limits
        straight = float(np.max(limits.joint_velocity / limits.joint_acceleration))
        return max(straight, min(ON_CURVE * straight, LONGEST_ON_CURVE))

    def stop_trajectory(self) -> StopTrajectory:
        """
        Tell the knots of the last step, and the stop trajectory that begins with the last one.

        Times are counted from the last command [s]; the stop begins `knot_lead` before it. The
        acceleration of each joint is constant between the points or, where the jerk is limited,
        the jerk is. All joints stop together, as fast as they may, after a whole number of steps
        like the last.
        """
        stop = self._stop_from_here()
        return stop if self._inner_points is None else self._inner_points().followed_by(stop)

    def _stop_from_here(self) -> StopTrajectory:
        joints, robot = self.joints, self.robot
        if self._to_rest is not None:
            return self._to_rest.trajectory().later(-self._lead)
        half = self.knot_lead(joints.dt)
        return trajectory_to_rest(
            joints.q - half * joints.velocity,
            joints.velocity,
            joints.limits.joint_acceleration,
            robot.lower,
            robot.upper,
            joints.dt,
        ).later(-half)

    def follow_stop(self, duration: float, dt: float) -> None:
        """
        Let the commands follow the stop trajectory for a while, as controllers have done already.

        Parameters
        ----------
        duration : float
            Time to follow it for, a whole number of steps [s].
        dt : float
            Length of a step [s].

        """
        stop, begin = self.stop_trajectory(), -self._lead
        lead = 0.5 * dt
        end = duration - lead
        inner = stop.between(begin, end).later(-duration)
        self._inner_points = lambda: inner
        if self._to_rest is not None:
            left, q = self._on_way(end - begin, lead)
            self._move(q, left.velocity[0], dt, RestOfWay(left, self._to_rest, lead))
        else:
            q, velocity = stop.at(end)
            self._move(self._within_limits(q + lead * velocity, q), velocity, dt)

    def checkpoint(self) -> Checkpoint:
        """Remember the state, to come back to it by `restore`."""
        joints = self.joints
        return Checkpoint(joints.q, joints.velocity, joints.dt, self._inner_points, self._to_rest)

    def restore(self, checkpoint: Checkpoint) -> None:
        """Take back all steps since a checkpoint; none of them was sent."""
        self._move(checkpoint.q, checkpoint.velocity, checkpoint.dt, checkpoint.to_rest)
        self._inner_points = checkpoint.inner_points


def no_weaker(limits: MotionLimits, before: MotionLimits) -> MotionLimits:
    """Limits with which joints, tip and its rotation can brake as hard as they could before."""
    turning = before.tip_acceleration / before.tip_speed * before.tip_rotation
    turning_as_speed = turning / limits.tip_rotation * limits.tip_speed
    return replace(
        limits,
        joint_acceleration=np.maximum(limits.joint_acceleration, before.joint_acceleration),
        tip_acceleration=max(limits.tip_acceleration, before.tip_acceleration, turning_as_speed),
    )
