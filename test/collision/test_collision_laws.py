"""
Laws of self-collision: what is measured is right, what is skipped is free, and nothing collides.

The judge is pinocchio's collision model, told our pairs of links.

"""

import functools
import math

from collision_models import (
    body,
    planar_arm,
    planar_distance,
    planar_distances,
    REAL,
    real_robot,
    with_bodies,
)
from fabrik_ros import load_urdf, SolverOptions
from fabrik_ros.collision import CollisionGuard, SelfCollision
from fabrik_ros.kernels._jit import COMPILED
from fabrik_ros.motion.choosing.goal import MotionOptions
from fabrik_ros.motion.choosing.motion import Motion
from fabrik_ros.motion.limits.limits import MotionLimits
from helpers import assert_close, examples, mostly_long, Segment, serial_xml, why
from hypothesis import assume, example, given, settings, strategies as st
import numpy as np
import pytest

coal = pytest.importorskip('coal', reason='coal measures the distances')
pinocchio = pytest.importorskip('pinocchio', reason='pinocchio is the judge')

EXAMPLES = examples(15, 40) if COMPILED else 5
REAL_NAMES = mostly_long(REAL if COMPILED else ['ur5'], 'ur5')

seeds = st.integers(0, 2**32 - 1)


class CollisionJudge:
    """Knows the distances of pairs of links by pinocchio's kinematics and geometry."""

    def __init__(self, urdf, arm, pairs, packages=''):
        self._arm = arm
        self.model = pinocchio.buildModelFromXML(urdf)
        self._data = self.model.createData()
        self.geometry = pinocchio.buildGeomFromUrdfString(
            self.model, urdf, pinocchio.GeometryType.COLLISION, package_dirs=[str(packages)]
        )
        for i, one in enumerate(self.geometry.geometryObjects):
            for j, other in enumerate(self.geometry.geometryObjects[:i]):
                if frozenset((self._link(one), self._link(other))) in pairs:
                    self.geometry.addCollisionPair(pinocchio.CollisionPair(j, i))
        self.forget()

    def forget(self):
        self._geometry_data = self.geometry.createData()

    def _link(self, geometry):
        return self.model.frames[geometry.parentFrame].name

    def fill_meshes(self):
        """Replace meshes by their convex hulls."""
        for one in self.geometry.geometryObjects:
            if isinstance(one.geometry, coal.BVHModelBase):
                one.geometry.buildConvexHull(True, 'Qt')
                one.geometry = one.geometry.convex
        self.forget()

    def _values(self, q):
        given = dict(zip(self._arm.joint_names, q, strict=True))
        values = pinocchio.neutral(self.model)
        for name, joint in zip(self.model.names, self.model.joints, strict=True):
            if joint.nq == 2:
                value = given.get(name, 0.0)
                values[joint.idx_q : joint.idx_q + 2] = math.cos(value), math.sin(value)
            elif joint.nq == 1:
                lower = self.model.lowerPositionLimit[joint.idx_q]
                upper = self.model.upperPositionLimit[joint.idx_q]
                values[joint.idx_q] = given.get(name, np.clip(0.0, lower, upper))
        return values

    def distance(self, q):
        pinocchio.computeDistances(
            self.model, self._data, self.geometry, self._geometry_data, self._values(q)
        )
        return min((r.min_distance for r in self._geometry_data.distanceResults), default=math.inf)

    def keeps(self, q, clearance):
        """Whether all distances are greater, which is found out much sooner than they are."""
        return not self.collides(q, clearance)

    def collides(self, q, margin=0.0):
        for request in self._geometry_data.collisionRequests:
            request.security_margin = margin
        return pinocchio.computeCollisions(
            self.model, self._data, self.geometry, self._geometry_data, self._values(q), True
        )


def pairs_of(collision):
    return {frozenset(pair) for pair in collision.pairs}


def has_parts(collision):
    return any(shape.parts > 1 for shape in collision.shapes)


