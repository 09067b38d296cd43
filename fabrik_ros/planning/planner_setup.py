"""All that a planner must know of an arm."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from ..collision.meshes import MeshFinder
from ..collision.scene import Scene
from ..collision.self_collision import CLEARANCE, SelfCollision
from ..collision.world_collision import OBSTACLE_CLEARANCE, WorldCollision
from ..errors import CollisionUnavailableError
from ..model.mechanism import Mechanism
from ..model.robot import Robot
from ..solver.options import SolverOptions
from ..solver.tree_solver import TipOptions


@dataclass(frozen=True, eq=False)
class PlannerSetup:
    """
    An arm, what its goals ask for, and how near it may come to what.

    Parameters
    ----------
    robot : Robot
        The robot, with its collision geometry.
    arm : Chain or Tree
        The chain or tree of it that moves.
    options : SolverOptions
        Mode and tolerances of goals.
    tips : mapping of str to TipOptions
        What is asked of the tips of a tree, by tip link.
    mesh_paths : tuple of str
        Folders with meshes, besides packages of ROS; `name=folder` is that of a package.
    scene_folder : str
        Where relative names of meshes of obstacles start; '' for nowhere.
    allowed_collisions : tuple of pairs of str
        Names of links that may touch, besides those that are found out.
    clearance : float
        Distance that links keep from each other [m].
    pair_clearances : mapping of pairs of str to float
        The same for pairs of links by their names [m].
    obstacle_clearance : float
        Distance that links keep from obstacles [m].
    checks_links : bool
        Whether links keep clear of each other, and not of obstacles alone.
    requires_shapes : bool
        Whether it is an error where a shape of the robot is missing.
    requires_arm : bool
        Whether it is one where a shape of a link that the arm moves is missing.
    other_joints : mapping of str to float
        Values of joints outside the arm [rad or m]; those left out are assumed at 0, or at the
        limit next to it.

    """

    robot: Robot
    arm: Mechanism
    options: SolverOptions = field(default_factory=SolverOptions)
    tips: Mapping[str, TipOptions] = field(default_factory=dict)
    mesh_paths: tuple[str, ...] = ()
    scene_folder: str = ''
    allowed_collisions: tuple[tuple[str, str], ...] = ()
    clearance: float = CLEARANCE
    pair_clearances: Mapping[tuple[str, str], float] = field(default_factory=dict)
    obstacle_clearance: float = OBSTACLE_CLEARANCE
    checks_links: bool = True
    requires_shapes: bool = False
    requires_arm: bool = False
    other_joints: Mapping[str, float] = field(default_factory=dict)

    @property
    def finder(self) -> MeshFinder:
        """Finds the meshes of obstacles."""
        return MeshFinder(self.mesh_paths, self.scene_folder)

    def own_pairs(self, tell: Callable[[str], None] = lambda _: None) -> SelfCollision:
        """
        Pair up the links of the robot that may not touch.

        Parameters
        ----------
        tell : callable
            Is told of work that takes long.

        Raises
        ------
        CollisionError
            If that is impossible, or a shape is missing that is required: see `SelfCollision`.

        """
        own = SelfCollision(
            self.robot,
            self.arm,
            other_joints=self.other_joints,
            mesh_paths=self.mesh_paths,
            allowed_collisions=self.allowed_collisions,
            clearance=self.clearance,
            pair_clearances=self.pair_clearances,
            tell=tell,
        )
        if self.requires_shapes:
            own.check_whole()
        if self.requires_arm:
            own.check_arm_whole()
        return own

    def world(self, scene: Scene, own: SelfCollision | None = None) -> WorldCollision:
        """
        Make what knows the distances of links from each other and from obstacles.

        Parameters
        ----------
        scene : Scene
            The obstacles.
        own : SelfCollision, optional
            The pairs of links, where they are known; to find them takes a second or more, as
            which links may touch is found out by trying.

        Raises
        ------
        CollisionError
            If that is impossible: see `own_pairs` and `WorldCollision`.

        """
        return WorldCollision(
            self.own_pairs() if own is None else own,
            scene,
            clearance=self.obstacle_clearance,
            finder=self.finder,
            checks_links=self.checks_links,
        )

    def world_or_reason(
        self, scene: Scene, is_required: bool
    ) -> tuple[WorldCollision | None, str]:
        """
        Make the same where that is possible, else None, and say why not.

        Parameters
        ----------
        scene : Scene
            The obstacles.
        is_required : bool
            Whether it is an error where nothing can be measured.

        Raises
        ------
        CollisionError
            If something makes no sense, or nothing can be measured where that is required.

        """
        try:
            return self.world(scene), ''
        except CollisionUnavailableError as error:
            if is_required:
                raise
            return None, str(error)
