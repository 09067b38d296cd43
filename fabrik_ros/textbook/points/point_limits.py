"""
Limits of the joints between two bones: how far the second may turn against the first.

A. Aristidou and J. Lasenby, "FABRIK: A fast, iterative solver for the Inverse Kinematics
problem", Graphical Models 73 (2011) 243-260: Algorithm 2 limits the twist about a bone, Algorithm
3 its direction, to an ellipse whose four half axes are four angles.

A bone has a frame whose z axis lies along it. The rotation of its frame as seen from the frame
of the bone before it, `R_parent.T @ R_child`, is all that a limit looks at: a limit is the map
from any such rotation to the nearest one it allows.

Where the paper draws its ellipse in the plane square to the bone, in which 90 degrees are
infinitely far, it is drawn here in the plane of angles: a direction at the angle phi from
straight on, at the azimuth alpha, is the point (phi cos alpha, phi sin alpha). So half angles
reach up to 180 degrees. Quarter ellipses meet at the axes, both square to them. So the region
they enclose is convex, and has exactly one point nearest to any other, which moves without jumps.

"""

from __future__ import annotations

from dataclasses import dataclass, field
import math
from typing import Protocol

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]

LEGAL = 1e-12
"""A rotation that a limit would turn by no more than this is left as it is [rad]."""

FLAT = 1e-12
"""A half angle up to this counts as zero: the ellipse is a segment, or a point [rad]."""

BEHIND = math.pi - 1e-5
"""How far a limited bone may turn: straight back, azimuth and twist have no meaning [rad]."""

NEWTON_STEPS = 60
"""Ample: six are usual, some forty where one half angle is a millionth of the other."""

Interval = tuple[float, float]


class Limit(Protocol):
    """What a joint between two bones has to offer to be used in a `PointTree`."""

    @property
    def rest(self) -> Array:
        """The rotation from which the limit is measured, shape (3, 3)."""

    def nearest(self, rotation: Array) -> Array:
        """Turn rotations, shape (..., 3, 3), into the nearest ones allowed, the same shape."""


@dataclass(frozen=True, eq=False)
class BallJoint:
    """
    Limit of a ball joint: an ellipse of directions, and an interval of twist.

    Seen along the bone before, with x to the right and y up, all as turned by `rest`.

    Parameters
    ----------
    right, up, left, down : float
        Half angles of the ellipse towards +x, +y, -x and -y, each in [0, pi] [rad]. With a zero
        on both sides of an axis the ellipse is a segment; with four zeros only straight on is
        left.
    twist : tuple of two floats
        Lower and upper limit of the turn about the bone itself [rad]; free if left out, or if
        they are a whole turn apart.
    rest : array-like, shape (3, 3)
        Rotation of the child's frame in the parent's that is straight on, without twist.

    Raises
    ------
    ValueError
        If an angle is out of range, the twist is no interval, or `rest` no rotation.

    Notes
    -----
    The nearest rotation has the nearest point of the region in the plane of angles for its
    direction, and the nearest twist of its interval on the circle. Rotations allowed come back
    as they are. Turning is measured by the least turn from straight on to the direction (swing),
    after which the twist is what remains. Straight back both have no meaning: unless all is free,
    a bone is kept 1e-5 rad short of it.

    Examples
    --------
    >>> joint = BallJoint(right=0.5, up=0.2, left=0.5, down=0.2)
    >>> bent = swing_rotation(np.array([0.0, 0.9]))
    >>> joint.direction_angles(joint.nearest(bent)).round(6)
    array([0. , 0.2])

    """

    right: float
    up: float
    left: float
    down: float
    twist: Interval = (-math.pi, math.pi)
    rest: Array = field(default_factory=lambda: np.eye(3))

    def __post_init__(self) -> None:
        for name in ('right', 'up', 'left', 'down'):
            angle = getattr(self, name)
            if not 0.0 <= angle <= math.pi:
                raise ValueError(f'{name} must be an angle from 0 to pi rad, got {angle}')
        check_interval('twist', *self.twist)
        object.__setattr__(self, 'twist', (float(self.twist[0]), float(self.twist[1])))
        object.__setattr__(self, 'rest', checked_rotation('rest', self.rest))

    @property
    def half_angles(self) -> Array:
        """Right, up, left and down, shape (4,) [rad]."""
        return np.array([self.right, self.up, self.left, self.down])

    @property
    def free(self) -> bool:
        """Whether every rotation is allowed."""
        lower, upper = self.twist
        return min(self.half_angles) >= math.pi and upper - lower >= 2.0 * math.pi

    def direction_angles(self, rotation: Array) -> Array:
        """Tell where bones point, in the plane of angles: (..., 3, 3) -> (..., 2) [rad]."""
        return swing_angles(self.rest.T @ rotation)

    def twist_angle(self, rotation: Array) -> Array:
        """Tell how far bones are turned about themselves: (..., 3, 3) -> (...) [rad]."""
        local = self.rest.T @ rotation
        return twist_after(swing_rotation(swing_angles(local)), local)

    def nearest(self, rotation: Array) -> Array:
        """
        Turn rotations into the nearest ones allowed: Algorithms 2 and 3, in angles.

        Parameters
        ----------
        rotation : array, shape (..., 3, 3)
            Rotations of the child's frame in the parent's; any number at once.

        Returns
        -------
        array, shape (..., 3, 3)
            Rotations allowed up to rounding.

        """
        if self.free:
            return rotation
        local = self.rest.T @ rotation
        angles = swing_angles(local)
        twist = twist_after(swing_rotation(angles), local)
        legal_angles = nearest_in_ellipse(kept_from_behind(angles), self.half_angles)
        legal_twist = nearest_on_circle(twist, *self.twist)
        turned = np.maximum(
            np.abs(legal_angles - angles).max(axis=-1),
            np.abs(np.sin(0.5 * (legal_twist - twist))),
        )
        if (turned <= LEGAL).all():
            return rotation
        legal = self.rest @ swing_rotation(legal_angles) @ rotation_about_z(legal_twist)
        return np.where((turned <= LEGAL)[..., None, None], rotation, legal)


