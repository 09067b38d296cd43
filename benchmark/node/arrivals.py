"""
How many targets an arm reaches by the defaults over ROS 2: as `benchmark/experiments/arrivals.py`.

The node is a process of its own in a ROS domain of its own; this one sends the targets and is the
ideal arm, which is where it was told to be. Times are real, processor times those of the node.

    python benchmark/node/arrivals.py --poses 30 --cache /tmp/ways --json /tmp/arrivals_ros.json

"""

import os
from pathlib import Path
import signal
import subprocess
import sys
import time

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / 'test'))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / 'experiments'))

from arrival_run import measure, parser
from arrival_tasks import Arm
from diagnostic_msgs.msg import DiagnosticArray
from fabrik_ros import load_urdf
from fabrik_ros.reasons import ReasonKind
from fabrik_ros.ros.messages.conversions import stamped_pose
from fabrik_ros.ros.parameters.node_parameters import NodeParameters
from geometry_msgs.msg import PoseStamped
import numpy as np
import rclpy
from rclpy.executors import SingleThreadedExecutor
from rclpy.qos import DurabilityPolicy, QoSProfile
from sensor_msgs.msg import JointState
from simulated_drive import (
    ARRIVED,
    LONGEST,
    MOVED,
    NANOSECONDS,
    ON_THE_WAY,
    PAUSE,
    Run,
    STILL,
)
from std_msgs.msg import String

ROOT = Path(__file__).resolve().parents[2]
LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
STATE_PERIOD = 0.005
"""[s]"""
START_UP, HEARING = 300.0, 10.0
"""How long a node may take to compile, and to say what became of a target [s]."""
POSES = 30


