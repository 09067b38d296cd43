"""Ways among obstacles: judged by trigonometry; refusals by name; the planner's thread."""

from itertools import count, pairwise, repeat
import os
from pathlib import Path
import subprocess
import sys
import threading
import time

from collision_models import planar_arm, planar_distances
from fabrik_ros import load_urdf, SolverOptions
from fabrik_ros.collision import Obstacle, Scene
from fabrik_ros.collision.distances import MEASURING_ERROR
from fabrik_ros.errors import CollisionError, JointValueError, TargetError
from fabrik_ros.kernels._jit import COMPILED
from fabrik_ros.model.geometry import Sphere
from fabrik_ros.planning import (
    plan,
    Planner,
    PlannerFailure,
    PlannerSetup,
    PlannerState,
    PlannerThread,
    PlanOutcome,
    PlanRequest,
)  # fmt: skip
from fabrik_ros.planning.free_space import FreeSpace
from fabrik_ros.planning.rrt_connect import RrtConnect
from fabrik_ros.planning.shortcuts import shortened
from fabrik_ros.transforms import transform
from helpers import assert_close, examples, mostly_long
from hypothesis import given, settings, strategies as st
import numpy as np
import pytest

pytest.importorskip('coal', reason='coal measures the distances')

ROOT = Path(__file__).resolve().parents[2]
JOINTS, CLEARANCE = 4, 0.002
WAIT = 300.0
"""[s]; the kernels compile at first, where they are not built."""
POSITION = SolverOptions(mode='position')
ROBOT = load_urdf(planar_arm(JOINTS).replace('revolute', 'continuous'))
ARM = ROBOT.chain('l0', ROBOT.links[-1])
WORLD = PlannerSetup(ROBOT, ARM).world
seeds = st.integers(1, 2**31 - 1)


@pytest.fixture(scope='module')
def world():
    return WORLD(Scene())


def distance(q):
    return min(d for (i, j), d in planar_distances(q).items())


@settings(max_examples=examples(10, 20) if COMPILED else 2, deadline=None)
@given(seeds)
def test_way_ends_at_the_goal_and_trigonometry_finds_it_free(world, seed):
    rng = np.random.default_rng(seed)
    start, goal = (ARM.random_configuration(rng) for _ in range(2))
    if min(distance(start), distance(goal)) < 2.0 * CLEARANCE:
        return
    way = plan(ARM, start, ARM.forward_kinematics(goal), world, options=POSITION, seed=seed)
    assert way.found, way.reason
    assert_close(way.knots[0], start)
    ends = [ARM.forward_kinematics(q)[:3, 3] for q in (way.q, goal)]
    assert_close(*ends, 1e-5)
    for a, b in pairwise(way.knots):
        assert min(distance(a + share * (b - a)) for share in (0.0, 0.5)) > CLEARANCE - 1e-4
    assert way.straight_room.shape == way.knots.shape[:1]
    again = plan(ARM, start, ARM.forward_kinematics(goal), world, options=POSITION, seed=seed)
    assert np.array_equal(again.knots, way.knots)


def configuration_at(least, rng):
    """Find joint values at which links are so far apart, between free ones and a collision."""
    free, touching = np.zeros(JOINTS), np.zeros(JOINTS)
    while distance(touching) > least:
        touching = ARM.random_configuration(rng)
    for _ in range(50):
        middle = 0.5 * (free + touching)
        free, touching = (middle, touching) if distance(middle) > least else (free, middle)
    return free


@pytest.mark.parametrize('is_start', [False, True])
@pytest.mark.parametrize('beyond', mostly_long([0.02, 0.04, 0.06, 0.1, 0.14], 0.02, 0.06, 0.14))
def test_end_with_little_more_than_its_clearance_is_reached_or_left(world, beyond, is_start):
    rng = np.random.default_rng(round(100 * beyond))
    least = (1.0 + beyond) * CLEARANCE + (0.0 if COMPILED else MEASURING_ERROR)
    for _ in range(5):
        ends = [np.zeros(JOINTS), configuration_at(least, rng)]
        start, goal = reversed(ends) if is_start else ends
        way = plan(ARM, start, goal, world, options=POSITION)
        assert way.found, way.reason
        assert_close(way.q, goal)
        for a, b in pairwise(way.knots):
            shares = np.linspace(0.0, 1.0, 20)
            assert min(distance(a + share * (b - a)) for share in shares) > CLEARANCE


