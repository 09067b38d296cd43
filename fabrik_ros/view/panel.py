"""The panel beside the picture: what the arm does and why, sliders, distance and solve time."""

from collections import deque
from collections.abc import Callable, Mapping
import html
import math
import time

import numpy as np
import viser

from ..model.robot import Robot
from ..motion.arm_state import UNDER_WAY
from ..transforms import Array, rotation_from_rpy, transform
from .source import Snapshot

SPAN = 30.0
"""What the plots show [s]."""
TYPING_TIME = 10.0
"""Numbers that somebody types are left to them for so long [s]."""
SLIDING_TIME = 1.0
"""A slider that somebody moved is left to them for so long [s]."""
SAMPLE_PERIOD = 0.1
"""Time between two points of a plot [s]."""
PLOT_PERIOD = 0.5
"""Time between two drawings of a plot [s]."""
WIDEST = 2.0 * math.pi
"""Sliders of joints without limits go so far to either side [rad or m]."""
GOOD, BUSY, BAD = '#1a7f37', '#1f6feb', '#b35900'
GOOD_STATES = ('IDLE', 'REACHED', 'READY', 'CONVERGED')


class Panel:
    """
    What is written and asked beside the picture.

    Parameters
    ----------
    server : viser.ViserServer
        Has the panel.
    on_target : callable
        Takes a target that was typed: T_base_target, shape (4, 4).
    on_joints : callable
        Takes joint values by name that were set by a slider [rad or m].

    """

    def __init__(
        self,
        server: viser.ViserServer,
        on_target: Callable[[Array], None],
        on_joints: Callable[[Mapping[str, float]], None],
    ) -> None:
        self._server, self._on_joints = server, on_joints
        self._status = server.gui.add_html('')
        self._said = ''
        with server.gui.add_folder('Target'):
            zeros = (0.0, 0.0, 0.0)
            self._xyz = server.gui.add_vector3('xyz [m]', zeros, step=0.001)
            self._rpy = server.gui.add_vector3('rpy [deg]', zeros, step=0.1)
            self._xyz.on_update(self._typed)
            self._rpy.on_update(self._typed)
            # Each key that is pressed changes a field: nobody means the numbers on the way.
            server.gui.add_button('Go there').on_click(self._go)
        self._on_target = on_target
        self._typed_at = -math.inf
        self._target: tuple[tuple[float, ...], ...] = ()
        """Position and angles that were written last."""
        empty = (np.zeros(1), np.zeros(1))
        self._distances = self._plot('nearest distance [mm]', empty)
        self._solve_times = self._plot('solve time [ms]', empty)
        self._samples: deque[tuple[float, float, float]] = deque(
            maxlen=round(SPAN / SAMPLE_PERIOD)
        )
        self._sampled = self._plotted = -math.inf
        self._folder: viser.GuiFolderHandle | None = None
        self._sliders: dict[str, viser.GuiSliderHandle[float]] = {}
        self._slid_at = -math.inf
        self._written: dict[str, float] = {}
        """Joint values that were written to the sliders last [rad or m]."""

    def add_joints(self, robot: Robot, values: Mapping[str, float]) -> None:
        """Make a slider for each joint that can be driven, instead of those before."""
        if self._folder is not None:
            self._folder.remove()
        self._folder = self._server.gui.add_folder('Joints [rad, m]')
        self._sliders, self._written = {}, {}
        with self._folder:
            for joint in robot.joints:
                if joint.type.is_drivable and joint.mimic is None:
                    low, high = max(joint.lower, -WIDEST), min(joint.upper, WIDEST)
                    value = min(max(values.get(joint.name, 0.0), low), high)
                    slider = self._server.gui.add_slider(joint.name, low, high, 0.001, value)
                    slider.on_update(self._slid)
                    self._sliders[joint.name] = slider

    def show(self, snapshot: Snapshot, now: float) -> None:
        """Show what is known, at a time of `time.monotonic` [s]."""
        self._say(_status_text(snapshot))
        if now - self._slid_at > SLIDING_TIME:
            self._move_sliders(snapshot.measured)
        self._sample(now, 1e3 * snapshot.nearest_distance, 1e3 * snapshot.solve_time)

    def _move_sliders(self, values: Mapping[str, float]) -> None:
        for name, slider in self._sliders.items():
            value = values.get(name, self._written.get(name, 0.0))
            if abs(value - self._written.get(name, math.inf)) > 1e-3:
                self._written[name] = value
                slider.value = min(max(value, slider.min), slider.max)

    def show_none(self, name: str, now: float) -> None:
        """Say that there are no data of something with a name; nothing else counts."""
        self._say(
            _headline('NO DATA', BAD) + f'<div>nothing is heard of {html.escape(name)}</div>'
        )
        self._sample(now, math.nan, math.nan)

    def show_target(self, T_base_target: Array) -> None:
        """Write where the target is."""
        xyz = tuple(round(float(x), 4) for x in T_base_target[:3, 3])
        rpy = tuple(round(math.degrees(a), 2) for a in _rpy(T_base_target[:3, :3]))
        is_typed = time.monotonic() - self._typed_at < TYPING_TIME
        if (xyz, rpy) != self._target and not is_typed:
            self._target = xyz, rpy
            self._xyz.value, self._rpy.value = xyz, rpy

    def say_once(self, text: str) -> None:
        """Add a remark that stays."""
        self._server.gui.add_html(f'<div style="padding:0.5em 1em">{html.escape(text)}</div>')

    def _say(self, text: str) -> None:
        if text != self._said:
            self._said = text
            self._status.content = f'<div style="padding:0.5em 1em">{text}</div>'

    # Callbacks run at once, in the thread of the server: values do not change meanwhile.

    async def _typed(self, event: viser.GuiEvent) -> None:
        if event.client is not None:  # else it was set from here
            self._typed_at = time.monotonic()

    async def _go(self, event: viser.GuiEvent) -> None:
        self._typed_at = -math.inf
        angles = np.radians(self._rpy.value)
        self._on_target(transform(rotation_from_rpy(*angles), np.array(self._xyz.value)))

    async def _slid(self, event: viser.GuiEvent) -> None:
        if event.client is None:
            return
        self._slid_at = time.monotonic()
        for name, slider in self._sliders.items():
            if slider is event.target:
                self._written.pop(name, None)  # it goes back where the arm does not go there
                self._on_joints({name: float(slider.value)})

    def _plot(self, title: str, data: tuple[Array, Array]) -> viser.GuiUplotHandle:
        series = (viser.uplot.Series(label='s'), viser.uplot.Series(label=title, stroke='#1f6feb'))
        return self._server.gui.add_uplot(
            data,
            series,
            title=title,
            scales={'x': viser.uplot.Scale(time=False, range=(-SPAN, 0.0))},
            legend=viser.uplot.Legend(show=False),
            height=110,
        )

    def _sample(self, now: float, distance: float, solve_time: float) -> None:
        if now - self._sampled >= SAMPLE_PERIOD:
            self._sampled = now
            self._samples.append((now, distance, solve_time))
        if now - self._plotted >= PLOT_PERIOD:
            self._plotted = now
            table = np.array(self._samples)
            table = table[table[:, 0] >= now - SPAN]
            ages = table[:, 0] - now
            self._distances.data = (ages, table[:, 1])
            self._solve_times.data = (ages, table[:, 2])


