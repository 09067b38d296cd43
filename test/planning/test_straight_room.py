"""Room straight ahead of a curve, in a plane beside a wall: judged by trigonometry."""

from fabrik_ros.planning.rounding import rounded
from fabrik_ros.planning.straight_room import FARTHEST, SHARE, SPACING, straight_room
from hypothesis import given, strategies as st
import numpy as np

WALL = 2.0
"""What is farther along x is not free."""


def free_share(q, q_next):
    along = q_next[0] - q[0]
    return min(1.0, (WALL - q[0]) / along) if along > 0.0 else 1.0


def room_ahead(q, direction):
    along = direction[0] / np.linalg.norm(direction)
    return min((WALL - q[0]) / along if along > 0.0 else np.inf, FARTHEST)


@given(st.integers(0, 2**32 - 1))
def test_room_is_what_is_free_straight_ahead(seed):
    corners = np.random.default_rng(seed).uniform(-1.9, 1.9, (5, 2))
    knots = rounded([*corners], lambda knots: True, 0.5)
    room = straight_room(knots, free_share)
    places = np.append(0.0, np.cumsum(np.linalg.norm(np.diff(knots, axis=0), axis=1)))
    inside = np.arange(1, len(knots) - 1)
    ahead = np.array([room_ahead(knots[i], knots[i + 1] - knots[i - 1]) for i in inside])
    for i in inside:
        around = ahead[np.abs(places[inside] - places[i]) <= 2.0 * SPACING]
        assert SHARE * (min(around) - SPACING) <= room[i] <= SHARE * (max(around) + SPACING)


def test_room_on_a_line_is_asked_for_once_and_is_the_distance_to_the_wall():
    asked = []

    def share(q, q_next):
        asked.append(q)
        return free_share(q, q_next)

    knots = np.column_stack([np.linspace(0.0, 1.5, 31), np.zeros(31)])
    room = straight_room(knots, share)
    assert len(asked) == 1
    exact = SHARE * np.minimum(WALL - knots[:, 0], FARTHEST)
    assert np.all(room <= exact + 1e-9)
    assert np.all(room >= exact - SPACING)
