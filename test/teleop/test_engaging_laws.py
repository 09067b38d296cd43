"""Hands and leader arms: no jump on engaging, whatever they did before; leaps are dropped."""

from itertools import pairwise

from devices import DEADMAN, HAND, JOINTS, LEADER, motions, PERIOD, Rig, TOOL
from fabrik_ros.teleop.node_view import JointApproach, ToolTarget
from fabrik_ros.transforms import pose_from_xyz_rpy, rotation_from_rpy, rotation_vector, transform
from helpers import examples
from hypothesis import given, settings, strategies as st
import numpy as np
import pytest

LEAST = {'max_examples': examples(60, 600), 'deadline': None}
COORDINATE, ANGLE = st.floats(-2.0, 2.0), st.floats(-3.0, 3.0)
POSES = st.builds(
    pose_from_xyz_rpy,
    st.tuples(COORDINATE, COORDINATE, COORDINATE),
    st.tuples(ANGLE, ANGLE, ANGLE),
)
STEP = st.floats(-0.02, 0.02)
STEPS = st.lists(st.tuples(STEP, STEP, STEP, STEP, STEP, STEP), min_size=1, max_size=20)
FRAMES = st.sampled_from(['base', 'tool'])
START = pose_from_xyz_rpy([0.1, -0.3, 1.2], [0.3, 0.2, 2.0])


def stepped(T, step):
    """Move a pose a little: x y z in the room [m], roll pitch yaw about its axes [rad]."""
    return transform(rotation_from_rpy(*step[3:]) @ T[:3, :3], T[:3, 3] + np.array(step[:3]))


def way(before, after):
    """Tell how far apart two poses are [m], [rad]."""
    turn = rotation_vector(after[:3, :3] @ before[:3, :3].T)
    return np.linalg.norm(after[:3, 3] - before[:3, 3]), np.linalg.norm(turn)


def closed(T=START, **rules):
    """Make a rig whose clutch closed with the hand at a pose."""
    rig = Rig('hand', {**HAND, **rules})
    rig.hand(T)
    rig.engage()
    return rig


@given(FRAMES, POSES, st.lists(POSES, max_size=5), st.floats(0.1, 5.0))
@settings(**LEAST)
def test_arm_does_not_jump_on_engaging_whatever_the_hand_did_before(frame, tool, hands, scale):
    rig = Rig('hand', {**HAND, 'frame': frame, 'scale': scale, 'align': [0.3, 0.2, 0.1]})
    rig.tool = tool
    for T in [START, *hands]:
        rig.hand(T, PERIOD)
        rig.press(seconds=0.0)
    (first, *_) = motions(rig.press(DEADMAN))
    np.testing.assert_allclose(first.T_base_tool, tool, atol=1e-9)


@given(POSES, POSES)
@settings(**LEAST)
def test_hand_that_moves_while_the_clutch_is_open_moves_nothing(away, tool):
    rig = closed()
    rig.press()
    rig.clear()
    rig.hand(away, PERIOD)
    rig.tool = tool
    for _ in range(5):
        rig.press()
    assert not motions(rig.orders)
    (again, *_) = motions(rig.press(DEADMAN))
    np.testing.assert_allclose(again.T_base_tool, tool, atol=1e-9)


@given(STEPS, st.floats(0.1, 5.0), st.floats(0.0, 3.0))
@settings(**LEAST)
def test_tool_repeats_the_motion_of_the_hand_in_the_axes_of_the_base(steps, scale, turning):
    rig = closed(scale=scale, rotation_scale=turning)
    T = START
    for step in steps:
        T = stepped(T, step)
        rig.hand(T, PERIOD)
        rig.press(DEADMAN, seconds=0.0)
    rig.pass_time()
    target = motions(rig.orders)[-1].T_base_tool
    moved = target[:3, 3] - TOOL[:3, 3]
    np.testing.assert_allclose(moved, scale * (T[:3, 3] - START[:3, 3]), atol=1e-9)
    turned = rotation_vector(target[:3, :3] @ TOOL[:3, :3].T)
    asked = turning * rotation_vector(T[:3, :3] @ START[:3, :3].T)
    np.testing.assert_allclose(turned, asked, atol=1e-6)


