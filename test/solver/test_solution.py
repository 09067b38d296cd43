"""What an answer says of itself: true or false, how many, and in a terminal."""

from dataclasses import FrozenInstanceError

from fabrik_ros import FabrikSolver, load_urdf, SolverOptions, Status, TreeSolver
from fabrik_ros.solver.batch import BatchSolution
from fabrik_ros.solver.solution import Solution, TipResult
from helpers import SIX_AXIS
import numpy as np
import pytest

ROBOT = load_urdf(SIX_AXIS)
CHAIN = ROBOT.chain()
Q = np.array([0.3, -1.2, 1.4, -1.8, -1.5, 0.2])


def answer(status: Status, *, limited: tuple[str, ...] = (), tips=()) -> Solution:
    return Solution(Q, status, 1e-7, 2.5e-8, 12, 2, 0, 'polish', limited, tips)


@pytest.mark.parametrize('status', Status)
def test_a_solution_is_true_where_the_target_is_reached(status):
    assert bool(answer(status)) == answer(status).converged == (status is Status.CONVERGED)


def test_a_solver_gives_true_and_false():
    near = CHAIN.forward_kinematics(Q)
    far = near.copy()
    far[:3, 3] *= 100.0
    solver = FabrikSolver(CHAIN)
    assert solver.solve(near)
    assert not solver.solve(far)


def test_the_result_of_a_tip_is_true_where_its_target_is_reached():
    assert TipResult(0.0, 0.0, True)
    assert not TipResult(1.0, 0.0, False)


def test_a_solution_prints_status_values_and_errors_on_one_line():
    assert repr(answer(Status.CONVERGED)) == (
        'Solution(CONVERGED, q=[0.3, -1.2, 1.4, -1.8, -1.5, 0.2], position_error=1e-07, '
        "orientation_error=2.5e-08, finished_by='polish')"
    )


def test_a_solution_prints_joints_at_limits_and_tips_where_there_are_any():
    tips = (TipResult(0.0, 0.0, True), TipResult(1.0, 0.0, False))
    text = repr(answer(Status.BLOCKED_BY_LIMITS, limited=('elbow',), tips=tips))
    assert text.endswith("limited_joints=('elbow',), 1 of 2 tips converged)")


def test_a_solution_of_forty_joints_prints_on_one_line():
    assert '\n' not in repr(answer(Status.STALLED)._replace(q=np.linspace(-3.0, 3.0, 40)))


def test_a_solution_of_several_tips_prints_them():
    tree = ROBOT.tree('', [CHAIN.tip_link])
    solution = TreeSolver(tree).solve(tree.forward_kinematics(Q))
    assert repr(solution).endswith('1 of 1 tips converged)')


@pytest.mark.parametrize('count', [0, 1, 3])
def test_a_batch_has_the_length_of_its_targets(count):
    targets = np.tile(CHAIN.forward_kinematics(Q), (count, 1, 1))
    batch = FabrikSolver(CHAIN, SolverOptions(max_restarts=0)).solve_batch(targets)
    assert len(batch) == len(batch.q) == len(batch.converged) == count


def batch_of(*status: Status) -> BatchSolution:
    n = len(status)
    zeros = np.zeros(n)
    return BatchSolution(np.zeros((n, 6)), status, zeros, zeros, np.zeros(n, dtype=np.int64))


def test_a_batch_counts_how_its_solves_ended():
    batch = batch_of(Status.STALLED, Status.CONVERGED, Status.CONVERGED)
    assert repr(batch) == 'BatchSolution(3 targets: 2 CONVERGED, 1 STALLED)'
    assert repr(batch_of()) == 'BatchSolution(0 targets)'


def test_a_batch_is_neither_true_nor_false():
    with pytest.raises(ValueError, match=r'ask batch\.converged\.all\(\) or \.any\(\)'):
        bool(batch_of(Status.CONVERGED))


def test_a_batch_cannot_be_changed():
    with pytest.raises(FrozenInstanceError):
        batch_of(Status.CONVERGED).status = ()
