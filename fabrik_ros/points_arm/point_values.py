"""
From joint centres to joint values: what is left to do when FABRIK has moved bare points.

Joints are taken from base to tip, each by a closed form. A hinge turns the first point behind it
that lies off its axis to where that shall be; a slide moves its own centre. Where that point hangs
on two joints whose values are still open, as behind a universal joint, the two are found together.
Points that no arm can have leave an error; sweeps over all joints then spread it evenly.

"""

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..errors import ChainError, TargetError
from ..kernels.arm_table import FOLLOWS, FRAME, IS_SLIDE, POSITION, SOURCE
from ..kernels.kinematics import joint_and_link_frames
from ..kernels.reaching import clamp_turn
from ..model.chain import Chain
from ..transforms import Array, inverse, is_pose, rotation_from_axis_angle

ON_AXIS = 1e-9
"""A point this near to an axis, as a share of the reach, tells nothing of a turn about it."""

IN_LINE = 1e-6
"""Axes that differ by less are one [rad]; what is left of that the sweeps take off."""

LEVER = 0.15
"""The orientation of the tip counts as points this far from it, as a share of the reach."""

EXACT = 1e-12
"""Points this far from where they shall be, as a share of the reach, are there."""

BRANCHES = 8
"""Two joints found together have two answers; so many combinations of them are pursued."""

SWEEPS = 50
"""At the most."""

WORTHWHILE = 1e-3
"""Sweeps end with one that takes off a smaller share of the sum of squares."""

LARGEST_COORDINATE = 1e100
"""Sums of products of coordinates up to this size do not overflow."""


def values_from_points(
    chain: Chain,
    points: npt.ArrayLike,
    seed: npt.ArrayLike,
    T_base_tip: npt.ArrayLike | None = None,
    *,
    lower: npt.ArrayLike | None = None,
    upper: npt.ArrayLike | None = None,
    sweeps: int = SWEEPS,
) -> tuple[Array, float]:
    """
    Find joint values that bring the joint centres of an arm to given points.

    `Chain.points` is the way back. Points that the arm has in some configuration inside the limits
    are met, provided that no three joints have to be told from one point; for others the answer
    is as near as closed forms and sweeps get.

    Parameters
    ----------
    chain : Chain
        The arm; without followers.
    points : array-like, shape (m + 1, 3)
        Where the m joint centres and the tip shall be, in the base frame [m].
    seed : array-like, shape (n,)
        Joints that no point tells of stay here; of several answers the nearest is taken [rad or
        m]. Brought inside the limits.
    T_base_tip : array-like, shape (4, 4), optional
        Orientation that the tip shall have, for the joints that the points leave free.
    lower, upper : array-like, shape (n,), optional
        Bounds beside the limits of the arm [rad or m].
    sweeps : int
        Largest number of sweeps; 0 for the closed forms alone.

    Returns
    -------
    q : array, shape (n,)
        Joint values inside the limits [rad or m].
    residual : float
        Largest distance between a point that was given and the one reached [m].

    Raises
    ------
    ChainError
        If a joint of the arm follows another.
    ValueError
        If the points have another shape, or a coordinate is not finite or over 1e100.
    TargetError
        If `T_base_tip` is not a pose.
    JointValueError
        If seed or bounds have another shape or are not numbers, or the bounds of a joint cross.

    """
    check_no_follower(chain)
    wanted = _checked_points(points, len(chain.model))
    least, most = bounds(chain, lower, upper)
    start = np.clip(chain.checked(seed, 'seed'), least, most)
    arm = _Arm(chain, start, least, most)
    if T_base_tip is not None:
        wanted = arm.take_orientation(wanted, T_base_tip)
    q = _swept(arm, _closed_forms(arm, wanted), wanted, sweeps)
    apart = np.linalg.norm(
        (arm.marks(frames_of(arm.chain, q)) - wanted)[: len(chain.model)], axis=1
    )
    return q, float(apart.max())


