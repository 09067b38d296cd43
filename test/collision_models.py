"""Arms with collision geometry for tests: small ones to work out on paper, and real ones."""

from collections.abc import Mapping
from pathlib import Path

from fabrik_ros import load_urdf
from helpers import example_robot, Segment, serial_xml
import numpy as np

REAL = {
    'ur5': ('ur5', 'base_link', ['tool0']),
    'panda': ('panda', 'panda_link0', ['panda_link8']),
    'talos': (
        'talos_data/robots/talos_reduced.urdf',
        'torso_2_link',
        ['gripper_left_base_link', 'gripper_right_base_link'],
    ),
}
"""Name of the robot or its file, base link and tip links."""


def real_robot(name):
    """Return the robot, its arm or arms, the folder of its packages and its file."""
    path, base, tips = REAL[name]
    file = example_robot(path)
    robot = load_urdf(file)
    arm = robot.chain(base, tips[0]) if len(tips) == 1 else robot.tree(base, tips)
    return robot, arm, packages_of(file), file


def packages_of(file: Path) -> Path:
    """Return the folder with the package that a file of example-robot-data belongs to."""
    return next(folder.parent for folder in file.parents if folder.name == 'example-robot-data')


def body(shape: str, xyz: str = '0 0 0', rpy: str = '0 0 0') -> str:
    """Write a collision element."""
    return f'<collision><origin xyz="{xyz}" rpy="{rpy}"/><geometry>{shape}</geometry></collision>'


def with_bodies(xml: str, bodies: Mapping[str, str]) -> str:
    """Give links of a document these children."""
    for link, elements in bodies.items():
        empty = f'<link name="{link}"/>'
        assert empty in xml
        xml = xml.replace(empty, f'<link name="{link}">{elements}</link>')
    return xml


PLANAR_LINK = 0.5
PLANAR_RADIUS = 0.05


def planar_arm(joints: int) -> str:
    """
    Write an arm of capsules in the plane, half a metre between joints, 0.1 m thick.

    They begin and end a little away from the joints, so that neighbours have room to turn.
    """
    segments = [Segment(xyz=(PLANAR_LINK if i else 0.0, 0.0, 0.0)) for i in range(joints)]
    capsule = body('<capsule radius="0.05" length="0.3"/>', '0.25 0 0', '0 1.5707963267948966 0')
    return with_bodies(serial_xml(segments), {f'l{i + 1}': capsule for i in range(joints)})


def planar_distances(q: np.ndarray) -> dict[tuple[int, int], np.ndarray]:
    """
    Distances between the capsules of planar arms that are not neighbours, by brute force.

    Two segments in the plane are nearest at an end of one of them, or they cross.

    Parameters
    ----------
    q : array, shape (..., n)
        Joint values [rad], of as many arms as one likes.

    Returns
    -------
    dict
        Distances [m], shape (...), by the numbers of the links.

    """
    angles = np.cumsum(q, axis=-1)
    along = np.stack([np.cos(angles), np.sin(angles)], axis=-1)
    ends = PLANAR_LINK * np.cumsum(along, axis=-2)
    segments = np.stack([ends - 0.4 * along, ends - 0.1 * along])
    count = angles.shape[-1]
    pairs = [(i, j) for i in range(count) for j in range(i + 2, count)]
    one, other = np.array(pairs, dtype=int).reshape(-1, 2).T
    distances = _between(segments[..., one, :], segments[..., other, :]) - 2 * PLANAR_RADIUS
    return {pair: distances[..., p] for p, pair in enumerate(pairs)}


def planar_distance(q: np.ndarray) -> np.ndarray:
    """Return the least of these distances, shape (...) [m]."""
    return np.min(list(planar_distances(q).values()), axis=0)


# Segments: their ends, shape (2, ..., 2).


def _between(s, t):
    crosses = _is_crossed(s, t) & _is_crossed(t, s)
    to_ends = _to(np.stack([t, t, s, s], axis=1), np.stack([s[0], s[1], t[0], t[1]]))
    return np.where(crosses, 0.0, to_ends.min(axis=0))


def _is_crossed(s, t):
    """Whether the ends of the one lie on both sides of the other."""
    return _cross(s[1] - s[0], t[0] - s[0]) * _cross(s[1] - s[0], t[1] - s[0]) < 0.0


def _cross(a, b):
    return a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0]


def _dot(a, b):
    return a[..., 0] * b[..., 0] + a[..., 1] * b[..., 1]


def _to(segment, point):
    way = segment[1] - segment[0]
    share = np.clip(_dot(point - segment[0], way) / _dot(way, way), 0.0, 1.0)
    to_it = segment[0] + share[..., None] * way - point
    return np.sqrt(_dot(to_it, to_it))
