"""A stream that the joints can follow with much to spare is followed evenly, however it comes."""

import pytest

pytest.importorskip('pinocchio', reason='pinocchio is the judge')
pytest.importorskip('xacro')

from fabrik_ros import example_arm, load_urdf
from fabrik_ros.kernels._jit import COMPILED
import followed_circles
from judging import Judge

LONGEST_SLOW, MOST_DISTANCE = 0.1 + 1e-9, 0.003
JITTER = 0.004
COUNT = 5


def arm(name):
    robot = load_urdf(example_arm(name))
    chain = robot.chain()
    judge = Judge(robot.source, chain.base_link, chain.tip_link)
    found = followed_circles.circles(judge, seed=2)
    return chain, judge, [next(found) for _ in range(COUNT)]


@pytest.mark.skipif(not COMPILED, reason='takes minutes interpreted')
@pytest.mark.parametrize('name', ['six_axis', 'seven_axis'])
def test_circle_is_followed_at_its_speed_at_any_rate(name):
    chain, judge, circles = arm(name)
    for rate in (10.0, 20.0, 30.0, 60.0, 100.0, 120.0):
        for seed, circle in enumerate(circles):
            done = followed_circles.follow(chain, judge, circle, rate, JITTER, seed)
            assert done.longest_slow <= LONGEST_SLOW, (rate, seed, done)
            assert done.distance <= MOST_DISTANCE, (rate, seed, done)
