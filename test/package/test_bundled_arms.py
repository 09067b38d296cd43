"""
The bundled arms against their published Denavit-Hartenberg tables, with pinocchio as judge.

The tables are written out here by hand, so nothing is shared with the xacro files but the
figures themselves.

"""

from math import cos, pi, sin
from pathlib import Path

from fabrik_ros.model.default_chain import gripper_joints
from fabrik_ros.model.urdf import parse_urdf
import numpy as np
import pytest

xacro = pytest.importorskip('xacro', reason='xacro expands the bundled arms; in the extra: test')
pinocchio = pytest.importorskip('pinocchio', reason='pinocchio judges; in the extra: test')

URDF = Path(__file__).parents[2] / 'urdf'
ARMS = sorted(path.name.removesuffix('.urdf.xacro') for path in URDF.glob('*.urdf.xacro'))

# Standard convention; d [m], a [m], alpha [rad].
UR5E = [
    (0.1625, 0.0, pi / 2),
    (0.0, -0.425, 0.0),
    (0.0, -0.3922, 0.0),
    (0.1333, 0.0, pi / 2),
    (0.0997, 0.0, -pi / 2),
    (0.0996, 0.0, 0.0),
]
# Modified convention: a and alpha come before the turn and d. The last row is the flange.
FR3 = [
    (0.333, 0.0, 0.0),
    (0.0, 0.0, -pi / 2),
    (0.316, 0.0, pi / 2),
    (0.0, 0.0825, pi / 2),
    (0.384, -0.0825, -pi / 2),
    (0.0, 0.0, pi / 2),
    (0.0, 0.088, pi / 2),
    (0.107, 0.0, 0.0),
]
FINGERS = {1.0: 'left_finger_joint', -1.0: 'right_finger_joint'}
"""Joints of the gripper, by the side of its y axis on which they move the fingers."""
UR5E_BASE_IN_BASE_LINK = np.diag([-1.0, -1.0, 1.0, 1.0])
"""Base frame of the UR5e table as seen from base_link, which has x forward."""


def standard_row(theta, d, a, alpha):
    """Rz(theta) Tz(d) Tx(a) Rx(alpha), multiplied out."""
    c, s, ca, sa = cos(theta), sin(theta), cos(alpha), sin(alpha)
    return np.array(
        [
            [c, -s * ca, s * sa, a * c],
            [s, c * ca, -c * sa, a * s],
            [0.0, sa, ca, d],
            [0.0, 0.0, 0.0, 1.0],
        ]
    )


def modified_row(theta, d, a, alpha):
    """Rx(alpha) Tx(a) Rz(theta) Tz(d), multiplied out."""
    c, s, ca, sa = cos(theta), sin(theta), cos(alpha), sin(alpha)
    return np.array(
        [
            [c, -s, 0.0, a],
            [s * ca, c * ca, -sa, -d * sa],
            [s * sa, c * sa, ca, d * ca],
            [0.0, 0.0, 0.0, 1.0],
        ]
    )


def ur5e(q):
    T = UR5E_BASE_IN_BASE_LINK
    for theta, row in zip(q, UR5E, strict=True):
        T = T @ standard_row(theta, *row)
    return T


def fr3(q):
    T = np.eye(4)
    for theta, row in zip([*q, 0.0], FR3, strict=True):
        T = T @ modified_row(theta, *row)
    return T


def expand(arm, **arguments):
    return xacro.process_file(str(URDF / f'{arm}.urdf.xacro'), mappings=arguments).toxml()


def model_of(arm, **arguments):
    return pinocchio.buildModelFromXML(expand(arm, **arguments))


def pose(model, q, tip, base='base_link'):
    data = model.createData()
    pinocchio.framesForwardKinematics(model, data, np.asarray(q, dtype=float))
    T_world_base = data.oMf[model.getFrameId(base)]
    return (T_world_base.inverse() * data.oMf[model.getFrameId(tip)]).homogeneous


def configurations(model, count=200):
    rng = np.random.default_rng(20)
    lower, upper = model.lowerPositionLimit, model.upperPositionLimit
    return [lower, upper, *rng.uniform(lower, upper, (count, model.nq))]


def test_six_axis_has_the_kinematics_of_the_ur5e():
    model = model_of('six_axis')
    for q in configurations(model):
        np.testing.assert_allclose(pose(model, q, 'tool0'), ur5e(q), atol=1e-12)


def test_seven_axis_has_the_kinematics_of_the_fr3():
    model = model_of('seven_axis')
    for q in configurations(model):
        np.testing.assert_allclose(pose(model, q, 'tool0'), fr3(q), atol=1e-12)


