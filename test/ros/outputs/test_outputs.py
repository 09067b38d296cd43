"""What drivers and ros2_control's controllers are sent, seen by a listener of its own."""

import os
from pathlib import Path
import re
import signal
import subprocess
import sys
import time

import pytest

pytest.importorskip('rclpy', reason='ROS 2 is not installed')
pytest.importorskip('pinocchio', reason='pinocchio is the judge')

from bench import JOINTS, PREPARATION, shifted, six_axis_judge, START, values_at
from command_judge import accelerations, velocities
from fabrik_ros.motion.controllers.published_trajectory import default_look_ahead
from fabrik_ros.ros.node import FabrikNode
from lifecycle_msgs.msg import Transition
from lifecycle_msgs.srv import ChangeState
import numpy as np
from rclpy.lifecycle import TransitionCallbackReturn
from rclpy.parameter import Parameter
from std_msgs.msg import Float64MultiArray
from trajectories import played
from trajectory_msgs.msg import JointTrajectory

FASTEST, HARDEST, PERIOD = 1.5, 5.0, 0.01
NOTICE = 30_000_000
"""Before that a controller may not have heard of a new message yet [ns]."""
ALL = ['joint_state', 'trajectory', 'array']
MIXED = ['wrist_3', 'shoulder_pan', 'elbow', 'shoulder_lift', 'wrist_2', 'wrist_1']
ROOT = Path(__file__).parents[3]


@pytest.fixture
def start(six_axis):
    return six_axis_judge(six_axis).pose(START)


def listen(bench, trajectories='fabrik/joint_trajectory', arrays='fabrik/commands'):
    bench.trajectories, bench.arrays = [], []
    bench._listen(JointTrajectory, trajectories, bench.trajectories.append)
    bench._listen(Float64MultiArray, arrays, bench.arrays.append)


def ready(bench, six_axis, **parameters):
    listen(bench)
    bench.start_all(six_axis, values_at(JOINTS, START), **parameters)


def is_fast(bench):
    return len(bench.commands) and max(np.abs(bench.commands.messages[-1].velocity)) > 0.4


def nanoseconds(stamp):
    return stamp.sec * 1_000_000_000 + stamp.nanosec


def times_of(trajectory):
    """Absolute times of the points [ns]."""
    begin = nanoseconds(trajectory.header.stamp)
    return [begin + nanoseconds(point.time_from_start) for point in trajectory.points]


def check_trajectory(trajectory, judge, names=JOINTS):
    """Check what joint_trajectory_controller would refuse, and the limits."""
    assert trajectory.joint_names == list(names)
    times = 1e-9 * (np.array(times_of(trajectory)) - times_of(trajectory)[0])
    assert np.all(np.diff(times) > 0.0)
    assert times[0] == 0.0
    for point in trajectory.points:
        assert len(point.positions) == len(point.velocities) == len(names)
        assert not point.accelerations
        values = dict(zip(names, point.positions, strict=True))
        q = np.array([values[name] for name in JOINTS])
        assert np.all((judge.lower <= q) & (q <= judge.upper))
        assert np.all(np.abs(point.velocities) <= FASTEST * (1.0 + 1e-6))
    assert not np.any(trajectory.points[-1].velocities), 'it ends at rest'
    assert not np.any(trajectory.points[-2].velocities), 'and goes on there'
    assert times[-1] - times[-2] >= 0.1 - 1e-9
    for before, point, dt in zip(
        trajectory.points, trajectory.points[1:], np.diff(times), strict=False
    ):
        change = np.abs(np.subtract(point.velocities, before.velocities))
        assert np.all(change <= HARDEST * (dt + 1e-5))


def check_they_tell_one_curve(bench):
    """Check that what may be played already is the same in all messages."""
    settled = {}
    for trajectory, command in zip(bench.trajectories, bench.commands.messages, strict=False):
        due = nanoseconds(command.header.stamp) + NOTICE
        for at, point in zip(times_of(trajectory), trajectory.points, strict=True):
            if at <= due:
                state = point.positions.tolist(), point.velocities.tolist()
                assert settled.setdefault(at, state) == state
        begin = times_of(trajectory)[0]
        here = {at for at in times_of(trajectory) if at <= due}
        assert {at for at in settled if begin <= at} <= here
    assert len(settled) > len(bench.trajectories) // 2


