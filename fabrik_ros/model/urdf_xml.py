"""
XML of a robot description: reading it, and the numbers in its elements.

The only module that knows XML; the others take `Element` from here.

"""

import math
import re
from typing import NamedTuple
from xml.etree import ElementTree
from xml.parsers import expat

import numpy as np

from ..errors import listed, shown, TargetError, UrdfError
from ..transforms import Array, rotation_from_quaternion_xyzw, rotation_from_rpy, transform
from .mechanism import read_only
from .urdf_file import MAXIMUM_CHARACTERS

Element = ElementTree.Element
LARGEST = 1e16
"""Programs write this for infinity; beyond it sums of lengths and angles mean nothing."""
XACRO_CURE = 'expand it first (xacro model.urdf.xacro > model.urdf) or give the file itself'
PATH = re.compile(r'[^<\n]*([/\\]|\.(urdf|xacro|xml))[^<\n]*')
"""Text that is the path of a file where its content is expected."""
PATH_CURE = (
    'fabrik_node --urdf FILE, description:=FILE in launch files, or '
    'ParameterValue(Command(["xacro ", FILE]), value_type=str) in your own'
)
KINEMATIC_ELEMENTS = {
    'joint', 'link', 'parent', 'child', 'origin', 'axis', 'limit', 'mimic', 'safety_controller',
}  # fmt: skip
"""An expression in one of these shows that xacro has not expanded the document."""
DEFINING = ('property', 'arg')
"""Elements of xacro that bring nothing by themselves."""
AMPERSAND = re.compile(r'&(?!(?:amp|lt|gt|quot|apos|#\d+|#x[\da-fA-F]+);)')
ATTRIBUTE = re.compile(r"""=\s*(?:"[^"]*"|'[^']*')""")
CONTROL = re.compile('[\x01-\x08\x0b\x0c\x0e-\x1f]')


class Document(NamedTuple):
    """A robot description that could be parsed."""

    root: Element
    """Outermost element, `<robot>`; names keep their prefixes, as in urdfdom."""
    warnings: tuple[str, ...]
    """Oddities that could be understood."""
    leftover: Element | None
    """First element left of xacro that should have brought something; None where there is none."""
    fault: str
    """Reason why the text is not well-formed; '' where it is."""

    def explained(self, error: UrdfError) -> UrdfError:
        """Add to an error what is odd about the document, which may be the cause."""
        if self.leftover is not None:
            return UrdfError(f'{unexpanded(self.leftover)}; without what is missing, {error}')
        return UrdfError(f'{error}; it is not well-formed XML: {self.fault}')


def parse(text: str) -> Document:
    """Parse URDF text, or raise UrdfError; what urdfdom reads although it is odd is read alike."""
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
    root, fault = _outermost(text.lstrip('\ufeff \t\r\n'))
    warnings = [f'not well-formed XML: {fault}; read as urdfdom reads it'] if fault else []
    if root.tag != 'robot':
        raise UrdfError(
            f'the outermost element is <{shown(root.tag)}>; a URDF starts with <robot>'
        )
    prefixes = _Prefixes(root)
    if prefixes.undeclared:
        warnings.append(
            f'prefixes that are not declared: {listed(prefixes.undeclared)}; names with a prefix '
            'are read as they stand, as urdfdom does'
        )
    leftovers = _leftovers_of_xacro(root, prefixes.of_xacro)
    if leftovers:
        tags = listed([f'<{tag}>' for tag in dict.fromkeys(e.tag for e in leftovers)])
        warnings.append(
            f'left of xacro: {tags}, of which nothing comes, as in urdfdom; if anything is '
            f'missing, {XACRO_CURE}'
        )
    bringing = (e for e in leftovers if e.tag.rpartition(':')[2] not in DEFINING)
    return Document(root, tuple(warnings), next(bringing, None), fault)


def is_for_urdfdom_alone(text: str) -> bool:
    """Whether strict readers that know namespaces, as xacro, cannot read what is read here."""
    try:
        expat.ParserCreate('utf-8', namespace_separator=' ').Parse(text, True)
    except (expat.ExpatError, ValueError):
        try:
            return bool(parse(text))
        except UrdfError:
            return False
    return False


def strict_text(text: str) -> str:
    """Write URDF text as strict readers of XML want it: well-formed, and without prefixes."""
    root = parse(text).root
    root.tail = None
    for element in root.iter():
        for name in [name for name in element.attrib if ':' in name or name == 'xmlns']:
            del element.attrib[name]
        for child in [child for child in element if ':' in child.tag]:
            element.remove(child)
    return ElementTree.tostring(root, encoding='unicode')


