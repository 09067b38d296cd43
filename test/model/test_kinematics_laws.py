"""
Laws of forward kinematics, on real arms and on arms that nobody would build.

The judge is pinocchio: its own reader, its own kinematics. It is given every joint as
independent, so the law of followers is applied here, by hand.

"""

from collections.abc import Mapping
from dataclasses import replace
import math
import re

from fabrik_ros import Chain, ChainError, load_urdf
from fabrik_ros.transforms import inverse, rotation_from_rpy, transform
from helpers import (
    assert_close,
    example_robot,
    PLANAR,
    REAL_ARMS,
    Segment,
    serial_xml,
    SIX_AXIS,
)
from hypothesis import assume, example, given, reject, strategies as st
import numpy as np
import pytest

AXES = [(0, 0, 1), (0, 0, -1), (1, 0, 0), (0, -1, 0), (0, 0, 2.5), (1e-9, 0, -1), (1, 1, 1)]
KINDS = ['revolute', 'continuous', 'prismatic', 'fixed']
RIGHT_ANGLES = [0.0, math.pi / 2, -math.pi / 2, math.pi, -math.pi]

angles = st.one_of(st.sampled_from(RIGHT_ANGLES), st.floats(-math.pi, math.pi))
lengths = st.one_of(st.sampled_from([0.0, 0.1, -1.0]), st.floats(-1.0, 1.0))
vectors = st.tuples(lengths, lengths, lengths)
axes = st.one_of(st.sampled_from(AXES), vectors.filter(lambda axis: math.hypot(*axis) > 0.01))
shares = st.one_of(st.sampled_from([0.0, 0.5, 1.0]), st.floats(0.0, 1.0))
seeds = st.integers(0, 2**32 - 1)


@st.composite
def segments(draw):
    lower = draw(st.floats(-3.0, 3.0))
    return Segment(
        kind=draw(st.sampled_from(KINDS)),
        axis=draw(axes),
        xyz=draw(vectors),
        rpy=draw(st.tuples(angles, angles, angles)),
        lower=lower,
        upper=lower + draw(st.floats(0.0, 3.0)),
    )


@st.composite
def arms(draw, followers=False, least=1):
    """Draw a serial arm; with `followers`, some joints mimic another one, before or behind."""
    arm = draw(st.lists(segments(), min_size=least, max_size=9))
    moving = [i for i, segment in enumerate(arm) if segment.moves]
    assume(len(moving) > followers)
    if followers:
        order = draw(st.permutations(moving))
        count = draw(st.integers(1, len(order) - 1))
        for k, i in enumerate(order[:count]):  # of one later in the order: never in a circle
            source = draw(st.sampled_from(order[k + 1 :]))
            multiplier = draw(st.one_of(st.sampled_from([1.0, -1.0, 0.0]), st.floats(-3.0, 3.0)))
            mimic = source, multiplier, draw(st.floats(-1.0, 1.0))
            arm[i] = replace(arm[i], kind='continuous', mimic=mimic)
    return arm


def whole_chain(arm: list[Segment]) -> Chain:
    return load_urdf(serial_xml(arm)).chain('l0', f'l{len(arm)}')


def configuration(chain: Chain, seed: int) -> np.ndarray:
    return chain.random_configuration(np.random.default_rng(seed))


def all_values(arm: list[Segment], chain: Chain, q: np.ndarray) -> dict[str, float]:
    """Values of every joint, followers included, by the law as URDF states it."""
    values = dict(zip(chain.joint_names, q, strict=True))

    def value(i: int) -> float:
        if arm[i].mimic is None:
            return values[f'j{i}']
        source, multiplier, offset = arm[i].mimic
        return multiplier * value(source) + offset

    return {f'j{i}': value(i) for i, segment in enumerate(arm) if segment.moves}


def judged_pose(xml: str, base: str, tip: str, values: Mapping[str, float]) -> np.ndarray:
    """Compute the pose of `tip` in `base` with pinocchio; joints without a value stand at 0."""
    pinocchio = pytest.importorskip('pinocchio')
    model = pinocchio.buildModelFromXML(xml)
    data = model.createData()
    q = pinocchio.neutral(model)
    for name, value in values.items():
        joint = model.joints[model.getJointId(name)]
        turns = joint.nq == 2  # continuous: pinocchio keeps cosine and sine
        q[joint.idx_q : joint.idx_q + joint.nq] = (
            [math.cos(value), math.sin(value)] if turns else value
        )
    pinocchio.framesForwardKinematics(model, data, q)
    T_root_base, T_root_tip = (
        data.oMf[model.getFrameId(link, pinocchio.FrameType.BODY)].homogeneous
        for link in (base, tip)
    )
    return np.linalg.inv(T_root_base) @ T_root_tip


# Against the judge.


