"""Motions whose course is known: straight lines, lines that end early, goals out of reach."""

import functools
import itertools
import math

from fabrik_ros import example_arm, load_urdf, SolverOptions
from fabrik_ros.motion.choosing.goal import Goal, MotionOptions
from fabrik_ros.motion.choosing.motion import Motion
from fabrik_ros.motion.limits.limits import MotionLimits
from helpers import assert_close, example_robot, PLANAR, REAL_ARMS, stopped, why
import numpy as np
import pytest

pytest.importorskip('pinocchio', reason='pinocchio is the judge')
pytest.importorskip('xacro', reason='the bundled arms are xacro files')

from command_judge import accelerations, velocities
from judging import distances_from_line, Judge, pose_errors

DT = 0.01
BENT = np.array([0.0, -1.3, 1.6, -1.9, -1.57, 0.0])
SOLVER = SolverOptions(
    position_tolerance=1e-5, orientation_tolerance=1e-4, budget=math.inf, max_restarts=20
)


@functools.cache
def six_axis():
    return load_urdf(example_arm('six_axis'))


@pytest.fixture
def judge():
    return Judge(six_axis().source, 'base_link', 'tool0')


@pytest.fixture
def planar_judge():
    return Judge(PLANAR, 'l0', 'l3')


def limits_for(chain, **changes):
    return MotionLimits(
        **{
            'tip_speed': 0.25,
            'tip_rotation': 1.0,
            'tip_acceleration': 1.0,
            'joint_velocity': np.minimum(chain.velocity, 1.5),
            'joint_acceleration': np.full(len(chain), 5.0),
            **changes,
        }
    )


def six_axis_motion(q=BENT, **options):
    chain = six_axis().chain()
    motion = Motion(chain, limits_for(chain), SOLVER, MotionOptions(**options))
    motion.reset(q)
    return motion


def planar_motion(q, mode='position', **options):
    """Two links of 1.0 m and 0.8 m in a plane; joints within +-3 rad."""
    chain = load_urdf(PLANAR).chain()
    solver = SolverOptions(mode=mode, position_tolerance=1e-5, max_restarts=20, budget=math.inf)
    motion = Motion(chain, limits_for(chain), solver, MotionOptions(**options))
    motion.reset(q)
    return motion


def run(motion, longest=30.0, dt=DT):
    """Go on until the arm rests for good; joint values at all steps, shape (m, n)."""
    q = [motion.q]
    while not motion.is_at_rest or motion.is_looking:
        motion.step(dt)
        q.append(motion.q)
        assert len(q) < longest / dt, f'the arm never rests: {motion.path}'
    return np.array(q)


def steps(motion, count, dt=DT):
    q = [motion.q]
    for _ in range(count):
        motion.step(dt)
        q.append(motion.q)
    return np.array(q)


def tips(judge, q):
    return np.array([judge.pose(row)[:3, 3] for row in q])


def speeds(judge, q, dt=DT):
    return np.linalg.norm(velocities(dt * np.arange(len(q)), tips(judge, q)), axis=1)


def about_z(angle):
    c, s = math.cos(angle), math.sin(angle)
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


def moved(T, way, angle=0.0):
    T = T.copy()
    T[:3, 3] += way
    T[:3, :3] = about_z(angle) @ T[:3, :3]
    return T


def let_tip_go(motion):
    """Limit the joints alone."""
    limits = limits_for(motion.robot, tip_speed=100.0, tip_rotation=100.0)
    motion.change(limits, SOLVER, motion.pursuit.options)


WAYS = [
    ((-0.12, 0.36, 0.126), 0.5),
    ((0.0, -0.4, 0.0), 0.0),
    ((0.0, 0.0, 0.25), -0.7),
    ((-0.1, 0.1, -0.1), 1.2),
    ((0.001, 0.0, 0.0), 0.0),
    ((0.0, 0.0, 0.0), 1.0),
]


