"""What the documents point at is there, and their figures are what the code draws."""

from pathlib import Path
import re
import subprocess
import sys

from fabrik_ros.reasons import ReasonKind
import pytest

pytest.importorskip('matplotlib', reason='the figures are drawn with matplotlib')

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = [ROOT / 'README.md', *sorted((ROOT / 'docs').glob('*.md'))]
LINK = re.compile(r'\]\((?!https?:)([^)#\s]*)(#[^)\s]*)?\)')
LARGEST = 100_000
MEASURED = {'convergence.png', 'points_on_arms.png'}
"""Figures that benchmarks draw."""
"""Of a figure [byte]."""


def anchors(document):
    """Name the headings of a document as links do."""
    for line in document.read_text().splitlines():
        if line.startswith('#'):
            words = re.sub(r'[^\w\- ]', '', line.lstrip('#').strip().lower())
            yield words.replace(' ', '-')


@pytest.mark.parametrize('document', DOCUMENTS, ids=lambda path: path.name)
def test_links_to_files_and_headings_lead_somewhere(document):
    for path, anchor in LINK.findall(document.read_text()):
        file = document.parent / path if path else document
        assert file.exists(), f'{document.name} points at {path}'
        if anchor and file.suffix == '.md':
            assert anchor[1:] in anchors(file), f'{document.name} points at {path}{anchor}'


def test_every_figure_is_shown_and_small():
    shown = {path for document in DOCUMENTS for path, _ in LINK.findall(document.read_text())}
    figures = sorted((ROOT / 'docs' / 'figures').iterdir())
    assert {figure.name for figure in figures} <= {Path(path).name for path in shown}
    assert max(figure.stat().st_size for figure in figures) < LARGEST


def test_figures_are_drawn_by_the_code_that_is_here(tmp_path):
    script = tmp_path / 'draw_figures.py'
    script.write_text((ROOT / 'docs' / 'draw_figures.py').read_text())
    subprocess.run([sys.executable, script], cwd=ROOT, env={'PYTHONPATH': str(ROOT)}, check=True)
    drawn = {figure.name for figure in (tmp_path / 'figures').iterdir()}
    assert drawn == {figure.name for figure in (ROOT / 'docs/figures').iterdir()} - MEASURED


def test_every_code_of_a_reason_is_explained():
    text = (ROOT / 'docs' / 'motion.md').read_text()
    table = text.split('| `reason_code` | why |')[1].split('\n\n')[0]
    cells = [row.split('|')[1] for row in table.splitlines() if row.startswith('| `')]
    codes = [code for cell in cells for code in re.findall('`(.*?)`', cell)]
    assert sorted(codes) == sorted(kind.value for kind in ReasonKind)
