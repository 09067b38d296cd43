"""The file of all parameters and the tables in docs/node.md are written from the code."""

from pathlib import Path
import subprocess
import sys

from fabrik_ros.ros.parameters.parameter_docs import COMMAND, config_file, with_tables
import pytest

ROOT = Path(__file__).resolve().parents[2]
RENEW = f'out of date; renew it with: {COMMAND}'


def test_configuration_file_is_the_one_the_table_makes():
    assert (ROOT / 'config' / 'fabrik.yaml').read_text() == config_file(), RENEW


def test_tables_of_the_page_are_those_the_table_makes():
    page = (ROOT / 'docs' / 'node.md').read_text()
    assert page == with_tables(page), RENEW


def test_tables_replace_those_before():
    old = 'before\n<!-- parameters: begin -->\n| gone |\n<!-- parameters: end -->\nafter\n'
    new = with_tables(old)
    assert 'gone' not in new
    assert '| `path` | `auto` | yes |' in new
    assert new.startswith('before\n')
    assert new.endswith('\nafter\n')


def test_page_without_a_place_for_the_tables_is_refused():
    with pytest.raises(ValueError, match='parameters: begin'):
        with_tables('nothing')


def test_command_renews_both_without_ros(tmp_path):
    (tmp_path / 'config').mkdir()
    (tmp_path / 'docs').mkdir()
    page = '<!-- parameters: begin -->\n<!-- parameters: end -->\n'
    (tmp_path / 'docs' / 'node.md').write_text(page)
    code = (
        'import runpy, sys\n'
        "sys.modules['rclpy'] = sys.modules['rcl_interfaces'] = None\n"
        f"sys.argv = ['parameter_docs', '--root', {str(tmp_path)!r}]\n"
        "runpy.run_module('fabrik_ros.ros.parameters.parameter_docs', run_name='__main__')\n"
    )
    environment = {'PYTHONPATH': str(ROOT), '_ROS_WHEELS_BOOTSTRAP_COMPLETE': '1'}
    subprocess.run([sys.executable, '-c', code], env=environment, check=True)
    assert (tmp_path / 'config' / 'fabrik.yaml').read_text() == config_file()
    assert (tmp_path / 'docs' / 'node.md').read_text() == with_tables(page)
