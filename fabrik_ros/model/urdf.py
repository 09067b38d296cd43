"""
URDF text or file to `Robot`: the only module that knows XML.

Only kinematics and collision geometry are read. Limits are never invented: a revolute joint
without any is refused, as urdfdom does, and a continuous joint has none whatever its `<limit>`
says. What is odd but clear is kept as a warning on the `Robot`; so is collision geometry that
makes no sense, which is left out: kinematics come first.

"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import combinations_with_replacement
import math
import os
from pathlib import Path
from xml.etree import ElementTree

import numpy as np

from ..errors import listed, shown, TargetError, UrdfError
from ..transforms import Array, rotation_from_quaternion_xyzw, rotation_from_rpy, transform
from .dynamics import Drive, Dynamics, Inertia
from .geometry import Box, Capsule, Collision, Cylinder, Mesh, Shape, Sphere
from .joints import Joint, JointType, Mimic
from .robot import Robot

MAXIMUM_CHARACTERS = 10_000_000
SHORTEST_AXIS = 1e-9
LARGEST = 1e16
"""Programs write this for infinity; beyond it sums of lengths and angles mean nothing."""
LEAST_VELOCITY = 1e-9
"""[rad/s or m/s]."""
XACRO_CURE = 'expand it first (xacro model.urdf.xacro > model.urdf) or give the file itself'


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
        If the description cannot be used; says which element, what was found and what is
        allowed.
    FileNotFoundError
        If the file does not exist.

    """
    if isinstance(source, str) and '<' in source:
        return parse_urdf(source, use_safety_limits=use_safety_limits)
    text = _read(source, xacro_args)
    folder = str(Path(source).absolute().parent)
    return replace(parse_urdf(text, use_safety_limits=use_safety_limits), folder=folder)


def parse_urdf(text: str, *, use_safety_limits: bool = True) -> Robot:
    """
    Read a robot from URDF text, and from nothing else: for text that others send.

    Parameters and errors are those of `load_urdf`; no file is ever opened.
    """
    root = _parse(text)
    return _Reader(use_safety_limits, _version(root)).robot(root, text)


def parse_dynamics(text: str) -> Dynamics:
    """
    Read masses and drives from the URDF text of a robot that `parse_urdf` accepts.

    Numbers are taken as they are: whether a body can have such an inertia is not looked at.

    Raises
    ------
    UrdfError
        If an entry is not a number.

    """
    root = _parse(text)
    reader = _Reader(False, _version(root))
    links = {_name(e, 'link'): e.find('inertial') for e in root if e.tag == 'link'}
    inertias = {link: _inertia(e, link, reader) for link, e in links.items() if e is not None}
    drives = {_name(e, 'joint'): _drive(e) for e in root if e.tag == 'joint'}
    return Dynamics(inertias, drives)


def _inertia(element: ElementTree.Element, link: str, reader: '_Reader') -> Inertia:
    where = f"link '{shown(link)}', <inertial>"
    T_link_inertial = reader.origin(element, where)
    mass, moments = element.find('mass'), element.find('inertia')
    value = 0.0 if mass is None else _number(mass, 'value', 0.0, f'{where}, <mass>')
    tensor = np.zeros((3, 3))
    for i, j in combinations_with_replacement(range(3), 2):
        if moments is not None:
            name = f'i{"xyz"[i]}{"xyz"[j]}'
            tensor[i, j] = tensor[j, i] = _number(moments, name, 0.0, f'{where}, <inertia>')
    return Inertia(value, T_link_inertial[:3, 3], _frozen(tensor), T_link_inertial[:3, :3])


def _drive(element: ElementTree.Element) -> Drive:
    where = f"joint '{_shown(element, 'name')}'"

    def find(tag: str, attribute: str) -> float | None:
        found = element.find(tag)
        if found is None or attribute not in found.attrib:
            return None
        return _number(found, attribute, 0.0, f'{where}, <{tag}>')

    return Drive(
        find('limit', 'effort'), find('dynamics', 'damping'), find('dynamics', 'friction')
    )


def _read(source: str | os.PathLike[str], xacro_args: Mapping[str, str] | None) -> str:
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


