"""What somebody wants to see, in boxes that can be ticked."""

from collections.abc import Callable
from dataclasses import fields

import viser

from .angles import AngleUnit
from .controls import QUIET
from .scene_view import Looks

TITLES = {
    'obstacles': 'obstacles',
    'clear_obstacles': 'see through obstacles',
    'ghost': 'arm as commanded',
    'path': 'path ahead',
    'chain': 'joints of the chain',
    'floor': 'floor',
}


class LooksPanel:
    """
    Boxes for what is seen, the unit of angles, and the whole arm in view.

    Parameters
    ----------
    server : viser.ViserServer
        Has the panel.
    on_looks : callable
        Takes what somebody wants to see.
    on_unit : callable
        Takes the unit that somebody wants.
    on_arm : callable
        Called when somebody wants to see the whole arm.

    """

    def __init__(
        self,
        server: viser.ViserServer,
        on_looks: Callable[[Looks], None],
        on_unit: Callable[[AngleUnit], None],
        on_arm: Callable[[], None],
    ) -> None:
        gui, defaults = server.gui, Looks()
        with gui.add_folder('Show', expand_by_default=False):
            whole = gui.add_button('The whole arm', color=QUIET)
            units = gui.add_dropdown('angles', tuple(unit.value for unit in AngleUnit))
            self._boxes = {
                field.name: gui.add_checkbox(TITLES[field.name], getattr(defaults, field.name))
                for field in fields(Looks)
            }

        async def look(event: viser.GuiEvent) -> None:
            on_looks(self.looks)

        async def choose(event: viser.GuiEvent) -> None:
            on_unit(AngleUnit(units.value))

        async def see_whole(event: viser.GuiEvent) -> None:
            on_arm()

        for box in self._boxes.values():
            box.on_update(look)
        units.on_update(choose)
        whole.on_click(see_whole)

    @property
    def looks(self) -> Looks:
        """What is ticked."""
        return Looks(**{name: bool(box.value) for name, box in self._boxes.items()})
