"""
What people, programs and attackers do to robot descriptions.

Three kinds: of the tree of elements (which stays well-formed), of the text between them, and of
single characters. All draw from the generator they are given, so a seed gives a document.

"""

from collections.abc import Callable
from copy import deepcopy
from random import Random
import re
from xml.etree import ElementTree

Element = ElementTree.Element

NUMBERS = (
    'nan', 'NaN', '-nan', 'inf', '-inf', '+Infinity', '1e308', '-1.7976931348623157e308', '1e309',
    '5e-324', '-1e-320', '1e16', '1e17', '1e-9', '1e-8', '-0', '0', '0.0', '1', '-1', '3.14',
    '1,0', '', ' ', 'abc', '0x10', '0x1p3', '90deg', '1.5m', '1_000', '١٢', '\uff11', '1\u00a0',
    '\u22121',
    ' 2 ', '\t2\n', '2\u20032', '+1', '.5', '5.', '1e', 'e5', '--1', '1.2.3', '${pi}', '$(arg x)',
    '1e+3', '1E-3', 'None', 'true', '1d0', "'1'", '½', '1' * 400, '0.' + '3' * 400, '\U0001d7d9',
)  # fmt: skip
NAMES = (
    '', ' ', 'a b', '/arm/link', 'Grundgestell_Süd', '手首', '\U0001f9be', "it's", '"', '<b>', '&',
    '${prefix}base', '$(arg x)', 'a\nb', '\t', '%s', '{}', '{0}', '\\', '..', 'x' * 300,
    'universe', 'root_joint', 'gripper', 'finger', '\u202e', '\u200b', '\x85', 'None', '0',
)  # fmt: skip
TYPES = (
    'revolute', 'continuous', 'prismatic', 'fixed', 'planar', 'floating', 'Revolute', 'ball',
    'screw', '', ' fixed', 'spherical',
)  # fmt: skip
AXES = (
    '0 0 0', '0 0 2', '1e-5 0 0', '1e-12 0 0', '1 1 1', '-1 2e-7 0', '0 5e-324 0', '1e300 0 1e300',
    '1.7e308 1.7e308 0', '0 0', '0 0 1 0', '0,0,1', 'z', '1 0 0', '0.6 -0.8 0',
    '0.9999999 1e-13 0',
)  # fmt: skip
TAGS = (
    'link', 'joint', 'origin', 'axis', 'limit', 'mimic', 'parent', 'child', 'safety_controller',
    'robot', 'geometry', 'collision', 'visual', 'inertial', 'dynamics', 'calibration', 'box',
    'Joint', 'gazebo', 'transmission', 'sensor', 'anything',
)  # fmt: skip
ATTRIBUTES = (
    'name', 'type', 'link', 'joint', 'xyz', 'rpy', 'quat_xyzw', 'lower', 'upper', 'velocity',
    'effort', 'multiplier', 'offset', 'soft_lower_limit', 'soft_upper_limit', 'size', 'radius',
    'length', 'filename', 'scale', 'value', 'anything',
)  # fmt: skip
NUMERIC = {
    *('xyz', 'rpy', 'quat_xyzw', 'lower', 'upper', 'velocity', 'effort', 'multiplier', 'offset'),
    *('soft_lower_limit', 'soft_upper_limit', 'size', 'radius', 'length', 'scale', 'value', 'ixx'),
    *('iyy', 'izz', 'ixy', 'damping', 'friction', 'k_position', 'k_velocity', 'rising', 'rgba'),
}
FRAGMENTS = (
    '<!-- a comment -->', '<!-- <!DOCTYPE robot> -->', '<!-- -- -->',
    '<![CDATA[<link name="x"/>]]>',
    '<?processing instruction?>', '&amp;', '&#65;', '&#0;', '&c;', 'text', '\n\n', '<', '>', '"',
    '<gazebo><plugin name="p" filename="lib.so"><joint name="j"/></plugin></gazebo>',
    '<transmission name="t"><joint name="elbow"/></transmission>',
    '<ros2_control name="c" type="system"><joint name="elbow" type="ball"/></ros2_control>',
    '<sensor name="s"><parent link="base"/></sensor>', '<link/>', '<joint/>',
    '<link name="loose"/>',
    '<joint name="elbow" type="fixed"/>', '<xacro:arm prefix="a"/>', '<gz:joint name="j"/>',
    '<origin xyz="1 0 0"/>', '<limit lower="0" upper="0"/>', '</link>', '</robot>', '<robot>',
    '<safety_controller soft_lower_limit="-0.1" soft_upper_limit="0.1" k_velocity="1"/>',
    '<mimic joint="elbow"/>', '<mimic/>', '\x00', '\x1b[31m', '\ufeff', '\ufffe', '\ud800',
)  # fmt: skip
BOMB = '<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;"><!ENTITY c "&b;&b;&b;&b;&b;&b;">'
PROLOGUES = (
    '\ufeff', '\n \t', '<?xml version="1.0"?>', '<?xml version="1.1"?>',
    '<?xml version="1.0" encoding="utf-16"?>', '<?xml version="1.0" encoding="no-such"?>',
    '<!DOCTYPE robot>', f'<!DOCTYPE robot [{BOMB}]>',
    '<!DOCTYPE robot [<!ENTITY c SYSTEM "file:///etc/hostname">]>',
    '<!DOCTYPE robot SYSTEM "http://example.org/robot.dtd">', '<!ENTITY a "b">', '<!-- first -->',
    '<?xml-stylesheet href="a.xsl"?>', 'junk', '<robot/>',
)  # fmt: skip


