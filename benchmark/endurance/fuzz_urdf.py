"""
Thousands of mutated robot descriptions, and what became of them.

    python benchmark/endurance/fuzz_urdf.py --documents 10000 --seed 1
    python benchmark/endurance/fuzz_urdf.py --seed 1 --only 4711   # one, with the traceback

A document is known by seed and number. Failures are counted by the place they come from.

"""

import argparse
from collections import Counter
import faulthandler
from pathlib import Path
import sys
import time

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / 'test'))

from fuzz.trials import document, Tally, try_documents
from fuzz.verdicts import judged

WATCHED = 300.0
"""After so many seconds a document is taken to hang, and it is shown where."""
SHOWN = 3


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
