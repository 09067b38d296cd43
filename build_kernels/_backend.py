"""
The builds that pip asks for: those of setuptools, with numba where pip can install it.

pip builds in an environment of its own and gives up if it cannot fill that. So numba is asked for
only where it has wheels, and where no code was built before.

pip also builds in the tree that it is given. setuptools would leave its folders there, and the
next wheel would get what they hold of modules that were deleted since. So it builds elsewhere.

"""

from collections.abc import Iterator
from contextlib import contextmanager
import importlib.util
import os
from pathlib import Path
import platform
import shutil
import sys
import tempfile

from setuptools import build_meta
from setuptools.build_meta import *  # noqa: F403 - what pip calls

NUMBA = ['numba>=0.61', 'numpy']
OLDEST, NEWEST = (3, 10), (3, 14)
MACHINES = ('x86_64', 'aarch64')


SETTINGS = 'DIST_EXTRA_CONFIG'
"""Names a further setup.cfg to setuptools."""


def get_requires_for_build_wheel(config_settings=None):
    """Return what pip has to install first to build a wheel."""
    with building_elsewhere():
        return build_meta.get_requires_for_build_wheel(config_settings) + numba_if_needed()


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    """Write what a wheel will say of itself; return the name of the folder."""
    with building_elsewhere():
        return build_meta.prepare_metadata_for_build_wheel(metadata_directory, config_settings)


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    """Make a wheel; return its name."""
    with building_elsewhere():
        return build_meta.build_wheel(wheel_directory, config_settings, metadata_directory)


def get_requires_for_build_sdist(config_settings=None):
    """Return what pip has to install first to build a source distribution."""
    with building_elsewhere():
        return build_meta.get_requires_for_build_sdist(config_settings)


def build_sdist(sdist_directory, config_settings=None):
    """Make a source distribution, of which the metadata are a part; return its name."""
    before = set(Path().glob('*.egg-info'))
    try:
        return build_meta.build_sdist(sdist_directory, config_settings)
    finally:
        for folder in set(Path().glob('*.egg-info')) - before:
            shutil.rmtree(folder)


@contextmanager
def building_elsewhere() -> Iterator[None]:
    """Let setuptools write what it makes on the way into a folder that goes afterwards."""
    with tempfile.TemporaryDirectory() as folder:
        settings = Path(folder, 'setup.cfg')
        places = f'[build]\nbuild_base = {folder}/build\n[egg_info]\negg_base = {folder}\n'
        settings.write_text(places)
        before = os.environ.get(SETTINGS)
        os.environ[SETTINGS] = str(settings)
        try:
            yield
        finally:
            del os.environ[SETTINGS]
            if before is not None:
                os.environ[SETTINGS] = before


def numba_if_needed():
    is_wanted = os.environ.get('FABRIK_ROS_PURE', '') in ('', '0')
    return NUMBA if is_wanted and has_wheels() and not is_built() else []


def has_wheels():
    """Whether numba has wheels for this interpreter: not for musl, PyPy and free threads."""
    return (
        sys.platform == 'linux'
        and platform.machine() in MACHINES
        and platform.libc_ver()[0] == 'glibc'
        and platform.python_implementation() == 'CPython'
        and OLDEST <= sys.version_info[:2] <= NEWEST
        and 't' not in sys.abiflags
    )


def is_built():
    """Whether the code is there from an earlier build of the same sources."""
    spec = importlib.util.spec_from_file_location('main', Path(__file__).with_name('__main__.py'))
    main = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(main)
    return main.find_kept() is not None
