"""
The arms and targets of the arrivals, and what the judge says of them.

A target is the pose of a random configuration inside the limits that the judge of ways finds free
(`test/way_judge.py`), and to which the reference planner finds a way from the start. Its verdict
says whether (a) the straight line of the tip is free, (b) a straight joint move to any
configuration at the target that many seeds find, in whole turns too, is free, (c) such a move
over one of 1,000 random configurations is. Among obstacles the reference planner says enough: that
there is a way. There it is asked only where an arm does not arrive, since one that does has shown
it: the share of arrivals is the same, and known an order of magnitude sooner.

"""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
import hashlib
from importlib import metadata
from pathlib import Path
import shelve
from typing import Any
import zlib

import fabrik_ros
import numpy as np
from reference_planner import finds_way
from way_judge import BoxAround, LEAST_JOINTS_FOR_POSES, WayJudge

STARTS = 'rest', 'zero', 'last'
"""At rest at a random free configuration; at zero; where the last target ended."""
JUDGE_RULES = 1
"""Counted up when the rules of the judge change: what was kept before is judged anew."""
TOWARDS_MIDDLE = 0.02
"""Share of the way to mid limits by which a start at zero gives way to a collision."""
MOST_GOALS = 2
"""An arm that has a way to none of so many goals starts elsewhere [1]."""
REACH_SAMPLES = 1000
"""Number of random configurations by which the reach of an arm is found [1]."""
PEDESTAL, THICKNESS = 0.15, 0.03
"""An arm stands so much higher than its table; so thick are table and wall [m]."""


@dataclass(frozen=True)
class Source:
    """An arm: its file in example-robot-data, or its name among the bundled ones."""

    file: str
    base_link: str = 'base_link'
    tip_link: str = 'tool0'


ARMS = {
    'six_axis': Source('six_axis'),
    'ur10': Source('ur_description/urdf/ur10_robot.urdf'),
    'panda': Source('panda_description/urdf/panda.urdf', 'panda_link0', 'panda_link8'),
    'xarm7': Source('xarm_description/urdf/xarm7.urdf', 'link_base', 'link_eef'),
    'jaco': Source('kinova_description/robots/kinova.urdf', 'base', 'j2s6s200_end_effector'),
    'so101': Source('so_arm_description/urdf/so101.urdf', 'base_link', 'gripper_frame_link'),
}
OTHER_ARMS = {
    'seven_axis': Source('seven_axis'),
    'ur5': Source('ur_description/urdf/ur5_robot.urdf'),
    'z1': Source('z1_description/urdf/z1.urdf', 'world', 'link06'),
    'tiago': Source('tiago_description/robots/tiago.urdf', 'torso_lift_link', 'arm_7_link'),
}
"""Not among those of the table."""


@dataclass(frozen=True, eq=False)
class Arm:
    """An arm as its judge knows it."""

    name: str
    urdf: str
    source: Source
    packages: tuple[str, ...]
    """Folders that packages with meshes are in."""
    judge: WayJudge
    boxes: Mapping[str, BoxAround]
    """What stands around it, by name."""

    @property
    def meets_poses(self) -> bool:
        """Whether it has joints enough for orientations."""
        return len(self.judge) >= LEAST_JOINTS_FOR_POSES

    def zero(self) -> np.ndarray:
        """
        Joint values at zero, or next to it inside the limits, shape (n,).

        Where the arm collides there, so far towards the middle of the limits that it does not.
        """
        lower, upper = self.judge.finite_limits
        zero, middle = np.clip(np.zeros(len(lower)), lower, upper), 0.5 * (lower + upper)
        for share in np.arange(0.0, 1.0, TOWARDS_MIDDLE):
            if self.judge.is_free(q := zero + share * (middle - zero)):
                return q
        raise AssertionError(f'{self.name} collides from zero to the middle of its limits')


def table_and_wall(judge: WayJudge) -> dict[str, BoxAround]:
    """
    Put an arm on a table, with a wall that parts what it reaches.

    The wall begins at 0.25 of the reach, ends at 1.05, and is 0.8 of it high. It leads away from
    the arm between x and y: at zero many arms lie along one of them.
    """
    rng = np.random.default_rng(1)
    tips = [judge.pose(judge.random_configuration(rng))[:3, 3] for _ in range(REACH_SAMPLES)]
    reach = float(np.linalg.norm(tips, axis=1).max())
    return {
        'table': _box((2.5 * reach, 2.5 * reach, THICKNESS), 0.0, -PEDESTAL - 0.5 * THICKNESS),
        'wall': _box((0.8 * reach, THICKNESS, 0.8 * reach), 0.65 * reach, 0.4 * reach),
    }


def _box(size: tuple[float, float, float], forward: float, up: float) -> BoxAround:
    T, c = np.eye(4), np.sqrt(0.5)
    T[:2, :2] = [[c, -c], [c, c]]
    T[:3, 3] = c * forward, c * forward, up
    return BoxAround(size, T)


