"""
Curves in joint space through knots, and how fast joints may go along them.

A curve is a cubic between two knots (Hermite), with a tangent at each; places on it are measured
along the polyline of the knots. Speeds are known at places of a grid: each knot, and the middle
between two of them. They are the greatest from which joints can go on to rest at the end (the
backward pass of TOPP-RA: Pham and Pham, "A new approach to time-optimal path parameterization
based on reachability analysis", IEEE Transactions on Robotics 34, 2018); each step speeds up as
much as it may below them, which is the forward pass.

"""

import math

from ..transforms import Array
from ._jit import kernel
from .braking import LOWER, MAX_ACCELERATION, MAX_VELOCITY, UPPER
from .point_speeds import largest_share, point_speeds

TINY = 1e-12
NEAREST_ROOM = 1e-9
"""Least distance to a limit that a joint is taken to have [rad or m]."""
USED_SHARE = 0.96
"""Share of the joint accelerations that speeds are found for; the rest is for brakes [1]."""
BENDING_SHARE = 0.84
"""Share of the joint accelerations that a bend may need, as the arm can brake everywhere [1]."""
BRAKING_SHARE = 0.9
"""Bends that can only be gone through braking need at most this share of the brakes [1]."""
COMPARED = 0.8
"""Share of a step after which, and before whose end, it is no faster than is allowed there [1]."""
LIMIT_SHARE = 0.9
"""Joints come to limits so much slower, squared, than the last stage allows [1]."""
SEARCHED = 40
"""Segments on each side in which the nearest place is looked for."""
SLOWEST = 1e-6
"""A stop ends with a speed below this [1/s]."""
GROWTH = 8
"""Steps of a stop are left out for a share of those before, one in so many [1]."""
HALVINGS, FEW_HALVINGS = 40, 12
"""Steps of a bisection, and of a coarse one."""


@kernel
def segment_at(places: Array, at: float, guess: int) -> int:
    """Return the number of the segment that a place is on, beginning the search at another."""
    last = places.shape[0] - 2
    i: int = min(max(guess, 0), last)
    while i < last and at > places[i + 1]:
        i += 1
    while i > 0 and at < places[i]:
        i -= 1
    return i


@kernel
def straight_until(knots: Array, first: int, longest: float, off: float) -> int:
    """
    Return the last knot to which a straight line from another leads past those between.

    Parameters
    ----------
    knots : array, shape (m, n)
        Joint values [rad or m].
    first : int
        The other knot, not the last one; the next one is returned at least.
    longest : float
        Largest joint move on the line [rad or m].
    off : float
        Largest distance of knots from it [rad or m].

    """
    last = first + 1
    while last + 1 < knots.shape[0] and _is_straight(knots, first, last + 1, longest, off):
        last += 1
    return last


@kernel
def _is_straight(knots: Array, first: int, last: int, longest: float, off: float) -> bool:
    """Whether a line between two knots is short, and those between near it."""
    squared = 0.0
    for j in range(knots.shape[1]):
        move = knots[last, j] - knots[first, j]
        if abs(move) > longest:
            return False
        squared += move * move
    for i in range(first + 1, last):
        along, away = 0.0, 0.0
        for j in range(knots.shape[1]):
            since = knots[i, j] - knots[first, j]
            along += since * (knots[last, j] - knots[first, j])
            away += since * since
        is_between = -TINY <= along <= squared + TINY
        if not is_between or away - along * along / max(squared, TINY) > off * off:
            return False
    return True


@kernel
def curve_at(knots: Array, tangents: Array, places: Array, i: int, t: float, rows: Array) -> None:
    """
    Write joint values, their slopes and curvatures at a share `t` of segment `i`.

    Parameters
    ----------
    knots, tangents : array, shape (m, n)
        Joint values, and their slopes there.
    places : array, shape (m,)
        Places of the knots.
    i : int
        Number of the segment.
    t : float
        Share of it, 0 to 1.
    rows : array, shape (3, n)
        Written to.

    """
    h = places[i + 1] - places[i]
    for j in range(knots.shape[1]):
        a, b = h * tangents[i, j], h * tangents[i + 1, j]
        way = knots[i + 1, j] - knots[i, j]
        square, cubic = 3.0 * way - 2.0 * a - b, a + b - 2.0 * way
        rows[0, j] = knots[i, j] + t * (a + t * (square + t * cubic))
        rows[1, j] = (a + t * (2.0 * square + 3.0 * t * cubic)) / h
        rows[2, j] = (2.0 * square + 6.0 * t * cubic) / (h * h)
        if t >= 1.0:
            rows[0, j] = knots[i + 1, j]


