"""Listens to a running node, and writes a log of what it commands, hears and says."""

from collections.abc import Callable, Mapping
from functools import partial
import pathlib
import time
from typing import Any

from geometry_msgs.msg import PoseStamped
from nav_msgs.msg import Path
import numpy as np
from rclpy.node import Node
from rclpy.qos import QoSProfile, ReliabilityPolicy
from sensor_msgs.msg import JointState
from std_msgs.msg import String

from ...errors import FabrikError
from ...logs.log_file import COMMANDS, STATES as MEASURED, TARGETS as SENT
from ...logs.log_writer import LogWriter
from ...logs.motion_log import (
    FACTS,
    MotionLog,
    Samples,
    samples_of,
    SentTarget,
    stamp_of,
    Status,
    TARGETS,
)
from ...model.mechanism import Mechanism
from ...motion.follower_options import FollowerOptions
from ...transforms import Array
from ..clocks.receiving import age_of, with_receipt
from .node_client import NO_EVENTS
from .watched_node import STATES, WatchedNode

LIMITS = (
    'max_joint_velocity_fraction',
    'max_joint_velocity',
    'max_joint_acceleration',
    'max_joint_jerk',
)
TOLD = (*LIMITS, 'command_rate', 'output', 'path', 'mode', 'wait_for_state', 'use_sim_time')
"""Parameters that a log tells."""
PATIENCE = 5.0
"""So long [s] a log waits to hear of the arm of the node."""
EVERY = QoSProfile(depth=1000, reliability=ReliabilityPolicy.BEST_EFFORT)
TARGET_TYPES = dict(zip(TARGETS, (PoseStamped, JointState, String, Path, String), strict=True))
"""Topics of targets below the node, and their types."""


