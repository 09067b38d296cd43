import ast
from pathlib import Path
import re
from xml.etree import ElementTree

import fabrik_ros
import pytest

ROOT = Path(__file__).resolve().parents[2]


def version_in_setup() -> str:
    """Read the argument `version` of the call of `setup`, without running it."""
    for node in ast.walk(ast.parse((ROOT / 'setup.py').read_text())):
        if isinstance(node, ast.keyword) and node.arg == 'version':
            return ast.literal_eval(node.value)
    raise AssertionError('setup.py names no version')


def test_package_xml_and_setup_agree_on_the_version():
    manifest = ElementTree.parse(ROOT / 'package.xml')
    assert manifest.findtext('version') == version_in_setup()


def test_the_imported_package_tells_the_version_of_setup():
    assert fabrik_ros.__version__ == version_in_setup()


def test_the_newest_entry_of_the_changelog_is_this_version_or_forthcoming():
    headings = re.findall(
        r'^(Forthcoming|\d+\.\d+\.\d+) ?(?:\(.+\))?\n-+$',
        (ROOT / 'CHANGELOG.rst').read_text(),
        re.MULTILINE,
    )
    assert headings[0] in ('Forthcoming', version_in_setup())


def test_the_citation_names_the_version_of_setup():
    [version] = re.findall(r'^version: (.+)$', (ROOT / 'CITATION.cff').read_text(), re.MULTILINE)
    assert version == version_in_setup()


def test_release_tools_read_every_entry_of_the_changelog():
    changelog = pytest.importorskip('catkin_pkg.changelog', reason='it reads changelogs of ROS')
    text = (ROOT / 'CHANGELOG.rst').read_text()
    # What is to come has no version yet, and is left out of what is read.
    released = re.sub(
        r'^Forthcoming\n-+$', '9.9.9 (2099-01-01)\n------------------', text, flags=re.M
    )
    read = changelog.Changelog('fabrik_ros')
    changelog.populate_changelog_from_rst(read, released)
    lines = str(read).splitlines()
    entries = [line for line in text.splitlines() if line.startswith('* ')]
    assert len(entries) > 50
    assert [line.strip() for line in lines if line.strip().startswith('* ')] == entries