def check_no_follower(chain: Chain) -> None:
    """Refuse an arm in which a joint follows another: no single point tells their value."""
    for number, row in enumerate(chain.model, start=1):
        if row[FOLLOWS]:
            raise ChainError(
                f"moving joint number {number} from '{chain.base_link}' to '{chain.tip_link}' "
                f"follows joint '{chain.joint_names[int(row[SOURCE])]}' (mimic); joint values "
                "cannot be taken from points there: use method 'articulated'"
            )


def bounds(
    chain: Chain, lower: npt.ArrayLike | None, upper: npt.ArrayLike | None
) -> tuple[Array, Array]:
    """Return the limits of an arm, narrowed by bounds where there are any, shapes (n,)."""
    least = chain.lower if lower is None else chain.checked(_finite(lower), 'lower')
    most = chain.upper if upper is None else chain.checked(_finite(upper), 'upper')
    chain.check_bounds(least, most)
    return np.clip(least, chain.lower, chain.upper), np.clip(most, chain.lower, chain.upper)


def _finite(bounds: npt.ArrayLike) -> Array:
    """Replace infinite bounds by what no joint exceeds."""
    finite: Array = np.clip(bounds, -LARGEST_COORDINATE, LARGEST_COORDINATE)
    return finite


def _checked_points(points: npt.ArrayLike, count: int) -> Array:
    checked = np.array(points, dtype=np.float64)
    if checked.shape != (count, 3):
        raise ValueError(
            f'points have shape {checked.shape}, expected ({count}, 3): '
            'the joint centres from base to tip, and the tip'
        )
    if not (np.abs(checked) <= LARGEST_COORDINATE).all():
        raise ValueError(f'points must be finite and at most {LARGEST_COORDINATE:.0e} in size')
    return checked


class Frames(NamedTuple):
    """Where the parts of an arm are in one configuration, in the base frame."""

    before: Array
    """Joint frames before their motion, shape (m, 4, 4); joints move about or along their z."""
    after: Array
    """Frames of the links the joints carry, and of the tip, shape (m + 1, 4, 4)."""


def frames_of(chain: Chain, q: Array) -> Frames:
    """Forward kinematics, joint by joint."""
    joints, links = np.empty((len(chain.model) - 1, FRAME)), np.empty((len(chain.model), FRAME))
    joint_and_link_frames(chain.model, q, joints, links)
    return Frames(_as_poses(joints), _as_poses(links))


def _as_poses(rows: Array) -> Array:
    poses = np.zeros((len(rows), 4, 4))
    poses[:, :3, :3] = rows[:, :POSITION].reshape(-1, 3, 3)
    poses[:, :3, 3] = rows[:, POSITION:]
    poses[:, 3, 3] = 1.0
    return poses


