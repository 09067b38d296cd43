"""Benches: a node, what it needs around it, and a tester, in one executor."""

import os
from pathlib import Path
import sys
import zlib

from domains import free_domain
import pytest

HERE = Path(__file__).parent
# Tests share benches, arms and scenes.
sys.path[:0] = [str(HERE), *sorted(str(path) for path in HERE.iterdir() if path.is_dir())]
pytest.register_assert_rewrite('bench', 'hostile_scene', 'witness')

os.environ['ROS_AUTOMATIC_DISCOVERY_RANGE'] = 'LOCALHOST'
DOMAINS = range(40, 60)


@pytest.fixture(scope='module')
def domain_id(request):
    """Find a domain for this module that no other tests on this machine are in."""
    first = zlib.crc32(request.module.__name__.encode())
    numbers = (DOMAINS[(first + i) % len(DOMAINS)] for i in range(len(DOMAINS)))
    with free_domain(numbers) as number:
        yield number


@pytest.fixture(scope='session', autouse=True)
def alone():
    """Let nodes in this process start at once: nobody else in their domain has their name."""
    from fabrik_ros.ros.status import namesakes

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(namesakes, 'SETTLING_LOOKS', 2)
        yield


def _context(domain_id):
    import rclpy

    context = rclpy.Context()
    rclpy.init(context=context, domain_id=domain_id)
    yield context
    rclpy.try_shutdown(context=context)


def _bench(context):
    from bench import Bench

    bench = Bench(context)
    yield bench
    bench.close()


context = pytest.fixture(_context)
bench = pytest.fixture(_bench)
class_context = pytest.fixture(_context, scope='class')


@pytest.fixture(scope='class')
def class_bench(class_context):
    """One bench for all tests of a class: for those that only look at what happened."""
    yield from _bench(class_context)


@pytest.fixture(scope='session')
def six_axis():
    """URDF of the bundled six-axis arm."""
    pytest.importorskip('xacro')
    from fabrik_ros import example_arm, load_urdf

    return load_urdf(example_arm('six_axis')).source
