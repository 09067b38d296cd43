"""
The table of states, cell by cell: what each event does in each phase, and what follows.

The machine stands alone here: what moves and what finds paths are stand-ins that tell what they
are asked for. That real arms keep its laws is tested in `test_state_laws.py`.

"""

from pathlib import Path
import re
from types import SimpleNamespace

from fabrik_ros.motion.choosing.goal import IN_STREAM, MotionOptions
from fabrik_ros.motion.choosing.path_finder import FoundPath, LINE, ToConfiguration, ToGoal
from fabrik_ros.motion.choosing.state_machine import CHANGING_PATH, Jog, LOOKING, StateMachine
from fabrik_ros.motion.choosing.state_table import Event, Phase, RULES, TABLE
from fabrik_ros.reasons import Reason, ReasonKind
import numpy as np
import pytest

P, E = Phase, Event
Q = np.zeros(2)
JOG = Jog(np.ones(6), in_tip=False, tip=0, unconstrained=np.zeros(1, dtype=bool))
WALL = Reason(ReasonKind.COLLISION_AHEAD, 'a wall')
TOLD = Reason(ReasonKind.HELD, 'told to hold')
FIRST_GOAL, OTHER_GOAL = object(), object()


class StandInPath:
    """What a path is asked for."""

    def __init__(self, kind):
        self.kind = kind
        self.follows_tips = kind in ('line', 'jog', 'dodge')
        self.is_stop = kind == 'stop'
        self.is_at_goal = False

    def change_limits(self, limits):
        pass

    def steer(self, twist, in_tip, tip):
        assert self.kind == 'jog'


class StandInMover:
    """Follows what it is told, and remembers why it brakes and rests."""

    def __init__(self):
        self.path, self.limits, self.reason = None, None, None

    def follow(self, path):
        self.path = path

    def follow_straight(self, q):
        self.path = StandInPath('joint')

    def follow_kept(self):
        self.path = StandInPath('line')

    def stay(self, reason):
        self.reason = reason

    def brake(self, reason):
        self.reason = reason
        self.path = None if self.path is None else StandInPath('stop')

    def forget_goal(self):
        self.reason = None


class StandInPursuit:
    """Finds what the test says; `seen` are the tasks it was asked for."""

    def __init__(self, **options):
        self.options = MotionOptions(**options)
        self.may_head_on = self.options.path != 'joint' and self.options.confirm != 'always'
        self.finder, self.reason = self, WALL
        self.found, self.seen, self.stays = None, [], False

    def find(self, task):
        self.seen.append(task)
        return self._pieces()

    def along(self, path, kind):
        return self._pieces(path)

    def once_more(self, found):
        return self._pieces(found.path)

    def rest_of(self, path, found):
        return self._pieces(path)

    def _pieces(self, path=None):
        while self.found is None:
            yield
        is_free = self.found.path is not None
        return (
            FoundPath(self.found.kind, path, self.found.preview)
            if path and is_free
            else (self.found)
        )

    def take(self, found):
        pass

    def forget(self):
        pass

    def follow_on(self, goal, path):
        return None

    def set_out(self, goal, path):
        return None if self.stays else StandInPath('line')

    def jog_path(self, path, unconstrained):
        return StandInPath('jog')


FREE = FoundPath(LINE, StandInPath('line'))
IN_JOINT_SPACE = FoundPath('joint', StandInPath('joint'))
BLOCKED = FoundPath(LINE, None, reason=WALL)


