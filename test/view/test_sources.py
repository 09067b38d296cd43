"""What the page shows and asks for, without a browser."""

import argparse
from pathlib import Path
import socket
import subprocess
import sys
import time

from fabrik_ros import example_arm, load_urdf
from fabrik_ros.collision import Obstacle, Scene
from fabrik_ros.errors import CollisionUnavailableError
from fabrik_ros.model.bent_pose import bent_configuration
from fabrik_ros.model.geometry import Box
from fabrik_ros.motion.follower_options import FollowerOptions
from fabrik_ros.planning.planner_setup import PlannerSetup
from fabrik_ros.programs.waypoints import Waypoints
from fabrik_ros.view.local_source import LocalSource
from fabrik_ros.view.solver_source import SolverSource, start_values
from fabrik_ros.view.source import Request, Snapshot, TIMEOUT
import numpy as np
import pytest

ROBOT = load_urdf(example_arm('six_axis'))
CHAIN = ROBOT.chain()
SEEN = 10.0
"""What a source does is seen within this time [s]."""


def values(snapshot: Snapshot) -> np.ndarray:
    return np.array([snapshot.measured[name] for name in CHAIN.joint_names])


def tip(snapshot: Snapshot) -> np.ndarray:
    return CHAIN.forward_kinematics(values(snapshot))


def wait_until(holds) -> None:
    end = time.monotonic() + SEEN
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.02)


@pytest.fixture
def moving():
    source = LocalSource(ROBOT, CHAIN)
    yield source
    source.close()


def test_snapshot_without_robot_or_with_old_data_counts_for_nothing():
    assert not Snapshot(time=10.0).is_fresh(10.0)
    assert Snapshot(10.0, ROBOT).is_fresh(10.0 + TIMEOUT)
    assert not Snapshot(10.0, ROBOT).is_fresh(10.1 + TIMEOUT)


def test_solved_arm_stands_at_its_target_at_once():
    source = SolverSource(ROBOT, CHAIN)
    T = tip(source.snapshot())
    T[0, 3] -= 0.1
    source.send_target(T)
    snapshot = source.snapshot()
    np.testing.assert_allclose(tip(snapshot), T, atol=2e-4)
    assert (snapshot.state, snapshot.reason) == ('CONVERGED', '')
    assert 0.0 < snapshot.solve_time < 1.0


def test_solved_arm_says_how_far_a_target_out_of_reach_is():
    source = SolverSource(ROBOT, CHAIN)
    T = tip(source.snapshot())
    T[2, 3] = 2.0
    source.send_target(T)
    snapshot = source.snapshot()
    assert snapshot.state == 'TOO_FAR'
    distance = 1e3 * np.linalg.norm(tip(snapshot)[:3, 3] - T[:3, 3])
    assert snapshot.reason.startswith(f'{distance:.1f} mm and ')


def test_sliders_place_joints_of_the_solved_arm():
    source = SolverSource(ROBOT, CHAIN)
    source.send_joints({'elbow': 0.7})
    assert source.snapshot().measured['elbow'] == 0.7


def test_simulated_arm_goes_to_a_target_and_says_so(moving):
    wait_until(lambda: moving.snapshot().state == 'IDLE')
    T = tip(moving.snapshot())
    T[0, 3] -= 0.05
    moving.send_target(T)
    wait_until(lambda: moving.snapshot().state == 'MOVING')
    wait_until(lambda: moving.snapshot().state == 'REACHED')
    wait_until(lambda: np.allclose(tip(moving.snapshot()), T, atol=1e-3))
    assert moving.snapshot().refusal == ''
    assert len(moving.snapshot().path) > 1


def test_simulated_arm_refuses_what_is_no_target_and_stays_alive(moving):
    wait_until(lambda: moving.snapshot().state == 'IDLE')
    moving.send_target(np.full((4, 4), np.nan))
    wait_until(lambda: 'is no pose' in moving.snapshot().refusal)
    moving.send_joints({'elbow': 100.0})
    wait_until(lambda: 'elbow' in moving.snapshot().refusal)
    before = moving.snapshot().time
    wait_until(lambda: moving.snapshot().time > before)


