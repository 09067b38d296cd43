r"""
Put parts from a table into a bin, with a gripper, over a node that is running.

python3 -m fabrik_ros run six_axis_gripper --physics \
    --scene config/pick_and_place.yaml --parts config/pick_and_place_parts.yaml
python3 examples/pick_and_place.py --node /six_axis_gripper/fabrik

"""

import argparse

from fabrik_ros.commander import Arm, MoveFailed

DOWN = (1.0, 0.0, 0.0, 0.0)
"""Quaternion x y z w of a tool that points down."""
SAFE = 0.2
"""Height in which parts are carried [m]."""
GRIP = 0.015
"""How far below the top of a part the fingers hold it [m]."""
GAP = 0.003
"""Distance from the bin at which parts are let go [m]: more than its `clearance` in the scene."""
BIN = 0.01
"""Height of the floor of the bin [m]."""
PARTS = {
    'part/1': (0.45, -0.12, 0.045),
    'part/2': (0.45, -0.27, 0.05),
    'part/3': (0.45, -0.42, 0.06),
}
"""Parts on the table: where each is, and how tall [m]."""
PLACES = {'part/1': (0.45, 0.19), 'part/2': (0.45, 0.3), 'part/3': (0.45, 0.41)}
"""Where they go [m]."""


def pick(arm: Arm, name: str) -> bool:
    """Take hold of a part and lift it; tell whether the gripper holds it."""
    x, y, height = PARTS[name]
    arm.move_to(((x, y, SAFE), DOWN))
    arm.gripper.open()
    arm.move_through([((x, y, height - GRIP), DOWN)], speed=0.1)  # in a line
    grip = arm.gripper.close()
    if grip.holds:
        arm.attach(name)
        print(f'{name}: holds it, {1000.0 * grip.width:.0f} mm wide')
    arm.move_through([((x, y, SAFE), DOWN)], speed=0.2)
    return grip.holds


def place(arm: Arm, name: str) -> None:
    """Carry a part to its place, let it go and leave it there."""
    x, y = PLACES[name]
    height = BIN + GAP + PARTS[name][2] - GRIP
    arm.move_to(((x, y, SAFE), DOWN))
    arm.move_through([((x, y, height), DOWN)], speed=0.1)
    arm.gripper.open()
    arm.detach(name)
    arm.move_through([((x, y, SAFE), DOWN)], speed=0.2)
    print(f'{name}: is in the bin')


def put_all_away(arm: Arm) -> list[str]:
    """Put all parts into the bin; return the names of those that are there."""
    done = []
    for name in PARTS:
        try:
            if pick(arm, name):
                place(arm, name)
                done.append(name)
            else:
                print(f'{name}: the gripper closed on nothing; on to the next one')
        except MoveFailed as error:
            print(f'{name}: {error.code}: {error}')
            break
    return done


if __name__ == '__main__':
    parser = argparse.ArgumentParser(description=__doc__.strip().splitlines()[0])
    parser.add_argument('--node', default='/fabrik', help='name of the node (default: /fabrik)')
    with Arm(parser.parse_args().node) as arm:
        print(f'{len(put_all_away(arm))} of {len(PARTS)} parts are in the bin')
