"""Files and pages of logs: what is written is read again, and names stay at home."""

from dataclasses import replace
import getpass
from html.parser import HTMLParser
from itertools import pairwise
import math
import platform
import re
import zipfile

from fabrik_ros.errors import LogError
from fabrik_ros.logs.log_file import part_of, read_log
from fabrik_ros.logs.log_writer import LogWriter
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
    writer = LogWriter(path, NAMES)
    writer.add(a_log())
    writer.close()
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


def pieces(log, count):
    """Cut a log into pieces, in the order of their times."""
    ends = np.linspace(0.0, log.duration + 1.0, count + 1)
    for begin, end in pairwise(ends):
        commands, states = (
            Samples(s.heard[now], s.stamps[now], s.q[now])
            for s in (log.commands, log.states)
            for now in [(begin <= s.heard) & (s.heard < end)]
        )
        statuses, targets = (
            tuple(each for each in all_ if begin <= each.heard < end)
            for all_ in (log.statuses, log.targets)
        )
        yield replace(log, commands=commands, states=states, statuses=statuses, targets=targets)


def check_same(read, log):
    np.testing.assert_allclose(read.commands.heard, log.commands.heard)
    np.testing.assert_allclose(read.states.q, log.states.q, atol=1e-9)
    assert [s.heard for s in read.statuses] == [s.heard for s in log.statuses]
    assert read.targets == log.targets


def test_a_log_in_pieces_is_the_same_log_and_there_before_it_is_closed(tmp_path):
    path, log = tmp_path / 'log.zip', a_log()
    writer = LogWriter(path, NAMES)
    for piece in pieces(log, 7):
        writer.add(piece)
    read = read_log(path)
    assert read.is_cut
    check_same(read, log)
    assert list(tmp_path.iterdir()) == [part_of(path)]
    writer.close()
    read = read_log(path)
    assert not read.is_cut
    check_same(read, log)
    assert list(tmp_path.iterdir()) == [path]


def test_what_a_node_says_before_its_joints_are_known_is_there(tmp_path):
    path, log = tmp_path / 'log.zip', a_log()
    none = Samples(np.empty(0), np.empty(0), np.empty((0, 0)))
    writer = LogWriter(path, {})
    unknown = np.empty(0)
    writer.add(replace(log, joints=(), velocity=unknown, acceleration=unknown, commands=none,
                       states=none))  # fmt: skip
    assert len(read_log(path).statuses) == 2
    writer.add(replace(log, statuses=(), targets=()))
    writer.close()
    check_same(read_log(path), log)


def test_of_a_log_that_is_discarded_nothing_is_left(tmp_path):
    writer = LogWriter(tmp_path / 'log.zip', {})
    writer.add(a_log())
    writer.discard()
    assert list(tmp_path.iterdir()) == []


def test_an_unpacked_log_is_a_whole_one(written, tmp_path):
    with zipfile.ZipFile(written) as archive:
        archive.extractall(tmp_path / 'log')
    read = read_log(tmp_path / 'log')
    assert not read.is_cut
    check_same(read, a_log())


def test_half_a_zip_is_read_as_far_as_it_goes(written):
    content = written.read_bytes()
    shortest = content.index(b'statuses.csv')
    last = math.inf
    for end in range(len(content) - 1, shortest, -97):
        written.write_bytes(content[:end])
        read = read_log(written)
        assert read.is_cut
        assert len(read.commands.heard) <= last
        last = len(read.commands.heard)
        page = report(read)
        assert f'cut off: its last whole row is of {read.duration:.2f} s' in page
    assert last == 0


@pytest.mark.parametrize('name', ['commands.csv', 'states.csv', 'statuses.csv', 'targets.csv'])
@pytest.mark.parametrize('keep', [0.0, 0.5, 0.97])
def test_of_a_table_that_ends_within_a_row_the_rows_before_are_read(written, tmp_path, name, keep):
    path, whole = tmp_path / 'other.zip', read_log(written)
    with zipfile.ZipFile(written) as old, zipfile.ZipFile(path, 'w') as new:
        for each in old.namelist():
            data = old.read(each)
            kept = data[: int(keep * len(data))].rstrip(b'\n')
            new.writestr(each, kept if each == name else data)
    read = read_log(path)
    assert read.is_cut
    for mine, theirs in ((whole.commands, read.commands), (whole.states, read.states)):
        count = len(theirs.heard)
        np.testing.assert_array_equal(theirs.q, mine.q[:count])
    assert read.statuses == whole.statuses[: len(read.statuses)]
    assert read.targets == whole.targets[: len(read.targets)]


def test_a_file_that_is_there_is_kept(written):
    part_of(written).mkdir()
    with pytest.raises(FileExistsError):
        LogWriter(written, {})


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