class _Reader:
    """Reads one document, collecting warnings."""

    def __init__(self, use_safety_limits: bool, version: tuple[int, ...]) -> None:
        self._use_safety_limits = use_safety_limits
        self._warnings: list[str] = []
        self._knows_quaternions = version >= (1, 1)

    def robot(self, root: ElementTree.Element, text: str) -> Robot:
        elements = list(root)
        links = [_name(e, 'link') for e in elements if e.tag == 'link']
        joints = [self._joint(e) for e in elements if e.tag == 'joint']
        _check_unique(links, 'link')
        _check_unique([joint.name for joint in joints], 'joint')
        _check_tree(links, joints)
        joints = self._resolve_mimics(joints)
        collisions = tuple(self._collisions(elements))
        name = root.get('name', '')
        return Robot(name, tuple(links), tuple(joints), text, tuple(self._warnings), collisions)

    def _joint(self, element: ElementTree.Element) -> Joint:
        name = _name(element, 'joint')
        where = f"joint '{shown(name)}'"
        type_ = _joint_type(element, where)
        parent = self._link_of(element, 'parent', where)
        child = self._link_of(element, 'child', where)
        origin = self.origin(element, where)
        has_axis = type_.is_drivable or type_ is JointType.PLANAR
        axis = self._axis(element, where) if has_axis else _frozen(np.array([1.0, 0.0, 0.0]))
        lower, upper, velocity = self._limits(element, type_, where)
        mimic = self._mimic(element, where) if type_.is_drivable else None
        return Joint(name, type_, parent, child, origin, axis, lower, upper, velocity, mimic)

    def _only(
        self, element: ElementTree.Element, tag: str, where: str
    ) -> ElementTree.Element | None:
        found = [child for child in element if child.tag == tag]
        if len(found) > 1:
            self._warnings.append(
                f'{where} has {len(found)} <{tag}> elements; the first one counts'
            )
        return found[0] if found else None

    def _link_of(self, element: ElementTree.Element, tag: str, where: str) -> str:
        found = self._only(element, tag, where)
        link = None if found is None else found.get('link')
        if not link:
            raise UrdfError(f'{where} names no {tag} link; expected <{tag} link="..."/>')
        return link

    def origin(self, element: ElementTree.Element, where: str) -> Array:
        found = self._only(element, 'origin', where)
        if found is None:
            return _frozen(np.eye(4))
        where = f'{where}, <origin>'
        xyz = _vector(found, 'xyz', (0.0, 0.0, 0.0), where)
        if max(map(abs, xyz)) > LARGEST:
            raise UrdfError(
                f"{where}: xyz is '{_shown(found, 'xyz')}'; expected at most {LARGEST:g} m"
            )
        return _frozen(transform(self._rotation(found, where), xyz))

    def _rotation(self, origin: ElementTree.Element, where: str) -> Array:
        rpy = _vector(origin, 'rpy', (0.0, 0.0, 0.0), where)
        if 'quat_xyzw' not in origin.attrib:
            return rotation_from_rpy(*rpy)
        if not self._knows_quaternions:
            self._warnings.append(
                f'{where}: quat_xyzw is left out, as it needs <robot version="1.1"> or later'
            )
            return rotation_from_rpy(*rpy)
        if 'rpy' in origin.attrib:
            raise UrdfError(f'{where} has both rpy and quat_xyzw; expected one of them')
        try:
            return rotation_from_quaternion_xyzw(_numbers(origin, 'quat_xyzw', 4, where))
        except TargetError as error:
            raise UrdfError(f'{where}: {error}') from error

    def _axis(self, element: ElementTree.Element, where: str) -> Array:
        found = self._only(element, 'axis', where)
        if found is None:
            return _frozen(np.array([1.0, 0.0, 0.0]))
        if 'xyz' not in found.attrib:
            raise UrdfError(f'{where}, <axis> has no xyz; expected <axis xyz="..."/>')
        xyz = np.array(_vector(found, 'xyz', (1.0, 0.0, 0.0), f'{where}, <axis>'))
        norm = math.hypot(*xyz)
        if not SHORTEST_AXIS < norm < math.inf:
            raise UrdfError(
                f"{where}, <axis>: xyz is '{_shown(found, 'xyz')}', of length {norm:.3g}; "
                'expected a direction such as "0 0 1"'
            )
        return _frozen(xyz / norm)

    def _limits(
        self, element: ElementTree.Element, type_: JointType, where: str
    ) -> tuple[float, float, float]:
        """Lower, upper and greatest speed; infinite where there is none."""
        if not type_.is_drivable:
            return -math.inf, math.inf, math.inf
        limit = self._only(element, 'limit', where)
        if limit is None:
            if type_ is JointType.CONTINUOUS:
                return -math.inf, math.inf, math.inf
            cure = ' or make it continuous' if type_ is JointType.REVOLUTE else ''
            raise UrdfError(f'{where} is {type_.value} but has no <limit>; add one{cure}')
        velocity = self._velocity(limit, where)
        if type_ is JointType.CONTINUOUS:
            return -math.inf, math.inf, velocity
        lower, upper = self._range(limit, type_, where)
        if self._use_safety_limits:
            lower, upper = self._narrowed(element, lower, upper, where)
        if lower == upper:
            self._warnings.append(f'{where} cannot move: its limits are both {lower:.6g}')
        return lower, upper, velocity

    def _range(
        self, limit: ElementTree.Element, type_: JointType, where: str
    ) -> tuple[float, float]:
        lower = _number(limit, 'lower', 0.0, f'{where}, <limit>')
        upper = _number(limit, 'upper', 0.0, f'{where}, <limit>')
        if lower > upper:
            raise UrdfError(
                f'{where}, <limit>: lower {lower:.6g} is greater than upper {upper:.6g}'
            )
        ends = _open(lower), _open(upper)
        is_open = math.isinf(ends[0]) or math.isinf(ends[1])
        if is_open and (type_ is JointType.PRISMATIC or ends[0] == ends[1]):
            raise UrdfError(
                f'{where}, <limit>: [{lower}, {upper}] is not a range a {type_.value} joint can '
                f'have; expected finite numbers up to {LARGEST:g}'
            )
        return ends

    def _velocity(self, limit: ElementTree.Element, where: str) -> float:
        velocity = _number(limit, 'velocity', 0.0, f'{where}, <limit>')
        if velocity >= LEAST_VELOCITY:
            return velocity
        if velocity > 0.0:
            raise UrdfError(
                f"{where}, <limit>: velocity is '{_shown(limit, 'velocity')}'; expected "
                f'at least {LEAST_VELOCITY:g}, or 0 for no limit'
            )
        found = 'no velocity limit'
        if 'velocity' in limit.attrib:
            found = f'a velocity limit of {velocity:.6g}'
        self._warnings.append(f'{where} has {found}; its speed is not limited by the model')
        return math.inf

    def _narrowed(
        self, element: ElementTree.Element, lower: float, upper: float, where: str
    ) -> tuple[float, float]:
        safety = self._only(element, 'safety_controller', where)
        if safety is None or not {'soft_lower_limit', 'soft_upper_limit'} & set(safety.attrib):
            return lower, upper
        soft_lower = _number(safety, 'soft_lower_limit', 0.0, f'{where}, <safety_controller>')
        soft_upper = _number(safety, 'soft_upper_limit', 0.0, f'{where}, <safety_controller>')
        narrowed = max(lower, soft_lower), min(upper, soft_upper)
        if soft_lower < soft_upper and narrowed[0] < narrowed[1]:
            return narrowed
        self._warnings.append(
            f'{where}: the soft limits [{soft_lower:.6g}, {soft_upper:.6g}] make no sense within '
            f'[{lower:.6g}, {upper:.6g}] and are left out'
        )
        return lower, upper

    def _mimic(self, element: ElementTree.Element, where: str) -> Mimic | None:
        found = self._only(element, 'mimic', where)
        if found is None:
            return None
        source = found.get('joint')
        if not source:
            raise UrdfError(f'{where}, <mimic> names no joint; expected <mimic joint="..."/>')
        multiplier = _number(found, 'multiplier', 1.0, f'{where}, <mimic>')
        offset = _number(found, 'offset', 0.0, f'{where}, <mimic>')
        return _checked(Mimic(source, multiplier, offset), f'{where}, <mimic>')

    def _collisions(self, elements: list[ElementTree.Element]) -> Iterator[Collision]:
        """Collision geometry of all links; what makes no sense is left out, with a warning."""
        for link in elements:
            found = link.findall('collision') if link.tag == 'link' else []
            for number, element in enumerate(found, 1):
                where = f"link '{_shown(link, 'name')}', <collision>"
                where += f' number {number}' if len(found) > 1 else ''
                try:
                    shape = self._shape(element, where)
                    origin = self.origin(element, where)
                except UrdfError as error:
                    self._warnings.append(f'{error}; this collision geometry is left out')
                else:
                    yield Collision(link.get('name', ''), origin, shape)

    def _shape(self, element: ElementTree.Element, where: str) -> Shape:
        geometry = self._only(element, 'geometry', where)
        kinds = [] if geometry is None else [e for e in geometry if e.tag in SHAPES]
        if len(kinds) != 1:
            found = listed([f'<{e.tag}>' for e in (geometry if geometry is not None else ())])
            raise UrdfError(
                f'{where} has {found or "no shape"}; expected a <geometry> with one of: '
                f'{", ".join(SHAPES)}'
            )
        return SHAPES[kinds[0].tag](kinds[0], f'{where}, <{kinds[0].tag}>')

    def _resolve_mimics(self, joints: list[Joint]) -> list[Joint]:
        """
        Let every follower name the joint that is driven in the end.

        One whose source does not exist keeps it: no chain takes it, and what is elsewhere works.
        """
        by_name = {joint.name: joint for joint in joints}
        for joint in joints:
            if joint.mimic and joint.mimic.source not in by_name:
                self._warnings.append(
                    f"joint '{shown(joint.name)}' mimics '{shown(joint.mimic.source)}', which "
                    'does not exist; no chain can go through it'
                )
        driven: dict[str, Mimic] = {}
        for joint in joints:
            _find_driven(joint, by_name, driven)
        return [replace(joint, mimic=driven.get(joint.name)) for joint in joints]


