"""Limits that stand for none: they make nothing slower and nothing fail."""

from fabrik_ros import example_arm, FabrikSolver, load_urdf, SolverOptions, TreeSolver
from fabrik_ros.model.bent_pose import bent_configuration
from fabrik_ros.planning import plan
from helpers import joint_xml, robot_xml
import numpy as np
import pytest

pytest.importorskip('xacro', reason='the bundled arms are xacro files')

TARGETS = 60


SIX_AXIS = load_urdf(example_arm('six_axis')).source


def on_a_rail(lower, upper, kind='prismatic'):
    """Put the six-axis arm on a joint."""
    source = SIX_AXIS
    body = source[source.index('>', source.index('<robot')) + 1 :]
    limit = f'<limit lower="{lower}" upper="{upper}" velocity="1"/><axis xyz="1 0 0"/>'
    joint = joint_xml('rail', 'world', 'base_link', kind, limit)
    return load_urdf(f'<robot name="on a rail"><link name="world"/>{joint}{body}').chain()


def reached_and_restarts(chain, near):
    """Solve for reachable poses; tell how many were reached, and with how many restarts."""
    solver = FabrikSolver(chain, SolverOptions(max_restarts=50, budget=float('inf')))
    rng = np.random.default_rng(4)
    found = []
    for _ in range(TARGETS):
        q = rng.uniform(-3.1, 3.1, 7)
        q[0] = near + rng.uniform(0.0, 2.0)
        found.append(solver.solve(chain.forward_kinematics(q)))
    return sum(map(bool, found)), sum(solution.restarts for solution in found)


@pytest.mark.parametrize('limits', [(-1e3, 1e3), (-1e6, 1e6), (0, 1e6), (-1e6, 5), (-1e15, 1e15)])
@pytest.mark.parametrize('near', [0.0, 2.5])
def test_a_rail_of_any_length_is_as_good_as_one_of_ten_metres(limits, near):
    reached, restarts = reached_and_restarts(on_a_rail(*limits), near)
    assert reached == TARGETS
    assert restarts <= 2 * reached_and_restarts(on_a_rail(-10, 10), near)[1] + 5


@pytest.mark.parametrize('near', [90.0, 1e4])
def test_targets_far_along_an_endless_rail_are_reached(near):
    assert reached_and_restarts(on_a_rail(-1e6, 1e6), near)[0] == TARGETS


@pytest.mark.parametrize('limit', [1e3, 1e6, 1e10])
def test_a_turn_without_end_is_as_good_as_two_turns(limit):
    reached, restarts = reached_and_restarts(on_a_rail(-limit, limit, 'revolute'), 0.0)
    assert reached == TARGETS
    assert restarts <= 2 * reached_and_restarts(on_a_rail(-6, 6, 'revolute'), 0.0)[1] + 5


@pytest.mark.parametrize('kind', ['prismatic', 'revolute'])
@pytest.mark.parametrize('limit', [1e3, 1e6, 1e12])
@pytest.mark.parametrize(('lower', 'upper'), [(-1, 1), (0, 1), (-1, 0)])
def test_an_endless_joint_is_drawn_and_shown_near_what_limits_it(kind, limit, lower, upper):
    chain = on_a_rail(lower * limit, upper * limit, kind)
    rng = np.random.default_rng(0)
    drawn = [chain.random_configuration(rng) for _ in range(20)]
    for q in (chain.mid_configuration(), bent_configuration(chain), *drawn):
        assert lower * limit <= q[0] <= upper * limit
        assert abs(q[0]) <= 20.0


def test_the_reach_of_an_endless_rail_is_its_reach_all_the_same():
    chain = on_a_rail(-1e6, 1e6)
    T = chain.forward_kinematics(chain.mid_configuration())
    T[0, 3] = 9e5
    assert FabrikSolver(chain).solve(T)
    assert chain.reach > 1e6
    assert chain.size < 20.0


def test_a_gantry_of_endless_axes_alone_is_solved():
    limit = '<limit lower="-1e6" upper="1e6" velocity="1"/>'
    axes = ('1 0 0', '0 1 0', '0 0 1')
    joints = [
        joint_xml(f'j{i}', f'l{i}', f'l{i + 1}', 'prismatic', f'{limit}<axis xyz="{axis}"/>')
        for i, axis in enumerate(axes)
    ]
    robot = load_urdf(robot_xml('l0 l1 l2 l3', *joints))
    point = np.array([300.0, -2.0, 0.5])
    solution = FabrikSolver(robot.chain(), SolverOptions(mode='position')).solve(point)
    assert solution
    assert np.allclose(solution.q, point, atol=1e-5)
    T = np.eye(4)
    T[:3, 3] = point
    assert TreeSolver(robot.tree('', ['l2', 'l3'])).solve({'l3': T})


def test_a_long_but_real_rail_keeps_its_own_range():
    chain = on_a_rail(-60, 90)
    assert chain.mid_configuration()[0] == 15.0
    assert chain.size == chain.reach


@pytest.mark.parametrize('kind', ['prismatic', 'revolute'])
def test_a_way_on_an_endless_joint_is_planned(kind):
    chain = on_a_rail(-1e6, 1e6, kind)
    T = chain.forward_kinematics([1.5, 0.3, -1.0, 1.2, 0.4, 0.5, 0.1])
    assert plan(chain, chain.mid_configuration(), T, planning_time=5.0).found
