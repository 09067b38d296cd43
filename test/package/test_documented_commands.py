"""The commands in README and docs name files, arguments, parameters and topics that exist."""

import argparse
import ast
import functools
import importlib
from pathlib import Path
import re
import shutil
import subprocess
import sys

from documentation import (
    blocks,
    commands,
    declared_parameters,
    documented_topics,
    DOCUMENTS,
    launch_arguments,
    ROOT,
)
from fabrik_ros.cli.arguments import protected
from fabrik_ros.cli.executables import MODULES
from fabrik_ros.cli.main import SUBCOMMANDS
from fabrik_ros.programs.program_file import program_of
from fabrik_ros.ros.parameters.parameter_spec import Spec
from fabrik_ros.ros.parameters.parameter_table import CONFIGURATION, CONFIGURATIONS, SPEC_BY_NAME
from fabrik_ros.teleop.profile import profile_names, profile_of
import numpy as np
import pytest

yaml = pytest.importorskip('yaml', reason='parameters in documents are YAML')

COMMANDS = commands()
ELSEWHERE = {'sudo', 'rosdep', 'colcon', 'source', 'python3'}
"""Programs whose commands are not ours: of the system, of ROS, of Python."""
OTHER_PACKAGES = {'ur_robot_driver', 'franka_fr3_moveit_config'}
"""Packages of others, whose launch files are named by their own documents."""
OTHER_VERBS = {'control'}
TRANSITIONS = {'configure', 'activate', 'deactivate', 'cleanup', 'shutdown'}
SETUP = (ROOT / 'setup.py').read_text()


def programs(*names: str) -> list:
    """Choose the commands of some programs."""
    return [
        pytest.param(words, id=f'{document}: {" ".join(words)[:60]}')
        for document, words in COMMANDS
        if words[0] in names
    ]


def test_every_command_is_looked_at():
    ours = {'make', 'pip', 'fabrik_ros', 'python', 'ros2', *MODULES}
    others = ELSEWHERE | {'.venv/bin/pip', '.ci/run', 'PYTHONPATH=.'}
    assert {words[0] for _, words in COMMANDS} <= ours | others


FROM_PIP = r'(?ms)^(?:#+ [^\n]*from pip\n|# The command `fabrik_ros`\n).*?(?=^#|\Z)'
"""Sections about what pip installs, which puts the command on the PATH."""
BARE = rf'(?<!-m )(?<!ros2 run )\bfabrik_ros ({"|".join(SUBCOMMANDS)})\b(?!:)'


@pytest.mark.parametrize('document', DOCUMENTS, ids=lambda path: path.name)
def test_command_is_on_the_path_where_it_is_named_without_python(document):
    """A colcon workspace has it, as `ros2 run` does, in no folder of the PATH."""
    elsewhere = re.sub(FROM_PIP, '', document.read_text())
    assert [found[0] for found in re.finditer(BARE, elsewhere)] == []


def test_command_that_a_message_names_is_found_everywhere():
    for path in sorted((ROOT / 'fabrik_ros').rglob('*.py')):
        tree = ast.parse(path.read_text())
        docstrings = {ast.get_docstring(node, clean=False) for node in documented_nodes(tree)}
        texts = {n.value for n in ast.walk(tree) if isinstance(n, ast.Constant)} - docstrings
        said = [text for text in texts if isinstance(text, str) and re.search(BARE, text)]
        assert said == [], path


def documented_nodes(tree):
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef)
    return [node for node in ast.walk(tree) if isinstance(node, kinds)]


@pytest.mark.parametrize('words', programs('make'))
def test_target_of_make_exists(words):
    targets = re.findall(r'^([a-z-]+):.*##', (ROOT / 'Makefile').read_text(), re.MULTILINE)
    assert words[1] in targets


@pytest.mark.parametrize('words', programs('fabrik_ros'))
def test_subcommand_takes_these_arguments(words):
    assert words[1] in SUBCOMMANDS
    parser = argparse.ArgumentParser()
    importlib.import_module(f'fabrik_ros.cli.{words[1]}').add_arguments(parser)
    parser.parse_args(protected(words[2:]))


@pytest.mark.parametrize('words', programs('python', 'PYTHONPATH=.'))
def test_module_or_script_takes_these_arguments(words):
    words = [word for word in words if not word.startswith('PYTHONPATH')][1:]
    if words[0] == '-m':
        assert words[1] == 'fabrik_ros.playground'
        from fabrik_ros.textbook.playground.arguments import read_options

        read_options(words[2:])
    else:
        assert (ROOT / words[0]).is_file()