@functools.cache
def real(name, filled):
    robot, arm, packages, file = real_robot(name)
    collision = SelfCollision(robot, arm, mesh_paths=[packages])
    assert collision.missing == ()
    judge = CollisionJudge(file.read_text(), arm, pairs_of(collision), packages)
    if filled:
        judge.fill_meshes()
    return collision, judge


@pytest.mark.parametrize('name', REAL_NAMES)
@settings(max_examples=EXAMPLES)
@given(seeds)
def test_distances_of_real_arms_are_those_between_hulls_or_less_than_between_meshes(name, seed):
    collision, judge = real(name, True)
    q = collision.mechanism.random_configuration(np.random.default_rng(seed))
    nearest, expected = collision.distance(q), judge.distance(q)
    if has_parts(collision):
        _, of_meshes = real(name, False)
        raw = max(of_meshes.distance(q), 0.0)
        assert nearest.distance <= raw + 1e-5
        reach = max(shape.reach for shape in collision.shapes)
        assert nearest.distance > raw - 2.5 * reach or nearest.distance <= 0.0
    elif expected > 0.0:
        assert_close(nearest.distance, expected, 1e-5)
    else:
        assert nearest.distance <= 1e-6
    assert collision.is_collision_free(q) == (nearest.distance > collision.clearance)
    assert (collision.colliding(q) == frozenset()) == collision.is_collision_free(q)
    if nearest.distance <= collision.clearance:
        assert {nearest.link_a, nearest.link_b} <= collision.colliding(q)


@pytest.mark.parametrize('name', REAL_NAMES)
@settings(max_examples=EXAMPLES)
@given(seeds)
def test_where_meshes_of_real_arms_meet_for_pinocchio_they_are_never_free(name, seed):
    collision, judge = real(name, False)
    rng = np.random.default_rng(seed)
    for _ in range(10):
        q = collision.mechanism.random_configuration(rng)
        assert not (judge.collides(q) and collision.is_collision_free(q))


# Random arms.

lengths = st.floats(0.05, 0.6)
offsets = st.tuples(*[st.floats(-0.6, 0.6)] * 3)
angles = st.tuples(*[st.floats(-3.0, 3.0)] * 3)
axes = st.sampled_from([(1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0), (0.6, 0.0, -0.8)])
shapes = st.one_of(
    st.builds('<box size="{:.3f} {:.3f} {:.3f}"/>'.format, lengths, lengths, lengths),
    st.builds('<cylinder radius="{:.3f}" length="{:.3f}"/>'.format, lengths, lengths),
    st.builds('<sphere radius="{:.3f}"/>'.format, lengths),
)


def triple(numbers):
    return ' '.join(f'{number:.3f}' for number in numbers)


bodies = st.builds(
    lambda shape, xyz, rpy: body(shape, triple(xyz), triple(rpy)), shapes, offsets, angles
)


@st.composite
def segments(draw, index):
    kind = draw(st.sampled_from(['revolute', 'revolute', 'continuous', 'prismatic', 'fixed']))
    mimic = None
    if index and draw(st.integers(0, 4)) == 0:
        mimic = (0, draw(st.sampled_from([-1.5, 0.5])), 0.1)
    kind = 'revolute' if index == 0 or mimic else kind
    return Segment(kind, draw(axes), draw(offsets), draw(angles), -1.5, 1.5, mimic)


@st.composite
def arms(draw):
    """Draw an arm with bodies on some of its links: its URDF."""
    count = draw(st.integers(3, 6))
    xml = serial_xml([draw(segments(i)) for i in range(count)])
    on_links = {f'l{i}': draw(st.lists(bodies, max_size=2)) for i in range(count + 1)}
    on_links['l0'] = on_links['l0'] or [body('<sphere radius="0.1"/>')]
    return with_bodies(xml, {link: ''.join(some) for link, some in on_links.items()})


def collision_of(xml, **options):
    robot = load_urdf(xml)
    return SelfCollision(robot, robot.chain('l0', robot.links[-1]), **options)


