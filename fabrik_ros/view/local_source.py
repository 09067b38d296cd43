"""A simulated arm, and what moves it, in this process: no ROS."""

from collections.abc import Mapping
import math
import threading
import time

import numpy as np

from ..collision import WorldCollision
from ..errors import FabrikError
from ..model.chain import Chain
from ..model.robot import Robot
from ..motion.arm_follower import ArmFollower, Target
from ..motion.follower_options import FollowerOptions
from ..transforms import Array
from .solver_source import nearest, obstacles_of, start_values
from .source import Snapshot

LAG = 0.05
"""Time constant of the simulated arm, which follows its commands so late [s]."""
STATUS_PERIOD = 0.1
"""Time between two measurements of distances, and two looks at the path [s]."""


class LocalSource:
    """
    Moves a simulated arm as the node does.

    Parameters
    ----------
    robot : Robot
        The robot.
    chain : Chain
        The arm of it that moves.
    world : WorldCollision, optional
        Knows the distances; without it the arm does not stop in front of collisions.
    options : FollowerOptions, optional
        How it moves.

    """

    def __init__(
        self,
        robot: Robot,
        chain: Chain,
        world: WorldCollision | None = None,
        options: FollowerOptions | None = None,
    ) -> None:
        self._robot, self._chain, self._world = robot, chain, world
        self._options = FollowerOptions() if options is None else options
        self._follower = ArmFollower(chain, self._options, scene=world)
        self._others = start_values(robot, chain, world)
        self._target: Target | None = None
        self._refusal = ''
        self._snapshot = Snapshot()
        self._lock = threading.Lock()
        self._ends = threading.Event()
        self._thread = threading.Thread(target=self._run, name='arm', daemon=True)
        self._thread.start()

    @property
    def name(self) -> str:
        """What to call it."""
        return 'the simulated arm'

    def snapshot(self) -> Snapshot:
        """Say what the arm does."""
        return self._snapshot

    def send_target(self, T_base_tip: Array) -> None:
        """Go to a pose; only the newest one counts."""
        self._ask(np.array(T_base_tip))

    def send_joints(self, values: Mapping[str, float]) -> None:
        """Go to joint values; those of joints outside the arm are taken at once."""
        names = self._chain.joint_names
        with self._lock:
            self._others |= {name: v for name, v in values.items() if name not in names}
        mine = {name: value for name, value in values.items() if name in names}
        if mine:
            self._ask(mine)

    def close(self) -> None:
        """Stop moving."""
        self._ends.set()
        self._thread.join()

    def _ask(self, target: Target) -> None:
        with self._lock:
            self._target = target

    def _run(self) -> None:
        period = 1.0 / self._options.command_rate
        q, status_due = self._start(), 0.0
        last = time.monotonic()
        while not self._ends.wait(max(0.0, last + period - time.monotonic())):
            now = time.monotonic()
            command, last, dt = self._step(q, now - last), now, now - last
            q = q + (command - q) * (1.0 - math.exp(-dt / LAG))
            is_due = now >= status_due
            status_due = now + STATUS_PERIOD if is_due else status_due
            self._snapshot = self._look(q, command, now, is_due)

    def _start(self) -> Array:
        return np.array([self._others[name] for name in self._chain.joint_names])

    def _step(self, q: Array, dt: float) -> Array:
        """Take a step; a target that is none is said, and leaves the arm as it is."""
        with self._lock:
            target, self._target = self._target, None
        try:
            command = self._follower.step(target, dt, measured=q)
        except FabrikError as error:
            self._refusal = str(error)
            return self._follower.step(None, dt, measured=q)
        if target is not None:
            self._refusal = str(self._follower.refusal or '')
        return command

    def _look(self, q: Array, command: Array, now: float, is_due: bool) -> Snapshot:
        """Describe the arm; what takes long only when it is due."""
        chain, follower, last = self._chain, self._follower, self._snapshot
        names = chain.joint_names
        distance, links, path = last.nearest_distance, last.nearest_links, last.path
        if is_due:
            distance, links = nearest(self._world, q)
            path = follower.planned_path[:, 0, :3, 3]
        return Snapshot(
            now,
            self._robot,
            chain.base_link,
            chain.tip_link,
            self._others | dict(zip(names, q.tolist(), strict=True)),
            self._others | dict(zip(names, command.tolist(), strict=True)),
            follower.state.name,
            str(follower.reason or ''),
            self._refusal,
            follower.solve_time,
            distance,
            links,
            path,
            obstacles_of(self._world),
        )
