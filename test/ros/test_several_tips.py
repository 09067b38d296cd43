"""The node drives arms that share a base: topics, targets and facts of each tip, on the wire."""

import pytest

pytest.importorskip('rclpy', reason='ROS 2 is not installed')
pytest.importorskip('pinocchio', reason='pinocchio is the judge')

from bench import matrix_message, values_at
from collision_models import body, with_bodies
from command_judge import accelerations, velocities
from geometry_msgs.msg import PoseStamped
from judging import pose_errors
import numpy as np
from std_srvs.srv import Trigger
from talos import talos, talos_judges, TALOS_START, TALOS_TIPS
from two_arms import FASTEST, HARDEST, judges, START, TIPS, two_arms, two_arms_xml
from visualization_msgs.msg import MarkerArray

LEFT, RIGHT = TIPS
NAMES = two_arms().joint_names


def message(T, frame='base'):
    return matrix_message(T, frame)


def moved(which, x=0.0, y=0.0, z=0.0):
    """Where one tip starts, moved by so much."""
    T = judges().poses(START)[which]
    T[:3, 3] += x, y, z
    return T


def check_commands(bench, judge=judges, names=NAMES):
    assert bench.commands.names == {tuple(names)}
    fastest = np.minimum(judge().velocity, FASTEST)
    for times, q in bench.commands.runs():
        assert np.all((judge().lower <= q) & (q <= judge().upper))
        assert np.all(np.abs(velocities(times, q)) <= fastest * (1.0 + 1e-6))
        assert np.all(np.abs(accelerations(times, q)) <= HARDEST * (1.0 + 1e-4))


def arrive(bench):
    """Wait until the arms are there and every command has come; the status then."""
    bench.wait_for_state('REACHED')
    bench.wait_until_silent(4)
    return bench.wait_for_state('REACHED')


@pytest.fixture
def start(bench):
    def start(**parameters):
        bench.start_all(
            two_arms_xml(), values_at(NAMES, START), tip_links=list(TIPS), **parameters
        )
        return bench

    return start


def test_both_tips_reach_their_targets_and_say_so(start):
    bench, solutions = start(), {tip: [] for tip in TIPS}
    for tip in TIPS:
        bench._listen(PoseStamped, f'fabrik/{tip}/solution_pose', solutions[tip].append)
    goals = moved(0, z=0.1), moved(1, y=-0.1)
    bench.send(message(goals[0]), LEFT)
    bench.send(message(goals[1]), RIGHT)
    bench.wait_for_count('accepted', 2)
    status = arrive(bench)
    check_commands(bench)
    poses = judges().poses(bench.commands.q[-1])
    for i, tip in enumerate(TIPS):
        assert pose_errors(goals[i], poses[i]) < (1e-5, 1e-4)
        assert float(status[f'{tip}/position_error']) < 1e-5
        assert status[f'{tip}/has_target'] == 'True'
        last = solutions[tip][-1]
        assert last.header.frame_id == 'base'
        p = last.pose.position
        assert np.linalg.norm(np.array([p.x, p.y, p.z]) - poses[i][:3, 3]) < 1e-3
    assert status['tip_link'] == ', '.join(TIPS)
    assert float(status['position_error']) == max(
        float(status[f'{tip}/position_error']) for tip in TIPS
    )


@pytest.mark.long
def test_tip_without_a_target_keeps_its_pose(start):
    bench = start()
    goal = moved(0, z=0.1)
    bench.send(message(goal), LEFT)
    status = arrive(bench)
    check_commands(bench)
    assert status[f'{RIGHT}/has_target'] == 'False'
    for q in bench.commands.q:
        assert pose_errors(judges().poses(START)[1], judges().poses(q)[1]) < (1e-5, 1e-4)
    assert pose_errors(goal, judges().poses(bench.commands.q[-1])[0]) < (1e-5, 1e-4)


def test_free_tip_is_left_alone(start):
    bench = start(idle_tips='free')
    bench.send(message(moved(1, y=-0.1)), RIGHT)
    status = arrive(bench)
    check_commands(bench)
    assert status[f'{LEFT}/target_held_in'] == ''
    assert float(status[f'{LEFT}/position_error']) == 0.0
    assert np.abs(bench.commands.q[:, :6] - START[:6]).max() < 1e-9


