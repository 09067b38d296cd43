"""Say what is installed, what is missing, and what is wrong with the nodes that are running."""

import argparse
import os

from ..errors import MissingRosError
from ..found_ros import require_ros
from .installed import findings
from .tables import table

WRONG = 'WRONG'


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `fabrik_ros doctor`."""
    parser.epilog = (
        'Marks: ok; missing, something that may be; note; WRONG, with exit code 1. ROS_DOMAIN_ID '
        'and ROS_AUTOMATIC_DISCOVERY_RANGE choose which nodes are heard.'
    )


def run(options: argparse.Namespace) -> int:
    """Print what was found; 1 if something is wrong."""
    print('installed:')
    rows = [(finding.mark, finding.what, finding.text) for finding in findings()]
    print(table(rows))
    domain = os.environ.get('ROS_DOMAIN_ID', '0')
    print(f'running (ROS_DOMAIN_ID {domain}):', flush=True)
    running = _running()
    print(table(running))
    return 1 if any(mark == WRONG for mark, _, _ in [*rows, *running]) else 0


def _running() -> list[tuple[str, str, str]]:
    try:
        require_ros()
        from ..ros.beside.graph_check import look_at_graph
    except (MissingRosError, ImportError):
        return [('note', 'graph', 'not looked at, as ROS 2 is missing')]
    return look_at_graph()
