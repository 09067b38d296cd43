"""Settings of the test session."""

import hashlib
import os
from pathlib import Path
import sys

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
    hypothesis.settings.register_profile(
        'quick',
        deadline=None,
        max_examples=100,
        suppress_health_check=quiet,
        derandomize=True,  # the same verdict on the same code; 'thorough' looks for new examples
    )
    hypothesis.settings.register_profile(
        'thorough', deadline=None, max_examples=3000, suppress_health_check=quiet
    )
    hypothesis.settings.load_profile(os.environ.get('HYPOTHESIS_PROFILE', 'quick'))
