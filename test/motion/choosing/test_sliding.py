"""
Where a stream or a jog is blocked, the tool goes on with what is possible.

Pinocchio and coal judge where the tip is and what it is near; a hand leads it.

"""

from dataclasses import replace
import itertools
import math

import pytest

pytest.importorskip('pinocchio', reason='pinocchio is the judge')
pytest.importorskip('coal', reason='coal measures the distances')
pytest.importorskip('xacro')

from command_judge import accelerations, velocities
from fabrik_ros import ArmFollower, example_arm, FollowerOptions, load_urdf, State
from fabrik_ros.collision import Obstacle, Scene
from fabrik_ros.kernels._jit import COMPILED
from fabrik_ros.model.geometry import Box
from fabrik_ros.motion.choosing.goal import GoalResolver
from fabrik_ros.reasons import ReasonKind
from helpers import example_robot, examples
from hypothesis import given, settings, strategies as st
from judging import Judge, pose_errors
import numpy as np
import pinocchio
from plan_judge import PlanJudge
from scipy.optimize import minimize

ROBOT = load_urdf(example_arm('six_axis'))
CHAIN = ROBOT.chain('base_link', 'tool0')
JUDGE = Judge(ROBOT.source, 'base_link', 'tool0')
START = np.array([0.0, -1.3, 1.6, -1.9, -1.57, 0.0])
T_START = JUDGE.pose(START)
DT, HAND_SPEED = 0.01, 0.2
WALL = {'wall': ((2.0, 0.02, 2.0), (0.0, 0.45, 0.6))}
"""Its sizes and its middle [m]; the tip begins at y = 0.13."""
FASTEST, HARDEST = 1.5, 5.0
SLACK = 1e-4
"""Error of measured distances [m]."""


class Led:
    """An arm among boxes that is led by a hand, and what it did."""

    def __init__(self, boxes=None, start=START, robot=ROBOT, chain=CHAIN, **options):
        boxes = boxes or {}
        self.boxes, self.options = boxes, FollowerOptions(**options)
        self.judge = PlanJudge(robot.source, chain.joint_names, boxes)
        obstacles = [
            Obstacle(name, Box(size), pinocchio.SE3(np.eye(3), np.array(centre)).homogeneous)
            for name, (size, centre) in boxes.items()
        ]
        scene = Scene(obstacles) if obstacles else None
        self.arm = ArmFollower(
            chain, self.options, robot=robot, scene=scene, looking_time=math.inf
        )
        self.arm.step(None, DT, measured=start)
        self.q, self.states, self.reasons = [np.array(start)], [], []

    def step(self, target=None):
        q = self.arm.step(target, DT, measured=self.q[-1])
        self.q.append(np.array(q))
        self.states.append(self.arm.state)
        self.reasons.append(self.arm.reason)

    def follow(self, hand, steps, every=1):
        for i in range(steps):
            self.step(hand(i * DT) if i % every == 0 else None)
        return self

    def jog(self, twist, steps):
        for _ in range(steps):
            self.arm.jog(np.array(twist))
            self.step()
        return self

    @property
    def tips(self):
        return np.array([JUDGE.pose(q)[:3, 3] for q in self.q])

    @property
    def pace(self):
        return np.linalg.norm(np.diff(self.tips, axis=0), axis=1) / DT

    def check_limits(self, scaling=1.0):
        times = DT * np.arange(len(self.q))
        assert np.abs(velocities(times, np.array(self.q))).max() <= FASTEST * scaling * (1 + 1e-6)
        assert np.abs(accelerations(times, np.array(self.q))).max() <= HARDEST * (1.0 + 1e-4)
        assert self.pace.max() <= scaling * self.options.max_tip_speed * (1.0 + 1e-3)

    def check_clear(self, every=3):
        assert min(self.judge.nearest(q) for q in self.q[::every]) > -SLACK

    def kinds(self, since=0):
        return {reason and reason.kind for reason in self.reasons[since:]}


def offset(x=0.0, y=0.0, z=0.0):
    T = T_START.copy()
    T[:3, 3] += x, y, z
    return T


def into_the_wall(t):
    """Lead far behind the wall, and along it."""
    return offset(y=min(HAND_SPEED * t, 0.6), z=0.1 * math.sin(1.5 * t))


