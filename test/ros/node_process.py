"""The node as a process of its own, as `ros2 run` starts it."""

from collections.abc import Mapping, Sequence
import os
from pathlib import Path
import signal
import subprocess
import sys
from typing import Any

from bench import PATIENCE

ROOT = Path(__file__).parents[2]


class NodeProcess:
    """
    The node as a process of its own.

    Parameters
    ----------
    domain_id : int
        Its ROS domain.
    folder : Path
        Where what it says is written down.
    parameters, names : mapping
        What it is started with, and other names for its topics and itself.
    program : sequence of str
        What Python runs instead of the node.

    """

    def __init__(
        self,
        domain_id: int,
        folder: Path,
        parameters: Mapping[str, Any],
        names: Mapping[str, str],
        program: Sequence[str] = ('-m', 'fabrik_ros.ros.main'),
    ) -> None:
        self._said = folder / 'said'
        self._checked = 0
        given = [word for name, v in parameters.items() for word in ('-p', f'{name}:={v}')]
        given += [word for name, other in names.items() for word in ('-r', f'{name}:={other}')]
        environment = os.environ | {
            'PYTHONPATH': os.pathsep.join([str(ROOT), os.environ.get('PYTHONPATH', '')]),
            'ROS_DOMAIN_ID': str(domain_id),
            'ROS_LOG_DIR': str(folder),
        }
        with open(self._said, 'w') as said:
            self._process = subprocess.Popen(
                [sys.executable, *program, *(['--ros-args', *given] if given else [])],
                env=environment,
                stdout=said,
                stderr=subprocess.STDOUT,
            )

    @property
    def is_alive(self) -> bool:
        return self._process.poll() is None

    @property
    def memory(self) -> int:
        """Memory that it occupies [bytes]."""
        pages = Path(f'/proc/{self._process.pid}/statm').read_text().split()[1]
        return int(pages) * os.sysconf('SC_PAGESIZE')

    def complaints(self) -> str:
        """Any traceback in what it said since this was asked last."""
        with open(self._said, errors='replace') as said:
            said.seek(self._checked)
            text = said.read()
        found = text.find('Traceback')
        self._checked += 0 if found >= 0 else max(0, len(text.encode()) - 100)
        return text[max(0, found - 1000) :] if found >= 0 else ''

    def last_words(self) -> str:
        return self._said.read_text(errors='replace')[-3000:]

    def tell(self, number: int) -> None:
        self._process.send_signal(number)

    def end(self, number: int = signal.SIGKILL) -> int:
        if self.is_alive:
            self._process.send_signal(number)
        return self._process.wait(PATIENCE)
