"""
Wheels and source distributions: complete, honest, and made without a trace in the tree.

A wheel has built kernels where they can be built.
"""

import importlib.util
import os
from pathlib import Path
import shutil
import subprocess
import sys
import tarfile
import venv
import zipfile

from fabrik_ros.kernels._jit import IS_BUILT
from helpers import SIX_AXIS
import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
BUILT = 'fabrik_ros/kernels/_built.abi3.so'

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec('setuptools') is None or importlib.util.find_spec('wheel') is None,
    reason='building a wheel offline needs setuptools and wheel here',
)
needs_built = pytest.mark.skipif(not IS_BUILT, reason='needs kernels that are built here')


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """Copy the checkout, with the kernels that are built."""
    left_out = ('.*', '__pycache__', 'build', 'install', 'log', '*.egg-info', 'test')
    copy = tmp_path / 'fabrik_ros'
    shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns(*left_out))
    return copy


def make_wheel(source: Path, **variables: str) -> tuple[Path, str]:
    """Return a wheel, and what was said while it was made."""
    code, said = try_to_make_wheel(source, **variables)
    assert code == 0, said
    return next(source.parent.glob('*.whl')), said


def try_to_make_wheel(source: Path, **variables: str) -> tuple[int, str]:
    """Return with which code pip ends, and what it says."""
    done = subprocess.run(
        [sys.executable, '-m', 'pip', 'wheel', '--verbose', '--no-deps', '--no-build-isolation',
         '--wheel-dir', source.parent, source],
        env={**os.environ, **variables}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        text=True, check=False,
    )  # fmt: skip
    return done.returncode, done.stdout


@needs_built
def test_a_wheel_with_built_kernels_is_for_one_platform_and_all_pythons(source):
    before = tree(source)
    wheel, said = make_wheel(source)
    assert tree(source) == before, 'it is made without a trace in the tree'
    assert '-cp310-abi3-linux_' in wheel.name
    assert BUILT in zipfile.ZipFile(wheel).namelist()
    assert 'without built code' not in said
    assert 'compiling the kernels' not in said, 'it was built before'


@pytest.mark.parametrize(
    ('variables', 'reason'),
    [
        ({'FABRIK_ROS_PURE': '1'}, 'FABRIK_ROS_PURE is set'),
        pytest.param(
            {'CC': 'no-such-compiler'},
            'there is no C compiler: no-such-compiler',
            marks=pytest.mark.long,
        ),
        pytest.param(
            {'PYTHONPATH': 'without_numba'}, 'numba is not installed', marks=pytest.mark.long
        ),
    ],
    ids=['pure', 'no compiler', 'no numba'],
)
def test_a_wheel_without_them_is_for_all_machines_and_says_why(source, variables, reason):
    (source / BUILT).unlink(missing_ok=True)
    if 'PYTHONPATH' in variables:
        # None in sys.modules makes numba as good as missing; Python runs this file first.
        (source / 'sitecustomize.py').write_text("import sys; sys.modules['numba'] = None\n")
        variables = {'PYTHONPATH': str(source)}
    wheel, said = make_wheel(source, **variables)
    assert wheel.name.endswith('-py3-none-any.whl')
    assert BUILT not in zipfile.ZipFile(wheel).namelist()
    assert f'fabrik_ros: without built code of the kernels: {reason}\n' in said


def test_a_release_is_not_made_without_them(source):
    must = {'FABRIK_ROS_PURE': '1', 'FABRIK_ROS_MUST_BUILD': '1'}
    code, said = try_to_make_wheel(source, **must)
    assert code != 0
    assert 'the kernels have to be built: FABRIK_ROS_PURE is set' in said


# -- what a build leaves behind, and what it takes from an earlier one


def tree(source: Path) -> set[Path]:
    """List the files and folders, but for what Python keeps beside modules."""
    return {path for path in source.rglob('*') if '__pycache__' not in path.parts}


@needs_built
@pytest.mark.long
def test_what_an_earlier_build_left_does_not_get_into_a_wheel(source):
    for folder in ('build/lib', 'build/lib.linux-x86_64-cpython-311', 'build/bdist.linux-x86_64'):
        (source / folder / 'fabrik_ros').mkdir(parents=True)
        (source / folder / 'fabrik_ros/deleted.py').touch()
    (source / 'fabrik_ros.egg-info').mkdir()
    (source / 'fabrik_ros.egg-info/SOURCES.txt').write_text('fabrik_ros/deleted.py\n')
    wheel, _ = make_wheel(source)
    assert not [name for name in names_in(wheel) if 'deleted' in name]


def names_in(wheel: Path) -> list[str]:
    return zipfile.ZipFile(wheel).namelist()


SDIST = 'import sys; sys.path.insert(0, "build_kernels"); import _backend; ' \
    '_backend.build_sdist(sys.argv[1])'  # fmt: skip


