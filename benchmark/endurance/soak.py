"""
A long stay of the node in a hostile world, then at full rate in a busy one.

Every command is judged on the wire, and the memory of the node watched. Ends with a report, and
with 1 if anything was wrong. It runs in pieces, too: each SEED is another life.

"""

import argparse
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
import math
from pathlib import Path
from random import Random
import sys
import tempfile
import time
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / 'test'))
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / 'test' / 'ros'))

from bench import matrix_message, shifted
from fabrik_ros import example_arm, load_urdf
from hostile_scene import a_scene, Scene
from hostile_world import clear, WORLD_ACTIONS
from hostility import ACTIONS, BASE_ACTIONS, CLOCK_ACTIONS, guests, RARE_ACTIONS

Action = Callable[[Scene, Random], None]
ALL_OUTPUTS = {'output': ['joint_state', 'trajectory', 'array']}
WORLDS: tuple[tuple[str, float, dict[str, Any], dict[Action, int]], ...] = (
    ('real time', 0.3, {}, ACTIONS),
    ('time of /clock', 0.2, {'simulated_time': True}, ACTIONS | CLOCK_ACTIONS),
    (
        'moving base',
        0.2,
        {'moving_base': True, 'command_rate': 200.0, **ALL_OUTPUTS},
        ACTIONS | BASE_ACTIONS,
    ),
    ('obstacles and points', 0.2, {'scene_timeout': 5.0}, ACTIONS | WORLD_ACTIONS),
    ('killed and started', 0.1, {'command_rate': 50.0}, ACTIONS | RARE_ACTIONS),
)
"""Name, share of the events, kind of scene, and what happens in it how often."""
NOT_EVENTS = ('peace', 'wait', 'endpoints')
RATE, TARGET_PERIOD, SWING = 500.0, 0.02, 0.08
PEACE_ACTIONS = 40
"""After so many actions the node has to show that it does what it is for."""
WARM_UP = 0.2
"""Share of a stay after which its memory may not grow any more."""
MOST_GROWTH = 10e6
"""Memory that it may grow by nevertheless [bytes]."""
REPORT_PERIOD = 30.0
LAST_ACTIONS = 8
LONGEST = 3000
"""Of something that was wrong no more is printed: its beginning and its end [characters]."""


class Stay:
    """What was seen of the node in one world."""

    def __init__(self, name: str, scene: Scene) -> None:
        self.name = name
        self.scene = scene
        self.wrong: list[str] = []
        self.begin = 0.0
        self.end = 0.0
        self._reported = time.monotonic()

    def check(self, last: Sequence[str] = ()) -> bool:
        """Note what was wrong; tell whether nothing was."""
        try:
            self.scene.check()
        except AssertionError as error:
            self._note(f'after {", ".join(last)}: {error}')
            return False
        return True

    def have_peace(self, last: Sequence[str] = ()) -> None:
        """Have the node reach a target; start another one where it does not."""
        clear(self.scene)
        try:
            self.scene.recover()
        except AssertionError as error:
            self._note(f'no peace after {", ".join(last)}: {error}')
            self.scene.start_again()
            self.scene.recover()
        self.check(last)

    def _note(self, what: str) -> None:
        shown = (
            what
            if len(what) <= LONGEST
            else f'{what[: LONGEST // 2]} [...] {what[-LONGEST // 2 :]}'
        )
        print(f'WRONG in {self.name}: {shown}', flush=True)
        self.wrong.append(what)

    def weigh(self, share: float) -> None:
        """Note the memory, when such a share of the stay is over."""
        self.end = float(self.scene.process.memory)
        if share < WARM_UP or self.begin == 0.0:
            self.begin = self.end
        if time.monotonic() - self._reported > REPORT_PERIOD:
            self._reported = time.monotonic()
            print(f'{100.0 * share:5.1f} % of {self.summary()}', flush=True)

    def summary(self) -> str:
        stream, worst = self.scene.command_judge, self.scene.command_judge.worst
        return (
            f'{self.name}: {stream.count} commands in {stream.runs} runs, {stream.late} late; '
            f'velocity at most {worst["velocity"]:.6f} and acceleration '
            f'{worst["acceleration"]:.6f} of their limits; memory {self.begin / 1e6:.1f} MB, '
            f'then {self.end / 1e6:.1f} MB; {len(self.wrong)} times wrong'
        )

    def judge_memory(self) -> None:
        if self.end - self.begin > MOST_GROWTH:
            self._note(f'memory grew by {(self.end - self.begin) / 1e6:.1f} MB')


