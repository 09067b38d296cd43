"""
A witness of each test of the node: where commands begin, and whether REACHED is true.

It sees what is on the wire alone, and shares no code with the package: pinocchio has the tips.
"""

from collections import deque
from collections.abc import Mapping, Sequence
import math
import time

from command_judge import PAUSE_PERIODS
import numpy as np
import pytest

try:
    from judging import Judge
except ImportError:  # the tests on ROS 2 Jazzy do without pinocchio
    Judge = None

REMEMBERED = 300
"""A run of commands begins at one of so many last states."""
COMMANDS = 10
"""A report is about one of so many last commands: those of a base that moves go on."""
REPORTED = 60
"""A report is about one of so many last states."""
PAUSE = 0.2
"""So long after a command the next one goes on from there, as the node promises [s]."""
NEARBY = 2e-3
"""[rad or m]."""
HARDEST = 5.0
"""Joints accelerate by no more, unless a test says so [rad/s^2]."""
STOP = 1.0
"""Longest stop that a controller plays by itself [s]."""
SETTLED, OFFSET = 60, 0.1
"""States after the last command by which an arm has settled, and how far from it at most [rad]."""


class Witness:
    """Sees states, commands and reports of one node in the order in which they come."""

    def __init__(self) -> None:
        self.complaints: list[str] = []
        self.urdf = ''
        self.arrival = 0.01
        """`arrival_tolerance_position` [m]."""
        self.acceleration = HARDEST
        self.plays_trajectories = False
        """Whether a controller goes on while no command comes, to the end of the stop it has."""
        self._values: dict[str, float] = {}
        self._states: deque[dict[str, float]] = deque(maxlen=REMEMBERED)
        self._since: list[dict[str, float]] = []
        """The first states after the last command."""
        self._command: dict[str, float] = {}
        self._commands: deque[dict[str, float]] = deque(maxlen=COMMANDS)
        self._stamp = self._heard_at = -math.inf
        self.begins_elsewhere = False
        """Whether commands may begin where a controller has its reference."""
        self._period = 0.01
        self._judges: dict[tuple[str, str], Judge] = {}

    def hear_state(self, names: Sequence[str], values: Sequence[float]) -> None:
        pairs = zip(names, values, strict=False)
        self._values = self._values | {n: v for n, v in pairs if math.isfinite(v)}
        self._states.append(self._values)
        if self._command and len(self._since) < SETTLED:
            self._since.append(self._values)

    def hear_command(self, names: Sequence[str], values: Sequence[float], stamp: float) -> None:
        command = dict(zip(names, values, strict=True))
        now = time.monotonic()
        # Where a clock is set, stamps leap, and the commands go on.
        gap = min(stamp - self._stamp, now - self._heard_at)
        self._heard_at = now
        is_known = bool(self._states) and set(names) <= self._values.keys()
        longest = max(PAUSE, PAUSE_PERIODS * self._period, STOP * self.plays_trajectories)
        if is_known and gap > longest and not self.begins_elsewhere:
            self._check_start(command)
        elif 0.0 < gap < PAUSE:
            self._period = gap
        self._stamp, self._command, self._since = stamp, command, []
        self._commands.append(command)

    def hear_report(self, facts: Mapping[str, str]) -> None:
        if Judge is None or facts['state'] != 'REACHED' or facts.get('is_measured') != 'True':
            return
        plain = not any(map(float, facts['tool_offset'].split()))
        if not (plain and self.urdf and self._command):
            return
        for tip in facts['tip_link'].split(', '):
            self._check_tip(facts['base_link'], tip)

    def _check_start(self, command: Mapping[str, float]) -> None:
        """Each joint begins where it was measured lately, or beside that as it settled."""
        reach = NEARBY + self.acceleration * self._period**2
        settled = self._since[-1] if self._since else None
        for name, value in command.items():
            places = {state[name] for state in self._states if name in state}
            if self._command and settled is not None and name in settled:
                offset = self._command.get(name, value) - settled[name]
                if abs(offset) <= OFFSET:
                    places |= {place + offset for place in places}
            gap = min(abs(math.remainder(value - place, 2.0 * math.pi)) for place in places)
            if gap > reach:
                self.complaints.append(f'a run begins with {name} {gap:.4f} from the arm')

    def _check_tip(self, base: str, tip: str) -> None:
        if (base, tip) not in self._judges:
            self._judges[base, tip] = Judge(self.urdf, base, tip)
        judge = self._judges[base, tip]
        names = judge.joint_names
        states = [s for s in list(self._states)[-REPORTED:] if set(names) <= s.keys()]
        commands = [c for c in self._commands if set(names) <= c.keys()]
        if not states or not commands:
            return
        measured, commanded = (
            np.array([judge.pose([values[name] for name in names])[:3, 3] for values in known])
            for known in (states, commands)
        )
        nearest = np.linalg.norm(measured[:, None] - commanded, axis=-1).min()
        if nearest > self.arrival + 1e-6:
            self.complaints.append(f'REACHED, and {tip} is {nearest:.4f} m from its command')

    def check(self) -> None:
        if self.complaints:
            pytest.fail('; '.join(self.complaints[:5]))
