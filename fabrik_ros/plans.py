"""Planning in one call, without ROS."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, overload

import numpy as np
import numpy.typing as npt

from .collision.checked_pairs import CheckedPairs
from .collision.scene import Scene
from .errors import CollisionError, ProgramError, TargetError
from .model.arm_checks import check_arm
from .model.chain import Chain
from .model.mechanism import Mechanism
from .model.robot import Robot
from .model.tree import Tree
from .motion.follower_options import FollowerOptions
from .motion.program_plan import DirectPlanner, plan_program, ProgramPlan
from .planning.plan_request import PLANNING_TIME, PlanRequest
from .planning.plan_result import Plan
from .planning.planner import Planner
from .planning.planner_setup import PlannerSetup
from .programs.joint_values import with_values
from .programs.program import Program
from .solver.options import SolverOptions
from .solver.tree_solver import TipOptions
from .transforms import Array


@overload
def plan(
    chain: Mechanism,
    start: npt.ArrayLike,
    target: Program,
    scene: Scene | CheckedPairs | None = None,
    **options: Any,
) -> ProgramPlan: ...
@overload
def plan(
    chain: Mechanism,
    start: npt.ArrayLike,
    target: npt.ArrayLike,
    scene: Scene | CheckedPairs | None = None,
    **options: Any,
) -> Plan: ...
def plan(  # noqa: PLR0913 - all that is known of an arm and its target, in one call
    chain: Mechanism,
    start: npt.ArrayLike,
    target: npt.ArrayLike | Program,
    scene: Scene | CheckedPairs | None = None,
    *,
    robot: Robot | None = None,
    options: SolverOptions | None = None,
    tips: Mapping[str, TipOptions] | None = None,
    posture: npt.ArrayLike | None = None,
    planning_time: float = PLANNING_TIME,
    seed: int = 1,
    should_stop: Callable[[], bool] = lambda: False,
    motion: FollowerOptions | None = None,
    configurations: Mapping[str, npt.ArrayLike] | None = None,
    **settings: Any,
) -> Plan | ProgramPlan:
    """
    Look for a way of an arm round what stands in its way, or through a program of moves.

    Parameters
    ----------
    chain : Chain or Tree
        The arm, or the arms.
    start : array-like, shape (n,)
        Where it is [rad or m].
    target : array-like or Program
        Pose of the tip in the base frame, shape (4, 4); poses of the k tips of a tree, shape
        (k, 4, 4), NaN for tips without a target; or joint values, shape (n,) [rad or m].
        Or a `Program` of moves, of a single chain.
    scene : Scene or CheckedPairs, optional
        The obstacles; needs `robot`. Or what knows all distances already, as a `WorldCollision`,
        which is the way to plan more than once: to make one takes seconds. Left out, with a
        robot its links keep clear of each other, and without one nothing collides.
    robot : Robot, optional
        The robot that the arm belongs to, with its collision geometry.
    options : SolverOptions, optional
        Mode and tolerances of the target.
    tips : mapping, optional
        What is asked of the tips of a tree, `TipOptions` by tip link.
    posture : array-like, shape (n,), optional
        Of several configurations at the target the one nearest to this one is tried first.
    planning_time : float
        Longest search [s].
    seed : int
        Source of chance, above 0: the same one gives the same way, where time suffices.
    should_stop : callable
        Called every few milliseconds; true ends the search.
    motion : FollowerOptions, optional
        How the arm moves through a program; `options` count before those in here.
    configurations : mapping, optional
        Joint values, shape (n,), by the names that a program may use [rad or m].
    **settings
        Settings of collisions where a robot is given: fields of `PlannerSetup`, as `mesh_paths`.

    Returns
    -------
    Plan
        The way, or why there is none.
    ProgramPlan
        The same for a program, as the arm will drive it.

    Raises
    ------
    TypeError
        If the chain is something else, as a robot or a path; says how to get one.
    JointValueError, TargetError, CollisionError, ProgramError
        If joint values, the target, the scene or the program make no sense.

    Examples
    --------
    >>> import numpy as np
    >>> from fabrik_ros import example_arm, load_urdf
    >>> chain = load_urdf(example_arm('planar_two_link')).chain()
    >>> way = plan(chain, [0.1, 0.2], np.array([1.0, -0.5]))
    >>> way.found, way.at(way.duration)
    (True, array([ 1. , -0.5]))

    """
    check_arm(chain, 'chain', Chain, Tree)
    setup = PlannerSetup(robot, chain, **settings) if robot is not None else None
    if setup is None and settings:
        raise CollisionError(f'{", ".join(settings)} without a robot: nothing collides')
    collision = _collision(scene, setup)
    q = chain.checked(start, 'start')
    planner = Planner(chain, collision, options, tips)
    planner.warm_up()
    if isinstance(target, Program):
        if not isinstance(chain, Chain):
            raise ProgramError(f'programs are for arms with one tip, got {chain!r}')
        known = {name: chain.checked(q, name) for name, q in (configurations or {}).items()}
        program = with_values(target, known)
        direct = DirectPlanner(planner, planning_time, should_stop)
        return plan_program(chain, q, program, collision, direct, motion, options)
    T, q_goals = _goal(chain, target)
    request = PlanRequest(
        q,
        T,
        q_goals,
        posture=None if posture is None else chain.checked(posture, 'posture'),
        planning_time=planning_time,
        seed=seed,
        brakes_straight=True,
    )
    return planner.plan(request, should_stop)


def _collision(
    scene: Scene | CheckedPairs | None, setup: PlannerSetup | None
) -> CheckedPairs | None:
    if isinstance(scene, CheckedPairs):
        return scene
    if setup is not None:
        return setup.world(scene or Scene())
    if scene is not None:
        raise CollisionError('a scene needs the robot, whose links keep clear of it: give `robot`')
    return None


def _goal(chain: Mechanism, target: npt.ArrayLike) -> tuple[Array | None, tuple[Array, ...]]:
    """Tell poses, shape (k, 4, 4), from joint values."""
    try:
        values = np.array(target, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise TargetError(f'the target is no array of numbers: {error}') from error
    if values.ndim == 1:
        return None, (chain.checked(values, 'target'),)
    return (values[None] if values.ndim == 2 else values), ()
