"""The judge of ways, against answers worked out on paper: it must not be wrong in silence."""

import math

from collision_models import body, with_bodies
from helpers import assert_close, PLANAR, Segment, serial_xml
from hypothesis import given, settings, strategies as st
import numpy as np
import pytest
from way_judge import BOX_CLEARANCE, BoxAround, CLEARANCE, COMMAND_SLACK, WayJudge

UPPER, LOWER = 1.0, 0.8
"""Lengths of the two links of `PLANAR` [m]."""
LIMIT = 3.0
"""Of its joints, to both sides [rad]."""


def judge_of(urdf, tip, **options):
    return WayJudge(urdf, 'l0', tip, **options)


@pytest.fixture(scope='module')
def planar():
    return judge_of(PLANAR, 'l3')


def tip(shoulder, elbow):
    """Where the tip is, by trigonometry."""
    angle = shoulder + elbow
    x = UPPER * math.cos(shoulder) + LOWER * math.cos(angle)
    return np.array([x, UPPER * math.sin(shoulder) + LOWER * math.sin(angle), 0.0])


def bent(x, y, side=1.0):
    """Joint values with the tip at a point, elbow to one side, by the law of cosines."""
    r = math.hypot(x, y)
    elbow = side * math.acos((r * r - UPPER**2 - LOWER**2) / (2.0 * UPPER * LOWER))
    inner = math.acos((r * r + UPPER**2 - LOWER**2) / (2.0 * UPPER * r))
    return np.array([math.atan2(y, x) - side * inner, elbow])


def at(x, y):
    """T_base_tip with the tip at a point; two joints take the orientation that comes."""
    T = np.eye(4)
    T[:2, 3] = x, y
    return T


class TestLinesOfTwoLinks:
    @given(st.floats(-LIMIT, LIMIT), st.floats(-LIMIT, LIMIT))
    def test_pose_is_that_of_trigonometry(self, planar, shoulder, elbow):
        T = planar.pose(np.array([shoulder, elbow]))
        assert_close(T[:3, 3], tip(shoulder, elbow), 1e-12)
        assert_close(T[:2, 0], [math.cos(shoulder + elbow), math.sin(shoulder + elbow)], 1e-12)

    def test_line_in_reach_is_free(self, planar):
        assert planar.line(bent(1.2, 0.6), at(1.0, -0.6)).is_free

    def test_line_ends_where_the_arm_is_stretched(self, planar):
        line = planar.line(bent(1.0, 0.0), at(2.6, 0.0))
        assert not line.is_free
        assert line.cause in ('out of reach', 'jump')
        assert line.share == pytest.approx((UPPER + LOWER - 1.0) / 1.6, abs=1e-3)

    def test_line_ends_where_the_elbow_comes_to_its_limit(self, planar):
        """The tip cannot come nearer to the base than with the elbow at 3.0."""
        nearest = math.sqrt(UPPER**2 + LOWER**2 + 2.0 * UPPER * LOWER * math.cos(LIMIT))
        line = planar.line(bent(1.0, 0.1), at(-1.0, 0.1))
        assert line.cause == 'limits'
        reached = 1.0 - math.sqrt(nearest**2 - 0.1**2)
        assert line.share == pytest.approx(reached / 2.0, abs=1e-3)

    @pytest.mark.long
    def test_line_does_not_go_on_behind_a_gap(self, planar):
        """Start and end are in reach, and so is the rest of the line."""
        for y in (0.0, 0.05, 0.1, 0.2):
            assert not planar.line(bent(1.0, y), at(-1.0, y)).is_free

    @pytest.mark.long
    @settings(max_examples=15)
    @given(st.floats(0.3, 1.75), st.floats(-1.4, 1.4), st.floats(0.3, 1.75), st.floats(-1.4, 1.4))
    def test_line_is_free_where_no_point_of_it_is_out_of_reach(self, planar, r, a, r_end, a_end):
        start = np.array([r * math.cos(a), r * math.sin(a)])
        end = np.array([r_end * math.cos(a_end), r_end * math.sin(a_end)])
        points = start + np.linspace(0.0, 1.0, 2001)[:, None] * (end - start)
        nearest = np.linalg.norm(points, axis=1).min()
        on_the_way = np.array([bent(*point) for point in points]) if nearest > 0.25 else None
        inside = on_the_way is not None and np.all(np.abs(on_the_way) < LIMIT - 0.01)
        if inside:
            assert planar.line(bent(*start), at(*end)).is_free
        if nearest < 0.23:
            assert not planar.line(bent(*start), at(*end)).is_free


