"""Joints of a robot description: types, axes, limits and mimic joints."""

from collections.abc import Mapping
from dataclasses import replace
import math

import numpy as np

from ..errors import shown, UrdfError
from ..transforms import Array
from .joints import Joint, JointType, Mimic
from .mechanism import read_only
from .urdf_tree import circle
from .urdf_xml import Element, LARGEST, name_of, number, Reader, shown_attribute, vector

SHORTEST_AXIS = 1e-9
"""Length below which an axis has no direction [1]."""
LEAST_VELOCITY = 1e-9
"""Lowest velocity limit that makes sense [rad/s or m/s]."""
LEAST_CHANGE = 1e-6
"""Lowest limits of acceleration and jerk that make sense [per s^2 and per s^3]."""
CHANGES = 'acceleration', 'deceleration', 'jerk'
"""Limits that URDF has from version 1.2 on, in this order; without the second the first counts."""
MOST_TURNS = 4.0 * math.pi
"""
Bound beyond which whole and half numbers look like degrees, as do others beyond twice it [rad].
"""
MOST_DEGREES = 720.0
"""Greatest number that looks like degrees [rad]: programs write 1000 and more for infinity."""
FAST = 100.0
"""Velocity that people write who do not know how fast a joint is [rad/s]."""
FASTEST_TURN = 2.0 * MOST_TURNS
"""Speed beyond which a number looks like degrees per second [rad/s]."""
ALONG_X = (1.0, 0.0, 0.0)


