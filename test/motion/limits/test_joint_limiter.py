"""
The last stage of a motion: whatever velocity is wanted, the joints can follow the commands.

Speeds and accelerations are differences of commands, and ways to rest are v^2 / 2a.

"""

from dataclasses import replace
import functools
import itertools

from command_judge import accelerations, velocities
from fabrik_ros import load_urdf
from fabrik_ros.kernels._jit import COMPILED
from fabrik_ros.motion.limits.joint_limiter import JointLimiter
from fabrik_ros.motion.limits.limits import MotionLimits
from helpers import assert_close, Segment, serial_xml
from hypothesis import given, settings, strategies as st
import numpy as np
import pytest

EXAMPLES = 100 if COMPILED else 5
DT = 0.01
LOWER, UPPER = np.array([-0.3, -2.0, -np.inf]), np.array([0.2, 1.0, np.inf])
FASTEST, HARDEST = np.array([0.4, 1.2, 1.5]), np.array([2.0, 5.0, 8.0])
LIMITS = MotionLimits(0.25, 1.0, 1.0, FASTEST, HARDEST)
ROUNDING = 1e-6
TICK = 2.5e-6
"""Times of trajectories are whole microseconds [s]."""


@functools.cache
def chain():
    """Build a slide, a hinge and a joint without limits."""
    turning = Segment(lower=LOWER[1], upper=UPPER[1]), Segment('continuous', xyz=(0.3, 0.0, 0.0))
    segments = [Segment('prismatic', lower=LOWER[0], upper=UPPER[0]), *turning]
    return load_urdf(serial_xml(segments)).chain('l0', 'l3')


class Steps:
    """A limiter, and the commands that it made."""

    def __init__(self, start=(0.0, 0.0, 0.0), limits=LIMITS, guard=None):
        self.limiter = JointLimiter(chain(), limits, guard)
        self.limiter.reset(np.array(start))
        self.times, self.q = [0.0], [self.limiter.command[0]]

    @property
    def velocity(self):
        return self.limiter.command[1]

    def go(self, *wanted, dt=DT):
        """Want one velocity after the other."""
        for velocity in wanted:
            self.limiter.begin_step(dt)
            assert self.limiter.go(np.broadcast_to(velocity, 3).astype(float), dt)
            self.note(dt)

    def brake(self):
        """Brake to rest; return the commands, the one from which it braked first."""
        begin = len(self.q) - 1
        while self.limiter.is_moving:
            self.limiter.begin_step(DT)
            self.limiter.brake(DT)
            self.note(DT)
        return np.array(self.q[begin:])

    def note(self, dt):
        self.times.append(self.times[-1] + dt)
        self.q.append(self.limiter.command[0])

    def check(self, acceleration=HARDEST):
        """Check the commands, before which the arm stood still for a step like the first."""
        times, q = np.array(self.times), np.array(self.q)
        times, q = np.append(2.0 * times[0] - times[1], times), np.vstack([q[:1], q])
        assert np.all((q >= LOWER) & (q <= UPPER))
        assert np.all(np.abs(velocities(times, q)) <= FASTEST + ROUNDING)
        worst = np.abs(accelerations(times, q)) / acceleration
        assert worst.max() <= 1.0 + ROUNDING


wanted = st.lists(st.floats(-5.0, 5.0), min_size=3, max_size=3).map(np.array)
held = st.tuples(wanted, st.integers(1, 40))
"""A velocity that is wanted for so many steps."""
plans = st.lists(held, min_size=1, max_size=6)
lengths = st.lists(st.sampled_from([0.0005, 0.003, DT, DT, 0.014, 0.05]), min_size=1, max_size=20)
configurations = st.tuples(
    *(st.floats(low, up) for low, up in ((-0.3, 0.2), (-2.0, 1.0), (-9, 9)))
)


def unrolled(plan):
    return [velocity for velocity, count in plan for _ in range(count)]


def moving(plan, start=(0.0, 0.0, 0.0)):
    """Make a limiter somewhere in a motion."""
    steps = Steps(start)
    steps.go(*unrolled(plan))
    return steps


