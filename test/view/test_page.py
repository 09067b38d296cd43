"""The page in a real browser: `make test-view`."""

import os
import threading
import time

from browser import chromium, Page, PATIENCE, shown
from fabrik_ros import example_arm, load_urdf
from fabrik_ros.collision import Obstacle, Scene
from fabrik_ros.model.geometry import Box
from fabrik_ros.transforms import transform
import numpy as np
import pytest

sync_api = pytest.importorskip('playwright.sync_api', reason='playwright is not installed')

pytestmark = pytest.mark.long


@pytest.fixture(scope='module')
def browser():
    with sync_api.sync_playwright() as playwright:
        browser = chromium(playwright)
        yield browser
        browser.close()


class Curtain:
    """A source that says nothing until it is open."""

    def __init__(self, source) -> None:
        self.source, self.is_open = source, False
        self.targets = []
        self.name = 'the arm behind the curtain'
        self.requests, self.has_speed = source.requests, source.has_speed
        self.choices, self.has_programs = source.choices, source.has_programs
        self.ask, self.set_speed = source.ask, source.set_speed
        self.send_joints, self.close = source.send_joints, source.close
        self.send_program = source.send_program
        self.send_width = source.send_width

    def snapshot(self):
        from fabrik_ros.view.source import Snapshot

        return self.source.snapshot() if self.is_open else Snapshot()

    def send_target(self, T) -> str:
        self.targets.append(T)
        return self.source.send_target(T)


@pytest.fixture
def arm():
    from fabrik_ros.planning.planner_setup import PlannerSetup
    from fabrik_ros.view.local_source import LocalSource

    robot = load_urdf(example_arm('six_axis'))
    chain = robot.chain()
    return Curtain(LocalSource(robot, chain, PlannerSetup(robot, chain).world(Scene())))


def tip(arm) -> np.ndarray:
    return pose_of_tip(arm.source)


def pose_of_tip(source) -> np.ndarray:
    """Pose of the tip by pinocchio, which shares no code with the package."""
    pinocchio = pytest.importorskip('pinocchio', reason='pinocchio judges the pose')
    snapshot = source.snapshot()
    model = pinocchio.buildModelFromXML(snapshot.robot.source)
    data = model.createData()
    q = np.array([snapshot.measured[name] for name in model.names[1:]])
    pinocchio.framesForwardKinematics(model, data, q)
    return data.oMf[model.getFrameId('tool0')].homogeneous


def test_arm_is_seen_and_goes_where_the_page_says(browser, arm):
    with shown(arm) as address:
        page = Page(browser, address)
        page.wait_for_state('NO DATA')
        page.page.wait_for_timeout(2000)
        empty = page.picture()
        arm.is_open = True
        page.wait_for_state('IDLE')
        still = page.wait_for_change(empty, 5000)
        wanted = tip(arm)[0, 3] - 0.1
        page.type_target(0, wanted)
        page.wait_for_state('MOVING')
        page.wait_for_state('REACHED')
        page.wait_for_change(still, 1000)
        assert tip(arm)[0, 3] == pytest.approx(wanted, abs=1e-3)
        page.type_target(2, 2.0)
        page.wait_for_state('HOLDING')
        page.wait_for('farther away than the arm is long', 5.0)
        page.wait_for('asked: ')
        page.type_target(2, 50.0)
        page.wait_for('refused: the target is')
        page.wait_for('asked: 4')  # and some metres away
        assert page.fields('xyz [m]').nth(2).input_value() == '50'
        assert page.fields('xyz [m]').nth(0).input_value() == f'{wanted:.3f}'.rstrip('0')
        assert page.errors == []
        page.page.close()


def test_robot_that_is_chosen_from_the_list_is_shown(browser):
    from fabrik_ros.view.gallery import Gallery, gallery_files

    gallery = Gallery(gallery_files(None), load_urdf, lambda robot, chain: (None, ''))
    with shown(gallery.source, gallery=gallery) as address:
        page = Page(browser, address)
        page.wait_for_state('READY')
        page.wait_for('wrist_3')
        before = page.picture()
        page.page.get_by_role('combobox', name='robot').click()
        page.page.get_by_role('option', name='planar_two_link').click()
        page.wait_for('elbow')
        page.wait_until(lambda: 'wrist_3' not in page.text)
        page.wait_for_change(before, 1000)
        assert page.errors == []
        page.page.close()


