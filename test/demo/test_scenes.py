"""Scenes of the demo: what their targets have in common, what stands around, what is done."""

import argparse
from itertools import islice

from fabrik_ros import example_arm, FabrikSolver, load_urdf, plan, Status
from fabrik_ros.collision import link_poses, load_scene
from fabrik_ros.model.geometry import Box
from fabrik_ros.planning import PlannerSetup
from helpers import assert_close
import numpy as np
import pytest
from run import START
from scenes import read_boxes, scene_named, SCENES
from tally import LONG, Tally
import targets

ROBOT = load_urdf(example_arm('six_axis'))
CHAIN = ROBOT.chain()
REFUSED = 3.0
"""Targets farther away than so many times the reach are refused, as not meant [1]."""
ROUND = len(targets.OCTANTS)


def first(name: str, count: int) -> list[np.ndarray]:
    return list(islice(SCENES[name].sequence(CHAIN), count))


def from_first_joint(T: np.ndarray) -> np.ndarray:
    return T[:3, 3] - CHAIN.root_point


@pytest.mark.parametrize('name', sorted(SCENES.keys() - {'program'}))
def test_targets_are_poses_and_the_same_each_time(name):
    for T, again in zip(first(name, 30), first(name, 30), strict=True):
        np.testing.assert_array_equal(T, again)
        assert_close(T[:3, :3] @ T[:3, :3].T, np.eye(3))
        assert_close(T[3], [0.0, 0.0, 0.0, 1.0])


def test_all_round_each_target_can_be_reached_and_each_octant_has_two():
    solver = FabrikSolver(CHAIN)
    for number, T in enumerate(first('around', 2 * ROUND)):
        assert solver.solve(T, seed=CHAIN.mid_configuration()).status is Status.CONVERGED
        if number % 2 == 0:
            assert np.all(from_first_joint(T) * targets.OCTANTS[number // 2] > 0.0)


def test_out_of_reach_each_target_is_farther_away_than_the_arm_is_long_but_may_be_meant():
    for number, T in enumerate(first('reach', 25 * ROUND)):
        share = np.linalg.norm(from_first_joint(T)) / CHAIN.reach
        assert 1.05 < share < REFUSED
        assert np.all(from_first_joint(T) * targets.OCTANTS[number % ROUND] > 0.0)
    solution = FabrikSolver(CHAIN).solve(T, seed=CHAIN.mid_configuration())
    assert solution.status.name.lower() in SCENES['reach'].reasons


def test_between_obstacles_each_target_has_a_free_configuration():
    pytest.importorskip('pinocchio', reason='pinocchio is the judge')
    pytest.importorskip('coal', reason='coal measures the distances')
    from way_judge import BoxAround, WayJudge

    boxes = {
        name: BoxAround(box.size, placed(box.centre))
        for name, box in SCENES['obstacles'].boxes().items()
    }
    judge, rng = (
        WayJudge(ROBOT.source, 'base_link', 'tool0', boxes=boxes),
        np.random.default_rng(1),
    )
    for T in first('obstacles', 3 * len(targets.ROUND)):
        assert judge.configurations_at(T, CHAIN.mid_configuration(), rng) != []


def placed(centre) -> np.ndarray:
    T = np.eye(4)
    T[:3, 3] = centre
    return T


def test_between_obstacles_targets_lie_on_both_sides_of_the_wall_and_in_the_shelf():
    scene = SCENES['obstacles']
    wall, middle = scene.boxes()['wall'], scene.boxes()['shelf_middle']
    sides = [np.sign(T[1, 3] - wall.centre[1]) for T in first('obstacles', 50)]
    assert {-1.0, 1.0} == set(sides)
    front = middle.centre[0] - 0.5 * middle.size[0]
    inside = [T[2, 3] > middle.centre[2] for T in first('obstacles', 50) if T[0, 3] > front]
    assert {True, False} == set(inside[:10])


def test_what_stands_around_is_a_scene_for_the_node():
    file = SCENES['obstacles'].file
    scene = {obstacle.name: obstacle for obstacle in load_scene(file, link_poses(ROBOT))}
    boxes = read_boxes(file)
    assert scene.keys() == boxes.keys()
    for name, box in boxes.items():
        assert scene[name].shape == Box(box.size)
        assert_close(scene[name].T_link_obstacle, placed(box.centre))


def test_scene_that_does_not_exist_is_refused_with_those_that_do():
    with pytest.raises(argparse.ArgumentTypeError) as refused:
        scene_named('rech')
    assert "no scene 'rech'" in str(refused.value)
    for name, scene in SCENES.items():
        assert f'{name}: {scene.meaning}' in str(refused.value)
        assert scene_named(name) is scene


def tally(done: int, judged: int) -> Tally:
    made = Tally()
    for number in range(judged):
        made.leave(number < done, (0.0, 0.0), 'too far')
    return made


def test_run_went_well_if_enough_targets_are_done_and_no_command_is_out_of_bounds():
    assert tally(95, 100).went_well(LONG - 1.0, 0)
    assert tally(95, 100).went_well(float('inf'), 0)  # it was ended by hand, at any time
    assert not tally(94, 100).went_well(LONG - 1.0, 0)
    assert not tally(98, 100).went_well(LONG, 0)
    assert not tally(100, 100).went_well(10.0, 1)
    assert not tally(0, 0).went_well(10.0, 0)


def test_answers_are_counted_for_targets_that_were_done():
    assert tally(2, 3).answers == {'too far': 2}


def test_programs_go_through_from_where_the_one_before_ends():
    pytest.importorskip('coal', reason='coal measures the distances')
    scene = load_scene(SCENES['program'].file, link_poses(ROBOT))
    world, q = PlannerSetup(ROBOT, CHAIN).world(scene), np.array(START)
    for program in first('program', 4):
        result = plan(CHAIN, q, program, world)
        assert result, result.reason
        assert not result.remarks
        q = result.q[-1]
