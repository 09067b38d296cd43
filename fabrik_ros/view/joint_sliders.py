"""A slider for each joint, as wide as the panel."""

from collections.abc import Callable, Mapping
import math
import time
from typing import NamedTuple

import viser

from ..model.robot import Robot
from .angles import AngleUnit

SLIDING_TIME = 1.0
"""A slider that somebody moved is left to them for so long [s]."""
WIDEST = 2.0 * math.pi
"""Sliders of joints without limits go so far to either side [rad or m]."""


class Scale(NamedTuple):
    """What a slider shows of a joint value."""

    size: float
    """How many of its units there are in a radian, or a metre."""
    digits: int
    """Behind the point."""

    def shown(self, value: float) -> float:
        """Return what is shown of a joint value [rad or m]."""
        return round(value * self.size, self.digits) + 0.0


class JointSliders:
    """
    Shows where the joints are measured, and lets somebody set them.

    Parameters
    ----------
    server : viser.ViserServer
        Has the panel.
    on_joints : callable
        Takes joint values by name that were set [rad or m].

    """

    def __init__(
        self, server: viser.ViserServer, on_joints: Callable[[Mapping[str, float]], None]
    ) -> None:
        self._gui, self._on_joints = server.gui, on_joints
        self._place = server.gui.add_folder(None)
        self._folder: viser.GuiFolderHandle | None = None
        self._robot: Robot | None = None
        self._unit = AngleUnit.DEGREES
        self._sliders: dict[str, viser.GuiSliderHandle[float]] = {}
        self._scales: dict[str, Scale] = {}
        self._values: dict[str, float] = {}
        """Joint values that were shown last [rad or m]."""
        self._slid_at = -math.inf

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the joints that have one."""
        return tuple(self._sliders)

    def make(self, robot: Robot, values: Mapping[str, float]) -> None:
        """Make a slider for each joint that can be driven, instead of those before."""
        if self._folder is not None:
            self._folder.remove()
        self._robot, self._values = robot, dict(values)
        self._sliders, self._scales = {}, {}
        driven = [j for j in robot.joints if j.type.is_drivable and j.mimic is None]
        units = {'m' if j.type.is_prismatic else self._unit.sign for j in driven}
        with self._place:
            self._folder = self._gui.add_folder(f'Joints [{", ".join(sorted(units))}]')
        with self._folder:
            for joint in driven:
                turned = Scale(self._unit.size, self._unit.digits)
                scale = Scale(1.0, 3) if joint.type.is_prismatic else turned
                self._scales[joint.name] = scale
                self._add(joint.name, scale, max(joint.lower, -WIDEST), min(joint.upper, WIDEST))

    def _add(self, name: str, scale: Scale, lower: float, upper: float) -> None:
        step = 10.0**-scale.digits
        low = math.ceil(lower * scale.size / step - 1e-6) * step
        high = math.floor(upper * scale.size / step + 1e-6) * step
        low, high = round(low, scale.digits), round(max(high, low), scale.digits)
        value = min(max(scale.shown(self._values.get(name, 0.0)), low), high)
        slider = self._gui.add_slider(name, low, high, step, value, marks=())
        slider.on_update(self._slid)
        self._sliders[name] = slider

    def set_unit(self, unit: AngleUnit) -> None:
        """Show angles in another unit."""
        self._unit = unit
        if self._robot is not None:
            self.make(self._robot, self._values)

    def show(self, values: Mapping[str, float]) -> None:
        """Show joint values by name [rad or m], unless somebody moves a slider."""
        if time.monotonic() - self._slid_at < SLIDING_TIME:
            return
        self._values |= values
        for name, slider in self._sliders.items():
            shown = self._scales[name].shown(self._values.get(name, 0.0))
            shown = min(max(shown, slider.min), slider.max)
            if slider.value != shown:
                slider.value = shown

    # The callback runs at once, in the thread of the server: values do not change meanwhile.

    async def _slid(self, event: viser.GuiEvent) -> None:
        if event.client is None:  # it was set from here
            return
        self._slid_at = time.monotonic()
        for name, slider in self._sliders.items():
            if slider is event.target:
                self._on_joints({name: float(slider.value) / self._scales[name].size})
