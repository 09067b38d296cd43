"""Who has the arm: laws of deadman, link and stop, which hold for every device."""

from devices import (
    CLOSE,
    DEADMAN,
    HAND,
    JOINTS,
    LEADER,
    motions,
    OPEN,
    PERIOD,
    RESUME,
    Rig,
    STICKS,
    STOP,
    TOOL,
)
from fabrik_ros.teleop.controls import Values
from fabrik_ros.teleop.node_view import Call, Grip, Jog
from fabrik_ros.teleop.pilot import REST_PERIOD, REST_TIME
from helpers import examples
from hypothesis import example, given, settings, strategies as st
import numpy as np
import pytest

GUIDES = {'sticks': STICKS, 'hand': HAND, 'leader': LEADER}
PUSHED = (1.0, 1.0)
"""Both sticks to their ends."""
every_guide = pytest.mark.parametrize('guide', GUIDES)
LEAST = {'max_examples': examples(60, 600), 'deadline': None}


def rig_of(guide):
    rig = Rig(guide, GUIDES[guide])
    feed(rig)
    return rig


def feed(rig):
    """Let hand and leader say that they are there; sticks are heard with the buttons."""
    if hasattr(rig.guide, 'hear_pose'):
        rig.hand(TOOL)
    elif hasattr(rig.guide, 'hear_joints'):
        rig.lead(JOINTS['j1'], -JOINTS['j2'])


def push(rig, *buttons, seconds=PERIOD):
    """Press buttons with the sticks at their ends, and everything else alive."""
    orders = rig.press(*buttons, axes=PUSHED, seconds=seconds)
    feed(rig)
    return orders + rig.take()


@every_guide
def test_arm_moves_while_the_deadman_is_pressed_and_rests_once_it_is_not(guide):
    rig = rig_of(guide)
    assert not motions(push(rig))
    assert motions(push(rig, DEADMAN))
    orders = push(rig)
    assert not motions(orders)
    rest = next(order for order in orders if isinstance(order, Call | Jog))
    assert (rest.service == 'stop') if isinstance(rest, Call) else not np.any(rest.twist)
    assert rig.said[-1] == 'released'


@every_guide
def test_rest_is_said_again_for_a_while_as_messages_get_lost(guide):
    rig = rig_of(guide)
    push(rig)
    push(rig, DEADMAN)
    push(rig)
    rig.clear()
    for _ in range(50):
        push(rig)
    rests = [order for order in rig.orders if isinstance(order, Call | Jog)]
    assert 1 <= len(rests) <= REST_TIME / REST_PERIOD
    assert not motions(rests)


@every_guide
def test_deadman_that_was_pressed_before_the_first_message_counts_once_it_was_let_go(guide):
    rig = rig_of(guide)
    for _ in range(20):
        assert not motions(push(rig, DEADMAN))
    push(rig)
    assert motions(push(rig, DEADMAN))


@every_guide
def test_lost_link_lets_the_arm_go_and_its_return_does_not_take_it(guide):
    rig = rig_of(guide)
    push(rig)
    push(rig, DEADMAN)
    rig.clear()
    for _ in range(60):
        rig.pass_time()
    assert not rig.pilot.is_engaged
    assert 'released: ' in rig.said[-1]
    rig.clear()
    for _ in range(20):
        push(rig, DEADMAN)
    assert not motions(rig.orders)
    push(rig)
    assert motions(push(rig, DEADMAN))


@every_guide
def test_deadman_that_was_pressed_while_the_link_was_lost_does_not_count(guide):
    rig = rig_of(guide)
    push(rig)
    for _ in range(60):
        rig.pass_time()
    for _ in range(20):
        assert not motions(push(rig, DEADMAN))
    push(rig)
    assert motions(push(rig, DEADMAN))


@every_guide
def test_arm_rests_within_the_timeout_of_a_lost_link(guide):
    rig = rig_of(guide)
    push(rig)
    push(rig, DEADMAN)
    begin, last = rig.now, rig.now
    while rig.now < begin + 2.0:
        last = rig.now if motions(rig.pass_time()) else last
    assert last <= begin + rig.pilot.profile.timeout + PERIOD


def test_messages_that_waited_longer_than_the_timeout_do_not_go_on():
    rig = rig_of('sticks')
    push(rig)
    push(rig, DEADMAN)
    assert not motions(push(rig, DEADMAN, seconds=1.0)), 'this process stood still'
    assert not motions(push(rig, DEADMAN))


