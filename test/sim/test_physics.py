"""The simulated physics, judged by mechanics on paper and by pinocchio."""

import math
import re

from fabrik_ros import example_arm, load_urdf
from fabrik_ros.errors import FabrikError, JointValueError, UrdfError
from helpers import assert_close, example_robot, joint_xml, REAL_ARMS, robot_xml
from hypothesis import given, strategies as st
import numpy as np
import pytest

pytest.importorskip('mujoco', reason='the extra `sim`: pip install mujoco')

from fabrik_ros.sim.mujoco_model import GRAVITY, PhysicsError, PhysicsOptions
from fabrik_ros.sim.physics import PhysicalArm
import mujoco

MASS, LENGTH = 2.0, 0.5
EFFORT = 40.0
SOLID = PhysicsOptions(friction=False)
UNCOMPENSATED = PhysicsOptions(friction=False, gravity_compensation=0.0)
BUNDLED = 'six_axis', 'six_axis_gripper', 'seven_axis', 'planar_two_link'
FREE = PhysicsOptions(powered=False, friction=False, timestep=2e-4)


def inertial(mass=MASS, xyz=(0, 0, 0), moments=(1e-3, 1e-3, 1e-3)):
    x, y, z = xyz
    ixx, iyy, izz = moments
    return (
        f'<inertial><origin xyz="{x} {y} {z}"/><mass value="{mass}"/>'
        f'<inertia ixx="{ixx}" iyy="{iyy}" izz="{izz}" ixy="0" ixz="0" iyz="0"/></inertial>'
    )


def pendulum(kind='continuous', limits='', body='', load=None):
    """Write a weight on a rod along x that turns about y: at q = 0 it is held out level."""
    load = inertial(xyz=(LENGTH, 0, 0)) if load is None else load
    limit = f'<limit effort="{EFFORT}" velocity="10" {limits}/>'
    joint = joint_xml('hinge', 'base', 'rod', kind, f'<axis xyz="0 1 0"/>{limit}{body}')
    return (
        f'<robot name="pendulum"><link name="base"/><link name="rod">{load}</link>{joint}</robot>'
    )


def settled(arm, duration=2.0):
    arm.step(duration)
    return arm


def hold(arm, target):
    """Tell the only joint that takes targets to be there."""
    arm.follow(np.array([target]), np.zeros(1))


def bundled(name):
    pytest.importorskip('xacro')
    return load_urdf(example_arm(name)).source


def text_of(name):
    """URDF of a bundled arm or of one of example-robot-data."""
    if name in BUNDLED:
        return bundled(name)
    return example_robot(name).read_text(encoding='utf-8-sig')


# Weight: torque = m g l cos q; a drive of stiffness k gives way by torque / k.


@given(q=st.floats(-3.0, 3.0))
def test_arm_without_gravity_compensation_sags_by_torque_over_stiffness(q):
    arm = PhysicalArm(pendulum(), options=UNCOMPENSATED)
    arm.reset({'hinge': q})
    settled(arm)
    # Positive q turns x downwards: weight pulls towards larger q while cos q > 0.
    sag = arm.q[0] - q
    torque = MASS * GRAVITY * LENGTH * math.cos(arm.q[0])
    assert sag == pytest.approx(torque / arm.drives.stiffness[0], abs=1e-7)


def test_arm_with_gravity_compensation_stands_where_it_is_told():
    arm = settled(PhysicalArm(pendulum(), options=SOLID))
    assert abs(arm.q[0]) < 1e-9


def test_half_a_compensation_leaves_half_the_sag():
    sags = []
    for share in (0.0, 0.5):
        options = PhysicsOptions(friction=False, gravity_compensation=share)
        sags.append(settled(PhysicalArm(pendulum(), options=options)).q[0])
    assert sags[1] == pytest.approx(0.5 * sags[0], rel=1e-3)


@pytest.mark.parametrize('options', [SOLID, UNCOMPENSATED])
def test_effort_at_rest_is_the_weight_that_is_held(options):
    arm = settled(PhysicalArm(pendulum(), options=options))
    assert arm.effort[0] == pytest.approx(-MASS * GRAVITY * LENGTH * math.cos(arm.q[0]), rel=1e-6)


