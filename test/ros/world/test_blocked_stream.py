"""A hand is pushed beyond an obstacle, fast, and the node in a process of its own keeps up."""

import pytest

pytest.importorskip('rclpy', reason='ROS 2 is not installed')
pytest.importorskip('pinocchio', reason='pinocchio is the judge')
pytest.importorskip('coal', reason='coal measures the distances')

from bench import (
    JOINTS,
    matrix_message,
    NO_PLANNER,
    PREPARATION,
    Puppet,
    shifted,
    six_axis_judge,
    START,
    values_at,
)
from helpers import mostly_long
from node_process import NodeProcess
import numpy as np

WALL = 'obstacles: {wall: {box: [2.0, 0.02, 2.0], xyz: [0.0, 0.45, 0.6]}}'
WALL_BEGINS, CLEARANCE = 0.44, 0.02
STATE_PERIOD = 0.03
HAND_SPEED = 0.25
REACHED_BY, COUNTED = 3.0, 5.0
"""When the hand is where it stays, and for how long it trembles there [s]."""


@pytest.fixture
def node(bench, domain_id, tmp_path, six_axis):
    scene = tmp_path / 'scene.yaml'
    scene.write_text(WALL)
    parameters = {**NO_PLANNER, 'scene': scene, 'tip_link': 'tool0'}
    bench.describe(six_axis)
    bench.puppet = Puppet(bench, values_at(JOINTS, START))
    bench.puppet._timer.timer_period_ns = round(1e9 * STATE_PERIOD)
    process = NodeProcess(domain_id, tmp_path, parameters, {})
    try:
        bench.wait_for_state('IDLE', PREPARATION)
        yield bench
    finally:
        process.end()
        assert not process.complaints()


@pytest.mark.parametrize('farthest', mostly_long([0.4, 0.6, 0.85, 1.2], 0.6))
@pytest.mark.parametrize('rate', mostly_long([60, 120], 120))
def test_state_that_came_is_never_lost_and_no_target_is_refused(node, six_axis, rate, farthest):
    start, sent, seen = six_axis_judge(six_axis).pose(START), [0], []
    publisher = node._targets_to('')
    node.spin_until(lambda: publisher.get_subscription_count() > 0, 'somebody listens to targets')

    def push():
        sent[0] += 1
        time = sent[0] / rate
        y = min(HAND_SPEED * time, farthest) + 0.0002 * (sent[0] % 2)
        publisher.publish(matrix_message(shifted(start, y=y, z=0.01 * np.sin(3.0 * time))))

    timer = node.tester.create_timer(1.0 / rate, push)
    node.spin_until(lambda: sent[0] >= REACHED_BY * rate, 'the hand is beyond the wall')
    begin, accepted = len(node.statuses), int(node.status['accepted'])
    node.spin_until(lambda: sent[0] >= (REACHED_BY + COUNTED) * rate, 'more targets')
    timer.cancel()
    seen = node.statuses[begin:]
    for status in seen:
        assert status['state'] == 'MOVING'
        assert 'sliding along: wrist_2_link, wall' in status['reason']
        assert status['last_refusal'] == ''
        assert int(status['accepted']) > accepted
        accepted = int(status['accepted'])
    q = [node.puppet.values[name] for name in JOINTS]
    assert six_axis_judge(six_axis).pose(q)[1, 3] < WALL_BEGINS - CLEARANCE
