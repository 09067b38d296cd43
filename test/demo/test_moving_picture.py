"""The moving picture of the README: what it shows was reached, and is free."""

from helpers import assert_close
import numpy as np
import pytest

pytest.importorskip('coal', reason='coal measures the distances')
pytest.importorskip('matplotlib', reason='the pictures are drawn with matplotlib')
pytest.importorskip('PIL', reason='the film is written with pillow')
pytest.importorskip('pinocchio', reason='pinocchio is the judge')
pytest.importorskip('yaml', reason='scenes are YAML files')

import draw_motion
from PIL import Image
from scenes import SCENES
from way_judge import BoxAround, WayJudge


@pytest.fixture(scope='module')
def stage():
    return draw_motion.stage()


@pytest.fixture(scope='module')
def moments(stage):
    return draw_motion.film(stage[0])


def test_arm_reaches_each_target_and_ends_where_it_begins(stage, moments):
    chain = stage[0].arm
    for moment, following in zip(moments, [*moments[1:], None], strict=True):
        if following is None or following.target is not moment.target:
            assert moment.state == 'REACHED'
            if moment.target is not None:
                assert_close(chain.forward_kinematics(moment.q), moment.target, atol=2e-4)
    ends = [list(draw_motion.START.values()), moments[-1].q]
    assert_close(*ends, atol=1e-6)
    assert len({id(moment.target) for moment in moments}) == len(draw_motion.TARGETS) + 1


def test_nothing_comes_nearer_than_its_clearance(stage, moments):
    boxes = {
        name: BoxAround(box.size, at(box.centre))
        for name, box in SCENES['obstacles'].boxes().items()
    }
    judge = WayJudge(stage[1].robot.source, 'base_link', 'tool0', boxes=boxes)
    assert all(judge.may_be_commanded(moment.q) for moment in moments)


def at(centre) -> np.ndarray:
    T = np.eye(4)
    T[:3, 3] = centre
    return T


@pytest.mark.long
def test_film_is_the_same_each_time(stage, moments):
    again = draw_motion.film(draw_motion.stage()[0])
    assert len(again) == len(moments)
    for one, other in zip(moments, again, strict=True):
        np.testing.assert_array_equal(one.q, other.q)
    picture, same = (np.asarray(stage[1].draw(each[30])) for each in (moments, again))
    np.testing.assert_array_equal(picture, same)


def test_pictures_show_the_arm_the_path_and_the_target(stage, moments):
    studio = stage[1]
    under_way = next(m for m in moments if m.state == 'MOVING' and len(m.path) > 3)
    shown = np.asarray(studio.draw(under_way)).astype(int)
    assert shown.shape == (*draw_motion.SIZE[::-1], 3)
    for change in ({'path': under_way.path[:0]}, {'target': None}, {'q': moments[60].q}):
        other = draw_motion.Moment(**{**vars(under_way), **change})
        changed = np.abs(np.asarray(studio.draw(other)).astype(int) - shown).max(axis=-1) > 60
        assert changed.sum() > 20, change


def test_still_picture_is_of_the_seam(stage):
    follower, studio = stage
    moment = draw_motion.at_the_seam(follower, studio.world)
    picture = studio.draw(moment, draw_motion.SEAM_CAMERA)
    drawn = Image.open(draw_motion.STILL)
    apart = np.abs(np.asarray(picture).astype(int) - np.asarray(drawn.convert('RGB')))
    assert np.mean(apart.max(axis=-1) > 60) < 0.01, 'docs/figures/program.png is another picture'


@pytest.mark.long
def test_film_on_disk_has_the_pictures_one_after_the_other(moments, tmp_path, monkeypatch):
    some = [moment for moment in moments if moment.state == 'MOVING'][::8]
    monkeypatch.setattr(draw_motion, 'film', lambda follower: some)
    monkeypatch.setattr(draw_motion, 'FILM', tmp_path / 'demo.gif')
    monkeypatch.setattr(draw_motion, 'STILL', tmp_path / 'program.png')
    draw_motion.main()
    with Image.open(tmp_path / 'demo.gif') as film:
        assert film.size == draw_motion.SIZE
        assert film.n_frames == len(some) > 8
        assert film.info['duration'] == 1000 * draw_motion.STEPS * draw_motion.PERIOD
        assert film.info['loop'] == 0  # for ever
