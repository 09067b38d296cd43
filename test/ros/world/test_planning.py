"""Paths that a planner finds, in a thread of its own; judged by trigonometry on the wire."""

import pytest

pytest.importorskip('rclpy', reason='ROS 2 is not installed')
pytest.importorskip('coal', reason='coal measures the distances')

from bench import values_at
from fabrik_ros.planning import Planner
from helpers import mostly_long
from std_srvs.srv import Trigger
from test_changing_world import (
    ARM,
    check_commands,
    CLEARANCE,
    END,
    FAST,
    gaps,
    post,
    START,
    target,
    tips,
    World,
)

POSTS = (0.40, 0.78), (0.70, -0.90)
"""No straight path in joint space leads between them from the start to the end."""
RADIUS = 0.05
WALL = tuple((0.70 * c, 0.70 * s) for c, s in ((0.36, 0.93), (0.42, 0.91), (0.48, 0.88)))


@pytest.fixture
def world(bench):
    return World(bench)


def start(bench, world, places=POSTS, **parameters):
    values = values_at(('shoulder', 'elbow'), START)
    parameters = {'planning_time': 10.0, 'max_detour': 7.0, 'max_tip_speed': FAST, **parameters}
    bench.start_all(ARM, values, mode='position', **parameters)
    bench.spin_until(lambda: bench.status['planner'] == 'ready', 'the planner')
    world.show(*(post(place, RADIUS, f'post{i}') for i, place in enumerate(places)))


def closed_in(bench, world, **parameters):
    """Leave no way to the end: the arm cannot come out between the posts."""
    ring = [(0.99, 0.3), (0.99, 0.0), (0.9, 0.42), (0.99, -0.1), (0.3, 0.3), (0.25, -0.2)]
    start(bench, world, ring, **parameters)


def test_arm_goes_as_planned_where_no_straight_path_leads(bench, world):
    start(bench, world)
    bench.send(target(END))
    assert bench.wait_for_state('MOVING')['path'] == 'planned'
    bench.wait_for_state('REACHED')
    q = bench.commands.q
    assert abs(tips(q[-1])[0] - tips(END)[0]).max() < 1e-3
    for place in POSTS:
        assert gaps(q, place, RADIUS).min() > CLEARANCE - 1e-4
    check_commands(bench)


def test_planning_is_said_and_ends_with_its_time(bench, world):
    closed_in(bench, world, planning_time=2.0)
    bench.send(target(END))
    status = bench.wait_for_state('PLANNING')
    assert status['reason'].startswith('planning a path: ')
    assert status['reason'].endswith(' s of 2 s')
    reason = bench.wait_for_state('HOLDING')['reason']
    assert 'no way was found within 2 s' in reason
    assert len(bench.commands) == 0


@pytest.mark.parametrize('how', mostly_long(['another target', 'hold', 'deactivate'], 'hold'))
def test_planning_is_cancelled_at_once(bench, world, how):
    closed_in(bench, world, planning_time=60.0)
    bench.send(target(END))
    bench.wait_for_state('PLANNING')
    if how == 'another target':
        bench.send(target((0.05, 0.5)))
        bench.wait_for_state('REACHED')
    elif how == 'hold':
        assert bench.ask(Trigger, 'fabrik/hold', Trigger.Request()).success
        bench.wait_for_state('HOLDING')
    else:
        bench.node.trigger_deactivate()
        bench.wait_for_statuses(2)
    bench.spin_until(lambda: bench.status['planner'] == 'ready', 'a planner at rest')


@pytest.mark.filterwarnings('ignore::pytest.PytestUnhandledThreadExceptionWarning')
def test_planner_that_fails_is_said_and_started_again(bench, world, monkeypatch, capfd):
    closed_in(bench, world, planning_time=60.0)
    search, failures = Planner.plan, [0]

    def plan_or_fail(*arguments):
        return 1 / failures.pop() if failures else search(*arguments)

    monkeypatch.setattr(Planner, 'plan', plan_or_fail)
    bench.send(target(END))
    bench.wait_for_state('PLANNING')
    said = []

    def is_told():
        said.append(capfd.readouterr().err)
        return "division by zero'); it is started again" in ''.join(said)

    bench.spin_until(is_told, 'the failure')
    bench.wait_for_statuses()
    bench.spin_until(lambda: bench.status['planner'] == 'planning', 'the same request')
    assert bench.status['state'] == 'PLANNING'


@pytest.mark.long
def test_world_that_changes_while_planning_is_minded(bench, world):
    """The way that was found leads through a post that came meanwhile."""
    start(bench, world)
    bench.send(target(END))
    world.show(*(post(place, RADIUS, f'late{i}') for i, place in enumerate(WALL)), count=5)
    bench.spin_until(lambda: bench.status['state'] in ('REACHED', 'HOLDING'), 'an end')
    bench.wait_until_silent()
    if not len(bench.commands):
        return  # the posts came before it set out, and left no way
    for place in (*POSTS, *WALL):
        assert gaps(bench.commands.q, place, RADIUS).min() > CLEARANCE - 1e-4
    check_commands(bench)


def test_without_planning_time_there_is_no_planner_and_the_status_says_so(bench):
    values = values_at(('shoulder', 'elbow'), START)
    bench.start_all(ARM, values, mode='position', planning_time=0.0)
    assert bench.status['planner'] == 'none: planning_time is 0'
