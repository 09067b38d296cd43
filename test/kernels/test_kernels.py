"""The compiled functions, each against brute force, numpy or pinocchio."""

import itertools
import math

from fabrik_ros import Chain, load_urdf
from fabrik_ros.kernels import (
    buffers as workspace,
    frames,
    iterations as rounds,
    jacobian,
    kinematics,
    polish,
    reaching,
    search,
    task,
    tips,
)
from fabrik_ros.kernels._jit import COMPILED, IS_BUILT
from fabrik_ros.kernels.arm_table import IS_MIMIC, IS_PRISMATIC, MULTIPLIER, OFFSET, SOURCE
from fabrik_ros.transforms import (
    Array,
    inverse,
    rotation_from_axis_angle,
    rotation_from_vector,
    rotation_vector,
    transform,
)
from helpers import assert_close, example_robot, PLANAR, REAL_ARMS, Segment, serial_xml, SIX_AXIS
import numpy as np
import pytest

MODES = [task.POSITION_MODE, task.AXIS_MODE, task.POSE_MODE]
AXIS = np.array([0.6, 0.0, 0.8])
TURN = 2.0 * math.pi

# Every kind of joint: hinges, slides, and followers of both, one of them backwards.
MIXED_SEGMENTS = [
    Segment('continuous', xyz=(0.0, 0.1, 0.2), rpy=(0.1, 0.0, 0.3)),
    Segment('prismatic', axis=(0.0, 1.0, 1.0), xyz=(0.2, 0.0, 0.1), lower=-0.2, upper=0.3),
    Segment(axis=(0.0, 1.0, 0.0), xyz=(0.3, 0.0, 0.1), lower=-2.0, upper=1.5),
    Segment(axis=(0.0, 1.0, 0.2), xyz=(0.3, 0.0, 0.0), mimic=(2, -0.5, 0.1)),
    Segment('prismatic', axis=(1.0, 0.0, 0.0), xyz=(0.1, 0.0, 0.0), mimic=(1, 0.7, 0.05)),
    Segment(axis=(1.0, 0.0, 0.0), xyz=(0.2, 0.1, 0.0), lower=-3.0, upper=3.0),
    Segment('fixed', xyz=(0.1, 0.0, 0.05), rpy=(0.2, 0.4, 0.0)),
]
MIXED = serial_xml(MIXED_SEGMENTS)


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(7)


@pytest.fixture(params=[SIX_AXIS, MIXED, PLANAR], ids=['six_axis', 'mixed', 'planar'])
def chain(request) -> Chain:
    return load_urdf(request.param).chain()


def random_pose(rng: np.random.Generator) -> Array:
    """Draw a pose (4, 4)."""
    return transform(rotation_from_vector(rng.normal(size=3)), rng.normal(size=3))


def row(T: Array) -> Array:
    """Write a pose (4, 4) as the kernels do: twelve numbers."""
    return np.concatenate([T[:3, :3].ravel(), T[:3, 3]])


def pose(frame: Array) -> Array:
    """Read twelve numbers as a pose (4, 4)."""
    return transform(frame[:9].reshape(3, 3), frame[9:])


def pack(chain: Chain, mode: int, weight: float = 1.0) -> Array:
    """Write a task for this arm."""
    return task.pack_task(1e-6, 1e-6, mode, AXIS, chain.reach, weight)


def link_frames(chain: Chain, q: Array) -> Array:
    """Frames of all links and of the tip, shape (m + 1, 12)."""
    result = np.empty((len(chain.model), 12))
    kinematics.link_frames(chain.model, q, result)
    return result


def motion(model_row: Array, q: Array) -> Array:
    """Pose of a link in its joint frame, by the textbook."""
    value = model_row[MULTIPLIER] * q[int(model_row[SOURCE])] + model_row[OFFSET]
    if model_row[IS_PRISMATIC]:
        return transform(np.eye(3), [0.0, 0.0, value])
    return transform(rotation_from_axis_angle([0.0, 0.0, 1.0], value), np.zeros(3))


