"""
Draw the pictures of the page in rviz.md: `make pictures`.

A Chromium looks at a simulated arm, as `fabrik_ros run --no-ros` shows it, and at each state.

"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
import io
import os
from pathlib import Path
import shutil
import threading
import time

from fabrik_ros import example_arm, load_urdf
from fabrik_ros.collision import Obstacle, Scene
from fabrik_ros.model.geometry import Box, Cylinder, Sphere
from fabrik_ros.motion.follower_options import FollowerOptions
from fabrik_ros.planning.planner_setup import PlannerSetup
from fabrik_ros.programs.recorded_poses import poses_text
from fabrik_ros.transforms import pose_from_xyz_rpy, transform
from fabrik_ros.view.app import View
from fabrik_ros.view.local_source import LocalSource
from fabrik_ros.view.source import Request, Snapshot
import numpy as np
from PIL import Image
from playwright.sync_api import Browser, FloatRect, Page, sync_playwright

FOLDER = Path(__file__).parent / 'pictures'
CHROMIUM = os.environ.get('CHROMIUM') or shutil.which('chromium') or 'chromium-browser'
SOFTWARE = (
    '--no-sandbox',
    '--use-gl=angle',
    '--use-angle=swiftshader',
    '--enable-unsafe-swiftshader',
)
COLORS = 128
"""Of a picture: few make small files."""
PATIENCE = 120.0
"""Longest wait for a state, or for a picture [s]."""
SETTLING = 4000
"""Time until the picture is drawn, without a graphics card [ms]."""
FARTHER = 300
"""The wheel of the mouse goes so far to show what is above the arm, too [pixels]."""
DOWN = (np.pi, 0.0, -np.pi / 2.0)
WAY = ((0.45, -0.2, 0.5), (0.55, 0.05, 0.35), (0.45, 0.3, 0.5), (0.3, 0.35, 0.4))
"""Where the waypoints are [m]."""
ON_ITS_WAY = 0.6
"""A joint of the motion that waits is so far from where it is, when the picture is taken [rad]."""


def obstacle(name: str, shape: Box | Sphere | Cylinder, *xyz: float, link: str = '') -> Obstacle:
    return Obstacle(name, shape, transform(np.eye(3), np.array(xyz)), link)


SCENE = Scene(
    [
        obstacle('table', Box((1.5, 1.5, 0.04)), 0.25, 0.0, -0.021),
        obstacle('box', Box((0.2, 0.3, 0.22)), 0.45, -0.45, 0.11),
        obstacle('post', Cylinder(0.04, 0.7), -0.3, 0.5, 0.35),
        obstacle('ball', Sphere(0.09), 0.75, 0.45, 0.09),
        obstacle('gripper', Box((0.09, 0.05, 0.1)), 0.0, 0.0, 0.06, link='tool0'),
    ]
)


@contextmanager
def shown_arm() -> Iterator[tuple[LocalSource, str]]:
    """Show a simulated arm; gives it and the address of its page."""
    robot = load_urdf(example_arm('six_axis'))
    chain = robot.chain()
    world = PlannerSetup(robot, chain).world(SCENE)
    source = LocalSource(robot, chain, world, FollowerOptions(confirm='leaving_line'))
    view, ends = View(source, port=0), threading.Event()
    thread = threading.Thread(target=view.run, args=(ends,))
    thread.start()
    try:
        yield source, view.address
    finally:
        ends.set()
        thread.join()
        view.close()
        source.close()


def opened(browser: Browser, address: str, width: int, height: int) -> Page:
    """Open the page, without what viser says of software rendering."""
    page = browser.new_page(viewport={'width': width, 'height': height})
    page.set_default_timeout(1e3 * PATIENCE)
    page.goto(f'{address}/?fixedDpr=1')
    page.locator('.mantine-Notification-closeButton').first.click()
    return page


def wait_for(source: LocalSource, *states: str) -> None:
    """Wait until the arm is in one of some states."""
    wait_until(source, lambda snapshot: snapshot.state in states)


def wait_until(source: LocalSource, holds: Callable[[Snapshot], bool]) -> None:
    """Wait until something holds of the arm."""
    end = time.monotonic() + PATIENCE
    while not holds(source.snapshot()):
        if time.monotonic() > end:
            raise TimeoutError(f'that never came: {source.snapshot()}')
        time.sleep(0.05)


def is_on_its_way(snapshot: Snapshot) -> bool:
    """Whether the motion that waits is shown some way from its beginning."""
    apart = [abs(q - snapshot.measured[name]) for name, q in snapshot.planned.items()]
    return max(apart, default=0.0) > ON_ITS_WAY


def save(page: Page, name: str) -> None:
    """Save what the page shows once it is drawn."""
    settle(page)
    take(page, name)


def settle(page: Page) -> None:
    """Wait until what the page shows is drawn, and stays: it fades in."""
    before, now = b'', page.screenshot(clip=scene_of(page))
    end = time.monotonic() + PATIENCE
    while before != now:
        if time.monotonic() > end:
            raise TimeoutError('the picture never rests')
        page.wait_for_timeout(SETTLING)
        before, now = now, page.screenshot(clip=scene_of(page))


def scene_of(page: Page) -> FloatRect:
    """Return a part of the page that no panel covers."""
    assert page.viewport_size is not None
    width, height = page.viewport_size['width'], page.viewport_size['height']
    return {'x': 0, 'y': 0, 'width': min(width, 450), 'height': 0.35 * height}


def take(page: Page, name: str) -> None:
    """Save what the page shows now."""
    picture = Image.open(io.BytesIO(page.screenshot())).convert('RGB')
    # Refined, so that thin lines do not get the colors of large areas.
    few = picture.quantize(COLORS, kmeans=3, dither=Image.Dither.NONE)
    few.save(FOLDER / f'page_{name}.png', optimize=True)


def go_to(page: Page, x: float, y: float, z: float) -> None:
    """Type a position, and go there."""
    row = page.locator('xpath=//label[normalize-space(.)="xyz [m]"]/ancestor::div[2]/..').first
    for field, value in zip(row.locator('input').all(), (x, y, z), strict=True):
        field.fill(f'{value:.3f}')
    page.get_by_role('button', name='Go there').click()


def load_waypoints(page: Page) -> None:
    """Open the part of the panel that has the waypoints, and load a file of some."""
    page.get_by_text('Waypoints', exact=True).click()
    text = poses_text(pose_from_xyz_rpy(xyz, DOWN) for xyz in WAY)
    with page.expect_file_chooser() as chooser:
        page.get_by_role('button', name='Load').click()
    chooser.value.set_files({'name': 'way.csv', 'mimeType': 'text/csv', 'buffer': text.encode()})
    page.get_by_text(f'{len(WAY)}: ').wait_for()


def scrub(page: Page, seconds: float) -> None:
    """Go back in the last minute."""
    row = page.locator('xpath=//label[.="seconds from now"]/ancestor::div[2]/..').first
    row.locator('input[type="text"]').fill(f'{-seconds:.1f}')


def draw(browser: Browser, source: LocalSource, address: str) -> None:
    """Draw all states."""
    wait_for(source, 'IDLE')
    for name, width, height in (('tablet', 800, 900), ('phone', 400, 800)):
        page = opened(browser, address, width, height)
        save(page, name)
        page.close()
    page = opened(browser, address, 1300, 850)
    save(page, 'at_rest')
    load_waypoints(page)
    page.get_by_role('button', name='Run').click()
    wait_until(source, lambda snapshot: snapshot.waits_for_execute)
    source.set_speed(0.1)
    source.ask(Request.EXECUTE)
    wait_for(source, 'MOVING')
    page.wait_for_timeout(SETTLING)
    take(page, 'moving')
    source.set_speed(1.0)
    wait_for(source, 'REACHED')
    page.get_by_role('button', name='Clear').click()
    page.get_by_text('Waypoints', exact=True).click()
    go_to(page, 0.45, 0.35, 0.35)
    wait_for(source, 'MOVING')
    wait_for(source, 'REACHED')
    page.mouse.move(400, 400)
    page.mouse.wheel(0, FARTHER)
    go_to(page, -0.2, -0.4, 0.4)
    wait_for(source, 'HOLDING')
    page.wait_for_timeout(SETTLING)
    wait_until(source, lambda snapshot: not is_on_its_way(snapshot))
    wait_until(source, is_on_its_way)
    take(page, 'waiting')
    go_to(page, -0.2, -1.0, 0.4)
    wait_for(source, 'MOVING')
    wait_for(source, 'HOLDING')
    save(page, 'out_of_reach')
    page.get_by_role('button', name='Home').click()
    wait_until(source, lambda snapshot: snapshot.waits_for_execute)
    page.get_by_role('button', name='Execute').click()
    wait_for(source, 'MOVING')
    moving = time.monotonic()
    time.sleep(0.5)
    source.ask(Request.STOP)  # a click would come late where drawing takes long
    save(page, 'stopped')
    page.get_by_text('Distances').click()
    scrub(page, time.monotonic() - moving - 0.3)
    save(page, 'last_minute')


def main() -> None:
    with shown_arm() as (source, address), sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=list(SOFTWARE))
        draw(browser, source, address)
        browser.close()


if __name__ == '__main__':
    main()