def test_sag_of_a_real_arm_without_compensation_is_a_matter_of_millimetres():
    arm = PhysicalArm(bundled('six_axis'), options=PhysicsOptions(gravity_compensation=0.0))
    settled(arm)
    assert 1e-5 < np.abs(arm.q).max() < 2e-2


# Free fall: nothing but mechanics is left.


def swing_period(arm, q, duration=8.0):
    """Mean time between two passages of the lowest point in the same direction."""
    arm.reset({'hinge': q})
    times, angles = [], []
    for _ in range(round(duration / 2e-3)):
        arm.step(2e-3)
        times.append(arm.time)
        angles.append(arm.q[0] - math.pi / 2)
    angles = np.array(angles)
    ups = np.flatnonzero((angles[:-1] < 0.0) & (angles[1:] >= 0.0))
    share = -angles[ups] / (angles[ups + 1] - angles[ups])
    crossings = np.array(times)[ups] + share * 2e-3
    return np.diff(crossings).mean()


@pytest.mark.parametrize('amplitude', [0.05, 0.5, 1.5])
def test_pendulum_without_power_swings_with_the_period_of_the_formula(amplitude):
    special = pytest.importorskip('scipy.special')
    arm = PhysicalArm(pendulum(), options=FREE)
    about_hinge = MASS * LENGTH**2 + 1e-3 + arm.drives.rotor[0]
    small = 2.0 * math.pi * math.sqrt(about_hinge / (MASS * GRAVITY * LENGTH))
    exact = small * 2.0 / math.pi * special.ellipk(math.sin(amplitude / 2.0) ** 2)
    assert swing_period(arm, math.pi / 2 - amplitude) == pytest.approx(exact, rel=2e-3)


def test_swinging_pendulum_neither_gains_nor_loses_energy():
    arm = PhysicalArm(pendulum(), options=FREE)
    about_hinge = MASS * LENGTH**2 + 1e-3 + arm.drives.rotor[0]

    def energy():
        height = -LENGTH * math.sin(arm.q[0])
        return 0.5 * about_hinge * arm.velocity[0] ** 2 + MASS * GRAVITY * height

    begin, energies = energy(), []
    for _ in range(1000):
        arm.step(0.01)
        energies.append(energy())
    swing = MASS * GRAVITY * LENGTH
    assert np.abs(np.array(energies) - begin).max() < 5e-3 * swing


def test_friction_takes_energy_out_of_a_swing():
    text = pendulum(body='<dynamics damping="0.2" friction="0.1"/>')
    arm = PhysicalArm(text, options=PhysicsOptions(powered=False))
    arm.step(60.0)
    assert abs(arm.velocity[0]) < 1e-3
    assert arm.q[0] == pytest.approx(math.pi / 2, abs=0.1 / (MASS * GRAVITY * LENGTH) + 1e-3)


def test_dry_friction_greater_than_the_weight_holds_the_arm_without_power():
    weight = MASS * GRAVITY * LENGTH
    text = pendulum(body=f'<dynamics damping="0" friction="{1.5 * weight}"/>')
    arm = PhysicalArm(text, options=PhysicsOptions(powered=False))
    arm.step(1.0)
    assert abs(arm.q[0]) < 1e-3


def test_dry_friction_smaller_than_the_weight_does_not():
    weight = MASS * GRAVITY * LENGTH
    text = pendulum(body=f'<dynamics damping="0" friction="{0.5 * weight}"/>')
    arm = PhysicalArm(text, options=PhysicsOptions(powered=False))
    arm.step(1.0)
    assert arm.q[0] > 0.5


# Limits, strength, followers.


def test_falling_arm_stops_at_its_limit():
    text = pendulum('revolute', 'lower="-0.3" upper="0.4"')
    arm = PhysicalArm(text, options=PhysicsOptions(powered=False))
    deepest = 0.0
    for _ in range(3000):
        arm.step(1e-3)
        deepest = max(deepest, arm.q[0])
    assert 0.4 - 1e-3 < arm.q[0] < 0.4 + 5e-3
    assert deepest < 0.4 + 0.05


