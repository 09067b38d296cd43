"""How near the links of a robot are to each other and to what stands around them."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping
from dataclasses import dataclass
import math

import numpy as np
import numpy.typing as npt

from ..errors import SceneError
from ..transforms import Array
from .checked_pairs import CheckedPairs
from .distances import PairDistances, prismatic_limits
from .meshes import MeshFinder
from .motion_bounds import MotionBounds
from .point_cells import PointCells
from .robot_shape import RobotShape
from .scene import Obstacle, Scene
from .self_collision import SelfCollision
from .solid_frames import SolidFrames
from .solids import MissingGeometry, Solid, solid_of_cells, solid_of_obstacle

OBSTACLE_CLEARANCE = 0.02
"""Distance that links keep from obstacles by default [m]."""
EASE = 0.001
"""Links that are too near at the start may come this much nearer [m]."""
APART = 2.0
"""A link that is so many clearances from an obstacle has to keep its whole clearance again [1]."""
ELSEWHERE = 0.1
"""A link that has moved so far may keep less from what is new there [m]."""
ROUNDING = 1e-6
"""Links that have moved by less are where they were [m]."""


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
    CollisionUnavailableError
        If there are obstacles, but a shape is missing of a link that the arm moves.
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
        self._checks_links = checks_links
        self._clearance = clearance
        self._finder = finder or MeshFinder()
        self._solids: dict[Obstacle, Solid] = {}
        self._ends: list[tuple[object, object]] = [(p, p) for p in range(self._own_count)]
        """What each pair consists of: it is the same pair as long as that is the same."""
        self._keys: list[tuple[object, object]] = list(self._ends)
        """The same, with obstacles by their names: one that has moved is no other obstacle."""
        self._unmet: set[tuple[object, object]] = set()
        """Keys of pairs that are new."""
        self._whole: Array = np.empty(0)
        """Clearances of the pairs with obstacles, that they keep once they have come apart [m]."""
        self._places: dict[object, Array] = {}
        """Where links were when something new was so near that they keep less from it [m]."""
        bounds = MotionBounds(own.frames.model, own.frames.moving, own.solids)
        count = len(own.frames.names)
        self._bounds_in_root = [bounds.in_root(a, count) for a in range(len(own.solids))]
        self._points: dict[str, PointCells] = {}
        self.set_scene(scene)

    def __repr__(self) -> str:
        return f'WorldCollision({len(self.distances)} pairs, {self.scene})'

    @property
    def state(self) -> str:
        """Whether anything is kept apart: see `CheckedPairs`."""
        own = self._own
        links = own.state if self._checks_links else 'off: not asked for'
        if len(self.distances) > self._own_count == 0:
            part, gaps = ('partly ', f'; {own.gaps}') if own.missing else ('', '')
            return f'{part}on: obstacles alone{gaps}; links {links}'
        return links

    @property
    def has_obstacle(self) -> npt.NDArray[np.bool_]:
        """Mask of the pairs that are no two links, shape (p,)."""
        return np.arange(len(self.clearances)) >= self._own_count

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
        CollisionUnavailableError
            If there are obstacles, but a shape is missing of a link that the arm moves.
        SceneError
            If an obstacle cannot be loaded, or names a link that the robot does not have.

        """
        if len(scene) > 0:
            self.check_arm_whole()
        scene.check_links(self._own.robot)
        loaded = {obstacle: self._solid_of(obstacle) for obstacle in scene}
        return self._put_in_force(scene, loaded, self._points)

    def set_points(self, frame: str, cells: PointCells | None) -> Mapping[int, int]:
        """
        Replace the cells that the sensor in a frame has measured; None forgets the frame.

        What is known of their distances is forgotten: `refresh` measures them before a command
        has to. For cells that are renewed again and again there is `renew_points`.

        Returns
        -------
        mapping
            As for `set_scene`.

        Raises
        ------
        CollisionUnavailableError
            If there are cells, but a shape is missing of a link that the arm moves.

        """
        if cells is not None:
            self.check_arm_whole()
        if cells is not None and frame in self._points:
            unknown, nowhere = np.array(-np.inf), np.zeros(len(self.mechanism))
            return self._replace_points(frame, cells, unknown, nowhere)
        points = {known: self._points[known] for known in self._points if known != frame}
        if cells is not None:
            points[frame] = cells
        return self._put_in_force(self.scene, self._solids, points)

    def renew_points(
        self, frame: str, cells: PointCells, q: Array
    ) -> Generator[None, None, Mapping[int, int]]:
        """
        Replace the cells of a frame in pieces, so that no command has to wait for measurements.

        The distances at `q`, shape (n,), are measured first, one in each piece; the cells are in
        force when the generator ends. It returns what `set_points` does.
        """
        if frame not in self._points:
            self.set_points(frame, cells)
            yield from self.refresh(q)
            # A new frame comes last, and `set_scene` has told of its own changes meanwhile.
            return {p: p for p in range(len(self.distances))}
        solid, distances = self._solid_of_points(cells), None
        while distances is not self.distances:  # `set_scene` may come between two pieces
            distances = self.distances
            number = self._number_of_points(frame)
            known = yield from distances.measured_instead(number, solid, q)
        return self._replace_points(frame, cells, known, q)

    def _replace_points(
        self, frame: str, cells: PointCells, known: Array, q: Array
    ) -> Mapping[int, int]:
        """Put cells in the place of others; their distances at `q` are known, or -inf."""
        self._points[frame] = cells
        solid = self._solid_of_points(cells)
        self.distances.replace(self._number_of_points(frame), solid, known, q)
        self.version += 1
        return {p: p for p in range(len(self.distances))}

    def refresh(self, q: Array) -> Iterator[None]:
        """Measure what is not known of distances, at `q`, shape (n,), one in each piece."""
        distances = None
        while distances is not self.distances:  # `set_scene` may come between two pieces
            distances = self.distances
            for p in distances.unknown():
                if distances is self.distances:
                    distances.measure(int(p), q)
                    yield

    @property
    def pairs_of_links(self) -> npt.NDArray[np.intp]:
        """Numbers of the pairs of links of the robot."""
        return np.arange(self._own_count)

    @property
    def pairs_of_obstacles(self) -> npt.NDArray[np.intp]:
        """Numbers of the pairs with an obstacle or the cells of a sensor in them."""
        return np.arange(self._own_count, len(self.distances))

    @property
    def missing(self) -> tuple[MissingGeometry, ...]:
        """Shapes of the robot that could not be loaded."""
        return self._own.missing

    def check_arm_whole(self) -> None:
        """Make sure that obstacles can be kept clear of: see `SelfCollision.check_arm_whole`."""
        self._own.check_arm_whole()

    def robot_shape(self) -> RobotShape:
        """Return the shape of the robot and of what its links carry now."""
        carried = [solid for obstacle, solid in self._solids.items() if obstacle.link]
        return RobotShape(self._own.robot, self.mechanism, [*self._own.solids, *carried])

    @property
    def points(self) -> Mapping[str, PointCells]:
        """Cells of each sensor, by its frame."""
        return dict(self._points)

    def distance_to_balls(self, points: Array, q: Array) -> float:
        """Distance of points, shape (m, 3), from the balls around links that move, at `q` [m]."""
        centres, nearest = self.distances.centres_at(q), math.inf
        for a, bounds in enumerate(self._bounds_in_root):
            if bounds.any():
                gaps = np.linalg.norm(points - centres[a], axis=1)
                nearest = min(nearest, float(gaps.min()) - self._own.solids[a].radius)
        return nearest

    def _number_of_points(self, frame: str) -> int:
        return len(self._own.solids) + len(self.scene) + list(self._points).index(frame)

    def _solid_of_points(self, cells: PointCells) -> Solid:
        return solid_of_cells(cells, self._own.robot.root_link)

    def _solid_of(self, obstacle: Obstacle) -> Solid:
        own, loaded = self._own, self._own.loaded
        if obstacle not in loaded:
            loaded[obstacle] = solid_of_obstacle(obstacle, own.robot.root_link, self._finder)
        return loaded[obstacle]

    def _put_in_force(
        self, scene: Scene, loaded: dict[Obstacle, Solid], points: dict[str, PointCells]
    ) -> Mapping[int, int]:
        """Check against these obstacles and points; return the new numbers of pairs that stay."""
        own, count = self._own, self._own_count
        solids = [*own.solids, *loaded.values(), *map(self._solid_of_points, points.values())]
        frames = SolidFrames(own.robot, own.mechanism, solids)
        frames.set_other_joints(self.frames.told)
        self._points = points
        added = [
            *self._pairs(scene, solids, frames),
            *self._pairs_of_points(scene, solids, frames),
        ]
        bounds = [own.distances.motion_bounds[:count], *(p.motion_bounds[None] for p in added)]
        distances = PairDistances(
            frames,
            solids,
            [*own.distances.pairs[:count], *(pair.solids for pair in added)],
            np.concatenate(bounds),
            *prismatic_limits(own.mechanism),
        )
        parts = [*range(len(own.solids)), *scene, *points]
        ends = self._ends[:count] + [(parts[a], parts[b]) for a, b in (p.solids for p in added)]
        number_of = {pair: number for number, pair in enumerate(ends)}
        numbers = {p: number_of[pair] for p, pair in enumerate(self._ends) if pair in number_of}
        distances.take_over(self.distances, numbers)
        names_of_parts = [*range(len(own.solids)), *(f'/{o.name}' for o in scene), *points]
        keys = self._keys[:count] + [
            (names_of_parts[a], names_of_parts[b]) for a, b in (p.solids for p in added)
        ]
        before = dict(zip(self._keys, self.clearances.tolist(), strict=False))
        self._whole = np.array([self._whole_clearance(*pair) for pair in ends[count:]])
        whole = np.concatenate([own.clearances[:count], self._whole])
        clearances = np.array([before.get(k, w) for k, w in zip(keys, whole, strict=True)])
        self._unmet = {key for key in keys if key in self._unmet or key not in before}
        carried = {key[0] for key in keys[count:]}
        self._places = {
            a: place for a, place in self._places.items() if isinstance(a, int) or a in carried
        }
        names = [own.links(p) for p in range(count)]
        self._names = names + [(pair.name_a, pair.name_b) for pair in added]
        self.scene, self.frames, self.distances = scene, frames, distances
        self.clearances, self._ends, self._keys = clearances, ends, keys
        self._solids = loaded
        self.version += 1
        return numbers

    def _whole_clearance(self, *parts: object) -> float:
        """Clearance of a pair [m]: the smallest that its obstacles have of their own."""
        own = (part.clearance for part in parts if isinstance(part, Obstacle))
        return min((c for c in own if c is not None), default=self._clearance)

    def keep_distances_at(self, q: Array) -> None:
        """
        Let links that are nearer to obstacles than their clearance keep the distance they have.

        Arms stand on tables: their first links turn there, as near as they always are. What
        touches at `q`, shape (n,), may only move apart: see `CollisionGuard`. What they keep does
        not shrink from start to start.
        """
        before, self.clearances = self.clearances, self.clearances.copy()
        self.clearances[self._own_count :] = self._whole
        self._unmet = set(self._keys[self._own_count :])
        self._places.clear()
        self.meet_obstacles_at(q)
        self._places.clear()
        is_kept = before < self.clearances + EASE
        is_kept[self._own_count :] &= before[self._own_count :] < self._whole
        is_kept[: self._own_count] = False
        self.clearances[is_kept] = np.maximum(before, self.clearances)[is_kept]

    def meet_obstacles_at(self, q: Array) -> None:
        """
        Let links that are near a new obstacle keep the distance they have, and only from it.

        From what was there before, wherever it is now, they keep what they kept; so obstacles
        that tremble, or are measured with noise, let no arm creep up to them. Neither do those
        that are replaced by new ones again and again: a link gets this once, and again where it
        is `ELSEWHERE`. What has come apart keeps its whole clearance again.

        What a link carries may touch what it was taken from until it has come apart: otherwise
        no error of its place would let it be lifted.
        """
        self.clearances = self.clearances.copy()
        obstacles = np.arange(self._own_count, len(self.distances))
        whole = self._whole
        lowered = obstacles[self.clearances[obstacles] < whole]
        for p in lowered[self.distances.bounds(q, pairs=lowered) == -math.inf]:
            self.distances.measure(int(p), q)
        is_apart = (
            self.distances.bounds(q, pairs=lowered) > APART * whole[lowered - self._own_count]
        )
        lowered = lowered[is_apart]
        self.clearances[lowered] = whole[lowered - self._own_count]
        if not self._unmet:
            return
        new = obstacles[[self._keys[p] in self._unmet for p in obstacles]]
        self._unmet.clear()
        for p in self.distances.due(q, self.clearances, pairs=new):
            distance = self.distances.measure(int(p), q)
            is_carried = min(self.distances.pairs[p]) >= len(self._own.solids)
            least = -EASE if is_carried else 0.0
            if least < distance <= whole[p - self._own_count] and self._may_keep_less(int(p), q):
                self.clearances[p] = max(distance - EASE, least)

    def _may_keep_less(self, p: int, q: Array) -> bool:
        """Whether the link of a pair has not come nearer to something since it last kept less."""
        link = self._keys[p][0]
        here = self.distances.centres_at(q)[self.distances.pairs[p][0]]
        moved = float(np.linalg.norm(here - self._places.setdefault(link, here)))
        if moved >= ELSEWHERE:
            self._places[link] = here
        return moved <= ROUNDING or moved >= ELSEWHERE

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
            others = (a for a in range(len(names)) if a not in touched or a < b)
            for a in others:
                may_touch = carriers[a] in touched[b] or obstacle.link in touched.get(a, ())
                between = bounds.between(a, b, len(frames.names))
                if not may_touch and between[: len(self.mechanism)].any():
                    yield ObstaclePair(names[a], obstacle.name, (a, b), between)

    def _pairs_of_points(
        self, scene: Scene, solids: list[Solid], frames: SolidFrames
    ) -> Iterator[ObstaclePair]:
        """Pair up links, and obstacles that they carry, with the cells of each sensor."""
        links, count = len(self._own.solids), len(self.mechanism)
        moving = [(a, solids[a].link, self._bounds_in_root[a]) for a in range(links)]
        attached = [(a, o) for a, o in enumerate(scene, links) if o.link]
        if attached:
            bounds = MotionBounds(frames.model, frames.moving, solids)
            moving += [(a, o.name, bounds.in_root(a, len(frames.names))) for a, o in attached]
        for b, frame in enumerate(self._points, links + len(scene)):
            for a, name, in_root in moving:
                if in_root[:count].any():
                    yield ObstaclePair(name, f"points of '{frame}'", (a, b), in_root)
