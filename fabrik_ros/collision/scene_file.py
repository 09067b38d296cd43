"""
Scenes in YAML files: a table is five lines.

    obstacles:
      table:
        box: [1.2, 0.8, 0.04]   # edges along x, y, z [m]
        xyz: [0.5, 0.0, -0.02]  # its centre [m]
        rpy: [0.0, 0.0, 0.0]    # as in a URDF [rad]; may be left out

"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from ..documents import Reader
from ..errors import FabrikError, SceneError, shown, UnknownFrameError
from ..model.geometry import Box, Capsule, Cylinder, HalfSpace, Mesh, Shape, Sphere
from ..model.robot import Robot
from ..transforms import Array, rotation_from_rpy, transform
from .scene import Obstacle, Scene

SHAPES = ('box', 'sphere', 'cylinder', 'capsule', 'mesh', 'half_space')
KEYS = (*SHAPES, 'scale', 'xyz', 'rpy', 'frame', 'link', 'touch_links', 'clearance')
TOP = 'obstacles'

READ = Reader(SceneError)

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
        return READ.document(Path(path))
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
    entries = READ.mapping(document, 'the file')
    READ.check_keys(entries, (TOP,), 'the file')
    given = entries.get(TOP)
    obstacles = {} if given is None else READ.mapping(given, f"'{TOP}'")
    return Scene(_obstacle(str(name), entry, pose_of) for name, entry in obstacles.items())


def _obstacle(name: str, entry: object, pose_of: PoseOf) -> Obstacle:
    where = f"obstacle '{shown(name)}'"
    keys = READ.mapping(entry, where)
    READ.check_keys(keys, KEYS, where)
    link, frame = (READ.text(keys.get(key, ''), f'{where}, {key}') for key in ('link', 'frame'))
    if link and frame:
        raise SceneError(f'{where} has a frame and a link; one says where it is')
    xyz = READ.numbers(keys.get('xyz', (0.0, 0.0, 0.0)), 3, f'{where}, xyz')
    rpy = READ.numbers(keys.get('rpy', (0.0, 0.0, 0.0)), 3, f'{where}, rpy')
    T = transform(rotation_from_rpy(*rpy), xyz)
    touch_links = keys.get('touch_links', ())
    if not isinstance(touch_links, list | tuple):
        raise SceneError(f'{where}, touch_links: expected a list of names of links')
    names = tuple(READ.text(touched, f'{where}, touch_links') for touched in touch_links)
    placed = T if link else _placed(T, frame, pose_of, where)
    given = keys.get('clearance')
    clearance = None if given is None else READ.number(given, f'{where}, clearance')
    return Obstacle(name, _shape(keys, where), placed, link, names, clearance)


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
            return Box(READ.triple(value, what))
        case 'sphere':
            return Sphere(READ.number(value, what))
        case 'cylinder' | 'capsule':
            radius, length = READ.numbers(value, 2, what)
            return Cylinder(radius, length) if kind == 'cylinder' else Capsule(radius, length)
        case 'half_space':
            if value is not True:
                raise SceneError(f'{what}: expected true, got {shown(str(value))}')
            return HalfSpace()
        case _:
            scale = keys.get('scale', 1.0)
            factors = scale if isinstance(scale, list | tuple) else (scale,) * 3
            return Mesh(READ.text(value, what), READ.triple(factors, f'{where}, scale'))