@given(target=st.floats(-1e6, 1e6))
def test_target_beyond_a_limit_is_taken_as_the_limit(target):
    arm = PhysicalArm(pendulum('revolute', 'lower="-0.3" upper="0.4"'))
    hold(arm, target)
    settled(arm)
    assert -0.3 - 1e-4 <= arm.q[0] <= 0.4 + 1e-4


def test_drive_gives_no_more_than_its_effort():
    arm = PhysicalArm(pendulum())
    hold(arm, 3.0)
    efforts = []
    for _ in range(500):
        arm.step(1e-3)
        efforts.append(arm.effort[0])
    assert np.max(np.abs(efforts)) == pytest.approx(EFFORT, rel=1e-9)


def test_saturated_drive_accelerates_the_arm_by_torque_over_inertia():
    options = PhysicsOptions(friction=False, timestep=1e-4)
    arm = PhysicalArm(pendulum('continuous').replace('0 1 0', '0 0 1'), options=options)
    hold(arm, 3.0)
    arm.step(0.05)
    about_hinge = MASS * LENGTH**2 + 1e-3 + arm.drives.rotor[0]
    assert arm.velocity[0] == pytest.approx(EFFORT / about_hinge * 0.05, rel=0.01)


def gripper(multiplier, offset, **options):
    """Write two fingers, one a follower of the other, that slide along x."""
    finger = inertial(0.1)
    limit = '<limit lower="-0.1" upper="0.1" effort="50" velocity="1"/>'
    mimic = f'<mimic joint="left" multiplier="{multiplier}" offset="{offset}"/>'
    return (
        f'<robot name="gripper"><link name="base"/><link name="l">{finger}</link>'
        f'<link name="r">{finger}</link>'
        f'{joint_xml("left", "base", "l", "prismatic", limit)}'
        f'{joint_xml("right", "base", "r", "prismatic", limit + mimic)}</robot>'
    )


@given(multiplier=st.floats(-2.0, 2.0), offset=st.floats(-0.02, 0.02), target=st.floats(-0.1, 0.1))
def test_follower_keeps_to_its_source(multiplier, offset, target):
    arm = PhysicalArm(gripper(multiplier, offset))
    assert arm.joint_names == ('left',)
    right = arm.model.joint('right').qposadr[0]
    assert arm.data.qpos[right] == pytest.approx(offset)
    hold(arm, target)
    worst = 0.0
    for _ in range(100):
        arm.step(0.01)
        worst = max(worst, abs(arm.data.qpos[right] - multiplier * arm.q[0] - offset))
    assert arm.q[0] == pytest.approx(target, abs=1e-4)
    assert arm.data.qpos[right] == pytest.approx(multiplier * target + offset, abs=2e-4)
    assert worst < 2e-3


def test_joint_that_takes_no_targets_holds_still():
    arm = PhysicalArm(bundled('planar_two_link'), ['elbow'])
    arm.reset({'shoulder': 0.5})
    hold(arm, 1.0)
    settled(arm)
    shoulder = arm.data.qpos[arm.model.joint('shoulder').qposadr[0]]
    assert shoulder == pytest.approx(0.5, abs=1e-4)
    assert arm.q[0] == pytest.approx(1.0, abs=1e-4)


# Following.


@pytest.mark.parametrize('timestep', [0.001, 0.002])
@pytest.mark.parametrize(
    'name', ['six_axis', 'seven_axis', 'ur5', 'panda', 'so101', 'tiago', 'pr2']
)
def test_arm_follows_a_ramp_and_comes_to_rest(name, timestep):
    arm = PhysicalArm(text_of(name), options=PhysicsOptions(timestep=timestep))
    start, speed = arm.q, 0.3
    room = np.where(arm.upper - start > start - arm.lower, 1.0, -1.0)
    way = np.minimum(0.3, 0.5 * np.where(room > 0, arm.upper - start, start - arm.lower)) * room
    duration = 0.3 / speed
    for k in range(100):
        share = (k + 1) / 100
        arm.follow(start + share * way, way / duration)
        arm.step(duration / 100)
    assert np.abs(arm.q - start - way).max() < 0.02
    arm.follow(start + way, np.zeros_like(way))
    settled(arm, 1.0)
    # Dry friction holds a joint where the drive, giving way, is no stronger than it.
    stuck = arm.drives.friction / arm.drives.stiffness
    assert np.all(np.abs(arm.q - start - way) < 1.1 * stuck + 1e-5)
    assert np.abs(arm.velocity).max() < 1e-3


