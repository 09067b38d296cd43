"""
An arm behind a controller of trajectories, and what drives it, by a clock of its own.

The node's part is that of `fabrik_ros`; controller, arm and the way to them are those of
`controllers`, which share no code with it.

"""

from collections import deque
from dataclasses import dataclass, field

from controllers import Controller, Message, Point
from fabrik_ros.errors import RefusedError
from fabrik_ros.motion.follower import Follower
from fabrik_ros.motion.following_rules import FollowingRules
from fabrik_ros.motion.measured_joints import MeasuredJoints
from fabrik_ros.motion.published_trajectory import default_look_ahead
from fabrik_ros.motion.trajectory_stepper import TrajectoryStepper
from fabrik_ros.ros.command_clock import CommandClock
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

    """

    def __init__(self, motion, controller, period, delivery, look_ahead=None, **rules):
        self.motion, self.controller, self.delivery = motion, controller, delivery
        self.look_ahead = look_ahead or default_look_ahead(period)
        self.names = motion.robot.joint_names
        self._measured = MeasuredJoints()
        self.follower = Follower(motion.robot, motion, FollowingRules(**rules), self._measured)
        self.follower.observer.delay = self.look_ahead
        self._clock = CommandClock(period, even=True)
        self._stepper = TrajectoryStepper(motion, self._clock.period, self.look_ahead)
        self._coming: deque[tuple[int, Message]] = deque()
        self._arrival = 0
        self._was_lost = False
        self.now = START
        self.commands: list[tuple[int, np.ndarray]] = []
        """Stamps [ns] and joint values."""
        self.sent: list[tuple[int, int]] = []
        """When each message was sent, and when it arrives; -1 where it is lost [ns]."""
        self.restarts: list[int] = []
        """Numbers of the messages that begin anew, where the arm is measured."""
        self._look_at_the_arm()

    @property
    def seconds(self):
        return 1e-9 * self.now

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
        self._look_at_the_arm()
        if self.follower.should_publish:
            last = self._clock.last
            stamp, dt = self._clock.next(self.now)
            command = self._stepper.step(
                self.follower,
                lambda stamp: self.follower.tick(1e-9 * stamp, 1e-9 * period),
                self.now,
                last,
                stamp,
                is_paused=round(dt * SECOND) != stamp - last,
            )
            if command is not None:
                self._send(stamp, command)
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

    def _send(self, stamp, command):
        if not self._stepper.may_be_sent(self.now):
            self._stepper.take_back()
            self._clock.take_back()
            return
        rng, delivery = self.delivery.rng, self.delivery
        self.commands.append((stamp, command.q))
        self._was_lost = not self._was_lost and rng.random() < delivery.lost
        arrival = self.now + round(rng.uniform(0.0, delivery.longest) * SECOND)
        self._arrival = max(self._arrival, arrival)
        self.sent.append((self.now, -1 if self._was_lost else self._arrival))
        if not self._was_lost:
            self._coming.append((self._arrival, self._message()))

    def _message(self):
        points = self._stepper.points(self.now)
        begin = points[0].time
        return Message(self.names, begin, [Point(time - begin, q, v) for time, q, v in points])

    def _deliver(self):
        while self._coming and self._coming[0][0] <= self.now:
            at, message = self._coming.popleft()
            reason = self.controller.receive(message, at)
            assert not reason, reason
        self.controller.run_until(self.now)

    def _look_at_the_arm(self):
        measured = self.controller.arm.read(self.now)
        self._measured.update(self.names, measured.tolist(), self.seconds)


def make_controller(motion, arm, **options):
    """Put a controller in front of an arm that stands where the motion is."""
    return Controller(
        motion.robot.joint_names, motion.q, arm=arm, activated_at_ns=START, **options
    )
