"""Programs made of motion primitives, whose messages are not needed for that."""

import math
import sys
from types import SimpleNamespace

import pytest

pytest.importorskip('rclpy', reason='ROS 2 is not installed')

from bench import pose_message
from fabrik_ros import example_arm, load_urdf
from fabrik_ros.errors import FabrikError, ProgramError, RefusedError
from fabrik_ros.motion.limits.limits import MotionLimits
from fabrik_ros.programs import Arc, Joints, Line, Move
from fabrik_ros.ros.inputs.motion_primitives import (
    check_stamps,
    CIRCULAR_CARTESIAN,
    LINEAR_CARTESIAN,
    LINEAR_JOINT,
    PrimitiveReader,
)
from hypothesis import given, strategies as st
import numpy as np

UPRIGHT = 0.0, 0.0, 0.0, 1.0
LIMITS = MotionLimits(0.5, 1.0, 2.0, np.full(6, 1.5), np.full(6, 5.0))


@pytest.fixture(scope='module')
def chain():
    pytest.importorskip('xacro')
    return load_urdf(example_arm('six_axis')).chain()


@pytest.fixture
def reader(chain):
    """Read primitives where each frame lies 1 m above the base for each letter of its name."""

    def placed(target):
        T = target.T.copy()
        T[2, 3] += 0.0 if target.frame == chain.base_link else len(target.frame)
        return T

    return PrimitiveReader(chain, LIMITS, placed)


@pytest.fixture
def read(reader):
    return reader.program


def primitive(kind, *places, joints=(), blend=0.0, frame='', **arguments):
    """Stand in for a control_msgs/MotionPrimitive to poses at some places."""
    return SimpleNamespace(
        type=kind,
        poses=[pose_message(place, UPRIGHT, frame) for place in places],
        joint_positions=list(joints),
        blend_radius=blend,
        additional_arguments=[
            SimpleNamespace(name=name, value=value) for name, value in arguments.items()
        ],
    )


def test_each_primitive_becomes_a_segment(read):
    program = read(
        [
            primitive(LINEAR_JOINT, joints=[0.1] * 6),
            primitive(LINEAR_JOINT, (0.4, 0.0, 0.4), blend=0.02),
            primitive(LINEAR_CARTESIAN, (0.4, 0.1, 0.4), frame='/abc'),
            primitive(CIRCULAR_CARTESIAN, (0.4, 0.2, 0.4), (0.3, 0.15, 0.4)),
        ]
    )
    joints, move, line, arc = program.steps
    assert [type(step) for step in program.steps] == [Joints, Move, Line, Arc]
    assert joints.values == [0.1] * 6
    assert move.blend == 0.02
    assert line.pose[:3, 3].tolist() == [0.4, 0.1, 3.4]
    assert arc.pose[:3, 3].tolist() == [0.4, 0.2, 0.4], 'the goal comes first'
    assert arc.via.tolist() == [0.3, 0.15, 0.4]


def test_arguments_are_of_the_tip_on_lines_and_of_joints_else(read):
    given_arguments = {'velocity': 0.3, 'acceleration': 1.0}
    program = read(
        [
            primitive(LINEAR_CARTESIAN, (0.4, 0.1, 0.4), **given_arguments),
            primitive(LINEAR_JOINT, joints=[0.1] * 6, **given_arguments),
        ]
    )
    line, joints = program.steps
    assert (line.speed, line.share, line.acceleration) == (0.3, 1.0, 0.5)
    assert joints.share == pytest.approx(0.2)
    assert joints.speed == LIMITS.tip_speed, 'the share is one of joints'
    assert joints.acceleration == pytest.approx(0.2)


def test_time_wins_over_speed_and_acceleration_unless_it_is_zero(read):
    both = {'velocity': 0.3, 'acceleration': 1.0}
    program = read(
        [
            primitive(LINEAR_CARTESIAN, (0.4, 0.1, 0.4), move_time=2.0, **both),
            primitive(LINEAR_CARTESIAN, (0.4, 0.1, 0.4), move_time=0.0, **both),
        ]
    )
    timed, untimed = program.steps
    assert (timed.duration, timed.speed, timed.acceleration) == (2.0, None, 1.0)
    assert (untimed.duration, untimed.speed, untimed.acceleration) == (None, 0.3, 0.5)


