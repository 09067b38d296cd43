"""Listens to a running node, and makes a log of what it commands, hears and says."""

from collections.abc import Callable, Mapping
from functools import partial
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
from ...logs.motion_log import FACTS, MotionLog, samples_of, SentTarget, Status, TARGETS
from ...model.mechanism import Mechanism
from ...motion.follower_options import FollowerOptions
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
EVERY = QoSProfile(depth=1000, reliability=ReliabilityPolicy.BEST_EFFORT)
TARGET_TYPES = dict(zip(TARGETS, (PoseStamped, JointState, String, Path, String), strict=True))
"""Topics of targets below the node, and their types."""


class MotionLogger:
    """
    Collects what goes on around a node, from now on.

    Parameters
    ----------
    node : Node
        Listens on its behalf, in the namespace of the node that is logged.
    name : str
        The node that is logged.

    """

    def __init__(self, node: Node, name: str) -> None:
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
    def has_status(self) -> bool:
        """Whether the node was heard."""
        return bool(self._statuses)

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
        told = {name: facts[name] for name in FACTS if name in facts}
        self._statuses.append(Status(self._now(), told))
        if self.watched.has_several_tips:
            for tip in set(self.watched.tip_links) - self._tips:
                topic = f'{tip}/target_pose'
                take = partial(self._on_target, topic)
                self._listen(PoseStamped, f'{self._name}/{topic}', take, 10)
                self._tips.add(tip)

    def log(self, versions: Mapping[str, str]) -> MotionLog:
        """Tell what came, once the node that listened spins no more."""
        arm, values = self._arm(), self.watched.parameters
        joints = arm.joint_names if arm is not None else ()
        if arm is None and self._commands:
            joints = tuple(self._commands[0][1].name)
        velocity = acceleration = np.full(len(joints), np.nan)
        if arm is not None and all(name in values for name in LIMITS):
            limits = FollowerOptions(**{name: values[name] for name in LIMITS}).limits_for(arm)
            velocity, acceleration = limits.joint_velocity, limits.joint_acceleration
        return MotionLog(
            joints,
            velocity,
            acceleration,
            samples_of(
                [kept for kept in self._commands if set(joints) <= set(kept[1].name)], joints
            ),
            samples_of(self._states, joints),
            tuple(self._statuses),
            tuple(self._targets),
            {
                **versions,
                **{name: str(values[name]) for name in TOLD if name in values},
            },
        )

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
