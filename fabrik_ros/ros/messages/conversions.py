"""Conversions between ROS messages and arrays; nothing else."""

from collections.abc import Sequence

from builtin_interfaces.msg import Duration, Time
from geometry_msgs.msg import Point, Pose, PoseStamped, Transform, Twist
from nav_msgs.msg import Path
import numpy as np
from sensor_msgs.msg import JointState
from std_msgs.msg import Header
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from ...errors import RefusedError, shown
from ...motion.controllers.published_trajectory import Knot, NANOSECONDS
from ...motion.following.arm_state import Command
from ...motion.paths.preview import ProposedMotion
from ...reasons import Reason, ReasonKind
from ...transforms import Array, pose_from_quaternion_xyzw, quaternion_xyzw_from_rotation


def seconds(stamp: Time | Duration) -> float:
    """Turn a message stamp, or a length of time, into seconds."""
    return float(stamp.sec) + 1e-9 * float(stamp.nanosec)


def pose_to_matrix(pose: Pose) -> Array:
    """
    Turn a pose message into a matrix (4, 4).

    Raises
    ------
    TargetError
        If it has entries that are not finite, or a quaternion of (nearly) no length.

    """
    p, o = pose.position, pose.orientation
    return pose_from_quaternion_xyzw((p.x, p.y, p.z), (o.x, o.y, o.z, o.w))


def transform_to_matrix(message: Transform) -> Array:
    """
    Turn a transform message into a matrix (4, 4).

    Raises
    ------
    TargetError
        As for a pose.

    """
    t = message.translation
    return pose_to_matrix(Pose(position=Point(x=t.x, y=t.y, z=t.z), orientation=message.rotation))


def twist_to_array(twist: Twist) -> Array:
    """Turn a twist message into an array (6,): linear, then angular velocity."""
    v, w = twist.linear, twist.angular
    return np.array([v.x, v.y, v.z, w.x, w.y, w.z])


def joint_values(message: JointState) -> dict[str, float]:
    """
    Turn the positions of a joint state into values by the names of the joints.

    Raises
    ------
    RefusedError
        If it has another number of positions than of names, or names a joint twice.

    """
    names, values = list(message.name), list(message.position)
    if len(names) != len(values):
        text = f'the joint target has {len(values)} positions for {len(names)} names'
        raise RefusedError(Reason(ReasonKind.BAD_REQUEST, text))
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        text = f"the joint target names '{shown(twice)}' more than once; each joint has one value"
        raise RefusedError(Reason(ReasonKind.BAD_REQUEST, text))
    return dict(zip(names, values, strict=True))


def matrix_to_pose(T: Array) -> Pose:
    """Turn a matrix (4, 4) into a pose message."""
    pose = Pose()
    pose.position = to_point(T[:3, 3])
    o = pose.orientation
    o.x, o.y, o.z, o.w = map(float, quaternion_xyzw_from_rotation(T[:3, :3]))
    return pose


def stamped_pose(T: Array, frame_id: str, stamp: Time) -> PoseStamped:
    """Turn a matrix (4, 4) into a stamped pose message."""
    message = PoseStamped()
    message.header.frame_id = frame_id
    message.header.stamp = stamp
    message.pose = matrix_to_pose(T)
    return message


def timed_path(T: Array, times: Array, frame_id: str, stamp: Time) -> Path:
    """Turn poses (m, 4, 4), and the times (m,) after a stamp when a tip is there, into a path."""
    begin = stamp.sec * NANOSECONDS + stamp.nanosec
    poses = [
        stamped_pose(pose, frame_id, _time(begin + round(time * NANOSECONDS)))
        for pose, time in zip(T, times.tolist(), strict=True)
    ]
    return Path(header=Header(frame_id=frame_id, stamp=stamp), poses=poses)


def path_in(message: Path) -> tuple[Array, Array]:
    """Return the points of a path, shape (m, 3), and the times (m,) after its stamp."""
    points = [(p.x, p.y, p.z) for p in (stamped.pose.position for stamped in message.poses)]
    times = [seconds(stamped.header.stamp) for stamped in message.poses]
    return np.reshape(points, (-1, 3)), np.array(times) - seconds(message.header.stamp)


def write_command(command: Command, stamp: int, message: JointState) -> None:
    """Write a command and its stamp [ns] into a message with the names of the joints."""
    at = message.header.stamp
    at.sec, at.nanosec = divmod(stamp, NANOSECONDS)
    message.position = command.q.tolist()
    message.velocity = command.velocity.tolist()


def joint_trajectory(names: tuple[str, ...], points: Sequence[Knot]) -> JointTrajectory:
    """Turn points at absolute times into a message that begins with the first of them."""
    begin = points[0].time
    message = JointTrajectory(joint_names=list(names))
    at = message.header.stamp
    at.sec, at.nanosec = divmod(begin, NANOSECONDS)
    message.points = [
        JointTrajectoryPoint(
            positions=q.tolist(),
            velocities=velocity.tolist(),
            time_from_start=_duration(time - begin),
        )
        for time, q, velocity in points
    ]
    return message


def planned_trajectory(names: tuple[str, ...], motion: ProposedMotion) -> JointTrajectory:
    """Turn a motion that has no beginning yet into a message."""
    times, configurations = motion
    message = JointTrajectory(joint_names=list(names))
    message.points = [
        JointTrajectoryPoint(
            positions=q.tolist(), time_from_start=_duration(round(time * NANOSECONDS))
        )
        for time, q in zip(times.tolist(), configurations, strict=True)
    ]
    return message


def motion_in(message: JointTrajectory) -> ProposedMotion:
    """Return the motion of a message."""
    times = [seconds(point.time_from_start) for point in message.points]
    return np.array(times), np.array([point.positions for point in message.points])


def _duration(length: int) -> Duration:
    """Turn a length of time [ns] into a message."""
    sec, nanosec = divmod(length, NANOSECONDS)
    return Duration(sec=sec, nanosec=nanosec)


def _time(time: int) -> Time:
    """Turn a time [ns] into a stamp."""
    sec, nanosec = divmod(time, NANOSECONDS)
    return Time(sec=sec, nanosec=nanosec)


def to_point(p: Sequence[float] | Array) -> Point:
    """Turn three numbers into a point message."""
    return Point(x=float(p[0]), y=float(p[1]), z=float(p[2]))
