"""The target as it is given: whether it is a pose, and where the tip can be of that."""

import math

from ..transforms import Array
from ._jit import kernel
from .arm_table import POSITION

NOT_FINITE, NOT_A_POSE, TOO_FAR, TOO_NEAR = -2, -1, 1, 2


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
    if not (is_rotation(asked) and T[3, 0] == T[3, 1] == T[3, 2] == 0.0 and T[3, 3] == 1.0):
        return NOT_A_POSE
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
def is_rotation(frame: Array) -> bool:
    """Whether the rotation of a frame is orthonormal and right-handed within 1e-6."""
    for a in range(3):
        for b in range(3):
            inner = (
                frame[3 * a] * frame[3 * b]
                + frame[3 * a + 1] * frame[3 * b + 1]
                + frame[3 * a + 2] * frame[3 * b + 2]
            )
            if abs(inner - (1.0 if a == b else 0.0)) > 1e-6:
                return False
    determinant = (
        frame[0] * (frame[4] * frame[8] - frame[5] * frame[7])
        - frame[1] * (frame[3] * frame[8] - frame[5] * frame[6])
        + frame[2] * (frame[3] * frame[7] - frame[4] * frame[6])
    )
    return bool(determinant > 0.0)
