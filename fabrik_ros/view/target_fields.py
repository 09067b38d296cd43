"""The target in numbers."""

from collections.abc import Callable
import math
import time

import numpy as np
import viser

from ..transforms import Array, rotation_from_rpy, transform
from .angles import AngleUnit

TYPING_TIME = 20.0
"""Numbers that somebody types are left to them for so long [s]."""


class TargetFields:
    """
    Position and angles of the target, which count once a button is pressed.

    Parameters
    ----------
    server : viser.ViserServer
        Has the panel.
    on_target : callable
        Takes what was typed: T_base_target, shape (4, 4).

    """

    def __init__(self, server: viser.ViserServer, on_target: Callable[[Array], None]) -> None:
        self._on_target = on_target
        self._unit = AngleUnit.DEGREES
        self._pose: Array | None = None
        """What was written last, or typed, T_base_target."""
        self._typed_at = -math.inf
        with server.gui.add_folder('Target'):
            self._xyz = server.gui.add_vector3('xyz [m]', (0.0, 0.0, 0.0), step=0.001)
            self._rpy = server.gui.add_vector3(self._label, (0.0, 0.0, 0.0), step=0.1)
            self._rpy.precision = 3
            # Each key that is pressed changes a field: nobody means the numbers on the way.
            self._button = server.gui.add_button('Go there')
        self._xyz.on_update(self._typed)
        self._rpy.on_update(self._typed)
        self._button.on_click(self._go)

    @property
    def _label(self) -> str:
        return f'rpy [{self._unit.sign}]'

    def show(self, T_base_target: Array) -> None:
        """Write where the target is, unless somebody types or has typed it."""
        is_typed = time.monotonic() - self._typed_at < TYPING_TIME
        is_there = self._pose is not None and np.array_equal(T_base_target, self._pose)
        if not (is_typed or is_there):
            self._write(T_base_target)

    def release(self) -> None:
        """Take the numbers from whoever typed them: the handle is dragged."""
        self._typed_at = -math.inf

    def set_unit(self, unit: AngleUnit) -> None:
        """Write angles in another unit; what was typed is kept."""
        angles = np.array(self._rpy.value) / self._unit.size
        self._unit = unit
        self._rpy.label, self._rpy.step = self._label, unit.step
        self._rpy.value = _rounded(angles * unit.size, unit.digits)

    def _write(self, T: Array) -> None:
        self._pose = T
        self._xyz.value = _rounded(T[:3, 3], 3)
        self._rpy.value = _rounded(np.array(rpy(T[:3, :3])) * self._unit.size, self._unit.digits)

    def _entered(self) -> Array:
        angles = np.array(self._rpy.value) / self._unit.size
        return transform(rotation_from_rpy(*angles), np.array(self._xyz.value))

    # Callbacks run at once, in the thread of the server: values do not change meanwhile.

    async def _typed(self, event: viser.GuiEvent) -> None:
        if event.client is not None:  # else it was set from here
            self._typed_at = time.monotonic()

    async def _go(self, event: viser.GuiEvent) -> None:
        self._typed_at = -math.inf
        self._pose = self._entered()
        for field in (self._xyz, self._rpy):
            _send_again(field)
        self._on_target(self._pose)


def _send_again(field: viser.GuiVector3Handle) -> None:
    """Let the page show the numbers that count: while they were typed it may have got others."""
    x, y, z = field.value
    field.value = (x + 1.0, y, z)  # the same ones would not be sent
    field.value = (x, y, z)


def _rounded(values: Array, digits: int) -> tuple[float, float, float]:
    x, y, z = (round(float(value), digits) + 0.0 for value in values)
    return x, y, z


def rpy(R: Array) -> tuple[float, float, float]:
    """Roll, pitch and yaw [rad] of a rotation, shape (3, 3), as in URDF."""
    pitch = math.atan2(-R[2, 0], math.hypot(R[0, 0], R[1, 0]))
    if math.hypot(R[0, 0], R[1, 0]) < 1e-9:  # only the sum or difference of the others counts
        return math.atan2(-R[1, 2], R[1, 1]), pitch, 0.0
    return math.atan2(R[2, 1], R[2, 2]), pitch, math.atan2(R[1, 0], R[0, 0])
