"""Markers as a listener has them from the wire, as bytes, for every state of the node."""

import math
import re
import signal
import time

import numpy as np
import pytest

pytest.importorskip('rclpy', reason='ROS 2 is not installed')
pytest.importorskip('pinocchio', reason='pinocchio is the judge')

from bench import JOINTS, PREPARATION, Puppet, shifted, six_axis_judge, START, values_at
from builtin_interfaces.msg import Time
from fabrik_ros import parse_urdf
from fabrik_ros.motion.following.arm_state import State
from fabrik_ros.reasons import Reason, ReasonKind
from fabrik_ros.ros.drawing.markers import markers_of, Picture
from fabrik_ros.ros.messages.marker_shapes import Pen
from geometry_msgs.msg import TwistStamped
from node_process import NodeProcess
from rclpy.serialization import deserialize_message, serialize_message
from std_srvs.srv import Trigger
from visualization_msgs.msg import Marker, MarkerArray

AT_START = values_at(JOINTS, START)
COLORS = {
    'WAITING_FOR_MODEL': (0.7, 0.7, 0.72),
    'WAITING_FOR_STATE': (0.7, 0.7, 0.72),
    'IDLE': (1.0, 1.0, 1.0),
    'LOOKING': (0.82, 0.66, 1.0),
    'PLANNING': (0.82, 0.66, 1.0),
    'MOVING': (0.5, 0.76, 1.0),
    'JOGGING': (0.5, 0.76, 1.0),
    'REACHED': (0.45, 0.9, 0.5),
    'HOLDING': (1.0, 0.5, 0.45),
}
"""As docs/rviz.md has them."""
YELLOW = (1.0, 0.85, 0.3)
ORANGE = (0.95, 0.65, 0.25)
ALWAYS = {'fabrik/status', 'fabrik/chain', 'fabrik/tool', 'fabrik/reach'}
PERIOD = 1.0 / 30.0
STATUSES = 8
"""So many statuses, ten a second, come while the arm is on its way."""
LIFETIME = 1.0
"""Of each marker, as the docs say [s]."""


class Screen:
    """
    Keeps markers as RViz does, by namespace and number, until they are deleted.

    That of 2026 deletes all of a namespace if the marker names one; before it deleted all.
    """

    def __init__(self, bench):
        self._data, self.times = [], []
        self.markers = {}
        bench.tester.create_subscription(MarkerArray, 'fabrik/markers', self._take, 100, raw=True)

    def _take(self, data):
        assert isinstance(data, bytes)
        message = deserialize_message(data, MarkerArray)
        self._data.append(data)
        self.times.append(time.monotonic())
        for marker in message.markers:
            if marker.action == Marker.DELETEALL:
                kept = {key for key in self.markers if marker.ns not in ('', key[0])}
                self.markers = {key: self.markers[key] for key in kept}
            elif marker.action == Marker.DELETE:
                self.markers.pop((marker.ns, marker.id), None)
            else:
                check_marker(marker)
                self.markers[marker.ns, marker.id] = marker

    @property
    def messages(self):
        """All messages, read anew: objects that stay keep the collector busy, the node waits."""
        return [deserialize_message(data, MarkerArray) for data in self._data]

    @property
    def namespaces(self):
        return {namespace for namespace, _ in self.markers}

    def one(self, kind, number=0):
        return self.markers[f'fabrik/{kind}', number]

    @property
    def text(self):
        return words(self.markers.values())


