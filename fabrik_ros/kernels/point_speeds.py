"""How fast joint centres and tips go, and with what share of the joint velocities they may."""

import math

from ..transforms import Array
from ._jit import kernel
from .arm_table import FRAME, IS_PRISMATIC, MULTIPLIER, POSITION, SOURCE
from .braking import MAX_VELOCITY, stopping_speed
from .frames import compose, copy
from .kinematics import joint_value, move_joint
from .tree_model import PARENT

TINY = 1e-12
SAMPLES = 12
"""Number of points on the path where speeds are checked; they are denser near the start."""
SAMPLES_BEHIND = 3
"""Places between a command that lags behind the motion and the motion."""
STRAIGHT = 1e-6
"""Difference of directions, as a share, below which a path goes straight on."""
EASING_SHARE = 0.5
"""
Part of a gain in speed that a step takes where commands lag: they fall behind while the motion
accelerates, and would be faster than it for a moment where it ended at once.
"""
SPEED, TURNING = range(2)
"""Numbers of the limits: of centres and tips [m/s], of the rotation of tips [rad/s]."""


@kernel
def point_speeds(
    model: Array, q: Array, velocity: Array, frames: Array, twists: Array
) -> tuple[float, float]:
    """
    Return the speed of the fastest joint centre or tip, and of the tip that turns fastest.

    Parameters
    ----------
    model : array, shape (m + k, 18)
        See `tree_model.py`.
    q, velocity : array, shape (n,)
        Joint values and velocities.
    frames : array, shape (m + k, 12)
        Written over.
    twists : array, shape (m + k, 6)
        Written over: angular and linear velocity of each frame.

    Returns
    -------
    speed, turning : float
        [m/s], [rad/s].

    """
    fastest = turning = 0.0
    for i in range(model.shape[0]):
        frame, twist, parent = frames[i], twists[i], int(model[i, PARENT])
        if parent < 0:
            copy(model[i, :FRAME], frame)
        else:
            compose(frames[parent], model[i], frame)
        is_joint = model[i, SOURCE] >= 0.0
        if is_joint:
            move_joint(model[i], joint_value(model[i], q), frame)
        _carry_twist(frames, twists, parent, frame, twist)
        if is_joint:
            rate = model[i, MULTIPLIER] * velocity[int(model[i, SOURCE])]
            first = 3 if model[i, IS_PRISMATIC] != 0.0 else 0
            for k in range(3):
                twist[first + k] += rate * frame[3 * k + 2]
        else:
            turning = max(turning, twist[0] ** 2 + twist[1] ** 2 + twist[2] ** 2)
        fastest = max(fastest, twist[3] ** 2 + twist[4] ** 2 + twist[5] ** 2)
    return math.sqrt(fastest), math.sqrt(turning)


@kernel
def _carry_twist(frames: Array, twists: Array, parent: int, frame: Array, twist: Array) -> None:
    """Write how a frame moves that is fixed to the one of a parent; the base stands."""
    if parent < 0:
        for k in range(6):
            twist[k] = 0.0
        return
    above, wx, wy, wz = twists[parent], twists[parent, 0], twists[parent, 1], twists[parent, 2]
    x = frame[POSITION] - frames[parent, POSITION]
    y = frame[POSITION + 1] - frames[parent, POSITION + 1]
    z = frame[POSITION + 2] - frames[parent, POSITION + 2]
    twist[0], twist[1], twist[2] = wx, wy, wz
    twist[3] = above[3] + wy * z - wz * y
    twist[4] = above[4] + wz * x - wx * z
    twist[5] = above[5] + wx * y - wy * x


@kernel
def largest_share(
    model: Array, most: Array, q: Array, velocity: Array, frames: Array, twists: Array
) -> float:
    """Return the part of a velocity, shape (n,), at which centres and tips reach a limit."""
    speed, turning = point_speeds(model, q, velocity, frames, twists)
    straight, round_about = most[SPEED] / max(speed, TINY), most[TURNING] / max(turning, TINY)
    return float(min(straight, round_about))


