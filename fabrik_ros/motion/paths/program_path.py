"""Paths through a program of moves: its legs one after the other, each from rest to rest."""

from collections.abc import Callable, Iterator
from functools import reduce

import numpy as np

from ...programs.route import Route
from ...transforms import Array
from ..limits.joint_limiter import JointLimiter
from .path import Path, Progress
from .planned_path import PlannedPath, sparse
from .preview import Ahead

NAME = 'the program'


class ProgramPath(PlannedPath):
    """
    One leg of a program; the others follow.

    Parameters
    ----------
    limiter : JointLimiter
        Knows what the joints can do.
    route : Route
        The whole program.
    number : int
        Number of the leg.

    """

    def __init__(self, limiter: JointLimiter, route: Route, number: int) -> None:
        self._route, self._number = route, number
        self._leg = leg = route.legs[number]
        super().__init__(
            limiter,
            leg.knots,
            NAME,
            then=_leg_after(limiter, route, number),
            places=leg.places,
            slopes=leg.slopes,
            acceleration=leg.acceleration,
        )

    def progress(self) -> Progress:
        """Tell how far the arm is with the program."""
        place = min(self._at, float(self._leg.places[-1]))
        return progress_at(self._route, self._number, place, self.time_left)

    def ahead(self) -> Ahead:
        """Tell what the rest of the program asks of the joints, from where the arm is now."""
        return reduce(Ahead.followed_by, _legs_ahead(self._route, self._number), super().ahead())


class PausePath(Path):
    """
    Rests for a time, within a program.

    Parameters
    ----------
    limiter : JointLimiter
        Knows where the joints are.
    route : Route
        The whole program.
    number : int
        Number of the leg that is the pause.

    """

    def __init__(self, limiter: JointLimiter, route: Route, number: int) -> None:
        super().__init__(then=_leg_after(limiter, route, number))
        self._limiter, self._route, self._number = limiter, route, number
        self._left = route.legs[number].pause

    def velocity(self, dt: float) -> Array:
        """Joint velocity that is wanted in the next step of `dt` seconds, shape (n,): none."""
        self._left -= dt * self._limiter.joints.limits.speed_scaling
        return self._limiter.joints.stopping_velocity(dt)

    def has_arrived(self) -> bool:
        """Whether the pause is over."""
        return self._left <= 0.0

    def progress(self) -> Progress:
        """Tell how far the arm is with the program."""
        leg = self._route.legs[self._number]
        place = leg.pause - self._left
        return progress_at(self._route, self._number, place, self._left)

    def ahead(self) -> Ahead:
        """Tell what the rest of the program asks of the joints."""
        pause = Ahead(NAME, self._limiter.joints.q, iter(()), 0)
        return reduce(Ahead.followed_by, _legs_ahead(self._route, self._number), pause)


def program_path(limiter: JointLimiter, route: Route, number: int = 0) -> Path:
    """Make the path through a program from one of its legs on."""
    if len(route.legs[number].knots) > 1:
        return ProgramPath(limiter, route, number)
    return PausePath(limiter, route, number)


def progress_at(route: Route, number: int, place: float, left: float) -> Progress:
    """Tell how far an arm is at a place on a leg of a program, with so much time left [s]."""
    leg = route.legs[number]
    segment, begin, end = leg.segment_at(place)
    behind = sum(leg.duration for leg in route.legs[:number]) + place
    ahead = sum(leg.duration for leg in route.legs[number + 1 :])
    return Progress(
        number,
        place,
        segment,
        _share(place - begin, end - begin),
        _share(behind, route.duration),
        left + ahead,
    )


def _leg_after(limiter: JointLimiter, route: Route, number: int) -> Callable[[], Path] | None:
    if number + 1 == len(route.legs):
        return None
    return lambda: program_path(limiter, route, number + 1)


def _legs_ahead(route: Route, number: int) -> Iterator[Ahead]:
    """Tell what the legs after one of a program ask of the joints."""
    for leg in route.legs[number + 1 :]:
        q, knots, places = leg.knots[0], leg.knots[1:], leg.places[1:]
        chosen = sparse(q, knots)
        asked = np.diff(places[chosen], prepend=leg.places[0])
        yield Ahead(NAME, q, iter(knots[chosen]), len(chosen), asked)


def _share(part: float, whole: float) -> float:
    """Share that a part is of a whole, 0 to 1; all of it where that is nothing."""
    return min(max(part / whole, 0.0), 1.0) if whole > 0.0 else 1.0
