"""What is asked on the page: it stays until the arm is there, or goes elsewhere."""

from dataclasses import replace
import time

from fabrik_ros import example_arm, load_urdf
from fabrik_ros.collision import Obstacle, Scene
from fabrik_ros.model.geometry import Box
from fabrik_ros.planning.planner_setup import PlannerSetup
from fabrik_ros.transforms import rotation_from_rpy, transform
from fabrik_ros.view.asked_target import AskedTarget, away_text, SETTLING_TIME
from fabrik_ros.view.local_source import LocalSource
from fabrik_ros.view.recording import changes, Recording, sample_at, SPAN
from fabrik_ros.view.source import Snapshot
import numpy as np
import pytest

HERE = np.eye(4)
THERE = transform(rotation_from_rpy(0.0, 0.0, 0.5), (0.3, 0.0, 0.0))
LATER = SETTLING_TIME + 0.1
PATIENCE = 30.0
"""[s]"""


def typed() -> AskedTarget:
    """Ask by typing, at time 0; the target is number 7."""
    asked = AskedTarget()
    asked.type(THERE)
    np.testing.assert_array_equal(asked.take(0.0), THERE)
    assert asked.take(0.0) is None
    asked.sent('7', 0.0)
    return asked


OURS = Snapshot(state='HOLDING', goal='7')


@pytest.mark.parametrize(
    ('snapshot', 'stays'),
    [
        (replace(OURS, state='MOVING'), True),
        (replace(OURS, state='HOLDING', reason='out of reach'), True),
        (replace(OURS, state='TOO_FAR'), True),
        (replace(OURS, state='HOLDING', waits_for_execute=True), True),
        (replace(OURS, state='REACHED'), False),
        (replace(OURS, state='CONVERGED'), False),
        (Snapshot(state='IDLE', refusal='too far'), True),
        (Snapshot(state='REACHED', goal='6', refusal='too far'), True),
        (Snapshot(state='MOVING', goal='8'), False),
        (Snapshot(state='MOVING', goal='8', refusal='too far'), False),
        (Snapshot(state='HOLDING'), False),
    ],
)
def test_what_was_asked_stays_while_the_arm_is_short_of_it(snapshot, stays):
    asked = typed()
    asked.see(snapshot, 0.5)
    assert asked.pose is not None, 'the status may be about what was before'
    asked.see(snapshot, LATER)
    assert (asked.pose is not None) == stays


def test_nothing_is_asked_by_a_click_or_after_a_stop():
    asked = AskedTarget()
    asked.grab(HERE)
    asked.let_go(HERE, 0.1)
    assert asked.take(1.0) is None
    asked.grab(HERE)
    asked.drag(THERE, 1.1)
    asked.drop()
    asked.drag(THERE, 1.2)  # the mouse button is still down
    asked.let_go(THERE, 1.3)
    assert asked.take(1.4) is None
    assert asked.pose is None


def test_a_drag_that_is_blocked_is_asked_once_more_after_the_stream_and_typing_is_not():
    blocked = Snapshot(state='HOLDING', goal='7', stream_timeout=1.2)
    for ask in ('drag', 'type'):
        asked = AskedTarget()
        if ask == 'drag':
            asked.grab(HERE)
            asked.let_go(THERE, 0.0)
        else:
            asked.type(THERE)
        sent = []
        for step in range(100):
            now = 0.1 * step
            asked.see(blocked, now)
            if asked.take(now) is not None:
                sent.append(now)
                asked.sent('7', now)
        assert len(sent) == (2 if ask == 'drag' else 1)
        assert sent[-1] - sent[0] > 1.2 or ask == 'type'
        assert asked.pose is not None


def test_distance_is_told_in_numbers_that_one_reads():
    assert away_text(HERE, THERE) == '300 mm and 29\N{DEGREE SIGN} away'
    assert away_text(HERE, transform(np.eye(3), (0.0, 40.0, 9.0))).startswith('41.00 m and 0')


@pytest.mark.long
def test_a_drag_across_a_wall_arrives():
    pytest.importorskip('coal', reason='coal measures the distances')
    robot = load_urdf(example_arm('six_axis'))
    chain = robot.chain()
    wall = Obstacle('wall', Box((0.9, 0.02, 0.35)), transform(np.eye(3), (0.55, 0.0, 0.175)))
    world = PlannerSetup(robot, chain).world(Scene([wall]))
    begin = transform(rotation_from_rpy(np.pi, 0.0, 0.0), (0.5, -0.3, 0.2))
    end = transform(rotation_from_rpy(np.pi, 0.0, 0.0), (0.5, 0.3, 0.2))
    source, asked = LocalSource(robot, chain, world), AskedTarget()

    def run_until(holds):
        limit = time.monotonic() + PATIENCE
        while not holds(source.snapshot()):
            now = time.monotonic()
            assert now < limit, source.snapshot()
            asked.see(source.snapshot(), now)
            if (target := asked.take(now)) is not None:
                asked.sent(source.send_target(target), now)
            time.sleep(0.03)

    try:
        asked.type(begin)
        run_until(lambda snapshot: snapshot.state == 'REACHED')
        asked.grab(begin)
        poses = iter(begin + s * (end - begin) for s in np.linspace(0.0, 1.0, 100))

        def is_dragged_to_the_end(snapshot) -> bool:
            pose = next(poses, None)
            if pose is not None:
                asked.drag(pose, time.monotonic())
            return pose is None

        run_until(is_dragged_to_the_end)
        run_until(lambda snapshot: snapshot.state == 'HOLDING')
        asked.let_go(end, time.monotonic())
        run_until(lambda snapshot: snapshot.state == 'REACHED' and asked.pose is None)

        def is_at_the_end(snapshot) -> bool:
            q = [snapshot.measured[name] for name in chain.joint_names]
            return np.allclose(chain.forward_kinematics(q), end, atol=2e-3)

        run_until(is_at_the_end)
    finally:
        source.close()


def snapshots(*states: str) -> list[Snapshot]:
    return [Snapshot(state=state) for state in states]


def test_recording_keeps_a_minute_and_finds_what_was_said_when():
    recording = Recording()
    for tick in range(2000):
        recording.add(Snapshot(state='IDLE' if tick < 1700 else 'MOVING'), 0.05 * tick)
    samples = recording.samples()
    assert samples[-1][0] - samples[0][0] <= SPAN
    assert 400 <= len(samples) <= 600
    assert sample_at(samples, 84.9).state == 'IDLE'
    assert sample_at(samples, 85.11).state == 'MOVING'
    assert sample_at(samples, 0.0) is samples[0][1]
    assert [snapshot.state for _, snapshot in changes(samples)] == ['IDLE', 'MOVING']


def test_recording_begins_anew_with_another_arm():
    recording = Recording()
    recording.add(Snapshot(base_link='a'), 0.0)
    recording.add(Snapshot(base_link='b'), 1.0)
    assert [snapshot.base_link for _, snapshot in recording.samples()] == ['b']
