"""What the tests of the commander share."""

import time

import numpy as np

HOME = (0.3, -1.1, 1.4, -1.7, -1.4, 0.2)
UPRIGHT = (0.2, -1.5, 1.2, -1.2, -1.3, 0.0)
LEFT, RIGHT = (0.4, 0.2, 0.4), (0.4, -0.2, 0.4)
DOWN = (1.0, 0.0, 0.0, 0.0)
"""Quaternion x y z w of a tool that points down."""
PATIENCE = 30.0
"""How long the slowest machine may take for anything [s]."""


def until(condition, what):
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, f'waited in vain: {what}'
        time.sleep(0.02)


def set_out(arm, target):
    """Begin a move, to the time at which the arm is on its way."""
    begin = arm.pose
    future = arm.move_to(target, wait=False)
    until(lambda: future.done() or np.abs(arm.pose - begin).max() > 0.01, 'the arm moves')
    assert not future.done(), future.exception()
    return future


def far_side(arm):
    """Pose on the other side than the arm is now."""
    return (RIGHT if arm.pose[1, 3] > 0.0 else LEFT), DOWN


def far_turn(arm):
    """Joint values that it takes the arm five seconds to get to, and more."""
    return {'shoulder_pan': -2.5 if arm.joints['shoulder_pan'] > 0.0 else 2.5}


def check_rest(arm):
    """Check that the measured arm does not move any more."""
    before = arm.joints
    time.sleep(0.3)
    after = arm.joints
    assert max(abs(after[name] - before[name]) for name in before) < 1e-3
