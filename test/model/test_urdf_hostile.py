"""Robot descriptions by mistake, by malice and by machine; most were found by `make fuzz`."""

from collections.abc import Callable
import contextlib
import math
import sys

from fabrik_ros import AmbiguousChainError, ChainError, FabrikError, load_urdf, UrdfError
from fabrik_ros.errors import LONGEST_SHOWN, MOST_LISTED
from fabrik_ros.model.urdf import parse_dynamics, parse_urdf
from helpers import assert_close, joint_xml, LIMIT, robot_xml
import numpy as np
import pytest


def one_joint(kind='revolute', body=''):
    return robot_xml('a b', joint_xml('j', 'a', 'b', kind, body))


def refusal(text: str) -> str:
    with pytest.raises(UrdfError) as caught:
        parse_urdf(text)
    return str(caught.value)


def chain_xml(count: int, kind='continuous', body: Callable[[int], str] = lambda i: '') -> str:
    joints = [joint_xml(f'j{i}', f'l{i}', f'l{i + 1}', kind, body(i)) for i in range(count)]
    return robot_xml(' '.join(f'l{i}' for i in range(count + 1)), *joints)


def star_xml(count: int, kind='continuous') -> str:
    joints = [joint_xml(f'j{i}', 'base', f'l{i}', kind) for i in range(count)]
    return robot_xml(' '.join(['base', *(f'l{i}' for i in range(count))]), *joints)


# Messages.


@pytest.mark.parametrize(
    ('name', 'told'),
    [
        ('two&#10;lines', r'two\nlines'),
        ('tab&#9;', r'tab\t'),
        ('a\u00a0b', r'a\xa0b'),
        ('\u202eleft', r'\u202eleft'),
        ('手首', '手首'),
    ],
)
def test_a_message_shows_what_cannot_be_seen_in_a_name(name, told):
    assert f"joint '{told}' has type 'ball'" in refusal(
        robot_xml('a b', joint_xml(name, 'a', 'b', 'ball'))
    )


def test_a_message_shortens_a_long_name_and_a_long_value():
    message = refusal(robot_xml('a b', joint_xml(1000 * 'n', 'a', 'b', 'b' + 5000 * 'o')))
    assert f"joint '{LONGEST_SHOWN * 'n'}...' has type 'booo" in message
    assert len(message) < 400
    message = refusal(one_joint(body=f'<origin xyz="{5000 * "1 "}"/>'))
    assert "xyz is '1 1 1 " in message
    assert len(message) < 400


@pytest.mark.parametrize(
    'text',
    [
        robot_xml(' '.join(f'l{i}' for i in range(500))),
        robot_xml(' '.join(f'l{i}' for i in range(500)), joint_xml('j', 'l0', 'ghost')),
        robot_xml(
            ' '.join(f'l{i}' for i in range(500)),
            *[joint_xml(f'j{i}', f'l{i}', f'l{(i + 1) % 500}', 'fixed') for i in range(500)],
        ),
        chain_xml(500, body=lambda i: f'<mimic joint="j{(i + 1) % 500}"/>'),
    ],
    ids=['roots', 'links', 'cycle', 'circle'],
)
def test_a_message_lists_the_first_of_many_names(text):
    message = refusal(text)
    assert f' and {500 - MOST_LISTED} more' in message
    assert len(message) < 1000


def test_a_link_that_is_not_there_and_a_tip_of_many_list_the_first_of_many_names():
    robot = parse_urdf(star_xml(500))
    with pytest.raises(ChainError, match=f' and {501 - MOST_LISTED} more$'):
        robot.chain('', 'nowhere')
    with pytest.raises(AmbiguousChainError, match=f'\n  and {500 - MOST_LISTED} more$') as caught:
        robot.chain()
    assert len(caught.value.candidates) == 500


def test_leftovers_of_xacro_are_shown_in_short():
    text = robot_xml('a', f'<link name="${{{5000 * "x"}}}"/>')
    message = refusal(text)
    assert 'found <link> {' in message
    assert len(message) < 400


# Numbers.


@pytest.mark.parametrize('text', ['١٢ 0 0', '\uff11 0 0', '0\u00a00\u00a00', '\u22121 0 0'])
def test_numbers_that_only_python_reads_are_refused(text):
    assert "<origin>: xyz is '" in refusal(one_joint(body=f'<origin xyz="{text}"/>'))
    limit = f'<limit upper="{text.split()[0]}\u2003"/>'
    assert '<limit>: upper is ' in refusal(one_joint(body=limit))


@pytest.mark.parametrize('length', ['1e17', '-1e308'])
def test_an_origin_farther_than_any_is_refused_as_sums_would_overflow(length):
    message = refusal(one_joint(body=f'<origin xyz="0 {length} 0"/>'))
    assert message == f"joint 'j', <origin>: xyz is '0 {length} 0'; expected at most 1e+16 m"


@pytest.mark.parametrize('limit', ['lower="-1e17" upper="1"', 'lower="0" upper="1.7e308"'])
def test_a_slide_longer_than_any_is_refused(limit):
    message = refusal(one_joint('prismatic', f'<limit {limit} velocity="1"/>'))
    assert message.startswith("joint 'j', <limit>: [")
    assert message.endswith(' a prismatic joint can have; expected finite numbers up to 1e+16')