def check_marker(marker, frames=('base_link', 'world', 'base')):
    """Check what RViz would refuse, and what would stay for ever."""
    assert marker.action == Marker.ADD
    assert marker.header.frame_id in frames
    assert re.fullmatch(r'fabrik/([^/]+/)?[a-z]+', marker.ns)
    assert 0.0 < seconds(marker.lifetime) <= 120.0
    p, o, s = marker.pose.position, marker.pose.orientation, marker.scale
    numbers = [p.x, p.y, p.z, o.x, o.y, o.z, o.w, s.x, s.y, s.z]
    numbers += [x for point in marker.points for x in (point.x, point.y, point.z)]
    assert np.all(np.isfinite(numbers))
    assert math.hypot(o.x, o.y, o.z, o.w) == pytest.approx(1.0)
    used = {
        Marker.LINE_STRIP: [s.x],
        Marker.LINE_LIST: [s.x],
        Marker.SPHERE_LIST: [s.x, s.y, s.z],
        Marker.SPHERE: [s.x, s.y, s.z],
        Marker.CUBE: [s.x, s.y, s.z],
        Marker.CYLINDER: [s.x, s.y, s.z],
        Marker.ARROW: [s.x, s.y, s.z],
        Marker.TEXT_VIEW_FACING: [s.x, s.z],
    }[marker.type]
    if marker.type == Marker.TEXT_VIEW_FACING:
        assert s.x == pytest.approx(0.5 * s.z), 'the width of spaces'
    assert min(used) > 0.0
    assert bool(marker.text) == (marker.type == Marker.TEXT_VIEW_FACING)
    listed = (Marker.LINE_STRIP, Marker.LINE_LIST, Marker.SPHERE_LIST)
    assert (len(marker.points) > 0) == (marker.type in listed)
    assert len(marker.colors) in (0, len(marker.points))
    assert 0.0 < marker.color.a <= 1.0


def words(markers):
    """Lines of the status, from above, as one text."""
    lines = [marker for marker in markers if marker.ns == 'fabrik/status']
    lines.sort(key=lambda line: -line.pose.position.z)
    return ' '.join(line.text for line in lines)


def seconds(duration):
    return duration.sec + 1e-9 * duration.nanosec


def color(marker):
    return tuple(round(part, 6) for part in (marker.color.r, marker.color.g, marker.color.b))


def points(marker):
    return np.array([(p.x, p.y, p.z) for p in marker.points])


def x_axis(marker):
    """Direction of an arrow: the x axis of its pose, by the formula for quaternions."""
    o = marker.pose.orientation
    return np.array(
        [1 - 2 * (o.y**2 + o.z**2), 2 * (o.x * o.y + o.z * o.w), 2 * (o.x * o.z - o.y * o.w)]
    )


@pytest.fixture
def screen(bench):
    return Screen(bench)


@pytest.fixture
def shown(bench, screen, six_axis):
    """Start a node and an arm at rest, on a screen."""
    bench.start_all(six_axis, AT_START)
    bench.spin_until(lambda: 'fabrik/chain' in screen.namespaces, 'a picture of the arm')
    return screen


@pytest.mark.parametrize('state', State)
def test_color_and_words_of_every_state_as_bytes(six_axis, state):
    robot = parse_urdf(six_axis).chain('base_link', 'tool0')
    T = robot.forward_kinematics(START)[None]
    reason = Reason(ReasonKind.HELD, 'a reason that is so long that no line could hold all of it')
    picture = Picture(robot, state, reason, 'no händ', np.array(START), T)
    sent = MarkerArray(markers=list(markers_of(picture, Pen('base_link', Time()))))
    markers = deserialize_message(serialize_message(sent), MarkerArray).markers
    for marker in markers:
        check_marker(marker)
        assert seconds(marker.lifetime) == LIFETIME
    keys = [(marker.ns, marker.id) for marker in markers]
    assert len(set(keys)) == len(keys)
    kinds = {marker.ns.removeprefix('fabrik/'): marker for marker in markers}
    assert set(kinds) == {'status', 'chain', 'tool', 'target', 'error', 'reach'}
    expected = YELLOW if state.name in ('MOVING', 'JOGGING') else COLORS[state.name]
    assert color(kinds['status']) == color(kinds['target']) == expected
    assert color(kinds['chain']) == ORANGE
    lines = [marker.text for marker in markers if marker.ns == 'fabrik/status']
    assert words(markers) == f'{state.name}: {reason} refused: no h?nd'
    assert max(map(len, lines)) < 50
    assert not any('\n' in line for line in lines), 'RViz centres single lines only'


