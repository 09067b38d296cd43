"""
Laws of obstacles: distances are right, what is skipped is free, and no motion leads into them.

The judge is pinocchio's collision model with the obstacles put into it, each next to the links
that may meet it; distances of the planar arm are worked out on paper.

"""

from collections.abc import Iterator
from dataclasses import replace
from itertools import count, islice
import math

from collision_models import planar_arm
from fabrik_ros import load_urdf
from fabrik_ros.collision import CollisionGuard, Obstacle, Scene, SelfCollision, WorldCollision
from fabrik_ros.collision.world_collision import EASE
from fabrik_ros.kernels._jit import COMPILED
from fabrik_ros.model.geometry import Box, Capsule, Cylinder, HalfSpace, Sphere
from fabrik_ros.transforms import rotation_from_rpy, transform
from helpers import assert_close, examples
from hypothesis import given, settings, strategies as st
import numpy as np
import pytest

coal = pytest.importorskip('coal', reason='coal measures the distances')
pinocchio = pytest.importorskip('pinocchio', reason='pinocchio is the judge')

EXAMPLES = examples(15, 40) if COMPILED else 3
STEPS = 400 if COMPILED else 100
JOINTS = 4
CAPSULES = planar_arm(JOINTS).replace('revolute', 'continuous')
DRUMS = CAPSULES.replace('capsule', 'cylinder')
"""pinocchio reads no capsules."""

seeds = st.integers(0, 2**32 - 1)
lengths = st.floats(0.05, 0.5)
shapes = st.one_of(
    st.builds(lambda x, y, z: Box((x, y, z)), lengths, lengths, lengths),
    st.builds(Cylinder, lengths, lengths),
    st.builds(Capsule, lengths, lengths),
    st.builds(Sphere, lengths),
    st.just(HalfSpace()),
)
places = st.tuples(*[st.floats(-1.5, 1.5)] * 3)
turns = st.tuples(*[st.floats(-3.0, 3.0)] * 3)


@st.composite
def scenes(draw, carriers=('',)):
    """Draw obstacles that stand around, or are carried by one of some links."""
    obstacles = []
    for number in range(draw(st.integers(1, 4))):
        shape, link = draw(shapes), draw(st.sampled_from(carriers))
        T = transform(rotation_from_rpy(*draw(turns)), np.array(draw(places)))
        if link:
            shape = Sphere(0.1) if isinstance(shape, HalfSpace) else shape
            T[:3, 3] *= 0.2
        obstacles.append(Obstacle(f'thing {number}', shape, T, link))
    return Scene(obstacles)


GEOMETRIES = {
    Box: lambda s: coal.Box(*s.size),
    Cylinder: lambda s: coal.Cylinder(s.radius, s.length),
    Capsule: lambda s: coal.Capsule(s.radius, s.length),
    Sphere: lambda s: coal.Sphere(s.radius),
    HalfSpace: lambda s: coal.Halfspace(np.array([0.0, 0.0, 1.0]), 0.0),
}


class SceneJudge:
    """Knows by pinocchio how near each link, and what it carries, is to each obstacle."""

    def __init__(self, urdf, scene):
        self._model = pinocchio.buildModelFromXML(urdf)
        self._geometry = pinocchio.buildGeomFromUrdfString(
            self._model, urdf, pinocchio.GeometryType.COLLISION
        )
        own = len(self._geometry.geometryObjects)
        for obstacle in scene:
            frame = self._model.frames[self._model.getFrameId(obstacle.link or 'l0')]
            T = pinocchio.SE3(obstacle.T_link_obstacle)
            solid = GEOMETRIES[type(obstacle.shape)](obstacle.shape)
            at = frame.placement * T
            self._geometry.addGeometryObject(
                pinocchio.GeometryObject(obstacle.name, frame.parentJoint, at, solid)
            )
        objects = list(self._geometry.geometryObjects)
        for b in range(own, len(objects)):
            for a in range(b):
                if objects[a].parentJoint != objects[b].parentJoint:
                    self._geometry.addCollisionPair(pinocchio.CollisionPair(a, b))
        self._data, self._geometry_data = self._model.createData(), self._geometry.createData()

    def distance(self, q):
        values = np.concatenate([[math.cos(value), math.sin(value)] for value in q])
        pinocchio.computeDistances(
            self._model, self._data, self._geometry, self._geometry_data, values
        )
        return min((r.min_distance for r in self._geometry_data.distanceResults), default=math.inf)


def world_of(scene, xml=DRUMS, **options):
    robot = load_urdf(xml)
    own = SelfCollision(robot, robot.chain('l0', robot.links[-1]))
    return WorldCollision(own, scene, **options)


