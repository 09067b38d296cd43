"""The command `fabrik_ros` as a process of its own, as a user starts it."""

from dataclasses import dataclass
import os
from pathlib import Path
import subprocess
import sys

ROOT = Path(__file__).resolve().parents[2]
PATIENCE = 120.0
"""How long the slowest machine may take for a subcommand [s]."""
NO_ROS = 'import sys\nfor name in ("rclpy", "numba"): sys.modules[name] = None\n'
"""For `sitecustomize`: imports fail as if the packages were missing."""


@dataclass(frozen=True)
class Ended:
    """How a process ended."""

    code: int
    printed: str
    complained: str

    def error(self) -> str:
        """Return the error of a process that was used wrongly: one line, below the usage."""
        assert self.code == 2, self
        assert self.printed == ''
        assert 'Traceback' not in self.complained
        return self.complained.strip().splitlines()[-1]


def environment(**variables: str) -> dict[str, str]:
    """Make the environment of a process that imports the checkout."""
    path = os.pathsep.join([str(ROOT), os.environ.get('PYTHONPATH', '')])
    return {**os.environ, 'PYTHONPATH': path, **variables}


def run(
    *words: str | Path, module: str = 'fabrik_ros', typed: str | None = None, **variables: str
) -> Ended:
    """Run `fabrik_ros`, or another module, to its end; `typed` is what comes from its input."""
    done = subprocess.run(
        [sys.executable, '-m', module, *words],
        env=environment(**variables),
        input=typed,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    return Ended(done.returncode, done.stdout, done.stderr)


def without_ros(folder: Path) -> dict[str, str]:
    """Make variables for `run` by which a process finds neither ROS nor numba."""
    (folder / 'sitecustomize.py').write_text(NO_ROS)
    return {'PYTHONPATH': os.pathsep.join([str(folder), str(ROOT)])}