def test_dragging_the_handle_moves_the_arm(browser, arm):
    arm.is_open = True
    with shown(arm) as address:
        page = Page(browser, address)
        page.wait_for_state('IDLE')
        before = tip(arm)
        page.drag(
            page.grab_handle(),
            (4, 0),
            lambda: len(arm.targets) >= 3 and np.abs(arm.targets[-1] - before).max() > 0.04,
        )
        page.page.mouse.up()
        page.wait_for_state('REACHED')
        page.wait_until(lambda: np.abs(tip(arm) - arm.targets[-1]).max() < 2e-3)
        # An arrow moves the tool, an arc turns it: which one is caught depends on the view.
        assert np.abs(tip(arm) - before).max() > 0.03
        # Let go it is sent once more, however late that is drawn; then it says nothing.
        seen, since = len(arm.targets), time.monotonic()
        end = since + PATIENCE
        while time.monotonic() < since + 1.5:
            page.page.wait_for_timeout(20)
            if len(arm.targets) != seen:
                seen, since = len(arm.targets), time.monotonic()
            assert since < end, 'a handle that nobody drags goes on sending'
        assert page.errors == []
        page.page.close()


def test_a_drag_across_a_wall_arrives_once_the_mouse_lets_go(browser):
    from fabrik_ros.planning.planner_setup import PlannerSetup
    from fabrik_ros.view.local_source import LocalSource

    robot = load_urdf(example_arm('six_axis'))
    chain = robot.chain()
    wall = Obstacle('wall', Box((0.9, 0.02, 0.35)), transform(np.eye(3), (0.55, 0.0, 0.175)))
    source = LocalSource(robot, chain, PlannerSetup(robot, chain).world(Scene([wall])))
    with shown(source) as address:
        page = Page(browser, address)
        page.close_notice()
        for label, numbers in (('rpy [deg]', (180, 0, 0)), ('xyz [m]', (0.5, -0.3, 0.2))):
            for field, number in zip(page.fields(label).all(), numbers, strict=True):
                field.fill(str(number))
        page.button('Go there').click()
        page.wait_for_state('REACHED')
        page.page.wait_for_timeout(3000)
        beyond = page.fields('xyz [m]').nth(1)
        start = page.grab_green_arrow()
        page.drag(start, (3, 1.5), lambda: float(beyond.input_value()) >= 0.25)
        page.wait_for_state('HOLDING')
        assert 'wall' in page.status
        page.page.mouse.up()
        page.wait_for_state('REACHED')
        there = float(beyond.input_value())
        page.wait_until(
            lambda: np.allclose(pose_of_tip(source)[:3, 3], (0.5, there, 0.2), atol=3e-3)
        )
        assert page.errors == []
        page.page.close()


def test_silence_during_a_drag_is_said_and_no_old_target_is_sent(browser, arm):
    arm.is_open = True
    with shown(arm) as address:
        page = Page(browser, address)
        page.wait_for_state('IDLE')
        x, y = page.drag(page.grab_handle(), (4, 0), lambda: len(arm.targets) >= 3)
        arm.is_open = False
        assert page.wait_for_state('NO DATA', 2.0) < 2.0
        page.page.mouse.move(x + 30, y + 10)
        page.page.mouse.up()
        page.page.wait_for_timeout(500)
        assert not any(word in page.status for word in ('MOVING', 'REACHED', 'IDLE'))
        count = len(arm.targets)
        arm.is_open = True
        page.page.wait_for_timeout(2000)
        assert len(arm.targets) == count
        assert page.errors == []
        page.page.close()


def memory() -> int:
    """Memory of this process [bytes]."""
    with open('/proc/self/statm') as statm:
        return int(statm.read().split()[1]) * os.sysconf('SC_PAGESIZE')


def test_targets_at_100_hz_for_a_minute_leave_the_page_up_to_date(browser, arm):
    arm.is_open = True
    rate, seconds = 0.05, 60.0
    with shown(arm) as address:
        page = Page(browser, address)
        page.wait_for_state('IDLE')
        T, ends = tip(arm), threading.Event()

        def send() -> None:
            begin = time.monotonic()
            while not ends.wait(0.01):
                a = rate * (time.monotonic() - begin)
                turn = np.eye(4)
                turn[:2, :2] = [[np.cos(a), -np.sin(a)], [np.sin(a), np.cos(a)]]
                arm.source.send_target(turn @ T)

        sender = threading.Thread(target=send)
        sender.start()
        try:
            page.page.wait_for_timeout(1000.0 * seconds / 3)
            middle = memory()
            page.page.wait_for_timeout(1000.0 * seconds * 2 / 3)
            actual = arm.source.snapshot().measured['shoulder_pan']
            seen = np.radians(float(page.fields('shoulder_pan').input_value()))
            grown = memory() - middle
        finally:
            ends.set()
            sender.join()
        assert actual > 0.8 * rate * seconds  # it did follow
        assert (actual - seen) / rate <= 1.0
        assert grown < 20e6
        assert page.errors == []
        page.page.close()