def driven(bench):
    """Drive a controller with the trajectories: times [s] and its joint values."""
    stamps = [nanoseconds(message.header.stamp) for message in bench.commands.messages]
    return played(bench.trajectories, stamps[: len(bench.trajectories)])


def test_every_trajectory_ends_at_rest_and_together_they_bring_the_arm_to_its_target(
    bench, six_axis, start
):
    ready(bench, six_axis, output=ALL)
    target = shifted(start, x=-0.05, y=0.15)
    bench.send(target)
    bench.wait_for_state('REACHED')
    bench.wait_until_silent(4)
    judge = six_axis_judge(six_axis)
    for trajectory in bench.trajectories:
        check_trajectory(trajectory, judge)
    check_they_tell_one_curve(bench)
    assert len(bench.trajectories) == len(bench.commands) == len(bench.arrays)
    sampled_at, q = driven(bench)
    assert judge.errors(target, q[-1]) < (1e-5, 1e-4)
    assert np.abs(velocities(sampled_at, q)).max() <= FASTEST * (1.0 + 1e-3)
    assert np.abs(accelerations(sampled_at, q)).max() <= HARDEST * 1.05
    look_ahead = default_look_ahead(PERIOD)
    assert look_ahead == pytest.approx(0.06)
    # Where ticks were late it is longer, and stamps are ahead of the time by the difference.
    assert look_ahead - 1e-9 <= float(bench.status['look_ahead']) <= 0.3
    # A command of the controller is for its next update.
    later = np.interp(bench.commands.times, sampled_at + 1e-3 - look_ahead, q[:, 0])
    assert np.abs(later - bench.commands.q[:, 0]).max() < 1e-3, 'there so much later'


def test_arm_is_taken_to_rest_where_its_controller_does_after_a_pause_and_deactivation(
    bench, six_axis, start
):
    """Controllers play the way to rest, whatever holds the node up."""
    ready(bench, six_axis, output=['joint_state', 'trajectory'])
    bench.send(shifted(start, x=-0.1, y=0.3))
    bench.spin_until(lambda: is_fast(bench), 'a joint at speed')
    time.sleep(0.12)
    assert bench.node.trigger_deactivate() == TransitionCallbackReturn.SUCCESS
    bench.wait_until_silent(4)
    times, q = driven(bench)
    assert np.abs(q[-1] - bench.commands.q[-1]).max() < 1e-9
    assert np.abs(accelerations(times, q)).max() <= HARDEST * 1.05


@pytest.mark.long
def test_arrays_are_the_joint_values_of_the_commands(bench, six_axis, start):
    ready(bench, six_axis, output=ALL)
    bench.send(shifted(start, y=0.1))
    bench.wait_for_state('REACHED')
    bench.wait_until_silent(4)
    assert np.array_equal([list(array.data) for array in bench.arrays], bench.commands.q)


def test_joints_come_in_the_order_that_is_asked_for_in_every_message(bench, six_axis, start):
    ready(bench, six_axis, output=ALL, command_joints=MIXED)
    target = shifted(start, y=0.1)
    bench.send(target)
    bench.wait_for_state('REACHED')
    bench.wait_until_silent(4)
    judge = six_axis_judge(six_axis)
    assert bench.commands.names == {tuple(MIXED)}
    for trajectory in bench.trajectories:
        check_trajectory(trajectory, judge, MIXED)
    values = values_at(MIXED, bench.arrays[-1].data)
    assert judge.errors(target, [values[name] for name in JOINTS]) < (1e-5, 1e-4)


