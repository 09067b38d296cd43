"""
Methods to compare FABRIK with, on a chain of ball joints: CCD and three on the Jacobian.

L.-C. T. Wang and C. C. Chen, "A combined optimization method for solving the inverse kinematics
problem of mechanical manipulators", IEEE Transactions on Robotics and Automation 7 (1991) 489-499.
S. R. Buss, "Introduction to inverse kinematics with Jacobian transpose, pseudoinverse and damped
least squares methods" (2004). A. A. Maciejewski and C. A. Klein, "Numerical filtering for the
operation of robotic manipulators through kinematically singular configurations", Journal of
Robotic Systems 5 (1988) 527-552.

The state is the same as FABRIK's: joint centres, base first, shape (n + 1, 3). Every joint turns
about any axis through its centre. With r_i from joint i to the tip, the velocity of the tip is
the sum of w_i x r_i: block i of the Jacobian takes w_i to w_i x r_i.

"""

from collections.abc import Callable
import math

from fabrik_ros.textbook.points.point_chain import PointChain
import numpy as np

Array = np.ndarray
Step = Callable[[Array, Array], Array]
"""Takes points and a target to the points after one iteration."""

LARGEST_STEP = 0.4
"""Targets farther from the tip are drawn to this distance, as a share of the reach, for the
Jacobian methods (ClampMag of Buss). This and the settings below are what suits the chains of
`published_experiments.py` with targets in reach."""
DAMPING = 0.02
"""Of the least squares, as a share of the reach."""
SINGULAR = 1.0
"""Least singular value, as a share of the reach, below which the pseudoinverse is damped."""
LARGEST_DAMPING = 0.05
"""Of the pseudoinverse where it is singular, as a share of the reach."""
TINY = 1e-300


def fabrik(points: Array, target: Array) -> Array:
    """Make both passes of the library."""
    return PointChain(points).tip_to_base(target).base_to_tip(points[0]).points


def cyclic_coordinate_descent(points: Array, target: Array) -> Array:
    """Turn each joint, the last one first, so that the tip lies in the direction of the target."""
    points = points.copy()
    for i in reversed(range(len(points) - 1)):
        points[i + 1 :] = points[i] + aimed(points[i + 1 :] - points[i], target - points[i])
    return points


def transpose(points: Array, target: Array, *, largest_step: float = LARGEST_STEP) -> Array:
    """Go down the gradient, by the step that is best to first order (Buss, section 4)."""
    arms, error = arms_and_error(points, target, largest_step)
    turns = np.cross(arms, error)
    moved = np.cross(turns, arms).sum(axis=0)
    return turned(points, turns * (error @ moved / max(moved @ moved, TINY)))


def damped_least_squares(
    points: Array,
    target: Array,
    *,
    damping: float = DAMPING,
    largest_step: float = LARGEST_STEP,
) -> Array:
    """Minimise |J w - e|^2 + damping^2 |w|^2 (Buss, section 6)."""
    arms, error = arms_and_error(points, target, largest_step)
    squared = (arms**2).sum() * np.eye(3) - arms.T @ arms
    squared += (damping * reach(points)) ** 2 * np.eye(3)
    return turned(points, np.cross(arms, np.linalg.solve(squared, error)))


def damped_pseudoinverse(
    points: Array,
    target: Array,
    *,
    singular: float = SINGULAR,
    damping: float = LARGEST_DAMPING,
    largest_step: float = LARGEST_STEP,
) -> Array:
    """Apply the pseudoinverse by singular values, damped near singularities (Maciejewski)."""
    arms, error = arms_and_error(points, target, largest_step)
    left, values, right = np.linalg.svd(jacobian(arms), full_matrices=False)
    nearness = max(0.0, 1.0 - values[-1] / (singular * reach(points)))
    squared = values**2 + (damping * reach(points) * nearness) ** 2
    inverse = np.divide(values, squared, out=np.zeros(3), where=squared > TINY)
    return turned(points, (right.T @ (inverse * (left.T @ error))).reshape(-1, 3))


METHODS: dict[str, Step] = {
    'FABRIK': fabrik,
    'CCD': cyclic_coordinate_descent,
    'Jacobian transpose': transpose,
    'damped least squares': damped_least_squares,
    'damped pseudoinverse (SVD)': damped_pseudoinverse,
}


def reach(points: Array) -> float:
    """Add up the lengths of the links."""
    return float(np.linalg.norm(np.diff(points, axis=0), axis=1).sum())


def arms_and_error(points: Array, target: Array, largest_step: float) -> tuple[Array, Array]:
    """Measure from each joint to the tip, and from the tip to the target, clamped."""
    error = target - points[-1]
    longest = largest_step * reach(points)
    return points[-1] - points[:-1], error * min(1.0, longest / max(math.hypot(*error), TINY))


def jacobian(arms: Array) -> Array:
    """Write down how the tip moves with the turns of the joints, shape (3, 3 n)."""
    return np.cross(np.eye(3), arms[:, None, :]).transpose(2, 0, 1).reshape(3, -1)


def turned(points: Array, turns: Array) -> Array:
    """Turn each joint by its rotation vector, seen before the motion, shape (n, 3)."""
    links = np.diff(points, axis=0)
    moved, whole = points.copy(), np.eye(3)
    for i, turn in enumerate(rotations(turns)):
        whole = whole @ turn
        moved[i + 1] = moved[i] + whole @ links[i]
    return moved


def rotations(turns: Array) -> Array:
    """Turn rotation vectors, shape (n, 3), into matrices, shape (n, 3, 3), by Rodrigues."""
    angles = np.linalg.norm(turns, axis=1)[:, None, None]
    skew = np.cross(turns[:, None, :], np.eye(3)).transpose(0, 2, 1)
    return (
        np.eye(3) + np.sinc(angles / np.pi) * skew
        + 0.5 * np.sinc(angles / (2.0 * np.pi)) ** 2 * skew @ skew
    )  # fmt: skip


def aimed(arms: Array, aim: Array) -> Array:
    """
    Turn arms, shape (m, 3), together and by the shortest way until the last one points at `aim`.

    Two half turns about axes with half an angle between them make a turn by that angle. Where a
    direction is missing, or the last arm points the other way, there is no shortest way: no turn.
    """
    now, wanted = unit(arms[-1]), unit(aim)
    middle = unit(now + wanted)
    if not (now.any() and wanted.any() and middle.any()):
        return arms
    return half_turn(half_turn(arms, now), middle)


def half_turn(arms: Array, axis: Array) -> Array:
    """Turn arms, shape (m, 3), by half a turn about a unit vector."""
    return np.outer(2.0 * (arms @ axis), axis) - arms


def unit(vector: Array) -> Array:
    """Give the direction of a vector, or zeros if it has none."""
    return vector / max(math.hypot(*vector), TINY)