def walk(rng, steps, size, count=JOINTS):
    q = rng.uniform(-3.0, 3.0, count)
    for _ in range(steps):
        q = q + rng.uniform(-size, size, count)
        if rng.random() < 0.1:
            q = rng.uniform(-3.0, 3.0, count)
        yield q


@settings(max_examples=EXAMPLES)
@given(scenes(['', 'l2', f'l{JOINTS}']), seeds)
def test_obstacles_and_what_links_carry_are_as_near_as_pinocchio_finds(scene, seed):
    world, judge = world_of(scene, checks_links=False), SceneJudge(DRUMS, scene)
    for q in walk(np.random.default_rng(seed), 8, 0.1):
        distance, expected = world.distance(q).distance, judge.distance(q)
        if expected > 1e-4:
            assert_close(distance, expected, 1e-5)
        else:
            assert distance <= 2e-4


@settings(max_examples=EXAMPLES)
@given(st.lists(scenes(['', f'l{JOINTS}']), min_size=2, max_size=4), seeds)
def test_scene_that_changes_leaves_nothing_behind(changing, seed):
    """The answers are those of a world that never had another scene."""
    world, rng = world_of(changing[0]), np.random.default_rng(seed)
    for scene in changing:
        for q in walk(rng, 5, 0.1):
            world.is_collision_free(q)
        world.set_scene(scene)
        fresh = world_of(scene)
        for q in walk(rng, 5, 0.1):
            assert world.distance(q).distance == fresh.distance(q).distance
            assert world.is_collision_free(q) == fresh.is_collision_free(q)


FASTEST, ACCELERATION, DT = 2.0, 5.0, 0.01


def guarded_walk(guard, q, rng, steps):
    """Go where chance takes the arm, as far as its guard allows; brake else."""
    full, fastest = np.full(len(q), ACCELERATION), np.full(len(q), FASTEST)
    velocity, wanted, braking = np.zeros(len(q)), np.zeros(len(q)), False
    for _ in range(steps):
        if rng.random() < 0.05:
            wanted = rng.uniform(-FASTEST, FASTEST, len(q))
        change = ACCELERATION * DT
        faster = np.clip(wanted, velocity - change, velocity + change)
        if not braking and guard.allows(q, q + faster * DT, faster, full, fastest):
            velocity = faster
        else:
            effort = np.max(np.abs(velocity)) / ACCELERATION
            velocity = velocity * max(0.0, 1.0 - DT / effort) if effort else velocity
            braking = bool(velocity.any())
            wanted = wanted if braking else rng.uniform(-FASTEST, FASTEST, len(q))
        q = q + velocity * DT
        yield q


@settings(max_examples=EXAMPLES)
@given(scenes(), seeds)
def test_guarded_arm_never_comes_near_an_obstacle(scene, seed):
    clearance, rng = 0.02, np.random.default_rng(seed)
    world, judge = world_of(scene, clearance=clearance), SceneJudge(DRUMS, scene)
    start = next((q for q in walk(rng, 300, 3.0) if world.is_collision_free(q)), None)
    if start is None:
        return
    for q in guarded_walk(CollisionGuard(world), start, rng, 200):
        assert judge.distance(q) > clearance - 1e-5


own_clearances = st.lists(st.sampled_from([None, 0.0, 0.05, 0.2]), min_size=4, max_size=4)


@settings(max_examples=EXAMPLES)
@given(scenes(), own_clearances, seeds)
def test_guarded_arm_keeps_the_clearance_that_an_obstacle_has_of_its_own(scene, own, seed):
    usual, rng = 0.02, np.random.default_rng(seed)
    obstacles = [replace(o, clearance=c) for o, c in zip(scene, own, strict=False)]
    world = world_of(Scene(obstacles), clearance=usual)
    start = next((q for q in walk(rng, 300, 3.0) if world.is_collision_free(q)), None)
    if start is None:
        return
    judges = [SceneJudge(DRUMS, Scene([obstacle])) for obstacle in obstacles]
    for q in guarded_walk(CollisionGuard(world), start, rng, 200):
        for obstacle, judge in zip(obstacles, judges, strict=True):
            kept = usual if obstacle.clearance is None else obstacle.clearance
            assert judge.distance(q) > kept - 1e-5


def test_what_is_carried_comes_as_near_to_a_table_as_that_allows():
    """On paper: a ball at 2 m from the base, 0.3 m from a wall; of two clearances the smaller."""
    held = Obstacle('held', Sphere(0.1), transform(np.eye(3), np.array([0.5, 0.0, 0.0])), 'l4')
    (wall,) = wall_at(-0.5, 'wall')
    for of_wall, of_held, kept in ((None, None, 0.02), (0.002, None, 0.002), (0.05, 0.01, 0.01)):
        scene = Scene([replace(wall, clearance=of_wall), replace(held, clearance=of_held)])
        world = world_of(scene, CAPSULES, clearance=0.02, checks_links=False)
        pairs = [world.links(p) for p in range(len(world.distances))]
        number = next(p for p, names in enumerate(pairs) if set(names) == {'held', 'wall'})
        guard = CollisionGuard(world)
        guard.reset(np.zeros(JOINTS))
        assert world.clearances[number] == kept


