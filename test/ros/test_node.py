"""
The node over its topics, as a user meets it: what moves, what does not, and what is said.

Poses are judged by pinocchio, speeds by differences of what was on the wire.

"""

import math
import time
from types import SimpleNamespace
import weakref

import pytest

pytest.importorskip('rclpy', reason='ROS 2 is not installed')
pytest.importorskip('pinocchio', reason='pinocchio is the judge')

from bench import (
    Bench,
    JOINTS,
    matrix_message,
    PAUSE,
    pose_message,
    Puppet,
    shifted,
    stamp_seconds,
    START,
    values_at,
)
from command_judge import accelerations, runs, velocities
from fabrik_ros.motion.paths.reference_path import LinePath
from fabrik_ros.ros.inputs.target_subscription import subscribe_to_targets
from geometry_msgs.msg import PoseStamped
from helpers import joint_xml, mostly_long, PLANAR, robot_xml
from judging import distances_from_line, Judge, pose_errors
from lifecycle_msgs.msg import Transition
from lifecycle_msgs.srv import ChangeState
import numpy as np
import rclpy
from rclpy.lifecycle import TransitionCallbackReturn
from rclpy.parameter import Parameter
from rclpy.qos import qos_profile_sensor_data, QoSProfile, ReliabilityPolicy
from sensor_msgs.msg import JointState, PointCloud2, PointField

SUCCESS = TransitionCallbackReturn.SUCCESS
FAILURE = TransitionCallbackReturn.FAILURE
FASTEST, HARDEST = 1.5, 5.0
"""Default limits of every joint [rad/s], [rad/s^2]."""
PERIOD = 0.01
JUMP = 50.0
"""A clock that goes so far from one command to the next has been set [s]."""
AT_START = values_at(JOINTS, START)
BAD_URDF = robot_xml('base_link tool0', joint_xml('j', 'base_link', 'nowhere'))
DOWN = (1.0, 0.0, 0.0, 0.0)
NEAR = (0.4, 0.2, 0.4)
SOMEWHERE = pose_message(NEAR, DOWN)


@pytest.fixture(scope='module')
def judge(six_axis) -> Judge:
    return Judge(six_axis, 'base_link', 'tool0')


@pytest.fixture(scope='module')
def start(judge) -> np.ndarray:
    return judge.pose(START)


@pytest.fixture(scope='module')
def away(start) -> np.ndarray:
    """Make a pose 0.4 m from the start, the tool turned by 0.5 rad."""
    T = shifted(start, x=-0.12, y=0.36, z=0.126)
    c, s = math.cos(0.5), math.sin(0.5)
    T[:3, :3] = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]]) @ T[:3, :3]
    assert np.linalg.norm(T[:3, 3] - start[:3, 3]) == pytest.approx(0.4, abs=1e-3)
    return T


@pytest.fixture(scope='module')
def beside(start) -> np.ndarray:
    """Make a pose 0.05 m from the start, for tests to which any motion will do."""
    return shifted(start, x=-0.03, y=0.04)


@pytest.fixture
def ready(bench, six_axis) -> Bench:
    """Node and simulated arm, waiting for a target."""
    bench.start_all(six_axis, AT_START)
    return bench


@pytest.fixture
def by_hand(bench, six_axis) -> Bench:
    """Start a node whose joint states come from a puppet, up to where it waits for a target."""
    bench.start_node()
    bench.describe(six_axis)
    bench.puppet = Puppet(bench, AT_START)
    bench.wait_for_state('IDLE')
    return bench


def move_at_full_speed(bench: Bench, target: np.ndarray) -> None:
    """Send a target and wait until some joint is as fast as it gets."""
    bench.send(target)
    bench.spin_until(lambda: len(bench.commands) > 45, 'the arm is on its way')


def check_commands(bench: Bench, judge: Judge) -> None:
    """Check what holds for all commands, always."""
    assert bench.commands.names == {JOINTS}
    assert np.all(np.diff(bench.commands.times) > 0.0)
    assert np.all(bench.commands.q >= judge.lower)
    assert np.all(bench.commands.q <= judge.upper)
    for message in bench.commands.messages:
        assert len(message.position) == len(message.velocity) == len(JOINTS)
        assert list(message.effort) == []
    for times, q in bench.commands.runs():
        assert np.all(np.abs(velocities(times, q)) <= FASTEST * (1.0 + 1e-6))
        assert np.all(np.abs(accelerations(times, q)) <= HARDEST * (1.0 + 1e-4))


def check_accelerations_over_a_jump(bench: Bench) -> None:
    """Whatever the stamps say where the clock is set, the drives see the next command."""
    steps = np.diff(bench.commands.times)
    (jump,) = np.flatnonzero(np.abs(steps) > JUMP)
    steps[jump] = PERIOD
    for times, q in runs(np.cumsum([0.0, *steps]), bench.commands.q, PAUSE):
        assert np.abs(accelerations(times, q)).max(initial=0.0) <= HARDEST * (1.0 + 1e-4)


def check_end_at_rest(bench: Bench) -> None:
    """Check that the last command does not move, by what it says and by what it does."""
    assert not np.any(bench.commands.messages[-1].velocity)
    assert np.max(np.abs(bench.commands.q[-1] - bench.commands.q[-2])) < FASTEST * 1e-3


@pytest.fixture(scope='class')
def done(class_bench, six_axis, away) -> Bench:
    class_bench.start_all(six_axis, AT_START)
    class_bench.send(away)
    class_bench.wait_for_state('REACHED')
    class_bench.wait_until_silent()
    return class_bench