def test_tool_slides_along_a_wall_and_says_so():
    led = Led(WALL).follow(into_the_wall, 900)
    led.check_limits()
    led.check_clear()
    behind = led.tips[400:, 2] - [into_the_wall(i * DT)[2, 3] for i in range(399, 900)]
    assert np.abs(behind).max() < 0.2 * 0.15
    assert np.mean(led.pace[400:] < 1e-3) < 0.02
    assert set(led.states[400:]) == {State.MOVING}
    assert led.kinds(400) == {ReasonKind.SLIDING}
    assert 'wall' in str(led.reasons[-1])
    assert np.ptp(led.tips[500:, 1]) < 1e-3


def test_strict_lines_stand_in_front_of_it():
    led = Led(WALL, path='line').follow(into_the_wall, 600)
    assert led.pace[400:].max() < 1e-3
    assert set(led.states[400:]) == {State.HOLDING}


def test_hand_that_trembles_behind_a_wall_moves_the_tool_no_millimetre_towards_it():
    rng = np.random.default_rng(0)

    def hand(t):
        T = offset(y=min(HAND_SPEED * t, 0.4))
        T[:3, 3] += rng.normal(0.0, 2e-3, 3)
        return T

    led = Led(WALL).follow(hand, 900, every=2)
    led.check_limits()
    led.check_clear()
    assert np.ptp(led.tips[400:, 1]) < 1e-3


def test_hand_that_stands_brings_the_tool_to_rest_beside_it():
    led = Led(WALL).follow(into_the_wall, 380)
    last = into_the_wall(3.8)
    led.follow(lambda t: last, 300)
    assert led.states[-1] is State.HOLDING
    assert "collision ahead: 'wrist_2_link' and 'wall'" in str(led.reasons[-1])
    assert np.allclose(led.q[-1], led.q[-20], atol=1e-9)
    assert abs(led.tips[-1, 2] - last[2, 3]) < 5e-3
    assert pose_errors(last, JUDGE.pose(led.q[-1]))[1] < 0.05
    led.check_clear()


def test_target_that_comes_as_the_tool_comes_to_rest_is_not_lost():
    """The step in which a slide came to rest was its last, even for a hand that came back."""

    def hand(t):
        return offset(y=min(HAND_SPEED * t, 0.6), z=0.1 * math.sin(1.5 * min(t, 3.8)))

    held = Led(WALL).follow(hand, 381).follow(lambda t: None, 100)
    rests = held.states.index(State.HOLDING) - 381
    for steps in range(rests - 2, rests + 2):
        led = Led(WALL).follow(hand, 381).follow(lambda t: None, steps)
        led.step(offset(y=0.05))
        led.follow(lambda t: None, 250)
        assert led.states[-1] is State.REACHED
        assert pose_errors(JUDGE.pose(led.q[-1]), offset(y=0.05))[0] < 1e-4


def test_hand_that_comes_back_is_followed_exactly_again():
    led = Led(WALL).follow(into_the_wall, 500)
    goal = offset(y=0.05)
    led.follow(lambda t: goal, 400)
    assert led.states[-1] is State.REACHED
    assert pose_errors(goal, JUDGE.pose(led.q[-1]))[0] < 1e-5
    assert led.reasons[-1] is None


@pytest.mark.parametrize('spare', [3e-4, 1.5e-3])
def test_hand_that_ends_beside_the_clearance_is_met(spare):
    """Nearer than a slide comes."""
    led = Led(WALL).follow(into_the_wall, 500)
    before = led.judge.nearest(led.q[-1])
    T = JUDGE.pose(led.q[-1])
    T[:3, :3], T[1, 3] = T_START[:3, :3], T[1, 3] - 0.008
    led.follow(lambda t: T, 300)
    there = led.judge.nearest(led.q[-1])
    goal = T.copy()
    goal[1, 3] += there - spare
    led.follow(lambda t: T + min(t, 1.0) * (goal - T), 300)
    assert before > 0.0
    assert led.states[-1] is State.REACHED
    assert pose_errors(goal, JUDGE.pose(led.q[-1]))[0] < 1e-3
    led.check_clear()


