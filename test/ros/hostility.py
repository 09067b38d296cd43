"""Everything that can go wrong around the node, to be done to it in any order while it runs."""

from collections.abc import Callable
import math
from random import Random
import signal
import time
from typing import Any

from bench import JOINTS, matrix_message, shifted, START
from geometry_msgs.msg import TwistStamped
from hostile_scene import Arm, FIRST_HOME, LIMITS, SANE, Scene, WORLD
from judging import Judge
from lifecycle_msgs.msg import State, Transition
import numpy as np
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from std_srvs.srv import Trigger

RESTART_TIME = 1.05
ODD_NUMBERS = (math.nan, math.inf, -math.inf, 1e308, -1e308, 1e20, 5e-324, -1e-310, 0.0, -0.0)
CHANGES: dict[str, tuple[Any, ...]] = {
    'max_joint_velocity': (1.5, 0.3, 2.5, 0.001),
    'max_joint_acceleration': (5.0, 3.2, 20.0, 0.5, 100.0),
    'max_joint_velocity_fraction': (1.0, 0.2, 0.001),
    'speed_scaling': (1.0, 0.5, 0.0, 5e-324),
    'path': ('auto', 'line', 'joint'),
    'max_detour': (math.pi, 0.0, 0.1, 100.0),
    'confirm': ('never', 'leaving_line', 'always'),
    'path_tolerance_position': (-1.0, 0.0, 0.02),
    'path_tolerance_orientation': (-1.0, 0.0, 0.2),
    'dodge_distance': (0.1, 0.0, 0.3),
    'dodge_at_rest': (False, True),
    'mode': ('auto', 'pose', 'position', 'axis'),
    'axis': ([0.0, 0.0, 1.0], [1.0, 1.0, 0.0]),
    'polish': ('auto', 'never'),
    'position_tolerance': (1e-5, 1e-9, 0.01, 1e9),
    'orientation_tolerance': (1e-4, 1e-9, 0.1),
    'solve_budget': (0.02, 1e-4, 0.2),
    'on_unreachable': ('approach', 'hold'),
    'max_tip_speed': (0.25, 1e-4, 100.0),
    'max_tip_rotation': (1.0, 1e-4, 100.0),
    'max_tip_acceleration': (1.0, 1e-3, 1000.0),
    'state_timeout': (0.5, 0.001, 10.0),
    'resync_tolerance': (0.1, 1e-4, 10.0),
    'limit_margin': (0.1, 0.0, 0.5),
    'target_timeout': (0.0, 0.2),
    'jog_timeout': (0.25, 0.001, 1.0),
    'stream_timeout': (1.2, 0.01, 10.0),
    'max_target_age': (0.0, 0.1),
    'home_configuration': ([], list(FIRST_HOME), list(START)),
}
REFUSED: tuple[tuple[str, Any], ...] = (
    *((name, number) for name in LIMITS for number in (math.nan, math.inf, -1.0, 0.0, 1e308)),
    *(
        (name, number)
        for name in ('speed_scaling', 'max_tip_speed')
        for number in (-1.0, math.nan)
    ),
    ('max_joint_velocity', 'fast'),
    ('max_tip_speed', math.inf),
    ('position_tolerance', 0.0),
    ('axis', [0.0, 0.0, 0.0]),
    ('axis', [math.nan, 0.0, 1.0]),
    ('axis', []),
    ('home_configuration', [math.nan] * 6),
    ('home_configuration', [1e9] * 6),
    ('path', 'sideways'),
    ('tip_weights', [1.0]),
    ('use_sim_time', 'yes'),
    ('qos_overrides', 3),
)
"""Changes that must never be accepted, whatever else holds."""
FRAMES = (
    '',
    '/',
    '/base_link',
    'nowhere',
    'tool0',
    'wrist_2_link',
    'finger',
    WORLD,
    'ü😀',
    'x' * 999,
)