def make_sdist(source: Path) -> Path:
    """Make a source distribution as pip and build ask for it."""
    command = [sys.executable, '-c', SDIST, source.parent]
    done = subprocess.run(command, cwd=source, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return next(source.parent.glob('*.tar.gz'))


def test_a_source_distribution_is_made_without_a_trace_in_the_tree(source):
    before = tree(source)
    make_sdist(source)
    assert tree(source) == before


@pytest.mark.long
def test_the_wheel_of_a_source_distribution_is_that_of_the_checkout(source):
    own, _ = make_wheel(source, FABRIK_ROS_PURE='1')
    sdist = make_sdist(source)
    unpacked = source.parent / 'unpacked'
    with tarfile.open(sdist) as archive:
        archive.extractall(unpacked, filter='data')
    from_sdist, _ = make_wheel(next(unpacked.iterdir()), FABRIK_ROS_PURE='1')
    assert sorted(names_in(from_sdist)) == sorted(names_in(own))


REQUIREMENTS = 'import sys, platform, _backend; {} print(_backend.numba_if_needed())'
NUMBA = "['numba>=0.61', 'numpy']"


@pytest.mark.skipif(sys.platform != 'linux', reason='kernels are built on Linux')
@pytest.mark.parametrize(
    ('machine', 'variables', 'wanted'),
    [
        ('platform.libc_ver = lambda: ("glibc", "2.36");', {}, NUMBA),
        ('platform.libc_ver = lambda: ("glibc", "2.36");', {'FABRIK_ROS_PURE': '1'}, '[]'),
        ('platform.libc_ver = lambda: ("", "");', {}, '[]'),
        pytest.param('platform.machine = lambda: "riscv64";', {}, '[]', marks=pytest.mark.long),
        pytest.param(
            'platform.python_implementation = lambda: "PyPy";', {}, '[]', marks=pytest.mark.long
        ),
        pytest.param('sys.version_info = (3, 15);', {}, '[]', marks=pytest.mark.long),
        ('sys.platform = "darwin";', {}, '[]'),
    ],
    ids=['here', 'pure', 'musl', 'riscv', 'pypy', 'newer', 'mac'],
)
def test_pip_is_asked_for_numba_only_where_it_has_wheels(source, machine, variables, wanted):
    (source / BUILT).unlink(missing_ok=True)
    done = subprocess.run(
        [sys.executable, '-c', REQUIREMENTS.format(machine)], cwd=source / 'build_kernels',
        env={**os.environ, **variables}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.stdout.strip() == wanted, done.stderr


@needs_built
def test_pip_is_not_asked_for_numba_where_the_kernels_are_built(source):
    code = REQUIREMENTS.format('')
    folder = source / 'build_kernels'
    done = subprocess.run([sys.executable, '-c', code], cwd=folder, capture_output=True, text=True)
    assert done.stdout.strip() == '[]', done.stderr


FIRST_ANSWERS = """
import sys, time
import fabrik_ros
from fabrik_ros.kernels import _fallbacks, _jit
robot = fabrik_ros.load_urdf(sys.argv[1])
chain = robot.chain()
solver = fabrik_ros.FabrikSolver(chain)
T = chain.forward_kinematics(chain.mid_configuration() + 0.1)
assert solver.solve(T).converged
assert solver.solve_batch([T, T]).converged.all()
tree = robot.tree(chain.base_link, [chain.tip_link])
assert fabrik_ros.TreeSolver(tree).solve(T[None]).converged
assert _jit.IS_BUILT and not _fallbacks.fallbacks, _fallbacks.fallbacks
assert 'numba' not in sys.modules
print(time.process_time())
"""


def environment_with(package: Path, folder: Path) -> Path:
    """Make an environment with a package and the numpy of this one; return its Python."""
    venv.create(folder, with_pip=True, symlinks=True)
    python = folder / 'bin/python'
    install = [python, '-m', 'pip', 'install', '--quiet', '--no-deps', '--no-index']
    subprocess.run([*install, package], check=True)
    packages = next(folder.glob('lib/python3*/site-packages'))
    numpy = Path(np.__file__).parent
    for name in ('numpy', 'numpy.libs'):
        if (numpy.parent / name).exists():
            (packages / name).symlink_to(numpy.parent / name)
    return python


def first_answers(python: Path, folder: Path) -> subprocess.CompletedProcess:
    """Solve where nothing but the environment is known."""
    arm = folder / 'six_axis.urdf'
    arm.write_text(SIX_AXIS)
    return subprocess.run(
        [python, '-c', FIRST_ANSWERS, arm], cwd='/', env={'HOME': '/nonexistent'},
        capture_output=True, text=True, check=False,
    )  # fmt: skip


@needs_built
@pytest.mark.long
def test_a_wheel_gives_its_first_answers_in_two_seconds_where_nothing_can_be_written(source):
    wheel, _ = make_wheel(source)
    folder = source.parent / 'environment'
    python = environment_with(wheel, folder)
    subprocess.run(['chmod', '-R', 'a-w', folder], check=True)
    try:
        done = first_answers(python, source.parent)
    finally:
        subprocess.run(['chmod', '-R', 'u+w', folder], check=True)
    assert done.returncode == 0, done.stderr
    assert float(done.stdout) < 2.0


@needs_built
@pytest.mark.long
def test_the_wheel_of_a_source_distribution_runs_in_a_clean_environment(source):
    unpacked = source.parent / 'unpacked'
    with tarfile.open(make_sdist(source)) as archive:
        archive.extractall(unpacked, filter='data')
    [folder] = unpacked.iterdir()
    # It has no built code, and compiling it takes minutes: that of these very sources.
    shutil.copy(ROOT / BUILT, folder / BUILT)
    wheel, said = make_wheel(folder)
    assert 'compiling the kernels' not in said
    python = environment_with(wheel, source.parent / 'environment')
    done = first_answers(python, source.parent)
    assert done.returncode == 0, done.stderr
    run = [python, '-m', 'fabrik_ros', 'info', source.parent / 'six_axis.urdf']
    printed = subprocess.run(run, cwd='/', env={}, capture_output=True, text=True, check=False)
    assert '6 joint values: j0, j1, j2' in printed.stdout, printed.stderr
