"""
A judge of robot descriptions that shares no code with the package.

Written from the specification (http://wiki.ros.org/urdf/XML) with the standard library alone. It
collects everything that is wrong with a document, each with words that a good message contains,
or tells where every link is. Where the specification is silent, or the package is more tolerant
or stricter on purpose, a comment says "ours:".

"""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import takewhile
import math
import re
from xml.etree import ElementTree
from xml.parsers import expat

TYPES = ('revolute', 'continuous', 'prismatic', 'fixed', 'planar', 'floating')
DRIVABLE = ('revolute', 'continuous', 'prismatic')
NUMBER = re.compile(r'[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?', re.ASCII)
INFINITY = re.compile(r'[+-]?inf(inity)?', re.IGNORECASE | re.ASCII)
SPACE = ' \t\r\n'
MOST_CHARACTERS = 10_000_000
LARGEST = 1e16
LEAST_VELOCITY = 1e-9
SHORTEST_AXIS = 1e-9
SHORTEST_QUATERNION = 0.1
XACRO_ELEMENTS = (
    'joint', 'link', 'parent', 'child', 'origin', 'axis', 'limit', 'mimic', 'safety_controller'
)  # fmt: skip

Matrix = list[list[float]]
Element = ElementTree.Element
EYE = [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0]]


@dataclass(frozen=True)
class Problem:
    """Something wrong with a document."""

    kind: str
    words: tuple[str, ...]
    """What a message about it has to contain."""

    def is_told_by(self, message: str) -> bool:
        """Whether a message contains all words, or how those begin where they are odd."""
        begun = (''.join(takewhile(str.isprintable, word))[:30] for word in self.words)
        return all(word in message for word in begun)


@dataclass(frozen=True)
class JointRead:
    """A joint as the specification has it."""

    name: str
    type: str
    parent: str
    child: str
    T_parent_joint: Matrix
    axis: tuple[float, ...]
    lower: float
    upper: float
    velocity: float
    mimic: tuple[str, float, float] | None

    @property
    def is_drivable(self) -> bool:
        """Whether the joint has one value."""
        return self.type in DRIVABLE

    def motion(self, value: float) -> Matrix:
        """Pose of the child link in the joint frame."""
        if self.type == 'prismatic':
            return pose(EYE, [value * a for a in self.axis])
        if self.type in ('revolute', 'continuous'):
            return pose(turn(self.axis, value), (0.0, 0.0, 0.0))
        return EYE


