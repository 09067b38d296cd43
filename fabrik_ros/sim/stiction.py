"""What a hand holds stays where it is held, as long as friction can hold it."""

from collections.abc import Iterable
from typing import Any

import mujoco
import numpy as np

from ..transforms import Array

PERIOD = 0.004
"""Time from one draw to the next [s]."""
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
    springs too: every few steps a part is drawn back to where the hand took it, with no more than
    the friction there is. Where more is needed it slides, and is held where it comes to rest.

    All contacts of parts have friction along two directions and about their normal.

    Parameters
    ----------
    model, data
        MuJoCo's.
    hands, parts : iterable of int
        Numbers of the bodies that hold, and of those that are held.
    friction : float
        Friction between the two [1].
    contact_time : float
        Time in which contacts of MuJoCo give way [s].

    """

    def __init__(
        self,
        model: Any,
        data: Any,
        hands: Iterable[int],
        parts: Iterable[int],
        friction: float,
        contact_time: float,
    ) -> None:
        self._model, self._data, self._friction = model, data, friction
        timestep = float(model.opt.timestep)
        self._steps = max(1, round(PERIOD / timestep))
        """Number of steps from one draw to the next."""
        # MuJoCo, too, takes contacts for softer where its steps are long.
        self._stiffness = self._steps / max(contact_time, 2.0 * timestep) ** 2
        """Acceleration for each unit of displacement, while parts are drawn [1/s^2]."""
        self._left = 0
        self._body = np.array(model.geom_bodyid)
        """Bodies of geoms."""
        self._is_hand = np.isin(self._body, list(hands))
        self._is_part = np.isin(self._body, list(parts))
        self._held: dict[Pair, Pose] = {}
        """Where hands took parts: poses of these in the frames of those."""
        self._rows: dict[Pair, Any] = {}
        """First rows of the contacts of each pair among MuJoCo's constraints."""

    def forget(self) -> None:
        """Begin anew, with nothing held."""
        self._held.clear()
        self._left = 0

    def step(self) -> None:
        """Make a step of MuJoCo."""
        if self._left > 0:
            self._left -= 1
            mujoco.mj_step(self._model, self._data)
            return
        self._left = self._steps - 1
        mujoco.mj_step1(self._model, self._data)
        self._draw()
        mujoco.mj_step2(self._model, self._data)
        self._let_go()

    def _draw(self) -> None:
        """Draw parts back to where hands took them."""
        self._rows.clear()
        geoms = self._data.contact.geom
        if self._is_hand[geoms].any():
            self._draw_pairs(geoms)
        for pair in self._held.keys() - self._rows.keys():
            del self._held[pair]

    def _draw_pairs(self, geoms: Any) -> None:
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
                self._draw_back(pair, numbers, rows, np.where(is_first[numbers], 1.0, -1.0))
            else:
                self._held[pair] = self._now(pair)

    def _now(self, pair: Pair) -> Pose:
        (R_hand, p_hand), (R_part, p_part) = map(self._pose, pair)
        return R_hand.T @ R_part, R_hand.T @ (p_part - p_hand)

    def _pose(self, body: int) -> Pose:
        return self._data.xmat[body].reshape(3, 3), self._data.xpos[body]

    def _draw_back(self, pair: Pair, numbers: list[int], rows: Any, senses: Array) -> None:
        """Change what MuJoCo's friction wants to reach; senses say which body comes first."""
        (R_hand, p_hand), (R_part, p_part) = map(self._pose, pair)
        R_held, p_held = self._held[pair]
        turned = R_part @ (R_hand @ R_held).T
        contacts = self._data.contact
        points, frames = contacts.pos[numbers], contacts.frame[numbers].reshape(-1, 3, 3)
        moved = points - (p_hand + R_hand @ p_held) - (points - p_part) @ turned
        axis = turned[[2, 0, 1], [1, 2, 0]] - turned[[1, 2, 0], [2, 0, 1]]
        wanted, stiffness = self._data.efc_aref, senses * self._stiffness
        along = (frames @ moved[:, :, None])[:, :, 0]
        wanted[rows + 1] -= stiffness * along[:, 1]
        wanted[rows + 2] -= stiffness * along[:, 2]
        wanted[rows + 3] -= stiffness * 0.5 * (frames[:, 0] @ axis)

    def _let_go(self) -> None:
        """Let go what slides."""
        force = self._data.efc_force
        for pair, rows in self._rows.items():
            friction = np.hypot(force[rows + 1], force[rows + 2]).sum()
            if friction > SLIDING * self._friction * force[rows].sum():
                self._held.pop(pair, None)