class TestOneTarget:
    def test_arm_arrives_on_a_straight_line_and_holds(self, done, judge, start, away):
        tips = np.array([judge.pose(q) for q in done.commands.q])
        position, orientation = pose_errors(away, tips[-1])
        assert position <= 1e-5
        assert orientation <= 1e-4
        assert distances_from_line(tips[:, :3, 3], start[:3, 3], away[:3, 3]).max() < 1e-6
        speeds = np.linalg.norm(velocities(done.commands.times, tips[:, :3, 3]), axis=1)
        assert speeds.max() <= 0.25 * (1.0 + 1e-6)
        check_commands(done, judge)
        check_end_at_rest(done)

    def test_first_command_is_within_one_step_of_the_measured_state(self, done):
        assert np.max(np.abs(done.commands.q[0] - START)) <= HARDEST * PERIOD * PERIOD + 1e-9

    def test_command_is_repeated_for_half_a_second_and_then_the_node_is_silent(self, done):
        still = [np.array_equal(q, done.commands.q[-1]) for q in done.commands.q]
        silence = done.commands.times[-1] - done.commands.times[still.index(True)]
        assert silence == pytest.approx(0.5, abs=0.1)

    def test_velocities_are_those_of_the_positions(self, done):
        said = np.array([message.velocity for message in done.commands.messages])
        for times, q in done.commands.runs():  # after a pause the arm sets out from rest
            run, said = said[: len(times)], said[len(times) :]
            assert np.abs(run[1:] - velocities(times, q)).max(initial=0.0) < 2e-3
        assert not len(said)

    def test_states_tell_the_story(self, done):
        states = [status['state'] for status in done.statuses]
        story = [s for s, before in zip(states, [None, *states], strict=False) if s != before]
        assert story[story.index('IDLE') :] == ['IDLE', 'MOVING', 'REACHED']

    def test_status_holds_the_residuals_and_who_finished(self, done, judge, away):
        status = done.status
        position, orientation = judge.errors(away, done.commands.q[-1])
        assert float(status['position_error']) == pytest.approx(position, abs=1e-8)
        assert float(status['orientation_error']) == pytest.approx(orientation, abs=1e-7)
        assert status['solver_status'] == 'CONVERGED'
        assert status['finished_by'] in ('seed', 'fabrik', 'polish')
        assert int(status['commands']) == len(done.commands)
        assert (status['accepted'], status['refused']) == ('1', '0')

    def test_arm_stands_where_it_was_told_to(self, done):
        measured = values_at(done.states[-1].name, done.states[-1].position)
        assert [measured[name] for name in JOINTS] == pytest.approx(done.commands.q[-1], abs=1e-6)


def test_solution_pose_is_where_the_command_puts_the_tip(ready, judge, beside):
    solutions = []
    ready._listen(PoseStamped, 'fabrik/solution_pose', solutions.append)
    ready.send(beside)
    ready.wait_for_state('REACHED')
    ready.wait_until_silent(4)
    by_stamp = {stamp_seconds(m.header.stamp): m for m in solutions}
    for command in ready.commands.messages:
        solution = by_stamp[stamp_seconds(command.header.stamp)]
        assert solution.header.frame_id == 'base_link'
        expected = matrix_message(judge.pose(command.position)).pose
        p, o, e = solution.pose.position, solution.pose.orientation, expected
        assert [p.x, p.y, p.z] == pytest.approx(
            [e.position.x, e.position.y, e.position.z], abs=1e-9
        )
        e = e.orientation
        dot = o.x * e.x + o.y * e.y + o.z * e.z + o.w * e.w
        assert abs(dot) == pytest.approx(1.0, abs=1e-12)


def test_goals_that_change_on_the_way_make_no_jerk(ready, judge, start, away):
    """Fast goals, then one to stay with: the newest wins."""
    for i in range(12):
        ready.send(shifted(start, y=0.2 * math.sin(i), z=0.1 * math.cos(2 * i)))
        ready.wait_for_commands(7)
    ready.send(away)
    ready.wait_for_state('REACHED')
    assert judge.errors(away, ready.commands.q[-1]) < (1e-5, 1e-4)
    check_commands(ready, judge)


@pytest.mark.long
def test_goal_sent_twice_changes_nothing(ready, judge, start, away):
    ready.send(away)
    ready.wait_for_commands(40)
    ready.send(away)
    ready.wait_for_state('REACHED')
    points = np.array([judge.pose(q)[:3, 3] for q in ready.commands.q])
    assert distances_from_line(points, start[:3, 3], away[:3, 3]).max() < 1e-6
    check_commands(ready, judge)


@pytest.mark.long
def test_second_goal_starts_from_the_last_command(ready, judge, start, beside):
    ready.send(beside)
    ready.wait_for_state('REACHED')
    ready.wait_until_silent()
    count = len(ready.commands)
    ready.send(start)
    ready.wait_for_state('MOVING')
    ready.wait_for_state('REACHED')
    step = np.abs(ready.commands.q[count] - ready.commands.q[count - 1]).max()
    assert step <= HARDEST * PERIOD * PERIOD + 1e-9
    assert judge.errors(start, ready.commands.q[-1]) < (1e-5, 1e-4)
    check_commands(ready, judge)


def test_target_out_of_reach_is_approached_and_the_status_says_so(ready, judge):
    ready.send(pose_message((1.6, 0.0, 0.3), DOWN))
    ready.wait_for_state('MOVING')
    status = ready.wait_for_state('HOLDING')
    assert 'farther away' in status['reason']
    assert float(status['position_error']) > 0.5
    tip = judge.pose(ready.commands.q[-1])[:3, 3]
    assert np.linalg.norm(tip - [1.6, 0.0, 0.3]) < np.linalg.norm(
        judge.pose(START)[:3, 3] - [1.6, 0.0, 0.3]
    )
    check_commands(ready, judge)
    check_end_at_rest(ready)


def test_target_out_of_reach_moves_nothing_where_that_is_asked_for(bench, six_axis):
    bench.start_all(six_axis, AT_START, on_unreachable='hold')
    bench.send(pose_message((1.6, 0.0, 0.3), DOWN))
    status = bench.wait_for_state('HOLDING')
    assert 'farther away' in status['reason']
    bench.wait_until_silent()
    assert not len(bench.commands) or np.ptp(bench.commands.q, axis=0).max() == 0.0