class Bench:
    """A machine in a phase, reached by the events that lead there."""

    def __init__(self, phase=P.RESTING, **options):
        options = {'confirm': 'leaving_line', **options}
        self.mover, self.pursuit = StandInMover(), StandInPursuit(**options)
        arms = SimpleNamespace(lead=lambda goal, path: None, forget=lambda: None)
        self.machine = StateMachine(self.mover, self.pursuit, arms)
        self.lead_to(phase)
        assert self.phase is phase

    @property
    def phase(self):
        return self.machine.phase

    def lead_to(self, phase):
        """Lead a resting machine to a phase."""
        if phase in (P.SEARCHING, P.PROPOSED, P.FOLLOWING, P.HEADING):
            self.machine.handle(E.GOAL, ToGoal(FIRST_GOAL))
        if phase is P.PROPOSED:
            self.find(IN_JOINT_SPACE)
        if phase in (P.FOLLOWING, P.HEADING):
            self.find(FREE)
        if phase is P.HEADING:
            self.machine.handle(E.GOAL, ToGoal(OTHER_GOAL))
        if phase in (P.STREAMING, P.STOPPING):
            self.machine.handle(E.STREAM_GOAL, FIRST_GOAL)
        if phase is P.STOPPING:
            self.machine.handle(E.STOP, TOLD)
        if phase in (P.STRAIGHT, P.CHANGING):
            self.machine.handle(E.STREAM_JOINTS, Q)
        if phase is P.CHANGING:
            self.machine.handle(E.GOAL, ToGoal(FIRST_GOAL))
        if phase is P.JOGGING:
            self.machine.handle(E.JOG, JOG)
        if phase is P.DODGING:
            self.machine.handle(E.DODGE, DATA[E.DODGE])
        if phase is P.RETURNING:
            self.machine.handle(E.RETURN, Q)

    def find(self, found):
        """Let the search come to something."""
        self.pursuit.found = found
        self.machine.look(0.0, 0.0)
        self.pursuit.found = None

    def come_to_rest(self):
        """Let the motion come to its end."""
        self.mover.path = None
        self.machine.handle(E.ARRIVED)

    @property
    def kind(self):
        """What is followed."""
        return None if self.mover.path is None else self.mover.path.kind


DATA = {
    E.GOAL: ToGoal(OTHER_GOAL),
    E.STREAM_GOAL: OTHER_GOAL,
    E.JOINTS: ToConfiguration(Q),
    E.STREAM_JOINTS: Q,
    E.JOG: JOG,
    E.DODGE: StandInPath('dodge'),
    E.STOP: TOLD,
    E.RETURN: Q,
    E.FOUND: FREE,
    E.FOUND_BEFORE: FREE,
    E.ASKS: WALL,
    E.NONE_FOUND: WALL,
    E.MUST_REST: ToGoal(OTHER_GOAL),
    E.BLOCKED: WALL,
    E.DEAD_END: WALL,
    E.BLOCKED_NOW: WALL,
    E.SET_BACK: Q,
}
"""What belongs to each event, if anything does."""

RESTS = {P.RESTING, P.SEARCHING, P.PROPOSED}
AFTER_A_STOP = {P.RESTING: P.RESTING, P.SEARCHING: P.RESTING, P.PROPOSED: P.RESTING}
"""An arm that rests has no way to brake."""
OUTCOMES = {
    (P.STRAIGHT, E.STREAM_GOAL): P.CHANGING,
    (P.CHANGING, E.STREAM_GOAL): P.CHANGING,
    (P.RETURNING, E.STREAM_GOAL): P.CHANGING,
    **{(phase, event): P.RESTING for phase in RESTS for event in (E.STOP, E.DEAD_END)},
}
"""Cells that end with another event, in the situations of these tests."""
KINDS = {
    P.RESTING: {None},
    P.SEARCHING: {None},
    P.PROPOSED: {None},
    P.FOLLOWING: {'line', 'joint'},
    P.HEADING: {'line'},
    P.STREAMING: {'line'},
    P.STRAIGHT: {'joint'},
    P.JOGGING: {'jog'},
    P.DODGING: {'dodge', 'stop'},
    P.CHANGING: {'stop', 'joint', None},
    P.STOPPING: {'stop'},
    P.RETURNING: {'joint'},
}
"""What an arm follows in each phase."""


@pytest.mark.parametrize(('phase', 'event'), [(p, e) for p in Phase for e in Event])
def test_event_does_what_its_cell_says_and_nothing_where_it_has_none(phase, event):
    bench = Bench(phase)
    path, reason = bench.mover.path, bench.mover.reason
    if event in (E.ARRIVED, E.AT_REST):
        bench.mover.path = None  # that is what they mean
    bench.machine.handle(event, DATA.get(event))
    cell = TABLE.get((phase, event))
    if cell is None:
        assert bench.phase is phase
        assert bench.mover.path in (path, None)
        assert bench.mover.reason is reason
        return
    following = OUTCOMES.get((phase, event), cell.phase)
    if (phase, event) == (P.CHANGING, E.AT_REST):
        following = P.SEARCHING  # what was to begin begins
    assert bench.phase is following
    assert bench.kind in KINDS[following]


