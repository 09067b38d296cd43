"""
Draw what the benchmark measured: for each arm the times of every solver.

    python benchmark/peers/plot.py build/benchmark

"""

import argparse
import json
import math
from pathlib import Path

import matplotlib as mpl

mpl.use('Agg')
from matplotlib.axes import Axes
import matplotlib.pyplot as plt

COLUMNS = 5
OURS = 'fabrik_ros'
OUR_COLOUR, PEER_COLOUR = 'tab:red', 'tab:blue'
ROW_HEIGHT, PANEL_WIDTH = 0.28, 4.0
"""[inch]"""
SHIFT = 0.17
"""Rows of the two kinds of seeds are this far from the middle."""


def draw(results: dict) -> plt.Figure:
    """Draw one panel for each arm."""
    arms = list(results['mid'])
    solvers = list(dict.fromkeys(name for arm in arms for name in results['mid'][arm]))
    rows = math.ceil(len(arms) / COLUMNS)
    figure, panels = plt.subplots(
        rows, COLUMNS, sharex=True, sharey=True, squeeze=False, layout='constrained',
        figsize=(COLUMNS * PANEL_WIDTH, rows * (1.0 + ROW_HEIGHT * len(solvers)) + 1.0),
    )  # fmt: skip
    for panel, arm in zip(panels.flat, arms, strict=False):
        draw_arm(panel, arm, solvers, results)
    for panel in panels.flat[len(arms) :]:
        panel.axis('off')
    for panel in panels.flat[max(0, len(arms) - COLUMNS) : len(arms)]:
        panel.tick_params(labelbottom=True)
        panel.set_xlabel('wall time of the call [µs]')
    figure.suptitle(
        'Median (dot) and 99th percentile (bar) of the solve time: '
        f'seed in the middle of the limits (full), close seed (hollow)\n'
        f'{results["date"]}, {results["processor"]}, number: solved of what was asked [%]'
    )
    return figure


def draw_arm(panel: Axes, arm: str, solvers: list[str], results: dict) -> None:
    """Draw times of each solver; those that cannot take the arm stay empty."""
    for row, solver in enumerate(solvers):
        colour = OUR_COLOUR if solver.startswith(OURS) else PEER_COLOUR
        for seeds, shift, fill in (('mid', -SHIFT, colour), ('close', SHIFT, 'white')):
            x = results[seeds][arm].get(solver)
            if x is None:
                continue
            y = row + shift
            panel.plot([x['median'], x['p99']], [y, y], '-', color=colour, linewidth=1.0)
            panel.plot([x['p99']], [y], '|', color=colour, markersize=5)
            panel.plot([x['median']], [y], 'o', color=colour, markerfacecolor=fill, markersize=5)
            if seeds == 'mid':
                panel.annotate(
                    f'{math.floor(10 * x["solved_percent"]) / 10:g}', (x['p99'], y),
                    (4, 0), textcoords='offset points', fontsize=7, va='center',
                )  # fmt: skip
    panel.set_xscale('log')
    panel.set_yticks(range(len(solvers)), solvers, fontsize=8)
    panel.set_ylim(len(solvers) - 0.5, -0.5)
    panel.grid(axis='x', which='major', linewidth=0.5)
    panel.set_title(arm)


def main() -> None:
    """Read the figures of a run and write the picture beside them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('folder', type=Path, help='where bench_solver.py put its figures')
    folder = parser.parse_args().folder
    results = json.loads((folder / 'benchmark.json').read_text())
    if 'mid' not in results:
        print('The run left out the comparison: no picture.')
        return
    draw(results).savefig(folder / 'benchmark.png', dpi=120)
    print(f'The picture is {folder / "benchmark.png"}.')


if __name__ == '__main__':
    main()
