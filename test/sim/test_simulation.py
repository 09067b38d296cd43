"""The node and a simulated arm in a namespace of their own, as a listener sees them."""

import os
from pathlib import Path
import signal
import time

import pytest

pytest.importorskip('rclpy', reason='ROS 2 is not installed')
pytest.importorskip('pinocchio', reason='pinocchio is the judge')
pytest.importorskip('xacro', reason='the bundled arms are xacro files')

from diagnostic_msgs.msg import DiagnosticArray
from domains import free_domain
from fabrik_ros import example_arm, load_urdf
from fabrik_ros.sim.simulation import Simulation, SimulationError, stay_on_this_machine
from geometry_msgs.msg import PoseStamped
from judging import Judge
import numpy as np
import rclpy
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from visualization_msgs.msg import MarkerArray

CONFIG = Path(__file__).parents[2] / 'config'
DOMAINS = range(60, 70)
PATIENCE = 60.0
"""How long the slowest machine may take for anything [s]."""
ROBOT = load_urdf(example_arm('six_axis'))
CHAIN = ROBOT.chain()
START = (0.0, -1.3, 1.6, -1.9, -1.57, 0.0)
"""Bent, the tool in front and pointing down [rad]."""


class Listener:
    """Somebody on the wire."""

    def __init__(self) -> None:
        self.context = rclpy.Context()
        rclpy.init(context=self.context)
        self.node = rclpy.create_node('listener', context=self.context)
        self._executor = rclpy.executors.SingleThreadedExecutor(context=self.context)
        self._executor.add_node(self.node)

    def newest(self, kind: type, topic: str, holds) -> object:
        """Wait for a message for which a condition holds; return it."""
        heard = []
        listens = self.node.create_subscription(kind, topic, heard.append, 10)
        end = time.monotonic() + PATIENCE
        while not (heard and holds(heard[-1])):
            assert time.monotonic() < end, heard[-1:]
            self._executor.spin_once(timeout_sec=0.05)
        self.node.destroy_subscription(listens)
        return heard[-1]

    def wait_for_state(self, topic: str, state: str) -> None:
        self.newest(DiagnosticArray, topic, lambda m: m.status[0].message.split(':')[0] == state)

    def close(self) -> None:
        self._executor.shutdown()
        self.node.destroy_node()
        rclpy.try_shutdown(context=self.context)


@pytest.fixture(scope='module')
def listener(tmp_path_factory):
    """Listen in a domain of one's own, in which simulations are started too."""
    with free_domain(DOMAINS) as number, pytest.MonkeyPatch.context() as patch:
        root = str(Path(__file__).parents[2])
        path = os.pathsep.join([root, os.environ.get('PYTHONPATH', '')])
        patch.setenv('PYTHONPATH', path)
        patch.setenv('ROS_DOMAIN_ID', str(number))
        patch.setenv('ROS_LOG_DIR', str(tmp_path_factory.mktemp('log')))
        patch.setenv('ROS_AUTOMATIC_DISCOVERY_RANGE', 'LOCALHOST')
        listener = Listener()
        yield listener
        listener.close()


@pytest.fixture(scope='module')
def running(listener):
    """Run a simulation, up to where it takes targets."""
    simulation = Simulation('left/arm')
    simulation.check_alone()
    simulation.start(ROBOT, CHAIN, dict(zip(CHAIN.joint_names, START, strict=True)))
    listener.wait_for_state('/left/arm/fabrik/status', 'IDLE')
    yield simulation
    simulation.close()


@pytest.mark.long
def test_parts_of_the_physics_are_obstacles_of_the_node(listener):
    pytest.importorskip('mujoco', reason='the extra `sim`: pip install mujoco')
    robot = load_urdf(example_arm('six_axis_gripper'))
    chain = robot.chain()
    start = dict(zip(chain.joint_names, START, strict=True))
    simulation = Simulation('hand')
    scene, parts = (str(CONFIG / f'pick_and_place{name}.yaml') for name in ('', '_parts'))
    simulation.start(robot, chain, start, scene=scene, parts=parts, has_physics=True)
    try:
        listener.wait_for_state('/hand/fabrik/status', 'IDLE')
        heard = listener.newest(MarkerArray, '/hand/fabrik/obstacles', bool)
        assert [(m.ns, m.id) for m in heard.markers] == [('part', 1), ('part', 2), ('part', 3)]

        def obstacles(message):
            return {value.key: value.value for value in message.status[0].values}['obstacles']

        listener.newest(DiagnosticArray, '/hand/fabrik/status', lambda m: obstacles(m) == '9')
    finally:
        simulation.close()


def processes_in(namespace: str) -> list[int]:
    """Find the processes that were started for a namespace."""
    found = []
    for folder in Path('/proc').glob('[0-9]*'):
        try:
            words = (folder / 'cmdline').read_bytes().split(b'\0')
        except OSError:
            continue  # it has ended meanwhile
        if f'__ns:={namespace}'.encode() in words:
            found.append(int(folder.name))
    return found