def _box(element: ElementTree.Element, where: str) -> Shape:
    x, y, z = _numbers(element, 'size', 3, where)
    if min(x, y, z) <= 0.0:
        raise UrdfError(f"{where}: size is '{_shown(element, 'size')}'; expected lengths above 0")
    return Box((x, y, z))


def _cylinder(element: ElementTree.Element, where: str) -> Shape:
    return Cylinder(_length(element, 'radius', where), _length(element, 'length', where))


def _capsule(element: ElementTree.Element, where: str) -> Shape:
    return Capsule(_length(element, 'radius', where), _length(element, 'length', where))


def _sphere(element: ElementTree.Element, where: str) -> Shape:
    return Sphere(_length(element, 'radius', where))


def _mesh(element: ElementTree.Element, where: str) -> Shape:
    filename = element.get('filename', '').strip()
    if not filename:
        raise UrdfError(f'{where} names no file; expected <mesh filename="..."/>')
    scale = _vector(element, 'scale', (1.0, 1.0, 1.0), where)
    if 0.0 in scale:
        raise UrdfError(f"{where}: scale is '{_shown(element, 'scale')}'; expected factors not 0")
    return Mesh(filename, scale)


def _length(element: ElementTree.Element, attribute: str, where: str) -> float:
    (length,) = _numbers(element, attribute, 1, where)
    if length <= 0.0:
        raise UrdfError(f'{where}: {attribute} is {length:.6g}; expected a length above 0')
    return length