@settings(max_examples=40 if COMPILED else 4, deadline=None)
@given(seeds, st.floats(0.02, 1.0), st.floats(0.001, 0.3))
def test_no_edge_from_a_start_that_keeps_the_clearance_comes_nearer_than_that(
    world, seed, beyond, length
):
    rng = np.random.default_rng(seed)
    start = configuration_at((1.0 + beyond) * CLEARANCE, rng)
    space = FreeSpace(world, start, lambda: False)
    for _ in range(10):
        end = start + length * rng.uniform(-1.0, 1.0, JOINTS)
        if space.is_edge_free(start, end):
            edge = (start + share * (end - start) for share in np.linspace(0.0, 1.0, 20))
            assert min(distance(q) for q in edge) > CLEARANCE


def test_search_for_a_goal_at_a_limit_stays_within_it_to_the_last_bit():
    """Weighting a value and back may change its last bit: the search works on weighted ones."""
    rng = np.random.default_rng(1)
    for _ in range(40):
        lower, upper = -rng.uniform(0.1, 2.0, 2), rng.uniform(0.1, 2.0, 2)
        edges = []

        def is_free(q, q_next, edges=edges):
            edges.extend((q, q_next))
            return True

        search = RrtConnect(lower, upper, rng.uniform(0.3, 2.0, 2), 0.3)
        goals = repeat(upper)
        waypoints = search.path(lower, goals.__next__, is_free, lambda: False, 1)
        assert_close(waypoints[-1], upper)
        assert np.all(np.array(edges) <= upper)
        assert np.all(np.array(edges) >= lower)


@pytest.mark.skipif(not COMPILED, reason='kernels look at edges where they are compiled')
@settings(max_examples=examples(10, 50), deadline=None)
@given(seeds)
def test_kernel_that_grows_the_trees_finds_what_is_found_edge_by_edge(world, seed):
    rng = np.random.default_rng(seed)
    start, *goals = (ARM.random_configuration(rng) for _ in range(4))
    found = []
    for is_fast in (True, False):
        space = FreeSpace(world, start, lambda: False)
        if space.is_edge_free(start, start) is False:
            return
        free = [q for q in goals if not space.take_goal(q)]
        drawn, asked = iter(free), count()
        path = RrtConnect(np.full(JOINTS, -5.0), np.full(JOINTS, 5.0), np.ones(JOINTS), 1.0).path(
            start,
            lambda drawn=drawn: next(drawn, None),
            space.is_edge_free,
            lambda asked=asked, free=free: not free or next(asked) > 100_000,
            seed,
            lambda space=space, is_fast=is_fast: space.edge_arguments if is_fast else None,
        )
        found.append(path)
    if found[0] is not None:
        assert np.array_equal(*found)


@pytest.mark.skipif(not COMPILED, reason='kernels look at edges where they are compiled')
@settings(max_examples=examples(10, 50), deadline=None)
@given(seeds)
def test_kernel_that_shortens_paths_finds_what_is_found_edge_by_edge(world, seed):
    rng = np.random.default_rng(seed)
    start = configuration_at(0.3, rng)
    path = start + np.cumsum(rng.uniform(-0.4, 0.4, (12, JOINTS)), axis=0)
    weights, found = rng.uniform(0.3, 2.0, JOINTS), []
    for is_fast in (True, False):
        space = FreeSpace(world, start, lambda: False)
        found.append(
            shortened(
                path,
                space.is_edge_free,
                weights,
                lambda: False,
                np.random.default_rng(seed),
                space.edge_arguments if is_fast else None,
            )
        )
    assert np.array_equal(*found)
    assert np.array_equal(found[0][0], path[0])
    assert np.array_equal(found[0][-1], path[-1])
    lengths = [
        np.linalg.norm(np.diff(p, axis=0) * weights, axis=1).sum() for p in (found[0], path)
    ]
    assert lengths[0] <= lengths[1] + 1e-12
    for a, b in pairwise(found[0]):
        is_given = any(is_on((a, b), edge) for edge in pairwise(path))
        edge = (a + share * (b - a) for share in np.linspace(0.0, 1.0, 20))
        assert is_given or min(distance(q) for q in edge) > CLEARANCE