class TestFrames:
    def test_compose_is_the_matrix_product_also_in_place(self, rng):
        A, B = random_pose(rng), random_pose(rng)
        out = row(A)
        frames.compose(out, row(B), out)
        assert_close(pose(out), A @ B)

    def test_compose_inverse_undoes_compose(self, rng):
        A, B = random_pose(rng), random_pose(rng)
        out = row(A @ B)
        frames.compose_inverse(out, row(B), out)
        assert_close(pose(out), A)

    def test_rotate_frame_turns_in_the_common_frame_and_leaves_the_position(self, rng):
        A, v = random_pose(rng), rng.normal(size=3)
        out = row(A)
        frames.rotate_frame(out, *v)
        assert_close(pose(out), transform(rotation_from_vector(v) @ A[:3, :3], A[:3, 3]))

    @pytest.mark.parametrize(
        'angle', [0.0, 1e-15, 1e-9, 1e-3, 1.0, 3.0, math.pi - 1e-6, math.pi - 1e-9, math.pi]
    )
    def test_rotation_between_is_the_logarithm_also_near_zero_and_pi(self, angle, rng):
        for axis in [*np.eye(3), *rng.normal(size=(20, 3))]:
            v = angle * axis / np.linalg.norm(axis)
            A = random_pose(rng)
            B = transform(rotation_from_vector(v) @ A[:3, :3], np.zeros(3))
            found = np.array(frames.rotation_between(row(A), row(B)))
            # Rounding of A and B alone is some 1e-16, and near pi both signs are right.
            error = min(np.abs(found - v).max(), np.abs(found + v).max() if angle > 3.1 else 1.0)
            assert error < 1e-14 + 1e-15 * angle

    def test_rotation_between_agrees_with_pinocchio(self, rng):
        pinocchio = pytest.importorskip('pinocchio')
        for _ in range(200):
            A, B = random_pose(rng), random_pose(rng)
            expected = pinocchio.log3(B[:3, :3] @ A[:3, :3].T)
            assert_close(frames.rotation_between(row(A), row(B)), expected, 1e-9)

    @pytest.mark.parametrize(
        'angle', [0.0, 1e-10, 1e-6, 1.0, math.pi - 1e-6, math.pi - 1e-10, math.pi]
    )
    def test_rotation_onto_lays_one_direction_on_the_other_by_the_least_angle(self, angle, rng):
        for a in [*np.eye(3), *-np.eye(3), *rng.normal(size=(20, 3))]:
            a = a / np.linalg.norm(a)
            across = np.cross(a, rng.normal(size=3))
            b = rotation_from_axis_angle(across / np.linalg.norm(across), angle) @ a
            v = np.array(frames.rotation_onto(*a, *b))
            assert_close(rotation_from_vector(v) @ a, b, 3e-8 if angle > 3.1 else 1e-14)
            assert_close(np.linalg.norm(v), angle, 3e-8)
            assert_close(v @ a, 0.0, 3e-8)


class TestKinematics:
    def test_frames_follow_the_textbook(self, chain, rng):
        q = chain.random_configuration(rng)
        T = np.eye(4)
        for model_row, frame in zip(chain.model[:-1], link_frames(chain, q), strict=False):
            T = T @ pose(model_row[:12]) @ motion(model_row, q)
            assert_close(pose(frame), T)

    def test_tip_and_joint_centres_agree_with_the_frames(self, chain, rng):
        q = chain.random_configuration(rng)
        all_frames = link_frames(chain, q)
        assert_close(chain.forward_kinematics(q), pose(all_frames[-1]))
        assert_close(chain.points(q)[-1], all_frames[-1, 9:])
        assert_close(chain.points(q)[0], chain.root_point)


def carried(points: Array, directions: Array, T: Array) -> tuple[Array, Array]:
    """Write points and directions of the common frame in the frame T."""
    return (points - T[:3, 3]) @ T[:3, :3], directions @ T[:3, :3]


def moments_of(points: Array, directions: Array) -> Array:
    """Sum and second moment, as numpy has them."""
    everything = np.vstack([points, directions])
    second = everything.T @ everything
    return np.concatenate([points.sum(axis=0), second[np.triu_indices(3)]])


def filled_moments(points: Array, directions: Array) -> Array:
    """Sum and second moment, as the kernels gather them."""
    moments = np.zeros(reaching.MOMENTS)
    for point in points:
        reaching.add_point(moments, *point)
    for direction in directions:
        reaching.add_direction(moments, *direction)
    return moments


