"""A way that was planned, as an arm drives it: by the motion that the node has, too."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..collision.checked_pairs import CheckedPairs
from ..collision.guard import CollisionGuard
from ..errors import MotionError
from ..model.mechanism import Mechanism
from ..planning.plan_result import Plan
from ..planning.timed_way import SAME_KNOT
from ..solver.tree_solver import TipOptions
from ..transforms import Array
from .choosing.motion import Motion
from .follower_options import FollowerOptions

LONGEST = 3600.0
"""Longest motion that is driven in advance [s]."""


@dataclass(frozen=True, eq=False)
class DrivenWay:
    """
    Commands of an arm that goes along a way, from rest to rest.

    Attributes
    ----------
    times : array, shape (m,)
        From 0 on [s].
    q : array, shape (m, n)
        Joint values then [rad or m].

    """

    times: Array
    q: Array

    @property
    def duration(self) -> float:
        """Its duration [s]."""
        return float(self.times[-1])

    def at(self, time: npt.ArrayLike) -> Array:
        """Joint values at times [s], shape (n,) or (k, n); before and after, at the ends."""
        return between_commands(self.times, self.q, time)


def between_commands(times: Array, q: Array, time: npt.ArrayLike) -> Array:
    """Joint values at some times, between commands at `times`, (m,), with values `q`, (m, n)."""
    t = np.asarray(time, dtype=np.float64)
    values: Array = np.stack([np.interp(t, times, column) for column in q.T], axis=-1)
    return values


def driven_way(
    arm: Mechanism,
    plan: Plan,
    collision: CheckedPairs | None,
    options: FollowerOptions,
    tips: Mapping[str, TipOptions] | None = None,
) -> DrivenWay:
    """
    Drive a way that was planned.

    Parameters
    ----------
    arm : Chain or Tree
        The arm.
    plan : Plan
        The way.
    collision : CheckedPairs or None
        Knows what collides; None: nothing does.
    options : FollowerOptions
        How the arm moves.
    tips : mapping, optional
        What is asked of the tips of a tree, by tip link.

    Raises
    ------
    MotionError
        If it takes more than an hour.

    """
    if np.all(np.abs(plan.knots - plan.knots[0]) <= SAME_KNOT):
        return DrivenWay(np.zeros(1), plan.knots[:1])
    motion = Motion(
        arm,
        options.limits_for(arm),
        options.solver,
        options.motion,
        tips,
        guard=None if collision is None else CollisionGuard(collision),
        jerk_filter=options.jerk_filter_for(arm),
    )
    motion.warm_up()
    motion.reset(plan.knots[0])
    motion.go_through(plan.knots, plan.straight_room)
    q, dt = [motion.command[0]], 1.0 / options.command_rate
    while not motion.is_at_rest:
        if len(q) * dt > LONGEST:
            raise MotionError(f'the way takes more than {LONGEST:g} s')
        motion.step(dt)
        q.append(motion.command[0])
    return DrivenWay(np.arange(len(q)) * np.float64(dt), np.array(q))