BAD_TARGETS = {
    'NaN position': (pose_message((math.nan, 0.2, 0.4), DOWN), 'finite'),
    'infinite position': (pose_message((0.4, math.inf, 0.4), DOWN), 'finite'),
    'NaN quaternion': (pose_message(NEAR, (math.nan, 0.0, 0.0, 1.0)), 'finite'),
    'infinite quaternion': (pose_message(NEAR, (-math.inf, 0.0, 0.0, 1.0)), 'finite'),
    'zero quaternion': (pose_message(NEAR, (0.0, 0.0, 0.0, 0.0)), 'norm'),
    'tiny quaternion': (pose_message(NEAR, (0.0, 0.0, 0.0, 0.05)), 'norm'),
    'empty frame': (pose_message(NEAR, DOWN, ''), "use 'base_link'"),
    'slash for a frame': (pose_message(NEAR, DOWN, '/'), "use 'base_link'"),
    'unknown frame': (pose_message(NEAR, DOWN, 'table'), "'table'"),
    'millimetres': (pose_message((400.0, 200.0, 400.0), DOWN), 'millimetres?'),
}


def test_target_that_is_sent_all_the_time_is_reached(ready, beside):
    def has_arrived():
        ready.send(beside)
        return ready.status['state'] == 'REACHED'

    ready.spin_until(has_arrived, 'REACHED')
    ready.wait_until_silent(4)


class TestRefusals:
    """Whatever cannot be meant is refused with a reason, and nothing is published."""

    @pytest.mark.parametrize('bad', mostly_long(BAD_TARGETS, 'NaN position', 'unknown frame'))
    def test_bad_target_is_refused_and_nothing_moves(self, ready, bad, beside):
        message, reason = BAD_TARGETS[bad]
        assert reason in ready.refusal(message)
        ready.wait_until_silent(3)
        assert not len(ready.commands)
        assert ready.status['state'] == 'IDLE'
        ready.send(beside)
        ready.wait_for_state('REACHED')

    @pytest.mark.long
    @pytest.mark.parametrize('bad', ['NaN position', 'zero quaternion', 'unknown frame'])
    def test_bad_target_on_the_way_does_not_disturb_the_arm(self, ready, judge, start, away, bad):
        ready.send(away)
        ready.wait_for_commands(30)
        ready.refusal(BAD_TARGETS[bad][0])
        ready.wait_for_state('REACHED')
        points = np.array([judge.pose(q)[:3, 3] for q in ready.commands.q])
        assert distances_from_line(points, start[:3, 3], away[:3, 3]).max() < 1e-6
        assert judge.errors(away, ready.commands.q[-1]) < (1e-5, 1e-4)
        check_commands(ready, judge)

    @pytest.mark.long
    def test_unnormalised_quaternion_is_normalised(self, ready, judge):
        ready.send(pose_message(NEAR, (3.0, 0.0, 0.0, 0.0)))
        ready.wait_for_state('REACHED')
        tip = judge.pose(ready.commands.q[-1])
        assert tip[:3, :3] == pytest.approx(np.diag([1.0, -1.0, -1.0]), abs=1e-4)

    def test_target_before_any_model_is_refused(self, bench):
        bench.start_node()
        bench.wait_for_state('WAITING_FOR_MODEL')
        assert '/robot_description' in bench.refusal(SOMEWHERE)

    def test_target_before_activation_is_refused(self, bench, six_axis):
        bench.start_node(autostart=False, robot_description=six_axis)
        bench.start_arm(AT_START)
        bench.describe(six_axis)
        assert bench.node.trigger_configure() == SUCCESS
        assert 'not active' in bench.refusal(SOMEWHERE)
        assert bench.node.trigger_activate() == SUCCESS
        bench.wait_for_state('IDLE')
        bench.wait_until_silent(3)
        assert not len(bench.commands), 'a target from before must not be remembered'

    def test_target_before_any_joint_state_is_refused_naming_the_joints(self, bench, six_axis):
        bench.start_node(robot_description=six_axis)
        bench.wait_for_state('WAITING_FOR_STATE')
        reason = bench.refusal(SOMEWHERE)
        assert all(name in reason for name in JOINTS)
        bench.wait_until_silent(3)
        assert not len(bench.commands)

    def test_old_target_is_refused_where_an_age_is_set(self, bench, six_axis):
        bench.start_all(six_axis, AT_START, max_target_age=1.0)
        message = pose_message(NEAR, DOWN)
        now = bench.tester.get_clock().now().nanoseconds
        message.header.stamp.sec = now // 1_000_000_000 - 10
        assert 'max_target_age 1 s' in bench.refusal(message)
        assert not len(bench.commands)
        bench.send(SOMEWHERE)  # a stamp of zero has no age: ros2 topic pub sends it
        bench.wait_for_state('REACHED')

    def test_age_of_a_target_is_reported(self, ready):
        message = pose_message(NEAR, DOWN)
        message.header.stamp.sec = ready.tester.get_clock().now().nanoseconds // 1_000_000_000 - 10
        ready.send(message)
        status = ready.wait_for_state('REACHED')
        assert 10.0 <= float(status['target_age']) < 10.0 + 60.0