class TestClosedForms:
    """A point set, seen from two frames, laid on itself by one joint value."""

    def test_moments_are_sum_and_second_moment(self, rng):
        points, directions = rng.normal(size=(5, 3)), rng.normal(size=(2, 3))
        assert_close(filled_moments(points, directions), moments_of(points, directions))

    def test_a_frame_counts_as_three_directions(self):
        moments = np.zeros(reaching.MOMENTS)
        reaching.add_frame(moments, 0.3)
        assert_close(moments, moments_of(np.zeros((0, 3)), 0.3 * np.eye(3)))

    @pytest.mark.parametrize('count', [1, 2, 7])
    @pytest.mark.parametrize('lever', [0.0, 0.5])
    def test_best_turn_has_the_least_sum_of_squares_of_all_angles(self, count, lever, rng):
        angles = np.linspace(-math.pi, math.pi, 721)
        for _ in range(20):
            A, B = random_pose(rng), random_pose(rng)
            points, directions = rng.normal(size=(count, 3)), lever * np.eye(3)

            def misfit(angle, A=A, B=B, points=points, directions=directions):
                R = rotation_from_axis_angle([0.0, 0.0, 1.0], angle)
                seen = np.vstack(carried(points, directions, A))
                sent = np.vstack(carried(points, directions, B))
                return np.sum((seen - sent @ R.T) ** 2)

            moments = moments_of(points, directions)
            c, s = reaching.best_turn(moments, float(count), row(A), row(B))
            assert_close(math.hypot(c, s), 1.0)
            assert misfit(math.atan2(s, c)) <= min(map(misfit, angles)) + 1e-9

    @pytest.mark.parametrize('count', [1, 2, 7])
    def test_best_shift_has_the_least_sum_of_squares_of_all_distances(self, count, rng):
        distances = np.linspace(-10.0, 10.0, 2001)
        for _ in range(20):
            A, B = random_pose(rng), random_pose(rng)
            points, directions = rng.normal(size=(count, 3)), np.eye(3)

            def misfit(shift, A=A, B=B, points=points, directions=directions):
                seen, sent = carried(points, directions, A)[0], carried(points, directions, B)[0]
                return np.sum((seen - sent - [0.0, 0.0, shift]) ** 2)

            moments = moments_of(points, directions)
            shift = reaching.best_shift(moments, float(count), row(A), row(B))
            assert misfit(shift) <= min(map(misfit, distances)) + 1e-9

    def test_no_angle_is_best_for_points_on_the_axis(self, rng):
        A = random_pose(rng)
        B = A @ transform(rotation_from_axis_angle([0.0, 0.0, 1.0], 0.7), [0.0, 0.0, 0.3])
        points = A[:3, 3] + np.outer([-1.0, 0.5, 2.0], A[:3, 2])
        moments = moments_of(points, np.zeros((0, 3)))
        assert reaching.best_turn(moments, 3.0, row(A), row(B)) == (0.0, 0.0)

    @pytest.mark.parametrize('mode', MODES)
    def test_upstream_moments_hold_the_base_and_the_joint_centres_before(self, chain, mode, rng):
        all_frames = link_frames(chain, chain.random_configuration(rng))
        sums = np.empty((len(chain.model) - 1, reaching.MOMENTS))
        packed = pack(chain, mode)
        reaching.sum_upstream(chain.model, all_frames, packed, sums)
        base = packed[task.ORIENTATION_RADIUS] * np.eye(3)
        centres = np.vstack([chain.root_point, all_frames[:, 9:]])
        for i, moments in enumerate(sums):
            assert_close(moments, moments_of(centres[: i + 1], base))

    @pytest.mark.parametrize('mode', MODES)
    def test_downstream_moments_hold_the_target_and_the_centres_behind(self, chain, mode, rng):
        all_frames = link_frames(chain, chain.random_configuration(rng))
        sums = np.empty((len(chain.model) - 1, reaching.MOMENTS))
        packed = pack(chain, mode)
        reaching.sum_downstream(chain.model, all_frames, packed, sums)
        R = pose(all_frames[-1])[:3, :3]
        directions = {
            task.POSITION_MODE: np.zeros((0, 3)),
            task.AXIS_MODE: packed[task.ORIENTATION_RADIUS] * (R @ AXIS)[None],
            task.POSE_MODE: packed[task.ORIENTATION_RADIUS] * np.eye(3),
        }[mode]
        for i, moments in enumerate(sums):
            assert_close(moments, moments_of(all_frames[i + 1 :, 9:], directions))


LIMITS = [(-1.0, 2.0), (-3.0, 3.0), (-7.0, 1.0), (2.0, 2.5), (0.4, 0.4), (-math.inf, math.inf)]


