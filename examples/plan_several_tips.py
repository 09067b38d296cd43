"""Plan for two arms on one base, of which one has a target; the other stays where it is."""

from fabrik_ros import parse_urdf
from fabrik_ros.planning import plan
import numpy as np

LIMIT = '<limit lower="-2.5" upper="2.5" velocity="1" effort="1"/>'
BOX = (
    "<collision><origin xyz='0.2 0 0'/><geometry><box size='0.3 0.05 0.05'/></geometry>"
    '</collision>'
)


def arm_xml(side: str, y: float) -> str:
    """Write two links in a plane, and a tip."""
    upper, lower, tip = (f'{side}_{part}' for part in ('upper', 'lower', 'tip'))
    axis = '<axis xyz="0 0 1"/>' + LIMIT
    return f"""
    <link name="{upper}">{BOX}</link><link name="{lower}">{BOX}</link><link name="{tip}"/>
    <joint name="{side}_shoulder" type="revolute"><parent link="base"/><child link="{upper}"/>
      <origin xyz="0 {y} 0"/>{axis}</joint>
    <joint name="{side}_elbow" type="revolute"><parent link="{upper}"/><child link="{lower}"/>
      <origin xyz="0.4 0 0"/>{axis}</joint>
    <joint name="{side}_tool" type="fixed"><parent link="{lower}"/><child link="{tip}"/>
      <origin xyz="0.4 0 0"/></joint>"""


arms = arm_xml('left', 0.3) + arm_xml('right', -0.3)
robot = parse_urdf(f'<robot name="two_arms"><link name="base"/>{arms}</robot>')
both = robot.tree('base', ['left_tip', 'right_tip'])
start = np.array([0.5, 0.5, -0.5, -0.5])
goal = np.array([-0.3, 1.2, -0.5, -0.5])
targets = both.tip_poses(goal)
targets[1] = np.nan
way = plan(both, start, targets, robot=robot)
print(f'{way.outcome.value}: {", ".join(both.joint_names)} are at')
print(np.round(way.q, 3))