@kernel
def share_along(
    model: Array, most: Array, q: Array, velocity: Array, length: float, share: float,
    deceleration: float, dt: float, lag: float, frames: Array, twists: Array, q_there: Array,
) -> float:  # fmt: skip
    """
    Return the share of a velocity at which an arm may go on straight in joint space.

    It can brake to the share that the points are allowed wherever it comes later.

    Parameters
    ----------
    model, frames, twists : array
        As for `point_speeds`.
    most : array, shape (2,)
        Limits of the points; see above.
    q, velocity : array, shape (n,)
        Where the path begins, and the whole of the velocity on it.
    length : float
        Of the path, in the time it takes with that velocity [s].
    share : float
        Greatest share that is asked for.
    deceleration : float
        Of the share [1/s].
    dt, lag : float
        Length of the step, and time by which commands lag behind the motion [s].
    q_there : array, shape (n,)
        Written over.

    """
    behind = share * lag
    ahead = share * (0.5 * share / deceleration + 2.0 * dt) + behind
    ahead = min(ahead, length)
    lost = deceleration * dt
    first = -SAMPLES_BEHIND if lag > 0.0 else 0
    allowed = share
    for s in range(first, SAMPLES + 1):
        part = s / SAMPLES
        distance = ahead * part * part if s >= 0 else behind * s / SAMPLES_BEHIND
        for j in range(q.shape[0]):
            q_there[j] = q[j] + distance * velocity[j]
        there = largest_share(model, most, q_there, velocity, frames, twists)
        if there < allowed:
            room = 2.0 * deceleration * max(distance - behind, 0.0)
            braked = math.sqrt(lost * lost + there * there + room) - lost
            allowed = min(allowed, max(there, braked))
    return allowed


@kernel
def _largest(values: Array) -> float:
    """Return the largest of values, shape (n,), whatever their sign."""
    largest = 0.0
    for j in range(values.shape[0]):
        largest = max(largest, abs(values[j]))
    return largest


@kernel
def _change_towards(now: Array, wanted: Array, change: float) -> None:
    """Limit the change from the present to the wanted speed, shape (n,), in place."""
    excess = 0.0
    for j in range(now.shape[0]):
        excess = max(excess, abs(wanted[j] - now[j]) / change)
    if excess > 1.0:
        for j in range(now.shape[0]):
            wanted[j] = now[j] + (wanted[j] - now[j]) / excess


@kernel
def joint_path_speed(
    model: Array, most: Array, limits: Array, q: Array, path: Array, now: Array, share: float,
    change: float, deceleration: float, dt: float, lag: float, frames: Array, twists: Array,
    rows: Array, speed: Array,
) -> None:  # fmt: skip
    """
    Write the speed of the next step on the straight path to a goal in joint space.

    From rest the path is straight; a speed that points elsewhere bends towards it. Paths and
    speeds are in units of the greatest joint velocities, [s] and [1]; their size is that of the
    joint with the most. The speed is slow enough to stop at the goal, and on the way to brake to
    what the limits of tips and joint centres allow, be it bent or not.

    Parameters
    ----------
    model, frames, twists : array
        As for `point_speeds`.
    most : array, shape (2,)
        Limits of the points; see above.
    limits : array, shape (4, n)
        Those of the joints; see `braking.py`.
    q : array, shape (n,)
        Joint values.
    path, now : array, shape (n,)
        Path to the goal, and speed of the last step.
    share : float
        Greatest size of the speed.
    change : float
        Greatest change of the speed in the step.
    deceleration : float
        Used to brake [1/s].
    dt, lag : float
        Length of the step, and time by which commands lag behind the motion [s].
    rows : array, shape (2, n)
        Written over.
    speed : array, shape (n,)
        Written to.

    """
    velocity, q_there = rows[0], rows[1]
    distance, fastest = _largest(path), min(share, _largest(now) + change)
    if distance == 0.0:
        fastest = 0.0
    else:
        for j in range(q.shape[0]):
            velocity[j] = path[j] / distance * limits[MAX_VELOCITY, j]
        fastest = share_along(
            model, most, q, velocity, distance, fastest, deceleration, dt, lag, frames, twists,
            q_there,
        )  # fmt: skip
        fastest = min(fastest, stopping_speed(distance, deceleration, dt)) / distance
    for j in range(q.shape[0]):
        speed[j] = path[j] * fastest
    if _largest(speed) > _largest(now):
        easing = max(EASING_SHARE, dt / (dt + lag))
        for j in range(q.shape[0]):
            speed[j] = now[j] + easing * (speed[j] - now[j])
    _change_towards(now, speed, change)
    size = _largest(speed)
    bend = 0.0
    for j in range(q.shape[0]):
        bend = max(bend, abs(speed[j] * distance - path[j] * size))
    if bend <= STRAIGHT * size * distance:
        return
    for j in range(q.shape[0]):
        velocity[j] = speed[j] / size * limits[MAX_VELOCITY, j]
    allowed = share_along(
        model, most, q, velocity, math.inf, size, deceleration, dt, lag, frames, twists, q_there
    )
    if allowed < size:
        for j in range(q.shape[0]):
            speed[j] *= allowed / size
        _change_towards(now, speed, change)
