"""
The house: rooms that import only downwards, and one place for each library.

A module is in the room of its folder; those at the top of the package are rooms of their own.
"""

import ast
from collections.abc import Callable, Collection, Iterable, Iterator
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
    'cli/log.py',
    'cli/record.py',
    'cli/run.py',
    'cli/target.py',
    'cli/teleop.py',
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
    {'gripper', 'logs', 'planning', 'teleop'},
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


def found_in(
    modules: Iterable[str], look: Callable[[str], Collection[str]]
) -> dict[str, Collection[str]]:
    """Tell what is found in each of some modules; those without are left out."""
    return {module: found for module in modules if (found := look(module))}


def test_every_room_has_its_floor():
    assert {room_of(module) for module in MODULES} == set(FLOOR_OF)


def test_modules_import_only_from_their_own_room_and_from_lower_floors():
    def upwards(module: str) -> list[str]:
        room = room_of(module)
        others = [other for other in modules_imported_by(module) if room_of(other) != room]
        return [other for other in others if FLOOR_OF[room_of(other)] >= FLOOR_OF[room]]

    assert found_in(MODULES, upwards) == {}


def test_every_room_in_a_room_has_its_floor():
    inner = {(room_of(m), inner_room_of(m)) for m in MODULES if room_of(m) in INNER_FLOORS}
    assert inner == set(INNER_FLOOR_OF)


def test_modules_import_only_from_their_own_inner_room_and_from_lower_floors():
    def floor(name: str) -> int:
        return INNER_FLOOR_OF[room_of(name), inner_room_of(name)]

    def upwards(module: str) -> list[str]:
        siblings = [m for m in modules_imported_by(module) if room_of(m) == room_of(module)]
        others = [other for other in siblings if inner_room_of(other) != inner_room_of(module)]
        return [other for other in others if floor(other) >= floor(module)]

    assert found_in([m for m in MODULES if room_of(m) in INNER_FLOORS], upwards) == {}


READERS_OF_THE_TEXTBOOK = {'__init__.py', 'methods.py', 'playground.py'}
"""The public names, the parameter `method`, and the program."""


def test_node_and_motion_know_the_textbook_by_the_parameter_method_alone():
    def of_the_textbook(module: str) -> list[str]:
        return [other for other in modules_imported_by(module) if room_of(other) == 'textbook']

    outside = [m for m in MODULES if room_of(m) != 'textbook']
    assert found_in(outside, of_the_textbook).keys() <= READERS_OF_THE_TEXTBOOK


def test_points_of_the_textbook_know_no_robot():
    def of_robots(module: str) -> set[str]:
        rooms = {room_of(other) for other in modules_imported_by(module)}
        return rooms - {'errors', 'textbook', 'transforms'}

    assert found_in([m for m in MODULES if m.startswith('textbook/points/')], of_robots) == {}


def test_no_circle_of_imports():
    left = {module: modules_imported_by(module) for module in MODULES}
    while leaves := {module for module, imported in left.items() if not imported & left.keys()}:
        left = {module: left[module] for module in left.keys() - leaves}
    assert sorted(left) == []


def test_library_modules_import_neither_ros_nor_a_module_that_does():
    def of_ros(module: str) -> list[str]:
        inner = [name for name in imported_names(module) if 'fabrik_ros.' in name]
        of_ours = [name for name in inner if name.split('.')[1] in ROS_FOLDERS]
        return imports_of(ROS, module) + of_ours

    library = [m for m in MODULES if Path(m).parts[0] not in ROS_FOLDERS and m not in ROS_CLIENTS]
    assert found_in(library, of_ros) == {}


@pytest.mark.parametrize(
    ('kind', 'modules'),
    [
        (NUMBA, {'kernels/_jit.py'}),
        (XML, {'model/urdf_xml.py'}),
        (XACRO, {'model/urdf_file.py'}),
        (DRAWING, DRAWING_MODULES),
        (COAL, {'collision/solids.py'}),
        (RUCKIG, {'motion/limits/jerk_paths.py'}),
        (LAUNCH, {'ros/launching/launch_parts.py'}),
        (HANDLES, HANDLE_MODULES),
        (BROWSER, {m for m in MODULES if room_of(m) == 'view'}),
    ],
    ids=['numba', 'xml', 'xacro', 'drawing', 'coal', 'ruckig', 'launch', 'handles', 'browser'],
)
def test_only_the_modules_of_its_place_import_a_package(kind, modules):
    others = [module for module in MODULES if module not in modules]
    assert found_in(others, lambda module: imports_of(kind, module)) == {}


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


def test_nobody_reaches_through_the_door_of_motion():
    outside = [m for m in MODULES if inner_room_of(m) != 'choosing']
    assert found_in(outside, lambda module: list(reached_through(module))) == {}
