"""Joint values from points, and the solver that lives on them: answers known on paper."""

import doctest
import math

from fabrik_ros import ChainError, SolverOptions, Status
from fabrik_ros.errors import JointValueError, TargetError
from fabrik_ros.methods import make_solver
from fabrik_ros.solver.chain_solver import FabrikSolver
from fabrik_ros.textbook.arm.point_arm_solver import PointArmSolver
from fabrik_ros.textbook.arm.point_layout import PointLayout
from fabrik_ros.textbook.arm.point_values import values_from_points
from fabrik_ros.transforms import rotation_from_rpy, transform
from helpers import assert_close, Segment
import numpy as np
import pytest
from solving import chain_of, is_inside, judged, same_answer

UPPER, LOWER = 1.0, 0.8
RIGHT_ANGLE = math.pi / 2
Y = (0.0, 1.0, 0.0)

TWO_LINKS = [
    Segment('continuous'),
    Segment('continuous', xyz=(UPPER, 0.0, 0.0)),
    Segment('fixed', xyz=(LOWER, 0.0, 0.0)),
]
SCARA = [
    Segment('continuous', xyz=(0.0, 0.0, 0.4)),
    Segment('continuous', xyz=(0.4, 0.0, 0.0)),
    Segment('prismatic', axis=(0.0, 0.0, -1.0), xyz=(0.3, 0.0, 0.0), lower=0.0, upper=0.2),
    Segment('continuous'),
    Segment('fixed', xyz=(0.0, 0.0, -0.1)),
]
YAW_AND_ELBOW = [
    Segment('continuous'),
    Segment('continuous', axis=Y, xyz=(0.1, 0.05, 0.3), rpy=(0.0, 0.0, 0.0)),
    Segment('continuous', axis=Y, xyz=(0.4, 0.0, 0.0)),
    Segment('fixed', xyz=(0.3, 0.0, 0.0)),
]


def points_solver(chain, **options):
    """Make a solver that heeds no clock."""
    return PointArmSolver(chain, SolverOptions(method='points', budget=math.inf, **options))


def elbows_by_trigonometry(x, y):
    """
    Joint values of the two links that reach (x, y), one row for each elbow.

    By the law of cosines: x^2 + y^2 = U^2 + L^2 + 2 U L cos(q2).
    """
    elbow = math.acos((x * x + y * y - UPPER**2 - LOWER**2) / (2.0 * UPPER * LOWER))
    return np.array(
        [
            [math.atan2(y, x) - math.atan2(LOWER * math.sin(e), UPPER + LOWER * math.cos(e)), e]
            for e in (elbow, -elbow)
        ]
    )


def turned(q, reference):
    """Take off whole turns so that each angle is nearest to a reference."""
    return q - 2.0 * math.pi * np.round((q - reference) / (2.0 * math.pi))


# --- joint values from points -----------------------------------------------------------------


def test_two_links_take_the_angles_of_their_points():
    points = [[0.0, 0.0, 0.0], [0.0, UPPER, 0.0], [-LOWER, UPPER, 0.0]]
    q, residual = values_from_points(chain_of(TWO_LINKS), points, [0.0, 0.0])
    assert_close(q, [RIGHT_ANGLE, RIGHT_ANGLE])
    assert residual < 1e-15


def test_a_link_that_is_too_short_turns_to_its_point_and_tells_what_is_missing():
    points = [[0.0, 0.0, 0.0], [0.0, UPPER + 0.25, 0.0], [0.0, UPPER + 0.25 + LOWER, 0.0]]
    q, residual = values_from_points(chain_of(TWO_LINKS), points, [0.3, 0.2])
    assert_close(q, [RIGHT_ANGLE, 0.0])
    assert_close(residual, 0.25)


