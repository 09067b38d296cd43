"""
How often, how fast and how close by: our solver beside others, on real arms.

Every solver gets the same random reachable targets: from the middle of the joint limits, and from
seeds close to the configuration the target was made from. What counts as solved is decided by
pinocchio, not by the solver. Times are those of the call a user makes.

Solvers take turns in blocks of calls. In a block of 50 a solver works as in a program that does
little else: its code and data stay in the caches, where an untimed call before the block has put
them (without it the 99th percentile would tell of the first call in each 50). With `--block 1`
each call comes after a call of every other solver and finds the caches cold, as in a program that
does much between two solves.

Behind the comparison come the ablation (`ablation.py`) and checks of what can be relied on
(`dependability.py`).

    python benchmark/peers/bench_solver.py --count 1000 --arms ur5 panda --solvers TRAC-IK
    python benchmark/peers/bench_solver.py --only ablation snake
    python benchmark/peers/bench_solver.py --quick --solvers

"""

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date
import importlib
from importlib import metadata
import json
import logging
import os
from pathlib import Path
import platform
import subprocess
import sys

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / 'test'))
import ablation
from arms import Arm, ARMS, load
from bars import bars
from closed_forms import BareCall, CLOSED_FORMS
from dependability import CHECKS
import fabrik_ros
from measure import measure, tasks_from_close, tasks_from_mid
from peers import SEEDED
import report
from sizes import QUICK, Sizes
from solvers import Fabrik, FabrikAlone, Solver

ROOT = Path(__file__).resolve().parents[2]
COMPARISON, DEPENDABILITY = 'comparison', 'dependability'
SECTIONS = {'ablation': ablation, **CHECKS}
"""All but the comparison: modules that measure and report."""
PEERS = {peer.name: peer for peer in (*SEEDED, *CLOSED_FORMS)}
DISTRIBUTIONS = (
    'numpy', 'numba', 'pin', 'example-robot-data', 'pytracik', 'roboticstoolbox-python',
    'pybullet', 'pin-pink', 'mink', 'mujoco', 'daqp', 'ikpy', 'scipy', 'EAIK', 'ik-geo', 'ssik',
)  # fmt: skip


@contextmanager
def silence() -> Iterator[None]:
    """Keep what libraries print while they are set up, also from C, off the report."""
    sys.stdout.flush()
    kept = os.dup(1), os.dup(2)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 1)
        os.dup2(nowhere, 2)
        yield
    finally:
        for number, copy in enumerate(kept, start=1):
            os.dup2(copy, number)
            os.close(copy)
        os.close(nowhere)


def installed(peers: list[type[Solver]]) -> tuple[list[type[Solver]], dict[str, str]]:
    """Tell peers that can be imported from those that cannot, and why not."""
    found, missing = [], {}
    for peer in peers:
        try:
            with silence():
                importlib.import_module(peer.module)
        except Exception as error:  # a broken wheel may raise anything
            missing[peer.name] = one_line(error)
        else:
            found.append(peer)
    return found, missing


def set_up(arm: Arm, peers: list[type[Solver]]) -> tuple[list[Solver], dict[str, str]]:
    """Make the solvers of an arm ready, and say why others cannot take part."""
    solvers: list[Solver] = [Fabrik(arm), FabrikAlone(arm)]
    left_out = {}
    for peer in peers:
        try:
            with silence():
                solvers.append(peer(arm))
        except Exception as error:  # they refuse arms in many ways
            if not issubclass(peer, BareCall):  # its other row has said why
                left_out[peer.name] = one_line(error)
    return solvers, left_out


def one_line(error: Exception) -> str:
    return (str(error) or type(error).__name__).strip().split('\n')[0].replace('|', '/')


def run(arguments: argparse.Namespace) -> Iterator[str]:
    """Measure all that was asked for, write it down, and yield the report line by line."""
    setting = {**machine(), **vars(arguments), 'output': str(arguments.output)}
    setting['sizes'] = arguments.sizes._asdict()
    yield from header(setting)
    results = {}
    if COMPARISON in arguments.only:
        yield from compare(arguments, results)
    for name, section in SECTIONS.items():
        if name in arguments.only:
            results[name] = section.measure(arguments.sizes, arguments.output / 'arms')
            yield from section.report(results[name])
    yield '\n## Bars\n'
    results['bars'] = [str(bar) for bar in bars(results)]
    yield from results['bars']
    file = arguments.output / 'benchmark.json'
    file.write_text(json.dumps({**setting, **results}))
    yield f'\nAll figures are in {file}.'


