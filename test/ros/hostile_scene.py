"""The node in a process of its own, an arm that may lie, and a judge of all commands."""

from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
import math
import os
from pathlib import Path
from random import Random
import re
import signal
import time
from typing import Any

from bench import JOINTS, matrix_message, PATIENCE, PREPARATION, shifted, six_axis_judge, START
from command_judge import Bounds, CommandJudge
from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import PoseStamped, TwistStamped
from lifecycle_msgs.msg import State, Transition
from lifecycle_msgs.srv import ChangeState, GetState
from nav_msgs.msg import Odometry
from node_process import NodeProcess
import numpy as np
from rcl_interfaces.srv import SetParametersAtomically
import rclpy
from rclpy.context import Context
from rclpy.executors import SingleThreadedExecutor
from rclpy.parameter import Parameter
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from std_srvs.srv import Trigger
from trajectory_msgs.msg import JointTrajectory

LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
BEST_EFFORT = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)
STATE_PERIOD, CLOCK_PERIOD, ODOMETRY_PERIOD = 0.01, 0.005, 0.02
CLOCK_START = 1000.0
SETTLING = 0.1
"""How long a command may be on its way when the answer to a later request is here [s]."""
SECOND_REQUEST = 2.0
STILL_REPORTS = 8
"""So many statuses in a row may say that the arm moves while no command comes."""
LEAST_GAP = 0.05
"""Statuses nearer together [s] waited in a queue, as where this process got no time to run."""
FIRST_HOME = (0.3, -1.2, 1.5, -1.8, -1.57, 0.2)
WORLD = 'world'
NEARBY = 2e-3
"""How far from where the arm is commands may begin [rad]."""
ARRIVAL = 0.01, 0.05
"""Defaults of `arrival_tolerance_position` and `_orientation` [m, rad]."""
LIMITS = {
    'max_joint_velocity': 1.5,
    'max_joint_acceleration': 5.0,
    'max_joint_velocity_fraction': 1.0,
}
TIP_LIMITS = {'max_tip_speed': 0.25, 'max_tip_rotation': 1.0, 'speed_scaling': 1.0}
SANE: dict[str, Any] = {
    **LIMITS,
    **TIP_LIMITS,
    'tip_link': 'tool0',
    'home_configuration': list(FIRST_HOME),
    'path': 'auto',
    'max_detour': math.pi,
    'confirm': 'never',
    'path_tolerance_position': -1.0,
    'path_tolerance_orientation': -1.0,
    'dodge_distance': 0.1,
    'dodge_at_rest': False,
    'mode': 'auto',
    'axis': [0.0, 0.0, 1.0],
    'polish': 'auto',
    'position_tolerance': 1e-5,
    'orientation_tolerance': 1e-4,
    'solve_budget': 0.02,
    'on_unreachable': 'approach',
    'max_tip_acceleration': 1.5,
    'state_timeout': 0.5,
    'resync_tolerance': 0.1,
    'limit_margin': 0.1,
    'target_timeout': 0.0,
    'jog_timeout': 0.25,
    'stream_timeout': 1.2,
    'max_target_age': 0.0,
}
"""What a sane user would have; all but `tip_link` may change at any time."""


def described(urdf: str) -> str:
    """Give the six-axis arm a gripper: a joint that others move."""
    finger = """
      <link name="finger"><collision><geometry><box size="0.01 0.01 0.03"/></geometry>
      </collision></link>
      <joint name="finger_joint" type="prismatic"><parent link="tool0"/><child link="finger"/>
      <origin xyz="0 0 0.05"/><axis xyz="0 1 0"/>
      <limit lower="0" upper="0.04" velocity="1" effort="1"/></joint>
    </robot>"""
    return urdf.replace('</robot>', finger)


def narrowed(urdf: str, by: float = 3.0) -> str:
    """Limit the joints of an arm to a part of the usual range, and of the usual speed."""

    def narrow(match: re.Match[str]) -> str:
        return f'{match[1]}="{float(match[2]) / by!r}"'

    return re.sub(r'\b(lower|upper|velocity)="([-+0-9.e]+)"', narrow, urdf)


