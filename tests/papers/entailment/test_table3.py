"""Correlations of metrics with people, on small corpora with static vectors."""

import csv
import io
import json
from dataclasses import replace

import pytest
from scipy import stats

from dialogauge.errors import InputError
from dialogauge.metrics.dialogue.semantic import SemanticDistance
from dialogauge.papers.entailment.figure2 import reproduce_entailment_figure2
from dialogauge.papers.entailment.inputs import EntailmentInputs, find_embeddings, read_corpora
from dialogauge.papers.entailment.table3 import MEAN, make_rows, reproduce_entailment_table3
from dialogauge.stats.resampling import IntervalEstimate, mean_of_estimates
from dialogauge.tables import FORMATS
from tests.encode.models import minilm
from tests.papers.entailment.world import small_world, without_shipped
from tests.shared import shared

ROWS = ["ss_h2/elmo", "ss_h1/bert", "extrema", "second_last/bert", "entailment", "expected"]


@pytest.fixture(scope="module")
def inputs(tmp_path_factory):
    world = small_world(tmp_path_factory.mktemp("world"))
    vectors = world.parent / "vectors.txt"
    return EntailmentInputs(
        world, vectors, {"bert-base-uncased": f"static:{vectors}"}, {"tiny": str(world.parent / "model")}, ROWS
    )


@pytest.fixture(scope="module")
def table(inputs):
    # The stand-in for BERT and the one for word2vec are one file here: extrema has two rows of one metric.
    with without_shipped():
        return reproduce_entailment_table3(inputs, resamples=50, cache=False)


def test_rows(table):
    assert [row.name for row in table.rows] == [
        "ss_h2/elmo",
        "ss_h1/bert",
        "extrema/bert",
        "extrema/elmo",
        "extrema/word2vec",
        "second_last/bert",
        "entailment/tiny",
        "expected/tiny",
    ]
    assert table.rows[0].title == "SS(H-2) (ELMo: not to be had)"
    assert table.rows[0].published == (-0.146, -0.365)


def test_numbers_are_scipys_and_oriented(inputs, table):
    encoder = inputs.models["bert-base-uncased"]
    for rated in read_corpora(inputs.folder)[0]:
        metric = SemanticDistance(encoder=encoder).prepare(rated.corpus)
        distances = metric.measure(rated.turns)[:, 0]
        found = table.ours["ss_h1/bert", rated.name]
        assert found.pearson == pytest.approx(-stats.pearsonr(distances, rated.people).statistic)
        assert found.spearman == pytest.approx(-stats.spearmanr(distances, rated.people).statistic)
        assert found.pearson_low < found.pearson < found.pearson_high


def test_what_needs_references_is_on_grade_alone(table):
    corpora = {corpus for row, corpus in table.ours if row == "extrema/bert"}
    assert corpora == {"grade-convai2", "grade-dailydialog", MEAN}
    assert ("entailment/tiny", "fed") in table.ours


def test_the_mean_is_over_grades_corpora(table):
    mine = [table.ours["entailment/tiny", name] for name in ("grade-convai2", "grade-dailydialog")]
    expected = mean_of_estimates([IntervalEstimate(row.pearson, row.pearson_low, row.pearson_high) for row in mine])
    mean = table.ours["entailment/tiny", MEAN]
    assert (mean.pearson, mean.pearson_low, mean.pearson_high, mean.n) == (*(pytest.approx(end) for end in expected), 2)


def test_turns_without_a_second_last_utterance_are_left_out_there_alone(table):
    assert table.ours["second_last/bert", "conture"].n == 10
    assert table.ours["ss_h1/bert", "conture"].n == 20
    assert "ConTurE: second_last/bert on 10 of 20 turns alone" in str(table)


def test_ceilings_where_there_are_several_raters(table):
    assert set(table.ceilings) == {"grade-convai2", "grade-dailydialog", "fed"}
    assert table.ceilings["grade-convai2"].most_raters == 3


def test_the_papers_signs(table):
    lines = {line[0].text: line for line in table.to_table().rows}
    assert [cell.text for cell in lines["SS(H-2) (ELMo: not to be had)"][:4]][1:] == ["0.146", "0.365", ""]
    assert [cell.text for cell in lines["E (word2vec: static:vectors.txt)"][:3]][1:] == ["-0.065", "0.118"]
    records = [record for record in table.to_records() if record["row"] == "ss_h1/bert"]
    assert {(r["published_reddit"], r["published_sign"]) for r in records} == {(-0.214, -1.0)}


