"""Replay a plan as the node would: commands within all limits, a hundred a second."""

from fabrik_ros import example_arm, FollowerOptions, load_urdf
from fabrik_ros.planning import plan
import numpy as np

arm = load_urdf(example_arm('six_axis')).chain()
start = arm.mid_configuration()
way = plan(arm, start, start + 0.4, options=FollowerOptions(max_joint_velocity=1.0))
times = np.arange(0.0, way.duration + 0.01, 0.01)
commands = way.at(times)
print(f'{len(commands)} commands; the arm ends at {np.round(commands[-1], 3)}')
