"""The action of motion primitives, by a client of rclpy: how goals begin, go on and end."""

import math
import signal

import pytest

pytest.importorskip('rclpy', reason='ROS 2 is not installed')
pytest.importorskip('pinocchio', reason='pinocchio is the judge')
pytest.importorskip(
    'control_msgs.action', reason='control_msgs comes with ROS 2, not with its wheels'
)

from action_msgs.msg import GoalStatus
from bench import (
    check_commands,
    JOINTS,
    matrix_message,
    Puppet,
    shifted,
    six_axis_judge,
    START,
    values_at,
)
from control_msgs.action import ExecuteMotionPrimitiveSequence as Execute
from control_msgs.msg import MotionArgument, MotionPrimitive, MotionPrimitiveSequence
from geometry_msgs.msg import TwistStamped
from judging import distances_from_line
from lifecycle_msgs.msg import Transition
from lifecycle_msgs.srv import ChangeState
from node_process import NodeProcess
import numpy as np
from rclpy.action import ActionClient
from std_srvs.srv import Trigger
from visualization_msgs.msg import Marker, MarkerArray

AT_START = values_at(JOINTS, START)
ON_LINE = 1e-4
"""How far the tip may be from a line [m]."""
SPEED = 0.1
HERE = np.eye(4)
TURNED = np.array([0.3, 0.1, -0.1, 0.0, 0.2, 0.3])
NOT_REACHED, SUPERSEDED = -10, -11
SUCCEEDED, ABORTED = GoalStatus.STATUS_SUCCEEDED, GoalStatus.STATUS_ABORTED
CANCELED, EXECUTING = GoalStatus.STATUS_CANCELED, GoalStatus.STATUS_EXECUTING
JOINT, LINE, ARC = (
    MotionPrimitive.LINEAR_JOINT,
    MotionPrimitive.LINEAR_CARTESIAN,
    MotionPrimitive.CIRCULAR_CARTESIAN,
)


class Client:
    """A client of the action, and what it got for one goal."""

    def __init__(self, bench, node=None):
        self._bench = bench
        self._client = ActionClient(node or bench.tester, Execute, 'fabrik/execute_motion')
        self.feedback = []

    def send(self, *motions):
        """Send a goal, and wait until it is accepted."""
        self._bench.spin_until(self._client.server_is_ready, 'the action is offered')
        goal = Execute.Goal(trajectory=MotionPrimitiveSequence(motions=motions))
        sent = self._client.send_goal_async(goal, self._hear)
        self._bench.spin_until(sent.done, 'an answer to the goal')
        self.handle = sent.result()
        assert self.handle.accepted
        self._result = self.handle.get_result_async()
        return self

    def _hear(self, message):
        self.feedback.append(message.feedback.current_primitive_index)

    def cancel(self):
        """Ask for the end of the goal; tell whether the server agrees."""
        asked = self.handle.cancel_goal_async()
        self._bench.spin_until(asked.done, 'an answer to the cancelling')
        return bool(asked.result().goals_canceling)

    @property
    def is_done(self):
        return self._result.done()

    def result(self):
        """Wait for the result: its status, error code and sentence."""
        self._bench.spin_until(self._result.done, 'the result')
        found = self._result.result()
        return found.status, found.result.error_code, found.result.error_string

    def close(self):
        self._client.destroy()


def primitive(kind, *poses, joints=(), blend=0.0, frame='base_link', **arguments):
    """Make a motion primitive of poses, shape (4, 4), or joint values."""
    return MotionPrimitive(
        type=kind,
        blend_radius=blend,
        poses=[matrix_message(T, frame) for T in poses],
        joint_positions=list(map(float, joints)),
        additional_arguments=[
            MotionArgument(name=name, value=float(value)) for name, value in arguments.items()
        ],
    )


def line(T, **given):
    return primitive(LINE, T, **{'velocity': SPEED, **given})


@pytest.fixture(scope='module')
def judge(six_axis):
    return six_axis_judge(six_axis)


@pytest.fixture(scope='module')
def start(judge):
    return judge.pose(START)


