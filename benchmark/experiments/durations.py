"""
How long planned paths take, beside the shortest time along the same curve by TOPP-RA.

Each problem is a pose of the hand among obstacles. The arm follows the path that was found, under
the limits of its joints alone, and comes to rest; toppra (Pham and Pham 2018) finds the shortest
time along the joint values that it passed, under the same limits. How long a stop takes, where it
is longest, is told as well.

    python benchmark/experiments/durations.py FOLDER --count 12

"""

import argparse
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
import time
from typing import NamedTuple

from fabrik_ros import Chain, load_urdf, SolverOptions
from fabrik_ros.motion.choosing.goal import MotionOptions
from fabrik_ros.motion.choosing.motion import Motion
from fabrik_ros.motion.limits.limits import MotionLimits
from fabrik_ros.motion.paths.planned_path import PlannedPath
from fabrik_ros.planning import Plan, PlannerSetup, PlannerState, PlannerThread, PlanRequest
import numpy as np
from planning_problems import BASE, load_problems, ProblemSet, TIP
from scipy.interpolate import CubicHermiteSpline
import toppra
from toppra import constraint

CLEARANCE = 0.002
"""Distance that is kept from obstacles [m]."""
FASTEST, HARDEST = 1.5, 5.0
"""Of each joint, where the URDF allows that [rad/s, rad/s^2]."""
PLANNING_TIME, NAP = 20.0, 0.001
"""[s]."""
GRID = 3000
"""Places at which toppra looks for the greatest speed [1]."""
FINE = 0.0002
"""Length of the steps in which an arm passes the curve, so that toppra sees its bends [s]."""
APART = 5e-4
"""Joint values that are nearer to each other count once [rad]."""


class Record(NamedTuple):
    """What came of one path."""

    scene: str
    taken: float
    """[s]."""
    shortest: float
    """[s]."""
    longest_stop: float
    """[s]."""


def paths(problems: ProblemSet, chain: Chain, count: int) -> Iterator[tuple[str, np.ndarray]]:
    """Yield scenes and knots, shape (m, n), of the paths that are found."""
    planner = PlannerThread()
    planner.start(
        PlannerSetup(
            load_urdf(problems.urdf),
            chain,
            mesh_paths=(str(problems.folder),),
            allowed_collisions=problems.allowed,
            obstacle_clearance=CLEARANCE,
        )
    )
    while planner.state is not PlannerState.READY:
        assert planner.poll() is None
        time.sleep(NAP)
    for problem in problems.some([], count):
        start, goal = (problem.values(end, chain.joint_names) for end in ('start', 'goal'))
        T = chain.forward_kinematics(goal)[None]
        request = PlanRequest(start, T, planning_time=PLANNING_TIME)
        planner.request(request, problem.obstacles, other_joints=problem.start)
        while (answer := planner.poll()) is None:
            time.sleep(NAP)
        assert isinstance(answer, Plan), answer
        if answer.found:
            yield problem.scene, answer.knots
    planner.close()


def followed(
    chain: Chain, limits: MotionLimits, knots: np.ndarray, dt: float
) -> tuple[np.ndarray, float]:
    """Follow knots; return the joint values after each step, and the longest stop [s]."""
    motion = Motion(chain, limits, SolverOptions(), MotionOptions())
    motion.reset(knots[0])
    motion.follow(PlannedPath(motion.limiter, knots))
    passed, longest = [knots[0]], 0.0
    while not motion.is_at_rest:
        motion.step(dt)
        passed.append(motion.command[0])
        longest = max(longest, float(motion.stop_trajectory().times[-1]))
    return np.array(passed), longest


class Curve(toppra.interpolator.AbstractGeometricPath):
    """A curve through joint values, shape (m, n), with the slopes that they have there."""

    def __init__(self, q: np.ndarray) -> None:
        kept = [1]
        for i in range(2, len(q) - 1):
            if np.linalg.norm(q[i] - q[kept[-1]]) > APART:
                kept.append(i)
        chosen = np.array(kept)
        ways = q[chosen + 1] - q[chosen - 1]
        lengths = np.linalg.norm(np.diff(q[chosen], axis=0), axis=1)
        self._places = np.append(0.0, np.cumsum(lengths))
        slopes = ways / np.linalg.norm(ways, axis=1)[:, None]
        curve = CubicHermiteSpline(self._places, q[chosen], slopes)
        self._derivatives = curve, curve.derivative(), curve.derivative(2)

    def __call__(self, places: np.ndarray, order: int = 0) -> np.ndarray:
        return self._derivatives[order](places)

    @property
    def dof(self) -> int:
        """Number of joints."""
        return int(self._derivatives[0].c.shape[2])

    @property
    def path_interval(self) -> np.ndarray:
        """Places of the ends."""
        return self._places[[0, -1]]

    @property
    def waypoints(self) -> None:
        """No joint values stand out."""
        return None


def shortest(limits: MotionLimits, q: np.ndarray) -> float:
    """Find the shortest time along joint values, shape (m, n), that are close together [s]."""
    curve, fastest, hardest = Curve(q), limits.joint_velocity, limits.joint_acceleration
    constraints = [
        constraint.JointVelocityConstraint(np.column_stack([-fastest, fastest])),
        constraint.JointAccelerationConstraint(
            np.column_stack([-hardest, hardest]),
            discretization_scheme=constraint.DiscretizationType.Interpolation,
        ),
    ]
    grid = np.linspace(0.0, curve.path_interval[1], GRID)
    search = toppra.algorithm.TOPPRA(constraints, curve, grid, solver_wrapper='seidel')
    speeds = search.compute_parameterization(0.0, 0.0)[1]
    return float(np.sum(2.0 * np.diff(grid) / (speeds[:-1] + speeds[1:])))


def report(scene: str, records: list[Record]) -> None:
    """Print a line of the table."""
    ratios = np.array([record.taken / record.shortest for record in records])
    taken = np.median([record.taken for record in records])
    stop = max(record.longest_stop for record in records)
    print(f'{scene:18} {len(records):4d} {taken:6.2f} {np.median(ratios):7.3f} '
          f'{ratios.max():7.3f} {stop:7.3f}')  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split('\n\n')[0])
    parser.add_argument('folder', type=Path, help='where panda.json and panda.urdf are')
    parser.add_argument('--count', type=int, default=12, help='problems of each scene')
    parser.add_argument('--rate', type=float, default=100.0, help='commands per second [Hz]')
    options = parser.parse_args()
    problems = load_problems(options.folder)
    chain = load_urdf(problems.urdf).chain(BASE, TIP)
    fastest = np.minimum(chain.velocity, FASTEST)
    limits = MotionLimits(1e3, 1e3, 1e4, fastest, np.full(len(chain), HARDEST))
    records = []
    print('scene, paths, median duration [s], median and greatest ratio, longest stop [s]')
    for scene, some in groupby(paths(problems, chain, options.count), lambda found: found[0]):
        for _, knots in some:
            q, stop = followed(chain, limits, knots, 1.0 / options.rate)
            curve, _ = followed(chain, limits, knots, FINE)
            least = shortest(limits, curve)
            records.append(Record(scene, (len(q) - 1) / options.rate, least, stop))
        report(scene, [record for record in records if record.scene == scene])
    report('all', records)


if __name__ == '__main__':
    main()
