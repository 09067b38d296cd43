"""Who follows a planned way looks along it in another way than the planner, and finds it free."""

from itertools import product

from fabrik_ros import example_arm, FollowerOptions, load_urdf, ReasonKind
import numpy as np
import pytest

pytest.importorskip('coal', reason='coal measures the distances')

from fabrik_ros.collision import CollisionGuard, Obstacle, Scene, WorldCollision
from fabrik_ros.kernels._jit import COMPILED
from fabrik_ros.model.geometry import Box, Mesh, Sphere
from fabrik_ros.motion.choosing.motion import Motion
from fabrik_ros.motion.paths.planned_path import PlannedPath
from fabrik_ros.planning import plan, PlannerSetup
from fabrik_ros.planning.pieces import finish
from fabrik_ros.transforms import transform
from helpers import examples, stopped

ROBOT = load_urdf(example_arm('six_axis'))
ARM = ROBOT.chain()
START = np.array([0.0, -1.3, 1.6, -1.9, -1.57, 0.0])
WAYS = examples(12, 25) if COMPILED else 2
PATIENCE = 60.0
NEAR = 0.005
DT, LONGEST = 0.01, 5000
LONGEST_STOP = 0.5
"""[s]."""
ROUNDING = 2e-4
"""Curves are off the lines of their knots by little [m]."""
SIGNS = np.array(list(product((-1.0, 1.0), repeat=3)))
TRIANGLES = (
    (0, 1, 3), (0, 3, 2), (4, 6, 7), (4, 7, 5), (0, 4, 5), (0, 5, 1),
    (2, 3, 7), (2, 7, 6), (0, 2, 6), (0, 6, 4), (1, 5, 7), (1, 7, 3),
)  # fmt: skip
"""Of the sides of a box, as numbers of its corners; see `SIGNS`."""
BOXES = {
    'table': ((1.2, 1.5, 0.04), (0.35, 0.0, -0.02)),
    'wall': ((0.5, 0.03, 0.36), (0.6, 0.0, 0.18)),
    'board': ((0.26, 0.42, 0.02), (0.66, -0.42, 0.34)),
    'side': ((0.26, 0.02, 0.66), (0.66, -0.2, 0.33)),
}


def world_with(**clearance) -> WorldCollision:
    boxes = BOXES.items()
    scene = Scene(
        Obstacle(name, Box(size), transform(np.eye(3), np.array(centre)))
        for name, (size, centre) in boxes
    )
    return PlannerSetup(ROBOT, ARM, **clearance).world(scene)


@pytest.fixture(scope='module')
def world() -> WorldCollision:
    return world_with()


def free_configuration(world, rng) -> np.ndarray:
    """Draw joint values at which the tool is low in front of the arm, beside the wall."""
    while True:
        q = START + rng.uniform(-1.2, 1.2, len(ARM))
        x, y, z = ARM.forward_kinematics(q)[:3, 3]
        if x > 0.35 and abs(y) > 0.15 and z < 0.4 and world.is_collision_free(q):
            return q


@pytest.mark.parametrize('clearance', [0.02, 0.002])
def test_planned_ways_grazing_obstacles_are_free_for_who_looks_along_them(clearance):
    world = world_with(obstacle_clearance=clearance)
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
        found = finish(motion.pursuit.finder.along(path, 'planned'))
        if found.reason is not None:
            blocked.append(str(found.reason))
        q = way.knots[-1]
    assert blocked == []


def on_a_way(world, rng, seed):
    """Return a motion that has set out on a planned way, and its guard."""
    options, guard = FollowerOptions(), CollisionGuard(world)
    motion = Motion(ARM, options.limits_for(ARM), options.solver, options.motion, guard=guard)
    q, goal = free_configuration(world, rng), free_configuration(world, rng)
    way = plan(ARM, q, goal, world, seed=seed)
    assert way.found, way.reason
    motion.reset(q)
    motion.follow(PlannedPath(motion.limiter, way.knots, straight_room=way.straight_room))
    for _ in range(int(rng.integers(5, 60))):
        motion.step(DT)
    return motion, guard


def rest(motion) -> list[np.ndarray]:
    """Go on until the arm rests; return all that it was told."""
    told = [motion.command[0]]
    while not motion.is_at_rest:
        motion.step(DT)
        told.append(motion.command[0])
        assert len(told) < LONGEST
    return told


def test_arm_that_is_stopped_on_a_way_touches_nothing(world):
    rng = np.random.default_rng(7)
    for seed in range(1, WAYS + 1):
        motion, _ = on_a_way(world, rng, seed)
        motion.stop(stopped('told to'))
        told = rest(motion)
        assert len(told) * DT <= LONGEST_STOP
        assert min(least_room(world, q) for q in told[::2]) > -ROUNDING