def mutated(rng: Random, text: str) -> str:
    """Do one to six things to a document."""
    root = ElementTree.fromstring(text.lstrip('\ufeff \t\r\n'))
    for _ in range(rng.choice((0, 1, 1, 1, 2, 2, 3, 5))):
        rng.choice(OF_ELEMENTS)(rng, root)
    text = ElementTree.tostring(root, encoding='unicode')
    for _ in range(rng.choice((0, 0, 0, 0, 1, 2))):
        text = rng.choice(OF_TEXT)(rng, text)
    for _ in range(rng.choice((0,) * 12 + (1, 2, 5))):
        text = rng.choice(OF_CHARACTERS)(rng, text)
    return text


# Of elements.


def _any(rng: Random, root: Element, *tags: str) -> Element:
    """Pick an element, mostly one that matters for kinematics."""
    if tags:
        return rng.choice([e for e in root.iter() if e.tag in tags] or [root])
    if rng.random() < 0.7:
        return rng.choice([e for joint in root.findall('joint') for e in joint.iter()] or [root])
    return rng.choice(list(root.iter()))


def _parent(rng: Random, root: Element) -> Element:
    """Pick an element that has children."""
    return rng.choice([e for e in root.iter() if len(e)] or [root])


def _child_of(rng: Random, root: Element) -> tuple[Element, Element]:
    parent = root if rng.random() < 0.2 else _parent(rng, root)
    return parent, rng.choice(list(parent)) if len(parent) else ElementTree.SubElement(parent, 'a')


def delete_element(rng: Random, root: Element) -> None:
    parent, child = _child_of(rng, root)
    parent.remove(child)


def duplicate_element(rng: Random, root: Element) -> None:
    parent, child = _child_of(rng, root)
    parent.insert(rng.randint(0, len(parent)), deepcopy(child))


def move_element(rng: Random, root: Element) -> None:
    parent, child = _child_of(rng, root)
    parent.remove(child)
    _any(rng, root).append(child)


def swap_elements(rng: Random, root: Element) -> None:
    parent = _parent(rng, root)
    if len(parent):
        a, b = rng.randrange(len(parent)), rng.randrange(len(parent))
        parent[a], parent[b] = parent[b], parent[a]


def rename_element(rng: Random, root: Element) -> None:
    _any(rng, root).tag = rng.choice(TAGS)


def delete_attribute(rng: Random, root: Element) -> None:
    attributes = _any(rng, root).attrib
    if attributes:
        del attributes[rng.choice(list(attributes))]


def rename_attribute(rng: Random, root: Element) -> None:
    attributes = _any(rng, root).attrib
    if attributes:
        attributes[rng.choice(ATTRIBUTES)] = attributes.pop(rng.choice(list(attributes)))


