"""
Laws of planned lines: on the line, within tolerances, and no farther from it than they say.

Pinocchio tells where the tip is.

"""

from dataclasses import replace
import functools
import itertools
import math

from drawing import random_numbers
from fabrik_ros import FabrikSolver, load_urdf, SolverOptions
from fabrik_ros.kernels._jit import COMPILED
from fabrik_ros.motion.lines.tolerant_line import TolerantLinePlanner
from fabrik_ros.planning.pieces import finish
from fabrik_ros.reasons import Reason, ReasonKind
from helpers import examples, PLANAR, Segment, serial_xml, SIX_AXIS, tree_xml
from hypothesis import assume, given, settings
import numpy as np
import pytest

pytest.importorskip('pinocchio', reason='pinocchio is the judge')

from judging import Judge, pose_errors, TreeJudge
import pinocchio

EXAMPLES = examples(10, 20) if COMPILED else 4
POSITION, ORIENTATION = 0.005, 0.0873
SOLVER = SolverOptions(
    position_tolerance=1e-6, orientation_tolerance=1e-6, budget=math.inf, max_restarts=6
)
WIDEST = 0.05 + 1e-9
"""From one knot to the next no joint goes farther [rad]."""
EXACT = 1e-6
FIVE_AXIS = serial_xml(
    [
        Segment(xyz=(0.0, 0.0, 0.1)),
        Segment(axis=(0.0, 1.0, 0.0), xyz=(0.03, 0.0, 0.05), lower=-2.0, upper=2.0),
        Segment(axis=(0.0, 1.0, 0.0), xyz=(0.0, 0.0, 0.12), lower=-2.5, upper=2.5),
        Segment(axis=(0.0, 1.0, 0.0), xyz=(0.13, 0.0, 0.0), lower=-2.0, upper=2.0),
        Segment(axis=(1.0, 0.0, 0.0), xyz=(0.06, 0.0, 0.0)),
        Segment('fixed', xyz=(0.05, 0.0, 0.0)),
    ]
)
"""A small arm that has no joint for one of the rotations."""


@functools.cache
def judge():
    return Judge(SIX_AXIS, 'l0', 'l7')


def planner_of(urdf=SIX_AXIS, position=POSITION, orientation=ORIENTATION, **options):
    return TolerantLinePlanner(
        load_urdf(urdf).chain(), replace(SOLVER, **options), None, position, orientation
    )


@functools.cache
def six_axis_planner():
    return planner_of()


def plan_of(planner, q, T, is_free=None):
    return finish(planner.plan(np.array(q), T.reshape(-1, 4, 4), is_free))


def pose_at(T, T_goal, share):
    turn = pinocchio.log3(T[:3, :3].T @ T_goal[:3, :3])
    pose = T.copy()
    pose[:3, 3] += share * (T_goal[:3, 3] - T[:3, 3])
    pose[:3, :3] = T[:3, :3] @ pinocchio.exp3(share * turn)
    return pose


def random_goal(rng, T, length=0.3, angle=0.785):
    def direction():
        d = rng.normal(size=3)
        return d / np.linalg.norm(d)

    goal = T.copy()
    goal[:3, 3] += rng.uniform(0.0, length) * direction()
    goal[:3, :3] = pinocchio.exp3(rng.uniform(0.0, angle) * direction()) @ T[:3, :3]
    return goal


def check_plan(plan, q, T_goal, arm=None, position=POSITION, orientation=ORIENTATION):
    """Check what holds of every plan, whether it comes to its end or not."""
    arm = arm or judge()
    T = arm.pose(q)
    np.testing.assert_array_equal(plan.knots[0], q)
    assert np.all(plan.knots >= arm.lower - 1e-9)
    assert np.all(plan.knots <= arm.upper + 1e-9)
    assert np.abs(np.diff(plan.knots, axis=0)).max(initial=0.0) <= WIDEST
    assert np.all(np.diff(plan.shares) >= 0.0)
    for knot, share, deviation in zip(plan.knots, plan.shares, plan.deviations, strict=True):
        off = pose_errors(pose_at(T, T_goal, share), arm.pose(knot))
        assert off.distance == pytest.approx(deviation[0], abs=EXACT)
        assert off.angle == pytest.approx(deviation[1], abs=EXACT)
        assert off < (position + EXACT, orientation + EXACT)
    if plan.reason is None:
        assert plan.share == 1.0
        assert arm.errors(T_goal, plan.knots[-1]) < (2e-6, 2e-6)
    else:
        assert plan.share < 1.0
        here = arm.pose(plan.knots[-1])[:3, 3]
        np.testing.assert_allclose(plan.reason.place, here[None], atol=1e-9)
        assert str(plan.reason).startswith(f'the line ends after {math.floor(100 * plan.share)} %')


