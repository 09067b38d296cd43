"""Addresses at which RViz finds meshes: names relative to a description mean nothing to it."""

from html import escape, unescape
from pathlib import Path
import re

from ament_index_python.packages import get_package_share_directory

from ...collision import MeshFinder

MESH = re.compile(r'(<mesh\b[^>]*?\bfilename\s*=\s*)(["\'])(.*?)\2', re.DOTALL)
"""A mesh in a description, as far as its name."""
URL = re.compile(r'(https?://|file:///)')
IN_PACKAGE = re.compile(r'package://([^/]+)/(.+)', re.DOTALL)


def mesh_url(name: str, finder: MeshFinder) -> str:
    """
    Say by what RViz finds a mesh.

    Parameters
    ----------
    name : str
        As the description has it.
    finder : MeshFinder
        Finds its file.

    Returns
    -------
    str
        The same where RViz finds it by that; else the `file://` URL of the file, or the same where
        there is no such file, or one that the finder would not find by its URL.

    """
    if URL.match(name) or _is_installed(name):
        return name
    try:
        url = finder.find(name).as_uri()
        finder.find(url)
    except FileNotFoundError:
        return name
    return url


def with_mesh_urls(description: str, finder: MeshFinder) -> str:
    """Name the meshes of a description, URDF, so that RViz finds them: see `mesh_url`."""

    def renamed(match: re.Match[str]) -> str:
        begin, quote, name = match.groups()
        return f'{begin}{quote}{escape(mesh_url(unescape(name).strip(), finder))}{quote}'

    return MESH.sub(renamed, description)


def _is_installed(name: str) -> bool:
    """Whether a name is that of a file in a package of this environment."""
    found = IN_PACKAGE.fullmatch(name)
    if found is None:
        return False
    package, file = found.groups()
    try:
        return Path(get_package_share_directory(package), file).is_file()
    except (LookupError, ValueError, OSError):
        return False
