"""Blocks of code in README and docs, and what their commands may name."""

import ast
from pathlib import Path
import re
import shlex

from fabrik_ros.cli.executables import MODULES

ROOT = Path(__file__).resolve().parents[1]
DOCUMENTS = [
    ROOT / 'README.md',
    ROOT / 'CONTRIBUTING.md',
    ROOT / 'benchmark' / 'README.md',
    *sorted((ROOT / 'docs').glob('*.md')),
]


def blocks(document: Path, language: str) -> list[str]:
    """Return the blocks of code in one language."""
    fence = rf'^```{language}\n(.*?)^```'
    return re.findall(fence, document.read_text(), re.DOTALL | re.MULTILINE)


def words_of(block: str) -> list[list[str]]:
    """Return the commands of a block for a shell, each as words; && parts two of them."""
    commands, line = [], ''
    for part in block.replace('\\\n', ' ').splitlines():
        line += part
        try:
            words = shlex.split(line, comments=True)
        except ValueError:  # a quotation goes on in the next line
            line += '\n'
            continue
        line = ''
        while '&&' in words:
            end = words.index('&&')
            commands.append(words[:end])
            words = words[end + 1 :]
        commands.append(words)
    assert not line, f'a quotation has no end: {line}'
    return [words for words in commands if words]


def commands() -> list[tuple[str, list[str]]]:
    """Return all commands with the names of their documents, each once in a document."""
    found: dict[tuple[str, ...], tuple[str, list[str]]] = {}
    for document in DOCUMENTS:
        for block in blocks(document, 'sh'):
            for words in words_of(block):
                own = words[2:] if words[:3] == ['python3', '-m', 'fabrik_ros'] else words
                found.setdefault((str(document), *own), (document.name, own))
    return list(found.values())


def launch_arguments(name: str) -> set[str]:
    """
    Return the names of the arguments that a launch file takes.

    Its own, those of the helpers that it calls, and those of the launch files that it includes.
    """
    parts = ast.parse((ROOT / 'fabrik_ros/ros/launching/launch_parts.py').read_text())
    helpers = {item.name: item for item in parts.body if isinstance(item, ast.FunctionDef)}
    file = ast.parse((ROOT / 'launch' / name).read_text())
    names = _declared(file)
    for called, first in _calls(file):
        if called == 'launch_file' and first != name:
            names |= launch_arguments(first)
        elif called == 'topic_arguments':
            names |= set(_topics(parts))
        elif called in helpers:
            names |= _declared(helpers[called])
    return names


def _calls(tree: ast.AST) -> list[tuple[str, str]]:
    """Return names of called functions with their first arguments, where these are texts."""
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    firsts = [call.args[0] if call.args else None for call in calls]
    return [
        (call.func.id, first.value if isinstance(first, ast.Constant) else '')
        for call, first in zip(calls, firsts, strict=True)
        if isinstance(call.func, ast.Name)
    ]


def _declared(tree: ast.AST) -> set[str]:
    return {first for called, first in _calls(tree) if called == 'DeclareLaunchArgument' and first}


def _topics(parts: ast.Module) -> list[str]:
    """Return the keys of TOPICS."""
    for item in parts.body:
        if isinstance(item, ast.Assign) and ast.unparse(item.targets[0]) == 'TOPICS':
            return list(ast.literal_eval(item.value))
    raise AssertionError('launch_parts.py has no TOPICS')


def documented_topics() -> dict[str, str]:
    """Return types of the topics and services in docs/node.md by their names."""
    page = (ROOT / 'docs' / 'node.md').read_text()
    rows = re.findall(r'^\| (?:in \||out \||)(.*?) \| (\w+/\w+) \|', page, re.MULTILINE)
    return {name: kind for cell, kind in rows for name in re.findall(r'`~/(\w+)`', cell)}


def declared_parameters(name: str) -> set[str]:
    """Return the parameters that an executable other than the node declares."""
    file = Path(*MODULES[name].split('.')).with_suffix('.py')
    files = [file, file.parent / 'arm_node.py'] if file.parent.name == 'sim' else [file]
    text = ''.join((ROOT / file).read_text() for file in files)
    return set(re.findall(r"(?:declare_parameter|_number|numbers?\(self,)\(?\s*'(\w+)'", text))
