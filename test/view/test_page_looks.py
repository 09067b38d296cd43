"""How the page looks and feels, by its pixels and its accessibility tree: `make test-view`."""

import time

from browser import changed_pixels, chromium, is_blue, Page, PATIENCE, PICTURE, shown
from fabrik_ros import example_arm, load_urdf
from fabrik_ros.collision import ObstacleSource
from fabrik_ros.model.geometry import Box, Capsule, HalfSpace, Mesh, Sphere
from fabrik_ros.transforms import rotation_from_rpy, transform
from fabrik_ros.view.solid import Cells, Solid, Triangles
from fabrik_ros.view.source import Gap, Gripping, Request
import numpy as np
import pytest
from staged import Staged

sync_api = pytest.importorskip('playwright.sync_api', reason='playwright is not installed')

pytestmark = pytest.mark.long
sync_api.expect.set_options(timeout=1000.0 * PATIENCE)

SIZES = [(1500, 900), (800, 900), (400, 800)]
MAGENTA = (255, 0, 255)
LONG = 'the tool would come too near to the box on the left of the table, at 0.41 0.22 0.15; ' * 4


@pytest.fixture(scope='module')
def browser():
    with sync_api.sync_playwright() as playwright:
        browser = chromium(playwright)
        yield browser
        browser.close()


@pytest.fixture
def arm():
    return Staged()


def solid(shape, xyz=(0.0, 0.0, 0.0), source=ObstacleSource.FILE, link='', color=MAGENTA) -> Solid:
    place = transform(np.eye(3), xyz).ravel().tolist()
    return Solid('thing', source, link, shape, tuple(place), color)


def is_magenta(picture, green_share=0.45) -> np.ndarray:
    red, green, blue = np.moveaxis(picture, -1, 0)
    return (red > 90) & (blue > 90) & (green < green_share * red) & (np.abs(red - blue) < 60)


def wait_for_picture(page, holds) -> np.ndarray:
    end = time.monotonic() + PATIENCE
    while not holds(picture := page.picture()):
        assert time.monotonic() < end, 'the picture is never as it should be'
        page.page.wait_for_timeout(200)
    return picture


def at_rest(page) -> np.ndarray:
    """Return the picture once it stays."""
    page.page.wait_for_timeout(1000)
    before = page.picture()
    while changed_pixels(before, now := page.picture()) > 0:
        page.page.wait_for_timeout(500)
        before = now
    return now


def changed_area(a, b) -> int:
    """Count pixels that changed with all their neighbours."""
    changed = np.abs(a - b).max(axis=-1) > 25
    near = np.lib.stride_tricks.sliding_window_view(changed, (3, 3))
    return int(near.all(axis=(2, 3)).sum())


def go_to_joints(source, values) -> None:
    """Send joints somewhere, and wait until they are there: the page may miss a short motion."""
    source.send_joints(values)
    end = time.monotonic() + PATIENCE
    while max(abs(source.snapshot().measured[name] - q) for name, q in values.items()) > 1e-3:
        assert time.monotonic() < end, 'the joints do not come to where they are sent'
        time.sleep(0.05)


def test_colours_after_ten_moves_are_those_before(browser):
    from fabrik_ros.view.local_source import LocalSource

    robot = load_urdf(example_arm('six_axis'))
    source = LocalSource(robot, robot.chain())
    with shown(source) as address:
        page = Page(browser, address)
        page.wait_for_state('IDLE')
        before = at_rest(page)
        home = {name: source.snapshot().measured[name] for name in robot.chain().joint_names}
        for move in range(10):
            q = {name: value + 0.06 * ((move + k) % 3 - 1) for k, (name, value) in
                 enumerate(home.items())}  # fmt: skip
            go_to_joints(source, home if move == 9 else q)
            page.wait_for_state('REACHED')
        after = at_rest(page)
        assert changed_area(before, after) < 10
        assert page.errors == []
        page.page.close()


