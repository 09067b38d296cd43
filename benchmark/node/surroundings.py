"""
What knowing its surroundings costs the node: the time of a step, and processor time.

The node is a process of its own and sends 500 commands a second; this one is the simulated arm,
which is where it is told to be, and sends one target after the other. In turns there is nothing
around the arm; 50 boxes on a table; a table and a wall as 20,000 cells of points that come ten
times a second. Prints what it measured.

"""

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
import json
import os
from pathlib import Path
import signal
import subprocess
import sys
import tempfile
import time

from builtin_interfaces.msg import Duration
from diagnostic_msgs.msg import DiagnosticArray
import fabrik_ros
from fabrik_ros.ros import main as main_module
from fabrik_ros.ros.messages.conversions import stamped_pose
from fabrik_ros.ros.status import reporter
from geometry_msgs.msg import PoseStamped
from latency import processor_time
import numpy as np
import rclpy
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, qos_profile_sensor_data, QoSProfile
from sensor_msgs.msg import JointState, PointCloud2, PointField
from std_msgs.msg import String
from visualization_msgs.msg import Marker, MarkerArray

LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
START = (0.0, -1.3, 1.6, -1.9, -1.57, 0.0)
RATE = 500.0
STATE_RATE, CLOUD_RATE = 100.0, 10.0
TARGET_PERIOD = 3.0
SPREAD = 0.7
"""Targets are poses whose joint values differ from those of the start by no more [rad]."""
START_UP, RUN_UP = 180.0, 6.0
SURROUNDINGS = ('nothing', 'boxes', 'points')
TABLE = -0.06
"""Height of the table's top [m]."""
EYE = (0.3, 0.0, 1.8)
"""Where the camera looks down from [m]."""
SIZE = 0.02
"""Edge of a cell [m]."""
HALF_TABLE, WALL, WALL_HEIGHT = 1.2, -0.75, 0.9
BOX = 0.08
"""Edge of a box [m]."""
BOXES = 50


def run_node(notes: Path) -> None:
    """Run the node as it is, noting how long each step on a path took [s]."""
    durations: list[float] = []
    step = reporter.Tally.step

    def noting_step(self, duration, finished_by):
        durations.append(duration)
        step(self, duration, finished_by)

    reporter.Tally.step = noting_step
    try:
        main_module.main()
    finally:
        notes.write_text(json.dumps(durations))


def boxes() -> MarkerArray:
    """Boxes that stand on a table."""
    chance = np.random.default_rng(0)
    table = _box(0, (0.0, 0.0, TABLE - 0.05), (2.0 * HALF_TABLE, 2.0 * HALF_TABLE, 0.1))
    markers = [table]
    while len(markers) < BOXES:
        x, y = chance.uniform(-0.9, 0.9, 2)
        if 0.4 < np.hypot(x, y) < 0.9:
            place = (x, y, TABLE + 0.5 * BOX)
            markers.append(_box(len(markers), place, (BOX, BOX, BOX)))
    return MarkerArray(markers=markers)


def _box(number: int, place: tuple[float, ...], size: tuple[float, ...]) -> Marker:
    marker = Marker(ns='surroundings', id=number, type=Marker.CUBE, lifetime=Duration())
    marker.header.frame_id = 'base_link'
    position = marker.pose.position
    position.x, position.y, position.z = place
    marker.scale.x, marker.scale.y, marker.scale.z = size
    marker.color.a = 1.0
    return marker


