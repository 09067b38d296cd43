"""
From joint centres to joint values: what is left to do when FABRIK has moved bare points.

Closed forms take the joints from base to tip (`closed_forms.py`). Points that no arm can have
leave an error; sweeps over all joints then spread it evenly (`sweeps.py`).

"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ...errors import ChainError
from ...kernels.arm_table import IS_MIMIC, SOURCE
from ...model.chain import Chain
from ...transforms import Array
from .closed_forms import closed_forms
from .marked_arm import frames_of, MarkedArm
from .sweeps import swept

SWEEPS = 50
"""At the most."""

LARGEST_COORDINATE = 1e100
"""Sums of products of coordinates up to this size do not overflow."""


def values_from_points(
    chain: Chain,
    points: npt.ArrayLike,
    seed: npt.ArrayLike,
    T_base_tip: npt.ArrayLike | None = None,
    *,
    lower: npt.ArrayLike | None = None,
    upper: npt.ArrayLike | None = None,
    sweeps: int = SWEEPS,
) -> tuple[Array, float]:
    """
    Find joint values that bring the joint centres of an arm to given points.

    `Chain.points` is the inverse. Points that the arm has in some configuration inside the limits
    are met, provided that no point has to determine three joints; for others the answer
    is as near as closed forms and sweeps get.

    Parameters
    ----------
    chain : Chain
        The arm; without mimic joints.
    points : array-like, shape (m + 1, 3)
        Where the m joint centres and the tip shall be, in the base frame [m].
    seed : array-like, shape (n,)
        Joints that no point determines stay here; of several answers the nearest is taken [rad or
        m]. Brought inside the limits.
    T_base_tip : array-like, shape (4, 4), optional
        Orientation that the tip shall have, for the joints that the points leave undetermined.
    lower, upper : array-like, shape (n,), optional
        Bounds beside the limits of the arm [rad or m].
    sweeps : int
        Largest number of sweeps; 0 for the closed forms alone.

    Returns
    -------
    q : array, shape (n,)
        Joint values inside the limits [rad or m].
    residual : float
        Largest distance between a point that was given and the one reached [m].

    Raises
    ------
    ChainError
        If the arm has a mimic joint.
    ValueError
        If the points have another shape, or a coordinate is not finite or over 1e100.
    TargetError
        If `T_base_tip` is not a pose.
    JointValueError
        If seed or bounds have another shape or are not numbers, or the bounds of a joint cross.

    """
    check_no_mimic_joint(chain)
    wanted = _checked_points(points, len(chain.model))
    least, most = bounds(chain, lower, upper)
    start = np.clip(chain.checked(seed, 'seed'), least, most)
    arm = MarkedArm(chain, start, least, most)
    if T_base_tip is not None:
        wanted = arm.take_orientation(wanted, T_base_tip)
    q = swept(arm, closed_forms(arm, wanted), wanted, sweeps)
    apart = np.linalg.norm(
        (arm.marks(frames_of(arm.chain, q)) - wanted)[: len(chain.model)], axis=1
    )
    return q, float(apart.max())


def check_no_mimic_joint(chain: Chain) -> None:
    """Raise ChainError for a mimic joint: no single point determines its value."""
    for number, row in enumerate(chain.model, start=1):
        if row[IS_MIMIC]:
            raise ChainError(
                f"moving joint number {number} from '{chain.base_link}' to '{chain.tip_link}' "
                f"follows joint '{chain.joint_names[int(row[SOURCE])]}' (mimic); joint values "
                "cannot be taken from points there: use method 'articulated'"
            )


def bounds(
    chain: Chain, lower: npt.ArrayLike | None, upper: npt.ArrayLike | None
) -> tuple[Array, Array]:
    """Return the limits of an arm, narrowed by bounds where there are any, shapes (n,)."""
    least = chain.lower if lower is None else chain.checked(_finite(lower), 'lower')
    most = chain.upper if upper is None else chain.checked(_finite(upper), 'upper')
    chain.check_bounds(least, most)
    return np.clip(least, chain.lower, chain.upper), np.clip(most, chain.lower, chain.upper)


def _finite(bounds: npt.ArrayLike) -> Array:
    """Replace infinite bounds by what no joint exceeds."""
    finite: Array = np.clip(bounds, -LARGEST_COORDINATE, LARGEST_COORDINATE)
    return finite


def _checked_points(points: npt.ArrayLike, count: int) -> Array:
    checked = np.array(points, dtype=np.float64)
    if checked.shape != (count, 3):
        raise ValueError(
            f'points have shape {checked.shape}, expected ({count}, 3): '
            'the joint centres from base to tip, and the tip'
        )
    if not (np.abs(checked) <= LARGEST_COORDINATE).all():
        raise ValueError(f'points must be finite and at most {LARGEST_COORDINATE:.0e} in size')
    return checked
