"""
How well the simulated arms follow a moving target through the node, over real ROS 2.

Node and arm (MuJoCo) are processes of their own, this one sends a target every 10 ms and listens;
`--factor 0.3` lets simulated time run slower than real. Prints a table, and draws each run into a
folder. Poses are computed by pinocchio from the messages.

"""

import argparse
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
import math
import os
from pathlib import Path
import signal
import subprocess
import sys
import time

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / 'test'))

from command_judge import accelerations, runs, velocities
from diagnostic_msgs.msg import DiagnosticArray
import fabrik_ros
from fabrik_ros.ros.messages.conversions import seconds, stamped_pose
from geometry_msgs.msg import PoseStamped
from judging import Judge
import matplotlib

matplotlib.use('Agg')

import matplotlib.pyplot as plt
import numpy as np
import rclpy
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.qos import DurabilityPolicy, QoSProfile
from sensor_msgs.msg import JointState
from std_msgs.msg import String

LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
SPEED = 0.25
RADIUS, SIDE = 0.15, 0.2
DURATION, RUN_UP, REST = 9.0, 1.0, 3.0
PERIOD, CLOCK_RATE = 0.01, 200.0
START_UP, PATIENCE, SETTLED, HEARING = 180.0, 60.0, 0.1, 2.0
LONGEST_LAG, LAG_STEP = 0.6, 0.002
PAUSE = 0.1
SLACK = 1e-3

STARTS = {
    'six_axis': (0.0, -1.3, 1.6, -1.9, -1.57, 0.0),
    'seven_axis': (0.0, -0.5, 0.0, -2.3, 0.0, 1.8, 0.785),
}
SETTINGS = {
    'careful': {},
    'brisk': {
        'max_tip_speed': 1.0,
        'max_tip_rotation': 3.0,
        'max_tip_acceleration': 5.0,
        'max_joint_velocity': 2.5,
        'max_joint_acceleration': 20.0,
    },
}
"""Parameters of the node: its defaults, and those of a quick arm."""
JOINT_VELOCITY, JOINT_ACCELERATION = 1.5, 5.0


def circle(way: float) -> np.ndarray:
    """Offset from the start, shape (3,), after some way along an upright circle [m]."""
    angle = way / RADIUS
    return np.array([0.0, RADIUS * math.sin(angle), RADIUS * (1.0 - math.cos(angle))])


def square(way: float) -> np.ndarray:
    """Offset from the start, shape (3,), after some way along an upright square [m]."""
    corners = np.array([[0, 0], [1, 0], [1, 1], [0, 1], [0, 0]]) * SIDE
    edge, along = divmod(way % (4.0 * SIDE), SIDE)
    y, z = corners[int(edge)] + (corners[int(edge) + 1] - corners[int(edge)]) * along / SIDE
    return np.array([0.0, y, z])


PATHS: dict[str, Callable[[float], np.ndarray]] = {'circle': circle, 'square': square}


@dataclass
class Seen:
    """Joint values with their times: of the commands, or of the arm."""

    times: list[float] = field(default_factory=list)
    values: list[list[float]] = field(default_factory=list)

    def take(self, message: JointState) -> None:
        """Keep a message."""
        self.times.append(seconds(message.header.stamp))
        self.values.append(list(message.position))

    def since(self, begin: float, end: float = math.inf) -> tuple[np.ndarray, np.ndarray]:
        """Select times, shape (m,), and joint values, shape (m, n), from one time to another."""
        times, values = np.array(self.times), np.array(self.values)
        chosen = (times >= begin) & (times <= end)
        return times[chosen], values[chosen]