@settings(max_examples=EXAMPLES, deadline=None)
@given(seed=random_numbers())
def test_random_lines_keep_tolerances_and_limits_and_say_how_far_off_they_are(seed):
    rng = np.random.default_rng(seed)
    q = judge().random_configuration(rng, 0.01)
    T_goal = random_goal(rng, judge().pose(q))
    check_plan(plan_of(six_axis_planner(), q, T_goal), q, T_goal)


def line_across_the_wrist(rng, miss):
    """
    Make a line that passes the aligned wrist at an angle [rad].

    Turns about the axis of joint 4 in the middle, where joint 5 of the arm is `miss`, and to both
    sides.
    """
    q = np.array([rng.uniform(-2, 2), rng.uniform(-1.2, 0.0), rng.uniform(0.6, 1.6), 0, 0, 0])
    q[3], q[5] = rng.uniform(-1.0, 1.0, 2)
    middle = q.copy()
    middle[4] = miss
    T = judge().pose(middle)
    turned = q.copy()
    turned[3] += 0.5 * math.pi
    turned[4], turned[5] = 0.4, q[5] - 0.5 * math.pi
    aside = judge().pose(turned)
    turn = pinocchio.log3(judge().pose(q)[:3, :3].T @ aside[:3, :3])
    ends = []
    for side in (-1.0, 1.0):
        end = T.copy()
        end[:3, :3] = T[:3, :3] @ pinocchio.exp3(side * turn)
        end[:3, 3] += side * 0.02
        ends.append(end)
    return middle, ends


