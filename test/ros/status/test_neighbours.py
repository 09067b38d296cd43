"""What the node says of the nodes around it: rivals, publishers and listeners that do not fit."""

import pytest

pytest.importorskip('rclpy', reason='ROS 2 is not installed')
pytest.importorskip('pinocchio', reason='bench.py needs it')

from bench import JOINTS, LATCHED, START, values_at
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from fabrik_ros.ros.node import FabrikNode
from geometry_msgs.msg import Pose, PoseStamped, TwistStamped
import rclpy
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray, String
from trajectory_msgs.msg import JointTrajectory
from visualization_msgs.msg import MarkerArray

long = pytest.mark.long
LONG = 60
"""Statuses until every warning would have come: six seconds."""
FIRST_SECONDS = 20
"""Statuses in which discovery may take its time: two seconds."""
ALL = ['joint_state', 'trajectory', 'array']
TRAJECTORY, ARRAY = '/fabrik/joint_trajectory', '/fabrik/commands'


@pytest.fixture
def rival(bench):
    """Another node that publishes a description."""
    node = rclpy.create_node('rival_publisher', namespace='driver', context=bench.context)
    node.create_publisher(String, '/robot_description', LATCHED)
    bench.executor.add_node(node)
    bench.nodes.append(node)
    return node


@pytest.fixture
def other(bench):
    """Start a node that publishes nothing yet."""
    node = rclpy.create_node('pendant', namespace='cell', context=bench.context)
    bench.executor.add_node(node)
    bench.nodes.append(node)
    return node


def start(bench, six_axis, **parameters):
    """Start the node up to where it is active, with a measured arm that nobody moves."""
    bench.start_all(six_axis, values_at(JOINTS, START), **parameters)


def wait_for_warning(bench, words):
    """Wait until the status has the words among its warnings, and return these."""
    bench.spin_until(lambda: words in bench.status.get('warnings', ''), words)
    return bench.status['warnings']


def wait_for_no_warning(bench):
    bench.spin_until(lambda: bench.status.get('warnings') == '', 'no warning')


def end(bench, node):
    bench.executor.remove_node(node)
    bench.nodes.remove(node)
    node.destroy_node()


def newest_status(bench):
    """Listen to the whole status: a list that ends with the newest."""
    statuses = []
    bench._listen(DiagnosticArray, 'fabrik/status', lambda array: statuses.append(array.status[0]))
    return statuses


class TestDescriptions:
    def test_second_publisher_is_named_with_the_cure_until_it_ends(self, bench, rival, capfd):
        bench.start_node()
        warning = wait_for_warning(bench, 'publishers send robot descriptions')
        assert '2 publishers send robot descriptions on /robot_description' in warning
        assert '/driver/rival_publisher, /tester' in warning
        assert 'end all but one' in warning
        assert 'attach.launch.py' in warning
        end(bench, rival)
        wait_for_no_warning(bench)
        said = capfd.readouterr().err
        assert said.count(warning) == 2, 'once when it came, once when it went'
        assert said.count(f'no longer: {warning}') == 1

    @pytest.mark.long
    def test_another_change_is_said_anew(self, bench, rival, capfd):
        bench.start_node()
        wait_for_warning(bench, '2 publishers')
        rival.create_publisher(String, '/robot_description', LATCHED)
        warning = wait_for_warning(bench, '3 publishers')
        assert '/driver/rival_publisher (2 times), /tester' in warning
        assert '2 publishers' not in warning
        lines = capfd.readouterr().err.splitlines()
        said = [line for line in lines if 'publishers send' in line]
        assert ['[WARN]' in line for line in said].count(True) == 2, 'one for each'

    @pytest.mark.long
    def test_one_publisher_is_no_fault(self, bench):
        bench.start_node()
        bench.wait_for_statuses(LONG)
        assert {status['warnings'] for status in bench.statuses} == {''}

    @pytest.mark.long
    def test_topic_does_not_matter_where_the_parameter_has_the_description(
        self, bench, rival, six_axis
    ):
        bench.start_node(robot_description=six_axis, autostart=False)
        bench.wait_for_statuses(LONG)
        assert {status['warnings'] for status in bench.statuses} == {''}

    @pytest.mark.long
    def test_topic_that_counts_is_that_of_the_node(self, bench, rival):
        rename = ['--ros-args', '-r', 'robot_description:=/other/robot_description']
        bench.node = bench.add(FabrikNode, {}, cli_args=rename)
        for _ in range(2):
            bench.tester.create_publisher(String, '/other/robot_description', LATCHED)
        warning = wait_for_warning(bench, 'publishers send')
        assert 'on /other/robot_description: /tester (2 times);' in warning


