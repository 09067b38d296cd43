"""A commander that asks for one move after the other, whatever is done to node, arm and clock."""

from pathlib import Path
import sys

import pytest

pytest.importorskip('rclpy', reason='ROS 2 is not installed')
pytest.importorskip('pinocchio', reason='pinocchio is the judge')

sys.path.insert(0, str(Path(__file__).parents[2] / 'benchmark' / 'endurance'))

from moves import ACTIONS, looped

MOVES = 200


@pytest.mark.long
def test_moves_in_simulated_time_all_end_and_what_is_said_of_them_is_true(network, tmp_path):
    loop = looped(int(network['ROS_DOMAIN_ID']), tmp_path, MOVES, 1, list(ACTIONS))
    assert loop.wrong == []
    assert loop.moves >= MOVES
    assert loop.ends['arrived'] > MOVES // 3
