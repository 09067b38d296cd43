"""Arms that share a body: what a tree says about itself, judged by pinocchio and trigonometry."""

import math

from fabrik_ros import ChainError, JointValueError, LinkNotFoundError, load_urdf, Tree
from fabrik_ros.transforms import rotation_from_rpy, transform
from helpers import (
    assert_close,
    example_robot,
    joint_xml,
    REAL_TREES,
    robot_xml,
    Segment,
    serial_xml,
    SIX_AXIS,
    tree_xml,
)
import numpy as np
import pytest
from solving import Branching, judged_tree

COUNT = 50


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(21)


class TestRealRobots:
    @pytest.fixture(params=REAL_TREES)
    def name(self, request) -> str:
        return request.param

    def test_tips_stand_where_pinocchio_puts_them(self, name, rng):
        tree, judge = judged_tree(name)
        for _ in range(COUNT):
            q = tree.random_configuration(rng)
            assert_close(tree.forward_kinematics(q), judge.poses(q))

    def test_limits_are_those_that_pinocchio_reads(self, name):
        tree, judge = judged_tree(name)
        # The reader of the package heeds safety controllers, which pinocchio does not know.
        assert np.all((tree.lower >= judge.lower) & (tree.upper <= judge.upper))

    def test_every_joint_is_there_once(self, name):
        tree, judge = judged_tree(name)
        assert len(set(tree.joint_names)) == len(tree.joint_names) == len(tree)
        assert len(tree) == REAL_TREES[name].joints
        assert set(tree.joint_names) == set(judge.joint_names)

    def test_joints_of_the_first_tip_come_first_and_from_the_base_on(self, name):
        tree, _ = judged_tree(name)
        expected: list[str] = []
        for chain in tree.chains:
            expected += [joint for joint in chain.joint_names if joint not in expected]
        assert tree.joint_names == tuple(expected)

    def test_chains_are_those_of_the_robot_and_stand_alike(self, name, rng):
        tree, _ = judged_tree(name)
        robot = load_urdf(example_robot(name))
        q = tree.random_configuration(rng)
        values = dict(zip(tree.joint_names, q, strict=True))
        for t, (chain, tip) in enumerate(zip(tree.chains, tree.tip_links, strict=True)):
            assert (chain.base_link, chain.tip_link) == (tree.base_link, tip)
            assert chain.joint_names == robot.chain(tree.base_link, tip).joint_names
            assert tree.joints_to(t) == len(chain)
            own = [values[joint] for joint in chain.joint_names]
            assert_close(tree.forward_kinematics(q)[t], chain.forward_kinematics(own))
            assert_close(tree.points(q)[t], chain.points(own))
            assert_close(tree.root_points[t], chain.root_point)
            assert_close(
                [tree.inner_reaches[t], tree.reaches[t]], [chain.inner_reach, chain.reach]
            )

    def test_tips_stay_between_hole_and_reach_and_points_are_apart_as_their_links(self, name, rng):
        tree, judge = judged_tree(name)
        begin = tree.points(tree.random_configuration(rng))
        for _ in range(COUNT):
            q = tree.random_configuration(rng)
            poses = judge.poses(q)
            away = np.linalg.norm(poses[:, :3, 3] - tree.root_points, axis=1)
            assert np.all((tree.inner_reaches - 1e-12 <= away) & (away <= tree.reaches + 1e-12))
            for t, points in enumerate(tree.points(q)):
                if tree.joint_types[0].is_revolute:  # a slide carries its own centre along
                    assert_close(points[0], tree.root_points[t])
                assert_close(points[-1], poses[t, :3, 3])
                if name == 'allegro':  # hinges alone: what lies between two of them is rigid
                    steps = [
                        np.linalg.norm(np.diff(way, axis=0), axis=1) for way in (points, begin[t])
                    ]
                    assert_close(*steps)
        assert tree.reach == tree.reaches.max()


