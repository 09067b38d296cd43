"""Where the joints are, by pinocchio."""

import pytest

pytest.importorskip('pinocchio', reason='pinocchio is the judge')

from collision_models import REAL, real_robot
import numpy as np
import pinocchio


@pytest.mark.parametrize('name', REAL)
def test_joints_are_where_pinocchio_has_them(name):
    robot, arm, _, _ = real_robot(name)
    model = pinocchio.buildModelFromXML(robot.source)
    q = arm.random_configuration(np.random.default_rng(1))
    values = pinocchio.neutral(model)
    joints = [model.joints[model.getJointId(name)] for name in arm.joint_names]
    for joint, value in zip(joints, q, strict=True):
        turns = joint.nq == 2  # without limits: cosine and sine
        values[joint.idx_q : joint.idx_q + joint.nq] = (
            (np.cos(value), np.sin(value)) if turns else value
        )
    data = model.createData()
    pinocchio.framesForwardKinematics(model, data, values)
    T_world_base = data.oMf[model.getFrameId(arm.base_link)]
    expected = [T_world_base.actInv(data.oMi[joint.id]).translation for joint in joints]
    assert arm.joint_points(q) == pytest.approx(np.array(expected), abs=1e-9)
