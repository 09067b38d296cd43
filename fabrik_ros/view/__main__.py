"""`python -m fabrik_ros.view view|run arm.urdf`."""

import argparse
import sys

from ..errors import FabrikError
from . import main as commands


def main() -> int:
    """Run a command; an error is one line."""
    parser = argparse.ArgumentParser(prog='python -m fabrik_ros.view', description=__doc__)
    subparsers = parser.add_subparsers(dest='command', required=True)
    commands.add_view_arguments(
        subparsers.add_parser('view', help='sliders, and a handle that solves as it is dragged')
    )
    commands.add_run_arguments(
        subparsers.add_parser('run', help='a simulated arm that goes to targets')
    )
    args = parser.parse_args()
    try:
        return {'view': commands.view, 'run': commands.run}[args.command](args)
    except (FabrikError, OSError) as error:
        print(f'fabrik_ros {args.command}: {error}', file=sys.stderr)
        return 1


if __name__ == '__main__':
    sys.exit(main())
