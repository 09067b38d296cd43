"""What the menu of a handle offers, and what its entries mean however it changes."""

from dataclasses import replace
import math

import pytest

pytest.importorskip('visualization_msgs', reason='ROS 2 is not installed')

from fabrik_ros.motion.following.arm_state import State
from fabrik_ros.ros.beside.menu_entries import (
    Ask,
    Blend,
    Choose,
    Edit,
    entries_of,
    GoTo,
    Grip,
    Known,
    KnownGripper,
    KnownWaypoints,
    Step,
)
from fabrik_ros.ros.beside.menu_numbers import MenuNumbers
from fabrik_ros.ros.beside.resting_joints import JointValue, REST_TIME, RestingJoints, STILL
from hypothesis import given, strategies as st

WORDS = {
    'path': ('auto', 'line', 'joint'),
    'mode': ('auto', 'pose', 'axis', 'position'),
    'confirm': ('never', 'leaving_line', 'always'),
}
known = st.builds(
    Known,
    state=st.sampled_from([state.name for state in State]),
    is_held=st.booleans(),
    waits_for_execute=st.booleans(),
    has_home=st.booleans(),
    configurations=st.lists(st.sampled_from(['up', 'Home', 'Stop', 'a.b']), unique=True).map(
        tuple
    ),
    chosen=st.fixed_dictionaries({name: st.sampled_from(words) for name, words in WORDS.items()}),
    speed=st.one_of(st.sampled_from([0.0, 0.1, 0.1 + 1e-9, 1.0]), st.floats(0.0, 1.0)),
    joints=st.lists(
        st.builds(
            JointValue, st.sampled_from(['Stop', 'arm_1', '10']), st.booleans(), st.floats(-7, 7)
        ),
        min_size=1,
        max_size=3,
        unique_by=lambda joint: joint.name,
    ).map(tuple),
    gripper=st.one_of(st.none(), st.just(KnownGripper(0.05, 0.0, 0.08))),
    waypoints=st.one_of(
        st.none(),
        st.builds(
            KnownWaypoints, st.integers(0, 3), st.booleans(), st.sampled_from([0.0, 0.01, 0.3])
        ),
    ),
)


def menus_of(messages):
    """Titles by the number of their menu, 0 for those outside of any."""
    menus = {}
    for message in messages:
        menus.setdefault(message.parent_id, []).append(message.title)
    return menus


def titles(**facts):
    """Top level of a menu."""
    plain = {
        'state': 'IDLE',
        'is_held': False,
        'waits_for_execute': False,
        'has_home': False,
        'configurations': (),
        'chosen': {name: words[0] for name, words in WORDS.items()},
        'speed': 1.0,
        'joints': (JointValue('arm_1', True, 0.0),),
    }
    return [entry.name for entry in entries_of(Known(**plain | facts))]


# -- laws


@given(st.lists(known, min_size=1, max_size=5))
def test_a_number_means_the_same_however_the_menu_changes(menus):
    numbers, meanings = MenuNumbers(), {}
    for facts in menus:
        messages = numbers.messages(entries_of(facts))
        ids = [message.id for message in messages]
        assert len(set(ids)) == len(ids)
        for message in messages:
            assert message.id > 0
            assert message.parent_id == 0 or message.parent_id in ids[: ids.index(message.id)]
            wish = numbers.wish(message.id)
            assert meanings.setdefault(message.id, wish) == wish
    assert all(numbers.wish(number) == wish for number, wish in meanings.items())


@given(known)
def test_stop_is_always_the_first_and_one_speed_and_word_is_marked(facts):
    first, *others = entries_of(facts)
    assert (first.title, first.wish) == ('Stop', Ask('hold'))
    menus = {entry.name: entry for entry in others}
    for parameter, words in WORDS.items():
        inside = menus[parameter.capitalize()].inside
        assert [entry.wish for entry in inside] == [Choose(parameter, word) for word in words]
        marked = [entry.title for entry in inside if entry.is_chosen]
        assert marked == [f'[x] {facts.chosen[parameter]}']
    (marked,) = [entry.wish for entry in menus['Speed'].inside if entry.is_chosen]
    assert marked == Choose('speed_scaling', pytest.approx(facts.speed, abs=6e-4))


@given(known)
def test_whoever_has_a_menu_open_finds_each_name_once(facts):
    for found in menus_of(MenuNumbers().messages(entries_of(facts))).values():
        assert len(set(found)) == len(found)


@given(st.lists(st.floats(-0.49 * STILL, 0.49 * STILL), max_size=50), st.booleans())
def test_joints_that_tremble_rest(noise, is_revolute):
    size = math.radians(1.0) if is_revolute else 0.001
    resting = RestingJoints()
    resting.see((JointValue('arm', is_revolute, 0.3),), 0.0)
    before = resting.joints
    for number, offset in enumerate(noise):
        resting.see((JointValue('arm', is_revolute, 0.3 + offset * size),), 0.1 * number)
    assert resting.joints is before


