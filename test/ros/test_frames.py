"""Targets in other frames: links of the robot where they are measured, the rest by tf2."""

import sys
from types import ModuleType, SimpleNamespace

import pytest

pytest.importorskip('rclpy', reason='ROS 2 is not installed')
pytest.importorskip('pinocchio', reason='pinocchio is the judge')

from bench import JOINTS, matrix_message, pose_message, shifted, START, values_at
from fabrik_ros import load_urdf, TargetError
from fabrik_ros.ros.frame_resolver import FrameResolver
from geometry_msgs.msg import TransformStamped
from helpers import assert_close, joint_xml, mostly_long, robot_xml, Segment, serial_xml
from judging import Judge
import numpy as np
import pinocchio
from rclpy.duration import Duration
from rclpy.time import Time

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


def measured():
    return VALUES


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


T_FRAME_TARGET = pinocchio.XYZQUATToSE3(np.array([*SOMEWHERE[0], *SOMEWHERE[1]])).homogeneous


class TestWithoutTf:
    @pytest.fixture
    def resolver(self, monkeypatch):
        no_tf(monkeypatch)
        return FrameResolver(None, load_urdf(TREE), 'torso')

    @pytest.mark.parametrize('frame', ['torso', '/torso'])
    def test_base_frame_is_taken_as_it_is(self, resolver, frame):
        T = resolver.target_in_base(pose_message(*SOMEWHERE, frame), dict)
        assert_close(T, T_FRAME_TARGET)

    @pytest.mark.parametrize('slash', ['', '/'])
    @pytest.mark.parametrize('link', ['world', 'arm', 'hand', 'camera', 'eye'])
    def test_link_is_where_its_joints_are_measured(self, resolver, link, slash):
        T = resolver.target_in_base(pose_message(*SOMEWHERE, slash + link), measured)
        assert_close(T, judged(TREE, 'torso', link, VALUES) @ T_FRAME_TARGET)

    def test_joints_that_do_not_matter_need_not_be_measured(self, resolver):
        T = resolver.target_in_base(pose_message(*SOMEWHERE, 'eye'), lambda: {'pan': 1.1})
        assert_close(T, judged(TREE, 'torso', 'eye', VALUES) @ T_FRAME_TARGET)

    def test_link_whose_joint_is_not_measured_is_refused_naming_it(self, resolver):
        with pytest.raises(TargetError, match=r"'eye' cannot be told: .*'pan'"):
            resolver.target_in_base(pose_message(*SOMEWHERE, 'eye'), lambda: {'lift': 0.3})

    def test_link_on_a_joint_without_a_value_is_refused_naming_it(self, resolver):
        with pytest.raises(TargetError, match=r"'wheel' cannot be told: .*'hub' is floating"):
            resolver.target_in_base(pose_message(*SOMEWHERE, 'wheel'), measured)

    @pytest.mark.parametrize('frame', ['', '/'])
    def test_empty_frame_is_refused_with_the_name_to_use(self, resolver, frame):
        with pytest.raises(TargetError, match="frame_id is empty; use 'torso'"):
            resolver.target_in_base(pose_message(*SOMEWHERE, frame), measured)

    @pytest.mark.parametrize('frame', ['map', '//torso', 'Torso', 'torso ', 'world/torso'])
    def test_unknown_frame_is_refused_listing_the_links(self, resolver, frame):
        with pytest.raises(TargetError) as refused:
            resolver.target_in_base(pose_message(*SOMEWHERE, frame), measured)
        assert 'tf2_ros is not installed' in str(refused.value)
        assert 'world, torso, arm, hand, camera, eye, wheel' in str(refused.value)

    def test_bad_pose_is_refused_in_any_frame(self, resolver):
        for frame in ('torso', 'hand', 'map'):
            with pytest.raises(TargetError, match='norm'):
                resolver.target_in_base(pose_message(SOMEWHERE[0], (0, 0, 0, 0), frame), measured)

    def test_closing_without_tf_is_harmless(self, resolver):
        resolver.close()