class TestModel:
    def test_bad_model_is_told_and_a_good_one_is_taken_later(self, bench, six_axis, beside):
        bench.start_node()
        bench.describe(BAD_URDF)
        bench.spin_until(lambda: 'nowhere' in bench.status.get('reason', ''), 'a reason')
        assert bench.status['state'] == 'WAITING_FOR_MODEL'
        bench.describe('this is no XML at all <<<')
        bench.spin_until(lambda: 'nowhere' not in bench.status['reason'], 'another reason')
        bench.start_arm(AT_START)
        bench.describe(six_axis)
        bench.wait_for_state('IDLE')
        bench.send(beside)
        bench.wait_for_state('REACHED')

    def test_model_without_the_tip_link_is_told(self, bench, six_axis):
        bench.start_node(tip_link='flange')
        bench.describe(six_axis)
        bench.spin_until(lambda: "'flange'" in bench.status.get('reason', ''), 'a reason')
        assert 'tool0' in bench.status['reason']

    def test_arm_of_a_model_that_was_cleaned_up_is_forgotten(self, bench, six_axis):
        """Objects that are frozen for the garbage collector would stay for ever."""
        bench.start_node(robot_description=six_axis)
        bench.spin_until(lambda: bench.node.node_state.arm is not None, 'an arm')
        arm = weakref.ref(bench.node.node_state.arm)
        bench.node.trigger_deactivate()
        assert bench.node.trigger_cleanup() == SUCCESS
        assert bench.node.trigger_configure() == SUCCESS
        bench.spin_until(lambda: arm() is None, 'the old arm is gone')

    @pytest.mark.parametrize('how', ['description', 'parameter'])
    def test_node_that_somebody_took_down_does_not_come_up_again_by_itself(
        self, ready, six_axis, how
    ):
        """Deactivate, clean up, mend: the documented way to change what is fixed."""
        node = ready.node
        assert [node.trigger_deactivate(), node.trigger_cleanup()] == 2 * [SUCCESS]
        if how == 'description':
            ready.describe(six_axis + '\n')
        else:
            node.set_parameters([Parameter('tip_link', value='tool0')])
        ready.wait_for_statuses(5)
        assert node.node_state.arm is None
        assert [node.trigger_configure(), node.trigger_activate()] == 2 * [SUCCESS]
        ready.wait_for_state('IDLE')

    def test_good_model_after_one_that_cannot_be_used_waits_for_activation(self, ready, six_axis):
        ready.describe('<robot name="nothing"><link name="alone"/></robot>')
        ready.wait_for_state('WAITING_FOR_MODEL')
        ready.describe(six_axis + '\n')
        ready.spin_until(lambda: ready.node.node_state.arm is not None, 'an arm')
        ready.wait_for_state('HOLDING')
        assert 'activate it' in ready.status['reason']
        assert ready.node.trigger_activate() == SUCCESS
        ready.wait_for_state('IDLE')

    def test_same_model_again_is_ignored_on_the_way(self, ready, judge, six_axis, away):
        ready.send(away)
        ready.wait_for_commands(40)
        ready.describe(six_axis)
        ready.wait_for_state('REACHED')
        assert judge.errors(away, ready.commands.q[-1]) < (1e-5, 1e-4)
        check_commands(ready, judge)

    def test_other_model_on_the_way_stops_the_arm_and_the_node_goes_inactive(
        self, ready, judge, six_axis, away
    ):
        move_at_full_speed(ready, away)
        ready.describe(PLANAR)
        ready.spin_until(lambda: 'activate it' in ready.status['reason'], 'the node is inactive')
        ready.wait_until_silent(4)
        check_commands(ready, judge)
        check_end_at_rest(ready)
        assert 'not active' in ready.refusal(SOMEWHERE)

    @pytest.mark.long
    def test_other_model_is_used_after_activation(self, bench, six_axis):
        bench.start_node(mode='position')
        bench.describe(six_axis)
        bench.puppet = Puppet(bench, AT_START | {'j0': 0.3, 'j1': 0.8})
        bench.wait_for_state('IDLE')
        bench.describe(PLANAR)
        bench.spin_until(lambda: 'activate it' in bench.status['reason'], 'the node is inactive')
        assert bench.node.trigger_activate() == SUCCESS
        bench.wait_for_state('IDLE')
        bench.send(pose_message((1.0, 0.9, 0.0), (0.0, 0.0, 0.0, 1.0), 'l0'))
        bench.wait_for_state('REACHED')
        assert bench.commands.names == {('j0', 'j1')}

    @pytest.mark.long
    def test_other_model_that_is_bad_leaves_the_node_waiting(self, ready, six_axis):
        ready.describe(BAD_URDF)
        status = ready.wait_for_state('WAITING_FOR_MODEL')
        assert 'nowhere' in status['reason']
        ready.describe(six_axis)
        assert 'activate it' in ready.wait_for_state('HOLDING')['reason']
        assert ready.node.trigger_activate() == SUCCESS
        ready.wait_for_state('IDLE')

    def test_parameter_wins_over_the_topic(self, bench, six_axis):
        bench.start_node(robot_description=six_axis)
        bench.describe(PLANAR)
        bench.puppet = Puppet(bench, AT_START)
        bench.wait_for_state('IDLE')
        bench.wait_for_statuses(3)
        assert bench.status['tip_link'] == 'tool0'

    def test_parameter_that_is_set_later_is_used(self, bench, six_axis):
        bench.start_node(autostart=False)
        assert bench.set(robot_description=six_axis) == []
        assert bench.node.trigger_configure() == SUCCESS

    def test_configuring_by_hand_without_a_model_fails_with_the_reason(self, bench):
        bench.start_node()
        assert bench.node.trigger_configure() == FAILURE
        bench.wait_for_statuses(2)
        assert 'no robot description yet on /robot_description' in bench.status['reason']

    def test_configuring_over_the_wire_without_a_model_fails(self, bench):
        bench.start_node()
        request = ChangeState.Request(transition=Transition(id=Transition.TRANSITION_CONFIGURE))
        answer = bench.ask(ChangeState, 'fabrik/change_state', request)
        assert not answer.success
        bench.wait_for_state('WAITING_FOR_MODEL')

    def test_autostart_false_waits_to_be_told(self, bench, six_axis, beside):
        bench.start_node(autostart=False)
        bench.start_arm(AT_START)
        bench.describe(six_axis)
        bench.spin_until(lambda: bench.states, 'the arm is there')
        bench.wait_for_statuses(3)
        assert bench.status['state'] == 'WAITING_FOR_MODEL'
        assert bench.node.trigger_configure() == SUCCESS
        assert 'activate' in bench.wait_for_state('HOLDING')['reason']
        assert bench.node.trigger_activate() == SUCCESS
        bench.wait_for_state('IDLE')
        bench.send(beside)
        bench.wait_for_state('REACHED')

    def test_model_that_comes_before_the_node_is_read(self, bench, six_axis):
        """Descriptions are latched."""
        bench.describe(six_axis)
        bench.start_arm(AT_START)
        bench.spin_until(lambda: bench.states, 'the arm has read it')
        bench.start_node()
        bench.wait_for_state('IDLE')


