"""What a solver has to look like to be measured, and our own."""

from typing import ClassVar, NamedTuple

from arms import Arm
import fabrik_ros
from fabrik_ros.transforms import Array

TOLERANCE = 1e-6
"""For position [m] and orientation [rad]."""


class Answer(NamedTuple):
    """What a solver answers to one target."""

    q: Array | None
    """Joint values, shape (n,) [rad or m]; None where it gives none."""
    claimed: bool | None
    """Whether the solver says that this is a solution; None where it never says."""


class Solver:
    """One solver, set up for one arm; its constructor raises where it cannot take the arm."""

    name: ClassVar[str]
    most: ClassVar[int] = 1_000_000
    """It is given at most this many targets of an arm, to bound the time a slow one takes."""
    threads: ClassVar[int] = 1

    def prepare(self, target: Array, seed: Array) -> tuple:
        """Turn a pose (4, 4) and joint values (n,) into the arguments of `ask`; not timed."""
        return target, seed

    def ask(self, *arguments: object) -> object:
        """Solve; this is timed, and is the public call itself wherever there is one."""
        raise NotImplementedError

    def read(self, raw: object, seed: Array) -> Answer:
        """Turn what `ask` returned into an answer; not timed."""
        raise NotImplementedError


class Fabrik(Solver):
    """This package as it comes, but for the tolerances."""

    name = 'fabrik_ros'
    polish = 'auto'

    def __init__(self, arm: Arm) -> None:
        options = fabrik_ros.SolverOptions(
            mode=arm.mode,
            polish=self.polish,
            position_tolerance=TOLERANCE,
            orientation_tolerance=TOLERANCE,
        )
        self.ask = fabrik_ros.FabrikSolver(arm.chain, options).solve

    def read(self, raw: fabrik_ros.Solution, seed: Array) -> Answer:
        return Answer(raw.q, raw.converged)


class FabrikAlone(Fabrik):
    """This package without its Levenberg-Marquardt steps."""

    name = 'fabrik_ros, no polish'
    polish = 'never'