def make_lie(rng: Random, arm: Arm, judge: Judge) -> Callable[[Arm], list[JointState]]:
    """Choose one of the ways in which joint states can be wrong."""
    j, odd = rng.randrange(6), rng.choice(ODD_NUMBERS)
    frozen, seed = arm.q.copy(), rng.getrandbits(32)
    others = ['left_1', 'left_2', 'finger_joint']

    def changed(value: Callable[[float], float]) -> Callable[[Arm], list[JointState]]:
        def lie(arm: Arm) -> list[JointState]:
            q = arm.q.copy()
            q[j] = value(q[j])
            return [arm.message(q)]

        return lie

    def shuffled(arm: Arm) -> list[JointState]:
        return [arm.message(Random(seed + len(arm.past)).choice(arm.past))]

    def noisy(arm: Arm) -> list[JointState]:
        noise = np.random.default_rng(time.monotonic_ns()).normal(0.0, 0.01, 6)
        return [arm.message(arm.q + noise)]

    lies: dict[str, Callable[[Arm], list[JointState]]] = {
        'vanished': lambda arm: [],
        'frozen': lambda arm: [arm.message(frozen)],
        'repeated': lambda arm: 10 * [arm.message(arm.q)],
        'late': lambda arm: [arm.message(arm.past[max(0, len(arm.past) - 30)])],
        'very late': lambda arm: [arm.message(arm.past[0])],
        'shuffled': shuffled,
        'noisy': noisy,
        'a little outside': changed(lambda value: float(judge.upper[j]) + 0.05),
        'far outside': changed(lambda value: float(judge.lower[j]) - 2.0),
        'odd number': changed(lambda value: odd),
        'a little off': changed(lambda value: value + 0.05),
        'far off': changed(lambda value: value - 0.5),
        'of others': lambda arm: [arm.message([odd, 1e9, odd], others)],
        'with others': lambda arm: [arm.message([*arm.q, odd, 7.0, odd], [*JOINTS, *others])],
        'missing': lambda arm: [arm.message(arm.q[:j], JOINTS[:j])],
        'in two parts': lambda arm: [
            arm.message(arm.q[:j], JOINTS[:j]),
            arm.message(arm.q[j:], JOINTS[j:]),
        ],
        'twice': lambda arm: [arm.message([*arm.q, arm.q[j] + 1.0], [*JOINTS, JOINTS[j]])],
        'backwards': lambda arm: [arm.message(arm.q[::-1], JOINTS[::-1])],
        'too short': lambda arm: [arm.message(arm.q[:j])],
        'too long': lambda arm: [arm.message([*arm.q, 1.0])],
        'empty': lambda arm: [JointState()],
        'without values': lambda arm: [JointState(name=list(JOINTS))],
    }
    return lies[rng.choice(sorted(lies))]


# -- what is done to the node: each takes the scene and a source of chance


def send_target(scene: Scene, rng: Random) -> None:
    """Send a target that makes sense: somewhere in reach, or near."""
    if rng.random() < 0.5:
        T = shifted(scene.start, *(rng.uniform(-0.15, 0.15) for _ in range(3)))
    else:
        seed = np.random.default_rng(rng.getrandbits(32))
        T = scene.judge.pose(np.clip(scene.judge.random_configuration(seed), -2.0, 2.0))
    frame = WORLD if scene.drives and rng.random() < 0.7 else 'base_link'
    scene.publishers['target_pose'].publish(matrix_message(T, frame))
    scene.counts['target'] += 1


def send_odd_target(scene: Scene, rng: Random) -> None:
    """Send a target with odd numbers, an odd frame or an odd stamp."""
    message = matrix_message(shifted(scene.start, y=rng.uniform(-0.2, 0.2)))
    what = rng.choice(['number', 'quaternion', 'frame', 'stamp', 'far'])
    p, o = message.pose.position, message.pose.orientation
    if what == 'number':
        setattr(rng.choice([p, o]), rng.choice('xyz'), rng.choice(ODD_NUMBERS))
    elif what == 'quaternion':
        o.x, o.y, o.z, o.w = (rng.choice(ODD_NUMBERS) for _ in range(4))
    elif what == 'frame':
        message.header.frame_id = rng.choice(FRAMES)
    elif what == 'far':
        p.x = rng.choice([1.0, 2.0, 10.0])
    else:
        give_odd_stamp(scene, rng, message)
    scene.publishers['target_pose'].publish(message)
    scene.counts['odd target'] += 1


