"""All that a planner must know of an arm, fit to be sent to another process."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from ..collision.meshes import MeshFinder
from ..collision.scene import Scene
from ..collision.self_collision import CLEARANCE, SelfCollision
from ..collision.world_collision import OBSTACLE_CLEARANCE, WorldCollision
from ..model.mechanism import Mechanism
from ..model.robot import Robot
from ..solver.options import SolverOptions
from ..solver.tree_solver import TipOptions


@dataclass(frozen=True, eq=False)
class PlannerSetup:
    """An arm, what its goals ask for, and how near it may come to what."""

    robot: Robot
    """The robot, with its collision geometry."""
    arm: Mechanism
    """The chain or tree of it that moves."""
    options: SolverOptions = field(default_factory=SolverOptions)
    """Mode and tolerances of goals."""
    tips: Mapping[str, TipOptions] = field(default_factory=dict)
    """What is asked of the tips of a tree, by tip link."""
    mesh_paths: tuple[str, ...] = ()
    """Folders with meshes, besides packages of ROS."""
    scene_folder: str = ''
    """Where relative names of meshes of obstacles start; '' for nowhere."""
    allowed_collisions: tuple[tuple[str, str], ...] = ()
    """Names of links that may touch, besides those that are found out."""
    clearance: float = CLEARANCE
    """Distance that links keep from each other [m]."""
    pair_clearances: Mapping[tuple[str, str], float] = field(default_factory=dict)
    """The same for pairs of links by their names [m]."""
    obstacle_clearance: float = OBSTACLE_CLEARANCE
    """Distance that links keep from obstacles [m]."""
    checks_links: bool = True
    """Whether links keep clear of each other, and not of obstacles alone."""

    def world(self, scene: Scene) -> WorldCollision:
        """
        Make what knows the distances of links from each other and from obstacles.

        That takes a second or more: which links may touch is found out by trying.

        Raises
        ------
        CollisionError
            If that is impossible: see `SelfCollision` and `WorldCollision`.

        """
        own = SelfCollision(
            self.robot,
            self.arm,
            mesh_paths=self.mesh_paths,
            allowed_collisions=self.allowed_collisions,
            clearance=self.clearance,
            pair_clearances=self.pair_clearances,
        )
        return WorldCollision(
            own,
            scene,
            clearance=self.obstacle_clearance,
            finder=MeshFinder(self.mesh_paths, self.scene_folder),
            checks_links=self.checks_links,
        )