@pytest.fixture
def client_of():
    clients = []

    def make(bench, node=None):
        clients.append(Client(bench, node))
        return clients[-1]

    yield make
    for client in clients:
        client.close()


@pytest.fixture
def ready(bench, six_axis):
    bench.start_all(six_axis, AT_START)
    return bench


@pytest.fixture
def client(ready, client_of):
    return client_of(ready)


def call(bench, name):
    answer = bench.ask(Trigger, f'fabrik/{name}', Trigger.Request())
    return answer.success, answer.message


def wait_for_progress(bench, least=0.1):
    bench.spin_until(lambda: float(bench.status.get('progress', 0.0)) > least, 'it moves')


def tips_of(bench, judge):
    return np.array([judge.pose(q)[:3, 3] for q in bench.commands.q])


def median_speed(bench, tips):
    speeds = np.linalg.norm(np.diff(tips, axis=0), axis=1) / np.diff(bench.commands.times)
    return float(np.median(speeds[speeds > 1e-9]))


def measured_tip(bench, judge):
    message = bench.states[-1]
    values = dict(zip(message.name, message.position, strict=True))
    return judge.pose([values[name] for name in JOINTS])


# -- goals that are reached


def test_sequence_is_driven_as_it_was_sent(ready, client, judge, start):
    corner, end = shifted(start, y=0.1), shifted(start, y=0.1, z=-0.1)
    via = shifted(start, y=0.1, z=-0.05)
    via[0, 3] -= 0.05
    client.send(line(corner), primitive(ARC, end, via, velocity=SPEED), line(start))
    status, code, text = client.result()
    assert (status, code) == (SUCCEEDED, Execute.Result.SUCCESSFUL), text
    assert np.linalg.norm((measured_tip(ready, judge) - start)[:3, 3]) < 1e-3
    check_commands(ready, judge)
    tips = tips_of(ready, judge)
    centre = shifted(start, y=0.1, z=-0.05)[:3, 3]
    off = np.min(
        [
            distances_from_line(tips, start[:3, 3], corner[:3, 3]),
            distances_from_line(tips, end[:3, 3], start[:3, 3]),
            np.abs(np.linalg.norm(tips - centre, axis=1) - 0.05),
        ],
        axis=0,
    )
    assert off.max() < ON_LINE
    assert np.linalg.norm(tips - via[:3, 3], axis=1).min() < 1e-3, 'it goes through via'
    assert median_speed(ready, tips) == pytest.approx(SPEED, rel=0.01)
    assert client.feedback == sorted(client.feedback)
    assert set(client.feedback) == {0, 1, 2}


def test_feedback_comes_ten_times_a_second(ready, client, start):
    client.send(line(shifted(start, y=0.15)))
    client.result()
    duration = float(ready.commands.times[-1])
    assert 5.0 * duration < len(client.feedback) < 15.0 * duration + 5.0


def test_joint_values_poses_and_blends_are_understood(ready, client, judge, start):
    values = START + TURNED
    client.send(
        primitive(JOINT, joints=values, velocity=0.3),
        primitive(JOINT, shifted(start, y=0.1), blend=0.02),
        line(shifted(start, y=0.1, z=-0.1), frame=''),
    )
    status, code, text = client.result()
    assert (status, code) == (SUCCEEDED, 0), text
    check_commands(ready, judge)
    q, times = ready.commands.q, ready.commands.times
    there = int(np.argmin(np.abs(q - values).max(axis=1)))
    assert np.abs(q[there] - values).max() < 1e-6
    fastest = np.abs(np.diff(q[:there], axis=0) / np.diff(times[:there])[:, None]).max()
    assert fastest == pytest.approx(0.3, rel=0.01)
    waypoint = shifted(start, y=0.1)[:3, 3]
    near = np.linalg.norm(tips_of(ready, judge) - waypoint, axis=1).min()
    assert 1e-4 < near < 0.02
    assert judge.errors(shifted(start, y=0.1, z=-0.1), q[-1]) < (ON_LINE, 1e-3)


