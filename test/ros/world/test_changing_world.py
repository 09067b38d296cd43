"""Obstacles that come and go while the arm moves; judged by trigonometry."""

import pytest

pytest.importorskip('rclpy', reason='ROS 2 is not installed')
pytest.importorskip('coal', reason='coal measures the distances')

from bench import LATCHED, pose_message, values_at
from command_judge import accelerations, velocities
from helpers import joint_xml, robot_xml
import numpy as np
from std_srvs.srv import Trigger
from visualization_msgs.msg import Marker, MarkerArray

WIDE = '<limit lower="-3" upper="3" velocity="2" effort="9"/>'
BALL, CLEARANCE = 0.05, 0.02
START, END = (0.0, 0.5), (1.5, -0.5)
FAST = 1.0
"""For a tip that goes all the way [m/s]."""
FASTEST, HARDEST = 1.5, 5.0
"""Defaults of the node for joints [rad/s], [rad/s^2]."""


def link(name):
    geometry = f'<geometry><sphere radius="{BALL}"/></geometry>'
    return f'<link name="{name}"><collision><origin xyz="0.4 0 0"/>{geometry}</collision></link>'


ARM = robot_xml(
    'base tip',
    link('upper'),
    link('lower'),
    joint_xml('shoulder', 'base', 'upper', body=f'<axis xyz="0 0 1"/>{WIDE}'),
    joint_xml('elbow', 'upper', 'lower', body=f'<origin xyz="0.5 0 0"/><axis xyz="0 0 1"/>{WIDE}'),
    joint_xml('tool', 'lower', 'tip', 'fixed', '<origin xyz="0.4 0 0"/>'),
)
"""Two links in a plane; a ball 0.1 m short of the elbow, another one at the tip."""


def tips(q):
    """Where the tip is at joint values of shape (m, 2): shape (m, 2), on paper [m]."""
    q = np.asarray(q).reshape(-1, 2)
    a, b = q[:, 0], q.sum(axis=1)
    x, y = 0.5 * np.cos(a) + 0.4 * np.cos(b), 0.5 * np.sin(a) + 0.4 * np.sin(b)
    return np.column_stack([x, y])


def target(q):
    (x, y), half = tips(q)[0], 0.5 * sum(q)
    return pose_message((x, y, 0.0), (0.0, 0.0, np.sin(half), np.cos(half)), 'base')


def gaps(q, centre, radius):
    """Distances of both balls from a post, shape (2, m) [m]."""
    q = np.asarray(q).reshape(-1, 2)
    elbow = 0.4 * np.column_stack([np.cos(q[:, 0]), np.sin(q[:, 0])])
    balls = elbow, tips(q)
    return np.array([np.linalg.norm(ball - centre, axis=1) for ball in balls]) - radius - BALL


def post(centre, radius, name='post', frame='base', **fields):
    marker = Marker(ns=name, type=Marker.CYLINDER, action=Marker.ADD, **fields)
    marker.header.frame_id = frame
    marker.pose.position.x, marker.pose.position.y = map(float, centre)
    marker.scale.x = marker.scale.y = 2.0 * radius
    marker.scale.z = 1.0
    return marker


class World:
    """What publishes obstacles."""

    def __init__(self, bench, latched=False):
        self.bench = bench
        qos = LATCHED if latched else 10
        self.publisher = bench.tester.create_publisher(MarkerArray, 'fabrik/obstacles', qos)

    def wait_until_heard(self):
        self.bench.spin_until(self.publisher.get_subscription_count, 'someone who heeds obstacles')

    def say(self, *markers):
        self.wait_until_heard()
        self.publisher.publish(MarkerArray(markers=list(markers)))

    def show(self, *markers, count=None):
        self.say(*markers)
        self.bench.wait_for_count('obstacles', len(markers) if count is None else count)

    def delete_all(self):
        self.show(Marker(action=Marker.DELETEALL), count=0)


@pytest.fixture
def world(bench):
    return World(bench)


def start(bench, **parameters):
    values = values_at(('shoulder', 'elbow'), START)
    bench.start_all(ARM, values, mode='position', **parameters)