def test_a_hinge_stops_at_the_limit_nearest_on_the_circle():
    arm = [Segment(lower=-1.0, upper=0.5), Segment('fixed', xyz=(1.0, 0.0, 0.0))]
    for angle, expected in ((1.0, 0.5), (-1.5, -1.0), (2.8, 0.5), (-2.8, -1.0)):
        points = [[0.0, 0.0, 0.0], [math.cos(angle), math.sin(angle), 0.0]]
        q, residual = values_from_points(chain_of(arm), points, [0.0])
        assert_close(q, [expected])
        assert_close(residual, 2.0 * abs(math.sin(0.5 * (angle - expected))))


def test_a_slide_takes_the_length():
    arm = [Segment('prismatic', lower=0.0, upper=2.0), Segment('fixed', xyz=(0.0, 0.0, 0.1))]
    q, residual = values_from_points(chain_of(arm), [[0.0, 0.0, 1.5], [0.0, 0.0, 1.6]], [0.0])
    assert_close(q, [1.5])
    assert residual < 1e-15


def test_a_hinge_and_a_slide_that_leave_from_one_point_are_found_together():
    arm = [
        Segment('continuous'),
        Segment('prismatic', axis=(1.0, 0.0, 0.0), lower=0.2, upper=2.0),
        Segment('fixed', xyz=(0.1, 0.0, 0.0)),
    ]
    points = [[0.0, 0.0, 0.0], [0.0, 1.2, 0.0], [0.0, 1.3, 0.0]]
    q, residual = values_from_points(chain_of(arm), points, [0.0, 1.0])
    assert_close(q, [RIGHT_ANGLE, 1.2])
    assert residual < 1e-15


UNIVERSAL = [
    Segment('continuous'),
    Segment('continuous', axis=Y),
    Segment('fixed', xyz=(0.0, 0.0, 1.0)),
]


@pytest.mark.parametrize('side', [1.0, -1.0])
def test_of_the_two_answers_of_a_universal_joint_the_nearer_is_taken(side):
    """Leaning over by +a towards yaw y, or by -a towards y + pi, is the same place."""
    chain = chain_of(UNIVERSAL)
    yaw, lean = (0.4, 0.7) if side > 0 else (0.4 - math.pi, -0.7)
    points = chain.points([0.4, 0.7])
    q, residual = values_from_points(chain, points, [yaw + 0.1, lean - 0.1])
    assert_close(q, [yaw, lean], 1e-12)
    assert residual < 1e-15


def test_of_the_two_answers_the_one_inside_the_limits_is_taken():
    arm = [Segment(), Segment(axis=Y, lower=-2.0, upper=0.0), UNIVERSAL[2]]
    points = chain_of(UNIVERSAL).points([0.4, 0.7])
    q, residual = values_from_points(chain_of(arm), points, [0.5, 0.0])
    assert_close(q, [0.4 - math.pi, -0.7], 1e-12)
    assert residual < 1e-15


def test_a_joint_that_no_point_tells_of_stays_at_the_seed():
    arm = [Segment('continuous'), Segment('fixed', xyz=(0.0, 0.0, 1.0))]
    q, residual = values_from_points(chain_of(arm), [[0, 0, 0], [0, 0, 1]], [0.3])
    assert_close(q, [0.3])
    assert residual == 0.0


def test_the_orientation_tells_of_a_joint_that_no_point_tells_of():
    arm = [Segment('continuous'), Segment('fixed', xyz=(0.0, 0.0, 1.0))]
    T = transform(rotation_from_rpy(0.0, 0.0, 1.1), [0.0, 0.0, 1.0])
    q, _ = values_from_points(chain_of(arm), [[0, 0, 0], [0, 0, 1]], [0.3], T)
    assert_close(q, [1.1])


