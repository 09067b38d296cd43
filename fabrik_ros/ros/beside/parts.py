"""Parts of a simulation: how its node is set for them."""

from glob import escape
from typing import Any

import numpy as np

from ...collision.scene_file import load_scene
from ..inputs.marker_names import name_in_node


def parameters_for_parts(file: str) -> dict[str, Any]:
    """
    Choose parameters of a node whose gripper is to grasp the parts of a file.

    Raises
    ------
    SceneError
        If the file cannot be used; says why.

    """
    names = [part.name for part in load_scene(file, lambda frame: np.eye(4))]
    return {'graspable': [escape(name_in_node(name)) for name in names]}