def test_forms(table):
    assert all(table.render(form) for form in FORMATS)
    found = json.loads(table.to_json())
    assert "no longer to be had" in str(table)
    assert "no longer to be had" in found["warnings"][0]["message"]
    rows = list(csv.DictReader(io.StringIO(table.to_csv())))
    assert len(rows) == len(found["rows"]) == len(table.ours) + 2  # the rows of ELMo have no corpus
    assert {row["corpus"] for row in rows if row["row"] == "ss_h2/elmo"} == {""}


def test_caveats(table):
    said = [caveat.message for caveat in table.caveats]
    assert any(message.startswith("ELMo is not to be had") for message in said)
    assert "static:vectors.txt stands in for word2vec of Google News" in said
    assert not any("USE" in message for message in said)
    assert sum("no value for" in message for message in said) == 1


def test_without_models(inputs):
    with without_shipped():
        found = reproduce_entailment_table3(
            replace(inputs, entailment={}, only=["ss_h1/bert"]), resamples=20, cache=False
        )
        assert [row.name for row in found.rows] == ["ss_h1/bert"]
        with pytest.raises(InputError, match="no entailment model"):
            reproduce_entailment_table3(replace(inputs, entailment={}, only=["entailment"]))
        with pytest.raises(InputError, match="ELMo is not to be had"):
            reproduce_entailment_table3(replace(inputs, only=["ss_h2/elmo"]))


def test_unknown_rows(inputs):
    with without_shipped():
        embeddings = find_embeddings(None, inputs.models)
        with pytest.raises(InputError, match="unknown row of table 3 'ss_h3'; did you mean ss_h"):
            make_rows(embeddings, [], ["ss_h3"])
        assert embeddings.encoders["word2vec"] == "static:minilm"
        assert [row.metric for row in make_rows(embeddings, [], ["ss_h1/use"])] == [None]


def test_figure_2(inputs):
    with without_shipped():
        figure = reproduce_entailment_figure2(replace(inputs, only=()), resamples=50, cache=False)
    titles = ["SS, second last", "SS(H-1)", "Extrema"]
    assert [panel.title for panel in figure.panels] == [f"{title} (static:vectors.txt)" for title in titles] * 2
    panel = figure.panels[1]
    assert panel.row.pearson == pytest.approx(-stats.pearsonr(panel.values, panel.people).statistic)
    assert sorted(panel.people) == sorted(read_corpora(inputs.folder)[0][0].people)
    assert any("the Universal Sentence Encoder is not installed" in caveat.message for caveat in figure.caveats)
    (missing,) = (caveat.message for caveat in figure.caveats if caveat.code == "missing_corpus")
    assert missing.endswith("left out: GRADE EmpatheticDialogues")
    assert "conture" not in " ".join(caveat.message for caveat in figure.caveats)
    assert all(figure.render(form) for form in FORMATS)
    assert "no longer to be had" in str(figure)
    assert len(json.loads(figure.to_json())["points"]) == 6


def test_figure_2_of_one_corpus(inputs):
    with without_shipped():
        figure = reproduce_entailment_figure2(replace(inputs, only=["grade-dailydialog"]), resamples=20, cache=False)
        assert {panel.corpus for panel in figure.panels} == {"GRADE DailyDialog"}
        with pytest.raises(InputError, match="unknown corpus of GRADE's 'fed'"):
            reproduce_entailment_figure2(replace(inputs, only=["grade-dailydialog", "fed"]))


@pytest.mark.slow
def test_a_real_corpus(tmp_path):
    """The correlation that the card of semantic_distance shows for DailyDialog."""
    minilm()
    grade = shared("corpora/grade")
    (tmp_path / "grade").mkdir()
    for part in ("human_score", "eval_data/dailydialog"):
        target = tmp_path / "grade" / part
        target.parent.mkdir(exist_ok=True)
        target.symlink_to(grade / part)
    found = reproduce_entailment_table3(EntailmentInputs(tmp_path, only=["ss_h1/bert"]), resamples=20)
    row = found.ours["ss_h1/bert", "grade-dailydialog"]
    assert (row.n, round(row.pearson, 3)) == (300, 0.039)
    assert ("ss_h1/bert", MEAN) not in found.ours
