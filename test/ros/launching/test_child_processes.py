"""Children end with their parent, however it ends."""

import os
from pathlib import Path
import signal
import subprocess
import sys
import time

from fabrik_ros.ros.launching.child_processes import ChildProcesses
import pytest

PATIENCE = 30.0
"""How long the slowest machine may take to start or end an interpreter [s]."""
MODULE = """
import os, signal, sys, time
if sys.argv[2:] == ['deaf']:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
with open(sys.argv[1], 'w') as file:
    file.write(str(os.getpid()))
try:
    time.sleep(1000)
except KeyboardInterrupt:
    with open(sys.argv[1], 'a') as file:
        file.write(' was interrupted')
    raise
"""
PARENT = """
import sys, time
from fabrik_ros.ros.launching.child_processes import ChildProcesses
children = ChildProcesses()
children.start('a sleeper', 'sleeper', sys.argv[1])
time.sleep(1000)
"""


@pytest.fixture
def said(tmp_path, monkeypatch) -> Path:
    """Return the file in which the child says who it is and how it ends."""
    (tmp_path / 'sleeper.py').write_text(MODULE)
    root = Path(__file__).parents[3]
    path = os.pathsep.join([str(root), str(tmp_path), os.environ.get('PYTHONPATH', '')])
    monkeypatch.setenv('PYTHONPATH', path)
    return tmp_path / 'said'


def wait_until(holds) -> None:
    end = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.02)


def pid_in(said: Path) -> int:
    wait_until(lambda: said.exists() and said.read_text())
    return int(said.read_text())


def is_alive(pid: int) -> bool:
    try:
        state = Path(f'/proc/{pid}/stat').read_text().rpartition(')')[2].split()[0]
    except FileNotFoundError:
        return False
    return state != 'Z'


def test_closing_interrupts_a_child_and_waits_for_it(said):
    children = ChildProcesses()
    children.start('a sleeper', 'sleeper', str(said))
    pid = pid_in(said)
    assert children.fault() == ''
    children.close()
    assert not is_alive(pid)
    assert said.read_text() == f'{pid} was interrupted'
    assert children.fault() == ''


@pytest.mark.parametrize('number', [signal.SIGTERM, signal.SIGKILL])
def test_child_is_interrupted_when_its_parent_is_gone(said, number):
    parent = subprocess.Popen([sys.executable, '-c', PARENT, str(said)])
    pid = pid_in(said)
    parent.send_signal(number)
    parent.wait()
    wait_until(lambda: not is_alive(pid))
    assert said.read_text() == f'{pid} was interrupted'


@pytest.mark.long
def test_deaf_child_ends_nevertheless(said):
    children = ChildProcesses()
    children.start('a sleeper', 'sleeper', str(said), 'deaf')
    pid = pid_in(said)
    children.close()
    assert not is_alive(pid)


def test_child_that_ended_is_named_with_how_it_did(said):
    children = ChildProcesses()
    children.start('a sleeper', 'sleeper', str(said))
    os.kill(pid_in(said), signal.SIGKILL)
    wait_until(children.fault)
    assert children.fault() == 'a sleeper ended by signal 9'
    children.close()
    children.start('nobody', 'no_such_module')
    wait_until(children.fault)
    assert children.fault() == 'nobody ended with exit code 1'
    children.close()
