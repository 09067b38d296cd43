"""The rules of a handle: what is sent while it is dragged, and when it goes back to the tool."""

from fabrik_ros.motion.following.arm_state import State, UNDER_WAY
from fabrik_ros.ros.beside.dragging import (
    ATTENTION,
    Handle,
    PATIENCE,
    PERIOD,
    Phase,
    SETTLING_TIME,
    Standing,
    STREAM_MARGIN,
)
from hypothesis import given, strategies as st
import pytest

STREAM_TIMEOUT = 1.2
LATE = STREAM_TIMEOUT + STREAM_MARGIN + ATTENTION
"""From then on nothing is sent again [s]."""
OURS, OTHER = '17.250000', '18.000000'
EVENTS = st.lists(
    st.tuples(
        st.sampled_from(['grab', 'move', 'let go', 'release', 'status']),
        st.integers(0, 5),
        st.floats(0.0, 0.5),
    ),
    max_size=60,
)
"""What happens to a handle, with a pose, and how long after the event before [s]."""


def left(handle, at=0.0):
    """Drag a handle to 7, let go, and send that at a time."""
    handle.grab(1)
    handle.move(7, at)
    handle.let_go(7, at)
    assert handle.take(at) == 7
    handle.sent(OURS)
    return handle


def see(handle, state, now, goal=OURS, waits_for_execute=False):
    handle.see(Standing(state, goal, waits_for_execute), now, STREAM_TIMEOUT)


# -- laws


@given(EVENTS)
def test_only_what_was_dragged_is_sent_and_seldom(events):
    handle, now, dragged, grabbed, sent = Handle(), 0.0, [], None, []
    drags = repeats = 0
    for what, pose, wait in events:
        now += wait
        if what == 'grab':
            handle.grab(pose)
            grabbed, dragged = pose, []
        elif what == 'release':
            handle.release()
        elif what == 'status':
            before = handle.phase
            see(handle, 'HOLDING', now)
            repeats += before is handle.phase is Phase.LEFT
        else:
            is_end = what == 'let go'
            was_dragged = handle.phase is Phase.DRAGGED
            (handle.let_go if is_end else handle.move)(pose, now)
            dragged += [pose] if was_dragged and (dragged or pose != grabbed) else []
            drags += was_dragged and is_end
        due = handle.take(now)
        if due is not None:
            assert due == dragged[-1], 'the newest pose, of this drag'
            sent.append(now)
            handle.sent(OURS)
    assert len(sent) <= now / PERIOD + 1 + 2 * drags, 'the last pose comes once, and once more'


@given(
    st.lists(st.sampled_from([state.name for state in State]), min_size=1, max_size=20),
    st.sampled_from([2.0, 10.0]),
)
def test_handle_that_nobody_drags_goes_back_once_the_arm_is_not_under_way(states, period):
    handle, now = left(Handle()), 0.0
    for state in states:
        now += period
        see(handle, state, now)
        if handle.take(now) is not None:
            handle.sent(OURS)
    rests = [i for i, state in enumerate(states) if state not in UNDER_WAY]
    is_sent_again = rests and states[rests[0]] == 'HOLDING' and (rests[0] + 1) * period < LATE
    is_back = len(rests) > 1 if is_sent_again else len(rests) > 0
    assert (handle.phase is Phase.AT_TOOL) == is_back


# -- what is sent


def test_nothing_is_sent_before_somebody_drags():
    handle = Handle()
    assert handle.take(0.0) is None
    handle.move(7, 0.0)
    handle.let_go(7, 0.0)
    assert handle.take(1.0) is None


def test_click_asks_nothing():
    handle = Handle()
    handle.grab(1)
    handle.move(1, 0.0)
    handle.let_go(1, 0.0)
    assert handle.take(1.0) is None
    assert handle.phase is Phase.AT_TOOL


def test_pose_that_was_grabbed_is_sent_when_the_handle_comes_back_to_it():
    handle = Handle()
    handle.grab(1)
    handle.move(7, 0.0)
    assert handle.take(0.0) == 7
    handle.let_go(1, 0.0)
    assert handle.take(0.001) == 1


