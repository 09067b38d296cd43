"""Whether ROS 2 is there: what needs it asks before it imports it."""

import importlib.util
import sys

from .errors import MissingRosError

NO_ROS = (
    'needs ROS 2, and Python finds no rclpy: source ROS 2 (/opt/ros/<distro>/setup.bash), or pip '
    "install '.[ros]' in the checkout (Linux x86-64)"
)
"""Refusal where ROS 2 is missing, with the cure."""


def require_ros() -> None:
    """Raise MissingRosError where Python finds no rclpy."""
    if sys.modules.get('rclpy', '') is None or importlib.util.find_spec('rclpy') is None:
        raise MissingRosError(NO_ROS)
