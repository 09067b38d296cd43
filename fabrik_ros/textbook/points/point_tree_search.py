"""
What `PointTree.solve` does around its two passes: aims within reach, help, new starts.

The papers run the two passes in turn until the tips arrive or stand still. With tight limits that
ends short of many targets that could be reached: the passes creep, or come to rest. So where they
do not get on, they are helped in two ways, both cheap:

- the tree is turned as a whole about its base, its tips towards their targets. A pass turns the
  first bone by the next point alone, and a chain too stiff to follow its first bone comes to rest
  bent to one side, with its tip far off on the other;
- the tips are led: they aim past their targets by what they missed them by in the iterations
  before, the more recent the more, which overcomes the limits that hold them back.

What is stuck even so is pushed aside, each time to another side, as a point chain that is straight
with its target on its line: neither pass leaves a line.

These functions are part of `PointTree` and work on its inside, which is always in space.

"""

from __future__ import annotations

from dataclasses import dataclass, field
import math
from typing import Generic

import numpy as np

from .bone_frames import angle_between, framed, turned_to
from .point_chain import Array, PointStatus, PUSH, STALL_FRACTION, unit
from .point_tree_checks import Goal, Goals
from .point_tree_passes import centroid, PointTreePasses, TreeT

ORIENTATION_RADIUS = 0.15
"""An orientation counts as a point this far from the tip, as a share of its reach [1/rad]."""

HALF, IDLE_ITERATIONS, MOST_IDLE_ITERATIONS = 0.5, 10, 50
"""Passes that do not halve the residual in 10 iterations are helped, in 50 more begun anew."""

MEMORY = 0.8
"""What is left of a lead after an iteration."""


@dataclass(frozen=True, eq=False)
class Task:
    """What a solve is asked for."""

    goals: Goals
    position_tolerance: float
    orientation_tolerance: float
    free_base: bool

    def is_met(self, tree: PointTreePasses, goals: Goals) -> bool:
        """Whether every tip is on its goal within the tolerances."""
        return max(residuals(tree, goals).values()) <= self.position_tolerance and all(
            angle <= self.orientation_tolerance
            for angle in orientation_residuals(tree, goals).values()
        )


def residuals(tree: PointTreePasses, goals: Goals) -> dict[int, float]:
    """Measure the distances from tips to goals."""
    return {tip: math.dist(tree._points[tip], goal.point) for tip, goal in goals.items()}


def orientation_residuals(tree: PointTreePasses, goals: Goals) -> dict[int, float]:
    """Measure the angles between last bones and goals that have a rotation [rad]."""
    return {
        tip: angle_between(tree.frames[tip], goal.rotation)
        for tip, goal in goals.items()
        if goal.rotation is not None
    }


def weighted_residual(tree: PointTreePasses, goals: Goals) -> float:
    """Take the weighted mean of residuals; a radian counts `ORIENTATION_RADIUS` times reach."""
    total = sum(tree.weights[tip] * distance for tip, distance in residuals(tree, goals).items())
    for tip, angle in orientation_residuals(tree, goals).items():
        total += tree.weights[tip] * ORIENTATION_RADIUS * tree.reach(tip) * angle
    return total / sum(tree.weights[tip] for tip in goals)


def within_reach(tree: PointTreePasses, task: Task) -> tuple[Goals, PointStatus | None]:
    """Pull goals to the boundary of the reach of their tips; tell if any had to be."""
    if task.free_base:
        return task.goals, None
    aims, status = dict(task.goals), None
    base = tree._points[0]
    for tip, goal in task.goals.items():
        reach, inner_reach = tree.reach(tip), tree.inner_reach(tip)
        distance = math.dist(base, goal.point)
        if distance > reach + task.position_tolerance:
            status = PointStatus.TOO_FAR
        elif distance < inner_reach - task.position_tolerance:
            status = status or PointStatus.TOO_NEAR
        else:
            continue
        boundary = min(max(distance, inner_reach), reach)
        aims[tip] = Goal(base + boundary * direction_to(tree, task.goals, tip), goal.rotation)
    return aims, status


def direction_to(tree: PointTreePasses, goals: Goals, tip: int) -> Array:
    """Look from the base to a goal; if that is the base, to the tip; else straight on."""
    base = tree._points[0]
    return unit(goals[tip].point - base, tree._points[tip] - base, tree.frames[0, :, 2])


