"""A clutch between a hand and the tool: relative to where it closed, whatever leaps."""

import math

import numpy as np

from ..transforms import (
    Array,
    inverse,
    rotation_from_rpy,
    rotation_from_vector,
    rotation_vector,
    transform,
)
from .guides import Guide
from .node_view import Call, Motion, NodeView, ToolTarget
from .profile import Hand

FASTEST_HAND, FASTEST_TURN = 3.0, 15.0
"""What a hand can do [m/s], [rad/s]."""
TREMBLE, TREMBLE_TURN = 0.05, 0.3
"""How far a tracked hand may leap all the same [m], [rad]: messages come in bursts."""
LEAPS = 2
"""So many leaps one after the other are no slip of the tracker: the clutch opens."""


class Clutch:
    """
    Moves a tool as a hand moves, from where both are when it closes.

    Parameters
    ----------
    hand : Hand
        Scale and axes.
    T_hand, T_base_tool : array, shape (4, 4)
        Poses of hand and tool when it closes.

    """

    def __init__(self, hand: Hand, T_hand: Array, T_base_tool: Array) -> None:
        self._hand, self._T_hand, self._T_tool = hand, T_hand, T_base_tool
        self._R = rotation_from_rpy(*hand.align)

    def target(self, T_hand: Array) -> Array:
        """Pose T_base_tool of the tool, shape (4, 4), for one of the hand."""
        hand, begin, tool = self._hand, self._T_hand, self._T_tool
        if hand.in_tool:
            T = inverse(begin) @ T_hand
            way, turn = tool[:3, :3] @ self._R @ T[:3, 3], self._turned(T[:3, :3])
            return transform(tool[:3, :3] @ turn, tool[:3, 3] + hand.scale * way)
        way = self._R @ (T_hand[:3, 3] - begin[:3, 3])
        turn = self._turned(T_hand[:3, :3] @ begin[:3, :3].T)
        return transform(turn @ tool[:3, :3], tool[:3, 3] + hand.scale * way)

    def _turned(self, R: Array) -> Array:
        """Turn of the tool, shape (3, 3), for one of the hand."""
        turned: Array = self._R @ R @ self._R.T
        if self._hand.rotation_scale == 1.0:
            return turned
        return rotation_from_vector(self._hand.rotation_scale * rotation_vector(turned))


class HandGuide(Guide):
    """
    Moves the tool as a tracked hand moves.

    Parameters
    ----------
    hand : Hand
        Its topic, scale and axes.
    timeout : float
        Silence after which it counts as lost [s].

    """

    sends_targets = True

    def __init__(self, hand: Hand, timeout: float) -> None:
        super().__init__(timeout)
        self._hand = hand
        self._T: Array | None = None
        """Newest pose that counts, shape (4, 4)."""
        self._frame = ''
        self._heard_at, self._stamp = -math.inf, 0.0
        self._leaps = 0
        self._clutch: Clutch | None = None
        self._rest: Motion | Call | None = None
        """What brought the arm to rest since the clutch opened; None: nothing yet."""

    def rest(self, view: NodeView) -> Motion | Call:
        """Let the tool rest, and no other of the arm's: a stop would end what those do."""
        if self._rest is None:
            T_base_tool = view.rest_pose()
            self._rest = super().rest(view) if T_base_tool is None else ToolTarget(T_base_tool)
        return self._rest

    def hear_pose(self, T: Array, frame: str, now: float, stamp: float = 0.0) -> None:
        """
        Take a pose of the hand.

        Parameters
        ----------
        T : array, shape (4, 4)
            The pose.
        frame : str
            What it is in.
        now, stamp : float
            When it came, and when it was so; 0 where that is not said [s].

        """
        said = stamp - self._stamp if stamp and self._stamp else 0.0
        passed = min(max(now - self._heard_at, said), self.timeout)
        self._heard_at, self._stamp = now, stamp
        if self._clutch is None or self._T is None:
            self._T, self._frame = T, frame
        elif frame != self._frame:
            self._let_go(f"the hand was tracked in '{self._frame}', and now in '{frame}'")
        elif leap := _leap(self._T, T, passed):
            self._leaps += 1
            if self._leaps >= LEAPS:
                self._let_go(f'the tracked hand leapt by {leap}')
        else:
            self._T, self._leaps = T, 0

    def engage(self, view: NodeView, now: float) -> str:
        """Close the clutch at a time [s]."""
        self.fault, self._leaps, self._clutch, self._rest = '', 0, None, None
        if self._T is None or now - self._heard_at > self.timeout:
            return f'no pose of the hand on {self._hand.pose}'
        T_base_tool = view.tool_pose()
        if T_base_tool is None:
            return 'it is not known where the tool is'
        self._clutch = Clutch(self._hand, self._T, T_base_tool)
        return ''

    def release(self) -> None:
        """Open the clutch."""
        self._clutch = None

    def motion(self, view: NodeView, now: float) -> Motion | None:
        """Return where the tool is to be."""
        if not self.fault and now - self._heard_at > self.timeout:
            self._let_go(f'no pose of the hand on {self._hand.pose}')
        if self._clutch is None or self._T is None:
            return None
        return ToolTarget(self._clutch.target(self._T))

    def _let_go(self, why: str) -> None:
        self.fault, self._clutch = why, None


def _leap(before: Array, after: Array, passed: float) -> str:
    """Say how far a hand moved that cannot have within a time [s]; '' where it can."""
    way = math.dist(before[:3, 3], after[:3, 3])
    turn = float(np.linalg.norm(rotation_vector(after[:3, :3] @ before[:3, :3].T)))
    if way > TREMBLE + FASTEST_HAND * passed:
        return f'{way:.2f} m'
    return f'{turn:.2f} rad' if turn > TREMBLE_TURN + FASTEST_TURN * passed else ''
