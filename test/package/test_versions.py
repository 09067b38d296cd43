import ast
from pathlib import Path
import re
from xml.etree import ElementTree

import fabrik_ros

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
