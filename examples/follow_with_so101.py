"""Send an SO-101 to a pose over its servo bus; here a stand-in takes the place of the bus."""

import argparse
import time

from fabrik_ros import ArmFollower, FollowerOptions, JointMap, load_urdf, pose_from_xyz_rpy, State
from so101_stand_in import StandIn

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument('urdf', help='so101_new_calib.urdf of TheRobotStudio/SO-ARM100')
arm = load_urdf(parser.parse_args().urdf).chain('base_link', 'gripper_frame_link')
# With a real arm and lerobot: the `bus` of its follower, connected, with use_degrees=True.
bus = StandIn()
RATE = 50.0
motors = list(arm.joint_names)
# Of your own arm: which way each servo turns, and what it reads where the URDF has its zero.
joints = JointMap(signs=[1, -1, 1, 1, -1], offsets=[0.0, 4.5, -2.0, 0.0, 90.0], unit='deg')
options = FollowerOptions(
    command_rate=RATE, position_tolerance=1e-4, max_tip_speed=0.15, resync_tolerance=0.2
)
follower = ArmFollower(arm, options)
target = pose_from_xyz_rpy([0.24, -0.11, 0.085], [-2.98, 0.55, 2.94])
last = time.monotonic() - 1.0 / RATE
while follower.state not in (State.REACHED, State.HOLDING):
    try:
        read = bus.sync_read('Present_Position', motors)
        measured = joints.to_joints([read[motor] for motor in motors])
    except ConnectionError as error:
        print(f'a read failed, the arm goes on: {error}')
        measured = None
    now = time.monotonic()
    q, last = follower.step(target, now - last, measured), now
    bus.sync_write('Goal_Position', dict(zip(motors, joints.to_motors(q), strict=True)))
    time.sleep(max(0.0, last + 1.0 / RATE - time.monotonic()))
print(f'{follower.state.name}: {follower.reason or ""} at {q.tolist()}')
