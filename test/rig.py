"""
An arm behind a controller of trajectories, and what drives it, by a clock of its own.

The node's part is that of `fabrik_ros`; controller, arm and the way to them are those of
`controllers`, which share no code with it.

"""

from collections import deque
from dataclasses import dataclass, field

from controllers import Controller, Message, Point
from fabrik_ros.errors import RefusedError
from fabrik_ros.motion.controllers.published_trajectory import default_look_ahead
from fabrik_ros.motion.controllers.trajectory_stepper import TrajectoryStepper
from fabrik_ros.motion.following.follower import Follower
from fabrik_ros.motion.following.following_rules import FollowingRules
from fabrik_ros.motion.following.measured_joints import MeasuredJoints
from fabrik_ros.reasons import Reason, ReasonKind
from fabrik_ros.ros.clocks.command_clock import CommandClock
import numpy as np

SECOND = 1_000_000_000
START = 1000 * SECOND


@dataclass
class Delivery:
    """How messages get to the controller."""

    rng: np.random.Generator
    longest: float = 0.0
    """Greatest delay [s]; none overtakes the one before."""
    lost: float = 0.0
    """Share of the messages that do not arrive; never two in a row."""
    late: list[float] = field(default_factory=list)
    """By how many periods ticks are late, in turn; then in time."""
    lateness: float = 0.0
    """Share of the ticks that are late."""
    held: list[tuple[float, float]] = field(default_factory=list)
    """From when to when messages are held back, to be delivered at once then [s]."""
    dropped: list[tuple[float, float]] = field(default_factory=list)
    """From when to when they are lost, all of them [s]."""
    delayed: list[tuple[float, float, float]] = field(default_factory=list)
    """From when to when they take longer, and by how much [s]."""
    stopped: list[tuple[float, float]] = field(default_factory=list)
    """From when to when the controller is not active [s]."""

    @property
    def is_smooth(self):
        """Whether every message arrives in time but for what the look-ahead bears."""
        return not (self.held or self.dropped or self.delayed or self.stopped)