def gripper() -> Branching:
    """
    Two fingers on a wrist, the right one opens as far as the left.

                    l2 ^ q1
        l0 --(z)-- l1 -|
                    l3 v q1
    """
    return Branching(
        (
            Segment(lower=-2.0, upper=2.0),
            Segment('prismatic', (0, 1, 0), (0.3, 0.0, 0.0), lower=0.0, upper=0.05),
            Segment(
                'prismatic',
                (0, -1, 0),
                (0.3, 0.0, 0.0),
                lower=0.0,
                upper=0.04,
                mimic=(1, 1.0, 0.0),
            ),
        ),
        (0, 1, 1),
        (2, 3),
    )


class TestFollowersOnOtherBranches:
    @pytest.mark.parametrize('tips', [(2, 3), (3, 2)])
    def test_both_fingers_open_by_one_value(self, tips):
        hand = gripper()
        tree = Branching(hand.segments, hand.parents, tips).tree()
        assert tree.joint_names == ('j0', 'j1')
        angle, opened = 0.7, 0.03
        along = 0.3 * np.array([math.cos(angle), math.sin(angle), 0.0])
        across = opened * np.array([-math.sin(angle), math.cos(angle), 0.0])
        expected = {2: along + across, 3: along - across}
        poses = tree.forward_kinematics([angle, opened])
        assert_close(poses[:, :3, 3], [expected[tip] for tip in tips])

    def test_the_follower_narrows_the_limits_of_its_source(self):
        assert_close(gripper().tree().upper, [2.0, 0.04])

    def test_a_follower_has_no_chain_of_its_own_and_the_refusal_says_why(self):
        message = "joint 'j2' between 'l0' and 'l3' mimics 'j1', which is not in the chain"
        with pytest.raises(ChainError, match=message):
            gripper().tree().chains  # noqa: B018

    def test_a_value_moves_the_tips_of_its_joint_and_of_its_followers(self):
        assert [list(gripper().tree().moves(t)) for t in range(2)] == [[True, True]] * 2
        tree = FORKED.tree()
        for t in range(2):
            q = np.full(len(tree), 0.2)
            turned = [tree.forward_kinematics(q + e)[t] for e in 0.1 * np.eye(len(tree))]
            moved = [not np.array_equal(T, tree.forward_kinematics(q)[t]) for T in turned]
            assert list(tree.moves(t)) == moved

    def test_joints_to_a_tip_are_counted_without_followers(self):
        assert [gripper().tree().joints_to(t) for t in range(2)] == [2, 1]


FORKED = Branching(
    (
        Segment('prismatic', (0, 0, 1), (0.0, 0.0, 0.2), lower=0.0, upper=0.4),
        Segment(xyz=(0.1, 0.2, 0.0), rpy=(0.3, 0.0, 0.1)),
        Segment(axis=(0, 1, 0), xyz=(0.3, 0.0, 0.0)),
        Segment('fixed', xyz=(0.2, 0.0, 0.0)),
        Segment(axis=(1, 1, 0), xyz=(0.1, -0.2, 0.0), lower=-1.0, upper=1.0),
        Segment('continuous', axis=(0, 1, 0), xyz=(0.4, 0.0, 0.0)),
        Segment('fixed', xyz=(0.1, 0.1, 0.0), rpy=(0.0, 0.5, 0.0)),
    ),
    (0, 1, 2, 3, 1, 5, 6),
    (4, 7),
)
"""A lift that carries two arms of two hinges each."""


def tool(x: float = 0.1) -> np.ndarray:
    return transform(rotation_from_rpy(0.1, 0.2, 0.3), [x, 0.0, 0.05])


