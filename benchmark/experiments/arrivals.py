"""
How many targets an arm reaches by the defaults, beside what an independent judge says of them.

Random poses are sent once each, to an ideal arm on a simulated clock, through the code that the
node has between a target and its commands. The arm starts from rest at a random configuration,
at zero, and where the last target ended. What is asked for and what the judge says: see
`arrival_tasks.py`. `benchmark/node/arrivals.py` does the same over ROS 2.

    python benchmark/experiments/arrivals.py --poses 20 --cache /tmp/ways --json /tmp/arrivals.json

With `--world table_and_wall` the arm stands on a table, with a wall beside it, and has the planner
of the node.

"""

from pathlib import Path
import sys

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / 'test'))

from arrival_run import measure, parser
from arrival_tasks import Arm
from simulated_drive import SimulatedDrive


def make_drive(arm: Arm) -> SimulatedDrive:
    """Make what drives an arm; say which pairs of links only one of drive and judge looks at."""
    source = arm.source
    drive = SimulatedDrive(arm.urdf, source.base_link, source.tip_link, arm.packages, arm.boxes)
    print(f'{arm.name}: {differences(arm, drive) or "the same pairs"}', file=sys.stderr)
    return drive


def differences(arm: Arm, drive: SimulatedDrive) -> str:
    """Say which pairs of links only one of them looks at: judge and drive choose on their own."""
    words = [
        f'only {who}: {", ".join(sorted("/".join(sorted(pair)) for pair in pairs))}'
        for who, pairs in (
            ('the judge', arm.judge.pairs - drive.pairs),
            ('the drive', drive.pairs - arm.judge.pairs),
        )
        if pairs
    ]
    return '; '.join(words)


if __name__ == '__main__':
    measure(parser(__doc__).parse_args(), make_drive)
