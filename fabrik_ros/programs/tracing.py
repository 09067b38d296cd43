"""Joint values along the course of a tip, so dense that the joints may go straight between."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..collision.guard import CollisionGuard, LeastDistances
from ..methods import TipsSolver
from ..model.mechanism import Mechanism
from ..planning.pieces import Pieces
from ..reasons import Reason, ReasonKind, shown_place
from ..solver.solution import Solution, Status
from ..transforms import Array
from .courses import Course

LONGEST_STEP, LARGEST_TURN = 0.02, 0.1
"""Largest move [m] and turn [rad] of a tip from one pair of knots to the next."""
SHORTEST = 2e-4
"""Least step, as a share of the largest one: a shorter one leads nowhere [1]."""
LARGEST_MOVE = 0.2
"""Largest joint move in a step [rad or m]."""
OFF_CHORD = 8e-5
"""Largest distance of the course from straight moves between knots, at the arm's reach [m]."""
GROWTH = 1.5
"""Ratio of a step to the one before, where that was easy [1]."""
EASY = 0.4
"""A step was easy if it used no more than this share of what it may leave the chord [1]."""
JUMP = 'the joints would have to jump'


@dataclass(frozen=True, eq=False)
class Trace:
    """
    Joint values on a course.

    Attributes
    ----------
    shares : array, shape (m,)
        Shares of the course, from 0 to where it could be followed.
    q : array, shape (m, n)
        Joint values there [rad or m].
    position_error, orientation_error : float
        Greatest errors of the tip there [m], [rad].
    reason : Reason or None
        Why the course cannot be followed any farther; None where it can, to its end.
    is_exact : bool
        Whether the arm is on the course everywhere.

    """

    shares: Array
    q: Array
    position_error: float = 0.0
    orientation_error: float = 0.0
    reason: Reason | None = None
    is_exact: bool = True


@dataclass(frozen=True)
class Tracer:
    """
    Follows courses.

    Parameters
    ----------
    robot : Chain
        The arm.
    solver : TipsSolver
        Finds joint values for the next pose, near others.
    is_met : callable
        Tells whether an answer is within the tolerances; the solver is asked for narrower ones.
    guard : CollisionGuard or None
        Knows what collides, where that is checked.

    """

    robot: Mechanism
    solver: TipsSolver
    is_met: Callable[[Solution], bool]
    guard: CollisionGuard | None

    def trace(self, course: Course, q: Array, least: LeastDistances | None) -> Pieces[Trace]:
        """
        Follow a course, in pieces, from joint values `q`, shape (n,), at its beginning.

        `least` are the distances that pairs of links keep; None where that is not checked.
        """
        largest = min(1.0, _share(LONGEST_STEP, course.length), _share(LARGEST_TURN, course.turn))
        step, worst = largest, (0.0, 0.0)
        shares, knots = [0.0], [q]
        while shares[-1] < 1.0:
            at, step = shares[-1], min(step, 1.0 - shares[-1])
            middle, end, off = self._step(course, knots, shares, step)
            bad = next((s for s in (end, middle) if not self._is_near(s)), None)
            if bad is not None or off > OFF_CHORD:
                step *= 0.5
                if step < SHORTEST * largest:
                    return self._ended(course, shares, knots, _why(bad))
                continue
            for s, share in ((middle, at + 0.5 * step), (end, at + step)):
                if collision := self._collision(knots[-1], s.q, least):
                    return self._ended(course, shares, knots, f'collision: {collision}', True)
                shares.append(1.0 if share > 1.0 - SHORTEST * SHORTEST * largest else share)
                knots.append(s.q)
                worst = max(worst[0], s.position_error), max(worst[1], s.orientation_error)
            if off < EASY * OFF_CHORD:
                step = min(largest, GROWTH * step)
            yield
        return Trace(np.array(shares), np.array(knots), *worst)

    def _step(
        self, course: Course, knots: list[Array], shares: list[float], step: float
    ) -> tuple[Solution, Solution, float]:
        """Find joint values amid a step and at its end, and how far off the chord they are."""
        at, q = shares[-1], knots[-1]
        ahead = np.zeros_like(q)
        if len(knots) > 1:
            ahead = (q - knots[-2]) * (step / (at - shares[-2]))
        end = self._solve(course.pose(at + step), q + ahead)
        middle = self._solve(course.pose(at + 0.5 * step), 0.5 * (q + end.q))
        if np.max(np.abs(end.q - q)) > LARGEST_MOVE:
            end = end._replace(status=Status.BLOCKED_BY_JOINT_MOVE)
        off = float(np.linalg.norm(middle.q - 0.5 * (q + end.q))) * self.robot.size
        return middle, end, off

    def _solve(self, T: Array, seed: Array) -> Solution:
        return self.solver.solve(T[None], np.clip(seed, self.robot.lower, self.robot.upper))

    def _is_near(self, answer: Solution) -> bool:
        return answer.status is not Status.BLOCKED_BY_JOINT_MOVE and self.is_met(answer)

    def _collision(self, q: Array, q_next: Array, least: LeastDistances | None) -> str:
        if self.guard is None or least is None:
            return ''
        return self.guard.collision_between(q, q_next, least)

    def _ended(
        self,
        course: Course,
        shares: list[float],
        knots: list[Array],
        why: str,
        collides: bool = False,
    ) -> Trace:
        """Say where a course ends, and why."""
        place = course.pose(shares[-1])[None, :3, 3]
        kind = ReasonKind.COLLISION_AHEAD if collides else ReasonKind.PATH_BLOCKED
        text = f'{100.0 * shares[-1]:.0f} % of it, to {shown_place(place)}, can be followed: {why}'
        return Trace(np.array(shares), np.array(knots), reason=Reason(kind, text, place=place))


def _share(most: float, whole: float) -> float:
    """Share that a part is of a whole; infinite where that is nothing."""
    return most / whole if whole > 0.0 else np.inf


def _why(answer: Solution | None) -> str:
    """Say why a step is impossible, by the answer of the solver that shows it."""
    if answer is None or answer.status is Status.BLOCKED_BY_JOINT_MOVE:
        return JUMP
    names = f' ({", ".join(answer.limited_joints)})' if answer.limited_joints else ''
    return f'{answer.status.value}{names}'
