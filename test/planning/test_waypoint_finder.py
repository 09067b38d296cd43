"""
Paths in joint space: to goals in self-collision, and past the arm; distances by trigonometry.

Two links of 1.0 m and 0.8 m turn about z. A ball sits on the elbow or on the tip, and others, the
posts, stand beside the base.

"""

import itertools
import math
from types import SimpleNamespace

from collision_models import body, with_bodies
from fabrik_ros import FabrikSolver, load_urdf, SolverOptions
from fabrik_ros.collision import CollisionGuard, SelfCollision
from fabrik_ros.kernels._jit import COMPILED
from fabrik_ros.motion.choosing.goal import Goal, MotionOptions
from fabrik_ros.motion.choosing.motion import Motion
from fabrik_ros.motion.limits.limits import MotionLimits
from fabrik_ros.planning.pieces import finish
from fabrik_ros.planning.waypoint_finder import WaypointFinder
from fabrik_ros.reasons import Reason, ReasonKind
from helpers import assert_close, mostly_long, PLANAR, Segment, tree_xml, why
from hypothesis import given, settings, strategies as st
import numpy as np
import pytest

pytest.importorskip('coal', reason='coal measures the distances')

RADIUS, CLEARANCE, ROUNDING = 0.1, 0.002, 1e-5
BALL = f'<sphere radius="{RADIUS}"/>'
ELBOW, TIP = 'l2', 'l3'
EXAMPLES = 20 if COMPILED else 2
PLACE = SolverOptions(mode='position', position_tolerance=1e-6, max_restarts=20, budget=math.inf)
TURNING_ON = PLANAR.replace('"-3.0" upper="3.0"', '"-6.0" upper="6.0"')


def place(q, link):
    """Where the elbow or the tip is, shape (..., 2), at joint values of shape (..., 2)."""
    a, b = np.moveaxis(np.cumsum(q, axis=-1), -1, 0)
    elbow = np.stack([np.cos(a), np.sin(a)], axis=-1)
    return elbow if link == ELBOW else elbow + 0.8 * np.stack([np.cos(b), np.sin(b)], axis=-1)


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
        guard = CollisionGuard(SelfCollision(robot, chain))
        self.motion = Motion(chain, limits, PLACE, MotionOptions(**options), guard=guard)
        self.motion.reset(np.array(start, dtype=float))
        self._posts, self._link = np.array(posts), link
        self.nearest = math.inf

    def aim(self, q):
        """Send the arm where the tip is at joint values `q`."""
        self.goal = np.array(q)
        return self.motion.aim(self.motion.robot.forward_kinematics(self.goal))

    def stream(self, q):
        """Send it there as if more targets followed."""
        self.goal = np.array(q)
        T = self.motion.robot.forward_kinematics(self.goal)
        self.motion.pursue(Goal.of(T[None]), in_stream=True)

    def execute(self):
        """Take the path that is proposed."""
        taken = self.motion.execute()
        self.motion.look(0.0)
        return taken

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
            if self.motion.is_at_rest and not self.motion.is_looking:
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
    assert_close(arm.motion.path.q, other_elbow(ELBOW_UP), 1e-4)
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


AHEAD = "collision: 'l0' and 'l2' would come within 2 mm of each other"


def test_line_into_a_post_is_not_begun_and_the_reason_names_the_links_and_the_place():
    arm = PostArm([POST], ELBOW, BESIDE, path='line')
    assert not arm.aim(ELBOW_UP)
    assert why(arm.motion).startswith('the line ends after ')
    assert why(arm.motion).endswith(AHEAD)
    assert arm.motion.reason.kind is ReasonKind.COLLISION_AHEAD
    begin, end = place(BESIDE, TIP), place(ELBOW_UP, TIP)
    met = arm.motion.reason.place[0, :2]
    along = (met - begin) @ (end - begin) / np.dot(end - begin, end - begin)
    assert 0.0 < along < 1.0
    assert_close(met, begin + along * (end - begin), 1e-4)
    arm.steps(50)
    assert_close(arm.motion.q, BESIDE, 0.0)


def test_line_of_a_stream_into_a_post_ends_in_front_of_it():
    arm = PostArm([POST], ELBOW, BESIDE, path='line')
    arm.stream(ELBOW_UP)
    arm.run()
    assert why(arm.motion).startswith("collision ahead: 'l0' and 'l2' would come within 2 mm")
    assert 'stream_timeout' in why(arm.motion)
    assert arm.nearest < 0.05


def test_arm_that_may_leave_the_line_goes_to_the_other_side_at_once():
    arm = PostArm([POST], ELBOW, BESIDE, path='auto')
    assert arm.aim(ELBOW_UP)
    arm.run()
    arm.check_that_it_is_there()
    assert_close(arm.motion.q, other_elbow(ELBOW_UP), 1e-4)


