"""
Arms of a tree that share no joints, each on a line of its own.

Targets that come once are gone to together: the references of all tips travel on one line. Those
of streams come from several hands, and what is in the way of one hand must not stop the others.
So an arm that moves no joint of another one has its own line in a stream, as if it were alone.
Where something is in its way it stops there, and the others go on.

"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import numpy.typing as npt

from ..model.mechanism import Mechanism
from ..model.tree import Tree
from ..reasons import joined, Reason, ReasonKind
from ..solver.options import SolverOptions
from ..solver.tree_solver import is_unconstrained, TipOptions
from ..transforms import Array
from .goal import Goal, MotionOptions
from .goal_frame import GoalFrame
from .goal_pursuit import GoalPursuit
from .joint_limiter import JointLimiter
from .limits import MotionLimits
from .path import Path
from .path_choice import IN_STREAM

Numbers = npt.NDArray[np.intp]
FREE_STEPS = 5
"""Steps after which an arm no longer counts as blocked [1]: in front of an obstacle it creeps."""


class ArmApart:
    """
    One of the arms: where it is to be, its line there, and what is in its way.

    Parameters
    ----------
    whole : JointLimiter
        Knows where all joints are, and what they can do.
    robot : Tree
        The arm alone.
    tips, joints : array of int
        The numbers of its tips and joints among all.
    solver_options, options, tip_options
        As for `GoalPursuit`, of all arms.

    Attributes
    ----------
    joints : array of int
        As above.
    path : Path or None
        What it follows; None where it stands, or comes to rest.
    is_held : bool
        Whether it was held back, as it would collide: its next goal waits until it rests.
    is_blocked : bool
        Whether it stands, or comes to rest, in front of something.
    reason : Reason or None
        Why it stands, or will stand, short of its goal.

    """

    def __init__(
        self,
        whole: JointLimiter,
        robot: Tree,
        tips: Numbers,
        joints: Numbers,
        solver_options: SolverOptions,
        options: MotionOptions,
        tip_options: Mapping[str, TipOptions] | None,
    ) -> None:
        self._whole, self._robot, self._tips, self.joints = whole, robot, tips, joints
        self._limits = whole.joints.limits
        self._limiter = JointLimiter(robot, self._part_of(self._limits))
        self._pursuit = GoalPursuit(
            robot,
            self._limiter,
            GoalFrame(robot),
            None,
            *self._options_of(solver_options, options, tip_options),
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
        self.is_held = self.is_blocked = False
        self.reason: Reason | None = None
        self._free_steps, self._waits_for_rest = 0, False

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

    def take_over(self) -> None:
        """Take note of where its joints are, and what they may do now."""
        whole, joints = self._whole.joints, self._limiter.joints
        if self._limits is not whole.limits:
            self._limits = whole.limits
            joints.change_limits(self._part_of(self._limits))
        joints.q, joints.velocity = whole.q[self.joints], whole.velocity[self.joints]
        joints.dt, joints.delay = whole.dt, whole.delay

    # -- what its path does

    def head_for(self, goal: Goal) -> None:
        """Head for its part of a goal, if that is another one than before."""
        tips, before = self._tips, self._goal
        self._goal = Goal(goal.T[tips], goal.in_world[tips], goal.is_target[tips])
        if before is not None and np.array_equal(before.T, self._goal.T, equal_nan=True):
            return
        self.take_over()
        self._waits_for_rest = self.is_held
        if not self._waits_for_rest:
            self._set_out(self._goal)

    def _set_out(self, goal: Goal) -> None:
        if np.all(is_unconstrained(goal.T)):
            self.path = None
            return
        pursuit, path = self._pursuit, self.path
        self.path = pursuit.follow_on(goal, path) or pursuit.set_out(goal, path)
        if self.path is None:
            self.reason = pursuit.reason

    def velocity(self, dt: float) -> Array:
        """Joint velocity that is wanted in the next step, shape (m,): on its path, or to rest."""
        self.take_over()
        self._limiter.begin_step(dt)
        self._pursuit.pass_time(dt)
        if self._waits_for_rest and self._goal is not None and self._limiter.joints.is_still:
            self._waits_for_rest = False
            self._set_out(self._goal)
        self.look_ahead(dt)
        while self.path is not None:
            velocity = self.path.velocity(dt)
            if velocity is not None:
                return velocity
            self._leave(self.path)
        return self.stopping_velocity(dt)

    def stopping_velocity(self, dt: float) -> Array:
        """Joint velocity on the way to rest, shape (m,)."""
        return self._limiter.joints.stopping_velocity(dt)

    def _leave(self, path: Path) -> None:
        """Take another path where one is blocked, or come to rest."""
        self._pursuit.resolve_pending()
        self.path = self._pursuit.joined_later(path)
        if self.path is None:
            self._pursuit.resolve_no_more()
            self.is_blocked, self.reason, self._free_steps = True, path.blocked, 0

    def hold(self, refusal: str) -> None:
        """Come to rest, as it would collide; it sets out again for another goal."""
        if self._pursuit.may_search:
            self._pursuit.resolve_pending()
        self._pursuit.resolve_no_more()
        ahead = Reason(ReasonKind.COLLISION_AHEAD, f'collision ahead: {refusal}')
        self.path, self.reason = None, joined((self._pursuit.reason, ahead))
        self.is_held = self.is_blocked = True
        self._free_steps = 0

    def look_ahead(self, dt: float) -> None:
        """Resolve its goal in time, and look where its path leads."""
        if self._pursuit.is_due:
            self._pursuit.resolve_pending()
        path = self.path
        if path is not None and path.look_ahead(dt) and self._pursuit.resolve_pending():
            path.look_again(dt)

    def end_step(self) -> None:
        """Take note that a step is over."""
        path = self.path
        if path is None:
            return
        self.take_over()
        path.end_step()
        if path.has_arrived():
            self._pursuit.resolve_pending()  # this may change the goal of the path
        self.is_held = False
        self._free_steps += 1
        has_arrived = path.has_arrived()
        if has_arrived or self._free_steps >= FREE_STEPS:
            self.is_blocked, self.reason = False, path.reason
        if has_arrived:
            path.lose_speed()
            self.path = None if path.then is None else path.then()

    def lose_speed(self) -> None:
        """Take note that the joints stand, or brake on their own."""
        if self.path is not None:
            self.path.lose_speed()

    def come_back(self) -> None:
        """Take note that its joints are where they were before: it may have to arrive again."""
        self.lose_speed()
        if self._goal is not None and self.path is None and not self.is_blocked:
            self.take_over()
            self._set_out(self._goal)

    def change_limits(self, limits: MotionLimits) -> None:
        """Keep to other limits, given for all joints."""
        if self.path is not None:
            self.path.change_limits(self._part_of(limits))

    def scale_speed(self, share: float) -> None:
        """Go at another share of all speeds, 0 to 1."""
        if self.path is not None:
            self.path.scale_speed(share)


class LinesApart(Path):
    """
    Each arm on its line; over once all are at their goals, or stand where something is in the way.

    Parameters
    ----------
    arms : sequence of ArmApart
        The arms.
    limiter : JointLimiter
        Knows what all joints can do.

    """

    follows_tips = True

    def __init__(self, arms: Sequence[ArmApart], limiter: JointLimiter) -> None:
        super().__init__()
        self._arms, self._limiter = arms, limiter

    @property
    def _leading(self) -> list[ArmApart]:
        return [arm for arm in self._arms if arm.path is not None]

    def head_for(self, goal: Goal) -> None:
        """Head for a goal of all arms."""
        for arm in self._arms:
            arm.head_for(goal)

    def velocity(self, dt: float) -> Array:
        """Joint velocity that is wanted in the next step of `dt` seconds, shape (n,)."""
        velocity: Array = self._limiter.joints.stopping_velocity(dt).copy()
        for arm in self._arms:
            velocity[arm.joints] = arm.velocity(dt)
        solutions = [arm.path.solution for arm in self._arms if arm.path is not None]
        self.solution = next(iter(solutions), None)
        return velocity

    def held_back(
        self, velocity: Array, dt: float
    ) -> Iterator[tuple[Array, Callable[[str], None]]]:
        """
        Yield the velocity with some arms braking, the fewest first.

        Those are arms that move the links that would collide, one or all of them; then also those
        that move what would collide all the same; at last all arms.
        """
        leading = self._leading
        held: list[ArmApart] = []
        while involved := [arm for arm in leading if arm not in held and self._moves_refused(arm)]:
            for arm in involved if len(involved) > 1 else ():
                yield _braking(velocity, [*held, arm], dt), partial(_hold, [*held, arm], ())
            held = [*held, *involved]
            yield _braking(velocity, held, dt), partial(_hold, held, ())
        others = [arm for arm in leading if arm not in held]
        yield _braking(velocity, leading, dt), partial(_hold, held, others)

    def _moves_refused(self, arm: ArmApart) -> bool:
        return bool(self._limiter.refused_joints[arm.joints].any())

    @property
    def blocked(self) -> Reason | None:
        """Why no arm goes on; None while one does, or where all are at their goals."""
        is_blocked = any(arm.is_blocked for arm in self._arms) and not self._leading
        return self.reason if is_blocked else None

    def has_arrived(self) -> bool:
        """Whether no arm goes on, and all joints rest."""
        limiter = self._limiter
        return not self._leading and limiter.has_caught_up and limiter.joints.is_still

    def look_ahead(self, dt: float) -> bool:
        """Do what can be done for the next step, of `dt` seconds, before its time."""
        for arm in self._arms:
            arm.look_ahead(dt)
        return False

    def end_step(self) -> None:
        """Take note that a step is over."""
        for arm in self._arms:
            arm.end_step()
        self.reason = joined(arm.named_reason for arm in self._arms)
        if self.blocked is not None:
            self.reason = joined((self.reason, IN_STREAM))

    def lose_speed(self) -> None:
        """Take note that the joints stand, or brake on their own."""
        for arm in self._arms:
            arm.lose_speed()

    def come_back(self) -> None:
        """Take note that the joints are where they were before, at another speed."""
        for arm in self._arms:
            arm.come_back()

    def change_limits(self, limits: MotionLimits) -> None:
        """Keep to other limits."""
        for arm in self._arms:
            arm.change_limits(limits)

    def scale_speed(self, share: float) -> None:
        """Go at another share of all speeds, 0 to 1."""
        for arm in self._arms:
            arm.scale_speed(share)


def _braking(velocity: Array, arms: Sequence[ArmApart], dt: float) -> Array:
    """Velocity with which some arms are on the way to rest, shape (n,)."""
    braking: Array = velocity.copy()
    for arm in arms:
        braking[arm.joints] = arm.stopping_velocity(dt)
    return braking


def _hold(arms: Sequence[ArmApart], slowed: Sequence[ArmApart], refusal: str) -> None:
    """Hold arms that would collide; others only had to slow down for a step."""
    for arm in arms:
        arm.hold(refusal)
    for arm in slowed:
        arm.lose_speed()


class ArmsApart:
    """
    Leads arms that share no joints apart, where that is asked and possible.

    Parameters
    ----------
    robot : Chain or Tree
        All joints.
    limiter : JointLimiter
        Knows where they are, and what they can do.
    frame : GoalFrame
        Knows which goals are held in the world: to those all arms go together.
    solver_options, options, tips
        As for `GoalPursuit`.

    """

    def __init__(
        self,
        robot: Mechanism,
        limiter: JointLimiter,
        frame: GoalFrame,
        solver_options: SolverOptions,
        options: MotionOptions,
        tips: Mapping[str, TipOptions] | None,
    ) -> None:
        self._limiter, self._frame, self._options = limiter, frame, options
        self._arms = [
            ArmApart(limiter, part, numbers, joints, solver_options, options, tips)
            for part, numbers, joints in _parts(robot)
        ]
        self._lines: LinesApart | None = None

    def change(
        self,
        solver_options: SolverOptions,
        options: MotionOptions,
        tips: Mapping[str, TipOptions] | None,
    ) -> None:
        """Go on with other options."""
        self._options = options
        for arm in self._arms:
            arm.change(solver_options, options, tips)

    def warm_up(self) -> None:
        """Compile what the arms need."""
        for arm in self._arms:
            arm.warm_up()

    def take_time(self) -> None:
        """Take note that nothing moved for a while."""
        for arm in self._arms:
            arm.take_time()

    def forget(self) -> None:
        """Have no goals."""
        for arm in self._arms:
            arm.forget()

    def lead(self, goal: Goal, path: Path | None) -> LinesApart | None:
        """Head for a goal of a stream on lines apart; None where all arms are to go together."""
        in_world = self._frame.is_world or bool(goal.in_world.any())
        if not self._arms or in_world or self._options.path == 'joint':
            return None
        if path is None or path is not self._lines:
            for arm in self._arms:
                arm.begin()
            self._lines = LinesApart(self._arms, self._limiter)
        self._lines.head_for(goal)
        return self._lines


def _parts(robot: Mechanism) -> Iterator[tuple[Tree, Numbers, Numbers]]:
    """Yield trees that share no joints, with the numbers of tips and joints; none if all do."""
    if not isinstance(robot, Tree):
        return
    groups: list[tuple[list[int], npt.NDArray[np.bool_]]] = []
    for tip in range(len(robot.tip_links)):
        tips, moved = [tip], robot.moves(tip)
        apart = []
        for group in groups:
            if np.any(group[1] & moved):
                tips, moved = [*group[0], *tips], group[1] | moved
            else:
                apart.append(group)
        groups = [*apart, (tips, moved)]
    if len(groups) < 2:
        return
    for tips, moved in groups:
        yield robot.part(tips), np.array(sorted(tips)), np.flatnonzero(moved)
