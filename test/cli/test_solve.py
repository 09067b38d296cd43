"""`fabrik_ros solve`: its joint values put the tip where pinocchio says it should be."""

import math
import re

from process import run, without_ros
import pytest

pytest.importorskip('pinocchio', reason='pinocchio is the judge')

from helpers import assert_close, example_robot, REAL_ARMS
from judging import Judge
import pinocchio

DOWN = ('--xyz', '.4', '.2', '.4', '--rpy', '3.14', '0', '0')
ROW = re.compile(r'^  (\w+) +(-?[\d.]+) (?:rad|m)(?: +(-?[\d.]+) deg)?', re.MULTILINE)


def joint_values(ended):
    """Joint values by name [rad or m]; checks that those in degrees are the same."""
    rows = ROW.findall(ended.printed)
    for _, value, degrees in rows:
        assert not degrees or math.degrees(float(value)) == pytest.approx(float(degrees), abs=1e-3)
    return {name: float(value) for name, value, _ in rows}


def pose_at(path, base_link, tip_link, ended):
    values = joint_values(ended)
    return Judge(path.read_text(), base_link, tip_link).pose(list(values.values()), list(values))


def test_pose_by_roll_pitch_yaw_is_reached(six_axis):
    ended = run('solve', six_axis, *DOWN)
    assert ended.code == 0, ended.complained
    assert ended.printed.startswith('CONVERGED: ')
    T = pose_at(six_axis, 'base_link', 'tool0', ended)
    assert_close(T[:3, 3], [0.4, 0.2, 0.4], 1e-5)
    assert_close(T[:3, :3], pinocchio.rpy.rpyToMatrix(3.14, 0.0, 0.0), 1e-5)


def test_pose_by_quaternion_is_reached_by_a_chain_that_is_named():
    arm, path = REAL_ARMS['panda'], example_robot('panda')
    names = ('--base-link', arm.base_link, '--tip-link', 'panda_link7')
    xyzw = ('--quaternion', '-1', '.5', '0', '0')
    ended = run('solve', path, *names, '--xyz', '.4', '-1e-1', '.4', *xyzw)
    assert ended.code == 0, ended.complained
    T = pose_at(path, arm.base_link, 'panda_link7', ended)
    assert_close(T[:3, 3], [0.4, -0.1, 0.4], 1e-5)
    R = pinocchio.Quaternion(0.0, -1.0, 0.5, 0.0).normalized().toRotationMatrix()
    assert_close(T[:3, :3], R, 1e-5)


def test_position_alone_is_reached_in_any_orientation(six_axis):
    ended = run('solve', six_axis, '--xyz', '-.4', '-.2', '.4')
    assert ended.code == 0, ended.complained
    assert 'any orientation' in ended.printed
    T = pose_at(six_axis, 'base_link', 'tool0', ended)
    assert_close(T[:3, 3], [-0.4, -0.2, 0.4], 1e-5)


def test_seed_chooses_the_configuration(six_axis):
    first = joint_values(run('solve', six_axis, *DOWN))
    other = {**first, 'elbow': -first['elbow'], 'shoulder_lift': -2.0}
    found = joint_values(run('solve', six_axis, *DOWN, '--seed', *map(str, other.values())))
    assert found['elbow'] * first['elbow'] < 0.0


def test_unreachable_target_ends_with_code_1_and_the_reason(six_axis):
    ended = run('solve', six_axis, '--xyz', '4', '.2', '.4', '--rpy', '0', '0', '0')
    assert ended.code == 1
    assert ended.printed.startswith('TOO_FAR: the target is farther away than the arm is long')
    T = pose_at(six_axis, 'base_link', 'tool0', ended)
    told = float(ended.printed.split('position error ')[1].split()[0])
    assert math.dist(T[:3, 3], [4.0, 0.2, 0.4]) == pytest.approx(told, rel=1e-2)


@pytest.mark.parametrize(
    ('words', 'error'),
    [
        (('--xyz', 'nan', '0', '0'), "--xyz: must be a finite number, got 'nan'"),
        (('--xyz', '-inf', '0', '0'), "--xyz: must be a finite number, got '-inf'"),
        (('--xyz', 'left', '0', '0'), "--xyz: must be a finite number, got 'left'"),
        (('--xyz', '0', '0'), '--xyz: expected 3 arguments'),
        ((), 'required: --xyz'),
        ((*DOWN, '--quaternion', '0', '0', '0', '1'), 'not allowed with argument --rpy'),
        (
            ('--xyz', '.4', '.2', '.4', '--quaternion', '0', '0', '0', '0'),
            'has norm 0; expected 1',
        ),
        (
            ('--xyz', '.4', '.2', '.4', '--rpy', '180', '0', '-90'),
            '--rpy 180 0 -90: angles are in radians, up to 6.283',
        ),
        ((*DOWN, '--seed', '1', '2'), 'seed has shape (2,), expected (6,)'),
        ((*DOWN, '--tip-link', 'tool1'), "no link named 'tool1'"),
        ((*DOWN, '--base-link', 'tool0', '--tip-link', 'elbow'), "no link named 'elbow'"),
        ((*DOWN, '--base-link', 'tool0'), "nothing moves below 'tool0'"),
    ],
)
def test_wrong_use_is_named(six_axis, words, error):
    assert error in run('solve', six_axis, *words).error()


def test_ros_is_not_needed(six_axis, tmp_path):
    pytest.importorskip('fabrik_ros.kernels._built', reason='interpreted it takes a minute')
    assert run('solve', six_axis, *DOWN, **without_ros(tmp_path)).code == 0
