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
    folders = [folder for folder in shared_folders('urdf') if folder.is_dir()]
    for folder in folders:
        if (file := folder / f'{name}{SUFFIX}').is_file():
            return file
    found = sorted(
        {file.name.removesuffix(SUFFIX) for f in folders for file in f.glob(f'*{SUFFIX}')}
    )
    raise FileNotFoundError(f"no bundled arm '{name}'; there are: {', '.join(found) or 'none'}")


def shared_folders(name: str) -> Iterator[Path]:
    """Folders of a name that may be there: of a checkout, of ROS, of Python."""
    yield Path(__file__).parents[2] / name
    prefixes = [*os.environ.get('AMENT_PREFIX_PATH', '').split(os.pathsep), sys.prefix]
    for prefix in filter(None, prefixes):
        yield Path(prefix) / 'share' / PACKAGE / name
