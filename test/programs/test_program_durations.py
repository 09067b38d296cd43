"""How long programs take, beside the shortest time by TOPP-RA on the same course."""

from fabrik_ros import FollowerOptions
from fabrik_ros.motion.choosing.motion import Motion
from fabrik_ros.motion.program_plan import driven
from fabrik_ros.planning.pieces import finish
from helpers import examples
import numpy as np
import pytest
from random_programs import random_program
from solving import judged

toppra = pytest.importorskip('toppra', reason='toppra is the judge')
pytest.importorskip('pinocchio', reason='pinocchio is the judge')
scipy_interpolate = pytest.importorskip('scipy.interpolate', reason='toppra brings scipy')

DT = 0.002
MEDIAN, WORST = 1.1, 1.15
"""Greatest durations, in shortest ones [1]; in those that can be stopped anywhere, too."""
WIDE = FollowerOptions(max_tip_speed=100.0, max_tip_rotation=100.0, max_tip_acceleration=1000.0)
"""Tips may do what joints can."""
NO_LIMIT = 1e6
PLACES = 400


class Course(toppra.interpolator.AbstractGeometricPath):
    """The curve of a leg, with the time at the asked speeds as one more joint."""

    def __init__(self, leg):
        self._places = leg.places
        values = np.column_stack([leg.knots, leg.places])
        slopes = np.column_stack([leg.slopes, np.ones(len(leg.places))])
        self._curve = scipy_interpolate.CubicHermiteSpline(leg.places, values, slopes)

    def __call__(self, places, order=0):
        return self._curve(places, order)

    @property
    def dof(self):
        return self._curve.c.shape[2]

    @property
    def path_interval(self):
        return self._places[[0, -1]]

    @property
    def waypoints(self):
        return self._places, self._curve(self._places)


class Stoppable(toppra.constraint.LinearConstraint):
    """
    Speeds from which joints can brake.

    Without it TOPP-RA goes through tight bends so fast that joints keep their limits only if it
    speeds up: nothing could stop there any more.

    """

    def __init__(self, hardest, width):
        super().__init__()
        self._hardest, self._width = hardest, width
        self.identical = True
        self.discretization_type = toppra.constraint.DiscretizationType.Collocation

    def compute_constraint_params(self, course, places):
        squares = [self._squares(course, places + side) for side in (-self._width, self._width)]
        most = np.minimum(*squares)
        return *(6 * [None]), np.column_stack([np.zeros_like(most), most])

    def _squares(self, course, places):
        """Greatest squared speeds at which each joint could go on as fast, shape (m,)."""
        slopes, bends = course(places, 1), course(places, 2)
        needed = np.maximum(-np.sign(slopes) * bends, 1e-12)
        return np.min(self._hardest / needed, axis=1)


def shortest(leg, limits, *, stoppable=False):
    """Find the shortest time of a leg by TOPP-RA; no faster than asked."""
    if len(leg.knots) == 1:
        return leg.pause
    fastest = np.append(limits.joint_velocity, 1.0)
    hardest = np.append(leg.acceleration * limits.joint_acceleration, NO_LIMIT)
    constraints = [
        toppra.constraint.JointVelocityConstraint(np.column_stack([-fastest, fastest])),
        toppra.constraint.JointAccelerationConstraint(np.column_stack([-hardest, hardest])),
    ]
    places = leg.places
    if stoppable:
        constraints.append(Stoppable(hardest, 1e-3 * np.diff(places).min()))
    evenly = np.linspace(places[0], places[-1], PLACES)
    grid = np.unique(np.concatenate([places, 0.5 * (places[1:] + places[:-1]), evenly]))
    found = toppra.algorithm.TOPPRA(constraints, Course(leg), grid, solver_wrapper='seidel')
    speeds = found.compute_parameterization(0.0, 0.0)[1]
    return float(np.sum(2.0 * np.diff(grid) / (speeds[1:] + speeds[:-1])))


def test_programs_take_little_longer_than_they_need():
    ratios, stoppable = [], []
    for name in ('ur5', 'panda'):
        chain, judge = judged(name)
        limits, rng = WIDE.limits_for(chain), np.random.default_rng(3)
        motion = Motion(chain, limits, WIDE.solver, WIDE.motion)
        for _ in range(examples(6, 40)):
            q = judge.random_configuration(rng, 0.3)
            q = q[[judge.joint_names.index(joint) for joint in chain.joint_names]]
            motion.reset(q)
            route = finish(motion.route(random_program(rng, chain, q, int(rng.integers(3, 8)))))
            if route.reason is None:
                duration = driven(motion, route, DT).times[-1]
                ratios.append(duration / sum(shortest(leg, limits) for leg in route.legs))
                least = sum(shortest(leg, limits, stoppable=True) for leg in route.legs)
                stoppable.append(duration / least)
    assert len(ratios) > 3
    assert np.median(ratios) <= MEDIAN, ratios
    assert np.max(stoppable) <= WORST, stoppable
    assert np.max(ratios) <= WORST, ratios