def set_out(bench, world):
    """Send the arm past an empty place, and wait until it moves at its full speed."""
    world.wait_until_heard()
    bench.send(target(END))
    bench.wait_for_commands(40)


def check_commands(bench):
    for times, q in bench.commands.runs():
        if len(times) < 3:
            continue  # nothing moved
        assert np.abs(velocities(times, q)).max() <= FASTEST * 1.001
        assert np.abs(accelerations(times, q)).max() <= HARDEST * 1.05


def test_obstacles_in_markers_are_kept_clear_of(bench, world):
    start(bench, max_tip_speed=FAST)
    world.show(post((0.6, 0.6), 0.1))
    bench.send(target(END))
    bench.wait_for_state('REACHED')
    assert gaps(bench.commands.q, (0.6, 0.6), 0.1).min() > CLEARANCE - 1e-4
    assert 'post' in bench.status['nearest_links']


def test_markers_come_and_go_as_in_rviz(bench, world):
    start(bench)
    far = (5.0, 0.0)
    world.show(post(far, 0.1, 'a'), post(far, 0.1, 'b'), post(far, 0.1, 'b', id=1))
    world.show(post(far, 0.3, 'a'), count=3)
    world.show(Marker(ns='a', action=Marker.DELETE), count=2)
    world.show(Marker(ns='b', action=Marker.DELETEALL), count=0)
    brief = post(far, 0.1, 'brief')
    brief.lifetime.nanosec = 300_000_000
    world.show(brief, post(far, 0.1))
    bench.wait_for_count('obstacles', 1)
    world.delete_all()


def test_obstacles_that_were_said_before_the_node_began_are_known(bench):
    world = World(bench, latched=True)
    world.publisher.publish(MarkerArray(markers=[post((5.0, 0.0), 0.1)]))
    start(bench)
    bench.wait_for_count('obstacles', 1)


def test_post_that_appears_on_the_path_stops_the_arm_until_it_may_go_on(bench, world):
    start(bench)
    set_out(bench, world)
    world.say(post((0.45, 0.65), 0.1))
    status = bench.wait_for_state('HOLDING')
    assert "'lower' and 'post/0' would come within 20 mm" in status['reason']
    assert '~/resume goes on once the way is free' in status['reason']
    assert status['reason_code'] == 'collision_ahead'
    bench.wait_until_silent(4)
    assert gaps(bench.commands.q, (0.45, 0.65), 0.1).min() > 0.1  # it did not go up to it
    world.delete_all()
    bench.wait_until_silent()
    assert bench.status['state'] == 'HOLDING'
    assert bench.set(max_tip_speed=FAST) == []
    answer = bench.ask(Trigger, 'fabrik/resume', Trigger.Request())
    assert (answer.success, answer.message) == (True, 'going on to the target')
    bench.wait_for_state('REACHED')
    np.testing.assert_allclose(tips(bench.commands.q[-1])[0], tips(END)[0], atol=1e-3)
    check_commands(bench)


@pytest.mark.long
def test_same_target_after_a_pause_goes_on_once_the_way_is_free(bench, world):
    start(bench)
    set_out(bench, world)
    world.say(post((0.45, 0.65), 0.1))
    bench.wait_for_state('HOLDING')
    while 'still stopping' in (refusal := bench.refusal(target(END))):
        pass
    assert 'after 1 s without any' in refusal
    world.delete_all()
    assert bench.set(max_tip_speed=FAST) == []
    bench.wait_until_it_may_set_out()
    bench.send(target(END))
    bench.wait_for_state('REACHED')


def test_arm_that_may_looks_for_another_path_and_says_so_before(bench, world):
    start(bench, on_blocked='replan')
    set_out(bench, world)
    world.say(post((0.6, 0.6), 0.1))
    reason = bench.wait_for_state('HOLDING')['reason']
    assert 'looks for another path after 1 s without a change nearby (1 of 3)' in reason
    stopped = len(bench.commands)
    assert bench.set(max_tip_speed=FAST) == []
    bench.wait_for_state('REACHED')
    assert gaps(bench.commands.q, (0.6, 0.6), 0.1).min() > CLEARANCE - 1e-4
    times = bench.commands.times
    assert times[stopped] - times[stopped - 1] < 0.05  # it was still braking
    assert np.diff(times).max() > 1.0
    check_commands(bench)


