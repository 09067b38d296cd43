"""Files and pages of logs: what is written is read again, and names stay at home."""

import getpass
from html.parser import HTMLParser
import platform
import re
import zipfile

from fabrik_ros.errors import LogError
from fabrik_ros.logs.log_file import read_log, write_log
from fabrik_ros.logs.motion_log import MotionLog, Samples, SentTarget, Status
from fabrik_ros.logs.names import personal_names, without_names
from fabrik_ros.logs.report import report
from fabrik_ros.logs.svg import plot
import numpy as np
import pytest

NAMES = {'/home/ann': '~', 'ann-pc': 'HOST', 'ann': 'USER'}
SECRET = 'no meshes in /home/ann/ws, ann@ann-pc; /home/bob/arm.urdf; an <b>angle</b> & annex'
CLEAN = 'no meshes in ~/ws, USER@HOST; ~/arm.urdf; an <b>angle</b> & annex'


def a_log():
    times = np.arange(0.0, 2.0, 0.01)
    q = np.column_stack([np.sin(times), np.full(len(times), -0.123456789)])
    measured = q.copy()
    measured[3, 1] = np.nan
    return MotionLog(
        ('turn', 'lift, <slow>'),
        np.array([1.5, np.nan]),
        np.array([5.0, np.inf]),
        Samples(times, times + 0.001, q),
        Samples(times, times, measured),
        (
            Status(0.0, {'state': 'MOVING', 'reason_code': '', 'reason': ''}),
            Status(1.0, {'state': 'HOLDING', 'reason_code': 'no_scene', 'reason': SECRET}),
        ),
        (SentTarget(0.5, 'target_pose'),),
        {'fabrik_ros': '1', 'mesh_paths': SECRET},
    )


@pytest.fixture
def written(tmp_path):
    path = tmp_path / 'log.zip'
    write_log(path, a_log(), NAMES)
    return path


def test_a_log_is_read_as_it_was_written(written):
    log, read = a_log(), read_log(written)
    assert read.joints == log.joints
    np.testing.assert_array_equal(read.velocity, [1.5, np.nan])
    np.testing.assert_array_equal(read.acceleration, [5.0, np.nan])
    for mine, theirs in ((log.commands, read.commands), (log.states, read.states)):
        for name in ('heard', 'stamps', 'q'):
            np.testing.assert_allclose(getattr(theirs, name), getattr(mine, name), atol=1e-9)
    assert read.targets == log.targets
    assert [status.heard for status in read.statuses] == [0.0, 1.0]


def test_names_of_people_and_machines_and_home_folders_are_left_out(written):
    read = read_log(written)
    assert read.statuses[1].facts['reason'] == read.about['mesh_paths'] == CLEAN
    with zipfile.ZipFile(written) as archive:
        text = ''.join(archive.read(name).decode() for name in archive.namelist())
    assert not re.search(r'\bann\b|ann-pc|bob|/home', text + report(read))


def test_they_are_those_of_this_machine(monkeypatch):
    monkeypatch.setattr(platform, 'node', lambda: 'ann-pc.example.org')
    monkeypatch.setattr(getpass, 'getuser', lambda: 'ann')
    monkeypatch.setenv('HOME', '/data/ann')
    text = without_names('/data/ann/x of ann on ann-pc, ann-pc.example.org', personal_names())
    assert text == '~/x of USER on HOST, HOST'


def test_words_that_are_names_of_everybody_stay(monkeypatch):
    monkeypatch.setattr(platform, 'node', lambda: 'ubuntu')
    monkeypatch.setattr(getpass, 'getuser', lambda: 'root')
    text = 'the root link of ubuntu'
    assert without_names(text, personal_names()) == text


def test_a_file_that_is_there_is_kept(written):
    before = written.read_bytes()
    with pytest.raises(FileExistsError):
        write_log(written, a_log(), {})
    assert written.read_bytes() == before


@pytest.mark.parametrize('content', [b'', b'PK', b'time,q\n1,2\n'])
def test_what_is_no_log_is_refused(content, tmp_path):
    path = tmp_path / 'log.zip'
    path.write_bytes(content)
    with pytest.raises(LogError, match=r'log\.zip. is no log of fabrik_ros log: '):
        read_log(path)


@pytest.mark.parametrize(
    ('name', 'before', 'after'),
    [
        ('about.json', '"format": 1', '"format": 9'),
        ('about.json', '"joints"', '"links"'),
        ('commands.csv', '0.000000000,', 'now,'),
        ('targets.csv', 'target_pose', 'target_pose,2'),
        ('statuses.csv', 'MOVING', '0,MOVING'),
    ],
)
def test_a_log_that_was_tampered_with_is_refused(name, before, after, written, tmp_path):
    path = tmp_path / 'other.zip'
    with zipfile.ZipFile(written) as old, zipfile.ZipFile(path, 'w') as new:
        for each in old.namelist():
            text = old.read(each).decode()
            new.writestr(each, text.replace(before, after, 1) if each == name else text)
    with pytest.raises(LogError):
        read_log(path)


def test_a_log_with_a_wrong_bit_is_read_or_refused(written, tmp_path):
    path, content = tmp_path / 'other.zip', written.read_bytes()
    refused = 0
    for place in range(0, len(content), len(content) // 200):
        path.write_bytes(content[:place] + bytes([content[place] ^ 4]) + content[place + 1 :])
        try:
            read_log(path)
        except LogError:
            refused += 1
    assert refused > 100


class Page(HTMLParser):
    """Reads the text of a page, and what it would load."""

    def __init__(self, page):
        super().__init__()
        self.text, self.loads, self.tags = '', [], []
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.loads += [value for name, value in attributes if name in ('src', 'href')]

    def handle_data(self, data):
        self.text += data + '\n'


def test_the_page_tells_all_and_loads_nothing(written):
    page = Page(report(read_log(written)))
    assert page.loads == []
    assert page.tags.count('svg') == 2
    assert 'b' not in page.tags, 'texts are quoted'
    for text in ('lift, <slow>', CLEAN, 'no_scene', '67%', 'unknown', 'stops', '2.0 s'):
        assert text in page.text
    assert 'turn' in page.text


def test_a_page_of_an_empty_log_says_that_nothing_came():
    none = Samples(np.empty(0), np.empty(0), np.empty((0, 0)))
    page = report(MotionLog((), np.empty(0), np.empty(0), none, none, (), (), {}))
    assert 'None were heard.' in page
    assert 'no status was heard' in page


def test_a_long_line_keeps_its_peak_and_stays_small():
    line = np.zeros(200_000)
    line[123_456] = 5.0
    drawn = plot(np.arange(200_000) * 0.01, {'j': line}, 'rad')
    assert len(drawn) < 50_000
    assert '5 rad' in drawn
    (points,) = re.findall('points="([^"]*)"', drawn)
    assert min(float(point.split(',')[1]) for point in points.split()) == 0.0


def test_a_line_without_values_is_not_drawn():
    assert plot(np.arange(3.0), {'j': np.full(3, np.nan)}, '') == ''
