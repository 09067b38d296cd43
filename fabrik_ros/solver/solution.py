"""Answer of the solver: joint values, how good they are, and how they were found."""

from enum import Enum
from typing import NamedTuple

from ..transforms import Array

DIGITS = 6
"""Digits of a joint value in the text of a solution."""
EQUALLY_TURNED = 1e-4
"""Orientations whose angles to the target's differ by less are equally good [rad]."""


class Status(Enum):
    """End of a solve; the value is a sentence for people."""

    CONVERGED = 'the target is reached within the tolerances'
    TOO_FAR = 'the target is farther away than the arm is long'
    TOO_NEAR = 'the target is nearer to the first joint than the arm can fold'
    BLOCKED_BY_LIMITS = 'joint limits keep the arm from the target'
    BLOCKED_BY_JOINT_MOVE = 'a joint would have to move farther than max_joint_move allows'
    STALLED = 'the search came to rest short of the target'
    BUDGET_EXHAUSTED = 'the budget ended before the target was reached'


class TipResult(NamedTuple):
    """
    Error of one tip of several; true if its target is reached.

    Attributes
    ----------
    position_error : float
        Distance from the tip to its target [m]; 0 for a tip without a target.
    orientation_error : float
        Angle [rad] to the orientation or axis of the mode; 0 for a tip without a target.
    converged : bool
        Whether both are within the tolerances.

    """

    position_error: float
    orientation_error: float
    converged: bool

    def __bool__(self) -> bool:
        return self.converged


class Solution(NamedTuple):
    """
    Solution of a solver; true if the target is reached. Its arrays belong to the caller.

    For several tips the status is the first that applies to any of them, and the errors are the
    largest of all.

    Attributes
    ----------
    q : array, shape (n,)
        Joint values [rad or m]; inside the limits whatever the status.
    status : Status
        How the solve ended.
    position_error : float
        Distance from the tip to the target [m], from forward kinematics of `q`.
    orientation_error : float
        Angle [rad] to the orientation, or the axis, the mode asks for; 0 in mode 'position'.
    passes : int
        Reaching passes made, two to an iteration.
    polish_steps : int
        Levenberg-Marquardt steps made.
    restarts : int
        Starts made from elsewhere than the seed and its neighbourhood.
    finished_by : str
        Who made the last improvement: 'seed' where there was nothing to improve, 'fabrik',
        'polish'; 'nobody' where nothing better than the seed was found.
    limited_joints : tuple of str
        Joints that stand at a limit.
    tips : tuple of TipResult
        Error of each of several tips, in the order of `Tree.tip_links`; () for a chain.

    """

    q: Array
    status: Status
    position_error: float
    orientation_error: float
    passes: int
    polish_steps: int
    restarts: int
    finished_by: str
    limited_joints: tuple[str, ...]
    tips: tuple[TipResult, ...] = ()

    def __bool__(self) -> bool:
        return self.converged

    def __repr__(self) -> str:
        q = ', '.join(f'{value:.{DIGITS}g}' for value in self.q)
        parts = [
            self.status.name,
            f'q=[{q}]',
            f'position_error={self.position_error:.2g}',
            f'orientation_error={self.orientation_error:.2g}',
            f'finished_by={self.finished_by!r}',
        ]
        if self.limited_joints:
            parts.append(f'limited_joints={self.limited_joints}')
        if self.tips:
            parts.append(f'{sum(map(bool, self.tips))} of {len(self.tips)} tips converged')
        return f'Solution({", ".join(parts)})'

    @property
    def converged(self) -> bool:
        """Whether the target is reached within the tolerances of the mode."""
        return self.status is Status.CONVERGED
