"""Where a gripper is sent, and what is said of it: laws, with fingers that lag, and parts."""

from fabrik_ros import load_urdf
from fabrik_ros.errors import RefusedError
from fabrik_ros.gripper.drive import GripperDrive, GripState
from fabrik_ros.gripper.gripper import find_gripper
from fabrik_ros.gripper.ramp import Ramp
from fabrik_ros.reasons import Reason, ReasonKind
from gripper_arm import gripper_arm, STROKE
from hypothesis import given, strategies as st
import numpy as np
import pytest

DT, SPEED, ACCELERATION = 0.01, 0.1, 2.0
HELD = Reason(ReasonKind.HELD, 'told to hold')
ROUNDING = 1e-9


def walk(ramp, steps, share=1.0):
    """Values of so many steps, from where the ramp is, shape (m,)."""
    values = [ramp.value]
    for _ in range(steps):
        ramp.step(DT, share)
        values.append(ramp.value)
    return np.array(values)


@given(
    start=st.floats(0.0, STROKE),
    goals=st.lists(
        st.tuples(
            st.one_of(st.floats(0.0, STROKE), st.none()), st.integers(1, 80), st.floats(0.0, 1.0)
        ),
        min_size=1,
    ),
)
def test_ramp_keeps_its_limits_and_arrives(start, goals):
    ramp, values = Ramp(start), []
    for goal, steps, share in goals:
        if goal is None:
            ramp.stop()
        else:
            ramp.go_to(goal, SPEED, ACCELERATION)
        values.extend(walk(ramp, steps, share)[1:])
    values.extend(walk(ramp, 300)[1:])
    values = np.array([start, start, *values])
    velocities = np.diff(values) / DT
    assert np.abs(velocities).max() <= SPEED + ROUNDING
    assert np.abs(np.diff(velocities) / DT).max() <= ACCELERATION * (1.0 + 1e-6)
    assert ramp.is_at_rest
    assert -ROUNDING <= values.min() <= values.max() <= STROKE + ROUNDING
    last = goals[-1][0]
    if last is not None:
        assert ramp.value == last


@given(st.floats(0.0, STROKE), st.floats(0.0, STROKE))
def test_ramp_takes_no_longer_than_a_trapezoid(start, goal):
    ramp = Ramp(start)
    ramp.go_to(goal, SPEED, ACCELERATION)
    steps = 0
    while not ramp.is_at_rest:
        ramp.step(DT)
        steps += 1
    way, least = abs(goal - start), SPEED**2 / ACCELERATION
    time = way / SPEED + SPEED / ACCELERATION if way > least else 2 * (way / ACCELERATION) ** 0.5
    assert steps * DT <= time + 6 * DT


class Fingers:
    """Fingers that lag behind their commands, with a part between them or a stop outside."""

    def __init__(self, value, lag=0.03, part=0.0, stop=2 * STROKE):
        self.value, self.lag, self.part, self.stop = value, lag, part, stop
        self.drive = GripperDrive(find_gripper(load_urdf(gripper_arm())))
        self.now, self.commands = 0.0, []
        self.drive.look(value, 0.0)

    def go_to(self, width):
        self.drive.go_to(width, SPEED, ACCELERATION)
        assert abs(2 * self.drive.command[0] - 2 * self.value) < 1e-3 or self.is_pressing

    @property
    def is_pressing(self):
        return self.drive.command[0] < self.value

    def run(self, duration, measured=True, every=1):
        """Go on for a time [s]; one measurement in so many steps comes, where there are any."""
        for step in range(round(duration / DT)):
            self.now += DT
            if self.drive.step(DT, self.now):
                self.commands.append(self.drive.command[0])
            if self.drive.command is not None:
                self.value += (self.drive.command[0] - self.value) * DT / self.lag
            self.value = min(max(self.value, 0.5 * self.part), 0.5 * self.stop)
            if step % every == 0:
                self.drive.look(self.value if measured else None, self.now)
        return self.drive.state(self.now)


def test_fingers_reach_a_width():
    fingers = Fingers(0.0)
    assert fingers.drive.state(0.0) is GripState.IDLE
    fingers.go_to(0.05)
    assert fingers.run(0.1) is GripState.MOVING
    assert fingers.run(1.5) is GripState.REACHED
    assert fingers.drive.width == pytest.approx(0.05, abs=1e-3)


