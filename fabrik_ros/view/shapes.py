"""What is drawn of a robot: its visual geometry, or that for collisions where it has no other."""

from collections.abc import Callable
import io
import logging
import re
from typing import Any

from ..collision import MeshFinder
from ..model.robot import Robot
from ..model.urdf_xml import strict_text

SHAPES = re.compile(r'<(visual|collision)\b(?:[^>]*/>|.*?</\1\s*>)', re.DOTALL)
MOST_NAMED = 3
"""Number of missing meshes that are named [1]."""


def drawable(robot: Robot, mesh_paths: tuple[str, ...] = ()) -> tuple[Any, bool, list[str]]:
    """
    Read what can be drawn of a robot.

    Parameters
    ----------
    robot : Robot
        The robot.
    mesh_paths : tuple of str
        Folders with packages in them.

    Returns
    -------
    urdf : yourdfpy.URDF
        With the meshes that were found.
    is_visual : bool
        Whether it is the visual geometry, not that for collisions.
    missing : list of str
        Meshes that are not there, and why.

    """
    logging.getLogger('yourdfpy.urdf').setLevel(logging.ERROR)  # `missing` says it once
    finder, missing = MeshFinder(mesh_paths, robot.folder), dict[str, str]()
    source = strict_text(robot.source)
    has_visuals = '<visual' in source
    try:
        urdf = _load(source, _handler(finder, missing), has_visuals)
    except Exception as error:  # of a mesh or a shape: whatever its reader makes of it
        missing['no link'] = f'{type(error).__name__}: {error}'
        urdf = _load(SHAPES.sub('', source), _handler(finder, missing), has_visuals)
    return urdf, has_visuals, [f'{name}: {why}' for name, why in missing.items()]


def _load(source: str, find: Callable[[str], str], has_visuals: bool) -> Any:
    import yourdfpy

    return yourdfpy.URDF.load(
        io.BytesIO(source.encode()),
        filename_handler=find,
        build_scene_graph=True,
        load_meshes=has_visuals,
        build_collision_scene_graph=not has_visuals,
        load_collision_meshes=not has_visuals,
        force_collision_mesh=False,
    )


def _handler(finder: MeshFinder, missing: dict[str, str]) -> Callable[[str], str]:
    def find(fname: str) -> str:
        try:
            return str(finder.find(fname))
        except FileNotFoundError as error:
            missing[fname] = str(error)
            return ''

    return find


def missing_text(missing: list[str]) -> str:
    """Say which meshes are not drawn; '' where all are."""
    if not missing:
        return ''
    more = len(missing) - MOST_NAMED
    named = '; '.join(missing[:MOST_NAMED]) + (f'; and {more} more' if more > 0 else '')
    return f'{len(missing)} meshes are not drawn: {named}'
