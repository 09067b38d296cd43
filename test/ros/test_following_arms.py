"""
The simulated arms with physics after a moving target, over the wire, judged from outside.

The clock is that of the simulation, at the speed of real time: on a busy machine it goes slower
instead of leaving anything out. A target leaves with every joint state.

Parameters are the defaults. The corners of the square, rounded as sharply as the acceleration of
the tip allows, make up most of what the tip is off.

"""

from dataclasses import dataclass
import math

from helpers import mostly_long
import numpy as np
import pytest

pytest.importorskip('rclpy', reason='ROS 2 is not installed')
pytest.importorskip('pinocchio', reason='pinocchio is the judge')
pytest.importorskip('mujoco', reason='the extra `sim`: pip install mujoco')
pytest.importorskip('xacro')

from bench import Bench, PREPARATION, shifted, stamp_seconds, values_at
from command_judge import accelerations, velocities
from fabrik_ros import example_arm, load_urdf
from fabrik_ros.sim.physical_arm import PhysicalArmNode
from judging import Judge
import rclpy

STARTS = {
    'six_axis': (0.0, -1.3, 1.6, -1.9, -1.57, 0.0),
    'seven_axis': (0.0, -0.5, 0.0, -2.3, 0.0, 1.8, 0.785),
}
SPEED, RADIUS, SIDE = 0.25, 0.15, 0.2
FASTEST, HARDEST = 1.5, 5.0
CLOSE = 0.005
"""RMS distance that is allowed once the lag is taken out [m]."""
RUN_UP = 1.0
LAGS = np.arange(0.0, 0.6, 0.002)
QUIET = 1e-6


def circle(way):
    """Offset (3,) after some way along an upright circle [m]."""
    angle = way / RADIUS
    return np.array([0.0, RADIUS * math.sin(angle), RADIUS * (1.0 - math.cos(angle))])


def square(way):
    """Offset (3,) after some way along an upright square [m]."""
    corners = SIDE * np.array([[0, 0], [1, 0], [1, 1], [0, 1], [0, 0]])
    edge, along = divmod(max(0.0, way) % (4.0 * SIDE), SIDE)
    y, z = corners[int(edge)] + (corners[int(edge) + 1] - corners[int(edge)]) * along / SIDE
    return np.array([0.0, y, z])


PATHS = {'circle': (circle, 0.5), 'square': (square, 4.0 * SIDE)}
"""With how much of each is judged after the run-up [m]: all corners once."""


@dataclass
class Run:
    """One arm on one path: what was recorded, in seconds since the first target."""

    judge: Judge
    path: object
    duration: float
    start: np.ndarray
    times: np.ndarray
    q: np.ndarray
    """Commands."""
    stated: np.ndarray
    states: list
    resting: np.ndarray
    """Commands after the report that the end is reached."""

    def points(self, values):
        return np.array([self.judge.pose(q)[:3, 3] for q in values]) - self.start[:3, 3]

    def distances(self, times, points, lag):
        """From points to where the target was `lag` before."""
        ways = np.clip(times - lag, 0.0, self.duration) * SPEED
        return np.linalg.norm(points - [self.path(way) for way in ways], axis=1)

    def best_lag(self, times, values):
        """Lag with the least RMS distance after the run-up, and that distance."""
        on_path = (times >= RUN_UP) & (times <= self.duration)
        times, points = times[on_path], self.points(values[on_path])
        rms = [math.sqrt(np.mean(self.distances(times, points, lag) ** 2)) for lag in LAGS]
        return LAGS[np.argmin(rms)], min(rms)


@pytest.fixture(scope='class', params=mostly_long(STARTS, 'six_axis'))
def arm(request, domain_id):
    """Node and arm in the time of the simulation, up to where a target would be accepted."""
    yield from started(request.param, domain_id)


def started(name, domain_id, **parameters):
    context = rclpy.Context()
    rclpy.init(context=context, domain_id=domain_id)
    bench = Bench(context)
    urdf = load_urdf(example_arm(name)).source
    bench.judge = Judge(urdf, 'base_link', 'tool0')
    bench.start = bench.judge.pose(STARTS[name])
    bench.start_node(tip_link='tool0', use_sim_time=True)
    start = values_at(bench.judge.joint_names, STARTS[name])
    bench.add(
        PhysicalArmNode,
        {
            'start_names': list(start),
            'start_values': list(start.values()),
            'publish_clock': True,
            **parameters,
        },
        cli_args=['--ros-args', '-r', 'joint_command:=fabrik/joint_command'],
    )
    bench.describe(urdf)
    bench.wait_for_state('IDLE', PREPARATION)
    yield bench
    bench.close()
    rclpy.try_shutdown(context=context)


