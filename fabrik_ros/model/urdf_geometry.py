"""Geometry of links in a robot description; what makes no sense is left out, with a warning."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import starmap

from ..errors import listed, UrdfError
from ..transforms import Array
from .geometry import Box, Capsule, Collision, Cylinder, Mesh, Shape, Sphere, Visual
from .urdf_xml import Element, numbers, Reader, shown_attribute, vector


def read_collisions(elements: Iterable[Element], reader: Reader) -> Iterator[Collision]:
    """Read the collision geometry of all links."""
    return starmap(Collision, _read(elements, 'collision', reader))


def read_visuals(elements: Iterable[Element], reader: Reader) -> Iterator[Visual]:
    """Read what is to be seen of all links."""
    return starmap(Visual, _read(elements, 'visual', reader))


def _read(
    elements: Iterable[Element], tag: str, reader: Reader
) -> Iterator[tuple[str, Array, Shape]]:
    """Read one kind of geometry: names of links, places in them, and shapes."""
    for link in elements:
        found = link.findall(tag) if link.tag == 'link' else []
        for number, element in enumerate(found, 1):
            where = f"link '{shown_attribute(link, 'name')}', <{tag}>"
            where += f' number {number}' if len(found) > 1 else ''
            try:
                shape = _shape(element, reader, where)
                origin = reader.origin(element, where)
            except UrdfError as error:
                reader.warnings.append(f'{error}; this {tag} geometry is left out')
            else:
                yield link.get('name', ''), origin, shape


def _shape(element: Element, reader: Reader, where: str) -> Shape:
    geometry = reader.only(element, 'geometry', where)
    kinds = [] if geometry is None else [e for e in geometry if e.tag in SHAPES]
    if len(kinds) != 1:
        found = listed([f'<{e.tag}>' for e in (geometry if geometry is not None else ())])
        raise UrdfError(
            f'{where} has {found or "no shape"}; expected a <geometry> with one of: '
            f'{", ".join(SHAPES)}'
        )
    return SHAPES[kinds[0].tag](kinds[0], f'{where}, <{kinds[0].tag}>')


def _box(element: Element, where: str) -> Shape:
    x, y, z = numbers(element, 'size', 3, where)
    if min(x, y, z) <= 0.0:
        raise UrdfError(
            f"{where}: size is '{shown_attribute(element, 'size')}'; expected lengths above 0"
        )
    return Box((x, y, z))


def _cylinder(element: Element, where: str) -> Shape:
    return Cylinder(_length(element, 'radius', where), _length(element, 'length', where))


def _capsule(element: Element, where: str) -> Shape:
    return Capsule(_length(element, 'radius', where), _length(element, 'length', where))


def _sphere(element: Element, where: str) -> Shape:
    return Sphere(_length(element, 'radius', where))


def _mesh(element: Element, where: str) -> Shape:
    filename = element.get('filename', '').strip()
    if not filename:
        raise UrdfError(f'{where} names no file; expected <mesh filename="..."/>')
    scale = vector(element, 'scale', (1.0, 1.0, 1.0), where)
    if 0.0 in scale:
        raise UrdfError(
            f"{where}: scale is '{shown_attribute(element, 'scale')}'; expected factors not 0"
        )
    return Mesh(filename, scale)


def _length(element: Element, attribute: str, where: str) -> float:
    (length,) = numbers(element, attribute, 1, where)
    if length <= 0.0:
        raise UrdfError(f'{where}: {attribute} is {length:.6g}; expected a length above 0')
    return length


SHAPES: Mapping[str, Callable[[Element, str], Shape]] = {
    'box': _box,
    'cylinder': _cylinder,
    'capsule': _capsule,
    'sphere': _sphere,
    'mesh': _mesh,
}
