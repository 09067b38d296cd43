"""Planning in one call, without ROS."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, overload, TypeAlias

import numpy as np
import numpy.typing as npt

from .collision.checked_pairs import CheckedPairs
from .collision.scene import Scene
from .errors import check_kind, CollisionError, MotionError, ProgramError, TargetError
from .model.arm_checks import check_arm
from .model.chain import Chain
from .model.mechanism import Mechanism
from .model.robot import Robot
from .model.tree import Tree
from .motion.driven_way import driven_way
from .motion.follower_options import FollowerOptions
from .motion.program_plan import driven_program, ProgramPlan
from .motion.target_checks import check_values
from .planning.direct_planner import DirectPlanner
from .planning.plan_request import check_limits, PLANNING_TIME, PlanRequest
from .planning.plan_result import Plan
from .planning.planner import Planner
from .planning.planner_setup import PlannerSetup
from .programs.joint_values import with_values
from .programs.program import Program
from .solver.options import SolverOptions
from .solver.tree_solver import TipOptions
from .transforms import Array

ArmOptions: TypeAlias = SolverOptions | FollowerOptions
"""Options of the solver, or of all of the motion."""
PlanTarget: TypeAlias = Mapping[str, float] | npt.ArrayLike | Program
"""Joint values, poses, or a program of moves."""


def _never() -> bool:
    return False


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
    target: Mapping[str, float] | npt.ArrayLike,
    scene: Scene | CheckedPairs | None = None,
    **options: Any,
) -> Plan: ...
def plan(
    chain: Mechanism,
    start: npt.ArrayLike,
    target: PlanTarget,
    scene: Scene | CheckedPairs | None = None,
    *,
    robot: Robot | None = None,
    options: ArmOptions | None = None,
    tips: Mapping[str, TipOptions] | None = None,
    posture: npt.ArrayLike | None = None,
    planning_time: float = PLANNING_TIME,
    seed: int = 1,
    should_stop: Callable[[], bool] = _never,
    **settings: Any,
) -> Plan | ProgramPlan:
    """
    Look for a way of an arm round what stands in its way, or through a program of moves.

    Parameters
    ----------
    chain : Chain or Tree
        The arm, or the arms.
    start : array-like, shape (n,)
        Where it is, outside its limits by `limit_margin` of the options at most [rad or m].
    target : array-like, mapping or Program
        Pose of the tip in the base frame, shape (4, 4); poses of the k tips of a tree, shape
        (k, 4, 4), NaN for tips without a target; or joint values, shape (n,) or by the names of
        some joints [rad or m], continuous ones as they are. Or a `Program`: see `plan_program`.
    scene : Scene or CheckedPairs, optional
        The obstacles; needs `robot`. Or what knows all distances already, as a `WorldCollision`,
        which is the way to plan more than once: to make one takes seconds. Left out, with a
        robot its links keep clear of each other, and without one nothing collides.
    robot : Robot, optional
        The robot that the arm belongs to, with its collision geometry.
    options : SolverOptions or FollowerOptions, optional
        Mode and tolerances of the target; with the latter how the arm moves, too.
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
    **settings
        Settings of collisions where a robot is given: fields of `PlannerSetup`, as `mesh_paths`.

    Returns
    -------
    Plan
        The way, or why there is none; `duration` and `at` are those of the node on that way.
    ProgramPlan
        The same for a program, as the arm will drive it.

    Raises
    ------
    TypeError
        If the chain is something else, as a robot or a path; says how to get one. Or if the
        options are.
    ValueError
        If an option makes no sense; names it.
    JointValueError, TargetError, CollisionError, ProgramError
        If joint values, the target, the scene or the program make no sense.
    MotionError
        If the arm would never arrive.

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
    collision = _collision(scene, robot, chain, settings)
    if options is not None:
        check_kind('options', options, SolverOptions, FollowerOptions)
    how = options if isinstance(options, FollowerOptions) else _following(options)
    how.check()
    q = _checked_start(chain, start, how)
    asked = options.solver if isinstance(options, FollowerOptions) else options
    planner = Planner(chain, collision, asked, tips)
    planner.warm_up()
    if isinstance(target, Program):
        direct = DirectPlanner(planner, planning_time, should_stop)
        return driven_program(_one_tip(chain), q, with_values(target, {}), collision, direct, how)
    if how.speed_scaling == 0.0:
        raise MotionError('speed_scaling is 0: the arm would never arrive')
    T, q_goals = _goal(chain, q, target)
    request = PlanRequest(
        q,
        T,
        q_goals,
        posture=None if posture is None else chain.checked(posture, 'posture'),
        planning_time=planning_time,
        seed=seed,
        brakes_straight=True,
    )
    found = planner.plan(request, should_stop)
    return replace(found, drive=lambda way: driven_way(chain, way, collision, how, tips))