def swap_attributes(rng: Random, root: Element) -> None:
    name = rng.choice(ATTRIBUTES)
    having = [e for e in root.iter() if name in e.attrib]
    if having:
        a, b = rng.choice(having), rng.choice(having)
        a.attrib[name], b.attrib[name] = b.attrib[name], a.attrib[name]


def change_number(rng: Random, root: Element) -> None:
    """Put something odd in the place of a number, or of one of several."""
    candidates = [(e, name) for e in root.iter() for name in e.attrib if name in NUMERIC]
    if rng.random() < 0.7:
        candidates = [
            (e, name) for joint in root.findall('joint') for e in joint for name in e.attrib
            if name in NUMERIC
        ] or candidates  # fmt: skip
    if candidates:
        element, name = rng.choice(candidates)
        parts = re.split(r'(\s+)', element.attrib[name])
        parts[rng.randrange(0, len(parts), 2)] = _number(rng)
        element.attrib[name] = ''.join(parts)


def change_count(rng: Random, root: Element) -> None:
    """One number too few or too many, or other spaces between them."""
    element = _any(rng, root, 'origin', 'axis', 'box')
    for name in ('xyz', 'rpy', 'size'):
        if name in element.attrib:
            parts = element.attrib[name].split()
            if rng.random() < 0.4:
                parts.append('1')
            elif rng.random() < 0.5:
                parts = parts[:-1]
            element.attrib[name] = rng.choice((' ', '  ', '\t', '\n', ', ', ';')).join(parts)


def _number(rng: Random) -> str:
    return rng.choice(NUMBERS) if rng.random() < 0.8 else repr(rng.gauss(0.0, 2.0))


def change_type(rng: Random, root: Element) -> None:
    _any(rng, root, 'joint').attrib['type'] = rng.choice(TYPES)


def change_axis(rng: Random, root: Element) -> None:
    joint = _any(rng, root, 'joint')
    for axis in joint.findall('axis'):
        joint.remove(axis)
    if rng.random() < 0.8:
        ElementTree.SubElement(joint, 'axis', xyz=rng.choice(AXES))


def change_limits(rng: Random, root: Element) -> None:
    limit = _any(rng, root, 'limit')
    lower, upper = limit.get('lower', '0'), limit.get('upper', '0')
    limit.attrib.update(
        rng.choice(
            (
                {'lower': upper, 'upper': lower},
                {'lower': '1', 'upper': '1'},
                {'lower': '-inf', 'upper': 'inf'},
                {'lower': '-1e16', 'upper': '1e16'},
                {'lower': '-1.8e308', 'upper': '1.7e308'},
                {'velocity': rng.choice(('0', '-1', 'inf', '5e-324', '1e-10', '1e308'))},
                {'lower': _number(rng), 'upper': _number(rng)},
            )
        )
    )


def change_safety(rng: Random, root: Element) -> None:
    ElementTree.SubElement(
        _any(rng, root, 'joint'),
        'safety_controller',
        soft_lower_limit=_number(rng),
        soft_upper_limit=_number(rng),
    )


def change_origin(rng: Random, root: Element) -> None:
    """Turn and move a joint, by a quaternion at times."""
    joint = _any(rng, root, 'joint')
    for origin in joint.findall('origin'):
        joint.remove(origin)
    size = rng.choice((1e-9, 0.5, 0.5, 0.5, 1e5, 1e12))
    numbers = {name: [rng.gauss(0.0, size) for _ in range(3)] for name in ('xyz', 'rpy')}
    if rng.random() < 0.3:
        numbers.pop('rpy')
        numbers['quat_xyzw'] = [rng.gauss(0.0, rng.choice((0.01, 1, 1e200))) for _ in range(4)]
    attributes = {name: ' '.join(map(repr, values)) for name, values in numbers.items()}
    ElementTree.SubElement(joint, 'origin', attributes)


def add_mimic(rng: Random, root: Element) -> None:
    """Let a joint follow another, itself, a fixed one, one that is nowhere, or in a chain."""
    joints = [e for e in root.findall('joint') if e.get('name')]
    names = [joint.get('name', '') for joint in joints]
    for joint in rng.sample(joints, min(len(joints), rng.choice((1, 1, 1, 2, 4)))):
        mimic = ElementTree.SubElement(joint, 'mimic', joint=rng.choice([*names, 'ghost']))
        for attribute in ('multiplier', 'offset'):
            if rng.random() < 0.5:
                usual = rng.choice(('0', '-1', '2', '0.5', '1e-3'))
                mimic.attrib[attribute] = usual if rng.random() < 0.7 else _number(rng)


