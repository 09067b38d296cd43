"""
Spare joints get out of the way of a box and of their limits, and leave the tool where it is led.

Pinocchio and coal judge where the tool is, and how near links are to the box.

"""

import dataclasses
import functools
from itertools import pairwise

import pytest

pytest.importorskip('pinocchio', reason='pinocchio is the judge')
pytest.importorskip('coal', reason='coal measures the distances')
pytest.importorskip('xacro')

from command_judge import accelerations, velocities
import dodging_scenes
from dodging_scenes import BoxJudge, COMES, DT, GOES
from fabrik_ros import ArmFollower, example_arm, FollowerOptions, load_urdf, State
from fabrik_ros.collision import Obstacle, Scene
from fabrik_ros.kernels._jit import COMPILED
from fabrik_ros.model.geometry import Box
from fabrik_ros.programs import Line, Program
from fabrik_ros.reasons import ReasonKind
from helpers import example_robot, REAL_ARMS
from judging import Judge, pose_errors
import numpy as np
from plan_judge import PlanJudge

ROBOT = load_urdf(example_arm('seven_axis'))
CHAIN = ROBOT.chain()
JUDGE = Judge(ROBOT.source, CHAIN.base_link, CHAIN.tip_link)
START = np.array([0.3, 0.2, 0.2, -1.8, 0.1, 1.9, 0.3])
DODGES = FollowerOptions().dodge_distance
FASTEST, HARDEST = 1.5, 5.0
MOST_OFF, MOST_TURNED = 1e-3, 2e-3
BACK = 0.15
"""Largest joint move that is left once the box has gone [rad]."""
NEAR_LIMIT = 0.05
STOPPED = 0, 1, 3
"""Numbers of scenes in which the box stops an arm that does not dodge."""

pytestmark = pytest.mark.skipif(not COMPILED, reason='takes minutes interpreted')


@functools.cache
def drawn(seed=3):
    return dodging_scenes.cases(ROBOT, CHAIN, JUDGE, seed), []


def scene_of(number):
    """Return one of the drawn scenes, and what the arm does in it without the box."""
    found, scenes = drawn()
    while len(scenes) <= number:
        scenes.append(next(found))
    return scenes[number]


@functools.cache
def driven(number, distance):
    return dodging_scenes.drive(ROBOT, CHAIN, JUDGE, scene_of(number)[0], distance)


def check_limits(q):
    times = DT * np.arange(len(q))
    assert np.abs(velocities(times, q)).max() <= FASTEST * (1.0 + 1e-6)
    assert np.abs(accelerations(times, q)).max() <= HARDEST * (1.0 + 1e-4)


@pytest.mark.parametrize('number', STOPPED)
def test_elbow_gets_out_of_the_way_of_a_box_that_stopped_the_arm(number):
    case, _ = scene_of(number)
    assert driven(number, 0.0).was_blocked  # or it shows nothing
    done = driven(number, DODGES)
    assert not done.was_blocked
    assert case.off(done.tips) < MOST_OFF
    assert BoxJudge(ROBOT, CHAIN).nearest(case, done.q) > 0.0
    check_limits(np.vstack([case.q, done.q]))


@pytest.mark.parametrize('number', STOPPED)
def test_it_says_what_it_avoids_while_it_moves_for_it_and_goes_back_afterwards(number):
    _, alone = scene_of(number)
    done = driven(number, DODGES)
    assert set(done.kinds[: round(COMES / DT)]) <= {None}
    assert ReasonKind.DODGING in done.kinds
    assert set(done.kinds) == {None, ReasonKind.DODGING}
    assert any('box' in text for text in done.texts)
    assert np.abs(done.q - alone.q)[round(GOES / DT)].max() > BACK
    assert np.abs(done.q - alone.q)[-1].max() < 0.5 * np.abs(done.q - alone.q).max()


def test_tool_keeps_its_orientation():
    case, _ = scene_of(0)
    done = driven(0, DODGES)
    turned = [pose_errors(case.T, JUDGE.pose(q)).angle for q in done.q[::5]]
    assert max(turned) < MOST_TURNED