def test_only_what_is_asked_for_is_sent_and_where(bench, six_axis, start):
    listen(bench, '/controller/joint_trajectory', 'controller/commands')
    bench.start_node(
        output=['array'],
        array_topic='/controller/commands',
        trajectory_topic='/controller/joint_trajectory',
        wait_for_state=False,
        start_configuration=list(START),
    )
    bench.describe(six_axis)
    bench.wait_for_state('IDLE')
    bench.send(shifted(start, y=0.05))
    bench.wait_for_state('REACHED')
    assert len(bench.arrays) > 20
    assert len(bench.commands) == len(bench.trajectories) == 0
    topics = dict(bench.node.get_publisher_names_and_types_by_node('fabrik', '/'))
    assert '/fabrik/joint_command' not in topics
    assert '/controller/joint_trajectory' not in topics


def test_subset_of_the_joints_is_commanded_alone(bench, six_axis, start):
    ready(bench, six_axis, output=ALL, command_joints=['elbow', 'shoulder_pan'])
    bench.send(shifted(start, y=0.02))
    bench.wait_for_commands(5)
    assert bench.commands.names == {('elbow', 'shoulder_pan')}
    assert len(bench.arrays[-1].data) == 2


def test_joint_that_is_not_of_the_chain_is_refused_naming_what_is_missing(bench, six_axis):
    names = [*JOINTS[:4], 'wrist_two']
    bench.start_node(robot_description=six_axis, command_joints=names)
    bench.spin_until(lambda: 'wrist_two' in bench.status.get('reason', ''), 'the reason')
    assert "command_joints names 'wrist_two'" in bench.status['reason']
    assert "missing are 'wrist_2', 'wrist_3'" in bench.status['reason']
    change = Parameter('command_joints', value=list(JOINTS))
    assert bench.node.set_parameters([change])[0].successful
    bench.wait_for_state('WAITING_FOR_STATE')


@pytest.mark.parametrize(
    ('parameters', 'words'),
    [
        ({'output': ['joint_state', 'pigeon']}, 'output must hold one or more of'),
        ({'output': ['array', 'array']}, 'each once'),
        ({'trajectory_topic': 'a b'}, 'trajectory_topic: Invalid topic name'),
        ({'array_topic': ''}, 'array_topic: '),
        ({'array_topic': '{x}/y'}, 'array_topic: failed to resolve name: unknown substitution'),
        ({'command_joints': ['elbow', 'elbow']}, "command_joints names 'elbow' more than once"),
    ],
)
def test_parameters_that_make_no_sense_are_refused(bench, parameters, words):
    node = bench.start_node()
    changes = [Parameter(name, value=value) for name, value in parameters.items()]
    (result,) = node.set_parameters(changes)
    assert not result.successful
    assert words in result.reason


@pytest.mark.parametrize(
    ('parameters', 'other'),
    [
        ({'trajectory_topic': '/fabrik/joint_command'}, '~/joint_command'),
        ({'array_topic': '~/joint_trajectory'}, 'trajectory_topic'),
        ({'array_topic': '~/status'}, '~/status'),
        ({'array_topic': '~/target_pose'}, '~/target_pose'),
        ({'array_topic': '~/left/jog', 'tip_links': ['left', 'right']}, '~/left/jog'),
    ],
)
def test_topic_of_something_else_is_refused_naming_it(bench, parameters, other):
    values = {'output': ALL, **parameters}
    changes = [Parameter(name, value=value) for name, value in values.items()]
    result = bench.start_node().set_parameters_atomically(changes)
    assert f'is the topic of {other}; choose another' in result.reason


def test_topics_of_two_outputs_can_change_places(bench):
    one, other = '/controller/one', '/controller/other'
    node = bench.start_node(output=ALL, trajectory_topic=one, array_topic=other)
    changes = [Parameter('trajectory_topic', value=other), Parameter('array_topic', value=one)]
    assert node.set_parameters_atomically(changes).successful
    for topic, kind in ((other, 'JointTrajectory'), (one, 'Float64MultiArray')):
        (publisher,) = node.get_publishers_info_by_topic(topic)
        assert publisher.topic_type.endswith(kind)


def test_topic_of_what_is_not_sent_is_free(bench):
    node = bench.start_node()
    changes = [
        Parameter('output', value=['array']),
        Parameter('array_topic', value='~/joint_trajectory'),
    ]
    assert node.set_parameters_atomically(changes).successful


