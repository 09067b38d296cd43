"""
Arms with fewer than six joints in mode 'auto', through `plan` and `ArmFollower`.

A single target is met wholly where that can be, whatever branch the arm is on; a stream stays on
its branch. How far the tool is turned off is said. Pinocchio judges.

"""

import math

from fabrik_ros import ArmFollower, FollowerOptions, load_urdf, State
from fabrik_ros.planning import plan
from fabrik_ros.reasons import ReasonKind
from fabrik_ros.transforms import rotation_from_vector, transform
from helpers import example_robot
import numpy as np
import pytest

pytest.importorskip('pinocchio')
from judging import Judge

PERIOD = 0.02
LONGEST = 3000
"""Steps for which an arm may take on its way [1]."""

FOUR = """
<robot name="four">
  <link name="b"/> <link name="a"/> <link name="u"/> <link name="f"/> <link name="h"/>
  <link name="t"/>
  <joint name="yaw" type="revolute">
    <parent link="b"/> <child link="a"/> <origin xyz="0 0 0.08"/> <axis xyz="0 0 1"/>
    <limit lower="-3.1" upper="3.1" velocity="2" effort="1"/>
  </joint>
  <joint name="shoulder" type="revolute">
    <parent link="a"/> <child link="u"/> <origin xyz="0 0 0.05"/> <axis xyz="0 1 0"/>
    <limit lower="-1.9" upper="1.9" velocity="2" effort="1"/>
  </joint>
  <joint name="elbow" type="revolute">
    <parent link="u"/> <child link="f"/> <origin xyz="0.03 0 0.13"/> <axis xyz="0 1 0"/>
    <limit lower="-1.9" upper="1.9" velocity="2" effort="1"/>
  </joint>
  <joint name="wrist" type="revolute">
    <parent link="f"/> <child link="h"/> <origin xyz="0.12 0 0"/> <axis xyz="0 1 0"/>
    <limit lower="-1.9" upper="1.9" velocity="2" effort="1"/>
  </joint>
  <joint name="tool" type="fixed">
    <parent link="h"/> <child link="t"/> <origin xyz="0.12 0 0"/>
  </joint>
</robot>"""
"""A plain arm: it turns, and three joints bend."""

REAL = {
    'so101': ('so_arm_description/urdf/so101.urdf', 'base_link', 'gripper_frame_link'),
    'so100': ('so_arm_description/urdf/so100.urdf', 'base', 'gripper'),
    'hextilt': ('hextilt_description/urdf/hextilt_flying_arm_5.urdf', '', 'flying_arm_5__gripper'),
    'romeo': ('romeo_description/urdf/romeo_small.urdf', '', 'gaze'),
    'allegro': ('allegro_hand_description/urdf/allegro_right_hand.urdf', '', 'link_3.0_tip'),
    'anymal': ('anymal_b_simple_description/robots/anymal.urdf', '', 'LF_FOOT'),
    'solo': ('solo_description/robots/solo12.urdf', '', 'FL_FOOT'),
    'finger': ('finger_edu_description/robots/finger_edu.urdf', '', 'finger_tip_link'),
}
"""Chains of three to five joints of example-robot-data: file, first link or '', last link."""


def arm_of(name: str):
    """Read an arm by its name; return its chain and its judge."""
    if name == 'four':
        urdf, base, tip = FOUR, 'b', 't'
    else:
        path, base, tip = REAL[name]
        urdf = example_robot(path).read_text()
    robot = load_urdf(urdf)
    chain = robot.chain(base or robot.root_link, tip)
    return chain, Judge(urdf, chain.base_link, chain.tip_link)


def brought_to(chain, follower: ArmFollower, T, q, others=()):
    """Bring an arm that follows exactly to a target; `others` come one a step before."""
    for target in (*others, T):
        q = follower.step(target, PERIOD, measured=q)
    for _ in range(LONGEST):
        q = follower.step(None, PERIOD, measured=q)
        if follower.is_at_rest and follower.state in (State.REACHED, State.HOLDING):
            break
    return q


@pytest.mark.parametrize(
    ('name', 'count'), [('four', 8), ('so101', 4), *((n, 3) for n in REAL if n != 'so101')]
)
def test_a_pose_that_can_be_met_is_met(name, count):
    chain, judge = arm_of(name)
    rng, reached = np.random.default_rng(3), 0
    for _ in range(count):
        T = judge.pose(chain.random_configuration(rng))
        q = chain.random_configuration(rng)
        way = plan(chain, q, T)
        assert way.found
        assert judge.errors(T, way.q) < (1e-5, 1e-4)
        assert way.orientation_error < 1e-4
        follower = ArmFollower(chain, FollowerOptions(), looking_time=math.inf)
        q = brought_to(chain, follower, T, q)
        if follower.state is State.REACHED:
            reached += 1
            assert judge.errors(T, q) < (1e-4, 1e-3)
            assert follower.reason is None
    assert reached >= 0.6 * count


def test_a_line_that_ends_beside_a_better_branch_is_left():
    """The elbow would end nearly stretched, bent the other way than the pose asks for."""
    chain, judge = arm_of('finger')
    T = judge.pose(np.array([-1.4512, 1.1819, -0.2028]))
    follower = ArmFollower(chain, FollowerOptions(), looking_time=math.inf)
    q = brought_to(chain, follower, T, np.array([0.1497, -0.5587, 1.5791]))
    assert follower.state is State.REACHED
    assert follower.reason is None
    assert judge.errors(T, q) < (1e-4, 1e-3)


@pytest.mark.parametrize(
    'name', ['four', 'so101', pytest.param('allegro', marks=pytest.mark.long)]
)
def test_how_far_the_tool_is_turned_off_is_said(name):
    chain, judge = arm_of(name)
    rng = np.random.default_rng(4)
    for _ in range(3):
        turn = transform(rotation_from_vector(rng.normal(size=3)), np.zeros(3))
        T = judge.pose(chain.random_configuration(rng)) @ turn
        q = chain.random_configuration(rng)
        way = plan(chain, q, T)
        turned = judge.errors(T, way.q)[1]
        assert abs(way.orientation_error - turned) < 1e-6
        follower = ArmFollower(chain, FollowerOptions(), looking_time=math.inf)
        q = brought_to(chain, follower, T, q)
        assert follower.state is State.REACHED
        assert follower.reason.kind is ReasonKind.TURNED_OFF
        off = judge.errors(T, q)[1]
        assert off == pytest.approx(turned, abs=2e-3)
        assert f'{off:.3f}' in str(follower.reason)


def test_a_stream_stays_on_its_branch_and_says_so():
    """The tool goes down beside the arm: the pose has the elbow on the other side."""
    chain, judge = arm_of('four')
    q = np.array([0.3, 0.6, 0.5, 0.4])
    T = judge.pose(q)
    turned = T @ transform(rotation_from_vector([0.0, 1.4, 0.0]), np.zeros(3))
    steps = [T @ transform(np.eye(3), [0.0005 * k, 0.0, 0.0]) for k in range(10)]
    follower = ArmFollower(chain, FollowerOptions(), looking_time=math.inf)
    followed = brought_to(chain, follower, turned, q, steps)
    assert np.abs(followed - q).max() < 1.5
    assert follower.state is State.REACHED
    off = judge.errors(turned, followed)[1]
    assert (follower.reason is not None) == (off > 0.05)
