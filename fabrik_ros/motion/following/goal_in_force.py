"""The goal that an arm was sent to: poses, joint values or a program, and when it came last."""

from collections.abc import Mapping
from dataclasses import replace
import math

import numpy as np

from ...model.mechanism import Mechanism
from ...transforms import Array
from ..choosing.goal import Goal
from ..choosing.motion import Motion
from ..choosing.state_table import Phase
from .joint_goal import is_part_of, JointGoal
from .program_run import ProgramRun
from .start_gate import StartGate


class GoalInForce:
    """
    What an arm was sent to.

    Joint values and programs count while the poses of the tips at their ends are the goal.

    Parameters
    ----------
    robot : Chain or Tree
        The joints.

    Attributes
    ----------
    poses : Goal or None
        Where the tips are to be; None where the arm was sent nowhere, and while it is jogged.
    came_at : float
        Time at which it came last; infinity where it needs no repetition [s].
    stopped_run : ProgramRun or None
        A program that was stopped, until the arm sets out again.

    """

    def __init__(self, robot: Mechanism) -> None:
        self._robot = robot
        self.poses: Goal | None = None
        self.came_at = -math.inf
        self.stopped_run: ProgramRun | None = None
        self._newest_joints: JointGoal | None = None
        self._newest_program: ProgramRun | None = None

    @property
    def joints(self) -> JointGoal | None:
        """The goal, if it is joint values."""
        newest = self._newest_joints
        return newest if newest is not None and newest.goal is self.poses else None

    @property
    def program(self) -> ProgramRun | None:
        """The run through a program, if the goal is the end of that."""
        newest = self._newest_program
        return newest if newest is not None and newest.goal is self.poses else None

    @property
    def run(self) -> ProgramRun | None:
        """The program that the arm goes through, has gone through, or was stopped in."""
        return self.program or self.stopped_run

    @property
    def has_target(self) -> bool:
        """Whether it is a target of a tip."""
        return self.poses is not None and bool(self.poses.is_target.any())

    def came(self, now: float) -> None:
        """Take note that it came, or is taken up again, `now` [s]; a program is said once."""
        self.came_at = now if self.program is None else math.inf

    def take_joints(self, joints: JointGoal) -> None:
        """Be joint values from now on."""
        self._newest_joints, self.poses = joints, joints.goal

    def take_program(self, run: ProgramRun) -> None:
        """Be the end of a program from now on."""
        self._newest_program, self.poses = run, run.goal

    def take_up_rest(self, q: Array) -> ProgramRun | None:
        """Go on with what is left of a program that was stopped, for an arm at `q`, shape (n,)."""
        if self.program is not None and self.stopped_run is not None:
            self.take_program(self.rest(self.stopped_run, q))
            self.stopped_run = None
        return self.program

    def rest(self, run: ProgramRun, q: Array) -> ProgramRun:
        """Return what is left of a program for an arm at `q`, shape (n,)."""
        return run.rest(self._robot.tip_poses(q)[0])

    def has_target_like(self, T: Array, tip: int, in_world: bool, motion: Motion) -> bool:
        """Whether a tip has a target that is the same as `T`, (4, 4), within the tolerances."""
        poses = self.poses
        if poses is None or not poses.is_target[tip] or bool(poses.in_world[tip]) != in_world:
            return False
        return motion.is_same(T, poses.T[tip])

    def has_values(self, values: Mapping[str, float]) -> bool:
        """Whether it is joint values, these among them."""
        return self.joints is not None and is_part_of(values, self.joints.asked)

    def note_progress(self, motion: Motion) -> None:
        """Take note of how far the arm is with a program."""
        run, progress = self.program, motion.progress
        if run is None:
            return
        if progress is None:
            if motion.phase is Phase.RESTING and motion.reason is None:
                self.take_program(run.at_end)
        elif run.progress is None:
            self.take_program(run.begun(self._robot, motion.q, progress))
        else:
            self.take_program(replace(run, progress=progress))

    def interrupt(self, gate: StartGate) -> None:
        """Have it refused from now on: the arm was stopped on its way there."""
        if self.poses is not None:
            for tip in np.flatnonzero(self.poses.is_target).tolist():
                gate.interrupt(tip, self.poses.T[tip], bool(self.poses.in_world[tip]))
        if self.program is not None:
            gate.interrupt_program(self.program.whole)
        if self.joints is not None:
            gate.interrupt_joints(self.joints.asked)
