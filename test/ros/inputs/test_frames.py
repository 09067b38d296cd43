"""Targets in other frames: links of the robot where they are measured, the rest by tf2."""

import sys
from types import ModuleType, SimpleNamespace

import pytest

pytest.importorskip('rclpy', reason='ROS 2 is not installed')
pytest.importorskip('pinocchio', reason='pinocchio is the judge')

from bench import JOINTS, matrix_message, pose_message, shifted, START, values_at
from fabrik_ros import load_urdf, TargetError
from fabrik_ros.ros.inputs.frame_resolver import FrameResolver
from fabrik_ros.ros.inputs.joint_history import JointHistory
from fabrik_ros.ros.inputs.marker_obstacles import after
from fabrik_ros.ros.world.handled_obstacles import HandledObstacles
from fabrik_ros.ros.world.obstacles import World
from geometry_msgs.msg import TransformStamped
from helpers import assert_close, joint_xml, mostly_long, robot_xml, Segment, serial_xml
from hypothesis import given, strategies as st
from judging import Judge
import numpy as np
import pinocchio
from rclpy.duration import Duration
from rclpy.time import Time
from visualization_msgs.msg import Marker, MarkerArray

SOMEWHERE = ((0.1, 0.2, 0.3), (0.5, 0.5, 0.5, 0.5))
LIMIT = '<limit lower="-2" upper="2" velocity="1" effort="1"/>'
TREE = robot_xml(
    'world torso arm hand camera eye wheel',
    joint_xml('lift', 'world', 'torso', 'prismatic', f'<axis xyz="0 0 1"/>{LIMIT}'),
    joint_xml('shoulder', 'torso', 'arm', body=f'<origin xyz="0.1 0 0"/>{LIMIT}'),
    joint_xml('wrist', 'arm', 'hand', body=f'<origin xyz="0.5 0 0"/><axis xyz="0 0 1"/>{LIMIT}'),
    joint_xml('pan', 'torso', 'camera', 'continuous', '<axis xyz="0 0 1"/>'),
    joint_xml('mount', 'camera', 'eye', 'fixed', '<origin xyz="0 0 0.2" rpy="0 0.5 0"/>'),
    joint_xml('hub', 'world', 'wheel', 'floating'),
)
VALUES = {'lift': 0.3, 'shoulder': 0.5, 'wrist': -0.7, 'pan': 1.1}


def measured(stamp, names):
    return VALUES


def nothing(stamp, names):
    raise AssertionError('no joint matters here')


def no_tf(monkeypatch):
    """Make sure that tf2_ros cannot be imported, wherever this runs."""
    monkeypatch.setitem(sys.modules, 'tf2_ros', None)


def judged(urdf, base_link, link, values):
    """T_base_link by pinocchio, whatever else moves."""
    model = pinocchio.buildModelFromXML(urdf)
    data, q = model.createData(), pinocchio.neutral(model)
    for name, value in values.items():
        joint = model.joints[model.getJointId(name)]
        turns = joint.nq == 2
        q[joint.idx_q : joint.idx_q + joint.nq] = (
            [np.cos(value), np.sin(value)] if turns else value
        )
    pinocchio.framesForwardKinematics(model, data, q)
    of = {name: data.oMf[model.getFrameId(name)] for name in (base_link, link)}
    return (of[base_link].inverse() * of[link]).homogeneous


def in_base(resolver, message, values):
    return resolver.target_in_base(resolver.read(message), values)


T_FRAME_TARGET = pinocchio.XYZQUATToSE3(np.array([*SOMEWHERE[0], *SOMEWHERE[1]])).homogeneous


