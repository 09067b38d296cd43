"""One package for two worlds: `colcon build` (ament_python) and `pip install`."""

import os
from pathlib import Path
import subprocess
import sys

from setuptools import Distribution, Extension, find_packages, setup
from setuptools.command.build_ext import build_ext
from setuptools.errors import BaseError, CompileError

NAME = 'fabrik_ros'
# colcon runs this file elsewhere, through a link.
ROOT = Path(__file__).resolve().parent
CONSOLE_SCRIPTS = {
    'fabrik_ros': 'fabrik_ros.cli.main:main',
    'fabrik_node': 'fabrik_ros.cli.executables:fabrik_node',
    'simulated_arm': 'fabrik_ros.cli.executables:simulated_arm',
    'physical_arm': 'fabrik_ros.cli.executables:physical_arm',
    'demo_targets': 'fabrik_ros.cli.executables:demo_targets',
    'drag_target': 'fabrik_ros.cli.executables:drag_target',
    'teleop': 'fabrik_ros.cli.executables:teleop',
}

# pip writes console scripts to <prefix>/bin. A relay, two folders away in <prefix>/lib/fabrik_ros,
# makes them visible to `ros2 run` and launch, and leaves the choice of interpreter to them.
RELAY = '#!/bin/sh\nexec "$(dirname "$0")/../../bin/$(basename "$0")" "$@"\n'

# Left out where it has no wheel: simulated_arm, the demo and the tests do without.
MUJOCO = (
    'mujoco>=3.17; python_version < "3.15" and '
    '(sys_platform != "linux" or platform_machine == "x86_64" or platform_machine == "aarch64")'
)

# Left out of the tests likewise; elsewhere pip builds it, which needs a C++ compiler.
RUCKIG = (
    'ruckig>=0.12; python_version < "3.15" and '
    '(sys_platform != "linux" or platform_machine == "x86_64")'
)

# Where it has no wheel meshes count as their convex hulls.
COACD = (
    'coacd>=1.0.11; (sys_platform != "darwin" or platform_machine == "arm64") and '
    '(sys_platform != "linux" or platform_machine == "x86_64" or platform_machine == "aarch64")'
)

# A planner to compare with, where it has a wheel.
OMPL = 'ompl>=2.0; python_version < "3.14" and sys_platform != "win32"'

ROS = [
    'ros-rclpy[fastrtps]',
    'ros-diagnostic-msgs',
    'ros-geometry-msgs',
    'ros-lifecycle-msgs',
    'ros-nav-msgs',
    'ros-rosgraph-msgs',
    'ros-sensor-msgs',
    'ros-std-msgs',
    'ros-std-srvs',
    'ros-trajectory-msgs',
    'ros-visualization-msgs',
    'xacro',
]
# The others follow: each wheel asks for those of its own distribution.
JAZZY = ['ros-rclpy==7.1.*', 'ros-std-msgs==5.3.*', 'ros-std-srvs==5.3.*']

# Rules and spelling change from release to release: the verdict is that of these.
LINT = ['codespell==2.4.*', 'mypy==2.4.*', 'ruff==0.17.*']

# setuptools has no module of its own for this command, and distutils left the standard library.
InstallData = Distribution().get_command_class('install_data')


class InstallDataAndRelays(InstallData):
    """Install the data files, and relays to the scripts where ROS would not find those."""

    def run(self):
        super().run()
        folder = Path(self.install_dir, 'lib', NAME)
        if Path(self.get_finalized_command('install').install_scripts) == folder:
            return  # colcon: setup.cfg has put the scripts themselves there
        folder.mkdir(parents=True, exist_ok=True)
        for script in CONSOLE_SCRIPTS:
            relay = folder / script
            relay.write_text(RELAY)
            relay.chmod(0o755)
            self.outfiles.append(str(relay))


def is_set(variable):
    return os.environ.get(variable, '') not in ('', '0')


class BuildKernels(build_ext):
    """
    Make the machine code of the kernels, with numba and a C compiler: see `build_kernels`.

    Where one of them is missing the package is complete without: numba compiles the kernels when
    they run, if it is there then. FABRIK_ROS_PURE=1 asks for that, for one wheel for all machines;
    with FABRIK_ROS_MUST_BUILD=1 a wheel without them is an error, as for a release.
    """

    def run(self):
        reason = 'FABRIK_ROS_PURE is set'
        if not is_set('FABRIK_ROS_PURE'):
            reason = self.make(Path(self.get_ext_fullpath(BUILT.name)).absolute())
        if reason and is_set('FABRIK_ROS_MUST_BUILD'):
            raise CompileError(f'the kernels have to be built: {reason}')
        if reason:
            self.extensions, self.distribution.ext_modules = [], []
            print(f'{NAME}: without built code of the kernels: {reason}', file=sys.stderr)

    def make(self, target):
        """Make the module; return what is wrong if that does not work."""
        command = [sys.executable, str(ROOT / 'build_kernels'), str(target)]
        done = subprocess.run(command, stderr=subprocess.PIPE, text=True, check=False)
        lines = done.stderr.strip().splitlines()
        return (lines or ['it could not be made'])[-1] if done.returncode != 0 else ''