@pytest.mark.long
def test_one_tip_streams_while_the_other_rests_at_its_target(start):
    bench = start()
    held = moved(0, z=0.05)
    bench.send(message(held), LEFT)
    bench.wait_for_state('REACHED')
    count = len(bench.commands)
    for i in range(30):
        goal = moved(1, y=-0.005 * i)
        bench.send(message(goal), RIGHT)
        bench.wait_for_commands(3)
    arrive(bench)
    check_commands(bench)
    for q in bench.commands.q[count:]:
        assert pose_errors(held, judges().poses(q)[0]) < (1e-4, 1e-3)
    assert pose_errors(goal, judges().poses(bench.commands.q[-1])[1]) < (1e-5, 1e-4)


def test_stop_ends_the_targets_of_all_tips(start):
    """Else the next target of one tip would set another one in motion again."""
    bench = start(target_timeout=0.3)
    bench.send(message(moved(0, z=0.3)), LEFT)
    bench.wait_for_state('HOLDING')
    bench.wait_until_silent()
    left = judges().poses(bench.commands.q[-1])[0]
    assert pose_errors(moved(0, z=0.3), left)[0] > 0.1
    assert bench.set(target_timeout=0.0) == []
    bench.send(message(moved(1, y=-0.05)), RIGHT)
    status = arrive(bench)
    assert status[f'{LEFT}/has_target'] == 'False'
    assert pose_errors(left, judges().poses(bench.commands.q[-1])[0]) < (1e-3, 1e-3)
    check_commands(bench)


def test_reason_is_that_of_the_tip_that_falls_short_or_of_all_that_are_held(start):
    bench = start(on_unreachable='hold')
    bench.send(message(moved(0, x=2.0)), LEFT)
    status = bench.wait_for_state('HOLDING')
    assert status[f'{LEFT}/reason_code'] == status['reason_code'] == 'too_far'
    assert status[f'{RIGHT}/reason_code'] == status[f'{RIGHT}/reason'] == ''
    assert bench.ask(Trigger, 'fabrik/hold', Trigger.Request()).success
    bench.spin_until(lambda: bench.status['held'] == 'True', 'the arms are held')
    for tip in TIPS:
        assert bench.status[f'{tip}/reason'] == bench.status['reason']
        assert bench.status[f'{tip}/reason_code'] == 'held'


def test_target_too_far_from_its_arm_is_refused(start):
    bench = start()
    bench.send(message(moved(1, y=1000.0)), RIGHT)
    assert 'millimetres?' in bench.wait_for_count('refused', 1)['last_refusal']
    assert len(bench.commands) == 0


def test_pictures_of_the_arms_are_told_apart(start):
    bench, pictures = start(), []
    bench._listen(MarkerArray, 'fabrik/markers', pictures.append)
    bench.send(message(moved(0, z=0.02)), LEFT)
    kinds = {
        f'fabrik/{tip}/{kind}' for tip in TIPS for kind in ('chain', 'tool', 'target', 'error')
    }
    bench.spin_until(
        lambda: pictures and {marker.ns for marker in pictures[-1].markers} >= kinds,
        'a picture with goals',
    )
    shared = {marker.ns for marker in pictures[-1].markers} - kinds
    assert shared <= {
        *(f'fabrik/{kind}' for kind in ('status', 'ghost', 'reach', 'nearest')),
        f'fabrik/{LEFT}/path',
    }
    assert len([m for m in pictures[-1].markers if m.ns == 'fabrik/reach']) == len(TIPS)


@pytest.mark.parametrize(
    ('parameters', 'reason'),
    [
        ({'tip_links': ['left_tool', 'nothing']}, "no link named 'nothing'"),
        ({'tip_links': ['left_tool', 'base']}, "nothing moves between 'base' and 'base'"),
    ],
)
def test_tips_that_cannot_be_used_are_refused_with_the_reason(bench, parameters, reason):
    bench.start_node(**parameters)
    bench.describe(two_arms_xml())
    bench.spin_until(lambda: reason in bench.status.get('reason', ''), reason)


RADIUS, CLEARANCE = 0.04, 0.02
SHELF = 'obstacles: {shelf: {box: [2.0, 0.02, 2.0], xyz: [0.7, -0.6, 0.5]}}'
SHELF_BEGINS = -0.59
SETTLED, COUNTED = 150, 300
"""Targets of each tip that are sent before the arms are looked at, and while they are."""


