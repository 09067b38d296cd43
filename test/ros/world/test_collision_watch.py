"""The node stops in front of a collision of the arm with its own body, judged by pinocchio."""

import sys

import pytest

pytest.importorskip('rclpy', reason='ROS 2 is not installed')
pytest.importorskip('coal', reason='coal looks after collisions, and judges them')
pytest.importorskip('pinocchio', reason='pinocchio is the judge')

from bench import pose_message, PREPARATION, values_at
from helpers import joint_xml, LIMIT, mostly_long, robot_xml
import numpy as np
import pinocchio
from visualization_msgs.msg import MarkerArray

WIDE = '<limit lower="-3" upper="3" velocity="2" effort="9"/>'


def link(name, size, x, y=0.0):
    geometry = f'<geometry><box size="{size}"/></geometry>'
    return f'<link name="{name}"><collision><origin xyz="{x} {y} 0"/>{geometry}</collision></link>'


ARM = robot_xml(
    '',
    link('base', '0.1 0.4 0.4', 0.0, 0.6),
    link('upper', '0.3 0.06 0.06', 0.25),
    link('lower', '0.3 0.06 0.06', 0.25),
    '<link name="tip"/>',
    joint_xml('shoulder', 'base', 'upper', body=f'<axis xyz="0 0 1"/>{WIDE}'),
    joint_xml('elbow', 'upper', 'lower', body=f'<origin xyz="0.5 0 0"/><axis xyz="0 0 1"/>{WIDE}'),
    joint_xml('tool', 'lower', 'tip', 'fixed', '<origin xyz="0.4 0 0"/>'),
)
"""Two links in a plane; the body has a wall at y = 0.4 to 0.8 m, above the shoulder."""
BARE = robot_xml(
    'base upper tip',
    joint_xml('shoulder', 'base', 'upper', body=f'<axis xyz="0 0 1"/>{LIMIT}'),
    joint_xml('tool', 'upper', 'tip', 'fixed', '<origin xyz="0.4 0 0"/>'),
)

BEFORE, BEHIND, INSIDE = (0.6, 0.2), (2.4, 0.2), (0.9, 1.6)
FAST = 1.0
"""For a tip that goes all the way [m/s]."""
STREAM_REPORTS = 15
"""So many statuses, ten a second, after the last target a next one belongs to no stream."""


def tip_at(q):
    a, b = q[0], q[0] + q[1]
    place = 0.5 * np.cos(a) + 0.4 * np.cos(b), 0.5 * np.sin(a) + 0.4 * np.sin(b), 0.0
    return pose_message(place, (0.0, 0.0, np.sin(b / 2), np.cos(b / 2)), 'base')


def nearest(commands, links=('upper', 'lower')):
    """Least distance [m] of links from the wall over all commands, by pinocchio."""
    model = pinocchio.buildModelFromXML(ARM)
    geometry = pinocchio.buildGeomFromUrdfString(model, ARM, pinocchio.GeometryType.COLLISION)
    names = [shape.name.rsplit('_', 1)[0] for shape in geometry.geometryObjects]
    wall = names.index('base')
    for link in links:
        geometry.addCollisionPair(pinocchio.CollisionPair(wall, names.index(link)))
    data, shapes = model.createData(), geometry.createData()
    least = np.inf
    for q in commands:
        pinocchio.computeDistances(model, data, geometry, shapes, q)
        least = min(least, *(result.min_distance for result in shapes.distanceResults))
    return least


def started(bench, **parameters):
    parameters = {'mode': 'position', 'path': 'joint', 'max_tip_speed': FAST, **parameters}
    bench.start_all(ARM, values_at(('shoulder', 'elbow'), BEFORE), **parameters)
    return bench


def approach(bench, q):
    """Send the arm towards a target as a stream does: at once, as far as that goes."""
    bench.send(tip_at((0.7, 0.2)))
    bench.wait_for_count('accepted', 1)
    bench.send(tip_at(q))
    bench.wait_for_count('accepted', 2)
    return bench.wait_for_state('HOLDING')


@pytest.mark.parametrize('path', mostly_long(['line', 'joint', 'auto'], 'line'))
def test_target_behind_the_body_moves_nothing_and_says_why(bench, path):
    started(bench)
    assert bench.set(path=path) == []
    bench.send(tip_at(BEHIND))
    status = bench.wait_for_state('HOLDING')
    assert status['reason_code'] in ('collision_ahead', 'path_blocked', 'stalled', 'no_path')
    bench.wait_until_silent()
    assert len(bench.commands) == 0


def test_arm_in_a_stream_stops_in_front_of_its_body_and_names_the_links(bench):
    started(bench)
    assert bench.status['self_collision'].startswith('on: ')
    reason = approach(bench, BEHIND)['reason']
    assert 'collision ahead' in reason
    assert "'base'" in reason
    bench.wait_until_silent(4)
    assert 0.0 < nearest(bench.commands.q) < 0.3
    assert float(bench.status['nearest_distance']) >= 0.002 - 1e-9
    assert 'base' in bench.status['nearest_links']


