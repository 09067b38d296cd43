"""The status of the node as diagnostics: what it does, and why."""

from typing import Any

from builtin_interfaces.msg import Time
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue

from ..following import State
from ..reference import Answer

GOOD = (State.IDLE, State.MOVING, State.REACHED)


def diagnostic_array(
    name: str, state: State, reason: str, facts: dict[str, Any], stamp: Time
) -> DiagnosticArray:
    """
    Put a status into a message.

    Parameters
    ----------
    name : str
        Name of the node.
    state : State
        What it is doing.
    reason : str
        Why; '' where that is plain.
    facts : dict
        What else is known, by name.
    stamp : Time
        The present time.

    """
    status = DiagnosticStatus(name=f'{name}: arm', hardware_id=str(facts.get('tip_link', '')))
    status.level = DiagnosticStatus.OK if state in GOOD else DiagnosticStatus.WARN
    status.message = f'{state.name}: {reason or state.value}'
    facts = {'state': state.name, 'reason': reason, **facts}
    status.values = [KeyValue(key=key, value=_text(value)) for key, value in facts.items()]
    array = DiagnosticArray(status=[status])
    array.header.stamp = stamp
    return array


def solution_facts(solution: Answer) -> dict[str, Any]:
    """Tell what the solver said, by name."""
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


def _text(value: Any) -> str:
    return f'{value:.9g}' if isinstance(value, float) else str(value)