def test_tool_goes_along_its_own_axes_where_that_is_asked():
    rig = closed(frame='tool', scale=2.0)
    forward = START.copy()
    forward[:3, 3] += 0.05 * START[:3, 0]
    (target,) = motions(rig.hand(forward, PERIOD))
    np.testing.assert_allclose(target.T_base_tool[:3, 3], TOOL[:3, 3] + 0.1 * TOOL[:3, 0])
    np.testing.assert_allclose(target.T_base_tool[:3, :3], TOOL[:3, :3], atol=1e-12)


def test_axes_of_the_tracker_may_lie_otherwise():
    rig = closed(align=[0.0, 0.0, np.pi / 2])
    (target,) = motions(rig.hand(stepped(START, (0.05, 0, 0, 0, 0, 0)), PERIOD))
    np.testing.assert_allclose(target.T_base_tool[:3, 3] - TOOL[:3, 3], [0, 0.05, 0], atol=1e-12)


@given(STEPS)
@settings(**LEAST)
def test_burst_of_poses_ends_as_the_same_poses_apart(steps):
    ends = []
    for seconds in (PERIOD, 0.0):
        rig, T = closed(), START
        for step in steps:
            T = stepped(T, step)
            rig.hand(T, seconds)
            rig.press(DEADMAN, seconds=0.0)
        rig.pass_time()
        ends.append(motions(rig.orders)[-1].T_base_tool)
    np.testing.assert_array_equal(*ends)


@given(POSES, STEPS)
@settings(**LEAST)
def test_one_leap_is_dropped_and_the_hand_goes_on(leap, steps):
    rig, T = closed(), START
    far = way(START, leap)[0] > 1.0 or way(START, leap)[1] > 2.0
    for number, step in enumerate(steps):
        T = stepped(T, step)
        if number == len(steps) // 2 and far:
            rig.hand(leap, PERIOD / 2)
        rig.hand(T, PERIOD)
        rig.press(DEADMAN, seconds=0.0)
    rig.pass_time()
    assert rig.pilot.is_engaged
    poses = [TOOL, *(order.T_base_tool for order in motions(rig.orders))]
    for before, after in pairwise(poses):
        assert max(way(before, after)) < 0.08, 'no target of the leap'
    np.testing.assert_allclose(poses[-1][:3, 3] - TOOL[:3, 3], T[:3, 3] - START[:3, 3], atol=1e-9)


def test_hand_that_stays_where_it_leapt_to_opens_the_clutch():
    rig = closed()
    rig.clear()
    away = stepped(START, (0.8, 0, 0, 0, 0, 0))
    for _ in range(5):
        rig.hand(away, PERIOD)
        rig.press(DEADMAN, seconds=0.0)
    assert not [o for o in motions(rig.orders) if way(TOOL, o.T_base_tool)[0] > 1e-9]
    assert rig.said[-1] == 'released: the tracked hand leapt by 0.80 m'
    assert 'stop' in rig.called
    rig.clear()
    (first, *_) = motions(rig.engage())
    np.testing.assert_allclose(first.T_base_tool, TOOL, atol=1e-9)


def test_hand_that_turned_at_once_is_said_with_the_angle():
    rig = closed()
    for _ in range(2):
        rig.hand(stepped(START, (0.01, 0, 0, 0, 0, 2.0)), PERIOD)
        rig.press(DEADMAN)
    assert rig.said[-1] == 'released: the tracked hand leapt by 2.00 rad'


