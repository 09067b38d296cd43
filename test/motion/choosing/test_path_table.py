"""
What holds for other arms and other ways to solve: the rows of the table in docs/paths.md.

Pinocchio tells where the tips are.

"""

import functools
import os
from pathlib import Path
import subprocess
import sys

from fabrik_ros import example_arm, load_urdf, SolverOptions
from fabrik_ros.motion.choosing.goal import MotionOptions
from fabrik_ros.motion.choosing.motion import Motion
from fabrik_ros.motion.limits.limits import MotionLimits
from helpers import PLANAR, Segment, serial_xml
import numpy as np
import pytest

pytest.importorskip('pinocchio', reason='pinocchio is the judge')

from judging import distances_from_line, Judge
import pinocchio
from two_arms import judges, motion_of, START, two_arms

DT = 0.01
LONGEST = 3000
"""No motion here takes so many steps."""
BENT = np.array([0.0, -1.3, 1.6, -1.9, -1.57, 0.0])
ON_THE_LINE, ARRIVED = 2e-4, 1e-4
"""Distances of a tip from its line, and from its target [m]."""
SAME_AXIS = 1e-3
"""Angle between axes that count as the same [rad]."""
TURNED = 0.1
"""Angle by which something has turned [rad]."""
FIVE_JOINTS = serial_xml(
    [
        Segment(xyz=(0.0, 0.0, 0.1)),
        Segment(axis=(0.0, 1.0, 0.0), xyz=(0.03, 0.0, 0.05), lower=-2.0, upper=2.0),
        Segment(axis=(0.0, 1.0, 0.0), xyz=(0.12, 0.0, 0.02), lower=-2.0, upper=2.0),
        Segment(axis=(0.0, 1.0, 0.0), xyz=(0.13, 0.0, 0.0), lower=-2.0, upper=2.0),
        Segment(axis=(1.0, 0.0, 0.0), xyz=(0.06, 0.0, 0.0), lower=-2.7, upper=2.7),
    ]
)
FIVE_BENT = np.array([0.3, -0.6, 1.2, 0.4, 0.0])
PLANAR_BENT = np.array([0.3, 0.9])


def motion_for(chain, q, path='auto', **solver):
    limits = MotionLimits(0.25, 1.0, 1.0, np.full(len(chain), 1.5), np.full(len(chain), 5.0))
    options = SolverOptions(position_tolerance=1e-5, orientation_tolerance=1e-4, **solver)
    motion = Motion(chain, limits, options, MotionOptions(path=path))
    motion.reset(q)
    return motion


def go(motion):
    """Step until the arm rests; joint values on the way, shape (m, n)."""
    q = [motion.q]
    while not motion.is_at_rest:
        assert len(q) < LONGEST, 'it comes to rest'
        motion.step(DT)
        q.append(motion.q)
    return np.array(q)


def judge_of(chain, urdf):
    return Judge(urdf, chain.base_link, chain.tip_link)


def moved(T, x=0.0, y=0.0, z=0.0, yaw=0.0):
    """Pose moved in the base frame [m], and turned about its own z [rad]."""
    T_moved = T.copy()
    T_moved[:3, 3] += x, y, z
    T_moved[:3, :3] = T[:3, :3] @ pinocchio.rpy.rpyToMatrix(0.0, 0.0, yaw)
    return T_moved


def check_on_the_line(tips, target):
    positions = np.array([T[:3, 3] for T in tips])
    assert distances_from_line(positions, positions[0], target[:3, 3]).max() < ON_THE_LINE
    assert np.linalg.norm(positions[-1] - target[:3, 3]) < ARRIVED


@functools.cache
def six_axis():
    pytest.importorskip('xacro', reason='the bundled arms are xacro files')
    return load_urdf(example_arm('six_axis'))


@pytest.mark.parametrize('path', ['line', 'joint'])
def test_several_tips_take_one_path(path):
    motion = motion_of(two_arms(), START, path=path)
    goals = judges().poses(START)
    goals[0, :3, 3] += 0.0, 0.1, 0.1
    goals[1] = np.nan
    assert motion.aim(goals)
    assert motion.found.preview.tips.shape[1] == 2
    q = go(motion)
    assert np.linalg.norm(judges().poses(q[-1])[0, :3, 3] - goals[0, :3, 3]) < ARRIVED
    assert np.ptp(q[:, 6:], axis=0).max() < 1e-9, 'the arm without a target stays'


def test_five_joints_keep_the_position_on_the_line():
    chain = load_urdf(FIVE_JOINTS).chain()
    judge = judge_of(chain, FIVE_JOINTS)
    target = moved(judge.pose(FIVE_BENT), y=0.06, z=0.03, yaw=0.4)
    motion = motion_for(chain, FIVE_BENT)
    assert motion.aim(target)
    assert motion.found.kind == 'line'
    check_on_the_line([judge.pose(q) for q in go(motion)], target)


