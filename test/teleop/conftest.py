"""What the tests of devices share."""

from pathlib import Path
import sys

import pytest

sys.path.insert(0, str(Path(__file__).parent))
pytest.register_assert_rewrite('devices')
