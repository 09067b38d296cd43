"""
Scenes in YAML files: a table is five lines.

    obstacles:
      table:
        box: [1.2, 0.8, 0.04]   # edges along x, y, z [m]
        xyz: [0.5, 0.0, -0.02]  # its centre [m]
        rpy: [0.0, 0.0, 0.0]    # as in a URDF [rad]; may be left out

"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
import math
from pathlib import Path
from typing import Any

from ..errors import did_you_mean, FabrikError, listed, SceneError, shown, UnknownFrameError
from ..model.geometry import Box, Capsule, Cylinder, HalfSpace, Mesh, Shape, Sphere
from ..model.robot import Robot
from ..transforms import Array, rotation_from_rpy, transform
from .scene import Obstacle, Scene

LARGEST_FILE = 10_000_000
"""[bytes]."""
SHAPES = ('box', 'sphere', 'cylinder', 'capsule', 'mesh', 'half_space')
KEYS = (*SHAPES, 'scale', 'xyz', 'rpy', 'frame', 'link', 'touch_links')
TOP = 'obstacles'

PoseOf = Callable[[str], Array]
"""Gives the pose of a frame in the root link, shape (4, 4); '' is the frame by default."""


def link_poses(robot: Robot, base_link: str = '') -> PoseOf:
    """
    Let links be the frames of a scene, those that no joint moves.

    Parameters
    ----------
    robot : Robot
        Has the links.
    base_link : str
        The frame of obstacles that name none; left out, the root link.

    """
    default = base_link or robot.root_link
    return lambda frame: robot.pose(robot.root_link, frame or default, {})


def load_scene(path: str | Path, pose_of: PoseOf) -> Scene:
    """
    Load a scene.

    Parameters
    ----------
    path : path
        The file.
    pose_of : callable
        Gives the pose T_root_frame, shape (4, 4), of a frame that an obstacle stands in; raises
        a FabrikError where that is not known, or changes as the arm moves.

    Raises
    ------
    SceneError
        If the file cannot be read or makes no sense; names the file, the obstacle and the key.

    """
    document = load_document(path)
    try:
        return scene_of(document, pose_of)
    except SceneError as error:
        raise type(error)(f'{_scene_at(path)}: {error}') from error


def load_document(path: str | Path) -> object:
    """
    Read a file, of which `scene_of` makes a scene.

    Raises
    ------
    SceneError
        If it cannot be read.

    """
    try:
        return _document(Path(path))
    except SceneError as error:
        raise SceneError(f'{_scene_at(path)}: {error}') from error


def _scene_at(path: str | Path) -> str:
    return f'scene {shown(str(path), 200)}'


def scene_of(document: object, pose_of: PoseOf) -> Scene:
    """
    Make a scene of what YAML or JSON read; see `load_scene`.

    Raises
    ------
    SceneError
        If it makes no sense.

    """
    entries = _mapping(document, 'the file')
    _check_keys(entries, (TOP,), 'the file')
    given = entries.get(TOP)
    obstacles = {} if given is None else _mapping(given, f"'{TOP}'")
    return Scene(_obstacle(str(name), entry, pose_of) for name, entry in obstacles.items())


def _document(path: Path) -> object:
    try:
        import yaml
    except ImportError as error:
        raise SceneError('PyYAML is not installed; cure: pip install pyyaml') from error
    try:
        if path.stat().st_size > LARGEST_FILE:
            raise SceneError(f'the file has more than {LARGEST_FILE} bytes')
        _check_repeats(yaml.compose(path.read_text(), yaml.SafeLoader))
        return yaml.safe_load(path.read_text())
    except (OSError, UnicodeError, ValueError, RecursionError, yaml.YAMLError) as error:
        raise SceneError(f'cannot be read: {" ".join(str(error).split())}') from error


def _check_repeats(node: Any) -> None:
    """Refuse a key that is given twice: YAML would keep the last and lose an obstacle."""
    waiting, seen = [] if node is None else [node], set()
    while waiting:
        node = waiting.pop()
        if id(node) in seen or node.id == 'scalar':
            continue
        seen.add(id(node))  # an alias may lead back
        if node.id == 'sequence':
            waiting.extend(node.value)
            continue
        keys = [key.value for key, _ in node.value if key.id == 'scalar']
        for key in keys:
            if keys.count(key) > 1:
                line = node.start_mark.line + 1
                raise SceneError(f"'{shown(key)}' is given twice in what begins in line {line}")
        waiting.extend(value for _, value in node.value)


def _obstacle(name: str, entry: object, pose_of: PoseOf) -> Obstacle:
    where = f"obstacle '{shown(name)}'"
    keys = _mapping(entry, where)
    _check_keys(keys, KEYS, where)
    link, frame = (_text(keys.get(key, ''), f'{where}, {key}') for key in ('link', 'frame'))
    if link and frame:
        raise SceneError(f'{where} has a frame and a link; one says where it is')
    xyz = _numbers(keys.get('xyz', (0.0, 0.0, 0.0)), 3, f'{where}, xyz')
    rpy = _numbers(keys.get('rpy', (0.0, 0.0, 0.0)), 3, f'{where}, rpy')
    T = transform(rotation_from_rpy(*rpy), xyz)
    touch_links = keys.get('touch_links', ())
    if not isinstance(touch_links, list | tuple):
        raise SceneError(f'{where}, touch_links: expected a list of names of links')
    names = tuple(_text(touched, f'{where}, touch_links') for touched in touch_links)
    return Obstacle(
        name, _shape(keys, where), T if link else _placed(T, frame, pose_of, where), link, names
    )


def _placed(T_frame_obstacle: Array, frame: str, pose_of: PoseOf, where: str) -> Array:
    try:
        return pose_of(frame) @ T_frame_obstacle
    except FabrikError as error:
        kind = UnknownFrameError if isinstance(error, UnknownFrameError) else SceneError
        raise kind(f'{where}: {error}') from error


def _shape(keys: Mapping[str, Any], where: str) -> Shape | HalfSpace:
    given = [key for key in SHAPES if key in keys]
    if len(given) != 1:
        found = ' and '.join(given) or 'none'
        raise SceneError(f'{where} needs one of {", ".join(SHAPES)}; it has {found}')
    (kind,) = given
    value, what = keys[kind], f'{where}, {kind}'
    if 'scale' in keys and kind != 'mesh':
        raise SceneError(f'{where}: only meshes have a scale')
    match kind:
        case 'box':
            return Box(_triple(value, what))
        case 'sphere':
            return Sphere(_number(value, what))
        case 'cylinder' | 'capsule':
            radius, length = _numbers(value, 2, what)
            return Cylinder(radius, length) if kind == 'cylinder' else Capsule(radius, length)
        case 'half_space':
            if value is not True:
                raise SceneError(f'{what}: expected true, got {shown(str(value))}')
            return HalfSpace()
        case _:
            scale = keys.get('scale', 1.0)
            factors = scale if isinstance(scale, list | tuple) else (scale,) * 3
            return Mesh(_text(value, what), _triple(factors, f'{where}, scale'))


def _mapping(value: object, what: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise SceneError(f'{what}: expected keys and values, got {shown(str(value))}')
    return value


def _check_keys(entries: Mapping[str, Any], known: Sequence[str], what: str) -> None:
    for key in map(str, entries):
        if key not in known:
            raise SceneError(
                f"{what} has the unknown key '{shown(key)}'{did_you_mean(key, known)}; known are: "
                f'{listed(known)}'
            )


def _text(value: object, what: str) -> str:
    if not isinstance(value, str):
        raise SceneError(f'{what}: expected a name, got {shown(str(value))}')
    return value


def _number(value: object, what: str) -> float:
    """Read a number; YAML 1.1 takes 1e-3, without a point, for text."""
    try:
        number = math.nan if isinstance(value, bool) else float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        number = math.nan
    if not math.isfinite(number):
        raise SceneError(f'{what}: expected a finite number, got {shown(str(value))}')
    return number


def _numbers(values: object, count: int, what: str) -> tuple[float, ...]:
    if not isinstance(values, list | tuple) or len(values) != count:
        raise SceneError(f'{what}: expected {count} numbers, got {shown(str(values))}')
    return tuple(_number(value, what) for value in values)


def _triple(values: object, what: str) -> tuple[float, float, float]:
    x, y, z = _numbers(values, 3, what)
    return x, y, z