def test_arm_that_swings_at_a_wall_is_stopped_in_front_of_it():
    """On paper: the wall is 0.8 m in front of the base, and the arm 1.9 m long, then round."""
    wall = transform(rotation_from_rpy(0.0, -0.5 * math.pi, 0.0), np.array([0.8, 0.0, 0.0]))
    scene = Scene([Obstacle('wall', HalfSpace(), wall)])
    guard = CollisionGuard(world_of(scene, CAPSULES, clearance=0.02))
    q, velocity = np.array([1.5, 0.0, 0.0, 0.0]), np.array([-0.2, 0.0, 0.0, 0.0])
    full, fastest = np.full(JOINTS, ACCELERATION), np.full(JOINTS, FASTEST)
    while guard.allows(q, q + velocity * DT, velocity, full, fastest):
        q = q + velocity * DT
    assert 0.76 < 1.9 * math.cos(q[0]) + 0.05 < 0.78
    assert guard.refusal == "'l4' and 'wall' would come within 20 mm of each other"


def test_what_a_link_carries_is_where_the_link_takes_it():
    """On paper: a ball at the end of the arm, a metre below another one."""
    T_l4_ball = transform(np.eye(3), np.array([0.5, 0.0, 0.0]))
    ball = Obstacle('ball', Sphere(0.1), T_l4_ball, 'l4', ('l1', 'l2', 'l3'))
    post = Obstacle('post', Sphere(0.1), transform(np.eye(3), np.array([0.0, 3.0, 0.0])))
    world = world_of(Scene([ball, post]), checks_links=False)
    nearest = world.distance(np.array([0.5 * math.pi, 0.0, 0.0, 0.0]))
    assert {nearest.link_a, nearest.link_b} == {'ball', 'post'}
    assert_close(nearest.distance, 0.8, 1e-6)


@pytest.mark.parametrize(('gap', 'kept'), [(0.1, 0.02), (0.015, 0.014), (0.0005, 0.0)])
def test_link_that_starts_near_an_obstacle_keeps_that_distance(gap, kept):
    """On paper: the first link lies along x, 0.05 m thick, above a table or next to it."""
    table = transform(np.eye(3), np.array([0.0, 0.0, -0.05 - gap]))
    xml = planar_arm(1).replace('revolute', 'continuous')
    world = world_of(Scene([Obstacle('table', HalfSpace(), table)]), xml)
    guard, q = CollisionGuard(world), np.zeros(1)
    guard.reset(q)
    assert_close(world.clearances, [kept], 1e-5)
    assert guard.collision_at(q) == ''
    assert guard.is_path_free(q, np.ones(1)), 'it turns above the table'
    world.set_scene(Scene([Obstacle('table', HalfSpace(), np.eye(4))]))
    guard.reset(q)
    assert_close(world.clearances, [0.02])
    assert "'table'" in guard.collision_at(q), 'what touches is no matter of distance'


def test_distance_that_is_kept_does_not_shrink_from_start_to_start_and_is_given_back():
    table = transform(np.eye(3), np.array([0.0, 0.0, -0.06]))
    xml = planar_arm(1).replace('revolute', 'continuous').replace('0.0 0.0 1.0', '0.0 1.0 0.0')
    world = world_of(Scene([Obstacle('table', HalfSpace(), table)]), xml)
    guard = CollisionGuard(world)
    for _ in range(3):
        guard.reset(np.zeros(1))
        assert_close(world.clearances, [0.009], 1e-5)
    guard.reset(np.array([-1.0]))
    assert_close(world.clearances, [0.02])


WALL, LENGTH, RADIUS, TREMBLING = 0.3, 1.9, 0.05, 0.0005
"""Where the wall begins, and the arm to the middle of its round end [m]."""
GENTLE = 1.0
"""[rad/s^2]; in a step an arm gets nearer by less than the wall trembles."""


def wall_at(y, name) -> Scene:
    T = transform(np.eye(3), np.array([1.0, y + 0.05, 0.0]))
    return Scene([Obstacle(name, Box((2.0, 0.1, 0.5)), T)])


def walls(rng, kind) -> Iterator[Scene]:
    """Show a wall that trembles; with other names or not, and without a break or with one."""
    for number in count():
        name = f'wall {number}' if kind == 'renamed' else 'wall'
        yield wall_at(WALL + rng.uniform(-TREMBLING, TREMBLING), name)
        if kind == 'removed at times':
            yield Scene()


