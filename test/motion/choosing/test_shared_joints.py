"""
Tips that share joints in a stream: one that is blocked holds no other, as far as those allow.

The poses are judged by pinocchio, clearances by the distance of balls from a plane.

"""

import pytest

pytest.importorskip('pinocchio', reason='pinocchio is the judge')
pytest.importorskip('coal', reason='coal measures the distances')

from fabrik_ros import State
from helpers import examples, mostly_long
from hypothesis import given, settings, strategies as st
import numpy as np
from trunk import CLEARANCE, Hands, hands_of, Robot, silent, TRUNKS
from two_arms import check_joints, DT, TIPS

PUSHED = 0.1
"""How far from the start of a hand its shelf is [m]."""
PARTING = 0.008
"""How much farther a tip may be behind its hand while the trunk comes to rest [m]."""
SLOWER, ROUNDING = 1.02, 1e-3
"""... and once it rests [1], [m]."""
OUTWARDS = (0.0, 1.0, 0.0)
WAYS = {'obstacle': (OUTWARDS, 0.4), 'both': ((1.0, 1.0, 0.0), 1.2)}


def check(hands, q, blocked=0, distance=PUSHED):
    check_joints(q, hands.tree.lower, hands.tree.upper)
    assert min(hands.gap(values, blocked, distance) for values in q) > CLEARANCE - 1e-4


@pytest.mark.parametrize('kind', mostly_long(list(WAYS), 'obstacle'))
@pytest.mark.parametrize('blocked', mostly_long([0, 1], 0))
@pytest.mark.parametrize(
    'options',
    mostly_long(
        [{}, {'max_joint_jerk': 100.0}, {'path': 'line'}, {'idle_tips': 'free'}],
        {},
        {'max_joint_jerk': 100.0},
    ),
    ids=str,
)
def test_tip_beside_a_blocked_one_on_a_trunk_is_followed(kind, blocked, options):
    if 'max_joint_jerk' in options:
        pytest.importorskip('ruckig', reason='the extra `motion`: pip install ruckig')
    hands, (way, farthest), free = hands_of(), WAYS[kind], 1 - blocked
    both = [hands.circling(0), hands.circling(1)]
    both[blocked] = hands.pushing(blocked, way, farthest=farthest)
    alone = [silent, silent]
    alone[free] = both[free]
    q, arm = hands.follow(both, [hands.shelf(blocked, PUSHED)], **options)
    least = hands.lags(hands.follow(alone, **options)[0], free, both[free]).max()
    lags = hands.lags(q, free, both[free])
    assert lags.max() <= least + 2.0 * PARTING
    assert lags[250:].max() <= SLOWER * least + ROUNDING
    check(hands, q, blocked)
    assert arm.state is State.MOVING
    assert f'{TIPS[blocked]!r}: ' in str(arm.reason)
    assert f'{TIPS[free]!r}: ' not in str(arm.reason)


def test_joints_that_a_blocked_tip_shares_stand_still_and_it_with_them():
    hands = hands_of()
    both = [hands.pushing(0, OUTWARDS), hands.circling(1)]
    q, _ = hands.follow(both, [hands.shelf(0, PUSHED)])
    later = q[150:]
    assert np.ptp(later[:, hands.is_shared], axis=0).max() < 1e-9
    left = np.array([hands.judges.poses(values)[0, :3, 3] for values in later])
    assert np.ptp(left, axis=0).max() < 1e-3
    assert np.ptp(q[:50, hands.is_shared], axis=0).max() > 1e-3, 'before, the trunk takes part'


def test_tips_go_together_again_once_none_is_blocked():
    """The trunk takes part again, without which the left hand cannot reach its last targets."""
    hands = hands_of()
    back, speed = 150, 0.1
    push = hands.pushing(0, OUTWARDS)

    def hand(t):
        T = push(t)
        if t > back * DT:
            T[:3, 3] = hands.poses[0, :3, 3]
            T[1, 3] += PUSHED - CLEARANCE - min(speed * (t - back * DT), 0.3)
            T[2, 3] += min(speed * (t - back * DT), 0.3)
        return T

    both = [hand, hands.circling(1)]
    q, arm = hands.follow(both, [hands.shelf(0, PUSHED)], steps=500)
    check(hands, q)
    assert np.ptp(q[300:, hands.is_shared], axis=0).max() > 1e-3
    assert hands.lags(q, 0, hand)[-50:].max() < 0.02
    assert arm.reason is None


def test_tip_beside_one_beyond_reach_is_followed_once_the_trunk_rests():
    hands = hands_of()
    both = [hands.pushing(0, (1.0, 0.0, 0.0), farthest=2.0), hands.circling(1)]
    q, arm = hands.follow(both, steps=600)
    least = hands.lags(hands.follow([silent, both[1]])[0], 1, both[1]).max()
    lags = hands.lags(q, 1, both[1])
    assert lags.max() <= least + 0.02
    assert lags[-150:].max() <= SLOWER * least + 2.0 * ROUNDING
    check_joints(q, hands.tree.lower, hands.tree.upper)
    assert f'{TIPS[0]!r}: ' in str(arm.reason)
    assert f'{TIPS[1]!r}: ' not in str(arm.reason)


@pytest.mark.parametrize('trunk', mostly_long(list(TRUNKS), 'none', 'both'))
def test_streams_in_joint_space_do_not_hold_each_other(trunk):
    hands = hands_of(trunk=trunk)
    both = [hands.pushing(0, OUTWARDS), hands.circling(1)]
    q, arm = hands.follow(both, [hands.shelf(0, PUSHED)], path='joint')
    least = hands.lags(hands.follow([silent, both[1]], path='joint')[0], 1, both[1]).max()
    assert hands.lags(q, 1, both[1]).max() <= least + PARTING
    check(hands, q)
    assert f'{TIPS[0]!r}: collision ahead' in str(arm.reason)
    last = both[1](349 * DT)
    for _ in range(200):
        q = [*q, arm.step(None, DT, measured=q[-1])]
    check(hands, np.array(q))
    assert np.linalg.norm((last - hands.judges.poses(q[-1])[1])[:3, 3]) < 1e-4
    assert arm.state is State.HOLDING


@given(
    trunk=st.sampled_from(list(TRUNKS)),
    spread=st.floats(0.25, 0.4),
    scale=st.floats(0.8, 1.2),
    pace=st.floats(0.5, 2.0),
    speed=st.floats(0.05, 0.4),
    way=st.tuples(st.floats(-0.3, 0.3), st.just(1.0), st.floats(-0.3, 0.3)),
    distance=st.floats(0.06, 0.2),
)
@settings(max_examples=examples(2, 4), deadline=None)
def test_law_of_two_arms_on_any_trunk(trunk, spread, scale, pace, speed, way, distance):
    """However a hand pushes, the other tip keeps up with its own, within all limits."""
    hands = Hands(Robot(trunk, spread, scale))
    both = [hands.pushing(0, way, speed, farthest=0.5), hands.circling(1, 0.06, pace)]
    q, _ = hands.follow(both, [hands.shelf(0, distance)], steps=300)
    check(hands, q, 0, distance)
    beside = hands.lags(hands.follow(both, steps=100)[0], 1, both[1]).max()
    alone = hands.lags(hands.follow([silent, both[1]], steps=300)[0], 1, both[1]).max()
    assert hands.lags(q, 1, both[1]).max() <= max(alone, beside) + PARTING
