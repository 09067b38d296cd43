"""What became of the targets of a run, and whether that is well."""

from collections import Counter
from dataclasses import dataclass, field

SHARE_TO_PASS, SHARE_TO_PASS_LONG, LONG = 0.95, 0.99, 300.0
"""Share of the targets that have to be done [1], in a run that takes so long [s] or longer."""


@dataclass
class Tally:
    """Counts targets."""

    done: int = 0
    """Targets that were reached; out of reach, those that were answered with the reason."""
    left: list[tuple[float, float]] = field(default_factory=list)
    """Errors [m], [rad] with which each target was left."""
    answers: Counter[str] = field(default_factory=Counter)
    """How often each reason answered a target, in words."""
    interrupted: int = 0
    """Targets that others, on the page for example, replaced by their own; they are not judged."""

    @property
    def judged(self) -> int:
        """Number of targets that had their time."""
        return len(self.left)

    def leave(self, is_done: bool, errors: tuple[float, float], answer: str) -> None:
        """Book a target, its errors [m], [rad], and the reason that answered it, if one did."""
        self.done += is_done
        self.left.append(errors)
        if is_done and answer:
            self.answers[answer] += 1

    def went_well(self, duration: float, violation_count: int) -> bool:
        """Whether enough targets of a run [s] were done, and no command was out of bounds."""
        share = SHARE_TO_PASS_LONG if LONG <= duration < float('inf') else SHARE_TO_PASS
        return self.judged > 0 and self.done >= share * self.judged and violation_count == 0