class Arm:
    """Goes where it is told at once, and says where it is; may be told to lie."""

    def __init__(self, publish: Callable[[JointState], None], judge: CommandJudge) -> None:
        self.q = np.array(START)
        self.lie: Callable[[Arm], list[JointState]] = Arm.truth
        self.ghost: np.ndarray | None = None
        """Joint values that somebody else publishes as the state of these joints."""
        self.past: deque[list[float]] = deque(maxlen=60)
        self._publish = publish
        self._command_judge = judge

    def say(self) -> None:
        self.past.append(self.q.tolist())
        for message in self.lie(self):
            self.publish(message)
        if self.ghost is not None:
            self.whisper(self.ghost)

    def whisper(self, q: np.ndarray) -> None:
        """Publish a state that is not the arm's: no run of commands may begin there."""
        self._publish(self.message(q))

    def publish(self, message: JointState) -> None:
        said: dict[str, float] = {}
        for name, value in zip(message.name, message.position, strict=False):
            if name in said:
                self._command_judge.arm_says(said)
            said[name] = value
        self._command_judge.arm_says(said)
        self._publish(message)

    def truth(self) -> list[JointState]:
        return [self.message(self.q)]

    @staticmethod
    def message(values: Sequence[float], names: Sequence[str] = JOINTS) -> JointState:
        return JointState(name=list(names), position=[float(value) for value in values])


