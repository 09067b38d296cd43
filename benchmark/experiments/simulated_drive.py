"""
The node's way from a target to commands without ROS: its motion and follower, by its defaults.

The clock is simulated, and the arm is ideal: it is where it was told to be, and says so at once.

"""

from collections.abc import Sequence
from dataclasses import dataclass
import time

from fabrik_ros import load_urdf
from fabrik_ros.collision import CollisionGuard, SelfCollision
from fabrik_ros.errors import RefusedError
from fabrik_ros.motion.follower import Follower
from fabrik_ros.motion.measured_joints import MeasuredJoints
from fabrik_ros.motion.motion import Motion
from fabrik_ros.reasons import Reason
from fabrik_ros.ros.parameters import NodeParameters
import numpy as np

NANOSECONDS = 1_000_000_000
LONGEST = 120.0
"""A target is given up after so long [s]."""
STILL = 1.0
"""An arm that neither moves nor is on the way for so long has ended [s]."""
PAUSE = 3.0
"""Between two targets, so that no two belong to a stream [s]."""
MOVED = 1e-6
"""A joint that is this far from its start has moved [rad or m]."""
ON_THE_WAY = 'LOOKING', 'MOVING'
ARRIVED = 'REACHED'


@dataclass(frozen=True, eq=False)
class Run:
    """What became of one target; times are those since it was sent."""

    stamps: np.ndarray
    """When each command is to be carried out, shape (m,) [ns]."""
    q: np.ndarray
    """Where the arm stood, then the commands, shape (m + 1, n)."""
    state: str
    """Name of the last state; 'REFUSED' where the target was not accepted."""
    reason_kind: str
    """Name of the kind of the reason for that; '' where there is none."""
    reason: str
    first_command: float | None
    """When the first command came that moved the arm [s]; None where none did."""
    duration: float
    """How long it was until the end of the last motion, or of the wait [s]."""
    looking: float
    """Processor time until that first command, or until the arm refused [s]."""

    @property
    def has_moved(self) -> bool:
        """Whether the arm moved at all."""
        return self.first_command is not None


class SimulatedDrive:
    """
    Drives one arm as the node does by default.

    Parameters
    ----------
    urdf : str
        The URDF text.
    base_link, tip_link : str
        The first and the last link of the arm.
    packages : sequence of str
        Folders that packages with meshes are in.

    Attributes
    ----------
    chain : Chain
        The arm.
    pairs : frozenset of frozenset of str
        Names of the links that are kept apart.
    limits : MotionLimits
        How fast the arm may be.
    period : float
        Time between two commands [s].

    """

    def __init__(
        self, urdf: str, base_link: str, tip_link: str, packages: Sequence[str] = ()
    ) -> None:
        parameters = NodeParameters(
            base_link=base_link, tip_link=tip_link, mesh_paths=tuple(packages)
        )
        robot = load_urdf(urdf, use_safety_limits=parameters.use_safety_limits)
        self.chain = parameters.arms_of(robot)
        collision = SelfCollision(
            robot,
            self.chain,
            mesh_paths=parameters.mesh_paths,
            clearance=parameters.collision_clearance,
        )
        assert not collision.missing, collision.missing
        self.pairs = frozenset(map(frozenset, collision.pairs))
        self.limits = parameters.limits_for(self.chain)
        self.period = 1.0 / parameters.command_rate
        self._parameters = parameters
        self._motion = Motion(
            self.chain,
            self.limits,
            parameters.solver,
            parameters.motion,
            parameters.tips,
            CollisionGuard(collision),
            parameters.jerk_filter_for(self.chain),
        )
        self._motion.warm_up()
        self._now = 1000.0
        self.begin_at(self.chain.mid_configuration())

    @property
    def q(self) -> np.ndarray:
        """Where the arm is, shape (n,)."""
        return self._q.copy()

    def begin_at(self, q: np.ndarray) -> None:
        """Put the arm somewhere, and begin anew as a node that was just activated."""
        self._q = np.array(q)
        self._measured = MeasuredJoints()
        self._motion.reset(self.chain.mid_configuration())
        self._follower = Follower(self.chain, self._motion, self._parameters.rules, self._measured)
        self._pass_time(PAUSE)

    def send(self, T: np.ndarray) -> Run:
        """Send a target T_base_tip, shape (4, 4), once, and see what becomes of it."""
        self._pass_time(PAUSE)
        begin, begin_looking = self._now, time.thread_time()
        try:
            self._follower.accept(T, self._now)
        except RefusedError as error:
            looking = time.thread_time() - begin_looking
            words = _words(error.reason)
            return Run(
                np.array([], dtype=int), np.array([self.q]), 'REFUSED', *words, None, 0.0, looking
            )
        stamps, commands, moved_at = [], [self.q], self._now
        first = looking = None
        is_over = False
        while not is_over and self._now - begin < LONGEST:
            before = self._q
            if self._tick():
                stamps.append(round(NANOSECONDS * self._now))
                commands.append(self.q)
            state, reason = self._follower.state(self._now)
            if first is None and np.abs(self._q - commands[0]).max() > MOVED:
                first = self._now - begin
            if looking is None and (first is not None or state.name not in ON_THE_WAY):
                looking = time.thread_time() - begin_looking
            if state.name in ON_THE_WAY or not np.array_equal(self._q, before):
                moved_at = self._now
            is_over = state.name == ARRIVED or self._now - moved_at > STILL
            self._now += self.period
        looking = time.thread_time() - begin_looking if looking is None else looking
        q, duration = np.array(commands), moved_at - begin
        return Run(np.array(stamps), q, state.name, *_words(reason), first, duration, looking)

    def close(self) -> None:
        """Hold nothing, give nothing back."""

    def _pass_time(self, duration: float) -> None:
        """Let the arm say where it is, and the node do what it has left to do."""
        for _ in range(round(duration / self.period)):
            self._now += self.period
            self._tick()

    def _tick(self) -> bool:
        """Do what the node does in a period, and let the arm follow; tell if it had a command."""
        self._measured.update(self.chain.joint_names, self._q.tolist(), self._now)
        command = self._follower.tick(self._now, self.period)
        if command is not None:
            self._q = command.q.copy()
            self._measured.update(self.chain.joint_names, self._q.tolist(), self._now)
        if not self._follower.is_at_rest:
            self._motion.prepare()
        return command is not None


def _words(reason: Reason | None) -> tuple[str, str]:
    """Name of the kind of a reason, and its text; '' where there is none."""
    return ('', '') if reason is None else (reason.kind.name, str(reason))
