import inspect

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
