"""How near the tip comes to what it cannot reach, beside the best of many scipy searches."""

from collections import Counter
from collections.abc import Callable, Iterator
import math
from pathlib import Path
import time

from arms import Arm, load
import fabrik_ros
from fabrik_ros.transforms import Array
import numpy as np
from peers import pinocchio_model
import pinocchio
from report import title
from scipy.optimize import least_squares
from sizes import Sizes

ARMS = 'panda', 'so101', 'ur5_limited', 'z1'
RANDOM_SEED = 3
SHELLS = (1.05, 2.0), (0.8, 1.0), (0.0, 0.25)
"""How far from the root targets are drawn, as shares of the reach: too far, far, near."""
TRIES = 1000
"""To find an unreachable target in one shell, before the next is tried."""
FIRST_EVALUATIONS, FINALISTS = 20, 5
WITHIN = 1.01
"""Our error may be this many times the best."""
TEXT = f"""
## Unreachable positions

Positions are drawn around the arm, kept if the solver says that it did not converge, \
default options but for the mode. Best: scipy's least squares on pinocchio's kinematics with its \
Jacobian and the limits as bounds, the best of {{starts}} random starts ({FIRST_EVALUATIONS} \
evaluations each, then the best {FINALISTS} to the end). Our error is pinocchio's.
"""
HEADER = (
    '| arm | targets | ours within 1 % of the best % | ours / best, worst | median | ours nearer '
    'by 1 % | median ms | max ms | status |'
)


class Searcher:
    """Least squares of scipy on one arm, for positions."""

    def __init__(self, arm: Arm) -> None:
        self._model = pinocchio_model(arm)
        self._data = self._model.createData()
        self._tip = self._model.getFrameId('tip')
        self._bounds = arm.chain.finite_limits()

    def best(self, point: Array, starts: int, rng: np.random.Generator) -> float:
        """Return the least distance from a point that was found [m]."""
        found = [
            self._search(point, rng.uniform(*self._bounds), FIRST_EVALUATIONS)
            for _ in range(starts)
        ]
        found = sorted(found, key=lambda result: result.cost)[:FINALISTS]
        found = [self._search(point, np.clip(x.x, *self._bounds), None) for x in found]
        return float(np.linalg.norm(min(found, key=lambda result: result.cost).fun))

    def _search(self, point: Array, start: Array, evaluations: int | None) -> object:
        return least_squares(
            self._error, start, self._jacobian, self._bounds, args=(point,), max_nfev=evaluations
        )

    def _error(self, q: Array, point: Array) -> Array:
        pinocchio.framesForwardKinematics(self._model, self._data, q)
        return self._data.oMf[self._tip].translation - point

    def _jacobian(self, q: Array, point: Array) -> Array:
        frame = pinocchio.LOCAL_WORLD_ALIGNED
        return pinocchio.computeFrameJacobian(self._model, self._data, q, self._tip, frame)[:3]


def measure(sizes: Sizes, folder: Path) -> dict:
    """Compare on all arms."""
    return {name: compare(load(name, folder), sizes) for name in ARMS}


def compare(arm: Arm, sizes: Sizes) -> dict:
    """Put our error over the best of scipy, for targets out of reach."""
    solver = fabrik_ros.FabrikSolver(arm.chain, fabrik_ros.SolverOptions(mode='position'))
    solver.warm_up()
    searcher, rng = Searcher(arm), np.random.default_rng(RANDOM_SEED)
    ratios, walls, statuses = [], [], Counter()
    for number in range(sizes.unreachable):
        point, solution, wall = unreachable(arm.chain, solver.solve, number, rng)
        ours = math.dist(arm.judge.pose(solution.q)[:3, 3], point)
        ratios.append(ours / max(searcher.best(point, sizes.starts, rng), 1e-9))
        walls.append(1e3 * wall)
        statuses[solution.status.name] += 1
    return {
        'targets': len(ratios),
        'starts': sizes.starts,
        'within_percent': 100.0 * float(np.mean(np.array(ratios) <= WITHIN)),
        'worst': max(ratios),
        'median_ratio': float(np.median(ratios)),
        'nearer': int(np.sum(np.array(ratios) < 1.0 / WITHIN)),
        'median': float(np.median(walls)),
        'max': max(walls),
        'statuses': dict(statuses),
        'ratios': ratios,
    }


def unreachable(
    chain: fabrik_ros.Chain,
    solve: Callable[[Array], fabrik_ros.Solution],
    number: int,
    rng: np.random.Generator,
) -> tuple[Array, fabrik_ros.Solution, float]:
    """Draw points until one is not reached; return it, the answer and the time of that [s]."""
    while True:
        nearest, farthest = SHELLS[number % len(SHELLS)]
        for _ in range(TRIES):
            way = rng.normal(size=3)
            way *= chain.reach * rng.uniform(nearest, farthest) / np.linalg.norm(way)
            point = chain.root_point + way
            begin = time.perf_counter()
            solution = solve(point)
            wall = time.perf_counter() - begin
            if not solution.converged:
                return point, solution, wall
        number += 1


def report(results: dict) -> Iterator[str]:
    """Write the table."""
    starts = next(iter(results.values()))['starts']
    yield f'{TEXT.format(starts=starts)}\n{title(HEADER)}'
    for arm, x in results.items():
        statuses = ', '.join(f'{count} {name}' for name, count in x['statuses'].items())
        yield (
            f'| {arm} | {x["targets"]} | {x["within_percent"]:.1f} | {x["worst"]:.4f} '
            f'| {x["median_ratio"]:.4f} | {x["nearer"]} | {x["median"]:.2f} | {x["max"]:.1f} '
            f'| {statuses} |'
        )
