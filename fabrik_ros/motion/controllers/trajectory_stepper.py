"""
Steps of a motion, taken so that controllers of trajectories can play it.

A step changes the published curve from its fork on, which lies about a look-ahead after the step.
If the node is late, controllers may already play a part of the curve after the fork: the motion
follows the curve through that part, and goes on from its end. All steps have the same length, so
the acceleration is constant between the points of the curve.

Where the controller says what it plays, nothing goes on of which it is not known that it is
played: see `delivery_watch`.

"""

from collections.abc import Callable

from ...transforms import Array
from ..choosing.motion import Motion
from ..following.arm_state import Command
from ..following.follower import Follower
from .delivery_watch import DeliveryWatch, UNHEARD
from .look_ahead import LookAhead
from .published_trajectory import (
    Knot,
    LONG_REST,
    NANOSECONDS,
    PublishedTrajectory,
    REST,
)
from .sent_messages import Reference, seconds, Sent


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
    adapts : bool
        Whether commands are sent earlier, with stamps that are ahead of the time, where they came
        too late.

    Attributes
    ----------
    curve : PublishedTrajectory
        The published curve, with the newest step.
    waits : bool
        Whether the last message is to be sent again, as it is not known to have arrived.

    """

    def __init__(
        self, motion: Motion, period: int, look_ahead: float, adapts: bool = False
    ) -> None:
        self.curve = PublishedTrajectory(look_ahead)
        self._motion, self._period = motion, period
        self._dt = period / NANOSECONDS
        self._look_ahead = LookAhead(self.curve.look_ahead, period, adapts)
        self._watch = DeliveryWatch(period)
        self._last = 0
        """Stamp of the newest command [ns]."""
        self._before, self._checkpoint, self._last_before = self.curve, motion.checkpoint(), 0
        self._changes_at: int | None = None
        """Time from which the newest steps change the published curve [ns]; None: they do not."""
        self._waited = False
        """Whether the last steps were not taken, as the controller was waited for."""
        self.waits = False
        self._latenesses: list[int] = []

    @property
    def look_ahead(self) -> float:
        """Time from a command until a controller reaches it [s], now."""
        return self._look_ahead.total / NANOSECONDS

    @property
    def ahead(self) -> int:
        """Lead of the stamps of commands over the time when they are sent [ns]."""
        return self._look_ahead.extra

    @property
    def last(self) -> int:
        """Stamp of the newest command [ns]."""
        return self._last

    def go_on_from(self, curve: PublishedTrajectory) -> None:
        """Go on with the curve of a stepper before this one."""
        self.curve.go_on_from(curve)

    # -- steps

    def step(
        self,
        follower: Follower,
        advance: Callable[[int], Command | None],
        now: int,
        stamp: int,
        is_paused: bool,
    ) -> Command | None:
        """
        Take the steps to the next command, and return it; None if there is none.

        Parameters
        ----------
        follower : Follower
            Drives the motion.
        advance : callable
            Takes one step, to the command of a time [ns].
        now : int
            The time [ns].
        stamp : int
            Time of the command [ns], whole periods after the last one unless `is_paused`.
        is_paused : bool
            Whether the gap since the last command ended the stream.

        """
        self._before, self._checkpoint = self.curve.copy(), self._motion.checkpoint()
        self._last_before, self._changes_at = self._last, None
        curve, watch = self.curve, self._watch
        if curve.moves and not self._motion.is_moving:  # the motion was reset or halted
            curve.finish()
        rests = not curve.moves
        if rests:
            watch.begin(now)
        if watch.must_wait(now) or not (rests or self._may_extend()):
            self._waited = True
            self.waits = watch.is_waiting and not watch.must_wait(now)
            return None
        self._look_ahead.take_up(now, rests or self._waited)
        stamp += self.ahead
        if rests:
            self._last = stamp - self._period
        command = None if rests else self._follow_what_is_played(follower, now, stamp, is_paused)
        self._waited = self.waits = False
        while self._last < stamp and (self._changes_at is None or self._may_extend()):
            self._last += self._period
            command = self._step(advance, rests)
        return command

    def must_wait(self, now: int) -> bool:
        """Whether it is not known what the controller does `now` [ns]: nothing may be sent."""
        return self._watch.must_wait(now)

    def _follow_what_is_played(
        self, follower: Follower, now: int, stamp: int, is_paused: bool
    ) -> Command | None:
        """Follow the published stop through the part that can no longer be changed."""
        gap, played = stamp - self._last, self._played(now)
        if played > 0 and not self._waited:
            self._latenesses.append(played)
            self._look_ahead.bear(self._look_ahead.total + played, now)
        if not is_paused:
            gap = min(played, gap)
        return self.follow(follower, gap) if gap > 0 else None

    def follow(self, follower: Follower, duration: int) -> Command:
        """Follow the published curve for a `duration` [ns], to the command that is due then."""
        self._last += duration
        command = follower.follow_stop(
            1e-9 * (self._last - self.ahead), duration / NANOSECONDS, self._dt
        )
        self._extend()
        return command

    def _may_extend(self) -> bool:
        speed = self._motion.limits.joint_velocity
        return self._watch.may_extend(self.curve, speed, self._changes_at)

    def _step(self, advance: Callable[[int], Command | None], from_rest: bool) -> Command | None:
        curve = self.curve
        if not curve.moves:
            lead = round(self._motion.knot_lead(self._dt) * NANOSECONDS)
            curve.begin(self._motion.command[0], self._last - self._period - lead)
        if self._changes_at is None:
            self._changes_at = curve.fork
            if from_rest:
                self._watch.begins = curve.fork
        command = advance(self._last - self.ahead)
        if command is not None:
            self._extend()
        return command

    def _extend(self) -> None:
        lead = self._motion.knot_lead(self._dt)
        self.curve.extend(self._last, self._motion.stop_trajectory(), lead)

    def _played(self, now: int) -> int:
        """Part of the curve after the fork that can no longer be changed [ns], in periods."""
        missing = now + self._look_ahead.budget - self.curve.fork
        return -(-missing // self._period) * self._period

    def take_back(self) -> None:
        """Take the steps back; none of them was sent."""
        self.curve, self._last = self._before, self._last_before
        self._motion.restore(self._checkpoint)

    def shift(self, by: int) -> None:
        """Move the curve in time [ns], as the clock was set."""
        self.curve.shift(by)
        self._last += by
        self._watch = DeliveryWatch(self._period)

    # -- messages

    def missed_by(self, now: int) -> int:
        """
        Tell by how much a message sent `now` [ns] is too late [ns], 0 or less where it is not.

        It has to arrive before the part it changes is played.
        """
        if self._changes_at is None:
            return 0
        return now + self._look_ahead.budget // 2 - self._changes_at

    def message(self, now: int) -> list[Knot]:
        """Points of the message that is sent `now` [ns]."""
        if self._changes_at is not None:
            checkpoint = self._motion.checkpoint()
            sent = Sent(self.curve.copy(), self._changes_at, checkpoint, self._last, now)
            self._watch.add(sent)
            self._changes_at = None
        points = self.curve.points(now, LONG_REST if self._watch.knows_messages else REST)
        self._watch.sent.expect(points[0].time, now)
        return points

    # -- what the controller says

    def note_state(self, now: int) -> None:
        """Take note that the controller published its state `now` [ns]."""
        self._watch.note(now)

    def hear(
        self, time: int, q: Array, velocity: Array, now: int, begin: int | None = None
    ) -> bool:
        """
        Compare the reference of the controller with what was sent, and go on from it if need be.

        Parameters
        ----------
        time : int
            Of the reference [ns].
        q, velocity : array, shape (n,)
            The reference [rad or m, and per s].
        now : int
            The time [ns].
        begin : int, optional
            Time of the first point of what it plays [ns], where it says so.

        Returns
        -------
        bool
            Whether the reference belongs to what was sent.

        """
        watch, reference = self._watch, Reference(time, q, velocity, begin)
        acceleration = self._motion.limits.joint_acceleration
        place = watch.compare(reference, acceleration)
        late = watch.late
        if late is not None and UNHEARD <= late.duration < 2 * UNHEARD:  # however late it will be
            self._look_ahead.bear_delivery(late.delivery, now)
        if watch.was_late is not None:
            self._latenesses.append(watch.was_late.duration)
            self._look_ahead.bear_delivery(watch.was_late.delivery, now)
        if watch.was_off > 0:
            self._latenesses.append(watch.was_off)
        watch.was_late, watch.was_off = None, 0
        if place is not None:
            self._go_on_from(place, now)
        return not watch.is_off

    def _go_on_from(self, place: Sent | Reference, now: int) -> None:
        """Go on from where the controller is, and take back what it does not play."""
        watch, self._waited = self._watch, True
        if isinstance(place, Sent):
            if watch.late is not None:
                self._look_ahead.bear_delivery(watch.late.delivery, now)
            self._motion.go_back(place.checkpoint)
            self.curve, self._last = place.curve.copy(), place.stamp
            watch.go_on_from(place)
        else:
            self._latenesses.append(watch.off_for)
            self._motion.stand_at(place.q)
            watch.go_on_from(None)

    def why_lost(self, now: int) -> str:
        """Say what is wrong where the controller does not come back; '' where it may."""
        return self._watch.why_lost(now) if self._waited else ''

    def go_on_unheard(self) -> None:
        """Wait for the controller no longer."""
        self._watch.go_on_unheard()

    def take_latenesses(self) -> list[float]:
        """Tell how late commands were that came too late since the last call [s]."""
        found, self._latenesses = self._latenesses, []
        return [seconds(late) for late in found]
