"""Targets relative to what the arm moves: said again soon they are repeats, later new steps."""

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass

from ...programs.program import Program
from ...transforms import Array
from .frame_resolver import FrameResolver


@dataclass
class SaidTarget:
    """A target in a frame that the arm moves, and what became of it."""

    frame: str
    T_frame_target: Array
    """Shape (4, 4)."""
    T_target: Array
    """Pose that it had, in the base or in the world, shape (4, 4)."""
    in_world: bool
    """Whether that is held in the world."""
    heard: float
    """Time at which it came last [s]."""


class RelativeTargets:
    """
    Remembers the newest target of each tip whose frame the arm itself moves.

    Parameters
    ----------
    frames : FrameResolver
        Knows which joints move a frame.
    joint_names : tuple of str
        The joints of the arm.
    is_same : callable
        Whether two poses, shape (4, 4), are the same within the tolerances.

    """

    def __init__(
        self,
        frames: FrameResolver,
        joint_names: tuple[str, ...],
        is_same: Callable[[Array, Array], bool],
    ) -> None:
        self._frames, self._joints, self._is_same = frames, frozenset(joint_names), is_same
        self._said: dict[int, SaidTarget] = {}

    def find(self, tip: int, frame: str, T_frame_target: Array) -> SaidTarget | None:
        """Return the newest target of a tip if this one, shape (4, 4), says it again."""
        said = self._said.get(tip)
        if said is None or said.frame != frame:
            return None
        return said if self._is_same(T_frame_target, said.T_frame_target) else None

    def take(self, tip: int, said: SaidTarget) -> None:
        """Take an accepted target of a tip; it is remembered only if the arm moves its frame."""
        self._said.pop(tip, None)
        if not self._joints.isdisjoint(self._frames.joints_of(said.frame)):
            self._said[tip] = said

    def clock_jumped(self, now: float) -> None:
        """Count as heard `now` [s] what was heard before the clock jumped."""
        for said in self._said.values():
            said.heard = now


@dataclass
class SaidProgram:
    """A program with poses in a frame that the arm moves, and what its words meant."""

    words: Hashable
    program: Program
    heard: float
    """Time at which it came last [s]."""


class RelativePrograms:
    """
    Remembers the newest program that has poses in a frame that the arm itself moves.

    Parameters
    ----------
    frames : FrameResolver
        Knows which joints move a frame.
    joint_names : tuple of str
        The joints of the arm.

    """

    def __init__(self, frames: FrameResolver, joint_names: tuple[str, ...]) -> None:
        self._frames, self._joints = frames, frozenset(joint_names)
        self._said: SaidProgram | None = None

    def find(
        self, words: Hashable, now: float, is_repeat: Callable[[Program, float], bool]
    ) -> Program | None:
        """
        Return what the same words meant, where they are a repeat.

        Parameters
        ----------
        words : hashable
            What was said.
        now : float
            The time [s].
        is_repeat : callable
            Whether a program that was said at a time before [s] is repeated now.

        """
        said = self._said
        if said is None or said.words != words:
            return None
        before, said.heard = said.heard, now
        return said.program if is_repeat(said.program, before) else None

    def take(self, words: Hashable, frames: Iterable[str], program: Program, now: float) -> None:
        """Take an accepted program; it is remembered only if the arm moves one of its frames."""
        joints = (self._frames.joints_of(frame) for frame in frames)
        is_relative = any(not self._joints.isdisjoint(moved) for moved in joints)
        self._said = SaidProgram(words, program, now) if is_relative else None

    def clock_jumped(self, now: float) -> None:
        """Count as heard `now` [s] what was heard before the clock jumped."""
        if self._said is not None:
            self._said.heard = now
