"""Arguments of the launch files, read; no `launch` in here, so any test can call it."""

from collections.abc import Iterable
from importlib.util import find_spec
import os
from pathlib import Path
import re
import shlex
import shutil
import sys

from ament_index_python.packages import get_package_share_directory

from ...collision.meshes import folders_beside
from ...errors import FabrikError
from ...model.urdf_file import read_text
from ...model.urdf_xml import is_for_urdfdom_alone

CONTROLLER = re.compile(r'/?[A-Za-z_]\w*(/[A-Za-z_]\w*)*', re.ASCII)
TOPICS_OF_CONTROLLERS = {
    'trajectory': ('trajectory_topic', 'joint_trajectory'),
    'array': ('array_topic', 'commands'),
}
"""Parameter with the topic of an output, and its name below that of a controller."""


class LaunchArgumentError(FabrikError):
    """A launch argument that cannot be used."""


def description_command(description: str, xacro_args: str = '') -> str:
    """
    Write the shell command that prints the robot description.

    Plain URDF goes through xacro as well, which leaves it as it is; where xacro could not read it
    and urdfdom can, it is printed as it is.

    Parameters
    ----------
    description : str
        `package/path/inside/share` or the path of a file.
    xacro_args : str
        Arguments of the xacro file: 'name:=value name:=value'.

    Raises
    ------
    LaunchArgumentError
        If there is no such file, an argument is malformed or xacro is not installed.

    """
    path = find_description(description)
    arguments = [
        f'{name}:={value}' for name, value in read_pairs(xacro_args, 'xacro_args').items()
    ]
    if path.suffix != '.xacro' and is_for_urdfdom_alone(read_text(path, None)[0]):
        return shlex.join(['cat', str(path)])
    return shlex.join([_xacro(), str(path), *arguments])


def folders_of_meshes(description: str) -> list[str]:
    """List where meshes with relative names may be: beside the description that is named."""
    return list(folders_beside(str(find_description(description).parent)))


def _xacro() -> str:
    """Path of the program: from the PATH, or else beside this interpreter as pip puts it."""
    folders = [os.environ.get('PATH', ''), str(Path(sys.executable).parent)]
    program = shutil.which('xacro', path=os.pathsep.join(folders))
    if program is None:
        raise LaunchArgumentError('no xacro on the PATH; install the package xacro')
    return program


def find_description(description: str) -> Path:
    """Find the file that `package/path/inside/share`, or else the path of a file, stands for."""
    inside = description.removeprefix('package://')
    package, _, rest = inside.partition('/')
    if (shared := _in_share(inside)) is not None:
        return shared
    path = Path(description).expanduser()
    if path.is_file():
        return path.resolve()
    raise LaunchArgumentError(f"no description '{description}': {_missing(path, package, rest)}")


def _in_share(inside: str) -> Path | None:
    """File that `package/path/inside/share` stands for; None where there is none."""
    package, _, rest = inside.partition('/')
    share = _share(package)
    return share / rest if share is not None and (share / rest).is_file() else None


def _missing(path: Path, package: str, rest: str) -> str:
    """Say which of the places looked at comes nearest to what was meant."""
    share = _share(package)
    if path.is_dir() or (share is not None and (share / rest).is_dir()):
        return 'that is a directory; name the .urdf or .xacro file'
    if path.is_absolute():
        return 'there is no such file'
    if share is None:
        return f"'{path.absolute()}' is no file and no package '{package}' is installed"
    models = sorted(str(model.relative_to(share)) for model in share.rglob('*.urdf*'))
    listing = ', '.join(models) if models else 'no .urdf or .urdf.xacro file at all'
    return f"package '{package}' has {listing}"


def _share(package: str) -> Path | None:
    """Share directory of an installed package; None for anything else."""
    try:
        return Path(get_package_share_directory(package))
    except (LookupError, ValueError, OSError):
        return None


