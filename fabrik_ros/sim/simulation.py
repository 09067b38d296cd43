"""The node and a simulated arm as processes, in a namespace of their own on this machine alone."""

from collections.abc import Mapping, Sequence
from importlib.util import find_spec
import json
import os
from pathlib import Path
import time

import rclpy
from rclpy.exceptions import InvalidNamespaceException
from rclpy.validate_namespace import validate_namespace
from std_msgs.msg import String

from ..collision.meshes import absolute_folder
from ..errors import FabrikError, listed, shown
from ..model.chain import Chain
from ..model.robot import Robot
from ..ros.beside.parts import parameters_for_parts
from ..ros.clocks.qos import LATCHED
from ..ros.launching.child_processes import ChildProcesses
from ..ros.status.neighbours import node_of

NODE, ARM = 'the node', 'the simulated arm'
TOPICS = 'robot_description', 'joint_states', 'fabrik/joint_command', 'fabrik/status'
"""Topics in the namespace on which no other node may publish."""
DISCOVERY_TIME = 3.5
"""
Time for which other nodes are looked for [s]. Most are found within 0.3 s, but if the first
announcements of Fast DDS are lost, the next ones come three seconds later.
"""
REMAPS = 'joint_command:=fabrik/joint_command', 'parts:=fabrik/obstacles'
"""How the arm finds the topics of the node."""
FARTHEST_BEHIND = 0.3
"""
Gap between commands and an arm with physics that its node bears [rad or m]: both share the machine
with a browser, which keeps them from their work for some 0.1 s now and then.
"""
GLOBAL_TOPICS = '/tf', '/tf_static', '/diagnostics'
"""Topics that the node would share with all other nodes."""


class SimulationError(FabrikError):
    """The simulation cannot be started; says why."""


class Simulation:
    """
    Runs the node and a simulated arm for one robot.

    Parameters
    ----------
    namespace : str
        Where they are.

    Attributes
    ----------
    node_name : str
        Full name of the node.

    Raises
    ------
    SimulationError
        If the namespace is none.

    """

    def __init__(self, namespace: str) -> None:
        self._namespace = '/' + namespace.strip('/')
        self.node_name = f'{self._namespace}/fabrik'
        try:
            validate_namespace(self._namespace)
        except InvalidNamespaceException as error:
            why = str(error).splitlines()[0]
            raise SimulationError(f"'{shown(namespace)}' is no namespace: {why}") from error
        if self._namespace == '/':
            raise SimulationError("the namespace must have a name, got '/'")
        self._children = ChildProcesses()
        self._context = rclpy.Context()
        rclpy.init(context=self._context)
        self._node = rclpy.create_node(
            'simulation', context=self._context, namespace=self._namespace
        )

    def check_alone(self) -> None:
        """
        Make sure that no other node uses the namespace; that takes three and a half seconds.

        Raises
        ------
        SimulationError
            If another node publishes on one of the topics; names the topic and the nodes.

        """
        time.sleep(DISCOVERY_TIME)  # the names of nodes come after their topics
        for topic in (f'{self._namespace}/{name}' for name in TOPICS):
            others = {*map(node_of, self._node.get_publishers_info_by_topic(topic))}
            if others:
                raise SimulationError(
                    f'{listed(sorted(others))} already publishes on {topic}; end that, or choose '
                    'another --namespace'
                )

    def start(
        self,
        robot: Robot,
        chain: Chain,
        start: Mapping[str, float],
        *,
        mesh_paths: Sequence[str] = (),
        allowed_collisions: Sequence[tuple[str, str]] = (),
        scene: str = '',
        parts: str = '',
        has_physics: bool = False,
    ) -> None:
        """
        Publish the description, and start the node and the arm.

        Parameters
        ----------
        robot : Robot
            The robot.
        chain : Chain
            The arm of it that moves.
        start : mapping
            Joint values by name at which it starts [rad or m]; home, where all are given.
        mesh_paths : sequence of str
            Folders with meshes.
        allowed_collisions : sequence of (str, str)
            Names of links that may touch.
        scene : str
            File with what stands around; '' for nothing.
        parts : str
            File with what the gripper can move, for an arm with physics; '' for nothing.
        has_physics : bool
            Whether the arm has weight and friction, in MuJoCo; else it merely lags.

        Raises
        ------
        SimulationError
            If MuJoCo is asked for and not installed.
        SceneError
            If the file of the parts cannot be used.

        """
        if has_physics and find_spec('mujoco') is None:
            raise SimulationError('an arm with physics needs MuJoCo: pip install mujoco')
        descriptions = self._node.create_publisher(String, 'robot_description', LATCHED)
        descriptions.publish(String(data=robot.source))
        parameters: dict[str, object] = {'base_link': chain.base_link, 'tip_link': chain.tip_link}
        lists = {
            'mesh_paths': [absolute_folder(path) for path in mesh_paths],
            'allowed_collisions': ['/'.join(pair) for pair in allowed_collisions],
        }
        home = [float(start[name]) for name in chain.joint_names if name in start]
        homes = {'home_configuration': home} if len(home) == len(chain) else {}
        scenes = {'scene': str(Path(scene).absolute())} if scene else {}
        for_parts = parameters_for_parts(parts) if parts else {}
        of_node = {**parameters, **lists, **homes, **scenes, **for_parts}
        if has_physics:
            of_node['resync_tolerance'] = FARTHEST_BEHIND
        self._start(NODE, 'fabrik_ros.ros.main', of_node)
        places = {'start_names': list(start), 'start_values': list(map(float, start.values()))}
        around = {
            **scenes,
            'parts': str(Path(parts).absolute()) if parts else '',
            'base_link': chain.base_link,
            'mesh_paths': lists['mesh_paths'],
        }
        module = f'fabrik_ros.sim.{"physical_arm" if has_physics else "simulated_arm"}'
        remaps = [word for pair in REMAPS for word in ('-r', pair)]
        self._start(ARM, module, places | (around if has_physics else {}), *remaps)

    def _start(self, name: str, module: str, parameters: Mapping[str, object], *more: str) -> None:
        """Start a node; JSON is YAML, as the command line has its parameters, if not empty."""
        given = [
            word
            for key, value in parameters.items()
            if value
            for word in ('-p', f'{key}:={json.dumps(value)}')
        ]
        own = [word for topic in GLOBAL_TOPICS for word in ('-r', f'{topic}:={topic[1:]}')]
        words = ['-r', f'__ns:={self._namespace}', *own, *more, *given, '--log-level', 'warn']
        self._children.start(name, module, '--ros-args', *words)

    def fault(self) -> str:
        """Say which process has ended, and how; '' while both live."""
        return self._children.fault()

    def close(self) -> None:
        """End the processes, and leave the network."""
        self._children.close()
        self._node.destroy_node()
        rclpy.try_shutdown(context=self._context)


def stay_on_this_machine() -> None:
    """Keep what this process and its children say over ROS from other machines."""
    os.environ['ROS_AUTOMATIC_DISCOVERY_RANGE'] = 'LOCALHOST'
    os.environ.pop('ROS_STATIC_PEERS', None)
