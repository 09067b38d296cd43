"""Whether an arm was sent somewhere, and whether it goes on with that."""

from enum import Enum

from ...reasons import Reason


class Stage(Enum):
    """Stage that an arm is at with what it was asked for."""

    NOTHING = 'nothing was asked for, or it was ended'
    GOES_ON = 'it goes there, or is there'
    STOPPED = 'it was stopped on the way'
    FAILED = 'a fault stopped it: it does not set out again by itself'


class Job:
    """
    Job of an arm, which was asked to go somewhere, or to be jogged.

    Attributes
    ----------
    stage : Stage
        How far it is.
    stop_reason : Reason or None
        Why it was stopped; None while it goes on.
    must_go_back : bool
        Whether the commands come back to where the arm is measured, once they rest.

    """

    def __init__(self) -> None:
        self.end()

    def end(self) -> None:
        """Take note that the arm has nothing to do."""
        self.stage = Stage.NOTHING
        self.stop_reason: Reason | None = None
        self.must_go_back = False

    def begin(self) -> None:
        """Take note that the arm sets out."""
        self.stage, self.stop_reason = Stage.GOES_ON, None
        self.must_go_back = False

    def stop(self, reason: Reason, is_fault: bool = False) -> None:
        """Take note of a stop; one by a fault stays one, whatever stops the arm after it."""
        if self.stage is Stage.NOTHING:
            return
        if is_fault or self.stage is not Stage.FAILED:
            self.stage = Stage.FAILED if is_fault else Stage.STOPPED
        self.stop_reason = reason

    @property
    def is_engaged(self) -> bool:
        """Whether the arm was asked for something that was not ended since."""
        return self.stage is not Stage.NOTHING

    @property
    def has_failed(self) -> bool:
        """Whether a fault stopped it."""
        return self.stage is Stage.FAILED
