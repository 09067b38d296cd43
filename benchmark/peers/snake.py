"""Whether a pass costs the same for each joint however long the arm, and what long arms solve."""

from collections.abc import Iterator, Sequence
import math
from pathlib import Path
import time

import fabrik_ros
from fabrik_ros.kernels._jit import kernel
from fabrik_ros.kernels.buffers import cut
from fabrik_ros.kernels.frames import copy
from fabrik_ros.kernels.iterations import run_iterations
from fabrik_ros.kernels.limits import LOWER, UNITS, UPPER
from fabrik_ros.kernels.reaching import fill_arcs
from fabrik_ros.kernels.search import WHOLE
from fabrik_ros.kernels.tips import evaluate
from fabrik_ros.solver.packed_chain import pack, PackedArm
from fabrik_ros.transforms import Array
from helpers import Segment, serial_xml
from measure import LIMIT_SLACK, pinned, ROUNDING
import numpy as np
from report import title
from sizes import Sizes
from solvers import TOLERANCE

LENGTHS = 2, 5, 10, 50, 100, 200, 1000
LONG, SHORT = 1000, 100
AXES = (0.0, 0.0, 1.0), (0.0, 1.0, 0.0)
"""Of the joints, in turn."""
LIMIT = 0.8
"""Of each joint, to both sides [rad]."""
BUDGET = 0.2
"""[s]"""
ROUNDS, REPEATS = 5, 10
"""Fewer rounds than those after which a run may be given up."""
RANDOM_SEED = 0
COST_TEXT = f"""
## Snakes: the cost of an iteration

Snakes of 1 m, revolute joints in turn about z and y, limits ±{LIMIT:g} rad. Cost of an iteration \
(one pass each way, plain, in `run_iterations`), processor time: one chain of {LONG} joints \
beside {LONG // SHORT} of {SHORT}, in turns, medians.
"""
COST_HEADER = f'| one of {LONG}, µs | {LONG // SHORT} of {SHORT}, µs | ratio | ns a joint |'
SOLVE_TEXT = f"""
## Snakes: solving

The same snakes, random reachable positions, {TOLERANCE:g} m, a budget of {BUDGET:g} s, seed \
straight. The judge is a product of matrices in numpy: pinocchio would take 60 GB for {LONG} \
joints.
"""
SOLVE_HEADER = (
    '| joints | polish | targets | solved % | false | iterations | polish steps | median ms '
    '| max ms |'
)


def snake(joints: int) -> str:
    """Write the URDF of a straight arm of 1 m."""
    link = (1.0 / joints, 0.0, 0.0)
    segments = [
        Segment(axis=AXES[i % 2], xyz=link if i else (0.0, 0.0, 0.0), lower=-LIMIT, upper=LIMIT)
        for i in range(joints)
    ]
    return serial_xml([*segments, Segment('fixed', xyz=link)])


@kernel
def repeat_rounds(
    model: Array,
    limits: Array,
    task: Array,
    rows: Array,
    vectors: Array,
    target: Array,
    seed: Array,
    rounds: int,
    repeats: int,
    q: Array,
) -> int:
    """Run up to `rounds` plain rounds from the seed, `repeats` times; return their number."""
    work = cut(rows, vectors, model.shape[0] - 1)
    lower, upper, units = limits[LOWER], limits[UPPER], limits[UNITS]
    fill_arcs(lower, upper, work.arcs)
    done = 0
    for _ in range(repeats):
        copy(seed, q)
        evaluate(model, q, target, task, work)
        done += run_iterations(model, lower, upper, units, target, task, rounds, False, q, work)
    return done


def measure(sizes: Sizes, folder: Path) -> dict:
    """Take the cost of an iteration, and let arms of all lengths solve."""
    return {
        'cost': cost(sizes.snake_turns),
        'solved': {
            f'{joints}, {polish}': solve(joints, polish, sizes.snake_targets)
            for joints in LENGTHS
            for polish in ('auto', 'never')
        },
    }


