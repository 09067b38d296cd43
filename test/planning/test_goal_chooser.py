"""
Goals in self-collision, and ways that lead through the arm; distances follow from trigonometry.

Two links of 1.0 m and 0.8 m turn about z. A ball sits on the elbow or on the tip, and others, the
posts, stand beside the base.

"""

import math

from collision_models import body, with_bodies
from fabrik_ros import FabrikSolver, load_urdf, SolverOptions
from fabrik_ros.collision import CollisionGuard, SelfCollision
from fabrik_ros.motion.goal import MotionOptions
from fabrik_ros.motion.limits import MotionLimits
from fabrik_ros.motion.motion import Motion
from fabrik_ros.planning.goal_chooser import GoalChooser
from helpers import assert_close, PLANAR, Segment, tree_xml, why
import numpy as np
import pytest

pytest.importorskip('coal', reason='coal measures the distances')

RADIUS, CLEARANCE, ROUNDING = 0.1, 0.002, 1e-5
BALL = f'<sphere radius="{RADIUS}"/>'
ELBOW, TIP = 'l2', 'l3'
TURNING_ON = PLANAR.replace('"-3.0" upper="3.0"', '"-6.0" upper="6.0"')


def place(q, link):
    """Where the elbow or the tip is, shape (2,)."""
    a, b = q[0], q[0] + q[1]
    elbow = np.array([math.cos(a), math.sin(a)])
    return elbow if link == ELBOW else elbow + 0.8 * np.array([math.cos(b), math.sin(b)])


def other_elbow(q):
    """Joint values that put the tip where `q` does, with the elbow on the other side."""
    half = math.atan2(0.8 * math.sin(q[1]), 1.0 + 0.8 * math.cos(q[1]))
    return np.array([q[0] + 2.0 * half, -q[1]])


class PostArm:
    """
    An arm among posts.

    Parameters
    ----------
    posts : sequence of array, shape (2,)
        Where the posts are [m].
    link : str
        What carries a ball: the elbow or the tip.

    """

    def __init__(self, posts, link, start, xml=PLANAR, **options):
        bodies = {'l0': ''.join(body(BALL, f'{x} {y} 0') for x, y in posts), link: body(BALL)}
        robot = load_urdf(with_bodies(xml, bodies))
        chain = robot.chain('l0', 'l3')
        limits = MotionLimits(0.5, 2.0, 2.0, np.full(2, 1.5), np.full(2, 5.0))
        solver = SolverOptions(
            mode='position', position_tolerance=1e-6, max_restarts=20, budget=math.inf
        )
        guard = CollisionGuard(SelfCollision(robot, chain))
        self.motion = Motion(chain, limits, solver, MotionOptions(**options), guard=guard)
        self.motion.reset(np.array(start, dtype=float))
        self._posts, self._link = np.array(posts), link
        self.nearest = math.inf

    def aim(self, q):
        """Send the arm where the tip is at joint values `q`."""
        self.goal = q
        return self.motion.aim(self.motion.robot.forward_kinematics(q))

    def steps(self, count):
        for _ in range(count):
            self.motion.step(0.01)
            away = place(self.motion.q, self._link) - self._posts
            distance = float(np.linalg.norm(away, axis=1).min()) - 2.0 * RADIUS
            self.nearest = min(self.nearest, distance)
            assert distance > CLEARANCE - ROUNDING

    def run(self):
        """Go on until the arm rests, and check that it keeps the clearance."""
        for _ in range(30):
            self.steps(100)
            if self.motion.is_at_rest:
                return
        raise AssertionError('the arm never rests')

    def check_that_it_is_there(self):
        assert why(self.motion) == ''
        assert_close(place(self.motion.q, TIP), place(self.goal, TIP), 1e-5)


# A post where the elbow would be at the goal; the elbow may be on the other side.

ELBOW_UP = np.array([0.0, 1.0])
POST = place(ELBOW_UP, ELBOW)
BESIDE = (0.5, 0.8)


def test_elbow_that_would_hit_a_post_goes_to_the_other_side():
    arm = PostArm([POST], ELBOW, BESIDE, path='joint')
    assert arm.aim(ELBOW_UP)
    assert_close(arm.motion.pursuit.goal_solution.q, other_elbow(ELBOW_UP), 1e-4)
    arm.run()
    arm.check_that_it_is_there()
    assert_close(arm.motion.q, other_elbow(ELBOW_UP), 1e-4)


