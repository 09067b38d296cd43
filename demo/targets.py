"""The targets of the demo's scenes: fixed sequences without end, always the same."""

from collections.abc import Iterator
import itertools
import math
from typing import NamedTuple

from fabrik_ros import Chain, pose_from_xyz_rpy
from fabrik_ros.programs import Arc, Line, Move, Pause, Program
import numpy as np

SEED = 2011
LEAST_DISTANCE, MOST_DISTANCE = 0.25, 0.8
NEARBY = 0.25
LEAST_TOO_FAR, MOST_TOO_FAR = 1.1, 1.7
"""How far targets out of reach are from the first joint, as shares of the reach [1]."""
# Signs of x, y, z: every octant once, each next to the one before it.
OCTANTS = (
    (1, 1, 1), (1, 1, -1), (1, -1, -1), (1, -1, 1), (-1, -1, 1), (-1, -1, -1), (-1, 1, -1),
    (-1, 1, 1),
)  # fmt: skip


class Station(NamedTuple):
    """Where poses between the obstacles are drawn from."""

    centre: tuple[float, float, float]
    """[m]."""
    spread: tuple[float, float, float]
    """How far from the centre a position may be, along x, y and z [m]."""
    rpy: tuple[float, float, float]
    """Orientation [rad], about whose tool axis the tool may turn."""


DOWN, FORWARD = (math.pi, 0.0, 0.0), (0.0, 0.5 * math.pi, 0.0)
LEFT_OF_WALL = Station((0.45, 0.38, 0.15), (0.12, 0.1, 0.05), DOWN)
RIGHT_OF_WALL = Station((0.33, -0.42, 0.17), (0.07, 0.1, 0.06), DOWN)
LOWER_SHELF = Station((0.545, -0.42, 0.18), (0.02, 0.06, 0.03), FORWARD)
UPPER_SHELF = Station((0.535, -0.42, 0.5), (0.02, 0.06, 0.03), FORWARD)
ROUND = (LEFT_OF_WALL, LOWER_SHELF, RIGHT_OF_WALL, LEFT_OF_WALL, UPPER_SHELF)
TURN = 0.5
"""How far the tool may be turned about its axis at a station [rad]."""


def around(chain: Chain) -> Iterator[np.ndarray]:
    """
    Poses T_base_tip, shape (4, 4), in every octant round the arm, far and near.

    Far and near by turns: a random configuration with the tip in the next octant, then one with
    every joint within 0.25 rad of it. So all can be reached, and their orientations are anything.
    """
    rng = np.random.default_rng(SEED)
    while True:
        for octant in OCTANTS:
            q = configuration_in(octant, chain, rng)
            yield chain.forward_kinematics(q)
            nearby = q + rng.uniform(-NEARBY, NEARBY, len(chain))
            yield chain.forward_kinematics(np.clip(nearby, chain.lower, chain.upper))


def out_of_reach(chain: Chain) -> Iterator[np.ndarray]:
    """Poses T_base_tip, shape (4, 4), farther away than the arm is long, the tool outwards."""
    rng = np.random.default_rng(SEED)
    while True:
        for octant in OCTANTS:
            outwards = np.array(octant) * rng.uniform(0.2, 1.0, 3)
            outwards /= np.linalg.norm(outwards)
            distance = chain.reach * rng.uniform(LEAST_TOO_FAR, MOST_TOO_FAR)
            x, y, z = outwards
            rpy = 0.0, math.acos(z), math.atan2(y, x)
            yield pose_from_xyz_rpy(chain.root_point + distance * outwards, rpy)


def between_obstacles(chain: Chain) -> Iterator[np.ndarray]:
    """Poses T_base_tip, shape (4, 4), on both sides of the wall and in the shelf by turns."""
    rng = np.random.default_rng(SEED)
    for station in itertools.cycle(ROUND):
        xyz = np.array(station.centre) + rng.uniform(-1.0, 1.0, 3) * station.spread
        about_tool = pose_from_xyz_rpy(np.zeros(3), (0.0, 0.0, rng.uniform(-TURN, TURN)))
        yield pose_from_xyz_rpy(xyz, station.rpy) @ about_tool


SEAM_SPEED = 0.1
"""[m/s]."""
SEAM_X, SEAM_Y, SEAM_Z = 0.45, (0.24, 0.48), 0.12
"""Where the seam is [m]."""
WAVES, WAVE = 6, 0.03
"""Number of half waves of the seam, and their height [m]."""
ABOVE = 0.12
"""How far above a place the tool comes and goes [m]."""
PICKED, PLACED = (0.45, 0.38, 0.1), (0.33, -0.42, 0.12)
GRASP_TIME = 0.4
"""[s]."""
BLEND = 0.03
"""[m]."""


def programs(_chain: Chain) -> Iterator[Program]:
    """Weld a seam, and carry something round the wall, by turns."""
    while True:
        yield Program([Move(down(SEAM_X, SEAM_Y[0], SEAM_Z + ABOVE), blend=BLEND), *seam()])
        yield Program([*visit(PICKED), *visit(PLACED)])


def seam() -> Iterator[Line | Arc]:
    """Go down to a seam of half circles, along it at one speed, and up again."""
    ends = np.linspace(*SEAM_Y, WAVES + 1)
    yield Line(down(SEAM_X, ends[0], SEAM_Z))
    for number, (y, y_end) in enumerate(itertools.pairwise(ends.tolist())):
        via = SEAM_X + WAVE * (-1) ** number, 0.5 * (y + y_end), SEAM_Z
        is_last = number + 1 == WAVES
        blend = 0.0 if is_last else 0.1 * WAVE
        yield Arc(via, down(SEAM_X, y_end, SEAM_Z), speed=SEAM_SPEED, blend=blend)
    yield Line(down(SEAM_X, SEAM_Y[1], SEAM_Z + ABOVE))


def visit(place: tuple[float, float, float]) -> list[Move | Line | Pause]:
    """Come to a place from above, stay a moment as a gripper does, and go up again."""
    x, y, z = place
    above = down(x, y, z + ABOVE)
    return [
        Move(above, blend=BLEND),
        Line(down(x, y, z)),
        Pause(GRASP_TIME),
        Line(above, blend=BLEND),
    ]


def down(x: float, y: float, z: float) -> np.ndarray:
    """Pose of a tool that points down, shape (4, 4)."""
    return pose_from_xyz_rpy([x, y, z], DOWN)


def configuration_in(
    octant: tuple[int, int, int], chain: Chain, rng: np.random.Generator
) -> np.ndarray:
    """Draw configurations until the tip is in the octant, neither folded up nor stretched."""
    while True:
        q = chain.random_configuration(rng)
        p = chain.forward_kinematics(q)[:3, 3] - chain.root_point
        share = np.linalg.norm(p) / chain.reach
        if np.all(p * octant > 0.0) and LEAST_DISTANCE <= share <= MOST_DISTANCE:
            return q
