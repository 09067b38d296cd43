"""The browser view of the demo's node: a process of its own, without which the demo goes on."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from typing import IO
import webbrowser

HOST, USUAL_PORT = '127.0.0.1', 8080
NICENESS = 10
"""The node comes first, where processor time is short."""
END_TIME = 5.0
"""How long the process may take to end [s]."""


class Page:
    """
    Shows a node.

    Parameters
    ----------
    node_name : str
        The node, with its namespace.
    said : file
        Where the process writes what goes wrong.

    """

    def __init__(self, node_name: str, said: IO[str]) -> None:
        port = free_port()
        self.address = f'http://{HOST}:{port}'
        self._process = subprocess.Popen(
            [
                sys.executable, '-m', 'fabrik_ros', 'view', '--node', node_name,
                '--host', HOST, '--port', str(port),
            ],
            stdout=subprocess.DEVNULL,
            stderr=said,
            start_new_session=True,
        )  # fmt: skip
        with suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, self._process.pid, NICENESS)
        self._port, self._said, self._is_open, self._fault = port, said, False, ''

    def look(self) -> str:
        """Open a browser once the page is there; return why there is no page any more, once."""
        if self._fault:
            return ''
        if self._process.poll() is not None:
            self._fault = self._last_words()
            return self._fault
        if not self._is_open and self._answers():
            self._is_open = True
            if has_display():
                threading.Thread(target=self._browse, daemon=True).start()
        return ''

    def close(self) -> None:
        """End the page."""
        self._process.send_signal(signal.SIGINT)
        try:
            self._process.wait(END_TIME)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _answers(self) -> bool:
        with socket.socket() as connection:
            connection.settimeout(0.05)
            return connection.connect_ex((HOST, self._port)) == 0

    def _browse(self) -> None:
        with suppress(Exception):  # whatever a browser does: its address was printed
            webbrowser.open(self.address)

    def _last_words(self) -> str:
        self._said.seek(0)
        lines = self._said.read().split('\n')
        return next(filter(None, reversed(lines)), f'code {self._process.returncode}')


@contextmanager
def shown(node_name: str) -> Iterator[Page | None]:
    """Show a node while something runs; None, and a line that says why, where that fails."""
    with tempfile.TemporaryFile('w+') as said:
        page = begun(node_name, said)
        try:
            yield page
        finally:
            if page is not None:
                page.close()


def begun(node_name: str, said: IO[str]) -> Page | None:
    """Begin to show a node, and print where; None where that fails."""
    try:
        page = Page(node_name, said)
    except OSError as error:
        print(f'no view: {error}', flush=True)
        return None
    print(f'view: {page.address}', flush=True)
    return page


def free_port() -> int:
    """Find a port on which nobody listens, the usual one if it is free."""
    for port in (USUAL_PORT, 0):
        with suppress(OSError), socket.create_server((HOST, port)) as server:
            return int(server.getsockname()[1])
    raise OSError(f'no port of {HOST} is free')


def has_display() -> bool:
    """Whether a window can open; without one a browser in the terminal might."""
    if sys.platform.startswith('linux'):
        return any(os.environ.get(name) for name in ('DISPLAY', 'WAYLAND_DISPLAY'))
    return True
