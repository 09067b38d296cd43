"""
Axes of the target that are free, have room or count more than others.

Errors are judged as the options mean them: along the axes of the target, and about them.

"""

import math

from fabrik_ros import Chain, load_urdf, Status
from fabrik_ros.kernels import jacobian, kinematics, task
from fabrik_ros.kernels._jit import COMPILED
from fabrik_ros.transforms import (
    Array,
    rotation_from_vector,
    rotation_vector,
    transform,
)
from helpers import assert_close, PLANAR, Segment, serial_xml, SIX_AXIS
from hypothesis import assume, given, settings, strategies as st
import numpy as np
import pytest
from solving import is_inside, judged, ROUNDING, same_answer, solver_for, TOLERANCE

FULL, NONE = (1.0,) * 6, (0.0,) * 6
SHAPES = {
    'free about z': ((1, 1, 1, 1, 1, 0), NONE),
    'free along x': ((0, 1, 1, 1, 1, 1), NONE),
    'a point': ((1, 1, 1, 0, 0, 0), NONE),
    'an orientation': ((0, 0, 0, 1, 1, 1), NONE),
    'a height': ((0, 0, 1, 0, 0, 0), NONE),
    'two radians about z': (FULL, (0, 0, 0, 0, 0, 2.0)),
    'two radians about x': (FULL, (0, 0, 0, 2.0, 0, 0)),
    'a little about all': (FULL, (0, 0, 0, 0.3, 0.2, 0.1)),
    'a slab': (FULL, (0.05, 0.03, 0, 0, 0, 0)),
    'a box and a cone': ((1, 2, 1, 1, 1, 0), (0.01, 0.02, 0.03, 0.2, 0.2, 0)),
    'heavy and light': ((1, 0.1, 3, 1, 0.2, 5), NONE),
}

# Interpreted kernels are a hundred times slower: fewer examples, the same laws.
COUNT = 100 if COMPILED else 3
laws = settings() if COMPILED else settings(max_examples=20)


def tip_in_target(T: Array, tip: Array) -> Array:
    """Place [m] and rotation vector [rad] of the tip in the frame of the target, shape (6,)."""
    relative = np.linalg.inv(T) @ tip
    return np.concatenate([relative[:3, 3], rotation_vector(relative[:3, :3])])


def target_for(tip: Array, error: Array) -> Array:
    """Pose of the target in whose frame the tip stands at `error`."""
    return tip @ np.linalg.inv(transform(rotation_from_vector(error[3:]), error[:3]))


def excess(error: Array, weights, tolerances) -> Array:
    """Take the tolerances off an error, and all of it along free axes; shape (6,)."""
    return np.where(np.array(weights) == 0, 0.0, np.maximum(np.abs(error) - tolerances, 0.0))