class TestRivals:
    @pytest.mark.parametrize(
        ('kind', 'topic', 'words'),
        [
            (PoseStamped, '/fabrik/target_pose', 'send targets'),
            pytest.param(JointState, '/fabrik/target_joints', 'send targets', marks=long),
            pytest.param(String, '/fabrik/target_configuration', 'send targets', marks=long),
        ],
    )
    def test_second_sender_of_targets_is_named_until_it_ends(
        self, bench, other, kind, topic, words
    ):
        bench.tester.create_publisher(kind, topic, 1)
        other.create_publisher(kind, topic, 1)
        bench.start_node()
        warning = wait_for_warning(bench, words)
        assert f'publishers send targets on {topic}: /cell/pendant, /tester' in warning
        assert 'the newest target wins' in warning
        end(bench, other)
        bench.spin_until(lambda: 'pendant' not in bench.status['warnings'], 'it is gone')

    @pytest.mark.parametrize(
        ('output', 'kind', 'topic'),
        [
            ('joint_state', JointState, '/fabrik/joint_command'),
            pytest.param('trajectory', JointTrajectory, TRAJECTORY, marks=long),
            pytest.param('array', Float64MultiArray, ARRAY, marks=long),
        ],
    )
    def test_second_sender_of_commands_is_named_until_it_ends(
        self, bench, other, output, kind, topic
    ):
        other.create_publisher(kind, topic, 1)
        bench.start_node(output=[output])
        warning = wait_for_warning(bench, 'others send commands')
        assert f'on {topic}, too: /cell/pendant' in warning
        assert '/fabrik,' not in warning, 'not the node itself'
        end(bench, other)
        wait_for_no_warning(bench)


BEST_EFFORT = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)
UNHEARD = {
    'pose': (PoseStamped, 'target_pose', BEST_EFFORT, 'reliability to best_effort'),
    'joints': (JointState, 'target_joints', BEST_EFFORT, 'reliability to best_effort'),
    'configuration': (String, 'target_configuration', BEST_EFFORT, 'make the publisher reliable'),
    'obstacles': (MarkerArray, 'obstacles', BEST_EFFORT, 'make the publisher reliable'),
    'description': (String, '/robot_description', 1, 'make the publisher transient local'),
}


class TestUnheard:
    @pytest.mark.parametrize(('kind', 'topic', 'qos', 'cure'), UNHEARD.values(), ids=UNHEARD)
    def test_publisher_that_cannot_be_heard_is_named_with_the_cure_until_it_ends(
        self, bench, other, kind, topic, qos, cure
    ):
        full = topic if topic.startswith('/') else f'/fabrik/{topic}'
        bench.start_node()
        other.create_publisher(kind, full, qos)
        warning = wait_for_warning(bench, 'nothing arrives')
        assert f'nothing arrives on {full} from /cell/pendant: ' in warning
        assert cure in warning
        end(bench, other)
        bench.spin_until(lambda: 'pendant' not in bench.status['warnings'], 'it is gone')

    def test_publisher_of_another_type_is_named_with_the_right_one(self, bench, domain_id):
        context = rclpy.Context()
        rclpy.init(context=context, domain_id=domain_id)
        other = rclpy.create_node('pendant', namespace='cell', context=context)
        other.create_publisher(Pose, '/fabrik/target_pose', 1)
        bench.start_node()
        warning = wait_for_warning(bench, 'nothing arrives on /fabrik/target_pose')
        assert 'from /cell/pendant: it publishes geometry_msgs/Pose; publish' in warning
        assert 'publish geometry_msgs/PoseStamped' in warning
        other.destroy_node()
        rclpy.try_shutdown(context=context)

    def test_publishers_that_fit_are_no_fault(self, bench, other):
        other.create_publisher(PoseStamped, '/fabrik/target_pose', 1)
        other.create_publisher(TwistStamped, '/fabrik/jog', BEST_EFFORT)
        other.create_publisher(MarkerArray, '/fabrik/obstacles', LATCHED)
        other.create_publisher(JointState, '/joint_states', BEST_EFFORT)
        other.create_publisher(JointState, '/fabrik/target_joints', 1)
        bench.tester.destroy_publisher(bench._targets.pop(''))
        bench.start_node()
        bench.wait_for_statuses(LONG)
        assert {status['warnings'] for status in bench.statuses} == {''}


