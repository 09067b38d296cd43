"""
What holds for the solver whatever the arm and the target; pinocchio judges the real arms.

The arms that hypothesis draws have every kind of joint anywhere, parallel and crossing axes,
links of no length, joints that cannot move and followers. Solve rates are asserted over fixed
samples, not case by case.

"""

from dataclasses import replace
import math

from fabrik_ros import load_urdf, Solution, Status
from fabrik_ros.kernels._jit import COMPILED
from fabrik_ros.transforms import (
    Array,
    rotation_from_rpy,
    rotation_from_vector,
    rotation_vector,
    transform,
)
from helpers import assert_close, REAL_ARMS, Segment, serial_xml
from hypothesis import given, settings, strategies as st
import numpy as np
import pytest
from solving import chain_of, judged, mode_for, solver_for

MODES = ['pose', 'axis', 'position', 'auto']
POLISH = ['auto', 'never']
TOLERANCE = 1e-6

# Interpreted kernels are a hundred times slower: fewer examples, the same laws.
COUNT = 100 if COMPILED else 20
SEARCHED = COUNT if COMPILED else 2
"""Of targets that take a whole search."""
laws = settings() if COMPILED else settings(max_examples=30)


# --- arms from hypothesis ---------------------------------------------------------------------

directions = st.sampled_from([(0, 0, 1), (0, 1, 0), (1, 0, 0), (0, -1, 0), (0, 0.6, 0.8)])
quarter_turns = st.sampled_from([0.0, 0.0, math.pi / 2, -math.pi / 2, 0.3])
lengths = st.sampled_from([0.0, 0.0, 0.1, 0.3, -0.25, 1e-3])
triples = st.tuples(lengths, lengths, lengths)


@st.composite
def segments(draw):
    """Draw the joints of an arm."""
    arm = []
    for _ in range(draw(st.integers(1, 8))):
        kind = draw(st.sampled_from(['revolute', 'revolute', 'continuous', 'prismatic']))
        lower = draw(st.sampled_from([-3.0, -1.0, 0.0, -0.2]))
        width = draw(st.sampled_from([0.0, 0.5, 3.0, 6.0]))
        scale = 0.2 if kind == 'prismatic' else 1.0
        same_kind = [j for j, other in enumerate(arm) if other.kind == kind and not other.mimic]
        mimic = None
        if same_kind and kind == 'revolute' and draw(st.integers(0, 4)) == 0:
            mimic = (draw(st.sampled_from(same_kind)), draw(st.sampled_from([1.0, -0.5])), 0.0)
            lower, width = -9.0, 18.0
        arm.append(
            Segment(
                kind,
                draw(directions),
                draw(triples),
                draw(st.tuples(quarter_turns, quarter_turns, quarter_turns)),
                scale * lower,
                scale * (lower + width),
                mimic,
            )
        )
    return [*arm, Segment('fixed', xyz=draw(triples))]


@st.composite
def configurations(draw, chain):
    """Draw joint values inside the limits, at a limit, or where axes meet."""
    lower, upper = chain.finite_limits()
    shares = draw(
        st.lists(
            st.one_of(st.sampled_from([0.0, 0.5, 1.0]), st.floats(0.0, 1.0)),
            min_size=len(chain),
            max_size=len(chain),
        )
    )
    return np.clip(lower + np.array(shares) * (upper - lower), lower, upper)


@st.composite
def scenes(draw):
    """Draw an arm, a seed and a target that may or may not be reached."""
    arm = draw(segments())
    chain = chain_of(arm)
    target = chain.forward_kinematics(draw(configurations(chain)))
    turn = draw(st.sampled_from([0.0, 0.0, 1e-9, 0.5, math.pi]))
    shift = draw(st.sampled_from([0.0, 0.0, 1e-9, 0.1, 10.0, 1e6]))
    target = target @ transform(rotation_from_vector([0.0, turn, 0.0]), [0.0, shift, 0.0])
    if draw(st.integers(0, 5)) == 0:
        target[:3, 3] = chain.root_point
    return arm, draw(configurations(chain)), target


