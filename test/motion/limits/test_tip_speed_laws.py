"""
Laws of the tip's limits: on every path tips and joint centres keep to them.

Nothing of the package is used to judge: pinocchio tells where tips and joint centres are at each
command, and speeds are chords over the time between two. `MOVES=200` makes more moves than usual.

"""

from dataclasses import replace
import functools
import math
import os
from types import SimpleNamespace

from fabrik_ros import load_urdf, SolverOptions
from fabrik_ros.kernels._jit import COMPILED
from fabrik_ros.motion.choosing.goal import MotionOptions
from fabrik_ros.motion.choosing.motion import Motion
from fabrik_ros.motion.limits.limits import MotionLimits
from fabrik_ros.motion.paths.joint_path import JointPath
from helpers import assert_close, example_robot, mostly_long, REAL_ARMS, REAL_TREES, stopped
import numpy as np
import pytest

pytest.importorskip('pinocchio', reason='pinocchio is the judge')

from command_judge import accelerations, velocities
from judging import Judge, point_speeds, TreeJudge

ARMS = ['ur5', 'ur10', 'panda', 'xarm7', 'jaco', 'so101']
MOVES = int(os.environ.get('MOVES', '36' if COMPILED else '6'))
"""Of all arms together."""
LINES = 2 * MOVES // len(ARMS)
DT = 0.01
TIP_SPEED, TIP_ROTATION = 0.25, 1.0
ROUNDING = 1e-3
SOLVER = SolverOptions(budget=math.inf, max_restarts=6)
LONGEST = 150.0
"""In which any move is over [s]."""


@functools.cache
def arm(name):
    """Look up an arm or a tree, its judge and its limits."""
    robot = load_urdf(example_robot(name), use_safety_limits=False)
    if name in REAL_ARMS:
        known = REAL_ARMS[name]
        chain = robot.chain(known.base_link or None, known.tip_link)
        judge = Judge(robot.source, chain.base_link, chain.tip_link)
    else:
        known = REAL_TREES[name]
        chain = robot.tree(known.base_link, known.tip_links)
        judge = TreeJudge(robot.source, known.base_link, known.tip_links, chain.joint_names)
    n = len(chain)
    limits = MotionLimits(
        TIP_SPEED, TIP_ROTATION, 1.5, np.minimum(chain.velocity, 1.5), np.full(n, 5.0)
    )
    return SimpleNamespace(chain=chain, judge=judge, limits=limits)


class Record:
    """What an arm is commanded."""

    def __init__(self, name, seed, path='joint', jerk_filter=None):
        known = arm(name)
        self.judge, self.limits = known.judge, known.limits
        self.motion = Motion(
            known.chain, known.limits, SOLVER, MotionOptions(path), jerk_filter=jerk_filter
        )
        self.rng = np.random.default_rng(seed)
        self.motion.reset(self.elsewhere())
        self.times, self.q, self.paths = [0.0], [self.motion.command[0]], []

    def elsewhere(self):
        lower, upper = arm_ends(self.judge)
        return self.rng.uniform(lower, upper)

    def near_pose(self):
        q = self.motion.q
        return self.judge.pose(q + 0.3 * (self.elsewhere() - q))

    def go(self, seconds, next_dt=lambda rng: DT):
        end = self.times[-1] + seconds
        while self.times[-1] < end and (not self.motion.is_at_rest):
            dt = next_dt(self.rng)
            self.motion.step(dt)
            self.times.append(self.times[-1] + dt)
            self.q.append(self.motion.command[0])
            self.paths.append(self.motion.path)

    def rest(self, next_dt=lambda rng: DT):
        self.go(LONGEST, next_dt)
        assert self.motion.is_at_rest

    def arrays(self):
        return np.array(self.times), np.array(self.q)

    def used(self):
        """Greatest share of a limit of tips and centres that each step uses, shape (m - 1,)."""
        speeds = point_speeds(self.judge, *self.arrays())
        straight = np.maximum(speeds.tips, speeds.centres) / TIP_SPEED
        return np.maximum(straight, speeds.turning / TIP_ROTATION)

    def check_joints(self):
        times, q = self.arrays()
        v, a = velocities(times, q), accelerations(times, q)
        assert np.all(np.abs(v) <= self.limits.joint_velocity * (1.0 + 1e-6))
        assert np.all(np.abs(a) <= self.limits.joint_acceleration * (1.0 + 1e-6))


def arm_ends(judge):
    return np.maximum(judge.lower, -math.pi), np.minimum(judge.upper, math.pi)


def uneven_steps(rng):
    return DT * rng.choice([1.0, 1.0, rng.uniform(0.3, 1.5), rng.uniform(1.5, 3.0)])