def test_arm_whose_line_turns_out_to_be_blocked_under_way_stops_and_looks_for_another_path():
    """The goal comes while it follows a line: it heads for that at once, and looks meanwhile."""
    arm = PostArm([POST], ELBOW, BESIDE, path='auto')
    arm.aim(np.array([0.9, 1.5]))
    arm.steps(10)
    assert arm.motion.velocity.any()
    assert arm.aim(ELBOW_UP)
    arm.run()
    arm.check_that_it_is_there()
    assert_close(arm.motion.q, other_elbow(ELBOW_UP), 1e-4)


def test_line_that_is_blocked_under_way_twice_is_left_in_the_end():
    """A guard may forbid at speed what was free when it was looked at."""
    arm, kinds = PostArm([POST], ELBOW, BESIDE, path='auto'), []
    blocked = Reason(ReasonKind.COLLISION_AHEAD, 'something is in the way')
    assert arm.aim(np.array([0.9, 1.5]))
    for _ in range(3):
        kinds.append(arm.motion.found.kind)
        arm.steps(10)
        arm.motion.stop_short(blocked)
        while not arm.motion.is_at_rest:
            arm.steps(1)
        arm.motion.look(0.0)
    assert kinds == ['line', 'line', 'joint']
    assert arm.motion.reason == blocked, 'it does not try for ever'


# Posts on both sides.

POSTS = [POST, place(other_elbow(ELBOW_UP), ELBOW)]
BETWEEN = (-0.7, 0.8)
TOUCHES = "the target is in collision: 'l0' and 'l2' would come within 2 mm of each other"


@pytest.mark.parametrize('path', ['auto', 'line', 'joint'])
def test_target_that_cannot_be_reached_without_touching_is_refused_where_it_is_to_hold(path):
    arm = PostArm(POSTS, ELBOW, BETWEEN, path=path, approach_unreachable=False)
    assert not arm.aim(ELBOW_UP)
    assert arm.motion.is_at_rest
    assert why(arm.motion) == TOUCHES
    arm.steps(10)
    assert_close(arm.motion.q, np.array(BETWEEN), 0.0)


@pytest.mark.parametrize('path', ['auto', 'line', 'joint'])
def test_target_that_cannot_be_reached_without_touching_is_approached_and_says_so(path):
    arm = PostArm(POSTS, ELBOW, BETWEEN, path=path)
    assert arm.aim(ELBOW_UP)
    assert why(arm.motion) == TOUCHES
    arm.run()
    assert why(arm.motion).startswith(f'{TOUCHES}; collision ahead: ')
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
    assert 'farther away than the arm is long; the target is in collision' in why(arm.motion)
    arm.run()
    assert 'farther away than the arm is long; the target is in collision' in why(arm.motion)
    assert arm.nearest < 0.05


# The goal is free, and a post in the way.

LEFT, RIGHT = np.array([-0.9, 1.0]), np.array([0.9, 1.0])


def test_arm_turns_the_other_way_round_where_a_post_is_in_the_way():
    arm = PostArm([POST], ELBOW, LEFT, xml=TURNING_ON, path='joint')
    arm.aim(RIGHT)
    assert_close(arm.motion.path.q[0], other_elbow(RIGHT)[0] - 2.0 * math.pi, 1.5)
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


@pytest.mark.long
def test_detour_waits_until_it_is_confirmed_and_is_taken_then():
    start = np.array([-0.5, 0.0])
    arm = PostArm([place(np.zeros(2), TIP)], TIP, start, path='auto', max_detour=0.2)
    assert not arm.aim(np.array([0.5, 0.0]))
    assert arm.motion.reason.kind is ReasonKind.AWAITS_EXECUTE
    assert 'max_detour 0.20' in why(arm.motion)
    (joint,) = arm.motion.reason.joints
    beyond = arm.motion.found.preview.travel - np.abs(arm.motion.found.preview.q - start)
    assert joint == arm.motion.robot.joint_names[int(np.argmax(beyond))]
    assert beyond.max() > 0.2
    arm.steps(100)
    assert_close(arm.motion.q, start, 0.0)
    assert arm.execute()
    arm.run()
    arm.check_that_it_is_there()
    assert not arm.execute(), 'nothing is proposed any longer'