def cost(turns: int) -> dict:
    """Compare the iteration cost of a long chain with that of as many joints in short ones."""
    rng = np.random.default_rng(RANDOM_SEED)
    chains = {joints: fabrik_ros.load_urdf(snake(joints)).chain() for joints in (LONG, SHORT)}
    options = fabrik_ros.SolverOptions(mode='position')
    long = [pack(chains[LONG], options)]
    short = [pack(chains[SHORT], options) for _ in range(LONG // SHORT)]
    times: list[tuple[float, float]] = []
    with pinned(1):
        for _ in range(turns + 1):  # the first fills the caches
            pair = [
                sum(cost_of_round(arm, chains[joints], rng) for arm in arms)
                for joints, arms in ((LONG, long), (SHORT, short))
            ]
            times.append((pair[0], pair[1]))
    one, many = np.median(times[1:], axis=0)
    return {'one': one, 'many': many, 'ratio': one / many, 'per_joint': 1e3 * one / LONG}


def cost_of_round(arm: PackedArm, chain: fabrik_ros.Chain, rng: np.random.Generator) -> float:
    """Processor time of a plain round towards a random target [µs]."""
    T = chain.forward_kinematics(chain.random_configuration(rng))
    target = np.append(T[:3, :3].ravel(), T[:3, 3])
    seed, q = chain.random_configuration(rng), np.empty(len(chain))
    begin = time.process_time_ns()
    done = repeat_rounds(
        arm.model, arm.limits, arm.tasks[WHOLE], arm.rows, arm.vectors, target, seed,
        ROUNDS, REPEATS, q,
    )  # fmt: skip
    return 1e-3 * (time.process_time_ns() - begin) / done


def solve(joints: int, polish: str, count: int) -> dict:
    """Let a snake reach for random positions."""
    rng = np.random.default_rng(RANDOM_SEED)
    chain = fabrik_ros.load_urdf(snake(joints)).chain()
    options = fabrik_ros.SolverOptions(mode='position', polish=polish, budget=BUDGET)
    solver = fabrik_ros.FabrikSolver(chain, options)
    solver.warm_up()
    rows = []
    for _ in range(count):
        target = tip(rng.uniform(-LIMIT, LIMIT, joints))
        begin = time.perf_counter()
        answer = solver.solve(target)
        wall = 1e3 * (time.perf_counter() - begin)
        apart, most = math.dist(tip(answer.q), target), np.abs(answer.q).max()
        solved = apart <= TOLERANCE * (1.0 + ROUNDING) and most <= LIMIT + LIMIT_SLACK
        false = answer.converged and not solved
        rows.append((solved, false, answer.passes / 2, answer.polish_steps, wall))
    return summary(rows)


def tip(q: Array) -> Array:
    """Where the tip of a snake is, shape (3,) [m]."""
    point, R = np.zeros(3), np.eye(3)
    for i, (cosine, sine) in enumerate(zip(np.cos(q), np.sin(q), strict=True)):
        about_z = [[cosine, -sine, 0.0], [sine, cosine, 0.0], [0.0, 0.0, 1.0]]
        about_y = [[cosine, 0.0, sine], [0.0, 1.0, 0.0], [-sine, 0.0, cosine]]
        R = R @ (about_y if i % 2 else about_z)
        point = point + R[:, 0] / len(q)
    return point


def summary(rows: Sequence[tuple]) -> dict:
    """Sum up what one snake did."""
    solved, false, rounds, steps, walls = np.array(rows, float).T
    return {
        'targets': len(rows),
        'solved_percent': 100.0 * float(solved.mean()),
        'false': int(false.sum()),
        'rounds': float(np.median(rounds)),
        'steps': float(np.median(steps)),
        'median': float(np.median(walls)),
        'max': float(walls.max()),
    }


def report(results: dict) -> Iterator[str]:
    """Write the tables."""
    x = results['cost']
    yield f'{COST_TEXT}\n{title(COST_HEADER)}'
    yield f'| {x["one"]:.1f} | {x["many"]:.1f} | {x["ratio"]:.3f} | {x["per_joint"]:.0f} |'
    yield f'{SOLVE_TEXT}\n{title(SOLVE_HEADER)}'
    for key, x in results['solved'].items():
        joints, polish = key.split(', ')
        yield (
            f'| {joints} | {polish} | {x["targets"]} | {x["solved_percent"]:.0f} | {x["false"]} '
            f'| {x["rounds"]:.0f} | {x["steps"]:.0f} | {x["median"]:.3f} | {x["max"]:.2f} |'
        )