def test_velocity_of_the_targets_takes_away_most_of_the_lag():
    lags = []
    for told in (0.0, 0.5):
        arm = PhysicalArm(bundled('six_axis'), options=SOLID)
        pan = np.array([name == 'shoulder_pan' for name in arm.joint_names], dtype=float)
        for k in range(1000):
            arm.follow(0.5e-3 * (k + 1) * pan, told * pan)
            arm.step(1e-3)
        lags.append(abs(0.5 - arm.q[arm.joint_names.index('shoulder_pan')]))
    assert lags[1] < 0.1 * lags[0]


def test_same_commands_give_the_same_motion_bit_for_bit():
    def run():
        arm = PhysicalArm(bundled('seven_axis'))
        rng = np.random.default_rng(3)
        for _ in range(20):
            arm.follow(rng.uniform(arm.lower, arm.upper), np.zeros(7))
            arm.step(0.05)
        return arm.q

    assert run().tobytes() == run().tobytes()


def test_time_passes_in_whole_steps_and_none_is_lost():
    arm = PhysicalArm(pendulum())
    for _ in range(1000):
        arm.step(0.0003)
    assert arm.time == pytest.approx(0.3, abs=1e-9)


# Against pinocchio, wherever the masses of an arm are sound.


@pytest.mark.parametrize('name', [*BUNDLED, *REAL_ARMS])
def test_masses_and_weight_are_those_of_pinocchio(name):
    pin = pytest.importorskip('pinocchio')
    text = text_of(name)
    arm = PhysicalArm(text, options=PhysicsOptions(friction=False, gravity_compensation=0.0))
    judge = pin.buildModelFromXML(text)
    kept = joints_above_sound_links(judge, arm)
    assert len(kept) >= 2
    data = judge.createData()
    rng = np.random.default_rng(5)
    for _ in range(5):
        M, weight, q, order = random_state(pin, judge, arm, rng)
        theirs = pin.crba(judge, data, q)
        theirs = (np.triu(theirs) + np.triu(theirs, 1).T)[np.ix_(order, order)]
        kept_pairs = np.ix_(kept, kept)
        scale = np.abs(theirs).max()
        assert_close(M[kept_pairs] / scale, theirs[kept_pairs] / scale, 1e-6)
        theirs = pin.computeGeneralizedGravity(judge, data, q)[order]
        scale = max(1.0, np.abs(theirs).max())
        assert_close(weight / scale, theirs / scale, 1e-6)


def joints_above_sound_links(judge, arm):
    """Joints of the simulation whose masses were not repaired: those the judge can speak of."""
    affected = set()
    for note in arm.notes:
        if note.startswith('link'):
            link = judge.frames[judge.getFrameId(note.split("'")[1])]
            affected |= set(judge.supports[link.parentJoint])
    names = [arm.model.joint(i).name for i in range(arm.model.njnt)]
    return [i for i, name in enumerate(names) if judge.getJointId(name) not in affected]


def random_state(pin, judge, arm, rng):
    """Mass matrix and weight of an arm in a random state, and that state for pinocchio."""
    q = pin.neutral(judge)
    order = []
    for i in range(arm.model.njnt):
        joint = judge.joints[judge.getJointId(arm.model.joint(i).name)]
        value = rng.uniform(-1.0, 1.0)
        arm.data.qpos[i] = value
        turns = joint.nq == 2
        q[joint.idx_q : joint.idx_q + joint.nq] = (
            [math.cos(value), math.sin(value)] if turns else value
        )
        order.append(joint.idx_v)
    mujoco.mj_forward(arm.model, arm.data)
    M = np.empty((arm.model.nv, arm.model.nv))
    for row, unit in zip(M, np.eye(arm.model.nv), strict=True):
        mujoco.mj_mulM(arm.model, arm.data, row, unit)
    return M - np.diag(arm.model.dof_armature), np.array(arm.data.qfrc_bias), q, order


# Descriptions that are not quite right.