def test_post_inside_the_stopping_distance_brakes_fully_and_says_contact_is_possible(bench, world):
    start(bench)
    set_out(bench, world)
    here, before = tips(bench.commands.q[-1])[0], tips(bench.commands.q[-6])[0]
    ahead = (here - before) / np.linalg.norm(here - before)
    centre = here + (2 * BALL + CLEARANCE + 0.02) * ahead
    world.say(post(centre, BALL))
    status = bench.wait_for_state('HOLDING')
    assert status['reason'].startswith('contact possible: lower, post/0')
    assert status['reason_code'] == 'contact_possible'
    bench.wait_until_silent(4)
    check_commands(bench)


@pytest.mark.long
def test_arm_inside_a_post_moves_only_out_of_it(bench, world):
    start(bench, path='line', max_tip_speed=FAST)
    centre = tips(START)[0] + (0.0, -0.08)
    world.show(post(centre, BALL))
    bench.send(target((-0.5, 0.5)))  # through the post
    assert "collision: 'lower' and 'post/0'" in bench.wait_for_state('HOLDING')['reason']
    assert len(bench.commands) == 0
    bench.wait_until_it_may_set_out()
    bench.send(target(END))
    bench.wait_for_state('REACHED')
    distances = gaps(bench.commands.q, centre, BALL)[1]
    assert distances[0] < 0.0
    inside = distances[distances < CLEARANCE]
    assert (np.diff(inside) > -1e-5).all()
    check_commands(bench)


def test_obstacle_locked_to_a_link_moves_with_it(bench, world):
    start(bench, max_tip_speed=FAST)
    bar = post((0.2, 0.0), 0.04, 'bar', 'tip', frame_locked=True)
    world.show(bar, post((0.45, 0.9), 0.05))
    bench.send(target(END))
    bench.wait_for_state('REACHED')
    q = bench.commands.q
    ends = tips(q) + 0.2 * np.column_stack([np.cos(q.sum(axis=1)), np.sin(q.sum(axis=1))])
    assert np.linalg.norm(ends - (0.45, 0.9), axis=1).min() > 0.09 + CLEARANCE - 1e-4


def bad(text, **changes):
    marker = post((5.0, 0.0), 0.1, 'bad')
    for name, value in changes.items():
        *path, last = name.split('__')
        part = marker
        for step in path:
            part = getattr(part, step)
        setattr(part, last, value)
    return pytest.param(marker, text, id=text)


@pytest.mark.parametrize(
    ('marker', 'said'),
    [
        bad('its sizes are', scale__x=0.0),
        bad('its sizes are', scale__z=-1.0),
        bad('bad/0: ', pose__position__x=np.nan),
        bad('bad/0: ', pose__orientation__w=0.0),
        bad("'bad/0': frame_id is empty", header__frame_id=''),
        bad("obstacle 'bad/0': frame 'nowhere'", header__frame_id='nowhere'),
        bad('which is no solid', type=Marker.LINE_STRIP),
        bad('expected 1 to 1000', type=Marker.CUBE_LIST),
        bad('no.stl', type=Marker.MESH_RESOURCE, mesh_resource='file:///no.stl'),
        bad('what a node shows on ~/markers', ns='fabrik'),
        bad('the action is 7', action=7),
        bad('is too much', pose__position__x=1e7),
    ],
)
class TestBadMarkers:
    @pytest.fixture(scope='class')
    def world(self, class_bench):
        """One for all: nothing but the last refusal is left of a marker that was refused."""
        start(class_bench)
        return World(class_bench)

    def test_they_are_refused_with_their_names_and_the_others_stay(self, world, marker, said):
        bench = world.bench
        world.show(post((4.0, 0.0), 0.1))
        before = bench.status['last_refusal']
        world.say(post((3.0, 0.0), 0.1, 'good'), marker)
        bench.spin_until(lambda: bench.status['last_refusal'] != before, said)
        assert said in bench.status['last_refusal']
        bench.wait_for_statuses(2)
        assert bench.status['obstacles'] == '1'
