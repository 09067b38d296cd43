"""What the hand has made of an obstacle, whatever its source tells meanwhile: a law."""

import pytest

pytest.importorskip('rclpy', reason='ROS 2 is not installed')
pytest.importorskip('hypothesis', reason='needs: pip install hypothesis')

from fabrik_ros.collision import Obstacle
from fabrik_ros.model.geometry import Sphere
from fabrik_ros.ros.inputs.marker_obstacles import deleted_by
from fabrik_ros.ros.world.handled_obstacles import Hand, HandledObstacles
from hypothesis import given, strategies as st
import numpy as np
from visualization_msgs.msg import Marker, MarkerArray

NAME = 'cup/0'
HAND = Hand('palm', ('palm',))


def place(x):
    T = np.eye(4)
    T[0, 3] = x
    return T


def cup(x):
    return Obstacle(NAME, Sphere(0.02), place(x))


steps = st.lists(
    st.one_of(
        st.tuples(st.just('tell'), st.integers(0, 2)),
        st.tuples(st.sampled_from(['fall silent', 'delete']), st.just(0)),
        st.tuples(st.sampled_from(['attach', 'detach']), st.integers(0, 2)),
    ),
    max_size=12,
)


@given(steps)
def test_what_was_put_down_stands_until_its_source_says_otherwise(steps):
    """That is another place than when it was put down, or that it is gone."""
    handled, told = HandledObstacles(HAND, ()), []
    carried, down = False, None
    for step, x in steps:
        seen = [*handled.applied(told), *handled.without_source(one.name for one in told)]
        if step == 'tell':
            told = [cup(x)]
            down = down if down is not None and down[1] == x else None
        elif step in ('fall silent', 'delete'):
            told = []
            if step == 'delete':
                handled, down = handled.deleting(lambda name: name == NAME), None
        elif step == 'attach' and seen and not carried:
            handled, carried = handled.attaching(told, NAME, place(x)), True
        elif step == 'detach' and carried:
            handled, carried = handled.detaching(told, NAME, place(x)), False
            T = place(x) @ seen[0].T_link_obstacle
            down = T[0, 3], told[0].T_link_obstacle[0, 3] if told else None
        handled.forget(told)
        now = [*handled.applied(told), *handled.without_source(one.name for one in told)]
        assert len(now) == bool(carried or down or told)
        if now and not carried:
            expected = down[0] if down else told[0].T_link_obstacle[0, 3]
            assert now[0].T_link_obstacle[0, 3] == expected
            assert now[0].link == ''


@pytest.mark.parametrize(
    ('marker', 'names'),
    [
        (Marker(ns='cup', id=1, action=Marker.DELETE), {'cup/1', 'cup/1/7'}),
        (Marker(id=1, action=Marker.DELETE), {'marker/1'}),
        (Marker(ns='cup', action=Marker.DELETEALL), {'cup/1', 'cup/1/7', 'cup/12', 'cup/-1'}),
        (Marker(ns='cup', id=1, action=Marker.ADD), set()),
    ],
)
def test_marker_deletes_what_has_its_names(marker, names):
    known = {'cup/1', 'cup/1/7', 'cup/12', 'cup/-1', 'cups/1', 'cup/red/1', 'marker/1', 'table'}
    pattern = deleted_by(MarkerArray(markers=[marker]))
    assert {name for name in known if pattern.fullmatch(name)} == names


def test_all_markers_are_deleted_and_nothing_of_the_file():
    pattern = deleted_by(MarkerArray(markers=[Marker(action=Marker.DELETEALL)]))
    assert pattern.fullmatch('cup/red/1')
    assert not pattern.fullmatch('table')