def test_whole_way_is_driven_without_a_refusal(world):
    rng = np.random.default_rng(8)
    for seed in range(1, WAYS // 2 + 1):
        motion, _ = on_a_way(world, rng, seed)
        path = motion.path
        while not motion.is_at_rest:
            motion.step(DT)
            assert motion.limiter.refusal == ''
            assert motion.path in (path, None)


@pytest.mark.parametrize('share', [0.15, 0.4, 1.0])
def test_what_comes_into_a_way_stops_the_arm(world, share):
    """In front of it where there is room; as fast as the joints may where there is none."""
    rng, scene, short = np.random.default_rng(9), world.scene, 0
    for seed in range(1, WAYS + 1):
        motion, guard = on_a_way(world, rng, seed)
        if motion.is_at_rest:
            continue
        q, velocity = motion.command
        ahead = list(motion.path.ahead().configurations)
        place = ARM.forward_kinematics(ahead[round(share * (len(ahead) - 1))])[:3, 3]
        ball = Obstacle('ball', Sphere(0.03), transform(np.eye(3), place))
        guard.change_world(world.set_scene(Scene([*scene, ball])), q)
        was_near = least_room(world, q) <= 0.0
        reason = motion.change_world()
        if reason is None:
            motion.look(DT)
            reason = motion.blocked_by_change
        if reason is not None:
            motion.stop(reason)
        told = rest(motion)
        is_sure = was_near or (reason is not None and reason.kind is ReasonKind.CONTACT_POSSIBLE)
        assert is_sure or min(least_room(world, q) for q in told) > -ROUNDING
        if reason is not None and reason.kind is ReasonKind.CONTACT_POSSIBLE:
            fastest = np.max(np.abs(velocity) / motion.limits.joint_acceleration)
            assert len(told) * DT <= fastest + 3 * DT
        short += motion.reason is not None
        guard.change_world(world.set_scene(scene), q)
    assert short >= WAYS // 2


@pytest.fixture(scope='module')
def world_with_a_shelf(tmp_path_factory) -> WorldCollision:
    """Make the same world, with all but the table as one mesh, which is not convex."""
    lines, folder = [], tmp_path_factory.mktemp('meshes')
    for size, centre in [BOXES[name] for name in ('wall', 'board', 'side')]:
        corners = np.array(centre) + 0.5 * np.array(size) * SIGNS
        first = 8 * len(lines) // (len(SIGNS) + len(TRIANGLES)) + 1
        lines += [f'v {x} {y} {z}' for x, y, z in corners]
        lines += [f'f {a + first} {b + first} {c + first}' for a, b, c in TRIANGLES]
    (folder / 'shelf.obj').write_text('\n'.join(lines))
    size, centre = BOXES['table']
    shelf = Obstacle('shelf', Mesh('shelf.obj'), np.eye(4))
    table = Obstacle('table', Box(size), transform(np.eye(3), np.array(centre)))
    return PlannerSetup(ROBOT, ARM, mesh_paths=(str(folder),)).world(Scene([table, shelf]))


def least_room(world, q) -> float:
    """Tell by how much the pair keeps its clearance that does so least; at most `NEAR`."""
    near = world.distances.due(q, world.clearances + NEAR)
    room = [world.distances.measure(int(p), q) - world.clearances[p] for p in near]
    return min([*room, NEAR])


def configuration_near(world, most, rng) -> np.ndarray:
    """Draw joint values at which the arm keeps its clearances, but not by more than `most`."""
    while True:
        free, blocked = free_configuration(world, rng), START + rng.uniform(-1.2, 1.2, len(ARM))
        if least_room(world, blocked) > 0.0:
            continue
        while not 0.75 * most < least_room(world, free) < most:
            middle = 0.5 * (free + blocked)
            is_free = least_room(world, middle) > 0.75 * most
            free, blocked = (middle, blocked) if is_free else (free, middle)
        return free


@pytest.mark.parametrize('room', [0.0005, 0.001, 0.002, 0.004])
def test_ways_end_and_begin_near_a_mesh_as_near_boxes(world, world_with_a_shelf, room):
    rng = np.random.default_rng(3)
    for _ in range(WAYS // 5 + 1):
        far, near = free_configuration(world, rng), configuration_near(world, room, rng)
        for start, goal in ((far, near), (near, far)):
            way = plan(ARM, start, goal, world_with_a_shelf, planning_time=PATIENCE)
            assert way.found, way.reason
            assert all(least_room(world, q) > 0.0 for q in way.knots)


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
