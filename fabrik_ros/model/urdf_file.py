"""The text of a robot description in a file: how its letters are coded, and what xacro makes."""

from collections.abc import Mapping
import os
from pathlib import Path
import re

from ..errors import shown, UrdfError

MAXIMUM_CHARACTERS = 10_000_000
DECLARED_CODE = re.compile(rb'\s*<\?xml[^>]*?encoding\s*=\s*["\']([\w.:-]+)')
WIDE_MARKS = (b'\xff\xfe', b'\xfe\xff', b'\x00\x00\xfe\xff')
"""Byte order marks of text whose letters are two or four bytes each."""
PRINTABLE = bytes(range(0x20, 0x7F)).replace(b'\\', rb'\x41')
LATIN_1 = 'iso-8859-1'
PACKAGES = re.compile(r'\$\(find ([\w-]+)\)')
XACRO_CURES = (
    (
        r"package '(?P<name>[^']+)' not found|(?P<path>AMENT_PREFIX_PATH)",
        'xacro looks in AMENT_PREFIX_PATH alone: source the workspace that has {name}',
    ),
    (
        r'substitution argument (?P<name>\S+)',
        'give it one: --xacro-args {name}:=VALUE, xacro_args of load_urdf and of launch files',
    ),
    (
        r'No such file or directory: (?P<name>.+)',
        'a name without $(find PACKAGE) starts in the folder of the file that it stands in',
    ),
    (r'macro name: (?P<name>\S+)', 'include the file that defines it with <xacro:include>'),
    (r'variable \'(?P<name>[^\']+)\' is not set', 'set it: export {name}=VALUE'),
    (r'unbound prefix', 'give <robot> xmlns:xacro="http://www.ros.org/wiki/xacro"'),
)
"""Patterns of the messages of xacro, each with its cure."""


def read_text(
    source: str | os.PathLike[str], xacro_args: Mapping[str, str] | None
) -> tuple[str, tuple[str, ...]]:
    """
    Read a URDF file, or expand a xacro file.

    Returns
    -------
    text : str
        The robot description.
    warnings : tuple of str
        What was odd about the file.

    Raises
    ------
    UrdfError
        If there is no text in it, or xacro cannot expand it.
    FileNotFoundError
        If the file does not exist.

    """
    if not str(source).strip():
        raise UrdfError('the robot description is empty; expected URDF text or the path of a file')
    path = Path(source)
    if path.suffix == '.xacro':
        return _expand_xacro(path, xacro_args), ()
    try:
        size = path.stat().st_size
        if size > 4 * MAXIMUM_CHARACTERS:
            raise UrdfError(f"'{path}' has {size} bytes: that is no robot description")
        content = path.read_bytes()
    except FileNotFoundError:
        raise
    except (OSError, ValueError) as error:  # a folder, no permission, not even a file name
        raise UrdfError(
            f'{str(path)[:100]!r} is neither URDF text nor a file that can be read: '
            f'{getattr(error, "strerror", None) or error}'
        ) from error
    return _decoded(content, path)


def _decoded(content: bytes, path: Path) -> tuple[str, tuple[str, ...]]:
    """Read UTF-8, or else what the file declares; urdfdom lets every byte pass."""
    try:
        return content.decode('utf-8-sig'), ()
    except UnicodeDecodeError as error:
        place = f'byte {error.start + 1}'
    if content.startswith(WIDE_MARKS) or b'\x00' in content:
        raise UrdfError(f"'{path}' is not UTF-8 text ({place}), nor like it; save it as UTF-8")
    code = _declared_code(content)
    warning = f'the file is not UTF-8 text ({place}), and read as {code}; save it as UTF-8'
    return content.decode(code, errors='replace'), (warning,)


def _declared_code(content: bytes) -> str:
    """Find the code that a file declares, if ASCII is a part of it; Latin 1 otherwise."""
    found = DECLARED_CODE.match(content)
    code = found.group(1).decode('ascii', errors='replace').lower() if found else LATIN_1
    try:
        has_ascii = PRINTABLE.decode(code) == PRINTABLE.decode('ascii')
    except (LookupError, ValueError):
        has_ascii = False
    return code if has_ascii and code not in ('utf-8', 'utf8') else LATIN_1


def _expand_xacro(path: Path, xacro_args: Mapping[str, str] | None) -> str:
    try:
        import xacro
    except ImportError as error:
        raise UrdfError(
            f"'{path}' is a xacro file and xacro is not installed; "
            'install ros-<distro>-xacro or: pip install xacro'
        ) from error
    if not path.is_file():
        raise FileNotFoundError(f"no such file: '{path}'")
    try:
        document = xacro.process_file(str(path), mappings=dict(xacro_args or {}))
    except Exception as error:  # xacro lets errors of every kind through
        is_wrapped = str(error).startswith('<class')  # and said twice
        said = ' '.join(str(getattr(error, 'exc', error) if is_wrapped else error).split())
        cure = _xacro_cure(said, path)
        raise UrdfError(f"xacro could not expand '{path}': {said}{cure}") from error
    return str(document.toxml())


def _xacro_cure(said: str, path: Path) -> str:
    """Say what to do about an error of xacro; '' where that is not known."""
    for pattern, cure in XACRO_CURES:
        if found := re.search(pattern, said):
            name = found.groupdict().get('name') or _packages_asked_for(path)
            return '; ' + cure.format(name=shown(name))
    return ''


def _packages_asked_for(path: Path) -> str:
    """Name the packages that a xacro file asks for."""
    text = path.read_text(encoding='utf-8', errors='replace')
    return ', '.join(dict.fromkeys(PACKAGES.findall(text))) or 'the package'