@pytest.mark.parametrize(
    ('yaw', 'roll', 'seed'), [(1.5, 0.4, 0.0), (2.9, 0.4, -3.0), (-2.9, -0.4, 2.8)]
)
def test_an_arm_at_its_singularity_shares_a_turn_between_joints_in_line(yaw, roll, seed):
    """Upright, yaw and roll are one axis: what the roll cannot turn the yaw has to."""
    arm = [
        Segment(),
        Segment(axis=Y),
        Segment(lower=-0.5, upper=0.5, xyz=(0.0, 0.0, 0.4)),
        Segment(axis=Y, xyz=(0.1, 0.0, 0.3)),
        Segment('fixed', xyz=(0.2, 0.0, 0.1)),
    ]
    chain = chain_of(arm)
    points = chain.points([yaw, 0.0, roll, 0.6])
    q, residual = values_from_points(chain, points, [seed, 0.1, 0.0, 0.0])
    assert residual < 1e-9
    whole_turns = (q[0] + q[2] - yaw - roll) / (2.0 * math.pi)
    assert_close(whole_turns, np.round(whole_turns), 1e-9)
    assert is_inside(chain, q)


@pytest.mark.parametrize('kind', ['continuous', 'revolute'])
def test_joints_in_line_before_a_point_that_cannot_be_had_stay_what_they_are(kind):
    """The tip is 1 m from the axis of both and shall be 3 m from it: the last turns to it."""
    arm = [Segment(), Segment(kind, xyz=(0.0, 0.0, 0.2)), Segment('fixed', xyz=(1.0, 0.0, 0.0))]
    points = [[0.0, 0.0, 0.0], [0.0, 0.0, 0.2], [0.0, 3.0, 0.2]]
    q, residual = values_from_points(chain_of(arm), points, [0.3, 0.2])
    assert_close(q, [0.3, RIGHT_ANGLE - 0.3])
    assert_close(residual, 2.0)


def test_bounds_hold_beside_the_limits():
    chain = chain_of(TWO_LINKS)
    points = chain.points([1.0, 1.0])
    q, residual = values_from_points(chain, points, [0, 0], lower=[-1, -1], upper=[0.5, 1])
    assert q[0] == 0.5
    assert_close(residual, np.linalg.norm(chain.points(q) - points, axis=1).max())


@pytest.mark.parametrize(
    ('points', 'message'),
    [
        ([[0.0, 0.0, 0.0]], r'points have shape \(1, 3\), expected \(3, 3\): the joint centres'),
        (np.full((3, 3), math.nan), 'points must be finite and at most 1e\\+100'),
        (np.full((3, 3), 1e101), 'points must be finite and at most 1e\\+100'),
    ],
)
def test_points_that_are_none_are_refused(points, message):
    with pytest.raises(ValueError, match=message):
        values_from_points(chain_of(TWO_LINKS), points, [0.0, 0.0])


def test_what_else_is_no_use_is_refused():
    chain = chain_of(TWO_LINKS)
    points = chain.points([0.0, 0.0])
    with pytest.raises(JointValueError, match=r'seed has shape \(1,\), expected \(2,\)'):
        values_from_points(chain, points, [0.0])
    with pytest.raises(TargetError, match='T_base_tip is not a pose'):
        values_from_points(chain, points, [0.0, 0.0], np.ones((4, 4)))
    with pytest.raises(JointValueError, match="lower bound of joint 'j1' is above its upper"):
        values_from_points(chain, points, [0.0, 0.0], lower=[0, 1], upper=[1, 0])


def test_followers_are_refused_by_function_and_solver():
    arm = [*TWO_LINKS[:2], Segment(xyz=(0.5, 0, 0), mimic=(1, 1.0, 0.0)), TWO_LINKS[2]]
    message = "moving joint number 3 from 'l0' to 'l4' follows joint 'j1' \\(mimic\\)"
    with pytest.raises(ChainError, match=message):
        values_from_points(chain_of(arm), np.zeros((4, 3)), [0.0, 0.0])
    with pytest.raises(ChainError, match=message):
        points_solver(chain_of(arm))


# --- which points FABRIK may move -------------------------------------------------------------