class MotionLogger:
    """
    Logs what goes on around a node, from now on until it is closed.

    Parameters
    ----------
    node : Node
        Listens on its behalf, in the namespace of the node that is logged.
    name : str
        The node that is logged.
    path : Path
        The zip that is written.
    names : mapping of str to str
        Names of people and machines, and what stands for them.
    versions : mapping of str to str
        Versions that the log tells, by name.

    Attributes
    ----------
    has_status : bool
        Whether the node was heard.

    """

    def __init__(
        self,
        node: Node,
        name: str,
        path: pathlib.Path,
        names: Mapping[str, str],
        versions: Mapping[str, str],
    ) -> None:
        self._writer, self._versions = LogWriter(path, names), versions
        self.has_status = False
        self._joints: tuple[str, ...] = ()
        self._first_stamps: dict[str, int] = {}
        """Of commands and of states [ns]."""
        self._begin = time.monotonic()
        self._statuses: list[Status] = []
        self._targets: list[SentTarget] = []
        self._commands: list[tuple[float, JointState]] = []
        self._states: list[tuple[float, JointState]] = []
        self._node, self._name = node, name
        self._tips = set[str]()
        self.watched = WatchedNode(node, name, self._on_status, more=TOLD)
        self._listen(
            JointState, f'{name}/joint_command', partial(self._keep, self._commands), EVERY
        )
        self._listen(JointState, 'joint_states', partial(self._keep, self._states), STATES)
        for topic, kind in TARGET_TYPES.items():
            self._listen(kind, f'{name}/{topic}', partial(self._on_target, topic), 10)

    @property
    def held(self) -> str:
        """Text about what is in the log."""
        commands, states, targets = (
            self._writer.counts[table] for table in (COMMANDS, MEASURED, SENT)
        )
        return f'{commands} commands, {states} measured states, {targets} targets'

    def _now(self) -> float:
        return time.monotonic() - self._begin

    def _listen(
        self, kind: type, topic: str, take: Callable[[Any, float], None], qos: QoSProfile | int
    ) -> None:
        """Have messages taken with the time they came: callbacks come in another order."""
        callback = with_receipt(
            lambda message, received: take(message, self._now() - 1e-9 * age_of(received))
        )
        self._node.create_subscription(kind, topic, callback, qos, event_callbacks=NO_EVENTS)

    def _keep(
        self, kept: list[tuple[float, JointState]], message: JointState, heard: float
    ) -> None:
        if len(message.name) == len(message.position):
            kept.append((heard, message))

    def _on_target(self, kind: str, message: Any, heard: float) -> None:
        self._targets.append(SentTarget(heard, kind))

    def _on_status(self) -> None:
        facts = self.watched.facts
        self.has_status = True
        told = {name: facts[name] for name in FACTS if name in facts}
        self._statuses.append(Status(self._now(), told))
        if self.watched.has_several_tips:
            for tip in set(self.watched.tip_links) - self._tips:
                topic = f'{tip}/target_pose'
                take = partial(self._on_target, topic)
                self._listen(PoseStamped, f'{self._name}/{topic}', take, 10)
                self._tips.add(tip)

    def save(self, patience: float = PATIENCE) -> None:
        """
        Write what came since the last time to the disk.

        Joint values wait until the joints are known: those of the arm of the node, or, where that
        is not known after some patience [s], those that are commanded.
        """
        arm = self._arm()
        if not self._joints and arm is not None:
            self._joints = arm.joint_names
        elif not self._joints and self._now() > patience:
            self._joints = _first_names(self._commands)
        self._writer.add(self._taken(arm))

    def close(self) -> None:
        """Write the rest, and the zip; none without a status."""
        if self.has_status:
            self.save(patience=0.0)
            if not self._joints:
                self._joints = _first_names(self._states)
                self.save()
            self._writer.close()
        else:
            self._writer.discard()

    def _taken(self, arm: Mechanism | None) -> MotionLog:
        """Take what came since the last time."""
        values = self.watched.parameters
        statuses, self._statuses = tuple(self._statuses), []
        targets, self._targets = tuple(self._targets), []
        return MotionLog(
            self._joints,
            *self._limits(arm),
            self._samples(COMMANDS, self._commands),
            self._samples(MEASURED, self._states),
            statuses,
            targets,
            {
                **self._versions,
                **{name: str(values[name]) for name in TOLD if name in values},
            },
        )

    def _limits(self, arm: Mechanism | None) -> tuple[Array, Array]:
        """Tell the limits of velocity and acceleration."""
        values = self.watched.parameters
        is_known = all(name in values for name in LIMITS)
        if arm is None or not is_known or arm.joint_names != self._joints:
            unknown = np.full(len(self._joints), np.nan)
            return unknown, unknown
        limits = FollowerOptions(**{name: values[name] for name in LIMITS}).limits_for(arm)
        return limits.joint_velocity, limits.joint_acceleration

    def _samples(self, table: str, kept: list[tuple[float, JointState]]) -> Samples:
        """Take the joint values that were kept, once the joints are known."""
        joints = self._joints
        if not joints:
            return samples_of([], joints)
        needed = set(joints) if table == COMMANDS else set()
        heard = [each for each in kept if needed <= set(each[1].name)]
        kept.clear()
        if heard:
            self._first_stamps.setdefault(table, stamp_of(heard[0][1]))
        return samples_of(heard, joints, self._first_stamps.get(table))

    def _arm(self) -> Mechanism | None:
        """Make the arm of the node; None where it is not known."""
        robot, tips = self.watched.robot, self.watched.tip_links
        if robot is None or not tips:
            return None
        try:
            if len(tips) > 1:
                return robot.tree(self.watched.base_link, tips)
            return robot.chain(self.watched.base_link, tips[0])
        except FabrikError:  # a description just replaced
            return None


def _first_names(kept: list[tuple[float, JointState]]) -> tuple[str, ...]:
    """Names in the first of some messages; none where there is none."""
    return next((tuple(message.name) for _, message in kept), ())
