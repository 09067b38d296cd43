"""The arms and other files that come with the package, wherever it was installed."""

from collections.abc import Iterator
import os
from pathlib import Path
import sys

PACKAGE = 'fabrik_ros'
SUFFIX = '.urdf.xacro'


def example_arm(name: str) -> Path:
    """
    Find a bundled arm: 'six_axis', 'six_axis_gripper', 'seven_axis' or 'planar_two_link'.

    Parameters
    ----------
    name : str
        Name of the arm.

    Returns
    -------
    Path
        Its xacro file, for `load_urdf`.

    Raises
    ------
    FileNotFoundError
        If there is no such arm; lists those there are.

    """
    arms = example_arms()
    if name in arms:
        return arms[name]
    raise FileNotFoundError(f"no bundled arm '{name}'; there are: {', '.join(arms) or 'none'}")


def example_arms() -> dict[str, Path]:
    """List the xacro files of all bundled arms by name."""
    arms: dict[str, Path] = {}
    for folder in shared_folders('urdf'):
        for file in folder.glob(f'*{SUFFIX}'):
            arms.setdefault(file.name.removesuffix(SUFFIX), file)
    return dict(sorted(arms.items()))


def shared_folders(name: str) -> Iterator[Path]:
    """Folders of a name that may be there: of a checkout, of ROS, of Python."""
    yield Path(__file__).parents[2] / name
    prefixes = [*os.environ.get('AMENT_PREFIX_PATH', '').split(os.pathsep), sys.prefix]
    for prefix in filter(None, prefixes):
        yield Path(prefix) / 'share' / PACKAGE / name
