"""
A commander that loops thousands of moves in simulated time, in a world that does not let it.

Holds, faults, silence, pushes, other commanders, restarts: each call has to end, a move that is
said to have arrived is judged by pinocchio at the arm, and one that failed has to say why. Ends
with a report, and with 1 if anything was wrong.

"""

import argparse
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError, Future, TimeoutError as NoEnd
import faulthandler
import os
from pathlib import Path
from random import Random
import signal
import sys
import tempfile
import time
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / 'test'))
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / 'test' / 'ros'))

from bench import JOINTS, six_axis_judge, START
from fabrik_ros import example_arm, load_urdf
from fabrik_ros.commander import Arm, MoveFailed, MoveRefused, results
from fabrik_ros.programs import Joints, Line, Move, Pause, Program
from fabrik_ros.reasons import ReasonKind
from hostile_scene import ARRIVAL
import numpy as np
from paced_world import a_paced_world, BEGIN, NOISE, PacedWorld, STEP

LONGEST = 120.0
"""Longest call that is no hang [s]."""
READY = 60.0
"""Longest wait until the node takes targets when the world is sane again [s]."""
STATUS_TIME = 0.35
"""Time from what a status says to the end of its move: two statuses, and some delay [s]."""
SAYING_TIME = 0.4
"""Simulated time in which the arm has said everything [s]."""
EXCESS = 1e-3
"""Difference of what is measured from where the arm is, by noise [m, rad]."""
NEAR = 0.8
"""How far from the start joint values are chosen [rad]."""
STILL = 0.02
"""What lag and noise may move a joint by that was not commanded [rad]."""
PACES = {0.3: 1, 1.0: 2, 5.0: 10, 20.0: 20}
"""Paces of the clock, and how often."""
OUTRUN = [
    kind.value
    for kind in (
        ReasonKind.CLOCK_JUMPED,
        ReasonKind.DOES_NOT_FOLLOW,
        ReasonKind.STATE_MISSING,
        ReasonKind.WAS_INTERRUPTED,
    )
]
"""How a move may end where the clock is too fast for the node; at pace 1 it must arrive."""
REPORT_PERIOD = 30.0
CODES = {kind.value for kind in ReasonKind} | {
    value for name, value in vars(results).items() if name.isupper()
}
"""All codes that a move may end with."""
PLACES = {
    'home': (0.3, -1.1, 1.4, -1.7, -1.4, 0.2),
    'upright': (0.2, -1.5, 1.2, -1.2, -1.3, 0.0),
}


class Asked(NamedTuple):
    """A move that was asked for."""

    what: str
    T: np.ndarray | None
    """Where the tip is to be in the end, shape (4, 4); None where it cannot be."""
    future: Future[Any]
    q: np.ndarray
    """Where the arm was when it was asked for [rad]."""
    seen: list[list[np.ndarray]]
    """Where the arm was in the time before the end; one list, once there is an end."""