class _Arm:
    """
    An arm, and the marks on it that shall come to lie on given points.

    Marks are the joint centres, the tip, and where an orientation is asked for two points beside
    the tip. Mark k is moved by the joints before k, and by joint k itself if that is a slide.
    """

    def __init__(self, chain: Chain, start: Array, lower: Array, upper: Array) -> None:
        self.chain = chain
        self.start, self.lower, self.upper = start, lower, upper
        self.scale = max(chain.reach, 1e-9)
        self.slides = chain.model[:-1, IS_SLIDE] != 0.0
        self._beside_tip = np.empty((0, 3))

    def take_orientation(self, points: Array, T_base_tip: npt.ArrayLike) -> Array:
        """
        Add marks beside the tip; return the points with those of the marks behind them.

        The first lies along the last joint's axis: it tells of the joints before that one alone.
        """
        T = np.asarray(T_base_tip, dtype=np.float64)
        if not is_pose(T):
            raise TargetError('T_base_tip is not a pose of shape (4, 4)')
        along = self.chain.model[-1, 6:POSITION]  # z of the last joint in the tip frame
        across = np.cross(along, np.eye(3)[np.argmin(np.abs(along))])
        self._beside_tip = LEVER * self.scale * np.array([along, across / np.linalg.norm(across)])
        return np.vstack([points, _carried(T, self._beside_tip)])

    def motion(self, i: int, value: float) -> Array:
        """Pose (4, 4) after the motion of joint i in its frame before it."""
        J = np.eye(4)
        if self.slides[i]:
            J[2, 3] = value
        else:
            J[0, 0] = J[1, 1] = math.cos(value)
            J[1, 0] = math.sin(value)
            J[0, 1] = -J[1, 0]
        return J

    def marks(self, frames: Frames) -> Array:
        """Where the marks are in the base frame [m]: joint centres, tip, beside the tip."""
        return np.vstack([frames.after[:, :3, 3], _carried(frames.after[-1], self._beside_tip)])

    def joints_that_begin_at(self, k: int) -> list[int]:
        """Joints that move mark k, but none before it; those that are locked do not count."""
        hinge = [k - 1] if 0 < k <= len(self.slides) and not self.slides[k - 1] else []
        slide = [k] if k < len(self.slides) and self.slides[k] else []
        return [j for j in hinge + slide if self.upper[j] > self.lower[j]]

    def is_off_axis(self, x: float, y: float) -> bool:
        """Whether a point, seen from a joint, lies off its axis [m]."""
        return math.hypot(x, y) > ON_AXIS * self.scale

    def clamped(self, j: int, value: float, present: float) -> float:
        """Bring a joint value inside the limits; a turn on the circle, nearest to the present."""
        if self.slides[j]:
            return float(min(max(value, self.lower[j]), self.upper[j]))
        return float(clamp_turn(value, present, self.lower[j], self.upper[j]))

    def set(self, q: Array, j: int, value: float) -> Array:
        """Return the joint values with another one for joint j."""
        q = q.copy()
        q[j] = self.clamped(j, value, self.start[j])
        return q


# --- closed forms, base to tip ----------------------------------------------------------------


class _Branch(NamedTuple):
    """Joint values found so far; those not yet found stand at the seed."""

    q: Array
    misfit: float
    """Sum of squared distances of the marks so far from their points [m^2]."""
    open_joints: list[int]
    """Joints before the next mark that no mark has told of yet."""


def _closed_forms(arm: _Arm, wanted: Array) -> Array:
    """Take each joint by its closed form; of several answers the best, then the nearest."""
    nothing = (ON_AXIS * arm.scale) ** 2

    def order(branch: _Branch) -> tuple[float, float]:
        misfit = branch.misfit if branch.misfit > nothing else 0.0
        return misfit, float(np.abs(branch.q - arm.start).max())

    branches = [_Branch(arm.start, 0.0, [])]
    for k in range(len(wanted)):
        grown = [new for branch in branches for new in _grown(arm, branch, k, wanted[k])]
        branches = sorted(grown, key=order)[:BRANCHES]
    return branches[0].q


def _grown(arm: _Arm, branch: _Branch, k: int, point: Array) -> list[_Branch]:
    """Bring mark k to its point by the joints that are open."""
    frames = frames_of(arm.chain, branch.q)
    mark = arm.marks(frames)[k]
    open_joints = branch.open_joints + arm.joints_that_begin_at(k)
    last = _last_that_moves(arm, open_joints, frames, mark)
    if last is None:
        misfit = branch.misfit + float(np.sum((mark - point) ** 2))
        return [_Branch(branch.q, misfit, open_joints)]

    earlier = [j for j in open_joints if j < last]
    in_line = [j for j in earlier if _in_line(arm, frames.before[j], frames.before[last])]
    partners = [j for j in earlier if j not in in_line]
    still_open = [j for j in open_joints if j > last]
    if arm.slides[last]:  # which moves its centre along the axes it is in line with
        still_open = in_line + still_open
        in_line = []
    if partners:
        found = _by_two(arm, branch.q, partners[-1], last, frames, mark, point)
    else:
        found = [(_by_one(arm, branch.q, last, frames, mark, point), True)]
    grown = []
    for q, is_told in found:
        q, misfit = _shared(arm, q, last, in_line, k, point)
        untold = [] if is_told else partners[-1:]
        grown.append(_Branch(q, branch.misfit + misfit, untold + still_open))
    return grown


