"""The status of the node as diagnostics: what it does, and why."""

from collections.abc import Mapping, Sequence
import math
from typing import Any

from builtin_interfaces.msg import Time
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
import numpy as np

from ...model.tree import Tree
from ...motion.following.arm_state import State
from ...motion.following.follower import Follower
from ...reasons import Reason, ReasonKind
from ...solver.solution import Solution
from ...solver.tree_solver import is_unconstrained
from ...transforms import Array, rotation_vector
from ..parameters.tip_names import topic_names

ERRORS = ('position_error', 'orientation_error')
"""Errors of the commanded tips."""
MEASURED_ERRORS = ('measured_position_error', 'measured_orientation_error')
"""Errors of the measured tips, in the parts that `mode` asks for."""
GOOD = (State.IDLE, State.MOVING, State.JOGGING, State.REACHED)


def diagnostic_array(
    name: str, state: State, reason: Reason | None, facts: dict[str, Any], stamp: Time
) -> DiagnosticArray:
    """
    Put a status into a message.

    Parameters
    ----------
    name : str
        Name of the node.
    state : State
        What it is doing.
    reason : Reason or None
        Why; None where that is plain.
    facts : dict
        What else is known, by name; `warnings`, where there are any, raise the level.
    stamp : Time
        The present time.

    """
    status = DiagnosticStatus(name=f'{name}: arm', hardware_id=str(facts.get('tip_link', '')))
    warnings = facts.get('warnings', '')
    is_good = state in GOOD and not warnings
    status.level = DiagnosticStatus.OK if is_good else DiagnosticStatus.WARN
    status.message = '; '.join(filter(None, [f'{state.name}: {reason or state.value}', warnings]))
    facts = {'state': state.name, **reason_facts(reason), **facts}
    status.values = [_pair(key, _text(value)) for key, value in facts.items()]
    array = DiagnosticArray(status=[status])
    array.header.stamp = stamp
    return array


def reason_facts(reason: Reason | None) -> dict[str, Any]:
    """Say why, as a sentence and as a code, and where on the path; '' where that is plain."""
    if reason is None:
        return {'reason': '', 'reason_code': '', 'reason_place': ''}
    place = '' if reason.place is None else ' '.join(f'{x:.4f}' for x in reason.place.flat)
    return {'reason': reason, 'reason_code': reason.kind.value, 'reason_place': place}


def standing_in(facts: Mapping[str, str]) -> str:
    """State and reason of a status that was received."""
    return f'{facts["state"]}: {facts["reason"]}'.removesuffix(': ')


def is_of_waiting_namesake(facts: Mapping[str, str], before: Mapping[str, str]) -> bool:
    """Whether a status is of a node that waits for the name of the one that was heard `before`."""
    waits = facts.get('reason_code') == ReasonKind.NAME_TAKEN.value
    return waits and facts.get('instance') != before.get('instance', facts.get('instance'))


def awaited_in(facts: Mapping[str, str]) -> str:
    """Say what its node waits for before it takes targets; '' where it takes them."""
    if facts['waits_for']:
        return standing_in(facts)
    is_pausing = facts['waits_for_pause'] == 'True'
    return 'the node takes targets after one second without any' if is_pausing else ''


def solution_facts(solution: Solution) -> dict[str, Any]:
    """Say what the solver found, by name."""
    return {
        'solver_status': solution.status.name,
        'solver_position_error': solution.position_error,
        'solver_orientation_error': solution.orientation_error,
        'finished_by': solution.finished_by,
        'passes': solution.passes,
        'polish_steps': solution.polish_steps,
        'restarts': solution.restarts,
        'limited_joints': ', '.join(solution.limited_joints),
    }


def goal_facts(
    follower: Follower, stamps: Sequence[float], now: float, world_frame: str
) -> dict[str, Any]:
    """
    Say how far the commands are from the goals, by name.

    Of several tips there are the errors of each, `<tip>/position_error` and so on, and without a
    tip the largest of all.

    Parameters
    ----------
    follower : Follower
        Moves to the goals.
    stamps : sequence of float
        Stamp of the target of each tip [s]; 0 where it has none.
    now : float
        The time [s].
    world_frame : str
        Name of the frame in which goals stay while the base moves.

    """
    robot, motion, goal, T_goals = (
        follower.robot,
        follower.motion,
        follower.goal,
        follower.goal_in_base(),
    )
    if goal is None or T_goals is None:
        return {}
    tips = [
        _tip_facts(T, T_goal, stamp * is_target, now, world_frame if held else robot.base_link)
        for T, T_goal, stamp, is_target, held in zip(
            robot.tip_poses(motion.command[0]),
            T_goals,
            stamps,
            goal.is_target,
            goal.in_world,
            strict=True,
        )
    ]
    measured = follower.measured_errors(now)
    if measured is not None:
        for tip, *errors in zip(tips, *measured, strict=True):
            known = (0.0 if math.isnan(error) else float(error) for error in errors)
            tip |= dict(zip(MEASURED_ERRORS, known, strict=True))
    newest = max(tips, key=lambda facts: float(facts['target_stamp']))
    shown = ERRORS if measured is None else ERRORS + MEASURED_ERRORS
    worst = {key: max(facts[key] for facts in tips) for key in shown}
    facts: dict[str, Any] = {**newest, **worst, 'is_measured': measured is not None}
    if isinstance(robot, Tree):
        names = topic_names(robot.tip_links)
        reasons = follower.tip_reasons(now)
        each = zip(names, tips, goal.is_target.tolist(), reasons, strict=True)
        for name, own, is_target, reason in each:
            own |= {'has_target': is_target, **reason_facts(reason)}
            facts |= {f'{name}/{key}': value for key, value in own.items()}
    if motion.solution is not None:
        facts |= solution_facts(motion.solution)
    return facts


def target_stamp(stamp: float) -> str:
    """Write the stamp of a target [s] to the microsecond, by which its sender knows it again."""
    return f'{stamp:.6f}'


def _tip_facts(T: Array, goal: Array, stamp: float, now: float, held_in: str) -> dict[str, Any]:
    free = bool(is_unconstrained(goal))
    turn = np.zeros(3) if free else rotation_vector(goal[:3, :3] @ T[:3, :3].T)
    return {
        'target_stamp': target_stamp(stamp),
        'target_age': now - stamp if stamp > 0.0 else 0.0,
        'target_held_in': '' if free else held_in,
        'position_error': 0.0 if free else float(np.linalg.norm(goal[:3, 3] - T[:3, 3])),
        'orientation_error': float(np.linalg.norm(turn)),
    }


def _pair(key: str, value: str) -> KeyValue:
    pair = KeyValue()  # by keyword it takes twice as long, and there are many
    pair.key, pair.value = key, value
    return pair


def _text(value: Any) -> str:
    return f'{value:.9g}' if isinstance(value, float) else str(value)