def test_what_is_above_the_limits_is_told_of(reader):
    motions = [
        primitive(LINEAR_CARTESIAN, (0.4, 0.1, 0.4), velocity=2.0, acceleration=9.0),
        primitive(LINEAR_JOINT, joints=[0.1] * 6, velocity=3.0, acceleration=4.0),
        primitive(LINEAR_CARTESIAN, (0.4, 0.1, 0.4), acceleration=9.0, move_time=2.0),
    ]
    steps = reader.program(motions).steps
    assert [step.acceleration for step in steps] == [1.0, 0.8, 1.0]
    assert steps[1].share == 1.0
    assert list(reader.remarks(motions)) == [
        'primitive 1 (LINEAR_CARTESIAN): acceleration 2 instead of 9',
        'primitive 2 (LINEAR_JOINT): velocity 1.5 instead of 3',
    ]


@pytest.mark.parametrize(
    ('motions', 'words'),
    [
        ([], 'a sequence without motion primitives'),
        ([primitive(LINEAR_JOINT, joints=[0.1] * 5)], '5 joint_positions for 6 joints: shoulder'),
        ([primitive(LINEAR_JOINT)], r'needs joint_positions or one pose; it has 0 poses'),
        ([primitive(LINEAR_CARTESIAN)], r'primitive 1 \(LINEAR_CARTESIAN\): needs one pose; it'),
        (
            [primitive(CIRCULAR_CARTESIAN, (0, 0, 0))],
            'needs two poses, its goal and via',
        ),
        ([primitive(-1, (0, 0, 0))], r'primitive 1 \(-1\): unknown type; known are: LINEAR_JOINT'),
        ([primitive(LINEAR_CARTESIAN, (0, 0, math.nan))], r'primitive 1 \(LINEAR_CARTESIAN\): '),
        ([primitive(LINEAR_CARTESIAN, (0, 0, 0), velocity=0.0)], 'velocity must be positive'),
        ([primitive(LINEAR_CARTESIAN, (0, 0, 0), move_time=math.inf)], 'move_time must be posi'),
        ([primitive(LINEAR_CARTESIAN, (0, 0, 0), velocty=1.0)], "did you mean 'velocity'"),
        ([primitive(LINEAR_CARTESIAN, (0, 0, 0), blend=math.nan)], 'blend must be 0 or more'),
    ],
)
def test_what_makes_no_sense_is_named(read, motions, words):
    with pytest.raises(ProgramError, match=words):
        read(motions)


anything = st.one_of(st.floats(-2.0, 2.0), st.floats())


@given(
    st.integers(-1, 60),
    st.lists(st.tuples(anything, anything, anything), max_size=3),
    st.lists(anything, max_size=7),
    anything,
    st.dictionaries(st.sampled_from(['velocity', 'acceleration', 'move_time', '']), anything),
)
def test_any_primitive_makes_a_program_or_is_refused(
    chain, kind, places, joints, blend, arguments
):
    read = PrimitiveReader(chain, LIMITS, lambda target: target.T).program
    refusal, program = 'primitive 1 (', None
    try:
        program = read([primitive(kind, *places, joints=joints, blend=blend, **arguments)])
    except FabrikError as error:
        refusal = str(error)
    assert refusal.startswith('primitive 1 (')
    assert program is None or len(program) == 1


def test_stamps_that_are_too_old_are_refused():
    motions = [primitive(LINEAR_JOINT), primitive(LINEAR_CARTESIAN, (0, 0, 0))]
    check_stamps(motions, 100.0, 1.0)
    motions[1].poses[0].header.stamp.sec = 98
    check_stamps(motions, 100.0, 3.0)
    with pytest.raises(RefusedError, match=r'pose of primitive 2 is 2.00 s old'):
        check_stamps(motions, 100.0, 1.0)


def test_node_without_control_msgs_says_that_it_has_no_action(bench, monkeypatch, capfd):
    monkeypatch.setitem(sys.modules, 'control_msgs.action', None)
    bench.start_node()
    assert 'no ~/execute_motion: control_msgs is not installed' in capfd.readouterr().err
    services = bench.node.get_service_names_and_types_by_node('fabrik', '/')
    assert not [name for name, _ in services if 'execute_motion' in name]
