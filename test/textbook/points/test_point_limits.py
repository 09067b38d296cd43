"""Limits between two bones, by angles known without the code and by brute force."""

import doctest
import math

from fabrik_ros.textbook.points import point_limits as point_limits_module
from fabrik_ros.textbook.points.point_limits import BallJoint, Hinge, nearest_in_ellipse
from helpers import assert_close
import numpy as np
import pytest

PI = math.pi
LEGAL = 1e-9
"""How well limits hold [rad]."""


def about(axis, angle):
    """Turn about a unit vector, by Rodrigues' formula; angles of shape (...) give (..., 3, 3)."""
    x, y, z = axis
    K = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    angle = np.asarray(angle)[..., None, None]
    return np.eye(3) + np.sin(angle) * K + (1.0 - np.cos(angle)) * K @ K


def tilted(angle, azimuth):
    """Turn z by an angle towards an azimuth."""
    return about([-math.sin(azimuth), math.cos(azimuth), 0.0], angle)


def random_rotations(rng, count):
    """Pick rotations alike from all, by random unit quaternions."""
    w, x, y, z = np.moveaxis(unit(rng.normal(size=(count, 4))), -1, 0)
    return np.moveaxis(
        np.array(
            [
                [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
                [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
                [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
            ]
        ),
        -1,
        0,
    )


def unit(vectors):
    return vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)


def half_axes_at(joint, x, y):
    """Tell the half axes of the quadrant of each point."""
    return np.where(x >= 0.0, joint.right, joint.left), np.where(y >= 0.0, joint.up, joint.down)


def angles_of(joint, rotations):
    """Measure where bones point in the plane of angles, and their twist, from scratch."""
    local = np.swapaxes(joint.rest, 0, 1) @ rotations
    z = local[..., :, 2]
    aside = np.linalg.norm(z[..., :2], axis=-1)
    phi = np.arctan2(aside, z[..., 2])
    alpha = np.arctan2(z[..., 1], z[..., 0])
    # Turn the bone straight on again, and see where its x axis comes to lie.
    x, axis = local[..., :, 0], np.stack([np.sin(alpha), -np.cos(alpha), 0.0 * alpha], axis=-1)
    c, s = np.cos(phi)[..., None], np.sin(phi)[..., None]
    back = c * x + s * np.cross(axis, x) + (1.0 - c) * (axis * x).sum(-1, keepdims=True) * axis
    return phi * np.cos(alpha), phi * np.sin(alpha), np.arctan2(back[..., 1], back[..., 0])


def violated(joint, rotations, slack=LEGAL):
    """Tell which rotations are outside the ellipse or the twist of a joint."""
    x, y, twist = angles_of(joint, rotations)
    a, b = half_axes_at(joint, x, y)
    outside = (x / (a + slack)) ** 2 + (y / (b + slack)) ** 2 > 1.0
    lower, upper = joint.twist
    middle, half = 0.5 * (lower + upper), 0.5 * (upper - lower)
    return outside | (np.abs(np.angle(np.exp(1j * (twist - middle)))) > half + slack)


def random_joint(rng):
    """Pick half angles from 0 to 180 degrees, both ends often, a twist and a rest."""
    right, up, left, down = rng.choice([0.0, PI, *rng.uniform(0.0, PI, 6)], size=4)
    middle, half = rng.uniform(-PI, PI), rng.choice([0.0, PI, *rng.uniform(0.0, PI, 4)])
    rest = random_rotations(rng, 1)[0] if rng.random() < 0.5 else np.eye(3)
    return BallJoint(right, up, left, down, (middle - half, middle + half), rest)


# --- ball joints ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ('azimuth', 'half_angle'), [(0.0, 0.2), (90.0, 2.0), (180.0, 0.7), (270.0, 0.1)]
)
def test_ball_joint_stops_at_the_half_angle_of_its_side(azimuth, half_angle):
    joint = BallJoint(right=0.2, up=2.0, left=0.7, down=0.1)
    azimuth = math.radians(azimuth)
    assert_close(joint.nearest(tilted(2.5, azimuth)), tilted(half_angle, azimuth))
    within = tilted(0.99 * half_angle, azimuth)
    assert (joint.nearest(within) == within).all()


def test_cone_keeps_the_azimuth():
    joint = BallJoint(0.4, 0.4, 0.4, 0.4)
    for azimuth in np.linspace(0.0, 6.0, 13):
        assert_close(joint.nearest(tilted(1.1, azimuth)), tilted(0.4, azimuth))


def test_nearest_point_is_not_the_radial_one():
    # The ellipse has half axes 1 and 0.5; the nearest point to (2, 1) is (2 / (t + 1),
    # 0.25 / (t + 0.25)) for the t that puts it on the curve, found by bisection.
    low, high = 0.0, 10.0
    for _ in range(200):
        t = 0.5 * (low + high)
        value = (1.0 * 2.0 / (t + 1.0)) ** 2 + (0.5 * 1.0 / (t + 0.25)) ** 2 - 1.0
        low, high = (t, high) if value > 0.0 else (low, t)
    expected = [2.0 / (t + 1.0), 0.25 / (t + 0.25)]
    nearest = nearest_in_ellipse(np.array([2.0, 1.0]), np.array([1.0, 0.5, 1.0, 0.5]))
    assert_close(nearest, expected)
    assert abs(nearest[1] / nearest[0] - 0.5) > 0.1


def test_nearest_point_beats_every_other_point_of_the_curve():
    rng = np.random.default_rng(3)
    turn = np.linspace(0.0, 2.0 * PI, 40001)
    for _ in range(300):
        right, up, left, down = rng.choice([0.0, PI, *rng.uniform(0.0, PI, 6)], size=4)
        point = rng.uniform(-PI, PI, 2)
        nearest = nearest_in_ellipse(point, np.array([right, up, left, down]))
        curve_x = np.where(np.cos(turn) > 0.0, right, left) * np.cos(turn)
        curve_y = np.where(np.sin(turn) > 0.0, up, down) * np.sin(turn)
        best = np.hypot(curve_x - point[0], curve_y - point[1]).min()
        a = right if point[0] >= 0.0 else left
        b = up if point[1] >= 0.0 else down
        inside = min(a, b) > 0.0 and (point[0] / a) ** 2 + (point[1] / b) ** 2 <= 1.0
        moved = math.dist(nearest, point)
        assert moved == 0.0 if inside else 0.0 <= moved <= best + 1e-12
        assert inside or best - moved < 1e-3  # the curve is there, too: no point beyond it


def test_nearest_point_is_on_the_curve_however_thin_the_ellipse():
    rng = np.random.default_rng(4)
    half_angles = np.exp(rng.uniform(math.log(2e-12), math.log(PI), (100000, 4)))
    points = rng.normal(size=(100000, 2)) * np.exp(rng.uniform(-25.0, 1.0, (100000, 1)))
    nearest = nearest_in_ellipse(points, half_angles)
    right, up, left, down = half_angles.T
    axes = np.stack(
        [np.where(points[:, 0] > 0.0, right, left), np.where(points[:, 1] > 0.0, up, down)],
        axis=-1,
    )
    outside = ((points / axes) ** 2).sum(axis=-1) > 1.0
    assert_close(((nearest / axes) ** 2).sum(axis=-1)[outside], np.ones(outside.sum()), 1e-9)
    # What is left of the way is square to the curve: along its gradient.
    way, gradient = (points - nearest)[outside], (nearest / axes**2)[outside]
    sine = np.abs(way[:, 0] * gradient[:, 1] - way[:, 1] * gradient[:, 0])
    sine /= np.linalg.norm(gradient, axis=1)
    assert sine.max() <= 1e-9


@pytest.mark.parametrize(
    ('half_angles', 'point', 'nearest'),
    [
        ((0.0, 0.0, 0.0, 0.0), (1.0, -2.0), (0.0, 0.0)),
        ((0.0, 0.5, 0.0, 0.3), (1.0, 0.2), (0.0, 0.2)),
        ((0.0, 0.5, 0.0, 0.3), (1.0, -0.9), (0.0, -0.3)),
        ((0.0, 0.5, 0.4, 0.3), (0.7, 0.9), (0.0, 0.5)),
        ((0.7, 0.0, 0.2, 0.0), (-0.5, 0.1), (-0.2, 0.0)),
    ],
)
def test_half_angles_of_zero_leave_a_segment_or_a_point(half_angles, point, nearest):
    assert_close(nearest_in_ellipse(np.array(point), np.array(half_angles)), nearest)


def test_nearest_point_is_continuous_across_the_quadrants():
    half_angles = np.radians([10.0, 120.0, 40.0, 5.0])
    turn = np.linspace(0.0, 2.0 * PI, 100001)
    path = 2.5 * np.stack([np.cos(turn), np.sin(turn)], axis=-1)
    steps = np.linalg.norm(np.diff(nearest_in_ellipse(path, half_angles), axis=0), axis=-1)
    # Never longer than the step of the point itself: the map to a convex region.
    assert steps.max() <= 2.5 * 2.0 * PI / 100000 * (1.0 + 1e-9)


def test_twist_is_clamped_on_the_circle_after_the_swing():
    joint = BallJoint(PI, PI, PI, PI, twist=(-0.3, 0.5))
    swing = tilted(0.8, 1.0)
    for twist, legal in [(0.4, 0.4), (1.0, 0.5), (-1.0, -0.3), (3.0, 0.5), (-2.9, -0.3)]:
        turned = swing @ about([0.0, 0.0, 1.0], twist)
        assert_close(joint.nearest(turned), swing @ about([0.0, 0.0, 1.0], legal))


def test_twist_interval_may_lie_across_half_a_turn():
    joint = BallJoint(PI, PI, PI, PI, twist=(3.0, 3.5))
    back = about([0.0, 0.0, 1.0], -3.0)  # which is 3.28
    assert (joint.nearest(back) == back).all()


def test_limits_are_measured_from_the_rest():
    rest = about([0.6, 0.0, 0.8], 1.3)
    joint = BallJoint(0.2, 0.2, 0.2, 0.2, rest=rest)
    assert_close(joint.nearest(rest), rest)
    assert_close(joint.nearest(rest @ tilted(1.0, 2.0)), rest @ tilted(0.2, 2.0))


def test_million_random_joints_none_violated_none_nan():
    rng = np.random.default_rng(2016)
    joints, each = 200, 5000
    straight_back = np.array([np.diag([1.0, -1.0, -1.0]), about([1.0, 0.0, 0.0], PI)])
    for _ in range(joints):
        joint = random_joint(rng)
        special = [np.eye(3), *straight_back, tilted(PI - 1e-9, 1.0), tilted(1e-9, 4.0)]
        turned = joint.rest @ np.array(special) @ about([0.0, 0.0, 1.0], rng.uniform(-PI, PI))
        rotations = np.concatenate([turned, random_rotations(rng, each - len(special))])
        legal = joint.nearest(rotations)
        assert np.isfinite(legal).all()
        assert np.abs(np.swapaxes(legal, -1, -2) @ legal - np.eye(3)).max() < 1e-14
        assert not violated(joint, legal).any() or joint.free
        untouched = ~violated(joint, rotations, slack=-LEGAL)
        assert np.abs(legal - rotations)[untouched].max(initial=0.0) < 2e-5


def test_rotations_allowed_come_back_bit_for_bit():
    rng = np.random.default_rng(5)
    joint = BallJoint(0.3, 2.0, 0.6, 0.1, twist=(-0.4, 0.2))
    legal = joint.nearest(random_rotations(rng, 1000))
    assert (joint.nearest(legal) == legal).all()


def test_ball_joint_that_allows_all_changes_nothing():
    rotations = random_rotations(np.random.default_rng(1), 100)
    assert (BallJoint(PI, PI, PI, PI).nearest(rotations) == rotations).all()


# --- hinges ---------------------------------------------------------------------------------


def test_hinge_stops_at_the_nearer_end_of_its_interval():
    axis = [0.6, 0.8, 0.0]
    hinge = Hinge(axis=axis, lower=-0.5, upper=2.0)
    for angle, legal in [(1.0, 1.0), (2.5, 2.0), (-1.0, -0.5), (3.5, 2.0), (4.5, -0.5)]:
        assert_close(hinge.nearest(about(axis, angle)), about(axis, legal))


def test_hinge_takes_the_nearest_of_all_turns_about_its_axis():
    rng = np.random.default_rng(7)
    rest = about([0.0, 1.0, 0.0], 0.4)
    axis = about([0.0, 1.0, 0.0], 0.4) @ [1.0, 0.0, 0.0]
    for _ in range(50):
        lower = rng.uniform(-PI, PI)
        upper = lower + rng.uniform(0.0, 2.0 * PI)
        rotation = random_rotations(rng, 1)[0]
        allowed = about(axis, np.linspace(lower, upper, 20001)) @ rest
        best = np.linalg.norm(allowed - rotation, axis=(-2, -1)).min()
        nearest = Hinge(axis, lower, upper, rest).nearest(rotation)
        assert np.linalg.norm(nearest - rotation) <= best + 1e-12
        assert np.linalg.norm(allowed - nearest, axis=(-2, -1)).min() < 1e-3


def test_hinge_tells_the_angle_it_was_turned_by():
    axis = unit(np.array([1.0, 2.0, 0.0]))
    angles = np.linspace(-3.1, 3.1, 9)
    assert_close(Hinge(axis).angle(about(axis, angles)), angles)


def test_axis_of_any_length_is_made_a_unit_vector():
    assert_close(Hinge(axis=[0.0, 5e-200, 0.0]).axis, [0.0, 1.0, 0.0])


# --- values and misuse ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ('make', 'message'),
    [
        (lambda: BallJoint(-0.1, 1, 1, 1), 'right must be an angle from 0 to pi rad, got -0.1'),
        (lambda: BallJoint(1, 1, 3.2, 1), 'left must be an angle from 0 to pi rad, got 3.2'),
        (lambda: BallJoint(1, 1, 1, math.nan), 'down must be an angle from 0 to pi rad, got nan'),
        (lambda: BallJoint(1, 1, 1, 1, (1, 0)), 'twist limits must be finite and lower <= upper'),
        (lambda: Hinge([1, 0, 0], 0.0, math.inf), 'hinge limits must be finite .* got 0.0, inf'),
        (lambda: Hinge([0, 0, 0]), r'axis must be three finite numbers, not all zero'),
        (lambda: Hinge([1, 0, 1]), r'axis must be square to straight on.*off by 45 degrees'),
        (lambda: Hinge([1, 0, 0], rest=2 * np.eye(3)), 'rest must be a rotation matrix'),
        (lambda: BallJoint(1, 1, 1, 1, rest=-np.eye(3)), 'rest must be a rotation matrix'),
    ],
)
def test_limits_that_make_no_sense_are_refused_with_the_reason(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_limits_keep_copies_that_cannot_be_written():
    rest, axis = np.eye(3), np.array([1.0, 0.0, 0.0])
    hinge, ball = Hinge(axis, rest=rest), BallJoint(1, 1, 1, 1, rest=rest)
    rest[0, 0] = axis[0] = 7.0
    for array in (hinge.axis, hinge.rest, ball.rest):
        assert array.max() == 1.0
        with pytest.raises(ValueError, match='read-only'):
            array[0] = 0.0


def test_examples_in_the_docstrings_hold():
    results = doctest.testmod(point_limits_module)
    assert results.attempted >= 4
    assert results.failed == 0