def test_commanded_arm_is_drawn_where_it_differs_and_only_there(browser, arm):
    arm.change(commanded=dict(arm.measured))
    with shown(arm) as address:
        page = Page(browser, address)
        page.wait_for_state('IDLE')
        alone = at_rest(page)
        elsewhere = {**arm.measured, 'wrist_3': arm.measured['wrist_3'] + 1.0}
        arm.change(commanded=elsewhere)  # round its own axis: nothing is elsewhere
        assert changed_area(alone, at_rest(page)) < 10
        arm.change(commanded={**arm.measured, 'elbow': arm.measured['elbow'] + 0.5})
        apart = wait_for_picture(page, lambda seen: changed_pixels(alone, seen) > 2000)
        orange = (apart[..., 0] > apart[..., 2] + 60) & (np.abs(apart - alone).max(axis=-1) > 40)
        assert orange.sum() > 1000
        # A motion that waits is shown instead: the arm is told to stay where it is.
        arm.change(commanded=dict(arm.measured))
        wait_for_picture(page, lambda seen: changed_area(alone, seen) < 10)
        arm.change(planned={'elbow': arm.measured['elbow'] + 0.5})
        wait_for_picture(page, lambda seen: changed_area(apart, seen) < 10)
        unfold(page, 'Show')
        page.box('arm as commanded').click()
        wait_for_picture(page, lambda seen: changed_area(alone, seen) < 10)
        page.page.close()


@pytest.mark.parametrize(('is_named', 'top'), [(False, 0.0), (True, 0.0), (True, -0.05)])
def test_table_and_ground_do_not_fight(browser, arm, is_named, top):
    link = arm.robot.root_link if is_named else ''  # as a node has it
    table = solid(Box((2.0, 2.0, 0.2)), (0.0, 0.0, top - 0.1), link=link)
    arm.change(solids=(table,) if is_named else (table, solid(HalfSpace())))
    with shown(arm) as address:
        page = Page(browser, address)
        page.wait_for_state('IDLE')
        with_floor = at_rest(page)
        unfold(page, 'Show')
        page.box('floor').click()
        sync_api.expect(page.box('floor')).not_to_be_checked()
        without = at_rest(page)
        assert not is_named or changed_pixels(with_floor, without) > 100  # of the floor around it
        table = is_magenta(without, 0.8)  # in full light
        assert table.sum() > 30_000
        inside = np.lib.stride_tricks.sliding_window_view(table, (5, 5)).all(axis=(2, 3))
        shines_through = np.abs(with_floor - without).max(axis=-1)[2:-2, 2:-2] > 15
        assert (inside & shines_through).sum() < 10
        page.page.close()


def projected(arm, view_camera, point) -> tuple[float, float]:
    """Where a point is in the picture, by a pinhole camera; the page is as large as its view."""
    position, centre, fov, size = view_camera
    ahead = (centre - position) / np.linalg.norm(centre - position)
    right = np.cross(ahead, (0.0, 0.0, 1.0))
    right /= np.linalg.norm(right)
    down = np.cross(ahead, right)
    to = np.asarray(point) - position
    focal = 0.5 * size[1] / np.tan(0.5 * fov)
    x = 0.5 * size[0] + focal * (to @ right) / (to @ ahead)
    y = 0.5 * size[1] + focal * (to @ down) / (to @ ahead)
    return x - PICTURE['x'], y - PICTURE['y']


BASE = [(-1, -1, -0.5), (1, -1, -0.5), (0, 1, -0.5)]
CORNERS = 0.04 * np.array([*BASE, BASE[0], BASE[2], (0, 0, 0.5), BASE[1], BASE[2], (0, 0, 0.5)])
THINGS = {
    'file': (Box((0.06, 0.06, 0.06)), ObstacleSource.FILE),
    'markers': (Sphere(0.06), ObstacleSource.MARKERS),
    'capsule': (Capsule(0.04, 0.08), ObstacleSource.FILE),
    'triangles': (Triangles(CORNERS.astype(np.float32).tobytes()), ObstacleSource.MARKERS),
    'cells': (
        Cells(
            np.array(
                [(0.02 * x, 0.02 * y, 0.0) for x in range(-3, 4) for y in range(-3, 4)],
                dtype=np.float32,
            ).tobytes(),
            (0.02, 0.02, 0.02),
        ),
        ObstacleSource.CELLS,
    ),
}