def test_deactivation_sends_the_ramp_as_one_trajectory(bench, six_axis, start):
    ready(bench, six_axis, output=ALL)
    bench.send(shifted(start, x=-0.1, y=0.4))
    bench.spin_until(lambda: len(bench.commands) > 60, 'the arm is on its way')
    request = ChangeState.Request(transition=Transition(id=Transition.TRANSITION_DEACTIVATE))
    assert bench.ask(ChangeState, 'fabrik/change_state', request).success
    bench.wait_for_statuses(5)
    check_one_ramp(bench, six_axis_judge(six_axis))


def check_one_ramp(bench, judge):
    """One trajectory for the ramp of many commands, and the same way."""
    last, extra = bench.trajectories[-1], len(bench.commands) - len(bench.trajectories)
    check_trajectory(last, judge)
    if extra == 0:  # the machine paused so long that the arm had come to rest by itself
        return
    assert extra > 3, 'the ramp took so many more commands'
    assert np.any(last.points[0].velocities), 'it begins on the way'
    assert not np.any(bench.commands.messages[-1].velocity)
    gap = np.abs(np.array(last.points[-1].positions) - bench.commands.q[-1])
    assert gap.max() <= 1e-9, 'both end at the same place'


@pytest.mark.long
@pytest.mark.parametrize(
    'number',
    [
        signal.SIGINT,
        signal.SIGTERM,
        signal.SIGHUP,
    ],
)
def test_signal_sends_the_ramp_as_one_trajectory_before_the_end(
    bench, six_axis, start, domain_id, tmp_path, number
):
    listen(bench)
    environment = os.environ | {
        'PYTHONPATH': os.pathsep.join([str(ROOT), os.environ.get('PYTHONPATH', '')]),
        'ROS_DOMAIN_ID': str(domain_id),
        'ROS_LOG_DIR': str(tmp_path),
    }
    given = ['--ros-args', '-p', f'output:={ALL}']
    process = subprocess.Popen(
        [sys.executable, '-m', 'fabrik_ros.ros.main', *given],
        env=environment,
        # The tests themselves may run under nohup, which is handed down.
        preexec_fn=lambda: signal.signal(number, signal.SIG_DFL),
    )
    try:
        bench.start_arm(values_at(JOINTS, START))
        bench.describe(six_axis)
        bench.wait_for_state('IDLE', PREPARATION)
        bench.send(shifted(start, x=-0.1, y=0.4))
        bench.wait_for_commands(60)
        process.send_signal(number)
        bench.spin_until(lambda: process.poll() is not None, 'the process ends')
        assert process.returncode == 0
        bench.spin_until(
            lambda: not np.any(bench.commands.messages[-1].velocity), 'the last command'
        )
        check_one_ramp(bench, six_axis_judge(six_axis))
    finally:
        process.kill()
        process.wait()


SHARED = {'/diagnostics', '/tf', '/tf_static', '/rosout', '/parameter_events', '/clock'}
PRESETS = {path.name: path.read_text() for path in (ROOT / 'config' / 'arms').glob('*.yaml')}
DOCUMENTED = re.findall(
    r'```yaml\n(.*?)```', (ROOT / 'docs' / 'drivers.md').read_text(), re.DOTALL
)


@pytest.mark.parametrize('text', [*PRESETS.values(), *DOCUMENTED])
def test_two_arms_of_one_file_share_no_topic_where_each_has_a_namespace(context, tmp_path, text):
    path, topics = tmp_path / 'arm.yaml', []
    path.write_text(text)
    for namespace in ('left', 'right'):
        arguments = ['--ros-args', '--params-file', str(path)]
        node = FabrikNode(context=context, namespace=namespace, cli_args=arguments)
        assert any(publisher.msg_type is JointTrajectory for publisher in node.publishers)
        ends = [*node.publishers, *node.subscriptions]
        topics.append({end.topic_name for end in ends} - SHARED)
        node.destroy_node()
    left, right = topics
    assert left & right == set()
