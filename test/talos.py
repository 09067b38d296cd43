"""TALOS, a humanoid: two arms of seven joints on a torso of two."""

import functools

from helpers import example_robot
from two_arms import Judges

TALOS_TIPS = ('gripper_left_base_link', 'gripper_right_base_link')
TALOS_START = {
    'torso_1_joint': 0.0,
    'torso_2_joint': 0.1,
    **{
        f'arm_{side}_{i}_joint': value
        for side, sign in (('left', 1.0), ('right', -1.0))
        for i, value in enumerate((-0.3 * sign, 0.4 * sign, -0.5 * sign, -1.5, 0.3, 0.0, 0.1), 1)
    },
}


@functools.cache
def talos():
    return example_robot('talos_data/robots/talos_reduced.urdf').read_text()


@functools.cache
def talos_judges():
    return Judges(talos(), 'base_link', TALOS_TIPS, TALOS_START)