SHAPES: Mapping[str, Callable[[ElementTree.Element, str], Shape]] = {
    'box': _box,
    'cylinder': _cylinder,
    'capsule': _capsule,
    'sphere': _sphere,
    'mesh': _mesh,
}


def _parse(text: str) -> ElementTree.Element:
    if len(text) > MAXIMUM_CHARACTERS:
        raise UrdfError(
            f'the robot description has {len(text)} characters; at most {MAXIMUM_CHARACTERS} '
            'are read'
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


def _check_expanded(root: ElementTree.Element) -> None:
    for element in root.iter():
        macro = '/xacro}' in element.tag
        unexpanded = element.tag in (
            'joint',
            'link',
            'parent',
            'child',
            'origin',
            'axis',
            'limit',
            'mimic',
            'safety_controller',
        ) and any('${' in value or '$(' in value for value in element.attrib.values())
        if macro or unexpanded:
            raise UrdfError(
                f'the robot description is xacro, not URDF: found '
                f'<{shown(element.tag.rpartition("}")[2])}> '
                f'{shown(str(element.attrib))}; {XACRO_CURE}'
            )


def _without_namespace(root: ElementTree.Element) -> ElementTree.Element:
    """Drop the default namespace from its tags; those of others (`<gz:joint>`) stay foreign."""
    namespace, brace, _ = root.tag.rpartition('}')
    if brace:
        for element in root.iter():
            element.tag = element.tag.removeprefix(namespace + brace)
    return root


def _version(root: ElementTree.Element) -> tuple[int, ...]:
    try:
        return tuple(int(part) for part in root.get('version', '1.0').split('.'))
    except ValueError:
        return 1, 0


def _name(element: ElementTree.Element, tag: str) -> str:
    name = element.get('name')
    if not name:
        raise UrdfError(f'a <{tag}> has no name; expected <{tag} name="...">')
    return name


def _joint_type(element: ElementTree.Element, where: str) -> JointType:
    type_ = element.get('type')
    try:
        return JointType(type_)
    except ValueError as error:
        allowed = ', '.join(member.value for member in JointType)
        raise UrdfError(
            f'{where} has type {shown(repr(type_))}; allowed are: {allowed}'
        ) from error


def _open(limit: float) -> float:
    """Take a limit that is out of all proportion for none."""
    return math.copysign(math.inf, limit) if abs(limit) > LARGEST else limit


def _shown(element: ElementTree.Element, attribute: str) -> str:
    return shown(element.get(attribute, ''))


def _float(text: str) -> float:
    if '_' in text or not text.isascii():  # Python reads more, such as Arabic digits
        raise ValueError
    return float(text)


def _number(element: ElementTree.Element, attribute: str, default: float, where: str) -> float:
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


def _vector(
    element: ElementTree.Element,
    attribute: str,
    default: tuple[float, float, float],
    where: str,
) -> tuple[float, float, float]:
    if attribute not in element.attrib:
        return default
    x, y, z = _numbers(element, attribute, 3, where)
    return x, y, z


def _numbers(
    element: ElementTree.Element, attribute: str, count: int, where: str
) -> tuple[float, ...]:
    text = element.get(attribute, '')
    try:
        values = tuple(_float(part) for part in text.split()) if text.isascii() else ()
    except ValueError:
        values = ()
    if len(values) != count or not all(math.isfinite(value) for value in values):
        expected = f'{count} finite numbers' if count > 1 else 'a finite number'
        raise UrdfError(f"{where}: {attribute} is '{shown(text)}'; expected {expected}")
    return values


def _frozen(array: Array) -> Array:
    array.flags.writeable = False
    return array


def _check_unique(names: list[str], kind: str) -> None:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise UrdfError(f"two {kind}s are named '{shown(name)}'; names must be unique")
        seen.add(name)


def _check_tree(links: list[str], joints: list[Joint]) -> None:
    if not links:
        raise UrdfError('the robot has no links')
    known = set(links)
    above: dict[str, Joint] = {}
    for joint in joints:
        for role, link in (('parent', joint.parent), ('child', joint.child)):
            if link not in known:
                raise UrdfError(
                    f"joint '{shown(joint.name)}' has the {role} link '{shown(link)}', which does "
                    f'not exist; the links are: {listed(links)}'
                )
        if joint.child in above:
            raise UrdfError(
                f"link '{shown(joint.child)}' hangs on two joints, "
                f"'{shown(above[joint.child].name)}' and '{shown(joint.name)}'; "
                'a link has one parent'
            )
        above[joint.child] = joint
    roots = [link for link in links if link not in above]
    if len(roots) > 1:
        raise UrdfError(
            f'the robot has {len(roots)} root links: {listed(roots)}; connect them with joints'
        )
    _check_no_cycle(links, above)


def _check_no_cycle(links: list[str], above: dict[str, Joint]) -> None:
    anchored: set[str] = set()
    for start in links:
        trail: dict[str, None] = {}
        link = start
        while link in above and link not in anchored:
            trail[link] = None
            link = above[link].parent
            if link in trail:
                raise UrdfError(f'links form a cycle: {_circle(trail, link)}')
        anchored.update(trail)


def _circle(trail: Iterable[str], back_at: str) -> str:
    names = list(trail)
    return f'{listed(names[names.index(back_at) :], " - ")} - {shown(back_at)}'


def _find_driven(joint: Joint, by_name: Mapping[str, Joint], driven: dict[str, Mimic]) -> None:
    """Add to `driven` what drives a joint, and all those on the way there, in the end."""
    trail: dict[str, Mimic] = {}
    while joint.mimic is not None and joint.name not in driven:
        trail[joint.name] = joint.mimic
        source = by_name.get(joint.mimic.source)
        if source is None:
            break
        if source.name in trail:
            raise UrdfError(f'joints mimic each other in a circle: {_circle(trail, source.name)}')
        if not source.type.is_drivable:
            raise UrdfError(
                f"joint '{shown(joint.name)}' mimics '{shown(source.name)}', which is "
                f'{source.type.value}; it must be revolute, continuous or prismatic'
            )
        joint = source
    for name, mimic in reversed(trail.items()):
        above = driven.get(mimic.source, Mimic(mimic.source))
        multiplier = mimic.multiplier * above.multiplier
        offset = mimic.multiplier * above.offset + mimic.offset
        where = f"joint '{shown(name)}', which mimics '{shown(above.source)}' in the end"
        driven[name] = _checked(Mimic(above.source, multiplier, offset), where)


def _checked(mimic: Mimic, where: str) -> Mimic:
    """Raise UrdfError if a follower would be moved by numbers that mean nothing."""
    if not (abs(mimic.multiplier) <= LARGEST and abs(mimic.offset) <= LARGEST):  # NaN is not
        raise UrdfError(
            f'{where}: multiplier is {mimic.multiplier:.6g} and offset is {mimic.offset:.6g}; '
            f'expected numbers up to {LARGEST:g}'
        )
    return mimic
