"""Send a simulated arm, with weight and friction, from pose to pose; needs MuJoCo and xacro."""

from fabrik_ros import ArmFollower, example_arm, FollowerOptions, parse_urdf, State
from fabrik_ros.sim.physics import PhysicalArm
import xacro

DT = 0.01
urdf = xacro.process_file(str(example_arm('six_axis'))).toxml()
robot = parse_urdf(urdf)
arm = robot.chain('base_link', 'tool0')
start = [0.0, -1.2, 1.4, -1.8, -1.5, 0.0]
physics = PhysicalArm(urdf, arm.joint_names)
physics.reset(dict(zip(arm.joint_names, start, strict=True)))
follower = ArmFollower(
    arm, FollowerOptions(max_tip_speed=0.5, home_configuration=tuple(start)), robot=robot
)
print(f'collision checking is {follower.collision_checking}')


def go(target):
    """Follow a target to its end, and say where the tip is."""
    follower.step(target, DT, physics.q)
    while follower.state in (State.LOOKING, State.MOVING):
        q = follower.step(None, DT, physics.q)
        physics.follow(q, follower.velocity)
        physics.step(DT)
    tip = arm.forward_kinematics(physics.q)[:3, 3]
    print(f'{follower.state.name}: {follower.reason or ""} tip at {tip.round(4)}')


go(arm.forward_kinematics([0.8, -1.0, 1.2, -1.8, -1.5, 0.4]))
go({arm.joint_names[0]: -0.5})
too_far = arm.forward_kinematics(start)
too_far[:3, 3] *= 4.0
go(too_far)
go('home')
