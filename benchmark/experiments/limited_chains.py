"""
What limits do to the convergence of FABRIK on points, and what helps.

Chains of bones of length 1 in the plane (a hinge at every joint) and in space (a ball joint, the
same half angle to all sides), straight to begin with. Targets are the tips of random legal
configurations, so each can be reached. Run it as a script: less than a minute of processor time;
`--count 30` takes more targets.

"""

import argparse
from collections.abc import Callable, Iterator
import math

from fabrik_ros.textbook.points.point_limits import BallJoint, Hinge, swing_rotation
from fabrik_ros.textbook.points.point_tree import PointTree
from fabrik_ros.textbook.points.point_tree_search import Goal, Progress, turned_towards
from fabrik_ros.transforms import Array
import numpy as np

TOLERANCE = 1e-4
ITERATIONS = 1000
DEGREES = 180, 90, 60, 30, 20, 10
BONES = 4, 10
RANDOM_SEED = 0
AT_REST = 1e-3 * TOLERANCE
HELP_ITERATIONS = 250
"""For the second table, where every joint but that of the base is held to 10 degrees."""
RESTART = 50
"""Iterations between restarts."""

Result = tuple[bool, int]
"""Whether the target was reached, and the iterations made."""
Method = Callable[[PointTree, Array], Result]


class Scenes:
    """A kind of chain, and random legal poses of it."""

    def __init__(
        self, dimension: int, bones: int, degrees: float, free_root: bool, seed: int = RANDOM_SEED
    ) -> None:
        self.dimension, self.bones, self.half = dimension, bones, math.radians(degrees)
        self.free_root = free_root
        self.rng = np.random.default_rng(seed)
        half = self.half
        limit = BallJoint(half, half, half, half) if dimension == 3 else Hinge(None, -half, half)
        self.limits = dict.fromkeys(range(2 if free_root else 1, bones + 1), limit)

    def straight(self) -> PointTree:
        """Lay the chain along the straight-on of the base: x in the plane, z in space."""
        along = np.eye(self.dimension)[0 if self.dimension == 2 else 2]
        points = np.outer(np.arange(self.bones + 1.0), along)
        return PointTree.chain(points, limits=self.limits if self.half < math.pi else None)

    def random(self) -> PointTree:
        """Bend every joint at random within its limit."""
        points, frame = [np.zeros(3)], np.eye(3)
        for i in range(self.bones):
            half = math.pi if self.free_root and i == 0 else self.half
            angles = np.array([0.0, self.rng.uniform(-half, half)])
            if self.dimension == 3:
                azimuth = self.rng.uniform(0.0, 2.0 * math.pi)
                phi = half * math.sqrt(self.rng.uniform())
                angles = phi * np.array([math.cos(azimuth), math.sin(azimuth)])
            frame = frame @ swing_rotation(angles)
            points.append(points[-1] + frame[:, 2])
        # In the plane the chain is bent in y and z only: straight on becomes x.
        drawn = np.array(points)
        drawn = drawn[:, [2, 1]] if self.dimension == 2 else drawn
        return PointTree.chain(drawn, limits=self.limits if self.half < math.pi else None)


def passes_alone(tree: PointTree, target: Array, iterations: int = ITERATIONS) -> Result:
    """Run both passes in turn and nothing else: the papers' algorithm."""
    tip, base = tree.tips[0], tree.points[0]
    for iteration in range(1, iterations + 1):
        before, tree = tree.points, tree.tip_to_base({tip: target}).base_to_tip(base)
        if math.dist(tree.points[tip], target) <= TOLERANCE:
            return True, iteration
        if np.abs(tree.points - before).max() <= AT_REST:
            return False, iteration
    return False, iterations


def solve(tree: PointTree, target: Array, iterations: int = ITERATIONS) -> Result:
    """Run `PointTree.solve`."""
    solution = tree.solve(
        {tree.tips[0]: target}, position_tolerance=TOLERANCE, max_iterations=iterations
    )
    return solution.converged, solution.iterations


