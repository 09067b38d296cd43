"""Whether a redundant arm comes back to the same joint values after each turn of a circle."""

from collections.abc import Iterator
import math
from pathlib import Path
import time

from arms import Arm, load
import fabrik_ros
from fabrik_ros.transforms import Array
import numpy as np
from report import title
from sizes import Sizes

CENTRES = {'panda': (0.45, 0.0, 0.45), 'xarm7': (0.4, 0.0, 0.35)}
"""Of the circles [m]; the tool points down."""
PLANES = {'upright': (1, 2), 'level': (0, 1)}
"""The axes of the base that span a circle."""
DIAMETER = 0.3
"""As a share of the reach."""
POINTS, LAPS = 400, 10
TEXT = f"""
## Closed paths

A circle of {DIAMETER:g} times the reach, {POINTS} points, {LAPS} times round, tool \
down, each answer the seed of the next; with the middle of the limits as posture, and without. \
Drift: largest difference of a joint between the first lap and a later one at the same point. \
Residual: largest error by pinocchio, of position [m] or orientation [rad].
"""
HEADER = (
    '| arm | circle | posture | drift, rad | largest step, rad | residual | unsolved | median µs '
    '| max µs |'
)


def measure(sizes: Sizes, folder: Path) -> dict:
    """Follow all circles."""
    results = {}
    for name, centre in CENTRES.items():
        arm = load(name, folder)
        for plane, axes in PLANES.items():
            path = circle(np.array(centre), axes, DIAMETER * arm.chain.reach)
            results[f'{name}, {plane}'] = {
                'with': follow(arm, path, tuple(arm.chain.mid_configuration())),
                'without': follow(arm, path, None),
            }
    return results


def circle(centre: Array, axes: tuple[int, int], diameter: float) -> Array:
    """Poses round a circle, shape (POINTS, 4, 4)."""
    angles = np.linspace(0.0, 2.0 * math.pi, POINTS, endpoint=False)
    T = np.tile(np.diag([1.0, -1.0, -1.0, 1.0]), (POINTS, 1, 1))
    T[:, :3, 3] = centre
    for axis, share in zip(axes, (np.sin(angles), np.cos(angles)), strict=True):
        T[:, axis, 3] += 0.5 * diameter * share
    return T


def follow(arm: Arm, path: Array, posture: tuple[float, ...] | None) -> dict:
    """Go round and round, from the middle of the limits."""
    options = fabrik_ros.SolverOptions(posture=posture)
    solver, q = fabrik_ros.FabrikSolver(arm.chain, options), arm.chain.mid_configuration()
    solver.warm_up()
    q = solver.solve(path[0], q).q
    answers, walls, residual, unsolved = [q], [], 0.0, 0
    for target in np.tile(path, (LAPS, 1, 1)):
        begin = time.perf_counter()
        solution = solver.solve(target, q)
        walls.append(1e6 * (time.perf_counter() - begin))
        q = solution.q
        answers.append(q)
        residual = max(residual, *arm.judge.errors(target, q))
        unsolved += not solution.converged
    laps = np.array(answers[1:]).reshape(LAPS, POINTS, -1)
    return {
        'drift': float(np.abs(laps - laps[0]).max()),
        'step': float(np.abs(np.diff(answers, axis=0)).max()),
        'residual': residual,
        'unsolved': unsolved,
        'median': float(np.median(walls)),
        'max': max(walls),
    }


def report(results: dict) -> Iterator[str]:
    """Write the table."""
    yield f'{TEXT}\n{title(HEADER)}'
    for key, postures in results.items():
        arm, plane = key.split(', ')
        for posture, x in postures.items():
            yield (
                f'| {arm} | {plane} | {posture} | {x["drift"]:.2g} | {x["step"]:.3f} '
                f'| {x["residual"]:.1e} | {x["unsolved"]} | {x["median"]:.1f} | {x["max"]:.0f} |'
            )
