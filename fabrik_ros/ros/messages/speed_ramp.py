"""
Colours of speeds, from slow to fast, in RViz and in the browser: no ROS messages here.

They grow lighter with the speed, so that they can be told apart whatever colours one sees.

"""

import numpy as np
import numpy.typing as npt

from ...transforms import Array

STEPS = 24
"""Number of the colours [1]."""
_MARKS = np.array([(0.25, 0.42, 0.88), (0.16, 0.66, 0.66), (0.96, 0.82, 0.25)])
"""Red, green and blue at rest, at half of the greatest speed, and there; shape (3, 3)."""
RAMP: Array = np.column_stack(
    [np.interp(np.linspace(0.0, 2.0, STEPS), (0.0, 1.0, 2.0), part) for part in _MARKS.T]
)
"""Red, green and blue of all steps, slow to fast, shape (STEPS, 3), 0 to 1."""


def steps_of(speeds: Array, top: float) -> npt.NDArray[np.intp]:
    """Return the steps on `RAMP` of speeds, shape (m,), of which `top` is the greatest [m/s]."""
    shares = np.clip(speeds / top, 0.0, 1.0) if top > 0.0 else np.zeros_like(speeds)
    return np.rint(shares * (STEPS - 1)).astype(np.intp)
