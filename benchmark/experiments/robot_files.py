"""
Read every URDF below a folder, check its collisions, and solve reachable poses of its chains.

    python benchmark/experiments/robot_files.py FOLDER --mesh-path FOLDER

"""

import argparse
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from fabrik_ros import (
    AmbiguousChainError,
    Chain,
    FabrikError,
    FabrikSolver,
    load_urdf,
    Robot,
    SolverOptions,
)
from fabrik_ros.collision import SelfCollision
import numpy as np


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.strip().split('\n\n')[0])
    parser.add_argument('folder', type=Path, help='looked through with all folders in it')
    parser.add_argument('--mesh-path', action='append', default=[], help='folder with packages')
    parser.add_argument('--poses', type=int, default=20, help='poses to solve for each chain')
    parser.add_argument('--chains', type=int, default=3, help='most chains of a robot')
    options = parser.parse_args()
    counts: Counter[str] = Counter()
    for path in sorted(options.folder.rglob('*.urdf')):
        counts['files'] += 1
        for kind, text in looked_at(path, options):
            counts[kind] += 1
            if text:
                print(f'{path.relative_to(options.folder)}: {kind}: {text}', flush=True)
    for kind, count in counts.items():
        print(f'{count:6} {kind}')


def looked_at(path: Path, options: argparse.Namespace) -> Iterator[tuple[str, str]]:
    """Yield what comes of a file: a kind, and what there is to tell."""
    try:
        robot = load_urdf(path)
    except FabrikError as error:
        yield 'not read', str(error)
        return
    yield 'read', ''
    for warning in robot.warnings:
        yield 'warnings', warning
    try:
        chains = chains_of(robot)[: options.chains]
    except FabrikError as error:
        yield 'without a chain', str(error)
        return
    for chain in chains:
        yield from collisions_of(robot, chain, options.mesh_path)
        yield from solved(chain, options.poses)


def chains_of(robot: Robot) -> list[Chain]:
    """Take the only arm, or all that are offered."""
    try:
        return [robot.chain()]
    except AmbiguousChainError as error:
        return [robot.chain(*ends) for ends in error.candidates]


def collisions_of(robot: Robot, chain: Chain, mesh_paths: list[str]) -> Iterator[tuple[str, str]]:
    try:
        collision = SelfCollision(robot, chain, mesh_paths=mesh_paths)
        collision.check_whole()
    except FabrikError as error:
        yield 'chains not checked, or in part', f'{chain.tip_link}: {error}'
    else:
        yield 'chains checked', ''
        at_middle = collision.distance(chain.mid_configuration())
        if at_middle.distance <= at_middle.clearance:
            yield 'in contact amid the limits', f'{at_middle.link_a}, {at_middle.link_b}'


def solved(chain: Chain, poses: int) -> Iterator[tuple[str, str]]:
    mode = 'pose' if len(chain) >= 6 else 'position'
    solver, rng = FabrikSolver(chain, SolverOptions(mode=mode)), np.random.default_rng(0)
    solver.warm_up()
    targets = [chain.forward_kinematics(chain.random_configuration(rng)) for _ in range(poses)]
    answers = [solver.solve(T) for T in targets]
    reached = sum(map(bool, answers))
    yield (
        'chains with all poses reached' if reached == poses else 'chains with poses missed',
        (
            ''
            if reached == poses
            else f'{chain.tip_link}: {reached} of {poses} in mode {mode}, '
            f'else {dict(Counter(answer.status.name for answer in answers if not answer))}'
        ),
    )


if __name__ == '__main__':
    main()
