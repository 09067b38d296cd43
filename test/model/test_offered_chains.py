"""Chains that are offered, alone or among several, are chains that can be had."""

from fabrik_ros import AmbiguousChainError, ChainError, load_urdf
from fabrik_ros.model.default_chain import gripper_joints
from helpers import joint_xml, LIMIT, robot_xml
from hypothesis import given, strategies as st
import pytest

HEAD_MIMICS_LIFT = robot_xml(
    'base lifted forearm tool torso neck head',
    joint_xml('lift', 'base', 'lifted', 'prismatic', LIMIT),
    joint_xml('flex', 'lifted', 'forearm', body=LIMIT),
    joint_xml('wrist', 'forearm', 'tool', body=LIMIT),
    joint_xml('rise', 'base', 'torso', 'prismatic', LIMIT + '<mimic joint="lift"/>'),
    joint_xml('pan', 'torso', 'neck', body=LIMIT),
    joint_xml('tilt', 'neck', 'head', body=LIMIT),
)


@st.composite
def trees(draw):
    """Draw a tree of links, some of whose joints follow others anywhere."""
    count = draw(st.integers(2, 9))
    sources = draw(st.sets(st.integers(0, count - 1), min_size=1))
    joints = []
    for i in range(count):
        parent = draw(st.integers(max(0, i - 3), i))
        follows = draw(st.booleans()) and i not in sources
        mimic = f'<mimic joint="j{draw(st.sampled_from(sorted(sources)))}"/>' if follows else ''
        kind = draw(st.sampled_from(['revolute', 'revolute', 'fixed'])) if i else 'revolute'
        kind = 'revolute' if i in sources else kind
        joints.append(joint_xml(f'j{i}', f'l{parent}', f'l{i + 1}', kind, LIMIT + mimic))
    return load_urdf(robot_xml(' '.join(f'l{i}' for i in range(count + 1)), *joints))


def offered(robot, base):
    """Tip links that are taken or offered for a base."""
    try:
        return {robot.chain(base).tip_link}
    except AmbiguousChainError as error:
        return {tip for _, tip in error.candidates}
    except ChainError as error:
        return set() if 'nothing moves below' in str(error) else {''}


def can_be_had(robot, base, tip):
    try:
        return bool(robot.chain(base, tip))
    except ChainError:
        return False


@given(trees(), st.integers(0, 3))
def test_every_chain_that_is_offered_can_be_had_and_no_end_of_an_arm_is_missed(robot, number):
    base = robot.links[min(number, len(robot.links) - 1)]
    tips = offered(robot, base)
    for tip in tips:
        robot.chain(base, tip)
    if gripper_joints(robot):
        return
    ends = {link for link in robot.links if not robot.child_joints[link]}
    for end in ends:
        last = robot.parent_joint[end]
        if last.type.moves and can_be_had(robot, base, end):
            assert end in tips


def test_the_head_that_follows_the_lift_is_not_offered_and_the_arm_is_taken():
    robot = load_urdf(HEAD_MIMICS_LIFT)
    assert robot.chain().tip_link == 'tool'
    assert robot.chain('torso').tip_link == 'head'


@pytest.mark.parametrize('base', ['lifted', 'torso', 'base'])
def test_a_joint_that_follows_one_above_the_base_ends_the_arm(base):
    mimic = LIMIT + '<mimic joint="lift"/>'
    robot = load_urdf(
        robot_xml(
            'base lifted torso neck head',
            joint_xml('lift', 'base', 'lifted', body=LIMIT),
            joint_xml('turn', 'lifted', 'torso', body=LIMIT),
            joint_xml('nod', 'torso', 'neck', body=LIMIT),
            joint_xml('follow', 'neck', 'head', body=mimic),
        )
    )
    assert robot.chain(base).tip_link == ('head' if base == 'base' else 'neck')