@dataclass(frozen=True)
class Description:
    """A document in which nothing is wrong."""

    links: tuple[str, ...]
    joints: tuple[JointRead, ...]
    by_name: Mapping[str, JointRead] = field(init=False)
    above: Mapping[str, JointRead] = field(init=False)
    """The joint above each link."""

    def __post_init__(self) -> None:
        object.__setattr__(self, 'by_name', {joint.name: joint for joint in self.joints})
        object.__setattr__(self, 'above', {joint.child: joint for joint in self.joints})

    @property
    def root(self) -> str:
        """The link above all others."""
        return next(link for link in self.links if link not in self.above)

    @property
    def leaves(self) -> list[str]:
        """Links with none below."""
        parents = {joint.parent for joint in self.joints}
        return [link for link in self.links if link not in parents]

    def path(self, base: str, tip: str) -> list[JointRead]:
        """Joints from a link down to another one below it."""
        found = []
        while tip != base:
            found.append(self.above[tip])
            tip = found[-1].parent
        return found[::-1]

    def driven(self, joint: JointRead) -> tuple[str, float, float]:
        """Name of the joint that moves this one in the end, multiplier and offset."""
        multiplier, offset = 1.0, 0.0
        while joint.mimic is not None:
            source, factor, shift = joint.mimic
            multiplier, offset = multiplier * factor, multiplier * shift + offset
            if source not in self.by_name:  # ours: a follower of nobody is no chain's business
                return source, multiplier, offset
            joint = self.by_name[source]
        return joint.name, multiplier, offset

    def value(self, joint: JointRead, values: Mapping[str, float]) -> float:
        """Value of a joint, be it a follower or not."""
        source, multiplier, offset = self.driven(joint)
        return multiplier * values[source] + offset

    def pose(self, path: list[JointRead], values: Mapping[str, float]) -> Matrix:
        """Pose of the end of a path in its beginning."""
        T = EYE
        for joint in path:
            value = self.value(joint, values) if joint.is_drivable else 0.0
            T = product(product(T, joint.T_parent_joint), joint.motion(value))
        return T

    def limits(self, path: list[JointRead]) -> dict[str, tuple[float, float, float]]:
        """Lower, upper and velocity of the joints of a path that have a value of their own."""
        found = {
            joint.name: (joint.lower, joint.upper, joint.velocity)
            for joint in path
            if joint.is_drivable and not joint.mimic
        }
        for joint in path:
            if not (joint.is_drivable and joint.mimic):
                continue
            source, multiplier, offset = self.driven(joint)
            if multiplier == 0.0:
                continue
            ends = sorted((end - offset) / multiplier for end in (joint.lower, joint.upper))
            lower, upper, velocity = found[source]
            found[source] = (
                max(lower, ends[0]),
                min(upper, ends[1]),
                min(velocity, joint.velocity / abs(multiplier)),
            )
        return found

    def problems_of_chain(self, path: list[JointRead]) -> Iterator[Problem]:
        """Find all that forbids to drive the joints of a path."""
        own = {joint.name for joint in path if joint.is_drivable and not joint.mimic}
        followers = [joint for joint in path if joint.is_drivable and joint.mimic]
        for joint in path:
            if joint.type in ('planar', 'floating'):
                yield Problem('chain: cannot be driven', (joint.name, joint.type))
        strangers = [joint for joint in followers if self.driven(joint)[0] not in own]
        for joint in strangers:
            yield Problem('chain: follows another', (joint.name, self.driven(joint)[0]))
        if not own:
            yield Problem('chain: nothing moves', ('nothing moves',))
        for joint in followers:
            _, multiplier, offset = self.driven(joint)
            if multiplier == 0.0 and not joint.lower <= offset <= joint.upper:
                yield Problem('chain: stands outside its limits', (joint.name,))
        for name, (lower, upper, _) in ({} if strangers else self.limits(path)).items():
            if lower > upper or lower == math.inf or upper == -math.inf:
                yield Problem('chain: limits in common', (name,))


def read(text: str, use_safety_limits: bool = True) -> Description | list[Problem]:
    """Read a document, or tell all that is wrong with it."""
    if len(text) > MOST_CHARACTERS:
        return [Problem('too long', (str(len(text)),))]
    text = text.lstrip('\ufeff' + SPACE)  # ours: what stands before the document does not matter
    if (problem := _not_xml(text)) is not None:
        return [problem]
    root = _outermost(text)
    prefix = root.tag.rpartition(':')[0]
    for element in root.iter() if prefix else ():  # ours: the prefix of <robot> is the own
        if element.tag.startswith(prefix + ':'):
            element.tag = element.tag[len(prefix) + 1 :]
    return _Reading(use_safety_limits).robot(root)


def _outermost(text: str) -> Element:
    """Parse XML as urdfdom sees it: without namespaces, so that a prefix is a part of a name."""
    builder, parser = ElementTree.TreeBuilder(), expat.ParserCreate('utf-8')
    parser.StartElementHandler = builder.start
    parser.EndElementHandler = builder.end
    parser.Parse(text.encode(), True)
    return builder.close()


