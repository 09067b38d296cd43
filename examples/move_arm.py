"""Send an arm from pose to pose and home again, over a node that is running."""

import argparse

from fabrik_ros.commander import Arm, MoveFailed

DOWN = (1.0, 0.0, 0.0, 0.0)
"""Quaternion x y z w of a tool that points down."""

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument('--node', default='/fabrik', help='name of the node (default: /fabrik)')
with Arm(parser.parse_args().node) as arm:
    start = arm.joints
    for y in (-0.2, 0.0, 0.2):
        try:
            result = arm.move_to(((0.4, y, 0.4), DOWN), timeout=30.0)
        except MoveFailed as error:
            print(f'y = {y}: {error.code}: {error}')
        else:
            print(f'y = {y}: there, within {1000.0 * result.position_error:.1f} mm')
    print(f'back: {arm.move_to(start).state}')