modes = st.sampled_from(MODES)
polishes = st.sampled_from(POLISH)


def errors_by_textbook(arm: list[Segment], mode: str, q: Array, target: Array):
    """Position error [m] and orientation error [rad] with numpy alone, joint by joint."""
    robot = load_urdf(serial_xml(arm))
    chain = chain_of(arm)
    values = dict(zip(chain.joint_names, q, strict=True))
    T = robot.pose(chain.base_link, chain.tip_link, values)
    apart = np.linalg.norm(T[:3, 3] - target[:3, 3])
    if mode == 'position':
        return apart, 0.0
    if mode == 'axis':
        a, b = T[:3, 2], target[:3, 2]
        return apart, math.atan2(np.linalg.norm(np.cross(a, b)), a @ b)
    return apart, np.linalg.norm(rotation_vector(T[:3, :3].T @ target[:3, :3]))


@laws
@given(scenes(), modes, polishes)
def test_answers_are_inside_the_limits_and_reported_as_they_are(scene, mode, polish):
    arm, seed, target = scene
    chain = chain_of(arm)
    solution = solver_for(chain, mode=mode, polish=polish, max_restarts=2).solve(target, seed)
    assert np.isfinite(solution.q).all()
    assert np.all((chain.lower <= solution.q) & (solution.q <= chain.upper))
    apart, turned = errors_by_textbook(arm, mode, solution.q, target)
    assert_close(solution.position_error, apart, 1e-9 * max(1.0, apart))
    assert_close(solution.orientation_error, turned, 1e-7 if turned > 3.1 else 1e-9)
    assert_consistent(solution, mode, len(chain))


def assert_consistent(solution: Solution, mode: str, joints: int) -> None:
    """Status, counters and who finished tell the same story."""
    near = solution.position_error <= TOLERANCE
    turned = solution.orientation_error <= TOLERANCE or (mode == 'auto' and joints < 6)
    assert solution.converged == (near and turned)
    assert solution.passes % 2 == 0
    if solution.finished_by == 'polish':
        assert solution.polish_steps > 0
    elif solution.finished_by == 'fabrik':
        assert solution.passes > 0
    elif solution.finished_by == 'seed':
        assert solution.converged
    else:
        assert not solution.converged


@laws
@given(scenes(), modes, polishes)
def test_no_answer_is_worse_than_the_seed(scene, mode, polish):
    arm, seed, target = scene
    chain = chain_of(arm)
    solution = solver_for(chain, mode=mode, polish=polish, max_restarts=2).solve(target, seed)
    if solution.status not in (Status.TOO_FAR, Status.TOO_NEAR):
        # A hair of position may be given for a large turn: 1e-3 of 0.3 of the reach a radian.
        at_seed = errors_by_textbook(arm, mode, seed, target)[0]
        assert solution.position_error <= at_seed + 1e-3 * math.pi * chain.reach + 1e-9


@laws
@given(st.data(), modes, polishes)
def test_where_the_arm_stands_already_nothing_is_done(data, mode, polish):
    chain = chain_of(data.draw(segments()))
    q = data.draw(configurations(chain))
    solution = solver_for(chain, mode=mode, polish=polish).solve(chain.forward_kinematics(q), q)
    assert solution.converged
    assert solution.finished_by == 'seed'
    assert (solution.passes, solution.polish_steps, solution.restarts) == (0, 0, 0)
    assert np.array_equal(solution.q, q)


@laws
@given(scenes(), modes, polishes)
def test_same_input_same_output_bit_for_bit(scene, mode, polish):
    arm, seed, target = scene
    chain = chain_of(arm)
    first, second = (
        solver_for(chain, mode=mode, polish=polish, max_restarts=2).solve(target, seed)
        for _ in range(2)
    )
    assert np.array_equal(first.q, second.q)
    assert first[1:] == second[1:]


