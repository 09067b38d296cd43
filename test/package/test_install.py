"""What a user gets: the trees that pip and colcon install, not the checkout."""

import importlib.util
import os
from pathlib import Path
import shutil
import subprocess
import sys
import venv

from helpers import SIX_AXIS
import pytest

ROOT = Path(__file__).resolve().parents[2]
EXECUTABLES = (
    'fabrik_ros',
    'fabrik_node',
    'simulated_arm',
    'physical_arm',
    'demo_targets',
    'drag_target',
    'teleop',
)
CACHE = '__pycache__'
MARKER = 'share/ament_index/resource_index/packages/fabrik_ros'

with_setuptools = pytest.mark.skipif(
    importlib.util.find_spec('setuptools') is None or importlib.util.find_spec('wheel') is None,
    reason='building a wheel offline needs setuptools and wheel here',
)
with_colcon = pytest.mark.skipif(
    shutil.which('colcon') is None and importlib.util.find_spec('colcon_ros') is None,
    reason='needs colcon: pip install colcon-common-extensions',
)


def files_below(folder: Path) -> list[Path]:
    """List the files in a folder, but for what Python and numba keep beside them."""
    return [path for path in folder.rglob('*') if path.is_file() and CACHE not in path.parts]


def share_files() -> list[str]:
    """List what the checkout has for share/fabrik_ros."""
    wanted = [path for top in ('launch', 'config', 'urdf') for path in files_below(ROOT / top)]
    return ['package.xml', *(str(path.relative_to(ROOT)) for path in wanted)]


def assert_installed_below(prefix: Path) -> None:
    """Check marker, share files and executables, all where ROS looks for them."""
    assert (prefix / MARKER).is_file()
    for name in share_files():
        assert (prefix / 'share/fabrik_ros' / name).read_bytes() == (ROOT / name).read_bytes()
    for name in EXECUTABLES:
        assert os.access(prefix / 'lib/fabrik_ros' / name, os.X_OK)


def assert_package_complete(prefix: Path) -> None:
    """Check that every file of the Python package is there: modules, type marker, data."""
    package = next(prefix.glob('lib/python3*/site-packages/fabrik_ros'))
    wanted = {path.relative_to(ROOT / 'fabrik_ros') for path in files_below(ROOT / 'fabrik_ros')}
    assert not wanted - {path.relative_to(package) for path in files_below(package)}


