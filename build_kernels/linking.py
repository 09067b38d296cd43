"""
One module of the object files and the C code, by what a system has for that.

Linux and macOS have a compiler that links, too; on Windows setuptools finds Microsoft's.

"""

from collections.abc import Sequence
import os
from pathlib import Path
import shlex
import shutil
import subprocess
import sys
import sysconfig

ALIKE = ['-O2', '-fPIC', '-fvisibility=hidden']
OPTIONS = {
    'linux': [*ALIKE, '-shared', '-s'],
    # The symbols of Python are found when the module is loaded.
    'darwin': [*ALIKE, '-bundle', '-undefined', 'dynamic_lookup', '-Wl,-x'],
}
WINDOWS = 'win32'


def module_name(system: str) -> str:
    """File name of a module for all Pythons since 3.10, as the importer of a system has it."""
    return '_built.pyd' if system == WINDOWS else '_built.abi3.so'


def what_is_missing(system: str) -> str:
    """Say what there is not, as a clause; '' where all is there."""
    if system not in (*OPTIONS, WINDOWS):
        return f'built code is made on Linux, macOS and Windows only, not on {system}'
    if system != WINDOWS and shutil.which(compiler()[0]) is None:
        return f'there is no C compiler: {compiler()[0]}'
    if not (headers() / 'Python.h').is_file():
        return f'the headers of Python are missing: {headers()}'
    return ''


def compiler() -> list[str]:
    return shlex.split(os.environ.get('CC', 'cc'))


def headers() -> Path:
    return Path(sysconfig.get_path('include'))


def link(system: str, source: Path, objects: Sequence[Path], target: Path) -> bool:
    """Compile some C code and link it with object files; return whether that worked."""
    if system == WINDOWS:
        return _link_by_microsoft(source, objects, target)
    return subprocess.call(command(system, source, objects, target)) == 0


def command(system: str, source: Path, objects: Sequence[Path], target: Path) -> list[str]:
    """Return what a compiler that links is to be called with."""
    files = map(str, (headers(), source, *objects))
    return [*compiler(), *OPTIONS[system], '-I', *files, '-lm', '-o', str(target)]


def _link_by_microsoft(source: Path, objects: Sequence[Path], target: Path) -> bool:
    import setuptools  # noqa: F401 - brings distutils

    # isort: split

    from distutils.ccompiler import new_compiler
    from distutils.errors import CCompilerError, DistutilsError

    folder = str(target.parent)
    try:
        tool = new_compiler(compiler='msvc')
        made = tool.compile(
            [str(source)], folder, include_dirs=[str(headers())], extra_postargs=['/O2']
        )
        # The headers name the library of the limited API.
        libraries = [os.path.join(sys.base_prefix, 'libs')]
        tool.link_shared_object(
            [*made, *map(str, objects)],
            str(target),
            library_dirs=libraries,
            export_symbols=['PyInit__built'],
        )
    except (CCompilerError, DistutilsError) as error:
        print(error, file=sys.stderr)
        return False
    return True