@laws
@given(scenes(), modes, st.floats(0.01, 1.0))
def test_no_joint_moves_farther_than_allowed(scene, mode, move):
    arm, seed, target = scene
    chain = chain_of(arm)
    solution = solver_for(chain, mode=mode, max_joint_move=move, max_restarts=2).solve(
        target, seed
    )
    assert np.abs(solution.q - seed).max() <= move * (1.0 + 1e-12)


@laws
@given(st.data(), st.sampled_from(['pose', 'position']), polishes, st.integers(-8, 8))
def test_scaling_arm_and_target_changes_no_angle(data, mode, polish, exponent):
    arm = data.draw(segments())
    scale = 2.0**exponent  # a power of two: the numbers scale without rounding
    chain, scaled = chain_of(arm), chain_of([enlarged(segment, scale) for segment in arm])
    if chain.reach == 0.0 or scaled.size != scale * chain.size:  # a limit that stands for none
        return
    q, seed = data.draw(configurations(chain)), data.draw(configurations(chain))
    unit = np.where([t.is_revolute for t in chain.joint_types], 1.0, scale)
    options = {'mode': mode, 'polish': polish, 'max_restarts': 2}
    here = solver_for(chain, **options).solve(chain.forward_kinematics(q), seed)
    there = solver_for(scaled, **options, position_tolerance=scale * TOLERANCE).solve(
        scaled.forward_kinematics(unit * q), unit * seed
    )
    assert_close(there.q, unit * here.q, 1e-9 * max(1.0, scale))
    assert there.converged == here.converged


def enlarged(segment: Segment, scale: float) -> Segment:
    """Scale all lengths of a segment."""
    factor = scale if segment.kind == 'prismatic' else 1.0
    xyz = tuple(scale * x for x in segment.xyz)
    return replace(segment, xyz=xyz, lower=factor * segment.lower, upper=factor * segment.upper)


@pytest.mark.parametrize('polish', POLISH)
def test_turning_a_target_about_a_continuous_first_axis_turns_the_first_joint_alone(polish):
    arm = [
        Segment('continuous', xyz=(0.0, 0.0, 0.4)),
        Segment(axis=(0.0, 1.0, 0.0), xyz=(0.1, 0.0, 0.0), lower=-2.0, upper=2.0),
        Segment(axis=(0.0, 1.0, 0.0), xyz=(0.0, 0.0, 0.5), lower=-2.5, upper=2.5),
        Segment(axis=(1.0, 0.0, 0.0), xyz=(0.4, 0.0, 0.1)),
        Segment(axis=(0.0, 1.0, 0.0), xyz=(0.1, 0.0, 0.0), lower=-2.0, upper=2.0),
        Segment(axis=(1.0, 0.0, 0.0), xyz=(0.1, 0.0, 0.0)),
        Segment('fixed', xyz=(0.05, 0.0, 0.0)),
    ]
    chain = chain_of(arm)
    solver, rng = solver_for(chain, polish=polish), np.random.default_rng(5)
    for angle in rng.uniform(-20.0, 20.0, COUNT):
        q = chain.random_configuration(rng)
        seed = np.clip(q + rng.uniform(-0.1, 0.1, 6), chain.lower, chain.upper)
        turn = transform(rotation_from_rpy(0.0, 0.0, angle), np.zeros(3))
        turned_seed = seed + angle * np.eye(6)[0]
        here = solver.solve(chain.forward_kinematics(q), seed)
        there = solver.solve(turn @ chain.forward_kinematics(q), turned_seed)
        if here.restarts == there.restarts == 0:  # other starts do not turn along
            assert_close(there.q - turned_seed, here.q - seed, 1e-4)


