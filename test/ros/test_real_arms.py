"""
The node with real arms, given over the topic, judged by pinocchio on the messages on the wire.

The whole robot is simulated and reports all its joints, the foreign ones too. Half of the
targets are approached on straight lines, half straight in joint space.

"""

import pytest

pytest.importorskip('rclpy', reason='ROS 2 is not installed')
pytest.importorskip('pinocchio', reason='pinocchio is the judge')

from bench import Bench, matrix_message, values_at
from command_judge import accelerations, velocities
from fabrik_ros.kernels._jit import COMPILED
from helpers import example_robot, REAL_ARMS
from judging import Judge
import numpy as np

# Interpreted kernels take their time: fewer targets, and slower commands.
TARGETS = 20 if COMPILED else 6
FEW_TARGETS = 6
COMMAND_RATE = 200.0 if COMPILED else 20.0
POSITION, ORIENTATION = 1e-4, 1e-3
"""What counts as reached [m], [rad]."""
MODES = {name: 'position' if arm.joints < 6 else 'pose' for name, arm in REAL_ARMS.items()}
FASTEST, HARDEST = 3.0, 20.0
SOFT_LIMITS = {'pr2': 0.2, 'tiago': 0.07}
"""By how much a safety_controller narrows the limits, rounded up [rad]."""
FURTHEST = 0.8
"""How far each joint may be from one target to the next [rad]."""
LONGEST = 0.5
"""Time in which each joint could get there at full speed [s]."""
SPEEDS = {
    'command_rate': COMMAND_RATE,
    'max_tip_speed': 2.0,
    'max_tip_rotation': 6.0,
    'max_tip_acceleration': 20.0,
    'max_joint_velocity': FASTEST,
    'max_joint_acceleration': HARDEST,
    # Each target is sent as soon as the one before is reached, and is no stream.
    'stream_timeout': 0.05,
    # At such speeds a short pause of a busy machine is a long way for the simulated arm.
    'state_timeout': 5.0,
    'resync_tolerance': 1.0,
}


class Tour:
    """Targets that the arm can reach, none far from the one before."""

    def __init__(self, judge: Judge, start: np.ndarray, margin: float) -> None:
        self._judge = judge
        self._rng = np.random.default_rng(7)
        self._q = start
        self._lower = np.maximum(judge.lower + margin, -np.pi)
        self._upper = np.minimum(judge.upper - margin, np.pi)
        self._step = np.minimum(FURTHEST, LONGEST * judge.velocity)

    def next(self) -> np.ndarray:
        step = self._rng.uniform(-self._step, self._step)
        self._q = np.clip(self._q + step, self._lower, self._upper)
        return self._judge.pose(self._q)


def start_of(judge: Judge) -> np.ndarray:
    """Inside the limits, the narrower ones of a safety_controller too."""
    return judge.random_configuration(np.random.default_rng(3), margin=0.25)


def is_reached(bench: Bench, judge: Judge, target: np.ndarray, mode: str) -> bool:
    if not bench.commands.messages:
        return False
    position, orientation = judge.errors(target, bench.commands.messages[-1].position)
    return position <= POSITION and (mode == 'position' or orientation <= ORIENTATION)


@pytest.mark.long
@pytest.mark.parametrize(
    ('name', 'targets'),
    [
        ('panda', FEW_TARGETS),
        *((name, TARGETS) for name in REAL_ARMS),
    ],
)
def test_real_arm_reaches_its_targets(bench, name, targets):
    arm, urdf = REAL_ARMS[name], example_robot(name).read_text()
    base_link = arm.base_link or 'base'
    judge = Judge(urdf, base_link, arm.tip_link)
    mode, start = MODES[name], start_of(judge)
    bench.start_all(
        urdf,
        values_at(judge.joint_names, start),
        base_link=arm.base_link,
        tip_link=arm.tip_link,
        mode=mode,
        # Random configurations may lie in the robot itself.
        self_collision='never',
        **SPEEDS,
    )
    tour = Tour(judge, start, SOFT_LIMITS.get(name, 0.0))
    for i in range(targets):
        if i == targets // 2:
            assert bench.set(path='joint') == []
        target = tour.next()
        bench.send(matrix_message(target, base_link))
        bench.spin_until(
            lambda target=target: is_reached(bench, judge, target, mode), f'target {i} reached'
        )
    assert int(bench.status['refused']) == 0
    check_commands(bench, judge)


def check_commands(bench: Bench, judge: Judge) -> None:
    assert bench.commands.names == {judge.joint_names}
    assert np.all(bench.commands.q >= judge.lower - 1e-9)
    assert np.all(bench.commands.q <= judge.upper + 1e-9)
    fastest = np.minimum(judge.velocity, FASTEST)
    for times, q in bench.commands.runs(COMMAND_RATE):
        assert np.all(np.abs(velocities(times, q)) <= fastest * (1.0 + 1e-6))
        assert np.all(np.abs(accelerations(times, q)) <= HARDEST * (1.0 + 1e-3))
