"""
What each part of the solver is worth: the same targets with some parts left out.

Every variant starts at the seed. Without restarts it makes one attempt; with restarts it goes on
from elsewhere, from the same places in the same order as all others, until the time is up. What
counts as solved is decided by pinocchio.

"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
import time
from typing import NamedTuple

from arms import Arm, load
import fabrik_ros
from fabrik_ros.kernels.iterations import IDLE_ITERATIONS
from fabrik_ros.kernels.search import (
    ACCELERATED_ITERATIONS,
    FIRST_ITERATIONS,
    POLISHING_STEPS,
    WHOLE,
)
from fabrik_ros.solver.packed_chain import pack
from fabrik_ros.transforms import Array
from measure import pinned, reaches, Task, tasks_from_close, tasks_from_mid
import numpy as np
from report import title
from sizes import Sizes
from variants import search, search_plain

ARMS = 'ur5', 'panda', 'xarm7', 'baxter_left', 'z1'
BUDGET = 1e-3
"""For each target [s]; a solution that comes later does not count."""
ATTEMPTS_PER_LOOK_AT_THE_CLOCK = 4
BLOCK = 50
SEEDS = {'mid': tasks_from_mid, 'close': tasks_from_close}
MANY_ROUNDS = 1000


class Tolerances(NamedTuple):
    """What is asked for."""

    name: str
    position: float
    """[m]"""
    orientation: float
    """[rad]"""


TOLERANCES = (
    Tolerances('1 mm and 0.01 rad', 1e-3, 1e-2),
    Tolerances('1e-6 m and rad', 1e-6, 1e-6),
)


class Variant(NamedTuple):
    """What an attempt is made of."""

    name: str
    kernel: Callable[..., bool]
    arguments: tuple
    """What this kernel is to do; see there."""


PARTS = (
    Variant('plain iterations', search, (MANY_ROUNDS, False, 0)),
    Variant('accelerated iterations', search, (ACCELERATED_ITERATIONS, True, 0)),
    Variant('polish', search, (0, False, POLISHING_STEPS)),
    Variant('one iteration + polish', search, (FIRST_ITERATIONS, False, POLISHING_STEPS)),
)
PATIENT, IMPATIENT = (
    (
        Variant('rigid sub-chain', search_plain, (MANY_ROUNDS, patience, True)),
        Variant('next joint centre', search_plain, (MANY_ROUNDS, patience, False)),
    )
    for patience in (MANY_ROUNDS, IDLE_ITERATIONS)
)

PARTS_TEXT = f"""
## Ablation

The same targets with parts of the solver left out. Left: one try from the seed, \
until the rule of the package ends it: for iterations when the error has not fallen by a tenth in \
{IDLE_ITERATIONS}. Right: with restarts for {1e3 * BUDGET:g} ms of wall time at each target, from \
the same places for all. Medians over all targets, solved or not; times are those of the compiled \
call. "One iteration + polish" is a try of the default options, which make their first one at \
the seed without an iteration.
"""
PARTS_HEADER = (
    '| arm | parts | solved % | iterations | steps | µs '
    '| solved in time % | iterations | steps | µs |'
)
MATCH_TEXT = f"""
## What a pass matches

