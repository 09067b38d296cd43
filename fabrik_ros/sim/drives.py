"""Drives strong and stiff enough for an arm, sized by what it weighs."""

from collections.abc import Sequence
from dataclasses import dataclass
import math

import numpy as np

from ..model.dynamics import Drive
from ..transforms import Array

ACCELERATION = 10.0
"""Acceleration that a drive of unknown strength gives, beside the weight [rad/s^2, m/s^2]."""
RESERVE = 4.0
"""Strength of such a drive, as a multiple of what weight and that acceleration take."""
ABSURD, ORDINARY = 100.0, 200.0
"""Greatest believed strength: this multiple of the strongest needed effort [1], or this [N m or N]
if that is more."""
ROTOR = 0.007
"""Reflected inertia of motor and gear for each N m (N) of effort: about that of servos from
3 N m to 150 N m [kg m^2 / N m]."""
FRICTION = 0.005
"""Dry friction of a joint whose friction is unknown, as a share of its effort."""
DAMPING = 0.02
"""Viscous friction at full speed, where it is unknown, as a share of the effort."""
ORDINARY_SPEED, SLOWEST = 3.0, 0.01
MOST_LOSS = 0.5
"""Largest believed share of the effort that friction takes [1]."""
LONGEST_STEP = 0.5
"""Longest time step, as an angle of the fastest oscillation [rad]: a longer one makes it grow."""


@dataclass(frozen=True, eq=False)
class Load:
    """Load on the drives of an arm, in several configurations."""

    inertia: Array
    """Mass matrices, shape (m, n, n), the first at mid configuration [kg m^2 or kg]."""
    weight: Array
    """Forces or torques that hold the arm against gravity, shape (m, n) [N m or N]."""
    speed: Array
    """Greatest speeds, shape (n,), infinite where unknown [rad/s or m/s]."""


@dataclass(frozen=True, eq=False)
class Drives:
    """All drives of an arm; arrays of shape (n,), in units of [rad] or [m] by joint type."""

    effort: Array
    """Greatest force or torque."""
    rotor: Array
    """Inertia of motor and gear, as felt at the joint."""
    stiffness: Array
    """Force for each unit of position error."""
    braking: Array
    """Force for each unit of velocity error."""
    damping: Array
    """Viscous friction."""
    friction: Array
    """Dry friction."""
    notes: tuple[str, ...]
    """Values of the description that were not believed."""


def sized(
    names: Sequence[str],
    described: Sequence[Drive],
    load: Load,
    bandwidth: float,
    damping_ratio: float,
    timestep: float,
) -> Drives:
    """
    Size the drives of an arm: as described where that is sensible.

    Parameters
    ----------
    names : sequence of str
        Joints.
    described : sequence of Drive
        What the robot description says about each.
    load : Load
        What they have to move.
    bandwidth : float
        Wanted frequency of position control [Hz].
    damping_ratio : float
        1 is critical.
    timestep : float
        Of the simulation [s]: bounds the stiffness.

    """
    notes: list[str] = []
    moments = np.diagonal(load.inertia, axis1=1, axis2=2)
    needed = np.abs(load.weight).max(axis=0) + ACCELERATION * moments.max(axis=0)
    weight = np.abs(load.weight).max(axis=0)
    strongest = max(ABSURD * float(needed.max(initial=0.0)), ORDINARY)
    effort = np.array(
        [
            _effort(name, drive, least, strongest, RESERVE * need, notes)
            for name, drive, least, need in zip(names, described, weight, needed, strict=True)
        ]
    )
    rotor = ROTOR * effort
    speed = np.where(np.isfinite(load.speed), np.maximum(load.speed, SLOWEST), ORDINARY_SPEED)
    friction = [
        _loss(name, 'friction', drive.friction, FRICTION * most, MOST_LOSS * most, notes)
        for name, drive, most in zip(names, described, effort, strict=True)
    ]
    damping = [
        _loss(name, 'damping', drive.damping, DAMPING * most / v, MOST_LOSS * most / v, notes)
        for name, drive, most, v in zip(names, described, effort, speed, strict=True)
    ]
    stiffness = (moments[0] + rotor) * (2.0 * math.pi * bandwidth) ** 2
    share = _stable_share(stiffness, load.inertia + np.diag(rotor), timestep)
    if share < 1.0:
        notes.append(f'drives are {share:.2g} times as stiff as wanted: steps are {timestep:g} s')
    stiffness = share * stiffness
    braking = 2.0 * damping_ratio * np.sqrt(stiffness * (moments[0] + rotor))
    return Drives(
        effort, rotor, stiffness, braking, np.array(damping), np.array(friction), tuple(notes)
    )


def _effort(
    name: str, drive: Drive, least: float, most: float, otherwise: float, notes: list[str]
) -> float:
    given = drive.effort
    if given is not None and max(least, 0.0) < given <= most:
        return given
    if given is not None:
        notes.append(
            f"joint '{name}' has an effort of {given:.6g}, but holding its weight takes up to "
            f'{least:.3g}; taken as {otherwise:.3g}'
        )
    return otherwise


def _loss(
    name: str, what: str, given: float | None, usual: float, most: float, notes: list[str]
) -> float:
    if given is None:
        return usual
    if 0.0 <= given <= most:
        return given
    notes.append(
        f"joint '{name}' has a {what} of {given:.6g}, and a drive for at most {most:.3g}; taken "
        f'as {usual:.3g}'
    )
    return usual


def _stable_share(stiffness: Array, inertia: Array, timestep: float) -> float:
    """Share of a stiffness, shape (n,), whose oscillations are slow enough for a time step."""
    fastest = max(
        (float(np.abs(np.linalg.eigvals(np.linalg.solve(M, np.diag(stiffness)))).max(initial=0.0))
         for M in inertia),
        default=0.0,
    )  # fmt: skip
    slowest_allowed = (LONGEST_STEP / timestep) ** 2
    return min(1.0, slowest_allowed / fastest) if fastest > 0.0 else 1.0
