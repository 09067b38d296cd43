"""The list of robots that one can look at."""

import viser

from .gallery import Gallery


class RobotsPanel:
    """
    A list to choose a robot from.

    Parameters
    ----------
    server : viser.ViserServer
        Has the panel.
    gallery : Gallery
        Has the robots.

    """

    def __init__(self, server: viser.ViserServer, gallery: Gallery) -> None:
        robots = server.gui.add_dropdown('robot', gallery.names, initial_value=gallery.chosen)

        async def choose(event: viser.GuiEvent) -> None:
            gallery.choose(robots.value)

        robots.on_update(choose)
