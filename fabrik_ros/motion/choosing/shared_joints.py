"""
Tips that share joints, in a stream: led together, or each by the joints that are its own.

Together a torso serves all hands. Where one of them is blocked, or cannot reach its target, the
joints that it shares come to rest, so that no other one drags it along, and the others follow with
their own. Once none is blocked, and all can be where they are to be, they go together again.

"""

from collections.abc import Sequence

import numpy as np

from ...transforms import Array
from ..limits.joint_limiter import JointLimiter
from ..lines.line_reference import LineReference
from .arm_apart import ArmApart, Numbers
from .goal import Goal

SHORTEST_TIME_APART, LONGEST_TIME_APART = 0.5, 8.0
"""Tips stay apart for so long before they try to go together; longer, if they part at once [s]."""

TRUNK_SHARE = 0.3
"""Share of the acceleration with which shared joints stop: others have to make up for it [1]."""


class SharedJoints:
    """
    One or more tips with all joints that any of them shares with another.

    Parameters
    ----------
    limiter : JointLimiter
        Knows what all joints can do.
    together : ArmApart
        All the tips as one arm.
    apart : sequence of ArmApart
        Each tip as an arm of its own joints; none where they cannot part.

    Attributes
    ----------
    arms : list of ArmApart
        Those that are led now.
    joints, trunk : array of int
        The numbers of all their joints, and of those that no tip has for itself.

    """

    def __init__(
        self, limiter: JointLimiter, together: ArmApart, apart: Sequence[ArmApart]
    ) -> None:
        self._limiter, self._together, self._apart = limiter, together, list(apart)
        self.joints: Numbers = together.joints
        own = [together.own] if not apart else [arm.own for arm in apart]
        self.trunk: Numbers = np.setdiff1d(self.joints, np.concatenate(own))
        self.forget()

    @property
    def all_arms(self) -> list[ArmApart]:
        """All arms, whether they are led now or not."""
        return [self._together, *self._apart]

    def forget(self) -> None:
        """Have no goals."""
        for arm in self.all_arms:
            arm.forget()
        self._goal: Goal | None = None
        self.arms = [self._together]
        self._since, self._patience = 0.0, SHORTEST_TIME_APART
        self._trunk_moves = False

    def begin(self) -> None:
        """Begin anew where the joints are."""
        self._since = 0.0
        for arm in self.arms:
            arm.begin()

    def head_for(self, goal: Goal) -> None:
        """Head for their part of a goal of all tips."""
        self._goal = goal
        for arm in self.arms:
            arm.head_for(goal)

    def write_velocity(self, dt: float, velocity: Array) -> None:
        """Write what is wanted of their joints among the velocities of all, shape (n,)."""
        if not self._are_apart:
            line = self._together.line
            self._together.write_velocity(dt, velocity)
            if not (self._is_short or self._holds_up) or not self.part(line):
                return
        stopping = self._limiter.joints.stopping_velocity(dt, self.trunk, TRUNK_SHARE)
        velocity[self.trunk] = stopping[self.trunk]
        for arm in self.arms:
            arm.write_velocity(dt, velocity)

    @property
    def _is_short(self) -> bool:
        together, line = self._together, self._together.line
        ends_early = line is not None and line.ends_at is not None
        return ends_early or together.is_blocked or together.reason is not None

    @property
    def _holds_up(self) -> bool:
        """Whether one tip holds up another, for longer than since they went together again."""
        may_part = bool(self._apart) and self._since >= self._patience
        return may_part and self._together.holds_up(self._apart, self.trunk)

    @property
    def _are_apart(self) -> bool:
        return self.arms is self._apart

    def may_part(self, goal: Goal) -> bool:
        """Whether there are two tips or more that have targets, and joints of their own."""
        return bool(self._apart and goal.is_target[self._together.tips].sum() > 1)

    def part(self, line: LineReference | None = None) -> bool:
        """
        Lead each tip by its own joints from now on; tell whether that is new.

        Each goes on along the line that all were on before, if that is given.
        """
        goal = self._goal
        if self._are_apart or goal is None or not self.may_part(goal):
            return False
        at_once = self._since < 2.0 * self._patience
        longer = min(2.0 * self._patience, LONGEST_TIME_APART)
        self._patience = longer if at_once else SHORTEST_TIME_APART
        line = line or self._together.line
        if line is not None:
            for arm in self._apart:
                arm.take_line(line, self._together)
        self._lead(self._apart, goal)
        return True

    def _lead(self, arms: list[ArmApart], goal: Goal) -> None:
        for arm in self.arms:
            arm.forget()
        self.arms, self._since = arms, 0.0
        for arm in arms:
            arm.head_for(goal)

    def end_step(self) -> None:
        """Take note that a step is over: tips that are apart may go together again."""
        for arm in self.arms:
            arm.end_step()
        trunk_moved, self._trunk_moves = self._trunk_moves, not self._limiter.rests(self.trunk)
        if self._are_apart and trunk_moved and not self._trunk_moves:
            for arm in self.arms:
                arm.aim_again()
        self._since += self._limiter.joints.dt
        if self._are_apart and self._goal is not None and self._may_join(self._goal):
            self._lead([self._together], self._goal)

    def _may_join(self, goal: Goal) -> bool:
        """Whether no tip is blocked, and all can be where they are to be."""
        if any(arm.would_collide for arm in self.arms):
            self._since = 0.0
        if self._since < self._patience:
            return False
        if not all(arm.reason is None or arm.has_new_goal for arm in self.arms):
            return False
        self._since = 0.0
        for arm in self.arms:
            arm.has_new_goal = False
        return self._together.is_within_reach(goal)
