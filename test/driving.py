"""What arms behind a controller of trajectories are made to do, and what may be played of it."""

import math

from controllers import fastest
from fabrik_ros.motion.choosing.goal import MotionOptions
from fabrik_ros.motion.choosing.motion import Motion
from fabrik_ros.motion.limits.jerk_filter import JerkFilter
from fabrik_ros.motion.limits.limits import MotionLimits
from fabrik_ros.motion.paths.planned_path import PlannedPath
from fabrik_ros.solver.options import SolverOptions
from helpers import stopped
import numpy as np
from random_programs import random_program
from rig import SECOND

FASTEST, HARDEST = 1.5, 5.0
SOLVER = SolverOptions(mode='auto', budget=math.inf, max_restarts=6)


def limits_of(chain):
    """Limits of the commands; the motion keeps a little less where jerk is limited, too."""
    joint_velocity = np.minimum(chain.velocity, FASTEST)
    return MotionLimits(0.25, 1.0, 1.5, joint_velocity, np.full(len(chain), HARDEST))


def make_motion(chain, seed, path='line', jerk=0.0, period=0.01):
    motion = Motion(
        chain,
        limits_of(chain),
        SOLVER,
        MotionOptions(path=path),
        jerk_filter=JerkFilter(jerk, period, chain.lower, chain.upper) if jerk else None,
    )
    middle = chain.mid_configuration()
    motion.reset(middle + 0.3 * (chain.random_configuration(np.random.default_rng(seed)) - middle))
    return motion


def choose(motion, path):
    """Let the arm choose among other paths from now on."""
    motion.change(limits_of(motion.robot), SOLVER, MotionOptions(path))


def do(rig, what, seed, seconds):
    """Let something happen, and time pass."""
    rng, follower, chain = np.random.default_rng(seed), rig.follower, rig.motion.robot
    if what in ('target', 'joint target'):
        choose(rig.motion, 'joint' if what != 'target' else 'auto')
        q = chain.random_configuration(rng)
        T = chain.forward_kinematics(rig.motion.q + rng.uniform(0.1, 1.0) * (q - rig.motion.q))
        rig.ask(lambda: follower.accept(T, rig.seconds))
        rig.go(seconds)
    elif what == 'planned path':
        do(rig, 'joint target', seed, 0.02)
        if not rig.motion.is_at_rest:
            rig.motion.follow(PlannedPath(rig.motion.limiter, wavy(rng, rig.motion)))
        rig.go(seconds)
    elif what == 'program':
        q = rig.motion.q
        program = random_program(rng, chain, q, 4)
        rig.ask(lambda: follower.go_through(program, rig.seconds))
        rig.go(seconds)
    elif what == 'jog':
        twist = rng.uniform(-0.2, 0.2, 6)
        for _ in range(round(seconds / 0.02)):
            rig.ask(lambda: follower.jog(twist, rig.seconds))
            rig.go(0.02)
    elif what == 'circle':
        choose(rig.motion, 'line')
        centre = chain.forward_kinematics(rig.motion.q)
        for i in range(round(seconds / 0.02)):
            T = centre.copy()
            T[:2, 3] += 0.05 * np.array([math.cos(0.1 * i) - 1.0, math.sin(0.1 * i)])
            rig.ask(lambda T=T: follower.accept(T, rig.seconds))
            rig.go(0.02)
    elif what == 'stop':
        follower.hold(stopped('a test'))
        rig.go(seconds)
    elif what == 'scale':
        rig.motion.scale_speed(float(rng.choice([0.0, 0.1, 0.5, 1.0])))
        rig.go(seconds)
        rig.motion.scale_speed(1.0)
    else:
        rig.go(seconds)


def wavy(rng, motion):
    """Make knots on waves in joint space, shape (m, n), from where a motion is."""
    chain = motion.robot
    lower, upper = np.maximum(chain.lower, -3.0), np.minimum(chain.upper, 3.0)
    middle = np.clip(motion.q, lower + 0.1, upper - 0.1)
    width = rng.uniform(-0.4, 0.4, len(chain))
    t = np.linspace(0.0, rng.uniform(1.0, 4.0), 80)[:, None]
    waves = np.sin(rng.uniform(0.5, 2.0, len(chain)) * t)
    knots = motion.q + np.minimum(t, 1.0) * (middle - motion.q) + width * waves
    inside = np.clip(knots[1:], lower, upper)
    return np.concatenate([motion.q[None], inside])


def check_played(rig, played, rate):
    """
    Check what was played from the second message on, apart from where it begins anew.

    Yields what was played and what was meant, at the same times, shape (k, n).
    """
    period = rig.controller.period_ns
    fastest_joints = limits_of(rig.motion.robot).joint_velocity
    for begin, end, commands, heard in parts(rig):
        rows = (played.times_ns >= begin + 2 * period) & (played.times_ns <= end)
        if np.count_nonzero(rows) < 4:
            continue
        times, wanted = played.times_ns[rows], played.command[rows]
        speed, acceleration = fastest(times, wanted)
        assert np.all(speed <= fastest_joints * 1.001)
        assert acceleration.max() <= HARDEST * 1.05
        chain = rig.motion.robot
        assert np.all((chain.lower - 1e-9 <= wanted) & (wanted <= chain.upper + 1e-9))
        stamps, q = (np.array(column) for column in zip(*commands, strict=True))
        # The command of an update is for the next one; on Humble for this one.
        meant_at = times + rig.controller._ahead - round(rig.look_ahead * SECOND)
        meant = np.column_stack([np.interp(meant_at, stamps, column) for column in q.T])
        told = meant_at <= heard - round(SECOND / rate)  # later it plays the stop
        yield wanted[told], meant[told]


def parts(rig):
    """
    Tell when each second message arrives, and the next that begins anew [ns].

    Likewise the commands in between, and the stamp of the last one that the controller heard of.
    """
    firsts = [0, *rig.restarts]
    for first, following in zip(firsts, [*firsts[1:], len(rig.sent)], strict=True):
        arrived = [at for _, at in rig.sent[first:following] if at >= 0]
        if len(arrived) < 2:
            continue
        later = [at for _, at in rig.sent[following:] if at >= 0]
        end = later[0] - 1 if later else math.inf
        of_part = zip(rig.commands[first:following], rig.sent[first:following], strict=True)
        heard = [command for command, (_, at) in of_part if at >= 0]
        yield arrived[1], end, rig.commands[first:following], heard[-1][0]
