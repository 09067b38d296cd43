"""Make one page of a log that `fabrik_ros log` wrote, to look at or to send with a report."""

import argparse
from pathlib import Path

from ..logs.log_file import read_log
from ..logs.report import report


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `fabrik_ros report`."""
    add = parser.add_argument
    add('file', metavar='FILE.zip', help='the log')
    add('--out', metavar='FILE.html', help='the page (default: beside the log); it is replaced')


def run(options: argparse.Namespace) -> int:
    """Write the page; 0."""
    path = Path(options.file)
    page = Path(options.out) if options.out else path.with_suffix('.html')
    page.write_text(report(read_log(path)), encoding='utf-8')
    print(f'{page} is written; it holds all that it shows, and loads nothing')
    return 0
