"""Benchmarks run seldom: what they import of the package is looked for here."""

import ast
from collections.abc import Iterator
import importlib
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SCRIPTS = sorted(str(path.relative_to(ROOT)) for path in (ROOT / 'benchmark').rglob('*.py'))


def names_of_ours(script: str) -> Iterator[tuple[str, str]]:
    """Yield each module of the package that a script imports from, with the name."""
    for node in ast.walk(ast.parse((ROOT / script).read_text())):
        if isinstance(node, ast.ImportFrom) and (node.module or '').startswith('fabrik_ros'):
            yield from ((node.module, alias.name) for alias in node.names)


@pytest.mark.parametrize('script', SCRIPTS)
def test_what_a_benchmark_imports_of_the_package_exists(script):
    for module, name in names_of_ours(script):
        if '.ros' in module and find_spec('rclpy') is None:
            pytest.skip('ROS 2 is not installed')
        inside = hasattr(importlib.import_module(module), name)
        assert inside or find_spec(f'{module}.{name}'), f'{module} has no {name}'
