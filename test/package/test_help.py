"""What a person at a terminal is told: by `help`, by what objects print, and about mistakes."""

import ast
import dataclasses
import inspect
from pathlib import Path
import pydoc
import re

import fabrik_ros
from fabrik_ros import collision, planning
from fabrik_ros.planning import plan
from helpers import SIX_AXIS
import numpy as np
import pytest

PUBLIC = {
    f'{module.__name__}.{name}': value
    for module in (fabrik_ros, planning, collision)
    for name in module.__all__
    if inspect.isclass(value := getattr(module, name)) or inspect.isroutine(value)
}
CLASSES = {name: value for name, value in PUBLIC.items() if inspect.isclass(value)}
ROBOT = fabrik_ros.load_urdf(SIX_AXIS)
CHAIN = ROBOT.chain()
TREE = ROBOT.tree('', [CHAIN.tip_link])

LONGEST_SIGNATURE = 450
"""Of a function or method [characters]: `plan` has eleven arguments."""


def fields_of(kind: type) -> list[str]:
    """Name the fields of a dataclass or a named tuple; none of other classes."""
    if dataclasses.is_dataclass(kind):
        return [field.name for field in dataclasses.fields(kind)]
    return list(getattr(kind, '_fields', ()))


RECORDS = sorted(name for name, kind in CLASSES.items() if fields_of(kind))