@pytest.mark.parametrize('name', REAL_ARMS)
def test_real_arms_stand_where_pinocchio_puts_them(name):
    robot = load_urdf(example_robot(name))
    chain = robot.chain(REAL_ARMS[name].base_link, REAL_ARMS[name].tip_link)
    for seed in range(5):
        q = configuration(chain, seed)
        values = dict(zip(chain.joint_names, q, strict=True))
        expected = judged_pose(robot.source, chain.base_link, chain.tip_link, values)
        assert_close(chain.forward_kinematics(q), expected)
        assert_close(robot.pose(chain.base_link, chain.tip_link, values), expected)


@given(arm=arms(), seed=seeds)
def test_any_arm_stands_where_pinocchio_puts_it(arm, seed):
    chain = whole_chain(arm)
    q = configuration(chain, seed)
    values = all_values(arm, chain, q)
    expected = judged_pose(serial_xml(arm), 'l0', f'l{len(arm)}', values)
    assert_close(chain.forward_kinematics(q), expected)


@given(arm=arms(followers=True), seed=seeds)
def test_followers_stand_where_pinocchio_puts_them(arm, seed):
    chain = whole_chain(arm)
    q = configuration(chain, seed)
    values = all_values(arm, chain, q)
    assert len(chain) == sum(segment.moves and segment.mimic is None for segment in arm)
    expected = judged_pose(serial_xml(arm), 'l0', f'l{len(arm)}', values)
    assert_close(chain.forward_kinematics(q), expected, atol=1e-11)


@given(q=st.tuples(*[angles] * 6))
def test_quaternions_in_origins_mean_what_rpy_means(q):
    pinocchio = pytest.importorskip('pinocchio')

    def as_quaternion(match: re.Match[str]) -> str:
        R = rotation_from_rpy(*(float(angle) for angle in match[1].split()))
        return 'quat_xyzw="{} {} {} {}"'.format(*pinocchio.Quaternion(R).coeffs())

    text = re.sub('rpy="(.*?)"', as_quaternion, SIX_AXIS)
    chain = load_urdf(text.replace('<robot', '<robot version="1.1"')).chain()
    assert_close(chain.forward_kinematics(q), load_urdf(SIX_AXIS).chain().forward_kinematics(q))


# Laws that need no judge.


@given(arm=arms(followers=True), seed=seeds, T=st.tuples(vectors, vectors))
def test_a_tool_is_one_more_fixed_frame(arm, seed, T):
    chain = whole_chain(arm)
    q = configuration(chain, seed)
    T_tip_tool = transform(rotation_from_rpy(*T[1]), T[0])
    with_tool = chain.with_tool(T_tip_tool)
    expected = chain.forward_kinematics(q) @ T_tip_tool
    assert_close(with_tool.forward_kinematics(q), expected)
    assert_close(with_tool.lower, chain.lower)
    back = with_tool.with_tool(inverse(T_tip_tool))
    assert_close(back.forward_kinematics(q), chain.forward_kinematics(q))


@given(arm=arms(least=3), seed=seeds, cut=st.integers(0, 9))
def test_a_chain_is_its_two_halves_one_after_the_other(arm, seed, cut):
    cut %= len(arm) + 1
    ends = [('l0', f'l{cut}'), (f'l{cut}', f'l{len(arm)}')]
    robot, chain = load_urdf(serial_xml(arm)), whole_chain(arm)
    q = configuration(chain, seed)
    values = all_values(arm, chain, q)
    halves = [robot.pose(*end, values) for end in ends]
    assert_close(halves[0] @ halves[1], chain.forward_kinematics(q))


@given(arm=arms(followers=True), seed=seeds, ends=st.tuples(st.integers(0, 9), st.integers(0, 9)))
def test_seen_the_other_way_round_a_pose_is_its_inverse(arm, seed, ends):
    a, b = (f'l{end % (len(arm) + 1)}' for end in ends)
    chain, robot = whole_chain(arm), load_urdf(serial_xml(arm))
    values = all_values(arm, chain, configuration(chain, seed))
    assert_close(robot.pose(a, b, values) @ robot.pose(b, a, values), np.eye(4), atol=1e-11)


@given(arm=arms(), seed=seeds, which=st.integers(0, 8), scale=st.sampled_from([0.3, 2.0, -1.0]))
def test_length_of_an_axis_does_not_matter_and_its_sign_is_the_sign_of_the_value(
    arm, seed, which, scale
):
    chain = whole_chain(arm)
    i = which % len(chain)
    q = configuration(chain, seed)
    place = int(chain.joint_names[i][1:])
    axis = [scale * component for component in arm[place].axis]
    arm[place] = replace(arm[place], axis=axis, lower=-9.0, upper=9.0)
    turned = q.copy()
    turned[i] *= np.sign(scale)
    assert_close(whole_chain(arm).forward_kinematics(turned), chain.forward_kinematics(q))


@given(arm=arms(followers=True), seed=seeds)
def test_points_are_the_joint_centres_and_the_tip(arm, seed):
    chain = whole_chain(arm)
    q = configuration(chain, seed)
    values = all_values(arm, chain, q)
    robot = load_urdf(serial_xml(arm))
    moving = [joint for joint in robot.joints if joint.type.moves]
    expected = [robot.pose('l0', joint.child, values)[:3, 3] for joint in moving]
    expected.append(chain.forward_kinematics(q)[:3, 3])
    assert_close(chain.points(q), expected, atol=1e-11)


