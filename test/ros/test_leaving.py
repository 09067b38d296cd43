"""Processes that end take leave of the network: nobody sees a node that is gone."""

import re
import signal

import pytest

pytest.importorskip('rclpy', reason='ROS 2 is not installed')
pytest.importorskip('pinocchio', reason='bench.py needs it')

from bench import JOINTS, START, values_at
from diagnostic_msgs.msg import DiagnosticArray
from node_process import NodeProcess
from rclpy.action import ActionServer
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, qos_profile_sensor_data, QoSProfile
from std_msgs.msg import String
from visualization_msgs.msg import MarkerArray

LASTING = """
<profiles xmlns="http://www.eprosima.com/XMLSchemas/fastRTPS_Profiles">
  <participant profile_name="lasting" is_default_profile="true"><rtps><builtin>
    <discovery_config><leaseDuration><sec>3600</sec></leaseDuration></discovery_config>
  </builtin></rtps></participant>
</profiles>
"""
"""Profile of Fast DDS: who does not take leave stays in the graph for an hour."""
ONCE, TWICE = (signal.SIGINT,), (signal.SIGINT, signal.SIGINT)
TERMINATED, HUNG_UP = (signal.SIGTERM,), (signal.SIGHUP,)
BLIND = {'wait_for_state': 'false', 'start_configuration': str([*map(float, START)])}
FAULTY = """
from fabrik_ros.ros import main
from fabrik_ros.ros.status import neighbours

def fail(self):
    raise RuntimeError('an error that nobody thought of')

neighbours.Neighbours._check = fail
main.main()
"""
"""A node that ends by an error of its own."""
OUTLIVED = """
from fabrik_ros.ros import main
from fabrik_ros.ros.status import neighbours
from rclpy.exceptions import InvalidHandle

check, failures = neighbours.Neighbours._check, [True]

def fail_once(self):
    if failures:
        raise InvalidHandle(f'removed meanwhile {failures.pop()}')
    print('goes on', flush=True)
    check(self)

neighbours.Neighbours._check = fail_once
main.main()
"""
"""A node with an event for something that was removed meanwhile."""
RESTLESS = """
import time

from fabrik_ros.ros import main
from std_msgs.msg import String

class RestlessNode(main.FabrikNode):
    def __init__(self, **options):
        super().__init__(**options)
        self.rounds, self.mine = 0, []
        self.create_timer(0.01, self.begin_anew)

    def begin_anew(self):
        for publisher, subscription in self.mine:
            self.destroy_publisher(publisher)
            self.destroy_subscription(subscription)
        time.sleep(0.1)
        self.mine = [
            (
                self.create_publisher(String, f'sent_{i}', 10),
                self.create_subscription(String, f'heard_{i}', print, 10),
            )
            for i in range(10)
        ]
        self.rounds += 1
        if self.rounds == 15:
            print('goes on', flush=True)

main.FabrikNode = RestlessNode
main.main()
"""
"""A node that is configured anew all the time, and takes a while for it."""
long = pytest.mark.long


@pytest.fixture
def start(domain_id, tmp_path, bench, monkeypatch):
    """Start processes that would stay in the graph if they did not take leave."""
    processes = []
    profile = tmp_path / 'lasting.xml'
    profile.write_text(LASTING)
    monkeypatch.setenv('FASTDDS_DEFAULT_PROFILES_FILE', str(profile))

    def start(parameters, *program):
        more = {'program': program} if program else {}
        processes.append(NodeProcess(domain_id, tmp_path, parameters, {}, **more))
        return processes[-1]

    yield start
    for process in processes:
        process.end()


def is_in_graph(bench, name):
    """Whether a node of that name is in the graph, or of one that begins so and has a number."""
    return any(
        re.fullmatch(rf'{name}(_[0-9_]+)?', there) for there in bench.tester.get_node_names()
    )


def end(bench, process, signals):
    """Send signals, each once the tester has worked through a round; wait until it has ended."""
    for number in signals:
        process.tell(number)
        bench.executor.spin_once(timeout_sec=0.05)
    bench.spin_until(lambda: not process.is_alive, 'the process ends')


def check_gone(bench, name, process):
    bench.spin_until(lambda: not is_in_graph(bench, name), process.last_words())


@pytest.mark.parametrize(
    'signals',
    [ONCE, pytest.param(TERMINATED, marks=long), pytest.param(TWICE, marks=long), HUNG_UP],
)
@pytest.mark.parametrize(
    ('parameters', 'state'),
    [
        ({}, 'WAITING_FOR_MODEL'),
        (None, 'WAITING_FOR_STATE'),
        pytest.param({'autostart': 'false'}, 'WAITING_FOR_MODEL', marks=long),
        pytest.param(BLIND, 'IDLE', marks=long),
    ],
)
def test_node_is_gone_when_it_was_told_to_end(bench, six_axis, start, parameters, state, signals):
    if parameters != {}:
        bench.describe(six_axis)
    process = start(parameters or {})
    bench.wait_for_state(state)
    end(bench, process, signals)
    assert process.end() == 0, process.last_words()
    check_gone(bench, 'fabrik', process)


