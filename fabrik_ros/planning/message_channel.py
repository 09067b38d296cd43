"""Messages between two processes that neither of them ever waits for."""

import pickle
import socket
from typing import Any

LENGTH = 8
"""Size of the number at the beginning of a message: how many bytes follow [bytes]."""
AT_ONCE = 1 << 16
"""Bytes that are read at a time [1]."""


class MessageChannel:
    """
    Sends and receives objects by pickle, over one end of a pair of sockets.

    What the other side does not read yet waits here, and goes out with later calls.

    Parameters
    ----------
    end : socket.socket
        The end; it is closed with the channel.

    """

    def __init__(self, end: socket.socket) -> None:
        self._end = end
        end.setblocking(False)
        self._outgoing, self._incoming = bytearray(), bytearray()

    def fileno(self) -> int:
        """Return the file descriptor, to wait for messages with."""
        return self._end.fileno()

    @property
    def has_more(self) -> bool:
        """Whether bytes were read that `receive` has not returned; `fileno` does not show them."""
        return bool(self._incoming)

    def send(self, message: object) -> None:
        """Send an object; BrokenPipeError or ConnectionError if the other side is gone."""
        content = pickle.dumps(message, pickle.HIGHEST_PROTOCOL)
        self._outgoing += len(content).to_bytes(LENGTH, 'big') + content
        self.flush()

    def flush(self) -> bool:
        """Send what is waiting; return whether nothing waits any more."""
        while self._outgoing:
            try:
                sent = self._end.send(self._outgoing)
            except BlockingIOError:
                return False
            del self._outgoing[:sent]
        return True

    def receive(self) -> Any:
        """
        Return the next message, or None where none has come whole.

        Raises
        ------
        EOFError
            If the other side is gone, and has left no message.

        """
        is_over = self._read()
        end = LENGTH + int.from_bytes(self._incoming[:LENGTH], 'big')
        if len(self._incoming) >= max(end, LENGTH + 1):
            content = bytes(self._incoming[LENGTH:end])
            del self._incoming[:end]
            return pickle.loads(content)
        if is_over:
            raise EOFError('the other process is gone')
        return None

    def close(self) -> None:
        """Close the socket."""
        self._end.close()

    def _read(self) -> bool:
        """Take what has come; return whether no more will."""
        while True:
            try:
                content = self._end.recv(AT_ONCE)
            except BlockingIOError:
                return False
            except ConnectionError:
                return True
            if not content:
                return True
            self._incoming += content