@given(arm=arms(followers=True), seeds=st.tuples(seeds, seeds))
def test_behind_a_hinge_the_next_point_keeps_its_distance(arm, seeds):
    chain = whole_chain(arm)
    moving = [segment for segment in arm if segment.moves]
    slides = [segment.kind == 'prismatic' for segment in moving[1:]] + [False]
    distances = [
        np.linalg.norm(np.diff(chain.points(configuration(chain, seed)), axis=0), axis=1)
        for seed in seeds
    ]
    kept = ~np.array(slides)
    assert_close(distances[0][kept], distances[1][kept], atol=1e-11)


@given(arm=arms(), q=st.lists(shares, min_size=9, max_size=9))
def test_tip_is_never_farther_than_the_reach_nor_nearer_than_the_hole(arm, q):
    assert_between_hole_and_reach(whole_chain(arm), q)


@given(arm=arms(followers=True), q=st.lists(shares, min_size=9, max_size=9))
def test_hole_and_reach_hold_with_followers_that_slide(arm, q):
    arm = [
        replace(segment, kind='prismatic', lower=-20.0, upper=20.0) if segment.mimic else segment
        for segment in arm
    ]
    try:
        chain = whole_chain(arm)
    except ChainError:  # the limits have nothing in common
        reject()
    assert_between_hole_and_reach(chain, q)


@pytest.mark.parametrize('name', REAL_ARMS)
def test_hole_and_reach_hold_on_real_arms(name):
    chain = load_urdf(example_robot(name)).chain(
        REAL_ARMS[name].base_link, REAL_ARMS[name].tip_link
    )
    for seed in range(100):
        assert_between_hole_and_reach(chain, np.random.default_rng(seed).random(len(chain)))


def assert_between_hole_and_reach(chain: Chain, shares: list[float]) -> None:
    lower, upper = chain.finite_limits()
    q = lower + np.array(shares)[: len(chain)] * (upper - lower)
    distance = np.linalg.norm(chain.forward_kinematics(q)[:3, 3] - chain.root_point)
    assert chain.inner_reach - 1e-12 <= distance <= chain.reach + 1e-12


@pytest.mark.parametrize('xml', [PLANAR, SIX_AXIS], ids=['planar', 'six axes'])
def test_reach_of_a_straight_arm_is_attained(xml):
    chain = load_urdf(xml).chain()
    rng = np.random.default_rng(0)
    best = max(
        np.linalg.norm(chain.forward_kinematics(chain.random_configuration(rng))[:3, 3])
        for _ in range(2000)
    )
    assert best > 0.8 * chain.reach


@given(arm=arms(followers=True), seed=seeds)
def test_random_and_mid_configurations_are_inside_the_limits(arm, seed):
    chain = whole_chain(arm)
    for q in (configuration(chain, seed), chain.mid_configuration()):
        assert (q >= chain.lower).all()
        assert (q <= chain.upper).all()


@given(
    source=st.tuples(st.floats(-3.0, 0.0), st.floats(0.0, 3.0)),
    limits=st.tuples(st.floats(-3.0, 0.0), st.floats(0.1, 3.0)),
    multiplier=st.floats(-3.0, 3.0).filter(lambda m: abs(m) > 1e-3),
    offset=st.floats(-1.0, 0.0),
)
@example(source=(-3.0, 3.0), limits=(-1.0, 0.5), multiplier=-2.0, offset=0.0)
def test_limits_of_a_source_are_just_as_wide_as_its_follower_allows(
    source, limits, multiplier, offset
):
    assume(limits[0] <= offset)  # at 0 the follower stands inside
    chain = whole_chain(
        [
            Segment(lower=source[0], upper=source[1]),
            Segment(lower=limits[0], upper=limits[1], mimic=(0, multiplier, offset)),
        ]
    )
    for end, own, outwards in ((chain.lower[0], source[0], -1), (chain.upper[0], source[1], 1)):
        follower = multiplier * end + offset
        assert source[0] <= end <= source[1]
        assert limits[0] - 1e-12 <= follower <= limits[1] + 1e-12
        beyond = follower + multiplier * outwards * 1e-6
        assert end == own or not limits[0] <= beyond <= limits[1]


@given(arm=arms(followers=True), seed=seeds, order=st.randoms(use_true_random=False))
def test_order_of_elements_in_the_document_does_not_matter(arm, seed, order):
    chain = whole_chain(arm)
    head, *elements, end = serial_xml(arm).splitlines()
    order.shuffle(elements)
    shuffled = load_urdf('\n'.join([head, *elements, end])).chain('l0', f'l{len(arm)}')
    q = configuration(chain, seed)
    assert shuffled.joint_names == chain.joint_names
    assert_close(shuffled.forward_kinematics(q), chain.forward_kinematics(q), atol=0.0)
