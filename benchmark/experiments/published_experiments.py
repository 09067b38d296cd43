"""
Repeat the experiment of the FABRIK paper: ten unconstrained joints, several methods.

    python benchmark/experiments/published_experiments.py
    python benchmark/experiments/published_experiments.py --figure docs/figures/convergence.png
    python benchmark/experiments/published_experiments.py --tune

A. Aristidou and J. Lasenby (2011) compare on a chain of ten joints that turn any way, with
targets inside and outside its reach. The same is done here, in numpy, with 200 chains and targets:
ten links of length 1, bent at random, the tip to be brought to a hundredth of a link, and to a
millionth. All methods
get the same chains and targets, and take turns. Times in Python say what numpy calls cost: only
their ratios are shown, and even these would be others in a compiled language.

Outside the reach a run ends when the tip is that close to the nearest point it can reach. FABRIK's
reach test would end it at once, so there FABRIK is also measured without it.

"""

import argparse
from collections.abc import Sequence
from functools import partial
from itertools import product
from pathlib import Path
import time
from typing import NamedTuple

from fabrik_ros.textbook.points.point_chain import PointChain
import numpy as np
import point_methods
from point_methods import METHODS, Step

Array = point_methods.Array

JOINTS = 10
BEND = 0.5
"""Links differ in direction from their neighbour by about this [rad]."""
MOST_ITERATIONS = 1000
SETTINGS: dict[str, dict[str, dict[str, float]]] = {
    'inside, to 0.01': {
        'Jacobian transpose': {'largest_step': 2.0},
        'damped least squares': {'largest_step': 0.4, 'damping': 0.02},
        'damped pseudoinverse (SVD)': {'largest_step': 0.4, 'damping': 0.05, 'singular': 1.0},
    },
    'outside, to 0.01': {
        'Jacobian transpose': {'largest_step': 0.1},
        'damped least squares': {'largest_step': 0.2, 'damping': 0.3},
        'damped pseudoinverse (SVD)': {'largest_step': 0.1, 'damping': 0.2, 'singular': 0.3},
    },
    'inside, to 1e-6': {
        'Jacobian transpose': {'largest_step': 2.0},
        'damped least squares': {'largest_step': 0.4, 'damping': 0.01},
        'damped pseudoinverse (SVD)': {'largest_step': 0.4, 'damping': 0.01, 'singular': 0.1},
    },
}
"""What `--tune` found best for each experiment: the others get what suits them."""
COLOURS = {
    'FABRIK': '#c62f3b', 'CCD': '#d9741a', 'Jacobian transpose': '#9aa1ab',
    'damped least squares': '#1f5fb4', 'damped pseudoinverse (SVD)': '#1b9e5a',
}  # fmt: skip
COUNT, COUNT_TO_TUNE = 200, 40
MOST_TO_TUNE, BEST_SHOWN = 200, 3
SEED, SEED_TO_TUNE = 2011, 1991
REACH_TEST = 'FABRIK with its reach test'


class Experiment(NamedTuple):
    """Where targets are, and when one is reached."""

    distances: tuple[float, float]
    """Of the targets from the base, as shares of the reach."""
    tolerance: float
    """Accepted distance between the tip and the nearest point it can reach [link]."""


EXPERIMENTS = {
    'inside, to 0.01': Experiment((0.05, 0.95), 0.01),
    'outside, to 0.01': Experiment((1.05, 1.5), 0.01),
    'inside, to 1e-6': Experiment((0.05, 0.95), 1e-6),
}
"""Targets inside and outside the reach."""


class Task(NamedTuple):
    """A chain, where its tip shall be, and how near it can come."""

    points: Array
    target: Array
    nearest: float
    tolerance: float


class Run(NamedTuple):
    """What a method did with a task."""

    errors: Array
    """Distance to the nearest point in reach before the first and after each iteration [link]."""
    seconds: float
    """Processor time of this thread."""
    solved: bool
    """Whether it came as near as was asked."""

    @property
    def iterations(self) -> int:
        return len(self.errors) - 1


def tasks(given: Experiment, count: int, seed: int) -> list[Task]:
    """Draw chains, and targets evenly in the volume between the two distances."""
    rng = np.random.default_rng(seed)
    drawn = []
    for _ in range(count):
        links = np.cumsum(BEND * rng.normal(size=(JOINTS, 3)), axis=0) + random_direction(rng)
        links /= np.linalg.norm(links, axis=1)[:, None]
        points = np.vstack([np.zeros(3), np.cumsum(links, axis=0)])
        inner, outer = (JOINTS * share for share in given.distances)
        distance = rng.uniform(inner**3, outer**3) ** (1.0 / 3.0)
        nearest = max(0.0, distance - float(JOINTS))
        drawn.append(Task(points, distance * random_direction(rng), nearest, given.tolerance))
    return drawn


def random_direction(rng: np.random.Generator) -> Array:
    """Draw a unit vector, all directions alike."""
    vector = rng.normal(size=3)
    return vector / np.linalg.norm(vector)


def run(step: Step, task: Task, most_iterations: int = MOST_ITERATIONS) -> Run:
    """Let a method iterate until the tip is near enough; only its steps are timed."""
    points, seconds = task.points, 0.0
    errors = [missing(points, task)]
    while errors[-1] > task.tolerance and len(errors) <= most_iterations:
        begin = time.thread_time()
        points = step(points, task.target)
        seconds += time.thread_time() - begin
        errors.append(missing(points, task))
    return Run(np.array(errors), seconds, errors[-1] <= task.tolerance)


def missing(points: Array, task: Task) -> float:
    """Measure from the tip to the target, less what nobody could reach."""
    return float(np.linalg.norm(task.target - points[-1])) - task.nearest