def walk(arm, rng, steps, size):
    """Go about inside the limits, in small steps and now and then a leap."""
    q = arm.random_configuration(rng)
    lower, upper = arm.finite_limits()
    for _ in range(steps):
        q = np.clip(q + rng.uniform(-size, size, len(q)), lower, upper)
        if rng.random() < 0.1:
            q = arm.random_configuration(rng)
        yield q


@settings(max_examples=EXAMPLES)
@given(arms(), seeds)
def test_distances_of_random_arms_are_those_that_pinocchio_finds(xml, seed):
    assume('mimic' not in xml)
    collision = collision_of(xml)
    assume(collision.pairs)
    judge = CollisionJudge(xml, collision.mechanism, pairs_of(collision))
    for q in walk(collision.mechanism, np.random.default_rng(seed), 5, 0.1):
        distance, expected = collision.distance(q).distance, judge.distance(q)
        if expected > 1e-4:
            assert_close(distance, expected, 1e-5)
        else:
            assert distance <= 2e-4


BALL_DEEP_IN_A_DRUM = with_bodies(
    serial_xml(
        [
            Segment('prismatic', (0.0, 1.0, 0.0), (0.2, 0.5, 0.25), (0.0, 0.0, -2.0), -1.5, 1.5),
            Segment('revolute', (0.0, 1.0, 0.0), (0.0, 0.0, -0.5), (1.0, 0.0, 0.0), -1.5, 1.5),
        ]
    ),
    {
        'l0': body('<cylinder radius="0.5" length="0.5"/>', rpy='0 1 0'),
        'l2': body('<box size="0.5 0.5 0.5"/>', '0 0 0.25')
        + body('<sphere radius="0.25"/>', '0 0 0.5'),
    },
)


@settings(max_examples=EXAMPLES)
@given(arms(), seeds, st.sampled_from([0.001, 0.02, 0.3]))
@example(BALL_DEEP_IN_A_DRUM, 23, 0.02)
def test_skipping_never_changes_an_answer(xml, seed, size):
    """Bit for bit: of one that remembers, and one that measures all pairs every time."""
    remembers, forgets = collision_of(xml), collision_of(xml)
    for q in walk(remembers.mechanism, np.random.default_rng(seed), 40, size):
        forgets.distances.forget()
        assert remembers.is_collision_free(q) == forgets.is_collision_free(q)
        forgets.distances.forget()
        assert remembers.distance(q).distance == forgets.distance(q).distance


@settings(max_examples=EXAMPLES)
@given(arms(), seeds, st.sampled_from([0.01, 0.1, 1.0]))
def test_what_is_known_from_elsewhere_never_promises_too_much(xml, seed, size):
    collision, rng = collision_of(xml), np.random.default_rng(seed)
    arm, distances = collision.mechanism, collision.distances
    for q in walk(arm, rng, 10, size):
        around = rng.uniform(0.0, 0.1, len(q))
        bounds, bounds_around = distances.bounds(q), distances.bounds(q, around)
        lower, upper = arm.finite_limits()
        near = np.clip(q + rng.uniform(-around, around), lower, upper)
        for p in range(len(distances)):
            if rng.random() < 0.5:
                assert distances.measure(p, near) >= bounds_around[p]
                assert distances.measure(p, q) >= bounds[p]


# The guard.

ACCELERATION = 5.0
FASTEST = 2.0