BUILT = Extension(f'{NAME}.kernels._built', sources=[], py_limited_api=True)
COMMANDS = {'build_ext': BuildKernels, 'install_data': InstallDataAndRelays}

try:
    Wheel = Distribution().get_command_class('bdist_wheel')
except BaseError:
    pass  # colcon needs no wheels, and setuptools before 70 cannot make them alone
else:

    class WheelAsBuilt(Wheel):
        """Name the wheel after what is in it: built code, or nothing but Python."""

        def run(self):
            self.run_command('build_ext')
            self.root_is_pure = not self.distribution.ext_modules
            super().run()

    COMMANDS['bdist_wheel'] = WheelAsBuilt


def share_files(*folders):
    """Pair each file with its place below share/, keeping the structure of the checkout."""
    files = (file for folder in folders for file in sorted(Path(folder).rglob('*')))
    wanted = (file for file in files if file.is_file() and file.parent.name != '__pycache__')
    return [(f'share/{NAME}/{file.parent}', [str(file)]) for file in wanted]


setup(
    name=NAME,
    version='0.1.0',
    description='Inverse kinematics for ROS 2 manipulators by constrained FABRIK',
    long_description=(ROOT / 'README.md').read_text(),
    long_description_content_type='text/markdown',
    maintainer='fabrik_ros maintainers',
    maintainer_email='fabrik-ros@users.noreply.github.com',
    license='Apache-2.0',
    python_requires='>=3.10',
    packages=find_packages(include=[NAME, f'{NAME}.*']),
    package_data={NAME: ['py.typed']},
    data_files=[
        ('share/ament_index/resource_index/packages', [f'resource/{NAME}']),
        (f'share/{NAME}', ['package.xml']),
        *share_files('launch', 'config', 'urdf'),
    ],
    cmdclass=COMMANDS,
    ext_modules=[BUILT],
    options={'bdist_wheel': {'py_limited_api': 'cp310'}},
    entry_points={
        'console_scripts': [f'{name} = {target}' for name, target in CONSOLE_SCRIPTS.items()],
    },
    zip_safe=False,
    # rclpy and the messages come with a sourced ROS 2 or with the extra `ros`.
    install_requires=['numpy'],
    extras_require={
        'fast': ['numba', 'tqdm'],
        'ros': ROS,
        # The same for Jazzy, whose wheels are older: `ros` takes the newest, those of Kilted.
        'jazzy': [*ROS, *JAZZY],
        'sim': [MUJOCO],
        'demo': ['coal', COACD, 'matplotlib', 'pin', 'pyyaml', MUJOCO],
        # PyYAML reads scenes.
        'collision': ['coal', COACD, 'pyyaml'],
        'motion': ['ruckig>=0.12'],
        # fabrik_ros.view: the page in the browser, and the geometry of URDFs.
        'view': ['viser>=1.1', 'yourdfpy>=0.0.56'],
        # `fabrik_ros report` of bags of ROS 2
        'bag': ['rosbags'],
        # `make docs`
        'docs': ['myst-parser', 'numpydoc', 'sphinx', 'sphinx-rtd-theme'],
        # `make test-view`: drives a Chromium that is there already.
        'browser': ['playwright'],
        # fabrik_ros.playground
        'plot': ['matplotlib', 'pillow'],
        'test': [
            'coal',
            'colcon-common-extensions',
            'example-robot-data',
            'hypothesis',
            'matplotlib',
            'pillow',
            'pin',
            'pytest',
            'pytest-cov>=7',
            'pytest-xdist',
            'pyyaml',
            'rosbags',
            'scipy',
            'setuptools>=64',
            'toppra',
            'wheel',
            'xacro',
            MUJOCO,
            COACD,
            RUCKIG,
            *LINT,
        ],
        # What `make test-jazzy` runs with.
        'quick': [
            'coal',
            'hypothesis',
            'pin',
            'pytest',
            'pytest-xdist',
            'pyyaml',
            'rosbags',
            'scipy',
        ],
        # What `make lint` and the hooks of pre-commit run.
        'lint': LINT,
        # The solvers compared with may be absent: benchmark/peers/install_peers.py.
        'benchmark': [
            'coal',
            'example-robot-data',
            'matplotlib',
            'pin',
            'pytest',
            'scipy',
            'toppra',
            'xacro',
            OMPL,
        ],
    },
)
