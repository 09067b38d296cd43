"""What the page knows of a node over ROS: in a namespace, with several tips, of another robot."""

import json
import os
from pathlib import Path
import time

import numpy as np
import pytest

pytest.importorskip('rclpy', reason='ROS 2 is not installed')
pytest.importorskip('pinocchio', reason='pinocchio is the judge')

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from domains import free_domain
from fabrik_ros import example_arm, load_urdf
from fabrik_ros.programs.waypoints import Waypoints
from fabrik_ros.ros.launching.child_processes import ChildProcesses
from fabrik_ros.view.ros_source import RosSource
from fabrik_ros.view.source import Request
from geometry_msgs.msg import PoseStamped
import rclpy
from rclpy.executors import SingleThreadedExecutor
from rclpy.qos import DurabilityPolicy, QoSProfile
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from two_arms import judges, START, TIPS, two_arms, two_arms_xml

DOMAINS = range(70, 80)
PATIENCE = 60.0
"""How long the slowest machine may take for anything [s]."""
LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)


def wait_until(holds) -> None:
    end = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.02)


def spin_until(node, holds) -> None:
    """Let a node hear until something holds."""
    executor = SingleThreadedExecutor(context=node.context)
    executor.add_node(node)
    wait_until(lambda: executor.spin_once(0.05) or holds())
    executor.shutdown()


@pytest.fixture
def wire(tmp_path, monkeypatch):
    """Be a node in a domain of one's own."""
    path = os.pathsep.join([str(Path(__file__).parents[2]), os.environ.get('PYTHONPATH', '')])
    monkeypatch.setenv('PYTHONPATH', path)
    monkeypatch.setenv('ROS_LOG_DIR', str(tmp_path))
    monkeypatch.setenv('ROS_AUTOMATIC_DISCOVERY_RANGE', 'LOCALHOST')
    with free_domain(DOMAINS) as number:
        monkeypatch.setenv('ROS_DOMAIN_ID', str(number))
        context = rclpy.Context()
        rclpy.init(context=context)
        node = rclpy.create_node('world', context=context, namespace='left/arm')
        yield node
        node.destroy_node()
        rclpy.try_shutdown(context=context)


@pytest.fixture
def source(wire):
    source = RosSource('left/arm/fabrik')
    yield source
    source.close()


@pytest.fixture
def children():
    children = ChildProcesses()
    yield children
    children.close()


def test_one_of_several_tips_in_a_namespace_goes_to_the_first_target(wire, source, children):
    description = wire.create_publisher(String, 'robot_description', LATCHED)
    description.publish(String(data=two_arms_xml()))
    own = ('--ros-args', '-r', '__ns:=/left/arm', '--log-level', 'warn')
    tips = ('-p', f'tip_links:={json.dumps(TIPS)}')
    children.start('node', 'fabrik_ros.ros.main', *own, *tips)
    names = two_arms().joint_names
    start = ('-p', f'start_names:={json.dumps(names)}', '-p', f'start_values:={START.tolist()}')
    commands = ('-r', 'joint_command:=fabrik/joint_command')
    children.start('arm', 'fabrik_ros.sim.simulated_arm', *own, *commands, *start)
    elsewhere = RosSource('/fabrik')
    try:
        wait_until(lambda: source.snapshot().state == 'IDLE' and not source.awaited)
        assert source.snapshot().tip_link == TIPS[0]
        assert source.snapshot().base_link == 'base'
        targets = f'/left/arm/fabrik/{TIPS[0]}/target_pose'
        assert wire.count_publishers(targets) == 0, 'others may send until the page does'
        target = judges().poses(START)[0]
        target[2, 3] += 0.05
        source.send_target(target)  # once
        wait_until(lambda: source.snapshot().state == 'REACHED')

        def tips_now():
            measured = source.snapshot().measured
            return judges().poses(np.array([measured[name] for name in names]))

        wait_until(lambda: np.allclose(tips_now()[0], target, atol=1e-3))
        assert source.snapshot().refusal == ''
        assert elsewhere.snapshot().robot is None
        assert 'nobody publishes' not in elsewhere.name
    finally:
        elsewhere.close()


