"""The line in which the demo says how it is going, in a real terminal and in a file."""

import fcntl
import os
from pathlib import Path
import pty
import struct
import subprocess
import sys
import termios

import pytest

DEMO = Path(__file__).resolve().parents[2] / 'demo'
SHOW_FOR_A_SECOND = f"""
import itertools, sys
sys.path.insert(0, {str(DEMO)!r})
from terminal_line import TerminalLine
ticks = itertools.count()
line = TerminalLine(clock=lambda: next(ticks) / 1024)
for _ in range(1024):
    line.show('x' * 200)
"""


def written_to_terminal(columns):
    """Get what the program writes to a terminal of so many columns."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack('HHHH', 24, columns, 0, 0))
    environment = {name: value for name, value in os.environ.items() if name != 'COLUMNS'}
    with subprocess.Popen(
        [sys.executable, '-c', SHOW_FOR_A_SECOND], stdout=slave, stderr=slave, env=environment
    ) as process:
        os.close(slave)
        written = b''.join(iter(lambda: read_from(master), b''))
    os.close(master)
    assert process.returncode == 0, written
    return written.decode()


def read_from(master):
    try:
        return os.read(master, 65536)
    except OSError:  # Linux: the program has ended
        return b''


@pytest.mark.parametrize('columns', [20, 80, 132])
def test_line_is_redrawn_ten_times_a_second_within_the_terminal(columns):
    before, *drawn = written_to_terminal(columns).split('\r')
    assert before == ''
    assert {len(line) for line in drawn} == {columns - 1}
    assert '\n' not in ''.join(drawn)
    assert len(drawn) == 10


def test_file_gets_a_line_now_and_then():
    ended = subprocess.run(
        [sys.executable, '-c', SHOW_FOR_A_SECOND], capture_output=True, text=True, check=True
    )
    assert ended.stdout == 'x' * 200 + '\n'