def test_joints_that_need_no_detour_make_less_of_one_where_others_do():
    """Two joints go round a block, and the third one there and back without need."""
    path = [(-1, 0, 0), (-1, 1.2, 0.8), (0, 1.2, -0.7), (1, 1.2, 0.9), (1, 0, 0)]

    def is_edge_free(q, q_next, width=0.9, height=1.0):
        along = np.linspace(q, q_next, 200)
        return not np.any((np.abs(along[:, 0]) < width) & (np.abs(along[:, 1]) < height))

    travels = []
    for seed in range(30):
        rng = np.random.default_rng(seed)
        found = shortened(np.array(path, float), is_edge_free, np.ones(3), lambda: False, rng)
        assert all(is_edge_free(*edge, 0.88, 0.98) for edge in pairwise(found))
        travels.append(np.abs(np.diff(np.array(found)[:, 2])).sum())
    assert np.median(travels) < 1.1  # 1.3 to 1.7 where all joints go straight at once


def is_on(part, edge):
    """Whether an edge is part of another."""
    begin, way = edge[0], edge[1] - edge[0]
    off = [q - begin - (q - begin) @ way / (way @ way) * way for q in part]
    return bool(np.abs(off).max() < 1e-9)


@pytest.mark.skipif(not COMPILED, reason='kernels look at edges where they are compiled')
@settings(max_examples=examples(20, 100), deadline=None)
@given(seeds, st.floats(0.01, 0.3))
def test_curve_is_free_where_each_edge_of_it_is(world, seed, length):
    rng = np.random.default_rng(seed)
    start = configuration_at(0.1, rng)
    knots = start + np.cumsum(length * rng.uniform(-1.0, 1.0, (6, JOINTS)), axis=0)
    space = FreeSpace(world, start, lambda: False)
    assert space.is_curve_free(knots) == all(space.is_edge_free(*e) for e in pairwise(knots))


def test_time_that_is_over_before_the_first_draw_says_nothing_of_the_goal(world):
    goal = ARM.forward_kinematics(np.full(JOINTS, 0.3))
    way = plan(ARM, np.zeros(JOINTS), goal, world, options=POSITION, planning_time=1e-9)
    assert way.outcome is PlanOutcome.NOT_FOUND
    assert 'within 1e-09 s' in way.reason


def test_plan_says_why_there_is_no_way(world):
    start, folded = np.zeros(JOINTS), np.array([0.0, 2.8, 2.8, 0.0])
    assert distance(folded) < 0.0
    way = plan(ARM, start, folded, world)
    assert way.outcome is PlanOutcome.GOAL_IN_COLLISION
    assert 'are within 2 mm of each other' in way.reason
    far = np.eye(4)
    far[0, 3] = 9.0
    assert plan(ARM, start, far, world).outcome is PlanOutcome.GOAL_NOT_REACHABLE
    stopped = plan(ARM, start, start + 0.5, world, should_stop=lambda: True)
    assert stopped.outcome is PlanOutcome.CANCELLED
    with pytest.raises(ValueError, match='no way was found'):
        _ = stopped.q


def distance_to_post(q, post):
    """Distance of the capsules from a ball of 0.1 m at `post`, shape (2,), by trigonometry."""
    turned = np.cumsum(q)
    along = np.column_stack([np.cos(turned), np.sin(turned)])
    joints = 0.5 * np.vstack([np.zeros(2), np.cumsum(along, axis=0)[:-1]])
    inside = np.clip(np.sum((post - joints) * along, axis=1), 0.1, 0.4)
    return np.min(np.linalg.norm(post - joints - inside[:, None] * along, axis=1)) - 0.15


