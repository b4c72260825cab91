"""Table 4 of the FBD paper."""

import json

import pytest

from dialogauge import load, normality
from dialogauge.corpus import Corpus
from dialogauge.papers.fbd import table4 as table
from tests.shared import annotation


@pytest.fixture(scope="module")
def corpus():
    """Eight contexts of Persona(M)."""
    turns = load(annotation("personam"))
    return Corpus([turn for turn in turns if int(turn.id) < 8 and turn.system in turns.systems[:2]])


@pytest.fixture
def table4(corpus, monkeypatch):
    monkeypatch.setattr(table, "load_corpora", lambda *_: {"fbd-personam": corpus})
    return table.reproduce_table4("anywhere", {"bert-base-uncased": "minilm", "roberta-base": "minilm"})


def test_numbers_are_those_of_normality(corpus, table4):
    assert len(table4.cells) == 2 * 2
    found = normality(corpus, encoder="minilm", context=None)
    references, responses = table4.cells[:2]
    row = next(row for row in found.rows if row.kind == "references")
    assert (references.w, references.p_deviation) == (row.w_mean, row.p_sd)
    systems = [row for row in found.rows if row.kind == "system"]
    assert responses.w == pytest.approx(sum(row.w_mean for row in systems) / 2)
    assert references.published == 0.57
    assert references.published_deviation == 0.44
    assert table4.cells[2].published == 0.71


def test_forms(table4):
    assert json.loads(table4.render("json"))["schema"] == "dialogauge.reproduced-normality/1"
    assert "0.57 ± 0.44" in str(table4)
    assert "stand_in_model" in {caveat.code for caveat in table4.caveats}