class Rig:
    """
    Drives an arm along, tick by tick.

    Parameters
    ----------
    motion : Motion
        What makes the commands.
    controller : Controller
        Plays the trajectories, with its arm.
    period : float
        Between two commands [s].
    delivery : Delivery
        The way to the controller.
    look_ahead : float, optional
        By default the one for the period.
    adapts : bool
        Whether the look-ahead does.
    hears : float, optional
        How long the state of the controller takes to be heard [s]; by default it is not.
    tells_begin : bool
        Whether that says how long the trajectory has been played, as ros2_controllers do.

    """

    def __init__(
        self,
        motion,
        controller,
        period,
        delivery,
        look_ahead=None,
        *,
        adapts=False,
        hears=None,
        tells_begin=True,
        **rules,
    ):
        self.motion, self.controller, self.delivery = motion, controller, delivery
        self.look_ahead = look_ahead or default_look_ahead(period)
        self.names = motion.robot.joint_names
        self._measured = MeasuredJoints()
        self.follower = Follower(motion.robot, motion, FollowingRules(**rules), self._measured)
        self.follower.observer.delay = self.look_ahead
        self._clock = CommandClock(period, even=True)
        self._hears, self._heard, self._tells_begin = hears, 0, tells_begin
        self._stepper = TrajectoryStepper(motion, self._clock.period, self.look_ahead, adapts)
        self._coming: deque[tuple[int, Message]] = deque()
        self._arrival = self._switched = 0
        self._was_lost = False
        self.now = START
        self.commands: list[tuple[int, np.ndarray]] = []
        """Stamps [ns] and joint values."""
        self.sent: list[tuple[int, int]] = []
        """When each message was sent, and when it arrives; -1 where it is lost [ns]."""
        self.latenesses: list[tuple[int, float]] = []
        """When something was found to be late [ns], and by how much [s]."""
        self.ends: list[tuple[int, np.ndarray, np.ndarray]] = []
        """Of each message: when it is sent [ns], its end, and that of what the controller has."""
        self.restarts: list[int] = []
        """Numbers of the messages that begin anew, where the arm is measured."""
        self._look_at_the_arm()
        self._look_at_the_arm()  # one value alone is no start

    @property
    def seconds(self):
        return 1e-9 * self.now

    @property
    def since_start(self):
        return 1e-9 * (self.now - START)

    @property
    def look_ahead_in_force(self):
        return self._stepper.look_ahead

    def ask(self, act):
        """Ask something of the follower; tell whether it was accepted."""
        before = self.motion.command[0]
        try:
            act()
        except RefusedError:
            return False
        if not np.array_equal(self.motion.command[0], before):
            self.restarts.append(len(self.sent))
        return True

    def hear_the_reference(self):
        """Tell the follower where the controller has its reference, as its state topic does."""
        reference = MeasuredJoints()
        wanted = self.controller.played.reference[-1]
        reference.update(self.names, wanted.tolist(), self.seconds)
        self.follower.observer.reference = reference

    def tick(self):
        """Send a command, or what was missed of them, and wait for the next tick."""
        rng, period = self.delivery.rng, self._clock.period
        self._deliver()
        self._hear()
        self._look_at_the_arm()
        if self.follower.should_publish:
            last = self._clock.last
            stamp, dt = self._clock.next(self.now)
            command = self._stepper.step(
                self.follower,
                lambda stamp: self.follower.tick(1e-9 * stamp, 1e-9 * period),
                self.now,
                stamp,
                is_paused=round(dt * SECOND) != stamp - last,
            )
            self.follower.observer.delay = self._stepper.look_ahead
            self.latenesses += [(self.now, late) for late in self._stepper.take_latenesses()]
            lost = self._stepper.why_lost(self.now)
            if lost:
                self._stepper.go_on_unheard()
                self.follower.fail(Reason(ReasonKind.DOES_NOT_FOLLOW, lost), self.seconds)
            if command is not None or self._stepper.waits:
                self._send(command)
        late = rng.choice(self.delivery.late) if self.delivery.late else 0.0
        is_late = rng.random() < self.delivery.lateness
        self.now += round((1.0 + late * is_late) * period)

    def go(self, seconds):
        end = self.now + round(seconds * SECOND)
        while self.now < end:
            self.tick()

    def end(self):
        """Let the controller play all that arrives; return what it did."""
        self.now += SECOND
        self._deliver()
        return self.controller.played

    def _send(self, command):
        if self._stepper.missed_by(self.now) > 0:
            self._stepper.take_back()
            self._clock.take_back()
            return
        rng, delivery = self.delivery.rng, self.delivery
        if command is not None:
            self.commands.append((self._stepper.last, command.q))
        self._was_lost = not self._was_lost and rng.random() < delivery.lost
        arrival = self.now + round(rng.uniform(0.0, delivery.longest) * SECOND)
        for begin, end in delivery.held:
            if begin <= self.since_start < end:
                arrival = max(arrival, START + round(end * SECOND))
        delays = [by for begin, end, by in delivery.delayed if begin <= self.since_start < end]
        arrival += round(max(delays, default=0.0) * SECOND)
        self._was_lost |= any(begin <= self.since_start < end for begin, end in delivery.dropped)
        self._arrival = max(self._arrival, arrival)
        self.sent.append((self.now, -1 if self._was_lost else self._arrival))
        message = self._message()
        self.ends.append((self.now, np.array(message.points[-1].q), self.controller.end))
        if not self._was_lost:
            self._coming.append((self._arrival, message))

    def _message(self):
        points = self._stepper.message(self.now)
        begin = points[0].time
        return Message(self.names, begin, [Point(time - begin, q, v) for time, q, v in points])

    def _deliver(self):
        while self._coming and self._coming[0][0] <= self.now:
            at, message = self._coming.popleft()
            self._switch(at)
            reason = self.controller.receive(message, at)
            assert not (reason and self.delivery.is_smooth), reason
        self._switch(self.now)
        self.controller.run_until(self.now)

    def _switch(self, now):
        """Stop and start the controller."""
        for stopped, started in self.delivery.stopped:
            for at, act in (
                (stopped, self.controller.deactivate),
                (started, self.controller.activate),
            ):
                if self._switched < START + round(at * SECOND) <= now:
                    act(START + round(at * SECOND))
        self._switched = now

    def _hear(self):
        """Hear the controller, as far as its states have come."""
        if self._hears is None:
            return
        for time, q, velocity, passed in self.controller.states(self._heard):
            at = time + round(self._hears * SECOND)
            if at > self.now:
                break
            self._heard += 1
            self._stepper.note_state(at)
            if self.follower.should_publish:
                begin = time - passed if self._tells_begin else None
                self._stepper.hear(time, q, velocity, at, begin)

    def _look_at_the_arm(self):
        measured = self.controller.arm.read(self.now)
        self._measured.update(self.names, measured.tolist(), self.seconds)


def make_controller(motion, arm, **options):
    """Put a controller in front of an arm that stands where the motion is."""
    return Controller(
        motion.robot.joint_names, motion.q, arm=arm, activated_at_ns=START, **options
    )
