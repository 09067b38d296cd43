"""
How long the node takes from a target to its first command, and how much of a processor it needs.

Two processes over real ROS 2: this one sends targets and listens, the other is the node under
test. It is compared with a bare rclpy node that turns each target into a joint state without
solving: what ROS 2 costs anybody. The two run in turns. Prints what it measured.

Latency is from before `publish()` of a target to the callback of this process with the first
command that left after the node had accepted that target; waiting for a tick counts. To know
which command that is, the node under test notes which target it had accepted last when it sent
each command. All targets differ: they go round a slow circle. Joint states go out in between at
a rate of their own, which meets the targets at every phase; the bare node does not listen to them.

"""

import argparse
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
import importlib.util
import json
import math
import os
from pathlib import Path
import signal
import subprocess
import sys
import tempfile
import time

from builtin_interfaces.msg import Time
from diagnostic_msgs.msg import DiagnosticArray
import fabrik_ros
from fabrik_ros.ros import main as main_module, node as node_module
from fabrik_ros.ros.arm import configured_arm
from fabrik_ros.ros.clocks.qos import NEWEST
from fabrik_ros.ros.messages.conversions import stamped_pose
from geometry_msgs.msg import PoseStamped
import numpy as np
import rclpy
from rclpy._rclpy_pybind11 import RCLError
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile
from sensor_msgs.msg import JointState
from std_msgs.msg import String

LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
JOINTS = ('shoulder_pan', 'shoulder_lift', 'elbow', 'wrist_1', 'wrist_2', 'wrist_3')
START = (0.0, -1.3, 1.6, -1.9, -1.57, 0.0)
RADIUS, SPEED = 0.1, 0.05
PAIRS = 5
LATENCY_RATE, LATENCY_DURATION = 200.0, 10.0
LOAD_RATE, LOAD_DURATION = 500.0, 20.0
STATE_RATE = 101.0
"""Not a part of the other rates."""
RUN_UP = 2.0
START_UP = 180.0
KINDS = ('bare', 'ours')


def nanoseconds(stamp: Time) -> int:
    """Time of a stamp; by rclpy it takes longer than some of what is measured."""
    return 1_000_000_000 * int(stamp.sec) + int(stamp.nanosec)


# -- the nodes under test


class BareNode(Node):
    """Turns a pose into a joint state without solving."""

    def __init__(self) -> None:
        super().__init__('fabrik')
        self._commands = self.create_publisher(JointState, '~/joint_command', 10)
        self._names = list(JOINTS)
        self._velocity = [0.0] * len(JOINTS)
        self.create_subscription(PoseStamped, '~/target_pose', self._on_target, NEWEST)

    def _on_target(self, message: PoseStamped) -> None:
        command = JointState()
        command.header.stamp = message.header.stamp
        command.name = self._names
        p, o = message.pose.position, message.pose.orientation
        command.position = [p.x, p.y, p.z, o.x, o.y, o.z]
        command.velocity = self._velocity
        self._commands.publish(command)


def run_bare() -> None:
    """Spin the bare node until it is told to stop."""
    rclpy.init()
    with suppress(KeyboardInterrupt, ExternalShutdownException, RCLError):
        rclpy.spin(BareNode())


def run_ours(notes: Path) -> None:
    """Run the node as it is, noting the target [ns] that was accepted last at each command."""
    sent: dict[int, int] = {}
    accepted = 0

    class NotingInbox(node_module.Inbox):
        def _accept(self, tip, message, received):
            nonlocal accepted
            arm = super()._accept(tip, message, received)
            accepted = nanoseconds(message.header.stamp)
            return arm

    class NotingLoop(configured_arm.CommandLoop):
        def _send(self, command):
            super()._send(command)
            sent[self._stamps.last] = accepted

    node_module.Inbox, configured_arm.CommandLoop = NotingInbox, NotingLoop
    try:
        main_module.main()
    finally:
        notes.write_text(json.dumps(sent))


# -- the prober