def test_arm_that_needs_not_dodge_goes_as_before():
    case, alone = scene_of(0)
    still = dodging_scenes.drive(ROBOT, CHAIN, JUDGE, case, DODGES, has_box=False)
    assert np.array_equal(still.q, alone.q)


class Near:
    """An arm whose elbow a box comes near, as fast as it is told."""

    def __init__(self, start=START, **options):
        points = JUDGE.points(start)
        elbow, J = points[dodging_scenes.ELBOW], self_motion(start)
        beside = JUDGE.points(start + 1e-4 * J)[dodging_scenes.ELBOW] - elbow
        self.elbow, self.side = elbow, beside / np.linalg.norm(beside)
        self.arm = ArmFollower(
            CHAIN, FollowerOptions(**options), robot=ROBOT, scene=self.scene(0.5)
        )
        self.arm.step(None, DT, measured=start)
        self.q = [np.array(start)]

    def scene(self, distance):
        T = np.eye(4)
        T[:3, 3] = self.elbow + distance * self.side
        return Scene([Obstacle('box', Box((0.1, 0.1, 0.1)), T)])

    def come(self, step, nearest=0.15, steps=200):
        """Let the box come from 0.35 m to that distance, with a step of the arm each time."""
        for i, distance in enumerate(np.linspace(0.35, nearest, steps)):
            if i % 5 == 0:
                self.arm.set_scene(self.scene(distance))
            step(self.arm)
            self.q.append(np.array(self.arm.step(None, DT, measured=self.q[-1])))
        return np.array(self.q)


def self_motion(q):
    """Direction of the joints, shape (n,), that leaves the tool where it is: by differences."""
    T = JUDGE.pose(q)
    columns = []
    for step in 1e-6 * np.eye(len(q)):
        moved = JUDGE.pose(q + step)
        turn = (moved[:3, :3] @ T[:3, :3].T - np.eye(3)) / 1e-6
        columns.append([*(moved[:3, 3] - T[:3, 3]) / 1e-6, turn[2, 1], turn[0, 2], turn[1, 0]])
    return np.linalg.svd(np.transpose(columns))[2][-1]


def test_jogged_arm_dodges_too():
    near = Near()
    q = near.come(lambda arm: arm.jog(np.array([0.0, 0.0, 0.02, 0.0, 0.0, 0.0])))
    assert near.arm.state is State.JOGGING
    assert near.arm.reason.kind is ReasonKind.DODGING
    tips = [JUDGE.pose(values) for values in q]
    way = np.array(tips)[:, :3, 3] - tips[0][:3, 3]
    assert way[-1, 2] == pytest.approx(0.02 * len(q) * DT, rel=0.05)
    assert np.abs(way[:, :2]).max() < MOST_OFF
    assert max(pose_errors(tips[0], T).angle for T in tips) < MOST_TURNED
    assert abs(self_motion(q[0]) @ (q[-1] - q[0])) > 0.1
    check_limits(q)


def test_arm_at_rest_does_not_dodge():
    near = Near()
    q = near.come(lambda arm: None)
    assert np.array_equal(q, np.repeat(START[None], len(q), axis=0))


class AtTarget(Near):
    """Such an arm that is at its target, and may get out of the way."""

    def __init__(self, **options):
        super().__init__(dodge_at_rest=True, **options)
        self.states, self.reasons = [], []
        self.go(1, JUDGE.pose(START))
        if options.get('confirm') == 'always':
            self.arm.execute()
            self.go(50)
        assert self.states[-1] is State.REACHED
        self.states, self.reasons = [], []

    def go(self, steps, target=None):
        for i in range(steps):
            target = target if i == 0 else None
            self.q.append(np.array(self.arm.step(target, DT, measured=self.q[-1])))
            self.states.append(self.arm.state)
            self.reasons.append(self.arm.reason)
        return np.array(self.q)

    @property
    def moved(self):
        return float(np.abs(self.q[-1] - START).max())


