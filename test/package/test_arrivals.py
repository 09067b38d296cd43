"""What the benchmark of arrivals makes of a run, against runs made by hand."""

from dataclasses import dataclass, replace
from pathlib import Path
import sys
from types import SimpleNamespace

from helpers import PLANAR
import numpy as np
import pytest
from way_judge import BoxAround, WayJudge

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / 'benchmark' / 'experiments'))

from arrival_outcomes import outcome_of, read, rows, write
from simulated_drive import Run, SimulatedDrive, WaitingPlanner

DT = 0.01
DRIVE = SimpleNamespace(
    period=DT,
    limits=SimpleNamespace(joint_velocity=np.full(2, 1.5), joint_acceleration=np.full(2, 5.0)),
)
START, GOAL = np.array([0.4, 1.0]), np.array([0.5, 1.0])


@dataclass(frozen=True)
class Verdict:
    line: bool = True
    direct: bool = False
    over_one: bool = False

    @property
    def is_feasible(self):
        return self.line or self.over_one


@pytest.fixture(scope='module')
def arm():
    judge = WayJudge(PLANAR, 'l0', 'l3')
    return SimpleNamespace(name='planar', judge=judge, meets_poses=True)


@pytest.fixture
def task(arm):
    return SimpleNamespace(start=START, goal=GOAL, T=arm.judge.pose(GOAL), verdict=Verdict())


def smooth(start, goal, seconds=1.0):
    """Commands that go from one configuration to another and stand still at both."""
    share = np.linspace(0.0, 1.0, round(seconds / DT) + 1)
    share = share * share * (3.0 - 2.0 * share)
    return start + share[:, None] * (goal - start)


def run_of(q, state='REACHED', kind='', reason=''):
    stamps = 10_000_000 * np.arange(1, len(q))
    moved = np.flatnonzero(np.any(q != q[0], axis=1))
    first = DT * float(moved[0]) if len(moved) else None
    return Run(stamps, q, state, kind, reason, first, 1.0, 0.01)


def judged(arm, task, run):
    return outcome_of(arm, 'rest', 0, task, run, DRIVE)


class TestOutcome:
    def test_run_to_the_target_arrives_within_its_limits(self, arm, task):
        outcome = judged(arm, task, run_of(smooth(START, GOAL)))
        assert outcome.arrived
        assert outcome.counts
        assert (outcome.outside, outcome.colliding) == (0, 0)

    def test_state_is_not_believed(self, arm, task):
        """An arm that says that it arrived, a millimetre away."""
        outcome = judged(arm, task, run_of(smooth(START, np.array([0.501, 1.0]))))
        assert outcome.state == 'REACHED'
        assert not outcome.arrived
        assert outcome.is_refusal

    def test_orientation_counts_where_there_are_joints_enough(self, arm, task):
        turned = replace_pose(task, arm.judge.pose(GOAL) @ rotation_z(0.01))
        run = run_of(smooth(START, GOAL))
        assert not judged(arm, turned, run).arrived
        fewer = SimpleNamespace(**{**vars(arm), 'meets_poses': False})
        assert judged(fewer, turned, run).arrived

    @pytest.mark.parametrize('change', ['jump', 'limit', 'hard start'])
    def test_commands_out_of_bounds_are_counted(self, arm, task, change):
        q = smooth(START, GOAL)
        if change == 'jump':
            q[50:] += 0.1
        elif change == 'limit':
            q = smooth(np.array([2.95, 1.0]), np.array([3.05, 1.0]))
        else:
            q = q[20:].copy()
        assert judged(arm, task, run_of(q)).outside > 0

    def test_no_command_is_none_out_of_bounds(self, arm, task):
        outcome = judged(arm, task, run_of(START[None], 'REFUSED', 'PATH_BLOCKED', 'blocked'))
        assert (outcome.commands, outcome.outside, outcome.has_moved) == (0, 0, False)
        assert outcome.is_refusal

    def test_arm_that_waits_for_a_long_way_counts_apart(self, arm, task):
        waits = run_of(START[None], 'HOLDING', 'AWAITS_EXECUTE', 'longer than max_detour')
        outcome = judged(arm, task, waits)
        assert outcome.counts
        assert not outcome.arrived
        other = replace(waits, reason='confirm is always')
        assert not judged(arm, task, other).counts
        moved = replace(waits, q=smooth(START, GOAL)[:50], first_command=0.01)
        assert not judged(arm, task, replace(moved, stamps=10_000_000 * np.arange(49))).counts


