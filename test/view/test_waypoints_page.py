"""Waypoints and the path ahead in a real browser: `make test-view`."""

import re

from browser import chromium, Page, PATIENCE, shown
from fabrik_ros.programs.recorded_poses import poses_text
from fabrik_ros.transforms import pose_from_xyz_rpy
import numpy as np
import pytest
from staged import Staged
from test_page_looks import at_rest, boxes, LONG, settled_boxes, SIZES, unfold, wait_for_picture

sync_api = pytest.importorskip('playwright.sync_api', reason='playwright is not installed')

pytestmark = pytest.mark.long
sync_api.expect.set_options(timeout=1000.0 * PATIENCE)

WAY = [
    pose_from_xyz_rpy(xyz, (np.pi, 0.0, 0.0))
    for xyz in (
        (0.4, -0.3, 0.3),
        (0.5, 0.0, 0.3),
        (0.4, 0.3, 0.4),
        (0.3, 0.3, 0.5),
        (0.2, 0.3, 0.5),
    )
]


@pytest.fixture(scope='module')
def browser():
    with sync_api.sync_playwright() as playwright:
        browser = chromium(playwright)
        yield browser
        browser.close()


@pytest.fixture
def arm():
    return Staged()


def opened(browser, address, *size):
    """Open the page, and the part of it that has the waypoints."""
    page = Page(browser, address, *size)
    page.wait_for_state('IDLE')
    page.close_notice()
    unfold(page, 'Waypoints')
    page.button('Add waypoint').wait_for()
    return page


def load(page, poses):
    with page.page.expect_file_chooser() as chooser:
        page.button('Load').click()
    text = poses_text(poses).encode()
    chooser.value.set_files({'name': 'way.csv', 'mimeType': 'text/csv', 'buffer': text})
    page.close_notice()


@pytest.mark.parametrize(('width', 'height'), SIZES)
def test_waypoints_are_set_and_run_and_nothing_moves(browser, arm, width, height):
    with shown(arm) as address:
        page = opened(browser, address, width, height)
        before = settled_boxes(page)
        assert all(x >= 0 and x + wide <= width for x, _, wide, _ in before.values())
        sync_api.expect(page.button('Run')).to_be_disabled()
        page.button('Add waypoint').click()
        page.wait_for('1: ')
        load(page, WAY)
        page.wait_for('5: 0.200 0.300 0.500 m')
        page.button('Undo').click()
        sync_api.expect(page.button('Run')).to_be_enabled()
        page.page.wait_for_timeout(500)
        page.button('Run').click()
        page.wait_until(lambda: len(arm.programs) == 1)
        (step,) = arm.programs[0].steps
        assert step.name == 'move'
        arm.change(state='HOLDING', reason=LONG, refusal=LONG)
        page.wait_for_state('HOLDING')
        page.wait_for('1: ')
        arm.change(state='IDLE', reason='', refusal='')
        page.wait_for_state('IDLE')
        page.page.get_by_role('status').scroll_into_view_if_needed()
        assert len(boxes(page)) == len(before)
        sizes = [box[2:] for box in settled_boxes(page).values()]
        assert sizes == [box[2:] for box in before.values()]
        page.button('Clear').click()
        sync_api.expect(page.button('Run')).to_be_disabled()
        assert page.errors == []
        page.page.close()


def test_file_comes_back_as_it_was_loaded(browser, arm):
    with shown(arm) as address:
        page = opened(browser, address, 700, 900)
        load(page, WAY)
        page.wait_for('5: 0.200 0.300 0.500 m')
        with page.page.expect_download() as download:
            page.button('Save').click()
        with open(download.value.path(), newline='') as file:
            assert file.read() == poses_text(WAY)
        page.page.close()


def near(picture, rgb) -> int:
    """Count pixels of a colour."""
    return int((np.abs(picture - rgb).max(axis=-1) < 4).sum())


def legend_colors(page):
    """Return the colours of the legend's ends, 0 to 255."""
    gradient = page.page.locator('.fabrik-legend i').evaluate(
        'legend => getComputedStyle(legend).backgroundImage'
    )
    colors = [
        [float(part) for part in rgb.split(',')] for rgb in re.findall(r'rgb\(([^)]*)\)', gradient)
    ]
    return colors[0], colors[-1]


def test_path_ahead_is_seen_in_the_colours_of_the_legend(browser, arm):
    with shown(arm) as address:
        page = Page(browser, address)
        page.wait_for_state('IDLE')
        page.wait_for('path ahead: 0')
        alone = at_rest(page)
        path = np.array([(0.5, -0.5, 0.1), (0.5, 0.0, 0.1), (0.5, 0.5, 0.1)])
        speeds = np.array([0.0, 0.25])
        arm.change(state='MOVING', path=path, path_speeds=speeds, top_speed=0.25, speed=0.5)
        page.wait_for('125 mm/s')

        ends = legend_colors(page)

        def has_both(picture):
            return all(near(picture, rgb) > near(alone, rgb) + 100 for rgb in ends)

        wait_for_picture(page, has_both)
        page.page.close()
