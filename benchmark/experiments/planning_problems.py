"""
Planning problems from files: an arm between obstacles, and a pose to go to.

A folder has `panda.json`, with problems of MotionBenchMaker (Chamzas et al. 2022), and
`panda.urdf` with its meshes:

    {"allowed": [[link, link], ...],
     "problems": {scene: [{"start": {joint: value}, "goal": {joint: value},
                           "objects": [{"id", "pose", "primitives": [{"type", "dimensions",
                                                                      "pose"}]}]}]}}

Poses are x, y, z [m] and a quaternion x, y, z, w, in the base link. Dimensions are the edges of a
box, height and radius of a cylinder, or the radius of a sphere [m].

"""

from collections.abc import Iterator
from dataclasses import dataclass
import json
from pathlib import Path

from fabrik_ros.collision import Obstacle, Scene
from fabrik_ros.model.geometry import Box, Cylinder, Sphere
import numpy as np

BASE, TIP = 'panda_link0', 'panda_hand'


@dataclass(frozen=True, eq=False)
class Problem:
    """A start and a goal among obstacles."""

    scene: str
    """Name of the kind of scene."""
    number: int
    start: dict[str, float]
    """Joint values by name, also of joints outside the arm [rad or m]."""
    goal: dict[str, float]
    """Joint values at which the tip is where it shall be [rad]."""
    obstacles: Scene

    def values(self, which: str, names: tuple[str, ...]) -> np.ndarray:
        """Joint values at 'start' or 'goal', shape (n,)."""
        values = getattr(self, which)
        return np.array([values[name] for name in names])


@dataclass(frozen=True, eq=False)
class ProblemSet:
    """A robot with problems."""

    folder: Path
    allowed: tuple[tuple[str, str], ...]
    """Names of links that may touch."""
    problems: tuple[Problem, ...]

    @property
    def urdf(self) -> Path:
        """The robot."""
        return self.folder / 'panda.urdf'

    def some(self, scenes: list[str], count: int) -> Iterator[Problem]:
        """Yield `count` problems of each scene, evenly chosen; of all scenes if none is named."""
        for scene in scenes or sorted({problem.scene for problem in self.problems}):
            problems = [problem for problem in self.problems if problem.scene == scene]
            chosen = np.linspace(0, len(problems) - 1, min(count, len(problems)))
            yield from (problems[int(i)] for i in chosen)


def load_problems(folder: Path) -> ProblemSet:
    """Read the problems in a folder."""
    document = json.loads((folder / 'panda.json').read_text())
    problems = tuple(
        Problem(scene, number, problem['start'], problem['goal'], _obstacles(problem['objects']))
        for scene, problems in document['problems'].items()
        for number, problem in enumerate(problems)
    )
    return ProblemSet(folder, tuple((a, b) for a, b in document['allowed']), problems)


def _obstacles(objects: list) -> Scene:
    return Scene(
        Obstacle(f'{it["id"]} {i}', _shape(part), _pose(it['pose']) @ _pose(part['pose']))
        for it in objects
        for i, part in enumerate(it['primitives'])
    )


def _shape(part: dict) -> Box | Cylinder | Sphere:
    dimensions = part['dimensions']
    match part['type']:
        case 'box':
            return Box(tuple(dimensions))
        case 'cylinder':
            return Cylinder(dimensions[1], dimensions[0])
        case 'sphere':
            return Sphere(dimensions[0])
    raise ValueError(f'unknown shape {part["type"]}')


def _pose(numbers: list[float]) -> np.ndarray:
    x, y, z, w = np.array(numbers[3:]) / np.linalg.norm(numbers[3:])
    T = np.eye(4)
    T[:3, 3] = numbers[:3]
    T[:3, :3] = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
        [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
        [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
    ]
    return T
