"""State of an arm, in the words of the status, and the commands to its joints."""

from enum import Enum
from typing import NamedTuple

from ...reasons import Reason, ReasonKind
from ...transforms import Array
from ..choosing.state_table import Phase

PAUSED = Reason(ReasonKind.PAUSED, 'paused: speed_scaling is 0')
CANCELLED = Reason(ReasonKind.CANCELLED, 'told to stop; the next target sets out')
JOG_ENDED = Reason(ReasonKind.JOG_ENDED, 'jogging has ended')
RESUMED = Reason(ReasonKind.WAITS_FOR_PAUSE, 'the arm was told to go on')
ACTIVATED = Reason(ReasonKind.WAITS_FOR_PAUSE, 'the arm was activated')
MOVED_AWAY = Reason(
    ReasonKind.MOVED_AWAY, 'the arm was moved away from the target by someone else'
)
SEND_AGAIN = Reason(
    ReasonKind.WORLD_CHANGED, 'a target that stays in the world has to be sent again'
)


def ready_again(fault: Reason) -> Reason:
    """Say that an arm takes targets again, after a fault that is gone; of the same kind."""
    text = (
        f'ready again after: {fault}; a new target sets out once none came for 1 s, the one that '
        'was interrupted after ~/resume'
    )
    return Reason(fault.kind, text, fault.joints, fault.place)


class State(Enum):
    """State of the arm, in the words of the status topic."""

    WAITING_FOR_MODEL = 'waiting for a robot description'
    WAITING_FOR_STATE = 'waiting for the measured state of every joint'
    IDLE = 'ready for a target'
    LOOKING = 'looking for a path to the target'
    PLANNING = 'planning a path round what is in the way'
    MOVING = 'on the way to the target'
    JOGGING = 'moving as it is jogged'
    REACHED = 'at the target'
    HOLDING = 'holding still'


STATES = {
    Phase.SEARCHING: State.LOOKING,
    Phase.PROPOSED: State.HOLDING,
    Phase.FOLLOWING: State.MOVING,
    Phase.HEADING: State.MOVING,
    Phase.STREAMING: State.MOVING,
    Phase.STRAIGHT: State.MOVING,
    Phase.JOGGING: State.JOGGING,
    Phase.DODGING: State.MOVING,
    Phase.CHANGING: State.MOVING,
    Phase.STOPPING: State.HOLDING,
    Phase.RETURNING: State.HOLDING,
}
"""
State in each phase, for an arm that goes on; one that stands is `HOLDING` with the reason, and
what `RESTING` has come to depends on the measured arm (`arrival.py`).
"""
UNDER_WAY = frozenset(
    state.name for state in (State.LOOKING, State.PLANNING, State.MOVING, State.JOGGING)
)
"""Names of the states in which the arm has not come to its target yet."""


class Command(NamedTuple):
    """Command to the joints."""

    q: Array
    """Joint values, shape (n,) [rad or m]."""
    velocity: Array
    """Shape (n,) [rad/s or m/s]."""
