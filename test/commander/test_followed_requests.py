"""What is said of a request, whatever the statuses say: laws."""

import pytest

pytest.importorskip('rclpy', reason='ROS 2 is not installed')
pytest.importorskip('hypothesis', reason='needs: pip install hypothesis')

from fabrik_ros.commander.followed_request import (
    ANSWER_TIME,
    FollowedRequest,
    HOLD_TIME,
    Outcome,
    RESEND_TIME,
)
from fabrik_ros.motion.following.arm_state import State, UNDER_WAY
from hypothesis import given, strategies as st

OWN, OTHER = '1.000000', '2.000000'
PERIOD = 0.1
"""Time between two statuses [s]."""


def status(state='IDLE', goal=None, accepted=0, refused=0, of='', instance='a', goes_on=False):
    facts = {
        'state': state,
        'reason': '',
        'reason_code': '',
        'accepted': str(accepted),
        'refused': str(refused),
        'refused_target': of,
        'refusal_code': 'bad_request',
        'refused_because': 'no',
        'instance': instance,
        'goes_on': str(goes_on),
        'is_measured': 'True',
        'measured_position_error': '0.001',
        'measured_orientation_error': '0.002',
    }
    return facts if goal is None else {**facts, 'target_stamp': goal}


statuses = st.builds(
    status,
    state=st.sampled_from([state.name for state in State]),
    goal=st.sampled_from([None, OWN, OTHER]),
    accepted=st.integers(0, 2),
    refused=st.integers(0, 2),
    of=st.sampled_from(['', OWN, OTHER]),
    instance=st.sampled_from(['a', 'a', 'a', 'b']),
    goes_on=st.booleans(),
)


def ending(before, after, period=PERIOD):
    """Follow a request through statuses; return its end, and the last one that was looked at."""
    request = FollowedRequest({'target_stamp': OWN}, OWN, before, 0.0)
    for number, facts in enumerate(after, 1):
        found = request.see(facts, number * period)
        if found is not None:
            return found, facts
    return None, None


@given(statuses, st.lists(statuses, max_size=20))
def test_reached_and_refused_are_said_only_where_the_node_says_so_of_this_very_request(
    before, after
):
    found, facts = ending(before, after)
    if found is not None and found.outcome is Outcome.REACHED:
        own = (facts['state'], facts['target_stamp'], facts['instance'])
        assert own == ('REACHED', OWN, before['instance'])
        earlier = after[: after.index(facts) + 1]
        assert any(int(one['accepted']) > int(before['accepted']) for one in earlier)
    if found is not None and found.outcome is Outcome.REFUSED:
        assert facts['refused_target'] == OWN
        assert int(facts['refused']) > int(before['refused'])


@given(statuses, statuses)
def test_every_request_ends_but_for_an_arm_that_goes_there(before, after):
    """The same status again and again: whatever it is, something is said of it in time."""
    most = round((ANSWER_TIME + HOLD_TIME + RESEND_TIME) / PERIOD) + 2
    found, _ = ending(before, [after] * most)
    goes = after['state'] in UNDER_WAY or after['goes_on'] == 'True'
    assert found is not None or (after.get('target_stamp') == OWN and goes)


@given(st.lists(statuses, max_size=10), st.integers(0, 5))
def test_arm_that_holds_for_a_moment_only_is_followed_on(before, count):
    moving = status('MOVING', OWN, accepted=1)
    holds = [status('HOLDING', OWN, accepted=1)] * count
    found, _ = ending(status(), [moving, *holds, moving, status('REACHED', OWN, accepted=1)])
    assert found is not None
    assert found.outcome is Outcome.REACHED


def test_target_of_somebody_else_that_came_earlier_is_no_end():
    """It was accepted before this one was, and is said while this one is on its way."""
    after = [status('MOVING', OTHER, accepted=1), status('MOVING', OWN, accepted=2)]
    assert ending(status(), after) == (None, None)


def test_answers_of_services_end_a_request_or_accept_it():
    for is_done, outcome in ((False, Outcome.REFUSED), (None, Outcome.UNANSWERED)):
        request = FollowedRequest({}, '', status(), 0.0)
        request.take_answer(is_done, 'why')
        found = request.see(status(), 0.1)
        assert (found.outcome, found.sentence) == (outcome, 'why')
    request = FollowedRequest({}, '', status(), 0.0)
    request.take_answer(True, 'setting out')
    assert request.was_accepted
    assert request.see(status('MOVING'), 0.1) is None
