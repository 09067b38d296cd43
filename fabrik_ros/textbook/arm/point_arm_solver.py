"""
FABRIK on joint centres, then angles: the way an arm is often first driven by FABRIK.

Joint centres of the seed, FABRIK on these as on bare points, joint values from the points, and
what came of it by forward kinematics. It is exact where points are all there is to an arm: joints
in one plane. Elsewhere FABRIK moves the points to where the arm cannot bring them, and the joint
values miss. Doing it again from there helps often, not always: see `docs/fabrik.md`.

"""

from __future__ import annotations

import time

import numpy as np
import numpy.typing as npt

from ...errors import check_kind, TargetError
from ...model.arm_checks import check_arm
from ...model.chain import Chain
from ...solver.options import SolverOptions
from ...solver.solution import Solution
from ...transforms import Array, as_pose, transform, why_no_pose
from .point_layout import PointLayout
from .point_search import PointPass, PointSearch
from .point_values import bounds, check_no_mimic_joint, SWEEPS


class PointArmSolver:
    """
    Inverse kinematics of one chain by FABRIK on its joint centres.

    It has the face of `FabrikSolver`. It is exact, as long as no limit is in the way, for planar
    arms (all axes parallel) and for those on a base that turns about an axis square to theirs; on
    others it misses, by how much `docs/fabrik.md` tells. It makes
    passes, each from where the last one ended, until the target is reached, the budget is over, or
    six in a row have brought nothing; no restarts, no polish steps. Joint values never leave the
    limits, nor `max_joint_move`: where the points ask for more a joint stops there, and the
    status tells whether the target is reached all the same.

    Parameters
    ----------
    chain : Chain
        The arm; without mimic joints.
    options : SolverOptions, optional
        What is asked of it, with method 'points'. `polish` and `max_restarts` mean nothing here.
        In mode 'auto' with fewer than six joints the whole pose is sought where the method is
        exact; else the position, and joints that move no joint centre turn to the orientation.

    Raises
    ------
    TypeError
        If the chain is something else, as a robot or a path; says how to get one.
    ChainError
        If the arm has a mimic joint.
    ValueError
        If the options are for another method.

    Examples
    --------
    >>> from fabrik_ros import example_arm, load_urdf
    >>> chain = load_urdf(example_arm('planar_two_link')).chain()
    >>> solver = PointArmSolver(chain, SolverOptions(method='points', mode='position'))
    >>> target = chain.forward_kinematics([0.3, 0.9])
    >>> solution = solver.solve(target, seed=[0.2, 0.8])
    >>> solution.status.name, solution.q.round(3)
    ('CONVERGED', array([0.3, 0.9]))

    """

    def __init__(self, chain: Chain, options: SolverOptions | None = None) -> None:
        check_arm(chain, 'chain', Chain)
        self.chain = chain
        self.options = SolverOptions(method='points') if options is None else options
        check_kind('options', self.options, SolverOptions)
        if self.options.method != 'points':
            raise ValueError(
                f"PointArmSolver is for method 'points', got '{self.options.method}'; "
                'make_solver chooses the solver'
            )
        check_no_mimic_joint(chain)
        self._layout = PointLayout(chain)

    def __repr__(self) -> str:
        return f'PointArmSolver({self.chain!r}, {self.options!r})'

    def solve(self, target: npt.ArrayLike, seed: npt.ArrayLike | None = None) -> Solution:
        """
        Find joint values that put the tip on the target.

        Parameters
        ----------
        target : array-like
            T_base_tip, shape (4, 4); or in mode 'position' a point in the base frame, shape
            (3,) [m].
        seed : array-like, shape (n,), optional
            Where FABRIK starts [rad or m], brought inside the limits. Left out, the middle of
            the limits.

        Returns
        -------
        Solution
            The best configuration found, and what it is worth by forward kinematics.

        Raises
        ------
        TargetError
            If the target is not a pose: another shape, not finite, not a rotation.
        JointValueError
            If the seed has another shape or is not finite.

        """
        T, begin = self._pose(target), self._seed(seed)
        move = self.options.max_joint_move
        lower = np.maximum(self.chain.lower, begin - move)
        upper = np.minimum(self.chain.upper, begin + move)
        return self._searched(T, begin, lower, upper)

    def solve_within(
        self,
        target: npt.ArrayLike,
        seed: npt.ArrayLike,
        lower: npt.ArrayLike,
        upper: npt.ArrayLike,
    ) -> Solution:
        """
        Find joint values that put the tip on the target, each within bounds of its own.

        Parameters
        ----------
        target, seed : array-like
            As for `solve`; the seed is brought inside the bounds.
        lower, upper : array-like, shape (n,)
            Bounds [rad or m], which hold beside the limits of the arm. Bounds that lie outside
            of those come to lie on the limit next to them.

        Raises
        ------
        TargetError
            If the target is not a pose.
        JointValueError
            If seed or bounds have another shape or a value that is no number, or the bounds of a
            joint cross.

        """
        least, most = bounds(self.chain, lower, upper)
        begin = np.clip(self.chain.checked(seed, 'seed'), least, most)
        return self._searched(self._pose(target), begin, least, most)

    def single_pass(
        self,
        target: npt.ArrayLike,
        seed: npt.ArrayLike | None = None,
        sweeps: int = SWEEPS,
    ) -> PointPass:
        """
        Do literally what the method says, once: centres, FABRIK, joint values.

        Parameters
        ----------
        target, seed : array-like
            As for `solve`. In mode 'auto' with fewer than six joints the position counts alone.
        sweeps : int
            As for `values_from_points`.

        Raises
        ------
        TargetError
            If the target is not a pose.
        JointValueError
            If the seed has another shape or is not finite.

        """
        T, begin = self._pose(target), self._seed(seed)
        search = self._opened(T, begin, self.chain.lower, self.chain.upper)
        whole = search.orients and not search.yields
        return search.pass_from(begin, whole, sweeps)

    def warm_up(self) -> float:
        """Compile the little that is compiled and return how long that took [s]."""
        begin = time.perf_counter()
        self.single_pass(transform(np.eye(3), self.chain.root_point))
        return time.perf_counter() - begin

    def _searched(self, T: Array, begin: Array, lower: Array, upper: Array) -> Solution:
        search = self._opened(T, begin, lower, upper)
        if search.is_reached():
            return search.solution()
        if search.yields:
            search.run_yielding()
        else:
            search.run(whole=search.orients)
        return search.solution()

    def _opened(self, T: Array, begin: Array, lower: Array, upper: Array) -> PointSearch:
        return PointSearch(self._layout, self.options, T, begin, lower, upper)

    def _seed(self, seed: npt.ArrayLike | None) -> Array:
        """Return the seed inside the limits, shape (n,)."""
        if seed is None:
            return self.chain.mid_configuration()
        return np.clip(self.chain.checked(seed, 'seed'), self.chain.lower, self.chain.upper)

    def _pose(self, target: npt.ArrayLike) -> Array:
        """Return the target as a pose of shape (4, 4), or raise TargetError."""
        T: Array = np.array(target, dtype=np.float64)
        if T.shape == (3,) and self.options.mode == 'position':
            T = transform(np.eye(3), T)
        if T.shape != (4, 4):
            raise TargetError(f'target has shape {T.shape}, expected a pose of shape (4, 4)')
        if not np.isfinite(T).all():
            raise TargetError('target has entries that are not finite')
        if why := why_no_pose(T):
            raise TargetError(f'target is not a pose: {why}; got {T.tolist()}')
        return as_pose(T)
