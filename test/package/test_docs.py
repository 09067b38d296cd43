"""README and docs: what they point at is there, and what they list is complete."""

from pathlib import Path
import re
import subprocess
import sys

from fabrik_ros.reasons import ReasonKind
import pytest

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / 'docs'
PAGES = sorted(DOCS.glob('*.md'))
DOCUMENTS = [ROOT / 'README.md', ROOT / 'CONTRIBUTING.md', ROOT / 'benchmark/README.md', *PAGES]
FENCE = re.compile(r'^( *)(```+).*?^\1\2 *$', re.DOTALL | re.MULTILINE)
LINK = re.compile(r'\]\((?!https?:)([^)#\s]*)(#[^)\s]*)?\)')
LONGEST_README = 1500
"""[words]"""
LARGEST, LARGEST_FILM = 100_000, 1_500_000
"""Of a figure, and of one that moves [byte]."""
MEASURED = {
    'benchmark_solved.png',
    'benchmark_times.png',
    'convergence.png',
    'points_on_arms.png',
}
"""Figures that benchmarks draw."""
FILM, STILL = 'demo.gif', 'program.png'
"""Drawn by docs/draw_motion.py, which test/demo tries."""


def prose(document: Path) -> str:
    """Return the text of a document without its blocks of code."""
    return FENCE.sub('', document.read_text())


def anchors(document: Path) -> set[str]:
    """Name the headings of a document as links do; the second of a name gets -1, and so on."""
    found: list[str] = []
    for line in prose(document).splitlines():
        if re.match('#+ ', line):
            words = re.sub(r'[^\w\- ]', '', line.lstrip('#').strip().lower())
            found.append(words.replace(' ', '-'))
    numbered = (f'{name}-{found[:i].count(name)}' for i, name in enumerate(found))
    return {name.removesuffix('-0') for name in numbered}


@pytest.mark.parametrize('document', DOCUMENTS, ids=lambda path: path.name)
def test_links_to_files_and_headings_lead_somewhere(document):
    for path, anchor in LINK.findall(prose(document)):
        file = document.parent / path if path else document
        assert file.exists(), f'{document.name} points at {path}'
        if anchor:
            assert file.suffix == '.md', f'{document.name}: {path} has no headings to point at'
            assert anchor[1:] in anchors(file), f'{document.name} points at {path}{anchor}'


def test_headings_of_one_name_are_told_apart(tmp_path):
    page = tmp_path / 'page.md'
    page.write_text('# A b\n## C, d!\n```sh\n# no heading\n```\n## C d\n')
    assert anchors(page) == {'a-b', 'c-d', 'c-d-1'}


def test_every_page_is_in_the_index():
    linked = {path for path, _ in LINK.findall((DOCS / 'index.md').read_text())}
    pages = {page.name for page in [*PAGES, *DOCS.glob('*.rst')]}
    assert pages - {'index.md'} <= linked


def test_readme_is_short():
    assert len((ROOT / 'README.md').read_text().split()) <= LONGEST_README


def test_every_figure_is_shown_and_small():
    shown = {path for document in DOCUMENTS for path, _ in LINK.findall(document.read_text())}
    figures = [*(DOCS / 'figures').iterdir(), *(DOCS / 'pictures').iterdir()]
    assert {figure.name for figure in figures} <= {Path(path).name for path in shown}
    sizes = {figure.name: figure.stat().st_size for figure in figures}
    assert sizes.pop(FILM) < LARGEST_FILM
    assert max(sizes.values()) < LARGEST


def test_figures_are_drawn_by_the_code_that_is_here(tmp_path):
    pytest.importorskip('matplotlib', reason='the figures are drawn with matplotlib')
    script = tmp_path / 'draw_figures.py'
    script.write_text((DOCS / 'draw_figures.py').read_text())
    subprocess.run([sys.executable, script], cwd=ROOT, env={'PYTHONPATH': str(ROOT)}, check=True)
    drawn = {figure.name for figure in (tmp_path / 'figures').iterdir()}
    figures = {figure.name for figure in (DOCS / 'figures').iterdir()}
    assert drawn == figures - MEASURED - {FILM, STILL}


@pytest.mark.parametrize(
    ('page', 'head'),
    [('motion.md', '| `reason_code` | why |'), ('troubleshooting.md', '| `reason_code` | cure |')],
)
def test_every_code_of_a_reason_is_explained(page, head):
    table = (DOCS / page).read_text().split(head)[1].split('\n\n')[0]
    cells = [row.split('|')[1] for row in table.splitlines() if row.startswith('| `')]
    codes = [code for cell in cells for code in re.findall('`(.*?)`', cell)]
    assert sorted(codes) == sorted(kind.value for kind in ReasonKind)
