"""What the tests of the command share."""

from pathlib import Path
import sys

import pytest

sys.path.insert(0, str(Path(__file__).parent))
pytest.register_assert_rewrite('process')


@pytest.fixture(scope='session')
def six_axis(tmp_path_factory) -> Path:
    """URDF file of the bundled six-axis arm."""
    pytest.importorskip('xacro')
    from fabrik_ros import example_arm, load_urdf

    path = tmp_path_factory.mktemp('urdf') / 'six_axis.urdf'
    path.write_text(load_urdf(example_arm('six_axis')).source)
    return path
