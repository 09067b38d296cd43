"""Put parts from a table into a bin, over a node that is running: see docs/commander.md."""

import sys

from fabrik_ros.commander import Arm

DOWN = (1.0, 0.0, 0.0, 0.0)  # quaternion x y z w of a tool that points down
SAFE, GRIP, DROP = 0.2, 0.015, 0.013  # height to go at, depth to hold parts at, height to drop [m]
PARTS = {  # where each is, how tall, where it goes [m]
    'part/1': ((0.45, -0.12), 0.045, (0.45, 0.19)),
    'part/2': ((0.45, -0.27), 0.05, (0.45, 0.3)),
    'part/3': ((0.45, -0.42), 0.06, (0.45, 0.41)),
}


def take_away(arm: Arm, name: str) -> str:
    """Take hold of a part, carry it to its place, let it go; say what has come of it."""
    here, height, there = PARTS[name]
    arm.move_to(((*here, SAFE), DOWN))
    arm.gripper.open()
    arm.move_through([((*here, height - GRIP), DOWN)], speed=0.1)  # in a line
    if not arm.gripper.close().holds:
        arm.move_through([((*here, SAFE), DOWN)], speed=0.2)
        return 'the gripper closed on nothing'
    arm.attach(name)
    arm.move_through([((*here, SAFE), DOWN)], speed=0.2)
    arm.move_to(((*there, SAFE), DOWN))
    arm.move_through([((*there, DROP + height - GRIP), DOWN)], speed=0.1)
    arm.gripper.open()
    arm.detach(name)
    arm.move_through([((*there, SAFE), DOWN)], speed=0.2)
    return 'is in the bin'


if __name__ == '__main__':
    with Arm(sys.argv[1] if len(sys.argv) > 1 else '/fabrik') as arm:
        for name in PARTS:
            print(f'{name}: {take_away(arm, name)}')
