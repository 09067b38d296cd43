"""Kernels compiled when the package is built: bound, chosen, careful, and the same to the bit."""

import hashlib
import importlib
import os
from pathlib import Path
import pickle
import shutil
import subprocess
import sys

from fabrik_ros import example_arm, load_urdf, SolverOptions, TreeSolver
from fabrik_ros.kernels import _jit, braking, kinematics, line_speed
from fabrik_ros.kernels._fallbacks import entry_line
from fabrik_ros.kernels._jit import IS_BUILT
from fabrik_ros.kernels.entries import ENTRIES
from helpers import PLANAR, Segment, SIX_AXIS
import numpy as np
import pytest
from solving import Branching, solver_for

ROOT = Path(__file__).resolve().parents[2]

ASKING = 'NUMBA_DISABLE_JIT', 'NUMBA_BOUNDSCHECK', 'FABRIK_ROS_KERNELS'
"""Variables that ask for another way than the built one; the whole session may run under them."""

needs_built = pytest.mark.skipif(not IS_BUILT, reason=f'no built code: {_jit.WHY_NOT_BUILT}')


def run(code: str, package: Path = ROOT, **variables: str) -> str:
    """Run code that finds this file as `here`; return what it prints."""
    paths = (package, ROOT / 'test', Path(__file__).parent)
    environment = {name: os.environ[name] for name in os.environ if name not in ASKING}
    environment |= {'PYTHONPATH': os.pathsep.join(map(str, paths)), **variables}
    done = subprocess.run(
        [sys.executable, '-c', code], cwd=package, env=environment,
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_entries_are_in_order():
    assert list(ENTRIES) == sorted(ENTRIES)


@needs_built
@pytest.mark.parametrize('name', ENTRIES)
def test_every_entry_is_bound_to_built_code(name):
    module, function = name.split('.')
    kernel = getattr(importlib.import_module(f'fabrik_ros.kernels.{module}'), function)
    assert type(kernel) is type(len)
    assert kernel.__self__.__wrapped__.__name__ == function


# -- Which way kernels run


WAY = 'from fabrik_ros.kernels import _jit; print(_jit.IS_BUILT, _jit.WHY_NOT_BUILT, sep=": ")'


@needs_built
def test_built_code_does_without_numba():
    code = 'import sys, fabrik_ros; print("numba" in sys.modules, "llvmlite" in sys.modules)'
    assert run(code) == 'False False'


@needs_built
@pytest.mark.parametrize('variable', ['NUMBA_DISABLE_JIT', 'NUMBA_BOUNDSCHECK'])
def test_who_asks_for_what_only_numba_does_gets_numba(variable):
    assert run(WAY, **{variable: '1'}) == f'False: {variable} is set'
    assert run(WAY, **{variable: '0'}) == 'True:'


@needs_built
def test_numba_itself_can_be_asked_for():
    assert run(WAY, FABRIK_ROS_KERNELS='numba') == 'False: FABRIK_ROS_KERNELS asks for numba'


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """Copy the package, to change it."""
    ignore = shutil.ignore_patterns('__pycache__')
    shutil.copytree(ROOT / 'fabrik_ros', tmp_path / 'fabrik_ros', ignore=ignore)
    return tmp_path


@needs_built
@pytest.mark.parametrize('name', ['frames.py', 'entries.py', 'new.py'])
def test_built_code_is_refused_once_a_kernel_was_edited(copy, name):
    assert run(WAY, copy) == 'True:'
    with (copy / 'fabrik_ros/kernels' / name).open('a') as file:
        file.write('\n')
    assert run(WAY, copy) == 'False: the kernels have changed since'


def test_a_package_built_without_says_so(copy):
    (copy / 'fabrik_ros/kernels/_built.abi3.so').unlink(missing_ok=True)
    assert run(WAY, copy) == 'False: the package was built without'


@needs_built
def test_code_for_another_machine_is_no_reason_to_fail(copy):
    (copy / 'fabrik_ros/kernels/_built.abi3.so').write_bytes(b'\x7fELF')
    assert run(WAY, copy).startswith('False: ')


# -- What it takes


def tip_pose_arguments() -> list:
    chain = load_urdf(SIX_AXIS).chain()
    return [chain.model, np.linspace(-0.5, 0.8, 6), np.empty(12), np.empty((4, 4))]


@pytest.fixture
def called():
    """Tip poses, and the calls that built code left to Python meanwhile."""
    left = []

    def interpreted(*args, **keywords):
        left.append((args, keywords))
        return kinematics.tip_pose.__self__(*args, **keywords)

    return _jit._built.bind('kinematics.tip_pose', interpreted), left


def changed(arguments: list, number: int, change) -> list:
    return [change(a) if k == number else a for k, a in enumerate(arguments)]


@needs_built
@pytest.mark.parametrize(
    'change',
    [np.array, lambda model: pickle.loads(pickle.dumps(np.array(model)))],
    ids=['written', 'of another process'],
)
def test_arrays_are_taken_read_only_or_not_and_from_another_process(called, change):
    kernel, left = called
    arguments = tip_pose_arguments()
    assert not arguments[0].flags.writeable
    kernel(*arguments)
    kernel(*changed(changed(arguments, 0, change), 1, change))
    assert left == []


def spread(array):
    """Return the same numbers, not contiguous."""
    return np.repeat(array, 2, axis=-1)[..., ::2]


def misplaced(array):
    """Return the same numbers at addresses that are no multiples of eight."""
    memory = np.empty(array.nbytes + 1, dtype=np.uint8)[1:].view(np.float64).reshape(array.shape)
    memory[:] = array
    return memory


def frozen(array):
    array = array.copy()
    array.flags.writeable = False
    return array


class Special(np.ndarray):
    """An array that may do anything."""


@needs_built
@pytest.mark.parametrize(
    ('number', 'change'),
    [
        (0, np.asfortranarray),
        (0, lambda model: model.astype(np.longdouble)),
        (0, lambda model: model.astype('>f8')),
        (0, lambda model: np.array(model).view(Special)),
        (1, spread),
        (1, misplaced),
        (1, lambda q: q.tolist()),
        (1, frozen),
    ],
    ids=['order', 'type', 'byte order', 'class', 'stride', 'place', 'list', 'read-only'],
)
def test_other_arrays_get_the_same_answer_from_python(called, number, change):
    kernel, left = called
    expected, arguments = tip_pose_arguments(), changed(tip_pose_arguments(), number, change)
    kernel(*expected)
    kernel(*arguments)
    assert len(left) == 1
    assert np.allclose(arguments[3], expected[3], rtol=0.0, atol=1e-15)


@needs_built
def test_keywords_and_a_wrong_count_are_left_to_python(called):
    kernel, left = called
    expected, arguments = tip_pose_arguments(), tip_pose_arguments()
    kernel(*expected)
    kernel(*arguments[:3], T=arguments[3])
    assert np.array_equal(arguments[3], expected[3])
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'T'"):
        kernel(*arguments[:3])
    assert len(left) == 2


@needs_built
@pytest.mark.parametrize('one', [1, 1.0, np.float64(1.0), True], ids=repr)
def test_numbers_of_any_kind_are_taken(one):
    left = []
    kernel = _jit._built.bind('braking.stopping_speed', lambda *args: left.append(args))
    assert kernel(one, 2.0, 0.01) == braking.stopping_speed(1.0, 2.0, 0.01)
    assert left == []


@needs_built
@pytest.mark.parametrize('one', ['1', None, 1j, np.float32(1.0), 10**400], ids=lambda v: type(v))
def test_what_is_no_number_is_left_to_python(one):
    kernel = _jit._built.bind('braking.stopping_speed', lambda *_: 'Python')
    assert kernel(one, 2.0, 0.01) == 'Python'


@needs_built
def test_a_division_by_zero_is_raised_as_in_python():
    kernel, ones = line_speed.speed_along_filtered_path, np.ones(3)
    for way in (kernel, kernel.__self__):
        with pytest.raises(ZeroDivisionError):
            way(ones, np.ones((2, 3)), ones, ones, 1.0, 0.0, 1.0, 0.01, 1.0, 0.0, np.empty(3))


# -- Calls that are left to Python make the tests fail


def test_a_missing_line_is_told_as_it_has_to_be_written():
    def kernel():
        pass

    kernel.__module__, kernel.__name__ = 'fabrik_ros.kernels.frames', 'shift'
    arguments = (frozen(np.zeros((2, 3))), np.zeros(2, np.int32), np.zeros(3, np.float32), 1, 1.0)
    assert entry_line(kernel, arguments, {}) == "'frames.shift': 'f2r h1 s1 i f',"


SESSION = """
import numpy as np
from fabrik_ros import example_arm, load_urdf
from fabrik_ros.kernels import kinematics

def test_calls_of_kernels():
    chain = load_urdf(example_arm('six_axis')).chain()
    arguments = chain.model.astype({type}), np.zeros(6), np.empty(12), np.empty((4, 4))
    names = {{'__name__': '{caller}', 'call': kinematics.tip_pose, 'arguments': arguments}}
    exec('call(*arguments)', names)
"""


@needs_built
@pytest.mark.parametrize(
    ('type_', 'caller', 'workers', 'says'),
    [
        ("'f8'", 'fabrik_ros.model.chain', 0, ''),
        ("'f4'", 'fabrik_ros.model.chain', 0, "'kinematics.tip_pose': 's2 f1 f1 f2',  # called"),
        ("'f4'", 'fabrik_ros.model.chain', 1, "'kinematics.tip_pose': 's2 f1 f1 f2',  # called"),
        ("'f4'", 'test_of_an_odd_array', 0, ''),
    ],
)
def test_a_session_fails_where_the_package_leaves_calls_to_python(
    tmp_path, type_, caller, workers, says
):
    (tmp_path / 'test_session.py').write_text(SESSION.format(type=type_, caller=caller))
    command = [sys.executable, '-m', 'pytest', '-p', 'conftest', '-p', 'no:cacheprovider', '-q']
    if workers:
        pytest.importorskip('xdist')
        command += ['-n', str(workers)]
    done = subprocess.run(
        [*command, tmp_path], env={**os.environ, 'PYTHONPATH': f'{ROOT}:{ROOT / "test"}'},
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == (1 if says else 0), done.stdout + done.stderr
    assert says in done.stdout
    assert '1 passed' in done.stdout


# -- The same answers


FORK = Branching(
    (
        Segment(),
        Segment(xyz=(0.5, 0.0, 0.0)),
        Segment('fixed', xyz=(0.4, 0.0, 0.0)),
        Segment(xyz=(0.0, 0.3, 0.0)),
        Segment('fixed', xyz=(0.4, 0.0, 0.0)),
    ),
    parents=(0, 1, 2, 1, 4),
    tips=(3, 5),
)


def answers(count: int) -> str:
    """Solve `count` problems of two arms and a tree; return the answers to the last bit."""
    rng, found = np.random.default_rng(5), []
    for robot in (load_urdf(SIX_AXIS), load_urdf(PLANAR), load_urdf(example_arm('seven_axis'))):
        chain = robot.chain()
        for mode in ('pose', 'position'):
            solver = solver_for(chain, max_restarts=4, mode=mode)
            for k in range(count // 8):
                seed = chain.random_configuration(rng)
                T = chain.forward_kinematics(chain.random_configuration(rng))
                T[:3, 3] *= 3.0 if k % 10 == 9 else 1.0
                found.append(solver.solve(T, seed))
    tree = FORK.tree()
    solver = TreeSolver(tree, SolverOptions(max_restarts=2, budget=10.0))
    for _ in range(count // 4):
        T = tree.forward_kinematics(tree.random_configuration(rng))
        found.append(solver.solve(T, tree.random_configuration(rng)))
    return '\n'.join(f'{s.q.tobytes().hex()} {plain(s[1:])}' for s in found)


def plain(value: object) -> object:
    """Make numbers of Python out of those of numpy, which interpreted kernels may return."""
    if isinstance(value, tuple):
        return [plain(one) for one in value]
    return value.item() if isinstance(value, np.generic) else value


PRINT = 'import test_built as here; print({way}, here.digest({count}))'


def digest(count: int) -> str:
    return hashlib.sha256(answers(count).encode()).hexdigest()


@needs_built
@pytest.mark.parametrize(
    ('count', 'variables', 'compiled'),
    [
        (200, {'NUMBA_DISABLE_JIT': '1'}, False),
        pytest.param(10_000, {'FABRIK_ROS_KERNELS': 'numba'}, True, marks=pytest.mark.long),
    ],
    ids=['interpreted', 'jitted'],
)
def test_built_code_gives_the_same_answers_bit_for_bit(count, variables, compiled):
    if compiled:
        pytest.importorskip('numba')
    code = PRINT.format(way='(here._jit.IS_BUILT, here._jit.COMPILED)', count=count)
    assert run(code, **variables) == f'(False, {compiled}) {digest(count)}'


@pytest.mark.long
def test_who_has_to_wait_for_the_compiler_is_told_once_and_how_far_it_is(tmp_path):
    pytest.importorskip('numba')
    code = 'import test_built as here\nhere.answers(8)\nhere.answers(8)'
    paths = (ROOT, ROOT / 'test', Path(__file__).parent)
    environment = {
        **os.environ,
        'PYTHONPATH': os.pathsep.join(map(str, paths)),
        'FABRIK_ROS_KERNELS': 'numba',
        'NUMBA_CACHE_DIR': str(tmp_path),
    }
    told = subprocess.run(
        [sys.executable, '-c', code], env=environment, capture_output=True, text=True, check=True
    ).stderr.splitlines()
    assert told[0] == (
        'fabrik_ros: compiling the solver, which takes up to a minute '
        '(no built code, since FABRIK_ROS_KERNELS asks for numba)'
    )
    assert len([line for line in told if 'compiling the solver' in line]) == 1
    assert all(' kernels after ' in line for line in told[1:])
    assert len(told) > 1