class GuardedArm:
    """An arm that goes where chance takes it, as far as its guard allows; braking else."""

    def __init__(self, collision, q, rng):
        self._guard, self._arm, self._rng = CollisionGuard(collision), collision.mechanism, rng
        self.q, self.velocity = q, np.zeros(len(q))
        self._wanted = self.velocity
        self._last_dt, self._braking = 0.0, False
        self.stops = 0

    def step(self, dt):
        usable = min(dt, 0.5 * (dt + self._last_dt)) if self._last_dt else dt
        if not self._braking:
            velocity = self._next_velocity(usable)
            q = self.q + velocity * dt
            full = np.full(len(q), ACCELERATION)
            fastest = np.full(len(q), FASTEST)
            self._braking = not self._guard.allows(self.q, q, velocity, full, fastest)
        if self._braking:
            effort = np.max(np.abs(self.velocity)) / ACCELERATION
            velocity = self.velocity * max(0.0, 1.0 - usable / effort) if effort else self.velocity
            q = self.q + velocity * dt
            if not velocity.any():
                self._braking, self.stops = False, self.stops + 1
                self._wanted = self._rng.uniform(-FASTEST, FASTEST, len(q))
        self.q, self.velocity, self._last_dt = q, velocity, dt

    def _next_velocity(self, usable):
        if self._rng.random() < 0.05:
            self._wanted = self._rng.uniform(-FASTEST, FASTEST, len(self.q))
        change = ACCELERATION * usable
        return np.clip(self._wanted, self.velocity - change, self.velocity + change)


def even_steps(rng):
    return 0.01


def uneven_steps(rng):
    return 0.01 * rng.choice([1.0, 1.0, rng.uniform(0.05, 1.5), rng.uniform(1.5, 5.0)])


def free_configuration(arm, rng):
    while True:
        q = rng.uniform(-2.5, 2.5, len(arm))
        if planar_distance(q) > 0.004:
            return q


@pytest.mark.parametrize('next_dt', mostly_long([even_steps, uneven_steps], even_steps))
@settings(max_examples=EXAMPLES)
@given(seeds)
def test_guarded_arm_never_comes_near_itself_and_stops_in_front(next_dt, seed):
    """Four links that swing freely in a plane and would hit each other all the time."""
    collision = collision_of(planar_arm(4).replace('revolute', 'continuous'))
    rng = np.random.default_rng(seed)
    arm = GuardedArm(collision, free_configuration(collision.mechanism, rng), rng)
    commands = [arm.q]
    for _ in range(200):
        arm.step(next_dt(rng))
        commands.append(arm.q)
    between = 0.5 * (np.array(commands[1:]) + commands[:-1])
    assert np.all(np.isfinite(commands))
    assert planar_distance(np.array([*commands, *between])).min() > collision.clearance - 1e-5


def test_guarded_arm_does_get_stopped_and_goes_on():
    """The law above is about something: its arm meets itself, and leaves again."""
    collision = collision_of(planar_arm(4).replace('revolute', 'continuous'))
    rng = np.random.default_rng(1)
    arm = GuardedArm(collision, free_configuration(collision.mechanism, rng), rng)
    commands = [arm.q]
    for _ in range(3000):
        arm.step(0.01)
        commands.append(arm.q)
    assert arm.stops > 10
    assert np.abs(np.diff(commands, axis=0)).sum() > 20.0
    nearest = planar_distance(np.array(commands)).min()
    assert collision.clearance < nearest < 10 * collision.clearance


@pytest.mark.long
@settings(max_examples=EXAMPLES)
@given(seeds)
def test_arm_that_starts_in_collision_never_goes_deeper(seed):
    collision = collision_of(planar_arm(3).replace('revolute', 'continuous'))
    rng = np.random.default_rng(seed)
    q = np.array([0.0, 2.0 * math.pi / 3.0, 2.0 * math.pi / 3.0]) + rng.uniform(-0.15, 0.15, 3)
    depth = collision.distance(q).distance
    assume(depth < collision.clearance)
    arm = GuardedArm(collision, q, rng)
    for _ in range(200):
        arm.step(0.01)
        assert collision.distance(arm.q).distance > min(depth, collision.clearance) - 1.1e-3


CLEARANCES_OF_PAIRS = {('l1', 'l3'): 0.1, ('l4', 'l1'): 0.02, ('l2', 'l4'): 0.0}


