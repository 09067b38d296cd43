"""One solve of the method 'points': passes, their results, and the best one."""

import math
import time
from typing import NamedTuple

import numpy as np

from ...kernels.frames import rotation_onto
from ...kernels.search import AT_LIMIT
from ...model.chain import Chain
from ...solver.options import SolverOptions
from ...solver.solution import Solution, Status
from ...transforms import Array, rotation_from_vector, rotation_vector, transform
from .marked_arm import frames_of
from .point_layout import PointLayout
from .point_values import values_from_points

FARTHEST = 10.0
"""Farthest distance of a target that makes a difference, in reaches [1]."""

LENGTH = 0.3
"""Position error that counts as much as 1 rad, as a share of the reach [1/rad]."""

FINER = 1e-2
"""FABRIK's own tolerance, as a share of the tolerance of the arm [1]."""

ROUGH = 0.05
"""The same, as a share of the present error, where the arm cannot follow the points exactly."""

ROUND_SWEEPS = 10
"""Sweeps after each pass [1]; more bring less than another pass."""

PATIENCE = 6
"""Passes in a row below `WORTHWHILE` after which the solver gives up [1]."""

WORTHWHILE = 0.05
"""Least share of the error that a pass has to remove [1]."""


class PointPass(NamedTuple):
    """
    What one run of FABRIK on the joint centres came to.

    Attributes
    ----------
    points : array, shape (m + 1, 3)
        Where FABRIK wants joint centres and tip [m].
    q : array, shape (n,)
        Joint values that come near these points [rad or m]; inside the limits.
    residual : float
        Largest distance between a point wanted and the one that the arm has at `q` [m].
    iterations : int
        Iterations of FABRIK.

    """

    points: Array
    q: Array
    residual: float
    iterations: int


