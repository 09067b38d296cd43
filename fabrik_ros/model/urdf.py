"""
URDF text or file to `Robot`: the door to the modules `urdf_*`.

Only kinematics and collision geometry are read. Limits are never invented: a revolute joint
without any is refused, as urdfdom does, and a continuous joint has none whatever its `<limit>`
says. What is odd but clear is kept as a warning on the `Robot`; so is collision geometry that
makes no sense, which is left out: kinematics come first.

"""

from collections.abc import Mapping
from dataclasses import replace
import os
from pathlib import Path

from ..errors import UrdfError
from .dynamics import Dynamics
from .geometry import Visual
from .robot import Robot
from .urdf_dynamics import read_dynamics
from .urdf_file import read_text
from .urdf_geometry import read_collisions, read_visuals
from .urdf_joints import JointReader, resolve_mimics
from .urdf_tree import check_tree, check_unique
from .urdf_xml import Document, name_of, parse, Reader, unexpanded


def load_urdf(
    source: str | os.PathLike[str],
    *,
    use_safety_limits: bool = True,
    xacro_args: Mapping[str, str] | None = None,
) -> Robot:
    """
    Read a robot from URDF text, a URDF file or a xacro file.

    Parameters
    ----------
    source : str or path
        The XML text itself, or the path of a file; `.xacro` files are expanded with the
        `xacro` package.
    use_safety_limits : bool
        Narrow joint limits to the soft limits of `<safety_controller>` where these are sane.
    xacro_args : mapping, optional
        Arguments for xacro.

    Returns
    -------
    Robot
        The tree; `.warnings` tells what was odd.

    Raises
    ------
    UrdfError
        If the description cannot be used; the message names the element, what was found and
        what is allowed.
    FileNotFoundError
        If the file does not exist.

    """
    if isinstance(source, str) and '<' in source:
        return parse_urdf(source, use_safety_limits=use_safety_limits)
    text, odd = read_text(source, xacro_args)
    folder = str(Path(source).absolute().parent)
    robot = parse_urdf(text, use_safety_limits=use_safety_limits)
    return replace(robot, folder=folder, warnings=(*odd, *robot.warnings))


def parse_urdf(text: str, *, use_safety_limits: bool = True) -> Robot:
    """
    Read a robot from URDF text, and from nothing else: for text that others send.

    Parameters and errors are those of `load_urdf`; no file is ever opened.
    """
    document = parse(text)
    try:
        robot = _robot(document, text, use_safety_limits)
    except UrdfError as error:
        if document.leftover is None and not document.fault:
            raise
        raise document.explained(error) from error
    if document.leftover is not None and not any(joint.type.moves for joint in robot.joints):
        raise unexpanded(document.leftover)
    return robot


def _robot(document: Document, text: str, use_safety_limits: bool) -> Robot:
    reader, elements = Reader(document), list(document.root)
    read_joint = JointReader(reader, use_safety_limits).joint
    links = [name_of(e, 'link') for e in elements if e.tag == 'link']
    joints = [read_joint(e) for e in elements if e.tag == 'joint']
    check_unique(links, 'link')
    check_unique([joint.name for joint in joints], 'joint')
    check_tree(links, joints)
    joints = resolve_mimics(joints, reader.warnings)
    collisions = tuple(read_collisions(elements, reader))
    name, warnings = document.root.get('name', ''), tuple(reader.warnings)
    return Robot(name, tuple(links), tuple(joints), text, warnings, collisions)


def parse_dynamics(text: str) -> Dynamics:
    """
    Read masses and drives from the URDF text of a robot that `parse_urdf` accepts.

    Numbers are not checked for whether a body can have such an inertia.

    Raises
    ------
    UrdfError
        If an entry is not a number.

    """
    return read_dynamics(parse(text))


def parse_visuals(text: str) -> tuple[Visual, ...]:
    """
    Read what is to be seen of a robot from its URDF text, which `parse_urdf` accepts.

    What makes no sense is left out.
    """
    document = parse(text)
    return tuple(read_visuals(document.root, Reader(document)))