@pytest.mark.parametrize('shape', SHAPES.values(), ids=SHAPES.keys())
class TestShapes:
    @pytest.mark.parametrize('name', ['ur5', 'panda', 'z1'])
    def test_the_tip_is_where_the_axes_leave_it_room_and_nowhere_else(self, name, shape):
        (chain, judge), rng, (weights, tolerances) = judged(name), np.random.default_rng(1), shape
        room = np.where(np.array(weights) == 0, [0.2, 0.2, 0.2, 0.9, 0.9, 0.9], tolerances)
        solver = solver_for(chain, axis_weights=weights, axis_tolerances=tolerances)
        for _ in range(COUNT):
            error = room * rng.uniform(-1.0, 1.0, 6)
            T = target_for(judge.pose(chain.random_configuration(rng)), error)
            solution = solver.solve(T)
            left = excess(tip_in_target(T, judge.pose(solution.q)), weights, tolerances)
            assert solution.status is Status.CONVERGED
            assert is_inside(judge, solution.q)
            assert max(np.linalg.norm(left[:3]), np.linalg.norm(left[3:])) <= TOLERANCE + ROUNDING

    def test_what_is_reported_is_what_exceeds_the_room(self, shape):
        (chain, judge), rng, (weights, tolerances) = judged('ur5'), np.random.default_rng(2), shape
        solver = solver_for(
            chain, axis_weights=weights, axis_tolerances=tolerances, max_restarts=0
        )
        for k in range(COUNT // 3):
            T = judge.pose(chain.random_configuration(rng))
            T[:3, 3] *= [1.0, 2.0, 0.1][k % 3]
            T[:3, :3] = rotation_from_vector(rng.normal(size=3))
            solution = solver.solve(T)
            left = excess(tip_in_target(T, judge.pose(solution.q)), weights, tolerances)
            assert_close(solution.position_error, np.linalg.norm(left[:3]), 1e-8)
            assert_close(solution.orientation_error, np.linalg.norm(left[3:]), 1e-7)


class TestFreeAxes:
    @pytest.mark.parametrize('name', ['ur5', 'panda', 'so101'])
    def test_free_about_z_the_place_is_right_and_the_axes_are_aligned(self, name):
        (chain, judge), rng = judged(name), np.random.default_rng(3)
        solver = solver_for(chain, mode='pose', axis_weights=(1, 1, 1, 1, 1, 0))
        other = solver_for(chain, mode='axis', axis=(0, 0, 1))
        for _ in range(COUNT):
            T = judge.pose(chain.random_configuration(rng))
            T = T @ transform(
                rotation_from_vector([0.0, 0.0, rng.uniform(-3.1, 3.1)]), np.zeros(3)
            )
            for solution in (solver.solve(T), other.solve(T)):
                tip = judge.pose(solution.q)
                assert solution.status is Status.CONVERGED
                assert np.linalg.norm(tip[:3, 3] - T[:3, 3]) <= TOLERANCE + ROUNDING
                assert np.linalg.norm(tip[:3, 2] - T[:3, 2]) <= TOLERANCE + ROUNDING

    def test_along_a_free_axis_no_target_is_too_far(self):
        """The target is 100 m away along its own x, which may be any distance off."""
        chain, judge = judged('ur5')
        tip = judge.pose([0.3, -1.4, 0.9, 0.2, 0.8, 0.1])
        T = target_for(tip, np.array([100.0, 0, 0, 0, 0, 0]))
        solution = solver_for(chain, axis_weights=(0, 1, 1, 1, 1, 1)).solve(T)
        left = tip_in_target(T, judge.pose(solution.q))
        assert solution.converged
        assert np.linalg.norm(left[1:3]) <= TOLERANCE + 1e-8
        assert np.linalg.norm(left[3:]) <= TOLERANCE + 1e-8
        assert solver_for(chain, max_restarts=1).solve(T).status is Status.TOO_FAR

    def test_the_axes_are_those_of_the_target_and_not_of_the_base(self):
        """
        A stick of 1 m turns about z; the target is turned by 0.5, and its x is free.

        The tip has to come to lie on the line through the target along that x.
        """
        stick = [Segment(), Segment('fixed', xyz=(1.0, 0.0, 0.0))]
        chain = load_urdf(serial_xml(stick)).chain()
        turn = rotation_from_vector([0.0, 0.0, 0.5])
        T = transform(turn, turn @ [0.3, 0.6, 0.0])
        solver = solver_for(chain, mode='position', axis_weights=(0, 1, 1, 1, 1, 1))
        solution = solver.solve(T, [0.6])
        assert solution.converged
        assert_close(solution.q, [0.5 + math.asin(0.6)], 2e-6)

    def test_weights_of_rotation_mean_nothing_where_a_point_is_asked_for(self):
        chain, T = load_urdf(PLANAR).chain(), transform(np.eye(3), [1.2, 0.5, 0.0])
        plain, weighted = (
            solver_for(chain, mode='position', axis_weights=w).solve(T)
            for w in (FULL, (1, 1, 1, 0, 0, 0))
        )
        assert plain.converged
        assert weighted.converged
        assert_close(plain.q, weighted.q, 1e-5)

    def test_equal_weights_are_no_weights(self):
        """A common factor changes what an error counts, and it counts against nothing."""
        chain, rng = load_urdf(SIX_AXIS).chain(), np.random.default_rng(5)
        plain, weighted = (solver_for(chain, axis_weights=w) for w in (FULL, (2.0,) * 6))
        for _ in range(COUNT // 3):
            T = chain.forward_kinematics(chain.random_configuration(rng))
            assert plain.solve(T).converged
            assert weighted.solve(T).converged

    def test_a_free_axis_leaves_more_configurations(self):
        chain, judge = judged('ur5')
        T = judge.pose([0.3, -1.4, 0.9, 0.2, 0.8, 0.1])
        counts = [
            len(solver_for(chain, axis_weights=w, max_restarts=100).solve_all(T))
            for w in (FULL, (1, 1, 1, 1, 1, 0))
        ]
        assert counts[1] > counts[0]


class TestCompromise:
    """One hinge, a target it cannot reach, and what is least by trying all angles."""

    @pytest.mark.parametrize('weights', [(1, 1), (5, 1), (1, 5), (0.01, 1), (1, 0.01)])
    def test_of_two_lengths_the_heavier_error_is_smaller(self, weights):
        r"""
        A stick of 1 m, and a target at 1.5 m.

               x (0.9, 1.2)
             /
            o----
        """
        stick = [Segment(), Segment('fixed', xyz=(1.0, 0.0, 0.0))]
        chain = load_urdf(serial_xml(stick)).chain()
        solver = solver_for(chain, mode='position', axis_weights=(*weights, 1, 1, 1, 1))
        solution = solver.solve([0.9, 1.2, 0.0])
        angles = np.linspace(-3.0, 3.0, 600_001)
        errors = [0.9 - np.cos(angles), 1.2 - np.sin(angles)]
        best = angles[np.argmin(np.hypot(weights[0] * errors[0], weights[1] * errors[1]))]
        assert solution.status is Status.TOO_FAR
        assert_close(solution.q, [best], 1e-3)

    @pytest.mark.parametrize('weights', [(1, 1), (5, 1), (1, 5), (0.01, 1), (1, 0.01)])
    def test_of_two_angles_the_heavier_error_is_smaller(self, weights):
        """The hinge turns about an axis between y and z, the target by 0.5 about both."""
        axis = np.array([0.0, 0.6, 0.8])
        chain = load_urdf(serial_xml([Segment(axis=axis), Segment('fixed')])).chain()
        T = transform(rotation_from_vector([0.0, 0.5, 0.5]), np.zeros(3))
        solver = solver_for(chain, mode='pose', axis_weights=(1, 1, 1, 1, *weights))
        angles = np.linspace(-1.0, 1.5, 2501)
        errors = np.array(
            [rotation_vector(T[:3, :3].T @ rotation_from_vector(a * axis)) for a in angles]
        )
        best = angles[np.argmin(np.linalg.norm(errors * [1, *weights], axis=1))]
        assert_close(solver.solve(T).q, [best], 2e-3)


triples = st.tuples(*3 * [st.floats(-1.0, 1.0)])
sixes = st.tuples(*6 * [st.sampled_from([0.0, 0.3, 1.0, 2.5])]).filter(any)
rooms = st.tuples(*6 * [st.sampled_from([0.0, 0.0, 0.1, 1.0, math.inf])])
modes = st.sampled_from([task.POSITION_MODE, task.POSE_MODE])


def row(T: Array) -> Array:
    """Write a pose (4, 4) as the kernels do: twelve numbers."""
    return np.concatenate([T[:3, :3].ravel(), T[:3, 3]])


def shaped_task(mode: int, weights=FULL, room=NONE) -> Array:
    axis = np.array([0.0, 0.0, 1.0])
    return task.pack_task(1e-6, 1e-6, mode, axis, 1.5, 0.4, room, weights)


def weighted_error(chain: Chain, q: Array, T: Array, packed: Array) -> tuple[Array, Array]:
    """Frames of the links at q, and the error without units, shape (6,)."""
    frames, error = np.empty((len(chain.model), 12)), np.empty(6)
    kinematics.link_frames(chain.model, np.asarray(q, dtype=float), frames)
    task.tip_error(frames[-1], row(T), packed, error)
    weighted = np.empty(6)
    task.weigh_error(error, packed, weighted)
    return frames, weighted


class TestKernels:
    @laws
    @given(st.integers(0, 2**32), modes, sixes, rooms)
    def test_jacobian_is_the_derivative_of_what_the_tip_lacks(self, number, mode, weights, room):
        chain, rng = load_urdf(SIX_AXIS).chain(), np.random.default_rng(number)
        packed = shaped_task(mode, weights, room)
        assume(packed[task.SHAPED])  # the other's derivative is tested with the kernels
        q, units = chain.random_configuration(rng), rng.uniform(0.5, 2.0, 6)
        # Near half a turn a rotation vector turns about: there is no derivative.
        turn = rng.normal(size=3)
        turn *= rng.uniform(0.0, 2.8) / np.linalg.norm(turn)
        T = target_for(chain.forward_kinematics(q), np.concatenate([rng.normal(size=3), turn]))
        frames, _ = weighted_error(chain, q, T, packed)
        error, columns, h = np.empty(6), np.empty((6, 6)), 1e-6
        task.tip_error(frames[-1], row(T), packed, error)
        jacobian.jacobian(chain.model, frames, row(T), error, units, packed, columns)
        for column, e, unit in zip(columns, np.eye(6), units, strict=True):
            ahead, behind = (weighted_error(chain, q + s * e, T, packed)[1] for s in (h, -h))
            assert_close(column, -unit * (ahead - behind) / (2.0 * h), 1e-6)

    @laws
    @given(triples, triples, triples, modes, sixes, rooms)
    def test_the_error_is_what_exceeds_the_room_in_the_frame_of_the_target(
        self, place, turn, shift, mode, weights, room
    ):
        error = np.array([*place, *turn])
        tip = transform(rotation_from_vector(shift), shift)
        T, packed, found = target_for(tip, error), shaped_task(mode, weights, room), np.empty(6)
        task.tip_error(row(tip), row(T), packed, found)
        if packed[task.SHAPED] == 0.0:
            return
        if mode == task.POSITION_MODE:
            error[3:] = 0.0
        assert_close(found, -np.sign(error) * excess(error, weights, np.array(room)), 1e-12)

    @laws
    @given(triples, triples, triples, modes, sixes, rooms)
    def test_the_arm_is_hung_on_an_admissible_frame_and_not_farther_than_the_target(
        self, place, turn, shift, mode, weights, room
    ):
        error = np.array([*place, *turn])
        tip = transform(rotation_from_vector(shift), shift)
        T, packed = target_for(tip, error), shaped_task(mode, weights, room)
        wanted, left = np.empty(12), np.empty(6)
        task.nearest_accepted(row(tip), row(T), packed, wanted)
        task.tip_error(wanted, row(T), packed, left)
        assert_close(left, np.zeros(6), 1e-9)
        hung = transform(wanted[:9].reshape(3, 3), wanted[9:])
        assert_close(hung[:3, :3] @ hung[:3, :3].T, np.eye(3), 1e-12)
        assert np.linalg.norm(hung[:3, 3] - tip[:3, 3]) <= np.linalg.norm(place) + 1e-12
        task.tip_error(row(tip), row(T), packed, left)
        if not left.any() and packed[task.SHAPED]:
            assert_close(hung, tip, 1e-9)
        if mode == task.POSITION_MODE:
            assert_close(hung[:3, :3], tip[:3, :3])

    @pytest.mark.parametrize('mode', [task.POSITION_MODE, task.POSE_MODE])
    def test_a_task_is_shaped_only_where_its_axes_differ_or_have_room(self, mode):
        light, wide = (1, 1, 0.5, 1, 1, 1), (0, 0, 0.1, 0, 0, 0)
        assert shaped_task(mode)[task.SHAPED] == 0.0
        assert shaped_task(mode, (3.0,) * 6)[task.SHAPED] == 0.0
        assert shaped_task(mode, light)[task.SHAPED] == 1.0
        assert shaped_task(mode, FULL, wide)[task.SHAPED] == 1.0


def test_the_default_shape_changes_nothing():
    chain, rng = load_urdf(SIX_AXIS).chain(), np.random.default_rng(4)
    for mode in ('auto', 'pose', 'position'):
        T = chain.forward_kinematics(chain.random_configuration(rng))
        plain = solver_for(chain, mode=mode).solve(T)
        said = solver_for(chain, mode=mode, axis_weights=FULL, axis_tolerances=NONE).solve(T)
        assert same_answer(plain, said)