def test_poses_between_are_left_out_and_the_last_one_never_is():
    handle, sent = Handle(), []
    handle.grab(0)
    for i in range(1, 101):  # a mouse that moves at 1 kHz
        handle.move(i, 0.001 * i)
        sent.append(handle.take(0.001 * i))
    assert sum(pose is not None for pose in sent) in (3, 4)
    handle.let_go(100, 0.0)
    assert handle.take(0.1001) == 100
    assert handle.take(99.0) is None


def test_pose_that_came_too_early_is_sent_later():
    handle = Handle()
    handle.grab(0)
    handle.move(1, 0.0)
    assert handle.take(0.0) == 1
    handle.move(2, 0.0)
    assert handle.take(0.5 * PERIOD) is None
    assert handle.take(1.1 * PERIOD) == 2


def test_what_was_dragged_is_forgotten_with_the_handle():
    handle = Handle()
    handle.grab(0)
    handle.move(1, 0.0)
    handle.release()
    assert handle.take(1.0) is None
    handle.let_go(2, 0.0)
    assert handle.take(2.0) is None


def test_pose_that_nobody_hears_is_kept_for_a_second_and_then_forgotten():
    for wait, expected in ((0.9 * PATIENCE, 7), (1.1 * PATIENCE, None)):
        handle = Handle()
        handle.grab(1)
        handle.let_go(7, 0.0)
        assert handle.take(wait, is_heard=False) is None
        assert handle.take(wait) == expected
    assert handle.phase is Phase.AT_TOOL


# -- where the handle belongs


@pytest.mark.parametrize('state', sorted(UNDER_WAY))
def test_handle_stays_where_it_was_left_while_the_arm_goes_there(state):
    handle = left(Handle())
    for i in range(100):
        see(handle, state, 0.1 * i)
    assert handle.phase is Phase.LEFT
    see(handle, 'REACHED', 10.0)
    assert handle.phase is Phase.AT_TOOL
    assert handle.take(99.0) is None


def test_status_that_cannot_know_the_target_yet_changes_nothing():
    handle = left(Handle())
    see(handle, 'IDLE', 0.5 * SETTLING_TIME, goal='')
    assert handle.phase is Phase.LEFT
    see(handle, 'IDLE', 1.1 * SETTLING_TIME, goal='')
    assert handle.phase is Phase.AT_TOOL


@pytest.mark.parametrize('goal', ['', OTHER])
def test_refused_or_replaced_target_sends_the_handle_back_and_is_not_repeated(goal):
    handle = left(Handle())
    see(handle, 'HOLDING', SETTLING_TIME + 0.1, goal)
    assert handle.phase is Phase.AT_TOOL
    see(handle, 'HOLDING', 5.0)
    assert handle.take(5.0) is None


def test_handle_in_the_hand_stays_whatever_the_arm_does():
    handle = Handle()
    handle.grab(0)
    handle.move(1, 0.0)
    for i, state in enumerate(State):
        see(handle, state.name, 10.0 * i, OTHER)
    assert handle.phase is Phase.DRAGGED


# -- the goal after the stream


def test_goal_that_the_line_did_not_reach_is_sent_once_more_after_the_stream():
    handle = left(Handle())
    see(handle, 'HOLDING', STREAM_TIMEOUT)
    assert handle.phase is Phase.LEFT
    assert handle.take(STREAM_TIMEOUT) is None
    after = STREAM_TIMEOUT + 1.1 * STREAM_MARGIN
    see(handle, 'HOLDING', after)
    assert handle.take(after) == 7
    handle.sent(OTHER)
    see(handle, 'MOVING', after + 1.0, OTHER)
    assert handle.phase is Phase.LEFT
    see(handle, 'HOLDING', after + 9.0, OTHER)
    assert handle.phase is Phase.AT_TOOL, 'not a third time'
    assert handle.take(99.0) is None


def test_path_that_waits_for_somebody_is_left_to_them():
    handle = left(Handle())
    see(handle, 'HOLDING', 5.0, waits_for_execute=True)
    assert handle.phase is Phase.AT_TOOL
    assert handle.take(5.0) is None


def test_new_drag_replaces_a_goal_that_waits_to_be_sent_again():
    handle = left(Handle())
    see(handle, 'HOLDING', 5.0)
    handle.grab(3)
    assert handle.take(5.0) is None
