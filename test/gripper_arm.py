"""An arm of three joints in a plane with a hand whose two fingers slide, drawn with boxes."""

from helpers import joint_xml, robot_xml

WIDE = '<limit lower="-3" upper="3" velocity="2" effort="9"/>'
STROKE = 0.04
"""Way of each finger [m]."""
OPENING = f'<limit lower="0" upper="{STROKE}" velocity="0.2" effort="9"/>'
MIMIC = '<mimic joint="left_finger_joint"/>'
REACH = 0.3 + 0.3 + 0.2
"""Distance from the first joint to the tip of the arm stretched out [m]."""
FINGER = 0.01
"""Half of the width of a finger [m]."""


def box(name: str, size: str, xyz: str) -> str:
    geometry = f'<geometry><box size="{size}"/></geometry>'
    return f'<link name="{name}"><collision><origin xyz="{xyz}"/>{geometry}</collision></link>'


def gripper_arm(
    left: str = f'<axis xyz="0 1 0"/>{OPENING}',
    right: str = f'<axis xyz="0 -1 0"/>{OPENING}{MIMIC}',
) -> str:
    """Write the arm; the fingers stand at y = +-0.01, and open along y."""
    return robot_xml(
        'base tip',
        box('upper', '0.2 0.05 0.05', '0.15 0 0'),
        box('lower', '0.2 0.05 0.05', '0.15 0 0'),
        box('palm', '0.04 0.1 0.04', '0.08 0 0'),
        box('left_finger', '0.1 0.02 0.02', '0.05 0 0'),
        box('right_finger', '0.1 0.02 0.02', '0.05 0 0'),
        joint_xml('shoulder', 'base', 'upper', body=f'<axis xyz="0 0 1"/>{WIDE}'),
        joint_xml(
            'elbow', 'upper', 'lower', body=f'<origin xyz="0.3 0 0"/><axis xyz="0 0 1"/>{WIDE}'
        ),
        joint_xml(
            'wrist', 'lower', 'palm', body=f'<origin xyz="0.3 0 0"/><axis xyz="0 0 1"/>{WIDE}'
        ),
        joint_xml('tool', 'palm', 'tip', 'fixed', '<origin xyz="0.2 0 0"/>'),
        joint_xml(
            'left_finger_joint',
            'palm',
            'left_finger',
            'prismatic',
            f'<origin xyz="0.1 {FINGER} 0"/>{left}',
        ),
        joint_xml(
            'right_finger_joint',
            'palm',
            'right_finger',
            'prismatic',
            f'<origin xyz="0.1 -{FINGER} 0"/>{right}',
        ),
    )
