"""What the tests of the command share."""

import fcntl
from pathlib import Path
import sys
import tempfile

import pytest

sys.path.insert(0, str(Path(__file__).parent))
pytest.register_assert_rewrite('process')

DOMAINS = range(86, 100)


@pytest.fixture(scope='session')
def six_axis(tmp_path_factory) -> Path:
    """URDF file of the bundled six-axis arm."""
    pytest.importorskip('xacro')
    from fabrik_ros import example_arm, load_urdf

    path = tmp_path_factory.mktemp('urdf') / 'six_axis.urdf'
    path.write_text(load_urdf(example_arm('six_axis')).source)
    return path


def _network():
    """Find a ROS domain that no other tests on this machine are in: variables for a process."""
    for number in DOMAINS:
        with open(Path(tempfile.gettempdir(), f'fabrik_ros_domain_{number}'), 'w') as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                continue  # taken
            yield {'ROS_DOMAIN_ID': str(number), 'ROS_AUTOMATIC_DISCOVERY_RANGE': 'LOCALHOST'}
            return
    pytest.fail('no ROS domain is free')


network = pytest.fixture(_network)
shared_network = pytest.fixture(_network, scope='module')