def test_node_is_gone_when_it_was_told_to_end_on_the_way(bench, six_axis, start):
    process = start({})
    bench.start_arm(values_at(JOINTS, START))
    bench.describe(six_axis)
    bench.wait_for_state('IDLE')
    bench.send_joints(JOINTS, [value + 0.5 for value in START])
    bench.wait_for_state('MOVING')
    end(bench, process, TWICE)
    check_gone(bench, 'fabrik', process)


def test_node_is_gone_when_it_was_told_to_end_as_soon_as_it_was_seen(bench, start):
    process = start({})
    bench.spin_until(lambda: is_in_graph(bench, 'fabrik'), 'the node in the graph')
    end(bench, process, ONCE)
    check_gone(bench, 'fabrik', process)


def test_node_is_gone_after_an_error(bench, start):
    process = start({}, '-c', FAULTY)
    bench.spin_until(lambda: not process.is_alive, 'the process ends')
    assert 'nobody thought of' in process.last_words()
    check_gone(bench, 'fabrik', process)


def test_node_outlives_what_was_removed_while_an_event_waited_for_it(bench, start):
    process = start({}, '-c', OUTLIVED)
    bench.spin_until(lambda: 'goes on' in process.last_words(), 'the next look')
    end(bench, process, ONCE)
    assert process.end() == 0, process.last_words()


def test_no_event_waits_for_what_the_node_may_remove(bench, six_axis):
    node = bench.start_node(output=['joint_state', 'trajectory', 'array'])
    bench.describe(six_axis)
    bench.wait_for_state('WAITING_FOR_STATE')
    kept = (ActionServer,)  # as long as the node
    assert not [waitable for waitable in node.waitables if not isinstance(waitable, kept)]


@long
def test_node_outlives_others_that_do_not_match_what_it_removes(bench, context, start):
    process = start({}, '-c', RESTLESS)
    before = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
    # The bench works with rclpy's EventsExecutor, which may crash at events of what is gone.
    crowd = Node('crowd', context=context)
    executor = SingleThreadedExecutor(context=context)
    executor.add_node(crowd)
    create, make = crowd.create_subscription, crowd.create_publisher
    while process.is_alive and 'goes on' not in process.last_words():
        others = [create(String, f'sent_{i % 10}', print, before) for i in range(20)]
        senders = [make(String, f'heard_{i % 10}', qos_profile_sensor_data) for i in range(20)]
        executor.spin_once(timeout_sec=0.01)
        for other, sender in zip(others, senders, strict=True):
            crowd.destroy_subscription(other)
            crowd.destroy_publisher(sender)
    executor.shutdown()
    crowd.destroy_node()
    end(bench, process, ONCE)
    assert process.end() == 0, process.last_words()


PROGRAMS = {
    'simulated_arm': ['-m', 'fabrik_ros.sim.simulated_arm'],
    'demo_targets': ['-m', 'fabrik_ros.ros.beside.demo_targets'],
    'fabrik_ros_doctor': ['-m', 'fabrik_ros', 'doctor'],
    'fabrik_commander': ['-m', 'fabrik_ros', 'target', '--xyz', '1', '0', '0'],
}
SOON = {
    ('simulated_arm', TERMINATED), ('demo_targets', ONCE), ('fabrik_ros_doctor', TERMINATED),
    ('fabrik_commander', ONCE),
}  # fmt: skip
"""Each program and each signal once; the others are left to `make test-long`."""


@pytest.mark.parametrize(
    ('name', 'signals'),
    [
        pytest.param(name, signals, marks=[] if (name, signals) in SOON else long)
        for name in PROGRAMS
        for signals in (ONCE, TERMINATED, TWICE)
    ],
)
def test_other_executables_are_gone_when_they_were_told_to_end(bench, start, name, signals):
    program = PROGRAMS[name]
    bench.tester.create_publisher(DiagnosticArray, '/silent/status', 1)
    bench.tester.create_publisher(MarkerArray, '/silent/markers', 1)  # the doctor waits for it
    processes = [start({}, *program)]

    def is_seen():
        if not processes[-1].is_alive:  # the doctor ends by itself: on a busy machine unseen
            processes.append(start({}, *program))
        return is_in_graph(bench, name)

    bench.spin_until(is_seen, f'{name} in the graph')
    end(bench, processes[-1], signals)
    check_gone(bench, name, processes[-1])


@pytest.mark.parametrize(
    'module', ['fabrik_ros.sim.simulated_arm', 'fabrik_ros.ros.beside.demo_targets']
)
def test_executables_are_gone_when_their_terminal_was_closed(bench, start, module):
    name = module.rpartition('.')[2]
    process = start({}, '-m', module)
    bench.spin_until(lambda: is_in_graph(bench, name), f'{name} in the graph')
    bench.spin_until(lambda: process.last_words(), 'its first line')
    end(bench, process, HUNG_UP)
    check_gone(bench, name, process)
