"""`fabrik_ros log` and `report`: a real node and arm at work, and one page of it."""

import signal
import subprocess
import sys
import threading
import time

import pytest

pytest.importorskip('rclpy', reason='ROS 2 is not installed')
pytest.importorskip('rosbags', reason='the extra bag: pip install rosbags')

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from fabrik_ros.logs.bag_file import read_bag
from fabrik_ros.logs.log_file import part_of, read_log
from fabrik_ros.logs.measures import answer_times, events, limits_used, tracking
from fabrik_ros.logs.names import personal_names, without_names
from geometry_msgs.msg import Point, PoseStamped, Quaternion
import numpy as np
from process import environment, PATIENCE, run
import rclpy
from rclpy.executors import SingleThreadedExecutor
from rosbags.highlevel import AnyReader
from rosbags.typesys import get_typestore, Stores
from sensor_msgs.msg import JointState

DOWN = ('--xyz', '.4', '.2', '.4', '--quaternion', '1', '0', '0', '0')


OWN_HANDLERS = (
    '-c',
    'import sys, rclpy; rclpy.init(); from fabrik_ros.cli.main import main; main(sys.argv[1:])',
)
"""Runs the command in a process in which rclpy minds signals."""


@pytest.fixture
def start_log(network):
    """Start logs in processes of their own, and wait until they listen."""
    processes = []

    def start(path, *command):
        process = subprocess.Popen(
            [sys.executable, *(command or ('-m', 'fabrik_ros')), 'log', str(path)],
            env=environment(**network),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
        )
        processes.append(process)
        assert process.stderr.readline().startswith('listening to /fabrik')
        return process

    yield start
    for process in processes:
        process.kill()
        process.communicate()


@pytest.fixture
def talking(network):
    """Say what a node says that has no arm yet, and state and command two joints."""
    context = rclpy.Context()
    rclpy.init(context=context, domain_id=int(network['ROS_DOMAIN_ID']))
    node = rclpy.create_node('talker', context=context)
    executor = SingleThreadedExecutor(context=context)
    executor.add_node(node)
    status = node.create_publisher(DiagnosticArray, 'fabrik/status', 10)
    joints = [
        node.create_publisher(JointState, topic, 10)
        for topic in ('fabrik/joint_command', 'joint_states')
    ]
    facts = DiagnosticStatus(name='fabrik', values=[KeyValue(key='state', value='IDLE')])

    def talk():
        status.publish(DiagnosticArray(status=[facts]))
        for publisher in joints:
            publisher.publish(JointState(name=['turn', 'lift'], position=[0.1, 0.2]))

    node.create_timer(0.02, talk)
    thread = threading.Thread(target=executor.spin)
    thread.start()
    yield
    executor.shutdown()
    thread.join()
    node.destroy_node()
    rclpy.try_shutdown(context=context)


def wait_for_rows(path):
    """Wait until something of a log is on the disk."""
    deadline = time.monotonic() + PATIENCE
    files = part_of(path) / 'statuses.csv', path / f'{path.name}.mcap'
    while not any(file.exists() and file.stat().st_size > 1000 for file in files):
        assert time.monotonic() < deadline
        time.sleep(0.1)


def read(path):
    return read_log(path) if path.suffix == '.zip' else read_bag(path)


@pytest.mark.parametrize(
    ('name', 'number', 'command'),
    [
        ('log.zip', signal.SIGTERM, ()),
        ('log.zip', signal.SIGHUP, ()),
        ('log.zip', signal.SIGINT, OWN_HANDLERS),
        ('bag', signal.SIGHUP, ()),
        ('bag', signal.SIGTERM, OWN_HANDLERS),
    ],
)
def test_a_signal_leaves_a_whole_log(talking, start_log, tmp_path, name, number, command):
    path = tmp_path / name
    logging = start_log(path, *command)
    wait_for_rows(path)
    assert f' in {path}; `report`' in ended(logging, number)
    log = read(path)
    assert not log.is_cut
    assert list(tmp_path.iterdir()) == [path]
    assert log.joints == ('turn', 'lift')
    assert min(len(log.commands.heard), len(log.states.heard), len(log.statuses)) > 0


@pytest.mark.parametrize('name', ['log.zip', 'bag'])
def test_of_a_log_that_was_killed_there_is_a_page(talking, start_log, tmp_path, name):
    path = tmp_path / name
    logging = start_log(path)
    wait_for_rows(path)
    logging.kill()
    logging.wait()
    done = run('report', path)
    assert done.code == 0, done
    assert 'the log was cut off: its last whole row is of ' in done.printed
    assert 'the log was cut off' in path.with_suffix('.html').read_text()
    assert read(path).statuses
    if name == 'log.zip':
        assert "log.zip.part' is left of a log that was cut off" in run('log', path).error()


