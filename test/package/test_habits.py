"""Files that hosts and tools of developers read say what the project's own files say."""

import ast
import os
from pathlib import Path
import re
import shutil
import subprocess

import pytest

yaml = pytest.importorskip('yaml', reason='the files are YAML')

ROOT = Path(__file__).resolve().parents[2]
SETUP = ast.parse((ROOT / 'setup.py').read_text())
PAPER = '10.1016/j.gmod.2011.05.003'
"""DOI of: A. Aristidou, J. Lasenby, FABRIK, Graphical Models 73 (2011) 243-260."""


def pins_of_the_extra_lint() -> set[str]:
    """Read the list `LINT` in setup.py, without running it."""
    assigned = (node for node in SETUP.body if isinstance(node, ast.Assign))
    return set(next(ast.literal_eval(n.value) for n in assigned if n.targets[0].id == 'LINT'))


def load(name: str) -> dict:
    return yaml.safe_load((ROOT / name).read_text())


@pytest.fixture(scope='module')
def hooks() -> list[dict]:
    return [hook for repo in load('.pre-commit-config.yaml')['repos'] for hook in repo['hooks']]


def test_hooks_have_the_versions_of_the_extra(hooks):
    pinned = {item for hook in hooks for item in hook['additional_dependencies'] if '==' in item}
    assert pinned == pins_of_the_extra_lint()


def test_hooks_run_what_make_lint_runs(hooks):
    text = (ROOT / 'Makefile').read_text()
    recipe = text.split('define LINT\n')[1].split('endef')[0]
    made = {line.split(' -m ')[1].replace('codespell_lib', 'codespell').rstrip(' .') for line in
            recipe.strip().splitlines()}  # fmt: skip
    run = {hook['entry'].replace(' --force-exclude', '') for hook in hooks}
    assert {command.replace(' --check', '') for command in made} == run


def test_hosted_checks_call_the_script_and_build_for_each_ros_distribution():
    jobs = load('.github/workflows/ci.yml')['jobs']
    assert any(step.get('run') == 'bash .ci/run' for step in jobs['everything']['steps'])
    distributions = jobs['ros']['strategy']['matrix']['distribution']
    assert distributions == ['jazzy', 'kilted', 'lyrical', 'rolling']
    assert jobs['ros']['container'] == 'ros:${{ matrix.distribution }}'
    commands = '\n'.join(step.get('run', '') for step in jobs['ros']['steps'])
    assert 'colcon build' in commands
    assert 'colcon test' in commands
    (shown,) = re.findall(r'rviz2 -d src/fabrik_ros/(\S+)', commands)
    assert (ROOT / shown).is_file()
    for folder in re.findall(r'compileall -q (.*)', str(jobs)):
        assert all((ROOT / name).is_dir() for name in folder.split("'")[0].split())


@pytest.mark.parametrize('name', ['bug', 'proposal'])
def test_forms_ask_for_something_and_name_each_field_once(name):
    form = load(f'.github/ISSUE_TEMPLATE/{name}.yml')
    fields = [field for field in form['body'] if field['type'] != 'markdown']
    names = [field['id'] for field in fields]
    assert len(set(names)) == len(names)
    assert any(field.get('validations', {}).get('required') for field in fields)


def test_the_citation_names_the_paper_of_the_method():
    citation = load('CITATION.cff')
    assert [paper['doi'] for paper in citation['references']] == [PAPER]
    assert citation['license'] == 'Apache-2.0'


def example_of(pattern: str) -> str:
    """Make a path that a line of .gitignore matches."""
    name = pattern.strip('/').replace('*', 'x')
    within = {'__pycache__': 'fabrik_ros/', '_build': 'docs/'}.get(name, '')
    within = 'fabrik_ros/kernels/' if name.startswith('_built') else within
    return f'{within}{name}{"/file" if pattern.endswith("/") else ""}'


@pytest.mark.skipif(
    shutil.which('make') is None or shutil.which('git') is None, reason='needs make and git'
)
def test_make_clean_removes_all_that_git_ignores(tmp_path):
    for name in ('Makefile', '.gitignore', 'package.xml', 'setup.cfg'):
        shutil.copy(ROOT / name, tmp_path)
    (tmp_path / 'fabrik_ros/kernels').mkdir(parents=True)
    (tmp_path / 'fabrik_ros/kernels/entries.py').touch()
    subprocess.run(['git', 'init', '--quiet'], cwd=tmp_path, check=True)
    subprocess.run(['git', 'add', '.'], cwd=tmp_path, check=True)
    lines = (ROOT / '.gitignore').read_text().splitlines()
    made = [example_of(line) for line in lines if line and not line.startswith('#')]
    for name in made:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()

    def ignored() -> list[str]:
        command = ['git', 'status', '--porcelain', '--ignored', '--untracked-files=all']
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
        return [line for line in done.stdout.splitlines() if not line.startswith('A ')]

    assert sorted(ignored()) == sorted(f'!! {name}' for name in made)
    # Without the variables of a make that runs the tests: that has another environment to lose.
    variables = {'PATH': os.environ['PATH']}
    subprocess.run(['make', 'clean'], cwd=tmp_path, check=True, capture_output=True, env=variables)
    assert ignored() == []


def test_the_script_runs_a_quick_tier_on_jazzy_of_tests_that_are_there():
    assert 'make VENV="$work/venv" test-jazzy' in (ROOT / '.ci/run').read_text()
    makefile = (ROOT / 'Makefile').read_text().replace('\\\n', ' ')
    [names] = re.findall(r'^JAZZY_TESTS := \$\(patsubst %,(.*?),(.*)\)$', makefile, re.MULTILINE)
    pattern, tests = names
    assert len(tests.split()) > 5
    for name in tests.split():
        assert (ROOT / pattern.replace('%', name)).is_file()