@pytest.mark.parametrize('thing', THINGS)
def test_obstacle_of_each_source_is_where_it_stands_and_goes(browser, arm, thing):
    shape, source = THINGS[thing]
    place = np.array([0.35, 0.35, 0.1])
    arm.change(solids=(solid(shape, place, source),))
    cameras = []
    with pytest.MonkeyPatch.context() as patch, shown_with_cameras(patch, arm, cameras) as address:
        page = Page(browser, address)
        page.wait_for_state('IDLE')
        picture = wait_for_picture(page, lambda seen: is_magenta(seen).sum() > 100)
        picture = at_rest(page)
        rows, columns = np.nonzero(is_magenta(picture))
        middle = 0.5 * (columns.min() + columns.max()), 0.5 * (rows.min() + rows.max())
        assert np.hypot(*np.subtract(middle, projected(arm, cameras[-1], place))) < 15.0
        arm.change(solids=())
        wait_for_picture(page, lambda seen: not is_magenta(seen).any())
        page.page.close()


@pytest.mark.parametrize('outcome', [{'refusal': 'too far'}, {'goal': '1', 'reason': 'no way'}])
def test_target_that_is_not_reached_stays_visible_until_the_arm_is_there(browser, arm, outcome):
    with shown(arm) as address:
        page = Page(browser, address)
        page.close_notice()
        page.wait_for_state('IDLE')
        at_tool = at_rest(page)
        numbers = [field.input_value() for field in page.fields('xyz [m]').all()]
        page.type_target(2, float(numbers[2]) - 0.15)
        page.wait_until(lambda: arm.targets)
        arm.change(state='HOLDING', **outcome)
        page.wait_for('asked: 150 mm and 0')
        elsewhere = at_rest(page)
        blue = [np.mean(np.nonzero(is_blue(seen))[0]) for seen in (at_tool, elsewhere)]
        assert blue[1] - blue[0] > 50  # the arrow of the handle is farther below
        arm.change(state='REACHED', goal='1', reason='', refusal='')
        wait_for_picture(page, lambda seen: changed_area(at_tool, seen) < 10)
        assert 'asked' not in page.status
        page.page.close()


@pytest.mark.parametrize(('width', 'height'), [(900, 700), (400, 800)])
def test_the_arm_is_looked_at_from_the_same_place_at_each_resolution(browser, arm, width, height):
    cameras, places = [], []
    with pytest.MonkeyPatch.context() as patch, shown_with_cameras(patch, arm, cameras) as address:
        for resolution in (1.0, 0.75, 2.0):
            page = Page(browser, address, width, height, resolution)
            page.wait_for_state('IDLE')
            at_rest(page)
            position, looked_at, _, size = cameras[-1]
            assert size[1] == height * resolution
            places.append((position, looked_at))
            page.page.close()
    np.testing.assert_allclose(places, [places[0]] * 3, atol=0.01)


def shown_with_cameras(patch, arm, cameras):
    """Show an arm, and note where the page looks from."""
    from fabrik_ros.view import camera

    look = camera.Camera._look

    def noted(self, client) -> None:
        look(self, client)
        eye = client.camera
        size = eye.image_width, eye.image_height
        cameras.append((np.array(eye.position), np.array(eye.look_at), eye.fov, size))

    patch.setattr(camera.Camera, '_look', noted)
    return shown(arm)


