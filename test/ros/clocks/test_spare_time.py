"""Work that waits for a command to leave: done once, in its turn, and never put off twice."""

from functools import partial

from fabrik_ros.ros.clocks.spare_time import SpareTime
from hypothesis import given, strategies as st

KINDS = 3
EVENTS = st.lists(st.sampled_from([*range(KINDS), 'command']), max_size=60)


class Office:
    """Keeps a record of what was done when."""

    def __init__(self):
        self.spare_time, self.done = SpareTime(), []
        self.works = [partial(self.done.append, kind) for kind in range(KINDS)]

    def have(self, event):
        """Have an event; return what is done at once."""
        before = len(self.done)
        if event == 'command':
            self.spare_time.use()
        else:
            self.spare_time.ask(self.works[event])
        return self.done[before:]


@given(EVENTS)
def test_work_waits_for_the_next_time_it_is_asked_for_at_most(events):
    office, waits = Office(), [0] * KINDS
    for event in events:
        if event != 'command':
            waits[event] += 1
        done = office.have(event)
        assert len(done) <= 1, 'one piece at a time'
        for kind in done:
            assert waits[kind] > 0
            waits[kind] = 0
        assert max(waits) <= 1


@given(EVENTS)
def test_where_commands_leave_between_all_else_it_is_done_after_them_in_its_order(events):
    office = Office()
    office.have('command')
    asked = []
    for event in (event for event in events if event != 'command'):
        assert office.have(event) == []
        asked.append(event)
        assert office.have('command') == [event]
    assert office.done == asked


@given(EVENTS)
def test_where_no_commands_leave_it_is_done_at_once(events):
    office = Office()
    for event in (event for event in events if event != 'command'):
        assert office.have(event) == [event]


def test_commands_that_end_delay_work_once():
    office = Office()
    office.have('command')
    assert office.have(0) == []
    assert office.have(0) == [0], 'that of before waited in vain'
    assert office.have(1) == [1]
