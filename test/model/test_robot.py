"""The tree, the choice of a chain in it, and what a chain says about itself."""

import math
import re

from fabrik_ros import (
    AmbiguousChainError,
    ChainError,
    FabrikError,
    JointValueError,
    LinkNotFoundError,
    load_urdf,
)
from helpers import (
    assert_close,
    example_robot,
    joint_xml,
    LIMIT,
    PLANAR,
    robot_xml,
    Segment,
    serial_xml,
    SIX_AXIS,
)
import numpy as np
import pytest

TYPES = {'R': 'revolute', 'C': 'continuous', 'P': 'prismatic', 'F': 'fixed', '*': 'floating'}


def tree(text):
    """
    Read a robot from lines `parent -type joint- child`; a follower is `joint=source`.

    Every joint sits 1 m along x from the one before and turns about z.
    """
    joints, links = [], {}
    for line in re.split('[;\n]', text):
        if not line.strip():
            continue
        parent, kind, name, child = line.split()
        name, _, source = name.removesuffix('-').partition('=')
        mimic = f'<mimic joint="{source}"/>' if source else ''
        body = f'<origin xyz="1 0 0"/><axis xyz="0 0 1"/>{LIMIT}{mimic}'
        joints.append(joint_xml(name, parent, child, TYPES[kind[1]], body))
        links |= {parent: None, child: None}
    return load_urdf(robot_xml(' '.join(links), *joints))


def serial(*segments):
    """Read the chain of an arm made of these segments."""
    robot = load_urdf(serial_xml(segments))
    return robot.chain('l0', f'l{len(segments)}')


ARM = """
    base -R j1- link1
    link1 -R j2- link2
    link2 -R j3- link3
"""
PANDA_HAND = f"""{ARM}
    link3 -F j8- flange
    flange -F hand_joint- hand
    hand -P finger_joint1- leftfinger
    hand -P finger_joint2=finger_joint1- rightfinger
"""
XARM_GRIPPER = f"""{ARM}
    link3 -F eef- link_eef
    link_eef -F mount- xarm_gripper_base_link
    xarm_gripper_base_link -R drive_joint- left_outer
    left_outer -R follow1=drive_joint- left_inner
    xarm_gripper_base_link -R follow2=drive_joint- right_outer
    right_outer -R follow3=drive_joint- right_inner
"""

# The chain a user means who names no tip.


ONE_ARM = {
    'nothing else': (ARM, 'link3'),
    'tool frame': (f'{ARM}; link3 -F f- tool0', 'tool0'),
    'tool frame on a flange': (f'{ARM}; link3 -F f- flange; flange -F t- tool0', 'tool0'),
    'frames at the base': (f'{ARM}; base -F b- base_frame; base -F s- camera_link', 'link3'),
    'hand on a flange': (PANDA_HAND, 'flange'),
    'tool frame of the hand': (f'{PANDA_HAND}; hand -F tcp- hand_tcp', 'flange'),
    'jaw beside a frame': (f'{ARM}; link3 -R gripper- jaw; link3 -F f- grip_frame', 'grip_frame'),
    'jaw alone': (f'{ARM}; link3 -R gripper- jaw', 'link3'),
    'two fingers': (f'{ARM}; link3 -P Left_Finger- a; link3 -P Right_Finger- b', 'link3'),
    'fingers by mimic alone': (f'{ARM}; link3 -P a- left; link3 -P b=a- right', 'link3'),
    'linkage of a gripper': (XARM_GRIPPER, 'link_eef'),
    'turning gripper': (f'{ARM}; link3 -R gripper_turn- palm; palm -P jaw- pad', 'link3'),
    # What follows a joint on its own way to the tip is part of the arm.
    'wrist kept level by a linkage': (f'{ARM}; link3 -R level=j2- plate', 'plate'),
    'telescope': (f'{ARM}; link3 -P out- tube; tube -P further=out- tube2', 'tube2'),
    # So is a joint with the name of a gripper that carries the rest.
    'hand in the name of a first joint': ('base -R hand_guided- a; a -R wrist- b', 'b'),
    'floating payload': (f'{ARM}; link3 -F f- tool0; tool0 -* payload- box', 'tool0'),
    'floating neighbour': (f'{ARM}; base -* scene- table', 'link3'),
}