@pytest.mark.parametrize('most', mostly_long([0.0, 0.5, 1.0, 3.0], 3.0))
def test_no_joint_turns_farther_beyond_the_direct_way_than_max_detour_unasked(most):
    start = np.array([-0.5, 0.0])
    arm = PostArm([place(np.zeros(2), TIP)], TIP, start, path='joint', max_detour=most)
    if not arm.aim(np.array([0.5, 0.0])):
        assert arm.motion.waits_for_execute
        return
    travel, before = np.zeros(2), start
    while not arm.motion.is_at_rest:
        arm.steps(1)
        travel += np.abs(arm.motion.q - before)
        before = arm.motion.q
    assert np.max(travel - np.abs(before - start)) <= most + 1e-6


@pytest.mark.parametrize(
    ('confirm', 'waits_on_line', 'waits_beside'),
    [('never', False, False), ('leaving_line', False, True), ('always', True, True)],
)
def test_confirm_says_which_paths_wait(confirm, waits_on_line, waits_beside):
    for goal, waits in ((np.array([0.9, 1.5]), waits_on_line), (ELBOW_UP, waits_beside)):
        arm = PostArm([POST], ELBOW, BESIDE, path='auto', confirm=confirm)
        assert arm.aim(goal) != waits
        if waits:
            assert arm.motion.reason.kind is ReasonKind.AWAITS_EXECUTE
            assert f'confirm: {confirm}' in why(arm.motion)
            arm.steps(20)
            assert_close(arm.motion.q, BESIDE, 0.0)
            assert arm.execute()
        arm.run()
        arm.check_that_it_is_there()


def test_strict_joint_target_behind_a_post_is_reached_over_others():
    """Joint values were asked for with a look: they are what it goes to, in the same turn."""
    start, end = np.array([-0.5, 0.0]), np.array([0.5, 0.0])
    arm = PostArm([place(np.zeros(2), TIP)], TIP, start)
    arm.motion.pursue_configuration(end)
    arm.motion.look(0.0)
    assert not arm.motion.is_at_rest
    arm.run()
    assert why(arm.motion) == ''
    assert_close(arm.motion.q, end, 1e-9)


def test_goal_and_way_are_the_same_every_time():
    ends = []
    for _ in range(2):
        arm = PostArm([place(np.zeros(2), TIP)], TIP, (-0.5, 0.0), path='joint')
        arm.aim(np.array([0.5, 0.1]))
        arm.steps(150)
        ends.append(arm.motion.q)
    assert np.array_equal(*ends)


def test_direct_motion_to_joint_values_ends_in_front_of_a_post():
    """`go_to` takes no look, and no other way."""
    arm = PostArm([POST], ELBOW, LEFT, xml=TURNING_ON, path='joint')
    arm.motion.go_to(RIGHT)
    arm.run()
    assert why(arm.motion).startswith('collision ahead: ')


# Laws of paths and goals, with posts anywhere.

numbers = st.integers(0, 2**32 - 1)


class Posts:
    """Paths of an arm among random posts, and what trigonometry says of them."""

    def __init__(self, seed, xml=TURNING_ON):
        self.rng = np.random.default_rng(seed)
        self.posts = self.rng.uniform(-1.6, 1.6, (2, 2))
        bodies = {'l0': ''.join(body(BALL, f'{x} {y} 0') for x, y in self.posts), TIP: body(BALL)}
        robot = load_urdf(with_bodies(xml, bodies))
        self.chain = robot.chain('l0', 'l3')
        self.guard = CollisionGuard(SelfCollision(robot, self.chain))
        solver = FabrikSolver(self.chain, PLACE)
        self.solve = lambda T, q: solver.solve(T[0], q)
        self.fastest = np.array([1.0, 2.0])
        self.waypoints = WaypointFinder(self.chain, self.solve, self.fastest, self.guard)

    def free_configuration(self):
        while True:
            q = self.chain.random_configuration(self.rng)
            if self.distance(q) > 2.0 * CLEARANCE:
                return q

    def distance(self, q):
        """Return the distance [m] of the tip from the nearest post, shape (...)."""
        away = place(q, TIP)[..., None, :] - self.posts
        return np.linalg.norm(away, axis=-1).min(axis=-1) - 2.0 * RADIUS

    def goals(self, q):
        T = self.chain.forward_kinematics(self.free_configuration())
        return T, finish(self.waypoints.goals(self.solve(T[None], q), T[None], q))


@given(numbers)
@settings(max_examples=EXAMPLES, deadline=None)
def test_goals_are_there_inside_the_limits_free_and_the_one_soonest_reached_is_first(seed):
    posts = Posts(seed)
    q = posts.free_configuration()
    T, goals = posts.goals(q)
    assert goals
    for goal in goals:
        assert_close(place(goal, TIP), T[:2, 3], 1e-5)
        assert np.all((posts.chain.lower <= goal) & (goal <= posts.chain.upper))
        assert posts.distance(goal) > CLEARANCE - ROUNDING
    durations = [np.max(np.abs(goal - q) / posts.fastest) for goal in goals]
    assert durations == sorted(durations)