def test_arm_at_its_target_gets_out_of_the_way_once_that_was_announced():
    arm = AtTarget()
    arm.go(100)
    arm.arm.set_scene(arm.scene(0.15))
    arm.go(600)
    moves = np.flatnonzero(np.abs(np.diff(arm.q, axis=0)).max(axis=1))
    said = [i for i, reason in enumerate(arm.reasons) if reason is not None]
    assert 0 < said[0] - 100 <= 12
    assert moves[0] - said[0] >= 1.0 / DT
    announced = arm.reasons[said[0]]
    assert announced.kind is ReasonKind.DODGING
    assert 'box' in str(announced)
    assert set(arm.states[: moves[0] - 1]) == {State.REACHED}
    assert arm.states[moves[0] + 30] is State.MOVING
    assert arm.reasons[moves[0] + 30].kind is ReasonKind.DODGING
    assert (arm.states[-1], arm.reasons[-1]) == (State.REACHED, None)
    assert len(moves) < 400
    off = [pose_errors(JUDGE.pose(START), JUDGE.pose(q)) for q in arm.q]
    assert max(error.distance for error in off) < MOST_OFF
    assert max(error.angle for error in off) < MOST_TURNED
    assert arm.moved > 0.05
    check_limits(np.array(arm.q))


@pytest.mark.parametrize(
    'end', ['held', 'told to stop', 'unmeasured', 'box gone', 'moved by hand']
)
def test_announced_arm_stays_where_that_ends(end):
    arm = AtTarget()
    arm.arm.set_scene(arm.scene(0.15))
    arm.go(30)
    assert arm.reasons[-1].kind is ReasonKind.DODGING
    measured = {'unmeasured': None, 'moved by hand': START + 0.2}.get(end, START)
    if end == 'held':
        arm.arm.hold()
    elif end == 'told to stop':
        arm.arm._follower.cancel()
    elif end == 'box gone':
        arm.arm.set_scene(arm.scene(0.5))
    for _ in range(400):
        arm.q.append(np.array(arm.arm.step(None, DT, measured=measured)))
    assert np.array_equal(arm.q[-1], START if measured is None else measured)


@pytest.mark.parametrize(
    'options',
    [
        {'confirm': 'always'},
        {'dodge_distance': 0.0},
        {'speed_scaling': 0.0},
        {'posture': tuple(START)},
        {'max_joint_jerk': 50.0},
    ],
    ids=lambda options: next(iter(options)),
)
def test_arm_whose_spare_joints_may_not_move_says_and_does_nothing(options):
    if 'max_joint_jerk' in options:
        pytest.importorskip('ruckig', reason='the extra `motion`: pip install ruckig')
    arm = AtTarget(**options)
    arm.arm.set_scene(arm.scene(0.12))
    arm.go(300)
    assert set(arm.states) == {State.REACHED}
    assert set(arm.reasons) == {None}
    assert arm.moved == 0.0


@pytest.mark.parametrize('end', ['joints', 'program'])
def test_arm_that_was_sent_elsewhere_than_to_a_pose_stays(end):
    arm = AtTarget()
    if end == 'joints':
        arm.go(100, dict(zip(CHAIN.joint_names, (START + 0.02).tolist(), strict=True)))
    else:
        arm.go(200, Program((Line(JUDGE.pose(START + 0.02)),)))
    assert arm.states[-1] is State.REACHED
    arm.arm.set_scene(arm.scene(0.13))
    begin = arm.q[-1]
    arm.go(300)
    assert arm.reasons[-1] is None
    assert np.array_equal(arm.q[-1], begin)