At each joint all that is rigid on the other side of it, or only the next \
joint centre off its axis (in the end the tip frame). Plain iterations; left one try of up to \
{MANY_ROUNDS} iterations, however slow; right with restarts for {1e3 * BUDGET:g} ms.
"""
MATCH_HEADER = (
    '| arm | matched | solved % | iterations | µs | solved in time % | iterations | µs |'
)

Results = dict[str, dict]
"""By tolerance, seed, arm and variant: what came of it without and with restarts."""


@dataclass(frozen=True, eq=False)
class Trial:
    """An arm and what is asked of it, as the kernels take it."""

    arm: Arm
    tolerances: Tolerances
    tasks: Sequence[Task]

    def solve(self, variants: Sequence[Variant], budget: float) -> dict[str, dict]:
        """Let variants take turns in blocks of targets; a budget of 0 is one attempt each."""
        options = fabrik_ros.SolverOptions(
            mode=self.arm.mode,
            position_tolerance=self.tolerances.position,
            orientation_tolerance=self.tolerances.orientation,
        )
        packed = pack(self.arm.chain, options)
        given = packed.model, packed.limits, packed.tasks[WHOLE], packed.rows, packed.vectors
        rows: dict[str, list[tuple]] = {variant.name: [] for variant in variants}
        with pinned(1):
            for begin in range(0, len(self.tasks), BLOCK):
                block = self.tasks[begin : begin + BLOCK]
                for variant in variants:
                    solve(given, variant, block[0], budget)  # fill caches
                    found = [(task, *solve(given, variant, task, budget)) for task in block]
                    rows[variant.name] += [self.judged(budget, *answer) for answer in found]
        return {name: figures(found) for name, found in rows.items()}

    def judged(
        self, budget: float, task: Task, q: Array, wall: float, counts: Array
    ) -> tuple[bool, float, float, float]:
        """Let pinocchio judge an answer, and drop it if it came late."""
        whole = self.arm.mode == 'pose'
        _, position, orientation = self.tolerances
        solved = reaches(self.arm.judge, q, task.target, position, orientation, whole)
        return solved and (budget == 0.0 or wall <= budget), *counts, wall


def solve(given: tuple, variant: Variant, task: Task, budget: float) -> tuple:
    """Return joint values, wall time [s], and the numbers of rounds and polish steps."""
    q, counts = np.empty(len(task.seed)), np.zeros(2)
    target = np.append(task.target[:3, :3].ravel(), task.target[:3, 3])
    arguments = *given, target, task.seed, *variant.arguments
    begin = time.perf_counter()
    reached, number = variant.kernel(*arguments, 0, 1, q, counts), 1
    while not reached and time.perf_counter() - begin < budget:
        reached = variant.kernel(*arguments, number, ATTEMPTS_PER_LOOK_AT_THE_CLOCK, q, counts)
        number += ATTEMPTS_PER_LOOK_AT_THE_CLOCK
    return q, time.perf_counter() - begin, counts


def figures(rows: Sequence[tuple]) -> dict[str, float]:
    """Sum up what one variant did."""
    solved, rounds, steps, walls = np.array(rows, float).T
    return {
        'solved_percent': 100.0 * float(solved.mean()),
        'rounds': float(np.median(rounds)),
        'steps': float(np.median(steps)),
        'median': 1e6 * float(np.median(walls)),
    }


def measure(sizes: Sizes, folder: Path) -> Results:
    """Measure all variants."""
    arms = [load(name, folder) for name in ARMS]
    results: Results = {'parts': {}, 'matched': {}}
    for tolerances in TOLERANCES:
        for seed, tasks in SEEDS.items():
            key = f'{tolerances.name}, {seed} seed'
            results['parts'][key], results['matched'][key] = {}, {}
            for arm in arms:
                trial = Trial(arm, tolerances, tasks(arm, sizes.ablation))
                results['parts'][key][arm.name] = both(trial, PARTS, PARTS)
                results['matched'][key][arm.name] = both(trial, PATIENT, IMPATIENT)
    return results


def both(trial: Trial, once: Sequence[Variant], again: Sequence[Variant]) -> dict[str, dict]:
    """Solve without restarts, and with them."""
    without, restarting = trial.solve(once, 0.0), trial.solve(again, BUDGET)
    return {name: {'once': without[name], 'restarting': restarting[name]} for name in without}


def report(results: Results) -> Iterator[str]:
    """Write the tables."""
    yield PARTS_TEXT.rstrip()
    for key, arms in results['parts'].items():
        yield f'\n### {key}\n\n{title(PARTS_HEADER)}'
        yield from table(arms, ('rounds', 'steps'))
    yield MATCH_TEXT.rstrip()
    for key, arms in results['matched'].items():
        yield f'\n### Matching to {key}\n\n{title(MATCH_HEADER)}'
        yield from table(arms, ('rounds',))


def table(arms: Mapping[str, dict], counts: Sequence[str]) -> Iterator[str]:
    for arm, variants in arms.items():
        for name, found in variants.items():
            cells = [
                f'{x["solved_percent"]:.1f} | '
                + ''.join(f'{x[count]:.0f} | ' for count in counts)
                + f'{x["median"]:.1f}'
                for x in (found['once'], found['restarting'])
            ]
            yield f'| {arm} | {name} | {" | ".join(cells)} |'
