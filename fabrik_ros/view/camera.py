"""Where one looks at an arm from."""

import math

import numpy as np
import viser

from ..transforms import Array

FIELD = math.radians(50.0)
"""Angle that the picture has from top to bottom [rad]."""
FROM = np.array([0.8, 0.8, 0.45]) / np.linalg.norm([0.8, 0.8, 0.45])
"""Direction to the camera: in front, to the left and above."""
UP = np.cross(FROM, np.cross((0.0, 0.0, 1.0), FROM)) / np.hypot(*FROM[:2])
"""Direction that is upwards in the picture."""
WIDEST_PHONE = 576
"""Pages that are less wide have their panel below the picture [pixels]."""
FREE_ON_PHONE = 0.4
"""Share of the height that the panel leaves there [1]."""
LEAST_RADIUS = 0.05
"""Of what is looked at [m]."""


class Camera:
    """
    Lets everybody see a whole ball.

    Parameters
    ----------
    server : viser.ViserServer
        Has the picture.

    """

    def __init__(self, server: viser.ViserServer) -> None:
        self._server = server
        self._centre, self._radius = np.zeros(3), 1.0
        server.on_client_connect(self._look)

    def look_at(self, centre: Array, radius: float) -> None:
        """Look at a ball: its centre, shape (3,), in the root link [m], and its radius [m]."""
        self._centre, self._radius = centre, max(radius, LEAST_RADIUS)
        start = self._server.initial_camera
        start.fov = FIELD
        start.position, start.look_at = self._places(1.0, 1.0)
        for client in self._server.get_clients().values():
            self._look(client)

    def _look(self, client: viser.ClientHandle) -> None:
        camera = client.camera
        free = FREE_ON_PHONE if camera.image_width < WIDEST_PHONE else 1.0
        camera.fov = FIELD
        camera.position, camera.look_at = self._places(camera.aspect, free)

    def _places(self, aspect: float, free: float) -> tuple[Array, Array]:
        """
        Where a camera is, and what it looks at, each of shape (3,) [m].

        Parameters
        ----------
        aspect : float
            The picture is so many times as wide as high [1].
        free : float
            Share of its height, from the top, that no panel covers [1].

        """
        slope = math.tan(0.5 * FIELD)
        distance = self._radius / math.sin(math.atan(slope * min(free, aspect)))
        looked_at = self._centre - (1.0 - free) * slope * distance * UP
        return looked_at + distance * FROM, looked_at
