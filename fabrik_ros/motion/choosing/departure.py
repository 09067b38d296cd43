"""
How an arm sets out for a goal: after a check of the whole path, or at once by a line.

An arm that rests looks first. One that follows a line heads for another goal at once and looks
along the new line meanwhile. From any other path it comes to rest before it looks. Goals of a
stream are followed by the line alone, as far as it goes.

When the world changes, the rest of the path is checked again. An arm that such a change stops
does not look for another path by itself: its owner decides.

"""

from collections.abc import Callable
from functools import partial
import math
from typing import Protocol

from ...planning.pieces import Pieces
from ...reasons import joined, Reason, ReasonKind
from ...transforms import Array
from ..limits.limits import MotionLimits
from ..paths.path import Path
from .arms_apart import ArmsApart
from .goal import Goal
from .goal_pursuit import GoalPursuit
from .path_choice import found_within, IN_STREAM, PathChoice
from .path_search import Attempt, FIRST, FoundPath, LINE

CHANGING_PATH = Reason(ReasonKind.CHANGING_PATH, 'braking before it takes another path')


class Mover(Protocol):
    """What sets out: `Motion`."""

    path: Path | None

    @property
    def limits(self) -> MotionLimits:
        """What the motion keeps to now."""

    def follow(self, path: Path | None) -> None:
        """Follow a path from now on."""

    def stay(self, reason: Reason | None) -> None:
        """Rest, for a reason."""

    def stop(self, reason: Reason | None) -> None:
        """Slow down to rest, for a reason."""


