"""Windows of time over which a mean of goals goes on as tips may: one for each tip."""

import math

from ..transforms import Array
from ._jit import kernel
from .displacement import mean_velocity, size_of

CORNER = 1.06 * math.sqrt(2.0)
"""Change of velocity at a right angle, in multiples of the speed, with a little to spare."""
LEAST_BRAKING = 0.9
"""Share of the time that braking takes that the window has at once [1]: joints have a margin."""
LONGEST_WINDOW = 0.5
"""Longest window, with the time that a displacement takes [s]."""
CHORD = 0.2
"""Velocities of a goal are measured over this time [s]: a trembling hand has others in between."""
HEADING_TIME = 0.04
"""The direction in which a goal goes now is measured over this time [s]."""
YOUNG = 0.15
"""A path that has lasted no longer sets the window at once: little of it is past [s]."""
CHANGING_RATE = 0.05
"""
Rate at which a window becomes longer or shorter [s/s].

The mean goes slower by half of this share while it becomes longer.

"""
TINY = 1e-12
"""Smallest speed that is divided by [1]."""


@kernel
def find_windows(
    ages: Array, displacements: Array, duration: float, interval: float, gain: float,
    heading: Array, braking: Array, needed: Array, windows: Array,
) -> None:  # fmt: skip
    """
    Find the windows that the paths of k tips need, now that a goal has gone on.

    Parameters
    ----------
    ages, displacements : array, shape (m,) and (m, 6 k)
        As in `displacement`: of each displacement of the goals, the newest last.
    duration, interval : float
        Time that the newest takes, and time between two of them [s].
    gain : float
        Change of speed that the tips may have [1/s].
    heading : array, shape (6 k,)
        Written to: the velocity that the goals have now.
    braking, needed, windows : array, shape (k,)
        Time that braking from full speed takes, which grows as slowly as a window may, the window
        that the path of each tip needs, and its window now [s]: brought up to date.

    """
    newest, lasted = ages[-1], ages[0] - ages[-1]
    chord = min(max(lasted + interval, 0.5 * CHORD), CHORD)
    mean_velocity(ages, displacements, interval, newest + chord, newest, heading)
    is_young, most = lasted <= YOUNG, LONGEST_WINDOW - duration
    for b in range(windows.shape[0]):
        speed = min(size_of(heading[6 * b : 6 * b + 6]), 1.0)
        longer = CHANGING_RATE * interval / max(speed, TINY)
        braking[b] = 1.0 / gain if is_young else min(1.0 / gain, braking[b] + longer)
        least = min(max(LEAST_BRAKING * speed * braking[b], duration), most)
        needed[b] = min(max(CORNER * speed / gain - (duration - interval), least), most)
        windows[b] = max(windows[b], needed[b] if is_young else least)
    mean_velocity(ages, displacements, interval, newest + HEADING_TIME, newest, heading)


@kernel
def grow_older(dt: float, ages: Array, needed: Array, windows: Array) -> None:
    """Let a time [s] pass: windows come nearer to those that are needed; parameters as above."""
    change = CHANGING_RATE * dt
    for b in range(windows.shape[0]):
        windows[b] += min(max(needed[b] - windows[b], -change), change)
    for i in range(ages.shape[0]):
        ages[i] += dt
