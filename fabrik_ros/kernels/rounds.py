"""
FABRIK rounds, one pass each way, and their acceleration.

A round is a fixed-point map q -> g(q) that converges linearly. Anderson acceleration combines
the last rounds so that their residuals f = g(q) - q cancel in the least-squares sense. It uses
nothing but the rounds themselves: no Jacobian, no matrix of the arm.

Source: Anderson, "Iterative procedures for nonlinear integral equations", J. ACM 12 (1965);
Walker & Ni, "Anderson acceleration for fixed-point iterations", SIAM J. Numer. Anal. 49 (2011).

"""

from ..transforms import Array
from ._jit import kernel
from .frames import copy
from .kinematics import joint_and_link_frames
from .reaching import base_to_tip, tip_to_base
from .task import is_reached, merit, tip_error
from .workspace import DEPTH, Workspace

CALM_ROUND = 0.5
LONGEST_STEP = 1.0
PATIENCE = 7
WORTHWHILE = 0.9


@kernel
def run_rounds(
    model: Array,
    lower: Array,
    upper: Array,
    units: Array,
    target: Array,
    task: Array,
    most: int,
    accelerate: bool,
    q: Array,
    work: Workspace,
) -> int:
    """
    Run rounds from `q`, at most `most`, and leave the best configuration in `q`.

    The arm stands at `q` before and after, as `stand` writes it; limits are in `work.arcs` too.
    Stops when the task is reached, or when the error has not fallen by a tenth in `PATIENCE`
    rounds. Returns the number of rounds.
    """
    m = model.shape[0] - 1
    frames, error, best, image = work.frames, work.error, work.best, work.image
    best_merit = merit(error, task)
    mark, since_mark, kept, now = best_merit, 0, 0, best_merit
    done = 0
    copy(q, best)
    while done < most and since_mark < PATIENCE and not is_reached(error, task):
        done += 1
        copy(q, image)
        tip_to_base(model, lower, upper, target, task, image, work)
        base_to_tip(model, lower, upper, task, image, work)
        if accelerate:
            kept = remember(q, image, units, work.images, work.residuals, kept)
            combine(work.images, work.residuals, units, lower, upper, kept, q)
            now = stand(model, q, target, task, work)
        else:
            copy(image, q)
            tip_error(frames[m], target, task, error)
            now = merit(error, task)
        if now < best_merit:
            best_merit = now
            copy(q, best)
        since_mark += 1
        if now < WORTHWHILE * WORTHWHILE * mark:
            mark, since_mark = now, 0
    if now > best_merit:
        copy(best, q)
        stand(model, q, target, task, work)
    return done


@kernel
def stand(model: Array, q: Array, target: Array, task: Array, work: Workspace) -> float:
    """Write how the arm stands at `q` and what it lacks, and return the merit of that."""
    joint_and_link_frames(model, q, work.joints, work.frames)
    tip_error(work.frames[model.shape[0] - 1], target, task, work.error)
    return merit(work.error, task)


@kernel
def remember(
    q: Array, image: Array, units: Array, images: Array, residuals: Array, kept: int
) -> int:
    """
    Push a round onto the memory, newest first, and return how many rounds it holds.

    A round that moves a joint far starts the memory afresh: the map is not smooth there.
    """
    n = q.shape[0]
    largest = 0.0
    for k in range(DEPTH, 0, -1):
        for j in range(n):
            images[k, j] = images[k - 1, j]
            residuals[k, j] = residuals[k - 1, j]
    for j in range(n):
        images[0, j] = image[j]
        residuals[0, j] = (image[j] - q[j]) / units[j]
        largest = max(largest, abs(residuals[0, j]))
    return 1 if largest > CALM_ROUND else min(kept + 1, DEPTH + 1)


@kernel
def combine(
    images: Array, residuals: Array, units: Array, lower: Array, upper: Array, kept: int, q: Array
) -> None:
    """
    Write to `q` the combination of the remembered rounds whose residual is least.

    The newest round alone where there is no more to combine, or where the combination would
    step too far.
    """
    n = q.shape[0]
    first, second = 0.0, 0.0
    if kept > 1:
        first, second = least_squares(residuals, kept, n)
    longest = 0.0
    for j in range(n):
        value = images[0, j] - first * (images[0, j] - images[1, j]) if kept > 1 else images[0, j]
        if kept > 2:
            value -= second * (images[1, j] - images[2, j])
        value = min(max(value, lower[j]), upper[j])
        longest = max(longest, abs(value - q[j]) / units[j])
    for j in range(n):
        value = images[0, j]
        if kept > 1 and longest <= LONGEST_STEP:
            value -= first * (images[0, j] - images[1, j])
            if kept > 2:
                value -= second * (images[1, j] - images[2, j])
        q[j] = min(max(value, lower[j]), upper[j])


@kernel
def least_squares(residuals: Array, kept: int, n: int) -> tuple[float, float]:
    """Weights of the last one or two differences of residuals that cancel the newest best."""
    aa, ab, bb, af, bf = 0.0, 0.0, 0.0, 0.0, 0.0
    for j in range(n):
        a = residuals[0, j] - residuals[1, j]
        b = residuals[1, j] - residuals[2, j] if kept > 2 else 0.0
        aa += a * a
        ab += a * b
        bb += b * b
        af += a * residuals[0, j]
        bf += b * residuals[0, j]
    if aa == 0.0:
        return 0.0, 0.0
    determinant = aa * bb - ab * ab
    if determinant <= 1e-10 * aa * bb:
        return af / aa, 0.0
    return (bb * af - ab * bf) / determinant, (aa * bf - ab * af) / determinant
