"""What becomes of a move, for who asked for it; no ROS here."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from ..errors import FabrikError
from ..reasons import ReasonKind
from ..transforms import Array

SUPERSEDED = 'superseded'
"""Another target, or a jog, took the place of the move."""
TIMED_OUT = 'timed_out'
CANCELLED = ReasonKind.CANCELLED.value
"""`~/stop` was called."""
INTERRUPTED = 'interrupted'
"""Ctrl-C."""
CLOSED = 'closed'
"""The `Arm` was closed."""
NO_NODE = 'no_node'
"""No status is heard."""
NODE_RESTARTED = 'node_restarted'
NO_ANSWER = 'no_answer'
"""The node neither accepted nor refused it."""
ROS_ENDED = 'ros_ended'
"""The context of ROS was shut down."""
NOT_READY = 'not_ready'
"""The node was not ready for it in time."""
REFUSED = 'refused'
"""A service refused it; the sentence has the reason."""


@dataclass(frozen=True)
class Status:
    """
    Status of a node, or of a move that waits to be sent.

    Attributes
    ----------
    state : str
        As in `~/status`; WAITING of a move that was not sent, SILENT of a node that is not heard.
    reason, code : str
        The reason as a sentence, and its stable code.
    facts : mapping
        All facts of the status, by name.

    """

    state: str
    reason: str
    code: str
    facts: Mapping[str, str] = field(default_factory=dict, repr=False)

    @property
    def sentence(self) -> str:
        """State and reason."""
        return f'{self.state}: {self.reason}'.removesuffix(': ')

    @property
    def place(self) -> Array | None:
        """Where on the path the reason is, positions of the tips, shape (k, 3) [m], or None."""
        place = self.facts.get('reason_place', '')
        return np.array(place.split(), dtype=np.float64).reshape(-1, 3) if place else None


@dataclass(frozen=True)
class MoveResult:
    """
    End of a move that has arrived; true where the measured arm is there.

    Attributes
    ----------
    state, code, sentence : str
        State of the node, its `reason_code` ('' or `turned_off`), and a sentence.
    position_error, orientation_error : float
        Errors of the measured tip [m, rad]; of the commanded one where nothing is measured.
    is_measured : bool
        Whether they are measured.
    duration : float
        Time since the move was asked for [s].

    """

    state: str
    code: str
    sentence: str
    position_error: float
    orientation_error: float
    is_measured: bool
    duration: float

    def __bool__(self) -> bool:
        return self.is_measured


class MoveFailed(FabrikError):  # noqa: N818
    """
    A move that did not arrive.

    Attributes
    ----------
    code : str
        Why: a `reason_code` of the node, or one of `fabrik_ros.commander.results`.
    sentence : str
        The same in words.
    status : Status
        The newest status.

    """

    def __init__(self, code: str, sentence: str, status: Status) -> None:
        self.code, self.sentence, self.status = code, sentence, status
        super().__init__(sentence)

    @property
    def place(self) -> Array | None:
        """Where on the path the cause is, shape (k, 3) [m]; None where that is not known."""
        return self.status.place if self.code == self.status.code else None


class MoveRefused(MoveFailed):
    """The node did not take the move, and nothing has changed."""


class MoveStopped(MoveFailed):
    """The arm set out, or may have, and did not arrive."""