class TestLine:
    @pytest.mark.parametrize(('way', 'angle'), WAYS)
    def test_tip_goes_straight_with_the_shortest_rotation(self, judge, way, angle):
        motion, start = six_axis_motion(), judge.pose(BENT)
        goal = moved(start, way, angle)
        assert motion.aim(goal)
        q = run(motion)
        assert why(motion) == ''
        assert judge.errors(goal, q[-1]) < (1e-5, 1e-4)
        points = tips(judge, q)
        if np.any(way):
            assert distances_from_line(points, start[:3, 3], goal[:3, 3]).max() < 1e-6
            share = (points - start[:3, 3]) @ way / np.dot(way, way)
            assert np.all(np.diff(share) >= -1e-9), 'it never turns back'
        for row in q:
            turned = pose_errors(start, judge.pose(row))[1]
            left = pose_errors(goal, judge.pose(row))[1]
            assert turned + left == pytest.approx(abs(angle), abs=1e-6)

    @pytest.mark.parametrize(('way', 'angle'), WAYS)
    def test_tip_heeds_its_speed_its_rotation_and_its_acceleration(self, judge, way, angle):
        motion = six_axis_motion()
        motion.aim(moved(judge.pose(BENT), way, angle))
        q = run(motion)
        speed = speeds(judge, q)
        assert speed.max() <= 0.25 * (1.0 + 1e-6)
        assert np.abs(np.diff(speed)).max() / DT <= 1.0 * (1.0 + 1e-3)
        poses = [judge.pose(row) for row in q]
        turns = [pose_errors(T, after)[1] / DT for T, after in itertools.pairwise(poses)]
        assert max(turns) <= 1.0 + 1e-6

    def test_arm_is_as_fast_as_the_tip_may_be(self, judge):
        """0.4 m at 0.25 m/s, 1 m/s^2: 1.6 s and 0.25 s for getting fast and slow; some more."""
        motion = six_axis_motion()
        motion.aim(moved(judge.pose(BENT), (0.0, 0.4, 0.0)))
        assert 1.85 <= DT * len(run(motion)) <= 2.4

    @pytest.mark.parametrize('dt', [0.002, 0.05])
    def test_rate_of_commands_makes_no_difference_to_the_line(self, judge, dt):
        motion, start = six_axis_motion(), judge.pose(BENT)
        goal = moved(start, (-0.12, 0.36, 0.126), 0.5)
        motion.aim(goal)
        q = run(motion, dt=dt)
        assert judge.errors(goal, q[-1]) < (1e-5, 1e-4)
        assert distances_from_line(tips(judge, q), start[:3, 3], goal[:3, 3]).max() < 1e-6

    def test_goal_that_is_reached_already_moves_nothing(self, judge):
        motion = six_axis_motion()
        assert motion.aim(judge.pose(BENT))
        q = run(motion)
        assert np.abs(q - BENT).max() < 1e-6
        assert len(q) <= 3


class TestNewGoals:
    def test_same_goal_again_changes_nothing(self, judge):
        goal = moved(judge.pose(BENT), (-0.12, 0.36, 0.126), 0.5)
        motion, undisturbed = six_axis_motion(), six_axis_motion()
        undisturbed.aim(goal)
        motion.aim(goal)
        before = steps(motion, 60)
        motion.aim(goal)
        q = np.concatenate([before, run(motion)[1:]])
        assert_close(q, run(undisturbed), 1e-6)

    @pytest.mark.parametrize('every', [1, 3, 10])
    def test_speed_does_not_dip_when_goals_come_in_a_stream(self, judge, every):
        """Ever farther along one line, each long before the last is reached."""
        motion, start = six_axis_motion(), judge.pose(BENT)
        q = [BENT[None]]
        for i in range(120):
            if i % every == 0:
                motion.aim(moved(start, (0.0, 0.15 + 0.0025 * i, 0.0)))
            q.append(steps(motion, 1)[1:])
        speed = speeds(judge, np.concatenate(q))
        assert speed[50:].min() >= 0.25 * 0.98

    def test_goal_to_the_side_bends_the_way_smoothly(self, judge):
        motion, start = six_axis_motion(), judge.pose(BENT)
        motion.aim(moved(start, (0.0, 0.4, 0.0)))
        q = [steps(motion, 80)]
        goal = moved(start, (-0.15, 0.3, 0.1))
        motion.aim(goal)
        q.append(run(motion)[1:])
        q = np.concatenate(q)
        assert judge.errors(goal, q[-1]) < (1e-5, 1e-4)
        speed = velocities(DT * np.arange(len(q)), tips(judge, q))
        change = np.linalg.norm(np.diff(speed, axis=0), axis=1) / DT
        assert change.max() <= 1.5, 'a jump would be many times that'

    def test_goal_after_a_stop_is_reached(self, judge):
        motion, goal = six_axis_motion(), moved(judge.pose(BENT), (0.0, 0.4, 0.0))
        motion.aim(goal)
        steps(motion, 60)
        motion.stop(stopped('wait'))
        assert why(motion) == 'wait'
        steps(motion, 3)
        motion.aim(goal)
        q = run(motion)
        assert why(motion) == ''
        assert judge.errors(goal, q[-1]) < (1e-5, 1e-4)


