"""
The house: rooms that import only downwards, and one place for each library.

A module is in the room of its folder; those at the top of the package are rooms of their own.
"""

import ast
from collections.abc import Iterator
import functools
from pathlib import Path
import re
import subprocess
import sys

import pytest

PACKAGE = Path(__file__).resolve().parents[2] / 'fabrik_ros'
MODULES = sorted(str(path.relative_to(PACKAGE)) for path in PACKAGE.rglob('*.py'))

ROS = re.compile(
    r'rclpy|\w+_(msgs|srvs|interfaces)|tf2_\w+|launch\w*|ament_\w+|rosidl_\w+|interactive_markers'
)
NUMBA = re.compile('numba|llvmlite')
DRAWING = re.compile('matplotlib|mpl_toolkits|PIL')
XML = re.compile('xml|lxml|defusedxml|xmltodict')
XACRO = re.compile('xacro')
COAL = re.compile('coal|hppfcl')
RUCKIG = re.compile('ruckig')
LAUNCH = re.compile(r'launch(_\w+)?')
BROWSER = re.compile('viser|yourdfpy|trimesh')
HANDLES = re.compile('interactive_markers')

DRAWING_MODULES = {
    f'textbook/playground/{name}.py'
    for name in ('program', 'drawing', 'rendering', 'stage', 'window')
}
HANDLE_MODULES = {f'ros/beside/{name}.py' for name in ('drag_target', 'handle_menu', 'tip_handle')}
ROS_FOLDERS = ('commander', 'ros', 'sim', 'view')
ROS_CLIENTS = (
    'cli/doctor.py',
    'cli/record.py',
    'cli/run.py',
    'cli/target.py',
    'cli/view.py',
)
"""Subcommands that import ROS, when they run."""

FLOORS = (
    {'reasons'},
    {'errors'},
    {'found_ros'},
    {'documents', 'transforms'},
    {'kernels'},
    {'model'},
    {'collision', 'solver'},
    {'textbook'},
    {'methods'},
    {'gripper', 'planning'},
    {'programs'},
    {'motion'},
    {'plans'},
    {'__init__', 'ros'},
    {'commander', 'playground', 'sim'},
    {'view'},
    {'cli'},
    {'__main__'},
)
"""Rooms, from the ground up; those on one floor do not know each other."""
INNER_FLOORS = {
    'textbook': (
        {'points'},
        {'arm', 'playground'},
        {''},
    ),
    'motion': (
        {'limits'},
        {'lines'},
        {'paths'},
        {'choosing'},
        {'following'},
        {'controllers', ''},
    ),
    'ros': (
        {'clocks', 'parameters'},
        {'launching', 'messages', 'status'},
        {'inputs'},
        {'beside', 'outputs', 'world'},
        {'arm'},
        {'drawing'},
        {''},
    ),
}
"""Rooms in rooms, likewise; '': the modules that are in none of them."""
FLOOR_OF = {room: number for number, rooms in enumerate(FLOORS) for room in rooms}
INNER_FLOOR_OF = {
    (outer, inner): number
    for outer, floors in INNER_FLOORS.items()
    for number, rooms in enumerate(floors)
    for inner in rooms
}


@functools.cache
def imported_names(module: str) -> tuple[str, ...]:
    """List what a module imports anywhere, absolute: 'numpy', 'fabrik_ros.errors'."""
    return tuple(_imported_names(module))