@pytest.mark.parametrize('seconds', [1.0, 2.0])
@pytest.mark.parametrize('kind', [JOINT, LINE])
def test_move_time_is_how_long_it_takes(ready, client, start, kind, seconds):
    joints = START + TURNED if kind == JOINT else ()
    poses = [shifted(start, y=0.1)] if kind == LINE else []
    client.send(primitive(kind, *poses, joints=joints, move_time=seconds, velocity=0.01))
    assert client.result()[0] == SUCCEEDED
    moving = np.any(np.diff(ready.commands.q, axis=0) != 0.0, axis=1)
    steps = np.diff(ready.commands.times)[moving]
    assert steps.sum() == pytest.approx(seconds, rel=0.05)


def test_acceleration_is_kept_and_one_above_the_limit_is_told_of(ready, client, judge, start):
    client.send(line(shifted(start, y=0.1), velocity=0.2, acceleration=0.2))
    assert client.result()[2] == 'at the target'
    tips, times = tips_of(ready, judge), ready.commands.times
    fastest = np.max(np.linalg.norm(np.diff(tips, axis=0), axis=1) / np.diff(times))
    most = math.sqrt(0.2 * 0.1)
    assert 0.9 * most < fastest < 1.01 * most, 'it brakes half-way'
    client.send(line(start, acceleration=100.0))
    status, code, text = client.result()
    assert (status, code) == (SUCCEEDED, 0)
    assert 'primitive 1 (LINEAR_CARTESIAN): acceleration ' in text
    assert 'instead of 100' in text


def test_result_waits_for_the_measured_arm(bench, six_axis, client_of, start):
    bench.start_node(arrival_tolerance_position=0.001)
    bench.start_arm(AT_START, lag=0.3)
    bench.describe(six_axis)
    bench.wait_for_state('IDLE')
    client = client_of(bench).send(line(shifted(start, y=0.1), velocity=0.4))
    bench.spin_until(lambda: bench.status.get('reason_code') == 'settling', 'it settles')
    assert not client.is_done
    assert client.result()[0] == SUCCEEDED
    target, judge = shifted(start, y=0.1), six_axis_judge(six_axis)
    assert judge.errors(target, bench.states[-1].position)[0] < 1.1e-3


def test_arm_that_stays_short_is_not_a_success(bench, six_axis, client_of, start):
    bench.start_node(arrival_tolerance_position=0.001)
    puppet = Puppet(bench, AT_START)
    bench.describe(six_axis)
    bench.wait_for_state('IDLE')
    client = client_of(bench).send(line(shifted(start, y=0.02), velocity=0.02))
    wait_for_progress(bench, 0.8)
    puppet.follows = False
    status, code, text = client.result()
    assert (status, code) == (ABORTED, NOT_REACHED)
    assert 'the arm stays short of its commands' in text


# -- goals that are refused


@pytest.mark.parametrize(
    ('motions', 'words'),
    [
        ((), 'a sequence without motion primitives'),
        ((primitive(JOINT, joints=[0.1] * 5),), 'primitive 1 (LINEAR_JOINT): 5 joint_positions'),
        ((primitive(JOINT),), 'needs joint_positions or one pose; it has 0 poses'),
        ((line(HERE), primitive(LINE)), 'primitive 2 (LINEAR_CARTESIAN): needs one pose'),
        ((primitive(ARC, HERE),), 'primitive 1 (CIRCULAR_CARTESIAN): needs two poses, its goal'),
        ((primitive(7, HERE),), 'primitive 1 (7): unknown type; known are: LINEAR_JOINT, '),
        ((line(HERE, velocity=-1),), 'velocity must be positive and finite, got -1'),
        ((line(HERE, acceleration=math.nan),), 'acceleration must be positive and finite'),
        ((line(HERE, velocty=1),), "unknown argument 'velocty'; known are: velocity, "),
        ((line(HERE, blend=-0.1),), 'blend must be 0 or more, got -0.1'),
        ((line(HERE, frame='moon'),), "primitive 1 (LINEAR_CARTESIAN): frame 'moon"),
        (
            (primitive(JOINT, joints=[99.0] * 6),),
            'segment 1 (joints): the goal has 99 for ',
        ),
    ],
)
def test_goal_that_makes_no_sense_is_refused_and_says_where(ready, client, motions, words):
    refused = int(ready.status['refused'])
    status, code, text = client.send(*motions).result()
    assert (status, code) == (ABORTED, Execute.Result.INVALID_GOAL)
    assert words in text
    assert ready.wait_for_count('refused', refused + 1)['last_refusal'] == text
    assert len(ready.commands) == 0