def test_script_of_the_checks_exists():
    assert (ROOT / '.ci' / 'run').is_file()


def check_executable(name: str, words: list[str]) -> None:
    """Check file, remappings and parameters that an executable is given."""
    assert name in MODULES
    own = words[: words.index('--ros-args')] if '--ros-args' in words else words
    if name == 'teleop':
        assert len(own) < 2
        assert set(own) <= {*profile_names()}
    elif own:
        assert own == ['--urdf', own[-1]]
        assert (ROOT / own[1]).is_file()
    for option, value in zip(words[len(own) + 1 :: 2], words[len(own) + 2 :: 2], strict=True):
        key, sign, given = value.partition(':=')
        assert sign
        if option == '-p':
            check_parameter(name, key, given)
        else:
            assert option == '-r'
            assert given.rpartition('/')[2] in documented_topics()


def check_parameter(name: str, key: str, given: str) -> None:
    """Check that an executable has a parameter, and that it may have this value."""
    if name == 'fabrik_node':
        check_value(SPEC_BY_NAME[key], yaml.safe_load(given))
    else:
        assert key in declared_parameters(name)


def check_value(spec: Spec, value: object) -> None:
    """Check type and range of a value."""
    entries = value if isinstance(value, list) else [value]
    assert isinstance(value, list) == spec.is_list
    kinds = (int, float) if spec.name == CONFIGURATION.name else (spec.type,)
    assert all(isinstance(entry, kinds) for entry in entries), spec.name
    if spec.is_number:
        assert spec.low <= value <= spec.high
    if spec.choices:
        assert set(entries) <= set(spec.choices)


@pytest.mark.parametrize('words', programs(*MODULES))
def test_executable_takes_these_arguments(words):
    check_executable(words[0], words[1:])


def check_launch(words: list[str]) -> None:
    package, name, *arguments = words
    if package in OTHER_PACKAGES:
        return
    assert package == 'fabrik_ros'
    known = launch_arguments(name)
    given = dict(argument.partition(':=')[::2] for argument in arguments)
    assert given.keys() <= known
    assert all(given.values())
    if 'arm' in given:
        assert (ROOT / 'config' / 'arms' / f'{given["arm"]}.yaml').is_file()


def check_topic(words: list[str]) -> None:
    verb, *words = [word for word in words if word != '--once']
    name = words[0].removeprefix('/fabrik/')
    kind = documented_topics()[name]
    if verb == 'echo':
        return
    assert verb == 'pub'
    assert words[1].replace('/msg/', '/') == kind
    package, _, message = kind.partition('/')
    module = pytest.importorskip(f'{package}.msg', reason='ROS 2 is not installed')
    check_fields(getattr(module, message)(), yaml.safe_load(words[2]))


def check_fields(message, values: dict) -> None:
    """Check that a message has the fields that are set, and takes these values."""
    types = message.get_fields_and_field_types()
    for field, value in values.items():
        assert field in types
        if isinstance(value, dict):
            check_fields(getattr(message, field), value)
        elif isinstance(value, list) and value and isinstance(value[0], dict):
            package, _, name = types[field].removeprefix('sequence<').rstrip('>').partition('/')
            entry = getattr(importlib.import_module(f'{package}.msg'), name)
            for item in value:
                check_fields(entry(), item)
        else:
            is_number = isinstance(getattr(message, field), float)
            setattr(message, field, float(value) if is_number else value)


def check_service(words: list[str]) -> None:
    assert words[0] == 'call'
    assert documented_topics()[words[1].removeprefix('/fabrik/')] == words[2].replace('/srv/', '/')


def check_param(words: list[str]) -> None:
    verb, node, name, value = words
    assert (verb, node) == ('set', '/fabrik')
    assert SPEC_BY_NAME[name].is_live
    check_value(SPEC_BY_NAME[name], yaml.safe_load(value))


def check_lifecycle(words: list[str]) -> None:
    assert words[:2] == ['set', '/fabrik']
    assert words[2] in TRANSITIONS


CHECKS = {
    'launch': check_launch,
    'run': lambda words: check_executable(words[1], words[2:]),
    'topic': check_topic,
    'service': check_service,
    'param': check_param,
    'lifecycle': check_lifecycle,
}


