"""
What a planner that plans all the time costs the steps of the node, in time and punctuality.

The node is a process of its own and sends commands; this one is the simulated arm among 50 boxes:
see `surroundings.py`. In turns the node plans nothing besides; plans one path after the other for
another arm, in a thread as its own planner does; does so where no kernel can look at pairs, so
that coal measures all of them. Prints what it measured. On a busy machine `--real-time` gives the
processes real-time priority, the planner a lower one; that needs privileges.

"""

import argparse
from itertools import count
import json
import os
from pathlib import Path
import sys
import threading

import fabrik_ros
from fabrik_ros.collision import Obstacle, Scene
from fabrik_ros.collision.pair_kernels import PairKernels
from fabrik_ros.model.geometry import Box
from fabrik_ros.planning import PlannerSetup, PlannerThread, PlanRequest
from fabrik_ros.ros import main as main_module
from fabrik_ros.ros.status import reporter
from fabrik_ros.transforms import transform
import numpy as np
import rclpy
import surroundings

ARM = 'seven_axis'
KINDS = ('nothing', 'planner', 'planner by coal')
KIND, REAL_TIME = 'PLANNING_BESIDE_KIND', 'PLANNING_BESIDE_REAL_TIME'
"""Variables of the environment by which the node learns what to do."""
ARM_PRIORITY, NODE_PRIORITY, PLANNER_PRIORITY = 6, 5, 1
LONGEST_GAP = 0.2
"""Steps that are farther apart belong to different motions [s]."""


class Load:
    """A planner that is asked for the next path as soon as it has found one."""

    def __init__(self) -> None:
        robot = fabrik_ros.load_urdf(fabrik_ros.example_arm(ARM))
        self._arm, self._chance = robot.chain(), np.random.default_rng(0)
        self._scene = Scene(
            Obstacle(f'box {i}', Box((0.1, 0.1, 0.1)), transform(np.eye(3), place))
            for i, place in enumerate(self._chance.uniform(-0.8, 0.8, (20, 3)))
            if np.linalg.norm(place[:2]) > 0.3
        )
        self._planner, self._seeds, self.found = PlannerThread(), count(1), 0
        self._planner.start(PlannerSetup(robot, self._arm))

    def attend(self) -> None:
        """Take what it has found, and ask for the next."""
        if self._planner.poll() is not None:
            self.found += 1
        if not self._planner.is_busy:
            start, goal = (self._arm.random_configuration(self._chance) for _ in range(2))
            request = PlanRequest(start, None, (goal,), planning_time=2.0, seed=next(self._seeds))
            self._planner.request(request, self._scene)


def measure_all_by_coal() -> None:
    """Let no kernel look at pairs in the thread of a planner."""
    make = PairKernels.__init__

    def make_without(self: PairKernels, *arguments: object) -> None:
        make(self, *arguments)
        if threading.current_thread().name == 'planner':
            self.covers[:] = False

    PairKernels.__init__ = make_without


def run_node(notes: Path) -> None:
    """Run the node as it is, noting how long each step on a path took, and when it began [s]."""
    steps: list[tuple[float, float]] = []
    step, kind = reporter.Tally.step, os.environ[KIND]
    if kind == KINDS[2]:
        measure_all_by_coal()
    load = None if kind == KINDS[0] else Load()
    if os.environ.get(REAL_TIME):
        for thread in threading.enumerate():
            is_planner = thread.name == 'planner'
            set_priority(thread.native_id, PLANNER_PRIORITY if is_planner else NODE_PRIORITY)

    def noting_step(self, duration, finished_by):
        steps.append((duration, surroundings.time.perf_counter() - duration))
        if load is not None:
            load.attend()
        step(self, duration, finished_by)

    reporter.Tally.step = noting_step
    try:
        main_module.main()
    finally:
        notes.write_text(
            json.dumps([*zip(*steps, strict=True), 0 if load is None else load.found])
        )


def set_priority(thread: int, priority: int, flags: int = 0) -> None:
    """Give a thread real-time priority, and those that it will start."""
    os.sched_setscheduler(thread, os.SCHED_RR | flags, os.sched_param(priority))


HEAD = (
    '| besides | rate [Hz] | steps | median [ms] | p99 [ms] | longest [ms] '
    '| off the period, median [ms] | p99 [ms] | paths |\n|---|---|---|---|---|---|---|---|---|'
)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--turns', type=int, default=3)
    parser.add_argument('--duration', type=float, default=20.0, help='of each run [s]')
    parser.add_argument('--rates', type=float, nargs='*', default=[100.0, 500.0])
    parser.add_argument('--real-time', action='store_true')
    options = parser.parse_args()
    if options.real_time:
        os.environ[REAL_TIME] = '1'
        set_priority(0, ARM_PRIORITY, os.SCHED_RESET_ON_FORK)
    surroundings.__file__ = __file__  # is run as the node
    urdf = surroundings.with_camera(
        fabrik_ros.load_urdf(fabrik_ros.example_arm('six_axis')).source
    )
    rclpy.init()
    print(HEAD)
    for rate in options.rates:
        surroundings.RATE = rate
        noted: dict[str, list[tuple[np.ndarray, np.ndarray, int]]] = {kind: [] for kind in KINDS}
        for _ in range(options.turns):
            for kind in KINDS:
                os.environ[KIND] = kind
                run = surroundings.measure('boxes', options.duration, urdf)
                durations, begins, found = run.steps
                gaps = np.diff(begins)
                late = np.abs(gaps[gaps < LONGEST_GAP] - 1.0 / rate)
                noted[kind].append((np.array(durations), late, found))
        for kind, runs in noted.items():
            steps, late = (1e3 * np.concatenate([run[i] for run in runs]) for i in range(2))
            shares = [
                np.percentile(values, share) for values in (steps, late) for share in (50, 99)
            ]
            print(
                f'| {kind} | {rate:g} | {len(steps)} | {shares[0]:.3f} | {shares[1]:.3f} '
                f'| {steps.max():.2f} | {shares[2]:.3f} | {shares[3]:.3f} '
                f'| {sum(run[2] for run in runs)} |',
                flush=True,
            )
    rclpy.try_shutdown()


if __name__ == '__main__':
    if sys.argv[1:2] == ['node']:
        run_node(Path(sys.argv[2]))
    else:
        main()