def test_box_beside_which_it_cannot_go_on_is_announced_now_and_then_and_the_tool_stays():
    """It ends each try at its target, after ever longer rests; a hand led it there."""
    arm = AtTarget()
    for i in range(100):
        hand = JUDGE.pose(START)
        hand[2, 3] += 0.0005 * i
        arm.go(1, hand)
    arm.go(100)
    T = JUDGE.pose(arm.q[-1])
    T_box = np.eye(4)
    T_box[:3, 3] = JUDGE.points(arm.q[-1])[5] + (0.02, 0.12, 0.0)
    arm.arm.set_scene(Scene([Obstacle('box', Box((0.1, 0.1, 0.1)), T_box)]))
    begin = len(arm.states)
    arm.go(2000)
    announced = [
        i for i, (a, b) in enumerate(pairwise(arm.reasons[begin:])) if a is None and b is not None
    ]
    assert 1 <= len(announced) <= 3
    assert set(arm.states[begin:]) <= {State.REACHED, State.MOVING}
    assert arm.states[-1] is State.REACHED
    assert max(pose_errors(T, JUDGE.pose(q)).distance for q in arm.q[begin:]) < MOST_OFF
    check_limits(np.array(arm.q))


def test_target_is_not_lost_where_states_are_amid_a_dodge():
    arm = AtTarget()
    arm.arm.set_scene(arm.scene(0.15))
    arm.go(150)
    assert arm.states[-1] is State.MOVING
    for _ in range(150):
        arm.q.append(np.array(arm.arm.step(None, DT)))
    assert arm.arm.state is State.HOLDING
    arm.go(200)
    arm.go(1, JUDGE.pose(START))
    assert arm.arm.refusal is None


def test_target_on_the_way_is_headed_for_at_once():
    arm = AtTarget()
    arm.arm.set_scene(arm.scene(0.15))
    arm.go(200)
    assert arm.reasons[-1].kind is ReasonKind.DODGING
    assert arm.moved > 0.0
    T = JUDGE.pose(START)
    T[:3, 3] += 0.0, 0.0, 0.05
    q = arm.go(500, T)
    assert arm.states[-1] is State.REACHED
    assert pose_errors(T, JUDGE.pose(q[-1])) < (1e-4, 1e-3)
    check_limits(q)


def test_arm_gets_away_from_a_box_that_came_faster_than_it_may():
    arm = AtTarget()
    for distance in np.linspace(0.35, 0.1, 150):
        arm.arm.set_scene(arm.scene(distance))
        arm.go(1)
    arm.go(1500)
    assert set(arm.states) <= {State.REACHED, State.MOVING}
    assert arm.states[-1] is State.REACHED
    T = np.eye(4)
    T[:3, 3] = arm.elbow + 0.1 * arm.side
    judge = PlanJudge(ROBOT.source, CHAIN.joint_names, {'box': ((0.1, 0.1, 0.1), tuple(T[:3, 3]))})
    assert judge.nearest(arm.q[-1]) > 0.02
    off = [pose_errors(JUDGE.pose(START), JUDGE.pose(q)).distance for q in arm.q]
    assert max(off) < MOST_OFF


def test_arm_that_is_paused_does_not_dodge():
    near = Near(speed_scaling=0.0)
    q = near.come(lambda arm: arm.jog(np.array([0.0, 0.0, 0.02, 0.0, 0.0, 0.0])))
    assert np.array_equal(q, np.repeat(START[None], len(q), axis=0))


def test_no_distance_is_no_dodging():
    near = Near(dodge_distance=0.0)
    q = near.come(lambda arm: arm.jog(np.array([0.0, 0.0, 0.02, 0.0, 0.0, 0.0])), nearest=0.2)
    assert abs(self_motion(q[0]) @ (q[-1] - q[0])) < 0.02