def test_moving_arm_takes_the_other_side_as_well():
    arm = PostArm([POST], ELBOW, BESIDE, path='joint')
    arm.aim(np.array([0.9, 1.5]))
    arm.steps(10)
    assert arm.motion.velocity.any()
    assert arm.aim(ELBOW_UP)
    arm.run()
    arm.check_that_it_is_there()


def test_line_into_a_post_ends_in_front_of_it_and_tells_another_way():
    arm = PostArm([POST], ELBOW, BESIDE, path='line')
    assert arm.aim(ELBOW_UP)
    assert why(arm.motion) == ''
    arm.run()
    assert why(arm.motion) == (
        "self-collision ahead: 'l0' and 'l2' would come within 2 mm of each other; "
        'another way: path joint, or allow_reconfiguration'
    )
    assert arm.nearest < 0.05


def test_arm_that_may_leave_the_line_goes_on_to_the_other_side():
    arm = PostArm([POST], ELBOW, BESIDE, path='line', allow_reconfiguration=True)
    arm.aim(ELBOW_UP)
    arm.run()
    arm.check_that_it_is_there()
    assert arm.nearest < 0.05


# Posts on both sides.

POSTS = [POST, place(other_elbow(ELBOW_UP), ELBOW)]
BETWEEN = (-0.7, 0.8)
TOUCHES = "the target is in self-collision: 'l0' and 'l2' would come within 2 mm of each other"


@pytest.mark.parametrize('path', ['line', 'joint'])
def test_target_that_cannot_be_reached_without_touching_is_refused_where_it_is_to_hold(path):
    arm = PostArm(POSTS, ELBOW, BETWEEN, path=path, approach_unreachable=False)
    assert not arm.aim(ELBOW_UP)
    assert arm.motion.is_at_rest
    assert why(arm.motion) == TOUCHES
    arm.steps(10)
    assert_close(arm.motion.q, np.array(BETWEEN), 0.0)


@pytest.mark.parametrize('path', ['line', 'joint'])
def test_target_that_cannot_be_reached_without_touching_is_approached_and_says_so(path):
    arm = PostArm(POSTS, ELBOW, BETWEEN, path=path)
    assert arm.aim(ELBOW_UP)
    assert why(arm.motion) == TOUCHES
    arm.run()
    assert why(arm.motion).startswith(f'{TOUCHES}; self-collision ahead: ')
    assert arm.nearest < 0.05


def test_next_target_is_free_of_what_was_said_about_the_one_before():
    arm = PostArm(POSTS, ELBOW, BETWEEN, path='joint')
    arm.aim(ELBOW_UP)
    arm.run()
    arm.aim(np.array(BETWEEN))
    arm.run()
    arm.check_that_it_is_there()


def test_target_out_of_reach_behind_a_post_tells_both():
    stretched = np.zeros(2)
    arm = PostArm([place(stretched, TIP)], TIP, (0.6, 0.5), path='joint')
    T = arm.motion.robot.forward_kinematics(stretched)
    T[0, 3] = 3.0
    arm.motion.aim(T)
    assert 'farther away than the arm is long; the target is in self-' in why(arm.motion)
    arm.run()
    assert 'farther away than the arm is long; the target is in self-' in why(arm.motion)
    assert arm.nearest < 0.05


# The goal is free, and a post in the way.

LEFT, RIGHT = np.array([-0.9, 1.0]), np.array([0.9, 1.0])


def test_arm_turns_the_other_way_round_where_a_post_is_in_the_way():
    arm = PostArm([POST], ELBOW, LEFT, xml=TURNING_ON, path='joint')
    arm.aim(RIGHT)
    assert_close(arm.motion.pursuit.goal_solution.q[0], other_elbow(RIGHT)[0] - 2.0 * math.pi, 1.5)
    arm.run()
    arm.check_that_it_is_there()
    assert arm.motion.q[0] < -3.0


def test_arm_that_can_only_pass_bent_bends_on_the_way():
    """Stretched on both sides of a post, and not free to turn the other way round."""
    arm = PostArm([place(np.zeros(2), TIP)], TIP, (-0.5, 0.0), path='joint')
    arm.aim(np.array([0.5, 0.0]))
    arm.run()
    arm.check_that_it_is_there()
    assert arm.nearest < 1.0


