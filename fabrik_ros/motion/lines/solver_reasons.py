"""Answer of a solver, as the reason why an arm rests short of its goal."""

from ...reasons import Reason, ReasonKind
from ...solver.solution import Solution, Status


def reason_of(solution: Solution) -> Reason:
    """Say why a solver did not converge."""
    return Reason(ReasonKind[solution.status.name], solution.status.value, solution.limited_joints)


JUMP = 'the joints would have to jump'
"""Obstacle where the solver found no configuration near enough for a path."""

AT_LIMITS = 'joints stand at their limits'
"""Obstacle where a search near the arm came to rest there."""
NOT_SURE = (Status.STALLED, Status.BUDGET_EXHAUSTED)


def blocked(kind: ReasonKind, solution: Solution, what: str = '') -> Reason:
    """Say what is blocked, by what the solver said and the joints that stand at a limit."""
    why = solution.status.value
    if solution.status is Status.BLOCKED_BY_JOINT_MOVE:
        why = JUMP
    elif solution.limited_joints and solution.status in NOT_SURE:
        why = AT_LIMITS
    names = f' ({", ".join(solution.limited_joints)})' if solution.limited_joints else ''
    before = f'{what}: ' if what else ''
    return Reason(kind, f'{before}{why}{names}', solution.limited_joints)