class JointReader:
    """
    Reads the joints of one document.

    Parameters
    ----------
    reader : Reader
        Collects the warnings.
    use_safety_limits : bool
        Narrow joint limits to the soft limits where these are sane.

    """

    def __init__(self, reader: Reader, use_safety_limits: bool) -> None:
        self._reader = reader
        self._use_safety_limits = use_safety_limits

    def joint(self, element: Element) -> Joint:
        """Read one joint; its mimic source may itself be a mimic joint."""
        name = name_of(element, 'joint')
        where = f"joint '{shown(name)}'"
        type_ = _joint_type(element, where)
        parent = self._link_of(element, 'parent', where)
        child = self._link_of(element, 'child', where)
        origin = self._reader.origin(element, where)
        axis = self._axis(element, where) if type_.has_axis else read_only(np.array(ALONG_X))
        lower, upper, velocity = self._limits(element, type_, where)
        mimic = self._mimic(element, where) if type_.is_drivable else None
        return Joint(
            name, type_, parent, child, origin, axis, lower, upper, velocity, mimic,
            *self._changes(element, type_, where),
        )  # fmt: skip

    def _link_of(self, element: Element, tag: str, where: str) -> str:
        found = self._reader.only(element, tag, where)
        link = None if found is None else found.get('link')
        if not link:
            raise UrdfError(f'{where} names no {tag} link; expected <{tag} link="..."/>')
        return link

    def _axis(self, element: Element, where: str) -> Array:
        found = self._reader.only(element, 'axis', where)
        if found is None:
            return read_only(np.array(ALONG_X))
        if 'xyz' not in found.attrib:
            raise UrdfError(f'{where}, <axis> has no xyz; expected <axis xyz="..."/>')
        xyz = np.array(vector(found, 'xyz', ALONG_X, f'{where}, <axis>'))
        norm = math.hypot(*xyz)
        if not SHORTEST_AXIS < norm < math.inf:
            given = shown_attribute(found, 'xyz')
            raise UrdfError(
                f"{where}, <axis>: xyz is '{given}', of length {norm:.3g}; "
                'expected a direction such as "0 0 1"'
            )
        return read_only(xyz / norm)

    def _limits(
        self, element: Element, type_: JointType, where: str
    ) -> tuple[float, float, float]:
        """Read the lower, upper and velocity limits; infinite where there is none."""
        if not type_.is_drivable:
            return -math.inf, math.inf, math.inf
        limit = self._reader.only(element, 'limit', where)
        if limit is None:
            if not type_.needs_limits:
                return -math.inf, math.inf, math.inf
            cure = ' or make it continuous' if type_.is_revolute else ''
            raise UrdfError(f'{where} is {type_.value} but has no <limit>; add one{cure}')
        velocity = self._velocity(limit, where)
        if type_.is_revolute and _looks_like_degrees_per_second(velocity):
            self._reader.warnings.append(
                f'{where} has a velocity limit that looks like degrees per second, {velocity:.6g} '
                f'rad/s; then {math.radians(velocity):.6g} would be right'
            )
        if not type_.needs_limits:
            return -math.inf, math.inf, velocity
        lower, upper = self._range(limit, type_, where)
        if self._use_safety_limits:
            lower, upper = self._narrowed(element, lower, upper, where)
        if lower == upper:
            self._reader.warnings.append(f'{where} cannot move: its limits are both {lower:.6g}')
        if type_.is_revolute and _look_like_degrees(lower, upper):
            self._reader.warnings.append(
                f'{where} has limits that look like degrees, {lower:.6g} and {upper:.6g} rad; '
                f'then {math.radians(lower):.6g} and {math.radians(upper):.6g} would be right'
            )
        return lower, upper, velocity

    def _range(self, limit: Element, type_: JointType, where: str) -> tuple[float, float]:
        lower = number(limit, 'lower', 0.0, f'{where}, <limit>')
        upper = number(limit, 'upper', 0.0, f'{where}, <limit>')
        if lower > upper:
            raise UrdfError(
                f'{where}, <limit>: lower {lower:.6g} is greater than upper {upper:.6g}'
            )
        ends = _open(lower), _open(upper)
        is_open = math.isinf(ends[0]) or math.isinf(ends[1])
        if is_open and (type_.is_prismatic or ends[0] == ends[1]):
            raise UrdfError(
                f'{where}, <limit>: [{lower}, {upper}] is not a range a {type_.value} joint can '
                f'have; expected finite numbers up to {LARGEST:g}'
            )
        return ends

    def _velocity(self, limit: Element, where: str) -> float:
        velocity = number(limit, 'velocity', 0.0, f'{where}, <limit>')
        if velocity >= LEAST_VELOCITY:
            return velocity
        if velocity > 0.0:
            raise UrdfError(
                f"{where}, <limit>: velocity is '{shown_attribute(limit, 'velocity')}'; expected "
                f'at least {LEAST_VELOCITY:g}, or 0 for no limit'
            )
        found = 'no velocity limit'
        if 'velocity' in limit.attrib:
            found = f'a velocity limit of {velocity:.6g}'
        self._reader.warnings.append(f'{where} has {found}; its speed is not limited by the model')
        return math.inf

    def _changes(
        self, element: Element, type_: JointType, where: str
    ) -> tuple[float, float, float]:
        """Read the limits of acceleration, deceleration and jerk; infinite where none is."""
        limit = element.find('limit')
        given = [] if limit is None else [name for name in CHANGES if name in limit.attrib]
        if limit is None or not given or not type_.is_drivable:
            return math.inf, math.inf, math.inf
        if not self._reader.knows_accelerations:
            self._reader.warnings.append(
                f'{where}, <limit>: {", ".join(given)} of it is left out, as that needs '
                '<robot version="1.2"> or later'
            )
            return math.inf, math.inf, math.inf
        acceleration, deceleration, jerk = (
            self._change(limit, name, where) if name in given else math.inf for name in CHANGES
        )
        if 'deceleration' not in given:
            deceleration = acceleration
        return acceleration, deceleration, jerk

    def _change(self, limit: Element, name: str, where: str) -> float:
        value = number(limit, name, 0.0, f'{where}, <limit>')
        if value >= LEAST_CHANGE:
            return value
        if value > 0.0:
            raise UrdfError(
                f"{where}, <limit>: {name} is '{shown_attribute(limit, name)}'; expected at least "
                f'{LEAST_CHANGE:g}, or 0 for no limit'
            )
        self._reader.warnings.append(
            f'{where}: its limit of {name} is {value:.6g}, and counts as none'
        )
        return math.inf

    def _narrowed(
        self, element: Element, lower: float, upper: float, where: str
    ) -> tuple[float, float]:
        safety = self._reader.only(element, 'safety_controller', where)
        if safety is None or not {'soft_lower_limit', 'soft_upper_limit'} & set(safety.attrib):
            return lower, upper
        soft_lower = number(safety, 'soft_lower_limit', 0.0, f'{where}, <safety_controller>')
        soft_upper = number(safety, 'soft_upper_limit', 0.0, f'{where}, <safety_controller>')
        narrowed = max(lower, soft_lower), min(upper, soft_upper)
        if soft_lower < soft_upper and narrowed[0] < narrowed[1]:
            return narrowed
        self._reader.warnings.append(
            f'{where}: the soft limits [{soft_lower:.6g}, {soft_upper:.6g}] make no sense within '
            f'[{lower:.6g}, {upper:.6g}] and are left out'
        )
        return lower, upper

    def _mimic(self, element: Element, where: str) -> Mimic | None:
        found = self._reader.only(element, 'mimic', where)
        if found is None:
            return None
        source = found.get('joint')
        if not source:
            raise UrdfError(f'{where}, <mimic> names no joint; expected <mimic joint="..."/>')
        multiplier = number(found, 'multiplier', 1.0, f'{where}, <mimic>')
        offset = number(found, 'offset', 0.0, f'{where}, <mimic>')
        return _checked(Mimic(source, multiplier, offset), f'{where}, <mimic>')


