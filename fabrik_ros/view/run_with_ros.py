"""`run` through ROS: the node and a simulated arm as processes, and the page of that node."""

import argparse
from collections.abc import Mapping
import sys
import threading

from ..collision.meshes import folders_beside
from ..model.chain import Chain
from ..model.robot import Robot
from ..ros.parameters.tip_names import ros_name
from ..sim.simulation import Simulation, stay_on_this_machine
from .app import check_address
from .ros_source import RosSource
from .showing import show

PREFIX = 'arm_'
"""Of namespaces, where a robot has a name that ROS would not accept."""
WATCH_PERIOD = 0.1
"""Time between two looks at the processes [s]."""


def run_with_ros(
    robot: Robot, chain: Chain, start: Mapping[str, float], args: argparse.Namespace
) -> int:
    """
    Let the node move a simulated arm, and show it until a signal or the end of a process.

    Parameters
    ----------
    robot : Robot
        The robot.
    chain : Chain
        The arm of it that moves.
    start : mapping
        Joint values by name at which it starts [rad or m].
    args : Namespace
        Those of `run`.

    Raises
    ------
    ViewError
        If the page cannot be there.
    SimulationError
        If somebody else publishes on its topics, or something is missing.
    SceneError
        If the file of the parts cannot be used.

    """
    check_address(args.host, args.port)
    stay_on_this_machine()
    mesh_paths = (*folders_beside(robot.folder), *args.mesh_path)
    simulation = Simulation(args.namespace or ros_name(robot.name, PREFIX))
    try:
        print(f'waiting: looks for others beside {simulation.node_name}', flush=True)
        simulation.check_alone()
        simulation.start(
            robot,
            chain,
            start,
            mesh_paths=mesh_paths,
            scene=args.scene,
            parts=args.parts,
            allowed_collisions=args.allow_collision,
            has_physics=args.physics,
        )
        source = RosSource(simulation.node_name)
        watch = _Watch(simulation, source)
        show(source, args.host, args.port, mesh_paths, watch.run)
    finally:
        simulation.close()
    if watch.fault:
        print(f'fabrik_ros run: error: {watch.fault}', file=sys.stderr)
    return 1 if watch.fault else 0


class _Watch:
    """Says what the node waits for until it takes targets, and ends the page with a process."""

    def __init__(self, simulation: Simulation, source: RosSource) -> None:
        self._simulation, self._source = simulation, source
        self.fault = ''
        """Which process has ended, and how; '' while both live."""

    def run(self, ends: threading.Event) -> None:
        said, is_ready = '', False
        while not ends.wait(WATCH_PERIOD):
            self.fault = self._simulation.fault()
            if self.fault:
                ends.set()
            awaited = self._source.awaited
            if is_ready or awaited == said:
                continue
            said, is_ready = awaited, not awaited
            print(f'waiting: {awaited}' if awaited else self._invitation(), flush=True)

    def _invitation(self) -> str:
        name = self._simulation.node_name
        return (
            f'{name} takes targets, on {name}/target_pose or by\n'
            f'  python3 -m fabrik_ros target --node {name} --xyz X Y Z --rpy ROLL PITCH YAW'
        )
