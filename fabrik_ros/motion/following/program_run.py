"""A program that an arm goes through: what it was asked for, how far it is, what is left of it."""

from dataclasses import dataclass, replace

from ...errors import ProgramError, RefusedError
from ...model.mechanism import Mechanism
from ...programs.program import Program
from ...programs.program_file import document_of
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
    whole, program : Program
        What was sent, and what is followed: the same, or what was left of it.
    goal : Goal
        Poses of the tips at its end; none of them is a target.
    ends : tuple of array, shape (4, 4)
        Poses of the tip where it begins, and at the ends of all its segments.
    first, count : int
        Number of its first segment in the whole program, from 0 on, and of all segments of that.
    added : int
        Number of segments before the first one that only lead back to it.
    done : float
        Share of the whole program that lay behind where this part of it began [1].
    progress : Progress or None
        How far the arm is; None before it sets out.

    """

    name: str
    whole: Program
    program: Program
    goal: Goal
    ends: tuple[Array, ...]
    first: int
    count: int
    added: int = 0
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
        return cls(name, program, program, goal, (begin, *ends), 0, len(program.steps))

    def begun(self, robot: Mechanism, q: Array, progress: Progress) -> 'ProgramRun':
        """Return the run of an arm that sets out from `q`, shape (n,)."""
        begin = robot.tip_poses(q)[0]
        ends = tuple(end_poses(robot, self.program, q))
        goal = Goal.of(ends[-1][None])
        return replace(self, goal=goal, ends=(begin, *ends), progress=progress)

    def is_same(self, other: 'ProgramRun') -> bool:
        """Whether another run is of the same program, with the same name."""
        return self.name == other.name and document_of(self.whole) == document_of(other.whole)

    @property
    def segment(self) -> int:
        """Number of the segment in the whole program, from 0 on."""
        own = 0 if self.progress is None else self.progress.segment
        return self.first + max(own - self.added, 0)

    @property
    def share(self) -> float:
        """Share of the whole program that lies behind, by time at the asked speeds [1]."""
        of_part = 0.0 if self.progress is None else self.progress.share
        return self.done + (1.0 - self.done) * of_part

    @property
    def time_left(self) -> float:
        """Time to its end, about [s]; 0 before the arm sets out."""
        return 0.0 if self.progress is None else self.progress.left

    @property
    def at_end(self) -> 'ProgramRun':
        """The run of an arm that has arrived."""
        if self.progress is None:
            return self
        end = self.progress._replace(share_of_segment=1.0, share=1.0, left=0.0)
        return replace(self, progress=end)

    def rest(self, T: Array) -> 'ProgramRun':
        """Return what is left of it for an arm that stands at a pose, shape (4, 4)."""
        progress = self.progress
        if progress is None:
            return self
        number, share = progress.segment, progress.share_of_segment
        program, added = rest_of(self.program, number, share, self.ends[max(number, 0)], T)
        if number < self.added:  # it was on its way back, and goes on with that
            added = self.added
        return replace(
            self, program=program, first=self.segment, added=added, done=self.share, progress=None
        )


def rest_waits(run: ProgramRun) -> Reason:
    """Say that the rest of a program can be taken up."""
    text = f'segments {run.segment + 1} to {run.count} of the program are left: ~/execute'
    return Reason(ReasonKind.AWAITS_EXECUTE, text)