@pytest.mark.parametrize(('robot', 'tip'), ONE_ARM.values(), ids=ONE_ARM)
def test_tip_left_out_is_the_end_of_the_only_arm_short_of_its_gripper(robot, tip):
    chain = tree(robot).chain()
    assert (chain.base_link, chain.tip_link) == ('base', tip)


def test_tool_frame_beyond_a_gripper_competes_with_the_flange():
    robot = tree(f'{XARM_GRIPPER}; xarm_gripper_base_link -F tcp- link_tcp')
    with pytest.raises(AmbiguousChainError) as caught:
        robot.chain()
    assert set(caught.value.candidates) == {('base', 'link_eef'), ('base', 'link_tcp')}


@pytest.mark.parametrize(
    ('path', 'base', 'tip'),
    [
        ('panda', 'panda_link0', 'panda_link8'),
        ('so101', 'base_link', 'gripper_frame_link'),
        ('so_arm_description/urdf/so100.urdf', 'base', 'gripper'),
        ('jaco', 'base', 'j2s6s200_end_effector'),
        ('xarm7', 'world', 'link_eef'),
        ('z1', 'world', 'gripperStator'),
    ],
)
def test_real_arms_need_no_names(path, base, tip):
    chain = load_urdf(example_robot(path)).chain()
    assert (chain.base_link, chain.tip_link) == (base, tip)


TWO_ARMS = """
    torso -R left_1- left_a
    left_a -R left_2- left_b
    left_b -P left_finger- left_pad
    torso -R right_1- right_a
    right_a -R right_2- right_b
    right_b -R right_3- right_c
"""


def test_two_arms_are_refused_with_candidates_ready_to_paste_longest_first():
    with pytest.raises(AmbiguousChainError) as caught:
        tree(TWO_ARMS).chain()
    assert str(caught.value) == (
        "several chains start at 'torso'; name one of them:\n"
        "  base_link: 'torso', tip_link: 'right_c'\n"
        "  base_link: 'torso', tip_link: 'left_b'"
    )


def test_a_base_inside_an_arm_leaves_one_tip():
    assert tree(TWO_ARMS).chain('left_a').tip_link == 'left_b'


def test_two_tool_frames_on_one_flange_are_refused():
    robot = tree(f'{ARM}; link3 -F a- flange; flange -F b- tool0; link3 -F c- ft_frame')
    with pytest.raises(AmbiguousChainError, match="'ft_frame'") as caught:
        robot.chain()
    assert set(caught.value.candidates) == {('base', 'tool0'), ('base', 'ft_frame')}


@pytest.mark.parametrize(
    'path', ['ur5', 'baxter', 'pr2', 'tiago', 'talos_data/robots/talos_reduced.urdf']
)
def test_every_candidate_of_a_real_robot_is_a_chain_when_pasted(path):
    robot = load_urdf(example_robot(path))
    with pytest.raises(AmbiguousChainError) as caught:
        robot.chain()
    lengths = [len(robot.chain(*candidate)) for candidate in caught.value.candidates]
    assert len(lengths) > 1
    assert lengths == sorted(lengths, reverse=True)


@pytest.mark.parametrize(
    'robot',
    [
        'base -F f- tool',
        'base -P finger1- a; base -P finger2- b',
        f'odom -* free- base; {ARM}',
    ],
)
def test_a_robot_without_an_arm_at_its_root_is_refused(robot):
    robot = tree(robot)
    expected = (
        f"nothing moves below '{robot.root_link}' (grippers, planar and floating joints left "
        'out, and what follows a joint elsewhere); name a base_link and a tip_link'
    )
    with pytest.raises(ChainError, match=re.escape(expected)) as refused:
        robot.chain()
    below = "; 'base' is below 'free', which is floating"
    assert str(refused.value).endswith(below if 'odom' in robot.root_link else 'a tip_link')


def test_an_arm_on_a_floating_base_needs_only_its_base():
    robot = tree(f'odom -* free- base; {ARM}')
    assert robot.chain('base').tip_link == 'link3'


# Chains that cannot be.


@pytest.mark.parametrize(('base', 'tip'), [('nowhere', 'link3'), ('base', 'nowhere')])
def test_an_unknown_link_is_refused_with_the_ones_there_are(base, tip):
    message = "no link named 'nowhere'; the model has: base, link1, link2, link3"
    with pytest.raises(LinkNotFoundError, match=message) as caught:
        tree(ARM).chain(base, tip)
    assert caught.value.name == 'nowhere'
    assert caught.value.available == ('base', 'link1', 'link2', 'link3')


