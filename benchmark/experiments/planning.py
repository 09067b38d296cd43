"""
How often and how fast ways are found among obstacles, beside plain OMPL.

Each problem is a pose of the hand. The planner runs in its process, warm, and is told which links
may touch; time counts from the request to the way. Then plain OMPL RRT-Connect plans to the same
pose: see `planning_baseline.py`. Every way is judged on the raw meshes: see `planning_judge.py`.

    python benchmark/experiments/planning.py FOLDER --seeds 3 --json /tmp/planning.json

"""

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import groupby
import json
from pathlib import Path
import sys
import time

from fabrik_ros import Chain, load_urdf
from fabrik_ros.planning import Plan, PlannerProcess, PlannerSetup, PlanRequest, ProcessState
import numpy as np
from planning_baseline import Baseline
from planning_judge import RawJudge
from planning_problems import BASE, load_problems, Problem, ProblemSet, TIP

CLEARANCE = 0.002
"""Distance that is kept from obstacles [m]."""
LONGEST = 20.0
"""Time for a problem [s]."""
SOON = 5.0
"""[s]."""
NAP = 0.0005
"""Between two looks for the answer [s]."""
POSITION, ROTATION = 1e-4, 1e-3
"""A way ends at the pose if it is nearer than this [m], [1]."""


@dataclass(frozen=True)
class Record:
    """What came of one problem."""

    scene: str
    number: int
    seed: int
    planner: str
    """'fabrik_ros' or 'ompl'."""
    time: float
    """[s]."""
    found: bool
    length: float
    """Of the way in joint space [rad]; 0 without one."""
    fault: str
    """What the judge finds wrong with the way; '' where nothing is, or there is no way."""

    @property
    def is_good(self) -> bool:
        """Whether there is a way, and it is right."""
        return self.found and not self.fault


class Worker:
    """The planner in its process."""

    def __init__(self, problems: ProblemSet) -> None:
        self._robot = load_urdf(problems.urdf)
        self.chain = self._robot.chain(BASE, TIP)
        self._process = PlannerProcess()
        self._process.start(
            PlannerSetup(
                self._robot,
                self.chain,
                mesh_paths=(str(problems.folder),),
                allowed_collisions=problems.allowed,
                obstacle_clearance=CLEARANCE,
            )
        )
        while self._process.state is not ProcessState.READY:
            assert self._process.poll() is None
            time.sleep(NAP)

    def plan(self, problem: Problem, T: np.ndarray, seed: int) -> tuple[np.ndarray | None, float]:
        """Plan to a pose, (4, 4); return knots or None, and the time."""
        begin = time.perf_counter()
        self._request(problem, T, seed)
        while (answer := self._process.poll()) is None:
            time.sleep(NAP)
        taken = time.perf_counter() - begin
        assert isinstance(answer, Plan), answer
        return (answer.knots if answer.found else None), taken

    def _request(self, problem: Problem, T: np.ndarray, seed: int) -> None:
        start = problem.values('start', self.chain.joint_names)
        request = PlanRequest(start, T[None], planning_time=LONGEST, seed=seed)
        self._process.request(request, problem.obstacles, other_joints=problem.start)

    def close(self) -> None:
        """End the process."""
        self._process.close()


def measure(problems: ProblemSet, options: argparse.Namespace) -> Iterator[Record]:
    """Give all problems to both planners."""
    worker = Worker(problems)
    chain = worker.chain
    chosen = list(problems.some(options.scenes, options.count))
    others = {k: v for k, v in chosen[0].start.items() if k not in chain.joint_names}
    common = problems.urdf, problems.folder, chain.joint_names, others, problems.allowed
    judge, hulls = RawJudge(*common), RawJudge(*common, with_hulls=True)
    baseline = Baseline(chain, hulls)
    for problem in chosen:
        judge.set_scene(problem.obstacles)
        hulls.set_scene(problem.obstacles)
        start = problem.values('start', chain.joint_names)
        T = chain.forward_kinematics(problem.values('goal', chain.joint_names))
        for seed in range(1, options.seeds + 1):
            for name in ('fabrik_ros', 'ompl')[: 1 if options.alone else 2]:
                if name == 'ompl':
                    knots, taken = baseline.plan(start, T, LONGEST, seed)
                else:
                    knots, taken = worker.plan(problem, T, seed)
                fault = _fault(knots, start, T, chain, judge)
                length = 0.0 if knots is None else np.linalg.norm(np.diff(knots, axis=0), axis=1)
                yield Record(problem.scene, problem.number, seed, name, taken, knots is not None,
                             float(np.sum(length)), fault)  # fmt: skip
    worker.close()


def _fault(
    knots: np.ndarray | None, start: np.ndarray, T: np.ndarray, chain: Chain, judge: RawJudge
) -> str:
    """Say what is wrong with a way; '' where nothing is."""
    if knots is None:
        return ''
    if not np.allclose(knots[0], start, atol=1e-9):
        return 'it does not begin at the start'
    T_end = judge.tip_pose(knots[-1], TIP)
    if np.abs(T_end[:3, 3] - T[:3, 3]).max() > POSITION or np.abs(T_end - T).max() > ROTATION:
        return 'it does not end at the pose'
    return judge.fault(knots)


def _scene_of(record: Record) -> str:
    return record.scene


def report(records: Sequence[Record]) -> None:
    """Print a table."""
    scenes = sorted({record.scene for record in records})
    for name in sorted({record.planner for record in records}):
        print(f'{name}: scene, problems, found within {SOON:g} s, within {LONGEST:g} s, '
              'median and 95th percentile [ms], length [rad], faults')  # fmt: skip
        for scene in (*scenes, 'all'):
            some = [r for r in records if r.planner == name and scene in (r.scene, 'all')]
            times = 1e3 * np.array([r.time for r in some])
            soon = np.mean([r.is_good and r.time <= SOON for r in some])
            late = np.mean([r.is_good and r.time <= LONGEST for r in some])
            length = np.median([r.length for r in some if r.found] or [0.0])
            faults = sum(bool(r.fault) for r in some)
            print(f'  {scene:18} {len(some):4d} {100 * soon:6.1f} % {100 * late:6.1f} % '
                  f'{np.median(times):8.1f} {np.percentile(times, 95):8.1f} {length:6.2f} '
                  f'{faults:3d}')  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split('\n\n')[0])
    parser.add_argument('folder', type=Path, help='where panda.json and panda.urdf are')
    parser.add_argument('--seeds', type=int, default=3)
    parser.add_argument('--count', type=int, default=1000, help='problems of each scene')
    parser.add_argument('--scenes', nargs='*', default=[], help='all if none is named')
    parser.add_argument('--alone', action='store_true', help='without plain OMPL')
    parser.add_argument('--json', type=Path, help='write all records to this file')
    options = parser.parse_args()
    records: list[Record] = []
    for scene, some in groupby(measure(load_problems(options.folder), options), _scene_of):
        records += some
        print(f'{scene}: done', file=sys.stderr, flush=True)
        if options.json:
            options.json.write_text(json.dumps([asdict(record) for record in records]))
    report(records)
    for record in records:
        if record.fault or (record.planner == 'fabrik_ros' and not record.found):
            print(record)


if __name__ == '__main__':
    main()
