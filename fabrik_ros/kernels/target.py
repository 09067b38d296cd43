"""The target as it is given: whether it is a pose, and where the tip can be of that."""

import math

from ..transforms import Array
from ._jit import kernel
from .arm_table import POSITION

NOT_FINITE, NOT_A_POSE, TOO_FAR, TOO_NEAR = -2, -1, 1, 2

ROUNDING = 1e-6
"""A rotation is taken as it is where it is as exact as this [1]."""
MOST_ASKEW = 0.02
"""With a larger error nobody meant it as a rotation [1]; it is that of two digits."""
STEPS = 4
"""Newton steps to the nearest rotation: each squares the error."""


@kernel
def read_target(T: Array, sphere: Array, tolerance: float, asked: Array, pulled: Array) -> int:
    """
    Write a pose (4, 4) as a frame, and that frame pulled near if it is very far away.

    `sphere` holds the centre of where the tip can be, inner and outer radius, and how far away a
    target may stay that is too far. Returns what is wrong with the target: NOT_FINITE, NOT_A_POSE,
    TOO_FAR, TOO_NEAR or nothing (0).
    """
    for r in range(4):
        for c in range(4):
            if not math.isfinite(T[r, c]):
                return NOT_FINITE
    for r in range(3):
        for c in range(3):
            asked[3 * r + c] = pulled[3 * r + c] = T[r, c]
        asked[POSITION + r] = pulled[POSITION + r] = T[r, 3]
    askew = skewness(asked)
    if not (askew <= MOST_ASKEW and T[3, 0] == T[3, 1] == T[3, 2] == 0.0 and T[3, 3] == 1.0):
        return NOT_A_POSE
    if askew > ROUNDING:
        straighten(asked)
        for i in range(POSITION):
            pulled[i] = asked[i]
    inner_reach, reach = sphere[3], sphere[4]
    x, y, z = asked[9] - sphere[0], asked[10] - sphere[1], asked[11] - sphere[2]
    distance = math.sqrt(x * x + y * y + z * z)
    if inner_reach - tolerance <= distance <= reach + tolerance:
        return 0
    if distance < inner_reach:
        return TOO_NEAR
    closer = min(1.0, sphere[5] / distance)
    pulled[9], pulled[10], pulled[11] = (
        sphere[0] + closer * x,
        sphere[1] + closer * y,
        sphere[2] + closer * z,
    )
    return TOO_FAR


@kernel
def skewness(frame: Array) -> float:
    """Return how far the rows of a frame are from orthonormal; infinite if left-handed."""
    most = 0.0
    for a in range(3):
        for b in range(3):
            inner = row_product(frame, 3 * a, 3 * b)
            most = max(most, abs(inner - (1.0 if a == b else 0.0)))
    determinant = (
        frame[0] * (frame[4] * frame[8] - frame[5] * frame[7])
        - frame[1] * (frame[3] * frame[8] - frame[5] * frame[6])
        + frame[2] * (frame[3] * frame[7] - frame[4] * frame[6])
    )
    return most if determinant > 0.0 else math.inf


@kernel
def straighten(frame: Array) -> None:
    """Replace the rotation of a frame, which is near one, by the nearest rotation."""
    for _ in range(STEPS):
        xx, xy, xz = row_product(frame, 0, 0), row_product(frame, 0, 3), row_product(frame, 0, 6)
        yy, yz, zz = row_product(frame, 3, 3), row_product(frame, 3, 6), row_product(frame, 6, 6)
        for c in range(3):
            x, y, z = frame[c], frame[3 + c], frame[6 + c]
            frame[c] = 1.5 * x - 0.5 * (xx * x + xy * y + xz * z)
            frame[3 + c] = 1.5 * y - 0.5 * (xy * x + yy * y + yz * z)
            frame[6 + c] = 1.5 * z - 0.5 * (xz * x + yz * y + zz * z)


@kernel
def row_product(frame: Array, a: int, b: int) -> float:
    """Return the inner product of the rows of a rotation that begin at `a` and `b`."""
    product: float = (
        frame[a] * frame[b] + frame[a + 1] * frame[b + 1] + frame[a + 2] * frame[b + 2]
    )
    return product
