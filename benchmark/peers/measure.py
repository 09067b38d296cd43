"""
Takes times: solvers take turns in blocks of calls on the same targets.

So all of them see the machine in the same state, whatever else it does meanwhile.

"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
import gc
import math
import os
import time
from typing import NamedTuple

from arms import Arm
from fabrik_ros.transforms import Array
from judging import Judge
import numpy as np
from solvers import Answer, Solver, TOLERANCE

RANDOM_SEED = 2024
SCRATCH_CALLS = 20
LIMIT_SLACK = 1e-9
"""A solution may be outside a limit by this [rad or m]."""
ROUNDING = 1e-6
"""An error may exceed the tolerance by this share of it."""
CLOSE = 0.1
"""A close seed is the true configuration plus up to this at each joint [rad or m]."""
JUMP = 0.5
"""A joint that ends farther than this from a close seed has jumped [rad or m]."""


class Task(NamedTuple):
    """Find joint values for a target that they exist for."""

    target: Array
    """T_base_tip, shape (4, 4)."""
    seed: Array
    truth: Array
    """Joint values the target was made from."""


class Outcome(NamedTuple):
    """What came of one call."""

    wall: float
    """Time of the call [s]."""
    cpu: float
    """Processor time of all threads, the mean over its block of calls [s]."""
    claimed: bool | None
    """Whether the solver says that it solved the task; None where it never says."""
    solved: bool
    """Whether the judge says so."""
    mean_move: float
    """Of the joints from the seed [rad or m]; NaN where there is no answer."""
    largest_move: float
    """Of a joint from the seed [rad or m]; NaN where there is no answer."""
    true_move: float
    """Mean distance of the true configuration from the seed [rad or m]."""


def tasks_from_mid(arm: Arm, count: int) -> list[Task]:
    """Draw targets anywhere in reach, to be found from the middle of the limits."""
    return [Task(target, arm.chain.mid_configuration(), q) for target, q in draw(arm, count)]


def tasks_from_close(arm: Arm, count: int) -> list[Task]:
    """Draw targets anywhere in reach, to be found from close by."""
    chain, rng = arm.chain, np.random.default_rng(RANDOM_SEED + 1)
    tasks = []
    for target, q in draw(arm, count):
        seed = np.clip(q + rng.uniform(-CLOSE, CLOSE, len(chain)), chain.lower, chain.upper)
        tasks.append(Task(target, seed, q))
    return tasks


def draw(arm: Arm, count: int) -> Iterator[tuple[Array, Array]]:
    """Yield reachable targets and configurations that reach them."""
    rng = np.random.default_rng(RANDOM_SEED)
    for _ in range(count):
        q = arm.chain.random_configuration(rng)
        yield arm.chain.forward_kinematics(q), q


def measure(
    arm: Arm, solvers: list[Solver], tasks: list[Task], block: int
) -> dict[str, list[Outcome]]:
    """Time all solvers of an arm, and judge their answers."""
    for solver in solvers:  # compile, fill caches
        timed(solver, tasks[:SCRATCH_CALLS])
    gc.collect()
    gc.freeze()  # else a collection walks through all modules of all peers, in anybody's call
    outcomes: dict[str, list[Outcome]] = {solver.name: [] for solver in solvers}
    for begin in range(0, len(tasks), block):
        for solver in solvers:
            if not takes_part(begin // block, solver.most, len(tasks), block):
                continue
            given = tasks[begin : begin + block]
            with pinned(solver.threads):
                if block > 1:
                    timed(solver, given[:1])
                answers = timed(solver, given)
            outcomes[solver.name] += [
                judged(arm, task, *answer) for task, answer in zip(given, answers, strict=True)
            ]
    return outcomes


def takes_part(turn: int, most: int, count: int, block: int) -> bool:
    """Spread the blocks a slow solver is given evenly, the first always among them."""
    blocks = math.ceil(count / block)
    given = min(blocks, max(1, most // block))
    return turn * given % blocks < given


@contextmanager
def pinned(threads: int) -> Iterator[None]:
    """Keep a solver that has one thread on one core meanwhile."""
    cores = os.sched_getaffinity(0)
    if threads == 1:
        os.sched_setaffinity(0, {max(cores)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, cores)


def timed(solver: Solver, tasks: list[Task]) -> list[tuple[Answer, float, float]]:
    """
    Let a solver do tasks; returns its answers, wall and processor times [s].

    The processor time is that of all tasks, shared evenly: to ask for it is a system call, which
    would slow down what comes after.
    """
    arguments = [solver.prepare(task.target, task.seed) for task in tasks]
    ask: Callable[..., object] = solver.ask
    raws, walls = [], []
    cpu = time.process_time()
    for given in arguments:
        begin = time.perf_counter()
        raw = ask(*given)
        walls.append(time.perf_counter() - begin)
        raws.append(raw)
    cpu = (time.process_time() - cpu) / len(tasks)
    return [
        (solver.read(raw, task.seed), wall, cpu)
        for raw, task, wall in zip(raws, tasks, walls, strict=True)
    ]


def judged(arm: Arm, task: Task, answer: Answer, wall: float, cpu: float) -> Outcome:
    """Let pinocchio judge an answer."""
    true_move = moves(arm, task.truth, task.seed).mean()
    if answer.q is None or not np.all(np.isfinite(answer.q)):
        return Outcome(wall, cpu, answer.claimed, False, math.nan, math.nan, true_move)
    move = moves(arm, answer.q, task.seed)
    solved = accepts(arm, answer.q, task.target)
    return Outcome(wall, cpu, answer.claimed, solved, move.mean(), move.max(), true_move)


def accepts(arm: Arm, q: Array, target: Array) -> bool:
    """Whether pinocchio finds a configuration inside the limits and the tip on the target."""
    return reaches(arm.judge, q, target, TOLERANCE, TOLERANCE, arm.mode == 'pose')


def reaches(
    judge: Judge, q: Array, target: Array, position: float, orientation: float, whole: bool
) -> bool:
    """Whether pinocchio finds the same to tolerances; the orientation counts if `whole`."""
    apart, turned = judge.errors(target, q)
    inside = np.all((judge.lower - LIMIT_SLACK <= q) & (q <= judge.upper + LIMIT_SLACK))
    turned_enough = turned <= orientation * (1.0 + ROUNDING) or not whole
    return bool(inside and apart <= position * (1.0 + ROUNDING) and turned_enough)


def moves(arm: Arm, q: Array, seed: Array) -> Array:
    """Distance of each joint from the seed [rad or m]; whole turns do not count if continuous."""
    move = q - seed
    turns = np.isinf(arm.judge.lower)
    return np.abs(np.where(turns, np.remainder(move + math.pi, 2.0 * math.pi) - math.pi, move))
