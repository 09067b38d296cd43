"""The part of a path that is still ahead, as a tube: no ROS messages here."""

import numpy as np

from ...transforms import Array

MOST_BALLS = 500
"""Most balls of a tube [1]."""


class PathAhead:
    """Keeps how far tips have come along the path that was found last; they never go back."""

    def __init__(self) -> None:
        self._path = np.empty((0, 0, 4, 4))
        self._passed: list[int] = []

    def points(self, path: Array, tips: Array) -> list[Array]:
        """
        Return the places of each tip that are ahead, the nearest one first.

        Parameters
        ----------
        path : array, shape (m, k, 4, 4)
            Poses of the k tips on it; another array is another path.
        tips : array, shape (k, 4, 4)
            Where the tips are.

        Returns
        -------
        list of array, shape (., 3)
            For each tip [m].

        """
        if path is not self._path:
            self._path, self._passed = path, [0] * len(tips)
        ahead = []
        for number, tip in enumerate(tips):
            places = path[:, number, :3, 3]
            distances = np.linalg.norm(places - tip[:3, 3], axis=1)
            passed = self._passed[number]
            while passed + 1 < len(places) and distances[passed + 1] <= distances[passed]:
                passed += 1
            self._passed[number] = passed
            ahead.append(places[passed:])
        return ahead


def tube(points: Array, width: float) -> Array:
    """
    Return centres of balls that overlap, so that they look like a tube.

    Parameters
    ----------
    points : array, shape (m, 3)
        Corners of its middle line, at least one.
    width : float
        Diameter of the balls; a longer tube than `MOST_BALLS` make has gaps [m].

    """
    lengths = np.concatenate([[0.0], np.linalg.norm(np.diff(points, axis=0), axis=1).cumsum()])
    count = min(int(np.ceil(lengths[-1] / (0.5 * width))) + 1, MOST_BALLS)
    at = np.linspace(0.0, lengths[-1], count)
    return np.column_stack([np.interp(at, lengths, axis) for axis in points.T])
