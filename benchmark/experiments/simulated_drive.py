"""
The node's way from a target to commands without ROS: its motion and follower, by its defaults.

The clock is simulated, and the arm is ideal: it is where it was told to be, and says so at once.
Among boxes it has the planner of the node, in a thread of its own, and waits as long by the
simulated clock as that takes.

"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
import time

from fabrik_ros import load_urdf
from fabrik_ros.collision import (
    CollisionGuard,
    MeshFinder,
    Obstacle,
    Scene,
    SelfCollision,
    WorldCollision,
)
from fabrik_ros.errors import RefusedError
from fabrik_ros.model.geometry import Box
from fabrik_ros.motion.choosing.motion import Motion
from fabrik_ros.motion.follower_options import LOOKING_SHARE
from fabrik_ros.motion.following.follower import Follower
from fabrik_ros.motion.following.measured_joints import MeasuredJoints
from fabrik_ros.planning import (
    Plan,
    PlannerFailure,
    PlannerSetup,
    PlannerState,
    PlannerThread,
    PlanRequest,
)
from fabrik_ros.reasons import Reason
from fabrik_ros.ros.parameters.node_parameters import NodeParameters
from fabrik_ros.ros.world.collision_watch import setup_of
import numpy as np
from way_judge import BoxAround

NANOSECONDS = 1_000_000_000
LONGEST = 120.0
"""A target is given up after so long [s]."""
STILL = 1.0
"""An arm that neither moves nor is on the way for so long has ended [s]."""
PAUSE = 3.0
"""Between two targets, so that no two belong to a stream [s]."""
MOVED = 1e-6
"""A joint that is this far from its start has moved [rad or m]."""
NAP = 0.001
"""Between two looks at the planner [s]."""
ON_THE_WAY = 'LOOKING', 'PLANNING', 'MOVING'
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
    was_planned: bool = False
    """Whether a planner was asked for a way."""

    @property
    def has_moved(self) -> bool:
        """Whether the arm moved at all."""
        return self.first_command is not None


class WaitingPlanner:
    """
    The planner of the node, for a simulated clock: answers come when that has gone on as long.

    Parameters
    ----------
    setup : PlannerSetup
        The arm.
    scene : Scene
        What stands around it.
    planning_time : float
        How long to look for a way [s].
    now : callable
        Tells the simulated time [s].

    Attributes
    ----------
    planning_time : float
        As above.
    requests : int
        How many there were.

    """

    def __init__(
        self, setup: PlannerSetup, scene: Scene, planning_time: float, now: Callable[[], float]
    ) -> None:
        self.planning_time, self.requests = planning_time, 0
        self._scene, self._now, self._thread = scene, now, PlannerThread()
        self._answer: Plan | PlannerFailure | None = None
        self._asked_at = self._ready_at = 0.0
        self._thread.start(setup)
        while self._thread.state is not PlannerState.READY:
            assert (failure := self._thread.poll()) is None, failure
            time.sleep(NAP)

    @property
    def is_busy(self) -> bool:
        """Whether it looks for a way."""
        return self._answer is not None

    @property
    def time_passed(self) -> float:
        """For how long it has been looking [s]."""
        return self._now() - self._asked_at

    def request(self, request: PlanRequest) -> None:
        """Wait for an answer, and keep it as long as that took."""
        self.requests += 1
        self._asked_at, begin = self._now(), time.monotonic()
        self._thread.request(request, self._scene)
        while (answer := self._thread.poll()) is None:
            time.sleep(NAP)
        self._answer, self._ready_at = answer, self._asked_at + time.monotonic() - begin

    def poll(self) -> Plan | PlannerFailure | None:
        """Return what came of it; None as long as it is looking."""
        if self._now() < self._ready_at:
            return None
        answer, self._answer = self._answer, None
        return answer

    def cancel(self) -> None:
        """Look no longer."""
        self._answer = None

    def close(self) -> None:
        """End the thread."""
        self._thread.close()


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
    boxes : mapping, optional
        What stands around the arm, `BoxAround` by name.

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
        self,
        urdf: str,
        base_link: str,
        tip_link: str,
        packages: Sequence[str] = (),
        boxes: Mapping[str, BoxAround] | None = None,
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
        self._parameters, self._now = parameters, 1000.0
        scene = _scene(robot.pose(robot.root_link, base_link, {}), boxes or {})
        world = WorldCollision(
            collision,
            scene,
            clearance=parameters.obstacle_clearance,
            finder=MeshFinder(parameters.mesh_paths),
        )
        self._planner: WaitingPlanner | None = None
        if boxes:
            setup = setup_of(robot, self.chain, parameters)
            time_ = parameters.planning_time
            self._planner = WaitingPlanner(setup, scene, time_, lambda: self._now)
        self._motion = Motion(
            self.chain,
            self.limits,
            parameters.solver,
            parameters.motion,
            parameters.tips,
            CollisionGuard(world),
            parameters.jerk_filter_for(self.chain),
            self._planner,
        )
        self._motion.warm_up()
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
        # A planner answers when simulated time has passed: an endless look would wait for ever.
        self._follower.looks_in_ticks = self._planner is None
        self._pass_time(PAUSE)

    def send(self, T: np.ndarray) -> Run:
        """Send a target T_base_tip, shape (4, 4), once, and see what becomes of it."""
        self._pass_time(PAUSE)
        begin, begin_looking, begin_planning = self._now, time.thread_time(), self._request_count
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
        was_planned = self._request_count > begin_planning
        return Run(
            np.array(stamps), q, state.name, *_words(reason), first, duration, looking, was_planned
        )

    @property
    def _request_count(self) -> int:
        return 0 if self._planner is None else self._planner.requests

    def close(self) -> None:
        """End the planner."""
        if self._planner is not None:
            self._planner.close()

    def _pass_time(self, duration: float) -> None:
        """Let the arm say where it is, and the node do what it has left to do."""
        for _ in range(round(duration / self.period)):
            self._now += self.period
            self._tick()

    def _tick(self) -> bool:
        """Do what the node does in a period, and let the arm follow; tell if it had a command."""
        self._measured.update(self.chain.joint_names, self._q.tolist(), self._now)
        if self._planner is not None:
            self._follower.look(self._now, self.period, LOOKING_SHARE * self.period)
        command = self._follower.tick(self._now, self.period)
        if command is not None:
            self._q = command.q.copy()
            self._measured.update(self.chain.joint_names, self._q.tolist(), self._now)
        if not self._follower.is_at_rest:
            self._motion.prepare()
        return command is not None


def _scene(T_root_base: np.ndarray, boxes: Mapping[str, BoxAround]) -> Scene:
    """Make obstacles of boxes."""
    return Scene(
        Obstacle(name, Box(size), T_root_base @ T_base_box)
        for name, (size, T_base_box) in boxes.items()
    )


def _words(reason: Reason | None) -> tuple[str, str]:
    """Name of the kind of a reason, and its text; '' where there is none."""
    return ('', '') if reason is None else (reason.kind.name, str(reason))