@pytest.mark.parametrize(
    ('load', 'note'),
    [
        ('', "link 'rod' has no mass; taken for a rod of 0.1 kg"),
        (inertial(0.0), "link 'rod' has no mass"),
        (inertial(-1.0), "link 'rod' has a mass of -1 kg; left out"),
        (inertial(moments=(0.1, 0.1, 0.5)), '0.3 was added to each'),
        (inertial(moments=(-1.0, -1.0, -1.0)), 'moments of inertia below 0'),
        (inertial(moments=(1e9, 1e9, 1e9)), 'farther away than the robot is long'),
        (inertial('inf'), "link 'rod' has a mass of inf kg; left out"),
        (inertial(xyz=(50.0, 0, 0)), "link 'rod' has its mass 50 m away; left out"),
        (inertial(moments=('inf', 1.0, 1.0)), 'farther away than the robot is long'),
    ],
)
def test_mass_that_no_body_has_is_repaired_and_said(load, note):
    arm = settled(PhysicalArm(pendulum(load=load)))
    assert any(note in text for text in arm.notes), arm.notes
    assert np.linalg.eigvalsh(moments_of(arm)).min() > 0.0
    assert abs(arm.q[0]) < 1e-6


def moments_of(arm):
    body = arm.model.body('rod')
    return np.diag(body.inertia)


def test_point_mass_needs_no_repair_worth_telling():
    assert PhysicalArm(pendulum(load=inertial(moments=(0, 0, 0)))).notes == ()


def test_sound_masses_are_left_alone():
    for name in BUNDLED:
        assert PhysicalArm(bundled(name)).notes == ()


@pytest.mark.parametrize('effort', ['0', '-3', '1', '1e9', 'inf'])
def test_absurd_effort_is_replaced_and_said(effort):
    text = pendulum().replace(f'effort="{EFFORT}"', f'effort="{effort}"')
    arm = settled(PhysicalArm(text))
    assert any("joint 'hinge' has an effort of" in note for note in arm.notes)
    assert MASS * GRAVITY * LENGTH < arm.drives.effort[0] < 1000.0
    assert abs(arm.q[0]) < 1e-6


@pytest.mark.parametrize('what', ['damping', 'friction'])
@pytest.mark.parametrize('value', ['-1', '1e6'])
def test_absurd_losses_are_replaced_and_said(what, value):
    arm = PhysicalArm(pendulum(body=f'<dynamics {what}="{value}"/>'))
    assert any(f"joint 'hinge' has a {what} of" in note for note in arm.notes)


@given(
    mass=st.floats(),
    moments=st.tuples(st.floats(), st.floats(), st.floats()),
    centre=st.floats(allow_nan=False, allow_infinity=False),
    effort=st.floats(),
    losses=st.tuples(st.floats(), st.floats()),
)
def test_whatever_the_numbers_the_arm_stands_or_is_refused(mass, moments, centre, effort, losses):
    damping, friction = losses
    text = pendulum(
        load=inertial(mass, (centre, 0, 0), moments),
        body=f'<dynamics damping="{damping}" friction="{friction}"/>',
    ).replace(f'effort="{EFFORT}"', f'effort="{effort}"')
    try:
        arm = PhysicalArm(text)
        arm.step(0.2)
    except FabrikError:
        return
    assert np.isfinite([*arm.q, *arm.velocity, *arm.effort]).all()
    assert abs(arm.q[0]) < 1e-2


def test_meshes_are_not_needed():
    mesh = '<mesh filename="package://nowhere/nothing.dae"/>'
    shapes = ''.join(
        f'<{kind}><geometry>{mesh}</geometry></{kind}>' for kind in ('visual', 'collision')
    )
    arm = PhysicalArm(pendulum(load=inertial(xyz=(LENGTH, 0, 0)) + shapes))
    assert arm.model.nmesh == 0
    assert arm.notes == ()


def test_floor_below_the_arm_carries_nothing():
    text = pendulum(load=inertial(xyz=(LENGTH, 0, 0)))
    arm = PhysicalArm(text, options=FREE)
    (floor,) = np.flatnonzero(arm.model.geom_type == mujoco.mjtGeom.mjGEOM_PLANE)
    assert arm.model.geom_bodyid[floor] == 0
    assert_close(arm.data.geom_xpos[floor], np.zeros(3))
    arm.step(0.4)
    assert arm.data.ncon == 0
    assert LENGTH * math.sin(arm.q[0]) > 0.3  # the weight is that far below the floor