def unexpanded(element: Element) -> UrdfError:
    """Make the error for a document of which an element is left of xacro."""
    return UrdfError(
        'the robot description is xacro, not URDF; found '
        f'<{shown(element.tag.rpartition(":")[2])}> {shown(str(element.attrib))}; {XACRO_CURE}'
    )


def _outermost(text: str) -> tuple[Element, str]:
    """Parse a document, as urdfdom does; tell why it is not well-formed, '' where it is."""
    try:
        return _without_prefix(_tree(text)), ''
    except (expat.ExpatError, ValueError) as error:
        root = _robot_in_odd_text(text)
        if root is None:
            raise UrdfError(
                f'the robot description is not well-formed XML: {error}; mend that place'
            ) from error
        return root, str(error)


def _tree(text: str) -> Element:
    """Parse well-formed XML without a document type: entities make small ones huge."""
    builder = ElementTree.TreeBuilder()
    parser = expat.ParserCreate('utf-8')
    parser.buffer_text = True
    parser.StartElementHandler = builder.start
    parser.EndElementHandler = builder.end
    parser.CharacterDataHandler = builder.data
    parser.StartDoctypeDeclHandler = _refuse_document_type
    parser.Parse(text, True)
    return builder.close()


def _refuse_document_type(*_: object) -> None:
    """Refuse the document, before anything of its type is read."""
    raise UrdfError('the robot description contains <!DOCTYPE, which is not allowed')


def _robot_in_odd_text(text: str) -> Element | None:
    """
    Find `<robot>` in text that is not well-formed, if urdfdom does.

    Its parser takes comments with dashes in them, entities that nobody defined, control
    characters, `<` in attributes, no space between those, and other elements and text before
    the robot.
    """
    if text.startswith('<?xml'):
        text = text[text.find('?>') + 2 :]
    text = CONTROL.sub(' ', AMPERSAND.sub('&amp;', _without_comments(text)))
    text = ATTRIBUTE.sub(lambda found: found.group().replace('<', '&lt;') + ' ', text)
    try:
        document = _tree(f'<document>{text}</document>')
    except (expat.ExpatError, ValueError):
        return None
    ends = len(document) == 0 or not (document[-1].tail or '').strip()
    return document.find('robot') if ends else None


def _without_comments(text: str) -> str:
    parts, end = [], 0
    while (start := text.find('<!--', end)) >= 0:
        parts.append(text[end:start])
        end = text.find('-->', start + 4) + 3
        if end < 3:
            return text
    return ''.join([*parts, text[end:]])


def _without_prefix(root: Element) -> Element:
    """Drop the prefix that a root has declared for itself; those of others stay foreign."""
    prefix, colon, _ = root.tag.rpartition(':')
    if f'xmlns:{prefix}' in root.attrib:
        for element in root.iter():
            element.tag = element.tag.removeprefix(prefix + colon)
    return root


class _Prefixes:
    """Prefixes of the names in a document: those of xacro, and those that are not declared."""

    def __init__(self, root: Element) -> None:
        self.of_xacro = {'xacro'}
        used, declared = set[str](), {'xml', 'xmlns'}
        for element in root.iter():
            for name in (element.tag, *element.attrib):
                prefix, colon, rest = name.partition(':')
                if colon:
                    used.add(prefix)
                if prefix == 'xmlns':
                    declared.add(rest)
                    if element.attrib[name].endswith('/xacro'):
                        self.of_xacro.add(rest)
        self.undeclared = sorted(used - declared - self.of_xacro)


def _leftovers_of_xacro(root: Element, prefixes: set[str]) -> list[Element]:
    """List what is left of xacro outermost; raise UrdfError where expressions are left."""
    found, pending = [], [root]
    for element in pending:
        if element.tag.partition(':')[0] in prefixes:
            found.append(element)
            continue
        if element.tag in KINEMATIC_ELEMENTS and any(
            '${' in value or '$(' in value for value in element.attrib.values()
        ):
            raise unexpanded(element)
        pending.extend(element)
    return found


class Reader:
    """
    Reads elements of one document and collects warnings.

    Parameters
    ----------
    document : Document
        What was parsed.

    Attributes
    ----------
    warnings : list of str
        What was odd but could be understood.
    knows_accelerations : bool
        Whether `<limit>` may hold limits of acceleration and jerk in this version of URDF.

    """

    def __init__(self, document: Document) -> None:
        self.warnings = list(document.warnings)
        version = _version(document.root)
        self._knows_quaternions = version >= (1, 1)
        self.knows_accelerations = version >= (1, 2)

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
