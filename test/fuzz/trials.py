"""Trials of mutated robot descriptions: each by a seed and a number, and what became of it."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
import time
import traceback

from fuzz.documents import originals
from fuzz.mutations import mutated
from fuzz.verdicts import judged


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