class TestTips:
    def test_a_tip_may_be_on_the_way_to_another_one(self, rng):
        nested = Branching(FORKED.segments, FORKED.parents, (4, 2, 1))
        tree = nested.tree()
        assert tree.joint_names == ('j0', 'j1', 'j2')
        q = tree.random_configuration(rng)
        values = dict(zip(tree.joint_names, q, strict=True))
        assert_close(tree.forward_kinematics(q), nested.poses(values))
        assert [len(points) for points in tree.points(q)] == [4, 3, 2]

    def test_the_inner_tip_may_come_first(self, rng):
        nested = Branching(FORKED.segments, FORKED.parents, (1, 4))
        tree = nested.tree()
        q = tree.random_configuration(rng)
        values = dict(zip(tree.joint_names, q, strict=True))
        assert_close(tree.forward_kinematics(q), nested.poses(values))

    def test_the_order_of_tips_is_the_one_asked_for(self, rng):
        there = Branching(FORKED.segments, FORKED.parents, (7, 4)).tree()
        here = FORKED.tree()
        assert there.tip_links == ('l7', 'l4')
        assert there.joint_names == ('j0', 'j4', 'j5', 'j1', 'j2')
        q = here.random_configuration(rng)
        same = [q[here.joint_names.index(name)] for name in there.joint_names]
        assert_close(there.forward_kinematics(same), here.forward_kinematics(q)[::-1])

    def test_two_tips_on_one_link_may_be_frames_apart(self, rng):
        segments = (*FORKED.segments, Segment('fixed', xyz=(0.0, 0.3, 0.0)))
        both = Branching(segments, (*FORKED.parents, 3), (4, 8))
        tree = both.tree()
        q = tree.random_configuration(rng)
        values = dict(zip(tree.joint_names, q, strict=True))
        assert_close(tree.forward_kinematics(q), both.poses(values))

    def test_one_tip_alone_is_a_chain(self, rng):
        robot = load_urdf(SIX_AXIS)
        tree, chain = robot.tree('l0', ['l7']), robot.chain('l0', 'l7')
        for name in ('joint_names', 'joint_types'):
            assert getattr(tree, name) == getattr(chain, name)
        for name in ('lower', 'upper', 'velocity'):
            assert_close(getattr(tree, name), getattr(chain, name))
        assert (tree.reach, tree.inner_reaches[0]) == (chain.reach, chain.inner_reach)
        assert_close(tree.model[:, :-1], chain.model)
        q = chain.random_configuration(rng)
        assert_close(tree.forward_kinematics(q), [chain.forward_kinematics(q)])
        assert_close(tree.points(q)[0], chain.points(q))
        assert_close(tree.mid_configuration(), chain.mid_configuration())

    def test_the_base_left_out_is_the_root(self):
        assert load_urdf(SIX_AXIS).tree(tip_links=['l7']).base_link == 'l0'

    def test_a_base_inside_the_robot_leaves_out_what_is_before(self):
        robot = load_urdf(tree_xml(FORKED.segments, FORKED.parents))
        assert robot.tree('l1', ['l4', 'l7']).joint_names == ('j1', 'j2', 'j4', 'j5')

    def test_arms_that_share_no_joint_are_a_tree_too(self, rng):
        robot = load_urdf(tree_xml(FORKED.segments, FORKED.parents))
        tree = robot.tree('l1', ['l4', 'l7'])
        q, other = tree.random_configuration(rng), tree.random_configuration(rng)
        mixed = np.concatenate([q[:2], other[2:]])
        assert_close(tree.forward_kinematics(mixed)[0], tree.forward_kinematics(q)[0])
        assert_close(tree.forward_kinematics(mixed)[1], tree.forward_kinematics(other)[1])

    @pytest.mark.parametrize('base', ['l0', 'l1'])
    def test_a_part_of_a_tree_stands_as_in_the_whole(self, base, rng):
        whole = load_urdf(tree_xml(FORKED.segments, FORKED.parents)).tree(base, ['l4', 'l7'])
        for t, link in enumerate(whole.tip_links):
            part, moved = whole.part([t]), whole.moves(t)
            assert part.tip_links == (link,)
            assert part.joint_names == tuple(np.array(whole.joint_names)[moved])
            q = whole.random_configuration(rng)
            assert_close(part.tip_poses(q[moved])[0], whole.tip_poses(q)[t])


