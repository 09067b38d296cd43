"""The pose that simulated arms start in: bent, in front, legal and, by coal, clear of itself."""

import pytest

pytest.importorskip('pinocchio', reason='pinocchio is the judge')
pytest.importorskip('coal', reason='coal judges collisions')

from collision_models import real_robot
from fabrik_ros import example_arm, load_urdf
from fabrik_ros.collision import SelfCollision
from fabrik_ros.model.bent_pose import bent_configuration
from helpers import joint_xml, robot_xml
import numpy as np
import pinocchio


def jacobian(robot, chain, q):
    """Jacobian of the tip of a chain, shape (6, n), by pinocchio."""
    model = pinocchio.buildModelFromXML(robot.source)
    data, values = model.createData(), pinocchio.neutral(model)
    numbers = [model.joints[model.getJointId(name)].idx_v for name in chain.joint_names]
    values[[model.joints[model.getJointId(name)].idx_q for name in chain.joint_names]] = q
    frame = model.getFrameId(chain.tip_link)
    full = pinocchio.computeFrameJacobian(model, data, values, frame, pinocchio.LOCAL)
    return full[:, numbers]


@pytest.mark.parametrize('name', ['ur5', 'panda', 'six_axis'])
def test_real_arms_start_bent_and_clear_of_themselves(name):
    if name == 'six_axis':
        robot = load_urdf(example_arm(name))
        arm, folders = robot.chain(), []
    else:
        robot, arm, packages, _ = real_robot(name)
        folders = [str(packages)]
    q = bent_configuration(arm)
    assert np.all((arm.lower + 0.09 <= q) & (q <= arm.upper - 0.09))
    assert SelfCollision(robot, arm, mesh_paths=folders).is_collision_free(q)
    assert np.linalg.svd(jacobian(robot, arm, q), compute_uv=False)[-1] > 0.05
    points = arm.points(q)
    assert points[:, 2].min() > points[0, 2] - 0.1, 'not through the floor'
    tip = points[-1] - points[0]
    assert tip[0] > 0.2
    assert 0.3 * arm.reach < np.linalg.norm(tip) < 0.85 * arm.reach


@pytest.mark.parametrize('name', ['ur5', 'panda', 'six_axis', 'seven_axis'])
def test_real_arms_look_like_arms_at_work(name):
    """The elbow is over the tool, which points down in front; nothing leans aside."""
    if name in ('ur5', 'panda'):
        robot, arm, _, _ = real_robot(name)
    else:
        robot = load_urdf(example_arm(name))
        arm = robot.chain()
    model = pinocchio.buildModelFromXML(robot.source)
    data, values = model.createData(), pinocchio.neutral(model)
    numbers = [model.getJointId(joint) for joint in arm.joint_names]
    values[[model.joints[k].idx_q for k in numbers]] = bent_configuration(arm)
    pinocchio.framesForwardKinematics(model, data, values)
    tip = data.oMf[model.getFrameId(arm.tip_link)]
    centres = np.array([data.oMi[k].translation for k in numbers])
    assert tip.rotation[2, 2] < -0.9
    assert centres[3:, 2].min() > tip.translation[2] - 1e-6, 'elbow and wrist are over the tool'
    assert np.abs(centres[:, 1]).max() < 0.2 * arm.reach


def test_several_arms_have_a_pose_that_is_always_the_same():
    _, tree, _, _ = real_robot('talos')
    q = bent_configuration(tree)
    assert np.all((tree.lower <= q) & (q <= tree.upper))
    assert np.array_equal(bent_configuration(tree), q)


def test_joints_without_choice_stand_in_the_middle():
    limits = '<limit lower="0.2" upper="0.3" velocity="1" effort="1"/>'
    joints = (
        joint_xml('turn', 'a', 'b', body=limits),
        joint_xml('slide', 'b', 'c', 'prismatic', limits),
    )
    assert bent_configuration(load_urdf(robot_xml('a b c', *joints)).chain()) == pytest.approx(
        0.25
    )


def test_best_of_the_clear_ones_is_taken_and_of_all_where_none_is():
    arm = load_urdf(example_arm('six_axis')).chain()
    best = bent_configuration(arm)
    clear = bent_configuration(arm, lambda q: not np.array_equal(q, best))
    assert not np.array_equal(clear, best)
    assert np.array_equal(bent_configuration(arm, lambda q: q[1] < best[1] + 10.0), best)
    assert np.array_equal(bent_configuration(arm, lambda q: False), best)


def test_arm_without_length_has_one_too():
    wheel = load_urdf(robot_xml('a b', joint_xml('turn', 'a', 'b', 'continuous'))).chain()
    assert wheel.reach == 0.0
    assert np.isfinite(bent_configuration(wheel)).all()
