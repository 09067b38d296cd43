"""A commander whose node dies, is started anew, or knows nothing of its arm; and Ctrl-C."""

import os
import signal
import subprocess
import sys
import time

import pytest

pytest.importorskip('rclpy', reason='ROS 2 is not installed')

from commanded import check_rest, far_side, far_turn, PATIENCE, set_out, until
from fabrik_ros.commander import Arm, MoveRefused, MoveStopped
from fabrik_ros.errors import NotMeasuredError
import numpy as np
from process import environment

SCRIPT = """
import sys
import rclpy
from fabrik_ros.commander import Arm

{before}
def say(status):
    print(status.sentence, flush=True)

try:
    with Arm('fabrik', node=node) as arm:
        arm.wait_until_ready(60.0, say)
        arm.move_to({target}, on_progress=say)
except KeyboardInterrupt:
    print('KeyboardInterrupt', flush=True)
    sys.exit(7)
"""
OWN_NODE = 'node = None'
NODE_OF_SOMEBODY = """
import threading
rclpy.init()
node = rclpy.create_node('mine')
threading.Thread(target=rclpy.spin, args=(node,), daemon=True).start()
"""


@pytest.fixture
def arm(network):
    with Arm('fabrik') as arm:
        yield arm


@pytest.mark.parametrize('before', [OWN_NODE, NODE_OF_SOMEBODY], ids=['own', 'given'])
def test_interrupt_of_a_waiting_script_stops_the_arm(start, arm, network, before):
    start()
    arm.wait_until_ready(PATIENCE)
    script = SCRIPT.format(before=before, target=far_turn(arm))
    code, said = end_on_the_way(['-c', script], signal.SIGINT, arm, network)
    assert code == 7, said
    assert said.splitlines()[-1] == 'KeyboardInterrupt', said


@pytest.mark.parametrize('told', [signal.SIGINT, signal.SIGTERM])
def test_command_that_is_told_to_end_stops_the_arm(start, arm, network, told):
    start()
    arm.wait_until_ready(PATIENCE)
    xyz, _ = far_side(arm)
    command = ['-m', 'fabrik_ros', 'target', '--xyz', *map(str, xyz)]
    end_on_the_way(command, told, arm, network)


def end_on_the_way(command, told, arm, network):
    """End a script with a signal on the way of the arm, which stops; return its code and words."""
    begin = arm.pose
    script = subprocess.Popen(
        [sys.executable, *command],
        env=environment(**network),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        until(lambda: np.abs(arm.pose - begin).max() > 0.01, 'the arm moves')
    except AssertionError as error:
        script.kill()
        raise AssertionError(script.communicate()) from error
    script.send_signal(told)
    said, _ = script.communicate(timeout=PATIENCE)
    until(lambda: arm.state.code == 'cancelled', 'the stop')
    time.sleep(0.5)  # it brakes
    check_rest(arm)
    return script.returncode, said


def test_node_that_is_killed_ends_the_move_and_one_that_is_started_again_takes_the_next(
    start, arm
):
    rig = start()
    arm.wait_until_ready(PATIENCE)
    target = far_side(arm)
    future = set_out(arm, target)
    rig.node.kill()
    rig.node.wait()
    with pytest.raises(MoveStopped, match='no status is heard on /fabrik/status') as ended:
        future.result(PATIENCE)
    assert ended.value.code == 'no_node'
    assert arm.state.state == 'SILENT'
    with pytest.raises(NotMeasuredError, match='no status on /fabrik/status'):
        arm.pose  # noqa: B018
    with pytest.raises(MoveRefused, match='nothing was sent: no status is heard') as refused:
        arm.move_to(target, timeout=0.5)
    assert refused.value.code == 'no_node'
    rig.node = rig.start_node()
    assert arm.move_to(target, timeout=4.0 * PATIENCE)


def test_node_that_ends_and_is_back_at_once_ends_the_move(start, arm):
    rig = start()
    arm.wait_until_ready(PATIENCE)
    future = set_out(arm, far_side(arm))
    rig.node.send_signal(signal.SIGSTOP)  # silent as one that starts anew, and then another one
    rig.node.kill()
    rig.node.wait()
    rig.node = rig.start_node()
    with pytest.raises(MoveStopped) as ended:
        future.result(PATIENCE)
    assert ended.value.code in ('no_node', 'node_restarted')


def test_arm_that_is_not_measured_is_not_commanded_and_has_no_pose(start, arm):
    start(has_arm=False)
    until(lambda: arm.state.state == 'WAITING_FOR_STATE', 'the node')
    with pytest.raises(MoveRefused, match='no fresh state of') as ended:
        arm.move_to('home', timeout=0.5)
    assert ended.value.code == 'state_missing'
    with pytest.raises(NotMeasuredError, match='no joint values on /joint_states'):
        arm.pose  # noqa: B018


def test_arm_that_nobody_measures_is_commanded_and_the_result_is_not_true(start, arm):
    start('wait_for_state:=false', has_arm=False)
    arm.wait_until_ready(PATIENCE)
    result = arm.move_to('home')
    assert (result.state, result.is_measured, bool(result)) == ('REACHED', False, False)
    assert abs(arm.joints['elbow'] - 1.4) < 1e-6


def test_proposed_path_ends_the_move_and_is_executed(start, arm):
    start('confirm:=always')
    arm.wait_until_ready(PATIENCE)
    target = far_side(arm)
    with pytest.raises(MoveRefused, match='there is no path to execute') as refused:
        arm.execute()
    assert refused.value.code == 'refused'
    with pytest.raises(MoveStopped, match='~/execute') as ended:
        arm.move_to(target)
    assert ended.value.code == 'awaits_execute'
    assert arm.execute()
    assert np.linalg.norm(arm.pose[:3, 3] - target[0]) < 0.01


def test_dead_arm_is_not_said_to_have_arrived(start, arm):
    rig = start()
    arm.wait_until_ready(PATIENCE)
    future = set_out(arm, far_side(arm))
    rig.arm.send_signal(signal.SIGSTOP)
    with pytest.raises(MoveStopped) as ended:
        future.result(PATIENCE)
    assert ended.value.code == 'state_missing'
    with pytest.raises(NotMeasuredError, match='no joint values for 1 s'):
        arm.pose  # noqa: B018


def test_without_ros_the_import_says_what_is_missing(tmp_path):
    (tmp_path / 'sitecustomize.py').write_text('import sys\nsys.modules["rclpy"] = None\n')
    path = os.pathsep.join([str(tmp_path), environment()['PYTHONPATH']])
    code = (
        'try:\n    import fabrik_ros.commander\n'
        'except ImportError as error:\n    print(type(error).__name__, error)'
    )
    done = subprocess.run(
        [sys.executable, '-c', code],
        env=environment(PYTHONPATH=path),
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.startswith('MissingRosError needs ROS 2, and Python finds no rclpy: source')