def test_stamps_tell_a_burst_of_a_fast_hand_from_a_leap():
    rig, T = closed(), START
    for number in range(1, 6):
        T = stepped(T, (0.15, 0, 0, 0, 0, 0))
        rig.hand(T, 0.0, stamp=50.0 + 0.1 * number)
    rig.pass_time()
    assert rig.pilot.is_engaged
    assert motions(rig.orders)[-1].T_base_tool[0, 3] - TOOL[0, 3] == pytest.approx(0.75)


def test_clock_of_the_tracker_that_leaps_excuses_no_leap():
    rig = closed()
    away = stepped(START, (2.0, 0, 0, 0, 0, 0))
    for number in range(3):
        rig.hand(away, PERIOD, stamp=1e9 * (number + 1))
    rig.pass_time()
    assert not rig.pilot.is_engaged


def test_stamp_that_is_left_out_now_and_then_excuses_no_leap():
    rig = closed()
    away = stepped(START, (0.8, 0, 0, 0, 0, 0))
    for number in range(4):
        rig.hand(START, PERIOD, stamp=1e9 * (number % 2))
    rig.hand(away, PERIOD, stamp=0.0)
    rig.hand(away, PERIOD, stamp=1e9)
    rig.pass_time()
    assert not rig.pilot.is_engaged


def test_hand_in_another_frame_opens_the_clutch():
    rig = closed()
    rig.hand(START, PERIOD, frame='hall')
    rig.press(DEADMAN)
    assert rig.said[-1] == "released: the hand was tracked in 'room', and now in 'hall'"


def test_hand_that_is_lost_opens_the_clutch_though_its_buttons_are_heard():
    rig = closed()
    for _ in range(30):
        rig.press(DEADMAN)
    assert rig.said[-1] == 'released: no pose of the hand on hand/pose'
    rig.press()
    rig.press(DEADMAN)
    assert rig.said[-1] == 'not engaged: no pose of the hand on hand/pose'


@given(POSES, st.integers(1, 20))
@settings(**LEAST)
def test_one_of_several_tools_is_let_go_by_a_place_to_rest_and_no_stop_ends_the_others(T, times):
    rig, places = Rig('hand', HAND), [T]
    rig.see(rest_pose=lambda: places[-1])
    rig.hand(START)
    rig.engage()
    rig.hand(START)
    rig.clear()
    rig.press()
    places.append(np.eye(4))
    for _ in range(times):
        rig.press(seconds=0.1)
    rests = [order for order in rig.orders if isinstance(order, ToolTarget)]
    assert len(rests) >= 1
    assert all(np.array_equal(order.T_base_tool, T) for order in rests), 'it was told that first'
    assert rig.called == []


def test_clutch_does_not_close_where_nobody_knows_where_the_tool_is():
    rig = Rig('hand', HAND)
    rig.tool = None
    rig.hand(START)
    rig.press()
    rig.press(DEADMAN)
    assert rig.said == ['not engaged: it is not known where the tool is']


# -- leader arms


def led(l1, l2, **rules):
    """Make a rig whose leader is at values, and whose deadman was pressed."""
    rig = Rig('leader', {**LEADER, **rules})
    rig.lead(l1, l2)
    rig.press()
    rig.press(DEADMAN)
    return rig


@given(st.floats(-0.19, 0.19), st.floats(-0.19, 0.19))
@settings(**LEAST)
def test_follower_near_the_leader_goes_to_it_without_a_jump(a, b):
    rig = led(JOINTS['j1'] + a, -JOINTS['j2'] + b)
    l1, l2 = JOINTS['j1'] + a, -JOINTS['j2'] + b
    for _ in range(60):
        rig.lead(l1, l2)
        rig.press(DEADMAN)
    targets = np.array([[o.values['j1'], o.values['j2']] for o in motions(rig.orders)])
    np.testing.assert_allclose(targets[0], [JOINTS['j1'], JOINTS['j2']], atol=1e-9)
    assert np.all(np.abs(np.diff(targets, axis=0)) < 0.2 * 0.06), 'within a second'
    np.testing.assert_allclose(targets[-1], [l1, -l2], atol=1e-9)
    assert all(order.values.keys() == {'j1', 'j2'} for order in motions(rig.orders))


