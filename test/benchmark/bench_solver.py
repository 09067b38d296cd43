"""
How often and how fast: the solver, and TRAC-IK where it is installed, on real arms.

Every solver gets the same random reachable targets, one after the other, from the middle of the
joint limits. What counts as solved is decided by pinocchio, not by the solver. Times are those
of the call a user makes; "CPU" counts all threads, of which TRAC-IK has two.

    python test/benchmark/bench_solver.py --count 1000 --arms ur5 panda

"""

import argparse
from datetime import date
from importlib import metadata
from importlib.util import find_spec
import math
from pathlib import Path
import platform
import subprocess
import sys
import time
from typing import NamedTuple, Protocol

import fabrik_ros
from fabrik_ros.transforms import Array, quaternion_xyzw_from_rotation
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from judging import Judge

TOLERANCE = 1e-6
"""For position [m] and orientation [rad]."""
RANDOM_SEED = 2024
SCRATCH_CALLS = 20


class Arm(NamedTuple):
    """A chain of a robot in example-robot-data; base and tip may be left to be found."""

    path: str
    base_link: str = ''
    tip_link: str = ''


ARMS = {
    'ur5': Arm('ur_description/urdf/ur5_robot.urdf', 'base_link', 'tool0'),
    'ur10': Arm('ur_description/urdf/ur10_robot.urdf', 'base_link', 'tool0'),
    'panda': Arm('panda_description/urdf/panda.urdf', 'panda_link0', 'panda_link8'),
    'xarm7': Arm('xarm_description/urdf/xarm7.urdf', 'link_base', 'link_eef'),
    'jaco': Arm('kinova_description/robots/kinova.urdf'),
    'baxter_left': Arm('baxter_description/urdf/baxter.urdf', 'torso', 'left_gripper'),
    'pr2_right': Arm('pr2_description/urdf/pr2.urdf', 'torso_lift_link', 'r_wrist_roll_link'),
    'so101': Arm('so_arm_description/urdf/so101.urdf', '', 'gripper_frame_link'),
    'z1': Arm('z1_description/urdf/z1.urdf', '', 'link06'),
    'tiago': Arm('tiago_description/robots/tiago.urdf', 'torso_lift_link', 'arm_7_link'),
}


class Adapter(Protocol):
    """One solver, ready to be asked."""

    name: str

    def prepare(self, target: Array) -> object:
        """Turn a pose (4, 4) into what `solve` takes; not timed."""

    def solve(self, prepared: object, seed: Array) -> Array | None:
        """Return joint values, or None where the solver itself says it failed."""


class Fabrik:
    """This package."""

    def __init__(self, chain: fabrik_ros.Chain, mode: str, polish: str) -> None:
        self.name = 'fabrik_ros' if polish == 'auto' else 'fabrik_ros, no polish'
        options = fabrik_ros.SolverOptions(
            mode=mode,
            polish=polish,
            position_tolerance=TOLERANCE,
            orientation_tolerance=TOLERANCE,
        )
        self._solver = fabrik_ros.FabrikSolver(chain, options)

    def prepare(self, target: Array) -> Array:
        return target

    def solve(self, prepared: Array, seed: Array) -> Array:
        return self._solver.solve(prepared, seed).q


class TracIk:
    """
    TRAC-IK through its bare binding.

    The limits are set anew because the binding misreads those of a <safety_controller>. Its
    tolerance holds for each of three components, so it is asked for a little more.
    """

    name = 'TRAC-IK'

    def __init__(self, chain: fabrik_ros.Chain, urdf: str, timeout: float) -> None:
        import pytracik

        self._binding = pytracik
        self._solver = pytracik.TRAC_IK(
            chain.base_link,
            chain.tip_link,
            urdf,
            timeout,
            TOLERANCE / math.sqrt(3.0),
            pytracik.SolveType.Speed,
        )
        if pytracik.get_num_joints(self._solver) != len(chain):
            raise ValueError('it sees another number of joints')
        own_lower = pytracik.get_joint_lower_bounds(self._solver)
        own_upper = pytracik.get_joint_upper_bounds(self._solver)
        lower = np.where(np.isfinite(chain.lower), chain.lower, own_lower)
        upper = np.where(np.isfinite(chain.upper), chain.upper, own_upper)
        pytracik.set_joint_limits(self._solver, lower.tolist(), upper.tolist())

    def prepare(self, target: Array) -> list[float]:
        return [*target[:3, 3], *quaternion_xyzw_from_rotation(target[:3, :3])]

    def solve(self, prepared: list[float], seed: Array) -> Array | None:
        answer = self._binding.ik(self._solver, seed, *prepared)
        return answer[1:] if answer[0] >= 0 else None


def accepts(judge: Judge, mode: str, q: Array, target: Array) -> bool:
    """Whether pinocchio finds a configuration inside the limits and the tip on the target."""
    apart, turned = judge.errors(target, q)
    inside = np.all((judge.lower - 1e-9 <= q) & (q <= judge.upper + 1e-9))
    accepted = TOLERANCE * (1.0 + 1e-6)
    return bool(inside and apart <= accepted and (turned <= accepted or mode == 'position'))


def adapters(
    chain: fabrik_ros.Chain, urdf: str, mode: str, timeout: float
) -> tuple[list[Adapter], str]:
    """Every solver that can take part, and why another cannot."""
    ours: list[Adapter] = [Fabrik(chain, mode, 'auto'), Fabrik(chain, mode, 'never')]
    if find_spec('pytracik') is None:
        return ours, 'TRAC-IK left out: pip install pytracik'
    if mode != 'pose':
        return ours, f'TRAC-IK left out: it solves poses, and {len(chain)} joints cannot follow'
    try:
        return [*ours, TracIk(chain, urdf, timeout)], ''
    except (ImportError, RuntimeError, ValueError) as error:
        return ours, f'TRAC-IK left out: {error}'