class TestWhateverIsWanted:
    @given(plans, lengths, configurations)
    @settings(max_examples=EXAMPLES)
    def test_commands_keep_all_limits_in_steps_of_any_length(self, plan, steps_in_turn, start):
        steps, dt = Steps(start), itertools.cycle(steps_in_turn)
        for velocity in unrolled(plan):
            steps.go(velocity, dt=next(dt))
        steps.check()

    @given(plans, st.integers(0, 30), configurations)
    @settings(max_examples=EXAMPLES)
    def test_arm_can_stop_at_any_time_within_all_limits(self, plan, more, start):
        steps = moving(plan, start)
        steps.go(*[np.sign(steps.velocity) * 9.0] * more)
        steps.brake()
        steps.check()

    @given(wanted)
    @settings(max_examples=EXAMPLES)
    def test_velocity_that_can_be_had_is_had_as_soon_as_possible(self, velocity):
        steps, reached = Steps(), np.clip(velocity, -FASTEST, FASTEST)
        reached *= [0.05, 0.5, 1.0]  # far from the limits of the first two
        needed = np.abs(reached) / HARDEST
        for i in range(1, 30):
            steps.go(reached)
            assert_close(
                steps.velocity, reached * np.minimum(1.0, i * DT / np.maximum(needed, 1e-9))
            )

    @pytest.mark.parametrize(('sign', 'ends'), [(1.0, UPPER), (-1.0, LOWER)])
    def test_joint_that_is_driven_into_a_limit_rests_there(self, sign, ends):
        steps = Steps()
        steps.go(*[sign * FASTEST] * 400)
        assert_close(steps.q[-1][:2], ends[:2], 1e-6)
        assert np.abs(steps.velocity[:2]).max() < 1e-4
        assert_close(steps.velocity[2], sign * FASTEST[2])
        steps.check()

    @given(st.floats(0.0, 0.1), st.floats(0.0, 0.1), plans)
    @settings(max_examples=EXAMPLES)
    def test_joint_outside_its_limit_comes_in_and_goes_out_no_farther(self, over, under, plan):
        steps = moving(plan, (UPPER[0] + over, LOWER[1] - under, 0.0))
        q = np.array(steps.q)[:, :2]
        outside = np.maximum(0.0, np.maximum(q - UPPER[:2], LOWER[:2] - q))
        assert np.all(np.diff(outside, axis=0) <= 1e-12)
        assert np.all(np.abs(velocities(np.array(steps.times), q)) <= FASTEST[:2] + ROUNDING)

    @given(plans)
    @settings(max_examples=EXAMPLES)
    def test_joints_that_brake_far_from_limits_keep_their_direction(self, plan):
        steps = moving([(0.1 * velocity * [0.1, 1.0, 9.0], 10) for velocity, _ in plan])
        velocity = steps.velocity
        speed = np.linalg.norm(velocity)
        done = np.diff(steps.brake(), axis=0)
        along = done @ velocity / max(speed**2, 1e-12)
        assert_close(done, np.outer(along, velocity))
        assert np.all(along >= -1e-12)


class TestTrajectoryToRest:
    @given(plans, configurations)
    @settings(max_examples=EXAMPLES)
    def test_it_ends_at_rest_in_time_and_inside_the_limits(self, plan, start):
        steps = moving(plan, start)
        stop = steps.limiter.stop_trajectory()
        assert not np.any(stop.velocity[-1])
        assert np.all((stop.q >= LOWER - 1e-12) & (stop.q <= UPPER + 1e-12))
        needed = np.max(np.abs(steps.velocity) / HARDEST)
        assert stop.times[-1] <= needed + DT + TICK
        assert stop.times[-1] <= steps.limiter.longest_stop + DT + TICK
        changes = np.abs(np.diff(stop.velocity, axis=0))
        assert np.all(changes <= HARDEST * (np.diff(stop.times)[:, None] + TICK))

    @given(plans, configurations, st.integers(1, 30))
    @settings(max_examples=EXAMPLES)
    def test_commands_that_follow_it_tell_the_rest_of_the_same_way(self, plan, start, count):
        steps, again = moving(plan, start), moving(plan, start)
        stop = steps.limiter.stop_trajectory()
        steps.limiter.follow_stop(count * DT, DT)
        for _ in range(count):
            again.limiter.follow_stop(DT, DT)
        # A joint that comes to rest within the last step is told the mean speed of that.
        ends = stop.at(count * DT)[1] == 0.0
        mean = np.where(ends, np.abs(stop.at((count - 1) * DT)[1]), 0.0)
        for limiter in (steps.limiter, again.limiter):
            rest = limiter.stop_trajectory()
            for time in np.linspace(0.0, 0.5, 23):
                q, velocity = stop.at(count * DT + time)
                assert_close(rest.at(time)[0], q, 1e-5)
                assert np.all(np.abs(rest.at(time)[1] - velocity) <= 1e-3 + mean)

    @given(plans, configurations)
    @settings(max_examples=EXAMPLES)
    def test_commands_that_follow_it_keep_all_limits_and_come_to_rest_at_its_end(
        self, plan, start
    ):
        steps = moving(plan, start)
        end = steps.limiter.stop_trajectory().q[-1]
        while steps.limiter.is_moving:
            steps.limiter.follow_stop(DT, DT)
            steps.note(DT)
        assert_close(steps.q[-1], end, 1e-5)
        times, q = np.array(steps.times), np.array(steps.q)
        assert np.all((q >= LOWER - 1e-12) & (q <= UPPER + 1e-12))
        assert np.all(np.abs(velocities(times, q)) <= FASTEST + 1e-3)


