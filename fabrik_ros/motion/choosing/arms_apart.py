"""
Several arms in a stream, each on a line of its own.

Targets that come once are gone to together: the references of all tips travel on one line. Those
of streams come from several hands, and what is in the way of one hand must not stop the others.
So an arm that moves no joint of another one has its own line in a stream, as if it were alone.
Where something is in its way it stops there, and the others go on. Tips that share joints part
only where one of them is blocked (`SharedJoints`).

"""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial

import numpy as np
import numpy.typing as npt

from ...errors import ChainError
from ...model.mechanism import Mechanism
from ...model.tree import Tree
from ...reasons import joined, Reason
from ...solver.options import SolverOptions
from ...solver.tree_solver import TipOptions
from ...transforms import Array
from ..limits.joint_limiter import JointLimiter
from ..limits.limits import MotionLimits
from ..lines.goal_frame import GoalFrame
from ..paths.path import PartialStep, Path
from .arm_apart import ArmApart, Numbers
from .goal import Goal, IN_STREAM, MotionOptions
from .shared_joints import SharedJoints

Mask = npt.NDArray[np.bool_]


class LinesApart(Path):
    """
    Each arm on its line; over once all are at their goals, or stand where something is in the way.

    Parameters
    ----------
    groups : sequence of SharedJoints
        The arms.
    limiter : JointLimiter
        Knows what all joints can do.
    frame : GoalFrame
        Knows where the world is.

    """

    follows_tips = True

    def __init__(
        self, groups: Sequence[SharedJoints], limiter: JointLimiter, frame: GoalFrame
    ) -> None:
        super().__init__()
        self._groups, self._limiter, self._frame = groups, limiter, frame

    @property
    def _arms(self) -> list[ArmApart]:
        return [arm for group in self._groups for arm in group.arms]

    @property
    def _leading(self) -> list[ArmApart]:
        return [arm for arm in self._arms if arm.path is not None]

    def head_for(self, goal: Goal) -> None:
        """Head for a goal of all arms."""
        self.stays_in_world = self._frame.is_world
        for group in self._groups:
            group.head_for(goal)

    def velocity(self, dt: float) -> Array:
        """Joint velocity that is wanted in the next step of `dt` seconds, shape (n,)."""
        velocity: Array = np.zeros(len(self._limiter.robot))
        for group in self._groups:
            group.write_velocity(dt, velocity)
        solutions = [arm.path.solution for arm in self._leading if arm.path is not None]
        self.solution = next(iter(solutions), None)
        return velocity

    def held_back(self, velocity: Array, dt: float) -> Iterator[PartialStep]:
        """
        Yield steps with some arms braking, the fewest first.

        At first only what comes to rest anyway brakes harder: shared joints, and arms that stand.
        Then arms that move the links that would collide, one or all of them; then also those that
        move what would collide all the same; at last all arms.
        """
        for group in self._groups:
            if self._is_refused(group.joints) and group.part():
                group.write_velocity(dt, velocity)
        leading = self._leading
        held: list[ArmApart] = []
        yield from self._with_braking(velocity, held)
        while involved := [arm for arm in leading if arm not in held and self._refuses(arm)]:
            for arm in involved if len(involved) > 1 else ():
                yield from self._with_braking(velocity, [*held, arm])
            held = [*held, *involved]
            yield from self._with_braking(velocity, held)
        yield from self._with_braking(velocity, held, [arm for arm in leading if arm not in held])

    def _refuses(self, arm: ArmApart) -> bool:
        return self._is_refused(arm.own)

    def _is_refused(self, joints: Numbers) -> bool:
        return bool(self._limiter.refused_joints[joints].any())

    def _with_braking(
        self, velocity: Array, held: Sequence[ArmApart], slowed: Sequence[ArmApart] = ()
    ) -> Iterator[PartialStep]:
        """Yield steps in which arms brake, and those that stand: without trunks, and with."""
        hold, braking = partial(_hold, held, slowed), np.zeros(len(velocity), dtype=bool)
        moving = (velocity != 0.0) | (self._limiter.command[1] != 0.0)
        for arm in self._arms:
            braking[arm.own] = arm.path is None or arm in held or arm in slowed
        if np.any(braking & moving):
            yield PartialStep(velocity, braking, hold)
        with_trunks = braking.copy()
        for group in self._groups:
            with_trunks[group.trunk] = True
        if np.any(with_trunks & moving & ~braking):
            yield PartialStep(velocity, with_trunks, hold)

    @property
    def blocked(self) -> Reason | None:
        """Reason why no arm goes on; None while one does, or where all are at their goals."""
        is_blocked = any(arm.is_blocked for arm in self._arms) and not self._leading
        return self.reason if is_blocked else None

    @property
    def is_at_goal(self) -> bool:
        """Whether all arms stand, or do no more than follow the base."""
        return bool(self._leading) and all(arm.is_at_goal for arm in self._arms)

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
        for group in self._groups:
            group.end_step()
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