def reconnect(rng: Random, root: Element) -> None:
    """Hang a joint elsewhere: cycles, two parents, several roots, or another tree."""
    links = [e.get('name', '') for e in root.findall('link')]
    _any(rng, root, 'parent', 'child').attrib['link'] = rng.choice([*links, 'nowhere'])


def rename(rng: Random, root: Element) -> None:
    """Rename one thing and not what refers to it, or give it the name of another."""
    element = _any(rng, root, 'link', 'joint', 'parent', 'child')
    names = [e.get('name', '') for e in root if e.get('name')]
    key = 'link' if element.tag in ('parent', 'child') else 'name'
    element.attrib[key] = rng.choice([*NAMES, *rng.sample(names, min(len(names), 10))])


def rename_everywhere(rng: Random, root: Element) -> None:
    """Rename a thing and all that refers to it."""
    old, new = _any(rng, root, 'link', 'joint').get('name'), rng.choice(NAMES)
    for element in root.iter():
        for name in ('name', 'link', 'joint', 'reference'):
            if old and element.get(name) == old:
                element.attrib[name] = new


def second_robot(rng: Random, root: Element) -> None:
    """Put another arm beside the first, connected or not."""
    names = [e.get('name', '') for e in root.findall('link')]
    ElementTree.SubElement(root, 'link', name='other_base')
    ElementTree.SubElement(root, 'link', name='other_arm')
    _add_joint(root, 'other', 'other_base', 'other_arm', rng.choice(TYPES[:6]))
    if rng.random() < 0.7 and names:
        _add_joint(root, 'bridge', rng.choice(names), 'other_base', 'fixed')


def lengthen(rng: Random, root: Element) -> None:
    """Go on with a chain, seldom one of thousands of links, in any order."""
    names = [e.get('name', '') for e in root.findall('link')] or ['']
    count = rng.choice((3, 30, 300)) if rng.random() < 0.98 else 2000
    last, kind = rng.choice(names), rng.choice(('fixed', 'continuous', 'revolute', 'prismatic'))
    follows = rng.choice(('', '', 'first', 'previous'))
    word = rng.choice(('long', 'finger', 'x' * 200))
    for i in range(count):
        ElementTree.SubElement(root, 'link', name=f'{word}_{i}')
        joint = _add_joint(root, f'{word}_joint_{i}', last, f'{word}_{i}', kind)
        ElementTree.SubElement(joint, 'origin', xyz='0.01 0 0.02', rpy='0 0.1 0')
        source = f'{word}_joint_{0 if follows == "first" else i - 1}'
        if follows and i:
            ElementTree.SubElement(joint, 'mimic', joint=source)
        last = f'{word}_{i}' if rng.random() < 0.999 else rng.choice(names)
    if rng.random() < 0.3:
        root[:] = rng.sample(list(root), len(root))


def _add_joint(root: Element, name: str, parent: str, child: str, kind: str) -> Element:
    joint = ElementTree.SubElement(root, 'joint', name=name, type=kind)
    ElementTree.SubElement(joint, 'parent', link=parent)
    ElementTree.SubElement(joint, 'child', link=child)
    ElementTree.SubElement(joint, 'limit', lower='-1', upper='1.5', velocity='2', effort='3')
    return joint


def change_geometry(rng: Random, root: Element) -> None:
    """Collision geometry and inertia that make no sense."""
    link = _any(rng, root, 'link')
    geometry = ElementTree.SubElement(ElementTree.SubElement(link, 'collision'), 'geometry')
    for _ in range(rng.choice((0, 1, 1, 1, 1, 2))):
        kind = rng.choice(('box', 'cylinder', 'sphere', 'capsule', 'mesh', 'cone'))
        solid = ElementTree.SubElement(geometry, kind)
        for name in ('size', 'radius', 'length', 'filename', 'scale'):
            if rng.random() < 0.8:
                solid.attrib[name] = rng.choice((_number(rng), '0.1', '0.1 0.2 0.3', '-1', '../x'))
    inertial = ElementTree.SubElement(link, 'inertial')
    ElementTree.SubElement(inertial, 'mass', value=_number(rng))
    ElementTree.SubElement(inertial, 'inertia', ixx=_number(rng), iyy='-1', ixy=_number(rng))


