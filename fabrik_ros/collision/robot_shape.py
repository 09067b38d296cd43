"""What space a robot, and what its links carry, takes up, for the kernels that look at points."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ..kernels.separation import Indices
from ..model.mechanism import Mechanism
from ..model.robot import Robot
from ..transforms import Array
from .solid_frames import SolidFrames
from .solids import Solid


@dataclass(frozen=True, eq=False)
class PlacedShape:
    """
    The g solids of a robot where they are at one time, in its root link.

    Attributes
    ----------
    shape : RobotShape
        The solids.
    frames : array, shape (g, 12)
        Rotations by rows, and origins [m].
    balls : array, shape (g, 4)
        Centres, and radii, of balls around the solids [m].

    """

    shape: RobotShape
    frames: Array
    balls: Array

    @property
    def for_kernels(self) -> tuple[Array, Indices, Indices, Array, Array, Array]:
        """The robot as `kernels/robot_shadow.py` takes it."""
        shape = self.shape
        return (
            shape.vertices,
            shape.bins,
            shape.candidates,
            shape.margins,
            self.frames,
            self.balls,
        )


class RobotShape:
    """
    Solids of a robot as polytopes with a margin.

    Parameters
    ----------
    robot : Robot
        The robot.
    mechanism : Mechanism
        Its arm, or arms.
    solids : sequence of Solid
        The g solids of its links, and what they carry.

    Attributes
    ----------
    vertices, bins, candidates, margins : array
        The solids: see `kernels/robot_shadow.py`.
    faces, face_starts : array
        Faces of all, shape (., 4), and where those of each begin and end, shape (g + 1,).

    """

    def __init__(self, robot: Robot, mechanism: Mechanism, solids: Sequence[Solid]) -> None:
        self._names, self._q = mechanism.joint_names, np.zeros(len(mechanism))
        self._frames = SolidFrames(robot, mechanism, solids)
        self._radii = np.array([solid.radius for solid in solids])
        outlines = [solid.outline for solid in solids]
        vertices = [len(o.vertices) for o in outlines]
        candidates = [len(o.candidates) for o in outlines]
        self.vertices = np.concatenate([o.vertices for o in outlines])
        self.bins = np.array(_stacked([o.bins for o in outlines], candidates))
        self.candidates = np.concatenate(_stacked([o.candidates for o in outlines], vertices))
        self.margins = np.array([o.margin for o in outlines])
        self.faces = np.concatenate([o.faces for o in outlines])
        self.face_starts = np.cumsum([0, *(len(o.faces) for o in outlines)])

    def at(self, values: Mapping[str, float]) -> PlacedShape:
        """
        Place the solids where they are at values of the joints, by name [rad or m].

        Joints that are not named are where they were the last time; at first at 0, or at the
        limit next to it.
        """
        at = zip(self._names, self._q, strict=True)
        self._q = np.array([values.get(name, value) for name, value in at])
        self._frames.set_other_joints(values)
        self._frames.move(self._q)
        balls = np.column_stack([self._frames.centres(), self._radii])
        return PlacedShape(self, self._frames.frames.copy(), balls)


def _stacked(parts: Sequence[Indices], lengths: Sequence[int]) -> list[Indices]:
    """Shift each part by the sum of the lengths of those before it."""
    return [part + sum(lengths[:number]) for number, part in enumerate(parts)]