def sections_of(text: str) -> dict[str, str]:
    """Split a docstring in numpydoc form into its sections by name."""
    parts = re.split(r'^(\w[\w ]*)\n-+\n', inspect.cleandoc(text), flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def described_in(text: str) -> list[str]:
    """Name what the sections 'Parameters' and 'Attributes' of a docstring describe, in order."""
    sections = sections_of(text)
    lines = (sections.get('Parameters', '') + sections.get('Attributes', '')).splitlines()
    names = []
    for line, following in zip(lines, [*lines[1:], ''], strict=True):
        if line and not line.startswith(' '):
            assert following.startswith('    '), f'nothing is said about: {line}'
            names += line.partition(' :')[0].split(', ')
    return names


def test_several_public_classes_are_records():
    assert {'fabrik_ros.SolverOptions', 'fabrik_ros.Solution', 'fabrik_ros.Robot'} <= set(RECORDS)


@pytest.mark.parametrize('name', RECORDS)
def test_help_describes_every_field(name):
    kind = CLASSES[name]
    described = described_in(kind.__doc__)
    assert [field for field in described if field in fields_of(kind)] == fields_of(kind)
    assert sections_of(kind.__doc__).keys() & {'Parameters', 'Attributes'}


@pytest.mark.parametrize('name', CLASSES)
def test_no_text_stands_where_help_does_not_show_it(name):
    kind = CLASSES[name]
    if not kind.__module__.startswith('fabrik_ros'):
        pytest.skip('an alias of something of another package')
    module = ast.parse(Path(inspect.getfile(kind)).read_text())
    body = next(n for n in ast.walk(module) if getattr(n, 'name', '') == kind.__name__).body
    texts = [node.value for node in body[1:] if isinstance(node, ast.Expr)]
    assert [text.value for text in texts if isinstance(text, ast.Constant)] == []


@pytest.mark.parametrize('name', PUBLIC)
def test_help_has_no_inner_types_of_numpy(name):
    text = pydoc.render_doc(PUBLIC[name], renderer=pydoc.plaintext)
    assert 'numpy._' not in text
    assert 'ForwardRef' not in text


def signatures_of(value: object) -> list[str]:
    """List the signatures of a function, or of the public methods of a class."""
    if inspect.isroutine(value):
        return [str(inspect.signature(value))]
    methods = [
        member
        for name, member in vars(value).items()
        if inspect.isfunction(member) and not name.startswith('_')
    ]
    return [str(inspect.signature(method)) for method in methods]


@pytest.mark.parametrize('name', PUBLIC)
def test_signatures_are_short_and_name_no_inner_types_of_numpy(name):
    for signature in signatures_of(PUBLIC[name]):
        assert 'numpy.' not in signature
        assert len(signature) <= LONGEST_SIGNATURE


# -- what objects print

ELBOW_UP = np.array([0.3, -1.2, 1.4, -1.8, -1.5, 0.2])
PRINTED = {
    'robot': (ROBOT, r"Robot\('[\w-]+': \d+ links, \d+ joints, 6 of which move\)"),
    'chain': (CHAIN, r"Chain\('\w+' to '\w+': (\w+, ){5}\w+\)"),
    'tree': (TREE, r"Tree\('\w+' to '\w+': (\w+, ){5}\w+\)"),
    'solver': (
        fabrik_ros.FabrikSolver(CHAIN, fabrik_ros.SolverOptions(budget=0.01)),
        r'FabrikSolver\(Chain\(.*\), SolverOptions\(budget=0.01\)\)',
    ),
    'points': (
        fabrik_ros.make_solver(CHAIN, fabrik_ros.SolverOptions(method='points')),
        r"PointArmSolver\(Chain\(.*\), SolverOptions\(method='points'\)\)",
    ),
    'tree solver': (
        fabrik_ros.TreeSolver(TREE, tips={CHAIN.tip_link: fabrik_ros.TipOptions(mode='position')}),
        r"TreeSolver\(Tree\(.*\), SolverOptions\(\), \{'\w+': TipOptions\(mode='position'.*\}\)",
    ),
    'options': (fabrik_ros.SolverOptions(), r'SolverOptions\(\)'),
    'weights': (
        fabrik_ros.SolverOptions(axis_weights=(1, 1, 1, 1, 1, 0)),
        r'SolverOptions\(axis_weights=\(1, 1, 1, 1, 1, 0\)\)',
    ),
    'follower options': (
        fabrik_ros.FollowerOptions(path='line', max_tip_speed=0.1),
        r"FollowerOptions\(path='line', max_tip_speed=0.1\)",
    ),
    'follower': (
        fabrik_ros.ArmFollower(CHAIN),
        r'ArmFollower\(Chain\(.*\), FollowerOptions\(\)\): WAITING_FOR_STATE',
    ),
}


@pytest.mark.parametrize('name', PRINTED)
def test_objects_print_on_one_line_what_they_are(name):
    value, form = PRINTED[name]
    assert re.fullmatch(form, repr(value)), repr(value)
    assert str(value) == repr(value)


def test_options_print_as_the_call_that_makes_them():
    options = fabrik_ros.SolverOptions(mode='axis', axis=(1.0, 0.0, 0.0), max_restarts=3)
    assert eval(repr(options), vars(fabrik_ros)) == options


# -- mistakes

MAKERS = {
    'FabrikSolver': fabrik_ros.FabrikSolver,
    'PointArmSolver': fabrik_ros.PointArmSolver,
    'make_solver': fabrik_ros.make_solver,
    'plan': lambda arm: plan(arm, ELBOW_UP, ELBOW_UP),
}
"""What takes the chain of an arm first."""
ROBOT_SHOWN = re.escape(repr(ROBOT))


@pytest.mark.parametrize('path', ['arm.urdf', Path('arm.urdf')], ids=['text', 'path'])
@pytest.mark.parametrize('maker', MAKERS)
def test_a_path_in_place_of_a_chain_is_told_how_to_become_one(maker, path):
    cure = r"got 'arm.urdf'; give load_urdf\('arm.urdf'\)\.chain\(\)$"
    with pytest.raises(TypeError, match=f'^chain must be a Chain( or a Tree)?, {cure}'):
        MAKERS[maker](path)


@pytest.mark.parametrize('maker', MAKERS)
def test_a_robot_in_place_of_a_chain_is_told_how_to_become_one(maker):
    wanted = 'chain must be a Chain( or a Tree)?'
    with pytest.raises(TypeError, match=rf'^{wanted}, got {ROBOT_SHOWN}; give robot\.chain\(\)$'):
        MAKERS[maker](ROBOT)


@pytest.mark.parametrize('maker', ['FabrikSolver', 'PointArmSolver', 'make_solver'])
def test_a_tree_in_place_of_a_chain_is_told_of_its_solver(maker):
    with pytest.raises(TypeError, match=r'TreeSolver is for a tree, and tree\.chains are its'):
        MAKERS[maker](TREE)


@pytest.mark.parametrize(
    ('arm', 'cure'),
    [
        ('arm.urdf', r"give load_urdf\('arm.urdf'\)\.tree\(base_link, tip_links\)$"),
        (ROBOT, r'give robot\.tree\(base_link, tip_links\)$'),
        (CHAIN, r'FabrikSolver is for a chain, and robot\.tree\(base_link, \[tip_link\]\) makes'),
        (None, r'got None; give load_urdf\(path\)\.tree\(base_link, tip_links\)$'),
    ],
    ids=['text', 'robot', 'chain', 'nothing'],
)
def test_what_is_no_tree_is_told_how_to_become_one(arm, cure):
    with pytest.raises(TypeError, match=f'^tree must be a Tree, .*{cure}'):
        fabrik_ros.TreeSolver(arm)


def test_a_follower_of_a_path_is_told_how_to_load_a_robot():
    wanted = 'arm must be a Robot or a Chain or a Tree'
    with pytest.raises(TypeError, match=rf"^{wanted}, got 'a.urdf'; give load_urdf\('a.urdf'\)$"):
        fabrik_ros.ArmFollower('a.urdf')
