"""The last stage of a motion whose jerk is limited: commands follow it at a distance."""

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from ...collision.guard import CollisionGuard
from ...model.mechanism import Mechanism
from ...transforms import Array
from .jerk_filter import FilterState, JerkFilter, Step
from .joint_limiter import Checkpoint, JointLimiter, OnPath
from .joint_motion import is_near, Joints
from .limits import MotionLimits
from .stop_trajectory import StopTrajectory


class JerkLimiter(JointLimiter):
    """
    Makes commands that follow a motion at a distance, and may be braking while it waits.

    Parameters
    ----------
    robot : Chain or Tree
        The joints.
    limits : MotionLimits
        How fast things may go.
    jerk_filter : JerkFilter
        Smoothes the motion.
    guard : CollisionGuard, optional
        Allows only motion that can stop in front of collisions.

    """

    limits_jerk = True

    def __init__(
        self,
        robot: Mechanism,
        limits: MotionLimits,
        jerk_filter: JerkFilter,
        guard: CollisionGuard | None = None,
    ) -> None:
        self._filter = jerk_filter
        super().__init__(robot, limits, guard)

    def reset(self, q: Array) -> None:
        """Take the arm to stand still at `q`, shape (n,)."""
        super().reset(q)
        self._filter.reset(self.joints.q)

    @property
    def command(self) -> tuple[Array, Array]:
        """Last command and its velocity, each of shape (n,)."""
        return self._filter.q, self._filter.velocity

    def rests(self, joints: Joints) -> bool:
        """Whether the last command moves none of some joints."""
        return super().rests(joints) and self._filter.rests(joints)

    @property
    def is_braking(self) -> bool:
        """Whether the commands are on the way to rest, whatever is wanted."""
        return self._filter.is_braking

    @property
    def has_caught_up(self) -> bool:
        """Whether the commands have come to where the motion is, and rest if they follow it."""
        return self._filter.is_at_rest and is_near(self._filter.q, self.joints.q)

    def _while_moving(self, limits: MotionLimits, before: MotionLimits) -> MotionLimits:
        """Keep the acceleration of before as well, as it determines the average."""
        limits = super()._while_moving(limits, before)
        return replace(limits, joint_acceleration=before.joint_acceleration)

    def _for_motion(self, limits: MotionLimits) -> MotionLimits:
        """Tighten the limits of the internal motion so that smoothed commands keep `limits`."""
        limits = self._filter.change_limits(limits)
        self.joints.delay = self._filter.delay
        return limits

    def go(
        self,
        velocity: Array,
        dt: float,
        braking: npt.NDArray[np.bool_] | None = None,
        on_path: OnPath | None = None,
    ) -> bool:
        """Let the motion take a step, and command one towards it, if it can rest after it."""
        self.refusal = ''
        before, filter_before = (self.joints.q, self.joints.velocity), self._filter.checkpoint()
        if braking is not None:
            self._filter.hold(braking)
        if np.any(self._filter.held):
            to_rest = self.joints.correction(self._filter.rest - self.joints.q, dt)
            velocity = np.where(self._filter.held, to_rest, velocity)
        velocity, q = self.joints.next_state(velocity, dt)
        self.joints.q, self.joints.velocity = q, velocity
        if self._filter.is_braking:
            return False
        step = self._filter.plan(q, dt)
        if step is None:
            self.begin_to_brake()
            return False
        if self._would_not_rest(step):
            self.joints.q, self.joints.velocity = before
            self._filter.restore(filter_before)
            return False
        self._filter.take(step)
        self._inner_points = step.passage.points
        self.joints.dt = dt
        return True

    def pair_on_stop(self) -> str:
        """Name what comes too near on the way to rest; '' where nothing does."""
        guard, q = self._guard, self._filter.q
        if guard is None or guard.allows_to_rest(q, q, self._filter.stop_corners()):
            return ''
        return guard.refused_pair

    def _would_not_rest(self, step: Step) -> bool:
        """Whether a step, or the way to rest from there, is not collision-free."""
        guard = self._guard
        held = self._filter.held
        corners = step.stop.corners()
        if guard is None or guard.allows_to_rest(self._filter.q, step.q, corners, held):
            return False
        self.refusal = guard.refusal
        return True

    def brake(self, dt: float) -> None:
        """Take a step on the way to rest, which was found collision-free before."""
        if self._filter.is_braking:
            self._inner_points = self._filter.brake(dt)
        self.joints.dt = dt

    def begin_to_brake(self) -> None:
        """Let the motion wait where the commands will have come to rest."""
        self.joints.q = self._filter.begin_to_brake()
        self.joints.velocity = np.zeros_like(self.joints.q)

    def halt(self) -> None:
        """Take the arm to stand still at its last command: later ones did not reach it."""
        self.joints.q = self._filter.q
        self._filter.reset(self.joints.q)
        super().halt()

    def knot_lead(self, dt: float) -> float:
        """Time from the knot of a step to its command [s]: the command itself is the knot."""
        return 0.0

    @property
    def longest_stop(self) -> float:
        """Time of a stop from the greatest speeds that the joints may have [s]."""
        smoothing = self.joints.limits.joint_acceleration / self._filter.jerk
        return super().longest_stop + 2.0 * float(np.max(smoothing))

    def _stop_from_here(self) -> StopTrajectory:
        return self._filter.stop_trajectory()

    def follow_stop(self, duration: float, dt: float) -> None:
        """Let the commands follow the stop trajectory for a while, as controllers have done."""
        self.begin_to_brake()
        self._inner_points = self._filter.brake(duration) if self.is_braking else None
        self.joints.dt = dt

    def checkpoint(self) -> Checkpoint:
        """Remember the state, to come back to it by `restore`."""
        return super().checkpoint()._replace(commands=self._filter.checkpoint())

    def restore(self, checkpoint: Checkpoint) -> None:
        """Take back all steps since a checkpoint; none of them was sent."""
        super().restore(checkpoint)
        if isinstance(checkpoint.commands, FilterState):
            self._filter.restore(checkpoint.commands)
