"""
XML of a robot description: reading it, and the numbers in its elements.

The only module that knows XML and xacro; the others take `Element` from here.

"""

from collections.abc import Mapping
import math
import os
from pathlib import Path
import re
from xml.etree import ElementTree

import numpy as np

from ..errors import shown, TargetError, UrdfError
from ..transforms import Array, rotation_from_quaternion_xyzw, rotation_from_rpy, transform
from .mechanism import read_only

Element = ElementTree.Element
MAXIMUM_CHARACTERS = 10_000_000
LARGEST = 1e16
"""Programs write this for infinity; beyond it sums of lengths and angles mean nothing."""
XACRO_CURE = 'expand it first (xacro model.urdf.xacro > model.urdf) or give the file itself'
PATH = re.compile(r'[^<\n]*([/\\]|\.(urdf|xacro|xml))[^<\n]*')
"""What is given where a path is mistaken for the text of the file."""
PATH_CURE = (
    'fabrik_node --urdf FILE, description:=FILE in launch files, or '
    'ParameterValue(Command(["xacro ", FILE]), value_type=str) in your own'
)
KINEMATIC_ELEMENTS = {
    'joint', 'link', 'parent', 'child', 'origin', 'axis', 'limit', 'mimic', 'safety_controller',
}  # fmt: skip
"""An expression in one of these shows that xacro has not expanded the document."""


def read_text(source: str | os.PathLike[str], xacro_args: Mapping[str, str] | None) -> str:
    """Read the text of a URDF file, or expand a xacro file; raise UrdfError where that fails."""
    if not str(source).strip():
        raise UrdfError('the robot description is empty; expected URDF text or the path of a file')
    path = Path(source)
    if path.suffix == '.xacro':
        return _expand_xacro(path, xacro_args)
    try:
        size = path.stat().st_size
        if size > 4 * MAXIMUM_CHARACTERS:
            raise UrdfError(f"'{path}' has {size} bytes: that is no robot description")
        return path.read_text(encoding='utf-8-sig')
    except FileNotFoundError:
        raise
    except UnicodeDecodeError as error:
        raise UrdfError(f"'{path}' is not UTF-8 text: {error}") from error
    except (OSError, ValueError) as error:  # a folder, no permission, not even a file name
        raise UrdfError(
            f'{str(path)[:100]!r} is neither URDF text nor a file that can be read: '
            f'{getattr(error, "strerror", None) or error}'
        ) from error


def _expand_xacro(path: Path, xacro_args: Mapping[str, str] | None) -> str:
    try:
        import xacro
    except ImportError as error:
        raise UrdfError(
            f"'{path}' is a xacro file and xacro is not installed; "
            'install ros-<distro>-xacro or: pip install xacro'
        ) from error
    if not path.is_file():
        raise FileNotFoundError(f"no such file: '{path}'")
    try:
        document = xacro.process_file(str(path), mappings=dict(xacro_args or {}))
    except Exception as error:  # xacro lets errors of every kind through
        raise UrdfError(f"xacro could not expand '{path}': {error}") from error
    return str(document.toxml())


def parse(text: str) -> Element:
    """Parse URDF text; return its outermost element, `<robot>`, or raise UrdfError."""
    if len(text) > MAXIMUM_CHARACTERS:
        raise UrdfError(
            f'the robot description has {len(text)} characters; at most {MAXIMUM_CHARACTERS} '
            'are read'
        )
    if PATH.fullmatch(text.strip()):
        raise UrdfError(
            f"the robot description is '{shown(text.strip())}', the path of a file; expected the "
            f'text in it: {PATH_CURE}'
        )
    try:
        parser = ElementTree.XMLParser(target=_TreeBuilder())
        root = _without_namespace(ElementTree.XML(text.lstrip('\ufeff \t\r\n'), parser))
    except (ElementTree.ParseError, ValueError) as error:
        if '<xacro:' in text:
            raise UrdfError(f'the robot description is xacro, not URDF; {XACRO_CURE}') from error
        raise UrdfError(f'the robot description is not well-formed XML: {error}') from error
    if root.tag != 'robot':
        raise UrdfError(
            f'the outermost element is <{shown(root.tag)}>; a URDF starts with <robot>'
        )
    _check_expanded(root)
    return root


class _TreeBuilder(ElementTree.TreeBuilder):
    """Makes elements, but of no document with a type: entities make small ones huge."""

    def doctype(self, name: str, public: str | None, system: str | None) -> None:
        """Refuse the document, before anything of its type is read."""
        raise UrdfError('the robot description contains <!DOCTYPE, which is not allowed')