class TestJointStates:
    def test_foreign_joints_are_ignored(self, bench, six_axis, judge, beside):
        bench.start_node()
        bench.describe(six_axis)
        bench.puppet = Puppet(bench, {'finger': 0.02, **AT_START, 'camera_pan': 1e6})
        bench.wait_for_state('IDLE')
        bench.send(beside)
        bench.wait_for_state('REACHED')
        check_commands(bench, judge)

    def test_state_of_foreign_joints_alone_starts_nothing(self, bench, six_axis):
        bench.start_node()
        bench.describe(six_axis)
        bench.puppet = Puppet(bench, {'finger': 0.02})
        bench.wait_for_state('WAITING_FOR_STATE')
        bench.spin_until(lambda: len(bench.states) > 20, 'states')
        assert 'wrist_3' in bench.refusal(SOMEWHERE)

    def test_state_with_fewer_values_than_joints_is_left_out(self, bench, six_axis):
        """Nobody knows which of the joints the values belong to."""
        bench.start_node()
        bench.describe(six_axis)
        publisher = bench.tester.create_publisher(JointState, 'joint_states', 10)
        message = JointState(name=list(JOINTS), position=list(START[1:]))
        bench.tester.create_timer(PERIOD, lambda: publisher.publish(message))
        bench.wait_for_state('WAITING_FOR_STATE')
        bench.spin_until(lambda: len(bench.states) > 20, 'states')
        bench.wait_for_statuses(2)
        assert all(name in bench.status['reason'] for name in JOINTS)

    def test_arm_and_gripper_may_come_from_two_publishers(self, bench, six_axis, judge, beside):
        bench.start_node()
        bench.describe(six_axis)
        Puppet(bench, {'left_finger': 0.02, 'right_finger': 0.02})
        Puppet(bench, dict(reversed(AT_START.items())))
        bench.wait_for_state('IDLE')
        bench.send(beside)
        bench.wait_for_state('REACHED')
        assert judge.errors(beside, bench.commands.q[-1]) < (1e-5, 1e-4)
        check_commands(bench, judge)

    @pytest.mark.long
    def test_arm_may_be_reported_in_two_halves(self, bench, six_axis, judge, beside):
        bench.start_node()
        bench.describe(six_axis)
        Puppet(bench, values_at(JOINTS[:3], START[:3]))
        bench.wait_for_state('WAITING_FOR_STATE')
        bench.spin_until(lambda: 'shoulder' not in bench.status['reason'], 'half of the joints')
        assert 'wrist_1' in bench.status['reason']
        Puppet(bench, values_at(JOINTS[3:], START[3:]))
        bench.wait_for_state('IDLE')
        bench.send(beside)
        bench.wait_for_state('REACHED')
        assert judge.errors(beside, bench.commands.q[-1]) < (1e-5, 1e-4)

    @pytest.mark.parametrize(
        'odd', mostly_long(['no positions', 'too few positions', 'NaN', 'empty'], 'NaN')
    )
    def test_odd_messages_do_no_harm(self, by_hand, judge, beside, odd):
        message = JointState(name=list(JOINTS), position=[math.nan] * len(JOINTS))
        if odd == 'no positions':
            message.position = []
        elif odd == 'too few positions':
            message.position = list(START[:2])
        elif odd == 'empty':
            message = JointState()
        publisher = by_hand.tester.create_publisher(JointState, 'joint_states', 10)
        count = len(by_hand.states)
        for _ in range(5):
            publisher.publish(message)
        by_hand.spin_until(
            lambda: (
                message.position.tolist() in [m.position.tolist() for m in by_hand.states]
                or any(math.isnan(v) for m in by_hand.states[count:] for v in m.position)
            ),
            'the odd message has passed',
        )
        by_hand.send(beside)
        by_hand.wait_for_state('REACHED')
        assert judge.errors(beside, by_hand.commands.q[-1]) < (1e-5, 1e-4)

    def test_lost_state_slows_the_arm_down_and_the_node_says_so(self, by_hand, judge, away):
        move_at_full_speed(by_hand, away)
        by_hand.puppet.fall_silent()
        status = by_hand.wait_for_state('HOLDING')
        assert 'lost' in status['reason']
        assert 'wrist_3' in status['reason']
        by_hand.wait_until_silent(4)
        check_commands(by_hand, judge)
        check_end_at_rest(by_hand)
        assert 'wrist_3' in by_hand.refusal(away)
        by_hand.puppet.speak_again()
        by_hand.resume()
        by_hand.send(away)
        by_hand.wait_for_state('REACHED')
        assert judge.errors(away, by_hand.commands.q[-1]) < (1e-5, 1e-4)

    def test_arm_that_does_not_follow_is_not_pulled_along(self, by_hand, judge, away):
        by_hand.puppet.follows = False
        by_hand.send(away)
        status = by_hand.wait_for_state('HOLDING')
        assert 'does not follow' in status['reason']
        by_hand.wait_until_silent(4)
        check_commands(by_hand, judge)
        check_end_at_rest(by_hand)
        frozen = [by_hand.puppet.values[name] for name in JOINTS]
        assert np.abs(by_hand.commands.q[-1] - frozen).max() < 1e-3, 'the commands came back'
        count = len(by_hand.commands)
        by_hand.puppet.follows = True
        by_hand.wait_until_it_may_set_out()
        assert '~/resume' in by_hand.refusal(away)
        by_hand.resume()
        by_hand.send(away)
        by_hand.wait_for_state('MOVING')
        by_hand.wait_for_state('REACHED')
        step = np.abs(by_hand.commands.q[count] - START).max()
        assert step <= HARDEST * PERIOD * PERIOD + 1e-9, 'it starts anew where the arm stands'

    def test_start_outside_the_limits_is_refused_naming_the_joint(self, bench, six_axis):
        bench.start_node(robot_description=six_axis)
        Puppet(bench, AT_START | {'elbow': math.pi + 0.2})
        bench.wait_for_state('HOLDING')
        assert bench.status['reason_code'] == 'outside_limits'
        reason = bench.refusal(SOMEWHERE)
        assert "'elbow'" in reason
        assert 'limit_margin' in reason
        assert not len(bench.commands)

    @pytest.mark.long
    def test_start_a_little_outside_the_limits_only_moves_inwards(self, bench, six_axis, judge):
        outside = math.pi + 0.05
        # Folded so far the arm lies in itself, from where it could not move.
        bench.start_node(robot_description=six_axis, self_collision='never')
        Puppet(bench, AT_START | {'elbow': outside})
        bench.wait_for_state('IDLE')
        bench.send(judge.pose((0.1, -1.2, 2.9, -1.8, -1.5, 0.1)))
        bench.wait_for_state('MOVING')
        bench.spin_until(lambda: bench.status['state'] != 'MOVING', 'an end')
        elbow = bench.commands.q[:, JOINTS.index('elbow')]
        assert np.all(np.diff(np.minimum(elbow, math.pi + 1.0))[elbow[1:] > math.pi] <= 0.0)
        assert elbow[0] <= outside
        assert elbow[-1] <= math.pi