class PointSearch:
    """
    One solve: the best configuration so far, and how the method goes on from it.

    Parameters
    ----------
    layout : PointLayout
        Of the arm.
    options : SolverOptions
        What is asked.
    T : array, shape (4, 4)
        T_base_tip.
    begin, lower, upper : array, shape (n,)
        Seed and bounds.

    """

    def __init__(
        self,
        layout: PointLayout,
        options: SolverOptions,
        T: Array,
        begin: Array,
        lower: Array,
        upper: Array,
    ) -> None:
        self.orients = options.mode != 'position'
        self.yields = options.mode == 'auto' and len(begin) < 6
        self._layout, self._options = layout, options
        self._lower, self._upper = lower, upper
        self._scale = LENGTH * max(layout.chain.size, 1e-9)
        self._asked, self._target = T, _pulled_near(T, layout.chain)
        self._q, self._seed = begin, begin
        self._errors = self._errors_at(begin)
        self._iterations = 0
        self._deadline = time.perf_counter() + options.budget

    def run(self, whole: bool) -> None:
        """
        Go round from where the arm stands until the target is reached: its position, or all of it.

        Where the plane of the arm turns, also from the other side of its base.
        """
        for start in self._layout.starts(self._q, self._target, self._lower, self._upper):
            self._go_round(start, whole)
            if self.is_reached() or not (whole or self._is_position_missed()):
                return

    def run_yielding(self) -> None:
        """
        Reach the whole target where points can tell of it, else its position.

        Then the joints that move no joint centre turn to the orientation. An arm is not led to
        another configuration just for an orientation that may yield.
        """
        if self._layout.is_exact:
            self.run(whole=True)
            if self.is_reached():
                return
            self._q, self._errors = self._seed, self._errors_at(self._seed)
        self.run(whole=False)
        self._turn_what_is_free()

    def _go_round(self, q: Array, whole: bool) -> None:
        """Make passes, each from where the last one ended, while they bring something."""
        least, idle = math.inf, 0
        while idle < PATIENCE:
            done = self.pass_from(q, whole, ROUND_SWEEPS, self._enough(q))
            q = done.q
            self._iterations += done.iterations
            self._note(q)
            apart, turned = self._errors_at(q)
            error = apart / self._scale + (turned if whole else 0.0)
            idle = 0 if error < (1.0 - WORTHWHILE) * least else idle + 1
            least = min(least, error)
            if self.is_reached() or not (whole or self._is_position_missed()):
                return
            if time.perf_counter() > self._deadline:
                return

    def pass_from(self, q: Array, whole: bool, sweeps: int, tolerance: float = 0.0) -> PointPass:
        """
        Take the joint centres, let FABRIK move them, and find joint values for them.

        FABRIK has to come as near to the target as the task asks for, or as `tolerance` [m].
        """
        T = self._wanted_pose(q)
        q = self._layout.starts(q, T, self._lower, self._upper)[0]
        tolerance = max(tolerance, FINER * self._tolerance)
        points, iterations = self._layout.wanted(q, T, whole, tolerance)
        values, residual = values_from_points(
            self._layout.chain,
            points,
            q,
            T if whole else None,
            lower=self._lower,
            upper=self._upper,
            sweeps=sweeps,
        )
        return PointPass(points, values, residual, iterations)

    def _enough(self, q: Array) -> float:
        """How near FABRIK has to come where the arm will not come as near anyway [m]."""
        return 0.0 if self._layout.is_exact else ROUGH * self._errors_at(q)[0]

    def _turn_what_is_free(self) -> None:
        """Turn the joints that move no joint centre to the orientation."""
        chain = self._layout.chain
        points = chain.points(self._q)
        T = transform(self._target[:3, :3], points[-1])
        q, _ = values_from_points(
            chain, points, self._q, T, lower=self._lower, upper=self._upper, sweeps=0
        )
        self._note(q)

    def is_reached(self) -> bool:
        """Whether the best configuration is within the tolerances, of the whole target."""
        apart, turned = self._errors
        options = self._options
        return apart <= options.position_tolerance and turned <= options.orientation_tolerance

    def _is_position_missed(self) -> bool:
        return self._errors[0] > self._options.position_tolerance

    def solution(self) -> Solution:
        """Say what came of it."""
        status = self._status()
        finished_by = 'fabrik'
        if self._q is self._seed:
            finished_by = 'seed' if status is Status.CONVERGED else 'nobody'
        chain = self._layout.chain
        near = (self._q - chain.lower < AT_LIMIT) | (chain.upper - self._q < AT_LIMIT)
        names = tuple(chain.joint_names[j] for j in np.flatnonzero(near))
        passes = 2 * self._iterations
        return Solution(self._q.copy(), status, *self._errors, passes, 0, 0, finished_by, names)

    def _status(self) -> Status:
        options, chain = self._options, self._layout.chain
        if self.is_reached() or (self.yields and not self._is_position_missed()):
            return Status.CONVERGED
        distance = math.dist(self._asked[:3, 3], chain.root_point)
        if distance > chain.reach + options.position_tolerance:
            return Status.TOO_FAR
        if distance < chain.inner_reach - options.position_tolerance:
            return Status.TOO_NEAR
        if self._is_blocked():
            if chain.is_at_narrower_bound(self._q, self._lower, self._upper, AT_LIMIT):
                return Status.BLOCKED_BY_JOINT_MOVE
            if len(chain) == 1:  # with more joints another configuration may be free
                return Status.BLOCKED_BY_LIMITS
        return Status.BUDGET_EXHAUSTED if time.perf_counter() > self._deadline else Status.STALLED

    def _is_blocked(self) -> bool:
        """Whether the error would fall if a joint could go beyond its bound."""
        q = self._q
        slopes = self._slopes()
        below = (q <= self._lower) & (slopes < -AT_LIMIT)
        above = (q >= self._upper) & (slopes > AT_LIMIT)
        return bool(np.any(below | above))

    def _slopes(self) -> Array:
        """Rate at which each joint value takes off the weighted squared error."""
        frames = frames_of(self._layout.chain, self._q)
        axes, centres = frames.before[:, :3, 2], frames.before[:, :3, 3]
        tip = frames.after[-1]
        T = self._wanted_pose(self._q)
        off = (T[:3, 3] - tip[:3, 3]) / self._scale
        prismatic = self._layout.prismatic[:, None]
        moves = np.where(prismatic, axes, np.cross(axes, tip[:3, 3] - centres)) / self._scale
        turn = np.zeros(3)
        if self.orients and not self.yields:
            turn = rotation_vector(T[:3, :3] @ tip[:3, :3].T)
        slopes: Array = moves @ off + np.where(prismatic, 0.0, axes) @ turn
        return slopes

    def _note(self, q: Array) -> None:
        """Keep a configuration if it is the best so far."""
        errors = self._errors_at(q)
        if self._order(errors) < self._order(self._errors):
            self._q, self._errors = q, errors

    def _order(self, errors: tuple[float, float]) -> tuple[float, float]:
        """Sort errors: where the orientation may yield, the position comes first."""
        apart, turned = errors
        if self.yields:
            return (apart if apart > self._options.position_tolerance else 0.0), turned
        return apart / self._scale + turned, 0.0

    def _errors_at(self, q: Array) -> tuple[float, float]:
        """Distance [m] and angle [rad] from the tip to the target, by forward kinematics."""
        tip = self._layout.chain.forward_kinematics(q)
        apart = math.dist(tip[:3, 3], self._asked[:3, 3])
        if not self.orients:
            return apart, 0.0
        return apart, float(np.linalg.norm(self._turn_wanted(tip)))

    def _turn_wanted(self, tip: Array) -> Array:
        """Rotation vector in the base frame from the tip to what the mode asks for [rad]."""
        R = self._asked[:3, :3]
        if self._options.mode == 'axis':
            axis = np.asarray(self._options.axis) / np.linalg.norm(self._options.axis)
            return np.array(rotation_onto(*(tip[:3, :3] @ axis), *(R @ axis)))
        return rotation_vector(R @ tip[:3, :3].T)

    def _wanted_pose(self, q: Array) -> Array:
        """Pose of the tip to head for; one axis alone leaves the turn about it as it is."""
        if self._options.mode != 'axis':
            return self._target
        tip = self._layout.chain.forward_kinematics(q)
        R = rotation_from_vector(self._turn_wanted(tip)) @ tip[:3, :3]
        return transform(R, self._target[:3, 3])

    @property
    def _tolerance(self) -> float:
        """How near the points have to be [m]: an error turns the links that hang on them."""
        options = self._options
        if not self.orients:
            return options.position_tolerance
        turning = options.orientation_tolerance * self._scale
        return min(options.position_tolerance, turning)


def _pulled_near(T: Array, chain: Chain) -> Array:
    """Pull a target from very far away to where it is as good, so that numbers stay small."""
    displacement = T[:3, 3] - chain.root_point
    distance = math.hypot(*displacement)
    farthest = FARTHEST * max(chain.reach, 1e-9)
    if distance <= farthest:
        return T
    return transform(T[:3, :3], chain.root_point + displacement * (farthest / distance))
