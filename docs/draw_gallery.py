"""
Draw the picture of gallery.md: `make pictures`.

Each arm is shown as `fabrik_ros run --no-ros` shows it, and looked at by a Chromium.

"""

from importlib import metadata
import io
from pathlib import Path
import threading

from draw_page import CHROMIUM, FOLDER, opened, settle, SOFTWARE, wait_for
from fabrik_ros import load_urdf
from fabrik_ros.collision import Scene
from fabrik_ros.motion.follower_options import FollowerOptions
from fabrik_ros.planning.planner_setup import PlannerSetup
from fabrik_ros.view.app import View
from fabrik_ros.view.local_source import LocalSource
from PIL import Image, ImageDraw, ImageFont
from playwright.sync_api import Browser, sync_playwright

ARMS = {
    'UR5': ('ur_description/urdf/ur5_robot.urdf', 'tool0'),
    'Franka Panda': ('panda_description/urdf/panda.urdf', ''),
    'xArm 7': ('xarm_description/urdf/xarm7.urdf', ''),
    'Kinova Jaco': ('kinova_description/robots/kinova.urdf', ''),
    'Unitree Z1': ('z1_description/urdf/z1.urdf', ''),
    'SO-101': ('so_arm_description/urdf/so101.urdf', ''),
}
"""File and tip link of each; '' for the only one."""
WINDOW = 1300, 800
WITHOUT_PANELS = 190, 20, 960, 790
"""Part of the window that is taken: left, upper, right, lower [pixels]."""
TILE = 240, 240
"""Of the picture of an arm [pixels]."""
ROWS, COLUMNS = 2, 3
COLORS = 48
LABEL = 13
"""Size of the letters [pixels]."""


def robots() -> Path:
    """Folder of example-robot-data as pip installs it."""
    distribution = metadata.distribution('example-robot-data')
    return Path(distribution.locate_file('cmeel.prefix/share/example-robot-data/robots'))


def looked_at(browser: Browser, path: Path, tip_link: str) -> Image.Image:
    """Show an arm where it is at first, and take its picture."""
    robot = load_urdf(path)
    chain = robot.chain(tip_link=tip_link)
    world = PlannerSetup(robot, chain).world(Scene())
    source = LocalSource(robot, chain, world, FollowerOptions())
    view, ends = View(source, port=0), threading.Event()
    thread = threading.Thread(target=view.run, args=(ends,))
    thread.start()
    try:
        wait_for(source, 'IDLE')
        page = opened(browser, view.address, *WINDOW)
        settle(page)
        picture = Image.open(io.BytesIO(page.screenshot())).convert('RGB')
        page.close()
    finally:
        ends.set()
        thread.join()
        view.close()
        source.close()
    return picture.crop(WITHOUT_PANELS).resize(TILE, Image.Resampling.LANCZOS)


def main() -> None:
    width, height = TILE
    whole = Image.new('RGB', (COLUMNS * width, ROWS * height))
    draw, font = ImageDraw.Draw(whole), ImageFont.load_default(LABEL)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=list(SOFTWARE))
        for number, (name, (path, tip_link)) in enumerate(ARMS.items()):
            place = number % COLUMNS * width, number // COLUMNS * height
            whole.paste(looked_at(browser, robots() / path, tip_link), place)
            draw.text((place[0] + LABEL, place[1] + LABEL), name, 'black', font)
        browser.close()
    few = whole.quantize(COLORS, kmeans=3, dither=Image.Dither.NONE)
    few.save(FOLDER / 'gallery.png', optimize=True)


if __name__ == '__main__':
    main()