@pytest.mark.parametrize(('lower', 'upper'), LIMITS)
def test_clamped_turn_is_the_nearest_angle_inside_or_else_the_nearer_limit(lower, upper):
    inside = np.linspace(max(lower, -8.0), min(upper, 8.0), 5)
    for value, present in itertools.product(np.linspace(-9.0, 9.0, 145), inside):
        found = reaching.clamp_turn(value, present, lower, upper)
        assert lower <= found <= upper
        turns = value + TURN * np.arange(-6, 7)
        allowed = turns[(turns >= lower) & (turns <= upper)]
        if len(allowed):
            assert_close(found, allowed[np.argmin(np.abs(allowed - present))], 1e-9)
        else:
            gaps = [np.abs(turns - limit).min() for limit in (lower, upper)]
            assert_close(np.abs(turns - found).min(), min(gaps), 1e-9)
            assert found in (lower, upper)


def cut_memory(moving: int, values: int) -> workspace.Buffers:
    """Memory for kernels."""
    # The compiled one would return views that do not keep the memory alive.
    cut = getattr(workspace.cut, 'py_func', workspace.cut)
    return cut(*workspace.allocate(moving, values), moving)


def workspace_for(chain: Chain) -> workspace.Buffers:
    """Memory for kernels, with the chain's limits in it."""
    work = cut_memory(len(chain.model) - 1, len(chain))
    reaching.fill_arcs(chain.lower, chain.upper, work.arcs)
    return work


def run_tip_to_base(chain: Chain, target: Array, packed: Array, q: Array) -> workspace.Buffers:
    """Make the pass; return the memory, which holds the arm that hangs on the target."""
    work = workspace_for(chain)
    kinematics.joint_and_link_frames(chain.model, q, work.joints, work.frames)
    reaching.tip_to_base(chain.model, chain.lower, chain.upper, row(target), packed, q, work)
    return work


def run_round(chain: Chain, target: Array, packed: Array, q: Array) -> tuple[Array, Array]:
    """Make both passes; return new joint values and where the links come to stand."""
    work, q_new = run_tip_to_base(chain, target, packed, q), q.copy()
    reaching.base_to_tip(chain.model, chain.lower, chain.upper, packed, q_new, work)
    return q_new, work.frames


@pytest.mark.parametrize(('lower', 'upper'), LIMITS)
def test_clamped_direction_is_inside_or_else_at_the_nearer_limit(lower, upper):
    arcs = np.empty((1, 4))
    reaching.fill_arcs(np.array([lower]), np.array([upper]), arcs)
    for angle in np.linspace(-7.0, 7.0, 97):
        c, s = reaching.clamp_direction(math.cos(angle), math.sin(angle), arcs[0])
        assert_close(math.hypot(c, s), 1.0)
        turns = TURN * np.arange(-4, 5)
        present = 0.5 * (lower + upper) if math.isfinite(upper) else 0.0
        expected = reaching.clamp_turn(angle, present, lower, upper)
        distance = np.abs(math.atan2(s, c) - expected + turns).min()
        tie = abs(abs(math.remainder(angle - present, TURN)) - math.pi) < 1e-9
        assert distance < 1e-9 or tie


