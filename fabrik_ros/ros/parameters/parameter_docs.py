"""
Writes `config/fabrik.yaml` and the tables of docs/node.md from the table of parameters.

`python -m fabrik_ros.ros.parameters.parameter_docs` in a checkout renews both; it needs no ROS.

"""

import argparse
from collections.abc import Iterator
from pathlib import Path
import re
import textwrap

from .parameter_spec import HUGE, Spec, specs_of, Value
from .parameter_table import CONFIGURATION, SECTIONS

COMMAND = 'python -m fabrik_ros.ros.parameters.parameter_docs'
NOT_IN_FILE = ('robot_description',)
"""Parameters that are too long for a file."""
WIDTH = 97
"""Width of the file, in characters."""
INDENT = '    '
BEFORE_CONFIGURATIONS = 'home_configuration'
"""Named configurations are listed behind it."""
EXAMPLE = """\
    # configurations:
    #   ready: [0.0, -1.57, 1.57, -1.57, -1.57, 0.0]
"""
BEGIN, END = '<!-- parameters: begin -->', '<!-- parameters: end -->'
"""Marks before and after the tables in docs/node.md."""
HEAD = f"""\
# Every parameter of the node fabrik, with its default. Copy the keys you change into a file of
# your own and give it as params_file; presets for some arms are in arms/.
#
# Write 1.0e-5, not 1e-5, which some YAML readers take for text. Whole numbers are taken where a
# number may be fractional, but lists may not mix the two; [] and [''] mean none.
#
# Written by `{COMMAND}`.
/**:
  ros__parameters:
"""


def config_file() -> str:
    """Text of `config/fabrik.yaml`."""
    return HEAD + ''.join(map(_section, SECTIONS))


def parameter_tables() -> str:
    """Tables of docs/node.md in Markdown, one for each section."""
    return '\n'.join(map(_table, SECTIONS))


def with_tables(page: str) -> str:
    """Put the tables into the text of docs/node.md, instead of those there."""
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        raise ValueError(f'docs/node.md must hold {BEGIN} and {END}')
    return f'{before}{begin}\n{parameter_tables()}{end}{after}'


def _title(section: type) -> str:
    return (section.__doc__ or '').strip().rstrip('.')


def _section(section: type) -> str:
    head = f'\n{INDENT}# -- {_title(section)} '.ljust(WIDTH + 1, '-')
    specs = [spec for spec in specs_of(section) if spec.name not in NOT_IN_FILE]
    return head + '\n' + ''.join(map(_entry, specs))


def _entry(spec: Spec) -> str:
    entry = f'\n{_comments(spec)}{INDENT}{spec.name}: {_yaml(spec.default)}\n'
    if spec.name == BEFORE_CONFIGURATIONS:
        entry += f'\n{INDENT}# {CONFIGURATION.name}\n{_comments(CONFIGURATION)}{EXAMPLE}'
    return entry


def _comments(spec: Spec) -> str:
    return _comment(_meaning(spec)) + _comment(' '.join(_constraints(spec)))


def _comment(text: str) -> str:
    mark = f'{INDENT}# '
    lines = textwrap.wrap(
        text, WIDTH, initial_indent=mark, subsequent_indent=mark, break_on_hyphens=False
    )
    return ''.join(f'{line}\n' for line in lines)


def _meaning(spec: Spec) -> str:
    """Sentences on what a parameter means; names and words to type keep their small letters."""
    meaning = spec.plain_meaning
    word = re.split('[ ,:;]', meaning)[0]
    if word.isalpha() and word not in spec.choices:
        meaning = meaning[0].upper() + meaning[1:]
    return f'{meaning}. {spec.notes}'.strip()


def _constraints(spec: Spec) -> Iterator[str]:
    if spec.choices:
        yield f'One of: {", ".join(spec.choices)}.'
    if spec.is_number:
        yield _range(spec)
    if not spec.is_live:
        yield 'Fixed while configured.'


def _range(spec: Spec) -> str:
    if spec.high < HUGE:
        return f'{_number(spec.low)} to {_number(spec.high)}.'
    return f'At least {_number(spec.low)}.'


def _table(section: type) -> str:
    rows = [f'### {_title(section)}', '', '| parameter | default | live | meaning |']
    rows.append('|---|---|---|---|')
    for spec in specs_of(section):
        rows.append(_row(spec))
        if spec.name == BEFORE_CONFIGURATIONS:
            rows.append(_row(CONFIGURATION))
    return '\n'.join(rows) + '\n'


def _row(spec: Spec) -> str:
    default = _markdown(spec.default)
    return f'| `{spec.name}` | {default} | {"yes" if spec.is_live else "no"} | {spec.meaning} |'


def _markdown(value: Value) -> str:
    if isinstance(value, list):
        return ' '.join(map(_markdown, value)) or 'none'
    if isinstance(value, str):
        return f'`{value}`' if value else "`''`"
    return _yaml(value)


def _yaml(value: Value) -> str:
    """Write a value as YAML readers of all kinds take it."""
    if isinstance(value, list):
        return f'[{", ".join(f"{v!r}" if isinstance(v, str) else _yaml(v) for v in value)}]'
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return value if re.fullmatch('[a-z_]+', value) else f"'{value}'"
    text = _number(value)
    return re.sub(r'^(-?\d+)(e|$)', r'\1.0\2', text)


def _number(value: float) -> str:
    """Write a number as short as it can be: 0.25, 100, 1e-5."""
    return re.sub(r'e([+-])0*', lambda found: f'e{found[1].strip("+")}', f'{value:g}')


def main() -> None:
    """Write both into the checkout."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--root', type=Path, default=Path(), help='the checkout')
    root = parser.parse_args().root
    (root / 'config' / 'fabrik.yaml').write_text(config_file(), encoding='utf-8')
    page = root / 'docs' / 'node.md'
    page.write_text(with_tables(page.read_text(encoding='utf-8')), encoding='utf-8')


if __name__ == '__main__':
    main()