def run_with_reach_test(task: Task) -> Run:
    """Let the library answer: outside the reach it needs no iteration."""
    begin = time.thread_time()
    solution = PointChain(task.points).solve(task.target, position_tolerance=task.tolerance)
    seconds = time.thread_time() - begin
    errors = [missing(task.points, task)] * solution.iterations + [missing(solution.points, task)]
    return Run(np.array(errors), seconds, errors[-1] <= task.tolerance)


def experiment(title: str, count: int) -> dict[str, list[Run]]:
    """Let all methods do all tasks, in turns, each with the settings found by `--tune`."""
    methods = {name: partial(METHODS[name], **SETTINGS[title].get(name, {})) for name in METHODS}
    outside = min(EXPERIMENTS[title].distances) > 1.0
    runs: dict[str, list[Run]] = {REACH_TEST: []} if outside else {}
    runs |= {name: [] for name in methods}
    for task in tasks(EXPERIMENTS[title], count, SEED):
        for name, step in methods.items():
            runs[name].append(run(step, task))
        if outside:
            runs[REACH_TEST].append(run_with_reach_test(task))
    return runs


def table(title: str, runs: dict[str, list[Run]]) -> list[str]:
    """Write the rows of one experiment, times relative to FABRIK."""
    own = runs['FABRIK']
    per_solve = np.median([each.seconds for each in own])
    per_iteration = time_of_an_iteration(own)
    rows = []
    for name, done in runs.items():
        counts = [each.iterations for each in done]
        shares = 100.0 * np.mean([each.solved for each in done])
        solve = np.median([each.seconds for each in done]) / per_solve
        iteration = f'{time_of_an_iteration(done) / per_iteration:.2f}' if any(counts) else '-'
        rows.append(
            f'| {title} | {name} | {shares:.4g} % | {np.median(counts):g} | {np.mean(counts):.1f} '
            f'| {solve:.2f} | {iteration} |'
        )
    return rows


def time_of_an_iteration(runs: Sequence[Run]) -> float:
    """Divide all the time by all iterations [s]."""
    return sum(each.seconds for each in runs) / sum(each.iterations for each in runs)


def tune() -> None:
    """Find the settings of the Jacobian methods with the fewest iterations, on other chains."""
    steps, dampings = (0.1, 0.2, 0.4, 0.8, 2.0), (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.6)
    grids = {
        point_methods.transpose: {'largest_step': steps},
        point_methods.damped_least_squares: {'largest_step': steps, 'damping': dampings},
        point_methods.damped_pseudoinverse: {
            'largest_step': steps, 'damping': dampings, 'singular': (0.1, 0.3, 1.0),
        },
    }  # fmt: skip
    for title, asked in EXPERIMENTS.items():
        given = tasks(asked, COUNT_TO_TUNE, SEED_TO_TUNE)
        for method, grid in grids.items():
            results = []
            for values in product(*grid.values()):
                settings = dict(zip(grid, values, strict=True))
                mean = mean_iterations(partial(method, **settings), given)
                results.append((mean, str(settings)))
            for mean, settings in sorted(results)[:BEST_SHOWN]:
                print(f'{title}, {method.__name__}: mean {mean:.1f} with {settings}')


def mean_iterations(step: Step, given: Sequence[Task]) -> float:
    """Count the iterations a method needs, up to a limit."""
    return float(np.mean([run(step, task, MOST_TO_TUNE).iterations for task in given]))


def draw(experiments: dict[str, dict[str, list[Run]]], file: Path) -> None:
    """Draw the median distance of each method over its iterations."""
    import matplotlib as mpl

    mpl.use('Agg')
    import matplotlib.pyplot as plt

    figure, panels = plt.subplots(1, 2, sharey=True, figsize=(9.0, 3.6), layout='constrained')
    shown = {'inside, to 1e-6': 'targets in reach', 'outside, to 0.01': 'targets out of reach'}
    for panel, (title, words) in zip(panels, shown.items(), strict=True):
        for name, colour in COLOURS.items():
            medians = median_errors(experiments[title][name])
            panel.loglog(np.arange(len(medians)) + 1, medians, label=name, color=colour)
        panel.axhline(0.01, color='black', linestyle=':', linewidth=1.0)
        panel.set(title=words, xlabel='iterations + 1', ylim=(5e-7, 30.0))
        panel.grid(alpha=0.3)
    panels[0].set_ylabel('median distance to the nearest\npoint in reach [link]')
    panels[1].legend(fontsize=8, loc='lower left')
    figure.savefig(file, dpi=90, metadata={'Software': None})


def median_errors(runs: Sequence[Run]) -> Array:
    """Take the median over the runs after each iteration; those that have ended stay."""
    longest = max(each.iterations for each in runs) + 1
    padded = [np.pad(each.errors, (0, longest - len(each.errors)), 'edge') for each in runs]
    return np.median(padded, axis=0)


def main() -> None:
    """Run the experiments and print one table."""
    parser = argparse.ArgumentParser(description=__doc__.split('\n\n')[0])
    parser.add_argument('--figure', type=Path, help='also draw the convergence into this file')
    parser.add_argument('--tune', action='store_true', help='search for the settings instead')
    parser.add_argument('--count', type=int, default=COUNT, help='number of chains and targets')
    given = parser.parse_args()
    if given.tune:
        tune()
        return
    experiments = {title: experiment(title, given.count) for title in EXPERIMENTS}
    print('| targets | method | solved | iterations: median | mean | solve, time | iteration |')
    print('|---|---|---|---|---|---|---|')
    for title, runs in experiments.items():
        print(*table(title, runs), sep='\n')
    if given.figure:
        draw(experiments, given.figure)


if __name__ == '__main__':
    main()