class TestStopping:
    def test_stop_takes_no_longer_than_the_fastest_joint_needs(self, judge):
        motion = six_axis_motion(path='joint')
        let_tip_go(motion)
        motion.aim(judge.pose(BENT + 2.0))
        steps(motion, 70)
        fastest = np.abs(motion.velocity).max()
        assert fastest > 1.4
        motion.stop(stopped('enough'))
        q = run(motion)
        assert len(q) - 1 <= math.ceil(fastest / 5.0 / DT) + 1
        assert not np.any(motion.velocity)

    def test_stopping_arm_keeps_its_direction(self, judge):
        motion = six_axis_motion(path='joint')
        motion.aim(judge.pose(BENT + 2.0))
        steps(motion, 70)
        velocity = motion.velocity.copy()
        motion.stop(stopped('enough'))
        q = run(motion)
        way = q[-1] - q[0]
        assert_close(way / np.linalg.norm(way), velocity / np.linalg.norm(velocity), 1e-9)

    def test_stop_at_rest_is_told_and_moves_nothing(self):
        motion = six_axis_motion()
        motion.stop(stopped('enough'))
        assert motion.is_at_rest
        assert why(motion) == 'enough'

    def test_halted_arm_goes_on_from_rest(self, judge):
        motion, goal = six_axis_motion(), moved(judge.pose(BENT), (0.0, 0.4, 0.0))
        motion.aim(goal)
        steps(motion, 60)
        motion.halt()
        q = run(motion)
        assert np.abs(q[1] - q[0]).max() <= 5.0 * DT * DT + 1e-12
        assert judge.errors(goal, q[-1]) < (1e-5, 1e-4)


