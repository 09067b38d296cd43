"""Turns outcomes into figures, and figures into Markdown tables."""

from collections.abc import Iterable, Iterator, Mapping

from measure import CLOSE, JUMP, Outcome
import numpy as np
from solvers import Fabrik, TOLERANCE

Figures = dict[str, float | int | list[float] | None]
"""What is known of one solver on one arm; times in microseconds."""

MID_HEADER = (
    '| solver | poses | solved % | false | median µs | mean | p99 | max | CPU mean | / ours |'
)
CLOSE_HEADER = (
    '| solver | poses | solved % | false | median µs | p99 | mean move | of the truth '
    '| largest move | jumps |'
)
METHOD = f"""
All solvers get the same random reachable targets, to {TOLERANCE:g} m and rad. The columns:

* poses: how many targets; slow solvers get fewer of them.
* solved: pinocchio finds the tip on the target and the joints inside the limits.
* false: the solver said solved, and pinocchio disagrees; a dash where it never says.
* median, mean, p99, max: wall time of the public Python call; CPU counts all threads.
* / ours: the median over that of {Fabrik.name}.

Solvers take turns in blocks of {{block}} calls.{{warming}}
"""
WARMING = " Before each block a solver repeats the block's first call, untimed."
MID = '## Seed in the middle of the limits'
CLOSE_BY = f"""
## Close seeds

The seed is the true configuration ± {CLOSE:g} at each joint, inside the limits. Moves are \
distances of joints from the seed, over solved targets: the mean over joints and targets, beside \
it that of the true configuration, and the largest. Jump: a joint moved over {JUMP:g}.
"""


def figures(outcomes: list[Outcome]) -> Figures:
    """Sum up what one solver did on one arm."""
    wall = 1e6 * np.array([outcome.wall for outcome in outcomes])
    solved = [outcome for outcome in outcomes if outcome.solved]
    silent = all(outcome.claimed is None for outcome in outcomes)
    false = sum(bool(outcome.claimed) and not outcome.solved for outcome in outcomes)
    return {
        'poses': len(outcomes),
        'unsolved': len(outcomes) - len(solved),
        'solved_percent': 100.0 * len(solved) / len(outcomes),
        'false': None if silent else false,
        'median': float(np.median(wall)),
        'mean': float(wall.mean()),
        'p99': float(np.percentile(wall, 99)),
        'max': float(wall.max()),
        'cpu_mean': 1e6 * mean(outcome.cpu for outcome in outcomes),
        'mean_move': mean(outcome.mean_move for outcome in solved),
        'true_move': mean(outcome.true_move for outcome in solved),
        'largest_move': max((float(outcome.largest_move) for outcome in solved), default=0.0),
        'jumps': sum(bool(outcome.largest_move > JUMP) for outcome in solved),
        'wall': [round(float(x), 2) for x in wall],
    }


def mean(values: Iterable[float]) -> float:
    """Mean; 0 of nothing."""
    values = list(values)
    return float(np.mean(values)) if values else 0.0


def title(header: str) -> str:
    """Begin a table."""
    return header + '\n|' + '---|' * (header.count('|') - 1)


def mid_table(
    arm: str, joints: int, mode: str, results: Mapping[str, Figures], left_out: Mapping[str, str]
) -> Iterator[str]:
    """Write the table of one arm for seeds in the middle of the limits."""
    yield f'\n### {arm}: {joints} joints, {mode}\n\n{title(MID_HEADER)}'
    ours = results[Fabrik.name]['median']
    for solver, x in results.items():
        yield (
            f'| {solver} | {x["poses"]} | {x["solved_percent"]:.2f} '
            f'| {count(x["false"])} | {x["median"]:.1f} | {x["mean"]:.1f} | {x["p99"]:.0f} '
            f'| {x["max"]:.0f} | {x["cpu_mean"]:.1f} | {x["median"] / ours:.2f} |'
        )
    if left_out:
        yield '\nLeft out:\n'
    for solver, reason in left_out.items():
        yield f'* {solver}: {reason}'


def close_table(arm: str, results: Mapping[str, Figures]) -> Iterator[str]:
    """Write the table of one arm for close seeds."""
    yield f'\n### {arm}, close seeds\n\n{title(CLOSE_HEADER)}'
    for solver, x in results.items():
        yield (
            f'| {solver} | {x["poses"]} | {x["solved_percent"]:.2f} | {count(x["false"])} '
            f'| {x["median"]:.1f} | {x["p99"]:.0f} | {x["mean_move"]:.4f} | {x["true_move"]:.4f} '
            f'| {x["largest_move"]:.3f} | {x["jumps"]} |'
        )


def count(number: int | None) -> str:
    return '-' if number is None else str(number)