def test_joint_comes_away_from_its_limit():
    joint = int(np.argmax(np.abs(self_motion(START))))
    start = START.copy()
    start[joint] = CHAIN.upper[joint] - NEAR_LIMIT
    T = JUDGE.pose(start)
    gaps = {}
    for distance in (0.0, DODGES):
        arm, q = ArmFollower(CHAIN, FollowerOptions(dodge_distance=distance), robot=ROBOT), start
        arm.step(None, DT, measured=q)
        for i in range(400):
            hand = T.copy()
            hand[:3, 3] += 0.03 * np.sin(i * DT), 0.0, 0.0
            q = np.array(arm.step(hand if i % 2 == 0 else None, DT, measured=q))
        gaps[distance] = CHAIN.upper[joint] - q[joint]
        assert np.linalg.norm(JUDGE.pose(q)[:3, 3] - hand[:3, 3]) < 0.03 * 0.2
    assert gaps[DODGES] > gaps[0.0] + 0.03


class Streamed(Near):
    """Such an arm that a hand leads in a circle, while the box stands beside the elbow."""

    def go(self, steps):
        for _ in range(steps):
            angle = 1.5 * DT * len(self.q)
            hand = JUDGE.pose(START)
            hand[:3, 3] += 0.03 * np.array([np.sin(angle), 1.0 - np.cos(angle), 0.0])
            target = hand if len(self.q) % 2 == 0 else None
            self.q.append(np.array(self.arm.step(target, DT, measured=self.q[-1])))
        return np.array(self.q)


def beside(arm, alone):
    """By how much the elbow is out of the way of an arm that has no box, in each step."""
    return np.array(
        [self_motion(q) @ (moved - q) for moved, q in zip(arm.q, alone.q, strict=True)]
    )


def dodging_arm():
    """Return an arm amid a self-motion."""
    arm = Streamed()
    arm.arm.set_scene(arm.scene(0.15))
    arm.go(60)
    assert arm.arm.reason.kind is ReasonKind.DODGING
    return arm


def test_arm_that_has_dodged_for_long_goes_back_no_farther_than_it_came():
    arm, alone = Streamed(), Streamed()
    arm.arm.set_scene(arm.scene(0.17))
    arm.go(2000)
    arm.arm.set_scene(arm.scene(0.5))
    arm.go(1000)
    alone.go(3000)
    ways = np.abs(beside(arm, alone))
    assert ways[:2000].max() > 0.2
    assert ways[2000:].max() <= ways[1950:2000].max() + 0.05
    assert ways[-1] < 0.1
    check_limits(np.array(arm.q))


def test_dodging_that_is_turned_off_on_the_way_comes_to_rest():
    arm = dodging_arm()
    motion = arm.arm._motion
    options = dataclasses.replace(motion.options, dodge_distance=0.0)
    motion.change(motion.limits, FollowerOptions().solver, options)
    begin = len(arm.q)
    assert abs(self_motion(arm.q[-1]) @ (arm.q[-1] - arm.q[-2])) > 0.15 * DT
    q = arm.go(400)
    speeds = [self_motion(a) @ (b - a) / DT for a, b in pairwise(q[begin + 50 :])]
    assert arm.arm.reason is None
    assert np.abs(speeds).max() < 0.08  # the stream goes back slowly, as without dodging
    check_limits(q)


def test_nothing_is_left_of_a_self_motion_after_a_stop():
    arm = dodging_arm()
    arm.arm.hold()
    for _ in range(200):
        arm.q.append(np.array(arm.arm.step(None, DT, measured=arm.q[-1])))
    arm.arm.set_scene(arm.scene(0.5))
    arm.arm.resume()
    begin = len(arm.q)
    q = arm.go(200)[begin:]
    assert not np.array_equal(q[0], q[-1])
    assert np.abs(self_motion(q[0]) @ (q - q[0]).T).max() < 0.03  # not 0.15 rad/s
    check_limits(np.array(arm.q))


def test_arm_with_a_posture_does_not_dodge_and_does_not_say_so():
    arm = Streamed(posture=tuple(START))
    arm.arm.set_scene(arm.scene(0.17))
    arm.go(200)
    assert arm.arm.reason is None or arm.arm.reason.kind is not ReasonKind.DODGING


