"""
What holds for joint values from points and for the method 'points', whatever the arm.

Pinocchio judges: it reads the arms itself, and says where joint centres and tip are. Arms on
which the method is exact are judged by what their drawings say can be reached.

"""

import math

from fabrik_ros import load_urdf, SolverOptions, Status
from fabrik_ros.kernels._jit import COMPILED
from fabrik_ros.textbook.arm.point_arm_solver import PointArmSolver
from fabrik_ros.textbook.arm.point_values import values_from_points
from fabrik_ros.transforms import rotation_from_rpy, rotation_from_vector, transform
from helpers import assert_close, mostly_long, REAL_ARMS, Segment, serial_xml
from hypothesis import assume, given, settings, strategies as st
import numpy as np
import pytest
from solving import chain_of, is_inside, judged, same_answer

pinocchio = pytest.importorskip('pinocchio')

from judging import Judge, pose_errors  # noqa: E402

laws = settings() if COMPILED else settings(max_examples=15)
COUNT = 40 if COMPILED else 5
TOLERANCE = 1e-6
MODES = ['pose', 'axis', 'position', 'auto']

directions = st.sampled_from([(0, 0, 1), (0, 1, 0), (1, 0, 0), (0, -1, 0), (0, 0.6, 0.8)])
quarter_turns = st.sampled_from([0.0, 0.0, math.pi / 2, -math.pi / 2, 0.3])
lengths = st.sampled_from([0.0, 0.0, 0.1, 0.3, -0.25, 1e-3])
triples = st.tuples(lengths, lengths, lengths)
angles = st.floats(-math.pi, math.pi)


@st.composite
def segments(draw):
    """Draw the joints of an arm: any kind but followers, parallel and crossing, of no length."""
    arm = []
    for _ in range(draw(st.integers(1, 7))):
        kind = draw(st.sampled_from(['revolute', 'revolute', 'continuous', 'prismatic']))
        scale = 0.2 if kind == 'prismatic' else 1.0
        lower = scale * draw(st.sampled_from([-3.0, -1.0, 0.0, -0.2]))
        upper = lower + scale * draw(st.sampled_from([0.0, 0.5, 3.0, 6.0]))
        turn = draw(st.tuples(quarter_turns, quarter_turns, quarter_turns))
        arm.append(Segment(kind, draw(directions), draw(triples), turn, lower, upper))
    return [*arm, Segment('fixed', xyz=draw(triples))]


@st.composite
def configurations(draw, chain):
    """Draw joint values inside the limits, at a limit, or where axes meet."""
    lower, upper = chain.finite_limits()
    share = st.one_of(st.sampled_from([0.0, 0.5, 1.0]), st.floats(0.0, 1.0))
    shares = draw(st.lists(share, min_size=len(chain), max_size=len(chain)))
    return np.clip(lower + np.array(shares) * (upper - lower), lower, upper)


@st.composite
def scenes(draw):
    """Draw an arm, a seed and a target that may or may not be reached."""
    arm = draw(segments())
    chain = chain_of(arm)
    target = chain.forward_kinematics(draw(configurations(chain)))
    turn = draw(st.sampled_from([0.0, 0.0, 1e-9, 0.5, math.pi]))
    shift = draw(st.sampled_from([0.0, 0.0, 1e-9, 0.1, 10.0, 1e6, 1e200]))
    target = target @ transform(rotation_from_vector([0.0, turn, 0.0]), [0.0, shift, 0.0])
    if draw(st.integers(0, 5)) == 0:
        target[:3, 3] = chain.root_point
    return arm, draw(configurations(chain)), target


def solver_for(chain, **options):
    """Make a solver that heeds no clock."""
    return PointArmSolver(chain, SolverOptions(method='points', budget=math.inf, **options))


def centres_by_pinocchio(arm, q):
    """Where pinocchio has the joint centres and the tip of an arm written as segments [m]."""
    model = pinocchio.buildModelFromXML(serial_xml(arm))
    data, values = model.createData(), pinocchio.neutral(model)
    for joint, value in zip(model.joints[1:], q, strict=True):
        turns = joint.nq == 2  # continuous: pinocchio keeps cosine and sine
        values[joint.idx_q : joint.idx_q + joint.nq] = (
            [math.cos(value), math.sin(value)] if turns else value
        )
    pinocchio.framesForwardKinematics(model, data, values)
    tip = data.oMf[model.getFrameId(f'l{len(arm)}', pinocchio.FrameType.BODY)]
    return np.array([*(place.translation for place in data.oMi[1:]), tip.translation])


