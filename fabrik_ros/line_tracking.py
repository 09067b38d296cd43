"""Steps of the joints along a line: as far as all can follow, and gently at their limits."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from .chain import Chain
from .governor import CommandGovernor
from .kernels.braking import is_within
from .motion_solvers import MotionSolvers
from .reference import Answer, is_free, largest, LineReference
from .transforms import Array
from .tree import Tree

CATCHING_UP = 1e-4
"""Joints that catch up with the line more slowly [rad/s or m/s] are as good as there."""

ToBase = Callable[[Array], Array]
"""Tells poses (..., 4, 4) of the frames they are held in, base or world, in the base frame."""


class LineStep(NamedTuple):
    """What the joints do in a step along a line."""

    answer: Answer
    """Where they go, or what shows that the line cannot be followed."""
    velocity: Array | None
    """How fast they have to be for that, shape (n,) [rad/s or m/s]; None where they cannot."""


class LineTracker:
    """
    Keeps the tips of an arm on a line.

    Parameters
    ----------
    arm : Chain or Tree
        The arm, or arms.
    solvers : MotionSolvers
        Find the next joint values.
    governor : CommandGovernor
        Knows what the joints can do.

    """

    def __init__(
        self, arm: Chain | Tree, solvers: MotionSolvers, governor: CommandGovernor
    ) -> None:
        self._arm, self._solvers, self._governor = arm, solvers, governor

    def warm_up(self) -> None:
        """Compile what a step needs beside solvers and governor."""
        mid = self._arm.mid_configuration()
        is_within(np.array([mid, mid]), mid)

    def look_ahead(self, line: LineReference, dt: float, to_base: ToBase) -> None:
        """Slow the reference in time where the line ends or turns hard for a joint."""
        pose, distance = line.pose_ahead(dt)
        if distance == 0.0:
            return
        answer = self._solvers.ahead.solve(to_base(pose), line.q)
        if not self._solvers.is_on_line(answer):
            line.ends_early = answer
            return
        line.heed(answer.q, distance)

    def room_beside(self, line: LineReference, catch_up: Array, dt: float) -> float:
        """
        Share of the full speed that is left for the line while joints catch up with it.

        Parameters
        ----------
        line : LineReference
            Tells which tips are free, and may be as fast as they like.
        catch_up : array, shape (n,)
            Velocity of the joints that catch up [rad/s or m/s].
        dt : float
            Length of the step [s].

        """
        if largest(catch_up) < CATCHING_UP:
            return 1.0
        q = self._governor.q
        T, T_next = map(self._arm.forward_kinematics, (q, q + catch_up * dt))
        ways = np.linalg.norm(T_next[..., :3, 3] - T[..., :3, 3], axis=-1)
        farthest = np.max(np.where(line.free, 0.0, ways))
        return max(0.0, 1.0 - float(farthest) / (self._governor.limits.tip_speed * dt))

    def stay(self, line: LineReference, dt: float, to_base: ToBase) -> LineStep:
        """Keep the tips where they are, as the base moves."""
        answer = self._solvers.line.solve(to_base(line.T), line.q)
        if not self._solvers.is_on_line(answer):
            return LineStep(answer, None)
        velocity = (answer.q - line.q) / dt
        line.q = answer.q
        return LineStep(answer, velocity)

    def advance(
        self, line: LineReference, speed: Array, catch_up: Array, dt: float, to_base: ToBase
    ) -> LineStep:
        """
        Take a step along the line, as far as the joints can follow.

        Parameters
        ----------
        line : LineReference
            Moves on by as much.
        speed : array, shape (..., 6)
            The speed on the line that is wanted.
        catch_up : array, shape (n,)
            Joint velocity that comes on top [rad/s or m/s].
        dt : float
            Length of the step [s].
        to_base : callable
            Poses on the line, in the base frame.

        """
        solvers, T = self._solvers, line.pose_after(speed, dt)
        pose = to_base(T)
        answer = solvers.line.solve(pose, line.q)
        if solvers.is_on_line(answer):
            eased = self._eased(line, pose, answer, speed, catch_up, dt)
            if eased is None and solvers.may_choose:
                speed = line.slower(speed, dt)
                T = line.pose_after(speed, dt)
                pose = to_base(T)
                answer = solvers.line.solve(pose, line.q)
                eased = self._eased(line, pose, answer, speed, catch_up, dt)
            answer = answer if eased is None else eased
            share = self._governor.followable_share((answer.q - line.q) / dt, catch_up)
            if share != 1.0:
                speed = line.shortened(speed * share, dt)
                T = line.pose_after(speed, dt)
                answer = solvers.line.solve(to_base(T), line.q)
        if not solvers.is_on_line(answer):
            return LineStep(answer, None)
        velocity = (answer.q - line.q) / dt
        line.advance(speed, dt, T, answer.q)
        if line.jog is not None and np.any(speed[..., 3:]):
            # Where the orientation yields, the reference must not turn away from the tip.
            line.T = masked(self._arm.forward_kinematics(answer.q), line.T)
        return LineStep(answer, velocity)

    def _eased(
        self,
        line: LineReference,
        pose: Array,
        answer: Answer,
        speed: Array,
        catch_up: Array,
        dt: float,
    ) -> Answer | None:
        """
        Return an answer for which every joint comes to its limit gently; None if there is none.

        Where a spare joint ran into its limit the others would have to take over at once. Where
        the line stands still, none swings past where it is to be.
        """
        box = self._governor.gentle_box(line.q, catch_up, dt)
        if is_within(box, answer.q):
            return answer
        if not np.any(speed):
            settling = self._within(self._settling_box(line.q, answer.q, box, dt), pose, line.q)
            if settling is not None:
                return settling
        return self._within(box, pose, line.q)

    def _settling_box(self, q: Array, q_end: Array, box: Array, dt: float) -> Array:
        """Part of a box, shape (2, n), from which joints can still come to rest at `q_end`."""
        way = self._governor.catch_up(q_end - q, dt) * dt
        return np.clip([q + np.minimum(way, 0.0), q + np.maximum(way, 0.0)], *box)

    def _within(self, box: Array, pose: Array, seed: Array) -> Answer | None:
        """Return an answer with joint values in a box, shape (2, n); None if there is none."""
        answer = self._solvers.line.solve_within(pose, seed, *box)
        return answer if self._solvers.is_on_line(answer) else None


def masked(T: Array, T_goal: Array) -> Array:
    """Poses `T` (..., 4, 4), NaN for the tips that have no goal."""
    free = is_free(T_goal)
    return np.where(free[..., None, None], T_goal, T) if free.any() else T