@pytest.fixture
def pushed(bench, tmp_path):
    """Two hands that stream: the left one circles, the right one is pushed into a shelf."""
    pytest.importorskip('coal', reason='coal measures the distances')
    scene = tmp_path / 'scene.yaml'
    scene.write_text(SHELF)
    xml = with_bodies(two_arms_xml(), dict.fromkeys(TIPS, body(f'<sphere radius="{RADIUS}"/>')))
    bench.start_all(xml, values_at(NAMES, START), tip_links=list(TIPS), scene=str(scene))
    publishers = [bench._targets_to(tip) for tip in TIPS]
    for publisher in publishers:
        bench.spin_until(lambda p=publisher: bench._is_heard(p), 'somebody listens to targets')
    bench.sent, bench.hands = 0, []

    def push():
        bench.sent += 1
        angle, y = 0.02 * bench.sent, max(-0.004 * bench.sent, -0.4)
        tremble = 2e-4 * (bench.sent % 2)
        left = moved(0, x=0.08 * np.sin(angle), z=0.08 * (1.0 - np.cos(angle)))
        bench.hands.append((len(bench.commands), left))
        publishers[0].publish(message(left))
        publishers[1].publish(message(moved(1, y=y - tremble)))

    bench.timer = bench.tester.create_timer(0.01, push)
    return bench


def test_tip_beside_one_that_is_pushed_into_a_shelf_is_followed_and_the_shelf_is_told_of(pushed):
    bench = pushed
    bench.spin_until(lambda: bench.sent >= SETTLED, 'the right hand is in the shelf')
    begin = len(bench.statuses)
    bench.spin_until(lambda: bench.sent >= SETTLED + COUNTED, 'more targets')
    for status in bench.statuses[begin:]:
        assert status['state'] == 'MOVING'
        assert f"{RIGHT!r}: collision ahead: '{RIGHT}' and 'shelf'" in status['reason']
        assert 'collision ahead' in status[f'{RIGHT}/reason']
        assert status[f'{RIGHT}/reason_code'] == 'collision_ahead'
        assert status[f'{LEFT}/reason'] == status[f'{LEFT}/reason_code'] == ''
        assert float(status[f'{RIGHT}/position_error']) > 0.1
    bench.timer.cancel()
    last = bench.hands[-1][1]
    status = bench.wait_for_state('HOLDING')
    bench.wait_until_silent()
    assert f'{RIGHT!r}: collision ahead' in status['reason']
    check_commands(bench)
    poses = np.array([judges().poses(q) for q in bench.commands.q])
    assert pose_errors(last, poses[-1, 0]) < (1e-5, 1e-4)
    assert (poses[:, 1, 1, 3] - RADIUS - SHELF_BEGINS).min() > CLEARANCE - 1e-4
    tips = poses[:, 0, :3, 3]
    for count, left in bench.hands[SETTLED:]:
        near = tips[max(0, count - 30) : count + 30]
        assert np.linalg.norm(near - left[:3, 3], axis=1).min() < 5e-3


class TestSharedTorso:
    """The hands of TALOS hang on one torso: where one goes the other has to make up for it."""

    def start(self, bench, **parameters):
        bench.start_all(
            talos(),
            TALOS_START,
            base_link='base_link',
            tip_links=list(TALOS_TIPS),
            **parameters,
        )
        return talos_judges().poses(np.array(list(TALOS_START.values())))

    def send(self, bench, T):
        bench.send(matrix_message(T, 'base_link'), TALOS_TIPS[0])

    def test_idle_hand_keeps_its_pose_all_the_way(self, bench):
        hands = self.start(bench)
        goal = hands[0].copy()
        goal[:3, 3] += 0.2, 0.05, 0.1
        self.send(bench, goal)
        arrive(bench)
        check_commands(bench, talos_judges, TALOS_START)
        poses = [talos_judges().poses(q) for q in bench.commands.q]
        assert pose_errors(goal, poses[-1][0]) < (2e-5, 2e-4)
        assert np.ptp(bench.commands.q[:, :2], axis=0).max() > 1e-3, 'the torso takes part'
        for pose in poses:
            assert pose_errors(hands[1], pose[1]) < (1e-4, 1e-3)

    @pytest.mark.long
    def test_free_hand_goes_where_the_torso_takes_it(self, bench):
        hands = self.start(bench, idle_tips='free')
        goal = hands[0].copy()
        goal[:3, 3] += 0.2, 0.05, 0.1
        self.send(bench, goal)
        arrive(bench)
        check_commands(bench, talos_judges, TALOS_START)
        last = talos_judges().poses(bench.commands.q[-1])
        assert pose_errors(goal, last[0]) < (2e-5, 2e-4)
        assert pose_errors(hands[1], last[1])[0] > 1e-3
        own = np.array([not name.startswith('arm_right') for name in TALOS_START])
        assert np.ptp(bench.commands.q[:, ~own], axis=0).max() < 1e-9
