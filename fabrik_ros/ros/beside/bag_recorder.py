"""Records what goes on around a running node in a bag of ROS 2 (MCAP), by rosbags."""

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
import shutil
from typing import Any

from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import PoseStamped
from rclpy.node import Node
from rclpy.qos import QoSProfile
from rclpy.serialization import serialize_message
from sensor_msgs.msg import JointState
from std_msgs.msg import String

from ...errors import LogError
from ...logs.bag_file import CURE
from ...logs.names import without_names
from ..clocks.qos import LATCHED
from ..clocks.receiving import with_receipt
from .motion_logger import EVERY, TARGET_TYPES
from .node_client import NO_EVENTS
from .watched_node import STATES, WatchedNode


class BagRecorder:
    """
    Writes commands, joint states, statuses, targets and the description until it is closed.

    Parameters
    ----------
    node : Node
        Listens on its behalf, in the namespace of the node that is recorded.
    name : str
        The node that is recorded.
    path : Path
        Folder that is made for the bag.
    names : mapping of str to str
        Names of people and machines, and what stands for them in texts.

    Raises
    ------
    LogError
        If rosbags is not installed.

    """

    def __init__(self, node: Node, name: str, path: Path, names: Mapping[str, str]) -> None:
        try:
            from rosbags import interfaces
            from rosbags.rosbag2 import StoragePlugin, Writer
            from rosbags.typesys import get_typestore, Stores
        except ImportError as error:
            raise LogError(CURE) from error
        self._types, self._names, self._path = get_typestore(Stores.LATEST), names, path
        self._bag = Writer(path, version=9, storage_plugin=StoragePlugin.MCAP)
        self._bag.open()
        unset = interfaces.QosTime(0, 0)
        self._latched = interfaces.Qos(
            interfaces.QosHistory.KEEP_LAST, 1, interfaces.QosReliability.RELIABLE,
            interfaces.QosDurability.TRANSIENT_LOCAL, unset, unset,
            interfaces.QosLiveliness.AUTOMATIC, unset, False,
        )  # fmt: skip
        """With what `ros2 bag play` says again what came once."""
        self._node, self._name = node, name
        self.counts: dict[str, int] = {}
        """Messages of each topic."""
        self._tips = set[str]()
        self._watched = WatchedNode(node, name, self._on_status)
        self._record(JointState, f'{name}/joint_command', EVERY)
        self._record(JointState, 'joint_states', STATES)
        self._record(DiagnosticArray, f'{name}/status', EVERY, self._status_without_names)
        self._record(String, 'robot_description', LATCHED, self._text_without_names)
        for topic, kind in TARGET_TYPES.items():
            self._record(kind, f'{name}/{topic}', 10)

    @property
    def has_status(self) -> bool:
        """Whether the node was heard."""
        return self.counts.get(f'{self._name}/status', 0) > 0

    @property
    def held(self) -> str:
        """Text about what is in the bag."""
        return f'{sum(self.counts.values())} messages'

    def save(self) -> None:
        """Write what came since the last time to the disk, where rosbags keeps up to 1 MB."""
        storage: Any = self._bag.storage
        if storage.chunk.msgs:
            storage.close_chunk()
        storage.bio.flush()

    def close(self) -> None:
        """Write the rest; no bag without a status."""
        self._bag.close()
        if not self.has_status:
            shutil.rmtree(self._path)

    def _record(
        self,
        kind: Any,
        topic: str,
        qos: QoSProfile | int,
        clean: Callable[[Any], None] | None = None,
    ) -> None:
        """Write each message on a topic; what has names in it is cleaned first."""
        full = self._node.resolve_topic_name(topic)
        package = kind.__module__.partition('.')[0]
        connection = self._bag.add_connection(
            full,
            f'{package}/msg/{kind.__name__}',
            typestore=self._types,
            offered_qos_profiles=[self._latched] if qos is LATCHED else [],
        )
        self.counts[full] = 0

        def write(message: Any, received: int) -> None:
            if clean is not None:
                clean(message)
                message = serialize_message(message)
            self._bag.write(connection, received, message)
            self.counts[full] += 1

        self._node.create_subscription(
            kind,
            topic,
            with_receipt(write),
            qos,
            raw=clean is None,
            event_callbacks=NO_EVENTS,
        )

    def _on_status(self) -> None:
        if self._watched.has_several_tips:
            for tip in set(self._watched.tip_links) - self._tips:
                self._record(PoseStamped, f'{self._name}/{tip}/target_pose', 10)
                self._tips.add(tip)

    def _status_without_names(self, message: DiagnosticArray) -> None:
        clean = partial(without_names, names=self._names)
        for status in message.status:
            status.message, status.hardware_id = clean(status.message), clean(status.hardware_id)
            for fact in status.values:
                fact.value = clean(fact.value)

    def _text_without_names(self, message: String) -> None:
        message.data = without_names(message.data, self._names)
