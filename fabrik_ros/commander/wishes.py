"""What an arm can be asked for, and how the node is told."""

from collections.abc import Mapping, Sequence
import json
from typing import Any, Protocol, TypeAlias
import uuid

from geometry_msgs.msg import Pose, PoseStamped
import numpy as np
import numpy.typing as npt
from sensor_msgs.msg import JointState
from std_msgs.msg import Header, String

from ..errors import JointValueError, shown, TargetError
from ..motion.following.arm_state import UNDER_WAY
from ..ros.messages.conversions import matrix_to_pose, pose_to_matrix, seconds
from ..ros.status.diagnostics import target_stamp
from ..transforms import Array, as_pose, pose_from_xyz_quaternion
from .followed_request import FollowedRequest
from .node_link import NodeLink
from .results import NOT_READY, Status

Target: TypeAlias = (
    PoseStamped
    | Pose
    | npt.ArrayLike
    | tuple[npt.ArrayLike, npt.ArrayLike]
    | Mapping[str, float]
    | Sequence[float]
    | str
)
"""Pose, joint values, or the name of a configuration; see `Arm.move_to`."""
NAME_LENGTH = 8
"""Length of what makes the name of a program its own [characters]."""
GOAL_FACTS = ('target_stamp', 'target_configuration', 'program')
"""Facts that tell which goal is in force."""


class Wish(Protocol):
    """Something that an arm is asked for."""

    def missing(self) -> Status | None:
        """Say what is missing until it can be sent; None where nothing is."""

    def send(self, now: float) -> FollowedRequest:
        """Send it; FabrikError where it makes no sense for this arm."""

    def send_again(self) -> None:
        """Send the same once more."""


class _Published:
    """A target that is a message on a topic of the node."""

    def __init__(self, link: NodeLink, topic: str, kind: type) -> None:
        self._link, self._topic, self._kind = link, topic, kind
        self._message: Any = None

    def missing(self) -> Status | None:
        self._link.advertise(self._topic, self._kind)
        missing = self._link.missing(self._topic)
        if missing is not None:
            return missing
        facts, is_pose = self._link.facts, self._kind is PoseStamped
        may_be_stream = is_pose or facts['state'] in UNDER_WAY
        if may_be_stream and self._link.stream_pause(self._topic) > 0.0:
            text = 'targets that come sooner after each other are a stream'
            return Status('WAITING', text, NOT_READY, facts)
        return None

    def send_again(self) -> None:
        self._link.publish(self._topic, self._message)

    def _send(
        self, message: Any, marks: Mapping[str, str], name: str, now: float, prefix: str = ''
    ) -> FollowedRequest:
        request = FollowedRequest(marks, name, self._link.facts, now, prefix)
        self._message = message
        self._link.publish(self._topic, message)
        return request


class PoseWish(_Published):
    """A pose of the tip."""

    def __init__(self, link: NodeLink, pose: PoseStamped) -> None:
        super().__init__(link, f'{link.prefix}target_pose', PoseStamped)
        self._pose = pose

    def send(self, now: float) -> FollowedRequest:
        """Send it, in the frame of the base where none is given, as of now without a stamp."""
        given, prefix = self._pose.header, self._link.prefix
        frame_id = given.frame_id or self._link.facts['base_link']
        header = Header(frame_id=frame_id, stamp=given.stamp)
        message = PoseStamped(header=header, pose=self._pose.pose)
        if seconds(header.stamp) == 0.0:
            header.stamp = self._link.new_stamp()
        stamp = target_stamp(seconds(header.stamp))
        return self._send(message, {f'{prefix}target_stamp': stamp}, stamp, now, prefix)


class JointWish(_Published):
    """Values of joints: of those that are named, or of all of the arm, base to tip."""

    def __init__(self, link: NodeLink, values: Mapping[str, float] | Array) -> None:
        super().__init__(link, 'target_joints', JointState)
        self._values = values

    def missing(self) -> Status | None:
        missing = super().missing()
        if missing is None and not isinstance(self._values, Mapping) and self._names is None:
            return Status('WAITING', self._link.watched.missing, NOT_READY, self._link.facts)
        return missing

    @property
    def _names(self) -> tuple[str, ...] | None:
        """Names of the joints of the arm, base to tip; None while they are not known."""
        tools = self._link.watched.tools()
        tip = self._link.tip or next(iter(tools), '')
        return tuple(joint.name for joint in tools[tip].joints) if tip in tools else None

    def send(self, now: float) -> FollowedRequest:
        """Send them."""
        names, values = self._named()
        message = JointState(name=names, position=values)
        message.header.stamp = self._link.new_stamp()
        stamp = target_stamp(seconds(message.header.stamp))
        return self._send(message, {'target_stamp': stamp}, stamp, now)

    def _named(self) -> tuple[list[str], list[float]]:
        if isinstance(self._values, Mapping):
            return list(self._values), [float(value) for value in self._values.values()]
        names = self._names or ()
        if len(self._link.watched.tip_links) > 1 and not self._link.tip:
            text = 'joint values need names, or the tip of one arm, where a node moves several'
            raise JointValueError(text)
        if len(names) != len(self._values):
            text = f'{len(self._values)} joint values for {len(names)} joints: {", ".join(names)}'
            raise JointValueError(text)
        return list(names), self._values.tolist()