@pytest.mark.parametrize(
    ('base', 'tip', 'ancestors'),
    [
        ('right_a', 'left_b', 'left_a, torso'),
        ('left_b', 'left_a', 'torso'),
        ('left_a', 'torso', 'none: it is the root'),
    ],
)
def test_a_tip_that_is_not_below_the_base_is_refused_with_its_ancestors(base, tip, ancestors):
    message = f"'{tip}' is not below '{base}'; its ancestors are: {ancestors}$"
    with pytest.raises(ChainError, match=message):
        tree(TWO_ARMS).chain(base, tip)


@pytest.mark.parametrize(('base', 'tip'), [('base', 'base'), ('link3', 'tool0')])
def test_a_chain_in_which_nothing_moves_is_refused(base, tip):
    message = f"nothing moves between '{base}' and '{tip}': the chain has no movable joint"
    with pytest.raises(ChainError, match=message):
        tree(f'{ARM}; link3 -F f- tool0').chain(base, tip)


@pytest.mark.parametrize('kind', ['planar', 'floating'])
def test_a_planar_or_floating_joint_is_refused_in_the_chain_and_ignored_outside(kind):
    robot = load_urdf(
        robot_xml('o a b', joint_xml('free', 'o', 'a', kind), joint_xml('j', 'a', 'b'))
    )
    assert robot.chain('a', 'b').joint_names == ('j',)
    message = (
        f"joint 'free' between 'o' and 'b' is {kind}; "
        'only revolute, continuous, prismatic and fixed joints can be in a chain'
    )
    with pytest.raises(ChainError, match=message):
        robot.chain('o', 'b')


def test_a_follower_whose_source_is_outside_the_chain_is_refused():
    robot = tree(f'{ARM}; link3 -R level=j2- plate')
    assert robot.chain('link1', 'plate').joint_names == ('j2', 'j3')
    message = (
        "joint 'level' between 'link2' and 'plate' mimics 'j2', which is not in the chain; "
        'choose links so that both are, or neither is'
    )
    with pytest.raises(ChainError, match=message):
        robot.chain('link2', 'plate')


def test_every_refusal_can_be_caught_as_one_kind():
    assert issubclass(AmbiguousChainError, ChainError)
    assert issubclass(LinkNotFoundError, ChainError)
    assert issubclass(ChainError, FabrikError)


# What a chain says about itself.


def test_planar_arm_stands_where_trigonometry_says():
    chain = load_urdf(PLANAR).chain()
    q1, q2 = 0.3, -1.1
    elbow = np.array([math.cos(q1), math.sin(q1), 0.0])
    tip = elbow + 0.8 * np.array([math.cos(q1 + q2), math.sin(q1 + q2), 0.0])
    assert_close(chain.points([q1, q2]), [np.zeros(3), elbow, tip], atol=1e-15)
    T = chain.forward_kinematics([q1, q2])
    assert_close(T[:3, 3], tip, atol=1e-15)
    assert_close(T[:3, 0], [math.cos(q1 + q2), math.sin(q1 + q2), 0.0], atol=1e-15)


def test_planar_arm_reaches_both_links_out_and_their_difference_in():
    chain = load_urdf(PLANAR).chain()
    assert_close([chain.inner_reach, chain.reach], [0.2, 1.8], atol=1e-15)


def test_chain_shows_its_ends_and_joints():
    chain = load_urdf(SIX_AXIS).chain()
    assert repr(chain) == "Chain('l0' to 'l7': j0, j1, j2, j3, j4, j5)"
    assert len(chain) == 6
    assert [kind.value for kind in chain.joint_types] == 5 * ['revolute'] + ['continuous']
    assert_close(chain.lower, [-3, -2, -2.5, -3, -2, -math.inf])
    assert_close(chain.upper, [3, 2, 2.5, 3, 2, math.inf])
    assert_close(chain.velocity, np.ones(6))
    assert_close(chain.root_point, [0.0, 0.0, 0.4])


def test_arrays_of_a_chain_cannot_be_written():
    chain = load_urdf(SIX_AXIS).chain()
    for name in ('lower', 'upper', 'velocity', 'acceleration', 'jerk', 'root_point', 'model'):
        with pytest.raises(ValueError, match='read-only'):
            getattr(chain, name)[0] = 1.0


