"""The documentation builds as a site, without a warning, as `make docs` and rosdoc2 build it."""

from pathlib import Path
import re
import shutil
import subprocess
import sys

import fabrik_ros
import pytest

for package in ('sphinx', 'myst_parser', 'numpydoc', 'sphinx_rtd_theme'):
    pytest.importorskip(package, reason=f'the site needs {package}: pip install .[docs]')

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / 'docs'
AS_ROSDOC2 = """
exec(open({conf!r}).read())
extensions += ['sphinx.ext.autodoc', 'sphinx_rtd_theme', 'myst_parser']
html_theme = 'sphinx_rtd_theme'
"""
"""What rosdoc2 puts around the configuration; it also asks the net for other inventories."""


def build(source: Path, target: Path, builder: str = 'html') -> str:
    """Build the site; return what Sphinx complained of."""
    options = ['-W', '--keep-going', '-q', '-b', builder]
    command = [sys.executable, '-m', 'sphinx', *options, source, target]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stderr if done.returncode else ''


@pytest.fixture(scope='module')
def source(tmp_path_factory) -> Path:
    """Copy the pages, and what they link to: Sphinx writes pages of the API beside them."""
    folder = tmp_path_factory.mktemp('checkout')
    shutil.copytree(DOCS, folder / 'docs', ignore=shutil.ignore_patterns('api', '__pycache__'))
    return folder / 'docs'


@pytest.fixture(scope='module')
def site(source, tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp('site')
    assert build(source, folder) == ''
    return folder


def test_every_page_is_in_the_navigation(site):
    pages = {page.stem for page in [*DOCS.glob('*.md'), *DOCS.glob('*.rst')]} - {'index'}
    navigation = (site / 'index.html').read_text().split('itemprop="articleBody"')[0]
    assert pages <= set(re.findall(r'toctree-l1"><a[^>]* href="(\w+)\.html"', navigation))


def test_every_public_name_has_its_page(site):
    named = set(re.findall(r'^   (\w+)$', (DOCS / 'api.rst').read_text(), re.MULTILINE))
    assert named == set(fabrik_ros.__all__) - {'__version__'}
    assert all((site / 'api' / f'fabrik_ros.{name}.html').is_file() for name in named)


def test_fields_of_options_have_their_text(site):
    page = (site / 'api' / 'fabrik_ros.SolverOptions.html').read_text()
    assert 'Accepted position error [m].' in page


@pytest.mark.long
def test_rosdoc2_builds_it_too(source, tmp_path):
    copy = shutil.copytree(source, tmp_path / 'docs')
    conf = copy / 'user_conf.py'
    (copy / 'conf.py').rename(conf)
    (copy / 'conf.py').write_text(AS_ROSDOC2.format(conf=str(conf)))
    assert build(copy, tmp_path / 'site') == ''


def test_configuration_of_rosdoc2_names_the_folder():
    assert '<rosdoc2>rosdoc2.yaml</rosdoc2>' in (ROOT / 'package.xml').read_text()
    assert "sphinx_sourcedir: 'docs'" in (ROOT / 'rosdoc2.yaml').read_text()


@pytest.mark.long
def test_a_link_to_nowhere_is_found(source, tmp_path):
    copy = shutil.copytree(source, tmp_path / 'docs')
    index = copy / 'index.md'
    index.write_text(index.read_text() + '\n[lost](node.md#nowhere)\n')
    assert 'nowhere' in build(copy, tmp_path / 'site', builder='dummy')
