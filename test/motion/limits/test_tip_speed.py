"""Speeds of tips and joint centres: as finite differences tell them."""

from fabrik_ros import load_urdf
from fabrik_ros.motion.limits.limits import MotionLimits
from fabrik_ros.motion.limits.tip_speed import TipSpeed
from helpers import assert_close, example_robot, REAL_ARMS, Segment, serial_xml
import numpy as np
import pytest

STEP = 1e-6
FASTEST, HARDEST, DT = 1.5, 5.0, 0.01
SLIDES_AND_HINGES = serial_xml(
    [
        Segment('prismatic', axis=(1.0, 0.0, 0.0), lower=-0.5, upper=0.5),
        Segment('continuous', xyz=(0.0, 0.0, 0.4)),
        Segment(axis=(0.0, 1.0, 0.0), xyz=(0.1, 0.0, 0.3), lower=-2.0, upper=2.0),
        Segment('prismatic', axis=(0.0, 0.6, 0.8), xyz=(0.2, 0.0, 0.0), lower=-0.3, upper=0.3),
        Segment(axis=(1.0, 0.0, 0.0), xyz=(0.0, 0.1, 0.2), lower=-2.0, upper=2.0),
        Segment('fixed', xyz=(0.05, 0.0, 0.2)),
    ]
)


def chain_of(name):
    if name == 'slides and hinges':
        return load_urdf(SLIDES_AND_HINGES).chain()
    known = REAL_ARMS[name]
    return load_urdf(example_robot(name)).chain(known.base_link, known.tip_link)


def limits_of(chain, tip_speed, tip_rotation):
    n = len(chain)
    return MotionLimits(tip_speed, tip_rotation, 1.0, np.full(n, 1.5), np.full(n, 5.0))


def turned(T, T_other):
    """Angle between two poses that are close together [rad]."""
    return np.linalg.norm(T[:3, :3] - T_other[:3, :3]) / np.sqrt(2.0)


@pytest.mark.parametrize('name', ['slides and hinges', 'ur5', 'panda'])
def test_share_is_the_limit_over_the_speed_of_the_fastest_point(name):
    chain, rng = chain_of(name), np.random.default_rng(1)
    for _ in range(20):
        q, velocity = chain.random_configuration(rng), rng.normal(size=len(chain))
        ends = [q - 0.5 * STEP * velocity, q + 0.5 * STEP * velocity]
        before, after = map(chain.points, ends)
        fastest = np.linalg.norm(after - before, axis=1).max() / STEP
        turning = turned(*map(chain.forward_kinematics, ends)) / STEP
        for limits in ((0.25, 1e6), (1e6, 1.0)):
            tip_speed = TipSpeed(chain)
            tip_speed.change_limits(limits_of(chain, *limits))
            expected = min(limits[0] / fastest, limits[1] / turning)
            assert tip_speed.largest_share(q, velocity) == pytest.approx(expected, rel=1e-5)


def test_arms_that_share_a_body_are_as_fast_as_the_fastest_of_them():
    robot = load_urdf(example_robot('talos'))
    tree = robot.tree('base_link', ('gripper_left_base_link', 'gripper_right_base_link'))
    q = 0.5 * (tree.lower + tree.upper)
    velocity = np.random.default_rng(1).normal(size=len(tree))
    both = TipSpeed(tree)
    both.change_limits(limits_of(tree, 0.25, 1.0))
    shares = []
    for chain in tree.chains:
        of_tree = [tree.joint_names.index(name) for name in chain.joint_names]
        one = TipSpeed(chain)
        one.change_limits(limits_of(chain, 0.25, 1.0))
        shares.append(one.largest_share(q[of_tree], velocity[of_tree]))
    assert_close(both.largest_share(q, velocity), min(shares), 1e-12)


def test_slide_that_carries_all_goes_as_fast_as_the_tip_may():
    chain = chain_of('slides and hinges')
    tip_speed = TipSpeed(chain)
    tip_speed.change_limits(limits_of(chain, 0.25, 1.0))
    slide = np.array([1.0, 0.0, 0.0, 0.0, 0.0])
    share = tip_speed.share_along(np.zeros(5), slide, 1.0, 2.0, 0.01)
    assert share == pytest.approx(0.25)
    assert tip_speed.share_along(np.zeros(5), slide, 0.5, 2.0, 0.01) == pytest.approx(0.125)
    assert tip_speed.share_along(np.zeros(5), 0.1 * slide, 1.0, 2.0, 0.01) == 1.0


CHANGE = HARDEST / FASTEST * DT
"""Greatest change of a speed in a step, in units of the greatest joint velocity [1]."""


def next_on_joint_path(chain, tip_speed, q, path, now):
    """Speed of the next step of an arm; see `TipSpeed.on_joint_path`."""
    n = len(chain)
    limits = np.array([chain.lower, chain.upper, np.full(n, FASTEST), np.full(n, HARDEST)])
    return tip_speed.on_joint_path(limits, q, path, now, 1.0, CHANGE, 2.0, DT, 0.0)


def test_arm_whose_points_are_too_fast_brakes_fully_while_its_path_bends():
    chain, rng = chain_of('ur5'), np.random.default_rng(3)
    tip_speed = TipSpeed(chain)
    tip_speed.change_limits(limits_of(chain, 0.25, 1.0))
    for _ in range(300):
        q = chain.random_configuration(rng)
        now, path = rng.normal(size=(2, len(chain)))
        now *= 2.0 * tip_speed.largest_share(q, FASTEST * now)
        if np.abs(now).max() > 1.0:
            continue
        speed = next_on_joint_path(chain, tip_speed, q, path, now)
        assert np.abs(speed - now).max() <= CHANGE * (1.0 + 1e-9)
        assert tip_speed.largest_share(q, FASTEST * speed) > 0.5 * (1.0 + 0.99 * CHANGE)


def test_arm_that_is_at_its_goal_brakes_straight_on():
    chain = chain_of('slides and hinges')
    tip_speed, now = TipSpeed(chain), 0.1 * np.arange(1.0, 6.0) / 5.0
    tip_speed.change_limits(limits_of(chain, 0.25, 1.0))
    speed = next_on_joint_path(chain, tip_speed, np.zeros(5), np.zeros(5), now)
    assert_close(speed, now * (1.0 - CHANGE / 0.1), 1e-12)