def _shared(
    arm: _Arm, q: Array, last: int, in_line: list[int], k: int, point: Array
) -> tuple[Array, float]:
    """
    Let hinges with the same axis take what a limit of the last has left over.

    For them the last may have to stand at its other limit. Return the misfit, too.
    """

    def misfit(values: Array) -> float:
        return math.dist(arm.marks(frames_of(arm.chain, values))[k], point)

    is_limited = arm.upper[last] - arm.lower[last] < 2.0 * math.pi
    for j in in_line if is_limited else []:
        if misfit(q) <= ON_AXIS * arm.scale:
            break
        trials = [q]
        for end in (arm.lower[last], arm.upper[last]):
            trial = arm.set(q, last, end)
            frames = frames_of(arm.chain, trial)
            trials.append(_by_one(arm, trial, j, frames, arm.marks(frames)[k], point))
        q = min(trials, key=misfit)
    return q, misfit(q) ** 2


def _last_that_moves(arm: _Arm, joints: list[int], frames: Frames, mark: Array) -> int | None:
    """Find the last of the joints that moves a mark: slides do, hinges whose axis it is off."""
    for j in reversed(joints):
        x, y, _ = _seen_from(frames.after[j], mark)
        if arm.slides[j] or arm.is_off_axis(x, y):
            return j
    return None


def _in_line(arm: _Arm, frame: Array, other: Array) -> bool:
    """Whether two joints have the same axis."""
    between = inverse(frame) @ other
    x, y, _ = between[:3, 3]
    return math.hypot(between[0, 2], between[1, 2]) < IN_LINE and not arm.is_off_axis(x, y)


def _by_one(arm: _Arm, q: Array, j: int, frames: Frames, mark: Array, point: Array) -> Array:
    """Bring a mark as near to its point as one joint can."""
    wanted, on_link = _seen_from(frames.before[j], point), _seen_from(frames.after[j], mark)
    if arm.slides[j]:
        return arm.set(q, j, wanted[2])
    if not arm.is_off_axis(*wanted[:2]):
        return q
    return arm.set(q, j, _turn_between(on_link, wanted))


def _by_two(
    arm: _Arm, q: Array, first: int, last: int, frames: Frames, mark: Array, point: Array
) -> list[tuple[Array, bool]]:
    """
    Bring a mark to its point by a hinge and a later joint whose axis is another one.

    The hinge moves the mark on a circle about its axis, so the later joint has to bring the mark
    to the height and the distance of the point; that it can in two ways, or not at all, and then
    as nearly as it can. The turn of the hinge follows, unless the point is on its axis; the
    answers tell whether it does.
    """
    wanted, on_link = _seen_from(frames.before[first], point), _seen_from(frames.after[last], mark)
    between = inverse(frames.after[first]) @ frames.before[last]
    if arm.slides[last]:
        values = _slides_to_distance(between, wanted)
    else:
        values = _turns_to_height(between, on_link, wanted[2])
    found = []
    for value in values:
        new = arm.set(q, last, value)
        x = _carried(between @ arm.motion(last, new[last]), on_link)
        is_told = arm.is_off_axis(*wanted[:2]) and arm.is_off_axis(*x[:2])
        if is_told:
            new = arm.set(new, first, _turn_between(x, wanted))
        found.append((new, is_told))
    return found


def _turns_to_height(between: Array, x: Array, height: float) -> tuple[float, float]:
    """Find turns of a hinge, its frame `between`, that bring x on its link to a height (z)."""
    cosine_part = between[2, 0] * x[0] + between[2, 1] * x[1]
    sine_part = between[2, 1] * x[0] - between[2, 0] * x[1]
    size = math.hypot(cosine_part, sine_part)
    rest = height - between[2, 2] * x[2] - between[2, 3]
    highest = math.atan2(sine_part, cosine_part)
    aside = math.acos(min(max(rest / size, -1.0), 1.0)) if size > abs(rest) * 1e-300 else 0.0
    return highest - aside, highest + aside