def _not_xml(text: str) -> Problem | None:
    """Why a document is not XML that may be read: document types are not, as they bite."""
    seen = []

    def forbid(*_: object) -> None:
        seen.append(Problem('document type', ('<!DOCTYPE',)))
        raise ValueError

    parser = expat.ParserCreate('utf-8')
    parser.StartDoctypeDeclHandler = forbid
    try:
        parser.Parse(text.encode(), True)
    except (expat.ExpatError, ValueError):
        return seen[0] if seen else Problem('not XML', ('well-formed',))
    return None


class _Reading:
    """Reads one document, collecting what is wrong."""

    def __init__(self, use_safety_limits: bool) -> None:
        self.use_safety_limits = use_safety_limits
        self.problems: list[Problem] = []
        self.knows_quaternions = False
        self.left_over = ''

    def robot(self, root: Element) -> Description | list[Problem]:
        if root.tag != 'robot':
            self.wrong('outermost element', root.tag)
        self.leftovers(root)
        version = re.fullmatch(r'\s*(\d+)(?:\.(\d+))?(?:\.\d+)*\s*', root.get('version', '1.0'))
        self.knows_quaternions = bool(version) and (int(version[1]), int(version[2] or 0)) >= (
            1,
            1,
        )
        links = [self.name(element) for element in root if element.tag == 'link']
        joints = [self.joint(element) for element in root if element.tag == 'joint']
        if not links:
            self.wrong('no links', 'no links')
        for names in (links, [joint.name for joint in joints]):
            for name in (name for name, count in Counter(names).items() if name and count > 1):
                self.wrong('same name', name, 'unique')
        self.tree(links, joints)
        moves = any(joint.type != 'fixed' for joint in joints)
        if self.left_over and (self.problems or not moves):  # ours: else they count for nothing
            self.wrong('xacro', 'xacro', self.left_over)
        if self.problems:
            return self.problems
        description = Description(tuple(links), tuple(joints))
        self.mimics(description)
        return self.problems or description

    def wrong(self, kind: str, *words: str) -> None:
        self.problems.append(Problem(kind, words))

    def leftovers(self, root: Element) -> None:
        pending = [root]
        while pending:
            element = pending.pop()
            prefix, _, tag = element.tag.partition(':')
            if prefix == 'xacro':
                self.left_over = self.left_over if tag in ('property', 'arg') else tag
                continue
            values = ''.join(element.attrib.values()) if element.tag in XACRO_ELEMENTS else ''
            if '${' in values or '$(' in values:
                self.wrong('xacro', 'xacro', element.tag)
            pending.extend(reversed(element))

    def name(self, element: Element) -> str:
        name = element.get('name', '')
        if not name:
            self.wrong('no name', f'<{element.tag}>', 'no name')
        return name

    def joint(self, element: Element) -> JointRead:
        name, type_ = self.name(element), element.get('type', '')
        if type_ not in TYPES:
            self.wrong('joint type', name, type_, 'allowed')
        ends = []
        for tag in ('parent', 'child'):
            found = element.find(tag)
            ends.append('' if found is None else found.get('link', ''))
            if not ends[-1]:
                self.wrong('no parent or child', name, tag)
        origin = self.origin(element, name)
        axis, mimic, limits = (1.0, 0.0, 0.0), None, (-math.inf, math.inf, math.inf)
        if type_ in (*DRIVABLE, 'planar'):
            axis = self.axis(element, name)
        if type_ in DRIVABLE:
            limits = self.limits(element, name, type_)
            mimic = self.mimic(element, name)
        return JointRead(name, type_, *ends, origin, axis, *limits, mimic)

    def number(
        self, element: Element, attribute: str, name: str, default: float, infinite: bool = True
    ) -> float:
        text = element.get(attribute)
        if text is None:
            return default
        written = text.strip(SPACE)
        is_infinite = INFINITY.fullmatch(written) or (
            NUMBER.fullmatch(written) and math.isinf(float(written))
        )
        if is_infinite and infinite:  # ours: written out or by overflow
            return float(written)
        if not NUMBER.fullmatch(written) or is_infinite:
            is_nan = written.lower().lstrip('+-') == 'nan'
            self.wrong('number', name, attribute, 'NaN' if is_nan else text)
            return default
        return float(written)

    def vector(
        self, element: Element, attribute: str, name: str, default: tuple[float, ...]
    ) -> tuple[float, ...]:
        text = element.get(attribute)
        if text is None:
            return default
        parts = re.split(f'[{SPACE}]+', text.strip(SPACE))
        good = [NUMBER.fullmatch(part) and math.isfinite(float(part)) for part in parts]
        if len(parts) != len(default) or not all(good):
            self.wrong('number', name, attribute, text)
            return default
        return tuple(float(part) for part in parts)

    def origin(self, joint: Element, name: str) -> Matrix:
        found = joint.find('origin')
        if found is None:
            return EYE
        xyz = self.vector(found, 'xyz', name, (0.0, 0.0, 0.0))
        if max(map(abs, xyz)) > LARGEST:
            self.wrong('too far', name, found.get('xyz', ''))
        rpy = self.vector(found, 'rpy', name, (0.0, 0.0, 0.0))
        R = product(
            turn((0, 0, 1), rpy[2]), product(turn((0, 1, 0), rpy[1]), turn((1, 0, 0), rpy[0]))
        )
        if 'quat_xyzw' not in found.attrib or not self.knows_quaternions:
            return pose(R, xyz)
        if 'rpy' in found.attrib:
            self.wrong('two orientations', name, 'rpy', 'quat_xyzw')
        q = self.vector(found, 'quat_xyzw', name, (0.0, 0.0, 0.0, 1.0))
        norm = math.hypot(*q)
        if not SHORTEST_QUATERNION <= norm < math.inf:
            self.wrong('quaternion', name, 'norm')
            return EYE
        angle = 2.0 * math.atan2(math.hypot(*q[:3]), q[3])
        length = math.hypot(*q[:3]) or 1.0
        return pose(turn([part / length for part in q[:3]], angle), xyz)

    def axis(self, joint: Element, name: str) -> tuple[float, ...]:
        found = joint.find('axis')
        if found is None:
            return 1.0, 0.0, 0.0
        if 'xyz' not in found.attrib:
            self.wrong('axis', name, '<axis>', 'xyz')
        xyz = self.vector(found, 'xyz', name, (1.0, 0.0, 0.0))
        norm = math.hypot(*xyz)
        if not SHORTEST_AXIS < norm < math.inf:
            self.wrong('axis', name, '<axis>', found.get('xyz', ''))
            return 1.0, 0.0, 0.0
        return tuple(part / norm for part in xyz)

    def limits(self, joint: Element, name: str, type_: str) -> tuple[float, float, float]:
        limit, free = joint.find('limit'), (-math.inf, math.inf)
        if limit is None:
            if type_ != 'continuous':
                self.wrong('no limit', name, type_, '<limit>')
            return *free, math.inf
        velocity = self.number(limit, 'velocity', name, 0.0)
        if velocity <= 0.0:  # ours: many robots carry a 0 that nobody meant
            velocity = math.inf
        if velocity < LEAST_VELOCITY:
            self.wrong('velocity', name, 'velocity', limit.get('velocity', ''))
        if type_ == 'continuous':
            return *free, velocity
        lower = self.number(limit, 'lower', name, 0.0)
        upper = self.number(limit, 'upper', name, 0.0)
        if lower > upper:
            self.wrong('crossed limits', name, 'lower', 'upper')
        # ours: a hinge may be open on either side, in words or by a limit out of all proportion
        lower, upper = (
            math.copysign(math.inf, end) if abs(end) > LARGEST else end for end in (lower, upper)
        )
        is_open = math.isinf(lower) or math.isinf(upper)
        if is_open and (type_ == 'prismatic' or lower == upper):
            self.wrong('limits without a range', name, '<limit>')
        safety = joint.find('safety_controller')
        if safety is None or not self.use_safety_limits:
            return lower, upper, velocity
        soft = [self.number(safety, f'soft_{end}_limit', name, 0.0) for end in ('lower', 'upper')]
        narrow = max(lower, soft[0]), min(upper, soft[1])
        said = 'soft_lower_limit' in safety.attrib or 'soft_upper_limit' in safety.attrib
        if said and soft[0] < soft[1] and narrow[0] < narrow[1]:  # ours: else left out
            return *narrow, velocity
        return lower, upper, velocity

    def mimic(self, joint: Element, name: str) -> tuple[str, float, float] | None:
        found = joint.find('mimic')
        if found is None:
            return None
        if not found.get('joint'):
            self.wrong('mimic of no joint', name, '<mimic>')
        numbers = []
        for attribute, default in (('multiplier', 1.0), ('offset', 0.0)):
            value = self.number(found, attribute, name, default)
            if abs(value) > LARGEST:
                self.wrong('mimic too large', name, attribute)
            numbers.append(value)
        return found.get('joint', ''), *numbers

    def tree(self, links: list[str], joints: list[JointRead]) -> None:
        above: dict[str, str] = {}
        known = set(links)
        for joint in joints:
            for end in (joint.parent, joint.child):
                if end not in known:
                    self.wrong('no such link', joint.name, end)
            if joint.child in above:
                self.wrong('two parents', joint.child)
            above[joint.child] = joint.parent
        roots = [link for link in links if link not in above]
        if len(roots) > 1:
            self.wrong('several roots', f'{len(roots)} root links', roots[0])
        for link in self.circling(links, above):
            self.wrong('cycle', 'cycle', link)

    def circling(self, links: list[str], above: Mapping[str, str]) -> Iterator[str]:
        """Links on a circle: above themselves."""
        done: set[str] = set()
        for start in links:
            way = []
            link = start
            while link in above and link not in done:
                done.add(link)
                way.append(link)
                link = above[link]
            if link in way:
                yield from way[way.index(link) :]

    def mimics(self, description: Description) -> None:
        for joint in description.joints:
            seen, follower = {joint.name}, joint
            while follower.mimic is not None and follower.mimic[0] in description.by_name:
                source = description.by_name[follower.mimic[0]]
                if not source.is_drivable:
                    self.wrong('mimic of a joint without value', follower.name, source.name)
                if source.name in seen:
                    self.wrong('mimic circle', 'circle', source.name)
                    break
                seen.add(source.name)
                follower = source
            else:
                _, multiplier, offset = description.driven(joint)
                if joint.mimic and max(abs(multiplier), abs(offset)) > LARGEST:
                    self.wrong('mimic too large', joint.name)


def turn(axis: tuple[float, ...] | list[float], angle: float) -> Matrix:
    """Rotation about a unit vector, by the product of quaternions v' = q v q*."""
    w = math.cos(0.5 * angle)
    x, y, z = (math.sin(0.5 * angle) * part for part in axis)
    return [
        [w * w + x * x - y * y - z * z, 2 * (x * y - w * z), 2 * (x * z + w * y), 0.0],
        [2 * (x * y + w * z), w * w - x * x + y * y - z * z, 2 * (y * z - w * x), 0.0],
        [2 * (x * z - w * y), 2 * (y * z + w * x), w * w - x * x - y * y + z * z, 0.0],
        [0.0, 0.0, 0.0, 1.0],
    ]


def pose(R: Matrix, xyz: tuple[float, ...] | list[float]) -> Matrix:
    """Put a rotation and a position together."""
    return [[*row[:3], part] for row, part in zip(R, xyz, strict=False)] + [[0.0, 0.0, 0.0, 1.0]]


def product(A: Matrix, B: Matrix) -> Matrix:
    """Multiply two (4, 4) matrices."""
    return [
        [sum(a * b for a, b in zip(row, column, strict=True)) for column in zip(*B, strict=True)]
        for row in A
    ]
