"""Robot descriptions to start from: the bundled arms, real robots, and one with everything."""

from collections.abc import Mapping
from functools import cache

from fabrik_ros.model.examples import example_arm
from helpers import find_robot, REAL_ARMS, REAL_TREES

BUNDLED = ('six_axis', 'six_axis_gripper', 'seven_axis', 'planar_two_link')
LARGEST = 120_000
"""Real robots with more characters are left to other tests: reading them takes too long."""

EVERYTHING = """<?xml version="1.0"?>
<robot name="everything" version="1.1">
  <material name="grey"><color rgba="0.5 0.5 0.5 1"/></material>
  <link name="world"/>
  <link name="base">
    <inertial><origin xyz="0 0 0.1" rpy="0 0 0"/><mass value="4"/>
      <inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.2"/></inertial>
    <visual><geometry><mesh filename="package://arm/base.dae" scale="1 1 1"/></geometry>
      <material name="grey"/></visual>
    <collision name="foot"><origin xyz="0 0 0.1"/>
      <geometry><box size="0.3 0.2 0.2"/></geometry></collision>
  </link>
  <link name="carriage">
    <inertial><mass value="2"/>
      <inertia ixx="0.1" ixy="0.01" ixz="0" iyy="0.1" iyz="0" izz="0.1"/></inertial>
    <collision><geometry><sphere radius="0.08"/></geometry></collision>
  </link>
  <link name="upper_arm">
    <collision><origin xyz="0.25 0 0" rpy="0 1.5707963 0"/>
      <geometry><cylinder radius="0.05" length="0.4"/></geometry></collision>
  </link>
  <link name="forearm">
    <collision><origin xyz="0.2 0 0" rpy="0 1.5707963 0"/>
      <geometry><capsule radius="0.04" length="0.3"/></geometry></collision>
    <collision><geometry><mesh filename="package://arm/forearm.stl"/></geometry></collision>
  </link>
  <link name="wrist"/>
  <link name="hand"/>
  <link name="left_finger"/>
  <link name="right_finger"/>
  <link name="tool0"/>
  <link name="cart"/>
  <link name="balloon"/>
  <joint name="world_fixed" type="fixed">
    <parent link="world"/><child link="base"/><origin xyz="0 0 0.5" rpy="0 0 1.5707963267948966"/>
  </joint>
  <joint name="rail" type="prismatic">
    <parent link="base"/><child link="carriage"/><origin xyz="0 0 0.2"/><axis xyz="0 1 0"/>
    <limit lower="-0.4" upper="1.2" effort="200" velocity="0.5"/>
    <safety_controller soft_lower_limit="-0.35" soft_upper_limit="1.1" k_position="20"
      k_velocity="5"/>
    <dynamics damping="0.7" friction="0.1"/>
  </joint>
  <joint name="shoulder" type="revolute">
    <parent link="carriage"/><child link="upper_arm"/>
    <origin xyz="0 0 0.1" rpy="0.1 -0.2 0.3"/><axis xyz="0 0.6 0.8"/>
    <limit lower="-2.5" upper="2" effort="80" velocity="2"/>
    <calibration rising="0.0"/>
  </joint>
  <joint name="elbow" type="revolute">
    <parent link="upper_arm"/><child link="forearm"/><origin xyz="0.5 0 0"/><axis xyz="0 1 0"/>
    <limit lower="-2.6" upper="2.6" effort="40" velocity="3"/>
  </joint>
  <joint name="wrist_roll" type="continuous">
    <parent link="forearm"/><child link="wrist"/>
    <origin xyz="0.4 0 0" quat_xyzw="0 0.6 0 0.8"/><axis xyz="0 0 1"/>
    <limit effort="10" velocity="6"/>
  </joint>
  <joint name="parallel" type="revolute">
    <parent link="wrist"/><child link="hand"/><origin xyz="0 0 0.1"/><axis xyz="1 0 0"/>
    <limit lower="-3" upper="3" effort="10" velocity="6"/>
    <mimic joint="elbow" multiplier="-1" offset="0.1"/>
  </joint>
  <joint name="left_finger_joint" type="prismatic">
    <parent link="hand"/><child link="left_finger"/><axis xyz="0 1 0"/>
    <limit lower="0" upper="0.04" effort="5" velocity="0.1"/>
  </joint>
  <joint name="right_finger_joint" type="prismatic">
    <parent link="hand"/><child link="right_finger"/><axis xyz="0 -1 0"/>
    <limit lower="0" upper="0.04" effort="5" velocity="0.1"/>
    <mimic joint="left_finger_joint"/>
  </joint>
  <joint name="tool0_fixed" type="fixed">
    <parent link="hand"/><child link="tool0"/><origin xyz="0 0 0.12"/>
  </joint>
  <joint name="wheels" type="planar">
    <parent link="world"/><child link="cart"/><axis xyz="0 0 1"/>
  </joint>
  <joint name="string" type="floating"><parent link="cart"/><child link="balloon"/></joint>
  <transmission name="elbow_drive">
    <type>transmission_interface/SimpleTransmission</type>
    <joint name="elbow"><hardwareInterface>PositionJointInterface</hardwareInterface></joint>
    <actuator name="elbow_motor"><mechanicalReduction>100</mechanicalReduction></actuator>
  </transmission>
  <gazebo reference="base"><material>Gazebo/Grey</material><mu1>0.2</mu1></gazebo>
  <ros2_control name="arm" type="system">
    <hardware><plugin>mock_components/GenericSystem</plugin></hardware>
    <joint name="elbow"><command_interface name="position"/></joint>
  </ros2_control>
</robot>
"""


@cache
def originals() -> Mapping[str, str]:
    """Texts of the robots by name; what is not installed is missing."""
    found = {'everything': EVERYTHING, **_bundled()}
    for name in (*REAL_ARMS, *REAL_TREES):
        path = find_robot(name)
        text = path.read_text(encoding='utf-8-sig') if path else ''
        if 0 < len(text) <= LARGEST:
            found[name] = text
    return found


def _bundled() -> dict[str, str]:
    try:
        import xacro
    except ImportError:
        return {}
    return {name: xacro.process_file(str(example_arm(name))).toxml() for name in BUNDLED}
