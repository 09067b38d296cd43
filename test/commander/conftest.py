"""A node and a simulated arm in processes of their own, and an `Arm` of this process for them."""

from pathlib import Path
import sys

from domains import free_domain
import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / 'cli'))
pytest.register_assert_rewrite('process', 'processes')

DOMAINS = range(94, 101)
HOME = (0.3, -1.1, 1.4, -1.7, -1.4, 0.2)
UPRIGHT = (0.2, -1.5, 1.2, -1.2, -1.3, 0.0)


@pytest.fixture(scope='module')
def network(request):
    """Find a ROS domain of one's own, for this process and for those that it starts."""
    with free_domain(DOMAINS) as number, pytest.MonkeyPatch.context() as patch:
        own = {'ROS_DOMAIN_ID': str(number), 'ROS_AUTOMATIC_DISCOVERY_RANGE': 'LOCALHOST'}
        for name, value in own.items():
            patch.setenv(name, value)
        yield own


@pytest.fixture(scope='module')
def urdf(tmp_path_factory) -> Path:
    """URDF file of the bundled six-axis arm."""
    pytest.importorskip('xacro')
    from fabrik_ros import example_arm, load_urdf

    path = tmp_path_factory.mktemp('urdf') / 'six_axis.urdf'
    path.write_text(load_urdf(example_arm('six_axis')).source)
    return path


@pytest.fixture(scope='module')
def make_rig(urdf, tmp_path_factory, network):
    """Start node and arm in processes of their own; the node in one that can be ended."""
    from processes import Rig

    rigs = []

    def make(*parameters: str, has_arm: bool = True) -> Rig:
        rigs.append(Rig(urdf, tmp_path_factory.mktemp('rig'), network))
        home, upright = (f'[{", ".join(map(str, values))}]' for values in (HOME, UPRIGHT))
        given = (f'home_configuration:={home}', f'configurations.upright:={upright}')
        rigs[-1].start_node(*given, 'planning_time:=0.0', *parameters)
        if has_arm:
            rigs[-1].start_arm()
        return rigs[-1]

    yield make
    for rig in rigs:
        rig.end()
