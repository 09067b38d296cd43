"""One package for two worlds: `colcon build` (ament_python) and `pip install`."""

from pathlib import Path

from setuptools import Distribution, find_packages, setup

NAME = 'fabrik_ros'
CONSOLE_SCRIPTS = {
    'fabrik_node': 'fabrik_ros.ros.main:main',
    'simulated_arm': 'fabrik_ros.sim.simulated_arm:main',
    'physical_arm': 'fabrik_ros.sim.physical_arm:main',
    'demo_targets': 'fabrik_ros.ros.demo_targets:main',
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

# What needs it says so where it has no wheel.
OMPL = 'ompl>=2.0; python_version < "3.14" and sys_platform != "win32"'

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


def share_files(*folders):
    """Pair each file with its place below share/, keeping the structure of the checkout."""
    files = (file for folder in folders for file in sorted(Path(folder).rglob('*')))
    wanted = (file for file in files if file.is_file() and file.parent.name != '__pycache__')
    return [(f'share/{NAME}/{file.parent}', [str(file)]) for file in wanted]


setup(
    name=NAME,
    version='0.1.0',
    description='Inverse kinematics for ROS 2 manipulators by constrained FABRIK',
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
    cmdclass={'install_data': InstallDataAndRelays},
    entry_points={
        'console_scripts': [f'{name} = {target}' for name, target in CONSOLE_SCRIPTS.items()],
    },
    zip_safe=True,
    # rclpy and the messages come with a sourced ROS 2 or with the extra `ros`.
    install_requires=['numpy'],
    extras_require={
        'fast': ['numba', 'tqdm'],
        'ros': [
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
        ],
        'sim': [MUJOCO],
        'demo': ['coal', 'matplotlib', 'pin', MUJOCO, OMPL],
        # PyYAML reads scenes.
        'collision': ['coal', 'pyyaml'],
        'motion': ['ruckig>=0.12'],
        # Ways round obstacles, by fabrik_ros.planning and the node.
        'plan': ['coal', 'pyyaml', OMPL],
        # fabrik_ros.playground
        'plot': ['matplotlib', 'pillow'],
        'test': [
            'coal',
            'colcon-common-extensions',
            'example-robot-data',
            'hypothesis',
            'matplotlib',
            'mypy',
            'pillow',
            'pin',
            'pytest',
            'pytest-xdist',
            'pyyaml',
            'ruff',
            'scipy',
            'setuptools>=64',
            'wheel',
            'xacro',
            MUJOCO,
            OMPL,
            RUCKIG,
        ],
        # The solvers compared with may be absent: benchmark/peers/install_peers.py.
        'benchmark': [
            'coal',
            'example-robot-data',
            'matplotlib',
            'pin',
            'pytest',
            'scipy',
            'xacro',
            OMPL,
        ],
    },
)
