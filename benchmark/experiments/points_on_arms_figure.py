"""
Draw the points that FABRIK wants beside those that the arm can reach.

    python benchmark/experiments/points_on_arms_figure.py docs/figures/points_on_arms.png

"""

import argparse
from collections.abc import Callable
import math
from pathlib import Path
import sys

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / 'test'))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / 'peers'))
import fabrik_ros
from fabrik_ros.textbook.arm.point_arm_solver import PointArmSolver
from fabrik_ros.transforms import Array
import matplotlib as mpl
from measure import Task, tasks_from_mid
import numpy as np
from points_on_arms import Bare, Subject, subjects

mpl.use('Agg')
from matplotlib.axes import Axes
import matplotlib.pyplot as plt

WANTED, REACHED, SEED = 'tab:blue', 'tab:red', '0.75'
TARGETS, PASSES = 25, 12
CURVES = {'planar, 3 joints': 'tab:green', 'yaw + elbow': 'tab:purple', 'ur5': 'tab:red'}
LEAST = 1e-7
"""What is nearer than this is drawn as so near [mm]."""


def main() -> None:
    """Draw and save."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('figure', type=Path, help='the file to write')
    file = parser.parse_args().figure
    arms = {subject.name: subject for subject in subjects() if subject.name in CURVES}
    figure, (planar, above, misses) = plt.subplots(
        1, 3, figsize=(13.5, 5.0), layout='constrained', width_ratios=[1.0, 0.9, 1.2]
    )
    draw_arm(planar, arms['planar, 3 joints'], 3)
    planar.set(title='planar arm: wanted and reached are one')
    planar.legend(loc='upper right', bbox_to_anchor=(1.0, 0.9), fontsize='small')
    draw_arm(above, arms['ur5'], 7)
    above.set(title='UR5 from above: its hinges cannot follow')
    for name, colour in CURVES.items():
        draw_misses(misses, arms[name], colour)
    misses.set(title='median miss of the tip, pass after pass', yscale='log')
    misses.set(xlabel='pass', ylabel='miss [mm]')
    misses.legend(fontsize='small')
    figure.savefig(file, dpi=90)


def draw_arm(panel: Axes, subject: Subject, number: int) -> None:
    """Draw seed, points wanted and arm after one bare pass for one target, seen from above."""
    task = tasks_from_mid(subject, number + 1)[number]
    bare, seen = Bare(subject.chain, whole=False), slice(0, 2)
    wanted, reached = bare.points(task), subject.chain.points(bare(task))
    style = {'marker': 'o', 'markersize': 5}
    panel.plot(*subject.chain.points(task.seed).T[seen], color=SEED, label='seed', **style)
    panel.plot(*reached.T[seen], color=REACHED, lw=3, label='arm, after angles', **style)
    panel.plot(*wanted.T[seen], color=WANTED, ls='--', label='points FABRIK wants', **style)
    for pair in np.stack([wanted, reached], axis=1):
        panel.plot(*pair.T[seen], color='k', lw=0.8, ls=':')
    star = {'marker': '*', 'markersize': 15, 'color': 'gold', 'mec': 'k', 'ls': ''}
    panel.plot(*task.target[seen, 3], label='target', **star)
    panel.set(xlabel='x [m]', ylabel='y [m]', aspect='equal')


def draw_misses(panel: Axes, subject: Subject, colour: str) -> None:
    """Draw how far the tip is off after each pass, of the bare pipeline and of the solver."""
    bare = Bare(subject.chain, whole=False)
    options = fabrik_ros.SolverOptions(method='points', mode='position')
    solver = PointArmSolver(subject.chain, options)
    tasks = tasks_from_mid(subject, TARGETS)
    ways: dict[str, Callable[[Task], Array]] = {
        'bare': bare,
        'known parts': lambda task: solver.single_pass(task.target, task.seed).q,
    }
    for (name, way), style in zip(ways.items(), ('--', '-'), strict=True):
        median = np.median([misses_of(subject, way, task) for task in tasks], axis=0)
        label = f'{subject.name}: {name}'
        passes = range(1, PASSES + 1)
        panel.plot(passes, np.maximum(1e3 * median, LEAST), style, color=colour, label=label)


def misses_of(subject: Subject, way: Callable[[Task], Array], task: Task) -> list[float]:
    """Do a task again and again, each time from where the last pass ended."""
    misses = []
    for _ in range(PASSES):
        task = task._replace(seed=way(task))
        tip = subject.judge.pose(task.seed)
        misses.append(math.dist(tip[:3, 3], task.target[:3, 3]))
    return misses


if __name__ == '__main__':
    main()