class Prober(Node):
    """Sends targets and joint states, and listens to commands."""

    def __init__(self, namespace: str, urdf: str) -> None:
        super().__init__('prober', namespace=namespace)
        chain = fabrik_ros.load_urdf(urdf).chain()
        self._T = chain.forward_kinematics(START)
        self._q = list(START)
        self.sent: dict[int, int] = {}
        """When each target [ns] was sent, by the clock that nobody sets [ns]."""
        self.received: dict[int, int] = {}
        """When each command [ns] came."""
        self.state = ''
        self._description = self.create_publisher(String, 'robot_description', LATCHED)
        self._description.publish(String(data=urdf))
        self._targets = self.create_publisher(PoseStamped, 'fabrik/target_pose', 1)
        self._states = self.create_publisher(JointState, 'joint_states', 10)
        self.create_subscription(JointState, 'fabrik/joint_command', self._on_command, 100)
        self.create_subscription(DiagnosticArray, 'fabrik/status', self._on_status, 10)
        self._executor = SingleThreadedExecutor()
        self._executor.add_node(self)

    def _on_command(self, message: JointState) -> None:
        now = time.perf_counter_ns()
        self.received[nanoseconds(message.header.stamp)] = now
        if message.name and self.state:
            self._q = message.position

    def _on_status(self, message: DiagnosticArray) -> None:
        self.state = next(pair.value for pair in message.status[0].values if pair.key == 'state')

    def wait_until_ready(self, kind: str) -> None:
        """Wait until a target would be heard and accepted."""
        deadline = time.monotonic() + START_UP
        while not (self._is_heard() and (kind == 'bare' or self.state == 'IDLE')):
            self._say_state()
            self._executor.spin_once(timeout_sec=0.02)
            if time.monotonic() > deadline:
                raise SystemExit(f'{kind} is not ready after {START_UP:g} s: {self.state}')

    def _is_heard(self) -> bool:
        return (
            self._targets.get_subscription_count() > 0
            and self.count_publishers('fabrik/joint_command') > 0
        )

    def run(self, duration: float, rate: float, state_rate: float) -> None:
        """Send targets and joint states for a time."""
        begin = due = state_due = time.perf_counter()
        while due < begin + duration:
            if time.perf_counter() >= due:
                self._send(due - begin)
                due += 1.0 / rate
            if time.perf_counter() >= state_due:
                self._say_state()
                state_due += 1.0 / state_rate
            wait = min(due, state_due) - time.perf_counter()
            self._executor.spin_once(timeout_sec=max(0.0, wait))

    def _send(self, elapsed: float) -> None:
        angle = SPEED * elapsed / RADIUS
        T = self._T.copy()
        T[1, 3] += RADIUS * math.sin(angle)
        T[2, 3] += RADIUS * (1.0 - math.cos(angle))
        stamp = self.get_clock().now()
        message = stamped_pose(T, 'base_link', stamp.to_msg())
        self.sent[stamp.nanoseconds] = time.perf_counter_ns()
        self._targets.publish(message)

    def _say_state(self) -> None:
        self._states.publish(JointState(name=JOINTS, position=self._q))


# -- what came of it


@dataclass
class Run:
    """What one run with one node showed."""

    latencies: list[float] = field(default_factory=list)
    """[ms]; of the targets that a command followed."""
    targets: int = 0
    commands: int = 0
    processor: float = 0.0
    """Share of a core, user and system, of all threads."""

    def percentile(self, share: float) -> float:
        """Latency [ms] that so many percent do not exceed."""
        return float(np.percentile(self.latencies, share))


def latencies(prober: Prober, targets_of: dict[int, int], since: int) -> list[float]:
    """Latency of each target sent since a time [ns]; `targets_of` tells the target by command."""
    first: list[float] = []
    targets = sorted(prober.sent)
    commands = sorted(stamp for stamp in targets_of if stamp in prober.received)
    i = 0
    for target in targets:
        while i < len(commands) and targets_of[commands[i]] < target:
            i += 1
        if i < len(commands) and prober.sent[target] >= since:
            first.append(1e-6 * (prober.received[commands[i]] - prober.sent[target]))
    return first


@contextmanager
def running(kind: str, namespace: str, rate: float, notes: Path) -> Iterator[int]:
    """Run a node under test; yields the number of its process."""
    arguments = ['--ros-args', '--log-level', 'warn', '-r', f'__ns:=/{namespace}']
    if kind == 'ours':
        arguments += ['-p', f'command_rate:={rate}', '-p', 'tip_link:=tool0']
    process = subprocess.Popen([sys.executable, __file__, kind, str(notes), *arguments])
    try:
        yield process.pid
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(timeout=60.0)


