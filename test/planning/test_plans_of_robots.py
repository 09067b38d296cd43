"""
Laws of planned ways for all kinds of robots, by pinocchio and coal.

Arms in a plane among posts: on a rail, with a joint that follows another, and two on one base.

"""

from dataclasses import replace
from typing import NamedTuple

from collision_models import body, planar_arm, planar_distances, with_bodies
from fabrik_ros import load_urdf
from fabrik_ros.errors import JointValueError, TargetError
from fabrik_ros.kernels._jit import COMPILED
from helpers import assert_close, examples, mostly_long, Segment, tree_xml
from hypothesis import given, settings, strategies as st
import numpy as np
import pytest

pytest.importorskip('pinocchio', reason='pinocchio is the judge')
pytest.importorskip('coal', reason='coal measures the distances')

from fabrik_ros.collision import Obstacle, Scene
from fabrik_ros.model.geometry import Box
from fabrik_ros.planning import plan, PlannerSetup, PlanOutcome
from plan_judge import PlanJudge

EXAMPLES = examples(8, 15) if COMPILED else 2
LINK = 0.4
ROD = body('<box size="0.3 0.05 0.05"/>', '0.2 0 0')
NEXT = Segment(xyz=(LINK, 0.0, 0.0), lower=-2.5, upper=2.5)
TIP = Segment('fixed', xyz=(LINK, 0.0, 0.0))
SPARE = 0.002
"""Starts and goals are so much farther apart than they must be [m]."""
seeds = st.integers(1, 2**31 - 1)


class Kind(NamedTuple):
    """A robot among posts: sizes and centres of boxes [m]."""

    urdf: str
    tips: tuple[str, ...]
    posts: tuple[tuple[tuple[float, float, float], tuple[float, float, float]], ...]


def with_rods(segments, parents, rods):
    return with_bodies(tree_xml(segments, parents), {f'l{i}': ROD for i in rods})


def post(x, y, size=0.1):
    return (size, size, 1.0), (x, y, 0.0)


KINDS = {
    'on a rail': Kind(
        with_rods(
            [
                Segment('prismatic', axis=(1.0, 0.0, 0.0), lower=-0.8, upper=0.8),
                Segment(lower=-2.5, upper=2.5),
                NEXT,
                TIP,
            ],
            range(4),
            (2, 3),
        ),
        ('l4',),
        (post(0.0, 0.5), post(0.3, -0.5)),
    ),
    'with a joint that follows another': Kind(
        with_rods(
            [Segment(), replace(NEXT, mimic=(0, -0.5, 0.2)), NEXT, NEXT, TIP],
            range(5),
            (1, 2, 3, 4),
        ),
        ('l5',),
        (post(0.7, 0.65), post(0.7, -0.65)),
    ),
    'two arms': Kind(
        with_rods(
            [
                Segment(xyz=(0.0, 0.35, 0.0), lower=-2.5, upper=2.5),
                NEXT,
                TIP,
                Segment(xyz=(0.0, -0.35, 0.0), lower=-2.5, upper=2.5),
                NEXT,
                TIP,
            ],
            (0, 1, 2, 0, 4, 5),
            (1, 2, 4, 5),
        ),
        ('l3', 'l6'),
        (post(0.65, 0.0),),
    ),
}


class Robot:
    """A robot with what plans for it, and what judges that."""

    def __init__(self, kind):
        self.robot = load_urdf(kind.urdf)
        self.tips = kind.tips
        self.arm = (
            self.robot.chain('l0', *kind.tips)
            if len(kind.tips) == 1
            else self.robot.tree('l0', kind.tips)
        )
        boxes = {f'post{i}': box for i, box in enumerate(kind.posts)}
        self.judge = PlanJudge(kind.urdf, self.arm.joint_names, boxes)
        self.scene = Scene(
            Obstacle(name, Box(size), np.block([[np.eye(3), np.array([centre]).T], [0, 0, 0, 1]]))
            for name, (size, centre) in boxes.items()
        )
        self.world = PlannerSetup(self.robot, self.arm).world(self.scene)

    def free_configuration(self, rng):
        while True:
            q = self.arm.random_configuration(rng)
            if self.judge.nearest(q) > SPARE:
                return q

    def target(self, q):
        """Where the tips are, as a target."""
        T = self.arm.tip_poses(q)
        return T if len(self.tips) > 1 else T[0]


@pytest.fixture(scope='module', params=mostly_long(KINDS, 'on a rail', 'two arms'))
def robot(request):
    return Robot(KINDS[request.param])


@settings(max_examples=EXAMPLES, deadline=None)
@given(seeds)
def test_way_ends_where_it_is_sent_and_the_judge_finds_no_fault(robot, seed):
    rng = np.random.default_rng(seed)
    start, goal = robot.free_configuration(rng), robot.free_configuration(rng)
    way = plan(robot.arm, start, robot.target(goal), robot.world, planning_time=60.0, seed=seed)
    assert way.found, way.reason
    assert_close(way.knots[0], start)
    for tip in robot.tips:
        assert_close(robot.judge.place(way.q, tip), robot.judge.place(goal, tip), 1e-4)
    assert robot.judge.fault(way.knots) == ''


