"""
A stand-in arm for tests of starts and stops: it lags, sags and trembles, and hands move it.

It shares no code with the package.
"""

from fabrik_ros import ArmFollower, FollowerOptions, load_urdf, State
from helpers import SIX_AXIS
import numpy as np
import pytest

DT = 0.01
HARDEST = 5.0
"""[rad/s^2]."""
START = np.array([0.2, 0.4, 0.6, 0.1, 0.6, 0.0])
NEAR = START + 0.2
NEARBY = 2e-3
"""How far from where the arm is the first command may be [rad]."""
HELD = 0.1
"""`resync_tolerance` [rad]."""


class StandIn:
    """Goes where it is told once that changes; a hand puts it elsewhere, and it stays there."""

    def __init__(self, q, lag=0.0, sag=0.0, noise=0.0, seed=0):
        self.q, self.lag, self.sag, self.noise = np.array(q), lag, sag, noise
        self._rng = np.random.default_rng(seed)
        self._told = self._last = np.array(q)
        self._is_driven = False

    def tell(self, q):
        self._is_driven |= not np.array_equal(q, self._last)
        self._last = q

    def pass_time(self, dt):
        if self._is_driven:
            share = 1.0 if self.lag == 0.0 else 1.0 - np.exp(-dt / self.lag)
            self.q = self.q + share * (self._last + self.sag - self.q)

    def put(self, q):
        self.q, self._is_driven = np.array(q), False

    def measured(self):
        return self.q + self._rng.uniform(-self.noise, self.noise, self.q.shape)


class Bench:
    """A follower with a stand-in arm."""

    def __init__(self, arm, start, options=None, **stand_in):
        self.follower = ArmFollower(arm, options or FollowerOptions(), looking_time=np.inf)
        self.arm = StandIn(start, **stand_in)
        self.sent = [self.follower.step(None, DT, self.arm.measured())]

    def step(self, target=None):
        self.arm.pass_time(DT)
        self.sent.append(self.follower.step(target, DT, self.arm.measured()))
        self.arm.tell(self.sent[-1])

    def go(self, seconds):
        for _ in range(round(seconds / DT)):
            self.step()

    def arrive(self, target):
        self.step(target)
        for _ in range(3000):
            if self.follower.is_at_rest and self.follower.state is not State.MOVING:
                return
            self.step()
        pytest.fail(f'it never rests: {self.follower!r}')

    def push(self, by, duration):
        """Move the arm by hand, slowly or at once."""
        begin = self.arm.q
        for share in np.linspace(0.0, 1.0, max(1, round(duration / DT)) + 1)[1:]:
            self.arm.put(begin + share * by)
            self.sent.append(self.follower.step(None, DT, self.arm.measured()))

    def first_command(self, open_door):
        """Ask for a motion, and return the first value that differs from the one held."""
        held = self.sent[-1]
        open_door(self)
        for _ in range(100):
            self.step()
            if not np.array_equal(self.sent[-1], held):
                return self.sent[-1]
        pytest.fail(f'it does not set out: {self.follower!r}, {self.follower.refusal}')


def six_axis():
    return load_urdf(SIX_AXIS).chain()