@pytest.mark.long
@settings(max_examples=EXAMPLES)
@given(seeds)
def test_links_within_their_own_clearance_only_move_apart_until_they_are_clear(seed):
    """Each pair keeps what it has gained, up to its clearance, on commands and in between."""
    xml = planar_arm(4).replace('revolute', 'continuous')
    collision = collision_of(xml, pair_clearances=CLEARANCES_OF_PAIRS)
    clearances = {(0, 2): 0.1, (0, 3): 0.02, (1, 3): 0.0}
    rng = np.random.default_rng(seed)
    arm = GuardedArm(collision, configuration_within(clearances, rng), rng)
    gained = planar_distances(arm.q)
    for _ in range(200):
        before = arm.q
        arm.step(0.01)
        shares = np.array([0.25, 0.5, 0.75, 1.0])[:, None]
        now = planar_distances(before + shares * (arm.q - before))
        for pair, clearance in clearances.items():
            assert now[pair].min() > min(gained[pair], clearance) - 5e-6
        gained = {pair: max(gained[pair], now[pair][-1]) for pair in clearances}


def configuration_within(clearances, rng):
    """Draw where some links are within their clearances, and none touch."""
    while True:
        q = rng.uniform(-2.8, 2.8, 4)
        distances = planar_distances(q)
        is_within = [distances[pair] < clearance for pair, clearance in clearances.items()]
        if any(is_within) and min(distances.values()) > 0.0:
            return q


def test_links_that_start_within_their_own_clearances_do_part():
    """The law above is about something: in the end all are clear, and the arm goes on."""
    xml = planar_arm(4).replace('revolute', 'continuous')
    collision = collision_of(xml, pair_clearances=CLEARANCES_OF_PAIRS)
    clearances = {(0, 2): 0.1, (0, 3): 0.02, (1, 3): 0.0}
    for seed in range(5):
        rng = np.random.default_rng(seed)
        arm = GuardedArm(collision, configuration_within(clearances, rng), rng)
        assert not collision.is_collision_free(arm.q)
        for _ in range(600):
            arm.step(0.01)
        assert collision.is_collision_free(arm.q)


# The motion.

SPEEDS = {'ur5': 3.0, 'panda': 2.0}


paths = st.sampled_from(['auto', 'line', 'joint'])


def guarded_motion(name, path):
    collision, judge = real(name, True)
    if has_parts(collision):
        _, judge = real(name, False)
    arm = collision.mechanism
    limits = MotionLimits(
        tip_speed=1.0,
        tip_rotation=3.0,
        tip_acceleration=3.0,
        joint_velocity=np.minimum(arm.velocity, SPEEDS[name]),
        joint_acceleration=np.full(len(arm), ACCELERATION),
    )
    options = MotionOptions(path=path)
    solver = SolverOptions(budget=math.inf, max_restarts=6)
    return Motion(arm, limits, solver, options, guard=CollisionGuard(collision)), judge


@pytest.mark.skipif(not COMPILED, reason='takes minutes interpreted')
@pytest.mark.parametrize('name', mostly_long(SPEEDS, 'ur5'))
@settings(max_examples=10)
@given(seeds, paths, st.sampled_from([even_steps, uneven_steps]))
def test_no_motion_of_a_real_arm_commands_a_collision(name, seed, path, next_dt):
    """Whatever goals come and whenever, and in and out of joint limits' reach."""
    motion, judge = guarded_motion(name, path)
    arm, rng = motion.robot, np.random.default_rng(seed)
    collision, _ = real(name, True)
    clearance = collision.clearance
    q = arm.random_configuration(rng)
    while collision.distance(q).distance < 2.0 * clearance:
        q = arm.random_configuration(rng)
    motion.reset(q)
    for step in range(300):
        if step % 60 == 0:
            if motion.aim(arm.forward_kinematics(arm.random_configuration(rng))):
                end = motion.found.preview.q if motion.found else motion.q
                assert judge.distance(end) > clearance - 1e-5
                assert judge.keeps(end, clearance - 1e-5)
                assert not judge.keeps(end, judge.distance(end) + 1e-5)
            else:
                assert why(motion)
        motion.step(next_dt(rng))
        assert judge.keeps(motion.q, clearance - 1e-5)