@kernel
def fill_speeds(
    model: Array, most: Array, limits: Array, knots: Array, tangents: Array, places: Array,
    top: float, scaling: float, tip_acceleration: float, window: float, tolerance: float,
    room: Array, frames: Array, twists: Array, rows: Array, grid: Array,
) -> None:  # fmt: skip
    """
    Write how fast joints may go along a curve so that they can always brake in time.

    Parameters
    ----------
    model, frames, twists : array
        As for `point_speeds`.
    most : array, shape (2,)
        Limits of the speeds of tips and joint centres, and of the rotation of tips.
    limits : array, shape (4, n)
        Those of the joints; see `braking.py`.
    knots, tangents, places : array
        The curve.
    top : float
        Greatest speed along the curve [1/s].
    scaling : float
        Share of all speeds to go at.
    tip_acceleration : float
        Greatest change of the speed of tips, as a share of their greatest speed [1/s].
    window, tolerance : float
        Time over which commands are averaged [s], and how far that may take tips and joint
        centres off the curve [m].
    room : array, shape (m,)
        How far joints must be able to go straight on from each knot, twice as far as they need to
        brake; infinite where that does not matter.
    rows : array, shape (6, n)
        Written over.
    grid : array, shape (2 m - 1, 3)
        Written to: places, squared speeds, and how fast the speed may change for the tips.

    """
    last, m = grid.shape[0] - 1, places.shape[0] - 1
    for g in range(last + 1):
        _write_on_grid(knots, tangents, places, g, rows)
        i, t = g // 2, 0.5 * (g % 2)
        grid[g, 0] = places[i]
        if t > 0.0:
            grid[g, 0] += t * (places[i + 1] - places[i])
        share = largest_share(model, most, rows[0], rows[1], frames, twists)
        grid[g, 2] = tip_acceleration * share
        reach = max(places[min(i + 1, m)] - places[i], places[i] - places[max(i - 1, 0)])
        square = _squared_speed(limits, rows, scaling, min(share, top))
        grid[g, 1] = _squared_in_bends(limits, rows, grid[g, 2], 0.5 * reach, square)
        if window > 0.0:
            bend, _ = point_speeds(model, rows[0], rows[2], frames, twists)
            grid[g, 1] = min(grid[g, 1], 24.0 * tolerance / (window * window * max(bend, TINY)))
        ahead = min(room[i], room[i + 1]) if t > 0.0 else room[i]
        grid[g, 1] = min(grid[g, 1], _squared_speed_within(limits, rows[1], ahead))
    grid[last, 1] = 0.0
    for g in range(last - 1, -1, -1):
        t = 0.5 * (g % 2)
        curve_at(knots, tangents, places, g // 2, t, rows[:3])
        curve_at(knots, tangents, places, g // 2, t + 0.25, rows[3:])
        grid[g, 1] = _controllable(limits, rows, grid, g)


@kernel
def _write_on_grid(knots: Array, tangents: Array, places: Array, g: int, rows: Array) -> None:
    """Write what `curve_at` does at place `g` of the grid, and in the last row, the curvature."""
    last = 2 * (knots.shape[0] - 1)
    if g == last:
        curve_at(knots, tangents, places, knots.shape[0] - 2, 1.0, rows[:3])
    else:
        curve_at(knots, tangents, places, g // 2, 0.5 * (g % 2), rows[:3])
    if 0 < g < last and g % 2 == 0:
        curve_at(knots, tangents, places, g // 2 - 1, 1.0, rows[3:])
    else:
        for j in range(knots.shape[1]):
            rows[5, j] = rows[2, j]


@kernel
def _controllable(limits: Array, rows: Array, grid: Array, g: int) -> float:
    """
    Return the greatest squared speed from which joints can brake to the one allowed next.

    `rows` has what `curve_at` writes here, and amid the way to the next place of the grid.
    """
    length, most, least = grid[g + 1, 0] - grid[g, 0], grid[g, 1], 0.0
    if _squared_behind(limits, rows, grid[g, 2], most, length) <= grid[g + 1, 1]:
        return float(most)
    for _ in range(HALVINGS):
        middle = 0.5 * (least + most)
        if _squared_behind(limits, rows, grid[g, 2], middle, length) <= grid[g + 1, 1]:
            least = middle
        else:
            most = middle
    return least


@kernel
def _squared_behind(
    limits: Array, rows: Array, most: float, square: float, length: float
) -> float:
    """Return the squared speed that is left after braking along some length."""
    begin = change(limits, rows[:3], most, square, -1.0, USED_SHARE)
    middle = change(limits, rows[3:], most, square, -1.0, USED_SHARE)
    return square - 2.0 * length * max(min(begin, middle), 0.0)


@kernel
def change(
    limits: Array, rows: Array, most: float, square: float, sign: float, share: float
) -> float:
    """
    Return how fast the speed along a curve can rise, with a `sign` of 1, or fall, with -1 [1/s^2].

    It is negative where the speed has to fall, or to rise.

    Parameters
    ----------
    limits : array, shape (4, n)
        Those of the joints; see `braking.py`.
    rows : array, shape (3, n)
        As `curve_at` writes them.
    most : float
        What the tips allow.
    square : float
        The squared speed.
    sign : float
        See above.
    share : float
        Share of the joint accelerations that is used [1].

    """
    for j in range(rows.shape[1]):
        slope = sign * rows[1, j]
        if abs(slope) > TINY:
            along = 1.0 if slope > 0.0 else -1.0
            left = share * limits[MAX_ACCELERATION, j] - along * rows[2, j] * square
            most = min(most, left / abs(slope))
    return most


@kernel
def _squared_speed(limits: Array, rows: Array, scaling: float, share: float) -> float:
    """Return the squared speed that joints and tips allow at a place of a curve."""
    fastest, square = share, math.inf
    for j in range(rows.shape[1]):
        q, slope = rows[0, j], rows[1, j]
        strongest, steep = limits[MAX_ACCELERATION, j], max(abs(slope), TINY)
        fastest = min(fastest, limits[MAX_VELOCITY, j] / steep)
        room = limits[UPPER, j] - q if slope > 0.0 else q - limits[LOWER, j]
        if steep > TINY:
            room = max(room, NEAREST_ROOM)
            square = min(square, LIMIT_SHARE * strongest * room / (steep * steep))
    return min(square, scaling * scaling * fastest * fastest)


@kernel
def _squared_in_bends(
    limits: Array, rows: Array, most: float, reach: float, square: float
) -> float:
    """
    Return the squared speed that bends allow at a place of a curve, at most another one.

    A joint that speeds up in a bend lets the arm go faster than its acceleration allows, as long
    as that brakes: all joints have to be able to brake that much, and more. A joint that turns
    round within `reach`, the distance of places on the grid, does not.

    """
    for j in range(rows.shape[1]):
        slope, allowed = rows[1, j], BENDING_SHARE * limits[MAX_ACCELERATION, j]
        bend = max(abs(rows[2, j]), abs(rows[5, j]))
        if bend * square <= allowed:
            continue
        steep = abs(slope) - reach * bend
        if steep < TINY or min(slope * rows[2, j], slope * rows[5, j]) < 0.0:
            square = min(square, allowed / max(bend, TINY))
            continue
        square = min(square, (allowed + steep * BRAKING_SHARE * most) / max(bend, TINY))
        for k in range(rows.shape[1]):
            other = max(abs(rows[1, k]), TINY)
            along = 1.0 if rows[1, k] > 0.0 else -1.0
            against = max(-along * rows[2, k], -along * rows[5, k], 0.0)
            brakes = BRAKING_SHARE / other
            most_needed = allowed / steep + brakes * USED_SHARE * limits[MAX_ACCELERATION, k]
            square = min(square, most_needed / max(bend / steep + brakes * against, TINY))
    return square


@kernel
def _squared_speed_within(limits: Array, slope: Array, room: float) -> float:
    """Return the squared speed from which joints brake straight on in half of some room."""
    if room == math.inf:
        return math.inf
    length, longest = 0.0, TINY
    for j in range(slope.shape[0]):
        length += slope[j] * slope[j]
        longest = max(longest, abs(slope[j]) / limits[MAX_ACCELERATION, j])
    return float(room / (max(math.sqrt(length), TINY) * longest))


@kernel
def next_speed(
    limits: Array, knots: Array, tangents: Array, places: Array, grid: Array, at: float,
    speed: float, change_time: float, dt: float, guess: int, rows: Array,
) -> float:  # fmt: skip
    """
    Return the speed of the next step along a curve [1/s].

    Parameters
    ----------
    limits, knots, tangents, places, grid : array
        See `fill_speeds`.
    at, speed : float
        Place on the curve, and speed of the last step.
    change_time : float
        Time over which the speed may change [s].
    dt : float
        Length of the step [s].
    guess : int
        Number of a segment of the curve near the place.
    rows : array, shape (6, n)
        Written over.

    """
    last, g = grid.shape[0] - 1, _on_grid(grid, at, guess)
    there = min(at + speed * dt, grid[last, 0])
    behind = _on_grid(grid, there, guess)
    later, _ = _changes(limits, knots, tangents, places, grid, there, speed, behind, rows)
    rise, fall = _changes(limits, knots, tangents, places, grid, at, speed, g, rows)
    most = max(speed + min(rise, later) * change_time, 0.0)
    i = g + 1
    while i <= last and grid[i, 0] <= at + most * dt:
        if i == last or grid[i + 1, 1] >= grid[i, 1]:
            most = min(most, max(math.sqrt(grid[i, 1]), (grid[i, 0] - at) / dt))
        i += 1
    least = 0.0
    for _ in range(HALVINGS):
        middle = 0.5 * (least + most)
        early = _squared_at(grid, at + (1.0 - COMPARED) * middle * dt, g)
        late = _squared_at(grid, at + COMPARED * middle * dt, g)
        if middle * middle <= min(early, late):
            least = middle
        else:
            most = middle
    slowest: float = min(speed - fall * change_time, (grid[last, 0] - at) / dt)
    return max(least, slowest)


@kernel
def _on_grid(grid: Array, at: float, guess: int) -> int:
    """Return the number of the last place of the grid before another one, near a segment."""
    last = grid.shape[0] - 1
    g = min(max(2 * guess, 0), last - 1)
    while g < last - 1 and at > grid[g + 1, 0]:
        g += 1
    while g > 0 and at < grid[g, 0]:
        g -= 1
    return int(g)


@kernel
def _changes(
    limits: Array, knots: Array, tangents: Array, places: Array, grid: Array, at: float,
    speed: float, g: int, rows: Array,
) -> tuple[float, float]:  # fmt: skip
    """Return how fast the speed can rise and fall at a place behind place `g` of the grid."""
    _write_at(knots, tangents, places, at, g // 2, rows[:3])
    most, square = min(grid[g, 2], grid[g + 1, 2]), speed * speed
    rise = change(limits, rows[:3], most, square, 1.0, USED_SHARE)
    return rise, max(change(limits, rows[:3], most, square, -1.0, 1.0), 0.0)


@kernel
def write_stop(
    limits: Array, knots: Array, tangents: Array, places: Array, grid: Array, at: float,
    speed: float, dt: float, guess: int, velocity: Array, rows: Array, steps: Array,
) -> int:  # fmt: skip
    """
    Write how fast the joints are as they come to rest along a curve, in steps of equal length.

    Parameters
    ----------
    limits, knots, tangents, places, grid, at, speed, dt, guess, rows
        As for `next_speed`.
    velocity : array, shape (n,)
        Velocities in the last step; written over.
    steps : array, shape (m, 2 + n)
        Written to: the number of a step, from 1 on, the place after it, and the velocities in it.
        The later they are the more steps are left out.

    Returns
    -------
    int
        Number of rows. In the last one the joints rest, if there is room for it.

    """
    count, number, due = 0, 0, 0
    end = grid[grid.shape[0] - 1, 0]
    g = _on_grid(grid, at, guess)
    while count < steps.shape[0]:
        _, fall = _changes(limits, knots, tangents, places, grid, at, speed, g, rows)
        least = max(0.0, min(speed - fall * dt, (end - at) / dt))
        if least < SLOWEST:
            least = 0.0
        speed = _followable(
            limits, knots, tangents, places, at, least, speed, dt, g, velocity, rows
        )
        number += 1
        at += speed * dt
        g = _on_grid(grid, at, g // 2)
        for j in range(velocity.shape[0]):
            velocity[j] = (rows[3, j] - rows[0, j]) / dt
        if number < due and speed > 0.0:
            continue
        due = number + max(1, number // GROWTH)
        steps[count, 0], steps[count, 1] = number, at
        for j in range(velocity.shape[0]):
            steps[count, 2 + j] = velocity[j]
        count += 1
        if speed == 0.0:
            break
    return count


@kernel
def _followable(
    limits: Array, knots: Array, tangents: Array, places: Array, at: float, least: float,
    most: float, dt: float, g: int, velocity: Array, rows: Array,
) -> float:  # fmt: skip
    """Return the least speed of a step, between two, that joints can follow; write its end."""
    is_least = True
    for _ in range(FEW_HALVINGS):
        speed = least if is_least else 0.5 * (least + most)
        _write_at(knots, tangents, places, at + speed * dt, g // 2, rows[3:])
        is_followed = True
        for j in range(velocity.shape[0]):
            gained = abs((rows[3, j] - rows[0, j]) / dt - velocity[j])
            is_followed = is_followed and gained <= limits[MAX_ACCELERATION, j] * dt
        if is_followed and is_least:
            return least
        if is_followed:
            most = speed
        elif not is_least:
            least = speed
        is_least = False
    _write_at(knots, tangents, places, at + most * dt, g // 2, rows[3:])
    return most


@kernel
def _write_at(
    knots: Array, tangents: Array, places: Array, at: float, guess: int, rows: Array
) -> None:
    """Write what `curve_at` does at a place, near a segment."""
    i = segment_at(places, at, guess)
    t = min(max((at - places[i]) / (places[i + 1] - places[i]), 0.0), 1.0)
    curve_at(knots, tangents, places, i, t, rows)


@kernel
def _squared_at(grid: Array, at: float, g: int) -> float:
    """Return the squared speed that is allowed at a place."""
    last = grid.shape[0] - 1
    while g < last - 1 and at > grid[g + 1, 0]:
        g += 1
    length = grid[g + 1, 0] - grid[g, 0]
    t = min(max((at - grid[g, 0]) / length, 0.0), 1.0)
    return float(grid[g, 1] + t * (grid[g + 1, 1] - grid[g, 1]))


@kernel
def nearest_place(
    knots: Array, tangents: Array, places: Array, q: Array, guess: int, rows: Array
) -> float:
    """Return the place on a curve, near a segment, that is nearest to joint values `q`."""
    first = max(0, guess - SEARCHED)
    end = min(knots.shape[0] - 1, guess + SEARCHED + 1)
    best, nearest = first, math.inf
    for i in range(first, end):
        along = square = 0.0
        for j in range(q.shape[0]):
            way = knots[i + 1, j] - knots[i, j]
            along += (q[j] - knots[i, j]) * way
            square += way * way
        t = min(max(along / max(square, TINY * TINY), 0.0), 1.0)
        distance = _squared_distance(knots, tangents, places, i, t, q, rows)
        if distance < nearest:
            nearest, best = distance, i
    begin, finish = 0.0, 1.0
    for _ in range(HALVINGS):
        one, other = (2.0 * begin + finish) / 3.0, (begin + 2.0 * finish) / 3.0
        if _squared_distance(knots, tangents, places, best, one, q, rows) < _squared_distance(
            knots, tangents, places, best, other, q, rows
        ):
            finish = other
        else:
            begin = one
    t = 0.5 * (begin + finish)
    return float(places[best] + t * (places[best + 1] - places[best]))


@kernel
def _squared_distance(
    knots: Array, tangents: Array, places: Array, i: int, t: float, q: Array, rows: Array
) -> float:
    """Return the squared distance of joint values from a place on a curve."""
    curve_at(knots, tangents, places, i, t, rows)
    distance = 0.0
    for j in range(q.shape[0]):
        distance += (q[j] - rows[0, j]) ** 2
    return distance