class Loop:
    """
    Asks for one move after the other, and judges what becomes of them.

    Parameters
    ----------
    world : PacedWorld
        Node and arm.
    urdf : str
        Of the arm.
    rng : Random
        The source of chance.

    """

    def __init__(self, world: PacedWorld, urdf: str, rng: Random) -> None:
        self.world, self.rng = world, rng
        self.judge = six_axis_judge(urdf)
        self.arm = Arm(f'{world.namespace}/fabrik')
        self.other = Arm(f'{world.namespace}/fabrik')
        self.ends: Counter[str] = Counter()
        self.counts: Counter[str] = Counter()
        self.wrong: list[str] = []
        self.said = ''
        """Why the last move failed that did."""
        self.longest = 0.0
        """The longest move [s]."""

    def close(self) -> None:
        self.arm.close()
        self.other.close()

    @property
    def moves(self) -> int:
        return sum(self.ends.values())

    def note(self, what: str) -> None:
        print(f'WRONG after {self.moves} moves: {what}', flush=True)
        self.wrong.append(what)

    # -- what is asked for

    def values(self) -> np.ndarray:
        """Joint values near the start."""
        return np.array([q + self.rng.uniform(-NEAR, NEAR) for q in START])

    def ask(self, commander: Arm | None = None, **options: Any) -> Asked:
        """Ask for any move, of a commander, without waiting for it."""
        commander, rng = commander or self.arm, self.rng
        kind = rng.choices(list(KINDS), [weight for _, weight in KINDS.values()])[0]
        send, T = KINDS[kind][0](self, commander)
        return self._sent(kind, T, lambda: send(wait=False, **options))

    def _sent(self, what: str, T: np.ndarray | None, send: Callable[[], Future[Any]]) -> Asked:
        q = self.world.q
        asked = Asked(what, T, send(), q, [])
        asked.future.add_done_callback(
            lambda done: asked.seen.append(self.world.moments(time.monotonic() - STATUS_TIME))
        )
        return asked

    def _home(self) -> Asked:
        T = self.judge.pose(PLACES['home'])
        return self._sent('home', T, lambda: self.arm.home(wait=False))

    def pause(self, most: float = 0.5) -> None:
        """Let some time pass, of the kind that counts here."""
        time.sleep(self.rng.uniform(0.0, most))

    # -- what became of it

    def end(self, asked: Asked, how: str, is_alone: bool = False) -> str:
        """
        Wait for the end of a move, and judge it; return its code, '' where it arrived.

        Parameters
        ----------
        asked : Asked
            The move.
        how : str
            What was done to it.
        is_alone : bool
            Whether nobody else touches arm, node or clock.

        """
        begin = time.monotonic()
        code = ''
        try:
            result = asked.future.result(LONGEST)
        except NoEnd:
            faulthandler.dump_traceback(all_threads=True)
            self.note(f'{how}: {asked.what} has not ended after {LONGEST:g} s')
            code = 'no end'
        except CancelledError:
            code = 'future cancelled'
        except MoveFailed as error:
            code, self.said = error.code, error.sentence
            self._judge_failure(asked, how, error, is_alone)
        else:
            self._judge_arrival(asked, how, result, is_alone)
        self.longest = max(self.longest, time.monotonic() - begin)
        self.ends[code or 'arrived'] += 1
        return code

    def _judge_failure(self, asked: Asked, how: str, error: MoveFailed, is_alone: bool) -> None:
        if error.code not in CODES or not error.sentence.strip():
            self.note(f'{how}: {asked.what} failed with {error.code!r}: {error.sentence!r}')
        moved = np.abs(self.world.q - asked.q).max()
        if isinstance(error, MoveRefused) and is_alone and moved > STILL:
            self.note(f'{how}: {asked.what} was refused, and the arm moved {moved:.3f} rad')

    def _judge_arrival(self, asked: Asked, how: str, result: Any, is_alone: bool) -> None:
        if not result or not result.is_measured:
            self.note(f'{how}: {asked.what} ended with {result}')
        if asked.T is None:
            self.note(f'{how}: {asked.what} cannot arrive, but: {result}')
            return
        while not asked.seen:  # a future is done before its callbacks are
            time.sleep(1e-3)
        (seen,) = asked.seen
        errors = np.array([self.judge.errors(asked.T, q) for q in seen])
        there = np.all(errors < np.array(ARRIVAL) + EXCESS, axis=1)
        if not (there[-1] if is_alone else there.any()):
            self.note(f'{how}: {asked.what} is said to be there: {result}; errors {errors[-1]}')
        said = np.array([result.position_error, result.orientation_error])
        least, most = errors.min(axis=0) - EXCESS, errors.max(axis=0) + EXCESS
        if np.any(said < least) or np.any(said > most):
            self.note(f'{how}: {asked.what} says {said}; the arm had {least} to {most}')

    def check_pose(self) -> None:
        """Compare what the commander says of the arm with where it is."""
        begin = time.monotonic()
        pose, joints = self.arm.pose, self.arm.joints
        moments = self.world.moments(begin - STATUS_TIME)
        off = min(max(self.judge.errors(pose, q)) for q in moments)
        values = np.array([joints[name] for name in JOINTS])
        apart = min(np.abs(values - q).max() for q in moments)
        if off > EXCESS or apart > 10.0 * NOISE:
            self.note(f'pose off by {off:.4f}, joints by {apart:.4f} rad')

    def make_sane(self, how: str) -> None:
        """End all hostility; the node has to take targets then."""
        world = self.world
        world.speaks = world.is_ready = True
        (world.pace,) = self.rng.choices(list(PACES), list(PACES.values()))
        world.wait(SAYING_TIME)
        time.sleep(STATUS_TIME)
        try:
            self.arm.wait_until_ready(READY)
        except MoveRefused as error:
            self.note(f'{how}: not ready again: {error.code}: {error}')
            world.restart(signal.SIGKILL)
            self.arm.wait_until_ready(READY)

    def come_home(self, how: str) -> None:
        """Have the arm do what it is for; where the clock outran the node, slower once more."""
        code = self.end(self._home(), 'in peace', is_alone=True)
        if code in OUTRUN:
            self.world.pace = 1.0
            self.arm.resume()
            self.arm.wait_until_ready(READY)
            code = self.end(self._home(), 'in peace', is_alone=True)
        if code:
            self.note(f'in peace after {how}: home ended with {code}: {self.said}')
        self.check_pose()


Sent = tuple[Callable[..., Any], np.ndarray | None]


def to_pose(loop: Loop, commander: Arm) -> Sent:
    T = loop.judge.pose(loop.values())
    return lambda **options: commander.move_to(T, **options), T


