"""
Joint values from points by closed forms, base to tip.

A revolute joint turns the first point behind it that lies off its axis to where that shall be; a
prismatic one moves its own centre. Where that point hangs on two joints whose values are still
open, as behind a universal joint, the two are found together.

"""

import math
from typing import NamedTuple

import numpy as np

from ...transforms import Array, inverse
from .marked_arm import carried, Frames, frames_of, MarkedArm, ON_AXIS, seen_from

IN_LINE = 1e-6
"""Largest angle between axes that count as one [rad]; sweeps remove the difference."""

BRANCHES = 8
"""Number of combinations kept, as two joints found together have two answers."""


class _Branch(NamedTuple):
    """Joint values found so far; those not yet found stand at the seed."""

    q: Array
    misfit: float
    """Sum of squared distances of the marks so far from their points [m^2]."""
    open_joints: list[int]
    """Joints before the next mark that no mark has determined yet."""


def closed_forms(arm: MarkedArm, wanted: Array) -> Array:
    """Take each joint by its closed form; of several answers the best, then the nearest."""
    nothing = (ON_AXIS * arm.scale) ** 2

    def order(branch: _Branch) -> tuple[float, float]:
        misfit = branch.misfit if branch.misfit > nothing else 0.0
        return misfit, float(np.abs(branch.q - arm.start).max())

    branches = [_Branch(arm.start, 0.0, [])]
    for k in range(len(wanted)):
        grown = [new for branch in branches for new in _grown(arm, branch, k, wanted[k])]
        branches = sorted(grown, key=order)[:BRANCHES]
    return branches[0].q


def _grown(arm: MarkedArm, branch: _Branch, k: int, point: Array) -> list[_Branch]:
    """Bring mark k to its point by the joints that are open."""
    frames = frames_of(arm.chain, branch.q)
    mark = arm.marks(frames)[k]
    open_joints = branch.open_joints + arm.joints_that_begin_at(k)
    last = _last_that_moves(arm, open_joints, frames, mark)
    if last is None:
        misfit = branch.misfit + float(np.sum((mark - point) ** 2))
        return [_Branch(branch.q, misfit, open_joints)]

    earlier = [j for j in open_joints if j < last]
    in_line = [j for j in earlier if _in_line(arm, frames.before[j], frames.before[last])]
    partners = [j for j in earlier if j not in in_line]
    still_open = [j for j in open_joints if j > last]
    if arm.prismatic[last]:  # which moves its centre along the axes it is in line with
        still_open = in_line + still_open
        in_line = []
    if partners:
        found = _by_two(arm, branch.q, partners[-1], last, frames, mark, point)
    else:
        found = [(_by_one(arm, branch.q, last, frames, mark, point), True)]
    grown = []
    for q, is_determined in found:
        q, misfit = _shared(arm, q, last, in_line, k, point)
        undetermined = [] if is_determined else partners[-1:]
        grown.append(_Branch(q, branch.misfit + misfit, undetermined + still_open))
    return grown


def _shared(
    arm: MarkedArm, q: Array, last: int, in_line: list[int], k: int, point: Array
) -> tuple[Array, float]:
    """
    Let revolute joints with the same axis take what a limit of the last has left over.

    For them the last may have to stand at its other limit. Return the misfit, too.
    """

    def misfit(values: Array) -> float:
        return math.dist(arm.marks(frames_of(arm.chain, values))[k], point)

    is_limited = arm.upper[last] - arm.lower[last] < 2.0 * math.pi
    for j in in_line if is_limited else []:
        if misfit(q) <= ON_AXIS * arm.scale:
            break
        trials = [q]
        for end in (arm.lower[last], arm.upper[last]):
            trial = arm.set(q, last, end)
            frames = frames_of(arm.chain, trial)
            trials.append(_by_one(arm, trial, j, frames, arm.marks(frames)[k], point))
        q = min(trials, key=misfit)
    return q, misfit(q) ** 2


def _last_that_moves(arm: MarkedArm, joints: list[int], frames: Frames, mark: Array) -> int | None:
    """Find the last joint that moves a mark: prismatic, or with an axis that the mark is off."""
    for j in reversed(joints):
        x, y, _ = seen_from(frames.after[j], mark)
        if arm.prismatic[j] or arm.is_off_axis(x, y):
            return j
    return None


def _in_line(arm: MarkedArm, frame: Array, other: Array) -> bool:
    """Whether two joints have the same axis."""
    between = inverse(frame) @ other
    x, y, _ = between[:3, 3]
    return math.hypot(between[0, 2], between[1, 2]) < IN_LINE and not arm.is_off_axis(x, y)


def _by_one(arm: MarkedArm, q: Array, j: int, frames: Frames, mark: Array, point: Array) -> Array:
    """Bring a mark as near to its point as one joint can."""
    wanted, on_link = seen_from(frames.before[j], point), seen_from(frames.after[j], mark)
    if arm.prismatic[j]:
        return arm.set(q, j, wanted[2])
    if not arm.is_off_axis(*wanted[:2]):
        return q
    return arm.set(q, j, _turn_between(on_link, wanted))


def _by_two(
    arm: MarkedArm, q: Array, first: int, last: int, frames: Frames, mark: Array, point: Array
) -> list[tuple[Array, bool]]:
    """
    Bring a mark to its point by a revolute joint and a later one with another axis.

    The first moves the mark on a circle about its axis, so the later joint has to bring the mark
    to the height and the distance of the point; that it can in two ways, or not at all, and then
    as nearly as it can. The turn of the first follows, unless the point is on its axis; the
    answers tell whether it is determined.
    """
    wanted, on_link = seen_from(frames.before[first], point), seen_from(frames.after[last], mark)
    between = inverse(frames.after[first]) @ frames.before[last]
    if arm.prismatic[last]:
        values = _displacements_to_distance(between, wanted)
    else:
        values = _turns_to_height(between, on_link, wanted[2])
    found = []
    for value in values:
        new = arm.set(q, last, value)
        x = carried(between @ arm.motion(last, new[last]), on_link)
        is_determined = arm.is_off_axis(*wanted[:2]) and arm.is_off_axis(*x[:2])
        if is_determined:
            new = arm.set(new, first, _turn_between(x, wanted))
        found.append((new, is_determined))
    return found


def _turns_to_height(between: Array, x: Array, height: float) -> tuple[float, float]:
    """Find turns of a joint, its frame `between`, that bring x on its link to a height (z)."""
    cosine_part = between[2, 0] * x[0] + between[2, 1] * x[1]
    sine_part = between[2, 1] * x[0] - between[2, 0] * x[1]
    size = math.hypot(cosine_part, sine_part)
    rest = height - between[2, 2] * x[2] - between[2, 3]
    highest = math.atan2(sine_part, cosine_part)
    aside = math.acos(min(max(rest / size, -1.0), 1.0)) if size > abs(rest) * 1e-300 else 0.0
    return highest - aside, highest + aside


def _displacements_to_distance(between: Array, wanted: Array) -> tuple[float, float]:
    """Find displacements, in frame `between`, that bring its centre as far out as a point."""
    start, along = between[:3, 3], between[:3, 2]
    middle = -float(start @ along)
    aside = math.sqrt(max(0.0, middle**2 - float(start @ start) + float(wanted @ wanted)))
    return middle - aside, middle + aside


def _turn_between(x: Array, y: Array) -> float:
    """Turn about z that brings the direction of x to that of y, seen along z [rad]."""
    return math.atan2(y[1], y[0]) - math.atan2(x[1], x[0])
