"""
How often and how fast several tips are met at once, beside one arm of the same robot alone.

Random reachable targets, from the middle of the limits. Both solvers take turns in blocks of
calls; what counts as solved is decided by pinocchio. Times are thread processor times of the
public call.

    python benchmark/experiments/trees.py --count 500

"""

import argparse
from collections.abc import Callable, Iterator
import gc
from pathlib import Path
import sys
import time
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / 'test'))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / 'peers'))
import fabrik_ros
from fabrik_ros.transforms import Array
from helpers import example_robot, REAL_ARMS, REAL_TREES
from judging import TreeJudge
from measure import LIMIT_SLACK, pinned, RANDOM_SEED, ROUNDING, SCRATCH_CALLS
import numpy as np
from report import title

TOLERANCES = 1e-5, 1e-6
POLISH = 'auto', 'never'
SINGLE_ARMS = 'panda', 'ur5'
COUNT, BLOCK = 2000, 50
MOST_TIMES_ONE_ARM, LEAST_SOLVED = 6.0, 99.5
HEADER = (
    '| robot | tips | joints | polish | tolerance | sets | solved % | false | median µs | p99 '
    '| one arm: solved % | median µs | p99 | ratio of medians |'
)


class Contender(NamedTuple):
    """A solver set up for some tips of a robot."""

    tree: fabrik_ros.Tree
    judge: TreeJudge
    whole: bool
    """Whether orientations count."""
    solve: Callable[[Array], fabrik_ros.Solution]


class Outcome(NamedTuple):
    """What came of one call."""

    cpu: float
    """Thread processor time [µs]."""
    claimed: bool
    solved: bool
    """Whether pinocchio finds all tips on their targets and all joints inside their limits."""


def contender(
    urdf: str, base: str, tips: tuple[str, ...], options: fabrik_ros.SolverOptions
) -> Contender:
    """Set up a solver: for one tip the one for single arms."""
    # Pinocchio knows nothing of safety controllers, so nobody obeys them here.
    robot = fabrik_ros.load_urdf(urdf, use_safety_limits=False)
    tree = robot.tree(base, tips)
    judge = TreeJudge(urdf, base, tips, tree.joint_names)
    if len(tips) == 1:
        solver = fabrik_ros.FabrikSolver(robot.chain(base, tips[0]), options)
        return Contender(tree, judge, options.mode == 'pose', lambda T: solver.solve(T[0]))
    return Contender(
        tree, judge, options.mode == 'pose', fabrik_ros.TreeSolver(tree, options).solve
    )


def measure(contenders: list[Contender], count: int, tolerance: float) -> list[list[Outcome]]:
    """Let the contenders take turns, each on targets of its own."""
    rng = np.random.default_rng(RANDOM_SEED)
    targets = [
        [one.judge.poses(one.tree.random_configuration(rng)) for _ in range(count)]
        for one in contenders
    ]
    for one, given in zip(contenders, targets, strict=True):
        for T in given[:SCRATCH_CALLS]:
            one.solve(T)
    gc.collect()
    outcomes: list[list[Outcome]] = [[] for _ in contenders]
    with pinned(1):
        for begin in range(0, count, BLOCK):
            for one, given, found in zip(contenders, targets, outcomes, strict=True):
                one.solve(given[begin])  # warm again
                found += timed(one, given[begin : begin + BLOCK], tolerance)
    return outcomes


def timed(one: Contender, targets: list[Array], tolerance: float) -> list[Outcome]:
    """Time calls, then have the answers judged."""
    times, answers = [], []
    for T in targets:
        begin = time.thread_time_ns()
        answer = one.solve(T)
        times.append(1e-3 * (time.thread_time_ns() - begin))
        answers.append(answer)
    return [
        Outcome(cpu, answer.converged, is_solved(one, T, answer.q, tolerance))
        for cpu, T, answer in zip(times, targets, answers, strict=True)
    ]


