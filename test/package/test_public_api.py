import inspect
import subprocess
import sys

import fabrik_ros
import pytest


def test_public_names_are_listed_once():
    assert len(set(fabrik_ros.__all__)) == len(fabrik_ros.__all__)


@pytest.mark.parametrize('name', fabrik_ros.__all__)
def test_public_name_exists(name):
    assert hasattr(fabrik_ros, name)


@pytest.mark.parametrize('name', fabrik_ros.__all__)
def test_public_class_or_function_has_a_docstring_of_its_own(name):
    value = getattr(fabrik_ros, name)
    if not (inspect.isclass(value) or inspect.isroutine(value)):
        pytest.skip('a constant: nothing to hold a docstring')
    # Not inspect.getdoc: that takes the docstring of a base class. A dataclass without one
    # gets its signature, which starts with its name.
    assert value.__doc__
    assert not value.__doc__.startswith(f'{name}(')


def modules_loaded_by(code):
    done = subprocess.run(
        [sys.executable, '-c', f'import sys\n{code}\nprint(*sys.modules)'],
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.split()


def test_importing_the_package_does_not_import_what_moves_arms():
    loaded = modules_loaded_by('import fabrik_ros')
    assert 'fabrik_ros.solver.chain_solver' in loaded
    assert not [name for name in loaded if name.startswith('fabrik_ros.motion')]


MAKE_SOLVER = """
from fabrik_ros import example_arm, load_urdf, make_solver, SolverOptions
import fabrik_ros.motion.arm_follower
chain = load_urdf(example_arm('planar_two_link')).chain()
make_solver(chain, SolverOptions(method='{}'))
"""


@pytest.mark.parametrize(('method', 'is_loaded'), [('articulated', False), ('points', True)])
def test_only_the_method_points_imports_the_textbook(method, is_loaded):
    loaded = modules_loaded_by(MAKE_SOLVER.format(method))
    assert 'fabrik_ros.motion.arm_follower' in loaded
    assert ('fabrik_ros.textbook' in loaded) == is_loaded


def test_a_name_that_the_package_has_not_is_an_attribute_error():
    with pytest.raises(AttributeError, match="'fabrik_ros' has no attribute 'Arm'"):
        _ = fabrik_ros.Arm