WORLDS: Mapping[str, Callable[[WayJudge], Mapping[str, BoxAround]]] = {
    'empty': lambda judge: {},
    'table_and_wall': table_and_wall,
}
"""What stands around an arm."""


def load(name: str, world: str = 'empty') -> Arm:
    """Read an arm, and put it into one of the `WORLDS`."""
    source = {**ARMS, **OTHER_ARMS}[name]
    if '/' in source.file:
        share = Path(metadata.distribution('example-robot-data').locate_file('cmeel.prefix/share'))
        urdf = (share / 'example-robot-data' / 'robots' / source.file).read_text()
        packages: tuple[str, ...] = (str(share),)
    else:
        urdf, packages = fabrik_ros.load_urdf(fabrik_ros.example_arm(source.file)).source, ()
    judge = WayJudge(urdf, source.base_link, source.tip_link, packages)
    boxes = WORLDS[world](judge)
    if boxes:
        judge = WayJudge(urdf, source.base_link, source.tip_link, packages, boxes=boxes)
    return Arm(name, urdf, source, packages, judge, boxes)


@dataclass(frozen=True)
class Verdict:
    """What the judge says of a target."""

    line: bool
    line_share: float
    line_cause: str
    direct: bool
    over_one: bool
    """Directly, or over one configuration."""

    @property
    def is_feasible(self) -> bool:
        """Whether it may be expected that the arm arrives."""
        return self.line or self.over_one


@dataclass(frozen=True, eq=False)
class Task:
    """A target, and where the arm starts."""

    start: np.ndarray
    goal: np.ndarray
    """The configuration it was drawn from."""
    T: np.ndarray
    """T_base_tip, shape (4, 4)."""
    verdict: Verdict | None
    """None among obstacles."""


class TaskMaker:
    """
    Draws targets, and has them judged.

    Parameters
    ----------
    arm : Arm
        For which arm.
    seed : int
        The same one, the same targets: each is drawn anew from it, its start and its number.
    cache : path or None
        File in which the verdicts are kept.

    """

    def __init__(self, arm: Arm, seed: int, cache: Path | None) -> None:
        self._arm, self._seed = arm, seed
        self._kept: Any = {} if cache is None else shelve.open(str(cache))  # noqa: SIM115
        boxes = {name: (size, T.tolist()) for name, (size, T) in arm.boxes.items()}
        source = f'{JUDGE_RULES} {arm.source} {arm.urdf} {boxes or ""}'.rstrip()
        self._rules = hashlib.sha256(source.encode()).hexdigest()

    def close(self) -> None:
        """Write down what was kept."""
        if isinstance(self._kept, shelve.Shelf):
            self._kept.close()

    def start(self, kind: str, number: int) -> np.ndarray:
        """Where the arm is put for a target: at zero, or at a random free configuration."""
        if kind == 'zero':
            return self._arm.zero()
        return self._arm.judge.free_configuration(self._rng('start', kind, number))

    def draw(self, kind: str, number: int, start: np.ndarray) -> Task | None:
        """
        Draw a target for an arm at `start`, shape (n,); None where it can hardly leave that.

        Among obstacles the target may have no way to it: see `has_way`.
        """
        judge, rng = self._arm.judge, self._rng('goal', kind, number)
        for _ in range(MOST_GOALS):
            goal, seed = judge.free_configuration(rng), int(rng.integers(1, 2**31))
            T = judge.pose(goal)
            if self._arm.boxes:
                return Task(start, goal, T, None)
            if self.has_way(start, goal):
                return Task(start, goal, T, self._verdict(start, goal, T, seed))
        return None

    def has_way(self, start: np.ndarray, goal: np.ndarray) -> bool:
        """Whether the reference planner finds a way between two configurations, shape (n,)."""
        key = self._key('way', start, goal)
        if key not in self._kept:
            self._kept[key] = finds_way(self._arm.judge, start, goal)
        return bool(self._kept[key])

    def _verdict(self, start: np.ndarray, goal: np.ndarray, T: np.ndarray, seed: int) -> Verdict:
        key = self._key('verdict', start, goal)
        if key not in self._kept:
            judge, rng = self._arm.judge, np.random.default_rng(seed)
            line = judge.line(start, T)
            goals = judge.configurations_at(T, start, rng, known=goal)
            direct = judge.free_move(start, goals)
            over_one = direct or judge.free_move_over_one(start, goals, rng)
            self._kept[key] = asdict(
                Verdict(line.is_free, line.share, line.cause, direct, over_one)
            )
        return Verdict(**self._kept[key])

    def _rng(self, *what: str | int) -> np.random.Generator:
        words = [self._seed, self._arm.name, *what]
        return np.random.default_rng([zlib.crc32(str(word).encode()) for word in words])

    def _key(self, what: str, start: np.ndarray, goal: np.ndarray) -> str:
        numbers = np.round(np.concatenate([start, goal]), 9) + 0.0
        text = f'{self._rules} {what}'.encode() + numbers.tobytes()
        return hashlib.sha256(text).hexdigest()