def test_an_arm_at_rest_is_drawn_where_it_is_and_renewed_in_time(bench, shown, six_axis):
    assert shown.namespaces >= ALWAYS
    judge = six_axis_judge(six_axis)
    assert points(shown.one('chain'))[-1] == pytest.approx(judge.pose(START)[:3, 3], abs=1e-5)
    assert color(shown.one('status')) == COLORS['IDLE']
    assert shown.text == 'IDLE: ready for a target'
    bench.wait_for_statuses(20)
    gaps = np.diff(shown.times[-5:])
    assert gaps.max() < 0.8 * LIFETIME
    assert gaps.mean() > 5 * PERIOD, 'what stays the same is renewed only now and then'
    bodies = [message for message in shown.messages[-3:] for message in message.markers]
    assert {seconds(marker.lifetime) for marker in bodies} == {LIFETIME}


def test_target_points_along_z_of_the_tool_and_goes_green(bench, shown, six_axis):
    goal = shifted(six_axis_judge(six_axis).pose(START), y=0.3)
    bench.send(goal)
    bench.spin_until(lambda: shown.text.startswith('MOVING'), 'the words')
    arrow = shown.one('target')
    place = arrow.pose.position
    assert (place.x, place.y, place.z) == pytest.approx(tuple(goal[:3, 3]))
    assert x_axis(arrow) == pytest.approx(goal[:3, 2], abs=1e-9)
    assert color(arrow) == color(shown.one('status')) == COLORS['MOVING']
    error = points(shown.one('error'))
    assert error[0] == pytest.approx(points(shown.one('chain'))[-1])
    assert error[-1] == pytest.approx(goal[:3, 3])
    before = len(shown.times)
    bench.wait_for_statuses(STATUSES)
    assert 0.4 < (len(shown.times) - before) * PERIOD / (0.1 * STATUSES) < 1.5
    bench.wait_for_state('REACHED')
    bench.spin_until(lambda: shown.text.startswith('REACHED'), 'the words')
    assert color(shown.one('target')) == COLORS['REACHED']


def test_motion_that_waits_to_be_executed_is_played_along_its_line(bench, shown, six_axis):
    begin = six_axis_judge(six_axis).pose(START)
    goal = shifted(begin, y=0.2)
    assert bench.set(confirm='always') == []
    bench.send(goal)
    bench.spin_until(lambda: bench.status['waits_for_execute'] == 'True', 'a proposal')
    seen = []

    def places():
        """Of the last link; where that of the arm is it has no ghost, as at the beginning."""
        last = max(number for number, _ in seen)
        return np.array([(p.x, p.y, p.z) for number, p in seen if number == last])

    def has_played_twice():
        seen.extend(
            (marker.id, marker.pose.position)
            for marker in shown.markers.values()
            if marker.ns == 'fabrik/ghost' and marker.type != Marker.SPHERE_LIST
        )
        return bool(seen) and np.count_nonzero(np.diff(places()[:, 1]) < -0.1) > 1

    bench.spin_until(has_played_twice, 'two beginnings')
    x, y, z = places().T
    assert max(np.ptp(x), np.ptp(z)) < 2e-3, 'the last link goes straight to the side'
    assert 0.1 < np.ptp(y) < 0.2 + 1e-3
    assert len(np.unique(np.round(y, 3))) > 4, 'it does not jump'
    assert not bench.commands
    bench.ask(Trigger, 'fabrik/execute', Trigger.Request())
    bench.wait_for_state('REACHED')
    bench.spin_until(lambda: 'fabrik/ghost' not in shown.namespaces, 'the arm is there')


def test_hold_and_refusal_are_told_with_their_reasons(bench, shown, six_axis):
    assert bench.ask(Trigger, 'fabrik/hold', Trigger.Request()).success
    bench.spin_until(lambda: shown.text.startswith('HOLDING'), 'the words')
    assert 'told to hold, until ~/resume' in shown.text
    assert color(shown.one('status')) == COLORS['HOLDING']
    refusal = bench.refusal(six_axis_judge(six_axis).pose(START))
    bench.spin_until(lambda: 'refused: ' in shown.text, 'the refusal')
    assert refusal.split('; ')[0] in shown.text


def test_jogging_is_told(bench, shown):
    publisher = bench.tester.create_publisher(TwistStamped, 'fabrik/jog', 1)
    jog = TwistStamped()
    jog.twist.linear.y = 0.05
    bench.tester.create_timer(0.02, lambda: publisher.publish(jog))
    bench.spin_until(lambda: shown.text.startswith('JOGGING'), 'the words')
    assert color(shown.one('status')) == COLORS['JOGGING']
    assert 'fabrik/target' not in shown.namespaces


