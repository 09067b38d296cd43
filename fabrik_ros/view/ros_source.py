"""An arm that a running node moves: the topics that RViz shows, and targets for the node."""

from collections.abc import Mapping
from contextlib import suppress
import math
import threading
import time
from typing import Any

from geometry_msgs.msg import PoseStamped
from nav_msgs.msg import Path
import numpy as np
import rclpy
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from rclpy.publisher import Publisher
from rclpy.qos import QoSProfile, ReliabilityPolicy
from rclpy.subscription import Subscription
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from trajectory_msgs.msg import JointTrajectory
from visualization_msgs.msg import MarkerArray

from ..errors import FabrikError
from ..model.robot import Robot
from ..model.urdf import parse_urdf
from ..motion.paths.pace import piece_speeds
from ..motion.paths.preview import NO_MOTION, ProposedMotion
from ..programs.program import Program
from ..ros.beside.node_client import NodeClient
from ..ros.clocks.qos import LATCHED, NEWEST
from ..ros.drawing.planned_motion import PlannedMotion
from ..ros.messages.conversions import motion_in, path_in, seconds, stamped_pose
from ..ros.parameters.tip_names import topic_name
from ..ros.status.diagnostics import awaited_in, target_stamp
from ..transforms import Array, rotation_from_rpy, transform
from .node_requests import NodeRequests, PARAMETERS
from .scene_markers import solids_in
from .solid import Solid
from .source import Gap, Gripping, Request, Snapshot

STATES = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)
"""Joint states of any driver, as the node takes them."""
LOOK_PERIOD = 0.2
"""Time between two looks whether the node is still there [s]."""
TARGET_PERIOD = 0.02
"""Time between two looks whether somebody hears the target that waits [s]."""
LONGEST_WAIT = 1.0
"""A target that nobody hears for this long is dropped [s]."""
UNUSED_TIME = 10.0
"""The publisher of targets ends when none was sent for this long [s]."""