def plan_program(
    chain: Mechanism,
    start: npt.ArrayLike,
    program: Program,
    scene: Scene | CheckedPairs | None = None,
    *,
    robot: Robot | None = None,
    motion: FollowerOptions | None = None,
    configurations: Mapping[str, npt.ArrayLike] | None = None,
    planning_time: float = PLANNING_TIME,
    **settings: Any,
) -> ProgramPlan:
    """
    Look for the way of an arm through a program of moves, and drive it as the node would.

    Parameters
    ----------
    chain : Chain
        The arm.
    start : array-like, shape (n,)
        Where it is, outside its limits by `limit_margin` of `motion` at most [rad or m].
    program : Program
        The program.
    scene, robot, **settings
        As for `plan`.
    motion : FollowerOptions, optional
        How the arm moves.
    configurations : mapping, optional
        Joint values, shape (n,), by the names that the program may use [rad or m].
    planning_time : float
        Longest search for one free way [s].

    Returns
    -------
    ProgramPlan
        The program as the arm will drive it, or why it cannot.

    Raises
    ------
    JointValueError, TargetError, CollisionError, ProgramError
        If joint values, a name, the scene or the chain make no sense.

    """
    check_arm(chain, 'chain', Chain, Tree)
    how = FollowerOptions() if motion is None else motion
    check_kind('motion', how, FollowerOptions)
    how.check()
    collision = _collision(scene, robot, chain, settings)
    known = {name: chain.checked(q, name) for name, q in (configurations or {}).items()}
    planner = Planner(chain, collision, how.solver)
    planner.warm_up()
    direct = DirectPlanner(planner, planning_time, _never)
    q = _checked_start(chain, start, how)
    return driven_program(_one_tip(chain), q, with_values(program, known), collision, direct, how)


def _following(options: SolverOptions | None) -> FollowerOptions:
    """Return how an arm moves that solves with some options."""
    asked = SolverOptions() if options is None else options
    return FollowerOptions(
        mode=asked.mode,
        axis=asked.axis,
        position_tolerance=asked.position_tolerance,
        orientation_tolerance=asked.orientation_tolerance,
        posture=() if asked.posture is None else tuple(asked.posture),
        method=asked.method,
        polish=asked.polish,
        solve_budget=asked.budget,
    )


def _checked_start(arm: Mechanism, start: npt.ArrayLike, how: FollowerOptions) -> Array:
    """Joint values at the start, shape (n,), from where the arm would set out."""
    q = arm.checked(start, 'start')
    check_limits(arm, q, 'the start', how.limit_margin)
    return q


def _one_tip(arm: Mechanism) -> Chain:
    if not isinstance(arm, Chain):
        raise ProgramError(f'programs are for arms with one tip, got {arm!r}')
    return arm


def _collision(
    scene: Scene | CheckedPairs | None,
    robot: Robot | None,
    arm: Mechanism,
    settings: Mapping[str, Any],
) -> CheckedPairs | None:
    """Make what knows what collides; None where nothing does."""
    if scene is not None:
        check_kind('scene', scene, Scene, CheckedPairs)
    if robot is None and settings:
        raise CollisionError(f'{", ".join(settings)} without a robot: nothing collides')
    if isinstance(scene, CheckedPairs):
        return scene
    if robot is not None:
        return PlannerSetup(robot, arm, **settings).world(scene or Scene())
    if scene is not None:
        raise CollisionError('a scene needs the robot, whose links keep clear of it: give `robot`')
    return None


def _goal(
    chain: Mechanism, start: Array, target: Mapping[str, float] | npt.ArrayLike
) -> tuple[Array | None, tuple[Array, ...]]:
    """Tell poses, shape (k, 4, 4), from joint values."""
    if isinstance(target, Mapping):
        check_values(chain, target)
        named = zip(chain.joint_names, np.clip(start, chain.lower, chain.upper), strict=True)
        return None, (np.array([target.get(name, value) for name, value in named]),)
    try:
        values = np.array(target, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise TargetError(f'the target is no array of numbers: {error}') from error
    if values.ndim == 1:
        return None, (chain.checked(values, 'target'),)
    return (values[None] if values.ndim == 2 else values), ()
