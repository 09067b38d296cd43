"""
What the shapes that collisions are checked with take away from robots, beside their raw meshes.

Random configurations are judged by pinocchio and coal on the triangles of the meshes as they are.
Of those that are clear by 2 mm, how many does `SelfCollision` call free? And of those in contact,
how many does it call free with a clearance of 0: there may be none. The same pairs of links count
for both. The time to make it is what it takes the second time, when the parts of meshes are kept.
Units of COLLADA files are not read by the judge: robots have to be in metres.

    python benchmark/experiments/shapes.py --robots ur5 panda --count 1000

"""

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
import itertools
from pathlib import Path
import sys
import time

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / 'test'))

import coal
from fabrik_ros import Chain, load_urdf
from fabrik_ros.collision import SelfCollision
from helpers import example_robot, REAL_ARMS
import numpy as np
import pinocchio

CLEAR = 0.002
"""A configuration is clear if all raw meshes are farther apart [m]."""
ROBOTS = 'ur5', 'ur10', 'panda', 'xarm7', 'jaco', 'so101'


class RawMeshes:
    """
    Triangles of the links of a robot, at configurations of its arm.

    Parameters
    ----------
    urdf : path
        The robot; packages are looked for in the folders that it lies in.
    chain : Chain
        The arm.
    others : mapping
        Values of joints outside the arm, by name [rad or m]; 0 where they are left out.
    pairs : sequence of (str, str)
        Names of the links that are looked at.

    """

    def __init__(
        self,
        urdf: Path,
        chain: Chain,
        others: Mapping[str, float],
        pairs: Sequence[tuple[str, str]],
    ) -> None:
        self._model = pinocchio.buildModelFromUrdf(str(urdf))
        folders = list(map(str, urdf.parents))
        kind = pinocchio.GeometryType.COLLISION
        self._solids = pinocchio.buildGeomFromUrdf(
            self._model, str(urdf), kind, package_dirs=folders
        )
        self._q = pinocchio.neutral(self._model)
        for name, value in others.items():
            self._set(name, value)
        self._names = chain.joint_names
        solids = self._solids.geometryObjects
        links = [self._model.frames[solid.parentFrame].name for solid in solids]
        wanted = {frozenset(pair) for pair in pairs}
        for a, b in itertools.combinations(range(len(links)), 2):
            if frozenset((links[a], links[b])) in wanted:
                self._solids.addCollisionPair(pinocchio.CollisionPair(a, b))
        self._data, self._look = self._model.createData(), self._solids.createData()

    @property
    def triangles(self) -> int:
        """How many there are, in all meshes [1]."""
        shapes = (solid.geometry for solid in self._solids.geometryObjects)
        return sum(shape.num_tris for shape in shapes if isinstance(shape, coal.BVHModelBase))

    def are_within(self, margin: float, values: np.ndarray) -> bool:
        """Whether two links come as near as a margin [m], at joint values of shape (n,)."""
        for name, value in zip(self._names, values, strict=True):
            self._set(name, value)
        for request in self._look.collisionRequests:
            request.security_margin = margin
        return pinocchio.computeCollisions(
            self._model, self._data, self._solids, self._look, self._q, True
        )

    def _set(self, name: str, value: float) -> None:
        joint = self._model.joints[self._model.getJointId(name)]
        turns = joint.nq == 2  # a continuous joint has cosine and sine
        given = (np.cos(value), np.sin(value)) if turns else (value,)
        self._q[joint.idx_q : joint.idx_q + joint.nq] = given


@dataclass
class Counts:
    """What came of the configurations of a robot [1]."""

    clear: int = 0
    free: int = 0
    """Clear ones that are free for us."""
    touching: int = 0
    missed: int = 0
    """Contacts that are free for us with a clearance of 0."""


def compared(raw: RawMeshes, ours: SelfCollision, chain: Chain, count: int, seed: int) -> Counts:
    """Judge random configurations."""
    counts, rng = Counts(), np.random.default_rng(seed)
    for q in (chain.random_configuration(rng) for _ in range(count)):
        if not raw.are_within(CLEAR, q):
            counts.clear += 1
            counts.free += ours.is_collision_free(q)
        elif raw.are_within(0.0, q):
            counts.touching += 1
            counts.missed += ours.distance(q).distance > 0.0
    return counts


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split('\n\n')[0])
    parser.add_argument('--robots', nargs='*', default=ROBOTS, help=f'default: {" ".join(ROBOTS)}')
    parser.add_argument('--count', type=int, default=1000, help='configurations of each')
    parser.add_argument('--seed', type=int, default=1)
    options = parser.parse_args()
    print('robot, triangles, pairs of links, time to make [s], clear by 2 mm, of these free '
          'for us, contacts, of these missed')  # fmt: skip
    for name in options.robots:
        real = REAL_ARMS[name]
        urdf = example_robot(name)
        robot = load_urdf(urdf)
        chain = robot.chain(real.base_link or None, real.tip_link)
        SelfCollision(robot, chain)
        begin = time.perf_counter()
        ours = SelfCollision(robot, chain)
        taken = time.perf_counter() - begin
        assert not ours.missing, ours.missing
        raw = RawMeshes(urdf, chain, ours.other_joints, ours.pairs)
        found = compared(raw, ours, chain, options.count, options.seed)
        share = 100.0 * found.free / max(found.clear, 1)
        print(f'{name:8} {raw.triangles:7d} {len(ours.pairs):3d} {taken:6.2f} {found.clear:6d} '
              f'{share:6.2f} % {found.touching:6d} {found.missed:3d}', flush=True)  # fmt: skip
        for shape in ours.shapes:
            print(f'    {shape}', flush=True)


if __name__ == '__main__':
    main()