class RosSource:
    """
    Listens to a node, and sends it targets.

    Parameters
    ----------
    node_name : str
        The node, with its namespace.

    Notes
    -----
    The status of the node is its sign of life: when it stops, all that the node said and was told
    is forgotten. Targets are volatile: a node that comes later never gets an earlier one. Their
    publisher is there only while somebody uses it, so that others may send targets, too.

    """

    def __init__(self, node_name: str = '/fabrik') -> None:
        self._name = '/' + node_name.strip('/')
        self._robot: Robot | None = None
        self._description, self._fault = '', ''
        self._joints: dict[str, float] = {}
        self._command: dict[str, float] = {}
        self._path: tuple[Array, Array] = np.empty((0, 3)), np.empty(0)
        """Points of the tip [m], and its speeds between them [m/s]."""
        self._motion: tuple[list[str], ProposedMotion] = [], NO_MOTION
        self._planned = PlannedMotion()
        self._solids: tuple[Solid, ...] = ()
        self._context = rclpy.Context()
        rclpy.init(context=self._context)
        namespace = self._name.rpartition('/')[0] or '/'
        self._node = rclpy.create_node('fabrik_view', context=self._context, namespace=namespace)
        listen, name = self._node.create_subscription, self._name
        listen(String, 'robot_description', self._on_description, LATCHED)
        listen(JointState, 'joint_states', self._on_joints, STATES)
        listen(JointState, f'{name}/joint_command', self._on_command, NEWEST)
        listen(Path, f'{name}/planned_path', self._on_path, LATCHED)
        listen(JointTrajectory, f'{name}/planned_motion', self._on_motion, LATCHED)
        self._scene = self._hear_scene()
        self._client = NodeClient(self._node, name, PARAMETERS)
        self._requests = NodeRequests(self._node, self._client)
        self._node.create_timer(LOOK_PERIOD, self._look_after_node)
        self._node.create_timer(TARGET_PERIOD, self._look_after_targets)
        self._lock = threading.Lock()
        """For what follows, up to the time."""
        self._targets: Publisher | None = None
        self._waiting: PoseStamped | None = None
        """The target that nobody hears yet."""
        self._asked_at = -math.inf
        self._joint_targets = self._node.create_publisher(
            JointState, f'{name}/target_joints', NEWEST
        )
        self._executor = SingleThreadedExecutor(context=self._context)
        self._executor.add_node(self._node)
        self._thread = threading.Thread(target=self._spin, name='ros', daemon=True)
        self._thread.start()

    @property
    def name(self) -> str:
        """What to call it."""
        fault = self._fault or self._missing()
        return f'the node {self._name}' + (f' ({fault})' if fault else '')

    @property
    def requests(self) -> frozenset[Request]:
        """It can be asked all; the node says what it refuses."""
        return frozenset(Request)

    @property
    def has_speed(self) -> bool:
        """It goes at `speed_scaling`."""
        return True

    @property
    def has_programs(self) -> bool:
        """It goes through them; the node says where it cannot."""
        return True

    @property
    def choices(self) -> NodeRequests:
        """Its parameters, and its configurations."""
        return self._requests

    @property
    def awaited(self) -> str:
        """What the node waits for, by its newest status; '' once it takes targets."""
        return awaited_in(self._client.facts) if self._client.facts else f'{self._name} starts'

    def _missing(self) -> str:
        """Say which topic is silent although the node is not; '' where none is."""
        if not self._client.is_alive:
            return ''
        resolve = self._node.resolve_topic_name
        if self._robot is None:
            return f'it lives, but nobody publishes {resolve("robot_description")}'
        return '' if self._joints else f'it lives, but nobody publishes {resolve("joint_states")}'

    def snapshot(self) -> Snapshot:
        """Say what came last."""
        facts, robot = self._client.facts, self._robot
        base_link, tip_link = facts.get('base_link', ''), facts.get('tip_link', '').split(', ')[0]
        # A description that has just changed has not reached the status yet.
        if robot is None or not self._joints or not {base_link, tip_link} <= set(robot.links):
            return Snapshot()
        return Snapshot(
            self._client.heard_at,
            robot,
            base_link,
            tip_link,
            self._joints,
            self._command,
            facts.get('state', ''),
            facts.get('reason', ''),
            facts.get('last_refusal', ''),
            _number(facts, 'solve_time'),
            _gap(facts, 'nearest_obstacle'),
            _gap(facts, 'nearest_self'),
            *self._path,
            self._client.parameters.get('max_tip_speed', math.nan),
            self._solids,
            _tool(facts),
            facts.get(f'{self._prefix()}target_stamp', ''),
            facts.get('waits_for_execute') == 'True',
            self._played(),
            facts.get('held') == 'True',
            self._requests.answer,
            self._client.parameters.get('speed_scaling', math.nan),
            self._client.parameters.get('stream_timeout', Snapshot.stream_timeout),
            _gripping(facts),
        )

    def _played(self) -> dict[str, float]:
        """Joint values by name on the way that waits to be executed."""
        names, motion = self._motion
        q = self._planned.configuration(motion, time.monotonic())
        return {} if q is None else dict(zip(names, q.tolist(), strict=True))

    def send_target(self, T_base_tool: Array) -> str:
        """Publish a target pose once it is heard; of several tips the first one goes there."""
        base_link = self._client.facts.get('base_link')
        if base_link is None:
            return ''
        stamp = self._node.get_clock().now().to_msg()
        with self._lock:
            self._waiting = stamped_pose(T_base_tool, base_link, stamp)
            self._asked_at = time.monotonic()
            self._send_waiting()
        return target_stamp(seconds(stamp))

    def _send_waiting(self) -> None:
        if self._waiting and self._targets and self._targets.get_subscription_count() > 0:
            self._targets.publish(self._waiting)
            self._waiting = None

    def _look_after_targets(self) -> None:
        """Send the target that waits, or drop it; have a publisher while there are targets."""
        with self._lock:
            unused = time.monotonic() - self._asked_at
            if unused > LONGEST_WAIT:
                self._waiting = None
            topic = self._target_topic()
            if self._targets and (unused > UNUSED_TIME or self._targets.topic_name != topic):
                self._node.destroy_publisher(self._targets)
                self._targets = None
            if self._waiting and self._targets is None:
                self._targets = self._node.create_publisher(PoseStamped, topic, NEWEST)
            self._send_waiting()

    def _target_topic(self) -> str:
        return f'{self._name}/{self._prefix()}target_pose'

    def _prefix(self) -> str:
        """Of the topics and facts of the first tip, where there are several."""
        tips = self._client.facts.get('tip_link', '').split(', ')
        return f'{topic_name(tips[0])}/' if len(tips) > 1 else ''

    def send_joints(self, values: Mapping[str, float]) -> None:
        """Publish targets for joints."""
        message = JointState(name=list(values), position=list(values.values()))
        message.header.stamp = self._node.get_clock().now().to_msg()
        self._joint_targets.publish(message)

    def send_width(self, width: float) -> None:
        """Publish a width of the gripper."""
        self._requests.send_width(width)

    def send_program(self, program: Program) -> None:
        """Publish a program; it drops a target that waits."""
        with self._lock:
            self._waiting = None
        self._requests.send_program(program)

    def ask(self, request: Request) -> None:
        """Call a service; a stop drops a target that waits."""
        if request is Request.STOP:
            with self._lock:
                self._waiting = None
        self._requests.ask(request)

    def set_speed(self, share: float) -> None:
        """Set `speed_scaling`."""
        self._requests.set_speed(share)

    def close(self) -> None:
        """Stop listening."""
        self._executor.shutdown()
        self._thread.join()
        self._node.destroy_node()
        rclpy.try_shutdown(context=self._context)

    def _spin(self) -> None:
        with suppress(ExternalShutdownException):
            self._executor.spin()

    # -- what comes: objects are replaced, never changed, as another thread reads them

    def _on_description(self, message: String) -> None:
        if message.data == self._description:
            return
        self._description = message.data
        try:
            self._robot, self._fault = parse_urdf(message.data), ''
        except FabrikError as error:
            self._robot, self._fault = None, f'its description cannot be used: {error}'

    def _on_joints(self, message: JointState) -> None:
        self._joints = self._joints | _finite(message)

    def _on_command(self, message: JointState) -> None:
        self._command = self._command | _finite(message)

    def _on_path(self, message: Path) -> None:
        points, times = path_in(message)
        self._path = points, piece_speeds(points, times)

    def _on_motion(self, message: JointTrajectory) -> None:
        self._motion = list(message.joint_names), motion_in(message)

    def _hear_scene(self) -> Subscription:
        """Listen to what the node knows of its surroundings, from what it said last on."""
        topic = f'{self._name}/scene_markers'
        return self._node.create_subscription(MarkerArray, topic, self._on_scene, LATCHED)

    def _on_scene(self, message: MarkerArray) -> None:
        self._solids = solids_in(message)

    def _forget(self) -> None:
        """Forget what a node that is gone said, and the target that waits."""
        with self._lock:
            self._waiting = None
        self._command, self._path = {}, (np.empty((0, 3)), np.empty(0))
        self._motion = [], NO_MOTION
        self._node.destroy_subscription(self._scene)
        self._solids, self._scene = (), self._hear_scene()
        self._client.forget()
        self._requests.answer = ''

    def _look_after_node(self) -> None:
        if not self._client.facts:
            return
        if self._client.is_alive:
            self._client.attend()
        else:
            self._forget()