@pytest.mark.parametrize(('lower', 'upper'), [(-0.1, 0.3), (-0.3, 0.1), (-0.3, -0.2)])
def test_slides_widen_the_reach_and_narrow_the_hole_by_their_travel(lower, upper):
    slide = Segment('prismatic', axis=(1, 0, 0), lower=lower, upper=upper)
    chain = serial(Segment(), slide, Segment('fixed', xyz=(1.0, 0, 0)))
    assert_close([chain.inner_reach, chain.reach], [0.7, 1.3], atol=1e-15)


def test_an_open_range_is_drawn_from_one_turn_beside_its_limit():
    infinity = math.inf
    chain = serial(
        Segment(lower=-infinity, upper=infinity),
        Segment(lower=-1.0, upper=infinity),
        Segment(lower=-infinity, upper=1.0),
        Segment('continuous'),
        Segment(lower=-9.0, upper=8.0),
    )
    lower, upper = chain.finite_limits()
    turn = 2 * math.pi
    assert_close(lower, [-math.pi, -1.0, 1.0 - turn, -math.pi, -9.0], atol=1e-15)
    assert_close(upper, [math.pi, turn - 1.0, 1.0, math.pi, 8.0], atol=1e-15)


@pytest.mark.parametrize(
    ('q', 'message'),
    [
        ([0.1], r'q has shape \(1,\), expected \(2,\): one value for each of j0, j1'),
        ([[0.1, 0.2]], r'q has shape \(1, 2\), expected \(2,\): one value for each of j0, j1'),
        ([], r'q has shape \(0,\), expected \(2,\)'),
        ([0.0, math.nan], "q has a value that is not finite for joint 'j1'"),
        ([-math.inf, math.nan], "q has a value that is not finite for joint 'j0'"),
    ],
)
def test_joint_values_that_make_no_sense_are_refused(q, message):
    chain = load_urdf(PLANAR).chain()
    for method in (chain.forward_kinematics, chain.points):
        with pytest.raises(JointValueError, match=message):
            method(q)


def test_joint_values_may_be_any_numbers_in_a_row():
    chain = load_urdf(PLANAR).chain()
    expected = chain.forward_kinematics([1.0, 2.0])
    for q in ((1, 2), np.array([1, 2]), np.array([1, 9, 2, 9], dtype=np.float32)[::2]):
        assert_close(chain.forward_kinematics(q), expected, atol=0.0)


@pytest.mark.parametrize(
    'tool',
    [np.eye(3), np.zeros((4, 4)), 2 * np.eye(4), np.diag([1.0, 1.0, math.nan, 1.0]), [0, 0, 0.1]],
)
def test_a_tool_that_is_no_pose_is_refused(tool):
    message = r'the tool is not a pose: expected finite numbers of shape \(4, 4\), a rotation and'
    with pytest.raises(ChainError, match=message):
        load_urdf(PLANAR).chain().with_tool(tool)


def test_a_tool_is_copied():
    T_tip_tool = np.eye(4)
    with_tool = load_urdf(PLANAR).chain().with_tool(T_tip_tool)
    T_tip_tool[0, 3] = 5.0
    again = with_tool.with_tool(np.eye(4))
    assert_close(again.reach, 1.8, atol=1e-15)


# Followers in a chain.


def follower(multiplier, offset=0.0, kind='revolute', lower=-3.0, upper=3.0):
    return Segment(kind, mimic=(0, multiplier, offset), lower=lower, upper=upper)


@pytest.mark.parametrize(
    ('follower', 'expected'),
    [
        (follower(1.0), (-3, 3)),
        (follower(2.0), (-1.5, 1.5)),
        (follower(-2.0, lower=-1.0, upper=4.0), (-2.0, 0.5)),
        (follower(-1.0, 0.5, lower=-1.0, upper=1.0), (-0.5, 1.5)),
        (follower(0.5), (-3, 3)),
        (follower(-5.0, kind='continuous'), (-3, 3)),
        (follower(0.0, 1.0), (-3, 3)),
        (follower(1.0, lower=-math.inf, upper=0.0), (-3, 0)),
        (follower(-1.0, lower=-math.inf, upper=0.0), (0, 3)),
    ],
)
def test_limits_of_a_follower_bound_its_source(follower, expected):
    chain = serial(Segment(), follower)
    assert chain.joint_names == ('j0',)
    assert_close(chain.lower, expected[:1])
    assert_close(chain.upper, expected[1:])


