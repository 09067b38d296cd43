"""Programs of moves as ros2_control says them: the motion primitives of control_msgs."""

from collections.abc import Callable, Iterator, Sequence
import math
from typing import Any

from geometry_msgs.msg import PoseStamped

from ...errors import did_you_mean, FabrikError, listed, ProgramError, shown
from ...model.mechanism import Mechanism
from ...motion.limits.limits import MotionLimits
from ...programs.program import Arc, Joints, Line, Move, Program, Segment
from ...transforms import Array
from ..clocks.stamps import check_age
from ..messages.conversions import pose_to_matrix, seconds
from .frame_resolver import FramedTarget

LINEAR_JOINT, LINEAR_CARTESIAN, CIRCULAR_CARTESIAN = 0, 50, 51
NAMES = {
    LINEAR_JOINT: 'LINEAR_JOINT',
    LINEAR_CARTESIAN: 'LINEAR_CARTESIAN',
    CIRCULAR_CARTESIAN: 'CIRCULAR_CARTESIAN',
}
ARGUMENTS = ('velocity', 'acceleration', 'move_time')


class PrimitiveReader:
    """
    Makes programs of motion primitives.

    Parameters
    ----------
    robot : Chain
        The arm.
    limits : MotionLimits
        Its greatest speeds and accelerations.
    placed : callable
        Brings a target into the base frame: T_base_target, shape (4, 4).

    """

    def __init__(
        self, robot: Mechanism, limits: MotionLimits, placed: Callable[[FramedTarget], Array]
    ) -> None:
        self._robot, self._limits, self._placed = robot, limits, placed

    def program(self, motions: Sequence[Any]) -> Program:
        """
        Make a program of control_msgs/MotionPrimitive messages; a segment of each.

        Raises
        ------
        FabrikError
            If a primitive makes no sense, or a frame is unknown; names the primitive.

        """
        if not motions:
            raise ProgramError('a sequence without motion primitives')
        return Program(self._named_segment(*numbered) for numbered in enumerate(motions, start=1))

    def remarks(self, motions: Sequence[Any]) -> Iterator[str]:
        """Say what is above the limits of the arm, but for speeds of the tip, for people."""
        for number, primitive in enumerate(motions, start=1):
            given = _arguments(primitive)
            for name, most in zip(ARGUMENTS, self._greatest(primitive), strict=False):
                is_told_later = name == 'velocity' and primitive.type != LINEAR_JOINT
                if given.get(name, 0.0) > most and not (given.get('move_time') or is_told_later):
                    asked = given[name]
                    yield f'{_name(number, primitive)}: {name} {most:.3g} instead of {asked:.3g}'

    def _named_segment(self, number: int, primitive: Any) -> Segment:
        try:
            return self._segment(primitive)
        except FabrikError as error:
            raise ProgramError(f'{_name(number, primitive)}: {error}') from error

    def _segment(self, primitive: Any) -> Segment:
        if primitive.type not in NAMES:
            raise ProgramError(f'unknown type; known are: {", ".join(NAMES.values())}')
        settings, poses = self._settings(primitive), list(primitive.poses)
        if primitive.type == CIRCULAR_CARTESIAN:
            if len(poses) != 2:
                raise ProgramError(f'needs two poses, its goal and via; it has {len(poses)}')
            pose, via = map(self._pose, poses)
            return Arc(via, pose, **settings)
        if primitive.type == LINEAR_CARTESIAN:
            return Line(self._only_pose(poses, 'one pose'), **settings)
        if len(primitive.joint_positions):
            return Joints(self._values(primitive), **settings)
        return Move(self._only_pose(poses, 'joint_positions or one pose'), **settings)

    def _values(self, primitive: Any) -> list[float]:
        values, names = list(primitive.joint_positions), self._robot.joint_names
        if len(values) != len(names):
            raise ProgramError(
                f'{len(values)} joint_positions for {len(names)} joints: {listed(names)}'
            )
        return values

    def _only_pose(self, poses: Sequence[PoseStamped], needed: str) -> Array:
        if len(poses) != 1:
            raise ProgramError(f'needs {needed}; it has {len(poses)} poses')
        return self._pose(poses[0])

    def _pose(self, stamped: PoseStamped) -> Array:
        """Pose in the base frame; without a frame it is in that."""
        frame = stamped.header.frame_id.removeprefix('/') or self._robot.base_link
        T = pose_to_matrix(stamped.pose)
        return self._placed(FramedTarget(frame, T, stamped.header.stamp))

    def _settings(self, primitive: Any) -> dict[str, float]:
        """Read the speed, the acceleration and the blend of a segment."""
        given, blend = _arguments(primitive), float(primitive.blend_radius)
        settings = {'blend': blend}
        if given.get('move_time', 0.0) > 0.0:
            return settings | {'duration': given['move_time']}
        fastest, hardest = self._greatest(primitive)
        if 'acceleration' in given:
            settings['acceleration'] = min(given['acceleration'] / hardest, 1.0)
        if 'velocity' in given and primitive.type == LINEAR_JOINT:
            limits = self._limits
            settings['share'] = min(given['velocity'] / fastest, 1.0)
            settings |= {'speed': limits.tip_speed, 'rotation': limits.tip_rotation}
        elif 'velocity' in given:
            settings['speed'] = given['velocity']
        return settings

    def _greatest(self, primitive: Any) -> tuple[float, float]:
        """Greatest speed and acceleration of what a primitive says them of: joints or the tip."""
        limits = self._limits
        if primitive.type == LINEAR_JOINT:
            return float(limits.joint_velocity.max()), float(limits.joint_acceleration.max())
        return limits.tip_speed, limits.tip_acceleration


def check_stamps(motions: Sequence[Any], now: float, most: float) -> None:
    """
    Refuse poses whose stamps are too old or ahead of the time; see `check_age`.

    Raises
    ------
    RefusedError
        If one is; names the primitive.

    """
    for number, primitive in enumerate(motions, start=1):
        for pose in primitive.poses:
            check_age(f'pose of primitive {number}', seconds(pose.header.stamp), now, most)


def _name(number: int, primitive: Any) -> str:
    return f'primitive {number} ({NAMES.get(primitive.type, primitive.type)})'


def _arguments(primitive: Any) -> dict[str, float]:
    """Read the additional arguments; a `move_time` of 0 is none."""
    given: dict[str, float] = {}
    for argument in primitive.additional_arguments:
        name, value = argument.name, float(argument.value)
        if name not in ARGUMENTS:
            cure = did_you_mean(name, ARGUMENTS)
            raise ProgramError(
                f"unknown argument '{shown(name)}'; known are: {', '.join(ARGUMENTS)}{cure}"
            )
        if name in given:
            raise ProgramError(f'{name} is given twice')
        if not (0.0 < value < math.inf or (name == 'move_time' and value == 0.0)):
            raise ProgramError(f'{name} must be positive and finite, got {value}')
        given[name] = value
    return given
