"""
The table of states: what an arm does, what may happen, and what follows.

`TABLE` has a cell for each phase and each event that counts in it: an action, by the name of a
method of `StateMachine`, and the phase that follows. An event without a cell changes nothing. An
action whose outcome is not known before ends with an event of its own (`FOUND`, `MUST_REST`, ...).

"""

from collections.abc import Collection, Mapping
from enum import Enum
from typing import NamedTuple


class Phase(Enum):
    """Phase of an arm: what it does."""

    RESTING = 'rests'
    SEARCHING = 'rests, and looks for a path'
    PROPOSED = 'rests: a path waits to be confirmed'
    FOLLOWING = 'follows a path that was checked to its end'
    HEADING = 'follows a line that is checked meanwhile'
    STREAMING = 'follows the goals of a stream, unchecked'
    STRAIGHT = 'goes straight to joint values, unchecked'
    JOGGING = 'moves as it is jogged'
    DODGING = 'gets out of the way, its tips where they are'
    CHANGING = 'brakes: something else begins once it rests'
    STOPPING = 'brakes, and stays'
    RETURNING = 'goes back to where it is measured'


class Event(Enum):
    """Event that the table of states has cells for."""

    # what it is asked for
    GOAL = 'goal of its own'
    STREAM_GOAL = 'goal of a stream'
    JOINTS = 'joint values'
    STREAM_JOINTS = 'joint values of a stream'
    JOG = 'jog'
    DODGE = 'get out of the way'
    EXECUTE = 'the path is confirmed'
    STOP = 'stop'
    RETURN = 'it did not follow: back to the measured values'
    # what its search comes to
    FOUND = 'path found'
    FOUND_BEFORE = 'path found in a world that has changed since'
    ASKS = 'path found that has to be confirmed'
    NONE_FOUND = 'no path'
    LOST = 'no path any longer: the world has changed'
    # what its motion comes to
    MUST_REST = 'it cannot head for that from here'
    BLOCKED = 'the path is blocked, another one may be tried'
    DEAD_END = 'the path is blocked, and no other one is tried'
    BLOCKED_NOW = 'the rest of the path is blocked: the world has changed'
    ARRIVED = 'end of the path'
    AT_REST = 'it rests, and may go on'
    # what changes around it
    WORLD_CHANGED = 'the world has changed'
    RULES_CHANGED = 'limits or options have changed'
    BASE_MOVES = 'the base moves'
    SET_BACK = 'its last steps were not sent'


class Cell(NamedTuple):
    """Consequence of an event: an action, and the phase that follows."""

    action: str
    """Name of a method of `StateMachine`."""
    phase: Phase
    """Phase of the arm from then on."""


RESTS = frozenset({Phase.RESTING, Phase.SEARCHING, Phase.PROPOSED})
"""Phases without a path to follow; in `CHANGING` there is none once the arm rests."""
LOOKS = Phase.SEARCHING, Phase.HEADING, Phase.CHANGING
"""Phases in which the path that the arm goes on by, if by any, is not known yet."""
CHECKED = frozenset({Phase.FOLLOWING, Phase.STRAIGHT})
"""Phases in which the arm stops where the rest of its path is blocked by a changed world."""
ALL = frozenset(Phase)
ON_LINES = frozenset(
    {Phase.FOLLOWING, Phase.HEADING, Phase.STREAMING, Phase.JOGGING, Phase.DODGING}
)
"""Phases in which the path may follow the tips: another goal is headed for at once then."""


class Rule(NamedTuple):
    """One line of the table: the same cell for several phases."""

    event: Event
    """Event that the rule is for."""
    phases: Collection[Phase]
    """Phases that the rule is for."""
    action: str
    """Name of a method of `StateMachine`."""
    phase: Phase | None = None
    """Phase of the arm from then on; None: the same as before."""


