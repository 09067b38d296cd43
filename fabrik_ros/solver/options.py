"""Options of the solver."""

from dataclasses import dataclass, fields
import math
from numbers import Integral
from typing import Any, cast

import numpy as np

from ..errors import check_kind, check_number

MODES = ('auto', 'pose', 'axis', 'position')
METHODS = ('articulated', 'points')
BEYOND_POINTS = ('prefer', 'posture', 'axis_tolerances', 'axis_weights')
"""Options that method 'points' can do nothing with, though an answer should depend on them."""


@dataclass(frozen=True)
class SolverOptions:
    """
    Task and effort of the solver, checked when made.

    Parameters
    ----------
    mode : str
        'pose', 'axis' (position and the direction of one tool axis), 'position', or 'auto':
        'pose' with six joints or more; with fewer the position exactly, and the orientation too
        where that can be, else the best one that there is at the position. With `max_restarts` 0
        or a `max_joint_move` the best one near the seed, as whoever follows a target needs it.
    axis : tuple of 3 floats
        Tool axis for mode 'axis', in the tip frame; any length but zero.
    position_tolerance : float
        Accepted position error [m].
    orientation_tolerance : float
        Accepted orientation error [rad].
    axis_tolerances : tuple of 6 floats
        Errors that do not count: along x, y, z of the target [m] and about them [rad]. The
        tolerances of position and orientation hold for the rest of the error.
    axis_weights : tuple of 6 floats
        How much an error along x, y, z of the target, or about them, counts where not all can be
        met; an axis of weight 0 is free.
    polish : str
        'auto' finishes with Levenberg-Marquardt steps, 'never' with FABRIK alone.
    budget : float
        Time after which no new start is made [s].
    max_restarts : int, optional
        Starts from elsewhere than the seed and its neighbourhood; None: as many as the budget
        allows. 0: from the seed alone, so that the arm gets to the answer without a detour.
    max_joint_move : float
        No joint is farther than this from the seed in the answer [rad or m].
    prefer : str
        Of several configurations that reach the target: 'first', whichever is found first;
        'near', the one whose largest joint move from the seed is smallest; 'central', the one
        farthest from its limits. The latter two search as `FabrikSolver.solve_all` does.
    posture : tuple of floats, optional
        Joint values [rad or m] that a redundant arm tends to, as far as the target leaves it
        free: its configuration then depends on the target and no longer on the path there. The
        steps towards it are polish steps, also where `polish` is 'never'.
    posture_weight : float
        Share of the difference to the posture that a step takes, over 0 to 1.
    method : str
        'articulated', for `FabrikSolver`, or 'points', for `PointArmSolver`: FABRIK on the joint
        centres, then angles, which is exact for planar arms and instructive on others.
        `make_solver` chooses. With 'points' there are neither postures nor preferences, nor
        tolerances and weights of axes; `polish` and `max_restarts` mean nothing.

    Raises
    ------
    ValueError
        If an option makes no sense; names it, its value and what is allowed.

    """

    mode: str = 'auto'
    axis: tuple[float, float, float] = (0.0, 0.0, 1.0)
    position_tolerance: float = 1e-6
    orientation_tolerance: float = 1e-6
    axis_tolerances: tuple[float, ...] = (0.0,) * 6
    axis_weights: tuple[float, ...] = (1.0,) * 6
    polish: str = 'auto'
    budget: float = 0.02
    max_restarts: int | None = None
    max_joint_move: float = math.inf
    prefer: str = 'first'
    posture: tuple[float, ...] | None = None
    posture_weight: float = 1.0
    method: str = 'articulated'

    def __repr__(self) -> str:
        return shown_options(self)

    def __post_init__(self) -> None:
        _one_of('mode', self.mode, MODES)
        _one_of('method', self.method, METHODS)
        _one_of('polish', self.polish, ('auto', 'never'))
        _one_of('prefer', self.prefer, ('first', 'near', 'central'))
        for name in ('position_tolerance', 'orientation_tolerance', 'budget', 'max_joint_move'):
            value = getattr(self, name)
            check_number(name, value)
            if not value > 0.0:
                raise ValueError(f'{name} must be positive, got {value}')
        check_number('posture_weight', self.posture_weight)
        if not 0.0 < self.posture_weight <= 1.0:
            raise ValueError(
                f'posture_weight must be over 0 and at most 1, got {self.posture_weight}'
            )
        for name in ('axis_tolerances', 'axis_weights'):
            self._check_axes(name)
        if self.max_restarts is not None:
            check_kind('max_restarts', self.max_restarts, Integral)
            if self.max_restarts < 0:
                raise ValueError(f'max_restarts must not be negative, got {self.max_restarts}')
        axis = np.asarray(self.axis, dtype=np.float64)
        if axis.shape != (3,) or not np.isfinite(axis).all() or not np.any(axis):
            raise ValueError(f'axis must be three finite numbers, not all zero, got {self.axis}')

        if self.method == 'points':
            self._refuse_what_points_cannot_do()

    def _refuse_what_points_cannot_do(self) -> None:
        for name in BEYOND_POINTS:
            value, default = getattr(self, name), getattr(SolverOptions, name)
            if not np.array_equal(value, default):
                raise ValueError(
                    f"{name} cannot be combined with method 'points', got {value!r}; leave it at "
                    f"{default!r} or use method 'articulated'"
                )

    def _check_axes(self, name: str) -> None:
        values = np.asarray(getattr(self, name), dtype=np.float64)
        if values.shape != (6,) or not np.all(values >= 0.0):
            raise ValueError(
                f'{name} must be six numbers, none negative: along x, y, z and about them; '
                f'got {getattr(self, name)}'
            )
        if name == 'axis_weights' and not (np.any(values) and np.isfinite(values).all()):
            raise ValueError(f'{name} must be finite and not all zero, got {self.axis_weights}')
        default = 1.0 if name == 'axis_weights' else 0.0
        if self.mode == 'axis' and np.any(values != default):
            raise ValueError(
                f"{name} cannot be combined with mode 'axis'; in mode 'pose' an axis of weight 0 "
                'is free'
            )


def _one_of(name: str, value: str, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise ValueError(f"{name} must be one of {', '.join(allowed)}; got '{value}'")


def shown_options(options: Any) -> str:
    """Write a dataclass as the call that makes it: the fields that differ from their defaults."""
    changed = []
    for item in fields(options):
        value, default = getattr(options, item.name), cast(Any, item.default)
        if not np.array_equal(value, default):
            changed.append(f'{item.name}={value!r}')
    return f'{type(options).__name__}({", ".join(changed)})'
