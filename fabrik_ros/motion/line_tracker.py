"""Steps of the joints along a line: as far as all can follow, and gently at their limits."""

from collections.abc import Callable
import math
from typing import NamedTuple

import numpy as np

from ..kernels.braking import is_within
from ..model.chain import Chain
from ..model.tree import Tree
from ..solver.solution import Solution
from ..solver.tree_solver import is_unconstrained
from ..transforms import Array
from .joint_limiter import CommandGovernor
from .line_reference import largest, LineReference
from .motion_solvers import MotionSolvers

ROUNDING = 5e-4
"""Share by which a step may exceed the limits of the points before it is shortened."""
LEAST = 1e-3
"""Share of the limits that is left to a line, however fast joints catch up with it."""
OFF_LINE = 1e-4
"""Joints that are farther from the line [rad or m] have left it."""
CATCHING_UP = 1e-4
"""Joints that catch up with the line more slowly [rad/s or m/s] are as good as there."""

ToBase = Callable[[Array], Array]
"""Tells poses (..., 4, 4) of the frames they are held in, base or world, in the base frame."""


class LineStep(NamedTuple):
    """What the joints do in a step along a line."""

    answer: Solution
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
        line.cap = min(line.cap, self._share_ahead(line, answer.q, distance))

    def _share_ahead(self, line: LineReference, q_ahead: Array, distance: float) -> float:
        """
        Share of the full speed from which a line can slow down in time for the joint centres.

        They are looked at here, half way to joint values some way [s] ahead, and there.
        """
        tip_speed, mean = self._governor.tip_speed, (q_ahead - line.q) / distance
        middle = tip_speed.largest_share(0.5 * (line.q + q_ahead), mean)
        share = math.sqrt(middle * middle + line.brake * distance)
        if np.any(line.rate):  # a line that has just begun knows none
            share = min(share, tip_speed.largest_share(line.q, line.rate))
            there = tip_speed.largest_share(q_ahead, 2.0 * mean - line.rate)
            share = min(share, math.sqrt(there * there + 2.0 * line.brake * distance))
        return share

    def catch_up(self, line: LineReference, dt: float) -> Array:
        """Velocity of joints that catch up with a line, as far as tips and centres allow."""
        governor = self._governor
        catch_up = governor.catch_up(line.q - governor.q, dt)
        if largest(catch_up) < CATCHING_UP:
            return catch_up
        return catch_up * governor.share_ahead(catch_up, governor.limits.speed_scaling, dt)

    def room_beside(self, line: LineReference, catch_up: Array) -> float:
        """
        Share of the full speed that joints leave to the line that they catch up with.

        Joints that move free tips only are on no line.
        """
        if isinstance(self._arm, Tree) and line.free.any():
            led = np.array([self._arm.moves(tip) for tip in np.flatnonzero(~line.free).tolist()])
            catch_up = np.where(led.any(axis=0), catch_up, 0.0)
        if largest(catch_up) < CATCHING_UP:
            return 1.0
        return max(0.0, 1.0 - self._used_by(catch_up))

    def _used_by(self, velocity: Array) -> float:
        """Share of the limits of tips and joint centres that joint velocities use."""
        governor = self._governor
        return 1.0 / governor.tip_speed.largest_share(governor.q, velocity)

    def stay(self, line: LineReference, dt: float, to_base: ToBase) -> LineStep:
        """Keep the tips where they are, as the base moves."""
        answer = self._solvers.line.solve(to_base(line.T), line.q)
        if not self._solvers.is_on_line(answer):
            return LineStep(answer, None)
        velocity = (answer.q - line.q) / dt
        line.q = answer.q
        return LineStep(answer, velocity)

    def advance(
        self,
        line: LineReference,
        speed: Array,
        catch_up: Array,
        dt: float,
        to_base: ToBase,
        is_carried: bool = False,
    ) -> LineStep:
        """
        Take a step along the line, as far as the joints can follow and the points may go.

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
        is_carried : bool
            Whether a moving base moves the tips in its own frame, however fast it is.

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
            share, allowed = self._shares(line, answer.q, catch_up, dt, is_carried)
            if share > allowed and line.pace > 0.0:
                # The joints cannot turn round so soon: first they slow down where they go.
                speed = line.speed * max(0.0, 1.0 - line.brake * dt)
                T = line.pose_after(speed, dt)
                answer = solvers.line.solve(to_base(T), line.q)
                share, _ = self._shares(line, answer.q, catch_up, dt, is_carried)
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

    def _shares(
        self, line: LineReference, q: Array, catch_up: Array, dt: float, is_carried: bool
    ) -> tuple[float, float]:
        """Share of a step to joint values `q` to take, and greatest one that the points allow."""
        rate = (q - line.q) / dt
        allowed = math.inf if is_carried else self._allowed_share(line, rate, catch_up, dt)
        most = min(1.0, allowed)
        return most * self._governor.followable_share(most * rate, catch_up), allowed

    def _allowed_share(
        self, line: LineReference, rate: Array, catch_up: Array, dt: float
    ) -> float:
        """
        Part of a step that tips and joint centres are allowed; 1 and more if all of it.

        A line that has to slow down to lower limits takes the time that the tip may take for it.
        """
        scaling, velocity = self._governor.limits.speed_scaling, rate + catch_up
        most = max(scaling, line.pace - line.full_gain * dt) * (1.0 + ROUNDING)
        share = most * self._part_allowed(velocity, dt)
        if share >= 1.0 or largest(catch_up) < CATCHING_UP:
            return share
        return max(most - self._used_by(catch_up), LEAST) * self._part_allowed(rate, dt)

    def _part_allowed(self, velocity: Array, dt: float) -> float:
        """Part of a velocity, shape (n,), at which a step reaches a limit of tips or centres."""
        governor = self._governor
        return governor.tip_speed.largest_share(governor.q + 0.5 * dt * velocity, velocity)

    def slowed(self, line: LineReference, velocity: Array, is_off: bool, dt: float) -> Array:
        """
        Velocity that the joints and the points may have, nearest to one wanted for a step.

        Parameters
        ----------
        line : LineReference
            Has taken the step already.
        velocity : array, shape (n,)
            What is wanted [rad/s or m/s].
        is_off : bool
            Whether the joints have left the line, and go their own way until they have caught up.
        dt : float
            Length of the step [s].

        """
        governor = self._governor
        nearest, most = (
            governor.nearest(velocity, dt),
            max(governor.limits.speed_scaling, line.pace),
        )
        if is_off:
            return nearest * governor.share_ahead(nearest, most, dt)
        share = most * (1.0 + ROUNDING) * self._part_allowed(nearest, dt)
        return velocity if share >= 1.0 else nearest * share

    def _eased(
        self,
        line: LineReference,
        pose: Array,
        answer: Solution,
        speed: Array,
        catch_up: Array,
        dt: float,
    ) -> Solution | None:
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

    def _within(self, box: Array, pose: Array, seed: Array) -> Solution | None:
        """Return an answer with joint values in a box, shape (2, n); None if there is none."""
        answer = self._solvers.line.solve_within(pose, seed, *box)
        return answer if self._solvers.is_on_line(answer) else None


def masked(T: Array, T_goal: Array) -> Array:
    """Poses `T` (..., 4, 4), NaN for the tips that have no goal."""
    free = is_unconstrained(T_goal)
    return np.where(free[..., None, None], T_goal, T) if free.any() else T
