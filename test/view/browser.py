"""Pages in a headless Chromium, and views in a thread."""

from collections.abc import Iterator
from contextlib import contextmanager
import io
import os
import shutil
import threading
import time

import numpy as np
import pytest

pytest.importorskip('viser', reason='the extra view is not installed: viser is missing')
pytest.importorskip('yourdfpy', reason='the extra view is not installed: yourdfpy is missing')

CHROMIUM = (
    os.environ.get('CHROMIUM') or shutil.which('chromium') or shutil.which('chromium-browser')
)
SOFTWARE = [
    '--no-sandbox',
    '--use-gl=angle',
    '--use-angle=swiftshader',
    '--enable-unsafe-swiftshader',
]
PICTURE = {'x': 0, 'y': 200, 'width': 550, 'height': 500}
"""Of the page: without the panel, and without what viser says of software rendering."""
PATIENCE = 120.0
"""Longest wait for anything, on a machine that draws without a graphics card [s]."""
FOLLOWING = 1.0
"""A step of a drag is followed by then, or moves the handle by less than its numbers show [s]."""


def chromium(playwright):
    """Start a browser, or skip the test with the reason."""
    if CHROMIUM is None:
        pytest.skip('there is no Chromium: apt install chromium, or set CHROMIUM to its path')
    return playwright.chromium.launch(executable_path=CHROMIUM, args=SOFTWARE)


@contextmanager
def shown(source, **options) -> Iterator[str]:
    """Show a source in a thread; gives the address."""
    from fabrik_ros.view.app import View

    view, ends = View(source, port=0, **options), threading.Event()
    thread = threading.Thread(target=view.run, args=(ends,))
    thread.start()
    try:
        yield view.address
    finally:
        ends.set()
        thread.join()
        view.close()
        source.close()


