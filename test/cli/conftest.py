"""What the tests of the command share."""

from pathlib import Path
import sys

from domains import free_domain
import pytest

sys.path.insert(0, str(Path(__file__).parent))
pytest.register_assert_rewrite('process', 'processes')

DOMAINS = range(80, 94)


@pytest.fixture(scope='session')
def six_axis(tmp_path_factory) -> Path:
    """URDF file of the bundled six-axis arm."""
    pytest.importorskip('xacro')
    from fabrik_ros import example_arm, load_urdf

    path = tmp_path_factory.mktemp('urdf') / 'six_axis.urdf'
    path.write_text(load_urdf(example_arm('six_axis')).source)
    return path


def _network():
    """Find a ROS domain of one's own: variables for a process."""
    with free_domain(DOMAINS) as number:
        yield {'ROS_DOMAIN_ID': str(number), 'ROS_AUTOMATIC_DISCOVERY_RANGE': 'LOCALHOST'}


network = pytest.fixture(_network)
shared_network = pytest.fixture(_network, scope='module')


@pytest.fixture
def rig(six_axis, tmp_path, network):
    """Node and arm for one test."""
    pytest.importorskip('rclpy', reason='ROS 2 is not installed')
    from processes import Rig

    rig = Rig(six_axis, tmp_path, network)
    yield rig
    rig.end()


@pytest.fixture(scope='module')
def ready_rig(six_axis, tmp_path_factory, shared_network):
    """Start node and arm, for tests that leave them as they are."""
    pytest.importorskip('rclpy', reason='ROS 2 is not installed')
    from processes import Rig

    rig = Rig(six_axis, tmp_path_factory.mktemp('rig'), shared_network)
    rig.start_node()
    rig.start_arm()
    yield rig
    rig.end()