class TestCheckpoint:
    @given(plans, plans, plans, st.integers(0, 30))
    @settings(max_examples=EXAMPLES)
    def test_steps_that_are_taken_back_leave_no_trace(self, before, taken_back, after, followed):
        steps, untouched = moving(before), moving(before)
        for each in (steps, untouched):
            if followed:
                each.limiter.follow_stop(followed * DT, DT)
        checkpoint = steps.limiter.checkpoint()
        steps.go(*unrolled(taken_back), dt=0.7 * DT)
        steps.limiter.restore(checkpoint)
        stop, expected = (each.limiter.stop_trajectory() for each in (steps, untouched))
        assert all(map(np.array_equal, stop, expected))
        for each in (steps, untouched):
            each.go(*unrolled(after))
        count = len(unrolled(after))
        assert np.array_equal(steps.q[-count:], untouched.q[-count:])


class TestOtherLimits:
    GENTLE = replace(LIMITS, joint_acceleration=0.25 * HARDEST)

    def test_lower_acceleration_counts_from_rest_on(self):
        """Until then the way to rest is v^2 / 2a, less half a step, of the former one."""
        steps = Steps()
        steps.go(*[[0.0, 0.0, 1.2]] * 20)
        steps.limiter.change_limits(self.GENTLE)
        assert not steps.limiter.take_up_limits()
        q = steps.brake()
        assert_close(q[-1, 2] - q[0, 2], 1.2**2 / (2.0 * HARDEST[2]) - 0.6 * DT)
        assert steps.limiter.take_up_limits()
        assert not steps.limiter.take_up_limits()
        steps.go([0.0, 0.0, 1.0])
        assert_close(steps.velocity[2], 0.25 * HARDEST[2] * DT)

    @given(plans, plans)
    @settings(max_examples=EXAMPLES)
    def test_lower_acceleration_keeps_no_arm_from_stopping_at_its_limits(self, before, after):
        steps = moving(before)
        steps.limiter.change_limits(self.GENTLE)
        steps.go(*unrolled(after))
        steps.brake()
        steps.check()
        steps.limiter.take_up_limits()
        steps.times, steps.q = steps.times[-1:], steps.q[-1:]
        steps.go(*unrolled(after))
        steps.check(0.25 * HARDEST)

    def test_lower_speed_is_come_to_with_the_acceleration_that_is_allowed(self):
        steps = Steps()
        steps.go(*[[0.0, 0.0, 1.5]] * 30)
        steps.limiter.change_limits(replace(LIMITS, joint_velocity=FASTEST / 3.0))
        speeds = []
        for _ in range(20):
            steps.go([0.0, 0.0, 1.5])
            speeds.append(steps.velocity[2])
        assert_close(speeds, np.maximum(0.5, 1.5 - HARDEST[2] * DT * np.arange(1, 21)))

    @pytest.mark.parametrize('waits', [False, True])
    def test_pace_that_changes_on_the_way_leaves_limits_that_wait_for_rest(self, waits):
        steps = Steps()
        steps.go(*[[0.0, 0.0, 1.2]] * 20)
        if waits:
            steps.limiter.change_limits(self.GENTLE)
        steps.limiter.scale_speed(0.5)
        q = steps.brake()
        assert_close(q[-1, 2] - q[0, 2], 1.2**2 / (2.0 * HARDEST[2]) - 0.6 * DT)
        assert steps.limiter.take_up_limits() == waits
        assert steps.limiter.joints.limits.speed_scaling == 0.5


class Refusing:
    """A guard that allows nothing."""

    refusal = 'l1 and l3'

    def allows(self, *_):
        return False

    def reset(self, q):
        pass


class Way:
    """A way to rest that the guard is not asked about."""

    def __init__(self, is_free):
        self.is_free = lambda *_: is_free


class TestGuard:
    def test_step_is_not_taken_unless_it_or_a_way_to_rest_is_allowed(self):
        limiter = Steps(guard=Refusing()).limiter
        limiter.begin_step(DT)
        assert not limiter.go(FASTEST, DT)
        assert limiter.refusal == 'l1 and l3'
        assert not limiter.is_moving
        assert not limiter.go(FASTEST, DT, on_path=lambda *_: Way(is_free=False))
        assert limiter.go(FASTEST, DT, on_path=lambda *_: Way(is_free=True))
        assert_close(limiter.command[1], HARDEST * DT)
