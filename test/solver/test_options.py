"""What the options refuse, and that they say what is allowed."""

import math

from fabrik_ros import SolverOptions
import pytest

SIX_NUMBERS = 'must be six numbers, none negative: along x, y, z and about them'


@pytest.mark.parametrize(
    ('option', 'value', 'message'),
    [
        ('prefer', 'far', "prefer must be one of first, near, central; got 'far'"),
        ('posture_weight', 0.0, 'posture_weight must be over 0 and at most 1, got 0.0'),
        ('posture_weight', -0.5, 'posture_weight must be over 0 and at most 1, got -0.5'),
        ('posture_weight', 1.1, 'posture_weight must be over 0 and at most 1, got 1.1'),
        ('posture_weight', math.nan, 'posture_weight must be over 0 and at most 1, got nan'),
        ('axis_weights', (1, 1, 1), f'axis_weights {SIX_NUMBERS}; got \\(1, 1, 1\\)'),
        ('axis_weights', (1, 1, 1, 1, 1, -1), f'axis_weights {SIX_NUMBERS}'),
        ('axis_weights', (1, 1, 1, 1, 1, math.nan), f'axis_weights {SIX_NUMBERS}'),
        ('axis_weights', (0, 0, 0, 0, 0, 0), 'axis_weights must be finite and not all zero'),
        ('axis_weights', (1, 1, 1, 1, 1, math.inf), 'axis_weights must be finite and not all'),
        ('axis_tolerances', (0, 0, 0, 0, 0), f'axis_tolerances {SIX_NUMBERS}'),
        ('axis_tolerances', (-0.1, 0, 0, 0, 0, 0), f'axis_tolerances {SIX_NUMBERS}'),
        ('axis_tolerances', (0, 0, 0, math.nan, 0, 0), f'axis_tolerances {SIX_NUMBERS}'),
    ],
)
def test_an_option_out_of_range_is_refused_with_what_is_allowed(option, value, message):
    with pytest.raises(ValueError, match=message):
        SolverOptions(**{option: value})


@pytest.mark.parametrize(
    ('option', 'value'),
    [('axis_weights', (1, 1, 1, 1, 1, 0)), ('axis_tolerances', (0, 0, 0, 0, 0, 0.1))],
)
def test_axes_of_the_target_cannot_be_combined_with_the_mode_of_one_axis(option, value):
    message = f"{option} cannot be combined with mode 'axis'; in mode 'pose' an axis of weight 0"
    with pytest.raises(ValueError, match=message):
        SolverOptions(mode='axis', **{option: value})
    for mode in ('auto', 'pose', 'position'):
        assert getattr(SolverOptions(mode=mode, **{option: value}), option) == value


def test_the_ends_of_the_ranges_are_allowed():
    options = SolverOptions(
        mode='axis', posture_weight=1.0, axis_weights=(1,) * 6, axis_tolerances=(0,) * 6
    )
    assert options.posture_weight == 1.0
    assert SolverOptions(axis_tolerances=(math.inf, 0, 0, 0, 0, 0)).axis_tolerances[0] == math.inf


def test_options_stay_as_they_were_made():
    with pytest.raises(AttributeError):
        SolverOptions().prefer = 'near'
