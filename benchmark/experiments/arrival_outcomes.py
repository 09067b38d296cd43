"""What became of the targets of the arrivals, and the table of it."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
import json
from pathlib import Path
from typing import Any

from command_judge import Bounds, CommandJudge
from judging import pose_errors
import numpy as np
from simulated_drive import Run

POSITION, ANGLE = 1e-4, 1e-3
"""How exactly a target is to be met [m], [rad]; with fewer than six joints the position alone."""
SOON = 20.0
"""Among obstacles an arm is to be on its way after so long [s]."""


@dataclass(frozen=True)
class Outcome:
    """What became of one target; times in [s]."""

    arm: str
    kind: str
    """Of the start."""
    number: int
    start: list[float]
    goal: list[float]
    T: list[list[float]]
    verdict: dict[str, Any]
    """Empty where there is none."""
    arrived: bool
    distance: float
    """Between the tip at the last command and the target [m]."""
    angle: float
    """[rad]"""
    has_moved: bool
    state: str
    reason_kind: str
    reason: str
    waits_for_detour: bool
    """Whether the arm was not sent on its way because that is longer than `max_detour`."""
    first_command: float | None
    duration: float
    looking: float
    """Processor time [s]."""
    commands: int
    outside: int
    """How often a command left the limits of position, velocity or acceleration."""
    colliding: int
    """Commands at which links are too near."""
    violations: list[str] = field(default_factory=list)
    """Which limits were left, in words."""
    was_planned: bool = False
    """Whether a planner was asked for a way."""

    @property
    def counts(self) -> bool:
        """Whether the arm arrived, or would if it were told to take a long way."""
        return self.arrived or self.waits_for_detour

    def sets_out_within(self, time: float) -> bool:
        """Whether the arm moves by then, or is there already [s]."""
        return self.first_command is None or self.first_command <= time

    @property
    def is_refusal(self) -> bool:
        """Whether the arm did not go where it could be expected to."""
        return not self.counts


def outcome_of(arm: Any, kind: str, number: int, task: Any, run: Run, drive: Any) -> Outcome:
    """Judge a run of an `Arm` with a `Task`, by a drive with `limits` and `period`."""
    judge, last = arm.judge, run.q[-1]
    distance, angle = pose_errors(task.T, judge.pose(last))
    waits = run.reason_kind == 'AWAITS_EXECUTE' and 'max_detour' in run.reason
    commands, judged = run.q[1:], _judged(arm, run, drive)
    return Outcome(
        arm.name,
        kind,
        number,
        task.start.tolist(),
        task.goal.tolist(),
        task.T.tolist(),
        {}
        if task.verdict is None
        else asdict(task.verdict) | {'feasible': task.verdict.is_feasible},
        arrived=distance < POSITION and (angle < ANGLE or not arm.meets_poses),
        distance=distance,
        angle=angle,
        has_moved=run.has_moved,
        state=run.state,
        reason_kind=run.reason_kind,
        reason=run.reason,
        waits_for_detour=waits and not run.has_moved,
        first_command=run.first_command,
        duration=run.duration,
        looking=run.looking,
        commands=len(commands),
        outside=judged.violation_count,
        colliding=sum(not judge.may_be_commanded(q) for q in commands[_changes(run.q)]),
        violations=judged.violations,
        was_planned=run.was_planned,
    )


def _changes(q: np.ndarray) -> np.ndarray:
    """Which commands differ from the one before, shape (m - 1,)."""
    return np.any(q[1:] != q[:-1], axis=1)


def _judged(arm: Any, run: Run, drive: Any) -> CommandJudge:
    """Have all commands judged; the arm is at rest before the first one."""
    judge, limits = arm.judge, drive.limits
    bounds = Bounds(judge.lower, judge.upper, limits.joint_velocity, limits.joint_acceleration)
    commands = CommandJudge(judge.joint_names, bounds, drive.period)
    commands.arm_says(dict(zip(judge.joint_names, run.q[0].tolist(), strict=True)))
    for stamp, q in zip(run.stamps.tolist(), run.q[1:].tolist(), strict=True):
        commands.check(judge.joint_names, stamp, q)
    return commands


# -- the table

HEADER = (
    '| arm | targets | arrived, % | line free (a): arrived, % | joint move free (b), % '
    '| over one (c), % | any of them, % | held for max_detour | refused before the first command '
    '| after it | commands out of bounds | in contact | first command, s: median; p99 '
    '| arrival, s: median; p99 | looking, CPU ms: median; p99 |'
)

WORLD_HEADER = (
    f'| arm | targets | arrived, set out within {SOON:g} s, % | planned | held for max_detour '
    '| not reached | commands out of bounds | in contact | first command, s: median; p99 |'
)


def rows(outcomes: Sequence[Outcome], by: str = 'arm') -> list[str]:
    """Lines of the table: one for each arm (or kind of start), and one for all."""
    names = dict.fromkeys(getattr(outcome, by) for outcome in outcomes)
    is_judged = all(outcome.verdict for outcome in outcomes)
    header, row = (HEADER, _row) if is_judged else (WORLD_HEADER, _world_row)
    lines = [row(name, [one for one in outcomes if getattr(one, by) == name]) for name in names]
    return [header, '|' + '---|' * (header.count('|') - 1), *lines, row('all', outcomes)]


def _row(name: str, outcomes: Sequence[Outcome]) -> str:
    def share(*keys: str) -> str:
        chosen = [one for one in outcomes if not keys or any(one.verdict.get(key) for key in keys)]
        arrived = sum(one.counts for one in chosen)
        return (
            f'{100.0 * arrived / len(chosen):.1f} ({arrived} of {len(chosen)})' if chosen else '-'
        )

    refused = [one for one in outcomes if one.is_refusal]
    kinds = Counter(one.reason_kind or one.state for one in refused if not one.has_moved)
    later = Counter(one.reason_kind or one.state for one in refused if one.has_moved)
    first = [one.first_command for one in outcomes if one.first_command is not None]
    arrivals = [one.duration for one in outcomes if one.arrived and one.has_moved]
    looking = [1e3 * one.looking for one in outcomes]
    return (
        f'| {name} | {len(outcomes)} | {share()} | {share("line")} | {share("direct")} '
        f'| {share("over_one")} | {share("feasible")} '
        f'| {sum(one.waits_for_detour for one in outcomes)} | {_counted(kinds)} '
        f'| {_counted(later)} | {sum(one.outside for one in outcomes)} '
        f'| {sum(one.colliding for one in outcomes)} | {_middle_and_end(first, 2)} '
        f'| {_middle_and_end(arrivals, 1)} | {_middle_and_end(looking, 0)} |'
    )


def _world_row(name: str, outcomes: Sequence[Outcome]) -> str:
    count = len(outcomes)
    waiting = sum(one.waits_for_detour for one in outcomes)
    good = waiting + sum(one.arrived and one.sets_out_within(SOON) for one in outcomes)
    refused = Counter(one.reason_kind or one.state for one in outcomes if one.is_refusal)
    first = [one.first_command for one in outcomes if one.first_command is not None]
    return (
        f'| {name} | {count} | {100.0 * good / count:.1f} ({good} of {count}) '
        f'| {sum(one.was_planned for one in outcomes)} | {waiting} | {_counted(refused)} '
        f'| {sum(one.outside for one in outcomes)} | {sum(one.colliding for one in outcomes)} '
        f'| {_middle_and_end(first, 2)} |'
    )


def _counted(kinds: Counter[str]) -> str:
    words = (f'{kind.lower()} {count}' for kind, count in kinds.most_common())
    return f'{kinds.total()}: {", ".join(words)}' if kinds else '0'


def _middle_and_end(numbers: Sequence[float], digits: int) -> str:
    if not numbers:
        return '-'
    median, end = np.percentile(numbers, [50.0, 99.0])
    return f'{median:.{digits}f}; {end:.{digits}f}'


def write(file: Path, outcomes: Sequence[Outcome]) -> None:
    """Write all outcomes to a file of JSON."""
    file.write_text(json.dumps([asdict(one) for one in outcomes], indent=0))


def read(file: Path) -> list[Outcome]:
    """Read outcomes from such a file."""
    return [Outcome(**one) for one in json.loads(file.read_text())]
