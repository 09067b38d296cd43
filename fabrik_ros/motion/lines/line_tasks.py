"""Tasks of tips on a line: how far they are from it, and damped steps of the joints along it."""

from collections.abc import Mapping
from dataclasses import dataclass
import math

import numpy as np
import numpy.typing as npt

from ...methods import TipsSolver
from ...model.chain import Chain
from ...model.mechanism import Mechanism
from ...solver.options import SolverOptions
from ...solver.tree_solver import JOINTS_FOR_A_POSE, TipOptions
from ...transforms import Array
from .displacements import TipSpace
from .singularity import Jacobian

AT_LIMIT = 1e-12
"""A joint this near to a limit is held there [rad or m]."""
SLIDE_PER_REACH = 0.3
"""A prismatic joint that moves by this share of the reach counts as one radian [1/rad]."""


@dataclass(frozen=True)
class Deviation:
    """Distance of the tips from a line."""

    position: float = 0.0
    """Distance of the tip that is farthest from its position [m]."""
    orientation: float = 0.0
    """Turn of the tip that is turned most [rad], beyond the best orientation there is."""


class LineTasks:
    """
    Tells how far tips are from poses, and moves joints towards them.

    Parameters
    ----------
    robot : Chain or Tree
        The joints.
    options : SolverOptions
        Mode and axis.
    tips : mapping or None
        What is asked of the tips of a tree, `TipOptions` by tip link.
    exact : TipsSolver
        Finds the best orientation for arms that have too few joints for poses.

    """

    def __init__(
        self,
        robot: Mechanism,
        options: SolverOptions,
        tips: Mapping[str, TipOptions] | None,
        exact: TipsSolver,
    ) -> None:
        self._robot, self._exact = robot, exact
        asked = [(tips or {}).get(link, TipOptions()) for link in robot.tip_links]
        too_few = [
            int(robot.moves(t).sum()) < JOINTS_FOR_A_POSE for t in range(len(robot.tip_links))
        ]
        modes = [tip.mode or options.mode for tip in asked]
        self._yields = isinstance(robot, Chain) and modes[0] == 'auto' and too_few[0]
        few_mode = 'pose' if self._yields else 'position'
        self._modes = [
            (few_mode if few else 'pose') if mode == 'auto' else mode
            for mode, few in zip(modes, too_few, strict=True)
        ]
        axes = [options.axis if tip.axis is None else tip.axis for tip in asked]
        self._axes = [np.array(axis) / np.linalg.norm(axis) for axis in axes]
        self._jacobians = [Jacobian(robot, t) for t in range(len(robot.tip_links))]
        self._units = np.where(robot.is_revolute, 1.0, SLIDE_PER_REACH * max(robot.size, 1e-9))
        self._space = TipSpace(1.0, 1.0)

    @property
    def may_box(self) -> bool:
        """Whether solvers take tolerances of the orientation for what is asked."""
        return not self._yields and 'axis' not in self._modes

    def without_unasked(self, T: Array, T_goal: Array) -> Array:
        """Return a goal that keeps the orientation of poses `T` where none is asked for."""
        goal: Array = T_goal.copy()
        for t, mode in enumerate(self._modes):
            if mode == 'position' and not math.isnan(goal[t, 0, 0]):
                goal[t, :3, :3] = T[t, :3, :3]
        return goal

    def deviation(self, q: Array, T: Array) -> Deviation:
        """Deviation of tips at joint values `q`, shape (n,), from poses `T`, shape (k, 4, 4)."""
        position = orientation = 0.0
        for errors in self._errors(self._robot.tip_poses(q), T):
            position = max(position, float(np.linalg.norm(errors[:3])))
            orientation = max(orientation, float(np.linalg.norm(errors[3:])))
        if self._yields and orientation > 0.0:
            best = self._exact.solve(T, q).orientation_error
            orientation = max(0.0, orientation - best)
        return Deviation(position, orientation)

    def _errors(self, T_now: Array, T: Array) -> Array:
        """Tell what translation and rotation is left for each tip, shape (k, 6) [m, rad]."""
        errors = self._space.between(T_now, T)
        for t, mode in enumerate(self._modes):
            if mode == 'position':
                errors[t, 3:] = 0.0
            elif mode == 'axis' and not math.isnan(T[t, 0, 0]):
                errors[t, 3:] = _turn_onto(T_now[t, :3, :3], T[t, :3, :3], self._axes[t])
        return errors

    def lazy_step(
        self, q: Array, q_before: Array, T: Array, given_up: tuple[float, float]
    ) -> Array:
        """
        Move joints towards poses, and give up what would take them too far.

        Minimises |q - q_before|^2 + (position error / a)^2 + (orientation error / b)^2 within
        the limits.

        Parameters
        ----------
        q, q_before : array, shape (n,)
            Joint values now, and those that they are to stay near [rad or m].
        T : array, shape (k, 4, 4)
            Where the tips are to be.
        given_up : tuple
            The a [m/rad] and b [1] above.

        """
        n = len(q)
        normal, right = np.diag(1.0 / self._units**2), (q_before - q) / self._units**2
        T_now = self._robot.tip_poses(q)
        errors = self._errors(T_now, T)
        for t, (jacobian, mode) in enumerate(zip(self._jacobians, self._modes, strict=True)):
            if math.isnan(T[t, 0, 0]):
                continue
            J = jacobian.at(q)
            if mode == 'axis':
                axis = T_now[t, :3, :3] @ self._axes[t]
                J[3:] -= np.outer(axis, axis @ J[3:])
            J[:3] /= given_up[0]
            J[3:] /= given_up[1] if mode != 'position' else math.inf
            e = np.append(errors[t, :3] / given_up[0], errors[t, 3:] / given_up[1])
            normal += J.T @ J
            right += J.T @ e
        return self._within_limits(q, normal, right, np.ones(n, dtype=bool))

    def _within_limits(
        self, q: Array, normal: Array, right: Array, free: npt.NDArray[np.bool_]
    ) -> Array:
        """Take the step that solves normal equations; joints that meet a limit are held there."""
        lower, upper = np.minimum(self._robot.lower, q), np.maximum(self._robot.upper, q)
        step = np.zeros(len(q))
        for _ in range(len(q)):
            numbers = np.flatnonzero(free)
            if len(numbers) == 0:
                break
            held = right[numbers] - normal[np.ix_(numbers, ~free)] @ step[~free]
            step[numbers] = np.linalg.solve(normal[np.ix_(numbers, numbers)], held)
            beyond = free & ((q + step < lower - AT_LIMIT) | (q + step > upper + AT_LIMIT))
            if not beyond.any():
                break
            step[beyond] = np.clip(q + step, lower, upper)[beyond] - q[beyond]
            free = free & ~beyond
        return np.clip(q + step, lower, upper)


def _turn_onto(R: Array, R_to: Array, axis: Array) -> Array:
    """Shortest rotation vector, shape (3,), that turns a tool axis to where it is to be."""
    a, b = R @ axis, R_to @ axis
    cross = np.array(
        [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
    )
    sine = float(np.linalg.norm(cross))
    return cross if sine < AT_LIMIT else cross * (math.atan2(sine, float(a @ b)) / sine)