def send_joints(scene: Scene, rng: Random) -> None:
    """Send values of some joints, at times odd ones, or the name of a configuration."""
    if rng.random() < 0.2:
        name = rng.choice(['home', 'home', 'nowhere', *FRAMES])
        scene.publishers['target_configuration'].publish(String(data=name))
    else:
        names = rng.sample(JOINTS, rng.randint(1, 6))
        values = [rng.uniform(-2.0, 2.0) for _ in names]
        message = JointState(name=names, position=values)
        if rng.random() < 0.3:
            _make_odd(scene, rng, message)
        scene.publishers['target_joints'].publish(message)
    scene.counts['joint target'] += 1


def _make_odd(scene: Scene, rng: Random, message: JointState) -> None:
    what = rng.choice(['number', 'name', 'twice', 'length', 'stamp'])
    if what == 'number':
        message.position[0] = rng.choice(ODD_NUMBERS)
    elif what == 'name':
        message.name = [rng.choice([*FRAMES, 'finger_joint']), *message.name[1:]]
    elif what == 'twice':
        message.name, message.position = 2 * list(message.name), 2 * list(message.position)
    elif what == 'length':
        message.name = message.name[1:]
    else:
        give_odd_stamp(scene, rng, message)


def give_odd_stamp(scene: Scene, rng: Random, message: Any) -> None:
    now = int(scene.now())
    stamp = message.header.stamp
    stamp.sec = rng.choice([0, now, now - 1000, now + 1000, 2**31 - 1, -1, -(2**31)])
    stamp.nanosec = rng.choice([0, 1, 999_999_999, 2**32 - 1])


def flood(scene: Scene, rng: Random) -> None:
    """Send targets as fast as they go, ten thousand a second if the machine can."""
    rng = Random(rng.getrandbits(32))
    count = rng.choice([100, 500])
    message = matrix_message(scene.start)
    for i in range(count):
        message.pose.position.y = rng.uniform(-0.2, 0.2)
        scene.publishers['target_pose'].publish(message)
        if i % 10 == 0:
            scene.spin_once(0.0)
    scene.counts['flood'] += count


def jog(scene: Scene, rng: Random) -> None:
    """Use a joystick for a moment; at times one that says odd things."""
    rng = Random(rng.getrandbits(32))
    message = TwistStamped()
    message.header.frame_id = rng.choice(['', 'base_link', 'tool0', 'tool0', *FRAMES])
    for vector in (message.twist.linear, message.twist.angular):
        for axis in 'xyz':
            is_odd = rng.random() < 0.1
            setattr(vector, axis, rng.choice(ODD_NUMBERS) if is_odd else rng.uniform(-0.3, 0.3))
    if rng.random() < 0.1:
        give_odd_stamp(scene, rng, message)
    count = rng.choice([1, 5, 20])
    for _ in range(count):
        scene.publishers['jog'].publish(message)
        scene.spin(0.01)
    scene.counts['jog'] += count


def garbage(scene: Scene, rng: Random) -> None:
    """Send bytes that are no message, as from a sender of another version."""
    topics = ['target_pose', 'target_joints', 'jog', 'joint_states', 'robot_description']
    topic = rng.choice(topics)
    data = bytes([0, 1, 0, 0]) + Random(rng.getrandbits(32)).randbytes(rng.choice([0, 3, 40, 500]))
    scene.publishers[topic].publish(data)
    scene.counts['garbage'] += 1


def lie(scene: Scene, rng: Random) -> None:
    """Have the arm say something wrong for a while."""
    scene.lie(make_lie(rng, scene.arm, scene.judge), rng.choice([1, 3, 8]))
    scene.counts['lie'] += 1


def haunt(scene: Scene, rng: Random) -> None:
    """Have a second publisher say that the arm is elsewhere, near or far, as it rests or moves."""
    size = rng.choice([0.01, 0.05, 0.2, 1.0])
    away = [rng.choice([-1.0, 1.0]) * rng.uniform(size, 2.0 * size) for _ in range(6)]
    scene.haunt(scene.arm.q + away, rng.choice([3, 8]))
    scene.spin(rng.choice([0.0, 0.3]))
    send_target(scene, rng)
    scene.counts['ghost'] += 1