def test_leader_that_is_far_away_is_refused_with_the_joint_and_how_far():
    rig = led(1.3, 0.2)
    assert not rig.pilot.is_engaged
    assert rig.said == [
        "not engaged: leader and follower differ by 1.00 at joint 'j1', more than 0.2: "
        'bring the leader nearer'
    ]


@given(st.floats(-3.0, 3.0), st.floats(-3.0, 3.0))
@settings(**LEAST)
def test_relative_follower_does_not_jump_wherever_the_leader_is(l1, l2):
    rig = led(l1, l2, mode='relative')
    rig.lead(l1 + 0.05, l2 + 0.02, PERIOD)
    first, last = motions(rig.orders)[0], motions(rig.orders)[-1]
    assert first.values == {'j1': pytest.approx(0.3), 'j2': pytest.approx(-0.2)}
    assert last.values == {'j1': pytest.approx(0.35), 'j2': pytest.approx(-0.22)}


def test_follower_is_taken_to_the_leader_slowly_once_before_it_follows():
    rig = led(1.3, 0.2, approach=0.2)
    approaches = [order for order in rig.orders if isinstance(order, JointApproach)]
    assert [(a.values, a.share) for a in approaches] == [({'j1': 1.3, 'j2': -0.2}, 0.2)]
    rig.clear()
    for share in np.linspace(0.0, 1.0, 50):
        rig.joints['j1'] = 0.3 + share
        rig.lead(1.3, 0.2)
        rig.press(DEADMAN)
    targets = motions(rig.orders)
    assert not [order for order in rig.orders if isinstance(order, JointApproach)]
    assert targets[0].values['j1'] < 1.3 - 0.1, 'from where it is'
    assert rig.pilot.is_engaged


MODES = pytest.mark.parametrize('mode', ['absolute', 'relative'])
LEAD_STEPS = st.lists(st.tuples(st.floats(-0.1, 0.1), st.floats(-0.1, 0.1)), max_size=40)


@MODES
@given(steps=LEAD_STEPS)
@settings(**LEAST)
def test_joint_beyond_its_limit_stays_there_and_the_others_follow_without_a_jump(mode, steps):
    rig = Rig('leader', {**LEADER, 'mode': mode})
    rig.limits = {'j1': (0.2, 0.45)}
    rig.lead(0.3, 0.2)
    rig.engage()
    led = np.array([0.3, 0.2])
    for step in steps:
        led += step
        rig.lead(*led, PERIOD)
        rig.press(DEADMAN, seconds=0.0)
        last = motions(rig.orders)[-1].values
        assert last['j1'] == pytest.approx(min(max(led[0], 0.2), 0.45))
        assert last['j2'] == pytest.approx(-led[1])
    assert rig.pilot.is_engaged
    targets = np.array([[o.values['j1'], o.values['j2']] for o in motions(rig.orders)])
    assert np.all(np.abs(np.diff(targets, axis=0)) < 0.11)


@MODES
def test_joint_at_its_limit_is_said_once(mode):
    rig = Rig('leader', {**LEADER, 'mode': mode})
    rig.limits = {'j1': (-0.5, 0.5), 'j2': (-1.0, 1.0)}
    rig.lead(0.3, 0.2)
    rig.engage()
    for value in [0.4, 0.55, 0.65, 0.45, 0.55]:
        rig.lead(value, 0.2, PERIOD)
        rig.press(DEADMAN, seconds=PERIOD)
    assert rig.said[-1] == "joint 'j1' stays at its limit, 0.5; the others follow"
    assert len(rig.said) == 2


