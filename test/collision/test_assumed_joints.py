"""Joints that nobody told of: named, with the value assumed, where collisions are looked for."""

import math

from collision_models import body, with_bodies
from fabrik_ros import ArmFollower, FollowerOptions, load_urdf, pose_from_xyz_rpy, State
from fabrik_ros.collision import (
    CollisionGuard,
    Obstacle,
    Scene,
    SelfCollision,
    WorldCollision,
)  # fmt: skip
from fabrik_ros.errors import CollisionUnavailableError, JointValueError
from fabrik_ros.model.geometry import Sphere
from fabrik_ros.motion.choosing.motion import Motion
from fabrik_ros.motion.paths.planned_path import PlannedPath
from helpers import joint_xml, robot_xml
import numpy as np
import pytest

pytest.importorskip('coal', reason='coal measures the distances')

BALL = '<sphere radius="0.1"/>'
LOST = '<mesh filename="package://nowhere/link.stl"/>'
HINGE = '<limit lower="-3" upper="3" velocity="1"/>'
ROBOT = robot_xml(
    'body mast upper hand finger thumb tail',
    joint_xml('mount', 'body', 'mast', 'fixed', '<origin xyz="0 2 0"/>'),
    joint_xml('shoulder', 'body', 'upper', body=f'<axis xyz="0 0 1"/>{HINGE}'),
    joint_xml('elbow', 'upper', 'hand', body=f'<origin xyz="1 0 0"/><axis xyz="0 0 1"/>{HINGE}'),
    joint_xml(
        'grip',
        'hand',
        'finger',
        'prismatic',
        '<origin xyz="0.5 0 0"/><limit lower="0.1" upper="0.4" velocity="1"/>',
    ),
    joint_xml('squeeze', 'hand', 'thumb', 'prismatic', '<mimic joint="grip"/>' + HINGE),
    joint_xml('wag', 'body', 'tail', 'continuous', '<origin xyz="-1 0 0"/><axis xyz="0 0 1"/>'),
)
"""An arm of 1 m in the plane; finger and thumb slide along x at its hand; a mast and a tail."""
LIMITS = {'grip': (0.1, 0.4), 'wag': (-3.0, 3.0)}
OTHERS = {'grip', 'wag'}
"""All joints outside the arm that have a value of their own."""
BODIES = [
    {'mast': '0 0 0', 'finger': '0 0 0'},
    {'mast': '0 0 0', 'thumb': '0 0 0'},
    {'tail': '0 0.3 0', 'finger': '0 0 0'},
    {'tail': '0 0.3 0', 'upper': '0.5 0 0'},
    {'mast': '0 0 0', 'upper': '0.5 0 0'},
    {'mast': '0 0 0', 'tail': '0 0.3 0'},
    {'finger': '0 0 0', 'hand': '0 0.5 0'},
    {'body': '0 0 1', 'mast': '0 0 0', 'upper': '0.5 0 0'},
]
POST = np.array([1.75, 0.0])
"""Where the finger is, with the arm stretched out, when it is open by 0.25 m."""


def robot_with(bodies):
    shapes = {link: body(BALL, xyz) for link, xyz in bodies.items()}
    return load_urdf(with_bodies(ROBOT, shapes))


def collision_of(bodies, **options):
    robot = robot_with(bodies)
    return SelfCollision(robot, robot.chain('body', 'hand'), **options)


def scene_with_post():
    return Scene([Obstacle('post', Sphere(0.1), pose_from_xyz_rpy([*POST, 0.0]))])


def distances(collision, q, name, value):
    collision.set_other_joints({name: value})
    return np.array([collision.distances.measure(p, q) for p in range(len(collision.distances))])


@pytest.mark.parametrize('bodies', BODIES)
def test_joints_that_count_are_those_that_change_a_distance(bodies):
    q = np.array([0.4, 0.9])
    changing = set()
    for name in OTHERS:
        collision = collision_of(bodies)
        low, high = (distances(collision, q, name, value) for value in LIMITS[name])
        if np.any(np.abs(high - low) > 1e-6):
            changing.add(name)
    assert set(collision_of(bodies).other_joints) == changing


@pytest.mark.parametrize('bodies', BODIES)
def test_joint_that_counts_is_assumed_until_it_is_told(bodies):
    world = WorldCollision(collision_of(bodies), Scene())
    expected = {name: LIMITS[name][0] if name == 'grip' else 0.0 for name in world.other_joints}
    assert world.assumed_joints == expected
    world.set_other_joints({'grip': math.nan, 'shoulder': 1.0})
    assert world.assumed_joints == expected
    world.set_other_joints({'grip': 0.2})
    world.set_scene(scene_with_post())
    assert 'grip' not in world.assumed_joints
    world.set_other_joints({'wag': 0.0})
    assert world.assumed_joints == {}


def test_what_comes_near_an_obstacle_or_hangs_on_a_finger_counts():
    world = WorldCollision(collision_of({'finger': '0 0 0'}), Scene())
    assert world.assumed_joints == {}
    world.set_scene(scene_with_post())
    assert world.assumed_joints == {'grip': 0.1}
    held = Obstacle('held', Sphere(0.05), pose_from_xyz_rpy([0.0, 0.3, 0.0]), link='tail')
    other = WorldCollision(collision_of({'upper': '0.5 0 0'}), Scene([held]))
    assert other.assumed_joints == {'wag': 0.0}


def follower_of(bodies, **options):
    robot = robot_with(bodies)
    chain = robot.chain('body', 'hand')
    settings = FollowerOptions(path='joint', mode='position', max_tip_speed=1.0)
    return ArmFollower(
        chain, settings, robot=robot, scene=scene_with_post(), looking_time=math.inf, **options
    )