def cloud() -> PointCloud2:
    """One point for each cell of a table and a wall, in the frame of the camera."""
    along = np.arange(-HALF_TABLE, HALF_TABLE, SIZE) + 0.5 * SIZE
    up = np.arange(TABLE, TABLE + WALL_HEIGHT, SIZE) + 0.5 * SIZE
    x, y = (grid.ravel() for grid in np.meshgrid(along, along))
    table = np.column_stack([x, y, np.full(len(x), TABLE - 0.5 * SIZE)])
    x, z = (grid.ravel() for grid in np.meshgrid(along, up))
    wall = np.column_stack([x, np.full(len(x), WALL), z])
    seen = (np.concatenate([table, wall]) - EYE) * (1.0, -1.0, -1.0)
    message = PointCloud2(height=1, width=len(seen), point_step=12, row_step=12 * len(seen))
    message.header.frame_id = 'camera'
    message.fields = [
        PointField(name=name, offset=4 * i, datatype=PointField.FLOAT32, count=1)
        for i, name in enumerate('xyz')
    ]
    message.data = seen.astype(np.float32).tobytes()
    return message


def with_camera(urdf: str) -> str:
    """Add a camera that looks down to a robot description."""
    place = ' '.join(map(str, EYE))
    return urdf.replace(
        '</robot>',
        '<link name="camera"/><joint name="stand" type="fixed"><parent link="base_link"/>'
        f'<child link="camera"/><origin rpy="3.14159265 0 0" xyz="{place}"/></joint></robot>',
    )


class Surroundings(Node):
    """The arm and what is around it."""

    def __init__(self, namespace: str, urdf: str, kind: str) -> None:
        super().__init__('surroundings', namespace=namespace)
        chain = fabrik_ros.load_urdf(urdf).chain(tip_link='tool0')
        self._names, self._q = list(chain.joint_names), list(START)
        chance = np.random.default_rng(1)
        self._targets = [
            chain.forward_kinematics(START + SPREAD * chance.uniform(-1.0, 1.0, len(START)))
            for _ in range(1000)
        ]
        self.status: dict[str, str] = {}
        self._description = self.create_publisher(String, 'robot_description', LATCHED)
        self._description.publish(String(data=urdf))
        self._target = self.create_publisher(PoseStamped, 'fabrik/target_pose', 1)
        self._states = self.create_publisher(JointState, 'joint_states', 10)
        self.create_subscription(JointState, 'fabrik/joint_command', self._on_command, 100)
        self.create_subscription(DiagnosticArray, 'fabrik/status', self._on_status, 10)
        self.create_timer(1.0 / STATE_RATE, self._say_state)
        if kind == 'boxes':
            self._obstacles = self.create_publisher(MarkerArray, 'fabrik/obstacles', LATCHED)
            self._obstacles.publish(boxes())
        if kind == 'points':
            self._cloud = cloud()
            self._clouds = self.create_publisher(
                PointCloud2, 'fabrik/points', qos_profile_sensor_data
            )
            self.create_timer(1.0 / CLOUD_RATE, self._say_points)
        self._executor = SingleThreadedExecutor()
        self._executor.add_node(self)

    def _on_command(self, message: JointState) -> None:
        if message.name:
            self._q = message.position

    def _on_status(self, message: DiagnosticArray) -> None:
        self.status = {pair.key: pair.value for pair in message.status[0].values}

    def _say_state(self) -> None:
        message = JointState(name=self._names, position=self._q)
        message.header.stamp = self.get_clock().now().to_msg()
        self._states.publish(message)

    def _say_points(self) -> None:
        self._cloud.header.stamp = self.get_clock().now().to_msg()
        self._clouds.publish(self._cloud)

    def wait_until_ready(self, kind: str) -> None:
        """Wait until the node knows what is around it, and would take a target."""
        deadline = time.monotonic() + START_UP
        fact, least = {'boxes': ('obstacles', BOXES), 'points': ('points', 1)}.get(kind, ('', 0))
        while not (
            self.status.get('state') == 'IDLE'
            and int(self.status.get(fact, '0')) >= least
            and self._target.get_subscription_count() > 0
        ):
            self._executor.spin_once(timeout_sec=0.02)
            if time.monotonic() > deadline:
                raise SystemExit(f'{kind}: not ready after {START_UP:g} s: {self.status}')

    def run(self, duration: float) -> int:
        """Send targets for a time; return how many were reached within their period."""
        reached, end = 0, time.monotonic() + duration
        while (begin := time.monotonic()) < end:
            stamp = self.get_clock().now().to_msg()
            self._target.publish(stamped_pose(self._targets.pop(0), 'base_link', stamp))
            while time.monotonic() < begin + TARGET_PERIOD:
                self._executor.spin_once(timeout_sec=0.01)
            reached += self.status['state'] == 'REACHED'
        return reached