class Bench(Node):
    """Sends targets and listens."""

    def __init__(self, urdf: str, namespace: str, factor: float) -> None:
        super().__init__(
            'bench',
            namespace=namespace,
            cli_args=['--ros-args', *clock_arguments(namespace)],
            parameter_overrides=[Parameter('use_sim_time', value=bool(factor))],
        )
        self._period = PERIOD / (factor or 1.0)
        self.commands, self.states = Seen(), Seen()
        self.status: dict[str, str] = {}
        self._sent_at = 0.0
        self._description = self.create_publisher(String, 'robot_description', LATCHED)
        self._description.publish(String(data=urdf))
        self._targets = self.create_publisher(PoseStamped, 'fabrik/target_pose', 1)
        self.create_subscription(JointState, 'fabrik/joint_command', self.commands.take, 1000)
        self.create_subscription(JointState, 'joint_states', self.states.take, 1000)
        self.create_subscription(DiagnosticArray, 'fabrik/status', self._on_status, 10)

    def _on_status(self, message: DiagnosticArray) -> None:
        """Keep a report, unless it is of before the last target."""
        if seconds(message.header.stamp) > self._sent_at + SETTLED:
            self.status = {pair.key: pair.value for pair in message.status[0].values}

    def now(self) -> float:
        """ROS time [s]."""
        return 1e-9 * self.get_clock().now().nanoseconds

    def send(self, T: np.ndarray) -> None:
        """Send T_base_tip as a target."""
        self._sent_at, self.status = self.now(), {}
        self._targets.publish(stamped_pose(T, 'base_link', self.get_clock().now().to_msg()))

    def wait_for(self, state: str, patience: float) -> None:
        """Wait for the report of a state."""
        deadline = time.monotonic() + patience
        while self.status.get('state') != state:
            rclpy.spin_once(self, timeout_sec=0.05)
            if time.monotonic() > deadline:
                raise SystemExit(f'not {state} after {patience:g} s: {self.status}')

    def spin_for(self, duration: float) -> None:
        """Listen for some time, by the clock of ROS."""
        deadline = self.now() + duration
        while self.now() < deadline:
            rclpy.spin_once(self, timeout_sec=0.01)

    def catch_up(self) -> None:
        """Hear what came while nobody listened, the clock too."""
        deadline = time.monotonic() + HEARING
        while time.monotonic() < deadline:
            rclpy.spin_once(self, timeout_sec=0.01)

    def go(self, T: np.ndarray) -> None:
        """Go to a pose and rest there."""
        self.catch_up()
        self.send(T)
        self.wait_for('REACHED', PATIENCE)

    def follow(self, T: np.ndarray, path: Callable[[float], np.ndarray]) -> float:
        """Send targets along a path; return when it began."""
        begin, due = self.now(), time.monotonic()
        while (elapsed := self.now() - begin) < DURATION:
            self.send(shifted(T, path(SPEED * elapsed)))
            due += self._period
            while time.monotonic() < due:
                rclpy.spin_once(self, timeout_sec=max(0.0, due - time.monotonic()))
        return begin


def shifted(T: np.ndarray, offset: np.ndarray) -> np.ndarray:
    """Pose (4, 4) moved by an offset, shape (3,), in the base frame [m]."""
    moved = T.copy()
    moved[:3, 3] += offset
    return moved


@contextmanager
def running(
    urdf: str,
    start: dict[str, float],
    settings: dict[str, float],
    factor: float,
    **arm_parameters: float,
) -> Iterator[Bench]:
    """Run the node and the arm, up to where a target would be accepted; factor 0: real time."""
    namespace = f'following_{os.getpid()}_{time.monotonic_ns()}'
    node = {'tip_link': 'tool0', 'base_link': 'base_link', **settings}
    arm = {
        'start_names': f'[{", ".join(start)}]',
        'start_values': f'[{", ".join(map(str, start.values()))}]',
        **arm_parameters,
    }
    if factor:
        node |= {'use_sim_time': True}
        arm |= {'publish_clock': True, 'real_time_factor': factor, 'rate': CLOCK_RATE}
    remap = ['-r', f'__ns:=/{namespace}', *clock_arguments(namespace)]
    commands = [
        ['fabrik_ros.ros.main', *remap, *as_arguments(node)],
        ['fabrik_ros.sim.physical_arm', *remap, '-r', 'joint_command:=fabrik/joint_command',
         *as_arguments(arm)],
    ]  # fmt: skip
    processes = [
        subprocess.Popen(
            [sys.executable, '-m', module, '--ros-args', '--log-level', 'warn', *arguments]
        )
        for module, *arguments in commands
    ]
    bench = Bench(urdf, namespace, factor)
    try:
        bench.wait_for('IDLE', START_UP)
        yield bench
    finally:
        bench.destroy_node()
        for process in processes:
            process.send_signal(signal.SIGINT)
        for process in processes:
            process.wait(timeout=10.0)


