"""Other ways to write the same robot description: none may make a difference."""

from collections.abc import Mapping
from random import Random
from xml.etree import ElementTree
from xml.sax.saxutils import escape

from fabrik_ros import Robot
from fuzz.mutations import NUMERIC
import numpy as np

Element = ElementTree.Element
BETWEEN = (
    '', '', '', '\n', '  \r\n\t', '<!-- <joint name="x"/> -->', '<!-- <!DOCTYPE robot> -->',
    '<?colour red?>', '<anything lower="1"><joint name="x" type="y"/></anything>',
    '<g:link xmlns:g="urn:g"/>', '<gazebo reference="x"><limit lower="x"/></gazebo>',
)  # fmt: skip
PROLOGUES = (
    '', '\ufeff', '\n\n', '<?xml version="1.0"?>', '<!-- <!DOCTYPE robot> -->\n',
    '\ufeff<?xml version="1.0" encoding="utf-8" standalone="yes"?>\n<?a b?>',
)  # fmt: skip

DEEPEST = 50


def rewritten(rng: Random, text: str) -> tuple[str, Mapping[str, str]]:
    """Write a robot in another way; return also the new names of links and joints."""
    root = ElementTree.fromstring(text.lstrip('\ufeff \t\r\n'))
    if not _is_plain(root):
        return text, {}
    names = _renamed(rng, root) if rng.random() < 0.5 else {}
    if rng.random() < 0.5:
        root[:] = rng.sample(list(root), len(root))
    for element in root.iter():
        for name in NUMERIC.intersection(element.attrib):
            element.attrib[name] = _respelled(rng, element.attrib[name])
    return rng.choice(PROLOGUES) + _written(rng, root, rng.choice((0.0, 0.3, 1.0))), names


def assert_same_robot(robot: Robot, other: Robot, names: Mapping[str, str]) -> None:
    """Assert that robots are the same to the last bit, but for names and the order of parts."""

    def new(name: str) -> str:
        return names.get(name, name)

    assert {new(link) for link in robot.links} == set(other.links)
    assert {new(joint.name) for joint in robot.joints} == {joint.name for joint in other.joints}
    for joint in robot.joints:
        twin = other.joint(new(joint.name))
        ends = new(joint.parent), new(joint.child), joint.type
        assert (twin.parent, twin.child, twin.type) == ends
        assert np.array_equal(twin.origin, joint.origin)
        assert np.array_equal(twin.axis, joint.axis)
        limits = joint.lower, joint.upper, joint.velocity
        assert (twin.lower, twin.upper, twin.velocity) == limits
        if joint.mimic is None or twin.mimic is None:
            assert joint.mimic is twin.mimic
            continue
        mimic = new(joint.mimic.source), joint.mimic.multiplier, joint.mimic.offset
        assert (twin.mimic.source, twin.mimic.multiplier, twin.mimic.offset) == mimic
    assert len(robot.warnings) == len(other.warnings)
    for link in robot.links:
        ours = [c for c in robot.collisions if c.link == link]
        theirs = [c for c in other.collisions if c.link == new(link)]
        assert [c.shape for c in ours] == [c.shape for c in theirs]
        for one, twin in zip(ours, theirs, strict=True):
            assert np.array_equal(one.T_link_geometry, twin.T_link_geometry)


def _is_plain(root: Element) -> bool:
    """Whether a document is without namespaces and nested little, so that it can be written."""
    level, depth = [root], 0
    while level and depth < DEEPEST and not any('{' in element.tag for element in level):
        level, depth = [child for element in level for child in element], depth + 1
    return not level


def _renamed(rng: Random, root: Element) -> dict[str, str]:
    """Rename links and joints, with all that refers to them."""
    old = {e.get('name', '') for e in root if e.tag in ('link', 'joint')}
    odd = rng.choice(('n{}', '/arm 1/{}', 'Süd {} 手', '<{}>', 'it\'s "{}" & more', '{}\ttab'))
    names = {name: odd.replace('{}', str(i)) for i, name in enumerate(sorted(old))}
    for element in root.iter():
        for attribute in ('name', 'link', 'joint'):
            if attribute in element.attrib and element.tag != 'robot':
                value = element.attrib[attribute]
                element.attrib[attribute] = names.get(value, value)
    return names


def _respelled(rng: Random, text: str) -> str:
    """Write the same numbers in other words."""
    try:
        numbers = [float(part) for part in text.split()]
    except ValueError:
        return text
    if not (text.isascii() and np.isfinite(numbers).all()) or '_' in text:
        return text
    spell = rng.choice((repr, '{:+.17e}'.format, '{:.17E}'.format, '{:.20g}'.format))
    space = rng.choice((' ', '  ', '\t', '\n '))
    return space.join(spell(number) for number in numbers)


def _written(rng: Random, element: Element, much: float) -> str:
    """Write an element; `much` is the share of places where something is put in between."""

    def between() -> str:
        return rng.choice(BETWEEN) if rng.random() < much else ''

    attributes = list(element.attrib.items())
    rng.shuffle(attributes)
    space = rng.choice((' ', '\n    '))
    inner = ''.join(f'{space}{name}={_quoted(rng, value)}' for name, value in attributes)
    text = escape(element.text or '')
    if len(element) == 0 and not text and rng.random() < 0.5:
        return f'<{element.tag}{inner}{space}/>'
    children = ''.join(_written(rng, child, much) + between() for child in element)
    return f'<{element.tag}{inner}>{text}{between()}{children}</{element.tag}>'


def _quoted(rng: Random, value: str) -> str:
    """Write the value of an attribute, with some characters by number."""
    quote, share = rng.choice('"\''), rng.choice((0.0, 0.0, 0.3))
    parts = [f'&#{ord(c)};' if c in '<&\'"\t\n\r' or rng.random() < share else c for c in value]
    return f'{quote}{"".join(parts)}{quote}'
