"""What the tests of the node share: a bench to put it on, and arms that are driven by hand."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
import time
from typing import Any

from command_judge import accelerations, PAUSE, PAUSE_PERIODS, runs, velocities
from diagnostic_msgs.msg import DiagnosticArray
from fabrik_ros.ros.executor import make_executor
from fabrik_ros.ros.node import FabrikNode
from fabrik_ros.sim.simulated_arm import SimulatedArm
from geometry_msgs.msg import PoseStamped
from judging import Judge
import numpy as np
import rclpy
from rclpy.context import Context
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.publisher import Publisher
from rclpy.qos import DurabilityPolicy, QoSProfile
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from std_srvs.srv import Trigger
from witness import Witness

LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
PATIENCE = 60.0
"""How long the slowest machine may take for anything [s]."""
PREPARATION = 300.0
"""How long a loaded machine may take to compile the solvers [s]; some 40 s of work."""
SECOND_REQUEST = 2.0
"""A service that has not answered for so long is asked again [s]: it may not have heard."""

NO_PLANNER = {'planning_time': 0.0}
"""A process of its own for each test takes seconds; those of the planner ask for it."""

JOINTS = ('shoulder_pan', 'shoulder_lift', 'elbow', 'wrist_1', 'wrist_2', 'wrist_3')
START = (0.0, -1.3, 1.6, -1.9, -1.57, 0.0)
FASTEST, HARDEST = 1.5, 5.0
"""Defaults of the node for joints [rad/s], [rad/s^2]."""
"""The six-axis arm, bent, the tool in front of it and pointing down."""


def stamp_seconds(stamp: Any) -> float:
    return stamp.sec + 1e-9 * stamp.nanosec


def pose_message(
    position: Sequence[float], quaternion_xyzw: Sequence[float], frame_id: str = 'base_link'
) -> PoseStamped:
    message = PoseStamped()
    message.header.frame_id = frame_id
    p, o = message.pose.position, message.pose.orientation
    p.x, p.y, p.z = map(float, position)
    o.x, o.y, o.z, o.w = map(float, quaternion_xyzw)
    return message


def matrix_message(T: np.ndarray, frame_id: str = 'base_link') -> PoseStamped:
    import pinocchio

    return pose_message(T[:3, 3], pinocchio.Quaternion(T[:3, :3]).coeffs(), frame_id)


@dataclass
class Commands:
    """Everything that came out on the command topic."""

    messages: list[JointState] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.messages)

    @property
    def times(self) -> np.ndarray:
        """Stamps, shape (m,), from the first one on [s]."""
        stamps = [m.header.stamp for m in self.messages]
        first = stamps[0]
        return np.array([s.sec - first.sec + 1e-9 * (s.nanosec - first.nanosec) for s in stamps])

    @property
    def q(self) -> np.ndarray:
        """Joint values, shape (m, n)."""
        return np.array([message.position for message in self.messages])

    def runs(self, command_rate: float = 100.0) -> list[tuple[np.ndarray, np.ndarray]]:
        """Split times and joint values where there was a pause."""
        return runs(self.times, self.q, max(PAUSE, PAUSE_PERIODS / command_rate))

    @property
    def names(self) -> set[tuple[str, ...]]:
        return {tuple(message.name) for message in self.messages}


class Bench:
    """
    One node under test, and a tester that talks to it over topics.

    Parameters
    ----------
    context : Context
        An initialised context of its own.
    namespace : str
        Where everything lives.

    """

    def __init__(self, context: Context, namespace: str = '') -> None:
        self.context = context
        self.namespace = namespace
        self.executor = make_executor(context)
        self.tester = rclpy.create_node('tester', namespace=namespace, context=context)
        self.executor.add_node(self.tester)
        self.nodes: list[Node] = [self.tester]
        self.node: FabrikNode | None = None
        self.commands = Commands()
        self.gripper_commands: list[JointState] = []
        """Commands for the gripper alone, which come on the same topic."""
        self.gripper_joint = ''
        self.statuses: list[dict[str, str]] = []
        self.states: list[JointState] = []
        self._descriptions = self.tester.create_publisher(String, 'robot_description', LATCHED)
        self._targets: dict[str, Publisher] = {}
        self._publishers: dict[str, Publisher] = {}
        self._targets_to('')
        self.witness = Witness()
        self._listen(JointState, 'fabrik/joint_command', self._on_command)
        self._listen(DiagnosticArray, 'fabrik/status', self._on_status)
        self._listen(JointState, 'joint_states', self._on_state)

    def _listen(self, kind: type, topic: str, callback: Callable[[Any], Any]) -> None:
        self.tester.create_subscription(kind, topic, callback, 1000)

    def _on_status(self, message: DiagnosticArray) -> None:
        (status,) = message.status
        self.statuses.append({entry.key: entry.value for entry in status.values})
        self.witness.hear_report(self.status)

    def _on_command(self, message: JointState) -> None:
        if list(message.name) == [self.gripper_joint]:
            self.gripper_commands.append(message)
            return
        self.commands.messages.append(message)
        if self.node is not None:
            stamp = stamp_seconds(message.header.stamp)
            self.witness.hear_command(message.name, message.position, stamp)

    def _on_state(self, message: JointState) -> None:
        self.states.append(message)
        self.witness.hear_state(message.name, message.position)

    def add(self, kind: Callable[..., Node], parameters: dict[str, Any], **options: Any) -> Node:
        overrides = [Parameter(name, value=value) for name, value in parameters.items()]
        node = kind(
            context=self.context,
            namespace=self.namespace,
            parameter_overrides=overrides,
            **options,
        )
        self.executor.add_node(node)
        self.nodes.append(node)
        return node

    def start_node(self, **parameters: Any) -> FabrikNode:
        self.node = self.add(FabrikNode, NO_PLANNER | parameters)
        self.witness.urdf = parameters.get('robot_description', self.witness.urdf)
        self.witness.arrival = parameters.get('arrival_tolerance_position', self.witness.arrival)
        self.witness.plays_trajectories = 'trajectory' in parameters.get('output', ())
        self.witness.acceleration = parameters.get('max_joint_acceleration', HARDEST)
        return self.node

    def start_arm(
        self, start: dict[str, float] | None = None, lag: float = 0.02, **parameters: Any
    ) -> SimulatedArm:
        if start:
            parameters |= {'start_names': list(start), 'start_values': list(start.values())}
        remap = ['--ros-args', '-r', 'joint_command:=fabrik/joint_command']
        return self.add(SimulatedArm, {'lag': lag, **parameters}, cli_args=remap)

    def start_all(
        self, urdf: str, start: dict[str, float] | None = None, **parameters: Any
    ) -> None:
        """Node and arm, up to where a target would be accepted."""
        self.start_node(**parameters)
        self.start_arm(start)
        self.describe(urdf)
        self.wait_for_state('IDLE', PREPARATION)

    # -- what is sent

    def describe(self, urdf: str) -> None:
        self.witness.urdf = urdf
        self._descriptions.publish(String(data=urdf))

    def send(self, target: PoseStamped | np.ndarray, tip: str = '') -> None:
        """Send a target, a message or T_base_tip in base_link, to the only tip or to `tip`."""
        message = target if isinstance(target, PoseStamped) else matrix_message(target)
        publisher = self._targets_to(tip)
        self.spin_until(lambda: self._is_heard(publisher), 'somebody listens to targets')
        publisher.publish(message)

    def send_joints(
        self, names: Sequence[str], values: Sequence[float], stamp: float = 0.0
    ) -> None:
        """Send joint values as a target, with a stamp [s]."""
        message = JointState(name=list(names), position=list(map(float, values)))
        message.header.stamp.sec = int(stamp)
        self._publish('fabrik/target_joints', message)

    def send_configuration(self, name: str) -> None:
        """Send the name of a configuration as a target."""
        self._publish('fabrik/target_configuration', String(data=name))

    def _publish(self, topic: str, message: Any) -> None:
        if topic not in self._publishers:
            self._publishers[topic] = self.tester.create_publisher(type(message), topic, 1)
        publisher = self._publishers[topic]
        self.spin_until(lambda: self._is_heard(publisher), f'somebody listens on {topic}')
        publisher.publish(message)

    def _targets_to(self, tip: str) -> Publisher:
        if tip not in self._targets:
            topic = f'fabrik/{tip}/target_pose' if tip else 'fabrik/target_pose'
            self._targets[tip] = self.tester.create_publisher(PoseStamped, topic, 1)
        return self._targets[tip]

    def _is_heard(self, publisher: Publisher) -> bool:
        """Whether both sides know of each other: else a target could be lost on the way."""
        topics = self.node.topics if self.node else None
        targets = topics.targets if topics else []
        heard = [target for target in targets if target.topic_name == publisher.topic_name]
        known = all(target.get_publisher_count() > 0 for target in heard)
        return known and publisher.get_subscription_count() > 0

    def ask(self, kind: Any, service: str, request: Any) -> Any:
        """
        Call a service until it answers.

        Whether it is ready is not asked: where endpoints of an earlier test linger in the graph,
        rmw_fastrtps may say no for good (its issue 792).
        """
        client = self.tester.create_client(kind, service)
        calls = []

        def is_answered() -> bool:
            if not calls or time.monotonic() - calls[-1][0] > SECOND_REQUEST:
                calls.append((time.monotonic(), client.call_async(request)))
            return any(call.done() for _, call in calls)

        self.spin_until(is_answered, f'an answer of {service}')
        return next(call.result() for _, call in calls if call.done())

    def set(self, **parameters: Any) -> list[str]:
        """Set parameters one by one; the reasons of those that were refused."""
        changes = [Parameter(name, value=value) for name, value in parameters.items()]
        results = self.node.set_parameters(changes)
        return [result.reason for result in results if not result.successful]

    # -- what is waited for

    def spin_until(
        self, condition: Callable[[], Any], what: str, patience: float = PATIENCE
    ) -> None:
        """Let everybody work until the condition holds; fail where it never does."""
        deadline = time.monotonic() + patience
        while not condition():
            assert time.monotonic() < deadline, f'waited in vain: {what}; {self._situation()}'
            self.executor.spin_once(timeout_sec=0.02)

    def say_until(
        self, publisher: Publisher, message: Any, condition: Callable[[], Any], what: str
    ) -> None:
        """
        Send a message fifty times a second until the condition holds.

        A message in each step of the executor would keep it so busy that nothing else is heard.
        """
        timer = self.tester.create_timer(0.02, lambda: publisher.publish(message))
        self.spin_until(condition, what)
        timer.cancel()

    def _situation(self) -> str:
        return f'{len(self.commands)} commands, status {self.status}'

    @property
    def status(self) -> dict[str, str]:
        """The newest status; empty before the first."""
        return self.statuses[-1] if self.statuses else {}

    def wait_for_statuses(self, count: int = 1) -> None:
        """Wait for so many reports from now on: whatever was sent before is dealt with."""
        before = len(self.statuses)
        self.spin_until(lambda: len(self.statuses) >= before + count, f'{count} more statuses')

    def wait_for_state(self, state: str, patience: float = PATIENCE) -> dict[str, str]:
        """Wait until a status from now on reports the state, and return that status."""
        before = len(self.statuses)
        self.spin_until(
            lambda: len(self.statuses) > before and self.status['state'] == state,
            f'state {state}',
            patience,
        )
        return self.status

    def wait_for_count(self, fact: str, count: int) -> dict[str, str]:
        self.spin_until(lambda: self.status.get(fact) == str(count), f'{fact} {count}')
        return self.status

    def wait_for_commands(self, count: int = 1) -> None:
        before = len(self.commands)
        self.spin_until(lambda: len(self.commands) >= before + count, f'{count} more commands')

    def resume(self) -> None:
        """Let the arm set out again, as soon as the node answers that it may."""
        self.spin_until(
            lambda: self.ask(Trigger, 'fabrik/resume', Trigger.Request()).success,
            'an answer that the arm may go on',
        )
        self.wait_until_it_may_set_out()

    def wait_until_it_may_set_out(self) -> None:
        """Wait until no fault lasts, and no target came for so long that the next is accepted."""
        self.wait_for_statuses(2)
        self.spin_until(
            lambda: self.status['waits_for_pause'] == 'False', 'the pause before the next target'
        )

    def wait_until_silent(self, reports: int = 8) -> None:
        """
        Wait until no command comes while so many reports do, ten of them a second.

        Four suffice to see that a motion is over; that nothing comes at all takes longer.
        """

        def is_silent() -> bool:
            if len(self.commands) != seen[0]:
                seen[:] = len(self.commands), len(self.statuses)
            return len(self.statuses) - seen[1] >= reports

        seen = [len(self.commands), len(self.statuses)]
        self.spin_until(is_silent, 'silence')

    def refusal(self, target: PoseStamped | np.ndarray) -> str:
        """Send a target that is refused; the reason, as in the status."""
        self.wait_for_statuses()
        count = int(self.status['refused'])
        self.send(target)
        return self.wait_for_count('refused', count + 1)['last_refusal']

    def close(self) -> None:
        self.executor.shutdown()
        for node in self.nodes:
            node.destroy_node()
        self.witness.check()


class Puppet:
    """Joint states by hand: says where its joints are, and follows commands if it is told to."""

    def __init__(self, bench: Bench, values: dict[str, float], topic: str = 'joint_states'):
        self.values = dict(values)
        self.follows = True
        self._bench = bench
        self._publisher = bench.tester.create_publisher(JointState, topic, 10)
        self._timer = bench.tester.create_timer(0.01, self.say)
        bench._listen(JointState, 'fabrik/joint_command', self._on_command)

    def say(self) -> None:
        self._publisher.publish(
            JointState(name=list(self.values), position=list(self.values.values()))
        )

    def fall_silent(self) -> None:
        self._timer.cancel()

    def speak_again(self) -> None:
        self._timer.reset()

    def _on_command(self, message: JointState) -> None:
        for name, value in zip(message.name, message.position, strict=True):
            if self.follows and name in self.values:
                self.values[name] = value


def six_axis_judge(urdf: str) -> Judge:
    return Judge(urdf, 'base_link', 'tool0')


def check_commands(bench: Bench, judge: Judge) -> None:
    """Check that all commands keep the limits, and the default speeds and accelerations."""
    assert np.all(np.diff(bench.commands.times) > 0.0)
    for times, q in bench.commands.runs():
        assert np.all((judge.lower <= q) & (q <= judge.upper))
        assert np.all(np.abs(velocities(times, q)) <= FASTEST * (1.0 + 1e-6))
        assert np.all(np.abs(accelerations(times, q)) <= HARDEST * (1.0 + 1e-4))


def shifted(T: np.ndarray, x: float = 0.0, y: float = 0.0, z: float = 0.0) -> np.ndarray:
    """Pose T_base_tip moved in the base frame [m]."""
    moved = T.copy()
    moved[:3, 3] += x, y, z
    return moved


def values_at(names: Iterable[str], values: Iterable[float]) -> dict[str, float]:
    return dict(zip(names, map(float, values), strict=True))