@dataclass
class Search(Generic[TreeT]):
    """The iterations of one solve, and the best state they have seen."""

    task: Task
    aims: Goals
    max_iterations: int
    best: TreeT
    least: float = math.inf
    iterations: int = 0
    status: PointStatus | None = None
    """None while it is not over."""

    def run(self) -> PointStatus:
        """Iterate from the best state until tips are on their aims or nothing helps."""
        start = self.best
        self._note(start)
        stuck = self._iterate(start, Progress(self.aims))
        for side in range(2 * (start.dimension - 1)):
            if self.status is None:
                self._iterate(pushed_aside(stuck, self.aims, side), Progress(self.aims))
        if self.status is None:
            # Help overshoots what cannot be had: let the best state come to rest without.
            self._iterate(self.best, Progress(self.aims, patience=math.inf))
        return self.status or PointStatus.STALLED

    def _iterate(self, state: TreeT, progress: Progress) -> TreeT:
        """Make iterations until it is over, or they get on no more; return the last state."""
        while self.status is None and not progress.ended:
            if self.iterations == self.max_iterations:
                self.status = PointStatus.ITERATION_LIMIT
                break
            self.iterations += 1
            before = state
            if progress.helped:
                state = turned_towards(state, self.aims)
            state = self._iterated(state, progress.led)
            self._note(state)
            moved = float(np.abs(state._points - before._points).max())
            at_rest = moved <= STALL_FRACTION * self.task.position_tolerance
            progress.note(state, at_rest)
        return state

    def _iterated(self, state: TreeT, aims: Goals) -> TreeT:
        """Make one pass each way."""
        reached = state._tip_to_base(aims)
        return reached._base_to_tip((reached if self.task.free_base else state)._points[0])

    def _note(self, state: TreeT) -> None:
        """Keep a state if it is the best so far; see whether it is where it should be."""
        goals = self.task.goals
        residual = weighted_residual(state, goals)
        if residual < self.least or self.task.is_met(state, goals):
            self.best, self.least = state, residual
        if self.task.is_met(state, self.aims):
            self.status = PointStatus.CONVERGED


@dataclass
class Progress:
    """How a run of passes gets on: when it wants help, when it is at its end."""

    aims: Goals
    patience: float = IDLE_ITERATIONS
    """Iterations that need not halve the residual; if infinite, there is no help."""
    led: Goals = field(init=False)
    """The aims, and what they lead the tips by."""
    helped: bool = False
    ended: bool = False
    mark: float = math.inf
    waiting: int = 0

    def __post_init__(self) -> None:
        self.led = self.aims

    def note(self, state: PointTreePasses, at_rest: bool) -> None:
        """Take note of the state after an iteration, and whether it is still moving."""
        residual = weighted_residual(state, self.aims)
        self.waiting += 1
        if residual <= HALF * self.mark:
            self.mark, self.waiting = residual, 0
        if self.patience == math.inf:
            self.ended = at_rest
        elif self.helped:
            self.ended = self.waiting >= (self.patience if at_rest else MOST_IDLE_ITERATIONS)
            self.led = {tip: self._led(tip, state) for tip in self.aims}
        elif at_rest or self.waiting >= self.patience:
            self.helped, self.waiting = True, 0

    def _led(self, tip: int, state: PointTreePasses) -> Goal:
        """Aim past an aim by what the tip has missed it by."""
        aim = self.aims[tip]
        lead = MEMORY * (self.led[tip].point - aim.point) + aim.point - state._points[tip]
        return Goal(aim.point + lead, aim.rotation)


def turned_towards(tree: TreeT, aims: Goals) -> TreeT:
    """Turn a tree as a whole about its base, its tips towards their aims in the mean."""
    points, root = tree._points, tree.frames[0]
    base = points[0]
    weights = [tree.weights[tip] for tip in aims]
    tips = centroid([points[tip] for tip in aims], weights)
    wanted = centroid([aim.point for aim in aims.values()], weights)
    along, towards = unit(tips - base), unit(wanted - base)
    if not (along.any() and towards.any()):
        return tree
    # In the plane a turn has to be about the normal, also where it is half a turn.
    frame = framed(root[:, 0] if tree.dimension == 2 else square_to(tree, along), along)
    turn = turned_to(frame, towards) @ frame.T
    frames = turn @ tree.frames
    frames[0] = root
    return tree._moved_to(base + (points - base) @ turn.T, frames)._base_to_tip(base)


def pushed_aside(tree: TreeT, aims: Goals, side: int) -> TreeT:
    """
    Push inner points square to the line from the base to the aim that is missed by most.

    Side 0 is nearest to an axis of the root orientation, the same every time, and turned with the
    tree; 1 is opposite, and in space 2 and 3 are square to both.
    """
    missed = residuals(tree, aims)
    along = direction_to(tree, aims, max(missed, key=lambda tip: missed[tip]))
    sideways = square_to(tree, along)
    if side >= 2:
        sideways = np.cross(along, sideways)
    if side % 2:
        sideways = -sideways
    points = tree._points.copy()
    inner = sorted(set(tree.parents) - {-1, 0})
    points[inner] += PUSH * tree.bone_lengths.sum() * sideways
    return tree._moved_to(points, tree.frames.copy())._base_to_tip(points[0])


def square_to(tree: PointTreePasses, along: Array) -> Array:
    """Give the direction square to a unit vector that is nearest to an axis of the root."""
    axes = tree.frames[0].T[3 - tree.dimension :]
    axis = axes[np.argmin(np.abs(axes @ along))]
    return unit(axis - (axis @ along) * along)
