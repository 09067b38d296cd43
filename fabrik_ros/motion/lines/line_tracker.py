"""Steps of the joints along a line: as far as all can follow, and gently at their limits."""

import math
from typing import NamedTuple, TypeVar

import numpy as np

from ...kernels.braking import is_within
from ...model.mechanism import Mechanism
from ...solver.solution import Solution
from ...transforms import Array
from ..limits.joint_motion import JointMotion, largest
from .displacements import length_of
from .dodging import Dodging
from .goal_frame import GoalFrame
from .jog_reference import Jog, JogReference
from .line_reference import LineReference
from .motion_solvers import MotionSolvers
from .sliding import Sliding
from .tip_reference import masked, TipReference

ROUNDING = 5e-4
"""Share by which a step may exceed the limits of the points before it is shortened."""
LEAST = 1e-3
"""Least share of the limits that is left to a line while joints catch up with it [1]."""
OFF_LINE = 1e-4
"""Distance from the line beyond which joints have left it [rad or m]."""
CATCHING_UP = 1e-4
"""Correction below which joints count as on the line [rad/s or m/s]."""
MOMENT = 1e-3
"""Time over which the speed of the tips is measured [s]."""

BRAKING_SHARE, GENTLE_SHARE = 0.8, 0.5
"""
Share of the joint accelerations by which a line comes to rest; the lesser one where spare joints,
other tips or a moving base may need the rest at any time [1].
"""

ReferenceT = TypeVar('ReferenceT', bound=TipReference)


class LineStep(NamedTuple):
    """Motion of the joints in a step along a line."""

    answer: Solution
    """Solution that they go to, or that shows that the line cannot be followed."""
    velocity: Array | None
    """
    Velocity that they need for that, shape (n,) [rad/s or m/s]; None where they cannot have it.
    """


