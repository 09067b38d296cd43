"""
Try an installed wheel, on the system that it was made for: built kernels, and right answers.

Needs numpy and xacro. Run it where the working directory is no checkout.

"""

from fabrik_ros import example_arm, FabrikSolver, load_urdf
from fabrik_ros.kernels import _jit
import numpy as np

COUNT, LEAST = 200, 190
CLOSE = 1e-4
"""Greatest difference of a pose that counts as met [m or 1]."""


def main() -> None:
    """End with an error where the wheel is not what it should be."""
    assert _jit.IS_BUILT, f'no built kernels: {_jit.WHY_NOT_BUILT}'
    chain = load_urdf(example_arm('six_axis')).chain()
    rng, solver, met = np.random.default_rng(1), FabrikSolver(chain), 0
    for _ in range(COUNT):
        T = chain.forward_kinematics(rng.uniform(chain.lower, chain.upper))
        found = solver.solve(T, seed=chain.mid_configuration())
        reached = chain.forward_kinematics(found.q)
        assert not found.converged or np.abs(reached - T).max() < CLOSE, found
        met += found.converged
    print(f'{met} of {COUNT} poses met')
    assert met >= LEAST


if __name__ == '__main__':
    main()
