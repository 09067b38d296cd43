"""
How long the planner's process goes on after its search is cancelled, at any time of it.

Each problem is planned once, then cancelled after each of some shares of the time that took. Time
counts from the cancellation until the process is ready for the next request.

    python benchmark/experiments/cancelling.py FOLDER

"""

import argparse
from pathlib import Path

import numpy as np
from planning import Worker
from planning_problems import load_problems

SHARES = np.linspace(0.05, 0.95, 10)
"""Of the time that planning takes [1]."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split('\n\n')[0])
    parser.add_argument('folder', type=Path, help='where panda.json and panda.urdf are')
    parser.add_argument('--count', type=int, default=1000, help='problems of each scene')
    options = parser.parse_args()
    problems = load_problems(options.folder)
    worker = Worker(problems)
    times = []
    for problem in problems.some([], options.count):
        T = worker.chain.forward_kinematics(problem.values('goal', worker.chain.joint_names))
        _, taken = worker.plan(problem, T, seed=1)
        times += [worker.cancel(problem, T, 1, share * taken) for share in SHARES]
    worker.close()
    median, late, longest = 1e3 * np.percentile(times, [50, 99, 100])
    print(f'{len(times)} cancellations: median {median:.1f} ms, 99th percentile {late:.1f} ms, '
          f'longest {longest:.1f} ms; {np.sum(np.array(times) > 0.05)} over 50 ms')  # fmt: skip


if __name__ == '__main__':
    main()