class Scene:
    """
    The node in a process, an arm that may lie, and a judge of every command.

    Parameters
    ----------
    context : Context
        An initialised context.
    domain_id : int
        Its ROS domain.
    folder : Path
        For what the node says.
    urdf : str
        Of the six-axis arm.
    command_rate : float
        Commands per second [Hz].
    simulated_time : bool
        Whether the node takes the time from /clock, which the scene publishes.
    moving_base : bool
        Whether the arm stands on something that moves in the world, by its odometry.
    **parameters
        Others that the node is started with.

    """

    def __init__(
        self,
        context: Context,
        domain_id: int,
        folder: Path,
        urdf: str,
        command_rate: float = 100.0,
        simulated_time: bool = False,
        moving_base: bool = False,
        **parameters: Any,
    ) -> None:
        self.judge = six_axis_judge(urdf)
        self.start = self.judge.pose(START)
        self.urdf = described(urdf)
        self.descriptions = {
            'usual': self.urdf,
            'changed': self.urdf + '<!-- another -->',
            'narrow': narrowed(self.urdf),
        }
        self._judges = {
            name: six_axis_judge(text.replace('<!-- another -->', ''))
            for name, text in self.descriptions.items()
        }
        self._description = 'usual'
        self.limits = LIMITS | TIP_LIMITS
        # In the frame of a base that moves, tips that stay in the world are as fast as that is.
        frames = None if moving_base else self._frames
        self.command_judge = CommandJudge(
            JOINTS, self.bounds(), 1.0 / command_rate, frames, nearby=NEARBY
        )
        self.counts: Counter[str] = Counter()
        self.statuses = 0
        self.status: dict[str, str] = {}
        self.trouble: list[str] = []
        self.guests: list[tuple[Context, list[Any]]] = []
        self.guest_participants, self.guest_endpoints = 2, 25
        self.is_simulated = simulated_time
        self.time = CLOCK_START
        self.pace = 1.0
        self._time_at = time.monotonic()
        self._still: list[int] = []
        self._told_at = self._asked_until = -math.inf
        self._lie_until = 0
        self.most_memory = 0
        self._domain_id, self._folder = domain_id, folder
        self._parameters = {'command_rate': command_rate, 'use_sim_time': simulated_time}
        self._parameters |= parameters
        if moving_base:
            self._parameters |= {'world_frame': WORLD, 'base_odometry': 'odom'}
        self.drives = moving_base
        self._driven = 0.0
        self.executor = SingleThreadedExecutor(context=context)
        # Out of the way of whatever else runs in this domain.
        self.namespace = f'/hostile_{os.getpid()}'
        self.tester = rclpy.create_node('tester', namespace=self.namespace, context=context)
        self.executor.add_node(self.tester)
        # The commands are taken by hand: none must lie in a queue when it is asked what came.
        self._ears = rclpy.create_node('ears', namespace=self.namespace, context=context)
        self._commands = self._ears.create_subscription(
            JointState, 'fabrik/joint_command', lambda message: None, 1000
        )
        self._ways = self._ears.create_subscription(
            JointTrajectory, 'fabrik/joint_trajectory', lambda message: None, 1000
        )
        self._untold: deque[tuple[int, JointTrajectory]] = deque()
        """Ways to rest that the judge does not know yet, and when they were sent [ns]."""
        create = self.tester.create_publisher
        self.publishers = {
            'robot_description': create(String, 'robot_description', LATCHED),
            'target_pose': create(PoseStamped, 'fabrik/target_pose', 1),
            'target_joints': create(JointState, 'fabrik/target_joints', 1),
            'target_configuration': create(String, 'fabrik/target_configuration', 1),
            'jog': create(TwistStamped, 'fabrik/jog', BEST_EFFORT),
            'joint_states': create(JointState, 'joint_states', 10),
            'clock': create(Clock, 'clock', BEST_EFFORT),
            'odom': create(Odometry, 'odom', 10),
        }
        self._clients: dict[str, Any] = {}
        self.tester.create_subscription(DiagnosticArray, 'fabrik/status', self._on_status, 100)
        self.arm = Arm(self.publishers['joint_states'].publish, self.command_judge)
        self.tester.create_timer(STATE_PERIOD, self._arm_speaks)
        self.tester.create_timer(CLOCK_PERIOD, self._clock_ticks)
        if moving_base:
            self.tester.create_timer(ODOMETRY_PERIOD, self._base_speaks)
        self.publishers['robot_description'].publish(String(data=self.urdf))
        self.process = self._begin()

    # -- the process

    def _begin(self) -> NodeProcess:
        given = SANE | self._parameters
        names = {'__ns': self.namespace, '/clock': f'{self.namespace}/clock'}
        return NodeProcess(self._domain_id, self._folder, given, names)

    def wait_for_the_node(self) -> None:
        before = self.statuses
        self.spin_until(lambda: self.statuses > before, 'the first status', PREPARATION)

    def restart(self, number: int) -> None:
        """End the process by a signal, and start another."""
        code = self.process.end(number)
        if number != signal.SIGKILL and code != 0:
            self.trouble.append(f'signal {number} ended it with {code}')
        self._note_complaints()
        self.start_again()

    def start_again(self) -> None:
        """Start another process, whatever became of the one before."""
        self.process.end()
        self.spin(2.0 * SETTLING)
        self._limits_are(LIMITS | TIP_LIMITS)
        self.command_judge.bounds_have_changed(self.bounds())
        self._still.clear()
        self.command_judge.path_waits(None, time.time_ns())
        self.process = self._begin()
        self.wait_for_the_node()

    def close(self) -> None:
        self.process.end()
        self.dismiss_guests()
        self.executor.shutdown()
        self.tester.destroy_node()
        self._ears.destroy_node()

    # -- what is heard

    def _on_status(self, message: DiagnosticArray, info: Mapping[str, int]) -> None:
        (status,) = message.status
        self.statuses += 1
        self.status = {entry.key: entry.value for entry in status.values}
        state, reason = self.status['state'], self.status['reason']
        if state not in ('IDLE', 'MOVING', 'JOGGING', 'REACHED') and not reason:
            self.trouble.append(f'{state} without a reason')
        self.hear()
        self._check_waiting(info['source_timestamp'])
        before, self._told_at = self._told_at, time.monotonic()
        if self._told_at - before < LEAST_GAP:
            return
        self._check_standing(state)
        says_nothing = state in ('MOVING', 'JOGGING') and not reason
        self._still = [*self._still, self.command_judge.count] if says_nothing else []
        if len(self._still) > STILL_REPORTS and self._still[-1] == self._still[-1 - STILL_REPORTS]:
            self.trouble.append(f'no command, yet {self.status}')
            self._still = []

    def _check_standing(self, state: str) -> None:
        """Have the judge know whether the arm holds, goes on, or has arrived."""
        if state == 'HOLDING':
            self.command_judge.arm_holds(self.status['reason_code'] == 'does_not_follow')
        else:
            self.command_judge.arm_goes_on()
        if state == 'REACHED' and self.status.get('is_measured') == 'True':
            self.command_judge.arm_is_at_target(*ARRIVAL)

    def _check_waiting(self, sent: int) -> None:
        """Have the judge know of a path that waits, where nothing else may move the arm."""
        waits = self.status.get('waits_for_execute') == 'True' and not self.drives
        is_new = sent > self._asked_until
        self.command_judge.path_waits(self.status['accepted'] if waits and is_new else None, sent)

    def hear(self) -> None:
        """Take all commands that have come, and in between the ways to rest that were sent."""
        commands = _take_all(self._commands, JointState)
        self._untold += _take_all(self._ways, JointTrajectory)
        for sent, message in commands:
            while self._untold and self._untold[0][0] < sent:
                points = self._untold.popleft()[1].points
                self.command_judge.is_announced([point.positions for point in points])
            stamp = message.header.stamp.sec * 10**9 + message.header.stamp.nanosec
            self.command_judge.check(message.name, stamp, message.position, sent)
            if len(message.position) == len(self.arm.q):
                self.arm.q = np.array(message.position)

    def _arm_speaks(self) -> None:
        if self._lie_until and self.statuses >= self._lie_until:
            self._lie_until, self.arm.lie, self.arm.ghost = 0, Arm.truth, None
        self.hear()
        self.arm.say()

    def lie(self, lie: Callable[[Arm], list[JointState]], reports: int) -> None:
        """Have the arm lie until so many more statuses have come."""
        self.arm.lie, self.arm.ghost, self._lie_until = lie, None, self.statuses + reports

    def haunt(self, ghost: np.ndarray, reports: int) -> None:
        """
        Have somebody else publish other joint values until so many more statuses have come.

        The arm tells the truth meanwhile: a second source that alone speaks is believed.
        """
        self.arm.lie, self.arm.ghost = Arm.truth, ghost
        self._lie_until = self.statuses + reports

    def _clock_ticks(self) -> None:
        now = time.monotonic()
        self.time += self.pace * (now - self._time_at)
        self._time_at = now
        self.publish_clock(self.time)

    def odometry(self) -> Odometry:
        """Where the base is: it goes to and fro, a metre and a half in ten seconds."""
        phase = 0.6 * self._driven
        message = Odometry(child_frame_id='base_link')
        message.header.frame_id = WORLD
        message.pose.pose.position.x = 0.25 * math.sin(phase)
        message.twist.twist.linear.x = 0.25 * 0.6 * math.cos(phase) * self.drives
        message.pose.pose.orientation.w = 1.0
        return message

    def _base_speaks(self) -> None:
        self._driven += ODOMETRY_PERIOD * self.drives
        self.publishers['odom'].publish(self.odometry())

    def publish_clock(self, seconds: float) -> None:
        clock = Clock()
        clock.clock.sec = math.floor(seconds)
        clock.clock.nanosec = math.floor(1e9 * (seconds - math.floor(seconds)))
        self.publishers['clock'].publish(clock)

    def now(self) -> float:
        return self.time if self.is_simulated else time.time()

    # -- time passes

    def spin_once(self, timeout: float = 0.002) -> None:
        self.executor.spin_once(timeout_sec=timeout)
        self.hear()

    def spin(self, seconds: float) -> None:
        """Let time pass."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            self.spin_once()

    def spin_until(
        self, condition: Callable[[], Any], what: str, patience: float = PATIENCE
    ) -> None:
        deadline = time.monotonic() + patience
        while not condition():
            assert self.process.is_alive, f'the node ended: {self.process.last_words()}'
            assert time.monotonic() < deadline, f'waited in vain: {what}; {self.status}'
            self.spin_once()

    # -- what is asked

    def ask(self, kind: Any, service: str, request: Any) -> Any:
        """Call a service until it answers; a path that waited before may be taken then."""
        if service not in self._clients:
            self._clients[service] = self.tester.create_client(kind, f'fabrik/{service}')
        client, calls = self._clients[service], []

        def is_answered() -> bool:
            if not calls or time.monotonic() - calls[-1][0] > SECOND_REQUEST:
                calls.append((time.monotonic(), client.call_async(request)))
            return any(call.done() for _, call in calls)

        self._asked_until = math.inf
        self.command_judge.path_waits(None, time.time_ns())
        try:
            # It may have to compile its solver first.
            self.spin_until(is_answered, f'an answer of {service}', PREPARATION)
        finally:
            self._asked_until = time.time_ns()
        for _, call in calls:
            client.remove_pending_request(call)
        return next(call.result() for _, call in calls if call.done())

    def set(self, **values: Any) -> str:
        """Set parameters together; the reason for which they were refused, or ''."""
        limits = self.limits | {name: v for name, v in values.items() if name in self.limits}
        known = all(type(v) is float and 0.0 <= v < 1e9 for v in limits.values())
        if known:
            self.command_judge.bounds_may_change(self.bounds(limits))
        if 'use_sim_time' in values:
            self.command_judge.clock_may_go_back()
        request = SetParametersAtomically.Request()
        request.parameters = [
            Parameter(name, value=v).to_parameter_msg() for name, v in values.items() if v != []
        ]
        request.parameters += [
            Parameter(name, Parameter.Type.DOUBLE_ARRAY, v).to_parameter_msg()
            for name, v in values.items()
            if v == []
        ]
        result = self.ask(SetParametersAtomically, 'set_parameters_atomically', request).result
        self.spin(SETTLING)
        if result.successful and known:
            self._limits_are(limits)
        self.command_judge.bounds_have_changed(self.bounds())
        return result.reason or ('' if result.successful else 'refused')

    def _limits_are(self, limits: dict[str, float]) -> None:
        self.limits = limits

    def bounds(self, limits: Mapping[str, float] | None = None, description: str = '') -> Bounds:
        """Tell what the joints may do by the parameters and the model."""
        judge = self._judges[description or self._description]
        limits = limits or self.limits
        fastest = np.minimum(
            judge.velocity * limits['max_joint_velocity_fraction'], limits['max_joint_velocity']
        )
        hardest = np.full(6, limits['max_joint_acceleration'])
        tip_speed, tip_rotation, scaling = (limits[name] for name in TIP_LIMITS)
        tip_limits = scaling * tip_speed, scaling * tip_rotation
        return Bounds(judge.lower, judge.upper, fastest, hardest, *tip_limits)

    def _frames(self, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Joint centres and the tip, and the rotation of that, at joint values."""
        return self.judge.points(q), self.judge.pose(q)[None, :3, :3]

    def describe(self, name: str, text: str = '') -> None:
        """Publish one of the descriptions, or a text that is none."""
        if name in self.descriptions:
            text = self.descriptions[name]
            self.command_judge.bounds_may_change(self.bounds(description=name))
        self.publishers['robot_description'].publish(String(data=text))
        self.lifecycle_state()
        self.lifecycle_state()
        self.spin(SETTLING)
        if name in self.descriptions:
            self._description = name
            self.command_judge.bounds_have_changed(self.bounds())

    def lifecycle_state(self) -> int:
        return int(self.ask(GetState, 'get_state', GetState.Request()).current_state.id)

    def change_state(self, transition: int) -> bool:
        request = ChangeState.Request(transition=Transition(id=transition))
        return bool(self.ask(ChangeState, 'change_state', request).success)

    # -- guests

    def invite_guests(self, rng: Random) -> None:
        """Have others come, with many endpoints each, some on topics of the node."""
        for i in range(self.guest_participants):
            context = Context()
            rclpy.init(context=context, domain_id=self._domain_id)
            node = rclpy.create_node(f'guest_{i}', namespace=self.namespace, context=context)
            for k in range(self.guest_endpoints):
                # One of them takes joint states for something else: DDS must keep them apart.
                self._make_endpoint(node, k, String if i == 1 else JointState, rng)
            self.guests.append((context, [node]))

    def _make_endpoint(self, node: Any, k: int, states: type, rng: Random) -> None:
        qos = rng.choice([1, BEST_EFFORT, LATCHED])
        topic, kind = rng.choice(
            [
                ('fabrik/target_pose', PoseStamped),
                ('fabrik/jog', TwistStamped),
                ('fabrik/joint_command', JointState),
                ('joint_states', states),
                ('fabrik/status', DiagnosticArray),
                (f'elsewhere_{k}', String),
            ]
        )
        if rng.random() < 0.5:
            node.create_publisher(kind, topic, qos)
        else:
            node.create_subscription(kind, topic, lambda message: None, qos)

    def dismiss_guests(self) -> None:
        for context, nodes in self.guests:
            for node in nodes:
                node.destroy_node()
            rclpy.try_shutdown(context=context)
        self.guests.clear()

    # -- what must hold

    def _note_complaints(self) -> None:
        if complaints := self.process.complaints():
            self.trouble.append(complaints)

    def check(self) -> None:
        """Fail where anything was wrong so far."""
        self.hear()
        self._note_complaints()
        if not self.process.is_alive:
            self.trouble.append(f'the node ended: {self.process.last_words()}')
        else:
            self.most_memory = max(self.most_memory, self.process.memory)
        wrong = [*self.trouble, *self.command_judge.violations]
        if self.command_judge.violations:
            last = [f'{stamp}: {list(q)}' for stamp, q in self.command_judge.recent]
            wrong += ['the last commands:', *last, str(self.status)]
        self.trouble.clear()
        self.command_judge.violations.clear()
        assert not wrong, '\n'.join(wrong)

    def recover(self) -> None:
        """End all hostility, have the arm put where it started, and have it reach a target."""
        self.dismiss_guests()
        self.arm.lie, self.arm.ghost, self._lie_until, self.pace = Arm.truth, None, 0, 1.0
        was_driven, self.drives = self.drives, False
        if self.lifecycle_state() == State.PRIMARY_STATE_FINALIZED:
            self.restart(signal.SIGTERM)
        if self.lifecycle_state() == State.PRIMARY_STATE_ACTIVE:
            self.change_state(Transition.TRANSITION_DEACTIVATE)
        if self.lifecycle_state() == State.PRIMARY_STATE_INACTIVE:
            self.change_state(Transition.TRANSITION_CLEANUP)
        reason = self.set(**SANE)
        if reason and self.lifecycle_state() != State.PRIMARY_STATE_UNCONFIGURED:
            # Autostart: it has tried again as soon as a parameter changed.
            reason = ''
        assert not reason, reason
        self.describe('usual')
        if self.lifecycle_state() == State.PRIMARY_STATE_UNCONFIGURED:
            assert self.change_state(Transition.TRANSITION_CONFIGURE), self.status
        if self.lifecycle_state() == State.PRIMARY_STATE_INACTIVE:
            assert self.change_state(Transition.TRANSITION_ACTIVATE), self.status
        self.ask(Trigger, 'hold', Trigger.Request())
        moving = ('MOVING', 'JOGGING')
        self.spin_until(lambda: self.status.get('state') not in moving, 'the arm holds')
        self.spin(5.0 * SETTLING)
        self.arm.q = np.array(START)
        self.spin(3.0 * SETTLING)
        self._resume()
        self._reach(shifted(self.start, y=0.05))
        self.drives = was_driven

    def _resume(self) -> None:
        """Let the arm go on, and wait until no target came for so long that the next counts."""

        def is_resumed() -> bool:
            answer = self.ask(Trigger, 'resume', Trigger.Request())
            return answer is not None and answer.success

        self.spin_until(is_resumed, 'the arm may go on')
        self.spin_until(lambda: self.status['waits_for_pause'] == 'False', 'the pause')

    def _reach(self, T: np.ndarray) -> None:
        """Send a target, again where it was not heard, until it is reached."""
        accepted = self.status.get('accepted')
        publisher = self.publishers['target_pose']
        sent = [0.0]

        def is_accepted() -> bool:
            if time.monotonic() - sent[0] > SECOND_REQUEST:
                sent[0] = time.monotonic()
                publisher.publish(matrix_message(T))
            return self.status['accepted'] != accepted

        self.spin_until(is_accepted, 'a sane target is accepted')
        self.spin_until(lambda: self.status['state'] == 'REACHED', 'a sane target is reached')
        distance, turn = self.judge.errors(T, self.arm.q)
        assert distance < 1e-4, distance
        assert turn < 1e-3, turn


def _take_all(subscription: Any, kind: type) -> list[tuple[int, Any]]:
    """Take all messages that have come, and when they were sent [ns]."""
    taken = []
    while (next_one := subscription.handle.take_message(kind, False)) is not None:
        message, info = next_one
        taken.append((info['source_timestamp'], message))
    return taken


@contextmanager
def a_scene(domain_id: int, folder: Path, urdf: str, **options: Any) -> Iterator[Scene]:
    """Have a scene that is ready, and everything put away afterwards."""
    context = Context()
    rclpy.init(context=context, domain_id=domain_id)
    scene = Scene(context, domain_id, folder, urdf, **options)
    try:
        scene.wait_for_the_node()
        yield scene
    finally:
        scene.close()
        rclpy.try_shutdown(context=context)