PANDA_SCENES = {
    'an elbow as fast as it may be': (
        [1.4775, -0.7865, 1.3586, -1.5703, -0.4612, 1.4035, 1.0878],
        [[-0.12009, 0.86408, -0.48883], [-0.7802, 0.22234, 0.58469]],
        [0.16373, -0.32762, 0.93962],
        [-0.00389, -0.2484, 0.70376],
        0.1347,
    ),
    'beside a singular configuration': (
        [0.207, -0.637, -0.9448, -1.2167, 1.2473, 0.9226, 0.6867],
        [[-0.079, -0.99686, 0.00492], [0.8788, -0.06731, 0.47242]],
        [-0.49207, 0.20512, 0.51794],
        [-0.26684, 0.01664, 0.57917],
        0.1329,
    ),
    'a slow tool': (
        [0.4762, -0.3488, -1.0837, -1.3376, 0.687, 1.4842, -1.2053],
        [[-0.54165, -0.79579, 0.27082], [0.62035, -0.59582, -0.51007]],
        [-0.48304, -0.10982, 0.67853],
        [-0.18405, -0.1018, 0.65517],
        0.1798,
    ),
    'a small circle': (
        [0.972, -0.5698, 1.113, -1.2775, 0.676, 1.2941, -0.5516],
        [[-0.97626, -0.19007, 0.1039], [0.16984, -0.37392, 0.91178]],
        [-0.41921, -0.41999, 0.65457],
        [-0.23147, -0.18724, 0.63049],
        0.1238,
    ),
}
"""Scenes of a Panda: joint values, plane of the circle, ends of the way of the box, its speed."""


def driven_panda(name, has_box=True, **options):
    real, robot = REAL_ARMS['panda'], load_urdf(example_robot('panda'))
    chain = robot.chain(real.base_link, real.tip_link)
    judge = Judge(robot.source, real.base_link, real.tip_link)
    q, *places = map(np.array, PANDA_SCENES[name][:4])
    case = dodging_scenes.Case(q, judge.pose(q), *places, PANDA_SCENES[name][4])
    done = dodging_scenes.drive(robot, chain, judge, case, DODGES, has_box, **options)
    check_limits(np.vstack([case.q, done.q]))
    return case, done


@pytest.mark.parametrize(
    ('name', 'turning', 'options'),
    [
        ('an elbow as fast as it may be', 1.5, {}),
        ('beside a singular configuration', 1.5, {}),
        ('a slow tool', 0.6, {'max_tip_speed': 0.05}),
    ],
    ids=lambda value: value if isinstance(value, str) else '',
)
def test_tool_stays_on_its_way_where_the_elbow_has_little_room(
    name, turning, options, monkeypatch
):
    monkeypatch.setattr(dodging_scenes, 'TURNING', turning)
    monkeypatch.setattr(dodging_scenes, 'DURATION', 11.0)
    case, done = driven_panda(name, **options)
    assert ReasonKind.DODGING in done.kinds
    assert not done.was_blocked
    assert case.off(done.tips) < MOST_OFF


def test_nothing_is_left_of_a_self_motion_beside_a_singular_configuration(monkeypatch):
    monkeypatch.setattr(dodging_scenes, 'RADIUS', 0.01)
    monkeypatch.setattr(dodging_scenes, 'DURATION', 16.0)
    _, done = driven_panda('a small circle')
    _, alone = driven_panda('a small circle', has_box=False)
    assert ReasonKind.DODGING in done.kinds
    fastest, without = (np.abs(np.diff(one.q[-300:], axis=0)).max() for one in (done, alone))
    assert fastest < 1.1 * without


@pytest.mark.long
@pytest.mark.parametrize('number', range(3, 20))
def test_tool_stays_on_its_way_in_random_scenes(number):
    case, _ = scene_of(number)
    before, done = driven(number, 0.0), driven(number, DODGES)
    assert before.was_blocked or not done.was_blocked
    check_limits(np.vstack([case.q, done.q]))
    if not done.was_blocked:
        assert case.off(done.tips) < MOST_OFF
        assert BoxJudge(ROBOT, CHAIN).nearest(case, done.q) > 0.0