def test_what_a_node_lets_choose_is_chosen_and_its_configurations_are_gone_to(
    wire, source, children
):
    description = wire.create_publisher(String, 'robot_description', LATCHED)
    robot = load_urdf(example_arm('six_axis'))
    description.publish(String(data=robot.source))
    own = ('--ros-args', '-r', '__ns:=/left/arm', '--log-level', 'warn')
    up = [0.1, -1.2, 1.4, -1.7, -1.5, 0.1]
    children.start('node', 'fabrik_ros.ros.main', *own, '-p', f'configurations.up:={up}')
    commands = ('-r', 'joint_command:=fabrik/joint_command')
    children.start('arm', 'fabrik_ros.sim.simulated_arm', *own, *commands)
    wait_until(lambda: source.snapshot().state == 'IDLE' and source.choices.configurations)
    wait_until(lambda: source.choices.present)
    plain = {'path': 'auto', 'mode': 'auto', 'confirm': 'never'}
    assert source.choices.present == plain
    assert source.choices.configurations == ('up',)
    source.choices.choose('confirm', 'always')
    wait_until(lambda: source.choices.present == plain | {'confirm': 'always'})
    source.choices.choose('mode', 'no such mode')
    wait_until(lambda: source.snapshot().answer.startswith('refused: mode must be one of'))
    source.choices.go_to('up')
    wait_until(lambda: source.snapshot().waits_for_execute)
    names = robot.chain().joint_names
    start = measured(source, names)
    wait_until(lambda: is_played_at(source, names, up))
    wait_until(lambda: is_played_at(source, names, start))
    source.ask(Request.EXECUTE)
    wait_until(lambda: source.snapshot().state == 'REACHED')
    assert source.snapshot().planned == {}
    wait_until(lambda: np.allclose(measured(source, names), up, atol=2e-3))
    assert source.choices.present == plain | {'confirm': 'always'}
    goes_through_waypoints(source, robot.chain())


def goes_through_waypoints(source, chain) -> None:
    """Send a program, see how fast the tool will be where, and execute it."""
    T, waypoints = chain.forward_kinematics(measured(source, chain.joint_names)), Waypoints()
    for y in (-0.1, 0.05):
        waypoints.add(shifted(T, y))
    source.send_program(waypoints.program(blend=0.01, speed=0.1))
    wait_until(lambda: source.snapshot().waits_for_execute)
    end = T[:3, 3] + (0, 0.05, 0)
    wait_until(lambda: any(np.allclose(p, end, atol=1e-3) for p in source.snapshot().path[-1:]))
    snapshot = source.snapshot()
    assert len(snapshot.path_speeds) == len(snapshot.path) - 1
    assert 0.08 < snapshot.path_speeds.max() < 0.101
    assert snapshot.top_speed == 0.25
    source.ask(Request.EXECUTE)
    wait_until(lambda: source.snapshot().state == 'MOVING')
    wait_until(lambda: source.snapshot().state == 'REACHED')
    names, end = chain.joint_names, shifted(T, 0.05)
    wait_until(
        lambda: np.allclose(chain.forward_kinematics(measured(source, names)), end, atol=2e-3)
    )


def shifted(T, y):
    moved = T.copy()
    moved[1, 3] += y
    return moved


def measured(source, names) -> list[float]:
    values = source.snapshot().measured
    return [values[name] for name in names]


def is_played_at(source, names, q) -> bool:
    """Whether the motion that waits is shown at joint values, but for some steps of a picture."""
    planned = source.snapshot().planned
    return bool(planned) and np.allclose([planned[name] for name in names], q, atol=0.1)


class HandDriven:
    """A node that says what it is told to."""

    def __init__(self, node) -> None:
        self._node = node
        self._description = node.create_publisher(String, 'robot_description', LATCHED)
        self._joints = node.create_publisher(JointState, 'joint_states', 1)
        self._statuses = node.create_publisher(DiagnosticArray, 'fabrik/status', 1)

    def describe(self, text: str) -> None:
        self._description.publish(String(data=text))

    def say(self, chain, state: str = 'IDLE', **more: str) -> None:
        q = chain.mid_configuration().tolist()
        self._joints.publish(JointState(name=list(chain.joint_names), position=q))
        facts = {'state': state, 'base_link': chain.base_link, 'tip_link': chain.tip_link} | more
        values = [KeyValue(key=key, value=value) for key, value in facts.items()]
        self._statuses.publish(DiagnosticArray(status=[DiagnosticStatus(values=values)]))

    def say_until(self, chain, holds, **more: str) -> None:
        """Say the state of a chain again and again, until something holds."""

        def said() -> bool:
            self.say(chain, **more)
            return holds()

        wait_until(said)


@pytest.fixture
def robots():
    pytest.importorskip('xacro', reason='the bundled arms are xacro files')
    return [load_urdf(example_arm(name)) for name in ('six_axis', 'planar_two_link')]


def is_shown(source, robot) -> bool:
    shown = source.snapshot().robot
    return shown is not None and shown.name == robot.name


def test_description_that_changes_is_shown_once_the_node_has_taken_it(wire, source, robots):
    node, (first, second) = HandDriven(wire), robots
    node.describe(first.source)
    node.say_until(first.chain(), lambda: is_shown(source, first))
    node.describe(second.source)
    node.say_until(first.chain(), lambda: source.snapshot().robot is None)
    assert not is_shown(source, second)  # its node still speaks of links of the first
    node.say_until(second.chain(), lambda: is_shown(source, second))
    snapshot = source.snapshot()
    assert snapshot.tip_link == second.chain().tip_link
    assert set(second.chain().joint_names) <= set(snapshot.measured)