def _imported_names(module: str) -> Iterator[str]:
    package = ('fabrik_ros', *Path(module).parent.parts)
    for node in ast.walk(ast.parse((PACKAGE / module).read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            parents = package[: len(package) - node.level + 1] if node.level else ()
            origin = '.'.join([*parents, *([node.module] if node.module else [])])
            yield from (f'{origin}.{alias.name}' for alias in node.names)


def imports_of(kind: re.Pattern[str], module: str) -> list[str]:
    """List what a module imports from the packages of one kind."""
    return [name for name in imported_names(module) if kind.fullmatch(name.split('.')[0])]


def room_of(module: str) -> str:
    """Name the room of a module, given by its path in the package."""
    return Path(module).parts[0].removesuffix('.py')


def inner_room_of(module: str) -> str:
    """Name the room in its room that a module is in; '' where it is in none."""
    return Path(module).parts[1] if len(Path(module).parts) > 2 else ''


def modules_imported_by(module: str) -> set[str]:
    """Name the modules of the package that a module imports, by their paths in it."""
    found = set()
    for name in imported_names(module):
        parts = name.split('.')
        if parts[0] != PACKAGE.name:
            continue
        tails = [Path(*parts[1:end]) for end in range(len(parts), 1, -1)]
        paths = [path for tail in tails for path in (f'{tail}.py', f'{tail}/__init__.py')]
        found.add(next((path for path in paths if path in MODULES), '__init__.py'))
    return found


def test_every_room_has_its_floor():
    assert {room_of(module) for module in MODULES} == set(FLOOR_OF)


@pytest.mark.parametrize('module', MODULES)
def test_module_imports_only_from_its_own_room_and_from_lower_floors(module):
    room = room_of(module)
    others = {other for other in modules_imported_by(module) if room_of(other) != room}
    upwards = {other for other in others if FLOOR_OF[room_of(other)] >= FLOOR_OF[room]}
    assert upwards == set()


def test_every_room_in_a_room_has_its_floor():
    inner = {(room_of(m), inner_room_of(m)) for m in MODULES if room_of(m) in INNER_FLOORS}
    assert inner == set(INNER_FLOOR_OF)


@pytest.mark.parametrize('module', [m for m in MODULES if room_of(m) in INNER_FLOORS])
def test_module_imports_only_from_its_own_inner_room_and_from_lower_floors(module):
    def floor(name: str) -> int:
        return INNER_FLOOR_OF[room_of(name), inner_room_of(name)]

    siblings = {m for m in modules_imported_by(module) if room_of(m) == room_of(module)}
    others = {other for other in siblings if inner_room_of(other) != inner_room_of(module)}
    assert {other for other in others if floor(other) >= floor(module)} == set()


READERS_OF_THE_TEXTBOOK = {'__init__.py', 'methods.py', 'playground.py'}
"""The public names, the parameter `method`, and the program."""


@pytest.mark.parametrize('module', [m for m in MODULES if room_of(m) != 'textbook'])
def test_node_and_motion_know_the_textbook_by_the_parameter_method_alone(module):
    read = {room_of(other) for other in modules_imported_by(module)}
    assert 'textbook' not in read or module in READERS_OF_THE_TEXTBOOK


@pytest.mark.parametrize('module', [m for m in MODULES if m.startswith('textbook/points/')])
def test_points_of_the_textbook_know_no_robot(module):
    others = {room_of(other) for other in modules_imported_by(module)}
    assert others <= {'errors', 'textbook', 'transforms'}


def test_no_circle_of_imports():
    left = {module: modules_imported_by(module) for module in MODULES}
    while leaves := {module for module, imported in left.items() if not imported & left.keys()}:
        left = {module: left[module] for module in left.keys() - leaves}
    assert sorted(left) == []


@pytest.mark.parametrize(
    'module',
    [m for m in MODULES if Path(m).parts[0] not in ROS_FOLDERS and m not in ROS_CLIENTS],
)
def test_library_module_imports_neither_ros_nor_a_module_that_does(module):
    assert imports_of(ROS, module) == []
    inner = [name.split('.')[1] for name in imported_names(module) if 'fabrik_ros.' in name]
    assert not set(inner) & set(ROS_FOLDERS)


@pytest.mark.parametrize('module', [m for m in MODULES if m != 'kernels/_jit.py'])
def test_only_the_jit_module_imports_numba(module):
    assert imports_of(NUMBA, module) == []


@pytest.mark.parametrize('module', [m for m in MODULES if m != 'model/urdf_xml.py'])
def test_only_the_module_of_urdf_xml_imports_xml(module):
    assert imports_of(XML, module) == []


@pytest.mark.parametrize('module', [m for m in MODULES if m != 'model/urdf_file.py'])
def test_only_the_module_of_description_files_imports_xacro(module):
    assert imports_of(XACRO, module) == []


@pytest.mark.parametrize('module', sorted(set(MODULES) - DRAWING_MODULES))
def test_only_the_playground_imports_what_draws(module):
    assert imports_of(DRAWING, module) == []


@pytest.mark.parametrize('module', [m for m in MODULES if m != 'collision/solids.py'])
def test_only_the_module_of_solids_imports_coal(module):
    assert imports_of(COAL, module) == []


@pytest.mark.parametrize('module', [m for m in MODULES if m != 'motion/limits/jerk_paths.py'])
def test_only_the_module_of_jerks_imports_ruckig(module):
    assert imports_of(RUCKIG, module) == []


@pytest.mark.parametrize('module', [m for m in MODULES if m != 'ros/launching/launch_parts.py'])
def test_only_the_module_of_launch_parts_imports_launch(module):
    assert imports_of(LAUNCH, module) == []


@pytest.mark.parametrize('module', sorted(set(MODULES) - HANDLE_MODULES))
def test_only_handles_import_interactive_markers(module):
    assert imports_of(HANDLES, module) == []


@pytest.mark.parametrize('module', [m for m in MODULES if room_of(m) != 'view'])
def test_only_the_view_imports_what_draws_in_the_browser(module):
    assert imports_of(BROWSER, module) == []


def test_only_modules_of_the_source_from_a_node_import_ros_in_the_view():
    inside = [module for module in MODULES if room_of(module) == 'view']
    names = ('node_requests', 'ros_source', 'scene_markers')
    assert [m for m in inside if imports_of(ROS, m)] == [f'view/{name}.py' for name in names]


def modules_loaded_by(code: str) -> set[str]:
    """Run code in a fresh interpreter without display; return the top-level modules loaded."""
    report = f'import sys\n{code}\nprint(*{{name.split(".")[0] for name in sys.modules}})'
    environment = {'PYTHONPATH': str(PACKAGE.parent), '_ROS_WHEELS_BOOTSTRAP_COMPLETE': '1'}
    done = subprocess.run(
        [sys.executable, '-c', report],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return set(done.stdout.split())


def test_import_loads_neither_ros_nor_what_may_be_missing_nor_a_window_system():
    loaded = modules_loaded_by(
        'import fabrik_ros, fabrik_ros.planning, fabrik_ros.motion.arm_follower'
    )
    assert 'fabrik_ros' in loaded
    assert not {name for name in loaded if ROS.fullmatch(name)}
    assert not loaded & {
        'coal',
        'matplotlib',
        'mujoco',
        'ruckig',
        'tkinter',
        'viser',
        'xacro',
    }


def test_import_works_without_numba():
    # None in sys.modules makes an import fail as if the package were missing.
    assert 'fabrik_ros' in modules_loaded_by('sys.modules["numba"] = None\nimport fabrik_ros')


INSIDE = {'path', 'limiter', 'frame', 'pursuit', 'arms'}
"""What is behind the door `Motion`."""


def reached_through(module: str) -> Iterator[str]:
    """List what a module asks of the inside of a motion, as it is written."""
    for node in ast.walk(ast.parse((PACKAGE / module).read_text())):
        if isinstance(node, ast.Attribute) and node.attr in INSIDE:
            owner = ast.unparse(node.value).split('.')[-1]
            if owner in ('motion', '_motion'):
                yield ast.unparse(node)


@pytest.mark.parametrize('module', [m for m in MODULES if inner_room_of(m) != 'choosing'])
def test_nobody_reaches_through_the_door_of_motion(module):
    assert not list(reached_through(module))