def test_axis_keeps_to_the_line_and_turns_freely():
    chain = six_axis().chain()
    judge = judge_of(chain, six_axis().source)
    start = judge.pose(BENT)
    target = moved(start, y=0.2, z=0.1, yaw=2.0)
    motion = motion_for(chain, BENT, mode='axis', axis=(0.0, 0.0, 1.0))
    assert motion.aim(target)
    assert motion.found.kind == 'line'
    tips = [judge.pose(q) for q in go(motion)]
    check_on_the_line(tips, target)
    axes = np.array([T[:3, 2] for T in tips])
    assert np.linalg.norm(axes - start[:3, 2], axis=1).max() < SAME_AXIS
    assert judge.errors(target, motion.q).angle > TURNED, 'nobody asked for that turn'


def test_position_arrives_with_any_orientation():
    chain = six_axis().chain()
    judge = judge_of(chain, six_axis().source)
    target = moved(judge.pose(BENT), x=-0.2, y=0.3, yaw=3.0)
    for path in ('line', 'joint'):
        motion = motion_for(chain, BENT, path, mode='position')
        assert motion.aim(target)
        go(motion)
        errors = judge.errors(target, motion.q)
        assert errors.distance < ARRIVED
        assert errors.angle > TURNED


@pytest.mark.parametrize('path', ['line', 'joint', 'auto'])
def test_points_take_both_paths(path):
    chain = load_urdf(PLANAR).chain()
    judge = judge_of(chain, PLANAR)
    target = moved(judge.pose(PLANAR_BENT), x=-0.1, y=0.1)
    motion = motion_for(chain, PLANAR_BENT, path, mode='position', method='points')
    assert motion.aim(target)
    assert motion.found.kind == ('joint' if path == 'joint' else 'line')
    tips = [judge.pose(q) for q in go(motion)]
    assert np.linalg.norm(tips[-1][:3, 3] - target[:3, 3]) < ARRIVED
    if path != 'joint':
        check_on_the_line(tips, target)


ALONE = """
import numpy as np
from fabrik_ros import load_urdf
from fabrik_ros.kernels._jit import COMPILED
from test_path_table import go, judge_of, motion_for, moved, PLANAR, PLANAR_BENT
assert not COMPILED
chain = load_urdf(PLANAR).chain()
start = judge_of(chain, PLANAR).pose(PLANAR_BENT)
for path in ('line', 'joint'):
    motion = motion_for(chain, PLANAR_BENT, path, mode='position')
    motion.aim(moved(start, x=-0.1, y=0.1))
    print(motion.found.kind, *go(motion)[-1])
motion = motion_for(chain, PLANAR_BENT, 'line', mode='position')
moves = motion.aim(moved(start, x=-2.0 * start[0, 3], y=-2.0 * start[1, 3]))
print(moves, motion.reason)
"""
"""Paths of a planar arm, printed."""


@pytest.mark.long
def test_rules_hold_without_a_compiler():
    here = Path(__file__).parent
    folders = [here, here.parents[1], here.parents[2]]
    paths = os.pathsep.join([*map(str, folders), os.environ.get('PYTHONPATH', '')])
    environment = {**os.environ, 'NUMBA_DISABLE_JIT': '1', 'PYTHONPATH': paths}
    run = subprocess.run(
        [sys.executable, '-c', ALONE], env=environment, capture_output=True, text=True, check=True
    )
    line, joint, blocked = run.stdout.splitlines()
    judge = judge_of(load_urdf(PLANAR).chain(), PLANAR)
    target = moved(judge.pose(PLANAR_BENT), x=-0.1, y=0.1)
    for kind, text in (('line', line), ('joint', joint)):
        word, *values = text.split()
        assert word == kind
        assert judge.errors(target, np.array(values, dtype=float)).distance < ARRIVED
    assert blocked.startswith('False the line ends after ')


def test_without_collisions_the_cheapest_path_is_straight():
    chain = six_axis().chain()
    judge = judge_of(chain, six_axis().source)
    start = judge.pose(BENT)
    motion = motion_for(chain, BENT, 'joint')
    assert motion.aim(moved(start, x=-2.0 * start[0, 3], y=-0.26, yaw=3.0))
    travel = motion.found.preview.travel
    q = go(motion)
    assert np.allclose(travel, np.abs(q[-1] - BENT), atol=1e-6)
    gone = (q - BENT) @ (q[-1] - BENT) / np.linalg.norm(q[-1] - BENT) ** 2
    assert np.abs(q - BENT - gone[:, None] * (q[-1] - BENT)).max() < 1e-6