@pytest.mark.skipif(not COMPILED, reason='takes minutes interpreted')
def test_hand_that_would_fold_into_the_forearm_gets_to_its_goal_in_another_way():
    motion, judge = guarded_motion('panda', 'joint')
    ready = np.array([0.0, -0.785, 0.0, -2.356, 0.0, 1.2, 0.785])
    folded = np.array([0.0, -0.785, 0.0, -2.356, 0.0, 0.0, 0.785])
    assert judge.distance(folded) < 0.0
    motion.reset(ready)
    goal = motion.robot.forward_kinematics(folded)
    assert motion.aim(goal)
    while not motion.is_at_rest or motion.is_looking:
        motion.step(0.01)
        assert judge.keeps(motion.q, 0.002 - 1e-5)
    assert why(motion) == ''
    assert_close(motion.robot.forward_kinematics(motion.q), goal, 1e-5)


# Starts in collision.


def overlapping_start(rng):
    """Fold a planar arm until its third link is in the first, or all but: by up to 6 mm."""
    while True:
        q = np.array([0.0, 2.0 * math.pi / 3.0, 2.0 * math.pi / 3.0]) + rng.uniform(-0.3, 0.3, 3)
        if -0.006 < planar_distance(q) < 0.002:
            return q * rng.choice([-1.0, 1.0])


def open_goal(rng):
    """Stretch the arm, more or less."""
    return rng.uniform(-1.0, 1.0, 3)


def motion_from_overlap(path, rng):
    collision = collision_of(planar_arm(3))
    limits = MotionLimits(0.5, 2.0, 2.0, np.full(3, FASTEST), np.full(3, ACCELERATION))
    solver = SolverOptions(mode='pose', budget=math.inf, max_restarts=6)
    options = MotionOptions(path=path)
    motion = Motion(collision.mechanism, limits, solver, options, guard=CollisionGuard(collision))
    motion.reset(overlapping_start(rng))
    return motion


@pytest.mark.parametrize('path', mostly_long(['auto', 'line', 'joint'], 'auto'))
@settings(max_examples=EXAMPLES // 3)
@given(seeds)
def test_motion_from_a_collision_never_goes_deeper_and_once_out_stays_out(path, seed):
    """On the way it may be nearer by the millimetre that the guard grants, and not after it."""
    rng = np.random.default_rng(seed)
    motion = motion_from_overlap(path, rng)
    most = planar_distance(motion.q)
    for _ in range(3):
        motion.aim(motion.robot.forward_kinematics(motion.robot.random_configuration(rng)))
        commands = []
        for _ in range(150):
            motion.step(0.01)
            commands.append(motion.q)
        distances = planar_distance(np.array(commands))
        gained = np.maximum(most, np.maximum.accumulate(np.minimum(distances, 0.002)))
        assert np.all(distances > gained - 1.1e-3)
        most = gained[-1]
        if motion.is_at_rest:
            assert distances[-1] > min(most, 0.002) - 1e-3


@pytest.mark.parametrize('path', mostly_long(['auto', 'joint'], 'auto'))
def test_arm_that_starts_in_collision_gets_out_to_its_goal(path):
    for seed in range(30 if COMPILED else 3):
        rng = np.random.default_rng(seed)
        motion = motion_from_overlap(path, rng)
        assert planar_distance(motion.q) < 0.002
        goal = motion.robot.forward_kinematics(open_goal(rng))
        if not motion.aim(goal):
            assert motion.execute(), 'a detour, at most'
        while not motion.is_at_rest or motion.is_looking:
            motion.step(0.01)
        assert why(motion) == ''
        assert_close(motion.robot.forward_kinematics(motion.q), goal, 1e-5)