@settings(max_examples=EXAMPLES, deadline=None)
@given(seeds)
def test_way_to_joint_values_ends_at_them(robot, seed):
    rng = np.random.default_rng(seed)
    start, goal = robot.free_configuration(rng), robot.free_configuration(rng)
    way = plan(robot.arm, start, goal, robot.world, planning_time=60.0, seed=seed)
    assert way.found, way.reason
    assert_close(way.q, goal)
    assert robot.judge.fault(way.knots) == ''


@settings(max_examples=EXAMPLES, deadline=None)
@given(seeds, st.floats(0.001, 0.1))
def test_start_outside_limits_only_moves_inwards(robot, seed, beyond):
    rng = np.random.default_rng(seed)
    start, goal = robot.free_configuration(rng), robot.free_configuration(rng)
    j, side = rng.integers(len(start)), rng.choice([-1.0, 1.0])
    limit = (robot.arm.upper if side > 0.0 else robot.arm.lower)[j]
    start[j] = limit + side * beyond
    inside = np.clip(start, robot.arm.lower, robot.arm.upper)
    if robot.judge.nearest(inside) < SPARE or robot.judge.nearest(start) < SPARE:
        return
    way = plan(robot.arm, start, goal, robot.world, planning_time=60.0, seed=seed)
    assert way.found, way.reason
    assert_close(way.knots[:2], [start, inside])
    assert robot.judge.fault(way.knots[1:]) == ''


@pytest.mark.parametrize('beyond', [0.11, 1.0, 90.0])
def test_start_beyond_the_margin_is_refused_as_by_the_node(robot, beyond):
    rng = np.random.default_rng(1)
    start, goal = robot.free_configuration(rng), robot.free_configuration(rng)
    start[1] = robot.arm.upper[1] + beyond
    with pytest.raises(JointValueError, match=f"the start has .* '{robot.arm.joint_names[1]}'"):
        plan(robot.arm, start, goal, robot.world)


def test_arm_that_stays_has_no_way_to_go(robot):
    start = robot.free_configuration(np.random.default_rng(1))
    way = plan(robot.arm, start, start, robot.world)
    assert way.found
    assert_close(way.knots, np.tile(start, (len(way.knots), 1)))
    assert way.duration == 0.0


def test_two_arms_of_which_one_has_a_target_leave_the_other_where_it_is():
    robot = Robot(KINDS['two arms'])
    rng = np.random.default_rng(5)
    start, goal = robot.free_configuration(rng), robot.free_configuration(rng)
    goal[2:] = start[2:]
    T = robot.target(goal)
    T[1] = np.nan
    way = plan(robot.arm, start, T, robot.world)
    assert way.found, way.reason
    assert np.all(way.knots[:, 2:] == start[2:])
    assert robot.judge.fault(way.knots) == ''


@pytest.mark.parametrize('value', [np.nan, np.inf, -np.inf])
def test_numbers_that_are_none_are_refused_by_name(robot, value):
    arm, q = robot.arm, robot.free_configuration(np.random.default_rng(1))
    wrong, T = q.copy(), robot.target(q)
    wrong[0], T[..., 0, 3] = value, value
    for start, goal in ((wrong, q), (q, wrong)):
        with pytest.raises(JointValueError, match='finite'):
            plan(arm, start, goal, robot.world)
    with pytest.raises(TargetError, match=r"the target of 'l[3-6]' is no pose"):
        plan(arm, q, T, robot.world)


def test_target_without_any_number_is_refused_by_name(robot):
    q = robot.free_configuration(np.random.default_rng(1))
    with pytest.raises(TargetError, match='no tip has a target'):
        plan(robot.arm, q, np.full_like(robot.target(q), np.nan), robot.world)


# Links that touch at the start; distances by trigonometry.

PLANAR = load_urdf(planar_arm(4))
FOLDED = np.array([0.0, 2.5, 2.5, 0.0])


def planar_distance(q):
    return min(planar_distances(q).values())


def test_arm_whose_links_touch_moves_them_apart_first_and_then_keeps_clear():
    arm = PLANAR.chain('l0', PLANAR.links[-1])
    assert planar_distance(FOLDED) < 0.0
    way = plan(arm, FOLDED, np.zeros(4), robot=PLANAR)
    assert way.found, way.reason
    assert_close(way.knots[0], FOLDED)
    apart = [FOLDED + share * (way.knots[1] - FOLDED) for share in np.linspace(0.0, 1.0, 50)]
    assert np.all(np.diff([planar_distance(q) for q in apart]) >= -1e-6)
    for a, b in zip(way.knots[1:], way.knots[2:], strict=False):
        assert min(planar_distance(a + share * (b - a)) for share in (0.0, 0.5, 1.0)) > 0.0019


def test_arm_that_cannot_get_out_of_a_contact_says_with_what():
    arm = PLANAR.chain('l0', PLANAR.links[-1])
    block = Obstacle('block', Box((6.0, 6.0, 1.0)), np.eye(4))
    way = plan(arm, np.full(4, 0.1), np.zeros(4), Scene([block]), robot=PLANAR)
    assert way.outcome is PlanOutcome.START_IN_COLLISION
    assert "at the start 'l" in way.reason
    assert "'block'" in way.reason
