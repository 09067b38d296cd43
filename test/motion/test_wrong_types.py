"""What is of the wrong kind is refused by a sentence that names it, and moves nothing."""

from fabrik_ros import (
    ArmFollower,
    example_arm,
    FabrikSolver,
    FollowerOptions,
    load_urdf,
    make_solver,
    plan,
    plan_program,
    SolverOptions,
    State,
    TreeSolver,
)
from fabrik_ros.collision import Scene
from fabrik_ros.errors import FabrikError
from fabrik_ros.programs import Joints, Program
from fabrik_ros.textbook.arm.point_arm_solver import PointArmSolver
import numpy as np
import pytest

DT = 0.01
START = [0.0, -1.3, 1.6, -1.9, -1.57, 0.0]
ROBOT = load_urdf(example_arm('six_axis'))
ARM = ROBOT.chain()
HERE = ARM.forward_kinematics(START)


@pytest.mark.parametrize(
    ('target', 'sentence'),
    [
        ({'elbow': '1'}, "joint 'elbow' cannot go to '1', which is no number"),
        ({'elbow': None}, "joint 'elbow' cannot go to None, which is no number"),
        ({'elbow': np.array([1.0])}, "joint 'elbow' cannot go to array"),
        ({2: 1.0}, "no joint '2' is moved; the joints are: shoulder_pan"),
        ({'elbw': 1.0}, "did you mean 'elbow'"),
        ([1.0, 'x'], 'the target is no array of numbers'),
    ],
)
def test_targets(target, sentence):
    follower = ArmFollower(ARM)
    follower.step(None, DT, measured=START)
    with pytest.raises(FabrikError, match=sentence):
        follower.step(target, DT, measured=START)
    assert np.array_equal(follower.step(None, DT, measured=START), START)
    assert follower.state is State.IDLE


@pytest.mark.parametrize('measured', [{'elbow': 1.0}, 'x', [None, 'x', 1.0, 1.0, 1.0, 1.0]])
def test_measurements(measured):
    with pytest.raises(FabrikError, match='measured is no array of numbers'):
        ArmFollower(ARM).step(None, DT, measured=measured)


@pytest.mark.parametrize(
    ('call', 'sentence'),
    [
        (lambda f: f.jog('x'), 'a jog must be six numbers'),
        (lambda f: f.jog(np.zeros(6), tip='tool0'), "got tip 'tool0'"),
        (lambda f: f.jog(np.zeros(6), tip=0.0), 'got tip 0.0'),
        (lambda f: f.scale_speed('x'), "share must be one number, got 'x'"),
        (lambda f: f.set_scene([]), r'scene must be of type Scene, got \[\]'),
        (lambda f: f.set_scene(None), 'scene must be of type Scene, got None'),
    ],
)
def test_calls(call, sentence):
    follower = ArmFollower(ARM, robot=ROBOT, scene=Scene())
    follower.step(None, DT, measured=START)
    with pytest.raises((TypeError, ValueError), match=sentence):
        call(follower)


def test_values_of_other_joints():
    follower = ArmFollower(ROBOT, scene=Scene())
    with pytest.raises(FabrikError, match="joint 'elbow' must stand at a number, got 'x'"):
        follower.set_other_joints({'elbow': 'x'})


@pytest.mark.parametrize(
    ('options', 'sentence'),
    [
        ({'max_joint_velocity': [1.0] * 6}, 'max_joint_velocity must be one number, got '),
        ({'max_tip_speed': 'a'}, "max_tip_speed must be one number, got 'a'"),
        ({'max_joint_velocity': None}, 'max_joint_velocity must be one number, got None'),
        ({'max_tip_speed': True}, 'max_tip_speed must be one number, got True'),
        ({'path_tolerance_position': 'a'}, "path_tolerance_position must be one number, got 'a'"),
    ],
)
def test_options_of_the_motion(options, sentence):
    with pytest.raises(TypeError, match=sentence):
        ArmFollower(ARM, FollowerOptions(**options))
    with pytest.raises(TypeError, match=sentence):
        plan(ARM, START, HERE, options=FollowerOptions(**options))


@pytest.mark.parametrize('name', ['home_configuration', 'start_configuration', 'posture'])
def test_configurations_may_be_arrays(name):
    follower = ArmFollower(ARM, FollowerOptions(**{name: np.array(START)}))
    assert np.array_equal(follower.step(None, DT, measured=START), START)


@pytest.mark.parametrize(
    ('options', 'sentence'),
    [
        ({'budget': '1'}, "budget must be one number, got '1'"),
        ({'max_restarts': '3'}, "max_restarts must be of type Integral, got '3'"),
        ({'max_restarts': 1.5}, 'max_restarts must be of type Integral, got 1.5'),
        ({'position_tolerance': None}, 'position_tolerance must be one number, got None'),
    ],
)
def test_options_of_the_solver(options, sentence):
    with pytest.raises(TypeError, match=sentence):
        SolverOptions(**options)


@pytest.mark.parametrize(
    ('make', 'arm'),
    [
        (FabrikSolver, ARM),
        (make_solver, ARM),
        (PointArmSolver, ARM),
        (TreeSolver, ROBOT.tree('base_link', ['tool0'])),
    ],
)
def test_options_that_are_none(make, arm):
    with pytest.raises(TypeError, match='options must be of type SolverOptions, got '):
        make(arm, {'budget': 1})


@pytest.mark.parametrize(
    ('call', 'sentence'),
    [
        (lambda: plan(ARM, START, HERE, options=5), 'SolverOptions or FollowerOptions, got 5'),
        (lambda: ArmFollower(ARM, SolverOptions()), 'options must be of type FollowerOptions'),
        (
            lambda: plan_program(ARM, START, Program([Joints(START)]), motion={}),
            'motion must be of type',
        ),
        (lambda: ArmFollower(ARM, robot=ROBOT, scene=[]), r'scene must be of type Scene or'),
        (lambda: plan(ARM, START, HERE, [], robot=ROBOT), r'scene must be of type Scene or'),
        (lambda: plan(ARM, START, HERE, planning_time='x'), 'planning_time must be one number'),
        (lambda: FollowerOptions(posture=5), 'posture must be a list of joint values, got 5'),
    ],
)
def test_arguments_of_other_kinds(call, sentence):
    with pytest.raises(TypeError, match=sentence):
        call()


def test_numbers_and_configurations_of_other_libraries():
    assert SolverOptions(max_restarts=np.int64(3)).max_restarts == 3
    options = FollowerOptions(posture=None, home_configuration=np.array([0.5]))
    assert (options.posture, options.home_configuration) == ((), (0.5,))
    assert repr(options) == 'FollowerOptions(home_configuration=(0.5,))'
    follower = ArmFollower(ARM)
    follower.step({'elbow': np.array(1.5)}, np.float32(DT), measured=START)
    follower.step(None, np.array(DT), measured=START)
    assert follower.refusal is None


def test_one_tip_instead_of_several():
    with pytest.raises(TypeError, match=r"several names, as \['tool0'\]"):
        ROBOT.tree('base_link', 'tool0')


def test_plans_take_joint_values_by_name_as_followers_do():
    way = plan(ARM, START, {'elbow': 1.0})
    assert np.allclose(way.q, [*START[:2], 1.0, *START[3:]])
    with pytest.raises(FabrikError, match="joint 'elbow' cannot go to '1'"):
        plan(ARM, START, {'elbow': '1'})
    outside = [ARM.lower[0] - 0.05, *START[1:]]
    assert plan(ARM, outside, {'elbow': 1.0}).q[0] == ARM.lower[0]