def _check_expanded(root: Element) -> None:
    for element in root.iter():
        is_macro = '/xacro}' in element.tag
        is_unexpanded = element.tag in KINEMATIC_ELEMENTS and any(
            '${' in value or '$(' in value for value in element.attrib.values()
        )
        if is_macro or is_unexpanded:
            raise UrdfError(
                f'the robot description is xacro, not URDF: found '
                f'<{shown(element.tag.rpartition("}")[2])}> '
                f'{shown(str(element.attrib))}; {XACRO_CURE}'
            )


def _without_namespace(root: Element) -> Element:
    """Drop the default namespace from its tags; those of others (`<gz:joint>`) stay foreign."""
    namespace, brace, _ = root.tag.rpartition('}')
    if brace:
        for element in root.iter():
            element.tag = element.tag.removeprefix(namespace + brace)
    return root


class Reader:
    """
    Reads elements of one document and collects warnings.

    Parameters
    ----------
    root : Element
        The outermost element.

    Attributes
    ----------
    warnings : list of str
        What was odd but could be understood.

    """

    def __init__(self, root: Element) -> None:
        self.warnings: list[str] = []
        self._knows_quaternions = _version(root) >= (1, 1)

    def only(self, element: Element, tag: str, where: str) -> Element | None:
        """Find the first child with a tag, and warn if there are more."""
        found = [child for child in element if child.tag == tag]
        if len(found) > 1:
            self.warnings.append(
                f'{where} has {len(found)} <{tag}> elements; the first one counts'
            )
        return found[0] if found else None

    def origin(self, element: Element, where: str) -> Array:
        """Read the pose (4, 4) in `<origin>`; the identity where there is none."""
        found = self.only(element, 'origin', where)
        if found is None:
            return read_only(np.eye(4))
        where = f'{where}, <origin>'
        xyz = vector(found, 'xyz', (0.0, 0.0, 0.0), where)
        if max(map(abs, xyz)) > LARGEST:
            given = shown_attribute(found, 'xyz')
            raise UrdfError(f"{where}: xyz is '{given}'; expected at most {LARGEST:g} m")
        return read_only(transform(self._rotation(found, where), xyz))

    def _rotation(self, origin: Element, where: str) -> Array:
        rpy = vector(origin, 'rpy', (0.0, 0.0, 0.0), where)
        if 'quat_xyzw' not in origin.attrib:
            return rotation_from_rpy(*rpy)
        if not self._knows_quaternions:
            self.warnings.append(
                f'{where}: quat_xyzw is left out, as it needs <robot version="1.1"> or later'
            )
            return rotation_from_rpy(*rpy)
        if 'rpy' in origin.attrib:
            raise UrdfError(f'{where} has both rpy and quat_xyzw; expected one of them')
        try:
            return rotation_from_quaternion_xyzw(numbers(origin, 'quat_xyzw', 4, where))
        except TargetError as error:
            raise UrdfError(f'{where}: {error}') from error


def _version(root: Element) -> tuple[int, ...]:
    try:
        return tuple(int(part) for part in root.get('version', '1.0').split('.'))
    except ValueError:
        return 1, 0


def name_of(element: Element, tag: str) -> str:
    """Read the name that an element must have."""
    name = element.get('name')
    if not name:
        raise UrdfError(f'a <{tag}> has no name; expected <{tag} name="...">')
    return name


def shown_attribute(element: Element, attribute: str) -> str:
    """Quote an attribute for an error."""
    return shown(element.get(attribute, ''))


def _float(text: str) -> float:
    if '_' in text or not text.isascii():  # Python reads more, such as Arabic digits
        raise ValueError
    return float(text)


def number(element: Element, attribute: str, default: float, where: str) -> float:
    """Read one number, which may be infinite; `where` is for errors."""
    text = element.get(attribute)
    if text is None:
        return default
    try:
        value = _float(text)
    except ValueError as error:
        raise UrdfError(f"{where}: {attribute} is '{shown(text)}'; expected a number") from error
    if math.isnan(value):
        raise UrdfError(f'{where}: {attribute} is NaN; expected a number')
    return value


def vector(
    element: Element,
    attribute: str,
    default: tuple[float, float, float],
    where: str,
) -> tuple[float, float, float]:
    """Read three finite numbers; `where` is for errors."""
    if attribute not in element.attrib:
        return default
    x, y, z = numbers(element, attribute, 3, where)
    return x, y, z


def numbers(element: Element, attribute: str, count: int, where: str) -> tuple[float, ...]:
    """Read `count` finite numbers; `where` is for errors."""
    text = element.get(attribute, '')
    try:
        values = tuple(_float(part) for part in text.split()) if text.isascii() else ()
    except ValueError:
        values = ()
    if len(values) != count or not all(math.isfinite(value) for value in values):
        expected = f'{count} finite numbers' if count > 1 else 'a finite number'
        raise UrdfError(f"{where}: {attribute} is '{shown(text)}'; expected {expected}")
    return values