# --- from points to joint values and back -----------------------------------------------------


@pytest.mark.parametrize('name', REAL_ARMS)
def test_points_of_a_real_arm_are_met_from_any_seed(name):
    chain, _ = judged(name)
    rng = np.random.default_rng(0)
    for _ in range(COUNT):
        points = chain.points(chain.random_configuration(rng))
        q, residual = values_from_points(chain, points, chain.random_configuration(rng))
        assert is_inside(chain, q)
        assert residual < 1e-9
        assert_close(chain.points(q), points, 1e-9)


@pytest.mark.parametrize('name', REAL_ARMS)
def test_points_of_a_real_arm_are_met_where_its_axes_meet_too(name):
    """Joints at 0 put elbows, wrists and shoulders into line; then joints share their turns."""
    chain, _ = judged(name)
    rng = np.random.default_rng(4)
    for _ in range(COUNT):
        q = chain.random_configuration(rng)
        aligned = np.clip(0.0, chain.lower, chain.upper)
        truth = np.where(rng.random(len(chain)) < 0.5, aligned, q)
        seed, T = chain.random_configuration(rng), chain.forward_kinematics(truth)
        for orientation in (None, T):
            q, residual = values_from_points(chain, chain.points(truth), seed, orientation)
            assert is_inside(chain, q)
            assert residual < 1e-6


def test_points_of_arms_that_nobody_built_are_met_slides_and_all():
    rng = np.random.default_rng(5)
    for _ in range(COUNT):
        arm = [
            Segment(
                'prismatic' if rng.random() < 0.2 else 'revolute',
                rng.normal(size=3),
                rng.uniform(-0.3, 0.3, 3),
                rng.uniform(-math.pi, math.pi, 3),
                -1.5,
                1.0,
            )
            for _ in range(rng.integers(1, 9))
        ]
        chain = chain_of([*arm, Segment('fixed', xyz=rng.uniform(-0.3, 0.3, 3))])
        points = chain.points(chain.random_configuration(rng))
        q, residual = values_from_points(chain, points, chain.random_configuration(rng))
        assert is_inside(chain, q)
        assert residual < 1e-9


@pytest.mark.parametrize('name', REAL_ARMS)
def test_points_and_the_orientation_of_the_tip_give_the_pose_of_a_real_arm(name):
    chain, judge = judged(name)
    rng = np.random.default_rng(1)
    for _ in range(COUNT):
        truth = chain.random_configuration(rng)
        q, _ = values_from_points(
            chain, chain.points(truth), chain.random_configuration(rng), judge.pose(truth)
        )
        apart, turned = judge.errors(judge.pose(truth), q)
        assert apart < 1e-9
        assert turned < 1e-8


@pytest.mark.parametrize('name', REAL_ARMS)
def test_points_of_a_real_arm_at_a_seed_nearby_are_met_nearby(name):
    """Joints that points tell of only together may still change places: as little as possible."""
    chain, _ = judged(name)
    rng = np.random.default_rng(2)
    for _ in range(COUNT):
        truth = chain.random_configuration(rng)
        seed = np.clip(truth + rng.uniform(-0.01, 0.01, len(chain)), chain.lower, chain.upper)
        q, residual = values_from_points(
            chain, chain.points(truth), seed, chain.forward_kinematics(truth)
        )
        assert residual < 1e-9
        assert_close(q, truth, 1e-6)


@st.composite
def arms_that_points_tell_of(draw):
    """Draw an arm each of whose points lies off the axis of the hinge before it."""
    aside = st.sampled_from([0.1, 0.3, -0.25])
    arm = []
    for _ in range(draw(st.integers(1, 6))):
        kind = draw(st.sampled_from(['revolute', 'continuous']))
        xyz = draw(st.tuples(aside, aside, aside))
        rpy = (draw(quarter_turns), draw(quarter_turns), 0.0)
        arm.append(Segment(kind, (0, 0, 1), xyz, rpy, -2.5, 2.0))
    return [*arm, Segment('fixed', xyz=draw(st.tuples(aside, aside, aside)))]