def to_joints(loop: Loop, commander: Arm) -> Sent:
    values = loop.values()
    T = loop.judge.pose(values)
    return lambda **options: commander.move_to(values.tolist(), **options), T


def to_name(loop: Loop, commander: Arm) -> Sent:
    name = loop.rng.choice(list(PLACES))
    return lambda **options: commander.move_to(name, **options), loop.judge.pose(PLACES[name])


def to_nowhere(loop: Loop, commander: Arm) -> Sent:
    x, y = loop.rng.choice([(1.5, 0.2), (0.0, 0.0), (40.0, 0.0)])
    target = ((x, y, 0.1), (1.0, 0.0, 0.0, 0.0))
    return lambda **options: commander.move_to(target, **options), None


def to_no_name(loop: Loop, commander: Arm) -> Sent:
    target: Any = loop.rng.choice(['nowhere', {'nose': 1.0}, {'elbow': 99.0}])
    return lambda **options: commander.move_to(target, **options), None


def through_some(loop: Loop, commander: Arm) -> Sent:
    T = loop.judge.pose(START)
    poses = [shift(T, loop.rng) for _ in range(loop.rng.randint(1, 3))]
    targets = [loop.values().tolist(), *poses] if loop.rng.random() < 0.3 else poses
    blend = loop.rng.choice([0.0, 0.02])
    return lambda **options: commander.move_through(targets, blend=blend, **options), poses[-1]


def along_a_program(loop: Loop, commander: Arm) -> Sent:
    T = loop.judge.pose(START)
    poses = [shift(T, loop.rng) for _ in range(3)]
    program = Program(
        [
            Joints(START),
            Line(poses[0], speed=loop.rng.choice([None, 0.1]), blend=0.01),
            Line(poses[1], blend=loop.rng.choice([0.0, 0.02])),
            Pause(loop.rng.uniform(0.0, 0.5)),
            Move(poses[2]),
        ]
    )
    return lambda **options: commander.run(program, **options), poses[-1]


def shift(T: np.ndarray, rng: Random) -> np.ndarray:
    """Pose near another one, turned alike."""
    moved = T.copy()
    moved[:3, 3] += [rng.uniform(-0.12, 0.12) for _ in range(3)]
    return moved


KINDS: dict[str, tuple[Callable[[Loop, Arm], Sent], int]] = {
    'pose': (to_pose, 6),
    'joint values': (to_joints, 6),
    'name': (to_name, 4),
    'pose out of reach': (to_nowhere, 1),
    'unknown name': (to_no_name, 1),
    'targets': (through_some, 2),
    'program': (along_a_program, 2),
}


# -- what is done to moves


def nothing(loop: Loop) -> None:
    """Let it move."""
    loop.end(loop.ask(), 'alone', is_alone=True)
    loop.check_pose()


def supersede(loop: Loop) -> None:
    """Ask for the next move before the one before is there."""
    asked = [loop.ask()]
    for _ in range(loop.rng.randint(1, 3)):
        loop.pause()
        asked.append(loop.ask())
    for each in asked:
        loop.end(each, 'superseded')


def meddle(loop: Loop) -> None:
    """Have another commander ask for a move, too."""
    first = loop.ask()
    loop.pause()
    second = loop.ask(loop.other)
    loop.pause()
    for each in (first, second):
        loop.end(each, 'with another commander')


def cancel(loop: Loop) -> None:
    """Cancel the future."""
    asked = loop.ask()
    loop.pause()
    asked.future.cancel()
    loop.end(asked, 'cancelled')


def stop(loop: Loop) -> None:
    """Stop the arm."""
    commander = loop.rng.choice([loop.arm, loop.other])
    asked = loop.ask()
    loop.pause()
    commander.stop()
    loop.end(asked, 'stopped')


def hold(loop: Loop) -> None:
    """Have another commander hold the arm, ask for a move, and resume."""
    first = loop.ask()
    loop.pause()
    loop.other.hold()
    loop.end(first, 'held')
    loop.pause(0.2)
    code = loop.end(loop.ask(), 'while held', is_alone=True)
    if not code:
        loop.note('a held arm moved')
    loop.other.resume()


def fall_silent(loop: Loop) -> None:
    """Have the joint states fail, for a time in which the node notices, or not."""
    asked = loop.ask()
    loop.pause()
    loop.world.speaks = False
    loop.pause()
    if loop.rng.random() < 0.3:
        loop.end(loop.ask(), 'in silence')
    loop.world.speaks = True
    loop.end(asked, 'silent')


def be_faulty(loop: Loop) -> None:
    """Have the arm say that it is not ready."""
    asked = loop.ask()
    loop.pause()
    loop.world.is_ready = False
    loop.pause()
    if loop.rng.random() < 0.3:
        loop.end(loop.ask(), 'in a fault')
    loop.world.is_ready = True
    loop.end(asked, 'faulty')


