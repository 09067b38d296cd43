"""Statuses that tell the truth: what the node waits for, what is missing, and how it ended."""

import pytest

pytest.importorskip('rclpy', reason='ROS 2 is not installed')
pytest.importorskip('pinocchio', reason='pinocchio is the judge')

from bench import JOINTS, PREPARATION, Puppet, shifted, six_axis_judge, START, values_at
from fabrik_ros.ros.status import reporter
from rcl_interfaces.msg import Log
from rclpy.lifecycle import TransitionCallbackReturn
from std_srvs.srv import Trigger

SUCCESS = TransitionCallbackReturn.SUCCESS
AT_START = values_at(JOINTS, START)
HELD = 'told to hold, until ~/resume'
NO_STATE = f'no fresh state of: {", ".join(JOINTS)}'
NO_DESCRIPTION = 'no robot description yet on /robot_description'
CONFIGURE = 'there is a robot description: configure the node'


@pytest.fixture
def reminders(bench, monkeypatch):
    """Remind often; collect the reminders on the wire."""
    monkeypatch.setattr(reporter, 'REMINDER_PERIOD', 0.05)
    texts = []

    def take(message):
        if message.msg.startswith('still waiting'):
            texts.append(message.msg)

    bench._listen(Log, '/rosout', take)
    return texts


@pytest.fixture
def moving(bench, six_axis):
    """Start a node and an arm that it moves at full speed."""
    bench.start_all(six_axis, AT_START)
    bench.send(shifted(six_axis_judge(six_axis).pose(START), y=0.4))
    bench.wait_for_commands(45)
    bench.wait_for_state('MOVING')
    return bench


def last_status_without_the_node(bench):
    """Status that was published last, when the node gets no more time."""
    bench.executor.remove_node(bench.node)
    seen = [-1]

    def is_quiet():
        seen.append(len(bench.statuses))
        return len(seen) > 25 and len(set(seen[-20:])) == 1

    bench.spin_until(is_quiet, 'the last status')
    return bench.status


class TestWaiting:
    def test_without_a_description_the_node_waits_for_that(self, bench, reminders):
        bench.start_node()
        reminder = f'still waiting for a robot description: {NO_DESCRIPTION}'
        bench.spin_until(lambda: reminder in reminders, 'the reminder')
        bench.wait_for_statuses()
        assert bench.status['waits_for'] == 'a robot description'

    def test_with_a_description_it_waits_for_configuration(self, bench, six_axis, reminders):
        bench.start_node(autostart=False)
        bench.describe(six_axis)
        reminder = f'still waiting for configuration: {CONFIGURE}'
        bench.spin_until(lambda: reminder in reminders, 'the reminder')
        assert not any('for a robot description: there is' in text for text in reminders)
        bench.wait_for_statuses()
        assert bench.status['waits_for'] == 'configuration'

    def test_while_it_compiles_it_waits_for_the_solver(self, bench, six_axis, reminders):
        bench.start_node()
        bench.describe(six_axis)
        bench.wait_for_state('WAITING_FOR_STATE', PREPARATION)
        reminder = f'still waiting for the measured state of every joint: {NO_STATE}'
        bench.spin_until(lambda: reminder in reminders, 'the reminder')
        preparing = [s for s in bench.statuses if 'preparing the solver' in s['reason']]
        assert {status['waits_for'] for status in preparing} == {'the solver'}
        assert not any('preparing' in text for text in reminders), 'by then it is prepared'

    def test_configured_it_waits_for_activation_and_active_for_nothing(self, bench, six_axis):
        bench.start_node(autostart=False)
        bench.describe(six_axis)
        bench.puppet = Puppet(bench, AT_START)
        bench.spin_until(lambda: CONFIGURE in bench.status.get('reason', ''), 'the description')
        assert bench.node.trigger_configure() == SUCCESS
        assert bench.wait_for_state('HOLDING')['waits_for'] == 'activation'
        assert bench.node.trigger_activate() == SUCCESS
        assert bench.wait_for_state('IDLE')['waits_for'] == ''


def test_hold_before_the_first_description_is_said_once(bench):
    bench.start_node()
    assert bench.ask(Trigger, 'fabrik/hold', Trigger.Request()).success
    assert bench.node.trigger_configure() == TransitionCallbackReturn.FAILURE
    bench.wait_for_statuses(2)
    assert bench.status['reason'] == f'{HELD}; {NO_DESCRIPTION}'


def test_hold_before_the_first_joint_state_tells_both(bench, six_axis):
    bench.start_node(robot_description=six_axis)
    bench.wait_for_state('WAITING_FOR_STATE', PREPARATION)
    assert bench.ask(Trigger, 'fabrik/hold', Trigger.Request()).success
    assert bench.wait_for_state('HOLDING')['reason'] == f'{HELD}; {NO_STATE}'
    bench.puppet = Puppet(bench, values_at(JOINTS[:5], START[:5]))
    bench.spin_until(lambda: 'elbow' not in bench.status['reason'], 'five joints')
    assert bench.status['reason'] == f'{HELD}; no fresh state of: wrist_3'
    Puppet(bench, values_at(JOINTS[5:], START[5:]))
    bench.spin_until(lambda: bench.status['reason'] == HELD, 'all joints')


@pytest.mark.parametrize(
    'step', ['trigger_deactivate', pytest.param('trigger_shutdown', marks=pytest.mark.long)]
)
def test_last_status_of_a_step_that_stops_the_arm_is_not_moving(moving, step):
    assert getattr(moving.node, step)() == SUCCESS
    assert last_status_without_the_node(moving)['state'] == 'HOLDING'


def test_last_status_of_an_interrupted_node_tells_so(moving):
    moving.node.interrupt()
    status = last_status_without_the_node(moving)
    assert (status['state'], status['reason']) == ('HOLDING', 'the node was interrupted')


def test_code_of_a_reason_is_empty_where_there_is_none(bench, six_axis):
    bench.start_all(six_axis, AT_START)
    assert (bench.status['reason'], bench.status['reason_code']) == ('', '')
    assert bench.ask(Trigger, 'fabrik/hold', Trigger.Request()).success
    assert bench.wait_for_state('HOLDING')['reason_code'] == 'held'
