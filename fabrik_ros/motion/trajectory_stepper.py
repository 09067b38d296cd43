"""
Steps of a motion, taken so that controllers of trajectories can play it.

A step changes the published curve from its fork on, which lies about a look-ahead after the step.
If the node is late, controllers may already play a part of the curve after the fork: the motion
follows the curve through that part, and goes on from its end. All steps have the same length, so
the acceleration is constant between the points of the curve.

"""

from collections.abc import Callable

from .arm_state import Command
from .follower import Follower
from .motion import Motion
from .published_trajectory import Knot, NANOSECONDS, PublishedTrajectory


class TrajectoryStepper:
    """
    Takes the steps of a motion, and keeps the curve that controllers play.

    Parameters
    ----------
    motion : Motion
        What makes the commands.
    period : int
        Length of a step [ns].
    look_ahead : float
        Time from the stamp of a command until a controller reaches it [s].

    Attributes
    ----------
    curve : PublishedTrajectory
        The published curve, with the newest step.

    """

    def __init__(self, motion: Motion, period: int, look_ahead: float) -> None:
        self.curve = PublishedTrajectory(look_ahead)
        self._motion, self._limiter, self._period = motion, motion.limiter, period
        self._dt = period / NANOSECONDS
        self._time_budget = (self.curve.look_ahead - 2 * period) * 3 // 4
        """Time budget for planning, sending and receiving a step [ns]."""
        self._before, self._checkpoint = self.curve, motion.checkpoint()
        self._changes_at: int | None = None
        """Time from which the newest steps change the published curve [ns]; None: they do not."""

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
        Take the steps from one command to the next, and return it; None if there is none.

        Parameters
        ----------
        follower : Follower
            Drives the motion.
        advance : callable
            Takes one step, to the command with a stamp [ns].
        now : int
            The time [ns].
        last, stamp : int
            Stamps of the last and the next command [ns], whole periods apart unless
            `is_paused`.
        is_paused : bool
            Whether the gap since the last command ended the stream.

        """
        self._before, self._checkpoint = self.curve.copy(), self._motion.checkpoint()
        self._changes_at = None
        curve, command = self.curve, None
        if curve.moves and not self._limiter.is_moving:  # the motion was reset or halted
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
        """Follow the published curve for a `duration` [ns], to the command with a stamp [ns]."""
        command = follower.follow_stop(1e-9 * stamp, duration / NANOSECONDS, self._dt)
        self._extend(stamp)
        return command

    def may_be_sent(self, now: int) -> bool:
        """Whether a message sent `now` [ns] arrives before the part it changes is played."""
        return self._changes_at is None or self._changes_at >= now + self._time_budget // 2

    def take_back(self) -> None:
        """Take the steps back; none of them was sent."""
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
        missing = now + self._time_budget - self.curve.fork
        return -(-missing // self._period) * self._period