class TestStopping:
    def test_deactivation_at_full_speed_brings_the_arm_to_rest(self, ready, judge, away):
        move_at_full_speed(ready, away)
        before = len(ready.commands)
        assert ready.node.trigger_deactivate() == SUCCESS
        ready.wait_until_silent(4)
        check_commands(ready, judge)
        check_end_at_rest(ready)
        speeds = np.abs(velocities(ready.commands.times, ready.commands.q)).max(axis=1)
        assert speeds[before - 2] > 0.3
        assert ready.commands.times[-1] - ready.commands.times[before - 1] <= 0.5
        assert 'not active' in ready.refusal(SOMEWHERE)

    @pytest.mark.long
    def test_arm_starts_from_rest_where_it_stands_after_activation(self, ready, judge, away):
        move_at_full_speed(ready, away)
        assert ready.node.trigger_deactivate() == SUCCESS
        ready.wait_until_silent(4)
        count = len(ready.commands)
        assert ready.node.trigger_activate() == SUCCESS
        ready.wait_until_it_may_set_out()
        ready.send(away)
        ready.wait_for_state('REACHED')
        step = np.abs(ready.commands.q[count] - ready.commands.q[count - 1]).max()
        assert step <= HARDEST * PERIOD * PERIOD + 1e-5
        assert judge.errors(away, ready.commands.q[-1]) < (1e-5, 1e-4)
        check_commands(ready, judge)

    @pytest.mark.long
    def test_target_in_the_moment_of_activation_makes_no_jump(self, ready, judge, away):
        move_at_full_speed(ready, away)
        count = len(ready.commands)
        assert ready.node.trigger_deactivate() == SUCCESS
        assert ready.node.trigger_activate() == SUCCESS
        ready.node.node_state.gate.open()
        ready.node.inbox.on_target(ready.node.topics.tips[0], matrix_message(away), time.time_ns())
        ready.wait_for_state('REACHED')
        assert len(ready.commands) > count + 50
        check_commands(ready, judge)
        # Over the time at rest, too, which a busy machine draws out.
        whole = accelerations(ready.commands.times, ready.commands.q)
        assert np.abs(whole).max() <= HARDEST * (1.0 + 1e-4)

    @pytest.mark.long
    def test_error_in_a_step_of_the_life_cycle_brings_the_arm_to_rest(
        self, ready, judge, away, monkeypatch
    ):
        def fail(reason):
            monkeypatch.undo()
            raise RuntimeError('not now')

        move_at_full_speed(ready, away)
        monkeypatch.setattr(ready.node, 'come_to_rest', fail)
        ready.node.trigger_deactivate()
        ready.wait_until_silent(4)
        check_commands(ready, judge)
        check_end_at_rest(ready)
        assert ready.status['state'] == 'WAITING_FOR_MODEL'

    @pytest.mark.long
    def test_error_on_the_way_to_rest_does_not_end_that_way(self, ready, judge, away, monkeypatch):
        def fail(dt):
            monkeypatch.undo()
            raise RuntimeError('not now')

        move_at_full_speed(ready, away)
        monkeypatch.setattr(ready.node.node_state.arm.motion, 'step', fail)
        assert ready.node.trigger_deactivate() == SUCCESS
        ready.wait_until_silent(4)
        check_commands(ready, judge)
        check_end_at_rest(ready)

    @pytest.mark.long
    def test_deactivation_of_a_node_that_was_held_up_does_not_drive_a_resting_arm(
        self, ready, judge, away
    ):
        """Whoever waits for commands has stopped by then: the ramp would set out at speed."""
        move_at_full_speed(ready, away)
        time.sleep(0.3)
        before = ready.node.node_state.tally.commands
        assert ready.node.trigger_deactivate() == SUCCESS
        assert ready.node.node_state.tally.commands == before
        check_commands(ready, judge)

    @pytest.mark.long
    def test_clock_that_is_set_forwards_makes_no_jolt(self, ready, away, monkeypatch):
        """As when a machine without a clock of its own hears what time it is."""
        move_at_full_speed(ready, away)
        count, time_now = len(ready.commands), time.time_ns
        monkeypatch.setattr(time, 'time_ns', lambda: time_now() + 1000 * 10**9)
        ready.wait_until_silent(4)
        assert len(ready.commands) > count + 5
        check_accelerations_over_a_jump(ready)

    @pytest.mark.long
    def test_error_in_a_step_brings_the_arm_to_rest_and_is_told(
        self, ready, judge, away, monkeypatch
    ):
        move_at_full_speed(ready, away)
        motion, step = ready.node.node_state.arm.motion, ready.node.node_state.arm.motion.step

        def fail_on_the_way(dt):
            if isinstance(motion.path, LinePath):
                raise ArithmeticError('an unlucky number')
            step(dt)

        monkeypatch.setattr(motion, 'step', fail_on_the_way)
        status = ready.wait_for_state('HOLDING')
        assert status['reason'] == 'an error in a step: an unlucky number'
        ready.wait_until_silent(4)
        assert len(ready.commands.runs()) == 1
        check_commands(ready, judge)
        check_end_at_rest(ready)
        monkeypatch.undo()
        ready.resume()
        ready.send(away)
        ready.wait_for_state('REACHED')

    def test_error_between_two_steps_brings_the_arm_to_rest_and_is_told(
        self, ready, judge, away, monkeypatch
    ):
        def fail():
            monkeypatch.undo()
            raise ArithmeticError('an unlucky number')

        move_at_full_speed(ready, away)
        monkeypatch.setattr(ready.node.node_state.arm.motion, 'prepare', fail)
        status = ready.wait_for_state('HOLDING')
        assert status['reason'] == 'an error in a step: an unlucky number'
        ready.wait_until_silent(4)
        check_commands(ready, judge)
        check_end_at_rest(ready)

    @pytest.mark.long
    def test_shutdown_at_full_speed_brings_the_arm_to_rest(self, ready, judge, away):
        move_at_full_speed(ready, away)
        assert ready.node.trigger_shutdown() == SUCCESS
        ready.wait_for_statuses(3)
        assert 'shut down for good' in ready.status['reason']
        ready.describe(PLANAR)
        ready.wait_for_statuses(3)
        assert 'shut down for good' in ready.status['reason']
        check_commands(ready, judge)
        check_end_at_rest(ready)

    def test_missing_targets_stop_the_arm_where_that_is_asked_for(
        self, bench, six_axis, judge, away
    ):
        bench.start_all(six_axis, AT_START, target_timeout=0.4)
        bench.send(away)
        status = bench.wait_for_state('HOLDING')
        assert 'target_timeout' in status['reason']
        bench.wait_until_silent(4)
        assert judge.errors(away, bench.commands.q[-1])[0] > 0.1
        check_commands(bench, judge)
        check_end_at_rest(bench)


