"""The options of a follower: those of the node, and what is refused."""

from dataclasses import fields
import math

from fabrik_ros.motion.follower_options import CHOICES, FollowerOptions
from fabrik_ros.ros.parameters.node_parameters import NodeParameters
from fabrik_ros.ros.parameters.parameter_table import SPEC_BY_NAME
import pytest

NAMES = [field.name for field in fields(FollowerOptions)]


@pytest.mark.parametrize('name', NAMES)
def test_options_are_parameters_of_the_node_with_the_same_defaults(name):
    default = getattr(FollowerOptions(), name)
    assert SPEC_BY_NAME[name].default == (list(default) if SPEC_BY_NAME[name].is_list else default)
    assert getattr(NodeParameters(), name) == default


@pytest.mark.parametrize('name', CHOICES)
def test_words_are_those_of_the_node(name):
    assert SPEC_BY_NAME[name].choices == CHOICES[name]


@pytest.mark.parametrize(
    ('options', 'text'),
    [
        ({'path': 'curve'}, "path must be one of auto, line, joint; got 'curve'"),
        ({'max_tip_speed': -1.0}, 'max_tip_speed must be finite and positive, got -1.0'),
        ({'max_joint_velocity': math.nan}, 'max_joint_velocity must be finite and positive'),
        ({'state_timeout': 0.0}, 'state_timeout must be finite and positive, got 0.0'),
        ({'max_joint_jerk': -2.0}, 'max_joint_jerk must be finite and at least 0, got -2.0'),
        ({'speed_scaling': 1.5}, 'speed_scaling must be at most 1, got 1.5'),
        ({'max_joint_acceleration': 0.1}, 'would need 15.00 s to stop'),
        ({'max_joint_jerk': 1.0}, 'would need 5.00 s to get from no acceleration'),
    ],
)
def test_option_that_makes_no_sense_is_named_with_what_is_allowed(options, text):
    with pytest.raises(ValueError, match=text):
        FollowerOptions(**options).check()


def test_options_at_their_bounds_make_sense():
    FollowerOptions(speed_scaling=0.0, max_joint_jerk=10.0, max_detour=0.0).check()
