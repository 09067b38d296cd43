"""The simulated arm with physics, over the wire: alone, and driven by the node."""

import math
import subprocess
import sys
import time
import types

import numpy as np
import pytest

pytest.importorskip('rclpy')
pytest.importorskip('mujoco', reason='the extra `sim`: pip install mujoco')

from bench import JOINTS, PREPARATION, shifted, six_axis_judge, stamp_seconds, START, values_at
from fabrik_ros.errors import FabrikError
from fabrik_ros.sim.physical_arm import PhysicalArmNode
import mujoco
from rclpy.time import Time
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from visualization_msgs.msg import MarkerArray

STANDING = values_at(JOINTS, START)
AWAY = values_at(JOINTS, [q + 0.1 for q in START])


def start_arm(bench, start=STANDING, **parameters):
    if start:
        parameters |= {'start_names': list(start), 'start_values': list(start.values())}
    remap = ['--ros-args', '-r', 'joint_command:=fabrik/joint_command']
    return bench.add(PhysicalArmNode, parameters, cli_args=remap)


@pytest.fixture
def arm(bench, six_axis):
    """Start the six-axis arm with physics, up to its first joint state."""
    start_arm(bench)
    bench.describe(six_axis)
    wait_for_states(bench)
    return bench


@pytest.fixture
def commander(arm):
    """Somebody who sends commands by hand."""
    publisher = arm.tester.create_publisher(JointState, 'fabrik/joint_command', 100)
    arm.spin_until(lambda: publisher.get_subscription_count() > 1, 'the arm listens')
    return publisher


def wait_for_states(bench, count=1):
    before = len(bench.states)
    bench.spin_until(lambda: len(bench.states) >= before + count, f'{count} joint states')


def measured(bench):
    state = bench.states[-1]
    return dict(zip(state.name, state.position, strict=True))


def distance(bench, values):
    now = measured(bench)
    return max(abs(now[name] - value) for name, value in values.items())


def wait_until_said(bench, capfd, words):
    heard = []
    bench.spin_until(
        lambda: heard.append(capfd.readouterr().err) or words in ''.join(heard), words
    )


def command(values, **fields):
    return JointState(name=list(values), position=list(values.values()), **fields)


def send_until_there(bench, publisher, values):
    publisher.publish(command(values))
    bench.spin_until(lambda: distance(bench, values) < 1e-3, f'the arm at {values}')


# Alone.


def test_state_tells_values_speeds_and_efforts_of_every_joint(arm):
    state = arm.states[-1]
    assert tuple(state.name) == JOINTS
    assert len(state.position) == len(state.velocity) == len(state.effort) == 6
    assert max(map(abs, state.effort)) > 1.0  # it holds its weight


def test_arm_stands_where_the_parameters_put_it(arm):
    wait_for_states(arm, 50)
    assert distance(arm, STANDING) < 1e-4


def test_arm_goes_where_it_is_told(arm, commander):
    send_until_there(arm, commander, AWAY)


def test_pause_of_the_machine_is_made_good_with_the_commands_that_came_meanwhile(arm, commander):
    """A real arm goes on; after the pause, the simulated one is where it would be without."""
    speed, pause = 0.5, 0.3
    begin = time.time()

    def go_on():
        sent = time.time()
        ramp = command({'wrist_3': STANDING['wrist_3'] + speed * (sent - begin)})
        ramp.header.stamp = Time(nanoseconds=int(1e9 * sent)).to_msg()
        commander.publish(ramp)
        time.sleep(0.008)
        return sent

    arm.spin_until(lambda: go_on() > begin + 0.3, 'the arm on its way')
    while go_on() < begin + 0.3 + pause:
        pass
    arm.states.clear()
    wait_for_states(arm)
    trails = stamp_seconds(arm.states[-1].header.stamp) - begin
    trails -= (measured(arm)['wrist_3'] - STANDING['wrist_3']) / speed
    assert abs(trails) < pause / 2


