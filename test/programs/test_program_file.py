"""Programs in files: what is written is read, and what makes no sense is named."""

import json

from fabrik_ros.errors import ProgramError
from fabrik_ros.programs import Arc, Joints, Line, load_program, Move, Pause, Program
from fabrik_ros.programs.program_file import document_of, program_of
from fabrik_ros.transforms import rotation_from_vector, transform
from hypothesis import given, strategies as st
import numpy as np
import pytest

numbers = st.floats(-2.0, 2.0)
vectors = st.tuples(numbers, numbers, numbers).map(np.array)
poses = st.builds(lambda v, x: transform(rotation_from_vector(v), x), vectors, vectors)
settings = st.fixed_dictionaries(
    {},
    optional={
        'speed': st.floats(0.01, 2.0),
        'rotation': st.floats(0.01, 2.0),
        'share': st.floats(0.01, 1.0),
        'acceleration': st.floats(0.01, 1.0),
        'blend': st.floats(0.0, 0.1),
    },
)
segments = st.one_of(
    st.builds(lambda T, s: Line(T, **s), poses, settings),
    st.builds(lambda T, s: Move(T, **s), poses, settings),
    st.builds(lambda v, T, s: Arc(v, T, **s), vectors, poses, settings),
    st.builds(lambda v, T, a: Arc(v, T, a), vectors, poses, st.floats(0.1, 7.0)),
    st.builds(lambda q, s: Joints(q, **s), st.lists(numbers, min_size=1, max_size=7), settings),
    st.builds(lambda q: Joints({'elbow': q}), numbers),
    st.builds(lambda: Joints('home')),
    st.builds(Pause, st.floats(0.0, 5.0)),
)


def same(a, b):
    if isinstance(a, np.ndarray | list):
        return np.allclose(a, b, atol=1e-12)
    return a == b


@given(st.lists(segments, min_size=1, max_size=5))
def test_what_is_written_is_read(given_segments):
    text = json.dumps(document_of(Program(given_segments), 'a name'))
    name, program = program_of(json.loads(text))
    assert name == 'a name'
    for written, read in zip(given_segments, program.steps, strict=True):
        assert type(written) is type(read)
        for field in vars(written):
            assert same(getattr(written, field), getattr(read, field)), field


def test_file_as_documented_is_read(tmp_path):
    path = tmp_path / 'seam.yaml'
    path.write_text(
        'name: seam\n'
        'segments:\n'
        '  - move: {xyz: [0.4, 0.0, 0.3], rpy: [3.14159, 0.0, 0.0]}\n'
        '  - line: {xyz: [0.5, 0.0, 0.3], quaternion: [1.0, 0.0, 0.0, 0.0]}\n'
        '    speed: 0.05\n'
        '  - arc: {xyz: [0.5, 0.1, 0.3], rpy: [3.14159, 0.0, 0.0]}\n'
        '    via: [0.55, 0.05, 0.3]\n'
        '  - joints: home\n'
        '  - pause: 0.5\n'
    )
    move, line, arc, joints, pause = load_program(path).steps
    assert isinstance(move, Move)
    assert line.speed == 0.05
    assert arc.via.tolist() == [0.55, 0.05, 0.3]
    assert joints.values == 'home'
    assert pause.seconds == 0.5


def test_poses_are_in_the_frame_that_is_named():
    T_base_table = transform(rotation_from_vector([0.0, 0.0, np.pi / 2.0]), [1.0, 0.0, 0.0])
    document = {
        'frame': 'table',
        'segments': [
            {'arc': {'xyz': [0.1, 0.0, 0.0]}, 'via': [0.0, 0.1, 0.0]},
            {'line': {'xyz': [0.1, 0.0, 0.0]}, 'frame': ''},
        ],
    }
    frames = {'table': T_base_table, '': np.eye(4)}
    arc, line = program_of(document, frames.__getitem__)[1].steps
    assert np.allclose(np.asarray(arc.pose)[:3, 3], [1.0, 0.1, 0.0])
    assert np.allclose(arc.via, [0.9, 0.0, 0.0])
    assert np.allclose(np.asarray(line.pose)[:3, 3], [0.1, 0.0, 0.0])


@pytest.mark.parametrize(
    ('document', 'words'),
    [
        ([], 'the program: expected keys and values'),
        ({}, "'segments': expected a list, got None"),
        ({'segment': []}, "unknown key 'segment'; did you mean 'segments'"),
        ({'segments': [{'line': {'xyz': [1, 2]}}]}, 'segment 1, line, xyz: expected 3 numbers'),
        ({'segments': [{'line': {}, 'arc': {}}]}, 'segment 1 needs one of .* it has line and arc'),
        ({'segments': [{'speed': 1.0}]}, 'segment 1 needs one of .* it has none'),
        ({'segments': [{'pause': 'long'}]}, 'segment 1, pause: expected a finite number'),
        ({'segments': [{'joints': 5}]}, 'segment 1, joints: expected a name, values by joint'),
        (
            {
                'segments': [
                    {'line': {'xyz': [0, 0, 0], 'rpy': [0, 0, 0], 'quaternion': [0, 0, 0, 1]}}
                ]
            },
            'segment 1, line: has rpy and quaternion',
        ),
        (
            {'segments': [{'line': {'xyz': [0, 0, 0]}, 'frame': 'x'}]},
            "segment 1: frame 'x' is unk",
        ),
    ],
)
def test_what_makes_no_sense_is_named(document, words):
    with pytest.raises(ProgramError, match=words):
        program_of(document)


def test_file_that_cannot_be_read_is_named(tmp_path):
    with pytest.raises(ProgramError, match=r'program .*missing.yaml: cannot be read'):
        load_program(tmp_path / 'missing.yaml')
    twice = tmp_path / 'twice.yaml'
    twice.write_text('segments:\n  - pause: 1\n    pause: 2\n')
    with pytest.raises(ProgramError, match="'pause' is given twice in what begins in line 2"):
        load_program(twice)