def test_argument_that_is_given_twice_is_refused(ready, client, start):
    motion = line(start)
    motion.additional_arguments = [MotionArgument(name='velocity', value=0.1)] * 2
    assert 'velocity is given twice' in client.send(motion).result()[2]


def test_old_poses_are_refused_by_their_own_code(bench, six_axis, client_of, start):
    bench.start_all(six_axis, AT_START, max_target_age=1.0)
    motion = line(start)
    motion.poses[0].header.stamp.sec = 1
    status, code, text = client_of(bench).send(motion).result()
    assert (status, code) == (ABORTED, Execute.Result.OLD_HEADER_TIMESTAMP)
    assert text.startswith('the pose of primitive 1 is ')


def test_goal_out_of_reach_moves_nothing_and_names_the_segment(ready, client, start):
    client.send(line(shifted(start, y=0.1)), line(shifted(start, x=3.0)))
    status, code, text = client.result()
    assert (status, code) == (ABORTED, Execute.Result.INVALID_GOAL)
    assert text.startswith('segment 2 (line): ')
    ready.wait_until_silent()
    assert len(ready.commands) == 0


def test_goal_that_is_refused_leaves_the_one_before_alone(ready, client_of, client, start):
    client.send(line(shifted(start, y=0.1)))
    wait_for_progress(ready)
    assert client_of(ready).send().result()[:2] == (ABORTED, Execute.Result.INVALID_GOAL)
    assert not client.is_done
    assert client.result()[0] == SUCCEEDED


def test_inactive_node_refuses_goals(bench, six_axis, client_of, start):
    bench.start_node(autostart=False)
    bench.describe(six_axis)
    status, code, text = client_of(bench).send(line(start)).result()
    assert (status, code) == (ABORTED, Execute.Result.INVALID_GOAL)
    assert text.startswith('the node is not active: ')


# -- goals that end on the way


def check_stopped_on_line(bench, judge, start, end):
    """Check that the arm has come to rest on its line, short of the end."""
    bench.wait_until_silent()
    check_commands(bench, judge)
    tips = tips_of(bench, judge)
    assert distances_from_line(tips, start[:3, 3], end[:3, 3]).max() < ON_LINE
    assert np.linalg.norm(tips[-1] - end[:3, 3]) > 0.01
    assert not np.any(bench.commands.messages[-1].velocity)


def test_cancelling_brakes_along_the_path(ready, client, judge, start):
    end = shifted(start, y=0.2)
    client.send(line(end))
    wait_for_progress(ready)
    assert client.handle.status == EXECUTING
    assert client.cancel()
    status, _, text = client.result()
    assert status == CANCELED
    assert text.startswith('told to stop')
    assert ready.status['state'] != 'MOVING'
    check_stopped_on_line(ready, judge, start, end)
    client.send(line(start))
    assert client.result()[0] == SUCCEEDED, 'a stop does not latch'


def test_cancelling_while_a_path_is_looked_for_moves_nothing(ready, client, start):
    ends = [shifted(start, y=y, z=z) for z in (0.0, 0.05, 0.1, -0.05) for y in (0.1, -0.1)]
    client.send(*[line(T) for T in 20 * ends])
    ready.wait_for_state('LOOKING')
    assert client.cancel()
    status, _, text = client.result()
    assert status == CANCELED
    assert text.startswith('told to stop')
    ready.wait_until_silent()
    assert len(ready.commands) == 0


def test_cancelling_a_goal_that_is_paused_ends_it(ready, client, start):
    client.send(line(shifted(start, y=0.2)))
    wait_for_progress(ready)
    assert ready.set(speed_scaling=0.0) == []
    ready.spin_until(lambda: 'paused' in ready.status['reason'], 'it pauses')
    ready.wait_for_statuses(5)
    assert not client.is_done
    assert client.cancel()
    assert client.result()[0] == CANCELED
    count = len(ready.commands)
    assert ready.set(speed_scaling=1.0) == []
    ready.wait_until_silent()
    assert np.allclose(ready.commands.q[-1], ready.commands.q[count - 1], atol=1e-9)