def events_of(counts: Counter[str]) -> int:
    return sum(count for what, count in counts.items() if what not in NOT_EVENTS)


def be_hostile(stay: Stay, actions: dict[Action, int], events: int, rng: Random) -> None:
    """Do so much to a node."""
    scene, last = stay.scene, deque[str](maxlen=LAST_ACTIONS)
    scene.guest_participants, scene.guest_endpoints = 4, 250
    stay.have_peace()
    for _ in range(2):  # a node that has met a thousand endpoints needs room for them for good
        guests(scene, rng)
    done = 0
    while (seen := events_of(scene.counts)) < events:
        (action,) = rng.choices(list(actions), list(actions.values()))
        last.append(action.__name__)
        done += 1
        try:
            action(scene, rng)
            scene.spin(rng.choice([0.0, 0.02, 0.1]))
        except AssertionError as error:
            scene.trouble.append(str(error))
        if not stay.check(last) or done % PEACE_ACTIONS == 0:
            stay.have_peace(last)
            stay.weigh(seen / events)
    stay.have_peace(last)
    stay.weigh(1.0)


def be_busy(stay: Stay, minutes: float) -> None:
    """Send targets, each a little farther on, as long as that."""
    scene = stay.scene
    stay.have_peace()
    start = time.monotonic()
    while (passed := time.monotonic() - start) < 60.0 * minutes:
        x, y, z = (SWING * math.sin(passed * pace) for pace in (1.0, 1.37, 0.71))
        scene.publishers['target_pose'].publish(matrix_message(shifted(scene.start, x, y, z)))
        scene.counts['target'] += 1
        scene.spin(TARGET_PERIOD)
        if scene.counts['target'] % 50 == 0:
            stay.check()
            stay.weigh(passed / (60.0 * minutes))
    stay.have_peace()
    stay.weigh(1.0)


def stays(urdf: str, folder: Path, asked: argparse.Namespace) -> Iterator[Stay]:
    """Live through one world after the other."""
    rng = Random(asked.seed)
    for name, share, kind, actions in WORLDS:
        events = round(share * asked.events) if (asked.only or name) in name else 0
        if events:
            with a_scene(asked.domain, folder, urdf, **kind) as scene:
                stay = Stay(name, scene)
                be_hostile(stay, actions, events, rng)
                if actions.keys().isdisjoint(RARE_ACTIONS):
                    stay.judge_memory()
                yield stay
    if asked.minutes > 0.0:
        with a_scene(asked.domain, folder, urdf, command_rate=RATE) as scene:
            stay = Stay(f'{RATE:g} Hz', scene)
            be_busy(stay, asked.minutes)
            stay.judge_memory()
            yield stay


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--events', type=int, default=100_000)
    parser.add_argument('--minutes', type=float, default=10.0, help=f'at {RATE:g} Hz')
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--only', help='live in the worlds alone whose names are part of this')
    parser.add_argument('--domain', type=int, default=61, help='ROS domain of its own')
    asked = parser.parse_args()
    urdf = load_urdf(example_arm('six_axis')).source
    counts: Counter[str] = Counter()
    wrong, lines = 0, []
    with tempfile.TemporaryDirectory() as folder:
        for stay in stays(urdf, Path(folder), asked):
            counts += stay.scene.counts
            wrong += len(stay.wrong)
            lines.append(stay.summary())
            print(lines[-1], flush=True)
    print(f'\nseed {asked.seed}: {events_of(counts)} events:')
    for what, count in counts.most_common():
        print(f'{count:8d} {what}')
    print(*lines, f'{wrong} times wrong', sep='\n')
    sys.exit(1 if wrong else 0)


if __name__ == '__main__':
    main()