@laws
@given(arms_that_points_tell_of(), st.data())
def test_joints_that_each_turn_a_point_are_found_again(arm, data):
    chain = chain_of(arm)
    truth = data.draw(configurations(chain))
    q, residual = values_from_points(chain, chain.points(truth), data.draw(configurations(chain)))
    assert residual < 1e-9
    turn = (q - truth) / (2.0 * math.pi)
    assert_close(turn, np.round(turn), 1e-7)


@laws
@given(segments(), st.data())
def test_whatever_the_points_limits_are_kept_and_the_residual_is_pinocchios(arm, data):
    chain = chain_of(arm)
    some = st.floats(-1.0, 1.0) | st.sampled_from([0.0, 0.1, 1e6])
    points = np.array(
        [data.draw(st.tuples(some, some, some)) for _ in range(len(chain.model))], dtype=float
    )
    T = data.draw(st.none() | st.just(transform(rotation_from_rpy(0.3, 0.2, 0.1), points[-1])))
    q, residual = values_from_points(chain, points, data.draw(configurations(chain)), T)
    assert np.isfinite(q).all()
    assert is_inside(chain, q)
    apart = np.linalg.norm(centres_by_pinocchio(arm, q) - points, axis=1)
    assert_close(residual, apart.max(), 1e-9 * max(1.0, apart.max()))


@laws
@given(segments(), st.data())
def test_sweeps_never_add_to_the_squared_distances(arm, data):
    chain = chain_of(arm)
    some = st.floats(-1.0, 1.0)
    points = np.array([data.draw(st.tuples(some, some, some)) for _ in chain.model])
    seed = data.draw(configurations(chain))
    squares = []
    for sweeps in range(4):
        q, _ = values_from_points(chain, points, seed, sweeps=sweeps)
        squares.append(np.sum((chain.points(q) - points) ** 2))
    assert np.all(np.diff(squares) <= 1e-9 * squares[0])


# --- the solver, on any arm -------------------------------------------------------------------


@laws
@given(scenes(), st.sampled_from(MODES))
def test_answers_are_inside_the_limits_and_reported_as_they_are(scene, mode):
    arm, seed, target = scene
    chain = chain_of(arm)
    solution = solver_for(chain, mode=mode).solve(target, seed)
    assert np.isfinite(solution.q).all()
    assert is_inside(chain, solution.q)
    reached = Judge(serial_xml(arm), chain.base_link, chain.tip_link).pose(solution.q)
    apart = math.dist(reached[:3, 3], target[:3, 3])
    assert_close(solution.position_error, apart, 1e-9 * max(1.0, apart))
    if mode == 'axis':
        a, b = reached[:3, 2], target[:3, 2]
        turned = math.atan2(np.linalg.norm(np.cross(a, b)), a @ b)
    else:
        turned = 0.0 if mode == 'position' else pose_errors(np.eye(4), _turn(reached, target))[1]
    assert_close(solution.orientation_error, turned, 1e-7 if turned > 3.1 else 1e-9)

    near = solution.position_error <= TOLERANCE
    right = solution.orientation_error <= TOLERANCE or (mode == 'auto' and len(chain) < 6)
    assert solution.converged == (near and right)
    assert solution.finished_by in ('seed', 'fabrik', 'nobody')
    assert solution.restarts == solution.polish_steps == 0


def _turn(T, T_other):
    """Rotation between two poses, as a pose."""
    return transform(T[:3, :3].T @ T_other[:3, :3], np.zeros(3))


@laws
@given(scenes(), st.sampled_from(MODES), st.floats(1e-3, 1.0))
def test_bounds_of_the_call_and_of_the_options_are_kept(scene, mode, room):
    arm, seed, target = scene
    chain = chain_of(arm)
    bounded = solver_for(chain, mode=mode, max_joint_move=room).solve(target, seed)
    assert np.all(np.abs(bounded.q - seed) <= room * (1.0 + 1e-12))
    lower, upper = seed - 0.5 * room, seed + room
    within = solver_for(chain, mode=mode).solve_within(target, seed, lower, upper)
    assert np.all((lower <= within.q) & (within.q <= upper))
    for solution in (bounded, within):
        assert is_inside(chain, solution.q)