@dataclass
class Run:
    """What one run showed."""

    steps: list[float]
    """How long steps took [s]."""
    processor: float
    """Share of a core, user and system, of all threads."""
    reached: int
    facts: dict[str, str]


@contextmanager
def running(namespace: str, notes: Path) -> Iterator[int]:
    """Run the node; yields the number of its process."""
    parameters = {
        'command_rate': RATE,
        'tip_link': 'tool0',
        'planning_time': 0.0,
        'point_size': SIZE,
        'max_tip_speed': 0.5,
    }
    arguments = ['--ros-args', '--log-level', 'error', '-r', f'__ns:=/{namespace}']
    arguments += [word for p in parameters.items() for word in ('-p', '{}:={}'.format(*p))]
    process = subprocess.Popen([sys.executable, __file__, 'node', str(notes), *arguments])
    try:
        yield process.pid
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(timeout=60.0)


def measure(kind: str, duration: float, urdf: str) -> Run:
    """Run the node in one of the surroundings."""
    namespace = f'surroundings_{os.getpid()}_{time.monotonic_ns()}'
    arm = Surroundings(namespace, urdf, kind)
    with tempfile.TemporaryDirectory() as folder:
        notes = Path(folder) / 'notes'
        with running(namespace, notes) as pid:
            arm.wait_until_ready(kind)
            arm.run(RUN_UP)
            used, begin = processor_time(pid), time.monotonic()
            reached = arm.run(duration)
            share = (processor_time(pid) - used) / (time.monotonic() - begin)
            facts = dict(arm.status)
        steps = json.loads(notes.read_text())
    arm.destroy_node()
    return Run(steps, share, reached, facts)


HEAD = (
    '| around the arm | steps | median [ms] | p99 [ms] | longest [ms] | core | reached '
    '| commands | late | clouds |\n|---|---|---|---|---|---|---|---|---|---|'
)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--turns', type=int, default=2)
    parser.add_argument('--duration', type=float, default=45.0, help='of each run [s]')
    parser.add_argument('--arm', default='six_axis', help='a bundled arm')
    options = parser.parse_args()
    urdf = with_camera(fabrik_ros.load_urdf(fabrik_ros.example_arm(options.arm)).source)
    rclpy.init()
    print(HEAD)
    runs: dict[str, list[Run]] = {kind: [] for kind in SURROUNDINGS}
    for _ in range(options.turns):
        for kind in SURROUNDINGS:
            run = measure(kind, options.duration, urdf)
            runs[kind].append(run)
            middle, slow = (1e3 * np.percentile(run.steps, share) for share in (50, 99))
            facts = (run.facts[name] for name in ('commands', 'late_commands', 'clouds_accepted'))
            print(
                f'| {kind} | {len(run.steps)} | {middle:.3f} | {slow:.3f} '
                f'| {1e3 * max(run.steps):.2f} | {100.0 * run.processor:.1f} % '
                f'| {run.reached} | {" | ".join(facts)} |',
                flush=True,
            )
    slow, used = (
        {kind: np.median([what(run) for run in runs[kind]]) for kind in SURROUNDINGS}
        for what in (lambda run: 1e3 * np.percentile(run.steps, 99), lambda run: run.processor)
    )
    for kind in SURROUNDINGS[1:]:
        print(
            f'\n{kind}: p99 of a step {slow[kind] - slow["nothing"]:+.3f} ms, processor '
            f'{used[kind] / used["nothing"]:.2f} times'
        )
    rclpy.try_shutdown()


if __name__ == '__main__':
    if sys.argv[1:2] == ['node']:
        run_node(Path(sys.argv[2]))
    else:
        main()
