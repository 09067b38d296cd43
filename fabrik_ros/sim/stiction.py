"""What a hand holds stays where it is held, as long as friction can hold it."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from ..transforms import Array

SLIDING = 0.95
"""Share of the greatest friction from which on things slide [1]."""

Pair = tuple[int, int]
"""Numbers of a hand and of a part."""
Pose = tuple[Array, Array]
"""Rotation, shape (3, 3), and position, shape (3,) [m]."""


class Stiction:
    """
    Dry friction between hands and parts.

    MuJoCo's own friction acts against velocities alone, and takes curves for straight lines: what
    a hand carries round a curve at 1 m/s creeps out of it by 5 mm a second. Here friction has
    springs too: a part is drawn back to where the hand took it, with no more than the friction
    there is. Where more is needed it slides, and is held where it comes to rest.

    `apply` goes between the two halves of MuJoCo's step, `look` after them. All contacts of parts
    have friction along two directions and about their normal.

    Parameters
    ----------
    model, data
        MuJoCo's.
    hands, parts : iterable of int
        Numbers of the bodies that hold, and of those that are held.
    friction : float
        Friction between the two [1].
    stiffness : float
        Acceleration for each unit of displacement [1/s^2].

    """

    def __init__(
        self,
        model: Any,
        data: Any,
        hands: Iterable[int],
        parts: Iterable[int],
        friction: float,
        stiffness: float,
    ) -> None:
        self._data, self._friction, self._stiffness = data, friction, stiffness
        self._body = np.array(model.geom_bodyid)
        self._is_hand = np.isin(self._body, list(hands))
        self._is_part = np.isin(self._body, list(parts))
        """Of which bodies geoms are."""
        self._held: dict[Pair, Pose] = {}
        """Where hands took parts: poses of these in the frames of those."""
        self._rows: dict[Pair, Any] = {}
        """First rows of the contacts of each pair among MuJoCo's constraints."""

    def forget(self) -> None:
        """Begin anew, with nothing held."""
        self._held.clear()
        self._rows.clear()

    def apply(self) -> None:
        """Draw parts back to where hands took them."""
        self._rows.clear()
        geoms = self._data.contact.geom
        if self._is_hand[geoms].any():
            self._apply(geoms)
        for pair in self._held.keys() - self._rows.keys():
            del self._held[pair]

    def _apply(self, geoms: Any) -> None:
        contacts = self._data.contact
        (first, second), (is_hand, is_other_hand) = self._body[geoms].T, self._is_hand[geoms].T
        is_part, is_other_part = self._is_part[geoms].T
        is_first, is_second = is_hand & is_other_part, is_other_hand & is_part
        touching: dict[Pair, list[int]] = {}
        for i in np.flatnonzero((is_first | is_second) & (contacts.efc_address >= 0)).tolist():
            a, b = int(first[i]), int(second[i])
            touching.setdefault((a, b) if is_first[i] else (b, a), []).append(i)
        for pair, numbers in touching.items():
            self._rows[pair] = rows = contacts.efc_address[numbers]
            if pair in self._held:
                self._draw_back(pair, numbers, rows, 1.0 if is_first[numbers[0]] else -1.0)
            else:
                self._held[pair] = self._now(pair)

    def _now(self, pair: Pair) -> Pose:
        (R_hand, p_hand), (R_part, p_part) = map(self._pose, pair)
        return R_hand.T @ R_part, R_hand.T @ (p_part - p_hand)

    def _pose(self, body: int) -> Pose:
        return self._data.xmat[body].reshape(3, 3), self._data.xpos[body]

    def _draw_back(self, pair: Pair, numbers: list[int], rows: Any, sense: float) -> None:
        """Change what MuJoCo's friction wants to reach; `sense` says which body comes first."""
        (R_hand, p_hand), (R_part, p_part) = map(self._pose, pair)
        R_held, p_held = self._held[pair]
        turned = R_part @ (R_hand @ R_held).T
        contacts = self._data.contact
        points, frames = contacts.pos[numbers], contacts.frame[numbers].reshape(-1, 3, 3)
        moved = points - (p_hand + R_hand @ p_held) - (points - p_part) @ turned
        axis = turned[[2, 0, 1], [1, 2, 0]] - turned[[1, 2, 0], [2, 0, 1]]
        wanted, stiffness = self._data.efc_aref, sense * self._stiffness
        along = (frames @ moved[:, :, None])[:, :, 0]
        wanted[rows + 1] -= stiffness * along[:, 1]
        wanted[rows + 2] -= stiffness * along[:, 2]
        wanted[rows + 3] -= stiffness * 0.5 * (frames[:, 0] @ axis)

    def look(self) -> None:
        """Let go what slides."""
        force = self._data.efc_force
        for pair, rows in self._rows.items():
            friction = np.hypot(force[rows + 1], force[rows + 2]).sum()
            if friction > SLIDING * self._friction * force[rows].sum():
                self._held.pop(pair, None)
