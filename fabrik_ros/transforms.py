"""
Rotations and poses as plain numpy arrays.

A pose `T_a_b` is a (4, 4) matrix with `p_a = T_a_b @ p_b`; names of neighbours cancel:
`T_a_b @ T_b_c`. Quaternions are in ROS order, x y z w. Roll, pitch and yaw are URDF's: about
the fixed axes x, then y, then z.

"""

from __future__ import annotations

from collections.abc import Sequence
import itertools
import math

import numpy as np
import numpy.typing as npt

from .errors import TargetError

Array = npt.NDArray[np.float64]
Row = tuple[float, float, float]

MINIMUM_QUATERNION_NORM = 0.1
MOST_ASKEW = 0.02
"""A matrix of which a row has this error, as of two digits, is still meant as a rotation [1]."""
SMALLEST_SINE = 1e-300
"""Numbers below this are too coarse to tell a direction."""


def rotation_from_rpy(roll: float, pitch: float, yaw: float) -> Array:
    """
    Turn URDF roll, pitch and yaw [rad] into a rotation matrix of shape (3, 3).

    >>> rotation_from_rpy(0.0, 0.0, math.pi / 2).round(6) @ [1.0, 0.0, 0.0]
    array([0., 1., 0.])
    """
    cr, sr = math.cos(roll), math.sin(roll)
    cp, sp = math.cos(pitch), math.sin(pitch)
    cy, sy = math.cos(yaw), math.sin(yaw)
    return np.array(
        [
            [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
            [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
            [-sp, cp * sr, cp * cr],
        ]
    )


def rotation_from_axis_angle(axis: npt.ArrayLike, angle: float) -> Array:
    """Rotate by `angle` [rad] about the unit vector `axis`, shape (3,) (Rodrigues)."""
    x, y, z = np.asarray(axis, dtype=np.float64).tolist()
    c, s = math.cos(angle), math.sin(angle)
    d = 1.0 - c
    return np.array(
        [
            [c + d * x * x, d * x * y - s * z, d * x * z + s * y],
            [d * x * y + s * z, c + d * y * y, d * y * z - s * x],
            [d * x * z - s * y, d * y * z + s * x, c + d * z * z],
        ]
    )


def rotation_from_vector(vector: npt.ArrayLike) -> Array:
    """Turn a rotation vector (axis times angle [rad]), shape (3,), into a matrix (3, 3)."""
    v = np.asarray(vector, dtype=np.float64)
    angle = math.hypot(*v.tolist())
    return rotation_from_axis_angle(v / angle, angle) if angle > 0.0 else np.eye(3)


def rotation_vector(R: npt.ArrayLike) -> Array:
    """
    Logarithm of a rotation matrix (3, 3): axis times angle [rad], shape (3,), angle <= pi.

    Goes through the quaternion, which keeps full precision near 0 and near pi.
    """
    x, y, z, w = quaternion_xyzw_from_rotation(R).tolist()
    norm = math.hypot(x, y, z)
    scale = 2.0 * math.atan2(norm, w) / norm if norm > 0.0 else 0.0
    return np.array([scale * x, scale * y, scale * z])


def rotation_from_quaternion_xyzw(quaternion_xyzw: npt.ArrayLike) -> Array:
    """
    Turn a quaternion (x, y, z, w) into a rotation matrix (3, 3), normalising it first.

    Raises
    ------
    TargetError
        If a component is not finite, or the norm is under 0.1: nobody meant that as a rotation.

    """
    xyzw = np.asarray(quaternion_xyzw, dtype=np.float64)
    if xyzw.shape != (4,):
        raise TargetError(f'quaternion must be four finite numbers x y z w, got {xyzw}')
    return np.array(_rows_of_rotation(*xyzw.tolist()))


def pose_from_quaternion_xyzw(
    p: Sequence[float], quaternion_xyzw: tuple[float, float, float, float]
) -> Array:
    """
    Put a position (x, y, z) [m] and a quaternion (x, y, z, w) together as a pose (4, 4).

    Raises
    ------
    TargetError
        If the position is not finite, or as `rotation_from_quaternion_xyzw`.

    """
    x, y, z = p
    if not (math.isfinite(x) and math.isfinite(y) and math.isfinite(z)):
        raise TargetError(f'position must be three finite numbers, got {np.array(p)}')
    R = _rows_of_rotation(*quaternion_xyzw)
    return np.array((*R[0], x, *R[1], y, *R[2], z, 0.0, 0.0, 0.0, 1.0)).reshape(4, 4)


def pose_from_xyz_quaternion(xyz: npt.ArrayLike, quaternion_xyzw: npt.ArrayLike) -> Array:
    """
    Make a pose (4, 4) of a position and a quaternion in ROS order, checked.

    >>> pose_from_xyz_quaternion([0.4, 0.2, 0.4], [1.0, 0.0, 0.0, 0.0])[:3, 3]
    array([0.4, 0.2, 0.4])

    Parameters
    ----------
    xyz : array-like, shape (3,)
        Position [m].
    quaternion_xyzw : array-like, shape (4,)
        Quaternion (x, y, z, w); one with a norm over 0.1 is normalised.

    Raises
    ------
    TargetError
        If a number is missing or not finite, or the quaternion is zero or nearly so.

    """
    R = rotation_from_quaternion_xyzw(_numbers('quaternion', 'x y z w', quaternion_xyzw))
    return transform(R, _numbers('position', 'x y z', xyz))


def pose_from_xyz_rpy(xyz: npt.ArrayLike, rpy: npt.ArrayLike = (0.0, 0.0, 0.0)) -> Array:
    """
    Make a pose (4, 4) of a position, and of roll, pitch and yaw as in URDF, checked.

    >>> pose_from_xyz_rpy([0.4, 0.2, 0.4], [math.pi, 0.0, 0.0]).round(6)[:3, 2]
    array([ 0., -0., -1.])

    Parameters
    ----------
    xyz : array-like, shape (3,)
        Position [m].
    rpy : array-like, shape (3,)
        Turns about the fixed axes x, then y, then z [rad].

    Raises
    ------
    TargetError
        If a number is missing or not finite.

    """
    roll, pitch, yaw = _numbers('rpy', 'roll pitch yaw', rpy).tolist()
    return transform(rotation_from_rpy(roll, pitch, yaw), _numbers('position', 'x y z', xyz))


def _numbers(what: str, names: str, values: npt.ArrayLike) -> Array:
    """Make an array of values of which there is one finite number for each name."""
    try:
        numbers = np.array(values, dtype=np.float64)
    except (TypeError, ValueError):
        numbers = np.full(1, np.nan)
    count = len(names.split())
    if numbers.shape != (count,) or not np.isfinite(numbers).all():
        raise TargetError(f'{what} must be {count} finite numbers {names}, got {values!r}')
    return numbers


def _rows_of_rotation(x: float, y: float, z: float, w: float) -> tuple[Row, Row, Row]:
    """Rows of the rotation matrix of a quaternion of any length, unless nobody meant it as one."""
    norm = math.hypot(x, y, z, w)
    if not MINIMUM_QUATERNION_NORM <= norm < math.inf:
        xyzw = np.array([x, y, z, w])
        if not np.isfinite(xyzw).all():
            raise TargetError(f'quaternion must be four finite numbers x y z w, got {xyzw}')
        raise TargetError(
            f'quaternion {xyzw} has norm {norm:.3g}; expected 1 '
            f'(anything above {MINIMUM_QUATERNION_NORM} is normalised)'
        )
    x, y, z, w = x / norm, y / norm, z / norm, w / norm
    return (
        (1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)),
        (2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)),
        (2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)),
    )