class TestConfigurationsAtAPose:
    def test_both_elbows_are_found(self):
        judge = judge_of(PLANAR, 'l3')
        goal = bent(1.0, 0.5)
        other = bent(1.0, 0.5, side=-1.0)
        T = judge.pose(goal)
        found = judge.configurations_at(T, np.zeros(2), np.random.default_rng(0))
        assert_close(np.array(found), [goal], 1e-4)
        T = judge.pose(other)
        found = judge.configurations_at(T, np.zeros(2), np.random.default_rng(0))
        assert_close(np.array(found), [other], 1e-4)

    @pytest.mark.parametrize(
        ('limit', 'turns'), [(3.0, {0}), (6.2, {0, -1}), (9.0, {0, -1, 1}), (12.0, {0, -1, 1, -2})]
    )
    def test_whole_turns_within_the_limits_are_found(self, limit, turns):
        urdf = serial_xml(
            [
                Segment(lower=-limit, upper=limit),
                Segment(xyz=(1.0, 0.0, 0.0)),
                Segment('fixed', xyz=(0.8, 0.0, 0.0)),
            ]
        )
        judge, goal = judge_of(urdf, 'l3'), np.array([1.0, 0.7])
        found = judge.configurations_at(
            judge.pose(goal), goal, np.random.default_rng(0), known=goal
        )
        turned = {round((q[0] - goal[0]) / (2.0 * math.pi)) for q in found}
        assert turned == turns
        assert_close(found[0], goal, 1e-4)

    def test_joint_without_limits_comes_in_the_turns_next_to_the_start(self):
        urdf = serial_xml(
            [
                Segment('continuous'),
                Segment(xyz=(1.0, 0.0, 0.0)),
                Segment('fixed', xyz=(0.8, 0.0, 0.0)),
            ]
        )
        judge, start = judge_of(urdf, 'l3'), np.array([20.0, 0.7])
        found = judge.configurations_at(
            judge.pose(np.array([1.0, 0.7])), start, np.random.default_rng(0)
        )
        expected = [1.0 + 2.0 * math.pi * k for k in (3, 4)]
        assert [q[0] for q in found] == pytest.approx(expected, abs=1e-4)

    def test_pose_out_of_reach_has_none(self, planar):
        assert not planar.configurations_at(at(1.9, 0.0), np.zeros(2), np.random.default_rng(0))


WALL = with_bodies(
    serial_xml(
        [
            Segment(lower=-0.5, upper=3.6),
            Segment(xyz=(0.5, 0.0, 0.0), lower=-2.8, upper=2.8),
            Segment('fixed', xyz=(0.45, 0.0, 0.0)),
        ]
    ),
    {
        'l0': body('<box size="0.02 0.6 0.2"/>', '0 0.9 0'),
        'l1': body('<box size="0.3 0.02 0.02"/>', '0.25 0 0'),
        'l2': body('<box size="0.4 0.02 0.02"/>', '0.25 0 0'),
    },
)
"""
An arm that turns about z, and a thin wall on its base, at x = 0 from y = 0.6 on.

The upper arm stays below the wall, the stretched forearm meets it.
"""
CORNER = 0.01, 0.6
HALF_WIDTH = 0.01


@pytest.fixture(scope='module')
def judge():
    return judge_of(WALL, 'l3')