def test_simulated_arm_stops_and_refuses_until_it_may_go_on(moving):
    wait_until(lambda: moving.snapshot().state == 'IDLE')
    T = tip(moving.snapshot())
    T[0, 3] -= 0.3
    moving.send_target(T)
    wait_until(lambda: moving.snapshot().state == 'MOVING')
    moving.ask(Request.STOP)
    wait_until(lambda: moving.snapshot().is_held)
    assert moving.snapshot().goal == ''
    moving.send_target(T)
    wait_until(lambda: moving.snapshot().refusal)
    wait_until(lambda: moving.snapshot().state == 'HOLDING')
    assert np.linalg.norm(tip(moving.snapshot())[:3, 3] - T[:3, 3]) > 0.05
    # The last target was refused a moment ago, and counts as a stream that has to pause.
    time.sleep(1.3)
    moving.ask(Request.RESUME)
    wait_until(lambda: not moving.snapshot().is_held)
    moving.ask(Request.HOME)
    wait_until(lambda: moving.snapshot().state == 'REACHED')
    home = [start_values(ROBOT, CHAIN, None)[name] for name in CHAIN.joint_names]
    wait_until(lambda: np.allclose(values(moving.snapshot()), home, atol=1e-3))


def test_simulated_arm_has_a_speed_and_says_what_it_refuses(moving):
    wait_until(lambda: moving.snapshot().state == 'IDLE')
    moving.set_speed(0.0)
    moving.ask(Request.EXECUTE)
    wait_until(lambda: moving.snapshot().answer.startswith('refused: '))
    T = tip(moving.snapshot())
    T[0, 3] -= 0.05
    moving.send_target(T)
    wait_until(lambda: 'speed_scaling is 0' in moving.snapshot().reason)
    assert moving.snapshot().answer == ''
    moving.set_speed(1.0)
    wait_until(lambda: moving.snapshot().state == 'REACHED')
    assert moving.snapshot().speed == 1.0


def test_simulated_arm_goes_through_waypoints_and_says_how_fast_or_where_it_cannot(moving):
    wait_until(lambda: moving.snapshot().state == 'IDLE')
    begin, waypoints = tip(moving.snapshot()), Waypoints()
    for y in (0.1, -0.05):
        T = begin.copy()
        T[1, 3] += y
        waypoints.add(T)
    moving.send_program(waypoints.program(0.02, 0.1))
    wait_until(lambda: moving.snapshot().state == 'MOVING' and len(moving.snapshot().path) > 5)
    ahead = moving.snapshot()
    assert len(ahead.path_speeds) == len(ahead.path) - 1
    assert ahead.top_speed == FollowerOptions.max_tip_speed
    assert 0.09 < ahead.path_speeds.max() < 0.101
    np.testing.assert_allclose(ahead.path[-1], T[:3, 3], atol=1e-3)
    wait_until(lambda: moving.snapshot().state == 'REACHED')
    wait_until(lambda: np.allclose(tip(moving.snapshot()), T, atol=3e-3))
    T = T.copy()
    T[2, 3] += 3.0
    waypoints.add(T)
    moving.send_program(waypoints.program())
    wait_until(lambda: 'segment 3 (line)' in moving.snapshot().reason)
    assert moving.snapshot().state == 'HOLDING'


def test_simulated_arm_plays_the_motion_that_waits_until_it_is_executed():
    source = LocalSource(ROBOT, CHAIN, options=FollowerOptions(confirm='always'))
    try:
        wait_until(lambda: source.snapshot().state == 'IDLE')
        assert source.snapshot().planned == {}
        begin = source.snapshot().measured['elbow']
        source.send_joints({'elbow': begin + 0.5})
        wait_until(lambda: source.snapshot().planned.get('elbow', begin) > begin + 0.45)
        wait_until(lambda: source.snapshot().planned['elbow'] < begin + 0.05)
        assert source.snapshot().measured['elbow'] == pytest.approx(begin, abs=1e-3)
        source.ask(Request.EXECUTE)
        wait_until(lambda: source.snapshot().state == 'REACHED')
        assert source.snapshot().planned == {}
    finally:
        source.close()


def test_solved_arm_goes_home_at_once():
    source = SolverSource(ROBOT, CHAIN)
    before = values(source.snapshot())
    source.send_joints({'elbow': 0.7})
    source.ask(Request.HOME)
    np.testing.assert_array_equal(values(source.snapshot()), before)