@given(st.floats(0.002, 0.06))
def test_part_between_the_fingers_is_grasped_and_released(part):
    fingers = Fingers(STROKE, part=part)
    fingers.go_to(0.0)
    assert fingers.run(2.0) is GripState.GRASPED
    assert fingers.drive.width == pytest.approx(part)
    fingers.go_to(0.0)
    assert fingers.run(0.5) is GripState.GRASPED
    assert min(fingers.commands[-1:]) == 0.0
    fingers.part = 0.0
    assert fingers.run(1.0) is GripState.REACHED  # it fell out
    fingers.go_to(2 * STROKE)
    assert fingers.run(2.0) is GripState.REACHED


def test_closing_again_does_not_let_go():
    fingers = Fingers(STROKE, part=0.03)
    fingers.go_to(0.01)
    fingers.run(2.0)
    del fingers.commands[:]
    fingers.go_to(0.0)
    fingers.run(1.0)
    assert max(fingers.commands) <= 0.005


def test_opening_lets_go_at_once():
    fingers = Fingers(STROKE, part=0.03)
    fingers.go_to(0.0)
    fingers.run(2.0)
    del fingers.commands[:]
    fingers.go_to(0.08)
    fingers.run(0.05)
    assert min(fingers.commands) >= 0.015 - 1e-6


def test_what_cannot_open_is_blocked():
    fingers = Fingers(0.0, stop=0.04)
    fingers.go_to(0.08)
    assert fingers.run(2.0) is GripState.BLOCKED
    assert fingers.drive.reason(fingers.now).text == (
        'the fingers stand still at 0.04 m, not opening on'
    )


@given(st.integers(1, 60), st.floats(0.0, 0.06))
def test_hold_never_opens(steps, part):
    fingers = Fingers(STROKE, part=part)
    fingers.go_to(0.0)
    fingers.run(steps * DT)
    before = fingers.drive.command[0]
    fingers.drive.hold(HELD)
    fingers.run(1.0)
    assert all(command <= before for command in fingers.commands[steps:])
    assert fingers.commands[-1] >= before - SPEED**2 / (2 * ACCELERATION) - SPEED * DT


@given(
    moved_to=st.floats(0.0, 0.005) | st.floats(0.03, STROKE),
    goal=st.floats(0.0, STROKE),
    rest=st.floats(0.0, 1.0),
)
def test_fingers_that_somebody_moved_do_not_leap(moved_to, goal, rest):
    """However soon after they were stopped that was."""
    fingers = Fingers(0.01)
    fingers.go_to(0.04)
    while fingers.drive.is_under_way:
        fingers.run(DT)
    fingers.run(rest)
    fingers.value = moved_to
    fingers.drive.look(moved_to, fingers.now)
    fingers.go_to(2 * goal)
    assert fingers.drive.command[0] == moved_to


def test_blind_fingers_set_out_from_what_was_known_of_them_last():
    """Measured behind the commands, that counts; commanded behind it, the command does."""
    fingers = Fingers(0.01)
    fingers.go_to(0.04)
    fingers.run(2.0)
    fingers.drive.look(STROKE, fingers.now)
    fingers.drive.look(None, fingers.now)
    fingers.drive.go_to(0.0, SPEED, ACCELERATION, assumed=0.0)
    assert fingers.drive.command[0] == STROKE
    fingers.run(2.0, measured=False)
    fingers.drive.go_to(0.05, SPEED, ACCELERATION, assumed=0.0)
    assert fingers.drive.command[0] == 0.0


@given(start=st.floats(0.0, STROKE), goal=st.floats(0.0, STROKE), noise=st.floats(0.0, 4e-5))
def test_fingers_that_have_not_moved_have_grasped_nothing(start, goal, noise):
    """As those without power; noise is far less than what counts as still."""
    drive = GripperDrive(find_gripper(load_urdf(gripper_arm())))
    drive.look(start, 0.0)
    drive.go_to(2 * goal, SPEED, ACCELERATION)
    for step in range(150):
        drive.step(DT, step * DT)
        drive.look(start + noise * (-1) ** step, step * DT)
    if abs(2 * (goal - start)) > 1.5e-3:
        assert drive.state(1.5) is GripState.BLOCKED
        assert 'have not moved' in drive.reason(1.5).text


@given(st.floats(0.0, 1.5))
def test_closing_again_at_any_time_has_grasped_what_is_between(when):
    fingers = Fingers(STROKE, part=0.03)
    fingers.go_to(0.0)
    fingers.run(when)
    fingers.drive.go_to(0.0, SPEED, ACCELERATION)
    assert fingers.run(2.0) is GripState.GRASPED
    assert fingers.drive.reason(fingers.now) is None


