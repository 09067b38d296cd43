"""Packages that are installed beside this one, what each is for, and how to get it."""

from collections.abc import Iterator
from dataclasses import dataclass
import importlib
import importlib.metadata
import platform

from ..kernels._jit import COMPILED, IS_BUILT, WHY_NOT_BUILT


@dataclass(frozen=True)
class Package:
    """A package that may be missing."""

    module: str
    """Name by which it is imported."""
    distribution: str
    """Name for pip, which also knows its version."""
    without: str
    """Consequence of its absence."""
    cure: str
    """Way to install it."""


ROS_CURE = "source ROS 2, or pip install '.[ros]' in the checkout (Linux x86-64)"
PACKAGES = (
    Package('rclpy', 'ros-rclpy', 'no node, no simulated arm, no subcommand target', ROS_CURE),
    Package('diagnostic_msgs', 'ros-diagnostic-msgs', 'no node', ROS_CURE),
    Package(
        'tf2_ros',
        'tf2-ros',
        'frames of targets are links of the robot, no others',
        'apt install ros-$ROS_DISTRO-tf2-ros (no wheel has it)',
    ),
    Package(
        'control_msgs',
        'control-msgs',
        'no action ~/execute_motion; a controller of trajectories is not heard: its first motion '
        'may begin with a step, and what it does with late messages is not known',
        'apt install ros-$ROS_DISTRO-control-msgs (no wheel has it)',
    ),
    Package(
        'interactive_markers',
        'interactive-markers',
        'no handle to drag in RViz (drag_target)',
        'apt install ros-$ROS_DISTRO-interactive-markers (no wheel has it)',
    ),
    Package(
        'coal',
        'coal',
        'no self-collision checking, no obstacles',
        "apt install ros-$ROS_DISTRO-coal, or pip install '.[collision]' in a virtual environment",
    ),
    Package(
        'yaml', 'pyyaml', 'no scenes from files', 'apt install python3-yaml, or pip install pyyaml'
    ),
    Package(
        'ruckig', 'ruckig', 'the jerk of the joints is not limited', "pip install '.[motion]'"
    ),
    Package('xacro', 'xacro', 'no .xacro files, no bundled arms', 'pip install xacro'),
    Package(
        'mujoco', 'mujoco', 'no physical_arm; simulated_arm does without', "pip install '.[sim]'"
    ),
    Package('matplotlib', 'matplotlib', 'no playground', "pip install '.[plot]'"),
    Package('viser', 'viser', 'no view in the browser', "pip install '.[view]'"),
    Package('yourdfpy', 'yourdfpy', 'no view in the browser', "pip install '.[view]'"),
    Package('rosbags', 'rosbags', 'no bags of ROS in `log` and `report`', 'pip install rosbags'),
)


@dataclass(frozen=True)
class Finding:
    """Result of looking at one thing."""

    mark: str
    """'ok', 'missing' where something optional is, 'WRONG' where something does not work."""
    what: str
    text: str


def findings() -> Iterator[Finding]:
    """Look at Python, the kernels and each package."""
    yield Finding('ok', 'python', platform.python_version())
    yield Finding('ok', 'numpy', importlib.metadata.version('numpy'))
    yield _kernels()
    yield from map(_package, PACKAGES)


def _kernels() -> Finding:
    if IS_BUILT:
        return Finding('ok', 'kernels', 'built: the solver is fast from the first call on')
    if COMPILED:
        text = f'compiled by numba, a minute at the first start, as {WHY_NOT_BUILT}'
        return Finding('ok', 'kernels', text)
    text = (
        f'interpreted: solving takes two hundred times longer; no numba, and {WHY_NOT_BUILT}; '
        'cure: pip install numba, or a C compiler and pip install . again'
    )
    return Finding('WRONG', 'kernels', text)


def _package(package: Package) -> Finding:
    try:
        importlib.import_module(package.module)
    except ModuleNotFoundError as error:
        if error.name != package.module and error.name is not None:
            return _broken(package, error)
        text = f'{package.without}; cure: {package.cure}'
        return Finding('missing', package.module, text)
    except Exception as error:  # libraries that do not fit fail in many ways
        return _broken(package, error)
    return Finding('ok', package.module, _version(package.distribution))


def _broken(package: Package, error: Exception) -> Finding:
    text = f'is installed, but cannot be loaded: {error}; {package.without}; cure: {package.cure}'
    return Finding('WRONG', package.module, text)


def _version(distribution: str) -> str:
    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return 'installed'
