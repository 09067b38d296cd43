"""The part of the panel where waypoints are set, listed and run."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
import html

import viser

from ..transforms import Array
from .controls import LOUD, QUIET

MOST_BLEND, MOST_SPEED = 200, 5000
"""Greatest numbers that can be typed [mm], [mm/s]."""
FILE = 'waypoints.csv'
NONE = 'none'
"""Shown where none is chosen."""


@dataclass(frozen=True)
class WaypointActions:
    """What somebody does, each in the thread of the server."""

    add: Callable[[], None]
    undo: Callable[[], None]
    clear: Callable[[], None]
    run: Callable[[], None]
    choose: Callable[[int | None], None]
    load: Callable[[str, str], None]
    """Takes the text of a file, and its name."""
    text: Callable[[], str]
    """Makes the text of a file."""


class WaypointsPanel:
    """
    Buttons, how the waypoints are passed, and a list of them.

    Parameters
    ----------
    gui : viser.GuiApi
        Has the panel.
    actions : WaypointActions
        Take what somebody does.

    """

    def __init__(self, gui: viser.GuiApi, actions: WaypointActions) -> None:
        with gui.add_folder('Waypoints', expand_by_default=False):
            self._add = gui.add_button('Add waypoint', color=QUIET)
            gui.add_html('<span class="fabrik-row"></span>')
            self._undo = gui.add_button('Undo', color=QUIET, disabled=True)
            self._clear = gui.add_button('Clear', color=QUIET, disabled=True)
            self._run = gui.add_button('Run', color=LOUD, disabled=True)
            self._blend = gui.add_number('blend [mm]', 0, min=0, max=MOST_BLEND, step=5)
            self._speed = gui.add_number(
                'speed [mm/s]', 0, min=0, max=MOST_SPEED, step=10, hint='0: the greatest one'
            )
            self._choice = gui.add_dropdown('move waypoint', (NONE,), disabled=True)
            self._list = gui.add_html(_list_html((), None, ''))
            self._save = gui.add_button('Save', color=QUIET, disabled=True)
            self._load = gui.add_upload_button('Load', color=QUIET, mime_type='.csv,text/csv')
        for button, act in (
            (self._add, actions.add),
            (self._undo, actions.undo),
            (self._clear, actions.clear),
            (self._run, actions.run),
        ):
            button.on_click(_doing(act))

        async def choose(event: viser.GuiEvent) -> None:
            if event.client is not None:  # else it was set from here
                word = self._choice.value
                actions.choose(None if word == NONE else int(word) - 1)

        async def save(event: viser.GuiEvent) -> None:
            if event.client is not None:
                content = actions.text().encode()
                event.client.send_file_download(FILE, content, save_immediately=True)

        async def load(event: viser.GuiEvent) -> None:
            file = self._load.value
            actions.load(file.content.decode(errors='replace'), file.name)

        self._choice.on_update(choose)
        self._save.on_click(save)
        self._load.on_upload(load)

    @property
    def blend(self) -> float:
        """Distance within which they may be passed [m]."""
        return 0.001 * self._blend.value

    @property
    def speed(self) -> float | None:
        """Speed of the tip [m/s]; None: the greatest one."""
        return 0.001 * self._speed.value or None

    def show(self, poses: Sequence[Array], chosen: int | None, can_undo: bool, fault: str) -> None:
        """
        Show what is set.

        Parameters
        ----------
        poses : sequence of array, shape (4, 4)
            The waypoints.
        chosen : int or None
            Number of the one that has a handle, from 0 on.
        can_undo : bool
            Whether there is a change to take back.
        fault : str
            Why a file could not be read; '' where it could.

        """
        for button in (self._clear, self._run, self._save):
            _enable(button, bool(poses))
        _enable(self._undo, can_undo)
        names = (NONE, *(str(number + 1) for number in range(len(poses))))
        if self._choice.options != names:
            self._choice.options = names
            self._choice.disabled = not poses
        word = NONE if chosen is None else str(chosen + 1)
        if self._choice.value != word:
            self._choice.value = word
        content = _list_html(poses, chosen, fault)
        if self._list.content != content:
            self._list.content = content


def _doing(act: Callable[[], None]) -> Callable[[viser.GuiEvent], object]:
    async def do(event: viser.GuiEvent) -> None:
        act()

    return do


def _enable(button: viser.GuiButtonHandle, is_enabled: bool) -> None:
    if button.disabled is is_enabled:
        button.disabled = not is_enabled


def _list_html(poses: Sequence[Array], chosen: int | None, fault: str) -> str:
    rows = [f'<div>{html.escape(fault)}</div>'] if fault else []
    for number, T in enumerate(poses):
        x, y, z = (round(float(value), 3) + 0.0 for value in T[:3, 3])
        mark = ' class="chosen"' if number == chosen else ''
        rows.append(f'<div{mark}>{number + 1}: {x:.3f} {y:.3f} {z:.3f} m</div>')
    empty = '' if rows else '<div>none: they are added where the target is</div>'
    return (
        '<div class="fabrik-waypoints" tabindex="0" role="group" aria-label="List of waypoints">'
        f'{empty}{"".join(rows)}</div>'
    )
