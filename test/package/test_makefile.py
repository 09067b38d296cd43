"""When `make` installs the package anew: two runs at once must not both write one environment."""

import os
from pathlib import Path
import shutil
import subprocess

import pytest

ROOT = Path(__file__).resolve().parents[2]

COPIED = ('fabrik_ros', 'build_kernels', 'launch', 'config', 'urdf', 'resource', 'scripts')

pytestmark = pytest.mark.skipif(shutil.which('make') is None, reason='needs make')


def make(checkout: Path, *arguments: str) -> str:
    """Run make with an interpreter that does nothing; return the commands it printed."""
    command = ['make', 'VENV=environment', 'PYTHON=true', *arguments]
    return subprocess.run(
        command,
        cwd=checkout,
        env={'PATH': os.environ['PATH']},
        capture_output=True,
        text=True,
        check=True,
    ).stdout


def installs(checkout: Path) -> bool:
    """Whether `make solver-test-bounds` would install the package."""
    return 'make_environment' in make(checkout, '--dry-run', 'solver-test-bounds')


def let_time_pass(checkout: Path) -> None:
    """Make all there older by a minute: files written in a row may have the same time."""
    for path in checkout.rglob('*'):
        changed = path.stat().st_mtime - 60
        os.utime(path, (changed, changed))


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """Copy what the Makefile looks at, with the environment of the tests made."""
    for name in COPIED:
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns('__pycache__'))
    for name in ('Makefile', 'package.xml', 'pyproject.toml', 'setup.cfg', 'setup.py'):
        shutil.copy(ROOT / name, tmp_path)
    (tmp_path / 'environment').mkdir()
    make(tmp_path, 'environment/with-test')
    let_time_pass(tmp_path)
    return tmp_path


def test_an_environment_just_made_has_the_package(checkout: Path):
    assert not installs(checkout)


def test_what_was_compiled_is_no_reason_to_install(checkout: Path):
    (checkout / 'fabrik_ros' / '__pycache__').mkdir()
    (checkout / 'fabrik_ros' / '__pycache__' / 'motion.pyc').touch()
    (checkout / 'fabrik_ros' / 'kernels' / '_built.abi3.so').touch()
    assert not installs(checkout)


@pytest.mark.parametrize('name', ['fabrik_ros/motion/choosing/motion.py', 'launch/new.launch.py'])
def test_an_edited_or_a_new_file_is_installed(checkout: Path, name: str):
    (checkout / name).write_text('')
    assert installs(checkout)


def test_the_package_is_installed_without_a_deleted_file(checkout: Path):
    (checkout / 'fabrik_ros' / 'motion' / 'choosing' / 'motion.py').unlink()
    assert installs(checkout)
    make(checkout, 'solver-test-bounds', 'PYTEST=true')
    assert not installs(checkout)


def test_a_deleted_file_that_comes_back_is_installed_again(checkout: Path):
    text = (checkout / 'fabrik_ros' / 'motion' / 'choosing' / 'motion.py').read_text()
    (checkout / 'fabrik_ros' / 'motion' / 'choosing' / 'motion.py').unlink()
    make(checkout, 'solver-test-bounds', 'PYTEST=true')
    let_time_pass(checkout)
    (checkout / 'fabrik_ros' / 'motion' / 'choosing' / 'motion.py').write_text(text)
    assert installs(checkout)
