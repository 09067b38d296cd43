"""What the solver answers: joint values, how good they are, and how they were found."""

from enum import Enum
from typing import NamedTuple

from ..transforms import Array


class Status(Enum):
    """How a solve ended; the value is a sentence for people."""

    CONVERGED = 'the target is reached within the tolerances'
    TOO_FAR = 'the target is farther away than the arm is long'
    TOO_NEAR = 'the target is nearer to the first joint than the arm can fold'
    BLOCKED_BY_LIMITS = 'joint limits keep the arm from the target'
    BLOCKED_BY_JOINT_MOVE = 'a joint would have to move farther than max_joint_move allows'
    STALLED = 'the search came to rest short of the target'
    BUDGET_EXHAUSTED = 'the budget ended before the target was reached'


class TipResult(NamedTuple):
    """Where one tip came to."""

    position_error: float
    """Distance from the tip to its target [m]; 0 for a tip without a target."""
    orientation_error: float
    """Angle [rad] to the orientation or axis of the mode; 0 for a tip without a target."""
    converged: bool
    """Whether both are within the tolerances."""


class Solution(NamedTuple):
    """
    Solution of a solver; its arrays belong to the caller.

    For several tips the status is the first that applies to any of them, and the errors are the
    largest of all.
    """

    q: Array
    """Joint values, shape (n,) [rad or m]; inside the limits whatever the status."""
    status: Status
    position_error: float
    """Distance from the tip to the target [m], from forward kinematics of `q`."""
    orientation_error: float
    """Angle [rad] to the orientation, or the axis, the mode asks for; 0 in mode 'position'."""
    passes: int
    """Reaching passes made, two to an iteration."""
    polish_steps: int
    """Levenberg-Marquardt steps made."""
    restarts: int
    """Starts made from elsewhere than the seed and its neighbourhood."""
    finished_by: str
    """
    Who made the last improvement: 'seed' where there was nothing to improve, 'fabrik', 'polish';
    'nobody' where nothing better than the seed was found.
    """
    limited_joints: tuple[str, ...]
    """Joints that stand at a limit."""
    tips: tuple[TipResult, ...] = ()
    """Error of each of several tips, in the order of `Tree.tip_links`; () for a chain."""

    @property
    def converged(self) -> bool:
        """Whether the target is reached within the tolerances of the mode."""
        return self.status is Status.CONVERGED
