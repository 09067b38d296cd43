"""The Python of the README does what is said beside it."""

import ast
from pathlib import Path
import re

import fabrik_ros
from helpers import example_robot
import numpy as np
import pytest

README = (Path(__file__).resolve().parents[2] / 'README.md').read_text()
BLOCKS = re.findall(r'```python\n(.*?)```', README, re.DOTALL)


def block_with(words):
    return next(block for block in BLOCKS if words in block)


@pytest.fixture
def names():
    """Names after the first block: a chain and a target."""
    pytest.importorskip('xacro', reason='the bundled arms are xacro files')
    names = {}
    exec(block_with('example_arm'), names)
    return names


def test_first_solve_converges(names, capsys):
    solution = fabrik_ros.FabrikSolver(names['chain']).solve(names['target'])
    assert solution.converged


def options_of_the_readme():
    """List the expressions `SolverOptions(...)`."""
    calls = (node for block in BLOCKS for node in ast.walk(ast.parse(block)))
    named = (call for call in calls if isinstance(call, ast.Call))
    return [text for call in named if (text := ast.unparse(call)).startswith('SolverOptions(')]


@pytest.mark.parametrize('expression', options_of_the_readme())
def test_options_suit_the_chain_they_are_shown_with(names, expression):
    options = eval(expression, {**names, 'SolverOptions': fabrik_ros.SolverOptions})
    fabrik_ros.make_solver(names['chain'], options).solve(names['target'])


def test_arms_that_share_a_body_have_something_to_solve(names):
    talos = str(example_robot('talos'))
    block = block_with('talos').replace('talos_full_v2.urdf', talos)
    exec(block, names)
    tree, left = names['tree'], names['left']
    here = tree.forward_kinematics(tree.mid_configuration())[0]
    assert np.linalg.norm(left[:3, 3] - here[:3, 3]) > 0.05
    solution = fabrik_ros.TreeSolver(tree).solve({'gripper_left_base_link': left})
    assert solution.converged
    assert solution.finished_by != 'seed'
