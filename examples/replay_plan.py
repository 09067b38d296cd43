"""Replay a plan as the node would: commands within all limits, a hundred a second."""

from fabrik_ros import example_arm, load_urdf, SolverOptions
from fabrik_ros.motion.choosing.goal import MotionOptions
from fabrik_ros.motion.choosing.motion import Motion
from fabrik_ros.motion.limits.limits import MotionLimits
from fabrik_ros.motion.paths.planned_path import PlannedPath
from fabrik_ros.planning import plan
import numpy as np

arm = load_urdf(example_arm('six_axis')).chain()
start = arm.mid_configuration()
way = plan(arm, start, start + 0.4)
limits = MotionLimits(0.25, 1.0, 1.0, np.full(len(arm), 1.0), np.full(len(arm), 5.0))
motion = Motion(arm, limits, SolverOptions(), MotionOptions())
motion.reset(start)
motion.follow(PlannedPath(motion.limiter, way.knots, straight_room=way.straight_room))
commands = [start]
while not (motion.is_at_rest and len(commands) > 1):
    motion.step(0.01)
    commands.append(motion.command[0])
print(f'{len(commands)} commands; the arm ends at {np.round(commands[-1], 3)}')
