"""A step that comes late, or very late, leaves no path: what the scheduler does nobody sees."""

import pytest

pytest.importorskip('pinocchio', reason='pinocchio is the judge')

from command_judge import accelerations, velocities
from fabrik_ros import load_urdf
from fabrik_ros.kernels._jit import COMPILED
from fabrik_ros.motion.choosing.goal import Goal, MotionOptions
from fabrik_ros.motion.choosing.motion import Motion
from fabrik_ros.solver.options import SolverOptions
from helpers import assert_close, examples
from hypothesis import example, given, settings, strategies as st
from judging import pose_errors
import numpy as np
from talos import talos, talos_judges, TALOS_START, TALOS_TIPS
from two_arms import DT, FASTEST, HARDEST, limits_for

EXAMPLES = examples(10, 25) if COMPILED else 2
ON_LINE = (1e-8, 1e-8)
late_steps = st.dictionaries(st.integers(0, 80), st.floats(0.004, 0.1), max_size=8)


def play(late):
    """
    Let one hand of TALOS go along a line, and the other stay.

    `late` has lengths of steps [s] by their numbers; the others take `DT`. Returns times, joint
    values there, velocities that were said for the steps, and poses of the goal.
    """
    tree = load_urdf(talos()).tree('base_link', TALOS_TIPS)
    # The tip speeds up as hard as by default: where it does, the joints need all they may.
    limits = limits_for(tree, tip_acceleration=1.5)
    solver = SolverOptions(position_tolerance=1e-5, orientation_tolerance=1e-4, max_restarts=20)
    motion = Motion(tree, limits, solver, MotionOptions(path='line'))
    motion.reset(np.array([TALOS_START[name] for name in tree.joint_names]))
    T = tree.tip_poses(motion.q)
    T[0, :3, 3] += 0.2, 0.05, 0.1
    motion.pursue(Goal.of(T))
    steps, q, said = [], [motion.q], []
    while not (steps and motion.is_at_rest):
        assert sum(steps) < 30.0, 'it never arrives'
        steps.append(late.get(len(steps), DT))
        said.append(motion.step_in_parts(steps[-1]))
        q.append(motion.q)
    order = [tree.joint_names.index(name) for name in TALOS_START]
    return np.cumsum([0.0, *steps]), np.array(q)[:, order], np.array(said)[:, order], T


@settings(max_examples=EXAMPLES, deadline=None)
@given(late=late_steps)
@example(late={5: 0.03})
@example(late={2: 0.09})
@example(late={})
def test_hands_stay_on_their_lines(late):
    times, q, said, goal = play(late)
    begin = talos_judges().poses(q[0])
    way = goal[0, :3, 3] - begin[0, :3, 3]
    length = np.linalg.norm(way)
    for poses in map(talos_judges().poses, q):
        along = poses[0].copy()
        share = np.clip((along[:3, 3] - begin[0, :3, 3]) @ way / length**2, 0.0, 1.0)
        along[:3, 3] = begin[0, :3, 3] + share * way
        along[:3, :3] = begin[0, :3, :3]
        assert pose_errors(along, poses[0]) < ON_LINE
        assert pose_errors(begin[1], poses[1]) < ON_LINE
    assert pose_errors(goal[0], poses[0]) < (2e-5, 2e-4)
    fastest = np.minimum(talos_judges().velocity, FASTEST)
    assert np.all(np.abs(velocities(times, q)) <= fastest * (1.0 + 1e-6))
    assert_close(said[:-1], velocities(times, q)[:-1], 1e-9)  # the last one says rest
    assert np.all(np.abs(accelerations(times, q)) <= HARDEST * (1.0 + 1e-4))


def test_one_short_step_does_not_cut_all_later_ones(monkeypatch):
    taken, step = [], Motion.step
    monkeypatch.setattr(Motion, 'step', lambda motion, dt: (taken.append(dt), step(motion, dt)))
    play({20: 0.018, 21: 0.002})
    assert 0.002 in taken
    assert taken[-20:] == [DT] * 20
