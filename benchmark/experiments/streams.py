"""
How evenly arms follow a stream of targets that their joints can follow with much to spare.

Circles of 0.1 m at 0.2 m/s, with the defaults but `path: line`, targets late by up to 4 ms. Only
those count that a plain pseudo-inverse follows with 70 % of the speeds and accelerations of the
joints, 0.1 rad away from all limits, and with joint centres at 95 % of their speed. Pinocchio and
trigonometry judge. An arm fails where its tip goes slower than 95 % of the speed for longer than
0.1 s after the first half second, or is farther than 3 mm (root mean square) from where it was to
be a constant lag before.

    python benchmark/experiments/streams.py --count 40 --arms six_axis ur5 path/to/arm.urdf

"""

import argparse
from pathlib import Path
import sys

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / 'test'))
from dodging import arm
from followed_circles import circles, follow, Following
import numpy as np

ARMS = 'six_axis', 'seven_axis', 'ur5', 'ur10', 'panda', 'xarm7', 'z1', 'tiago'
RATES = 10.0, 15.0, 20.0, 30.0, 60.0, 100.0, 120.0
LONGEST_SLOW, MOST_DISTANCE = 0.1, 0.003
ROUNDING = 1e-9
HEADER = (
    '| arm | Hz | circles | slow for ms: worst | under half speed % | off mm: median | max '
    '| lag ms: median | max | failed |'
)


def fails(done: Following) -> bool:
    """Whether a circle was followed too unevenly, or too far away."""
    return done.longest_slow > LONGEST_SLOW + ROUNDING or done.distance > MOST_DISTANCE


def row(name: str, rate: float, all_done: list[Following]) -> str:
    """Write figures as a line of a table."""
    longest, slow, distances, lags = np.array(all_done).T
    return (
        f'| {name} | {rate:g} | {len(all_done)} | {1e3 * longest.max():.0f} '
        f'| {100.0 * slow.mean():.1f} | {1e3 * np.median(distances):.2f} '
        f'| {1e3 * distances.max():.2f} | {1e3 * np.median(lags):.0f} | {1e3 * lags.max():.0f} '
        f'| {sum(fails(done) for done in all_done)} |'
    )


def main() -> int:
    """Print a table; 1 where an arm fails."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[1])
    parser.add_argument('--arms', nargs='+', default=list(ARMS), help='names, or URDF files')
    parser.add_argument('--count', type=int, default=40, help='circles for each arm')
    parser.add_argument('--rates', nargs='+', type=float, default=list(RATES), help='[Hz]')
    parser.add_argument('--jitter', type=float, default=0.004, help='of the arrival [s]')
    parser.add_argument('--seed', type=int, default=2)
    arguments = parser.parse_args()
    print(HEADER)
    print('|' + '---|' * (HEADER.count('|') - 1))
    has_failed = False
    for name in arguments.arms:
        _, chain, judge = arm(name)
        found = circles(judge, arguments.seed)
        drawn = [next(found) for _ in range(arguments.count)]
        for rate in arguments.rates:
            all_done = [
                follow(chain, judge, circle, rate, arguments.jitter, seed)
                for seed, circle in enumerate(drawn)
            ]
            has_failed = has_failed or any(map(fails, all_done))
            print(row(Path(name).stem, rate, all_done), flush=True)
    return 1 if has_failed else 0


if __name__ == '__main__':
    sys.exit(main())
