"""Names of people and machines, left out of what is sent away."""

from collections.abc import Mapping
import getpass
from pathlib import Path
import platform
import re

HOMES = re.compile(r'(?:/home|/Users|[A-Z]:\\Users)[/\\][^/\\\s:;,\'"]+')
"""Home folders, of whomever."""
COMMON = {'', 'admin', 'localhost', 'robot', 'ros', 'root', 'ubuntu', 'user'}
"""Names that tell nothing of whose they are, and may be words."""


def personal_names() -> dict[str, str]:
    """Tell what stands for the home folder, the user and the machine, by their names."""
    host = platform.node()
    try:
        user = getpass.getuser()
    except (KeyError, OSError):  # a user without a name, as in containers
        user = ''
    names = {str(Path.home()): '~', host: 'HOST', host.partition('.')[0]: 'HOST', user: 'USER'}
    return {name: other for name, other in names.items() if name.lower() not in COMMON | {'/'}}


def without_names(text: str, names: Mapping[str, str]) -> str:
    """
    Put other words for names, in capitals or not, and for home folders.

    >>> without_names("/home/ann/arm.urdf on ANN-PC", {'ann-pc': 'HOST', 'ann': 'USER'})
    '~/arm.urdf on HOST'
    """
    for name in sorted(names, key=len, reverse=True):
        text = re.sub(rf'(?i)(?<!\w){re.escape(name)}(?!\w)', names[name], text)
    return HOMES.sub('~', text)