class TestWithoutTf:
    @pytest.fixture
    def resolver(self, monkeypatch):
        no_tf(monkeypatch)
        return FrameResolver(None, load_urdf(TREE), 'torso')

    @pytest.mark.parametrize('frame', ['torso', '/torso'])
    def test_base_frame_is_taken_as_it_is(self, resolver, frame):
        T = in_base(resolver, pose_message(*SOMEWHERE, frame), nothing)
        assert_close(T, T_FRAME_TARGET)

    @pytest.mark.parametrize('slash', ['', '/'])
    @pytest.mark.parametrize('link', ['world', 'arm', 'hand', 'camera', 'eye'])
    def test_link_is_where_its_joints_are_measured(self, resolver, link, slash):
        T = in_base(resolver, pose_message(*SOMEWHERE, slash + link), measured)
        assert_close(T, judged(TREE, 'torso', link, VALUES) @ T_FRAME_TARGET)

    def test_joints_that_do_not_matter_need_not_be_measured(self, resolver):
        T = in_base(resolver, pose_message(*SOMEWHERE, 'eye'), lambda *_: {'pan': 1.1})
        assert_close(T, judged(TREE, 'torso', 'eye', VALUES) @ T_FRAME_TARGET)

    def test_link_whose_joint_is_not_measured_is_refused_naming_it(self, resolver):
        with pytest.raises(TargetError, match=r"'eye' cannot be told: .*'pan'"):
            in_base(resolver, pose_message(*SOMEWHERE, 'eye'), lambda *_: {'lift': 0.3})

    def test_link_on_a_joint_without_a_value_is_refused_naming_it(self, resolver):
        with pytest.raises(TargetError, match=r"'wheel' cannot be told: .*'hub' is floating"):
            in_base(resolver, pose_message(*SOMEWHERE, 'wheel'), measured)

    @pytest.mark.parametrize('frame', ['', '/'])
    def test_empty_frame_is_refused_with_the_name_to_use(self, resolver, frame):
        with pytest.raises(TargetError, match="frame_id is empty; use 'torso'"):
            in_base(resolver, pose_message(*SOMEWHERE, frame), measured)

    @pytest.mark.parametrize('frame', ['map', '//torso', 'Torso', 'torso ', 'world/torso'])
    def test_unknown_frame_is_refused_listing_the_links(self, resolver, frame):
        with pytest.raises(TargetError) as refused:
            in_base(resolver, pose_message(*SOMEWHERE, frame), measured)
        assert 'tf2_ros is not installed' in str(refused.value)
        assert 'world, torso, arm, hand, camera, eye, wheel' in str(refused.value)

    def test_bad_pose_is_refused_in_any_frame(self, resolver):
        for frame in ('torso', 'hand', 'map'):
            with pytest.raises(TargetError, match='norm'):
                in_base(resolver, pose_message(SOMEWHERE[0], (0, 0, 0, 0), frame), measured)

    def test_closing_without_tf_is_harmless(self, resolver):
        resolver.close()


class TestAtTheStamp:
    """Links are where the joints were then, by the history of their states."""

    def resolver_and_history(self, monkeypatch, period=0.01, end=5.0):
        no_tf(monkeypatch)
        return FrameResolver(None, load_urdf(TREE), 'torso'), history_of(TREE, period, end)

    @given(stamp=st.floats(0.1, 5.05), link=st.sampled_from(['world', 'hand', 'eye']))
    def test_a_link_is_where_it_was(self, stamp, link):
        """Up to 0.05 s after the newest state, too, all joints moving."""
        with pytest.MonkeyPatch.context() as monkeypatch:
            resolver, joints = self.resolver_and_history(monkeypatch)
        message = pose_message(*SOMEWHERE, link)
        message.header.stamp = Time(nanoseconds=round(1e9 * stamp)).to_msg()
        T = in_base(resolver, message, lambda t, names: joints.carried_on(t, names, 0.5))
        expected = judged(TREE, 'torso', link, motion_at(stamp)) @ T_FRAME_TARGET
        # Curvature over half a period in between; over the lag and as much before, after.
        lag = max(stamp - 5.0, 0.0)
        bound = HARDEST_MOTION * (0.5 * 0.01**2 if lag == 0.0 else lag * (lag + 0.03))
        assert np.abs(T - expected).max() <= bound

    def test_only_the_joints_that_move_a_link_are_asked_for(self, monkeypatch):
        resolver, _ = self.resolver_and_history(monkeypatch)
        asked = []

        def values(stamp, names):
            asked.append((stamp, set(names)))
            return VALUES

        for link in ('world', 'hand', 'eye'):
            message = pose_message(*SOMEWHERE, link)
            message.header.stamp.sec = 7
            in_base(resolver, message, values)
        assert asked == [(7.0, {'lift'}), (7.0, {'shoulder', 'wrist'}), (7.0, {'pan'})]


