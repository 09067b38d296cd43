"""
Make one page of a log that `fabrik_ros log` wrote, to look at or to send with a report.

Or of a bag of `ros2 bag record` with ~/joint_command, ~/status and /joint_states in it (MCAP or
SQLite; needs rosbags).

"""

import argparse
from pathlib import Path

from ..logs.bag_file import is_bag, read_bag
from ..logs.log_file import read_log
from ..logs.report import report


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `fabrik_ros report`."""
    add = parser.add_argument
    add('file', metavar='FILE.zip or BAG', help='the log; the folder of a bag, or its file')
    add('--node', default='', help='the node, where a bag holds several')
    add('--out', metavar='FILE.html', help='the page (default: beside the log); it is replaced')


def run(options: argparse.Namespace) -> int:
    """Write the page; 0."""
    path = Path(options.file)
    page = Path(options.out) if options.out else path.with_suffix('.html')
    log = read_bag(path, options.node) if is_bag(path) else read_log(path)
    page.write_text(report(log), encoding='utf-8')
    if log.is_cut:
        print(log.where_cut)
    print(f'{page} is written; it holds all that it shows, and loads nothing')
    return 0
