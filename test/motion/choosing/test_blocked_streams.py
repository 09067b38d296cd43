"""Streams of targets that cannot be followed: they cost what free ones do, and are told of."""

from collections import Counter
import math

import pytest

pytest.importorskip('pinocchio', reason='pinocchio is the judge')
pytest.importorskip('coal', reason='coal measures the distances')
pytest.importorskip('xacro')

from fabrik_ros import ArmFollower, example_arm, FollowerOptions, load_urdf, State
from fabrik_ros.collision import CollisionGuard, Obstacle, Scene
from fabrik_ros.model.geometry import Box
from fabrik_ros.solver.chain_solver import FabrikSolver
from judging import Judge, pose_errors
import numpy as np
import pinocchio

ROBOT = load_urdf(example_arm('six_axis'))
JUDGE = Judge(ROBOT.source, 'base_link', 'tool0')
START = np.array([0.0, -1.3, 1.6, -1.9, -1.57, 0.0])
NEAR_LIMIT = np.array([*START[:5], JUDGE.upper[5] - 0.5])
DT = 0.01
WALL = 0.45
"""Where its middle is along y [m]; the tip begins at 0.13."""
HAND_SPEED = 0.25
SETTLING, COUNTED = 400, 300
"""Steps until the arm stands in front of what blocks it, and steps that are counted."""
SEARCH_PERIOD = 0.1
"""Least time between two searches [s]."""
MOST_SEARCHES = 6
"""For the goal, and for the five points where a blocked line might be joined later."""


def wall(y=WALL):
    T = np.eye(4)
    T[:3, 3] = 0.0, y, 0.6
    return Scene([Obstacle('wall', Box((2.0, 0.02, 2.0)), T)])


def follower(scene, **options):
    return ArmFollower(
        ROBOT.chain('base_link', 'tool0'), FollowerOptions(**options), robot=ROBOT, scene=scene
    )


def hand(i, farthest=0.0, turn=0.0, start=START):
    """Pose of a hand that has moved for `i` steps, and trembles: hardly a target is a repeat."""
    T = JUDGE.pose(start)
    T[:3, 3] += 0.0, min(HAND_SPEED * i * DT, farthest), 0.03 * math.sin(0.03 * i)
    T[:3, :3] = T[:3, :3] @ pinocchio.rpy.rpyToMatrix(0.0, 0.0, min(0.5 * i * DT, turn))
    return T


@pytest.fixture
def effort(monkeypatch):
    """Count what is asked of solvers and of the guard."""
    counts = Counter()

    def counted(kind, name, note):
        original = getattr(kind, name)

        def call(self, *args):
            answer = original(self, *args)
            note(answer)
            return answer

        monkeypatch.setattr(kind, name, call)

    def note_solve(solution):
        counts['solves'] += 1
        counts['searches'] += solution.restarts > 0

    for name in ('solve', 'solve_within'):
        counted(FabrikSolver, name, note_solve)
    counted(CollisionGuard, 'allows', lambda _: counts.update(looks=1))
    return counts


def cost_of(effort, arm, **way):
    """Count what a stream costs once the arm is where it gets to."""
    q = way.get('start', START)
    for i in range(SETTLING + COUNTED):
        if i == SETTLING:
            effort.clear()
        q = arm.step(hand(i, **way), DT, measured=q)
    return Counter(effort)


FREE = {}


def cost_of_a_free_stream(effort, has_wall, options):
    """Count, once for all tests, what a stream costs far from the wall or without one."""
    key = has_wall, str(options)
    if key not in FREE:
        arm = follower(wall(9.0) if has_wall else None, **options)
        FREE[key] = cost_of(effort, arm, farthest=0.25)
    return FREE[key]


@pytest.mark.parametrize(
    'options',
    [
        {},
        pytest.param({'path': 'line'}, marks=pytest.mark.long),
        pytest.param({'path': 'joint'}, marks=pytest.mark.long),
        pytest.param({'on_unreachable': 'hold'}, marks=pytest.mark.long),
    ],
    ids=str,
)
@pytest.mark.parametrize(
    ('scene', 'way'),
    [
        pytest.param(wall(), {'farthest': 0.4}, id='obstacle'),
        pytest.param(wall(), {'farthest': 0.6}, id='obstacle, orientation out of reach'),
        pytest.param(wall(), {'farthest': 1.2}, id='obstacle, out of reach'),
        pytest.param(None, {'farthest': 0.6}, id='orientation out of reach'),
        pytest.param(None, {'farthest': 1.2}, id='out of reach'),
        pytest.param(None, {'turn': 1.5, 'start': NEAR_LIMIT}, id='limit of a joint'),
    ],
)
def test_target_of_a_blocked_stream_costs_at_most_twice_what_one_of_a_free_stream_does(
    effort, scene, way, options
):
    free = cost_of_a_free_stream(effort, scene is not None, options)
    blocked = cost_of(effort, follower(scene, **options), **way)
    assert free['solves'] > 0.9 * COUNTED
    assert blocked['solves'] <= 2 * free['solves']
    assert blocked['looks'] <= free['looks']
    assert blocked['searches'] <= MOST_SEARCHES * (COUNTED * DT / SEARCH_PERIOD + 1)


@pytest.mark.parametrize('farthest', [0.4, 0.6, 1.2])
@pytest.mark.parametrize('path', ['auto', 'line'])
def test_arm_in_front_of_an_obstacle_says_so_all_the_while(farthest, path):
    arm, q, said = follower(wall(), path=path), START, []
    for i in range(SETTLING + COUNTED):
        q = arm.step(hand(i, farthest), DT, measured=q)
        said.append((arm.state, str(arm.reason)))
    for state, reason in said[SETTLING:]:
        assert state is (State.HOLDING if path == 'line' else State.MOVING)
        assert ('collision ahead' if path == 'line' else 'sliding along') in reason
        assert 'wall' in reason


def lags_on_the_way_back(arm, q, begin):
    """How far the tip is behind a hand that comes back along y from `begin`, step by step."""
    lags = []
    for i in range(COUNTED):
        target = JUDGE.pose(START)
        target[1, 3] = begin - 0.5 * HAND_SPEED * i * DT
        q = arm.step(target, DT, measured=q)
        lags.append(pose_errors(target, JUDGE.pose(q))[0])
    return lags


@pytest.mark.parametrize('farthest', [0.4, 0.6, 1.2])
def test_hand_that_comes_back_is_followed_as_if_nothing_had_been_in_the_way(farthest):
    arm, q = follower(wall()), START
    for i in range(SETTLING):
        q = arm.step(hand(i, farthest), DT, measured=q)
    begin = JUDGE.pose(q)[1, 3]
    lags = lags_on_the_way_back(arm, q, begin)
    free = lags_on_the_way_back(follower(None), q, begin)
    assert np.max(lags[100:]) < 1.1 * np.max(free[100:]) + 1e-4
