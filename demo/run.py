"""
The demo: the node and a simulated arm as processes of their own, targets over real ROS 2.

Sends the fixed sequence of targets of a scene, shows the arm in the browser and one status line
in the terminal, and ends with a picture, a summary and an exit status that says whether it went
well.

"""

import argparse
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
import importlib.util
from pathlib import Path
import signal
import subprocess
import sys
import time

from demo_node import BASE_LINK, Demo, GUEST_PAUSE, NAMESPACE, TIP_LINK
import fabrik_ros
import page
import picture
import rclpy
from rclpy.executors import ExternalShutdownException
from scenes import scene_named, SCENES
from summary import summary
from terminal_line import TerminalLine
import xacro

HERE = Path(__file__).parent
SETTINGS = HERE / 'demo.yaml'
PICTURE = Path('demo.png')
START = (0.0, -1.3, 1.6, -1.9, -1.57, 0.0)
LAG = 0.03
START_UP = 120.0


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


class Show:
    """
    What goes on in the terminal while the demo runs.

    Parameters
    ----------
    running : list of subprocess.Popen
        The node and the arm; without one of them the demo ends.
    view : page.Page or None
        The page, without which the demo goes on.

    """

    def __init__(self, running: list[subprocess.Popen], view: page.Page | None) -> None:
        self._running, self._view, self._line = running, view, TerminalLine()

    def go_on(self, demo: Demo, line: str) -> None:
        """Listen to ROS for a moment, and show a line."""
        check_running(self._running)
        rclpy.spin_once(demo, timeout_sec=0.05)
        self._line.show(line)
        fault = self._view.look() if self._view else ''
        if fault:
            print(f'\nno view: {fault}', flush=True)


def wait_until_ready(demo: Demo, show: Show) -> None:
    """Wait for the node to be ready for targets; the first start compiles the solver."""
    begin = time.monotonic()
    while not demo.is_ready():
        waited = time.monotonic() - begin
        reason = demo.status.get('reason', 'compiling the solver')
        show.go_on(demo, f'starting: {waited:4.1f} s ({reason})')
        if waited > START_UP:
            raise SystemExit(f'\nthe node was not ready after {START_UP:.0f} s: {demo.status}')


def send_targets(demo: Demo, show: Show, duration: float) -> None:
    """Send targets for a time, each held until it is done or has had its time."""
    begin = time.monotonic()
    while time.monotonic() - begin < duration:
        demo.send_next()
        while not (demo.waited_enough() or demo.is_interrupted()):
            show.go_on(demo, status_line(demo, time.monotonic() - begin))
        demo.leave_target()
        while demo.has_guest():
            show.go_on(demo, f'targets from elsewhere: waiting for {GUEST_PAUSE:.0f} s without')


def status_line(demo: Demo, elapsed: float) -> str:
    """One line that tells how it is going."""
    scene, status, residuals = demo.scene, demo.status, demo.judge.residuals
    _, position, orientation = residuals[-1] if residuals else (0, 0, 0)
    now = f'{status.get("state", ""):8}  to go {position:.4f} m {orientation:.4f} rad'
    if status.get('reason'):
        now = f'{status["state"]}: {status["reason"]}'
    counted = f'target {len(demo.sent)}  {scene.done} {demo.tally.done}'
    return f'{elapsed:6.1f} s  {counted}  {now}'


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--duration', type=float, default=float('inf'), help='seconds of targets')
    scenes = '; '.join(f'{scene.name}: {scene.meaning}' for scene in SCENES.values())
    parser.add_argument('--scene', type=scene_named, default='around', help=scenes)
    parser.add_argument('--no-view', action='store_true', help='do not show the arm in a browser')
    return parser.parse_args()


def main() -> None:
    """Run the demo."""
    options = arguments()
    urdf = xacro.process_file(str(fabrik_ros.example_arm('six_axis'))).toxml()
    joint_names = list(fabrik_ros.load_urdf(urdf).chain(BASE_LINK, TIP_LINK).joint_names)
    rclpy.init()
    demo = Demo(urdf, options.scene)
    print(f'arm: {arm_in_words()}\nscene: {options.scene.meaning}', flush=True)
    view = nullcontext() if options.no_view else page.shown(f'/{NAMESPACE}/fabrik')
    try:
        with processes(node_command(), arm_command(joint_names)) as running, view as shown:
            show = Show(running, shown)
            wait_until_ready(demo, show)
            send_targets(demo, show, options.duration)
    except (KeyboardInterrupt, ExternalShutdownException):
        pass
    if not demo.tally.judged:
        raise SystemExit('\nended before the first target was done')
    print(f'\n{summary(demo, arm_in_words())}')
    if demo.judge.residuals and demo.judge.commands:
        picture.draw(demo.judge, demo.sent, PICTURE)
        print(f'picture           {PICTURE.absolute()}')
    rclpy.try_shutdown()
    is_well = demo.tally.went_well(options.duration, demo.judge.violation_count)
    raise SystemExit(0 if is_well else 1)


if __name__ == '__main__':
    main()
