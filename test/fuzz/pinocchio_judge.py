"""
Pinocchio as a judge of robot descriptions: its reader is urdfdom, its kinematics are its own.

It reads less than the package in some places and other things in a few. Each of those is listed
here, with the reason, and nothing else is let pass.

"""

from collections.abc import Iterator
import math
import os
import re
import tempfile

from fuzz.specification import Description, JointRead, LARGEST
import numpy as np
import pinocchio

# What urdfdom and pinocchio say when they refuse a document, and why it is read here.
TOLERATED = {
    r'limit has no (effort|velocity)': 'no effort or velocity: kinematics need neither',
    r'value \( [^)]*\) is not a valid float': 'spaces around a number',
    r'parse component \[[^]]* [^]]*\]': 'tabs or ends of lines between numbers',
    r'(effort|velocity) value .* is not a valid float': 'effort or velocity is not read there',
    r'(lower|upper) value .* is not a valid float': 'an infinite limit, or one that is not read',
    r'min_effort are greater than max_effort': 'negative effort: not read',
    r'min_velocity are greater than max_velocity': 'negative velocity: no limit, with a warning',
    r'No name given for the robot': 'a robot without a name: nothing is called by it',
    r"Invalid 'version'|[Vv]ersion attribute": 'another version: not asked for',
    r'soft_(lower|upper)_limit|k_position|k_velocity|safety_controller': 'control: not read',
    r'[Mm]imic': 'mimic of a joint without a value: not read',
    r'[Cc]alibration|rising|falling|[Dd]ynamics|damping|friction|no damping': 'not kinematics',
    r'Malformed axis element': 'axis of a floating joint: not read',
    r'[Mm]aterial|color': 'colours: not kinematics',
    r"Could not find the 'robot' element": 'a namespace, which urdfdom does not know',
    r'ERROR_PARSING_DECLARATION': 'an instruction, which urdfdom knows at the start only',
    r'ELEMENT_DEPTH_EXCEEDED': 'nested too deep for urdfdom, where nothing is read',
}  # fmt: skip
LAST = 3
"""Complaints before it gives up; earlier ones are of what it leaves out itself."""
MOST_JOINTS = 250
"""With more, its memory grows with the square of their number."""
TOO_LARGE_TO_SQUARE = re.compile(r'(<axis|quat_xyzw)[^>]*e\+?[1-3]\d\d', re.IGNORECASE)

UNEVEN_NAME = re.compile(
    r"""(name|link|joint)\s*=\s*("[^"]*[\t\r\n][^"]*"|'[^']*[\t\r\n][^']*')"""
)


class Pinocchio:
    """
    One robot, as pinocchio reads it.

    Raises
    ------
    ValueError
        If pinocchio refuses the document, or is not asked, for a reason that is tolerated.
    AssertionError
        If there is no such reason.

    """

    def __init__(self, text: str, expected: Description) -> None:
        for reason in _not_asked(text, expected):
            raise ValueError(f'not asked: {reason}')
        self._model = _model_of(text)
        self._data = self._model.createData()

    def assert_joints_agree(self, joints: tuple[JointRead, ...]) -> None:
        """Names and limits are those of joints read without safety limits."""
        moving = {joint.name: joint for joint in joints if joint.type != 'fixed'}
        assert set(self._model.names) - {'universe'} == set(moving)
        for name, joint in moving.items():
            index = self._model.joints[self._model.getJointId(name)]
            velocity = self._model.velocityLimit[index.idx_v]
            lower = self._model.lowerPositionLimit[index.idx_q]
            upper = self._model.upperPositionLimit[index.idx_q]
            if joint.type in ('revolute', 'prismatic'):  # beyond LARGEST there is no limit here
                assert lower == joint.lower or -lower > LARGEST
                assert upper == joint.upper or upper > LARGEST
            if joint.is_drivable and math.isfinite(joint.velocity):
                assert velocity == joint.velocity

    def pose(self, path: list[JointRead], values: dict[str, float]) -> np.ndarray:
        """Pose of the end of a path in its beginning; joints without a value stand at 0."""
        q = pinocchio.neutral(self._model)
        for name, value in values.items():
            joint = self._model.joints[self._model.getJointId(name)]
            turns = joint.nq == 2  # continuous: cosine and sine
            q[joint.idx_q : joint.idx_q + joint.nq] = (
                [math.cos(value), math.sin(value)] if turns else value
            )
        pinocchio.framesForwardKinematics(self._model, self._data, q)
        ends = (path[0].parent, path[-1].child)
        frames = [self._model.getFrameId(link, pinocchio.FrameType.BODY) for link in ends]
        T_root_base, T_root_tip = (self._data.oMf[frame] for frame in frames)
        return (T_root_base.inverse() * T_root_tip).homogeneous


def movable_joints(text: str) -> set[str]:
    """
    Names of the joints that pinocchio reads from a document, whatever it is.

    Raises
    ------
    ValueError
        If it refuses the document for a reason that is tolerated.
    AssertionError
        If there is no such reason.

    """
    return set(_model_of(text).names) - {'universe'}


def _not_asked(text: str, expected: Description) -> Iterator[str]:
    if len(expected.joints) > MOST_JOINTS:
        yield 'too many joints for its memory'
    if 'universe' in expected.by_name or 'universe' in expected.links:
        yield "its own joint and frame are called 'universe'"
    if UNEVEN_NAME.search(text):
        yield 'it keeps tabs and ends of lines in names, of which XML makes spaces'
    if TOO_LARGE_TO_SQUARE.search(text):
        yield 'it squares numbers before it makes unit vectors of them'


def _model_of(text: str) -> pinocchio.Model:
    """Build a model; what urdfdom does not like it writes to file number 2."""
    with tempfile.TemporaryFile() as errors:
        kept = os.dup(2)
        os.dup2(errors.fileno(), 2)
        try:
            return pinocchio.buildModelFromXML(text.lstrip('\ufeff \t\r\n'))
        except (ValueError, RuntimeError) as error:
            refusal = str(error)
        finally:
            os.dup2(kept, 2)
            os.close(kept)
        errors.seek(0)
        said = [*errors.read().decode(errors='replace').split('Error: ')[-LAST:], refusal]
    complaints = ' '.join(' '.join(said).split())
    for pattern, reason in TOLERATED.items():
        if re.search(pattern, complaints):
            raise ValueError(reason)
    raise AssertionError(f'pinocchio does not read it: {complaints}')
