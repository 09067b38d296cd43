"""
The builds that pip asks for: those of setuptools, with numba where pip can install it.

pip builds in an environment of its own and gives up if it cannot fill that. So numba is asked for
only where it has wheels, and where no code was built before.

"""

import importlib.util
import os
from pathlib import Path
import platform
import sys

from setuptools import build_meta
from setuptools.build_meta import *  # noqa: F403 - what pip calls

NUMBA = ['numba>=0.61', 'numpy']
OLDEST, NEWEST = (3, 10), (3, 14)
MACHINES = ('x86_64', 'aarch64')


def get_requires_for_build_wheel(config_settings=None):
    """Return what pip has to install first to build a wheel."""
    return build_meta.get_requires_for_build_wheel(config_settings) + numba_if_needed()


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
