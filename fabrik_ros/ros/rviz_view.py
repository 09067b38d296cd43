"""What RViz is opened with: the frame of the chain that the node will use, seen from near."""

import atexit
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

import numpy as np
import yaml

from ..errors import FabrikError
from ..model.mechanism import Mechanism
from ..model.tree import Tree
from ..model.urdf import parse_urdf
from .tip_names import TipNameError, topic_names

LINKS = ('base_link', 'tip_link', 'tip_links')
TIP_TOPICS = ('planned_path', 'solution_pose')
"""Topics that are shown, of which each of several tips has its own."""
DISTANCE = 2.4
"""Distance of the eye as a share of the reach [1]."""
FOCUS = np.array([0.2, 0.0, 0.45])
"""What is looked at, from the first joint on, as a share of the reach [1]."""


@dataclass(frozen=True)
class Links:
    """Which links the node is told to use; '' and () where it chooses."""

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
    """Write a configuration that fits an arm, until this process ends; return the file."""
    content = yaml.safe_load(config.read_text())
    manager, tips = content['Visualization Manager'], tips_of(robot)
    manager['Displays'] = [shown for one in manager['Displays'] for shown in _of_tips(one, tips)]
    view = manager['Views']['Current']
    view['Distance'] = round(DISTANCE * robot.size, 3)
    focus = robot.root_points.mean(axis=0) + robot.size * FOCUS
    view['Focal Point'] = dict(zip('XYZ', focus.round(3).tolist(), strict=True))
    with NamedTemporaryFile('w', prefix='fabrik_', suffix='.rviz', delete=False) as file:
        yaml.safe_dump(content, file, sort_keys=False)
    fitted = Path(file.name)
    atexit.register(fitted.unlink, missing_ok=True)
    return fitted


def tips_of(robot: Mechanism | None) -> tuple[str, ...]:
    """Names of the tips within the names of topics; none where the arm has one tip alone."""
    try:
        return topic_names(robot.tip_links) if isinstance(robot, Tree) else ()
    except TipNameError:  # the node refuses them, and says why
        return ()


def _of_tips(display: dict[str, Any], tips: tuple[str, ...]) -> list[dict[str, Any]]:
    """Repeat a display of a topic that each tip has; others are left as they are."""
    topic = display.get('Topic')
    node, _, name = str(topic.get('Value', '') if topic else '').rpartition('/')
    if not tips or topic is None or name not in TIP_TOPICS:
        return [display]
    return [
        display
        | {'Name': f'{display["Name"]}, {tip}', 'Topic': topic | {'Value': f'{node}/{tip}/{name}'}}
        for tip in tips
    ]
