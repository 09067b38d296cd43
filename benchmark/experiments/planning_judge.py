"""
A judge of ways among obstacles: pinocchio and coal, on the triangles of the meshes as they are.

All pairs of links are looked at but those that are said to be allowed and those that no joint of
the arm moves; and all links that move against all obstacles. A way is looked at such that no point
of the arm moves by more than `STEP` between two looks. Where all is farther apart than a margin,
the next look is that margin farther on.

"""

from collections.abc import Iterable, Sequence
import itertools
from pathlib import Path

import coal
from fabrik_ros.collision import Scene
from fabrik_ros.model.geometry import Box, Cylinder, Sphere
import numpy as np
import pinocchio

STEP = 0.001
"""[m]."""
MARGINS = (0.1, 0.03, 0.01, 0.003)
"""[m]."""
LIMIT_SLACK = 1e-9
"""A joint may be this far outside a limit [rad or m]: rounding."""


class RawJudge:
    """
    Judges the ways of an arm with revolute joints in a row.

    Parameters
    ----------
    urdf : path
        The robot.
    packages : path
        Folder that packages with meshes are in.
    joint_names : sequence of str
        The joints of the arm, from base to tip; others stand at `values`.
    values : mapping
        Values of the other joints [rad or m].
    allowed : iterable of (str, str)
        Names of links that may touch.
    with_hulls : bool
        Whether convex hulls take the place of the meshes: quicker, and never smaller.

    """

    def __init__(
        self,
        urdf: Path,
        packages: Path,
        joint_names: Sequence[str],
        values: dict[str, float],
        allowed: Iterable[tuple[str, str]],
        with_hulls: bool = False,
    ) -> None:
        whole = pinocchio.buildModelFromUrdf(str(urdf))
        kind = pinocchio.GeometryType.COLLISION
        solids = pinocchio.buildGeomFromUrdf(whole, str(urdf), kind, package_dirs=[str(packages)])
        if with_hulls:
            for solid in solids.geometryObjects:
                if isinstance(solid.geometry, coal.BVHModelBase):
                    solid.geometry.buildConvexHull(True, 'Qt')
                    solid.geometry = solid.geometry.convex
        reference = pinocchio.neutral(whole)
        others = [i for i in range(1, whole.njoints) if whole.names[i] not in joint_names]
        for i in others:
            reference[whole.joints[i].idx_q] = values[whole.names[i]]
        links = [whole.frames[solid.parentFrame].name for solid in solids.geometryObjects]
        self.model, self._own = pinocchio.buildReducedModel(whole, solids, others, reference)
        assert list(self.model.names)[1:] == list(joint_names)
        self._links, self._allowed = links, {frozenset(pair) for pair in allowed}
        self.data = self.model.createData()
        self._levers = self._reaches()
        self.set_scene(Scene())

    def set_scene(self, scene: Scene) -> None:
        """Put obstacles round the arm; they stand in its base link."""
        self.solids = self._own.copy()
        for obstacle in scene:
            T = pinocchio.SE3(obstacle.T_link_obstacle)
            self.solids.addGeometryObject(
                pinocchio.GeometryObject(obstacle.name, 0, T, _geometry(obstacle.shape))
            )
        own, objects = len(self._links), list(self.solids.geometryObjects)
        self.solids.removeAllCollisionPairs()
        for a, b in itertools.combinations(range(len(objects)), 2):
            moves = objects[a].parentJoint != objects[b].parentJoint
            is_allowed = b < own and frozenset((self._links[a], self._links[b])) in self._allowed
            if moves and not is_allowed:
                self.solids.addCollisionPair(pinocchio.CollisionPair(a, b))
        self._looks = {margin: self._look(margin) for margin in (*MARGINS, 0.0)}

    def is_free(self, q: np.ndarray, margin: float = 0.0) -> bool:
        """Whether nothing touches, or comes within a margin, at joint values of shape (n,)."""
        look = self._looks[margin]
        return not pinocchio.computeCollisions(self.model, self.data, self.solids, look, q, True)

    def tip_pose(self, q: np.ndarray, link: str) -> np.ndarray:
        """Pose of a link in the root link, shape (4, 4)."""
        frame = self.model.getFrameId(link, pinocchio.FrameType.BODY)
        pinocchio.framesForwardKinematics(self.model, self.data, q)
        return self.data.oMf[frame].homogeneous

    def fault(self, knots: np.ndarray) -> str:
        """Say what is wrong with the way that leads straight over knots, (m, n); '' if nothing."""
        lower, upper = self.model.lowerPositionLimit, self.model.upperPositionLimit
        if np.any(knots < lower - LIMIT_SLACK) or np.any(knots > upper + LIMIT_SLACK):
            return 'a joint is outside its limits'
        until = 0.0  # up to here the way is known to be free
        lengths = np.abs(np.diff(knots, axis=0)) @ self._levers
        places = np.concatenate([[0.0], np.cumsum(lengths)])
        while until <= places[-1]:
            i = min(int(np.searchsorted(places, until, side='right')) - 1, len(lengths) - 1)
            share = (until - places[i]) / max(lengths[i], 1e-12)
            q = knots[i] + min(share, 1.0) * (knots[i + 1] - knots[i])
            margin = next((margin for margin in MARGINS if self.is_free(q, margin)), 0.0)
            if margin == 0.0 and not self.is_free(q):
                return f'contact after {until:.3f} m of {places[-1]:.3f} m'
            until += max(margin, STEP)
        return '' if self.is_free(knots[-1]) else 'contact at the end'

    def _look(self, margin: float) -> pinocchio.GeometryData:
        look = self.solids.createData()
        for request in look.collisionRequests:
            request.security_margin = margin
        return look

    def _reaches(self) -> np.ndarray:
        """How far from each joint axis anything that it moves can be, shape (n,) [m]."""
        reach = np.zeros(self.model.njoints)
        for solid in self._own.geometryObjects:
            shape, joint = solid.geometry, solid.parentJoint
            shape.computeLocalAABB()
            farthest = np.linalg.norm(solid.placement.act(shape.aabb_center)) + shape.aabb_radius
            reach[joint] = max(reach[joint], farthest)
        for i in range(self.model.njoints - 1, 1, -1):
            offset = np.linalg.norm(self.model.jointPlacements[i].translation)
            reach[i - 1] = max(reach[i - 1], offset + reach[i])
        return reach[1:]


def _geometry(shape: Box | Cylinder | Sphere) -> coal.CollisionGeometry:
    match shape:
        case Box(size):
            return coal.Box(*size)
        case Cylinder(radius, length):
            return coal.Cylinder(radius, length)
        case Sphere(radius):
            return coal.Sphere(radius)
    raise ValueError(f'unknown shape {shape}')
