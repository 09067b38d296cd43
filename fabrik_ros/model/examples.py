"""The arms that come with the package, wherever it was installed."""

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
    folders = [folder for folder in _folders() if folder.is_dir()]
    for folder in folders:
        if (file := folder / f'{name}{SUFFIX}').is_file():
            return file
    found = sorted(
        {file.name.removesuffix(SUFFIX) for f in folders for file in f.glob(f'*{SUFFIX}')}
    )
    raise FileNotFoundError(f"no bundled arm '{name}'; there are: {', '.join(found) or 'none'}")


def _folders() -> Iterator[Path]:
    """Folders that may hold the arms: of a checkout beside the package, of ROS, of Python."""
    yield Path(__file__).parents[2] / 'urdf'
    prefixes = [*os.environ.get('AMENT_PREFIX_PATH', '').split(os.pathsep), sys.prefix]
    for prefix in filter(None, prefixes):
        yield Path(prefix) / 'share' / PACKAGE / 'urdf'