@settings(max_examples=EXAMPLES // 2, deadline=None)
@given(seed=random_numbers())
def test_line_through_the_wrist_singularity_is_planned_to_its_end(seed):
    rng = np.random.default_rng(seed)
    middle, (T, T_goal) = line_across_the_wrist(rng, rng.uniform(-0.05, 0.05))
    solver = FabrikSolver(load_urdf(SIX_AXIS).chain(), SOLVER)
    beside = middle.copy()
    beside[3] += 0.5 * math.pi
    beside[5] -= 0.5 * math.pi
    beside[4] = -0.4
    start = solver.solve(T, beside)
    assume(start.converged)
    plan = plan_of(six_axis_planner(), start.q, T_goal)
    check_plan(plan, start.q, T_goal)
    assert plan.reason is None, plan.reason


@pytest.mark.parametrize('wrist', [0.0, 0.7])
@pytest.mark.parametrize('elbow', [True, False])
def test_stretched_arm_leaves_on_the_line_itself(wrist, elbow):
    straight = -math.atan2(0.5, 0.1) if elbow else 1.0
    q = np.array([0.2, 0.1, straight, 0.3, wrist, -0.4])
    T = judge().pose(q)
    T_goal = T.copy()
    T_goal[:3, 3] -= 0.15 * T[:3, 3] / np.linalg.norm(T[:3, 3])
    plan = plan_of(six_axis_planner(), q, T_goal)
    check_plan(plan, q, T_goal)
    assert plan.reason is None, plan.reason


def test_goal_in_a_singular_pose_is_met_exactly():
    q_goal = np.array([0.2, -0.5, 1.2, 0.3, 0.0, -0.4])
    q = q_goal + np.array([0.05, 0.05, -0.1, 0.1, 0.5, 0.1])
    plan = plan_of(six_axis_planner(), q, judge().pose(q_goal))
    check_plan(plan, q, judge().pose(q_goal))
    assert plan.reason is None


def line_past_a_joint_limit():
    """Make a line of two links that comes 2.6 mm nearer to the base than the elbow can bend."""
    solver = FabrikSolver(load_urdf(PLANAR).chain(), replace(SOLVER, mode='position'))
    begin = solver.solve(np.array([-0.25, 0.234, 0.0]), [2.0, 2.5])
    assert begin.converged
    T = Judge(PLANAR, 'l0', 'l3').pose(begin.q)
    T_goal = T.copy()
    T_goal[0, 3] = 0.25
    return begin.q, T, T_goal


def test_joint_limit_on_the_way_is_passed_beside_the_line():
    q, T, T_goal = line_past_a_joint_limit()
    plan = plan_of(planner_of(PLANAR, mode='position'), q, T_goal)
    assert plan.reason is None, plan.reason
    points = np.array([Judge(PLANAR, 'l0', 'l3').pose(knot)[:3, 3] for knot in plan.knots])
    off = np.abs(points[:, 1] - T[1, 3])
    assert 0.002 < off.max() < POSITION
    assert plan.greatest.position >= off.max() - EXACT
    assert np.count_nonzero(off > EXACT) < 0.7 * len(off)
    np.testing.assert_allclose(points[-1], T_goal[:3, 3], atol=2e-6)


def test_joint_limit_on_the_way_ends_a_line_that_may_not_be_left_so_far():
    q, _, T_goal = line_past_a_joint_limit()
    plan = plan_of(planner_of(PLANAR, position=0.001, mode='position'), q, T_goal)
    assert 'joint limit (j1)' in str(plan.reason)
    assert plan.reason.joints == ('j1',)


def test_line_out_of_reach_ends_where_the_arm_is_stretched():
    q = np.array([0.2, 0.1, -1.0, 0.3, 0.7, -0.4])
    T_goal = judge().pose(q)
    T_goal[:3, 3] *= 1.5
    plan = plan_of(six_axis_planner(), q, T_goal)
    check_plan(plan, q, T_goal)
    assert plan.reason.kind is ReasonKind.PATH_BLOCKED
    assert 'stretched arm, j2 near' in str(plan.reason)
    assert plan.reason.joints == ('j2',)


def test_line_into_a_joint_limit_names_the_joint():
    q = np.array([0.2, -0.5, 1.2, 0.3, 1.99, -0.4])
    T = judge().pose(q)
    beside = q.copy()
    beside[4] += 0.3
    T_goal = judge().pose(beside)
    assert not np.allclose(T, T_goal)
    plan = plan_of(six_axis_planner(), q, T_goal)
    check_plan(plan, q, T_goal)
    assert plan.reason.joints == ('j4',)
    assert 'joint limit (j4)' in str(plan.reason)


def test_collisions_are_looked_for_all_along_and_end_the_line():
    q = np.array([0.2, -0.5, 1.2, 0.3, 0.7, -0.4])
    T_goal = judge().pose(q)
    T_goal[:3, 3] += 0.0, 0.1, -0.1
    free = plan_of(six_axis_planner(), q, T_goal)
    asked = []

    def is_free(q, q_next):
        asked.append((q, q_next))
        far = np.abs(q_next - free.knots[len(free.knots) // 2]).max() < 0.02
        return (
            Reason(ReasonKind.COLLISION_AHEAD, 'self-collision of hand and foot') if far else None
        )

    plan = plan_of(six_axis_planner(), q, T_goal, is_free)
    assert plan.reason.kind is ReasonKind.COLLISION_AHEAD
    assert str(plan.reason).endswith('self-collision of hand and foot')
    assert 0.2 < plan.share < 0.6
    np.testing.assert_array_equal(asked[0][0], q)
    for (_, end), (begin, _) in itertools.pairwise(asked):
        np.testing.assert_array_equal(end, begin)
    assert max(np.abs(b - a).max() for a, b in asked) <= 0.05


@settings(max_examples=EXAMPLES // 4, deadline=None)
@given(seed=random_numbers())
def test_strict_lines_are_never_left(seed):
    rng = np.random.default_rng(seed)
    q = judge().random_configuration(rng, 0.01)
    T_goal = random_goal(rng, judge().pose(q))
    plan = plan_of(planner_of(position=0.0, orientation=0.0), q, T_goal)
    check_plan(plan, q, T_goal, position=0.0, orientation=0.0)


@settings(max_examples=EXAMPLES // 4, deadline=None)
@given(seed=random_numbers())
def test_five_joints_keep_the_position_and_the_best_orientation(seed):
    arm = Judge(FIVE_AXIS, 'l0', 'l6')
    rng = np.random.default_rng(seed)
    q = arm.random_configuration(rng, 0.2)
    T = arm.pose(q)
    T_goal = random_goal(rng, T, 0.1, 0.3)
    plan = plan_of(five_axis_planner(), q, T_goal)
    for knot, share, deviation in zip(plan.knots, plan.shares, plan.deviations, strict=True):
        off = pose_errors(pose_at(T, T_goal, share), arm.pose(knot))
        assert off.distance == pytest.approx(deviation[0], abs=2e-6)
        assert off.distance <= POSITION + EXACT
        assert deviation[1] <= ORIENTATION + EXACT


@functools.cache
def five_axis_planner():
    return planner_of(FIVE_AXIS)


def test_mode_position_asks_for_no_orientation():
    q = np.array([0.2, -0.5, 1.2, 0.3, 0.7, -0.4])
    T_goal = judge().pose(q)
    T_goal[:3, 3] += 0.0, 0.1, -0.1
    T_goal[:3, :3] = np.diag([1.0, -1.0, -1.0])
    plan = plan_of(planner_of(mode='position'), q, T_goal)
    assert plan.reason is None
    assert len(plan.knots) < 200
    tip = judge().pose(plan.knots[-1])[:3, 3]
    np.testing.assert_allclose(tip, T_goal[:3, 3], atol=1e-6)


def test_mode_axis_keeps_the_axis_alone():
    q = np.array([0.2, -0.5, 1.2, 0.3, 0.7, -0.4])
    T = judge().pose(q)
    T_goal = T.copy()
    T_goal[:3, 3] += 0.0, 0.1, -0.1
    plan = plan_of(planner_of(mode='axis'), q, T_goal)
    assert plan.reason is None
    for knot in plan.knots:
        assert judge().pose(knot)[:3, 2] @ T[:3, 2] > 1.0 - 1e-9


TREE = tree_xml(
    [Segment(), *[Segment(xyz=(0.0, y, 0.0)) for y in (0.3, -0.3)]]
    + [Segment(xyz=(0.4, 0.0, 0.0)) for _ in range(4)]
    + [Segment('fixed', xyz=(0.3, 0.0, 0.0)) for _ in range(2)],
    [0, 1, 1, 2, 3, 4, 5, 6, 7],
)
"""Two arms in the plane on a body that turns."""


def test_several_tips_go_along_their_lines_together():
    tree = load_urdf(TREE).tree('l0', ['l8', 'l9'])
    arms = TreeJudge(TREE, 'l0', ['l8', 'l9'], tree.joint_names)
    q = np.array([0.1, 0.3, -0.4, 0.6, -0.5, 0.7, -0.6])
    T = arms.poses(q)
    T_goal = T.copy()
    T_goal[0, :2, 3] += -0.1, 0.05
    T_goal[1, :2, 3] += 0.05, 0.02
    planner = TolerantLinePlanner(tree, SOLVER)
    plan = plan_of(planner, q, T_goal)
    assert plan.reason is None
    for knot, share in zip(plan.knots, plan.shares, strict=True):
        points = T[:, :3, 3] + share * (T_goal - T)[:, :3, 3]
        np.testing.assert_allclose(arms.poses(knot)[:, :3, 3], points, atol=1e-6)
    T_goal[1] = np.nan
    alone = plan_of(planner, q, T_goal)
    assert alone.reason is None
    np.testing.assert_allclose(arms.poses(alone.knots[-1])[0, :3, 3], T_goal[0, :3, 3], atol=1e-6)


def test_goal_where_the_tip_is_takes_no_way():
    q = np.array([0.2, -0.5, 1.2, 0.3, 0.7, -0.4])
    plan = plan_of(six_axis_planner(), q, judge().pose(q))
    assert plan.reason is None
    assert plan.share == 1.0
    np.testing.assert_allclose(plan.knots[-1], q, atol=1e-6)