@pytest.mark.parametrize('mode', MODES)
class TestPasses:
    def test_tip_to_base_hangs_the_tip_on_the_target(self, chain, mode, rng):
        target = chain.forward_kinematics(chain.random_configuration(rng))
        q = chain.random_configuration(rng)
        tip = pose(run_tip_to_base(chain, target, pack(chain, mode), q).wanted[-1])
        assert_close(tip[:3, 3], target[:3, 3])
        if mode == task.POSE_MODE:
            assert_close(tip, target)
        elif mode == task.AXIS_MODE:
            assert_close(tip[:3, :3] @ AXIS, target[:3, :3] @ AXIS)
        else:
            assert_close(tip[:3, :3], chain.forward_kinematics(q)[:3, :3])

    def test_the_arm_that_hangs_on_the_target_has_its_own_links_joints_and_limits(
        self, chain, mode, rng
    ):
        target = chain.forward_kinematics(chain.random_configuration(rng))
        q = chain.random_configuration(rng)
        wanted = run_tip_to_base(chain, target, pack(chain, mode), q).wanted
        for i in range(1, len(chain.model) - 1):
            model_row, j = chain.model[i], int(chain.model[i, SOURCE])
            step = inverse(pose(model_row[:12])) @ inverse(pose(wanted[i - 1])) @ pose(wanted[i])
            value = step[2, 3] if model_row[IS_PRISMATIC] else math.atan2(step[1, 0], step[0, 0])
            rest = step.copy()
            rest[2, 3], rest[:2, :2] = 0.0, rest[:2, :2] if model_row[IS_PRISMATIC] else np.eye(2)
            assert_close(rest, np.eye(4), 1e-9)
            if model_row[IS_MIMIC]:
                expected = model_row[MULTIPLIER] * q[j] + model_row[OFFSET]
                assert_close(value, expected, 1e-9)
            elif model_row[IS_PRISMATIC]:
                assert chain.lower[j] - 1e-9 <= value <= chain.upper[j] + 1e-9
            elif math.isfinite(chain.upper[j]):
                value += TURN * round((0.5 * (chain.lower[j] + chain.upper[j]) - value) / TURN)
                assert chain.lower[j] - 1e-9 <= value <= chain.upper[j] + 1e-9

    def test_a_round_leaves_the_real_arm_where_its_joint_values_say(self, chain, mode, rng):
        target = chain.forward_kinematics(chain.random_configuration(rng))
        q_new, found = run_round(chain, target, pack(chain, mode), chain.random_configuration(rng))
        assert np.all((chain.lower <= q_new) & (q_new <= chain.upper))
        assert_close(found, link_frames(chain, q_new), 1e-9)

    def test_an_arm_on_its_target_stays_as_it_is(self, chain, mode, rng):
        q = chain.random_configuration(rng)
        q_new, _ = run_round(chain, chain.forward_kinematics(q), pack(chain, mode), q)
        assert_close(q_new, q, 1e-9)

    def test_one_round_points_a_single_hinge_at_its_target(self, mode):
        """
        A hinge and a stick.

              x target
             /
            o---->
        """
        chain = load_urdf(serial_xml([Segment(), Segment('fixed', xyz=(1.0, 0.0, 0.0))])).chain()
        target = chain.forward_kinematics([0.9])
        assert_close(run_round(chain, target, pack(chain, mode), np.zeros(1))[0], [0.9])


# Built code has no way into a single round: `make solver-test-bounds` compiles it with numba.
SAMPLE = 200 if COMPILED and not IS_BUILT else 50
ROUNDS = 40


@pytest.mark.parametrize(
    ('name', 'mode', 'share'),
    [
        pytest.param('ur5', task.POSE_MODE, 0.43, marks=pytest.mark.long),
        ('panda', task.POSE_MODE, 0.70),
        pytest.param('baxter', task.POSE_MODE, 0.60, marks=pytest.mark.long),
        ('ur5', task.POSITION_MODE, 0.95),
        pytest.param('panda', task.POSITION_MODE, 0.95, marks=pytest.mark.long),
        pytest.param('baxter', task.POSITION_MODE, 0.95, marks=pytest.mark.long),
    ],
)
def test_forty_plain_rounds_reach_the_share_of_poses_that_the_method_is_known_for(
    name, mode, share
):
    # The shares were measured with another implementation, in numpy: 1 mm and 0.01 rad from the
    # middle of the limits.
    arm = REAL_ARMS[name]
    chain = load_urdf(example_robot(name)).chain(arm.base_link, arm.tip_link)
    packed, rng, reached = pack(chain, mode), np.random.default_rng(1), 0
    for _ in range(SAMPLE):
        target = chain.forward_kinematics(chain.random_configuration(rng))
        q = chain.mid_configuration()
        for _ in range(ROUNDS):
            q, found = run_round(chain, target, packed, q)
        error = np.empty(6)
        task.tip_error(found[-1], row(target), packed, error)
        reached += task.norm3(error, 0) < 1e-3 and task.norm3(error, 3) < 1e-2
    assert abs(reached / SAMPLE - share) < 2.5 * math.sqrt(share * (1.0 - share) / SAMPLE) + 0.03


GOAL = np.array([0.3, -0.1])


