"""
A prefix with recording executables, so that launch files run for real and touch nothing.

Each executable writes down the arguments and parameters it was started with, and ends.

"""

from dataclasses import dataclass
import json
import os
from pathlib import Path
import subprocess
import sys

import pytest

ROOT = Path(__file__).parents[2]
EXECUTABLES = {
    'fabrik_ros': ['fabrik_node', 'demo_targets', 'drag_target', 'physical_arm'],
    'robot_state_publisher': ['robot_state_publisher'],
    'joint_state_publisher': ['joint_state_publisher'],
    'rviz2': ['rviz2'],
    'interactive_markers': [],
    'acme_description': [],
}
CLOSED_LAST = """
    siblings = pathlib.Path(f'/proc/{os.getppid()}/task/{os.getppid()}/children')
    alone_since = time.monotonic()
    while time.monotonic() - alone_since < 1.0:
        if siblings.read_text().split() != [str(os.getpid())]:
            alone_since = time.monotonic()
        time.sleep(0.02)
"""
"""Closed before the others, RViz may end them all before they have written anything down."""
RECORDER = """#!{python}
import json, os, pathlib, sys, time
given = sys.argv[1:]
files = [file for flag, file in zip(given, given[1:]) if flag == '--params-file']
if sys.argv[0].endswith('rviz2'):
    {closing}
record = dict(arguments=given, files=[pathlib.Path(file).read_text() for file in files])
name = pathlib.Path(sys.argv[0]).name + '.' + str(os.getpid()) + '.json'
pathlib.Path({folder!r}, name).write_text(json.dumps(record))
"""
HIDING = """
import importlib.util
find = importlib.util.find_spec
importlib.util.find_spec = lambda name, *rest: None if name == {name!r} else find(name, *rest)
"""
ACME_XACRO = """<?xml version="1.0"?>
<robot name="acme" xmlns:xacro="http://www.ros.org/wiki/xacro">
  <xacro:arg name="size" default="1"/>
  <!-- a comment: with a colon, which YAML would stumble over -->
  <link name="base_of_size_$(arg size)"/>
</robot>
"""


@dataclass(frozen=True)
class Started:
    """How one process was started."""

    executable: str
    arguments: list[str]
    parameters: dict[str, object]
    """What its parameter files say together; the last one wins."""

    @property
    def remappings(self) -> dict[str, str]:
        """Remapping rules by name, `__node` and `__ns` among them."""
        pairs = zip(self.arguments, self.arguments[1:], strict=False)
        return dict(rule.split(':=') for flag, rule in pairs if flag == '-r')


@dataclass(frozen=True)
class Launched:
    """What became of a launch file."""

    output: str
    started: list[Started]

    @property
    def processes(self) -> dict[str, Started]:
        """How each executable was started; for launch files that start each but once."""
        names = [process.executable for process in self.started]
        assert len(set(names)) == len(names), f'more than one of {sorted(names)}'
        return dict(zip(names, self.started, strict=True))

    def inside(self, namespace: str) -> dict[str, Started]:
        """How each executable in a namespace was started."""
        return Launched(
            self.output,
            [process for process in self.started if process.remappings['__ns'] == namespace],
        ).processes


class Prefix:
    """An installation with this package, as it is in the checkout, and stand-ins for others."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.records = folder / 'records'
        self.records.mkdir(parents=True)
        for package, executables in EXECUTABLES.items():
            self.add_package(package, executables)
        for part in ('launch', 'config', 'urdf'):
            (self.share('fabrik_ros') / part).symlink_to(ROOT / part)
        model = self.share('acme_description') / 'urdf' / 'acme.urdf.xacro'
        model.parent.mkdir()
        model.write_text(ACME_XACRO)

    def share(self, package: str) -> Path:
        return self.folder / 'share' / package

    def add_package(self, package: str, executables: list[str]) -> None:
        self._marker(package).parent.mkdir(parents=True, exist_ok=True)
        self._marker(package).touch()
        self.share(package).mkdir()
        for name in executables:
            executable = self.folder / 'lib' / package / name
            executable.parent.mkdir(parents=True, exist_ok=True)
            executable.write_text(
                RECORDER.format(
                    python=sys.executable, folder=str(self.records), closing=CLOSED_LAST.strip()
                )
            )
            executable.chmod(0o755)

    def remove_package(self, package: str) -> None:
        self._marker(package).unlink()

    def hide_module(self, name: str) -> None:
        """Let programs that ask whether there is a module of that name hear that there is none."""
        hiding = self.folder / 'site' / 'sitecustomize.py'
        hiding.parent.mkdir(exist_ok=True)
        hiding.write_text(HIDING.format(name=name))

    def _marker(self, package: str) -> Path:
        return self.folder / 'share' / 'ament_index' / 'resource_index' / 'packages' / package

    @property
    def environment(self) -> dict[str, str]:
        """Variables that make this the only installation."""
        path = [str(Path(sys.executable).parent), os.environ.get('PATH', '')]
        modules = [str(self.folder / 'site'), str(ROOT), os.environ.get('PYTHONPATH', '')]
        return {
            'AMENT_PREFIX_PATH': str(self.folder),
            'PATH': os.pathsep.join(path),
            'PYTHONPATH': os.pathsep.join(filter(None, modules)),
            'ROS_HOME': str(self.folder / 'home'),
            'ROS_LOG_DIR': str(self.folder / 'log'),
        }

    def launch(self, launch_file: str, *arguments: str) -> Launched:
        """Run a launch file of this package, or any by its path, until all it starts has ended."""
        for record in self.records.iterdir():
            record.unlink()
        run = Path(__file__).with_name('run_launch_file.py')
        path = self.share('fabrik_ros') / 'launch' / launch_file
        done = subprocess.run(
            [sys.executable, str(run), str(path), *arguments],
            env=os.environ | self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=120,
        )
        return Launched(done.stdout, self._read_records())

    def _read_records(self) -> list[Started]:
        return [_started(path) for path in sorted(self.records.glob('*.json'))]


def _started(record: Path) -> Started:
    yaml = pytest.importorskip('yaml', reason='PyYAML reads parameter files; in the extra: test')
    content = json.loads(record.read_text())
    parameters: dict[str, object] = {}
    for text in content['files']:
        # launch_ros tags lists as Python tuples, which the parser of rcl ignores.
        for node in yaml.safe_load(text.replace('!!python/tuple', '')).values():
            parameters |= node['ros__parameters']
    return Started(record.name.split('.')[0], content['arguments'], parameters)


@pytest.fixture
def prefix(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Prefix:
    made = Prefix(tmp_path / 'prefix')
    for name, value in made.environment.items():
        monkeypatch.setenv(name, value)
    return made
