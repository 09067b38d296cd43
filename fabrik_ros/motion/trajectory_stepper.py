"""
Steps of a motion, taken so that controllers of trajectories can play it.

A step changes the curve that was published from its fork on, which lies about a look-ahead after
the step. Where the node is late, some of the curve after the fork may be played already: the
motion follows it for so long, and goes on from there. All steps have the same length, so the
acceleration is constant between the points of the curve.

"""

from collections.abc import Callable

from .arm_state import Command
from .follower import Follower
from .motion import Motion
from .published_trajectory import Knot, NANOSECONDS, PublishedTrajectory


class TrajectoryStepper:
    """
    Takes the steps of a motion and keeps the curve that controllers are told.

    Parameters
    ----------
    motion : Motion
        What makes the commands.
    period : int
        Length of a step [ns].
    look_ahead : float
        How long after its stamp a controller is at a command [s].

    Attributes
    ----------
    curve : PublishedTrajectory
        With the newest step.

    """

    def __init__(self, motion: Motion, period: int, look_ahead: float) -> None:
        self.curve = PublishedTrajectory(look_ahead)
        self._motion, self._limiter, self._period = motion, motion.limiter, period
        self._dt = period / NANOSECONDS
        self._notice = (self.curve.look_ahead - 2 * period) * 3 // 4
        """What is planned now takes so long to be computed, sent and heard, at most [ns]."""
        self._before, self._checkpoint = self.curve, motion.checkpoint()
        self._changes_at: int | None = None
        """From when on the newest steps change what was published [ns]; None: they do not."""

    def step(
        self,
        follower: Follower,
        advance: Callable[[int], Command | None],
        now: int,
        last: int,
        stamp: int,
        is_paused: bool,
    ) -> Command | None:
        """
        Take the steps from one command to the next; None where there is nothing to say.

        Parameters
        ----------
        follower : Follower
            Drives the motion.
        advance : callable
            Takes one step, to the command with a stamp [ns].
        now : int
            The time [ns].
        last, stamp : int
            Stamps of the last command and of the next one [ns]; whole periods apart, unless ...
        is_paused : bool
            ... no command was sent for so long that the stream begins anew.

        """
        self._before, self._checkpoint = self.curve.copy(), self._motion.checkpoint()
        self._changes_at = None
        curve, command = self.curve, None
        if curve.moves and not self._limiter.is_moving:  # it was taken to be elsewhere
            curve.finish()
        if not curve.moves:
            last = stamp - self._period
        else:
            played = stamp - last if is_paused else min(self._played(now), stamp - last)
            if played > 0:
                last += played
                command = self.follow(follower, last, played)
        while last < stamp:
            last += self._period
            command = self._step(advance, last)
        return command

    def follow(self, follower: Follower, stamp: int, duration: int) -> Command:
        """Follow the curve as it was published for a while [ns], to a command with a stamp."""
        command = follower.follow_stop(1e-9 * stamp, duration / NANOSECONDS, self._dt)
        self._extend(stamp)
        return command

    def may_be_sent(self, now: int) -> bool:
        """Whether what changes is heard before it is played, if it is sent `now` [ns]."""
        return self._changes_at is None or self._changes_at >= now + self._notice // 2

    def take_back(self) -> None:
        """Take the steps back: nobody was told of them."""
        self.curve = self._before
        self._motion.restore(self._checkpoint)

    def shift(self, by: int) -> None:
        """Move the curve in time [ns], as the clock was set."""
        self.curve.shift(by)

    def points(self, now: int) -> list[Knot]:
        """Points of the message to send `now` [ns]."""
        return self.curve.points(now)

    def _step(self, advance: Callable[[int], Command | None], stamp: int) -> Command | None:
        if not self.curve.moves:
            lead = round(self._limiter.knot_lead(self._dt) * NANOSECONDS)
            self.curve.begin(self._motion.command[0], stamp - self._period - lead)
        if self._changes_at is None:
            self._changes_at = self.curve.fork
        command = advance(stamp)
        if command is not None:
            self._extend(stamp)
        return command

    def _extend(self, stamp: int) -> None:
        lead = self._limiter.knot_lead(self._dt)
        self.curve.extend(stamp, self._limiter.stop_trajectory(), lead)

    def _played(self, now: int) -> int:
        """How much of the curve after the fork can no longer be changed [ns], in periods."""
        missing = now + self._notice - self.curve.fork
        return -(-missing // self._period) * self._period
