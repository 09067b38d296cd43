"""Plan round a wall, and print the way; with matplotlib, `--plot way.png` draws it."""

import argparse

from fabrik_ros import example_arm, load_urdf
from fabrik_ros.collision import Obstacle, Scene
from fabrik_ros.model.geometry import Box
from fabrik_ros.planning import plan
from fabrik_ros.transforms import transform
import numpy as np

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument('--plot', help='draw the joint values to this file')
plot = parser.parse_args().plot

robot = load_urdf(example_arm('six_axis'))
arm = robot.chain()
wall = Obstacle('wall', Box((0.5, 0.04, 0.8)), transform(np.eye(3), np.array([0.55, 0.0, 0.4])))
start = np.array([0.9, 0.6, 0.6, 0.0, 0.6, 0.0])
goal = start * [-1.0, 1.0, 1.0, 1.0, 1.0, 1.0]
way = plan(arm, start, arm.forward_kinematics(goal), Scene([wall]), robot=robot)
print(f'{way.outcome.value} in {way.planning_time:.3f} s: a way of {way.duration:.2f} s')
for time in np.linspace(0.0, way.duration, 6):
    print(f'{time:.2f} s: {np.round(way.at(time), 3)}')

if plot:
    from matplotlib import pyplot

    times = np.linspace(0.0, way.duration, 200)
    pyplot.plot(times, way.at(times), label=way.joint_names)
    pyplot.xlabel('time [s]')
    pyplot.ylabel('joint values [rad]')
    pyplot.legend()
    pyplot.savefig(plot)
