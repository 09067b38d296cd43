"""Run one launch file, as `ros2 launch` does, without needing ros2cli."""

import sys

from launch import LaunchDescription, LaunchService
from launch.actions import IncludeLaunchDescription


def main() -> int:
    path, *arguments = sys.argv[1:]
    pairs = [tuple(argument.split(':=', maxsplit=1)) for argument in arguments]
    service = LaunchService(argv=arguments)
    included = IncludeLaunchDescription(path, launch_arguments=pairs)
    service.include_launch_description(LaunchDescription([included]))
    return service.run()


if __name__ == '__main__':
    sys.exit(main())
