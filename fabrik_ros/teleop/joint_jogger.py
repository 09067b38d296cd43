"""Joints that are jogged by name, as control_msgs/JointJog says it."""

from collections.abc import Mapping
import math

from .guides import Guide
from .node_view import JointTarget, Motion, NodeView, within

LONGEST_STEP = 0.1
"""Time between two motions that counts, at most [s]."""
LEAD = 0.3
"""How far the target of a joint may be ahead of where it is measured [rad or m]."""


class JointJogger(Guide):
    """
    Moves joints at velocities, or by displacements.

    Parameters
    ----------
    topic : str
        Where the jogs come.
    timeout : float
        Silence after which a velocity ends [s].

    """

    def __init__(self, topic: str, timeout: float) -> None:
        super().__init__(timeout)
        self._topic = topic
        self._velocities: dict[str, float] = {}
        self._steps: dict[str, float] = {}
        """Displacements that are still to come."""
        self._heard_at = self._moved_at = -math.inf
        self._goal: dict[str, float] = {}

    def hear_jog(
        self, velocities: Mapping[str, float], displacements: Mapping[str, float], now: float
    ) -> None:
        """Take velocities [rad/s or m/s] and displacements [rad or m] of joints, by name."""
        if not all(map(math.isfinite, [*velocities.values(), *displacements.values()])):
            return
        self._heard_at, self._velocities = now, dict(velocities)
        for name, way in displacements.items():
            self._steps[name] = self._steps.get(name, 0.0) + way

    def engage(self, view: NodeView, now: float) -> str:
        """Begin, at a time [s]: what was said before does not count."""
        self.fault, self._moved_at = '', now
        self._goal, self._steps, self._velocities = {}, {}, {}
        return ''

    def motion(self, view: NodeView, now: float) -> Motion | None:
        """Return where the joints are to be; None where nothing moves them."""
        passed = min(now - self._moved_at, LONGEST_STEP)
        self._moved_at = now
        if now - self._heard_at > self.timeout:
            self._velocities = {}
        ways = {name: v * passed for name, v in self._velocities.items() if v != 0.0}
        for name, way in self._steps.items():
            ways[name] = ways.get(name, 0.0) + way
        self._steps = {}
        joints = view.joints() if ways else {}
        for name, way in ways.items():
            if name not in joints:
                self.fault = f"joint '{name}' on {self._topic} is not one that is measured"
                return None
            measured = joints[name]
            goal = self._goal.get(name, measured) + way
            self._goal[name] = min(max(goal, measured - LEAD), measured + LEAD)
        self._goal = within(view.limits(), self._goal)
        return JointTarget(dict(self._goal)) if ways else None