@every_guide
def test_stop_latches_until_resume_and_then_the_deadman_counts_anew(guide):
    rig = rig_of(guide)
    push(rig)
    push(rig, DEADMAN)
    push(rig, DEADMAN, STOP)
    assert 'hold' in rig.called
    rig.see('the node is held; resume first', is_held=True)
    rig.clear()
    push(rig)
    for _ in range(5):
        push(rig, DEADMAN)
        push(rig)
    assert not motions(rig.orders)
    assert rig.said[-1] == 'not engaged: the stop button was pressed; resume first'
    push(rig, DEADMAN)
    push(rig, DEADMAN, RESUME)
    rig.see()
    assert rig.called == ['resume']
    push(rig, DEADMAN)
    assert not motions(rig.orders), 'it has to be let go before'
    push(rig)
    assert motions(push(rig, DEADMAN))


def test_stop_counts_whoever_has_the_arm_and_is_said_until_the_node_is_held():
    rig = rig_of('sticks')
    push(rig, STOP)
    for _ in range(100):
        push(rig)
    assert 3 <= rig.called.count('hold') <= 6
    rig.see('the node is held; resume first', is_held=True)
    rig.clear()
    for _ in range(100):
        push(rig)
    assert rig.called == []


def test_node_that_was_started_anew_is_held_too():
    rig = rig_of('sticks')
    push(rig, STOP)
    rig.see('held', is_held=True, instance='1')
    rig.see('held', is_held=True, instance='1')
    rig.clear()
    rig.see('', instance='2')
    push(rig, seconds=1.0)
    assert rig.pilot.is_stopped
    assert 'hold' in rig.called


@every_guide
def test_node_that_was_started_anew_lets_the_arm_go(guide):
    rig = rig_of(guide)
    rig.see(instance='1')
    push(rig)
    push(rig, DEADMAN)
    rig.see(instance='2')
    rig.clear()
    for _ in range(50):
        push(rig, DEADMAN)
        rig.see(instance='2')
    assert not motions(rig.orders)
    push(rig)
    assert push(rig, DEADMAN)
    assert rig.pilot.is_engaged


def test_whoever_resumes_the_node_ends_the_stop():
    rig = rig_of('sticks')
    push(rig, STOP)
    rig.see('held', is_held=True)
    rig.see()
    push(rig)
    assert motions(push(rig, DEADMAN))


@every_guide
def test_node_that_takes_no_targets_lets_the_arm_go(guide):
    rig = rig_of(guide)
    push(rig)
    push(rig, DEADMAN)
    rig.see('the joint states are missing')
    assert rig.said[-1] == 'released: the joint states are missing'
    rig.clear()
    push(rig)
    push(rig, DEADMAN)
    assert rig.said[-1] == 'not engaged: the joint states are missing'
    rig.see()
    push(rig, DEADMAN)
    assert not motions(rig.orders)


def test_stop_by_others_lets_the_arm_go():
    rig = rig_of('hand')
    rig.see(is_stopped=True)
    push(rig)
    for _ in range(40):
        push(rig, DEADMAN)
        rig.see(is_stopped=rig.now < 100.3)
    assert rig.pilot.is_engaged, 'what was before does not count'
    rig.see(is_stopped=True)
    assert rig.said[-1] == 'released: somebody stopped the arm'


def test_stop_by_others_counts_from_the_first_status_of_the_motion():
    rig = rig_of('hand')
    push(rig)
    push(rig, DEADMAN)
    rig.see()
    rig.see(is_stopped=True)
    assert rig.said[-1] == 'released: somebody stopped the arm'
    push(rig)
    push(rig, DEADMAN)
    rig.see()
    rig.see(is_stopped=True)
    assert rig.pilot.is_engaged, 'that is the rest that the device asked for'


def test_gripper_moves_at_a_press_while_the_arm_is_in_hand():
    rig = rig_of('sticks')
    push(rig, OPEN)
    push(rig, DEADMAN)
    for buttons in [(OPEN,), (OPEN,), (), (CLOSE,), (CLOSE,), ()]:
        push(rig, DEADMAN, *buttons)
    push(rig)
    push(rig, CLOSE)
    assert [order for order in rig.orders if isinstance(order, Grip)] == [Grip(True), Grip(False)]


def test_squeezed_trigger_closes_and_opens_when_let_go_but_not_by_letting_the_arm_go():
    rig = Rig('sticks', STICKS, gripper={'squeeze': CLOSE})
    for buttons in [(), (0,), (0, CLOSE), (0, CLOSE), (0,), (0, CLOSE), (), (0,)]:
        push(rig, *buttons)
    grips = [order.opens for order in rig.orders if isinstance(order, Grip)]
    assert grips == [False, True, False]


PRESSES = st.lists(
    st.tuples(
        st.sets(st.sampled_from([DEADMAN, STOP, RESUME, OPEN]), max_size=3),
        st.floats(-1.0, 1.0),
        st.sampled_from([0.0, 0.001, 0.02, 0.1, 0.29, 0.5]),
    ),
    max_size=30,
)


