"""The Python of README and docs runs, and does what is said beside it."""

import ast
import shutil

from documentation import blocks, DOCUMENTS
import fabrik_ros
from helpers import example_robot
import numpy as np
import pytest

BLOCKS = {page.name: blocks(page, 'python') for page in reversed(DOCUMENTS)}
WITH_A_NODE = {'commander.md'}
"""Documents whose Python talks to a node: test/commander runs it."""
WITH_PYTHON = sorted({name for name, blocks in BLOCKS.items() if blocks} - WITH_A_NODE)
NEEDS = {
    'obstacles.md': ['coal', 'yaml'],
}
"""Packages that the Python of a document needs, beside xacro."""
ROBOTS = {'talos_full_v2.urdf': 'talos', 'allegro_right_hand.urdf': 'allegro'}
"""Files that the documents name, by their names in example-robot-data."""


def names_of_the_reader() -> dict:
    """Make what python.md leaves to the reader: a bus that is an arm at rest, in its middle."""
    chain = fabrik_ros.load_urdf(fabrik_ros.example_arm('six_axis')).chain()
    return {'read_joints': chain.mid_configuration, 'send': lambda q: None}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Go to a folder with the files that the documents name."""
    pytest.importorskip('xacro', reason='the bundled arms are xacro files')
    monkeypatch.chdir(tmp_path)
    source = fabrik_ros.load_urdf(fabrik_ros.example_arm('six_axis')).source
    (tmp_path / 'my_arm.urdf').write_text(source)
    return tmp_path


@pytest.mark.parametrize('document', WITH_PYTHON)
def test_python_of_a_document_runs_from_top_to_bottom(folder, document):
    for package in NEEDS.get(document, []):
        pytest.importorskip(package, reason=f'the Python of {document} uses it')
    code = '\n'.join(BLOCKS[document])
    for file, robot in ROBOTS.items():
        if file in code:
            shutil.copy(example_robot(robot), folder / file)
    names = {'__name__': document}
    if 'read_joints' in code:
        names.update(names_of_the_reader())
    exec(compile(code, document, 'exec'), names)


def names_after(document: str, words: str) -> dict:
    """Run the first block of a document that has these words; return its names."""
    names: dict = {}
    exec(next(block for block in BLOCKS[document] if words in block), names)
    return names


@pytest.mark.parametrize('document', ['README.md', 'solving.md'])
def test_first_solve_converges(folder, document):
    names = names_after(document, 'example_arm')
    solution = fabrik_ros.FabrikSolver(names['chain']).solve(names['target'])
    assert solution.converged


def test_pose_of_the_quick_start_is_reached(folder):
    names = names_after('quickstart.md', 'example_arm')
    assert fabrik_ros.FabrikSolver(names['chain']).solve(names['target']).converged


def options_of_the_page():
    """List the expressions `SolverOptions(...)`."""
    calls = (node for block in BLOCKS['solving.md'] for node in ast.walk(ast.parse(block)))
    named = (call for call in calls if isinstance(call, ast.Call))
    return [text for call in named if (text := ast.unparse(call)).startswith('SolverOptions(')]


@pytest.mark.parametrize('expression', options_of_the_page())
def test_options_suit_the_chain_they_are_shown_with(folder, expression):
    names = names_after('solving.md', 'example_arm')
    options = eval(expression, {**names, 'SolverOptions': fabrik_ros.SolverOptions})
    fabrik_ros.make_solver(names['chain'], options).solve(names['target'])


def test_arms_that_share_a_body_have_something_to_solve(folder):
    shutil.copy(example_robot('talos'), folder / 'talos_full_v2.urdf')
    names = {'fabrik_ros': fabrik_ros}
    exec(next(block for block in BLOCKS['solving.md'] if 'talos' in block), names)
    tree, left = names['tree'], names['left']
    here = tree.forward_kinematics(tree.mid_configuration())[0]
    assert np.linalg.norm(left[:3, 3] - here[:3, 3]) > 0.05
    solution = fabrik_ros.TreeSolver(tree).solve({'gripper_left_base_link': left})
    assert solution.converged
    assert solution.finished_by != 'seed'