@pytest.mark.parametrize(
    ('arm', 'planar', 'turning', 'standing', 'carried'),
    [
        (TWO_LINKS, True, False, 0, 1),
        (SCARA, True, False, 0, 2),
        (YAW_AND_ELBOW, False, True, 0, 2),
        (UNIVERSAL, False, True, 1, 0),
    ],
)
def test_the_layout_of_an_arm_is_what_a_drawing_shows(arm, planar, turning, standing, carried):
    layout = PointLayout(chain_of(arm))
    assert (layout.planar, layout.turning) == (planar, turning)
    assert (layout.standing, layout.carried) == (standing, carried)


@pytest.mark.parametrize(
    ('name', 'standing', 'carried'),
    [('ur5', 0, 5), ('panda', 1, 6), ('six_axis', 1, 4), ('tiago', 0, 5)],
)
def test_the_layout_of_real_arms(name, standing, carried):
    """
    Counted by hand: what lies on the first axis stands, what lies on the last hangs on the tip.

    The wrist of Tiago is spherical: its three joints and the tip share one place.
    """
    chain, _ = judged(name)
    layout = PointLayout(chain)
    assert not layout.is_exact
    assert (layout.standing, layout.carried) == (standing, carried)


# --- the solver -------------------------------------------------------------------------------


@pytest.mark.parametrize('seed', [[0.5, 0.9], [0.5, -0.9], [-2.0, 1.0], [3.0, -3.0]])
def test_two_links_reach_as_trigonometry_says(seed):
    solver = points_solver(chain_of(TWO_LINKS), mode='position')
    solution = solver.solve([0.6, 0.9, 0.0], seed)
    assert solution.converged
    elbows = elbows_by_trigonometry(0.6, 0.9)
    misses = [np.abs(turned(solution.q, elbow) - elbow).max() for elbow in elbows]
    assert min(misses) < 1e-5


def test_a_scara_takes_the_height_with_its_slide():
    chain = chain_of(SCARA)
    truth = np.array([0.4, 1.0, 0.07, -0.6])
    solution = points_solver(chain, mode='pose').solve(
        chain.forward_kinematics(truth), [0.0, 0.5, 0.0, 0.0]
    )
    assert solution.converged
    assert_close(solution.q[2], 0.07, 1e-6)


@pytest.mark.parametrize(('yaw', 'limit'), [(2.2, 3.0), (0.0, 3.0), (1.0, 1.0)])
def test_a_turning_arm_looks_at_the_target_from_the_nearer_side_that_it_may(yaw, limit):
    """The target is at 2.5 rad: the arm turns to it or, from 0 or if it must, leans back."""
    chain = chain_of([Segment(lower=-limit, upper=limit), *YAW_AND_ELBOW[1:]])
    target = [-0.25, 0.2, 0.5]
    solution = points_solver(chain, mode='position').solve(target, [yaw, -0.5, 0.8])
    assert solution.converged
    assert (solution.q[0] > 2.0) == (yaw > 2.0)


def test_right_angles_written_with_four_digits_are_right_angles():
    arm = [
        Segment('continuous'),
        Segment('continuous', rpy=(1.5708, 0.0, 0.0), xyz=(0.05, 0.0, 0.3)),
        Segment('continuous', xyz=(0.4, 0.0, 0.0)),
        Segment('fixed', xyz=(0.3, 0.0, 0.0)),
    ]
    solution = points_solver(chain_of(arm), mode='position').solve([0.3, 0.3, 0.5], [0, 0.2, 0.4])
    assert solution.converged


def test_one_axis_of_the_tool_can_be_asked_for():
    chain = chain_of(SCARA)
    T = chain.forward_kinematics([0.4, 1.0, 0.07, -0.6])
    solver = points_solver(chain, mode='axis', axis=(0.0, 0.0, 1.0))
    assert solver.solve(T, [0.0, 0.5, 0.0, 0.0]).converged
    upside_down = T @ transform(rotation_from_rpy(math.pi, 0.0, 0.0), np.zeros(3))
    answer = solver.solve(upside_down, [0.0, 0.5, 0.0, 0.0])
    assert not answer.converged
    assert_close(answer.orientation_error, math.pi, 1e-6)


