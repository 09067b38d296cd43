"""A program that an arm goes through: what it was asked for, how far it is, what is left of it."""

from dataclasses import dataclass, replace
import math

from ...errors import ProgramError, RefusedError
from ...model.mechanism import Mechanism
from ...programs.program import Program
from ...programs.rest import end_poses, rest_of
from ...reasons import Reason, ReasonKind
from ...transforms import Array
from ..choosing.goal import Goal
from ..paths.path import Progress


@dataclass(frozen=True, eq=False)
class ProgramRun:
    """
    Run of an arm through a program.

    Attributes
    ----------
    name : str
        What whoever sent it calls it; '' without a name.
    program : Program
        What is followed: the whole program, or what was left of it.
    goal : Goal
        Poses of the tips at its end; none of them is a target.
    ends : tuple of array, shape (4, 4)
        Poses of the tip where it begins, and at the ends of all its segments.
    first, count : int
        Number of its first segment in the whole program, from 0 on, and of all segments of that.
    done : float
        Share of the whole program that lay behind where this part of it began [1].
    progress : Progress or None
        How far the arm is; None before it sets out.

    """

    name: str
    program: Program
    goal: Goal
    ends: tuple[Array, ...]
    first: int
    count: int
    done: float = 0.0
    progress: Progress | None = None

    @classmethod
    def of(cls, robot: Mechanism, program: Program, q: Array, name: str) -> 'ProgramRun':
        """
        Make the run of an arm that rests, or comes to rest, at `q`, shape (n,).

        Raises
        ------
        RefusedError
            If the program makes no sense for the arm; names the segment.

        """
        if len(robot.tip_links) > 1:
            text = f'programs are for arms with one tip, and this has {len(robot.tip_links)}'
            raise RefusedError(Reason(ReasonKind.BAD_REQUEST, text))
        try:
            ends = end_poses(robot, program, q)
        except ProgramError as error:
            raise RefusedError(Reason(ReasonKind.BAD_REQUEST, str(error))) from error
        begin = robot.tip_poses(q)[0]
        goal = Goal.of(ends[-1][None])
        return cls(name, program, goal, (begin, *ends), 0, len(program.steps))

    def at(self, progress: Progress | None, T: Array) -> 'ProgramRun':
        """Return the run of an arm that has come farther, to a pose T_base_tip of shape (4, 4)."""
        if progress is None:
            return self
        ends = (T, *self.ends[1:]) if self.progress is None else self.ends
        return replace(self, progress=progress, ends=ends)

    @property
    def segment(self) -> int:
        """Number of the segment in the whole program, from 0 on."""
        return self.first + (0 if self.progress is None else max(self.progress.segment, 0))

    @property
    def share(self) -> float:
        """Share of the whole program that lies behind, by time at the asked speeds [1]."""
        of_part = 0.0 if self.progress is None else self.progress.share
        return self.done + (1.0 - self.done) * of_part

    @property
    def left(self) -> float:
        """Time to its end, about [s]; NaN before the arm sets out."""
        return math.nan if self.progress is None else self.progress.left

    @property
    def rest(self) -> 'ProgramRun':
        """What is left of it."""
        progress = self.progress
        if progress is None or progress.segment < 0:
            return self
        number = progress.segment
        program = rest_of(self.program, number, progress.share_of_segment, self.ends[number])
        return replace(
            self,
            program=program,
            ends=self.ends[number:],
            first=self.segment,
            done=self.share,
            progress=None,
        )


def rest_waits(run: ProgramRun) -> Reason:
    """Say that the rest of a program can be taken up."""
    text = f'segments {run.segment + 1} to {run.count} of the program are left: ~/execute'
    return Reason(ReasonKind.AWAITS_EXECUTE, text)
