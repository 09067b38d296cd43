"""Who follows a planned way looks along it in another way than the planner, and finds it free."""

from fabrik_ros import example_arm, FollowerOptions, load_urdf
import numpy as np
import pytest

pytest.importorskip('coal', reason='coal measures the distances')
pytest.importorskip('ompl', reason='OMPL searches for ways')

from fabrik_ros.collision import CollisionGuard, Obstacle, Scene, WorldCollision
from fabrik_ros.kernels._jit import COMPILED
from fabrik_ros.model.geometry import Box
from fabrik_ros.motion.motion import Motion
from fabrik_ros.motion.planned_path import PlannedPath
from fabrik_ros.planning import plan, PlannerSetup
from fabrik_ros.planning.pieces import finish
from fabrik_ros.transforms import transform

ROBOT = load_urdf(example_arm('six_axis'))
ARM = ROBOT.chain()
START = np.array([0.0, -1.3, 1.6, -1.9, -1.57, 0.0])
WAYS = 25 if COMPILED else 2
BOXES = {
    'table': ((1.2, 1.5, 0.04), (0.35, 0.0, -0.02)),
    'wall': ((0.5, 0.03, 0.36), (0.6, 0.0, 0.18)),
    'board': ((0.26, 0.42, 0.02), (0.66, -0.42, 0.34)),
    'side': ((0.26, 0.02, 0.66), (0.66, -0.2, 0.33)),
}


@pytest.fixture(scope='module')
def world() -> WorldCollision:
    boxes = BOXES.items()
    scene = Scene(
        Obstacle(name, Box(size), transform(np.eye(3), np.array(centre)))
        for name, (size, centre) in boxes
    )
    return PlannerSetup(ROBOT, ARM).world(scene)


def free_configuration(world, rng) -> np.ndarray:
    """Draw joint values at which the tool is low in front of the arm, beside the wall."""
    while True:
        q = START + rng.uniform(-1.2, 1.2, len(ARM))
        x, y, z = ARM.forward_kinematics(q)[:3, 3]
        if x > 0.35 and abs(y) > 0.15 and z < 0.4 and world.is_collision_free(q):
            return q


def test_planned_ways_grazing_obstacles_are_free_for_who_looks_along_them(world):
    options, rng = FollowerOptions(), np.random.default_rng(5)
    limits, guard = options.limits_for(ARM), CollisionGuard(world)
    motion = Motion(ARM, limits, options.solver, options.motion, guard=guard)
    q, blocked = free_configuration(world, rng), []
    for seed in range(1, WAYS + 1):
        goal = free_configuration(world, rng)
        way = plan(ARM, q, goal, world, seed=seed)
        assert way.found, way.reason
        motion.reset(q)
        path = PlannedPath(motion.limiter, way.knots, straight_room=way.straight_room)
        found = finish(motion.pursuit.search.along(path, 'planned'))
        if found.reason is not None:
            blocked.append(str(found.reason))
        q = way.knots[-1]
    assert blocked == []


def table_below(gap, clearance) -> WorldCollision:
    """Make a world with a table so far below the shoulder, which turns above it."""
    setup = PlannerSetup(ROBOT, ARM, obstacle_clearance=clearance)

    def world(top):
        box = Box((2.0, 2.0, 0.1))
        return setup.world(
            Scene([Obstacle('table', box, transform(np.eye(3), np.array([0.0, 0.0, top - 0.05])))])
        )

    deep = world(-1.0)
    pairs = [p for p in range(len(deep.clearances)) if deep.links(p)[0] == 'shoulder_link']
    return world(-1.0 - gap + min(deep.distances.measure(p, START) for p in pairs))


@pytest.mark.parametrize('clearance', [0.02, 0.05])
@pytest.mark.parametrize('gap', [0.01, 0.0191, 0.0199, 0.0201, 0.0211, 0.045, 0.0501, 0.0525])
def test_arm_turns_above_a_table_that_is_near_its_shoulder(gap, clearance):
    world, goal = table_below(gap, clearance), START + 0.7 * np.eye(len(ARM))[0]
    for end in (goal, START):
        way = plan(ARM, START, end, world)
        assert way.found, way.reason
