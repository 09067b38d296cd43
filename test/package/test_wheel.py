"""Wheels: with built kernels where they can be built, and in any case complete and honest."""

import importlib.util
import os
from pathlib import Path
import shutil
import subprocess
import sys
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
    done = subprocess.run(
        [sys.executable, '-m', 'pip', 'wheel', '--verbose', '--no-deps', '--no-build-isolation',
         '--wheel-dir', source.parent, source],
        env={**os.environ, **variables}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout
    return next(source.parent.glob('*.whl')), done.stdout


@needs_built
def test_a_wheel_with_built_kernels_is_for_one_platform_and_all_pythons(source):
    wheel, said = make_wheel(source)
    assert '-cp310-abi3-linux_' in wheel.name
    assert BUILT in zipfile.ZipFile(wheel).namelist()
    assert 'without built code' not in said
    assert 'compiling the kernels' not in said, 'it was built before'


@pytest.mark.parametrize(
    ('variables', 'reason'),
    [
        ({'FABRIK_ROS_PURE': '1'}, 'FABRIK_ROS_PURE is set'),
        ({'CC': 'no-such-compiler'}, 'there is no C compiler: no-such-compiler'),
        ({'PYTHONPATH': 'without_numba'}, 'numba is not installed'),
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


REQUIREMENTS = 'import sys, platform; {} import _backend; print(_backend.numba_if_needed())'
NUMBA = "['numba>=0.61', 'numpy']"


@pytest.mark.skipif(sys.platform != 'linux', reason='kernels are built on Linux')
@pytest.mark.parametrize(
    ('machine', 'variables', 'wanted'),
    [
        ('platform.libc_ver = lambda: ("glibc", "2.36");', {}, NUMBA),
        ('platform.libc_ver = lambda: ("glibc", "2.36");', {'FABRIK_ROS_PURE': '1'}, '[]'),
        ('platform.libc_ver = lambda: ("", "");', {}, '[]'),
        ('platform.machine = lambda: "riscv64";', {}, '[]'),
        ('platform.python_implementation = lambda: "PyPy";', {}, '[]'),
        ('sys.version_info = (3, 15);', {}, '[]'),
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


@needs_built
@pytest.mark.long
def test_a_wheel_gives_its_first_answers_in_two_seconds_where_nothing_can_be_written(source):
    wheel, _ = make_wheel(source)
    folder = source.parent / 'environment'
    venv.create(folder, with_pip=True, symlinks=True)
    python = folder / 'bin/python'
    install = [python, '-m', 'pip', 'install', '--quiet', '--no-deps', '--no-index', wheel]
    subprocess.run(install, check=True)
    packages = next(folder.glob('lib/python3*/site-packages'))
    numpy = Path(np.__file__).parent
    for name in ('numpy', 'numpy.libs'):
        if (numpy.parent / name).exists():
            (packages / name).symlink_to(numpy.parent / name)
    subprocess.run(['chmod', '-R', 'a-w', folder], check=True)
    arm = source.parent / 'six_axis.urdf'
    arm.write_text(SIX_AXIS)
    try:
        done = subprocess.run(
            [python, '-c', FIRST_ANSWERS, arm], cwd='/', env={'HOME': '/nonexistent'},
            capture_output=True, text=True, check=False,
        )  # fmt: skip
    finally:
        subprocess.run(['chmod', '-R', 'u+w', folder], check=True)
    assert done.returncode == 0, done.stderr
    assert float(done.stdout) < 2.0
