"""`fabrik_ros target` with programs and several targets, `fabrik_ros record` and `replay`."""

import pytest

pytest.importorskip('rclpy', reason='ROS 2 is not installed')

from fabrik_ros.errors import TargetError
from fabrik_ros.programs.recorded_poses import COLUMNS, PoseWriter, read_poses
from fabrik_ros.transforms import pose_from_xyz_rpy
import numpy as np
from process import run
import yaml

DOWN = {'rpy': [3.14159, 0.0, 0.0]}
SQUARE = [[0.4, 0.1, 0.4], [0.4, -0.1, 0.4], [0.45, -0.1, 0.4]]
PROGRAM = {
    'name': 'square',
    'segments': [
        {'move': {'xyz': SQUARE[0], **DOWN}},
        {'line': {'xyz': SQUARE[1], **DOWN}, 'speed': 0.2, 'blend': 0.02},
        {'line': {'xyz': SQUARE[2], **DOWN}, 'speed': 0.2},
    ],
}


@pytest.fixture
def program(tmp_path):
    path = tmp_path / 'square.yaml'
    path.write_text(yaml.safe_dump(PROGRAM))
    return path


@pytest.fixture
def poses(tmp_path):
    path = tmp_path / 'poses.csv'
    writer = PoseWriter(path)
    for xyz in SQUARE:
        writer.add(pose_from_xyz_rpy(xyz, DOWN['rpy']))
    return path


def test_program_and_poses_from_files_are_driven(ready_rig, program, poses):
    ended = ready_rig.run('target', program)
    assert ended.code == 0, ended
    assert ended.printed.splitlines()[-1].startswith('REACHED (reached): position error ')
    ended = ready_rig.run('replay', poses, '--blend', '0.02', '--speed', '0.2', '--loop', '2')
    assert ended.code == 0, ended
    first, *ends = ended.printed.splitlines()
    assert first.startswith('sent to /fabrik: 3 targets')
    assert len(ends) == 2
    assert all(end.startswith('REACHED (reached): position error ') for end in ends)


def test_program_that_cannot_be_followed_ends_with_the_segment(ready_rig, program):
    far = {'segments': [*PROGRAM['segments'], {'line': {'xyz': [3.0, 0.0, 0.4], **DOWN}}]}
    program.write_text(yaml.safe_dump(far))
    ended = ready_rig.run('target', program)
    assert ended.code == 1, ended
    assert 'NOT_REACHED' in ended.printed
    assert 'segment 4 (line)' in ended.printed
    program.write_text(yaml.safe_dump({'segments': [{'joints': 'nowhere'}]}))
    ended = ready_rig.run('target', program)
    assert ended.code == 1, ended
    assert 'REFUSED (refused: nothing has changed): segment 1 (joints)' in ended.printed


def test_where_the_arm_is_is_recorded_and_can_be_gone_to(ready_rig, tmp_path):
    path = tmp_path / 'recorded.csv'
    ended = ready_rig.run('record', path, typed='\n\n')
    assert ended.code == 0, ended
    assert f'2 poses in {path}' in ended.printed
    first, second = read_poses(path)
    assert np.allclose(first, second, atol=1e-3)
    assert ready_rig.run('replay', path).code == 0
    again = ready_rig.run('record', path)
    assert again.code == 2
    assert 'is there already' in again.complained


@pytest.mark.parametrize(
    ('words', 'reason'),
    [
        ((), 'nothing to send: give --xyz X Y Z, a file'),
        (('home', '--xyz', '0', '0', '1'), "either --xyz or targets, got both: 'home'"),
        (('a.yaml', 'home'), "a program goes alone, got also 'home'"),
        (('missing.yaml',), 'cannot be read'),
        (('missing.csv',), 'No such file'),
        (('home', '--blend', '-1'), 'must be 0 m or more'),
    ],
)
def test_what_cannot_be_sent_is_named(words, reason):
    ended = run('target', *words)
    assert ended.code == 2, ended
    assert reason in ended.complained


@pytest.mark.parametrize(
    ('words', 'reason'),
    [
        ((), 'FILE'),
        (('missing.csv',), 'No such file'),
        (('poses.csv', '--loop', '0'), 'must be 1 or more'),
        (('poses.csv', '--loop', 'often'), 'invalid'),
    ],
)
def test_what_cannot_be_replayed_is_named(words, reason):
    ended = run('replay', *words)
    assert ended.code == 2, ended
    assert reason in ended.complained


@pytest.mark.parametrize(
    ('text', 'words'),
    [
        ('a,b\n', f'the first line must be {",".join(COLUMNS)}'),
        (','.join(COLUMNS) + '\n', 'there are no poses'),
        (','.join(COLUMNS) + '\n0,0,0,0,0,0,0\n', 'line 2: '),
        (','.join(COLUMNS) + '\n0,0,0,0,0,0,1\n0,0,x,0,0,0,1\n', 'line 3: '),
        (','.join(COLUMNS) + '\n0,0,0\n', 'line 2: '),
    ],
)
def test_file_of_poses_that_makes_no_sense_is_named(tmp_path, text, words):
    path = tmp_path / 'poses.csv'
    path.write_text(text)
    with pytest.raises(TargetError, match=words):
        read_poses(path)