@pytest.mark.long
def test_simulated_arm_moves_joints_within_the_limits(moving):
    wait_until(lambda: moving.snapshot().state == 'IDLE')
    moving.send_joints({'elbow': 0.9})
    wait_until(lambda: abs(moving.snapshot().measured['elbow'] - 0.9) < 1e-3)


def test_distance_to_an_obstacle_is_told():
    pytest.importorskip('coal', reason='coal measures the distances')
    T = np.eye(4)
    T[:3, 3] = 0.0, 0.0, -0.55
    scene = Scene([Obstacle('table', Box((0.2, 0.2, 1.0)), T)])
    world, why = PlannerSetup(ROBOT, CHAIN).world_or_reason(scene, True)
    snapshot = SolverSource(ROBOT, CHAIN, world).snapshot()
    assert why == ''
    assert [solid.name for solid in snapshot.solids] == ['table']
    # The wrist is nearer to itself than the table to the arm, which is no reason to name it.
    assert 'table' in snapshot.to_obstacle.names
    assert snapshot.to_obstacle.clearance == 0.02
    assert 'table' not in snapshot.to_itself.names
    assert 0.0 < snapshot.to_itself.distance < snapshot.to_obstacle.distance


def test_arm_starts_bent_and_clear_of_what_stands_around():
    pytest.importorskip('coal', reason='coal measures the distances')
    q = bent_configuration(CHAIN)
    T = np.eye(4)
    T[:3, 3] = CHAIN.forward_kinematics(q)[:3, 3]
    world = PlannerSetup(ROBOT, CHAIN).world(Scene([Obstacle('box', Box((0.2, 0.2, 0.2)), T)]))
    assert world.distance(q).distance <= 0.0
    np.testing.assert_array_equal(values(SolverSource(ROBOT, CHAIN).snapshot()), q)
    start = values(SolverSource(ROBOT, CHAIN, world).snapshot())
    assert world.distance(start).distance > 0.01
    assert np.all((start >= CHAIN.lower) & (start <= CHAIN.upper))


def test_scene_without_geometry_of_the_robot_is_an_error():
    bare = load_urdf(
        '<robot name="bare"><link name="a"/><link name="b"/><joint name="j" type="continuous">'
        '<parent link="a"/><child link="b"/><origin xyz="0 0 1"/></joint></robot>'
    )
    scene = Scene([Obstacle('table', Box((1.0, 1.0, 1.0)), np.eye(4))])
    setup = PlannerSetup(bare, bare.chain())
    world, why = setup.world_or_reason(Scene(), False)
    assert world is None
    assert why != ''
    with pytest.raises(CollisionUnavailableError):
        setup.world_or_reason(scene, True)


def command(*words: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, '-m', 'fabrik_ros', *words],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


@pytest.mark.parametrize(
    ('words', 'said'),
    [
        (('six_axis', '--node'), 'view takes a file, or --node for the arm of a running node'),
        (('--tip-link', 'tool0'), '--base-link and --tip-link need the file of one robot'),
    ],
)
def test_view_says_what_does_not_go_together(words, said):
    done = command('view', *words)
    assert done.returncode == 2
    assert said in done.stderr


def test_run_of_a_file_that_is_not_there_is_one_line():
    pytest.importorskip('viser', reason='the extra view is not installed')
    pytest.importorskip('yourdfpy', reason='the extra view is not installed')
    done = command('run', '/nowhere/arm.urdf')
    assert done.returncode == 2
    assert '/nowhere/arm.urdf' in done.stderr
    assert 'Traceback' not in done.stderr


def test_scene_of_the_command_stands_around_the_arm(monkeypatch):
    pytest.importorskip('viser', reason='the extra view is not installed')
    pytest.importorskip('yourdfpy', reason='the extra view is not installed')
    from fabrik_ros.cli import view
    from fabrik_ros.view import main

    seen = []
    monkeypatch.setattr(main, '_show', lambda source, args: seen.append(source) or 0)
    parser = argparse.ArgumentParser()
    view.add_arguments(parser)
    scene = Path(__file__).resolve().parents[2] / 'config' / 'scene.yaml'
    view.run(parser.parse_args(['six_axis', '--scene', str(scene)]))
    (table,) = seen[0].snapshot().solids
    assert table.name == 'table'
    np.testing.assert_allclose(table.pose[:3, 3], [0.4, 0.0, -0.04])