# -- what the actions do


def test_arm_that_cannot_head_on_brakes_and_looks_once_it_rests():
    bench = Bench(P.STRAIGHT)
    bench.machine.handle(E.GOAL, ToGoal(OTHER_GOAL, patience=0.2))
    assert (bench.kind, bench.mover.reason) == ('stop', CHANGING_PATH)
    bench.machine.look(0.0, 0.0)
    assert bench.phase is P.CHANGING, 'it moves still'
    bench.come_to_rest()
    bench.machine.look(0.0, 0.0)
    assert bench.phase is P.SEARCHING
    assert bench.machine.search_reason is LOOKING
    assert [(task.goal, task.patience) for task in bench.pursuit.seen] == [(OTHER_GOAL, 0.0)]


def test_path_that_turns_out_to_be_blocked_is_tried_in_three_ways_and_no_more():
    bench = Bench(P.FOLLOWING)
    for _ in range(3):
        assert bench.phase is P.FOLLOWING
        bench.machine.be_blocked(WALL)
        assert bench.mover.reason is WALL
        bench.come_to_rest()
        bench.machine.look(0.0, 0.0)
        bench.find(FREE)
    assert bench.phase is P.RESTING
    attempts = [task.attempt.value for task in bench.pursuit.seen]
    assert attempts == [1, 2, 3]


def test_path_of_which_it_is_known_that_it_ends_early_is_the_last_one():
    bench = Bench(P.SEARCHING)
    early = FoundPath(LINE, StandInPath('line'), SimpleNamespace(reason=WALL))
    bench.find(early)
    bench.machine.be_blocked(WALL)
    assert bench.phase is P.STOPPING


def test_line_that_is_blocked_while_it_is_headed_along_is_left_for_another_path():
    bench = Bench(P.HEADING)
    bench.find(BLOCKED)
    assert (bench.phase, bench.mover.reason) == (P.CHANGING, WALL)
    bench.come_to_rest()
    bench.machine.look(0.0, 0.0)
    assert bench.pursuit.seen[-1].goal is OTHER_GOAL


@pytest.mark.parametrize('phase', Phase)
def test_arm_that_is_blocked_never_goes_on_whatever_it_does(phase):
    bench = Bench(phase)
    bench.machine.be_blocked(WALL)
    assert bench.phase in (P.RESTING, P.CHANGING, P.STOPPING, P.DODGING)
    assert bench.kind in (None, 'stop')


def test_blocked_stream_says_how_it_is_followed():
    bench = Bench(P.STREAMING)
    bench.machine.be_blocked(WALL)
    assert bench.phase is P.STOPPING
    assert str(IN_STREAM) in str(bench.mover.reason)


def test_goal_of_a_stream_waits_for_rest_and_is_headed_for_then():
    bench = Bench(P.CHANGING)
    bench.machine.handle(E.STREAM_GOAL, OTHER_GOAL)
    assert bench.phase is P.CHANGING
    bench.come_to_rest()
    bench.machine.look(0.0, 0.0)
    assert (bench.phase, bench.kind, bench.machine.in_stream) == (P.STREAMING, 'line', True)


def test_goal_that_is_to_be_kept_away_from_stops_the_arm_with_the_reason():
    bench = Bench(P.STREAMING)
    bench.pursuit.stays = True
    bench.machine.handle(E.STREAM_GOAL, OTHER_GOAL)
    assert (bench.phase, bench.mover.reason) == (P.STOPPING, WALL)


def test_path_found_in_an_old_world_is_looked_at_once_more_and_looked_for_anew_if_lost():
    bench = Bench(P.SEARCHING)
    bench.machine.handle(E.WORLD_CHANGED)
    bench.find(FREE)
    assert bench.phase is P.SEARCHING
    bench.find(BLOCKED)
    assert bench.phase is P.SEARCHING
    assert len(bench.pursuit.seen) == 2
    bench.find(FREE)
    assert bench.phase is P.FOLLOWING