@pytest.mark.parametrize('polish', POLISH)
def test_a_continuous_joint_ends_within_half_a_turn_of_its_seed_however_wound_up(polish):
    arm = [
        Segment('continuous', axis=axis, xyz=(0.1, 0.0, 0.3))
        for axis in [(0, 0, 1), (0, 1, 0), (0, 1, 0), (1, 0, 0), (0, 1, 0), (1, 0, 0)]
    ]
    chain, rng = chain_of(arm), np.random.default_rng(7)
    solver = solver_for(chain, polish=polish)
    for _ in range(COUNT):
        seed = rng.uniform(-30.0, 30.0, 6)
        solution = solver.solve(chain.forward_kinematics(chain.random_configuration(rng)), seed)
        assert solution.converged
        assert np.abs(solution.q - seed).max() <= math.pi + 1e-9


# --- solve rates over fixed samples -----------------------------------------------------------


def random_arm(rng: np.random.Generator) -> list[Segment]:
    """Six to eight joints of every kind, some of them followers."""
    arm: list[Segment] = []
    for i in range(rng.integers(6, 9)):
        kind = rng.choice(['revolute', 'revolute', 'revolute', 'continuous', 'prismatic'])
        scale = 0.3 if kind == 'prismatic' else 2.5
        mimic = (i - 1, float(rng.choice([-0.5, 1.0])), 0.0) if i in (3, 6) else None
        if mimic and arm[i - 1].kind != kind:
            mimic = None
        arm.append(
            Segment(
                str(kind),
                rng.permutation([0.0, 0.0, 1.0]),
                rng.uniform(-0.3, 0.3, 3),
                rng.choice([0.0, math.pi / 2, 0.4], 3),
                -scale * rng.uniform(0.5, 1.0),
                scale * rng.uniform(0.5, 1.0),
                mimic,
            )
        )
    return [*arm, Segment('fixed', xyz=rng.uniform(-0.2, 0.2, 3))]


@pytest.mark.parametrize(
    ('polish', 'share'), [('auto', 1.0), pytest.param('never', 0.97, marks=pytest.mark.long)]
)
def test_slides_and_followers_anywhere_are_solved(polish, share):
    rng, converged = np.random.default_rng(11), []
    for _ in range(COUNT):
        arm = random_arm(rng)
        chain = chain_of(arm)
        mode = 'pose' if len(chain) >= 6 else 'position'
        solver = solver_for(chain, mode=mode, polish=polish)
        for _ in range(3):
            target = chain.forward_kinematics(chain.random_configuration(rng))
            solution = solver.solve(target)
            converged.append(solution.converged)
            apart, turned = errors_by_textbook(arm, mode, solution.q, target)
            assert solution.converged == (apart <= TOLERANCE and turned <= TOLERANCE)
    assert np.mean(converged) >= share


@pytest.fixture(params=REAL_ARMS)
def arm(request):
    return judged(request.param)


def is_inside(judge, q: Array) -> bool:
    """Whether the limits that pinocchio read are kept."""
    return bool(np.all((judge.lower <= q) & (q <= judge.upper)))


@pytest.mark.parametrize(('polish', 'share'), [('auto', 1.0), ('never', 0.97)])
def test_real_arms_are_solved_from_the_middle_of_their_limits(arm, polish, share):
    (chain, judge), rng, solved = arm, np.random.default_rng(3), []
    mode = mode_for(chain)
    solver = solver_for(chain, mode=mode, polish=polish)
    for _ in range(COUNT):
        target = judge.pose(chain.random_configuration(rng))
        solution = solver.solve(target)
        apart, turned = judge.errors(target, solution.q)
        assert is_inside(judge, solution.q)
        assert_close(solution.position_error, apart, 1e-9)
        if mode == 'pose':
            assert_close(solution.orientation_error, turned, 1e-9)
        assert_consistent(solution, mode, len(chain))
        solved.append(apart <= 1.001e-6 and (mode == 'position' or turned <= 1.001e-6))
    assert np.mean(solved) >= share


