"""The menu of a handle: what the node can be asked, and choices with a mark at the present one."""

from collections.abc import Callable, Mapping
from functools import partial

from interactive_markers.interactive_marker_server import InteractiveMarkerServer
from interactive_markers.menu_handler import MenuHandler

from ..motion.follower_options import CHOICES as OPTIONS
from ..solver.options import MODES

SERVICES = {'Home': 'home', 'Hold': 'hold', 'Resume': 'resume', 'Execute': 'execute'}
"""Service of the node behind each entry."""
CHOICES = {'path': OPTIONS['path'], 'mode': MODES}
"""What there is to choose from, by the parameter."""


class HandleMenu:
    """
    The menu of one handle.

    Parameters
    ----------
    on_service : callable
        Gets the name of the service that somebody asks for.
    on_choice : callable
        Gets the parameter and the value that somebody chooses.

    """

    def __init__(
        self, on_service: Callable[[str], None], on_choice: Callable[[str, str], None]
    ) -> None:
        self._menu = MenuHandler()
        self._entries: dict[tuple[str, str], int] = {}
        self._shown: dict[str, str] = {}
        for title, service in SERVICES.items():
            self._menu.insert(title, callback=lambda _, asked=service: on_service(asked))
        for parameter, values in CHOICES.items():
            parent = self._menu.insert(parameter.capitalize(), callback=lambda _: None)
            for value in values:
                choose = partial(on_choice, parameter, value)
                entry = self._menu.insert(
                    value, parent=parent, callback=lambda _, choose=choose: choose()
                )
                self._menu.setCheckState(entry, MenuHandler.UNCHECKED)
                self._entries[parameter, value] = entry

    def show(self, server: InteractiveMarkerServer, name: str, present: Mapping[str, str]) -> None:
        """Give a marker the menu with the present values by parameter, unless it has it."""
        if present == self._shown:
            return
        self._shown = dict(present)
        for (parameter, value), entry in self._entries.items():
            is_present = present.get(parameter) == value
            mark = MenuHandler.CHECKED if is_present else MenuHandler.UNCHECKED
            self._menu.setCheckState(entry, mark)
        self._menu.apply(server, name)
