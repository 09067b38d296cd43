"""
Main program of `ChildProcesses`: runs a module until the parent closes the pipe or is gone.

Its first argument is the name of the module, the others are those of the module.

"""

import os
import runpy
import signal
import sys
import threading
import time

STANDARD_INPUT = 0
"""Descriptor of the standard input."""
PATIENCE = 5.0
"""Time in which the module has to end after it was interrupted [s]."""
INTERRUPTED = 130
"""Exit code after an interrupt."""


def main() -> None:
    """Run the module."""
    threading.Thread(target=_end_with_parent, daemon=True).start()
    del sys.argv[0]
    try:
        runpy.run_module(sys.argv[0], run_name='__main__', alter_sys=True)
    except KeyboardInterrupt:
        raise SystemExit(INTERRUPTED) from None


def _end_with_parent() -> None:
    """Interrupt the module when the pipe from the parent ends, and end it if that is no use."""
    while os.read(STANDARD_INPUT, 1):
        pass
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(PATIENCE)
    os._exit(INTERRUPTED)


if __name__ == '__main__':
    main()
