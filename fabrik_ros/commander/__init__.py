"""An arm that a running node moves, commanded from Python: `Arm`; needs ROS 2."""

from ..found_ros import require_ros

require_ros()

from .arm import Arm  # noqa: E402
from .gripper import Gripper, GripperResult  # noqa: E402
from .results import MoveFailed, MoveRefused, MoveResult, MoveStopped, Status  # noqa: E402

__all__ = [
    'Arm',
    'Gripper',
    'GripperResult',
    'MoveFailed',
    'MoveRefused',
    'MoveResult',
    'MoveStopped',
    'Status',
]
