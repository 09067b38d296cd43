"""Poses in rows, as `fabrik_ros record` writes them: x y z and a quaternion."""

from collections.abc import Iterable
import csv
import io
from pathlib import Path

import numpy as np

from ..errors import TargetError
from ..transforms import Array, pose_from_xyz_quaternion, quaternion_xyzw_from_rotation

COLUMNS = ('x', 'y', 'z', 'qx', 'qy', 'qz', 'qw')


def read_poses(path: Path) -> list[Array]:
    """
    Read the poses T_base_tip, shape (4, 4), in a file.

    Raises
    ------
    TargetError
        As for `poses_in`; names the file.

    """
    return poses_in(path.read_text(), str(path))


def poses_in(text: str, name: str) -> list[Array]:
    """
    Read poses T_base_tip, shape (4, 4), from the text of a file with a name.

    Raises
    ------
    TargetError
        If it has other columns, no rows, or a row that is no pose; names the row.

    """
    rows = [row for row in csv.reader(io.StringIO(text)) if row]
    if not rows or tuple(word.strip() for word in rows[0]) != COLUMNS:
        raise TargetError(f'{name}: the first line must be {",".join(COLUMNS)}')
    if len(rows) == 1:
        raise TargetError(f'{name}: there are no poses')
    return [_pose(name, number, row) for number, row in enumerate(rows[1:], start=2)]


def _pose(name: str, number: int, row: list[str]) -> Array:
    try:
        values = [float(word) for word in row]
        return pose_from_xyz_quaternion(values[:3], values[3:])
    except (TargetError, ValueError) as error:
        raise TargetError(f'{name}, line {number}: {error}') from error


def poses_text(poses: Iterable[Array]) -> str:
    """Write poses, shape (4, 4), so that `poses_in` reads the same."""
    return _rows([COLUMNS, *map(_words, poses)])


def _words(T: Array) -> list[str]:
    turned = quaternion_xyzw_from_rotation(T[:3, :3])
    return [f'{value:.6f}' for value in np.concatenate([T[:3, 3], turned])]


def _rows(rows: Iterable[Iterable[str]]) -> str:
    text = io.StringIO()
    csv.writer(text).writerows(rows)
    return text.getvalue()


class PoseWriter:
    """
    Writes poses to a file, each at once.

    Parameters
    ----------
    path : Path
        The file; it must not exist.

    """

    def __init__(self, path: Path) -> None:
        self._path = path
        with path.open('x', newline='') as file:
            file.write(poses_text(()))

    def add(self, T: Array) -> None:
        """Add a pose, shape (4, 4)."""
        with self._path.open('a', newline='') as file:
            file.write(_rows([_words(T)]))
