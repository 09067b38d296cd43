"""Masses and drives in a robot description."""

from itertools import combinations_with_replacement

import numpy as np

from ..errors import shown
from .dynamics import Drive, Dynamics, Inertia
from .mechanism import read_only
from .urdf_xml import Document, Element, name_of, number, Reader, shown_attribute


def read_dynamics(document: Document) -> Dynamics:
    """Read inertias by link and drives by joint; raise UrdfError if an entry is not a number."""
    reader, root = Reader(document), document.root
    links = {name_of(e, 'link'): e.find('inertial') for e in root if e.tag == 'link'}
    inertias = {link: _read_inertia(e, link, reader) for link, e in links.items() if e is not None}
    drives = {name_of(e, 'joint'): _read_drive(e) for e in root if e.tag == 'joint'}
    return Dynamics(inertias, drives)


def _read_inertia(element: Element, link: str, reader: Reader) -> Inertia:
    where = f"link '{shown(link)}', <inertial>"
    T_link_inertial = reader.origin(element, where)
    mass, moments = element.find('mass'), element.find('inertia')
    value = 0.0 if mass is None else number(mass, 'value', 0.0, f'{where}, <mass>')
    tensor = np.zeros((3, 3))
    for i, j in combinations_with_replacement(range(3), 2):
        if moments is not None:
            name = f'i{"xyz"[i]}{"xyz"[j]}'
            tensor[i, j] = tensor[j, i] = number(moments, name, 0.0, f'{where}, <inertia>')
    return Inertia(value, T_link_inertial[:3, 3], read_only(tensor), T_link_inertial[:3, :3])


def _read_drive(element: Element) -> Drive:
    where = f"joint '{shown_attribute(element, 'name')}'"

    def find(tag: str, attribute: str) -> float | None:
        found = element.find(tag)
        if found is None or attribute not in found.attrib:
            return None
        return number(found, attribute, 0.0, f'{where}, <{tag}>')

    return Drive(
        find('limit', 'effort'), find('dynamics', 'damping'), find('dynamics', 'friction')
    )
