"""Rotations that were written with few digits are rotations, and what is none is refused."""

from fabrik_ros import (
    ArmFollower,
    ChainError,
    FabrikSolver,
    FollowerOptions,
    load_urdf,
    make_solver,
    SolverOptions,
    TargetError,
    TreeSolver,
)
from fabrik_ros.collision import Obstacle
from fabrik_ros.errors import SceneError
from fabrik_ros.model.geometry import Sphere
from fabrik_ros.planning import plan
from fabrik_ros.transforms import as_pose
from helpers import example_robot
from hypothesis import given, strategies as st
import numpy as np
import pytest
from solving import judged

POINTS = SolverOptions(method='points')
SEEDS = st.integers(0, 2**32 - 1)


@pytest.fixture(scope='module')
def arm():
    return judged('panda')[0]


def pose_of(chain, seed):
    return chain.forward_kinematics(chain.random_configuration(np.random.default_rng(seed)))


def nearest_rotation(R):
    """Find the nearest rotation by another way than the package: Newton's for the polar factor."""
    for _ in range(30):
        R = 0.5 * (R + np.linalg.inv(R).T)
    return R


@pytest.mark.parametrize('digits', [2, 3, 4, 7])
@given(SEEDS)
def test_a_pose_of_few_digits_is_reached_as_the_nearest_pose(arm, digits, seed):
    T = pose_of(arm, seed).round(digits)
    exact = T.copy()
    exact[:3, :3] = nearest_rotation(T[:3, :3])
    assert np.abs(as_pose(T) - exact).max() <= 1e-6
    solution = FabrikSolver(arm, SolverOptions(mode='pose')).solve(T)
    if solution:
        reached = arm.forward_kinematics(solution.q)
        assert np.abs(reached - exact).max() <= 5e-6


@given(SEEDS)
def test_a_pose_that_is_exact_is_taken_as_it_is(arm, seed):
    T = pose_of(arm, seed)
    assert as_pose(T) is T


def near(T):
    """Spoil a pose as rounding does, more than by rounding errors of numbers."""
    near = T.copy()
    near[0, 1] += 2e-3
    return near


def scaled(T):
    return T @ np.diag([2.0, 2.0, 2.0, 1.0])


def mirrored(T):
    return T @ np.diag([1.0, 1.0, -1.0, 1.0])


def sheared(T):
    shear = np.eye(4)
    shear[0, 1] = 0.1
    return T @ shear


DOORS = {
    'solve': (lambda arm, T: FabrikSolver(arm).solve(T), TargetError),
    'solve_all': (lambda arm, T: FabrikSolver(arm).solve_all(T), TargetError),
    'solve_batch': (lambda arm, T: FabrikSolver(arm).solve_batch([T]), TargetError),
    'solve_within': (
        lambda arm, T: FabrikSolver(arm).solve_within(
            T, arm.mid_configuration(), arm.lower, arm.upper
        ),
        TargetError,
    ),
    'points': (lambda arm, T: make_solver(arm, POINTS).solve(T), TargetError),
    'plan': (lambda arm, T: plan(arm, arm.mid_configuration(), T, planning_time=0.1), TargetError),
    'tool': (lambda arm, T: arm.with_tool(T), ChainError),
    'obstacle': (lambda arm, T: Obstacle('ball', Sphere(0.1), T), SceneError),
}


@pytest.mark.parametrize('door', DOORS)
def test_every_door_takes_what_is_near_a_pose(arm, door):
    call, _ = DOORS[door]
    call(arm, near(pose_of(arm, 3)))


@pytest.mark.parametrize('door', DOORS)
@pytest.mark.parametrize('spoil', [scaled, mirrored, sheared])
def test_every_door_refuses_what_is_no_rotation_with_what_is_found_and_allowed(arm, door, spoil):
    call, error = DOORS[door]
    with pytest.raises(error, match=r'identity by [\d.e-]+ \(at most 0\.02\)') as e:
        call(arm, spoil(pose_of(arm, 3)))
    assert 'its determinant is' in str(e.value)


def test_a_tree_and_a_follower_take_and_refuse_the_same():
    chain, _ = judged('panda')
    robot = load_urdf(example_robot('panda'))
    tree = robot.tree(chain.base_link, [chain.tip_link])
    T = pose_of(chain, 3)
    assert TreeSolver(tree).solve({chain.tip_link: near(T)}).position_error < 1e-3
    follower = ArmFollower(chain, FollowerOptions(path='joint'))
    follower.step(near(T), 0.01, measured=chain.mid_configuration())
    for spoil in (scaled, mirrored, sheared):
        with pytest.raises(TargetError, match=r'at most 0\.02'):
            TreeSolver(tree).solve({chain.tip_link: spoil(T)})
        with pytest.raises(TargetError, match=r'at most 0\.02'):
            follower.step(spoil(T), 0.01, measured=chain.mid_configuration())
