"""Turn a recorded path of the tip into joint values at 100 Hz, without an arm; print them."""

from pathlib import Path
import sys

from fabrik_ros import ArmFollower, example_arm, FollowerOptions, load_urdf, pose_from_xyz_rpy
import numpy as np

DT = 0.01
default = Path(__file__).with_name('recorded_path.csv')
file = Path(sys.argv[1]) if len(sys.argv) > 1 else default
rows = np.loadtxt(file, delimiter=',')  # time [s], x, y, z [m], roll, pitch, yaw [rad]
poses = [pose_from_xyz_rpy(row[1:4], row[4:]) for row in rows]

arm = load_urdf(example_arm('six_axis')).chain('base_link', 'tool0')
options = FollowerOptions(
    path='line',  # targets that come fast are a stream: the line through them, and nothing else
    wait_for_state=False,  # nothing is measured
    start_configuration=(0.0, -1.2, 1.4, -1.8, -1.5, 0.0),
)
follower = ArmFollower(arm, options, looking_time=float('inf'))
print('time', *arm.joint_names, sep=',')
time, sent = 0.0, 0
while sent < len(rows) or not follower.is_at_rest:
    target = None
    if sent < len(rows) and rows[sent, 0] <= time:
        target, sent = poses[sent], sent + 1
    time += DT
    q = follower.step(target, DT)
    print(f'{time:.2f}', *(f'{value:.6f}' for value in q), sep=',')
print(f'{follower.state.name}: {follower.reason or "the whole path"}', file=sys.stderr)
