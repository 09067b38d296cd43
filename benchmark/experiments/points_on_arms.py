"""
On which arms "FABRIK on the joint centres, then angles" is exact, and how far it misses on others.

Four ways to do the same tasks: the bare pipeline, done once; `PointArmSolver.single_pass`, which
knows planes, turning bases and what hangs on the tip; the solver of method 'points', which makes
such passes until nothing comes of them; and, to compare, the articulated one. What counts as
solved is decided by pinocchio. `docs/fabrik.md` sums the table up.

    python benchmark/experiments/points_on_arms.py --count 30

"""

import argparse
from collections.abc import Iterator
import math
from pathlib import Path
import sys
import tempfile
import time
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / 'test'))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / 'peers'))
import arms
import fabrik_ros
from fabrik_ros.textbook.arm.point_arm_solver import PointArmSolver
from fabrik_ros.textbook.arm.point_layout import PointLayout
from fabrik_ros.textbook.arm.point_values import values_from_points
from fabrik_ros.transforms import Array
from helpers import Segment, serial_xml
from judging import Judge
from measure import reaches, Task, tasks_from_close, tasks_from_mid
import numpy as np
from report import title

MILLIMETRE, HUNDREDTH = 1e-3, 1e-2
"""Tolerances: for position [m] and orientation [rad]."""
BARE_ITERATIONS = 200

Y = (0.0, 1.0, 0.0)
MADE = {
    'planar, 2 joints': [Segment(), Segment(xyz=(0.4, 0, 0)), Segment('fixed', xyz=(0.3, 0, 0))],
    'planar, 3 joints': [
        Segment(),
        Segment(xyz=(0.4, 0, 0)),
        Segment(xyz=(0.3, 0, 0)),
        Segment('fixed', xyz=(0.2, 0, 0)),
    ],
    'planar, 3, tight limits': [
        Segment(lower=-2.0, upper=2.0),
        Segment(xyz=(0.4, 0, 0), lower=0.0, upper=2.5),
        Segment(xyz=(0.3, 0, 0), lower=-1.5, upper=1.5),
        Segment('fixed', xyz=(0.2, 0, 0)),
    ],
    'SCARA': [
        Segment(xyz=(0, 0, 0.4)),
        Segment(xyz=(0.4, 0, 0)),
        Segment('prismatic', axis=(0, 0, -1), xyz=(0.3, 0, 0), lower=0.0, upper=0.2),
        Segment(),
        Segment('fixed', xyz=(0, 0, -0.1)),
    ],
    'yaw + elbow': [
        Segment(),
        Segment(axis=Y, xyz=(0.05, 0, 0.3)),
        Segment(axis=Y, xyz=(0.4, 0, 0)),
        Segment('fixed', xyz=(0.3, 0, 0)),
    ],
    'yaw + elbow + wrist': [
        Segment(),
        Segment(axis=Y, xyz=(0.05, 0, 0.3)),
        Segment(axis=Y, xyz=(0.4, 0, 0)),
        Segment(axis=Y, xyz=(0.3, 0, 0)),
        Segment('fixed', xyz=(0.15, 0, 0)),
    ],
}
BUNDLED = ('six_axis',)
REAL = ('ur5', 'z1', 'tiago', 'panda', 'xarm7', 'so101')

HEADER = (
    '| arm | task | seed | bare, once | known parts, once | again and again | articulated '
    '| bare miss | known miss | ms, again | ms, articulated |'
)
TEXT = """
{count} random reachable targets each, solved to 1 mm, and in task pose to 0.01 rad: share in %, \
decided by pinocchio. Miss: median distance of the tip from the target after one pass, in mm. \
Times: medians of the calls. 'Again and again' has no budget: it stops when six passes in \
a row have brought nothing. 'Articulated' has its 20 ms.
"""


class Subject(NamedTuple):
    """An arm and who judges it."""

    name: str
    chain: fabrik_ros.Chain
    judge: Judge


class Try(NamedTuple):
    """What came of one task by one way."""

    solved: bool
    miss: float
    """Distance from the tip to the target [m]."""
    wall: float
    """Time of the call [s]."""