class TestTable:
    def test_shares_and_refusals_are_those_of_the_outcomes(self, arm, task):
        arrived = judged(arm, task, run_of(smooth(START, GOAL)))
        before = judged(arm, task, run_of(START[None], 'HOLDING', 'PATH_BLOCKED', 'blocked'))
        after = judged(
            arm, task, run_of(smooth(START, GOAL)[:30], 'HOLDING', 'COLLISION_AHEAD', 'ahead')
        )
        *_, row = rows([arrived, before, after, after])
        cells = [cell.strip() for cell in row.strip('|').split('|')]
        assert cells[:4] == ['all', '4', '25.0 (1 of 4)', '25.0 (1 of 4)']
        assert cells[4] == '-'
        assert cells[8:10] == ['1: path_blocked 1', '2: collision_ahead 2']

    def test_row_among_obstacles_counts_who_sets_out_in_time(self, arm, task):
        task = SimpleNamespace(**{**vars(task), 'verdict': None})
        run = run_of(smooth(START, GOAL))
        late, stays = replace(run, first_command=21.0), run_of(np.array([START, START]), 'HOLDING')
        outcomes = [judged(arm, task, it) for it in (run, replace(run, was_planned=True), late)]
        header, _, *_, row = rows([*outcomes, judged(arm, task, stays)])
        assert 'set out within 20 s' in header
        cells = [cell.strip() for cell in row.strip('|').split('|')]
        assert cells[:5] == ['all', '4', '50.0 (2 of 4)', '1', '0']
        assert cells[5] == '1: holding 1'

    def test_outcomes_are_read_as_they_were_written(self, arm, task, tmp_path):
        outcomes = [judged(arm, task, run_of(smooth(START, GOAL)))]
        write(tmp_path / 'outcomes.json', outcomes)
        assert read(tmp_path / 'outcomes.json') == outcomes


def test_drive_takes_an_arm_to_a_target_near_by():
    """The driver itself, by the node's defaults: else it might refuse all and nobody would see."""
    pytest.importorskip('coal')
    from fabrik_ros import example_arm, load_urdf

    urdf = load_urdf(example_arm('six_axis')).source
    drive = SimulatedDrive(urdf, 'base_link', 'tool0')
    start = np.array([0.0, -1.3, 1.6, -1.9, -1.57, 0.0])
    judge = WayJudge(urdf, 'base_link', 'tool0')
    assert drive.pairs == judge.pairs
    drive.begin_at(start)
    T = judge.pose(start)
    for _ in range(2):
        T[2, 3] += 0.05
        run = drive.send(T)
        assert run.state == 'REACHED'
        assert np.abs(judge.pose(run.q[-1]) - T).max() < 1e-4
        assert 0.0 < run.duration < 5.0
        assert len(run.stamps) == len(run.q) - 1
    T[0, 3] = 2.9
    assert drive.send(T).state in ('HOLDING', 'REFUSED')


def test_drive_keeps_clear_of_boxes():
    pytest.importorskip('coal')
    from fabrik_ros import example_arm, load_urdf

    urdf, T = load_urdf(example_arm('six_axis')).source, np.eye(4)
    T[:3, 3] = 0.65, 0.0, 0.35
    boxes = {'wall': BoxAround((0.8, 0.03, 0.9), T)}
    judge = WayJudge(urdf, 'base_link', 'tool0', boxes=boxes)
    drive = SimulatedDrive(urdf, 'base_link', 'tool0', boxes=boxes)
    try:
        start = np.array([0.9, -1.3, 1.6, -1.9, -1.57, 0.0])
        end = judge.pose(start * [-1.0, 1.0, 1.0, 1.0, 1.0, 1.0])
        assert judge.is_free(start)
        assert not judge.line(start, end).is_free
        drive.begin_at(start)
        run = drive.send(end)
    finally:
        drive.close()
    assert run.state == 'REACHED'
    assert np.abs(judge.pose(run.q[-1]) - end).max() < 1e-3
    assert all(judge.may_be_commanded(q) for q in run.q)


def test_planner_answers_when_as_much_simulated_time_has_passed():
    pytest.importorskip('coal')
    from fabrik_ros import example_arm, load_urdf
    from fabrik_ros.collision import Scene
    from fabrik_ros.planning import PlannerSetup, PlanRequest

    robot, now = load_urdf(example_arm('six_axis')), 5.0
    chain = robot.chain()
    start = np.array([0.9, -1.3, 1.6, -1.9, -1.57, 0.0])
    planner = WaitingPlanner(PlannerSetup(robot, chain), Scene(), 10.0, lambda: now)
    try:
        planner.request(PlanRequest(start, None, (start + 0.1,)))
        assert planner.is_busy
        assert planner.poll() is None
        now += 100.0
        assert planner.time_passed == 100.0
        assert planner.poll().found
        assert not planner.is_busy
        assert planner.requests == 1
    finally:
        planner.close()


def replace_pose(task, T):
    return SimpleNamespace(**{**vars(task), 'T': T})


def rotation_z(angle):
    T = np.eye(4)
    T[:2, :2] = [[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]
    return T