def test_mesh_is_drawn_by_its_file(browser, arm, tmp_path):
    trimesh = pytest.importorskip('trimesh')
    file = tmp_path / 'box.stl'
    trimesh.creation.box((100.0, 100.0, 100.0)).export(file)
    arm.change(solids=(solid(Mesh(file.as_uri(), (1e-3, 1e-3, 1e-3)), (0.1, 0.45, 0.1)),))
    with shown(arm, mesh_paths=(str(tmp_path),)) as address:
        page = Page(browser, address)
        page.wait_for_state('IDLE')
        wait_for_picture(page, lambda seen: is_magenta(seen).sum() > 300)
        page.page.close()


def test_what_a_link_carries_moves_with_it_and_can_be_hidden(browser, arm):
    arm.change(
        solids=(solid(Box((0.08, 0.08, 0.2)), (0.0, 0.0, 0.2), ObstacleSource.ATTACHED, 'tool0'),)
    )
    with shown(arm) as address:
        page = Page(browser, address)
        page.wait_for_state('IDLE')
        wait_for_picture(page, lambda seen: is_magenta(seen).sum() > 300)
        before = np.mean(np.nonzero(is_magenta(at_rest(page))), axis=1)
        arm.change(measured={**arm.measured, 'shoulder_pan': -0.5})
        wait_for_picture(
            page,
            lambda seen: np.hypot(*(np.mean(np.nonzero(is_magenta(seen)), axis=1) - before)) > 30,
        )
        unfold(page, 'Show')
        page.box('obstacles').click()
        wait_for_picture(page, lambda seen: not is_magenta(seen).any())
        page.page.close()


def test_each_button_asks_for_what_it_says(browser, arm):
    with shown(arm) as address:
        page = Page(browser, address, height=1200)
        page.wait_for_state('IDLE')
        buttons = page.page.get_by_role('button').all_inner_texts()
        named = [text.strip() for text in buttons if text.strip()]
        assert named[0] == 'Stop (space bar)'
        red, green, blue = color_of(page, page.button('Stop (space bar)'))
        assert red > 200
        assert max(green, blue) < 110
        for name, request in (
            ('Stop (space bar)', Request.STOP),
            ('Resume', Request.RESUME),
            ('Home', Request.HOME),
            ('Execute', Request.EXECUTE),
        ):
            page.button(name).click()
            page.wait_until(lambda request=request: arm.asked[-1:] == [request])
        assert len(arm.asked) == 4
        page.fields('speed [%]').fill('40')
        page.wait_until(lambda: arm.speeds[-1:] == [0.4])
        page.slider('elbow').focus()
        page.page.keyboard.press('ArrowRight')
        page.wait_until(lambda: arm.joints)
        step = arm.joints[-1]['elbow'] - arm.measured['elbow']
        assert step == pytest.approx(np.radians(0.1), abs=1e-3)
        assert page.errors == []
        page.page.close()


def test_gripper_has_its_place_once_there_is_one(browser, arm):
    with shown(arm) as address:
        page = Page(browser, address, height=1200)
        page.wait_for_state('IDLE')
        assert page.page.get_by_text('Gripper', exact=True).count() == 0
        arm.change(gripper=Gripping(0.05, 0.0, 0.08, 'REACHED'))
        page.page.get_by_text('Gripper', exact=True).wait_for()
        for name, width in (('Open', 0.08), ('Close', 0.0)):
            page.page.get_by_role('button', name=name, exact=True).click()
            page.wait_until(lambda width=width: arm.widths[-1:] == [width])
        slider = page.fields('width [mm]')
        assert slider.input_value() == '50'
        slider.fill('30')
        page.wait_until(lambda: arm.widths[-1:] == [0.03])
        arm.change(gripper=None)
        page.page.get_by_text('Gripper', exact=True).wait_for(state='hidden')
        assert page.errors == []
        page.page.close()


def color_of(page, button) -> np.ndarray:
    """Color of most of a button: red, green and blue."""
    return np.median(page.picture(button.bounding_box()), axis=(0, 1))


