"""From joint values to motors and back."""

import math

from fabrik_ros import JointMap, JointValueError
from hypothesis import given, strategies as st
import numpy as np
import pytest

VALUES = st.lists(st.floats(-10.0, 10.0), min_size=3, max_size=3)


def test_degrees_signs_and_offsets_by_hand():
    joints = JointMap(signs=[1, -1, 1], offsets=[0.0, 90.0, -45.0])
    motors = joints.to_motors([math.pi / 2, math.pi / 4, 0.0])
    np.testing.assert_allclose(motors, [90.0, 45.0, -45.0], atol=1e-12)


def test_radians_stay_radians():
    assert JointMap([-1], [0.5], unit='rad').to_motors([0.25]).tolist() == [0.25]


@given(VALUES, VALUES, st.lists(st.sampled_from([-1, 1]), min_size=3, max_size=3))
def test_back_and_forth_is_the_same(q, offsets, signs):
    joints = JointMap(signs, offsets)
    np.testing.assert_allclose(joints.to_joints(joints.to_motors(q)), q, atol=1e-12)


@pytest.mark.parametrize(
    ('arguments', 'text'),
    [
        (([1, 2], [0.0, 0.0]), r'signs must be 1 or -1 for each joint, got \[1, 2\]'),
        (([[1, 1]], [0.0, 0.0]), 'signs must be 1 or -1'),
        (([1, 1], [0.0]), 'offsets must be 2 finite numbers'),
        (([1, 1], [0.0, math.nan]), 'offsets must be 2 finite numbers'),
        (([1, 1], [0.0, 0.0], 'ticks'), "unit must be one of rad, deg; got 'ticks'"),
    ],
)
def test_map_that_makes_no_sense_is_refused(arguments, text):
    with pytest.raises(ValueError, match=text):
        JointMap(*arguments)


@pytest.mark.parametrize('values', [[0.0], [0.0, math.inf], [[0.0, 0.0]]])
def test_values_that_make_no_sense_are_refused(values):
    joints = JointMap([1, 1], [0.0, 0.0])
    with pytest.raises(JointValueError, match='joint values must be 2 finite numbers'):
        joints.to_motors(values)
    with pytest.raises(JointValueError, match='motor values must be 2 finite numbers'):
        joints.to_joints(values)