@dataclass(frozen=True, eq=False)
class Hinge:
    """
    Limit of a hinge: turns about one axis, within an interval. One-sided ones have an end at 0.

    Parameters
    ----------
    axis : array-like, shape (3,), optional
        The axis in the parent's frame, any length, square to straight on. Left out in 2-D, where
        it is the normal of the plane and angles count anticlockwise.
    lower, upper : float
        The interval of the angle from straight on [rad].
    rest : array-like, shape (3, 3), optional
        Rotation of the child's frame in the parent's at angle zero; its z axis is straight on.

    Raises
    ------
    ValueError
        If the axis has no direction or is not square to straight on, the interval is none, or
        `rest` no rotation.

    Notes
    -----
    The nearest rotation is nearest as a rotation (least squares of the matrices), and thereby
    has the nearest angle on the circle.

    Examples
    --------
    >>> knee = Hinge(axis=[1.0, 0.0, 0.0], lower=0.0, upper=2.4)
    >>> float(knee.angle(knee.nearest(rotation_about_axis(knee.axis, -0.3))))
    0.0

    """

    axis: Array | None = None
    lower: float = -math.pi
    upper: float = math.pi
    rest: Array = field(default_factory=lambda: np.eye(3))

    def __post_init__(self) -> None:
        check_interval('hinge', self.lower, self.upper)
        object.__setattr__(self, 'rest', checked_rotation('rest', self.rest))
        if self.axis is not None:
            object.__setattr__(self, 'axis', checked_axis(self.axis, self.rest[:, 2]))

    def angle(self, rotation: Array) -> Array:
        """Tell the angle of the nearest turn about the axis: (..., 3, 3) -> (...) [rad]."""
        a, turn = self._turning_axis, rotation @ self.rest.T
        sine = (turn[..., [2, 0, 1], [1, 2, 0]] - turn[..., [1, 2, 0], [2, 0, 1]]) @ a
        cosine = np.trace(turn, axis1=-2, axis2=-1) - (turn @ a) @ a
        angle: Array = np.arctan2(sine, cosine)
        return angle

    def nearest(self, rotation: Array) -> Array:
        """
        Turn rotations into the nearest turns about the axis within the interval.

        Parameters
        ----------
        rotation : array, shape (..., 3, 3)
            Rotations of the child's frame in the parent's; any number at once.

        Returns
        -------
        array, shape (..., 3, 3)
            Rotations allowed up to rounding.

        """
        angle = nearest_on_circle(self.angle(rotation), self.lower, self.upper)
        legal = rotation_about_axis(self._turning_axis, angle) @ self.rest
        turned = np.abs(legal - rotation).max(axis=(-2, -1))
        return np.where((turned <= LEGAL)[..., None, None], rotation, legal)

    @property
    def _turning_axis(self) -> Array:
        """In 2-D frames have the normal of the plane for their x axis."""
        return np.array([1.0, 0.0, 0.0]) if self.axis is None else self.axis