@pytest.mark.parametrize('name', mostly_long(ARMS, 'ur5', 'so101'))
def test_joint_move_keeps_the_limits_of_tip_and_joint_centres_and_is_no_slower_than_that(name):
    cruising = []
    for seed in range(MOVES // len(ARMS)):
        record = Record(name, seed)
        goal = record.elsewhere()
        record.motion.go_to(goal)
        if seed % 3 == 2:  # another goal on the way, twice
            for _ in range(2):
                record.go(record.rng.uniform(0.2, 2.0))
                goal = record.elsewhere()
                record.motion.go_to(goal)
        record.rest()
        used = record.used()
        assert used.max() <= 1.0 + ROUNDING
        record.check_joints()
        assert_close(record.motion.q, goal, 1e-9)
        v = np.abs(velocities(*record.arrays())) / record.limits.joint_velocity
        cruising.append(np.mean(np.maximum(used, v.max(axis=1)) >= 0.9))
    assert np.median(cruising) > 0.8


@pytest.mark.parametrize('name', ['ur10', 'so101'])
def test_joint_move_with_uneven_steps_keeps_them_too(name):
    for seed in range(LINES):
        record = Record(name, seed)
        for _ in range(3):
            record.motion.go_to(record.elsewhere())
            record.go(record.rng.uniform(0.2, 3.0), uneven_steps)
        record.motion.stop(stopped('a test'))
        record.rest(uneven_steps)
        assert record.used().max() <= 1.0 + 5.0 * ROUNDING
        record.check_joints()


def test_nearly_stretched_arm_swings_no_faster_than_the_tip_may_go():
    record = Record('ur10', 0)
    start = np.array([-1.5, -0.05, 0.1, 0.0, 0.3, 0.0])
    record.motion.reset(start)
    record.q = [start]
    record.motion.go_to(start + np.array([2.0, 0.0, 0.0, 0.0, 0.0, 0.0]))
    record.rest()
    speeds = point_speeds(record.judge, *record.arrays())
    assert speeds.tips.max() == pytest.approx(TIP_SPEED, rel=ROUNDING)
    assert np.mean(speeds.tips > 0.99 * TIP_SPEED) > 0.95


@pytest.mark.parametrize('name', ['tiago_pro', 'allegro'])
def test_all_tips_of_a_tree_keep_them(name):
    for seed in range(max(1, MOVES // 18)):
        record = Record(name, seed)
        for _ in range(2):
            record.motion.go_to(record.elsewhere())
            record.go(record.rng.uniform(0.5, 3.0))
        record.rest()
        assert 0.9 <= record.used().max() <= 1.0 + ROUNDING
        record.check_joints()


@pytest.mark.parametrize('name', ['ur10', 'panda'])
def test_arm_at_speed_brakes_into_lower_limits_within_its_accelerations(name):
    for seed in range(LINES):
        record = Record(name, seed)
        record.motion.go_to(record.elsewhere())
        record.go(1.0)
        low = replace(record.limits, tip_speed=0.05, tip_rotation=0.2)
        record.motion.change(low, SOLVER, record.motion.pursuit.options)
        steps = len(record.times)
        record.go(2.0)
        used = 5.0 * record.used()
        late = steps + 40
        assert used[late:].max(initial=0.0) <= 1.0 + ROUNDING
        braking = used[steps:late]
        assert np.all(np.diff(braking)[braking[1:] > 1.0 + ROUNDING] < 0.0)
        record.check_joints()


@pytest.mark.parametrize('share', [0.5, 0.1])
def test_speed_scaling_scales_them(share):
    record = Record('ur5', 3)
    slow = replace(record.limits, speed_scaling=share)
    record.motion.change(slow, SOLVER, record.motion.pursuit.options)
    record.motion.go_to(record.elsewhere())
    record.go(5.0)
    assert record.used().max() == pytest.approx(share, rel=ROUNDING)


@pytest.mark.skipif(not COMPILED, reason='takes minutes interpreted')
@pytest.mark.parametrize(
    ('jerk', 'excess'), [(50.0, 0.02), pytest.param(500.0, 0.04, marks=pytest.mark.long)]
)
def test_commands_of_limited_jerk_exceed_them_by_a_little_at_most(jerk, excess):
    """The commands lag behind a motion that keeps to them, and catch up after accelerating."""
    pytest.importorskip('ruckig', reason='ruckig plans the steps')
    from fabrik_ros.motion.limits.jerk_filter import JerkFilter

    for seed in range(max(1, LINES // 6)):
        for name in ('ur10', 'panda'):
            chain = arm(name).chain
            limiter = JerkFilter(jerk, DT, chain.lower, chain.upper)
            record = Record(name, seed, jerk_filter=limiter)
            record.motion.go_to(record.elsewhere())
            record.rest()
            assert record.used().max() <= 1.0 + excess


def follow_lines(record):
    for _ in range(2):
        record.motion.aim(record.near_pose())
        record.go(1.0)


def follow_a_stream(record):
    start = record.motion.q
    middle = start + 0.3 * (record.elsewhere() - start)
    for phase in np.linspace(0.0, 2.0 * math.pi, 100):
        q = start + (0.5 - 0.5 * math.cos(phase)) * (middle - start)
        record.motion.aim(record.judge.pose(q))
        record.go(0.04)


def jog(record):
    rng = record.rng
    for _ in range(3):
        twist = rng.normal(size=6) * [0.3, 0.3, 0.3, 1.0, 1.0, 1.0] * (rng.random(6) < 0.5)
        record.motion.jog(twist, in_tip=bool(rng.random() < 0.5))
        record.go(1.0)
    record.motion.end_jog(0)


@pytest.mark.skipif(not COMPILED, reason='takes minutes interpreted')
@pytest.mark.parametrize('what', [follow_lines, follow_a_stream, jog])
@pytest.mark.parametrize('name', mostly_long([*ARMS, 'z1'], 'panda', 'xarm7'))
def test_tip_and_joint_centres_keep_them_on_lines(name, what):
    """Where joints have to turn round and cannot brake so soon, the others brake with them."""
    for seed in range(max(1, LINES // 3)):
        record = Record(name, seed, path='line')
        what(record)
        record.rest()
        on_line = [not isinstance(path, JointPath) for path in record.paths]
        assert record.used()[on_line].max(initial=0.0) <= 1.0 + ROUNDING
        record.check_joints()
