"""Arithmetic of frames: rows of twelve numbers, a rotation row by row and a position."""

import math

from ..transforms import Array
from ._jit import kernel

TURN = 2.0 * math.pi


@kernel
def copy(source: Array, out: Array) -> None:
    """Copy rows of equal length."""
    for k in range(out.shape[0]):
        out[k] = source[k]


@kernel
def compose(a: Array, b: Array, out: Array) -> None:
    """Write the frame `a` times `b` to `out`, which may be `a`."""
    for r in range(3):
        x, y, z = a[3 * r], a[3 * r + 1], a[3 * r + 2]
        out[9 + r] = a[9 + r] + x * b[9] + y * b[10] + z * b[11]
        out[3 * r] = x * b[0] + y * b[3] + z * b[6]
        out[3 * r + 1] = x * b[1] + y * b[4] + z * b[7]
        out[3 * r + 2] = x * b[2] + y * b[5] + z * b[8]


@kernel
def compose_inverse(a: Array, b: Array, out: Array) -> None:
    """Write the frame `a` times the inverse of `b` to `out`, which may be `a`."""
    for r in range(3):
        x, y, z = a[3 * r], a[3 * r + 1], a[3 * r + 2]
        x, y, z = (
            x * b[0] + y * b[1] + z * b[2],
            x * b[3] + y * b[4] + z * b[5],
            x * b[6] + y * b[7] + z * b[8],
        )
        out[3 * r], out[3 * r + 1], out[3 * r + 2] = x, y, z
        out[9 + r] = a[9 + r] - (x * b[9] + y * b[10] + z * b[11])


@kernel
def rotate_about_z(frame: Array, c: float, s: float) -> None:
    """Turn `frame` about its own z by the angle of cosine `c` and sine `s`, in place."""
    for k in range(0, 9, 3):
        x, y = frame[k], frame[k + 1]
        frame[k] = c * x + s * y
        frame[k + 1] = c * y - s * x


@kernel
def translate_along_z(frame: Array, distance: float) -> None:
    """Move `frame` along its own z, in place."""
    for r in range(3):
        frame[9 + r] += distance * frame[3 * r + 2]


@kernel
def rotation_between(a: Array, b: Array) -> tuple[float, float, float]:
    """
    Rotation vector that turns frame `a` into frame `b`, in the common frame [rad].

    The logarithm through the quaternion: exact near 0 and near pi.
    """
    # D = R_b R_a^T
    d00 = b[0] * a[0] + b[1] * a[1] + b[2] * a[2]
    d01 = b[0] * a[3] + b[1] * a[4] + b[2] * a[5]
    d02 = b[0] * a[6] + b[1] * a[7] + b[2] * a[8]
    d10 = b[3] * a[0] + b[4] * a[1] + b[5] * a[2]
    d11 = b[3] * a[3] + b[4] * a[4] + b[5] * a[5]
    d12 = b[3] * a[6] + b[4] * a[7] + b[5] * a[8]
    d20 = b[6] * a[0] + b[7] * a[1] + b[8] * a[2]
    d21 = b[6] * a[3] + b[7] * a[4] + b[8] * a[5]
    d22 = b[6] * a[6] + b[7] * a[7] + b[8] * a[8]
    trace = d00 + d11 + d22
    if trace > 0.0:
        x, y, z, w = d21 - d12, d02 - d20, d10 - d01, 1.0 + trace
    elif d00 >= d11 and d00 >= d22:
        x, y, z, w = 1.0 + d00 - d11 - d22, d01 + d10, d02 + d20, d21 - d12
    elif d11 >= d22:
        x, y, z, w = d01 + d10, 1.0 + d11 - d00 - d22, d12 + d21, d02 - d20
    else:
        x, y, z, w = d02 + d20, d12 + d21, 1.0 + d22 - d00 - d11, d10 - d01
    sine = math.sqrt(x * x + y * y + z * z)
    if sine == 0.0:
        return 0.0, 0.0, 0.0
    if w < 0.0:
        sine, w = -sine, -w
    scale = 2.0 * math.atan2(abs(sine), w) / sine
    return scale * x, scale * y, scale * z


@kernel
def rotation_onto(
    ax: float, ay: float, az: float, bx: float, by: float, bz: float
) -> tuple[float, float, float]:
    """
    Shortest rotation vector that turns the unit vector a onto the unit vector b [rad].

    Opposite vectors have no shortest one: then about the coordinate axis least along a, made
    perpendicular to it. So too within 1e-8 of opposite, where the cross product is mostly noise.
    """
    x, y, z = ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx
    sine = math.sqrt(x * x + y * y + z * z)
    cosine = ax * bx + ay * by + az * bz
    if sine > 1e-8:
        scale = math.atan2(sine, cosine) / sine
        return scale * x, scale * y, scale * z
    if cosine > 0.0:
        return x, y, z
    if abs(ax) <= abs(ay) and abs(ax) <= abs(az):
        x, y, z = 0.0, az, -ay
    elif abs(ay) <= abs(az):
        x, y, z = -az, 0.0, ax
    else:
        x, y, z = ay, -ax, 0.0
    scale = math.pi / math.sqrt(x * x + y * y + z * z)
    return scale * x, scale * y, scale * z


@kernel
def rotate_frame(frame: Array, vx: float, vy: float, vz: float) -> None:
    """Turn the rotation of `frame` by a rotation vector of the common frame [rad], in place."""
    angle = math.sqrt(vx * vx + vy * vy + vz * vz)
    if angle == 0.0:
        return
    kx, ky, kz = vx / angle, vy / angle, vz / angle
    c, s = math.cos(angle), math.sin(angle)
    for j in range(3):
        x, y, z = frame[j], frame[3 + j], frame[6 + j]
        along = (1.0 - c) * (kx * x + ky * y + kz * z)
        frame[j] = c * x + s * (ky * z - kz * y) + along * kx
        frame[3 + j] = c * y + s * (kz * x - kx * z) + along * ky
        frame[6 + j] = c * z + s * (kx * y - ky * x) + along * kz