class TestTools:
    def test_a_tool_sits_behind_its_tip_alone(self, rng):
        tree = FORKED.tree()
        with_tool = tree.with_tools({'l7': tool()})
        q = tree.random_configuration(rng)
        T = tree.forward_kinematics(q)
        assert_close(with_tool.forward_kinematics(q), [T[0], T[1] @ tool()])
        assert with_tool.tip_links == tree.tip_links

    def test_tools_may_be_on_all_tips_and_on_top_of_each_other(self, rng):
        tree = FORKED.tree()
        twice = tree.with_tools({'l4': tool(), 'l7': tool(0.3)}).with_tools({'l4': tool(0.2)})
        q = tree.random_configuration(rng)
        T = tree.forward_kinematics(q)
        expected = [T[0] @ tool() @ tool(0.2), T[1] @ tool(0.3)]
        assert_close(twice.forward_kinematics(q), expected)

    def test_a_tool_on_an_inner_tip_does_not_move_the_outer_one(self, rng):
        tree = Branching(FORKED.segments, FORKED.parents, (1, 4)).tree()
        q = tree.random_configuration(rng)
        T = tree.forward_kinematics(q)
        moved = tree.with_tools({'l1': tool()}).forward_kinematics(q)
        assert_close(moved, [T[0] @ tool(), T[1]])

    def test_a_tool_lengthens_the_reach_of_its_tip(self):
        tree = FORKED.tree()
        longer = tree.with_tools({'l4': transform(np.eye(3), [0.5, 0.0, 0.0])})
        assert_close(longer.reaches - tree.reaches, [0.5, 0.0])

    def test_a_tool_is_copied(self):
        given = tool()
        tree = FORKED.tree().with_tools({'l4': given})
        before = tree.forward_kinematics(np.zeros(5))
        given[:3, 3] = 9.0
        assert_close(tree.forward_kinematics(np.zeros(5)), before, 0.0)

    @pytest.mark.parametrize('bad', [np.eye(3), 2.0 * np.eye(4), np.full((4, 4), math.nan)])
    def test_a_tool_that_is_no_pose_is_refused(self, bad):
        with pytest.raises(ChainError, match='the tool is not a pose'):
            FORKED.tree().with_tools({'l4': bad})

    def test_a_tool_for_a_link_that_is_no_tip_is_refused_with_the_tips(self):
        with pytest.raises(LinkNotFoundError, match=r"'l2'.*l4, l7") as caught:
            FORKED.tree().with_tools({'l2': tool()})
        assert caught.value.available == ('l4', 'l7')


class TestValues:
    def test_arrays_of_a_tree_cannot_be_written(self):
        tree = FORKED.tree()
        names = ('lower', 'upper', 'velocity', 'root_points', 'reaches', 'inner_reaches', 'model')
        for name in names:
            with pytest.raises(ValueError, match='read-only'):
                getattr(tree, name)[0] = 1.0

    def test_what_a_tree_returns_belongs_to_the_caller(self, rng):
        tree = FORKED.tree()
        q = tree.random_configuration(rng)
        kept = tree.forward_kinematics(q)
        tree.forward_kinematics(q)[:] = 9.0
        for points in tree.points(q):
            points[:] = 9.0
        assert_close(tree.forward_kinematics(q), kept, 0.0)

    def test_limits_and_speeds_are_those_of_the_joints(self):
        tree = FORKED.tree()
        assert tree.joint_names == ('j0', 'j1', 'j2', 'j4', 'j5')
        assert_close(tree.lower, [0.0, -3.0, -3.0, -1.0, -math.inf])
        assert_close(tree.upper, [0.4, 3.0, 3.0, 1.0, math.inf])
        assert_close(tree.velocity, np.ones(5))
        assert_close(tree.mid_configuration(), [0.2, 0.0, 0.0, 0.0, 0.0])

    def test_random_configurations_are_inside_the_limits(self, rng):
        tree = FORKED.tree()
        for _ in range(COUNT):
            q = tree.random_configuration(rng)
            assert np.all((tree.lower <= q) & (q <= tree.upper))
            assert np.all(np.abs(q) <= math.pi)

    def test_a_tree_shows_its_ends_and_joints(self):
        assert repr(FORKED.tree()) == "Tree('l0' to 'l4', 'l7': j0, j1, j2, j4, j5)"

    @pytest.mark.parametrize('method', ['forward_kinematics', 'points'])
    @pytest.mark.parametrize(
        ('q', 'message'),
        [
            (
                [0.0] * 4,
                r'q has shape \(4,\), expected \(5,\): one value for each of j0, j1, j2, j4',
            ),
            (np.zeros((1, 5)), r'q has shape \(1, 5\)'),
            ([0.0, 0.0, 0.0, math.nan, 0.0], "a value that is not finite for joint 'j4'"),
        ],
    )
    def test_joint_values_that_make_no_sense_are_refused(self, method, q, message):
        with pytest.raises(JointValueError, match=message):
            getattr(FORKED.tree(), method)(q)