def change_robot(rng: Random, root: Element) -> None:
    root.attrib.pop('name', None)
    root.attrib[rng.choice(('name', 'version'))] = rng.choice((*NAMES, '1.0', '1.1', '2.0', '1.x'))


OF_ELEMENTS: tuple[Callable[[Random, Element], None], ...] = (
    delete_element, duplicate_element, move_element, swap_elements, rename_element,
    delete_attribute, rename_attribute, swap_attributes, change_number, change_number,
    change_number, change_count, change_type, change_axis, change_limits, change_limits,
    change_safety, change_origin, change_origin, add_mimic, add_mimic, reconnect, rename,
    rename_everywhere, second_robot, lengthen, change_geometry, change_robot,
)  # fmt: skip


# Of the text between elements.


def insert_fragment(rng: Random, text: str) -> str:
    place = rng.choice([match.end() for match in re.finditer('>', text)] or [0])
    return text[:place] + rng.choice(FRAGMENTS) + text[place:]


def insert_anywhere(rng: Random, text: str) -> str:
    place = rng.randint(0, len(text))
    return text[:place] + rng.choice((*FRAGMENTS, *NUMBERS)) + text[place:]


def nest(rng: Random, text: str) -> str:
    """Nest elements deep, in one that is closed right after."""
    depth, place = rng.choice((1, 30, 3000)), text.find('>', rng.randint(0, len(text))) + 1
    return text[:place] + depth * '<a>' + depth * '</a>' + text[place:]


def change_prologue(rng: Random, text: str) -> str:
    return rng.choice(PROLOGUES) + (text if rng.random() < 0.5 else rng.choice(PROLOGUES) + text)


def change_namespace(rng: Random, text: str) -> str:
    kind = rng.random()
    if kind < 0.4:
        return text.replace('<robot', '<robot xmlns="http://www.ros.org"', 1)
    if kind < 0.6:
        return text.replace('<robot', '<robot xmlns:xacro="http://www.ros.org/wiki/xacro"', 1)
    if kind < 0.8:
        return text.replace('<joint', '<joint xmlns="urn:other"', 1)
    return text.replace('<robot', '<r:robot xmlns:r="urn:r"').replace('</robot', '</r:robot')


def reuse_value(rng: Random, text: str) -> str:
    """Put one quoted value in the place of another."""
    parts = text.split('"')
    if len(parts) > 3:
        a, b = rng.randrange(1, len(parts) - 1, 2), rng.randrange(1, len(parts) - 1, 2)
        parts[a] = parts[b]
    return '"'.join(parts)


OF_TEXT: tuple[Callable[[Random, str], str], ...] = (
    insert_fragment, insert_fragment, insert_fragment, insert_anywhere, nest, change_prologue,
    change_namespace, reuse_value, reuse_value, reuse_value,
)  # fmt: skip


# Of characters.


def cut(rng: Random, text: str) -> str:
    start = rng.randint(0, len(text))
    return text[:start] + text[start + rng.choice((1, 3, 30, 300, len(text))) :]


def flip(rng: Random, text: str) -> str:
    place = rng.randrange(len(text)) if text else 0
    changed = chr(ord(text[place]) ^ (1 << rng.randrange(8))) if text else ''
    return text[:place] + changed + text[place + 1 :]


def scatter(rng: Random, text: str) -> str:
    place = rng.randint(0, len(text))
    return text[:place] + rng.choice('<>"\'=&/0 9.e-\x00\x07é\ufeff\ud83e') + text[place:]


def repeat(rng: Random, text: str) -> str:
    start = rng.randint(0, len(text))
    end = min(len(text), start + rng.randint(1, 200))
    return text[:end] + text[start:end] + text[end:]


OF_CHARACTERS: tuple[Callable[[Random, str], str], ...] = (cut, flip, scatter, repeat)