class TestAcceleration:
    def remember_round(self, begin: Array, end: Array, work: workspace.Buffers) -> None:
        """Remember a round of an arm that lacks nothing at GOAL."""
        packed = task.pack_task(1e-6, 1e-6, task.POSE_MODE, AXIS, 1.0)
        rounds.shift_memory(work)
        for k, place in enumerate((end, begin)):
            error = np.zeros(6)
            error[: len(place)] = GOAL[: len(place)] - place
            rounds.remember(place, error, packed, k, work)

    def accelerate(self, step, q: Array, count: int, room: float = math.inf) -> Array:
        """Follow q -> step(q), accelerated, inside [-room, room]."""
        n, q = len(q), q.copy()
        limit, units, work = np.full(n, room), np.ones(n), cut_memory(1, n)
        for done in range(1, count + 1):
            self.remember_round(q, step(q), work)
            kept = min(2 * done, workspace.DEPTH + 1)
            rounds.combine(-limit, limit, units, kept, 6, q, work)
        return q

    def test_a_linear_contraction_of_dimension_two_is_solved_in_two_rounds(self):
        A = np.array([[0.9, 0.05], [-0.1, 0.8]])
        q = self.accelerate(lambda q: GOAL + A @ (q - GOAL), np.zeros(2), 2)
        assert_close(q, GOAL, 1e-12)

    def test_a_contraction_of_dimension_one_is_solved_in_one_round(self):
        assert_close(self.accelerate(lambda q: 0.3 + 0.9 * (q - 0.3), np.zeros(1), 1), GOAL[:1])

    def test_a_step_ends_at_the_limits(self):
        q = self.accelerate(lambda q: 0.3 + 0.9 * (q - 0.3), np.zeros(1), 1, room=0.2)
        assert_close(q, [0.2])

    def test_a_combination_that_lies_far_away_gives_way_to_the_round(self):
        q = np.array([GOAL[0] - rounds.LONGEST_STEP - 0.4])
        assert_close(self.accelerate(lambda q: q + 1e-3, q, 1), q + 1e-3)

    def test_the_last_places_are_remembered(self):
        work, count = cut_memory(1, 1), workspace.DEPTH
        for k in range(count):
            self.remember_round(np.array([2.0 * k]), np.array([2.0 * k + 1.0]), work)
        newest = 2 * count - 1
        assert_close(work.places[:, 0], newest - np.arange(workspace.DEPTH + 1))

    def test_rounds_that_stand_still_stay_where_they_are(self):
        assert_close(self.accelerate(lambda q: q, np.array([0.4, 0.5]), 5), [0.4, 0.5])

    @pytest.mark.parametrize('mode', MODES)
    def test_rounds_never_end_farther_from_the_target_than_they_began(self, chain, mode, rng):
        packed = pack(chain, mode)
        for accelerate in (False, True):
            target = row(chain.forward_kinematics(chain.random_configuration(rng)))
            q = chain.random_configuration(rng)
            begin = merit_at(chain, q, target, packed)
            work = workspace_for(chain)
            tips.evaluate(chain.model, q, target, packed, work)
            rounds.run_iterations(
                chain.model, chain.lower, chain.upper, np.ones(len(chain)), target, packed,
                10, accelerate, q, work,
            )  # fmt: skip
            assert merit_at(chain, q, target, packed) <= begin
            assert np.all((chain.lower <= q) & (q <= chain.upper))


def merit_at(chain: Chain, q: Array, target: Array, packed: Array) -> float:
    """Weighted squared error at joint values q."""
    error = np.empty(6)
    task.tip_error(link_frames(chain, q)[-1], target, packed, error)
    return task.cost(error, packed)


