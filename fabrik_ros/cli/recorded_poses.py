"""Files of poses, as `fabrik_ros record` writes them: one row each, x y z and a quaternion."""

import csv
from pathlib import Path

import numpy as np

from ..errors import TargetError
from ..transforms import Array, pose_from_xyz_quaternion, quaternion_xyzw_from_rotation

COLUMNS = ('x', 'y', 'z', 'qx', 'qy', 'qz', 'qw')


def read_poses(path: Path) -> list[Array]:
    """
    Read poses T_base_tip, shape (4, 4).

    Raises
    ------
    TargetError
        If the file has other columns, no rows, or a row that is no pose; names the row.

    """
    with path.open(newline='') as file:
        rows = [row for row in csv.reader(file) if row]
    if not rows or tuple(word.strip() for word in rows[0]) != COLUMNS:
        raise TargetError(f'{path}: the first line must be {",".join(COLUMNS)}')
    if len(rows) == 1:
        raise TargetError(f'{path}: there are no poses')
    return [_pose(path, number, row) for number, row in enumerate(rows[1:], start=2)]


def _pose(path: Path, number: int, row: list[str]) -> Array:
    try:
        values = [float(word) for word in row]
        return pose_from_xyz_quaternion(values[:3], values[3:])
    except (TargetError, ValueError) as error:
        raise TargetError(f'{path}, line {number}: {error}') from error


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
            csv.writer(file).writerow(COLUMNS)

    def add(self, T: Array) -> None:
        """Add a pose, shape (4, 4)."""
        turned = quaternion_xyzw_from_rotation(T[:3, :3])
        with self._path.open('a', newline='') as file:
            row = np.concatenate([T[:3, 3], turned])
            csv.writer(file).writerow(f'{value:.6f}' for value in row)
