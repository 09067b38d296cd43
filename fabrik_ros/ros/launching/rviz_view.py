"""View that RViz opens with: the frame of the chain that the node will use, seen from near."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from hashlib import sha256
import os
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

import numpy as np
import yaml

from ...errors import FabrikError
from ...model.mechanism import Mechanism
from ...model.tree import Tree
from ...model.urdf import parse_urdf
from ..parameters.tip_names import TipNameError, topic_names

LINKS = ('base_link', 'tip_link', 'tip_links')
TIP_TOPICS = ('planned_path', 'solution_pose')
"""Topics that are shown, of which each of several tips has its own."""
DISTANCE = 2.4
"""Distance of the eye as a share of the reach [1]."""
DIGITS = 12
"""Digits of the number that tells one configuration from others, in the name of its file [1]."""
FOCUS = np.array([0.2, 0.0, 0.45])
"""Point that is looked at, from the first joint on, as a share of the reach [1]."""


@dataclass(frozen=True)
class Links:
    """Links that the node is told to use; '' and () where it chooses."""

    base_link: str = ''
    tip_link: str = ''
    tip_links: tuple[str, ...] = ()

    @classmethod
    def of(cls, files: Iterable[Path], node_name: str, given: Mapping[str, str]) -> 'Links':
        """Read them from parameter files, of which the last one wins, and from arguments."""
        values = parameters_in(files, node_name)
        values |= {name: value for name, value in given.items() if value}
        known = {name: values[name] for name in LINKS if values.get(name)}
        known['tip_links'] = tuple(known.get('tip_links', ()))
        return cls(**known)

    def mechanism(self, description: str) -> Mechanism | None:
        """Make the arm of a description, URDF; None where the node will refuse it, saying why."""
        try:
            robot = parse_urdf(description)
            if self.tip_links:
                return robot.tree(self.base_link, self.tip_links)
            return robot.chain(self.base_link, self.tip_link)
        except FabrikError:
            return None


def parameters_in(files: Iterable[Path], node_name: str) -> dict[str, Any]:
    """Parameters of a node in files, of which the last one wins."""
    values: dict[str, Any] = {}
    for file in files:
        values |= _parameters(file, node_name)
    return values


def _parameters(file: Path, node_name: str) -> dict[str, Any]:
    """Parameters of the node in a file; none where that is no parameter file."""
    try:
        content = yaml.safe_load(file.read_text())
    except (OSError, ValueError, yaml.YAMLError):
        return {}
    found: dict[str, Any] = {}
    for name, entry in content.items() if isinstance(content, dict) else ():
        is_of_node = str(name).rpartition('/')[2] in ('**', '*', node_name)
        parameters = entry.get('ros__parameters') if isinstance(entry, dict) else None
        if is_of_node and isinstance(parameters, dict):
            found |= parameters
    return found


def fitted_to(config: Path, robot: Mechanism) -> Path:
    """
    Write a configuration that fits an arm, and return the file, which stays.

    RViz offers to save what was changed in it: what is saved there is shown the next time. The
    arm and the configuration name the file, so that others have their own. Where none can be
    written it is the configuration itself.
    """
    content = yaml.safe_load(config.read_text())
    manager = content['Visualization Manager']
    manager['Global Options']['Fixed Frame'] = robot.base_link
    view = manager['Views']['Current']
    view['Distance'] = round(DISTANCE * robot.size, 3)
    focus = robot.root_points.mean(axis=0) + robot.size * FOCUS
    view['Focal Point'] = dict(zip('XYZ', focus.round(3).tolist(), strict=True))
    text = yaml.safe_dump(content, sort_keys=False)
    name = f'{config.stem}_{sha256(text.encode()).hexdigest()[:DIGITS]}{config.suffix}'
    try:
        return _kept(own_folder() / name, text)
    except OSError:
        return config


def own_folder() -> Path:
    """Folder for files of this package: below the one that ROS has its logs in."""
    home = os.environ.get('ROS_HOME') or Path.home() / '.ros'
    return Path(home, 'fabrik_ros')


def _kept(file: Path, text: str) -> Path:
    """Write a file, at once and as a whole, unless it is there."""
    if not file.exists():
        file.parent.mkdir(parents=True, exist_ok=True)
        with NamedTemporaryFile('w', dir=file.parent, delete=False) as written:
            written.write(text)
        os.replace(written.name, file)
    return file


def tips_of(robot: Mechanism | None) -> tuple[str, ...]:
    """Names of the tips within the names of topics; none where the arm has one tip alone."""
    try:
        return topic_names(robot.tip_links) if isinstance(robot, Tree) else ()
    except TipNameError:  # the node refuses them, and says why
        return ()