def test_arguments_of_a_xacro_file_are_taken(tmp_path, monkeypatch):
    pytest.importorskip('xacro', reason='xacro expands the file')
    pytest.importorskip('viser', reason='the extra view is not installed')
    pytest.importorskip('yourdfpy', reason='the extra view is not installed')
    from fabrik_ros.cli import view
    from fabrik_ros.view import main

    file = tmp_path / 'arm.urdf.xacro'
    file.write_text(
        '<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro"><xacro:arg name="p" '
        'default=""/><link name="a"/><link name="$(arg p)b"/><joint name="j" type="continuous">'
        '<parent link="a"/><child link="$(arg p)b"/></joint></robot>'
    )
    seen = []
    monkeypatch.setattr(main, '_show', lambda source, args: seen.append(source) or 0)
    parser = argparse.ArgumentParser()
    view.add_arguments(parser)
    view.run(parser.parse_args([str(file), '--xacro-args', 'p:=left_']))
    assert seen[0].snapshot().tip_link == 'left_b'


def test_port_that_is_taken_is_said():
    pytest.importorskip('viser', reason='the extra view is not installed')
    pytest.importorskip('yourdfpy', reason='the extra view is not installed')
    with socket.create_server(('127.0.0.1', 0)) as taken:
        port = str(taken.getsockname()[1])
        done = command('view', 'six_axis', '--port', port)
    assert done.returncode == 2
    assert f'the page cannot be at 127.0.0.1:{port}' in done.stderr
    assert 'another --port may be free' in done.stderr


def test_missing_package_is_named_with_the_cure():
    code = (
        'import sys; sys.modules["viser"] = None; sys.argv = ["fabrik_ros", "view", "six_axis"]\n'
        'from fabrik_ros.cli.main import main; main()'
    )
    done = subprocess.run(
        [sys.executable, '-c', code], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert 'the browser view needs viser' in done.stderr
    assert "pip install '.[view]'" in done.stderr


def test_meshes_that_are_missing_are_named_once():
    pytest.importorskip('yourdfpy', reason='the extra view is not installed')
    from fabrik_ros.view.shapes import drawable, missing_text

    mesh = '<visual><geometry><mesh filename="package://gone/hand.stl"/></geometry></visual>'
    text = (
        f'<robot name="r"><link name="a">{mesh}{mesh}</link><link name="b"><visual><geometry>'
        '<box size="1 1 1"/></geometry></visual></link><joint name="j" type="continuous">'
        '<parent link="a"/><child link="b"/></joint></robot>'
    )
    urdf, is_visual, missing = drawable(load_urdf(text))
    assert is_visual
    assert len(urdf.scene.geometry) == 1
    assert len(missing) == 1
    assert missing_text(missing).startswith('1 meshes are not drawn: package://gone/hand.stl: ')


@pytest.mark.parametrize(
    'shape',
    ['<capsule radius="0.1" length="0.3"/>', '', '<mesh filename="file://{}/broken.stl"/>'],
    ids=['capsule', 'nothing', 'broken mesh'],
)
def test_shapes_that_cannot_be_read_leave_the_chain(shape, tmp_path):
    pytest.importorskip('yourdfpy', reason='the extra view is not installed')
    from fabrik_ros.view.shapes import drawable, missing_text

    (tmp_path / 'broken.stl').write_text('solid nothing')
    odd = f'<visual><geometry>{shape.format(tmp_path)}</geometry></visual>'
    text = (
        f'<robot name="r"><link name="a">{odd}</link><link name="b"/><joint name="j" '
        'type="continuous"><parent link="a"/><child link="b"/></joint></robot>'
    )
    urdf, _, missing = drawable(load_urdf(text))
    assert urdf.actuated_joint_names == ['j']
    assert len(missing) == 1, missing
    assert 'meshes are not drawn' in missing_text(missing)


def test_comment_about_visuals_is_none():
    pytest.importorskip('yourdfpy', reason='the extra view is not installed')
    from fabrik_ros.view.shapes import drawable

    text = (
        '<robot name="r"><!-- no <visual> yet --><link name="a"><collision><geometry>'
        '<box size="1 1 1"/></geometry></collision></link></robot>'
    )
    urdf, is_visual, missing = drawable(load_urdf(text))
    assert not is_visual
    assert len(urdf.collision_scene.geometry) == 1
    assert missing == []
