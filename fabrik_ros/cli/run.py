"""Move a simulated arm to targets, and show it in the browser; by the node where ROS 2 is."""

import argparse

from ..view.main import add_page_arguments, run_robot
from .arguments import add_robot, chain_of, read_robot


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what `run` reads."""
    add_robot(parser)
    parser.add_argument(
        '--no-ros',
        action='store_true',
        help='move the arm in this process, also where ROS 2 is installed',
    )
    parser.add_argument(
        '--namespace', default='', metavar='NAME', help='in ROS 2; default: the name of the robot'
    )
    parser.add_argument(
        '--physics',
        action='store_true',
        help='with ROS 2: an arm with weight and friction, in MuJoCo, instead of one that lags',
    )
    parser.add_argument(
        '--parts',
        default='',
        metavar='FILE',
        help='with --physics: what its gripper can grasp and move, as YAML like --scene',
    )
    add_page_arguments(parser)


def run(options: argparse.Namespace) -> int:
    """Move the arm until Ctrl-C."""
    robot = read_robot(options)
    return run_robot(robot, chain_of(robot, options), options)
