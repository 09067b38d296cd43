"""How the arm moves, and where it can go by name: below all that is asked more often."""

from collections.abc import Callable
import time

import viser

from .controls import QUIET
from .source import Choices

CHOOSING_TIME = 1.0
"""A word that somebody chose is left to them for so long [s]."""
NO_PLACE = 'none'
"""Shown where no place has a name."""


class ChoicesPanel:
    """
    A list for each thing that can be chosen, and one of the places.

    Parameters
    ----------
    server : viser.ViserServer
        Has the panel.
    choices : Choices
        What can be chosen.
    on_place : callable
        Takes the name of a place that somebody wants the arm to go to.

    """

    def __init__(
        self, server: viser.ViserServer, choices: Choices, on_place: Callable[[str], None]
    ) -> None:
        gui, self._choices = server.gui, choices
        self._chosen_at = -CHOOSING_TIME
        with gui.add_folder('How it moves', expand_by_default=False):
            self._place = gui.add_dropdown('configuration', (NO_PLACE,), disabled=True)
            self._go = gui.add_button('Go to this configuration', color=QUIET, disabled=True)
            self._lists = {
                name: gui.add_dropdown(name, words, disabled=True)
                for name, words in choices.words.items()
            }

        async def go(event: viser.GuiEvent) -> None:
            on_place(self._place.value)

        async def choose(event: viser.GuiEvent) -> None:
            if event.client is None:  # it was set from here
                return
            self._chosen_at = time.monotonic()
            for name, chosen in self._lists.items():
                if chosen is event.target:
                    choices.choose(name, chosen.value)

        self._go.on_click(go)
        for each in self._lists.values():
            each.on_update(choose)

    def show(self) -> None:
        """Show what is chosen now, and which places there are."""
        self._show_places(self._choices.configurations)
        if time.monotonic() - self._chosen_at < CHOOSING_TIME:
            return
        present = self._choices.present
        for name, shown in self._lists.items():
            word = present.get(name, shown.value)
            if shown.value != word:
                shown.value = word
            if shown.disabled is (name in present):
                shown.disabled = name not in present

    def _show_places(self, names: tuple[str, ...]) -> None:
        if self._place.options == (names or (NO_PLACE,)):
            return
        self._place.options = names or (NO_PLACE,)
        self._place.disabled = self._go.disabled = not names