def scene_with_post(post):
    return Scene([Obstacle('post', Sphere(0.1), transform(np.eye(3), np.append(post, 0.0)))])


def test_redundant_arm_is_not_searched_for_a_goal_where_what_its_tip_carries_collides():
    q = np.array([0.3, 0.9, -1.1, 0.4])
    T = ARM.forward_kinematics(q)
    post = (T[:3, 3] + 0.25 * T[:3, 0])[:2]
    assert distance_to_post(q, post) < -0.1
    asked = count()
    way = plan(
        ARM,
        -q,
        T,
        WORLD(scene_with_post(post)),
        options=SolverOptions(mode='pose'),
        planning_time=1e6,
        should_stop=lambda: next(asked) > 2000,
    )
    assert way.outcome is PlanOutcome.GOAL_IN_COLLISION
    assert "'l4' and 'post' are within 20 mm" in way.reason


@pytest.mark.parametrize('mode', ['position', 'pose'])
@settings(max_examples=examples(20, 60) if COMPILED else 3, deadline=None)
@given(seed=seeds)
def test_goal_that_a_free_configuration_reaches_is_not_called_blocked(world, mode, seed):
    rng = np.random.default_rng(seed)
    start, goal = (ARM.random_configuration(rng) for _ in range(2))
    T = ARM.forward_kinematics(goal)
    post = T[:2, 3] + rng.uniform(-0.4, 0.4, 2)
    if min(distance(start), distance(goal)) < 0.01:
        return
    if min(distance_to_post(q, post) for q in (start, goal)) < 0.03:
        return
    way = plan(ARM, start, T, WORLD(scene_with_post(post)), options=SolverOptions(mode=mode))
    assert way.outcome in (PlanOutcome.FOUND, PlanOutcome.NOT_FOUND), way.reason


@pytest.mark.parametrize('share', [0.0, 0.01, 0.1, 0.5, 0.9, 0.99, 1.0])
def test_plan_that_is_cancelled_at_any_time_is_none(world, share):
    start, goal = np.array([0.3, 2.0, 1.2, 0.5]), np.array([-2.2, -1.5, 1.4, -2.0])
    asked, last = 0, np.inf

    def should_stop():
        nonlocal asked
        asked += 1
        return asked >= last

    assert plan(ARM, start, goal, world, should_stop=should_stop).found
    asked, last = 0, max(1.0, np.floor(share * asked))
    cancelled = plan(ARM, start, goal, world, should_stop=should_stop)
    assert cancelled.outcome is PlanOutcome.CANCELLED
    assert len(cancelled.knots) == 0


def test_nonsense_is_refused():
    start = np.zeros(JOINTS)
    with pytest.raises(JointValueError, match='start has shape'):
        plan(ARM, [0.0], start)
    with pytest.raises(TargetError, match='is no pose'):
        plan(ARM, start, np.zeros((4, 4)))
    with pytest.raises(TargetError, match='shape'):
        plan(ARM, start, np.zeros((2, 4, 4)))
    with pytest.raises(ValueError, match='planning_time must be positive'):
        plan(ARM, start, start, planning_time=0.0)
    with pytest.raises(CollisionError, match='without a robot'):
        plan(ARM, start, start, clearance=0.1)


def walls():
    """Make walls that no link passes: from beside the base to where nothing reaches."""
    from fabrik_ros.model.geometry import Box

    places = (('left', -1.7), ('right', 1.7))
    return Scene(
        Obstacle(name, Box((3.0, 0.02, 1.0)), transform(np.eye(3), np.array([x, 0.0, 0.0])))
        for name, x in places
    )


UP, DOWN = np.array([1.57, 0.0, 0.0, 0.0]), np.array([-1.57, 0.0, 0.0, 0.0])
ENDLESS = PlanRequest(UP, None, (DOWN,), planning_time=1e4)
SHORT = PlanRequest(UP, None, (UP + 0.1,))


@pytest.fixture
def planner():
    planner = PlannerThread()
    planner.start(PlannerSetup(ROBOT, ARM, options=POSITION))
    yield planner
    planner.close()
    assert planner.state is PlannerState.OFF


