"""
Draw what the benchmark measured: times on some arms, and the share solved on all of them.

    python benchmark/peers/plot.py build/benchmark

"""

import argparse
from collections.abc import Mapping
import json
from pathlib import Path

import matplotlib as mpl

mpl.use('Agg')
from matplotlib.axes import Axes
import matplotlib.pyplot as plt

ARMS = ('ur5', 'panda', 'so101')
"""Those whose times are drawn: six joints, seven, and five with a position as the target."""
OURS = 'fabrik_ros'
OUR_COLOUR, PEER_COLOUR = 'tab:red', 'tab:blue'
WIDTH, ROW_HEIGHT, MARGIN = 8.0, 0.3, 0.9
"""[inch]"""
DOTS = 90
"""A figure is as wide as a page shows it [1/inch]."""
SHIFT = 0.17
"""Rows of the two kinds of seeds are this far from the middle."""
ALL, ALMOST_ALL = 100.0, 99.9
"""Shares [%]."""
FONT = {'font.size': 10, 'axes.titlesize': 11}
SMALL = {'optimize': True}


def times(results: dict, arms: list[str]) -> plt.Figure:
    """Draw one panel for each arm, with a row for each solver that takes it."""
    rows = [len(results['mid'][arm]) for arm in arms]
    figure, panels = plt.subplots(
        len(arms), 1, sharex=True, squeeze=False, layout='constrained',
        figsize=(WIDTH, ROW_HEIGHT * sum(rows) + MARGIN * len(arms)), height_ratios=rows,
    )  # fmt: skip
    for panel, arm in zip(panels.flat, arms, strict=True):
        draw_arm(panel, arm, results)
    panels.flat[-1].set_xlabel('wall time of the call [µs]')
    figure.suptitle(
        'Median (dot) to 99th percentile (bar); number: solved [%]\n'
        'full: seed in the middle of the limits, hollow: close seed'
    )
    return figure


def draw_arm(panel: Axes, arm: str, results: dict) -> None:
    """Draw times of each solver on an arm."""
    solvers = list(results['mid'][arm])
    for row, solver in enumerate(solvers):
        for seeds, shift in (('mid', -SHIFT), ('close', SHIFT)):
            x = results[seeds][arm].get(solver)
            if x is None:
                continue
            colour, y = colour_of(solver), row + shift
            fill = colour if seeds == 'mid' else 'white'
            panel.plot([x['median'], x['p99']], [y, y], '-', color=colour, linewidth=1.2)
            panel.plot([x['p99']], [y], '|', color=colour, markersize=6)
            panel.plot([x['median']], [y], 'o', color=colour, markerfacecolor=fill, markersize=6)
            if seeds == 'mid':
                panel.annotate(
                    shown_percent(x['solved_percent']), (x['p99'], y),
                    (5, 0), textcoords='offset points', va='center',
                )  # fmt: skip
    panel.set_xscale('log')
    panel.set_yticks(range(len(solvers)), solvers)
    panel.set_ylim(len(solvers) - 0.5, -0.5)
    panel.grid(axis='x', which='major', linewidth=0.5)
    panel.tick_params(labelbottom=True)
    panel.set_title(arm)


def solved(results: dict) -> plt.Figure:
    """Draw the share solved of each solver, a dot for each arm, and a line for their range."""
    shares = shares_by_solver(results['mid'])
    figure, panel = plt.subplots(
        figsize=(WIDTH, ROW_HEIGHT * len(shares) + MARGIN), layout='constrained'
    )
    for row, (solver, values) in enumerate(shares.items()):
        colour = colour_of(solver)
        panel.plot([min(values), max(values)], [row, row], '-', color=colour, linewidth=1.2)
        panel.plot(values, [row] * len(values), 'o', color=colour, markersize=6, alpha=0.5)
    panel.set_yticks(range(len(shares)), [f'{s} ({len(v)})' for s, v in shares.items()])
    panel.set_ylim(len(shares) - 0.5, -0.5)
    panel.grid(axis='x', linewidth=0.5)
    panel.set_xlabel('solved [%], seed in the middle of the limits')
    panel.set_title('A dot for each arm; in brackets: arms that the solver takes')
    return figure


def shares_by_solver(seeds: Mapping[str, Mapping[str, dict]]) -> dict[str, list[float]]:
    """Collect the shares solved of each solver over the arms [%]."""
    shares: dict[str, list[float]] = {}
    for solvers in seeds.values():
        for solver, x in solvers.items():
            shares.setdefault(solver, []).append(x['solved_percent'])
    return shares


def shown_percent(share: float) -> str:
    """
    Round a share [%] to a tenth; only all of the targets are 100.

    >>> shown_percent(98.27), shown_percent(99.97), shown_percent(100.0)
    ('98.3', '99.9', '100')
    """
    return f'{share if share == ALL else min(round(share, 1), ALMOST_ALL):g}'


def colour_of(solver: str) -> str:
    return OUR_COLOUR if solver.startswith(OURS) else PEER_COLOUR


def main() -> None:
    """Read the figures of a run and write the pictures beside them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('folder', type=Path, help='where bench_solver.py put its figures')
    folder = parser.parse_args().folder
    results = json.loads((folder / 'benchmark.json').read_text())
    if 'mid' not in results:
        print('The run left out the comparison: no picture.')
        return
    arms = [arm for arm in ARMS if arm in results['mid']] or list(results['mid'])
    with mpl.rc_context(FONT):
        times(results, arms).savefig(folder / 'benchmark_times.png', dpi=DOTS, pil_kwargs=SMALL)
        solved(results).savefig(folder / 'benchmark_solved.png', dpi=DOTS, pil_kwargs=SMALL)
    print(f'The pictures are benchmark_times.png and benchmark_solved.png in {folder}.')


if __name__ == '__main__':
    main()
