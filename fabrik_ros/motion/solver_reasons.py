"""What a solver said, as the reason why an arm rests short of its goal."""

from ..reasons import Reason, ReasonKind
from ..solver.solution import Solution


def reason_of(solution: Solution) -> Reason:
    """Say why a solver did not converge."""
    return Reason(ReasonKind[solution.status.name], solution.status.value, solution.limited_joints)


def blocked(kind: ReasonKind, text: str, solution: Solution) -> Reason:
    """Say what is blocked, with what the solver said and the joints that stand at a limit."""
    names = f' ({", ".join(solution.limited_joints)})' if solution.limited_joints else ''
    return Reason(kind, f'{text}: {solution.status.value}{names}', solution.limited_joints)