def _slides_to_distance(between: Array, wanted: Array) -> tuple[float, float]:
    """Find values of a slide, its frame `between`, that bring its centre as far out as a point."""
    start, along = between[:3, 3], between[:3, 2]
    middle = -float(start @ along)
    aside = math.sqrt(max(0.0, middle**2 - float(start @ start) + float(wanted @ wanted)))
    return middle - aside, middle + aside


def _turn_between(x: Array, y: Array) -> float:
    """Turn about z that brings the direction of x to that of y, seen along z [rad]."""
    return math.atan2(y[1], y[0]) - math.atan2(x[1], x[0])


# --- sweeps -----------------------------------------------------------------------------------


def _swept(arm: _Arm, q: Array, wanted: Array, most: int) -> Array:
    """
    Turn one joint after the other so that all marks behind it are nearest to their points.

    In the least-squares sense: no move adds to the sum of squares. It is the `base_to_tip` pass of
    `FabrikSolver`, made on the marks.
    """
    q = q.copy()
    frames = frames_of(arm.chain, q)
    axes, marks = frames.before[:, :3, 2].copy(), arm.marks(frames)
    misfit = float(np.sum((marks - wanted) ** 2))
    for _ in range(most):
        if misfit <= (EXACT * arm.scale) ** 2:
            break
        for j in range(len(q)):
            if arm.slides[j]:
                _slide_nearest(arm, q, j, axes, marks, wanted)
            else:
                _turn_nearest(arm, q, j, axes, marks, wanted)
        before, misfit = misfit, float(np.sum((marks - wanted) ** 2))
        if misfit > (1.0 - WORTHWHILE) * before:
            break
    return q


def _slide_nearest(arm: _Arm, q: Array, j: int, axes: Array, marks: Array, wanted: Array) -> None:
    """Slide a joint, and its own mark and those behind it, to where these are nearest."""
    value = q[j] + float(np.mean((wanted[j:] - marks[j:]) @ axes[j]))
    value = arm.clamped(j, value, q[j])
    marks[j:] += (value - q[j]) * axes[j]
    q[j] = value


def _turn_nearest(arm: _Arm, q: Array, j: int, axes: Array, marks: Array, wanted: Array) -> None:
    """Turn a joint, and the axes and marks behind it, to where the marks are nearest."""
    centre, axis = marks[j], axes[j]
    x, y = marks[j + 1 :] - centre, wanted[j + 1 :] - centre
    W = x.T @ y
    sine = float(
        axis[0] * (W[1, 2] - W[2, 1])
        + axis[1] * (W[2, 0] - W[0, 2])
        + axis[2] * (W[0, 1] - W[1, 0])
    )
    cosine = float(W[0, 0] + W[1, 1] + W[2, 2] - axis @ W @ axis)
    if math.hypot(sine, cosine) <= (ON_AXIS * arm.scale) ** 2:
        return
    value = arm.clamped(j, q[j] + math.atan2(sine, cosine), q[j])
    R = rotation_from_axis_angle(axis, value - q[j])
    marks[j + 1 :] = x @ R.T + centre
    axes[j + 1 :] = axes[j + 1 :] @ R.T
    q[j] = value


def _seen_from(frame: Array, point: Array) -> Array:
    """Coordinates of a point, shape (3,), in a frame."""
    seen: Array = (point - frame[:3, 3]) @ frame[:3, :3]
    return seen


def _carried(frame: Array, points: Array) -> Array:
    """Points of shape (..., 3) in a frame, in that frame's own parent."""
    carried: Array = points @ frame[:3, :3].T + frame[:3, 3]
    return carried
