"""Memory that many obstacles take: little, as they come and go, and leave holes behind."""

import ctypes
import platform
import tracemalloc

from collision_models import planar_arm
from fabrik_ros import load_urdf
from fabrik_ros.collision import Obstacle, PointCells, Scene, SelfCollision, WorldCollision
from fabrik_ros.model.geometry import Box, Cylinder
from fabrik_ros.transforms import transform
import numpy as np
import pytest

pytest.importorskip('coal', reason='coal measures the distances')

MANY = 200
ROBOT = load_urdf(planar_arm(4))
CHAIN = ROBOT.chain('l0', ROBOT.links[-1])
CELLS = PointCells.around([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]], 0.02)


def world_of_many(shape):
    places = np.random.default_rng(0).uniform(-1.0, 1.0, (MANY, 3))
    obstacles = [Obstacle(f'o{k}', shape, transform(np.eye(3), at)) for k, at in enumerate(places)]
    return WorldCollision(SelfCollision(ROBOT, CHAIN), Scene(obstacles))


def memory_of_kernels(world):
    """Memory that it takes to look at the pairs in kernels [bytes]."""
    tracemalloc.start()
    try:
        assert world.distances.kernels is not None
        return tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize('cells', [None, CELLS])
@pytest.mark.parametrize('shape', [Box((0.1, 0.2, 0.3)), Cylinder(0.2, 0.3)])
def test_obstacles_take_little_memory_beside_cells_too(shape, cells):
    """Kernels need outlines of links for cells, but none of what stands around the robot."""
    world = world_of_many(shape)
    world.set_points('sensor', cells)
    assert memory_of_kernels(world) < 4000 * MANY


def allocated():
    """Memory in use of what the C library manages [bytes]."""
    names = 'arena', 'ordblks', 'smblks', 'hblks', 'hblkhd', 'usmblks', 'fsmblks', 'uordblks'
    fields = [(name, ctypes.c_size_t) for name in (*names, 'fordblks', 'keepcost')]
    info = type('mallinfo2', (ctypes.Structure,), {'_fields_': fields})
    libc = ctypes.CDLL(None)
    libc.mallinfo2.restype = info
    found = libc.mallinfo2()
    return found.uordblks + found.hblkhd


@pytest.mark.skipif(
    platform.libc_ver()[0] != 'glibc' or not hasattr(ctypes.CDLL(None), 'mallinfo2'),
    reason='only glibc, from 2.33 on, tells how much is in use',
)
def test_pair_that_was_measured_takes_no_more_memory_than_before():
    world, q = world_of_many(Box((0.1, 0.2, 0.3))), np.zeros(len(CHAIN))
    count = len(world.distances)
    world.distances.measure(0, q)
    before = allocated()
    for pair in range(count):
        world.distances.measure(pair, q)
    assert allocated() - before < 200 * count