def test_before_the_first_command_distances_and_pictures_are_of_the_arm_as_measured(bench):
    started(bench)
    bench.wait_for_statuses(2)
    expected = nearest([np.array(BEFORE)], links=['lower'])
    assert float(bench.status['nearest_distance']) == pytest.approx(expected, abs=1e-6)
    pictures = []
    bench._listen(MarkerArray, 'fabrik/markers', pictures.append)
    bench.spin_until(lambda: pictures, 'a picture')
    x, y = tip_at(BEFORE).pose.position.x, tip_at(BEFORE).pose.position.y
    drawn = [(p.x, p.y) for marker in pictures[-1].markers for p in marker.points]
    assert min(np.hypot(x - a, y - b) for a, b in drawn) < 1e-6


def test_links_that_are_far_from_each_other_are_not_shown_as_near(bench):
    started(bench)
    pictures = []
    bench._listen(MarkerArray, 'fabrik/markers', pictures.append)
    bench.spin_until(lambda: len(pictures) > 2, 'pictures')
    assert {marker.ns for marker in pictures[-1].markers}.isdisjoint(
        {'fabrik/self', 'fabrik/nearest'}
    )


def test_shortest_line_to_what_is_nearest_is_shown(bench):
    started(bench, collision_clearance=0.1)
    pictures = []
    bench._listen(MarkerArray, 'fabrik/markers', pictures.append)
    bench.spin_until(lambda: pictures, 'a picture')
    markers = {(m.ns, m.id): m for m in pictures[-1].markers}
    line, text = markers['fabrik/self', 0], markers['fabrik/self', 1]
    ends = np.array([(p.x, p.y) for p in line.points])
    expected = nearest([np.array(BEFORE)], links=['lower'])
    assert np.linalg.norm(ends[1] - ends[0]) == pytest.approx(expected, abs=1e-5)
    on_wall = np.abs(ends - (0.0, 0.6)) <= (0.05 + 1e-6, 0.2 + 1e-6)
    assert sorted(on_wall.all(axis=1)) == [False, True], 'one end on the wall'
    assert line.header.frame_id == 'base'
    assert text.text == f'{1000.0 * expected:.0f} mm'
    middle = text.pose.position
    assert (middle.x, middle.y) == pytest.approx(tuple(ends.mean(axis=0)))


def test_nothing_is_said_of_where_an_arm_is_that_nobody_measures(bench):
    bench.start_node(mode='position')
    bench.describe(ARM)
    status = bench.wait_for_state('WAITING_FOR_STATE', PREPARATION)
    assert status['self_collision'].startswith('on: ')
    assert 'nearest_distance' not in status


@pytest.mark.long
def test_arm_that_stopped_goes_back(bench):
    started(bench)
    approach(bench, BEHIND)
    bench.wait_until_silent(STREAM_REPORTS)
    bench.send(tip_at(BEFORE))
    bench.wait_for_state('REACHED')
    assert nearest(bench.commands.q) > 0.0


@pytest.mark.long
def test_target_inside_the_body_says_so_and_is_approached(bench):
    started(bench, max_tip_speed=0.25)  # who is fast stops farther away
    bench.send(tip_at(INSIDE))
    reason = bench.wait_for_state('HOLDING')['reason']
    assert reason.startswith("the target is in collision: 'base' and 'l")
    bench.wait_until_silent(4)
    assert 0.0 < nearest(bench.commands.q, links=['lower']) < 0.02


def test_target_inside_the_body_moves_nothing_where_the_arm_is_to_hold(bench):
    started(bench, on_unreachable='hold')
    bench.send(tip_at(INSIDE))
    reason = bench.wait_for_state('HOLDING')['reason']
    assert reason.startswith("the target is in collision: 'base' and 'l")
    bench.send(tip_at((0.5, 0.3)))
    bench.wait_for_state('REACHED')
    assert nearest(bench.commands.q) > 0.2


@pytest.mark.long
def test_where_it_is_told_not_to_look_it_goes_through(bench):
    started(bench, self_collision='never')
    assert bench.status['self_collision'] == "off: the parameter self_collision is 'never'"
    bench.send(tip_at(BEHIND))
    bench.wait_for_state('REACHED')
    assert nearest(bench.commands.q) <= 0.0


@pytest.mark.long
def test_links_that_may_touch_do(bench):
    started(bench, allowed_collisions=['base/upper', 'lower/base'])
    bench.send(tip_at(BEHIND))
    bench.wait_for_state('REACHED')


# Targets for joints.

LOW, HIGH = (1.0, -1.5), (1.0, 2.5)
"""The lower link in front of the wall and under it: the elbow alone would swing it into that."""