class TestSimulatedTime:
    """A clock of our own, ten milliseconds at every message."""

    @pytest.fixture
    def clock(self, bench, six_axis):
        rosgraph_msgs = pytest.importorskip('rosgraph_msgs.msg')
        publisher = bench.tester.create_publisher(rosgraph_msgs.Clock, '/clock', 10)
        clock = SimpleNamespace(now=100.0, runs=True)

        def tell():
            if clock.runs:
                clock.now += PERIOD
                message = rosgraph_msgs.Clock()
                message.clock.sec = int(clock.now)
                message.clock.nanosec = round(1e9 * (clock.now % 1.0)) % 1_000_000_000
                publisher.publish(message)

        bench.tester.create_timer(PERIOD, tell)
        bench.start_node(use_sim_time=True)
        bench.describe(six_axis)
        bench.puppet = Puppet(bench, AT_START)
        bench.wait_for_state('IDLE')
        return clock

    def test_commands_are_stamped_by_it(self, bench, clock, judge, beside):
        bench.send(beside)
        bench.wait_for_state('REACHED')
        first = stamp_seconds(bench.commands.messages[0].header.stamp)
        assert 100.0 < first < clock.now
        assert judge.errors(beside, bench.commands.q[-1]) < (1e-5, 1e-4)
        check_commands(bench, judge)

    def test_clock_that_jumps_back_slows_the_arm_down_and_the_node_says_so(
        self, bench, clock, judge, away
    ):
        bench.send(away)
        bench.spin_until(lambda: len(bench.commands) > 60, 'the arm is on its way')
        clock.now = 10.0
        status = bench.wait_for_state('HOLDING')
        assert 'clock jumped back' in status['reason']
        bench.wait_until_silent(4)
        check_end_at_rest(bench)
        check_accelerations_over_a_jump(bench)
        stamps = [stamp_seconds(m.header.stamp) for m in bench.commands.messages]
        assert stamps[-1] < 50.0

    def test_points_from_before_a_jump_back_are_no_new_ones(self, bench, clock, beside):
        cloud = PointCloud2(height=1, width=1, point_step=12, row_step=12)
        cloud.header.frame_id = 'base_link'
        bench.wait_for_statuses()
        cloud.header.stamp.sec = int(clock.now)
        cloud.header.stamp.nanosec = int(1e9 * (clock.now % 1.0))
        cloud.fields = [
            PointField(name=name, offset=4 * i, datatype=PointField.FLOAT32, count=1)
            for i, name in enumerate('xyz')
        ]
        cloud.data = np.array([3.0, 0.0, 0.0], dtype=np.float32).tobytes()
        publisher = bench.tester.create_publisher(
            PointCloud2, 'fabrik/points', qos_profile_sensor_data
        )
        bench.spin_until(lambda: publisher.get_subscription_count() > 0, 'the node listens')
        publisher.publish(cloud)
        bench.wait_for_count('clouds_accepted', 1)
        clock.now = 10.0
        bench.wait_for_statuses(2)
        assert 'since the clock jumped back' in bench.refusal(beside)

    @pytest.mark.long
    @pytest.mark.parametrize('far', [1.5, pytest.param(60.0, marks=pytest.mark.long)])
    def test_clock_that_jumps_back_at_rest_moves_and_says_nothing(self, bench, clock, away, far):
        """The next target is pursued, as after a simulation that begins anew."""
        bench.send(away)
        bench.wait_for_state('REACHED')
        bench.wait_until_silent()
        count = len(bench.commands)
        clock.now -= far
        bench.wait_for_statuses(25)
        assert len(bench.commands) == count
        bench.send(SOMEWHERE)
        bench.wait_for_state('MOVING')
        bench.wait_for_state('REACHED')

    def test_clock_that_stands_still_is_given_as_the_reason(self, bench, clock, judge, away):
        bench.send(away)
        bench.spin_until(lambda: len(bench.commands) > 60, 'the arm is on its way')
        clock.runs = False
        bench.spin_until(lambda: bench.status['reason'], 'the reason')
        assert 'the clock stands still' in bench.status['reason']
        assert bench.status['state'] == 'MOVING'
        clock.runs = True
        bench.wait_for_state('REACHED')
        check_commands(bench, judge)

    @pytest.mark.long
    def test_configured_anew_while_the_clock_stands_it_goes_on_where_it_was(
        self, bench, clock, judge, away
    ):
        """By the stamps no time has passed: nobody must see the arm jump."""
        bench.send(away)
        bench.wait_for_state('REACHED')
        last, clock.runs = len(bench.commands), False
        node = bench.node
        steps = [node.trigger_deactivate, node.trigger_cleanup, node.trigger_configure]
        assert [step() for step in (*steps, node.trigger_activate)] == 4 * [SUCCESS]
        bench.puppet.follows = False
        bench.puppet.values['elbow'] += 0.3
        bench.wait_for_statuses(5)
        bench.send(SOMEWHERE)
        bench.spin_until(lambda: bench.status['last_refusal'], 'the refusal')
        assert 'the arm is not at its last command' in bench.status['last_refusal']
        assert len(bench.commands) == last
        clock.runs = bench.puppet.follows = True
        bench.wait_until_it_may_set_out()
        bench.send(SOMEWHERE)
        bench.wait_for_state('REACHED')
        check_commands(bench, judge)

    @pytest.mark.long
    def test_time_before_the_beginning_is_left_out(self, bench, clock, judge, away):
        """It would end any node: rclpy raises where a time is negative."""
        bench.send(away)
        bench.spin_until(lambda: len(bench.commands) > 60, 'the arm is on its way')
        clock.now -= 500.0
        bench.wait_for_statuses(3)
        clock.now += 500.0
        bench.wait_for_state('REACHED')
        check_commands(bench, judge)

    def test_deactivation_comes_to_rest_though_the_clock_stands(self, bench, clock, judge, away):
        bench.send(away)
        bench.spin_until(lambda: len(bench.commands) > 60, 'the arm is on its way')
        clock.runs = False
        assert bench.node.trigger_deactivate() == SUCCESS
        bench.wait_for_statuses(3)
        check_commands(bench, judge)
        check_end_at_rest(bench)