def quaternion_xyzw_from_rotation(R: npt.ArrayLike) -> Array:
    """
    Turn a rotation matrix (3, 3) into a unit quaternion (x, y, z, w) with w >= 0.

    Shepperd's method: divide by the largest of the four components.
    """
    (r00, r01, r02), (r10, r11, r12), (r20, r21, r22) = np.asarray(R, np.float64).tolist()
    trace = r00 + r11 + r22
    largest = max(r00, r11, r22, trace)
    if largest == trace:
        x, y, z, w = r21 - r12, r02 - r20, r10 - r01, 1.0 + trace
    elif largest == r00:
        x, y, z, w = 1.0 + r00 - r11 - r22, r01 + r10, r02 + r20, r21 - r12
    elif largest == r11:
        x, y, z, w = r01 + r10, 1.0 + r11 - r00 - r22, r12 + r21, r02 - r20
    else:
        x, y, z, w = r02 + r20, r12 + r21, 1.0 + r22 - r00 - r11, r10 - r01
    norm = math.copysign(math.hypot(x, y, z, w), w)
    return np.array([x, y, z, w]) / norm


def rotation_z_to(axis: npt.ArrayLike) -> Array:
    """Rotate by the least angle so that z comes to lie on the unit vector `axis`, shape (3,)."""
    x, y, z = np.asarray(axis, dtype=np.float64)
    sine = math.hypot(x, y)
    if sine < SMALLEST_SINE:
        return np.eye(3) if z > 0.0 else np.diag([1.0, -1.0, -1.0])
    return rotation_from_axis_angle([-y / sine, x / sine, 0.0], math.atan2(sine, z))


