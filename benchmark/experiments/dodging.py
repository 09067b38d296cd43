"""
How well spare joints get out of the way of a box, while a hand leads the tool.

In random scenes a hand leads the tool in a circle of 50 mm at 75 mm/s, and a box comes to the
elbow, or past it, at up to 0.2 m/s, and goes away again (`test/dodging_scenes.py`). Each is driven
with `dodge_distance` 0, so that the arm stops in front of the box, and with the default. Pinocchio
and coal judge where the tool is, and how near links come to the box.

    python benchmark/experiments/dodging.py --count 70 --arms panda xarm7 seven_axis

"""

import argparse
from pathlib import Path
import sys

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / 'test'))
import dodging_scenes
from fabrik_ros import example_arm, FollowerOptions, load_urdf, Robot
from fabrik_ros.model.chain import Chain
from helpers import example_robot, REAL_ARMS
from judging import Judge
import numpy as np

MOST_OFF = 1e-3
"""Largest distance of the tool from its circle [m]."""
HEADER = (
    '| arm | scenes | stopped without | stopped with | of those alone | off mm: median | max '
    '| farther than 1 mm | nearest mm | joints moved rad: median | max |'
)


def arm(name: str) -> tuple[Robot, Chain, Judge]:
    """Read an arm by its name, or from a URDF, and what judges it."""
    if name in REAL_ARMS:
        real, robot = REAL_ARMS[name], load_urdf(example_robot(name))
        chain = robot.chain(real.base_link or None, real.tip_link)
    else:
        robot = load_urdf(name if name.endswith('.urdf') else example_arm(name))
        chain = robot.chain()
    return robot, chain, Judge(robot.source, chain.base_link, chain.tip_link)


def packages(name: str) -> list[str]:
    """Folders in which the packages of an arm's meshes are."""
    if name not in REAL_ARMS:
        return []
    return [str(folder) for folder in Path(example_robot(name)).parents if folder.name == 'share']


def main() -> int:
    """Print a table; 1 where the tool is farther from its circle than it may be."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[1])
    parser.add_argument('--arms', nargs='+', default=['panda', 'xarm7', 'seven_axis'])
    parser.add_argument('--count', type=int, default=70, help='scenes for each arm')
    parser.add_argument('--seed', type=int, default=3)
    arguments = parser.parse_args()
    print(HEADER)
    print('|' + '---|' * (HEADER.count('|') - 1))
    has_failed = False
    for name in arguments.arms:
        robot, chain, judge = arm(name)
        found = dodging_scenes.cases(robot, chain, judge, arguments.seed)
        clear = dodging_scenes.BoxJudge(robot, chain, packages(name))
        stopped, off, near, moved = [], [], [], []
        for _ in range(arguments.count):
            case, alone = next(found)
            before, after = (
                dodging_scenes.drive(robot, chain, judge, case, distance)
                for distance in (0.0, FollowerOptions().dodge_distance)
            )
            stopped.append((before.was_blocked, after.was_blocked))
            if not after.was_blocked:
                off.append(case.off(after.tips))
                near.append(clear.nearest(case, after.q))
                moved.append(np.abs(after.q - alone.q).max())
        without, with_it = np.array(stopped).T
        count = int((np.array(off) > MOST_OFF).sum())
        has_failed = has_failed or count > 0
        print(
            f'| {Path(name).stem} | {len(stopped)} | {without.sum()} | {with_it.sum()} '
            f'| {(with_it & ~without).sum()} | {1e3 * np.median(off):.2f} | {1e3 * max(off):.2f} '
            f'| {count} | {1e3 * min(near):.1f} | {np.median(moved):.2f} | {max(moved):.2f} |',
            flush=True,
        )
    return 1 if has_failed else 0


if __name__ == '__main__':
    sys.exit(main())
