"""Settings of the test session."""

import hashlib
import os
from pathlib import Path
import sys
from typing import Any

import pytest

TESTS = Path(__file__).resolve().parent
KERNELS = TESTS.parent / 'fabrik_ros' / 'kernels'

# numba's cache does not notice an edited callee in another file, nor that bounds are checked.
# So each state of the kernels has its own folder. numba reads the variable when imported: this
# comes before any test imports the package.
state = hashlib.sha256(os.environ.get('NUMBA_BOUNDSCHECK', '').encode())
for module in sorted(KERNELS.glob('*.py')):
    state.update(module.read_bytes())
cache = TESTS.parent / '.pytest_cache' / 'numba' / state.hexdigest()[:16]
os.environ['NUMBA_CACHE_DIR'] = str(cache)

# The parts of meshes are kept between runs, for all workers, and apart from those of the user.
os.environ['XDG_CACHE_HOME'] = str(TESTS.parent / '.pytest_cache' / 'xdg')

# What a killed process leaves in memory that it shares with others lets them die, too (Fast DDS).
os.environ.setdefault('FASTDDS_BUILTIN_TRANSPORTS', 'UDPv4')
profile = TESTS.parent / 'config' / 'fast_dds.xml'
os.environ.setdefault('FASTDDS_DEFAULT_PROFILES_FILE', str(profile))

# Tests import what they share as `helpers`; `test` itself is a package of Python's.
sys.path.insert(0, str(TESTS))
pytest.register_assert_rewrite('helpers')

try:
    import hypothesis
except ImportError:
    pass  # the tests that need it say so
else:
    # Compiling takes seconds, so the first example of a test may be slow: no deadline.
    quiet = [hypothesis.HealthCheck.too_slow]
    for profile, count in (('quick', 25), ('many', 100)):  # see `examples` of the helpers, too
        hypothesis.settings.register_profile(
            profile,
            deadline=None,
            max_examples=count,
            suppress_health_check=quiet,
            derandomize=True,  # the same verdict on the same code; 'thorough' looks for new ones
        )
    hypothesis.settings.register_profile(
        'thorough', deadline=None, max_examples=3000, suppress_health_check=quiet
    )
    hypothesis.settings.load_profile(os.environ.get('HYPOTHESIS_PROFILE', 'quick'))


# -- Calls that built code leaves to Python take two hundred times as long, in silence.

fallbacks_of_workers: dict[str, int] = {}


def fallbacks() -> dict[str, int]:
    """Return the calls of this process that the package made and Python had to answer."""
    module = sys.modules.get('fabrik_ros.kernels._fallbacks')
    return dict(module.fallbacks) if module else {}


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fail if `kernels/entries.py` lacks a line; each worker of xdist tells the session."""
    if hasattr(session.config, 'workeroutput'):
        session.config.workeroutput['fallbacks'] = fallbacks()
    elif (fallbacks() or fallbacks_of_workers) and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Take note of what a worker told."""
    fallbacks_of_workers.update(getattr(node, 'workeroutput', {}).get('fallbacks', {}))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the lines that are missing."""
    missing = fallbacks() | fallbacks_of_workers
    if missing:
        terminalreporter.section('interpreted: kernels/entries.py lacks these lines', red=True)
        for line in sorted(missing):
            terminalreporter.line(line)