@pytest.mark.parametrize(
    ('end', 'limit'), [('1e16', 1e16), ('1e17', math.inf), ('1.7976931348623157e308', math.inf)]
)
def test_a_hinge_whose_limits_are_programs_for_infinity_stands_within_a_turn(end, limit):
    body = f'<limit lower="-{end}" upper="{end}" velocity="1"/>'
    chain = load_urdf(one_joint(body=body)).chain()
    assert (chain.lower[0], chain.upper[0]) == (-limit, limit)
    drawn = [chain.random_configuration(np.random.default_rng(seed))[0] for seed in range(20)]
    assert max(map(abs, drawn)) <= math.pi
    assert chain.mid_configuration()[0] == 0.0


@pytest.mark.parametrize('velocity', ['5e-324', '1e-10'])
def test_a_speed_that_nothing_has_is_refused_and_not_divided_by(velocity):
    message = refusal(one_joint(body=f'<limit lower="-1" upper="1" velocity="{velocity}"/>'))
    assert message == (
        f"joint 'j', <limit>: velocity is '{velocity}'; expected at least 1e-09, or 0 for no limit"
    )


def test_followers_of_followers_whose_multipliers_overflow_are_refused():
    text = chain_xml(
        4, body=lambda i: f'<mimic joint="j{i - 1}" multiplier="1e9" offset="1"/>' if i else ''
    )
    assert refusal(text) == (
        "joint 'j2', which mimics 'j0' in the end: multiplier is 1e+18 and offset is 1e+09; "
        'expected numbers up to 1e+16'
    )


def test_a_follower_that_hardly_moves_and_stands_outside_its_limits_is_in_no_chain():
    mimic = LIMIT + '<mimic joint="j" multiplier="5e-324" offset="3"/>'
    text = robot_xml('a b c', joint_xml('j', 'a', 'b'), joint_xml('k', 'b', 'c', body=mimic))
    with pytest.raises(ChainError, match=r"limits of joint 'j' and .* have nothing in common"):
        parse_urdf(text).chain()


# What is allowed.


def test_a_document_type_in_a_comment_is_none():
    assert parse_urdf(robot_xml('a', '<!-- <!DOCTYPE robot> <!ENTITY a "b"> -->')).links == ('a',)


@pytest.mark.parametrize('body', ['<axis xyz="0 0 0"/>', '<axis/>', '<mimic joint="string"/>'])
def test_a_floating_joint_has_neither_axis_nor_source(body):
    text = robot_xml('a b', joint_xml('string', 'a', 'b', 'floating', body))
    assert parse_urdf(text).joint('string').mimic is None


def test_inertia_may_be_turned_by_a_quaternion():
    inertial = (
        '<inertial><origin quat_xyzw="0 0 0.6 0.8"/><inertia ixx="1"/><mass value="1"/></inertial>'
    )
    text = f'<robot version="1.1"><link name="a">{inertial}</link></robot>'
    assert_close(parse_dynamics(text).inertias['a'].R_link_own[:, 0], [0.28, 0.96, 0.0])


# Work: twice the links are not four times the work.


def calls(action: Callable[[], object]) -> int:
    """Count the calls of functions, be they of Python or built in."""
    count = 0

    def note(_: object, event: str, __: object) -> None:
        nonlocal count
        count += event in ('call', 'c_call')

    sys.setprofile(note)
    try:
        action()
    finally:
        sys.setprofile(None)
    return count


def read_and_choose(text: str) -> None:
    """Read a document and take the only chain; both may be refused."""
    with contextlib.suppress(FabrikError):
        parse_urdf(text).chain()


def fingers_xml(count: int) -> str:
    """Write an arm at the end of many joints that are called fingers."""
    text = chain_xml(count).replace('"j', '"finger_')
    return text.replace(f'"finger_{count - 1}"', '"elbow"')


def hand_xml(count: int) -> str:
    """Write a hand whose many joints all follow the first."""
    mimic = '<mimic joint="j0"/>'
    return star_xml(count).replace('</joint>', f'{mimic}</joint>').replace(mimic, '', 1)


@pytest.mark.parametrize(
    'write',
    [
        chain_xml,
        star_xml,
        fingers_xml,
        hand_xml,
        lambda n: chain_xml(n, body=lambda i: '<mimic joint="j0"/>' if i else ''),
        lambda n: chain_xml(n, body=lambda i: f'<mimic joint="j{i - 1}"/>' if i else ''),
        lambda n: chain_xml(n, body=lambda i: f'<mimic joint="j{(i + 1) % n}"/>'),
        lambda n: f'<robot>{n * "<a>"}{n * "</a>"}<link name="a"/></robot>',
    ],
    ids=['chain', 'star', 'fingers', 'hand', 'one leader', 'followers', 'circle', 'nested'],
)
def test_work_grows_with_the_size_of_the_document_and_not_with_its_square(write):
    some = calls(lambda: read_and_choose(write(200)))
    twice = calls(lambda: read_and_choose(write(400)))
    assert twice < 2.5 * some
