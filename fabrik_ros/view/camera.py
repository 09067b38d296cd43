"""Where one looks at an arm from."""

import math

import numpy as np
import viser

from ..transforms import Array

FIELD = math.radians(50.0)
"""Angle that the picture has from top to bottom [rad]."""
FROM = np.array([0.8, 0.8, 0.45]) / np.linalg.norm([0.8, 0.8, 0.45])
"""Direction to the camera: in front, to the left and above."""
RIGHT = np.array([-FROM[1], FROM[0], 0.0]) / np.hypot(*FROM[:2])
UP = np.cross(FROM, RIGHT)
"""Directions to the right and upwards in the picture."""
FILLED = 0.85
"""Share of the view that is filled, so that there is room for the next move [1]."""
WIDEST_PHONE = 0.62
"""
Pictures are at most so many times as wide as high on phones, where the panel is below [1].

It counts until the page has said where its panel is. Pixels do not tell: phones have several for
each of the page, and slow computers fewer.
"""
FREE_ON_PHONE = 0.4
"""Share of the height that a panel below leaves [1]."""
NEAREST = 0.05
"""A camera is at least so far away [m]."""
STIRRED = 0.01
"""A camera that is moved by more is somebody's own [m]."""
RESHAPED = 0.01
"""A picture whose aspect changes by a greater share is one of another shape [1]."""


class Camera:
    """
    Lets everybody see all of some points, until they look elsewhere.

    Parameters
    ----------
    server : viser.ViserServer
        Has the picture.

    """

    def __init__(self, server: viser.ViserServer) -> None:
        self._server = server
        self._points = np.zeros((1, 3))
        self._placed: dict[int, tuple[Array, float]] = {}
        """Where the camera of each client was put, and for which aspect [1]."""
        self._is_below: dict[int, bool] = {}
        """Whether the panel of each client is below its picture."""
        server.on_client_connect(self._welcome)
        server.on_client_disconnect(self._forget)

    def look_at(self, points: Array) -> None:
        """Look at points, shape (m, 3), in the root link [m]."""
        self._points = points
        start = self._server.initial_camera
        start.fov = FIELD
        start.position, start.look_at = self._places(1.0, 1.0)
        for client in self._server.get_clients().values():
            self._look(client)

    def place_panel(self, client: viser.ClientHandle, is_below: bool) -> None:
        """Take note that the panel of a client is below its picture, or beside it."""
        self._is_below[client.client_id] = is_below
        placed = self._placed.get(client.client_id)
        if placed is not None and _is_at(client.camera, placed[0]):
            self._look(client)

    async def _welcome(self, client: viser.ClientHandle) -> None:
        self._look(client)

        async def fit(camera: viser.CameraHandle) -> None:
            place, aspect = self._placed[client.client_id]
            is_there = _is_at(camera, place)
            is_reshaped = abs(camera.aspect / aspect - 1.0) > RESHAPED
            # A page that is slow to open goes where pages begin once it was put elsewhere.
            begins = not is_there and _is_at(camera, self._server.initial_camera.position)
            if begins or (is_there and is_reshaped):
                self._look(client)

        client.camera.on_update(fit)

    async def _forget(self, client: viser.ClientHandle) -> None:
        self._placed.pop(client.client_id, None)
        self._is_below.pop(client.client_id, None)

    def _look(self, client: viser.ClientHandle) -> None:
        camera = client.camera
        aspect = camera.aspect
        camera.fov = FIELD
        is_below = self._is_below.get(client.client_id, aspect < WIDEST_PHONE)
        place, looked_at = self._places(aspect, FREE_ON_PHONE if is_below else 1.0)
        self._placed[client.client_id] = place, aspect
        camera.position, camera.look_at = place, looked_at

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
        slope = FILLED * math.tan(0.5 * FIELD)
        centre = 0.5 * (self._points.min(axis=0) + self._points.max(axis=0))
        points = self._points - centre
        nearer = points @ FROM
        aside = np.abs(points @ RIGHT) / (slope * aspect)
        above = np.abs(points @ UP) / (slope * free)
        distance = float(np.max(nearer + np.maximum(aside, above))) + NEAREST
        looked_at = centre - (1.0 - free) * math.tan(0.5 * FIELD) * distance * UP
        return looked_at + distance * FROM, looked_at


def _is_at(camera: viser.CameraHandle, place: Array) -> bool:
    return bool(np.abs(camera.position - place).max() <= STIRRED)
