"""Targets as programs give them: poses, joint values, names of configurations; checked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from ..errors import RefusedError, TargetError
from ..model.mechanism import Mechanism
from ..transforms import Array, as_pose, is_pose, why_no_pose
from .following.joint_goal import check_joint_values


def check_values(arm: Mechanism, values: Mapping[str, float]) -> None:
    """
    Look whether joints of the arm can have these values [rad or m].

    Raises
    ------
    TargetError
        If a joint is unknown, or its value outside the limits; names it.

    """
    try:
        check_joint_values(arm, values)
    except RefusedError as error:
        raise TargetError(str(error)) from error


def checked_poses(tip_links: Sequence[str], target: npt.ArrayLike) -> list[tuple[int, Array]]:
    """
    Numbers of the tips that have a target, and their poses, shape (4, 4).

    Parameters
    ----------
    tip_links : sequence of str
        Names of the k tips.
    target : array-like, shape (4, 4) where there is one tip, else (k, 4, 4)
        T_base_tip; NaN for tips without a target, where there are several.

    Raises
    ------
    TargetError
        If it has another shape, or a pose is none.

    """
    count = len(tip_links)
    try:
        T = np.array(target, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise TargetError(f'the target is no array of numbers: {error}') from error
    shape = (4, 4) if count == 1 else (count, 4, 4)
    if T.shape != shape:
        raise TargetError(f'the target has shape {T.shape}, expected {shape}')
    poses = T.reshape(-1, 4, 4)
    given = [t for t in range(count) if count == 1 or not np.isnan(poses[t]).all()]
    for t in given:
        if is_pose(poses[t]):
            continue
        if why := why_no_pose(poses[t]):
            raise TargetError(
                f"the target of '{tip_links[t]}' is no pose: expected finite numbers, a rotation "
                f'and the last row 0 0 0 1, and {why}; got {poses[t].tolist()}'
            )
        poses[t] = as_pose(poses[t])
    return [(t, poses[t]) for t in given]