def is_solved(one: Contender, T: Array, q: Array, tolerance: float) -> bool:
    """Whether pinocchio finds all tips on their targets and all joints inside their limits."""
    inside = (one.judge.lower - LIMIT_SLACK <= q) & (q <= one.judge.upper + LIMIT_SLACK)
    counted = one.judge.errors(T, q)[:, : 2 if one.whole else 1]
    return bool(np.all(inside) and np.all(counted <= tolerance * (1.0 + ROUNDING)))


def share(outcomes: list[Outcome]) -> float:
    """Share of the sets of targets that were solved [%]."""
    return 100.0 * float(np.mean([outcome.solved for outcome in outcomes]))


def rows(count: int) -> Iterator[tuple[str, str]]:
    """Measure everything; yield rows of the table, and what in each misses a bar."""
    for name, robot in REAL_TREES.items():
        urdf = example_robot(name).read_text()
        mode = 'position' if name == 'allegro' else 'pose'
        for polish in POLISH:
            for tolerance in TOLERANCES:
                options = options_for(mode, polish, tolerance)
                both = [
                    contender(urdf, robot.base_link, tips, options)
                    for tips in (robot.tip_links, robot.tip_links[:1])
                ]
                several, one = measure(both, count, tolerance)
                false = sum(outcome.claimed and not outcome.solved for outcome in several)
                (solved, median, p99), beside = columns(several), columns(one)
                ratio = median / beside[1]
                yield (
                    (
                        f'| {name} | {len(robot.tip_links)} | {robot.joints} | {polish} '
                        f'| {tolerance:g} | {count} | {solved:.2f} | {false} | {median:.1f} '
                        f'| {p99:.0f} | {beside[0]:.2f} | {beside[1]:.1f} | {beside[2]:.0f} '
                        f'| {ratio:.2f} |'
                    ),
                    misses(f'{name}, {polish}, {tolerance:g}', solved, false, ratio),
                )
    for name in SINGLE_ARMS:
        arm, tolerance = REAL_ARMS[name], TOLERANCES[-1]
        options = options_for('pose', 'auto', tolerance)
        urdf = example_robot(name).read_text()
        (one,) = measure(
            [contender(urdf, arm.base_link, (arm.tip_link,), options)], count, tolerance
        )
        solved, median, p99 = columns(one)
        yield (
            (
                f'| {name} | 1 | {arm.joints} | auto | {tolerance:g} | {count} | - | - | - | - '
                f'| {solved:.2f} | {median:.1f} | {p99:.0f} | - |'
            ),
            '',
        )


def misses(row: str, solved: float, false: int, ratio: float) -> str:
    """Name what misses a bar; empty if nothing does."""
    if solved >= LEAST_SOLVED and ratio <= MOST_TIMES_ONE_ARM and false == 0:
        return ''
    return f'{row}: {solved:.2f} %, {false} false, {ratio:.2f} times one arm'


def options_for(mode: str, polish: str, tolerance: float) -> fabrik_ros.SolverOptions:
    """Options as they come, but for these."""
    return fabrik_ros.SolverOptions(
        mode=mode, polish=polish, position_tolerance=tolerance, orientation_tolerance=tolerance
    )


def columns(outcomes: list[Outcome]) -> tuple[float, float, float]:
    """Share solved [%], median and 99th percentile of the times [µs]."""
    times = [outcome.cpu for outcome in outcomes]
    return share(outcomes), float(np.median(times)), float(np.percentile(times, 99))


def main() -> None:
    """Print the table, and whether the bars are met."""
    parser = argparse.ArgumentParser(description=__doc__.split('\n\n')[0].strip())
    parser.add_argument('--count', type=int, default=COUNT, help='sets of targets for each row')
    missed = []
    print(title(HEADER), flush=True)
    for row, miss in rows(parser.parse_args().count):
        print(row, flush=True)
        missed += [miss] if miss else []
    print(
        f'\nAt least {LEAST_SOLVED:g} % solved, at most {MOST_TIMES_ONE_ARM:g} times one arm, '
        f'nothing claimed falsely: {"MISSED by " + "; ".join(missed) if missed else "met"}.'
    )


if __name__ == '__main__':
    main()