def result_of(planner):
    end = time.monotonic() + WAIT
    while (result := planner.poll()) is None:
        assert time.monotonic() < end
        time.sleep(0.002)
    return result


def begin_without_end(planner):
    """Have it look for a way that is not there."""
    planner.request(ENDLESS, walls())
    end = time.monotonic() + WAIT
    while planner.state is not PlannerState.PLANNING:
        assert planner.poll() is None
        assert time.monotonic() < end
        time.sleep(0.002)


def test_thread_plans_and_says_what_makes_no_sense(planner):
    goal = np.full(JOINTS, 0.5)
    planner.request(PlanRequest(np.zeros(JOINTS), None, (goal,)))
    assert planner.is_busy
    assert_close(result_of(planner).q, goal)
    assert (planner.is_busy, planner.state) == (False, PlannerState.READY)
    planner.request(PlanRequest(np.zeros(2), None, (np.zeros(2),)))
    failure = result_of(planner)
    assert (failure.is_restarting, 'start has shape' in failure.text) == (False, True)
    assert planner.poll() is None


def test_search_without_end_is_left_for_the_next_request(planner):
    begin_without_end(planner)
    planner.cancel()
    assert not planner.is_busy
    planner.request(SHORT, walls())
    assert_close(result_of(planner).q, UP + 0.1)
    begin_without_end(planner)
    planner.request(SHORT, walls())  # cancels by itself
    assert_close(result_of(planner).q, UP + 0.1)
    assert planner.poll() is None


def test_requests_before_the_planner_is_ready_wait_and_the_last_one_counts():
    planner = PlannerThread()
    planner.request(SHORT)
    assert result_of(planner) == PlannerFailure('the planner was not started', False)
    planner.start(PlannerSetup(ROBOT, ARM, options=POSITION))
    planner.request(ENDLESS, walls())
    planner.request(SHORT, walls())
    assert_close(result_of(planner).q, UP + 0.1)
    planner.close()


def test_request_is_for_the_world_as_it_was(planner):
    from fabrik_ros.collision import PointCells

    points = {'camera': PointCells.around(np.array([[0.0, 2.0, 0.0]]), 0.02)}
    planner.request(SHORT, walls(), points, {})
    points['camera'] = PointCells.around(np.array([[0.0, 0.3, 0.0]]), 0.5)  # at the arm
    assert result_of(planner).found
    planner.request(SHORT, walls(), points, {})
    assert not result_of(planner).found
    planner.request(SHORT, walls())
    assert result_of(planner).found


def threads():
    return [thread for thread in threading.enumerate() if thread.name == 'planner']


@pytest.mark.filterwarnings('ignore::pytest.PytestUnhandledThreadExceptionWarning')
def test_planner_that_fails_is_reported_once_and_the_next_one_answers(planner, monkeypatch):
    with monkeypatch.context() as patches:
        patches.setattr(Planner, 'plan', lambda *_: 1 / 0)
        failing = threads()
        planner.request(SHORT, walls())
        failure = result_of(planner)
        for thread in failing:
            thread.join(WAIT)
    assert isinstance(failure, PlannerFailure)
    assert failure.is_restarting
    assert "ZeroDivisionError('division by zero'); it is started again" in failure.text
    assert planner.poll() is None
    planner.request(SHORT, walls())
    assert_close(result_of(planner).q, UP + 0.1)


@pytest.mark.filterwarnings('ignore::pytest.PytestUnhandledThreadExceptionWarning')
@pytest.mark.parametrize('error', [CollisionError('no shape'), ZeroDivisionError('no shape')])
def test_planner_that_cannot_be_made_says_so_each_time(monkeypatch, error):
    def fail(*_):
        raise error

    monkeypatch.setattr(Planner, 'warm_up', fail)
    planner = PlannerThread()
    planner.start(PlannerSetup(ROBOT, ARM, options=POSITION))
    for thread in threads():
        thread.join(WAIT)
    for _ in range(2):
        planner.request(SHORT)
        failure = result_of(planner)
        assert (failure.is_restarting, 'no shape' in failure.text) == (False, True)
    assert planner.state is PlannerState.IMPOSSIBLE