class Departure:
    """
    Finds the path to a goal, and sets out when the time has come.

    Parameters
    ----------
    mover : Mover
        Sets out.
    pursuit : GoalPursuit
        Has the goal, and finds paths.
    arms : ArmsApart
        Leads arms that share no joints apart, in a stream.

    Attributes
    ----------
    choice : PathChoice
        Looks for a path, and proposes those that have to be confirmed.
    in_stream : bool
        Whether the goal belongs to a stream, and is followed by the line alone.
    blocked_by_change : Reason or None
        Why the path that the arm was on is blocked since the world changed.

    """

    def __init__(self, mover: Mover, pursuit: GoalPursuit, arms: ArmsApart) -> None:
        self._mover, self._pursuit, self._arms = mover, pursuit, arms
        self.choice = PathChoice()
        self.in_stream = False
        self.forget()

    def forget(self) -> None:
        """Look for no path, now or at rest."""
        self.choice.forget()
        self._at_rest: Callable[[], None] | None = None
        """Called once the arm rests."""
        self._retry: Callable[[], None] | None = None
        """Called at rest if the path turns out to be blocked."""
        self._look_anew: Callable[[], None] | None = None
        """Begins again the search from rest that is running, or that ended with a proposal."""
        self._is_outdated = False
        """Whether the world has changed since the path was checked."""
        self._was_free = False
        """Whether a path that was free before the world changed is checked again."""
        self._check: Pieces[FoundPath] | None = None
        """The check of the rest of the path, after the world has changed."""
        self._check_again = False
        """Whether the world has changed since that check began."""
        self.blocked_by_change: Reason | None = None

    def end_stream(self) -> None:
        """Take note that there is no goal any longer."""
        self.forget()
        self._arms.forget()
        self.in_stream = False

    @property
    def waits_for_rest(self) -> bool:
        """Whether something begins once the arm rests."""
        return self._at_rest is not None

    @property
    def is_looking(self) -> bool:
        """Whether it is not known yet by which path the arm goes on, if by any."""
        return self.choice.is_looking or self.waits_for_rest

    def pursue(self, goal: Goal, in_stream: bool, patience: float) -> None:
        """Set a new goal: see `Motion.pursue`."""
        path, waited = self._mover.path, self.waits_for_rest
        self.forget()
        self.in_stream = in_stream and not self._must_ask
        if not self.in_stream:
            self._arms.forget()
        follows_line = path is not None and path.follows_tips
        if self.in_stream:
            stops = path is not None and path.is_stop
            in_joint_space = self._pursuit.options.path == 'joint'
            if path is None or follows_line or (not waited if stops else in_joint_space):
                self._head_for(goal)
            else:
                self._brake_and_then(partial(self._head_for, goal))
        elif path is None:
            self._look_for(goal, patience)
        elif follows_line and self._pursuit.may_head_on:
            self._set_out(goal)
            self._look_meanwhile(goal)
        else:
            self._brake_and_then(partial(self._look_for, goal))

    @property
    def _must_ask(self) -> bool:
        """Whether even a goal of a stream waits until its path is confirmed."""
        options = self._pursuit.options
        leaves_line = options.path == 'joint' and options.confirm == 'leaving_line'
        return options.confirm == 'always' or leaves_line

    def pursue_configuration(self, q: Array) -> None:
        """Look for a path in joint space to joint values, shape (n,)."""
        if self._mover.path is None:
            self._look_for_configuration(q)
        else:
            self._brake_and_then(partial(self._look_for_configuration, q))

    def _head_for(self, goal: Goal) -> None:
        """Go on to a goal of a stream."""
        path = self._mover.path
        apart = self._arms.lead(goal, path)
        if apart is not None and apart is not path:
            self._pursuit.forget()
        line = apart or self._pursuit.follow_on(goal, path)
        if line is None:
            self._set_out(goal)
        elif line is not path:
            self._mover.follow(line)

    def _set_out(self, goal: Goal) -> None:
        """Head for a goal at once, as far as that goes."""
        path = self._pursuit.set_out(goal, self._mover.path)
        if path is None:
            self._mover.stop(self._pursuit.reason)
        else:
            self._mover.follow(path)

    def _look_for(self, goal: Goal, patience: float = 0.0, attempt: Attempt = FIRST) -> None:
        """Look for a path to a goal, for an arm that rests."""
        self._mover.stay(None)
        self.choice.begin(self._pursuit.find_path(goal, attempt), patience)
        self._look_anew = partial(self._look_for, goal, 0.0, attempt)
        following = attempt.following
        self._retry = following and partial(self._look_for, goal, 0.0, following)

    def _look_for_configuration(self, q: Array) -> None:
        self.choice.begin(self._pursuit.search.to_configuration(q))
        self._look_anew = partial(self._look_for_configuration, q)

    def _look_meanwhile(self, goal: Goal) -> None:
        """Look along the line that is followed already; stop if it is blocked."""
        path = self._mover.path
        if path is not None and path.follows_tips:
            self.choice.begin(self._pursuit.search.along(path, LINE))
            self._retry = partial(self._look_for, goal)

    def _brake_and_then(self, act: Callable[[], None]) -> None:
        """Come to rest, and do something then."""
        self._mover.stop(CHANGING_PATH)
        self._at_rest = act

    def stop_short(self, reason: Reason | None) -> None:
        """Stop short of the goal, for a reason; look for another path where one may."""
        if self._is_outdated:
            self._stop_for_change(reason)
            return
        retry = self._retry
        self._mover.stop(joined((reason, IN_STREAM if self.in_stream else None)))
        self._at_rest = retry

    def arrive(self) -> None:
        """Take note that the arm has arrived: whatever happens now, it does not set out again."""
        self._retry = None

    def look(self, dt: float, seconds: float = math.inf) -> None:
        """Look for the path to the goal, and set out once it is known: see `Motion.look`."""
        if self._at_rest is not None and self._mover.path is None:
            act, self._at_rest = self._at_rest, None
            act()
        self._go_on_checking(seconds)
        if not self.choice.is_looking:
            return
        found = self.choice.look(dt, seconds, self._pursuit.options)
        if found is None:
            return
        if self._mover.path is None:
            self._take_if_free(found)
        elif found.path is None:
            self.stop_short(found.reason)

    def _take_if_free(self, found: FoundPath) -> None:
        """Take a path that was found, after a second look if the world has changed meanwhile."""
        was_free, self._was_free = self._was_free, False
        if found.path is not None and self._is_outdated:
            self._is_outdated, self._was_free = False, True
            self.choice.begin(self._pursuit.search.once_more(found), is_confirmed=True)
        elif found.path is None and was_free and self._look_anew is not None:
            self._look_anew()
        else:
            self._take(found)

    def _take(self, found: FoundPath) -> None:
        """Set out on a path that was found, or rest and say why there is none."""
        self._mover.stay(found.reason)
        if found.path is not None:
            self._look_anew = None
            self._pursuit.take(found)
            found.path.change_limits(self._mover.limits)  # they may have changed meanwhile
            self._mover.follow(found.path)
        if found.preview is not None and found.preview.reason is not None:
            self._retry = None  # the path already ends early

    def execute(self) -> bool:
        """Set out on the path that was proposed, if that is free still; tell if there is one."""
        proposal = self.choice.proposal
        if proposal is None or proposal.path is None:
            return False
        self.choice.begin(self._pursuit.search.once_more(proposal), is_confirmed=True)
        return True

    def change_world(self) -> None:
        """Look once more: along the path that is followed, or that was found meanwhile."""
        path = self._mover.path
        if path is None:
            self._is_outdated = self.choice.is_looking
        elif self.in_stream or path.is_stop or path.is_jog or path.is_at_goal:
            return  # it goes on as far as nothing is in the way
        else:
            self._is_outdated = not self.choice.is_looking
            self._check_again = self._check is not None
            self._check = self._check or self._pursuit.search.rest_of(path, self.choice.found)

    @property
    def is_checking(self) -> bool:
        """Whether the rest of the path is checked again, as the world has changed."""
        return self._check is not None

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
            self._stop_for_change(found.reason)
        elif self._check_again:
            self._check_again = False
            self._check = self._pursuit.search.rest_of(path, self.choice.found)
        else:
            self._is_outdated = False

    def _stop_for_change(self, reason: Reason | None) -> None:
        """Stop as the world has changed, and leave it to others how the arm goes on."""
        self._mover.stop(reason)
        self.blocked_by_change = reason

    def change_rules(self) -> None:
        """Look anew from rest: what was found keeps to other rules than those in force now."""
        if self._mover.path is None and self._look_anew is not None:
            self._look_anew()