def fall_silent(scene: Scene, rng: Random) -> None:
    """Have no joint state come for a while, as the arm rests or moves."""
    if rng.random() < 0.7:
        send_target(scene, rng)
        scene.spin(rng.choice([0.1, 0.4]))
    scene.lie(lambda arm: [], rng.choice([2, 5, 8, 15]))
    if rng.random() < 0.5:
        scene.spin(rng.choice([0.1, 0.7]))
        send_target(scene, rng)
    scene.counts['silence'] += 1


def glitch(scene: Scene, rng: Random) -> None:
    """Have a joint state be wrong once, by little or much, just before a target."""
    wrong = scene.arm.q.copy()
    size = rng.choice([0.01, 0.05, 0.2, 1.0])
    wrong[rng.randrange(6)] += rng.choice([-1.0, 1.0]) * rng.uniform(size, 3.0 * size)
    scene.arm.whisper(wrong)
    send_target(scene, rng)
    scene.counts['glitch'] += 1


def push(scene: Scene, rng: Random) -> None:
    """Push the arm by a hand's breadth or a hair's, as it rests or moves, and send it on."""
    size = rng.choice([0.001, 0.01, 0.04, 0.09])
    away = np.array([rng.uniform(-size, size) for _ in range(6)])
    for _ in range(5):
        scene.arm.q = np.clip(scene.arm.q + 0.2 * away, scene.judge.lower, scene.judge.upper)
        scene.spin(0.02)
    scene.spin(rng.choice([0.1, 0.6]))
    send_target(scene, rng)
    scene.counts['push'] += 1


def flood_of_states(scene: Scene, rng: Random) -> None:
    """Report many joint states at once, old ones among them."""
    count = 200
    for i in range(count):
        past = scene.arm.past or [scene.arm.q.tolist()]
        scene.arm.publish(scene.arm.message(past[i % len(past)]))
        if i % 10 == 0:
            scene.spin_once(0.0)
    scene.counts['flood of states'] += count


def move_by_hand(scene: Scene, rng: Random) -> None:
    """Move the arm as somebody by hand, or another planner."""
    scene.arm.q = scene.arm.q + np.array([rng.uniform(-0.3, 0.3) for _ in range(6)])
    scene.counts['moved by hand'] += 1


def make_sense(scene: Scene, rng: Random) -> None:
    """Have everything as it should be, and an arm on its way: what comes next meets motion."""
    scene.lie(Arm.truth, 0)
    scene.pace = 1.0
    limits = {
        'max_joint_velocity': rng.choice([1.5, 2.5]),
        'max_joint_acceleration': rng.choice([5.0, 20.0]),
        'max_tip_speed': rng.choice([0.25, 2.0]),
        'path': rng.choice(['auto', 'line', 'joint']),
    }
    scene.set(**{name: v for name, v in (SANE | limits).items() if name != 'tip_link'})
    scene.change_state(Transition.TRANSITION_ACTIVATE)
    scene.spin(RESTART_TIME)
    scene.ask(Trigger, 'resume', Trigger.Request())
    send_target(scene, rng)
    scene.spin(rng.choice([0.1, 0.3, 0.6]))
    scene.counts['peace'] += 1


def hold(scene: Scene, rng: Random) -> None:
    scene.ask(Trigger, 'hold', Trigger.Request())
    scene.counts['hold'] += 1


def resume(scene: Scene, rng: Random) -> None:
    scene.ask(Trigger, 'resume', Trigger.Request())
    scene.counts['resume'] += 1


def execute(scene: Scene, rng: Random) -> None:
    scene.ask(Trigger, 'execute', Trigger.Request())
    scene.counts['execute'] += 1


def home(scene: Scene, rng: Random) -> None:
    scene.ask(Trigger, 'home', Trigger.Request())
    scene.counts['home'] += 1


def set_parameter(scene: Scene, rng: Random) -> None:
    """Change what makes sense by itself, and may be refused next to the others."""
    name = rng.choice(sorted(CHANGES))
    scene.set(**{name: rng.choice(CHANGES[name])})
    scene.counts['parameter'] += 1


def set_speed(scene: Scene, rng: Random) -> None:
    """Change a limit of the joints, on the way."""
    name = rng.choice(sorted(LIMITS))
    scene.set(**{name: rng.choice(CHANGES[name])})
    scene.counts['limit'] += 1


