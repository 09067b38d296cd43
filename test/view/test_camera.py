"""Where a page looks from, by what its browser says of its camera."""

import asyncio
from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip('viser', reason='the extra view is not installed: viser is missing')

POINTS = np.array([(0.0, 0.0, 0.0), (0.4, 0.1, 0.9)])
PHONE, SCREEN = 0.5, 1.6
"""Aspects of pictures [1]."""


class Server:
    """A server with one page, whose camera says what a test lets it say."""

    def __init__(self, aspect) -> None:
        from fabrik_ros.view.camera import Camera

        self.initial_camera = SimpleNamespace()
        self._welcome, self._fits = [], []
        eye = SimpleNamespace(aspect=aspect, position=np.full(3, 3.0), look_at=np.zeros(3))
        eye.on_update = self._fits.append
        self.client = SimpleNamespace(client_id=1, camera=eye)
        self.camera = Camera(self)
        self.camera.look_at(POINTS)
        asyncio.run(self._welcome[0](self.client))

    def on_client_connect(self, callback) -> None:
        self._welcome.append(callback)

    def on_client_disconnect(self, callback) -> None:
        pass

    def get_clients(self) -> dict:
        return {}

    @property
    def place(self) -> np.ndarray:
        return np.array(self.client.camera.position)

    def hear(self, position, aspect) -> None:
        """Hear of the browser where its camera is."""
        self.client.camera.position, self.client.camera.aspect = np.array(position), aspect
        for fit in self._fits:
            asyncio.run(fit(self.client.camera))


def test_phone_that_goes_to_where_pages_begin_is_sent_to_its_own_place_again():
    server = Server(PHONE)
    place, start = server.place, server.initial_camera.position
    assert np.abs(place - start).max() > 0.1
    server.hear(start, PHONE)
    np.testing.assert_array_equal(server.place, place)


def test_camera_is_moved_where_the_picture_gets_another_shape_until_somebody_moves_it():
    server = Server(SCREEN)
    place = server.place
    server.hear(place, SCREEN + 0.001)  # as at another resolution
    np.testing.assert_array_equal(server.place, place)
    server.hear(place, PHONE)
    assert np.abs(server.place - place).max() > 0.1
    elsewhere = np.add(server.place, (0.0, 0.3, 0.0))
    server.hear(elsewhere, SCREEN)
    np.testing.assert_array_equal(server.place, elsewhere)


def test_arm_is_in_the_middle_of_a_narrow_picture_whose_panel_is_beside_it():
    server = Server(PHONE)
    below = server.place
    middle = 0.5 * (POINTS.min(axis=0) + POINTS.max(axis=0))
    assert server.client.camera.look_at[2] < middle[2] - 0.1
    server.camera.place_panel(server.client, False)
    np.testing.assert_allclose(server.client.camera.look_at, middle)
    server.camera.place_panel(server.client, True)
    np.testing.assert_array_equal(server.place, below)
    elsewhere = np.add(below, (0.0, 0.3, 0.0))
    server.hear(elsewhere, PHONE)
    server.camera.place_panel(server.client, False)
    np.testing.assert_array_equal(server.place, elsewhere)