class TestBlockedLine:
    """From one side of the arm's back to the other: the shoulder would have to pass a limit."""

    START, BEHIND = (2.7, 0.6), (-2.7, -0.6)

    @pytest.fixture
    def goal(self, planar_judge):
        return planar_judge.pose(self.BEHIND)

    def test_arm_at_rest_does_not_move_and_names_the_joint_and_the_place(self, planar_judge, goal):
        motion = planar_motion(self.START, path='line')
        assert not motion.aim(goal)
        assert why(motion).startswith('the line ends after ')
        assert 'j0' in why(motion)
        place = motion.reason.place[0]
        start = planar_judge.pose(self.START)
        assert distances_from_line(place[None], start[:3, 3], goal[:3, 3]).max() < 1e-4
        assert_close(steps(motion, 50), np.tile(self.START, (51, 1)), 0.0)
        assert why(motion).startswith('the line ends after ')

    def test_arm_follows_a_stream_as_far_as_the_line_goes_and_names_the_joint(
        self, planar_judge, goal
    ):
        motion = planar_motion(self.START, path='line')
        motion.pursue(Goal.of(goal[None]), in_stream=True)
        q = run(motion)
        assert 'the straight line cannot be followed' in why(motion)
        assert 'j0' in why(motion)
        assert 'stream_timeout' in why(motion)
        start = planar_judge.pose(self.START)
        points = tips(planar_judge, q)
        assert distances_from_line(points, start[:3, 3], goal[:3, 3]).max() < 5e-3
        assert planar_judge.errors(goal, q[-1])[0] > 0.05
        assert not np.any(motion.velocity)

    def test_arm_arrives_where_it_may_leave_the_line(self, planar_judge, goal):
        motion = planar_motion(self.START)
        motion.aim(goal)
        q = run(motion, longest=60.0)
        assert why(motion) == ''
        assert planar_judge.errors(goal, q[-1])[0] < 1e-5
        assert motion.solution.converged, 'the line that is blocked is not what counts'

    def test_arm_arrives_in_joint_space(self, planar_judge, goal):
        motion = planar_motion(self.START, path='joint')
        motion.aim(goal)
        assert planar_judge.errors(goal, run(motion, longest=60.0)[-1])[0] < 1e-5

    def test_next_goal_leads_away_from_the_limit(self, planar_judge, goal):
        motion = planar_motion(self.START, path='line')
        motion.pursue(Goal.of(goal[None]), in_stream=True)
        run(motion)
        assert why(motion)
        back = planar_judge.pose(self.START)
        motion.aim(back)
        q = run(motion)
        assert why(motion) == ''
        assert planar_judge.errors(back, q[-1])[0] < 1e-5


class TestOutOfReach:
    def test_approach_stretches_the_arm_towards_the_target_and_says_why(self, planar_judge):
        motion = planar_motion((0.5, 1.0))
        T = np.eye(4)
        T[:3, 3] = 3.0, 1.0, 0.0
        assert motion.aim(T)
        q = run(motion)
        assert 'farther away than the arm is long' in why(motion)
        expected = 1.8 * np.array([3.0, 1.0, 0.0]) / math.hypot(3.0, 1.0)
        assert_close(tips(planar_judge, q)[-1], expected, 1e-3)

    def test_approach_folds_the_arm_towards_the_target_and_says_why(self, planar_judge):
        """Nearest at the hole in the middle; folded by 3 rad of pi, it is that small."""
        motion = planar_motion((0.5, 1.0))
        T = np.eye(4)
        T[:3, 3] = 0.05, 0.0, 0.0
        assert motion.aim(T)
        q = run(motion)
        assert why(motion)
        hole = math.sqrt(1.0 + 0.64 + 1.6 * math.cos(3.0))
        assert_close(np.linalg.norm(tips(planar_judge, q)[-1]), hole, 1e-3)

    @pytest.mark.parametrize('path', ['line', 'joint'])
    def test_hold_stays_and_says_why(self, path):
        motion = planar_motion((0.5, 1.0), path=path, approach_unreachable=False)
        T = np.eye(4)
        T[:3, 3] = 3.0, 1.0, 0.0
        assert not motion.aim(T)
        assert motion.is_at_rest
        assert 'farther away' in why(motion)
        assert motion.pursuit.resolving_time > 0.0
        assert_close(steps(motion, 5), np.tile([0.5, 1.0], (6, 1)), 0.0)

    def test_hold_on_the_way_slows_down(self, planar_judge):
        motion = planar_motion((0.5, 1.0), approach_unreachable=False)
        motion.aim(planar_judge.pose((1.2, 1.2)))
        steps(motion, 40)
        T = np.eye(4)
        T[:3, 3] = 3.0, 1.0, 0.0
        assert not motion.aim(T)
        assert motion.is_stopping
        run(motion)
        assert 'farther away' in why(motion)


