"""
State machine of an arm, by the table of states (`state_table.py`): it sets out, stops, goes on.

An arm that rests looks for a path first. One that follows a line heads for another goal at once
and looks along the new line meanwhile. From any other path it comes to rest before it looks. Goals
of a stream are followed by the line alone, as far as it goes.

When the world changes, the rest of the path is checked again. An arm that such a change stops
does not look for another path by itself: its owner decides.

"""

from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from ...planning.pieces import Pieces
from ...reasons import joined, Reason, ReasonKind
from ...transforms import Array
from ..limits.limits import MotionLimits
from ..paths.path import Path
from .arms_apart import ArmsApart
from .goal import Goal, IN_STREAM
from .goal_pursuit import GoalPursuit
from .path_finder import FoundPath, LINE, Task, ToGoal
from .search import found_within, Search
from .state_table import CHECKED, Event, Phase, RESTS, TABLE

CHANGING_PATH = Reason(ReasonKind.CHANGING_PATH, 'braking before it takes another path')
LOOKING = Reason(ReasonKind.LOOKING, 'looking for a path to the target')
WAITING = Reason(
    ReasonKind.LOOKING, 'the line is blocked: leaves it unless another target comes now'
)

Outcome = tuple[Event, Any] | None
"""Event with which an action ends, and what belongs to it."""


class Mover(Protocol):
    """Part of `Motion` that the state machine moves."""

    path: Path | None

    @property
    def limits(self) -> MotionLimits:
        """Limits that the motion keeps to now."""

    def follow(self, path: Path | None) -> None:
        """Follow a path from now on."""

    def follow_straight(self, q: Array) -> None:
        """Go straight to joint values of shape (n,)."""

    def follow_kept(self) -> None:
        """Follow the path at the end of which the arm rests, as the base moves."""

    def stay(self, reason: Reason | None) -> None:
        """Rest, for a reason."""

    def brake(self, reason: Reason | None) -> None:
        """Slow down to rest, for a reason; there is no path where it rests already."""

    def forget_goal(self) -> None:
        """Pursue no goal any longer."""


@dataclass(frozen=True, eq=False)
class HeadFor:
    """A goal of a stream that the arm heads for once it rests."""

    goal: Goal


@dataclass(frozen=True)
class Jog:
    """A jog of one tip."""

    twist: Array
    """Linear and angular velocity, shape (6,) [m/s, rad/s]."""
    in_tip: bool
    """Whether that is in the frame of the tip instead of the base."""
    tip: int
    """Number of the tip."""
    unconstrained: npt.NDArray[np.bool_]
    """Mask of the tips that may go anywhere, shape (k,)."""