@pytest.mark.parametrize('spare', [2e-4, 8e-4])
def test_line_ends_where_a_slide_keeps_farther_off(spare):
    """The goal of a hand that was far behind the wall, and has turned round."""
    led = Led(WALL).follow(into_the_wall, 500)
    goal = JUDGE.pose(led.q[-1])
    goal[1, 3] += led.judge.nearest(led.q[-1]) - spare
    led.follow(lambda t: goal, 200)
    assert led.states[-1] is State.REACHED
    assert pose_errors(goal, JUDGE.pose(led.q[-1]))[0] < 1e-5
    led.check_clear()


@pytest.mark.parametrize('every', [1, 7])
def test_jog_slides_and_rests_once_it_is_let_go(every):
    led = Led(WALL)
    for _ in range(500 // every):
        led.jog([0.0, 0.1, 0.03, 0.0, 0.0, 0.0], 1)
        for _ in range(every - 1):
            led.step()
    led.check_limits()
    led.check_clear()
    sliding = led.tips[-100:]
    assert np.ptp(sliding[:, 1]) < 1e-3
    assert np.diff(sliding[:, 2]).min() > 0.9 * 0.03 * DT
    assert set(led.states[-100:]) == {State.JOGGING}
    led.follow(lambda t: None, 100)
    assert np.array_equal(led.q[-1], led.q[-20])
    assert led.arm.state is State.HOLDING


def test_jog_straight_into_a_wall_stands_and_says_why():
    led = Led(WALL).jog([0.0, 0.1, 0.0, 0.0, 0.0, 0.0], 700)
    assert led.pace[-100:].max() < 2e-3
    assert led.states[-1] is State.HOLDING
    assert led.reasons[-1].kind is ReasonKind.JOG_BLOCKED
    assert 'wall' in str(led.reasons[-1])
    led.jog([0.0, -0.1, 0.0, 0.0, 0.0, 0.0], 100)
    assert led.states[-1] is State.JOGGING
    assert led.reasons[-1] is None
    assert led.pace[-1] == pytest.approx(0.1, rel=1e-2)


def test_jog_that_is_lost_while_the_node_stands_still_does_not_go_on():
    led = Led(WALL).jog([0.0, 0.1, 0.05, 0.0, 0.0, 0.0], 450)
    assert led.kinds(-1) == {ReasonKind.SLIDING}
    led.arm.jog(np.zeros(6))
    led.arm._motion.halt()
    before = led.q[-1]
    led.follow(lambda t: None, 100)
    assert np.abs(np.array(led.q[-100:]) - before).max() < 1e-9


def test_slow_jog_along_a_wall_goes_on_and_says_so():
    led = Led(WALL).jog([0.0, 0.1, 0.03, 0.0, 0.0, 0.0], 500)
    led.jog([0.0, 6e-4, 3e-4, 0.0, 0.0, 0.0], 300)
    assert set(led.states[-250:]) == {State.JOGGING}
    assert led.tips[-1, 2] - led.tips[-251, 2] > 0.9 * 3e-4 * 250 * DT


@pytest.mark.parametrize('steps', [116, 120, 144])
def test_jog_that_ends_in_front_of_a_wall_comes_to_rest_and_stays(steps):
    """The tool brakes so gently that the guard stops it after the jog has ended."""
    led = Led(WALL, max_tip_acceleration=0.25).jog([0.0, 0.25, 0.0, 0.0, 0.0, 0.0], steps)
    led.jog([0.0] * 6, 1).follow(lambda t: None, 250)
    assert led.states[-1] is State.HOLDING
    assert led.arm._motion.is_at_rest
    led.check_clear()


def test_jog_that_is_lost_rests_without_sliding_any_more():
    led = Led(WALL, max_tip_acceleration=0.25).jog([0.0, 0.2, 0.05, 0.0, 0.0, 0.0], 450)
    assert led.kinds(-1) == {ReasonKind.SLIDING}
    led.follow(lambda t: None, 300)
    assert led.states[-1] is State.HOLDING
    assert led.reasons[-1].kind is not ReasonKind.SLIDING


def test_strict_lines_asked_for_on_the_way_end_the_slide():
    led = Led(WALL).follow(into_the_wall, 500)
    motion = led.arm._motion
    strict = replace(motion.options, path='line')
    motion.change(motion.limits, led.options.solver, strict)
    led.follow(lambda t: into_the_wall(5.0 + t), 300)
    assert led.states[-1] is State.HOLDING
    assert np.ptp(led.tips[-100:], axis=0).max() < 2e-3


def test_paused_slide_waits_and_goes_on_for_a_hand_that_stands():
    led = Led(WALL).follow(into_the_wall, 380)
    hand = into_the_wall(3.2)
    led.follow(lambda t: hand, 3)
    led.arm._motion.scale_speed(0.0)
    led.follow(lambda t: None, 200)
    assert led.pace[-1] < 1e-9
    paused = led.tips[-1]
    led.arm._motion.scale_speed(1.0)
    led.follow(lambda t: None, 300)
    assert np.linalg.norm(led.tips[-1] - paused) > 0.01
    assert abs(led.tips[-1, 2] - hand[2, 3]) < 5e-3


def test_stretched_arm_does_not_chatter():
    """A hand far out of reach, that stands: the elbow comes to rest."""
    led = Led().jog([0.2, 0.0, 0.0, 0.0, 0.0, 0.0], 900)
    led.check_limits()
    turns = np.sum(np.diff(np.sign(np.diff(np.array(led.q[-300:]), axis=0)), axis=0) != 0)
    assert turns < 6 * 6
    assert np.abs(np.diff(led.q[-100:], axis=0)).max() / DT < 0.2


@pytest.mark.parametrize('lets_go', [False, True])
@pytest.mark.parametrize('way', [(1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 0, -1), (1, 1, 1)])
def test_arm_at_the_end_of_its_reach_is_jogged_back(way, lets_go):
    """Straight elbows let no small step lead back: there the tool held still for ever."""
    out = np.append(0.25 * np.array(way) / np.linalg.norm(way), (0.0, 0.0, 0.0))
    led = Led()
    while State.HOLDING not in led.states[-1:]:
        led.jog(out, 1)
        assert len(led.q) < 2000
    if lets_go:
        led.jog(0.0 * out, 1).follow(lambda t: None, 50)
    end = led.tips[-1]
    led.jog(-out, 100)
    assert led.states[-1] is State.JOGGING
    assert (end - led.tips[-1]) @ out[:3] > 0.04 * 0.25
    led.check_limits()


def test_hand_far_beyond_the_reach_brings_the_arm_to_rest():
    """The elbow of the stretched arm trembled as long as the hand stood, and it said MOVING."""
    led = Led().follow(lambda t: offset(x=min(0.25 * t, 1.2)), 482)
    led.follow(lambda t: None, 300)
    assert led.states[-1] is State.HOLDING
    assert np.abs(np.diff(led.q[-50:], axis=0)).max() < 1e-9


@pytest.mark.skipif(example_robot('ur5') is None, reason='example-robot-data is not installed')
def test_tool_does_not_crawl_past_a_singular_configuration_far_behind_its_hand():
    """The folded arm is nearly straight above its base, and the hand leads past that."""
    robot = load_urdf(example_robot('ur5'))
    chain = robot.chain('base_link', 'tool0')
    judge = Judge(robot.source, 'base_link', 'tool0')
    begin, end = (
        pinocchio.SE3(pinocchio.exp3(np.array(turn)), np.array(place))
        for turn, place in (
            ((-2.0, 0.13, -1.01), (0.03, -0.02, 0.43)),
            ((-2.46, 0.27, -0.39), (-0.01, -0.08, 0.31)),
        )
    )
    q, arm = np.array([-0.89, -0.22, -2.15, -2.11, 0.15, 0.6]), ArmFollower(chain)
    arm.step(None, DT, measured=q)
    tips = [judge.pose(q)[:3, 3]]
    for i in range(155):
        hand = pinocchio.SE3.Interpolate(begin, end, i / 154).homogeneous
        q = arm.step(hand if i % 3 == 0 else None, DT, measured=q)
        tips.append(judge.pose(q)[:3, 3])
    paces = np.linalg.norm(np.diff(tips, axis=0), axis=1) / DT
    crawls = [len(list(run)) for slow, run in itertools.groupby(paces < 0.0125) if slow]
    assert max(crawls) * DT < 0.6


def test_joint_at_its_limit_lets_the_others_go_on():
    start = np.array([*START[:5], JUDGE.upper[5] - 0.2])
    turn = 0.5 * JUDGE.pose(start)[:3, 2]
    led = Led(start=start).jog([0.0, 0.05, 0.0, *turn], 300)
    led.check_limits()
    assert led.pace[-1] > 0.04
    assert led.kinds(-1) == {ReasonKind.SLIDING}
    assert CHAIN.joint_names[5] in led.reasons[-1].joints


@pytest.mark.parametrize('speed', [1e-3, 1e-2])
def test_slow_tool_slides_as_upright_as_a_fast_one(speed):
    led = Led(WALL).follow(into_the_wall, 400)
    slow = Led(WALL, start=led.q[-1], max_tip_speed=speed)
    slow.follow(lambda t: offset(y=0.6, z=0.3 + 0.1 * t), 500, every=5)
    slow.check_limits()
    assert np.mean(slow.pace[150:] < 0.9 * speed) < 0.02
    tilted = [pose_errors(JUDGE.pose(q), T_START)[1] for q in (led.q[-1], slow.q[-1])]
    assert tilted[1] < tilted[0] + 0.01


BEFORE_THE_END = np.array([-1.286, -1.903, -0.729, -0.582, 1.47, 1.532])
"""Joint values from which the elbow is stretched on the way below."""
BEYOND_THE_END = pinocchio.SE3(
    pinocchio.exp3(np.array([-1.01, 0.603, 1.604])), np.array([0.187, 0.811, 0.619])
).homogeneous


def out_of_reach(t):
    """Lead where the arm is too short, with the tool turned, within 2.5 s; then stand."""
    T, share = JUDGE.pose(BEFORE_THE_END), min(1.0, t / 2.5)
    turn = pinocchio.log3(T[:3, :3].T @ BEYOND_THE_END[:3, :3])
    T[:3, :3] = T[:3, :3] @ pinocchio.exp3(share * turn)
    T[:3, 3] += share * (BEYOND_THE_END[:3, 3] - T[:3, 3])
    return T


def nearer(q, T):
    """By how much scipy brings a tool nearer to a place from joint values, as upright [m]."""

    def missing(values):
        return pose_errors(JUDGE.pose(values), T)[0]

    turned = pose_errors(JUDGE.pose(q), T)[1]
    upright = {
        'type': 'ineq',
        'fun': lambda values: turned + 0.01 - pose_errors(JUDGE.pose(values), T)[1],
    }
    found = minimize(lambda x: 100.0 * missing(x) ** 2, q, method='SLSQP', constraints=[upright])
    return missing(q) - missing(found.x)


def test_hand_that_stands_beyond_the_reach_is_as_near_as_can_be_and_says_so_in_time():
    led = Led(start=BEFORE_THE_END).follow(out_of_reach, 800)
    led.check_limits()
    assert nearer(led.q[-1], BEYOND_THE_END) < 0.01
    ended = led.states.index(State.HOLDING)
    assert ended < 500
    assert set(led.states[ended:]) == {State.HOLDING}
    assert 'the end of its reach' in str(led.reasons[-1])
    said = [reason and reason.kind for reason in led.reasons[:ended]]
    assert sum(a != b for a, b in itertools.pairwise(said)) < 6


@pytest.fixture
def searches_fall_short(monkeypatch):
    """Let each search of a moving arm come to rest far from its goal."""
    resolve = GoalResolver.resolve

    def fall_short(self, T_goal, q, resting):
        if resting:
            return resolve(self, T_goal, q, resting)
        T_far = T_goal.copy()
        T_far[:, 0, 3] += 3.0
        return self._resolved(T_goal, resolve(self, T_far, q, resting).solution)

    def fall_short_nearby(self, T_goal, q):
        return fall_short(self, T_goal, q, False)

    monkeypatch.setattr(GoalResolver, 'resolve', fall_short)
    monkeypatch.setattr(GoalResolver, 'resolve_near', fall_short_nearby)


def test_goal_that_no_search_has_found_is_reached_all_the_same(searches_fall_short):
    led = Led().follow(lambda t: offset(y=min(0.1 * t, 0.1)), 120)
    led.follow(lambda t: None, 100)
    assert max(pose_errors(JUDGE.pose(led.q[-1]), offset(y=0.1))) < 1e-5
    assert (led.states[-1], led.reasons[-1]) == (State.REACHED, None)


def test_slide_gives_no_reason_of_a_goal_before(searches_fall_short):
    led = Led(WALL).follow(lambda t: offset(y=0.2 * t), 30)
    assert 'farther away' in str(led.reasons[-1])  # so the arm says, as the search does
    led.follow(into_the_wall, 400)
    assert {str(reason).partition(',')[0] for reason in led.reasons[-50:]} == {
        'sliding along: wrist_2_link'
    }


@pytest.mark.parametrize('seed', [3, 16, 27, 36])
def test_spare_joints_do_not_end_beyond_a_straight_arm(seed):
    """A hand goes out of reach and comes back at once: the arm would hold at a limit."""
    rng = np.random.default_rng((7, seed))
    robot = load_urdf(example_arm('seven_axis'))
    start = np.array([0.3, 0.2, 0.2, -1.8, 0.1, 1.9, 0.3])
    judge = Judge(robot.source, 'base_link', robot.chain().tip_link)
    led = Led(start=start, robot=robot, chain=robot.chain())
    T_begin = judge.pose(start)
    direction, turn = rng.normal(size=3), 0.3 * rng.normal(size=3)
    direction *= rng.uniform(0.6, 1.4) / np.linalg.norm(direction)
    direction[2] = abs(direction[2])

    def out(share):
        T = T_begin.copy()
        T[:3, :3] = pinocchio.exp3(share * turn) @ T[:3, :3]
        T[:3, 3] += share * direction
        return T

    led.follow(lambda t: out(min(1.0, 0.2 * t)), 600)
    led.follow(lambda t: out(max(0.0, 1.0 - t)), 1200)
    assert led.states[-1] is State.REACHED
    assert max(pose_errors(judge.pose(led.q[-1]), T_begin)) < 1e-4


def test_scaled_speed_scales_slides():
    led = Led(WALL, speed_scaling=0.3).follow(into_the_wall, 1200)
    led.check_limits(0.3)
    led.check_clear()
    assert led.kinds(900) == {ReasonKind.SLIDING}


def test_arm_on_a_table_slides_along_a_wall_as_well():
    table = {'table': ((1.0, 1.0, 0.02), (0.0, 0.0, -0.012))}
    led = Led({**WALL, **table}).follow(into_the_wall, 700)
    led.check_limits()
    assert np.mean(led.pace[400:] < 1e-3) < 0.02
    assert led.kinds(450) == {ReasonKind.SLIDING}


def test_slopes_of_distances_are_those_that_are_measured_beside():
    """By the distance of the judge, where only one pair is near."""
    led, rng = Led(WALL).follow(into_the_wall, 500), np.random.default_rng(0)
    q = led.q[-1]
    near = [each for each in led.arm._guard.near_at_rest(q, q, 0.01) if 'wall' in each.links]
    (wrist,) = near
    assert wrist.now == wrist.at_rest == pytest.approx(led.judge.nearest(q), abs=SLACK)
    for _ in range(20):
        beside = q + rng.uniform(-2e-3, 2e-3, len(q))
        change = led.judge.nearest(beside) - led.judge.nearest(q)
        assert change == pytest.approx(wrist.slope @ (beside - q), abs=1e-5)


@pytest.mark.parametrize('mode', ['pose', 'position', 'axis'])
def test_arm_with_a_joint_to_spare_slides_in_any_mode(mode):
    robot = load_urdf(example_arm('seven_axis'))
    chain = robot.chain()
    judge = Judge(robot.source, chain.base_link, chain.tip_link)
    start = np.array([0.3, 0.2, 0.2, -1.8, 0.1, 1.9, 0.3])
    T = judge.pose(start)
    wall = np.eye(4)
    wall[:3, 3] = T[0, 3] + 0.25, 0.0, 0.5
    scene = Scene([Obstacle('wall', Box((0.02, 3.0, 3.0)), wall)])
    arm = ArmFollower(chain, FollowerOptions(mode=mode), robot=robot, scene=scene)
    arm.step(None, DT, measured=start)
    boxes = {'wall': ((0.02, 3.0, 3.0), tuple(wall[:3, 3]))}
    clear = PlanJudge(robot.source, chain.joint_names, boxes)
    q, places, hands = [start], [], []
    for i in range(800):
        hand = T.copy()
        hand[:3, 3] += min(0.2 * i * DT, 0.5), 0.1 * math.sin(1.2 * i * DT), 0.0
        q.append(np.array(arm.step(hand, DT, measured=q[-1])))
        places.append(judge.pose(q[-1])[:3, 3])
        hands.append(hand[:3, 3])
    times = DT * np.arange(len(q))
    assert arm.reason.kind is ReasonKind.SLIDING
    assert np.abs(velocities(times, np.array(q))).max() <= FASTEST * (1.0 + 1e-6)
    assert np.abs(accelerations(times, np.array(q))).max() <= HARDEST * (1.0 + 1e-4)
    assert np.ptp(np.array(places)[400:, 1]) > 0.8 * np.ptp(np.array(hands)[400:, 1])
    assert min(clear.nearest(values) for values in q[::3]) > -SLACK


@pytest.mark.skipif(not COMPILED, reason='takes minutes interpreted')
@pytest.mark.parametrize('seed', range(6))
def test_hand_that_comes_back_from_beyond_the_reach_is_met(seed):
    """Past singular places, too: there the tool is at its place, though it may be turned a bit."""
    rng = np.random.default_rng(seed)
    sizes, rates, phases = (rng.uniform(*ends, 3) for ends in ((0.2, 0.7), (0.2, 1.0), (0.0, 6.2)))

    def hand(t):
        share = max(0.0, min(1.0, t / 1.5, (8.0 - t) / 1.5))
        return offset(*(share * sizes * (np.sin(rates * t + phases) - np.sin(phases))))

    led = Led(max_tip_speed=0.5).follow(hand, 1200, every=2)
    led.check_limits()
    assert pose_errors(T_START, JUDGE.pose(led.q[-1]))[0] < 5e-3


ways = st.tuples(
    *[st.floats(0.1, 0.5)] * 3, *[st.floats(0.2, 1.2)] * 3, *[st.floats(0.0, 6.2)] * 3
)
walls = st.sampled_from(
    [
        WALL,
        {**WALL, 'front': ((0.02, 2.0, 2.0), (0.75, 0.0, 0.6))},
        {'table': ((0.6, 1.0, 0.02), (0.65, 0.0, 0.15))},
        {
            'post': ((0.1, 0.1, 1.0), (0.55, 0.35, 0.4)),
            'beam': ((0.8, 0.1, 0.1), (0.4, -0.2, 0.5)),
        },
    ]
)


@pytest.mark.skipif(not COMPILED, reason='takes minutes interpreted')
@settings(max_examples=examples(8, 60), deadline=None)
@given(ways, walls, st.sampled_from([0.25, 1.0]), st.integers(1, 6), st.sampled_from([0.0, 0.3]))
def test_no_hand_leads_the_arm_beyond_a_limit_or_a_clearance(way, boxes, speed, every, turn):
    sizes, rates, phases = np.array(way).reshape(3, 3)

    def hand(t):
        T = offset(*(min(1.0, t / 1.5) * sizes * (np.sin(rates * t + phases) - np.sin(phases))))
        T[:3, :3] = T[:3, :3] @ pinocchio.rpy.rpyToMatrix(turn * math.sin(t), 0.0, turn * t / 9.0)
        return T

    led = Led(boxes, max_tip_speed=speed).follow(hand, 700, every)
    led.check_limits()
    led.check_clear(every=2)


def test_tool_that_joints_can_hardly_brake_comes_to_rest_where_it_slides():
    """The forearm slides along the wall: the tool swung by 23 mm as long as the hand stood."""
    start = np.array([-0.194, -0.88, -0.422, -1.807, 0.115, -0.81])
    walls = {
        'wall': ((0.04, 3.0, 3.0), (0.4876, 0.0, 0.5)),
        'table': ((3.0, 3.0, 0.04), (0.0, 0.0, -0.06)),
    }
    places = [
        pinocchio.SE3(pinocchio.exp3(np.array(turn)), np.array(place))
        for turn, place in (
            ((-1.586, -0.597, -0.629), (0.705, 0.13, 0.968)),
            ((-1.726, -1.228, 0.047), (0.342, 0.401, 0.422)),
        )
    ]

    def hand(t):
        share = min(max(0.0, 0.15 * (t - 1.0)), 1.0)
        return pinocchio.SE3.Interpolate(*places, share).homogeneous

    led = Led(walls, start=start).follow(hand, 1500)
    assert led.states[-1] is State.HOLDING
    assert led.kinds(1400) == {ReasonKind.COLLISION_AHEAD}
    assert np.ptp(led.tips[1350:], axis=0).max() < 1e-3
    led.check_limits()
    led.check_clear(every=10)