def send_once_all_listen(rig):
    """Send a target when the node is ready for one, and the log would hear it."""
    context = rclpy.Context()
    rclpy.init(context=context, domain_id=int(rig.network['ROS_DOMAIN_ID']))
    node = rclpy.create_node('sender', context=context)
    executor = SingleThreadedExecutor(context=context)
    executor.add_node(node)
    states = []

    def note(message):
        states.append(message.status[0].values[0].value)

    node.create_subscription(DiagnosticArray, 'fabrik/status', note, 1)
    publisher = node.create_publisher(PoseStamped, 'fabrik/target_pose', 1)
    deadline = time.monotonic() + PATIENCE
    while states[-1:] != ['IDLE'] or publisher.get_subscription_count() < 2:
        assert time.monotonic() < deadline, states[-1:]
        executor.spin_once(timeout_sec=0.1)
    time.sleep(0.5)  # both sides know of each other
    target = PoseStamped()
    target.header.frame_id = 'base_link'
    target.pose.position = Point(x=0.4, y=0.2, z=0.4)
    target.pose.orientation = Quaternion(x=1.0, w=0.0)
    publisher.publish(target)
    for _ in range(10):
        executor.spin_once(timeout_sec=0.1)
    executor.shutdown()
    node.destroy_node()
    rclpy.try_shutdown(context=context)


def ended(logging, number=signal.SIGINT):
    """End a log as Ctrl-C does, or by another signal; return what it printed."""
    logging.send_signal(number)
    printed, complained = logging.communicate(timeout=PATIENCE)
    assert logging.returncode == 0, complained
    return printed


def worked(rig, start_log, path):
    """Let an arm work while a log listens; return what that printed."""
    rig.start_node()
    rig.start_arm()
    logging = start_log(path)
    send_once_all_listen(rig)
    assert rig.run('target', *DOWN).code == 0  # the same again, which waits until it is there
    time.sleep(1.0)  # the node falls silent
    return ended(logging)


def check_page(rig, path, page):
    done = rig.run('report', path)
    assert done.code == 0, done
    assert page.read_text().count('<svg') == 2
    assert 'REACHED' in page.read_text()


def test_a_log_of_a_node_at_work_becomes_a_page(rig, start_log, tmp_path):
    path = tmp_path / 'log.zip'
    assert f'targets in {path}; `report`' in worked(rig, start_log, path)
    log = read_log(path)
    assert log.joints[0] == 'shoulder_pan'
    assert len(log.joints) == 6
    assert np.all(log.acceleration == 5.0)
    assert len(answer_times(log)) == 1, (log.targets, log.commands.heard[:3])
    assert {'MOVING', 'REACHED'} <= {event.state for event in events(log)}
    found = tracking(log)
    assert 0.0 <= found.lag < 0.5
    assert np.nanmax(found.worst) < 0.5
    used = limits_used(log)
    assert np.all(used.velocity <= 1.0 + 1e-6)
    assert np.all(used.acceleration <= 1.0 + 1e-3)
    assert used.velocity.max() > 0.1
    check_page(rig, path, path.with_suffix('.html'))


def test_a_bag_of_a_node_at_work_becomes_a_page_and_has_no_names(rig, start_log, tmp_path):
    path = tmp_path / 'bag'
    assert f'messages in {path}; `report`' in worked(rig, start_log, path)
    log = read_bag(path)
    assert log.joints[0] == 'shoulder_pan'
    assert len(answer_times(log)) == 1, (log.targets, log.commands.heard[:3])
    assert {'MOVING', 'REACHED'} <= {event.state for event in events(log)}
    assert 0.0 <= tracking(log).lag < 0.5
    check_page(rig, path, tmp_path / 'bag.html')
    check_without_names(path)


def check_without_names(bag):
    """Look for names in all that the node said: its status names the machine."""
    store, names = get_typestore(Stores.LATEST), personal_names()
    with AnyReader([bag], default_typestore=store) as reader:
        said = [c for c in reader.connections if c.topic == '/fabrik/status']
        messages = [reader.deserialize(data, c.msgtype) for c, _, data in reader.messages(said)]
    facts = [{fact.key: fact.value for fact in m.status[0].values} for m in messages]
    for value in (value for each in facts for value in each.values()):
        assert without_names(value, names) == value
    assert facts[-1]['instance'].endswith('HOST') or 'HOST' not in names.values()


@pytest.mark.parametrize('name', ['log.zip', 'bag'])
def test_without_a_node_nothing_is_written(rig, tmp_path, name):
    path = tmp_path / name
    ended = rig.run('log', path, '--duration', '1')
    assert ended.code == 1
    assert 'NOT LOGGED: no status came on /fabrik/status' in ended.printed
    assert not path.exists()


def test_a_file_that_is_there_and_one_that_is_no_log_are_named(tmp_path):
    path = tmp_path / 'log.zip'
    assert 'No such file' in run('report', path).error()
    path.touch()
    assert 'is there already' in run('log', path).error()
    assert 'is no log of fabrik_ros log' in run('report', path).error()


@pytest.mark.parametrize('duration', ['0', '-1', 'nan', 'inf'])
def test_a_duration_that_never_passes_is_refused(tmp_path, duration):
    complained = run('log', tmp_path / 'log.zip', '--duration', duration).error()
    assert 'argument --duration: must be' in complained
    assert f"got '{duration}'" in complained


def test_a_folder_that_is_not_there_is_named_before_anything_is_logged(tmp_path):
    complained = run('log', tmp_path / 'missing' / 'log.zip', '--duration', '1').error()
    assert 'there is no folder' in complained
