"""
Thousands of mutated robot descriptions, and what became of them.

    python test/fuzz/fuzz_urdf.py --documents 10000 --seed 1
    python test/fuzz/fuzz_urdf.py --seed 1 --only 4711      # that one, with the traceback

A document is known by seed and number. Failures are counted by the place they come from.

"""

import argparse
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
import faulthandler
from pathlib import Path
from random import Random
import sys
import time
import traceback

if __name__ == '__main__':
    sys.path.insert(0, str(Path(__file__).parents[1]))

from fuzz.documents import originals
from fuzz.mutations import mutated
from fuzz.verdicts import judged

WATCHED = 300.0
"""After so many seconds a document is taken to hang, and it is shown where."""
SHOWN = 3


@dataclass(frozen=True)
class Failure:
    """A document that was not dealt with rightly."""

    seed: str
    number: int
    origin: str
    reason: str
    place: str

    def __str__(self) -> str:
        return (
            f'seed {self.seed}, number {self.number} ({self.origin}), {self.place}: {self.reason}'
        )


@dataclass
class Tally:
    """What became of documents."""

    kinds: Counter[str] = field(default_factory=Counter)
    """How many were refused or read, by reason."""
    unknown: Counter[str] = field(default_factory=Counter)
    """How many of those read pinocchio does not judge, by reason."""
    counts: Counter[str] = field(default_factory=Counter)
    failures: list[Failure] = field(default_factory=list)
    slowest: tuple[float, int] = (0.0, -1)
    """CPU time [s] and number of the document that took longest."""

    def judged(self, beginning: str) -> int:
        """Count what is of kinds that begin so."""
        return sum(count for kind, count in self.kinds.items() if kind.startswith(beginning))


def document(seed: str, number: int) -> tuple[str, str, Random]:
    """Make a document; return also the name of its original, and the generator to go on with."""
    rng = Random(f'{seed}/{number}')
    name = 'everything' if rng.random() < 0.4 else rng.choice(list(originals()))
    return mutated(rng, originals()[name]), name, rng


def try_documents(seed: str, numbers: Iterable[int]) -> Tally:
    """Deal with documents and count what became of them."""
    tally = Tally()
    for number in numbers:
        text, name, rng = document(seed, number)
        begin = time.process_time()
        try:
            verdict = judged(text, rng)
        except Exception as error:
            reason = ' '.join(f'{type(error).__name__}: {error}'.split())[:500]
            tally.failures.append(Failure(seed, number, name, reason, _place(error)))
        else:
            tally.kinds[verdict.kind] += 1
            tally.counts['chains judged'] += verdict.chains
            tally.counts['chains solved'] += verdict.solved
            tally.counts['chains looked after for collisions'] += verdict.collisions
            if verdict.unknown:
                tally.unknown[verdict.unknown] += 1
        tally.slowest = max(tally.slowest, (time.process_time() - begin, number))
    return tally


def _place(error: Exception) -> str:
    frames = traceback.extract_tb(error.__traceback__)[-1:-4:-1]
    return ' < '.join(f'{Path(frame.filename).name}:{frame.lineno}' for frame in frames)


def _report(tally: Tally, seconds: float) -> None:
    total = tally.kinds.total() + len(tally.failures)
    print(f'{total} documents in {seconds:.0f} s of CPU time, at most {tally.slowest[0]:.1f} s')
    print(f'(number {tally.slowest[1]}) for one')
    for title, counts in (
        ('', tally.kinds),
        ('Read, but not judged by pinocchio:', tally.unknown),
        ('', tally.counts),
    ):
        print(title)
        for name, count in counts.most_common():
            print(f'{count:8d}  {name}')
    places = Counter(failure.place for failure in tally.failures)
    print(f'\n{len(tally.failures)} failures')
    for place, count in places.most_common():
        print(f'{count:8d}  {place}')
        for failure in [f for f in tally.failures if f.place == place][:SHOWN]:
            print(f'          {failure}')


def main() -> int:
    """Run from the command line; the exit code tells whether all was right."""
    parser = argparse.ArgumentParser(description=(__doc__ or '').strip().split('\n')[0])
    parser.add_argument('--documents', type=int, default=10_000)
    parser.add_argument('--seed', default='1')
    parser.add_argument('--only', type=int, help='number of one document to judge and show')
    arguments = parser.parse_args()
    if arguments.only is not None:
        text, _, rng = document(arguments.seed, arguments.only)
        print(text)
        print(judged(text, rng))
        return 0
    tally, begin = Tally(), time.process_time()
    for number in range(arguments.documents):
        faulthandler.dump_traceback_later(WATCHED, exit=True)
        _add(tally, try_documents(arguments.seed, [number]))
    faulthandler.cancel_dump_traceback_later()
    _report(tally, time.process_time() - begin)
    return 1 if tally.failures else 0


def _add(tally: Tally, more: Tally) -> None:
    tally.kinds += more.kinds
    tally.unknown += more.unknown
    tally.counts += more.counts
    tally.failures += more.failures
    tally.slowest = max(tally.slowest, more.slowest)


if __name__ == '__main__':
    sys.exit(main())
