"""Obstacles from a file: the arm keeps clear of them and says why; judged by trigonometry."""

import sys

import pytest

pytest.importorskip('rclpy', reason='ROS 2 is not installed')
pytest.importorskip('coal', reason='coal measures the distances')

from bench import pose_message, values_at
import numpy as np
from test_changing_world import ARM, CLEARANCE, FAST, START

POST = 'obstacles: {post: {cylinder: [0.1, 1.0], xyz: [0.6, 0.6, 0.0]}}'
"""It stands where the stretched arm comes past."""
RADII = 0.15


def tip_at(q):
    a, b = q[0], q[0] + q[1]
    place = 0.5 * np.cos(a) + 0.4 * np.cos(b), 0.5 * np.sin(a) + 0.4 * np.sin(b), 0.0
    return pose_message(place, (0.0, 0.0, np.sin(b / 2), np.cos(b / 2)), 'base')


def gaps(q):
    """Distances [m] of both balls from the post, shape (2, m), on paper."""
    q = np.asarray(q).reshape(-1, 2)
    a, b = q[:, 0], q[:, 0] + q[:, 1]
    elbow = np.array([np.cos(a), np.sin(a)])
    balls = 0.4 * elbow, 0.5 * elbow + 0.4 * np.array([np.cos(b), np.sin(b)])
    return np.array([np.hypot(x - 0.6, y - 0.6) - RADII for x, y in balls])


@pytest.fixture
def start(bench, tmp_path):
    def start(text=POST, arm=ARM, **parameters):
        file = tmp_path / 'scene.yaml'
        file.write_text(text)
        bench.start_all(
            arm, values_at(('shoulder', 'elbow'), START), mode='position', scene=str(file),
            **parameters,
        )  # fmt: skip
        return bench

    return start


def test_arm_goes_round_a_post_and_names_what_is_nearest(start):
    bench = start(max_tip_speed=FAST)
    assert bench.status['obstacles'] == '1'
    bench.send(tip_at((1.5, -0.5)))
    bench.wait_for_state('REACHED')
    assert gaps(bench.commands.q).min() > CLEARANCE - 1e-4
    bench.wait_for_statuses(2)
    assert 'post' in bench.status['nearest_links']
    assert float(bench.status['nearest_clearance']) == CLEARANCE
    distance = float(bench.status['nearest_distance'])
    assert distance == pytest.approx(gaps(bench.commands.q[-1]).min(), abs=1e-4)


@pytest.mark.long
def test_target_inside_an_obstacle_moves_nothing_and_names_it(start):
    bench = start(on_unreachable='hold')
    bench.send(pose_message((0.6, 0.6, 0.0), (0.0, 0.0, 0.0, 1.0), 'base'))
    status = bench.wait_for_state('HOLDING')
    assert status['reason'].startswith("the target is in collision: 'lower' and 'post' would come")
    bench.wait_until_silent()
    assert len(bench.commands) == 0


@pytest.mark.long
def test_stream_is_stopped_in_front_of_an_obstacle(start):
    bench = start(path='line', stream_timeout=10.0)
    targets = [tip_at((a, 0.0)) for a in np.linspace(0.1, 1.5, 30)]
    for number, target in enumerate(targets):
        bench.send(target)
        bench.wait_for_count('accepted', number + 1)
    assert 'post' in bench.wait_for_state('HOLDING')['reason']
    bench.wait_until_silent(4)
    assert CLEARANCE - 1e-4 < gaps(bench.commands.q).min() < 0.2


@pytest.mark.long
def test_what_links_are_not_checked_for_obstacles_are(start):
    bench = start(self_collision='never', max_tip_speed=FAST)
    assert bench.status['self_collision'].startswith('off')
    bench.send(tip_at((1.5, -0.5)))
    bench.wait_for_state('REACHED')
    assert gaps(bench.commands.q).min() > CLEARANCE - 1e-4


def test_without_a_scene_no_obstacles_are_known_and_the_log_says_so_once(bench, capfd):
    bench.start_all(ARM, values_at(('shoulder', 'elbow'), START), mode='position')
    assert bench.status['obstacles'] == '0'
    assert capfd.readouterr().err.count('no obstacles known') == 1


def refused(bench, **parameters):
    bench.start_node(**parameters)
    bench.describe(ARM)
    bench.spin_until(lambda: bench.status.get('reason'), 'the reason')
    bench.wait_for_statuses(3)
    return bench.status['reason']


@pytest.mark.parametrize(
    ('text', 'said'),
    [
        (None, 'cannot be read'),
        pytest.param(
            'obstacles: {post: {box: [1, 2]}}',
            "obstacle 'post', box: expected 3 numbers",
            marks=pytest.mark.long,
        ),
        ('obstacles: {post: {sphere: 1, frame: lower}}', "frame 'lower' moves with joint"),
        pytest.param(
            'obstacles: {post: {sphere: 1, frame: lowr}}',
            "frame 'lowr'",
            marks=pytest.mark.long,
        ),
        pytest.param(
            'obstacles: {post: {mesh: no.stl}}',
            "obstacle 'post', no.stl: no such file",
            marks=pytest.mark.long,
        ),
    ],
)
def test_node_does_not_configure_with_a_scene_that_makes_no_sense(bench, tmp_path, text, said):
    file = tmp_path / 'scene.yaml'
    if text is not None:
        file.write_text(text)
    assert said in refused(bench, scene=str(file))


def test_node_does_not_configure_with_a_scene_but_without_coal(bench, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, 'coal', None)
    file = tmp_path / 'scene.yaml'
    file.write_text(POST)
    reason = refused(bench, scene=str(file))
    assert 'coal is not installed; cure: ' in reason
    assert 'scene.yaml' in reason