def test_target_moves_the_simulated_arm(running, listener):
    judge = Judge(ROBOT.source, 'base_link', 'tool0')

    def tip(message):
        values = dict(zip(message.name, message.position, strict=True))
        return judge.pose([values[name] for name in judge.joint_names])[:3, 3]

    begin = listener.newest(JointState, '/left/arm/joint_states', bool)
    assert dict(zip(begin.name, begin.position, strict=True)) == pytest.approx(
        dict(zip(CHAIN.joint_names, START, strict=True))
    )
    target = PoseStamped()
    target.header.frame_id = 'base_link'
    position, turn = target.pose.position, target.pose.orientation
    position.x, position.y, position.z = 0.4, 0.2, 0.4
    turn.x, turn.w = 1.0, 0.0
    publisher = listener.node.create_publisher(PoseStamped, '/left/arm/fabrik/target_pose', 1)
    while publisher.get_subscription_count() == 0:
        time.sleep(0.02)
    time.sleep(0.5)  # the node knows of the publisher too
    publisher.publish(target)
    listener.newest(
        JointState,
        '/left/arm/joint_states',
        lambda message: np.allclose(tip(message), (0.4, 0.2, 0.4), atol=1e-3),
    )


def test_nothing_is_published_outside_the_namespace(running, listener):
    topics = {topic for topic, _ in listener.node.get_topic_names_and_types()}
    ours = {topic for topic in topics if topic.startswith('/left/arm/')}
    assert {'/left/arm/diagnostics', '/left/arm/fabrik/joint_command'} <= ours
    others = topics - ours - {'/rosout', '/parameter_events'}
    assert others == set()


@pytest.mark.long
def test_second_one_in_the_same_namespace_is_refused_by_name(running):
    second = Simulation('/left/arm/')
    with pytest.raises(SimulationError, match='/left/arm/simulation already publishes on'):
        second.check_alone()
    second.close()


@pytest.mark.parametrize(
    ('kind', 'topic'),
    [
        pytest.param(JointState, 'joint_states', marks=pytest.mark.long),
        pytest.param(String, 'robot_description', marks=pytest.mark.long),
        (JointState, 'fabrik/joint_command'),
    ],
)
def test_any_publisher_of_its_topics_is_refused_by_name(listener, kind, topic):
    rival = rclpy.create_node('driver', context=listener.context, namespace='/right')
    rival.create_publisher(kind, topic, 1)
    simulation = Simulation('right')
    try:
        with pytest.raises(SimulationError) as error:
            simulation.check_alone()
    finally:
        simulation.close()
        rival.destroy_node()
    assert f'/right/driver already publishes on /right/{topic}' in str(error.value)
    assert '--namespace' in str(error.value)


@pytest.mark.long
def test_publisher_of_the_same_topic_in_another_namespace_is_none_of_its_business(listener):
    other = rclpy.create_node('driver', context=listener.context)
    other.create_publisher(JointState, 'joint_states', 1)
    simulation = Simulation('right')
    simulation.check_alone()
    simulation.close()
    other.destroy_node()


def test_process_that_dies_is_named_and_none_outlives_the_end(listener):
    namespace = f'/short_{os.getpid()}'
    simulation = Simulation(namespace)
    simulation.start(ROBOT, CHAIN, {})
    listener.wait_for_state(f'{namespace}/fabrik/status', 'IDLE')
    assert simulation.fault() == ''
    arm = simulation._children._children['the simulated arm'].pid
    assert sorted(processes_in(namespace))[-1] >= arm
    os.kill(arm, signal.SIGKILL)
    end = time.monotonic() + PATIENCE
    while not simulation.fault():
        assert time.monotonic() < end
        time.sleep(0.02)
    assert simulation.fault() == 'the simulated arm ended by signal 9'
    simulation.close()
    assert processes_in(namespace) == []


@pytest.mark.parametrize(
    ('namespace', 'why'),
    [('a b', "'a b' is no namespace"), ('/', 'must have a name'), ('', 'must have a name')],
)
def test_namespace_that_is_none_is_named(namespace, why):
    with pytest.raises(SimulationError, match=why):
        Simulation(namespace)


def test_other_machines_are_left_out(monkeypatch):
    monkeypatch.setenv('ROS_AUTOMATIC_DISCOVERY_RANGE', 'SUBNET')
    monkeypatch.setenv('ROS_STATIC_PEERS', '192.0.2.1')
    stay_on_this_machine()
    assert os.environ['ROS_AUTOMATIC_DISCOVERY_RANGE'] == 'LOCALHOST'
    assert 'ROS_STATIC_PEERS' not in os.environ
