"""How Sphinx builds the site: `make docs`, or rosdoc2, which reads this file and adds to it."""

from enum import EnumMeta
from importlib.util import find_spec
import re

import fabrik_ros

project = 'fabrik_ros'
author = 'fabrik_ros maintainers'
project_copyright = author
version = release = fabrik_ros.__version__

# Both read numpydoc's sections; the second comes with Sphinx, for build farms without the first.
docstrings = 'numpydoc' if find_spec('numpydoc') else 'sphinx.ext.napoleon'
extensions = ['sphinx.ext.autodoc', 'sphinx.ext.autosummary', docstrings, 'myst_parser']
source_suffix = {'.rst': 'restructuredtext', '.md': 'markdown'}
root_doc = 'index'
exclude_patterns = ['_build']
templates_path = ['_templates']

# Links to headings have the names that forges give them.
myst_heading_anchors = 4

classes = {
    name: value
    for name in fabrik_ros.__all__
    if isinstance(value := getattr(fabrik_ros, name), type)
}
autosummary_generate = True
# For the template: members of enumerations are listed also without a text, and fields of tuples
# not again where the docstring has them.
autosummary_context = {
    'enumerations': [name for name, value in classes.items() if isinstance(value, EnumMeta)],
    'fields': {
        name: ', '.join(value._fields)
        for name, value in classes.items()
        if hasattr(value, '_fields') and 'Attributes\n' in value.__doc__
    },
}
autodoc_member_order = 'bysource'
autodoc_typehints = 'none'
# The templates list the members.
numpydoc_show_class_members = False
# A name in single backticks is code, in docstrings as in Markdown.
default_role = 'code'

html_theme = 'sphinx_rtd_theme'
html_title = f'fabrik_ros {release}'
html_static_path = ['_static']
html_css_files = ['site.css']

# Without C++ there is nothing for Doxygen.
rosdoc2_settings = {'enable_breathe': False, 'enable_exhale': False}


def _add_navigation(app, docname, source):
    """Put the pages that the index lists into the navigation; forges show the plain lists."""
    if docname != 'index':
        return
    trees = []
    for section in re.split('^## ', source[0], flags=re.MULTILINE)[1:]:
        caption, _, text = section.partition('\n')
        pages = re.findall(r'\]\((\w+)\.(?:md|rst)\)', text)
        lines = ['```{toctree}', ':hidden:', f':caption: {caption}', '', *pages, '```']
        trees.append('\n'.join(lines))
    source[0] += '\n' + '\n\n'.join(trees) + '\n'


def setup(app):
    """Connect what Sphinx calls."""
    app.connect('source-read', _add_navigation)
