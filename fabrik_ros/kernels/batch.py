"""Many solves in one call, during which other threads may run."""

import numpy as np
import numpy.typing as npt

from ..transforms import Array
from ._jit import nogil_kernel
from .chain_search import solve


@nogil_kernel
def solve_many(
    model: Array,
    limits: Array,
    tasks: Array,
    sphere: Array,
    rows: Array,
    vectors: Array,
    polish: bool,
    count: int,
    targets: Array,
    seeds: Array,
    q: Array,
    errors: Array,
    restarts: npt.NDArray[np.int64],
    codes: npt.NDArray[np.int64],
) -> None:
    """Make the first `count` tries for each target, each given and answered as by `solve`."""
    for i in range(targets.shape[0]):
        codes[i], errors[i, 0], errors[i, 1], _, _, restarts[i], _, _, _ = solve(
            model, limits, tasks, sphere, rows, vectors, polish, count, targets[i], seeds[i], q[i]
        )
