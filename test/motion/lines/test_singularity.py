"""Names of singular configurations, beside pinocchio's Jacobian."""

import functools
import math

from drawing import random_numbers
from fabrik_ros import load_urdf
from fabrik_ros.motion.lines.singularity import Jacobian, name_singularity
from helpers import example_robot, PLANAR, REAL_ARMS, SIX_AXIS
from hypothesis import given, settings
import numpy as np
import pytest

pinocchio = pytest.importorskip('pinocchio', reason='pinocchio is the judge')


@functools.cache
def arm(name):
    if name == 'six':
        return load_urdf(SIX_AXIS).chain(), SIX_AXIS, 'l7'
    real = REAL_ARMS[name]
    robot = load_urdf(example_robot(name), use_safety_limits=False)
    return robot.chain(real.base_link, real.tip_link), robot.source, real.tip_link


@functools.cache
def judge(name):
    _, source, tip = arm(name)
    model = pinocchio.buildModelFromXML(source)
    return model, model.createData(), model.getFrameId(tip)


def judged_jacobian(name, q):
    """Jacobian of the tip by pinocchio, shape (6, n), for arms whose base is the root."""
    model, data, frame = judge(name)
    full, columns = pinocchio.neutral(model), []
    for joint, value in zip(arm(name)[0].joint_names, q, strict=True):
        found = model.joints[model.getJointId(joint)]
        turns = found.nq == 2
        full[found.idx_q : found.idx_q + found.nq] = (
            [math.cos(value), math.sin(value)] if turns else value
        )
        columns.append(found.idx_v)
    pinocchio.computeJointJacobians(model, data, full)
    pinocchio.updateFramePlacements(model, data)
    J = pinocchio.getFrameJacobian(model, data, frame, pinocchio.LOCAL_WORLD_ALIGNED)
    return J[:, columns]


def smallest(name, q):
    return np.linalg.svd(judged_jacobian(name, q), compute_uv=False)[-1]


@settings(deadline=None)
@given(seed=random_numbers())
def test_jacobian_is_that_of_pinocchio(seed):
    chain, _, _ = arm('six')
    q = chain.random_configuration(np.random.default_rng(seed))
    np.testing.assert_allclose(Jacobian(chain).at(q), judged_jacobian('six', q), atol=1e-12)


@settings(deadline=None)
@given(seed=random_numbers())
def test_aligned_wrist_is_named_and_the_joint_leads_out(seed):
    chain, _, _ = arm('six')
    q = chain.random_configuration(np.random.default_rng(seed))
    q[1:3] = -0.9, 1.4  # neither stretched nor above the first axis
    q[4] = 0.001
    found = name_singularity(chain, q)
    assert (found.kind, found.joint) == ('wrist singularity', 'j4')
    assert abs(found.near) < 0.01
    assert str(found) == 'wrist singularity, j4 near 0'
    beside = q.copy()
    beside[4] += 0.4
    assert smallest('six', beside) > 10.0 * smallest('six', q)


@settings(deadline=None)
@given(seed=random_numbers())
def test_nothing_is_named_far_from_singular_configurations(seed):
    chain, _, _ = arm('six')
    q = chain.random_configuration(np.random.default_rng(seed))
    if smallest('six', q) > 0.1:
        assert name_singularity(chain, q) is None


UR5_CASES = [
    ((0.3, -1.0, 1.2, 0.4, 0.01, 0.2), 'wrist singularity', 'wrist_2_joint'),
    ((0.3, -1.0, 0.02, 0.4, 1.0, 0.2), 'stretched arm', 'elbow_joint'),
]


@pytest.mark.parametrize(('q', 'kind', 'joint'), UR5_CASES)
def test_singularities_of_a_real_arm(q, kind, joint):
    found = name_singularity(arm('ur5')[0], np.array(q))
    assert (found.kind, found.joint) == (kind, joint)
    assert abs(found.near) < 0.03


def test_stretched_arm_of_two_links():
    chain = load_urdf(PLANAR).chain()
    found = name_singularity(chain, np.array([0.4, 0.01]))
    assert (found.kind, found.joint) == ('stretched arm', 'j1')
    assert name_singularity(chain, np.array([0.4, 1.0])) is None