def test_buttons_that_the_arm_waits_for_are_blue(browser, arm):
    with shown(arm) as address:
        page = Page(browser, address, height=1200)
        page.wait_for_state('IDLE')

        def blue() -> list[str]:
            page.page.mouse.move(10, 10)
            colors = {name: color_of(page, page.button(name)) for name in named}
            return [name for name, (red, _, blue) in colors.items() if blue - red > 100]

        named = 'Resume', 'Home', 'Execute'
        page.wait_until(lambda: blue() == [])
        arm.change(state='HOLDING', is_held=True)
        page.wait_until(lambda: blue() == ['Resume'])
        arm.change(is_held=False, waits_for_execute=True)
        page.wait_until(lambda: blue() == ['Execute'])
        arm.change(state='MOVING', waits_for_execute=False)
        page.wait_until(lambda: blue() == [])
        page.page.close()


class FewChoices:
    """Words and places that a test changes, and what is asked of them."""

    def __init__(self) -> None:
        self.words = {'mode': ('auto', 'axis'), 'confirm': ('never', 'leaving_line', 'always')}
        self.present, self.configurations, self.asked = {'confirm': 'always'}, (), []

    def choose(self, name, word) -> None:
        self.asked.append((name, word))
        self.present = self.present | {name: word}

    def go_to(self, configuration) -> None:
        self.asked.append(configuration)


def test_words_can_be_chosen_and_configurations_be_gone_to(browser, arm):
    arm.choices = FewChoices()
    with shown(arm) as address:
        page = Page(browser, address, height=1500)
        page.wait_for_state('IDLE')
        unfold(page, 'How it moves')
        page.wait_for('Go to this configuration')
        go, confirm = page.button('Go to this configuration'), page.choice('confirm')
        sync_api.expect(confirm).to_have_value('always')
        sync_api.expect(page.choice('mode')).to_be_disabled()
        sync_api.expect(go).to_be_disabled()
        arm.choices.configurations = ('up', 'folded')
        sync_api.expect(go).to_be_enabled()
        page.choose('configuration', 'folded')
        go.click()
        page.choose('confirm', 'leaving_line')
        arm.choices.present = {'confirm': 'never', 'mode': 'axis'}
        sync_api.expect(confirm).to_have_value('never')
        sync_api.expect(page.choice('mode')).to_have_value('axis')
        assert arm.choices.asked == ['folded', ('confirm', 'leaving_line')]
        assert page.errors == []
        page.page.close()


def test_space_bar_stops_everywhere_but_in_text_fields(browser, arm):
    with shown(arm) as address:
        page = Page(browser, address, height=1200)
        page.wait_for_state('IDLE')
        unfold(page, 'Show')
        box = page.box('floor')
        places = [
            page.page.locator('canvas').first,
            page.button('Home'),
            page.button('Go there'),
            page.slider('elbow'),
            box,
            page.button('Stop (space bar)'),
        ]
        for number, place in enumerate(places):
            place.focus()
            page.page.keyboard.press('Space')
            page.wait_until(lambda number=number: len(arm.asked) > number)
        page.page.wait_for_timeout(300)
        assert arm.asked == [Request.STOP] * len(places)
        assert box.is_checked()
        assert arm.targets == []
        texts = page.choice('angles'), page.fields('elbow'), page.fields('xyz [m]').nth(0)
        for text in texts:
            text.focus()
            page.page.keyboard.press('Space')
        page.page.wait_for_timeout(500)
        assert len(arm.asked) == len(places)
        page.page.keyboard.down('Space')  # held down in the field, then elsewhere
        page.page.keyboard.up('Space')
        page.button('Home').focus()
        for _ in range(3):  # a key that is held down stops once
            page.page.keyboard.down('Space')
        page.page.keyboard.up('Space')
        page.page.wait_for_timeout(500)
        assert arm.asked == [Request.STOP] * (len(places) + 1)
        page.page.close()


def boxes(page) -> dict[str, tuple[float, ...]]:
    """Where all buttons, sliders and fields are."""
    found = {}
    for role in ('button', 'slider', 'textbox', 'status'):
        for number, element in enumerate(page.page.get_by_role(role).element_handles()):
            box = element.bounding_box()
            if box is not None:
                found[f'{role} {number}'] = tuple(
                    round(box[k]) for k in ('x', 'y', 'width', 'height')
                )
    return found


