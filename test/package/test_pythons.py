"""The sources are Python of every version from the oldest to the newest that is supported."""

import os
from pathlib import Path
import shutil
import subprocess

import pytest

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ('fabrik_ros', 'build_kernels', 'launch', 'scripts', 'demo', 'examples', 'test')
VERSIONS = ('3.10', '3.11', '3.12', '3.13', '3.14')


@pytest.mark.parametrize('version', VERSIONS)
def test_sources_compile_without_a_warning(version, tmp_path):
    python = shutil.which(f'python{version}')
    works = python and subprocess.run([python, '-c', ''], capture_output=True).returncode == 0
    if not works:
        pytest.skip(f'python{version} is not installed here')
    folders = [ROOT / name for name in FOLDERS]
    command = [python, '-W', 'error', '-m', 'compileall', '-q', *folders, ROOT / 'setup.py']
    environment = os.environ | {'PYTHONPYCACHEPREFIX': str(tmp_path)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert list(tmp_path.rglob('chain_solver*.pyc'))