@laws
@given(scenes(), st.sampled_from(MODES))
def test_the_answer_is_never_worse_than_the_seed_and_always_the_same(scene, mode):
    arm, seed, target = scene
    chain = chain_of(arm)
    solver = solver_for(chain, mode=mode)
    solution = solver.solve(target, seed)
    assert same_answer(solution, solver.solve(target, seed))
    if solution.finished_by == 'nobody':
        assert np.array_equal(solution.q, seed)
    if mode == 'position':
        tip = chain.forward_kinematics(seed)
        assert solution.position_error <= math.dist(tip[:3, 3], target[:3, 3])


@laws
@given(segments(), st.data(), st.sampled_from(MODES))
def test_a_seed_on_the_target_is_returned_as_it_is(arm, data, mode):
    chain = chain_of(arm)
    q = data.draw(configurations(chain))
    solution = solver_for(chain, mode=mode).solve(chain.forward_kinematics(q), q)
    assert solution.status is Status.CONVERGED
    assert solution.finished_by == 'seed'
    assert np.array_equal(solution.q, q)


# --- arms on which it is exact ----------------------------------------------------------------


@st.composite
def planar_arms(draw):
    """Draw hinges with one direction, however the plane lies, links of many lengths."""
    tilt = draw(st.tuples(angles, angles, angles))
    link = st.floats(0.1, 1.0)
    height = st.floats(-0.2, 0.2)
    arm = [Segment('continuous', xyz=draw(triples), rpy=tilt)]
    for _ in range(draw(st.integers(1, 4))):
        xyz, turn = (draw(link), 0.0, draw(height)), (0.0, 0.0, draw(angles))
        arm.append(Segment('continuous', xyz=xyz, rpy=turn))
    return [*arm, Segment('fixed', xyz=(draw(link), 0.0, draw(height)))]


def links(arm):
    """Lengths in the plane of the arm, the last that of the tool."""
    return [math.hypot(*segment.xyz[:2]) for segment in arm[1:]]


def reach_and_inner_reach(lengths):
    """Radii between which a chain of links can end, by the triangle inequality."""
    return sum(lengths), max(0.0, 2.0 * max(lengths) - sum(lengths))


def is_well_inside(distance, lengths):
    """Whether links reach so far, and not by stretching or folding nearly all the way."""
    reach, inner_reach = reach_and_inner_reach(lengths)
    margin = 0.05 * (reach - inner_reach)
    return inner_reach + margin <= distance <= reach - margin


def in_plane(arm, x, y, turn):
    """Pose of the tip where its plane's coordinates from the first hinge are x and y."""
    height = sum(segment.xyz[2] for segment in arm[1:])
    base = transform(rotation_from_rpy(*arm[0].rpy), arm[0].xyz)
    return base @ transform(rotation_from_rpy(0.0, 0.0, turn), [x, y, height])


@laws
@given(planar_arms(), st.data())
def test_a_planar_arm_reaches_every_point_that_its_links_can(arm, data):
    chain = chain_of(arm)
    reach, inner_reach = reach_and_inner_reach(links(arm))
    distance, angle = data.draw(st.floats(inner_reach, reach)), data.draw(angles)
    assume(is_well_inside(distance, links(arm)))
    T = in_plane(arm, distance * math.cos(angle), distance * math.sin(angle), 0.0)
    solution = solver_for(chain, mode='position').solve(T, data.draw(configurations(chain)))
    assert solution.converged
    tip = centres_by_pinocchio(arm, solution.q)[-1]
    assert math.dist(tip, T[:3, 3]) <= TOLERANCE + 1e-9


