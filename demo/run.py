"""
The demo: the node and a simulated arm as processes of their own, targets over real ROS 2.

Sends a fixed sequence of targets, shows one status line, and ends with a picture, a summary and
an exit status that says whether it went well.

"""

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
import importlib.util
import os
from pathlib import Path
import signal
import subprocess
import sys
import time

from diagnostic_msgs.msg import DiagnosticArray
import fabrik_ros
from fabrik_ros.ros.conversions import stamped_pose
from geometry_msgs.msg import PoseStamped
from judge import Judge
import numpy as np
import picture
import rclpy
from rclpy.executors import ExternalShutdownException
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile
from sensor_msgs.msg import JointState
from std_msgs.msg import String
import targets
from terminal_line import TerminalLine
import xacro

HERE = Path(__file__).parent
SETTINGS = HERE / 'demo.yaml'
PICTURE = Path('demo.png')
NAMESPACE = f'demo_{os.getpid()}'  # two demos on one machine do not meet
BASE_LINK, TIP_LINK = 'base_link', 'tool0'
COMMAND_RATE = 100.0
"""Default of the node [Hz]."""
MAX_JOINT_VELOCITY, MAX_JOINT_ACCELERATION = 3.1415, 20.0
START = (0.0, -1.3, 1.6, -1.9, -1.57, 0.0)
LAG = 0.03
PATIENCE = 6.0
APART = 1.3
"""Targets that come sooner after each other belong to a stream, by the default of the node [s]."""
START_UP = 120.0
SHARE_TO_PASS, SHARE_TO_PASS_LONG, LONG = 0.95, 0.99, 300.0
LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)


class Demo(Node):
    """Sends the targets and watches what comes of them."""

    def __init__(self, urdf: str) -> None:
        super().__init__('demo', namespace=NAMESPACE)
        limits = MAX_JOINT_VELOCITY, MAX_JOINT_ACCELERATION
        self.judge = Judge(urdf, BASE_LINK, TIP_LINK, COMMAND_RATE, *limits)
        self.status: dict[str, str] = {}
        self.sent: list[np.ndarray] = []
        self.worst: list[tuple[float, float]] = []
        """Errors [m], [rad] with which each target was left."""
        self.reached = 0
        self.times: dict[str, list[float]] = {'solve_time': [], 'step_time': []}
        self._sequence = targets.sequence(fabrik_ros.load_urdf(urdf).chain(BASE_LINK, TIP_LINK))
        self._sent_at = 0.0
        self.is_there = False
        self._description = self.create_publisher(String, 'robot_description', LATCHED)
        self._description.publish(String(data=urdf))
        self._targets = self.create_publisher(PoseStamped, 'fabrik/target_pose', 1)
        self.create_subscription(JointState, 'fabrik/joint_command', self.judge.see_command, 500)
        self.create_subscription(JointState, 'joint_states', self._on_state, 500)
        self.create_subscription(DiagnosticArray, 'fabrik/status', self._on_status, 10)

    def send_next(self) -> None:
        """Send the next target of the sequence."""
        T = next(self._sequence)
        self.judge.target = T
        self.sent.append(T)
        self.is_there = False
        self._sent_at = time.monotonic()
        self._targets.publish(stamped_pose(T, BASE_LINK, self.get_clock().now().to_msg()))

    def waited_enough(self) -> bool:
        """Whether the target is reached and no stream, or has had its time."""
        return time.monotonic() - self._sent_at > (APART if self.is_there else PATIENCE)

    def leave_target(self) -> None:
        """Book the present target as reached or not."""
        self.reached += self.is_there
        self.worst.append(self.judge.residuals[-1][1:] if self.judge.residuals else (9.9, 9.9))

    def _on_state(self, message: JointState) -> None:
        self.is_there = self.judge.see_state(message, time.monotonic()) or self.is_there

    def _on_status(self, message: DiagnosticArray) -> None:
        self.status = {pair.key: pair.value for pair in message.status[0].values}
        for name, seen in self.times.items():
            value = float(self.status.get(name, 0.0))
            if value > 0.0:
                seen.append(value)


@contextmanager
def processes(*commands: list[str]) -> Iterator[list[subprocess.Popen]]:
    """Run commands beside this one; end them as Ctrl-C would, and wait."""
    # A session of their own: Ctrl-C in the terminal is for this process alone, which passes it on.
    running = [subprocess.Popen(command, start_new_session=True) for command in commands]
    try:
        yield running
    finally:
        for process in running:
            process.send_signal(signal.SIGINT)
        for process in running:
            try:
                process.wait(timeout=5.0)
            except subprocess.TimeoutExpired:
                process.kill()


def node_command() -> list[str]:
    """Command line of the node under test."""
    return [
        sys.executable, '-m', 'fabrik_ros.ros.main', '--ros-args', '-r', f'__ns:=/{NAMESPACE}',
        '--params-file', str(SETTINGS), '--log-level', 'warn',
    ]  # fmt: skip


def arm_command(joint_names: list[str]) -> list[str]:
    """Command line of the simulated arm: the one with physics where MuJoCo is installed."""
    module, parameters = 'simulated_arm', ['-p', f'lag:={LAG}']
    if has_physics():
        module, parameters = 'physical_arm', []
    return [
        sys.executable, '-m', f'fabrik_ros.sim.{module}', '--ros-args',
        '-r', f'__ns:=/{NAMESPACE}', '-r', 'joint_command:=fabrik/joint_command', *parameters,
        '-p', f'start_names:=[{", ".join(joint_names)}]',
        '-p', f'start_values:=[{", ".join(map(str, START))}]', '--log-level', 'warn',
    ]  # fmt: skip


