"""Waypoints that people set, and files of them: what was set is what is asked, and comes back."""

from fabrik_ros.errors import ProgramError, TargetError
from fabrik_ros.programs.program_file import document_of
from fabrik_ros.programs.recorded_poses import poses_in, poses_text
from fabrik_ros.programs.waypoints import MOST_CHANGES, Waypoints
from fabrik_ros.transforms import pose_from_xyz_rpy
from hypothesis import given, strategies as st
import numpy as np
import pytest

coordinates, angles = st.floats(-2.0, 2.0), st.floats(-3.1, 3.1)
poses = st.builds(
    lambda xyz, rpy: pose_from_xyz_rpy(xyz, rpy),
    st.tuples(coordinates, coordinates, coordinates),
    st.tuples(angles, angles, angles),
)
changes = st.one_of(
    st.tuples(st.just('add'), poses),
    st.tuples(st.just('move'), st.integers(0, 20), poses),
    st.tuples(st.just('clear')),
)


def change(waypoints, what, *values):
    """Do what somebody does; return whether that was anything."""
    if what == 'add':
        waypoints.add(*values)
    elif what == 'move' and values[0] < len(waypoints):
        waypoints.move(*values)
    elif what == 'clear':
        had = len(waypoints) > 0
        waypoints.clear()
        return had
    else:
        return False
    return True


@given(st.lists(changes, max_size=20))
def test_each_change_is_taken_back_in_turn(asked):
    waypoints, states = Waypoints(), [()]
    for each in asked:
        if change(waypoints, *each):
            states.append(waypoints.poses)
    for state in reversed(states[:-1]):
        assert waypoints.can_undo
        waypoints.undo()
        assert waypoints.poses == state
    assert not waypoints.can_undo
    waypoints.undo()
    assert waypoints.poses == ()


def test_what_can_be_taken_back_has_an_end():
    waypoints = Waypoints()
    for _ in range(MOST_CHANGES + 5):
        waypoints.add(np.eye(4))
    for _ in range(MOST_CHANGES + 5):
        waypoints.undo()
    assert len(waypoints) == 5


@given(st.lists(poses, min_size=1, max_size=6), st.floats(0.0, 0.1), st.floats(0.01, 1.0))
def test_program_goes_through_all_in_lines_and_stops_at_the_last(through, blend, speed):
    waypoints = Waypoints()
    for T in through:
        waypoints.add(T)
    first, *others = steps = waypoints.program(blend, speed).steps
    assert [first.name, *(step.name for step in others)] == ['move'] + ['line'] * len(others)
    assert [step.blend for step in steps] == [blend] * len(others) + [0.0]
    assert {step.speed for step in steps} == {speed}
    for step, T in zip(steps, through, strict=True):
        np.testing.assert_array_equal(step.pose, T)


def test_program_without_speed_asks_for_none():
    waypoints = Waypoints()
    waypoints.add(pose_from_xyz_rpy((0.4, 0.0, 0.3), (0.0, 0.0, 0.0)))
    segment = {'move': {'xyz': [0.4, 0.0, 0.3], 'quaternion': [0.0, 0.0, 0.0, 1.0]}}
    assert document_of(waypoints.program()) == {'segments': [segment]}


def test_no_waypoints_are_no_program():
    with pytest.raises(ProgramError, match='a program has no segments'):
        Waypoints().program()


@given(st.lists(poses, min_size=1, max_size=5))
def test_text_of_poses_is_read_as_written(written):
    read = poses_in(poses_text(written), 'poses.csv')
    np.testing.assert_allclose(read, written, atol=1e-5)


@pytest.mark.parametrize(
    ('text', 'message'),
    [
        ('', 'a.csv: the first line must be x,y,z,qx,qy,qz,qw'),
        ('x,y\n1,2\n', 'a.csv: the first line must be'),
        ('x,y,z,qx,qy,qz,qw\n', 'a.csv: there are no poses'),
        ('x,y,z,qx,qy,qz,qw\n1,2,3,0,0,0,1\n1,b,3,0,0,0,1\n', 'a.csv, line 3: '),
    ],
)
def test_text_of_no_poses_says_what_is_wrong(text, message):
    with pytest.raises(TargetError, match=message):
        poses_in(text, 'a.csv')
