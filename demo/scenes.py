"""The scenes to choose from: where the targets are, what stands around, what counts as done."""

import argparse
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from fabrik_ros import Chain
from fabrik_ros.programs import Program
import numpy as np
import targets
import yaml

OBSTACLES = Path(__file__).with_name('obstacles.yaml')


@dataclass(frozen=True)
class Box:
    """A box that stands around the arm, its edges along the axes of the base frame."""

    size: tuple[float, float, float]
    """[m]."""
    centre: tuple[float, float, float]
    """[m]."""


@dataclass(frozen=True)
class Scene:
    """One scene."""

    name: str
    meaning: str
    sequence: Callable[[Chain], Iterator[np.ndarray | Program]]
    """Makes the poses T_base_tip, shape (4, 4), or programs of moves."""
    patience: float
    """A target that is not done after this time is left [s]."""
    reasons: frozenset[str] = frozenset()
    """Codes of the reasons that answer its targets; empty: they have to be reached."""
    file: Path | None = None
    """What stands around."""

    @property
    def done(self) -> str:
        """What a target is that was done."""
        return 'answered' if self.reasons else 'reached'

    def boxes(self) -> dict[str, Box]:
        """Read what stands around, by name."""
        return read_boxes(self.file) if self.file else {}


SCENES = {
    scene.name: scene
    for scene in (
        Scene('around', 'targets all round, far and near', targets.around, 6.0),
        Scene(
            'reach',
            'targets out of reach, and why they are not reached',
            targets.out_of_reach,
            10.0,
            reasons=frozenset({'too_far'}),
        ),
        Scene(
            'obstacles',
            'between a table, a wall and a shelf',
            targets.between_obstacles,
            25.0,
            file=OBSTACLES,
        ),
        Scene(
            'program',
            'a seam of arcs, then something carried round a wall',
            targets.programs,
            60.0,
            file=OBSTACLES,
        ),
    )
}


def scene_named(name: str) -> Scene:
    """
    Find a scene, for argparse.

    Raises
    ------
    argparse.ArgumentTypeError
        If there is none of that name; says which there are.

    """
    if name not in SCENES:
        known = '; '.join(f'{scene.name}: {scene.meaning}' for scene in SCENES.values())
        raise argparse.ArgumentTypeError(f"no scene '{name}'. There are {known}")
    return SCENES[name]


def read_boxes(file: Path) -> dict[str, Box]:
    """Read a scene file that has boxes alone, without the reader of the node."""
    entries = yaml.safe_load(file.read_text())['obstacles']
    return {name: Box(tuple(e['box']), tuple(e['xyz'])) for name, e in entries.items()}
