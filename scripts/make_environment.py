"""
Make the virtual environment in which the Makefile runs everything.

`make_environment.py FOLDER EXTRA...` installs the package with these extras of setup.py;
without an extra it only renews the package itself, which takes two seconds. The kernels are
compiled for this checkout too, once for each state of their sources, which takes a minute.

ROS 2 comes from the sourced distribution if there is one, else from wheels (the extra `ros`, or
`jazzy`), else the environment is made without ROS and this is said.

"""

import importlib.util
import os
from pathlib import Path
import platform
import shutil
import subprocess
import sys
from threading import Lock, Thread
import time
import venv

ROOT = Path(__file__).resolve().parent.parent
OLDEST, NEWEST = (3, 10), (3, 14)
OF_ROS = {'ros', 'jazzy'}
"""Extras that bring ROS 2 from wheels."""

NO_ROS = """\
No ROS 2 for this environment: {reason}.
  The library and all tests that do without ROS still work: make test, make benchmark.
  For the node and `make demo`: source a ROS 2 distribution first (source
  /opt/ros/<distribution>/setup.bash), or use Python 3.10 to 3.14 on x86-64 Linux, where
  wheels exist: make PYTHON=python3.12 demo."""

WRONG_PYTHON = """\
ROS 2 is sourced, but {python} cannot import its rclpy.
  Use the Python that ROS was built for, in a fresh environment:
  make clean, then make PYTHON=/usr/bin/python3 test"""

NO_VENV = """\
{python} cannot make virtual environments: its module ensurepip is missing.
  Debian, Ubuntu: apt install python3-venv"""

PIP_FAILED = """\
pip could not install the package (see above).
  No network? The packages are downloaded once. No wheel? Python 3.10 to 3.14 have them:
  make clean, then make PYTHON=python3.12 test"""


def main():
    folder, extras = Path(sys.argv[1]), sys.argv[2:]
    if sys.version_info < OLDEST:
        sys.exit(
            f'Python {platform.python_version()} is too old: fabrik_ros needs 3.10 or newer.\n'
            '  If you have one: make PYTHON=python3.12 test'
        )
    if importlib.util.find_spec('ensurepip') is None:
        sys.exit(NO_VENV.format(python=sys.executable))
    wanted = available(extras)
    progress = Progress()
    if extras:
        create(folder)
        pip_install(progress, folder, 'numba')
    # The kernels are compiled for this checkout while pip waits for others.
    build_kernels = [folder / 'bin' / 'python', ROOT / 'build_kernels']
    with subprocess.Popen(build_kernels, stderr=subprocess.PIPE, text=True) as build:
        reader = Thread(target=progress.follow, args=(build.stderr,))
        reader.start()
        if extras:
            install(progress, folder, wanted, pure=True)
        reader.join()
    if build.returncode != 0:
        progress.say('So the kernels are compiled when they run.')
    install(progress, folder, [], pure=build.returncode != 0)
    progress.end()


def create(folder):
    """Create the environment if needed; it sees the packages of a sourced ROS 2."""
    if not (folder / 'bin' / 'python').exists():
        print(f'Making {folder} (once; downloads a few hundred MB)', flush=True)
        venv.create(folder, with_pip=True, symlinks=True, system_site_packages=ros_is_sourced())


def install(progress, folder, extras, pure):
    """Install the package, with what it needs if extras are named; pure: without built kernels."""
    source = f'{ROOT}[{",".join(extras)}]' if extras else str(ROOT)
    dependencies = [] if extras else ['--no-deps']
    pip_install(progress, folder, *dependencies, source, FABRIK_ROS_PURE=str(int(pure)))


def pip_install(progress, folder, *arguments, **variables):
    """Run pip, whose errors go past the progress to the terminal."""
    options = ['--disable-pip-version-check', '--progress-bar', 'off', *arguments]
    if not sys.dont_write_bytecode:
        options.append('--no-compile')  # most is never imported; Python keeps what it compiles
    pip = [folder / 'bin' / 'python', '-m', 'pip', 'install', *options]
    environment = {**os.environ, **variables}
    with subprocess.Popen(pip, env=environment, stdout=subprocess.PIPE, text=True) as running:
        for line in running.stdout:
            progress.show(f'pip: {line.strip()}')
    if running.returncode != 0:
        progress.end()
        sys.exit(PIP_FAILED)


class Progress:
    """
    What is done now: in a terminal one line, written again and again, else a line now and then.

    The kernels are compiled beside pip: the newest of both is shown.
    """

    PERIOD = 10.0
    """Time between two lines where there is no terminal [s]."""
    OF_KERNELS = 'kernels compiled'
    """What `build_kernels` says of its progress ends so."""

    def __init__(self):
        self._lock = Lock()
        self._is_terminal = sys.stdout.isatty()
        self._kernels = ''
        self._next = time.monotonic() + self.PERIOD
        self._is_open = False

    def follow(self, lines):
        """Show what the compiler of the kernels says."""
        for line in map(str.strip, lines):
            if line.endswith(self.OF_KERNELS):
                self._kernels = f'{line}; '
                self.show('')
            else:
                self.say(line)

    def show(self, text):
        """Show what passes."""
        with self._lock:
            line = f'{self._kernels}{text}'.removesuffix('; ')
            if self._is_terminal:
                width = shutil.get_terminal_size().columns
                print(f'\r\033[K{line[: width - 1]}', end='', flush=True)
                self._is_open = True
            elif time.monotonic() >= self._next:
                self._next = time.monotonic() + self.PERIOD
                print(line, flush=True)

    def say(self, text):
        """Print what stays."""
        self.end()
        with self._lock:
            print(text, file=sys.stderr, flush=True)

    def end(self):
        """Wipe the line."""
        with self._lock:
            if self._is_open:
                print('\r\033[K', end='', flush=True)
                self._is_open = False


def available(extras):
    """Leave out the ROS wheels where ROS is sourced or where there are none."""
    if not OF_ROS.intersection(extras):
        return extras
    reason = why_no_wheels()
    if ros_is_sourced():
        if importlib.util.find_spec('rclpy') is None:
            sys.exit(WRONG_PYTHON.format(python=sys.executable))
    elif reason:
        print(NO_ROS.format(reason=reason), file=sys.stderr)
    else:
        return extras
    return [extra for extra in extras if extra not in OF_ROS]


def ros_is_sourced():
    return 'ROS_DISTRO' in os.environ or 'AMENT_PREFIX_PATH' in os.environ


def why_no_wheels():
    """Say what keeps this interpreter from using the ROS 2 wheels; empty if nothing does."""
    machine = f'{platform.system()} {platform.machine()}'
    if machine != 'Linux x86_64':
        return f'none is sourced, and its wheels are for x86-64 Linux, not {machine}'
    if sys.version_info[:2] > NEWEST or platform.python_implementation() != 'CPython':
        python = f'{platform.python_implementation()} {platform.python_version()}'
        return f'none is sourced, and its wheels are for CPython 3.10 to 3.14, not {python}'
    return ''


if __name__ == '__main__':
    main()
