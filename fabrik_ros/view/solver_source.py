"""A robot that stands where it is put: a target is solved at once, and nothing moves by itself."""

from collections.abc import Mapping
from itertools import count
import math
import threading
import time

import numpy as np

from ..collision import WorldCollision
from ..errors import FabrikError
from ..model.bent_pose import bent_configuration
from ..model.chain import Chain
from ..model.robot import Robot
from ..programs.program import Program
from ..solver.chain_solver import FabrikSolver
from ..solver.solution import Status
from ..transforms import Array
from .gaps import gaps
from .solid import Solid, solid_of
from .source import Request, Snapshot


class SolverSource:
    """
    Solves each target from where the arm is, and shows the answer.

    Parameters
    ----------
    robot : Robot
        The robot.
    chain : Chain
        The arm of it that goes to targets.
    world : WorldCollision, optional
        Knows the distances.

    """

    def __init__(self, robot: Robot, chain: Chain, world: WorldCollision | None = None) -> None:
        self._lock = threading.Lock()
        self._goals = count(1)
        self.show(robot, chain, world)

    def show(self, robot: Robot, chain: Chain, world: WorldCollision | None = None) -> None:
        """Have another robot, where it begins; parameters as those of the class."""
        solver = FabrikSolver(chain)
        solver.warm_up()
        values = start_values(robot, chain, world)
        with self._lock:
            self._robot, self._chain, self._world, self._solver = robot, chain, world, solver
            self._values, self._goal, self._solids = values, '', solids_of(world)
            self._state, self._reason, self._solve_time = 'READY', '', math.nan

    def say(self, state: str, reason: str) -> None:
        """Say something about the arm, until there is something else to say."""
        with self._lock:
            self._state, self._reason, self._solve_time = state, reason, math.nan

    @property
    def name(self) -> str:
        """What to call it."""
        return 'the solver'

    @property
    def requests(self) -> frozenset[Request]:
        """It can go back to where it began; nothing moves by itself, so that nothing stops."""
        return frozenset({Request.HOME})

    @property
    def has_speed(self) -> bool:
        """It has none: it is where it is put at once."""
        return False

    @property
    def has_programs(self) -> bool:
        """It goes along no path."""
        return False

    @property
    def choices(self) -> None:
        """It does not move."""

    def snapshot(self) -> Snapshot:
        """Say where the arm stands, and what came of the last target."""
        with self._lock:
            robot, chain, world = self._robot, self._chain, self._world
            values = dict(self._values)
            refusal = self._reason if self._state == 'REFUSED' else ''
            said = self._state, '' if refusal else self._reason, refusal, self._solve_time
            goal, solids = self._goal, self._solids
        to_obstacle, to_itself = gaps(world, _q(chain, values))
        return Snapshot(
            time.monotonic(), robot, chain.base_link, chain.tip_link, values, {}, *said,
            to_obstacle=to_obstacle,
            to_itself=to_itself,
            solids=solids,
            goal=goal,
        )  # fmt: skip

    def send_target(self, T_base_tip: Array) -> str:
        """Stand at the answer to a target, or as near as the solver came."""
        begin, goal = time.perf_counter(), str(next(self._goals))
        with self._lock:
            chain, solver = self._chain, self._solver
            seed = _q(chain, self._values)
        try:
            solution = solver.solve(T_base_tip, seed=seed)
        except FabrikError as error:
            with self._lock:
                self._state, self._reason = 'REFUSED', str(error)
            return goal
        duration = time.perf_counter() - begin
        reason = ''
        if solution.status is not Status.CONVERGED:
            reason = (
                f'{1e3 * solution.position_error:.1f} mm and '
                f'{math.degrees(solution.orientation_error):.1f} degrees from the target'
            )
        with self._lock:
            if chain is not self._chain:
                return goal  # another robot has come meanwhile
            self._values |= dict(zip(chain.joint_names, solution.q.tolist(), strict=True))
            self._state, self._reason = solution.status.name, reason
            self._solve_time, self._goal = duration, goal
        return goal

    def send_joints(self, values: Mapping[str, float]) -> None:
        """Stand at joint values."""
        with self._lock:
            self._values |= values
            self._state, self._reason, self._solve_time = 'READY', '', math.nan
            self._goal = ''

    def send_width(self, width: float) -> None:
        """Change nothing: it has no gripper."""

    def send_program(self, program: Program) -> None:
        """Change nothing: it goes along no path."""

    def ask(self, request: Request) -> None:
        """Stand where it began."""
        if request is Request.HOME:
            self.send_joints(start_values(self._robot, self._chain, self._world))

    def set_speed(self, share: float) -> None:
        """Change nothing: it has no speed."""

    def close(self) -> None:
        """End nothing: nothing runs."""


def _q(chain: Chain, values: Mapping[str, float]) -> Array:
    return np.array([values[name] for name in chain.joint_names])


def start_values(robot: Robot, chain: Chain, world: WorldCollision | None) -> dict[str, float]:
    """Joint values by name to begin with: the arm bent and clear, other joints near 0."""
    values = {
        joint.name: min(max(0.0, joint.lower), joint.upper)
        for joint in robot.joints
        if joint.type.moves and joint.mimic is None
    }
    q = bent_configuration(chain, None if world is None else world.is_collision_free)
    return values | dict(zip(chain.joint_names, q.tolist(), strict=True))


def solids_of(world: WorldCollision | None) -> tuple[Solid, ...]:
    """List what stands around, and what links carry."""
    return () if world is None else tuple(map(solid_of, world.scene))