def resolve_mimics(joints: list[Joint], warnings: list[str]) -> list[Joint]:
    """
    Replace sources that are mimic joints themselves by the joints that drive those.

    A mimic joint whose source does not exist keeps it: no chain accepts the joint, but chains
    elsewhere work.
    """
    by_name = {joint.name: joint for joint in joints}
    for joint in joints:
        if joint.mimic and joint.mimic.source not in by_name:
            warnings.append(
                f"joint '{shown(joint.name)}' mimics '{shown(joint.mimic.source)}', which "
                'does not exist; no chain can go through it'
            )
    driven: dict[str, Mimic] = {}
    for joint in joints:
        _find_driven(joint, by_name, driven)
    return [replace(joint, mimic=driven.get(joint.name)) for joint in joints]


def _joint_type(element: Element, where: str) -> JointType:
    type_ = element.get('type')
    try:
        return JointType(type_)
    except ValueError as error:
        allowed = ', '.join(member.value for member in JointType)
        raise UrdfError(
            f'{where} has type {shown(repr(type_))}; allowed are: {allowed}'
        ) from error


def _looks_like_degrees_per_second(velocity: float) -> bool:
    """Tell by the number: fast for a joint, and whole; 100 stands for fast."""
    is_fast = FASTEST_TURN < velocity <= MOST_DEGREES
    return is_fast and velocity.is_integer() and velocity != FAST


def _look_like_degrees(lower: float, upper: float) -> bool:
    """Tell by the farther limit: far for a joint, and whole, half or very far."""
    farther = max(abs(lower), abs(upper))
    if not MOST_TURNS < farther <= MOST_DEGREES:
        return False
    is_round = math.isclose(2.0 * farther, round(2.0 * farther), abs_tol=1e-9)
    half_turns = farther / math.pi
    are_turns = math.isclose(half_turns, round(half_turns), abs_tol=1e-3)
    return is_round or (farther > 2.0 * MOST_TURNS and not are_turns)


def _open(limit: float) -> float:
    """Replace a limit beyond all proportion by infinity."""
    return math.copysign(math.inf, limit) if abs(limit) > LARGEST else limit


def _find_driven(joint: Joint, by_name: Mapping[str, Joint], driven: dict[str, Mimic]) -> None:
    """Add to `driven` what drives a joint, and every mimic joint between the two."""
    passed: dict[str, Mimic] = {}
    while joint.mimic is not None and joint.name not in driven:
        passed[joint.name] = joint.mimic
        source = by_name.get(joint.mimic.source)
        if source is None:
            break
        if source.name in passed:
            raise UrdfError(f'joints mimic each other in a circle: {circle(passed, source.name)}')
        if not source.type.is_drivable:
            raise UrdfError(
                f"joint '{shown(joint.name)}' mimics '{shown(source.name)}', which is "
                f'{source.type.value}; it must be revolute, continuous or prismatic'
            )
        joint = source
    for name, mimic in reversed(passed.items()):
        above = driven.get(mimic.source, Mimic(mimic.source))
        multiplier = mimic.multiplier * above.multiplier
        offset = mimic.multiplier * above.offset + mimic.offset
        where = f"joint '{shown(name)}', which mimics '{shown(above.source)}' in the end"
        driven[name] = _checked(Mimic(above.source, multiplier, offset), where)


def _checked(mimic: Mimic, where: str) -> Mimic:
    """Raise UrdfError if multiplier or offset make no sense."""
    if not (abs(mimic.multiplier) <= LARGEST and abs(mimic.offset) <= LARGEST):  # NaN is not
        raise UrdfError(
            f'{where}: multiplier is {mimic.multiplier:.6g} and offset is {mimic.offset:.6g}; '
            f'expected numbers up to {LARGEST:g}'
        )
    return mimic
