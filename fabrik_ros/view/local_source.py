"""A simulated arm, and what moves it, in this process: no ROS."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import count
import math
import threading
import time

import numpy as np

from ..collision import WorldCollision
from ..errors import FabrikError, RefusedError
from ..model.chain import Chain
from ..model.robot import Robot
from ..motion.arm_follower import ArmFollower, Target
from ..motion.follower_options import FollowerOptions
from ..motion.paths.pace import piece_speeds
from ..programs.program import Program
from ..reasons import ReasonKind
from ..ros.drawing.planned_motion import PlannedMotion
from ..transforms import Array
from .gaps import gaps
from .solver_source import solids_of, start_values
from .source import Request, Snapshot

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
        How it moves; without a home configuration home is where it starts.

    """

    def __init__(
        self,
        robot: Robot,
        chain: Chain,
        world: WorldCollision | None = None,
        options: FollowerOptions | None = None,
    ) -> None:
        self._robot, self._chain, self._world = robot, chain, world
        self._others = start_values(robot, chain, world)
        self._options = FollowerOptions() if options is None else options
        if not self._options.home_configuration:
            self._options = replace(self._options, home_configuration=tuple(self._start()))
        self._follower = ArmFollower(chain, self._options, scene=world)
        for warning in self._follower.warnings:
            print(f'odd: {warning}')
        self._planned = PlannedMotion()
        self._target: Target | None = None
        self._goals, self._asked_goal, self._goal = count(1), '', ''
        self._requests: list[Callable[[], None]] = []
        self._speed = self._options.speed_scaling
        self._answer = ''
        self._refusal = ''
        self._solids = solids_of(world)
        self._snapshot = Snapshot()
        self._lock = threading.Lock()
        self._ends = threading.Event()
        self._thread = threading.Thread(target=self._run, name='arm', daemon=True)
        self._thread.start()

    @property
    def name(self) -> str:
        """What to call it."""
        return 'the simulated arm'

    @property
    def requests(self) -> frozenset[Request]:
        """It can be asked all."""
        return frozenset(Request)

    @property
    def has_speed(self) -> bool:
        """It goes at a speed."""
        return True

    @property
    def has_programs(self) -> bool:
        """It goes through them as the node does."""
        return True

    @property
    def choices(self) -> None:
        """It moves with the defaults of the node."""

    def snapshot(self) -> Snapshot:
        """Say what the arm does."""
        return self._snapshot

    def send_target(self, T_base_tip: Array) -> str:
        """Go to a pose; only the newest one counts."""
        goal = str(next(self._goals))
        self._go_to(np.array(T_base_tip), goal)
        return goal

    def send_joints(self, values: Mapping[str, float]) -> None:
        """Go to joint values; those of joints outside the arm are taken at once."""
        names = self._chain.joint_names
        with self._lock:
            self._others |= {name: v for name, v in values.items() if name not in names}
        mine = {name: value for name, value in values.items() if name in names}
        if mine:
            self._go_to(mine, '')

    def send_width(self, width: float) -> None:
        """Change nothing: it has no gripper."""

    def send_program(self, program: Program) -> None:
        """Go through a program from the next step on."""
        self._go_to(program, '')

    def ask(self, request: Request) -> None:
        """Ask for something before the next step; a stop drops a target that waits."""
        with self._lock:
            if request is Request.STOP:
                self._target = None
            self._requests.append(lambda: self._grant(request))

    def set_speed(self, share: float) -> None:
        """Go at a share of all speeds from the next step on."""
        with self._lock:
            self._requests.append(lambda: self._follower.scale_speed(share))
            self._speed = share

    def close(self) -> None:
        """Stop moving."""
        self._ends.set()
        self._thread.join()

    def _go_to(self, target: Target, goal: str) -> None:
        with self._lock:
            self._target, self._asked_goal = target, goal

    def _grant(self, request: Request) -> None:
        follower = self._follower
        granted = {
            Request.STOP: follower.hold,
            Request.RESUME: follower.resume,
            Request.HOME: follower.home,
            Request.EXECUTE: follower.execute,
        }
        try:
            granted[request]()
        except RefusedError as error:
            self._answer = f'refused: {error}'
            return
        self._answer = self._refusal = ''
        if request in (Request.STOP, Request.HOME):
            self._goal = ''

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
            target, self._target, goal = self._target, None, self._asked_goal
            requests, self._requests = self._requests, []
        for request in requests:
            request()
        try:
            command = self._follower.step(target, dt, measured=q)
        except FabrikError as error:
            self._refusal = str(error)
            return self._follower.step(None, dt, measured=q)
        if target is not None:
            self._refusal, self._answer = str(self._follower.refusal or ''), ''
            self._goal = self._goal if self._refusal else goal
        return command

    def _look(self, q: Array, command: Array, now: float, is_due: bool) -> Snapshot:
        """Describe the arm; what takes long only when it is due."""
        chain, follower, last = self._chain, self._follower, self._snapshot
        names = chain.joint_names
        near, path, speeds = (last.to_obstacle, last.to_itself), last.path, last.path_speeds
        if is_due:
            near = gaps(self._world, q)
            path = follower.planned_path[:, 0, :3, 3]
            speeds = piece_speeds(path, follower.planned_times)
        reason = follower.reason
        kind = None if reason is None else reason.kind
        q_planned = self._planned.configuration(follower.proposed_motion, now)
        return Snapshot(
            now,
            self._robot,
            chain.base_link,
            chain.tip_link,
            self._others | dict(zip(names, q.tolist(), strict=True)),
            self._others | dict(zip(names, command.tolist(), strict=True)),
            follower.state.name,
            str(reason or ''),
            self._refusal,
            follower.solve_time,
            *near,
            path,
            speeds,
            self._options.max_tip_speed,
            self._solids,
            goal=self._goal,
            waits_for_execute=kind is ReasonKind.AWAITS_EXECUTE,
            planned={} if q_planned is None else dict(zip(names, q_planned.tolist(), strict=True)),
            is_held=kind is ReasonKind.HELD,
            answer=self._answer,
            speed=self._speed,
            stream_timeout=self._options.stream_timeout,
        )