def transform(R: npt.ArrayLike, p: npt.ArrayLike) -> Array:
    """Put a rotation (3, 3) and a position (3,) [m] together as a pose (4, 4)."""
    T = np.zeros((4, 4))
    T[:3, :3] = R
    T[:3, 3] = p
    T[3, 3] = 1.0
    return T


def inverse(T_a_b: Array) -> Array:
    """Invert a pose (4, 4): `T_b_a`."""
    R = T_a_b[:3, :3].T
    return transform(R, -R @ T_a_b[:3, 3])


def as_pose(T: Array) -> Array:
    """
    Return an array as a pose (4, 4), with the nearest rotation where it has few digits.

    Raises
    ------
    TargetError
        If it is no pose, nor near one; says why not.

    """
    if is_pose(T):
        return T
    why = why_no_pose(T)
    if why:
        raise TargetError(f'not a pose: {why}')
    U, _, V = np.linalg.svd(T[:3, :3])
    return transform(U @ V, T[:3, 3])


def why_no_pose(T: Array, most_askew: float = MOST_ASKEW) -> str:
    """Say why an array is no pose nor near one, with what is allowed; '' where it is."""
    if T.shape != (4, 4):
        return f'it has shape {T.shape}, expected (4, 4)'
    rows = T.tolist()
    if not all(map(math.isfinite, itertools.chain(*rows))):
        return 'it has entries that are not finite'
    if rows[3] != [0.0, 0.0, 0.0, 1.0]:
        return f'its last row is {rows[3]}, expected the last row 0 0 0 1'
    askew, determinant = _askew(*(row[:3] for row in rows[:3]))
    if not (askew <= most_askew and determinant > 0.0):
        return (
            'its upper left 3x3 block must be a rotation: R R^T differs from the identity by '
            f'{askew:.3g} (at most {most_askew:g}), its determinant is {determinant:.3g} (above 0)'
        )
    return ''


def _askew(x: Sequence[float], y: Sequence[float], z: Sequence[float]) -> tuple[float, float]:
    """Tell how far R R^T differs from the identity, and the determinant, by the rows of R."""
    (a, b, c), (d, e, f), (g, h, i) = x, y, z
    lengths = a * a + b * b + c * c, d * d + e * e + f * f, g * g + h * h + i * i
    products = a * d + b * e + c * f, a * g + b * h + c * i, d * g + e * h + f * i
    askew = max(*(abs(length - 1.0) for length in lengths), *map(abs, products))
    return askew, a * (e * i - f * h) + b * (f * g - d * i) + c * (d * h - e * g)


def is_pose(T: Array, tolerance: float = 1e-6) -> bool:
    """Whether an array is a pose: finite, shape (4, 4), a rotation within `tolerance`."""
    return not why_no_pose(T, tolerance)
