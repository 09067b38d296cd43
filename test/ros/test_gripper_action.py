"""A gripper controller with an action: a server that closes its fingers in its own time."""

import pytest

pytest.importorskip('rclpy', reason='ROS 2 is not installed')
pytest.importorskip(
    'control_msgs.action', reason='control_msgs comes with ROS 2, not with its wheels'
)

from bench import Puppet, values_at
from control_msgs.action import ParallelGripperCommand
from fabrik_ros.ros import gripper_action
from gripper_arm import gripper_arm, STROKE
from rclpy.action import ActionServer, CancelResponse, GoalResponse
from rclpy.callback_groups import ReentrantCallbackGroup
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64
from std_srvs.srv import Trigger

JOINT = 'left_finger_joint'
START = values_at(('shoulder', 'elbow', 'wrist'), (0.4, -0.8, 0.4))
PERIOD, STEP = 0.02, 0.002
"""Of the controller: time and way of a step [s, m]."""


class Controller:
    """
    Moves the finger to where it is asked to, and publishes its joint states if `is_heard`.

    Something `between` stalls it. It ends goals by `finish`, where there is something between or
    it is there.
    """

    def __init__(self, bench, accepts=True, finish='succeed', between=0.0, is_heard=True):
        self.bench, self.goals, self.cancelled = bench, [], 0
        self.value, self._handle = STROKE, None
        self._finish, self._between, self._is_heard = finish, between, is_heard
        self.gives_up = False
        node = bench.tester
        self._states = node.create_publisher(JointState, 'joint_states', 10)
        answer = GoalResponse.ACCEPT if accepts else GoalResponse.REJECT
        self._server = ActionServer(
            node,
            ParallelGripperCommand,
            'hand/gripper_cmd',
            execute_callback=self._execute,
            goal_callback=lambda goal: answer,
            handle_accepted_callback=self._take,
            cancel_callback=self._cancel,
            callback_group=ReentrantCallbackGroup(),
        )
        node.create_timer(PERIOD, self._step)

    def _take(self, handle):
        self.goals.append(handle.request.command)
        self._handle = handle

    def _cancel(self, handle):
        self.cancelled += 1
        self._handle = None
        return CancelResponse.ACCEPT

    def _execute(self, handle):
        getattr(handle, self._finish)()
        left = handle.request.command.position[0] - self.value
        result = ParallelGripperCommand.Result(
            stalled=left < 0.0 and not self.gives_up, reached_goal=left == 0.0
        )
        result.state = JointState(name=[JOINT], position=[self.value])
        return result

    def _step(self):
        if self._handle is not None:
            left = self._handle.request.command.position[0] - self.value
            self.value = max(self.value + min(max(left, -STEP), STEP), 0.5 * self._between)
            is_stalled = left < 0.0 and self.value == 0.5 * self._between
            if left == 0.0 or is_stalled or self.gives_up:
                self._handle.execute()
                self._handle = None
        if self._is_heard:
            self._states.publish(JointState(name=[JOINT], position=[self.value]))


def start(bench, name='hand/gripper_cmd', **parameters):
    bench.start_node(mode='position', gripper_action=name, **parameters)
    Puppet(bench, START)
    bench.describe(gripper_arm())
    bench.wait_for_state('IDLE')


def send(bench, width):
    bench._publish('fabrik/gripper', Float64(data=width))


def wait_for(bench, state):
    bench.spin_until(lambda: bench.status.get('gripper_state') == state, state)


def test_width_goes_to_the_controller(bench):
    controller = Controller(bench)
    start(bench, output=['array'], gripper_effort=12.0)
    bench.spin_until(lambda: bench.status.get('gripper_width') == '0.08', 'the measured width')
    send(bench, 0.02)
    wait_for(bench, 'MOVING')
    wait_for(bench, 'REACHED')
    (goal,) = controller.goals
    assert (list(goal.name), list(goal.effort)) == ([JOINT], [12.0])
    assert goal.position[0] == pytest.approx(0.01)
    assert bench.gripper_commands == []


def test_hold_cancels_the_goal(bench):
    controller = Controller(bench)
    start(bench)
    send(bench, 0.0)
    wait_for(bench, 'MOVING')
    bench.ask(Trigger, 'fabrik/hold', Trigger.Request())
    bench.spin_until(lambda: controller.cancelled, 'a goal that is cancelled')
    assert controller.value > 0.0
    bench.wait_for_statuses(3)
    assert float(bench.status['gripper_target']) == pytest.approx(2 * controller.value, abs=0.02)
    assert float(bench.status['gripper_target']) > 0.005


def test_refused_goal_is_said(bench):
    Controller(bench, accepts=False)
    start(bench)
    bench.spin_until(lambda: bench.status.get('gripper_width') == '0.08', 'measured')
    send(bench, 0.0)
    bench.spin_until(lambda: 'refused the goal' in bench.status['last_refusal'], 'the refusal')
    wait_for(bench, 'STOPPED')
    assert bench.status['gripper_reason'] == 'the gripper controller: it refused the goal'


def test_controller_that_is_not_there_is_said(bench):
    start(bench, 'nobody/gripper_cmd')
    send(bench, 0.0)
    bench.spin_until(
        lambda: "nobody offers the action 'nobody/gripper_cmd'" in bench.status['last_refusal'],
        'the refusal',
    )


def test_controller_that_does_not_answer_is_given_up(bench, monkeypatch):
    monkeypatch.setattr(gripper_action, 'ANSWER_TIME', 0.5)
    controller = Controller(bench)
    monkeypatch.setattr(controller._server, '_execute_goal_request', silent)
    start(bench)
    bench.spin_until(lambda: bench.status.get('gripper_width') == '0.08', 'measured')
    send(bench, 0.0)
    bench.spin_until(lambda: 'no answer' in bench.status['last_refusal'], 'the refusal')
    wait_for(bench, 'STOPPED')
    assert 'no answer' in bench.status['gripper_reason']


@pytest.mark.parametrize('finish', ['succeed', 'abort'])
@pytest.mark.parametrize('is_heard', [True, False], ids=['measured', 'unmeasured'])
def test_stalled_fingers_have_grasped_something(bench, finish, is_heard):
    """A controller that takes a stall for a failure aborts the goal."""
    Controller(bench, finish=finish, between=0.03, is_heard=is_heard)
    start(bench)
    if is_heard:
        bench.spin_until(lambda: bench.status.get('gripper_width') == '0.08', 'measured')
    send(bench, 0.0)
    wait_for(bench, 'GRASPED')
    assert float(bench.status['gripper_width']) == pytest.approx(0.03)
    assert (bench.status['gripper_reason'], bench.status['last_refusal']) == ('', '')


def test_goal_that_is_given_up_is_said(bench):
    controller = Controller(bench, finish='abort')
    start(bench)
    bench.spin_until(lambda: bench.status.get('gripper_width') == '0.08', 'measured')
    send(bench, 0.0)
    bench.spin_until(lambda: controller.value < 0.8 * STROKE, 'fingers that move')
    controller.gives_up = True
    wait_for(bench, 'STOPPED')
    assert bench.status['gripper_reason'] == 'the gripper controller: it aborted the goal'
    assert bench.status['gripper_reason_code'] == 'error'
    assert float(bench.status['gripper_width']) > 0.01


async def silent(request):
    """Do nothing with a goal."""