class Trial(NamedTuple):
    """One arm with everybody who takes part."""

    name: str
    chain: fabrik_ros.Chain
    mode: str
    solvers: list[Adapter]
    left_out: str
    judge: Judge


def prepare(name: str, folder: Path, timeout: float) -> Trial:
    """Read an arm and set the solvers up; some write messages while they do."""
    arm = ARMS[name]
    urdf = (folder / arm.path).read_text()
    # Pinocchio knows nothing of safety controllers, so nobody obeys them here.
    robot = fabrik_ros.load_urdf(urdf, use_safety_limits=False)
    chain = robot.chain(arm.base_link, arm.tip_link)
    mode = 'pose' if len(chain) >= 6 else 'position'
    solvers, left_out = adapters(chain, urdf, mode, timeout)
    judge = Judge(urdf, chain.base_link, chain.tip_link)
    return Trial(name, chain, mode, solvers, left_out, judge)


def measure(trial: Trial, count: int) -> Array:
    """Of each solver: whether it solved each target, wall and CPU times [s]; rows of count."""
    solvers, chain = trial.solvers, trial.chain
    rng = np.random.default_rng(RANDOM_SEED)
    targets = [chain.forward_kinematics(chain.random_configuration(rng)) for _ in range(count)]
    seed = chain.mid_configuration()
    for solver in solvers:  # compile, fill caches
        for target in targets[:SCRATCH_CALLS]:
            solver.solve(solver.prepare(target), seed)
    results = np.empty((len(solvers), count, 3))
    for k, target in enumerate(targets):
        for solver, result in zip(solvers, results, strict=True):
            prepared = solver.prepare(target)
            cpu, wall = time.process_time(), time.perf_counter()
            q = solver.solve(prepared, seed)
            wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
            result[k] = q is not None and accepts(trial.judge, trial.mode, q, target), wall, cpu
    return results.transpose(0, 2, 1)


def print_rows(trial: Trial, count: int) -> None:
    """Measure one arm and print a row for each solver."""
    begin = f'| {trial.name:11} | {len(trial.chain)} | {trial.mode:8} |'
    results = measure(trial, count)
    for solver, (solved, wall, cpu) in zip(trial.solvers, results, strict=True):
        median, p99 = np.percentile(wall, [50, 99]) * 1e6
        print(
            f'{begin} {solver.name:21} | {100 * solved.mean():6.2f} | {median:6.0f} | '
            f'{wall.mean() * 1e6:6.0f} | {p99:6.0f} | {wall.max() * 1e6:6.0f} | '
            f'{cpu.mean() * 1e6:6.0f} |',
            flush=True,
        )
    if trial.left_out:
        print(begin, trial.left_out, '|' + ' |' * 6, flush=True)


def print_header(count: int, timeout: float) -> None:
    """Say what was measured, on what, with what."""
    print(f'{date.today()}, commit {commit()}, {processor()}, Python {platform.python_version()}')
    names = ('numpy', 'numba', 'pin', 'pytracik', 'example-robot-data')
    print(', '.join([f'fabrik_ros {fabrik_ros.__version__}', *map(version, names)]))
    budget = fabrik_ros.SolverOptions().budget
    print(
        f'{count} random reachable targets an arm, {TOLERANCE:g} m and rad, seed in the middle of '
        f'the limits, budget {1e3 * budget:g} ms, TRAC-IK timeout {1e3 * timeout:g} ms\n'
    )
    print('| arm | joints | mode | solver | solved % | median µs | mean | p99 | max | CPU mean |')
    print('|---|---|---|---|---|---|---|---|---|---|')


def version(distribution: str) -> str:
    """Name and version of a distribution, or that it is absent."""
    try:
        return f'{distribution} {metadata.version(distribution)}'
    except metadata.PackageNotFoundError:
        return f'no {distribution}'


def commit() -> str:
    """Describe the commit that is measured."""
    command = ['git', 'describe', '--always', '--dirty']
    try:
        here = Path(__file__).parent
        done = subprocess.run(command, cwd=here, capture_output=True, text=True, check=False)
    except OSError:
        return 'unknown'
    return done.stdout.strip() or 'unknown'


def processor() -> str:
    """Name the processor."""
    try:
        lines = Path('/proc/cpuinfo').read_text().splitlines()
    except OSError:
        return platform.processor()
    return next((x.split(':')[1].strip() for x in lines if x.startswith('model name')), '?')


def models_folder() -> Path:
    """Find the robots of example-robot-data as pip installs it."""
    distribution = metadata.distribution('example-robot-data')
    return Path(distribution.locate_file('cmeel.prefix/share/example-robot-data/robots'))


def main() -> None:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__.split('\n\n')[0])
    parser.add_argument('--count', type=int, default=1000, help='targets for each arm')
    parser.add_argument('--arms', nargs='+', choices=ARMS, default=list(ARMS))
    parser.add_argument('--timeout', type=float, default=5e-3, help='of TRAC-IK [s]')
    arguments = parser.parse_args()
    folder = models_folder()
    trials = [prepare(name, folder, arguments.timeout) for name in arguments.arms]
    print_header(arguments.count, arguments.timeout)
    for trial in trials:
        print_rows(trial, arguments.count)


if __name__ == '__main__':
    main()