def restarted(scenes: Scenes) -> Method:
    """Make passes alone that begin anew from a random legal pose every so often."""

    def method(tree: PointTree, target: Array) -> Result:
        done = 0
        while done < HELP_ITERATIONS:
            reached, iterations = passes_alone(tree, target, RESTART)
            done += iterations
            if reached:
                return True, done
            tree = scenes.random()
        return False, done

    return method


def helped(turned: bool, led: bool) -> Method:
    """Make passes that are helped where they get slow, in one way, the other, or both."""

    def method(tree: PointTree, target: Array) -> Result:
        tip = tree.tips[0]
        there = np.zeros(3)
        there[: len(target)] = target
        aims = {tip: Goal(there)}
        progress = Progress(aims)
        for iteration in range(1, HELP_ITERATIONS + 1):
            if turned and progress.helped:
                tree = turned_towards(tree, aims)
            base = tree._points[0]
            tree = tree._tip_to_base(progress.led if led else aims)._base_to_tip(base)
            if math.dist(tree.points[tip], target) <= TOLERANCE:
                return True, iteration
            progress.note(tree, at_rest=False)
        return False, HELP_ITERATIONS

    return method


def measured(method: Method, scenes: Scenes, count: int) -> str:
    """Solve for random targets from the straight chain; write the share and the median."""
    targets = [scenes.random().points[-1] for _ in range(count)]
    results = [method(scenes.straight(), target) for target in targets]
    solved = [iterations for reached, iterations in results if reached]
    median = f'{np.median(solved):.0f}' if solved else '-'
    return f'{100.0 * len(solved) / count:.0f} % / {median}'


def kinds() -> Iterator[tuple[int, int]]:
    """Yield dimension and number of bones."""
    for dimension in (2, 3):
        for bones in BONES:
            yield dimension, bones


def print_limits(count: int) -> None:
    """Print what tightening limits do."""
    print('| joints | bones | method | ' + ' | '.join(f'±{d}°' for d in DEGREES) + ' |')
    print('|---|---|---|' + '---|' * len(DEGREES))
    methods = {'passes alone': passes_alone, '`solve`': solve}
    for dimension, bones in kinds():
        for name, method in methods.items():
            cells = [
                measured(method, Scenes(dimension, bones, degrees, False), count)
                for degrees in DEGREES
            ]
            joints = 'hinges, 2-D' if dimension == 2 else 'balls, 3-D'
            print(f'| {joints} | {bones} | {name} | ' + ' | '.join(cells) + ' |', flush=True)


def print_help(count: int) -> None:
    """Print what helps, at limits of 10 degrees."""
    names = ['alone', f'begun anew every {RESTART}', 'turned', 'led', 'turned and led', '`solve`']
    print('| joints | bones | base | ' + ' | '.join(names) + ' |')
    print('|---|---|---|' + '---|' * len(names))
    for dimension, bones in kinds():
        for free_root in (False, True):
            methods = [
                lambda tree, target: passes_alone(tree, target, HELP_ITERATIONS),
                restarted(Scenes(dimension, bones, 10.0, free_root, RANDOM_SEED + 1)),
                helped(turned=True, led=False),
                helped(turned=False, led=True),
                helped(turned=True, led=True),
                lambda tree, target: solve(tree, target, HELP_ITERATIONS),
            ]
            cells = [
                measured(method, Scenes(dimension, bones, 10.0, free_root), count)
                for method in methods
            ]
            joints = 'hinges, 2-D' if dimension == 2 else 'balls, 3-D'
            base = 'free' if free_root else 'limited'
            print(f'| {joints} | {bones} | {base} | ' + ' | '.join(cells) + ' |', flush=True)


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__.strip().splitlines()[0])
    parser.add_argument('--count', type=int, default=6, help='targets a cell')
    count = parser.parse_args().count
    print(
        f'Solved to {TOLERANCE:g} of a bone within {ITERATIONS} iterations / median iterations '
        f'of those; {count} targets a cell, all of them known to be reachable.\n'
    )
    print_limits(count)
    print(f'\nThe same within {HELP_ITERATIONS} iterations at ±10°, by what is done beside.\n')
    print_help(count)


if __name__ == '__main__':
    main()