def test_real_arms_keep_their_configuration_when_the_target_is_close(arm):
    (chain, judge), rng = arm, np.random.default_rng(4)
    solver = solver_for(chain, mode=mode_for(chain))
    for _ in range(COUNT):
        q = chain.random_configuration(rng)
        seed = np.clip(q + rng.uniform(-0.1, 0.1, len(q)), chain.lower, chain.upper)
        solution = solver.solve(judge.pose(q), seed)
        assert solution.converged
        assert solution.restarts == 0
        assert np.abs(solution.q - seed).max() <= 0.5 + 1e-12


@pytest.mark.parametrize('polish', POLISH)
def test_limits_and_singular_places_are_no_obstacle(arm, polish):
    (chain, judge), rng, converged = arm, np.random.default_rng(6), []
    solver = solver_for(chain, mode=mode_for(chain), polish=polish, max_restarts=1000)
    lower, upper = chain.finite_limits()
    for k in range(COUNT):
        q = chain.random_configuration(rng)
        if k % 2:
            q = np.choose(rng.integers(0, 3, len(q)), [lower, q, upper])
        else:
            q = np.clip(np.round(q / (math.pi / 2)) * (math.pi / 2), lower, upper)
        converged.append(solver.solve(judge.pose(q)).converged)
    assert np.mean(converged) >= (1.0 if polish == 'auto' else 0.8)


# --- five joints and a full pose --------------------------------------------------------------


class TestAutoOnFiveJoints:
    @pytest.fixture
    def arm(self):
        return judged('so101')

    def targets(self, arm, count: int):
        """Positions that can be reached, with orientations that mostly cannot."""
        (chain, judge), rng = arm, np.random.default_rng(8)
        for k in range(count):
            target = judge.pose(chain.random_configuration(rng))
            turn = [0.05, 0.2, 0.5, 1.0][k % 4] * rng.normal(size=3)
            yield target @ transform(rotation_from_vector(turn), np.zeros(3))

    def test_the_position_is_reached_and_the_orientation_honest(self, arm):
        chain, judge = arm
        solver = solver_for(chain)
        for target in self.targets(arm, SEARCHED):
            solution = solver.solve(target)
            apart, turned = judge.errors(target, solution.q)
            assert solution.converged
            assert apart <= 1.001e-6
            assert is_inside(judge, solution.q)
            assert_close(solution.orientation_error, turned, 1e-8)

    def test_solving_again_from_the_answer_mostly_stays_there(self, arm):
        solver, moves = solver_for(arm[0]), []
        for target in self.targets(arm, SEARCHED):
            first = solver.solve(target)
            again = solver.solve(target, first.q)
            assert again.orientation_error <= first.orientation_error + 1e-6
            if np.array_equal(again.q, first.q):
                assert again.finished_by == 'seed'
            moves.append(np.abs(again.q - first.q).max())
        assert np.mean(np.array(moves) < 1e-3) >= 0.9

    def test_the_orientation_is_as_good_as_a_general_optimiser_finds(self, arm):
        optimize = pytest.importorskip('scipy.optimize')
        (chain, judge), rng, good = arm, np.random.default_rng(10), []

        def residuals(q, weight, target):
            T = judge.pose(q)
            turn = rotation_vector(T[:3, :3].T @ target[:3, :3])
            return np.concatenate([weight * (target[:3, 3] - T[:3, 3]), turn])

        solver = solver_for(chain)
        for target in self.targets(arm, 16 if COMPILED else 1):
            best = math.inf
            for _ in range(4):
                q = chain.random_configuration(rng)
                for weight in (10.0, 100.0, 1e3, 1e5):  # the position becomes a constraint
                    q = optimize.least_squares(
                        residuals, np.clip(q, chain.lower + 1e-9, chain.upper - 1e-9),
                        bounds=(chain.lower, chain.upper), args=(weight, target), max_nfev=100,
                    ).x  # fmt: skip
                apart, turned = judge.errors(target, q)
                if apart < 1e-5:
                    best = min(best, turned)
            good.append(solver.solve(target).orientation_error <= best + 1e-3)
        assert all(good)