class TestRefusals:
    def tree(self, *tips: str, base: str = 'l0') -> Tree:
        return load_urdf(tree_xml(FORKED.segments, FORKED.parents)).tree(base, tips)

    def test_no_tip(self):
        with pytest.raises(ChainError, match='a tree needs at least one tip link'):
            self.tree()

    def test_a_tip_that_is_named_twice(self):
        with pytest.raises(ChainError, match="tip link 'l4' is named twice"):
            self.tree('l4', 'l7', 'l4')

    @pytest.mark.parametrize('arguments', [('l4', 'hand'), ('hand',)])
    def test_an_unknown_tip(self, arguments):
        with pytest.raises(LinkNotFoundError, match="no link named 'hand'; the model has: l0, l1"):
            self.tree(*arguments)

    def test_an_unknown_base(self):
        with pytest.raises(LinkNotFoundError, match="no link named 'floor'"):
            self.tree('l4', base='floor')

    def test_a_tip_that_is_not_below_the_base(self):
        message = "'l7' is not below 'l2'; its ancestors are: l6, l5, l1, l0"
        with pytest.raises(ChainError, match=message):
            self.tree('l4', 'l7', base='l2')

    @pytest.mark.parametrize(('base', 'tip'), [('l0', 'l0'), ('l3', 'l4')])
    def test_a_tip_that_does_not_move(self, base, tip):
        message = f"nothing moves between '{base}' and '{tip}'"
        with pytest.raises(ChainError, match=message):
            self.tree(tip, base=base)

    def test_a_tip_that_does_not_move_beside_one_that_does(self):
        robot = load_urdf(serial_xml([Segment('fixed'), Segment()]))
        with pytest.raises(ChainError, match="nothing moves between 'l0' and 'l1'"):
            robot.tree('l0', ['l2', 'l1'])

    @pytest.mark.parametrize('kind', ['planar', 'floating'])
    def test_a_joint_that_cannot_be_driven_on_the_way_to_a_tip(self, kind):
        robot = load_urdf(
            robot_xml('o a b', joint_xml('free', 'o', 'a', kind), joint_xml('j', 'o', 'b'))
        )
        message = f"joint 'free' between 'o' and 'b', 'a' is {kind}; only revolute"
        with pytest.raises(ChainError, match=message):
            robot.tree('o', ['b', 'a'])
        assert robot.tree('o', ['b']).joint_names == ('j',)

    def test_a_follower_of_a_joint_that_leads_to_no_tip(self):
        robot = load_urdf(tree_xml(gripper().segments, gripper().parents))
        message = "joint 'j2' between 'l0' and 'l3' mimics 'j1', which is not in the chain"
        with pytest.raises(ChainError, match=message):
            robot.tree('l0', ['l3'])