class LineTracker:
    """
    Keeps the tips of an arm on a line.

    Parameters
    ----------
    robot : Chain or Tree
        The joints.
    solvers : MotionSolvers
        Find the next joint values.
    frame : GoalFrame
        Knows in which frames the poses on the line are held.
    joints : JointMotion
        Knows what the joints can do.

    """

    def __init__(
        self, robot: Mechanism, solvers: MotionSolvers, frame: GoalFrame, joints: JointMotion
    ) -> None:
        self._robot, self._frame, self._joints = robot, frame, joints
        self.solvers = solvers
        self.sliding: Sliding | None = None
        """Finds what is possible where lines are blocked; None where the arm stops there."""
        self.dodging: Dodging | None = None
        """Moves spare joints out of the way; None where there are none."""

    def warm_up(self) -> None:
        """Compile what a step needs beside solvers and joints."""
        robot = self._robot
        mid = robot.mid_configuration()
        is_within(np.array([mid, mid]), mid)
        robot.tip_points(mid)
        line = LineReference(robot.tip_poses(mid), mid, self._joints.limits)
        line.pose_after(np.ones_like(line.speed), MOMENT)
        nearby = line.pose_after(np.full_like(line.speed, MOMENT), 1.0)
        for goal in (nearby, line.T, nearby):
            line.head_for(goal)
        line.pose_ahead(MOMENT)
        line.look_at(mid, MOMENT, GENTLE_SHARE)
        line.next_speed(MOMENT, 1.0)
        straight = LineReference(line.T, mid, self._joints.limits)
        straight.head_for(nearby)
        straight.next_speed(MOMENT, 1.0)

    def begin_line(self, T_goal: Array) -> LineReference:
        """Begin a line where the tips are, as fast as they are; unconstrained ones stay so."""
        T, q = self._start(T_goal)
        return self._in_motion(LineReference(T, q, self._joints.limits))

    def line_at(self, q: Array, T_goal: Array) -> LineReference:
        """Begin a line where the tips are at joint values `q`, at rest."""
        return LineReference(masked(self._frame.tips(q), T_goal), q, self._joints.limits)

    def begin_jog(self, T_goal: Array) -> JogReference:
        """Begin to be jogged where the tips are, as fast as they are."""
        T, q = self._start(T_goal)
        return self._in_motion(JogReference(T, q, self._joints.limits, Jog(len(T))))

    def _start(self, T_goal: Array) -> tuple[Array, Array]:
        """Poses of the tips that have a goal, and joint values inside the limits."""
        robot = self._robot
        q = np.minimum(np.maximum(self._joints.q, robot.lower), robot.upper)
        return masked(self._frame.tips(q), T_goal), q

    def _in_motion(self, reference: ReferenceT) -> ReferenceT:
        """Give a reference that begins here the speed of the tips."""
        joints, frame = self._joints, self._frame
        follows_base = joints.dt > 0.0 and frame.moves_evenly
        moment = joints.dt if follows_base else MOMENT
        q_before = reference.q - joints.velocity * moment
        T_before = frame.tips_before(q_before) if follows_base else frame.tips(q_before)
        reference.take_speed(T_before, moment)
        return reference

    def to_base(self, T: Array) -> Array:
        """Poses on a line in the base frame, shape (k, 4, 4)."""
        return self._frame.to_base(T)

    def solve(self, T: Array, q: Array) -> Solution:
        """Find joint values for poses on a line, shape (k, 4, 4), near others."""
        return self.solvers.line.solve(self.to_base(T), q)

    def look_ahead(self, line: TipReference, dt: float) -> None:
        """Slow the reference in time where the line ends or turns hard for a joint."""
        pose, distance = line.pose_ahead(dt)
        if distance == 0.0:
            return
        seed = line.seed(distance) if self._leads else line.q
        answer = self.solvers.ahead.solve(self.to_base(pose), seed)
        if not self.solvers.is_on_line(answer):
            line.ends_at = answer
            return
        is_alone = len(self._robot.tip_links) == 1 and not self._frame.is_world
        brakes_late = is_alone and not self.solvers.may_choose
        line.look_at(answer.q, distance, BRAKING_SHARE if brakes_late else GENTLE_SHARE)
        line.greatest_share = min(line.greatest_share, self._share_ahead(line, answer.q, distance))

    def _share_ahead(self, line: TipReference, q_ahead: Array, distance: float) -> float:
        """
        Share of the full speed from which a line can slow down in time for the joint centres.

        They are checked here, at joint values some way [s] ahead, and half way between.
        """
        tip_speed, mean = self._joints.tip_speed, (q_ahead - line.q) / distance
        middle = tip_speed.largest_share(0.5 * (line.q + q_ahead), mean)
        share = math.sqrt(middle * middle + line.deceleration * distance)
        if any(line.rate.tolist()):  # unknown on a line that has just begun
            share = min(share, tip_speed.largest_share(line.q, line.rate))
            there = tip_speed.largest_share(q_ahead, 2.0 * mean - line.rate)
            share = min(share, math.sqrt(there * there + 2.0 * line.deceleration * distance))
        return share

    def correction(self, line: TipReference, dt: float) -> Array:
        """Velocity of joints that catch up with a line, as far as tips and centres allow."""
        joints = self._joints
        correction = joints.correction(line.q - joints.q, dt)
        if largest(correction) < CATCHING_UP:
            return correction
        return correction * joints.share_ahead(correction, joints.limits.speed_scaling, dt)

    def margin_beside(self, line: TipReference, correction: Array) -> float:
        """
        Share of the full speed that joints leave to the line that they catch up with.

        Joints that move free tips only are on no line.
        """
        if any(line.unconstrained.tolist()):
            led = np.array(
                [self._robot.moves(tip) for tip in np.flatnonzero(~line.unconstrained).tolist()]
            )
            correction = np.where(led.any(axis=0), correction, 0.0)
        if largest(correction) < CATCHING_UP:
            return 1.0
        return max(0.0, 1.0 - self._used_by(correction))

    def _used_by(self, velocity: Array) -> float:
        """Share of the limits of tips and joint centres that joint velocities use."""
        joints = self._joints
        return 1.0 / joints.tip_speed.largest_share(joints.q, velocity)

    def stay(self, line: TipReference, dt: float) -> LineStep:
        """Keep the tips where they are, as the base moves."""
        answer = self.solvers.line.solve(self.to_base(line.T), line.q)
        if not self.solvers.is_on_line(answer):
            return LineStep(answer, None)
        velocity = (answer.q - line.q) / dt
        line.q = answer.q
        return LineStep(answer, velocity)

    def advance(
        self,
        line: TipReference,
        speed: Array,
        correction: Array,
        dt: float,
        is_carried: bool = False,
    ) -> LineStep:
        """
        Take a step along the line, as far as the joints can follow and the points may go.

        Parameters
        ----------
        line : TipReference
            Moves on by as much.
        speed : array, shape (k, 6)
            The speed on the line that is wanted.
        correction : array, shape (n,)
            Joint velocity that comes on top [rad/s or m/s].
        dt : float
            Length of the step [s].
        is_carried : bool
            Whether a moving base moves the tips in its own frame, however fast it is.

        """
        solvers, T = self.solvers, line.pose_after(speed, dt)
        pose = self.to_base(T)
        answer = self._answer(line, pose, speed, dt)
        if solvers.is_on_line(answer):
            eased = self._eased(line, pose, answer, speed, correction, dt)
            if eased is None and solvers.may_choose:
                for slower in self._slower_speeds(line, speed, answer.q, correction, dt):
                    speed, T = slower, line.pose_after(slower, dt)
                    pose = self.to_base(T)
                    answer = self._answer(line, pose, speed, dt)
                    eased = self._eased(line, pose, answer, speed, correction, dt)
                    if eased is not None:
                        break
            answer = answer if eased is None else eased
            share, allowed = self._shares(line, answer.q, correction, dt, is_carried)
            if share > 1.0 and line.pace > 0.0:
                speed = self._changed_in_part(line, speed, answer.q, correction, dt)
                T = line.pose_after(speed, dt)
                answer = self._answer(line, self.to_base(T), speed, dt)
                share, allowed = self._shares(line, answer.q, correction, dt, is_carried)
            if share > allowed and line.pace > 0.0:
                # The joints cannot turn round so soon: first they slow down where they go.
                speed = line.speed * max(0.0, 1.0 - line.deceleration * dt)
                T = line.pose_after(speed, dt)
                answer = self._answer(line, self.to_base(T), speed, dt)
                share, _ = self._shares(line, answer.q, correction, dt, is_carried)
            if share != 1.0:
                speed = line.shortened(speed * share, dt)
                T = line.pose_after(speed, dt)
                answer = self._answer(line, self.to_base(T), speed, dt)
        if not solvers.is_on_line(answer):
            return LineStep(answer, None)
        velocity = (answer.q - line.q) / dt
        if np.any(line.self_motion):
            alone = self.solvers.line.solve(self.to_base(T), self._seed(line, speed, dt))
            line.self_motion = (answer.q - alone.q) / dt
        line.advance(speed, dt, T, answer.q)
        line.keep_to_tips(answer.q, self._robot.tip_poses)
        return LineStep(answer, velocity)

    def _answer(self, line: TipReference, pose: Array, speed: Array, dt: float) -> Solution:
        """Joint values for a pose to which a step at a speed leads."""
        return self.solvers.line.solve(pose, self._seed(line, speed, dt) + dt * line.self_motion)

    def _seed(self, line: TipReference, speed: Array, dt: float) -> Array:
        """Joint values near which those for a step at a speed are to be, without self-motion."""
        return line.seed(length_of(speed) * dt) if self._leads else line.q

    @property
    def _leads(self) -> bool:
        """Whether the line tells where spare joints are looked for; a posture leads them, too."""
        return self.solvers.may_choose and self.solvers.posture is None

    def _slower_speeds(
        self, line: TipReference, speed: Array, q: Array, correction: Array, dt: float
    ) -> list[Array]:
        """
        Speeds to try where joints cannot take a step to joint values `q` at the one wanted.

        Often they only cannot speed up so soon; to brake for that would be the wrong way.
        """
        beside = correction + line.self_motion
        share = self._joints.followable_share((q - line.q) / dt - line.self_motion, beside)
        braking = line.slower(speed, dt)
        return [speed * share, braking] if share < 1.0 else [braking]

    def _changed_in_part(
        self, line: TipReference, speed: Array, q: Array, correction: Array, dt: float
    ) -> Array:
        """
        Speed between that of the last step and the one wanted for a step to joint values `q`.

        Joints that cannot brake so hard follow as much of the change. To go on faster where the
        step leads would make tips faster that brake beside them, and let a turn run past its end.
        """
        joints = self._joints
        change = (q - line.q) / dt + correction - joints.velocity
        room = joints.bounds - joints.velocity
        moves = np.abs(change) > LEAST
        shares = np.where(change > 0.0, room[1], room[0])[moves] / change[moves]
        part = min(1.0, max(0.0, float(np.min(shares, initial=1.0))))
        return line.shortened(line.speed + part * (speed - line.speed), dt)

    def _shares(
        self, line: TipReference, q: Array, correction: Array, dt: float, is_carried: bool
    ) -> tuple[float, float]:
        """Share of a step to joint values `q` to take, and greatest one that the points allow."""
        beside, rate = correction + line.self_motion, (q - line.q) / dt - line.self_motion
        allowed = math.inf if is_carried else self._allowed_share(line, rate, correction, dt)
        most = min(1.0, allowed)
        return most * self._joints.followable_share(most * rate, beside), allowed

    def _allowed_share(
        self, line: TipReference, rate: Array, correction: Array, dt: float
    ) -> float:
        """
        Part of a step that tips and joint centres are allowed; 1 and more if all of it.

        A line that has to slow down to lower limits takes the time that the tip may take for it.
        """
        scaling, rate = self._joints.limits.speed_scaling, rate + line.self_motion
        velocity = rate + correction
        most = max(scaling, line.pace - line.full_acceleration * dt) * (1.0 + ROUNDING)
        share = most * self._part_allowed(velocity, dt)
        if share >= 1.0 or largest(correction) < CATCHING_UP:
            return share
        return max(most - self._used_by(correction), LEAST) * self._part_allowed(rate, dt)

    def _part_allowed(self, velocity: Array, dt: float) -> float:
        """Part of a velocity, shape (n,), at which a step reaches a limit of tips or centres."""
        joints = self._joints
        return joints.tip_speed.largest_share(joints.q + 0.5 * dt * velocity, velocity)

    def slowed(self, line: TipReference, velocity: Array, is_off: bool, dt: float) -> Array:
        """
        Velocity that the joints and the points may have, nearest to one wanted for a step.

        Parameters
        ----------
        line : TipReference
            Has taken the step already.
        velocity : array, shape (n,)
            What is wanted [rad/s or m/s].
        is_off : bool
            Whether the joints have left the line, and go their own way until they have caught up.
        dt : float
            Length of the step [s].

        """
        joints = self._joints
        nearest, most = joints.nearest(velocity, dt), max(joints.limits.speed_scaling, line.pace)
        if is_off:
            share = joints.share_ahead(nearest, most, dt)
            return joints.no_faster(nearest * share, most * (1.0 + ROUNDING), dt)
        most *= 1.0 + ROUNDING
        share = most * self._part_allowed(nearest, dt)
        return velocity if share >= 1.0 else joints.no_faster(nearest * share, most, dt)

    def _eased(
        self,
        line: TipReference,
        pose: Array,
        answer: Solution,
        speed: Array,
        correction: Array,
        dt: float,
    ) -> Solution | None:
        """
        Return an answer for which every joint comes to its limit gently; None if there is none.

        Where a spare joint ran into its limit the others would have to take over at once. Where
        the line stands still, none swings past where it is to be. A joint that no spare one can
        relieve has to come to its limit as the line asks: going slower would not change that.
        """
        box = self._joints.gentle_box(line.q, correction, dt)
        if is_within(box, answer.q):
            return answer
        if not np.any(speed):
            settling = self._within(self._settling_box(line.q, answer.q, box, dt), pose, answer.q)
            if settling is not None:
                return settling
        eased = self._within(box, pose, answer.q)
        if eased is not None or not self.solvers.may_choose:
            return eased
        firm = self._joints.step_box(line.q, correction, dt)
        return answer if is_within(firm, answer.q) else self._within(firm, pose, answer.q)

    def _settling_box(self, q: Array, q_end: Array, box: Array, dt: float) -> Array:
        """Part of a box, shape (2, n), from which joints can still come to rest at `q_end`."""
        way = self._joints.correction(q_end - q, dt) * dt
        return np.clip([q + np.minimum(way, 0.0), q + np.maximum(way, 0.0)], *box)

    def _within(self, box: Array, pose: Array, seed: Array) -> Solution | None:
        """Return an answer with joint values in a box, shape (2, n); None if there is none."""
        answer = self.solvers.line.solve_within(pose, seed, *box)
        return answer if self.solvers.is_on_line(answer) else None