@given(st.lists(st.floats(-3.0, 3.0), max_size=20), st.floats(-3.0, 3.0))
def test_joints_are_said_to_be_where_they_came_to_rest(way, end):
    resting = RestingJoints()
    resting.see((JointValue('arm', True, 0.0),), 0.0)
    for number, value in enumerate(way):
        resting.see((JointValue('arm', True, value),), 0.1 + 0.01 * number)
        assert resting.joints[0].value == 0.0, 'on the way'
    resting.see((JointValue('arm', True, end),), 1.0)
    resting.see((JointValue('arm', True, end),), 1.01 + REST_TIME)
    assert abs(resting.joints[0].value - end) <= math.radians(STILL) + 1e-12


# -- examples


@pytest.mark.parametrize(
    ('facts', 'more'),
    [
        ({}, []),
        ({'is_held': True, 'state': 'HOLDING'}, ['Resume']),
        ({'is_held': True, 'state': 'WAITING_FOR_MODEL'}, ['Resume']),
        ({'state': 'HOLDING', 'waits_for_execute': True}, ['Execute']),
        ({'state': 'HOLDING'}, ['Resume', 'Execute']),
        ({'has_home': True, 'configurations': ('up',)}, ['Home', 'Go to']),
    ],
)
def test_menu_has_what_is_of_use(facts, more):
    always = ['Joint values', 'Speed', 'Path', 'Mode', 'Confirm']
    assert titles(**facts) == ['Stop', *more, *always]


def test_joints_are_read_and_moved_in_degrees_and_millimetres():
    joints = (JointValue('turns', True, -1e-9), JointValue('slides', False, 0.1234))
    entries = {'chosen': {name: words[0] for name, words in WORDS.items()}, 'joints': joints}
    facts = Known('IDLE', False, False, False, ('up',), speed=0.3, **entries)
    _, to_each, values, speeds, *_ = entries_of(facts)
    assert [entry.wish for entry in to_each.inside] == [GoTo('up')]
    assert [entry.title for entry in values.inside] == ['turns: 0.0°', 'slides: 123.4 mm']
    turns, slides = values.inside
    assert [entry.title for entry in turns.inside] == ['+10°', '+1°', '-1°', '-10°']
    assert turns.inside[-1].wish == Step('turns', pytest.approx(-math.pi / 18.0))
    assert slides.inside[1].title == '+1 mm'
    assert slides.inside[1].wish == Step('slides', pytest.approx(0.001))
    marks = ['[ ] 100 %', '[ ] 50 %', '[x] 30 %', '[ ] 25 %', '[ ] 10 %']
    assert [entry.title for entry in speeds.inside] == marks


@pytest.mark.parametrize(
    ('waypoints', 'title', 'inside'),
    [
        (KnownWaypoints(), 'Waypoints', ['Add here', 'Blend']),
        (KnownWaypoints(0, True), 'Waypoints', ['Add here', 'Undo', 'Blend']),
        (
            KnownWaypoints(3, True, 0.02),
            'Waypoints: 3',
            ['Add here', 'Run', 'Undo', 'Clear', 'Blend'],
        ),
    ],
)
def test_waypoints_can_be_added_run_and_taken_back(waypoints, title, inside):
    chosen = {name: words[0] for name, words in WORDS.items()}
    facts = Known('IDLE', False, False, False, (), chosen, 1.0, (), waypoints)
    (menu,) = [entry for entry in entries_of(facts) if entry.name == 'Waypoints']
    assert menu.title == title
    assert [entry.name for entry in menu.inside] == inside
    *edits, blends = menu.inside
    assert {entry.wish for entry in edits} <= {Edit(w) for w in ('add', 'run', 'undo', 'clear')}
    marked = round(1000.0 * waypoints.blend)
    offered = (0, 10, 20, 50)
    titles = [f'[{"x" if mm == marked else " "}] {mm} mm' for mm in offered]
    assert [entry.title for entry in blends.inside] == titles
    assert [entry.wish for entry in blends.inside] == [
        Blend(pytest.approx(0.001 * mm)) for mm in offered
    ]


def test_gripper_opens_as_far_as_it_goes_and_says_how_wide_it_is():
    chosen = {name: words[0] for name, words in WORDS.items()}
    plain = Known('IDLE', False, False, False, (), chosen, 1.0, ())
    assert all(entry.name != 'Gripper' for entry in entries_of(plain))
    shown = {0.0503: 'Gripper: 50 mm', -0.0001: 'Gripper: 0 mm', None: 'Gripper'}
    for width, title in shown.items():
        known = replace(plain, gripper=KnownGripper(width, 0.01, 0.08))
        (menu,) = [entry for entry in entries_of(known) if entry.name == 'Gripper']
        assert menu.title == title
        assert [(e.name, e.wish) for e in menu.inside] == [
            ('Open', Grip(0.08)),
            ('Close', Grip(0.01)),
        ]
