"""Arms that nobody built: random axes, offsets and limits, six to eight joints, some slides."""

from collections.abc import Iterator
import math
from pathlib import Path
import time

import fabrik_ros
from helpers import Segment, serial_xml
from judging import Judge
from measure import LIMIT_SLACK, reaches
import numpy as np
from report import title
from sizes import Sizes
from solvers import TOLERANCE

RANDOM_SEED = 7
TARGETS = 10
"""Of each arm."""
SLIDES, CONTINUOUS = 0.15, 0.1
"""Shares of the joints."""
TEXT = f"""
## Random arms

Random reachable poses, {TARGETS} for each of many random arms, default options, {TOLERANCE:g} m \
and rad; seed in the middle of the limits. Pinocchio makes the targets and judges the answers, \
from the same URDF.
"""
HEADER = '| arms | targets | unsolved | false | median µs | mean | p99 | max |'


def random_arm(rng: np.random.Generator) -> str:
    """Write the URDF of an arm."""
    segments = [random_joint(rng) for _ in range(rng.integers(6, 9))]
    return serial_xml([*segments, Segment('fixed', xyz=rng.uniform(-0.2, 0.2, 3))])


def random_joint(rng: np.random.Generator) -> Segment:
    """Draw a joint and the link behind it."""
    kind = rng.choice(
        ['prismatic', 'continuous', 'revolute'], p=[SLIDES, CONTINUOUS, 1.0 - SLIDES - CONTINUOUS]
    )
    axis = rng.normal(size=3)
    if kind == 'prismatic':
        lower = rng.uniform(-0.3, 0.0)
        upper = lower + rng.uniform(0.1, 0.5)
    else:
        lower = rng.uniform(-3.1, 0.0)
        upper = lower + rng.uniform(0.5, 6.2)
    return Segment(
        str(kind),
        axis / np.linalg.norm(axis),
        rng.uniform(-0.3, 0.3, 3),
        rng.uniform(-math.pi, math.pi, 3),
        lower,
        upper,
    )


def measure(sizes: Sizes, folder: Path) -> dict:
    """Solve for random targets of random arms."""
    rng = np.random.default_rng(RANDOM_SEED)
    unsolved, false, walls = [], 0, []
    for number in range(sizes.random_arms):
        urdf = random_arm(rng)
        chain = fabrik_ros.load_urdf(urdf).chain()
        judge = Judge(urdf, chain.base_link, chain.tip_link)
        solver = fabrik_ros.FabrikSolver(chain)
        if number == 0:
            solver.warm_up()
        for _ in range(TARGETS):
            target = judge.pose(judge.random_configuration(rng, LIMIT_SLACK))
            begin = time.perf_counter()
            solution = solver.solve(target)
            walls.append(1e6 * (time.perf_counter() - begin))
            solved = reaches(judge, solution.q, target, TOLERANCE, TOLERANCE, whole=True)
            false += solution.converged and not solved
            if not solved:
                unsolved.append(number)
    return {
        'arms': sizes.random_arms,
        'targets': len(walls),
        'unsolved': len(unsolved),
        'unsolved_of_arms': unsolved,
        'false': int(false),
        'median': float(np.median(walls)),
        'mean': float(np.mean(walls)),
        'p99': float(np.percentile(walls, 99)),
        'max': float(np.max(walls)),
    }


def report(x: dict) -> Iterator[str]:
    """Write the table."""
    yield f'{TEXT}\n{title(HEADER)}'
    yield (
        f'| {x["arms"]} | {x["targets"]} | {x["unsolved"]} | {x["false"]} | {x["median"]:.1f} '
        f'| {x["mean"]:.1f} | {x["p99"]:.0f} | {x["max"]:.0f} |'
    )
