"""What only another process can show: the same answers everywhere, and nothing left to compile."""

from importlib.util import find_spec
import os
from pathlib import Path
import re
import subprocess
import sys

from fabrik_ros import Chain, load_urdf, SolverOptions
from fabrik_ros.collision import CollisionGuard, SelfCollision
from fabrik_ros.kernels._fallbacks import fallbacks
from fabrik_ros.kernels._jit import COMPILED
from fabrik_ros.motion.choosing.goal import Goal, MotionOptions
from fabrik_ros.motion.choosing.motion import Motion
from fabrik_ros.motion.limits.jerk_filter import JerkFilter
from fabrik_ros.motion.limits.limits import MotionLimits
from fabrik_ros.transforms import rotation_from_vector, transform
import helpers
from helpers import mostly_long, SIX_AXIS
import numpy as np
import pytest
from solving import compilations, same_answer, solver_for

TESTS = Path(__file__).parents[1]
SIX_VALUES = (0.1, 0.2, -0.3, 0.1, 0.4, 0.2)
COUNT = 30 if COMPILED else 3
VARIANTS = {
    'pose': {},
    'axis': {'mode': 'axis'},
    'position': {'mode': 'position'},
    'never': {'polish': 'never'},
    'posture': {'mode': 'position', 'posture': SIX_VALUES},
    'near': {'prefer': 'near'},
    'central': {'prefer': 'central', 'posture': SIX_VALUES, 'mode': 'position'},
    'move': {'max_joint_move': 0.2},
    'axes': {'axis_weights': (1, 1, 1, 1, 1, 0), 'axis_tolerances': (0.01, 0, 0, 0, 0, 0)},
}
WARM_QUICKLY = ('pose', 'posture', 'axes')
"""Each case starts a process: the other variants are left to `make test-long`."""


def scenes(chain: Chain):
    """Draw targets and seeds: in reach, too far, turned at random, and near the seed."""
    rng = np.random.default_rng(1)
    for k in range(COUNT):
        q, seed = chain.random_configuration(rng), chain.random_configuration(rng)
        T = chain.forward_kinematics(
            q if k % 4 else np.clip(seed + 0.05, chain.lower, chain.upper)
        )
        T[:3, 3] *= 4.0 if k % 4 == 1 else 1.0
        if k % 4 == 2:
            T = T @ transform(rotation_from_vector(rng.normal(size=3)), np.zeros(3))
        yield T, seed


def answers(options: dict) -> list:
    """Solve all scenes, one configuration and then all of them."""
    chain = load_urdf(SIX_AXIS).chain()
    solver, found = solver_for(chain, max_restarts=10, **options), []
    for T, seed in scenes(chain):
        found.append(solver.solve(T, seed))
        found.extend(solver.solve_all(T, seed))
    return found


def digits(found: list) -> str:
    """Write answers to the last bit."""
    return '\n'.join(f'{s.q.tobytes().hex()} {s[1:]}' for s in found)