@pytest.mark.parametrize('words', programs('ros2'))
def test_what_ros2_is_told_to_name_exists(words):
    if words[1] not in OTHER_VERBS:
        CHECKS[words[1]](words[2:])


@pytest.mark.parametrize(
    ('check', 'words'),
    [
        (check_launch, ['fabrik_ros', 'attach.launch.py', 'simulate:=true']),
        (check_launch, ['fabrik_ros', 'attach.launch.py', 'arm:=ur99']),
        (check_topic, ['pub', '/fabrik/target_pose', 'geometry_msgs/msg/Pose', '{}']),
        (check_service, ['call', '/fabrik/home', 'std_srvs/srv/Empty']),
        (check_param, ['set', '/fabrik', 'speed_scaling', '2.0']),
        (check_param, ['set', '/fabrik', 'speed_scaling', '1']),
        (check_param, ['set', '/fabrik', 'base_link', 'world']),
    ],
)
def test_commands_that_do_not_work_are_found(check, words):
    with pytest.raises(AssertionError):
        check(words)


@pytest.fixture(scope='module')
def checkout(tmp_path_factory) -> Path:
    """Copy what pip reads: it writes beside it."""
    folder = tmp_path_factory.mktemp('checkout')
    left_out = shutil.ignore_patterns('.*', '__pycache__', '_built*', 'build', '*.egg-info')
    shutil.copytree(ROOT, folder, ignore=left_out, dirs_exist_ok=True)
    return folder


@pytest.mark.parametrize('words', programs('pip', '.venv/bin/pip'))
def test_pip_takes_these_arguments(words, checkout):
    """Without building, and without the net: test_install.py and test_wheel.py do the rest."""
    pytest.importorskip('setuptools', reason='pip reads the package by setuptools')
    requirements = [word for word in words[2:] if not word.startswith('-')]
    for requirement in requirements:
        name, _, extras = requirement.rstrip(']').partition('[')
        assert name == '.' or f"'{name}" in SETUP
        assert all(f"'{extra}': " in SETUP for extra in extras.split(',') if extra)
    if here := tuple(word for word in requirements if word.startswith('.')):
        done = try_pip(checkout, here)
        # Newer pips leave the underscore.
        assert re.search('Would install fabrik[-_]ros', done.stdout), done.stderr


@functools.cache
def try_pip(checkout: Path, here: tuple[str, ...]) -> subprocess.CompletedProcess:
    options = ['--dry-run', '--no-deps', '--no-index', '--no-build-isolation']
    command = [sys.executable, '-m', 'pip', 'install', *options, *here]
    return subprocess.run(command, cwd=checkout, capture_output=True, text=True, check=False)


@pytest.mark.parametrize('document', DOCUMENTS, ids=lambda path: path.name)
def test_parameters_in_yaml_exist(document):
    for block in blocks(document, 'yaml'):
        values = yaml.safe_load(block)
        if {'obstacles', 'segments', 'deadman'} & values.keys():
            continue
        values = values.get('/**', {}).get('ros__parameters', values)
        for name, value in values.items():
            if name == CONFIGURATIONS.rstrip('.'):
                for configuration in value.values():
                    check_value(CONFIGURATION, configuration)
            else:
                check_value(SPEC_BY_NAME[name], value)


@pytest.mark.parametrize('document', DOCUMENTS, ids=lambda path: path.name)
def test_programs_in_yaml_are_programs(document):
    for block in blocks(document, 'yaml'):
        values = yaml.safe_load(block)
        if 'segments' in values:
            assert program_of(values, lambda frame: np.eye(4))[1].steps


@pytest.mark.parametrize('document', DOCUMENTS, ids=lambda path: path.name)
def test_scenes_in_yaml_are_scenes(document):
    from fabrik_ros.collision.scene_file import scene_of

    for block in blocks(document, 'yaml'):
        values = yaml.safe_load(block)
        if 'obstacles' in values:
            assert scene_of(values, lambda frame: np.eye(4)).obstacles


def test_profile_of_ones_own_is_one():
    blocks_of_profiles = [
        block for document in DOCUMENTS for block in blocks(document, 'yaml') if 'deadman' in block
    ]
    for block in blocks_of_profiles:
        assert len(block.strip().splitlines()) <= 10
        assert profile_of(yaml.safe_load(block)).sticks
    assert blocks_of_profiles