class Bare:
    """The pipeline as one writes it first: points in space, angles, nothing known of the arm."""

    def __init__(self, chain: fabrik_ros.Chain, whole: bool) -> None:
        self._chain, self._whole = chain, whole
        self._layout = PointLayout(chain)

    def __call__(self, task: Task) -> Array:
        """Find joint values."""
        orientation = task.target if self._whole else None
        q, _ = values_from_points(self._chain, self.points(task), task.seed, orientation, sweeps=0)
        return q

    def points(self, task: Task) -> Array:
        """Let FABRIK move the joint centres; in task pose those on the tip are placed first."""
        points, target = self._chain.points(task.seed), task.target
        last = len(points) - 1
        if self._whole:
            last = self._layout.carried
            points[last:] = self._layout.on_tip(target)
        else:
            points[last] = target[:3, 3]
        if last > 0:
            before = fabrik_ros.PointChain(self._chain.points(task.seed)[: last + 1])
            moved = before.solve(points[last], max_iterations=BARE_ITERATIONS)
            points[: last + 1] = moved.points
        return points


def subjects() -> Iterator[Subject]:
    """Make or read the arms."""
    for name, segments in MADE.items():
        urdf = serial_xml(segments)
        chain = fabrik_ros.load_urdf(urdf).chain()
        yield Subject(name, chain, Judge(urdf, chain.base_link, chain.tip_link))
    for name in BUNDLED:
        import xacro

        urdf = xacro.process_file(str(fabrik_ros.example_arm(name))).toxml()
        chain = fabrik_ros.load_urdf(urdf).chain()
        yield Subject(name, chain, Judge(urdf, chain.base_link, chain.tip_link))
    with tempfile.TemporaryDirectory() as folder:
        for name in REAL:
            arm = arms.load(name, Path(folder))
            yield Subject(name, arm.chain, arm.judge)


def ways(chain: fabrik_ros.Chain, whole: bool) -> dict:
    """Set up the four ways to do a task."""
    wanted = {
        'mode': 'pose' if whole else 'position',
        'position_tolerance': MILLIMETRE,
        'orientation_tolerance': HUNDREDTH,
    }
    patient = fabrik_ros.SolverOptions(method='points', budget=math.inf, **wanted)
    points = PointArmSolver(chain, patient)
    articulated = fabrik_ros.FabrikSolver(chain, fabrik_ros.SolverOptions(**wanted))
    points.warm_up()
    articulated.warm_up()
    return {
        'bare': Bare(chain, whole),
        'known': lambda task: points.single_pass(task.target, task.seed).q,
        'again': lambda task: points.solve(task.target, task.seed).q,
        'articulated': lambda task: articulated.solve(task.target, task.seed).q,
    }


def tried(subject: Subject, way, task: Task, whole: bool) -> Try:
    """Do a task and have it judged."""
    begin = time.perf_counter()
    q = way(task)
    wall = time.perf_counter() - begin
    solved = reaches(subject.judge, q, task.target, MILLIMETRE, HUNDREDTH, whole)
    return Try(solved, math.dist(subject.judge.pose(q)[:3, 3], task.target[:3, 3]), wall)


def rows(subject: Subject, count: int) -> Iterator[str]:
    """Measure one arm."""
    seeds = {'mid': tasks_from_mid(subject, count), 'close': tasks_from_close(subject, count)}
    for whole in (False, True):
        by_way = ways(subject.chain, whole)
        for seed, tasks in seeds.items():
            done = {
                name: [tried(subject, way, task, whole) for task in tasks]
                for name, way in by_way.items()
            }
            yield row(subject.name, 'pose' if whole else 'position', seed, done)


def row(name: str, task: str, seed: str, done: dict[str, list[Try]]) -> str:
    """Write one row of the table."""
    shares = [f'{100.0 * np.mean([one.solved for one in tries]):.0f}' for tries in done.values()]
    misses = [short(1e3 * np.median([t.miss for t in done[w]])) for w in ('bare', 'known')]
    times = [f'{1e3 * np.median([t.wall for t in done[w]]):.2g}' for w in ('again', 'articulated')]
    return f'| {" | ".join([name, task, seed, *shares, *misses, *times])} |'


def short(number: float) -> str:
    """Write so many digits as tell something."""
    return f'{number:.3g}' if number >= 1e-3 else '< 0.001'


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[1])
    parser.add_argument('--count', type=int, default=30, help='targets for each arm and task')
    count = parser.parse_args().count
    print(f'{TEXT.format(count=count)}\n{title(HEADER)}')
    for subject in subjects():
        for line in rows(subject, count):
            print(line, flush=True)


if __name__ == '__main__':
    main()
