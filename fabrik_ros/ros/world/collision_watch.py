"""Collision checking: whether it is on, and what is nearest to what."""

from collections.abc import Container, Generator, Iterable, Mapping
import math
from pathlib import Path
from typing import Any

from rclpy.node import Node

from ...collision import (
    CollisionGuard,
    MeshFinder,
    Nearest,
    NearestPoints,
    PointCells,
    RobotShape,
    Scene,
    SelfCollision,
    WorldCollision,
)
from ...collision.guard import EASE
from ...errors import CollisionUnavailableError
from ...model.mechanism import Mechanism
from ...model.robot import Robot
from ...planning.planner_setup import PlannerSetup
from ...transforms import Array
from ..parameters.node_parameters import NodeParameters

MOST_NAMED = 5
"""Number of missing meshes that the log names [1]."""


class CollisionWatch:
    """
    Watches the distances between links, and from obstacles, where that is possible.

    Parameters
    ----------
    node : Node
        Logs what is not watched, and why.
    setup : PlannerSetup
        The robot with its collision geometry, where meshes are, how near links may come to what.
    parameters : NodeParameters
        Whether to watch.

    Attributes
    ----------
    guard : CollisionGuard or None
        Keeps a motion out of collisions; None where nothing is watched.
    own : SelfCollision or None
        The pairs of links.

    Raises
    ------
    CollisionUnavailableError
        If it is required and impossible: coal is not installed, or there is no geometry.
    CollisionError
        If the clearance of a pair makes no sense.

    """

    def __init__(self, node: Node, setup: PlannerSetup, parameters: NodeParameters) -> None:
        self._pairs: WorldCollision | None = None
        self._finder = setup.finder
        self.guard: CollisionGuard | None = None
        self._state = "off: the parameter self_collision is 'never'"
        self._log = node.get_logger()
        is_wanted = parameters.self_collision != 'never'
        self.own = own = self._own_pairs(setup, parameters)
        if own is not None:
            self._pairs = setup.world(Scene(), own)
            self.guard = CollisionGuard(self._pairs)
            self._warn_of_missing_geometry(own)
        if own is not None and is_wanted:
            self._state = own.state
            self._warn_of_unused_clearances(own, parameters.clearances_of_pairs)
        if own is not None or not is_wanted:
            is_whole = own is None or (own.pairs and not own.missing)
            say = self._log.info if is_whole else self._log.warning
            say(f'self-collision checking is {self._state}')

    def _own_pairs(self, setup: PlannerSetup, parameters: NodeParameters) -> SelfCollision | None:
        """Pair up the links; None, with a warning, where that is impossible and not required."""
        try:
            return setup.own_pairs(self._log.info)
        except CollisionUnavailableError as error:
            self._unavailable = str(error)
            if parameters.self_collision == 'never' and not setup.requires_arm:
                return None
            self._state = f'off: {error}'
            if setup.requires_arm:
                what = f"the scene '{parameters.scene}'" if parameters.scene else 'points'
                raise CollisionUnavailableError(
                    f'{what} cannot be kept clear of: {error}'
                ) from error
            if setup.requires_shapes:
                raise CollisionUnavailableError(
                    f"self_collision is 'require', but self-collision checking is {self._state}"
                ) from error
            self._log.warning(f'self-collision checking is {self._state}')
            return None

    def set_other_joints(self, values: Mapping[str, float]) -> None:
        """Set the joints outside the arm, by name [rad or m]."""
        if self._pairs is not None:
            self._pairs.set_other_joints(values)

    def met_by(self, joint: str, values: Iterable[float], q: Array) -> Nearest | None:
        """
        Find what would come too near where a joint outside the arm moves.

        Parameters
        ----------
        joint : str
            Its name.
        values : iterable of float
            Values on its way [rad or m].
        q : array, shape (n,)
            Joint values of the arm.

        Returns
        -------
        Nearest or None
            First pair that does not keep its clearance, and comes nearer than it is now.

        """
        pairs = self._pairs
        if pairs is None or joint not in pairs.other_joints:
            return None
        here, now = pairs.other_joints[joint], pairs.too_near(q)
        try:
            for value in values:
                pairs.set_other_joints({joint: value})
                for p, distance in pairs.too_near(q).items():
                    if distance < now.get(p, math.inf) - EASE:
                        return Nearest(distance, *pairs.links(p), float(pairs.clearances[p]))
        finally:
            pairs.set_other_joints({joint: here})
        return None

    @property
    def other_joints(self) -> dict[str, float]:
        """Values of the joints outside the arm that count, by name [rad or m]."""
        return {} if self._pairs is None else self._pairs.other_joints

    @property
    def assumed_joints(self) -> dict[str, float]:
        """Values assumed for other joints that were never set, by name [rad or m]."""
        return {} if self._pairs is None else self._pairs.assumed_joints

    def set_scene(self, scene: Scene, q: Array) -> None:
        """
        Keep clear of other obstacles from now on, for an arm at `q`, shape (n,).

        Raises
        ------
        CollisionError
            If one makes no sense, or nothing can be measured.

        """
        self.change_world(self._known_pairs().set_scene(scene), q)

    def _known_pairs(self) -> WorldCollision:
        if self._pairs is None:
            raise CollisionUnavailableError(
                f'obstacles cannot be kept clear of: {self._unavailable}'
            )
        return self._pairs

    def robot_shape(self) -> RobotShape:
        """
        Return the shape of the robot and of what it carries.

        Raises
        ------
        CollisionUnavailableError
            If it has none that is known.

        """
        return self._known_pairs().robot_shape()

    def check_arm_whole(self) -> None:
        """
        Make sure that the shape of all that the arm moves is known.

        Raises
        ------
        CollisionUnavailableError
            If not: nothing can be kept clear of then; says what is missing.

        """
        self._known_pairs().check_arm_whole()

    def renew_points(
        self, frame: str, cells: PointCells, q: Array
    ) -> Generator[None, None, Mapping[int, int]]:
        """Keep clear of other cells of a sensor: see `WorldCollision.renew_points`."""
        return self._known_pairs().renew_points(frame, cells, q)

    def change_world(self, numbers: Mapping[int, int], q: Array) -> None:
        """Go on with other pairs: see `CollisionGuard.change_world`."""
        if self.guard is not None:
            self.guard.change_world(numbers, q)

    def is_near_points(self, points: Array, q: Array, distance: float) -> bool:
        """Whether a point, shape (m, 3), is so near to a ball around a link, at `q` [m]."""
        if self._pairs is None or len(points) == 0:
            return False
        return self._pairs.distance_to_balls(points, q) <= distance

    def snapshot(self) -> tuple[Scene, Mapping[str, PointCells], Mapping[str, float]]:
        """Return obstacles, cells by frame, and values told of the joints outside the arm."""
        pairs = self._pairs
        if pairs is None:
            return Scene(), {}, {}
        return pairs.scene, pairs.points, dict(pairs.frames.told)

    def distance_of(self, names: Container[str], q: Array) -> float:
        """Measure how near the arm at `q`, shape (n,), is to obstacles with these names [m]."""
        pairs = self._pairs
        if pairs is None:
            return math.inf
        concerned = (p for p in range(len(pairs.distances)) if pairs.links(p)[1] in names)
        return min((pairs.distances.measure(p, q) for p in concerned), default=math.inf)

    @property
    def finder(self) -> MeshFinder:
        """Finds the meshes of obstacles."""
        return self._finder

    @property
    def obstacle_count(self) -> int:
        """Number of obstacles [1]."""
        return 0 if self._pairs is None else len(self._pairs.scene)

    def facts(self, q: Array | None) -> dict[str, Any]:
        """Say what is watched and, at the joint values `q`, what is nearest to what."""
        facts: dict[str, Any] = {
            'self_collision': self._state,
            'obstacles': self.obstacle_count,
        }
        if q is None:
            return facts
        found = [self.nearest_obstacle(q), self.nearest_links(q)]
        known = [nearest for nearest in found if nearest is not None]
        if known:
            least = min(known, key=lambda nearest: nearest.distance - nearest.clearance)
            facts |= {
                'nearest_distance': least.distance,
                'nearest_links': f'{least.link_a}, {least.link_b}',
                'nearest_clearance': least.clearance,
            }
        for key, nearest in zip(('nearest_obstacle', 'nearest_self'), found, strict=True):
            if nearest is not None:
                facts |= {
                    key: f'{nearest.link_a}, {nearest.link_b}',
                    f'{key}_distance': nearest.distance,
                    f'{key}_clearance': nearest.clearance,
                }
        return facts

    def nearest_obstacle(self, q: Array) -> Nearest | None:
        """Link and obstacle that have least left of their clearance at `q`; None without."""
        pairs = self._pairs
        return None if pairs is None else pairs.nearest_among(q, pairs.pairs_of_obstacles)

    def nearest_links(self, q: Array) -> Nearest | None:
        """Links that have least left of their clearance at `q`, shape (n,); None without."""
        pairs = self._pairs
        return None if pairs is None else pairs.nearest_among(q, pairs.pairs_of_links)

    def nearest_points(self, q: Array) -> dict[str, NearestPoints]:
        """Points where the arm at `q`, (n,), is nearest to an `obstacle`, and to it`self`."""
        pairs = self._pairs
        if pairs is None:
            return {}
        among = {'obstacle': pairs.pairs_of_obstacles, 'self': pairs.pairs_of_links}
        numbers = {kind: pairs.tightest(q, numbers) for kind, numbers in among.items()}
        found = {kind: pairs.points_of(p, q) for kind, p in numbers.items() if p is not None}
        return {kind: points for kind, points in found.items() if points is not None}

    @property
    def version(self) -> int:
        """Counts the changes of what is watched."""
        return 0 if self._pairs is None else self._pairs.version

    def colliding(self, q: Array) -> frozenset[str]:
        """Name the links, and obstacles, that are too near to something at `q`, shape (n,)."""
        return frozenset() if self._pairs is None else self._pairs.colliding(q)

    def _warn_of_missing_geometry(self, collision: SelfCollision) -> None:
        for missing in collision.missing[:MOST_NAMED]:
            self._log.warning(f'self-collision: {missing}')
        more = len(collision.missing) - MOST_NAMED
        if more > 0:
            self._log.warning(f'self-collision: {more} more meshes are missing')

    def _warn_of_unused_clearances(
        self, collision: SelfCollision, clearances: Iterable[tuple[str, str]]
    ) -> None:
        """Warn about clearances of pairs that are not checked."""
        left_out = {frozenset((left.link_a, left.link_b)): left for left in collision.left_out}
        checked = {frozenset(pair) for pair in collision.pairs}
        for link_a, link_b in clearances:
            pair = frozenset((link_a, link_b))
            why = left_out[pair].reason.value if pair in left_out else 'one has no geometry'
            if pair not in checked:
                self._log.warning(
                    f"pair_clearances: '{link_a}' and '{link_b}' are not checked: {why}"
                )


def setup_of(robot: Robot, arm: Mechanism, parameters: NodeParameters) -> PlannerSetup:
    """Tell what a watch and a planner must know of an arm, by the parameters."""
    return PlannerSetup(
        robot,
        arm,
        options=parameters.solver,
        tips=parameters.tips,
        mesh_paths=parameters.mesh_paths,
        scene_folder=str(Path(parameters.scene).parent),
        allowed_collisions=tuple(parameters.allowed_pairs),
        clearance=parameters.collision_clearance,
        pair_clearances=parameters.clearances_of_pairs,
        obstacle_clearance=parameters.obstacle_clearance,
        checks_links=parameters.self_collision != 'never',
        requires_shapes=parameters.self_collision == 'require',
        requires_arm=bool(parameters.scene) or parameters.require_points,
    )