def set_several(scene: Scene, rng: Random) -> None:
    names = rng.sample(sorted(CHANGES), 3)
    scene.set(**{name: rng.choice(CHANGES[name]) for name in names})
    scene.counts['parameter'] += 3


def set_nonsense(scene: Scene, rng: Random) -> None:
    name, value = rng.choice(REFUSED)
    if not scene.set(**{name: value}):
        scene.trouble.append(f'{name} was set to {value}')
    scene.counts['nonsense parameter'] += 1


def transition(scene: Scene, rng: Random) -> None:
    """Take any step of the life cycle but the last, possible or not."""
    usual = [Transition.TRANSITION_DEACTIVATE, Transition.TRANSITION_ACTIVATE]
    others = [
        Transition.TRANSITION_CONFIGURE,
        Transition.TRANSITION_CLEANUP,
        Transition.TRANSITION_CREATE,
        Transition.TRANSITION_DESTROY,
        Transition.TRANSITION_ON_ACTIVATE_ERROR,
        255,
    ]
    scene.change_state(rng.choice(usual + usual + others))
    scene.counts['transition'] += 1


def pause_and_go_on(scene: Scene, rng: Random) -> None:
    """Deactivate and at once activate, with a target that waits already."""
    scene.change_state(Transition.TRANSITION_DEACTIVATE)
    scene.change_state(Transition.TRANSITION_ACTIVATE)
    send_target(scene, rng)
    scene.counts['transition'] += 2


def shut_down(scene: Scene, rng: Random) -> None:
    """Take the last step of the life cycle, ask for things after it, and begin anew."""
    state = scene.lifecycle_state()
    steps = {
        State.PRIMARY_STATE_UNCONFIGURED: Transition.TRANSITION_UNCONFIGURED_SHUTDOWN,
        State.PRIMARY_STATE_INACTIVE: Transition.TRANSITION_INACTIVE_SHUTDOWN,
        State.PRIMARY_STATE_ACTIVE: Transition.TRANSITION_ACTIVE_SHUTDOWN,
    }
    if state in steps:
        scene.change_state(steps[state])
    send_target(scene, rng)
    scene.describe(rng.choice(sorted(scene.descriptions)))
    set_parameter(scene, rng)
    transition(scene, rng)
    scene.check()
    scene.restart(signal.SIGTERM)
    scene.counts['transition'] += 1


def replace_model(scene: Scene, rng: Random) -> None:
    """Send another robot description, while the arm may be on its way."""
    name = rng.choice(sorted(scene.descriptions))
    scene.describe(name)
    if rng.random() < 0.7:
        scene.change_state(Transition.TRANSITION_CONFIGURE)
        scene.change_state(Transition.TRANSITION_ACTIVATE)
    scene.counts['model'] += 1


def replace_model_by_nonsense(scene: Scene, rng: Random) -> None:
    text = rng.choice(
        [
            '',
            'no robot',
            '<robot/>',
            '<robot name="x"><link name="a"/></robot>',
            scene.urdf[: rng.randrange(len(scene.urdf))],
            scene.urdf.replace('shoulder_pan', 'other'),
            scene.urdf.replace('velocity="', 'velocity="nan'),
        ]
    )
    scene.describe('nonsense', text)
    if rng.random() < 0.5:
        scene.change_state(Transition.TRANSITION_CONFIGURE)
        scene.change_state(Transition.TRANSITION_ACTIVATE)
        scene.spin(0.1)
    scene.describe('usual')
    scene.change_state(Transition.TRANSITION_ACTIVATE)
    scene.counts['model'] += 2


def kill(scene: Scene, rng: Random) -> None:
    scene.restart(rng.choice([signal.SIGKILL, signal.SIGINT, signal.SIGTERM]))
    scene.counts['kill'] += 1


def suspend(scene: Scene, rng: Random) -> None:
    """Stop the process for a moment, as a debugger does; then at times end it at once."""
    scene.process.tell(signal.SIGSTOP)
    scene.spin(rng.choice([0.02, 0.09, 0.12, 0.4]))
    scene.process.tell(signal.SIGCONT)
    scene.counts['suspended'] += 1


def guests(scene: Scene, rng: Random) -> None:
    """Have others come with many endpoints, or go."""
    if scene.guests:
        scene.dismiss_guests()
    else:
        scene.invite_guests(Random(rng.getrandbits(32)))
    scene.counts['endpoints'] += scene.guest_participants * scene.guest_endpoints


