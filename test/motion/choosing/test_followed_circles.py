"""A stream that the joints can follow with much to spare is followed evenly, however it comes."""

import functools

import pytest

pytest.importorskip('pinocchio', reason='pinocchio is the judge')
pytest.importorskip('xacro')

from fabrik_ros import example_arm, load_urdf
from fabrik_ros.kernels._jit import COMPILED
import followed_circles
from helpers import example_robot, mostly_long, REAL_ARMS
from judging import Judge
import numpy as np

LONGEST_SLOW, MOST_DISTANCE = 0.1 + 1e-9, 0.003
JITTER = 0.004
RATES = 10.0, 20.0, 30.0, 60.0, 100.0, 120.0
SEED, COUNT = 2, 5
ROUND = round(2.0 * np.pi / followed_circles.TURNING / followed_circles.DT)
"""Steps of a round [1]."""
CAUGHT_UP = round(followed_circles.SETTLED / followed_circles.DT)
"""Steps after which an arm is where it was to be a constant lag before [1]."""
MOST_DRIFT = 0.06
"""Largest joint move between the same places of one round and the next [rad]."""

pytestmark = pytest.mark.skipif(not COMPILED, reason='takes minutes interpreted')


@functools.cache
def drawn(name, seed=SEED):
    """Read an arm and its judge, and begin to draw circles, which are kept."""
    if name in REAL_ARMS:
        robot = load_urdf(example_robot(name))
        chain = robot.chain(REAL_ARMS[name].base_link or None, REAL_ARMS[name].tip_link)
    else:
        robot = load_urdf(example_arm(name))
        chain = robot.chain()
    judge = Judge(robot.source, chain.base_link, chain.tip_link)
    return chain, judge, followed_circles.circles(judge, seed), []


def circle_of(name, number, seed=SEED):
    """Return one of the circles of an arm."""
    _, _, found, circles = drawn(name, seed)
    while len(circles) <= number:
        circles.append(next(found))
    return circles[number]


def check(name, number, rate, seed=SEED):
    """One of the circles of an arm is followed at its speed and on its place."""
    chain, judge, *_ = drawn(name, seed)
    circle = circle_of(name, number, seed)
    done = followed_circles.follow(chain, judge, circle, rate, JITTER, number)
    assert done.longest_slow <= LONGEST_SLOW, (rate, number, done)
    assert done.distance <= MOST_DISTANCE, (rate, number, done)


@pytest.mark.parametrize('name', ['six_axis', 'seven_axis'])
def test_circle_is_followed_at_its_speed_at_any_rate(name):
    for number, rate in enumerate(RATES):
        check(name, number % COUNT, rate)


@pytest.mark.long
@pytest.mark.parametrize('name', ['six_axis', 'seven_axis'])
def test_every_circle_is_followed_at_its_speed_at_every_rate(name):
    for rate in RATES:
        for number in range(COUNT):
            check(name, number, rate)


@pytest.mark.parametrize(
    ('name', 'number', 'rate'),
    [
        ('tiago', 2, 15.0),
        pytest.param('tiago', 9, 60.0, marks=pytest.mark.long),
        pytest.param('tiago', 10, 20.0, marks=pytest.mark.long),
        ('tiago', 14, 10.0),
        pytest.param('tiago', 19, 120.0, marks=pytest.mark.long),
        ('xarm7', 0, 15.0),
        pytest.param('xarm7', 17, 100.0, marks=pytest.mark.long),
        ('tiago', 37, 60.0),
        pytest.param('tiago', 37, 100.0, marks=pytest.mark.long),
        pytest.param('xarm7', 35, 60.0, marks=pytest.mark.long),
    ],
)
def test_circle_that_was_slow_is_followed_at_its_speed(name, number, rate):
    check(name, number, rate)


@pytest.mark.parametrize('rate', mostly_long([15.0, 60.0, 100.0], 60.0))
def test_spare_joints_on_their_way_back_leave_centres_room_for_the_line(rate):
    """With all of their way back an elbow was at its limit, and the tip at 93 % for 0.16 s."""
    check('xarm7', 8, rate, seed=3)


@pytest.mark.long
@pytest.mark.parametrize(
    ('name', 'number'),
    [
        *(('tiago', number) for number in (2, 9, 10, 13, 14, 19, 24, 25, 30, 32, 34, 35, 39)),
        *(('xarm7', number) for number in (0, 17, 33)),
        ('panda', 39),
    ],
)
def test_circle_that_was_slow_is_followed_at_its_speed_at_any_rate(name, number):
    for rate in RATES:
        check(name, number, rate)


@pytest.mark.parametrize(
    ('name', 'number'), [('seven_axis', 0), ('xarm7', 0), ('xarm7', 1), ('tiago', 0)]
)
def test_spare_joints_do_not_drift_from_round_to_round(name, number):
    chain, *_ = drawn(name)
    way = followed_circles.commands(chain, circle_of(name, number), 60.0, JITTER, number)
    rounds = np.array(way[CAUGHT_UP:])
    assert np.abs(rounds[ROUND:] - rounds[:-ROUND]).max() <= MOST_DRIFT