def compare(arguments: argparse.Namespace, results: dict) -> Iterator[str]:
    """Measure our solver beside its peers; add the results and yield the tables."""
    peers, missing = installed([PEERS[name] for name in arguments.solvers])
    yield from method(arguments.block, missing)
    arms = [load(name, arguments.output / 'arms') for name in arguments.arms]
    trials = [(arm, *set_up(arm, peers)) for arm in arms]
    mid, close = {}, {}
    yield report.MID
    for arm, solvers, left_out in trials:
        tasks = tasks_from_mid(arm, arguments.sizes.count)
        mid[arm.name] = measured(arm, solvers, tasks, arguments.block)
        yield from report.mid_table(arm.name, len(arm.chain), arm.mode, mid[arm.name], left_out)
    yield report.CLOSE_BY.rstrip()
    for arm, solvers, _ in trials:
        tasks = tasks_from_close(arm, arguments.sizes.close)
        close[arm.name] = measured(arm, solvers, tasks, arguments.block)
        yield from report.close_table(arm.name, close[arm.name])
    left_out = {arm.name: reasons for arm, _, reasons in trials}
    results.update(missing=missing, left_out=left_out, mid=mid, close=close)


def measured(
    arm: Arm, solvers: list[Solver], tasks: list, block: int
) -> dict[str, report.Figures]:
    outcomes = measure(arm, solvers, tasks, block)
    return {name: report.figures(found) for name, found in outcomes.items()}


def header(setting: dict) -> Iterator[str]:
    """Say what is measured, on what, with what."""
    versions = ', '.join(f'{name} {version}' for name, version in setting['versions'].items())
    yield f'* Run: {setting["date"]}, commit {setting["commit"]}, {setting["processor"]}.'
    yield f'* Versions: {versions}.'


def method(block: int, missing: dict[str, str]) -> Iterator[str]:
    """Say how the comparison is made, and with whom it cannot be."""
    yield ''.join(f'\nNot installed: {name}: {reason}' for name, reason in missing.items())
    yield report.METHOD.format(block=block, warming=report.WARMING if block > 1 else '')


def machine() -> dict:
    """Tell what is measured, on what, with what."""
    versions = {'Python': platform.python_version(), 'fabrik_ros': fabrik_ros.__version__}
    for name in DISTRIBUTIONS:
        try:
            versions[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return {
        'date': str(date.today()),
        'commit': commit(),
        'processor': processor(),
        'versions': versions,
    }


def commit() -> str:
    """Describe the commit that is measured."""
    command = ['git', 'describe', '--always', '--dirty']
    try:
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    except OSError:
        return 'unknown'
    return done.stdout.strip() or 'unknown'


def processor() -> str:
    """Name the processor."""
    try:
        lines = Path('/proc/cpuinfo').read_text().splitlines()
    except OSError:
        return platform.processor()
    return next((x.split(':')[1].strip() for x in lines if x.startswith('model name')), '?')


def read_arguments() -> argparse.Namespace:
    """Read the command line, and settle how much of everything is measured."""
    parser = argparse.ArgumentParser(description=__doc__.strip().split('\n\n')[0])
    parser.add_argument('--count', type=int, help=f'targets, mid seeds ({Sizes().count})')
    parser.add_argument('--close', type=int, help=f'targets, close seeds ({Sizes().close})')
    parser.add_argument('--block', type=int, default=50, help='calls of a solver in a row')
    parser.add_argument('--arms', nargs='+', choices=ARMS, default=list(ARMS), help='compared on')
    parser.add_argument('--solvers', nargs='*', choices=PEERS, default=list(PEERS), help='peers')
    sections = [COMPARISON, *SECTIONS]
    parser.add_argument(
        '--only', nargs='+', choices=[*sections, DEPENDABILITY], default=sections, help='sections'
    )
    parser.add_argument('--quick', action='store_true', help='a few targets of everything')
    parser.add_argument(
        '--output', type=Path, default=ROOT / 'build' / 'benchmark', help='folder for all figures'
    )
    arguments = parser.parse_args()
    if DEPENDABILITY in arguments.only:
        arguments.only = [*arguments.only, *CHECKS]
    sizes = QUICK if arguments.quick else Sizes()
    arguments.sizes = sizes._replace(
        count=arguments.count or sizes.count, close=arguments.close or sizes.close
    )
    return arguments


def main() -> None:
    """Run what the command line asks for."""
    logging.disable(logging.WARNING)  # pink logs every step that ends a hair outside a limit
    arguments = read_arguments()
    arguments.output.mkdir(parents=True, exist_ok=True)
    with (arguments.output / 'report.md').open('w') as file:
        for line in run(arguments):
            print(line, flush=True)
            print(line, file=file, flush=True)


if __name__ == '__main__':
    main()