_P, _E = Phase, Event
RULES = (
    Rule(_E.GOAL, RESTS, 'search', _P.SEARCHING),
    Rule(_E.GOAL, ON_LINES, 'head_and_look', _P.HEADING),
    Rule(_E.GOAL, ALL - RESTS - ON_LINES, 'brake_and_search', _P.CHANGING),
    Rule(_E.STREAM_GOAL, ALL, 'head', _P.STREAMING),
    Rule(_E.JOINTS, RESTS, 'search', _P.SEARCHING),
    Rule(_E.JOINTS, ALL - RESTS, 'brake_and_search', _P.CHANGING),
    Rule(_E.STREAM_JOINTS, ALL, 'go_straight', _P.STRAIGHT),
    Rule(_E.JOG, ALL - {_P.JOGGING, _P.STOPPING, _P.RETURNING}, 'begin_jog', _P.JOGGING),
    Rule(_E.JOG, {_P.JOGGING}, 'steer', _P.JOGGING),
    Rule(_E.DODGE, {_P.RESTING}, 'dodge', _P.DODGING),
    Rule(_E.EXECUTE, {_P.PROPOSED}, 'confirm', _P.SEARCHING),
    Rule(_E.STOP, ALL, 'stop', _P.STOPPING),
    Rule(_E.RETURN, ALL, 'go_straight', _P.RETURNING),
    Rule(_E.FOUND, {_P.SEARCHING}, 'take', _P.FOLLOWING),
    Rule(_E.FOUND, {_P.HEADING}, 'go_on', _P.FOLLOWING),
    Rule(_E.FOUND_BEFORE, {_P.SEARCHING}, 'look_once_more', _P.SEARCHING),
    Rule(_E.ASKS, {_P.SEARCHING}, 'propose', _P.PROPOSED),
    Rule(_E.ASKS, {_P.HEADING}, 'brake_and_retry', _P.CHANGING),
    Rule(_E.NONE_FOUND, {_P.SEARCHING}, 'give_up', _P.RESTING),
    Rule(_E.NONE_FOUND, {_P.HEADING}, 'brake_and_retry', _P.CHANGING),
    Rule(_E.LOST, {_P.SEARCHING}, 'search_anew', _P.SEARCHING),
    Rule(_E.MUST_REST, {_P.STREAMING, _P.HEADING}, 'brake', _P.CHANGING),
    Rule(_E.BLOCKED, {_P.FOLLOWING, _P.HEADING}, 'brake_and_retry', _P.CHANGING),
    Rule(_E.DEAD_END, ALL - {_P.DODGING}, 'stop_short', _P.STOPPING),
    Rule(_E.DEAD_END, {_P.DODGING}, 'dodge_no_more', _P.DODGING),
    Rule(_E.BLOCKED_NOW, ALL - RESTS, 'stop_for_change', _P.STOPPING),
    Rule(_E.ARRIVED, ALL - RESTS - {_P.CHANGING}, 'arrive', _P.RESTING),
    Rule(_E.AT_REST, {_P.CHANGING}, 'begin', _P.RESTING),
    Rule(_E.WORLD_CHANGED, {_P.SEARCHING}, 'note_change'),
    Rule(_E.WORLD_CHANGED, CHECKED | {_P.HEADING}, 'check_rest'),
    Rule(_E.RULES_CHANGED, {_P.SEARCHING, _P.PROPOSED}, 'search_anew', _P.SEARCHING),
    Rule(_E.BASE_MOVES, {_P.RESTING}, 'keep_up', _P.FOLLOWING),
    Rule(_E.SET_BACK, {_P.RESTING}, 'come_to_rest_again', _P.FOLLOWING),
    Rule(_E.SET_BACK, {_P.SEARCHING, _P.PROPOSED, _P.CHANGING}, 'come_to_rest_again', _P.CHANGING),
)
TABLE: Mapping[tuple[Phase, Event], Cell] = {
    (phase, rule.event): Cell(rule.action, rule.phase or phase)
    for rule in RULES
    for phase in rule.phases
}
"""Action and next phase for each phase and event; an event without a cell changes nothing."""
