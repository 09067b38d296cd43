"""The part of a path that is still ahead, as a tube: no ROS messages here."""

import numpy as np
import numpy.typing as npt

from ...transforms import Array

MOST_BALLS = 500
"""Most balls of a tube [1]."""


class PathAhead:
    """Keeps how far tips have come along the path that was found last; they never go back."""

    def __init__(self) -> None:
        self._path = np.empty((0, 0, 4, 4))
        self._passed: list[int] = []

    def passed(self, path: Array, tips: Array) -> list[int]:
        """
        Return the number of poses that each tip has passed; it is near the next one.

        Parameters
        ----------
        path : array, shape (m, k, 4, 4)
            Poses of the k tips on it; another array is another path.
        tips : array, shape (k, 4, 4)
            Where the tips are.

        """
        if path is not self._path:
            self._path, self._passed = path, [0] * len(tips)
        for number, tip in enumerate(tips):
            places = path[:, number, :3, 3]
            distances = np.linalg.norm(places - tip[:3, 3], axis=1)
            passed = self._passed[number]
            while passed + 1 < len(places) and distances[passed + 1] <= distances[passed]:
                passed += 1
            self._passed[number] = passed
        return list(self._passed)


def tube(points: Array, width: float) -> tuple[Array, npt.NDArray[np.intp]]:
    """
    Put balls that overlap along a line, so that they look like a tube.

    Parameters
    ----------
    points : array, shape (m, 3)
        Corners of the line, at least two.
    width : float
        Diameter of the balls; a longer tube than `MOST_BALLS` make has gaps [m].

    Returns
    -------
    centres : array, shape (k, 3)
        Of the balls [m].
    pieces : array of int, shape (k,)
        Between which corners each one is: 0 is between the first and the second.

    """
    lengths = np.concatenate([[0.0], np.linalg.norm(np.diff(points, axis=0), axis=1).cumsum()])
    count = min(int(np.ceil(lengths[-1] / (0.5 * width))) + 1, MOST_BALLS)
    at = np.linspace(0.0, lengths[-1], count)
    centres = np.column_stack([np.interp(at, lengths, axis) for axis in points.T])
    return centres, np.clip(np.searchsorted(lengths, at) - 1, 0, len(points) - 2)
