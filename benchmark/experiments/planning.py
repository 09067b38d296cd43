"""
How often and how fast ways are found among obstacles, beside plain OMPL.

Each problem is a pose of the hand. The planner runs in its thread, warm, and is told which links
may touch; time counts from the request to the way. Then plain OMPL RRT-Connect plans to the same
pose: see `planning_baseline.py`; and RoboPlan to the joint values there, where its interpreter is
named: see `planning_roboplan.py`. Every way is judged on the raw meshes: see `planning_judge.py`.

    python benchmark/experiments/planning.py FOLDER --seeds 3 --json /tmp/planning.json
    python benchmark/experiments/planning.py FOLDER --alone --roboplan VENV/bin/python

"""

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import groupby
import json
from pathlib import Path
import subprocess
import sys
import time
from typing import Any

from fabrik_ros import Chain, load_urdf
from fabrik_ros.collision import Obstacle
from fabrik_ros.model.geometry import Box, Cylinder, Sphere
from fabrik_ros.planning import Plan, PlannerSetup, PlannerState, PlannerThread, PlanRequest
import numpy as np
from planning_judge import RawJudge
from planning_problems import BASE, load_problems, Problem, ProblemSet, TIP

CLEARANCE = 0.002
"""Distance that is kept from obstacles [m]."""
LONGEST = 20.0
"""Time for a problem [s]."""
STEPS = (0.05, 0.01)
"""Steps of the checks of RoboPlan: its default, and a fine one [rad]."""
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
    """'fabrik_ros', 'ompl' or 'roboplan' with the step of its checks [rad]."""
    time: float
    """[s]."""
    used: float
    """Processor time of all threads [s]."""
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
    """The planner in its thread."""

    def __init__(self, problems: ProblemSet) -> None:
        self._robot = load_urdf(problems.urdf)
        self.chain = self._robot.chain(BASE, TIP)
        self._thread = PlannerThread()
        self._thread.start(
            PlannerSetup(
                self._robot,
                self.chain,
                mesh_paths=(str(problems.folder),),
                allowed_collisions=problems.allowed,
                obstacle_clearance=CLEARANCE,
            )
        )
        while self._thread.state is not PlannerState.READY:
            assert self._thread.poll() is None
            time.sleep(NAP)

    def plan(
        self, problem: Problem, T: np.ndarray, seed: int
    ) -> tuple[np.ndarray | None, float, float]:
        """Plan to a pose, (4, 4); return knots or None, and times."""
        begin, used = time.perf_counter(), time.process_time()
        self._request(problem, T, seed)
        while (answer := self._thread.poll()) is None:
            time.sleep(NAP)
        taken = time.perf_counter() - begin
        assert isinstance(answer, Plan), answer
        return (answer.knots if answer.found else None), taken, time.process_time() - used

    def _request(self, problem: Problem, T: np.ndarray, seed: int) -> None:
        start = problem.values('start', self.chain.joint_names)
        request = PlanRequest(start, T[None], planning_time=LONGEST, seed=seed)
        self._thread.request(request, problem.obstacles, other_joints=problem.start)

    def close(self) -> None:
        """End the thread."""
        self._thread.close()


def baseline_of(chain: Chain, hulls: RawJudge) -> Any:
    """Make plain OMPL, which need not be installed where it is left out."""
    from planning_baseline import Baseline

    return Baseline(chain, hulls)