class OnlyWays:
    """Stands for a guard that finds nothing in collision, and only some ways free."""

    def __init__(self, *ways):
        self._ways = [np.array(way) for way in ways]

    def collision_at(self, q):
        return ''

    def is_path_free(self, q, goal):
        return any(np.allclose(way, [q, goal], atol=1e-3) for way in self._ways)


def test_arm_goes_back_to_where_it_set_out_where_the_way_on_is_free_from_there():
    chain = load_urdf(PLANAR).chain()
    solver = FabrikSolver(chain, SolverOptions(mode='position', max_restarts=0))
    now, set_out = np.array([0.3, 0.5]), np.array([-0.6, 0.9])
    T = chain.forward_kinematics(RIGHT)
    first = solver.solve(T, RIGHT)
    for goal in (RIGHT, other_elbow(RIGHT)):
        guard = OnlyWays([now, set_out], [set_out, goal])
        chooser = GoalChooser(guard, chain, solver.solve, np.ones(2))
        assert not chooser.path(first, T, now, math.inf).has_path
        choice = chooser.path(first, T, now, math.inf, set_out)
        assert choice.has_path
        assert_close(choice.via, set_out, 0.0)
        assert_close(choice.answer.q, goal, 1e-4)


def test_goal_and_way_are_the_same_every_time():
    ends = []
    for _ in range(2):
        arm = PostArm([place(np.zeros(2), TIP)], TIP, (-0.5, 0.0), path='joint')
        arm.aim(np.array([0.5, 0.1]))
        arm.steps(150)
        ends.append(arm.motion.q)
    assert np.array_equal(*ends)


def test_home_behind_a_post_is_not_gone_to_by_another_way():
    """Joint values were asked for, not a pose."""
    arm = PostArm([POST], ELBOW, LEFT, xml=TURNING_ON, path='joint')
    arm.motion.go_to(RIGHT)
    arm.run()
    assert why(arm.motion).startswith('self-collision ahead: ')


# Two arms on one base, 1.6 m apart; balls on the elbow of the one and on the hand of the other.

TWO_ARMS = tree_xml(
    [
        Segment(xyz=(0.0, 0.8, 0.0)),
        Segment(xyz=(1.0, 0.0, 0.0)),
        Segment('fixed', xyz=(0.8, 0.0, 0.0)),
        Segment(xyz=(0.0, -0.8, 0.0)),
        Segment(xyz=(1.0, 0.0, 0.0)),
        Segment('fixed', xyz=(0.8, 0.0, 0.0)),
    ],
    [0, 1, 2, 0, 4, 5],
)


def two_arms_motion(start, **options):
    robot = load_urdf(with_bodies(TWO_ARMS, {'l2': body(BALL), 'l6': body(BALL)}))
    tree = robot.tree('l0', ['l3', 'l6'])
    limits = MotionLimits(0.5, 2.0, 2.0, np.full(4, 1.5), np.full(4, 5.0))
    solver = SolverOptions(mode='position', max_restarts=20, budget=math.inf)
    guard = CollisionGuard(SelfCollision(robot, tree))
    motion = Motion(tree, limits, solver, MotionOptions(**options), guard=guard)
    motion.reset(np.array(start))
    return motion


def gap(q):
    """Distance [m] between the ball on the left elbow and that on the right hand."""
    elbow = place(q[:2], ELBOW) + np.array([0.0, 0.8])
    hand = place(q[2:], TIP) - np.array([0.0, 0.8])
    return float(np.linalg.norm(elbow - hand)) - 2.0 * RADIUS


def test_elbow_keeps_away_from_the_hand_of_the_other_arm_which_stays():
    right = np.array([0.9, 0.35])
    away = place(right, TIP) - [0.0, 1.6]
    touching = np.array([math.atan2(away[1], away[0]), 1.2])
    start = np.concatenate([touching + np.array([0.7, -0.3]), right])
    motion = two_arms_motion(start, path='joint')
    T = motion.robot.forward_kinematics(np.concatenate([touching, right]))
    assert gap(np.concatenate([touching, right])) < CLEARANCE
    T[1] = np.nan
    assert motion.aim(T)
    for _ in range(1000):
        motion.step(0.01)
        assert gap(motion.q) > CLEARANCE - ROUNDING
    assert motion.is_at_rest
    assert why(motion) == ''
    assert_close(motion.q[2:], right, 1e-9)
    assert_close(place(motion.q[:2], TIP), place(touching, TIP), 1e-5)
