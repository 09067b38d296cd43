"""
Ways of RoboPlan (github.com/open-planning/roboplan), in an interpreter that has it.

It uses its own pinocchio, so it is run as a program of its own: `planning.py` asks line by line.
The first line has the robot, each other one a problem; the answers are ways. RoboPlan is given the
joint values at the goal, and solves for no pose. Its ways are shortened by itself, as long as it
does by default.

    python3 -m venv VENV && VENV/bin/pip install roboplan
    python benchmark/experiments/planning.py FOLDER --roboplan VENV/bin/python

"""

import itertools
import json
import sys
import time

import numpy as np
from roboplan.core import (
    Box,
    Cylinder,
    JointConfiguration,
    loadUrdfSceneDescription,
    PathShortcutter,
    PathShortcuttingOptions,
    Scene,
    Sphere,
)
from roboplan.rrt import RRT, RRTOptions

GROUP = 'arm'
MOST_NODES = 1_000_000
LONGEST_EDGE = 1.0
"""Its default, 3 rad, makes it slower here, and its ways longer [rad]."""
COLOR = np.ones(4)


class Robot:
    """A robot in a world that changes from problem to problem."""

    def __init__(self, robot: dict) -> None:
        description = loadUrdfSceneDescription(robot['urdf'], [robot['folder']])
        self._scene, self._names = Scene('robot', description), robot['joints']
        self._scene.addGroup(GROUP, self._names)
        self._scene.setCollisions([tuple(pair) for pair in robot['allowed']], False)
        self._root, self._known = robot['root'], []

    def plan(self, problem: dict) -> dict:
        """Plan; the time is that of search and shortcuts, without loading the obstacles."""
        self._set_world(problem['obstacles'], problem['others'])
        step, seed = problem['step'], problem['seed']
        begin, used = time.perf_counter(), time.process_time()
        knots = self._knots(problem, step, seed)
        return {
            'knots': knots,
            'time': time.perf_counter() - begin,
            'used': time.process_time() - used,
        }

    def _knots(self, problem: dict, step: float, seed: int) -> list | None:
        options = RRTOptions(
            GROUP,
            max_nodes=MOST_NODES,
            max_connection_distance=LONGEST_EDGE,
            collision_check_step_size=step,
            max_planning_time=problem['longest'],
            rrt_connect=True,
        )
        planner = RRT(self._scene, options)
        planner.setRngSeed(seed)
        ends = (JointConfiguration(self._names, np.array(problem[e])) for e in ('start', 'goal'))
        try:
            path = planner.plan(*ends)
        except RuntimeError:
            return None
        shorter = PathShortcutter(self._scene, PathShortcuttingOptions(GROUP, step, seed=seed))
        return [list(q) for q in shorter.shortcut(path).positions]

    def _set_world(self, obstacles: list, others: dict[str, float]) -> None:
        scene = self._scene
        for name in self._known:
            scene.removeGeometry(name)
        self._known = [f'obstacle {i}' for i in range(len(obstacles))]
        for name, (kind, sizes, pose) in zip(self._known, obstacles, strict=True):
            add, shape = {
                'Box': (scene.addBoxGeometry, Box),
                'Cylinder': (scene.addCylinderGeometry, Cylinder),
                'Sphere': (scene.addSphereGeometry, Sphere),
            }[kind]
            add(name, self._root, shape(*sizes), np.array(pose), COLOR)
        scene.setCollisions([*itertools.combinations(self._known, 2)], False)
        q = scene.getCurrentJointPositions()
        for name in others.keys() & set(scene.getJointNames()):
            q[scene.getJointPositionIndices([name])] = others[name]
        scene.setJointPositions(q)


def main() -> None:
    robot = Robot(json.loads(sys.stdin.readline()))
    for line in sys.stdin:
        print(json.dumps(robot.plan(json.loads(line))), flush=True)


if __name__ == '__main__':
    main()