def time_of(bench):
    return stamp_seconds(bench.states[-1].header.stamp)


def wait_for_next_state(bench):
    seen = len(bench.states)
    bench.spin_until(lambda: len(bench.states) > seen, 'a joint state')


def follow(bench, name):
    """Follow a path from where it begins, and rest at its end."""
    path, length = PATHS[name]
    duration = RUN_UP + length / SPEED
    bench.send(bench.start)
    bench.wait_for_state('REACHED')
    bench.wait_until_silent(3)
    commands, states = len(bench.commands), len(bench.states)
    begin = time_of(bench)
    while time_of(bench) - begin < duration:
        wait_for_next_state(bench)
        way = min(time_of(bench) - begin, duration) * SPEED
        bench.send(shifted(bench.start, *path(way)))
    bench.wait_for_state('REACHED')
    at_rest = len(bench.commands)
    bench.wait_until_silent()
    record, told = bench.states[states:], bench.commands.messages
    return Run(
        bench.judge,
        path,
        duration,
        bench.start,
        np.array([stamp_seconds(m.header.stamp) for m in told[commands:]]) - begin,
        np.array([m.position for m in told[commands:]]),
        np.array([stamp_seconds(m.header.stamp) for m in record]) - begin,
        record,
        np.array([m.position for m in told[at_rest:]]),
    )


@pytest.fixture(scope='class', params=mostly_long(PATHS, 'circle'))
def run(arm, request):
    return follow(arm, request.param)


class TestFollowing:
    def test_tip_stays_near_the_path_once_the_lag_is_taken_out(self, run):
        measured = np.array([state.position for state in run.states])
        lag, rms = run.best_lag(run.stated, measured)
        print(f'RMS {1e3 * rms:.2f} mm, {1e3 * lag:.0f} ms behind the target')
        assert rms < CLOSE
        assert lag < 0.3

    def test_commands_keep_to_the_limits(self, run):
        assert np.all((run.judge.lower - 1e-9 <= run.q) & (run.q <= run.judge.upper + 1e-9))
        fastest = np.minimum(run.judge.velocity, FASTEST)
        assert np.all(np.diff(run.times) > 0.0)
        assert np.all(np.abs(velocities(run.times, run.q)) <= fastest * (1.0 + 1e-6))
        assert np.abs(accelerations(run.times, run.q)).max() <= HARDEST * (1.0 + 1e-3)

    def test_arm_keeps_to_the_limits(self, run):
        q = np.array([state.position for state in run.states])
        assert np.all((run.judge.lower - 1e-9 <= q) & (q <= run.judge.upper + 1e-9))
        speeds = np.array([state.velocity for state in run.states])
        assert np.all(np.abs(speeds) <= np.minimum(run.judge.velocity, FASTEST))

    def test_tip_is_never_faster_than_allowed_and_does_not_stop_for_a_new_target(self, run):
        points = run.points(run.q)
        speeds = np.linalg.norm(velocities(run.times, points), axis=1)
        assert speeds.max() <= SPEED * (1.0 + 1e-3)
        on_path = (run.times[1:] > RUN_UP) & (run.times[1:] < run.duration)
        assert speeds[on_path].min() > 0.3 * SPEED

    def test_nothing_oscillates_at_rest(self, run):
        assert len(run.resting) > 10
        assert run.resting.std(axis=0).max() < QUIET
        resting = np.array([state.position for state in run.states[-20:]])
        assert resting.std(axis=0).max() < 10.0 * QUIET


@pytest.fixture(scope='class', params=mostly_long(STARTS, 'six_axis'))
def sagging(request, domain_id):
    """Arm whose drives do not know its weight."""
    yield from started(request.param, domain_id, gravity_compensation=0.0, real_time_factor=3.0)


class TestSagging:
    @pytest.mark.long
    def test_arm_that_sags_does_not_dip_at_a_new_target(self, sagging):
        """Neither from rest nor on the way: targets beside each other, equally high."""

        def heights(states):
            return np.array([sagging.judge.pose(s.position, s.name)[2, 3] for s in states])

        sagging.send(shifted(sagging.start, y=0.05))
        sagging.wait_for_state('REACHED')
        sagging.wait_until_silent()
        standing = heights(sagging.states[-20:]).min()
        assert 1e-4 < sagging.start[2, 3] - standing < 0.02, 'it sags'
        begin = len(sagging.states)
        for y in (0.0, 0.05, 0.0):
            sagging.send(shifted(sagging.start, y=y))
            sagging.wait_for_commands(20)
        sagging.wait_for_state('REACHED')
        sagging.wait_until_silent()
        assert heights(sagging.states[begin:]).min() > standing - 2e-4