class TestAWall:
    def test_only_the_forearm_is_kept_off_the_wall(self, judge):
        assert judge.pairs == {frozenset(('l0', 'l2'))}

    @given(st.floats(0.05, 0.2), st.sampled_from([-1.0, 1.0]))
    def test_stretched_arm_is_free_as_far_as_the_clearance_says(self, judge, away, side):
        """The corner of the wall is nearest to the edge of the forearm."""
        angle = 0.5 * math.pi - side * 0.5 * away
        x, y = CORNER
        gap = abs(-side * x * math.sin(angle) + y * math.cos(angle)) - HALF_WIDTH
        if abs(gap - CLEARANCE) > 1e-5:
            assert judge.is_free(np.array([angle, 0.0])) == (gap > CLEARANCE)

    def test_command_may_be_a_little_nearer(self, judge):
        x, y = CORNER

        def angle(gap):
            return (
                math.pi / 2.0 - math.atan(x / y) - math.asin((gap + HALF_WIDTH) / math.hypot(x, y))
            )

        near = np.array([angle(CLEARANCE - 0.5 * COMMAND_SLACK), 0.0])
        assert not judge.is_free(near)
        assert judge.may_be_commanded(near)
        assert not judge.may_be_commanded(np.array([angle(CLEARANCE - 2.0 * COMMAND_SLACK), 0.0]))

    def test_stretched_arm_does_not_get_past_the_wall(self, judge):
        q, goal = np.array([0.5, 0.0]), np.array([2.5, 0.0])
        assert judge.is_free(q)
        assert judge.is_free(goal)
        assert not judge.is_move_free(q, goal)
        assert not judge.is_move_free(goal, q)
        assert judge.is_move_free(q, np.array([1.5, 0.0]))

    def test_thin_wall_is_not_jumped_over(self, judge):
        """Of a move of two radians the forearm is in the wall for 0.07."""
        blocked = sum(
            not judge.is_move_free(np.array([begin, 0.0]), np.array([begin + 2.0, 0.0]))
            for begin in np.linspace(0.0, 1.4, 50)
        )
        assert blocked == 50

    def test_arm_gets_past_the_wall_folded(self, judge):
        q, goal = np.array([0.5, 0.0]), np.array([2.5, 0.0])
        folded = np.array([2.5, -2.8])
        assert judge.is_move_free(q, folded)
        assert judge.is_move_free(folded, goal)
        rng = np.random.default_rng(0)
        assert not judge.free_move(q, [goal])
        assert judge.free_move_over_one(q, [goal], rng)

    def test_line_ends_at_the_wall(self, judge):
        q = np.array([1.2, 0.3])
        T = judge.pose(q)
        T[0, 3] = -T[0, 3]
        line = judge.line(q, T)
        assert line.cause == 'collision'
        assert 0.0 < line.share < 1.0

    def test_wall_counts_no_longer_where_it_may_be_touched(self):
        judge = judge_of(WALL, 'l3', allowed=[('l2', 'l0')])
        assert not judge.pairs
        assert judge.is_move_free(np.array([0.5, 0.0]), np.array([2.5, 0.0]))


class TestBoxesAround:
    """A ball of 0.1 m at the elbow, a metre from the base, and a box of 0.2 m beyond it."""

    URDF = with_bodies(PLANAR, {'l2': body('<sphere radius="0.1"/>')})

    def judge(self, gap):
        return judge_of(self.URDF, 'l3', boxes={'box': BoxAround((0.2,) * 3, at(1.2 + gap, 0.0))})

    @pytest.mark.parametrize(
        ('gap', 'is_free', 'may_be'),
        [
            (BOX_CLEARANCE + 1e-5, True, True),
            (BOX_CLEARANCE - 0.5 * COMMAND_SLACK, False, True),
            (BOX_CLEARANCE - 2.0 * COMMAND_SLACK, False, False),
            (-0.05, False, False),
        ],
    )
    def test_clearance_of_boxes_is_kept(self, gap, is_free, may_be):
        judge, q = self.judge(gap), np.zeros(2)
        assert (judge.is_free(q), judge.may_be_commanded(q)) == (is_free, may_be)
        assert judge.is_free(np.array([1.0, 0.0]))

    def test_move_through_a_box_is_not_free(self):
        assert not self.judge(0.0).is_move_free(np.array([-1.0, 0.0]), np.array([1.0, 0.0]))

    def test_pairs_of_links_stay(self):
        judge = judge_of(WALL, 'l3', boxes={'box': BoxAround((0.1,) * 3, at(9.0, 0.0))})
        assert judge.pairs == judge_of(WALL, 'l3').pairs


class TestWhatIsLookedAt:
    def test_link_that_always_touches_is_left_out(self):
        urdf = WALL.replace('<box size="0.02 0.6 0.2"/>', '<box size="4 4 4"/>')
        assert not judge_of(urdf, 'l3').pairs

    def test_link_that_touches_in_half_of_the_configurations_stays(self):
        urdf = WALL.replace('<box size="0.02 0.6 0.2"/>', '<box size="0.02 4 0.2"/>')
        assert judge_of(urdf, 'l3').pairs

    def test_mesh_that_is_missing_is_an_error(self):
        urdf = WALL.replace(
            '<box size="0.02 0.6 0.2"/>', '<mesh filename="package://nowhere/wall.stl"/>'
        )
        with pytest.raises(ValueError, match=r'wall\.stl'):
            judge_of(urdf, 'l3')

    def test_soft_limits_narrow_the_limits(self):
        soft = '<safety_controller soft_lower_limit="-0.4" soft_upper_limit="9" k_velocity="1"/>'
        urdf = WALL.replace('</joint>', f'{soft}</joint>', 1)
        judge = judge_of(urdf, 'l3')
        assert judge.lower.tolist() == [-0.4, -2.8]
        assert judge.upper.tolist() == [3.6, 2.8]

    def test_configuration_outside_the_limits_is_seen(self, planar):
        assert planar.is_inside(np.array([LIMIT, -LIMIT]))
        assert not planar.is_inside(np.array([LIMIT + 1e-6, 0.0]))
