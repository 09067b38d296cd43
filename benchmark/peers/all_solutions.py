"""Whether `solve_all` finds every solution that a closed form, EAIK, knows of."""

from collections.abc import Iterator
import math
from pathlib import Path
import time

from arms import Arm, load
from closed_forms import Eaik, TURN
import fabrik_ros
from fabrik_ros.transforms import Array
from measure import draw, reaches
import numpy as np
from report import title
from sizes import Sizes
from solvers import TOLERANCE

ARMS = 'ur5', 'ur10'
SAME, SPACING = 1e-4, 1e-3
"""
Solutions are the same if no joint differs by more, whole turns left out [rad]. Close to
singularities the tolerance of the tip leaves joints more room than the first, so there is a second
answer: two configurations nearer than the second are one to `solve_all`.
"""
TEXT = f"""
## All solutions

`solve_all` with default options, random poses. Theirs: the solutions of EAIK that \
pinocchio accepts and that whole turns bring inside the limits. Complete: poses in which each of \
theirs is among ours, up to whole turns, to {SAME:g} rad and to {SPACING:g} rad, below which two \
solutions are one to `solve_all`. The counts of missed ones are to {SPACING:g} rad.
"""
HEADER = (
    f'| arm | poses | complete to {SAME:g}, % | to {SPACING:g}, % | theirs, mean | ours, mean '
    '| theirs that we miss | ours that they miss | mean ms | max ms |'
)


def measure(sizes: Sizes, folder: Path) -> dict:
    """Compare on arms that EAIK knows; says why not where it cannot be asked."""
    results = {}
    for name in ARMS:
        arm = load(name, folder)
        try:
            eaik = Eaik(arm)
        except Exception as error:  # a broken wheel may raise anything
            results[name] = {'left_out': str(error)}
        else:
            results[name] = compare(arm, eaik, sizes.poses)
    return results


def compare(arm: Arm, eaik: Eaik, count: int) -> dict:
    """Count solutions of both, and those of one that the other lacks."""
    solver = fabrik_ros.FabrikSolver(arm.chain)
    solver.warm_up()
    rows = []
    for target, _ in draw(arm, count):
        begin = time.perf_counter()
        solutions = solver.solve_all(target)
        wall = time.perf_counter() - begin
        ours = np.array([solution.q for solution in solutions]).reshape(-1, len(arm.chain))
        theirs = accepted(arm, eaik, target)
        missed = lacking(theirs, ours, SAME), lacking(theirs, ours, SPACING)
        rows.append((len(theirs), len(ours), *missed, lacking(ours, theirs, SPACING), wall))
    theirs, ours, inexact, missed, more, walls = np.array(rows).T
    return {
        'poses': count,
        'exact_percent': 100.0 * float(np.mean(inexact == 0)),
        'complete_percent': 100.0 * float(np.mean(missed == 0)),
        'theirs': float(theirs.mean()),
        'ours': float(ours.mean()),
        'missed': int(missed.sum()),
        'more': int(more.sum()),
        'mean': 1e3 * float(walls.mean()),
        'max': 1e3 * float(walls.max()),
    }


def accepted(arm: Arm, eaik: Eaik, target: Array) -> Array:
    """Solutions of EAIK that are solutions, brought inside the limits, shape (m, n)."""
    (given, _) = eaik.prepare(target, target)
    Q = eaik.exact(eaik.all(given))
    Q = Q + TURN * np.ceil((arm.judge.lower - Q) / TURN)
    good = [reaches(arm.judge, q, target, TOLERANCE, TOLERANCE, whole=True) for q in Q]
    return Q[np.array(good, bool)]


def lacking(some: Array, others: Array, same: float) -> int:
    """How many of some solutions, shape (m, n), are not among the others."""
    apart = np.remainder(some[:, None] - others + math.pi, TURN) - math.pi
    return int(np.sum(~np.any(np.all(np.abs(apart) <= same, axis=2), axis=1)))


def report(results: dict) -> Iterator[str]:
    """Write the table."""
    yield f'{TEXT}\n{title(HEADER)}'
    for arm, x in results.items():
        if 'left_out' in x:
            yield f'| {arm} | left out: {x["left_out"]} |' + ' |' * 8
            continue
        yield (
            f'| {arm} | {x["poses"]} | {x["exact_percent"]:.2f} | {x["complete_percent"]:.2f} '
            f'| {x["theirs"]:.3f} | {x["ours"]:.3f} | {x["missed"]} | {x["more"]} '
            f'| {x["mean"]:.2f} | {x["max"]:.1f} |'
        )