def test_six_axis_with_gripper_has_its_tool_between_the_tips_of_the_fingers():
    model = model_of('six_axis_gripper')
    for q in configurations(model, 20):
        flange, left, right = (
            pose(model, q, tip) for tip in ('tool0', 'left_finger_link', 'right_finger_link')
        )
        tcp = pose(model, q, 'tcp')
        np.testing.assert_allclose(tcp[:3, 3], flange @ [0.0, 0.0, 0.13, 1.0] @ np.eye(4, 3))
        np.testing.assert_allclose(tcp[:3, :3], flange[:3, :3])
        for finger, side in ((left, 1.0), (right, -1.0)):
            along = (np.linalg.inv(tcp) @ finger)[:3, 3]
            value = q[model.joints[model.getJointId(FINGERS[side])].idx_q]
            np.testing.assert_allclose(along, [0.0, side * value, 0.0], atol=1e-12)


@pytest.mark.parametrize('prefix', ['', 'left_'])
def test_tool_between_the_fingers_is_the_tip_by_default(prefix):
    robot = parse_urdf(expand('six_axis_gripper', prefix=prefix))
    assert robot.chain().tip_link == f'{prefix}tcp'
    assert gripper_joints(robot) == tuple(f'{prefix}{name}' for name in FINGERS.values())


def test_fingers_of_the_gripper_mirror_each_other():
    robot = parse_urdf(expand('six_axis_gripper'))
    mimic = robot.joint('right_finger_joint').mimic
    assert (mimic.source, mimic.multiplier, mimic.offset) == ('left_finger_joint', 1.0, 0.0)


def test_six_axis_stretches_forward_at_zero():
    """UR5e with all joints at zero reaches 0.8172 m along x; base_link has x forward."""
    position = pose(model_of('six_axis'), np.zeros(6), 'tool0')[:3, 3]
    np.testing.assert_allclose(position, [0.8172, 0.2329, 0.0628], atol=1e-12)


def test_planar_arm_follows_trigonometry():
    model = model_of('planar_two_link')
    for q1, q2 in configurations(model):
        T = pose(model, [q1, q2], 'tip_link')
        tip = [cos(q1) + 0.8 * cos(q1 + q2), sin(q1) + 0.8 * sin(q1 + q2), 0.0]
        np.testing.assert_allclose(T[:3, 3], tip, atol=1e-12)
        np.testing.assert_allclose(T[0, :2], [cos(q1 + q2), -sin(q1 + q2)], atol=1e-12)


def test_six_axis_has_the_limits_of_the_ur5e():
    model = model_of('six_axis')
    upper = np.radians([360.0, 360.0, 180.0, 360.0, 360.0, 360.0])
    np.testing.assert_allclose(model.upperPositionLimit, upper)
    np.testing.assert_allclose(model.lowerPositionLimit, -upper)
    np.testing.assert_allclose(model.velocityLimit, np.radians([180.0] * 6))
    np.testing.assert_allclose(model.effortLimit, [150.0, 150.0, 150.0, 28.0, 28.0, 28.0])


def test_seven_axis_has_the_limits_of_the_fr3():
    model = model_of('seven_axis')
    lower = [-2.7437, -1.7837, -2.9007, -3.0421, -2.8065, 0.5445, -3.0159]
    upper = [2.7437, 1.7837, 2.9007, -0.1518, 2.8065, 4.5169, 3.0159]
    np.testing.assert_allclose(model.lowerPositionLimit, lower)
    np.testing.assert_allclose(model.upperPositionLimit, upper)
    np.testing.assert_allclose(model.velocityLimit, [2.62, 2.62, 2.62, 2.62, 5.26, 4.18, 5.26])
    np.testing.assert_allclose(model.effortLimit, [87.0, 87.0, 87.0, 87.0, 12.0, 12.0, 12.0])


@pytest.mark.parametrize('arm', ARMS)
def test_prefix_goes_before_every_name(arm):
    plain, prefixed = model_of(arm), model_of(arm, prefix='left_')
    assert [f'left_{name}' for name in list(plain.names)[1:]] == list(prefixed.names)[1:]
    names = {frame.name for frame in prefixed.frames} - {'universe'}
    assert all(name.startswith('left_') for name in names)


@pytest.mark.parametrize('arm', ARMS)
def test_every_moving_link_has_a_plausible_inertia(arm):
    model = model_of(arm)
    for name, inertia in zip(list(model.names)[1:], list(model.inertias)[1:], strict=True):
        moments = np.linalg.eigvalsh(inertia.inertia)
        assert inertia.mass > 0.1, name
        assert moments[0] > 0.0, name
        assert moments[2] <= moments[0] + moments[1], f'{name}: no body has such an inertia'


@pytest.mark.parametrize('arm', ARMS)
@pytest.mark.parametrize('kind', ['VISUAL', 'COLLISION'])
def test_every_moving_link_has_a_shape(arm, kind):
    model = model_of(arm)
    shapes = pinocchio.buildGeomFromUrdfString(
        model, expand(arm), getattr(pinocchio.GeometryType, kind)
    )
    assert {shape.parentJoint for shape in shapes.geometryObjects} == set(range(model.njoints))
