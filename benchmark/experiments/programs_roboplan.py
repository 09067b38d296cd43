"""
Lines by RoboPlan's `cartesian_planning`, in an interpreter that has it; `programs.py` asks.

The first line has the robot, each other one a start and poses to pass; the answers are joint
values at even times.

"""

import json
import sys
import time

import numpy as np
from roboplan.cartesian_planning import (
    CartesianPathPlanner,
    CartesianPlannerOptions,
    CartesianSpeedMode,
)
from roboplan.core import (
    CartesianPath,
    JointConfiguration,
    loadJointLimitsConfig,
    loadUrdfSceneDescription,
    Scene,
)

GROUP = 'arm'


class Robot:
    """A robot that follows lines."""

    def __init__(self, robot: dict) -> None:
        description = loadUrdfSceneDescription(robot['urdf'], [robot['folder']])
        self._scene = Scene('robot', description)
        self._scene.addGroup(GROUP, robot['joints'])
        self._names, self._links = robot['joints'], (robot['base_link'], robot['tip_link'])
        self._scene.importJointLimitsFromConfig(loadJointLimitsConfig(robot['limits']))

    def plan(self, problem: dict) -> dict:
        """Follow the lines; None where that fails."""
        is_bounded = problem['speed'] is not None
        modes = CartesianSpeedMode.TimeOptimal, CartesianSpeedMode.Bounded
        options = CartesianPlannerOptions(GROUP, dt=problem['dt'], speed_mode=modes[is_bounded])
        if is_bounded:
            options.max_linear_speed = problem['speed']
            for name, value in problem['limits'].items():
                setattr(options, name, value)
        if not problem['blends']:
            options.toppra_blend_deviation = 0.0
        base, tip = self._links
        poses = [np.asfortranarray(T, dtype=np.float64) for T in problem['poses']]
        path = CartesianPath([base], [tip], [poses])
        begin = time.perf_counter()
        try:
            start = JointConfiguration(self._scene.getJointNames(), self._whole(problem['start']))
            found = CartesianPathPlanner(self._scene, options).plan(path, start)
        except RuntimeError as error:
            return {'q': None, 'why': str(error), 'time': time.perf_counter() - begin}
        took = time.perf_counter() - begin
        return {'q': [list(q) for q in found.positions], 'times': list(found.times), 'time': took}

    def _whole(self, q: list[float]) -> np.ndarray:
        """Values of all joints of the model."""
        whole = self._scene.getCurrentJointPositions()
        whole[self._scene.getJointPositionIndices(self._names)] = q
        return whole


def main() -> None:
    robot = Robot(json.loads(sys.stdin.readline()))
    for line in sys.stdin:
        print(json.dumps(robot.plan(json.loads(line))), flush=True)


if __name__ == '__main__':
    main()