def clock_arguments(namespace: str) -> list[str]:
    """Arguments that keep the clock to ourselves."""
    return ['-r', f'/clock:=/{namespace}/clock']


def as_arguments(parameters: dict) -> list[str]:
    """Parameters on a command line."""
    return [part for name, value in parameters.items() for part in ('-p', f'{name}:={value}')]


# -- what came of it


@dataclass
class Result:
    """How a path was followed; lengths in [m], times in [s]."""

    lag: float
    rms: float
    rms_with_lag: float
    worst: float
    off_path: float
    """RMS of the distance to the nearest point of the path, whenever it was due."""
    command_lag: float
    command_rms: float
    arm_lag: float
    arm_rms: float
    slowest: float
    fastest: float
    """Tip speed of the commands [m/s]."""
    still: float
    """Largest standard deviation of a joint's commands at rest."""
    still_measured: float
    violations: int
    commands: int
    longest_gap: float
    """Between two commands on the path: what the machine was busy with."""
    wanted: np.ndarray
    """Where the target was, lag taken off, shape (m, 3)."""
    points: np.ndarray
    """Where the tip was then, shape (m, 3)."""


def tips(judge: Judge, values: np.ndarray) -> np.ndarray:
    """Tip positions, shape (m, 3) [m]."""
    return np.array([judge.pose(q)[:3, 3] for q in values])


def best_lag(
    times: np.ndarray, points: np.ndarray, reference: Callable[[np.ndarray], np.ndarray]
) -> tuple[float, np.ndarray]:
    """Time shift with the least RMS distance, and the distances with it, shape (m,)."""
    best = 0.0, np.linalg.norm(points - reference(times), axis=1)
    for lag in np.arange(0.0, LONGEST_LAG, LAG_STEP):
        distances = np.linalg.norm(points - reference(times - lag), axis=1)
        if rms(distances) < rms(best[1]):
            best = float(lag), distances
    return best


def rms(distances: np.ndarray) -> float:
    """Root of the mean square."""
    return float(np.sqrt(np.mean(np.square(distances))))


def count_violations(
    judge: Judge, times: np.ndarray, values: np.ndarray, settings: dict[str, float]
) -> int:
    """Commands outside a limit, or beyond speed or acceleration as divided differences."""
    fastest = np.minimum(judge.velocity, settings.get('max_joint_velocity', JOINT_VELOCITY))
    hardest = settings.get('max_joint_acceleration', JOINT_ACCELERATION)
    outside = (values < judge.lower - 1e-9) | (values > judge.upper + 1e-9)
    count = int(outside.any(axis=1).sum())
    for t, q in runs(times, values, PAUSE):
        if len(t) > 2:
            count += int((np.abs(velocities(t, q)) > fastest * (1.0 + SLACK)).any(axis=1).sum())
            too_hard = np.abs(accelerations(t, q)) > hardest * (1.0 + SLACK)
            count += int(too_hard.any(axis=1).sum())
    return count