class RosDrive:
    """
    The node by its default parameters, and an ideal arm; to be used as `SimulatedDrive`.

    Parameters
    ----------
    arm : Arm
        The arm.
    domain : int
        Its ROS domain.

    """

    def __init__(self, arm: Arm, domain: int) -> None:
        source = arm.source
        parameters = NodeParameters(base_link=source.base_link, tip_link=source.tip_link)
        chain = parameters.arms_of(load_urdf(arm.urdf))
        self.limits, self.period = parameters.limits_for(chain), 1.0 / parameters.command_rate
        self._frame, self._names = source.base_link, chain.joint_names
        self._q = arm.zero()
        self._commands: list[tuple[int, np.ndarray]] = []
        """Stamps [ns] and joint values since the target."""
        self._status: dict[str, str] = {}
        self._process = start_node(arm, domain)
        self._begin_ros(arm.urdf, domain)
        self._wait_for_state('IDLE', START_UP)

    def _begin_ros(self, urdf: str, domain: int) -> None:
        self._context = rclpy.Context()
        rclpy.init(context=self._context, domain_id=domain)
        self._node = node = rclpy.create_node('arrivals', context=self._context)
        self._executor = SingleThreadedExecutor(context=self._context)
        self._executor.add_node(node)
        self._description = node.create_publisher(String, 'robot_description', LATCHED)
        self._description.publish(String(data=urdf))
        self._states = node.create_publisher(JointState, 'joint_states', 10)
        self._targets = node.create_publisher(PoseStamped, 'fabrik/target_pose', 1)
        node.create_subscription(JointState, 'fabrik/joint_command', self._on_command, 1000)
        node.create_subscription(DiagnosticArray, 'fabrik/status', self._on_status, 10)
        node.create_timer(STATE_PERIOD, self._say_where_it_is)

    def close(self) -> None:
        """End the node."""
        self._executor.shutdown()
        self._node.destroy_node()
        rclpy.shutdown(context=self._context)
        self._process.send_signal(signal.SIGINT)
        self._process.wait(timeout=HEARING)

    @property
    def q(self) -> np.ndarray:
        """Where the arm is, shape (n,)."""
        return self._q.copy()

    def begin_at(self, q: np.ndarray) -> None:
        """Put the arm somewhere, as somebody else may while the node is silent."""
        self._spin(PAUSE)
        self._q = np.array(q)
        self._spin(PAUSE)

    def send(self, T: np.ndarray) -> Run:
        """Send a target T_base_tip, shape (4, 4), once, and see what becomes of it."""
        self._spin(PAUSE)
        start, before = self.q, self._decided
        self._commands.clear()
        begin, used = time.monotonic(), self._processor_time()
        self._targets.publish(stamped_pose(T, self._frame, self._node.get_clock().now().to_msg()))
        first = looking = None
        moved_at, is_over = begin, False
        while not is_over and time.monotonic() - begin < LONGEST:
            q = self._q
            self._executor.spin_once(timeout_sec=0.01)
            now, state = time.monotonic(), self._status.get('state', '')
            if first is None and np.abs(self._q - start).max() > MOVED:
                first, looking = now - begin, self._processor_time() - used
            if np.any(q != self._q) or state in ON_THE_WAY:
                moved_at = now
            is_decided = self._decided > before or now - begin > HEARING
            is_over = is_decided and (state == ARRIVED or now - moved_at > STILL)
        if looking is None:
            looking = self._processor_time() - used
        return self._run(start, first, moved_at - begin, looking)

    def _run(self, start: np.ndarray, first: float | None, duration: float, looking: float) -> Run:
        self._spin(STILL)  # as it is still said to have arrived a moment later
        status, is_refused = self._status, bool(self._status.get('last_refusal'))
        code = status.get('reason_code', '')
        return Run(
            np.array([stamp for stamp, _ in self._commands], dtype=int),
            np.array([start, *(q for _, q in self._commands)]),
            'REFUSED' if is_refused else status.get('state', ''),
            ReasonKind(code).name if code and not is_refused else '',
            status['last_refusal'] if is_refused else status.get('reason', ''),
            first,
            duration,
            looking,
        )

    @property
    def _decided(self) -> int:
        """How many targets were accepted or refused."""
        return int(self._status.get('accepted', 0)) + int(self._status.get('refused', 0))

    def _on_command(self, message: JointState) -> None:
        values = dict(zip(message.name, message.position, strict=True))
        self._q = np.array([values[name] for name in self._names])
        stamp = message.header.stamp
        self._commands.append((NANOSECONDS * stamp.sec + stamp.nanosec, self._q))

    def _on_status(self, message: DiagnosticArray) -> None:
        self._status = {pair.key: pair.value for pair in message.status[0].values}

    def _say_where_it_is(self) -> None:
        self._states.publish(JointState(name=self._names, position=self._q.tolist()))

    def _spin(self, duration: float) -> None:
        deadline = time.monotonic() + duration
        while time.monotonic() < deadline:
            self._executor.spin_once(timeout_sec=0.01)

    def _wait_for_state(self, state: str, patience: float) -> None:
        deadline = time.monotonic() + patience
        while self._status.get('state') != state:
            self._executor.spin_once(timeout_sec=0.05)
            if time.monotonic() > deadline:
                raise SystemExit(f'not {state} after {patience:g} s: {self._status}')

    def _processor_time(self) -> float:
        """Processor time that the node has used [s], in steps of the system's clock."""
        fields = Path(f'/proc/{self._process.pid}/stat').read_text().rpartition(')')[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf('SC_CLK_TCK')


def start_node(arm: Arm, domain: int) -> subprocess.Popen:
    """Start the node as a process of its own, by default parameters but for the arm."""
    parameters = {
        'base_link': arm.source.base_link,
        'tip_link': arm.source.tip_link,
        **({'mesh_paths': f'[{", ".join(arm.packages)}]'} if arm.packages else {}),
    }
    given = [word for name, value in parameters.items() for word in ('-p', f'{name}:={value}')]
    environment = os.environ | {
        'PYTHONPATH': os.pathsep.join([str(ROOT), os.environ.get('PYTHONPATH', '')]),
        'ROS_DOMAIN_ID': str(domain),
    }
    module = [sys.executable, '-m', 'fabrik_ros.ros.main', '--ros-args', '--log-level', 'error']
    return subprocess.Popen([*module, *given], env=environment)


def main() -> None:
    """Measure, and print the table."""
    arguments = parser(__doc__, POSES)
    arguments.add_argument('--domain', type=int, default=62, help='ROS domain of its own')
    asked = arguments.parse_args()
    measure(asked, lambda arm: RosDrive(arm, asked.domain))


if __name__ == '__main__':
    main()
