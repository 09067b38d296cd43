"""A node and a simulated arm, each in a process of its own."""

import subprocess
import sys

from process import environment, run

BENT = {'shoulder_lift': -1.3, 'elbow': 1.6, 'wrist_1': -1.9, 'wrist_2': -1.57}
"""Where the six-axis arm starts [rad]."""


class Rig:
    """A node and a simulated arm, each in a process of its own."""

    def __init__(self, urdf, folder, network):
        self.urdf, self._folder, self.network = urdf, folder, network
        self._processes = []

    def start(self, door, *words):
        code = f'from fabrik_ros.cli.executables import {door}\n{door}()'
        with open(self._folder / 'said', 'a') as said:
            process = subprocess.Popen(
                [sys.executable, '-c', code, *map(str, words)],
                env=environment(ROS_LOG_DIR=str(self._folder), **self.network),
                stdout=said,
                stderr=subprocess.STDOUT,
            )
        self._processes.append(process)
        return process

    def start_node(self, *parameters):
        given = [word for parameter in parameters for word in ('-p', parameter)]
        return self.start('fabrik_node', '--urdf', self.urdf, '--ros-args', *given)

    def start_arm(self, topic='fabrik/joint_command', bent=BENT, door='simulated_arm', *more):
        quoted = self.urdf.read_text().replace('\n', ' ').replace("'", '"')
        parameters = self._folder / 'arm.yaml'
        parameters.write_text(f"/**:\n  ros__parameters:\n    robot_description: '{quoted}'\n")
        names, values = ', '.join(bent), ', '.join(map(str, map(float, bent.values())))
        given = (f'start_names:=[{names}]', f'start_values:=[{values}]', *more)
        words = [word for parameter in given for word in ('-p', parameter)]
        remap = ('-r', f'joint_command:={topic}', '-r', 'parts:=fabrik/obstacles')
        return self.start(door, '--ros-args', '--params-file', parameters, *words, *remap)

    def run(self, *words, typed=None):
        """Run the command in the network of the node."""
        return run(*words, typed=typed, **self.network)

    def end(self):
        for process in self._processes:
            process.kill()
            process.wait()
        self._processes.clear()
