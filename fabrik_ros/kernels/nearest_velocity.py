"""The joint velocity nearest to one wanted within linear bounds: a small quadratic program."""

import math

import numpy as np
import numpy.typing as npt

from ..transforms import Array
from ._jit import kernel
from .frames import copy
from .polish import solve_symmetric

Places = npt.NDArray[np.int64]
MOST_CHANGES = 100
"""Most times that a bound begins or ceases to hold a velocity back [1]."""
KEPT = 1e-9
"""A bound that is passed by less is kept [rad/s or m/s]."""
TINY = 1e-12
"""A direction in which less is left is none [1]."""


@kernel
def nearest_velocity(
    inverse: Array, wanted: Array, normals: Array, least: Array, multipliers: Array,
    active: Places, pushes: Array, gram: Array, velocity: Array,
) -> bool:  # fmt: skip
    """
    Write the velocity v nearest to one wanted for which normals v >= least.

    Minimises (v - wanted)^T H (v - wanted). Bounds that are passed are taken up one by one, the
    one that is passed most first, and left where they hold nothing back any more. Source: Goldfarb
    and Idnani, "A numerically stable dual method for solving strictly convex quadratic programs",
    Mathematical Programming 27 (1983).

    Parameters
    ----------
    inverse : array, shape (n, n)
        Inverse of the metric H.
    wanted : array, shape (n,)
        What is wanted.
    normals, least : array, shape (m, n) and (m,)
        The bounds.
    multipliers : array, shape (m,)
        Written to: how hard each bound holds the velocity back; 0 where it does not.
    active, pushes, gram : array, shape (n,), (n + 3, n) and (n, n)
        Written over.
    velocity : array, shape (n,)
        Written to.

    Returns
    -------
    bool
        Whether all bounds are kept; False where they exclude each other.

    """
    n, count = wanted.shape[0], 0
    multipliers[:] = 0.0
    copy(wanted, velocity)
    push, step, relief = pushes[n], pushes[n + 1], pushes[n + 2]
    passed = _most_passed(normals, least, active, count, velocity)
    for _ in range(MOST_CHANGES):
        if passed < 0:
            return True
        normal = normals[passed]
        for j in range(n):
            push[j] = _inner(inverse[j], normal)
        _find_step(normals, active, pushes, gram, count)
        curvature = _inner(step, normal)
        whole = math.inf
        if count < n and curvature > TINY:
            whole = (least[passed] - _inner(normal, velocity)) / curvature
        part, leaving = _first_to_leave(multipliers, active, relief, count)
        share = min(whole, part)
        if share == math.inf:
            return False
        for a in range(count):
            multipliers[active[a]] -= share * relief[a]
        multipliers[passed] += share
        if whole < math.inf:
            for j in range(n):
                velocity[j] += share * step[j]
        if whole <= part:
            active[count] = passed
            copy(push, pushes[count])
            count += 1
            passed = _most_passed(normals, least, active, count, velocity)
        else:
            multipliers[active[leaving]] = 0.0
            count -= 1
            for a in range(leaving, count):
                active[a] = active[a + 1]
                copy(pushes[a + 1], pushes[a])
    return False


@kernel
def _inner(a: Array, b: Array) -> float:
    total = 0.0
    for j in range(a.shape[0]):
        total += a[j] * b[j]
    return total


@kernel
def _most_passed(normals: Array, least: Array, active: Places, count: int, velocity: Array) -> int:
    """Return the number of the bound that is passed most; -1 where all are kept."""
    found, most = -1, KEPT
    for i in range(least.shape[0]):
        by = least[i] - _inner(normals[i], velocity)
        if by > most and not _is_active(i, active, count):
            found, most = i, by
    return found


@kernel
def _is_active(i: int, active: Places, count: int) -> bool:
    """Whether a bound holds back already: what it is passed by then is an error of rounding."""
    found = False
    for a in range(count):
        found = found or active[a] == i
    return found


@kernel
def _find_step(normals: Array, active: Places, pushes: Array, gram: Array, count: int) -> None:
    """Write the step that a push makes along the active bounds, and what it relieves them by."""
    n = normals.shape[1]
    push, step, relief = pushes[n], pushes[n + 1], pushes[n + 2]
    for a in range(count):
        relief[a] = _inner(normals[active[a]], push)
        for b in range(a + 1):
            gram[a, b] = _inner(normals[active[a]], pushes[b])
    solve_symmetric(gram, relief, count)
    for j in range(n):
        step[j] = push[j]
        for a in range(count):
            step[j] -= relief[a] * pushes[a, j]


@kernel
def _first_to_leave(
    multipliers: Array, active: Places, relief: Array, count: int
) -> tuple[float, int]:
    """Return the share of a push at which an active bound ceases to hold back, and its place."""
    share, place = math.inf, -1
    for a in range(count):
        if relief[a] > TINY and multipliers[active[a]] < share * relief[a]:
            share, place = multipliers[active[a]] / relief[a], a
    return share, place
