"""
Where the files are that a URDF names.

Only in folders that were given, by the caller or by the environment of ROS; never elsewhere, and
never over a network: descriptions may come from anybody.

"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
import os
from pathlib import Path
from urllib.parse import unquote, urlsplit

LARGEST_FILE = 100_000_000
"""[bytes]."""


class MeshFinder:
    """
    Finds files by the names that URDFs give them.

    Parameters
    ----------
    folders : iterable of path
        Folders with packages in them, and folders of packages.
    urdf_folder : path
        Where the URDF is; relative names start there, and may go as far up as the folder above.
        '' where there is none.

    Notes
    -----
    `package://name/rest` is looked for as `<prefix>/share/name/rest` for each prefix of
    AMENT_PREFIX_PATH, and as `<folder>/name/rest` for each of `folders` and of ROS_PACKAGE_PATH;
    one that is called `name` itself is taken for the package.

    """

    def __init__(
        self, folders: Iterable[str | os.PathLike[str]] = (), urdf_folder: str = ''
    ) -> None:
        given = [Path(folder) for folder in folders]
        shares = [Path(prefix, 'share') for prefix in _paths('AMENT_PREFIX_PATH')]
        self._package_folders = given + shares + _paths('ROS_PACKAGE_PATH')
        self._urdf_folder = Path(urdf_folder) if urdf_folder else None
        above_urdf = [Path(urdf_folder).parent] if urdf_folder else []
        self._allowed = [_normal(folder) for folder in self._package_folders + above_urdf]

    def find(self, name: str) -> Path:
        """
        Find a file by its name in a URDF.

        Raises
        ------
        FileNotFoundError
            If there is none in the given folders, or what there is cannot be a mesh; says why.

        """
        for candidate in self._candidates(name):
            path = _normal(candidate)
            if any(path.is_relative_to(folder) for folder in self._allowed) and _is_file(path):
                if path.stat().st_size > LARGEST_FILE:
                    raise FileNotFoundError(f'{path} has more than {LARGEST_FILE} bytes')
                return path
        searched = ', '.join(map(str, self._allowed)) or 'none: no folder was given'
        raise FileNotFoundError(
            f'no such file in the folders that are searched ({searched}); '
            'the parameter mesh_paths names more of them'
        )

    def _candidates(self, name: str) -> Iterator[Path]:
        try:
            url = urlsplit(name)
        except ValueError as error:
            raise FileNotFoundError(f'not a file name: {error}') from error
        if url.scheme in ('package', 'model'):
            yield from self._in_packages(url.netloc, unquote(url.path).lstrip('/'))
        elif url.scheme == 'file' and url.netloc in ('', 'localhost'):
            yield Path(unquote(url.path))
        elif '://' in name:
            raise FileNotFoundError('only package://, file:// and paths are looked for')
        elif self._urdf_folder is not None:
            yield self._urdf_folder / name
        else:
            yield from (folder / name for folder in self._package_folders)

    def _in_packages(self, package: str, rest: str) -> Iterator[Path]:
        for folder in self._package_folders:
            yield folder / package / rest
            if folder.name == package:
                yield folder / rest


def folders_beside(urdf_folder: str) -> tuple[str, ...]:
    """Folders for a `MeshFinder` that has a description, but not the file that it was in."""
    return (urdf_folder, str(Path(urdf_folder).parent)) if urdf_folder else ()


def _paths(variable: str) -> list[Path]:
    return [Path(part) for part in os.environ.get(variable, '').split(os.pathsep) if part]


def _normal(path: Path) -> Path:
    """Absolute and without `..`; links are not followed, as workspaces are made of them."""
    return Path(os.path.normpath(path.absolute()))


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):  # too long, or with a character that no name has
        return False
