"""
Lines through waypoints, beside RoboPlan's `cartesian_planning` and beside one target at a time.

    python3 -m venv VENV && VENV/bin/pip install roboplan
    python benchmark/experiments/programs.py --roboplan VENV/bin/python

Random waypoints, 5 to 15 cm apart and turned by up to 0.3 rad, with the tip at 0.1 m/s; the same
velocities and accelerations of the joints. pinocchio judges where the tool goes. Without blends
the arm stops at each waypoint; with them the tool may pass it at 20 mm (here), or the joints by
RoboPlan's default.

"""

import argparse
import json
from pathlib import Path
import subprocess
import sys
import tempfile
import time

from fabrik_ros import ArmFollower, FollowerOptions, plan_program, State
from fabrik_ros.programs import Line, Program
from fabrik_ros.transforms import rotation_from_vector, transform
import numpy as np
import yaml

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / 'test'))

from helpers import example_robot
from random_programs import unit
from solving import judged

ARMS = 'ur5', 'panda', 'xarm7'
SPEED, BLEND, DT = 0.1, 0.02, 0.01
LONGEST_PAUSE = 100
OPTIONS = FollowerOptions()
ACCELERATION, VELOCITY = OPTIONS.max_joint_acceleration, OPTIONS.max_joint_velocity

TIP_LIMITS = {
    'max_angular_speed': OPTIONS.max_tip_rotation,
    'max_linear_acceleration': OPTIONS.max_tip_acceleration,
    'max_angular_acceleration': OPTIONS.max_tip_acceleration,
}
"""Those of RoboPlan by the names that they have there [rad/s, m/s^2, rad/s^2]."""


class RoboPlan:
    """RoboPlan in a process of its own."""

    def __init__(self, python: str, name: str) -> None:
        chain, path = judged(name)[0], example_robot(name)
        limits = {'max_acceleration': [ACCELERATION], 'max_velocity': [VELOCITY]}
        with tempfile.NamedTemporaryFile('w', suffix='.yaml', delete=False) as file:
            yaml.safe_dump({'joint_limits': dict.fromkeys(chain.joint_names, limits)}, file)
        script = Path(__file__).with_name('programs_roboplan.py')
        self._process = subprocess.Popen(
            [python, script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self._ask(
            {
                'urdf': str(path),
                'folder': str(path.parents[4]),
                'joints': list(chain.joint_names),
                'base_link': chain.base_link,
                'tip_link': chain.tip_links[0],
                'limits': file.name,
            }
        )

    def _ask(self, words: dict) -> None:
        print(json.dumps(words), file=self._process.stdin, flush=True)

    def plan(self, q: np.ndarray, poses: list, blends: bool) -> dict:
        """Ask for lines; the answer has `q` and `times`, or `why`."""
        tidy = [np.asarray(T).tolist() for T in poses]
        asked = {'poses': tidy, 'speed': SPEED, 'limits': TIP_LIMITS, 'dt': DT, 'blends': blends}
        self._ask({'start': q.tolist(), **asked})
        return json.loads(self._process.stdout.readline())

    def close(self) -> None:
        """End it."""
        self._process.stdin.close()
        self._process.wait()


def problem(rng: np.random.Generator, chain, judge) -> tuple[np.ndarray, list[np.ndarray]]:
    """Make a start, and the pose there with those to pass."""
    q = judge.random_configuration(rng, 0.4)
    q = q[[judge.joint_names.index(name) for name in chain.joint_names]]
    poses = [judge.pose(q, chain.joint_names)]
    for _ in range(int(rng.integers(3, 8))):
        T = poses[-1]
        R = rotation_from_vector(rng.uniform(0.0, 0.3) * unit(rng))
        step = rng.uniform(0.05, 0.15) * unit(rng)
        poses.append(transform(R @ T[:3, :3], T[:3, 3] + step))
    return q, poses


def off_lines(judge, names, q: np.ndarray, poses: list[np.ndarray]) -> float:
    """Greatest distance of the tool from the lines between the poses [m]."""
    tips = np.array([judge.pose(row, names)[:3, 3] for row in q])
    places = np.array([T[:3, 3] for T in poses])
    begin, way = places[:-1], np.diff(places, axis=0)
    share = np.sum((tips[:, None] - begin) * way, axis=2) / np.sum(way**2, axis=1)
    nearest = begin + np.clip(share, 0.0, 1.0)[..., None] * way
    return float(np.linalg.norm(tips[:, None] - nearest, axis=2).min(axis=1).max())


def one_at_a_time(chain, q: np.ndarray, poses: list[np.ndarray]) -> float | None:
    """Send each pose once the arm is at the one before; return how long all takes [s]."""
    options = FollowerOptions(path='line', max_tip_speed=SPEED, stream_timeout=0.0)
    follower, steps = ArmFollower(chain, options), 0
    q = follower.step(None, DT, measured=q)
    for T in poses[1:]:
        q = follower.step(T, DT, measured=q)
        while follower.state is not State.REACHED:
            q = follower.step(None, DT, measured=q)
            steps += 1
            if follower.state is State.HOLDING:
                return None
    return steps * DT


def measured(name: str, count: int, python: str | None) -> None:
    """Print one line for each way to do it."""
    chain, judge = judged(name)
    rows: dict[str, list] = {}
    peer = RoboPlan(python, name) if python else None
    rng = np.random.default_rng(1)
    for _ in range(count):
        q, poses = problem(rng, chain, judge)
        for blend in (0.0, BLEND):
            which = 'stops' if blend == 0.0 else 'blends'
            lines = [Line(T, speed=SPEED, blend=blend) for T in poses[1:]]
            begin = time.perf_counter()
            way = plan_program(chain, q, Program(lines))
            took = time.perf_counter() - begin
            is_line = bool(way) and 'goes to another configuration first' not in way.remarks
            off = off_lines(judge, chain.joint_names, way.q, poses) if is_line else np.nan
            duration = way.duration if way else np.nan
            rows.setdefault(f'fabrik_ros, {which}', []).append((bool(way), off, duration, took))
            if peer is None:
                continue
            found = peer.plan(q, poses, blend > 0.0)
            is_found = found['q'] is not None
            off = off_lines(judge, chain.joint_names, found['q'], poses) if is_found else np.nan
            duration = found['times'][-1] if is_found else np.nan
            rows.setdefault(f'RoboPlan, {which}', []).append(
                (is_found, off, duration, found['time'])
            )
        single = one_at_a_time(chain, q, poses)
        rows.setdefault('one target at a time', []).append(
            (single is not None, np.nan, np.nan if single is None else single, np.nan)
        )
    if peer is not None:
        peer.close()
    both = np.all([np.array(row)[:, 0] > 0 for row in rows.values()], axis=0)
    for way, row in rows.items():
        share, off, duration, took = np.array(row, dtype=float).T
        print(
            f'{name:6} {way:22} through {100.0 * share.mean():3.0f} %; of {both.sum()} by all: '
            f'off the lines {1e3 * np.median(off[both]):.3f} mm, duration '
            f'{np.median(duration[both]):.2f} s; planned in {1e3 * np.median(took[both]):.0f} ms'
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--count', type=int, default=40)
    parser.add_argument('--roboplan', metavar='PYTHON', help='an interpreter that has roboplan')
    options = parser.parse_args()
    for name in ARMS:
        measured(name, options.count, options.roboplan)


if __name__ == '__main__':
    main()