# --- the plane of angles --------------------------------------------------------------------


def swing_angles(rotation: Array) -> Array:
    """
    Tell where rotations turn z to, as points of the plane of angles [rad].

    Shapes (..., 3, 3) -> (..., 2); straight back is put on +x.
    """
    x, y = rotation[..., 0, 2], rotation[..., 1, 2]
    sine = np.hypot(x, y)
    phi = np.arctan2(sine, rotation[..., 2, 2])
    somewhere = sine > 0.0
    scale = phi / np.where(somewhere, sine, 1.0)
    return _side_by_side(np.where(somewhere, scale * x, phi), scale * y)


def swing_rotation(angles: Array) -> Array:
    """Turn z by the least turn to where a point of the plane of angles is: (..., 2) -> 3 x 3."""
    x, y = angles[..., 0], angles[..., 1]
    phi = np.hypot(x, y)
    cos_phi, sin_phi = np.cos(phi), np.sin(phi)
    # The axis is square to z, so Rodrigues' formula is short.
    some = np.where(phi > 0.0, phi, 1.0)
    cos_alpha, sin_alpha = x / some, y / some
    left_out = 1.0 - cos_phi
    swing = np.empty((*phi.shape, 3, 3))
    swing[..., 0, 0] = 1.0 - cos_alpha * cos_alpha * left_out
    swing[..., 1, 1] = 1.0 - sin_alpha * sin_alpha * left_out
    swing[..., 0, 1] = swing[..., 1, 0] = -cos_alpha * sin_alpha * left_out
    swing[..., 0, 2] = cos_alpha * sin_phi
    swing[..., 1, 2] = sin_alpha * sin_phi
    swing[..., 2, 0] = -swing[..., 0, 2]
    swing[..., 2, 1] = -swing[..., 1, 2]
    swing[..., 2, 2] = cos_phi
    return swing


def twist_after(swing: Array, rotation: Array) -> Array:
    """Tell the turn about the bone that follows the swing in a rotation, (...) [rad]."""
    turned_x = rotation[..., 0]
    twist: Array = np.arctan2(
        (swing[..., 1] * turned_x).sum(axis=-1), (swing[..., 0] * turned_x).sum(axis=-1)
    )
    return twist


def kept_from_behind(angles: Array) -> Array:
    """Pull points of the plane of angles, shape (..., 2), to within `BEHIND` of straight on."""
    phi = np.hypot(angles[..., 0], angles[..., 1])
    shrunk: Array = angles * (BEHIND / np.maximum(phi, BEHIND))[..., None]
    return shrunk


def nearest_in_ellipse(points: Array, half_axes: Array) -> Array:
    """
    Move points into an ellipse whose quadrants have half axes of their own, as little as can be.

    The nearest point lies in the quadrant of the point, where it is the one point with
    p - n = t grad, n on the curve: n = (a^2 u / (t + a^2), b^2 v / (t + b^2)). What is left over,
    (a u / (t + a^2))^2 + (b v / (t + b^2))^2 - 1, falls in t and is convex, so Newton's method
    from a t too small rises to the root and never passes it.

    Parameters
    ----------
    points : array, shape (..., 2)
        Points of the plane.
    half_axes : array, shape (..., 4)
        Half axes towards +x, +y, -x, -y, not negative; zeros make segments of it, or a point.

    Returns
    -------
    array, shape (..., 2)
        The nearest points of the ellipse and its inside.

    """
    x, y = points[..., 0], points[..., 1]
    a = np.where(x >= 0.0, half_axes[..., 0], half_axes[..., 2])
    b = np.where(y >= 0.0, half_axes[..., 1], half_axes[..., 3])
    u, v = np.abs(x), np.abs(y)
    flat = np.minimum(a, b) <= FLAT
    a_round, b_round = np.where(flat, 1.0, a), np.where(flat, 1.0, b)
    outside = (u / a_round) ** 2 + (v / b_round) ** 2 > 1.0
    if np.any(outside & ~flat):
        u_out, v_out = np.where(outside, u, a_round), np.where(outside, v, 0.0)
        p, q = _nearest_on_quarter(u_out, v_out, a_round, b_round)
    else:
        p, q = u, v
    p = np.where(flat, np.minimum(u, a), np.where(outside, p, u))
    q = np.where(flat, np.minimum(v, b), np.where(outside, q, v))
    return _side_by_side(np.copysign(p, x), np.copysign(q, y))


