"""Find joint values that put the tip of an arm on a pose, in the frame of the base link."""

import argparse
from collections.abc import Iterator
import math
import time

from ..errors import shown
from ..model.chain import Chain
from ..solver.chain_solver import FabrikSolver
from ..solver.options import SolverOptions
from ..solver.solution import Solution
from .arguments import add_pose, add_robot, chain_of, finite, read_pose, read_robot
from .tables import table


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `fabrik_ros solve`."""
    add_robot(parser)
    add_pose(parser, None, 'any; only the position counts')
    parser.add_argument(
        '--seed',
        type=finite,
        nargs='+',
        metavar='Q',
        help='joint values to start at, base first [rad or m] (default: the middle of the limits)',
    )


def run(options: argparse.Namespace) -> int:
    """Print the solution; 0 if the target is reached."""
    chain, pose = chain_of(read_robot(options), options), read_pose(options)
    mode = 'auto' if pose.has_orientation else 'position'
    solver = FabrikSolver(chain, SolverOptions(mode=mode))
    solver.warm_up()
    begin = time.perf_counter()
    solution = solver.solve(pose.T, options.seed)
    duration = time.perf_counter() - begin
    print(f'{solution.status.name}: {solution.status.value}')
    print(f"'{shown(chain.tip_link)}' in '{shown(chain.base_link)}': {pose}")
    print(table(_rows(chain, solution)))
    print(
        f'position error {solution.position_error:.3g} m, '
        f'orientation error {solution.orientation_error:.3g} rad\n'
        f'{1e3 * duration:.2f} ms: {solution.passes} passes, {solution.polish_steps} polish '
        f'steps, {solution.restarts} restarts'
    )
    return 0 if solution.converged else 1


def _rows(chain: Chain, solution: Solution) -> Iterator[tuple[str, ...]]:
    yield 'joint', 'value', '', ''
    for name, value, turns in zip(
        chain.joint_names, solution.q.tolist(), chain.is_revolute.tolist(), strict=True
    ):
        note = 'at its limit' if name in solution.limited_joints else ''
        degrees = f'{math.degrees(value):9.3f} deg' if turns else ''
        yield shown(name), f'{value:10.6f} {"rad" if turns else "m"}', degrees, note
