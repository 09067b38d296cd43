"""Mutated robot descriptions give a clear error or a correct model; `make fuzz` tries more."""

from random import Random

import pytest

pytest.importorskip('pinocchio', reason='pinocchio judges; in the extra: test')

from fuzz.documents import originals
from fuzz.specification import Description, read
from fuzz.trials import try_documents
from fuzz.verdicts import judged
from helpers import mostly_long

DOCUMENTS, PARTS = 400, 8


@pytest.mark.parametrize('name', originals())
def test_an_unmutated_robot_is_read_and_every_judge_agrees(name):
    text = originals()[name]
    assert isinstance(read(text), Description)
    assert judged(text, Random(name)).unknown == ''


@pytest.mark.parametrize('part', mostly_long(range(PARTS), 0, 1, 2))
def test_a_mutated_document_gives_a_clear_error_or_a_correct_model(part):
    count = DOCUMENTS // PARTS
    tally = try_documents('short', range(part * count, (part + 1) * count))
    assert not tally.failures, '\n'.join(map(str, tally.failures))
    assert tally.judged('read: chains agree') > count // 10
    assert tally.judged('refused') > count // 10
