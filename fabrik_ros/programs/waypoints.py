"""Poses to go through, as people set them one by one: in RViz, and in the browser."""

from collections import deque
from collections.abc import Iterable

from ..transforms import Array
from .program import Line, Move, Program

NAME = 'waypoints'
"""Name of the program through them."""
MOST_CHANGES = 100
"""Number of changes that can be taken back."""

Poses = tuple[Array, ...]
"""T_base_tip, shape (4, 4) each."""


class Waypoints:
    """
    Keeps poses in their order, and what they were before.

    Attributes
    ----------
    poses : tuple of array, shape (4, 4)
        The poses T_base_tip; replaced at each change.

    """

    def __init__(self) -> None:
        self.poses: Poses = ()
        self._before: deque[Poses] = deque(maxlen=MOST_CHANGES)

    def __len__(self) -> int:
        return len(self.poses)

    @property
    def can_undo(self) -> bool:
        """Whether there is a change to take back."""
        return bool(self._before)

    def add(self, T: Array) -> None:
        """Add a pose behind the last one."""
        self.replace((*self.poses, T))

    def move(self, number: int, T: Array) -> None:
        """Move one of them, by its number from 0 on."""
        self.replace((*self.poses[:number], T, *self.poses[number + 1 :]))

    def clear(self) -> None:
        """Take all away."""
        if self.poses:
            self.replace(())

    def replace(self, poses: Iterable[Array]) -> None:
        """Put others in their place."""
        self._before.append(self.poses)
        self.poses = tuple(poses)

    def undo(self) -> None:
        """Take back the last change, if there is one."""
        if self._before:
            self.poses = self._before.pop()

    def program(self, blend: float = 0.0, speed: float | None = None) -> Program:
        """
        Make the program through all of them: to the first by any free way, then in lines.

        Parameters
        ----------
        blend : float
            Distance within which the arm may pass all but the last one [m]; 0: it stops at each.
        speed : float, optional
            Speed of the tip [m/s]; None: the greatest one.

        Raises
        ------
        ProgramError
            If there are none, or a number makes no sense.

        """
        last = len(self.poses) - 1
        return Program(
            (Line if number else Move)(T, speed=speed, blend=blend if number < last else 0.0)
            for number, T in enumerate(self.poses)
        )
