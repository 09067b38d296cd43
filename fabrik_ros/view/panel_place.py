"""Where each page has its panel, which only the browser knows."""

from collections.abc import Callable

import viser

from .page_style import hidden, place_script


def on_panel_place(
    server: viser.ViserServer, take: Callable[[viser.ClientHandle, bool], None]
) -> None:
    """
    Let each page tell whether its panel is below the picture, when it opens and is resized.

    Parameters
    ----------
    server : viser.ViserServer
        Has the pages.
    take : callable
        Takes a page, and whether its panel is below the picture and not beside it.

    """
    for name, is_below in (('below', True), ('beside', False)):
        server.gui.add_html(hidden(name))
        server.gui.add_button(name).on_click(_telling(is_below, take))
    server.gui.add_html(place_script())


def _telling(
    is_below: bool, take: Callable[[viser.ClientHandle, bool], None]
) -> Callable[[viser.GuiEvent], object]:
    async def tell(event: viser.GuiEvent) -> None:
        if event.client is not None:
            take(event.client, is_below)

    return tell