def _hold(arms: Sequence[ArmApart], slowed: Sequence[ArmApart], refusal: str) -> None:
    """Hold arms that would collide; others only had to slow down for a step."""
    for arm in arms:
        arm.hold(refusal)
    for arm in slowed:
        arm.lose_speed()


class ArmsApart:
    """
    Leads several arms apart, where that is asked and possible.

    Parameters
    ----------
    robot : Chain or Tree
        All joints.
    limiter : JointLimiter
        Knows where they are, and what they can do.
    frame : GoalFrame
        Knows where the world is.
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
        self._limiter, self._frame = limiter, frame
        self._groups: list[SharedJoints] = []
        if isinstance(robot, Tree):
            for numbers in _tips_that_share(robot):
                together, *apart = (
                    ArmApart(limiter, frame, *part, solver_options, options, tips)
                    for part in _parts(robot, numbers)
                )
                self._groups.append(SharedJoints(limiter, together, apart))
        self._lines: LinesApart | None = None

    @property
    def _all_arms(self) -> list[ArmApart]:
        return [arm for group in self._groups for arm in group.all_arms]

    def change(
        self,
        solver_options: SolverOptions,
        options: MotionOptions,
        tips: Mapping[str, TipOptions] | None,
    ) -> None:
        """Go on with other options."""
        for arm in self._all_arms:
            arm.change(solver_options, options, tips)

    def warm_up(self) -> None:
        """Compile what the arms need."""
        for arm in self._all_arms:
            arm.warm_up()

    def take_time(self) -> None:
        """Take note that nothing moved for a while."""
        for arm in self._all_arms:
            arm.take_time()

    def forget(self) -> None:
        """Have no goals."""
        self._lines = None
        for group in self._groups:
            group.forget()

    def lead(self, goal: Goal, path: Path | None) -> LinesApart | None:
        """Head for a goal of a stream on lines apart; None where all go together anyway."""
        if len(self._groups) < 2 and not any(group.may_part(goal) for group in self._groups):
            return None
        self._frame.hold(goal.in_world)
        if path is None or path is not self._lines:
            for group in self._groups:
                group.begin()
            self._lines = LinesApart(self._groups, self._limiter, self._frame)
        self._lines.head_for(goal)
        return self._lines

    def tip_reasons(self, reason: Reason | None) -> list[Reason | None]:
        """Say what each tip has to do with the reason of all; [] where that is another one."""
        if self._lines is None or self._lines.reason is not reason:
            return []
        arms = [arm for group in self._groups for arm in group.arms]
        reasons = {t: reason for arm in arms for t, reason in arm.tip_reasons}
        return [reasons[t] for t in sorted(reasons)]


def _tips_that_share(tree: Tree) -> list[list[int]]:
    """Group tips, by number, that share joints, if over others only."""
    groups: list[tuple[list[int], Mask]] = []
    for tip in range(len(tree.tip_links)):
        tips, moved = [tip], tree.moves(tip)
        apart = []
        for group in groups:
            if np.any(group[1] & moved):
                tips, moved = [*group[0], *tips], group[1] | moved
            else:
                apart.append(group)
        groups = [*apart, (tips, moved)]
    return [sorted(tips) for tips, _ in groups]


def _parts(tree: Tree, tips: list[int]) -> Iterator[tuple[Tree, list[int], Mask]]:
    """
    Yield the tree to some tips, then that to each, if each has joints of its own.

    With each come the numbers of its tips, and which of its joints others move, too.
    """
    together = tree.part(tips)
    yield together, tips, np.zeros(len(together), dtype=bool)
    count = np.sum([tree.moves(t) for t in tips], axis=0)
    are_shared = dict(zip(tree.joint_names, (count > 1).tolist(), strict=True))
    try:
        alone = [tree.part([t]) for t in tips]
    except ChainError:  # a joint of one tip mimics one of another
        return
    pinned = [np.array([are_shared[name] for name in part.joint_names]) for part in alone]
    if len(tips) > 1 and not any(which.all() for which in pinned):
        for part, t, which in zip(alone, tips, pinned, strict=True):
            yield part, [t], which