def test_command_for_some_joints_moves_only_these(arm, commander):
    send_until_there(arm, commander, {'elbow': AWAY['elbow']})
    others = {name: value for name, value in STANDING.items() if name != 'elbow'}
    wait_for_states(arm, 20)
    assert distance(arm, others) < 1e-3


def test_command_for_other_arms_is_none_of_its_business(arm, commander, capfd):
    commander.publish(command({'other_arm_joint': math.nan}))
    send_until_there(arm, commander, AWAY)
    assert 'refused' not in capfd.readouterr().err


def test_command_beyond_the_limits_goes_to_the_limit(arm, commander):
    commander.publish(command({'wrist_3': 100.0}))
    limit = six_axis_judge(arm_description(arm)).upper[-1]
    arm.spin_until(lambda: abs(measured(arm)['wrist_3'] - limit) < 1e-3, 'wrist_3 at its limit')


def arm_description(bench):
    return bench.nodes[1]._description


@pytest.mark.parametrize(
    ('message', 'reason'),
    [
        (command({'elbow': math.nan}), "joint 'elbow' was given nan; expected a number"),
        (command({'elbow': -math.inf}), "joint 'elbow' was given -inf; expected a number"),
        (JointState(name=['elbow']), '0 values came for 1 joints'),
        (JointState(position=[1.0]), '1 values came for 0 joints'),
    ],
)
def test_bad_command_is_refused_with_the_reason_and_moves_nothing(
    arm, commander, capfd, message, reason
):
    commander.publish(message)
    wait_until_said(arm, capfd, reason)
    assert distance(arm, STANDING) < 1e-4
    send_until_there(arm, commander, AWAY)


def test_description_that_cannot_be_used_is_said_and_a_better_one_is_taken(bench, six_axis, capfd):
    start_arm(bench)
    bench.describe('<robot/>')
    reason = 'the robot cannot be simulated: the robot has no links'
    wait_until_said(bench, capfd, reason)
    assert not bench.states
    bench.describe(six_axis)
    wait_for_states(bench)


def test_arm_whose_simulation_becomes_unstable_says_so_and_stands_where_it_was_last_well(
    arm, commander, capfd
):
    send_until_there(arm, commander, AWAY)
    simulated = arm.nodes[1]._arm._arm
    simulated.data.qvel[:] = math.nan
    wait_until_said(arm, capfd, 'the arm begins anew where it was last well')
    wait_for_states(arm, 5)
    for state in arm.states:
        assert np.isfinite([state.position, state.velocity, state.effort]).all()
    assert distance(arm, AWAY) < 2e-3
    send_until_there(arm, commander, STANDING)


def test_start_outside_the_limits_is_refused(bench, six_axis, capfd):
    start_arm(bench, {'elbow': 9.0})
    bench.describe(six_axis)
    wait_until_said(bench, capfd, "joint 'elbow' cannot start at 9")
    assert not bench.states


def test_description_may_be_a_parameter(bench, six_axis):
    start_arm(bench, robot_description=six_axis)
    wait_for_states(bench)
    assert distance(bench, STANDING) < 1e-4


@pytest.mark.parametrize(
    ('parameters', 'reason'),
    [
        ({'rate': 0.0}, 'rate .* must be in'),
        ({'timestep': 1.0}, 'timestep .* must be in'),
        ({'command_delay': math.nan}, 'command_delay .* must be in'),
        (
            {'start_names': ['elbow', 'wrist_1'], 'start_values': [0.0]},
            'start_names has 2 names and start_values 1 values',
        ),
    ],
)
def test_bad_parameters_are_refused(bench, parameters, reason):
    with pytest.raises(FabrikError, match=reason):
        start_arm(bench, {}, **parameters)


