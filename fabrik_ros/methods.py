"""Which solver does what the options ask for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast, Protocol, TYPE_CHECKING

from .errors import check_kind
from .model.arm_checks import check_arm
from .model.chain import Chain
from .model.mechanism import Mechanism
from .model.tree import Tree
from .solver.chain_solver import FabrikSolver, is_redundant
from .solver.options import SolverOptions
from .solver.solution import Solution
from .solver.tree_solver import JOINTS_FOR_A_POSE, TipOptions, TreeSolver
from .transforms import Array

if TYPE_CHECKING:
    from .textbook.arm.point_arm_solver import PointArmSolver


def make_solver(
    chain: Chain, options: SolverOptions | None = None
) -> FabrikSolver | PointArmSolver:
    """
    Make the solver for the method that the options name.

    Both have `solve`, `solve_within` and `warm_up`.

    Parameters
    ----------
    chain : Chain
        The arm.
    options : SolverOptions, optional
        What is asked; `method` decides.

    Raises
    ------
    TypeError
        If the chain is something else, as a robot or a path; says how to get one.
    ChainError
        If the method is 'points' and a joint of the arm follows another.

    Examples
    --------
    >>> from fabrik_ros import example_arm, load_urdf
    >>> chain = load_urdf(example_arm('planar_two_link')).chain()
    >>> type(make_solver(chain, SolverOptions(method='points'))).__name__
    'PointArmSolver'

    """
    options = SolverOptions() if options is None else options
    check_kind('options', options, SolverOptions)
    if options.method == 'points':
        from .textbook.arm.point_arm_solver import PointArmSolver

        return PointArmSolver(chain, options)
    return FabrikSolver(chain, options)


class TipsSolver(Protocol):
    """Finds joint values for poses of shape (k, 4, 4), one for each tip of a robot."""

    def solve(self, targets: Array, seed: Array, /) -> Solution:
        """Find joint values, shape (n,), starting from others."""
        ...

    def solve_within(self, targets: Array, seed: Array, lower: Array, upper: Array, /) -> Solution:
        """Find joint values, each within bounds of its own, shape (n,)."""
        ...

    def warm_up(self) -> float:
        """Compile what is needed; returns how long that took [s]."""
        ...


class SingleTipSolver:
    """A solver of a chain, asked as one of several tips of which there is one."""

    def __init__(self, chain: Chain, options: SolverOptions) -> None:
        self._solver = make_solver(chain, options)

    def solve(self, targets: Array, seed: Array, /) -> Solution:
        """Find joint values, shape (n,), for a pose of shape (1, 4, 4)."""
        return self._solver.solve(targets[0], seed)

    def solve_within(self, targets: Array, seed: Array, lower: Array, upper: Array, /) -> Solution:
        """Find joint values, each within bounds of its own, shape (n,)."""
        return self._solver.solve_within(targets[0], seed, lower, upper)

    def warm_up(self) -> float:
        """Compile what is needed; returns how long that took [s]."""
        return self._solver.warm_up()


def make_tips_solver(
    robot: Mechanism, options: SolverOptions, tips: Mapping[str, TipOptions] | None = None
) -> TipsSolver:
    """
    Make a solver for poses of shape (k, 4, 4), for a chain (k = 1) or a tree.

    Parameters
    ----------
    robot : Chain or Tree
        The joints.
    options : SolverOptions
        What is asked.
    tips : mapping, optional
        What is asked of the tips of a tree, `TipOptions` by tip link.

    """
    if isinstance(robot, Chain):
        return SingleTipSolver(robot, options)
    check_arm(robot, 'robot', Chain, Tree)
    return TreeSolver(cast(Tree, robot), options, tips)


def orientation_yields(robot: Mechanism, options: SolverOptions) -> bool:
    """Whether there is a single tip with too few joints for poses, in mode 'auto'."""
    is_few = isinstance(robot, Chain) and len(robot) < JOINTS_FOR_A_POSE
    return is_few and options.mode == 'auto'


def leaves_choice(robot: Mechanism, options: SolverOptions) -> bool:
    """Whether there is a single tip with more joints than its task needs."""
    return isinstance(robot, Chain) and is_redundant(robot, options)
