"""Tables 3 and 5 of the FBD paper."""

import json

import pytest

from dialogauge.errors import InputError
from dialogauge.papers.fbd.correlations import PaperRecipe, reproduce_table3, reproduce_table5
from tests.shared import shared

LEXICAL = ("bleu", "meteor", "rouge_l")
FEW = {"resamples": 50}


@pytest.fixture(scope="module")
def folder():
    return shared("corpora/fbd_six")


@pytest.fixture(scope="module")
def table3(folder):
    return reproduce_table3(folder, PaperRecipe({}, rows=LEXICAL), **FEW)


@pytest.fixture(scope="module")
def table5(folder):
    return reproduce_table5(folder, PaperRecipe({}, rows=LEXICAL), **FEW)


def test_all_lexical_cells_of_table_3_equal_the_paper(table3):
    assert len(table3.cells) == 36
    assert [cell for cell in table3.cells if not cell.equal] == []
    assert all(cell.same_recipe for cell in table3.cells)


def test_bleu_points_the_wrong_way_on_daily_h_and_empathetic(table3):
    signs = {
        (column, name): table3.cell("BLEU", column, name).value < 0
        for column in table3.titles
        for name in ("spearman", "pearson")
    }
    wrong = {column for (column, _), negative in signs.items() if negative}
    assert wrong == {"fbd-dailyh", "fbd-empathetic"}
    wrong = next(line for line in str(table3).split("\n") if line.startswith("below 0, the wrong way: "))
    for title in ("Daily(H)", "Empathetic"):
        assert f"BLEU on {title} (Spearman), BLEU on {title} (Pearson)" in wrong
    assert "METEOR on Daily(H) (Pearson)" in wrong
    assert "METEOR on Daily(H) (Spearman)" not in wrong


def test_every_signed_value_has_an_interval_around_it(table3):
    for cell in table3.cells:
        assert -1 <= cell.low <= cell.value <= cell.high <= 1
        assert 0 < cell.p <= 1


def test_the_faults_of_the_files_are_said(table3):
    messages = [caveat.message for caveat in table3.caveats if caveat.code == "known_fault"]
    for corpus in ("fbd-convai2", "fbd-dailyh", "fbd-empathetic"):
        assert any(corpus in message for message in messages)
    assert "few_systems" in {caveat.code for caveat in table3.caveats}


def test_23_of_the_24_lexical_cells_of_table_5_equal_the_paper(table5):
    assert len(table5.cells) == 24
    (other,) = [cell for cell in table5.cells if not cell.equal]
    assert (other.row, other.column, other.coefficient) == ("METEOR", "grammar", "pearson")
    assert (round(other.value, 4), other.published) == (-0.0449, 0.044)
    assert "23 of 24 cells equal the paper's" in str(table5)
    assert "not equal: METEOR on grammar, Pearson: -0.0449, paper 0.044" in str(table5)


def test_forms(table5):
    document = json.loads(table5.render("json"))
    assert document["schema"] == "dialogauge.reproduced/1"
    assert len(document["cells"]) == 24
    assert document["source"]["number"] == 5
    assert (
        table5.render("csv").splitlines()[0].startswith("row,metric,model,encoder,column,coefficient,published,value")
    )
    for form in ("markdown", "latex"):
        assert "METEOR" in table5.render(form)


@pytest.mark.slow
def test_a_row_of_another_model_carries_its_name(folder):
    recipe = PaperRecipe({"bert-base-uncased": "minilm", "roberta-base": "minilm"}, rows=("fbd",))
    result = reproduce_table5(folder, recipe, **FEW)
    text = str(result)
    assert "FBD (minilm)" in text
    assert "BERT base" not in text.split("paper: table")[0]
    assert not any(cell.same_recipe for cell in result.cells)
    assert {caveat.code for caveat in result.caveats} >= {"stand_in_model"}
    assert {cell.encoder for cell in result.cells} == {"minilm"}


def test_own_recipes_are_never_called_the_papers(folder):
    result = reproduce_table5(folder, PaperRecipe({}, own=True, rows=("bleu",)), **FEW)
    assert not any(cell.same_recipe for cell in result.cells)
    assert "tok:13a" in result.agreement.rows[0].signature


def test_what_is_missing_is_named(tmp_path, folder):
    with pytest.raises(InputError, match="personam_annotation.json: no such file; expected the folder"):
        reproduce_table3(tmp_path, PaperRecipe({}, rows=LEXICAL))
    with pytest.raises(InputError, match="unknown metric of the table 'blue'; did you mean bleu"):
        reproduce_table5(folder, PaperRecipe({}, rows=("blue",)))