def has_physics() -> bool:
    """Whether MuJoCo is installed."""
    return importlib.util.find_spec('mujoco') is not None


def arm_in_words() -> str:
    """Say which arm moves."""
    if has_physics():
        return 'six axes with weight, friction and drives, in MuJoCo'
    return 'six axes that lag behind their commands (with physics: pip install mujoco)'


def check_running(running: list[subprocess.Popen]) -> None:
    """End the demo, saying why, if the node or the arm is gone."""
    for process in running:
        if process.poll() is not None:
            raise SystemExit(f'\n{process.args[2]} ended with code {process.returncode}')


def wait_until_ready(demo: Demo, running: list[subprocess.Popen], line: TerminalLine) -> None:
    """Wait for the node to be ready for targets; the first start compiles the solver."""
    begin = time.monotonic()
    while demo.status.get('state') != 'IDLE':
        check_running(running)
        rclpy.spin_once(demo, timeout_sec=0.1)
        waited = time.monotonic() - begin
        reason = demo.status.get('reason', 'compiling the solver')
        line.show(f'starting: {waited:4.1f} s ({reason})')
        if waited > START_UP:
            raise SystemExit(f'\nthe node was not ready after {START_UP:.0f} s: {demo.status}')


def send_targets(
    demo: Demo, running: list[subprocess.Popen], line: TerminalLine, duration: float
) -> None:
    """Send targets for a time, each held until it is reached or has had its time."""
    begin = time.monotonic()
    while time.monotonic() - begin < duration:
        check_running(running)
        demo.send_next()
        while not demo.waited_enough():
            rclpy.spin_once(demo, timeout_sec=0.05)
            line.show(status_line(demo, time.monotonic() - begin))
        demo.leave_target()


def status_line(demo: Demo, elapsed: float) -> str:
    """One line that tells how it is going."""
    _, position, orientation = demo.judge.residuals[-1] if demo.judge.residuals else (0, 0, 0)
    return (
        f'{elapsed:6.1f} s  target {len(demo.sent)}  reached {demo.reached}  '
        f'{demo.status.get("state", ""):8}  to go {position:.4f} m {orientation:.4f} rad'
    )


def summary(demo: Demo) -> str:
    """Tell how it went."""
    judge, status = demo.judge, demo.status
    finishers = {who: int(status.get(f'finished_by_{who}', 0)) for who in ('fabrik', 'polish')}
    solves = max(1, sum(finishers.values()))
    left = np.array(demo.worst or [(0.0, 0.0)])
    lines = [
        f'arm               {arm_in_words()}',
        f'targets sent      {len(demo.worst)}',
        f'reached           {demo.reached} ({demo.reached / max(1, len(demo.worst)):.1%})',
        f'refused           {status.get("refused", "?")}',
        f'worst residual    {left[:, 0].max():.2e} m, {left[:, 1].max():.2e} rad when left '
        '(pinocchio, from the joint states on the wire; reached: 1e-4 m, 1e-3 rad)',
        f'out of bounds     {judge.violation_count} of {len(judge.commands)} commands',
        f'by FABRIK alone   {finishers["fabrik"] / solves:.1%} of {solves} solves; the others by '
        'the polish too: a few damped least-squares steps',
        f'command rate      {judge.command_rate():.1f} Hz',
        f'solve time        {_median(demo.times["solve_time"])} for a target, '
        f'{_median(demo.times["step_time"])} for a control step (medians)',
    ]
    return '\n'.join([*lines, *judge.violations[:5]])


def _median(seconds: list[float]) -> str:
    return f'{1e3 * float(np.median(seconds)):.3f} ms' if seconds else 'unknown'


def went_well(demo: Demo, duration: float) -> bool:
    """Whether enough targets were reached and no command was out of bounds."""
    sent = len(demo.worst)
    share = SHARE_TO_PASS_LONG if LONG <= duration < float('inf') else SHARE_TO_PASS
    return sent > 0 and demo.reached >= share * sent and demo.judge.violation_count == 0


def main() -> None:
    """Run the demo."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--duration', type=float, default=float('inf'), help='seconds of targets')
    duration = parser.parse_args().duration
    urdf = xacro.process_file(str(fabrik_ros.example_arm('six_axis'))).toxml()
    joint_names = list(fabrik_ros.load_urdf(urdf).chain(BASE_LINK, TIP_LINK).joint_names)
    rclpy.init()
    demo = Demo(urdf)
    print(f'arm: {arm_in_words()}', flush=True)
    line = TerminalLine()
    try:
        with processes(node_command(), arm_command(joint_names)) as running:
            wait_until_ready(demo, running, line)
            send_targets(demo, running, line, duration)
    except (KeyboardInterrupt, ExternalShutdownException):
        pass
    if not demo.worst:
        raise SystemExit('\nended before the first target was done')
    print(f'\n{summary(demo)}')
    if demo.judge.residuals and demo.judge.commands:
        picture.draw(demo.judge, demo.sent, PICTURE)
        print(f'picture           {PICTURE.absolute()}')
    rclpy.try_shutdown()
    raise SystemExit(0 if went_well(demo, duration) else 1)


if __name__ == '__main__':
    main()
