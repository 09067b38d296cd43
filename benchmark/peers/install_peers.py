"""
Install the solvers that the benchmark compares with, each on its own.

A solver that cannot be installed is named and left out. None may change the versions of the
packages in KEPT, and none is compiled here.

"""

import argparse
from importlib import metadata
from pathlib import Path
import subprocess
import sys
import tempfile

PEERS = {
    'pytracik': [],
    'roboticstoolbox-python': [],
    'pybullet': [],
    'pin-pink': ['daqp'],
    'mink': ['daqp'],
    'ikpy': [],
    'EAIK': [],
    'ik-geo': [],
    'ssik': ['urchin'],
    'roboplan': [],
}
"""And what each needs beyond what it says it needs."""
KEPT = ('numpy', 'numba', 'pin', 'matplotlib')


def main() -> None:
    argparse.ArgumentParser(description=__doc__).parse_args()
    with tempfile.TemporaryDirectory() as folder:
        constraints = Path(folder, 'constraints.txt')
        constraints.write_text('\n'.join(f'{name}=={metadata.version(name)}' for name in KEPT))
        for peer, more in PEERS.items():
            install(peer, more, constraints)


def install(peer: str, more: list[str], constraints: Path) -> None:
    """Install one peer from wheels, or say why not."""
    pip = [sys.executable, '-m', 'pip', 'install', '--quiet', '--disable-pip-version-check']
    options = ['--only-binary', peer, '--constraint', str(constraints)]
    done = subprocess.run(
        [*pip, *options, peer, *more], capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        errors = [line for line in done.stderr.splitlines() if line.startswith('ERROR')]
        print(f'Left out: {peer}: {errors[0] if errors else "pip failed"}', flush=True)


if __name__ == '__main__':
    main()