def settled_boxes(page) -> dict[str, tuple[float, ...]]:
    """Where they are once they stay."""
    before, now = {}, boxes(page)
    while now != before:
        page.page.wait_for_timeout(1000)
        before, now = now, boxes(page)
    return now


def unfold(page, name) -> None:
    """Open a part of the panel; what is in it can be clicked once it stays."""
    page.page.get_by_text(name, exact=True).click()
    settled_boxes(page)


@pytest.mark.parametrize(('width', 'height'), SIZES)
def test_sentences_that_wrap_move_nothing(browser, arm, width, height):
    with shown(arm) as address:
        page = Page(browser, address, width, height)
        page.wait_for_state('IDLE')
        page.close_notice()
        before = settled_boxes(page)
        assert all(x >= 0 and x + wide <= width for x, _, wide, _ in before.values())
        names = (
            'a_link_with_a_name_that_is_very_long, another_link_with_a_name_that_is_longer_still'
        )
        arm.change(
            state='HOLDING',
            reason=LONG,
            refusal=LONG,
            answer=LONG,
            to_obstacle=Gap(0.03, names, 0.02),
            to_itself=Gap(0.016, names, 0.002),
        )
        page.wait_for_state('HOLDING')
        page.wait_for('itself: 16 mm')
        page.page.wait_for_timeout(2500)  # until the events are listed
        assert boxes(page) == before
        assert page.errors == []
        page.page.close()


@pytest.mark.parametrize(('width', 'height'), SIZES)
def test_the_arm_fills_the_view_and_stop_is_seen_on_any_screen(browser, arm, width, height):
    with shown(arm) as address:
        page = Page(browser, address, width, height)
        page.wait_for_state('IDLE')
        page.close_notice()
        page.page.wait_for_timeout(2500)
        stop = page.button('Stop (space bar)')
        box = stop.bounding_box()
        assert box['x'] >= 0
        assert box['x'] + box['width'] <= width
        free = (width, box['y'] - 60) if width < 576 else (box['x'] - 20, height)
        picture = page.picture({'x': 0, 'y': 0, 'width': free[0], 'height': free[1]})
        colored = np.ptp(picture, axis=-1) > 25  # the arm and its handle; floor and sky are grey
        rows, columns = np.nonzero(colored)
        assert rows.min() > 0
        assert columns.min() > 0
        assert rows.max() < len(picture) - 1
        assert columns.max() < picture.shape[1] - 1
        shares = np.ptp(rows) / picture.shape[0], np.ptp(columns) / picture.shape[1]
        assert max(shares) > 0.4
        assert abs(rows.min() + rows.max() - len(picture)) < 0.3 * len(picture)  # in the middle
        # Stop stays where it is, however far one scrolls.
        page.page.mouse.move(box['x'] + 20, box['y'] + 100)
        page.page.mouse.wheel(0, 2000)
        page.page.wait_for_timeout(500)
        after = stop.bounding_box()
        assert abs(after['y'] - box['y']) < 12
        stop.click()
        page.wait_until(lambda: arm.asked == [Request.STOP])
        page.page.close()


@pytest.mark.parametrize(('width', 'height'), SIZES)
def test_numbers_are_not_cut_off(browser, arm, width, height):
    arm.change(measured=dict.fromkeys(arm.measured, -2.7315))
    with shown(arm) as address:
        page = Page(browser, address, width, height)
        page.wait_for_state('IDLE')
        for label, number in (('xyz [m]', '-0.368'), ('rpy [deg]', '-144.6')):
            for field in page.fields(label).all():
                field.fill(number)
        page.wait_until(lambda: page.fields('wrist_3').input_value() == '-156.5')
        fields = page.page.locator('input[type="text"]')
        cut_off = 'all => all.filter(f => f.scrollWidth > f.clientWidth).map(f => f.value)'
        assert fields.count() > 10
        assert fields.evaluate_all(cut_off) == []
        page.page.close()