def test_path_that_a_changed_world_blocks_ends_in_a_stop_that_its_owner_hears_of():
    for told_by_check in (True, False):
        bench = Bench(P.FOLLOWING)
        bench.machine.handle(E.WORLD_CHANGED)
        assert bench.machine.is_checking
        if told_by_check:
            bench.find(BLOCKED)
        else:
            bench.machine.be_blocked(WALL)
        assert (bench.phase, bench.machine.blocked_by_change) == (P.STOPPING, WALL)


def test_world_that_changes_while_it_is_looked_at_is_looked_at_again():
    bench = Bench(P.FOLLOWING)
    for _ in range(2):
        bench.machine.handle(E.WORLD_CHANGED)
    bench.find(FREE)
    assert bench.machine.is_checking
    bench.find(FREE)
    assert not bench.machine.is_checking


def test_proposed_path_is_looked_at_once_more_before_it_is_taken():
    bench = Bench(P.PROPOSED)
    assert bench.mover.reason.kind is ReasonKind.AWAITS_EXECUTE
    assert bench.machine.proposal is IN_JOINT_SPACE
    bench.machine.handle(E.EXECUTE)
    assert bench.machine.proposal is None
    bench.find(IN_JOINT_SPACE)
    assert (bench.phase, bench.kind) == (P.FOLLOWING, 'joint')


def test_path_that_leaves_the_line_waits_for_a_second_goal():
    bench = Bench(confirm='never')
    bench.machine.handle(E.GOAL, ToGoal(FIRST_GOAL, patience=0.2))
    bench.pursuit.found = IN_JOINT_SPACE
    bench.machine.look(0.1, 0.0)
    assert bench.phase is P.SEARCHING
    assert bench.machine.search_reason is not LOOKING
    bench.machine.look(0.15, 0.0)
    assert bench.phase is P.FOLLOWING


def test_nothing_that_was_given_up_begins_by_itself():
    for event in (E.RULES_CHANGED, E.WORLD_CHANGED, E.AT_REST, E.EXECUTE):
        bench = Bench(P.SEARCHING)
        bench.find(BLOCKED)
        bench.machine.handle(event)
        assert (bench.phase, bench.kind) == (P.RESTING, None)


@pytest.mark.parametrize('phase', [P.SEARCHING, P.PROPOSED, P.CHANGING])
def test_arm_whose_last_steps_were_not_sent_looks_once_it_rests_again(phase):
    bench = Bench(phase)
    if phase is P.CHANGING:
        bench.come_to_rest()
    bench.machine.handle(E.SET_BACK, Q)
    assert (bench.phase, bench.kind) == (P.CHANGING, 'joint')
    bench.come_to_rest()
    bench.machine.look(0.0, 0.0)
    assert bench.phase is P.SEARCHING
    assert bench.pursuit.seen[-1].goal is FIRST_GOAL


def test_every_phase_and_every_event_is_in_the_table():
    assert {phase for phase, _ in TABLE} == set(Phase)
    assert {event for _, event in TABLE} == set(Event)
    assert len(TABLE) == sum(len(rule.phases) for rule in RULES), 'no two rules for one cell'


def names(words):
    """Phases that a line of the page names."""
    if words == 'resting':
        return RESTS
    if words == 'moving':
        return set(Phase) - RESTS
    named = {Phase[word] for word in words.removeprefix('all but').removeprefix('all').split()}
    return set(Phase) - named if words.startswith('all') else named


def test_page_shows_the_table():
    page = (Path(__file__).parents[3] / 'docs' / 'architecture.md').read_text()
    for one in (*Phase, *Event):
        assert re.search(rf'^{one.name} +{re.escape(one.value)}$', page, re.MULTILINE)
    for action in {cell.action for cell in TABLE.values()}:
        means = getattr(StateMachine, f'_{action}').__doc__
        assert re.search(rf'^{action} +{re.escape(means)}$', page, re.MULTILINE)
    lines = page.split('\nevent ')[1].split('\n```')[0].splitlines()[1:]
    shown = {}
    for line in lines:
        event, phases, action, following = re.split(r'  +', line.strip())
        for phase in names(phases):
            shown[phase, Event[event]] = action, phase if '(' in following else Phase[following]
    assert shown == {cell: tuple(value) for cell, value in TABLE.items()}
