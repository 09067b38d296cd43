"""
Arms in a stream whose targets stay in the world while the base moves: each goes on its own.

The poses are judged by pinocchio.

"""

import pytest

pytest.importorskip('pinocchio', reason='pinocchio is the judge')

from fabrik_ros.motion.choosing.goal import Goal
from helpers import mostly_long
import numpy as np
from trunk import hands_of
from two_arms import check_joints, DT, motion_of

SPEED = 0.05
"""Of the base [m/s]."""
STEPS = 750


def driving(t):
    """Pose of the base in the world."""
    T = np.eye(4)
    T[0, 3] = SPEED * t
    return T


def stream(hands, poses_in_world, stops=STEPS):
    """Let hands lead both tips in the world; joint values (m + 1, n), and the motion."""
    motion, q = motion_of(hands.tree, hands.start), [hands.start]
    motion.frame.base.begin(np.eye(4))
    in_world, is_target = np.ones((2, 2), dtype=bool)
    for i in range(STEPS):
        t = i * DT
        if i < stops:
            T = np.array([pose(t) for pose in poses_in_world])
            motion.pursue(Goal(T, in_world, is_target), in_stream=True)
        motion.carry(np.linalg.inv(driving(t + DT)), DT)
        motion.step(DT)
        q.append(motion.q)
    return np.array(q), motion


def lags(hands, q, tip, hand):
    """How far a tip is behind its hand in the world after each of the steps [m]."""
    return np.array(
        [
            np.linalg.norm(
                (hand(i * DT) - driving((i + 1) * DT) @ hands.judges.poses(values)[tip])[:3, 3]
            )
            for i, values in enumerate(q[1:])
        ]
    )


@pytest.mark.parametrize('trunk', mostly_long(['none', 'both'], 'none', 'both'))
@pytest.mark.parametrize('blocked', mostly_long([0, 1], 0))
def test_tip_beside_one_out_of_reach_follows_its_hand_in_the_world(trunk, blocked):
    hands, free = hands_of(trunk=trunk), 1 - blocked
    circle, rest = hands.circling(free), hands.circling(blocked, radius=0.0)
    both, calm = [circle, circle], [circle, circle]
    both[blocked] = hands.pushing(blocked, (-1.0, 0.0, 0.0), farthest=2.0)
    calm[blocked] = rest
    q, motion = stream(hands, both)
    beside = lags(hands, stream(hands, calm)[0], free, circle).max()
    settled = 0 if trunk == 'none' else 700
    assert lags(hands, q, free, circle)[settled:].max() <= beside + 0.01
    check_joints(q, hands.tree.lower, hands.tree.upper)
    reasons = motion.tip_reasons
    assert reasons[blocked] is not None
    assert reasons[free] is None


def test_tips_stay_at_their_last_targets_in_the_world_while_the_base_moves_on():
    hands = hands_of(trunk='none')
    both = [hands.circling(0, 0.05), hands.circling(1, 0.05)]
    q, _ = stream(hands, both, stops=200)
    check_joints(q, hands.tree.lower, hands.tree.upper)
    for tip in (0, 1):
        last = both[tip](199 * DT)
        assert lags(hands, q, tip, lambda t, T=last: T)[-100:].max() < 1e-4