HARDEST_MOTION = 8.0
"""Bound of the acceleration of an entry of a pose while all joints move [1/s^2 or m/s^2]."""


def motion_at(time):
    """Joint values of a robot all joints of which move; 'pan' goes round."""
    return {
        'lift': 0.3 * np.sin(time),
        'shoulder': 0.8 * np.sin(1.3 * time),
        'wrist': 0.6 * np.cos(1.1 * time),
        'pan': 1.4 * time,
    }


def history_of(urdf, period, end):
    """History of a motion; two publishers tell the joints, and one says 'pan' within a turn."""
    joints = load_urdf(urdf).joints
    turning = [joint.name for joint in joints if joint.type.is_revolute]
    history = JointHistory([joint.name for joint in joints], turning)
    for time in np.arange(0.0, end + 0.5 * period, period).tolist():
        values = motion_at(time)
        pan = np.remainder(values.pop('pan') + np.pi, 2.0 * np.pi) - np.pi
        history.add(list(values), list(values.values()), time, time)
        history.add(['pan'], [pan], time, time)
    return history


class TransformError(Exception):
    """Stands for tf2_ros.TransformException."""


class ExtrapolationError(TransformError):
    """Stands for tf2_ros.ExtrapolationException."""


class TreeBuffer:
    """
    What tf knows: static frames, and frames that move, of which it has samples.

    As tf2 does it interpolates between samples, never beyond them; of several samples on a chain
    the newest time that all have is the newest; a static chain has the time 0.
    """

    def __init__(self):
        self.parents, self.static, self.samples = {}, {}, {}

    def add_static(self, parent, child, T):
        self.parents[child], self.static[child] = parent, pinocchio.SE3(T)

    def add_moving(self, parent, child, times, poses):
        self.parents[child] = parent
        self.samples[child] = list(zip(times, map(pinocchio.SE3, poses), strict=True))

    def lookup_transform(self, target, source, time):
        chains = [self._chain(frame) for frame in (target, source)]
        if chains[0][-1] != chains[1][-1]:
            raise TransformError(f'"{source}" and "{target}" are not connected')
        while len(chains[0]) > 1 and len(chains[1]) > 1 and chains[0][-2] == chains[1][-2]:
            for chain in chains:
                chain.pop()
        moving = [f for chain in chains for f in chain[:-1] if f in self.samples]
        if not moving:
            stamp = time.nanoseconds
        else:
            stamp = time.nanoseconds or min(round(1e9 * self.samples[f][-1][0]) for f in moving)
        T_target, T_source = (self._pose(chain, stamp) for chain in chains)
        found, T = TransformStamped(), T_target.inverse() * T_source
        found.header.stamp = Time(nanoseconds=stamp).to_msg()
        message = matrix_message(T.homogeneous).pose
        p, t = message.position, found.transform.translation
        t.x, t.y, t.z, found.transform.rotation = p.x, p.y, p.z, message.orientation
        return found

    def _chain(self, frame):
        known = {*self.parents, *self.parents.values()}
        if frame not in known:
            raise TransformError(f'"{frame}" passed to lookupTransform does not exist')
        chain = [frame]
        while chain[-1] in self.parents:
            chain.append(self.parents[chain[-1]])
        return chain

    def _pose(self, chain, stamp):
        T = pinocchio.SE3.Identity()
        for frame in chain[:-1]:
            T = self._step(frame, 1e-9 * stamp) * T
        return T

    def _step(self, frame, time):
        if frame in self.static:
            return self.static[frame]
        samples = self.samples[frame]
        if not samples[0][0] - 1e-9 <= time <= samples[-1][0] + 1e-9:
            raise ExtrapolationError(f'Lookup of "{frame}" would require extrapolation')
        after = next((i for i, (t, _) in enumerate(samples) if t >= time), len(samples) - 1)
        (begin, first), (end, last) = samples[max(after - 1, 0)], samples[after]
        share = 0.0 if end == begin else (time - begin) / (end - begin)
        return pinocchio.SE3.Interpolate(first, last, share)


