"""
The judge of planned ways: pinocchio and coal, and no code of the package.

For robots with prismatic joints, joints that follow others, and several tips, whose links are
simple solids. All pairs of links are looked at but those that a joint connects, and all links that
move against all boxes.

"""

from collections.abc import Mapping, Sequence
from itertools import combinations, pairwise
import math
import xml.etree.ElementTree as ET

import coal
import numpy as np
import pinocchio

STEP = 0.005
"""No joint is farther from the last look [rad or m]."""
SLACK = 1e-4
"""Distances may be this much smaller [m]: they have errors."""
LIMIT_SLACK = 1e-9
"""[rad or m]"""


class PlanJudge:
    """
    Judges ways of one robot.

    Parameters
    ----------
    urdf : str
        The URDF text.
    joint_names : sequence of str
        The joints that joint values are for.
    boxes : mapping
        What stands around it: sizes [m] and centre in the root link, by name.
    clearance, box_clearance : float
        Distances that links keep from each other, and from boxes [m].

    """

    def __init__(
        self,
        urdf: str,
        joint_names: Sequence[str],
        boxes: Mapping[str, tuple[Sequence[float], Sequence[float]]],
        clearance: float = 0.002,
        box_clearance: float = 0.02,
    ) -> None:
        self._model = pinocchio.buildModelFromXML(urdf)
        self._data = self._model.createData()
        kind = pinocchio.GeometryType.COLLISION
        self._solids = pinocchio.buildGeomFromUrdfString(self._model, urdf, kind)
        self._names = tuple(joint_names)
        self._mimic = {
            joint.get('name'): (
                mimic.get('joint'),
                float(mimic.get('multiplier', '1')),
                float(mimic.get('offset', '0')),
            )
            for joint in ET.fromstring(urdf).findall('joint')
            if (mimic := joint.find('mimic')) is not None
        }
        self._clearances = self._pair_up(boxes, clearance, box_clearance)

    def _pair_up(self, boxes, clearance, box_clearance) -> list[float]:
        """Choose the pairs; return their clearances."""
        model, solids, clearances = self._model, self._solids, []
        own = len(solids.geometryObjects)
        for name, (size, centre) in boxes.items():
            placement = pinocchio.SE3(np.eye(3), np.array(centre))
            solids.addGeometryObject(pinocchio.GeometryObject(name, 0, placement, coal.Box(*size)))
        joints = [solid.parentJoint for solid in solids.geometryObjects]
        for a, b in combinations(range(len(joints)), 2):
            are_neighbours = model.parents[joints[b]] == joints[a]
            is_box = b >= own
            if joints[a] != joints[b] and (is_box or not are_neighbours):
                solids.addCollisionPair(pinocchio.CollisionPair(a, b))
                clearances.append(box_clearance if is_box else clearance)
        return clearances

    def nearest(self, q: np.ndarray) -> float:
        """Smallest distance beyond the clearances at joint values, shape (n,) [m]."""
        data = self._solids.createData()
        pinocchio.computeDistances(
            self._model, self._data, self._solids, data, self._configuration(q)
        )
        distances = [result.min_distance for result in data.distanceResults]
        return float(np.min(np.subtract(distances, self._clearances)))

    def place(self, q: np.ndarray, link: str) -> np.ndarray:
        """Where a link is, shape (3,) [m]."""
        frame = self._model.getFrameId(link, pinocchio.FrameType.BODY)
        pinocchio.framesForwardKinematics(self._model, self._data, self._configuration(q))
        return self._data.oMf[frame].translation.copy()

    def is_inside(self, q: np.ndarray) -> bool:
        """Whether all joints are inside their limits, those that follow others, too."""
        at, model = self._configuration(q), self._model
        return bool(
            np.all(at >= model.lowerPositionLimit - LIMIT_SLACK)
            and np.all(at <= model.upperPositionLimit + LIMIT_SLACK)
        )

    def fault(self, knots: np.ndarray) -> str:
        """Say what is wrong with the way straight over knots, shape (m, n); '' if nothing."""
        for a, b in pairwise(knots):
            for share in np.linspace(0.0, 1.0, 1 + math.ceil(np.abs(b - a).max() / STEP)):
                q = a + share * (b - a)
                if not self.is_inside(q):
                    return f'outside the limits at {q}'
                if (distance := self.nearest(q)) < -SLACK:
                    return f'{-distance:.6f} m too near at {q}'
        return ''

    def _configuration(self, q: np.ndarray) -> np.ndarray:
        """Values of all joints, those that follow others, too; none of these turns endlessly."""
        values = dict(zip(self._names, np.asarray(q).tolist(), strict=True))
        for name, (source, multiplier, offset) in self._mimic.items():
            values[name] = multiplier * values[source] + offset
        return np.array([values.get(name, 0.0) for name in list(self._model.names)[1:]])