def in_another_process(code: str, hash_seed: int = 0) -> str:
    """Run code that finds this file as `here`; return what it prints."""
    environment = {
        **os.environ,
        'PYTHONHASHSEED': str(hash_seed),
        'PYTHONPATH': os.pathsep.join(map(str, (TESTS.parent, TESTS, Path(__file__).parent))),
    }
    done = subprocess.run(
        [sys.executable, '-c', f'import test_processes as here\n{code}'],
        capture_output=True, text=True, check=False, env=environment,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.parametrize('options', VARIANTS.values(), ids=VARIANTS.keys())
def test_two_solvers_give_the_same_answers_bit_for_bit(options):
    first, second = answers(options), answers(options)
    assert len(first) == len(second)
    assert all(map(same_answer, first, second))


@pytest.mark.parametrize('name', mostly_long(['pose', 'position', 'posture'], 'posture'))
def test_other_processes_give_the_same_answers_bit_for_bit(name):
    code = f'print(here.digits(here.answers(here.VARIANTS[{name!r}])))'
    expected = digits(answers(VARIANTS[name]))
    assert in_another_process(code, 1) == expected
    assert in_another_process(code, 2) == expected


def compiled_kernels() -> dict[str, int]:
    """Count what each kernel is compiled for, or loaded from the disk, or left to Python."""
    modules = [m for name, m in sys.modules.items() if name.startswith('fabrik_ros.kernels.')]
    kernels = {id(k): k for m in modules for k in vars(m).values() if is_compiled(k)}
    return {str(k): compilations(k) for k in kernels.values()} | fallbacks


def is_compiled(something: object) -> bool:
    """Whether this is a kernel with machine code: of numba's, or built."""
    return hasattr(something, 'signatures') or hasattr(
        getattr(something, '__self__', None), '__wrapped__'
    )


def compiled_after_warm_up(arm: str, options: dict) -> dict:
    """Warm up, then solve all kinds of problems; tell what had to be compiled still."""
    chain = load_urdf(getattr(helpers, arm)).chain()
    solver = solver_for(chain, max_restarts=20, **options)
    solver.warm_up()
    before, statuses = compiled_kernels(), set()
    for T, seed in scenes(chain):
        for begin in (seed, None, list(seed)):
            solution = solver.solve(T, begin)
            statuses.add(solution.status.name)
        solver.solve(T.tolist(), solution.q)
    after = compiled_kernels()
    assert sum(before.values()) >= 4  # those that Python calls
    assert len(statuses) >= 2
    return {name: count for name, count in after.items() if count != before.get(name, 0)}


@pytest.mark.skipif(not COMPILED, reason='nothing is compiled')
@pytest.mark.parametrize(
    ('arm', 'name'),
    [
        pytest.param(arm, name, marks=[] if name in WARM_QUICKLY else pytest.mark.long)
        for arm in ('SIX_AXIS', 'PLANAR')
        for name in VARIANTS
        if arm == 'SIX_AXIS' or 'posture' not in VARIANTS[name]
    ],
)
def test_after_the_warm_up_nothing_is_left_to_compile(arm, name):
    code = f'print(here.compiled_after_warm_up({arm!r}, here.VARIANTS[{name!r}]))'
    assert in_another_process(code) == '{}'


BALL = (
    r'<link name="\1"><collision><geometry><sphere radius="0.02"/></geometry></collision></link>'
)


def compiled_by_a_motion(arm: str, path: str) -> dict:
    """Warm up, then let an arm do all that it can; tell what had to be compiled still."""
    robot = load_urdf(re.sub(r'<link name="(\w+)"/>', BALL, getattr(helpers, arm)))
    chain = robot.chain()
    guard = CollisionGuard(SelfCollision(robot, chain)) if find_spec('coal') else None
    limits = MotionLimits(0.25, 1.0, 1.0, np.full(len(chain), 1.5), np.full(len(chain), 5.0))
    options = SolverOptions(max_restarts=20)
    motion = Motion(chain, limits, options, MotionOptions(path=path), guard=guard)
    motion.warm_up()
    before = compiled_kernels()
    motion.reset(0.3 * np.ones(len(chain)))
    for i, (T, _) in enumerate(scenes(chain)):
        motion.aim(T)
        for k in range(1, 10):
            motion.step(0.01)
            motion.prepare()
            motion.pursue(Goal.of(shifted_along_x(T, 0.001 * k)[None]), in_stream=True)
        motion.jog(np.full(6, 0.1 * (-1) ** i))
        motion.step(0.01)
        motion.stop('a test')
        motion.limiter.stop_trajectory()
        for _ in range(10):
            motion.step(0.01)
    after = compiled_kernels()
    return {name: count for name, count in after.items() if count != before.get(name, 0)}


def shifted_along_x(T, way):
    return T @ transform(np.eye(3), np.array([way, 0.0, 0.0]))


@pytest.mark.skipif(not COMPILED, reason='nothing is compiled')
@pytest.mark.parametrize('path', mostly_long(['line', 'joint'], 'joint'))
@pytest.mark.parametrize('arm', mostly_long(['SIX_AXIS', 'PLANAR'], 'SIX_AXIS'))
def test_after_the_warm_up_of_a_motion_nothing_is_left_to_compile(arm, path):
    code = f'print(here.compiled_by_a_motion({arm!r}, {path!r}))'
    assert in_another_process(code) == '{}'


def compiled_by_limited_jerk() -> dict:
    """Warm up, then halt a moving arm and go on; tell what had to be compiled still."""
    chain = load_urdf(SIX_AXIS).chain()
    limits = MotionLimits(0.25, 1.0, 1.0, np.full(len(chain), 1.5), np.full(len(chain), 5.0))
    jerk_filter = JerkFilter(50.0, 0.01, chain.lower, chain.upper)
    options, solver_options = MotionOptions(path='joint'), SolverOptions(max_restarts=20)
    motion = Motion(chain, limits, solver_options, options, jerk_filter=jerk_filter)
    motion.warm_up()
    before = compiled_kernels()
    motion.reset(0.3 * np.ones(len(chain)))
    for T, _ in scenes(chain):
        motion.aim(T)
        for _ in range(20):
            motion.step(0.01)
        motion.halt()
        motion.step(0.01)
    after = compiled_kernels()
    return {name: count for name, count in after.items() if count != before.get(name, 0)}


@pytest.mark.skipif(not COMPILED, reason='nothing is compiled')
@pytest.mark.skipif(find_spec('ruckig') is None, reason='ruckig limits the jerk')
def test_nothing_is_left_to_compile_where_an_arm_with_limited_jerk_goes_on_after_a_halt():
    """Compiling takes seconds, in which the node hears no joint states: the goal is lost."""
    assert in_another_process('print(here.compiled_by_limited_jerk())') == '{}'
