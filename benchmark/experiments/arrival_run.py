"""Sends the targets of the arrivals to a drive, simulated or over ROS 2, and prints the table."""

import argparse
from collections.abc import Callable, Iterator
from pathlib import Path
import sys
from typing import Any

from arrival_outcomes import Outcome, outcome_of, read, rows, write
from arrival_tasks import Arm, ARMS, load, OTHER_ARMS, STARTS, TaskMaker, WORLDS

POSES = 100


def measure(asked: argparse.Namespace, make_drive: Callable[[Arm], Any]) -> None:
    """
    Measure what is asked for, and print the table.

    Parameters
    ----------
    asked : argparse.Namespace
        What `parser` makes of the arguments.
    make_drive : callable
        Makes what drives an arm: a `SimulatedDrive`, or something with the same interface.

    """
    if asked.show:
        print(*rows(read(asked.show)), sep='\n')
        return
    outcomes: list[Outcome] = []
    for name in asked.arms:
        arm = load(name, asked.world)
        drive = make_drive(arm)
        tasks = TaskMaker(arm, asked.seed, asked.cache)
        for kind in asked.starts:
            for outcome in run(arm, drive, tasks, kind, asked.poses):
                outcomes.append(outcome)
                print(report(outcome), file=sys.stderr, flush=True)
            if asked.json:
                write(asked.json, outcomes)
        tasks.close()
        drive.close()
    print(*rows(outcomes), '', *rows(outcomes, by='kind'), sep='\n')


def run(arm: Arm, drive: Any, tasks: TaskMaker, kind: str, count: int) -> Iterator[Outcome]:
    """Send so many targets to an arm that starts in one way."""
    drive.begin_at(tasks.start(kind, 0))
    for number in range(count):
        if kind != 'last' or not arm.judge.is_free(drive.q):
            drive.begin_at(tasks.start(kind, number))
        other = number
        while (outcome := _send(arm, drive, tasks, kind, number, other)) is None:
            other += count
            drive.begin_at(tasks.start(kind, other))
        yield outcome


def _send(
    arm: Arm, drive: Any, tasks: TaskMaker, kind: str, number: int, other: int
) -> Outcome | None:
    """Send one target to an arm; None where the reference planner knows no way from here."""
    task = tasks.draw(kind, other if arm.boxes else number, drive.q)
    if task is None:
        return None
    outcome = outcome_of(arm, kind, number, task, drive.send(task.T), drive)
    if arm.boxes and not outcome.counts and not tasks.has_way(task.start, task.goal):
        return None
    return outcome


def parser(description: str, poses: int = POSES) -> argparse.ArgumentParser:
    """Make the parser of what both scripts are asked for."""
    parser = argparse.ArgumentParser(description=description.split('\n\n')[0].strip())
    parser.add_argument(
        '--arms', nargs='+', default=list(ARMS), choices=[*ARMS, *OTHER_ARMS], metavar='ARM',
        help=f'of {", ".join([*ARMS, *OTHER_ARMS])}',
    )  # fmt: skip
    parser.add_argument('--starts', nargs='+', default=list(STARTS), choices=STARTS)
    parser.add_argument('--poses', type=int, default=poses, help='for each arm and start')
    parser.add_argument('--world', choices=WORLDS, default='empty', help='what stands around')
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--json', type=Path, help='write all that was measured to this file')
    parser.add_argument('--cache', type=Path, help='keep what the judge says in this file')
    parser.add_argument('--show', type=Path, help='print the table of a file, measure nothing')
    return parser


def report(outcome: Outcome) -> str:
    """One line about one target."""
    verdict = outcome.verdict
    ways = [word for word, is_free in (
        ('a', verdict.get('line')), ('b', verdict.get('direct')), ('c', verdict.get('over_one'))
    ) if is_free]  # fmt: skip
    return (
        f'{outcome.arm} {outcome.kind} {outcome.number}: '
        f'{"arrived" if outcome.arrived else outcome.state} [{"".join(ways)}] '
        f'{outcome.duration:.1f} s, {1e3 * outcome.looking:.0f} ms, {outcome.reason}'
    )