@pytest.mark.parametrize(
    ('target', 'status', 'error'),
    [
        ([3.0, 0.0, 0.0], Status.TOO_FAR, 3.0 - UPPER - LOWER),
        ([0.0, 0.1, 0.0], Status.TOO_NEAR, UPPER - LOWER - 0.1),
        ([0.6, 0.9, 0.5], Status.STALLED, 0.5),
    ],
)
def test_what_is_out_of_reach_is_told_as_it_is(target, status, error):
    solution = points_solver(chain_of(TWO_LINKS), mode='position').solve(target, [0.3, 0.4])
    assert solution.status is status
    assert_close(solution.position_error, error, 1e-3)


def test_a_limit_in_the_way_is_told():
    arm = [Segment(lower=-0.5, upper=0.5), Segment('fixed', xyz=(1.0, 0.0, 0.0))]
    solution = points_solver(chain_of(arm), mode='position').solve([0.0, 1.0, 0.0], [0.0])
    assert solution.status is Status.BLOCKED_BY_LIMITS
    assert solution.limited_joints == ('j0',)
    assert solution.q.tolist() == [0.5]


def test_a_budget_that_ends_is_told():
    chain, _ = judged('ur5')
    solver = PointArmSolver(chain, SolverOptions(method='points', budget=1e-9))
    rng = np.random.default_rng(0)
    T = chain.forward_kinematics(chain.random_configuration(rng))
    assert solver.solve(T).status is Status.BUDGET_EXHAUSTED


def test_joints_go_no_farther_than_allowed_and_the_status_says_so():
    chain = chain_of(TWO_LINKS)
    solver = points_solver(chain, mode='position', max_joint_move=0.2)
    seed = np.array([0.0, 0.5])
    solution = solver.solve([-0.6, 0.9, 0.0], seed)
    assert np.all(np.abs(solution.q - seed) <= 0.2)
    assert solution.status is Status.BLOCKED_BY_JOINT_MOVE


def test_a_seed_that_is_there_is_the_answer():
    chain = chain_of(TWO_LINKS)
    seed = np.array([0.3, 0.8])
    solution = points_solver(chain).solve(chain.forward_kinematics(seed), seed)
    assert solution.finished_by == 'seed'
    assert solution.passes == 0
    assert solution.q.tolist() == seed.tolist()


def test_where_nothing_helps_the_seed_comes_back_by_nobody():
    arm = [Segment('continuous'), Segment('fixed', xyz=(0.0, 0.0, 1.0))]
    solution = points_solver(chain_of(arm), mode='position').solve([0.5, 0.0, 1.0], [0.7])
    assert solution.finished_by == 'nobody'
    assert solution.q.tolist() == [0.7]


def test_an_orientation_that_cannot_be_had_yields_to_the_position():
    chain = chain_of(TWO_LINKS)
    T = transform(rotation_from_rpy(0.3, 0.2, 0.1), [0.6, 0.9, 0.0])
    assert points_solver(chain).solve(T, [0.3, 0.8]).converged
    assert not points_solver(chain, mode='pose').solve(T, [0.3, 0.8]).converged


def test_a_single_pass_shows_the_points_wanted_and_those_reached():
    chain, _ = judged('ur5')
    rng = np.random.default_rng(1)
    T = chain.forward_kinematics(chain.random_configuration(rng))
    done = points_solver(chain).single_pass(T, chain.mid_configuration())
    lengths = np.linalg.norm(np.diff(done.points, axis=0), axis=1)
    assert_close(lengths[:-1], np.linalg.norm(np.diff(chain.points(done.q), axis=0), axis=1)[:-1])
    apart = np.linalg.norm(chain.points(done.q) - done.points, axis=1)
    assert_close(done.residual, apart.max())
    assert done.residual > 0.01
    assert_close(done.points[-1], T[:3, 3], 1e-7)


