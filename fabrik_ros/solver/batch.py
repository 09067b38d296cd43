"""Many targets at once, on all cores."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import as_completed, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
import os
import threading

import numpy as np
import numpy.typing as npt

from ..kernels.batch import solve_many
from ..kernels.search import NOT_YET, REACHED
from ..transforms import Array
from .packed_chain import PackedArm
from .solution import Solution, Status

CHUNK = 256
LONG_WORK = 1.0


@dataclass(frozen=True, eq=False)
class BatchSolution:
    """
    Answers to N targets, in their order; `len` counts them.

    Attributes
    ----------
    q : array, shape (N, n)
        Joint values [rad or m]; inside the limits whatever the status.
    status : tuple of Status
        How each solve ended.
    position_error : array, shape (N,)
        Distances from tip to target [m].
    orientation_error : array, shape (N,)
        Angles to the orientation, or the axis, that the mode asks for [rad].
    restarts : array of int, shape (N,)
        Starts made from elsewhere than the seeds and their neighbourhood.

    """

    q: Array
    status: tuple[Status, ...]
    position_error: Array
    orientation_error: Array
    restarts: npt.NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.status)

    def __bool__(self) -> bool:
        raise ValueError(
            'a batch of solutions is neither true nor false: ask batch.converged.all() or .any()'
        )

    def __repr__(self) -> str:
        counts = Counter(status.name for status in self.status).most_common()
        ends = ', '.join(f'{count} {name}' for name, count in counts)
        return f'BatchSolution({len(self)} targets{": " if ends else ""}{ends})'

    @property
    def converged(self) -> npt.NDArray[np.bool_]:
        """Mask of the targets that are reached within the tolerances, shape (N,)."""
        return np.array([status is Status.CONVERGED for status in self.status], dtype=bool)


def solve_batch(
    arm: PackedArm | None,
    tries: int,
    targets: Array,
    seeds: Array,
    solve: Callable[[int], Solution],
    progress: bool,
) -> BatchSolution:
    """
    Solve for many targets: the first tries on all cores, the rest one after the other.

    Parameters
    ----------
    arm : PackedArm or None
        What is searched; None where every target has to be solved by `solve`.
    tries : int
        How many tries are the first ones.
    targets, seeds : array, shapes (N, 4, 4) and (N, n)
        As the kernels take them.
    solve : callable
        Solves for the target of a number.
    progress : bool
        Whether to show how far it is.

    """
    q, errors = np.empty(seeds.shape), np.empty((len(targets), 2))
    restarts, codes = np.zeros(len(targets), np.int64), np.full(len(targets), NOT_YET)
    status = [Status.CONVERGED] * len(targets)
    with progress_bar(len(targets), progress) as advance:
        if arm is not None:
            for part in first_tries(arm, tries, targets, seeds, q, errors, restarts, codes):
                advance(int(np.count_nonzero(codes[part] == REACHED)))
        for i in np.flatnonzero(codes != REACHED).tolist():
            solution = solve(i)
            q[i], status[i], restarts[i] = solution.q, solution.status, solution.restarts
            errors[i] = solution.position_error, solution.orientation_error
            advance(1)
    return BatchSolution(q, tuple(status), errors[:, 0], errors[:, 1], restarts)


def first_tries(
    arm: PackedArm,
    tries: int,
    targets: Array,
    seeds: Array,
    q: Array,
    errors: Array,
    restarts: npt.NDArray[np.int64],
    codes: npt.NDArray[np.int64],
) -> Iterator[slice]:
    """Make the first tries, spread over the cores; yield which part of the targets is done."""
    memory = threading.local()

    def buffers(part: slice) -> slice:
        if not hasattr(memory, 'arm'):
            memory.arm = arm.with_own_memory()
        own: PackedArm = memory.arm
        solve_many(
            *own, tries, targets[part], seeds[part], q[part], errors[part], restarts[part],
            codes[part],
        )  # fmt: skip
        return part

    parts = [slice(begin, begin + CHUNK) for begin in range(0, len(targets), CHUNK)]
    with ThreadPoolExecutor(available_cores()) as pool:
        for done in as_completed([pool.submit(buffers, part) for part in parts]):
            yield done.result()


def available_cores() -> int:
    """Count the cores that this process may use."""
    if hasattr(os, 'sched_getaffinity'):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@contextmanager
def progress_bar(total: int, wanted: bool) -> Iterator[Callable[[int], object]]:
    """Show a bar where a person looks on, work is long and tqdm is installed."""
    try:
        from tqdm import tqdm
    except ImportError:
        yield lambda count: None
        return
    with tqdm(total=total, delay=LONG_WORK, disable=None if wanted else True) as bar:
        yield bar.update