def _nearest_on_quarter(u: Array, v: Array, a: Array, b: Array) -> tuple[Array, Array]:
    """Find the nearest points of quarter ellipses to points of the quadrant not inside."""
    # At the root neither square is above 1: each alone says how large t is at least.
    t = np.maximum(np.maximum(a * (u - a), b * (v - b)), 0.0)
    for _ in range(NEWTON_STEPS):
        p, q = a * u / (t + a * a), b * v / (t + b * b)
        left_over = p * p + q * q - 1.0
        slope = 2.0 * (p * p / (t + a * a) + q * q / (t + b * b))
        step = np.maximum(left_over, 0.0) / slope
        t = t + step
        if np.all(step <= 1e-15 * t):
            break
    return a * (a * u / (t + a * a)), b * (b * v / (t + b * b))


def nearest_on_circle(angle: Array, lower: float, upper: float) -> Array:
    """Move angles into an interval by the shorter way round, give or take whole turns [rad]."""
    middle, half = 0.5 * (lower + upper), 0.5 * (upper - lower)
    offset = np.remainder(angle - middle + math.pi, 2.0 * math.pi) - math.pi
    nearest: Array = middle + np.clip(offset, -half, half)
    return nearest


# --- rotations ------------------------------------------------------------------------------


def rotation_about_z(angle: Array) -> Array:
    """Turn about z by angles of shape (...) [rad]: matrices of shape (..., 3, 3)."""
    return rotation_about_axis(np.array([0.0, 0.0, 1.0]), angle)


def rotation_about_axis(axis: Array, angle: npt.ArrayLike) -> Array:
    """Turn about a unit vector, shape (3,), by angles of shape (...) [rad]: (..., 3, 3)."""
    x, y, z = axis
    cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    c = np.cos(angle)[..., None, None]
    s = np.sin(angle)[..., None, None]
    turn: Array = c * np.eye(3) + s * cross + (1.0 - c) * np.outer(axis, axis)
    return turn


def _side_by_side(x: Array, y: Array) -> Array:
    """Put two coordinates, each of shape (...), together: (..., 2)."""
    pair = np.empty((*np.shape(x), 2))
    pair[..., 0], pair[..., 1] = x, y
    return pair


# --- checks ---------------------------------------------------------------------------------


def check_interval(name: str, lower: float, upper: float) -> None:
    """Refuse limits that are not finite, or the wrong way round."""
    if not (-math.inf < lower <= upper < math.inf):
        raise ValueError(f'{name} limits must be finite and lower <= upper, got {lower}, {upper}')


def checked_rotation(name: str, rotation: npt.ArrayLike, tolerance: float = 1e-6) -> Array:
    """Copy a rotation matrix, shape (3, 3), read-only and orthonormal to full precision."""
    R: Array = np.array(rotation, dtype=np.float64)
    if (
        R.shape != (3, 3)
        or not np.isfinite(R).all()
        or np.abs(R.T @ R - np.eye(3)).max() > tolerance
        or np.linalg.det(R) < 0.0
    ):
        raise ValueError(f'{name} must be a rotation matrix of shape (3, 3), got {rotation!r}')
    # One step towards the nearest rotation squares the error.
    R = 0.5 * (R @ (3.0 * np.eye(3) - R.T @ R))
    R.flags.writeable = False
    return R


def checked_axis(axis: npt.ArrayLike, straight_on: Array, tolerance: float = 1e-6) -> Array:
    """Copy an axis as a read-only unit vector, exactly square to straight on."""
    given = np.array(axis, dtype=np.float64)
    if given.shape != (3,) or not np.isfinite(given).all() or not given.any():
        raise ValueError(f'axis must be three finite numbers, not all zero, got {axis!r}')
    unit: Array = given / np.abs(given).max()
    unit /= np.linalg.norm(unit)
    off = float(unit @ straight_on)
    if abs(off) > tolerance:
        raise ValueError(
            f'axis must be square to straight on, {straight_on}, got {axis!r}: '
            f'off by {math.degrees(math.asin(abs(off))):.3g} degrees'
        )
    unit -= off * straight_on
    unit /= np.linalg.norm(unit)
    unit.flags.writeable = False
    return unit