def _tool(facts: Mapping[str, str]) -> Array:
    """Pose of the first tool in its tip frame, shape (4, 4)."""
    x, y, z, *rpy = list(map(float, facts.get('tool_offset', '').split()))[:6] or 6 * [0.0]
    return transform(rotation_from_rpy(*rpy), (x, y, z))


def _gap(facts: Mapping[str, str], kind: str) -> Gap:
    """Read what the status says of the nearest two things of a kind."""
    return Gap(
        _number(facts, f'{kind}_distance'),
        facts.get(kind, ''),
        _number(facts, f'{kind}_clearance'),
    )


def _gripping(facts: Mapping[str, str]) -> Gripping | None:
    """Read what the status says of a gripper; None where there is none."""
    if 'gripper_widest' not in facts:
        return None
    width, narrowest, widest = (
        _number(facts, f'gripper_{key}') for key in ('width', 'narrowest', 'widest')
    )
    return Gripping(width, narrowest, widest, facts['gripper_state'])


def _finite(message: JointState) -> dict[str, float]:
    pairs = zip(message.name, message.position, strict=False)
    return {name: value for name, value in pairs if math.isfinite(value)}


def _number(facts: Mapping[str, Any], key: str) -> float:
    try:
        return float(facts[key])
    except (KeyError, ValueError):
        return math.nan