def run(*command: str | Path, cwd: Path | None = None, **variables: str) -> str:
    """Run a command to its end and return what it printed; fail with that if it fails."""
    done = subprocess.run(
        command,
        cwd=cwd,
        env={**os.environ, **variables},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


@pytest.fixture(scope='module')
def source(tmp_path_factory) -> Path:
    """Copy the checkout, since builds write beside the sources."""
    copy = tmp_path_factory.mktemp('source') / 'fabrik_ros'
    left_out = shutil.ignore_patterns('.*', CACHE, 'build', 'install', 'log', '*.egg-info')
    shutil.copytree(ROOT, copy, ignore=left_out)
    return copy


@pytest.fixture(scope='module')
def pip_prefix(source, tmp_path_factory) -> Path:
    """Install a wheel into a fresh environment, without its dependencies and offline."""
    folder = tmp_path_factory.mktemp('pip')
    build = ('--no-deps', '--no-build-isolation', '--wheel-dir', folder)
    run(sys.executable, '-m', 'pip', 'wheel', *build, source)
    venv.create(folder / 'venv', with_pip=True, symlinks=True)
    wheel = next(folder.glob('*.whl'))
    install = ('install', '--no-deps', '--no-index', wheel)
    run(folder / 'venv/bin/python', '-m', 'pip', *install)
    return folder / 'venv'


@with_setuptools
def test_pip_installs_everything_where_ros_looks(pip_prefix):
    assert_installed_below(pip_prefix)
    assert_package_complete(pip_prefix)


@with_setuptools
@pytest.mark.parametrize('name', EXECUTABLES)
def test_pip_executable_runs_in_its_own_environment(pip_prefix, tmp_path, name):
    # Python runs sitecustomize before anything else: it reports and ends before the
    # executable imports packages that the environment does not have.
    report = 'import os, sys\nprint(sys.prefix, *sys.orig_argv[-2:], flush=True)\nos._exit(0)'
    (tmp_path / 'sitecustomize.py').write_text(report)
    executable = pip_prefix / 'lib/fabrik_ros' / name
    prefix, script, argument = run(executable, '--ros-args', PYTHONPATH=str(tmp_path)).split()
    assert Path(prefix) == pip_prefix
    assert Path(script).resolve() == (pip_prefix / 'bin' / name).resolve()
    assert argument == '--ros-args'


@with_setuptools
def test_pip_uninstall_leaves_nothing_behind(pip_prefix, tmp_path):
    shutil.copytree(pip_prefix, tmp_path / 'venv', symlinks=True)
    python = tmp_path / 'venv/bin/python'
    run(python, '-m', 'pip', 'uninstall', '--yes', 'fabrik_ros')
    assert list((tmp_path / 'venv').rglob('*fabrik_*')) == []


SOLVE = """
import sys, fabrik_ros
chain = fabrik_ros.load_urdf(sys.argv[1]).chain()
chain.forward_kinematics(chain.mid_configuration())
print(fabrik_ros.__file__, 'numba' in sys.modules)
"""


@with_setuptools
@pytest.mark.skipif(importlib.util.find_spec('numba') is None, reason='numba compiles, and caches')
def test_nothing_can_be_imported_after_the_package_was_used_and_uninstalled(pip_prefix, tmp_path):
    shutil.copytree(pip_prefix, tmp_path / 'venv', symlinks=True)
    python = tmp_path / 'venv/bin/python'
    packages = next(tmp_path.glob('venv/lib/python3*/site-packages'))
    for name in ('numpy', 'numba', 'llvmlite'):
        folder = Path(importlib.util.find_spec(name).origin).parent
        for found in (folder, folder.with_name(f'{name}.libs')):
            if found.exists():
                (packages / found.name).symlink_to(found)
    (tmp_path / 'arm.urdf').write_text(SIX_AXIS)
    user = {
        'HOME': str(tmp_path),
        'XDG_CACHE_HOME': '',
        'NUMBA_CACHE_DIR': '',
        'FABRIK_ROS_KERNELS': 'numba',
        'PYTHONPATH': '',
        'PYTHONDONTWRITEBYTECODE': '',
    }
    used = run(python, '-c', SOLVE, tmp_path / 'arm.urdf', cwd=tmp_path, **user)
    assert used.splitlines()[-1] == f'{packages / "fabrik_ros/__init__.py"} True'
    assert list((tmp_path / '.cache/fabrik_ros').rglob('*.nbi'))
    run(python, '-m', 'pip', 'uninstall', '--yes', 'fabrik_ros', cwd=tmp_path, **user)
    missing = 'import importlib.util as u; print(u.find_spec("fabrik_ros"))'
    assert run(python, '-c', missing, cwd=tmp_path, **user) == 'None\n'
    assert list((tmp_path / 'venv').rglob('*fabrik_*')) == []


def colcon(*arguments: str, cwd: Path) -> str:
    """Run the colcon of this environment, or else the one on the path."""
    own = importlib.util.find_spec('colcon_ros') is not None
    command = (sys.executable, '-m', 'colcon') if own else ('colcon',)
    return run(*command, *arguments, cwd=cwd)


@pytest.fixture
def workspace(source, tmp_path) -> Path:
    (tmp_path / 'src').mkdir()
    (tmp_path / 'src/fabrik_ros').symlink_to(source)
    return tmp_path


@with_colcon
def test_colcon_takes_the_package_for_ament_python(workspace):
    assert colcon('list', cwd=workspace).split() == [
        'fabrik_ros',
        'src/fabrik_ros',
        '(ros.ament_python)',
    ]


def assert_scripts_need_no_relay(prefix: Path) -> None:
    """Check that the executables are Python, not relays to a bin/ that colcon does not make."""
    for name in EXECUTABLES:
        assert 'python' in (prefix / 'lib/fabrik_ros' / name).read_text().splitlines()[0]


@with_colcon
def test_colcon_installs_everything_where_ros_looks(workspace):
    colcon('build', cwd=workspace)
    prefix = workspace / 'install/fabrik_ros'
    assert_installed_below(prefix)
    assert_package_complete(prefix)
    assert_scripts_need_no_relay(prefix)


@with_colcon
@pytest.mark.long
def test_colcon_symlink_install_leads_to_the_checkout(workspace, source):
    colcon('build', '--symlink-install', cwd=workspace)
    prefix = workspace / 'install/fabrik_ros'
    assert_installed_below(prefix)
    assert_scripts_need_no_relay(prefix)
    for name in share_files():
        assert (prefix / 'share/fabrik_ros' / name).resolve() == source / name