class TestLiveChanges:
    def test_lower_speed_is_taken_up_smoothly(self, judge):
        motion = six_axis_motion()
        motion.aim(moved(judge.pose(BENT), (0.0, 0.4, 0.0)))
        q = [steps(motion, 60)]
        motion.change(limits_for(motion.robot, tip_speed=0.1), SOLVER, motion.pursuit.options)
        q.append(run(motion)[1:])
        speed = speeds(judge, np.concatenate(q))
        assert speed[80:].max() <= 0.1 * (1.0 + 1e-6)
        assert np.abs(np.diff(speed)).max() / DT <= 1.0 * (1.0 + 1e-2)

    def test_lower_acceleration_never_drives_a_joint_past_its_limit(self, planar_judge):
        """Too fast to stop as gently as is asked for now: the limit comes first."""
        motion = planar_motion((2.0, 0.5), path='joint')
        motion.aim(planar_judge.pose((2.999, 0.5)))
        before = steps(motion, 45)
        gentle = limits_for(motion.robot, joint_acceleration=np.full(2, 0.1))
        motion.change(gentle, SOLVER, motion.pursuit.options)
        q = np.concatenate([before, steps(motion, 2000)[1:]])
        assert np.all(np.abs(q) <= 3.0 + 1e-12)
        times = DT * np.arange(len(q))
        assert np.abs(accelerations(times, q)).max() <= 5.0 * (1.0 + 1e-6)

    def test_lower_acceleration_counts_from_when_the_arm_stands_still(self, planar_judge):
        """An arm at full speed stops as shortly as when it set out, and starts gently again."""
        motion = planar_motion((0.0, 0.5), path='joint')
        motion.aim(planar_judge.pose((2.0, 1.5)))
        steps(motion, 60)
        gentle = limits_for(motion.robot, joint_acceleration=np.full(2, 0.1))
        motion.change(gentle, SOLVER, motion.pursuit.options)
        motion.stop(stopped('enough'))
        assert len(run(motion)) * DT <= 0.35
        motion.aim(planar_judge.pose((0.0, 0.5)))
        q = steps(motion, 100)
        assert np.abs(accelerations(DT * np.arange(len(q)), q)).max() <= 0.1 * (1.0 + 1e-6)

    def test_higher_acceleration_counts_at_once(self, planar_judge):
        motion = planar_motion((0.0, 0.5), path='joint')
        motion.aim(planar_judge.pose((2.0, 1.5)))
        steps(motion, 60)
        speed = np.abs(motion.velocity).max()
        strong = limits_for(motion.robot, joint_acceleration=np.full(2, 50.0))
        motion.change(strong, SOLVER, motion.pursuit.options)
        motion.stop(stopped('enough'))
        assert len(run(motion)) * DT <= speed / 50.0 + 3.0 * DT

    def test_way_can_change_from_line_to_joint_and_back(self, judge):
        motion, goal = six_axis_motion(), moved(judge.pose(BENT), (0.0, 0.4, 0.0))
        motion.aim(goal)
        for path in ('joint', 'line', 'joint'):
            steps(motion, 20)
            motion.change(motion.limits, SOLVER, MotionOptions(path=path))
            motion.aim(goal)
        assert judge.errors(goal, run(motion)[-1]) < (1e-5, 1e-4)