def test_process_with_a_bad_parameter_ends_with_the_reason():
    done = subprocess.run(
        [sys.executable, '-m', 'fabrik_ros.sim.physical_arm', '--ros-args', '-p', 'rate:=0.0'],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 1
    assert 'rate (joint states a second [Hz]) must be in [1, 1000], got 0' in done.stderr
    assert 'Traceback' not in done.stderr


def test_without_mujoco_it_says_how_to_get_it(bench, six_axis, monkeypatch, capfd):
    for name in ('mujoco', 'fabrik_ros.sim.physics', 'fabrik_ros.sim.mujoco_model'):
        monkeypatch.setitem(sys.modules, name, None)
    start_arm(bench)
    bench.describe(six_axis)
    wait_until_said(bench, capfd, 'pip install mujoco')
    assert not bench.states


# Parts.

BLOCK = """
obstacles:
  part/7:
    box: [0.1, 0.1, 0.05]
    xyz: [0.6, 0.0, 0.5]
"""


def hear_parts(bench):
    heard = []
    bench.tester.create_subscription(MarkerArray, 'parts', heard.append, 10)
    return heard


def test_parts_fall_and_are_told_where_they_are(bench, six_axis, tmp_path):
    (tmp_path / 'parts.yaml').write_text(BLOCK)
    heard = hear_parts(bench)
    start_arm(bench, parts=str(tmp_path / 'parts.yaml'))
    bench.describe(six_axis)
    bench.spin_until(lambda: heard, 'parts')
    (marker,) = heard[0].markers
    assert (marker.ns, marker.id, marker.header.frame_id) == ('part', 7, 'base_link')
    assert marker.pose.position.z > 0.3
    bench.spin_until(lambda: heard[-1].markers[0].pose.position.z < 0.03, 'it lies on the floor')


def test_parts_of_a_file_that_makes_no_sense_are_said(bench, six_axis, tmp_path, capfd):
    (tmp_path / 'parts.yaml').write_text(BLOCK.replace('box', 'bax'))
    heard = hear_parts(bench)
    start_arm(bench, parts=str(tmp_path / 'parts.yaml'))
    bench.describe(six_axis)
    wait_until_said(bench, capfd, "obstacle 'part/7'")
    assert not bench.states
    assert not heard


def test_base_link_is_the_frame_of_parts_that_name_none(bench, six_axis, tmp_path):
    (tmp_path / 'parts.yaml').write_text(BLOCK)
    lifted = six_axis.replace('"base_link"', '"stand"').replace(
        '</robot>',
        '<link name="base_link"/><joint name="lift" type="fixed"><parent link="stand"/>'
        '<child link="base_link"/><origin xyz="0.2 0 0"/></joint></robot>',
    )
    heard = hear_parts(bench)
    start_arm(bench, parts=str(tmp_path / 'parts.yaml'), base_link='base_link')
    bench.describe(lifted)
    bench.spin_until(lambda: heard, 'parts')
    assert heard[0].markers[0].pose.position.x == pytest.approx(0.8)


# The window.


def test_without_a_display_it_goes_on_and_says_so(bench, six_axis, monkeypatch, capfd):
    monkeypatch.delenv('DISPLAY', raising=False)
    monkeypatch.delenv('WAYLAND_DISPLAY', raising=False)
    start_arm(bench, view=True)
    bench.describe(six_axis)
    wait_for_states(bench)
    assert 'no window: there is no display' in capfd.readouterr().err


class Window:
    """Stands in for MuJoCo's window, which needs a screen."""

    def __init__(self, model, data, **options):
        self.data, self.shown, self.open, self.locked = data, [], True, False
        self.cam, self.user_scn = mujoco.MjvCamera(), mujoco.MjvScene(model, 100)

    def lock(self):
        return self

    def __enter__(self):
        self.locked = True

    def __exit__(self, *error):
        self.locked = False

    def is_running(self):
        return self.open

    def sync(self):
        assert not self.locked
        self.shown.append(self.data.time)

    def close(self):
        self.open = False


@pytest.fixture
def window(monkeypatch):
    windows = []

    def launch_passive(*arguments, **options):
        windows.append(Window(*arguments, **options))
        return windows[-1]

    monkeypatch.setenv('DISPLAY', ':0')
    viewer = types.ModuleType('mujoco.viewer')
    viewer.launch_passive = launch_passive
    monkeypatch.setitem(sys.modules, 'mujoco.viewer', viewer)
    monkeypatch.setattr(sys.modules['mujoco'], 'viewer', viewer, raising=False)
    return windows


def test_window_shows_the_target_that_the_node_accepted(bench, six_axis, window):
    start_arm(bench, view=True)
    bench.start_node()
    bench.describe(six_axis)
    bench.wait_for_state('IDLE', PREPARATION)
    (opened,) = window
    assert opened.user_scn.ngeom == 0
    target = six_axis_judge(six_axis).pose(START)
    target[:3, 3] += 0.0, 0.1, 0.1
    bench.send(target)
    bench.spin_until(lambda: opened.user_scn.ngeom == 3, 'the axes of the target')
    for number, axis in enumerate(target[:3, :3].T):
        middle = opened.user_scn.geoms[number].pos
        np.testing.assert_allclose(middle - target[:3, 3], 0.075 * axis, atol=1e-6)


def test_window_shows_every_state_until_it_is_closed(bench, six_axis, window):
    start_arm(bench, view=True)
    bench.describe(six_axis)
    wait_for_states(bench, 10)
    (shown,) = window
    assert len(shown.shown) >= 9
    assert np.all(np.diff(shown.shown) > 0.0)
    shown.close()
    wait_for_states(bench, 10)


def test_window_is_closed_with_the_arm(bench, six_axis, window):
    node = start_arm(bench, view=True)
    bench.describe(six_axis)
    wait_for_states(bench)
    node._drop_arm()
    assert not window[0].open


# Time.


def test_clock_of_the_simulation_is_published_on_request(bench, six_axis):
    clocks = []
    bench.tester.create_subscription(Clock, '/clock', clocks.append, 1000)
    start_arm(bench, publish_clock=True, real_time_factor=5.0)
    bench.describe(six_axis)
    wait_for_states(bench, 50)
    stamps = np.array([stamp_seconds(state.header.stamp) for state in bench.states])
    assert np.allclose(np.diff(stamps), 0.01)
    assert stamps[-1] < 100.0  # since the simulation began, not since 1970
    times = np.array([stamp_seconds(message.clock) for message in clocks])
    assert np.allclose(np.diff(times), 0.01)
    assert set(stamps.round(6)) & set(times.round(6))


def test_there_is_no_clock_unless_it_is_asked_for(arm):
    assert arm.tester.count_publishers('/clock') == 0


# Driven by the node.


def start_all(bench, urdf, **arm_parameters):
    bench.start_node(tip_link='tool0')
    start_arm(bench, **arm_parameters)
    bench.describe(urdf)
    bench.wait_for_state('IDLE')


def tip(bench, judge):
    return judge.pose(bench.states[-1].position, bench.states[-1].name)


def test_arm_comes_to_the_target_of_the_node(bench, six_axis):
    judge = six_axis_judge(six_axis)
    start_all(bench, six_axis)
    target = shifted(judge.pose(START), 0.05, 0.1, 0.05)
    bench.send(target)
    bench.wait_for_state('REACHED')
    bench.wait_until_silent()
    left = tip(bench, judge)[:3, 3] - target[:3, 3]
    assert np.linalg.norm(left) < 3e-4  # dry friction holds it that near


@pytest.mark.long
def test_node_in_simulated_time_moves_the_arm_faster_than_real(bench, six_axis):
    judge = six_axis_judge(six_axis)
    bench.start_node(tip_link='tool0', use_sim_time=True)
    start_arm(bench, publish_clock=True, real_time_factor=3.0)
    bench.describe(six_axis)
    bench.wait_for_state('IDLE')
    target = shifted(judge.pose(START), y=0.1)
    bench.send(target)
    bench.wait_for_state('REACHED')
    wait_for_states(bench, 100)
    assert np.linalg.norm(tip(bench, judge)[:3, 3] - target[:3, 3]) < 3e-4
