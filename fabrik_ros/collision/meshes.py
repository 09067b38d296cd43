"""
Where the files are that a URDF names.

Only in folders that were given, by the caller or by the environment of ROS, and in the package
that a given folder lies in; never elsewhere, and never over a network: descriptions may come from
anybody.

"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
import os
from pathlib import Path
import re
from urllib.parse import unquote

LARGEST_FILE = 100_000_000
"""[bytes]."""
LARGEST_MANIFEST = 1_000_000
"""Of a package.xml [bytes]."""
NO_NETWORK = 'only package://, file:// and paths are looked for'
HOST_SLASHES = 2
"""After so many slashes a URL names a host [1]."""
PACKAGE_NAME = re.compile(r'[A-Za-z][\w.-]*')
NAME_ELEMENT = re.compile(r'<name>\s*([^<\s]+)\s*</name>')
COMMENT = re.compile('<!--.*?-->', re.DOTALL)
_URL = re.compile(r'(?:([A-Za-z][A-Za-z0-9+.-]+):)?(/*)(.*)', re.DOTALL)
"""Scheme, of two letters or more as a drive has one, slashes, and the rest of a name."""


class MeshFinder:
    """
    Finds files by the names that URDFs give them.

    Parameters
    ----------
    folders : iterable of path
        Folders with packages in them, and folders of packages or inside them; `name=folder` is
        the folder of the package `name`.
    urdf_folder : path
        Where the URDF is; relative names start there, and may go as far up as the folder above.
        '' where there is none.

    Notes
    -----
    `package://name/rest` is `rest` in a folder of the package `name`: one that was given for it;
    `<folder>/name` for each of `folders` and of ROS_PACKAGE_PATH, `<prefix>/share/name` for each
    prefix of AMENT_PREFIX_PATH, and `name` beside the URDF or its folder; each of `folders` and
    the folder of the URDF, and what they lie in, where it is called `name` or has a package.xml
    that says so; beside such a package.

    """

    def __init__(
        self, folders: Iterable[str | os.PathLike[str]] = (), urdf_folder: str = ''
    ) -> None:
        given = [folder_of_package(folder) for folder in folders]
        self._of_packages = [(name, folder) for name, folder in given if name]
        plain = [folder for name, folder in given if not name]
        shares = [Path(prefix, 'share') for prefix in _paths('AMENT_PREFIX_PATH')]
        self._package_folders = plain + shares + _paths('ROS_PACKAGE_PATH')
        self._urdf_folder = Path(urdf_folder) if urdf_folder else None
        self._inner = plain + ([self._urdf_folder] if self._urdf_folder else [])
        self._beside_urdf = list(map(Path, folders_beside(urdf_folder)))
        own = [folder for _, folder in self._of_packages]
        self._allowed = list(map(_normal, [*own, *self._package_folders, *self._beside_urdf[1:]]))

    def find(self, name: str) -> Path:
        """
        Find a file by its name in a URDF.

        Raises
        ------
        FileNotFoundError
            If there is none in the given folders, or what there is cannot be a mesh; says why.

        """
        for folders, candidate in self._candidates(name):
            path = _normal(candidate)
            if any(path.is_relative_to(folder) for folder in folders) and _is_file(path):
                if path.stat().st_size > LARGEST_FILE:
                    raise FileNotFoundError(f'{path} has more than {LARGEST_FILE} bytes')
                return path
        folders = [*map(_normal, self._beside_urdf[:1]), *self._allowed]
        searched = ', '.join(map(str, folders)) or 'none: no folder was given'
        raise FileNotFoundError(
            f'no such file in the folders that are searched ({searched}); '
            'mesh_paths, for commands --mesh-path, names more of them'
        )

    def _candidates(self, name: str) -> Iterator[tuple[Sequence[Path], Path]]:
        """Places to look at, each with the folders of which it has to be in one."""
        scheme, slashes, rest = _URL.fullmatch(name).groups()  # type: ignore[union-attr]
        if scheme and scheme.lower() in ('package', 'model'):
            package, _, file = rest.partition('/')
            for each in dict.fromkeys((file, unquote(file))):
                yield from self._in_packages(package, each.lstrip('/'))
        elif scheme and scheme.lower() == 'file':
            for each in dict.fromkeys((rest, unquote(rest))):
                yield from ((self._allowed, path) for path in self._of_file(slashes, each))
        elif scheme and slashes.startswith('//'):
            raise FileNotFoundError(NO_NETWORK)
        else:
            yield from ((self._allowed, path) for path in self._beside(name))

    def _of_file(self, slashes: str, rest: str) -> Iterator[Path]:
        """Places that `file:` names: after two slashes comes a host, which has to be this one."""
        if len(slashes) == HOST_SLASHES:
            host, _, rest = rest.partition('/')
            if host != 'localhost':
                raise FileNotFoundError(NO_NETWORK)
        if slashes:
            yield Path(f'/{rest}')
        else:
            yield from self._beside(rest)

    def _beside(self, name: str) -> Iterator[Path]:
        """Places that a path names: one that is relative starts at each folder."""
        if self._urdf_folder is not None:
            yield self._urdf_folder / name
        yield from (folder / name for folder in self._package_folders)

    def _in_packages(self, package: str, rest: str) -> Iterator[tuple[Sequence[Path], Path]]:
        for name, folder in self._of_packages:
            if name == package:
                yield self._allowed, folder / rest
        for folder in (*self._package_folders, *self._beside_urdf):
            yield self._allowed, folder / package / rest
            if folder.name == package:
                yield self._allowed, folder / rest
        if not package or package in (os.curdir, os.pardir):
            return
        for folder in self._inner:
            for outer in (_normal(folder), *_normal(folder).parents):
                if package in (outer.name, named := _name_of_package(outer)):
                    yield [outer], outer / rest
                elif named:
                    yield [outer.parent / package], outer.parent / package / rest


def folder_of_package(entry: str | os.PathLike[str]) -> tuple[str, Path]:
    """
    Read an entry of `mesh_paths`: the name of a package, '' where none is said, and a folder.

    >>> folder_of_package('arm_description=/home/me/arm')
    ('arm_description', PosixPath('/home/me/arm'))
    """
    text = os.fspath(entry)
    name, equals, folder = text.partition('=')
    if equals and folder and PACKAGE_NAME.fullmatch(name) and not Path(text).exists():
        return name, Path(folder)
    return '', Path(text)


def absolute_folder(entry: str) -> str:
    """Make the folder of an entry of `mesh_paths` absolute, for a process that is elsewhere."""
    name, folder = folder_of_package(entry)
    return f'{name}={folder.absolute()}' if name else str(folder.absolute())


def folders_beside(urdf_folder: str) -> tuple[str, ...]:
    """Folders for a `MeshFinder` that has a description, but not the file that it was in."""
    return (urdf_folder, str(Path(urdf_folder).parent)) if urdf_folder else ()


def _name_of_package(folder: Path) -> str:
    """Name that the package.xml of a folder gives; '' where there is none."""
    file = folder / 'package.xml'
    if not _is_file(file) or file.stat().st_size > LARGEST_MANIFEST:
        return ''
    try:
        found = NAME_ELEMENT.search(COMMENT.sub('', file.read_text(encoding='utf-8')))
    except (OSError, ValueError):
        return ''
    return found[1] if found else ''


def _paths(variable: str) -> list[Path]:
    return [Path(part) for part in os.environ.get(variable, '').split(os.pathsep) if part]


def _normal(path: Path) -> Path:
    """Absolute and without `..` and `//`; links are not followed: workspaces are made of them."""
    path = path.absolute()
    return Path(path.drive, path.root[:1], os.path.normpath(path.relative_to(path.anchor)))


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):  # too long, or with a character that no name has
        return False