@pytest.mark.parametrize('how', ['closed', 'forgotten'])
def test_thread_ends_with_its_caller(how):
    before = threads()
    planner = PlannerThread()
    planner.start(PlannerSetup(ROBOT, ARM))
    begin_without_end(planner)
    (thread,) = (thread for thread in threads() if thread not in before)
    if how == 'closed':
        planner.close()
    del planner
    thread.join(WAIT)
    assert not thread.is_alive()


CALLER = """
from test_planner import ARM, begin_without_end, PlannerSetup, PlannerThread, ROBOT
planner = PlannerThread()
planner.start(PlannerSetup(ROBOT, ARM))
begin_without_end(planner)
"""


def test_program_that_plans_still_can_end():
    path = os.pathsep.join([str(ROOT), str(ROOT / 'test'), str(ROOT / 'test' / 'planning')])
    environment = {**os.environ, 'PYTHONPATH': path}
    command = [sys.executable, '-c', CALLER]
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, check=False, timeout=WAIT
    )
    assert (done.returncode, done.stderr) == (0, '')


@pytest.mark.skipif(not COMPILED, reason='kernels look at edges where they are compiled')
def test_kernels_that_are_told_to_stop_look_at_no_other_place():
    world = WORLD(walls())
    stop, asked = np.zeros(1, dtype=np.int64), count()
    space = FreeSpace(world, UP, lambda: False, None, stop)
    *_, centres, _, _, _, _, _ = space.edge_arguments
    """Where solids are at the place looked at last."""
    for end in (UP + 0.3, DOWN):
        centres[:] = 7.0
        space.is_edge_free(UP, end)
        assert not np.all(centres == 7.0)
    stop[0] = 1
    centres[:] = 7.0
    assert not space.is_edge_free(UP, UP + 0.3)
    assert not space.is_curve_free(np.linspace(UP, UP + 0.3, 50))
    assert space.free_share(UP, UP + 0.3) == 0.0
    path = RrtConnect(UP - 2.0, UP + 2.0, np.ones(JOINTS), 1.0).path(
        UP,
        repeat(UP + 0.3).__next__,
        space.is_edge_free,
        lambda: next(asked) >= 2,
        1,
        lambda: space.edge_arguments,
    )
    assert path is None
    assert np.all(centres == 7.0)


class Looks:
    """Whether to stop: so after a number of looks; counts those that come later."""

    def __init__(self, most, stop):
        self.most, self.stop, self.count = most, stop, 0

    def __call__(self):
        self.count += 1
        self.stop[0] = self.count > self.most
        return bool(self.stop[0])


@pytest.mark.skipif(not COMPILED, reason='kernels look at edges where they are compiled')
@pytest.mark.parametrize('most', [0, 1, 3, 10, 100, 1000])
def test_search_that_is_told_to_stop_looks_at_no_other_edge(most, monkeypatch):
    from fabrik_ros.kernels import free_edges, rrt_connect, shortcuts

    calls = count()
    for module, name in (
        (rrt_connect, 'grow'),
        (shortcuts, 'shorten'),
        (free_edges, 'is_edge_free'),
        (free_edges, 'is_curve_free'),
    ):
        kernel = getattr(module, name)

        def counted(*arguments, kernel=kernel):
            if stop[0]:
                next(calls)
            return kernel(*arguments)

        monkeypatch.setattr(module, name, counted)
    world, stop = WORLD(walls()), np.zeros(1, dtype=np.int64)
    looks = Looks(most, stop)
    way = Planner(ARM, world, POSITION).plan(ENDLESS, looks, stop)
    assert way.outcome is PlanOutcome.CANCELLED
    assert next(calls) == 0
    assert looks.count - most < 10


@pytest.mark.parametrize(
    'script', sorted((ROOT / 'examples').glob('*plan*.py')), ids=lambda p: p.stem
)
def test_example_runs(script):
    environment = {**os.environ, 'PYTHONPATH': str(ROOT)}
    done = subprocess.run(
        [sys.executable, script], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout
