"""Request for a path, to a planner."""

from __future__ import annotations

from dataclasses import dataclass
import math

import numpy as np

from ..errors import check_number, JointValueError, shown, TargetError
from ..model.mechanism import Mechanism
from ..solver.tree_solver import is_unconstrained
from ..transforms import Array, why_no_pose

PLANNING_TIME = 10.0
"""Default of the longest search [s]."""
AT_LIMIT = 1e-6
"""Largest distance of joint values at the goal outside a limit, by rounding [rad or m]."""


@dataclass(frozen=True, eq=False)
class PlanRequest:
    """
    Start and goal of a way, and the longest search for it.

    Poses, joint values, or both are given: of both, the joint values are the preferred ones of
    the configurations at the poses.

    Parameters
    ----------
    start : array, shape (n,)
        Where the arm is [rad or m].
    T : array, shape (k, 4, 4), or None
        Poses of the k tips in the base frame; NaN for tips without a target.
    q_goals : tuple of arrays
        Joint values at the goal, shape (n,) each, the preferred ones first [rad or m].
    posture : array, shape (n,), or None
        The configuration at the goal that is nearest to this one is tried first [rad or m];
        None: the one soonest reached.
    fastest : array, shape (n,), or None
        Greatest speeds of the joints [rad/s or m/s]; None: all alike.
    planning_time : float
        Longest search [s].
    seed : int
        Source of chance, above 0: the same one gives the same way, where time suffices.
    brakes_straight : bool
        Whether the arm brakes straight ahead, as one whose jerk is limited: then the free distance
        there is found.

    """

    start: Array
    T: Array | None = None
    q_goals: tuple[Array, ...] = ()
    posture: Array | None = None
    fastest: Array | None = None
    planning_time: float = PLANNING_TIME
    seed: int = 1
    brakes_straight: bool = False

    def check(self, robot: Mechanism) -> None:
        """
        Check that the request makes sense for a robot.

        Raises
        ------
        JointValueError
            If joint values have another shape, are not finite, or are outside the limits at the
            goal.
        TargetError
            If there is no goal, or one is no pose.
        ValueError, TypeError
            If the planning time or the seed makes no sense.

        """
        robot.checked(self.start, 'start')
        for q in self.q_goals:
            check_limits(robot, robot.checked(q, 'goal'))
        for name in ('posture', 'fastest'):
            if (values := getattr(self, name)) is not None:
                robot.checked(values, name)
        if self.fastest is not None and not np.all(self.fastest > 0.0):
            raise ValueError('fastest must be above 0 for each joint')
        check_number('planning_time', self.planning_time)
        if not 0.0 < self.planning_time < math.inf:
            raise ValueError(f'planning_time must be positive, got {self.planning_time}')
        if self.seed < 1:
            raise ValueError(f'seed must be 1 or more, got {self.seed}')
        if self.T is not None:
            _check_poses(robot, self.T)
        elif not self.q_goals:
            raise TargetError('neither poses nor joint values are given as a goal')


def check_limits(
    robot: Mechanism, q: Array, what: str = 'the goal', margin: float = AT_LIMIT
) -> None:
    """
    Check that joint values are within the limits.

    Parameters
    ----------
    robot : Chain or Tree
        The joints.
    q : array, shape (n,)
        Their values [rad or m].
    what : str
        What they are called.
    margin : float
        By how much they may be outside [rad or m].

    Raises
    ------
    JointValueError
        If they are not; names the joint, its value and what is allowed.

    """
    outside = (q < robot.lower - margin) | (q > robot.upper + margin)
    if outside.any():
        j = int(np.argmax(outside))
        raise JointValueError(
            f"{what} has {q[j]:.6g} for joint '{shown(robot.joint_names[j])}', whose limits are "
            f'{robot.lower[j]:.6g} and {robot.upper[j]:.6g}'
        )


def _check_poses(robot: Mechanism, T: Array) -> None:
    expected = (len(robot.tip_links), 4, 4)
    if np.shape(T) != expected:
        raise TargetError(f'the target has the shape {np.shape(T)}; expected {expected}')
    is_none = is_unconstrained(T)
    for link, pose in zip(np.array(robot.tip_links)[~is_none], T[~is_none], strict=True):
        if why := why_no_pose(pose):
            raise TargetError(f"the target of '{shown(str(link))}' is no pose: {why}")
    if is_none.all():
        raise TargetError('no tip has a target')