class Page:
    """
    A page of the view, and what went wrong on it.

    It draws so many pixels for each of its own: viser by itself draws fewer from then on where
    pictures take long, as without a graphics card; those that are compared have to be alike.
    """

    def __init__(
        self, browser, address: str, width: int = 900, height: int = 700, resolution: float = 1.0
    ) -> None:
        self.page = browser.new_page(viewport={'width': width, 'height': height})
        self.errors: list[str] = []
        self.page.on('console', self._on_console)
        self.page.on('pageerror', lambda error: self.errors.append(str(error)))
        self.page.set_default_timeout(1000.0 * PATIENCE)
        self.page.goto(f'{address}/?fixedDpr={resolution}')

    def _on_console(self, message) -> None:
        if message.type == 'error':
            self.errors.append(message.text)

    @property
    def text(self) -> str:
        return self.page.inner_text('body')

    def wait_for(self, text: str, seconds: float = PATIENCE) -> float:
        """Wait until a text is there; return how long that took [s]."""
        begin = time.monotonic()
        while text not in self.text:
            assert time.monotonic() - begin < seconds, f'no {text!r} in: {self.text[:500]}'
            self.page.wait_for_timeout(20)
        return time.monotonic() - begin

    @property
    def status(self) -> str:
        """What is said of the arm: in the list of events there is what was."""
        return self.page.get_by_role('status').inner_text()

    def wait_for_state(self, state: str, seconds: float = PATIENCE) -> float:
        """Wait until the arm is in a state; return how long that took [s]."""
        begin = time.monotonic()
        while not self.status.startswith(state):
            assert time.monotonic() - begin < seconds, f'not {state}: {self.status}'
            self.page.wait_for_timeout(20)
        return time.monotonic() - begin

    def picture(self, clip=PICTURE) -> np.ndarray:
        """Colors of the scene, shape (500, 550, 3), or of another part of the page."""
        from PIL import Image

        shot = self.page.screenshot(clip=clip)
        return np.asarray(Image.open(io.BytesIO(shot)).convert('RGB')).astype(int)

    def fields(self, label: str):
        """Find the fields of numbers beside a label."""
        row = f'xpath=//label[normalize-space(.)="{label}"]/ancestor::div[2]/..'
        return self.page.locator(row).first.locator('input[type="text"]')

    def slider(self, label: str):
        """Find what is moved of the slider with a label."""
        row = f'xpath=//label[normalize-space(.)="{label}"]/ancestor::div[2]/..'
        return self.page.locator(row).first.get_by_role('slider')

    def choice(self, label: str):
        """Find the list of words beside a label."""
        row = f'xpath=//label[normalize-space(.)="{label}"]/ancestor::div[2]/..'
        return self.page.locator(row).first.locator('input[aria-haspopup="listbox"]')

    def choose(self, label: str, word: str) -> None:
        self.choice(label).click()
        self.page.get_by_role('option', name=word, exact=True).click()

    def button(self, name: str):
        return self.page.get_by_role('button', name=name)

    def box(self, name: str):
        """Find a box that can be ticked."""
        return self.page.get_by_role('checkbox', name=name, exact=True)

    def type_target(self, axis: int, value: float) -> None:
        self.fields('xyz [m]').nth(axis).fill(f'{value:.3f}')
        self.button('Go there').click()

    def close_notice(self) -> None:
        """Take away what viser says of software rendering."""
        notice = self.page.locator('.mantine-Notification-closeButton')
        notice.first.wait_for(timeout=1000.0 * PATIENCE)
        notice.first.click()

    def grab_green_arrow(self) -> tuple[float, float]:
        """Press the mouse on the head of the green arrow that is up to the left; return where."""
        red, green, blue = np.moveaxis(self.picture(), -1, 0)
        is_green = (green > 200) & (red < 180) & (green - red > 50) & (green - blue > 30)
        rows, columns = np.nonzero(is_green)
        inside = np.argsort(rows + columns)[40]
        return self._press(PICTURE['x'] + columns[inside], PICTURE['y'] + rows[inside])

    def _press(self, x, y) -> tuple[float, float]:
        x, y = float(x), float(y)
        before = yellow_pixels(self.picture())
        self.page.mouse.move(x, y)
        # A part of the handle is yellow once it has noticed the mouse.
        self.wait_until(lambda: yellow_pixels(self.picture()) > before + 20)
        self.page.mouse.down()
        return x, y

    def drag(self, start, step, holds) -> tuple[float, float]:
        """
        Drag what is grabbed, from a place on by steps of pixels, until something holds.

        Each step waits until the handle has followed, however slowly that is drawn.
        """
        x, y = start
        end = time.monotonic() + PATIENCE
        while not holds():
            assert time.monotonic() < end, 'the handle does not go where it is dragged'
            before = self._target_numbers()
            x, y = x + step[0], y + step[1]
            self.page.mouse.move(x, y)
            follows_by = time.monotonic() + FOLLOWING
            while self._target_numbers() == before and time.monotonic() < follows_by:
                self.page.wait_for_timeout(20)
        return x, y

    def _target_numbers(self) -> list[str]:
        values = 'fields => fields.map(field => field.value)'
        return [
            value
            for label in ('xyz [m]', 'rpy [deg]')
            for value in self.fields(label).evaluate_all(values)
        ]

    def wait_until(self, holds, seconds: float = PATIENCE) -> None:
        end = time.monotonic() + seconds
        while not holds():
            assert time.monotonic() < end, 'what is waited for does not come'
            self.page.wait_for_timeout(20)

    def wait_for_change(self, picture: np.ndarray, pixels: int) -> np.ndarray:
        """Wait until so many pixels differ from a picture; return the new one."""
        end = time.monotonic() + PATIENCE
        while changed_pixels(picture, self.picture()) < pixels:
            assert time.monotonic() < end, 'the picture does not change'
            self.page.wait_for_timeout(500)
        return self.picture()

    def grab_handle(self) -> tuple[float, float]:
        """Press the mouse on the blue arrow of the handle; return where."""
        end = time.monotonic() + PATIENCE
        before, now = self.picture(), self.picture()
        while changed_pixels(before, now) > 0 or is_blue(now).sum() < 50:
            assert time.monotonic() < end, 'no handle at rest in the picture'
            self.page.wait_for_timeout(1000)
            before, now = now, self.picture()
        rows, columns = np.nonzero(is_blue(now))
        # Its head is the blue that is farthest to the right; 30 pixels inwards is safely in it.
        inside = np.argsort(columns)[-30]
        return self._press(PICTURE['x'] + columns[inside], PICTURE['y'] + rows[inside])


def changed_pixels(a: np.ndarray, b: np.ndarray) -> int:
    return int((np.abs(a - b).max(axis=-1) > 40).sum())


def is_blue(picture: np.ndarray) -> np.ndarray:
    """Find the arrow of the handle that is blue: links are less so."""
    red, green, blue = np.moveaxis(picture, -1, 0)
    return (blue > 190) & (red < 90) & (green < 170)


def yellow_pixels(picture: np.ndarray) -> int:
    red, green, blue = np.moveaxis(picture, -1, 0)
    return int(((red > 200) & (green > 190) & (red - blue > 60)).sum())
