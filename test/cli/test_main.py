"""The command itself: help, version, wrong use, what it loads."""

import subprocess
import sys

import fabrik_ros
from fabrik_ros.cli.main import SUBCOMMANDS
from process import environment, run, without_ros
import pytest


def test_help_lists_the_subcommands():
    ended = run('--help')
    assert ended.code == 0
    assert all(f'  {name} ' in ended.printed for name in SUBCOMMANDS)


@pytest.mark.parametrize('name', SUBCOMMANDS)
def test_each_subcommand_has_a_help_of_its_own(name, tmp_path):
    ended = run(name, '--help', **without_ros(tmp_path))
    assert ended.code == 0, ended.complained
    assert ended.printed.startswith(f'usage: fabrik_ros {name} ')


def test_version_is_that_of_the_package():
    ended = run('--version')
    assert (ended.code, ended.printed) == (0, f'fabrik_ros {fabrik_ros.__version__}\n')


def test_without_a_subcommand_there_is_the_help_and_code_2():
    ended = run()
    assert ended.code == 2
    assert 'subcommands:' in ended.complained


def test_unknown_subcommand_is_named_beside_those_there_are():
    error = run('slove').error()
    assert "'slove'" in error
    assert "'solve'" in error


def test_reader_that_goes_away_is_no_error(six_axis):
    done = subprocess.run(
        f'"{sys.executable}" -m fabrik_ros info "{six_axis}" | head -c 1',
        shell=True,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.stdout, done.stderr) == ('r', '')


@pytest.mark.parametrize(
    ('words', 'node'),
    [
        (['log', 'new.zip'], 'bad name'),
        (['record', 'new.csv'], ''),
        (['target', '--xyz', '0', '0', '1'], '3'),
        (['teleop', 'gamepad'], 'fabrik/'),
        (['view'], '//fabrik'),
    ],
)
def test_name_that_no_node_has_ends_it_with_one_line(words, node, tmp_path):
    error = run(*words, '--node', node, **without_ros(tmp_path)).error()
    expected = f"argument --node: expected the name of a node, as left/fabrik, got '{node}'"
    assert error == f'fabrik_ros {words[0]}: error: {expected}'