def measure(
    judge: Judge,
    bench: Bench,
    T: np.ndarray,
    path: Callable[[float], np.ndarray],
    settings: dict[str, float],
    figure: Path,
) -> Result:
    """Follow one path, rest, and judge."""
    bench.go(T)
    first = bench.now()
    begin = bench.follow(T, path)
    end = bench.now()
    bench.send(shifted(T, path(SPEED * DURATION)))
    bench.wait_for('REACHED', PATIENCE)
    arrived = bench.now()
    bench.spin_for(REST)

    def reference(times: np.ndarray) -> np.ndarray:
        return np.array([T[:3, 3] + path(SPEED * max(0.0, t - begin)) for t in times])

    times, q = bench.states.since(begin + RUN_UP, end)
    points = tips(judge, q)
    lag, distances = best_lag(times, points, reference)
    sent, q_sent = bench.commands.since(begin + RUN_UP, end)
    command_points = tips(judge, q_sent)
    command_lag, command_distances = best_lag(sent, command_points, reference)
    between = times[(times > sent[0] + LONGEST_LAG) & (times < sent[-1])]
    arm_points = points[np.isin(times, between)]

    def commanded(at: np.ndarray) -> np.ndarray:
        return np.column_stack([np.interp(at, sent, column) for column in command_points.T])

    arm_lag, arm_distances = best_lag(between, arm_points, commanded)
    speeds = np.linalg.norm(np.diff(command_points, axis=0), axis=1) / np.diff(sent)
    all_times, all_q = bench.commands.since(first)
    whole = np.array([T[:3, 3] + path(s) for s in np.linspace(0.0, SPEED * DURATION, 4000)])
    off = np.array([np.linalg.norm(whole - p, axis=1).min() for p in points])
    at_rest = bench.commands.since(arrived)[1]
    still = bench.states.since(arrived + 0.5 * REST)[1]
    draw(figure, times, points, reference(times - lag), distances, sent, command_distances)
    return Result(
        lag,
        rms(distances),
        rms(np.linalg.norm(points - reference(times), axis=1)),
        float(distances.max()),
        rms(off),
        command_lag,
        rms(command_distances),
        arm_lag,
        rms(arm_distances),
        float(speeds.min()),
        float(speeds.max()),
        float(at_rest.std(axis=0).max()) if len(at_rest) > 1 else math.nan,
        float(still.std(axis=0).max()),
        count_violations(judge, all_times, all_q, settings),
        len(all_times),
        float(np.diff(sent).max()),
        reference(times - lag) - T[:3, 3],
        points - T[:3, 3],
    )


def measure_dip(
    judge: Judge, urdf: str, start: dict[str, float], factor: float
) -> tuple[float, float]:
    """
    Let an arm whose drives do not know its weight go sideways three times.

    Returns how far it sags, and how far it drops below that when a new target comes [m].
    """
    with running(urdf, start, {}, factor, gravity_compensation=0.0) as bench:
        T = judge.pose(list(start.values()), list(start))
        drops = []
        for y in (0.05, 0.0, 0.05, 0.0):
            bench.spin_for(1.0)
            standing = tips(judge, bench.states.since(bench.now() - 0.5)[1])[:, 2]
            begin = bench.now()
            bench.go(shifted(T, np.array([0.0, y, 0.0])))
            moving = tips(judge, bench.states.since(begin)[1])[:, 2]
            drops.append(standing.min() - moving.min())
        return float(T[2, 3] - standing.mean()), float(max(drops[1:]))


def draw(
    file: Path,
    times: np.ndarray,
    points: np.ndarray,
    wanted: np.ndarray,
    distances: np.ndarray,
    sent: np.ndarray,
    command_distances: np.ndarray,
) -> None:
    """Draw the path seen from the front, and the distances over time."""
    figure, (front, over_time) = plt.subplots(1, 2, figsize=(12.0, 5.0), layout='constrained')
    front.plot(wanted[:, 1], wanted[:, 2], color='#8a8f98', label='target, lag taken off')
    front.plot(points[:, 1], points[:, 2], color='#1f5fb4', linewidth=1.0, label='arm')
    front.set(xlabel='y [m]', ylabel='z [m]', aspect='equal', title=file.stem)
    front.legend()
    begin = times[0]
    over_time.plot(times - begin, 1e3 * distances, color='#1f5fb4', label='arm')
    over_time.plot(sent - begin, 1e3 * command_distances, color='#1b9e5a', label='commands')
    over_time.axhline(5.0, color='#8a8f98', linestyle=':')
    over_time.set(xlabel='time [s]', ylabel='distance [mm]', title='lag taken off')
    over_time.legend()
    file.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(file, dpi=100)
    plt.close(figure)


