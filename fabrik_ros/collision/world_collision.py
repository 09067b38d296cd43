"""How near the links of a robot are to each other and to what stands around them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
import math

import numpy as np

from ..errors import SceneError
from ..transforms import Array
from .checked_pairs import CheckedPairs
from .distances import PairDistances, prismatic_limits
from .meshes import MeshFinder
from .motion_bounds import MotionBounds
from .scene import Obstacle, Scene
from .self_collision import SelfCollision
from .solid_frames import SolidFrames
from .solids import Solid, solid_of_obstacle

OBSTACLE_CLEARANCE = 0.02
"""Distance that links keep from obstacles by default [m]."""
EASE = 0.001
"""Links that are too near at the start may come this much nearer [m]."""


@dataclass(frozen=True, eq=False)
class ObstaclePair:
    """A solid of the robot or an attached obstacle, and an obstacle."""

    name_a: str
    """Of the link, or of the attached obstacle."""
    name_b: str
    """Of the obstacle."""
    solids: tuple[int, int]
    motion_bounds: Array
    """Largest change of their distance for a unit of each joint value, shape (v,)."""


class WorldCollision(CheckedPairs):
    """
    Distances between the links of a robot, and between them and obstacles, as an arm moves.

    Pairs that no joint of the arm moves against each other are not checked.

    Parameters
    ----------
    own : SelfCollision
        The pairs of links of the robot.
    scene : Scene
        The obstacles.
    clearance : float
        Distance that links and what they carry keep from obstacles [m].
    finder : MeshFinder, optional
        Finds the meshes of obstacles; left out, in packages of ROS.
    checks_links : bool
        Whether pairs of links are checked, too.

    Attributes
    ----------
    scene : Scene
        The obstacles in force; `set_scene` changes them.

    Raises
    ------
    SceneError
        If an obstacle cannot be loaded, or names a link that the robot does not have.

    """

    def __init__(
        self,
        own: SelfCollision,
        scene: Scene,
        *,
        clearance: float = OBSTACLE_CLEARANCE,
        finder: MeshFinder | None = None,
        checks_links: bool = True,
    ) -> None:
        if not 0.0 <= clearance < math.inf:
            raise SceneError(
                f'the clearance of obstacles is {clearance}; expected a length of 0 m or more'
            )
        super().__init__(
            own.mechanism,
            own.frames,
            own.distances,
            own.clearances,
            [own.links(p) for p in range(len(own.distances))],
        )
        self._own, self._own_count = own, len(own.distances) if checks_links else 0
        self._clearance = clearance
        self._finder = finder or MeshFinder()
        self._solids: dict[Obstacle, Solid] = {}
        self._ends: list[tuple[object, object]] = [(p, p) for p in range(self._own_count)]
        """What each pair consists of: it is the same pair as long as that is the same."""
        bounds = MotionBounds(own.frames.model, own.frames.moving, own.solids)
        count = len(own.frames.names)
        self._bounds_in_root = [bounds.in_root(a, count) for a in range(len(own.solids))]
        self.set_scene(scene)

    def __repr__(self) -> str:
        return f'WorldCollision({len(self.distances)} pairs, {self.scene})'

    def set_scene(self, scene: Scene) -> Mapping[int, int]:
        """
        Replace all obstacles; nothing changes if one cannot be loaded.

        What is known of obstacles that stay is known of them on.

        Returns
        -------
        mapping
            The new numbers of pairs that stay, by their numbers before.

        Raises
        ------
        SceneError
            If an obstacle cannot be loaded, or names a link that the robot does not have.

        """
        own, count = self._own, self._own_count
        scene.check_links(own.robot)
        loaded = {obstacle: self._solid_of(obstacle) for obstacle in scene}
        solids = [*own.solids, *loaded.values()]
        frames = SolidFrames(own.robot, own.mechanism, solids)
        frames.set_other_joints(self.frames.other_joints)
        added = list(self._pairs(scene, solids, frames))
        bounds = [own.distances.motion_bounds[:count], *(p.motion_bounds[None] for p in added)]
        distances = PairDistances(
            frames,
            solids,
            [*own.distances.pairs[:count], *(pair.solids for pair in added)],
            np.concatenate(bounds),
            *prismatic_limits(own.mechanism),
        )
        parts = [*range(len(own.solids)), *scene]
        ends = self._ends[:count] + [(parts[a], parts[b]) for a, b in (p.solids for p in added)]
        number_of = {pair: number for number, pair in enumerate(ends)}
        numbers = {p: number_of[pair] for p, pair in enumerate(self._ends) if pair in number_of}
        distances.take_over(self.distances, numbers)
        clearances = np.concatenate([own.clearances[:count], np.full(len(added), self._clearance)])
        clearances[list(numbers.values())] = self.clearances[list(numbers)]
        names = [own.links(p) for p in range(count)]
        self._names = names + [(pair.name_a, pair.name_b) for pair in added]
        self.scene, self.frames, self.distances = scene, frames, distances
        self.clearances, self._ends, self._solids = clearances, ends, loaded
        self.version += 1
        return numbers

    def _solid_of(self, obstacle: Obstacle) -> Solid:
        known = self._solids.get(obstacle)
        root = self._own.robot.root_link
        return solid_of_obstacle(obstacle, root, self._finder) if known is None else known

    def keep_distances_at(self, q: Array) -> None:
        """
        Let links that are nearer to obstacles than their clearance keep the distance they have.

        Arms stand on tables: their first links turn there, as near as they always are. What
        touches at `q`, shape (n,), may only move apart: see `CollisionGuard`.
        """
        before, self.clearances = self.clearances, self.clearances.copy()
        self.clearances[self._own_count :] = self._clearance
        for p in self.distances.due(q, self.clearances):
            distance = self.distances.measure(int(p), q)
            if p >= self._own_count and 0.0 < distance <= self._clearance:
                kept = before[p] < self._clearance and before[p] < distance
                self.clearances[p] = before[p] if kept else max(distance - EASE, 0.0)

    def _pairs(
        self, scene: Scene, solids: list[Solid], frames: SolidFrames
    ) -> Iterator[ObstaclePair]:
        """Pair up links with obstacles, and obstacles that links carry with the others."""
        links = len(self._own.solids)
        moves = [bool(bounds[: len(self.mechanism)].any()) for bounds in self._bounds_in_root]
        attached = [o for o in enumerate(scene, links) if o[1].link]
        for b, obstacle in enumerate(scene, links):
            if obstacle.link:
                continue
            for a, solid in enumerate(solids[:links]):
                if moves[a] and solid.link not in obstacle.touch_links:
                    yield ObstaclePair(solid.link, obstacle.name, (a, b), self._bounds_in_root[a])
        if attached:
            yield from self._pairs_of_attached(scene, attached, solids, frames)

    def _pairs_of_attached(
        self,
        scene: Scene,
        attached: list[tuple[int, Obstacle]],
        solids: list[Solid],
        frames: SolidFrames,
    ) -> Iterator[ObstaclePair]:
        """Pair up obstacles that links carry with all else that may come near them."""
        bounds = MotionBounds(frames.model, frames.moving, solids)
        names = [solid.link for solid in self._own.solids] + [o.name for o in scene]
        carriers = [solid.link for solid in self._own.solids] + [o.link for o in scene]
        touched = {number: {o.link, *o.touch_links} for number, o in attached}
        for b, obstacle in attached:
            others = (a for a in range(len(solids)) if a not in touched or a < b)
            for a in others:
                may_touch = carriers[a] in touched[b] or obstacle.link in touched.get(a, ())
                between = bounds.between(a, b, len(frames.names))
                if not may_touch and between[: len(self.mechanism)].any():
                    yield ObstaclePair(names[a], obstacle.name, (a, b), between)