def push(loop: Loop) -> None:
    """Move the arm by hand."""
    asked = loop.ask()
    loop.pause()
    size = loop.rng.choice([0.005, 0.03, 0.1, 0.3])
    loop.world.push(np.array([loop.rng.uniform(-size, size) for _ in JOINTS]))
    loop.end(asked, 'pushed')


def hurry(loop: Loop) -> None:
    """Have less patience than it takes."""
    loop.end(loop.ask(timeout=loop.rng.choice([0.01, 0.2, 1.0, 3.0])), 'timed out')


def stand_still(loop: Loop) -> None:
    """Have the clock stand still for some time."""
    asked = loop.ask()
    loop.pause()
    pace, loop.world.pace = loop.world.pace, 0.0
    loop.pause(2.0)
    loop.world.pace = pace
    loop.end(asked, 'while the clock stood')


def restart(loop: Loop) -> None:
    """End the node, and start another."""
    asked = loop.ask()
    loop.pause()
    instance = loop.arm.state.facts['instance']
    loop.world.restart(loop.rng.choice([signal.SIGKILL, signal.SIGTERM, signal.SIGINT]))
    loop.end(asked, 'restarted')
    deadline = time.monotonic() + READY
    while loop.arm.state.facts.get('instance', instance) == instance:
        if time.monotonic() > deadline:
            raise TimeoutError('no status of the new node')
        time.sleep(0.05)


ACTIONS: dict[Callable[[Loop], None], float] = {
    nothing: 10.0,
    supersede: 3.0,
    meddle: 1.0,
    cancel: 1.0,
    stop: 1.0,
    hold: 1.0,
    fall_silent: 1.0,
    be_faulty: 1.0,
    push: 1.0,
    hurry: 1.0,
    stand_still: 0.5,
    restart: 0.1,
}
"""What is done, and how often."""


def run(loop: Loop, moves: int, actions: Sequence[Callable[[Loop], None]] = ()) -> None:
    """Ask for so many moves; do some things at least once."""
    due = list(actions)
    reported = time.monotonic()
    loop.make_sane('the start')
    while loop.moves < moves or due:
        (action,) = due[-1:] or loop.rng.choices(list(ACTIONS), list(ACTIONS.values()))
        due = due[:-1]
        name = action.__name__
        loop.counts[name] += 1
        faulthandler.dump_traceback_later(10.0 * LONGEST, exit=True)
        try:
            action(loop)
        except Exception as error:  # what the commander may not raise
            loop.note(f'{name}: {type(error).__name__}: {error}')
        loop.make_sane(name)
        if action is not nothing:
            loop.come_home(name)
        if time.monotonic() - reported > REPORT_PERIOD:
            reported = time.monotonic()
            print(summary(loop), flush=True)
    faulthandler.cancel_dump_traceback_later()


def looped(
    domain_id: int,
    folder: Path,
    moves: int,
    seed: int,
    actions: Sequence[Callable[[Loop], None]] = (),
) -> Loop:
    """Ask for so many moves in a domain that this process is in; return what was seen."""
    urdf = load_urdf(example_arm('six_axis')).source
    configurations = {f'configurations.{name}': list(q) for name, q in PLACES.items()}
    home = {'home_configuration': list(configurations.pop('configurations.home'))}
    given = {**home, **configurations, 'command_rate': 1.0 / STEP, 'planning_time': 0.5}
    with a_paced_world(domain_id, folder, urdf, **given) as world:
        loop = Loop(world, urdf, Random(seed))
        try:
            run(loop, moves, actions)
        finally:
            loop.close()
        if complaints := world.node.complaints():
            loop.note(complaints)
    return loop


def summary(loop: Loop) -> str:
    return (
        f'{loop.moves} moves, {loop.ends["arrived"]} of them arrived; the longest wait '
        f'{loop.longest:.1f} s; {loop.world.time - BEGIN:.0f} s simulated; '
        f'{len(loop.wrong)} times wrong'
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--moves', type=int, default=10_000)
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--domain', type=int, default=62, help='ROS domain of its own')
    asked = parser.parse_args()
    os.environ['ROS_DOMAIN_ID'] = str(asked.domain)
    begin = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        loop = looped(asked.domain, Path(folder), asked.moves, asked.seed)
    print(f'\nseed {asked.seed}, {time.monotonic() - begin:.0f} s; what was done:')
    for what, count in loop.counts.most_common():
        print(f'{count:8d} {what}')
    print('how moves ended:')
    for what, count in loop.ends.most_common():
        print(f'{count:8d} {what}')
    print(summary(loop))
    sys.exit(1 if loop.wrong else 0)


if __name__ == '__main__':
    main()