@laws
@given(planar_arms(), st.data())
def test_a_planar_arm_reaches_every_pose_in_its_plane_that_its_links_can(arm, data):
    """The tool stands where it shall, so the links before it have to reach its joint."""
    assume(len(arm) > 3)
    chain = chain_of(arm)
    lengths = links(arm)[:-1]
    reach, inner_reach = reach_and_inner_reach(lengths)
    distance, angle, turn = (
        data.draw(st.floats(inner_reach, reach)),
        data.draw(angles),
        data.draw(angles),
    )
    assume(is_well_inside(distance, lengths))
    x = distance * math.cos(angle) + links(arm)[-1] * math.cos(turn)
    y = distance * math.sin(angle) + links(arm)[-1] * math.sin(turn)
    T = in_plane(arm, x, y, turn)
    solution = solver_for(chain, mode='pose').solve(T, data.draw(configurations(chain)))
    assert solution.converged
    apart, turned = Judge(serial_xml(arm), chain.base_link, chain.tip_link).errors(T, solution.q)
    assert apart <= TOLERANCE + 1e-9
    assert turned <= TOLERANCE + 1e-9


@laws
@given(st.integers(1, 3), st.tuples(*[st.floats(-0.2, 0.2)] * 3), st.data())
def test_an_arm_on_a_turning_base_reaches_every_point_that_its_links_can(joints, first, data):
    """Its plane is beside the axis by what the first offset says, so less of it is reached."""
    arm = [Segment('continuous'), Segment('continuous', (0, 1, 0), first)]
    for _ in range(joints):
        arm.append(Segment('continuous', (0, 1, 0), (data.draw(st.floats(0.1, 1.0)), 0.0, 0.0)))
    arm.append(Segment('fixed', xyz=(data.draw(st.floats(0.1, 1.0)), 0.0, 0.0)))
    chain = chain_of(arm)
    along, beside, height = first
    lengths = [segment.xyz[0] for segment in arm[2:]]
    reach, inner_reach = reach_and_inner_reach(lengths)
    distance, angle, yaw = (
        data.draw(st.floats(inner_reach, reach)),
        data.draw(angles),
        data.draw(angles),
    )
    assume(is_well_inside(distance, lengths))
    out = along + distance * math.cos(angle)
    assume(abs(out) > 0.05)
    target = [
        out * math.cos(yaw) - beside * math.sin(yaw),
        out * math.sin(yaw) + beside * math.cos(yaw),
        height + distance * math.sin(angle),
    ]
    solution = solver_for(chain, mode='position').solve(target, data.draw(configurations(chain)))
    assert solution.converged
    tip = centres_by_pinocchio(arm, solution.q)[-1]
    assert math.dist(tip, target) <= TOLERANCE + 1e-9


# --- real arms, on which it is not ------------------------------------------------------------


@pytest.mark.parametrize('name', mostly_long(['ur5', 'panda', 'so101', 'z1'], 'ur5', 'so101'))
def test_on_real_arms_it_is_honest_and_better_near_the_target(name):
    """Within 1 mm and 0.01 rad; how much it solves is in `docs/fabrik.md`."""
    chain, judge = judged(name)
    mode = 'pose' if len(chain) >= 6 else 'position'
    solver = solver_for(chain, mode=mode, position_tolerance=1e-3, orientation_tolerance=1e-2)
    rng = np.random.default_rng(3)
    solved = 0
    for _ in range(COUNT):
        truth = chain.random_configuration(rng)
        seed = np.clip(truth + rng.uniform(-0.1, 0.1, len(chain)), chain.lower, chain.upper)
        solution = solver.solve(judge.pose(truth), seed)
        apart, turned = judge.errors(judge.pose(truth), solution.q)
        assert_close(solution.position_error, apart, 1e-9)
        right = apart <= 1e-3 and (mode == 'position' or turned <= 1e-2)
        assert solution.converged == right
        solved += right
    assert solved > 0.5 * COUNT


def test_the_law_file_reads_the_arms_it_says():
    """Arms drawn here are what the package reads: same joints, same centres."""
    arm = [Segment(xyz=(0.1, 0, 0)), Segment('prismatic', (0, 1, 0)), Segment('fixed')]
    chain = load_urdf(serial_xml(arm)).chain('l0', 'l3')
    assert_close(centres_by_pinocchio(arm, [0.4, 0.2]), chain.points([0.4, 0.2]), 1e-12)
