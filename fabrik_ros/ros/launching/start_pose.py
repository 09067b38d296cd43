"""Start of a simulated arm: bent, and not inside an obstacle of the scene."""

from collections.abc import Callable, Sequence

from ...collision import link_poses, load_scene
from ...errors import FabrikError
from ...model.bent_pose import bent_configuration
from ...model.mechanism import Mechanism
from ...model.urdf import parse_urdf
from ...planning.planner_setup import PlannerSetup
from ...transforms import Array

ROOM = 0.05
"""Distance from obstacles [m]."""


def start_joints(
    description: str, arm: Mechanism, scene: str = '', mesh_paths: Sequence[str] = ()
) -> dict[str, float]:
    """
    Choose where the joints of an arm start, by name [rad or m].

    Parameters
    ----------
    description : str
        The robot, URDF.
    arm : Chain or Tree
        What of it moves.
    scene : str
        File with obstacles; '' for none. One that cannot be used counts as none: the node says
        what is wrong with it.
    mesh_paths : sequence of str
        Folders with meshes.

    """
    try:
        is_clear = _clear_of(description, arm, scene, mesh_paths) if scene else None
    except FabrikError:
        is_clear = None
    return dict(zip(arm.joint_names, bent_configuration(arm, is_clear).tolist(), strict=True))


def _clear_of(
    description: str, arm: Mechanism, scene: str, mesh_paths: Sequence[str]
) -> Callable[[Array], bool]:
    robot = parse_urdf(description)
    obstacles = load_scene(scene, link_poses(robot, arm.base_link))
    setup = PlannerSetup(robot, arm, mesh_paths=tuple(mesh_paths), obstacle_clearance=ROOM)
    return setup.world(obstacles).is_collision_free