def test_cancelling_at_a_waypoint_stops_there(ready, client, judge, start):
    corner = shifted(start, y=0.05)
    client.send(line(corner), line(shifted(start, y=0.05, z=-0.2), velocity=0.005))
    ready.spin_until(lambda: client.feedback and client.feedback[-1] == 1, 'the waypoint')
    assert client.cancel()
    assert client.result()[0] == CANCELED
    ready.wait_until_silent()
    check_commands(ready, judge)
    assert np.linalg.norm(tips_of(ready, judge)[-1] - corner[:3, 3]) < 0.005


def test_same_goal_again_is_driven_again(ready, client, start):
    there_and_back = [line(shifted(start, y=0.05)), line(start)]
    for count in (1, 2):
        assert client.send(*there_and_back).result()[0] == SUCCEEDED
        assert ready.status['program'] == f'execute_motion {count}'
        ready.wait_until_silent(4)
        offsets = np.ptp(ready.commands.q, axis=0)
        assert offsets.max() > 0.05
        ready.commands.messages.clear()


def test_goal_that_has_ended_is_not_cancelled(ready, client, start):
    client.send(line(shifted(start, y=0.02)))
    assert client.result()[0] == SUCCEEDED
    assert not client.cancel()


def test_later_goal_of_another_client_supersedes(ready, client_of, client, judge, start):
    client.send(line(shifted(start, y=0.2)))
    wait_for_progress(ready)
    other = client_of(ready).send(primitive(JOINT, shifted(start, y=-0.1)))
    status, code, text = client.result()
    assert (status, code, text) == (ABORTED, SUPERSEDED, 'superseded by a newer goal')
    assert other.result()[0] == SUCCEEDED
    check_commands(ready, judge)
    assert judge.errors(shifted(start, y=-0.1), ready.commands.q[-1]) < (ON_LINE, 1e-3)


def test_target_supersedes(ready, client, start):
    client.send(line(shifted(start, y=0.2)))
    wait_for_progress(ready)
    ready.send(shifted(start, y=-0.05))
    assert client.result() == (ABORTED, SUPERSEDED, 'superseded by another target')
    ready.wait_for_state('REACHED')


def test_jog_supersedes(ready, client, start):
    client.send(line(shifted(start, y=0.2)))
    wait_for_progress(ready)
    twist = TwistStamped()
    twist.twist.linear.z = 0.05
    for _ in range(5):
        ready._publish('fabrik/jog', twist)
        ready.wait_for_commands(5)
    assert client.result() == (ABORTED, SUPERSEDED, 'superseded by a jog')


def test_hold_ends_the_goal_with_its_reason(ready, client, judge, start):
    end = shifted(start, y=0.2)
    client.send(line(end))
    wait_for_progress(ready)
    assert call(ready, 'hold')[0]
    status, code, text = client.result()
    assert (status, code) == (ABORTED, NOT_REACHED)
    assert text == 'told to hold, until ~/resume'
    check_stopped_on_line(ready, judge, start, end)
    assert client.send(line(start)).result()[2] == 'told to hold, until ~/resume'


def test_arm_that_does_not_follow_ends_the_goal(bench, six_axis, client_of, start):
    bench.start_node()
    puppet = Puppet(bench, AT_START)
    bench.describe(six_axis)
    bench.wait_for_state('IDLE')
    client = client_of(bench).send(line(shifted(start, y=0.2), velocity=0.2))
    wait_for_progress(bench)
    puppet.follows = False
    status, code, text = client.result()
    assert (status, code) == (ABORTED, NOT_REACHED)
    assert text.startswith('the arm does not follow')


def test_goal_waits_where_paths_are_confirmed(bench, six_axis, client_of, judge, start):
    bench.start_all(six_axis, AT_START, confirm='always')
    client = client_of(bench).send(line(shifted(start, y=0.1)))
    bench.spin_until(lambda: bench.status['waits_for_execute'] == 'True', 'the proposal')
    bench.wait_for_statuses(5)
    assert not client.is_done
    assert call(bench, 'execute')[0]
    assert client.result()[0] == SUCCEEDED