ANGLES = 0.4, -0.3, 0.2


def test_angles_are_in_degrees_or_radians_with_three_digits(browser, arm):
    with shown(arm) as address:
        page = Page(browser, address, height=1200)
        page.wait_for_state('IDLE')
        elbow = arm.measured['elbow']
        assert float(page.fields('elbow').input_value()) == round(np.degrees(elbow), 1)
        unfold(page, 'Show')
        page.page.get_by_label('angles', exact=True).first.click()
        page.page.get_by_role('option', name='radians').click()
        page.wait_for('Joints [rad]')
        page.wait_for('rpy [rad]')
        assert float(page.fields('elbow').input_value()) == round(elbow, 3)
        values = [field.input_value() for field in page.fields('rpy [rad]').all()]
        assert all(len(value.partition('.')[2]) <= 3 for value in values)
        # What is typed is taken in the unit that is shown.
        for unit, sign, size in (('radians', 'rad', 1.0), ('degrees', 'deg', np.degrees(1.0))):
            page.choose('angles', unit)
            page.wait_for(f'rpy [{sign}]')
            for field, angle in zip(page.fields(f'rpy [{sign}]').all(), ANGLES, strict=True):
                field.fill(f'{angle * size:.3f}')
            count = len(arm.targets)
            page.button('Go there').click()
            page.wait_until(lambda count=count: len(arm.targets) > count)
            expected = rotation_from_rpy(*ANGLES)
            np.testing.assert_allclose(arm.targets[-1][:3, :3], expected, atol=2e-3)
            page.fields('elbow').fill(f'{0.7 * size:.3f}')
            page.wait_until(lambda: arm.joints and abs(arm.joints[-1]['elbow'] - 0.7) < 1e-3)
            arm.joints.clear()
        page.page.close()


def test_folds_that_are_opened_widen_nothing(browser, arm):
    with shown(arm) as address:
        page = Page(browser, address, height=1200)
        page.wait_for_state('IDLE')
        stop = page.button('Stop (space bar)')
        before = stop.bounding_box()
        for fold in ('Distances', 'Solve time', 'Show'):
            unfold(page, fold)
            page.page.wait_for_timeout(1500)
        after = stop.bounding_box()
        assert (after['x'], after['width']) == (before['x'], before['width'])
        assert page.errors == []
        page.page.close()


def test_the_last_minute_can_be_looked_at(browser, arm):
    arm.change(state='MOVING', reason='the first reason')
    with shown(arm) as address:
        page = Page(browser, address, height=1200)
        page.wait_for('the first reason')
        first = at_rest(page)
        page.page.wait_for_timeout(1000)
        arm.change(
            state='HOLDING', reason='another', measured={**arm.measured, 'shoulder_pan': -0.7}
        )
        page.wait_for('another')
        second = wait_for_picture(page, lambda seen: changed_pixels(first, seen) > 2000)
        page.page.wait_for_timeout(1500)
        bar = page.slider('seconds from now')
        bar.focus()
        page.page.keyboard.press('Home')
        page.wait_for('60.0 s ago')
        status = page.page.get_by_role('status')
        assert 'MOVING' in status.inner_text()
        assert 'the first reason' in status.inner_text()
        past = wait_for_picture(page, lambda seen: changed_pixels(second, seen) > 2000)
        # The arm is where it was; the handle is not there, as nobody can ask for the past.
        assert changed_pixels(first, past) < changed_pixels(second, past)
        page.button('Back to now').click()
        wait_for_picture(page, lambda seen: changed_area(second, seen) < 10)
        assert 'another' in status.inner_text()
        bar.focus()
        page.page.keyboard.press('Home')
        page.wait_for('60.0 s ago')
        page.page.keyboard.press('Space')  # a stop is of the present
        page.wait_until(lambda: arm.asked == [Request.STOP])
        page.wait_until(lambda: 's ago' not in status.inner_text())
        assert page.errors == []
        page.page.close()