@given(numbers)
@settings(max_examples=EXAMPLES, deadline=None)
def test_every_path_is_free_by_trigonometry_at_steps_of_a_milliradian(seed):
    posts = Posts(seed)
    q = posts.free_configuration()
    T, goals = posts.goals(q)
    found = itertools.islice(filter(None, posts.waypoints.candidates(goals, q, T[None])), 6)
    for waypoints in found:
        # A goal that was turned by a whole turn, and back, differs in its last digit.
        assert min(np.abs(waypoints[-1] - goal).max() for goal in goals) < 1e-12
        for start, end in itertools.pairwise((q, *waypoints)):
            assert np.all((posts.chain.lower <= end) & (end <= posts.chain.upper))
            count = math.ceil(1e3 * np.abs(end - start).max()) + 1
            on_path = start + np.linspace(0.0, 1.0, count)[:, None] * (end - start)
            assert posts.distance(on_path).min() > CLEARANCE - ROUNDING


@given(numbers)
@settings(max_examples=EXAMPLES, deadline=None)
def test_direct_path_is_the_first_where_trigonometry_finds_it_free(seed):
    posts = Posts(seed)
    q, goal = posts.free_configuration(), posts.free_configuration()
    on_path = q + np.linspace(0.0, 1.0, 2000)[:, None] * (goal - q)
    if posts.distance(on_path).min() > 2.0 * CLEARANCE:
        first = next(filter(None, posts.waypoints.candidates((goal,), q)))
        assert np.array_equal(first, (goal,))


def test_waypoints_are_the_same_every_time():
    def candidates():
        posts = Posts(5)
        q = posts.free_configuration()
        T, goals = posts.goals(q)
        return list(
            itertools.islice(filter(None, posts.waypoints.candidates(goals, q, T[None])), 4)
        )

    for waypoints, again in zip(candidates(), candidates(), strict=True):
        assert np.array_equal(waypoints, again)


@given(numbers, st.floats(-20.0, 20.0), st.floats(-20.0, 20.0))
@settings(max_examples=EXAMPLES, deadline=None)
def test_whole_turns_keep_the_pose_and_the_limits_and_the_nearest_is_among_them(seed, a, b):
    """From wherever the arm is, as no other configuration of the goal is found here."""
    chain = load_urdf(TURNING_ON).chain()
    answer = chain.random_configuration(np.random.default_rng(seed))
    no_other = SimpleNamespace(converged=False, orientation_error=0.0)
    waypoints = WaypointFinder(chain, lambda T, q: no_other, np.ones(2), None)
    T = chain.forward_kinematics(answer)[None]
    q = np.array([a, b])
    first = SimpleNamespace(q=answer, converged=True, orientation_error=0.0)
    goals = finish(waypoints.goals(first, T, q))
    turns = itertools.product(range(-2, 3), repeat=2)
    same = [answer + 2.0 * math.pi * np.array(turn) for turn in turns]
    inside = [it for it in same if np.all((chain.lower <= it) & (it <= chain.upper))]
    for goal in goals:
        assert min(np.abs(goal - it).max() for it in inside) < 1e-9
    nearest = min(np.abs(it - q).sum() for it in inside)
    assert min(np.abs(goal - q).sum() for goal in goals) < nearest + 1e-9


@pytest.mark.parametrize('path', mostly_long(['auto', 'line', 'joint'], 'auto'))
@given(numbers)
@settings(max_examples=EXAMPLES, deadline=None)
def test_arm_either_arrives_without_stopping_or_never_moves_and_says_why(path, seed):
    """What was looked at is what happens: nothing is blocked after it has set out."""
    posts = Posts(seed)
    limits = MotionLimits(0.5, 2.0, 2.0, np.full(2, 1.5), np.full(2, 5.0))
    options = MotionOptions(path=path, max_detour=9.0)
    motion = Motion(posts.chain, limits, PLACE, options, guard=posts.guard)
    start, goal = posts.free_configuration(), posts.free_configuration()
    motion.reset(start)
    sets_out = motion.aim(posts.chain.forward_kinematics(goal))
    for step in range(4000):
        if motion.is_at_rest and step > 20:
            break
        motion.step(0.01)
        assert posts.distance(motion.q) > CLEARANCE - ROUNDING
    if sets_out:
        assert why(motion) == ''
        assert_close(place(motion.q, TIP), place(goal, TIP), 1e-5)
    else:
        assert why(motion)
        assert motion.reason.place is not None or path == 'joint'
        assert np.array_equal(motion.q, start)


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
