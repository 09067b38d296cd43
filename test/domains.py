"""ROS domains in which tests do not hear each other."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
import fcntl
from pathlib import Path
import tempfile

import pytest


@contextmanager
def free_domain(numbers: Iterable[int]) -> Iterator[int]:
    """Hold the first of some domains that no other tests on this machine are in."""
    for number in numbers:
        with open(Path(tempfile.gettempdir(), f'fabrik_ros_domain_{number}'), 'w') as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                continue  # taken
            yield number
            return
    pytest.fail('no ROS domain is free')
