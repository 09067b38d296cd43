"""Programs among obstacles: nothing is touched, by pinocchio and coal."""

import pytest

pytest.importorskip('pinocchio', reason='pinocchio is the judge')
pytest.importorskip('coal', reason='coal measures the distances')
pytest.importorskip('xacro', reason='the bundled arms are xacro files')

from fabrik_ros import example_arm, FollowerOptions, load_urdf, plan
from fabrik_ros.collision import Obstacle, Scene
from fabrik_ros.model.geometry import Box
from fabrik_ros.planning import PlannerSetup
from fabrik_ros.programs import Joints, Line, Move, Program
from helpers import examples
import numpy as np
from plan_judge import PlanJudge
from program_judge import judged_program
from random_programs import random_program
from solving import judged
import xacro

START = np.array([0.0, -1.3, 1.6, -1.9, -1.57, 0.0])
ANYTHING = -10.0
"""Clearance of what the judge does not look at: the arm's own links [m]."""
BOXES = {
    'table': ((1.6, 1.6, 0.1), (0.0, 0.0, -0.1)),
    'wall': ((0.04, 0.8, 0.5), (0.75, 0.55, 0.3)),
    'post': ((0.08, 0.08, 1.2), (0.3, -0.45, 0.6)),
    'shelf': ((0.3, 0.5, 0.03), (-0.6, 0.3, 0.6)),
}


@pytest.fixture(scope='module')
def cell():
    urdf = xacro.process_file(str(example_arm('six_axis'))).toxml()
    robot = load_urdf(urdf)
    arm = robot.chain()
    scene = Scene(Obstacle(name, Box(size), _at(xyz)) for name, (size, xyz) in BOXES.items())
    world = PlannerSetup(robot, arm).world(scene)
    return arm, world, PlanJudge(urdf, arm.joint_names, BOXES, clearance=ANYTHING)


def _at(xyz):
    T = np.eye(4)
    T[:3, 3] = xyz
    return T


def test_random_programs_touch_nothing(cell):
    arm, world, touches = cell
    judge, limits = judged('six_axis')[1], FollowerOptions().limits_for(arm)
    rng, driven, blocked = np.random.default_rng(11), 0, 0
    for _ in range(examples(12, 80)):
        program = random_program(rng, arm, START, int(rng.integers(2, 6)))
        result = plan(arm, START, program, world)
        if not result:
            blocked += 'collision' in result.reason.text
            continue
        assert touches.fault(result.q) == ''
        found = judged_program(judge, program, result, limits)
        assert not found.wrong, found.wrong[:5]
        driven += 1
    assert driven > 2


def test_line_through_a_wall_is_refused_and_a_move_goes_round_it(cell):
    arm, world, touches = cell
    goal = arm.tip_poses(START - [1.5, 0.0, 0.0, 0.0, 0.0, 0.0])[0]
    line = plan(arm, START, Program([Line(goal)]), world)
    assert not line
    assert line.reason.text.startswith('segment 1 (line): ')
    assert 'post' in line.reason.text
    free = plan(arm, START, Program([Move(goal), Joints(START)]), world)
    assert free, free.reason
    assert touches.fault(free.q) == ''
