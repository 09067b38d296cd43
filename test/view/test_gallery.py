"""Robots to choose from: which there are, and what becomes of one that cannot be shown."""

from pathlib import Path
import threading

from fabrik_ros import example_arm, FabrikError, load_urdf
from fabrik_ros.model.examples import example_arms
import pytest

pytest.importorskip('xacro', reason='the bundled arms are xacro files')

from fabrik_ros.view.gallery import FIRST, Gallery, gallery_files

PATIENCE = 60.0
TWO_ARMS = """<robot name="two_arms"><link name="base"/>
{}
</robot>"""
ARM = """<joint name="{0}_{1}" type="revolute"><parent link="{2}"/><child link="{0}_{1}_link"/>
<origin xyz="0 0 0.3"/><axis xyz="0 1 0"/><limit lower="-2" upper="2" effort="1" velocity="1"/>
</joint><link name="{0}_{1}_link"/>"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / 'deep' / 'er').mkdir(parents=True)
    joints = [
        ARM.format(side, i, f'{side}_{i - 1}_link' if i else 'base')
        for side in ('left', 'right')
        for i in range(3)
    ]
    (tmp_path / 'two.urdf').write_text(TWO_ARMS.format('\n'.join(joints)))
    (tmp_path / 'deep' / 'er' / 'one.urdf').write_text(example_source('planar_two_link'))
    (tmp_path / 'broken.urdf').write_text('<robot name="broken">')
    (tmp_path / 'macros.xacro').write_text('<robot/>')
    return tmp_path


def example_source(name):
    return load_urdf(example_arm(name)).source


def gallery_of(files, read=load_urdf):
    return Gallery(files, read, lambda robot, chain: (None, ''))


def test_descriptions_in_a_folder_and_all_below_come_before_the_bundled_arms(folder):
    names = [*gallery_files(folder)]
    assert names == ['broken.urdf', 'deep/er/one.urdf', 'two.urdf', *example_arms()]


def test_without_a_folder_those_right_here_are_listed(folder, monkeypatch):
    monkeypatch.chdir(folder)
    assert [*gallery_files(None)] == ['broken.urdf', 'two.urdf', *example_arms()]
    monkeypatch.chdir(folder / 'deep')
    assert [*gallery_files(None)] == [*example_arms()]


def test_folder_without_a_description_is_named(tmp_path):
    with pytest.raises(FabrikError, match=f"no .urdf or .urdf.xacro file is in '{tmp_path}'"):
        gallery_files(tmp_path)


def test_bundled_arm_is_shown_until_another_is_chosen(folder):
    gallery = gallery_of(gallery_files(folder))
    assert gallery.chosen == FIRST
    assert gallery.source.snapshot().robot.name == FIRST
    gallery.choose('deep/er/one.urdf').result(PATIENCE)
    snapshot = gallery.source.snapshot()
    assert (snapshot.robot.name, snapshot.state, snapshot.reason) == (
        'planar_two_link',
        'READY',
        '',
    )
    assert snapshot.measured.keys() == {'shoulder', 'elbow'}
    T = snapshot.robot.chain().forward_kinematics([0.3, 0.4])
    gallery.source.send_target(T)
    assert gallery.source.snapshot().state == 'CONVERGED'


def test_robot_that_cannot_be_shown_is_named_and_the_one_before_stays(folder):
    gallery = gallery_of(gallery_files(folder))
    before = gallery.source.snapshot()
    gallery.choose('broken.urdf').result(PATIENCE)
    after = gallery.source.snapshot()
    assert after.is_of_same_arm(before)
    assert after.state == 'REFUSED'
    assert after.refusal.startswith('broken.urdf: ')


def test_error_that_nobody_thought_of_is_said_and_the_next_robot_is_shown():
    def read(path: Path):
        if path.name.startswith('seven'):
            raise RuntimeError('a mesh of another world')
        return load_urdf(path)

    gallery = gallery_of(example_arms(), read)
    gallery.choose('seven_axis').result(PATIENCE)
    snapshot = gallery.source.snapshot()
    assert (snapshot.robot.name, snapshot.state) == (FIRST, 'REFUSED')
    assert snapshot.refusal == 'seven_axis: a mesh of another world'
    gallery.choose('planar_two_link').result(PATIENCE)
    assert gallery.source.snapshot().robot.name == 'planar_two_link'


def test_of_several_arms_the_first_is_shown_and_the_others_are_said_to_be_there(folder):
    gallery = gallery_of(gallery_files(folder))
    gallery.choose('two.urdf').result(PATIENCE)
    snapshot = gallery.source.snapshot()
    assert snapshot.tip_link == 'left_2_link'
    assert snapshot.reason.startswith('the first of 2 arms, from base to left_2_link; --tip-link')


def test_while_one_is_read_its_name_is_said_and_the_one_chosen_last_stays():
    is_read, goes_on = threading.Event(), threading.Event()

    def read(path: Path):
        if path.name.startswith('seven'):
            is_read.set()
            assert goes_on.wait(PATIENCE)
        return load_urdf(path)

    gallery = gallery_of(example_arms(), read)
    gallery.choose('seven_axis')
    assert is_read.wait(PATIENCE)
    last = gallery.choose('planar_two_link')
    snapshot = gallery.source.snapshot()
    assert (snapshot.robot.name, snapshot.state, snapshot.reason) == (
        FIRST,
        'READING',
        'seven_axis',
    )
    goes_on.set()
    last.result(PATIENCE)
    assert gallery.source.snapshot().robot.name == 'planar_two_link'


def test_answer_for_the_robot_before_changes_nothing():
    """Solved before another robot came, and done after it."""
    gallery = gallery_of(example_arms())
    source, solver = gallery.source, gallery.source._solver
    T = (
        load_urdf(example_arm(FIRST))
        .chain()
        .forward_kinematics([0.0, -1.3, 1.6, -1.9, -1.57, 0.0])
    )

    class Late:
        def solve(self, *given, **options):
            gallery.choose('planar_two_link').result(PATIENCE)
            return solver.solve(*given, **options)

    source._solver = Late()
    before = gallery.source.snapshot()
    source.send_target(T)
    after = gallery.source.snapshot()
    assert not after.is_of_same_arm(before)
    assert after.measured.keys() == {'shoulder', 'elbow'}
    assert after.state == 'READY'