def output_parameters(controller: str, output: str) -> dict[str, str | list[str]]:
    """
    Say by parameters of the node who takes the commands.

    Parameters
    ----------
    controller : str
        Name of a controller, in the namespace of the node unless it begins with a slash; '' if the
        parameters name its topic.
    output : str
        What it takes: `trajectory` or `array`; `joint_state` where it is a driver. '' as in the
        parameters, and a trajectory for a controller.

    Raises
    ------
    LaunchArgumentError
        If the two contradict each other, or the name cannot be one.

    """
    output = output or ('trajectory' if controller else '')
    if not output:
        return {}
    outputs = {'output': list(dict.fromkeys(['joint_state', output]))}
    if not controller:
        return {**outputs}
    if output not in TOPICS_OF_CONTROLLERS:
        raise LaunchArgumentError(
            f"controller:='{controller}' takes trajectories or arrays, not output:={output}; "
            'choose output:=trajectory or output:=array, or leave one of the two out'
        )
    if not CONTROLLER.fullmatch(controller):
        raise LaunchArgumentError(
            f"controller: '{controller}' is no name of a controller; `ros2 control "
            'list_controllers` lists them'
        )
    parameter, topic = TOPICS_OF_CONTROLLERS[output]
    if controller.endswith(f'/{topic}'):
        raise LaunchArgumentError(
            f"controller: '{controller}' is a topic; give controller:="
            f'{controller.removesuffix(f"/{topic}")}'
        )
    return {**outputs, parameter: f'{controller}/{topic}'}


def require_packages(packages: Iterable[str]) -> None:
    """Make sure that packages are installed."""
    missing = [package for package in packages if _share(package) is None]
    if missing:
        distribution = os.environ.get('ROS_DISTRO', '<distribution>')
        cures = [f'ros-{distribution}-{package}'.replace('_', '-') for package in missing]
        raise LaunchArgumentError(
            f'not installed: {", ".join(missing)}; try: sudo apt install {" ".join(cures)}'
        )


def require_mujoco() -> None:
    """Make sure that MuJoCo is installed, for an arm with physics."""
    if find_spec('mujoco') is None:
        raise LaunchArgumentError(
            'simulate:=physics needs MuJoCo, which is not installed; try: pip install mujoco '
            '(simulate:=true does without, and without physics)'
        )


def find_file(path: str, argument: str) -> Path:
    """Find the file given for `argument`."""
    found = Path(path).expanduser()
    if not found.is_file():
        raise LaunchArgumentError(f"{argument}: '{found.absolute()}' is no file")
    return found


def find_shared_file(path: str, argument: str) -> Path:
    """Find the file given for `argument`, also as `package/path/inside/share`."""
    return _in_share(path) or find_file(path, argument).absolute()


def find_preset(arm: str) -> Path:
    """Find the parameter file of an arm: the name of a bundled one, or the path of a file."""
    bundled = _presets() / f'{arm}.yaml'
    if bundled.is_file():
        return bundled
    path = Path(arm).expanduser()
    if path.is_file():
        return path
    raise LaunchArgumentError(
        f"arm: '{arm}' is no file and no bundled preset; these are: {preset_names()}"
    )


def preset_names() -> str:
    """Names of the bundled presets, in one line."""
    return ', '.join(sorted(preset.stem for preset in _presets().glob('*.yaml')))


def _presets() -> Path:
    return Path(get_package_share_directory('fabrik_ros'), 'config', 'arms')


def read_pairs(text: str, argument: str) -> dict[str, str]:
    """Read 'name:=value name:=value'; values with spaces are quoted as in a shell."""
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise LaunchArgumentError(f"{argument}: '{text}' has an unclosed quote") from error
    pairs = {}
    for word in words:
        name, separator, value = word.partition(':=')
        if not (name and separator):
            raise LaunchArgumentError(f"{argument}: '{word}' is not of the form name:=value")
        pairs[name] = value
    return pairs


def read_joint_values(text: str, argument: str) -> dict[str, float]:
    """Read 'joint:=value joint:=value', values in [rad] or [m]."""
    values = {}
    for joint, value in read_pairs(text, argument).items():
        try:
            values[joint] = float(value)
        except ValueError as error:
            raise LaunchArgumentError(
                f"{argument}: '{value}' for '{joint}' is no number"
            ) from error
    return values


def resolve_private(topic: str, node_name: str) -> str:
    """Write a topic as the other nodes of the same namespace have to: without a `~`."""
    return node_name + topic[1:] if topic.startswith('~/') else topic
