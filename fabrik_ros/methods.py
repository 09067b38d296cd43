"""Which solver does what the options ask for."""

from .model.chain import Chain
from .points_arm.point_arm_solver import PointArmSolver
from .solver.chain_solver import FabrikSolver
from .solver.options import SolverOptions

SOLVERS: dict[str, type[FabrikSolver] | type[PointArmSolver]] = {
    'articulated': FabrikSolver,
    'points': PointArmSolver,
}


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
    ChainError
        If the method is 'points' and a joint of the arm follows another.

    Examples
    --------
    >>> from fabrik_ros import example_arm, load_urdf
    >>> chain = load_urdf(example_arm('planar_two_link')).chain()
    >>> type(make_solver(chain, SolverOptions(method='points'))).__name__
    'PointArmSolver'

    """
    options = options or SolverOptions()
    return SOLVERS[options.method](chain, options)