class TestCommands:
    def test_output_that_was_asked_for_and_is_not_heard_is_named_until_it_is(
        self, bench, six_axis, capfd
    ):
        statuses = newest_status(bench)
        start(bench, six_axis, output=ALL)
        first = bench.status
        bench.wait_for_statuses(FIRST_SECONDS)
        assert first['warnings'] == bench.status['warnings'] == '', 'discovery takes time'
        warnings = wait_for_warning(bench, TRAJECTORY)
        assert f'nobody listens to the commands on {TRAJECTORY} (trajectory_msgs/' in warnings
        assert 'a joint_trajectory_controller should' in warnings
        assert f'nobody listens to the commands on {ARRAY} (std_msgs/' in warnings
        assert 'a forward_command_controller should' in warnings
        assert '/fabrik/joint_command' not in warnings, 'the tester listens'
        bench.wait_for_statuses()
        assert statuses[-1].level == DiagnosticStatus.WARN
        assert statuses[-1].message == f'IDLE: ready for a target; {warnings}'
        bench._listen(JointTrajectory, TRAJECTORY, lambda message: None)
        bench.spin_until(lambda: TRAJECTORY not in bench.status['warnings'], 'it is heard')
        assert ARRAY in bench.status['warnings']
        bench._listen(Float64MultiArray, ARRAY, lambda message: None)
        wait_for_no_warning(bench)
        bench.wait_for_statuses()
        assert statuses[-1].level == DiagnosticStatus.OK
        assert statuses[-1].message == 'IDLE: ready for a target'
        said = capfd.readouterr().err
        assert said.count('nobody listens') == 4, 'each once when it came, once when it went'
        assert said.count('no longer: nobody listens') == 2

    @pytest.mark.long
    def test_joint_state_may_be_unheard_where_a_controller_listens(self, bench, six_axis):
        bench._listen(Float64MultiArray, ARRAY, lambda message: None)
        rename = ['--ros-args', '-r', '~/joint_command:=/nobody/joint_command']
        parameters = {'output': ['joint_state', 'array']}
        start_renamed(bench, six_axis, parameters, rename)
        bench.wait_for_statuses(LONG)
        assert bench.node.count_subscribers('/nobody/joint_command') == 0
        assert {status['warnings'] for status in bench.statuses} == {''}

    @pytest.mark.long
    def test_joint_state_alone_has_to_be_heard(self, bench, six_axis):
        rename = ['--ros-args', '-r', '~/joint_command:=/driver/joint_command']
        start_renamed(bench, six_axis, {}, rename)
        warning = wait_for_warning(bench, 'nobody listens')
        assert 'on /driver/joint_command (sensor_msgs/JointState)' in warning
        assert 'the driver of the arm should' in warning

    @pytest.mark.long
    def test_listener_that_does_not_fit_is_named(self, bench, six_axis):
        start_renamed(bench, six_axis, {}, ['--ros-args', '-r', '~/joint_command:=/driver/in'])
        asks_for_more = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
        bench.tester.create_subscription(JointState, '/driver/in', print, asks_for_more)
        warning = wait_for_warning(bench, 'cannot take')
        assert '/tester cannot take the commands on /driver/in, which are sensor_msgs/' in warning

    @pytest.mark.long
    def test_nobody_has_to_listen_to_a_node_that_is_inactive(self, bench, six_axis):
        bench.start_node(autostart=False, output=ALL)
        bench.describe(six_axis)
        bench.wait_for_statuses(LONG)
        assert {status['warnings'] for status in bench.statuses} == {''}

    @pytest.mark.long
    def test_deactivation_ends_the_warning_and_activation_has_its_time_again(
        self, bench, six_axis
    ):
        start(bench, six_axis, output=['trajectory'])
        wait_for_warning(bench, TRAJECTORY)
        bench.node.trigger_deactivate()
        wait_for_no_warning(bench)
        bench.node.trigger_activate()
        bench.wait_for_statuses(FIRST_SECONDS)
        assert bench.status['warnings'] == ''
        wait_for_warning(bench, TRAJECTORY)


def start_renamed(bench, six_axis, parameters, arguments):
    """Start the node, believing where the arm stands, with remappings."""
    parameters = {**parameters, 'wait_for_state': False, 'start_configuration': list(START)}
    bench.node = bench.add(FabrikNode, parameters, cli_args=arguments)
    bench.describe(six_axis)
    bench.wait_for_state('IDLE', 300.0)