@pytest.mark.parametrize(
    ('target', 'message'),
    [
        (np.eye(3), r'target has shape \(3, 3\), expected a pose of shape \(4, 4\)'),
        (np.full((4, 4), math.nan), 'target has entries that are not finite'),
        (2.0 * np.eye(4), 'target is not a pose'),
    ],
)
def test_a_target_that_is_no_pose_is_refused(target, message):
    solver = points_solver(chain_of(TWO_LINKS))
    for call in (solver.solve, solver.single_pass):
        with pytest.raises(TargetError, match=message):
            call(target)


def test_a_seed_of_the_wrong_length_is_refused():
    with pytest.raises(JointValueError, match=r'seed has shape \(3,\)'):
        points_solver(chain_of(TWO_LINKS)).solve(np.eye(4), [0, 0, 0])


# --- choosing it ------------------------------------------------------------------------------


def test_the_options_choose_the_solver():
    chain = chain_of(TWO_LINKS)
    assert type(make_solver(chain)) is FabrikSolver
    assert type(make_solver(chain, SolverOptions())) is FabrikSolver
    solver = make_solver(chain, SolverOptions(method='points', mode='position'))
    assert type(solver) is PointArmSolver
    assert solver.options.mode == 'position'
    assert solver.warm_up() >= 0.0


def test_no_solver_takes_the_options_of_another():
    chain = chain_of(TWO_LINKS)
    message = "FabrikSolver is for method 'articulated', got 'points'; make_solver"
    with pytest.raises(ValueError, match=message):
        FabrikSolver(chain, SolverOptions(method='points'))
    with pytest.raises(ValueError, match="PointArmSolver is for method 'points', got 'articul"):
        PointArmSolver(chain, SolverOptions())


@pytest.mark.parametrize(
    ('option', 'value'),
    [
        ('prefer', 'near'),
        ('posture', (0.0, 0.0)),
        ('axis_weights', (1, 1, 1, 1, 1, 0)),
        ('axis_tolerances', (0, 0, 0, 0, 0, 0.1)),
    ],
)
def test_options_that_points_cannot_heed_are_refused(option, value):
    with pytest.raises(ValueError, match=f"{option} cannot be combined with method 'points'"):
        SolverOptions(method='points', **{option: value})


def test_a_method_that_is_none_is_refused():
    with pytest.raises(ValueError, match="method must be one of articulated, points; got 'ccd'"):
        SolverOptions(method='ccd')


def test_options_at_their_defaults_are_no_wish_however_they_are_written():
    options = SolverOptions(method='points', axis_weights=[1] * 6, axis_tolerances=np.zeros(6))
    assert options.method == 'points'


def test_the_answer_is_the_same_bit_for_bit_and_the_arguments_stay():
    chain, _ = judged('panda')
    rng = np.random.default_rng(2)
    T, seed = chain.forward_kinematics(chain.random_configuration(rng)), chain.mid_configuration()
    T_before, seed_before = T.copy(), seed.copy()
    answers = [points_solver(chain).solve(T, seed) for _ in range(2)]
    assert same_answer(*answers)
    assert np.array_equal(T, T_before)
    assert np.array_equal(seed, seed_before)


@pytest.mark.parametrize('name', ['textbook.arm.point_arm_solver', 'methods'])
def test_examples_in_docstrings_are_true(name):
    module = __import__(f'fabrik_ros.{name}', fromlist=[name])
    results = doctest.testmod(module)
    assert results.attempted > 0
    assert results.failed == 0


def test_bundled_planar_arm_is_read_as_planar():
    chain, judge = judged('planar_two_link')
    assert PointLayout(chain).planar
    rng = np.random.default_rng(3)
    solver = points_solver(chain, mode='position')
    for _ in range(20):
        T = judge.pose(judge.random_configuration(rng))
        seed = chain.random_configuration(rng)
        solution = solver.solve(T, seed)
        assert_close(solution.position_error, judge.errors(T, solution.q)[0], 1e-12)