@given(PRESSES)
@settings(**LEAST)
@example([(set(), 0.0, 0.02), ({DEADMAN}, 1.0, 0.02), ({DEADMAN}, 1.0, 0.5)])
def test_no_motion_without_deadman_and_none_after_the_stop(presses):
    rig = Rig('sticks', STICKS)
    is_stopped, resume_before = False, True
    for buttons, deflection, seconds in presses:
        if seconds > rig.pilot.profile.timeout:
            resume_before = True
        orders = rig.press(*buttons, axes=(deflection, 0.0), seconds=seconds)
        if STOP in buttons:
            is_stopped = True
        elif RESUME in buttons and not resume_before:
            is_stopped = False
        resume_before = RESUME in buttons
        if DEADMAN not in buttons or is_stopped:
            assert not motions(orders)
            assert not rig.pilot.is_engaged
        assert rig.pilot.is_stopped == is_stopped


@given(st.lists(st.floats(-1.0, 1.0), min_size=1, max_size=40))
@settings(**LEAST)
def test_burst_ends_as_the_same_messages_apart(deflections):
    apart, at_once = Rig('sticks', STICKS), Rig('sticks', STICKS)
    for rig, seconds in ((apart, PERIOD), (at_once, 0.0)):
        rig.engage()
        for deflection in deflections:
            rig.press(DEADMAN, axes=(deflection, 0.0), seconds=seconds)
        rig.pass_time()
        assert rig.pilot.is_engaged
    last = [[o for o in rig.orders if isinstance(o, Jog)][-1].twist for rig in (apart, at_once)]
    np.testing.assert_array_equal(*last)
    jogs = [order for order in at_once.orders if isinstance(order, Jog)]
    assert len(jogs) <= 3, 'it is one motion'


def test_press_within_a_burst_is_not_lost():
    rig = rig_of('sticks')
    for buttons in [(), (STOP,), (), (DEADMAN,)]:
        rig.press(*buttons, axes=PUSHED, seconds=0.0)
    rig.pass_time()
    assert 'hold' in rig.called
    assert not motions(rig.orders)


@pytest.mark.parametrize('rate', [1.0, 5.0, 20.0, 1000.0])
def test_device_of_any_rate_moves_the_arm_without_a_gap_and_not_more_often_than_useful(rate):
    rig = Rig('sticks', STICKS, timeout=2.0)
    rig.engage()
    rig.clear()
    sent, step = [], min(0.02, 1.0 / rate)
    for number in range(round(4.0 / step)):
        said = (number % round(1.0 / rate / step)) == 0
        orders = rig.press(DEADMAN, axes=PUSHED, seconds=step) if said else rig.pass_time(step)
        sent += [rig.now] * len(motions(orders))
    gaps = np.diff(sent)
    assert np.max(gaps) < 0.1, 'jog_timeout of the node is 0.25 s'
    assert np.min(gaps) > 0.0079


def test_what_is_not_finite_is_not_heard():
    rig = rig_of('sticks')
    push(rig)
    push(rig, DEADMAN)
    rig.clear()
    for _ in range(50):
        rig.press(DEADMAN, axes=(np.nan, 0.0))
    assert not rig.pilot.is_engaged
    assert all(np.isfinite(order.twist).all() for order in rig.orders if isinstance(order, Jog))
    assert rig.said == ['released: the device is silent']


def test_stop_counts_whatever_the_axes_say():
    rig = rig_of('sticks')
    push(rig)
    push(rig, DEADMAN)
    rig.press(DEADMAN, STOP, axes=(np.nan, 0.0))
    assert rig.pilot.is_stopped
    assert rig.called == ['hold']
    assert not motions(push(rig, DEADMAN))


def test_deadman_that_is_let_go_counts_whatever_the_axes_say():
    rig = rig_of('sticks')
    push(rig)
    push(rig, DEADMAN)
    rig.press(axes=(np.nan, 0.0))
    assert rig.said[-1] == 'released'
    assert not motions(push(rig, DEADMAN)), 'it was not seen let go with axes that count'


def test_device_without_the_stop_button_does_not_get_the_arm():
    rig = rig_of('sticks')
    for buttons in ([0], [1]):
        rig.pilot.hear(Values((1.0, 0.0), buttons), rig.now)
    assert not motions(rig.take())
    assert rig.said == ['not engaged: the device does not have the stop button of the profile']


def test_device_with_too_few_axes_is_told_so():
    rig = rig_of('sticks')
    rig.press(axes=(0.0,))
    rig.press(DEADMAN, axes=(0.0,))
    assert rig.said == ['not engaged: the device has 1 axes, axis 1 of the profile is not there']