class RoboPlan:
    """RoboPlan in its interpreter, which checks edges in some steps [rad]."""

    def __init__(self, python: str, problems: ProblemSet, chain: Chain) -> None:
        self._names = chain.joint_names
        program = str(Path(__file__).with_name('planning_roboplan.py'))
        self._process = subprocess.Popen(
            [python, program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self._say(
            {
                'urdf': str(problems.urdf),
                'folder': str(problems.folder),
                'joints': self._names,
                'root': BASE,
                'allowed': problems.allowed,
            }
        )

    def plan(
        self, problem: Problem, step: float, seed: int
    ) -> tuple[np.ndarray | None, float, float]:
        """Plan to the joint values at the goal; return knots or None, and times."""
        self._say(
            {
                **{end: problem.values(end, self._names).tolist() for end in ('start', 'goal')},
                'others': {k: v for k, v in problem.start.items() if k not in self._names},
                'obstacles': [_described(obstacle) for obstacle in problem.obstacles],
                'step': step,
                'seed': seed,
                'longest': LONGEST,
            }
        )
        answer = json.loads(self._process.stdout.readline())
        knots = answer['knots']
        return None if knots is None else np.array(knots), answer['time'], answer['used']

    def _say(self, message: dict) -> None:
        self._process.stdin.write(json.dumps(message) + '\n')
        self._process.stdin.flush()

    def close(self) -> None:
        """End the process."""
        self._process.stdin.close()
        self._process.wait()


def _described(obstacle: Obstacle) -> tuple[str, list[float], list[list[float]]]:
    """Say kind, sizes and pose of an obstacle."""
    match obstacle.shape:
        case Box(size):
            sizes = list(size)
        case Cylinder(radius, length):
            sizes = [radius, length]
        case Sphere(radius):
            sizes = [radius]
    return type(obstacle.shape).__name__, sizes, obstacle.T_link_obstacle.tolist()


def measure(problems: ProblemSet, options: argparse.Namespace) -> Iterator[Record]:
    """Give all problems to both planners."""
    worker = Worker(problems)
    chain = worker.chain
    chosen = list(problems.some(options.scenes, options.count))
    others = {k: v for k, v in chosen[0].start.items() if k not in chain.joint_names}
    common = problems.urdf, problems.folder, chain.joint_names, others, problems.allowed
    judge, hulls = RawJudge(*common), RawJudge(*common, with_hulls=True)
    baseline = None if options.alone else baseline_of(chain, hulls)
    peer = RoboPlan(options.roboplan, problems, chain) if options.roboplan else None
    names = ['fabrik_ros', *([] if options.alone else ['ompl'])]
    steps = {f'roboplan {step:g}': step for step in (STEPS if peer else ())}
    for problem in chosen:
        judge.set_scene(problem.obstacles)
        hulls.set_scene(problem.obstacles)
        start = problem.values('start', chain.joint_names)
        T = chain.forward_kinematics(problem.values('goal', chain.joint_names))
        for seed in range(1, options.seeds + 1):
            for name in (*names, *steps):
                if name == 'fabrik_ros':
                    knots, taken, used = worker.plan(problem, T, seed)
                elif name == 'ompl':
                    used = time.process_time()
                    knots, taken = baseline.plan(start, T, LONGEST, seed)
                    used = time.process_time() - used
                else:
                    knots, taken, used = peer.plan(problem, steps[name], seed)
                fault = _fault(knots, start, T, chain, judge)
                length = 0.0 if knots is None else np.linalg.norm(np.diff(knots, axis=0), axis=1)
                yield Record(problem.scene, problem.number, seed, name, taken, used,
                             knots is not None, float(np.sum(length)), fault)  # fmt: skip
    worker.close()
    if peer is not None:
        peer.close()


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
              'median and 95th percentile [ms], of processor time, length, faults')  # fmt: skip
        for scene in (*scenes, 'all'):
            some = [r for r in records if r.planner == name and scene in (r.scene, 'all')]
            times, used = 1e3 * np.array([(r.time, r.used) for r in some]).T
            soon = np.mean([r.is_good and r.time <= SOON for r in some])
            late = np.mean([r.is_good and r.time <= LONGEST for r in some])
            length = np.median([r.length for r in some if r.found] or [0.0])
            faults = sum(bool(r.fault) for r in some)
            print(f'  {scene:18} {len(some):4d} {100 * soon:6.1f} % {100 * late:6.1f} % '
                  f'{np.median(times):8.1f} {np.percentile(times, 95):8.1f} '
                  f'{np.median(used):8.1f} {np.percentile(used, 95):8.1f} {length:6.2f} '
                  f'{faults:3d}')  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split('\n\n')[0])
    parser.add_argument('folder', type=Path, help='where panda.json and panda.urdf are')
    parser.add_argument('--seeds', type=int, default=3)
    parser.add_argument('--count', type=int, default=1000, help='problems of each scene')
    parser.add_argument('--scenes', nargs='*', default=[], help='all if none is named')
    parser.add_argument('--alone', action='store_true', help='without plain OMPL')
    parser.add_argument('--roboplan', metavar='PYTHON', help='an interpreter that has RoboPlan')
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
