"""
Operations of the search that differ between one tip and several.

For one tip, targets, tasks and errors are single rows; for several they are tables with a row for
each tip. numba knows the number of dimensions when it compiles: of each `if` below it keeps one
branch, so that a chain does not pay for what trees need.

"""

from typing import Any

from ..transforms import Array
from ._jit import kernel
from .frames import copy
from .jacobian import jacobian
from .kinematics import joint_and_link_frames, link_frames
from .reaching import base_to_tip, tip_to_base
from .task import cost, inner, is_reached, norm3, product, tip_error, weigh_error
from .tree_jacobian import tree_jacobian
from .tree_kinematics import tree_joint_and_link_frames, tree_link_frames
from .tree_reaching import base_to_tips, hold_joints_of_unconstrained_tips, tips_to_base
from .tree_task import all_reached, largest, tip_errors, total_cost, weigh_errors

ERRORS_PER_TIP = 6


@kernel
def evaluate(model: Array, q: Array, targets: Array, tasks: Array, buffers: Any) -> float:
    """Write the frames and errors at `q`, and return the cost of the errors."""
    if targets.ndim == 1:
        joint_and_link_frames(model, q, buffers.joints, buffers.frames)
    else:
        tree_joint_and_link_frames(model, q, buffers.joints, buffers.frames)
    find_errors(targets, tasks, buffers, buffers.error)
    return cost_of(buffers.error, tasks, buffers)


@kernel
def move_links(model: Array, q: Array, targets: Array, buffers: Any) -> None:
    """Write where links and tips are at `q`, but not the joints."""
    if targets.ndim == 1:
        link_frames(model, q, buffers.frames)
    else:
        tree_link_frames(model, q, buffers.frames)


@kernel
def make_passes(
    model: Array, lower: Array, upper: Array, targets: Array, tasks: Array, q: Array, buffers: Any
) -> None:
    """Go from the tips to the base and back: one iteration."""
    if targets.ndim == 1:
        tip_to_base(model, lower, upper, targets, tasks, q, buffers)
        base_to_tip(model, lower, upper, tasks, q, buffers)
    else:
        tips_to_base(model, lower, upper, targets, tasks, q, buffers)
        base_to_tips(model, lower, upper, tasks, q, buffers)


@kernel
def hold_unconstrained(model: Array, seed: Array, targets: Array, q: Array, buffers: Any) -> None:
    """Keep joints at the seed that move none of the tips that count."""
    if targets.ndim == 2:
        hold_joints_of_unconstrained_tips(model, seed, q, buffers)


@kernel
def find_errors(targets: Array, tasks: Array, buffers: Any, errors: Array) -> None:
    """Write the errors of the tips at the present link frames."""
    if targets.ndim == 1:
        tip_error(buffers.frames[buffers.frames.shape[0] - 1], targets, tasks, errors)
    else:
        tip_errors(buffers.frames, targets, tasks, buffers.weights, errors)


@kernel
def cost_of(errors: Array, tasks: Array, buffers: Any) -> float:
    """One number for the errors of all tips: squared, weighted, without units."""
    if errors.ndim == 1:
        return cost(errors, tasks)
    return total_cost(errors, tasks, buffers.weights)


@kernel
def are_reached(errors: Array, tasks: Array) -> bool:
    """Whether the errors of all tips are within their tolerances."""
    if errors.ndim == 1:
        return is_reached(errors, tasks)
    return all_reached(errors, tasks)


@kernel
def copy_errors(errors: Array, out: Array) -> None:
    """Copy the errors of all tips."""
    if errors.ndim == 1:
        copy(errors, out)
    else:
        for t in range(errors.shape[0]):
            copy(errors[t], out[t])


@kernel
def error_count(errors: Array) -> int:
    """Count the errors of all tips."""
    if errors.ndim == 1:
        return ERRORS_PER_TIP
    return int(ERRORS_PER_TIP * errors.shape[0])


@kernel
def weigh(errors: Array, tasks: Array, buffers: Any, weighted: Array) -> None:
    """Write the errors of all tips without units in one list, whose square is the cost."""
    if errors.ndim == 1:
        weigh_error(errors, tasks, weighted)
    else:
        weigh_errors(errors, tasks, buffers.weights, weighted)


@kernel
def fill_columns(model: Array, units: Array, targets: Array, tasks: Array, buffers: Any) -> None:
    """Write to `buffers.columns` how each joint value lowers these errors, `buffers.error`."""
    if targets.ndim == 1:
        jacobian(model, buffers.frames, targets, buffers.error, units, tasks, buffers.columns)
    else:
        tree_jacobian(model, units, targets, tasks, buffers)


@kernel
def inner_of_errors(errors: Array, a: Array, b: Array) -> float:
    """Inner product of two lists as long as there are errors."""
    if errors.ndim == 1:
        return product(a, b)
    return inner(a, b, ERRORS_PER_TIP * errors.shape[0])


@kernel
def largest_error(errors: Array, start: int) -> float:
    """Length of the longest of three consecutive errors, from `start` on, over the tips."""
    if errors.ndim == 1:
        return norm3(errors, start)
    return largest(errors, errors.shape[0], start)
