"""Plan for a tree of tips, here with one: a pose for each, NaN for tips without a target."""

from fabrik_ros import example_arm, load_urdf
from fabrik_ros.planning import plan
import numpy as np

robot = load_urdf(example_arm('six_axis'))
tips = [robot.chain().tip_link]
arm = robot.tree('', tips)
start, goal = arm.mid_configuration(), arm.mid_configuration() + 0.3
way = plan(arm, start, arm.tip_poses(goal), robot=robot)
print(f'{way.outcome.value}: the tip {tips[0]} is at')
print(np.round(arm.tip_poses(way.q)[0], 3))
