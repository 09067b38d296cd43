"""A stream that the joints can follow with much to spare is followed evenly, however it comes."""

import functools

import pytest

pytest.importorskip('pinocchio', reason='pinocchio is the judge')
pytest.importorskip('xacro')

from fabrik_ros import example_arm, load_urdf
from fabrik_ros.kernels._jit import COMPILED
import followed_circles
from helpers import example_robot, REAL_ARMS
from judging import Judge

LONGEST_SLOW, MOST_DISTANCE = 0.1 + 1e-9, 0.003
JITTER = 0.004
RATES = 10.0, 20.0, 30.0, 60.0, 100.0, 120.0
COUNT = 5

pytestmark = pytest.mark.skipif(not COMPILED, reason='takes minutes interpreted')


@functools.cache
def drawn(name):
    """Read an arm and its judge, and begin to draw circles, which are kept."""
    if name in REAL_ARMS:
        robot = load_urdf(example_robot(name))
        chain = robot.chain(REAL_ARMS[name].base_link or None, REAL_ARMS[name].tip_link)
    else:
        robot = load_urdf(example_arm(name))
        chain = robot.chain()
    judge = Judge(robot.source, chain.base_link, chain.tip_link)
    return chain, judge, followed_circles.circles(judge, seed=2), []


def check(name, number, rate):
    """One of the circles of an arm is followed at its speed and on its place."""
    chain, judge, found, circles = drawn(name)
    while len(circles) <= number:
        circles.append(next(found))
    done = followed_circles.follow(chain, judge, circles[number], rate, JITTER, number)
    assert done.longest_slow <= LONGEST_SLOW, (rate, number, done)
    assert done.distance <= MOST_DISTANCE, (rate, number, done)


@pytest.mark.parametrize('name', ['six_axis', 'seven_axis'])
def test_circle_is_followed_at_its_speed_at_any_rate(name):
    for rate in RATES:
        for number in range(COUNT):
            check(name, number, rate)


@pytest.mark.parametrize(
    ('number', 'rate'), [(2, 15.0), (9, 60.0), (10, 20.0), (14, 10.0), (19, 120.0)]
)
def test_circle_near_limits_of_joints_is_followed_at_its_speed(number, rate):
    check('tiago', number, rate)


@pytest.mark.long
@pytest.mark.parametrize('number', [2, 9, 10, 14, 19, 24, 30, 32, 35, 39])
def test_circle_near_limits_of_joints_is_followed_at_its_speed_at_any_rate(number):
    for rate in RATES:
        check('tiago', number, rate)