class StateMachine:
    """
    Does what the table of states says.

    Parameters
    ----------
    mover : Mover
        Moves.
    pursuit : GoalPursuit
        Has the goal, and finds paths.
    arms : ArmsApart
        Leads arms that share no joints apart, in a stream.

    Attributes
    ----------
    phase : Phase
        What the arm does.
    in_stream : bool
        Whether the goal belongs to a stream, and is followed by the line alone.
    found : FoundPath or None
        The newest path that was found; None while there is none.
    blocked_by_change : Reason or None
        Why the path that the arm was on is blocked since the world changed.

    """

    def __init__(self, mover: Mover, pursuit: GoalPursuit, arms: ArmsApart) -> None:
        self._mover, self._pursuit, self._arms = mover, pursuit, arms
        self.reset()

    def reset(self) -> None:
        """Rest, without a goal."""
        self.phase = Phase.RESTING
        self._forget()
        self._leave_stream()

    def handle(self, event: Event, data: Any = None) -> None:
        """Do what follows an event in the present phase; `data` is what belongs to the event."""
        outcome: Outcome = event, data
        while outcome is not None:
            event, data = outcome
            cell = TABLE.get((self.phase, event))
            if cell is None:
                return
            outcome = getattr(self, f'_{cell.action}')(data)
            self.phase = cell.phase

    def _forget(self) -> None:
        """Look for no path, now or at rest."""
        self._current: Search | None = None
        """The search that goes on."""
        self._task: Task | None = None
        """
        Task of an arm that rests: its path is looked for, or was found and waits to be confirmed.
        """
        self._retry: Task | None = None
        """
        Task for which a path is looked for at rest if the present path turns out to be blocked.
        """
        self._then: Task | HeadFor | None = None
        """Task, or goal of a stream, that begins once the arm rests."""
        self.found: FoundPath | None = None
        self._check: Pieces[FoundPath] | None = None
        """The check of the rest of the path, after the world has changed."""
        self._check_again = False
        """Whether the world has changed since that check began."""
        self.blocked_by_change: Reason | None = None

    def _leave_stream(self) -> None:
        self._arms.forget()
        self.in_stream = False

    # -- what it says

    @property
    def search_reason(self) -> Reason:
        """Reason to give while it is looking."""
        is_done = self._current is not None and self._current.found is not None
        return WAITING if is_done else LOOKING

    @property
    def proposal(self) -> FoundPath | None:
        """The path that waits to be confirmed."""
        return self.found if self.phase is Phase.PROPOSED else None

    @property
    def is_checking(self) -> bool:
        """Whether the rest of the path is checked again, as the world has changed."""
        return self._check is not None

    # -- looking

    def look(self, dt: float, seconds: float) -> None:
        """Look for the path to the goal, and set out once it is known: see `Motion.look`."""
        if self._mover.path is None:
            self.handle(Event.AT_REST)
        self._go_on_checking(seconds)
        search = self._current
        if search is None:
            return
        self.found = search.go_on(dt, seconds)
        if self.found is not None:
            self._conclude(search, self.found)

    def _conclude(self, search: Search, found: FoundPath) -> None:
        """Tell what a search has come to."""
        options = self._pursuit.options
        question = search.question(options)
        if found.path is None:
            is_lost = search.is_second_look and self._task is not None
            self.handle(Event.LOST if is_lost else Event.NONE_FOUND, found.reason)
        elif question is not None:
            self.handle(Event.ASKS, question)
        elif not search.must_wait(options):
            self.handle(Event.FOUND_BEFORE if search.is_outdated else Event.FOUND, found)

    def _go_on_checking(self, seconds: float) -> None:
        """Look along the rest of the path for a time; stop where it is blocked."""
        path = self._mover.path
        if path is None or path.is_stop:
            self._check = None
        if path is None or self._check is None:
            return
        found = found_within(self._check, seconds)
        if found is None:
            return
        self._check = None
        if found.path is None:
            self.handle(Event.BLOCKED_NOW, found.reason)
        elif self._check_again:
            self._check_again = False
            self._check = self._pursuit.finder.rest_of(path, self.found)

    def be_blocked(self, reason: Reason | None) -> None:
        """Take note that the path cannot be followed any farther, for a reason."""
        if self._check is not None and self.phase in CHECKED:
            self.handle(Event.BLOCKED_NOW, reason)
        else:
            is_last = self._retry is None or self.phase in RESTS
            self.handle(Event.DEAD_END if is_last else Event.BLOCKED, reason)

    # -- actions: setting out

    def _search(self, task: Task) -> None:
        """Stay, and look for a path to the end."""
        self._forget()
        self._leave_stream()
        self._look_for(task)

    def _look_for(self, task: Task) -> None:
        self._mover.stay(None)
        self._task, self._retry, self.found = task, task.following, None
        self._current = Search(self._pursuit.find(task), task.patience)

    def _head(self, goal: Goal) -> Outcome:
        """Lead the line to a goal of a stream, or make one."""
        path = self._mover.path
        self._forget()
        self.in_stream = True
        if not (path is None or path.follows_tips or self._may_leave(path)):
            return Event.MUST_REST, HeadFor(goal)
        apart = self._arms.lead(goal, path)
        if apart is not None and apart is not path:
            self._pursuit.forget()
        line = apart or self._pursuit.follow_on(goal, path)
        if line is None:
            return self._set_out(goal)
        if line is not path:
            self._mover.follow(line)
        return None

    def _may_leave(self, path: Path) -> bool:
        """Whether a goal of a stream may be headed for from a path that follows no tips."""
        if path.is_stop:
            return self.phase is not Phase.CHANGING
        return self._pursuit.options.path == 'joint'

    def _set_out(self, goal: Goal) -> Outcome:
        """Head for a goal at once, as far as that goes."""
        path = self._pursuit.set_out(goal, self._mover.path)
        if path is None:
            return Event.STOP, self._pursuit.reason
        self._mover.follow(path)
        return None

    def _head_and_look(self, task: ToGoal) -> Outcome:
        """Lead the line to a goal, and look along it meanwhile."""
        path = self._mover.path
        self._forget()
        self._leave_stream()
        if path is None or not (path.follows_tips and self._pursuit.may_head_on):
            return Event.MUST_REST, task
        outcome = self._set_out(task.goal)
        line = self._mover.path
        if outcome is None and line is not None:
            self._current = Search(self._pursuit.finder.along(line, LINE))
            self._retry = ToGoal(task.goal)
        return outcome

    def _go_straight(self, q: Array) -> None:
        """Drop all else, and go straight to joint values."""
        self._mover.forget_goal()
        self._forget()
        self._leave_stream()
        self._mover.follow_straight(q)

    def _begin_jog(self, jog: Jog) -> None:
        """Drop all else, and move as jogged."""
        self._mover.forget_goal()
        self._forget()
        self._leave_stream()
        self._steer(jog)

    def _steer(self, jog: Jog) -> None:
        """Move on as jogged, at another velocity."""
        path = self._pursuit.jog_path(self._mover.path, jog.unconstrained)
        self._mover.follow(path)
        path.steer(jog.twist, jog.in_tip, jog.tip)

    def _dodge(self, path: Path) -> None:
        """Move spare joints out of the way."""
        self._leave_stream()
        self._mover.follow(path)

    def _dodge_no_more(self, _: Reason | None) -> Outcome:
        """Stay where it is: no fault, the tips are where they were asked to be."""
        return self._stop(None)

    # -- actions: what a search has come to

    def _take(self, found: FoundPath) -> None:
        """Set out on the path that was found."""
        path = found.path
        self._mover.stay(found.reason)
        self._current = self._task = None
        if path is not None:
            self._pursuit.take(found)
            path.change_limits(self._mover.limits)  # they may have changed meanwhile
            self._mover.follow(path)
        self._note_early_end(found)

    def _note_early_end(self, found: FoundPath) -> None:
        """Try no other path after one of which it is known that it ends early."""
        if found.preview is not None and found.preview.reason is not None:
            self._retry = None

    def _go_on(self, found: FoundPath) -> None:
        """Go on along the line: it is free to its end."""
        self._current = None

    def _look_once_more(self, found: FoundPath) -> None:
        """Look once more along the path found, in the world as it is now."""
        again = self._pursuit.finder.once_more(found)
        self._current = Search(again, is_confirmed=True, is_second_look=True)
        self.found = None

    def _propose(self, question: Reason) -> None:
        """Stay, and ask."""
        self._mover.stay(question)
        self._current = None
        if self.found is not None:
            self._note_early_end(self.found)

    def _confirm(self, _: None) -> None:
        """Look along the proposed path once more, to take it then."""
        if self.found is not None:
            again = self._pursuit.finder.once_more(self.found)
            self._current, self.found = Search(again, is_confirmed=True), None

    def _give_up(self, reason: Reason | None) -> None:
        """Stay, and say why."""
        self._mover.stay(reason)
        self._current = self._task = self._retry = None

    def _search_anew(self, _: Any) -> None:
        """Search from the beginning: what was found keeps to other rules or worlds."""
        if self._task is not None:
            self._look_for(replace(self._task, patience=0.0))

    # -- actions: braking

    def _brake_for(self, reason: Reason | None, then: Task | HeadFor | None) -> None:
        self._forget()
        self._mover.brake(reason)
        self._then = replace(then, patience=0.0) if isinstance(then, Task) else then

    def _brake(self, then: Task | HeadFor) -> None:
        """Brake; what it was asked for begins at rest."""
        self._brake_for(CHANGING_PATH, then)

    def _brake_and_search(self, task: Task) -> None:
        """Leave the stream, and brake; the search begins at rest."""
        self._leave_stream()
        self._brake_for(CHANGING_PATH, task)

    def _brake_and_retry(self, reason: Reason | None) -> None:
        """Brake; the search for another path begins at rest, if one is left to try."""
        self._brake_for(reason, self._retry)

    def _stop(self, reason: Reason | None) -> Outcome:
        """Drop all else, and brake."""
        self._brake_for(reason, None)
        return (Event.ARRIVED, None) if self._mover.path is None else None

    def _stop_short(self, reason: Reason | None) -> Outcome:
        """Drop all else, and brake, for the reason that blocks the path."""
        return self._stop(joined((reason, IN_STREAM if self.in_stream else None)))

    def _stop_for_change(self, reason: Reason | None) -> Outcome:
        """Drop all else, and brake; `on_blocked` says how it goes on."""
        outcome = self._stop(reason)
        self.blocked_by_change = reason
        return outcome

    def _begin(self, _: None) -> Outcome:
        """Begin what was kept for rest, if anything was."""
        then, self._then = self._then, None
        if isinstance(then, HeadFor):
            return Event.STREAM_GOAL, then.goal
        return None if then is None else (Event.GOAL, then)

    def _arrive(self, _: None) -> None:
        """Rest, and retry nothing."""
        self._current = self._retry = self._check = None

    def _come_to_rest_again(self, q: Array) -> None:
        """Go on to where it had come to rest; what it did there begins anew then."""
        self._then = self._then or (self._task and replace(self._task, patience=0.0))
        self._current = self._task = None
        self._mover.follow_straight(q)

    # -- actions: what changes around it

    def _note_change(self, _: None) -> None:
        """Take note that what is found has to be looked at once more."""
        if self._current is not None:
            self._current.is_outdated = True

    def _check_rest(self, _: None) -> None:
        """Check the rest of the path meanwhile; not at its goal."""
        path = self._mover.path
        if path is None or self.in_stream or path.is_at_goal:
            return  # it goes on as far as nothing is in the way
        self._check_again = self._check is not None
        self._check = self._check or self._pursuit.finder.rest_of(path, self.found)

    def _keep_up(self, _: None) -> None:
        """Keep the tips where they are in the world."""
        self._mover.follow_kept()
