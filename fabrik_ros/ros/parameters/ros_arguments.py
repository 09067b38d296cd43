"""
Arguments of ROS as users write them: parameter values that its parser refuses without their name.

The parser takes no list of whole numbers and others, and no key without a value. Here such lists
get their fractions, and all else that is wrong is said with its file, line and key.

"""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
import re
import sys
from tempfile import TemporaryDirectory
from typing import Any

import rclpy
from rclpy.impl.implementation_singleton import rclpy_implementation
import yaml

from ...errors import shown
from .parameter_spec import ParameterError

WRONG_USE = 2
"""Exit code."""
LONGEST_REASON = 300
"""[characters]."""
BEGIN, END = '--ros-args', '--'
PARAMETERS = 'ros__parameters'
WHOLE_NUMBER = re.compile('[-+]?(0[xX][0-9a-fA-F]+|[0-9]+)')
NUMBER = re.compile(
    r'[-+]?(([0-9]+\.?[0-9]*|\.[0-9]+)(e[-+]?[0-9]+)?|\.?(inf|nan)|infinity)', re.IGNORECASE
)
TRUE_OR_FALSE = re.compile(
    'y|Y|yes|Yes|YES|true|True|TRUE|on|On|ON|n|N|no|No|NO|false|False|FALSE|off|Off|OFF'
)
WHOLE, FRACTION, TEXT, NOTHING = 'whole numbers', 'other numbers', 'texts', 'nothing'
"""Kinds of values."""
NO_NODE = yaml.ScalarNode('tag:yaml.org,2002:null', '')


def init(args: Sequence[str] | None = None, **options: Any) -> None:
    """
    Initialise rclpy; what is wrong with the arguments ends the process with one line.

    Parameters
    ----------
    args : sequence of str, optional
        As `sys.argv`, which is taken where they are left out.
    **options
        Other arguments of `rclpy.init`.

    """
    try:
        with ExitStack() as files:
            words = understood(sys.argv if args is None else args, files)
            rclpy.init(args=words, **options)
    except (ParameterError, rclpy_implementation.RCLError) as error:
        line = ' '.join(str(error).split())
        print(f'{Path(sys.argv[0]).name}: error: {line}', file=sys.stderr)
        raise SystemExit(WRONG_USE) from error


def understood(words: Sequence[str], files: ExitStack) -> list[str]:
    """
    Write arguments as the parser of ROS takes them.

    Parameters
    ----------
    words : sequence of str
        As `sys.argv`.
    files : ExitStack
        Removes the files of parameters that had to be written anew.

    Raises
    ------
    ParameterError
        If a value cannot be understood; names it.

    """
    result, is_of_ros, option = [], False, ''
    for word in words:
        if option in MENDING:
            result.append(MENDING[option](word, files))
            option = ''
        else:
            result.append(word)
            is_of_ros = word == BEGIN or (is_of_ros and word != END)
            option = word if is_of_ros else ''
    return result


def _value(word: str, files: ExitStack) -> str:
    """Return NAME:=VALUE, mended where the value is a list."""
    name, separator, text = word.partition(':=')
    if not separator or text.strip()[:1] not in ('', '['):  # as whole descriptions are
        return word
    return f'{name}:={_mended(text, f"-p {shown(word)}", name)}'


def _file(path: str, files: ExitStack) -> str:
    """Return the path of a file of parameters, or of what it is mended to."""
    try:
        text = Path(path).read_text()
    except (OSError, ValueError) as error:
        raise ParameterError(f'this parameter file cannot be read: {error}') from error
    mended = _mended(text, path)
    if mended == text:
        return path
    copy = Path(files.enter_context(TemporaryDirectory()), Path(path).name)
    copy.write_text(mended)
    return str(copy)


MENDING = {'-p': _value, '--param': _value, '--params-file': _file}
"""Function that mends the word after each of these options."""


def _mended(text: str, source: str, name: str = '') -> str:
    """Give whole numbers beside others in a list their fractions."""
    try:
        root = yaml.compose(text, yaml.SafeLoader)
    except yaml.YAMLError as error:
        reason = shown(' '.join(str(error).split()), LONGEST_REASON)
        raise ParameterError(f'{source}: this is no YAML: {reason}') from error
    if root is None and not name:  # an empty file
        return text
    ends = set[int]()
    for key, node in _values(name, root or NO_NODE):
        place = source if name else f'{source}, line {node.start_mark.line + 1}'
        what = f"{place}: '{shown(key)}'"
        if _kind(node) == NOTHING:
            raise ParameterError(
                f"{what} has no value; write '' for no text, [] for an empty list, or leave it out"
            )
        if isinstance(node, yaml.SequenceNode):
            ends |= _ends_of_wholes(node, what, text)
    for end in sorted(ends, reverse=True):
        text = f'{text[:end]}.0{text[end:]}'
    return text


def _values(key: str, node: yaml.Node) -> Iterator[tuple[str, yaml.Node]]:
    """Yield everything in a document that is no mapping, with its key."""
    if not isinstance(node, yaml.MappingNode):
        yield key, node
        return
    for name, value in node.value:
        is_inside = key and PARAMETERS not in (key, name.value)
        yield from _values(f'{key}.{name.value}' if is_inside else str(name.value), value)


def _ends_of_wholes(node: yaml.SequenceNode, what: str, text: str) -> set[int]:
    """Find the ends of whole numbers in a list that has others, too; ParameterError if mixed."""
    kinds = {_kind(item) for item in node.value}
    if kinds == {WHOLE, FRACTION}:
        return {item.end_mark.index for item in node.value if _kind(item) == WHOLE}
    if len(kinds) > 1:
        written = text[node.start_mark.index : node.end_mark.index].strip()
        raise ParameterError(
            f'{what} is a list of {" and of ".join(sorted(kinds))}: {shown(written)}; it may have '
            'one kind of values: numbers, texts, or true and false'
        )
    return set()


def _kind(node: yaml.Node) -> str:
    """Name the kind that the parser of ROS takes a value for."""
    if not isinstance(node, yaml.ScalarNode):
        return 'lists'
    if node.style is not None:
        return TEXT
    if not node.value:
        return NOTHING
    if WHOLE_NUMBER.fullmatch(node.value):
        return WHOLE
    if TRUE_OR_FALSE.fullmatch(node.value):
        return 'true and false'
    return FRACTION if NUMBER.fullmatch(node.value) else TEXT