class TestSpeedScaling:
    @staticmethod
    def scale(motion, share):
        motion.change(
            limits_for(motion.robot, speed_scaling=share), SOLVER, motion.pursuit.options
        )

    @pytest.mark.parametrize('share', [0.5, 0.1])
    def test_tip_on_its_line_is_so_much_slower(self, judge, share):
        motion = six_axis_motion()
        self.scale(motion, share)
        motion.aim(moved(judge.pose(BENT), (0.0, 0.2, 0.0)))
        assert speeds(judge, run(motion)).max() == pytest.approx(0.25 * share, rel=1e-3)

    @pytest.mark.parametrize('share', [0.5, 0.1])
    def test_joints_on_their_way_are_so_much_slower(self, share):
        motion = six_axis_motion(path='joint')
        limits = limits_for(motion.robot, tip_speed=100.0, tip_rotation=100.0, speed_scaling=share)
        motion.change(limits, SOLVER, motion.pursuit.options)
        motion.go_to(BENT + 0.8)
        q = run(motion)
        assert np.abs(np.diff(q, axis=0)).max() / DT == pytest.approx(1.5 * share, rel=1e-3)
        assert_close(q[-1], BENT + 0.8, 1e-9)

    def test_change_on_the_way_is_neither_jump_nor_leaves_the_line(self, judge):
        motion, start = six_axis_motion(), judge.pose(BENT)
        goal = moved(start, (-0.12, 0.36, 0.126), 0.5)
        motion.aim(goal)
        q = [steps(motion, 50)]
        for share in (0.3, 1.0, 0.0, 0.6, 0.0, 1.0):
            self.scale(motion, share)
            q.append(steps(motion, 35)[1:])
        q = np.concatenate([*q, run(motion)[1:]])
        assert distances_from_line(tips(judge, q), start[:3, 3], goal[:3, 3]).max() < 1e-6
        assert np.abs(np.diff(speeds(judge, q))).max() / DT <= 1.0 * (1.0 + 1e-2)
        assert judge.errors(goal, q[-1]) < (1e-5, 1e-4)

    @pytest.mark.parametrize('path', ['line', 'joint'])
    def test_pause_is_rest_and_ends_when_the_scaling_is_raised(self, judge, path):
        motion, goal = six_axis_motion(path=path), moved(judge.pose(BENT), (0.0, 0.4, 0.0))
        motion.aim(goal)
        steps(motion, 60)
        self.scale(motion, 0.0)
        paused = steps(motion, 100)[40:]
        assert np.ptp(paused, axis=0).max() < 1e-9
        assert not motion.is_at_rest
        assert why(motion) == ''
        self.scale(motion, 1.0)
        assert judge.errors(goal, run(motion)[-1]) < (1e-5, 1e-4)


def test_reset_forgets_everything(judge):
    motion = six_axis_motion()
    motion.aim(moved(judge.pose(BENT), (0.0, 0.4, 0.0)))
    steps(motion, 60)
    motion.reset(BENT + 0.1)
    assert motion.is_at_rest
    assert (why(motion), motion.solution, motion.pursuit.resolved) == ('', None, None)
    assert_close(motion.q, BENT + 0.1, 0.0)
    assert not np.any(motion.velocity)


def test_solutions_tell_who_finished(judge):
    motion = six_axis_motion()
    motion.aim(moved(judge.pose(BENT), (0.0, 0.2, 0.0)))
    assert motion.pursuit.resolved.solution.converged
    run(motion)
    assert motion.solution.finished_by in ('seed', 'fabrik', 'polish')


UP, SIDE, OUT = (0.0, 0.0, 0.1), (0.0, 0.1, 0.0), (0.1, 0.0, 0.0)
STILL = np.zeros(6)


def twist(linear=(0.0, 0.0, 0.0), angular=(0.0, 0.0, 0.0)):
    return np.array([*linear, *angular], dtype=float)


def jogged(motion, wanted, count, **options):
    motion.jog(wanted, **options)
    return steps(motion, count)


def check_smooth(q, fastest=1.5, hardest=5.0):
    v = np.diff(q, axis=0) / DT
    assert np.abs(v).max() <= fastest + 1e-9
    assert np.abs(np.diff(v, axis=0)).max() / DT <= hardest + 1e-6