def test_hold_says_why_and_whether_something_is_held():
    fingers = Fingers(0.0)
    fingers.go_to(0.08)
    fingers.run(0.3)
    fingers.drive.hold(HELD)
    assert fingers.run(1.0) is GripState.STOPPED
    assert fingers.drive.reason(fingers.now) is HELD
    fingers = Fingers(STROKE, part=0.04)
    fingers.go_to(0.0)
    fingers.run(0.38)
    fingers.drive.hold(HELD)
    assert fingers.run(1.0) is GripState.GRASPED
    assert fingers.drive.reason(fingers.now) is HELD
    fingers.go_to(0.08)
    assert fingers.run(2.0) is GripState.REACHED
    assert fingers.drive.reason(fingers.now) is None


def test_fingers_that_nobody_measures_are_not_moved():
    drive = GripperDrive(find_gripper(load_urdf(gripper_arm())))
    with pytest.raises(RefusedError, match="'left_finger_joint' is not measured"):
        drive.go_to(0.02, SPEED, ACCELERATION)
    assert drive.command is None


def test_fingers_that_are_lost_are_not_sent_on_while_they_brake():
    fingers = Fingers(0.0)
    fingers.go_to(0.05)
    fingers.run(0.2)
    fingers.drive.look(None, fingers.now)
    fingers.drive.hold(HELD)
    with pytest.raises(RefusedError, match="'left_finger_joint' is not measured"):
        fingers.drive.go_to(0.08, SPEED, ACCELERATION)


def test_fingers_that_are_measured_no_more_are_not_said_to_be_there():
    fingers = Fingers(0.0)
    fingers.go_to(0.05)
    assert fingers.run(3.0, measured=False) is GripState.UNMEASURED


@given(st.integers(1, 45), st.floats(0.03, 0.4))
def test_fingers_that_are_seldom_measured_do_not_stand_still(every, lag):
    """However late measurements and fingers are: what moves is not blocked, nor has it grasped."""
    fingers = Fingers(0.0, lag=lag)
    fingers.go_to(0.08)
    for _ in range(100):
        state = fingers.run(0.05, every=every)
        is_far = abs(fingers.value - STROKE) > 5e-3
        assert not (is_far and state in (GripState.BLOCKED, GripState.GRASPED))
    assert fingers.run(3.0, every=every) is GripState.REACHED


def test_measurements_that_are_lost_leave_the_fingers_where_they_are():
    """Somebody may have moved them meanwhile: where commands ended is no start."""
    fingers = Fingers(0.0)
    fingers.go_to(0.05)
    fingers.run(3.0)
    fingers.drive.look(None, fingers.now)
    with pytest.raises(RefusedError, match="'left_finger_joint' is not measured"):
        fingers.drive.go_to(0.0, SPEED, ACCELERATION)
    fingers.drive.go_to(0.0, SPEED, ACCELERATION, assumed=STROKE)
    assert fingers.drive.command[0] == 0.025


def test_fingers_that_were_lost_as_they_opened_do_not_leap():
    """Nothing is held by fingers that open: they set out from where they are found."""
    fingers = Fingers(0.0)
    fingers.go_to(2 * STROKE)
    fingers.run(0.1)
    fingers.run(2.0, measured=False)
    for _ in range(3):
        fingers.now += DT
        fingers.drive.look(0.01, fingers.now)
    fingers.drive.go_to(2 * STROKE, SPEED, ACCELERATION)
    assert fingers.drive.command[0] == 0.01


def test_hold_presses_on_where_the_same_width_was_just_asked_for_again():
    fingers = Fingers(STROKE, part=0.03)
    fingers.go_to(0.0)
    fingers.run(2.0)
    del fingers.commands[:]
    fingers.go_to(0.0)
    fingers.drive.hold(HELD)
    fingers.run(0.5)
    assert max(fingers.commands) == 0.0


def test_fingers_stay_where_they_are_said_to_be_when_the_clock_is_set_back():
    fingers = Fingers(STROKE, part=0.03)
    fingers.go_to(0.0)
    fingers.run(2.0)
    fingers.now = 0.0
    assert fingers.run(0.5) is GripState.GRASPED


@given(st.floats(2.0, 8.0), st.floats(0.005, 0.02))
def test_slow_fingers_that_are_seldom_measured_grasp_nothing(rate, speed):
    """They move on between two measurements after the commands have ended."""
    drive = GripperDrive(find_gripper(load_urdf(gripper_arm())))
    drive.look(STROKE, 0.0)
    drive.go_to(0.0, 1.0, 10.0)
    value, now, measured, measured_at, states = STROKE, 0.0, STROKE, 0.0, set()
    while value > 0.0:
        now += DT
        drive.step(DT, now)
        value = max(0.0, value - speed * DT)
        if now - measured_at >= 1.0 / rate:
            measured, measured_at = value, now
        drive.look(measured, now, measured_at)
        states.add(drive.state(now))
    assert states <= {GripState.MOVING, GripState.REACHED}