class NameWish(_Published):
    """A configuration of which the node knows the name."""

    def __init__(self, link: NodeLink, name: str) -> None:
        super().__init__(link, 'target_configuration', String)
        self._name = name

    def send(self, now: float) -> FollowedRequest:
        """Send the name."""
        marks = {'target_configuration': self._name}
        return self._send(String(data=self._name), marks, self._name, now)


class ProgramWish(_Published):
    """A program of moves."""

    def __init__(self, link: NodeLink, document: Mapping[str, Any]) -> None:
        super().__init__(link, 'program', String)
        self._name = f'{document.get("name", "program")} {uuid.uuid4().hex[:NAME_LENGTH]}'
        self._text = json.dumps({**document, 'name': self._name})

    def send(self, now: float) -> FollowedRequest:
        """Send it, under a name of its own."""
        return self._send(String(data=self._text), {'program': self._name}, self._name, now)


class ExecuteWish:
    """The path that the node proposes."""

    def __init__(self, link: NodeLink) -> None:
        self._link = link

    def missing(self) -> Status | None:
        """Say what is missing until it can be asked for; None where nothing is."""
        missing = self._link.missing()
        if missing is None and not self._link.watched.offers('execute'):
            text = f'nobody offers {self._link.name}/execute'
            return Status('WAITING', text, NOT_READY, self._link.facts)
        return missing

    def send(self, now: float) -> FollowedRequest:
        """Ask for it."""
        facts = self._link.facts
        marks = {key: facts[key] for key in GOAL_FACTS if key in facts}
        request = FollowedRequest(marks, '', facts, now)
        self._link.watched.trigger('execute', request.take_answer)
        return request

    def send_again(self) -> None:
        """Do nothing: a service answers, or not."""


def wish_for(link: NodeLink, target: Target, frame_id: str | None) -> Wish:
    """
    Read a target.

    Raises
    ------
    TargetError, JointValueError
        If it is neither a pose, nor joint values, nor a name.
    ValueError
        If a frame is given for what is no pose.

    """
    pose = None if isinstance(target, str | Mapping) else _pose_of(target)
    if pose is not None:
        pose.header.frame_id = frame_id or pose.header.frame_id
        return PoseWish(link, pose)
    if frame_id:
        raise ValueError('frame_id is for poses; joint values and names have no frame')
    if isinstance(target, str) and target:
        return NameWish(link, target)
    return JointWish(link, _joints_of(target))


def program_through(targets: Sequence[Target], settings: Mapping[str, Any]) -> dict[str, Any]:
    """
    Make the document of a program: lines to poses, moves to joint values and names.

    Parameters
    ----------
    targets : sequence
        Where the arm goes, one after the other; see `Arm.move_to`.
    settings : mapping
        Of every segment: `speed`, `blend` and so on. At the last target the arm stops.

    Raises
    ------
    TargetError
        If there is none, or one makes no sense.

    """
    if not targets:
        raise TargetError('there are no targets to move through')
    segments = [_segment_to(target) | dict(settings) for target in targets]
    segments[-1].pop('blend', None)
    return {'segments': segments}


def _segment_to(target: Target) -> dict[str, Any]:
    pose = None if isinstance(target, str | Mapping) else _pose_of(target)
    if pose is not None:
        x = pose.pose.orientation
        p = pose.pose.position
        line = {'xyz': [p.x, p.y, p.z], 'quaternion': [x.x, x.y, x.z, x.w]}
        frame = {'frame': pose.header.frame_id} if pose.header.frame_id else {}
        return {'line': line, **frame}
    if isinstance(target, str) and target:
        return {'joints': target}
    values = _joints_of(target)
    return {'joints': dict(values) if isinstance(values, Mapping) else values.tolist()}


def _pose_of(target: Any) -> PoseStamped | None:
    """Read a pose; None for anything else, TargetError for one that makes no sense."""
    if isinstance(target, PoseStamped):
        pose_to_matrix(target.pose)
        header = Header(frame_id=target.header.frame_id, stamp=target.header.stamp)
        return PoseStamped(header=header, pose=target.pose)
    if isinstance(target, Pose):
        pose_to_matrix(target)
        return PoseStamped(pose=target)
    shape = _shape_of(target)
    if shape == (4, 4):
        T = as_pose(np.asarray(target, dtype=np.float64))
    elif shape is None and isinstance(target, Sequence) and len(target) == 2:
        T = pose_from_xyz_quaternion(*target)
    else:
        return None
    return PoseStamped(pose=matrix_to_pose(T))


def _joints_of(target: Any) -> Mapping[str, float] | Array:
    """Read joint values; TargetError where they are none."""
    if isinstance(target, Mapping):
        return target
    shape = _shape_of(target)
    if shape is None or len(shape) != 1:
        raise TargetError(
            'a target is a pose (PoseStamped, Pose, a 4x4 array, position and quaternion x y z '
            f'w), joint values or a name; got {shown(repr(target))}'
        )
    return np.asarray(target, dtype=np.float64)


def _shape_of(target: Any) -> tuple[int, ...] | None:
    """Shape of numbers; None where they have no common shape, or are none."""
    try:
        return np.asarray(target, dtype=np.float64).shape
    except (TypeError, ValueError):
        return None