class TransformError(Exception):
    """Stands for tf2_ros.TransformException."""


class ExtrapolationError(TransformError):
    """Stands for tf2_ros.ExtrapolationException."""


class FakeBuffer:
    """Knows where `table` was, from a first to a last time."""

    first, last = Time(seconds=100), Time(seconds=200)

    def lookup_transform(self, target, source, time):
        if source != 'table':
            raise TransformError(f'"{source}" passed to lookupTransform does not exist')
        if time.nanoseconds == 0:
            time = self.last
        if not self.first.nanoseconds <= time.nanoseconds <= self.last.nanoseconds:
            raise ExtrapolationError('Lookup would require extrapolation')
        stamped = TransformStamped()
        stamped.header.frame_id = target
        stamped.header.stamp = time.to_msg()
        stamped.transform.translation.x = 1e-9 * time.nanoseconds
        stamped.transform.rotation.z = 2.0
        stamped.transform.rotation.w = 0.0
        return stamped


class TestWithTf:
    @pytest.fixture
    def listeners(self):
        return []

    @pytest.fixture
    def resolver(self, monkeypatch, listeners):
        def listener(buffer, node):
            made = SimpleNamespace(unregister=lambda: listeners.remove(made))
            listeners.append(made)
            return made

        tf2_ros = ModuleType('tf2_ros')
        tf2_ros.Buffer, tf2_ros.TransformListener = FakeBuffer, listener
        tf2_ros.TransformException = TransformError
        tf2_ros.ExtrapolationException = ExtrapolationError
        monkeypatch.setitem(sys.modules, 'tf2_ros', tf2_ros)
        return FrameResolver(None, load_urdf(TREE), 'torso')

    def at(self, seconds, frame='table'):
        message = pose_message((0.0, 1.0, 0.0), (0.0, 0.0, 0.0, 1.0), frame)
        message.header.stamp = Time(nanoseconds=round(1e9 * seconds)).to_msg()
        return message

    @pytest.mark.parametrize(('stamp', 'used'), [(150.0, 150.0), (0.0, 200.0)])
    def test_frame_is_looked_up_at_the_stamp_and_zero_means_now(self, resolver, stamp, used):
        T = resolver.target_in_base(self.at(stamp), dict)
        assert_close(T[:3, 3], [used, -1.0, 0.0])
        assert_close(T[:3, :3], np.diag([-1.0, -1.0, 1.0]))

    def test_stamp_a_little_newer_than_tf_is_met_by_the_newest(self, resolver):
        assert_close(resolver.target_in_base(self.at(200.05), dict)[0, 3], 200.0)

    @pytest.mark.parametrize('stamp', [200.2, 1000.0])
    def test_stamp_much_newer_than_tf_is_refused(self, resolver, stamp):
        with pytest.raises(TargetError, match=r"frame 'table': .*extrapolation"):
            resolver.target_in_base(self.at(stamp), dict)

    def test_stamp_older_than_tf_is_refused(self, resolver):
        """The newest would be another pose than the one that was meant."""
        with pytest.raises(TargetError, match=r"frame 'table': .*extrapolation"):
            resolver.target_in_base(self.at(50.0), dict)

    def test_frame_that_tf_does_not_know_is_refused_in_its_words(self, resolver):
        with pytest.raises(TargetError, match=r"frame 'map': .*does not exist"):
            resolver.target_in_base(self.at(150.0, 'map'), dict)

    def test_links_are_not_looked_up(self, resolver):
        T = resolver.target_in_base(self.at(50.0, 'hand'), measured)
        assert_close(T[:3, :3], judged(TREE, 'torso', 'hand', VALUES)[:3, :3])

    def test_closing_ends_the_listener(self, resolver, listeners):
        assert len(listeners) == 1
        resolver.close()
        assert not listeners

    def test_margin_is_a_tenth_of_a_second(self):
        from fabrik_ros.ros.frame_resolver import LONGEST_LAG

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
