"""Between ROS messages and arrays; nothing else."""

from builtin_interfaces.msg import Time
from geometry_msgs.msg import Point, Pose, PoseStamped, Transform, Twist
import numpy as np
from rclpy.duration import Duration
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from ..following import Command
from ..ramp import Ramp
from ..transforms import Array, pose_from_quaternion_xyzw, quaternion_xyzw_from_rotation
from .timing import NANOSECONDS

SOON = 1e-3
"""When an end that should have been reached before is to be reached [s]."""


def seconds(stamp: Time) -> float:
    """Turn a message stamp into seconds."""
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


def write_command(command: Command, stamp: int, message: JointState) -> None:
    """Write a command and its stamp [ns] into a message with the names of the joints."""
    at = message.header.stamp
    at.sec, at.nanosec = divmod(stamp, NANOSECONDS)
    message.position = command.q.tolist()
    message.velocity = command.velocity.tolist()


def joint_trajectory(names: tuple[str, ...], ramp: Ramp, start: float) -> JointTrajectory:
    """
    Turn a way to rest into a message that starts when it comes.

    Parameters
    ----------
    names : tuple of str
        The joints.
    ramp : Ramp
        Their way.
    start : float
        From now to the time 0 of the ramp [s]. What is over by now is left out, but not the end.

    """
    message = JointTrajectory(joint_names=list(names))
    for time, q, velocity in zip(ramp.times + start, ramp.q, ramp.velocity, strict=True):
        if time > 0.0:
            message.points.append(_trajectory_point(q, velocity, time))
    if not message.points:
        message.points.append(_trajectory_point(ramp.q[-1], ramp.velocity[-1], SOON))
    return message


def _trajectory_point(q: Array, velocity: Array, time: float) -> JointTrajectoryPoint:
    return JointTrajectoryPoint(
        positions=q.tolist(),
        velocities=velocity.tolist(),
        time_from_start=Duration(nanoseconds=round(time * 1e9)).to_msg(),
    )


def to_point(p: Array) -> Point:
    """Turn three numbers into a point message."""
    return Point(x=float(p[0]), y=float(p[1]), z=float(p[2]))