def draw_paths(file: Path, runs: dict[str, list[tuple[np.ndarray, np.ndarray]]]) -> None:
    """Draw what became of each path, seen from the front: target and tip, shape (m, 3)."""
    figure, axes = plt.subplots(
        1, len(runs), figsize=(4.0 * len(runs), 4.4), layout='constrained', squeeze=False
    )
    for front, (title, paths) in zip(axes[0], runs.items(), strict=True):
        for i, (wanted, points) in enumerate(paths):
            labels = ('target', 'arm') if i == 0 else (None, None)
            front.plot(*wanted.T[1:], color='#b0b5bd', linewidth=3.0, label=labels[0])
            front.plot(*points.T[1:], color='#1f5fb4', linewidth=1.2, label=labels[1])
        front.set(xlabel='y [m]', ylabel='z [m]', aspect='equal', title=title)
        front.legend(loc='center', frameon=False)
    file.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(file, dpi=110)
    plt.close(figure)


HEADER = (
    '| arm | settings | path | RMS, mm | lag, ms | RMS with lag, mm | worst, mm | off path, mm '
    '| commands: RMS, mm; lag, ms | arm to commands: RMS, mm; lag, ms | tip speed, m/s '
    '| sd at rest: commands, rad | measured, rad | violations | longest gap, ms |'
)


def line(arm: str, settings: str, path: str, r: Result) -> str:
    """One line of the table."""
    return (
        f'| {arm} | {settings} | {path} | {1e3 * r.rms:.2f} | {1e3 * r.lag:.0f} '
        f'| {1e3 * r.rms_with_lag:.1f} | {1e3 * r.worst:.2f} | {1e3 * r.off_path:.2f} '
        f'| {1e3 * r.command_rms:.2f}; {1e3 * r.command_lag:.0f} '
        f'| {1e3 * r.arm_rms:.2f}; {1e3 * r.arm_lag:.0f} '
        f'| {r.slowest:.3f} to {r.fastest:.3f} | {r.still:.1e} | {r.still_measured:.1e} '
        f'| {r.violations} of {r.commands} | {1e3 * r.longest_gap:.0f} |'
    )


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--arms', nargs='+', default=list(STARTS), choices=list(STARTS))
    parser.add_argument('--settings', nargs='+', default=list(SETTINGS), choices=list(SETTINGS))
    parser.add_argument('--output', type=Path, default=Path('build/following'))
    parser.add_argument('--figure', type=Path, help='draw all paths of each arm into a file')
    parser.add_argument(
        '--factor',
        type=float,
        default=0.0,
        help='simulated seconds a second, for a busy machine; 0, the default: real time',
    )
    options = parser.parse_args()
    rclpy.init()
    print(HEADER)
    print('|' + '---|' * (HEADER.count('|') - 1))
    dips, followed = [], {}
    for name in options.arms:
        urdf = fabrik_ros.load_urdf(fabrik_ros.example_arm(name)).source
        judge = Judge(urdf, 'base_link', 'tool0')
        start = dict(zip(judge.joint_names, STARTS[name], strict=True))
        for settings in options.settings:
            with running(urdf, start, SETTINGS[settings], options.factor) as bench:
                for path, function in PATHS.items():
                    T = judge.pose(STARTS[name])
                    figure = options.output / f'{name}_{settings}_{path}.png'
                    result = measure(judge, bench, T, function, SETTINGS[settings], figure)
                    print(line(name, settings, path, result), flush=True)
                    paths = followed.setdefault(f'{name}, {settings}, {path}', [])
                    paths.append((result.wanted, result.points))
        dips.append((name, *measure_dip(judge, urdf, start, options.factor)))
    if options.figure:
        draw_paths(options.figure, followed)
    for name, sag, drop in dips:
        print(
            f'{name} without gravity compensation: sags by {1e3 * sag:.2f} mm, drops by '
            f'{1e3 * drop:.3f} mm more when a new target comes'
        )
    rclpy.try_shutdown()


if __name__ == '__main__':
    main()