def wait(scene: Scene, rng: Random) -> None:
    scene.spin(rng.choice([0.05, 0.3, 1.0]))
    scene.counts['wait'] += 1


def jump(scene: Scene, rng: Random) -> None:
    """Have the clock jump, forwards or back."""
    far = rng.choice([0.001, 0.02, 0.2, 3.0, 900.0]) * rng.choice([1.0, -1.0])
    far = max(far, 1.0 - scene.time)
    if far < 0.0:
        scene.command_judge.clock_may_go_back()
    scene.time += far
    scene.publish_clock(scene.time)
    scene.counts['clock'] += 1


def stop_the_clock(scene: Scene, rng: Random) -> None:
    scene.pace = rng.choice([0.0, 0.1, 1.0, 1.0, 4.0])
    scene.counts['clock'] += 1


def break_the_clock(scene: Scene, rng: Random) -> None:
    """Show a time before the beginning, or none."""
    for _ in range(2):
        scene.command_judge.clock_may_go_back()
    scene.publish_clock(rng.choice([-5.0, 0.0, 2.0**31 - 10.0]))
    scene.counts['clock'] += 1


def change_clocks(scene: Scene, rng: Random) -> None:
    """
    Take the time of the machine instead of that of /clock, or the other way round.

    That is refused while the node is active, so mostly it is not.
    """
    if rng.random() < 0.8:
        scene.change_state(Transition.TRANSITION_DEACTIVATE)
    if not scene.set(use_sim_time=not scene.is_simulated):
        scene.is_simulated = not scene.is_simulated
    scene.change_state(Transition.TRANSITION_ACTIVATE)
    scene.counts['clock'] += 1


def odd_odometry(scene: Scene, rng: Random) -> None:
    """Say where the base is in an odd way, or have it leap, stop or go on."""
    message = scene.odometry()
    what = rng.choice(['number', 'frame', 'body', 'stamp', 'leap', 'stop'])
    p, v = message.pose.pose, message.twist.twist
    if what == 'number':
        place = rng.choice([p.position, p.orientation, v.linear, v.angular])
        setattr(place, rng.choice('xyz'), rng.choice(ODD_NUMBERS))
    elif what == 'frame':
        message.header.frame_id = rng.choice(FRAMES)
    elif what == 'body':
        message.child_frame_id = rng.choice([*FRAMES, 'wrist_2_link'])
    elif what == 'leap':
        p.position.y = rng.choice([0.01, 0.3, 50.0])
    elif what == 'stop':
        scene.drives = not scene.drives
    else:
        give_odd_stamp(scene, rng, message)
    for _ in range(rng.choice([1, 10])):
        scene.publishers['odom'].publish(message)
        scene.spin(0.005)
    scene.counts['odometry'] += 1


ACTIONS: dict[Callable[[Scene, Random], None], int] = {
    make_sense: 10,
    send_target: 12,
    send_odd_target: 8,
    send_joints: 6,
    flood: 3,
    jog: 6,
    garbage: 3,
    lie: 8,
    flood_of_states: 2,
    move_by_hand: 2,
    haunt: 3,
    glitch: 4,
    fall_silent: 3,
    push: 5,
    hold: 2,
    resume: 2,
    execute: 3,
    home: 3,
    set_parameter: 5,
    set_speed: 3,
    set_several: 2,
    set_nonsense: 3,
    transition: 3,
    pause_and_go_on: 3,
    replace_model: 2,
    replace_model_by_nonsense: 1,
    guests: 2,
    suspend: 3,
    wait: 4,
}
"""What may happen, and how often."""
CLOCK_ACTIONS: dict[Callable[[Scene, Random], None], int] = {
    jump: 6,
    stop_the_clock: 3,
    break_the_clock: 1,
}
"""What may happen besides where the node takes the time from /clock."""
BASE_ACTIONS: dict[Callable[[Scene, Random], None], int] = {odd_odometry: 12}
"""What may happen besides where the base moves."""
RARE_ACTIONS: dict[Callable[[Scene, Random], None], int] = {kill: 2, shut_down: 1}
"""What takes seconds."""
