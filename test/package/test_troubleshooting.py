"""Docs/troubleshooting.md has what is logged and raised, and nothing that is not said."""

import ast
from collections.abc import Iterator
from pathlib import Path
import re

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / 'fabrik_ros'
PAGE = (ROOT / 'docs' / 'troubleshooting.md').read_text()
GAP = '…'
"""What differs from one message to the next."""
SHORTEST = 6
"""Pieces of a message that are shorter may stand anywhere [characters]."""
LEVELS = {'warning', 'error', 'fatal'}
LOGGING = {'ros', 'sim', 'launch'}
"""Folders whose files, and those of the rooms in them, write to the log."""
_, TABLES, EXCEPTIONS = re.split(
    '^## Warnings and errors|^## Exceptions', PAGE, flags=re.MULTILINE
)
MESSAGES = [
    message
    for cell in re.findall(r'^\| `(.*?)` \| ', TABLES, re.MULTILINE)
    for message in cell.split('`, `')
]
TOOLS = ['setup.py', 'scripts/make_environment.py', 'build_kernels/*.py', 'demo/*.py']
"""They build and show the package; like the Makefile they say what is wrong, too."""


@pytest.fixture(scope='module')
def sources() -> dict[Path, ast.Module]:
    """Read the files of the package, and of its launch files."""
    files = sorted([*PACKAGE.rglob('*.py'), *(ROOT / 'launch').glob('*.py')])
    return {path: ast.parse(path.read_text()) for path in files}


@pytest.fixture(scope='module')
def texts(sources) -> set[str]:
    """All that is said anywhere."""
    tools = [path for tool in TOOLS for path in ROOT.glob(tool)]
    trees = [*sources.values(), *(ast.parse(path.read_text()) for path in tools)]
    said_here = {said(node) for tree in trees for node in ast.walk(tree)}
    return said_here | {re.sub(r'\s*\\\n\s*', ' ', (ROOT / 'Makefile').read_text())}


def said(node: ast.AST) -> str:
    """Write a text as it is said, with a gap for each value; '' where nothing of it is known."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return ''.join(
            said(part) if isinstance(part, ast.Constant) else GAP for part in node.values
        )
    return ''


def logged(sources: dict[Path, ast.Module]) -> Iterator[tuple[str, str]]:
    """Yield the place and text of each warning and error in the log, and of a wrong argument."""
    for path, tree in sources.items():
        for node in ast.walk(tree):
            if not _is_method_call(node):
                continue
            of_parser = ast.unparse(node.func) in ('parser.error', 'parser.exit')
            in_log = node.func.attr in LEVELS and bool(LOGGING & set(path.relative_to(ROOT).parts))
            text = said(node.args[-1 if of_parser else 0]) if of_parser or in_log else ''
            if re.search(r'\w', text.replace('error', '')):
                yield f'{path.name}:{node.lineno}', text.strip()


def _is_method_call(node: ast.AST) -> bool:
    is_call = isinstance(node, ast.Call) and bool(node.args)
    return is_call and isinstance(node.func, ast.Attribute)


def pattern(message: str) -> re.Pattern[str]:
    return re.compile('.*'.join(map(re.escape, message.split(GAP))), re.DOTALL)


def has_cure(text: str) -> bool:
    return any(
        pattern(message).fullmatch(text) or pattern(text).fullmatch(message)
        for message in MESSAGES
    )


def test_what_is_logged_has_a_cure(sources):
    found = dict(logged(sources))
    assert len(found) > 20
    assert {place: text for place, text in found.items() if not has_cure(text)} == {}


@pytest.mark.parametrize('message', MESSAGES)
def test_what_has_a_cure_is_said(message, texts):
    pieces = [piece.strip() for piece in message.split(GAP)]
    for piece in pieces:
        assert len(piece) < SHORTEST or any(piece in text for text in texts), piece


def test_messages_without_words_of_their_own_are_not_listed():
    assert all(any(len(p) >= SHORTEST for p in message.split(GAP)) for message in MESSAGES)


def test_every_exception_has_a_cure(sources):
    raised = {
        node.name
        for tree in sources.values()
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef) and node.name.endswith('Error')
    }
    rows = ''.join(re.findall(r'^\| (`.*?) \|', EXCEPTIONS, re.MULTILINE))
    assert set(re.findall(r'`(\w+)`', rows)) == raised - {'FabrikError'}
