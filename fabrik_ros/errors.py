"""
Exceptions of the package: misuse is an error, not converging is an answer.

Every message names the thing, the value found and what is allowed; the data stays on the
exception as attributes.

"""

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from numbers import Real

from .reasons import Reason

LONGEST_SHOWN = 80
"""[characters] of a name or value in a message."""
MOST_LISTED = 40
"""Names in a message."""


def shown(text: str, longest: int = LONGEST_SHOWN) -> str:
    """Make text that others wrote fit for a message: printable, on one line and not long."""
    line = ''.join(c if c.isprintable() else repr(c)[1:-1] for c in text[: longest + 1])
    return line if len(line) <= longest else f'{line[:longest]}...'


def listed(names: Sequence[str], between: str = ', ') -> str:
    """Put names that others gave into a message: the first ones, where they are many."""
    line = between.join(map(shown, names[:MOST_LISTED]))
    more = len(names) - MOST_LISTED
    return f'{line} and {more} more' if more > 0 else line


def did_you_mean(name: str, names: Iterable[str]) -> str:
    """Ask for the name that is most like one that does not exist; '' where none is like it."""
    return ''.join(
        f"; did you mean '{shown(like)}'?" for like in get_close_matches(name, names, 1)
    )


def is_number(value: object) -> bool:
    """Whether a value is one number: also an array without dimensions, but not true or false."""
    is_one = isinstance(value, Real) or getattr(value, 'ndim', None) == 0
    return is_one and not isinstance(value, bool)


def check_number(name: str, value: object) -> None:
    """
    Check that an argument is one number.

    Raises
    ------
    TypeError
        If it is not; names it and says what it is.

    """
    if not is_number(value):
        raise TypeError(f'{name} must be one number, got {shown(repr(value))}')


def check_kind(name: str, value: object, *kinds: type) -> None:
    """
    Check that an argument is of one of some classes.

    Raises
    ------
    TypeError
        If it is not; names it and says what it is.

    """
    if not isinstance(value, kinds):
        allowed = ' or '.join(kind.__name__ for kind in kinds)
        raise TypeError(f'{name} must be of type {allowed}, got {shown(repr(value))}')


class FabrikError(Exception):
    """Base class of every exception raised on purpose by fabrik_ros."""


class MissingRosError(FabrikError, ImportError):
    """ROS 2 is not installed, or not sourced."""


class UrdfError(FabrikError):
    """The robot description cannot be used."""


class ChainError(FabrikError):
    """No usable chain leads from the base link to the tip link."""


class LinkNotFoundError(ChainError):
    """A link was asked for that the model does not have."""

    def __init__(self, name: str, available: Iterable[str]) -> None:
        self.name = name
        self.available = tuple(available)
        super().__init__(f"no link named '{shown(name)}'; the model has: {listed(self.available)}")


class AmbiguousChainError(ChainError):
    """Base or tip were left out and more than one chain would make sense."""

    def __init__(self, message: str, candidates: Iterable[tuple[str, str]]) -> None:
        self.candidates = tuple(candidates)
        lines = [
            f"  base_link: '{shown(base)}', tip_link: '{shown(tip)}'"
            for base, tip in self.candidates[:MOST_LISTED]
        ]
        more = len(self.candidates) - MOST_LISTED
        lines += [f'  and {more} more'] if more > 0 else []
        super().__init__('\n'.join([message, *lines]))


class JointValueError(FabrikError):
    """Joint values of the wrong number, or not finite."""


class TargetError(FabrikError):
    """The target is not a pose."""


class ProgramError(FabrikError):
    """A program of moves makes no sense."""


class LogError(FabrikError):
    """A file is no log of a node."""


class CollisionError(FabrikError):
    """Collisions cannot be looked for as asked."""


class CollisionUnavailableError(CollisionError):
    """Collisions cannot be looked for at all: coal is missing, or there is no geometry."""


class ProfileError(FabrikError):
    """A profile of a device to move an arm with makes no sense."""


class SceneError(CollisionError):
    """What is said to stand around the robot makes no sense."""


class UnknownFrameError(SceneError):
    """A frame that an obstacle stands in is not known now; it may be later."""


class NotMeasuredError(FabrikError):
    """It is not known where an arm is."""


class GripperError(FabrikError):
    """There is no gripper that can be used as asked."""


class MotionError(FabrikError):
    """The motion cannot be limited as asked for: ruckig is missing."""


class RefusedError(FabrikError):
    """Something is asked of an arm that it does not do now; nothing changes."""

    def __init__(self, reason: Reason) -> None:
        self.reason = reason
        super().__init__(str(reason))
