"""`fabrik_ros log` and `report`: a real node and arm at work, and one page of it."""

import signal
import subprocess
import sys
import time

import pytest

pytest.importorskip('rclpy', reason='ROS 2 is not installed')

from fabrik_ros.logs.log_file import read_log
from fabrik_ros.logs.measures import answer_times, events, limits_used, tracking
import numpy as np
from process import environment, PATIENCE, run

DOWN = ('--xyz', '.4', '.2', '.4', '--rpy', '3.14', '0', '0')


def start_log(rig, path):
    """Start a log in a process of its own, and wait until it listens."""
    process = subprocess.Popen(
        [sys.executable, '-m', 'fabrik_ros', 'log', str(path)],
        env=environment(**rig.network),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    assert process.stderr.readline().startswith('listening to /fabrik')
    return process


def test_a_log_of_a_node_at_work_becomes_a_page(rig, tmp_path):
    path = tmp_path / 'log.zip'
    rig.start_node()
    rig.start_arm()
    logging = start_log(rig, path)
    time.sleep(1.0)  # it finds the node, before which it hears nothing
    assert rig.run('target', *DOWN).code == 0
    time.sleep(1.0)  # the node falls silent
    logging.send_signal(signal.SIGINT)
    printed, complained = logging.communicate(timeout=PATIENCE)
    assert logging.returncode == 0, complained
    assert f'targets in {path}; `fabrik_ros report' in printed

    log = read_log(path)
    assert log.joints[0] == 'shoulder_pan'
    assert len(log.joints) == 6
    assert np.all(log.acceleration == 5.0)
    assert len(answer_times(log)) == 1, (log.targets, log.commands.heard[:3], events(log))
    assert {'MOVING', 'REACHED'} <= {event.state for event in events(log)}
    found = tracking(log)
    assert 0.0 <= found.lag < 0.5
    assert np.nanmax(found.worst) < 0.5
    used = limits_used(log)
    assert np.all(used.velocity <= 1.0 + 1e-6)
    assert np.all(used.acceleration <= 1.0 + 1e-3)
    assert used.velocity.max() > 0.1

    ended = rig.run('report', path)
    assert ended.code == 0, ended
    page = path.with_suffix('.html').read_text()
    assert page.count('<svg') == 2
    assert 'REACHED' in page


def test_without_a_node_nothing_is_written(rig, tmp_path):
    path = tmp_path / 'log.zip'
    ended = rig.run('log', path, '--duration', '1')
    assert ended.code == 1
    assert 'NOT LOGGED: no status came on /fabrik/status' in ended.printed
    assert not path.exists()


def test_a_file_that_is_there_and_one_that_is_no_log_are_named(tmp_path):
    path = tmp_path / 'log.zip'
    assert 'No such file' in run('report', path).error()
    path.touch()
    assert 'is there already' in run('log', path).error()
    assert 'is no log of fabrik_ros log' in run('report', path).error()