class TestPolish:
    @pytest.mark.parametrize('condition', [1.0, 1e6, 1e12])
    def test_equations_are_solved_as_by_numpy(self, condition, rng):
        Q, _ = np.linalg.qr(rng.normal(size=(6, 6)))
        A = Q @ np.diag(np.geomspace(1.0, 1.0 / condition, 6)) @ Q.T
        x = rng.normal(size=6)
        b = A @ x
        polish.solve_symmetric(np.tril(A), b, 6)
        assert_close(b, x, 1e-14 * condition)

    @pytest.mark.parametrize('mode', MODES)
    def test_jacobian_is_the_derivative_of_the_tip(self, chain, mode, rng):
        q, packed = chain.random_configuration(rng), pack(chain, mode, weight=0.4)
        units = rng.uniform(0.5, 2.0, len(chain))
        columns = np.empty((len(chain), 6))
        frames_of_links = link_frames(chain, q)
        jacobian.jacobian(
            chain.model, frames_of_links, frames_of_links[-1], np.zeros(6), units, packed, columns
        )
        R = chain.forward_kinematics(q)[:3, :3]
        axis, h = R @ AXIS, 1e-6
        for column, e, unit in zip(columns, np.eye(len(chain)), units, strict=True):
            ahead = chain.forward_kinematics(q + h * e)
            behind = chain.forward_kinematics(q - h * e)
            velocity = unit * (ahead - behind)[:3, 3] / (2 * h)
            spin = unit * rotation_vector(ahead[:3, :3] @ behind[:3, :3].T) / (2 * h)
            if mode == task.POSITION_MODE:
                spin = np.zeros(3)
            elif mode == task.AXIS_MODE:
                spin -= (spin @ axis) * axis
            assert_close(column[:3], velocity * packed[task.PER_LENGTH], 1e-8)
            assert_close(column[3:], 0.4 * spin, 1e-8)

    @pytest.mark.parametrize('mode', MODES)
    def test_steps_lower_the_error_inside_the_limits(self, chain, mode, rng):
        packed = pack(chain, mode)
        for _ in range(20):
            target = row(chain.forward_kinematics(chain.random_configuration(rng)))
            q = chain.random_configuration(rng)
            begin = merit_at(chain, q, target, packed)
            work = workspace_for(chain)
            tips.evaluate(chain.model, q, target, packed, work)
            steps = polish.run_polish(
                chain.model, chain.lower, chain.upper, np.ones(len(chain)), target, packed,
                10, False, q, work,
            )  # fmt: skip
            assert 0 <= steps <= 10
            assert merit_at(chain, q, target, packed) <= begin
            assert np.all((chain.lower <= q) & (q <= chain.upper))

    @pytest.mark.parametrize(
        ('value', 'slope', 'out'), [(0.0, -1.0, True), (0.0, 1.0, False), (1.0, 1.0, True)]
    )
    def test_a_joint_on_a_limit_pushes_out_only_outwards(self, value, slope, out):
        assert polish.pushes_out(value, slope, 0.0, 1.0) == out
        assert not polish.pushes_out(0.5, slope, 0.0, 1.0)


class TestSearch:
    def limits(self, chain: Chain) -> Array:
        """Pack what the search reads."""
        return np.array([chain.lower, chain.upper, *chain.finite_limits(), np.ones(len(chain))])

    def test_starts_are_spread_over_the_whole_range_and_inside_it(self, chain):
        starts = np.empty((200, len(chain)))
        lower, upper = chain.finite_limits()
        for number, q in enumerate(starts):
            search.scatter(number, lower, upper, q)
        assert np.all((lower <= starts) & (starts <= upper))
        for values, low, high in zip(starts.T, lower, upper, strict=True):
            counts, _ = np.histogram(values, 4, (low, high))
            assert counts.min() > 25  # of 50, were it even

    def test_whole_turns_are_undone_towards_the_seed_but_not_of_what_is_followed(self, rng):
        chain = load_urdf(
            serial_xml(
                [
                    Segment('continuous', xyz=(0.0, 0.0, 0.1)),
                    Segment('continuous', xyz=(0.3, 0.0, 0.1)),
                    Segment('continuous', xyz=(0.3, 0.0, 0.0), mimic=(1, 0.5, 0.0)),
                    Segment(lower=-7.0, upper=7.0, xyz=(0.3, 0.0, 0.0)),
                    Segment('prismatic', lower=-9.0, upper=9.0, xyz=(0.3, 0.0, 0.0)),
                ]
            )
        ).chain()
        seed = np.array([20.0, 20.0, 5.0, 8.0])
        q = np.array([1.0, 1.0, -3.0, 1.0])
        T = chain.forward_kinematics(q)
        search.bring_towards(seed, chain.model, self.limits(chain), q)
        assert_close(q, [1.0 + 3 * TURN, 1.0, -3.0 + TURN, 1.0], 1e-12)
        assert_close(chain.forward_kinematics(q), T, 1e-12)

    def test_whole_turns_never_lead_out_of_the_limits(self, chain, rng):
        for _ in range(50):
            q, seed = chain.random_configuration(rng), 9.0 * rng.normal(size=len(chain))
            before = q.copy()
            search.bring_towards(seed, chain.model, self.limits(chain), q)
            assert np.all((chain.lower <= q) & (q <= chain.upper))
            assert np.all(np.abs(q - seed) <= np.abs(before - seed) + 1e-12)