def test_limits_with_nothing_in_common_are_refused():
    message = (
        "the limits of joint 'j0' and of the joints that mimic it have nothing in common: [4, 3]"
    )
    with pytest.raises(ChainError, match=re.escape(message)):
        serial(Segment(), follower(1.0, lower=4.0, upper=5.0))


def test_a_follower_that_stands_still_outside_its_limits_is_refused():
    message = (
        "joint 'j1' always stands at 5 (its mimic multiplier is 0), outside its limits [-3, 3]"
    )
    with pytest.raises(ChainError, match=re.escape(message)):
        serial(Segment(), follower(0.0, 5.0))


@pytest.mark.parametrize(('multiplier', 'expected'), [(1, 1.0), (-4, 0.25), (0.5, 1.0), (0, 1.0)])
def test_a_fast_follower_slows_its_source_down(multiplier, expected):
    assert_close(serial(Segment(), follower(multiplier)).velocity, [expected])


@pytest.mark.parametrize(('multiplier', 'expected'), [(1, 1.0), (-4, 0.25), (0.5, 2.0), (0, 3.0)])
def test_a_hard_follower_softens_its_source(multiplier, expected):
    text = serial_xml([Segment(), follower(multiplier)])
    start, source, end = text.replace('<robot ', '<robot version="1.2" ').split('<limit ')
    source = f'<limit acceleration="3" jerk="30" {source}'
    chain = load_urdf(f'{start}{source}<limit deceleration="1" jerk="10" {end}').chain()
    assert_close(chain.acceleration, [expected])
    assert_close(chain.jerk, [10.0 * expected])


# Poses in the tree.

FORK = tree("""
    odom -* free- base
    base -R lift- torso
    torso -R left- left_hand
    torso -R right- right_arm
    right_arm -R follow=right- right_hand
    right_hand -F mount- camera
""")


def test_pose_needs_only_the_joints_between():
    T = FORK.pose('left_hand', 'right_arm', {'left': 0.4, 'right': 0.7})
    angle = 0.7 - 0.4
    assert_close(T[:2, :2], [[math.cos(angle), -math.sin(angle)],
                             [math.sin(angle), math.cos(angle)]])  # fmt: skip
    assert_close(T[:3, 3], np.zeros(3))


def test_pose_of_a_link_in_itself_needs_nothing():
    assert_close(FORK.pose('camera', 'camera', {}), np.eye(4))


def test_pose_takes_followers_from_their_source():
    T = FORK.pose('torso', 'camera', {'right': 0.5})
    assert_close(T[:3, 0], [math.cos(1.0), math.sin(1.0), 0.0])


@pytest.mark.parametrize(
    ('base', 'link', 'names'),
    [
        ('left_hand', 'camera', ['left', 'right', 'follow', 'mount']),
        ('camera', 'right_arm', ['mount', 'follow']),
        ('base', 'torso', ['lift']),
        ('torso', 'torso', []),
    ],
)
def test_joints_between_two_links_leave_out_what_they_share(base, link, names):
    assert [joint.name for joint in FORK.joints_between(base, link)] == names


@pytest.mark.parametrize(
    ('base', 'link', 'values', 'message'),
    [
        ('base', 'torso', {}, "the value of joint 'lift' is not known"),
        ('right_arm', 'camera', {'follow': 1.0}, "the value of joint 'right' is not known"),
        ('base', 'torso', {'lift': math.nan}, "the value of joint 'lift' is nan; expected a num"),
        ('odom', 'base', {'free': 1.0}, "joint 'free' is floating: joint states do not tell its"),
    ],
)
def test_a_pose_that_cannot_be_known_names_the_joint(base, link, values, message):
    with pytest.raises(JointValueError, match=message):
        FORK.pose(base, link, values)


@pytest.mark.parametrize('method', [FORK.joints_between, lambda a, b: FORK.pose(a, b, {})])
def test_the_pose_of_an_unknown_link_is_refused(method):
    for links in (('torso', 'nowhere'), ('nowhere', 'torso')):
        with pytest.raises(
            LinkNotFoundError, match="no link named 'nowhere'; the model has: odom"
        ):
            method(*links)


def test_a_joint_is_found_by_its_name():
    assert FORK.joint('lift').child == 'torso'
    with pytest.raises(KeyError, match='nothing'):
        FORK.joint('nothing')