def measure(kind: str, duration: float, rate: float, state_rate: float, urdf: str) -> Run:
    """Run one node under test."""
    namespace = f'latency_{os.getpid()}_{time.monotonic_ns()}'
    prober = Prober(namespace, urdf)
    with tempfile.TemporaryDirectory() as folder:
        notes = Path(folder) / 'notes'
        with running(kind, namespace, rate, notes) as pid:
            prober.wait_until_ready(kind)
            prober.run(RUN_UP, rate, state_rate)
            begin, since = processor_time(pid), time.perf_counter_ns()
            prober.run(duration, rate, state_rate)
            used = processor_time(pid) - begin
            elapsed = 1e-9 * (time.perf_counter_ns() - since)
        own = {stamp: stamp for stamp in prober.received}
        targets_of = (
            {int(stamp): target for stamp, target in json.loads(notes.read_text()).items()}
            if kind == 'ours'
            else own
        )
    prober.destroy_node()
    return Run(
        latencies(prober, targets_of, since),
        sum(when >= since for when in prober.sent.values()),
        sum(when >= since for when in prober.received.values()),
        used / elapsed,
    )


def processor_time(pid: int) -> float:
    """User and system time of a process [s]."""
    fields = Path(f'/proc/{pid}/stat').read_text().rpartition(')')[2].split()
    return sum(map(int, fields[11:13])) / os.sysconf('SC_CLK_TCK')


def in_turns(
    pairs: int, duration: float, rate: float, state_rate: float, urdf: str
) -> dict[str, list[Run]]:
    """Measure both nodes so many times, in turns; prints each run."""
    print(f'\n{rate:g} targets/s, command_rate {rate:g}, joint states {state_rate:g}/s\n\n{HEAD}')
    runs: dict[str, list[Run]] = {kind: [] for kind in KINDS}
    for _ in range(pairs):
        for kind in KINDS:
            run = measure(kind, duration, rate, state_rate, urdf)
            runs[kind].append(run)
            print(
                f'| {kind} | {run.percentile(50):.3f} | {run.percentile(99):.3f} '
                f'| {max(run.latencies):.2f} | {run.targets} | {run.commands} '
                f'| {100.0 * run.processor:.1f} % |',
                flush=True,
            )
    return runs


HEAD = (
    '| node | median [ms] | 99th percentile [ms] | longest [ms] | targets | commands | core |\n'
    '|---|---|---|---|---|---|---|'
)


def ratio(runs: dict[str, list[Run]], what) -> float:
    """Ratio of the medians over the runs, ours to bare."""
    bare, ours = (float(np.median([what(run) for run in runs[kind]])) for kind in KINDS)
    return ours / bare


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--pairs', type=int, default=PAIRS)
    parser.add_argument('--duration', type=float, default=LATENCY_DURATION, help='of latency [s]')
    parser.add_argument('--load', type=float, default=LOAD_DURATION, help='of CPU [s]; 0: none')
    parser.add_argument('--load-pairs', type=int, default=3)
    options = parser.parse_args()
    urdf = fabrik_ros.load_urdf(fabrik_ros.example_arm('six_axis')).source
    rclpy.init()
    guarded = 'on' if importlib.util.find_spec('coal') else 'off: coal is not installed'
    print(f'self-collision checking of our node: {guarded}')
    runs = in_turns(options.pairs, options.duration, LATENCY_RATE, STATE_RATE, urdf=urdf)
    print(
        f'\nlatency, ours to bare: median {ratio(runs, lambda run: run.percentile(50)):.2f}, '
        f'99th percentile {ratio(runs, lambda run: run.percentile(99)):.2f}'
    )
    for state_rate in (STATE_RATE, LOAD_RATE) if options.load else ():
        runs = in_turns(options.load_pairs, options.load, LOAD_RATE, state_rate, urdf=urdf)
        print(f'\nprocessor time, ours to bare: {ratio(runs, lambda run: run.processor):.2f}')
    rclpy.try_shutdown()


if __name__ == '__main__':
    if sys.argv[1:2] == ['bare']:
        run_bare()
    elif sys.argv[1:2] == ['ours']:
        run_ours(Path(sys.argv[2]))
    else:
        main()