def tf_of(monkeypatch, buffer, listeners=None):
    """Have tf2_ros with a buffer."""

    def listener(buffer, node):
        made = SimpleNamespace(unregister=lambda: listeners.remove(made))
        if listeners is not None:
            listeners.append(made)
        return made

    tf2_ros = ModuleType('tf2_ros')
    tf2_ros.Buffer, tf2_ros.TransformListener = lambda: buffer, listener
    tf2_ros.TransformException = TransformError
    tf2_ros.ExtrapolationException = ExtrapolationError
    monkeypatch.setitem(sys.modules, 'tf2_ros', tf2_ros)


def along_x(x):
    """Pose half round z, x metres away."""
    T = np.diag([-1.0, -1.0, 1.0, 1.0])
    T[0, 3] = x
    return T


def ball_pose():
    T = np.eye(4)
    T[0, 3] = 0.5
    return T


T_HAND_OPTICAL = pinocchio.XYZQUATToSE3(np.array([0.1, 0.0, 0.05, 0.5, 0.5, 0.5, 0.5]))


class TestWithTf:
    @pytest.fixture
    def listeners(self):
        return []

    @pytest.fixture
    def buffer(self):
        """Know a table that drives along x at 1 m/s, from 100 s to 200 s."""
        buffer, times = TreeBuffer(), np.arange(100.0, 200.01, 0.1)
        buffer.add_moving('torso', 'table', times, [along_x(t) for t in times])
        return buffer

    @pytest.fixture
    def resolver(self, monkeypatch, buffer, listeners):
        tf_of(monkeypatch, buffer, listeners)
        return FrameResolver(None, load_urdf(TREE), 'torso')

    def at(self, seconds, frame='table'):
        message = pose_message((0.0, 1.0, 0.0), (0.0, 0.0, 0.0, 1.0), frame)
        message.header.stamp = Time(nanoseconds=round(1e9 * seconds)).to_msg()
        return message

    @pytest.mark.parametrize(('stamp', 'used'), [(150.0, 150.0), (0.0, 200.0)])
    def test_frame_is_looked_up_at_the_stamp_and_zero_means_now(self, resolver, stamp, used):
        T = in_base(resolver, self.at(stamp), nothing)
        assert_close(T[:3, 3], [used, -1.0, 0.0], 1e-9)
        assert_close(T[:3, :3], np.diag([-1.0, -1.0, 1.0]), 1e-9)

    @pytest.mark.parametrize('lag', [0.01, 0.05, 0.1])
    def test_a_little_after_the_newest_a_frame_goes_on_as_it_did(self, resolver, lag):
        """It would be up to 0.1 m away from there."""
        T = in_base(resolver, self.at(200.0 + lag), nothing)
        assert_close(T[0, 3], 200.0 + lag, 1e-6)

    def test_a_correction_is_not_taken_for_a_motion(self, resolver, buffer):
        times = [150.0, 199.9, 200.0]
        buffer.add_moving('torso', 'table', times, [along_x(x) for x in (1.0, 1.0, 1.5)])
        assert_close(in_base(resolver, self.at(200.05), nothing)[0, 3], 1.5, 1e-9)

    @pytest.mark.parametrize('stamp', [200.2, 1000.0])
    def test_stamp_much_newer_than_tf_is_refused(self, resolver, stamp):
        with pytest.raises(TargetError, match=r"frame 'table': .*extrapolation"):
            in_base(resolver, self.at(stamp), nothing)

    def test_stamp_older_than_tf_is_refused(self, resolver):
        """The newest would be another pose than the one that was meant."""
        with pytest.raises(TargetError, match=r"frame 'table': .*extrapolation"):
            in_base(resolver, self.at(50.0), nothing)

    def test_frame_that_tf_does_not_know_is_refused_in_its_words(self, resolver):
        with pytest.raises(TargetError, match=r"frame 'map': .*does not exist"):
            in_base(resolver, self.at(150.0, 'map'), nothing)

    def test_links_are_not_looked_up(self, resolver):
        T = in_base(resolver, self.at(50.0, 'hand'), measured)
        assert_close(T[:3, :3], judged(TREE, 'torso', 'hand', VALUES)[:3, :3])

    @pytest.mark.parametrize('lag', [None, 0.3])
    @pytest.mark.parametrize('stamp', [1.0, 2.345, 4.99])
    def test_a_camera_under_a_moving_link_is_where_the_link_was(
        self, resolver, buffer, stamp, lag
    ):
        """Whether tf tells the links, late, or not at all: our own joints do."""
        buffer.add_static('hand', 'mount', np.eye(4))
        buffer.add_static('mount', 'optical', T_HAND_OPTICAL.homogeneous)
        if lag is not None:
            times = np.arange(0.0, 5.0 - lag, 0.05)
            hand = [judged(TREE, 'torso', 'hand', motion_at(t)) for t in times]
            buffer.add_moving('torso', 'hand', times, hand)
        joints = history_of(TREE, 0.01, 5.0)
        T = in_base(resolver, self.at(stamp, 'optical'), lambda t, n: joints.at(t, n))
        expected = judged(TREE, 'torso', 'hand', motion_at(stamp)) @ T_HAND_OPTICAL.homogeneous
        assert_close(T[:3, :3], expected[:3, :3], 1e-3)
        assert_close(T[:3, 3], (expected @ [0.0, 1.0, 0.0, 1.0])[:3], 1e-3)
        assert resolver.joints_of('optical') == ('shoulder', 'wrist')
        assert resolver.joints_of('table') == ()

    def test_a_camera_that_is_taken_to_another_link_is_found_there(self, resolver, buffer):
        buffer.add_static('hand', 'optical', np.eye(4))
        assert resolver.carrier_of('optical')[0] == 'hand'
        buffer.add_static('camera', 'optical', np.eye(4))
        assert resolver.carrier_of('optical')[0] == 'camera'

    def test_in_the_world_a_camera_on_a_link_is_where_both_were(self, monkeypatch, buffer):
        times = np.arange(0.0, 5.01, 0.05)
        base = [pinocchio.exp6(np.array([t, 0.0, 0.0, 0.0, 0.0, 0.2 * t])) for t in times]
        buffer.add_moving('odom', 'torso', times, [T.homogeneous for T in base])
        buffer.add_static('hand', 'optical', T_HAND_OPTICAL.homogeneous)
        tf_of(monkeypatch, buffer)
        resolver = FrameResolver(None, load_urdf(TREE), 'torso', 'odom')
        joints, message = history_of(TREE, 0.01, 5.0), self.at(3.0, 'optical')
        target = resolver.read(message)
        assert resolver.is_in_world(target.frame)
        T = resolver.target_in_world(target, joints.at)
        T_base_hand = judged(TREE, 'torso', 'hand', motion_at(3.0))
        T_world_base = pinocchio.exp6(np.array([3.0, 0.0, 0.0, 0.0, 0.0, 0.6])).homogeneous
        expected = T_world_base @ T_base_hand @ T_HAND_OPTICAL.homogeneous
        assert_close(T[:3, 3], (expected @ [0.0, 1.0, 0.0, 1.0])[:3], 1e-3)

    @pytest.mark.parametrize('is_locked', [False, True])
    @pytest.mark.parametrize('frame', ['hand', 'optical'])
    def test_obstacles_stay_where_the_camera_saw_them_or_are_attached(
        self, resolver, buffer, frame, is_locked
    ):
        """And those on a table that drives go with it, as tf tells."""
        buffer.add_static('hand', 'optical', T_HAND_OPTICAL.homogeneous)
        robot, joints = load_urdf(TREE), history_of(TREE, 0.01, 5.0)
        times = np.arange(0.0, 5.01, 0.1)
        buffer.add_moving('world', 'torso', times, [np.eye(4)] * len(times))
        buffer.add_moving('torso', 'table', times, [along_x(t) for t in times])
        parameters = SimpleNamespace(scene='', scene_timeout=0.0)
        scenes = []
        world = World(
            parameters,
            robot,
            'torso',
            resolver,
            {},
            lambda scene, changed: scenes.append(scene),
            HandledObstacles(None, ()),
        )
        marker = Marker(ns='ball', type=Marker.SPHERE, frame_locked=is_locked)
        marker.scale.x = marker.scale.y = marker.scale.z = 0.1
        marker.pose.position.x, marker.pose.orientation.w = 0.5, 1.0
        marker.header.frame_id, marker.header.stamp = frame, Time(seconds=3).to_msg()
        table = Marker(ns='table', type=Marker.SPHERE, scale=marker.scale, pose=marker.pose)
        table.header.frame_id = 'table'
        groups = after({}, MarkerArray(markers=[marker, table]), 5.0)

        def values(stamp, names):
            return joints.carried_on(stamp, names, 0.5) if names else {}

        world.set_groups(groups, 5.0, values)
        world.update(5.1, values)
        ball, on_table = sorted(scenes[-1], key=lambda obstacle: obstacle.name)
        T_hand_ball = np.eye(4) if frame == 'hand' else T_HAND_OPTICAL.homogeneous
        T_hand_ball = T_hand_ball @ ball_pose()
        T_root_hand = judged(TREE, 'world', 'hand', motion_at(3.0))
        expected = T_hand_ball if is_locked else T_root_hand @ T_hand_ball
        assert ball.link == ('hand' if is_locked else '')
        assert_close(ball.T_link_obstacle[:3, 3], expected[:3, 3], 1e-3)
        assert (on_table.link, len(scenes)) == ('', 1)
        assert_close(on_table.T_link_obstacle[:3, 3], [4.5, 0.0, 0.0], 1e-6)

    def test_closing_ends_the_listener(self, resolver, listeners):
        assert len(listeners) == 1
        resolver.close()
        assert not listeners

    def test_margin_is_a_tenth_of_a_second(self):
        from fabrik_ros.ros.inputs.frame_resolver import LONGEST_LAG

        assert Duration(seconds=0.1) == LONGEST_LAG