@pytest.mark.parametrize(
    ('kind', 'lost'),
    [('the same', 0.0), ('renamed', EASE), ('removed at times', EASE)],
)
def test_arm_does_not_creep_up_to_a_wall_that_trembles(kind, lost):
    """On paper: the gap is what the round end of the stretched arm leaves."""
    world, first = world_of(Scene(), CAPSULES, clearance=0.02), np.eye(JOINTS)[0]
    guard, q, speed, gaps = CollisionGuard(world), np.zeros(JOINTS), 0.0, []
    full, fastest = np.full(JOINTS, GENTLE), np.full(JOINTS, FASTEST)
    guard.reset(q)
    for scene in islice(walls(np.random.default_rng(1), kind), STEPS):
        guard.change_world(world.set_scene(scene), q)
        for _ in range(5 if len(scene) else 0):
            change = DT * GENTLE
            wishes = (min(speed + change, 0.1), speed, max(speed - change, 0.0))
            allowed = (
                s for s in wishes if guard.allows(q, q + s * DT * first, s * first, full, fastest)
            )
            speed = next(allowed, wishes[-1])
            q = q + speed * DT * first
        gaps.append(WALL - LENGTH * math.sin(q[0]) - RADIUS)
    assert min(gaps) > 0.02 - lost - 2.0 * TREMBLING - 1e-4
    assert gaps[-1] < 0.021, 'it is there'


def test_known_obstacle_that_comes_near_lets_links_move_apart_only():
    world = world_of(wall_at(WALL, 'wall'), CAPSULES, clearance=0.02, checks_links=False)
    guard, q = CollisionGuard(world), np.zeros(JOINTS)
    guard.reset(q)
    guard.change_world(world.set_scene(wall_at(RADIUS + 0.01, 'wall')), q)
    assert world.clearances.min() == 0.02
    guard.change_world(world.set_scene(wall_at(RADIUS + 0.01, 'another wall')), q)
    assert_close(world.clearances.min(), 0.009, 1e-5)
    guard.change_world(world.set_scene(wall_at(WALL, 'another wall')), q)
    assert world.clearances.min() == 0.02, 'it has come apart'


@pytest.mark.parametrize('gap', [3e-4, 0.0, -3e-4])
def test_what_the_hand_takes_from_a_table_may_touch_it_until_it_is_lifted(gap):
    """On paper: a ball at 2 m from the base, beside a wall, which it leaves as the arm turns."""
    held = Obstacle('held', Sphere(0.1), transform(np.eye(3), np.array([0.5, 0.0, 0.0])), 'l4')
    wall = wall_at(-0.2 - gap, 'wall')
    world = world_of(wall, CAPSULES, clearance=0.02, checks_links=False)
    guard, q, first = CollisionGuard(world), np.zeros(JOINTS), np.eye(JOINTS)[0]
    guard.reset(q)
    guard.change_world(world.set_scene(Scene([*wall, held])), q)
    assert_close(world.clearances.min(), max(gap - EASE, -EASE), 1e-5)
    full, fastest = np.full(JOINTS, ACCELERATION), np.full(JOINTS, FASTEST)
    for way, is_allowed in ((2e-4, True), (2e-3, False)):
        q_next = -0.5 * way * first
        assert guard.allows(q, q_next, np.zeros(JOINTS), full, fastest) == is_allowed
    assert world.distance(0.05 * first).distance > 0.04, 'it is lifted'
    guard.change_world(world.set_scene(Scene([*wall, held])), 0.05 * first)
    assert_close(world.clearances, np.full(len(world.clearances), 0.02))


def test_obstacle_may_be_called_like_a_link():
    """What stands beside the arm is checked with what a link carries, whatever it is called."""
    held = Obstacle('held', Sphere(0.1), transform(np.eye(3), np.array([0.5, 0.0, 0.0])), 'l4')
    post = Obstacle('l4', Sphere(0.1), transform(np.eye(3), np.array([2.1, 0.0, 0.0])))
    world = world_of(Scene([held, post]), checks_links=False)
    assert world.distance(np.zeros(JOINTS)).distance < 0.0


@pytest.mark.parametrize('first', ['a', 'b'])
def test_carried_obstacles_may_touch_each_other_if_one_of_them_says_so(first):
    here = transform(np.eye(3), np.array([0.25, 0.0, 0.0]))
    a = Obstacle('a', Sphere(0.4), here, 'l2', ('l1', 'l3', 'l4'))
    b = Obstacle('b', Sphere(0.4), here, 'l4', ('l1', 'l3'))
    world = world_of(Scene([a, b] if first == 'a' else [b, a]), checks_links=False)
    pairs = [set(world.links(p)) for p in range(len(world.distances))]
    assert {'a', 'b'} not in pairs
    assert {'b', 'l2'} in pairs
