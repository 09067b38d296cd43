"""A node and a simulated arm in processes of their own, and an `Arm` of this process for them."""

import itertools
import os
from pathlib import Path
import sys

from domains import free_domain
import pytest

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1] / 'cli')]
pytest.register_assert_rewrite('commanded', 'process', 'processes')

DOMAINS = range(94, 101)
PATIENT = 'state_timeout:=2.0'
"""For a machine that holds an arm up for longer than the node would wait by default."""
turns = itertools.count(os.getpid())
"""A node that was killed stays in its domain for 20 s: the next test is in another one."""


@pytest.fixture(scope='session')
def urdf(tmp_path_factory) -> Path:
    """URDF file of the bundled six-axis arm."""
    pytest.importorskip('xacro')
    from fabrik_ros import example_arm, load_urdf

    path = tmp_path_factory.mktemp('urdf') / 'six_axis.urdf'
    path.write_text(load_urdf(example_arm('six_axis')).source)
    return path


def _network():
    """Find a ROS domain of one's own, for this process and for those that it starts."""
    first = next(turns) % len(DOMAINS)
    numbers = [*DOMAINS[first:], *DOMAINS[:first]]
    with free_domain(numbers) as number, pytest.MonkeyPatch.context() as patch:
        own = {'ROS_DOMAIN_ID': str(number), 'ROS_AUTOMATIC_DISCOVERY_RANGE': 'LOCALHOST'}
        for name, value in own.items():
            patch.setenv(name, value)
        yield own


def _start(urdf, folder, network):
    """Make what starts node and arm, each in a process of its own."""
    from commanded import HOME, UPRIGHT
    from processes import Rig

    rigs = []
    home, upright = (f'[{", ".join(map(str, values))}]' for values in (HOME, UPRIGHT))
    given = (f'home_configuration:={home}', f'configurations.upright:={upright}')

    def start(*parameters: str, has_arm: bool = True) -> Rig:
        rig = Rig(urdf, folder, network)
        rigs.append(rig)
        rig.node = rig.start_node(*given, 'planning_time:=0.0', *parameters)
        rig.arm = rig.start_arm() if has_arm else None
        return rig

    yield start
    for rig in rigs:
        rig.end()


network = pytest.fixture(_network)
shared_network = pytest.fixture(_network, scope='module')


@pytest.fixture
def start(urdf, tmp_path, network):
    """Start what one test needs."""
    yield from _start(urdf, tmp_path, network)


@pytest.fixture(scope='module')
def rig(urdf, tmp_path_factory, shared_network):
    """Node and arm for tests that leave them as they are."""
    starting = _start(urdf, tmp_path_factory.mktemp('rig'), shared_network)
    yield next(starting)(PATIENT)
    next(starting, None)
