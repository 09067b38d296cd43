"""Masses that a body can have, from those that a robot description gives."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np

from ..model.dynamics import Inertia
from ..model.robot import Robot
from ..transforms import Array

LIGHTEST, HEAVIEST = 1e-10, 1e6
"""Least and greatest believed mass of a link [kg]."""
FAR = 3.0
"""Largest believed distance of a mass from its link, in lengths of the robot [1]."""
POINT_RADIUS = 0.01
LOST_RADIUS = 0.05
ROD_DENSITY, SHORTEST_ROD, ROD_RADIUS = 2.0, 0.05, 0.02
"""The rod assumed for a moving link of unknown mass: density [kg/m], least length, radius [m]."""
FLAT = 1e-6
LEAST = 1e-12
"""Least moment that MuJoCo does not take for zero [kg m^2]."""
WORTH_TELLING = 1e-5


def repaired(
    robot: Robot, inertias: Mapping[str, Inertia]
) -> tuple[dict[str, Inertia], tuple[str, ...]]:
    """
    Give every moving link a mass and an inertia that a body can have.

    What is sound stays as it is. Links that carry no mass and move with one that does (frames)
    need none.

    Parameters
    ----------
    robot : Robot
        The robot.
    inertias : mapping
        Inertias by the name of the link, as described.

    Returns
    -------
    dict
        Sound inertias of the links that have mass.
    tuple of str
        What was changed, and why.

    """
    notes: list[str] = []
    size = max(1.0, sum(float(np.linalg.norm(joint.origin[:3, 3])) for joint in robot.joints))
    sound = {
        link: _sound(link, inertia, size, notes)
        for link, inertia in inertias.items()
        if _has_mass(link, inertia, size, notes)
    }
    for joint in robot.joints:
        moving = joint.type.is_drivable
        if moving and not any(link in sound for link in rigid_with(robot, joint.child)):
            sound[joint.child] = rod = _rod(robot, joint.child)
            notes.append(f"link '{joint.child}' has no mass; taken for a rod of {rod.mass:.2g} kg")
    return sound, tuple(notes)


def _has_mass(link: str, inertia: Inertia, size: float, notes: list[str]) -> bool:
    if inertia.mass == 0.0:
        return False
    if not LIGHTEST <= inertia.mass <= HEAVIEST:
        notes.append(f"link '{link}' has a mass of {inertia.mass:.6g} kg; left out")
        return False
    distance = float(np.abs(inertia.centre).max())
    if distance > FAR * size:
        notes.append(f"link '{link}' has its mass {distance:.3g} m away; left out")
        return False
    return True


def _sound(link: str, inertia: Inertia, size: float, notes: list[str]) -> Inertia:
    """
    Add the same to all three moments, as little as makes them possible for a body.

    No moment of a body exceeds the sum of the two others.
    """
    mass, tensor = inertia.mass, inertia.tensor
    if not np.abs(tensor).max() <= 2.0 * mass * size * size:
        notes.append(
            f"link '{link}' has an inertia as if its {mass:.3g} kg were farther away than the "
            f'robot is long ({size:.3g} m); taken for a ball'
        )
        return _ball(inertia, LOST_RADIUS)
    if np.trace(tensor) < 0.0:
        notes.append(f"link '{link}' has moments of inertia below 0; taken for a ball")
        return _ball(inertia, LOST_RADIUS)
    least, middle, most = np.linalg.eigvalsh(tensor)
    if most <= 0.0:
        return _ball(inertia, POINT_RADIUS)
    missing = max((1.0 + FLAT) * most - least - middle, LEAST - least)
    if missing <= 0.0:
        return inertia
    if missing > WORTH_TELLING * most:
        notes.append(
            f"link '{link}' has moments of inertia {least:.3g}, {middle:.3g}, {most:.3g} kg m^2, "
            f'which no body has; {missing:.3g} was added to each'
        )
    return replace(inertia, tensor=tensor + missing * np.eye(3))


def _ball(inertia: Inertia, radius: float) -> Inertia:
    return replace(inertia, tensor=0.4 * inertia.mass * radius**2 * np.eye(3))


def _rod(robot: Robot, link: str) -> Inertia:
    """Mass of a rod from the joint above a link to the joint below it that is farthest away."""
    ends = [joint.origin[:3, 3] for joint in robot.child_joints[link]]
    end: Array = max(ends, key=lambda p: float(np.linalg.norm(p)), default=np.zeros(3))
    length = max(float(np.linalg.norm(end)), SHORTEST_ROD)
    mass = ROD_DENSITY * length
    return Inertia(
        mass, 0.5 * end, mass * (length**2 / 12.0 + ROD_RADIUS**2) * np.eye(3), np.eye(3)
    )


def rigid_with(robot: Robot, link: str) -> Iterator[str]:
    """Links that move together with one, itself first."""
    yield link
    for joint in robot.child_joints[link]:
        if not joint.type.is_drivable:
            yield from rigid_with(robot, joint.child)