def test_floating_joint_is_taken_as_fixed_and_said():
    hinge = joint_xml('hinge', 'b', 'c', 'continuous')
    arm = PhysicalArm(robot_xml('a b c', joint_xml('float', 'a', 'b', 'floating'), hinge))
    assert arm.joint_names == ('hinge',)
    assert "joint 'float' is floating; taken as fixed" in arm.notes


def test_link_may_be_named_world_anywhere():
    arm = PhysicalArm(robot_xml('a world', joint_xml('hinge', 'a', 'world', 'continuous')))
    assert arm.joint_names == ('hinge',)


def test_joint_whose_limits_meet_stands_still():
    arm = PhysicalArm(pendulum('revolute', 'lower="0.2" upper="0.2"'))
    settled(arm)
    assert arm.q[0] == pytest.approx(0.2, abs=1e-5)


# What is refused.


def refused(error, message):
    return pytest.raises(error, match=re.escape(message))


def test_robot_without_a_joint_to_drive_is_refused():
    with refused(PhysicsError, 'the robot has no joint that can be driven'):
        PhysicalArm(robot_xml('a'))


def test_entry_that_is_no_number_is_refused():
    with refused(UrdfError, "link 'rod', <inertial>, <mass>: value is 'heavy'"):
        PhysicalArm(pendulum(load=inertial('heavy')))


@pytest.mark.parametrize(
    ('values', 'message'),
    [
        ({'knee': 0.0}, "no driven joint 'knee'; there are: hinge"),
        ({'hinge': 2.0}, "joint 'hinge' cannot start at 2: its limits are [-0.3, 0.4]"),
        ({'hinge': math.nan}, "joint 'hinge' cannot start at nan"),
    ],
)
def test_bad_start_is_refused(values, message):
    arm = PhysicalArm(pendulum('revolute', 'lower="-0.3" upper="0.4"'))
    with refused(JointValueError, message):
        arm.reset(values)


def test_unknown_names_of_joints_are_refused():
    with refused(JointValueError, "no driven joint 'knee'; there are: hinge"):
        PhysicalArm(pendulum(), ['knee'])


@pytest.mark.parametrize('name', ['timestep', 'bandwidth', 'damping_ratio'])
def test_options_that_make_no_sense_are_refused(name):
    with refused(ValueError, f'{name} must be in ['):
        PhysicsOptions(**{name: -1.0})


# What goes wrong on the way.


@given(wrong=st.sampled_from([math.nan, math.inf, 1e300]), before=st.integers(0, 20))
def test_simulation_that_becomes_unstable_says_when_and_a_reset_leads_on(wrong, before):
    arm = PhysicalArm(pendulum(), options=SOLID)
    arm.step(before * 1e-3)
    arm.data.qvel[0] = wrong
    with refused(PhysicsError, f'the simulation became unstable soon after {before / 1e3:.3f} s'):
        arm.step(1e-3)
    arm.reset({'hinge': 0.2})
    hold(arm, 0.1)
    settled(arm)
    assert arm.q[0] == pytest.approx(0.1, abs=1e-5)


def test_instability_is_raised_and_not_written_into_a_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    arm = PhysicalArm(pendulum())
    arm.data.qvel[0] = math.nan
    with refused(PhysicsError, 'unstable'):
        arm.step(1e-3)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize('error', [mujoco.FatalError, mujoco.UnexpectedError])
def test_failure_of_mujoco_is_told_as_one_of_the_physics(monkeypatch, error):
    def fail(*arguments):
        raise error('out of memory')

    arm = PhysicalArm(pendulum())
    with monkeypatch.context() as patch:
        patch.setattr(mujoco, 'mj_step', fail)
        with refused(PhysicsError, 'MuJoCo failed: out of memory'):
            arm.step(1e-3)
    monkeypatch.setattr(mujoco, 'MjData', fail)
    with refused(PhysicsError, 'MuJoCo failed: out of memory'):
        PhysicalArm(pendulum())