class TestOverTheWire:
    """The same, through the node: targets are fixed in the base when they arrive."""

    @pytest.mark.parametrize(
        'frame',
        mostly_long(['base_link', '/base_link', 'tool0', 'wrist_1_link'], 'wrist_1_link'),
    )
    def test_target_in_the_frame_of_a_link_is_reached(self, bench, six_axis, frame):
        bench.start_all(six_axis, values_at(JOINTS, START))
        link = frame.removeprefix('/')
        T_base_link = judged(six_axis, 'base_link', link, values_at(JOINTS, START))
        judge = Judge(six_axis, 'base_link', 'tool0')
        goal = shifted(judge.pose(START), y=0.1, z=0.05)
        bench.send(matrix_message(np.linalg.inv(T_base_link) @ goal, frame))
        bench.wait_for_state('REACHED')
        assert judge.errors(goal, bench.commands.q[-1]) < (1e-4, 1e-3)

    def test_target_in_a_frame_of_a_joint_outside_the_chain(self, bench):
        """The finger is measured, and moves nothing that the node commands."""
        arm = serial_xml([Segment(), *[Segment(xyz=(0.5, 0.0, 0.0))] * 3])
        start = {'j0': 0.1, 'j1': 1.0, 'j2': 0.5, 'finger': 0.8}
        arm = arm.replace('j3', 'finger')
        bench.start_all(arm, start, tip_link='l3', mode='position')
        goal = np.array([0.6, 0.5, 0.0, 1.0])
        p_finger = np.linalg.inv(judged(arm, 'l0', 'l4', start)) @ goal
        bench.send(pose_message(p_finger[:3], (0.0, 0.0, 0.0, 1.0), 'l4'))
        bench.wait_for_state('REACHED')
        assert bench.commands.names == {('j0', 'j1', 'j2')}
        tip = judged(arm, 'l0', 'l3', values_at(('j0', 'j1', 'j2'), bench.commands.q[-1]))
        assert np.linalg.norm(tip[:3, 3] - goal[:3]) < 1e-4