def test_joint_at_its_limit_is_marked_where_it_is(bench, screen, six_axis):
    judge = six_axis_judge(six_axis)
    elbow = JOINTS.index('elbow')
    q = np.array(START)
    q[elbow] = judge.upper[elbow] - 0.003
    bench.start_all(six_axis, values_at(JOINTS, q))
    bench.spin_until(lambda: 'fabrik/limits' in screen.namespaces, 'the mark')
    (mark,) = points(screen.one('limits'))
    assert mark == pytest.approx(points(screen.one('chain'))[elbow])
    assert 'at a limit: elbow' in screen.text


def test_an_arm_without_states_says_so_and_is_not_drawn(bench, screen, six_axis):
    bench.start_node()
    bench.describe(six_axis)
    bench.wait_for_state('WAITING_FOR_STATE', PREPARATION)
    bench.spin_until(lambda: 'WAITING_FOR_STATE' in screen.text, 'the words')
    assert screen.namespaces == {'fabrik/status'}
    assert color(screen.one('status')) == COLORS['WAITING_FOR_STATE']
    bench.puppet = Puppet(bench, AT_START)
    bench.spin_until(lambda: screen.namespaces >= ALWAYS, 'the arm')


def test_preparation_is_told_before_it_begins(bench, screen, six_axis):
    bench.start_node()
    publisher_count = bench.tester.count_publishers
    bench.spin_until(lambda: publisher_count('/fabrik/markers') > 0, 'the topic')
    bench.wait_for_statuses(5)
    bench.describe(six_axis)
    bench.wait_for_state('WAITING_FOR_STATE', PREPARATION)
    bench.spin_until(lambda: screen.times, 'markers')
    first = screen.messages[0].markers
    assert words(first).startswith('WAITING_FOR_MODEL: preparing the solver')
    assert color(first[0]) == COLORS['WAITING_FOR_MODEL']


class TestEnd:
    def is_alone(self, shown):
        return shown.namespaces == {'fabrik/status'}

    def test_deactivated_it_takes_all_away_but_for_words(self, bench, shown):
        bench.node.trigger_deactivate()
        bench.spin_until(lambda: 'activate it' in shown.text, 'the words')
        assert self.is_alone(shown)
        assert any(m.action == Marker.DELETEALL for a in shown.messages for m in a.markers)
        bench.node.trigger_cleanup()
        bench.spin_until(lambda: not shown.markers, 'an empty screen')

    @pytest.mark.parametrize(
        'step', [pytest.param('trigger_shutdown', marks=pytest.mark.long), 'interrupt']
    )
    def test_gone_it_takes_all_away_for_good(self, bench, shown, step):
        before = shown.namespaces
        getattr(bench.node, step)()
        bench.spin_until(lambda: not shown.markers, 'an empty screen')
        last = shown.messages[-1].markers
        assert {marker.ns for marker in last} == before
        assert {marker.action for marker in last} == {Marker.DELETEALL}
        count = len(shown.times)
        bench.wait_for_statuses(5)
        assert len(shown.times) == count


@pytest.mark.parametrize(
    'number', [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.long)]
)
def test_process_that_is_told_to_end_takes_all_away(
    bench, screen, six_axis, domain_id, tmp_path, number
):
    process = NodeProcess(domain_id, tmp_path, {}, {})
    try:
        bench.start_arm(AT_START)
        bench.describe(six_axis)
        bench.spin_until(lambda: screen.namespaces >= ALWAYS, 'a picture', PREPARATION)
        process.tell(number)
        bench.spin_until(lambda: not screen.markers, 'an empty screen')
        assert process.end(number) == 0
    finally:
        process.end()


def test_nobody_who_looks_costs_nothing(bench, six_axis, monkeypatch):
    from fabrik_ros.ros.drawing import marker_publisher

    monkeypatch.setattr(marker_publisher, 'markers_of', lambda *_: pytest.fail('markers are made'))
    bench.start_all(six_axis, AT_START)
    bench.wait_for_statuses(5)