@pytest.mark.long
def test_joint_target_with_the_body_in_between_is_reached_over_another_configuration(bench):
    start = values_at(('shoulder', 'elbow'), LOW)
    bench.start_all(ARM, start, mode='position', max_tip_speed=FAST)
    assert nearest([np.array([1.0, elbow]) for elbow in np.linspace(-1.5, 2.5, 50)]) < 0.0
    bench.send_joints(['elbow'], [HIGH[1]])
    bench.wait_for_state('REACHED')
    assert np.abs(bench.commands.q[-1] - HIGH).max() < 1e-6
    assert np.ptp(bench.commands.q[:, 0]) > 0.1, 'the shoulder makes room'
    assert nearest(bench.commands.q) >= 0.002 - 1e-6


@pytest.mark.long
def test_joint_target_to_which_there_is_no_way_moves_nothing_and_says_why(bench):
    started(bench)
    bench.send_joints(['shoulder', 'elbow'], BEHIND)
    status = bench.wait_for_state('HOLDING')
    assert status['reason_code'] == 'collision_ahead'
    assert "'base'" in status['reason']
    bench.wait_until_silent()
    assert len(bench.commands) == 0


# What cannot be had.

NO_COAL = 'off: coal is not installed; cure: sudo apt install ros-$ROS_DISTRO-coal, or'
NO_GEOMETRY = 'off: no link has a shape: the robot has no <collision> geometry'

ONE_SHAPE = BARE.replace('<link name="base"/>', link('base', '0.1 0.1 0.1', 0.0))
NO_OTHER = "off: no link but 'base' has a shape"


@pytest.mark.parametrize(
    ('robot', 'state'),
    [
        (ARM, NO_COAL),
        (ONE_SHAPE, NO_OTHER),
        pytest.param(BARE, NO_GEOMETRY, marks=pytest.mark.long),
    ],
)
def test_what_is_missing_is_said_once_in_the_log_and_always_in_the_status(
    bench, monkeypatch, capfd, robot, state
):
    if robot is ARM:
        monkeypatch.setitem(sys.modules, 'coal', None)
    bench.start_all(robot, values_at(('shoulder', 'elbow'), BEFORE))
    for _ in range(3):
        bench.wait_for_statuses(2)
        assert bench.status['self_collision'].startswith(state)
    assert capfd.readouterr().err.count(f'self-collision checking is {state}') == 1


@pytest.mark.parametrize(
    ('robot', 'state'), [(ARM, NO_COAL), (BARE, NO_GEOMETRY), (ONE_SHAPE, NO_OTHER)]
)
def test_node_does_not_configure_without_what_it_requires(bench, monkeypatch, robot, state):
    if robot is ARM:
        monkeypatch.setitem(sys.modules, 'coal', None)
    bench.start_node(self_collision='require')
    bench.describe(robot)
    bench.spin_until(lambda: 'require' in bench.status.get('reason', ''), 'a reason')
    assert bench.status['state'] == 'WAITING_FOR_MODEL'
    said = f"self_collision is 'require', but self-collision checking is {state}"
    assert bench.status['reason'].startswith(said)


def test_node_configures_with_what_it_requires(bench):
    started(bench, self_collision='require')
    assert bench.status['self_collision'].startswith('on: ')


# Clearances of pairs.


def test_pair_keeps_its_own_clearance_and_the_status_names_it(bench):
    started(bench, pair_clearances=['lower/base=0.05'])
    reason = approach(bench, BEHIND)['reason']
    assert "'base' and 'lower' would come within 50 mm" in reason
    bench.wait_until_silent(4)
    assert 0.05 - 1e-6 < nearest(bench.commands.q, links=['lower']) < 0.3
    assert bench.status['nearest_links'] == 'base, lower'
    assert float(bench.status['nearest_clearance']) == 0.05


def test_target_within_the_clearance_of_a_pair_says_so(bench):
    """The same target is free with the clearance of all pairs."""
    started(bench, pair_clearances=['base/lower=0.25'], on_unreachable='hold')
    near = (1.2, 0.2)
    assert 0.002 < nearest([np.array(near)], links=['lower']) < 0.25
    bench.send(tip_at(near))
    reason = bench.wait_for_state('HOLDING')['reason']
    assert "the target is in collision: 'base' and 'lower' would come within 250 mm" in reason


@pytest.mark.parametrize('self_collision', ['auto', 'require'])
def test_clearance_of_an_unknown_link_is_refused_with_the_nearest_name(bench, self_collision):
    bench.start_node(self_collision=self_collision, pair_clearances=['base/lowr=0.05'])
    bench.describe(ARM)
    bench.spin_until(lambda: 'lowr' in bench.status.get('reason', ''), 'a reason')
    assert bench.status['state'] == 'WAITING_FOR_MODEL'
    assert "no link named 'lowr'; did you mean 'lower'?" in bench.status['reason']


def test_clearance_of_a_pair_that_is_not_checked_is_warned_about(bench, capfd):
    started(bench, pair_clearances=['upper/lower=0.05', 'base/tip=0.1', 'base/lower=0.01'])
    said = capfd.readouterr().err
    assert "pair_clearances: 'upper' and 'lower' are not checked: they are neighbours" in said
    assert "pair_clearances: 'base' and 'tip' are not checked: one has no geometry" in said
    assert "'base' and 'lower' are not checked" not in said
