"""A leader arm: the joints of the follower repeat its own, from where the follower is."""

from collections.abc import Mapping
import math

from .guides import Guide
from .node_view import JointApproach, JointTarget, Motion, NodeView, within
from .profile import Leader

FASTEST_JOINT = 15.0
"""What people can move a joint at [rad/s or m/s]."""
TREMBLE = 0.1
"""How far a joint may leap all the same [rad or m]: messages come in bursts."""
LEAPS = 2
"""So many leaps one after the other are no slip of an encoder: the clutch opens."""
FADING_TIME = 1.0
"""Time within which what leader and follower differ by at first is made up for [s]."""


class LeaderGuide(Guide):
    """
    Moves the joints of the follower as those of the leader.

    Parameters
    ----------
    leader : Leader
        Its topic, joints and rules.
    timeout : float
        Silence after which it counts as lost [s].

    """

    sends_targets = True

    def __init__(self, leader: Leader, timeout: float) -> None:
        super().__init__(timeout)
        self._leader = leader
        self._values: dict[str, float] = {}
        """Newest values that count, by the joint of the follower."""
        self._heard_at = -math.inf
        self._leaps = 0
        self._gaps: dict[str, float] = {}
        """What leader and follower differed by when the clutch closed."""
        self._closed_at = -math.inf
        self._is_closed = False
        self._approached: dict[str, float] = {}
        """Values that the follower is taken to before; none: it is there."""
        self._is_under_way = False
        """Whether it was told to go there."""
        self._at_limits: set[str] = set()
        """Joints of the follower that were said to stay at a limit since the clutch closed."""

    def hear_joints(self, values: Mapping[str, float], now: float) -> None:
        """Take values of the leader's joints, by name; messages without them do not count."""
        joints = self._leader.joints
        if not joints.keys() <= values.keys():
            return
        taken = {j.name: j.factor * values[name] + j.offset for name, j in joints.items()}
        if not all(map(math.isfinite, taken.values())):
            return
        passed, self._heard_at = now - self._heard_at, now
        leap = self._leap(taken, passed) if self._is_closed else ''
        if not leap:
            self._values, self._leaps = taken, 0
            return
        self._leaps += 1
        if self._leaps >= LEAPS:
            self._let_go(f"joint '{leap}' of the leader leapt")

    def _leap(self, taken: Mapping[str, float], passed: float) -> str:
        """Name a joint that cannot have moved so far within a time [s]; '' where none has."""
        most = TREMBLE + FASTEST_JOINT * passed
        leaping = (name for name, value in taken.items() if abs(value - self._values[name]) > most)
        return next(leaping, '')

    def engage(self, view: NodeView, now: float) -> str:
        """Close the clutch at a time [s], or take the follower to the leader first."""
        self.fault, self._leaps, self._approached, self._is_closed = '', 0, {}, False
        if not self._values or now - self._heard_at > self.timeout:
            return f'no joints of the leader on {self._leader.topic}'
        measured, goals = view.joints(), self._goals(view)
        unknown = next((name for name in self._values if name not in measured), '')
        if unknown:
            return f"joint '{unknown}' of the follower is not measured"
        far = self._far(goals, measured)
        if far and not self._leader.approach:
            gap = goals[far] - measured[far]
            return (
                f"leader and follower differ by {gap:.2f} at joint '{far}', more than "
                f'{self._leader.near:g}: bring the leader nearer'
            )
        if far:
            self._approached, self._is_under_way = goals, False
        else:
            self._close(goals, measured, now)
        return ''

    def release(self) -> None:
        """Open the clutch."""
        self._is_closed, self._approached = False, {}

    def motion(self, view: NodeView, now: float) -> Motion | None:
        """Return where the joints are to be."""
        if not self.fault and now - self._heard_at > self.timeout:
            self._let_go(f'no joints of the leader on {self._leader.topic}')
        if self._approached:
            return self._approach(view, now)
        if not self._is_closed:
            return None
        goals = self._goals(view)
        self._tell_limits(goals)
        if not self._leader.is_relative:
            share = max(0.0, 1.0 - (now - self._closed_at) / FADING_TIME)
            faded = {name: q - share * self._gaps[name] for name, q in goals.items()}
            goals = within(view.limits(), faded)
        return JointTarget(goals)

    def _approach(self, view: NodeView, now: float) -> Motion | None:
        """Take the follower to the leader; once it is near, close the clutch."""
        measured, goals = view.joints(), self._goals(view)
        if not self._far(goals, measured):
            self._approached = {}
            self._close(goals, measured, now)
            return None
        if self._differs(self._approached, goals):
            self._let_go('the leader moved while the follower was taken to it')
            return None
        if self._is_under_way:
            return None
        self._is_under_way = True
        return JointApproach(self._approached, self._leader.approach)

    def _close(
        self, goals: Mapping[str, float], measured: Mapping[str, float], now: float
    ) -> None:
        begin = self._values if self._leader.is_relative else goals
        self._gaps = {name: q - measured[name] for name, q in begin.items()}
        self._closed_at, self._is_closed = now, True
        self._at_limits.clear()

    def _far(self, goals: Mapping[str, float], measured: Mapping[str, float]) -> str:
        """Name the joint at which leader and follower differ too much; '' where none does."""
        return '' if self._leader.is_relative else self._differs(goals, measured)

    def _asked(self) -> Mapping[str, float]:
        """Where the leader wants the joints, whatever their limits."""
        if not (self._leader.is_relative and self._is_closed):
            return self._values
        return {name: q - self._gaps[name] for name, q in self._values.items()}

    def _goals(self, view: NodeView) -> dict[str, float]:
        """Where the joints can go for the leader: each stays at its limit beyond that."""
        return within(view.limits(), self._asked())

    def _tell_limits(self, goals: Mapping[str, float]) -> None:
        """Say of each joint once that it stays at its limit."""
        for name, q in self._asked().items():
            if goals[name] != q and name not in self._at_limits:
                self._at_limits.add(name)
                self.notices.append(
                    f"joint '{name}' stays at its limit, {goals[name]:.6g}; the others follow"
                )

    def _differs(self, some: Mapping[str, float], others: Mapping[str, float]) -> str:
        far = (n for n, q in some.items() if abs(q - others.get(n, math.inf)) > self._leader.near)
        return next(far, '')

    def _let_go(self, why: str) -> None:
        self.fault = why
        self.release()
