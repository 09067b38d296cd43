"""
One of several arms in a stream: its line, and what is in its way.

What it is to do it does as `Motion` does for all joints: by a `GoalPursuit` of its own. The last
stage is that of all joints.

"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from ...model.tree import Tree
from ...reasons import Reason
from ...solver.options import SolverOptions
from ...solver.tree_solver import is_unconstrained, TipOptions
from ...transforms import Array
from ..limits.joint_limiter import JointLimiter
from ..limits.limits import MotionLimits
from ..lines.goal_frame import GoalFrame
from ..lines.line_reference import LineReference
from ..lines.pinned_joints import PinnedJoints
from ..paths.path import Path
from .goal import Goal, MotionOptions
from .goal_pursuit import GoalPursuit

Numbers = npt.NDArray[np.intp]
HELD_UP = 0.35
"""Share of speed or acceleration, or less, that is left to tips that are held up [1]."""
STRAINED = 0.5
"""Share of the greatest effort from which on shared joints hold up the tips [1]."""
FREE_STEPS = 5
"""Steps after which an arm no longer counts as blocked [1]: in front of an obstacle it creeps."""


class ArmApart:
    """
    One of the arms: where it is to be, its line there, and what is in its way.

    Parameters
    ----------
    whole : JointLimiter
        Knows where all joints are, and what they can do.
    frame : GoalFrame
        Knows where the world is.
    robot : Tree
        The arm alone.
    tips : sequence of int
        The numbers of its tips among all.
    pinned : array of bool, shape (m,)
        Which of its joints others move.
    solver_options, options, tip_options
        As for `GoalPursuit`, of all arms.

    Attributes
    ----------
    tips : array of int, shape (k,)
        As above.
    joints, own : array of int
        The numbers, among all, of its joints, and of those that it moves.
    path : Path or None
        What it follows; None where it stands, or comes to rest.
    is_held : bool
        Whether it was held back, as it would collide: its next goal waits until it rests.
    is_blocked : bool
        Whether it stands, or comes to rest, in front of something.
    would_collide : bool
        Whether that is a collision.
    has_new_goal : bool
        Whether it was sent elsewhere since that was last asked.
    reason : Reason or None
        Why it stands, or will stand, short of its goal.

    """

    def __init__(
        self,
        whole: JointLimiter,
        frame: GoalFrame,
        robot: Tree,
        tips: Sequence[int],
        pinned: npt.NDArray[np.bool_],
        solver_options: SolverOptions,
        options: MotionOptions,
        tip_options: Mapping[str, TipOptions] | None,
    ) -> None:
        self._whole, self._whole_frame, self._robot = whole, frame, robot
        self.tips: Numbers = np.array(tips)
        self.joints = np.array([whole.robot.joint_names.index(j) for j in robot.joint_names])
        self._is_own = ~pinned
        self.own: Numbers = self.joints[self._is_own]
        self._pinned = PinnedJoints(pinned, robot.mid_configuration())
        self._limits = whole.joints.limits
        self._limiter = JointLimiter(robot, self._part_of(self._limits))
        self._frame = GoalFrame(robot)
        self._pursuit = GoalPursuit(
            robot,
            self._limiter,
            self._frame,
            None,
            *self._options_of(solver_options, options, tip_options),
            pinned=self._pinned if pinned.any() else None,
        )
        self.forget()

    def _part_of(self, limits: MotionLimits) -> MotionLimits:
        velocity, acceleration = limits.joint_velocity, limits.joint_acceleration
        return replace(
            limits,
            joint_velocity=velocity[self.joints],
            joint_acceleration=acceleration[self.joints],
        )

    def _options_of(
        self,
        solver_options: SolverOptions,
        options: MotionOptions,
        tip_options: Mapping[str, TipOptions] | None,
    ) -> tuple[SolverOptions, MotionOptions, Mapping[str, TipOptions]]:
        posture = solver_options.posture
        if posture is not None:
            own = tuple(posture[j] for j in self.joints)
            solver_options = replace(solver_options, posture=own)
        asked = tip_options or {}
        own_tips = {link: asked[link] for link in self._robot.tip_links if link in asked}
        return solver_options, options, own_tips

    def change(
        self,
        solver_options: SolverOptions,
        options: MotionOptions,
        tip_options: Mapping[str, TipOptions] | None,
    ) -> None:
        """Go on with other options."""
        self._pursuit.change(*self._options_of(solver_options, options, tip_options))

    def forget(self) -> None:
        """Have no goal."""
        self._pursuit.forget()
        self._goal: Goal | None = None
        self.path: Path | None = None
        self._kept: Path | None = None
        """Path in the world at the end of which it rests, until the base moves."""
        self.is_held = self.is_blocked = self.would_collide = self.has_new_goal = False
        self.reason: Reason | None = None
        self._free_steps, self._waits_for_rest = 0, False

    @property
    def line(self) -> LineReference | None:
        """The line that it is on; None where there is none."""
        line = None if self.path is None else self.path.reference
        return line if isinstance(line, LineReference) else None

    def take_line(self, line: LineReference, other: 'ArmApart') -> None:
        """Go on along a line on which its tips are parts of another arm."""
        tips, joints = other.tips.tolist(), other.joints.tolist()
        q = line.q[[joints.index(j) for j in self.joints.tolist()]]
        own = np.array([tips.index(t) for t in self.tips.tolist()])
        part = line.part(own, q)
        self._take_over()
        self._frame.hold(other._frame.in_world[own])
        self.path = self._pursuit.go_on(part)

    def holds_up(self, tips: 'Sequence[ArmApart]', trunk: Numbers) -> bool:
        """
        Whether a tip has to go slowly for the sake of others.

        Their own joints, or those that all share, need much more of what they have than its own.
        """
        line = self.line
        if line is None or not line.has_left:
            return False
        if min(line.acceleration / line.full_acceleration, line.greatest_share) > HELD_UP:
            return False
        efforts = np.zeros(len(self._whole.robot))
        efforts[self.joints] = np.abs(line.rate) / self._limiter.joints.limits.joint_acceleration
        least = min(float(efforts[tip.own].max()) for tip in tips)
        most = float(efforts.max())
        return least < HELD_UP * most or float(efforts[trunk].max()) > STRAINED * most

    def begin(self) -> None:
        """Begin anew where the arm is; one that is blocked stays so until its goal changes."""
        if self.is_blocked:
            self._pursuit.resolve_no_more()
            self.path = None
        else:
            self.forget()

    def warm_up(self) -> None:
        """Compile what it needs."""
        self._limiter.warm_up()
        self._pursuit.warm_up()

    def take_time(self) -> None:
        """Take note that nothing moved for a while."""
        self._pursuit.take_time()

    @property
    def named_reason(self) -> Reason | None:
        """The reason with the names of the tips; None where there is none."""
        names = ', '.join(map(repr, self._robot.tip_links))
        return self.reason and replace(self.reason, text=f'{names}: {self.reason}', place=None)

    @property
    def tip_reasons(self) -> Iterator[tuple[int, Reason | None]]:
        """Numbers of its tips, and the reason of each."""
        short = self._pursuit.falls_short
        for t, is_short in zip(self.tips.tolist(), short, strict=True):
            yield t, self.reason if is_short else None

    def _take_over(self) -> None:
        """Take note of where joints and world are, and what the joints may do now."""
        whole, joints = self._whole.joints, self._limiter.joints
        if self._limits is not whole.limits:
            self._limits = whole.limits
            joints.change_limits(self._part_of(self._limits))
        joints.q, joints.velocity = whole.q[self.joints], whole.velocity[self.joints]
        joints.dt, joints.delay = whole.dt, whole.delay
        self._frame.base = self._whole_frame.base
        self._pinned.q = joints.q

    # -- what its path does

    def head_for(self, goal: Goal) -> None:
        """Head for its part of a goal, if that is another one than before."""
        tips, before = self.tips, self._goal
        self._goal = Goal(goal.T[tips], goal.in_world[tips], goal.is_target[tips])
        if before is not None and self._goal.is_same(before):
            return
        self._take_over()
        self.has_new_goal = True
        self._waits_for_rest = self.is_held
        if not self._waits_for_rest:
            self._set_out(self._goal)

    def _set_out(self, goal: Goal) -> None:
        self._kept = None
        if np.all(is_unconstrained(goal.T)):
            self.path = None
            return
        pursuit, path = self._pursuit, self.path
        self.path = pursuit.follow_on(goal, path) or pursuit.set_out(goal, path)
        if self.path is None:
            self.reason = pursuit.reason

    def write_velocity(self, dt: float, velocity: Array) -> None:
        """
        Write what is wanted of its joints in the next step: on its path, or to rest.

        Parameters
        ----------
        dt : float
            Length of the step [s].
        velocity : array, shape (n,)
            Of all joints [rad/s or m/s]; that of the joints that it does not move is known.

        """
        self._take_over()
        self._pinned.q = self._pinned.q + dt * velocity[self.joints]
        velocity[self.own] = self._velocity(dt)[self._is_own]

    def _velocity(self, dt: float) -> Array:
        self._limiter.begin_step(dt)
        self._pursuit.pass_time(dt)
        if self._waits_for_rest and self._goal is not None and self._whole.rests(self.own):
            self._waits_for_rest = False
            self._set_out(self._goal)
        if self._kept is not None and self._frame.moves:
            self.path, self._kept = self._kept, None
        self.look_ahead(dt)
        while self.path is not None:
            velocity = self.path.velocity(dt)
            if velocity is not None:
                return velocity
            self._leave(self.path)
        return self._limiter.joints.stopping_velocity(dt, self._is_own)

    def _leave(self, path: Path) -> None:
        """Take another path where one is blocked, or come to rest."""
        self.path = self._pursuit.joined_later(path)
        if self.path is None:
            self._pursuit.resolve_no_more()
            self._is_blocked_by(path.blocked)

    def _is_blocked_by(self, reason: Reason | None) -> None:
        self.is_blocked, self.reason, self._free_steps = True, reason, 0

    def hold(self, refusal: str) -> None:
        """Come to rest, as it would collide; it sets out again for another goal."""
        self._is_blocked_by(self._pursuit.reason_in_front(refusal))
        self._pursuit.resolve_no_more()
        self.path = self._kept = None
        self.is_held = self.would_collide = True

    def look_ahead(self, dt: float) -> None:
        """Resolve its goal in time, and look where its path leads."""
        self._pursuit.resolve_in_time()
        self._pursuit.look_ahead(self.path, dt)

    def end_step(self) -> None:
        """Take note that a step is over."""
        path = self.path
        if path is None:
            return
        self._take_over()
        path.end_step()
        has_arrived = self._pursuit.has_arrived(path)
        self.is_held = False
        self._free_steps += 1
        if has_arrived or self._free_steps >= FREE_STEPS:
            self.is_blocked = self.would_collide = False
            self.reason = path.reason
        if has_arrived:
            path.lose_speed()
            self._kept = path if path.stays_in_world else None
            self.path = None if path.then is None else path.then()

    @property
    def is_at_goal(self) -> bool:
        """Whether it rests, or does no more than follow the base."""
        return self.path is None or self.path.is_at_goal

    def lose_speed(self) -> None:
        """Take note that the joints stand, or brake on their own."""
        if self.path is not None:
            self.path.lose_speed()

    def aim_again(self) -> None:
        """Find its goal again, if that is joint values: the joints that others move rest now."""
        path = self.path
        if self._goal is not None and path is not None and path.reference is None:
            self._take_over()
            self._set_out(self._goal)

    def come_back(self) -> None:
        """Take note that its joints are where they were before: it may have to arrive again."""
        self.lose_speed()
        if self._goal is not None and self.path is None and not self.is_blocked:
            self._take_over()
            self._set_out(self._goal)

    def is_within_reach(self, goal: Goal) -> bool:
        """Whether its part of a goal of all arms can be met by joint values near those of now."""
        self._take_over()
        self._frame.hold(goal.in_world[self.tips])
        return self._pursuit.is_within_reach(goal.T[self.tips])

    def change_limits(self, limits: MotionLimits) -> None:
        """Keep to other limits, given for all joints."""
        for path in self._paths:
            path.change_limits(self._part_of(limits))

    def scale_speed(self, share: float) -> None:
        """Go at another share of all speeds, 0 to 1."""
        for path in self._paths:
            path.scale_speed(share)

    @property
    def _paths(self) -> list[Path]:
        return [path for path in (self.path, self._kept) if path is not None]