def end_of_way(follower):
    """Send the arm to where it is stretched out; return its last values."""
    q = follower.step({'shoulder': 0.0, 'elbow': 0.0}, 0.01, [1.0, 0.0])
    for _ in range(600):
        q = follower.step(None, 0.01, q)
    assert follower.is_at_rest
    return q


def gap(q, grip):
    """From the finger to the post [m], on paper."""
    turn = np.array([math.cos(q[0] + q[1]), math.sin(q[0] + q[1])])
    elbow = np.array([math.cos(q[0]), math.sin(q[0])])
    return float(np.linalg.norm(elbow + (0.5 + grip) * turn - POST)) - 0.2


def test_follower_goes_by_what_it_was_told_and_names_what_it_assumes():
    follower = follower_of({'finger': '0 0 0'})
    assert 'not told, so assumed: grip: 0.1' in follower.collision_checking
    follower.set_other_joints({'grip': 0.25, 'shoulder': 0.3, 'squeeze': 0.25})
    assert 'assumed' not in follower.collision_checking
    q = end_of_way(follower)
    assert gap(q, 0.25) > 0.0
    assert follower.state is not State.REACHED


def test_follower_takes_values_from_the_beginning():
    follower = follower_of({'finger': '0 0 0'}, other_joints={'grip': 0.25})
    assert 'assumed' not in follower.collision_checking
    assert gap(end_of_way(follower), 0.25) > 0.0
    with pytest.raises(JointValueError, match=r"'gripp' moves; did you mean 'grip'\?"):
        follower_of({'finger': '0 0 0'}, other_joints={'gripp': 0.1})


def test_plan_goes_by_what_it_was_told_and_names_what_it_assumes():
    from fabrik_ros.planning import plan, PlanOutcome

    robot = robot_with({'finger': '0 0 0'})
    arm = robot.chain('body', 'hand')
    way = [1.0, 0.0], [0.0, 0.0], Scene()
    assert 'assumed' not in plan(arm, *way, robot=robot).collision_checking
    post = Scene([Obstacle('post', Sphere(0.1), pose_from_xyz_rpy([2.0, 0.0, 0.0]))])
    way = [1.0, 0.0], [0.0, 0.0], post
    assumed = plan(arm, *way, robot=robot)
    assert assumed.found
    assert 'not told, so assumed: grip: 0.1' in assumed.collision_checking
    told = plan(arm, *way, robot=robot, other_joints={'grip': 0.4})
    assert told.outcome is PlanOutcome.GOAL_IN_COLLISION
    assert 'assumed' not in told.collision_checking
    assert plan(arm, *way[:2]).collision_checking.startswith('off: ')


@pytest.mark.parametrize(
    ('shapes', 'state'),
    [
        ({'mast': BALL, 'hand': BALL}, 'on: 1 pair of links'),
        (
            {'mast': BALL, 'hand': BALL, 'upper': LOST},
            'partly on: 1 pair of links; no shape of upper',
        ),
        ({'hand': BALL}, "off: no link but 'hand' has a shape"),
        ({'hand': BALL, 'upper': LOST}, "off: no link but 'hand' has a shape: link 'upper', pack"),
        ({'hand': BALL, 'upper': BALL}, 'off: no two links that could meet have a shape'),
        ({'hand': LOST}, 'off: no link has a shape, as no collision geometry could be loaded'),
        ({}, 'off: no link has a shape: the robot has no <collision> geometry'),
    ],
)
def test_nothing_that_is_looked_at_is_never_called_on(shapes, state):
    bodies = {link: body(shape) for link, shape in shapes.items()}
    robot = load_urdf(with_bodies(ROBOT, bodies))
    arm = robot.chain('body', 'hand')
    assert ArmFollower(arm, robot=robot).collision_checking.startswith(state)
    is_whole = LOST not in shapes.values() and len(shapes) > 1
    required = FollowerOptions(self_collision='require')
    if is_whole:
        assert ArmFollower(arm, required, robot=robot).collision_checking.startswith(state)
    else:
        with pytest.raises(CollisionUnavailableError, match='shape'):
            ArmFollower(arm, required, robot=robot)


def test_finger_that_opens_on_a_planned_path_stops_the_arm():
    """The path was free, and is looked at once more as it is not any longer."""
    robot = robot_with({'finger': '0 0 0'})
    arm = robot.chain('body', 'hand')
    place = pose_from_xyz_rpy((2.0 * math.cos(0.3), 2.0 * math.sin(0.3), 0.0), (0.0, 0.0, 0.0))
    own = SelfCollision(robot, arm, other_joints={'grip': 0.1})
    world = WorldCollision(own, Scene([Obstacle('post', Sphere(0.1), place)]))
    options, guard = (
        FollowerOptions(max_tip_speed=2.0, max_tip_rotation=2.0),
        CollisionGuard(world),
    )
    limits = options.limits_for(arm)
    motion = Motion(arm, limits, options.solver, options.motion, guard=guard)
    knots = np.linspace([-1.0, 0.0], [1.0, 0.0], 41)
    for opens in (False, True):
        world.set_other_joints({'grip': 0.1})
        motion.reset(knots[0])
        motion.follow(PlannedPath(motion.limiter, knots))
        while motion.path is not None and motion.path.share < 0.3:
            motion.step(0.01)
        assert motion.limiter.refusal == ''
        if opens:
            world.set_other_joints({'grip': 0.4})
        while not motion.is_at_rest:
            motion.step(0.01)
            assert world.is_collision_free(motion.q)
        assert (motion.q[0] < 0.3) == opens
    assert "'finger' and 'post'" in motion.reason.text