class TestJog:
    @pytest.mark.parametrize('way', [UP, SIDE, (-0.05, 0.02, 0.03)])
    def test_tip_goes_straight_at_that_speed_and_brakes_to_rest_when_let_go(self, judge, way):
        motion, start = six_axis_motion(), judge.pose(BENT)
        q = jogged(motion, twist(way), 150)
        motion.end_jog(0)
        q = np.concatenate([q, run(motion)[1:]])
        speed = speeds(judge, q)
        assert speed[40:150] == pytest.approx(np.linalg.norm(way), rel=1e-4)
        assert np.abs(np.diff(speed)).max() / DT <= 1.0 * (1.0 + 1e-2)
        points = tips(judge, q)
        assert distances_from_line(points, start[:3, 3], points[-1]).max() < 1e-6
        assert (points[-1] - start[:3, 3]) @ way > 0.0
        assert pose_errors(start, judge.pose(q[-1]))[1] < 1e-6, 'the tool keeps its orientation'
        assert why(motion) == ''
        check_smooth(q)

    def test_tool_frame_turns_with_the_tool(self, judge):
        """Forward while turning makes a circle of radius speed over rotation, as on paper."""
        motion, radius = six_axis_motion(), 0.05 / 0.5
        axis = judge.pose(BENT)[:3, :3].T @ (0.0, 0.0, 1.0)
        ahead = judge.pose(BENT)[:3, :3].T @ (0.0, 1.0, 0.0)
        q = jogged(motion, twist(0.05 * ahead, 0.5 * axis), 250, in_tip=True)
        points = tips(judge, q)
        circle = points[60:, :2]
        centre = points[0, :2] + [-radius, 0.0]
        assert np.linalg.norm(circle - centre, axis=1) == pytest.approx(radius, abs=2e-3)
        check_smooth(q)

    def test_rotation_turns_about_the_tip(self, judge):
        motion, start = six_axis_motion(), judge.pose(BENT)
        q = jogged(motion, twist(angular=(0.0, 0.0, 0.5)), 100)
        assert np.abs(tips(judge, q) - start[:3, 3]).max() < 1e-6
        turned = judge.pose(q[-1])[:3, :3] @ start[:3, :3].T
        assert math.atan2(turned[1, 0], turned[0, 0]) == pytest.approx(0.5, abs=0.15)

    @pytest.mark.parametrize('share', [1.0, 0.4])
    def test_speed_is_clipped_to_what_the_tip_may_have(self, judge, share):
        motion = six_axis_motion()
        limits = limits_for(motion.robot, speed_scaling=share)
        motion.change(limits, SOLVER, motion.pursuit.options)
        q = jogged(motion, twist((0.0, 1e300, 0.0)), 80)
        assert speeds(judge, q).max() == pytest.approx(0.25 * share, rel=1e-3)
        motion = six_axis_motion()
        motion.change(limits, SOLVER, motion.pursuit.options)
        q = jogged(motion, twist(angular=(0.0, 0.0, 7.0)), 80)
        ends = [judge.pose(row) for row in q[-2:]]
        assert pose_errors(*ends)[1] / DT == pytest.approx(1.0 * share, rel=1e-3)

    def test_another_way_is_taken_smoothly(self, judge):
        motion = six_axis_motion()
        q = [jogged(motion, twist(way), 40)[:-1] for way in (SIDE, UP, (0.0, -0.2, 0.0), SIDE)]
        q = np.concatenate(q)
        check_smooth(q)
        v = velocities(DT * np.arange(len(q)), tips(judge, q))
        assert np.linalg.norm(np.diff(v, axis=0), axis=1).max() / DT <= 1.5
        assert why(motion) == ''

    @pytest.mark.parametrize('path', ['line', 'joint'])
    def test_jog_ends_a_goal_and_a_goal_a_jog_without_a_bump(self, judge, path):
        motion, goal = six_axis_motion(path=path), moved(judge.pose(BENT), (-0.1, 0.3, 0.0))
        motion.aim(goal)
        q = [steps(motion, 60)[:-1], jogged(motion, twist(UP), 60)[:-1]]
        assert motion.is_jogging
        motion.aim(goal)
        assert not motion.is_jogging
        q.append(run(motion))
        q = np.concatenate(q)
        check_smooth(q)
        assert judge.errors(goal, q[-1]) < (1e-5, 1e-4)

    def test_at_the_end_of_reach_it_stops_says_so_and_can_be_jogged_back(self, judge):
        motion = six_axis_motion()
        q = [jogged(motion, twist((0.25, 0.0, 0.0)), 1500)]
        assert why(motion).startswith('jogged as far as it goes: ')
        assert not np.any(motion.velocity)
        farthest = tips(judge, q[0])[:, 0]
        assert farthest[-1] >= farthest.max() - 1e-9, 'it does not swing back'
        q.append(jogged(motion, twist((0.0, 0.0, 0.0)), 20)[1:])
        assert why(motion).startswith('jogged as far as it goes: '), 'it is still why'
        q.append(jogged(motion, twist((-0.1, 0.0, 0.0)), 100)[1:])
        assert why(motion) == ''
        q = np.concatenate(q)
        assert tips(judge, q)[-1, 0] < farthest[-1] - 0.05
        check_smooth(q)

    def test_at_a_joint_limit_the_others_go_on_and_it_can_be_jogged_back(self, planar_judge):
        """The tip circles about the base until the first joint meets its limit of 3 rad."""
        motion = planar_motion((2.0, 1.2), mode='position')
        q, out = [], False
        for i in range(1500):
            x, y = planar_judge.pose(motion.q)[:2, 3]
            sign = -1.0 if out else 1.0
            motion.jog(sign * twist(0.2 * np.array([-y, x, 0.0]) / math.hypot(x, y)))
            q.append(steps(motion, 1)[0])
            out = out or (i > 1000)
            if i == 1000:
                assert 'j0' in why(motion)
                assert motion.q.max() <= 3.0
        assert why(motion) == ''
        assert np.abs(motion.velocity).max() > 0.05
        check_smooth(np.array(q))

    def test_orientation_that_yields_does_not_wind_up(self):
        """Five joints cannot turn the tip for ever: turning back must work at once."""
        links = REAL_ARMS['so101']
        robot = load_urdf(example_robot('so101'), use_safety_limits=False)
        chain = robot.chain(links.base_link, links.tip_link)
        back = twist(angular=(0.0, -0.5, 0.0))
        motion = Motion(chain, limits_for(chain), SOLVER, MotionOptions())
        motion.reset(np.array([0.1, -0.5, 0.6, 0.4, 0.2]))
        end = jogged(motion, -back, 400)[-1]
        turned = np.abs(jogged(motion, back, 50)[-1] - end).max()
        fresh = Motion(chain, limits_for(chain), SOLVER, MotionOptions())
        fresh.reset(end)
        assert turned > 0.5 * np.abs(jogged(fresh, back, 50)[-1] - end).max()


