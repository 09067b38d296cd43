"""What users write into parameter files and after -p: judged by the parser of ROS itself."""

from contextlib import ExitStack
import math
import sys

import pytest

pytest.importorskip('rclpy', reason='ROS 2 is not installed')

from fabrik_ros.ros.parameters.parameter_spec import ParameterError
from fabrik_ros.ros.parameters.ros_arguments import init, understood
from hypothesis import given, HealthCheck, settings, strategies as st
import rclpy
from rclpy.impl.implementation_singleton import rclpy_implementation

FILE = """\
# 1, 2.5
/**:
  ros__parameters:
    words: ['1', "2.5", 'true']
    whole: [1, 2]
    nested: {{deep: {{list: {0}}}, text: "[1, 2.5]"}}
    list: {0}  # [3, 4.5]
fabrik:
  ros__parameters:
    block:
{1}
    number: 1e-3
"""
wholes = st.integers(-(10**6), 10**6).flatmap(
    lambda n: st.sampled_from([str(n), f'{n:+d}', f'{n:03d}'] if n > 9 else [str(n)])
)
fractions = st.sampled_from(
    ['0.5', '-1.', '.25', '1e-3', '2.5E+2', '-0.0', '+1.5', '1e5', '.inf', '-.inf']
)


def value_of(written):
    return float(written.replace('.inf', 'inf'))


def parameters_of(context, *words):
    """Read the values that the parser of ROS finds, by name."""
    with ExitStack() as files:
        arguments = understood(
            ['node', '--ros-args', *words, '-r', 'a:=b', '--', 'x:=[1, 2.5]'], files
        )
        assert arguments[-1] == 'x:=[1, 2.5]'
        node = rclpy.create_node(
            'fabrik',
            context=context,
            cli_args=arguments[1:-2],
            automatically_declare_parameters_from_overrides=True,
            start_parameter_services=False,
            enable_rosout=False,
        )
    found = {name: node.get_parameter(name).value for name in node._parameters}
    node.destroy_node()
    return found


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(wholes | fractions, min_size=1, max_size=7))
def test_list_of_whole_numbers_and_others_is_a_list_of_numbers(context, tmp_path, written):
    path, line = tmp_path / 'arm.yaml', f'[{", ".join(written)}]'
    path.write_text(FILE.format(line, '\n'.join(f'      - {word}' for word in written)))
    found = parameters_of(context, '--params-file', str(path), '-p', f'given:={line}')
    expected = list(map(value_of, written))
    for name in ('list', 'nested.deep.list', 'block', 'given'):
        assert list(found[name]) == expected
    assert found['words'] == ['1', '2.5', 'true']
    assert found['nested.text'] == '[1, 2.5]'
    assert list(found['whole']) == [1, 2]
    assert math.isclose(found['number'], 1e-3)


def test_arguments_that_ros_takes_are_left_alone(tmp_path):
    path = tmp_path / 'arm.yaml'
    path.write_text(FILE.format('[1.0, 2.0]', '      - 1.0'))
    words = ['node', '-p', 'x:=[1, 2.5]', '--ros-args', '--params-file', str(path), '-p', 'a:=1']
    words += ['--param', 'robot_description:=<a b=": [1, 2.5]"/>', '-r', '-p', 'x', '--', '-p', '']
    with ExitStack() as files:
        assert understood(words, files) == words


# null is no value in YAML, but a text in ROS, as y is true and 0x10 a number.
WORDS = ('~', 'null', 'NULL', 'a', "'~'", 'y', 'N', 'yes', 'On', 'true', '7', '0x10', '-.5', 'inf')


def is_taken(words):
    """Whether the parser of ROS takes arguments as they are."""
    context = rclpy.Context()
    try:
        context.init(words)
    except rclpy_implementation.RCLError:
        return False
    context.shutdown()
    return True


@pytest.mark.parametrize('first', WORDS)
def test_what_ros_takes_is_left_alone(tmp_path, first):
    path = tmp_path / 'arm.yaml'
    taken = 0
    for value in (first, *(f'[{first}, {second}]' for second in WORDS)):
        path.write_text(f'/**:\n  ros__parameters:\n    given: {value}\n')
        words = ['node', '--ros-args', '--params-file', str(path), '-p', f'given:={value}']
        if is_taken(words):
            taken += 1
            with ExitStack() as files:
                assert understood(words, files) == words, value
    assert taken > 1


@pytest.mark.parametrize('text', ['', '# nothing yet\n', '/**:\n  ros__parameters: {}\n'])
def test_file_without_parameters_is_none_that_is_wrong(context, tmp_path, text):
    path = tmp_path / 'arm.yaml'
    path.write_text(text)
    assert parameters_of(context, '--params-file', str(path), '-p', 'a:=1')['a'] == 1


WRONG = [
    ('    base_link:', "line 4: 'base_link' has no value; write ''"),
    ('    base_link: # none', "line 4: 'base_link' has no value"),
    ('other:\n  ros__parameters:', "line 5: 'ros__parameters' has no value"),
    ('    home:\n      ready:\n    mode: pose', "line 5: 'home.ready' has no value"),
    ('    axis: [0, up, 1]', "line 4: 'axis' is a list of texts and of whole numbers: [0, up, 1]"),
    ("    axis: [0, 1.0, '2']", "'axis' is a list of other numbers and of texts and of whole"),
    ('    axis: [0, true]', "'axis' is a list of true and false and of whole numbers"),
    ('    axis: [0, [1]]', "'axis' is a list of lists and of whole numbers"),
    ('    axis: [0, , 1]', 'this is no YAML'),
    ('   - {', 'this is no YAML'),
]


@pytest.mark.parametrize(('lines', 'said'), WRONG)
def test_what_cannot_be_understood_is_named(tmp_path, capsys, monkeypatch, lines, said):
    monkeypatch.setattr(sys, 'argv', ['/somewhere/fabrik_node'])
    path = tmp_path / 'arm.yaml'
    path.write_text(f'/**:\n  ros__parameters:\n    mode: pose\n{lines}\n')
    with pytest.raises(SystemExit) as end:
        init(['--ros-args', '--params-file', str(path)])
    error = capsys.readouterr().err
    assert end.value.code == 2
    assert error.startswith(f'fabrik_node: error: {path}')
    assert said in error
    assert error.count('\n') == 1


@pytest.mark.parametrize(
    ('words', 'said'),
    [
        (['-p', 'base_link:='], "-p base_link:=: 'base_link' has no value"),
        (['-p', 'axis:=[0, up]'], "-p axis:=[0, up]: 'axis' is a list of texts and of whole"),
        (['--params-file', '/nowhere/arm.yaml'], '/nowhere/arm.yaml'),
        (['-r', 'nonsense'], 'nonsense'),
    ],
)
def test_other_arguments_are_named_in_one_line(capsys, monkeypatch, words, said):
    monkeypatch.setattr(sys, 'argv', ['fabrik_node', '--ros-args', *words])
    with pytest.raises(SystemExit):
        init()
    error = capsys.readouterr().err
    assert error.startswith('fabrik_node: error: ')
    assert said in error
    assert error.count('\n') == 1


def test_error_is_one_of_the_package():
    with pytest.raises(ParameterError, match='mode'), ExitStack() as files:
        understood(['node', '--ros-args', '-p', 'mode:='], files)