def test_leader_beyond_a_limit_is_near_where_the_follower_is_near_the_limit():
    rig = Rig('leader', {**LEADER, 'approach': 0.2})
    rig.limits = {'j1': (-1.0, 1.0)}
    rig.lead(1.7, 0.2)
    rig.engage()
    (approach,) = (order for order in rig.orders if isinstance(order, JointApproach))
    assert approach.values == {'j1': 1.0, 'j2': pytest.approx(-0.2)}
    rig.joints['j1'] = 0.9
    rig.clear()
    for _ in range(60):
        rig.lead(1.7, 0.2)
        rig.press(DEADMAN)
    targets = [order.values['j1'] for order in motions(rig.orders)]
    assert targets[0] == pytest.approx(0.9, abs=0.01)
    assert np.max(np.diff(targets)) < 0.01
    assert targets[-1] == 1.0


@pytest.mark.parametrize('guide', ['leader', 'hand'])
def test_arm_whose_targets_are_refused_is_let_go_with_the_reason(guide):
    rig = Rig(guide, LEADER if guide == 'leader' else HAND)
    counts = {'accepted': 5, 'refused': 2}

    def see(**more):
        for name in more:
            counts[name] += more[name]
        rig.lead(0.3, 0.2) if guide == 'leader' else rig.hand(START)
        rig.press(DEADMAN, seconds=0.1)
        rig.see(**counts, refusal='much too far away')

    rig.lead(0.3, 0.2) if guide == 'leader' else rig.hand(START)
    rig.see(**counts, refusal='much too far away')
    rig.engage()
    for _ in range(10):
        see(accepted=1)
        see(accepted=1, refused=1)
        see(refused=1)
        see(refused=1)
    assert rig.pilot.is_engaged
    for _ in range(3):
        see(refused=3)
    assert rig.said[-1] == 'released: the node refuses its targets: much too far away'
    assert 'stop' in rig.called
    see(accepted=1)
    assert not rig.pilot.is_engaged
    rig.engage()


def test_refusals_of_other_senders_do_not_end_the_approach():
    rig = led(1.3, 0.2, approach=0.2)
    for refused in (0, 1, 1, 2, 2):
        rig.lead(1.3, 0.2)
        rig.press(DEADMAN, seconds=0.1)
        rig.see(accepted=1, refused=refused, refusal='of another sender')
    assert rig.pilot.is_engaged


def test_leader_that_moves_meanwhile_and_deadman_that_is_let_go_end_the_approach():
    rig = led(1.3, 0.2, approach=0.2)
    for step in range(1, 20):
        rig.lead(1.3 + 0.02 * step, 0.2)
        rig.press(DEADMAN)
    assert rig.said[-1] == 'released: the leader moved while the follower was taken to it'
    assert 'stop' in rig.called
    rig = led(1.3, 0.2, approach=0.2)
    rig.press()
    assert 'stop' in rig.called


def test_encoder_that_leaps_is_dropped_once_and_opens_the_clutch_then():
    rig = led(0.3, 0.2)
    rig.lead(2.8, 0.2, PERIOD)
    rig.lead(0.31, 0.2, PERIOD)
    rig.press(DEADMAN)
    assert rig.pilot.is_engaged
    assert all(order.values['j1'] < 0.4 for order in motions(rig.orders))
    rig.lead(2.8, 0.2, PERIOD)
    rig.lead(2.8, 0.2, PERIOD)
    rig.press(DEADMAN)
    assert rig.said[-1] == "released: joint 'j1' of the leader leapt"


def test_messages_without_the_joints_of_the_leader_do_not_count():
    rig = Rig('leader', LEADER)
    for values in ({'l1': 0.3}, {'l1': np.nan, 'l2': 0.2}):
        rig.guide.hear_joints(values, rig.now)
    rig.press()
    rig.press(DEADMAN)
    assert rig.said == ['not engaged: no joints of the leader on leader']


def test_joint_that_the_follower_does_not_have_is_named():
    rig = Rig('leader', LEADER)
    del rig.joints['j2']
    rig.lead(0.3, 0.2)
    rig.press()
    rig.press(DEADMAN)
    assert rig.said == ["not engaged: joint 'j2' of the follower is not measured"]