@pytest.mark.parametrize(
    'change',
    [
        {'tip_acceleration': 0.1},
        {'tip_acceleration': 0.001},
        {'tip_rotation': 0.1},
        {'tip_speed': 2.0},
        {'tip_speed': 0.05, 'tip_acceleration': 0.1},
    ],
)
def test_limits_that_change_in_front_of_the_goal_lead_nobody_past_it(judge, change):
    """A tip that brakes weaker, along or about, could not stop in time."""
    motion = six_axis_motion()
    start, goal = judge.pose(BENT), judge.pose(BENT)
    turn = 1.2
    goal[:3, :3] = rotation_about_z(turn) @ goal[:3, :3]
    goal[1, 3] += 0.3
    motion.aim(goal)
    left = turn
    while not motion.is_at_rest:
        motion.step(DT)
        T = judge.pose(motion.q)
        turned = T[:3, :3] @ start[:3, :3].T
        before, left = left, turn - math.atan2(turned[1, 0], turned[0, 0])
        if left < 0.4 <= before:
            chain = motion.robot
            motion.change(limits_for(chain, **change), SOLVER, MotionOptions())
        assert left >= -1e-6
        assert T[1, 3] <= goal[1, 3] + 1e-6
    assert pose_errors(judge.pose(motion.q), goal)[0] < 1e-5


def rotation_about_z(angle):
    c, s = math.cos(angle), math.sin(angle)
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


def test_ramp_of_an_arm_that_rests_is_where_it_stands_and_nowhere_before():
    motion = six_axis_motion()
    motion.rest(DT)
    assert np.array_equal(motion.limiter.stop_trajectory().q, [BENT])
    motion.go_to(BENT + 0.1)
    run(motion)
    motion.reset(BENT - 0.5)
    motion.rest(DT)
    assert np.array_equal(motion.limiter.stop_trajectory().q, [BENT - 0.5])