def _status_text(snapshot: Snapshot) -> str:
    state = snapshot.state
    color = GOOD if state in GOOD_STATES else BUSY if state in UNDER_WAY else BAD
    lines = [_headline(state, color)]
    if snapshot.reason:
        lines.append(f'<div>{html.escape(snapshot.reason)}</div>')
    if snapshot.refusal:
        lines.append(f'<div>refused: {html.escape(snapshot.refusal)}</div>')
    if math.isfinite(snapshot.nearest_distance):
        links = html.escape(snapshot.nearest_links)
        lines.append(f'<div>nearest: {1e3 * snapshot.nearest_distance:.0f} mm, {links}</div>')
    if math.isfinite(snapshot.solve_time):
        lines.append(f'<div>solve: {1e3 * snapshot.solve_time:.2f} ms</div>')
    return ''.join(lines)


def _headline(text: str, color: str) -> str:
    return f'<b style="color:{color}">{html.escape(text)}</b>'


def _rpy(R: Array) -> tuple[float, float, float]:
    """Roll, pitch and yaw [rad] of a rotation, shape (3, 3), as in URDF."""
    pitch = math.atan2(-R[2, 0], math.hypot(R[0, 0], R[1, 0]))
    if math.hypot(R[0, 0], R[1, 0]) < 1e-9:  # only the sum or difference of the others counts
        return math.atan2(-R[1, 2], R[1, 1]), pitch, 0.0
    return math.atan2(R[2, 1], R[2, 2]), pitch, math.atan2(R[1, 0], R[0, 0])
