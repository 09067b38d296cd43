"""
What convex parts of meshes cost: steps, and making the checks, beside hulls alone.

Guards of both are asked in turns about the same steps, from random configurations that are free
for both, in one process and by its thread's processor time. All is done several times over, from
the same knowledge of distances, and the least time of each step counts: other processes take the
caches. Then followers of both are led from target to target, and their whole steps are timed in
turns; paths differ where hulls touch and parts do not, so medians and 99th percentiles count.

    python benchmark/experiments/shape_steps.py --robots panda ur5 jaco

"""

import argparse
import math
from pathlib import Path
import sys
import time

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / 'test'))

from fabrik_ros import ArmFollower, load_urdf
from fabrik_ros.collision import CollisionGuard, convex_parts, SelfCollision
from helpers import example_robot, REAL_ARMS
import numpy as np

PERIOD = 0.01
"""Between two steps [s]."""
STEPS = 50
"""From each configuration [1]."""
SPEED, ACCELERATION = 1.0, 5.0
"""Of each joint [rad/s], [rad/s^2]."""
TARGET_TIME = 1.5
"""Between two targets of a follower [s]."""


def made(robot, chain):
    """Make the checks twice; return those made with a warm cache, and the time that took [s]."""
    SelfCollision(robot, chain)
    begin = time.thread_time()
    collision = SelfCollision(robot, chain)
    return collision, time.thread_time() - begin


def with_hulls(make, *arguments):
    """Make something with hulls alone."""
    farthest, convex_parts.FARTHEST = convex_parts.FARTHEST, math.inf
    try:
        return make(*arguments)
    finally:
        convex_parts.FARTHEST = farthest


def starts(checks, chain, count):
    """Draw joint values that are free for all checks, and velocities, shape (n,) each."""
    rng, found = np.random.default_rng(1), []
    while len(found) < count:
        q, velocity = chain.random_configuration(rng), rng.uniform(-SPEED, SPEED, len(chain))
        if all(collision.is_collision_free(q) for collision in checks):
            found.append((q, velocity))
    return found


def step_times(checks, chain, begins):
    """Time steps of guards of two kinds, which know nothing at first, shape (2, steps) [s]."""
    times = [], []
    acceleration, fastest = np.full(len(chain), ACCELERATION), np.full(len(chain), SPEED)
    for collision in checks:
        collision.distances.forget()
    for q, velocity in begins:
        guards = [CollisionGuard(collision) for collision in checks]
        for step in range(STEPS):
            q_next = np.clip(q + PERIOD * velocity, chain.lower, chain.upper)
            for k in (0, 1) if step % 2 == 0 else (1, 0):
                begin = time.thread_time()
                guards[k].allows(q, q_next, velocity, acceleration, fastest)
                times[k].append(time.thread_time() - begin)
            q = q_next
    return np.array(times)


def whole_step_times(chain, begin, count):
    """Time steps of followers of two kinds that go to the same targets, shape (2, steps) [s]."""
    followers, rng = (with_hulls(ArmFollower, chain), ArmFollower(chain)), np.random.default_rng(1)
    q, times = [begin, begin], ([], [])
    for follower in followers:
        follower.step(None, PERIOD, measured=begin)
    for _ in range(count):
        target = chain.tip_poses(chain.random_configuration(rng))[0]
        for step in range(round(TARGET_TIME / PERIOD)):
            for k in (0, 1) if step % 2 == 0 else (1, 0):
                given = target if step == 0 else None
                since = time.thread_time()
                q[k] = np.asarray(followers[k].step(given, PERIOD, measured=q[k]))
                times[k].append(time.thread_time() - since)
    return np.array(times)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n\n')[0])
    parser.add_argument('--robots', nargs='*', default=['panda', 'ur5', 'jaco'])
    parser.add_argument('--count', type=int, default=100, help='configurations of each')
    parser.add_argument('--runs', type=int, default=5, help='of the same steps')
    parser.add_argument('--targets', type=int, default=40, help='of a follower')
    options = parser.parse_args()
    print('robot; hulls, parts: pairs of solids, time to make them [s], '
          'mean and 99th percentile of a step of the guard [us], '
          'median and 99th percentile of a whole step [us]')  # fmt: skip
    for name in options.robots:
        real = REAL_ARMS[name]
        robot = load_urdf(example_robot(name))
        chain = robot.chain(real.base_link or None, real.tip_link)
        (hulls, slow), (parts, warm) = with_hulls(made, robot, chain), made(robot, chain)
        begins = starts((hulls, parts), chain, options.count)
        runs = [step_times((hulls, parts), chain, begins) for _ in range(options.runs)]
        times = 1e6 * np.min(runs, axis=0)
        mean, worst = times.mean(axis=1), np.percentile(times, 99.0, axis=1)
        whole = 1e6 * whole_step_times(chain, begins[0][0], options.targets)
        median, late = np.median(whole, axis=1), np.percentile(whole, 99.0, axis=1)
        print(f'{name:8} {len(hulls.distances)}, {len(parts.distances)}  {slow:.2f}, {warm:.2f}  '
              f'{mean[0]:.1f}, {mean[1]:.1f} ({mean[1] / mean[0]:.2f})  '
              f'{worst[0]:.0f}, {worst[1]:.0f} ({worst[1] / worst[0]:.2f})  '
              f'{median[0]:.0f}, {median[1]:.0f} ({median[1] / median[0]:.2f})  '
              f'{late[0]:.0f}, {late[1]:.0f} ({late[1] / late[0]:.2f})',
              flush=True)  # fmt: skip


if __name__ == '__main__':
    main()
