"""Ways among obstacles: judged by trigonometry; refusals by name; the planner's process."""

from itertools import count, pairwise, repeat
import os
from pathlib import Path
import signal
import socket
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
    Plan,
    plan,
    PlannerFailure,
    PlannerProcess,
    PlannerSetup,
    PlanOutcome,
    PlanRequest,
    ProcessState,
)  # fmt: skip
from fabrik_ros.planning.free_space import FreeSpace
from fabrik_ros.planning.message_channel import MessageChannel
from fabrik_ros.planning.planner_worker import PlannerWorker, Stop, Task
from fabrik_ros.planning.rrt_connect import RrtConnect
from fabrik_ros.transforms import transform
from helpers import assert_close, examples, mostly_long
from hypothesis import given, settings, strategies as st
import numpy as np
import pytest

pytest.importorskip('coal', reason='coal measures the distances')

ROOT = Path(__file__).resolve().parents[2]
JOINTS, CLEARANCE = 4, 0.002
WAIT = 120.0
"""[s]; the process compiles at first."""
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


def result_of(process):
    end = time.monotonic() + WAIT
    while (result := process.poll()) is None:
        assert time.monotonic() < end
        time.sleep(0.002)
    return result


def test_process_plans_is_cancelled_and_survives_its_death():
    process, request = (
        PlannerProcess(),
        PlanRequest(np.zeros(JOINTS), None, (np.full(JOINTS, 0.5),)),
    )
    process.start(PlannerSetup(ROBOT, ARM, options=POSITION))
    try:
        process.request(request)
        first = result_of(process)
        assert isinstance(first, Plan)
        assert first.found
        os.kill(process.pid, signal.SIGINT)
        process.request(request)
        process.cancel()
        process.request(PlanRequest(np.zeros(JOINTS), None, (np.full(JOINTS, -0.5),)))
        assert_close(result_of(process).q, np.full(JOINTS, -0.5))
        process.request(PlanRequest(np.zeros(2), None, (np.zeros(2),)))
        assert not result_of(process).is_restarting
        os.kill(process.pid, signal.SIGKILL)
        died = result_of(process)
        assert isinstance(died, PlannerFailure)
        assert died.is_restarting
        process.request(request)
        assert result_of(process).found
    finally:
        process.close()
    assert process.state is ProcessState.OFF


def walls():
    """Make walls that no link passes: from beside the base to where nothing reaches."""
    from fabrik_ros.collision import Obstacle, Scene
    from fabrik_ros.model.geometry import Box
    from fabrik_ros.transforms import transform

    places = (('left', -1.7), ('right', 1.7))
    return Scene(
        Obstacle(name, Box((3.0, 0.02, 1.0)), transform(np.eye(3), np.array([x, 0.0, 0.0])))
        for name, x in places
    )


UP, DOWN = np.array([1.57, 0.0, 0.0, 0.0]), np.array([-1.57, 0.0, 0.0, 0.0])
ENDLESS = PlanRequest(UP, None, (DOWN,), planning_time=1e4)
SHORT = PlanRequest(UP, None, (UP + 0.1,))


@pytest.fixture
def process():
    process = PlannerProcess()
    process.start(PlannerSetup(ROBOT, ARM, options=POSITION))
    yield process
    process.close()


def begin_without_end(process):
    """Have it look for a way that is not there."""
    process.request(ENDLESS, walls())
    end = time.monotonic() + WAIT
    while process.state is not ProcessState.PLANNING:
        assert process.poll() is None
        assert time.monotonic() < end
        time.sleep(0.002)


def test_search_without_end_is_left_for_the_next_request(process):
    begin_without_end(process)
    process.cancel()
    assert not process.is_busy
    process.request(SHORT, walls())
    assert_close(result_of(process).q, UP + 0.1)
    begin_without_end(process)
    process.request(SHORT, walls())  # cancels by itself
    assert_close(result_of(process).q, UP + 0.1)
    assert process.poll() is None


def test_death_while_planning_is_reported_once_and_the_next_process_answers(process):
    begin_without_end(process)
    before = process.pid
    os.kill(before, signal.SIGKILL)
    died = result_of(process)
    assert isinstance(died, PlannerFailure)
    assert (died.is_restarting, 'signal 9' in died.text) == (True, True)
    assert process.state is ProcessState.STARTING
    process.request(SHORT, walls())
    assert_close(result_of(process).q, UP + 0.1)
    assert process.pid not in (0, before)


def test_message_that_came_together_with_a_request_stops_it():
    ours, theirs = (MessageChannel(end) for end in socket.socketpair())
    ours.send(PlannerSetup(ROBOT, ARM, options=POSITION))
    for message in (Task(1, ENDLESS, walls(), {}, {}), Stop(), Task(2, SHORT, walls(), {}, {})):
        ours.send(message)
    worker = threading.Thread(target=PlannerWorker(theirs).run, daemon=True)
    worker.start()
    first, second = [message_of(ours) for _ in range(3)][1:]
    assert (first.number, first.plan.outcome) == (1, PlanOutcome.CANCELLED)
    assert (second.number, second.plan.outcome) == (2, PlanOutcome.FOUND)
    ours.close()
    worker.join(WAIT)
    assert not worker.is_alive()


def message_of(channel):
    end = time.monotonic() + WAIT
    while (message := channel.receive()) is None:
        assert time.monotonic() < end
        time.sleep(0.002)
    return message


CALLER = """
import time
from test_planner import ARM, begin_without_end, PlannerProcess, PlannerSetup, ROBOT
process = PlannerProcess()
process.start(PlannerSetup(ROBOT, ARM))
if {is_planning}:
    begin_without_end(process)
print(process.pid, flush=True)
time.sleep(1000.0)
"""


def is_alive(pid):
    """Whether a process runs; one that nobody has taken note of does not."""
    try:
        return Path(f'/proc/{pid}/stat').read_text().rpartition(')')[2].split()[0] not in 'ZX'
    except (FileNotFoundError, ProcessLookupError):
        return False


@pytest.mark.skipif(not Path('/proc/self/stat').exists(), reason='there is no /proc')
@pytest.mark.parametrize(
    'is_planning',
    [pytest.param(False, marks=pytest.mark.long), True],
    ids=['while it starts', 'while it plans'],
)
def test_process_ends_with_its_caller(is_planning):
    path = os.pathsep.join([str(ROOT), str(ROOT / 'test'), str(ROOT / 'test' / 'planning')])
    caller = subprocess.Popen(
        [sys.executable, '-c', CALLER.format(is_planning=is_planning)],
        env={**os.environ, 'PYTHONPATH': path},
        stdout=subprocess.PIPE,
    )
    try:
        pid = int(caller.stdout.readline())
        assert is_alive(pid)
    finally:
        caller.kill()  # it cannot end anything on its way out
        caller.wait()
        caller.stdout.close()
    end = time.monotonic() + WAIT
    while is_alive(pid):
        assert time.monotonic() < end, 'the planner outlives its caller'
        time.sleep(0.01)


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