def test_description_that_cannot_be_used_is_named_until_there_is_another(wire, source, robots):
    node, (first, _) = HandDriven(wire), robots
    node.describe('<robot name="broken">')
    node.say_until(first.chain(), lambda: 'its description cannot be used' in source.name)
    assert source.snapshot().robot is None
    node.describe(first.source)
    node.say_until(first.chain(), lambda: is_shown(source, first))
    assert source.name == 'the node /left/arm/fabrik'


def test_same_description_again_keeps_the_picture(wire, source, robots):
    node, (first, _) = HandDriven(wire), robots
    node.describe(first.source)
    node.say_until(first.chain(), lambda: is_shown(source, first))
    shown = source.snapshot().robot
    node.describe(first.source)
    time.sleep(0.3)
    node.say(first.chain())
    assert source.snapshot().robot is shown


def test_target_is_the_pose_of_the_tool_and_sent_once_it_is_heard(wire, source, robots):
    node, (first, _) = HandDriven(wire), robots
    node.describe(first.source)
    tool = '0.0 0.1 0.2 0.0 0.0 1.5'
    node.say_until(first.chain(), lambda: is_shown(source, first), tool_offset=tool)
    T = source.snapshot().T_tip_tool
    np.testing.assert_allclose(T[:3, 3], (0.0, 0.1, 0.2))
    np.testing.assert_allclose(T[:2, 0], (np.cos(1.5), np.sin(1.5)), atol=1e-12)
    came = []
    source.send_target(T)
    wire.create_subscription(PoseStamped, 'fabrik/target_pose', came.append, 1)
    spin_until(wire, lambda: came)
    assert came[0].pose.position.z == 0.2
    assert came[0].header.frame_id == first.chain().base_link


@pytest.mark.long
def test_target_that_nobody_hears_is_dropped(wire, source, robots):
    node, (first, _) = HandDriven(wire), robots
    node.describe(first.source)
    node.say_until(first.chain(), lambda: is_shown(source, first))
    source.send_target(np.eye(4))
    end = time.monotonic() + 1.5
    node.say_until(first.chain(), lambda: time.monotonic() > end)
    came = []
    wire.create_subscription(PoseStamped, 'fabrik/target_pose', came.append, 1)
    end = time.monotonic() + 1.0
    spin_until(wire, lambda: time.monotonic() > end)
    assert came == []


def test_page_puts_the_handle_to_the_tool_and_follows_a_change_of_it(robots):
    pytest.importorskip('viser', reason='the extra view is not installed')
    pytest.importorskip('yourdfpy', reason='the extra view is not installed')
    from dataclasses import replace

    from fabrik_ros.view.app import View
    from fabrik_ros.view.solver_source import SolverSource

    class Tooled:
        """An arm that is given another tool."""

        name, requests, has_speed, set_speed = 'the arm', frozenset(), False, None
        has_programs, send_width = False, None
        choices = None

        def __init__(self) -> None:
            self.of, self.T, self.sent = SolverSource(robots[0], robots[0].chain()), np.eye(4), []

        def snapshot(self):
            return replace(self.of.snapshot(), T_tip_tool=self.T)

        def send_target(self, T) -> str:
            self.sent.append(T)
            return ''

    source = Tooled()
    view = View(source, port=0)
    try:
        for length in (0.0, 0.15, 0.3):
            source.T = np.eye(4)
            source.T[2, 3] = length
            view._ask_target(np.eye(4))  # of the arm with the tool before
            view.step(time.monotonic())
            assert source.sent == []
            shown = source.snapshot()
            tip = robots[0].pose(shown.base_link, shown.tip_link, shown.measured)
            np.testing.assert_allclose(view._scene.handle_pose(), tip @ source.T, atol=1e-6)
    finally:
        view.close()


def test_page_that_is_open_draws_another_robot_anew(robots):
    pytest.importorskip('viser', reason='the extra view is not installed')
    pytest.importorskip('yourdfpy', reason='the extra view is not installed')
    from fabrik_ros.view.app import View
    from fabrik_ros.view.solver_source import SolverSource

    class Changing:
        """A source whose robot changes."""

        name, requests, has_speed, set_speed = 'the arm', frozenset(), False, None
        has_programs, send_width = False, None
        choices = None

        def __init__(self) -> None:
            self.of = SolverSource(robots[0], robots[0].chain())

        def snapshot(self):
            return self.of.snapshot()

    source = Changing()
    view = View(source, port=0)
    try:
        for robot in (*robots, robots[0]):
            source.of = SolverSource(robot, robot.chain())
            view.step(time.monotonic())
            snapshot = source.snapshot()
            assert set(view._panel.joints.names) == set(snapshot.measured)
            tool = robot.pose(snapshot.base_link, snapshot.tip_link, snapshot.measured)
            np.testing.assert_allclose(view._scene.handle_pose(), tool, atol=1e-6)
    finally:
        view.close()