@pytest.mark.parametrize('on_blocked', ['hold', 'replan'])
def test_obstacle_ends_the_goal_unless_the_arm_goes_on_by_itself(
    bench, six_axis, client_of, start, on_blocked
):
    pytest.importorskip('coal', reason='coal measures the distances')
    bench.start_all(six_axis, AT_START, on_blocked=on_blocked)
    client, end = client_of(bench), shifted(start, y=0.2)
    client.send(line(end))
    wait_for_progress(bench, 0.05)
    marker = Marker(ns='post', type=Marker.SPHERE, action=Marker.ADD)
    marker.header.frame_id = 'base_link'
    marker.pose = matrix_message(end).pose
    marker.scale.x = marker.scale.y = marker.scale.z = 0.05
    bench._publish('fabrik/obstacles', MarkerArray(markers=[marker]))
    reason = bench.wait_for_state('HOLDING')['reason']
    assert 'post' in reason
    bench.wait_for_statuses(5)
    if on_blocked == 'hold':
        status, code, text = client.result()
        assert (status, code) == (ABORTED, NOT_REACHED)
        assert text == reason
        return
    assert not client.is_done
    bench._publish('fabrik/obstacles', MarkerArray(markers=[Marker(action=Marker.DELETEALL)]))
    assert client.result()[0] == SUCCEEDED
    check_commands(bench, six_axis_judge(six_axis))


def test_deactivation_ends_the_goal(ready, client, judge, start):
    end = shifted(start, y=0.2)
    client.send(line(end))
    wait_for_progress(ready)
    request = ChangeState.Request(transition=Transition(id=Transition.TRANSITION_DEACTIVATE))
    assert ready.ask(ChangeState, 'fabrik/change_state', request).success
    status, code, text = client.result()
    assert (status, code) == (ABORTED, NOT_REACHED)
    assert text.startswith('the node is not active')
    check_stopped_on_line(ready, judge, start, end)


def test_node_that_is_destroyed_on_the_way_tells_that_the_goal_has_ended(ready, client, start):
    client.send(line(shifted(start, y=0.2)))
    wait_for_progress(ready)
    ready.executor.remove_node(ready.node)
    ready.nodes.remove(ready.node)
    ready.node.destroy_node()
    ready.spin_until(lambda: client.handle.status == ABORTED, 'the status of the goal')


# -- the node as a process of its own, with the executor that it has there


@pytest.fixture
def process(bench, six_axis, domain_id, tmp_path):
    process = NodeProcess(domain_id, tmp_path, {'planning_time': 0.0}, {})
    bench.start_arm(AT_START)
    bench.describe(six_axis)
    bench.wait_for_state('IDLE')
    yield process
    process.end()


def test_goals_of_a_node_in_its_own_process(bench, process, client_of, judge, start):
    client = client_of(bench).send(line(shifted(start, y=0.1)), line(start))
    assert client.result()[:2] == (SUCCEEDED, 0)
    assert set(client.feedback) == {0, 1}
    check_commands(bench, judge)
    assert len(bench.commands.runs()) == 1, 'no pause'
    client.send(line(shifted(start, y=0.2)))
    wait_for_progress(bench)
    assert client.cancel()
    assert client.result()[0] == CANCELED
    assert not process.complaints()


def test_interrupt_ends_the_goal_with_a_result(bench, process, client_of, judge, start):
    client = client_of(bench).send(line(shifted(start, y=0.2)))
    wait_for_progress(bench)
    process.tell(signal.SIGINT)
    status, code, text = client.result()
    assert (status, code, text) == (ABORTED, NOT_REACHED, 'the node was interrupted')
    bench.spin_until(lambda: not process.is_alive, 'the process ends')
    assert process.end() == 0, process.last_words()
    assert not process.complaints()
    assert not np.any(bench.commands.messages[-1].velocity)
    bench.spin_until(lambda: 'fabrik' not in bench.tester.get_node_names(), 'it is gone')