class TestNames:
    def test_everything_moves_into_a_namespace(self, context, six_axis, beside):
        bench = Bench(context, namespace='/cell/left')
        bench.start_all(six_axis, AT_START)
        bench.send(beside)
        bench.wait_for_state('REACHED')
        node = 'fabrik', '/cell/left'
        topics = bench.tester.get_publisher_names_and_types_by_node(*node)
        topics += bench.tester.get_subscriber_names_and_types_by_node(*node)
        topics += bench.tester.get_service_names_and_types_by_node(*node)
        general = {'/rosout', '/parameter_events', '/diagnostics', '/clock', '/tf', '/tf_static'}
        assert {t for t, _ in topics if not t.startswith('/cell/left/')} <= general
        bench.close()

    @pytest.mark.long
    def test_two_arms_in_two_namespaces_do_not_meet(self, context, six_axis, beside, start):
        left, right = Bench(context, '/left'), Bench(context, '/right')
        for bench in (left, right):
            bench.start_node()
            bench.start_arm(AT_START)
            bench.describe(six_axis)
        for node in right.nodes:
            right.executor.remove_node(node)
            left.executor.add_node(node)
        left.wait_for_state('IDLE')
        left.spin_until(lambda: right.status.get('state') == 'IDLE', 'the other is ready')
        left.send(beside)
        left.wait_for_state('REACHED')
        assert not len(right.commands)
        left.close()
        right.close()


def test_wait_for_state_false_moves_from_the_start_configuration(bench, six_axis, judge, beside):
    bench.start_node(
        robot_description=six_axis, wait_for_state=False, start_configuration=list(START)
    )
    bench.wait_for_state('IDLE')
    bench.send(beside)
    bench.wait_for_state('REACHED')
    assert np.abs(bench.commands.q[0] - START).max() <= HARDEST * PERIOD * PERIOD + 1e-9
    assert judge.errors(beside, bench.commands.q[-1]) < (1e-5, 1e-4)
    check_commands(bench, judge)


def test_start_configuration_of_another_length_is_refused_with_the_reason(bench, six_axis):
    bench.start_node(
        robot_description=six_axis, wait_for_state=False, start_configuration=[0.0, 1.0]
    )
    bench.spin_until(lambda: 'start_configuration' in bench.status.get('reason', ''), 'a reason')


def test_start_configuration_outside_the_limits_is_refused_naming_the_joint(bench, six_axis):
    start = [0.0, -1.3, 4.0, -1.9, -1.57, 0.0]
    bench.start_node(robot_description=six_axis, wait_for_state=False, start_configuration=start)
    bench.spin_until(lambda: "'elbow'" in bench.status.get('reason', ''), 'a reason')


@pytest.mark.long
def test_live_change_of_speed_is_heeded_on_the_way(ready, judge, away):
    ready.send(away)
    ready.wait_for_commands(30)
    assert ready.set(max_tip_speed=0.05) == []
    ready.wait_for_commands(60)
    points = np.array([judge.pose(q)[:3, 3] for q in ready.commands.q])
    speeds = np.linalg.norm(velocities(ready.commands.times, points), axis=1)
    assert speeds[-5:].max() <= 0.05 * (1.0 + 1e-6)
    assert ready.set(max_tip_speed=0.25) == []
    ready.wait_for_state('REACHED')
    check_commands(ready, judge)


def test_best_effort_publisher_is_reported_with_its_cure(ready, capfd):
    qos = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)
    ready.tester.create_publisher(PoseStamped, 'fabrik/target_pose', qos)
    said = []

    def is_said():
        said.append(capfd.readouterr().err)
        return 'best effort' in ''.join(said)

    ready.spin_until(is_said, 'a warning')
    assert 'qos_overrides./fabrik/target_pose.subscription.reliability' in ''.join(said)


def test_best_effort_publisher_is_heard_with_the_cure(bench, six_axis, beside):
    bench.start_all(
        six_axis,
        AT_START,
        **{'qos_overrides./fabrik/target_pose.subscription.reliability': 'best_effort'},
    )
    qos = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)
    publisher = bench.tester.create_publisher(PoseStamped, 'fabrik/target_pose', qos)
    bench.spin_until(lambda: publisher.get_subscription_count() > 0, 'a match')
    publisher.publish(matrix_message(beside))
    bench.wait_for_state('REACHED')


def test_cure_of_one_node_is_none_of_another_in_the_same_process(context):
    override = Parameter('qos_overrides./target.subscription.reliability', value='best_effort')
    nodes = [
        rclpy.create_node(name, context=context, parameter_overrides=overrides)
        for name, overrides in (('cured', [override]), ('plain', []))
    ]
    heard = [subscribe_to_targets(node, PoseStamped, 'target', print) for node in nodes]
    policies = [subscription.qos_profile.reliability for subscription in heard]
    for node in nodes:
        node.destroy_node()
    assert policies == [ReliabilityPolicy.BEST_EFFORT, ReliabilityPolicy.RELIABLE]
